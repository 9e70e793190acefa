/* gram.c - the weighted Gram matrix X~^T diag(weight) X~ and its Cholesky factor.
 *
 * Blocks of BLOCK rows are summed plainly and added exactly (la/exact/exact.h): threads and ranks share out the blocks
 * and cannot change a bit.  Within a block, rows are laid out densely: any layout and value type becomes the same f64
 * block, and blocks are multiplied in tiles (tiles.h). */
#include "la/exact/gram.h"

#include "core/alloc.h"
#include "core/lanes.h"
#include "core/processors.h"
#include "core/stop.h"
#include "la/exact/tiles.h"
#include "la/kernels/kernels.h"
#include "la/matrix/rows_access.h"

#include <math.h>
#include <string.h>

/* Adding a block's matrix costs a twentieth of making it, and tct_rows_together is a multiple. */
enum { BLOCK = 256, CHUNK = 32 /* rows that a thread takes for squares */, FACTORED = 64 };

static int64_t workspace(int64_t p) { return 3 * tct_whole_lanes(p) * tct_whole_lanes(p) + 2 * tct_block_size(p) + p; }

int64_t tct_gram_scratch(int64_t p, int threads) { return threads * workspace(p); }

/* One block's matrix, CHUNK rows at a time; rows: two blocks and a row. */
static void block_gram(const tct_view *view, const double *weight, int64_t first, int64_t last, double *gram,
                       double *rows) {
  int64_t p = view->p, wide = tct_whole_lanes(p), count = 0;
  double *right = rows, *left = right + tct_block_size(p), *row = left + tct_block_size(p);
  memset(gram, 0, (size_t)(wide * wide) * sizeof *gram);
  for (int64_t i = first; i < last; i++) {
    if (weight[i] != 0) {
      memset(row, 0, (size_t)p * sizeof *row);
      tct_row_axpy(view, i, 1, row);
      tct_block_row(row, 1, p, count, left);
      tct_block_row(row, weight[i], p, count++, right);
    }
    if ((i - first) % CHUNK < CHUNK - 1 && i + 1 < last) continue;
    tct_tiles_add(&(tct_tiles){left, right, count, p, TCT_PRODUCTS_PLAIN, 1}, gram, wide);
    count = 0;
  }
}

/* The blocks that no other thread takes; memory holds the block's matrix, high, low, and the rows laid out. */
static void some_blocks(const tct_view *view, const double *weight, const tct_exact *exact, _Atomic int64_t *next,
                        double *memory) {
  int64_t wide = tct_whole_lanes(view->p), square = wide * wide;
  double *gram = memory, *high = memory + square, *low = high + square;
  memset(high, 0, (size_t)(2 * square) * sizeof *high);
  for (int64_t from; (from = tct_take_rows(next, BLOCK)) < view->rows;) {
    int64_t to = view->rows - from < BLOCK ? view->rows : from + BLOCK;
    block_gram(view, weight, from, to, gram, low + square);
    for (int64_t i = 0; i < view->p; i++) tct_exact_add(exact, gram + i * wide, high + i * wide, low + i * wide, i + 1);
  }
}

void tct_gram(const tct_view *view, const double *weight, const tct_exact_bounds *bounds, double *parts,
              double *scratch, int threads) {
  int64_t p = view->p, wide = tct_whole_lanes(p), each = workspace(p);
  double norm = bounds->norm;
  tct_exact exact = tct_exact_for(BLOCK * 1.01 * bounds->largest * norm * norm, bounds->rows / BLOCK + 1);
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) some_blocks(view, weight, &exact, &next, scratch + t * each);
  memset(parts, 0, (size_t)(2 * p * p) * sizeof *parts);
  for (int t = 0; t < threads; t++) {
    const double *high = scratch + t * each + wide * wide, *low = high + wide * wide;
    for (int64_t i = 0; i < p; i++)
      for (int64_t j = 0; j <= i; j++) {
        parts[i * p + j] += high[i * wide + j];
        parts[p * p + i * p + j] += low[i * wide + j];
      }
  }
}

void tct_gram_finish(double *parts, int64_t p) {
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j <= i; j++) parts[i * p + j] = parts[j * p + i] = parts[i * p + j] + parts[p * p + i * p + j];
}

double tct_gram_step(double lattice) {
  int exponent = 0;
  frexp(lattice, &exponent); /* lattice = 2^(exponent-1) */
  return ldexp(1.0, exponent >= 1 ? exponent / 2 : -((1 - exponent) / 2));
}

/* The root is rounded and then shrunk by more than that: its square is at most the weight. */
static void add_part(const tct_view *view, const double *weight, int64_t i, double step, double *row) {
  tct_row_add_lattice(view, i, weight ? sqrt(weight[i]) * (1 - 0x1p-50) : 1, step, row);
}

/* Of a thread: a block and a row. */
static int64_t lattice_room(int64_t p) { return tct_block_size(p) + p; }

int64_t tct_gram_lattice_scratch(int64_t p, int threads) { return (threads - 1) * p * p + threads * lattice_room(p); }

/* The blocks that no other thread takes.  All entries are multiples of `step`, so products and sums are exact, fused or
 * not, in any order. */
static void some_chunks(const tct_view *view, const double *weight, double step, _Atomic int64_t *next, double *gram,
                        double *block) {
  int64_t p = view->p, count = 0;
  double *row = block + tct_block_size(p);
  memset(gram, 0, (size_t)(p * p) * sizeof *gram);
  for (int64_t from; (from = tct_take_rows(next, TCT_TILE_ROWS)) < view->rows; count = 0) {
    for (; count < TCT_TILE_ROWS && from + count < view->rows; count++) {
      memset(row, 0, (size_t)p * sizeof *row);
      add_part(view, weight, from + count, step, row);
      tct_block_row(row, 1, p, count, block);
    }
    tct_tiles_add(&(tct_tiles){block, block, count, p, TCT_PRODUCTS_EXACT, 1}, gram, p);
  }
}

