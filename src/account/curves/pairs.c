/* pairs.c - the dominating pair of each kind of event.
 *
 * A continuous part is a density under P over some variable x in which the loss rises; beside it there may be atoms.
 *
 * The pairs (c = 1, s = noise):
 *   gaussian          loss N(mu^2/2, mu^2), mu = f/s, f = 1 or, under replace_one, 2.
 *   sampled_gaussian  add_remove: P = (1-q)N(0,s^2) + qN(1,s^2), Q = N(0,s^2), and reversed;
 *                     replace_one: P = (1-q)N(0,s^2) + qN(1,s^2), Q with -1 (one coin for both records).
 *   laplace           f/s = eps0: half the mass at eps0, e^-eps0/2 at -eps0, density e^{(l-eps0)/2}/4
 *                     between.
 *   pure, approx      randomised response; delta0 goes to infinity.
 *   exponential       eps0-bounded range: the loss lies in [t-eps0, t] for some t.  Of all two-point laws on such
 *                     ranges the hockey-stick divergence at e^l is largest for t = (eps0+l)/2:
 *                     (1 - e^{(l-eps0)/2})^2/(1 - e^-eps0).  As a supremum of hockey-stick curves it is one
 *                     (Zhu, Dong and Wang 2022, Prop. 8): density e^{(l-eps0)/2}/(2(1-e^-eps0)) on [-eps0, eps0].
 *                     Its divergences are below randomised response's everywhere.
 *   zcdp              With y = (a - 1) sqrt(rho) the curve e^{(a-1)(a rho - l)} (1 - 1/a)^a/(a - 1), least over the
 *                     orders a (Canonne, Kamath and Steinke 2020, Prop. 12; its proof holds for every real l), is least
 *                     at l = rho + 2y sqrt(rho) - log(1 + sqrt(rho)/y), and there e^{-y^2}/a.  The mass above l is the
 *                     curve less its slope, e^{-y^2}: density 2y e^{-y^2}.
 *   objpert           docs/proofs/objpert.md.  add_remove: max(0, N(mu^2/2, mu^2)) + a.  replace_one: the curve
 *                     2G_mu(l-a) + G_2mu(l-a) holds for l >= a.  Every hockey-stick curve is convex in e^l and 1
 *                     at e^l = 0, so it lies below the convex hull.  The hull's tangent leaves the curve where
 *                     the sum of the three laws' masses above l is exactly 1. */
#include "account/curves/compare.h"
#include "account/curves/pairs.h"

#include "account/curves/normal.h"
#include "account/curves/renyi.h"

#include "core/point.h"
#include "core/expm.h"
#include "core/lanes.h"
#include "core/number.h"

#include <math.h>

/* The short forms multiply a ratio of densities by a density.  Where they hold no density is below e^-600, and no ratio
 * above e^600, as 2x - 1 <= x^2: neither factor leaves the range of a double. */
static bool short_form_holds(const tct_pair *f) {
  double reach = tct_max(f->high, -f->low);
  return TCT_POINT(mass_of_far_tails_lost, reach * reach < 1200 * f->s * f->s, 2 * reach - 1 < 600 * f->s * f->s);
}

/* ---- sampled gaussian, add_remove -------------------------------------------------------------- */

/* The loss errs by a few units of 1 and of itself, which the accountant adds to epsilon; e^loss - (1-q) loses digits
 * only where the loss hardly moves with x. */
TCT_WIDE static void remove_x(const tct_pair *f, int64_t n, const double *loss, double *x) {
  double keep = 1 - f->q, over = 1 / f->q, square = f->s * f->s, log_over = -log(f->q);
  for (int64_t i = 0; i < n; i++) {
    double far = loss[i] > 600 ? loss[i] + log_over : 0, ratio = (tct_exp(tct_min(loss[i], 600)) - keep) * over;
    double value = tct_log(ratio > 1e-300 ? ratio : 1e-300);
    value = far > 0 ? far : value;
    x[i] = ratio > 0 ? square * value + 0.5 : -INFINITY;
  }
}

