/* sgd_shared.h - the run that dpsgd and the solvers of papers on it share. */
#ifndef TCT_BASELINES_SGD_SHARED_H
#define TCT_BASELINES_SGD_SHARED_H
#include "solve/solve.h"

/* Promises `count` clipped gradient sums at plan->noise_multiplier; the spec has the clip. */
tct_status tct_sgd_promise(const tct_facts *facts, double rate, int64_t count, tct_solver_plan *plan, tct_error *err);
/* The run of dpsgd under any plan whose one event is (sampled) gaussian and whose spec has batch, clip, step, average.
 */
tct_status tct_dpsgd_run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                         tct_error *err);
/* tct_solver.weight_bound of such plans. */
double tct_dpsgd_weight_bound(const tct_facts *facts, const tct_solver_plan *plan);
#endif
