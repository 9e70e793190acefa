/* dual.h - what the dual coordinate solvers share. */
#ifndef TCT_SOLVE_DUAL_H
#define TCT_SOLVE_DUAL_H
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

/* Per-iteration workspace of the batch solvers. */
typedef struct tct_batch {
  int64_t *row;    /* [rows] drawn rows */
  double *u;       /* [rows] margins, then steps */
  double *sum;     /* [p] */
  double *scratch; /* [threads*p] */
  int64_t count, rows, p;
  int threads;
} tct_batch;
tct_status tct_batch_new(const tct_problem *problem, tct_batch *out, tct_error *err);
void tct_batch_free(tct_batch *batch);
/* Draws the batch of release r: all rows where it is not sampled. */
tct_status tct_batch_draw(tct_batch *batch, const tct_problem *problem, tct_mech *mech, int r, tct_error *err);

/* Options shared by the batch solvers: batch L, epochs E -> rate and iterations. */
tct_status tct_batch_plan(const tct_facts *facts, const tct_option *options, double travel_epochs,
                          tct_solver_plan *plan, double *rate, int64_t *iterations, tct_error *err);
#endif
