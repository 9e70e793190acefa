/* compose.h - the composed privacy loss inside a window, by a tilted Fourier transform. */
#ifndef TCT_ACCOUNT_COMPOSE_H
#define TCT_ACCOUNT_COMPOSE_H
#include "account/grid.h"

/* The sum of all losses, on the grid points offset + (first + k)h, k < len: the mass is
 * tilted[k] * e^{log_moment - t*loss}; `tilted` is already moved to the safe side by the proven bound
 * on its rounding. */
typedef struct tct_law {
  double h, offset, t, log_moment;
  int64_t first, len;
  double *tilted;  /* [len] */
  double infinite; /* upper: with everything above the window; lower: true infinite mass only */
  double alias;    /* lower: tilted mass that may have wrapped around into the window */
} tct_law;

/* Composes n laws on one grid width, tilted by t >= 0 (t near the saddle point of the delta wanted).
 * upper: the result dominates; otherwise it is dominated. The window leaves out about e^log_outside of the
 * tilted mass, and what it leaves out is accounted for. */
tct_status tct_compose(const tct_pmf *pmf, int n, double t, bool upper, double log_outside, tct_law *out,
                       tct_error *err);
void tct_law_free(tct_law *law);

/* Solutions inside the window; INFINITY: above it.  *inside = false: at or below its lower end. */
double tct_law_epsilon(const tct_law *law, double delta, bool *inside);
double tct_law_delta(const tct_law *law, double epsilon, bool *inside);
#endif
