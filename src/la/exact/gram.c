/* gram.c - the weighted Gram matrix X~^T diag(weight) X~ and its Cholesky factor.
 *
 * Blocks of BLOCK rows are summed plainly and added exactly (la/exact/exact.h): threads and ranks share out the blocks
 * and cannot change a bit.  Within a block, CHUNK rows at a time are laid out densely: any layout and value type
 * becomes the same f64 block.  They are multiplied in tiles of 4 x 8, whose sums stay in registers. */
#include "la/exact/gram.h"

#include "core/lanes.h"
#include "core/processors.h"
#include "core/stop.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"

#include <math.h>
#include <string.h>

/* 32 rows of 500 doubles are 125 KiB: they stay in L2.  256 rows per block: adding its matrix costs a twentieth of
 * making it, and tct_rows_together is a multiple. */
enum { BLOCK = 256, CHUNK = 32 };

static int64_t workspace(int64_t p) {
  return 3 * tct_whole_lanes(p) * tct_whole_lanes(p) + 2 * CHUNK * tct_whole_lanes(p);
}

int64_t tct_gram_scratch(int64_t p, int threads) { return threads * workspace(p); }

/* gram += left^T right over CHUNK rows, upper tiles only. */
#define TILES(level)                                                                                                  \
  TCT_TARGET_##level static void tiles_##level(const double *left, const double *right, int64_t wide, double *gram) { \
    for (int64_t i = 0; i < wide; i += 4)                                                                             \
      for (int64_t j = i / 8 * 8; j < wide; j += 8) {                                                                 \
        tct_f64x8 sum[4] = {{0}};                                                                                     \
        for (int64_t k = 0; k < CHUNK; k++) {                                                                         \
          tct_f64x8 x = *(const tct_f64x8 *)(right + k * wide + j);                                                   \
          const double *a = left + k * wide + i;                                                                      \
          sum[0] += x * a[0];                                                                                         \
          sum[1] += x * a[1];                                                                                         \
          sum[2] += x * a[2];                                                                                         \
          sum[3] += x * a[3];                                                                                         \
        }                                                                                                             \
        for (int64_t r = 0; r < 4; r++) *(tct_f64x8 *)(gram + (i + r) * wide + j) += sum[r];                          \
      }                                                                                                               \
  }
TCT_EACH_LEVEL(TILES)

/* right <- scale*x, left <- weight times that. */
#define LAY(level)                                                                                             \
  TCT_TARGET_##level static void lay_##level(const double *restrict x, double scale, double weight, int64_t n, \
                                             double *restrict right, double *restrict left) {                  \
    for (int64_t j = 0; j < n; j++) {                                                                          \
      double at = scale * x[j];                                                                                \
      right[j] = at;                                                                                           \
      left[j] = weight * at;                                                                                   \
    }                                                                                                          \
  }
TCT_EACH_LEVEL(LAY)

/* One row of a chunk, dense; what is padding is and stays 0. */
static void lay_out(const tct_view *view, int64_t i, double weight, double *right, double *left) {
  const tct_matrix *m = view->x;
  double scale = view->row_scale[i];
  if (m->layout == TCT_DENSE_ROWS && m->value_type == TCT_F64 && tct_scale_plain(scale)) {
    tct_rows_touch(m, i, i + 1);
    TCT_BEST(lay)((const double *)m->values + i * m->stride, scale, weight, m->cols, right, left);
    if (view->intercept != 0) right[m->cols] = scale * view->intercept, left[m->cols] = weight * right[m->cols];
    return;
  }
  memset(right, 0, (size_t)view->p * sizeof *right);
  memset(left, 0, (size_t)view->p * sizeof *left);
  tct_row_axpy(view, i, 1, right);
  tct_axpy(weight, right, left, view->p);
}

