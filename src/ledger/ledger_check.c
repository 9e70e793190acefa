/* ledger_check.c - was the ledger edited, cut short or rolled back?  Are these models' runs in it? */
#include "core/point.h"
#include "core/alloc.h"
#include "ledger/anchor.h"
#include "model/json.h"
#include "ledger/ledger.h"

#include <string.h>

static int same_events(const tct_events *a, const tct_events *b) {
  if (a->len != b->len) return 0;
  for (int64_t i = 0; i < a->len; i++)
    if (!tct_event_same(&a->at[i], &b->at[i]) || a->at[i].count != b->at[i].count) return 0;
  return 1;
}

/* Every fact of the entry is in the model; what was found later may be there besides. */
static int tells_all(const tct_model *m, const tct_ledger_run *run) {
  int all = 1;
  for (int i = 0; i < TCT_UNACCOUNTED && run->unaccounted[i]; i++) {
    int told = 0;
    for (int k = 0; k < TCT_UNACCOUNTED && m->unaccounted[k]; k++)
      told |= !strcmp(run->unaccounted[i], m->unaccounted[k]);
    all &= told;
  }
  return all;
}

/* After an estimate: what the settings of its fit say that is known before it. */
static json_t *known_before(json_t *fits) {
  static const char *const later[] = {"epsilon", "delta", "columns", "label_bound", "label_shift"};
  json_t *asked = json_incref(json_object_get(json_array_get(fits, 0), "asked"));
  for (size_t k = 0; k < sizeof later / sizeof *later; k++) json_object_del(asked, later[k]);
  json_decref(fits);
  return asked;
}

static void digest_value(tct_digest *digest, const json_t *value);

/* In the order of their keys, which no other program that writes the file has to keep. */
static void digest_members(tct_digest *digest, const json_t *object) {
  const char *key, *before = "", *next = "";
  json_t *value;
  for (size_t k = 0; k < json_object_size(object); k++, before = next) {
    bool found = false;
    json_object_foreach((json_t *)object, key, value) {
      bool later = k == 0 || strcmp(key, before) > 0;
      if (later && (!found || strcmp(key, next) < 0)) next = key, found = true;
    }
    tct_digest_text(digest, next);
    digest_value(digest, json_object_get(object, next));
  }
}

/* Numbers by their bits: how their decimals are written differs among programs. */
static void digest_value(tct_digest *digest, const json_t *value) {
  double real = json_number_value(value);
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  if (json_is_number(value))
    tct_digest_word(digest, 'R', bits);
  else if (json_is_string(value))
    tct_digest_text(digest, json_string_value(value));
  else if (json_is_object(value))
    tct_digest_word(digest, 'O', json_object_size(value)), digest_members(digest, value);
  else if (json_is_array(value))
    tct_digest_word(digest, 'A', json_array_size(value));
  else
    tct_digest_field(digest, json_is_true(value) ? 'Y' : json_is_false(value) ? 'F' : 'N', "", 0);
  for (size_t i = 0; i < json_array_size(value); i++) digest_value(digest, json_array_get(value, i));
}

tct_status tct_ledger_asked_digest(const tct_ledger_asked *a, int persons, int seeded, char text[TCT_LEDGER_ASKED],
                                   tct_error *err) {
  json_t *fits = a->fits ? json_loads(a->fits, 0, NULL) : NULL;
  json_t *estimate = a->estimate ? json_loads(a->estimate, 0, NULL) : NULL;
  bool parsed = !a->fits == !fits && !a->estimate == !estimate;
  json_object_del(estimate, "rest"); /* what the fit claims of it */
  json_t *all = json_pack("{s:s, s:s, s:s?, s:o?, s:o?}", "unit", persons ? "person" : "record", "noise",
                          seeded ? "reproducible" : "system", "choice", a->choice, "estimate", estimate, "fits",
                          estimate ? known_before(fits) : fits);
  char hex[TCT_DIGEST_HEX];
  tct_digest digest;
  tct_digest_start(&digest);
  digest_value(&digest, all);
  tct_digest_end(&digest, hex);
  snprintf(text, TCT_LEDGER_ASKED, "%s%s", TCT_LEDGER_ASKED_WORD, hex);
  tct_status status = all && parsed ? TCT_OK : tct_fail_memory(err);
  json_decref(all);
  return status;
}

