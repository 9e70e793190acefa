/* bound.c - the record transforms, in order: schema (in the reader), scale, label shift, intercept, rows. */
#include "train/bound.h"

#include "core/alloc.h"
#include "la/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* Column statistics for --scale, over a dense or CSR matrix.  Reads every record: unaccounted. */
typedef struct stats {
  double *low, *high, *sum, *squares;
} stats;

static double cell(const tct_matrix *x, int64_t k) {
  return x->value_type == TCT_F32 ? (double)((const float *)x->values)[k] : ((const double *)x->values)[k];
}

static int64_t offset(const tct_matrix *x, int64_t i) {
  return x->index_type == TCT_I64 ? ((const int64_t *)x->start)[i] : ((const int32_t *)x->start)[i];
}

static int64_t column_of(const tct_matrix *x, int64_t k) {
  return x->index_type == TCT_I64 ? ((const int64_t *)x->index)[k] : ((const int32_t *)x->index)[k];
}

static void add_cell(stats *s, int64_t j, double x) {
  s->low[j] = fmin(s->low[j], x);
  s->high[j] = fmax(s->high[j], x);
  s->sum[j] += x;
  s->squares[j] += x * x;
}

static void gather(const tct_matrix *x, stats *s) {
  int sparse = x->layout == TCT_CSR;
  for (int64_t j = 0; j < x->cols; j++) { /* a sparse column has zeros; a dense one starts with its first cell */
    s->low[j] = sparse ? 0 : INFINITY;
    s->high[j] = sparse ? 0 : -INFINITY;
  }
  for (int64_t i = 0; i < x->rows; i++) {
    if (sparse)
      for (int64_t k = offset(x, i); k < offset(x, i + 1); k++) add_cell(s, column_of(x, k), cell(x, k));
    else
      for (int64_t j = 0; j < x->cols; j++) add_cell(s, j, cell(x, i * x->stride + j));
  }
}

static void decide(const tct_matrix *x, const char *kind, const stats *s, double *factor, double *shift) {
  double n = (double)x->rows;
  for (int64_t j = 0; j < x->cols; j++) {
    double range = 0;
    shift[j] = 0;
    if (!strcmp(kind, "max-abs")) range = fmax(fabs(s->low[j]), fabs(s->high[j]));
    if (!strcmp(kind, "min-max")) {
      shift[j] = s->low[j];
      range = s->high[j] - s->low[j];
    }
    if (!strcmp(kind, "standard")) {
      shift[j] = s->sum[j] / n;
      range = sqrt(fmax(s->squares[j] / n - shift[j] * shift[j], 0));
    }
    factor[j] = range > 0 && isfinite(1 / range) ? 1 / range : 1;
  }
}

tct_status tct_scale_columns(const tct_matrix *x, const double *factor, const double *shift, tct_owned_matrix *to,
                             tct_error *err) {
  int shifted = 0;
  for (int64_t j = 0; j < x->cols; j++) shifted |= shift[j] != 0;
  tct_layout layout = shifted ? TCT_DENSE_ROWS : x->layout == TCT_CSR ? TCT_CSR : TCT_DENSE_ROWS;
  TCT_TRY(tct_matrix_convert(x, layout, TCT_F64, to, err));
  tct_matrix *m = &to->m;
  double *values = (double *)(void *)(uintptr_t)m->values;
  if (layout == TCT_CSR) {
    for (int64_t k = 0; k < offset(m, m->rows); k++) values[k] *= factor[column_of(m, k)];
    return TCT_OK;
  }
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) {
      double *v = &values[i * m->stride + j];
      *v = (*v - shift[j]) * factor[j];
    }
  return TCT_OK;
}

