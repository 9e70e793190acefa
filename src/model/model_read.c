/* model_read.c - the model file in: every field of its kind, or the file is refused. */
#include "core/point.h"
#include "core/alloc.h"
#include "model/json.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tct_status lacks(const char *key, tct_error *err) {
  return tct_fail(err, TCT_E_DATA, "the model file lacks a valid '%s'; it is damaged or not a tacit model", key);
}

/* Where it is not needed it may be null, or not there. */
static tct_status get_text(const json_t *o, const char *key, int needed, char **out, tct_error *err) {
  const json_t *value = json_object_get(o, key);
  const char *text = json_string_value(value);
  if (!text) return needed || (value && !json_is_null(value)) ? lacks(key, err) : TCT_OK;
  *out = tct_text_copy(text);
  return *out ? TCT_OK : tct_fail_memory(err);
}

static bool get_finite(const json_t *array, int64_t count, double *out) {
  bool finite = tct_json_get_reals(array, count, out);
  for (int64_t j = 0; finite && j < count; j++) finite = isfinite(out[j]);
  return finite;
}

static tct_status get_reals(const json_t *o, const char *key, int64_t count, double **out, tct_error *err) {
  const json_t *array = json_object_get(o, key);
  if (json_is_null(array)) return TCT_OK;
  if (!json_is_array(array) || (int64_t)json_array_size(array) != count) return lacks(key, err);
  *out = TCT_NEW(double, count + 1);
  if (!*out) return tct_fail_memory(err);
  return get_finite(array, count, *out) ? TCT_OK : lacks(key, err);
}

static tct_status get_truth(const json_t *o, const char *key, int *out, tct_error *err) {
  const json_t *value = json_object_get(o, key);
  *out = json_is_true(value);
  return json_is_boolean(value) ? TCT_OK : lacks(key, err);
}

static tct_status get_real(const json_t *o, const char *key, double *out, tct_error *err) {
  const json_t *value = json_object_get(o, key);
  return value && tct_json_get_real(value, out) ? TCT_OK : lacks(key, err);
}

static tct_status get_features(const json_t *o, tct_model *m, tct_error *err) {
  const json_t *array = json_object_get(o, "features");
  if (!json_is_array(array) || (int64_t)json_array_size(array) != m->cols) return lacks("features", err);
  m->features = TCT_NEW(char *, m->cols);
  if (!m->features) return tct_fail_memory(err);
  for (int64_t j = 0; j < m->cols; j++) {
    const char *name = json_string_value(json_array_get(array, (size_t)j));
    if (!name) return lacks("features", err);
    m->features[j] = tct_text_copy(name);
    if (!m->features[j]) return tct_fail_memory(err);
  }
  return TCT_OK;
}

/* A row for each class where there are more than two. */
static tct_status get_rows(const json_t *o, tct_model *m, tct_error *err) {
  const json_t *rows = json_object_get(o, "coefficients");
  int64_t count = m->classes.count;
  if (!json_is_array(rows) || (int64_t)json_array_size(rows) != count) return lacks("coefficients", err);
  TCT_TRY(tct_model_make_rows(m, count, err));
  for (int64_t k = 0; k < count; k++)
    if (!get_finite(json_array_get(rows, (size_t)k), m->cols, m->coefficients + k * m->cols))
      return lacks("coefficients", err);
  tct_free(m->intercepts);
  m->intercepts = NULL;
  TCT_TRY(get_reals(o, "intercept", count, &m->intercepts, err));
  if (!m->intercepts) return lacks("intercept", err);
  m->intercept = m->intercepts[0];
  return TCT_OK;
}

static tct_status get_weights(const json_t *o, tct_model *m, tct_error *err) {
  const json_t *classes = json_object_get(o, "classes");
  if (!classes != (m->version < TCT_MODEL_VERSION) || (classes && m->labels != TCT_LABELS_BINARY))
    return lacks("classes", err);
  if (classes) TCT_TRY(tct_class_names_read(classes, &m->classes, err));
  if (m->classes.count > 2) return get_rows(o, m, err);
  TCT_TRY(get_reals(o, "coefficients", m->cols, &m->coefficients, err));
  if (!m->coefficients) return lacks("coefficients", err);
  TCT_TRY(get_real(o, "intercept", &m->intercept, err));
  return isfinite(m->intercept) ? TCT_OK : lacks("intercept", err);
}

static tct_status says_nothing(const char *key, tct_error *err) {
  return tct_fail(
      err, TCT_E_DATA,
      "the model file gives a '%s', which means nothing for labels of classes; it was edited, or train again", key);
}

