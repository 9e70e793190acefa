/* hinge.c - hinge loss l(z,y) = max(0, 1 - yz), y = -1 or +1 (support vector machines).
 *
 * Conjugate with b = ya: l*(-a) = -b on [0,1].  Dual step: minimise -b' + yu(b'-b) + s(b'-b)^2/2 over b' in [0,1]:
 * b' = clip(b + (1 - yu)/s, 0, 1); for s = 0 the function is linear and the sign of 1 - yu decides. */
#include "loss/loops.h"

#include <math.h>

static inline double value(double z, double y, double h) {
  (void)h;
  double v = 1 - y * z;
  return v > 0 ? v : 0;
}
static inline double slope(double z, double y, double h) {
  (void)h;
  return y * z < 1 ? -y : 0;
}
static double curve(double z, double y, double h) {
  (void)z, (void)y, (void)h;
  return 0;
}
static double curvature_bound(double h) {
  (void)h;
  return INFINITY;
}
static double conjugate(double a, double y, double h) {
  (void)h;
  double b = y * a;
  return b >= 0 && b <= 1 ? -b : INFINITY;
}
static double dual_step(double alpha, double u, double s, double y, double h, int newton) {
  (void)h, (void)newton;
  double b = tct_clamp(y * alpha, 0, 1), gain = 1 - y * u;
  double to = s > 0 ? tct_clamp(b + gain / s, 0, 1) : gain > 0 ? 1 : gain < 0 ? 0 : b;
  return tct_dual_move_signed(alpha, to, y, 0, 1);
}
TCT_LOSS_LOOPS

const tct_loss_kind tct_loss_hinge = {
    .name = "hinge",
    .summary = "max(0, 1-yz) for labels -1 and +1; not smooth",
    .words = "A linear support vector machine",
    .liblinear = "L2R_L1LOSS_SVC_DUAL",
    .binary = true,
    .one_sign = true,
    .slope_bound = 1,
    TCT_LOSS_OWN,
    .conjugate = conjugate,
    .dual_step = dual_step,
};
