/* dummy.c - Poisson loss l(z,y) = e^z - yz + c(y) of a count y >= 0, a parabola from z = width on; no dual step.
 *
 * c(y) makes the least value 0.  It lies at z = log y, or in the parabola at width + t, t = y/e^width - 1. */
#include "loss/loops.h"

#include <math.h>

static double min(double y, double h) {
  double top = exp(h), t = y / top - 1;
  return t > 0 ? top * (1 + t + 0.5 * t * t) - y * (h + t) : y > 0 ? y - y * log(y) : 0;
}
static inline double value(double z, double y, double h) {
  double over = z > h ? z - h : 0;
  return fmax(0, exp(z - over) * (1 + over + 0.5 * over * over) - y * z - min(y, h));
}
static inline double slope(double z, double y, double h) {
  double over = z > h ? z - h : 0;
  return exp(z - over) * (1 + over) - y;
}
static double curve(double z, double y, double h) {
  (void)y;
  return exp(z < h ? z : h);
}
static double curvature_bound(double h) { return exp(h); }
TCT_LOSS_LOOPS

static const tct_option options[] = {
    {"width", TCT_OPT_REAL, "2", 1e-6, 10, NULL, "margin from which on the loss is a parabola"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};

const tct_loss_kind tct_loss_dummy = {
    .name = "dummy",
    .summary = "Poisson deviance for counts",
    .options = options,
    .words = "A Poisson regression",
    .link = TCT_LINK_LOG,
    .counts = true,
    .slope_bound = INFINITY,
    .curvature_bound = curvature_bound,
    .value = value,
    .slope = slope,
    .curve = curve,
    .slopes = slopes,
    .values = values,
    .sum = sum,
};
