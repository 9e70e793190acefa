/* estimate_plan.c - what an estimate of bounds promises, from settings and public facts. */
#include "core/point.h"
#include "core/alloc.h"
#include "core/number.h"
#include "core/spec.h"
#include "estimate/estimate.h"
#include "model/json.h"
#include "train/certificate.h"
#include "train/promise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const tct_option OPTIONS[] = {
    {"budget_fraction", TCT_OPT_REAL, "0.1", 1e-3, 0.9, NULL, "part of epsilon and delta that the estimate may spend"},
    {"outside", TCT_OPT_REAL, "0.005", 0, 0.25, NULL, "part of the values that may lie beyond each bound"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};
/* Room for the rounding of the sum of both parts. */
static const double DIVIDED = 1 - 1e-12;

static const struct {
  const char *name;
  int kind;
} KINDS[] = {{"bounds", TCT_ESTIMATE_BOUNDS}, {"missing", TCT_ESTIMATE_MISSING}, {"categories", TCT_ESTIMATE_LISTS}};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* The names before the colon, separated by commas; *options <- what follows them. */
static tct_status take_kinds(const char *text, tct_estimate_plan *out, const char **options, tct_error *err) {
  out->kinds = 0;
  for (;; text++) {
    size_t length = strcspn(text, ",:");
    int found = 0;
    for (int k = 0; k < KIND_COUNT; k++)
      if (strlen(KINDS[k].name) == length && memcmp(KINDS[k].name, text, length) == 0) found = KINDS[k].kind;
    if (!found || out->kinds & found)
      return tct_fail(err, TCT_E_USAGE,
                      "an estimate is of bounds, missing and categories, each once, and of nothing else; write e.g. "
                      "bounds,categories:budget_fraction=0.1");
    out->kinds |= found;
    text += length;
    if (*text != ',') break;
  }
  *options = text;
  if (out->kinds != TCT_ESTIMATE_MISSING) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "what missing values become is found with bounds or lists; write bounds,missing");
}

static tct_status take_spec(const char *text, tct_estimate_plan *out, tct_error *err) {
  tct_spec spec;
  char number[32], whole[160];
  const char *options = text;
  TCT_TRY(take_kinds(text, out, &options, err));
  if (strlen(options) > 100) return tct_fail(err, TCT_E_USAGE, "the estimate's options are too long; shorten them");
  snprintf(whole, sizeof whole, "estimate%s", options);
  TCT_TRY(tct_spec_parse(whole, "estimate", &spec, err));
  TCT_TRY(tct_spec_check(&spec, OPTIONS, "estimate", err));
  out->share = tct_spec_real(&spec, OPTIONS, "budget_fraction");
  out->outside = tct_spec_real(&spec, OPTIONS, "outside");
  tct_print_real(out->share, number, sizeof number);
  TCT_TRY(tct_spec_set(&spec, "budget_fraction", number, err));
  tct_print_real(out->outside, number, sizeof number);
  TCT_TRY(tct_spec_set(&spec, "outside", number, err));
  tct_spec_print(&spec, whole, sizeof whole);
  int at = 0;
  for (int k = 0; k < KIND_COUNT; k++)
    if (out->kinds & KINDS[k].kind)
      at += snprintf(out->spec + at, sizeof out->spec - (size_t)at, "%s%s", at ? "," : "", KINDS[k].name);
  snprintf(out->spec + at, sizeof out->spec - (size_t)at, "%s", whole + strlen("estimate"));
  return TCT_OK;
}

static tct_status check_kinds(const tct_estimate_plan *p, tct_error *err) {
  if (p->lists > 0 && !(p->kinds & TCT_ESTIMATE_LISTS))
    return tct_fail(err, TCT_E_USAGE, "the schema leaves lists to the estimate; write bounds,categories");
  if (p->columns > 0 && !(p->kinds & TCT_ESTIMATE_BOUNDS))
    return tct_fail(err, TCT_E_USAGE, "there are columns without bounds; write bounds,categories, or give the bounds");
  if (p->lists == 0 && p->kinds & TCT_ESTIMATE_LISTS)
    return tct_fail(err, TCT_E_USAGE,
                    "no column's list is open; give a schema with \"type\": \"category\", \"estimate\": true, or "
                    "leave categories away");
  return TCT_OK;
}

