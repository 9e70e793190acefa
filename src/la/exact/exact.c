/* exact.c - exact sums over blocks of rows. */
#include "la/exact/exact.h"

#include "core/alloc.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "la/kernels/row_block.h"

#include <math.h>
#include <string.h>

tct_exact tct_exact_for(double bound, int64_t count) {
  int e = 0, m = 2;
  if (!(bound > 0x1p-800)) bound = 0x1p-800; /* both lattices stay far from where doubles end */
  frexp(bound, &e);
  while (m < 52 && (int64_t)1 << m < count) m++;
  double high = ldexp(1.5, e + m);
  return (tct_exact){.high = high, .low = ldexp(high, m - 53)};
}

void tct_exact_add(const tct_exact *exact, const double *x, double *high, double *low, int64_t n) {
  double h = exact->high, l = exact->low;
#pragma omp simd
  for (int64_t j = 0; j < n; j++) {
    double part = (x[j] + h) - h, rest = x[j] - part;
    high[j] += part;
    low[j] += (rest + l) - l;
  }
}

int64_t tct_block_rows(int64_t p) {
  int64_t rows = 64;
  while (2 * rows <= 64 + p / 16) rows *= 2;
  return rows;
}

/* Twice the block: an intercept, one feature more, can double the block but no more than that. */
int64_t tct_rows_together(int64_t cols) {
  int64_t rows = 2 * tct_block_rows(cols);
  return rows < 256 ? 256 : rows;
}

double tct_largest_size(const double *a, int64_t n, int threads) {
  double largest = 0;
  threads = tct_threads_for(threads, n);
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads)) reduction(max : largest)
  for (int64_t i = 0; i < n; i++) largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
  return largest;
}

/* The blocks that no other thread takes; memory holds a block's sum, then high and low. */
static void some_blocks(const tct_view *view, const double *a, const tct_exact *exact, _Atomic int64_t *next,
                        double *memory) {
  int64_t p = view->p, block = tct_block_rows(p);
  double *sum = memory, *high = memory + p, *low = memory + 2 * p;
  memset(memory, 0, (size_t)(3 * p) * sizeof *memory);
  for (int64_t from; (from = tct_take_rows(next, block)) < view->rows;) {
    int64_t to = view->rows - from < block ? view->rows : from + block;
    tct_row_block_add(view, from, to - from, a + from, sum);
    tct_exact_add(exact, sum, high, low, p);
    memset(sum, 0, (size_t)p * sizeof *sum);
  }
}

void tct_exact_transpose(const tct_view *view, const double *a, const tct_exact_bounds *bounds, double *high_low,
                         double *scratch, int threads) {
  int64_t p = view->p, block = tct_block_rows(p), apart = tct_thread_stride(3 * p);
  tct_exact exact = tct_exact_for((double)block * 1.01 * bounds->largest * bounds->norm, bounds->rows / block + 1);
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) some_blocks(view, a, &exact, &next, scratch + t * apart);
  memset(high_low, 0, (size_t)(2 * p) * sizeof *high_low);
  for (int t = 0; t < threads; t++)
    for (int64_t k = 0; k < 2 * p; k++) high_low[k] += scratch[t * apart + p + k];
}
