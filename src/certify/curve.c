/* curve.c - the cost of a list of events as a curve: epsilon against delta, or against the steps done so far. */
#include "account/account.h"
#include "core/alloc.h"
#include "model/json.h"

#include <math.h>
#include <string.h>

/* Width of each point's bracket, relative; far below what a drawing shows. */
static const double PRECISION = 1e-3;
/* The ends of the curve over delta: from one bad event among all people on earth a hundred times over, to where
 * epsilon says nothing any more. */
static const double DELTA_LOW = 1e-12, DELTA_HIGH = 0.1;

typedef struct curve {
  tct_events events;
  tct_neighbours neighbours;
  int steps; /* 1: against steps */
  double delta;
  int points;
  json_t *list;
} curve;

static tct_status parse(curve *c, const char *const *events, size_t count, tct_error *err) {
  for (size_t i = 0; i < count; i++) {
    tct_event event;
    TCT_TRY(tct_event_parse(events[i], &event, NULL, err));
    TCT_TRY(tct_events_add(&c->events, event, err));
  }
  return c->events.len ? TCT_OK : tct_fail(err, TCT_E_USAGE, "no event was given; write one, e.g. gaussian:noise=1");
}

static tct_status add_point(curve *c, const tct_events *list, double delta, json_t *at, tct_error *err) {
  tct_cost cost = {0};
  tct_status status = tct_account_epsilon(list, c->neighbours, delta, PRECISION, &cost, err);
  if (status != TCT_OK) {
    json_decref(at);
    return status;
  }
  json_t *point = json_pack("{s:o, s:o, s:o, s:s}", c->steps ? "steps" : "delta", at, "epsilon",
                            isfinite(cost.epsilon) ? json_real(cost.epsilon) : json_null(), "epsilon_lower",
                            isfinite(cost.epsilon_lower) ? json_real(cost.epsilon_lower) : json_null(), "accountant",
                            cost.winner->name);
  return json_array_append_new(c->list, point) == 0 ? TCT_OK : tct_fail_memory(err);
}

static tct_status over_delta(curve *c, tct_error *err) {
  for (int i = 0; i < c->points; i++) {
    double delta = DELTA_LOW * pow(DELTA_HIGH / DELTA_LOW, i / (c->points - 1.0));
    TCT_TRY(add_point(c, &c->events, delta, json_real(delta), err));
  }
  return TCT_OK;
}

/* The list's first `steps` repetitions. */
static tct_status prefix(const tct_events *all, int64_t steps, tct_events *out, tct_error *err) {
  for (int64_t i = 0; i < all->len && steps > 0; i++) {
    tct_event event = all->at[i];
    if (event.count > steps) event.count = steps;
    steps -= event.count;
    TCT_TRY(tct_events_add(out, event, err));
  }
  return TCT_OK;
}

static tct_status over_steps(curve *c, tct_error *err) {
  int64_t total = 0, last = 0;
  for (int64_t i = 0; i < c->events.len; i++)
    if (__builtin_add_overflow(total, c->events.at[i].count, &total))
      return tct_fail(err, TCT_E_USAGE, "the events have too many steps; use smaller counts");
  for (int i = 0; i < c->points; i++) {
    int64_t steps = 1 + (int64_t)((double)(total - 1) * i / (c->points - 1.0) + 0.5);
    if (steps > total || i == c->points - 1) steps = total;
    if (steps == last) continue;
    tct_events some = {0};
    tct_status status = prefix(&c->events, last = steps, &some, err);
    if (status == TCT_OK) status = add_point(c, &some, c->delta, json_integer(steps), err);
    tct_events_free(&some);
    if (status != TCT_OK) return status;
  }
  return TCT_OK;
}

static tct_status check(const curve *c, tct_error *err) {
  if (c->points < 2 || c->points > 10000) return tct_fail(err, TCT_E_USAGE, "a curve has 2 to 10000 points");
  if (c->steps && !(c->delta >= 0 && c->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "delta must lie in [0, 1); give e.g. 1e-6");
  if (c->neighbours != TCT_ADD_REMOVE && c->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "unknown neighbour relation; use add_remove or replace_one");
  return TCT_OK;
}

char *tct_account_curve_json(const char *const *events, size_t count, tct_neighbours neighbours, double delta,
                             int points, tct_error *err) {
  tct_error_clear(err);
  curve c = {.neighbours = neighbours, .delta = delta, .points = points, .list = json_array()};
  c.steps = !isnan(delta);
  tct_status status = check(&c, err);
  if (status == TCT_OK) status = parse(&c, events, count, err);
  if (status == TCT_OK) status = c.steps ? over_steps(&c, err) : over_delta(&c, err);
  json_t *root = NULL;
  if (status == TCT_OK)
    root = json_pack("{s:s, s:s, s:o, s:o, s:O}", "against", c.steps ? "steps" : "delta", "neighbours",
                     tct_neighbours_name(neighbours), "delta", tct_json_real(delta), "events",
                     tct_json_events(&c.events), "points", c.list);
  json_decref(c.list);
  tct_events_free(&c.events);
  return status == TCT_OK ? tct_json_text(root, err) : NULL;
}