TCT_WIDE static void remove_near(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  double keep = 1 - f->q, q = f->q, weight = f->weight, fall = 1 / (2 * f->s * f->s);
  for (int64_t i = 0; i < n; i++) {
    double ratio = keep + q * tct_exp((2 * x[i] - 1) * fall);
    loss[i] = tct_log(ratio);
    density[i] = weight * ratio * tct_exp(-x[i] * x[i] * fall);
  }
}

static void remove_at(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  if (short_form_holds(f)) {
    remove_near(f, n, x, density, loss);
    return;
  }
  for (int64_t i = 0; i < n; i++) { /* q e^power may leave the range of a double */
    double power = (2 * x[i] - 1) / (2 * f->s * f->s);
    loss[i] = power < 300 ? log1p(f->q * expm1(power)) : power + log(f->q);
    density[i] = f->weight * exp(loss[i] - x[i] * x[i] / (2 * f->s * f->s));
  }
}

/* ---- sampled gaussian, replace_one -------------------------------------------------------------- */

/* With c = q e^{-1/2s^2}: sinh(x/s^2 - l/2) = (1-q)/c sinh(l/2). */
static void replace_x(const tct_pair *f, int64_t n, const double *loss, double *x) {
  double log_c = log(f->q) - 1 / (2 * f->s * f->s), log_ratio = log1p(-f->q) - log_c;
  for (int64_t i = 0; i < n; i++) {
    double half = 0.5 * fabs(loss[i]);
    double log_v = log_ratio + half + log(-expm1(-2 * half)) - M_LN2;
    double inner = log_v > 300 ? log_v + M_LN2 : asinh(exp(log_v));
    x[i] = loss[i] == 0 ? 0 : copysign(f->s * f->s * (half + inner), loss[i]);
  }
}

TCT_WIDE static void replace_near(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  double keep = 1 - f->q, q = f->q, weight = f->weight, fall = 1 / (2 * f->s * f->s);
  for (int64_t i = 0; i < n; i++) {
    double up = keep + q * tct_exp((2 * x[i] - 1) * fall), down = keep + q * tct_exp((-2 * x[i] - 1) * fall);
    loss[i] = tct_log(up) - tct_log(down);
    density[i] = weight * up * tct_exp(-x[i] * x[i] * fall);
  }
}

static void replace_at(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  if (short_form_holds(f)) {
    replace_near(f, n, x, density, loss);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    double rise = (2 * x[i] - 1) / (2 * f->s * f->s), fall = (-2 * x[i] - 1) / (2 * f->s * f->s);
    double up = rise < 600 ? log1p(f->q * expm1(rise)) : rise + log(f->q);
    double down = fall < 600 ? log1p(f->q * expm1(fall)) : fall + log(f->q);
    loss[i] = up - down;
    density[i] = f->weight * exp(up - x[i] * x[i] / (2 * f->s * f->s));
  }
}

/* ---- laws in the loss itself ------------------------------------------------------------------- */

static void same_x(const tct_pair *f, int64_t n, const double *loss, double *x) {
  for (int64_t i = 0; i < n; i++) x[i] = loss[i] - f->shift;
}

static void normal_at(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  for (int64_t i = 0; i < n; i++) {
    double z = (x[i] - 0.5 * f->mu * f->mu) / f->mu;
    loss[i] = x[i] + f->shift;
    density[i] = f->weight * tct_exp(-0.5 * z * z);
  }
}

static void three_normals_at(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  for (int64_t i = 0; i < n; i++) {
    double z = (x[i] - 0.5 * f->mu * f->mu) / f->mu, y = (x[i] - 2 * f->mu * f->mu) / (2 * f->mu);
    loss[i] = x[i] + f->shift;
    density[i] = f->weight * (2 * tct_exp(-0.5 * z * z) + 0.5 * tct_exp(-0.5 * y * y));
  }
}