static tct_status check_facts(const tct_estimate_plan *p, tct_error *err) {
  if (!(p->epsilon > 0) || !isfinite(p->epsilon))
    return tct_fail(err, TCT_E_USAGE, "an estimate is part of a private run; give an epsilon above 0");
  if (!(p->delta > 0 && p->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "an estimate needs a delta above 0 and below 1; give e.g. {delta 1e-6}");
  if (p->neighbours != TCT_ADD_REMOVE && p->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  if (p->rows < 1) return tct_fail(err, TCT_E_DATA, "there is no record to estimate from; give at least one");
  if (p->columns < 0 || p->lists < 0 || p->columns + p->lists < 1)
    return tct_fail(err, TCT_E_USAGE,
                    "every column has bounds, so there is nothing to estimate; leave {estimate} away");
  if (p->columns <= TCT_ESTIMATE_COLUMNS && p->lists <= TCT_ESTIMATE_COLUMNS) return check_kinds(p, err);
  return tct_fail(err, TCT_E_USAGE, "bounds of at most %d columns are estimated; describe the others in a schema",
                  TCT_ESTIMATE_COLUMNS);
}

/* Rounded up, so that no record's own term is longer. */
static double length_of(int64_t columns) { return nextafter(sqrt((double)columns), INFINITY); }

/* Of the estimate's delta, what pays for a text that one record alone has and that is listed all the same. */
static const double LISTS_SHARE = 0.5;

/* The least threshold, to a millionth, that `delta` pays for (estimate.h, LISTS): the smallest z with
 * c P(N(0, 1) > z) <= delta, by halving, and the side of the interval that is safe. */
static double threshold_of(const tct_estimate_plan *p, const tct_release *lists) {
  double low = 0, high = 64,
         each = p->list_delta / TCT_POINT(list_threshold_of_one_column, (double)p->lists, 1) * (1 - 1e-9);
  TCT_HALVE(high - low > 1e-6, low, high, z, erfc(z / sqrt(2)) / 2 <= each);
  return nextafter(
      TCT_POINT(list_threshold_without_the_record, 1 + lists->lattice, 0) + high * tct_release_deviation(lists),
      INFINITY);
}

static tct_status add_counts(tct_estimate_plan *p, const char *what, double noise, int64_t columns, tct_error *err) {
  double length = length_of(columns - TCT_POINT(estimate_a_column_uncounted, 0, 1));
  return tct_promise_add(
      &p->promise,
      tct_release_sum(what, tct_event_gaussian(TCT_POINT(estimate_noise_halved, noise, noise / 2), 1), length, length,
                      p->rows),
      err);
}

static tct_status promise(tct_estimate_plan *p, tct_error *err) {
  double noise = 0;
  int releases = (p->columns > 0 ? 2 : 0) + (p->lists > 0);
  tct_target own = {p->neighbours, p->own_epsilon, p->own_delta - TCT_POINT(list_delta_spent_twice, p->list_delta, 0)};
  TCT_TRY(tct_calibrate_noise(1, releases, &own, &noise, &p->cost, err));
  if (p->columns > 0) {
    TCT_TRY(add_counts(p, "counts of values on a grid of powers of two", noise, p->columns, err));
    TCT_TRY(add_counts(p, "counts of values in equal parts of the ranges found", noise, p->columns, err));
  }
  if (p->lists > 0) TCT_TRY(add_counts(p, "counts of the texts that occur", noise, p->lists, err));
  TCT_TRY(tct_promise_settle(&p->promise, err));
  if (p->lists > 0) p->threshold = threshold_of(p, &p->promise.release[releases - 1]);
  return TCT_OK;
}

/* What is asked for, looked at; no budget yet. */
static tct_status take(const tct_estimate_asked *asked, tct_estimate_plan *out, tct_error *err) {
  *out = (tct_estimate_plan){.epsilon = asked->epsilon,
                             .delta = asked->delta,
                             .neighbours = asked->neighbours,
                             .rows = asked->rows,
                             .columns = asked->columns,
                             .lists = asked->lists};
  TCT_TRY(take_spec(asked->spec, out, err));
  TCT_TRY(check_facts(out, err));
  return tct_words_fit(asked->rows, asked->lists, asked->memory, err);
}

tct_status tct_estimate_plan_make(const tct_estimate_asked *asked, tct_estimate_plan *out, tct_error *err) {
  double epsilon = asked->epsilon, delta = asked->delta;
  TCT_TRY(take(asked, out, err));
  out->own_epsilon = out->share * epsilon * DIVIDED, out->own_delta = out->share * delta * DIVIDED;
  out->rest_epsilon = (1 - out->share) * epsilon * DIVIDED, out->rest_delta = (1 - out->share) * delta * DIVIDED;
  if (out->lists > 0) out->list_delta = LISTS_SHARE * out->own_delta;
  return promise(out, err);
}

tct_status tct_estimate_plan_own(const tct_estimate_asked *asked, double list_delta, tct_estimate_plan *out,
                                 tct_error *err) {
  TCT_TRY(take(asked, out, err));
  out->own_epsilon = asked->epsilon, out->own_delta = asked->delta;
  if (out->lists > 0) out->list_delta = list_delta;
  return promise(out, err);
}

void tct_estimate_plan_free(tct_estimate_plan *plan) { tct_promise_free(&plan->promise); }

/* The releases' events; that of a text that one record alone has is none of theirs. */
tct_status tct_estimate_own_events(const tct_estimate_plan *p, tct_events *out, tct_error *err) {
  for (int64_t i = 0; i < p->promise.events.len; i++) TCT_TRY(tct_events_add(out, p->promise.events.at[i], err));
  return p->lists > 0 ? tct_events_add(out, tct_event_approx(0, p->list_delta, 1), err) : TCT_OK;
}

static json_t *events_of(const tct_estimate_plan *p) {
  tct_events own = {0};
  json_t *events = tct_estimate_own_events(p, &own, NULL) == TCT_OK ? tct_json_events(&own) : NULL;
  tct_events_free(&own);
  return events;
}

json_t *tct_estimate_certificate(const tct_estimate_plan *p) {
  json_t *asked = json_pack("{s:s, s:o, s:o, s:s, s:I, s:I}", "spec", p->spec, "epsilon", tct_json_real(p->epsilon),
                            "delta", tct_json_real(p->delta), "neighbours", tct_neighbours_name((int)p->neighbours),
                            "rows", (json_int_t)p->rows, "columns", (json_int_t)p->columns);
  if (p->lists > 0) json_object_set_new(asked, "lists", json_integer(p->lists));
  json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "asked", asked, "releases", tct_releases_json(&p->promise),
                        "events", events_of(p), "epsilon", tct_json_real(p->own_epsilon), "delta",
                        tct_json_real(p->own_delta), "accountant", p->cost.winner ? p->cost.winner->name : "");
  if (p->lists > 0)
    json_object_set_new(
        o, "lists",
        json_pack("{s:o, s:o}", "threshold", tct_json_real(p->threshold), "delta", tct_json_real(p->list_delta)));
  return o;
}

tct_status tct_estimate_plan_again(const json_t *certificate, tct_estimate_plan *out, tct_error *err) {
  const json_t *o = json_object_get(certificate, "asked"), *rows = json_object_get(o, "rows"),
               *columns = json_object_get(o, "columns"), *lists = json_object_get(o, "lists");
  const char *relation = tct_json_said(o, "neighbours");
  tct_estimate_asked asked = {.spec = tct_json_said(o, "spec"),
                              .neighbours = relation ? (tct_neighbours)tct_neighbours_find(relation) : TCT_ADD_REMOVE,
                              .rows = json_integer_value(rows),
                              .columns = json_integer_value(columns),
                              .lists = json_integer_value(lists)};
  *out = (tct_estimate_plan){0};
  bool known = asked.spec && strlen(asked.spec) < sizeof out->spec && relation && tct_neighbours_find(relation) >= 0 &&
               json_is_integer(rows) && json_is_integer(columns) && (!lists || json_is_integer(lists)) &&
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
