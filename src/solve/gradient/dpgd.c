/* dpgd.c - private proximal gradient descent over all records, with momentum, under exact Gaussian accounting.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), psi with a prox.
 *
 * ALGORITHM  The accelerated form of Nesterov 2004 (Introductory Lectures, 2.2.22) with constant momentum and noise.
 *   1. w = u = 0
 *   2. for t = 1..T
 *   3.   g = sum_i clip(l'(x_i.u, y_i) x_i, C) + N(0, (mC)^2 I)
 *   4.   w' = prox of step*psi at u - step*g/n
 *   5.   u = w' + momentum*(w' - w), w = w'
 *   6. the average of w over the last half
 *
 * Of a joint loss (softmax) w has a block for each class, and step 3 is the gradient in all of them.
 *
 * SENSITIVITY  A record's own term in step 3 has norm <= C: the factor is min(1, C/(|l'| |x_i|)) with an upper bound on
 * the computed norm.  With weights v_i in [0, 1] the term is v_i clip(...), and a record moves the sum by at most
 * C.  So do all records of a person together, when their weights sum to at most 1.
 *
 * Of a joint loss the record's terms of all classes are clipped as one vector: joint_sum.c has the proof.
 *
 * RELEASES  T events gaussian(m): exact, no Renyi detour.
 *
 * COST  One pass over X per step; every number is used twice, for margins and for the sum.
 *
 * DEPARTS  Step, momentum and T from public facts: see path_length_default() and defaults() below. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/gradient/gradient_release.h"
#include "solve/gradient/rules.def"
#include "solve/shared/weight_bound.h"

#include <string.h>

static const tct_option options[] = {
    {"steps", TCT_OPT_COUNT, "auto", 1, 1000000, NULL, "T; auto: path_length over the step, see the source"},
    {"path_length", TCT_OPT_REAL, "auto", 1e-9, 1e12, NULL,
     "step*T/(1-momentum) in units of 1/curvature, where T is auto; auto: from n, p, epsilon, delta, see the source"},
    {"step", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "step size; auto: 1/(curvature bound * R^2 + l2)"},
    {"momentum", TCT_OPT_REAL, "auto", 0, 0.999, NULL,
     "part of the last move that the next one keeps; auto: 1 - 4/sqrt(path_length)"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "C, largest norm of a record's gradient; auto: see the source"},
    {"average", TCT_OPT_CHOICE, "half", 0, 0, "last|half", "which iterates the result averages"},
    {0},
};

/* Defaults from public facts.  Noise and bias both follow the length of the path, tau = step*T/(1-momentum): the time
 * of the gradient flow that the steps follow.
 *
 * Noise.  Along a direction of small curvature its sum has variance (tau C/(mu n))^2, however many steps make it.
 * Along the others it is tau C^2/(2 h mu^2 n^2), h the curvature.  So its excess is about p tau (C/(mu n))^2/4.
 * Bias.  The flow's own is at most D^2/(2 tau), D = |w*|.
 * The sum is least at tau = sqrt(2) D mu n/(C sqrt(p)).  In units of 1/(curvature bound * R^2), and for C = 0.7 R *
 * largest slope, that is a constant times the signal mu n/sqrt(p).
 *
 * The constant 6 stands for D R = 12 under logistic loss and D R = 3 Y under squared loss.  D is not known: with more
 * signal a longer path can pay, up to four times as long.  A hinge's curvature counts as 1 here, and 6 would mean D R =
 * 3 only: at least 18, or D R = 9.  With the length L fixed, T = 4 sqrt(L) and momentum = 1 - T/L: twice the steps
 * that accelerated methods need without noise.  A joint loss has the signal of all its weights in s, and a path twice
 * as long (docs/measured/classes.md).  docs/decisions/gradient-rules.md has the measurements. */
static double path_length_default(const tct_facts *facts, double clip) {
  double signal_to_noise = tct_descent_signal(facts);
  double longer = fmin(fmax(signal_to_noise / dpgd_longer_path_signal, 1), dpgd_longer_path_most),
         curvature = facts->loss.kind->curvature_bound(facts->loss.h);
  double hinged =
      facts->loss.kind->binary ? dpgd_hinged_path * (isfinite(curvature) ? curvature : 1) : 1; /* logistic: 3/4 */
  if (facts->loss.kind->joint) hinged *= 2, longer *= 2;
  double path_length =
      dpgd_path_per_signal * fmax(hinged, longer) * signal_to_noise * dpgd_clip * tct_descent_largest(facts) / clip;
  return fmin(fmax(path_length, 4), 40000 * fmax(hinged, 1)); /* the end is one of time: 800 steps, 1400 for a hinge */
}

