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
 * The Y alone are the exponential law of mean `scale`, rounded down to the lattice (tct_exponential_floor).
 *
 * ROUNDING  Integers, and a product by a power of two.  V is not looked at beyond 2^33: Y is then at least 2^53 where
 * scale/g >= 2^20, and whatever it is, it stands for "too large".  The gate
 * brings sums to at most 2^52 lattices, so no output tells such values apart and no probability is neglected.  At delta
 * 0 a cut tail would be no guarantee. */
#include "rng/coins.h"

#include "core/point.h"

static const uint64_t v_max = (uint64_t)1 << 33;

/* Y: scale/g < 2^40, so below 2^74. */
static tct_u128 geometric(tct_stream *s, tct_dyadic ratio) {
  uint64_t m = ratio.mantissa, u, v = 0;
  do u = tct_stream_below(s, m);
  while (!tct_coin_exp_ratio(s, u, m));
  while (v < v_max && tct_coin_exp_one(s)) ++v;
  tct_u128 x = u + (tct_u128)m * v;
  return ratio.exponent < 0 ? x >> -ratio.exponent : x << ratio.exponent;
}

double tct_discrete_laplace(tct_stream *s, double scale, double g) {
  tct_dyadic ratio = tct_dyadic_of(TCT_POINT(laplace_scale_down_by_1e_3, scale, scale * (1 - 1e-3)) / g);
  for (;;) {
    tct_u128 y = geometric(s, ratio);
    bool minus = tct_stream_u32(s) & 1;
    if (minus && y == 0) continue;
    double value = (double)y * g;
    return minus ? -value : value;
  }
}

double tct_exponential_floor(tct_stream *s, double scale, double g) {
  return (double)geometric(s, tct_dyadic_of(scale / g)) * g;
}
