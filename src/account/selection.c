/* selection.c - the privacy profile of the best of a geometric number of tries.
 *
 * Koskela, Redberg and Wang 2024, "Privacy Profiles for Private Selection", after Papernot and Steinke 2022
 * (arXiv 2110.03620), for a geometric number K, P[K = k] = g (1-g)^(k-1), whose mean is m = 1/g.
 *
 * PROOF  Q and Q' are the laws of one try on neighbouring tables, over outcomes that are ordered by the score; ties go
 * by an independent coin of each try.  F(y) is the chance that a try is no better than y.  With the generating function
 * f(z) = E z^K the best of K tries has the law Q(y) f'(F(y)), where f'(z) = m (g/(1 - (1-g) z))^2, at most f'(1) = m.
 *   1. Let S = 1 - F and S' = 1 - F' be the chances to be better.  For every e >= 0, S' <= exp(e) S + d(e), d the
 *      privacy profile of a try.  So the root of f'(F)/f'(F') is
 *        (g + (1-g) S')/(g + (1-g) S) <= (g + (1-g) d(e) + exp(e) t)/(g + t),   t = (1-g) S >= 0.
 *      A ratio of linear functions of t lies between its ends, so it is at most M = max(1 + (m-1) d(e), exp(e)).
 *   2. Hence Q f'(F) - exp(x + 2 log M) Q' f'(F') <= f'(F) (Q - exp(x) Q') <= m (Q - exp(x) Q')+ at every outcome.
 *      Summed: the whole is (x + 2 log M, m d(x))-DP for every x, and x is the epsilon of a try at delta/m.
 * The published bound has exp(e) + (m-1) d(e) where M is here.  A try that draws its setting first has a profile of at
 * most the largest of its settings', for the outcome says which one it was.  The profile d is that of both directions,
 * as the accountants have it. */
#include "account/selection.h"

#include "account/account.h"
#include "account/curves/compare.h"
#include "core/point.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Every bound is one that was computed, so the number of halvings decides how tight it is and not whether it holds.  A
 * profile that is not a closed form takes its time. */
enum { HALVINGS = 48, FEWER = 16 };
static const double PRECISION = TCT_PRECISION;

/* One accountant for the whole profile: the exact one of Gaussian steps where it applies, else the best at delta. */
static tct_status accountant_of(const tct_events *one, tct_neighbours neighbours, double delta,
                                const tct_accountant **accountant, double *epsilon, tct_error *err) {
  tct_bracket bracket = {0, INFINITY};
  tct_cost cost = {0};
  char why[200];
  *accountant = &tct_accountant_gdp;
  *epsilon = INFINITY;
  if (tct_accountant_gdp.applies(one, neighbours, why, sizeof why)) {
    TCT_TRY(tct_accountant_epsilon(*accountant, one, neighbours, delta, PRECISION, &bracket, err));
    *epsilon = bracket.upper;
    return TCT_OK;
  }
  TCT_TRY(tct_account_epsilon(one, neighbours, delta, PRECISION, &cost, err));
  return *accountant = cost.winner, *epsilon = cost.epsilon, TCT_OK;
}

/* max(1 + (m-1) d(e), exp(e)) in logarithms, rounded up; INFINITY where d is not known. */
static double ratio_at(const tct_accountant *accountant, const tct_events *one, tct_neighbours neighbours, double fewer,
                       double e) {
  tct_bracket d = {0, INFINITY};
  if (accountant->delta(one, neighbours, e, PRECISION, &d, NULL) != TCT_OK || !(d.upper >= 0)) return INFINITY;
  return tct_max(e, log1p(TCT_POINT(selection_without_the_mean_in_the_ratio, fewer, 1) * d.upper) * (1 + 1e-12));
}

/* The smallest log M found: one term rises with e and the other falls, so it lies where they meet. */
static double ratio_log(const tct_accountant *accountant, const tct_events *one, tct_neighbours neighbours,
                        double fewer, double most) {
  double low = 0, high = most, best = ratio_at(accountant, one, neighbours, fewer, most);
  int halvings = accountant == &tct_accountant_gdp ? HALVINGS : FEWER;
  for (int k = 0; k < halvings; k++) {
    double middle = 0.5 * (low + high), ratio = ratio_at(accountant, one, neighbours, fewer, middle);
    best = tct_min(best, ratio);
    if (ratio > middle)
      low = middle;
    else
      high = middle;
  }
  return best;
}

/* Settings that spend the same have one profile. */
static bool seen_before(const tct_events *one, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (tct_events_same(&one[k], &one[i])) return true;
  return false;
}

tct_status tct_selection_epsilon(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean,
                                 double delta, double *epsilon, tct_error *err) {
  double first = 0, ratio = 0;
  *epsilon = INFINITY;
  if (count < 1 || mean < 1 || !(delta > 0 && delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a search needs settings, at least one try on average, and a delta in (0, 1)");
  for (size_t i = 0; i < count; i++) {
    const tct_accountant *accountant = NULL;
    double own = INFINITY;
    if (seen_before(one, i)) continue;
    TCT_TRY(accountant_of(&one[i], neighbours, delta / TCT_POINT(selection_at_the_whole_delta, (double)mean, 1),
                          &accountant, &own, err));
    if (!isfinite(own)) return TCT_OK;
    first = TCT_POINT(selection_of_the_cheapest_setting, tct_max(first, own), i ? tct_min(first, own) : own);
    ratio = tct_max(ratio, ratio_log(accountant, &one[i], neighbours, (double)(mean - 1), own));
  }
  double whole = (first + 2 * ratio) * (1 + 1e-12);
  *epsilon = whole >= 0 ? whole : INFINITY; /* what is no number proves nothing */
  return TCT_OK;
}

tct_status tct_selection_event(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean,
                               double delta, tct_event *event, tct_error *err) {
  double epsilon = INFINITY, own = delta * (1 - 1e-12);
  TCT_TRY(tct_selection_epsilon(one, count, neighbours, mean, own, &epsilon, err));
  *event = tct_event_approx(epsilon, own, 1);
  return TCT_OK;
}

/* ---- in a model file ------------------------------------------------------------------------------------------- */

void tct_selection_text(int64_t mean, double score, char *text, size_t size) {
  snprintf(text, size, "selection:mean=%lld,score=%.17g", (long long)mean, score);
}

bool tct_selection_parse(const char *choice, int64_t *mean, double *score) {
  long long whole = 0;
  int end = 0;
  char again[80];
  if (!choice || sscanf(choice, "selection:mean=%lld,score=%lf%n", &whole, score, &end) != 2) return false;
  *mean = whole;
  tct_selection_text(whole, *score, again, sizeof again);
  return !choice[end] && whole >= 1 && whole <= TCT_SELECTION_MOST && *score > 0 && isfinite(*score) &&
         !strcmp(again, choice);
}