static tct_status get_transforms(const json_t *o, tct_model *m, tct_error *err) {
  if (!json_is_object(o)) return lacks("transforms", err);
  const json_t *schema = json_object_get(o, "schema");
  if (schema && !json_is_object(schema) && !json_is_null(schema)) return lacks("schema", err);
  if (json_is_object(schema) && !(m->schema = tct_json_dump(schema, JSON_REAL_PRECISION(17))))
    return tct_fail_memory(err);
  char *rows = NULL;
  TCT_TRY(get_text(o, "rows", 1, &rows, err));
  bool unit = !strcmp(rows, "unit"), known = unit || !strcmp(rows, "clip");
  m->rows_rule = unit ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  tct_free(rows);
  if (!known) return lacks("rows", err);
  TCT_TRY(get_text(o, "scale", 1, &m->scale, err));
  TCT_TRY(get_reals(o, "scale_factor", m->cols, &m->scale_factor, err));
  TCT_TRY(get_reals(o, "scale_shift", m->cols, &m->scale_shift, err));
  if (!m->scale_factor != !m->scale_shift) return lacks("scale_shift", err);
  TCT_TRY(get_real(o, "label_shift", &m->label_shift, err));
  TCT_TRY(get_real(o, "label_bound", &m->label_bound, err));
  TCT_TRY(get_real(o, "row_norm", &m->row_norm, err));
  if (m->labels == TCT_LABELS_BINARY && m->label_shift != 0) return says_nothing("label_shift", err);
  if (m->labels == TCT_LABELS_BINARY && !isnan(m->label_bound)) return says_nothing("label_bound", err);
  TCT_TRY(get_truth(o, "intercept", &m->has_intercept, err));
  return get_truth(o, "penalised_intercept", &m->penalised_intercept, err);
}

static tct_status get_claim(const json_t *o, tct_model *m, tct_error *err) {
  char *relation = NULL;
  TCT_TRY(get_text(o, "neighbours", 1, &relation, err));
  m->neighbours = tct_neighbours_find(relation);
  tct_free(relation);
  if (m->neighbours < 0) return lacks("neighbours", err);
  TCT_TRY(get_real(o, "epsilon", &m->epsilon, err));
  TCT_TRY(get_real(o, "delta", &m->delta, err));
  TCT_TRY(get_text(o, "accountant", 1, &m->accountant, err));
  tct_status status = tct_json_get_events(json_object_get(o, "events"), &m->events, err);
  if (status == TCT_E_USAGE) { /* wrong in a file is bad data, not wrong usage; the sentence says what */
    status = TCT_E_DATA;
    if (err) err->status = status;
  }
  return status;
}

/* NULL where there is none. */
static tct_status get_estimate(const json_t *o, tct_model *m, tct_error *err) {
  const json_t *estimate = json_object_get(o, "estimate");
  if (!estimate) return TCT_OK;
  if (!json_is_object(estimate)) return lacks("estimate", err);
  return tct_json_compact(estimate, &m->estimate, err);
}

static tct_status get_fits(const json_t *o, tct_model *m, tct_error *err) {
  const json_t *fits = json_object_get(o, "fits"), *weights = json_object_get(o, "weights");
  m->weight_cap = NAN;
  if (!json_is_array(fits) || json_array_size(fits) < 1) return lacks("fits", err);
  if (!weights || (!json_is_null(weights) && !json_is_object(weights))) return lacks("weights", err);
  if (json_is_object(weights)) {
    TCT_TRY(get_real(weights, "cap", &m->weight_cap, err));
    if (!(m->weight_cap > 0) || !json_is_string(json_object_get(weights, "of"))) return lacks("weights", err);
  }
  TCT_TRY(get_text(o, "choice", 0, &m->choice, err));
  TCT_TRY(get_estimate(o, m, err));
  return tct_json_compact(fits, &m->fits, err);
}

static tct_status get_privacy(const json_t *o, tct_model *m, tct_error *err) {
  if (!json_is_object(o) || !json_is_boolean(json_object_get(o, "private"))) return lacks("privacy", err);
  m->is_private = json_is_true(json_object_get(o, "private"));
  m->epsilon = INFINITY;
  m->delta = NAN;
  if (m->is_private) TCT_TRY(get_claim(o, m, err));
  const char *noise = tct_json_said(o, "noise");
  if (!noise || (strcmp(noise, "system") && strcmp(noise, "reproducible"))) return lacks("noise", err);
  m->reproducible = !strcmp(noise, "reproducible");
  TCT_TRY(get_truth(o, "adaptive", &m->adaptive, err));
  const char *unit = tct_json_said(o, "unit");
  m->persons = unit && tct_model_unit_persons(unit);
  const json_t *list = json_object_get(o, "unaccounted");
  if (!json_is_array(list) || json_array_size(list) > TCT_UNACCOUNTED) return lacks("unaccounted", err);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *text = json_string_value(json_array_get(list, i));
    if (!text) return lacks("unaccounted", err);
    m->unaccounted[i] = tct_text_copy(text);
    if (!m->unaccounted[i]) return tct_fail_memory(err);
  }
  TCT_TRY(get_fits(o, m, err));
  const json_t *ledger = json_object_get(o, "ledger");
  if (!ledger) return TCT_OK;
  if (json_object_get(ledger, "for_tests")) TCT_TRY(get_truth(ledger, "for_tests", &m->for_tests, err));
  TCT_TRY(get_text(ledger, "head", 1, &m->ledger_head, err));
  return get_text(ledger, "run", 1, &m->run_id, err);
}

