/* composition.c - what each of several fits on the same people may spend, so that all together cost the whole.
 *
 * The events of all fits go through the accountants as one list.  The largest epsilon of a single fit is searched for;
 * every epsilon that is accepted was priced.  Where no accountant knows the list, epsilon and delta are divided. */
#include "several/composition.h"

#include "account/account.h"
#include "account/curves/work.h"
#include "account/selection.h"
#include "core/alloc.h"
#include "model/json.h"
#include "train/certificate.h"

#include <math.h>
#include <string.h>

/* Plans tried; four are enough where the cost is a power of the single epsilon. */
enum { STEPS = 12 };
/* Part of epsilon that may be left over, in logarithms. */
static const double SLACK = 3e-3;
/* Relative width of the accountants' brackets: a price may be loose, but is never low. */
static const double PRECISION = 1e-3;
/* Division leaves room for the rounding of the sum. */
static const double DIVIDED = 1 - 1e-12;

/* ---- events -------------------------------------------------------------------------------------------------- */

tct_status tct_part_events(const tct_part *part, tct_events *out, tct_error *err) {
  if (part->divided) return tct_events_add(out, tct_event_approx(part->epsilon, part->delta, part->copies), err);
  const tct_events *one = &part->plan->solved.promise.events;
  for (int64_t k = 0; k < part->copies; k++)
    for (int64_t i = 0; i < one->len; i++) TCT_TRY(tct_events_add(out, one->at[i], err));
  return TCT_OK;
}

tct_status tct_composition_events(const tct_composition *c, tct_events *out, tct_error *err) {
  if (c->mean) return tct_events_add(out, c->whole, err); /* proved as one */
  if (c->divided) {
    TCT_TRY(tct_events_add(out, tct_event_approx(c->each, c->each_delta, c->parts), err));
  } else {
    for (int64_t j = 0; j < c->parts; j++) TCT_TRY(tct_part_events(&c->part[j], out, err));
  }
  return c->choice > 0 ? tct_events_add(out, tct_event_exponential(c->choice, 1), err) : TCT_OK;
}

/* What the accountants prove; infinite, and no error, where none of them knows the list. */
static tct_status price(const tct_composition *c, double *epsilon, const char **accountant, tct_error *err) {
  tct_events list = {0};
  tct_bracket bracket;
  char why[200];
  *epsilon = INFINITY;
  tct_status status = tct_composition_events(c, &list, err);
  for (int i = 0; i < tct_accountant_count && status == TCT_OK; i++) {
    const tct_accountant *a = tct_accountants[i];
    if (!a->applies(&list, c->neighbours, why, sizeof why)) continue;
    status = tct_accountant_epsilon(a, &list, c->neighbours, c->delta, PRECISION, &bracket, err);
    if (status == TCT_OK && bracket.upper < *epsilon) *epsilon = bracket.upper, *accountant = a->name;
  }
  tct_events_free(&list);
  if (status != TCT_E_USAGE && status != TCT_E_BUDGET) return status;
  *epsilon = INFINITY;
  return TCT_OK;
}

/* ---- the search ---------------------------------------------------------------------------------------------- */

/* What is composed: makes the parts for one epsilon of each. */
typedef struct tct_wish {
  const tct_config *const *config; /* [count] */
  const int64_t *models;           /* [count] */
  size_t count;
  int64_t rows, cols;
} tct_wish;

void tct_composition_drop(tct_composition *c) {
  for (int64_t j = 0; j < c->parts; j++) tct_plan_free(c->part[j].plan);
  tct_free(c->part);
  c->part = NULL, c->parts = 0;
}

static tct_plan *plan_at(const tct_config *config, double epsilon, double delta, const tct_wish *w, tct_error *err) {
  tct_config own = *config;
  own.epsilon = epsilon, own.delta = delta;
  return tct_plan_new(&own, w->rows, w->cols, err);
}

static tct_status classes_within(const tct_config *config, int64_t models, const tct_wish *w, tct_composition *out,
                                 tct_error *err);

/* The parts of a search's candidates; one of several classes is a composition of its own. */
static tct_status make_part(const tct_wish *w, size_t j, double epsilon, double delta, tct_part *part, tct_error *err) {
  tct_composition inner = {0};
  tct_config own = *w->config[j];
  own.epsilon = epsilon, own.delta = delta;
  if (w->models[j] > 1) {
    tct_status status = classes_within(&own, w->models[j], w, &inner, err);
    if (status == TCT_OK) *part = inner.part[0], inner.part[0].plan = NULL;
    tct_composition_drop(&inner);
    return status;
  }
  *part =
      (tct_part){.plan = tct_plan_new(&own, w->rows, w->cols, err), .copies = 1, .epsilon = epsilon, .delta = delta};
  return part->plan ? TCT_OK : err->status;
}

