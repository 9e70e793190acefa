/* objpert_plan.c - ridge, noise and output lattice of objective perturbation, from public facts alone. */
#include "account/onestep.h"
#include "account/curves/normal.h"
#include "solve/minimiser/objpert.h"
#include "solve/minimiser/rules.def"

#include <string.h>

/* |N(0, I_p)| > sqrt(p) + 40 has probability below 1e-340, less than the smallest double; such a draw is counted as
 * never. */
#define NORM_TAIL 40.0

const tct_option tct_objpert_options[] = {
    {"variant", TCT_OPT_CHOICE, "auto", 0, 0, "auto|modern|kst|chaudhuri",
     "calibration: this library's, Kifer, Smith and Thakurta 2012, or Chaudhuri, Monteleoni and Sarwate 2011 (pure "
     "epsilon); auto: modern, at delta 0 chaudhuri"},
    {"norm", TCT_OPT_REAL, "auto", 1e-3, 1, NULL,
     "part of the row norm bound beyond which a record counts less, by the square of its length; 1: all count alike; "
     "auto: 0.8, or 1 where a ridge of the problem's own would make that dearer (logistic; other losses: 1)"},
    {"clip", TCT_OPT_REAL, "auto", 1e-3, 1, NULL,
     "part of the largest gradient (largest slope * norm * row norm bound) to which a record's is cut; 1: none is; "
     "auto: "
     "balances that bias and the noise, 0.5 to 1 (logistic; other losses and variant=kst: 1)"},
    {"budget_fraction", TCT_OPT_REAL, "auto", 1e-6, 0.95, NULL,
     "part of epsilon for the curvature term; auto: balances ridge and noise for the public n, p, R, epsilon, delta"},
    {"max_passes", TCT_OPT_REAL, "1e7", 1, 1e15, NULL,
     "a plan that may need more passes over the data than this is refused"},
    {0},
};

static bool is_pure(const tct_spec *spec) { return tct_spec_is(spec, tct_objpert_options, "variant", "chaudhuri"); }

/* At delta 0 only the pure variant has a claim. */
static tct_status choose_variant(const tct_facts *facts, tct_spec *spec, tct_error *err) {
  bool only_pure = facts->delta == 0 && !tct_noise_off(facts);
  if (tct_spec_is(spec, tct_objpert_options, "variant", "auto"))
    TCT_TRY(tct_spec_set(spec, "variant", only_pure ? "chaudhuri" : "modern", err));
  if (!only_pure || is_pure(spec)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "only objpert:variant=chaudhuri keeps delta 0; choose it, or a delta above 0");
}

/* Writes norm, share and clip into the spec where they were left to the rule; output: the output's share. */
static tct_status resolve(const tct_facts *facts, tct_smooth_facts *smooth, tct_spec *spec, double *output,
                          tct_error *err) {
  const tct_option *options = tct_objpert_options;
  tct_balance given = {tct_spec_real(spec, options, "budget_fraction"), tct_spec_real(spec, options, "clip"), NAN, NAN};
  bool rule = !tct_spec_is(spec, options, "variant", "kst") && facts->loss.kind->link == TCT_LINK_LOGISTIC;
  double norm = tct_spec_real(spec, options, "norm");
  tct_smooth_facts shorter = *smooth;
  if (isnan(given.clip) && !rule) given.clip = 1;
  if (isnan(norm) && !rule) norm = 1;
  tct_smooth_cut(&shorter, isnan(norm) ? objpert_typical_norm : norm, 1);
  tct_balance best = tct_objpert_balance(facts, &shorter, given, is_pure(spec));
  if (isnan(norm)) {
    tct_balance all = tct_objpert_balance(facts, smooth, given, is_pure(spec));
    bool weigh = best.cost + tct_objpert_tilted(facts, &shorter) < all.cost;
    norm = weigh ? objpert_typical_norm : 1;
    if (!weigh) best = all;
  }
  tct_smooth_cut(smooth, norm, 1);
  TCT_TRY(tct_spec_set_real(spec, "norm", norm, err));
  *output = best.output;
  TCT_TRY(tct_spec_set_real(spec, "clip", best.clip, err));
  return tct_spec_set_real(spec, "budget_fraction", best.budget_fraction, err);
}

