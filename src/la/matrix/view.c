/* view.c - the bounded view: row scales by the clip or unit rule.
 *
 * CLAIM.  As exact real numbers, |row_scale[i] * (x_i, intercept)| <= R(1 - 2^-40) for every row.
 *
 * PROOF.  Let u = 2^-53, k the number of stored entries and d = k/8 + 6 (rounded up).  An entry's square passes one
 * product, at most k/8 + 1 additions in its lane, three of tct_lanes_sum and one for the intercept.  All terms are >=
 * 0, so the computed sum of squares is S >= N^2 (1-u)^d >= N^2 (1 - du), N the exact norm; hence N <= sqrt(S)/sqrt(1 -
 * du).  The scale is
 *     s = fl(fl(R*c)/fl(sqrt S)),  c = 1 - 2^-39 - (d+8)u,
 * at most five roundings (the two of c are relative to about 1), so
 *     s*N <= R (1 - 2^-39 - (d+8)u)(1+u)^6 / sqrt(1 - du) <= R (1 - 2^-39)(1 - du)/sqrt(1 - du) <= R (1 - 2^-39).
 * The clip rule takes 1 where s >= 1, and then N <= s*N.
 *
 * Where S left the range [2^-900, 2^900], squares may have under- or overflowed.  The row is then first scaled by a
 * power of two 2^-e that brings its largest magnitude into [1/2, 1).  This is exact but for entries below 2^-1021 of
 * it, whose squares are nothing beside the slack 2^-40. Inside the range squares that underflowed are likewise below
 * k*2^-1074 of 2^-900.  The result s*2^-e is exact, or subnormal, where it takes one ulp toward zero, or above 2^1000,
 * where it is cut: smaller, never larger.
 *
 * What the kernels compute, fl(fl(a*s) * x_ij), exceeds |a*s*x_ij| by a factor (1+u)^2 < 1 + 2^-51 at most, inside
 * the difference between R(1 - 2^-40) and R (rows.c has the rest of that argument).
 *
 * BY COLUMNS.  Three sums over the columns, each with one number per row.  The first is of squares.  Only where some
 * row left the range in which squares are safe follow the largest magnitude, and the squares of that row times 2^-e.  A
 * row's terms are added in column order, so its depth is the number of columns.  Threads share out the rows, so no two
 * write to the same number.
 *
 * c: the 2^-39 costs 1.8e-12 of a row's length; unit rows come out at R(1 - 2^-39 - (d+8)u). */
#include "la/matrix/matrix.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"
#include "core/processors.h"

#include <math.h>

/* s*|row| for a row whose squares leave the range of doubles: sqrt of the sum of squares of 2^-e * row. */
static double scaled_norm(const tct_row *row, double intercept, int *exponent) {
  double largest = fabs(intercept), sum = 0;
  for (int64_t k = 0; k < row->n; k++) largest = fmax(largest, fabs(tct_row_value(row, k)));
  if (largest == 0) {
    *exponent = 0;
    return 0;
  }
  frexp(largest, exponent);
  for (int64_t k = 0; k < row->n; k++) {
    double x = ldexp(tct_row_value(row, k), -*exponent);
    sum += x * x;
  }
  double x = ldexp(intercept, -*exponent);
  return sqrt(sum + x * x);
}

/* The scale of a row of norm `norm` * 2^exponent, norm the square root of a sum of squares in which every term passed
 * at most `depth` roundings. */
static double bound_scale(double norm, int exponent, double depth, double row_norm, tct_rows_rule rule) {
  if (norm == 0) return 1; /* a zero row: any scale keeps it zero */
  double c = 1 - 0x1p-39 - (depth + 8) * 0x1p-53;
  double scale = ldexp(row_norm * c / norm, -exponent);
  if (scale < 0x1p-1022) scale = nextafter(scale, 0);
  if (scale > 0x1p1000) scale = 0x1p1000;
  return rule == TCT_ROWS_CLIP && scale > 1 ? 1 : scale;
}

