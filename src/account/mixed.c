/* mixed.c - one filter for runs of all kinds, each chosen after looking at what the earlier ones released.
 *
 * Gaussian steps cost mu^2, others epsilon and delta.  Until some mu^2 is spent, epsilon and delta are plain sums.  The
 * first mu^2 fixes the rest.  Let e and d be left then.  Step k permits mu^2 at most b_k beside epsilon at most t_k e,
 * where delta(b_k; (1 - t_k) e) <= w_k d.  A run is permitted while what was spent lies within any step, and delta
 * within w d.  The shares w and all w_k sum to 1.
 *
 * PROOF  (docs/proofs/study.md, Filters, has it whole.)
 *   1. Steps of mu_t, epsilon_t and delta_t that depend on the past, of which one fixed step holds for certain.  An
 *      approx step shows everything with a chance of delta_t and is else a pure one; the chances sum to at most w d.
 *      A Gaussian step is a function of N(mu_t, 1) against N(0, 1).  Pad with a last one so that mu^2 is b_k exactly.
 *      By the martingale exp(i s sum mu_t z_t + s^2/2 sum mu_t^2) the Gaussian part of the log likelihood ratio is
 *      N(b_k/2, b_k) whatever the strategy.  The pure part is at most t_k e.  So the excess is delta(b_k; e - t_k e).
 *   2. Which step permits the last run depends on the outputs: their sets add up, and so do the w_k d.
 *   3. What was spent before as plain (epsilon, delta) leaves (e, d) to the rest, by induction from the end.
 *   4. The form of a run is a function of what was spent before and of the run.  It holds in every form.
 * A region without shares, "what costs at most epsilon at delta as a list", is not sound:
 * tests/privacy/study_oracle.py plays it, and wins 1.4 times delta.
 *
 * A pure step is sqrt(pi/2) epsilon-GDP.  Both trade-off curves go through (0, 1), the diagonal and (1, 0), and between
 * these the pure one is straight and the other convex.  So it is enough that the Gaussian one meets the diagonal no
 * higher: P[N < x sqrt(pi/8)] >= 1/(1 + exp(-x)), whose difference rises from 0 and falls to 0. */
#include "account/mixed.h"

#include "account/curves/compare.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"

#include <float.h>
#include <math.h>

/* Found by hand: most of delta is for lists of one kind, either of them.  docs/decisions/one-ledger-filter.md. */
static const struct { double epsilon, delta; } STEP[TCT_STEPS] = {{0, 0.3}, {0.25, 0.03}, {0.5, 0.03}, {0.75, 0.03}};
static const double DELTA = 0.61;
static const double MOST = 0x1p40;
static const double FINEST = 0x1p-960; /* shares of less could round to more than the whole, so less counts as 0 */

/* The doubles stand for the decimals that people typed, each within 2^-53 relative: ten times 0.1 is 1. */
static bool within(long double sum, long double budget) { return sum <= budget * (1 + (long double)DBL_EPSILON); }

/* ---- what a run costs ------------------------------------------------------------------------------------------ */

static double times(double each, int64_t count) { return tct_product(tct_count(count, INFINITY), each, INFINITY); }

static void add(tct_spend *to, double mu2, double epsilon, double delta) {
  to->mu2 = tct_sum(to->mu2, mu2, INFINITY);
  to->epsilon = tct_sum(to->epsilon, epsilon, INFINITY);
  to->delta = tct_sum(to->delta, delta, INFINITY);
}

void tct_mixed_forms(const tct_events *events, tct_neighbours neighbours, double epsilon, double delta,
                     tct_spend form[TCT_FORMS]) {
  form[0] = form[1] = (tct_spend){events->len > 0 ? 0 : INFINITY, 0, 0}; /* without events there is the claim alone */
  form[2] = (tct_spend){0, epsilon, delta};
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    double own = tct_event_pure_epsilon(e, neighbours) * (1 + DBL_EPSILON), failed = 0;
    if (e->kind != TCT_EV_LAPLACE) own = e->epsilon; /* no quotient: as it was typed */
    if (tct_event_is_gaussian(e)) {
      double mu2 = 2 * tct_event_rho(e, neighbours) * (1 + 4 * DBL_EPSILON);
      mu2 = times(tct_max(mu2, DBL_MIN), e->count);
      add(&form[0], mu2, 0, 0);
      add(&form[1], mu2, 0, 0);
    } else if (tct_event_is_pure(e)) {
      if (e->kind == TCT_EV_APPROX) failed = times(e->delta, e->count);
      double mu2 = tct_max(M_PI_2 * own * own * (1 + TCT_MARGIN), DBL_MIN);
      add(&form[0], 0, times(own, e->count), failed);
      add(&form[1], times(mu2, e->count), 0, failed);
    } else {
      form[0].mu2 = form[1].mu2 = INFINITY;
    }
  }
}

