/* basic.c - closed forms: the plain sum, the optimal composition of equal pure steps, single steps. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/kov.h"
#include "account/pure.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/single.h"

#include <math.h>
#include <stdio.h>

/* One event alone. */
static bool is_single(const tct_events *events, tct_event_kind kind) {
  return events->len == 1 && events->at[0].kind == kind && events->at[0].count == 1;
}

/* One step whose curve has a closed form of its own. */
static bool has_curve(const tct_events *events) {
  return events->len == 1 && events->at[0].count == 1 && tct_single_has(&events->at[0]);
}

static bool basic_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  (void)neighbours;
  if (is_single(events, TCT_EV_OBJPERT) || has_curve(events)) return true;
  for (int64_t i = 0; i < events->len; i++) {
    if (tct_event_is_pure(&events->at[i])) continue;
    snprintf(why, size, "%s has no pure epsilon", tct_event_name(events->at[i].kind));
    return false;
  }
  return true;
}

/* delta of the objpert law, in logs: under replace_one the three terms that are proved. */
static double objpert_log_delta(const tct_event *e, tct_neighbours neighbours, double epsilon) {
  if (e->noise == 0 || epsilon < e->shift) return 0;
  double mu = 1 / e->noise, one = tct_gaussian_log_delta(mu, epsilon - e->shift, NULL);
  if (neighbours == TCT_ADD_REMOVE) return one;
  double two = tct_gaussian_log_delta(2 * mu, epsilon - e->shift, NULL);
  double top = tct_max(one, two);
  return tct_min(0, top + log(2 * exp(one - top) + exp(two - top)));
}

static double objpert_epsilon(const tct_event *e, tct_neighbours neighbours, double delta) {
  double low = e->shift, high = e->shift + 1;
  if (e->noise == 0) return INFINITY;
  while (!(objpert_log_delta(e, neighbours, high) <= log(delta))) { /* NaN proves nothing */
    low = high;
    high *= 2;
    if (!isfinite(high)) return INFINITY;
  }
  for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
    double middle = 0.5 * (low + high);
    if (objpert_log_delta(e, neighbours, middle) <= log(delta))
      high = middle;
    else
      low = middle;
  }
  return high * (1 + TCT_MARGIN) + TCT_MARGIN / e->noise;
}

/* The common epsilon0 of all steps, or NAN. */
static double common_epsilon(const tct_events *events, tct_neighbours neighbours, int64_t *count) {
  double epsilon0 = NAN;
  *count = 0;
  for (int64_t i = 0; i < events->len; i++) {
    double own = tct_event_pure_epsilon(&events->at[i], neighbours);
    if (i && own != epsilon0) return NAN;
    epsilon0 = own;
    if (events->at[i].count > INT64_MAX / 4 - *count) return NAN;
    *count += events->at[i].count;
  }
  return epsilon0;
}

static double sum_epsilon(const tct_events *events, tct_neighbours neighbours) {
  double sum = 0;
  for (int64_t i = 0; i < events->len; i++)
    sum += (double)events->at[i].count * tct_event_pure_epsilon(&events->at[i], neighbours);
  return sum * (1 + 4e-16 * (double)(events->len + 1));
}

/* A true lower bound exists where randomised response is the event itself (pure, approx: the worst
 * step of its kind), not where it only dominates (exponential, laplace). */
static bool worst_is_real(const tct_events *events) {
  for (int64_t i = 0; i < events->len; i++)
    if (events->at[i].kind != TCT_EV_PURE && events->at[i].kind != TCT_EV_APPROX) return false;
  return true;
}

static tct_status basic_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                                tct_bracket *out, tct_error *err) {
  (void)precision;
  *out = (tct_bracket){0, 0};
  double pair[2];
  if (delta == 0) {
    tct_pure_epsilon(events, neighbours, pair);
    *out = (tct_bracket){pair[0], pair[1]};
    return TCT_OK;
  }
  if (is_single(events, TCT_EV_OBJPERT)) return out->upper = objpert_epsilon(&events->at[0], neighbours, delta), TCT_OK;
  if (has_curve(events)) {
    tct_single_epsilon(&events->at[0], neighbours, delta, pair);
    *out = (tct_bracket){tct_lower(pair[0]), tct_upper(pair[1])};
    return TCT_OK;
  }
  double left = tct_delta_left(delta, tct_events_failure(events)), sum = sum_epsilon(events, neighbours);
  if (!(left > 0) && events->len) return out->upper = INFINITY, TCT_OK;
  out->upper = sum;
  if (!(sum < INFINITY) || sum == 0) return TCT_OK;
  int64_t count;
  double epsilon0 = common_epsilon(events, neighbours, &count);
  if (isnan(epsilon0)) return TCT_OK;
  TCT_TRY(tct_kov_epsilon(epsilon0, count, left, pair, err));
  out->upper = tct_min(sum, tct_upper(pair[1]));
  if (worst_is_real(events)) {
    out->lower = tct_min(pair[0], out->upper);
    if (left < delta) { /* `left` was rounded down: the lower end needs it rounded up */
      TCT_TRY(tct_kov_epsilon(epsilon0, count, tct_min(1, left * (1 + 4 * TCT_MARGIN)), pair, err));
      out->lower = tct_min(pair[0], out->upper);
    }
  }
  return TCT_OK;
}

static tct_status basic_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                              tct_bracket *out, tct_error *err) {
  (void)precision;
  *out = (tct_bracket){0, 0};
  if (is_single(events, TCT_EV_OBJPERT)) {
    double value = objpert_log_delta(&events->at[0], neighbours, epsilon);
    return out->upper = tct_upper_mass(exp(value + TCT_MARGIN * (100 - value))), TCT_OK;
  }
  double failure = tct_events_failure(events), sum = sum_epsilon(events, neighbours), pair[2] = {0, 1};
  if (has_curve(events)) {
    tct_single_delta(&events->at[0], neighbours, epsilon, pair);
    *out = (tct_bracket){tct_lower(pair[0]), tct_upper_mass(pair[1])};
    return TCT_OK;
  }
  int64_t count;
  double epsilon0 = common_epsilon(events, neighbours, &count);
  if (!isnan(epsilon0) && sum < INFINITY) TCT_TRY(tct_kov_delta(epsilon0, count, epsilon, pair, err));
  if (sum <= epsilon) pair[0] = pair[1] = 0;
  out->upper = tct_upper_mass((failure + (1 - failure) * pair[1]) * (1 + TCT_MARGIN));
  if (worst_is_real(events)) out->lower = (failure + (1 - failure) * pair[0]) * (1 - 4 * TCT_MARGIN);
  return TCT_OK;
}

const tct_accountant tct_accountant_basic = {
    "basic",       "plain sum, optimal composition of equal pure steps, closed forms of single steps",
    basic_applies, basic_epsilon,
    basic_delta,   false,
};
