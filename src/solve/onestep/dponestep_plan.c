/* dponestep_plan.c - options, rules and promise of dponestep. */
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"

#include <stdio.h>

const tct_option tct_onestep_options[] = {
    {"errors", TCT_OPT_CHOICE, "model", 0, 0, "model|robust",
     "standard errors that hold under a right model, or also where the variance or the mean is not as the model says"},
    {"metric", TCT_OPT_REAL, "auto", 0.001, 0.5, NULL, "part of the budget (of mu^2) for the released metric"},
    {"path", TCT_OPT_REAL, "auto", 0.001, 0.8, NULL, "part of the budget (of mu^2) for the path"},
    {"moments", TCT_OPT_REAL, "auto", 0.001, 0.8, NULL,
     "part of the budget (of mu^2) for the curvature and the variance of slopes"},
    {"scale", TCT_OPT_REAL, "0.03", 0.001, 0.5, NULL,
     "part of the budget (of mu^2) for counts of residuals, where slopes have no bound"},
    {"weight", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL,
     "c_z: records whose image is longer count less; auto: from the released spectrum"},
    {"clip", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL,
     "k_c: the clip of slopes, in units of a residual where they have no bound; auto: from the released spectrum"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL, "T; auto: 4 sqrt(the longest path that these facts allow)"},
    {0},
};

enum { MOST = 512 };

