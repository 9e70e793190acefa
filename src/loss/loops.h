/* loops.h - the scalar loops that every loss has, made from its own value and slope. */
#ifndef TCT_LOSS_LOOPS_H
#define TCT_LOSS_LOOPS_H
#include "loss/loss.h"
#include "core/lanes.h"

#include <math.h>

/* Defines `slopes`, `values` and `sum` of a loss file from its static inline `value` and `slope`.  The loops over eight
 * lanes compile to vectors where the functions are free of branches; the order is that of tct_lanes_sum. */
#define TCT_LOSS_LOOPS                                                                     \
  static void slopes(const double *z, const double *y, double h, double *out, int64_t n) { \
    for (int64_t i = 0; i < n; i++) out[i] = slope(z[i], y[i], h);                         \
  }                                                                                        \
  static void values(const double *z, const double *y, double h, double *out, int64_t n) { \
    for (int64_t i = 0; i < n; i++) out[i] = value(z[i], y[i], h);                         \
  }                                                                                        \
  static double sum(const double *z, const double *y, double h, int64_t n) {               \
    double lane[TCT_LANES] = {0};                                                          \
    int64_t i = 0;                                                                         \
    for (; i + TCT_LANES <= n; i += TCT_LANES)                                             \
      for (int l = 0; l < TCT_LANES; l++) lane[l] += value(z[i + l], y[i + l], h);         \
    for (int l = 0; i + l < n; l++) lane[l] += value(z[i + l], y[i + l], h);               \
    return tct_lanes_sum(lane);                                                            \
  }

/* What every loss file defines, in its table. */
#define TCT_LOSS_OWN                                                                                    \
  .curvature_bound = curvature_bound, .value = value, .slope = slope, .curve = curve, .slopes = slopes, \
  .values = values, .sum = sum

static inline double tct_clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* The step from alpha to `to` in [low, high], such that alpha + step, as computed, does not round past an end. */
static inline double tct_dual_move(double alpha, double to, double low, double high) {
  double step = to - alpha;
  while (alpha + step > high) step = nextafter(step, -INFINITY);
  while (alpha + step < low) step = nextafter(step, INFINITY);
  return step;
}

/* The same for a step to b = y*alpha in [low, high]. */
static inline double tct_dual_move_signed(double alpha, double b, double y, double low, double high) {
  return y > 0 ? tct_dual_move(alpha, b, low, high) : tct_dual_move(alpha, -b, -high, -low);
}
#endif