/* ---- the noise ------------------------------------------------------------------------------ */

typedef struct search {
  const tct_facts *facts;
  double shift;    /* a = log(1 + beta/Lambda) */
  double epsilon1; /* of the first step where the two steps are charged apart */
  double log_delta;
  bool one_sign;
} search;

static double reach_of(const tct_facts *facts) { return facts->neighbours == TCT_REPLACE_ONE ? 2 : 1; }

static double log_delta_at(const search *s, double noise) {
  if (s->one_sign)
    return tct_objpert_log_delta(1 / noise, s->shift, objpert_output_mu * reach_of(s->facts) / noise,
                                 s->facts->neighbours, true, s->facts->epsilon);
  return tct_objpert_log_delta(1 / noise, s->shift, 0, s->facts->neighbours, false, s->epsilon1);
}

static tct_status calibrate(const search *s, double *noise, tct_error *err) {
  double low = 1e-3, high = 1e9;
  if (log_delta_at(s, high) > s->log_delta)
    return tct_fail(err, TCT_E_BUDGET,
                    "objpert's curvature term leaves nothing of epsilon; use a smaller budget_fraction");
  for (int i = 0; i < 200 && high > low * (1 + 1e-9); i++) {
    double middle = sqrt(low * high);
    if (log_delta_at(s, middle) > s->log_delta)
      low = middle;
    else
      high = middle;
  }
  *noise = high;
  return TCT_OK;
}

/* The noise multiplier at which Gaussian steps of nu exceed `left` with probability at most delta/1000. */
static double output_noise(const tct_facts *facts, double left) {
  double low = 1e-12, high = left, aim = log(facts->delta) - log(1000);
  for (int i = 0; i < 200; i++) {
    double nu = sqrt(low * high);
    if (tct_log_upper_tail(left / nu - nu / 2) > aim)
      high = nu;
    else
      low = nu;
  }
  return reach_of(facts) / low;
}

/* Objective perturbation and its output as two events.  The law of the objpert event needs one-signed slopes; without
 * them the first step is charged as an approximate one at the (epsilon, delta) that is proved. */
typedef struct pair {
  tct_event first, second;
} pair;

static tct_status events_of(const tct_facts *facts, double shift, double min, tct_solver_plan *out, pair *events,
                            tct_error *err) {
  search s = {.facts = facts, .shift = shift, .log_delta = log(facts->delta) - 1e-9};
  s.one_sign = facts->loss.kind->one_sign;
  s.epsilon1 = facts->epsilon * (1 - objpert_output_fraction);
  double noise = 0, delta1 = objpert_first_delta * facts->delta;
  if (!s.one_sign) s.log_delta = log(delta1);
  TCT_TRY(calibrate(&s, &noise, err));
  noise = fmax(noise, min);
  out->noise_multiplier = noise;
  if (s.one_sign) {
    *events = (pair){tct_event_objpert(noise, shift, 1), tct_event_gaussian(noise / objpert_output_mu, 1)};
    return TCT_OK;
  }
  double second = output_noise(facts, facts->epsilon * objpert_output_fraction * (1 - 1e-6));
  *events = (pair){tct_event_approx(s.epsilon1, delta1, 1), tct_event_gaussian(second, 1)};
  return TCT_OK;
}

/* ---- the variants --------------------------------------------------------------------------- */

static double shift_of(const tct_smooth_facts *smooth, double ridge) {
  return log1p(smooth->curvature * smooth->row_norm * smooth->row_norm / ridge);
}

/* Lambda such that the curvature term costs at most a. */
static double ridge_for(const tct_facts *facts, const tct_smooth_facts *smooth, double a) {
  double needed = smooth->curvature * smooth->row_norm * smooth->row_norm / expm1(a);
  return fmax((double)facts->rows * facts->penalty.l2, needed * (1 + 1e-12)); /* so that log1p(beta/needed) <= a */
}

