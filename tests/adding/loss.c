/* dummy.c - log-cosh loss of the residual r = z - y with width h, real labels; no dual step.
 *
 * h log cosh(r/h): the slope is tanh(r/h), the curve 1/(h cosh(r/h)^2), whose peak is narrow where h is small. */
#include "loss/loops.h"

#include <math.h>

static inline double value(double z, double y, double h) {
  double r = fabs(z - y);
  return fmax(0, r + h * (log1p(exp(-2 * r / h)) - M_LN2));
}
static inline double slope(double z, double y, double h) { return tanh((z - y) / h); }
static double curve(double z, double y, double h) { return 1 / (h * pow(cosh((z - y) / h), 2)); }
static double curvature_bound(double h) { return 1 / h; }
TCT_LOSS_LOOPS

static const tct_option options[] = {
    {"width", TCT_OPT_REAL, "1", 1e-6, 1e6, NULL, "residual at which the parabola turns into a line, in label units"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};

const tct_loss_kind tct_loss_dummy = {
    .name = "dummy",
    .summary = "log-cosh of the residual over a width",
    .options = options,
    .words = "A robust linear regression",
    .link = TCT_LINK_IDENTITY,
    .slope_bound = 1,
    .curvature_bound = curvature_bound,
    .value = value,
    .slope = slope,
    .curve = curve,
    .slopes = slopes,
    .values = values,
    .sum = sum,
};
