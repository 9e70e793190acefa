/* view_columns.c - row scales of a matrix that is stored by columns.
 *
 * Three sums over the columns, each with one number per row.  The first is of squares.  Only where some row left the
 * range in which squares are safe follow the largest magnitude, and the squares of that row times 2^-e (view.c has the
 * proof).  A row's terms are added in column order, so its depth is the number of columns.  Threads share out the rows,
 * so no two write to the same number. */
#include "la/matrix/view.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"
#include "core/processors.h"

#include <math.h>

enum pass { SQUARES, LARGEST, SCALED };

static double combine(enum pass pass, double before, double x, int exponent) {
  switch (pass) {
    case SQUARES: return before + x * x;
    case LARGEST: return isfinite(x) ? fmax(before, fabs(x)) : NAN;
    case SCALED: x = ldexp(x, -exponent); return before + x * x;
  }
  return before;
}

/* One pass over the rows [first, last) of every column; exponent may be NULL outside SCALED. */
static void accumulate(const tct_view *view, enum pass pass, int64_t first, int64_t last, const int *exponent,
                       double *out) {
  for (int64_t i = first; i < last; i++) out[i] = combine(pass, 0, view->intercept, exponent ? exponent[i] : 0);
  for (int64_t j = 0; j < view->x->cols; j++) {
    tct_row column = tct_line_at(view->x, j);
    int64_t from = tct_lower_bound(&column, first), to = tct_lower_bound(&column, last);
    for (int64_t k = from; k < to; k++) {
      int64_t i = tct_row_column(&column, k);
      double x = tct_row_value(&column, k);
      out[i] = isnan(out[i]) ? NAN : combine(pass, out[i], x, exponent ? exponent[i] : 0);
    }
  }
}

static void all_rows(const tct_view *view, enum pass pass, const int *exponent, double *out, int threads) {
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++)
    accumulate(view, pass, view->rows * t / threads, view->rows * (t + 1) / threads, exponent, out);
}

static bool safe(double squares) { return squares >= TCT_SQUARES_LOW && squares <= TCT_SQUARES_HIGH; }

static tct_status bound_extremes(const tct_view *view, const double *squares, tct_rows_rule rule, int threads,
                                 tct_error *err) {
  double *scaled = TCT_NEW(double, view->rows);
  int *exponent = TCT_NEW(int, view->rows);
  if (!scaled || !exponent) {
    tct_free(scaled);
    tct_free(exponent);
    return tct_fail_memory(err);
  }
  all_rows(view, LARGEST, NULL, scaled, threads);
  for (int64_t i = 0; i < view->rows; i++)
    if (scaled[i] > 0) frexp(scaled[i], &exponent[i]);
  double depth = (double)view->p + 6;
  for (int64_t i = 0; i < view->rows; i++)
    if (isnan(scaled[i])) view->row_scale[i] = NAN;
  all_rows(view, SCALED, exponent, scaled, threads);
  for (int64_t i = 0; i < view->rows; i++)
    if (!safe(squares[i]) && !isnan(view->row_scale[i]))
      view->row_scale[i] = tct_bound_scale(sqrt(scaled[i]), exponent[i], depth, view->row_norm, rule);
  tct_wipe_free(scaled, view->rows, sizeof *scaled);
  tct_wipe_free(exponent, view->rows, sizeof *exponent);
  return TCT_OK;
}

tct_status tct_bound_columns(const tct_view *view, tct_rows_rule rule, int threads, tct_error *err) {
  double *squares = TCT_NEW(double, view->rows);
  if (!squares) return tct_fail_memory(err);
  all_rows(view, SQUARES, NULL, squares, threads);
  bool extremes = false;
  for (int64_t i = 0; i < view->rows; i++) {
    if (safe(squares[i]))
      view->row_scale[i] = tct_bound_scale(sqrt(squares[i]), 0, (double)view->p + 6, view->row_norm, rule);
    else
      extremes = true, view->row_scale[i] = 1;
  }
  tct_status status = extremes ? bound_extremes(view, squares, rule, threads, err) : TCT_OK;
  tct_wipe_free(squares, view->rows, sizeof *squares);
  return status;
}
