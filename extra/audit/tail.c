/* tail.c - bounds on chances, the normal law, and the curve of one Gaussian. */
#include "audit/audit.h"
#include "core/number.h"

#include <math.h>

double tct_audit_quantile(double p) {
  double low = -40, high = 40;
  TCT_HALVE(halving < 100, low, high, x, !(tct_normal_below(x) < p));
  return 0.5 * (low + high);
}

static double log_term(int64_t n, int64_t i, double p) {
  return lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) + (double)i * log(p) +
         (double)(n - i) * log1p(-p);
}

/* The sum over i = from, from + step, ... of the chances of i, which fall in that direction. */
static double falling(int64_t n, int64_t from, int step, double p) {
  double sum = 0, term = exp(log_term(n, from, p)), ratio = p / (1 - p);
  for (int64_t i = from; i >= 0 && i <= n && term > 1e-30; i += step) {
    sum += term;
    term *= step > 0 ? ratio * (double)(n - i) / (double)(i + 1) : (double)i / ((double)(n - i + 1) * ratio);
  }
  return sum < 1 ? sum : 1;
}

/* Terms grow up to n p and then fall: below it the other tail is summed.  A sum that began with its smallest terms
 * would begin with numbers that round to 0. */
double tct_audit_upper_tail(int64_t n, int64_t k, double p) {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  return (double)k > (double)n * p ? falling(n, k, 1, p) : 1 - falling(n, k - 1, -1, p);
}

double tct_audit_at_least(int64_t n, int64_t k, double error) {
  double low = 0, high = 1;
  if (k == 0) return 0;
  TCT_HALVE(halving < 50, low, high, p, error < tct_audit_upper_tail(n, k, p));
  return low;
}

double tct_audit_at_most(int64_t n, int64_t k, double error) { return 1 - tct_audit_at_least(n, n - k, error); }

/* Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018). */
double tct_audit_gaussian_delta(double mu, double epsilon) {
  if (!(mu > 0)) return 0;
  double far = tct_normal_below(-0.5 * mu - epsilon / mu);
  return tct_normal_below(0.5 * mu - epsilon / mu) - (far > 0 ? exp(epsilon + log(far)) : 0);
}
