/* lm.c - linear models, means and correlations from the moments in a study's file, on the original scale.
 *
 * A feature is factor * value + shift of its column, value * 1 for an indicator.  With a, b those of the outcome and w
 * of the model in features, the slope of a column is w_j factor_j / a, and the constant (w_0 + sum_j w_j shift_j - b) /
 * a. Of a category whose values all have an indicator, the first is left out of a model: the others are compared with
 * it. */
#include "core/alloc.h"
#include "core/spec.h"
#include "linear/linear.h"
#include "model/json.h"
#include "read/schema/schema.h"
#include "summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct lm {
  json_t *file, *asked;
  const json_t *stage; /* of the file */
  tct_schema schema;
  tct_moments moments;
  tct_linear linear;
  int64_t p;              /* features of the schema */
  double *factor, *shift; /* [p] */
  char **name;            /* [p] */
  double level;
  /* of one model */
  int64_t label, slopes, fewer; /* fewer: slopes at the end that a comparison leaves out */
  int64_t *column, *places;     /* [p] */
} lm;

static const json_t *member(const lm *l, const char *key) { return json_object_get(l->asked, key); }

static void set_real(json_t *o, const char *key, double value) {
  json_object_set_new(o, key, isfinite(value) ? json_real(value) : json_null());
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static tct_status find_stage(lm *l, const char *name, tct_error *err) {
  const json_t *stage;
  size_t k;
  int count = 0;
  json_array_foreach(json_object_get(l->file, "stages"), k, stage) {
    const char *own = json_string_value(json_object_get(stage, "name"));
    if (!json_object_get(stage, "moments") || (name && own && strcmp(own, name) != 0)) continue;
    l->stage = stage, count++;
  }
  if (count == 1) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  count ? "the file has several stages of moments; name one"
                        : "the file has no moments, or none in a stage of this name; release them by a study");
}

static double deviation_of(const json_t *stage) {
  return json_number_value(json_object_get(json_array_get(json_object_get(stage, "releases"), 1), "deviation"));
}

