/* reading_of.c - which columns a stage reads: its own schema, made of the study's.
 *
 * Every stage reads the same file under a schema of its own.  In it one column is the label, and the outcomes of other
 * stages are left out unless a stage names them among its features.  So the schema in the file of a stage says all that
 * it read.  The records, and their numbers, are the same for all stages. */
#include "study/stage.h"

#include <string.h>

static bool is_open(const json_t *column) { return json_is_true(json_object_get(column, "estimate")); }

static const json_t *columns_of(const tct_study *study) {
  return json_object_get(json_object_get(study->asked, "schema"), "columns");
}

static const json_t *column_in(const json_t *schema, const char *name) {
  const json_t *label = json_object_get(schema, "label"), *column;
  size_t k;
  if (tct_json_says(label, "name", name)) return label;
  json_array_foreach(json_object_get(schema, "columns"), k, column) {
    if (tct_json_says(column, "name", name)) return column;
  }
  return NULL;
}

const json_t *tct_study_column(const tct_study *study, const char *name) {
  return column_in(json_object_get(study->asked, "schema"), name);
}

int64_t tct_study_open(const tct_study *study, int64_t *lists) {
  int64_t numbers = 0;
  size_t k;
  const json_t *column;
  *lists = 0;
  json_array_foreach((json_t *)columns_of(study), k, column) {
    if (is_open(column)) *(tct_json_says(column, "type", "category") ? lists : &numbers) += 1;
  }
  return numbers;
}

/* Does some fit have this column as its label? */
static bool is_outcome(const tct_study *study, const char *name) {
  for (int i = 0; i < study->count; i++) {
    const char *label = tct_stage_text(&study->stage[i], "label");
    if (label && !strcmp(label, name)) return true;
  }
  return false;
}

static bool listed(const json_t *features, const char *name) {
  size_t k;
  const json_t *one;
  json_array_foreach((json_t *)features, k, one) if (!strcmp(json_string_value(one), name)) return true;
  return false;
}

/* stage NULL, or without a label and features: one that reads all columns. */
static bool reads(const tct_study *study, const tct_stage *stage, const json_t *column) {
  const char *name = tct_json_said(column, "name"), *label = stage ? tct_stage_text(stage, "label") : NULL;
  const json_t *features = stage ? json_object_get(stage->asked, "features") : NULL;
  if (!name || tct_json_says(column, "type", "ignore") || (study->person && !strcmp(name, study->person))) return false;
  if (label && !strcmp(name, label)) return false;
  return features ? listed(features, name) : !label || !is_outcome(study, name);
}

bool tct_stage_reads_open(const tct_stage *stage) {
  const char *label = tct_stage_text(stage, "label");
  size_t k;
  const json_t *column;
  json_array_foreach((json_t *)columns_of(stage->study), k, column) {
    bool own = tct_json_says(column, "name", label);
    if (is_open(column) && (own || reads(stage->study, stage, column))) return true;
  }
  return false;
}

/* The column of an outcome as a schema describes a label. */
static json_t *label_of(const json_t *column, const tct_stage *stage, bool numbers) {
  static const char *const kept[] = {"values", "positive", "lower", "upper", "estimated"};
  const char *positive = tct_stage_text(stage, "positive");
  json_t *label = json_object();
  json_object_set_new(label, "name", json_string(tct_stage_text(stage, "label")));
  for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
    json_t *value = json_object_get(column, kept[k]);
    if (value && numbers == (k >= 2)) json_object_set(label, kept[k], value);
  }
  if (positive) json_object_set_new(label, "positive", json_string(positive));
  return label;
}

static tct_status check_features(const tct_stage *stage, const json_t *from, tct_error *err) {
  const json_t *features = json_object_get(stage->asked, "features"), *one;
  const char *label = tct_stage_text(stage, "label");
  size_t k;
  if (features && json_object_get(from, "terms"))
    return tct_stage_fail(stage, TCT_E_USAGE, err, "the terms of the schema say what the features are; leave them out");
  json_array_foreach((json_t *)features, k, one) {
    const json_t *column = column_in(from, json_string_value(one));
    if (!column || tct_json_says(column, "type", "ignore"))
      return tct_stage_fail(stage, TCT_E_USAGE, err,
                            "the schema describes no column \"%.60s\"; name its features by it",
                            json_string_value(one));
    if (label && !strcmp(json_string_value(one), label))
      return tct_stage_fail(stage, TCT_E_USAGE, err, "its outcome is among its \"features\"; take it out");
    for (size_t j = 0; j < k; j++)
      if (!strcmp(json_string_value(json_array_get(features, j)), json_string_value(one)))
        return tct_stage_fail(stage, TCT_E_USAGE, err, "\"features\" names \"%.60s\" twice; name it once",
                              json_string_value(one));
  }
  return TCT_OK;
}

