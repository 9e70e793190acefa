/* exponential_choice.c - the exponential mechanism's choice by rejection, and permute and flip, both exactly.
 *
 * DISTRIBUTION  P[j] = exp(u score_j) / sum_i exp(u score_i), u = epsilon'/(2 change) (epsilon'/change if
 * monotone), where u is epsilon/(2 change) rounded down to 63 bits: the exponential mechanism for an
 * epsilon' <= epsilon that depends on public numbers alone.
 *
 * PROOF  (1) Exact exponents.  u = floor(m_e 2^63 / m_c) 2^x, where epsilon = m_e 2^a, change = m_c 2^b: an integer
 * below 2^64 times a power of two.  gamma_j = (max - score_j) u is never rounded.  The difference of two doubles is
 * taken apart into doubles >= 0 (Moller-Knuth two-sum), with a coin for each.  It is a single one whenever the scores
 * lie on a lattice with exact differences.  A double times u is an integer below 2^117 times a power of two.  As
 * exp(-gamma_j) = exp(-u max) exp(u score_j) exactly, the maximum, which depends on the data, cancels in P[j].
 * (2) Plain rejection: j uniform, accepted with probability exp(-gamma_j) by exact coins, gives P.
 * (3) Where that is refused PLAIN times, many candidates are far below the maximum, and proposals are
 * tilted: with an integer 0 <= i_j <= gamma_j, j is proposed with probability ~ 2^-i_j (integer
 * weights 2^(CAP - i_j), uniform integer below their sum) and accepted with probability
 * (2/e)^i_j exp(-(gamma_j - i_j)), both exact coins.  The product is exp(-gamma_j) again.
 * Trials are independent, so PLAIN refusals of (2) tell nothing about (3), and the outcome of each is
 * distributed as P; so is the outcome of whichever ends first.  If n candidates share a gamma, one trial
 * of (3) succeeds with probability at least of the order of n^(ln 2 - 1), against 1/n for (2).
 * Proposals are drawn BATCH at a time to share a pass over the scores; those left over are independent
 * of the one that was accepted.
 *
 * Permute and flip (McKenna and Sheldon 2020) goes through the candidates in random order: each time one of those not
 * yet seen is drawn uniformly.  It takes candidate j with probability exp(-gamma_j), at the latest a largest one, whose
 * coin is certain.  Its law is that of the largest score with one-sided exponential noise (Ding, Kifer, Saeidian,
 * Steinke, Wang, Xiao and Zhang 2021).
 *
 * ROUNDING  None but that of u, above; max - score_j must not overflow (scores up to 2^1022).
 * A gamma of 2^60 or more counts as 2^60: its coin succeeds with probability exp(-2^60).
 * Running time depends on the scores; only the choice is promised to be private. */
#include "rng/coins.h"

#include "core/point.h"

#include <math.h>

enum {
  PLAIN = 32, /* about the cost of one tilted pass over some hundred scores */
  BATCH = 16, /* half the trials that the worst case of 10^5 candidates needs */
  CAP = 40    /* deeper levels are proposed too often by a factor below count 2^-40 */
};

/* high * 2^64 + low, times 2^exponent */
typedef struct {
  tct_u128 mantissa;
  int exponent;
} wide;

static wide times(double d, tct_dyadic u) {
  tct_dyadic x = tct_dyadic_of(d);
  return (wide){(tct_u128)x.mantissa * u.mantissa, x.exponent + u.exponent};
}

/* Takes a part h >= 0 off the exact difference *a - *b >= 0; what is left is again *a - *b >= 0,
 * and is zero at once if the difference is a double. */
static double peel(double *a, double *b) {
  double d = *a - *b, t = d - *a;
  double error = (*a - (d - t)) + (-*b - t);
  if (error >= 0) {
    *a = error;
    *b = 0;
    return d;
  }
  double below = nextafter(d, 0);
  *a = d - below; /* the spacing of doubles there, a power of two, at least twice -error */
  *b = -error;
  return below;
}

/* floor, at most limit */
static uint64_t whole_part(wide gamma, uint64_t limit) {
  if (gamma.mantissa == 0) return 0;
  if (gamma.exponent >= 0) {
    if (gamma.exponent >= 64 || gamma.mantissa >> 64 != 0) return limit;
    tct_u128 value = gamma.mantissa << gamma.exponent;
    return value < limit ? (uint64_t)value : limit;
  }
  if (gamma.exponent <= -128) return 0;
  tct_u128 value = gamma.mantissa >> -gamma.exponent;
  return value < limit ? (uint64_t)value : limit;
}

/* Bernoulli(exp(-(gamma - level))), level <= gamma */
static bool coin_exp_wide(tct_stream *s, wide gamma, uint64_t level) {
  const uint64_t huge = (uint64_t)1 << 60;
  uint64_t whole = whole_part(gamma, huge);
  for (uint64_t i = level; i < whole; ++i)
    if (!tct_coin_exp_one(s)) return false;
  if (gamma.exponent >= 0) return true;
  tct_u128 fraction = gamma.mantissa;
  if (gamma.exponent > -128) fraction &= ((tct_u128)1 << -gamma.exponent) - 1;
  return tct_coin_exp_dyadic(s, (tct_dyadic){(uint64_t)(fraction >> 64), gamma.exponent + 64}) &&
         tct_coin_exp_dyadic(s, (tct_dyadic){(uint64_t)fraction, gamma.exponent});
}

