/* plan.c - from settings and public facts to a promise.  No row can be seen here. */
#include "account/curves/work.h"
#include "core/point.h"
#include "core/alloc.h"
#include "core/spec.h"
#include "core/processors.h"
#include "core/sized.h"
#include "train/plan.h"
#include "model/json.h"
#include "train/cautions.h"
#include "solve/auto.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const tct_sized SIZED = TCT_SIZED(tct_config, user, "call tct_config_default first");
static const tct_config DEFAULTS = {.size = sizeof(tct_config),
                                    .penalty = "none",
                                    .epsilon = NAN,
                                    .delta = NAN,
                                    .row_norm = NAN,
                                    .label_bound = NAN,
                                    .scale = "none",
                                    .label_scale = "none",
                                    .errors = "none",
                                    .intercept = 1};

void tct_config_default_sized(tct_config *config, size_t size) { tct_sized_default(&SIZED, config, size, &DEFAULTS); }

tct_status tct_config_take(const tct_config *given, tct_config *own, tct_error *err) {
  *own = DEFAULTS;
  return tct_sized_take(&SIZED, given, own, err);
}

tct_labels tct_config_labels(const tct_config *given) {
  tct_loss loss;
  tct_config config;
  if (tct_config_take(given, &config, NULL) != TCT_OK || !config.loss) return TCT_LABELS_UNKNOWN;
  if (!strcmp(config.loss, "auto")) return TCT_LABELS_BINARY;
  if (tct_loss_make(config.loss, &loss, NULL) != TCT_OK) return TCT_LABELS_UNKNOWN;
  if (loss.kind->joint) return TCT_LABELS_CLASSES;
  return loss.kind->binary ? TCT_LABELS_BINARY : TCT_LABELS_REAL;
}

static int is_one_of(const char *text, const char *const *list) {
  for (; *list; list++)
    if (text && !strcmp(text, *list)) return 1;
  return 0;
}

static tct_status check_budget(const tct_config *config, const tct_solver *solver, tct_error *err) {
  if (!solver->is_private) {
    if (!isnan(config->epsilon) || config->ledger)
      return tct_fail(err, TCT_E_USAGE,
                      "%s is not private and takes no epsilon and no ledger; drop them or name a private solver",
                      solver->name);
    return TCT_OK;
  }
  if (isnan(config->epsilon))
    return tct_fail(err, TCT_E_USAGE, "no epsilon is given; give the total privacy loss, e.g. {epsilon 1}");
  if (!(config->epsilon > 0)) return tct_fail(err, TCT_E_USAGE, "epsilon must be above 0; give e.g. {epsilon 1}");
  if (isinf(config->epsilon)) return TCT_OK;
  if (isnan(config->delta))
    return tct_fail(err, TCT_E_USAGE, "no delta is given; give one well below 1/n, e.g. {delta 1e-6}");
  if (!(config->delta >= 0 && config->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "delta must lie in [0, 1); give e.g. {delta 1e-6}, or 0 for pure epsilon");
  return TCT_OK;
}

/* At delta 0 only solvers whose events are pure have a claim. */
static tct_status check_pure(const tct_facts *facts, const tct_solver *solver, tct_error *err) {
  char names[200] = "";
  if (!solver->is_private || tct_noise_off(facts) || facts->delta != 0 ||
      TCT_POINT(gaussian_solver_takes_delta_0, solver->pure, true))
    return TCT_OK;
  for (int i = 0; i < tct_solver_count; i++) {
    size_t length = strlen(names);
    if (tct_solvers[i]->pure)
      snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", tct_solvers[i]->name);
  }
  return tct_fail(err, TCT_E_USAGE, "%s has no epsilon at delta 0; give a delta above 0, or a solver that has one: %s",
                  solver->name, names);
}

static tct_status check_relation(const tct_config *config, const tct_solver *solver, tct_error *err) {
  unsigned bit = config->neighbours == TCT_REPLACE_ONE ? TCT_RELATION_REPLACE_ONE : TCT_RELATION_ADD_REMOVE;
  if (solver->is_private && !(solver->relations & bit))
    return tct_fail(err, TCT_E_USAGE,
                    "%s is not proved for {neighbours %s}; choose the other relation or another solver", solver->name,
                    tct_neighbours_name(config->neighbours));
  return TCT_OK;
}

static tct_status check_joint(const tct_facts *facts, const tct_solver *solver, tct_error *err) {
  if (!facts->loss.kind->joint || solver->joint) return TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      "%s trains one class at a time and %s takes all at once; use dpgd, or {loss logistic} for one against "
      "the rest",
      solver->name, facts->loss.kind->name);
}

