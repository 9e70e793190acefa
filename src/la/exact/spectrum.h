/* spectrum.h - the eigenvalues of a symmetric matrix. */
#ifndef TCT_LA_SPECTRUM_H
#define TCT_LA_SPECTRUM_H
#include <stdint.h>

/* value[p] <- the eigenvalues of the symmetric a[p][p], ascending; a is overwritten.  scratch: 3p doubles.  The same
 * input gives the same bits; precise to about p * 2^-52 of the largest. */
void tct_eigenvalues(double *a, int64_t p, double *value, double *scratch);
#endif
