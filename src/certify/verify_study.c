/* verify_study.c - a study is planned again: every stage's share, promise and value, and the claim of the whole.
 *
 * What was asked for is planned as it was before the run.  A deferred stage is planned under what the file says that
 * the stage before it released.  A model in the file goes through the same checks as a model file. */
#include "certify/verify.h"
#include "core/alloc.h"
#include "core/spec.h"
#include "model/json.h"
#include "stage/study_file.h"
#include "train/certificate.h"

#include <stdio.h>
#include <string.h>

static const json_t *member(const json_t *o, const char *key) { return json_object_get(o, key); }
/* ---- keys ------------------------------------------------------------------------------------------------------- */

static const char *key_unlike(const json_t *o, const char *needed, const char *also) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)o, key,
                      value) if (!tct_word_among(key, needed, ' ') && !tct_word_among(key, also, ' ')) return key;
  return NULL;
}

static const char *key_missing(const json_t *o, const char *needed, char word[40]) {
  for (const char *at = needed + 1; *at; at += strcspn(at, " ") + 1) {
    snprintf(word, 40, "%.*s", (int)strcspn(at, " "), at);
    if (!member(o, word)) return word;
  }
  return NULL;
}

static const char FILE_KEYS[] = " format version library rules main claim asked stages ";
static const char CLAIM_KEYS[] = " epsilon delta neighbours accountant events noise unaccounted trust unit ";
static const char STAGE_KEYS[] = " name kind part rows share counts events ";

/* The first key that should be there, or should not; what else a stage has, check_stage looks at. */
static const char *odd_key(const json_t *file, char word[40]) {
  const json_t *claim = member(file, "claim"), *stage;
  const char *bad = key_missing(file, FILE_KEYS, word);
  size_t i;
  if (!bad) bad = key_unlike(file, FILE_KEYS, " ");
  if (!bad) bad = key_missing(claim, CLAIM_KEYS, word);
  if (!bad) bad = key_unlike(claim, CLAIM_KEYS, " ledger ");
  if (!bad) bad = key_unlike(member(claim, "ledger"), " head run ", " for_tests ");
  json_array_foreach(member(file, "stages"), i, stage) if (!bad) bad = key_missing(stage, STAGE_KEYS, word);
  return bad;
}

/* ---- a stage ---------------------------------------------------------------------------------------------------- */

/* The endings that a run writes; carry.c has the same. */
static bool is_ending(const char *text) {
  for (int i = 0; i < TCT_STAGE_ENDINGS; i++)
    if (text && !strcmp(text, tct_stage_endings[i])) return true;
  return false;
}

/* The plan as the file has it, and nothing beside it but what this kind writes. */
static bool plan_is(const tct_stage *stage, const json_t *said) {
  json_t *again = tct_stage_plan_json(stage), *own = json_object();
  const char *key;
  json_t *value;
  json_object_foreach(again, key, value) json_object_set(own, key, json_object_get(said, key));
  bool same = tct_json_near(again, own);
  json_decref(again);
  json_decref(own);
  return same;
}

/* The keys that the kind itself writes, no more and no less. */
static bool keys_are(const tct_stage *stage, const json_t *said) {
  json_t *again = tct_stage_plan_json(stage);
  bool same = again && stage->kind->write(stage, again, NULL) == TCT_OK;
  if (stage->ended[0]) json_object_set_new(again, "ended", json_string(stage->ended));
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)said, key, value) same = same && json_object_get(again, key);
  same = same && json_object_size(again) == json_object_size(said);
  json_decref(again);
  return same;
}

/* A deferred stage that has a value, or ended later than its plan. */
static tct_status plan_again(tct_stage *stage, tct_error *err) {
  const tct_stage *before = stage->from >= 0 ? &stage->study->stage[stage->from] : NULL;
  if (stage->counts == TCT_COUNTS_EVENTS || !before || !before->value) return TCT_OK;
  tct_status status = tct_study_plan_deferred(stage, err);
  bool none = !strcmp(stage->ended, tct_stage_endings[TCT_ENDED_UNPLANNED]);
  if (none && status != TCT_OK) return TCT_OK;
  return none ? tct_fail(err, TCT_E_DATA, "it says that it has no plan, and it has one") : status;
}

