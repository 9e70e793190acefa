/* model.c - the model file: JSON out and in, written whole or not at all. */
#include "core/alloc.h"
#include "core/json_text.h"
#include "core/outfile.h"
#include "model/inference_json.h"
#include "model/json.h"
#include "model/model.h"
#include "model/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tct_model_free(tct_model *model) {
  if (!model) return;
  tct_free(model->loss);
  tct_free(model->penalty);
  tct_free(model->solver);
  tct_free(model->coefficients);
  for (int64_t j = 0; model->features && j < model->cols; j++) tct_free(model->features[j]);
  tct_free(model->features);
  tct_free(model->label);
  tct_free(model->schema);
  tct_free(model->scale);
  tct_free(model->scale_factor);
  tct_free(model->scale_shift);
  tct_free(model->accountant);
  tct_events_free(&model->events);
  for (int i = 0; i < TCT_UNACCOUNTED; i++) tct_free(model->unaccounted[i]);
  tct_free(model->parties);
  tct_free(model->fits);
  tct_free(model->choice);
  tct_free(model->ledger_head);
  tct_free(model->run_id);
  tct_free(model->warning);
  tct_inference_free(&model->inference);
  if (model->output) tct_outfile_abandon(model->output);
  tct_free(model->output);
  tct_free(model);
}

int64_t tct_model_cols(const tct_model *model) { return model->cols; }
const double *tct_model_coefficients(const tct_model *model) { return model->coefficients; }
double tct_model_intercept(const tct_model *model) { return model->intercept; }
int tct_model_has_intercept(const tct_model *model) { return model->has_intercept != 0; }
int64_t tct_model_rows(const tct_model *model) { return model->rows; }
const char *tct_model_label(const tct_model *model) { return model->label; }
const char *tct_model_loss(const tct_model *model) { return model->loss; }
const char *tct_model_penalty(const tct_model *model) { return model->penalty; }
const char *tct_model_solver(const tct_model *model) { return model->solver; }
double tct_model_row_norm(const tct_model *model) { return model->row_norm; }
double tct_model_label_bound(const tct_model *model) { return model->label_bound; }
int tct_model_is_private(const tct_model *model) { return model->is_private != 0; }
double tct_model_epsilon(const tct_model *model) { return model->is_private ? model->epsilon : INFINITY; }
double tct_model_delta(const tct_model *model) { return model->is_private ? model->delta : NAN; }
tct_neighbours tct_model_neighbours(const tct_model *model) { return (tct_neighbours)model->neighbours; }
const char *tct_model_accountant(const tct_model *model) { return model->accountant; }
const char *tct_model_feature(const tct_model *model, int64_t column) {
  return column >= 0 && column < model->cols ? model->features[column] : NULL;
}
const char *tct_model_warning(const tct_model *model) { return model->warning; }
const char *tct_model_schema(const tct_model *model) { return model->schema; }

/* ---- out ---- */

static json_t *reals(const double *values, int64_t count) {
  if (!values) return json_null();
  json_t *array = json_array();
  for (int64_t j = 0; array && j < count; j++) json_array_append_new(array, tct_json_real(values[j]));
  return array;
}

static json_t *texts(char *const *list, int64_t count) {
  json_t *array = json_array();
  for (int64_t j = 0; array && j < count && list[j]; j++) {
    json_t *text = json_string(list[j]);
    json_array_append_new(array, text ? text : json_string("?")); /* a name that is not UTF-8 */
  }
  return array;
}

static json_t *text_or_null(const char *text) {
  json_t *value = text ? json_string(text) : NULL;
  return value ? value : json_null();
}

static json_t *transforms_out(const tct_model *m) {
  json_t *schema = m->schema ? json_loads(m->schema, 0, NULL) : NULL;
  return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:s}", "schema", schema ? schema : json_null(),
                   "scale", m->scale, "scale_factor", reals(m->scale_factor, m->cols), "scale_shift",
                   reals(m->scale_shift, m->cols), "label_shift", tct_json_real(m->label_shift), "label_bound",
                   tct_json_real(m->label_bound), "intercept", m->has_intercept, "penalised_intercept",
                   m->penalised_intercept, "row_norm", tct_json_real(m->row_norm), "rows",
                   m->rows_rule == TCT_ROWS_UNIT ? "unit" : "clip");
}

