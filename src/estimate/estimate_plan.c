/* estimate_plan.c - what an estimate of bounds promises, from settings and public facts. */
#include "core/alloc.h"
#include "core/spec.h"
#include "estimate/estimate.h"
#include "model/json.h"
#include "train/certificate.h"
#include "train/charge.h"

#include <math.h>
#include <string.h>

static const tct_option OPTIONS[] = {
    {"budget_fraction", TCT_OPT_REAL, "0.1", 1e-3, 0.9, NULL, "part of epsilon and delta that the estimate may spend"},
    {"outside", TCT_OPT_REAL, "0.005", 0, 0.25, NULL, "part of the values that may lie beyond each bound"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};
/* Room for the rounding of the sum of both parts. */
static const double DIVIDED = 1 - 1e-12;

static tct_status take_spec(const char *text, tct_estimate_plan *out, tct_error *err) {
  tct_spec spec;
  char number[32];
  TCT_TRY(tct_spec_parse(text, "estimate", &spec, err));
  if (strcmp(spec.name, "bounds") != 0)
    return tct_fail(err, TCT_E_USAGE, "an estimate is of bounds and of nothing else; write bounds:budget_fraction=0.1");
  TCT_TRY(tct_spec_check(&spec, OPTIONS, "estimate", err));
  out->share = tct_spec_real(&spec, OPTIONS, "budget_fraction");
  out->outside = tct_spec_real(&spec, OPTIONS, "outside");
  tct_print_real(out->share, number, sizeof number);
  TCT_TRY(tct_spec_set(&spec, "budget_fraction", number, err));
  tct_print_real(out->outside, number, sizeof number);
  TCT_TRY(tct_spec_set(&spec, "outside", number, err));
  tct_spec_print(&spec, out->spec, sizeof out->spec);
  return TCT_OK;
}

static tct_status check_facts(const tct_estimate_plan *p, tct_error *err) {
  if (!(p->epsilon > 0) || !isfinite(p->epsilon))
    return tct_fail(err, TCT_E_USAGE, "an estimate is part of a private run; give an epsilon above 0");
  if (!(p->delta > 0 && p->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "an estimate needs a delta above 0 and below 1; give e.g. --delta 1e-6");
  if (p->neighbours != TCT_ADD_REMOVE && p->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  if (p->rows < 1) return tct_fail(err, TCT_E_DATA, "there is no record to estimate from; give at least one");
  if (p->columns >= 1 && p->columns <= TCT_ESTIMATE_COLUMNS) return TCT_OK;
  if (p->columns < 1)
    return tct_fail(err, TCT_E_USAGE,
                    "every column has bounds, so there is nothing to estimate; leave --estimate away");
  return tct_fail(err, TCT_E_USAGE, "bounds of at most %d columns are estimated; describe the others in a schema",
                  TCT_ESTIMATE_COLUMNS);
}

/* Rounded up, so that no record's own term is longer. */
static double length_of(int64_t columns) { return nextafter(sqrt((double)columns), INFINITY); }

static tct_status promise(tct_estimate_plan *p, tct_error *err) {
  static const char *const what[] = {"counts of values on a grid of powers of two",
                                     "counts of values in equal parts of the ranges found"};
  double noise = 0, length = length_of(p->columns);
  tct_target own = {p->neighbours, p->own_epsilon, p->own_delta};
  TCT_TRY(tct_calibrate_noise(1, 2, &own, &noise, &p->cost, err));
  for (int k = 0; k < 2; k++)
    TCT_TRY(tct_promise_add(&p->promise,
                            tct_release_sum(what[k], tct_event_gaussian(noise, 1), length, length, p->rows), err));
  return tct_promise_settle(&p->promise, err);
}

tct_status tct_estimate_plan_make(const tct_estimate_asked *asked, tct_estimate_plan *out, tct_error *err) {
  double epsilon = asked->epsilon, delta = asked->delta;
  *out = (tct_estimate_plan){.epsilon = epsilon,
                             .delta = delta,
                             .neighbours = asked->neighbours,
                             .rows = asked->rows,
                             .columns = asked->columns};
  TCT_TRY(take_spec(asked->spec, out, err));
  TCT_TRY(check_facts(out, err));
  out->own_epsilon = out->share * epsilon * DIVIDED, out->own_delta = out->share * delta * DIVIDED;
  out->rest_epsilon = (1 - out->share) * epsilon * DIVIDED, out->rest_delta = (1 - out->share) * delta * DIVIDED;
  return promise(out, err);
}

void tct_estimate_plan_free(tct_estimate_plan *plan) { tct_promise_free(&plan->promise); }

json_t *tct_estimate_certificate(const tct_estimate_plan *p) {
  json_t *asked = json_pack("{s:s, s:o, s:o, s:s, s:I, s:I}", "spec", p->spec, "epsilon", tct_json_real(p->epsilon),
                            "delta", tct_json_real(p->delta), "neighbours", tct_neighbours_name((int)p->neighbours),
                            "rows", (json_int_t)p->rows, "columns", (json_int_t)p->columns);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "asked", asked, "releases", tct_releases_json(&p->promise),
                   "events", tct_json_events(&p->promise.events), "epsilon", tct_json_real(p->own_epsilon), "delta",
                   tct_json_real(p->own_delta), "accountant", p->cost.winner ? p->cost.winner->name : "");
}

tct_status tct_estimate_plan_again(const json_t *certificate, tct_estimate_plan *out, tct_error *err) {
  const json_t *o = json_object_get(certificate, "asked"), *rows = json_object_get(o, "rows"),
               *columns = json_object_get(o, "columns");
  const char *relation = json_string_value(json_object_get(o, "neighbours"));
  tct_estimate_asked asked = {.spec = json_string_value(json_object_get(o, "spec")),
                              .neighbours = relation ? (tct_neighbours)tct_neighbours_find(relation) : TCT_ADD_REMOVE,
                              .rows = json_integer_value(rows),
                              .columns = json_integer_value(columns)};
  *out = (tct_estimate_plan){0};
  bool known = asked.spec && strlen(asked.spec) < sizeof out->spec && relation && tct_neighbours_find(relation) >= 0 &&
               json_is_integer(rows) && json_is_integer(columns) &&
               tct_json_get_real(json_object_get(o, "epsilon"), &asked.epsilon) &&
               tct_json_get_real(json_object_get(o, "delta"), &asked.delta);
  if (!known) return tct_fail(err, TCT_E_DATA, "the estimate as asked for is not complete; the file was edited");
  return tct_estimate_plan_make(&asked, out, err);
}

tct_status tct_estimate_events(const tct_estimate_plan *p, tct_events *out, tct_error *err) {
  const tct_estimated parts = {.own_epsilon = p->own_epsilon,
                               .own_delta = p->own_delta,
                               .rest_epsilon = p->rest_epsilon,
                               .rest_delta = p->rest_delta};
  return tct_estimated_events(&parts, out, err);
}
