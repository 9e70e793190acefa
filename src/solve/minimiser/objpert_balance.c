/* objpert_balance.c - which share of epsilon and which clip cost objective perturbation least, from public facts. */
#include "account/curves/normal.h"
#include "solve/minimiser/objpert.h"
#include "solve/minimiser/rules.def"

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

/* Lambda = K rho^2/(e^a - 1) or n lambda, whichever is more, rho = norm R, and B R = margin_reach.  sigma is the
 * deviation of a coordinate of b.  The excess loss is about sum over directions of sigma^2 (h + n lambda)/(2 (h +
 * Lambda)^2) + (Lambda - n lambda) B^2/2 + bias_part n bias(clip).  h are the curvatures of the p directions, evenly on
 * a logarithmic scale.  The largest is n K rho^2/p over hollow, the smallest e^-spectrum_depth times that.  n K rho^2/p
 * would be their mean if every record were at the loss's most curved point.  Of the fractions and the clips up to 1 the
 * pair that makes this least is taken.
 *
 * hollow, spectrum_depth, margin_reach, bias_part, tilt: measured, docs/decisions/minimiser-rules.md.
 * margin_scale: of margins; at 3 a logistic model is sure to 95 %.
 * a stays at most 1: Lambda then is about half of one record's curvature.  With less, the certificate of the minimum
 * (certified_minimum.c) would have no useful radius.
 * clip_least: with slopes cut at less than S/2, records at the boundary have no curvature either.  What minimises the
 * loss then jumps where two classes are as likely. */
enum { SHARES = 31, CLIPS = 11, DIRECTIONS = 12 };

/* What logistic slopes cut at c cost: the mean of KL(pi, pi_c) over margins t ~ N(0, margin_scale^2), as if labels
 * followed the logistic model.  pi = 1/(1 + e^|t|) is the rarer label's probability.  Where its slope 1 - pi is above
 * c, the cut loss makes pi_c = c e^-|t| of it.  Midpoint rule over five deviations. */
static double clip_bias(double c) {
  enum { POINTS = 200 };
  double sum = 0, mass = 0;
  for (int k = 0; k < POINTS; k++) {
    double g = 5 * (k + 0.5) / POINTS, weight = exp(-0.5 * g * g), pi = 1 / (1 + exp(objpert_margin_scale * g));
    double cut = c * exp(-objpert_margin_scale * g);
    mass += weight;
    if (1 - pi > c) sum += weight * (pi * log(pi / cut) + (1 - pi) * (log1p(-pi) - log1p(-cut)));
  }
  return sum / mass;
}

/* One candidate: what is fixed while shares and clips are tried. */
typedef struct trial {
  const tct_facts *facts;
  const tct_smooth_facts *smooth;
  double h[DIRECTIONS], own; /* curvatures of directions, n lambda */
  double sensitivity, mu, ridge;
  bool pure;
} trial;

static void curvatures(const tct_smooth_facts *smooth, double h[DIRECTIONS]) {
  double top = smooth->rows * smooth->curvature * smooth->row_norm * smooth->row_norm / smooth->p / objpert_hollow;
  for (int k = 0; k < DIRECTIONS; k++) h[k] = top * exp(-objpert_spectrum_depth * (k + 0.5) / DIRECTIONS);
}

/* What noise costs per unit of its variance in the weights' linear term (Lambda + h)^-2 sigma^2, or in the weights. */
static double per_variance(const trial *t, bool in_weights) {
  double sum = 0;
  for (int k = 0; k < DIRECTIONS; k++) sum += 0.5 * (t->h[k] + t->own) / (in_weights ? 1 : pow(t->h[k] + t->ridge, 2));
  return sum / DIRECTIONS;
}

/* The deviation of one coordinate of b. */
static double sigma_of(const trial *t, double clip, double part) {
  return t->smooth->row_norm * t->smooth->slope * clip * t->sensitivity / (t->mu * part);
}

/* The pure variant's output: noise of a size that hides the distance between computed and exact minimiser, which no
 * computation in doubles makes arbitrarily small (accelerate.c); share: of epsilon. */
