/* primaldpscd.c - private primal coordinate descent with batches of coordinates: a baseline.
 *
 * PROBLEM  min over w of F(w) = (1/n) sum_i l(x_i.w, y_i) + (l2/2)|w|^2, l smooth.
 *
 * ALGORITHM  Damaskinos et al. 2021, Algorithm 2 (their appendix B).
 *   1. w = 0, margins z = 0
 *   3. for t = 1..T
 *   4.   draw L of the p coordinates
 *   6.   for each: zeta_j = -grad_j F / (curvature_jj of F), damped by L; clipped to [-C, C]
 *   12.  w_B += zeta + noise; z follows w
 *
 * SENSITIVITY  Every step reads all records, and one record may turn each of the L clipped steps from C to -C.  So the
 * released vector zeta_B moves by at most 2C*sqrt(L) under either relation.  An event's sensitivity is a record's own
 * term, so sensitivity = 2C*sqrt(L) under add_remove and half of it under replace_one, where the accountant doubles it.
 * z is a function of the released w and the records, stays inside, and needs neither noise nor a bound on the columns.
 * No clip of the records is used by the bound; it holds for any data.
 *
 * RELEASES  T events gaussian(m).
 *
 * COST  O(T*L*nnz/p) time.
 *
 * DEPARTS  The printed algorithm also noises the n-vector v; since v is recomputed from released values it is not a
 * release, which lowers the sensitivity from 2C*sqrt(L(L+1)).  The damping by L makes simultaneous steps safe. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/solve.h"
#include "solve/shared/weight_bound.h"

#include <string.h>

static const tct_option options[] = {
    {"batch", TCT_OPT_COUNT, "1", 1, 1e6, NULL, "coordinates per iteration"},
    {"clip", TCT_OPT_REAL, "0.01", 1e-12, 1e12, NULL, "C, largest step of a coordinate"},
    {"passes", TCT_OPT_REAL, "2", 1e-3, 1e6, NULL, "expected visits per coordinate"},
    {0},
};

enum { STEPS }; /* the release */

static double sensitivity_of(const tct_facts *facts, const tct_spec *spec) {
  double worst = 2 * tct_spec_real(spec, options, "clip") * sqrt(tct_spec_real(spec, options, "batch"));
  return facts->neighbours == TCT_ADD_REMOVE ? worst : worst / 2;
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE,
                    "primaldpscd needs a smooth loss; use squared, logistic, smoothed_hinge or huber");
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "primaldpscd takes the penalties none and l2; give one of them");
  int64_t batch = tct_spec_count(&out->spec, options, "batch");
  if (batch > facts->p) return tct_fail(err, TCT_E_USAGE, "batch is larger than the number of features; give less");
  int64_t iterations = (int64_t)ceil(tct_spec_real(&out->spec, options, "passes") * (double)facts->p / (double)batch);
  TCT_TRY(tct_budget_noise(facts, 1, iterations, out, err));
  double off = !tct_noise_off(facts) ? 1 : 1e6, clip = off * tct_spec_real(&out->spec, options, "clip");
  tct_event event = tct_event_gaussian(out->noise_multiplier, iterations);
  tct_release steps = tct_release_sum("steps of coordinates", event, clip, off * sensitivity_of(facts, &out->spec), 1);
  return tct_plan_promise(out, steps, err);
}

typedef struct state {
  double *z, *slope, *curve, *zeta, *w;
  int64_t *coordinate;
} state;

static void state_free(state *s, int64_t n) {
  tct_wipe_free(s->z, n, sizeof(double));
  tct_wipe_free(s->slope, n, sizeof(double));
  tct_wipe_free(s->curve, n, sizeof(double));
  tct_free(s->zeta);
  tct_free(s->coordinate);
}

/* Step 6 for coordinate j: the damped Newton step on the clipped, lattice-truncated scale. */
static double step_of(const tct_problem *problem, const state *s, int64_t j, double damping, double clip,
                      double lattice) {
  double n = (double)problem->facts->rows, l2 = problem->facts->penalty.l2;
  if (problem->facts->intercept && j == problem->view->p - 1) l2 = 0;
  double gradient = tct_col_dot(problem->view, j, s->slope) / n + l2 * s->w[j];
  double curvature = damping * tct_col_dot_squares(problem->view, j, s->curve) / n + l2;
  double zeta = curvature > 0 ? -gradient / curvature : 0;
  if (!(fabs(zeta) <= clip)) zeta = zeta > 0 ? clip : zeta < 0 ? -clip : 0;
  return lattice * trunc(zeta / lattice);
}

static tct_status iterate(const tct_problem *problem, state *s, int64_t batch, tct_mech *mech, tct_error *err) {
  const tct_loss *loss = &problem->facts->loss;
  const tct_release *planned = tct_mech_release_of(mech, STEPS);
  for (int64_t i = 0; i < problem->view->rows; i++) {
    s->slope[i] = tct_loss_slope(loss, s->z[i], problem->y[i]);
    s->curve[i] = tct_loss_curve(loss, s->z[i], problem->y[i]);
  }
  for (int64_t k = 0; k < batch; k++)
    s->zeta[k] = step_of(problem, s, s->coordinate[k], (double)batch, planned->clip, planned->lattice);
  TCT_TRY(tct_mech_release(mech, STEPS, s->zeta, batch, err)); /* 12 */
  for (int64_t k = 0; k < batch; k++) {
    s->w[s->coordinate[k]] += s->zeta[k];
    tct_col_axpy(problem->view, s->coordinate[k], s->zeta[k], s->z);
  }
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p, batch = tct_spec_count(&plan->spec, options, "batch");
  int64_t iterations = tct_mech_release_of(mech, STEPS)->event.count;
  state s = {TCT_NEW(double, n), TCT_NEW(double, n), TCT_NEW(double, n), TCT_NEW(double, batch), w,
             TCT_NEW(int64_t, p)};
  tct_status status = s.z && s.slope && s.curve && s.zeta && s.coordinate ? TCT_OK : tct_fail_memory(err);
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t t = 0; t < iterations && status == TCT_OK; t++) { /* 3 */
    status = tct_problem_tick(problem, (double)t / (double)iterations, err);
    tct_mech_shuffle(mech, (uint64_t)t, s.coordinate, p); /* 4 */
    if (status == TCT_OK) status = iterate(problem, &s, batch, mech, err);
  }
  state_free(&s, n);
  return status;
}

/* A step is at most C before its noise, and an iteration moves a coordinate once. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  const tct_release *r = &plan->promise.release[STEPS];
  (void)facts;
  return (double)r->event.count * tct_sum_max(r, 1, tct_spec_real(&plan->spec, options, "batch"));
}

const tct_solver tct_solver_primaldpscd = {
    .name = "primaldpscd",
    .summary = "private primal coordinate descent on batches of coordinates (Damaskinos et al. 2021, appendix B)",
    .options = options,
    .is_private = true,
    .wants_columns = true,
    .relations = TCT_RELATION_BOTH,
    .plan = plan,
    .run = run,
    .weight_bound = weight_bound,
};