static double ridge_of(const tct_facts *facts, const tct_smooth_facts *smooth, const tct_spec *spec) {
  const tct_option *options = tct_objpert_options;
  if (tct_noise_off(facts)) return (double)facts->rows * facts->penalty.l2;
  if (tct_spec_is(spec, options, "variant", "kst")) /* Delta = 2 lambda/epsilon */
    return fmax((double)facts->rows * facts->penalty.l2,
                2 * smooth->curvature * smooth->row_norm * smooth->row_norm / facts->epsilon);
  return ridge_for(facts, smooth, tct_spec_real(spec, options, "budget_fraction") * facts->epsilon);
}

/* What the rounding of b's direction may add to the loss (docs/proofs/objpert.md). */
static double turned(const tct_facts *facts) { return 0x1p-36 * sqrt((double)facts->p); }

static tct_status pure_events(const tct_facts *facts, double shift, double output, tct_solver_plan *out, pair *events,
                              tct_error *err) {
  double second = output * facts->epsilon, first = facts->epsilon * (1 - 1e-12) - second;
  double left = (first - shift - turned(facts)) * (1 - 1e-12);
  if (!(left > 0)) return tct_fail(err, TCT_E_BUDGET, "objpert's curvature term leaves nothing of epsilon");
  out->noise_multiplier = reach_of(facts) / left;
  *events = (pair){tct_event_pure(first, 1), tct_event_laplace(reach_of(facts) / second, 1)};
  return TCT_OK;
}

/* Step 2 draws b, step 4 releases what came of it. */
static tct_status promise(const tct_facts *facts, const pair *events, tct_perturb *set, tct_solver_plan *out,
                          tct_error *err) {
  TCT_TRY(tct_objpert_settings(facts, out, events->second.noise, set, err)); /* refuses what the run could not do */
  double sensitivity = set->smooth.row_norm * set->smooth.slope;
  tct_law law = set->pure ? TCT_LAW_GAMMA : TCT_LAW_GAUSSIAN;
  tct_release tilt = tct_release_draw("the tilt of the objective", events->first, law, sensitivity,
                                      out->noise_multiplier, set->sigma, set->sigma > 0 ? set->lattice : 1);
  TCT_TRY(tct_promise_add(&out->promise, tilt, err));
  tct_release planned = tct_output_planned(&set->output, events->second);
  planned.blend = set->pure;
  return tct_plan_promise(out, planned, err);
}

static tct_status check(const tct_facts *facts, tct_error *err) {
  TCT_TRY(tct_plan_need_bounds(facts, "objpert", err));
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "objpert knows the penalties none and l2; choose one of them");
  return TCT_OK;
}

/* The closed form or the sum that the noise was calibrated with; numerical accountants could say no more, and take
 * longer. */
static tct_status cost_of(const tct_facts *facts, tct_solver_plan *out, tct_error *err) {
  bool pure = out->promise.events.at[0].kind == TCT_EV_PURE;
  const tct_accountant *closed = pure ? &tct_accountant_basic : &tct_accountant_onestep;
  tct_bracket bracket;
  char why[128];
  if (!closed->applies(&out->promise.events, facts->neighbours, why, sizeof why))
    return tct_account_epsilon(&out->promise.events, facts->neighbours, facts->delta, TCT_PRECISION, &out->cost, err);
  TCT_TRY(closed->epsilon(&out->promise.events, facts->neighbours, facts->delta, TCT_PRECISION, &bracket, err));
  out->cost = (tct_cost){bracket.upper, bracket.lower, facts->delta, closed};
  return TCT_OK;
}

tct_status tct_objpert_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  const tct_option *options = tct_objpert_options;
  tct_smooth_facts smooth; /* as cut by norm from resolve() on */
  pair events = {tct_event_objpert(0, 0, 1), tct_event_gaussian(0, 1)};
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(check(facts, err));
  TCT_TRY(choose_variant(facts, &out->spec, err));
  TCT_TRY(tct_smooth_of(facts, "objpert", 1, 0, &smooth, err));
  if (tct_noise_off(facts)) {
    out->cost = (tct_cost){.epsilon = INFINITY, .delta = facts->delta};
    out->noise_multiplier = 0;
    tct_perturb none;
    return promise(facts, &events, &none, out, err);
  }
  double output;
  TCT_TRY(resolve(facts, &smooth, &out->spec, &output, err));
  double ridge = ridge_of(facts, &smooth, &out->spec), shift = shift_of(&smooth, ridge);
  if (is_pure(&out->spec)) {
    TCT_TRY(pure_events(facts, shift, output, out, &events, err));
  } else {
    double kst = sqrt(8 * log(2 / facts->delta) + 4 * facts->epsilon) / facts->epsilon;
    double min = tct_spec_is(&out->spec, options, "variant", "kst") ? kst : 0;
    TCT_TRY(events_of(facts, shift, min, out, &events, err));
  }
  tct_perturb set;
  TCT_TRY(promise(facts, &events, &set, out, err));
  TCT_TRY(cost_of(facts, out, err));
  return tct_smooth_affordable(&set.smooth, "objpert", tct_spec_real(&out->spec, options, "max_passes"),
                               &out->max_passes, err);
}

