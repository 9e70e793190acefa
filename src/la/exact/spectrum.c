/* spectrum.c - eigenvalues by Householder's reduction to a tridiagonal matrix (Golub and Van Loan, 8.3.1) and
 * bisection with Sturm counts (8.4.1); eigenvectors by implicit QL steps with Wilkinson's shift (8.3.5). */
#include "la/exact/spectrum.h"

#include "core/lanes.h"
#include "core/stop.h"
#include "la/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* row -= at*q, and then other*v. */
#define LESS(level)                                                                                        \
  TCT_TARGET_##level static void less_##level(double at, const double *restrict q, double other,           \
                                              const double *restrict v, int64_t n, double *restrict row) { \
    for (int64_t k = 0; k < n; k++) row[k] = (row[k] - at * q[k]) - other * v[k];                          \
  }
TCT_EACH_LEVEL(LESS)

/* Rows x and y of length p are turned by the rotation (c, s). */
#define TURN(level)                                                                                                    \
  TCT_TARGET_##level static void turn_##level(double *restrict x, double *restrict y, int64_t p, double c, double s) { \
    for (int64_t k = 0; k < p; k++) {                                                                                  \
      double a = x[k], b = y[k];                                                                                       \
      x[k] = c * a - s * b;                                                                                            \
      y[k] = s * a + c * b;                                                                                            \
    }                                                                                                                  \
  }
TCT_EACH_LEVEL(TURN)

/* The block after row k of the symmetric a is turned so that row k ends after its first entry, `off`. */
static double reflect(double *a, int64_t p, int64_t k, double *v, double *q) {
  int64_t n = p - k - 1;
  memcpy(v, a + k * p + k + 1, (size_t)n * sizeof *v);
  double norm2 = tct_norm2(v, n), off = v[0] > 0 ? -sqrt(norm2) : sqrt(norm2);
  v[0] -= off;
  double size = tct_norm2(v, n);
  if (!(size > 0)) return off;
  double beta = 2 / size;
  for (int64_t i = 0; i < n; i++) q[i] = beta * tct_dot(a + (k + 1 + i) * p + k + 1, v, n);
  tct_axpy(-0.5 * beta * tct_dot(v, q, n), v, q, n);
  for (int64_t i = 0; i < n; i++) TCT_BEST(less)(v[i], q, q[i], v, n, a + (k + 1 + i) * p + k + 1);
  return off;
}

/* How many eigenvalues of the tridiagonal matrix are below x. */
static int64_t below(const double *diagonal, const double *off, int64_t p, double x, double tiny) {
  int64_t count = 0;
  double at = 1;
  for (int64_t j = 0; j < p; j++) {
    at = diagonal[j] - x - (j ? off[j - 1] * off[j - 1] / at : 0);
    if (fabs(at) < tiny) at = -tiny;
    count += at < 0;
  }
  return count;
}

void tct_eigenvalues(double *a, int64_t p, double *value, double *scratch) {
  double *off = scratch, *v = off + p, *q = v + p, size = DBL_MIN;
  for (int64_t k = 0; k + 1 < p && !tct_stopping(); k++) off[k] = reflect(a, p, k, v, q);
  double *diagonal = v;
  for (int64_t k = 0; k < p; k++) {
    diagonal[k] = a[k * p + k];
    size = fmax(size, fabs(diagonal[k]) + (k ? fabs(off[k - 1]) : 0) + (k + 1 < p ? fabs(off[k]) : 0));
  }
  for (int64_t k = 0; k < p && !tct_stopping(); k++) {
    double low = k ? value[k - 1] - 1e-14 * size : -1.01 * size, high = 1.01 * size;
    for (int t = 0; t < 100 && high - low > 1e-15 * size; t++) {
      double middle = 0.5 * (low + high);
      *(below(diagonal, off, p, middle, 1e-300 + 1e-30 * size) > k ? &high : &low) = middle;
    }
    value[k] = 0.5 * (low + high);
  }
}

/* ---- with vectors ------------------------------------------------------------------------------------------- */

/* The end of the block that begins at row l: the first place after l where the matrix falls apart. */
static int64_t block_end(const double *diagonal, const double *off, int64_t p, int64_t l) {
  int64_t m = l;
  while (m + 1 < p && fabs(off[m]) > 0x1p-53 * (fabs(diagonal[m]) + fabs(diagonal[m + 1]))) m++;
  return m;
}

/* One implicit QL step on rows l..m.  The bulge is chased upward; rows of `vector` turn with it. */
static void ql_step(double *diagonal, double *off, int64_t p, int64_t l, int64_t m, double *vector) {
  double half = (diagonal[l + 1] - diagonal[l]) / (2 * off[l]);
  double shifted = diagonal[m] - diagonal[l] + off[l] / (half + copysign(hypot(half, 1), half));
  double s = 1, c = 1, taken = 0;
  for (int64_t i = m - 1; i >= l; i--) {
    double bulge = s * off[i], rest = c * off[i], size = hypot(bulge, shifted);
    off[i + 1] = size;
    if (size == 0) { /* the matrix falls apart here */
      diagonal[i + 1] -= taken;
      off[m] = 0;
      return;
    }
    s = bulge / size, c = shifted / size;
    double old = diagonal[i + 1] - taken, sum = (diagonal[i] - old) * s + 2 * c * rest;
    taken = s * sum;
    diagonal[i + 1] = old + taken;
    shifted = c * sum - rest;
    TCT_BEST(turn)(vector + i * p, vector + (i + 1) * p, p, c, s);
  }
  diagonal[l] -= taken;
  off[l] = shifted;
  off[m] = 0;
}

static bool ql(double *diagonal, double *off, int64_t p, double *vector) {
  off[p - 1] = 0;
  for (int64_t l = 0; l < p; l++)
    for (int step = 0; block_end(diagonal, off, p, l) > l; step++) {
      if (step == 60 || tct_stopping()) return false;
      ql_step(diagonal, off, p, l, block_end(diagonal, off, p, l), vector);
    }
  return true;
}

/* The reflection that reflect() made of v is applied to every row's tail. */
static void reflect_back(const double *v, int64_t n, int64_t p, double *vector) {
  double size = tct_norm2(v, n);
  if (!(size > 0)) return;
  for (int64_t k = 0; k < p; k++) {
    double *tail = vector + k * p + p - n;
    tct_axpy(-2 / size * tct_dot(v, tail, n), v, tail, n);
  }
}

bool tct_eigenvectors(double *a, int64_t p, double *value, double *vector, double *scratch) {
  double *off = scratch, *v = off + p, *q = v + p, sum = 0;
  for (int64_t k = 0; k < p * p; k++) sum += a[k] * 0.0;
  if (sum != 0 || p < 1) return false; /* NaN unless all are finite */
  for (int64_t k = 0; k + 1 < p && !tct_stopping(); k++) {
    off[k] = reflect(a, p, k, v, q);
    memcpy(a + k * p + k + 1, v, (size_t)(p - k - 1) * sizeof *v); /* the row is done with: it keeps its reflection */
  }
  memset(vector, 0, (size_t)(p * p) * sizeof *vector);
  for (int64_t k = 0; k < p; k++) value[k] = a[k * p + k], vector[k * p + k] = 1;
  if (!ql(value, off, p, vector)) return false;
  for (int64_t k = p - 2; k >= 0 && !tct_stopping(); k--) reflect_back(a + k * p + k + 1, p - k - 1, p, vector);
  return true;
}