static tct_status defaults(const tct_facts *facts, tct_spec *spec, tct_error *err) {
  double clip = tct_spec_real(spec, options, "clip"), path_length = tct_spec_real(spec, options, "path_length");
  if (isnan(clip)) clip = tct_descent_clip(facts);
  if (isnan(path_length)) path_length = path_length_default(facts, clip);
  TCT_TRY(tct_spec_set_real(spec, "clip", clip, err));
  TCT_TRY(tct_spec_set_real(spec, "path_length", path_length, err));
  double momentum = tct_spec_real(spec, options, "momentum");
  if (isnan(momentum)) momentum = fmax(0, 1 - 4 / sqrt(path_length));
  TCT_TRY(tct_spec_set_real(spec, "momentum", momentum, err));
  if (!tct_spec_auto(spec, options, "steps")) return TCT_OK;
  double curvature = facts->loss.kind->curvature_bound(facts->loss.h);
  double smooth = (isfinite(curvature) ? curvature : 1) * facts->row_norm * facts->row_norm + facts->penalty.l2;
  double move = smooth * tct_spec_real(spec, options, "step") / (1 - momentum);
  return tct_spec_set_real(spec, "steps", fmin(fmax(ceil(path_length / move), 5), 100000), err);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpgd", err));
  TCT_TRY(tct_descent_step(facts, options, out, err));
  TCT_TRY(defaults(facts, &out->spec, err));
  int64_t steps = tct_spec_count(&out->spec, options, "steps");
  double clip = tct_spec_real(&out->spec, options, "clip");
  TCT_TRY(tct_budget_noise(facts, 1, steps, out, err));
  return tct_plan_promise(out, tct_descent_release(facts, clip, out->noise_multiplier, steps), err);
}

typedef struct settings {
  double step, momentum;
  int64_t steps, from; /* the average starts at step `from` */
} settings;

enum { GRADIENTS }; /* the release */

static settings read_settings(const tct_solver_plan *plan, const tct_mech *mech) {
  settings set = {.steps = tct_mech_release_of(mech, GRADIENTS)->event.count};
  set.step = tct_spec_real(&plan->spec, options, "step");
  set.momentum = tct_spec_real(&plan->spec, options, "momentum");
  set.from = tct_spec_is(&plan->spec, options, "average", "last") ? set.steps - 1 : set.steps / 2;
  return set;
}

/* The penalty is on each block of weights by itself. */
static void prox_blocks(const tct_problem *problem, const tct_descent *descent, double *w, double step) {
  tct_facts one = *problem->facts;
  one.p = problem->view->p;
  for (int64_t k = 0; k < descent->outputs; k++) tct_prox_step(&one, w + k * one.p, step);
}

static tct_status descend(const tct_problem *problem, const settings *set, tct_descent *descent, double *memory,
                          double *w, tct_error *err) {
  int64_t p = descent->outputs * problem->view->p;
  double *u = memory, *last = memory + p, *average = memory + 2 * p;
  for (int64_t t = 0; t < set->steps; t++) {
    TCT_TRY(tct_problem_tick(problem, (double)t / (double)set->steps, err));
    TCT_TRY(descent->outputs > 1 ? tct_joint_gradient(problem, descent, u, err)
                                 : tct_descent_gradient(problem, descent, u, err)); /* 3 */
    memcpy(last, w, (size_t)p * sizeof *w);
    memcpy(w, u, (size_t)p * sizeof *w);
    tct_axpy(-set->step / (double)problem->facts->rows, descent->sum, w, p); /* 4 */
    prox_blocks(problem, descent, w, set->step);
    for (int64_t j = 0; j < p; j++) u[j] = w[j] + set->momentum * (w[j] - last[j]); /* 5 */
    if (t >= set->from) tct_axpy(1, w, average, p);
  }
  for (int64_t j = 0; j < p; j++) w[j] = average[j] / (double)(set->steps - set->from); /* 6 */
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  settings set = read_settings(plan, mech);
  tct_descent descent = {0};
  int64_t p = problem->facts->p;
  double *memory = TCT_NEW(double, 3 * p);
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = memory ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_descent_new(problem, mech, GRADIENTS, &descent, err);
  if (status == TCT_OK) status = descend(problem, &set, &descent, memory, w, err);
  tct_descent_free(&descent);
  tct_free(memory);
  return status;
}

/* tct_path_length_max: each of T steps adds at most step/n times the largest noisy sum. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *r = &plan->promise.release[GRADIENTS];
  double n = (double)facts->rows, step = tct_spec_real(&plan->spec, options, "step");
  double push = step / n * tct_sum_max(r, n, (double)facts->p);
  return tct_path_length_max(facts, push, step, (double)r->event.count,
                             tct_spec_real(&plan->spec, options, "momentum") > 0);
}

const tct_solver tct_solver_dpgd = {
    .name = "dpgd",
    .summary = "private proximal gradient descent over all records with momentum, exact Gaussian accounting",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .row_bytes = 16,
    .passes = {"steps", 1, 0, false},
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_PERSONS,
    .offsets = true,
    .joint = true,
    .plan = plan,
    .run = run,
    .weight_bound = weight_bound,
};
