/* calibrate.c - the one parameter that makes a list of events cost what is allowed, and no more.
 *
 * Secant steps on log epsilon against log x, kept inside a bracket of one x that costs too much and one that does not.
 * The answer is always the latter, so its bound was computed and holds.  Each step aims 0.4 tolerances past the root
 * towards the unproved side of the bracket, so that two hits close it.
 *
 * First with the closed forms and Renyi alone, roughly; then, where pld may say more, from there on with
 * pld: its epsilon is smaller, so the start is already good. */
#include "account/curves/compare.h"
#include "account/account.h"
#include "account/pld.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"

#include "core/alloc.h"

#include <math.h>

typedef struct search {
  tct_make_events make;
  void *user;
  tct_neighbours neighbours;
  double epsilon, delta, precision;
  bool quick; /* without pld */
  double tolerance;
  double slope;                   /* |d log epsilon / d log x| as last seen */
  double good, bad;               /* log x: cost <= epsilon at good, > epsilon at bad */
  double good_excess, bad_excess; /* log(cost/epsilon) there */
  double good_x;
  tct_cost cost;                 /* at good */
  double last_x, last_precision; /* the last full evaluation, which the next stage may ask for again */
  tct_cost last_cost;
} search;

static tct_status cost_at(search *s, double x, tct_cost *cost, tct_error *err) {
  tct_events events = {0};
  if (!s->quick && x == s->last_x && s->precision == s->last_precision) return *cost = s->last_cost, TCT_OK;
  TCT_TRY(tct_work_take(5e3, err)); /* a closed form */
  tct_status status = s->make(x, s->user, &events, err);
  if (status == TCT_OK) status = tct_account_upper(&events, s->neighbours, s->delta, s->precision, s->quick, cost, err);
  tct_events_free(&events);
  if (status == TCT_OK && !s->quick) s->last_x = x, s->last_precision = s->precision, s->last_cost = *cost;
  return status;
}

/* log(cost/epsilon), kept finite so that it can be a point of a secant. */
static double excess_of(const tct_cost *cost, double epsilon) {
  if (cost->epsilon == 0) return -50;
  return tct_min(700, tct_max(-50, log(cost->epsilon / epsilon)));
}

static tct_status try_at(search *s, double x, tct_error *err) {
  tct_cost cost;
  TCT_TRY(cost_at(s, x, &cost, err));
  double excess = excess_of(&cost, s->epsilon);
  if (cost.epsilon <= s->epsilon)
    s->good = log(x), s->good_excess = excess, s->good_x = x, s->cost = cost;
  else
    s->bad = log(x), s->bad_excess = excess;
  return TCT_OK;
}

static double next_point(const search *s, int step) {
  double middle = 0.5 * (s->good + s->bad), width = s->bad - s->good;
  double root = s->good + width * (-s->good_excess / (s->bad_excess - s->good_excess));
  bool flat = s->bad_excess > 5 || s->good_excess < -5; /* far from a line: halve */
  if (flat || step % 4 == 3) return middle;
  double side = fabs(root - s->good) > fabs(s->bad - root) ? -1 : 1; /* overshoot into the long part */
  double aim = root + side * copysign(tct_min(0.4 * s->tolerance, 0.4 * fabs(width)), width);
  double edge = 0.05 * s->tolerance;
  if ((aim - s->good) * width <= edge * fabs(width) || (s->bad - aim) * width <= edge * fabs(width)) return middle;
  return aim;
}

/* Is the good point within the tolerance of the root, by the secant of two points? They are no further apart than the
 * tolerance's square root, so that the slope is known to a part of that. */
static bool close_enough(const search *s) {
  double width = fabs(s->bad - s->good);
  if (width <= s->tolerance) return true;
  double share = s->good_excess / (s->good_excess - s->bad_excess);
  return width < sqrt(s->tolerance) && share * width < 0.9 * s->tolerance;
}

static tct_status close_bracket(search *s, tct_error *err) {
  for (int step = 0; step < 200 && !close_enough(s); step++) {
    double x = exp(next_point(s, step));
    TCT_TRY(try_at(s, x, err));
  }
  double width = fabs(s->bad - s->good);
  if (width > 0) s->slope = tct_min(20, tct_max(0.05, (s->bad_excess - s->good_excess) / width));
  return TCT_OK;
}

static bool near_root(const search *s) { return s->good_excess > -2e-3; }

/* From a good x outwards until one costs too much: epsilon is taken to move like 1/x, or as the last two
 * points say. *ended: the dear end itself is good, or a secant shows the root within the tolerance. */
static tct_status find_bad(search *s, double dear, bool *ended, tct_error *err) {
  double last = s->good, last_excess = s->good_excess, end = log(dear);
  *ended = false;
  for (int step = 0; step < 100; step++) {
    if (s->good == end) return *ended = true, TCT_OK;
    double stride = (step ? 1.02 : 1) * -s->good_excess / s->slope + 0.4 * s->tolerance;
    if (near_root(s)) stride -= 0.8 * s->tolerance; /* the slope tells where the root is: stay on this side */
    if (s->good_excess < -5) stride = 3;
    double next = end > s->good ? tct_min(end, s->good + stride) : tct_max(end, s->good - stride);
    double x = next == end ? dear : exp(next);
    s->bad = NAN;
    TCT_TRY(try_at(s, x, err));
    if (!isnan(s->bad)) return TCT_OK;
    if (x == dear) s->good = end;
    double moved = fabs(s->good - last), gained = s->good_excess - last_excess;
    if (moved > 0 && gained > 0) s->slope = tct_min(20, tct_max(0.05, gained / moved));
    last = s->good, last_excess = s->good_excess;
    if (moved < sqrt(s->tolerance) && near_root(s) && -s->good_excess < 0.9 * s->slope * s->tolerance)
      return *ended = true, TCT_OK;
  }
  return TCT_OK;
}

