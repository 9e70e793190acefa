/* dponestep_plan.c - options, rules and promise of dponestep. */
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"

#include <stdio.h>

const tct_option tct_onestep_options[] = {
    {"errors", TCT_OPT_CHOICE, "model", 0, 0, "model|robust",
     "standard errors that hold under a right model, or also where the variance or the mean is not as the model says"},
    {"metric", TCT_OPT_REAL, "auto", 0.001, 0.5, NULL, "part of the budget (of mu^2) for the released metric"},
    {"path", TCT_OPT_REAL, "auto", 0.001, 0.8, NULL, "part of the budget (of mu^2) for the steps before the last"},
    {"moments", TCT_OPT_REAL, "auto", 0.001, 0.8, NULL,
     "part of the budget (of mu^2) for the curvature and the variance of slopes"},
    {"scale", TCT_OPT_REAL, "0.045", 0.001, 0.5, NULL,
     "part of the budget (of mu^2) for counts of gradients' lengths, where slopes have no bound"},
    {"weight", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL,
     "c_z: records whose image is longer count less; auto: from released counts of lengths"},
    {"clip", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL,
     "the clip of a record's gradient in the metric, in typical lengths where slopes have no bound; auto: from "
     "releases"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL,
     "T: Newton steps before the last; auto: 3, 4 of numbers, more where noise is little"},
    {0},
};

enum { MOST = 512 }; /* a model file of some 20 MB; model/inference_json.c reads no more */

/* n mu/p, from public facts. */
static double public_signal(const tct_facts *facts) {
  double noise = tct_budget_single(facts, facts->neighbours);
  return noise > 0 ? (double)facts->rows / (noise * (double)facts->p) : INFINITY;
}

static double between(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* Without noise a walk goes on until it has arrived. */
static int64_t steps_of(double signal, bool even) {
  double least = dponestep_steps + even, more = ceil(log2(signal / dponestep_more_steps));
  return (int64_t)between(dponestep_steps + more, least, dponestep_steps_most);
}

tct_onestep_rule tct_onestep_rule_of(const tct_facts *facts, const tct_spec *spec) {
  const tct_option *options = tct_onestep_options;
  tct_onestep_rule rule = {.robust = tct_spec_is(spec, options, "errors", "robust")};
  rule.signal = public_signal(facts);
  rule.scaled = !facts->loss.kind->binary;
  rule.sandwich = rule.robust || facts->loss.kind->link != TCT_LINK_LOGISTIC;
  double low = between(log(dponestep_low_signal / rule.signal) / log(3), 0, 1);
  rule.metric = tct_spec_real(spec, options, "metric");
  rule.path = tct_spec_real(spec, options, "path");
  rule.moments = tct_spec_real(spec, options, "moments");
  if (isnan(rule.metric)) rule.metric = dponestep_metric_part;
  if (isnan(rule.path)) rule.path = dponestep_path_part + low * dponestep_path_part_more;
  if (isnan(rule.moments)) rule.moments = dponestep_moments_part + low * dponestep_moments_part_more;
  rule.scale = rule.scaled ? tct_spec_real(spec, options, "scale") : 0;
  rule.slopes = rule.sandwich ? dponestep_slopes_part : 0;
  rule.weight = tct_spec_real(spec, options, "weight");
  rule.clip = tct_spec_real(spec, options, "clip");
  bool even = facts->loss.kind->link == TCT_LINK_IDENTITY;
  rule.steps =
      tct_spec_auto(spec, options, "steps") ? steps_of(rule.signal, even) : tct_spec_count(spec, options, "steps");
  return rule;
}

/* Numbers: terms are counted anew before the first two steps. */
static int64_t counts_of(const tct_onestep_rule *rule) { return !rule->scaled ? 0 : rule->steps < 2 ? 1 : 2; }

tct_onestep_places tct_onestep_places_of(const tct_onestep_rule *rule) {
  tct_onestep_places at = {.sums = 0, .squares = 1, .gram = 2, .lengths = 3, .counts = 4};
  at.steps = at.counts + rule->scaled;
  at.curvatures = at.steps + 1;
  at.slopes = at.curvatures + (rule->steps > 1);
  at.last_counts = at.slopes + rule->sandwich;
  at.last = at.last_counts + rule->scaled;
  at.moments = at.last + 1;
  return at;
}

/* ---- the promise -------------------------------------------------------------------------------------------- */

typedef struct making {
  const tct_facts *facts;
  const tct_onestep_rule *rule;
} making;

/* `count` sums of terms of length 1 without negative inner products (onestep_metric.c, onestep_sums.c), each from
 * `part` of the budget. */
static tct_status add_parts(const making *m, const char *what, double x, double part, int64_t count, tct_promise *out,
                            tct_error *err) {
  double sensitivity = m->facts->neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  if (!(part > 0)) return TCT_OK;
  tct_event event = tct_event_gaussian(x / sqrt(part), count);
  return tct_promise_add(out, tct_release_sum(what, event, 1, sensitivity, 2 * m->facts->rows), err);
}

/* The same of terms that may be opposite. */
static tct_status add_signed(const making *m, const char *what, double x, double part, int64_t count, tct_promise *out,
                             tct_error *err) {
  tct_event event = tct_event_gaussian(x / sqrt(part), count);
  tct_release release = tct_release_sum(what, event, 1, 1, m->facts->rows);
  release.whole = true; /* W S is made of the sum S over all rows */
  return tct_promise_add(out, release, err);
}

static double last_part(const tct_onestep_rule *rule) {
  return 1 - rule->metric - rule->scale - rule->path - rule->slopes - rule->moments;
}

static tct_status add_metric(const making *m, double x, double part, tct_promise *out, tct_error *err) {
  double sums = dponestep_sums_of_metric, squares = dponestep_squares_of_metric, lengths = dponestep_lengths_of_metric;
  TCT_TRY(add_signed(m, "sums of rows and labels", x, part * sums, 1, out, err));
  TCT_TRY(add_parts(m, "sums of squares", x, part * squares, 1, out, err));
  TCT_TRY(add_parts(m, "sum of z z^T in the metric", x, part * (1 - sums - squares - lengths) / 2, 2, out, err));
  return add_parts(m, "counts of the rows' lengths", x, part * lengths, 1, out, err);
}

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const tct_onestep_rule *rule = m->rule;
  int64_t steps = rule->steps, counts = counts_of(rule);
  double gradients = rule->path * (steps > 1 ? dponestep_gradients_of_path : 1),
         last = rule->scale * dponestep_last_of_counts;
  TCT_TRY(add_metric(m, x, rule->metric, out, err));
  TCT_TRY(add_parts(m, "counts of gradients' lengths", x, counts ? (rule->scale - last) / (double)counts : 0, counts,
                    out, err));
  TCT_TRY(add_signed(m, "sum of weighted gradients in the metric", x, gradients / (double)steps, steps, out, err));
  if (steps > 1)
    TCT_TRY(add_parts(m, "curvature of the loss along the path", x, (rule->path - gradients) / (double)(steps - 1),
                      steps - 1, out, err));
  TCT_TRY(add_parts(m, "variance of gradients at the path's end", x, rule->slopes, 1, out, err));
  TCT_TRY(add_parts(m, "counts of gradients' lengths at the path's end", x, last, 1, out, err));
  TCT_TRY(add_signed(m, "sum of weighted gradients at the path's end", x, last_part(rule), 1, out, err));
  const char *moments =
      rule->sandwich ? "curvature and variance of gradients, together" : "curvature of the loss in the metric";
  return add_parts(m, moments, x, rule->moments, 1, out, err);
}

