/* poisson.c - Poisson loss of a count y >= 0 with a log link: l(z, y) = e^z - yz + c(y), c(y) such that its least is 0.
 *
 * e^z has no bounded curvature, so a public bound M on the margin comes with the loss.  Beyond it l goes on as the
 * parabola that meets it there: with t = z - M > 0, e^M (1 + t + t^2/2) - yz.  So the mean grows linearly there, the
 * curvature is at most e^M, and the loss is convex with a continuous slope.
 * Its least lies at z = log y for y <= e^M, else at M + y/e^M - 1.
 *
 * SENSITIVITY  A slope lies between -y and e^M (1 + t): it has no bound.  The solvers that take this loss cut each
 * record's term to a planned length, as they do for squared loss; those that need a bound on slopes refuse it. */
#include "core/expm.h"
#include "loss/loops.h"

#include <math.h>

static double least(double y, double h) {
  double top = tct_exp(h), t = y / top - 1;
  return t > 0 ? top * (1 + t + 0.5 * t * t) - y * (h + t) : y > 0 ? y - y * log(y) : 0;
}
static inline double value(double z, double y, double h) {
  double over = z > h ? z - h : 0;
  return fmax(0, tct_exp(z < h ? z : h) * (1 + over + 0.5 * over * over) - y * z - least(y, h));
}
static inline double slope(double z, double y, double h) {
  double over = z > h ? z - h : 0;
  return tct_exp(z < h ? z : h) * (1 + over) - y;
}
static double curve(double z, double y, double h) {
  (void)y;
  return tct_exp(z < h ? z : h);
}
static double curvature_bound(double h) { return tct_exp(h); }
TCT_LOSS_LOOPS

static const tct_option options[] = {
    {"margin", TCT_OPT_REAL, "2", 1e-6, 10, NULL,
     "public bound on the logarithm of the mean count; beyond it the mean grows linearly"},
    {NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL},
};

const tct_loss_kind tct_loss_poisson = {
    .name = "poisson",
    .summary = "e^z - yz for counts, whose mean is e^z up to the given margin",
    .words = "A Poisson regression",
    .options = options,
    .link = TCT_LINK_LOG,
    .counts = true,
    .slope_bound = INFINITY,
    TCT_LOSS_OWN,
};
