/* huber.c - Huber loss of the residual r = z - y with width h, real labels.
 *
 * r^2/2 for |r| <= h, h|r| - h^2/2 beyond: a squared loss whose slope is clipped to [-h, h].
 * Conjugate: l*(-a,y) = a^2/2 - ay on |a| <= h.  Dual step: the squared loss's, clipped so that |alpha+zeta| <= h.
 * Default h = 1: the slope bound is then 1, as for the other losses. */
#include "loss/loops.h"

#include <math.h>

static inline double value(double z, double y, double h) {
  double r = fabs(z - y);
  return r <= h ? 0.5 * r * r : h * (r - 0.5 * h);
}
static inline double slope(double z, double y, double h) {
  double r = z - y;
  return r < -h ? -h : r > h ? h : r;
}
static double curve(double z, double y, double h) { return fabs(z - y) < h ? 1 : 0; }
static double curvature_bound(double h) {
  (void)h;
  return 1;
}
static double slope_bound_of(double h) { return h; }
static double conjugate(double a, double y, double h) { return fabs(a) <= h ? a * (0.5 * a - y) : INFINITY; }
static double dual_step(double alpha, double u, double s, double y, double h, int newton) {
  (void)newton;
  double a = tct_clamp(alpha, -h, h);
  return tct_dual_move(alpha, tct_clamp(a + (y - a - u) / (1 + s), -h, h), -h, h);
}
TCT_LOSS_LOOPS

static const tct_option options[] = {
    {"width", TCT_OPT_REAL, "1", 1e-6, 1e6, NULL, "residual at which the parabola turns into a line, in label units"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};

const tct_loss_kind tct_loss_huber = {
    .name = "huber",
    .summary = "squared error with slopes clipped at the given width, for real labels",
    .words = "A robust linear regression",
    .link = TCT_LINK_IDENTITY,
    .fused = TCT_FUSED_HUBER,
    .options = options,
    .slope_bound = INFINITY,
    .slope_bound_of = slope_bound_of,
    TCT_LOSS_OWN,
    .conjugate = conjugate,
    .dual_step = dual_step,
};
