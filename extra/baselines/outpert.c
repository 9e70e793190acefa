/* outpert.c - output perturbation: the minimiser, or the last of T gradient steps, plus Gaussian noise.
 *
 * PROBLEM  min over w of F(w) = (1/n) sum_i l(x_i.w, y_i) + lambda/2 |w|^2 over all weights, the intercept too, for
 * smooth losses of bounded slope.
 *
 * ALGORITHM  variant=modern: Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1, with Gaussian noise.
 *   1. w~ = a point where n F has gradient norm <= tau, certified
 *   2. w = w~ rounded to a lattice + N(0, (m c)^2 I)
 * variant=gd: Zhang et al. 2017, "Efficient Private ERM for Smooth Objectives", Algorithm 1: w~ is the last of T steps
 * w - eta grad F(w) from 0.
 *
 * SENSITIVITY  modern: the minimisers of two worlds that differ by one record's term, of gradient <= R S, are at most R
 * S/(n lambda) apart by strong convexity.  Under replace_one it is twice that, which is the accountant's doubling.
 * Each w~ is within tau/(n lambda) of its own.  gd: w - eta grad F is a (1 - eta lambda)-contraction for eta <= 1/(K
 * R^2 + lambda), and one record moves it by at most eta R S/n.  After T steps the worlds are at most (eta R S/n) sum_t
 * (1 - eta lambda)^t apart.  The floating-point error of each step adds up likewise: at most eta E/n (smooth.c), and
 * the rounding of the update.
 *
 * RELEASES  One event gaussian(m).
 *
 * COST  modern: as objpert.  gd: O(T nnz).
 *
 * DEPARTS  The noise is exactly calibrated; the minimiser need not be exact; sums of T steps are accounted for in
 * floating point.  The papers tuned T on the data; here a public rule sets it, see auto_steps. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/objpert.h"
#include "solve/shared/weight_bound.h"

#include <string.h>

static const tct_option options[] = {
    {"variant", TCT_OPT_CHOICE, "modern", 0, 0, "modern|gd",
     "the minimiser, or the last of a number of gradient steps"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 1e7, NULL, "gd: T; auto: balances distance from the minimum and noise"},
    {"step", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "gd: eta; auto and at most: 1/(smoothness of the loss * R^2 + l2)"},
    {"max_passes", TCT_OPT_REAL, "1e7", 1, 1e15, NULL,
     "a plan that may need more passes over the data than this is refused"},
    {0},
};

static bool is_gd(const tct_solver_plan *plan) { return tct_spec_is(&plan->spec, options, "variant", "gd"); }

/* After T steps the excess is about B^2/(2 eta T) + p K R^2 (T eta R S m/n)^2/2, B = 3/R (objpert_plan.c, SIZE): least
 * at T^3 = B^2 n^2/(2 eta^3 p K R^4 S^2 m^2). */
static double auto_steps(const tct_smooth_facts *f, double step, double noise) {
  double b = 3 / f->row_norm, r4 = pow(f->row_norm, 4);
  double cube = b * b * f->rows * f->rows / (2 * pow(step, 3) * f->p * f->curvature * r4 * pow(f->slope * noise, 2));
  return fmin(fmax(round(cbrt(cube)), 1), 1e5);
}

static tct_status plan_gd(const tct_facts *facts, const tct_smooth_facts *smooth, tct_solver_plan *out,
                          tct_error *err) {
  double max = 1 / (smooth->curvature * smooth->row_norm * smooth->row_norm + facts->penalty.l2) * (1 - 1e-12);
  double step = tct_spec_real(&out->spec, options, "step");
  int64_t steps = tct_spec_count(&out->spec, options, "steps");
  if (isnan(step)) step = max;
  if (step > max)
    return tct_fail(err, TCT_E_USAGE,
                    "outpert's proof needs a step of at most 1/(smoothness * R^2 + l2); use step=auto");
  TCT_TRY(tct_spec_set_real(&out->spec, "step", step, err));
  double noise = out->noise_multiplier;
  if (steps < 0) /* without privacy: infinitely many, the run takes the minimiser */
    TCT_TRY(tct_spec_set_real(&out->spec, "steps", noise > 0 ? auto_steps(smooth, step, noise) : 1e7, err));
  return TCT_OK;
}

enum { OUTPUT }; /* the release */

typedef struct settings {
  tct_smooth_facts smooth;
  tct_output output;
  double target, step;
  double radius; /* of what is released, before its noise */
  int64_t steps;
} settings;

