/* normal.c - tails of the normal law and the exact curve of the Gaussian mechanism, in log form.
 *
 * With R the Mills ratio and z = epsilon/mu - mu/2, density(z + mu)*e^epsilon = density(z), so
 *   delta(epsilon) = P[N > z] - e^epsilon P[N > z + mu] = density(z) (R(z) - R(z + mu)),
 * positive term by term because R falls.  For small mu the difference is the integral of
 * -R' = 1 - xR(x) over [z, z + mu], taken by Gauss-Legendre: nothing cancels down to 1e-300. */
#include "account/curves/normal.h"

#include "account/curves/compare.h"

#include <math.h>
#include <stddef.h>

static const double log_sqrt_2pi = 0.91893853320467274178;

/* K(x) of the continued fraction R(x) = 1/(x + K), K = 1/(x + 2/(x + 3/(x + ...))), x > 4.
 * 80 levels leave less than 1e-17 at x = 4. */
static double mills_fraction(double x) {
  double tail = x;
  for (int level = 80; level >= 2; level--) tail = x + level / tail;
  return 1.0 / tail;
}

double tct_mills(double x) {
  if (x > 4) return 1.0 / (x + mills_fraction(x));
  return 0.5 * erfc(x * M_SQRT1_2) * exp(0.5 * x * x + log_sqrt_2pi);
}

double tct_mills_gap(double x) {
  if (x <= 4) return 1.0 - x * tct_mills(x);
  double k = mills_fraction(x);
  return k / (x + k);
}

double tct_log_upper_tail(double x) {
  if (x < -1) return log1p(-0.5 * erfc(-x * M_SQRT1_2));
  if (x < 4) return log(0.5 * erfc(x * M_SQRT1_2));
  return log(tct_mills(x)) - 0.5 * x * x - log_sqrt_2pi;
}

/* R(z) - R(z + mu), z >= -1. */
static double mills_drop(double z, double mu) {
  static const double node[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  if (mu > 0.25) return tct_mills(z) - tct_mills(z + mu);
  double half = 0.5 * mu, sum = 0;
  for (int k = 0; k < 4; k++)
    sum += weight[k] * (tct_mills_gap(z + half + half * node[k]) + tct_mills_gap(z + half - half * node[k]));
  return half * sum;
}

double tct_gaussian_log_delta(double mu, double epsilon, double *slope) {
  double z = epsilon / mu - 0.5 * mu;
  if (z < -1) { /* mu > 2: P[N > z] > 0.84 and the second term is no larger than half of it */
    double other = exp(epsilon + tct_log_upper_tail(z + mu));
    double delta = 0.5 * erfc(z * M_SQRT1_2) - other;
    if (slope) *slope = -other / delta;
    return log(delta);
  }
  double drop = mills_drop(z, mu);
  if (slope) *slope = -tct_mills(z + mu) / drop;
  return log(drop) - 0.5 * z * z - log_sqrt_2pi;
}

double tct_gaussian_epsilon(double mu, double log_delta) {
  if (!(mu > 0) || tct_gaussian_log_delta(mu, 0, NULL) <= log_delta) return 0;
  double low = 0, high = 0.5 * mu * mu + mu;
  while (tct_gaussian_log_delta(mu, high, NULL) > log_delta) {
    low = high;
    high *= 2;
    if (!isfinite(high)) return INFINITY;
  }
  double epsilon = 0.5 * (low + high);
  for (int i = 0; i < 200; i++) { /* Newton; halving where it leaves the bracket */
    double slope, excess = tct_gaussian_log_delta(mu, epsilon, &slope) - log_delta;
    if (excess > 0)
      low = epsilon;
    else
      high = epsilon;
    double next = epsilon - excess / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (fabs(next - epsilon) <= 4e-16 * next || high - low <= 4e-16 * high) return next;
    epsilon = next;
  }
  return high;
}

/* The root is taken at a delta moved by the curve's own error, so that it counts at the curve's own slope. */
void tct_gaussian_bracket(double mu, double delta, double margin, double out[2]) {
  double aim = log(delta), move = margin * (1 - aim);
  for (int k = 0; k < 2; k++) {
    double epsilon = tct_gaussian_epsilon(mu, k ? aim - move : tct_min(aim + move, -1e-300));
    if (k && epsilon == 0) epsilon = tct_gaussian_epsilon(mu * (1 + margin), aim - move); /* certain now if still 0 */
    double slack = epsilon * margin + mu * margin;
    out[k] = epsilon > 0 ? tct_max(0, k ? epsilon + slack : epsilon - slack) : 0;
  }
}
