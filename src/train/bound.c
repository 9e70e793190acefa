/* bound.c - the record transforms, in order: schema (in the reader), scale, label shift, intercept, rows. */
#include "train/bound.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

static tct_status scale(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  if (!strcmp(plan->config.scale, "none")) return TCT_OK;
  out->factor = TCT_NEW(double, data->x.cols);
  out->shift = TCT_NEW(double, data->x.cols);
  if (!out->factor || !out->shift) return tct_fail_memory(err);
  return tct_scale_by_data(&data->x, plan->config.scale, out->factor, out->shift, &out->scaled, err);
}

static tct_status labels(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  int64_t n = data->x.rows;
  if (!data->y) return tct_fail(err, TCT_E_DATA, "the data have no labels; name the label column with {label}");
  out->y = tct_alloc_by(plan->facts.threads, n, sizeof *out->y);
  if (!out->y) return tct_fail_memory(err);
  int binary = plan->facts.loss.kind->binary, joint = plan->facts.loss.kind->joint != NULL;
  double classes = joint ? plan->facts.loss.h : plan->copies > 1 ? (double)plan->copies : 0;
  double bound = plan->facts.label_bound, shift = binary ? 0 : plan->config.label_shift;
  if (!strcmp(plan->config.label_scale, "center") && !binary) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += data->y[i];
    shift = sum / (double)n;
  }
  for (int64_t i = 0; i < n; i++) {
    bool dropped = data->dropped && data->dropped[i];
    double y = dropped && classes > 0 ? 0 : data->y[i] - shift; /* of any class: its row weighs nothing */
    if (classes > 0 ? !(y >= 0 && y < classes && y == floor(y))
                    : !isfinite(y) || (binary && y != 1 && y != -1 && !dropped))
      return tct_fail(err, TCT_E_DATA, "a label is not what the loss needs (%s); check the label column",
                      classes > 0 ? "the number of a class"
                      : binary    ? "-1 or +1"
                                  : "a finite number");
    if (plan->copies > 1) y = y == 0 ? 1 : -1; /* the first class against the rest */
    out->y[i] = isnan(bound) || joint ? y : tct_loss_within(&plan->facts.loss, y, bound);
  }
  out->label_shift = shift;
  return TCT_OK;
}

/* The solver's layout, converting once where it must. */
static tct_status layout(bool columns, const tct_matrix **x, tct_bound *out, tct_error *err) {
  int sparse = (*x)->layout == TCT_CSR || (*x)->layout == TCT_CSC;
  tct_layout want = columns ? (sparse ? TCT_CSC : TCT_DENSE_COLS) : (sparse ? TCT_CSR : TCT_DENSE_ROWS);
  if ((tct_layout)(*x)->layout == want) return TCT_OK;
  TCT_TRY(tct_matrix_convert(*x, want, (tct_value_type)(*x)->value_type, &out->converted, err));
  *x = &out->converted.m;
  return TCT_OK;
}

/* Without a norm (solvers without privacy) every row is taken as it is. */
static tct_status unbounded(const tct_facts *facts, const tct_matrix *x, tct_view *view, tct_error *err) {
  *view = (tct_view){.x = x, .rows = x->rows, .intercept = facts->intercept, .row_norm = INFINITY};
  view->p = x->cols + facts->intercept;
  view->row_scale = TCT_NEW(double, x->rows);
  if (!view->row_scale) return tct_fail_memory(err);
  for (int64_t i = 0; i < x->rows; i++) view->row_scale[i] = 1;
  return TCT_OK;
}

tct_status tct_bound_rows(const tct_facts *facts, bool columns, const tct_data *data, tct_bound *out, tct_error *err) {
  const tct_matrix *x = out->factor ? &out->scaled.m : &data->x;
  TCT_TRY(layout(columns, &x, out, err));
  if (isnan(facts->row_norm))
    TCT_TRY(unbounded(facts, x, &out->view, err));
  else
    TCT_TRY(tct_view_bound(&out->view, x, facts->intercept, facts->row_norm, facts->rows_rule, facts->threads, err));
  out->view.row0 = data->row0;
  for (int64_t i = 0; data->dropped && i < x->rows; i++)
    if (data->dropped[i]) out->view.row_scale[i] = 0; /* contributes nothing, not even its intercept */
  return TCT_OK;
}

tct_status tct_bound_records(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(scale(plan, data, out, err));
  return tct_bound_rows(&plan->facts, plan->solver->wants_columns, data, out, err);
}

tct_status tct_bound_make(const tct_plan *plan, const tct_data *data, tct_bound *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(scale(plan, data, out, err));
  TCT_TRY(labels(plan, data, out, err));
  return tct_bound_rows(&plan->facts, plan->solver->wants_columns, data, out, err);
}

void tct_bound_free(tct_bound *bound) {
  tct_wipe_free(bound->y, bound->y ? bound->view.rows : 0, sizeof(double));
  tct_view_free(&bound->view);
  tct_matrix_free(&bound->scaled);
  tct_matrix_free(&bound->converted);
  tct_free(bound->factor);
  tct_free(bound->shift);
  memset(bound, 0, sizeof *bound);
}
