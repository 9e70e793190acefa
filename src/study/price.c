/* price.c - what everything costs together, by the accountants; and what it takes to compute that again. */
#include "account/curves/work.h"
#include "core/point.h"
#include "second/cross_check.h"
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

tct_status tct_price_tries(const tct_tries *tries, const tct_whole *claim, tct_event *event, double *work,
                           tct_error *err) {
  tct_work before = tct_work_begin(TCT_WORK_VERIFY); /* who verifies asks for this price */
  tct_status status = tct_tries_event(tries, claim->neighbours, claim->delta, event, err);
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

static tct_status check_work(const tct_events *events, const tct_whole *claim, double work, int64_t settings,
                             tct_error *err) {
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

static tct_status refuse_unproved(tct_error *err) {
  return tct_fail(err, TCT_E_USAGE,
                  "a second method does not prove what this plan would claim, and its model could not be verified; ask "
                  "for fewer steps, or for an epsilon and delta nearer to 1");
}

static bool asked_by_verify(void) { return isfinite(tct_work_left()); }

tct_status tct_price_verifiable(const tct_events *events, const tct_whole *claim, double work, int64_t settings,
                                tct_error *err) {
  if (!isfinite(claim->epsilon) || asked_by_verify()) return TCT_OK;
  if (work > 0) TCT_TRY(check_work(events, claim, work, settings, err));
  const tct_accountant *by = claim->by ? tct_accountant_find(claim->by) : NULL;
  tct_work before = tct_work_begin(TCT_WORK_SECOND);
  tct_second_claim answer = tct_second_of_claim(events, claim->neighbours, claim->epsilon * (1 + TCT_SECOND_SLACK),
                                                claim->delta, by && by->tight);
  bool known = !tct_work_end(before).over;
  bool proved = TCT_POINT(second_method_not_asked, known && answer.holds && answer.possible, true);
  return proved ? TCT_OK : refuse_unproved(err);
}

tct_status tct_price_tries_verifiable(const tct_tries *tries, const tct_whole *claim, tct_error *err) {
  tct_second_best second;
  const tct_second_search own = {tries->fit, tries->count, tries->score, tries->mean, tries->apart};
  if (asked_by_verify()) return TCT_OK;
  tct_work before = tct_work_begin(TCT_WORK_SECOND);
  tct_second_of_search(&own, claim->neighbours, claim->delta, &second);
  if (tct_work_end(before).over) return TCT_OK; /* then verify cannot contradict it either */
  tct_second_claim answer = tct_second_of_tries(&second, claim->epsilon);
  bool proved = TCT_POINT(second_method_not_asked, answer.holds && answer.possible, true);
  return proved ? TCT_OK : refuse_unproved(err);
}
