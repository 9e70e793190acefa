/* compare.h - comparisons that never turn NaN into a number, in place of fmax and fmin; sums rounded to one side.
 *
 * fmax(NaN, 0) is 0: an upper bound that could not be computed would become the best one of all. */
#ifndef TCT_ACCOUNT_CURVES_COMPARE_H
#define TCT_ACCOUNT_CURVES_COMPARE_H
#include "core/point.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The larger and the smaller of two numbers; NaN if either is. */
static inline double tct_max(double a, double b) { return a > b || isnan(a) ? a : b; }
static inline double tct_min(double a, double b) { return a < b || isnan(a) ? a : b; }

/* Quotient, product and sum, rounded towards `end` where they are no doubles.  fma and two-sum give the exact rest, so
 * what is a double stays what it is. */
static inline double tct_rounded(double value, double rest, double end) {
  bool beyond = end > 0 ? rest > 0 : rest < 0;
  return TCT_POINT(pure_sum_rounded_to_nearest, beyond, false) ? nextafter(value, end) : value;
}
static inline double tct_quotient(double a, double b, double end) {
  double value = a / b;
  return tct_rounded(value, -fma(value, b, -a), end);
}
static inline double tct_product(double a, double b, double end) {
  double value = a * b;
  return tct_rounded(value, fma(a, b, -value), end);
}
static inline double tct_sum(double a, double b, double end) {
  double value = a + b, part = value - a, rest = (a - (value - part)) + (b - part);
  return tct_rounded(value, rest, end);
}
/* A count as a double, above 2^53 with the conversion's own rounding. */
static inline double tct_count(int64_t count, double end) {
  double value = (double)count;
  return value < 0x1p53 ? value : nextafter(value, end);
}

/* An upper bound on what is at least 0.  NaN proves nothing: infinity. */
static inline double tct_upper(double x) { return isnan(x) ? INFINITY : tct_max(x, 0); }
/* A lower bound on what is at least 0.  NaN proves nothing: 0. */
static inline double tct_lower(double x) { return isnan(x) ? 0 : tct_max(x, 0); }
/* An upper bound on a probability.  NaN proves nothing: 1. */
static inline double tct_upper_mass(double x) { return tct_min(tct_upper(x), 1); }
#endif
