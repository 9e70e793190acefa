/* compare.h - comparisons that never turn NaN into a number: account/ uses these in place of fmax and fmin.
 *
 * fmax(NaN, 0) is 0: an upper bound that could not be computed would become the best one of all. */
#ifndef TCT_ACCOUNT_CURVES_COMPARE_H
#define TCT_ACCOUNT_CURVES_COMPARE_H
#include <math.h>

/* The larger and the smaller of two numbers; NaN if either is. */
static inline double tct_max(double a, double b) { return a > b || isnan(a) ? a : b; }
static inline double tct_min(double a, double b) { return a < b || isnan(a) ? a : b; }

/* An upper bound on what is at least 0.  NaN proves nothing: infinity. */
static inline double tct_upper(double x) { return isnan(x) ? INFINITY : tct_max(x, 0); }
/* A lower bound on what is at least 0.  NaN proves nothing: 0. */
static inline double tct_lower(double x) { return isnan(x) ? 0 : tct_max(x, 0); }
/* An upper bound on a probability.  NaN proves nothing: 1. */
static inline double tct_upper_mass(double x) { return tct_min(tct_upper(x), 1); }
#endif