void tct_gram_lattice(const tct_view *view, const double *weight, double step, double *sum, double *scratch,
                      int threads) {
  int64_t p = view->p, square = p * p;
  double *more = scratch + threads * lattice_room(p); /* the first thread's matrix is the sum */
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++)
    some_chunks(view, weight, step, &next, t ? more + (t - 1) * square : sum, scratch + t * lattice_room(p));
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j <= i; j++) {
      for (int t = 1; t < threads; t++) sum[i * p + j] += more[(t - 1) * square + i * p + j];
      sum[j * p + i] = sum[i * p + j];
    }
}

/* sum += the squares of t, which becomes 0 again. */
static void square(double *restrict t, double *restrict sum, int64_t n) {
  for (int64_t j = 0; j < n; j++) sum[j] += t[j] * t[j], t[j] = 0;
}

static void some_squares(const tct_view *view, const double *weight, double step, _Atomic int64_t *next,
                         double *memory) {
  double *sum = memory, *t = memory + view->p;
  memset(memory, 0, (size_t)(2 * view->p) * sizeof *memory);
  for (int64_t from; (from = tct_take_rows(next, CHUNK)) < view->rows;)
    for (int64_t i = from; i < from + CHUNK && i < view->rows; i++) {
      tct_row row = tct_row_at(view->x, i);
      add_part(view, weight, i, step, t);
      for (int64_t k = 0; row.columns && k < row.n; k++) {
        int64_t j = tct_row_column(&row, k);
        square(t + j, sum + j, 1);
      }
      int64_t rest = row.columns ? view->x->cols : 0;
      square(t + rest, sum + rest, view->p - rest);
    }
}

void tct_squares_lattice(const tct_view *view, const double *weight, double step, double *sum, double *scratch,
                         int threads) {
  int64_t p = view->p;
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) some_squares(view, weight, step, &next, scratch + t * 2 * p);
  memset(sum, 0, (size_t)p * sizeof *sum);
  for (int t = 0; t < threads; t++) tct_axpy(1, scratch + t * 2 * p, sum, p);
}

void tct_symmetrise(double *a, int64_t p) {
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < i; j++) a[i * p + j] = a[j * p + i] = 0.5 * a[i * p + j] + 0.5 * a[j * p + i];
}

bool tct_cholesky_shifted(const double *a, int64_t p, double shift, double *factor) {
  if (tct_stopping()) return true; /* so that no search for a shift goes on */
  memcpy(factor, a, (size_t)(p * p) * sizeof *factor);
  for (int64_t j = 0; j < p; j++) factor[j * p + j] += shift;
  return tct_cholesky(factor, p);
}

double tct_least_shift(const double *a, int64_t p, double base, double unit, double part, double *factor) {
  double low = 0, high = 0, width = unit;
  if (!(unit > 0)) return 0;
  while (isfinite(high) && !tct_cholesky_shifted(a, p, base + high, factor)) {
    low = high;
    high += width;
    width *= 2;
  }
  while (high - low > part * unit) {
    double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break; /* neighbouring doubles */
    *(tct_cholesky_shifted(a, p, base + middle, factor) ? &high : &low) = middle;
  }
  return high;
}

/* Columns [from, to) of the factor, when those before are taken off. */
static bool factor_columns(double *a, int64_t p, int64_t from, int64_t to) {
  for (int64_t j = from; j < p && !tct_stopping(); j++) {
    double *row = a + j * p + from;
    int64_t some = j < to ? j - from : to - from;
    for (int64_t k = 0; k < some; k++) {
      const double *done = a + (from + k) * p + from;
      row[k] = (row[k] - tct_dot(row, done, k)) / done[k];
    }
    if (j >= to) continue;
    double pivot = row[some] - tct_norm2(row, some);
    if (!(pivot > 0) || !isfinite(pivot)) return false;
    row[some] = sqrt(pivot);
  }
  return true;
}

/* As many columns at a time as stay in the first cache with as many rows; their products are taken off the rest (Golub
 * and Van Loan, 4.2.9). */
bool tct_cholesky(double *a, int64_t p) {
  double *block = p > FACTORED ? TCT_NEW(double, tct_block_size(p)) : NULL;
  int64_t some = block ? FACTORED : p; /* without memory for it, all at once */
  bool definite = true;
  for (int64_t from = 0, to; from < p && !tct_stopping(); from = to) {
    to = p - from < some ? p : from + some;
    definite = factor_columns(a, p, from, to);
    if (!definite || to == p) break;
    for (int64_t j = to; j < p; j++) tct_block_column(a + j * p + from, to - from, j - to, block);
    tct_tiles_add(&(tct_tiles){block, block, to - from, p - to, TCT_PRODUCTS_PLAIN, -1}, a + to * p + to, p);
  }
  tct_wipe_free(block, block ? tct_block_size(p) : 0, sizeof *block);
  return definite;
}

void tct_cholesky_solve(const double *a, int64_t p, double *x) {
  if (tct_stopping()) return;
  for (int64_t i = 0; i < p; i++) x[i] = (x[i] - tct_dot(a + i * p, x, i)) / a[i * p + i];
  for (int64_t i = p - 1; i >= 0; i--) {
    x[i] /= a[i * p + i];
    tct_axpy(-x[i], a + i * p, x, i);
  }
}
