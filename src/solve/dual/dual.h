/* dual.h - what the dual coordinate solvers share. */
#ifndef TCT_SOLVE_DUAL_DUAL_H
#define TCT_SOLVE_DUAL_DUAL_H
#include "solve/solve.h"

/* The state of dual coordinate descent: alpha [n] and v = X~ alpha [p]; theta = v/(lambda n). */
typedef struct tct_dual {
  double *alpha; /* [rows]; never leaves the solver */
  double *norm2; /* [rows]: |x~_i|^2 */
  double *v;     /* [p] */
  double *w;     /* [p]: v/(lambda n) */
  int64_t rows, p;
  double lambda_n;
} tct_dual;
tct_status tct_dual_new(const tct_problem *problem, tct_dual *out, tct_error *err);
void tct_dual_free(tct_dual *dual); /* wipes alpha */
/* w <- v/(lambda n). */
void tct_dual_primal(tct_dual *dual);
/* tct_solver.weight_bound, of a promise of nothing but sums of dual steps. */
double tct_dual_weight_bound(const tct_facts *facts, const tct_solver_plan *plan);
#endif
