/* summary.c - the table of weights with their errors, intervals and tests, as JSON. */
#include "core/alloc.h"
#include "model/json.h"
#include "summary/noise_size.h"
#include "summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct summary {
  const tct_model *model;
  tct_original original;
  double level;
  double noise;       /* of every weight in the model's own columns, where it is known without covariances; NAN: not */
  double *c, *other;  /* [cols + 1]: sums of weights */
  const double *sums; /* [count][cols + 1] that are asked for; NULL: the weights of the columns */
  int64_t count;
  const char *ratio; /* what e^weight is; NULL: nothing */
} summary;

static const char *ratio_of(const tct_model *m) {
  tct_loss loss;
  if (tct_loss_make(m->loss, &loss, NULL) != TCT_OK) return NULL;
  if (loss.kind->link == TCT_LINK_LOGISTIC) return "odds ratio";
  if (loss.kind->link != TCT_LINK_LOG) return NULL;
  return loss.kind->follow_up ? "hazard ratio" : loss.kind->amounts ? "ratio of means" : "rate ratio";
}

/* The estimate of a sum of weights, constant left out. */
static double estimate_of(const summary *s) {
  const tct_model *m = s->model;
  double sum = m->has_intercept ? s->c[m->cols] * m->intercept : 0;
  for (int64_t j = 0; j < m->cols; j++) sum += s->c[j] * m->coefficients[j];
  return sum;
}

static void set_interval(json_t *o, const char *lower, const char *upper, double estimate, double half) {
  tct_json_put(o, lower, estimate - half);
  tct_json_put(o, upper, estimate + half);
}

static const char *const unknown = "no interval: this model was trained without standard errors";

/* Of one weight; how the noise of several goes together is not known. */
static double noise_alone(const summary *s) {
  double only = 0;
  int count = 0;
  for (int64_t j = 0; j <= s->model->cols; j++)
    if (s->c[j] != 0) only = fabs(s->c[j]), count++;
  return count == 1 ? only * s->noise : NAN;
}

static json_t *ratios(const json_t *line) {
  static const char *const keys[] = {"estimate", "lower", "upper", "noise_lower", "noise_upper"};
  json_t *o = json_object();
  for (int k = 0; k < 5; k++) {
    const json_t *value = json_object_get(line, keys[k]);
    tct_json_put(o, keys[k], json_is_number(value) ? exp(json_number_value(value)) : NAN);
  }
  return o;
}

static json_t *line(const summary *s, const char *name, double estimate) {
  tct_contrast errors = {.standard_error = NAN, .noise_error = NAN, .degrees = INFINITY};
  bool known = s->model->inference.p > 0;
  if (known) errors = tct_inference_contrast(&s->model->inference, s->c);
  if (!known) errors.noise_error = noise_alone(s);
  const char *note = known ? tct_withheld_text(errors.why) : unknown;
  double t = tct_student_quantile(s->level, errors.degrees), z = estimate / errors.standard_error;
  double part = errors.noise_error / errors.standard_error;
  json_t *o = json_pack("{s:o, s:o}", "name", name ? json_string(name) : json_null(), "estimate", json_real(estimate));
  if (o && name && json_is_null(json_object_get(o, "name"))) json_object_set_new(o, "name", json_string("?"));
  tct_json_put(o, "standard_error", errors.standard_error);
  set_interval(o, "lower", "upper", estimate, t * errors.standard_error);
  tct_json_put(o, "p_value", tct_student_tail(z, errors.degrees));
  tct_json_put(o, "noise_error", errors.noise_error);
  set_interval(o, "noise_lower", "noise_upper", estimate, t * errors.noise_error);
  tct_json_put(o, "z", z);
  tct_json_put(o, "degrees", errors.degrees);
  tct_json_put(o, "noise_part", part * part);
  json_object_set_new(o, "note", note[0] ? json_string(note) : json_null());
  json_object_set_new(o, "ratio", s->ratio ? ratios(o) : json_null());
  return o;
}

static const char *name_of(const summary *s, int64_t j) {
  if (j == s->model->cols) return "(intercept)";
  return s->original.name ? s->original.name[j] : s->model->features[j];
}

static void sum_of(const summary *s, int64_t j, double *c) {
  int64_t cols = s->model->cols;
  if (s->sums)
    memcpy(c, s->sums + j * (cols + 1), (size_t)(cols + 1) * sizeof *c);
  else
    tct_original_contrast(&s->original, cols, j, c);
}

static json_t *line_of(summary *s, int64_t j) {
  const tct_model *m = s->model;
  sum_of(s, j, s->c);
  double constant = s->c[m->cols] * s->original.constant;
  if (!m->has_intercept) s->c[m->cols] = 0;
  json_t *o = line(s, s->sums ? "" : name_of(s, j), estimate_of(s) + constant);
  if (!s->sums && j < m->cols && s->original.parts) json_object_set(o, "parts", s->original.parts[j]);
  return o;
}

