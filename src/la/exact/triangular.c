/* triangular.c - inverse and product of lower triangular matrices, row by row (Golub and Van Loan, 3.1). */
#include "la/exact/triangular.h"

#include "core/stop.h"
#include "la/kernels/kernels.h"

#include <string.h>

void tct_lower_invert(double *l, int64_t p, double *workspace) {
  for (int64_t i = 0; i < p && !tct_stopping(); i++) {
    memset(workspace, 0, (size_t)p * sizeof *workspace);
    for (int64_t k = 0; k < i; k++) tct_axpy(-l[i * p + k], l + k * p, workspace, k + 1);
    double pivot = l[i * p + i];
    for (int64_t k = 0; k < i; k++) l[i * p + k] = workspace[k] / pivot;
    l[i * p + i] = 1 / pivot;
    for (int64_t k = i + 1; k < p; k++) l[i * p + k] = 0;
  }
}

void tct_lower_multiply(const double *l, double *w, int64_t p, double *workspace) {
  for (int64_t i = p - 1; i >= 0 && !tct_stopping(); i--) {
    memset(workspace, 0, (size_t)p * sizeof *workspace);
    for (int64_t k = 0; k <= i; k++) tct_axpy(l[i * p + k], w + k * p, workspace, k + 1);
    memcpy(w + i * p, workspace, (size_t)(i + 1) * sizeof *w);
  }
}
