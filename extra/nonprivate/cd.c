/* cd.c - proximal coordinate descent without privacy, to a certified duality gap.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + sum_j psi_j(w_j), l smooth; psi none, l1, l2, elastic net or a
 * box. The intercept has no psi.
 *
 * ALGORITHM  Richtarik and Takac 2014, "Iteration complexity of randomized block-coordinate descent methods for
 * minimizing a composite function", with passes in shuffled order.
 *   1. w = 0, margins z = 0
 *   2. each pass, for each j: w_j = prox of psi_j/M_j at w_j - (derivative)/M_j, M_j = (curvature bound) mean x_j^2
 *   3. now and then: gap (gap.c); stop when gap <= max(tol, rtol*objective)
 * Without a dual (penalty none) the stopping rule is sum_j (derivative_j)^2/M_j <= tol instead: an estimate of what
 * coordinate steps can still gain, not a certificate.
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  O(nnz) per pass, n doubles beside the data.
 *
 * DEPARTS  It runs on the fused kernels of dpcd.  Their clip is set four times above the largest slope seen, anew each
 * pass, so that it binds nothing at the optimum. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/coordinate/dpcd.h"
#include "solve/shared/gap.h"

#include <string.h>

static const tct_option options[] = {
    {"tol", TCT_OPT_REAL, "1e-9", 0, 1e9, NULL, "duality gap to reach, in units of the objective"},
    {"rtol", TCT_OPT_REAL, "0", 0, 1, NULL, "or this share of the objective, whichever is larger"},
    {"passes", TCT_OPT_COUNT, "100000", 1, 1e9, NULL, "at most this many passes; not reaching tol is then an error"},
    {0},
};

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  tct_fused_slope slope;
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  char names[200];
  tct_loss_names(tct_loss_has_fused, names, sizeof names);
  if (!tct_dpcd_slope(&facts->loss, &slope))
    return tct_fail(err, TCT_E_USAGE, "cd takes no slopes of the loss %s; use %s", facts->loss.kind->name, names);
  tct_penalty_names(tct_penalty_is_separable, names, sizeof names);
  if (!facts->penalty.kind->separable) return tct_fail(err, TCT_E_USAGE, "cd needs a separable penalty; use %s", names);
  return TCT_OK;
}

typedef struct descent {
  tct_fused fused;
  tct_gap_workspace workspace;
  double *z;       /* [rows] margins as of the last look */
  double *smooth;  /* [p] M_j */
  double *largest; /* [p] max |x_ij| */
  int64_t *order;
  double slope; /* four times the largest slope at the last look */
  double left;  /* sum of derivative^2/M_j over the last pass */
} descent;

static void descent_free(const tct_problem *problem, descent *s) {
  tct_fused_free(&s->fused);
  tct_gap_free(problem, &s->workspace);
  tct_wipe_free(s->z, problem->view->rows, sizeof *s->z);
  tct_free(s->smooth);
  tct_free(s->largest);
  tct_free(s->order);
}

static tct_status descent_new(const tct_problem *problem, descent *s, tct_error *err) {
  const tct_facts *facts = problem->facts;
  int64_t n = problem->view->rows, p = facts->p;
  tct_fused_settings set = {.slope = TCT_FUSED_SQUARED, .h = facts->loss.h, .threads = facts->threads};
  tct_dpcd_slope(&facts->loss, &set.slope);
  s->z = TCT_NEW(double, n);
  s->smooth = TCT_NEW(double, p), s->largest = TCT_NEW(double, p), s->order = TCT_NEW(int64_t, p);
  if (!s->z || !s->smooth || !s->largest || !s->order) return tct_fail_memory(err);
  TCT_TRY(tct_gap_new(problem, &s->workspace, err));
  TCT_TRY(tct_fused_new(problem->view, problem->y, set, &s->fused, err));
  for (int64_t i = 0; i < n; i++) s->z[i] = 1; /* weights of the squares, for a moment */
  double h = facts->loss.kind->curvature_bound(facts->loss.h);
  for (int64_t j = 0; j < p; j++) {
    s->smooth[j] = h * tct_col_dot_squares(problem->view, j, s->z) / (double)n;
    s->largest[j] = tct_col_largest(problem->view, j);
  }
  return TCT_OK;
}

/* Margins out of the kernel; the clip for the next pass. */
static void look(const tct_problem *problem, descent *s) {
  const tct_loss *loss = &problem->facts->loss;
  double largest = 0;
  tct_fused_margins(&s->fused, s->z);
  loss->kind->slopes(s->z, problem->y, loss->h, s->workspace.alpha, problem->view->rows);
  for (int64_t i = 0; i < problem->view->rows; i++) largest = fmax(largest, fabs(s->workspace.alpha[i]));
  s->slope = fmax(4 * largest, 1e-250);
}

static void pass(const tct_problem *problem, descent *s, double *w) {
  double n = (double)problem->view->rows;
  s->left = 0;
  for (int64_t k = 0; k < problem->facts->p; k++) {
    int64_t j = s->order[k];
    if (!(s->smooth[j] > 0)) continue; /* a column of zeros */
    double clip = s->slope * s->largest[j], lattice = tct_lattice_spacing(clip, 0, problem->view->rows);
    if (isnan(lattice)) continue; /* slopes or features below 1e-250 */
    double derivative = tct_fused_sum(&s->fused, j, clip, lattice) / n;
    double to = tct_dpcd_prox(problem->facts, j, w[j] - derivative / s->smooth[j], 1 / s->smooth[j]);
    s->left += s->smooth[j] * (to - w[j]) * (to - w[j]);
    tct_fused_move(&s->fused, j, to - w[j]);
    w[j] = to;
  }
}

static tct_status solve(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, descent *s, double *w,
                        tct_error *err) {
  double tol = tct_spec_real(&plan->spec, options, "tol"), rtol = tct_spec_real(&plan->spec, options, "rtol"), primal;
  int64_t passes = tct_spec_count(&plan->spec, options, "passes"), next = 1;
  for (int64_t t = 1; t <= passes; t++) {
    TCT_TRY(tct_problem_tick(problem, 0, err));
    look(problem, s);
    tct_mech_shuffle(mech, (uint64_t)t, s->order, problem->facts->p);
    pass(problem, s, w);
    if (t < next) continue;
    next = t + 1 + t / 10; /* a look costs about two passes: a tenth more often than needed at most */
    tct_fused_margins(&s->fused, s->z);
    double gap = tct_gap(problem, w, s->z, &s->workspace, &primal);
    if (isnan(gap)) gap = s->left;
    if (gap <= fmax(tol, rtol * fabs(primal))) return TCT_OK;
  }
  return tct_fail(err, TCT_E_RUN, "cd did not reach its duality gap in the given passes; give a larger tol or passes");
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  descent s = {0};
  memset(w, 0, (size_t)problem->facts->p * sizeof *w);
  tct_status status = descent_new(problem, &s, err);
  if (status == TCT_OK) status = solve(problem, plan, mech, &s, w, err);
  descent_free(problem, &s);
  return status;
}

const tct_solver tct_solver_cd = {
    .name = "cd",
    .summary = "proximal coordinate descent to a certified duality gap, NOT private",
    .options = options,
    .wants_columns = true,
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
};
