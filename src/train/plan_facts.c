/* plan_facts.c - a plan's facts as JSON. */
#include "model/json.h"
#include "train/cautions.h"
#include "train/certificate.h"
#include "train/plan.h"

#include <math.h>

static json_t *text_or_null(const char *text) { return text ? json_string(text) : json_null(); }

json_t *tct_plan_events_apart(const tct_plan *plan) {
  tct_event even = tct_event_approx(plan->facts.epsilon, plan->facts.delta, 1);
  json_t *list = json_array(),
         *one = tct_json_events(plan->claim.divided ? &(tct_events){&even, 1, 1} : &plan->solved.promise.events);
  for (int64_t k = 0; k < plan->copies; k++) json_array_extend(list, one);
  json_decref(one);
  return list;
}

static void add_copies(const tct_plan *plan, json_t *o) {
  json_object_set_new(o, "models", json_integer(plan->copies));
  json_object_set_new(o, "each",
                      json_pack("{s:o, s:o}", "epsilon", tct_json_real(plan->facts.epsilon), "delta",
                                tct_json_real(plan->facts.delta)));
}

static void add_bounds(const tct_plan *plan, bool is_private, json_t *o) {
  double weights = is_private ? tct_solver_weight_bound(plan->solver, &plan->facts, &plan->solved) : INFINITY;
  json_object_set_new(o, "row_norm", tct_json_real(plan->facts.row_norm));
  json_object_set_new(o, "label_bound", tct_json_real(plan->facts.label_bound));
  json_object_set_new(o, "intercept", json_boolean(plan->facts.intercept));
  json_object_set_new(o, "weight_bound", tct_json_real(weights));
}

char *tct_plan_json(const tct_plan *plan, tct_error *err) {
  char solver[2000], loss[400], penalty[400];
  tct_spec_print(&plan->solved.spec, solver, sizeof solver);
  tct_spec_print(&plan->facts.loss.spec, loss, sizeof loss);
  tct_spec_print(&plan->facts.penalty.spec, penalty, sizeof penalty);
  const tct_whole *claim = &plan->claim;
  int is_private = plan->solver->is_private && !tct_noise_off(&plan->facts);
  int sparse_copy = plan->solver->wants_columns; /* the one conversion that fit may make */
  double cells = (double)plan->facts.rows * (double)plan->facts.p;
  json_t *o = json_pack(
      "{s:s, s:s, s:s, s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:i}", "solver", solver, "loss", loss,
      "penalty", penalty, "private", is_private, "epsilon",
      tct_json_real(plan->solver->is_private ? claim->epsilon : NAN), "delta",
      tct_json_real(is_private ? claim->delta : NAN), "neighbours", tct_neighbours_name(plan->facts.neighbours),
      "accountant", plan->solved.cost.winner || plan->copies > 1 ? text_or_null(claim->by) : json_null(),
      "noise_multiplier", tct_json_real(plan->solved.noise_multiplier), "events", tct_plan_events_apart(plan), "rows",
      (json_int_t)plan->facts.rows, "columns", (json_int_t)plan->cols, "memory_bytes",
      json_real(8 * (cells * (1 + sparse_copy) + 6 * (double)plan->facts.rows)), "threads", plan->facts.threads);
  if (o) add_bounds(plan, is_private, o);
  if (o && is_private && plan->copies == 1)
    json_object_set_new(o, "epsilon_lower", tct_json_real(plan->solved.cost.epsilon_lower));
  if (o && plan->solved.max_passes > 0) json_object_set_new(o, "max_passes", json_real(plan->solved.max_passes));
  if (o) json_object_set_new(o, "fits", json_pack("[o]", tct_certificate_json(plan)));
  if (o && plan->config.memory > 0) {
    json_object_set_new(o, "memory_limit", json_integer(plan->config.memory));
    json_object_set_new(o, "memory_needed", tct_json_real(tct_limit_needs(plan)));
    json_object_set_new(o, "passes", json_real(tct_limit_passes(plan)));
    json_object_set_new(o, "disk_bytes", json_real(8 * (double)plan->facts.rows * (double)plan->cols));
  }
  if (o && plan->solved.note[0]) json_object_set_new(o, "note", json_string(plan->solved.note));
  if (o && plan->why[0]) json_object_set_new(o, "why", json_string(plan->why));
  tct_caution_facts facts = tct_caution_plan(plan);
  if (o && json_object_set_new(o, "warnings", tct_cautions_json(&facts))) json_decref(o), o = NULL;
  if (o && plan->copies > 1) add_copies(plan, o);
  if (o && plan->loss_why[0]) json_object_set_new(o, "loss_why", json_string(plan->loss_why));
  return tct_json_text(o, err);
}