static int level_of(double max, double score, tct_dyadic u, int cap) {
  return (int)whole_part(times(peel(&max, &score), u), (uint64_t)cap);
}

static bool accept(tct_stream *s, double max, double score, tct_dyadic u, int level) {
  for (int i = 0; i < level; ++i)
    if (!tct_coin_two_over_e(s)) return false;
  if (!coin_exp_wide(s, times(peel(&max, &score), u), (uint64_t)level)) return false;
  while (max != score)
    if (!coin_exp_wide(s, times(peel(&max, &score), u), 0)) return false;
  return true;
}

/* Candidate j is proposed with probability 2^(cap - its level)/total. */
typedef struct tilt {
  const double *score; /* [count] */
  int64_t count;
  double max; /* of the scores */
  tct_dyadic u;
  int cap;        /* the highest level */
  uint64_t total; /* the sum of these weights, below 2^63 */
} tilt;

/* BATCH tilted proposals in random order: ticket t falls to the candidate whose weights reach past it. */
static void propose(tct_stream *s, const tilt *weights, int64_t chosen[BATCH], int level[BATCH]) {
  uint64_t ticket[BATCH], reached = 0;
  int order[BATCH], next = 0;
  for (int t = 0; t < BATCH; ++t) {
    int at = t;
    ticket[t] = tct_stream_below(s, weights->total);
    for (; at > 0 && ticket[order[at - 1]] > ticket[t]; --at) order[at] = order[at - 1];
    order[at] = t;
  }
  for (int64_t j = 0; j < weights->count && next < BATCH; ++j) {
    int here = level_of(weights->max, weights->score[j], weights->u, weights->cap);
    reached += (uint64_t)1 << (weights->cap - here);
    for (; next < BATCH && ticket[order[next]] < reached; ++next) {
      chosen[order[next]] = j;
      level[order[next]] = here;
    }
  }
}

static int64_t tilted(tct_stream *s, const double *score, int64_t count, double max, tct_dyadic u) {
  int64_t chosen[BATCH];
  int level[BATCH], cap = CAP;
  while (count >> (63 - cap) != 0) --cap; /* count 2^cap below 2^63 */
  uint64_t total = 0;
  for (int64_t j = 0; j < count; ++j) total += (uint64_t)1 << (cap - level_of(max, score[j], u, cap));
  tilt weights = {score, count, max, u, cap, total};
  for (;;) {
    propose(s, &weights, chosen, level);
    for (int t = 0; t < BATCH; ++t)
      if (accept(s, max, score[chosen[t]], u, level[t])) return chosen[t];
  }
}

bool tct_coin_exp_times(tct_stream *s, double d, tct_dyadic u, uint64_t level) {
  return coin_exp_wide(s, times(d, u), level);
}

tct_dyadic tct_choice_rate(double epsilon, double change, bool monotone) {
  tct_dyadic e = tct_dyadic_of(epsilon), c = tct_dyadic_of(change);
  if (c.mantissa == 0) return (tct_dyadic){0, 0}; /* against the contract: the uniform choice is safe */
  while (c.mantissa < (uint64_t)1 << 52) c.mantissa <<= 1, --c.exponent; /* a subnormal change */
  uint64_t quotient = (uint64_t)(((tct_u128)e.mantissa << 63) / c.mantissa);
  return (tct_dyadic){TCT_POINT(choice_rate_up_by_1e_7, quotient, quotient + (quotient >> 23)),
                      e.exponent - c.exponent - 63 - (monotone ? 0 : TCT_POINT(exponential_without_its_half, 1, 0))};
}

/* Eight maxima side by side, which the compiler keeps in vector registers. */
static double largest(const double *score, int64_t count) {
  enum { LANES = 8 };
  double max[LANES];
  int64_t j = 0;
  for (int l = 0; l < LANES; ++l) max[l] = score[0];
  for (; j + LANES <= count; j += LANES)
    for (int l = 0; l < LANES; ++l) max[l] = score[j + l] > max[l] ? score[j + l] : max[l];
  for (; j < count; ++j) max[0] = score[j] > max[0] ? score[j] : max[0];
  for (int l = 1; l < LANES; ++l) max[0] = max[l] > max[0] ? max[l] : max[0];
  return max[0];
}

int64_t tct_exponential_choice(tct_stream *s, const double *score, int64_t count, double epsilon, double change,
                               bool monotone) {
  tct_dyadic u = tct_choice_rate(epsilon, change, monotone);
  double max = largest(score, count);
  for (int t = 0; t < PLAIN; ++t) {
    int64_t j = (int64_t)tct_stream_below(s, (uint64_t)count);
    if (accept(s, max, score[j], u, 0)) return j;
  }
  return tilted(s, score, count, max, u);
}

int64_t tct_permute_and_flip(tct_stream *s, const double *score, int64_t count, double epsilon, double change,
                             bool monotone) {
  enum { WORD = 64 };
  tct_dyadic u = tct_choice_rate(epsilon, change, monotone);
  double max = largest(score, count);
  for (;;) {
    uint64_t seen[TCT_FLIP_MOST / WORD] = {0};
    for (int64_t left = count; left > 0;) {
      int64_t j = (int64_t)tct_stream_below(s, (uint64_t)count);
      if (seen[j / WORD] >> (j % WORD) & 1) continue; /* uniform among those not yet seen */
      if (accept(s, max, score[j], u, 0)) return j;
      seen[j / WORD] |= (uint64_t)1 << (j % WORD);
      left--;
    }
  } /* not reached: the coin of a largest score always succeeds */
}
