/* basic.c - closed forms: the optimal composition of equal pure steps, single steps, and else basic composition.
 *
 * BASIC COMPOSITION  Steps that are (epsilon_i, delta_i)-DP, each chosen after the outputs of those before it, are
 * together (sum epsilon_i, sum delta_i)-DP (Dwork and Roth 2014, Theorem 3.16).  So any shares of delta give a bound.
 * A list falls into parts: all pure steps, all Gaussian ones, all zcdp ones, and each other event with its count.
 *   pure     laplace, exponential, pure, approx: the sum of epsilons, which needs no share; equal ones by kov.h.
 *   gaussian, zcdp   as one event of the sum of mu^2, or of rho.
 *   others   count times one repetition's closed form at 1/count of the share.
 * SHARES  Let r_i be how much epsilon_i falls while its share doubles.  The best shares of smooth curves are
 * proportional to r_i; so shares are set to r_i, a few times, and the least sum counts.
 * FAILURES  The failures of approx events are taken off delta first: with chance at most F some step fails, else all
 * hold, so that (delta - F)/(1 - F) is left.  At delta = F nothing is, which pure steps do not need.
 * SAMPLING  With chance (1 - rate)^count no sampled step draws the record, and the outputs are as if it was not there.
 * A replacement is not drawn either: the coin belongs to the place in the table.  Both laws are N with that chance, and
 * anything else only with the rest, c = 1 - (1 - rate)^count.  So count sampled steps are (0, c)-DP, whatever their
 * noise, and their delta at every epsilon is at most c.  They may be counted as failures of chance c, whose pair has
 * mass c at infinity and 1 - c at 0.  Its curve is c at epsilon >= 0, and c e^epsilon + 1 - e^epsilon below: that of a
 * distance c in either direction.  So are counted all sampled events whose chances together take nothing, half or all
 * of delta, the smallest first; the least of the three counts. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/kov.h"
#include "account/onestep.h"
#include "account/pure.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"
#include "account/single.h"

#include "core/point.h"
#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* One step whose curve has a closed form of its own. */
static bool has_curve(const tct_events *events) {
  return events->len == 1 && events->at[0].count == 1 && tct_single_has(&events->at[0]);
}

/* The common epsilon0 of all steps, all of them pure, or NAN. */
static double common_epsilon(const tct_events *events, tct_neighbours neighbours, int64_t *count) {
  double epsilon0 = NAN;
  *count = 0;
  for (int64_t i = 0; i < events->len; i++) {
    double own = tct_event_pure_epsilon(&events->at[i], neighbours);
    if (!tct_event_is_pure(&events->at[i]) || (i && own != epsilon0)) return NAN;
    epsilon0 = own;
    if (events->at[i].count > INT64_MAX / 4 - *count) return NAN;
    *count += events->at[i].count;
  }
  return epsilon0;
}

/* A true lower bound exists where randomised response is the event itself (pure, approx: the worst
 * step of its kind), not where it only dominates (exponential, laplace). */
static bool worst_is_real(const tct_events *events) {
  for (int64_t i = 0; i < events->len; i++)
    if (events->at[i].kind != TCT_EV_PURE && events->at[i].kind != TCT_EV_APPROX) return false;
  return true;
}

/* ---- the parts of a list ----------------------------------------------------------------------- */

static int compare(double a, double b) { return a < b ? -1 : a > b; }

/* Gaussian events stand together, a sample of all records among them, and so do equal ones. */
static int by_kind(const void *x, const void *y) {
  const tct_event *a = x, *b = y;
  const double one[] = {a->noise, a->rate, a->epsilon, a->delta, a->rho, a->shift};
  const double other[] = {b->noise, b->rate, b->epsilon, b->delta, b->rho, b->shift};
  int order = compare(tct_event_is_gaussian(a) ? -1 : (int)a->kind, tct_event_is_gaussian(b) ? -1 : (int)b->kind);
  if (!order) order = compare(a->kind, b->kind);
  for (size_t i = 0; i < sizeof one / sizeof *one && !order; i++) order = compare(one[i], other[i]);
  return order ? order : compare((double)a->count, (double)b->count);
}

