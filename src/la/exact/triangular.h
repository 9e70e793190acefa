/* triangular.h - lower triangular matrices by rows, in plain floating point. */
#ifndef TCT_LA_TRIANGULAR_H
#define TCT_LA_TRIANGULAR_H
#include <stdint.h>

/* l[p][p] <- its inverse; room: [p]. */
void tct_lower_invert(double *l, int64_t p, double *workspace);
/* w[p][p] <- l w; room: [p]. */
void tct_lower_multiply(const double *l, double *w, int64_t p, double *workspace);
#endif
