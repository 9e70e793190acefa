/* dpcd_plan.c - the promise of dpcd: how many steps, how much noise, and what the smoothness constants may cost.
 *
 * THE SPLIT.  Let x be the noise multiplier at which one Gaussian release would use the whole budget (mu = 1/x).
 *   smoothness, Gaussian form:  noise x/sqrt(s), s the share of mu^2 (the default 0.1 makes the steps 5 % noisier)
 *   smoothness, Laplace form:   epsilon' = s*epsilon, whatever x
 *   K T steps:                  noise x*sqrt(K T/(1 - s)) (Laplace: without the 1 - s); with clipping=record as many
 *                               events as passes, K T/p
 *   greedy steps:               that noise over sqrt(1 - f) for the measurement, and a choice of the same zCDP as the
 *                               part f of the step: epsilon_0^2/8 = f*r^2/(2 x^2)*(1 - s)/T, r the relation's shift
 *
 * x is calibrated as the smallest for which the whole list costs at most (epsilon, delta).  The cost is that of exact
 * Gaussian DP where all are Gaussian, else that of the best accountant.
 *
 * DEFAULTS, from public facts.
 *   step = 1: one coordinate at a time is a descent step for every step up to 1/M_j (up to 2/M_j without noise).
 *   clip = c*sqrt(sum M), so C_j = c*sqrt(M_j) with c = f*s/sqrt(h), h the curvature bound: M_j = h*mean x_j^2, so
 *     C_j = f*s*rms(x_j), and s is the largest slope: the loss's own bound, or half the label bound for real labels.
 *     clipping=record: f = 1.  The ball then is that of a record of typical length whose slope is the largest, since
 *     sum over j of (s x_j/C_j)^2 is p on the average.  Near the optimum most slopes are far smaller.
 *     clipping=coordinate: f = 2.  A derivative is clipped only where its slope is near the largest and its feature
 *     above twice its rms.  A smaller one biases the steps where features have heavy tails.
 *   passes: P passes leave about A/P to gain (the sublinear rate of coordinate descent) and add noise of P*N.  Here N =
 *     c^2 p^2 x^2/(2 n^2) is the excess 1/2 sum_j (x sqrt(p) C_j/n)^2/M_j of one pass at step 1.  The sum is least at P
 *     = sqrt(A/N).  A is a public guess, half the loss at w = 0; P is kept in [1, 100].
 * bench/papers/bench_dpcd_defaults.c measures the rule against the best of a grid on ten data sets;
 * docs/decisions/minimiser-rules.md says how f was chosen. */
#include "solve/coordinate/dpcd.h"

#include "core/alloc.h"
#include "core/number.h"
#include "solve/coordinate/rules.def"

static double smooth_noise(const tct_dpcd_shape *s, double x) {
  return s->laplace ? s->laplace_noise : x / sqrt(s->budget_fraction);
}

/* Steps' part of mu^2. */
static double rest(const tct_dpcd_shape *s) { return s->smooth && !s->laplace ? 1 - s->budget_fraction : 1; }

static double step_noise(const tct_dpcd_shape *s, double x) {
  double part = rest(s) * (s->greedy ? 1 - s->split : 1);
  return x * sqrt((double)s->steps / part);
}

/* Greedy only. */
static double choice_epsilon(const tct_dpcd_shape *s, double x) {
  return 2 * s->sensitivity * sqrt(s->split * rest(s) / (double)s->steps) / x;
}

typedef struct making {
  const tct_facts *facts;
  const tct_dpcd_shape *shape;
} making;

static tct_status add_moments(const making *m, double x, tct_promise *out, tct_error *err) {
  const tct_dpcd_shape *s = m->shape;
  double noise = smooth_noise(s, x);
  bool laplace = s->laplace && noise > 0;
  tct_event event = laplace ? tct_event_laplace(noise, 1) : tct_event_gaussian(noise, 1);
  double sensitivity = laplace ? s->moments1 : s->moments2;
  tct_release moments = tct_release_sum("means of squared features", event, 1, sensitivity, m->facts->rows);
  moments.largest = 1;
  return tct_promise_add(out, moments, err);
}

