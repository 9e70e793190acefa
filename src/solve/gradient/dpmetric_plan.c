/* dpmetric_plan.c - options, rules and promise of dpmetric. */
#include "solve/gradient/dpmetric.h"

#include <string.h>

const tct_option tct_dpmetric_options[] = {
    {"shape", TCT_OPT_CHOICE, "auto", 0, 0, "auto|full|diagonal",
     "the metric: a full matrix, or one scale a column; auto: full up to 512 features"},
    {"norms", TCT_OPT_REAL, "0.02", 0, 0.5, NULL,
     "part of the budget (of mu^2) for counts of the rows' norms; 0: the metric's rows are cut to R"},
    {"share", TCT_OPT_REAL, "0.05", 1e-4, 0.4, NULL, "part of the budget (of mu^2) for the metric's first release"},
    {"second", TCT_OPT_REAL, "0.05", 0, 0.4, NULL, "part of the budget (of mu^2) for its second release; 0: none"},
    {"clip", TCT_OPT_REAL, "auto", 1e-9, 1e9, NULL,
     "c: the clip is c * slope * sqrt(d/h) in the metric; auto: from the released spectrum"},
    {"walk", TCT_OPT_REAL, "auto", 1e-3, 1e9, NULL,
     "length of the path in steps of one over the curvature; auto: from the released spectrum"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL, "T; auto: 4 sqrt(the longest walk that these facts allow)"},
    {"average", TCT_OPT_REAL, "0.7", 1e-9, 1, NULL, "the last part of the path that the result averages"},
    {0},
};

enum { FULL = 512, MOST_FULL = 2048 };
static const double HIGH = 5000;

double tct_dpmetric_slope(const tct_facts *facts) {
  double slope = tct_loss_slope_bound(&facts->loss);
  return isfinite(slope) ? slope : facts->label_bound;
}

double tct_dpmetric_curvature(const tct_facts *facts) {
  double h = facts->loss.kind->curvature_bound(facts->loss.h);
  return isfinite(h) ? h : 1;
}

/* Labels that are numbers: residuals are mostly far below Y, and the clip has to open with the signal.  Classes:
 * between a third of the typical length and what hardly any gradient reaches.  docs/decisions/metric-rules.md has the
 * search. */
double tct_dpmetric_clip(const tct_facts *facts, double signal) {
  if (signal == INFINITY) return 1e6;
  if (!facts->loss.kind->binary) return fmax(0.03 * sqrt(signal), fmin(0.0038 * signal, 0.05 * pow(signal, 0.6)));
  double open = fmin(0.032 * pow(signal, 0.6), 0.123 * pow(signal, 0.4));
  return fmin(0.07 * sqrt(signal), fmax(0.8, open));
}

/* Short where noise fills most directions, which costs the more the more of them there are; longest where the metric's
 * ridge hides some that are known; shorter again where it does not; longer, for classes, where noise is next to
 * nothing. Straight lines between points, signals by their logarithm. */
double tct_dpmetric_walk(const tct_facts *facts, double signal) {
  static const double at[] = {85, 130, 300, 450, 4700};
  bool binary = facts->loss.kind->binary;
  double middle = fmax(60, 180 * fmin(1, 60 / (double)facts->p));
  double walk[] = {60 * fmin(fmax(signal / 40, 0.1), 1), middle, middle, binary ? 180 : 100, binary ? 360 : 100};
  int k = 0, last = sizeof at / sizeof *at - 1;
  if (signal == INFINITY) return 2000;
  while (k + 1 < last && signal > at[k + 1]) k++;
  double part = log(signal / at[k]) / log(at[k + 1] / at[k]), kinked = 1;
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h))) kinked = 1.5; /* a hinge's curvature counts as 1 */
  return kinked * (walk[k] + fmin(fmax(part, 0), 1) * (walk[k + 1] - walk[k]));
}

/* The images' ridge is 15 sqrt(2p)/kappa of what a known direction has there: from 1 on the release is all ridge. */
bool tct_dpmetric_again(double signal, int64_t p) { return signal >= 15 * sqrt(2 * (double)p) && signal < HIGH; }

double tct_dpmetric_cut(double signal, double share, int64_t p) {
  return fmax(2.25, 0.05 * signal * fmax(1, signal / 1000) * sqrt(share / (2 * (double)p)));
}