/* ---- what is permitted ----------------------------------------------------------------------------------------- */

void tct_mixed_init(tct_mixed *f, double epsilon, double delta) {
  *f = (tct_mixed){.epsilon = epsilon, .delta = delta};
}

static void begin(tct_mixed *f) {
  double epsilon = (double)(f->epsilon - f->epsilon_spent), delta = (double)(f->delta - f->delta_spent);
  if (epsilon < FINEST) epsilon = 0;
  if (delta < FINEST) delta = 0;
  f->begun = true;
  for (int k = 0; k < TCT_STEPS; k++) {
    double share = STEP[k].delta * delta * (1 - TCT_MARGIN);
    f->step_mu2[k] = tct_filter_mu2((1 - STEP[k].epsilon) * epsilon * (1 - TCT_MARGIN), share);
    f->step_epsilon[k] = f->epsilon_spent + STEP[k].epsilon * epsilon;
    if (k == 0) f->share = share;
  }
  f->delta_most = f->delta_spent + DELTA * delta;
}

static bool fits(const tct_mixed *f, const tct_spend *run, double count) {
  long double epsilon = f->epsilon_spent + (long double)count * run->epsilon,
              delta = f->delta_spent + (long double)count * run->delta;
  double mu2 = (f->mu2 + count * run->mu2) * (1 + 4 * DBL_EPSILON);
  if (!f->begun && run->mu2 == 0) return within(epsilon, f->epsilon) && within(delta, f->delta);
  if (!within(delta, f->delta_most)) return false;
  for (int k = 0; k < TCT_STEPS; k++)
    if (mu2 <= f->step_mu2[k] && within(epsilon, f->step_epsilon[k])) return true;
  return false;
}

long double tct_sum_up(long double a, long double b) {
  long double sum = a + b, part = sum - a, rest = (a - (sum - part)) + (b - part);
  return rest > 0 ? nextafterl(sum, INFINITY) : sum;
}

/* The most that fit, by doubling and halving. */
static double most(const tct_mixed *f, const tct_spend *run) {
  double low = 0, high = 1;
  if (!(run->mu2 >= 0 && run->mu2 < INFINITY && run->epsilon >= 0 && run->delta >= 0)) return 0;
  while (high < MOST && fits(f, run, high)) low = high, high *= 2;
  if (high >= MOST && fits(f, run, MOST)) return MOST;
  while (high - low > 1) {
    double middle = floor((low + high) / 2);
    *(fits(f, run, middle) ? &low : &high) = middle;
  }
  return low;
}

int64_t tct_mixed_times(const tct_mixed *f, const tct_spend form[TCT_FORMS], int *next) {
  double best = 0;
  tct_mixed gaussian = *f;
  for (int i = 0; i < TCT_FORMS; i++) {
    if (form[i].mu2 > 0 && !gaussian.begun) begin(&gaussian);
    double own = most(form[i].mu2 > 0 ? &gaussian : f, &form[i]);
    if (own > best) best = own, *next = i;
  }
  return (int64_t)best;
}

tct_status tct_mixed_spend(tct_mixed *f, const tct_spend form[TCT_FORMS]) {
  int next = 0;
  if (!tct_mixed_times(f, form, &next)) return TCT_E_BUDGET;
  const tct_spend *run = &form[next];
  if (!f->begun && run->mu2 > 0) begin(f);
  f->epsilon_spent = tct_sum_up(f->epsilon_spent, run->epsilon);
  f->delta_spent = tct_sum_up(f->delta_spent, run->delta);
  f->mu2 = (f->mu2 + run->mu2) * (1 + 4 * DBL_EPSILON);
  return TCT_OK;
}

void tct_mixed_claim(const tct_mixed *f, double *epsilon, double *delta) {
  *epsilon = (double)f->epsilon_spent, *delta = (double)f->delta_spent;
  if (!f->begun) return;
  *epsilon += tct_gaussian_epsilon(sqrt(f->mu2), log(f->share)) * (1 + TCT_MARGIN);
  *delta = f->delta - (double)(f->delta_most - f->delta_spent);
}
