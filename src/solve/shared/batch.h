/* batch.h - what the solvers on batches of records share. */
#ifndef TCT_SOLVE_SHARED_BATCH_H
#define TCT_SOLVE_SHARED_BATCH_H
#include "solve/solve.h"

/* Per-iteration workspace of the batch solvers. */
typedef struct tct_batch {
  int64_t *row;    /* [rows] drawn rows */
  double *u;       /* [rows] margins, then steps */
  double *sum;     /* [p] */
  double *scratch; /* [threads * tct_thread_stride(p)] */
  int64_t count, rows, p;
  int threads;
  bool whole; /* row lists every record, as a draw of all of them left it */
} tct_batch;
tct_status tct_batch_new(const tct_problem *problem, tct_batch *out, tct_error *err);
void tct_batch_free(tct_batch *batch);
/* Draws the batch of release r: all rows where it is not sampled. */
tct_status tct_batch_draw(tct_batch *batch, const tct_problem *problem, tct_mech *mech, int r, tct_error *err);

/* Options shared by the batch solvers: batch L, epochs E -> rate and iterations. */
tct_status tct_batch_plan(const tct_facts *facts, const tct_option *options, double travel_epochs,
                          tct_solver_plan *plan, double *rate, int64_t *iterations, tct_error *err);
#endif
