/* dpnewton.c - private gradient descent in the metric of one noisy Hessian bound, with momentum.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), psi none or l2, l with bounded curvature h.
 *
 * ALGORITHM  Newton's method with the fixed bound H <= (h/n) X^T X, made private (Boehning and Lindsay 1988,
 * "Monotonicity of quadratic-approximation algorithms").  Nesterov's steps, as in dpgd.c, go in a metric that is
 * released once.
 *   1. G = sum_i x_i x_i^T + N(0, (m_G c)^2), symmetrised; c: see SENSITIVITY
 *   2. r = sqrt(2p) times the deviation of step 1, plus what makes G positive definite;  A = (h/n) (G + r I) + l2 I
 *   3. w = u = 0
 *   4. for t = 1..T
 *   5.   g = sum_i clip(l'(x_i.u, y_i) x_i, C) + N(0, (m C)^2 I)
 *   6.   w' = u - step * A^-1 (g/n + l2 u)
 *   7.   u = w' + momentum*(w' - w), w = w'
 *   8. the average of w over the last half
 *
 * SENSITIVITY  Step 1: with t_i the row truncated to a lattice, |t_i| <= R, all p^2 entries of t_i t_i^T have norm
 * |t_i|^2 <= R^2 (gram.h).  With a weight v_i it is that of sqrt(v_i) t_i, at most v_i R^2.  So the records of a person
 * whose weights sum to at most 1 stay within R^2 together.  Under replace_one an event's shift is twice its
 * sensitivity. These matrices are semidefinite and exact, so the inner product of two is never below 0, and they differ
 * by at most sqrt(2) R^2.  The sensitivity is R^2/sqrt(2) there.  Step 5: a record's own term has norm <= v_i C
 * (gradient_release.h).
 *
 * RELEASES  One event gaussian(m_G) and T events gaussian(m), 1/m_G^2 + T/m^2 = 1/x^2: exact, no Renyi detour; x is
 * calibrated for the whole list.
 *
 * COST  n p^2/2 multiplications for G, p^3/3 a few times, and one pass over X per step; 3p^2 doubles per thread.
 *
 * DEPARTS  dpgd needs hundreds of steps because one direction is much steeper than the others.  A twentieth of the
 * budget (of mu^2) buys a metric in which it is not: see path_of(). */
#include "core/alloc.h"
#include "core/point.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "solve/shared/weight_bound.h"
#include "solve/gradient/gradient_release.h"

#include <string.h>

static const tct_option options[] = {
    {"budget_fraction", TCT_OPT_REAL, "0.05", 1e-4, 0.9, NULL, "part of the budget (of mu^2) for the metric G"},
    {"path_length", TCT_OPT_REAL, "auto", 1e-9, 1e12, NULL,
     "length of the path in flat directions, in units of 1/(curvature bound * R^2); auto: from public facts, see the "
     "source"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL, "T; auto: 4 sqrt(path_length in the metric), see the source"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "C, largest norm of a record's gradient; auto: as dpgd"},
    {"average", TCT_OPT_CHOICE, "half", 0, 0, "last|half", "which iterates the result averages"},
    {0},
};

enum { MOST_FEATURES = 2048 }; /* 96 MiB of matrices per thread */

/* What the plan and the run agree on. */
typedef struct path {
  double budget_fraction, clip;
  double length; /* in units of 1/(h R^2) */
  double longer; /* the path in flat directions of the metric: length * h R^2 / (their eigenvalue of A) */
  int64_t steps;
} path;

/* Defaults from public facts, s = mu n/sqrt(p) the signal, as in dpgd.c.  The eigenvalue of A in directions that the
 * table does not know is h sqrt(2p) m_G R^2/n = h R^2 sqrt(2/b)/s, b the budget's fraction for G.  So a path of length
 * L is one of L sqrt(2/b)/s there.  L = 12 s makes it 12 sqrt(2/b) = 76 whatever n, p and epsilon are.  Accelerated
 * steps of length 1 cover it in 4 sqrt(76) = 35, where dpgd needs 4 sqrt(12 s).
 *
 * More signal makes the path up to twice as long, and up to four times for classes.  Where classes all but part, the
 * loss falls along a ray that steps in a metric follow no faster than others.  docs/decisions/gradient-rules.md has the
 * measurements. */
