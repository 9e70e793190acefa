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
 * SAMPLING  With chance (1 - rate)^count no sampled step draws the record, and the outputs are as if it was not there,
 * or as if its replacement was: the coin belongs to the place in the table.  Both laws are N with that chance, and
 * anything else only with the rest, c = 1 - (1 - rate)^count.  So count sampled steps are (0, c)-DP, whatever their
 * noise, and their delta at every epsilon is at most c.  They may be counted as failures of chance c, for a failure's
 * pair (mass c at infinity, 1 - c at 0) has the curve c at epsilon >= 0 and c e^epsilon + 1 - e^epsilon below, which is
 * that of a distance c in either direction.  That is tried with all sampled events whose chances together take
 * nothing, half or all of delta, the smallest first. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/kov.h"
#include "account/onestep.h"
#include "account/pure.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/single.h"

#include "core/alloc.h"

#include <float.h>
#include <math.h>

static bool basic_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  (void)events, (void)neighbours, (void)why, (void)size;
  return true;
}

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

typedef struct part {
  tct_events list;          /* all of one kind */
  const tct_accountant *by; /* NULL: one event, at its count times one repetition */
  double share, epsilon;
} part;

typedef struct parts {
  part *at; /* [len] */
  int64_t len;
} parts;

static void parts_free(parts *p) {
  for (int64_t i = 0; i < p->len; i++) tct_events_free(&p->at[i].list);
  tct_free(p->at);
}

/* All events that are not pure; the first two parts are the Gaussian and the zcdp ones. */
static tct_status parts_new(const tct_events *events, parts *out, tct_error *err) {
  tct_status status = TCT_OK;
  *out = (parts){TCT_NEW(part, events->len + 2), 2};
  if (!out->at) return tct_fail_memory(err);
  out->at[0].by = &tct_accountant_gdp, out->at[1].by = &tct_accountant_zcdp;
  for (int64_t i = 0; i < events->len && status == TCT_OK; i++) {
    const tct_event *e = &events->at[i];
    if (tct_event_is_pure(e)) continue;
    bool gaussian = tct_event_is_gaussian(e), joined = gaussian || e->kind == TCT_EV_ZCDP;
    status = tct_events_add(&out->at[joined ? !gaussian : out->len++].list, *e, err);
  }
  if (status != TCT_OK) parts_free(out);
  return status;
}

static double price(const part *p, tct_neighbours neighbours, double delta) {
  const tct_event *e = p->list.at;
  double pair[2] = {0, 0}, count = p->list.len ? tct_count(e->count, INFINITY) : 0;
  tct_bracket bracket;
  if (count == 0) return 0;
  if (!(delta > 0)) return INFINITY;
  if (p->by) return p->by->epsilon(&p->list, neighbours, delta, 1e-3, &bracket, NULL) == TCT_OK ? bracket.upper : INFINITY;
  double own = delta / count * (1 - TCT_MARGIN);
  if (e->kind == TCT_EV_OBJPERT)
    pair[1] = tct_onestep_epsilon(e, neighbours, 0, own);
  else
    tct_single_epsilon(e, neighbours, own, pair);
  return tct_upper(tct_product(count, pair[1], INFINITY));
}

/* The least sum of the parts' epsilons found over the shares of delta. */
static double least_sum(parts *p, tct_neighbours neighbours, double delta) {
  enum { ROUNDS = 8 };
  double best = INFINITY;
  for (int64_t i = 0; i < p->len; i++) p->at[i].share = 1;
  for (int round = 0; round < ROUNDS; round++) {
    double all = 0, sum = 0, fall = 0;
    for (int64_t i = 0; i < p->len; i++) all += p->at[i].list.len ? p->at[i].share : 0;
    if (!(all > 0)) return best;
    for (int64_t i = 0; i < p->len; i++) {
      double own = delta * (p->at[i].share / all) * (1 - TCT_MARGIN), epsilon = price(&p->at[i], neighbours, own);
      sum = tct_sum(sum, epsilon, INFINITY);
      p->at[i].share = tct_max(0, epsilon - price(&p->at[i], neighbours, 2 * own)); /* NaN ends the search */
      fall += p->at[i].share;
    }
    if (tct_upper(sum) < best) best = sum;
    for (int64_t i = 0; i < p->len; i++) p->at[i].share += 1e-6 * fall + DBL_MIN; /* none is without */
  }
  return best;
}

