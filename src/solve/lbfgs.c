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
 * COST  Two passes over the data a step, and O(memory p).
 *
 * DEPARTS  The stopping test is on the gradient's norm alone: function values have no digits left near the minimum. */
#include "core/alloc.h"
#include "la/kernels.h"
#include "solve/smooth.h"

#include <string.h>

static const tct_option options[] = {
    {"memory", TCT_OPT_COUNT, "10", 1, 100, NULL, "pairs of steps and gradient changes that are kept"},
    {"steps", TCT_OPT_COUNT, "2000", 1, 1e7, NULL, "at most so many steps"},
    {"tolerance", TCT_OPT_REAL, "1e-9", 1e-15, 1, NULL, "norm of the mean objective's gradient at which to stop"},
    {0},
};

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  if (strcmp(facts->reg.kind->name, "none") && strcmp(facts->reg.kind->name, "l2"))
    return tct_fail(err, TCT_E_USAGE, "lbfgs knows the penalties none and l2; choose one of them");
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE, "lbfgs needs a smooth loss, and %s has a corner; use smoothed_hinge or logistic",
                    facts->loss.kind->name);
  return TCT_OK;
}

/* The pairs, a ring of `memory`. */
typedef struct history {
  double *s, *y;           /* [memory][p] */
  double *inverse, *alpha; /* [memory]: 1/s.y, and the first loop's coefficients */
  int64_t memory, count, p;
} history;

static tct_status history_new(history *h, int64_t memory, int64_t p, tct_error *err) {
  *h = (history){.memory = memory, .p = p};
  h->s = TCT_NEW(double, 2 * memory * p);
  h->inverse = TCT_NEW(double, 2 * memory);
  if (!h->s || !h->inverse) return tct_fail_memory(err);
  h->y = h->s + memory * p;
  h->alpha = h->inverse + memory;
  return TCT_OK;
}

/* d <- -H g */
static void direction(history *h, const double *g, double *d) {
  int64_t p = h->p, kept = h->count < h->memory ? h->count : h->memory;
  for (int64_t j = 0; j < p; j++) d[j] = -g[j];
  for (int64_t k = 1; k <= kept; k++) {
    int64_t at = (h->count - k) % h->memory;
    h->alpha[at] = h->inverse[at] * tct_dot(h->s + at * p, d, p);
    tct_axpy(-h->alpha[at], h->y + at * p, d, p);
  }
  if (kept > 0) {
    int64_t at = (h->count - 1) % h->memory;
    double scale = 1 / (h->inverse[at] * tct_norm2(h->y + at * p, p));
    for (int64_t j = 0; j < p; j++) d[j] *= scale;
  }
  for (int64_t k = kept; k >= 1; k--) {
    int64_t at = (h->count - k) % h->memory;
    double beta = h->inverse[at] * tct_dot(h->y + at * p, d, p);
    tct_axpy(h->alpha[at] - beta, h->s + at * p, d, p);
  }
}

/* Takes the step t d and keeps the pair; `before` is the gradient that d was made from. */
static tct_status step(history *h, tct_smooth *smooth, double *before, double t, double *w, tct_error *err) {
  int64_t p = h->p, at = h->count % h->memory;
  double *s = h->s + at * p, *y = h->y + at * p;
  memcpy(before, smooth->gradient, (size_t)p * sizeof *before);
  for (int64_t j = 0; j < p; j++) s[j] = t * smooth->direction[j];
  tct_axpy(1, s, w, p);
  TCT_TRY(tct_smooth_gradient(smooth, w, err));
  for (int64_t j = 0; j < p; j++) y[j] = smooth->gradient[j] - before[j];
  double sy = tct_dot(s, y, p);
  if (!(sy > 1e-300)) { /* no curvature left in floating point: start afresh */
    h->count = 0;
    return TCT_OK;
  }
  h->inverse[at] = 1 / sy;
  h->count++;
  return TCT_OK;
}

static tct_status iterate(const tct_problem *problem, const tct_solver_plan *plan, tct_smooth *smooth, history *h,
                          double *before, double *w, tct_error *err) {
  int64_t p = problem->view->p, steps = tct_spec_count(&plan->spec, options, "steps");
  double stop = tct_spec_real(&plan->spec, options, "tolerance") * (double)problem->facts->rows;
  TCT_TRY(tct_smooth_gradient(smooth, w, err));
  for (int64_t k = 0; k < steps && sqrt(tct_norm2(smooth->gradient, p)) > stop; k++) {
    TCT_TRY(tct_problem_tick(problem, (double)k / (double)steps, err));
    direction(h, smooth->gradient, smooth->direction);
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
  history h = {0};
  tct_smooth_facts facts = {.rows = (double)problem->facts->rows, .p = (double)p};
  facts.ridge = facts.rows * problem->facts->reg.l2;
  memset(w, 0, (size_t)p * sizeof *w);
  double *before = TCT_NEW(double, p);
  tct_status status = before ? tct_smooth_new(problem, &facts, mech, &smooth, err) : tct_fail_memory(err);
  smooth.penalised = p - (problem->facts->intercept ? 1 : 0);
  if (status == TCT_OK) status = history_new(&h, tct_spec_count(&plan->spec, options, "memory"), p, err);
  if (status == TCT_OK) status = iterate(problem, plan, &smooth, &h, before, w, err);
  tct_smooth_free(&smooth);
  tct_free(h.s);
  tct_free(h.inverse);
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