/* Had a computed sum of squares no overflow, and no underflow that matters? */
static bool safe(double squares) { return squares >= 0x1p-900 && squares <= 0x1p900; }

/* One row's scale; NaN where a value is not finite. */
static double scale_of(const tct_row *row, double intercept, double row_norm, tct_rows_rule rule) {
  double squares = row->loops->squares(row->x, row->n) + intercept * intercept;
  if (safe(squares)) return bound_scale(sqrt(squares), 0, ceil((double)row->n / 8) + 6, row_norm, rule);
  if (!tct_row_finite(row)) return NAN;
  int exponent = 0;
  double norm = scaled_norm(row, intercept, &exponent);
  return bound_scale(norm, exponent, (double)row->n + 6, row_norm, rule); /* scaled_norm has one lane */
}

static void bound_rows(const tct_view *view, tct_rows_rule rule, int threads) {
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int64_t i = 0; i < view->rows; i++) {
    tct_row row = tct_row_at(view->x, i);
    view->row_scale[i] = scale_of(&row, view->intercept, view->row_norm, rule);
  }
}

/* ---- by columns ---- */

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
      view->row_scale[i] = bound_scale(sqrt(scaled[i]), exponent[i], depth, view->row_norm, rule);
  tct_wipe_free(scaled, view->rows, sizeof *scaled);
  tct_wipe_free(exponent, view->rows, sizeof *exponent);
  return TCT_OK;
}

/* view->row_scale of a matrix by columns; NaN where a row is not finite. */
static tct_status bound_columns(const tct_view *view, tct_rows_rule rule, int threads, tct_error *err) {
  double *squares = TCT_NEW(double, view->rows);
  if (!squares) return tct_fail_memory(err);
  all_rows(view, SQUARES, NULL, squares, threads);
  bool extremes = false;
  for (int64_t i = 0; i < view->rows; i++) {
    if (safe(squares[i]))
      view->row_scale[i] = bound_scale(sqrt(squares[i]), 0, (double)view->p + 6, view->row_norm, rule);
    else
      extremes = true, view->row_scale[i] = 1;
  }
  tct_status status = extremes ? bound_extremes(view, squares, rule, threads, err) : TCT_OK;
  tct_wipe_free(squares, view->rows, sizeof *squares);
  return status;
}

tct_status tct_view_bound(tct_view *view, const tct_matrix *x, double intercept, double row_norm, tct_rows_rule rule,
                          int threads, tct_error *err) {
  *view = (tct_view){.x = x, .intercept = intercept, .rows = x->rows, .row_norm = row_norm};
  view->p = x->cols + (intercept != 0);
  if (!(row_norm >= TCT_ROW_NORM_LOW && row_norm <= TCT_ROW_NORM_HIGH))
    return tct_fail(err, TCT_E_USAGE, "the row norm must be a number in [1e-90, 1e90]; give another bound");
  if (!(fabs(intercept) <= TCT_ROW_NORM_HIGH))
    return tct_fail(err, TCT_E_USAGE, "the intercept's constant must be at most 1e90; give 1, or 0 for none");
  view->row_scale = tct_alloc_by(threads, x->rows, sizeof(double));
  if (!view->row_scale) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  if (tct_by_rows(x))
    bound_rows(view, rule, threads);
  else
    status = bound_columns(view, rule, threads, err);
  for (int64_t i = 0; i < x->rows && status == TCT_OK; i++)
    if (isnan(view->row_scale[i]))
      status = tct_fail(err, TCT_E_DATA, "a feature is infinite or not a number; clean the data first");
  if (status != TCT_OK) tct_view_free(view);
  return status;
}

void tct_view_free(tct_view *view) {
  if (!view) return;
  tct_wipe_free(view->row_scale, view->rows, sizeof(double)); /* norms of records are data */
  view->row_scale = NULL;
}