static tct_status take_schema(lm *l, const json_t *moments, tct_error *err) {
  char *text = NULL, name[256];
  TCT_TRY(tct_json_compact(json_object_get(moments, "schema"), &text, err));
  tct_status status = tct_schema_load(&l->schema, NULL, text, &tct_limits_default, err);
  tct_free(text);
  TCT_TRY(status);
  int64_t p = l->p = l->schema.features;
  l->factor = TCT_NEW(double, 2 * p + 1), l->shift = l->factor + p;
  l->name = TCT_NEW(char *, p + 1), l->column = TCT_NEW(int64_t, 2 * p + 1), l->places = l->column + p;
  if (!l->factor || !l->name || !l->column) return tct_fail_memory(err);
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

static tct_status load(lm *l, const char *path, const char *text, const char *stage, tct_error *err) {
  TCT_TRY(tct_model_load(path, text, &l->file, err));
  TCT_TRY(find_stage(l, stage, err));
  const json_t *moments = json_object_get(l->stage, "moments");
  int64_t rows = json_integer_value(json_object_get(l->stage, "rows"));
  if (!json_is_object(json_object_get(moments, "schema")))
    return tct_fail(err, TCT_E_DATA, "the file holds no released moments; it is damaged or was edited");
  TCT_TRY(take_schema(l, moments, err));
  TCT_TRY(tct_moments_of_json(moments, l->p + 1, rows, deviation_of(l->stage), &l->moments, err));
  return tct_linear_new(&l->moments, rows, &l->linear, err);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------ */

static const tct_column *column_of(const lm *l, const char *name) {
  for (int64_t k = 0; k < l->schema.columns; k++)
    if (l->schema.column[k].features > 0 && !strcmp(l->schema.column[k].name, name)) return &l->schema.column[k];
  return NULL;
}

/* 1: the first value is what the others are compared with. */
static int64_t left_out(const tct_column *c) {
  return c->kind == TCT_COLUMN_CATEGORY && !c->dropped && c->features > 1;
}

/* The features of one word: a column, or one value of a category as "column=value". */
static tct_status features_of(const lm *l, const char *name, int64_t *first, int64_t *count, tct_error *err) {
  const tct_column *c = column_of(l, name);
  if (c) return *first = c->first + left_out(c), *count = c->features - left_out(c), TCT_OK;
  for (int64_t j = 0; j < l->p; j++)
    if (!strcmp(l->name[j], name)) return *first = j, *count = 1, TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the moments have no column \"%.60s\"; name a column of the schema, or column=value", name);
}

static tct_status take_label(lm *l, tct_error *err) {
  const char *name = json_string_value(member(l, "label"));
  const tct_column *c = column_of(l, name);
  int64_t count;
  if (c && c->kind == TCT_COLUMN_CATEGORY)
    return tct_fail(err, TCT_E_USAGE, "\"%.60s\" has values and no numbers; name one of them as outcome: \"%.60s\"",
                    name, l->name[c->first]);
  return features_of(l, name, &l->label, &count, err);
}

/* to[..count] <- the features that are listed. */
static tct_status take_list(const lm *l, const json_t *list, int64_t *to, int64_t *count, tct_error *err) {
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

static void take_all(lm *l) {
  for (int64_t k = 0; k < l->schema.columns; k++) {
    const tct_column *c = &l->schema.column[k];
    bool own = l->label >= c->first && l->label < c->first + c->features;
    for (int64_t j = left_out(c); j < c->features && !own; j++) l->column[l->slopes++] = c->first + j;
  }
}

/* Those that a comparison leaves out go last. */
static tct_status take_fewer(lm *l, tct_error *err) {
  if (!member(l, "without")) return TCT_OK;
  TCT_TRY(take_list(l, member(l, "without"), l->places, &l->fewer, err));
  for (int64_t i = 0; i < l->fewer; i++) {
    int64_t at = 0;
    while (at < l->slopes - i && l->column[at] != l->places[i]) at++;
    if (at >= l->slopes - i)
      return tct_fail(err, TCT_E_USAGE, "what is left out for comparison must be among the features, once");
    for (; at + 1 < l->slopes; at++) l->column[at] = l->column[at + 1];
    l->column[l->slopes - 1] = l->places[i];
  }
  return TCT_OK;
}

static tct_status take_asked(lm *l, const char *asked, tct_error *err) {
  static const char keys[] = " label features ridge best without level covariance ";
  const char *key;
  json_t *value;
  l->asked = json_loads(asked, JSON_REJECT_DUPLICATES, NULL);
  if (!json_is_object(l->asked))
    return tct_fail(err, TCT_E_USAGE, "what is asked of moments is one JSON object, e.g. {\"label\": \"income\"}");
  json_object_foreach(l->asked, key, value) if (!tct_word_among(key, keys, ' ')) return tct_fail(
      err, TCT_E_USAGE, "moments are not asked for \"%.40s\"; leave it out", key);
  l->level = member(l, "level") ? json_number_value(member(l, "level")) : 0.95;
  TCT_TRY(tct_summary_level(l->level, err));
  const json_t *ridge = member(l, "ridge");
  bool known = !ridge || (json_is_number(ridge) && json_number_value(ridge) >= 0) ||
               (json_is_string(ridge) && !strcmp(json_string_value(ridge), "auto"));
  if (!known) return tct_fail(err, TCT_E_USAGE, "the ridge is a number from 0 on, or \"auto\"; correct it");
  if (!member(l, "label") && json_object_size(l->asked) > (size_t)(member(l, "level") != NULL))
    return tct_fail(err, TCT_E_USAGE, "a model has an outcome; name it with {label}");
  if (!member(l, "label")) return TCT_OK;
  if (!json_is_string(member(l, "label"))) return tct_fail(err, TCT_E_USAGE, "the outcome is a column's name");
  TCT_TRY(take_label(l, err));
  if (member(l, "features"))
    TCT_TRY(take_list(l, member(l, "features"), l->column, &l->slopes, err));
  else
    take_all(l);
  return take_fewer(l, err);
}

/* ---- one model -------------------------------------------------------------------------------------------------- */

/* The model as one whose label is on its own scale. */
static json_t *lines(const lm *l, const tct_linear_model *own, tct_error *err) {
  int64_t s = l->slopes, k = own->count;
  double a = l->factor[l->label], *memory = TCT_NEW(double, k + 2 * k * k + k + 2 * s + 1);
  int64_t *start = TCT_NEW(int64_t, 2 * k + 2 * s + 3);
  char **names = TCT_NEW(char *, s + 1);
  int32_t *why = TCT_NEW(int32_t, k);
  json_t *out = NULL;
  if (memory && start && names && why) {
    tct_inference errors = {.p = k, .sampling = memory + k, .noise = memory + k + k * k, .why = why};
    errors.degrees = memory + k + 2 * k * k;
    for (int64_t j = 0; j < k; j++) memory[j] = own->w[j] / a, errors.degrees[j] = INFINITY;
    for (int64_t j = 0; j < k * k; j++)
      errors.sampling[j] = own->sampling[j] / (a * a), errors.noise[j] = own->noise[j] / (a * a);
    tct_original scale = {.start = start, .feature = start + s + 2, .value = errors.degrees + k};
    scale.constant = -l->shift[l->label] / a, scale.has_intercept = true;
    for (int64_t j = 0; j < s; j++) { /* a slope has one entry, the constant one for each slope */
      names[j] = l->name[l->column[j]];
      scale.start[j] = j, scale.feature[j] = scale.feature[s + j] = j;
      scale.value[j] = l->factor[l->column[j]], scale.value[s + j] = l->shift[l->column[j]];
    }
    scale.start[s] = s, scale.start[s + 1] = 2 * s;
    const tct_model model = {.cols = s,
                             .features = names,
                             .coefficients = memory,
                             .has_intercept = 1,
                             .intercept = memory[s],
                             .inference = errors};
    out = tct_summary_lines(&model, &scale, l->level, json_is_true(member(l, "covariance")));
  }
  tct_free(memory);
  tct_free(start);
  tct_free(names);
  tct_free(why);
  if (!out) tct_fail_memory(err);
  return out;
}

static json_t *names_of(const lm *l, const int64_t *column, int64_t count) {
  json_t *out = json_array();
  for (int64_t j = 0; j < count; j++) json_array_append_new(out, json_string(l->name[column[j]]));
  return out;
}

static tct_status put_vif(const lm *l, json_t *out, tct_error *err) {
  double *vif = TCT_NEW(double, l->slopes + 1);
  tct_status status = vif ? tct_linear_vif(&l->linear, l->column, l->slopes, vif, err) : tct_fail_memory(err);
  for (int64_t j = 0; j < l->slopes && status == TCT_OK; j++)
    set_real(json_array_get(json_object_get(out, "weights"), (size_t)j), "vif", vif[j]);
  tct_free(vif);
  return status;
}

static tct_status put_best(const lm *l, json_t *out, tct_error *err) {
  const json_t *most = member(l, "best");
  int64_t count = json_integer_value(most);
  json_t *list = json_array();
  if (!most) return json_decref(list), TCT_OK;
  json_object_set_new(out, "best", list);
  if (!(count >= 1 && count <= l->slopes))
    return tct_fail(err, TCT_E_USAGE, "a best subset has at least one of the features, and at most all");
  int64_t *best = TCT_NEW(int64_t, count * count);
  double *r2 = TCT_NEW(double, count);
  tct_linear_subsets subsets = {.most = count, .best = best, .r2 = r2};
  tct_status status =
      best && r2 ? tct_linear_best(&l->linear, l->label, l->column, l->slopes, &subsets, err) : tct_fail_memory(err);
  for (int64_t k = 0; k < count && status == TCT_OK; k++) {
    if (!isfinite(r2[k])) continue;
    json_array_append_new(list, json_pack("{s:o, s:f}", "features", names_of(l, best + k * count, k + 1), "r2", r2[k]));
  }
  tct_free(best);
  tct_free(r2);
  return status;
}

static tct_status put_path(const lm *l, json_t *out, double *ridge, tct_error *err) {
  const json_t *asked = member(l, "ridge");
  tct_linear_path path;
  *ridge = json_is_number(asked) ? json_number_value(asked) : 0;
  if (!json_is_string(asked)) return TCT_OK;
  TCT_TRY(tct_linear_ridge(&l->linear, l->label, l->column, l->slopes, &path, err));
  json_t *list = json_array();
  for (int k = 0; k < TCT_LINEAR_RIDGES; k++)
    json_array_append_new(list, json_pack("{s:f, s:f}", "ridge", path.ridge[k], "risk", path.risk[k]));
  json_object_set_new(out, "path", list);
  *ridge = path.ridge[path.best];
  return TCT_OK;
}

static tct_status put_comparison(const lm *l, const tct_linear_model *model, json_t *out, tct_error *err) {
  tct_linear_wald wald;
  if (!l->fewer) return TCT_OK;
  TCT_TRY(tct_linear_compare(model, l->fewer, &wald, err));
  json_object_set_new(
      out, "comparison",
      json_pack("{s:o, s:f, s:I, s:f}", "without", names_of(l, l->column + l->slopes - l->fewer, l->fewer), "statistic",
                wald.statistic, "degrees", (json_int_t)wald.degrees, "p_value", wald.p));
  return TCT_OK;
}

static tct_status put_model(const lm *l, json_t *out, tct_error *err) {
  tct_linear_model model = {0};
  double ridge;
  TCT_TRY(put_path(l, out, &ridge, err));
  tct_status status = tct_linear_fit(&l->linear, l->label, l->column, l->slopes, ridge, &model, err);
  json_t *own = status == TCT_OK ? lines(l, &model, err) : NULL;
  if (own) {
    json_object_update(out, own);
    json_object_set_new(out, "label", json_string(l->name[l->label]));
    set_real(out, "ridge", ridge), set_real(out, "r2", model.r2), set_real(out, "r2_noise", model.r2_noise);
    set_real(out, "residual", model.residual / fabs(l->factor[l->label]));
    set_real(out, "shrunk", model.shrunk), set_real(out, "cut", model.cut);
  }
  if (status == TCT_OK) status = own ? put_vif(l, out, err) : TCT_E_MEMORY;
  if (status == TCT_OK) status = put_best(l, out, err);
  if (status == TCT_OK) status = put_comparison(l, &model, out, err);
  json_decref(own);
  tct_linear_model_free(&model);
  return status;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static tct_status put_columns(const lm *l, double reach, json_t *out, tct_error *err) {
  json_t *list = json_array();
  json_object_set_new(out, "columns", list);
  for (int64_t j = 0; j < l->p; j++) {
    tct_linear_figure mean, deviation;
    double a = l->factor[j];
    TCT_TRY(tct_linear_mean(&l->linear, j, &mean, err));
    TCT_TRY(tct_linear_deviation(&l->linear, j, &deviation, err));
    json_t *o = json_pack("{s:s}", "name", l->name[j]);
    double value = (mean.value - l->shift[j]) / a;
    set_real(o, "mean", value), set_real(o, "mean_error", mean.error / a);
    set_real(o, "lower", value - reach * mean.error / a), set_real(o, "upper", value + reach * mean.error / a);
    set_real(o, "deviation", deviation.value / a), set_real(o, "deviation_error", deviation.error / a);
    json_array_append_new(list, o);
  }
  return TCT_OK;
}

/* Rows of the lower triangle: of column i with those before it, and with itself. */
static tct_status put_correlations(const lm *l, double reach, json_t *out, tct_error *err) {
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
        json_array_append_new(row[k], isfinite(value) ? json_real(value) : json_null());
      }
    }
    for (int k = 0; k < 3; k++) json_array_append_new(row[k], json_real(1));
  }
  return TCT_OK;
}

