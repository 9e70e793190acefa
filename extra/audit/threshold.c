/* threshold.c - scores with and without the record become a lower bound on what an onlooker can tell.
 *
 * Thresholds come from a pilot, or from the theory, so that they do not depend on the scores that they cut.  There are
 * two tests, and both hold together with error e.
 *
 * The middle.  n guesses are made in each world, "with" where the score is above the threshold.  How many of the 2n are
 * right is a sum of independent coins, of mean 2n W.  Its upper tail is no longer than that of 2n coins of chance W
 * (Hoeffding 1956, Theorem 5).  So the bound of Clopper and Pearson on W holds, and TPR - FPR = 2 W - 1 is at least
 * that.  A claim by one Gaussian allows 2 Phi(mu/2) - 1.  One number is bounded in place of two.
 *
 * The tail.  Clopper and Pearson give FPR <= F and TPR >= T with half of the error each.  Then mu >= Phi^-1(T) -
 * Phi^-1(F) for a claim by one Gaussian (Nasr et al. 2023).  For any claim, T may not be above the power at F. */
#include "audit/audit.h"

#include "core/number.h"

#include <math.h>
#include <stdlib.h>

static int64_t above(const double *score, int64_t count, double cut) {
  int64_t sum = 0;
  for (int64_t k = 0; k < count; k++) sum += score[k] > cut;
  return sum;
}

void tct_audit_cuts(tct_scores *pilot, double *cut) {
  int64_t n = pilot->count;
  double best = -INFINITY;
  qsort(pilot->out, (size_t)n, sizeof(double), tct_ascending);
  qsort(pilot->in, (size_t)n, sizeof(double), tct_ascending);
  for (int64_t k = n / 5; k < n - n / 5; k += 1 + n / 20) {
    double at = 0.5 * (pilot->out[k] + pilot->in[k]);
    double more = (double)(above(pilot->in, n, at) - above(pilot->out, n, at));
    if (more > best) best = more, cut[TCT_CUT_MIDDLE] = at;
  }
  cut[TCT_CUT_TAIL] = pilot->out[n - 1];
}

typedef struct bound {
  double mu, allowed; /* of the test with the largest ratio */
  double excess;      /* largest proven rate minus the claimed one */
} bound;

static void take(bound *best, double mu, double allowed, double excess) {
  if (excess > best->excess) best->excess = excess;
  if (mu > 0 && allowed > 0 && (best->mu == 0 || mu / allowed > best->mu / best->allowed))
    best->mu = mu, best->allowed = allowed;
}

static void middle(const tct_claim *claim, const tct_scores *s, double cut, double error, bound *best) {
  int64_t n = s->count, right = above(s->in, n, cut) + n - above(s->out, n, cut);
  double rate = tct_audit_at_least(2 * n, right, error), advantage = tct_claim_advantage(claim);
  double allowed = isnan(claim->mu) ? 2 * tct_audit_quantile(0.5 * (1 + advantage)) : claim->mu;
  best->allowed = allowed;
  take(best, 2 * tct_audit_quantile(rate), allowed, 2 * rate - 1 - advantage);
}

static void tail(const tct_claim *claim, const tct_scores *s, double cut, double error, bound *best) {
  double fpr = tct_audit_at_most(s->count, above(s->out, s->count, cut), 0.5 * error);
  double tpr = tct_audit_at_least(s->count, above(s->in, s->count, cut), 0.5 * error);
  double power = tct_claim_power(claim, fpr), mu = 0, allowed = 0;
  if (fpr < 1 && tpr > 0) {
    mu = tct_audit_quantile(tpr) - tct_audit_quantile(fpr);
    allowed = isnan(claim->mu) ? tct_audit_quantile(power) - tct_audit_quantile(fpr) : claim->mu;
  }
  take(best, mu, allowed, tpr - power);
}

/* Most of the error goes to the test that mostly tells best. */
static bound best_bound(const tct_claim *claim, const tct_scores *s, const double *cut, double error) {
  bound best = {0, 0, -1};
  middle(claim, s, cut[TCT_CUT_MIDDLE], 0.8 * error, &best);
  tail(claim, s, cut[TCT_CUT_TAIL], 0.2 * error, &best);
  return best;
}

enum { ROC = 40 };

/* Rates at thresholds spread over all scores, and what the claim allows; for people to look at, without confidence. */
static json_t *roc_of(const tct_claim *claim, tct_scores *s) {
  json_t *fpr = json_array(), *tpr = json_array(), *allowed = json_array();
  double n = (double)s->count;
  qsort(s->out, (size_t)s->count, sizeof(double), tct_ascending);
  qsort(s->in, (size_t)s->count, sizeof(double), tct_ascending);
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
  json_t *o = json_pack("{s:I, s:f, s:f, s:f}", "runs", 2 * (json_int_t)scores->count, "error", TCT_AUDIT_REPORT,
                        "break_error", TCT_AUDIT_BREAK, "mu_lower", report.mu);
  tct_json_put(o, "mu_claimed", report.allowed);
  tct_json_put(o, "share", report.mu / report.allowed);
  json_object_set_new(o, "mu_proven", json_real(proven.mu));
  json_object_set_new(o, "roc", roc_of(claim, scores));
  return o;
}