tct_status tct_part_make(const tct_config *config, int64_t models, int64_t rows, int64_t cols, tct_part *part,
                         tct_error *err) {
  tct_wish w = {&config, &models, 1, rows, cols};
  return make_part(&w, 0, config->epsilon, config->delta, part, err);
}

static tct_status make_parts(const tct_wish *w, double epsilon, double delta, tct_composition *c, tct_error *err) {
  tct_composition_drop(c);
  c->each = epsilon, c->each_delta = delta;
  c->part = TCT_NEW(tct_part, (int64_t)w->count);
  if (!c->part) return tct_fail_memory(err);
  for (size_t j = 0; j < w->count; j++) {
    TCT_TRY(make_part(w, j, epsilon, delta, &c->part[j], err));
    c->parts++;
  }
  return TCT_OK;
}

/* The copies of one plan. */
static tct_status make_copies(const tct_config *config, int64_t models, const tct_wish *w, double epsilon, double delta,
                              tct_composition *c, tct_error *err) {
  tct_composition_drop(c);
  c->each = epsilon, c->each_delta = delta;
  c->part = TCT_NEW(tct_part, 1);
  if (!c->part) return tct_fail_memory(err);
  c->part[0] =
      (tct_part){.plan = plan_at(config, epsilon, delta, w, err), .copies = models, .epsilon = epsilon, .delta = delta};
  c->parts = 1;
  return c->part[0].plan ? TCT_OK : err->status;
}

/* The cost grows nearly as a power of the single epsilon: secants in logarithms, kept in a bracket. */
typedef struct search {
  double low, high, at, slope, last_at, last_level, best;
  bool any, found;
} search;

static void next(search *s, double level, double epsilon) {
  double aim = log(epsilon) + log1p(-1e-3);
  if (s->any && s->at != s->last_at && level != s->last_level)
    s->slope = (level - s->last_level) / (s->at - s->last_at);
  s->any = true, s->last_at = s->at, s->last_level = level;
  s->at = s->at + (aim - level) / s->slope;
  if (!(s->low < s->at && s->at < s->high)) s->at = (s->low + s->high) / 2;
}

/* make(x): the parts at x of each; on success c holds those of the largest x that was found to cost at most epsilon, or
 * found is false. */
typedef tct_status (*maker)(void *user, double each, tct_composition *c, tct_error *err);

static tct_status largest(maker make, void *user, double low, tct_composition *c, bool *found, tct_error *err) {
  search s = {.low = log(low), .high = log(c->epsilon), .at = log(low), .slope = 1};
  tct_composition try = *c;
  double cost = 0;
  tct_status status = TCT_OK;
  for (int k = 0; k < STEPS && status == TCT_OK; k++) {
    try.part = NULL, try.parts = 0;
    status = make(user, exp(s.at), &try, err);
    if (status == TCT_OK) status = price(&try, &cost, &try.accountant, err);
    bool enough = false, holds = status == TCT_OK && cost <= c->epsilon;
    double level = log(cost);
    if (holds) {
      tct_composition_drop(c);
      *c = try, s.low = s.at, s.found = true;
      enough = level > log(c->epsilon) - SLACK;
    } else {
      tct_composition_drop(&try);
      s.high = s.at;
    }
    if (status != TCT_OK || isinf(cost) || enough) break;
    next(&s, level, c->epsilon);
  }
  *found = s.found;
  return status;
}

typedef struct copies_of {
  const tct_config *config;
  int64_t models;
  const tct_wish *w;
} copies_of;

static tct_status copies_at(void *user, double each, tct_composition *c, tct_error *err) {
  const copies_of *of = user;
  return make_copies(of->config, of->models, of->w, each, c->delta, c, err);
}

static tct_status parts_at(void *user, double each, tct_composition *c, tct_error *err) {
  return make_parts(user, each, c->delta, c, err);
}

