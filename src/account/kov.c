/* kov.c - the optimal composition of equal epsilon0-DP steps (Kairouz, Oh and Viswanath 2015).
 *
 * The worst case is randomised response: the loss is (2i - T) epsilon0, i binomial (T, p),
 * p = 1/(1 + e^-epsilon0).  With l_i the atoms in falling order and
 *   B_j = sum_{i>=j} w_i e^-(l_i - l_j),   D_j = delta(l_j) = sum_{i>=j} w_i (1 - e^-(l_i - l_j)),
 * one step down adds D += B (1 - e^-2epsilon0), B = B e^-2epsilon0 + w.  These are only positive terms, so the relative
 * error grows by a unit in the last place per atom.
 *
 * Where there are too many atoms to sum, the binomial's tails come from a closed form.  With H(x, p) the divergence of
 * a coin of chance x from one of chance p, z(k) = sgn(k/T - p) sqrt(2 T H(k/T, p)) and Q the normal upper tail, Q(z(m))
 * <= P(i >= m) <= Q(z(m - 1)),   1 < m < T (Zubkov and Serov 2013, Theory of Probability and its Applications 57(3),
 * theorem 1).  With m the first atom whose loss is above epsilon, delta = P(i >= m) - e^epsilon P'(i >= m), where P'
 * has 1 - p for p. */
#include "account/curves/compare.h"
#include "account/curves/work.h"
#include "account/kov.h"

#include "core/point.h"
#include "core/alloc.h"

#include <math.h>

/* More atoms than this (counts of 1e9 and more) are not summed one by one: 40 ms of work. */
static const int64_t max_atoms = (int64_t)1 << 22;

typedef struct binomial {
  double *weight; /* weight[i - low] for low <= i <= high */
  int64_t low, high;
} binomial;

/* Weights by ratios from the mode outward, then divided by their sum: no log-gamma, whose absolute
 * error is 1e-8 at T = 1e7.  45 standard deviations and 400 more leave out less than 1e-300.
 * weight NULL: too many atoms. */
static tct_status binomial_new(int64_t count, double epsilon0, binomial *out, tct_error *err) {
  epsilon0 *= TCT_POINT(pure_steps_one_part_in_a_million_low, 1, 1 - 1e-6);
  double p = 1 / (1 + exp(-epsilon0)), odds = exp(epsilon0), n = (double)count;
  double wide = 45 * sqrt(n * p * (1 - p)) + 400;
  out->weight = NULL;
  if (!(tct_min(2 * wide, n) <= (double)max_atoms)) return TCT_OK;
  int64_t factor = (int64_t)tct_min(wide, n);
  /* (double)count may lie above count, and n + 1 be n. */
  int64_t mode = (double)count * (1 - p) < 1 ? count : (int64_t)tct_min(n, floor((n + 1) * p));
  if (mode > count) mode = count;
  out->low = mode > factor ? mode - factor : 0;
  out->high = count - mode > factor ? mode + factor : count;
  TCT_TRY(tct_work_take(20 * (double)(out->high - out->low), err));
  out->weight = TCT_NEW(double, out->high - out->low + 1);
  if (!out->weight) return tct_fail_memory(err);
  double *w = out->weight - out->low, sum = 1;
  w[mode] = 1;
  for (int64_t i = mode; i < out->high; i++) sum += w[i + 1] = w[i] * ((double)(count - i) / (double)(i + 1)) * odds;
  for (int64_t i = mode; i > out->low; i--) sum += w[i - 1] = w[i] * ((double)i / (double)(count - i + 1)) / odds;
  for (int64_t i = out->low; i <= out->high; i++) w[i] /= sum;
  return TCT_OK;
}

/* ---- too many atoms ---- */

/* Rounding of what goes into t below, relative to T(|a| + |b|): some dozen operations. */
static const double ROUNDING = 0x1p-47;
/* Of the normal tail, relative. */
static const double TAIL = 1e-11;

/* P(i >= m) by D = 2m - T: from above (side -1) for a D of at least `at`, from below (+1) for one of at most `at`. sign
 * +1: the chance p, -1: 1 - p.  a = D/T and b = 2p - 1 go into T H without cancelling. */
static double tail(double at, double count, double epsilon0, int sign, int side) {
  double a = at / count, b = sign * tanh(epsilon0 / 2);
  double up = 2 / (1 + exp(-sign * epsilon0)), down = 2 / (1 + exp(sign * epsilon0)); /* 1 + b, 1 - b */
  double divergence = (1 + a) * log1p((a - b) / up) + (1 - a) * log1p((b - a) / down);
  double t = copysign(count * tct_max(divergence, 0), a - b) + side * ROUNDING * count * (fabs(a) + fabs(b));
  double z = copysign(sqrt(fabs(t)), t);
  return 0.5 * erfc(z / sqrt(2)) * (1 - side * TAIL);
}

/* D lies in (epsilon/epsilon0, epsilon/epsilon0 + 2], one more for the rounding of the
 * quotient, and two for m - 1. */
