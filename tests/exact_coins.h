/* exact_coins.h - the samplers' coins for probabilities that are doubles. */
#ifndef TCT_TEST_EXACT_COINS_H
#define TCT_TEST_EXACT_COINS_H
#include "rng/coins.h"
#include <math.h>

/* Bernoulli(p) and Bernoulli(exp(-gamma)), of the exact numbers that the doubles are. */
static inline bool coin_of(tct_stream *s, double p) {
  return p > 0 && (p >= 1 || tct_coin_dyadic(s, tct_dyadic_of(p)));
}
static inline bool coin_exp_of(tct_stream *s, double gamma) { return tct_coin_exp_dyadic(s, tct_dyadic_of(gamma)); }
#endif
