/* row_block.c - row loops over four dense rows at once.
 *
 * Row by row, a short row costs more in calls and folds than in arithmetic, and a sum's vector is loaded and stored for
 * every row.  Here four rows share both.  Each row's operations are those of rows_body.h in their order.  Lane l takes
 * the entries l, l+8, ...; a sum takes its rows one after the other.  So nothing depends on which of the two ran. */
#include "la/kernels/row_block.h"

#include "la/kernels/kernels.h"
#include "la/matrix/rows_access.h"

#include <string.h>

enum { GROUP = 4 };
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* lane[l] <- lane l of the four rows' sums. */
#define LOW(a) __builtin_shufflevector(a, a, 0, 1, 2, 3)
#define HIGH(a) __builtin_shufflevector(a, a, 4, 5, 6, 7)
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define FIRST(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define LAST(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define TURN(part, sum, lane)                                                                                     \
  do {                                                                                                            \
    four a = part((sum)[0]), b = part((sum)[1]), c = part((sum)[2]), d = part((sum)[3]);                          \
    four ab = EVEN(a, b), cd = EVEN(c, d), ab1 = ODD(a, b), cd1 = ODD(c, d);                                      \
    (lane)[0] = FIRST(ab, cd), (lane)[1] = FIRST(ab1, cd1), (lane)[2] = LAST(ab, cd), (lane)[3] = LAST(ab1, cd1); \
  } while (0)

#define SLAB(type, VALUE, LOAD8, level)                                                                                \
  TCT_TARGET_##level static void dots_##type##_##level(const void *values, int64_t stride, int64_t n, const double *w, \
                                                       double *z) {                                                    \
    const VALUE *x = values, *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;                                   \
    tct_f64x8 sum[GROUP] = {{0}};                                                                                      \
    int64_t j = 0;                                                                                                     \
    for (; j + 8 <= n; j += 8) {                                                                                       \
      tct_f64x8 at = *(const tct_f64x8 *)(w + j);                                                                      \
      sum[0] += LOAD8(x + j) * at;                                                                                     \
      sum[1] += LOAD8(x1 + j) * at;                                                                                    \
      sum[2] += LOAD8(x2 + j) * at;                                                                                    \
      sum[3] += LOAD8(x3 + j) * at;                                                                                    \
    }                                                                                                                  \
    four lane[8];                                                                                                      \
    TURN(LOW, sum, lane);                                                                                              \
    TURN(HIGH, sum, lane + 4);                                                                                         \
    for (int l = 0; j + l < n; l++) {                                                                                  \
      four tail = {x[j + l], x1[j + l], x2[j + l], x3[j + l]};                                                         \
      lane[l] += tail * w[j + l];                                                                                      \
    }                                                                                                                  \
    *(four *)z = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));            \
  }                                                                                                                    \
  TCT_TARGET_##level static void adds_##type##_##level(const void *values, int64_t stride, int64_t n, const double *b, \
                                                       double *sum) {                                                  \
    const VALUE *x = values, *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;                                   \
    int64_t j = 0;                                                                                                     \
    for (; j + 8 <= n; j += 8) {                                                                                       \
      tct_f64x8 s = *(const tct_f64x8 *)(sum + j);                                                                     \
      s += LOAD8(x + j) * b[0];                                                                                        \
      s += LOAD8(x1 + j) * b[1];                                                                                       \
      s += LOAD8(x2 + j) * b[2];                                                                                       \
      s += LOAD8(x3 + j) * b[3];                                                                                       \
      *(tct_f64x8 *)(sum + j) = s;                                                                                     \
    }                                                                                                                  \
    for (; j < n; j++) sum[j] = (((sum[j] + x[j] * b[0]) + x1[j] * b[1]) + x2[j] * b[2]) + x3[j] * b[3];               \
  }
#define SLAB_F64(level) SLAB(f64, double, TCT_LOAD8_0##level, level)
#define SLAB_F32(level) SLAB(f32, float, TCT_LOAD8_1##level, level)
TCT_EACH_LEVEL(SLAB_F64)
TCT_EACH_LEVEL(SLAB_F32)
#undef SLAB

typedef void dots_loop(const void *values, int64_t stride, int64_t n, const double *w, double *z);
typedef void adds_loop(const void *values, int64_t stride, int64_t n, const double *b, double *sum);

/* Where the four rows' values may be multiplied before they are scaled (rows.c, WHICH PATH). */
static bool plain(const double *scale) {
  return tct_scale_plain(scale[0]) && tct_scale_plain(scale[1]) && tct_scale_plain(scale[2]) &&
         tct_scale_plain(scale[3]);
}

static const void *row_from(const tct_matrix *m, int64_t i) {
  return (const char *)m->values + i * m->stride * (int64_t)tct_value_size(m);
}

void tct_row_block_dot(const tct_view *view, int64_t first, int64_t count, const double *w, double *z) {
  const tct_matrix *m = view->x;
  dots_loop *dots = m->value_type == TCT_F32 ? TCT_BEST(dots_f32) : TCT_BEST(dots_f64);
  double last = view->intercept != 0 ? view->intercept * w[view->p - 1] : 0;
  int64_t k = 0;
  for (; m->layout == TCT_DENSE_ROWS && k + GROUP <= count; k += GROUP) {
    const double *s = view->row_scale + first + k;
    if (!plain(s)) {
      for (int r = 0; r < GROUP; r++) z[k + r] = tct_row_dot(view, first + k + r, w);
      continue;
    }
    tct_rows_touch(m, first + k, first + k + GROUP);
    dots(row_from(m, first + k), m->stride, m->cols, w, z + k);
    for (int r = 0; r < GROUP; r++) z[k + r] = s[r] * (z[k + r] + last);
  }
  for (; k < count; k++) z[k] = tct_row_dot(view, first + k, w);
}

void tct_row_block_add(const tct_view *view, int64_t first, int64_t count, const double *a, double *sum) {
  const tct_matrix *m = view->x;
  adds_loop *adds = m->value_type == TCT_F32 ? TCT_BEST(adds_f32) : TCT_BEST(adds_f64);
  int64_t k = 0;
  for (; m->layout == TCT_DENSE_ROWS && k + GROUP <= count; k += GROUP) {
    const double *s = view->row_scale + first + k;
    double b[GROUP];
    if (!plain(s)) {
      for (int r = 0; r < GROUP; r++) tct_row_axpy(view, first + k + r, a[k + r], sum);
      continue;
    }
    for (int r = 0; r < GROUP; r++) b[r] = a[k + r] * s[r];
    tct_rows_touch(m, first + k, first + k + GROUP);
    adds(row_from(m, first + k), m->stride, m->cols, b, sum);
    for (int r = 0; view->intercept != 0 && r < GROUP; r++) sum[view->p - 1] += b[r] * view->intercept;
  }
  for (; k < count; k++) tct_row_axpy(view, first + k, a[k], sum);
}