static json_t *ignored(const char *name) { return json_pack("{s:s, s:s}", "name", name, "type", "ignore"); }

/* The label of the schema as a column: of numbers, or of a list of values. */
static json_t *as_column(const json_t *label) {
  json_t *out = json_copy((json_t *)label);
  json_object_del(out, "positive");
  json_object_set_new(out, "type", json_string(json_object_get(label, "values") ? "category" : "number"));
  return out;
}

/* The columns of `from`; the label of the schema, where it is another's, is a column like those that are left out. */
static json_t *columns_for(const tct_study *study, const json_t *from, const tct_stage *stage) {
  const char *label = stage ? tct_stage_text(stage, "label") : NULL,
             *rooted = tct_json_said(json_object_get(from, "label"), "name");
  json_t *out = json_array();
  size_t k;
  json_t *column;
  json_array_foreach(json_object_get(from, "columns"), k, column) {
    const char *name = tct_json_said(column, "name");
    if (name && label && !strcmp(name, label)) continue;
    if (!name || reads(study, stage, column) || json_object_get(from, "terms"))
      json_array_append(out, column);
    else
      json_array_append_new(out, ignored(name));
  }
  if (rooted && !(label && !strcmp(rooted, label))) {
    const json_t *own = json_object_get(from, "label");
    bool read = stage && stage->kind->labels && reads(study, stage, own);
    json_array_append_new(out, read ? as_column(own) : ignored(rooted));
  }
  return out;
}

tct_status tct_study_schema(const tct_study *study, const json_t *from, const tct_stage *stage, json_t **out,
                            tct_error *err) {
  const char *label = stage ? tct_stage_text(stage, "label") : NULL,
             *loss = stage ? tct_stage_text(stage, "loss") : NULL;
  tct_config config;
  if (stage) TCT_TRY(check_features(stage, from, err));
  json_t *schema = json_copy((json_t *)from);
  json_object_set_new(schema, "columns", columns_for(study, from, stage));
  json_object_del(schema, "label");
  tct_config_default(&config);
  config.loss = loss;
  if (label)
    json_object_set_new(schema, "label",
                        label_of(column_in(from, label), stage, tct_config_labels(&config) == TCT_LABELS_REAL));
  *out = schema;
  return schema ? TCT_OK : tct_fail_memory(err);
}

bool tct_study_says_estimated(const tct_study *study) {
  const json_t *schema = json_object_get(study->asked, "schema"), *column;
  bool said = json_object_get(json_object_get(schema, "label"), "estimated") != NULL;
  size_t k;
  json_array_foreach((json_t *)columns_of(study), k, column) said |= json_object_get(column, "estimated") != NULL;
  return said;
}

/* ---- before an estimate ----------------------------------------------------------------------------------------- */

static void stand_in(json_t *column) {
  bool left = tct_json_says(column, "missing", "estimate");
  if (!is_open(column)) return;
  json_object_del(column, "estimate");
  json_object_set_new(column, "estimated", json_true());
  if (tct_json_says(column, "type", "category")) {
    json_object_set_new(column, "values", json_pack("[s]", "a"));
    json_object_set_new(column, "other", json_string("zero"));
    if (left) json_object_set_new(column, "missing", json_string("zero"));
    return;
  }
  json_object_set_new(column, "lower", json_real(0));
  json_object_set_new(column, "upper", json_real(1));
  if (left) json_object_set_new(column, "missing", json_real(0));
}

/* The whole schema as it is before an estimate: open columns get bounds or a list that stand for those to come. */
static json_t *stood_in(const tct_study *study) {
  json_t *schema = json_deep_copy(json_object_get(study->asked, "schema")), *column;
  size_t k;
  json_array_foreach(json_object_get(schema, "columns"), k, column) stand_in(column);
  return schema;
}

tct_status tct_stage_schema(const tct_stage *stage, json_t **out, tct_error *err) {
  const tct_study *study = stage->study;
  const tct_stage *before = stage->from >= 0 ? &study->stage[stage->from] : NULL;
  const json_t *asked = json_object_get(study->asked, "schema");
  if (!asked) return tct_fail(err, TCT_E_USAGE, "a study knows its columns by a schema; give {schema}");
  if (!before || !before->kind->pays) return tct_study_schema(study, asked, stage, out, err);
  json_t *own = before->value ? NULL : stood_in(study);
  tct_status status = tct_study_schema(study, before->value ? before->value : own, stage, out, err);
  json_decref(own);
  return status;
}
