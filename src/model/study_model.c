/* study_model.c - the models in the file of a study: each as a model file has it, under the claim of the whole. */
#include "core/alloc.h"
#include "model/json.h"
#include "model/model.h"

#include <string.h>

static tct_status lacks(const char *key, tct_error *err) {
  return tct_fail(err, TCT_E_DATA, "the study's file lacks a valid '%s'; it is damaged or was edited", key);
}

bool tct_is_study(const json_t *file) { return tct_json_says(file, "format", "tacit-study"); }

static const json_t *stage_called(const json_t *file, const char *name) {
  size_t k;
  const json_t *stage;
  json_array_foreach(json_object_get(file, "stages"), k, stage) {
    if (tct_json_says(stage, "name", name)) return stage;
  }
  return NULL;
}

static tct_status take_facts(const json_t *list, tct_model *m, tct_error *err) {
  if (!json_is_array(list) || json_array_size(list) > TCT_UNACCOUNTED) return lacks("unaccounted", err);
  for (int i = 0; i < TCT_UNACCOUNTED; i++) tct_free(m->unaccounted[i]), m->unaccounted[i] = NULL;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *fact = json_string_value(json_array_get(list, i));
    if (!fact) return lacks("unaccounted", err);
    if (!(m->unaccounted[i] = tct_text_copy(fact))) return tct_fail_memory(err);
  }
  return TCT_OK;
}

static tct_status put(char **to, const char *text, tct_error *err) {
  tct_free(*to);
  *to = tct_text_copy(text);
  return !text || *to ? TCT_OK : tct_fail_memory(err);
}

static tct_status take_entry(const json_t *ledger, tct_model *m, tct_error *err) {
  const json_t *tests = json_object_get(ledger, "for_tests");
  if (!ledger) return TCT_OK;
  if (!tct_json_said(ledger, "head") || !tct_json_said(ledger, "run") || (tests && !json_is_boolean(tests)))
    return lacks("ledger", err);
  m->for_tests = json_is_true(tests);
  TCT_TRY(put(&m->ledger_head, tct_json_said(ledger, "head"), err));
  return put(&m->run_id, tct_json_said(ledger, "run"), err);
}

tct_status tct_study_claim_read(const json_t *file, tct_model *m, tct_error *err) {
  const json_t *claim = json_object_get(file, "claim");
  const char *relation = tct_json_said(claim, "neighbours"), *by = tct_json_said(claim, "accountant"),
             *noise = tct_json_said(claim, "noise"), *unit = tct_json_said(claim, "unit");
  m->neighbours = relation ? tct_neighbours_find(relation) : -1;
  m->is_private = 1;
  if (json_integer_value(json_object_get(file, "version")) != 1)
    return tct_fail(err, TCT_E_DATA,
                    "the study's file has another version than this program reads; use a matching tacit");
  if (m->neighbours < 0) return lacks("neighbours", err);
  if (!tct_json_get_real(json_object_get(claim, "epsilon"), &m->epsilon)) return lacks("epsilon", err);
  if (!tct_json_get_real(json_object_get(claim, "delta"), &m->delta)) return lacks("delta", err);
  if (!by || !noise || !unit || (strcmp(noise, "system") && strcmp(noise, "reproducible"))) return lacks("claim", err);
  m->reproducible = !strcmp(noise, "reproducible");
  m->persons = tct_model_unit_persons(unit);
  TCT_TRY(put(&m->accountant, by, err));
  tct_events_free(&m->events);
  if (tct_json_get_events(json_object_get(claim, "events"), &m->events, NULL) != TCT_OK) return lacks("events", err);
  TCT_TRY(take_facts(json_object_get(claim, "unaccounted"), m, err));
  TCT_TRY(take_entry(json_object_get(claim, "ledger"), m, err));
  if (!json_is_object(json_object_get(file, "asked"))) return lacks("asked", err);
  tct_free(m->asked);
  m->asked = NULL;
  return tct_json_compact(json_object_get(file, "asked"), &m->asked, err);
}

/* What the reader of the model alone cannot know: what the others cost. */
static tct_status put_claim(const json_t *file, tct_model *m, tct_error *err) {
  TCT_TRY(tct_study_claim_read(file, m, err));
  return tct_json_compact(file, &m->study, err);
}

static const json_t *find(const json_t *file, const char *name, tct_error *err) {
  const char *main = tct_json_said(file, "main");
  if (!tct_is_study(file))
    return tct_fail(err, TCT_E_USAGE, "the file is of one model and has no stages; leave the stage out"), NULL;
  if (!name && !main) return tct_fail(err, TCT_E_USAGE, "the study has no model; it has released figures alone"), NULL;
  const json_t *stage = stage_called(file, name ? name : main);
  if (!stage) return tct_fail(err, TCT_E_USAGE, "the study has no stage of this name; look at its file"), NULL;
  if (json_object_get(stage, "model")) return json_object_get(stage, "model");
  return tct_fail(err, TCT_E_USAGE,
                  json_object_get(stage, "ended")
                      ? "this stage of the study ended without a model; name another one"
                      : "this stage of the study is no fit and has no model; name another one"),
         NULL;
}

tct_model *tct_model_of_study(const json_t *file, const char *stage, const char *path, tct_error *err) {
  const json_t *own = find(file, stage, err);
  tct_model *m = own ? tct_model_of_json(own, path, err) : NULL;
  if (!m || put_claim(file, m, err) == TCT_OK) return m;
  tct_model_free(m);
  return NULL;
}