/* Margins in floats: the noise must cover their coarser lattice, and where a pass takes microseconds there is nothing
 * to save (4096 records: a step of one). */
static bool in_floats(const making *m, double noise) {
  if (m->shape->precise || (m->facts->rows < 4096 && !m->shape->single)) return false;
  return !tct_noise_off(m->facts) && noise >= 4 && !m->shape->greedy;
}

/* The lengths C_j follow from M_j, and from which j is next. */
static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const tct_dpcd_shape *s = m->shape;
  if (s->smooth) TCT_TRY(add_moments(m, x, out, err));
  if (s->greedy) {
    double epsilon = x > 0 ? choice_epsilon(s, x) : INFINITY;
    tct_release choice = tct_release_choice("a coordinate, by its step", epsilon, s->steps, 1, 1, 1);
    choice.follows = true, choice.clip = choice.sensitivity = NAN;
    TCT_TRY(tct_promise_add(out, choice, err));
  }
  double noise = x > 0 ? step_noise(s, x) : 0;
  tct_release steps =
      tct_release_sum("sums of clipped derivatives", tct_event_gaussian(noise, s->steps), NAN, NAN, m->facts->rows);
  steps.follows = true;
  steps.parts = s->record ? m->facts->p : 0;
  steps.bits = in_floats(m, noise) ? TCT_DPCD_BITS : 0;
  return tct_promise_add(out, steps, err);
}

static tct_status promise(const tct_facts *facts, tct_dpcd_shape *shape, tct_solver_plan *out, tct_error *err) {
  const tct_option *o = tct_dpcd_options;
  bool rdp = tct_spec_is(&out->spec, o, "accounting", "rdp"); /* the paper's noise: the moments accountant's formula */
  tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = rdp ? 1e-7 : 1e-8};
  if (rdp) budget.by = &tct_accountant_rdp;
  making m = {facts, shape};
  double x = 0;
  TCT_TRY(tct_budget_fit(facts, &budget, make, &m, out, &x, err));
  out->noise_multiplier = x > 0 ? step_noise(shape, x) : 0;
  return TCT_OK;
}

/* x of a single Gaussian release, for the defaults. */
static double single_release(const tct_facts *facts) {
  double noise = tct_budget_single(facts, facts->neighbours);
  return !tct_noise_off(facts) && !(noise > 0) ? INFINITY : noise;
}

static double default_passes(const tct_facts *facts, bool ball) {
  double c = tct_dpcd_typical(facts, ball), p = (double)facts->p, n = (double)facts->rows, x = single_release(facts);
  double y = facts->label_bound, at_zero = facts->loss.kind->binary ? log(2) : y * y / 8;
  double noise = c * c * p * p * x * x / (2 * n * n);
  return fmin(dpcd_passes_most, fmax(1, sqrt(dpcd_gain_part * at_zero / noise)));
}

/* Greedy steps: the choice must tell a strong coordinate from p noisy ones.  A strong one scores about a quarter of its
 * clip.  The largest of p Gumbel draws is log p times 2*change/epsilon_0 with change = r*gamma*C/n in the same units.
 * Twice as much score as noise asks epsilon_0 >= 16 r log(p)/n, which sets the number of steps. */
static double default_greedy(const tct_facts *facts, const tct_dpcd_shape *shape) {
  double x = single_release(facts), n = (double)facts->rows, p = (double)facts->p;
  if (x == 0) return 100 * p;
  double max = 4 * shape->split * pow(n / (16 * log(p + 2) * x), 2);
  return fmin(fmax(max, 4), fmax(4, 2 * p));
}