static tct_status settle(const tct_facts *facts, const tct_solver_plan *plan, settings *out, tct_error *err) {
  double n = (double)facts->rows, ridge = n * facts->penalty.l2, noise = plan->noise_multiplier;
  tct_smooth_facts *f = &out->smooth;
  TCT_TRY(tct_smooth_of(facts, "outpert", ridge, 0, f, err));
  double slope = f->row_norm * f->slope, move, distance, radius;
  if (is_gd(plan)) {
    out->step = tct_spec_real(&plan->spec, options, "step");
    out->steps = tct_spec_count(&plan->spec, options, "steps");
    double t = (double)out->steps, weight = facts->penalty.l2 * out->step;
    double sum =
        weight > 0 ? fmin(t, -expm1(t * log1p(-weight)) / weight * (1 + 1e-12)) : t; /* of (1 - eta lambda)^t */
    radius = 1.01 * sum * out->step * slope;
    move = sum * out->step * slope / n;
    distance = t * (out->step * tct_smooth_error(f, radius) / n + 0x1p-50 * (radius + out->step * slope));
    radius += distance;
  } else {
    out->target = tct_smooth_reachable(f);
    move = slope / ridge;
    distance = out->target / ridge * (1 + 1e-12);
    radius = tct_smooth_radius(f) + distance;
  }
  out->radius = radius;
  if (!(noise > 0)) {
    out->target = fmin(out->target, 1e-10 * n * slope);
    return TCT_OK;
  }
  tct_output_bounds bounds = {.distance = distance, .move = move * (1 + 1e-12), .radius = radius};
  return tct_output_make(facts, bounds, noise, false, &out->output, err);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  settings set = {0};
  tct_smooth_facts smooth;
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "outpert", err));
  if (!facts->penalty.kind->quadratic || (facts->penalty.kind->zero && !is_gd(out)))
    return tct_fail(err, TCT_E_USAGE, "outpert needs a ridge penalty; give {ridge} (variant=gd: or none)");
  if (!(facts->penalty.l2 > 0) && !is_gd(out))
    return tct_fail(err, TCT_E_USAGE, "outpert needs a ridge above 0; give {ridge}");
  TCT_TRY(tct_smooth_of(facts, "outpert", (double)facts->rows * facts->penalty.l2, 0, &smooth, err));
  TCT_TRY(tct_budget_noise(facts, 1, 1, out, err));
  if (is_gd(out)) TCT_TRY(plan_gd(facts, &smooth, out, err));
  TCT_TRY(settle(facts, out, &set, err));
  TCT_TRY(tct_plan_promise(out, tct_output_planned(&set.output, tct_event_gaussian(out->noise_multiplier, 1)), err));
  if (is_gd(out) || tct_noise_off(facts)) return TCT_OK;
  return tct_smooth_affordable(&set.smooth, "outpert", tct_spec_real(&out->spec, options, "max_passes"),
                               &out->max_passes, err);
}

/* T steps of w - eta grad F(w). */
static tct_status descend(tct_smooth *smooth, const settings *set, double *w, tct_error *err) {
  double n = (double)smooth->problem->facts->rows;
  for (int64_t t = 0; t < set->steps; t++) {
    TCT_TRY(tct_problem_tick(smooth->problem, (double)t / (double)set->steps, err));
    TCT_TRY(tct_smooth_gradient(smooth, w, err));
    tct_axpy(-set->step / n, smooth->gradient, w, smooth->problem->view->p);
  }
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->view->p;
  settings set = {0};
  tct_smooth smooth = {0};
  memset(w, 0, (size_t)p * sizeof *w);
  TCT_TRY(settle(problem->facts, plan, &set, err));
  TCT_TRY(tct_smooth_new(problem, &set.smooth, mech, &smooth, err));
  tct_status status = is_gd(plan) && plan->noise_multiplier > 0
                          ? descend(&smooth, &set, w, err)
                          : tct_smooth_minimise(&smooth, set.target, 100, w, err); /* 1 */
  tct_smooth_free(&smooth);
  if (status != TCT_OK) return status;
  return tct_output_release(mech, OUTPUT, w, p, err); /* 2 */
}

/* Step 2 adds N(0, (m c)^2) to every weight and nothing comes after it. */
static tct_status noise_size(const tct_facts *facts, const tct_solver_plan *plan, const double *w, tct_noise_size *out,
                             tct_error *err) {
  settings set = {0};
  (void)w;
  TCT_TRY(tct_plan_one_gaussian(plan, 1, err));
  TCT_TRY(settle(facts, plan, &set, err));
  double size = plan->noise_multiplier * set.output.sensitivity;
  *out = (tct_noise_size){.min = size, .max = size, .how_max = "noise of this size was added to every finished weight"};
  return TCT_OK;
}

/* settle() has the radius of the minimiser, or of the last step, and of its error. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *r = &plan->promise.release[OUTPUT];
  settings set = {0};
  if (settle(facts, plan, &set, NULL) != TCT_OK) return INFINITY;
  return set.radius + r->lattice + tct_noise_max(r, (double)facts->p);
}

const tct_solver tct_solver_outpert = {
    .name = "outpert",
    .summary = "output perturbation: the minimiser of a ridge problem plus noise (baseline)",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
    .weight_bound = weight_bound,
    .noise_size = noise_size,
};
