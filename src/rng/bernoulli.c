/* bernoulli.c - exact coins: Bernoulli(p), Bernoulli(exp(-gamma)).
 *
 * DISTRIBUTION  The probability is the exact real number that the double argument denotes, or the
 * exponential of minus it.
 *
 * PROOF  Every finite double is m 2^e with integers m, e.  For p = m 2^-n <= 1, n random bits form
 * an integer that is uniform below 2^n, and it is less than m with probability p.  Bits are drawn
 * from the top; as m < 2^64, for n > 64 all but the last 64 must be zero.
 *
 * exp(-x), 0 <= x <= 1 (von Neumann 1951; Canonne-Kamath-Steinke 2020, algorithm 1): toss coins of
 * probability x/1, x/2, x/3, ... until the first failure, at toss number K.  P[K > j] = x^j/j!, so
 * P[K odd] = sum over even j of (P[K > j] - P[K > j+1]) = sum (-x)^j/j! = exp(-x).  The coin x/j is
 * the conjunction of two independent coins, x and 1/j: no quotient is formed.
 * Fixed arguments leave out the tosses with a known result: x = 1 begins at 1/2; for x = 1/2 the
 * coins are 1/(2j).  2/e = 2(1/2! - 1/3! + ...) = 1 - 1/3 (1 - 1/4 (1 - ...)): tosses 1/3, 1/4, ...
 * and K odd again.
 * exp(-x), x > 1: exp(-1) to the integer part, times exp(-fraction); both parts are exact.
 *
 * ROUNDING  None: integers only.  A number of tosses that is a counter wraps after 2^64 tosses,
 * which no run reaches; an integer part of 2^64 or more counts as 2^64 - 1, likewise. */
#include "rng/coins.h"

tct_dyadic tct_dyadic_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  int biased = (int)(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  if (biased == 0) return (tct_dyadic){fraction, -1074};
  return (tct_dyadic){fraction | (uint64_t)1 << 52, biased - 1075};
}

bool tct_coin_dyadic(tct_stream *s, tct_dyadic p) {
  if (p.mantissa == 0) return false;
  if (p.exponent >= 0) return true;
  int bits = -p.exponent;
  for (; bits > 64; bits -= bits > 128 ? 64 : bits - 64) {
    int shift = bits >= 128 ? 0 : 128 - bits;
    if (tct_stream_u64(s) >> shift != 0) return false;
  }
  return tct_stream_u64(s) >> (64 - bits) < p.mantissa;
}

/* 1/first, 1/(first+step), ... until the first failure; true if it is at an odd toss. */
static inline bool reciprocal_tosses(tct_stream *s, uint32_t first, uint32_t step) {
  bool odd = true;
  for (uint32_t k = first; tct_below_small(s, k) == 0; k += step) odd = !odd;
  return odd;
}
bool tct_coin_exp_half(tct_stream *s) { return reciprocal_tosses(s, 2, 2); }
bool tct_coin_exp_one(tct_stream *s) { return !reciprocal_tosses(s, 2, 1); }
bool tct_coin_two_over_e(tct_stream *s) { return reciprocal_tosses(s, 3, 1); }

bool tct_coin_exp_ratio(tct_stream *s, uint64_t num, uint64_t den) {
  for (uint32_t k = 1;; ++k) {
    bool success = tct_stream_below(s, den) < num && (k == 1 || tct_below_small(s, k) == 0);
    if (!success) return k & 1;
  }
}

/* exp(-x) for a dyadic x <= 1 */
static bool coin_exp_fraction(tct_stream *s, tct_dyadic x) {
  if (x.mantissa == 0) return true;
  for (uint32_t k = 1;; ++k) {
    bool success = tct_coin_dyadic(s, x) && (k == 1 || tct_below_small(s, k) == 0);
    if (!success) return k & 1;
  }
}

bool tct_coin_exp_dyadic(tct_stream *s, tct_dyadic gamma) {
  uint64_t whole = 0;
  int e = gamma.exponent;
  if (gamma.mantissa == 0) return true;
  if (e >= 0) {
    whole = e > __builtin_clzll(gamma.mantissa) ? UINT64_MAX : gamma.mantissa << e;
    gamma.mantissa = 0;
  } else if (e > -64) {
    whole = gamma.mantissa >> -e;
    gamma.mantissa &= ((uint64_t)1 << -e) - 1;
  }
  for (; whole > 0; --whole)
    if (!tct_coin_exp_one(s)) return false;
  return coin_exp_fraction(s, gamma);
}
