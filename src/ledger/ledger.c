/* ledger.c - the budget ledger: making one, charging a run before its first noise. */
#include "ledger/ledger.h"

#include "core/alloc.h"
#include "model/json.h"

#include <math.h>
#include <string.h>

tct_status tct_ledger_promise_run(const char *path, const tct_ledger_promise *promise, char **head, char **run,
                                  tct_error *err) {
  tct_ledger ledger;
  tct_ledger_state state;
  char hash[TCT_DIGEST_HEX], id[TCT_LEDGER_ID];
  *head = *run = NULL;
  char *head_copy = TCT_NEW(char, TCT_DIGEST_HEX), *run_copy = TCT_NEW(char, TCT_LEDGER_ID); /* before the charge */
  tct_status status = head_copy && run_copy ? tct_ledger_open(path, 1, &ledger, err) : tct_fail_memory(err);
  if (status == TCT_OK) {
    status = tct_ledger_state_of(&ledger, &state, err);
    if (status == TCT_OK) status = tct_ledger_permit(&ledger, promise, &state, err);
    if (status == TCT_OK) status = tct_ledger_append(&ledger, promise, hash, id, err);
    tct_ledger_close(&ledger);
  }
  if (status != TCT_OK) {
    tct_free(head_copy);
    tct_free(run_copy);
    return status;
  }
  memcpy(*head = head_copy, hash, sizeof hash);
  memcpy(*run = run_copy, id, sizeof id);
  return TCT_OK;
}

static tct_status check_settings(const tct_ledger *l, tct_error *err) {
  if (!(l->epsilon > 0 && isfinite(l->epsilon)))
    return tct_fail(err, TCT_E_USAGE, "a ledger needs a finite epsilon above 0; give e.g. --epsilon 2");
  if (!(l->delta >= 0 && l->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a ledger needs delta in [0, 1); give e.g. --delta 1e-5");
  if (l->neighbours != TCT_ADD_REMOVE && l->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  json_t *name = strlen(l->name) <= 200 ? json_string(l->name) : NULL;
  if (!name) return tct_fail(err, TCT_E_USAGE, "the ledger's name must be UTF-8 text of at most 200 bytes");
  json_decref(name);
  tct_filter filter;
  if (l->filter == TCT_FILTER_SUM) return TCT_OK;
  return tct_filter_init(&filter, l->filter, l->neighbours, l->epsilon, l->delta, err);
}

tct_status tct_ledger_init(const char *path, const char *name, const char *filter, int neighbours, double epsilon,
                           double delta, tct_error *err) {
  tct_error_clear(err);
  tct_ledger settings = {
      .name = (char *)(name ? name : ""), .neighbours = (tct_neighbours)neighbours, .epsilon = epsilon, .delta = delta};
  int kind = tct_ledger_filter_find(filter ? filter : "sum");
  if (kind < 0) return tct_fail(err, TCT_E_USAGE, "no filter has this name; use sum, zcdp, gdp or rdp");
  settings.filter = (tct_filter_kind)kind;
  TCT_TRY(check_settings(&settings, err));
  return tct_ledger_create(path, &settings, err);
}

/* The caller's claim must cover what the events cost. */
static tct_status check_claim(const tct_events *list, tct_ledger_promise *p, tct_error *err) {
  tct_cost cost;
  int covered = !isnan(p->epsilon);
  if (!(p->delta >= 0 && p->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a charge needs delta in [0, 1); give e.g. 1e-6");
  if (p->delta == 0) { /* accountants answer for delta above 0: only events that are pure by themselves */
    double sum = 0;
    for (int64_t i = 0; i < list->len; i++)
      sum += list->at[i].kind == TCT_EV_PURE || list->at[i].kind == TCT_EV_EXPONENTIAL
                 ? list->at[i].epsilon * (double)list->at[i].count * (1 + 1e-15)
                 : INFINITY;
    cost.epsilon = sum;
  } else {
    TCT_TRY(tct_account_epsilon(list, p->neighbours, p->delta, TCT_PRECISION, &cost, err));
  }
  if (!covered) p->epsilon = cost.epsilon;
  if (!isfinite(cost.epsilon))
    return tct_fail(err, TCT_E_USAGE, "no accountant bounds these events at this delta; they cannot be charged");
  if (!(cost.epsilon <= p->epsilon * (1 + 1e-9)))
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

char *tct_ledger_charge(const char *path, const char *const *events, size_t count, int neighbours, double epsilon,
                        double delta, tct_error *err) {
  tct_events list = {0};
  char *head = NULL, *run = NULL, *text = NULL;
  tct_error_clear(err);
  tct_ledger_promise promise = {.events = &list,
                                .epsilon = epsilon,
                                .delta = delta,
                                .neighbours = (tct_neighbours)neighbours,
                                .what = "charged by hand"};
  tct_status status = parse_list(events, count, &list, err);
  if (status == TCT_OK) status = check_claim(&list, &promise, err);
  if (status == TCT_OK) status = tct_ledger_promise_run(path, &promise, &head, &run, err);
  if (status == TCT_OK)
    text = tct_json_text(json_pack("{s:s, s:s, s:f, s:f, s:s}", "run", run, "head", head, "epsilon", promise.epsilon,
                                   "delta", promise.delta, "neighbours", tct_neighbours_name(neighbours)),
                         err);
  tct_events_free(&list);
  tct_free(head);
  tct_free(run);
  return text;
}
