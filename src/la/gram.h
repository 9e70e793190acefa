/* gram.h - the weighted Gram matrix of the bounded rows, in plain floating point. */
#ifndef TCT_LA_GRAM_H
#define TCT_LA_GRAM_H
#include "la/matrix.h"

/* Doubles of workspace that tct_gram needs. */
int64_t tct_gram_scratch(int64_t p);

/* gram[p][p] = sum over rows of weight[i] * x~_i x~_i^T, both triangles, in an order that the number of threads does
 * not change.  Rows layouts only.  scratch: tct_gram_scratch(p) doubles. */
void tct_gram(const tct_view *view, const double *weight, double *gram, double *scratch, int threads);

/* The Cholesky factor of the symmetric matrix a[p][p], in its lower triangle; false where it is not positive definite.
 */
bool tct_cholesky(double *a, int64_t p);
/* x[p] <- A^-1 x for A factored by tct_cholesky. */
void tct_cholesky_solve(const double *a, int64_t p, double *x);
#endif
