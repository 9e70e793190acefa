/* many.c - models of several classes: the rows of coefficients, the classes' names, and rows put into one model. */
#include "core/alloc.h"
#include "model/json.h"
#include "model/model.h"

#include <string.h>

int64_t tct_model_models(const tct_model *model) { return model->models > 1 ? model->models : 1; }
const double *tct_model_intercepts(const tct_model *model) {
  return model->intercepts ? model->intercepts : &model->intercept;
}
int64_t tct_model_classes(const tct_model *model) { return model->classes.count; }
const char *tct_model_class(const tct_model *model, int64_t k) {
  return k >= 0 && k < model->classes.count ? model->classes.name[k] : NULL;
}
tct_class_kind tct_model_class_kind(const tct_model *model) { return (tct_class_kind)model->classes.kind; }

tct_model tct_model_row(const tct_model *model, int64_t k) {
  tct_model row = *model;
  row.models = 1;
  row.coefficients = model->coefficients + k * model->cols;
  row.intercept = tct_model_intercepts(model)[k];
  row.intercepts = NULL;
  return row;
}

tct_status tct_model_make_rows(tct_model *model, int64_t models, tct_error *err) {
  double *coefficients = TCT_NEW(double, models * model->cols + 1);
  double *intercepts = models > 1 ? TCT_NEW(double, models) : NULL;
  if (!coefficients || (models > 1 && !intercepts)) {
    tct_free(coefficients);
    tct_free(intercepts);
    return tct_fail_memory(err);
  }
  tct_free(model->coefficients);
  tct_free(model->intercepts);
  model->models = models;
  model->coefficients = coefficients;
  model->intercepts = intercepts;
  return TCT_OK;
}

tct_status tct_model_name_classes(tct_model *model, const char *const *names, int64_t count, int32_t kind,
                                  tct_error *err) {
  int64_t models = tct_model_models(model);
  if (!model->fits) return tct_fail(err, TCT_E_USAGE, "a model file of form 1 has no place for classes; train again");
  if (model->labels != TCT_LABELS_BINARY)
    return tct_fail(err, TCT_E_USAGE, "a model of numbers has no classes; leave the classes away");
  if (count != (models > 1 ? models : 2))
    return tct_fail(err, TCT_E_USAGE,
                    "the model has %lld classes, and another number of names is given; name each once",
                    (long long)(models > 1 ? models : 2));
  return tct_class_names_set(&model->classes, names, count, kind, err);
}

/* ---- several models become one ------------------------------------------------------------------------------- */

/* All that the file says but for the weights. */
static json_t *rest_of(const tct_model *model, tct_error *err) {
  char *text = tct_model_json(model, err);
  json_t *rest = text ? json_loads(text, 0, NULL) : NULL;
  tct_text_free(text);
  if (!rest) return tct_fail_memory(err), NULL;
  json_object_del(rest, "coefficients");
  json_object_del(rest, "intercept");
  json_object_del(rest, "note");
  return rest;
}

/* The fits that the models claim to be all of: as many as there are models. */
static bool claims_all(const tct_model *model, int64_t count) {
  json_t *fits = model->fits ? json_loads(model->fits, 0, NULL) : NULL, *fit;
  bool all = !model->is_private;
  size_t i;
  json_array_foreach(fits, i, fit) all |= json_integer_value(json_object_get(fit, "count")) == count;
  json_decref(fits);
  return all;
}

static tct_status check(tct_model *const *models, int64_t count, json_t *rest, tct_error *err) {
  if (count < 3) return tct_fail(err, TCT_E_USAGE, "two classes are one model's; join the models of three and more");
  for (int64_t k = 0; k < count; k++) {
    if (models[k]->models > 1 || models[k]->labels != TCT_LABELS_BINARY || models[k]->inference.p)
      return tct_fail(err, TCT_E_USAGE,
                      "a model to be joined is no classifier of one class, or has standard errors, which one file of "
                      "several classes does not hold; keep it apart");
    json_t *other = rest_of(models[k], err);
    bool same = other && json_equal(rest, other);
    json_decref(other);
    if (!other) return TCT_E_MEMORY;
    if (!same)
      return tct_fail(err, TCT_E_USAGE,
                      "the models differ in more than their weights; join those of one call of tct_fit_classes");
  }
  if (claims_all(models[0], count)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the claim of the models is of another number of fits; join all models of one composition");
}

/* A copy of everything by way of the file's own text: what it does not say, the new model does not know. */
static tct_model *copy(const tct_model *model, tct_error *err) {
  char *text = tct_model_json(model, err);
  tct_model *made = text ? tct_model_parse(text, err) : NULL;
  tct_text_free(text);
  return made;
}

static tct_status fill(tct_model *to, tct_model *const *from, int64_t count, tct_error *err) {
  TCT_TRY(tct_model_make_rows(to, count, err));
  TCT_TRY(tct_inputs_copy(&to->inputs, &from[0]->inputs, err));
  for (int64_t k = 0; k < count; k++) {
    memcpy(to->coefficients + k * to->cols, from[k]->coefficients, (size_t)to->cols * sizeof(double));
    to->intercepts[k] = from[k]->intercept;
    if (!to->note[0]) memcpy(to->note, from[k]->note, sizeof to->note);
  }
  to->intercept = to->intercepts[0];
  return TCT_OK;
}

tct_model *tct_model_join(tct_model *const *models, const char *const *names, int64_t count, tct_class_kind kind,
                          tct_error *err) {
  tct_error local = {0};
  err = err ? err : &local;
  tct_error_clear(err);
  json_t *rest = rest_of(models[0], err);
  tct_status status = rest ? check(models, count, rest, err) : TCT_E_MEMORY;
  json_decref(rest);
  tct_model *made = status == TCT_OK ? copy(models[0], err) : NULL;
  if (!made) return NULL;
  status = fill(made, models, count, err);
  if (status == TCT_OK) status = tct_model_name_classes(made, names, count, (int32_t)kind, err);
  if (status == TCT_OK) return made;
  tct_model_free(made);
  return NULL;
}
