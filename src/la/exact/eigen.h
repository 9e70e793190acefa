/* eigen.h - eigenvalues and eigenvectors of a symmetric matrix. */
#ifndef TCT_LA_EIGEN_H
#define TCT_LA_EIGEN_H
#include <stdint.h>

/* value[p] <- the eigenvalues of the symmetric a[p][p], in no order; the columns of vector[p][p] their eigenvectors, of
 * length 1.  a is overwritten.  Precise to about p * 2^-52 of the largest; some 10 p^3 operations. */
void tct_eigenvectors(double *a, int64_t p, double *value, double *vector);
#endif
