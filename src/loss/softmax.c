/* softmax.c - softmax loss of several classes: l(z, k) = log(sum_j exp(z_j)) - z_k, one margin z_j for each class.
 *
 * A joint loss: the margins of all classes enter every slope, so a solver must take them together (loss.h, joint).  The
 * gradient in z is the vector of probabilities less 1 at the record's class.  Its entries other than k are positive and
 * sum to what entry k lacks, so its norm is at most sqrt(2).  The Hessian diag(q) - q q^T is at most 1/2: v^T H v is
 * the variance of v under q, at most a quarter of its range squared, and the range is at most sqrt(2) |v|.
 *
 * As a function of one margin, the others held, it is logistic loss up to a shift: value, slope and curve are those. */
#include "loss/loops.h"

#include <math.h>

extern const tct_loss_kind tct_loss_logistic;

static double value(double z, double y, double h) { return tct_loss_logistic.value(z, y, h); }
static double slope(double z, double y, double h) { return tct_loss_logistic.slope(z, y, h); }
static double curve(double z, double y, double h) { return tct_loss_logistic.curve(z, y, h); }
static double curvature_bound(double h) {
  (void)h;
  return 0.5;
}
static void slopes(const double *z, const double *y, double h, double *out, int64_t n) {
  tct_loss_logistic.slopes(z, y, h, out, n);
}
static void values(const double *z, const double *y, double h, double *out, int64_t n) {
  tct_loss_logistic.values(z, y, h, out, n);
}
static double sum(const double *z, const double *y, double h, int64_t n) { return tct_loss_logistic.sum(z, y, h, n); }

/* In the probabilities' sum the largest term is 1, so nothing overflows.  Where the sum over the others is lost beside
 * it, the loss is 0 and not below. */
static double joint(double *z, int64_t classes, int64_t y) {
  double max = z[0], total = 0, own = z[y];
  for (int64_t k = 1; k < classes; k++) max = fmax(max, z[k]);
  for (int64_t k = 0; k < classes; k++) total += z[k] = exp(z[k] - max);
  for (int64_t k = 0; k < classes; k++) z[k] /= total;
  z[y] -= 1;
  return max - own + log(total);
}

static const tct_option options[] = {
    {"classes", TCT_OPT_COUNT, "3", 3, 10000, NULL, "how many; command line and Python take it from the public list"},
    {0},
};

const tct_loss_kind tct_loss_softmax = {
    .name = "softmax",
    .summary = "log(sum exp z) - z of the record's class: one fit of more than two classes",
    .options = options,
    .words = "A softmax regression",
    .liblinear = "MCSVM_CS",
    .link = TCT_LINK_SOFTMAX,
    .binary = true,
    .one_sign = true,
    .slope_bound = 0x1.6a09e667f3bcdp0, /* sqrt(2), rounded up */
    TCT_LOSS_OWN,
    .joint = joint,
};
