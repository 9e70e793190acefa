/* dponestep.c - a private one-step estimator: weights with standard errors.
 *
 * PROBLEM  min over w of (1/n) sum_i omega_i l(x_i.w, y_i) + psi(w), psi none or l2, and the covariance of its
 * minimiser over tables and over noise.
 *
 * ALGORITHM  A path in a released metric W (dpmetric.c) leads to some w_0.  There one gradient and the moments H and J
 * are released, and one Newton step is made (Le Cam 1956: a one-step estimator).  Each record is weighed by its row
 * alone (Mallows 1975): its terms are bounded without a clip of slopes, which would bias them where residuals are not
 * symmetric.
 *   1. W as dpmetric makes it, in units in which images z_i = W x_i have length about 1
 *   2. omega_i = min(1, (c_z/|z_i|)^2): omega |z| <= c_z and omega |z|^2 <= c_z^2
 *   3. C = c_z times the bound on slopes.  Logistic: at most a constant, and psi below is cut by the larger slope of
 * both labels, which is a weight of the row.  Labels that are numbers: at most k_c times the 68 % quantile of
 * |residual|, from counts + N(0, m_r^2 I).  They are released at the start, after a third of the path, and after it.
 *   4. for t = 1..T   g = sum_i psi_i W x_i/C + N(0, m^2 I), psi_i = omega_i l'(x_i.u, y_i) cut to |psi_i z_i| <= C;
 *      steps with momentum as dpmetric's; w_0 the average of the last half
 *   5. g at w_0 + N(0, m_g^2 I); counts: omega_i is first multiplied by min(1, h/mean_i), mean_i = e^(x_i.w_0) and h
 *      two squares of that quantile: a record of a large mean has a large curvature
 *   6. (H, J) = sum_i (omega_i psi' z_i z_i^T, psi_i^2 z_i z_i^T) + N(0, m_H^2 I), one release
 *   7. w = w_0 - W^T H^-1 g; covariances: onestep_covariance.c
 *
 * SENSITIVITY  dpmetric_factor.c and onestep_sums.c; every length is 1.
 *
 * RELEASES  Those of dpmetric's metric, gaussian(m_r) three times where slopes have no bound, T events gaussian(m),
 * gaussian(m_g) and gaussian(m_H): exact, no Renyi detour.
 *
 * COST  As dpmetric, and n p^2 multiplications for each of H and J.
 *
 * DEPARTS  From a one-step estimator without privacy: H and J are released with noise, whose part in the covariance is
 * counted. */
#include "solve/onestep/one_step.h"

#include "core/alloc.h"
#include "la/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* Vectors of the path, [p] each. */
typedef struct path {
  double *u, *last, *average, *g, *move;
  int64_t done; /* steps made */
} path;

/* `count` steps of a path of F steps of size one over the curvature, from w on; w <- the mean of the last half. */
static tct_status descend(tct_onestep *run, path *m, int part, int64_t count, double *w, tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  int64_t p = facts->p;
  double all = (double)run->rule.steps, path_length = tct_noise_off(facts)
                                                          ? run->rule.path_length
                                                          : tct_onestep_path_length(run->shape.signal_to_noise);
  double flat = tct_dpmetric_curvature(facts) / run->curvature;
  double size = flat * fmin(1, path_length / all), momentum = fmax(0, 1 - all / path_length), deviation = 0;
  memcpy(m->u, w, (size_t)p * sizeof *w);
  memset(m->average, 0, (size_t)p * sizeof *w);
  for (int64_t t = 0; t < count; t++) {
    TCT_TRY(tct_problem_tick(run->problem, (double)m->done++ / (all + 1), err));
    TCT_TRY(tct_onestep_gradient(run, run->at.steps[part], m->u, m->g, &deviation, err));
    tct_onestep_add_slope(run, m->u, m->g);
    tct_metric_turn(&run->shape.metric, m->g, m->move);
    memcpy(m->last, w, (size_t)p * sizeof *w);
    tct_dpmetric_move(facts, m->u, size * run->shape.clip * run->shape.clip, m->move, w);
    for (int64_t j = 0; j < p; j++) m->u[j] = w[j] + momentum * (w[j] - m->last[j]);
    if (t >= count / 2) tct_axpy(1, w, m->average, p);
  }
  int64_t averaged = count - count / 2;
  for (int64_t j = 0; j < p && count > 0; j++) w[j] = m->average[j] / (double)averaged;
  return TCT_OK;
}

