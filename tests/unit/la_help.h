/* la_help.h - random matrices and quad-precision references for the tests of la/. */
#ifndef TCT_TESTS_LA_HELP_H
#define TCT_TESTS_LA_HELP_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "la/kernels/kernels.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 quad;

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t random_u64(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline double random_unit(uint64_t *state) { return (double)(random_u64(state) >> 11) * 0x1p-53; }
static inline double random_real(uint64_t *state) { return 2 * random_unit(state) - 1; }

/* rows x cols values in [-1, 1], each zero with probability 1 - density, representable as float. */
static inline double *random_values(uint64_t *state, int64_t rows, int64_t cols, double density) {
  double *x = calloc((size_t)(rows * cols) + 1, sizeof *x);
  for (int64_t k = 0; k < rows * cols; k++)
    if (random_unit(state) < density) x[k] = (float)random_real(state);
  return x;
}
static inline tct_matrix dense(const double *x, int64_t rows, int64_t cols) {
  return (tct_matrix){.rows = rows, .cols = cols, .layout = TCT_DENSE_ROWS, .values = x, .stride = cols};
}
static inline tct_owned_matrix converted(const tct_matrix *m, tct_layout layout, tct_value_type type) {
  tct_owned_matrix to;
  assert_int_equal(tct_matrix_convert(m, layout, type, &to, NULL), TCT_OK);
  return to;
}

/* Entry (i,j) of any matrix, by a search that shares no code with the library. */
static inline double entry(const tct_matrix *m, int64_t i, int64_t j) {
  int rows = m->layout == TCT_DENSE_ROWS || m->layout == TCT_CSR;
  int64_t line = rows ? i : j, at = rows ? j : i, k = -1;
  if (m->layout == TCT_DENSE_ROWS || m->layout == TCT_DENSE_COLS) k = line * m->stride + at;
  for (int64_t t = 0; k < 0; t++) {
    int64_t from = m->index_type ? ((const int64_t *)m->start)[line] : ((const int32_t *)m->start)[line];
    int64_t to = m->index_type ? ((const int64_t *)m->start)[line + 1] : ((const int32_t *)m->start)[line + 1];
    if (from + t >= to) return 0;
    if ((m->index_type ? ((const int64_t *)m->index)[from + t] : ((const int32_t *)m->index)[from + t]) == at)
      k = from + t;
  }
  return m->value_type ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
}

/* |row_scale * (x, intercept)|^2 in 113 bits. */
static inline quad exact_norm2(const tct_view *v, int64_t i) {
  quad sum = 0, s = v->row_scale[i];
  for (int64_t j = 0; j < v->p; j++) {
    quad x = s * (j < v->x->cols ? (quad)entry(v->x, i, j) : (quad)v->intercept);
    sum += x * x;
  }
  return sum;
}
#endif