/* ---- what the run needs --------------------------------------------------------------------- */

/* b by Gaussians: |b| bound, distance of the drawn b from the continuous one. */
static double gaussian_b(const tct_smooth_facts *smooth, tct_perturb *out, double *off) {
  int exponent;
  frexp(out->sigma, &exponent);
  out->lattice = ldexp(1, exponent - 40); /* sigma/g in [2^39, 2^40) */
  *off = 0.5 * out->lattice * sqrt(smooth->p);
  return out->sigma * (sqrt(smooth->p) + NORM_TAIL) + *off;
}

/* |b|/sigma is a sum of p exponential numbers, above p + sqrt(2 p x) + x with probability at most e^-x; what that
 * neglects the blended output pays for.  p of them are rounded down by less than the lattice, and the direction turns
 * by at most 2^-37.  The arithmetic is off by some p units in the last place.  docs/proofs/objpert.md has the proof. */
static double gamma_b(const tct_facts *facts, tct_perturb *out, double *off) {
  double p = (double)facts->p, x = tct_blend_exponent(facts->epsilon, p), max = p + sqrt(2 * p * x) + x;
  out->lattice = 0x1p-39;
  *off = out->sigma * (p * out->lattice + max * (0x1p-37 + (p + 16) * 0x1p-53)) * 1.01;
  return out->sigma * max * 1.01 + *off;
}

/* How small a gradient is small enough? The output's noise is 2 m tau/Lambda, m its multiplier.  It stays below
 * output_spread of sigma/h, the spread that b gives to a weight of mean curvature h.  Then it adds less than 1 % to the
 * noise's loss. */
static double enough(const tct_smooth_facts *f, double output, const tct_perturb *set) {
  double h = f->rows * f->curvature * f->row_norm * f->row_norm / f->p + set->ridge;
  double spread = set->sigma * (set->pure ? 1 / sqrt(2) : 1); /* sqrt(p+1) for b, sqrt(2p) for the output */
  return objpert_output_spread * spread / h * set->ridge / (2 * output);
}

double tct_objpert_off(const tct_facts *facts, tct_perturb *out, double *bound) {
  double off;
  *bound = out->pure ? gamma_b(facts, out, &off) : gaussian_b(&out->smooth, out, &off);
  return off;
}

double tct_objpert_target(const tct_perturb *set, double output) {
  return fmax(tct_smooth_reachable(&set->smooth), enough(&set->smooth, output, set));
}

static void cut(const tct_spec *spec, tct_smooth_facts *smooth) {
  double norm = tct_spec_real(spec, tct_objpert_options, "norm"),
         clip = tct_spec_real(spec, tct_objpert_options, "clip");
  tct_smooth_cut(smooth, isnan(norm) ? 1 : norm, isnan(clip) ? 1 : clip);
}

tct_status tct_objpert_settings(const tct_facts *facts, const tct_solver_plan *plan, double output, tct_perturb *out,
                                tct_error *err) {
  tct_smooth_facts *smooth = &out->smooth;
  *out = (tct_perturb){0};
  TCT_TRY(tct_smooth_of(facts, "objpert", 1, 0, smooth, err));
  if (tct_noise_off(facts)) {
    smooth->ridge = out->ridge = ridge_of(facts, smooth, &plan->spec);
    out->target = 1e-10 * smooth->rows * smooth->slope * smooth->row_norm;
    return TCT_OK;
  }
  cut(&plan->spec, smooth);
  smooth->ridge = out->ridge = ridge_of(facts, smooth, &plan->spec);
  out->pure = is_pure(&plan->spec);
  out->sigma = plan->noise_multiplier * smooth->row_norm * smooth->slope;
  double off = tct_objpert_off(facts, out, &smooth->linear);
  out->target = tct_objpert_target(out, output);
  double distance = (out->target + off) / out->ridge * (1 + 1e-12);
  tct_output_bounds bounds = {.distance = distance, .radius = tct_smooth_radius(smooth) + distance};
  return tct_output_make(facts, bounds, output, out->pure, &out->output, err);
}

