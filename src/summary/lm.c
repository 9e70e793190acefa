/* lm.c - linear models, means and correlations from the moments in a study's file, on the original scale.
 *
 * Of a category whose values all have an indicator, the first is left out of a model: the others are compared with
 * it. */
#include "core/alloc.h"
#include "core/spec.h"
#include "model/json.h"
#include "summary/lm.h"
#include "summary/summary.h"

#include <math.h>
#include <string.h>

static const json_t *member(const tct_lm *l, const char *key) { return json_object_get(l->asked, key); }

/* ---- the file --------------------------------------------------------------------------------------------------- */

static tct_status find_stage(tct_lm *l, const char *name, tct_error *err) {
  const json_t *stage;
  size_t k;
  int count = 0;
  json_array_foreach(json_object_get(l->file, "stages"), k, stage) {
    const char *own = tct_json_said(stage, "name");
    if (!json_object_get(stage, "moments") || (name && own && strcmp(own, name) != 0)) continue;
    l->stage = stage, count++;
  }
  if (count == 1) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  count ? "the file has several stages of moments; name one"
                        : "the file has no moments, or none in a stage of this name; release them by a study");
}

static double deviation_of(const json_t *stage, size_t release) {
  return json_number_value(json_object_get(json_array_get(json_object_get(stage, "releases"), release), "deviation"));
}

static tct_status take_schema(tct_lm *l, const json_t *moments, tct_error *err) {
  char *text = NULL, name[256];
  TCT_TRY(tct_json_compact(json_object_get(moments, "schema"), &text, err));
  tct_status status = tct_schema_load(&l->schema, NULL, text, &tct_limits_default, err);
  tct_free(text);
  TCT_TRY(status);
  int64_t p = l->p = l->schema.features;
  l->factor = TCT_NEW(double, 2 * p + 1), l->shift = l->factor + p;
  l->name = TCT_NEW(char *, p + 1), l->places = TCT_NEW(int64_t, p + 1);
  if (!l->factor || !l->name || !l->places) return tct_fail_memory(err);
  for (int64_t k = 0; k < l->schema.columns; k++) {
    const tct_column *c = &l->schema.column[k];
    bool number = c->kind == TCT_COLUMN_NUMBER;
    for (int64_t j = c->first; j < c->first + c->features; j++) {
      l->factor[j] = number ? 2 / (c->upper - c->lower) : 1;
      l->shift[j] = number ? -l->factor[j] * c->lower - 1 : 0;
    }
  }
  for (int64_t j = 0; j < p; j++) {
    tct_schema_feature(&l->schema, j, name, sizeof name);
    if (!(l->name[j] = tct_text_copy(name))) return tct_fail_memory(err);
  }
  return TCT_OK;
}

static tct_status load(tct_lm *l, const char *path, const char *text, const char *stage, tct_error *err) {
  TCT_TRY(tct_model_load(path, text, &l->file, err));
  TCT_TRY(find_stage(l, stage, err));
  const json_t *moments = json_object_get(l->stage, "moments");
  int64_t rows = json_integer_value(json_object_get(l->stage, "rows"));
  if (!json_is_object(json_object_get(moments, "schema")))
    return tct_fail(err, TCT_E_DATA, "the file holds no released moments; it is damaged or was edited");
  TCT_TRY(take_schema(l, moments, err));
  const double deviation[] = {deviation_of(l->stage, 1), deviation_of(l->stage, 2)};
  TCT_TRY(tct_moments_of_json(moments, l->p + 1, rows, deviation, &l->moments, err));
  return tct_linear_new(&l->moments, rows, &l->linear, err);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------ */

static const tct_column *column_of(const tct_lm *l, const char *name) {
  for (int64_t k = 0; k < l->schema.columns; k++)
    if (l->schema.column[k].features > 0 && !strcmp(l->schema.column[k].name, name)) return &l->schema.column[k];
  return NULL;
}

/* 1: the first value is what the others are compared with. */
static int64_t left_out(const tct_column *c) {
  return c->kind == TCT_COLUMN_CATEGORY && !c->dropped && c->features > 1;
}

/* The features of one word: a column, or one value of a category as "column=value". */
static tct_status features_of(const tct_lm *l, const char *name, int64_t *first, int64_t *count, tct_error *err) {
  const tct_column *c = column_of(l, name);
  if (c) return *first = c->first + left_out(c), *count = c->features - left_out(c), TCT_OK;
  for (int64_t j = 0; j < l->p; j++)
    if (!strcmp(l->name[j], name)) return *first = j, *count = 1, TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the moments have no column \"%.60s\"; name a column of the schema, or column=value", name);
}

