/* sgd_shared.h - the step rule and the proximal step that the gradient solvers share. */
#ifndef TCT_SOLVE_GRADIENT_SGD_SHARED_H
#define TCT_SOLVE_GRADIENT_SGD_SHARED_H
#include "solve/solve.h"

/* Resolves step=auto to 1/(smoothness*R^2 + l2). */
tct_status tct_sgd_defaults(const tct_facts *facts, const tct_option *table, tct_solver_plan *plan, tct_error *err);
/* Promises `count` clipped gradient sums at plan->noise_multiplier; the spec has the clip. */
tct_status tct_sgd_promise(const tct_facts *facts, double rate, int64_t count, tct_solver_plan *plan, tct_error *err);
/* w <- prox of step*psi at w, sparing the intercept. */
void tct_prox_step(const tct_facts *facts, double *w, double step);
/* The run of dpsgd under any plan whose one event is (sampled) gaussian and whose spec has batch, clip, step, average.
 */
tct_status tct_dpsgd_run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                         tct_error *err);
/* tct_solver.weight_bound of such plans. */
double tct_dpsgd_weight_bound(const tct_facts *facts, const tct_solver_plan *plan);
#endif