static double output_cost(const trial *t, double clip, double budget_fraction) {
  double p = t->smooth->p, second = budget_fraction * t->facts->epsilon;
  tct_perturb set = {.ridge = t->ridge, .pure = true, .smooth = *t->smooth};
  set.smooth.ridge = t->ridge;
  set.sigma = sigma_of(t, clip, 1 - budget_fraction) / sqrt(p + 1);
  double off = tct_objpert_off(t->facts, &set, &set.smooth.linear);
  double distance = (tct_objpert_target(&set, t->sensitivity / second) + off) / t->ridge;
  double scale = 2 * sqrt(p) * distance / second; /* of a coordinate's Laplace noise */
  return p * 2 * scale * scale * per_variance(t, true);
}

enum { OUTPUTS = sizeof objpert_output_fractions / sizeof *objpert_output_fractions };

/* What noise costs at the best share for the output, which is *output. */
static double noise_cost(const trial *t, double clip, double *output) {
  double p = t->smooth->p, sigma = sigma_of(t, clip, 1), cost = p * sigma * sigma * per_variance(t, false);
  double best = INFINITY;
  *output = objpert_output_fractions[0];
  if (!t->pure) return cost;
  for (int k = 0; k < OUTPUTS; k++) {
    double fraction = objpert_output_fractions[k], part = 1 - fraction;
    double all = cost / (part * part) + output_cost(t, clip, fraction);
    if (all < best) best = all, *output = fraction;
  }
  return best;
}

/* share, clip: what was given, NaN where it is to be found. */
tct_balance tct_objpert_balance(const tct_facts *facts, const tct_smooth_facts *smooth, tct_balance given, bool pure) {
  tct_balance best = {objpert_fraction_least, 1, objpert_output_fractions[0], INFINITY};
  double bias[CLIPS], r2 = smooth->row_norm * smooth->row_norm;
  trial t = {
      .facts = facts, .smooth = smooth, .pure = pure, .sensitivity = facts->neighbours == TCT_REPLACE_ONE ? 2 : 1};
  t.own = (double)facts->rows * facts->penalty.l2;
  curvatures(smooth, t.h);
  int shares = isnan(given.budget_fraction) ? SHARES : 1, clips = isnan(given.clip) ? CLIPS : 1;
  for (int c = 0; c < clips; c++)
    bias[c] = clips > 1 ? objpert_bias_part * clip_bias(1 - (1 - objpert_clip_least) * c / (CLIPS - 1)) : 0;
  for (int k = 0; k < shares; k++) {
    double budget_fraction = shares > 1 ? objpert_fraction_least * pow(objpert_fraction_most / objpert_fraction_least,
                                                                       (double)k / (SHARES - 1))
                                        : given.budget_fraction,
           a = budget_fraction * facts->epsilon;
    t.ridge = fmax(t.own, smooth->curvature * r2 / expm1(a));
    t.mu = pure ? (facts->epsilon - a) / sqrt(smooth->p + 1) : mu_of(facts->epsilon - a, log(facts->delta), t.mu);
    double shrink = 0.5 * (t.ridge - t.own) * pow(objpert_margin_reach / facts->row_norm, 2), output;
    for (int c = 0; c < clips; c++) {
      double clip = clips > 1 ? 1 - (1 - objpert_clip_least) * c / (CLIPS - 1) : given.clip;
      double cost = noise_cost(&t, clip, &output) + shrink + smooth->rows * bias[c];
      if (cost < best.cost) best = (tct_balance){budget_fraction, clip, output, cost};
    }
  }
  if (isnan(given.budget_fraction)) best.budget_fraction = fmin(best.budget_fraction, 1 / facts->epsilon);
  return best;
}

/* A record of length R counts (rho/R)^2: to the others' curvature the ridge is larger by up to the row tilt. */
double tct_objpert_tilted(const tct_facts *facts, const tct_smooth_facts *smooth) {
  double h[DIRECTIONS], own = (double)facts->rows * facts->penalty.l2, sum = 0;
  if (!(own > 0)) return 0;
  curvatures(smooth, h);
  for (int k = 0; k < DIRECTIONS; k++) sum += 1 / (h[k] + own);
  return 0.5 * pow(objpert_tilt * own * objpert_margin_reach / facts->row_norm, 2) * sum / DIRECTIONS;
}