/* A run charged by hand, or by a program before there was this digest, has none to compare. */
static const char *asked_unlike(const tct_ledger_run *run, const tct_model *m) {
  const tct_ledger_asked asked = {m->asked ? m->asked : m->fits, m->choice, m->estimate};
  char own[TCT_LEDGER_ASKED];
  if (strncmp(run->plan, TCT_LEDGER_ASKED_WORD, sizeof TCT_LEDGER_ASKED_WORD - 1) != 0) return "";
  if (tct_ledger_asked_digest(&asked, m->persons, m->reproducible, own, NULL) != TCT_OK)
    return "there is not enough memory to compare what was asked for";
  return strcmp(own, run->plan) ? "what the model says was asked for is not what its run was charged for" : "";
}

static const char *compare(const tct_ledger *l, const tct_ledger_run *run, const tct_model *m) {
  if (TCT_POINT(head_of_a_model_unread, strcmp(run->head, m->ledger_head) != 0, false))
    return "the ledger's chain at this run is not the one that the model saw; the ledger was edited or rolled back";
  if (!m->is_private || m->neighbours != (int32_t)l->neighbours) return "the model's neighbour relation is another";
  if (m->epsilon != run->epsilon || m->delta != run->delta) return "the model's epsilon or delta is another";
  if (!same_events(&m->events, &run->events)) return "the model's events are others";
  if (l->version > 1 && m->persons != (l->unit == 1)) return "the model's unit of privacy is another";
  if (m->reproducible != run->seeded && l->version > 1) return "the model's word about its noise is another";
  if (!!m->for_tests != !!l->for_tests) return "the ledger is for tests, and the model does not say so";
  return tells_all(m, run) ? TCT_POINT(model_of_another_plan_matches, asked_unlike(run, m), "")
                           : "the model leaves out what its entry names as unaccounted";
}

void tct_ledger_find_entry(const tct_ledger *l, const tct_model *m, char *why, size_t size) {
  const tct_ledger_run *run = NULL;
  if (!m->ledger_head || !m->run_id) {
    snprintf(why, size, "the model names no run of any ledger");
    return;
  }
  for (int64_t i = 0; i < l->len; i++)
    if (!strcmp(l->runs[i].id, m->run_id)) run = &l->runs[i];
  snprintf(why, size, "%s",
           run ? compare(l, run, m)
               : "the model's run is not in the ledger; the ledger was rolled back, or it is another one");
}

static const char TOLD[] = "the model's run is in the ledger as the model tells it";

/* What the last anchor that was lost leaves open; "": none was. */
static void tell_lost(const tct_ledger *l, char *text, size_t size) {
  text[0] = 0;
  for (int64_t i = 0; i < l->changed; i++)
    if (l->changes[i].anchor)
      snprintf(text, size,
               "an anchor was lost (%s: %.100s), and nobody can tell whether the ledger was rolled back before",
               l->changes[i].time, l->changes[i].reason);
}

tct_status tct_ledger_entry(const char *path, const tct_model *model, int *told, char *text, size_t size,
                            tct_error *err) {
  tct_ledger ledger;
  char lost[250];
  TCT_TRY(tct_ledger_open(path, 0, &ledger, err));
  tct_ledger_find_entry(&ledger, model, text, size);
  tell_lost(&ledger, lost, sizeof lost);
  *told = !text[0];
  if (*told) snprintf(text, size, "%s%s%s", TOLD, lost[0] ? "; " : "", lost);
  tct_ledger_close(&ledger);
  return TCT_OK;
}

typedef struct report {
  json_t *checks;
  int ok, incomplete; /* incomplete: a line could not be made for lack of memory */
  int torn;           /* SQLite finds the file damaged */
  char why[240];      /* the first that failed */
} report;