/* ---- covariance ------------------------------------------------------------------------------------------------ */

static double between(const summary *s, const double *a, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k < p && s->c[j] != 0; k++) sum += s->c[j] * s->other[k] * a[j * p + k];
  return sum;
}

/* Of the weights in their order and then the intercept; null where one of the two is withheld. */
static json_t *covariance_row(summary *s, int64_t j, int64_t count, bool noise_alone) {
  const tct_inference *inference = &s->model->inference;
  json_t *row = json_array();
  for (int64_t k = 0; k < count; k++) {
    sum_of(s, j, s->c);
    sum_of(s, k, s->other);
    double value = between(s, inference->noise, inference->p);
    if (!noise_alone) value += between(s, inference->sampling, inference->p);
    bool given = tct_inference_contrast(inference, s->c).why == TCT_GIVEN &&
                 tct_inference_contrast(inference, s->other).why == TCT_GIVEN;
    json_array_append_new(row, given ? json_real(value) : json_null());
  }
  return row;
}

static json_t *covariance(summary *s) {
  int64_t count = s->sums ? s->count : s->model->cols + (s->original.has_intercept ? 1 : 0);
  json_t *all = json_array(), *noise = json_array(), *names = json_array();
  for (int64_t j = 0; j < count; j++) {
    json_array_append_new(names, json_string(s->sums ? "" : name_of(s, j)));
    json_array_append_new(all, covariance_row(s, j, count, false));
    json_array_append_new(noise, covariance_row(s, j, count, true));
  }
  return json_pack("{s:o, s:o, s:o}", "names", names, "population", all, "noise", noise);
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

static void loss_name(const tct_model *m, char *name, size_t size) {
  snprintf(name, size, "%.*s", (int)strcspn(m->loss, ":"), m->loss);
}

static json_t *targets(const tct_model *m) {
  tct_penalty penalty;
  tct_error why = {0};
  bool penalised = tct_penalty_make(m->penalty, &penalty, &why) == TCT_OK && penalty.l2 > 0;
  return json_pack(
      "{s:s, s:s}", "population",
      penalised ? "standard_error, lower, upper and p_value are for the weights that minimise the penalised loss over "
                  "the population that the records were drawn from; noise and sampling both count"
                : "standard_error, lower, upper and p_value are for the weights that minimise the loss over the "
                  "population that the records were drawn from; noise and sampling both count",
      "table",
      "noise_error, noise_lower and noise_upper are for the weights that the same fit of this table would have without "
      "noise");
}

static json_t *advice(const summary *s) {
  const tct_model *m = s->model;
  char text[400], loss[64];
  tct_loss kind;
  tct_error why = {0};
  if (m->inference.p) return json_null();
  loss_name(m, loss, sizeof loss);
  bool smooth = tct_loss_make(m->loss, &kind, &why) == TCT_OK && isfinite(kind.kind->curvature_bound(kind.h));
  if (m->models > 1)
    snprintf(text, sizeof text,
             "a model of several classes has no standard errors; train one class against the rest, with errors");
  else if (!m->is_private)
    snprintf(text, sizeof text, "no noise was added; what sampling adds is not known: train with errors \"model\"");
  else if (!smooth)
    snprintf(text, sizeof text,
             "the loss %s has no standard errors; train with logistic, squared, huber, poisson or gamma, and errors",
             loss);
  else
    snprintf(
        text, sizeof text,
        "what sampling adds is not known; training again with errors \"model\" (or \"robust\") spends a part of the "
        "budget on it");
  return json_string(text);
}

/* What is known of the noise without covariances, in the model's own columns. */
static json_t *known_noise(summary *s, tct_error *err) {
  tct_noise_size size = {.min = NAN, .max = NAN};
  int known = 0;
  s->noise = NAN;
  if (s->model->inference.p || tct_noise_size_of(s->model, &known, &size, err) != TCT_OK || !known) return json_null();
  if (size.min == size.max) s->noise = size.max;
  json_t *o = json_object();
  tct_json_put(o, "min", size.min), tct_json_put(o, "max", size.max);
  json_object_set_new(o, "how_min", size.how_min ? json_string(size.how_min) : json_null());
  json_object_set_new(o, "how_max", size.how_max ? json_string(size.how_max) : json_null());
  return o;
}

static json_t *weights_of(summary *s) {
  json_t *weights = json_array();
  for (int64_t j = 0; j < (s->sums ? s->count : s->model->cols); j++) json_array_append_new(weights, line_of(s, j));
  return weights;
}

/* Of a model of several classes: each with its own weights. */
static json_t *classes_of(const summary *s, tct_error *err) {
  json_t *list = json_array();
  for (int64_t k = 0; k < tct_model_models(s->model); k++) {
    tct_model row = tct_model_row(s->model, k);
    summary own = *s;
    own.model = &row;
    json_decref(known_noise(&own, err));
    json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "class", s->model->classes.name[k], "intercept",
                                          s->original.has_intercept ? line_of(&own, row.cols) : json_null(), "weights",
                                          weights_of(&own)));
  }
  return list;
}

