/* eigen.c - Jacobi's rotations in cyclic order (Golub and Van Loan, 8.5.2). */
#include "la/exact/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SWEEPS = 60 };

/* Turns the plane of j and k so that a[j][k] vanishes. */
static void rotate(double *a, double *vector, int64_t p, int64_t j, int64_t k) {
  double off = a[j * p + k], half = (a[k * p + k] - a[j * p + j]) / (2 * off);
  double t = copysign(1, half) / (fabs(half) + hypot(1, half)), c = 1 / hypot(1, t), s = t * c;
  for (int64_t i = 0; i < p; i++) {
    double x = a[i * p + j], y = a[i * p + k];
    a[i * p + j] = c * x - s * y, a[i * p + k] = s * x + c * y;
  }
  for (int64_t i = 0; i < p; i++) {
    double x = a[j * p + i], y = a[k * p + i];
    a[j * p + i] = c * x - s * y, a[k * p + i] = s * x + c * y;
    x = vector[i * p + j], y = vector[i * p + k];
    vector[i * p + j] = c * x - s * y, vector[i * p + k] = s * x + c * y;
  }
  a[j * p + k] = a[k * p + j] = 0;
}

void tct_eigenvectors(double *a, int64_t p, double *value, double *vector) {
  memset(vector, 0, (size_t)(p * p) * sizeof *vector);
  for (int64_t j = 0; j < p; j++) vector[j * p + j] = 1;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    int turned = 0;
    for (int64_t j = 0; j < p; j++)
      for (int64_t k = j + 1; k < p; k++) {
        double small = DBL_EPSILON * 0.125 * sqrt(fabs(a[j * p + j])) * sqrt(fabs(a[k * p + k]));
        if (!(fabs(a[j * p + k]) > fmax(small, DBL_MIN))) continue;
        rotate(a, vector, p, j, k);
        turned = 1;
      }
    if (!turned) break;
  }
  for (int64_t j = 0; j < p; j++) value[j] = a[j * p + j];
}
