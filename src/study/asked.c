/* asked.c - a study as it is asked for: one JSON object, looked at by itself. */
#include "core/alloc.h"
#include "core/spec.h"
#include "model/json.h"
#include "study/stage.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char KEYS[] =
    " epsilon:number delta:number neighbours:text schema:object held:number main:text person:text "
    "rows_per_person:count rows:count stages:list comment:text ";
static const char STAGE_KEYS[] = " name:text kind:text part:text budget_fraction:number comment:text ";

/* NULL: none. */
static const tct_stage_kind *kind_called(const char *name) {
  for (int i = 0; name && i < tct_stage_kind_count; i++)
    if (!strcmp(tct_stage_kinds[i]->name, name)) return tct_stage_kinds[i];
  return NULL;
}

const char *const tct_stage_endings[TCT_STAGE_ENDINGS] = {
    [TCT_ENDED_RANGE] = "its noise led out of the range of numbers",
    [TCT_ENDED_WITHOUT] = "the stage that it builds on has no value",
    [TCT_ENDED_UNPLANNED] = "under what was estimated there is no plan for it"};

static const char *const PARTS[] = {[TCT_PART_ALL] = "all", [TCT_PART_TRAIN] = "train", [TCT_PART_HELD] = "held"};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

const char *tct_part_name(tct_part part) { return PARTS[part]; }

tct_status tct_stage_fail(const tct_stage *stage, tct_status status, tct_error *err, const char *format, ...) {
  char text[600];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return tct_fail(err, status, "stage \"%s\": %s", stage->name, text);
}

const char *tct_stage_text(const tct_stage *stage, const char *key) { return tct_json_said(stage->asked, key); }

/* ---- keys and types ------------------------------------------------------------------------------------------- */

static bool texts(const json_t *value) {
  bool all = json_is_array(value) && json_array_size(value) > 0;
  for (size_t i = 0; all && i < json_array_size(value); i++) all = json_is_string(json_array_get(value, i));
  return all;
}

static bool is_a(const json_t *value, const char *type) {
  if (!strcmp(type, "number")) return json_is_number(value) && isfinite(json_number_value(value));
  if (!strcmp(type, "count")) return json_is_integer(value) && json_integer_value(value) > 0;
  if (!strcmp(type, "text")) return json_is_string(value);
  if (!strcmp(type, "texts")) return texts(value);
  if (!strcmp(type, "truth")) return json_is_boolean(value);
  if (!strcmp(type, "list")) return json_is_array(value);
  return json_is_object(value);
}

/* " key:type ..." of the key in one of two lists; false: in neither. */
static bool type_of(const char *key, const char *const lists[2], char type[16]) {
  char word[TCT_STAGE_NAME + 4];
  if (snprintf(word, sizeof word, " %s:", key) >= (int)sizeof word) return false;
  for (int i = 0; i < 2; i++) {
    const char *at = lists[i] ? strstr(lists[i], word) : NULL;
    if (at) return snprintf(type, 16, "%.*s", (int)strcspn(at + strlen(word), " "), at + strlen(word)) > 0;
  }
  return false;
}

tct_status tct_study_check_keys(const json_t *object, const char *const lists[2], const char *whose, tct_error *err) {
  const char *key;
  json_t *value;
  char type[16];
  json_object_foreach((json_t *)object, key, value) {
    if (!type_of(key, lists, type))
      return tct_fail(err, TCT_E_USAGE, "%s has no key \"%.60s\"; leave it out", whose, key);
    if (!is_a(value, type))
      return tct_fail(err, TCT_E_USAGE, "%s: \"%s\" must be a %s; correct it", whose, key,
                      !strcmp(type, "truth")   ? "true or false"
                      : !strcmp(type, "texts") ? "list of texts"
                      : !strcmp(type, "count") ? "whole number above 0"
                                               : type);
  }
  return TCT_OK;
}

/* ---- stages --------------------------------------------------------------------------------------------------- */

static tct_status take_name(tct_study *study, tct_stage *stage, tct_error *err) {
  const char *name = tct_stage_text(stage, "name");
  if (!name || !name[0] || strlen(name) >= TCT_STAGE_NAME)
    return tct_fail(err, TCT_E_USAGE, "stage %d has no \"name\" of at most %d bytes; give it one", stage->index + 1,
                    TCT_STAGE_NAME - 1);
  snprintf(stage->name, sizeof stage->name, "%s", name);
  for (int i = 0; i < stage->index; i++)
    if (!strcmp(study->stage[i].name, name))
      return tct_fail(err, TCT_E_USAGE, "two stages are called \"%s\"; rename one", name);
  return TCT_OK;
}

