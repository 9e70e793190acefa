/* account_json.c - what a list of event specs costs, or the one number that makes it cost so much. */
#include "account/account.h"
#include "account/curves/work.h"
#include "core/json_text.h"
#include "core/alloc.h"

#include <math.h>
#include <string.h>

/* Width of the bracket aimed at, relative; the answer is sound at any width. */
static const double PRECISION = 1e-3; /* of a question; calibrations and their answers: TCT_PRECISION */
/* Calibrated numbers are found to this relative tolerance. */
static const double TOLERANCE = 2e-7;
/* Prices that a calibration may ask for. */
static const double CALIBRATION = 20;
/* Largest count that is tried: more steps than any training run makes. */
static const int64_t COUNT_LIMIT = INT64_C(1) << 40;

/* The question, parsed. */
typedef struct query {
  tct_events events; /* without the open event */
  tct_event open;    /* the event with one number missing */
  char key[16];      /* which; "" = none is open */
  tct_neighbours neighbours;
  double delta;
} query;

static tct_status parse_open(query *q, const char *text, tct_error *err) {
  tct_event event;
  char key[16] = "";
  TCT_TRY(tct_event_parse(text, &event, key, err));
  if (!key[0]) return tct_events_add(&q->events, event, err);
  if (q->key[0])
    return tct_fail(err, TCT_E_USAGE,
                    "two events lack a number; leave out exactly one number in all, it is calibrated");
  if (!strcmp(key, "shift") || !strcmp(key, "delta"))
    return tct_fail(err, TCT_E_USAGE,
                    "%s cannot be calibrated; give it, and leave out noise, rate, count, epsilon or rho", key);
  q->open = event;
  memcpy(q->key, key, sizeof key);
  return TCT_OK;
}

static tct_status parse_events(query *q, const char *const *events, size_t count, int calibrate, tct_error *err) {
  if (!count) return tct_fail(err, TCT_E_USAGE, "no event was given; write one, e.g. gaussian:noise=1");
  for (size_t i = 0; i < count; i++) {
    tct_event event;
    if (calibrate) {
      TCT_TRY(parse_open(q, events[i], err));
      continue;
    }
    TCT_TRY(tct_event_parse(events[i], &event, NULL, err));
    TCT_TRY(tct_events_add(&q->events, event, err));
  }
  if (calibrate && !q->key[0])
    return tct_fail(err, TCT_E_USAGE,
                    "no number is missing: leave out one noise, rate, epsilon or rho, or write count=?, or drop the "
                    "given epsilon");
  return TCT_OK;
}

static tct_status make_events(double x, void *user, tct_events *out, tct_error *err) {
  const query *q = user;
  for (int64_t i = 0; i < q->events.len; i++) TCT_TRY(tct_events_add(out, q->events.at[i], err));
  tct_event event = q->open;
  double *open = tct_event_parameter(&event, q->key);
  if (open)
    *open = x;
  else
    event.count = (int64_t)x;
  return tct_events_add(out, event, err);
}

static tct_status cost_of(query *q, int64_t count, tct_cost *cost, tct_error *err) {
  tct_events list = {0};
  tct_status status = make_events((double)count, q, &list, err);
  if (status == TCT_OK) status = tct_account_epsilon(&list, q->neighbours, q->delta, TCT_PRECISION, cost, err);
  tct_events_free(&list);
  return status;
}

/* The largest whole count: doubling, then bisection; `low` always holds. */
static tct_status calibrate_count(query *q, double epsilon, double *x, tct_error *err) {
  tct_cost cost;
  TCT_TRY(cost_of(q, 1, &cost, err));
  if (!(cost.epsilon <= epsilon))
    return tct_fail(err, TCT_E_BUDGET,
                    "even one event costs more than this epsilon; use more noise or a larger epsilon");
  int64_t low = 1, high = 2;
  for (;; high *= 2) {
    if (high > COUNT_LIMIT)
      return tct_fail(err, TCT_E_USAGE, "these events cost next to nothing, any count is allowed; use less noise");
    TCT_TRY(cost_of(q, high, &cost, err));
    if (!(cost.epsilon <= epsilon)) break;
    low = high;
  }
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    TCT_TRY(cost_of(q, middle, &cost, err));
    if (cost.epsilon <= epsilon)
      low = middle;
    else
      high = middle;
  }
  *x = (double)low;
  return TCT_OK;
}

static tct_status calibrate(query *q, double epsilon, double *x, tct_error *err) {
  tct_target target = {q->neighbours, epsilon, q->delta};
  if (!strcmp(q->key, "count")) return calibrate_count(q, epsilon, x, err);
  if (!strcmp(q->key, "noise")) /* below 1e-2 every epsilon is in the thousands, above 1e8 it is zero */
    return tct_calibrate(make_events, q, &(tct_interval){TCT_SMALLEST, 1e-2, 1e8, TOLERANCE}, &target, x, NULL, err);
  double high = !strcmp(q->key, "rate") ? 1 : !strcmp(q->key, "epsilon") ? epsilon : 100 * (1 + epsilon);
  return tct_calibrate(make_events, q, &(tct_interval){TCT_LARGEST, 1e-12, high, TOLERANCE}, &target, x, NULL, err);
}

