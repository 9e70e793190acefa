/* agd.h - what the plan and the run of adaptive gradient descent agree on. */
#ifndef TCT_SOLVE_GRADIENT_AGD_H
#define TCT_SOLVE_GRADIENT_AGD_H
#include "solve/shared/batch.h"
#include "solve/shared/clipped.h"

enum { TCT_AGD_GRID = 256 }; /* most candidate steps */

enum { TCT_AGD_GRADIENT, TCT_AGD_CHOICE }; /* the releases: of either clip, noise and epsilon brought by the run */

/* Everything that a run of dpagd does, from public facts. */
typedef struct tct_agd {
  bool exact;    /* no privacy: no noise, the best candidate is taken */
  bool fixed;    /* every step has the same costs; otherwise the budget that is left is planned anew at every step */
  bool flip;     /* choices by permute and flip */
  double budget; /* rho of the whole run (planned anew) */
  double budget_fraction;      /* of a step's budget, for its choice (planned anew) */
  double unit;                 /* a measurement of weight v has noise unit/sqrt(v) */
  double weight;               /* of a step's first measurement (fixed) */
  double choice;               /* epsilon of a choice (fixed) */
  double rate;                 /* sampling rate; 1: all records */
  double alpha_max;            /* longest step */
  double eta, gamma, momentum; /* see the options */
  int64_t steps, grid, tau;
} tct_agd;

extern const tct_option tct_agd_options[];
tct_status tct_agd_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
tct_agd tct_agd_settings(const tct_facts *facts, const tct_solver_plan *plan);

/* Candidate steps along one direction. */
typedef struct tct_line {
  const tct_loss *loss;
  const double *step; /* [grid] */
  int64_t grid;
  double clip, lattice;
  bool rough; /* losses may be off by 1e-6 of themselves */
} tct_line;

/* score[grid] <- minus the sum over k < count of min(l(z_k - step_j s_k, y_k), clip), each on the lattice: exact, and
 * so the same for any number of threads. */
void tct_step_scores(const tct_line *line, const double *z, const double *s, const double *y, int64_t count,
                     double *score, int threads);
#endif
