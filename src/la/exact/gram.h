/* gram.h - the weighted Gram matrix of the bounded rows, in plain floating point. */
#ifndef TCT_LA_EXACT_GRAM_H
#define TCT_LA_EXACT_GRAM_H
#include "la/exact/exact.h"

/* Doubles of workspace that tct_gram needs. */
int64_t tct_gram_scratch(int64_t p, int threads);

/* parts[2][p][p] <- the sum over the view's rows of weight[i] * x~_i x~_i^T in the two parts of la/exact/exact.h, lower
 * triangles only: plain sums of blocks of rows, added exactly.  bounds: on the weights and the rows.  Rows layouts
 * only.  scratch: tct_gram_scratch(p, threads) doubles. */
void tct_gram(const tct_view *view, const double *weight, const tct_exact_bounds *bounds, double *parts,
              double *scratch, int threads);
/* The symmetric matrix [p][p] from its parts, in their place. */
void tct_gram_finish(double *parts, int64_t p);

/* The coarsest power of two `step` with step^2 in {1, 2} * lattice; sums of products of its multiples are multiples of
 * the lattice. */
double tct_gram_step(double lattice);
/* sum[p][p] <- the sum over the view's rows of t_i t_i^T, t_i the row times the root of weight[i] (NULL: 1), each entry
 * truncated toward zero to a multiple of `step`: |t_i|^2 <= weight[i] * row_norm^2 as exact reals.  Exact while rows *
 * row_norm^2 < 2^52 step^2.  Rows layouts only.  scratch: tct_gram_lattice_scratch(p, threads) doubles. */
int64_t tct_gram_lattice_scratch(int64_t p, int threads);
void tct_gram_lattice(const tct_view *view, const double *weight, double step, double *sum, double *scratch,
                      int threads);
/* sum[p] <- the squares of the same t_i's entries: the diagonal of that sum.  scratch: threads * 2 p doubles. */
void tct_squares_lattice(const tct_view *view, const double *weight, double step, double *sum, double *scratch,
                         int threads);
/* a[p][p] <- (a + a^T)/2. */
void tct_symmetrise(double *a, int64_t p);
/* The least r >= 0, to part*unit and from above, with which the symmetric matrix a + (base + r) I, a[p][p], is positive
 * definite.  It is 0 for unit = 0, infinite for a matrix with entries that are not finite.  factor: [p][p],
 * overwritten. */
double tct_least_shift(const double *a, int64_t p, double base, double unit, double part, double *factor);
/* factor <- Cholesky of a + shift I; false as below. */
bool tct_cholesky_shifted(const double *a, int64_t p, double shift, double *factor);

/* The Cholesky factor of the symmetric matrix a[p][p], in its lower triangle; false where it is not positive definite.
 */
bool tct_cholesky(double *a, int64_t p);
/* x[p] <- A^-1 x for A factored by tct_cholesky. */
void tct_cholesky_solve(const double *a, int64_t p, double *x);
#endif