static double chance_of(const tct_event *e) {
  return e->kind == TCT_EV_SAMPLED_GAUSSIAN ? (double)e->count * e->rate : INFINITY;
}

static int by_chance(const void *x, const void *y) {
  int order = compare(chance_of(x), chance_of(y));
  return order ? order : by_kind(x, y);
}

/* Neither the order of events nor how they were grouped shall matter. */
static void sort_and_merge(tct_events *events) {
  int64_t len = 0;
  qsort(events->at, (size_t)events->len, sizeof *events->at, by_kind);
  for (int64_t i = 0; i < events->len; i++) {
    tct_event *last = len ? &events->at[len - 1] : NULL, e = events->at[i];
    if (last && tct_event_same(last, &e) && last->count <= INT64_MAX - e.count)
      last->count += e.count;
    else
      events->at[len++] = e;
  }
  events->len = len;
}

/* The list sorted, with as many sampled events counted as failures as fit into `most`, the smallest first; how many
 * those are goes to *failing. */
static tct_status with_failures(const tct_events *events, double most, tct_events *out, int64_t *failing,
                                tct_error *err) {
  double log_holds = log1p(-tct_min(1, tct_events_failure(events)));
  *out = (tct_events){TCT_NEW(tct_event, events->len + 1), events->len, events->len + 1};
  *failing = 0;
  if (!out->at) return tct_fail_memory(err);
  for (int64_t i = 0; i < events->len; i++) out->at[i] = events->at[i];
  sort_and_merge(out);
  if (!(most > 0)) return TCT_OK;
  qsort(out->at, (size_t)out->len, sizeof *out->at, by_chance);
  for (int64_t i = 0; i < out->len && chance_of(&out->at[i]) < INFINITY; i++) {
    log_holds += (double)out->at[i].count * log1p(-out->at[i].rate);
    if (!(-expm1(log_holds) <= most)) break;
    out->at[i] = tct_event_approx(0, out->at[i].rate, out->at[i].count), ++*failing;
  }
  sort_and_merge(out);
  return TCT_OK;
}

static bool any_sampled(const tct_events *events) {
  for (int64_t i = 0; i < events->len; i++)
    if (events->at[i].kind == TCT_EV_SAMPLED_GAUSSIAN) return true;
  return false;
}

typedef struct part {
  tct_events list;          /* a run of the sorted list */
  const tct_accountant *by; /* NULL: one event, at its count times one repetition */
  double share;
} part;

/* The parts of a sorted list that are not pure; at: [events->len]. */
static int64_t parts_of(const tct_events *events, part *at) {
  int64_t len = 0;
  for (int64_t i = 0; i < events->len; i++) {
    tct_event *e = &events->at[i];
    const tct_accountant *by = NULL;
    if (tct_event_is_pure(e)) continue;
    if (tct_event_is_gaussian(e)) by = &tct_accountant_gdp;
    if (e->kind == TCT_EV_ZCDP) by = &tct_accountant_zcdp;
    if (!by || !len || at[len - 1].by != by) at[len++] = (part){{e, 0, 0}, by, 1};
    at[len - 1].list.len++;
  }
  return len;
}

static double price(const part *p, tct_neighbours neighbours, double delta) {
  const tct_event *e = p->list.at;
  double pair[2], count = tct_count(e->count, INFINITY), own = delta / count * (1 - TCT_MARGIN);
  tct_bracket all;
  if (!(own > 0) || !tct_work_pay(p->by ? 100 * (double)p->list.len : 1e5)) return INFINITY;
  if (p->by) return p->by->epsilon(&p->list, neighbours, delta, 1e-3, &all, NULL) ? INFINITY : tct_upper(all.upper);
  if (e->kind == TCT_EV_OBJPERT)
    pair[1] = tct_onestep_epsilon(e, neighbours, 0, TCT_POINT(two_tilts_at_the_delta_of_one, own, own * count));
  else
    tct_single_epsilon(e, neighbours, own, pair);
  return tct_upper(tct_product(TCT_POINT(parts_once_whatever_their_count, count, 1), pair[1], INFINITY));
}

