/* majority.c - the best constant prediction, without privacy: the floor that every model should beat.
 *
 * PROBLEM  min over models whose only weight is the intercept.
 *
 * ALGORITHM  Two classes: the log-odds of the label counts, half a record added to either, whose sign is the larger
 * class. Real labels: their mean.
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  One pass over the labels.
 *
 * DEPARTS  Lee and Kifer 2018 predict the larger class; log-odds make the loss comparable too. */
#include "solve/solve.h"

#include <string.h>

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, NULL, out, err));
  if (!facts->intercept)
    return tct_fail(err, TCT_E_USAGE,
                    "majority predicts a constant, which needs the intercept; leave out {no_intercept}");
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  (void)plan, (void)mech, (void)err;
  double ahead = 0, against = 0, sum = 0;
  int64_t p = problem->view->p;
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t i = 0; i < problem->view->rows; i++) {
    if (problem->view->row_scale[i] == 0) continue; /* a record that was dropped */
    sum += problem->y[i];
    *(problem->y[i] > 0 ? &ahead : &against) += 1;
  }
  w[p - 1] = problem->facts->loss.kind->binary ? log((ahead + 0.5) / (against + 0.5)) : sum / fmax(1, ahead + against);
  return TCT_OK;
}

const tct_solver tct_solver_majority = {
    .name = "majority",
    .summary = "the best constant prediction, NOT private",
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
};
