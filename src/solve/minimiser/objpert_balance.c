/* objpert_balance.c - which share of epsilon and which clip cost objective perturbation least, from public facts. */
#include "account/curves/normal.h"
#include "solve/minimiser/objpert.h"

#include <math.h>

/* To 1e-4; near: what it was at a larger epsilon by a little, 0 for none. */
static double mu_of(double epsilon, double log_delta, double near) {
  double low = 1e-9, high = near > 0 ? near : 1e3;
  if (near > 0 && tct_gaussian_log_delta(0.8 * near, epsilon, NULL) <= log_delta) low = 0.8 * near;
  while (high > low * (1 + 1e-4)) {
    double middle = sqrt(low * high);
    if (tct_gaussian_log_delta(middle, epsilon, NULL) > log_delta)
      high = middle;
    else
      low = middle;
  }
  return low;
}

/* The excess loss is about  p sigma^2/(2 (h + Lambda)) + Lambda B^2/2 + n bias(clip).  Here sigma = rho S
 * clip/mu(epsilon - a), Lambda = K rho^2/(e^a - 1), rho = norm R and B = REACH/R.  If every record were at the loss's
 * most curved point, the Hessian's mean eigenvalue would be n K rho^2/p; h is that over HOLLOW.  Of the parts a from
 * FLOOR to CEILING of epsilon and the clips from 0.5 to 1 the pair that makes this least is taken.
 *
 * HOLLOW, REACH: measured, docs/decisions/minimiser-rules.md; REACH is the 12 that the length of dpgd's path rests on.
 * SIZE: the scale of margins; at 3 a logistic model is sure to 95 %.
 * a stays at most 1: Lambda then is about half of one record's curvature.  With less, the certificate of the minimum
 * (certified_minimum.c) would have no useful radius.
 * LEAST_CLIP: with slopes cut at less than S/2, records at the boundary have no curvature either.  What minimises the
 * loss then jumps where two classes are as likely.
 * OWN: with so large a ridge of its own, as a part of what the largest part of epsilon asks for, counting records less
 * would change the problem for nothing. */
#define SIZE 3.0
#define REACH 12.0
#define HOLLOW 4.0
#define FLOOR 0.05
#define CEILING 0.5
#define LEAST_CLIP 0.5
#define OWN 0.25
enum { SHARES = 31, CLIPS = 11 };

/* What logistic slopes cut at c cost: the mean of KL(pi, pi_c) over margins t ~ N(0, SIZE^2), as if labels followed the
 * logistic model.  pi = 1/(1 + e^|t|) is the rarer label's probability.  Where its slope 1 - pi is above c, the cut
 * loss makes pi_c = c e^-|t| of it.  Midpoint rule over five deviations. */
static double clip_bias(double c) {
  enum { POINTS = 200 };
  double sum = 0, mass = 0;
  for (int k = 0; k < POINTS; k++) {
    double g = 5 * (k + 0.5) / POINTS, weight = exp(-0.5 * g * g), pi = 1 / (1 + exp(SIZE * g));
    double cut = c * exp(-SIZE * g);
    mass += weight;
    if (1 - pi > c) sum += weight * (pi * log(pi / cut) + (1 - pi) * (log1p(-pi) - log1p(-cut)));
  }
  return sum / mass;
}

/* share, clip: what was given, NaN where it is to be found. */
tct_balance tct_objpert_balance(const tct_facts *facts, const tct_smooth_facts *smooth, tct_balance given) {
  tct_balance best = {FLOOR, 1};
  double min = INFINITY, bias[CLIPS], r2 = smooth->row_norm * smooth->row_norm;
  double h = smooth->rows * smooth->curvature * r2 / smooth->p / HOLLOW,
         sensitivity = facts->neighbours == TCT_REPLACE_ONE ? 2 : 1;
  int shares = isnan(given.budget_fraction) ? SHARES : 1, clips = isnan(given.clip) ? CLIPS : 1;
  for (int c = 0; c < clips; c++) bias[c] = clips > 1 ? clip_bias(1 - (1 - LEAST_CLIP) * c / (CLIPS - 1)) : 0;
  double mu = 0;
  for (int k = 0; k < shares; k++) {
    double budget_fraction = shares > 1 ? FLOOR + (CEILING - FLOOR) * k / (SHARES - 1) : given.budget_fraction,
           a = budget_fraction * facts->epsilon;
    double ridge = fmax((double)facts->rows * facts->penalty.l2, smooth->curvature * r2 / expm1(a));
    mu = mu_of(facts->epsilon - a, log(facts->delta), mu);
    double sigma = smooth->row_norm * smooth->slope * sensitivity / mu;
    double noise = smooth->p * sigma * sigma / (2 * (h + ridge)),
           shrink = 0.5 * ridge * pow(REACH / facts->row_norm, 2);
    for (int c = 0; c < clips; c++) {
      double clip = clips > 1 ? 1 - (1 - LEAST_CLIP) * c / (CLIPS - 1) : given.clip;
      double cost = noise * clip * clip + shrink + smooth->rows * bias[c];
      if (cost < min) min = cost, best = (tct_balance){budget_fraction, clip};
    }
  }
  if (isnan(given.budget_fraction)) best.budget_fraction = fmin(best.budget_fraction, 1 / facts->epsilon);
  return best;
}

bool tct_objpert_much_ridge(const tct_facts *facts, const tct_smooth_facts *smooth) {
  double r2 = smooth->row_norm * smooth->row_norm;
  return (double)facts->rows * facts->penalty.l2 >
         OWN * smooth->curvature * r2 / expm1(fmin(1, CEILING * facts->epsilon));
}