/* A start from a rougher bound may cost too much by the fine one: a little cheaper, then, until one does not. */
static tct_status find_good(search *s, double start, double cheap, tct_error *err) {
  s->good_x = NAN;
  TCT_TRY(try_at(s, start, err));
  double at = log(start), end = log(cheap);
  for (int step = 0; step < 100 && isnan(s->good_x) && at != end; step++) {
    double stride = (1.5 * s->bad_excess / s->slope + s->tolerance) * exp2(step);
    at = end > at ? tct_min(end, at + stride) : tct_max(end, at - stride);
    double x = at == end ? cheap : exp(at);
    TCT_TRY(try_at(s, x, err));
  }
  return TCT_OK;
}

static tct_status search_from(search *s, double start, const double ends[2], double tolerance, tct_error *err) {
  double wanted = s->tolerance, dear = ends[1];
  bool ended = false;
  TCT_TRY(find_good(s, start, ends[0], err));
  if (isnan(s->good_x)) return TCT_OK;
  s->tolerance = tolerance;
  tct_status status = find_bad(s, dear, &ended, err);
  if (status == TCT_OK && !ended) status = close_bracket(s, err);
  s->tolerance = wanted;
  return status;
}

/* A fine evaluation costs four of these; from here two of them suffice. */
static const double rough_precision = 1e-3;

/* May pld prove less than the closed forms at x? Asked roughly. */
static tct_status pld_helps(search *s, double x, bool *helps, tct_error *err) {
  tct_cost quick, full;
  double fine = s->precision;
  s->quick = true;
  TCT_TRY(cost_at(s, x, &quick, err));
  s->quick = false;
  s->precision = rough_precision;
  tct_status status = cost_at(s, x, &full, err);
  s->precision = fine;
  TCT_TRY(status);
  /* The rough cost includes the quick ones: it is smaller only by pld, or may become so by a finer grid. */
  *helps = full.epsilon < quick.epsilon || quick.epsilon > quick.epsilon_lower * (1 + 1e-9);
  return TCT_OK;
}

static tct_status run_search(search *s, const tct_interval *range, double *x, tct_cost *cost, tct_error *err) {
  bool smallest = range->direction == TCT_SMALLEST;
  double low = range->low, high = range->high, cheap = smallest ? high : low;
  const double ends[2] = {cheap, smallest ? low : high}; /* the cheap one first */
  bool helps = true;
  if (!(low > 0 && high >= low && isfinite(high)))
    return tct_fail(err, TCT_E_USAGE, "the range to calibrate over must be positive and finite");
  if (!(s->epsilon > 0 && s->tolerance > 0))
    return tct_fail(err, TCT_E_USAGE, "epsilon and the tolerance must be above 0");
  s->quick = true;
  tct_error none;
  tct_status status = search_from(s, cheap, ends, tct_max(s->tolerance, 0.01), &none);
  double start = status == TCT_OK && !isnan(s->good_x) ? s->good_x : cheap; /* quick ones may refuse the list */
  if (status == TCT_OK && !isnan(s->good_x)) TCT_TRY(pld_helps(s, start, &helps, err));
  s->quick = !helps;
  if (helps) { /* once roughly: the fine bound costs four times as much and is smaller still */
    double fine = s->precision;
    s->precision = rough_precision;
    TCT_TRY(search_from(s, start, ends, tct_max(s->tolerance, 5e-4), err));
    if (!isnan(s->good_x)) start = s->good_x;
    s->precision = fine;
  }
  TCT_TRY(search_from(s, start, ends, s->tolerance, err));
  if (isnan(s->good_x))
    return tct_fail(err, TCT_E_BUDGET,
                    "even the cheapest setting costs more than epsilon; raise epsilon or delta, or ask for less");
  *x = s->good_x;
  if (cost) *cost = s->cost;
  return TCT_OK;
}

tct_status tct_calibrate(tct_make_events make, void *user, const tct_interval *range, const tct_target *target,
                         double *x, tct_cost *cost, tct_error *err) {
  search s = {.make = make,
              .user = user,
              .neighbours = target->neighbours,
              .epsilon = target->epsilon,
              .delta = target->delta,
              .slope = 1,
              .tolerance = range->tolerance,
              .precision = TCT_PRECISION};
  return run_search(&s, range, x, cost, err);
}

typedef struct noise_query {
  double rate;
  int64_t count;
} noise_query;

static tct_status make_noise(double x, void *user, tct_events *out, tct_error *err) {
  const noise_query *query = user;
  tct_event event =
      query->rate < 1 ? tct_event_sampled_gaussian(x, query->rate, query->count) : tct_event_gaussian(x, query->count);
  return tct_events_add(out, event, err);
}

tct_status tct_calibrate_noise(double rate, int64_t count, const tct_target *target, double *noise, tct_cost *cost,
                               tct_error *err) {
  noise_query query = {rate, count};
  /* Without sampling, mu = factor sqrt(count)/noise; at noise = factor sqrt(count)/1e-8 epsilon(1e-300)
   * is below 1e-6.  The low end is far beyond any meaningful epsilon. */
  double unit = tct_neighbour_factor(target->neighbours) * sqrt((double)count);
  tct_interval range = {TCT_SMALLEST, 1e-2, tct_max(1, unit * 1e8), 2e-7};
  return tct_calibrate(make_noise, &query, &range, target, noise, cost, err);
}
