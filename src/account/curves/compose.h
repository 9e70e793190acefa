/* compose.h - the composed privacy loss inside a window, by a tilted Fourier transform. */
#ifndef TCT_ACCOUNT_CURVES_COMPOSE_H
#define TCT_ACCOUNT_CURVES_COMPOSE_H
#include "account/curves/grid.h"

/* The sum of all losses, on the grid points offset + (first + k)h, k < len.  The mass is tilted[k] * e^{log_moment -
 * t*loss}. `tilted` is already moved to the safe side by the proven bound on its rounding.  Points below `floor` are
 * not to be read. */
typedef struct tct_law {
  double h, offset, t, log_moment;
  int64_t first, floor, len;
  double *tilted;  /* [len] */
  double infinite; /* upper: with everything above the window; lower: true infinite mass only */
  double outside;  /* upper: the part of it that is due to the window */
  double alias;    /* lower: tilted mass that may have wrapped around onto the points from floor on */
  bool upper;      /* which of both it is */
  bool proved;     /* false: nothing is known of the sum, and nothing else is to be read */
} tct_law;

/* The part of the composed loss that is wanted: from `top` downwards over `length`, read down to `floor`.  The orders
 * are those at which Chernoff's bound is taken for what lies above the top, above floor + length, and below top -
 * length.  Any orders are sound, the first two above t, the last below; the best ones are tight. */
typedef struct tct_window {
  double t, top, length, floor;
  double order_top, order_wrap, order_below;
} tct_window;

/* Most points of a window. */
extern const int64_t tct_compose_longest;
/* The window's points, a power of two; nanoseconds or so that composing and reading takes: counts made from laws and
 * window. */
double tct_compose_work(const tct_pmf *pmf, int n, const tct_window *window);

/* Of the upper law: what the window will leave out at its top, where it can be composed.  It takes the moments alone.
 */
double tct_compose_outside(const tct_pmf *pmf, int n, const tct_window *window);

/* Composes n laws on one grid width, tilted by window->t >= 0.  upper: the result dominates; otherwise it is
 * dominated.  What lies outside the window is accounted for. */
tct_status tct_compose(const tct_pmf *pmf, int n, const tct_window *window, bool upper, tct_law *out, tct_error *err);
void tct_law_free(tct_law *law);

/* Solutions inside the window; INFINITY: above it.  *inside = false: at or below its floor.
 * slope: -d log delta / d epsilon there, about. */
double tct_law_epsilon(const tct_law *law, double delta, bool *inside, double *slope);
double tct_law_delta(const tct_law *law, double epsilon, bool *inside);
#endif