/* Steps 3 and 4. */
static tct_status follow(tct_onestep *run, path *m, double *w, tct_error *err) {
  const tct_onestep_places *at = &run->at;
  int64_t first = tct_onestep_first(&run->rule);
  double clip = tct_onestep_path_clip(run->problem->facts, &run->rule, run->shape.signal_to_noise);
  TCT_TRY(tct_onestep_set_clip(run, clip, at->scale[0], at->steps[0], w, err));
  TCT_TRY(descend(run, m, 0, first, w, err));
  if (!run->rule.scaled) return TCT_OK;
  TCT_TRY(tct_onestep_set_clip(run, clip, at->scale[1], at->steps[1], w, err));
  return descend(run, m, 1, run->rule.steps - first, w, err);
}

/* Steps 5 to 7. */
static tct_status finish(tct_onestep *run, path *m, double *w, tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  tct_onestep_moments moments = {0};
  tct_inference own = {0}, *inference = run->problem->inference ? run->problem->inference : &own;
  tct_onestep_released released = {.weights = w, .gradient = m->g, .moments = &moments, .rows = facts->rows};
  released.link = facts->loss.kind->link;
  double *step = m->u;
  TCT_TRY(tct_inference_new(facts->p, inference, err));
  tct_status status = tct_onestep_set_clip(run, tct_onestep_clip(facts, &run->rule, run->shape.signal_to_noise),
                                           run->at.scale[2], run->at.last, w, err);
  if (status == TCT_OK) status = tct_onestep_reweigh(run, w, err);
  if (status == TCT_OK) status = tct_onestep_gradient(run, run->at.last, w, m->g, &released.deviation, err);
  if (status == TCT_OK) status = tct_onestep_release_moments(run, w, &moments, err);
  if (status == TCT_OK) {
    tct_onestep_add_slope(run, w, m->g);
    tct_onestep_add_ridge(run, moments.curvature);
    status = tct_onestep_covariance(&released, &run->shape.metric, step, inference, err);
  }
  if (status == TCT_OK) {
    inference->robust = run->rule.robust;
    inference->residual = run->rule.scaled ? run->residual : NAN;
    tct_metric_turn(&run->shape.metric, step, m->move);
    tct_dpmetric_move(facts, w, 1, m->move, w);
  }
  tct_free(moments.curvature);
  tct_inference_free(&own);
  return status;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->view->p;
  tct_onestep own = {.problem = problem, .mech = mech};
  double *memory = TCT_NEW(double, 5 * p);
  path m = {memory, memory + p, memory + 2 * p, memory + 3 * p, memory + 4 * p, 0};
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = memory ? tct_problem_tick(problem, 0, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_onestep_begin(&own, plan, err);
  if (status == TCT_OK) status = follow(&own, &m, w, err);
  if (status == TCT_OK) status = finish(&own, &m, w, err);
  tct_onestep_free(&own);
  tct_free(memory);
  return status;
}

const tct_solver tct_solver_dponestep = {
    .name = "dponestep",
    .summary = "private one-step estimator: weights with standard errors",
    .options = tct_onestep_options,
    .is_private = true,
    .infers = true,
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_NOT,
    .offsets = true,
    .plan = tct_onestep_plan,
    .run = run,
    .weight_bound = tct_dpmetric_weight_bound,
};
