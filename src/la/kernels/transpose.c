/* transpose.c - X~^T a in an order that the number of threads does not change.
 *
 * Dense rows: strips of SLAB columns; within a strip the rows are cut into BLOCKS fixed blocks, whose partial sums are
 * added in block order.  CSR: every column is summed in row order; threads share out the columns.
 * Both need no memory beyond the stack. */
#include "la/kernels/kernels.h"

#include "core/processors.h"
#include "la/matrix/rows_access.h"

#include <string.h>

/* 8 blocks keep 8 threads busy.  Blocks shorter than 2048 columns are half as fast, because every page of a row is one
 * stream to the prefetcher. 8 x 2048 doubles are 128 KiB of stack. */
enum { SLAB = 2048, BLOCKS = 8 };

/* to[0..width) += a[i] * x~_i[from..from+width) for the rows of one block. */
static void add_block(const tct_view *view, const double *a, int64_t from, int64_t width, int block, double *to) {
  int64_t first = view->rows * block / BLOCKS, last = view->rows * (block + 1) / BLOCKS;
  for (int64_t i = first; i < last; i++) {
    tct_row row = tct_row_at(view->x, i);
    double s = view->row_scale[i];
    if (tct_scale_plain(s)) {
      row.loops->axpy_dense(tct_row_from(&row, from), a[i] * s, to, width);
      continue;
    }
    for (int64_t j = 0; j < width; j++) to[j] += (s * tct_row_value(&row, from + j)) * a[i];
  }
}

static void dense_times(const tct_view *view, const double *a, double *g, int threads) {
  double part[BLOCKS][SLAB];
  for (int64_t from = 0; from < view->x->cols; from += SLAB) {
    int64_t width = view->x->cols - from < SLAB ? view->x->cols - from : SLAB;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
    for (int b = 0; b < BLOCKS; b++) {
      memset(part[b], 0, (size_t)width * sizeof(double));
      add_block(view, a, from, width, b, part[b]);
    }
    for (int b = 0; b < BLOCKS; b++)
      for (int64_t j = 0; j < width; j++) g[from + j] += part[b][j];
  }
}

static void sparse_times(const tct_view *view, const double *a, int64_t first, int64_t last, double *g) {
  for (int64_t i = 0; i < view->rows; i++) {
    tct_row row = tct_row_at(view->x, i);
    double s = view->row_scale[i];
    int64_t from = first > 0 ? tct_lower_bound(&row, first) : 0;
    int64_t to = last < view->x->cols ? tct_lower_bound(&row, last) : row.n;
    if (tct_scale_plain(s)) {
      const void *columns =
          row.i64 ? (const void *)((const int64_t *)row.columns + from) : (const int32_t *)row.columns + from;
      row.loops->axpy_sparse(tct_row_from(&row, from), columns, a[i] * s, g, to - from);
      continue;
    }
    for (int64_t k = from; k < to; k++) g[tct_row_column(&row, k)] += (s * tct_row_value(&row, k)) * a[i];
  }
}

void tct_transpose_times(const tct_view *view, const double *a, double *g, int threads) {
  int64_t cols = view->x->cols;
  memset(g, 0, (size_t)view->p * sizeof(double));
  if (view->x->layout == TCT_CSR) {
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
    for (int t = 0; t < threads; t++) sparse_times(view, a, cols * t / threads, cols * (t + 1) / threads, g);
  } else {
    dense_times(view, a, g, threads);
  }
  if (view->intercept == 0) return;
  double sum = 0;
  for (int64_t i = 0; i < view->rows; i++) sum += a[i] * view->row_scale[i] * view->intercept;
  g[view->p - 1] = sum;
}