static path path_of(const tct_facts *facts, const tct_spec *spec) {
  double signal_to_noise = tct_descent_signal(facts);
  path out = {.budget_fraction = tct_spec_real(spec, options, "budget_fraction"),
              .clip = tct_spec_real(spec, options, "clip")};
  double usual = tct_descent_clip(facts);
  if (isnan(out.clip)) out.clip = usual;
  out.length = tct_spec_real(spec, options, "path_length");
  double longer = fmin(fmax(signal_to_noise / 125, 1), 2);
  if (facts->loss.kind->binary) longer = fmin(fmax(longer, signal_to_noise / 250), 4);
  if (isnan(out.length)) out.length = 12 * longer * signal_to_noise * usual / out.clip;
  out.longer = out.length * sqrt(2 / out.budget_fraction) / signal_to_noise;
  out.steps = tct_spec_auto(spec, options, "steps") ? (int64_t)ceil(4 * sqrt(fmax(out.longer, 4)))
                                                    : tct_spec_count(spec, options, "steps");
  return out;
}

enum { METRIC, GRADIENTS }; /* the releases */

typedef struct making {
  const tct_facts *facts;
  const path *path;
} making;

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const path *w = m->path;
  bool replaced = m->facts->neighbours == TCT_REPLACE_ONE;
  double square = m->facts->row_norm * m->facts->row_norm, sensitivity = square * (replaced ? M_SQRT1_2 : 1);
  int64_t terms = m->facts->rows * (replaced ? 2 : 1); /* a term may be longer than the sensitivity */
  tct_event metric = tct_event_gaussian(x / sqrt(w->budget_fraction), 1);
  TCT_TRY(tct_promise_add(out, tct_release_sum("sum of x x^T", metric, square, sensitivity, terms), err));
  double noise = x * sqrt((double)w->steps / (1 - w->budget_fraction));
  return tct_promise_add(out, tct_descent_release(m->facts, w->clip, noise, w->steps), err);
}

static tct_status promise(const tct_facts *facts, path *w, tct_solver_plan *out, tct_error *err) {
  static const tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = 1e-8};
  making m = {facts, w};
  double x = 0;
  out->noise_multiplier = NAN;
  return tct_budget_fit(facts, &budget, make, &m, out, &x, err);
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpnewton", err));
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE, "dpnewton needs a loss of bounded curvature, which %s is not; use dpgd",
                    facts->loss.kind->name);
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "dpnewton knows the penalties none and l2; choose one of them, or dpgd");
  if (facts->p > MOST_FEATURES)
    return tct_fail(err, TCT_E_USAGE, "dpnewton holds matrices of features squared, at most %d features; use dpgd",
                    MOST_FEATURES);
  path w = path_of(facts, &out->spec);
  TCT_TRY(tct_spec_set_real(&out->spec, "clip", w.clip, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "path_length", w.length, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)w.steps, err));
  return promise(facts, &w, out, err);
}

/* Steps 1 and 2: factor[p][p] <- Cholesky of A. */
static tct_status metric(const tct_problem *problem, tct_mech *mech, double *factor, tct_error *err) {
  const tct_facts *facts = problem->facts;
  int64_t p = problem->view->p, room = tct_gram_lattice_scratch(p, facts->threads);
  const tct_release *planned = tct_mech_release_of(mech, METRIC);
  double square = planned->clip;
  double *scratch = TCT_NEW(double, room), *gram = TCT_NEW(double, p *p);
  tct_status status = scratch && gram ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) {
    tct_gram_lattice(problem->view, TCT_POINT(persons_unweighed_in_the_metric, problem->weight, NULL),
                     tct_gram_step(planned->lattice), gram, scratch, facts->threads);
    status = tct_mech_release(mech, METRIC, gram, p * p, err);
  }
  tct_wipe_free(scratch, room, sizeof *scratch);
  if (status == TCT_OK) {
    double n = (double)facts->rows, h = facts->loss.kind->curvature_bound(facts->loss.h);
    double floor = sqrt(2 * (double)p) * planned->noise * planned->sensitivity;
    tct_symmetrise(gram, p);
    double shift = floor + tct_least_shift(gram, p, 0, fmax(floor, 1e-9 * n * square), 1.0 / 16, factor);
    for (int64_t k = 0; k < p * p; k++) gram[k] *= h / n;
    for (int64_t j = 0; j < p - (facts->intercept ? 1 : 0); j++) gram[j * p + j] += facts->penalty.l2;
    shift *= h / n;
    /* A singular matrix without noise: what makes it regular in floating point. */
    for (shift = fmax(shift, 1e-12 * h * square); !tct_cholesky_shifted(gram, p, shift, factor);) shift *= 2;
  }
  tct_wipe_free(gram, p * p, sizeof *gram);
  return status;
}

