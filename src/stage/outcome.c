/* outcome.c - an outcome's entry: what may stand in it, the settings that it gives, and whether a model is of it. */
#include "stage/outcome.h"

#include "stage/by_schema.h"
#include "train/certificate.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- asked ------------------------------------------------------------------------------------------------------ */

tct_status tct_outcome_take(tct_stage *stage, tct_error *err) {
  const char *label = tct_stage_text(stage, "label"), *rule = tct_stage_text(stage, "rows_rule");
  if (!tct_stage_text(stage, "loss"))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "it has no \"loss\"; give one, e.g. \"logistic\"");
  if (!label) return tct_stage_fail(stage, TCT_E_USAGE, err, "it has no \"label\"; name the column of its outcome");
  if (rule && strcmp(rule, "clip") != 0 && strcmp(rule, "unit") != 0)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "\"rows_rule\" must be clip or unit");
  if (!json_object_get(stage->study->asked, "schema"))
    return tct_fail(err, TCT_E_USAGE, "a study knows its columns by a schema; give {schema}");
  const json_t *column = tct_study_column(stage->study, label);
  const char *type = tct_json_said(column, "type");
  if (!column)
    return tct_stage_fail(stage, TCT_E_USAGE, err, "the schema describes no column \"%.60s\"; name its outcome by it",
                          label);
  if (type && !strcmp(type, "date"))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "a date is no outcome; make a number of it first");
  if (type && !strcmp(type, "category") && json_is_true(json_object_get(column, "estimate")))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "the classes of an outcome must be public; list its values");
  return tct_stage_find_estimate(stage, err);
}

/* ---- settings --------------------------------------------------------------------------------------------------- */

/* An entry, and what stands in place of it. */
typedef struct entry {
  const json_t *own, *over;
} entry;

static const json_t *member(const entry *e, const char *key) {
  const json_t *value = json_object_get(e->over, key);
  return value ? value : json_object_get(e->own, key);
}

static const char *text_of(const entry *e, const char *key) { return json_string_value(member(e, key)); }

static double number_of(const entry *e, const char *key, double fallback) {
  const json_t *value = member(e, key);
  return value ? json_number_value(value) : fallback;
}

/* Classes that the schema lists, more than two; with a positive one there are two. */
static int64_t classes_of(const tct_schema *schema, const tct_config *config) {
  bool classes = tct_config_labels(config) != TCT_LABELS_REAL && !schema->positive;
  return classes ? (int64_t)json_array_size(schema->label_values) : 0;
}

tct_config tct_outcome_config(const tct_stage *stage, const json_t *over, const tct_schema *schema) {
  const entry e = {stage->asked, over};
  const char *penalty = text_of(&e, "penalty"), *rule = text_of(&e, "rows_rule");
  tct_config c;
  tct_config_default(&c);
  c.loss = text_of(&e, "loss");
  c.solver = text_of(&e, "solver");
  if (penalty) c.penalty = penalty;
  c.intercept = !json_is_false(member(&e, "intercept"));
  c.row_norm = number_of(&e, "row_norm", NAN);
  c.label_bound = number_of(&e, "label_bound", NAN);
  c.label_shift = number_of(&e, "label_shift", 0);
  c.rows_rule = rule && !strcmp(rule, "unit") ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  c.neighbours = (int32_t)stage->share.neighbours;
  c.epsilon = stage->share.epsilon, c.delta = stage->share.delta;
  c.classes = classes_of(schema, &c);
  if (c.classes < 3) c.classes = 0;
  tct_config_take_bounds(&c, schema->root, schema->label_low, schema->label_high);
  return c;
}

/* Two classes are read as classes, of which the public list or a positive value tells. */
tct_labels tct_outcome_labels(const tct_stage *stage, const json_t *over) {
  const entry e = {stage->asked, over};
  tct_config config;
  tct_config_default(&config);
  config.loss = text_of(&e, "loss");
  tct_labels labels = tct_config_labels(&config);
  return labels == TCT_LABELS_BINARY ? TCT_LABELS_CLASSES : labels;
}

tct_status tct_outcome_reads(const tct_stage *stage, tct_reading *out, tct_error *err) {
  out->labels = tct_outcome_labels(stage, NULL);
  return tct_stage_schema(stage, &out->schema, err);
}

tct_status tct_outcome_plan(tct_stage *stage, tct_outcome_planner *by, tct_error *err) {
  tct_schema schema;
  tct_error local = {0};
  err = err ? err : &local;
  stage->kind->drop_plan(stage);
  tct_events_free(&stage->events);
  tct_status status = tct_stage_load(stage, &schema, err);
  if (status == TCT_OK) status = by(stage, &schema, err);
  tct_schema_free(&schema);
  return tct_stage_named(stage, status, err);
}

void tct_outcome_run_by(tct_config *config, const tct_config *run) {
  config->has_seed = run->has_seed, config->seed = run->seed;
  config->progress = run->progress, config->cancel = run->cancel, config->user = run->user;
  config->ledger = run->ledger, config->output = run->output;
  config->input_changed = run->input_changed, config->input_part = run->input_part;
  config->threads = run->threads;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

void tct_outcome_drop_value(tct_stage *stage) {
  tct_model_free(stage->value);
  stage->value = NULL;
}

tct_status tct_outcome_write(const tct_stage *stage, json_t *out, tct_error *err) {
  char *text = tct_model_json(stage->value, err);
  json_t *model = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  return model && !json_object_set_new(out, "model", model) ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_outcome_read(tct_stage *stage, const json_t *said, tct_error *err) {
  const json_t *model = json_object_get(said, "model");
  tct_outcome_drop_value(stage);
  if (!model && stage->ended[0]) return TCT_OK;
  stage->value = tct_model_of_json(model, "", err);
  return stage->value ? TCT_OK : err->status;
}

const char *tct_outcome_unlike(const tct_stage *stage, const json_t *model, const json_t *fits) {
  const tct_model *m = stage->value;
  json_t *schema = NULL;
  const char *other = tct_stage_schema(stage, &schema, NULL) == TCT_OK ? NULL : "schema";
  if (model && !other) {
    if (!tct_json_near(json_object_get(json_object_get(model, "privacy"), "fits"), fits))
      other = "plan";
    else if (!tct_json_near(json_object_get(json_object_get(model, "transforms"), "schema"), schema))
      other = "schema";
    else if (!m->label || strcmp(m->label, tct_stage_text(stage, "label")) != 0)
      other = "label";
    else if (m->persons != (stage->study->person != NULL))
      other = "unit";
    else if (m->estimate || m->ledger_head || m->for_tests)
      other = "claim";
  }
  json_decref(schema);
  return other;
}

void tct_outcome_say(const char *other, char why[TCT_STAGE_WHY]) {
  if (other) snprintf(why, TCT_STAGE_WHY, "its %s is not what was asked for gives; the file was edited", other);
}