static tct_status put_table(const lm *l, json_t *out, tct_error *err) {
  double reach = tct_student_quantile(l->level, INFINITY);
  TCT_TRY(put_columns(l, reach, out, err));
  return put_correlations(l, reach, out, err);
}

static json_t *answer(const lm *l, tct_error *err) {
  const json_t *claim = json_object_get(l->file, "claim");
  json_t *out = json_pack("{s:O, s:f, s:f, s:s}", "rows", json_object_get(l->stage, "rows"), "counted", l->linear.count,
                          "level", l->level, "errors", "elliptic");
  static const char *const of_claim[] = {"epsilon", "delta", "neighbours", "unit"};
  if (!out) return tct_fail_memory(err), NULL;
  for (int k = 0; k < 4; k++) json_object_set(out, of_claim[k], json_object_get(claim, of_claim[k]));
  tct_status status = member(l, "label") ? put_model(l, out, err) : put_table(l, out, err);
  if (status == TCT_OK) return out;
  return json_decref(out), NULL;
}

char *tct_lm_json(const char *path, const char *text, const char *stage, const char *asked, tct_error *err) {
  lm l = {0};
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
  tct_free(l.column);
  tct_linear_free(&l.linear);
  tct_moments_free(&l.moments);
  tct_schema_free(&l.schema);
  json_decref(l.asked);
  json_decref(l.file);
  return out;
}