/* Where passes are whole, clipping=record is possible. */
static bool may_clip_records(const tct_spec *spec) {
  const tct_option *o = tct_dpcd_options;
  bool ordered = tct_spec_is(spec, o, "order", "shuffled") || tct_spec_is(spec, o, "order", "cyclic");
  return ordered && !tct_spec_is(spec, o, "clipping", "coordinate");
}

/* clipping=auto becomes record or coordinate: record needs passes that visit every coordinate once. */
static tct_status clipping(const tct_facts *facts, int64_t inner, tct_dpcd_shape *shape, tct_solver_plan *out,
                           tct_error *err) {
  const tct_option *o = tct_dpcd_options;
  bool whole = may_clip_records(&out->spec) && inner % facts->p == 0,
       record = tct_spec_is(&out->spec, o, "clipping", "record");
  if (record && !whole)
    return tct_fail(
        err, TCT_E_USAGE,
        "clipping=record needs whole passes, each coordinate once; use order=shuffled or cyclic, and passes "
        "without a fraction");
  record = record || (whole && tct_spec_is(&out->spec, o, "clipping", "auto"));
  shape->record = record;
  if (record) shape->steps /= facts->p;
  return tct_spec_set(&out->spec, "clipping", record ? "record" : "coordinate", err);
}

/* T and K.  schedule=theory: Theorem 3.3, K = 2p(1 + 1/mu_M) and T = log2(n epsilon mu_M/(p L)) when psi is strongly
 * convex with mu_M = l2/max M_j, else T = 1 and K = sqrt(p) n epsilon/sqrt(log 1/delta).  Public M_j and L = C stand
 * in for what the theorem knows, and the noise grows with K T, so this is for study. */
static tct_status steps(const tct_facts *facts, tct_dpcd_shape *shape, tct_solver_plan *out, tct_error *err) {
  const tct_option *o = tct_dpcd_options;
  double p = (double)facts->p, n = (double)facts->rows;
  double passes = tct_spec_real(&out->spec, o, "passes");
  int64_t outer = tct_spec_count(&out->spec, o, "outer"), inner = tct_spec_count(&out->spec, o, "inner");
  double wanted_outer = 1,
         wanted = isnan(passes) ? round(default_passes(facts, may_clip_records(&out->spec))) * p : passes * p;
  if (shape->greedy && isnan(passes)) wanted = default_greedy(facts, shape);
  if (tct_spec_is(&out->spec, o, "schedule", "theory")) {
    double h = facts->loss.kind->curvature_bound(facts->loss.h), r = facts->row_norm,
           mu = facts->penalty.l2 / (h * r * r / p);
    double budget = !tct_noise_off(facts) ? n * facts->epsilon / sqrt(log(1 / facts->delta)) : 1e3 * p;
    wanted_outer = mu > 0 ? fmax(1, ceil(log2(budget * mu / p))) : 1;
    wanted = wanted_outer * (mu > 0 ? 2 * p * (1 + 1 / mu) : sqrt(p) * budget);
  }
  if (outer < 0) outer = (int64_t)wanted_outer;
  if (inner < 0) inner = (int64_t)fmin(1e9, fmax(1, ceil(wanted / (double)outer)));
  if ((double)outer * (double)inner > 1e9)
    return tct_fail(err, TCT_E_USAGE, "more than 1e9 coordinate steps; give fewer passes");
  shape->steps = outer * inner;
  TCT_TRY(tct_spec_set_real(&out->spec, "outer", (double)outer, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "inner", (double)inner, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "passes", (double)shape->steps / p, err));
  return clipping(facts, inner, shape, out, err);
}