/* The list with as many sampled events counted as failures as fit into `most`, the smallest first. */
static tct_status with_failures(const tct_events *events, double most, tct_events *out, tct_error *err) {
  TCT_TRY(tct_events_copy(out, events, err));
  for (;;) {
    tct_event *least = NULL, was;
    double chance = INFINITY;
    for (int64_t i = 0; i < out->len; i++) {
      tct_event *e = &out->at[i];
      if (e->kind == TCT_EV_SAMPLED_GAUSSIAN && (double)e->count * e->rate < chance)
        least = e, chance = (double)e->count * e->rate;
    }
    if (!least) return TCT_OK;
    was = *least;
    *least = tct_event_approx(0, was.rate, was.count);
    if (tct_events_failure(out) <= most) continue;
    *least = was;
    return TCT_OK;
  }
}

static bool any_sampled(const tct_events *events) {
  for (int64_t i = 0; i < events->len; i++)
    if (events->at[i].kind == TCT_EV_SAMPLED_GAUSSIAN) return true;
  return false;
}

/* ---- the accountant ---------------------------------------------------------------------------- */

static tct_status sum_of_parts(const tct_events *events, tct_neighbours neighbours, double delta, double *epsilon,
                               tct_error *err) {
  double left = tct_delta_left(delta, tct_events_failure(events)), sum = tct_pure_sum(events, neighbours, INFINITY);
  int64_t count;
  parts p;
  *epsilon = INFINITY;
  if (!(left >= 0)) return TCT_OK;
  double epsilon0 = common_epsilon(events, neighbours, &count), pair[2];
  if (epsilon0 < INFINITY && left > 0) {
    TCT_TRY(tct_kov_epsilon(epsilon0, count, left, pair, err));
    return *epsilon = tct_min(sum, tct_upper(pair[1])), TCT_OK;
  }
  TCT_TRY(parts_new(events, &p, err));
  bool pure = p.len == 2 && !p.at[0].list.len && !p.at[1].list.len;
  *epsilon = tct_upper(pure ? sum : tct_sum(sum, least_sum(&p, neighbours, left), INFINITY));
  parts_free(&p);
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
    double epsilon = INFINITY;
    tct_status status = with_failures(events, 0.5 * half * delta, &list, err);
    if (status == TCT_OK) status = sum_of_parts(&list, neighbours, delta, &epsilon, err);
    tct_events_free(&list);
    TCT_TRY(status);
    out->upper = tct_min(out->upper, epsilon);
  }
  return lower_end(events, neighbours, delta, out, err);
}

/* Beside pure steps nothing but failures has a curve of this kind at every epsilon. */
static tct_status pure_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double pair[2],
                             tct_error *err) {
  double failure = tct_events_failure(events), sum = tct_pure_sum(events, neighbours, INFINITY), rest[2] = {0, 1};
  int64_t count;
  double epsilon0 = common_epsilon(events, neighbours, &count);
  bool pure = true;
  for (int64_t i = 0; i < events->len; i++) pure = pure && tct_event_is_pure(&events->at[i]);
  if (epsilon0 < INFINITY && sum < INFINITY) TCT_TRY(tct_kov_delta(epsilon0, count, epsilon, rest, err));
  if (pure && sum <= epsilon) rest[0] = rest[1] = 0;
  pair[0] = worst_is_real(events) ? (failure + (1 - failure) * rest[0]) * (1 - 4 * TCT_MARGIN) : 0;
  pair[1] = tct_upper_mass((failure + (1 - failure) * rest[1]) * (1 + TCT_MARGIN));
  return TCT_OK;
}

static tct_status basic_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                              tct_bracket *out, tct_error *err) {
  double pair[2], failing[2] = {0, 1};
  tct_events list;
  if (events->len == 1 && events->at[0].kind == TCT_EV_OBJPERT && events->at[0].count == 1)
    return tct_accountant_onestep.delta(events, neighbours, epsilon, precision, out, err);
  if (has_curve(events)) {
    tct_single_delta(&events->at[0], neighbours, epsilon, pair);
    return *out = (tct_bracket){tct_lower(pair[0]), tct_upper_mass(pair[1])}, TCT_OK;
  }
  TCT_TRY(pure_delta(events, neighbours, epsilon, pair, err));
  if (any_sampled(events)) {
    TCT_TRY(with_failures(events, 1, &list, err));
    tct_status status = pure_delta(&list, neighbours, epsilon, failing, err);
    tct_events_free(&list);
    TCT_TRY(status);
  }
  *out = (tct_bracket){pair[0], tct_min(pair[1], failing[1])};
  return TCT_OK;
}

const tct_accountant tct_accountant_basic = {
    "basic",       "closed forms: pure steps, single steps, and the sum of parts at the best shares of delta",
    basic_applies, basic_epsilon,
    basic_delta,   false,
};
