/* verifiable.c - what it takes to verify the model of a composition: counted before anything is charged. */
#include "account/account.h"
#include "account/curves/work.h"
#include "account/pld.h"
#include "several/composition.h"

#include <math.h>

/* Left for a second opinion, and for what the last digits of another machine change. */
static const double SPARE = TCT_WORK_SECOND + 0.05 * TCT_WORK_VERIFY;

/* The claim as verify computes it. */
static double claim_work(const tct_composition *c) {
  tct_events list = {0};
  tct_cost cost;
  tct_work before = tct_work_begin(TCT_WORK_VERIFY);
  if (tct_composition_events(c, &list, NULL) == TCT_OK)
    tct_account_upper(&list, c->neighbours, c->delta, TCT_PRECISION, false, &cost, NULL);
  tct_events_free(&list);
  tct_work own = tct_work_end(before);
  return own.over ? INFINITY : own.spent;
}

tct_status tct_composition_verifiable(const tct_composition *c, double again, tct_error *err) {
  double work = again;
  if (!isfinite(c->epsilon) || isfinite(tct_work_left())) return TCT_OK; /* verify composes within its own purse */
  for (int64_t j = 0; j < c->parts; j++) work += c->part[j].plan->work;
  if (work <= TCT_WORK_VERIFY - SPARE) work += claim_work(c);
  if (work <= TCT_WORK_VERIFY - SPARE) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "to verify the model of these %lld settings would take more work than is done for one; give fewer, "
                  "or solvers whose noise is quickly planned, e.g. dpgd",
                  (long long)c->parts);
}
