/* columns.c - the loops over one column of a bounded view.
 *
 * A column's sum has one fixed order: eight lanes by position in the column, folded at the end. These are the
 * plain loops; the fused kernels of dpcd are a file of their own. */
#include "la/kernels/kernels.h"

#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"

#include <math.h>

/* A stored column, or the intercept's, which has an entry in every row. */
typedef struct column {
  const tct_view *view;
  tct_row stored; /* unless it is constant */
  bool constant;
  int64_t count;
} column;

static column column_of(const tct_view *view, int64_t j) {
  column c = {.view = view, .constant = j == view->x->cols, .count = view->rows};
  if (!c.constant) c.stored = tct_line_at(view->x, j), c.count = c.stored.n;
  return c;
}

/* Entry k of the bounded column, which stands in row *i. */
static inline double entry(const column *c, int64_t k, int64_t *i) {
  *i = c->constant ? k : tct_row_column(&c->stored, k);
  return c->view->row_scale[*i] * (c->constant ? c->view->intercept : tct_row_value(&c->stored, k));
}

double tct_col_moment_lattice(const tct_view *view, int64_t j, double bound, double lattice) {
  column c = column_of(view, j);
  double sum = 0;
  for (int64_t k = 0, i; k < c.count; k++) {
    double x = entry(&c, k, &i) / bound, square = x * x;
    sum += tct_lattice_part(square < 1 ? square : 1, lattice);
  }
  return sum;
}

double tct_col_dot(const tct_view *view, int64_t j, const double *a) {
  column c = column_of(view, j);
  double lane[TCT_LANES] = {0};
  for (int64_t k = 0, i; k < c.count; k++) {
    double x = entry(&c, k, &i);
    lane[k % TCT_LANES] += a[i] * x;
  }
  return tct_lanes_sum(lane);
}

double tct_col_dot_squares(const tct_view *view, int64_t j, const double *a) {
  column c = column_of(view, j);
  double lane[TCT_LANES] = {0};
  for (int64_t k = 0, i; k < c.count; k++) {
    double x = entry(&c, k, &i);
    lane[k % TCT_LANES] += a[i] * (x * x);
  }
  return tct_lanes_sum(lane);
}

void tct_col_axpy(const tct_view *view, int64_t j, double d, double *z) {
  column c = column_of(view, j);
  for (int64_t k = 0, i; k < c.count; k++) {
    double x = entry(&c, k, &i);
    z[i] += d * x;
  }
}

double tct_col_largest(const tct_view *view, int64_t j) {
  column c = column_of(view, j);
  double largest = 0;
  for (int64_t k = 0, i; k < c.count; k++) largest = fmax(largest, fabs(entry(&c, k, &i)));
  return largest;
}
