/* cox.c - the loss of a follow-up time and an event, of hazard e^z per unit of time: l(z, y) = |y| e^z - [y > 0] z + c.
 *
 * A label is a signed time: y > 0 is an event at time y, y < 0 a follow-up that ended at |y| without one, 0 is nobody.
 * At a hazard that is constant in time this is the likelihood of an exponential time; c(y) makes its least 0.  The
 * solver dpcox lets the hazard vary between cells of time, and its score is then that of Cox's regression.
 *
 * SENSITIVITY  Neither slope nor curvature has a bound.  Only a solver that knows follow-up times takes this loss. */
#include "core/expm.h"
#include "loss/loops.h"

#include <math.h>

static const double FAR = 30; /* beyond it the parabola that meets e^z there: no margin overflows */

static inline double value(double z, double y, double h) {
  (void)h;
  double time = fabs(y), over = z > FAR ? fmin(z - FAR, 1e100) : 0;
  if (!(time > 0)) return 0;
  double passed = time * tct_exp(z < FAR ? z : FAR) * (1 + over + 0.5 * over * over);
  return fmax(0, passed - (y > 0 ? 1 + z + log(time) : 0));
}
static inline double slope(double z, double y, double h) {
  (void)h;
  double over = z > FAR ? fmin(z - FAR, 1e100) : 0;
  return fabs(y) * tct_exp(z < FAR ? z : FAR) * (1 + over) - (y > 0 ? 1 : 0);
}
static double curve(double z, double y, double h) {
  (void)h;
  return fabs(y) * tct_exp(z < FAR ? z : FAR);
}
static double curvature_bound(double h) { return (void)h, INFINITY; }
TCT_LOSS_LOOPS

const tct_loss_kind tct_loss_cox = {
    .name = "cox",
    .summary = "proportional hazards of a follow-up time and an event, e^z the hazard per unit of time",
    .words = "A Cox regression",
    .link = TCT_LINK_LOG,
    .follow_up = true,
    .slope_bound = INFINITY,
    TCT_LOSS_OWN,
};
