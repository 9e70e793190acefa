/* lm_models.c - models from released moments on the original scale, and what models of one release share.
 *
 * A feature is factor * value + shift of its column, value * 1 for an indicator.  With a, b those of the outcome and w
 * of the model in features, the slope of a column is w_j factor_j / a, and the constant (w_0 + sum_j w_j shift_j - b) /
 * a.  What moves the weights is turned likewise, so that covariances are those of the original scale. */
#include "core/alloc.h"
#include "summary/lm.h"
#include "summary/summary.h"

#include <math.h>
#include <string.h>

static json_t *asked_of(const tct_lm *l, const char *key) { return json_object_get(l->asked, key); }

static json_t *names_of(const tct_lm *l, const int64_t *column, int64_t count) {
  json_t *out = json_array();
  for (int64_t j = 0; j < count; j++) json_array_append_new(out, json_string(l->name[column[j]]));
  return out;
}

/* ---- one model -------------------------------------------------------------------------------------------------- */

static tct_status put_vif(const tct_lm *l, const tct_lm_model *m, json_t *out, tct_error *err) {
  double *vif = TCT_NEW(double, m->slopes + 1);
  tct_status status = vif ? tct_linear_vif(&l->linear, m->column, m->slopes, vif, err) : tct_fail_memory(err);
  for (int64_t j = 0; j < m->slopes && status == TCT_OK; j++)
    tct_json_put(json_array_get(json_object_get(out, "weights"), (size_t)j), "vif", vif[j]);
  tct_free(vif);
  return status;
}

static tct_status put_best(const tct_lm *l, const tct_lm_model *m, json_t *out, tct_error *err) {
  const json_t *most = json_object_get(m->asked, "best");
  int64_t count = json_integer_value(most);
  json_t *list = json_array();
  if (!most) return json_decref(list), TCT_OK;
  json_object_set_new(out, "best", list);
  if (!(count >= 1 && count <= m->slopes))
    return tct_fail(err, TCT_E_USAGE, "a best subset has at least one of the features, and at most all");
  int64_t *best = TCT_NEW(int64_t, count * count);
  double *r2 = TCT_NEW(double, count);
  tct_linear_subsets subsets = {.most = count, .best = best, .r2 = r2};
  tct_status status =
      best && r2 ? tct_linear_best(&l->linear, m->label, m->column, m->slopes, &subsets, err) : tct_fail_memory(err);
  for (int64_t k = 0; k < count && status == TCT_OK; k++) {
    if (!isfinite(r2[k])) continue;
    json_array_append_new(list, json_pack("{s:o, s:f}", "features", names_of(l, best + k * count, k + 1), "r2", r2[k]));
  }
  tct_free(best);
  tct_free(r2);
  return status;
}

static tct_status put_path(const tct_lm *l, const tct_lm_model *m, json_t *out, double *ridge, tct_error *err) {
  const json_t *asked = json_object_get(m->asked, "ridge");
  tct_linear_path path;
  *ridge = json_is_number(asked) ? json_number_value(asked) : 0;
  if (!json_is_string(asked)) return TCT_OK;
  TCT_TRY(tct_linear_ridge(&l->linear, m->label, m->column, m->slopes, &path, err));
  json_t *list = json_array();
  for (int k = 0; k < TCT_LINEAR_RIDGES; k++)
    json_array_append_new(list, json_pack("{s:f, s:f}", "ridge", path.ridge[k], "risk", path.risk[k]));
  json_object_set_new(out, "path", list);
  *ridge = path.ridge[path.best];
  return TCT_OK;
}

static tct_status put_comparison(const tct_lm *l, const tct_lm_model *m, json_t *out, tct_error *err) {
  tct_linear_wald wald;
  if (!m->fewer) return TCT_OK;
  TCT_TRY(tct_linear_compare(&m->fit, m->fewer, &wald, err));
  json_object_set_new(
      out, "comparison",
      json_pack("{s:o, s:f, s:I, s:f}", "without", names_of(l, m->column + m->slopes - m->fewer, m->fewer), "statistic",
                wald.statistic, "degrees", (json_int_t)wald.degrees, "p_value", wald.p));
  return TCT_OK;
}