static tct_status take_kind(tct_stage *stage, tct_error *err) {
  const char *kind = tct_stage_text(stage, "kind"), *names[16];
  char all[120], near[TCT_MEANT];
  for (int i = 0; i < tct_stage_kind_count; i++) names[i] = tct_stage_kinds[i]->name;
  tct_join_names(names, tct_stage_kind_count, all, sizeof all);
  if (!kind) return tct_stage_fail(stage, TCT_E_USAGE, err, "it has no \"kind\"; write one of %s", all);
  stage->kind = kind_called(kind);
  if (stage->kind) return TCT_OK;
  return tct_stage_fail(stage, TCT_E_USAGE, err, "no kind of stage is called \"%.40s\"; there are %s%s", kind, all,
                        tct_meant(kind, names, tct_stage_kind_count, near));
}

static tct_status take_part(const tct_study *study, tct_stage *stage, tct_error *err) {
  const char *part = tct_stage_text(stage, "part");
  for (int p = 0; part && p < PART_COUNT; p++)
    if (!strcmp(part, PARTS[p])) stage->part = (tct_part)p, part = NULL;
  if (part) return tct_stage_fail(stage, TCT_E_USAGE, err, "\"part\" must be all, train or held");
  if (stage->part == TCT_PART_ALL || study->held > 0) return TCT_OK;
  return tct_stage_fail(stage, TCT_E_USAGE, err,
                        "no records are held out; write e.g. \"held\": 0.2 in the study, or leave \"part\" out");
}

static tct_status take_stage(tct_study *study, int i, tct_error *err) {
  char whose[TCT_STAGE_NAME + 16];
  tct_stage *stage = &study->stage[i];
  *stage = (tct_stage){.study = study, .index = i, .from = -1, .fraction = NAN};
  stage->asked = json_array_get(json_object_get(study->asked, "stages"), (size_t)i);
  if (!json_is_object(stage->asked))
    return tct_fail(err, TCT_E_USAGE, "stage %d is no object; write {\"name\": ..., \"kind\": ...}", i + 1);
  TCT_TRY(take_name(study, stage, err));
  TCT_TRY(take_kind(stage, err));
  snprintf(whose, sizeof whose, "stage \"%s\"", stage->name);
  TCT_TRY(tct_study_check_keys(stage->asked, (const char *const[2]){STAGE_KEYS, stage->kind->keys}, whose, err));
  TCT_TRY(take_part(study, stage, err));
  const json_t *fraction = json_object_get(stage->asked, "budget_fraction");
  if (fraction) stage->fraction = json_number_value(fraction);
  if (fraction && !(stage->fraction > 0 && stage->fraction <= 1))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "\"budget_fraction\" must lie above 0 and not above 1");
  return stage->kind->take(stage, err);
}

static tct_status take_stages(tct_study *study, tct_error *err) {
  const json_t *stages = json_object_get(study->asked, "stages");
  size_t count = json_array_size(stages);
  if (count < 1)
    return tct_fail(err, TCT_E_USAGE,
                    "a study has no \"stages\"; list them, e.g. [{\"name\": \"a\", \"kind\": \"fit\"}]");
  if (count > TCT_STAGES) return tct_fail(err, TCT_E_USAGE, "a study has at most %d stages; divide it", TCT_STAGES);
  study->stage = TCT_NEW(tct_stage, (int64_t)count);
  if (!study->stage) return tct_fail_memory(err);
  for (int i = 0; i < (int)count; i++) { /* each sees the ones before it */
    study->count = i + 1;
    TCT_TRY(take_stage(study, i, err));
  }
  return TCT_OK;
}

/* ---- the study ------------------------------------------------------------------------------------------------ */

static tct_status take_budget(tct_study *study, tct_error *err) {
  const json_t *o = study->asked;
  const char *relation = tct_json_said(o, "neighbours");
  study->epsilon = json_number_value(json_object_get(o, "epsilon"));
  study->delta = json_number_value(json_object_get(o, "delta"));
  study->held = json_number_value(json_object_get(o, "held"));
  if (!(study->epsilon > 0))
    return tct_fail(err, TCT_E_USAGE, "a study needs an \"epsilon\" above 0; give e.g. {epsilon 1}");
  if (!(study->delta > 0 && study->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "a study needs a \"delta\" above 0 and below 1; give e.g. {delta 1e-6}");
  if (json_object_get(o, "held") && !(study->held > 0 && study->held < 1))
    return tct_fail(err, TCT_E_USAGE, "\"held\" is the share of the records that is held out; it lies between 0 and 1");
  int found = relation ? tct_neighbours_find(relation) : TCT_ADD_REMOVE;
  if (found < 0) return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  study->neighbours = (tct_neighbours)found;
  study->person = tct_json_said(o, "person");
  study->rows_per_person = json_integer_value(json_object_get(o, "rows_per_person"));
  if (!study->person == !study->rows_per_person) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "\"person\" and \"rows_per_person\" belong together: whose a row is, and how many rows of a person "
                  "count; give both");
}

/* Parts of mu^2; what is not said is shared out evenly, and an estimate is given a tenth of mu. */
static const double ESTIMATE_FRACTION = 0.01;

