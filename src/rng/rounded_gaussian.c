/* rounded_gaussian.c - round(N(0, sigma^2)/g) * g, exactly.
 *
 * DISTRIBUTION  K g with P[K = k] = Phi((k + 1/2) g/sigma) - Phi((k - 1/2) g/sigma), for every integer k.
 *
 * PROOF  (1) |y| of a standard normal y, by algorithm N of Karney 2016, "Sampling exactly from the
 * normal distribution", ACM TOMS 42(1):
 *   N1  k >= 0 with probability exp(-k/2) (1 - exp(-1/2)), by coins exp(-1/2);
 *   N2  go on with probability exp(-k (k-1)/2), by k (k-1) coins exp(-1/2), else to N1;
 *   N3  x uniform on (0,1);
 *   N4  go on with probability exp(-x (2k+x)/2), by k+1 coins exp(-x c), c = (2k+x)/(2k+2), else to N1;
 *   N5  y = k + x, whose density is thus proportional to exp(-k^2/2 - x k - x^2/2) = exp(-y^2/2).
 * The coin exp(-x c) tosses until the first failure: toss j succeeds if z_j < z_(j-1) (z_0 = x, the others fresh
 * uniform numbers) and an independent coin c succeeds.  n successes or more have probability (x c)^n / n!, hence an
 * even number of them has probability exp(-x c).  The coin c: i uniform below 2k+2; yes if i < 2k, no if i > 2k, and a
 * fresh uniform z < x if i = 2k.  Comparing two uniform numbers looks at 64 bits each, and at further words only while
 * they are equal.  Such words belong to the number from then on (tct_lazy), so all decisions about x are about one real
 * number.
 * (2) Rounding.  sigma/g = M 2^E exactly (g is a power of two, M < 2^53).  With Y = k 2^64 + top(x) and f in [0,1) the
 * rest of x, sigma y/g = M (Y + f) 2^(E-64).  With h = 64 - E, the nearest integer is q = floor((M Y + 2^(h-1) + M f) /
 * 2^h).  If adding M - 1 instead of M f gives the same quotient as adding 0, no multiple of 2^h lies strictly in
 * between and q is known.  Otherwise one does, R above M Y + 2^(h-1), 0 < R < M, and q is the upper integer if and only
 * if f >= R/M.  That is decided by long division, word by word, against the further words of x.  Ties: sigma y/g is
 * half an integer for countably many y only, which have probability zero.
 * (3) The sign is a fair coin; the distribution is symmetric, and 0 is made +0.
 * K g is a real Gaussian rounded to the lattice.  Added to a lattice value v it is v + N(0, sigma^2) rounded to the
 * lattice: post-processing of the continuous Gaussian mechanism.
 *
 * ROUNDING  None: 128-bit integers, and products by powers of two.  A proposal k > 1000 is refused at
 * N1 (M Y must fit): its probability is below exp(-499500), the only departure from the distribution.
 * Running time depends on the value drawn; only the output is promised to be private. */
#include "rng/coins.h"

#include "core/point.h"

enum { K_MAX = 1000 }; /* 53 + 64 + 10 bits of M Y fit 128 */

/* N4's coin exp(-x (2k+x)/(2k+2)) */
static inline bool coin_step(tct_stream *s, uint32_t k, tct_lazy *x) {
  tct_lazy y = *x; /* z_(j-1); at the first toss it is x itself */
  bool even = true;
  for (bool first = true;; first = false, even = !even) {
    tct_lazy z = tct_lazy_draw(s);
    bool less = tct_lazy_less(s, &z, first ? x : &y);
    if (!less) return even;
    uint32_t i = tct_below_small(s, 2 * k + 2);
    if (i > 2 * k) return even;
    if (i == 2 * k) {
      tct_lazy fresh = tct_lazy_draw(s);
      if (!tct_lazy_less(s, &fresh, x)) return even;
    }
    y = z;
  }
}

static inline bool coins_exp_half(tct_stream *s, uint32_t count) {
  for (; count > 0; --count)
    if (!tct_coin_exp_half(s)) return false;
  return true;
}

/* N1 to N5: |y| = k + x */
static uint32_t half_normal(tct_stream *s, tct_lazy *x) {
  for (;;) {
    uint32_t k = 0, k_max = TCT_POINT(gaussian_tails_cut_at_6_sigma, K_MAX, 5);
    while (k <= k_max && tct_coin_exp_half(s)) ++k;
    if (k > k_max || (k > 1 && !coins_exp_half(s, k * (k - 1)))) continue;
    *x = tct_lazy_draw(s);
    uint32_t steps = 0;
    while (steps <= k && coin_step(s, k, x)) ++steps;
    if (steps > k) return k;
  }
}

/* f >= R/M, f the words of x from the second on, 0 < R < M */
static __attribute__((noinline)) bool rest_reaches(tct_stream *s, tct_lazy *x, uint64_t r, uint64_t m) {
  for (uint64_t i = 1; r > 0; ++i) {
    uint64_t word = tct_lazy_word(s, x, i);
    uint64_t digit = (uint64_t)(((tct_u128)r << 64) / m);
    if (word != digit) return word > digit;
    r = (uint64_t)(((tct_u128)r << 64) % m);
  }
  return true;
}

uint64_t tct_round_scaled(tct_stream *s, tct_dyadic ratio, uint32_t k, tct_lazy *x) {
  int h = -ratio.exponent + 64;
  uint64_t m = ratio.mantissa;
  tct_u128 low =
      ((tct_u128)(m * k) << 64) + (tct_u128)m * x->top + TCT_POINT(gaussian_rounded_down, (tct_u128)1 << (h - 1), 0);
  uint64_t q = (uint64_t)(low >> h), above = (uint64_t)((low + (m - 1)) >> h);
  if (__builtin_expect(q != above, 0)) {
    uint64_t r = (uint64_t)(((tct_u128)above << h) - low);
    if (TCT_POINT(gaussian_decided_by_64_bits, rest_reaches(s, x, r, m), false)) q = above;
  }
  return q;
}

double tct_rounded_gaussian(tct_stream *s, double sigma, double g) {
  tct_lazy x;
  tct_dyadic ratio = tct_dyadic_of(sigma / g);
  uint32_t k = half_normal(s, &x);
  uint64_t q = tct_round_scaled(s, ratio, k, &x);
  double value = (double)q * g;
  return q != 0 && tct_stream_u32(s) & 1 ? -value : value;
}