/* fit <- on the original scale, with covariances still in features. */
static void to_original(const tct_lm *l, tct_lm_model *m) {
  tct_linear_model *fit = &m->fit;
  int64_t s = m->slopes, q = l->linear.q;
  double a = l->factor[m->label], *constant = fit->move + s * q;
  for (int64_t j = 0; j <= s; j++) { /* the constant first, by slopes in features */
    double *move = fit->move + (j == 0 ? s : j - 1) * q;
    for (int64_t i = 0; i < s && j == 0; i++) {
      fit->w[s] += l->shift[m->column[i]] * fit->w[i];
      for (int64_t k = 0; k < q; k++) constant[k] += l->shift[m->column[i]] * fit->move[i * q + k];
    }
    double by = j == 0 ? 1 / a : l->factor[m->column[j - 1]] / a;
    fit->w[j == 0 ? s : j - 1] *= by;
    for (int64_t k = 0; k < q; k++) move[k] *= by;
  }
  fit->w[s] -= l->shift[m->label] / a;
}

static tct_status put_model(const tct_lm *l, tct_lm_model *m, tct_error *err) {
  double ridge;
  json_t *out = m->out = json_object();
  TCT_TRY(put_path(l, m, out, &ridge, err));
  TCT_TRY(tct_linear_fit(&l->linear, m->label, m->column, m->slopes, ridge, &m->fit, err));
  json_object_set_new(out, "label", json_string(l->name[m->label]));
  tct_json_put(out, "ridge", ridge), tct_json_put(out, "r2", m->fit.r2), tct_json_put(out, "r2_noise", m->fit.r2_noise);
  tct_json_put(out, "residual", m->fit.residual / fabs(l->factor[m->label]));
  tct_json_put(out, "shrunk", m->fit.shrunk), tct_json_put(out, "cut", m->fit.cut);
  TCT_TRY(put_best(l, m, out, err));
  TCT_TRY(put_comparison(l, m, out, err));
  to_original(l, m);
  return TCT_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

/* The weights of all models, one after the other, as those of one model that has as many. */
typedef struct stack {
  int64_t count, *first; /* first: [models] */
  char **name;           /* [count] */
  char constant[12];     /* its name */
  double *w;             /* [count], and what errors holds */
  tct_inference errors;
  tct_original scale; /* each as it is, or the differences of two */
} stack;

static void stack_free(stack *s) {
  tct_free(s->first);
  tct_free(s->name);
  tct_free(s->w);
  tct_free(s->errors.why);
  tct_free(s->scale.name);
}

static tct_status stack_new(const tct_lm *l, stack *s, tct_error *err) {
  memcpy(s->constant, "(intercept)", sizeof s->constant);
  for (int k = 0; k < l->models; k++) s->count += l->model[k].fit.count;
  int64_t c = s->count;
  s->first = TCT_NEW(int64_t, l->models + 3 * c + 2), s->name = TCT_NEW(char *, c), s->errors.why = TCT_NEW(int32_t, c);
  s->w = TCT_NEW(double, 4 * c + 2 * c * c), s->scale.name = TCT_NEW(char *, c);
  if (!s->first || !s->name || !s->errors.why || !s->w || !s->scale.name) return tct_fail_memory(err);
  s->errors.p = c, s->errors.degrees = s->w + c;
  s->scale.value = s->w + 2 * c, s->errors.noise = s->w + 4 * c, s->errors.sampling = s->errors.noise + c * c;
  s->scale.start = s->first + l->models, s->scale.feature = s->scale.start + c + 2;
  int64_t at = 0;
  for (int k = 0; k < l->models; k++) {
    const tct_lm_model *m = &l->model[k];
    s->first[k] = at;
    for (int64_t j = 0; j < m->fit.count; j++, at++) {
      s->name[at] = j < m->slopes ? l->name[m->column[j]] : s->constant;
      s->w[at] = m->fit.w[j], s->errors.degrees[at] = INFINITY;
    }
  }
  return TCT_OK;
}

/* The covariances of models a and b, where they belong. */
static tct_status relate(const tct_lm *l, stack *s, int a, int b, tct_error *err) {
  const tct_linear_model *x = &l->model[a].fit, *y = &l->model[b].fit;
  double *noise = TCT_NEW(double, 2 * x->count * y->count), *sampling = noise + x->count * y->count;
  tct_status status = noise ? tct_linear_joint(&l->linear, x, y, noise, sampling, err) : tct_fail_memory(err);
  for (int64_t i = 0; i < x->count && status == TCT_OK; i++)
    for (int64_t j = 0; j < y->count; j++) {
      int64_t at = (s->first[a] + i) * s->count + s->first[b] + j;
      int64_t turned = (s->first[b] + j) * s->count + s->first[a] + i;
      s->errors.noise[at] = s->errors.noise[turned] = noise[i * y->count + j];
      s->errors.sampling[at] = s->errors.sampling[turned] = sampling[i * y->count + j];
    }
  tct_free(noise);
  return status;
}

static json_t *lines_of(const stack *s, double level, bool covariance) {
  const tct_model all = {.cols = s->count, .features = s->name, .coefficients = s->w, .inference = s->errors};
  return tct_summary_lines(&all, &s->scale, level, covariance);
}

/* Each model's lines, and the covariances of all. */
static tct_status put_lines(const tct_lm *l, stack *s, json_t *out, tct_error *err) {
  for (int64_t j = 0; j < s->count; j++)
    s->scale.start[j] = s->scale.feature[j] = j, s->scale.value[j] = 1, s->scale.name[j] = s->name[j];
  s->scale.start[s->count] = s->scale.start[s->count + 1] = s->count;
  bool beside = l->models > 1, wanted = beside || json_is_true(asked_of(l, "covariance"));
  json_t *lines = lines_of(s, l->level, wanted), *weights = json_object_get(lines, "weights"), *of = json_array();
  if (!lines) return json_decref(of), tct_fail_memory(err);
  for (int k = 0; k < l->models; k++) {
    const tct_lm_model *m = &l->model[k];
    json_t *own = json_array();
    for (int64_t j = 0; j < m->slopes; j++) json_array_append(own, json_array_get(weights, (size_t)(s->first[k] + j)));
    json_object_set_new(m->out, "weights", own);
    json_object_set(m->out, "intercept", json_array_get(weights, (size_t)(s->first[k] + m->slopes)));
    for (int64_t j = 0; j < m->fit.count; j++) json_array_append_new(of, json_integer(k));
  }
  json_t *covariance = json_object_get(lines, "covariance");
  if (beside) json_object_set(covariance, "models", of);
  if (wanted) json_object_set(out, beside ? "joint" : "covariance", covariance);
  json_decref(of), json_decref(lines);
  return TCT_OK;
}

/* Slopes of the first model less those of the same columns in each other. */
static tct_status put_differences(const tct_lm *l, stack *s, json_t *out, tct_error *err) {
  int64_t rows = 0;
  int of[TCT_LM_MODELS] = {0};
  for (int k = 1; k < l->models; k++)
    for (int64_t j = 0; j < l->model[k].slopes; j++)
      for (int64_t i = 0; i < l->model[0].slopes; i++) {
        if (l->model[0].column[i] != l->model[k].column[j]) continue;
        s->scale.start[rows] = 2 * rows, s->scale.name[rows] = s->name[i], of[k]++;
        s->scale.feature[2 * rows] = i, s->scale.feature[2 * rows + 1] = s->first[k] + j;
        s->scale.value[2 * rows] = 1, s->scale.value[2 * rows + 1] = -1, rows++;
      }
  for (int64_t j = rows; j < s->count + 2; j++) s->scale.start[j] = 2 * rows;
  json_t *lines = lines_of(s, l->level, false), *list = json_array();
  if (!lines) return json_decref(list), tct_fail_memory(err);
  for (int64_t j = 0, k = 1; j < rows; j++) {
    while (of[k] == 0) k++;
    of[k]--;
    json_t *line = json_array_get(json_object_get(lines, "weights"), (size_t)j);
    json_object_set_new(line, "beside", json_integer(k));
    json_array_append(list, line);
  }
  json_object_set_new(out, "differences", list);
  json_decref(lines);
  return TCT_OK;
}

static tct_status put_stack(tct_lm *l, stack *s, json_t *out, tct_error *err) {
  TCT_TRY(stack_new(l, s, err));
  for (int a = 0; a < l->models; a++)
    for (int b = 0; b <= a; b++) TCT_TRY(relate(l, s, a, b, err));
  TCT_TRY(put_lines(l, s, out, err));
  return l->models > 1 ? put_differences(l, s, out, err) : TCT_OK;
}

tct_status tct_lm_put_models(tct_lm *l, json_t *out, tct_error *err) {
  json_t *beside = json_array();
  stack s = {0};
  tct_status status = TCT_OK;
  for (int k = 0; k < l->models && status == TCT_OK; k++) status = put_model(l, &l->model[k], err);
  if (status == TCT_OK) status = put_stack(l, &s, out, err);
  for (int k = 0; k < l->models && status == TCT_OK; k++) {
    status = put_vif(l, &l->model[k], l->model[k].out, err);
    if (k > 0) json_array_append(beside, l->model[k].out);
  }
  if (status == TCT_OK) json_object_update(out, l->model[0].out);
  if (status == TCT_OK && l->models > 1) json_object_set(out, "beside", beside);
  json_decref(beside);
  stack_free(&s);
  return status;
}
