/* columns.c - the loops over one column of a bounded view.
 *
 * A column's sum has one fixed order: eight lanes by position in the column, folded at the end. These are the
 * plain loops; the fused kernels of dpcd are a file of their own. */
#include "la/kernels/kernels.h"

#include "la/matrix/lattice.h"

#include <math.h>

enum { LANES = 8 };

typedef struct entries {
  const void *values;
  const void *index; /* NULL: dense, row = position */
  int f32, i64;
  int64_t count;
} entries;

static entries column(const tct_view *view, int64_t j) {
  const tct_matrix *x = view->x;
  int f32 = x->value_type == TCT_F32, i64 = x->index_type == TCT_I64;
  size_t width = f32 ? 4 : 8, step = i64 ? 8 : 4;
  if (x->layout == TCT_DENSE_COLS)
    return (entries){(const char *)x->values + (size_t)(j * x->stride) * width, NULL, f32, 0, x->rows};
  int64_t from = i64 ? ((const int64_t *)x->start)[j] : ((const int32_t *)x->start)[j];
  int64_t to = i64 ? ((const int64_t *)x->start)[j + 1] : ((const int32_t *)x->start)[j + 1];
  return (entries){(const char *)x->values + (size_t)from * width, (const char *)x->index + (size_t)from * step, f32,
                   i64, to - from};
}

static inline double value_at(const entries *e, int64_t k) {
  return e->f32 ? (double)((const float *)e->values)[k] : ((const double *)e->values)[k];
}

static inline int64_t row_at(const entries *e, int64_t k) {
  if (!e->index) return k;
  return e->i64 ? ((const int64_t *)e->index)[k] : ((const int32_t *)e->index)[k];
}

static double fold(const double *lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

double tct_col_moment_lattice(const tct_view *view, int64_t j, double bound, double lattice) {
  entries e = {0};
  bool stored = j < view->x->cols;
  if (stored) e = column(view, j);
  int64_t count = stored ? e.count : view->rows;
  double sum = 0;
  for (int64_t k = 0; k < count; k++) {
    double x = view->row_scale[stored ? row_at(&e, k) : k] * (stored ? value_at(&e, k) : view->intercept) / bound;
    double square = x * x;
    sum += tct_lattice_part(square < 1 ? square : 1, lattice);
  }
  return sum;
}

double tct_col_dot(const tct_view *view, int64_t j, const double *a) {
  double lane[LANES] = {0};
  if (j == view->x->cols) {
    for (int64_t i = 0; i < view->rows; i++) lane[i % LANES] += a[i] * (view->row_scale[i] * view->intercept);
    return fold(lane);
  }
  entries e = column(view, j);
  for (int64_t k = 0; k < e.count; k++) {
    int64_t i = row_at(&e, k);
    lane[k % LANES] += a[i] * (view->row_scale[i] * value_at(&e, k));
  }
  return fold(lane);
}

double tct_col_dot_squares(const tct_view *view, int64_t j, const double *a) {
  double lane[LANES] = {0};
  entries e = {0};
  if (j < view->x->cols) e = column(view, j);
  int64_t count = j < view->x->cols ? e.count : view->rows;
  for (int64_t k = 0; k < count; k++) {
    int64_t i = j < view->x->cols ? row_at(&e, k) : k;
    double x = view->row_scale[i] * (j < view->x->cols ? value_at(&e, k) : view->intercept);
    lane[k % LANES] += a[i] * (x * x);
  }
  return fold(lane);
}

void tct_col_axpy(const tct_view *view, int64_t j, double d, double *z) {
  if (j == view->x->cols) {
    for (int64_t i = 0; i < view->rows; i++) z[i] += d * (view->row_scale[i] * view->intercept);
    return;
  }
  entries e = column(view, j);
  for (int64_t k = 0; k < e.count; k++) {
    int64_t i = row_at(&e, k);
    z[i] += d * (view->row_scale[i] * value_at(&e, k));
  }
}

double tct_col_largest(const tct_view *view, int64_t j) {
  entries e = {0};
  bool stored = j < view->x->cols;
  if (stored) e = column(view, j);
  int64_t count = stored ? e.count : view->rows;
  double largest = 0;
  for (int64_t k = 0; k < count; k++)
    largest =
        fmax(largest, fabs(view->row_scale[stored ? row_at(&e, k) : k] * (stored ? value_at(&e, k) : view->intercept)));
  return largest;
}
