/* dpfw_plan.c - the promise of dpfw: how many choices, and what each may cost.
 *
 * THE CHOICES.  T events exponential:epsilon_0, epsilon_0 the largest that (epsilon, delta) allows by the best
 * accountant.  Under either relation, a choice whose scores change by at most `change` is one such event.
 *
 * DEFAULTS, from public facts.
 *   clip B: no slope of a sensible prediction is cut.  B is the loss's slope bound, or the logistic slope of the
 *     largest margin eta*R_inf that the ball allows.  For real labels it is Y + min(eta*R_inf, Y), a residual whose
 *     prediction is no larger than labels are.
 *   T: after T steps Frank-Wolfe has at most 2 C_f/T to gain, C_f <= h (2 eta R_inf)^2, h the curvature bound.  Noise
 *     makes a step fall short of the best vertex by about eta * (2 change/n) log(2p)/epsilon_0.  Here epsilon_0 =
 *     sqrt(8 rho/T), rho the zCDP of the budget (that of one Gaussian release).  The sum A/T + N sqrt(T) is least at
 *     T = (2A/N)^(2/3), which is proportional to (n epsilon)^(2/3).  At delta 0 epsilon_0 is epsilon/T instead, and T =
 *     (A/N)^(1/2).  C_f is the worst case: A is gain_part * 2 C_f, with column_part * R instead of a larger R_inf: no
 *     table has all its length in one column.  T is kept within [10, 100000]. */
#include "solve/frank_wolfe/dpfw.h"
#include "solve/frank_wolfe/rules.def"

#include <string.h>

const tct_option tct_dpfw_options[] = {
    {"steps", TCT_OPT_COUNT, "auto", 1, 1e7, NULL, "T; auto: the (n epsilon)^(2/3) rule, from public facts"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "B, bound on a slope; auto: from the loss, the radius and the labels"},
    {"feature_bound", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "public bound on |x_ij|, enforced; auto: R"},
    {"refresh", TCT_OPT_REAL, "2", 1, 1e9, NULL,
     "all slopes are taken again when t has grown by this; 1: at each step"},
    {"average", TCT_OPT_CHOICE, "last", 0, 0, "last|half", "the last iterate, or the mean of the second half"},
    {"form", TCT_OPT_CHOICE, "fast", 0, 0, "fast|plain", "plain: all sums and all scores at each step, for comparison"},
    {0},
};

static double reach_of(const tct_facts *facts, const tct_spec *spec) {
  double bound = tct_spec_real(spec, tct_dpfw_options, "feature_bound");
  return isnan(bound) ? facts->row_norm : bound;
}

static double clip_of(const tct_facts *facts, double feature) {
  double margin = facts->penalty.radius * feature, bound = tct_loss_slope_bound(&facts->loss);
  if (facts->loss.kind->slope_bound_within) return facts->loss.kind->slope_bound_within(margin, facts->loss.h);
  if (isfinite(bound)) return bound;
  return facts->label_bound + fmin(margin, facts->label_bound);
}

static tct_status steps_of(const tct_facts *facts, double feature, double change, double *steps, tct_error *err) {
  double rho = 0, curve = facts->loss.kind->curvature_bound(facts->loss.h);
  double typical = fmin(feature, dpfw_column_part * facts->row_norm);
  double diameter = 2 * facts->penalty.radius * typical, gain = dpfw_gain_part * 2 * curve * diameter * diameter;
  *steps = 1000; /* without noise */
  if (tct_noise_off(facts)) return TCT_OK;
  double lost = facts->penalty.radius * 2 * change / (double)facts->rows * log(2 * (double)facts->p), best;
  if (facts->delta > 0) {
    TCT_TRY(tct_budget_rho(facts, &rho, err));
    best = pow(2 * gain * sqrt(8 * rho) / lost, 2.0 / 3.0);
  } else {
    best = sqrt(gain * facts->epsilon / lost);
  }
  *steps = floor(fmin(100000, fmax(dpfw_steps_least, best)));
  return TCT_OK;
}

typedef struct making {
  const tct_facts *facts;
  double clip; /* of a term */
  int64_t steps;
} making;

static tct_status make(double epsilon, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  double change = m->facts->neighbours == TCT_ADD_REMOVE ? m->clip : 2 * m->clip;
  return tct_promise_add(
      out, tct_release_choice("a vertex, by the gradient", epsilon, m->steps, m->clip, change, 2 * m->facts->rows),
      err);
}

static tct_status calibrate(const tct_facts *facts, double clip, int64_t steps, tct_solver_plan *out, tct_error *err) {
  double low = facts->epsilon / (4 * (double)steps), epsilon = 0;
  tct_budget budget = {.direction = TCT_LARGEST, .low = low, .high = 4 * facts->epsilon, .tolerance = 1e-6};
  making m = {facts, clip, steps};
  return tct_budget_fit(facts, &budget, make, &m, out, &epsilon, err);
}

static tct_status check(const tct_facts *facts, tct_error *err) {
  TCT_TRY(tct_plan_need_bounds(facts, "dpfw", err));
  if (!facts->penalty.kind->cross_polytope)
    return tct_fail(err, TCT_E_USAGE, "dpfw works on the l1 ball; give {penalty l1ball:radius=...}");
  if (facts->p > (int64_t)1 << 29)
    return tct_fail(err, TCT_E_USAGE, "dpfw chooses among at most 2^29 features; use fewer");
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE, "dpfw needs a smooth loss; use squared, logistic, huber or smoothed_hinge");
  return TCT_OK;
}

tct_dpfw tct_dpfw_settings(const tct_solver_plan *plan, const tct_mech *mech) {
  const tct_option *o = tct_dpfw_options;
  const tct_spec *spec = &plan->spec;
  tct_dpfw d = {.steps = tct_spec_count(spec, o, "steps"), .clip = tct_spec_real(spec, o, "clip")};
  d.planned = tct_mech_release_of(mech, TCT_DPFW_CHOICE);
  d.refresh = tct_spec_real(spec, o, "refresh");
  d.average = tct_spec_is(spec, o, "average", "half");
  d.plain = tct_spec_is(spec, o, "form", "plain");
  return d;
}

tct_status tct_dpfw_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  const tct_option *o = tct_dpfw_options;
  TCT_TRY(tct_plan_begin(facts, given, o, out, err));
  TCT_TRY(check(facts, err));
  double feature = reach_of(facts, &out->spec), clip = tct_spec_real(&out->spec, o, "clip"), steps = 0;
  if (isnan(clip)) TCT_TRY(tct_spec_set_real(&out->spec, "clip", clip = clip_of(facts, feature), err));
  TCT_TRY(tct_spec_set_real(&out->spec, "feature_bound", feature, err));
  double change = clip * feature * (facts->neighbours == TCT_ADD_REMOVE ? 1 : 2);
  if (tct_spec_auto(&out->spec, o, "steps")) {
    TCT_TRY(steps_of(facts, feature, change, &steps, err));
    TCT_TRY(tct_spec_set_real(&out->spec, "steps", steps, err));
  }
  return calibrate(facts, clip * feature, tct_spec_count(&out->spec, o, "steps"), out, err);
}
