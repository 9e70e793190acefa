/* densities.c - the curves of one Gaussian, sampled or objective-perturbation step, by integrating densities.
 *
 * GAUSSIAN  delta(epsilon) is the integral of (p - e^epsilon q)+ for p = N(mu,1), q = N(0,1), summed by Simpson's rule
 * over the half line where the integrand is positive, and inverted by bisection.
 *
 * SAMPLED  The same of the mixtures.  Where a record is replaced the worst pair is (1-q) N(0) + q N(m) against the same
 * with -m (docs/proofs/dpscd-replace-one.md).
 *
 * OBJECTIVE PERTURBATION  Its curve (docs/proofs/objpert.md), a sum of Gaussian ones, averaged by Simpson's rule over
 * the privacy loss of Gaussian steps beside it.
 *
 * A CHOICE  Its losses lie within an interval of length epsilon (bounded range), and two points at the ends are worst
 * (Dong, Durfee, Rogers 2020).  The worst place of the interval is searched for. */
#include "second/densities.h"

#include "account/curves/work.h"
#include "core/number.h"

#include <math.h>

/* Steps of a sum, and of one for each node of another sum. */
enum { SIMPSON = 4000, WITHIN = 1000, LOSS_NODES = 80, BISECT = 200 };
static const double PI = 3.14159265358979323846;
/* Nanoseconds of a point of a sum over densities: of a mixture, and of the plain one. */
static const double MIXED = 100, PLAIN = 40;

double tct_log_density(double x) { return -x * x / 2 - 0.5 * log(2 * PI); }