/* The least sum of the parts' epsilons found over the shares of delta. */
static double least_sum(part *at, int64_t len, tct_neighbours neighbours, double delta) {
  int rounds = len > 1 && len <= 32 ? 8 : 1; /* a part alone has all of delta */
  double best = len ? INFINITY : 0;
  for (int round = 0; round < rounds; round++) {
    double all = 0, sum = 0, fall = 0;
    for (int64_t i = 0; i < len; i++) all = tct_sum(all, at[i].share, INFINITY);
    if (!(all > 0)) return best;
    for (int64_t i = 0; i < len; i++) {
      double own = TCT_POINT(parts_at_twice_their_share_of_delta, delta, 2 * delta) * (at[i].share / all) *
                   (1 - TCT_MARGIN),
             epsilon = price(&at[i], neighbours, own);
      sum = tct_sum(sum, epsilon, INFINITY);
      if (round + 1 == rounds) continue;
      at[i].share = tct_max(0, epsilon - price(&at[i], neighbours, 2 * own)); /* NaN ends the search */
      fall += at[i].share;
    }
    if (tct_upper(sum) < best) best = sum;
    for (int64_t i = 0; i < len; i++) at[i].share += 1e-6 * fall + DBL_MIN; /* none is without */
  }
  return best;
}

/* ---- the accountant ---------------------------------------------------------------------------- */

static tct_status sum_of_parts(const tct_events *events, tct_neighbours neighbours, double delta, double *epsilon,
                               tct_error *err) {
  double left = tct_delta_left(delta, tct_events_failure(events)), sum = tct_pure_sum(events, neighbours, INFINITY);
  double epsilon0, pair[2];
  int64_t count;
  *epsilon = INFINITY;
  if (!(left >= 0)) return TCT_OK;
  if (left > 0 && (epsilon0 = common_epsilon(events, neighbours, &count)) < INFINITY) {
    TCT_TRY(tct_kov_epsilon(epsilon0, count, left, pair, err));
    return *epsilon = tct_min(sum, tct_upper(pair[1])), TCT_OK;
  }
  part *at = TCT_NEW(part, events->len + 1);
  if (!at) return tct_fail_memory(err);
  *epsilon = tct_upper(tct_sum(sum, least_sum(at, parts_of(events, at), neighbours, left), INFINITY));
  tct_free(at);
  return TCT_OK;
}

static tct_status lower_end(const tct_events *events, tct_neighbours neighbours, double delta, tct_bracket *out,
                            tct_error *err) {
  double left = tct_delta_left(delta, tct_events_failure(events)), pair[2];
  int64_t count;
  double epsilon0 = worst_is_real(events) ? common_epsilon(events, neighbours, &count) : NAN;
  if (!(epsilon0 < INFINITY) || !(left > 0)) return TCT_OK;
  /* `left` was rounded down where something failed: the lower end needs it rounded up */
  TCT_TRY(tct_kov_epsilon(epsilon0, count, left < delta ? tct_min(1, left * (1 + 4 * TCT_MARGIN)) : left, pair, err));
  return out->lower = tct_min(pair[0], out->upper), TCT_OK;
}

