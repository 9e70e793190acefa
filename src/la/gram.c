/* gram.c - the weighted Gram matrix X~^T diag(weight) X~ and its Cholesky factor.
 *
 * The rows are cut into PARTS fixed ranges with a matrix each, which are added in order: threads share out the
 * ranges and cannot change a bit.  Within a range, CHUNK rows at a time are laid out densely (any layout and value
 * type becomes the same f64 block) and multiplied in tiles of 4 x 8, whose sums stay in registers. */
#include "la/gram.h"

#include "core/lanes.h"
#include "la/kernels.h"

#include <math.h>
#include <string.h>

/* 32 rows of 500 doubles are 125 KiB: they stay in L2.  8 ranges keep 8 threads busy. */
enum { PARTS = 8, CHUNK = 32 };

static int64_t padded(int64_t p) { return (p + 7) / 8 * 8; }

int64_t tct_gram_scratch(int64_t p) { return PARTS * (padded(p) * padded(p) + 2 * CHUNK * padded(p)); }

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
TILES(0)
TILES(1)
TILES(2)

static void tiles(const double *left, const double *right, int64_t wide, double *gram) {
  switch (tct_level()) {
    case 2: tiles_2(left, right, wide, gram); break;
    case 1: tiles_1(left, right, wide, gram); break;
    default: tiles_0(left, right, wide, gram);
  }
}

static void part(const tct_view *view, const double *weight, int64_t first, int64_t last, double *memory) {
  int64_t wide = padded(view->p);
  double *gram = memory, *right = gram + wide * wide, *left = right + CHUNK * wide;
  memset(gram, 0, (size_t)(wide * wide) * sizeof *gram);
  for (int64_t row = first; row < last; row += CHUNK) {
    memset(right, 0, (size_t)(2 * CHUNK * wide) * sizeof *right);
    for (int64_t k = 0; k < CHUNK && row + k < last; k++) {
      tct_row_axpy(view, row + k, 1, right + k * wide);
      tct_axpy(weight[row + k], right + k * wide, left + k * wide, wide);
    }
    tiles(left, right, wide, gram);
  }
}

void tct_gram(const tct_view *view, const double *weight, double *gram, double *scratch, int threads) {
  int64_t p = view->p, wide = padded(p), each = wide * wide + 2 * CHUNK * wide;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int t = 0; t < PARTS; t++)
    part(view, weight, view->rows * t / PARTS, view->rows * (t + 1) / PARTS, scratch + t * each);
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = i; j < p; j++) {
      double sum = 0;
      for (int t = 0; t < PARTS; t++) sum += scratch[t * each + i * wide + j];
      gram[i * p + j] = gram[j * p + i] = sum;
    }
}

bool tct_cholesky(double *a, int64_t p) {
  for (int64_t j = 0; j < p; j++) {
    double *row = a + j * p;
    for (int64_t k = 0; k < j; k++) row[k] = (row[k] - tct_dot(row, a + k * p, k)) / a[k * p + k];
    double pivot = row[j] - tct_norm2(row, j);
    if (!(pivot > 0) || !isfinite(pivot)) return false;
    row[j] = sqrt(pivot);
  }
  return true;
}

void tct_cholesky_solve(const double *a, int64_t p, double *x) {
  for (int64_t i = 0; i < p; i++) x[i] = (x[i] - tct_dot(a + i * p, x, i)) / a[i * p + i];
  for (int64_t i = p - 1; i >= 0; i--) {
    x[i] /= a[i * p + i];
    tct_axpy(-x[i], a + i * p, x, i);
  }
}
