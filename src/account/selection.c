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
 * APART  Steps 1 and 2 are about one pair of neighbours and use of a try no more than its two laws.  Let the pair
 * differ in one record of the training part.  The score reads none of the rows that differ, so that given the fit its
 * law is the same in both.  A try is then the fit, and a function of what that shows and of coins.  So d is the profile
 * of the fit alone, however the score depends on the model.  Let them differ in a held-out record.  Then fits have one
 * law in both, and given any fit d is the profile of the score.  The claim is for a record of either part, so it is the
 * larger of two bounds; nobody's record pays both.  That holds for every split that looks at no record, and so for a
 * mixture of them: (P - exp(x) Q)+ is convex in the pair.  Persons have rows in both parts, and their tries one list.
 * All settings must see one split: a record that one trains on and another scores on would show both to one search.
 *
 * The published bound has exp(e) + (m-1) d(e) where M is here.  A try that draws its setting first has a profile of at
 * most the largest of its settings', for the outcome says which one it was.  The profile d is that of both directions,
 * as the accountants have it. */
#include "account/selection.h"

#include "account/account.h"
#include "account/curves/compare.h"
#include "core/alloc.h"
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

/* The score in every setting's list. */
static tct_status together(const tct_tries *tries, tct_neighbours neighbours, double delta, double *epsilon,
                           tct_error *err) {
  tct_events *one = TCT_NEW(tct_events, (int64_t)tries->count);
  tct_status status = one ? TCT_OK : tct_fail_memory(err);
  for (size_t i = 0; i < tries->count && status == TCT_OK; i++) {
    status = tct_events_copy(&one[i], &tries->fit[i], err);
    if (TCT_POINT(selection_score_not_charged, status == TCT_OK, false))
      status = tct_events_add(&one[i], tct_event_gaussian(tries->score, 1), err);
  }
  if (status == TCT_OK) status = tct_selection_epsilon(one, tries->count, neighbours, tries->mean, delta, epsilon, err);
  for (size_t i = 0; one && i < tries->count; i++) tct_events_free(&one[i]);
  tct_free(one);
  return status;
}

tct_status tct_tries_epsilon(const tct_tries *tries, tct_neighbours neighbours, double delta, double *epsilon,
                             tct_error *err) {
  tct_event score = tct_event_gaussian(tries->score, 1);
  const tct_events scores = {&score, 1, 1};
  double held;
  *epsilon = INFINITY;
  if (!tries->apart) return together(tries, neighbours, delta, epsilon, err);
  TCT_TRY(tct_selection_epsilon(tries->fit, tries->count, neighbours, tries->mean, delta, epsilon, err));
  if (isinf(tries->score)) return TCT_OK;
  TCT_TRY(tct_selection_epsilon(&scores, 1, neighbours, tries->mean, delta, &held, err));
  return *epsilon = TCT_POINT(tries_of_the_training_part_alone, tct_max(*epsilon, held), *epsilon), TCT_OK;
}

tct_status tct_tries_event(const tct_tries *tries, tct_neighbours neighbours, double delta, tct_event *event,
                           tct_error *err) {
  double epsilon = INFINITY, own = delta * (1 - 1e-12);
  TCT_TRY(tct_tries_epsilon(tries, neighbours, own, &epsilon, err));
  *event = tct_event_approx(epsilon, own, 1);
  return TCT_OK;
}

/* ---- in a model file ------------------------------------------------------------------------------------------- */

static bool apart(const tct_selection *s) { return isnan(s->share); }

void tct_selection_text(const tct_selection *s, char text[TCT_SELECTION_TEXT]) {
  snprintf(text, TCT_SELECTION_TEXT, "selection:mean=%lld,fit=%.17g,score=%.17g,held=%.17g,rows=%lld,%s=%.17g",
           (long long)s->mean, s->fit, s->score, s->held, (long long)s->rows, apart(s) ? "epsilon" : "share",
           apart(s) ? s->epsilon : s->share);
}

static bool in_range(const tct_selection *s) {
  bool last = apart(s) ? s->epsilon > 0 && isfinite(s->epsilon) : s->share > 0 && s->share < 1;
  return last && s->mean >= 1 && s->mean <= TCT_SELECTION_MOST && s->rows >= 2 && s->fit > 0 && isfinite(s->fit) &&
         s->score > 0 && isfinite(s->score) && s->held > 0 && s->held < 1;
}

bool tct_selection_parse(const char *choice, tct_selection *out) {
  long long mean = 0, rows = 0;
  char last[8], again[TCT_SELECTION_TEXT];
  double value;
  *out = (tct_selection){.epsilon = NAN, .share = NAN};
  if (!choice || sscanf(choice, "selection:mean=%lld,fit=%lf,score=%lf,held=%lf,rows=%lld,%7[a-z]=%lf", &mean,
                        &out->fit, &out->score, &out->held, &rows, last, &value) != 7)
    return false;
  out->mean = mean, out->rows = rows;
  *(strcmp(last, "share") ? &out->epsilon : &out->share) = value;
  tct_selection_text(out, again);
  return in_range(out) && !strcmp(again, choice);
}
