/* interval.c - where the population's own predictions lie, from the covariance of the weights. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

static tct_status check(const tct_model *model, double level, tct_error *err) {
  if (!(level > 0 && level < 1))
    return tct_fail(err, TCT_E_USAGE, "the level of an interval must lie strictly between 0 and 1; give e.g. 0.95");
  if (tct_model_models(model) > 1)
    return tct_fail(err, TCT_E_USAGE, "a model of several classes has no intervals; train one of a single class");
  if (!model->inference.p)
    return tct_fail(err, TCT_E_USAGE,
                    "the model was trained without standard errors, so its predictions have no intervals; train with "
                    "{errors_known}");
  return TCT_OK;
}

/* An interval for each row's own sum of weights, its features as the model counts them. */
static tct_status intervals(const tct_model *model, const tct_view *view, const double *offset, double level,
                            double *lower, double *upper, tct_error *err) {
  int64_t p = view->p;
  double most = INFINITY;
  TCT_TRY(tct_model_most(model, &most, err));
  double *row = TCT_NEW(double, p), *w = TCT_NEW(double, model->cols + 1);
  tct_status status = row && w ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) {
    memcpy(w, model->coefficients, (size_t)model->cols * sizeof *w);
    w[model->cols] = model->intercept;
  }
  for (int64_t i = 0; i < view->rows && status == TCT_OK; i++) {
    memset(row, 0, (size_t)p * sizeof *row);
    tct_row_axpy(view, i, 1, row);
    tct_contrast errors = tct_inference_contrast(&model->inference, row);
    double shift = model->labels == TCT_LABELS_REAL ? model->label_shift : 0;
    double margin = tct_dot(row, w, p) + shift + (offset ? offset[i] : 0), half = NAN;
    if (errors.why == TCT_GIVEN) half = tct_student_quantile(level, errors.degrees) * errors.standard_error;
    lower[i] = margin - half, upper[i] = margin + half;
    if (lower[i] > most) lower[i] = most; /* a NaN stays */
    if (upper[i] > most) upper[i] = most;
  }
  tct_free(row);
  tct_free(w);
  return status;
}

tct_status tct_predict_interval(const tct_model *model, const tct_data *data, double level, double *lower,
                                double *upper, tct_error *err) {
  tct_error_clear(err);
  TCT_TRY(check(model, level, err));
  tct_owned_matrix scaled = {0};
  tct_matrix x;
  tct_view view = {0};
  tct_status status = tct_model_transformed(model, data, &scaled, &x, &view, err);
  if (status == TCT_OK) status = intervals(model, &view, data->offset, level, lower, upper, err);
  tct_view_free(&view);
  tct_matrix_free(&scaled);
  return status;
}
