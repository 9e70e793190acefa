/* spectrum.c - eigenvalues by Householder's reduction to a tridiagonal matrix (Golub and Van Loan, 8.3.1) and
 * bisection with Sturm counts (8.4.1). */
#include "la/exact/spectrum.h"

#include "la/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
  for (int64_t i = 0; i < n; i++) {
    double *row = a + (k + 1 + i) * p + k + 1;
    tct_axpy(-v[i], q, row, n);
    tct_axpy(-q[i], v, row, n);
  }
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
  for (int64_t k = 0; k + 1 < p; k++) off[k] = reflect(a, p, k, v, q);
  double *diagonal = v;
  for (int64_t k = 0; k < p; k++) {
    diagonal[k] = a[k * p + k];
    size = fmax(size, fabs(diagonal[k]) + (k ? fabs(off[k - 1]) : 0) + (k + 1 < p ? fabs(off[k]) : 0));
  }
  for (int64_t k = 0; k < p; k++) {
    double low = k ? value[k - 1] - 1e-14 * size : -1.01 * size, high = 1.01 * size;
    for (int t = 0; t < 100 && high - low > 1e-15 * size; t++) {
      double middle = 0.5 * (low + high);
      *(below(diagonal, off, p, middle, 1e-300 + 1e-30 * size) > k ? &high : &low) = middle;
    }
    value[k] = 0.5 * (low + high);
  }
}