static tct_status classes_within(const tct_config *config, int64_t models, const tct_wish *w, tct_composition *out,
                                 tct_error *err) {
  copies_of of = {config, models, w};
  bool found = false;
  out->epsilon = config->epsilon, out->delta = config->delta;
  out->neighbours = (tct_neighbours)config->neighbours;
  if (models == 1 || isinf(config->epsilon))
    return make_copies(config, models, w, config->epsilon, config->delta, out, err);
  TCT_TRY(largest(copies_at, &of, config->epsilon / (double)models, out, &found, err));
  if (found) return TCT_OK;
  double each = config->epsilon / (double)models * DIVIDED, part = config->delta / (double)models * DIVIDED;
  TCT_TRY(make_copies(config, models, w, each, part, out, err));
  out->part[0].divided = true;
  out->accountant = "basic";
  return TCT_OK;
}

static tct_status search_within(const tct_wish *w, double epsilon, double delta, double share, tct_composition *out,
                                tct_error *err) {
  bool found = false;
  double low = (1 - share) * epsilon / (double)w->count;
  out->epsilon = epsilon, out->delta = delta, out->neighbours = (tct_neighbours)w->config[0]->neighbours;
  if (isinf(epsilon)) return make_parts(w, epsilon, delta, out, err);
  out->choice = share * epsilon;
  TCT_TRY(largest(parts_at, (void *)w, low, out, &found, err));
  if (found) return TCT_OK;
  out->choice = share * epsilon * DIVIDED;
  TCT_TRY(make_parts(w, low * DIVIDED, delta / (double)w->count * DIVIDED, out, err));
  out->divided = true;
  out->accountant = "basic";
  return TCT_OK;
}

/* ---- the interface ------------------------------------------------------------------------------------------- */

tct_status tct_candidates_take(const tct_config *const *given, size_t count, tct_config *own, tct_error *err) {
  if (!count) return tct_fail(err, TCT_E_USAGE, "a search needs at least one candidate; give its settings");
  for (size_t j = 0; j < count; j++) {
    TCT_TRY(tct_config_take(given[j], &own[j], err));
    if (own[j].neighbours != own->neighbours || own[j].epsilon != own->epsilon || own[j].delta != own->delta)
      return tct_fail(err, TCT_E_USAGE,
                      "the candidates' epsilon, delta or neighbours differ; they are the search's, and one for all");
  }
  return TCT_OK;
}

static tct_status check_wish(const tct_wish *w, double share, tct_error *err) {
  if (!(share > 0 && share < 1))
    return tct_fail(err, TCT_E_USAGE, "the share of the choice must lie between 0 and 1; give e.g. 0.1");
  for (size_t j = 0; j < w->count; j++)
    if (w->models[j] < 1) return tct_fail(err, TCT_E_USAGE, "a candidate has no model; give at least 1 for each");
  return TCT_OK;
}

/* The settings are wrong whatever is composed: the plan says it. */
static tct_status check_budget(const tct_config *config, const tct_wish *w, tct_error *err) {
  if (config->epsilon > 0 && (isinf(config->epsilon) || (config->delta >= 0 && config->delta < 1))) return TCT_OK;
  tct_plan *plan = plan_at(config, config->epsilon, config->delta, w, err);
  if (!plan) return err->status;
  tct_plan_free(plan);
  return tct_fail(err, TCT_E_USAGE, "a composition needs a private solver, an epsilon and a delta; give them");
}

void tct_composition_free(tct_composition *composition) {
  if (!composition) return;
  tct_composition_drop(composition);
  tct_free(composition);
}

tct_composition *tct_compose_classes(const tct_config *given, int64_t models, int64_t rows, int64_t cols,
                                     tct_error *err) {
  tct_error local = {0};
  tct_config own;
  const tct_config *config = &own;
  tct_wish w = {&config, &models, 1, rows, cols};
  err = err ? err : &local;
  tct_error_clear(err);
  if (tct_config_take(given, &own, err) != TCT_OK) return NULL;
  tct_composition *out = TCT_NEW(tct_composition, 1);
  tct_status status = out ? check_budget(config, &w, err) : tct_fail_memory(err);
  if (status == TCT_OK && models < 1)
    status = tct_fail(err, TCT_E_USAGE, "there is no model to train; give at least 1");
  tct_work before = tct_work_begin(INFINITY);
  if (status == TCT_OK) status = classes_within(config, models, &w, out, err);
  double again = tct_work_end(before).spent;
  if (status == TCT_OK) status = tct_composition_verifiable(out, again, err);
  if (status == TCT_OK) return out;
  tct_composition_free(out);
  return NULL;
}

