/* dpagd_plan.c - budget, splits and clips of adaptive gradient descent, from public facts alone. */
#include "account/curves/renyi.h"
#include "solve/gradient/agd.h"
#include "solve/gradient/rules.def"

#include <stdio.h>
#include <string.h>

const tct_option tct_agd_options[] = {
    {"variant", TCT_OPT_CHOICE, "default", 0, 0, "default|paper",
     "paper: fixed splits, noisy minimum and conversion of Lee and Kifer 2018"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL,
     "planned descent steps; auto: from the noise that the whole budget buys, see the source"},
    {"budget_fraction", TCT_OPT_REAL, "auto", 0.01, 0.9, NULL,
     "part of a step's budget for choosing its length; auto: 0.4"},
    {"splits", TCT_OPT_REAL, "auto", 1, 1e6, NULL,
     "the paper's fixed split: epsilon/(2*splits) for each measurement and each choice; auto: 60 for variant=paper"},
    {"batch", TCT_OPT_REAL, "auto", 1, 1e15, NULL, "expected records per release; auto: all"},
    {"grid", TCT_OPT_COUNT, "20", 1, TCT_AGD_GRID - 1, NULL, "candidate steps beside the step 0"},
    {"alpha_max", TCT_OPT_REAL, "auto", 1e-9, 1e9, NULL,
     "longest step, in the norm of w; auto: 1.5*Y/R, variant=paper 2"},
    {"eta", TCT_OPT_REAL, "0.1", 0, 100, NULL, "slack of the longest step over those taken lately"},
    {"tau", TCT_OPT_COUNT, "10", 1, 100000, NULL, "steps between two resets of the longest step"},
    {"gamma", TCT_OPT_REAL, "auto", 1e-3, 100, NULL,
     "weight of a repeated measurement over all before it; auto: 0.5, variant=paper 0.1"},
    {"momentum", TCT_OPT_REAL, "auto", 0, 0.999, NULL,
     "part of the last direction that the next one keeps; auto: 0.6, variant=paper 0"},
    {"clip_grad", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "largest norm of a record's gradient"},
    {"clip_obj", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "largest loss of a record"},
    {"noise", TCT_OPT_REAL, "auto", 1e-9, 1e12, NULL, "noise multiplier of a step's first measurement, where fixed"},
    {"choice", TCT_OPT_REAL, "auto", 1e-12, 1e6, NULL, "epsilon of a choice over the records it sees, where fixed"},
    {0},
};

static double option(const tct_spec *spec, const char *key) { return tct_spec_real(spec, tct_agd_options, key); }

static bool is_paper(const tct_spec *spec) { return tct_spec_is(spec, tct_agd_options, "variant", "paper"); }

static tct_status set_auto(tct_spec *spec, const char *key, double value, tct_error *err) {
  return tct_spec_auto(spec, tct_agd_options, key) ? tct_spec_set_real(spec, key, value, err) : TCT_OK;
}

/* zCDP of a Gaussian measurement is sensitivity^2/(2 noise^2). */
static double unit_of(const tct_facts *facts) { return tct_neighbour_factor(facts->neighbours) / sqrt(2); }

/* ---- defaults ------------------------------------------------------------------------------------ */

static double largest_gradient(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return facts->row_norm * (isfinite(slope) ? slope : facts->label_bound);
}

/* The loss of a model that says nothing, of the record that it serves worst. */
static double first_loss(const tct_facts *facts) {
  const tct_loss *loss = &facts->loss;
  double y = loss->kind->binary ? 1 : facts->label_bound;
  return fmax(tct_loss_value(loss, 0, y), tct_loss_value(loss, 0, -y));
}

