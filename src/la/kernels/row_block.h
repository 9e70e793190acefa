/* row_block.h - dot products and sums over consecutive rows: the bits of kernels.h row by row, four dense rows at a
 * time. */
#ifndef TCT_LA_KERNELS_ROW_BLOCK_H
#define TCT_LA_KERNELS_ROW_BLOCK_H
#include "la/matrix/matrix.h"

/* z[k] = x~_{first+k} . w for k < count. */
void tct_row_block_dot(const tct_view *view, int64_t first, int64_t count, const double *w, double *z);
/* sum[p] += sum over k < count of a[k] * x~_{first+k}, in ascending order, in plain floating point. */
void tct_row_block_add(const tct_view *view, int64_t first, int64_t count, const double *a, double *sum);
#endif