tct_composition *tct_compose_search(const tct_config *const *candidates, const int64_t *models, size_t count,
                                    double share, int64_t rows, int64_t cols, tct_error *err) {
  tct_error local = {0};
  err = err ? err : &local;
  tct_error_clear(err);
  tct_config *own = TCT_NEW(tct_config, (int64_t)count + 1);
  const tct_config **at = TCT_NEW(const tct_config *, (int64_t)count + 1);
  tct_composition *out = TCT_NEW(tct_composition, 1);
  tct_wish w = {at, models, count, rows, cols};
  tct_status status = own && at && out ? tct_candidates_take(candidates, count, own, err) : tct_fail_memory(err);
  for (size_t j = 0; status == TCT_OK && j < count; j++) at[j] = &own[j];
  if (status == TCT_OK) status = check_wish(&w, share, err);
  if (status == TCT_OK) status = check_budget(at[0], &w, err);
  if (status == TCT_OK) status = search_within(&w, at[0]->epsilon, at[0]->delta, share, out, err);
  if (status == TCT_OK) status = tct_composition_verifiable(out, 0, err);
  tct_free(own);
  tct_free(at);
  if (status == TCT_OK) return out;
  tct_composition_free(out);
  return NULL;
}

json_t *tct_composition_fits(const tct_composition *c) {
  json_t *list = json_array();
  for (int64_t j = 0; j < c->parts; j++) {
    json_t *fit = tct_certificate_json(c->part[j].plan);
    if (!fit) return json_decref(list), NULL;
    json_object_set_new(fit, "count", json_integer(c->part[j].copies));
    json_array_append_new(list, fit);
  }
  return list;
}

void tct_composition_choice_text(const tct_composition *c, char *text, size_t size) {
  if (c->mean) {
    tct_selection_text(c->mean, c->score, text, size);
    return;
  }
  tct_event choice = tct_event_exponential(c->choice, 1);
  tct_event_print(&choice, text, size);
  char *count = strstr(text, ",count=");
  if (count) *count = 0; /* it is made once */
}

/* Every fit's events by themselves, so that a reader can count the fits. */
static json_t *events_apart(const tct_composition *c) {
  json_t *list = json_array();
  if (c->mean) {
    tct_event whole = c->whole;
    json_decref(list);
    return tct_json_events(&(tct_events){&whole, 1, 1});
  }
  for (int64_t j = 0; j < c->parts; j++) {
    const tct_part *part = &c->part[j];
    bool divided = c->divided || part->divided;
    tct_event even =
        tct_event_approx(c->divided ? c->each : part->epsilon, c->divided ? c->each_delta : part->delta, 1);
    tct_events one = {&even, 1, 1};
    json_t *events = tct_json_events(divided ? &one : &part->plan->solved.promise.events);
    for (int64_t k = 0; k < (c->divided ? 1 : part->copies); k++) json_array_extend(list, events);
    json_decref(events);
  }
  return list;
}

int64_t tct_composition_parts(const tct_composition *composition) { return composition->parts; }

const tct_plan *tct_composition_plan(const tct_composition *composition, int64_t part) {
  return part >= 0 && part < composition->parts ? composition->part[part].plan : NULL;
}

double tct_composition_choice(const tct_composition *composition) { return composition->choice; }

char *tct_composition_json(const tct_composition *c, tct_error *err) {
  tct_error_clear(err);
  json_t *events = events_apart(c);
  int64_t models = 0;
  for (int64_t j = 0; j < c->parts; j++) models += c->part[j].copies;
  json_t *o = json_pack("{s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:s}", "private", isfinite(c->epsilon),
                        "models", (json_int_t)models, "epsilon", tct_json_real(c->epsilon), "delta",
                        tct_json_real(c->delta), "accountant", c->accountant ? json_string(c->accountant) : json_null(),
                        "events", events, "fits", tct_composition_fits(c), "each", "epsilon", tct_json_real(c->each),
                        "delta", tct_json_real(c->each_delta), "neighbours", tct_neighbours_name((int)c->neighbours));
  if (o && c->choice > 0) {
    char text[80];
    tct_composition_choice_text(c, text, sizeof text);
    json_array_append_new(events, json_string(text));
    json_object_set_new(o, "choice", json_string(text));
  }
  if (o && c->mean) {
    char text[80];
    tct_composition_choice_text(c, text, sizeof text);
    json_object_set_new(o, "choice", json_string(text));
    json_object_set_new(o, "score", json_pack("{s:f, s:f}", "epsilon", c->score_epsilon, "delta", c->score_delta));
  }
  return tct_json_text(o, err);
}