static void exponential_at(const tct_pair *f, int64_t n, const double *x, double *density, double *loss) {
  for (int64_t i = 0; i < n; i++) {
    loss[i] = x[i];
    density[i] = f->weight * tct_exp(0.5 * (x[i] - f->epsilon));
  }
}

/* l concave in y, so Newton's steps from below rise to the root. */
static void zcdp_x(const tct_pair *f, int64_t n, const double *loss, double *y) {
  double mu = f->mu;
  for (int64_t i = 0; i < n; i++) {
    double at = tct_max(f->low, 0.5 * (loss[i] - mu * mu) / mu), over = 1;
    for (int step = 0; step < 50 && over > 1e-16 * at; step++) {
      over = (loss[i] - mu * mu - 2 * mu * at + log1p(mu / at)) / (2 * mu + mu / (at * (at + mu)));
      if (over > 0) at += over;
    }
    y[i] = at;
  }
}

static void zcdp_at(const tct_pair *f, int64_t n, const double *y, double *density, double *loss) {
  for (int64_t i = 0; i < n; i++) {
    loss[i] = f->mu * (f->mu + 2 * y[i]) - log1p(f->mu / y[i]);
    density[i] = f->weight * y[i] * tct_exp(-y[i] * y[i]);
  }
}

/* ---- masses above ------------------------------------------------------------------------------- */

static double upper_tail(double x) { return exp(tct_log_upper_tail(x)); }

static double sampled_above(const tct_pair *f, double x) {
  return (1 - f->q) * upper_tail(x / f->s) + f->q * upper_tail((x - 1) / f->s);
}

static double normal_above(const tct_pair *f, double x) { return upper_tail(x / f->mu - 0.5 * f->mu); }

static double three_normals_above(const tct_pair *f, double x) {
  return 2 * upper_tail(x / f->mu - 0.5 * f->mu) + upper_tail(0.5 * x / f->mu - f->mu);
}

static double zcdp_above(const tct_pair *f, double y) { return f->weight * 0.5 * exp(-y * y); }

static double exponential_above(const tct_pair *f, double x) { return f->weight * -2 * expm1(0.5 * (x - f->epsilon)); }

/* ---- the events --------------------------------------------------------------------------------- */

static double tail_reach(double tail) { return sqrt(2 * log(1 / tct_min(tail, 0.5))) + 1e-3; } /* P[N > it] <= tail/2 */

/* Both parts of P's mass above `high` are below half the tail: that of N(1, s^2) counts q times only. */
static void sampled_pair(const tct_event *e, tct_neighbours neighbours, double tail, tct_pair *f) {
  double z = tail_reach(tail), s = e->noise, q = e->rate;
  f->s = f->scale = s;
  f->q = q;
  f->weight = 0.3989422804014327 / s;
  f->high = tct_max(1 + tail_reach(tail / q) * s, z * s);
  f->low = neighbours == TCT_REPLACE_ONE ? -(1 + z * s) : -(z + 1) * s;
  f->x_of = neighbours == TCT_REPLACE_ONE ? replace_x : remove_x;
  f->at = neighbours == TCT_REPLACE_ONE ? replace_at : remove_at;
  f->above = sampled_above;
  double high0 = upper_tail(f->high / s), high1 = upper_tail((f->high - 1) / s);
  double low0 = upper_tail(-f->low / s), low1 = upper_tail((1 - f->low) / s);
  f->high_p = (1 - q) * high0 + q * high1;
  f->low_p = (1 - q) * low0 + q * low1;
  f->high_q = high0; /* replace_one is its own reverse: its Q masses are not needed */
  f->low_q = low0;
}

static void normal_pair(double mu, double shift, double tail, tct_pair *f) {
  double z = tail_reach(tail);
  f->mu = f->scale = mu;
  f->shift = shift;
  f->weight = 0.3989422804014327 / mu;
  f->low = 0.5 * mu * mu - z * mu;
  f->high = 0.5 * mu * mu + z * mu;
  f->x_of = same_x;
  f->at = normal_at;
  f->above = normal_above;
  f->high_p = f->low_p = upper_tail(z);
}

