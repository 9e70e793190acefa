/* squared.c - squared loss l(z,y) = (z-y)^2/2, real labels.
 *
 * Conjugate: l*(-a,y) = a^2/2 - ay, all a.  Dual step: the minimiser of (alpha+zeta)^2/2 - (alpha+zeta)y + u*zeta +
 * s*zeta^2/2 is zeta = (y - alpha - u)/(1 + s). */
#include "loss/loops.h"

#include <math.h>

static inline double value(double z, double y, double h) {
  (void)h;
  double r = z - y;
  return 0.5 * r * r;
}
static inline double slope(double z, double y, double h) {
  (void)h;
  return z - y;
}
static double curve(double z, double y, double h) {
  (void)z, (void)y, (void)h;
  return 1;
}
static double curvature_bound(double h) {
  (void)h;
  return 1;
}
static double conjugate(double a, double y, double h) {
  (void)h;
  return a * (0.5 * a - y);
}
static double dual_step(double alpha, double u, double s, double y, double h, int newton) {
  (void)h, (void)newton;
  return (y - alpha - u) / (1 + s);
}
TCT_LOSS_LOOPS

const tct_loss_kind tct_loss_squared = {
    .name = "squared",
    .summary = "squared error (z-y)^2/2 for real labels",
    .words = "A linear regression",
    .link = TCT_LINK_IDENTITY,
    .fused = TCT_FUSED_SQUARED,
    .least_squares = true,
    .slope_bound = INFINITY,
    TCT_LOSS_OWN,
    .conjugate = conjugate,
    .dual_step = dual_step,
};