static tct_status check(const tct_facts *facts, const tct_onestep_rule *rule, tct_error *err) {
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors are known for the penalties none and l2; choose one of them, or drop {errors}");
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE,
                    "the loss %s has no curvature, so its weights have no standard errors; choose logistic, squared, "
                    "huber, poisson or gamma, or drop {errors}",
                    facts->loss.kind->name);
  if (tct_moments_out_of_range(facts))
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors need products of rows and labels: a row norm and a label bound within 1e-30 and "
                    "1e30; scale the data, or drop {errors}");
  if (facts->p > MOST)
    return tct_fail(
        err, TCT_E_USAGE,
        "standard errors put two numbers for each pair of weights into the model file, so they know at most %d "
        "features; drop {errors}",
        MOST);
  if (!(last_part(rule) >= dponestep_slopes_part))
    return tct_fail(err, TCT_E_USAGE,
                    "metric, path, moments and scale are more than 0.96 together; leave more for the last step");
  return TCT_OK;
}

/* n mu/p over what independent columns of equal spread need, for eigenvalues of H to be above its noise. */
static double reach(const tct_facts *facts, const tct_onestep_rule *rule) {
  double largest = facts->loss.kind->link == TCT_LINK_IDENTITY ? 1 : 1.25; /* of curves over the typical one */
  if (facts->loss.kind->counts) largest = dponestep_curve_least;
  return rule->signal * sqrt(rule->moments) / (sqrt(2 * (double)facts->p) * largest);
}

/* As measured in docs/measured/coverage.md, where these limits lie between the rows. */
static const char *withheld(double reached) {
  if (reached < dponestep_reach_of_most) return "; expect no interval for most weights: too few records";
  if (reached < dponestep_reach_of_skewed)
    return "; no interval for skewed, rare or correlated columns, or few positives";
  return reached < dponestep_reach_of_rare ? "; no interval for rare values, or with few positives" : "";
}

/* What a user may expect, from public facts: the noise's variance over the sampling variance of a right model. */
static void expect(const tct_facts *facts, const tct_onestep_rule *rule, tct_solver_plan *out) {
  double n = (double)facts->rows, p = (double)facts->p;
  if (tct_noise_off(facts)) return;
  double mu = rule->signal * p / n;
  double ratio = sqrt(1 + dponestep_noise_of_last * p / (n * mu * mu * last_part(rule)));
  snprintf(out->note, sizeof out->note,
           "standard errors take %.0f %% of the budget; expect about %.2f times those without noise%s",
           100 * (rule->moments + rule->slopes + rule->scale), ratio, withheld(reach(facts, rule)));
}

tct_status tct_onestep_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  static const tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = 1e-8};
  TCT_TRY(tct_plan_begin(facts, given, tct_onestep_options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dponestep", err));
  tct_onestep_rule rule = tct_onestep_rule_of(facts, &out->spec);
  TCT_TRY(check(facts, &rule, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "metric", rule.metric, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "path", rule.path, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "moments", rule.moments, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)rule.steps, err));
  making m = {facts, &rule};
  double x = 0;
  out->noise_multiplier = NAN;
  expect(facts, &rule, out);
  return tct_budget_fit(facts, &budget, make, &m, out, &x, err);
}
