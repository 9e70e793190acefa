/* predict.c - the model's own transforms, then x.w + intercept. */
#include "core/alloc.h"
#include "core/processors.h"
#include "loss/loss.h"
#include "model/model.h"

#include "la/kernels/kernels.h"

#include <math.h>
#include <string.h>

bool tct_model_offset(const tct_model *model, double *upper) {
  static const char *const keys[] = {"exposure", "offset"};
  bool found = false;
  json_t *schema = model->schema ? json_loads(model->schema, 0, NULL) : NULL;
  for (int k = 0; k < 2; k++) {
    const json_t *rule = json_object_get(schema, keys[k]);
    double most = json_number_value(json_object_get(rule, "upper"));
    if (rule && upper) *upper = k == 0 ? log(most) : most;
    found |= rule != NULL;
  }
  json_decref(schema);
  return found;
}

int32_t tct_class_of(const double *margin, int64_t models) {
  int64_t best = 0;
  for (int64_t k = 1; k < models; k++)
    if (margin[k] > margin[best]) best = k;
  return (int32_t)(models > 1 ? best : margin[0] > 0);
}

static tct_status check_data(const tct_model *model, const tct_data *data, tct_error *err) {
  if (data->open > 0)
    return tct_fail(err, TCT_E_DATA,
                    "the data were read under a schema that leaves bounds open; read them under the model's schema");
  if (model->schema && !data->schema && data->names && data->own.m.values)
    return tct_fail(err, TCT_E_DATA,
                    "the model is of records encoded by a schema, and the data were read without one; read them under "
                    "the model's schema");
  if (tct_model_offset(model, NULL) != (data->offset != NULL))
    return tct_fail(err, TCT_E_DATA,
                    "the model and the data do not both have an offset or exposure; read the data under the model's "
                    "schema");
  if (data->x.cols == model->cols) return TCT_OK;
  return tct_fail(err, TCT_E_DATA,
                  "the data have %lld features, the model has %lld; read them with the model's schema or {cols}",
                  (long long)data->x.cols, (long long)model->cols);
}

/* Records are brought to the model's row norm as in training: the coefficients are those of bounded records. */
static tct_status bounded(const tct_model *model, const tct_matrix *x, tct_view *view, tct_error *err) {
  if (!isnan(model->row_norm))
    return tct_view_bound(view, x, model->has_intercept, model->row_norm, (tct_rows_rule)model->rows_rule,
                          tct_processors(), err);
  *view = (tct_view){.x = x, .rows = x->rows, .p = x->cols + model->has_intercept, .intercept = model->has_intercept};
  view->row_scale = TCT_NEW(double, x->rows);
  if (!view->row_scale) return tct_fail_memory(err);
  for (int64_t i = 0; i < x->rows; i++) view->row_scale[i] = 1;
  return TCT_OK;
}

/* A scale by public bounds takes the bounds to -1 and 1, and training clipped to them. */
static void clip_to_bounds(tct_owned_matrix *scaled) {
  double *values = (double *)(void *)(uintptr_t)scaled->m.values;
  int64_t count = tct_matrix_nonzeros(&scaled->m);
  for (int64_t k = 0; k < count; k++) values[k] = fmin(fmax(values[k], -1), 1);
}

tct_status tct_model_transformed(const tct_model *model, const tct_data *data, tct_owned_matrix *scaled, tct_matrix *x,
                                 tct_view *view, tct_error *err) {
  TCT_TRY(check_data(model, data, err));
  *x = data->x;
  if (model->scale_factor) {
    TCT_TRY(tct_scale_columns(&data->x, model->scale_factor, model->scale_shift, scaled, err));
    if (!strcmp(model->scale, "bounds")) clip_to_bounds(scaled);
    *x = scaled->m;
  } else if (x->layout == TCT_DENSE_COLS || x->layout == TCT_CSC) {
    tct_layout layout = x->layout == TCT_CSC ? TCT_CSR : TCT_DENSE_ROWS;
    TCT_TRY(tct_matrix_convert(&data->x, layout, (tct_value_type)x->value_type, scaled, err));
    *x = scaled->m;
  }
  return bounded(model, x, view, err);
}

tct_status tct_model_margins(const tct_model *model, const tct_data *data, double *out, tct_error *err) {
  tct_owned_matrix scaled = {0};
  tct_matrix x;
  tct_view view = {0};
  int64_t models = tct_model_models(model), rows = data->x.rows;
  double *w = TCT_NEW(double, model->cols + 1), *own = models > 1 ? TCT_NEW(double, rows) : NULL;
  tct_status status =
      w && (models == 1 || own) ? tct_model_transformed(model, data, &scaled, &x, &view, err) : tct_fail_memory(err);
  for (int64_t k = 0; k < models && status == TCT_OK; k++) {
    memcpy(w, model->coefficients + k * model->cols, (size_t)model->cols * sizeof *w);
    w[model->cols] = tct_model_intercepts(model)[k];
    tct_margins(&view, w, own ? own : out, tct_processors());
    for (int64_t i = 0; data->offset && i < rows; i++) (own ? own : out)[i] += data->offset[i];
    for (int64_t i = 0; own && i < rows; i++) out[i * models + k] = own[i];
  }
  tct_free(w);
  tct_free(own);
  tct_view_free(&view);
  tct_matrix_free(&scaled);
  return status;
}

tct_status tct_model_most(const tct_model *model, double *most, tct_error *err) {
  tct_loss loss = {0};
  TCT_TRY(tct_loss_make(model->loss, &loss, err));
  *most = loss.kind->counts ? loss.h : INFINITY;
  return TCT_OK;
}

tct_status tct_predict_risk(const tct_model *model, const tct_data *data, double at, double *out, tct_error *err) {
  const tct_course *course = &model->inference.course;
  tct_error_clear(err);
  if (!course->cells)
    return tct_fail(err, TCT_E_USAGE,
                    "the model knows no follow-up times, so it has no risk at a time; train with {loss cox}");
  if (!(at > 0 && at <= course->time[course->cells - 1]))
    return tct_fail(err, TCT_E_USAGE,
                    "a risk is that of an event up to a time above 0 and within the horizon; give such a time");
  TCT_TRY(tct_model_margins(model, data, out, err));
  double exposure = tct_course_exposure(course, at);
  for (int64_t i = 0; i < data->x.rows; i++) out[i] = exposure > 0 ? -expm1(-exp(out[i]) * exposure) : 0;
  return TCT_OK;
}

tct_status tct_predict(const tct_model *model, const tct_data *data, double *out, tct_error *err) {
  tct_error_clear(err);
  double most = INFINITY;
  TCT_TRY(tct_model_most(model, &most, err));
  TCT_TRY(tct_model_margins(model, data, out, err));
  if (model->labels == TCT_LABELS_REAL)
    for (int64_t i = 0; i < data->x.rows; i++) {
      out[i] += model->label_shift;
      if (out[i] > most) out[i] = most;
    }
  return TCT_OK;
}
