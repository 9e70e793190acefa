/* objpert.h - what the plan and the run of objective perturbation agree on. */
#ifndef TCT_SOLVE_MINIMISER_OBJPERT_H
#define TCT_SOLVE_MINIMISER_OBJPERT_H
#include "solve/minimiser/smooth.h"

/* Rounding the minimiser to a lattice and releasing it: two worlds' lattice points differ by at most the shift that the
 * event's sensitivity stands for. */
typedef struct tct_output {
  double lattice;     /* of w */
  double sensitivity; /* c of the output's event: Gaussian in l2, Laplace in l1 */
} tct_output;

/* Bounds on where the computed point may be, in l2. */
typedef struct tct_output_bounds {
  double distance; /* from the exact minimiser */
  double move;     /* between the exact minimisers of two worlds */
  double radius;   /* at least every |w_j| */
} tct_output_bounds;
/* noise: the event's multiplier; l1: of a Laplace event. */
tct_status tct_output_make(const tct_facts *facts, tct_output_bounds bounds, double noise, bool l1, tct_output *out,
                           tct_error *err);
/* The release of it, for the promise.  Without noise its lattice follows from the weights. */
tct_release tct_output_planned(const tct_output *output, tct_event event);
/* Rounds w[p], of which every rank has all, to the lattice of release r, and releases it. */
tct_status tct_output_release(tct_mech *mech, int r, double *w, int64_t p, tct_error *err);

/* Everything that objective perturbation does, from public facts. */
typedef struct tct_perturb {
  double ridge;   /* Lambda */
  double sigma;   /* of b: a coordinate's deviation; pure: the scale, b has density ~ exp(-|b|/sigma) */
  double lattice; /* of the draws behind b */
  double target;  /* certified gradient norm to reach */
  bool pure;
  tct_smooth_facts smooth;
  tct_output output;
} tct_perturb;

/* Share of epsilon for the curvature term, and part of the largest gradient that a record's is cut to. output: the pure
 * variant's share of epsilon for the output.  cost: the excess loss that these are thought to leave. */
typedef struct tct_balance {
  double budget_fraction, clip, output, cost;
} tct_balance;
/* The pair of least cost; given: what the user gave, NAN where it is to be found; pure: the variant at delta 0. */
tct_balance tct_objpert_balance(const tct_facts *facts, const tct_smooth_facts *smooth, tct_balance given, bool pure);
/* How far the drawn b may be from the continuous one; out->lattice, and a bound on |b|, from ridge and sigma. */
double tct_objpert_off(const tct_facts *facts, tct_perturb *out, double *bound);
/* The certified gradient norm to reach; output: the multiplier of the output's noise. */
double tct_objpert_target(const tct_perturb *set, double output);
/* What counting long records less costs where the problem has a ridge of its own, in the same unit. */
double tct_objpert_tilted(const tct_facts *facts, const tct_smooth_facts *smooth);

extern const tct_option tct_objpert_options[];
tct_status tct_objpert_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
enum { TCT_OBJPERT_TILT, TCT_OBJPERT_OUTPUT }; /* the releases */
/* The settings that the plan resolved; output: noise multiplier of the second release. */
tct_status tct_objpert_settings(const tct_facts *facts, const tct_solver_plan *plan, double output, tct_perturb *out,
                                tct_error *err);
/* tct_solver.noise_size. */
tct_status tct_objpert_noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w,
                                  tct_noise_size *out, tct_error *err);
#endif
