/* composition.c - a search: its candidates, the split, what it costs together, and what it says of itself. */
#include "several/composition.h"

#include "core/alloc.h"
#include "core/number.h"
#include "core/sized.h"
#include "model/json.h"
#include "train/certificate.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static bool is_random(const tct_composition *c) { return c->how.tries > 0; }

/* ---- events -------------------------------------------------------------------------------------------------- */

tct_status tct_composition_events(const tct_composition *c, tct_events *out, tct_error *err) {
  if (is_random(c)) return tct_events_add(out, c->whole, err); /* proved as one */
  if (c->claim.divided) {
    TCT_TRY(tct_events_add(out, tct_event_approx(c->each, c->each_delta, c->parts), err));
  } else {
    for (int64_t j = 0; j < c->parts; j++) TCT_TRY(tct_plan_events(c->plan[j], out, err));
  }
  return c->choice > 0 ? tct_events_add(out, tct_event_exponential(c->choice, 1), err) : TCT_OK;
}

tct_status tct_composition_verifiable(const tct_composition *c, double again, tct_error *err) {
  tct_events events = {0};
  double work = again;
  for (int64_t j = 0; j < c->parts; j++) work += c->plan[j]->work;
  tct_status status = isinf(again) ? TCT_OK : tct_composition_events(c, &events, err); /* unpriced tries have none */
  if (status == TCT_OK) status = tct_price_verifiable(&events, &c->claim, work, c->parts, err);
  tct_events_free(&events);
  return status;
}

/* ---- the candidates ------------------------------------------------------------------------------------------ */

void tct_composition_drop(tct_composition *c) {
  for (int64_t j = 0; j < c->parts; j++) tct_plan_free(c->plan[j]);
  tct_free(c->plan);
  c->plan = NULL, c->parts = 0;
}

void tct_composition_free(tct_composition *composition) {
  if (!composition) return;
  tct_composition_drop(composition);
  tct_free(composition);
}

/* own[count] <- the candidates of a search, of which there is one at least, with one budget and relation for all.  What
 * their losses leave open is settled by the whole budget.  loss[count]: room for that. */
static tct_status candidates_take(const tct_config *const *given, size_t count, int64_t rows, int64_t cols,
                                  tct_config *own, char (*loss)[TCT_LOSS_SETTLED], tct_error *err) {
  char why[200];
  if (!count) return tct_fail(err, TCT_E_USAGE, "a search needs at least one candidate; give its settings");
  for (size_t j = 0; j < count; j++) {
    TCT_TRY(tct_config_take(given[j], &own[j], err));
    if (own[j].neighbours != own->neighbours || own[j].epsilon != own->epsilon || own[j].delta != own->delta)
      return tct_fail(err, TCT_E_USAGE,
                      "the candidates' epsilon, delta or neighbours differ; they are the search's, and one for all");
    TCT_TRY(tct_config_settle(&own[j], rows, cols, loss[j], why, err));
    own[j].ledger = NULL; /* one charge, for everything */
  }
  return TCT_OK;
}

tct_status tct_candidates_plan(const tct_candidates *of, double epsilon, double delta, tct_composition *c,
                               tct_error *err) {
  tct_composition_drop(c);
  c->each = epsilon, c->each_delta = delta;
  c->plan = TCT_NEW(tct_plan *, (int64_t)of->count);
  if (!c->plan) return tct_fail_memory(err);
  for (size_t j = 0; j < of->count; j++) {
    tct_config own = of->config[j];
    own.epsilon = epsilon, own.delta = delta;
    c->plan[j] = tct_plan_by_rules(&own, of->rows, of->cols, INT_MAX, err);
    if (!c->plan[j]) return err->status;
    c->parts++;
  }
  return TCT_OK;
}

/* ---- a search ------------------------------------------------------------------------------------------------ */

static const tct_sized SIZED = TCT_SIZED(tct_search, persons, "call tct_search_default first");
static const tct_search DEFAULTS = {sizeof DEFAULTS, 50, NAN, 0.2, 0};
static const double TRIES_SHARE = 0.3, ALL_SHARE = 0.1; /* docs/measured/search.md: nearby ones do as well */