/* The outcome; of a model that names none, the first one's. */
static tct_status take_label(tct_lm *l, tct_lm_model *m, tct_error *err) {
  const json_t *label = json_object_get(m->asked, "label");
  const char *name = json_string_value(label ? label : member(l, "label"));
  if (!name) return tct_fail(err, TCT_E_USAGE, "the outcome is a column's name");
  const tct_column *c = column_of(l, name);
  int64_t count;
  if (c && c->kind == TCT_COLUMN_CATEGORY)
    return tct_fail(err, TCT_E_USAGE, "\"%.60s\" has values and no numbers; name one of them as outcome: \"%.60s\"",
                    name, l->name[c->first]);
  return features_of(l, name, &m->label, &count, err);
}

/* to[..count] <- the features that are listed. */
static tct_status take_list(const tct_lm *l, const json_t *list, int64_t *to, int64_t *count, tct_error *err) {
  const json_t *one;
  size_t k;
  int64_t first, more;
  *count = 0;
  if (!json_is_array(list)) return tct_fail(err, TCT_E_USAGE, "features are a list of names; write them so");
  json_array_foreach((json_t *)list, k, one) {
    if (!json_is_string(one)) return tct_fail(err, TCT_E_USAGE, "features are a list of names; write them so");
    TCT_TRY(features_of(l, json_string_value(one), &first, &more, err));
    if (*count + more > l->p)
      return tct_fail(err, TCT_E_USAGE, "name each column once, and the outcome not among the features");
    for (int64_t j = 0; j < more; j++) to[(*count)++] = first + j;
  }
  return TCT_OK;
}

static void take_all(const tct_lm *l, tct_lm_model *m) {
  for (int64_t k = 0; k < l->schema.columns; k++) {
    const tct_column *c = &l->schema.column[k];
    bool own = m->label >= c->first && m->label < c->first + c->features;
    for (int64_t j = left_out(c); j < c->features && !own; j++) m->column[m->slopes++] = c->first + j;
  }
}

/* Those that a comparison leaves out go last. */
static tct_status take_fewer(tct_lm *l, tct_lm_model *m, tct_error *err) {
  const json_t *without = json_object_get(m->asked, "without");
  if (!without) return TCT_OK;
  TCT_TRY(take_list(l, without, l->places, &m->fewer, err));
  for (int64_t i = 0; i < m->fewer; i++) {
    int64_t at = 0;
    while (at < m->slopes - i && m->column[at] != l->places[i]) at++;
    if (at >= m->slopes - i)
      return tct_fail(err, TCT_E_USAGE, "what is left out for comparison must be among the features, once");
    for (; at + 1 < m->slopes; at++) m->column[at] = m->column[at + 1];
    m->column[m->slopes - 1] = l->places[i];
  }
  return TCT_OK;
}

static tct_status take_keys(const json_t *asked, const char *keys, tct_error *err) {
  const char *key;
  json_t *value;
  if (!json_is_object(asked))
    return tct_fail(err, TCT_E_USAGE, "what is asked of moments is one JSON object, e.g. {\"label\": \"income\"}");
  json_object_foreach((json_t *)asked, key, value) if (!tct_word_among(key, keys, ' ')) return tct_fail(
      err, TCT_E_USAGE, "moments are not asked for \"%.40s\"; leave it out", key);
  return TCT_OK;
}

static tct_status take_model(tct_lm *l, const json_t *asked, tct_error *err) {
  tct_lm_model *m = &l->model[l->models++];
  const json_t *ridge = json_object_get(asked, "ridge"), *features = json_object_get(asked, "features");
  bool known = !ridge || (json_is_number(ridge) && json_number_value(ridge) >= 0) ||
               (json_is_string(ridge) && !strcmp(json_string_value(ridge), "auto"));
  if (!known) return tct_fail(err, TCT_E_USAGE, "the ridge is a number from 0 on, or \"auto\"; correct it");
  m->asked = asked, m->column = TCT_NEW(int64_t, l->p + 1);
  if (!m->column) return tct_fail_memory(err);
  TCT_TRY(take_label(l, m, err));
  if (features)
    TCT_TRY(take_list(l, features, m->column, &m->slopes, err));
  else
    take_all(l, m);
  return take_fewer(l, m, err);
}

static tct_status take_beside(tct_lm *l, tct_error *err) {
  const json_t *beside = member(l, "beside"), *one;
  size_t k;
  if (beside && !(json_is_array(beside) && json_array_size(beside) < TCT_LM_MODELS))
    return tct_fail(err, TCT_E_USAGE, "models beside the first are a list, of at most %d", TCT_LM_MODELS - 1);
  json_array_foreach((json_t *)beside, k, one) {
    TCT_TRY(take_keys(one, " label features ridge ", err));
    TCT_TRY(take_model(l, one, err));
  }
  return TCT_OK;
}

