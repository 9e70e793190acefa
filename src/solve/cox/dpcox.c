/* dpcox.c - private proportional hazards regression of follow-up times: weights with standard errors.
 *
 * PROBLEM  The weights w of Cox's model: the hazard of a person of row x at time t is h(t) e^(w.x).  A label is a
 * signed time (loss/cox.c), and its bound Y is the public horizon, at which follow-up ends for all.  Ties: Breslow's,
 * as the hazard is constant within a cell.
 *
 * ALGORITHM  A Poisson likelihood over cells of time, whose score is the martingale residual: at Breslow's hazards it
 * is Cox's own (Holford 1976; Andersen and Gill 1982).
 *   1. events, exits and places by cells of time + N(0, m_1^2 I): hazards h_k (cox_hazard.c).  A weight b bends them,
 *      h_k exp(u_k b) with u_k the cell's middle on the scale of events, as w moves.
 *   2. sums of x and x^2 + N(0, m_2^2 I): means and spreads; v = (1, (x - mean)/spread)
 *   3. G = sum over events of f v v^T + N(0, m_3^2 I), f a weight for length; A = (G + r I)/events = L L^T; z = L^-1 v.
 *      Their second moment is Cox's information.  d = sum l/(l + r) over the eigenvalues, and 1 for u;
 *      kappa = events mu/d.  With few events: over all persons.
 *   4. C = k_c sqrt(d); for t = 1..T   g = sum psi/C + N(0, m^2 I), psi stopped scores (cox_sums.c); steps of half of
 *      one over the share of events with momentum; theta the mean over the last half
 *   5. at theta: H = sum over events that are not stopped of omega z z^T, cut by length, + N(0, m_H^2 I).  Where robust
 *      J beside it, the scores' second moment.  The last g + N(0, m_g^2 I)
 *   6. w = theta - H^-1 g; covariances: solve/onestep/onestep_covariance.c.  With kappa below 12 no intervals
 *   7. where asked for, a check of proportional hazards + N(0, m_c^2 I): cox_change.c
 *
 * SENSITIVITY  cox_metric.c and cox_sums.c; docs/proofs/cox.md.  Lengths are 1, but sqrt(5/4) for the histogram.
 *
 * RELEASES  gaussian(m_1), gaussian(m_2), gaussian(m_3), T events gaussian(m), gaussian(m_H) and gaussian(m_g), and
 * where a check is asked for gaussian(m_c): exact, no Renyi detour.
 *
 * COST  One copy of the records in memory, n p^2 multiplications for images, metric and moments, n p for each step.
 *
 * DEPARTS  From Cox: where hazards are not proportional, or a column acts on another scale, a fit that is stopped has
 * another limit than Cox's partial likelihood.  Intervals cover the fit's own. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/cox/dpcox.h"
#include "solve/cox/rules.def"
#include "solve/onestep/one_step.h"

#include <stdio.h>
#include <string.h>

/* ---- a run ------------------------------------------------------------------------------------------------------ */

/* Times in parts of the horizon.  Nobody: a label of 0, or a row of zeros. */
static void take_times(tct_cox *run) {
  const tct_problem *problem = run->problem;
  double none = 0x1p-60 * problem->facts->row_norm;
  for (int64_t i = 0; i < problem->view->rows; i++) {
    double y = problem->y[i];
    if (!(fabs(y) > 0) || !(tct_row_norm2(problem->view, i) > none * none)) continue;
    run->time[i] = tct_cox_between(fabs(y) / problem->facts->label_bound, 0x1p-40, 1);
    run->event[i] = tct_follow_up(y, problem->facts->label_bound) > 0;
  }
}

static tct_status begin(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, tct_cox *run,
                        tct_error *err) {
  const tct_facts *facts = problem->facts;
  int64_t rows = problem->view->rows, p = problem->view->p;
  *run = (tct_cox){.problem = problem, .mech = mech, .p = p};
  run->rule = tct_cox_rule_of(facts, &plan->spec);
  double noise = tct_mech_release_of(mech, TCT_COX_LAST)->noise;
  run->mu = noise > 0 ? 1 / (noise * sqrt(run->rule.last)) : INFINITY;
  run->mean = TCT_NEW(double, p), run->spread = TCT_NEW(double, p);
  run->time = TCT_NEW(double, rows), run->omega = TCT_NEW(double, rows), run->stop = TCT_NEW(double, rows);
  run->event = TCT_NEW(int8_t, rows), run->cell = TCT_NEW(int8_t, rows);
  if (!run->mean || !run->spread || !run->time || !run->omega || !run->stop || !run->event || !run->cell)
    return tct_fail_memory(err);
  take_times(run);
  TCT_TRY(tct_cox_histogram(run, err));
  return tct_cox_metric(run, err);
}