static tct_status check(const tct_facts *facts, const tct_spec *spec, tct_error *err) {
  const tct_option *o = tct_dpcd_options;
  tct_fused_slope slope;
  TCT_TRY(tct_plan_need_bounds(facts, "dpcd", err));
  char names[200];
  tct_loss_names(tct_loss_has_fused, names, sizeof names);
  if (!tct_dpcd_slope(&facts->loss, &slope))
    return tct_fail(err, TCT_E_USAGE, "dpcd has no step for the loss %s; use %s", facts->loss.kind->name, names);
  if (!facts->penalty.kind->separable)
    return tct_fail(err, TCT_E_USAGE,
                    "dpcd needs a penalty that works coordinate by coordinate; use none, l1, l2, "
                    "elastic or box");
  if (tct_spec_is(spec, o, "accounting", "rdp") &&
      (tct_spec_is(spec, o, "order", "greedy") || tct_spec_is(spec, o, "form", "laplace")))
    return tct_fail(err, TCT_E_USAGE, "accounting=rdp is the paper's, for Gaussian steps only; leave it at best");
  return TCT_OK;
}

/* Of equal bounds as many decide as fit into a row, and some that rounding may add: a plan for any number of features
 * needs no list of them. */
static int64_t bounds_that_decide(const tct_facts *facts, const tct_spec *spec) {
  double bound = facts->row_norm, most;
  if (tct_dpcd_is_list(spec, "bounds")) return facts->p;
  if (!tct_spec_is(spec, tct_dpcd_options, "bounds", "auto"))
    (void)tct_parse_real(tct_spec_text(spec, tct_dpcd_options, "bounds"), &bound);
  most = 1.01 * (facts->row_norm / bound) * (facts->row_norm / bound) + 3;
  return most < (double)facts->p ? (int64_t)most : facts->p;
}

static tct_status moment_lengths(const tct_facts *facts, const tct_spec *spec, tct_dpcd_shape *shape, tct_error *err) {
  tct_facts few = *facts;
  few.p = bounds_that_decide(facts, spec);
  double *bounds = TCT_NEW(double, few.p);
  tct_status status = bounds ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_dpcd_list(&few, spec, "bounds", facts->row_norm, bounds, err);
  if (status == TCT_OK) status = tct_dpcd_moment_reach(&few, bounds, true, &shape->moments1, err);
  if (status == TCT_OK) status = tct_dpcd_moment_reach(&few, bounds, false, &shape->moments2, err);
  tct_free(bounds);
  return status;
}

tct_status tct_dpcd_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  const tct_option *o = tct_dpcd_options;
  TCT_TRY(tct_plan_begin(facts, given, o, out, err));
  TCT_TRY(check(facts, &out->spec, err));
  TCT_TRY(tct_dpcd_list(facts, &out->spec, "moments", 1, NULL, err));
  TCT_TRY(tct_dpcd_list(facts, &out->spec, "bounds", 1, NULL, err));
  tct_dpcd_shape shape = {.sensitivity = facts->neighbours == TCT_ADD_REMOVE ? 1 : 2};
  shape.smooth = tct_spec_is(&out->spec, o, "smoothness", "private");
  shape.laplace = shape.smooth && tct_spec_is(&out->spec, o, "form", "laplace");
  shape.budget_fraction = tct_spec_real(&out->spec, o, "budget_fraction");
  shape.laplace_noise = !tct_noise_off(facts) ? shape.sensitivity / (shape.budget_fraction * facts->epsilon) : 0;
  shape.greedy = tct_spec_is(&out->spec, o, "order", "greedy");
  shape.split = tct_spec_real(&out->spec, o, "split");
  TCT_TRY(steps(facts, &shape, out, err));
  shape.single = tct_spec_is(&out->spec, o, "precision", "single");
  shape.precise = tct_spec_is(&out->spec, o, "precision", "double");
  if (shape.smooth) TCT_TRY(moment_lengths(facts, &out->spec, &shape, err));
  TCT_TRY(promise(facts, &shape, out, err));
  if (tct_spec_is(&out->spec, o, "smoothness", "exact"))
    out->unaccounted = "smoothness constants were computed exactly from the data (smoothness=exact)";
  return TCT_OK;
}