/* One block's matrix. */
static void block_gram(const tct_view *view, const double *weight, int64_t first, int64_t last, double *gram,
                       double *right, double *left) {
  int64_t wide = tct_whole_lanes(view->p);
  memset(gram, 0, (size_t)(wide * wide) * sizeof *gram);
  for (int64_t row = first; row < last; row += CHUNK) {
    double any = 0;
    for (int64_t k = row; k < row + CHUNK && k < last; k++) any += fabs(weight[k]);
    if (any == 0) continue;
    int64_t count = last - row < CHUNK ? last - row : CHUNK;
    for (int64_t k = 0; k < count; k++) lay_out(view, row + k, weight[row + k], right + k * wide, left + k * wide);
    memset(left + count * wide, 0, (size_t)((CHUNK - count) * wide) * sizeof *left);
    TCT_BEST(tiles)(left, right, wide, gram);
  }
}

/* The blocks that no other thread takes; memory holds the block's matrix, high, low, and the rows laid out. */
static void some_blocks(const tct_view *view, const double *weight, const tct_exact *exact, _Atomic int64_t *next,
                        double *memory) {
  int64_t wide = tct_whole_lanes(view->p), square = wide * wide;
  double *gram = memory, *high = memory + square, *low = high + square, *right = low + square;
  memset(high, 0, (size_t)(2 * square + 2 * CHUNK * wide) * sizeof *high);
  for (int64_t from; (from = tct_take_rows(next, BLOCK)) < view->rows;) {
    int64_t to = view->rows - from < BLOCK ? view->rows : from + BLOCK;
    block_gram(view, weight, from, to, gram, right, right + CHUNK * wide);
    for (int64_t i = 0; i < view->p; i++)
      tct_exact_add(exact, gram + i * wide + i, high + i * wide + i, low + i * wide + i, view->p - i);
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
      for (int64_t j = i; j < p; j++) {
        parts[i * p + j] += high[i * wide + j];
        parts[p * p + i * p + j] += low[i * wide + j];
      }
  }
}

void tct_gram_finish(double *parts, int64_t p) {
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = i; j < p; j++) parts[i * p + j] = parts[j * p + i] = parts[i * p + j] + parts[p * p + i * p + j];
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

/* The chunks that no other thread takes; memory as in some_blocks.  All entries are multiples of `step`, so products
 * and sums are exact, fused or not, in any order. */
static void some_chunks(const tct_view *view, const double *weight, double step, _Atomic int64_t *next,
                        double *memory) {
  int64_t wide = tct_whole_lanes(view->p);
  double *gram = memory, *rows = memory + 3 * wide * wide;
  memset(gram, 0, (size_t)(wide * wide) * sizeof *gram);
  for (int64_t row; (row = tct_take_rows(next, CHUNK)) < view->rows;) {
    memset(rows, 0, (size_t)(CHUNK * wide) * sizeof *rows);
    for (int64_t k = 0; k < CHUNK && row + k < view->rows; k++) add_part(view, weight, row + k, step, rows + k * wide);
    TCT_BEST(tiles)(rows, rows, wide, gram);
  }
}

void tct_gram_lattice(const tct_view *view, const double *weight, double step, double *sum, double *scratch,
                      int threads) {
  int64_t p = view->p, wide = tct_whole_lanes(p), each = workspace(p);
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) some_chunks(view, weight, step, &next, scratch + t * each);
  memset(sum, 0, (size_t)(p * p) * sizeof *sum);
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = i; j < p; j++) {
      for (int t = 0; t < threads; t++) sum[i * p + j] += scratch[t * each + i * wide + j];
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

bool tct_cholesky(double *a, int64_t p) {
  for (int64_t j = 0; j < p && !tct_stopping(); j++) {
    double *row = a + j * p;
    for (int64_t k = 0; k < j; k++) row[k] = (row[k] - tct_dot(row, a + k * p, k)) / a[k * p + k];
    double pivot = row[j] - tct_norm2(row, j);
    if (!(pivot > 0) || !isfinite(pivot)) return false;
    row[j] = sqrt(pivot);
  }
  return true;
}

void tct_cholesky_solve(const double *a, int64_t p, double *x) {
  if (tct_stopping()) return;
  for (int64_t i = 0; i < p; i++) x[i] = (x[i] - tct_dot(a + i * p, x, i)) / a[i * p + i];
  for (int64_t i = p - 1; i >= 0; i--) {
    x[i] /= a[i * p + i];
    tct_axpy(-x[i], a + i * p, x, i);
  }
}