/* ---- the noise in the weights --------------------------------------------------------------- */

/* The multiplier behind a list of events: the objpert event has it; a pure or an approximate one holds the epsilon and
 * delta that it was calibrated for. */
static tct_status noise_behind(const tct_facts *facts, const tct_solver_plan *plan, double shift, double *noise,
                               tct_error *err) {
  const tct_event *first = &plan->promise.events.at[0];
  if (first->kind == TCT_EV_OBJPERT) return *noise = first->noise, TCT_OK;
  if (first->kind == TCT_EV_PURE)
    return *noise = reach_of(facts) / ((first->epsilon - shift - turned(facts)) * (1 - 1e-12)), TCT_OK;
  search s = {.facts = facts, .shift = shift, .epsilon1 = first->epsilon, .log_delta = log(first->delta)};
  TCT_TRY(calibrate(&s, noise, err));
  if (tct_spec_is(&plan->spec, tct_objpert_options, "variant", "kst"))
    *noise = fmax(*noise, sqrt(8 * log(2 / facts->delta) + 4 * facts->epsilon) / facts->epsilon);
  return TCT_OK;
}

/* The minimiser is a function of b with Jacobian -(H + Lambda I)^-1, 0 <= H, trace H <= n K R^2.  At most: it is
 * 1/Lambda-Lipschitz, so by the Poincare inequality a weight's variance is at most sigma^2/Lambda^2.  For the pure
 * variant it is at most E |b|^2/Lambda^2 = p(p+1) sigma^2/Lambda^2.  Step 4 adds its own, and tau'/Lambda <=
 * sensitivity.  At least: var f >= |E grad f|^2 for Gaussian b (Cacoullos).  So the mean variance is at least sigma^2
 * (E trace (H + Lambda I)^-1/p)^2, and a mean of reciprocals is at least the reciprocal of the mean. */
tct_status tct_objpert_noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w,
                                  tct_noise_size *out, tct_error *err) {
  tct_solver_plan known = *plan;
  tct_smooth_facts smooth;
  tct_perturb set;
  (void)w;
  const tct_events *events = &plan->promise.events;
  if (events->len != 2 || events->at[0].count != 1 || events->at[1].count != 1 ||
      (events->at[1].kind != TCT_EV_GAUSSIAN && events->at[1].kind != TCT_EV_LAPLACE))
    return tct_fail(err, TCT_E_DATA, "the events are not those of one run of this solver");
  TCT_TRY(tct_smooth_of(facts, "objpert", 1, 0, &smooth, err));
  cut(&plan->spec, &smooth);
  double shift = shift_of(&smooth, ridge_of(facts, &smooth, &plan->spec));
  TCT_TRY(noise_behind(facts, plan, shift, &known.noise_multiplier, err));
  TCT_TRY(tct_objpert_settings(facts, &known, events->at[1].noise, &set, err));
  const tct_smooth_facts *f = &set.smooth;
  double output = plan->promise.events.at[1].noise * set.output.sensitivity * (set.pure ? sqrt(2) : 1);
  double lengths = set.pure ? sqrt(f->p * (f->p + 1)) : 1;
  double mean = f->rows * f->curvature * f->row_norm * f->row_norm / f->p + set.ridge;
  *out = (tct_noise_size){.min = set.pure ? NAN : hypot(set.sigma / mean, output),
                          .max = hypot(lengths * set.sigma / set.ridge + set.output.sensitivity, output),
                          .how_min = "as if every record had the largest length and the most telling place allowed",
                          .how_max = "as if the table said no more about any weight than the ridge does"};
  return TCT_OK;
}
