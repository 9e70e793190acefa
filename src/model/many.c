/* many.c - models of several classes: the rows of coefficients, and the classes' names. */
#include "core/alloc.h"
#include "model/model.h"

int64_t tct_model_models(const tct_model *model) { return model->models > 1 ? model->models : 1; }
const double *tct_model_intercepts(const tct_model *model) {
  return model->intercepts ? model->intercepts : &model->intercept;
}
int64_t tct_model_classes(const tct_model *model, tct_class_kind *kind) {
  if (kind) *kind = (tct_class_kind)model->classes.kind;
  return model->classes.count;
}
const char *tct_model_class(const tct_model *model, int64_t k) {
  return k >= 0 && k < model->classes.count ? model->classes.name[k] : NULL;
}

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
  if (model->labels != TCT_LABELS_BINARY)
    return tct_fail(err, TCT_E_USAGE, "a model of numbers has no classes; leave the classes away");
  if (count != (models > 1 ? models : 2))
    return tct_fail(err, TCT_E_USAGE,
                    "the model has %lld classes, and another number of names is given; name each once",
                    (long long)(models > 1 ? models : 2));
  return tct_class_names_set(&model->classes, names, count, kind, err);
}
