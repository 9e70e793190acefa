/* price.c - what everything costs together, by the accountants; and what it takes to compute that again. */
#include "account/curves/work.h"
#include "account/pld.h"
#include "account/selection.h"
#include "study/study.h"

#include <math.h>

/* Relative width of the accountants' brackets: a price may be loose, but is never low. */
static const double PRECISION = 1e-3;
/* Left for a second opinion, and for what the last digits of another machine change. */
static const double SPARE = TCT_WORK_SECOND + 0.05 * TCT_WORK_VERIFY;

tct_status tct_price(const tct_events *list, tct_whole *claim, double *epsilon, tct_error *err) {
  tct_bracket bracket;
  tct_status status = TCT_OK;
  char why[200];
  *epsilon = INFINITY;
  for (int i = 0; i < tct_accountant_count && status == TCT_OK; i++) {
    const tct_accountant *a = tct_accountants[i];
    if (!a->applies(list, claim->neighbours, why, sizeof why)) continue;
    status = tct_accountant_epsilon(a, list, claim->neighbours, claim->delta, PRECISION, &bracket, err);
    if (status == TCT_OK && bracket.upper < *epsilon) *epsilon = bracket.upper, claim->by = a->name;
  }
  if (status != TCT_E_USAGE && status != TCT_E_BUDGET) return status;
  *epsilon = INFINITY;
  return TCT_OK;
}

tct_status tct_price_tries(const tct_events *one, size_t count, int64_t mean, const tct_whole *claim, tct_event *event,
                           double *work, tct_error *err) {
  tct_work before = tct_work_begin(TCT_WORK_VERIFY); /* who verifies asks for this price */
  tct_status status = tct_selection_event(one, count, claim->neighbours, mean, claim->delta, event, err);
  tct_work own = tct_work_end(before);
  *work = own.over ? INFINITY : own.spent;
  return status;
}

/* The claim as verify computes it. */
static double claim_work(const tct_events *events, const tct_whole *claim) {
  const tct_accountant *by = claim->by ? tct_accountant_find(claim->by) : NULL;
  double upper;
  tct_work before = tct_work_begin(TCT_WORK_VERIFY);
  tct_accountant_upper(by ? by : &tct_accountant_basic, events, claim->neighbours, claim->delta, TCT_PRECISION, &upper,
                       NULL);
  tct_work own = tct_work_end(before);
  return own.over ? INFINITY : own.spent;
}

tct_status tct_price_verifiable(const tct_events *events, const tct_whole *claim, double work, int64_t settings,
                                tct_error *err) {
  if (!isfinite(claim->epsilon) || isfinite(tct_work_left())) return TCT_OK;
  if (work <= TCT_WORK_VERIFY - SPARE) work += claim_work(events, claim);
  if (work <= TCT_WORK_VERIFY - SPARE) return TCT_OK;
  if (settings == 1)
    return tct_fail(
        err, TCT_E_USAGE,
        "to verify the model of this plan would take more work than is done for one; ask for fewer steps, or "
        "for an epsilon and delta nearer to 1");
  return tct_fail(err, TCT_E_USAGE,
                  "to verify the model of these %lld settings would take more work than is done for one; give fewer, "
                  "or solvers whose noise is quickly planned, e.g. dpgd",
                  (long long)settings);
}
