/* tail.c - bounds on chances, the normal law, and the curve of one Gaussian. */
#include "audit/audit.h"

#include <math.h>

double tct_audit_phi(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

double tct_audit_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; i++) {
    double x = 0.5 * (low + high);
    if (tct_audit_phi(x) < p)
      low = x;
    else
      high = x;
  }
  return 0.5 * (low + high);
}

static double log_term(int64_t n, int64_t i, double p) {
  return lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) + (double)i * log(p) +
         (double)(n - i) * log1p(-p);
}

/* Terms grow up to n p and then fall: summed from k on until they no longer count. */
double tct_audit_upper_tail(int64_t n, int64_t k, double p) {
  double sum = 0;
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  double term = exp(log_term(n, k, p)), ratio = p / (1 - p);
  for (int64_t i = k; i <= n; i++) {
    sum += term;
    if (i >= n || (term < 1e-30 && (double)i > (double)n * p)) break;
    term = term > 0 ? term * ratio * (double)(n - i) / (double)(i + 1) : exp(log_term(n, i + 1, p));
  }
  return sum < 1 ? sum : 1;
}

double tct_audit_at_least(int64_t n, int64_t k, double error) {
  double low = 0, high = 1;
  if (k == 0) return 0;
  for (int i = 0; i < 50; i++) {
    double p = 0.5 * (low + high);
    if (tct_audit_upper_tail(n, k, p) > error)
      high = p;
    else
      low = p;
  }
  return low;
}

double tct_audit_at_most(int64_t n, int64_t k, double error) { return 1 - tct_audit_at_least(n, n - k, error); }

/* Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018). */
double tct_audit_gaussian_delta(double mu, double epsilon) {
  if (!(mu > 0)) return 0;
  double far = 0.5 * erfc((0.5 * mu + epsilon / mu) * M_SQRT1_2);
  return tct_audit_phi(0.5 * mu - epsilon / mu) - (far > 0 ? exp(epsilon + log(far)) : 0);
}

double tct_audit_mu_of(double epsilon, double delta) {
  double low = 0, high = 1;
  while (tct_audit_gaussian_delta(high, epsilon) < delta && high < 1e6) high *= 2;
  for (int i = 0; i < 80; i++) {
    double mu = 0.5 * (low + high);
    if (tct_audit_gaussian_delta(mu, epsilon) < delta)
      low = mu;
    else
      high = mu;
  }
  return 0.5 * (low + high);
}
