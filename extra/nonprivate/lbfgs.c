/* lbfgs.c - limited-memory BFGS without privacy: the reference that private solvers are measured against.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + lambda/2 |w|^2, the intercept not penalised; smooth losses.
 *
 * ALGORITHM  Liu and Nocedal 1989, Algorithm 2.1, with the two-loop recursion (Nocedal and Wright, Algorithm 7.4).
 *   1. d = -H_k grad, H_k from the last `memory` pairs of steps and gradient changes, scaled by s.y/y.y
 *   2. w += t d with t from a line search on the derivative: convexity makes it meet the curvature condition
 *   3. until |grad F| <= tolerance
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  Two passes over the data per step, and O(memory p).
 *
 * DEPARTS  The stopping test is on the gradient's norm alone: function values have no digits left near the minimum. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/lbfgs_pairs.h"
#include "solve/minimiser/smooth.h"

#include <string.h>

static const tct_option options[] = {
    {"memory", TCT_OPT_COUNT, "10", 1, 100, NULL, "pairs of steps and gradient changes that are kept"},
    {"steps", TCT_OPT_COUNT, "2000", 1, 1e7, NULL, "at most so many steps"},
    {"tolerance", TCT_OPT_REAL, "1e-9", 1e-15, 1, NULL, "norm of the mean objective's gradient at which to stop"},
    {0},
};

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "lbfgs knows the penalties none and l2; choose one of them");
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE, "lbfgs needs a smooth loss, and %s has a corner; use smoothed_hinge or logistic",
                    facts->loss.kind->name);
  return TCT_OK;
}

/* Takes the step t d and keeps the pair; `before` is the gradient that d was made from. */
static tct_status step(tct_pairs *h, tct_smooth *smooth, double *before, double t, double *w, tct_error *err) {
  memcpy(before, smooth->gradient, (size_t)h->p * sizeof *before);
  tct_axpy(t, smooth->direction, w, h->p);
  TCT_TRY(tct_smooth_gradient(smooth, w, err));
  tct_pairs_keep(h, t, smooth->direction, before, smooth->gradient);
  return TCT_OK;
}

static tct_status iterate(const tct_problem *problem, const tct_solver_plan *plan, tct_smooth *smooth, tct_pairs *h,
                          double *before, double *w, tct_error *err) {
  int64_t p = problem->view->p, steps = tct_spec_count(&plan->spec, options, "steps");
  double stop = tct_spec_real(&plan->spec, options, "tolerance") * (double)problem->facts->rows;
  TCT_TRY(tct_smooth_gradient(smooth, w, err));
  for (int64_t k = 0; k < steps && sqrt(tct_norm2(smooth->gradient, p)) > stop; k++) {
    TCT_TRY(tct_problem_tick(problem, (double)k / (double)steps, err));
    tct_pairs_direction(h, NULL, smooth->gradient, smooth->direction);
    if (h->count == 0) /* the first step: about 1 in size, since nothing is known of the scale */
      for (int64_t j = 0; j < p; j++) smooth->direction[j] /= sqrt(tct_norm2(smooth->gradient, p));
    double t = 0;
    TCT_TRY(tct_smooth_step(smooth, w, &t, err));
    TCT_TRY(step(h, smooth, before, t, w, err));
  }
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->view->p;
  tct_smooth smooth = {0};
  tct_pairs h = {0};
  tct_smooth_facts facts = {.rows = (double)problem->facts->rows, .p = (double)p};
  facts.ridge = facts.rows * problem->facts->penalty.l2;
  memset(w, 0, (size_t)p * sizeof *w);
  double *before = TCT_NEW(double, p);
  tct_status status = before ? tct_smooth_new(problem, &facts, mech, &smooth, err) : tct_fail_memory(err);
  smooth.penalised = p - (problem->facts->intercept ? 1 : 0);
  if (status == TCT_OK) status = tct_pairs_new(&h, tct_spec_count(&plan->spec, options, "memory"), p, err);
  if (status == TCT_OK) status = iterate(problem, plan, &smooth, &h, before, w, err);
  tct_smooth_free(&smooth);
  tct_pairs_free(&h);
  tct_free(before);
  return status;
}

const tct_solver tct_solver_lbfgs = {
    .name = "lbfgs",
    .summary = "limited-memory BFGS to a given gradient norm, NOT private",
    .options = options,
    .rows_apart = true,
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
};