/* How the budget is split, from public facts alone.  The signal is what the whole budget could buy in one measurement:
 * the largest possible gradient over the noise's norm, n sqrt(rho)/(unit sqrt(p)).
 *
 * The paper's epsilon/(2 splits) makes the number of steps the same at every epsilon.  Its conversion gives a choice 2
 * ln(1.25/delta) = 37 times a measurement's rho (delta 1e-8), and at small epsilon gradients drown.  Here the whole
 * budget is planned: T steps, each with an equal part of what is left, so that nothing remains and repeated
 * measurements are paid by later steps.  docs/decisions/gradient-rules.md has the measurements behind each rule:
 *
 *   T = 2.4 sqrt(signal): noise grows with the length of the path and with sqrt(T), the bias falls with T.
 *   budget_fraction 0.4: a choice among 20 steps needs less budget than a gradient of p numbers, but a bad choice
 *     undoes a step.
 *   alpha_max 1.5 Y/R: the longest step moves a record's margin by 1.5.  Where choices are mostly noise a step is half
 *     of that; the paper's 2 lets w wander at small epsilon.
 *   clip_grad 0.7 of the largest norm: it costs nothing, since slopes near 1 become rare.
 *   clip_obj for two classes 4.5 times the loss at w = 0: with less the smaller class is given up.  (That is 3.1 for
 *     logistic loss; the paper has 3.)  For numbers 1.5 times the largest loss at w = 0, so that a rare bad start ends.
 */
static double signal_of(const tct_facts *facts, double rho) {
  return (double)facts->rows * sqrt(rho) / (unit_of(facts) * sqrt((double)facts->p));
}

static double steps_default(const tct_facts *facts, double rho) {
  if (!isfinite(rho)) return 400;
  return fmin(fmax(round(dpagd_steps_per_root * sqrt(signal_of(facts, rho))), 1), dpagd_steps_most);
}

static tct_status defaults(const tct_facts *facts, double rho, tct_spec *spec, tct_error *err) {
  bool paper = is_paper(spec), binary = facts->loss.kind->binary;
  TCT_TRY(set_auto(spec, "clip_grad", paper ? 3 : dpagd_gradient_clip * largest_gradient(facts), err));
  TCT_TRY(set_auto(spec, "clip_obj",
                   paper ? 3 : (binary ? dpagd_class_loss_clip : dpagd_number_loss_clip) * first_loss(facts), err));
  TCT_TRY(set_auto(spec, "alpha_max",
                   paper ? 2 : dpagd_longest_step * (binary ? 1 : facts->label_bound) / facts->row_norm, err));
  TCT_TRY(set_auto(spec, "gamma", paper ? 0.1 : dpagd_gamma, err));
  TCT_TRY(set_auto(spec, "momentum", paper ? 0 : dpagd_momentum, err));
  if (paper) TCT_TRY(set_auto(spec, "splits", 60, err));
  TCT_TRY(set_auto(spec, "budget_fraction", dpagd_choice_part, err));
  bool splits = !tct_spec_auto(spec, tct_agd_options, "splits");
  return set_auto(spec, "steps", splits ? 100000 : steps_default(facts, rho), err);
}

/* The paper's split: epsilon/(2 splits) for each measurement and choice; a measurement's noise from Dwork and Roth's
 * sigma = sqrt(2 ln(1.25/delta))/epsilon, as in the paper's experiments. */
static tct_status fix_splits(const tct_facts *facts, tct_spec *spec, tct_error *err) {
  double own = facts->epsilon / (2 * option(spec, "splits"));
  TCT_TRY(
      set_auto(spec, "noise", tct_neighbour_factor(facts->neighbours) * sqrt(2 * log(1.25 / facts->delta)) / own, err));
  return set_auto(spec, "choice", own, err);
}

/* ---- promises ------------------------------------------------------------------------------------- */

static tct_status promise_nothing(const tct_facts *facts, tct_solver_plan *out, tct_error *err) {
  out->cost = (tct_cost){.epsilon = INFINITY, .delta = facts->delta};
  out->promise.kind = TCT_PROMISE_BUDGET;
  out->promise.filter = (tct_filter){.kind = TCT_FILTER_ZCDP, .neighbours = facts->neighbours, .budget = INFINITY};
  return tct_events_add(&out->promise.events, tct_event_gaussian(0, 1), err);
}

