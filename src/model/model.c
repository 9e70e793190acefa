/* model.c - a trained model: its end, what it tells programs, and its file out, written whole or not at all. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "model/json.h"
#include "model/model.h"

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
  tct_free(model->intercepts);
  tct_class_names_free(&model->classes);
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
  tct_free(model->estimate);
  tct_free(model->study);
  tct_free(model->asked);
  tct_free(model->ledger_head);
  tct_free(model->run_id);
  tct_free(model->warning);
  tct_inference_free(&model->inference);
  tct_inputs_free(&model->inputs);
  if (model->output) tct_outfile_abandon(model->output);
  tct_free(model->output);
  tct_free(model);
}

void tct_model_shape(const tct_model *model, int64_t *models, int64_t *cols) {
  if (models) *models = tct_model_models(model);
  if (cols) *cols = model->cols;
}
const double *tct_model_coefficients(const tct_model *model) { return model->coefficients; }
const char *tct_model_warning(const tct_model *model) { return model->warning; }
const char *tct_model_schema(const tct_model *model) { return model->schema; }

/* ---- out ---- */

static json_t *reals(const double *values, int64_t count) {
  return values ? tct_json_reals(values, count) : json_null();
}

/* One row as an array of numbers, several as an array of rows. */
static json_t *coefficients_out(const tct_model *m) {
  json_t *rows = json_array();
  if (m->models < 2) return json_decref(rows), reals(m->coefficients, m->cols);
  for (int64_t k = 0; rows && k < m->models; k++)
    json_array_append_new(rows, reals(m->coefficients + k * m->cols, m->cols));
  return rows;
}

static json_t *texts(char *const *list, int64_t count) {
  json_t *array = json_array();
  for (int64_t j = 0; array && j < count && list[j] && !tct_json_stops(j); j++) {
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

/* The last place takes what the list has no room for: a fact is never dropped. */
int tct_model_note(tct_model *model, const char *text) {
  char **at = model->unaccounted;
  while (*at && at < model->unaccounted + TCT_UNACCOUNTED - 1) at++;
  const char *before = *at ? *at : "", *between = *at ? "; " : "";
  size_t size = strlen(before) + strlen(between) + strlen(text) + 1;
  char *whole = TCT_NEW(char, (int64_t)size);
  if (!whole) return 0;
  snprintf(whole, size, "%s%s%s", before, between, text);
  tct_free(*at);
  *at = whole;
  return 1;
}

bool tct_model_tells(const tct_model *model, const char *fact) {
  for (int k = 0; k < TCT_UNACCOUNTED && model->unaccounted[k]; k++)
    if (!strcmp(model->unaccounted[k], fact)) return true;
  return false;
}

tct_status tct_model_tell(tct_model *model, char *const *facts, tct_error *err) {
  for (int i = 0; facts && facts[i]; i++)
    if (!tct_model_tells(model, facts[i]) && !tct_model_note(model, facts[i])) return tct_fail_memory(err);
  return TCT_OK;
}

const char *tct_model_trust(const tct_model *m) {
  bool apart = m->is_private && m->parties && strstr(m->parties, "\"apart\":true");
  if (apart && strstr(m->parties, "\"conditions\":["))
    return "No curator: each party holds its columns, and sees those of others masked; the server opens noisy sums. "
           "The "
           "claim rests on parties.conditions; see parties.observers.";
  if (apart)
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

bool tct_model_unit_persons(const char *unit) {
  return !strcmp(unit, PERSON_REMOVED) || !strcmp(unit, PERSON_REPLACED);
}

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
  if (m->estimate) json_object_set_new(o, "estimate", json_loads(m->estimate, 0, NULL));
}

json_t *tct_ledger_member(const tct_model *m, json_t *o) {
  if (!o || !m->ledger_head) return o;
  json_t *entry = json_pack("{s:s, s:s}", "head", m->ledger_head, "run", m->run_id ? m->run_id : "");
  if (m->for_tests) json_object_set_new(entry, "for_tests", json_true());
  json_object_set_new(o, "ledger", entry);
  return o;
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
  return tct_ledger_member(m, o);
}

char *tct_model_json(const tct_model *m, tct_error *err) {
  json_t *o = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "format",
                        "tacit-model", "version", m->classes.count ? TCT_MODEL_VERSION : TCT_MODEL_FITS, "library",
                        TCT_VERSION, "loss", m->loss, "penalty", m->penalty, "solver", m->solver, "rows",
                        (json_int_t)m->rows, "columns", (json_int_t)m->cols, "label", text_or_null(m->label), "labels",
                        m->labels == TCT_LABELS_REAL ? "real" : "binary", "features", texts(m->features, m->cols),
                        "coefficients", coefficients_out(m), "intercept",
                        m->models < 2 ? tct_json_real(m->intercept) : reals(m->intercepts, m->models), "transforms",
                        transforms_out(m), "privacy", privacy_out(m));
  if (o && m->classes.count) json_object_set_new(o, "classes", tct_class_names_json(&m->classes));
  if (o && m->note[0]) json_object_set_new(o, "note", json_string(m->note));
  if (o && m->inference.p) json_object_set_new(o, "inference", tct_inference_json(&m->inference));
  if (o && m->parties) json_object_set_new(o, "parties", json_loads(m->parties, 0, NULL));
  return tct_json_text(o, err);
}

void tct_model_digest(const tct_model *m, char hex[TCT_DIGEST_HEX]) {
  tct_digest d;
  size_t rows = (size_t)tct_model_models(m);
  tct_digest_start(&d);
  tct_digest_text(&d, m->loss);
  tct_digest_text(&d, m->label ? m->label : "");
  tct_digest_field(&d, 'W', m->coefficients, rows * (size_t)m->cols * sizeof *m->coefficients);
  tct_digest_field(&d, 'I', m->models < 2 ? &m->intercept : m->intercepts, rows * sizeof m->intercept);
  tct_digest_end(&d, hex);
}

/* Into the room that was taken before the run, if this is the name that it was taken for. */
tct_status tct_model_write(const tct_model *model, const char *path, tct_error *err) {
  tct_error_clear(err);
  if (model->study)
    return tct_fail(err, TCT_E_USAGE, "a model of a study is kept with its study, whose claim it has; copy that file");
  char *text = tct_model_json(model, err);
  if (!text) return TCT_E_MEMORY;
  tct_outfile other = {0}, *out = model->output;
  tct_status status = TCT_OK;
  if (!out || !out->file || !path || strcmp(out->to.name, path) != 0) {
    out = &other;
    status =
        tct_outfile_open(out, path, TCT_OUT_STREAM, model->from_file ? NULL : tct_inputs_list(&model->inputs), err);
  }
  if (status == TCT_OK) status = tct_outfile_commit_text(out, text, err);
  tct_text_free(text);
  return status;
}