double tct_kov_closed_delta(double epsilon0, int64_t steps, double epsilon) {
  double count = (double)steps, first = epsilon / epsilon0;
  double above = tail(tct_min(first - 3, count - 4), count, epsilon0, 1, -1);
  double below = first + 3 <= count - 4 ? tail(first + 3, count, epsilon0, -1, 1) : 0;
  return above - (below > 0 ? exp(epsilon + log(below)) * (1 - 1e-12) : 0);
}

/* Every epsilon that is returned was proved by itself: nothing rests on the bound's being monotone. */
static double closed_epsilon(double epsilon0, int64_t steps, double delta) {
  enum { HALVINGS = 100 };
  double low = 0, high = (double)steps * epsilon0 * (1 + 1e-12);
  for (int k = 0; k < HALVINGS; k++) {
    double middle = low + (high - low) / 2;
    if (tct_kov_closed_delta(epsilon0, steps, middle) <= delta)
      high = middle;
    else
      low = middle;
  }
  return high * (1 + 1e-12);
}

/* Walks down to the cell [l_{j-1}, l_j] in which delta or epsilon lies.  In it delta(l_j - x) =
 * D + B (1 - e^-x). */
typedef struct cell {
  double top, below, decay; /* l_j, D_j, B_j */
} cell;

static cell find_cell(const binomial *law, int64_t count, double epsilon0, double delta, double epsilon) {
  cell at = {0, 0, 0};
  double fall = exp(-2 * epsilon0), step = -expm1(-2 * epsilon0);
  for (int64_t i = law->high; i >= law->low; i--) {
    double loss = (double)(i - (count - i)) * epsilon0; /* 2i might overflow */
    if (i < law->high) {
      double next = at.below + at.decay * step;
      if (next > delta || loss < 0 || loss < epsilon) break;
      at.below = next;
    }
    at.decay = at.decay * fall + law->weight[i - law->low];
    at.top = loss;
  }
  return at;
}

static double law_error(const binomial *law) { return 1e-15 * (double)(law->high - law->low + 200); }

static double epsilon_in(const cell *at, double delta) {
  double part = (delta - at->below) / at->decay;
  return part >= 1 ? 0 : tct_max(0, at->top + log1p(-part)); /* NaN stays NaN */
}

tct_status tct_kov_epsilon(double epsilon0, int64_t count, double delta, double out[2], tct_error *err) {
  binomial law;
  out[0] = out[1] = 0;
  if (epsilon0 == 0) return TCT_OK;
  if (epsilon0 > 700) { /* the weights of all but the top atom vanish: the plain sum, less what delta forgives */
    out[1] = (double)count * epsilon0;
    out[0] = tct_max(0, out[1] + log1p(-delta) - 1e-12 * out[1]);
    return TCT_OK;
  }
  TCT_TRY(binomial_new(count, epsilon0, &law, err));
  if (!law.weight) return out[1] = closed_epsilon(epsilon0, count, delta), TCT_OK;
  double error = law_error(&law);
  cell up = find_cell(&law, count, epsilon0, delta * (1 - error), 0);
  cell down = find_cell(&law, count, epsilon0, delta * (1 + error), 0);
  out[1] = tct_upper(epsilon_in(&up, delta * (1 - error)) * (1 + 1e-12));
  out[0] = tct_lower(epsilon_in(&down, delta * (1 + error)) * (1 - 1e-12));
  tct_free(law.weight);
  return TCT_OK;
}

/* Is epsilon at least count epsilon0, the real number? */
static bool covers(double epsilon, double epsilon0, int64_t count) {
  double n = (double)count, all = n * epsilon0;
  if (count > (int64_t)1 << 53) return epsilon >= all * (1 + 0x1p-50); /* n may lie below count */
  return epsilon > all || (epsilon == all && fma(n, epsilon0, -all) <= 0);
}

static double delta_at(const binomial *law, int64_t count, double epsilon0, double epsilon) {
  cell at = find_cell(law, count, epsilon0, INFINITY, epsilon);
  return at.below - at.decay * expm1(epsilon - at.top);
}

tct_status tct_kov_delta(double epsilon0, int64_t count, double epsilon, double out[2], tct_error *err) {
  binomial law;
  out[0] = out[1] = 0;
  if (epsilon0 == 0 || covers(epsilon, epsilon0, count)) return TCT_OK;
  if (epsilon0 > 700) return out[0] = 0, out[1] = 1, TCT_OK;
  TCT_TRY(binomial_new(count, epsilon0, &law, err));
  if (!law.weight) return out[1] = tct_upper_mass(tct_kov_closed_delta(epsilon0, count, epsilon)), TCT_OK;
  double error = law_error(&law) + 1e-12, slack = TCT_POINT(kov_delta_forgets_rounding, 0x1p-50, 0) * (double)count *
                                                  epsilon0; /* of the atoms' own rounding */
  out[0] = tct_lower(tct_max(0, delta_at(&law, count, epsilon0, epsilon + slack)) * (1 - error));
  out[1] = tct_upper_mass(delta_at(&law, count, epsilon0, epsilon - slack) * (1 + error));
  tct_free(law.weight);
  return TCT_OK;
}