/* The signal is at most n/x, as d is at least 1. */
tct_dpmetric_rule tct_dpmetric_rule_of(const tct_facts *facts, const tct_spec *spec) {
  const tct_option *options = tct_dpmetric_options;
  tct_dpmetric_rule rule = {.norms = tct_spec_real(spec, options, "norms")};
  rule.share = tct_spec_real(spec, options, "share");
  rule.second = tct_spec_real(spec, options, "second");
  rule.clip = tct_spec_real(spec, options, "clip");
  rule.walk = tct_spec_real(spec, options, "walk");
  rule.average = tct_spec_real(spec, options, "average");
  rule.diagonal = tct_spec_is(spec, options, "shape", "diagonal") ||
                  (tct_spec_is(spec, options, "shape", "auto") && facts->p > FULL);
  double longest = isfinite(facts->epsilon) ? 180 : 2000;
  if (!isnan(rule.walk)) longest = rule.walk;
  rule.steps = tct_spec_auto(spec, options, "steps") ? (int64_t)ceil(4 * sqrt(fmax(longest, 4)))
                                                     : tct_spec_count(spec, options, "steps");
  return rule;
}

static tct_status make(double x, void *user, tct_events *out, tct_error *err) {
  const tct_dpmetric_rule *rule = user;
  double left = 1 - rule->norms - rule->share - rule->second;
  if (rule->norms > 0) TCT_TRY(tct_events_add(out, tct_event_gaussian(x / sqrt(rule->norms), 1), err));
  TCT_TRY(tct_events_add(out, tct_event_gaussian(x / sqrt(rule->share), 1), err));
  if (rule->second > 0) TCT_TRY(tct_events_add(out, tct_event_gaussian(x / sqrt(rule->second), 1), err));
  return tct_events_add(out, tct_event_gaussian(x * sqrt((double)rule->steps / left), rule->steps), err);
}

/* The noise of the next of the plan's releases: equal neighbours in the list are one event with a count. */
static double next(const tct_events *events, int64_t *at) {
  int64_t left = (*at)++, k = 0;
  while (k + 1 < events->len && left >= events->at[k].count) left -= events->at[k++].count;
  return events->at[k].noise;
}

tct_dpmetric_noises tct_dpmetric_noises_of(const tct_dpmetric_rule *rule, const tct_solver_plan *plan) {
  tct_dpmetric_noises out = {0};
  int64_t at = 0;
  if (rule->norms > 0) out.norms = next(&plan->promise.events, &at);
  out.share = next(&plan->promise.events, &at);
  if (rule->second > 0) out.second = next(&plan->promise.events, &at);
  out.step = next(&plan->promise.events, &at);
  out.base = out.share * sqrt(rule->share);
  return out;
}

static tct_status promise(const tct_facts *facts, tct_dpmetric_rule *rule, tct_solver_plan *out, tct_error *err) {
  double x = 0;
  if (isfinite(facts->epsilon))
    TCT_TRY(tct_calibrate(make, rule, TCT_SMALLEST, 1e-3, 1e9, facts->neighbours, facts->epsilon, facts->delta, 1e-8,
                          &x, &out->cost, err));
  else
    out->cost = (tct_cost){.epsilon = INFINITY, .epsilon_lower = 0, .delta = facts->delta, .winner = NULL};
  TCT_TRY(make(x, rule, &out->promise.events, err));
  out->noise_multiplier = NAN;
  for (int64_t k = 0; k < out->promise.events.len; k++)
    if (isnan(tct_mech_lattice(M_SQRT1_2, out->promise.events.at[k].noise, facts->rows)) ||
        isnan(tct_mech_lattice(1, out->promise.events.at[k].noise, facts->rows)))
      return tct_fail(err, TCT_E_USAGE, "too many records for the noise's lattice; use less epsilon");
  return TCT_OK;
}

static tct_status check(const tct_facts *facts, const tct_dpmetric_rule *rule, tct_error *err) {
  if (strcmp(facts->reg.kind->name, "none") && strcmp(facts->reg.kind->name, "l2"))
    return tct_fail(err, TCT_E_USAGE, "dpmetric knows the penalties none and l2; choose one of them, or dpgd");
  if (!rule->diagonal && facts->p > MOST_FULL)
    return tct_fail(err, TCT_E_USAGE,
                    "a full metric holds matrices of features squared, at most %d features; "
                    "use shape=diagonal",
                    MOST_FULL);
  if (!(rule->norms + rule->share + rule->second <= 0.9))
    return tct_fail(err, TCT_E_USAGE, "norms, share and second are more than 0.9 together; leave more for the path");
  return TCT_OK;
}

tct_status tct_dpmetric_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, tct_dpmetric_options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpmetric", err));
  tct_dpmetric_rule rule = tct_dpmetric_rule_of(facts, &out->spec);
  TCT_TRY(check(facts, &rule, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)rule.steps, err));
  return promise(facts, &rule, out, err);
}