static tct_status check_follow_up(const tct_facts *facts, const tct_solver *solver, tct_error *err) {
  if (!facts->loss.kind->follow_up || solver == tct_solver_find("dpcox")) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "%s knows no follow-up times; use dpcox for the loss %s", solver->name,
                  facts->loss.kind->name);
}

static tct_status check_texts(const tct_config *config, tct_error *err) {
  static const char *const scales[] = {"none", "max-abs", "min-max", "standard", NULL};
  static const char *const label_scales[] = {"none", "center", NULL};
  static const char *const errors[] = {"none", "model", "robust", NULL};
  if (!is_one_of(config->scale, scales))
    return tct_fail(err, TCT_E_USAGE, "scale must be none, max-abs, min-max or standard");
  if (!is_one_of(config->label_scale, label_scales))
    return tct_fail(err, TCT_E_USAGE, "label scale must be none or center");
  if (!is_one_of(config->errors, errors))
    return tct_fail(err, TCT_E_USAGE, "errors must be none, model or robust; give one of them");
  if (config->neighbours != TCT_ADD_REMOVE && config->neighbours != TCT_REPLACE_ONE)
    return tct_fail(err, TCT_E_USAGE, "neighbours must be add_remove or replace_one");
  if (!isnan(config->row_norm) && !(config->row_norm >= 1e-90 && config->row_norm <= 1e90))
    return tct_fail(err, TCT_E_USAGE, "the row norm must be a number in [1e-90, 1e90]; give another bound");
  if (config->rows_rule == TCT_ROWS_UNIT && isnan(config->row_norm))
    return tct_fail(err, TCT_E_USAGE, "rows of unit rule need the norm to scale to; give {row_norm R}");
  if (!isnan(config->label_bound) && !(config->label_bound > 0 && config->label_bound < 1e100))
    return tct_fail(err, TCT_E_USAGE, "the label bound must be a positive number below 1e100");
  if (!isfinite(config->label_shift)) return tct_fail(err, TCT_E_USAGE, "the label shift must be a finite number");
  return TCT_OK;
}

/* A count is 0 where there is nothing to count: a moved one is no count, and a moved time no time. */
static tct_status check_counts(const tct_config *config, const tct_facts *facts, tct_error *err) {
  if ((!tct_loss_from_zero(&facts->loss) && !facts->loss.kind->follow_up) ||
      (config->label_shift == 0 && !strcmp(config->label_scale, "none")))
    return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the loss %s needs %s as they are; drop the label shift or label scale",
                  facts->loss.kind->name,
                  facts->loss.kind->counts    ? "counts"
                  : facts->loss.kind->amounts ? "amounts"
                                              : "times");
}

/* What says nothing of these labels is not kept: a model file that has it was edited. */
static void drop_labels(tct_config *config) {
  if (tct_config_labels(config) != TCT_LABELS_REAL)
    config->label_bound = NAN, config->label_shift = 0, config->label_scale = "none";
  if (!strcmp(config->label_scale, "center")) config->label_shift = 0; /* the mean of the data takes its place */
}

/* Nor what says nothing of a run without privacy. */
static void drop_privacy(tct_config *config, const tct_solver *solver) {
  if (!solver->is_private || isinf(config->epsilon)) config->delta = NAN;
  if (!solver->is_private) config->neighbours = TCT_ADD_REMOVE;
}

static tct_status copy_config(const tct_config *from, tct_config *to, tct_error *err) {
  *to = *from;
  to->loss = tct_text_copy(from->loss);
  to->penalty = tct_text_copy(from->penalty);
  to->solver = tct_text_copy(from->solver ? from->solver : "auto");
  to->scale = tct_text_copy(from->scale);
  to->label_scale = tct_text_copy(from->label_scale);
  to->ledger = tct_text_copy(from->ledger);
  to->output = tct_text_copy(from->output);
  to->input_changed = tct_text_copy(from->input_changed);
  to->errors = tct_text_copy(from->errors);
  to->estimate = NULL; /* build has refused it */
  if (!to->errors || !to->loss || !to->penalty || !to->solver || !to->scale || !to->label_scale ||
      (from->ledger && !to->ledger) || (from->output && !to->output) || (from->input_changed && !to->input_changed))
    return tct_fail_memory(err);
  return TCT_OK;
}

