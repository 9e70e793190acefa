/* ledger.c - the budget ledger: making one, charging a run before its first noise. */
#include "ledger/ledger.h"

#include "core/point.h"
#include "core/alloc.h"
#include "core/sized.h"
#include "ledger/anchor.h"
#include "ledger/shown.h"
#include "model/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The ledger is open for writing: asks, and appends.  The anchor's file is ready before, and written after.  Where that
 * fails the run goes on, for it is paid: an anchor that names an older row is no fault. */
static tct_status charge(tct_ledger *ledger, const tct_ledger_promise *promise, tct_ledger_receipt *receipt,
                         tct_error *err) {
  tct_ledger_state state;
  tct_outfile anchor;
  tct_error why = {0};
  char text[sizeof why.text + 80];
  const char *input = "";
  TCT_TRY(tct_ledger_accept(ledger, promise, &input, err));
  if (TCT_POINT(reservations_charged_twice, true, false))
    TCT_TRY(tct_ledger_check_reserved(ledger, promise->reserved, err));
  TCT_TRY(tct_ledger_state_of(ledger, &state, err));
  if (TCT_POINT(charge_unasked_for, true, false)) TCT_TRY(tct_ledger_permit(ledger, promise, &state, err));
  TCT_TRY(tct_anchor_open(ledger, &anchor, err));
  tct_status status = promise->reserve > 0 ? tct_ledger_reserve(ledger, promise, receipt->run, err)
                                           : tct_ledger_append(ledger, promise, input, receipt->run, err);
  if (status == TCT_OK && tct_anchor_commit(ledger, &anchor, &why) != TCT_OK) {
    snprintf(text, sizeof text, "the ledger's anchor names an earlier row than this run's: %s", why.text);
    receipt->warning = tct_text_copy(text);
  }
  tct_outfile_abandon(&anchor);
  memcpy(receipt->head, ledger->head, TCT_DIGEST_HEX);
  receipt->for_tests = ledger->for_tests;
  return status;
}

tct_status tct_ledger_promise_run(const char *path, const tct_ledger_promise *promise, tct_ledger_receipt *receipt,
                                  tct_error *err) {
  tct_ledger ledger;
  *receipt = (tct_ledger_receipt){TCT_NEW(char, TCT_DIGEST_HEX), TCT_NEW(char, TCT_LEDGER_ID), 0, NULL};
  tct_status status = receipt->head && receipt->run ? tct_ledger_open(path, 1, &ledger, err) : tct_fail_memory(err);
  if (status == TCT_OK) {
    status = charge(&ledger, promise, receipt, err);
    tct_ledger_close(&ledger);
  }
  if (status == TCT_OK) return TCT_OK;
  tct_free(receipt->head);
  tct_free(receipt->run);
  *receipt = (tct_ledger_receipt){0};
  return status;
}

tct_status tct_ledger_identify(const char *path, char id[TCT_DIGEST_HEX], tct_key key, tct_error *err) {
  tct_ledger ledger;
  TCT_TRY(tct_ledger_open(path, 0, &ledger, err));
  tct_status status = ledger.anchor ? tct_anchor_check(&ledger, ledger.anchor, err) : TCT_OK;
  if (status == TCT_OK && !ledger.has_key) status = tct_key_draw(key, err); /* the charge will write it */
  if (ledger.has_key) memcpy(key, ledger.key, sizeof ledger.key);
  tct_ledger_id(key, id);
  tct_ledger_close(&ledger);
  return status;
}

/* Words that will be shown: UTF-8, one line. */
static tct_status check_words(const char *text, size_t max, const char *what, tct_error *err) {
  size_t length = text ? strlen(text) : 0;
  json_t *word = length <= max ? json_string(text ? text : "") : NULL;
  if (!word) return tct_fail(err, TCT_E_USAGE, "%s must be UTF-8 text of at most %zu bytes", what, max);
  json_decref(word);
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 32) return tct_fail(err, TCT_E_USAGE, "%s must be one line of text", what);
  return TCT_OK;
}