static double between(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* n mu/p, from public facts. */
static double public_signal(const tct_facts *facts) {
  double noise = tct_budget_single(facts, facts->neighbours);
  return noise > 0 ? (double)facts->rows / (noise * (double)facts->p) : INFINITY;
}

double tct_onestep_weight(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  if (tct_noise_off(facts)) return 1000;
  if (!isnan(rule->weight)) return rule->weight;
  /* The noise of H grows with c_z^2 and the root of p, and its eigenvalues fall with p. */
  double open = sqrt(dponestep_open_noise / sqrt(2 * (double)facts->p));
  /* Where few directions hold most of the rows' length, H is small in the others. */
  double few =
      between(dponestep_even_spread * public_signal(facts) / signal_to_noise, dponestep_few_directions_least, 1);
  /* The noise of H follows the largest curve of counts, too.  Two classes have a clip of their own. */
  double most = rule->robust && !facts->loss.kind->counts ? dponestep_robust_weight_most : dponestep_weight_most;
  /* With many columns few images are much longer than the typical one, so a small c_z moves little under a wrong mean.
   * It must still grow with the signal, as errors fall and what it moves does not. */
  double many = 1 + dponestep_robust_class_most_columns / (double)facts->p;
  if (rule->robust && facts->loss.kind->binary)
    most = between(fmax(many, dponestep_robust_class_most_per_root * sqrt(public_signal(facts))),
                   dponestep_robust_weight_least, dponestep_robust_weight_most);
  if (rule->scaled && !facts->loss.kind->counts)
    most = between(dponestep_number_most_per_root * sqrt(public_signal(facts)), most, dponestep_number_weight_most);
  if (rule->robust)
    return between(fmin(dponestep_robust_weight_per_root, open) * sqrt(signal_to_noise),
                   dponestep_robust_weight_least * few, most);
  return between(fmin(dponestep_weight_per_root, open) * sqrt(signal_to_noise),
                 (facts->loss.kind->binary ? dponestep_class_weight_least : dponestep_weight_least) * few, most);
}

/* Two classes.  Logistic: more weighs records down where noise is less than what that costs. */
static double class_clip(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  if (facts->loss.kind->link != TCT_LINK_LOGISTIC) return INFINITY;
  return between(
      (rule->robust ? dponestep_robust_class_clip_per_root : dponestep_class_clip_per_root) * sqrt(signal_to_noise),
      dponestep_class_clip_least, dponestep_class_clip_most);
}

/* Residuals of counts are skewed, also where the model is right. */
double tct_onestep_clip(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  if (!isnan(rule->clip)) return rule->clip;
  if (facts->loss.kind->binary) return class_clip(facts, rule, signal_to_noise);
  double root = sqrt(signal_to_noise);
  /* What the cut takes from the intercept stays, while sampling's part falls with n. */
  double least = dponestep_count_clip_least +
                 dponestep_count_clip_per_decade * fmax(0, log10((double)facts->rows / dponestep_small_table));
  if (facts->loss.kind->counts && rule->robust) { /* what the cut takes under a wrong mean must fall as errors do */
    double large = (double)facts->rows / dponestep_large_table;
    return between(dponestep_robust_count_clip_per_root * root, dponestep_robust_count_clip_more + least,
                   dponestep_robust_count_clip_most * sqrt(fmax(large, 1)));
  }
  if (facts->loss.kind->counts) return between(dponestep_count_clip_per_root * root, least, dponestep_count_clip_most);
  if (!rule->robust)
    return between(dponestep_number_clip_least +
                       dponestep_number_clip_per_decade * log10(signal_to_noise / dponestep_number_clip_signal),
                   dponestep_number_clip_least, dponestep_number_clip_most);
  /* What the cut takes from skewed residuals stays, too. */
  double large = (double)facts->rows / dponestep_large_table;
  return between(
      dponestep_robust_number_clip_per_root * root,
      dponestep_robust_number_clip_least + dponestep_robust_number_clip_per_decade * between(log10(large), -1, 1),
      dponestep_robust_number_clip_most * pow(fmax(large, 1), dponestep_robust_number_clip_most_power));
}

/* The last step takes away what the path's clip does, so it may be smaller.  What is left is of the order of the square
 * of that, where curvatures follow the weights: as errors fall with n it must fall, too. */
double tct_onestep_path_clip(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  tct_link link = facts->loss.kind->link;
  double least = link == TCT_LINK_LOGISTIC  ? dponestep_class_path_clip_least
                 : facts->loss.kind->binary ? INFINITY
                                            : dponestep_path_clip_least;
  return link == TCT_LINK_IDENTITY
             ? least
             : fmax(least, dponestep_path_clip_part * tct_onestep_clip(facts, rule, signal_to_noise));
}

double tct_onestep_path_length(double signal_to_noise) {
  return between(dponestep_path_per_signal * signal_to_noise, dponestep_path_least, dponestep_path_most);
}

/* The largest curve of a count is far above the typical one, and the noise of H follows the largest. */
static double moments_part(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  if (facts->loss.kind->counts && rule->robust)
    return between(dponestep_robust_count_moments_per_signal / signal_to_noise, dponestep_robust_count_moments_least,
                   dponestep_robust_count_moments_most);
  return between(
      dponestep_moments_per_signal / signal_to_noise * fmax(1, sqrt((double)facts->p / dponestep_moments_columns)),
      dponestep_moments_least, dponestep_moments_most);
}

/* A squared loss needs no path: its one step goes all the way.  Only the counts of residuals want to be near. */
static double path_part(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  if (signal_to_noise < dponestep_low_signal) return dponestep_path_part_at_low_signal;
  if (facts->loss.kind->link == TCT_LINK_IDENTITY && signal_to_noise > dponestep_number_path_signal)
    return dponestep_number_path_part;
  return facts->loss.kind->counts && rule->robust && signal_to_noise > dponestep_robust_count_path_signal
             ? dponestep_robust_count_path_part
             : dponestep_path_part;
}

tct_onestep_rule tct_onestep_rule_of(const tct_facts *facts, const tct_spec *spec) {
  const tct_option *options = tct_onestep_options;
  double signal_to_noise = public_signal(facts);
  bool low = signal_to_noise < dponestep_low_signal;
  tct_onestep_rule rule = {.robust = tct_spec_is(spec, options, "errors", "robust")};
  rule.scaled = !facts->loss.kind->binary;
  rule.sandwich = rule.robust || facts->loss.kind->link != TCT_LINK_LOGISTIC;
  rule.metric = tct_spec_real(spec, options, "metric");
  rule.path = tct_spec_real(spec, options, "path");
  rule.moments = tct_spec_real(spec, options, "moments");
  if (isnan(rule.metric)) rule.metric = low ? dponestep_metric_part_at_low_signal : dponestep_metric_part;
  if (isnan(rule.path)) rule.path = path_part(facts, &rule, signal_to_noise);
  if (isnan(rule.moments)) rule.moments = moments_part(facts, &rule, signal_to_noise);
  rule.scale = rule.scaled ? tct_spec_real(spec, options, "scale") / 3 : 0;
  rule.weight = tct_spec_real(spec, options, "weight");
  rule.clip = tct_spec_real(spec, options, "clip");
  rule.path_length = tct_noise_off(facts) ? 2000 : tct_onestep_path_length(signal_to_noise);
  rule.steps = tct_spec_auto(spec, options, "steps") ? (int64_t)ceil(4 * sqrt(rule.path_length))
                                                     : tct_spec_count(spec, options, "steps");
  return rule;
}

int64_t tct_onestep_first(const tct_onestep_rule *rule) { return rule->scaled ? (rule->steps + 2) / 3 : rule->steps; }

tct_onestep_places tct_onestep_places_of(const tct_onestep_rule *rule) {
  if (!rule->scaled) return (tct_onestep_places){.steps = {2, 2}, .last = 3, .moments = 4};
  tct_onestep_places at = {.scale = {2, 4, 5}, .steps = {3, 5}, .last = 6, .moments = 7};
  if (rule->steps > tct_onestep_first(rule)) at.scale[2]++, at.last++, at.moments++;
  return at;
}

/* An eighth for the counts of norms, the rest for one matrix.  The ridge keeps a rare category's records short enough
 * to count (docs/decisions/standard-errors.md). */
tct_dpmetric_rule tct_onestep_metric_rule(const tct_facts *facts, const tct_onestep_rule *rule) {
  return (tct_dpmetric_rule){.norms = rule->metric / 8,
                             .budget_fraction = rule->metric * 7 / 8,
                             .ridge = dponestep_metric_ridge / (double)facts->p,
                             .clip = 1 / tct_dpmetric_slope(facts),
                             .path_length = 1,
                             .average = 1,
                             .steps = rule->steps};
}

/* ---- the promise -------------------------------------------------------------------------------------------- */

typedef struct making {
  const tct_facts *facts;
  const tct_onestep_rule *rule;
} making;

static const char RESIDUALS[] = "counts of the residuals";

/* A sum of terms of length 1 without negative inner products (onestep_sums.c), from `part` of the budget; 0: none. */
static tct_status add_part(const making *m, const char *what, double x, double part, tct_promise *out, tct_error *err) {
  double sensitivity = m->facts->neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  if (!(part > 0)) return TCT_OK;
  tct_event event = tct_event_gaussian(x / sqrt(part), 1);
  return tct_promise_add(out, tct_release_sum(what, event, 1, sensitivity, 2 * m->facts->rows), err);
}

/* `count` of them, each from `part` of the budget. */
static tct_status add_gradients(const making *m, const char *what, double x, double part, int64_t count,
                                tct_promise *out, tct_error *err) {
  if (count == 0) return TCT_OK;
  tct_event event = tct_event_gaussian(x / sqrt(part), count);
  tct_release release = tct_release_sum(what, event, 1, 1, m->facts->rows);
  release.whole = true; /* W S is made of the sum S over all rows */
  return tct_promise_add(out, release, err);
}

static double last_part(const tct_onestep_rule *rule) {
  return 1 - rule->metric - 3 * rule->scale - rule->path - rule->moments;
}

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const tct_onestep_rule *rule = m->rule;
  tct_dpmetric_rule metric = tct_onestep_metric_rule(m->facts, rule);
  TCT_TRY(add_part(m, "counts of the rows' norms", x, metric.norms, out, err));
  TCT_TRY(add_part(m, "sum of x x^T", x, metric.budget_fraction, out, err));
  int64_t first = tct_onestep_first(rule);
  double each = rule->path / (double)rule->steps;
  TCT_TRY(add_part(m, RESIDUALS, x, rule->scale, out, err));
  TCT_TRY(add_gradients(m, "sum of weighted gradients in the metric", x, each, first, out, err));
  TCT_TRY(add_part(m, RESIDUALS, x, rule->scale, out, err));
  TCT_TRY(add_gradients(m, "sum of weighted gradients in the metric", x, each, rule->steps - first, out, err));
  TCT_TRY(add_part(m, RESIDUALS, x, rule->scale, out, err));
  TCT_TRY(add_gradients(m, "sum of weighted gradients at the path's end", x, last_part(rule), 1, out, err));
  const char *moments =
      rule->sandwich ? "curvature and variance of gradients, together" : "curvature of the loss in the metric";
  return add_part(m, moments, x, rule->moments, out, err);
}

