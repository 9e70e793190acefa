/* proxgd.c - accelerated proximal gradient without privacy, to a certified duality gap.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), l smooth, psi any penalty with a prox.
 *
 * ALGORITHM  Beck and Teboulle 2009, "A Fast Iterative Shrinkage-Thresholding Algorithm for Linear Inverse Problems",
 * FISTA with backtracking, and with the restart of O'Donoghue and Candes 2015 where the momentum points uphill.
 *   1. u = w = 0
 *   2. w' = prox of psi/L at u - gradient(u)/L, L doubled until f(w') <= f(u) + <gradient, w' - u> + L/2 |w' - u|^2
 *   3. u = w' + (t - 1)/t' (w' - w); restart (t = 1) when <u - w', w' - w> > 0
 *   4. now and then: gap (gap.c); stop when gap <= max(tol, rtol*objective)
 * Without a dual (penalty none) it stops when L |w' - u|^2 <= tol, which is no certificate.
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  Two passes over the data per iteration.
 *
 * DEPARTS  L starts at the curvature bound times the mean of |x|^2 over p, below the true one, and only grows. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/shared/gap.h"
#include "solve/gradient/gradient_release.h"

#include <string.h>

static const tct_option options[] = {
    {"tol", TCT_OPT_REAL, "1e-9", 0, 1e9, NULL, "duality gap to reach, in units of the objective"},
    {"rtol", TCT_OPT_REAL, "0", 0, 1, NULL, "or this share of the objective, whichever is larger"},
    {"iterations", TCT_OPT_COUNT, "100000", 1, 1e9, NULL, "at most this many; not reaching tol is then an error"},
    {0},
};

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE, "proxgd needs a smooth loss; use squared, logistic, huber or smoothed_hinge");
  return TCT_OK;
}

typedef struct fista {
  double *z, *slope;           /* [rows] */
  double *u, *next, *gradient; /* [p] */
  tct_gap_workspace room;
  double lipschitz, momentum, moved; /* L, t, L |w' - u|^2 */
} fista;

static void fista_free(const tct_problem *problem, fista *s) {
  tct_wipe_free(s->z, problem->view->rows, sizeof *s->z);
  tct_wipe_free(s->slope, problem->view->rows, sizeof *s->slope);
  tct_free(s->u);
  tct_free(s->next);
  tct_free(s->gradient);
  tct_gap_free(problem, &s->room);
}

static tct_status fista_new(const tct_problem *problem, fista *s, tct_error *err) {
  const tct_facts *facts = problem->facts;
  int64_t n = problem->view->rows, p = facts->p;
  s->z = TCT_NEW(double, n), s->slope = TCT_NEW(double, n);
  s->u = TCT_NEW(double, p), s->next = TCT_NEW(double, p), s->gradient = TCT_NEW(double, p);
  if (!s->z || !s->slope || !s->u || !s->next || !s->gradient) return tct_fail_memory(err);
  double squares = 0;
  for (int64_t i = 0; i < n; i++) squares += tct_row_norm2(problem->view, i) / (double)n;
  s->lipschitz = fmax(1e-200, facts->loss.kind->curvature_bound(facts->loss.h) * squares / (double)p);
  s->momentum = 1;
  return tct_gap_new(problem, &s->room, err);
}

static double mean_loss(const tct_problem *problem, const double *w, fista *s) {
  const tct_loss *loss = &problem->facts->loss;
  tct_margins(problem->view, w, s->z, problem->facts->threads);
  return loss->kind->sum(s->z, problem->y, loss->h, problem->view->rows) / (double)problem->view->rows;
}

/* Step 2 into s->next. */
static void backtrack(const tct_problem *problem, fista *s) {
  const tct_loss *loss = &problem->facts->loss;
  int64_t p = problem->facts->p;
  double at = mean_loss(problem, s->u, s);
  loss->kind->slopes(s->z, problem->y, loss->h, s->slope, problem->view->rows);
  tct_transpose_times(problem->view, s->slope, s->gradient, problem->facts->threads);
  for (int64_t j = 0; j < p; j++) s->gradient[j] /= (double)problem->view->rows;
  for (int tries = 0; tries < 200; tries++, s->lipschitz *= 2) {
    double linear = 0, square = 0;
    memcpy(s->next, s->u, (size_t)p * sizeof *s->u);
    tct_axpy(-1 / s->lipschitz, s->gradient, s->next, p);
    tct_prox_step(problem->facts, s->next, 1 / s->lipschitz);
    for (int64_t j = 0; j < p; j++) {
      double d = s->next[j] - s->u[j];
      linear += s->gradient[j] * d, square += d * d;
    }
    s->moved = s->lipschitz * square;
    double bound = at + linear + s->moved / 2;
    if (mean_loss(problem, s->next, s) <= bound + 1e-15 * fabs(at)) return; /* the loss's own rounding */
  }
}

/* Step 3. */
static void extrapolate(fista *s, double *w, int64_t p) {
  double uphill = 0, t = (1 + sqrt(1 + 4 * s->momentum * s->momentum)) / 2;
  for (int64_t j = 0; j < p; j++) uphill += (s->u[j] - s->next[j]) * (s->next[j] - w[j]);
  if (uphill > 0) s->momentum = 1, t = 1;
  for (int64_t j = 0; j < p; j++) {
    s->u[j] = s->next[j] + (s->momentum - 1) / t * (s->next[j] - w[j]);
    w[j] = s->next[j];
  }
  s->momentum = t;
}

static tct_status solve(const tct_problem *problem, const tct_solver_plan *plan, fista *s, double *w, tct_error *err) {
  double tol = tct_spec_real(&plan->spec, options, "tol"), rtol = tct_spec_real(&plan->spec, options, "rtol"), primal;
  int64_t iterations = tct_spec_count(&plan->spec, options, "iterations");
  for (int64_t t = 0; t < iterations; t++) {
    TCT_TRY(tct_problem_tick(problem, 0, err));
    backtrack(problem, s); /* leaves the margins of s->next in s->z */
    bool check = t % 10 == 9;
    double gap = INFINITY;
    if (check) gap = tct_gap(problem, s->next, s->z, &s->room, &primal);
    if (check && isnan(gap)) gap = s->moved;
    extrapolate(s, w, problem->facts->p);
    if (check && gap <= fmax(tol, rtol * fabs(primal))) return TCT_OK;
  }
  return tct_fail(err, TCT_E_RUN,
                  "proxgd did not reach its duality gap in the given iterations; give a larger tol or iterations");
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  fista s = {0};
  (void)mech;
  memset(w, 0, (size_t)problem->facts->p * sizeof *w);
  tct_status status = fista_new(problem, &s, err);
  if (status == TCT_OK) status = solve(problem, plan, &s, w, err);
  fista_free(problem, &s);
  return status;
}

const tct_solver tct_solver_proxgd = {
    .name = "proxgd",
    .summary = "accelerated proximal gradient to a certified duality gap, NOT private",
    .options = options,
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
};
