/* study_file.c - the file of a study: what was asked for, the claim of the whole, and every stage's part. */
#include "core/outfile.h"
#include "model/json.h"
#include "stage/study_file.h"

#include <string.h>

enum { RULES = 1, VERSION = 1 }; /* of the shares of a study, and of its file */

static const char *const COUNTS[] = {
    [TCT_COUNTS_EVENTS] = "events", [TCT_COUNTS_MU] = "mu", [TCT_COUNTS_EPSILON] = "epsilon"};

json_t *tct_stage_plan_json(const tct_stage *stage) {
  const tct_share *s = &stage->share;
  json_t *share = json_pack("{s:o, s:o}", "epsilon", tct_json_real(s->epsilon), "delta", tct_json_real(s->delta));
  if (s->mu > 0) json_object_set_new(share, "mu", tct_json_real(s->mu));
  return json_pack("{s:s, s:s, s:s, s:I, s:o, s:s, s:o}", "name", stage->name, "kind", stage->kind->name, "part",
                   tct_part_name(stage->part), "rows", (json_int_t)tct_study_rows(stage->study, stage->part), "share",
                   share, "counts", COUNTS[stage->counts], "events", tct_json_events(&stage->events));
}

static json_t *stages_out(const tct_study *study, tct_error *err) {
  json_t *list = json_array();
  for (int i = 0; i < study->count; i++) {
    const tct_stage *stage = &study->stage[i];
    json_t *own = tct_stage_plan_json(stage);
    if (!own || (study->ok && stage->kind->write(stage, own, err) != TCT_OK)) return json_decref(list), NULL;
    if (stage->ended[0]) json_object_set_new(own, "ended", json_string(stage->ended));
    json_array_append_new(list, own);
  }
  return list;
}

static json_t *facts_out(const tct_model *m) {
  json_t *list = json_array();
  for (int i = 0; i < TCT_UNACCOUNTED && m->unaccounted[i]; i++)
    json_array_append_new(list, json_string(m->unaccounted[i]));
  return list;
}

/* The member "claim" of the whole. */
static json_t *claim_json(const tct_model *m) {
  json_t *o =
      json_pack("{s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:s, s:s}", "epsilon", tct_json_real(m->epsilon), "delta",
                tct_json_real(m->delta), "neighbours", tct_neighbours_name(m->neighbours), "accountant", m->accountant,
                "events", tct_json_events(&m->events), "noise", m->reproducible ? "reproducible" : "system",
                "unaccounted", facts_out(m), "trust", tct_model_trust(m), "unit", tct_model_unit(m));
  return tct_ledger_member(m, o);
}

static char *text_of(const tct_study *study, tct_error *err) {
  if (tct_study_is_model(study)) return tct_model_json(study->stage[0].value, err);
  json_t *stages = stages_out(study, err);
  if (!stages) return NULL;
  const char *main = study->main >= 0 ? study->stage[study->main].name : NULL;
  return tct_json_text(json_pack("{s:s, s:i, s:s, s:i, s:s?, s:o, s:O, s:o}", "format", "tacit-study", "version",
                                 VERSION, "library", TCT_VERSION, "rules", RULES, "main", main, "claim",
                                 claim_json(study->facts), "asked", study->asked, "stages", stages),
                       err);
}

/* Into the room that was taken before the charge. */
static tct_status write(const tct_study *study, const char *text, const char *output, tct_error *err) {
  if (tct_study_is_model(study)) return tct_model_write(study->stage[0].value, output, err);
  return tct_outfile_commit_text(study->facts->output, text, err);
}

char *tct_study_file(const tct_study *study, const char *output, tct_error *err) {
  char *text = text_of(study, err);
  if (!text || !output || write(study, text, output, err) == TCT_OK) return text;
  tct_text_free(text);
  return NULL;
}

static char *planned(tct_study *study, int64_t rows, tct_error *err) {
  if (tct_study_plan(study, rows, err) != TCT_OK) return NULL;
  json_t *stages = stages_out(study, err);
  if (!stages) return NULL;
  return tct_json_text(
      json_pack("{s:o, s:o, s:s, s:s?, s:s, s:I, s:o}", "epsilon", tct_json_real(study->claim.epsilon), "delta",
                tct_json_real(study->claim.delta), "neighbours", tct_neighbours_name((int)study->claim.neighbours),
                "accountant", study->claim.by, "unit", study->person ? "person" : "record", "rows", (json_int_t)rows,
                "stages", stages),
      err);
}

char *tct_study_plan_json(const char *asked, int64_t rows, tct_error *err) {
  tct_error own = {0};
  err = err ? err : &own;
  tct_study *study = tct_study_parse(asked, err);
  char *text = study ? planned(study, rows, err) : NULL;
  tct_study_free(study);
  return text;
}
