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
 * ACCOUNTING  Not the continuous law: this one says slightly more.  Let x = g/scale and let a record move the sum by d
 * on the lattice.
 * (1) One coordinate, d = n g: the loss of K against K + n is (n - 2k) x, k = 0..n.  Its hockey-stick divergence at
 * e^{(n-2j)x} is P[K <= j] - e^{(n-2j)x} P[K <= j - n] = 1 - a^{j+1}/(1 + a) - a^j/(1 + a) = 1 - a^j: the value of the
 * continuous Laplace law, 1 - e^{(l - nx)/2}.  Between these points it is linear in e^l, a chord of the convex
 * continuous curve.  With r^2 = e^{l - l1}, r in [1, e^x], r/(1 + (r^2 - 1)/(e^x + 1)) is largest at r = e^{x/2}, where
 * it is cosh(x/2).  So the divergence at l is at most the continuous one at l - 2 log cosh(x/2), and at least the one
 * at l. (2) Several coordinates, n = n1 + n2: moving two by n1 and n2 says no more than moving one by n.  Multiply 1
 * minus the divergence at e^{mx} by a^{m/2}: one coordinate gives S_n(m) = a^{max(|m|, n)/2}, two give a^{n1/2} H(m)
 * with H(m) = (S(m - n1) + S(m + n1) + (1 - a)(S(m - n1 + 2) + S(m - n1 + 4) + ... + S(m + n1 - 2)))/(1 + a), S =
 * S_n2.  It is even in m.  (1 + a)(H(m+2) - H(m)) = S(m + n1 + 2) - a S(m + n1) + a S(m - n1 + 2) - S(m - n1).  For m
 * >= 0 the last two terms are at most 0, as S falls at most by a factor a.  The first two are 0, or, where m + n1 < n2,
 * so are all four together.  So for |m| <= n H is at least H(n) = a^{n2/2} (a^{n1} + 1 + a - a^{n1})/(1 + a) =
 * a^{n2/2}, which is the claim at all points where either curve bends. (3) Hence a vector that moves by at most c in
 * the l1 norm is dominated by the continuous pair of epsilon0 = c/scale with 2 log cosh(x/2) <= x^2/4 added to its
 * loss.  With x <= 2^-20 (tct_lattice_spacing) that is at most 2^-42; with x <= epsilon0 (a shift is at least g) at
 * most 2^-22 epsilon0.  The accountants add the smaller one for every event (tct_laplace_slack); epsilon0 itself bounds
 * the loss as it is.
 *
 * ROUNDING  None: integers, and a product by a power of two.  V beyond 2^10 would pass 64 bits
 * and is refused; its probability is exp(-1024) < 1e-444,
 * below every delta that is a double. */
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
