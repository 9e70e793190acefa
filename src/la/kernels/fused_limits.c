/* fused_limits.c - how large a record's slopes may be, so that its terms over all columns stay within a ball.
 *
 * PROOF  l_i = (1 - 2^-20)/sqrt(S), S = 2^-700 + sum over j of (x~_ij*inverse[j])^2 as computed, and at most 2^60.  A
 * term of column j is at most l_i*|x~_ij|, whatever the slope, and sum over j of (l_i*x~_ij*inverse[j])^2 <= (1 -
 * 2^-20)^2 * (exact sum)/S.  S is short of the exact sum by at most the roundings, a share of (p + 8)*2^-53 < 2^-30 for
 * p < 2^22, and squares that underflow.  Each of these is below 2^-1000, which the 2^-700 covers for any p.  The loops
 * multiply l_i by x~_ij with at most four roundings of a float (2^-22), which the rest of 2^-20 covers.  More columns
 * than 2^22 are covered too up to 2^31: their share is 2^-21 and enters under a square root. */
#include "la/kernels/fused.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"
#include "core/processors.h"

#include <math.h>

enum { BLOCK = 1024 }; /* rows at a time: 8 KiB of sums stay in the first cache */

static double limit_of(double squares) { return fmin(0x1p60, (1 - 0x1p-20) / sqrt(squares + 0x1p-700)); }

/* Squares of rows [first, first + count) of dense columns, stored columns and the intercept. */
static void dense_squares(const tct_view *view, const double *inverse, int64_t first, int64_t count, double *sum) {
  const tct_matrix *x = view->x;
  const double *scale = view->row_scale + first;
  for (int64_t i = 0; i < count; i++) sum[i] = 0;
  for (int64_t j = 0; j < view->p; j++) {
    double v = inverse[j];
    if (j == x->cols) {
      for (int64_t i = 0; i < count; i++) sum[i] += (scale[i] * view->intercept * v) * (scale[i] * view->intercept * v);
    } else if (x->value_type == TCT_F32) {
      const float *at = (const float *)x->values + j * x->stride + first;
      for (int64_t i = 0; i < count; i++) sum[i] += (scale[i] * (double)at[i] * v) * (scale[i] * (double)at[i] * v);
    } else {
      const double *at = (const double *)x->values + j * x->stride + first;
      for (int64_t i = 0; i < count; i++) sum[i] += (scale[i] * at[i] * v) * (scale[i] * at[i] * v);
    }
  }
}

static void dense_limits(tct_fused *f, const double *inverse) {
  int64_t n = f->view->rows;
#pragma omp parallel for num_threads(tct_threads(f->threads)) schedule(static) if (n >= 16 * BLOCK)
  for (int64_t first = 0; first < n; first += BLOCK) {
    double sum[BLOCK];
    int64_t count = n - first < BLOCK ? n - first : BLOCK;
    dense_squares(f->view, inverse, first, count, sum);
    for (int64_t i = 0; i < count; i++) {
      if (f->single)
        ((float *)f->limit)[first + i] = (float)limit_of(sum[i]);
      else
        ((double *)f->limit)[first + i] = limit_of(sum[i]);
    }
  }
}

static void sparse_limits(tct_fused *f, const double *inverse) {
  const tct_view *view = f->view;
  tct_fused_record *record = f->record;
  double last = view->intercept != 0 ? view->intercept * inverse[view->x->cols] : 0;
  for (int64_t i = 0; i < view->rows; i++) record[i].limit = (record[i].scale * last) * (record[i].scale * last);
  for (int64_t j = 0; j < view->x->cols; j++) {
    tct_row column = tct_line_at(view->x, j);
    for (int64_t k = 0; k < column.n; k++) {
      tct_fused_record *r = record + tct_row_column(&column, k);
      double v = r->scale * tct_row_value(&column, k) * inverse[j];
      r->limit += v * v;
    }
  }
  for (int64_t i = 0; i < view->rows; i++) record[i].limit = limit_of(record[i].limit);
}

tct_status tct_fused_limits(tct_fused *f, const double *inverse, tct_error *err) {
  int64_t n = f->view->rows;
  f->limited = true;
  if (f->record) {
    sparse_limits(f, inverse);
    return TCT_OK;
  }
  if (!f->limit) f->limit = tct_alloc(n, f->single ? sizeof(float) : sizeof(double));
  if (!f->limit) return tct_fail_memory(err);
  dense_limits(f, inverse);
  return TCT_OK;
}
