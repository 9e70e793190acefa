/* goodness.h - chi-square tests of samplers against exact probabilities.
 *
 * Seeds are fixed, so a result never changes from run to run.  ALPHA is the probability that a right
 * sampler would have failed one given test when its seed was chosen; planted faults must fall
 * below it too. */
#ifndef TCT_TEST_GOODNESS_H
#define TCT_TEST_GOODNESS_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "rng/coins.h"

#define ALPHA 1e-8
#define Z_ALPHA 5.73 /* two-sided normal quantile of ALPHA */

enum { CELLS = 4096 };

static inline tct_stream open_stream(uint64_t seed) {
  tct_rng_key key;
  tct_stream s;
  tct_rng_key_seed(&key, seed);
  tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, 0);
  return s;
}

/* P[chi-square with k degrees of freedom > x], by the finite sums for integer k. */
static inline double chi_square_tail(double x, int k) {
  double term, sum;
  if (k % 2 == 0) {
    term = sum = exp(-x / 2);
    for (int i = 1; i < k / 2; ++i) sum += term *= x / 2 / i;
  } else {
    sum = erfc(sqrt(x / 2));
    term = sqrt(2 * x / M_PI) * exp(-x / 2);
    for (int i = 1; i <= k / 2; ++i) sum += term, term *= x / (2 * i + 1);
  }
  return sum;
}

/* p-value of counts against probabilities; neighbours are pooled until they expect 20. */
static inline double fit(const double *count, const double *probability, int cells, double draws) {
  double chi2 = 0, seen = 0, expected = 0, left = draws;
  int used = 0;
  for (int j = 0; j < cells; ++j) {
    seen += count[j];
    expected += probability[j] * draws;
    left -= probability[j] * draws;
    if (expected < 20 || (left < 20 && j < cells - 1)) continue;
    chi2 += (seen - expected) * (seen - expected) / expected;
    seen = expected = 0;
    ++used;
  }
  if (used < 2 || used > 1200) fail_msg("a chi-square of %d cells", used);
  return chi_square_tail(chi2, used - 1);
}

#endif
