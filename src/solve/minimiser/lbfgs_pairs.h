/* lbfgs_pairs.h - the last steps of a quasi-Newton method and the directions that they give. */
#ifndef TCT_SOLVE_MINIMISER_LBFGS_PAIRS_H
#define TCT_SOLVE_MINIMISER_LBFGS_PAIRS_H
#include "core/status.h"

/* Pairs of steps s and gradient changes y, a ring of `memory`. */
typedef struct tct_pairs {
  double *s, *y;           /* [memory][p] */
  double *inverse, *alpha; /* [memory]: 1/s.y, and the first loop's coefficients */
  int64_t memory, count, p;
} tct_pairs;

tct_status tct_pairs_new(tct_pairs *pairs, int64_t memory, int64_t p, tct_error *err);
void tct_pairs_free(tct_pairs *pairs); /* wipes */

/* Keeps the pair (t*direction, after - before); without curvature left in floating point all pairs are dropped. */
void tct_pairs_keep(tct_pairs *pairs, double t, const double *direction, const double *before, const double *after);

/* d <- -H g by the two loops (Nocedal and Wright, Algorithm 7.4).  factor: the Cholesky factor of the first metric
 * (la/exact/gram.h); NULL: the identity, scaled by s.y/y.y of the last pair. */
void tct_pairs_direction(tct_pairs *pairs, const double *factor, const double *g, double *d);
#endif