static tct_status check_settings(const tct_ledger *l, tct_error *err) {
  if (!(l->epsilon > 0 && isfinite(l->epsilon)))
    return tct_fail(err, TCT_E_USAGE, "a ledger needs a finite epsilon above 0; give e.g. {epsilon 2}");
  if (!(l->delta >= 0 && l->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a ledger needs delta in [0, 1); give e.g. {delta 1e-5}");
  if (l->neighbours != TCT_ADD_REMOVE && l->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  TCT_TRY(check_words(l->name, 200, "the ledger's name", err));
  TCT_TRY(check_words(l->people, TCT_LEDGER_TEXT, "the words for the people", err));
  tct_filter filter;
  if (l->filter == TCT_FILTER_SUM || l->filter == TCT_FILTER_MIXED) return TCT_OK;
  return tct_filter_init(&filter, l->filter, l->neighbours, l->epsilon, l->delta, err);
}

static const tct_sized SIZED_OPTIONS = TCT_SIZED(tct_ledger_options, anchor, "call tct_ledger_options_default first");
static const tct_ledger_options DEFAULT_OPTIONS = {.size = sizeof(tct_ledger_options), .epsilon = NAN, .delta = NAN};

void tct_ledger_options_default_sized(tct_ledger_options *options, size_t size) {
  tct_sized_default(&SIZED_OPTIONS, options, size, &DEFAULT_OPTIONS);
}

/* The anchor first: if it cannot be made there is no ledger, and without a ledger it is taken away again. */
static tct_status make(const char *path, tct_ledger *settings, tct_error *err) {
  tct_ledger made;
  tct_outfile anchor;
  if (!settings->anchor) return tct_ledger_create(path, settings, err);
  TCT_TRY(tct_anchor_new(settings, &anchor, err));
  tct_status status = tct_ledger_create(path, settings, err);
  if (status == TCT_OK && (status = tct_ledger_open(path, 0, &made, err)) == TCT_OK) {
    status = tct_anchor_place(settings, err); /* the ledger itself, by any name */
    if (status == TCT_OK) status = tct_anchor_commit(&made, &anchor, err);
    tct_ledger_close(&made);
    if (status != TCT_OK) tct_ledger_remove(path);
  }
  tct_outfile_abandon(&anchor);
  return status;
}

tct_status tct_ledger_make(const char *path, const tct_ledger_options *options, tct_error *err) {
  tct_ledger_options own = DEFAULT_OPTIONS, *o = &own;
  tct_error_clear(err);
  TCT_TRY(tct_sized_take(&SIZED_OPTIONS, options, &own, err));
  tct_ledger settings = {.name = (char *)(o->name ? o->name : ""),
                         .neighbours = (tct_neighbours)o->neighbours,
                         .epsilon = o->epsilon,
                         .delta = o->delta,
                         .unit = o->persons != 0,
                         .for_tests = o->for_tests != 0,
                         .people = (char *)o->people};
  int kind = tct_ledger_filter_find(o->filter ? o->filter : "mixed");
  if (kind < 0) return tct_fail(err, TCT_E_USAGE, "no filter has this name; use mixed, sum, zcdp, gdp or rdp");
  settings.filter = (tct_filter_kind)kind;
  TCT_TRY(check_settings(&settings, err));
  if (o->anchor && !(settings.anchor = tct_anchor_path(o->anchor, err))) return TCT_E_RUN;
  tct_status status = tct_key_draw(settings.key, err);
  if (status == TCT_OK) status = make(path, &settings, err);
  tct_wipe(settings.key, sizeof settings.key);
  tct_free(settings.anchor);
  return status;
}

/* The anchor of before must agree, or be lost. */
static tct_status let_go(tct_ledger *l, const char *lost, tct_error *err) {
  if (!lost) return l->anchor ? tct_anchor_check(l, l->anchor, err) : TCT_OK;
  if (!l->anchor)
    return tct_fail(err, TCT_E_USAGE, "the ledger has no anchor that could be lost; leave the reason out");
  TCT_TRY(check_words(lost, TCT_LEDGER_TEXT, "the reason", err));
  if (!lost[0]) return tct_fail(err, TCT_E_USAGE, "the reason is empty; say how the anchor was lost");
  if (tct_anchor_is_lost(l, l->anchor)) return TCT_OK;
  TCT_TRY(tct_anchor_check(l, l->anchor, err));
  return tct_fail(err, TCT_E_USAGE, "the anchor %.300s is not lost, it agrees with the ledger; leave the reason out",
                  l->anchor);
}

tct_status tct_ledger_anchor(const char *path, const char *name, const char *lost, tct_error *err) {
  tct_ledger ledger;
  tct_outfile anchor;
  tct_error_clear(err);
  TCT_TRY(tct_ledger_open(path, 1, &ledger, err));
  tct_status status = let_go(&ledger, lost, err);
  tct_free(ledger.anchor);
  ledger.anchor = NULL;
  if (status == TCT_OK && !(ledger.anchor = tct_anchor_path(name, err))) status = TCT_E_RUN;
  if (status == TCT_OK) status = tct_anchor_new(&ledger, &anchor, err);
  if (status == TCT_OK) {
    status = tct_ledger_append_anchor(&ledger, lost, err);
    if (status == TCT_OK) status = tct_anchor_commit(&ledger, &anchor, err);
    tct_outfile_abandon(&anchor);
  }
  tct_ledger_close(&ledger);
  return status;
}

/* The caller's claim must cover what the events cost. */
static tct_status check_claim(const tct_events *list, tct_ledger_promise *p, tct_error *err) {
  tct_cost cost;
  int covered = !isnan(p->epsilon);
  if (!(p->delta >= 0 && p->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a charge needs delta in [0, 1); give e.g. 1e-6");
  TCT_TRY(tct_account_epsilon(list, p->neighbours, p->delta, TCT_PRECISION, &cost, err));
  if (!covered) p->epsilon = cost.epsilon;
  if (!isfinite(cost.epsilon))
    return tct_fail(err, TCT_E_USAGE, "no accountant bounds these events at this delta; they cannot be charged");
  if (!TCT_POINT(charge_below_its_cost_taken, cost.epsilon <= p->epsilon * (1 + 1e-9), true))
    return tct_fail(err, TCT_E_USAGE, "the events cost more than the epsilon named for them; name more, or none");
  return TCT_OK;
}

static tct_status parse_list(const char *const *events, size_t count, tct_events *list, tct_error *err) {
  for (size_t i = 0; i < count; i++) {
    tct_event event;
    TCT_TRY(tct_event_parse(events[i], &event, NULL, err));
    TCT_TRY(tct_events_add(list, event, err));
  }
  return list->len ? TCT_OK : tct_fail(err, TCT_E_USAGE, "no event was given; write one, e.g. gaussian:noise=1");
}

static const tct_sized SIZED_CHARGE = TCT_SIZED(tct_charge, data, "call tct_charge_default first");
static const tct_charge DEFAULT_CHARGE = {.size = sizeof(tct_charge), .epsilon = NAN, .delta = NAN};

void tct_charge_default_sized(tct_charge *charge, size_t size) {
  tct_sized_default(&SIZED_CHARGE, charge, size, &DEFAULT_CHARGE);
}

static json_t *receipt_out(const tct_ledger_receipt *receipt, const tct_ledger_promise *promise) {
  json_t *out =
      json_pack("{s:s, s:s, s:f, s:f, s:s}", "run", receipt->run, "head", receipt->head, "epsilon", promise->epsilon,
                "delta", promise->delta, "neighbours", tct_neighbours_name((int)promise->neighbours));
  if (out && receipt->for_tests) json_object_set_new(out, "for_tests", json_true());
  if (out && receipt->warning) json_object_set_new(out, "warning", json_string(receipt->warning));
  return out;
}

/* The rows that the caller shows, under the ledger's key. */
static tct_status show_rows(const char *path, const tct_charge *run, tct_ledger_promise *promise, tct_shown *shown,
                            tct_error *err) {
  if (!run->data) return TCT_OK;
  TCT_TRY(tct_shown_make(path, run->data, 1, shown, err));
  promise->print = &shown->print[0];
  promise->key = shown->key[0];
  return TCT_OK;
}

/* What a model of this charge will say was asked for; the texts are borrowed from *plan and *fits. */
static tct_status take_plan(const char *text, json_t **plan, char **fits, tct_ledger_asked *asked, tct_error *err) {
  if (!text) return TCT_OK;
  *plan = json_loads(text, 0, NULL);
  const json_t *list = json_object_get(*plan, "fits");
  if (!json_is_array(list))
    return tct_fail(err, TCT_E_USAGE, "the plan of a charge is not what tct_composition_json or tct_plan_json give");
  *fits = tct_json_dump(list, JSON_COMPACT | JSON_REAL_PRECISION(17));
  *asked = (tct_ledger_asked){*fits, tct_json_said(*plan, "choice"), NULL};
  return *fits ? TCT_OK : tct_fail_memory(err);
}

char *tct_ledger_charge(const char *path, const char *const *events, size_t count, const tct_charge *given,
                        tct_error *err) {
  tct_charge own = DEFAULT_CHARGE, *run = &own;
  tct_events list = {0};
  tct_shown shown = {0};
  tct_ledger_receipt receipt = {0};
  json_t *plan = NULL;
  char *fits = NULL, *text = NULL;
  tct_error_clear(err);
  if (tct_sized_take(&SIZED_CHARGE, given, &own, err) != TCT_OK) return NULL;
  tct_ledger_promise promise = {.events = &list,
                                .epsilon = run->epsilon,
                                .delta = run->delta,
                                .neighbours = (tct_neighbours)run->neighbours,
                                .what = run->what ? run->what : "charged by hand",
                                .persons = run->persons != 0,
                                .seeded = run->seeded != 0,
                                .unaccounted = (char *const *)run->unaccounted,
                                .declared_part = run->input_part != 0,
                                .input_changed = run->input_changed};
  tct_status status = check_words(promise.what, 4000, "what is charged", err);
  if (status == TCT_OK) status = parse_list(events, count, &list, err);
  if (status == TCT_OK) status = check_claim(&list, &promise, err);
  if (status == TCT_OK) status = take_plan(run->plan, &plan, &fits, &promise.asked, err);
  if (status == TCT_OK) status = show_rows(path, run, &promise, &shown, err);
  if (status == TCT_OK) status = tct_ledger_promise_run(path, &promise, &receipt, err);
  if (status == TCT_OK) text = tct_json_text(receipt_out(&receipt, &promise), err);
  tct_events_free(&list);
  json_decref(plan);
  free(fits);
  tct_shown_end(&shown);
  tct_free(receipt.head);
  tct_free(receipt.run);
  tct_free(receipt.warning);
  return text;
}