void tct_search_default_sized(tct_search *search, size_t size) { tct_sized_default(&SIZED, search, size, &DEFAULTS); }

int64_t tct_search_train_rows(int64_t rows, double share) {
  int64_t held = tct_held_count(rows, share);
  return held < 0 ? -1 : rows - held;
}

static tct_status check_tries(const tct_config *config, const tct_search *how, tct_error *err) {
  if (how->tries < 0 || how->tries > TCT_SELECTION_MOST)
    return tct_fail(err, TCT_E_USAGE, "the mean number of tries must lie between 1 and %d; give e.g. 50",
                    TCT_SELECTION_MOST);
  if (!(config->epsilon > 0 && isfinite(config->epsilon) && config->delta > 0 && config->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a search with random tries needs an epsilon above 0 and a delta in (0, 1)");
  return TCT_OK;
}

/* The settings are wrong whatever is composed: the plan says it.  Pairs of follow-up times do not add up over records
 * (several/whole_score.c). */
static tct_status check_all(const tct_candidates *of, tct_error *err) {
  const tct_config *config = of->config;
  tct_loss loss;
  for (size_t j = 0; j < of->count; j++) {
    TCT_TRY(tct_loss_make(config[j].loss, &loss, err));
    if (loss.kind->follow_up)
      return tct_fail(
          err, TCT_E_USAGE,
          "a choice among all settings has no score of follow-up times; choose by random tries, whose score "
          "is the C-index");
  }
  if (config->epsilon > 0 && (isinf(config->epsilon) || (config->delta >= 0 && config->delta < 1))) return TCT_OK;
  tct_plan *plan = tct_plan_new(config, of->rows, of->cols, err);
  if (!plan) return err->status;
  tct_plan_free(plan);
  return tct_fail(err, TCT_E_USAGE, "a search needs private solvers, an epsilon and a delta; give them");
}

static tct_status check(const tct_candidates *of, const tct_search *how, tct_error *err) {
  bool random = how->tries != 0;
  if (!isnan(how->share) && !(how->share > 0 && how->share < 1))
    return tct_fail(err, TCT_E_USAGE, "the share of the %s must lie between 0 and 1; give e.g. %g",
                    random ? "score" : "choice", random ? TRIES_SHARE : ALL_SHARE);
  return random ? check_tries(of->config, how, err) : check_all(of, err);
}

static tct_status settle(const tct_search *given, int64_t rows, tct_composition *c, tct_error *err) {
  c->how = DEFAULTS;
  TCT_TRY(tct_sized_take(&SIZED, given, &c->how, err));
  if (is_random(c) && !c->how.persons && !isnan(c->how.share))
    return tct_fail(err, TCT_E_USAGE,
                    "of records a try's score takes nothing from its fit, as it is of others; leave the share of the "
                    "score away, which is for persons and for a choice among all settings");
  if (isnan(c->how.share) && (!is_random(c) || c->how.persons)) c->how.share = is_random(c) ? TRIES_SHARE : ALL_SHARE;
  c->rows = rows, c->held = tct_held_count(rows, c->how.held);
  if (c->held > 0) return TCT_OK;
  return tct_fail(
      err, rows < 2 ? TCT_E_DATA : TCT_E_USAGE,
      "a search trains on some records and scores on others; give two or more, and a share between 0 and 1");
}

tct_composition *tct_search_plan(const tct_config *const *candidates, size_t count, const tct_search *search,
                                 int64_t rows, int64_t cols, tct_error *err) {
  tct_error local = {0};
  err = err ? err : &local;
  tct_error_clear(err);
  tct_config *own = TCT_NEW(tct_config, (int64_t)count + 1);
  char(*loss)[TCT_LOSS_SETTLED] = tct_alloc((int64_t)count + 1, TCT_LOSS_SETTLED);
  tct_composition *out = TCT_NEW(tct_composition, 1);
  tct_status status = own && loss && out ? settle(search, rows, out, err) : tct_fail_memory(err);
  const tct_candidates of = {own, count, rows - (out ? out->held : 0), cols};
  if (status == TCT_OK) status = candidates_take(candidates, count, of.rows, cols, own, loss, err);
  if (status == TCT_OK) status = check(&of, &out->how, err);
  if (status == TCT_OK) {
    out->asked = own->epsilon;
    out->claim = (tct_whole){own->epsilon, own->delta, (tct_neighbours)own->neighbours, NULL, false};
    status = tct_shares_find(&of, out, err);
  }
  tct_free(own);
  tct_free(loss);
  if (status == TCT_OK) return out;
  tct_composition_free(out);
  return NULL;
}

/* ---- what it says of itself ---------------------------------------------------------------------------------- */

json_t *tct_composition_fits(const tct_composition *c) {
  json_t *list = json_array();
  for (int64_t j = 0; j < c->parts; j++) {
    json_t *fit = tct_certificate_json(c->plan[j]);
    if (!fit) return json_decref(list), NULL;
    json_array_append_new(list, fit);
  }
  return list;
}

void tct_composition_choice_text(const tct_composition *c, char text[TCT_SELECTION_TEXT]) {
  if (is_random(c)) {
    const tct_selection plan = {c->how.tries, c->rows, c->each, c->score, c->how.held, c->asked, c->how.share};
    tct_selection_text(&plan, text);
    return;
  }
  tct_event choice = tct_event_exponential(c->choice, 1);
  tct_event_print(&choice, text, TCT_SELECTION_TEXT);
  char *count = strstr(text, ",count=");
  if (count) *count = 0; /* it is made once */
}

/* Every fit's events by themselves, so that a reader can count the fits. */
static json_t *events_apart(const tct_composition *c) {
  json_t *list = json_array();
  if (is_random(c)) {
    tct_event whole = c->whole;
    json_decref(list);
    return tct_json_events(&(tct_events){&whole, 1, 1});
  }
  for (int64_t j = 0; j < c->parts; j++) {
    tct_event even = tct_event_approx(c->each, c->each_delta, 1);
    json_t *events = c->claim.divided ? tct_json_events(&(tct_events){&even, 1, 1}) : tct_plan_events_apart(c->plan[j]);
    json_array_extend(list, events);
    json_decref(events);
  }
  return list;
}

const tct_plan *tct_composition_plan(const tct_composition *composition, int64_t part) {
  return part >= 0 && part < composition->parts ? composition->plan[part] : NULL;
}

char *tct_composition_json(const tct_composition *c, tct_error *err) {
  tct_error_clear(err);
  json_t *events = events_apart(c);
  const tct_whole *claim = &c->claim;
  char text[TCT_SELECTION_TEXT];
  int64_t models = 0;
  for (int64_t j = 0; j < c->parts; j++) models += c->plan[j]->copies;
  json_t *o =
      json_pack("{s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:s}", "private", isfinite(claim->epsilon),
                "models", (json_int_t)models, "train_rows", (json_int_t)(c->rows - c->held), "scored_rows",
                (json_int_t)c->held, "epsilon", tct_json_real(claim->epsilon), "delta", tct_json_real(claim->delta),
                "accountant", claim->by ? json_string(claim->by) : json_null(), "events", events, "fits",
                tct_composition_fits(c), "each", "epsilon", tct_json_real(c->each), "delta",
                tct_json_real(c->each_delta), "neighbours", tct_neighbours_name((int)claim->neighbours));
  tct_composition_choice_text(c, text);
  if (o && c->choice > 0) json_array_append_new(events, json_string(text));
  if (o && (c->choice > 0 || is_random(c))) json_object_set_new(o, "choice", json_string(text));
  if (o && is_random(c))
    json_object_set_new(o, "score", json_pack("{s:f, s:f}", "epsilon", c->score_epsilon, "delta", c->score_delta));
  return tct_json_text(o, err);
}