const char *tct_model_trust(const tct_model *m) {
  if (m->is_private && m->parties && strstr(m->parties, "\"apart\":true"))
    return "No curator: each party holds its columns, the server sees what the parties release, and nobody else's "
           "columns are seen by anyone; labels are known to every party; see parties.observers.";
  if (!m->is_private) return "NONE: this model was trained without privacy and may reveal its records.";
  if (m->reproducible)
    return "A trusted curator holds the records and runs this program; the noise came from a seed, and towards whoever "
           "knows or guesses it nothing is promised.";
  if (m->unaccounted[0])
    return "A trusted curator holds the records and runs this program; whoever sees the model file learns what the "
           "claim "
           "allows, and what is listed as unaccounted.";
  return "A trusted curator holds the records and runs this program; whoever sees the model file learns what the claim "
         "allows and no more.";
}

static const char PERSON_REMOVED[] =
    "One person: all of that person's records together removed; the number of records and the schema are public.";
static const char PERSON_REPLACED[] = "One person: all of that person's records together replaced by any others.";

const char *tct_model_unit(const tct_model *m) {
  if (!m->is_private) return "NONE";
  if (m->persons) return m->neighbours == TCT_REPLACE_ONE ? PERSON_REPLACED : PERSON_REMOVED;
  return m->neighbours == TCT_REPLACE_ONE
             ? "One record replaced by any other record of the domain."
             : "One record's contribution removed; the number of records and the schema are public.";
}

static void fits_out(const tct_model *m, json_t *o) {
  json_object_set_new(o, "weights",
                      isnan(m->weight_cap)
                          ? json_null()
                          : json_pack("{s:f, s:s}", "cap", m->weight_cap, "of", m->persons ? "person" : "record"));
  json_object_set_new(o, "fits", json_loads(m->fits, 0, NULL));
  if (m->choice) json_object_set_new(o, "choice", json_string(m->choice));
}

static json_t *privacy_out(const tct_model *m) {
  json_t *o = json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:b, s:s, s:o, s:s, s:s}", "private", m->is_private,
                        "neighbours", m->is_private ? tct_neighbours_name(m->neighbours) : "NONE", "epsilon",
                        m->is_private ? tct_json_real(m->epsilon) : json_string("NONE"), "delta",
                        m->is_private ? tct_json_real(m->delta) : json_string("NONE"), "accountant",
                        text_or_null(m->accountant), "events", tct_json_events(&m->events), "adaptive", m->adaptive,
                        "noise", m->reproducible ? "reproducible" : "system", "unaccounted",
                        texts(m->unaccounted, TCT_UNACCOUNTED), "trust", tct_model_trust(m), "unit", tct_model_unit(m));
  if (o && m->fits) fits_out(m, o);
  if (!o || !m->ledger_head) return o;
  json_t *entry = json_pack("{s:s, s:s}", "head", m->ledger_head, "run", m->run_id ? m->run_id : "");
  if (m->for_tests) json_object_set_new(entry, "for_tests", json_true());
  json_object_set_new(o, "ledger", entry);
  return o;
}

char *tct_model_json(const tct_model *m, tct_error *err) {
  json_t *o =
      json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "format", "tacit-model",
                "version", m->fits ? TCT_MODEL_VERSION : TCT_MODEL_FIRST, "library", TCT_VERSION, "loss", m->loss,
                "penalty", m->penalty, "solver", m->solver, "rows", (json_int_t)m->rows, "columns", (json_int_t)m->cols,
                "label", text_or_null(m->label), "labels", m->labels == TCT_LABELS_REAL ? "real" : "binary", "features",
                texts(m->features, m->cols), "coefficients", reals(m->coefficients, m->cols), "intercept",
                tct_json_real(m->intercept), "transforms", transforms_out(m), "privacy", privacy_out(m));
  if (o && m->note[0]) json_object_set_new(o, "note", json_string(m->note));
  if (o && m->inference.p) json_object_set_new(o, "inference", tct_inference_json(&m->inference));
  if (o && m->parties) json_object_set_new(o, "parties", json_loads(m->parties, 0, NULL));
  return tct_json_text(o, err);
}