double tct_log_mix(double x, double mu, double rate) {
  double tilt = mu * x - mu * mu / 2;
  if (rate >= 1) return tilt;
  double a = log1p(-rate), b = log(rate) + tilt;
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* ---- Gaussian --------------------------------------------------------------------------------- */

/* (p - e^epsilon q)+ at z deviations above the mean of p; the loss reaches epsilon at z = edge. */
static double plain_excess(double mu, double edge, double z) {
  double over = mu * (z - edge);
  return over > 0 ? -exp(tct_log_density(z)) * expm1(-over) : 0;
}

static double plain_sum(double mu, double edge, double low, double high, int steps) {
  double h = (high - low) / steps, sum = plain_excess(mu, edge, low) + plain_excess(mu, edge, high);
  for (int i = 1; i < steps; i++) sum += (i % 2 ? 4 : 2) * plain_excess(mu, edge, low + i * h);
  return sum * h / 3;
}

/* Beyond 40 deviations a double holds nothing, and behind the edge the mass sits within 12.  From the edge on the
 * integrand rises within a few 1/mu, which has a sum of its own. */
static double plain_delta(double mu, double epsilon, int steps) {
  double edge = epsilon / mu - mu / 2, low = fmax(-40, edge), high = low > 0 ? fmin(40, low + 12) : 40;
  if (edge == INFINITY) return 0;
  if (!(mu > 0 && isfinite(edge))) return NAN;
  double rise = fmin(high, low + 40 / mu);
  if (!tct_work_pay((rise < high ? 2 : 1) * steps * PLAIN)) return NAN;
  if (!(low < high)) return 0;
  return plain_sum(mu, edge, low, rise, steps) + (rise < high ? plain_sum(mu, edge, rise, high, steps) : 0);
}

double tct_plain_delta(double mu, double epsilon) { return plain_delta(mu, epsilon, SIMPSON); }

/* ---- sampled ---------------------------------------------------------------------------------- */

/* (p - e^epsilon q)+ at x. */
static double excess(const tct_worlds *w, double epsilon, double x) {
  double loss = tct_log_mix(x, w->mu, w->rate), base = tct_log_density(x);
  double log_p = w->forward ? base + loss : base;
  if (w->replaced) loss -= tct_log_mix(x, -w->mu, w->rate);
  double over = (w->forward ? loss : -loss) - epsilon; /* log(p/q) - epsilon */
  return over > 0 ? -exp(log_p) * expm1(-over) : 0;
}

/* The loss of a replaced record rises with x, from -infinity to infinity, and is odd. */
static double replaced_crossing(const tct_worlds *w, double epsilon) {
  double low = 0, high = 1;
  while (tct_log_mix(high, w->mu, w->rate) - tct_log_mix(high, -w->mu, w->rate) < epsilon && high < 1e6) high *= 2;
  TCT_HALVE(halving < 60, low, high, middle,
            !(tct_log_mix(middle, w->mu, w->rate) - tct_log_mix(middle, -w->mu, w->rate) < epsilon));
  return low;
}

/* Where log(p/q) = epsilon; the integrand is positive on one side of it. */
static double crossing(const tct_worlds *w, double epsilon) {
  double target = w->forward ? epsilon : -epsilon;
  if (w->replaced) return replaced_crossing(w, epsilon);
  double inside = exp(target) - (1 - w->rate);
  return inside <= 0 ? -INFINITY : (log(inside / w->rate) + w->mu * w->mu / 2) / w->mu;
}

double tct_worlds_delta(const tct_worlds *w, double epsilon) {
  if (w->rate >= 1) return tct_plain_delta(w->replaced ? 2 * w->mu : w->mu, epsilon);
  if (!(w->mu <= TCT_SECOND_APART)) return NAN;
  double from = crossing(w, epsilon), low = -40, high = w->mu + 40; /* beyond 40 sigma a double holds nothing */
  if (w->forward)
    low = fmax(low, from);
  else
    high = fmin(high, from);
  if (!(low < high)) return 0;
  /* The mass sits within some 12 of the edge or of a mode: cut there, so that the step stays small. */
  if (w->forward && low > w->mu) high = fmin(high, low + 12);
  if (!w->forward && high < 0) low = fmax(low, high - 12);
  if (!tct_work_pay(SIMPSON * MIXED)) return NAN;
  double h = (high - low) / SIMPSON, sum = excess(w, epsilon, low) + excess(w, epsilon, high);
  for (int i = 1; i < SIMPSON; i++) sum += (i % 2 ? 4 : 2) * excess(w, epsilon, low + i * h);
  return sum * h / 3;
}

double tct_worlds_epsilon(const tct_worlds *w, double delta) {
  double mu = w->replaced ? 2 * w->mu : w->mu, low = 0, high = w->rate < 1 ? 1 : mu * mu / 2 + 40 * mu;
  if (w->rate < 1 && !(mu <= TCT_SECOND_APART)) return 0;
  if (!isfinite(high)) return INFINITY;
  if (tct_worlds_delta(w, 0) <= delta) return 0;
  while (w->rate < 1 && !(tct_worlds_delta(w, high) <= delta) && high < TCT_SECOND_FAR) high *= 2;
  TCT_HALVE(halving < BISECT && high - low > 1e-12 * high, low, high, middle, tct_worlds_delta(w, middle) <= delta);
  return high;
}

/* ---- objective perturbation ------------------------------------------------------------------- */

static double objpert_delta(const tct_event *e, double factor, double epsilon) {
  double mu = 1 / e->noise, left = epsilon - e->shift;
  if (left < 0) return 1;
  double one = plain_delta(mu, left, WITHIN);
  return fmin(1, factor > 1 ? 2 * one + plain_delta(2 * mu, left, WITHIN) : one);
}

double tct_objpert_delta(const tct_event *e, double factor, double nu, double epsilon) {
  double sum = 0, h = 24.0 / LOSS_NODES;
  if (nu == 0) return objpert_delta(e, factor, epsilon);
  for (int i = 0; i <= LOSS_NODES; i++) {
    double x = -12 + i * h, weight = i == 0 || i == LOSS_NODES ? 1 : i % 2 ? 4 : 2;
    sum += weight * exp(tct_log_density(x)) * objpert_delta(e, factor, epsilon - nu * (nu / 2 + x));
  }
  return sum * h / 3;
}

/* ---- a choice --------------------------------------------------------------------------------- */

double tct_golden_least(double (*f)(double, const void *), const void *user, double low, double high, int steps,
                        double enough) {
  const double ratio = 0.6180339887498949;
  double x = high - ratio * (high - low), y = low + ratio * (high - low), fx = f(x, user), fy = f(y, user), best = fx;
  for (int k = 0; k < steps; k++) {
    best = fmin(best, fmin(fx, fy));
    if (best <= enough) break;
    if (fx < fy) {
      high = y, y = x, fy = fx;
      x = high - ratio * (high - low), fx = f(x, user);
    } else {
      low = x, x = y, fx = fy;
      y = low + ratio * (high - low), fy = f(y, user);
    }
  }
  return fmin(best, fmin(fx, fy));
}

/* What two points with losses t and t - epsilon0 show beyond epsilon, its sign turned. */
static double minus_shown(double t, const void *user) {
  const double *of = user;
  return expm1(t - of[0]) * -expm1(of[1] - t) / -expm1(-of[0]);
}

double tct_choice_delta(double epsilon0, double epsilon) {
  const double of[2] = {epsilon0, epsilon};
  if (!(epsilon < epsilon0)) return 0;
  if (!tct_work_pay(TCT_CHOICE_STEPS * PLAIN * 2)) return NAN;
  return -tct_golden_least(minus_shown, of, epsilon, epsilon0, TCT_CHOICE_STEPS, -INFINITY);
}

double tct_fair_choices_delta(double epsilon0, int64_t count, double epsilon) {
  double n = (double)count, sum = 0, up = -log1p(exp(-0.5 * epsilon0)), down = up - 0.5 * epsilon0;
  if (!(n <= 4096 && tct_work_pay(4 * n * PLAIN))) return 0;
  for (double k = n; k >= 0 && epsilon0 * (k - 0.5 * n) > epsilon; k--)
    sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * up + (n - k) * down) *
           -expm1(epsilon - epsilon0 * (k - 0.5 * n));
  return sum * (1 - 1e-9);
}
