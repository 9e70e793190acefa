/* smoothed_hinge.c - the hinge with its corner replaced by a parabola of width h, y = -1 or +1.
 *
 * The form of Shalev-Shwartz and Zhang (SDCA, 2013; their gamma is h), with m = yz:
 *     0 for m >= 1;   (1-m)^2/(2h) for 1-h <= m <= 1;   1 - m - h/2 for m <= 1-h.
 * Conjugate with b = ya: l*(-a) = -b + h b^2/2 on [0,1].  Dual step: the zero of -1 + h b' + yu + s(b'-b), clipped to
 * [0,1]: b' = (1 - yu + s b)/(h + s), written as a move from b so that a large s loses nothing.
 * Default h = 1/2: the curvature bound 1/h is then 2, halfway between the hinge and a pure squared hinge of width 1. */
#include "loss/loops.h"

#include <math.h>

static inline double value(double z, double y, double h) {
  double v = 1 - y * z, c = v < 0 ? 0 : v;
  return c < h ? c * c / (2 * h) : c - 0.5 * h;
}
static inline double slope(double z, double y, double h) {
  double v = (1 - y * z) / h, c = v < 0 ? 0 : v > 1 ? 1 : v;
  return -y * c;
}
static double curve(double z, double y, double h) {
  double m = y * z;
  return m < 1 && m > 1 - h ? 1 / h : 0;
}
static double curvature_bound(double h) { return 1 / h; }
static double conjugate(double a, double y, double h) {
  double b = y * a;
  return b >= 0 && b <= 1 ? b * (0.5 * h * b - 1) : INFINITY;
}
static double dual_step(double alpha, double u, double s, double y, double h, int newton) {
  (void)newton;
  double b = tct_clamp(y * alpha, 0, 1);
  double to = tct_clamp(b + (1 - y * u - h * b) / (h + s), 0, 1);
  return tct_dual_move_signed(alpha, to, y, 0, 1);
}
TCT_LOSS_LOOPS

static const tct_option options[] = {
    {"width", TCT_OPT_REAL, "0.5", 1e-6, 1e6, NULL, "width of the parabola in margin units"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};

const tct_loss_kind tct_loss_smoothed_hinge = {
    .name = "smoothed_hinge",
    .summary = "hinge with a quadratic corner of the given width, for labels -1 and +1",
    .words = "A linear support vector machine",
    .fused = TCT_FUSED_SMOOTHED_HINGE,
    .options = options,
    .binary = true,
    .one_sign = true,
    .slope_bound = 1,
    TCT_LOSS_OWN,
    .conjugate = conjugate,
    .dual_step = dual_step,
};
