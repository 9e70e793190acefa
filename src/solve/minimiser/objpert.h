/* objpert.h - what the plan and the run of objective perturbation agree on. */
#ifndef TCT_SOLVE_MINIMISER_OBJPERT_H
#define TCT_SOLVE_MINIMISER_OBJPERT_H
#include "solve/minimiser/smooth.h"

/* Rounding the minimiser to a lattice and releasing it: two worlds' lattice points differ by at most the shift that the
 * event's reach stands for. */
typedef struct tct_output {
  double lattice; /* of w */
  double reach;   /* c of the output's event: Gaussian in l2, Laplace in l1 */
} tct_output;

/* distance: how far the computed point may be from the exact minimiser (in l2); move: how far the exact minimisers
 * of two worlds may be from each other; radius: bound on |w_j|; noise: the event's multiplier. */
tct_status tct_output_make(const tct_facts *facts, double distance, double move, double radius, double noise, bool l1,
                           tct_output *out, tct_error *err);
/* Without privacy: a lattice as fine as the weights allow. */
void tct_output_nonprivate(const double *w, int64_t p, tct_output *out);
/* Rounds w[p] to the lattice and releases it under the event. */
tct_status tct_output_release(const tct_output *output, const tct_event *event, tct_mech *mech, double *w, int64_t p,
                              tct_error *err);

/* Everything that objective perturbation does, from public facts. */
typedef struct tct_perturb {
  double ridge;   /* Lambda */
  double sigma;   /* of b, per coordinate: Gaussian, or the scale of Laplace */
  double lattice; /* of the Gaussian draws behind b */
  double target;  /* certified gradient norm to reach */
  bool laplace;
  tct_smooth_facts smooth;
  tct_output output;
} tct_perturb;

extern const tct_option tct_objpert_options[];
tct_status tct_objpert_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
/* The settings that the plan resolved. */
tct_status tct_objpert_settings(const tct_facts *facts, const tct_solver_plan *plan, tct_perturb *out, tct_error *err);
/* tct_solver.noise_size. */
tct_status tct_objpert_noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w,
                                  tct_noise_size *out, tct_error *err);
#endif
