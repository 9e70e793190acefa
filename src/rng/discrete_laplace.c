/* discrete_laplace.c - g times a two-sided geometric number, exactly.
 *
 * DISTRIBUTION  K g with P[K = k] = (1 - a)/(1 + a) a^|k|, a = exp(-g/scale), for every integer k.
 *
 * PROOF  Algorithm 2 of Canonne-Kamath-Steinke 2020, "The discrete Gaussian for differential privacy",
 * with scale/g = M/D, M an integer below 2^53, D a power of two.  U uniform below M, kept with
 * probability exp(-U/M); V the number of successes of coins exp(-1) before the first failure.
 * X = U + M V has P[X = x] ~ exp(-(x mod M)/M) exp(-floor(x/M)) = exp(-x/M) for x >= 0.
 * Y = floor(X/D) has P[Y = y] ~ sum over x in [D y, D y + D) of exp(-x/M) ~ exp(-y D/M) = a^y.
 * A fair sign, with (minus, 0) refused, counts zero once: P[K = k] ~ a^|k|.
 *
 * ROUNDING  None: integers, and a product by a power of two.  V beyond 2^10 would pass 64 bits
 * and is refused; its probability is exp(-1024). */
#include "rng/coins.h"

enum { V_MAX = 1 << 10 };

double tct_discrete_laplace(tct_stream *s, double scale, double g) {
  tct_dyadic ratio = tct_dyadic_of(scale / g);
  uint64_t m = ratio.mantissa;
  int shift = -ratio.exponent;
  for (;;) {
    uint64_t u = tct_stream_below(s, m), v = 0;
    if (!tct_coin_exp_ratio(s, u, m)) continue;
    while (v <= V_MAX && tct_coin_exp_one(s)) ++v;
    if (v > V_MAX) continue;
    uint64_t y = (uint64_t)((u + (tct_u128)m * v) >> shift);
    bool minus = tct_stream_u32(s) & 1;
    if (minus && y == 0) continue;
    double value = (double)y * g;
    return minus ? -value : value;
  }
}
