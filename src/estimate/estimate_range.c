/* estimate_range.c - the grids that values are counted on, and the range that noisy counts show. */
#include "estimate/estimate.h"

#include <math.h>

enum { LEAST = -40 }; /* the smallest power of two that is told from 0 */

int tct_estimate_power(double value) {
  int exponent;
  if (!(fabs(value) >= 0x1p-40)) return TCT_ESTIMATE_POWERS;
  frexp(value, &exponent); /* 2^(exponent-1) <= |value| < 2^exponent */
  int k = exponent - 1 - LEAST;
  if (k >= TCT_ESTIMATE_POWERS) k = TCT_ESTIMATE_POWERS - 1;
  return value > 0 ? TCT_ESTIMATE_POWERS + 1 + k : TCT_ESTIMATE_POWERS - 1 - k;
}

void tct_estimate_interval(int k, double *low, double *high) {
  int from = k > TCT_ESTIMATE_POWERS ? k - TCT_ESTIMATE_POWERS - 1 : TCT_ESTIMATE_POWERS - 1 - k;
  double near = ldexp(1, from + LEAST), far = ldexp(1, from + LEAST + 1);
  *low = k > TCT_ESTIMATE_POWERS ? near : k < TCT_ESTIMATE_POWERS ? -far : 0;
  *high = k > TCT_ESTIMATE_POWERS ? far : k < TCT_ESTIMATE_POWERS ? -near : 0;
}

/* A range of one sign whose ends are this far apart reaches 0 at the price of a third of its width.  Small values lie
 * in many intervals, of which none may hold enough to be seen. */
static const double APART = 4;

void tct_estimate_reach_zero(double *low, double *high) {
  if (*low > 0 && *high >= APART * *low) *low = 0;
  if (*high < 0 && *low <= APART * *high) *high = 0;
}

int tct_estimate_part(double value, double low, double high) {
  double part = floor((value - low) / (high - low) * TCT_ESTIMATE_FINE);
  return part >= TCT_ESTIMATE_FINE ? TCT_ESTIMATE_FINE - 1 : part > 0 ? (int)part : 0;
}

void tct_estimate_visible(const double *count, int len, double visible, int *first, int *last) {
  int largest = 0;
  for (int k = 0; k < len; k++)
    if (count[k] > count[largest]) largest = k;
  *first = *last = largest;
  for (int k = 0; k < len; k++) {
    if (!(count[k] > visible)) continue;
    if (k < *first) *first = k;
    if (k > *last) *last = k;
  }
}

/* A walk of 64 steps of noise alone leaves this many deviations in about one of ten. */
static const double SURE = 2.5;
/* Cutting values off costs more than a range that is too wide.  Where noise could explain more than this part of all
 * values, it does not have to: the ends stay. */
static const double AT_MOST = 0.02;

/* How many counts at an end hold no more than `outside` and what their noise explains; `step` leads inward. */
static int tail(const double *count, int len, int step, double deviation, double outside, double most) {
  double sum = 0;
  for (int k = 0; k < len - 1; k++) {
    sum += count[step > 0 ? k : len - 1 - k];
    if (sum > outside + fmin(SURE * deviation * sqrt(k + 1), most)) return k;
  }
  return len - 1;
}

void tct_estimate_trim(const double *count, int len, double deviation, double outside, int *first, int *last) {
  double total = 0;
  for (int k = 0; k < len; k++) total += count[k];
  total = fmax(total, 0);
  *first = tail(count, len, 1, deviation, outside * total, AT_MOST * total);
  *last = len - 1 - tail(count, len, -1, deviation, outside * total, AT_MOST * total);
  if (*first > *last) *first = 0, *last = len - 1;
}
