/* cross_tries.c - a second opinion on what the best of a random number of tries costs.
 *
 * It shares no mathematics with account/.  K is geometric of mean m = 1/g, and d(e) the privacy profile of one try.
 *
 * UPPER.  By the theorem that the head of src/account/selection.c proves: epsilon = x + 2 log M, with d(x) = delta/m
 * and M = max(1 + (m-1) d(e), exp(e)), least where both are equal.  Where all events are Gaussian, d is an integral of
 * densities, and the largest of the settings' shifts has the largest d.  Else it comes from Renyi divergences: at each
 * order a, d(e) <= exp((a-1) (r(a) + log((a-1)/a) - e) - log a), the inverse of what cross_check.c uses.
 *
 * LOWER.  By the law of the best itself, for tries that release one Gaussian number each and have it as their score.
 * A try with density q and upper tail S gives the best the density m q (g/(g + (1-g) S))^2.  The divergence of two such
 * laws is summed by the trapezoidal rule, both ways round.  A setting of a larger shift can do whatever one of the
 * least shift does, so the least bounds all.  No proof can claim less. */
#include "second/cross_check.h"

#include "account/curves/compare.h"
#include "account/curves/work.h"
#include "core/point.h"
#include "core/alloc.h"
#include "core/number.h"
#include "second/densities.h"

#include <math.h>

enum { ORDERS = 120, HALVINGS = 60, STEPS = 6000 };
static const double FAR = 1e6;        /* no epsilon above it is looked for */
static const double KINKS = 1 - 1e-3; /* the positive part has kinks, which the trapezoidal rule rounds off */

/* What is known of one try. */
typedef struct profile {
  double mu;    /* all events are Gaussian: the shift of all together; else NAN */
  double extra; /* deltas of approximate events */
  double order[ORDERS], renyi[ORDERS];
} profile;

/* Of the Gaussian events; *others: there are more. */
static double shift_of(const tct_events *one, double factor, bool *others) {
  double square = 0;
  for (int64_t i = 0; i < one->len; i++) {
    const tct_event *e = &one->at[i];
    if (e->kind == TCT_EV_GAUSSIAN)
      square += (double)e->count * factor * factor / (e->noise * e->noise);
    else
      *others = true;
  }
  return sqrt(square);
}

static void look_at_orders(const tct_events *one, tct_neighbours neighbours, double delta, profile *out) {
  out->mu = NAN, out->extra = 0;
  for (int64_t i = 0; i < one->len; i++)
    if (one->at[i].kind == TCT_EV_APPROX) out->extra += (double)one->at[i].count * one->at[i].delta;
  double enough = INFINITY; /* some order proves it at delta */
  for (int k = 0; k < ORDERS; k++) {
    double a = out->order[k] = 1 + exp(log(1e-2) + k * log(1e6) / (ORDERS - 1));
    /* A divergence grows with its order: from where it says much more even at delta 1, no order says less. */
    bool more = k > 0 && out->renyi[k - 1] + log1p(-1 / a) - log(a) / (a - 1) > 2 * enough + 10;
    out->renyi[k] = more ? INFINITY : tct_second_renyi(one, neighbours, a);
    enough = fmin(enough, out->renyi[k] + log1p(-1 / a) - (log(delta) + log(a)) / (a - 1));
  }
}

/* What is no number proves nothing. */
static double delta_of(const profile *p, double epsilon) {
  double best = 1;
  if (!isnan(p->mu)) {
    double delta = tct_plain_delta(p->mu, epsilon);
    return delta >= 0 ? delta : 1;
  }
  for (int k = 0; k < ORDERS; k++) {
    double a = p->order[k], log_delta = (a - 1) * (p->renyi[k] + log1p(-1 / a) - epsilon) - log(a);
    if (log_delta < 0) best = fmin(best, exp(log_delta) + p->extra);
  }
  return best;
}

/* The least epsilon with delta_of <= delta. */
static double epsilon_of(const profile *p, double delta) {
  double low = 0, high = 1;
  if (delta_of(p, 0) <= delta) return 0;
  while (!(delta_of(p, high) <= delta)) {
    if (high > FAR) return INFINITY;
    high *= 2;
  }
  TCT_HALVE(halving < HALVINGS, low, high, middle, delta_of(p, middle) <= delta);
  return high;
}

/* The least log M: one of its terms rises with e, the other falls, and above `high` the first is the larger. */
static double log_ratio(const profile *p, double fewer, double first) {
  double low = 0, high = fmax(first, log1p(fewer * delta_of(p, 0)));
  TCT_HALVE(halving < HALVINGS, low, high, middle, !(log1p(fewer * delta_of(p, middle)) > middle));
  return high;
}

/* ---- the law of the best ------------------------------------------------------------------------------------------
 */