static tct_status scale(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  if (!strcmp(plan->config.scale, "none")) return TCT_OK;
  int64_t p = data->x.cols;
  tct_owned_matrix rows = {0};
  const tct_matrix *x = &data->x;
  if (x->layout != TCT_DENSE_ROWS && x->layout != TCT_CSR) {
    TCT_TRY(tct_matrix_convert(x, x->layout == TCT_CSC ? TCT_CSR : TCT_DENSE_ROWS, TCT_F64, &rows, err));
    x = &rows.m;
  }
  double *memory = TCT_NEW(double, 4 * p);
  out->factor = TCT_NEW(double, p);
  out->shift = TCT_NEW(double, p);
  tct_status status = memory && out->factor && out->shift ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) {
    stats s = {memory, memory + p, memory + 2 * p, memory + 3 * p};
    gather(x, &s);
    decide(x, plan->config.scale, &s, out->factor, out->shift);
    status = tct_scale_columns(x, out->factor, out->shift, &out->scaled, err);
  }
  tct_wipe_free(memory, 4 * p, sizeof(double));
  tct_matrix_free(&rows);
  return status;
}

static tct_status labels(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  int64_t n = data->x.rows;
  if (!data->y) return tct_fail(err, TCT_E_DATA, "the data have no labels; name the label column with --label");
  out->y = TCT_NEW(double, n);
  if (!out->y) return tct_fail_memory(err);
  int binary = plan->facts.loss.kind->binary;
  double bound = plan->facts.label_bound, shift = binary ? 0 : plan->config.label_shift;
  if (!strcmp(plan->config.label_scale, "center") && !binary) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += data->y[i];
    shift = sum / (double)n;
  }
  for (int64_t i = 0; i < n; i++) {
    double y = data->y[i] - shift;
    if (!isfinite(y) || (binary && y != 1 && y != -1 && !(data->dropped && data->dropped[i])))
      return tct_fail(err, TCT_E_DATA, "a label is not what the loss needs (%s); check the label column",
                      binary ? "-1 or +1" : "a finite number");
    out->y[i] = isnan(bound) ? y : fmin(fmax(y, -bound), bound);
  }
  out->label_shift = shift;
  return TCT_OK;
}

/* The solver's layout, converting once where it must. */
static tct_status layout(const tct_plan *plan, const tct_matrix **x, tct_bound *out, tct_error *err) {
  int sparse = (*x)->layout == TCT_CSR || (*x)->layout == TCT_CSC;
  tct_layout want =
      plan->solver->wants_columns ? (sparse ? TCT_CSC : TCT_DENSE_COLS) : (sparse ? TCT_CSR : TCT_DENSE_ROWS);
  if ((tct_layout)(*x)->layout == want) return TCT_OK;
  TCT_TRY(tct_matrix_convert(*x, want, (tct_value_type)(*x)->value_type, &out->converted, err));
  *x = &out->converted.m;
  return TCT_OK;
}

/* Without a norm (solvers without privacy) every row is taken as it is. */
static tct_status unbounded(const tct_plan *plan, const tct_matrix *x, tct_view *view, tct_error *err) {
  *view = (tct_view){.x = x, .rows = x->rows, .intercept = plan->facts.intercept, .row_norm = INFINITY};
  view->p = x->cols + plan->facts.intercept;
  view->row_scale = TCT_NEW(double, x->rows);
  if (!view->row_scale) return tct_fail_memory(err);
  for (int64_t i = 0; i < x->rows; i++) view->row_scale[i] = 1;
  return TCT_OK;
}

tct_status tct_bound_make(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  const tct_matrix *x = &data->x;
  TCT_TRY(scale(plan, data, out, err));
  if (out->factor) x = &out->scaled.m;
  TCT_TRY(labels(plan, data, out, err));
  TCT_TRY(layout(plan, &x, out, err));
  if (isnan(plan->facts.row_norm))
    TCT_TRY(unbounded(plan, x, &out->view, err));
  else
    TCT_TRY(tct_view_bound(&out->view, x, plan->facts.intercept, plan->facts.row_norm,
                           (tct_rows_rule)plan->config.rows_rule, plan->facts.threads, err));
  out->view.row0 = data->row0;
  for (int64_t i = 0; data->dropped && i < x->rows; i++)
    if (data->dropped[i]) out->view.row_scale[i] = 0; /* contributes nothing, not even its intercept */
  return TCT_OK;
}

void tct_bound_free(tct_bound *bound) {
  tct_wipe_free(bound->y, bound->view.rows, sizeof(double));
  tct_view_free(&bound->view);
  tct_matrix_free(&bound->scaled);
  tct_matrix_free(&bound->converted);
  tct_free(bound->factor);
  tct_free(bound->shift);
  memset(bound, 0, sizeof *bound);
}
