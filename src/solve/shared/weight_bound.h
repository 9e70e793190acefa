/* weight_bound.h - how large a released weight can be, from the plan alone; for tct_solver.weight_bound.
 *
 * A bound holds for every table.  It fails only if some noise of the run is beyond tct_noise_max, which happens in
 * fewer than one run in 1e30. */
#ifndef TCT_SOLVE_SHARED_WEIGHT_BOUND_H
#define TCT_SOLVE_SHARED_WEIGHT_BOUND_H
#include "solve/solve.h"

/* What `count` numbers of the release's noise stay below, all of them, but with a chance below 1.1e-31; INFINITY where
 * the plan does not have the deviation. */
double tct_noise_max(const tct_release *release, double count);
/* A sum of the release over `rows` records of length at most its clip, in any one of p numbers and any repetition. */
double tct_sum_max(const tct_release *release, double rows, double p);

/* A path w' = prox(u - step g), u = w + momentum (w - last), from 0, in each coordinate; |step g| <= push.
 * rate: the prox's own step.  Holds for the averages of iterates too. */
double tct_path_length_max(const tct_facts *facts, double push, double rate, double steps, bool momentum);
/* How far the box is from 0; 0 where it holds 0, or where there is none. */
double tct_box_offset(const tct_penalty *penalty);
#endif