/* The density at x of the best of the tries, of N(mu, 1) each. */
static double best_density(double x, double mu, double mean) {
  double z = x - mu, g = 1 / mean, part = g / (g + (1 - g) * 0.5 * erfc(z * M_SQRT1_2));
  return mean * exp(-0.5 * z * z) * 0.5 * M_SQRT1_2 * M_2_SQRTPI * part * part;
}

/* (p - exp(epsilon) q)+ of the best, where tries have N(from, 1) and N(to, 1). */
static double best_delta(double from, double to, double mean, double epsilon) {
  double low = fmin(from, to) - 10, step = (fmax(from, to) + 10 - low) / STEPS, sum = 0;
  for (int i = 0; i <= STEPS; i++) {
    double x = low + i * step;
    sum += fmax(0, best_density(x, from, mean) - exp(epsilon) * best_density(x, to, mean));
  }
  return sum * step * KINKS;
}

/* An epsilon that does not hold at delta, as far up as halving finds one; 0: none is known. */
static double lower_of(double mu, double mean, double delta) {
  double low = 0, high = 60;
  if (!(mu > 0 && mu < 40 && tct_work_pay(2 * 30 * STEPS * 100.0))) return 0;
  TCT_HALVE(halving < 30, low, high, middle,
            !(fmax(best_delta(mu, 0, mean, middle), best_delta(0, mu, mean, middle)) > delta));
  return low;
}

/* ---- together --------------------------------------------------------------------------------------------------- */

static void take(const profile *p, double mean, double delta, double *first, double *ratio) {
  *first = fmax(*first, epsilon_of(p, delta / TCT_POINT(second_opinion_of_tries_at_the_whole_delta, mean, 1)));
  *ratio = isfinite(*first) ? fmax(*ratio, log_ratio(p, mean - 1, *first)) : INFINITY;
}

void tct_second_tries(const tct_events *one, size_t count, tct_neighbours neighbours, int64_t mean, double delta,
                      tct_second_best *out) {
  double factor = neighbours == TCT_REPLACE_ONE ? 2 : 1, least = INFINITY, most = -1, first = 0, ratio = 0;
  profile own;
  *out = (tct_second_best){.upper = INFINITY, .closed = count > 0};
  for (size_t i = 0; i < count; i++) {
    bool others = false, seen = false;
    for (size_t k = 0; k < i && !seen; k++) seen = tct_events_same(&one[k], &one[i]);
    if (seen) continue;
    double mu = shift_of(&one[i], factor, &others);
    least = fmin(least, mu);
    if (!others) {
      most = fmax(most, isnan(mu) ? INFINITY : mu);
      continue;
    }
    out->closed = false;
    look_at_orders(&one[i], neighbours, delta / (double)mean, &own);
    take(&own, (double)mean, delta, &first, &ratio);
  }
  own = (profile){.mu = most};
  if (most >= 0) take(&own, (double)mean, delta, &first, &ratio);
  if (count > 0 && mean >= 1) out->upper = first + 2 * ratio;
  out->lower = lower_of(least, (double)mean, delta);
}

static tct_status second_together(const tct_second_search *s, tct_neighbours neighbours, double delta,
                                  tct_second_best *out) {
  tct_events *one = TCT_NEW(tct_events, (int64_t)s->count);
  tct_status status = one ? TCT_OK : TCT_E_MEMORY;
  for (size_t i = 0; i < s->count && status == TCT_OK; i++) {
    status = tct_events_copy(&one[i], &s->fit[i], NULL);
    if (status == TCT_OK) status = tct_events_add(&one[i], tct_event_gaussian(s->score, 1), NULL);
  }
  if (status == TCT_OK) tct_second_tries(one, s->count, neighbours, s->mean, delta, out);
  for (size_t i = 0; one && i < s->count; i++) tct_events_free(&one[i]);
  tct_free(one);
  return status;
}

void tct_second_of_search(const tct_second_search *s, tct_neighbours neighbours, double delta, tct_second_best *out) {
  tct_event score = tct_event_gaussian(s->score, 1);
  const tct_events scores = {&score, 1, 1};
  tct_second_best held;
  *out = (tct_second_best){.upper = INFINITY};
  if (!s->apart) {
    if (second_together(s, neighbours, delta, out) != TCT_OK) *out = (tct_second_best){.upper = INFINITY};
    return;
  }
  tct_second_tries(s->fit, s->count, neighbours, s->mean, delta, out);
  tct_second_tries(&scores, 1, neighbours, s->mean, delta, &held);
  out->upper = tct_upper(tct_max(out->upper, held.upper)), out->lower = fmax(out->lower, held.lower),
  out->closed &= held.closed;
}

tct_second_claim tct_second_of_tries(const tct_second_best *best, double epsilon) {
  double claim = epsilon * (1 + TCT_SECOND_SLACK);
  return (tct_second_claim){!best->closed || best->upper <= claim, best->lower <= claim};
}