static tct_status check(const tct_facts *facts, const tct_onestep_rule *rule, tct_error *err) {
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors are known for the penalties none and l2; choose one of them, or drop {errors}");
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE,
                    "the loss %s has no curvature, so its weights have no standard errors; choose logistic, squared, "
                    "huber or poisson, or drop {errors}",
                    facts->loss.kind->name);
  if (facts->loss.kind->amounts)
    return tct_fail(err, TCT_E_USAGE,
                    "the loss %s has no standard errors yet; drop {errors}, or use poisson with robust ones",
                    facts->loss.kind->name);
  if (facts->p > MOST)
    return tct_fail(err, TCT_E_USAGE,
                    "standard errors need matrices of features squared, at most %d features; drop {errors}", MOST);
  if (!(last_part(rule) >= dponestep_last_part_least))
    return tct_fail(err, TCT_E_USAGE,
                    "metric, path, moments and scale are more than 0.95 together; leave more for the last step");
  return TCT_OK;
}

/* n mu/p over what independent columns of equal spread need, for eigenvalues of H to be above its noise. */
static double reach(const tct_facts *facts, const tct_onestep_rule *rule, double signal_to_noise) {
  double weight = tct_onestep_weight(facts, rule, signal_to_noise), largest = 1; /* of curves over the typical one */
  bool logistic = facts->loss.kind->link == TCT_LINK_LOGISTIC;
  if (logistic) largest = dponestep_logistic_curve_most;
  if (facts->loss.kind->counts) largest = rule->robust ? dponestep_robust_count_curve_most : dponestep_count_curve_most;
  double joint = !rule->sandwich || logistic ? 1 : M_SQRT2, p = (double)facts->p;
  return signal_to_noise * sqrt(rule->moments) /
         (dponestep_floor_over_noise * sqrt(2 * p) * joint * weight * weight * largest);
}