static tct_status basic_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                                tct_bracket *out, tct_error *err) {
  (void)precision;
  double pair[2];
  if (delta == 0) {
    tct_pure_epsilon(events, neighbours, pair);
    return *out = (tct_bracket){pair[0], pair[1]}, TCT_OK;
  }
  if (has_curve(events)) {
    tct_single_epsilon(&events->at[0], neighbours, delta, pair);
    return *out = (tct_bracket){tct_lower(pair[0]), tct_upper(pair[1])}, TCT_OK;
  }
  *out = (tct_bracket){0, events->len ? INFINITY : 0};
  for (int half = 0; half <= (any_sampled(events) ? 2 : 0) && events->len; half++) {
    tct_events list;
    int64_t failing;
    double epsilon = INFINITY;
    tct_status status = with_failures(events, 0.5 * half * delta, &list, &failing, err);
    if (status == TCT_OK && (failing || half == 0)) status = sum_of_parts(&list, neighbours, delta, &epsilon, err);
    tct_events_free(&list);
    TCT_TRY(status);
    out->upper = tct_min(out->upper, epsilon);
  }
  return lower_end(events, neighbours, delta, out, err);
}

/* Pure steps alone, or NAN in pair[1]. */
static tct_status pure_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double pair[2],
                             tct_error *err) {
  double failure = tct_events_failure(events), sum = tct_pure_sum(events, neighbours, INFINITY), rest[2] = {0, 1};
  int64_t count;
  double epsilon0 = common_epsilon(events, neighbours, &count);
  pair[0] = 0, pair[1] = NAN;
  for (int64_t i = 0; i < events->len; i++)
    if (!tct_event_is_pure(&events->at[i])) return TCT_OK;
  if (epsilon0 < INFINITY && sum < INFINITY) TCT_TRY(tct_kov_delta(epsilon0, count, epsilon, rest, err));
  if (sum <= epsilon) rest[0] = rest[1] = 0;
  pair[1] = tct_upper_mass((failure + (1 - failure) * rest[1]) * (1 + TCT_MARGIN));
  if (worst_is_real(events)) pair[0] = (failure + (1 - failure) * rest[0]) * (1 - 4 * TCT_MARGIN);
  return TCT_OK;
}

/* By halving on the logarithm: what is returned is a delta at which epsilon was proved. */
static tct_status halved_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double *delta,
                               tct_error *err) {
  enum { HALVINGS = 40 };
  double low = log(DBL_MIN), high = 0;
  for (int k = 0; k < HALVINGS; k++) {
    double middle = 0.5 * (low + high);
    tct_bracket at;
    TCT_TRY(basic_epsilon(events, neighbours, exp(middle), 1e-3, &at, err));
    *(at.upper <= epsilon ? &high : &low) = middle;
  }
  return *delta = exp(high), TCT_OK;
}

static tct_status basic_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                              tct_bracket *out, tct_error *err) {
  double pair[2];
  tct_events list;
  if (events->len == 1 && events->at[0].kind == TCT_EV_OBJPERT && events->at[0].count == 1)
    return tct_accountant_onestep.delta(events, neighbours, epsilon, precision, out, err);
  if (has_curve(events)) {
    tct_single_delta(&events->at[0], neighbours, epsilon, pair);
    return *out = (tct_bracket){tct_lower(pair[0]), tct_upper_mass(pair[1])}, TCT_OK;
  }
  TCT_TRY(pure_delta(events, neighbours, epsilon, pair, err));
  if (isnan(pair[1])) {
    double at_most[2];
    int64_t failing;
    TCT_TRY(halved_delta(events, neighbours, epsilon, &pair[1], err));
    TCT_TRY(with_failures(events, 1, &list, &failing, err));
    tct_status status = pure_delta(&list, neighbours, epsilon, at_most, err);
    tct_events_free(&list);
    TCT_TRY(status);
    if (at_most[1] < pair[1]) pair[1] = at_most[1];
  }
  return *out = (tct_bracket){pair[0], tct_upper_mass(pair[1])}, TCT_OK;
}

const tct_accountant tct_accountant_basic = {
    "basic",
    "closed forms: pure steps, single steps, and the sum of parts at the best shares of delta",
    tct_applies_to_all,
    basic_epsilon,
    basic_delta,
    false,
};