static tct_status promise_rho(const tct_facts *facts, double *rho, tct_solver_plan *out, tct_error *err) {
  tct_filter *filter = &out->promise.filter;
  out->promise.kind = TCT_PROMISE_BUDGET;
  TCT_TRY(tct_filter_init(filter, TCT_FILTER_ZCDP, facts->neighbours, facts->epsilon, facts->delta, err));
  double log_delta = -log(facts->delta), root = sqrt(log_delta + facts->epsilon) - sqrt(log_delta);
  if (is_paper(&out->spec)) filter->budget = fmin(filter->budget, root * root); /* Lemma 3.8 */
  *rho = filter->budget;
  if (!(*rho > 0))
    return tct_fail(err, TCT_E_BUDGET, "this epsilon buys no rho at all; give a larger epsilon or delta");
  TCT_TRY(tct_events_add(&out->promise.events, tct_event_zcdp(*rho, 1), err));
  return tct_account_epsilon(&out->promise.events, facts->neighbours, facts->delta, 1e-3, &out->cost, err);
}

/* The smallest noise (largest epsilon) whose divergence at the order stays within `most`; bisection on the logarithm.
 */
static double at_order(tct_event *event, double *value, bool falling, double order, double max) {
  double low = log(1e-9), high = log(1e9);
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    *value = exp(middle);
    if ((tct_event_renyi(event, TCT_ADD_REMOVE, order) <= max) == falling)
      high = middle;
    else
      low = middle;
  }
  return *value = exp(falling ? high : low);
}

/* Of all orders the one with the least noise for `steps` measurements and choices.  The filter keeps that order alone,
 * because the conversion of several would have to share delta among them. */
static tct_status promise_orders(const tct_facts *facts, double rate, tct_solver_plan *out, tct_error *err) {
  tct_filter *filter = &out->promise.filter;
  double steps = option(&out->spec, "steps"), budget_fraction = option(&out->spec, "budget_fraction"), min = INFINITY,
         choice = 0;
  out->promise.kind = TCT_PROMISE_BUDGET;
  double delta = facts->delta * (1 - 1e-9); /* an approx event that leaves nothing of delta proves no epsilon */
  TCT_TRY(tct_filter_init(filter, TCT_FILTER_RDP, facts->neighbours, facts->epsilon * (1 - 1e-9), delta, err));
  int best = -1;
  for (int i = 0; i < filter->orders; i++) {
    tct_event sampled = tct_event_sampled_gaussian(1, rate, 1), pure = tct_event_pure(1, 1);
    double own = filter->order_budget[i] / steps * (1 - 1e-9), order = filter->order[i];
    if (!(own > 0) || order < 1.5 || order > 2000) continue;
    double noise = at_order(&sampled, &sampled.noise, true, order, (1 - budget_fraction) * own);
    sampled.noise = noise;
    if (noise >= min) continue;
    best = i, min = noise;
    choice = at_order(&pure, &pure.epsilon, false, order, budget_fraction * own);
  }
  if (best < 0) return tct_fail(err, TCT_E_BUDGET, "epsilon is too small for this delta; give a larger one");
  filter->orders = 1;
  filter->order[0] = filter->order[best];
  filter->order_budget[0] = filter->order_budget[best];
  TCT_TRY(set_auto(&out->spec, "noise", min, err));
  TCT_TRY(set_auto(&out->spec, "choice", log1p(expm1(choice) / rate) * (1 - 1e-9), err));
  TCT_TRY(tct_events_add(&out->promise.events, tct_event_approx(filter->epsilon, filter->delta, 1), err));
  return tct_account_epsilon(&out->promise.events, facts->neighbours, facts->delta, 1e-3, &out->cost, err);
}

/* ---- the plan -------------------------------------------------------------------------------------- */