/* As measured in docs/measured/coverage.md, where these limits lie between the rows. */
static const char *withheld(double reached, double signal_to_noise) {
  if (reached < dponestep_reach_of_most) return "; expect no interval for most weights: too few records";
  if (reached < dponestep_reach_of_skewed)
    return "; no interval for skewed, rare or correlated columns, or few positives";
  return reached < dponestep_reach_of_rare && signal_to_noise < dponestep_rare_signal
             ? "; no interval for rare values, or with few positives"
             : "";
}

/* What a user may expect, from public facts: the noise's variance over the sampling variance of a right model. */
static void expect(const tct_facts *facts, const tct_onestep_rule *rule, tct_solver_plan *out) {
  double signal_to_noise = public_signal(facts), n = (double)facts->rows, p = (double)facts->p;
  if (tct_noise_off(facts)) return;
  double mu = signal_to_noise * p / n, weight = tct_onestep_weight(facts, rule, signal_to_noise);
  double clip = tct_onestep_clip(facts, rule, signal_to_noise);
  if (!rule->scaled) clip = dponestep_logistic_width * fmin(weight, clip);
  double part = clip * clip * p / (n * mu * mu * last_part(rule));
  double ratio = sqrt(1 + dponestep_noise_with_moments * part); /* 0.8 of it: what the noise of H adds, as measured */
  snprintf(out->note, sizeof out->note,
           "standard errors take %.0f %% of the budget; expect about %.2f times those without noise%s",
           100 * (rule->moments + 3 * rule->scale), ratio,
           withheld(reach(facts, rule, signal_to_noise), signal_to_noise));
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