static tct_status get_model(const json_t *o, tct_model *m, tct_error *err) {
  if (!tct_json_says(o, "format", "tacit-model")) return lacks("format", err);
  m->version = (int)json_integer_value(json_object_get(o, "version"));
  if (m->version < TCT_MODEL_FITS || m->version > TCT_MODEL_VERSION)
    return tct_fail(err, TCT_E_DATA,
                    "the model file has another version than this program reads; use a matching tacit");
  m->rows = json_integer_value(json_object_get(o, "rows"));
  m->cols = json_integer_value(json_object_get(o, "columns"));
  if (m->rows < 1 || m->cols < 1) return lacks("columns", err);
  TCT_TRY(get_text(o, "loss", 1, &m->loss, err));
  TCT_TRY(get_text(o, "penalty", 1, &m->penalty, err));
  TCT_TRY(get_text(o, "solver", 1, &m->solver, err));
  TCT_TRY(get_text(o, "label", 0, &m->label, err));
  const char *labels = tct_json_said(o, "labels");
  if (!labels || (strcmp(labels, "real") && strcmp(labels, "binary"))) return lacks("labels", err);
  m->labels = !strcmp(labels, "real") ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  TCT_TRY(get_features(o, m, err));
  TCT_TRY(get_weights(o, m, err));
  TCT_TRY(get_transforms(json_object_get(o, "transforms"), m, err));
  const json_t *inference = json_object_get(o, "inference");
  if (inference) TCT_TRY(tct_inference_read(inference, m->cols + m->has_intercept, &m->inference, err));
  const json_t *note = json_object_get(o, "note"), *parties = json_object_get(o, "parties");
  if (note && !json_is_string(note)) return lacks("note", err);
  if (note) snprintf(m->note, sizeof m->note, "%s", json_string_value(note));
  if (parties && !json_is_object(parties)) return lacks("parties", err);
  if (parties) TCT_TRY(tct_json_compact(parties, &m->parties, err));
  return get_privacy(json_object_get(o, "privacy"), m, err);
}

/* What a reader leaves behind, so that a page about the model cannot be better than its file. */
static void note_the_rest(const json_t *file, tct_model *m) {
  const json_t *privacy = json_object_get(file, "privacy");
  const char *unknown = tct_model_unknown_key(file), *trust = tct_json_said(privacy, "trust"),
             *unit = tct_json_said(privacy, "unit");
  if (unknown) snprintf(m->unknown, sizeof m->unknown, "%.40s", unknown);
  m->other_words = !trust || !unit || strcmp(trust, tct_model_trust(m)) != 0 || strcmp(unit, tct_model_unit(m)) != 0;
}

tct_model *tct_model_of_json(const json_t *file, const char *path, tct_error *err) {
  tct_error_clear(err);
  tct_model *m = TCT_NEW(tct_model, 1);
  tct_status status = m ? get_model(file, m, err) : tct_fail_memory(err);
  if (status == TCT_OK) return note_the_rest(file, m), m;
  if (err && status == TCT_E_DATA) snprintf(err->file, sizeof err->file, "%s", path);
  tct_model_free(m);
  return NULL;
}

/* Coefficients are many; lists and objects are those of a schema, of fits and of errors. */
static const tct_json_most MOST = {.containers = 1 << 20, .values = 1 << 26};

static json_t *parse(const char *text, int64_t length, const char *path, tct_error *err) {
  json_error_t at = {0};
  json_t *file =
      json_loadb(text, (size_t)length, TCT_POINT(keys_that_stand_twice_verified, JSON_REJECT_DUPLICATES, 0), &at);
  if (!file)
    tct_fail_at(err, path, at.line > 0 ? at.line : 0, at.column > 0 ? at.column : 0,
                "not a readable JSON model file; check the path, or train again");
  return file;
}

tct_status tct_model_load(const char *path, const char *text, json_t **file, tct_error *err) {
  char *own = NULL;
  int64_t length = text ? (int64_t)strlen(text) : 0;
  if (!path == !text) return tct_fail(err, TCT_E_USAGE, "one model is needed; give a model file, or its text");
  if (path)
    TCT_TRY(tct_json_file(path, &MOST, &own, &length, err));
  else
    TCT_TRY(tct_json_check("", text, length, &MOST, err));
  *file = parse(own ? own : text, length, path ? path : "", err);
  tct_free(own);
  return *file ? TCT_OK : TCT_E_DATA;
}

tct_model *tct_model_read(const char *path, const char *text, const char *stage, tct_error *err) {
  json_t *file = NULL;
  tct_error_clear(err);
  if (tct_model_load(path, text, &file, err) != TCT_OK) return NULL;
  const char *name = path ? path : "";
  tct_model *model =
      stage || tct_is_study(file) ? tct_model_of_study(file, stage, name, err) : tct_model_of_json(file, name, err);
  json_decref(file);
  if (!model || !path) return model;
  model->from_file = true;
  if (tct_inputs_add(&model->inputs, path, err) == TCT_OK) return model;
  tct_model_free(model);
  return NULL;
}