static tct_status check(const tct_facts *facts, double rate, tct_error *err) {
  TCT_TRY(tct_plan_need_bounds(facts, "dpagd", err));
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "dpagd knows the penalties none and l2; choose one of them, or dpgd");
  if (rate > 1)
    return tct_fail(err, TCT_E_USAGE, "the batch is larger than the data; give batch=%lld or less",
                    (long long)facts->rows);
  if (rate < 1 && facts->neighbours != TCT_ADD_REMOVE)
    return tct_fail(err, TCT_E_USAGE, "dpagd with batches is proved for {neighbours add_remove}; leave out batch");
  return TCT_OK;
}

/* Of both kinds at most as many as the filter allows; every score of a choice is a sum of terms of one sign. */
static tct_status add_releases(const tct_facts *facts, double rate, tct_solver_plan *out, tct_error *err) {
  double gradient = tct_plan_clip(facts, option(&out->spec, "clip_grad"));
  double loss = tct_plan_clip(facts, option(&out->spec, "clip_obj"));
  tct_release measure =
      tct_release_sum("sum of clipped gradients", tct_event_at(1, rate, 1), gradient, gradient, facts->rows);
  tct_release choice = tct_release_choice("a step's length, by its clipped losses", 1, 1, loss, loss, 8 * facts->rows);
  measure.open = choice.open = true;
  choice.rate = rate;
  choice.monotone = facts->neighbours == TCT_ADD_REMOVE;
  if (is_paper(&out->spec)) choice.law = TCT_LAW_FLIP;
  choice.event = tct_release_choice_event(&choice);
  if (tct_noise_off(facts)) choice.lattice = NAN, choice.open = false; /* taken without a release */
  TCT_TRY(tct_promise_add(&out->promise, measure, err));
  TCT_TRY(tct_promise_add(&out->promise, choice, err));
  return tct_promise_settle(&out->promise, err);
}

tct_status tct_agd_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  double rho = INFINITY;
  TCT_TRY(tct_plan_begin(facts, given, tct_agd_options, out, err));
  TCT_TRY(set_auto(&out->spec, "batch", (double)facts->rows, err));
  double rate = option(&out->spec, "batch") / (double)facts->rows;
  TCT_TRY(check(facts, rate, err));
  if (tct_noise_off(facts)) {
    TCT_TRY(promise_nothing(facts, out, err));
  } else {
    TCT_TRY(promise_rho(facts, &rho, out, err));
    out->noise_multiplier = NAN;
  }
  TCT_TRY(defaults(facts, rho, &out->spec, err));
  TCT_TRY(add_releases(facts, rate, out, err));
  if (tct_noise_off(facts)) return TCT_OK;
  if (signal_of(facts, rho) < 2)
    snprintf(out->note, sizeof out->note,
             "this budget buys no gradient that is not drowned in noise: expect the model w = 0, or next to it");
  if (!tct_spec_auto(&out->spec, tct_agd_options, "splits")) TCT_TRY(fix_splits(facts, &out->spec, err));
  if (rate == 1) return TCT_OK;
  tct_events_free(&out->promise.events);
  return promise_orders(facts, rate, out, err);
}

tct_agd tct_agd_settings(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_spec *spec = &plan->spec;
  tct_agd set = {.exact = tct_noise_off(facts), .flip = is_paper(spec), .budget = plan->promise.filter.budget};
  set.rate = option(spec, "batch") / (double)facts->rows;
  set.budget *= 1 - 1e-9; /* so that the last planned step is not refused for a rounding */
  set.budget_fraction = option(spec, "budget_fraction");
  set.fixed = set.rate < 1 || !tct_spec_auto(spec, tct_agd_options, "splits");
  set.unit = set.fixed ? option(spec, "noise") : unit_of(facts);
  set.weight = 1;
  set.choice = option(spec, "choice");
  set.alpha_max = option(spec, "alpha_max");
  set.eta = option(spec, "eta");
  set.gamma = option(spec, "gamma");
  set.momentum = option(spec, "momentum");
  set.steps = tct_spec_count(spec, tct_agd_options, "steps");
  set.grid = tct_spec_count(spec, tct_agd_options, "grid") + 1;
  set.tau = tct_spec_count(spec, tct_agd_options, "tau");
  return set;
}