static tct_status share_out(tct_study *study, tct_error *err) {
  double given = 0, sum = 0;
  int open = 0;
  for (int i = 0; i < study->count; i++) {
    tct_stage *stage = &study->stage[i];
    if (isnan(stage->fraction) && stage->kind->small) stage->fraction = ESTIMATE_FRACTION;
    if (isnan(stage->fraction))
      open++;
    else
      given += stage->fraction;
  }
  if (given > 1 + 1e-9 || (open && given >= 1))
    return tct_fail(
        err, TCT_E_USAGE,
        "the stages' \"budget_fraction\" are parts of one budget and sum to more than is there; lower them");
  for (int i = 0; i < study->count; i++) {
    tct_stage *stage = &study->stage[i];
    if (isnan(stage->fraction)) stage->fraction = (1 - given) / open;
    sum += stage->fraction;
  }
  for (int i = 0; i < study->count; i++) study->stage[i].fraction /= sum;
  return TCT_OK;
}

/* The first fit, unless another is named. */
static tct_status take_main(tct_study *study, tct_error *err) {
  const char *name = tct_json_said(study->asked, "main");
  study->main = -1;
  for (int i = study->count - 1; i >= 0; i--) {
    const tct_stage *stage = &study->stage[i];
    if (stage->kind->models && (!name || !strcmp(name, stage->name))) study->main = i;
  }
  if (name && study->main < 0) return tct_fail(err, TCT_E_USAGE, "\"main\" names no fit of the study; name one");
  return TCT_OK;
}

/* A schema that is named is read once, and is part of what is asked from then on. */
static tct_status take_files(tct_study *study, bool files, tct_error *err) {
  json_t *schema = json_object_get(study->asked, "schema");
  json_error_t at;
  if (json_is_string(schema) && files) {
    char *looked = tct_schema_check_json(json_string_value(schema), NULL, err); /* within the limits of a schema */
    if (!looked) return err->status;
    tct_text_free(looked);
    json_t *read = json_load_file(json_string_value(schema), JSON_REJECT_DUPLICATES, &at);
    if (!read) return tct_fail(err, TCT_E_DATA, "the study's schema cannot be read; name its file");
    study->file = tct_text_copy(json_string_value(schema));
    json_object_set_new(study->asked, "schema", read);
    if (!study->file) return tct_fail_memory(err);
  }
  return TCT_OK;
}

/* Also of columns that no stage reads. */
static tct_status check_schema(const json_t *schema, tct_error *err) {
  if (!schema) return TCT_OK; /* the stages miss it, with a sentence */
  char *text = tct_json_dump(schema, JSON_COMPACT | JSON_REAL_PRECISION(17));
  char *looked = text ? tct_schema_check_json(NULL, text, err) : NULL;
  tct_status status = !text ? tct_fail_memory(err) : looked ? TCT_OK : err ? err->status : TCT_E_DATA;
  tct_text_free(looked);
  tct_free(text);
  return status;
}

static tct_status take(tct_study *study, bool files, tct_error *err) {
  if (!json_is_object(study->asked))
    return tct_fail(err, TCT_E_USAGE,
                    "a study is one JSON object with \"epsilon\", \"delta\" and \"stages\"; write it so");
  TCT_TRY(take_files(study, files, err));
  TCT_TRY(tct_study_check_keys(study->asked, (const char *const[2]){KEYS, NULL}, "the study", err));
  TCT_TRY(check_schema(json_object_get(study->asked, "schema"), err));
  TCT_TRY(take_budget(study, err));
  TCT_TRY(take_stages(study, err));
  TCT_TRY(share_out(study, err));
  return take_main(study, err);
}

tct_study *tct_study_take(json_t *asked, bool files, tct_error *err) {
  tct_study *study = TCT_NEW(tct_study, 1);
  if (!study) return json_decref(asked), tct_fail_memory(err), NULL;
  study->asked = asked;
  if (take(study, files, err) == TCT_OK) return study;
  tct_study_free(study);
  return NULL;
}

tct_study *tct_study_parse(const char *text, tct_error *err) {
  tct_error own = {0};
  json_error_t at;
  err = err ? err : &own;
  tct_error_clear(err);
  if (tct_json_check("", text, (int64_t)strlen(text), &(tct_json_most){1 << 20, 1 << 24}, err) != TCT_OK) return NULL;
  json_t *asked = json_loads(text, JSON_REJECT_DUPLICATES, &at);
  if (!asked)
    return tct_fail_at(err, "", at.line > 0 ? at.line : 0, at.column > 0 ? at.column : 0,
                       "the study is no valid JSON; correct it near this place"),
           NULL;
  return tct_study_take(asked, true, err);
}

void tct_study_free(tct_study *study) {
  if (!study) return;
  for (int i = 0; i < study->count; i++) {
    tct_stage *stage = &study->stage[i];
    if (stage->kind) stage->kind->drop_plan(stage), stage->kind->drop_value(stage);
    tct_events_free(&stage->events);
  }
  tct_free(study->stage);
  tct_model_free(study->facts);
  tct_inputs_free(&study->inputs);
  json_decref(study->asked);
  tct_free(study->file);
  tct_free(study);
}
