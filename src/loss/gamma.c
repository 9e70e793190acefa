/* gamma.c - Gamma loss of an amount y >= 0 with a log link: l(z, y) = z + r + c(y) with the ratio r = y e^-z.
 *
 * Beyond the public ratio h an amount is cut: where y e^-z > h, l goes on as the line that meets it there, of slope
 * 1 - h.  So l is convex with a continuous slope, which lies in [1 - h, 1], and curvatures are at most h; no bound on
 * labels is needed for either.  Where ratios have the same law for all records, the cut moves the intercept alone.
 * c(y) makes the least of l, at z = log y, 0.  That has no bound as y falls to 0: a label below 2^-30 counts as that.
 */
#include "core/expm.h"
#include "loss/loops.h"

#include <math.h>

static const double LEAST = 0x1p-30;

/* r = y e^-z, at most h: overflow and an infinite z are cut alike. */
static inline double ratio(double z, double y, double h) {
  double at = z < -700 ? -700 : z > 700 ? 700 : z, r = fmax(y, LEAST) * tct_exp(-at);
  return r < h ? r : h;
}
static inline double value(double z, double y, double h) {
  double log_y = log(fmax(y, LEAST)), over = log_y - log(h) - z; /* how far z is below where the ratio is h */
  return fmax(0, over > 0 ? h - 1 - log(h) + (h - 1) * over : z - log_y + ratio(z, y, h) - 1);
}
static inline double slope(double z, double y, double h) { return 1 - ratio(z, y, h); }
static double curve(double z, double y, double h) {
  double r = ratio(z, y, h);
  return r < h ? r : 0;
}
static double curvature_bound(double h) { return h; }
static double slope_bound_of(double h) { return fmax(1, h - 1); }
TCT_LOSS_LOOPS

static const tct_option options[] = {
    {"ratio", TCT_OPT_REAL, "8", 2, 1e6, NULL, "an amount of more times its mean counts as so many times"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};

const tct_loss_kind tct_loss_gamma = {
    .name = "gamma",
    .summary = "z + y e^-z for amounts not below 0, whose mean is e^z",
    .words = "A Gamma regression",
    .options = options,
    .link = TCT_LINK_LOG,
    .amounts = true,
    .slope_bound = INFINITY,
    .slope_bound_of = slope_bound_of,
    TCT_LOSS_OWN,
};