static tct_status gather_facts(tct_plan *plan, int64_t rows, int64_t cols, tct_error *err) {
  const tct_config *config = &plan->config;
  tct_facts *facts = &plan->facts;
  if (rows < 1 || cols < 1)
    return tct_fail(err, TCT_E_DATA, "the data have no rows or no features; give at least one of each");
  TCT_TRY(tct_loss_make(config->loss, &facts->loss, err));
  TCT_TRY(tct_penalty_make(config->penalty, &facts->penalty, err));
  plan->cols = cols;
  facts->rows = rows;
  facts->intercept = config->intercept != 0;
  facts->p = tct_loss_outputs(&facts->loss) * (cols + facts->intercept);
  facts->row_norm = config->row_norm;
  facts->label_bound = facts->loss.kind->binary ? 1 : config->label_bound;
  facts->epsilon = plan->solver->is_private ? config->epsilon : INFINITY;
  facts->delta = config->delta;
  facts->neighbours = (tct_neighbours)config->neighbours;
  facts->rows_rule = (tct_rows_rule)config->rows_rule;
  facts->threads = config->threads > 0 ? config->threads : tct_processors();
  return TCT_OK;
}

static const tct_solver *inferring_solver(const tct_config *config) {
  tct_loss loss;
  bool follow_up = tct_loss_make(config->loss, &loss, NULL) == TCT_OK && loss.kind->follow_up;
  return tct_solver_find(follow_up ? "dpcox" : "dponestep");
}

/* `errors` stands for a solver: what was asked is then that solver, in the certificate too. */
static tct_status take_errors(tct_plan *plan, tct_error *err) {
  tct_config *config = &plan->config;
  const tct_solver *solver = inferring_solver(config);
  tct_spec spec;
  char text[4096];
  if (!strcmp(config->errors, "none")) return TCT_OK;
  TCT_TRY(tct_spec_parse(config->solver, "solver", &spec, err));
  if (!strcmp(spec.name, "auto") && !spec.items)
    snprintf(spec.name, sizeof spec.name, "%s", solver->name);
  else if (strcmp(spec.name, solver->name) || tct_spec_given(&spec, "errors"))
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors come from the solver %s, by its option errors; leave out {solver}, or {errors}",
                    solver->name);
  TCT_TRY(tct_spec_set(&spec, "errors", config->errors, err));
  tct_spec_print(&spec, text, sizeof text);
  tct_free((char *)config->solver);
  config->solver = tct_text_copy(text);
  return config->solver ? TCT_OK : tct_fail_memory(err);
}

static const char *solver_meant(const char *given, char near[TCT_MEANT]) {
  const char *name[64] = {"auto"};
  int count = 1;
  for (int i = 0; i < tct_solver_count && count < 64; i++) name[count++] = tct_solvers[i]->name;
  return tct_meant(given, name, count, near);
}

/* The solver by name; without one (or as "auto") the rule's, which needs the facts of a private run first. */
static tct_status pick_solver(const tct_config *config, int64_t rows, int64_t cols, tct_plan *plan, tct_spec *spec,
                              tct_error *err) {
  char near[TCT_MEANT];
  TCT_TRY(tct_spec_parse(config->solver ? config->solver : "auto", "solver", spec, err));
  int is_auto = !strcmp(spec->name, "auto");
  if (is_auto && spec->items)
    return tct_fail(err, TCT_E_USAGE, "the solver auto takes no options; name a solver to give it some");
  plan->solver = tct_solver_find(is_auto ? "dpgd" : spec->name);
  if (!plan->solver)
    return tct_fail(err, TCT_E_USAGE, "no solver is called '%s'; {solvers} lists them%s", spec->name,
                    solver_meant(spec->name, near));
  TCT_TRY(check_budget(config, plan->solver, err));
  drop_privacy(&plan->config, plan->solver);
  TCT_TRY(gather_facts(plan, rows, cols, err));
  if (!is_auto) return TCT_OK;
  TCT_TRY(tct_plan_need_bounds(&plan->facts, "private training", err));
  plan->solver = tct_solver_auto(&plan->facts, plan->why, sizeof plan->why);
  return tct_spec_parse(plan->solver->name, "solver", spec, err);
}