/* text: "" = the check holds, and `good` says so. */
static void add(report *r, const char *name, const char *text, const char *good) {
  int ok = !text[0];
  json_t *line = json_pack("{s:s, s:b, s:s}", "name", name, "ok", ok, "text", ok ? good : text);
  r->incomplete |= json_array_append_new(r->checks, line) != 0;
  if (!ok && r->ok) snprintf(r->why, sizeof r->why, "%s: %.200s", name, text);
  r->ok &= ok;
}

static void check_anchor(report *r, tct_ledger *l, const char *path) {
  tct_error err = {0};
  char why[300] = "";
  if (tct_anchor_check(l, path, &err) != TCT_OK) snprintf(why, sizeof why, "%.290s", err.text);
  r->incomplete |= err.status == TCT_E_MEMORY;
  add(r, "anchor", why, "the row that it names is in the chain");
}

static void check_models(report *r, tct_ledger *l, const char *const *models, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char why[300] = "";
    tct_error err = {0};
    char kind = tct_anchor_kind(models[i]);
    if (kind == 'a') {
      check_anchor(r, l, models[i]);
      continue;
    }
    if (!kind) tct_fail(&err, TCT_E_DATA, "the file cannot be read, or is neither a model nor an anchor");
    tct_model *model = kind ? tct_model_read(models[i], NULL, NULL, &err) : NULL;
    if (model)
      tct_ledger_find_entry(l, model, why, sizeof why);
    else
      snprintf(why, sizeof why, "%.290s", err.text);
    r->incomplete |= err.status == TCT_E_MEMORY;
    json_t *name = json_string(models[i]);
    add(r, name ? models[i] : "model", why, TOLD);
    json_decref(name);
    tct_model_free(model);
  }
}

static tct_status check_ledger(report *r, tct_ledger *l, tct_error *err) {
  char why[300];
  tct_ledger_state state;
  add(r, "chain", "", "every row follows from the one before it, and the head names the last");
  TCT_TRY(tct_ledger_integrity(l, why, sizeof why, err));
  add(r, "file", why, "SQLite finds nothing wrong");
  r->torn = why[0] != 0;
  TCT_TRY(tct_ledger_state_of(l, &state, err));
  if (l->anchor) check_anchor(r, l, l->anchor);
  tell_lost(l, why, sizeof why);
  if (why[0]) add(r, "anchor before", "", why);
  add(r, "budget", state.overspent ? "the recorded runs exceed the budget" : "", "the recorded runs are within it");
  return TCT_OK;
}

char *tct_ledger_check_json(const char *path, const char *const *models, size_t count, tct_error *err) {
  tct_ledger ledger = {0};
  tct_error why = {0};
  tct_error_clear(err);
  report r = {.checks = json_array(), .ok = 1};
  tct_status status = tct_ledger_open(path, 0, &ledger, &why);
  int damaged = status == TCT_E_DATA;
  if (damaged) {
    add(&r, "chain", why.text, "");
    status = TCT_OK;
  } else if (status == TCT_OK) {
    status = check_ledger(&r, &ledger, &why);
    if (status == TCT_OK) status = tct_ledger_execute(ledger.db, "ROLLBACK", "", NULL, &why); /* its rows are read */
    if (status == TCT_OK) check_models(&r, &ledger, models, count);
  }
  json_t *root = NULL;
  if (status == TCT_OK && r.incomplete) status = tct_fail_memory(&why);
  if (status == TCT_OK)
    root = json_pack("{s:s, s:b, s:O, s:o, s:I}", "verdict",
                     damaged || r.torn ? "damaged"
                     : r.ok            ? "sound"
                                       : "contradicted",
                     "ok", r.ok, "checks", r.checks, "head", damaged ? json_null() : json_string(ledger.head), "runs",
                     (json_int_t)ledger.len);
  json_decref(r.checks);
  tct_ledger_close(&ledger);
  if (status == TCT_OK && !r.ok) tct_fail(err, TCT_E_DATA, "%s", r.why);
  if (status == TCT_OK) return tct_json_text(root, err);
  if (err) *err = why;
  return NULL;
}
