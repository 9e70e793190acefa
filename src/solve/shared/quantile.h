/* quantile.h - a quantile of sizes from counts of them between the edges top/2^(k/2). */
#ifndef TCT_SOLVE_QUANTILE_H
#define TCT_SOLVE_QUANTILE_H
#include "core/status.h"

enum { TCT_QUANTILE_EDGES = 24 };

/* The count that a size at most `top` belongs to, 0 for the largest; -1 for what is 0 beside top. */
int tct_quantile_bin(double size, double top);
/* The size that a part `keep` of all counts lies within, and `sure` records more; top where none is.  Between edges
 * counts are spread evenly over the logarithm of the size.  count[TCT_QUANTILE_EDGES]: released. */
double tct_quantile_between(const double *count, double top, double keep, double sure);
/* The same with a margin that records can meet, half of the rest.  top, where noise of this deviation might meet it
 * alone: that would be next to 0.  most: what records can add to all counts. */
double tct_quantile_beyond_noise(const double *count, double top, double keep, double deviation, double most);
/* The first of counts[cells] that noise of this deviation does not explain, by itself or with the next one or two; the
 * fullest where none before it is one.  A cell that noise alone fills costs as its size, a root of 2 of the next one's.
 * So the chance of one, which `kept` deviations have beside the fullest, falls in proportion to the size. */
int tct_quantile_farthest(const double *counts, int cells, double kept, double deviation);

#endif