/* Steps 4 to 8; memory[4p] is zero. */
static tct_status descend(const tct_problem *problem, const tct_solver_plan *plan, tct_descent *descent,
                          const double *factor, double *memory, double *w, tct_error *err) {
  path set = path_of(problem->facts, &plan->spec);
  int64_t p = problem->view->p, ridged = p - (problem->facts->intercept ? 1 : 0);
  int64_t from = tct_spec_is(&plan->spec, options, "average", "last") ? set.steps - 1 : set.steps / 2;
  double *u = memory, *last = u + p, *average = last + p, *move = average + p;
  double step = fmin(1, set.longer / (double)set.steps), momentum = fmax(0, 1 - (double)set.steps / set.longer);
  for (int64_t t = 0; t < set.steps; t++) {
    TCT_TRY(tct_problem_tick(problem, (double)t / (double)set.steps, err));
    TCT_TRY(tct_descent_gradient(problem, descent, u, err)); /* 5 */
    memset(move, 0, (size_t)p * sizeof *move);
    tct_axpy(1 / (double)problem->facts->rows, descent->sum, move, p);
    tct_axpy(problem->facts->penalty.l2, u, move, ridged);
    tct_cholesky_solve(factor, p, move);
    memcpy(last, w, (size_t)p * sizeof *w);
    for (int64_t j = 0; j < p; j++) w[j] = u[j] - step * move[j];              /* 6 */
    for (int64_t j = 0; j < p; j++) u[j] = w[j] + momentum * (w[j] - last[j]); /* 7 */
    if (t >= from) tct_axpy(1, w, average, p);
  }
  for (int64_t j = 0; j < p; j++) w[j] = average[j] / (double)(set.steps - from); /* 8 */
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->view->p;
  tct_descent descent = {0};
  double *factor = TCT_NEW(double, p *p), *memory = TCT_NEW(double, 4 * p);
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = factor && memory ? tct_problem_tick(problem, 0, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = metric(problem, mech, factor, err);
  if (status == TCT_OK) status = tct_descent_new(problem, mech, GRADIENTS, &descent, err);
  if (status == TCT_OK) status = descend(problem, plan, &descent, factor, memory, w, err);
  tct_descent_free(&descent);
  tct_free(factor);
  tct_free(memory);
  return status;
}

/* In exact arithmetic G + (r - floor) I >= 0 for the floor of step 2; Cholesky's rounding takes at most `rounding` from
 * it.  So A >= (h/n)(floor - rounding) I =: a I and A >= l2 D, D the identity but for the intercept.  In v = A^(1/2) u
 * the path is v' = (I - step M) v - step A^(-1/2) g/n with 0 <= M = l2 A^(-1/2) D A^(-1/2) <= I and step <= 1.  In M's
 * eigenvectors it is that of tct_path_length_max with c = 1 - step*eigenvalue, so |v| <= step |A^(-1/2) g|/n * T(T+1)/2
 * and |w| <= step |g|/(a n) * T(T+1)/2. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *metric = &plan->promise.release[METRIC], *r = &plan->promise.release[GRADIENTS];
  double n = (double)facts->rows, p = (double)facts->p, steps = (double)r->event.count;
  double h = facts->loss.kind->curvature_bound(facts->loss.h),
         floor = sqrt(2 * p) * metric->noise * metric->sensitivity;
  double rounding =
      4 * p * p * 0x1p-52 * (n * metric->clip + p * tct_noise_max(metric, p * p) + n / h * facts->penalty.l2);
  double min = h / n * (floor - rounding), sum = n * r->clip + sqrt(p) * tct_noise_max(r, p * steps);
  return min > 0 ? sum / (min * n) * steps * (steps + 1) / 2 : INFINITY;
}

const tct_solver tct_solver_dpnewton = {
    .name = "dpnewton",
    .summary = "private gradient descent in the metric of a noisy Hessian bound; tens of passes instead of hundreds",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .row_bytes = 32,
    .square_bytes = 32,
    .passes = {"steps", 1, 1, false},
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_PERSONS,
    .plan = plan,
    .run = run,
    .weight_bound = weight_bound,
};