/* Where the three laws' masses above sum to 1. */
static double tangent_point(double mu) {
  double low = 0, high = 2 * mu * mu + mu;
  TCT_HALVE(halving < 100, low, high, x, !(2 * upper_tail(x / mu - 0.5 * mu) + upper_tail(0.5 * x / mu - mu) > 1));
  return low; /* a hair more than 1: the safe side */
}

static void objpert_pair(const tct_event *e, tct_neighbours neighbours, double tail, tct_pair *f) {
  double mu = 1 / e->noise, z = tail_reach(tail);
  normal_pair(mu, e->shift, tail, f);
  f->low = f->low_p = 0;
  if (neighbours == TCT_REPLACE_ONE) {
    f->low = tangent_point(mu);
    f->high = 2 * mu * mu + 2 * mu * (z + 1);
    f->at = three_normals_at;
    f->above = three_normals_above;
  }
  f->high = tct_max(f->high, f->low + 0.1 * mu);
  f->high_p = upper_tail(f->high / mu - 0.5 * mu);
  if (neighbours == TCT_REPLACE_ONE) {
    f->high_p = 2 * f->high_p + upper_tail(0.5 * f->high / mu - mu);
    return;
  }
  f->atoms = 1;
  f->atom_loss[0] = f->shift;
  f->atom_mass[0] = upper_tail(0.5 * mu);
}

/* What lies below y = 0.2, 4 % of the mass, counts as if it lay there. */
static void zcdp_pair(double rho, double tail, tct_pair *f) {
  f->mu = sqrt(TCT_POINT(zcdp_pair_of_half_its_rho, rho, rho / 2));
  f->weight = 2;
  f->scale = 0.1;
  f->low = 0.2;
  f->high = sqrt(log(1 / tct_min(tail, 0.5)));
  f->x_of = zcdp_x;
  f->at = zcdp_at;
  f->above = zcdp_above;
  f->low_p = -expm1(-f->low * f->low);
  f->high_p = exp(-f->high * f->high);
}

static void two_atoms(tct_pair *f, double mass) {
  f->atoms = 2;
  f->atom_loss[0] = f->epsilon, f->atom_mass[0] = mass;
  f->atom_loss[1] = -f->epsilon, f->atom_mass[1] = mass * exp(-f->epsilon);
}

/* laplace, exponential, pure and approx: on [-epsilon, epsilon]. */
static void bounded_pair(double epsilon, tct_pair *f) {
  f->low = -epsilon;
  f->high = f->epsilon = epsilon;
  f->scale = 2.5;
  f->x_of = same_x;
  f->at = exponential_at;
  f->above = exponential_above;
}

void tct_pair_of(const tct_event *e, tct_neighbours neighbours, double tail, tct_pair *f) {
  double epsilon = tct_event_pure_epsilon(e, neighbours), mu = tct_neighbour_factor(neighbours) / e->noise;
  *f = (tct_pair){0};
  switch (e->kind) {
    case TCT_EV_SAMPLED_GAUSSIAN:
      if (e->rate < 1)
        sampled_pair(e, neighbours, tail, f);
      else
        normal_pair(mu, 0, tail, f);
      return;
    case TCT_EV_GAUSSIAN: normal_pair(mu, 0, tail, f); return;
    case TCT_EV_OBJPERT: objpert_pair(e, neighbours, tail, f); return;
    case TCT_EV_LAPLACE:
      bounded_pair(epsilon, f);
      f->weight = 0.25;
      two_atoms(f, 0.5);
      return;
    case TCT_EV_EXPONENTIAL:
      bounded_pair(epsilon, f);
      f->weight = -0.5 / expm1(-epsilon);
      return;
    case TCT_EV_PURE:
    case TCT_EV_APPROX:
      bounded_pair(epsilon, f);
      f->infinite = e->delta;
      two_atoms(f, (1 - e->delta) / (1 + exp(-epsilon)));
      return;
    case TCT_EV_ZCDP: zcdp_pair(e->rho, tail, f); return;
  }
}
