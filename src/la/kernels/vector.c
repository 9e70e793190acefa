/* vector.c - dot, sum of squares and axpy of plain vectors, in eight lanes of fixed order. */
#include "la/kernels/kernels.h"
#include "la/matrix/rows_table.h"

static const tct_row_loops *loops(void) { return tct_row_loops_at(tct_level(), TCT_F64, TCT_I32); }

double tct_dot(const double *a, const double *b, int64_t n) { return loops()->dot_dense(a, b, n); }

double tct_norm2(const double *a, int64_t n) { return loops()->squares(a, n); }

void tct_axpy(double a, const double *x, double *y, int64_t n) { loops()->axpy_dense(x, a, y, n); }
