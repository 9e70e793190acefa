/* spectrum.h - eigenvalues and eigenvectors of a symmetric matrix. */
#ifndef TCT_LA_SPECTRUM_H
#define TCT_LA_SPECTRUM_H
#include <stdbool.h>
#include <stdint.h>

/* value[p] <- the eigenvalues of the symmetric a[p][p], in no order, and vector[k*p ...] a unit eigenvector of
 * value[k], or NULL; a is overwritten.  scratch: 3p doubles.  The same input gives the same bits; precise to about p *
 * 2^-52 of the largest.  false where it has not converged, or for entries that are not finite. */
bool tct_eigenvectors(double *a, int64_t p, double *value, double *vector, double *scratch);
#endif