/* Wipes what comes from rows. */
static void end(tct_cox *run) {
  int64_t rows = run->problem->view->rows;
  tct_free(run->mean);
  tct_free(run->spread);
  tct_free(run->inverse);
  tct_wipe_free_by(run->problem->facts->threads, run->z, run->z ? rows * run->p : 0, sizeof(double));
  tct_wipe_free(run->time, run->time ? rows : 0, sizeof(double));
  tct_wipe_free(run->omega, run->omega ? rows : 0, sizeof(double));
  tct_wipe_free(run->stop, run->stop ? rows : 0, sizeof(double));
  tct_wipe_free(run->event, run->event ? rows : 0, 1);
  tct_wipe_free(run->cell, run->cell ? rows : 0, 1);
}

/* Step 4; theta[q] starts at 0.  room: 4 q. */
static tct_status descend(tct_cox *run, double *theta, double *room, tct_error *err) {
  int64_t q = run->q, steps = run->rule.steps;
  double *x = room, *last = x + q, *g = last + q, *all = g + q, deviation = 0;
  double length = tct_cox_between(dpcox_path_per_information * run->information, dpcox_path_least, dpcox_path_most);
  double share = run->hazard.events / (double)run->problem->facts->rows;
  double momentum = tct_cox_between(1 - (double)steps / length, 0, 0.95);
  double size = dpcox_step / share * (tct_noise_off(run->problem->facts) ? 1 : fmin(1, length / (double)steps));
  memset(room, 0, (size_t)(4 * q) * sizeof *room);
  const int64_t half = steps / 2;
  for (int64_t t = 0; t < steps; t++) {
    TCT_TRY(tct_problem_tick(run->problem, (double)t / ((double)steps + 1), err));
    TCT_TRY(tct_cox_gradient(run, TCT_COX_PATH, x, g, &deviation, err));
    for (int64_t j = 0; j < q; j++) {
      double to = tct_cox_between(x[j] - size * g[j], -1e6, 1e6);
      x[j] = to + momentum * (to - last[j]);
      last[j] = to;
    }
    if (t >= half) tct_axpy(1 / (double)(steps - half), last, all, q);
  }
  memcpy(theta, all, (size_t)q * sizeof *all);
  return TCT_OK;
}

/* w[p] <- the weights of x and the level, of weights of z. */
static void to_columns(const tct_cox *run, const double *theta, double *room, double *w) {
  int64_t p = run->p, q = run->q;
  const tct_facts *facts = run->problem->facts;
  double max = 1e9 / facts->row_norm;
  for (int64_t j = 0; j < p; j++) {
    room[j] = 0;
    for (int64_t k = j; k < p; k++) room[j] += run->inverse[k * q + j] * theta[k];
  }
  double level = room[0] + log(run->hazard.mean_rate / facts->label_bound);
  for (int64_t j = 0; j + 1 < p; j++) {
    w[j] = tct_cox_between(room[1 + j] / run->spread[j], -max, max);
    level -= run->mean[j] * w[j];
  }
  w[p - 1] = tct_cox_between(level, -max, max);
}

static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  (void)plan;
  return 1e9 / facts->row_norm;
}

/* ---- errors ----------------------------------------------------------------------------------------------------- */

/* out[p][p] <- T a T^T, T from (1, (x - mean)/spread, u) to (x, level); room: [p][q]. */
static void covariance(const tct_cox *run, const double *a, double *room, double *out) {
  int64_t p = run->p, q = run->q;
  for (int64_t j = 0; j + 1 < p; j++)
    for (int64_t k = 0; k < q; k++) room[j * q + k] = a[(1 + j) * q + k] / run->spread[j];
  memcpy(room + (p - 1) * q, a, (size_t)q * sizeof *a);
  for (int64_t j = 0; j + 1 < p; j++) tct_axpy(-run->mean[j], room + j * q, room + (p - 1) * q, q);
  for (int64_t i = 0; i < p; i++) {
    const double *row = room + i * q;
    double *to = out + i * p;
    to[p - 1] = row[0];
    for (int64_t j = 0; j + 1 < p; j++) to[j] = row[1 + j] / run->spread[j], to[p - 1] -= run->mean[j] * to[j];
  }
  for (int64_t i = 0; i < p; i++)
    for (int64_t j = 0; j < i; j++) out[i * p + j] = out[j * p + i];
}