/* Every accountant's value; cost: the smallest of them. */
static tct_status add_accountants(json_t *root, const query *q, const tct_events *list, tct_cost *cost,
                                  tct_error *err) {
  json_t *values = json_object(), *why_not = json_object();
  json_object_set_new(root, "accountants", values);
  json_object_set_new(root, "not_applicable", why_not);
  for (int i = 0; i < tct_accountant_count; i++) {
    const tct_accountant *a = tct_accountants[i];
    char why[200] = "";
    tct_bracket bracket;
    if (!a->applies(list, q->neighbours, why, sizeof why)) {
      json_object_set_new(values, a->name, json_null());
      json_object_set_new(why_not, a->name, json_string(why));
      continue;
    }
    double precision = q->key[0] ? TCT_PRECISION : PRECISION;
    TCT_TRY(tct_accountant_epsilon(a, list, q->neighbours, q->delta, precision, &bracket, err));
    if (!cost->winner || bracket.upper < cost->epsilon) cost->epsilon = bracket.upper, cost->winner = a;
    if (bracket.lower > cost->epsilon_lower) cost->epsilon_lower = bracket.lower;
    tct_json_put(values, a->name, bracket.upper);
  }
  if (cost->epsilon_lower > cost->epsilon) cost->epsilon_lower = cost->epsilon;
  return TCT_OK;
}

static tct_status answer(query *q, double x, json_t *root, tct_error *err) {
  tct_events list = {0};
  tct_cost cost = {0};
  tct_status status = q->key[0] ? make_events(x, q, &list, err) : tct_events_copy(&list, &q->events, err);
  if (status == TCT_OK) status = add_accountants(root, q, &list, &cost, err);
  if (status == TCT_OK) {
    if (q->key[0]) json_object_set_new(root, q->key, strcmp(q->key, "count") ? json_real(x) : json_integer((int64_t)x));
    if (strcmp(q->key, "epsilon")) tct_json_put(root, "epsilon", cost.epsilon);
    if (!strcmp(q->key, "epsilon")) tct_json_put(root, "epsilon_total", cost.epsilon);
    tct_json_put(root, "epsilon_lower", cost.epsilon_lower);
    json_object_set_new(root, "delta", json_real(q->delta));
    json_object_set_new(root, "neighbours",
                        json_string(q->neighbours == TCT_REPLACE_ONE ? "replace_one" : "add_remove"));
    json_object_set_new(root, "accountant", json_string(cost.winner->name));
  }
  if (status == TCT_OK) {
    json_t *events = json_array();
    for (int64_t i = 0; i < list.len; i++) {
      char text[256];
      tct_event_print(&list.at[i], text, sizeof text);
      json_array_append_new(events, json_string(text));
    }
    json_object_set_new(root, "events", events);
  }
  tct_events_free(&list);
  return status;
}

static tct_status check_numbers(tct_neighbours neighbours, double delta, tct_error *err) {
  if (!(delta >= 0 && delta < 1)) return tct_fail(err, TCT_E_USAGE, "delta must lie in [0, 1); give e.g. 1e-6");
  if (neighbours != TCT_ADD_REMOVE && neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "unknown neighbour relation; use add_remove or replace_one");
  return TCT_OK;
}

/* Prices the list; with an epsilon it finds the open number first. */
static tct_status price(query *q, const char *const *events, size_t count, const double *epsilon, json_t *root,
                        tct_error *err) {
  double x = NAN;
  TCT_TRY(check_numbers(q->neighbours, q->delta, err));
  TCT_TRY(parse_events(q, events, count, epsilon != NULL, err));
  if (epsilon) TCT_TRY(calibrate(q, *epsilon, &x, err));
  return answer(q, x, root, err);
}

static char *priced(query *q, const char *const *events, size_t count, const double *epsilon, tct_error *err) {
  char *text = NULL;
  json_t *root = json_object();
  tct_work before = tct_work_begin(epsilon ? CALIBRATION * TCT_WORK_VERIFY : TCT_WORK_VERIFY);
  tct_status status = price(q, events, count, epsilon, root, err);
  if (tct_work_over()) status = tct_work_take(0, err);
  tct_work_end(before);
  if (status == TCT_OK && !(text = tct_json_dump(root, JSON_INDENT(2)))) tct_fail_memory(err);
  json_decref(root);
  tct_events_free(&q->events);
  return text;
}

char *tct_account_json(const char *const *events, size_t count, tct_neighbours neighbours, double delta,
                       tct_error *err) {
  query q = {.neighbours = neighbours, .delta = delta};
  tct_error_clear(err);
  return priced(&q, events, count, NULL, err);
}

char *tct_calibrate_json(const char *const *events, size_t count, tct_neighbours neighbours, double epsilon,
                         double delta, tct_error *err) {
  query q = {.neighbours = neighbours, .delta = delta};
  tct_error_clear(err);
  if (epsilon > 0 && epsilon < INFINITY) return priced(&q, events, count, &epsilon, err);
  tct_fail(err, TCT_E_USAGE, "epsilon must be a finite number above 0; give e.g. 1");
  return NULL;
}