static const char *ending_unlike(const tct_stage *stage) {
  const tct_stage *before = stage->from >= 0 ? &stage->study->stage[stage->from] : NULL;
  bool alone = !strcmp(stage->ended, tct_stage_endings[TCT_ENDED_WITHOUT]);
  if (stage->ended[0] && !is_ending(stage->ended)) return "it ended in a way that no run ends";
  if (before && !before->value && !alone) return "what it builds on has no value";
  if (alone && (!before || before->value)) return "what it builds on has a value";
  return NULL;
}

static void check_model(tct_verify_report *r, const tct_stage *stage, const json_t *file) {
  tct_verify_report own = {.root = json_object(), .checks = json_array(), .ok = 1};
  const json_t *one;
  size_t i;
  tct_verify_one(&own, stage->value, file);
  json_array_foreach(own.checks, i, one)
      tct_verify_check(r, tct_json_said(one, "name"), json_is_true(member(one, "ok")), "%.60s: %.500s", stage->name,
                       tct_json_said(one, "text"));
  r->replanned &= own.replanned;
  json_decref(own.root);
  json_decref(own.checks);
}

static void check_stage(tct_verify_report *r, tct_stage *stage, const json_t *said) {
  char why[TCT_STAGE_WHY] = "";
  tct_error err = {0};
  const json_t *ended = member(said, "ended");
  snprintf(stage->ended, sizeof stage->ended, "%s",
           ended && tct_json_said(said, "ended") ? tct_json_said(said, "ended") : "");
  tct_status status = plan_again(stage, &err);
  if (status == TCT_OK) status = stage->kind->read(stage, said, &err);
  tct_error_reword(&err, TCT_WORDS_CLI);
  const char *ending = ending_unlike(stage);
  if (status != TCT_OK)
    snprintf(why, sizeof why, "%.200s", err.text);
  else if (ended && (!json_is_string(ended) || !stage->ended[0]))
    snprintf(why, sizeof why, "its ending is no text");
  else if (ending || (stage->ended[0] && stage->value))
    snprintf(why, sizeof why, "%s; the file was edited", ending ? ending : "it ended, and has a value");
  else if (!plan_is(stage, said))
    snprintf(why, sizeof why, "its share, part or events are not what was asked for gives; the file was edited");
  else if (!keys_are(stage, said))
    snprintf(why, sizeof why, "it has other fields than such a stage writes; the file was edited");
  else
    stage->kind->check(stage, said, why);
  tct_verify_check(r, "stage", !why[0],
                   why[0] ? "%.60s: %s" : "%.60s: its share and its promise are what was asked for gives%s",
                   stage->name, why);
  if (!why[0] && stage->value && stage->kind->models) check_model(r, stage, member(said, "model"));
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* What a stage takes unpaid the whole says too; bounds that this study estimates it pays for. */
static const char *untold(const tct_study *study, const tct_model *claim) {
  bool pays = false;
  for (int i = 0; i < study->count; i++) pays |= study->stage[i].kind->pays;
  bool elsewhere = tct_study_says_estimated(study);
  for (int i = 0; i < study->count; i++) {
    const tct_model *m = study->stage[i].kind->models ? study->stage[i].value : NULL;
    for (int k = 0; m && k < TCT_UNACCOUNTED && m->unaccounted[k]; k++) {
      bool paid = pays && !elsewhere && !strcmp(m->unaccounted[k], TCT_ESTIMATED_ELSEWHERE);
      if (!paid && !tct_verify_told(claim, m->unaccounted[k])) return "unaccounted";
    }
    if (m && m->reproducible != claim->reproducible) return "noise";
    if (m && m->persons != claim->persons) return "unit";
  }
  if (elsewhere && !tct_verify_told(claim, TCT_ESTIMATED_ELSEWHERE)) return "unaccounted";
  return NULL;
}

static bool events_are(const tct_study *study, const tct_model *claim) {
  tct_events events = {0};
  json_t *again = tct_study_events(study, &events, NULL) == TCT_OK ? tct_json_events(&events) : NULL,
         *said = tct_json_events(&claim->events);
  bool same = again && tct_json_near(again, said);
  tct_events_free(&events);
  json_decref(again);
  json_decref(said);
  return same;
}

static const char *claim_unlike(const tct_study *study, const json_t *file, const tct_model *claim) {
  const json_t *said = member(file, "claim");
  const char *main = study->main >= 0 ? study->stage[study->main].name : NULL;
  if (claim->epsilon != study->claim.epsilon) return "epsilon";
  if (claim->delta != study->claim.delta) return "delta";
  if (claim->neighbours != (int32_t)study->claim.neighbours) return "neighbours";
  if (!claim->accountant || !study->claim.by || strcmp(claim->accountant, study->claim.by) != 0) return "accountant";
  if (claim->persons != (study->person != NULL)) return "unit";
  if (!events_are(study, claim)) return "events";
  if (main ? !tct_json_says(file, "main", main) : !json_is_null(member(file, "main"))) return "main";
  if (!tct_json_says(said, "trust", tct_model_trust(claim))) return "trust";
  if (!tct_json_says(said, "unit", tct_model_unit(claim))) return "unit";
  if (!tct_json_said(file, "library")) return "library";
  return untold(study, claim);
}

static tct_study *plan_of(const json_t *file, tct_error *err) {
  json_t *asked = json_deep_copy(member(file, "asked"));
  int64_t rows = json_integer_value(member(asked, "rows"));
  tct_study *study = tct_study_take(asked, false, err);
  if (!study || tct_study_plan(study, rows, err) == TCT_OK) return study;
  tct_study_free(study);
  return NULL;
}

static void check_study(tct_verify_report *r, tct_study *study, const json_t *file, const tct_model *claim) {
  const json_t *stages = member(file, "stages");
  bool count = (int)json_array_size(stages) == study->count && !tct_study_is_model(study);
  tct_verify_check(r, "stages", count,
                   count ? "as many as were asked for" : "the stages are not those that were asked for");
  for (int i = 0; count && i < study->count && r->ok; i++)
    check_stage(r, &study->stage[i], json_array_get(stages, (size_t)i));
  const char *other = r->ok ? claim_unlike(study, file, claim) : NULL;
  if (!r->ok) return;
  tct_verify_check(r, "whole", !other,
                   other ? "'%s' of the whole is not what the stages give; the file was edited"
                         : "the claim is that of all stages together%.0s",
                   other ? other : "");
  if (r->ok) tct_verify_claim(r, claim);
}

void tct_verify_study(tct_verify_report *r, const json_t *file, const tct_model *claim) {
  char word[40];
  tct_error err = {0};
  const char *odd = odd_key(file, word);
  bool rules = json_integer_value(member(file, "rules")) == 1;
  tct_verify_check(
      r, "fields", !odd,
      odd ? "'%s' is not there, or is nothing that a study's file has; it was edited" : "all present and known%.0s",
      odd ? odd : "");
  tct_verify_check(r, "rules", rules,
                   rules ? "the shares are those of known rules"
                         : "the shares are of rules that are not known here; verify with a newer tacit");
  r->replanned = true;
  tct_study *study = r->ok ? plan_of(file, &err) : NULL;
  tct_error_reword(&err, TCT_WORDS_CLI);
  if (r->ok)
    tct_verify_check(r, "asked", study != NULL,
                     study ? "what was asked for is planned again%.0s" : "what was asked for gives no plan: %s",
                     err.text);
  if (study) check_study(r, study, file, claim);
  r->replanned &= r->ok != 0;
  tct_study_free(study);
}
