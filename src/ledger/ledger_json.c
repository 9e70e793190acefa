/* ledger_json.c - the ledger's export: settings, runs, spent, left. */
#include "core/alloc.h"
#include "model/json.h"
#include "ledger/ledger.h"

#include <math.h>
#include <string.h>

static json_t *texts_out(char *const *list) {
  json_t *array = json_array();
  for (int i = 0; array && i < TCT_UNACCOUNTED && list[i]; i++)
    if (json_array_append_new(array, json_string(list[i])) != 0) return json_decref(array), NULL;
  return array;
}

static json_t *run_out(const tct_ledger *l, const tct_ledger_run *run) {
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:s, s:s, s:b, s:o, s:o}", "id", run->id, "time", run->time,
                   "what", run->what, "epsilon", tct_json_real(run->epsilon), "delta", tct_json_real(run->delta),
                   "neighbours", tct_neighbours_name((int)l->neighbours), "events", tct_json_events(&run->events),
                   "plan", run->plan, "head", run->head, "seeded", run->seeded, "unaccounted",
                   texts_out(run->unaccounted), "input", run->input[0] ? json_string(run->input) : json_null());
}

/* Of the input, or lost anchors. */
static json_t *changes_out(const tct_ledger *l, int anchor) {
  json_t *list = json_array();
  for (int64_t i = 0; list && i < l->changed; i++) {
    const tct_ledger_change *change = &l->changes[i];
    if (change->anchor != anchor) continue;
    if (json_array_append_new(list, json_pack("{s:s, s:s}", "time", change->time, "reason", change->reason)) != 0)
      return json_decref(list), NULL;
  }
  return list;
}

static json_t *reservations_out(const tct_ledger *l) {
  static const char *const fates[] = {
      [TCT_RESERVATION_OPEN] = "ended", [TCT_RESERVATION_CHARGED] = "charged", [TCT_RESERVATION_RELEASED] = "released"};
  json_t *list = json_array();
  for (int64_t i = 0; list && i < l->reserved; i++) {
    const tct_ledger_reservation *r = &l->reservations[i];
    json_t *each =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s}", "id", r->id, "time", r->time, "end", r->end, "what",
                  r->what, "epsilon", tct_json_real(r->epsilon), "delta", tct_json_real(r->delta), "events",
                  tct_json_events(&r->events), "state", tct_ledger_is_reserved(r) ? "reserved" : fates[r->fate]);
    if (json_array_append_new(list, each) != 0) return json_decref(list), NULL;
  }
  return list;
}

/* Whose budget it is, and what its figures do not say.  The key and the fingerprints stay in the file. */
static json_t *identity_out(const tct_ledger *l) {
  json_int_t unaccounted = 0, seeded = 0;
  for (int64_t i = 0; i < l->len; i++) {
    unaccounted += l->runs[i].unaccounted[0] != NULL;
    seeded += l->runs[i].seeded;
  }
  return json_pack("{s:s, s:s?, s:b, s:s?, s:o, s:o, s:o, s:I, s:I}", "unit", l->unit ? "person" : "record", "people",
                   l->people, "for_tests", l->for_tests, "anchor", l->anchor, "lost_anchors", changes_out(l, 1),
                   "changes", changes_out(l, 0), "reservations", reservations_out(l), "unaccounted_runs", unaccounted,
                   "seeded_runs", seeded);
}

static json_t *runs_out(const tct_ledger *l) {
  json_t *list = json_array();
  for (int64_t i = 0; i < l->len; i++)
    if (json_array_append_new(list, run_out(l, &l->runs[i])) != 0) { /* all of them or none */
      json_decref(list);
      return NULL;
    }
  return list;
}

/* Equal events of different runs become one with their joint count: composition does not ask for an order. */
static tct_status collect(const tct_ledger *l, tct_events *all, tct_error *err) {
  for (int64_t i = 0; i < l->len; i++)
    for (int64_t k = 0; k < l->runs[i].events.len; k++) {
      const tct_event *event = &l->runs[i].events.at[k];
      int64_t at = 0;
      while (at < all->len && !tct_event_same(&all->at[at], event)) at++;
      if (at == all->len)
        TCT_TRY(tct_events_add(all, *event, err));
      else if (__builtin_add_overflow(all->at[at].count, event->count, &all->at[at].count))
        return tct_fail(err, TCT_E_DATA,
                        "the ledger's events have too large a count; it was not written by this program");
    }
  return TCT_OK;
}

/* The whole list of events under the tightest accountant (pld where it applies): information, because the runs
 * were chosen after looking at earlier results. */
static json_t *information_out(const tct_ledger *l, tct_error *err) {
  tct_events all = {0};
  tct_cost cost = {.epsilon = NAN};
  double delta = l->delta;
  tct_status status = collect(l, &all, err);
  if (status == TCT_OK && all.len) status = tct_account_epsilon(&all, l->neighbours, delta, 1e-3, &cost, err);
  tct_events_free(&all);
  if (status != TCT_OK) return NULL;
  double spent = l->len ? cost.epsilon : 0;
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:s}", "accountant", l->len && cost.winner ? json_string(cost.winner->name) : json_null(),
      "epsilon", tct_json_real(spent), "epsilon_left", tct_json_real(fmax(0, l->epsilon - spent)), "delta",
      tct_json_real(delta), "note",
      "for a list fixed in advance; runs chosen after looking at results are permitted by the filter only");
}

static json_t *figures_out(const tct_ledger *l, tct_error *err) {
  tct_ledger_account a;
  if (tct_ledger_account_of(l, &a, err) != TCT_OK) return NULL;
  json_t *information = information_out(l, err);
  if (!information) return NULL;
  return json_pack(
      "{s:s, s:i, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:{s:o, s:o, s:s, s:o, s:o}, s:{s:o, s:o, s:s, s:o, s:o}, "
      "s:o}",
      "format", "tacit-ledger", "version", l->version, "name", l->name, "created", l->created, "neighbours",
      tct_neighbours_name((int)l->neighbours), "filter", tct_ledger_filter_name(l->filter), "epsilon",
      tct_json_real(l->epsilon), "delta", tct_json_real(l->delta), "head", l->head, "runs", runs_out(l), "spent",
      "epsilon", tct_json_real(a.epsilon), "delta", tct_json_real(a.delta), "unit", a.unit, "amount",
      tct_json_real(a.spent), "order", tct_json_real(a.order), "left", "epsilon", tct_json_real(a.epsilon_left),
      "delta", tct_json_real(a.delta_left), "unit", a.unit, "amount", tct_json_real(a.left), "runs",
      a.more < 0 ? json_null() : json_integer(a.more), "information", information);
}

static json_t *ledger_out(const tct_ledger *l, tct_error *err) {
  json_t *figures = figures_out(l, err), *identity = figures ? identity_out(l) : NULL;
  int whole = identity && json_object_update(figures, identity) == 0;
  json_decref(identity);
  if (whole) return figures;
  json_decref(figures);
  return NULL;
}

char *tct_ledger_json(const char *path, tct_error *err) {
  tct_ledger ledger;
  tct_error_clear(err);
  if (tct_ledger_open(path, 0, &ledger, err) != TCT_OK) return NULL;
  tct_error why = {0};
  json_t *root = ledger_out(&ledger, &why);
  tct_ledger_close(&ledger);
  if (!root && why.status != TCT_OK && err) *err = why;
  if (!root && why.status != TCT_OK) return NULL;
  return tct_json_text(root, err);
}