/* Of follow-up times, where a check of proportional hazards was released. */
static json_t *change_of(const summary *s) {
  tct_model late = *s->model;
  summary own = *s;
  late.coefficients = s->model->inference.change, late.inference = *s->model->inference.of_change;
  own.model = &late;
  return weights_of(&own);
}

static json_t *build(summary *s, int with_covariance, tct_error *err) {
  const tct_model *m = s->model;
  json_t *noise = known_noise(s, err), *weights = weights_of(s);
  json_t *o = json_pack(
      "{s:f, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:I, s:b, s:o, s:o, s:s, s:o, s:o}", "level", s->level, "weights",
      weights, "intercept", s->original.has_intercept && !s->sums ? line_of(s, m->cols) : json_null(), "targets",
      targets(m), "errors", m->inference.p ? json_string(m->inference.robust ? "robust" : "model") : json_null(),
      "loss", m->loss, "penalty", m->penalty, "solver", m->solver, "rows", (json_int_t)m->rows, "private",
      m->is_private, "epsilon", tct_json_real(m->is_private ? m->epsilon : NAN), "delta", tct_json_real(m->delta),
      "neighbours", m->is_private ? tct_neighbours_name(m->neighbours) : "NONE", "noise", noise, "advice", advice(s));
  if (o) json_object_set_new(o, "ratio", s->ratio ? json_string(s->ratio) : json_null());
  if (o) tct_json_put(o, "residual_scale", m->inference.p ? m->inference.residual : NAN);
  if (o && m->models > 1) {
    json_object_set_new(o, "classes", classes_of(s, err));
    json_object_set_new(o, "weights", json_array());
    json_object_set_new(o, "intercept", json_null());
  }
  if (o && m->inference.change) json_object_set_new(o, "change", change_of(s));
  if (o && with_covariance) json_object_set_new(o, "covariance", m->inference.p ? covariance(s) : json_null());
  return o;
}

json_t *tct_summary_lines(const tct_model *model, const tct_original *original, double level, bool with_covariance) {
  summary s = {.model = model, .original = *original, .level = level, .noise = NAN};
  json_t *out = NULL;
  s.c = TCT_NEW(double, model->cols + 1);
  s.other = TCT_NEW(double, model->cols + 1);
  if (s.c && s.other) out = json_pack("{s:o, s:o}", "weights", weights_of(&s), "intercept", line_of(&s, model->cols));
  if (out && with_covariance) json_object_set_new(out, "covariance", covariance(&s));
  tct_free(s.c);
  tct_free(s.other);
  return out;
}

tct_status tct_summary_level(double level, tct_error *err) {
  if (level > 0 && level < 1) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the level of an interval must lie strictly between 0 and 1; give e.g. 0.95");
}

/* The weights once more, numbers counted from the middle of their bounds.  Sums for 0 of a number that is far from 0
 * hold every weight that is withheld, and these do not. */
static tct_status add_middle(summary *s, json_t *o, tct_error *err) {
  if (s->sums || !s->original.parts || s->model->models > 1) return TCT_OK;
  tct_original raw = s->original;
  tct_status status = tct_original_new(s->model, true, &s->original, err);
  if (status == TCT_OK)
    json_object_set_new(o, "middle",
                        json_pack("{s:o, s:o}", "weights", weights_of(s), "intercept",
                                  raw.has_intercept ? line_of(s, s->model->cols) : json_null()));
  tct_original_free(&s->original, s->model->cols);
  s->original = raw;
  return status;
}

static char *told(summary *s, int covariance, tct_error *err) {
  tct_error_clear(err);
  if (tct_summary_level(s->level, err) != TCT_OK) return NULL;
  int64_t cols = s->model->cols;
  s->ratio = ratio_of(s->model);
  s->c = TCT_NEW(double, cols + 1);
  s->other = TCT_NEW(double, cols + 1);
  tct_status status = s->c && s->other ? tct_original_new(s->model, false, &s->original, err) : tct_fail_memory(err);
  json_t *all = status == TCT_OK ? build(s, covariance, err) : NULL;
  if (all) status = add_middle(s, all, err);
  char *text = status == TCT_OK ? tct_json_text(all, err) : NULL;
  if (status != TCT_OK) json_decref(all);
  tct_original_free(&s->original, cols);
  tct_free(s->c);
  tct_free(s->other);
  return text;
}

char *tct_summary_json(const tct_model *model, double level, int with_covariance, const double *sums, int64_t count,
                       tct_error *err) {
  for (int64_t i = 0; sums && i < count * (model->cols + 1); i++)
    if (!isfinite(sums[i])) count = -1;
  if (sums && (count < 0 || model->models > 1))
    return tct_fail(err, TCT_E_USAGE, "a sum of weights is of numbers, and of a model of one outcome; give other ones"),
           NULL;
  return told(&(summary){.model = model, .level = level, .sums = sums, .count = count}, with_covariance, err);
}
