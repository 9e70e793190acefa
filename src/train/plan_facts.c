/* plan_facts.c - a plan's facts in types, for programs. */
#include "model/releases.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>

static bool is_private(const tct_plan *plan) { return plan->solver->is_private && !tct_noise_off(&plan->facts); }

const char *tct_plan_solver(const tct_plan *plan) { return plan->solver_text; }
const char *tct_plan_why(const tct_plan *plan) { return plan->why[0] ? plan->why : NULL; }
int64_t tct_plan_rows(const tct_plan *plan) { return plan->facts.rows; }
int64_t tct_plan_cols(const tct_plan *plan) { return plan->cols; }
int tct_plan_has_intercept(const tct_plan *plan) { return plan->facts.intercept; }
int tct_plan_is_private(const tct_plan *plan) { return is_private(plan); }
double tct_plan_epsilon(const tct_plan *plan) { return is_private(plan) ? plan->facts.epsilon : INFINITY; }
double tct_plan_delta(const tct_plan *plan) { return is_private(plan) ? plan->facts.delta : NAN; }
tct_neighbours tct_plan_neighbours(const tct_plan *plan) { return plan->facts.neighbours; }
double tct_plan_row_norm(const tct_plan *plan) { return plan->facts.row_norm; }
double tct_plan_label_bound(const tct_plan *plan) { return plan->facts.label_bound; }

double tct_plan_weight_bound(const tct_plan *plan) {
  return is_private(plan) ? tct_solver_weight_bound(plan->solver, &plan->facts, &plan->solved) : INFINITY;
}

int64_t tct_plan_releases(const tct_plan *plan) { return is_private(plan) ? plan->solved.promise.count : 0; }

tct_status tct_plan_release(const tct_plan *plan, int64_t index, tct_release_info *out, tct_error *err) {
  tct_error_clear(err);
  if (index < 0 || index >= tct_plan_releases(plan)) return tct_release_absent(err);
  const tct_release *r = &plan->solved.promise.release[index];
  tct_event one = r->event;
  tct_release_info own = {.norm = r->norm,
                          .sensitivity = r->sensitivity,
                          .deviation = tct_release_deviation(r),
                          .lattice = r->lattice,
                          .count = r->event.count,
                          .fits = 1};
  one.count = 1;
  snprintf(own.name, sizeof own.name, "%s", r->what);
  snprintf(own.kind, sizeof own.kind, "%s", tct_event_name(one.kind));
  tct_event_print(&one, own.event, sizeof own.event);
  return tct_release_give(&own, out, err);
}