/* Into the room that was taken before the run, if this is the name that it was taken for. */
tct_status tct_model_write(const tct_model *model, const char *path, tct_error *err) {
  tct_error_clear(err);
  char *text = tct_model_json(model, err);
  if (!text) return TCT_E_MEMORY;
  tct_outfile *out = model->output;
  int reserved = out && out->file && !strcmp(out->name, path);
  tct_status status = reserved ? tct_write_reserved(out, text, err) : tct_write_whole(path, text, err);
  tct_text_free(text);
  return status;
}

/* ---- in ---- */

static tct_status lacks(const char *key, tct_error *err) {
  return tct_fail(err, TCT_E_DATA, "the model file lacks a valid '%s'; it is damaged or not a tacit model", key);
}

static tct_status get_text(const json_t *o, const char *key, int needed, char **out, tct_error *err) {
  const char *text = json_string_value(json_object_get(o, key));
  if (!text) return needed ? lacks(key, err) : TCT_OK;
  *out = tct_text_copy(text);
  return *out ? TCT_OK : tct_fail_memory(err);
}

static tct_status get_reals(const json_t *o, const char *key, int64_t count, double **out, tct_error *err) {
  const json_t *array = json_object_get(o, key);
  if (json_is_null(array)) return TCT_OK;
  if (!json_is_array(array) || (int64_t)json_array_size(array) != count) return lacks(key, err);
  *out = TCT_NEW(double, count + 1);
  if (!*out) return tct_fail_memory(err);
  for (int64_t j = 0; j < count; j++)
    if (!tct_json_get_real(json_array_get(array, (size_t)j), &(*out)[j]) || !isfinite((*out)[j]))
      return lacks(key, err);
  return TCT_OK;
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

static tct_status get_transforms(const json_t *o, tct_model *m, tct_error *err) {
  if (!json_is_object(o)) return lacks("transforms", err);
  const json_t *schema = json_object_get(o, "schema");
  if (json_is_object(schema)) {
    char *text = json_dumps(schema, JSON_REAL_PRECISION(17));
    m->schema = tct_text_copy(text);
    free(text);
    if (!m->schema) return tct_fail_memory(err);
  }
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
  if (!json_is_boolean(json_object_get(o, "intercept"))) return lacks("intercept", err);
  m->has_intercept = json_is_true(json_object_get(o, "intercept"));
  m->penalised_intercept = json_is_true(json_object_get(o, "penalised_intercept"));
  return TCT_OK;
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

static tct_status get_fits(const json_t *o, tct_model *m, tct_error *err) {
  const json_t *fits = json_object_get(o, "fits"), *weights = json_object_get(o, "weights");
  m->weight_cap = NAN;
  if (m->version < TCT_MODEL_VERSION) return TCT_OK;
  if (!json_is_array(fits) || json_array_size(fits) < 1) return lacks("fits", err);
  if (!weights || (!json_is_null(weights) && !json_is_object(weights))) return lacks("weights", err);
  if (json_is_object(weights)) {
    TCT_TRY(get_real(weights, "cap", &m->weight_cap, err));
    if (!(m->weight_cap > 0) || !json_is_string(json_object_get(weights, "of"))) return lacks("weights", err);
  }
  TCT_TRY(get_text(o, "choice", 0, &m->choice, err));
  char *text = json_dumps(fits, JSON_COMPACT | JSON_REAL_PRECISION(17));
  m->fits = tct_text_copy(text);
  free(text);
  return m->fits ? TCT_OK : tct_fail_memory(err);
}

static tct_status get_privacy(const json_t *o, tct_model *m, tct_error *err) {
  if (!json_is_object(o) || !json_is_boolean(json_object_get(o, "private"))) return lacks("privacy", err);
  m->is_private = json_is_true(json_object_get(o, "private"));
  m->epsilon = INFINITY;
  m->delta = NAN;
  if (m->is_private) TCT_TRY(get_claim(o, m, err));
  const char *noise = json_string_value(json_object_get(o, "noise"));
  if (!noise || (strcmp(noise, "system") && strcmp(noise, "reproducible"))) return lacks("noise", err);
  m->reproducible = !strcmp(noise, "reproducible");
  m->adaptive = json_is_true(json_object_get(o, "adaptive"));
  const char *unit = json_string_value(json_object_get(o, "unit"));
  m->persons = unit && (!strcmp(unit, PERSON_REMOVED) || !strcmp(unit, PERSON_REPLACED));
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
  m->for_tests = json_is_true(json_object_get(ledger, "for_tests"));
  TCT_TRY(get_text(ledger, "head", 1, &m->ledger_head, err));
  return get_text(ledger, "run", 1, &m->run_id, err);
}

static tct_status get_model(const json_t *o, tct_model *m, tct_error *err) {
  const char *format = json_string_value(json_object_get(o, "format"));
  if (!format || strcmp(format, "tacit-model")) return lacks("format", err);
  m->version = (int)json_integer_value(json_object_get(o, "version"));
  if (m->version < TCT_MODEL_FIRST || m->version > TCT_MODEL_VERSION)
    return tct_fail(err, TCT_E_DATA,
                    "the model file has another version than this program reads; use a matching tacit");
  m->rows = json_integer_value(json_object_get(o, "rows"));
  m->cols = json_integer_value(json_object_get(o, "columns"));
  if (m->rows < 1 || m->cols < 1) return lacks("columns", err);
  TCT_TRY(get_text(o, "loss", 1, &m->loss, err));
  TCT_TRY(get_text(o, "penalty", 1, &m->penalty, err));
  TCT_TRY(get_text(o, "solver", 1, &m->solver, err));
  TCT_TRY(get_text(o, "label", 0, &m->label, err));
  const char *labels = json_string_value(json_object_get(o, "labels"));
  if (!labels || (strcmp(labels, "real") && strcmp(labels, "binary"))) return lacks("labels", err);
  m->labels = !strcmp(labels, "real") ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  TCT_TRY(get_features(o, m, err));
  TCT_TRY(get_reals(o, "coefficients", m->cols, &m->coefficients, err));
  if (!m->coefficients) return lacks("coefficients", err);
  TCT_TRY(get_real(o, "intercept", &m->intercept, err));
  if (!isfinite(m->intercept)) return lacks("intercept", err);
  TCT_TRY(get_transforms(json_object_get(o, "transforms"), m, err));
  const json_t *inference = json_object_get(o, "inference");
  if (inference) TCT_TRY(tct_inference_read(inference, m->cols + m->has_intercept, &m->inference, err));
  const json_t *note = json_object_get(o, "note"), *parties = json_object_get(o, "parties");
  if (note && !json_is_string(note)) return lacks("note", err);
  if (note) snprintf(m->note, sizeof m->note, "%s", json_string_value(note));
  if (parties && !json_is_object(parties)) return lacks("parties", err);
  if (parties) {
    char *text = json_dumps(parties, JSON_COMPACT | JSON_REAL_PRECISION(17));
    m->parties = tct_text_copy(text);
    free(text);
    if (!m->parties) return tct_fail_memory(err);
  }
  return get_privacy(json_object_get(o, "privacy"), m, err);
}

static tct_model *from_json(json_t *o, const char *file, const json_error_t *why, tct_error *err) {
  tct_error_clear(err);
  if (!o) {
    tct_fail_at(err, file, why->line > 0 ? why->line : 0, why->column > 0 ? why->column : 0,
                "not a readable JSON model file; check the path, or train again");
    return NULL;
  }
  tct_model *m = TCT_NEW(tct_model, 1);
  tct_status status = m ? get_model(o, m, err) : tct_fail_memory(err);
  json_decref(o);
  if (status == TCT_OK) return m;
  if (err && status == TCT_E_DATA) snprintf(err->file, sizeof err->file, "%s", file);
  tct_model_free(m);
  return NULL;
}

/* Coefficients are many; lists and objects are those of a schema, of fits and of errors. */
static const tct_json_most MOST = {.containers = 1 << 20, .values = 1 << 26};

tct_model *tct_model_read(const char *path, tct_error *err) {
  json_error_t why = {0};
  char *text;
  int64_t length;
  if (tct_json_file(path, &MOST, &text, &length, err) != TCT_OK) return NULL;
  json_t *o = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &why);
  tct_free(text);
  return from_json(o, path, &why, err);
}

tct_model *tct_model_parse(const char *json, tct_error *err) {
  json_error_t why = {0};
  if (tct_json_check("", json, (int64_t)strlen(json), &MOST, err) != TCT_OK) return NULL;
  return from_json(json_loads(json, JSON_REJECT_DUPLICATES, &why), "", &why, err);
}