static tct_status build(const tct_config *given, int64_t rows, int64_t cols, int rules, tct_plan *plan,
                        tct_error *err) {
  tct_spec spec;
  tct_config own;
  const tct_config *config = &own;
  TCT_TRY(tct_config_take(given, &own, err));
  TCT_TRY(check_texts(config, err));
  if (!config->loss) return tct_fail(err, TCT_E_USAGE, "no loss is given; give one, e.g. {loss logistic}");
  if (config->estimate)
    return tct_fail(err, TCT_E_USAGE, "an estimate comes before the plan of the fit; call tct_data_estimate first");
  drop_labels(&own);
  TCT_TRY(copy_config(config, &plan->config, err));
  TCT_TRY(take_errors(plan, err));
  TCT_TRY(pick_solver(&plan->config, rows, cols, plan, &spec, err));
  TCT_TRY(tct_spec_take_neutral(&spec, plan->solver->options, rules, err));
  TCT_TRY(tct_spec_check(&spec, plan->solver->options, "solver", err));
  TCT_TRY(check_counts(config, &plan->facts, err));
  TCT_TRY(check_pure(&plan->facts, plan->solver, err));
  TCT_TRY(check_relation(config, plan->solver, err));
  TCT_TRY(check_joint(&plan->facts, plan->solver, err));
  TCT_TRY(check_follow_up(&plan->facts, plan->solver, err));
  TCT_TRY(plan->solver->plan(&plan->facts, &spec, &plan->solved, err));
  TCT_TRY(tct_limit_check(plan, err));
  if (!(plan->solver_text = tct_spec_copy(&plan->solved.spec))) return tct_fail_memory(err);
  if (plan->solver->is_private && !tct_noise_off(&plan->facts) && !(plan->solved.cost.epsilon <= plan->facts.epsilon))
    return tct_fail(err, TCT_E_BUDGET, "the plan costs more than epsilon; this is a fault of the solver, report it");
  return TCT_OK;
}

tct_plan *tct_plan_one(const tct_config *config, int64_t rows, int64_t cols, int rules, tct_error *err) {
  tct_error_clear(err);
  tct_plan *plan = TCT_NEW(tct_plan, 1);
  if (!plan) return tct_fail_memory(err), NULL;
  /* Whoever verifies the model plans again, within a purse that is already there. */
  tct_work before = tct_work_begin(isinf(tct_work_left()) ? TCT_WORK_PLAN : INFINITY);
  tct_status status = build(config, rows, cols, rules, plan, err);
  tct_work own = tct_work_end(before);
  plan->work = own.spent;
  plan->copies = 1;
  plan->claim = (tct_whole){plan->facts.epsilon, plan->facts.delta, plan->facts.neighbours,
                            plan->solved.cost.winner ? plan->solved.cost.winner->name : "sum", false};
  if (own.over)
    status = tct_fail(err, TCT_E_USAGE,
                      "this plan would take more work than is done for one, and its model could not be verified; ask "
                      "for fewer steps, or for an epsilon and delta nearer to 1");
  if (status == TCT_OK) return plan;
  tct_plan_free(plan);
  return NULL;
}

/* One fit or one for each class: here, and nowhere else. */
tct_plan *tct_plan_by_rules(const tct_config *given, int64_t rows, int64_t cols, int rules, tct_error *err) {
  tct_config own;
  char loss[TCT_LOSS_SETTLED], why[200];
  tct_error_clear(err);
  if (tct_config_take(given, &own, err) != TCT_OK) return NULL;
  if (tct_config_settle(&own, rows, cols, loss, why, err) != TCT_OK) return NULL;
  bool several = tct_config_copies(&own) > 1;
  tct_plan *plan = (several ? tct_plan_copies : tct_plan_one)(&own, rows, cols, rules, err);
  if (plan) snprintf(plan->loss_why, sizeof plan->loss_why, "%s", why);
  return plan;
}

/* Of one fit the claim takes less work than its planning. */
static tct_status check_verifiable(const tct_plan *plan, double again, tct_error *err) {
  tct_events events = {0};
  double work = plan->copies == 1 && again <= TCT_WORK_PLAN / 2 ? 0 : again + plan->work;
  if (!plan->solver->is_private || tct_noise_off(&plan->facts)) return TCT_OK;
  tct_status status = tct_plan_events(plan, &events, err);
  if (status == TCT_OK) status = tct_price_verifiable(&events, &plan->claim, work, 1, err);
  tct_events_free(&events);
  return status;
}

tct_plan *tct_plan_new(const tct_config *config, int64_t rows, int64_t cols, tct_error *err) {
  tct_work before = tct_work_begin(INFINITY);
  tct_plan *plan = tct_plan_by_rules(config, rows, cols, INT_MAX, err);
  double again = tct_work_end(before).spent;
  if (!plan || check_verifiable(plan, again, err) == TCT_OK) return plan;
  tct_plan_free(plan);
  return NULL;
}

void tct_plan_free(tct_plan *plan) {
  if (!plan) return;
  tct_free((char *)plan->config.loss);
  tct_free((char *)plan->config.penalty);
  tct_free((char *)plan->config.solver);
  tct_free((char *)plan->config.scale);
  tct_free((char *)plan->config.label_scale);
  tct_free((char *)plan->config.ledger);
  tct_free((char *)plan->config.output);
  tct_free((char *)plan->config.input_changed);
  tct_free((char *)plan->config.errors);
  tct_free(plan->solver_text);
  tct_solver_plan_free(&plan->solved);
  tct_free(plan);
}