static tct_status take_asked(tct_lm *l, const char *asked, tct_error *err) {
  l->asked = json_loads(asked, JSON_REJECT_DUPLICATES, NULL);
  TCT_TRY(take_keys(l->asked, " label features ridge best without level covariance beside ", err));
  l->level = member(l, "level") ? json_number_value(member(l, "level")) : 0.95;
  TCT_TRY(tct_summary_level(l->level, err));
  if (!member(l, "label") && json_object_size(l->asked) > (size_t)(member(l, "level") != NULL))
    return tct_fail(err, TCT_E_USAGE, "a model has an outcome; name it with {label}");
  if (!member(l, "label")) return TCT_OK;
  TCT_TRY(take_model(l, l->asked, err));
  return take_beside(l, err);
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static tct_status put_columns(const tct_lm *l, double reach, json_t *out, tct_error *err) {
  json_t *list = json_array();
  json_object_set_new(out, "columns", list);
  for (int64_t j = 0; j < l->p; j++) {
    tct_linear_figure mean, deviation;
    double a = l->factor[j];
    TCT_TRY(tct_linear_mean(&l->linear, j, &mean, err));
    TCT_TRY(tct_linear_deviation(&l->linear, j, &deviation, err));
    json_t *o = json_pack("{s:s}", "name", l->name[j]);
    double value = (mean.value - l->shift[j]) / a;
    tct_json_put(o, "mean", value), tct_json_put(o, "mean_error", mean.error / a);
    tct_json_put(o, "lower", value - reach * mean.error / a), tct_json_put(o, "upper", value + reach * mean.error / a);
    tct_json_put(o, "deviation", deviation.value / a), tct_json_put(o, "deviation_error", deviation.error / a);
    json_array_append_new(list, o);
  }
  return TCT_OK;
}

/* Rows of the lower triangle: of column i with those before it, and with itself. */
static tct_status put_correlations(const tct_lm *l, double reach, json_t *out, tct_error *err) {
  static const char *const keys[] = {"value", "lower", "upper"};
  static const double side[] = {0, -1, 1};
  json_t *o = json_object();
  json_object_set_new(out, "correlations", o);
  for (int k = 0; k < 3; k++) json_object_set_new(o, keys[k], json_array());
  for (int64_t i = 0; i < l->p; i++) {
    json_t *row[3] = {json_array(), json_array(), json_array()};
    for (int k = 0; k < 3; k++) json_array_append_new(json_object_get(o, keys[k]), row[k]);
    for (int64_t j = 0; j < i; j++) {
      tct_linear_figure z;
      TCT_TRY(tct_linear_correlation(&l->linear, i, j, &z, err));
      for (int k = 0; k < 3; k++) {
        double value = tanh(z.value + side[k] * reach * z.error);
        json_array_append_new(row[k], tct_json_finite(value));
      }
    }
    for (int k = 0; k < 3; k++) json_array_append_new(row[k], json_real(1));
  }
  return TCT_OK;
}

static tct_status put_table(const tct_lm *l, json_t *out, tct_error *err) {
  double reach = tct_student_quantile(l->level, INFINITY);
  TCT_TRY(put_columns(l, reach, out, err));
  return put_correlations(l, reach, out, err);
}

static json_t *answer(tct_lm *l, tct_error *err) {
  const json_t *claim = json_object_get(l->file, "claim");
  json_t *out = json_pack("{s:O, s:f, s:f, s:s}", "rows", json_object_get(l->stage, "rows"), "counted", l->linear.count,
                          "level", l->level, "errors", l->linear.fourth ? "robust" : "elliptic");
  static const char *const of_claim[] = {"epsilon", "delta", "neighbours", "unit"};
  if (!out) return tct_fail_memory(err), NULL;
  for (int k = 0; k < 4; k++) json_object_set(out, of_claim[k], json_object_get(claim, of_claim[k]));
  tct_status status = l->models ? tct_lm_put_models(l, out, err) : put_table(l, out, err);
  if (status == TCT_OK) return out;
  return json_decref(out), NULL;
}

char *tct_lm_json(const char *path, const char *text, const char *stage, const char *asked, tct_error *err) {
  tct_lm l = {0};
  tct_error own = {0};
  err = err ? err : &own;
  tct_error_clear(err);
  tct_status status = load(&l, path, text, stage, err);
  if (status == TCT_OK) status = take_asked(&l, asked ? asked : "{}", err);
  json_t *found = status == TCT_OK ? answer(&l, err) : NULL;
  char *out = found ? tct_json_text(found, err) : NULL;
  for (int64_t j = 0; l.name && j < l.p; j++) tct_free(l.name[j]);
  tct_free(l.name);
  tct_free(l.factor);
  tct_free(l.places);
  for (int k = 0; k < l.models; k++) {
    tct_free(l.model[k].column);
    json_decref(l.model[k].out);
    tct_linear_model_free(&l.model[k].fit);
  }
  tct_linear_free(&l.linear);
  tct_moments_free(&l.moments);
  tct_schema_free(&l.schema);
  json_decref(l.asked);
  json_decref(l.file);
  return out;
}