/* The level rests on all columns' means: it has their least degrees and no interval where one has none. */
static void to_inference(const tct_cox *run, const tct_inference *of, double *room, tct_inference *out) {
  int64_t p = run->p;
  bool little = run->information < dpcox_information_least;
  covariance(run, of->sampling, room, out->sampling);
  covariance(run, of->noise, room, out->noise);
  out->degrees[p - 1] = of->degrees[0], out->why[p - 1] = little ? TCT_NOISE_ABOVE_SIGNAL : of->why[0];
  for (int64_t j = 0; j + 1 < p; j++) {
    out->degrees[j] = of->degrees[1 + j];
    out->why[j] = little ? TCT_NOISE_ABOVE_SIGNAL : of->why[1 + j];
    out->degrees[p - 1] = fmin(out->degrees[p - 1], out->degrees[j]);
    if (out->why[j]) out->why[p - 1] = out->why[j];
  }
  out->robust = run->rule.robust;
  out->residual = NAN;
}

/* Steps 5 and 6. */
static tct_status finish(tct_cox *run, double *theta, double *room, tct_inference *inference, double *w,
                         tct_error *err) {
  int64_t p = run->p, q = run->q;
  tct_metric metric = {.p = q, .w = run->inverse};
  tct_inference whole = {0}, unwanted = {0}, *to = inference ? inference : &unwanted; /* all releases are made */
  double *g = room, *step = g + q, *start = step + q, *curvature = start + q, *variance = curvature + q * q;
  tct_onestep_moments moments = {.curvature = curvature, .variance = run->rule.robust ? variance : NULL};
  tct_onestep_released released = {.weights = start, .gradient = g, .moments = &moments};
  released.rows = run->problem->facts->rows, released.link = TCT_LINK_LOG;
  TCT_TRY(tct_cox_moments(run, theta, curvature, moments.variance, &moments.curvature_noise, err));
  moments.variance_noise = moments.curvature_noise;
  TCT_TRY(tct_cox_gradient(run, TCT_COX_LAST, theta, g, &released.deviation, err));
  tct_metric_turn(&metric, theta, start);
  tct_status status = tct_inference_new(q, &whole, err);
  if (status == TCT_OK) status = tct_onestep_covariance(&released, &metric, step, &whole, err);
  if (status == TCT_OK) status = tct_inference_new(p, to, err);
  if (status == TCT_OK && run->rule.change > 0)
    status = tct_cox_change(run, theta, curvature, moments.curvature_noise, to, err);
  if (status == TCT_OK) {
    tct_axpy(-1, step, theta, q);
    to_columns(run, theta, g, w);
    to_inference(run, &whole, curvature, to);
    tct_cox_course(run, q > p ? theta[p] : 0, &to->course);
  }
  tct_inference_free(&whole);
  tct_inference_free(&unwanted);
  return status;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t most = problem->view->p + 1;
  tct_cox own;
  double *memory = TCT_NEW(double, most + 6 * most + 2 * most * most), *theta = memory;
  memset(w, 0, (size_t)problem->view->p * sizeof *w);
  tct_status status = begin(problem, plan, mech, &own, err);
  if (status == TCT_OK && !memory) status = tct_fail_memory(err);
  if (status == TCT_OK) status = descend(&own, theta, theta + most, err);
  if (status == TCT_OK) status = finish(&own, theta, theta + most, problem->inference, w, err);
  if (status == TCT_OK && problem->note && own.information < dpcox_information_least && !tct_noise_off(problem->facts))
    snprintf(problem->note, TCT_NOTE, "the information is %.2g, below %g: no weight has an interval", own.information,
             dpcox_information_least);
  end(&own);
  tct_free(memory);
  return status;
}

const tct_solver tct_solver_dpcox = {
    .name = "dpcox",
    .summary = "private proportional hazards: follow-up times, with standard errors",
    .options = tct_cox_options,
    .is_private = true,
    .infers = true,
    .rows_apart = true,
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_NOT,
    .plan = tct_cox_plan,
    .run = run,
    .weight_bound = weight_bound,
};
