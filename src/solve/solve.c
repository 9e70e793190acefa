/* solve.c - the table of solvers, and what they all share. */
#include "core/stop.h"
#include "solve/solve.h"

#include <string.h>

#define TCT_SOLVER(name) extern const tct_solver tct_solver_##name;
#include "solve/list.def"
#undef TCT_SOLVER

const tct_solver *const tct_solvers[] = {
#define TCT_SOLVER(name) &tct_solver_##name,
#include "solve/list.def"
#undef TCT_SOLVER
};
const int tct_solver_count = sizeof tct_solvers / sizeof *tct_solvers;

const tct_solver *tct_solver_find(const char *name) {
  for (int i = 0; i < tct_solver_count; i++)
    if (!strcmp(tct_solvers[i]->name, name)) return tct_solvers[i];
  return NULL;
}

double tct_solver_weight_bound(const tct_solver *solver, const tct_facts *facts, const tct_solver_plan *plan) {
  if (!solver->weight_bound || !isfinite(facts->epsilon)) return INFINITY;
  double max = solver->weight_bound(facts, plan) * (1 + 1e-6);
  return max >= 0 ? max : INFINITY;
}

void tct_solver_plan_free(tct_solver_plan *plan) { tct_promise_free(&plan->promise); }

static const double BEFORE_THE_END = 1 - 0x1p-53;

static void show(tct_progress *p, double fraction) {
  if (fraction > p->last) p->last = fmin(fraction, BEFORE_THE_END);
  if (p->call) p->call(p->last, p->user);
}

void tct_progress_end(const tct_progress *progress) {
  if (progress->call) progress->call(1, progress->user);
}

tct_status tct_problem_tick(const tct_problem *problem, double fraction, tct_error *err) {
  if (problem->cancel && problem->cancel(problem->user)) return tct_fail_cancelled(err);
  if (problem->progress) show(problem->progress, fraction);
  return TCT_OK;
}

tct_status tct_plan_begin(const tct_facts *facts, const tct_spec *given, const tct_option *options,
                          tct_solver_plan *out, tct_error *err) {
  memset(out, 0, sizeof *out);
  out->noise_multiplier = NAN;
  memcpy(out->spec.name, given->name, sizeof out->spec.name);
  out->spec.options = options;
  for (const tct_option *o = options; o && o->key; o++)
    TCT_TRY(tct_spec_set(&out->spec, o->key, tct_spec_text(given, options, o->key), err));
  (void)facts;
  return TCT_OK;
}

tct_status tct_plan_need_bounds(const tct_facts *facts, const char *solver, tct_error *err) {
  if (!(facts->row_norm > 0))
    return tct_fail(err, TCT_E_USAGE, "%s needs a public bound on the records' norm; give {row_norm R}", solver);
  if (facts->loss.kind->follow_up && !(facts->label_bound > 0))
    return tct_fail(err, TCT_E_USAGE,
                    "%s needs the horizon, at which follow-up ends for all; give {horizon H}, or {label_bound H} for "
                    "signed times",
                    solver);
  if (!facts->loss.kind->binary && !(facts->label_bound > 0))
    return tct_fail(err, TCT_E_USAGE, "%s needs a public bound on the labels; give {label_bound Y}", solver);
  return TCT_OK;
}

tct_status tct_plan_need_dual(const tct_facts *facts, const char *solver, tct_error *err) {
  char names[200];
  tct_loss_names(tct_loss_has_dual, names, sizeof names);
  if (!facts->loss.kind->dual_step)
    return tct_fail(err, TCT_E_USAGE, "%s has no dual step for the loss %s; use %s", solver, facts->loss.kind->name,
                    names);
  if (!facts->penalty.kind->quadratic || !(facts->penalty.l2 > 0))
    return tct_fail(err, TCT_E_USAGE, "%s solves the dual of a ridge penalty; give {some_ridge}", solver);
  return TCT_OK;
}

tct_status tct_plan_one_gaussian(const tct_solver_plan *plan, int64_t count, tct_error *err) {
  const tct_event *event = plan->promise.events.at;
  bool gaussian = plan->promise.events.len == 1 &&
                  (event->kind == TCT_EV_GAUSSIAN || event->kind == TCT_EV_SAMPLED_GAUSSIAN) && event->count == count;
  return gaussian ? TCT_OK : tct_fail(err, TCT_E_DATA, "the events are not those of one run of this solver");
}
