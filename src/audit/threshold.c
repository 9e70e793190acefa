/* threshold.c - scores with and without the record become a lower bound on what an onlooker can tell.
 *
 * Thresholds come from a pilot, so that they do not depend on the scores that they cut.  For each of C thresholds
 * Clopper and Pearson give FPR <= F and TPR >= T with error e/(2C) each, and all hold together with error e.  Then
 * mu >= Phi^-1(T) - Phi^-1(F) for a claim by one Gaussian (Nasr et al. 2023).  For any claim, T may not be above the
 * power that it allows at F. */
#include "audit/audit.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int64_t above(const double *score, int64_t count, double cut) {
  int64_t sum = 0;
  for (int64_t k = 0; k < count; k++) sum += score[k] > cut;
  return sum;
}

void tct_audit_cuts(tct_scores *pilot, double *cut) {
  int64_t n = pilot->count;
  double best = -INFINITY;
  qsort(pilot->out, (size_t)n, sizeof(double), by_value);
  qsort(pilot->in, (size_t)n, sizeof(double), by_value);
  for (int64_t k = n / 5; k < n - n / 5; k += 1 + n / 20) {
    double at = 0.5 * (pilot->out[k] + pilot->in[k]);
    double tpr = ((double)above(pilot->in, n, at) + 0.5) / ((double)n + 1);
    double fpr = ((double)above(pilot->out, n, at) + 0.5) / ((double)n + 1);
    double mu = tct_audit_quantile(tpr) - tct_audit_quantile(fpr);
    if (mu > best) best = mu, cut[0] = at;
  }
  cut[1] = pilot->out[n - 1];
}

typedef struct bound {
  double mu, allowed; /* of the threshold with the largest ratio */
  double excess;      /* largest proven power minus the claimed one */
} bound;

static bound best_bound(const tct_claim *claim, const tct_scores *s, const double *cut, double error) {
  bound best = {0, 0, -1};
  for (int c = 0; c < TCT_AUDIT_CUTS; c++) {
    double each = error / (2 * TCT_AUDIT_CUTS);
    double fpr = tct_audit_at_most(s->count, above(s->out, s->count, cut[c]), each);
    double tpr = tct_audit_at_least(s->count, above(s->in, s->count, cut[c]), each);
    double power = tct_claim_power(claim, fpr);
    if (tpr - power > best.excess) best.excess = tpr - power;
    if (!(fpr < 1 && tpr > 0)) continue;
    double mu = tct_audit_quantile(tpr) - tct_audit_quantile(fpr);
    double allowed = isnan(claim->mu) ? tct_audit_quantile(power) - tct_audit_quantile(fpr) : claim->mu;
    if (mu > 0 && allowed > 0 && (best.allowed == 0 || mu / allowed > best.mu / best.allowed))
      best.mu = mu, best.allowed = allowed;
  }
  if (best.allowed == 0) best.allowed = tct_audit_quantile(tct_claim_power(claim, 0.3)) - tct_audit_quantile(0.3);
  return best;
}

enum { ROC = 40 };

/* Rates at thresholds spread over all scores, and what the claim allows; for people to look at, without confidence. */
static json_t *roc_of(const tct_claim *claim, tct_scores *s) {
  json_t *fpr = json_array(), *tpr = json_array(), *allowed = json_array();
  double n = (double)s->count;
  qsort(s->out, (size_t)s->count, sizeof(double), by_value);
  qsort(s->in, (size_t)s->count, sizeof(double), by_value);
  for (int k = 0; k <= ROC; k++) {
    int64_t at = (int64_t)(k / (double)ROC * (n - 1));
    double cut = k % 2 ? s->out[at] : s->in[at], x = (double)above(s->out, s->count, cut) / n;
    json_array_append_new(fpr, json_real(x));
    json_array_append_new(tpr, json_real((double)above(s->in, s->count, cut) / n));
    json_array_append_new(allowed, json_real(x > 0 && x < 1 ? tct_claim_power(claim, x) : x));
  }
  return json_pack("{s:o, s:o, s:o}", "false_positives", fpr, "true_positives", tpr, "claimed", allowed);
}

json_t *tct_audit_judge(tct_audit *a, const char *what, const tct_claim *claim, tct_scores *scores, const double *cut) {
  bound report = best_bound(claim, scores, cut, TCT_AUDIT_REPORT);
  bound proven = best_bound(claim, scores, cut, TCT_AUDIT_BREAK);
  if (proven.excess > 1e-12 || proven.mu > proven.allowed * (1 + 1e-9))
    tct_audit_break(
        a, "distinguishing: %s tell two neighbours apart better than is claimed (mu at least %.4g, claimed %.4g)", what,
        proven.mu, proven.allowed);
  json_t *o = json_pack("{s:I, s:f, s:f, s:f}", "runs", (json_int_t)(2 * scores->count), "error", TCT_AUDIT_REPORT,
                        "break_error", TCT_AUDIT_BREAK, "mu_lower", report.mu);
  json_object_set_new(o, "mu_claimed", tct_audit_number(report.allowed));
  json_object_set_new(o, "share", tct_audit_number(report.mu / report.allowed));
  json_object_set_new(o, "mu_proven", json_real(proven.mu));
  json_object_set_new(o, "roc", roc_of(claim, scores));
  return o;
}
