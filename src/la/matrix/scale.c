/* scale.c - columns scaled and shifted; the factors given, or taken from the table itself. */
#include "la/matrix/matrix.h"
#include "la/matrix/rows_access.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

/* Column statistics for --scale, over a dense or CSR matrix.  Reads every record: unaccounted. */
typedef struct stats {
  double *low, *high, *sum, *squares;
} stats;

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
    tct_row row = tct_row_at(x, i);
    for (int64_t k = 0; k < row.n; k++) add_cell(s, tct_row_column(&row, k), tct_row_value(&row, k));
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
    for (int64_t k = 0; k < tct_matrix_nonzeros(m); k++) values[k] *= factor[tct_offset(m->index, m->index_type, k)];
    return TCT_OK;
  }
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t j = 0; j < m->cols; j++) {
      double *v = &values[i * m->stride + j];
      *v = (*v - shift[j]) * factor[j];
    }
  return TCT_OK;
}

tct_status tct_scale_by_data(const tct_matrix *from, const char *kind, double *factor, double *shift,
                             tct_owned_matrix *to, tct_error *err) {
  int64_t p = from->cols;
  tct_owned_matrix rows = {0};
  const tct_matrix *x = from;
  if (x->layout != TCT_DENSE_ROWS && x->layout != TCT_CSR) {
    TCT_TRY(tct_matrix_convert(x, x->layout == TCT_CSC ? TCT_CSR : TCT_DENSE_ROWS, TCT_F64, &rows, err));
    x = &rows.m;
  }
  double *memory = TCT_NEW(double, 4 * p);
  tct_status status = memory ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) {
    stats s = {memory, memory + p, memory + 2 * p, memory + 3 * p};
    gather(x, &s);
    decide(x, kind, &s, factor, shift);
    status = tct_scale_columns(x, factor, shift, to, err);
  }
  tct_wipe_free(memory, 4 * p, sizeof(double));
  tct_matrix_free(&rows);
  return status;
}
