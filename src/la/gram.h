/* gram.h - the weighted Gram matrix of the bounded rows, in plain floating point. */
#ifndef TCT_LA_GRAM_H
#define TCT_LA_GRAM_H
#include "la/matrix.h"

/* Doubles of workspace that tct_gram needs. */
int64_t tct_gram_scratch(int64_t p, int threads);

/* parts[2][p][p] <- the sum over the view's rows of weight[i] * x~_i x~_i^T in the two parts of la/exact.h, upper
 * triangles only: plain sums of blocks of rows, added exactly.  largest: at least every weight, norm: every |x~_ij|,
 * the same on all ranks; rows: of all ranks.  Rows layouts only.  scratch: tct_gram_scratch(p, threads) doubles. */
void tct_gram(const tct_view *view, const double *weight, double largest, double norm, int64_t rows, double *parts,
              double *scratch, int threads);
/* The symmetric matrix [p][p] from its parts, in their place. */
void tct_gram_finish(double *parts, int64_t p);

/* The Cholesky factor of the symmetric matrix a[p][p], in its lower triangle; false where it is not positive definite.
 */
bool tct_cholesky(double *a, int64_t p);
/* x[p] <- A^-1 x for A factored by tct_cholesky. */
void tct_cholesky_solve(const double *a, int64_t p, double *x);
#endif
