/* dponestep.c - a private one-step estimator: weights with standard errors.
 *
 * PROBLEM  min over w of (1/n) sum_i omega_i l(x_i.w, y_i) + psi(w), psi none or l2, and the covariance of its
 * minimiser over tables and over noise.
 *
 * ALGORITHM  A few noisy Newton steps in a released metric W lead to some w_0.  There one gradient and the moments H
 * and J are released, and one last Newton step is made (Le Cam 1956: a one-step estimator).  Each record is weighed by
 * its row alone (Mallows 1975), alike in gradients and curvatures.
 *   1. sums of rows and labels: means, and the margin b that is best for all records alike, with the curve q there.
 *      Sums of squares.  W = L^-1/sqrt(d) for second moments L L^T of columns of these means and squares.
 *   2. twice: G = sum_i z_i z_i^T, z_i = W x_i cut to 1.3; eigenvalues lifted to a quarter of what noise reaches.
 *      Columns that look like 0/1 columns by their released means and variances get back what the cut took, and a
 *      ridge.  W = L^-1/sqrt(d) anew, so that the mean of |z|^2 is 1.  d: how many directions the rows fill
 *   3. counts of |z_i|: c_z keeps most of the mean square length, h is a few curves q.  Where many rows are far by more
 *      than a rare category, c_z is as large as the noise of H allows.  omega_i = min(1, (c_z/|z_i|)^2) min(1,
 *      h/curve_i)
 *   4. for t = 1..T from w with the margin b: g = sum_i psi_i z_i, psi_i = omega_i l'(x_i.w, y_i) cut to |psi_i z_i| <=
 *      C; H = sum_i omega_i l'' z_i z_i^T, at the first step q/d in all directions.  w <- w - W^T H^-1 g, moving
 *      margins by at most moved_most, but of numbers.
 *      C of two classes is a part of c_z: psi is cut by the larger slope of both labels, which is a weight.  C of
 *      numbers follows from signed counts of the terms' lengths at the first two steps (onestep_clip.c).
 *   5. J = sum_i psi_i^2 z_i z_i^T; G G^T = J without its noise shapes the gradients from here on: images G^-1 z
 *   6. C anew; g, where many rows are far with omega 1; (H, J), one release; H of classes and counts averaged
 *      with that of step 4 where little has moved since
 *   7. w = w_0 - W^T H^-1 g, of counts with H as a common move of the margins leaves it; covariances:
 *      onestep_covariance.c
 * Where noise is next to nothing c_z, h and C grow without end, and T with the signal.
 *
 * SENSITIVITY  onestep_metric.c and onestep_sums.c; every length is 1.
 *
 * RELEASES  Gaussian events: two of step 1, two of step 2, one of step 3.  T gradients, T - 1 curvatures and, of
 * numbers, up to two counts of step 4.  One of step 5, but not where H stands for J.  g, moments and, of numbers,
 * counts of step 6.  Exact, no Renyi detour.
 *
 * COST  n p^2 multiplications for each matrix, n p for each gradient.
 *
 * DEPARTS  From a one-step estimator without privacy: H and J are released with noise, whose part in the covariance is
 * counted. */
#include "solve/onestep/one_step.h"

#include "core/alloc.h"
#include "la/exact/spectrum.h"
#include "la/kernels/kernels.h"
#include "solve/onestep/rules.def"

#include <math.h>
#include <string.h>

/* Room of the walk, [p] each but for the matrices [p][p]. */
typedef struct walk {
  double *g, *step, *move, *value, *rest; /* rest: [3 p] */
  double *curvature, *h, *vectors;        /* curvature: the walk's last, or the mean of all */
  double noise, moved;                    /* of curvature; what the last step moved margins by */
  double deviation;                       /* of its gradient */
  int64_t known;                          /* curvatures in it */
} walk;

/* memory: [3 p p + 8 p]. */
static walk walk_in(double *memory, int64_t p) {
  double *at = memory + 3 * p * p;
  return (walk){.curvature = memory,
                .h = memory + p * p,
                .vectors = memory + 2 * p * p,
                .g = at,
                .step = at + p,
                .move = at + 2 * p,
                .value = at + 3 * p,
                .rest = at + 4 * p};
}

static bool curved(const tct_onestep *run) { return run->problem->facts->loss.kind->link != TCT_LINK_IDENTITY; }

/* The root mean square of z.step. */
static double moved_by(const tct_onestep *run, const double *step) {
  return sqrt(fmax(tct_onestep_form(run->second, step, run->metric.p), 0));
}

/* m->h <- the curvature of step t, and the least that its eigenvalues count as. */
static tct_status curvature_at(tct_onestep *run, walk *m, int64_t t, const double *w, double *least, tct_error *err) {
  int64_t square = run->metric.p * run->metric.p;
  tct_onestep_moments moments = {.curvature = m->h};
  memset(m->h, 0, (size_t)square * sizeof *m->h);
  if (t == 0) { /* images are as long in all directions */
    *least = 0x1p-900;
    for (int64_t k = 0; k < square; k += run->metric.p + 1) m->h[k] = run->typical / run->dimension;
    return TCT_OK;
  }
  TCT_TRY(tct_onestep_release_moments(run, run->at.curvatures, w, &moments, err));
  *least = fmax(moments.curvature_noise * sqrt(2 * (double)run->metric.p), 0x1p-900); /* noise alone reaches it */
  if (curved(run)) m->known = 0;
  for (int64_t k = 0; k < square; k++)
    m->curvature[k] = ((double)m->known * m->curvature[k] + m->h[k]) / ((double)m->known + 1);
  m->noise = moments.curvature_noise / sqrt((double)++m->known);
  return TCT_OK;
}

/* Step t of the walk. */
static tct_status walk_on(tct_onestep *run, walk *m, int64_t t, double *w, tct_error *err) {
  int64_t p = run->metric.p;
  double least = 0;
  if (t == 0 || (run->rule.scaled && t < 2)) {
    TCT_TRY(tct_onestep_set_clip(run, run->at.counts, run->at.steps, dponestep_clip_bias, w, err));
    TCT_TRY(tct_onestep_open_sums(run, run->at.steps, err));
  }
  TCT_TRY(tct_onestep_gradient(run, run->at.steps, w, m->g, &m->deviation, err));
  TCT_TRY(curvature_at(run, m, t, w, &least, err));
  tct_onestep_add_slope(run, w, m->g);
  tct_onestep_add_ridge(run, m->h);
  memset(m->step, 0, (size_t)p * sizeof *m->step);
  if (!tct_eigenvectors(m->h, p, m->value, m->vectors, m->rest)) return TCT_OK; /* no step */
  double largest = 0;
  for (int64_t k = 0; k < p; k++) largest = fmax(largest, m->value[k]);
  for (int64_t k = 0; k < p; k++) {
    const double *vector = m->vectors + k * p;
    if (!(fmax(m->value[k], least) > TCT_ONESTEP_ROUNDING * largest)) continue; /* the rows do not tell */
    tct_axpy(tct_dot(vector, m->g, p) / fmax(m->value[k], least), vector, m->step, p);
  }
  m->moved = moved_by(run, m->step);
  tct_metric_turn(&run->metric, m->step, m->move);
  double size = curved(run) ? fmin(1, dponestep_moved_most / fmax(m->moved, 1e-9)) : 1;
  tct_dpmetric_move(run->problem->facts, w, size, m->move, w);
  return TCT_OK;
}

/* w <- weights whose margins are b, as far as columns allow. */
static void begin_at(const tct_onestep *run, walk *m, double *w) {
  int64_t p = run->metric.p;
  memset(w, 0, (size_t)p * sizeof *w);
  if (run->problem->facts->intercept) {
    w[p - 1] = run->start;
    return;
  }
  tct_metric_plain(&run->metric, run->mean, m->step);
  tct_metric_turn(&run->metric, m->step, m->move);
  tct_dpmetric_move(run->problem->facts, w, -run->start * run->dimension, m->move, w);
}

/* Steps 4 and 5. */
static tct_status follow(tct_onestep *run, walk *m, double *w, tct_error *err) {
  begin_at(run, m, w);
  for (int64_t t = 0; t < run->rule.steps; t++) {
    TCT_TRY(tct_problem_tick(run->problem, (double)t / ((double)run->rule.steps + 1), err));
    TCT_TRY(walk_on(run, m, t, w, err));
  }
  if (!run->rule.sandwich) return TCT_OK;
  tct_onestep_moments moments = {.variance = m->h};
  TCT_TRY(tct_onestep_release_moments(run, run->at.slopes, w, &moments, err));
  if (m->known > 0) tct_onestep_take_dispersion(run, m->h, m->curvature, moments.variance_noise);
  return tct_onestep_take_slopes(run, m->h, moments.variance_noise, err);
}

/* H and its noise <- the mean by precision of the last two. */
static void average(const tct_onestep *run, const walk *m, tct_onestep_moments *moments) {
  double own = moments->curvature_noise, part = own * own / (own * own + m->noise * m->noise);
  if (m->known == 0 || !(own > 0) || !(m->noise > 0)) return;
  bool parts = run->rule.scaled && !run->problem->facts->loss.kind->counts; /* of cut slopes are in the walk's */
  bool counts = run->problem->facts->loss.kind->counts;
  if (parts || (counts && !(m->moved < dponestep_walk_near))) return;
  for (int64_t k = 0; k < run->metric.p * run->metric.p; k++)
    moments->curvature[k] += part * (m->curvature[k] - moments->curvature[k]);
  moments->curvature_noise = own * sqrt(1 - part);
}

/* Counts: by how much margins move alike, log r, r the mean count over the mean prediction, as g and H along the
 * constant tell.  Curvatures are predictions: H and its noise become those of the step's end, r times as large.  room:
 * [p]. */
static double grow(const tct_onestep *run, const double *g, tct_onestep_moments *moments, double *room) {
  int64_t p = run->metric.p;
  if (!run->problem->facts->intercept) return 0;
  tct_onestep_constant(&run->metric, room);
  double slope = tct_dot(room, g, p), curve = tct_onestep_form(moments->curvature, room, p),
         most = dponestep_moved_most;
  if (!(curve > 0)) return 0;
  double grown = fmin(log(fmax(1 - slope / curve, exp(-most))), most), by = exp(grown);
  for (int64_t k = 0; k < p * p; k++) moments->curvature[k] *= by;
  moments->curvature_noise *= by;
  return grown;
}

/* The mean square of residuals, from both moments of the constant column. */
static double residual_of(const tct_onestep *run, const tct_onestep_moments *moments, double *room) {
  int64_t p = run->metric.p;
  if (!run->problem->facts->intercept || run->problem->weight || !moments->variance || curved(run)) return NAN;
  tct_onestep_constant(&run->metric, room);
  double squares = tct_onestep_form(moments->variance, room, p), ones = tct_onestep_form(moments->curvature, room, p);
  return ones > 0 && squares > 0 ? sqrt(squares / ones) : NAN;
}

/* Step 6. */
static tct_status release_last(tct_onestep *run, walk *m, const double *w, tct_onestep_moments *moments,
                               double *deviation, tct_error *err) {
  run->last = true;
  TCT_TRY(tct_onestep_set_clip(run, run->at.last_counts, run->at.last, dponestep_clip_bias, w, err));
  TCT_TRY(tct_onestep_open_sums(run, run->at.last, err));
  TCT_TRY(tct_onestep_gradient(run, run->at.last, w, m->g, deviation, err));
  TCT_TRY(tct_onestep_release_moments(run, run->at.moments, w, moments, err));
  average(run, m, moments);
  return moments->variance ? tct_onestep_settle_variance(run, moments, err) : TCT_OK;
}

/* Two classes: rows that nobody sees have slopes of at most 1, and what a weight may be off by is known. */
static bool own_unseen(const tct_onestep *run) { return run->problem->facts->loss.kind->link == TCT_LINK_LOGISTIC; }

/* Of a column's variance, the most that rows which nobody sees could have. */
static double hidden(const tct_onestep *run) {
  double most = run->hidden;
  for (int64_t j = 0; j < run->metric.p; j++) most = fmax(most, run->unseen[j]);
  return most;
}

/* What Newton's last step leaves of itself.  Curvature that is gone since the start tells how far margins have come,
 * and with it how fast it changes along the step. */
static double left_along(const tct_onestep *run, const double *curvature) {
  double now = 0, begun = 0;
  if (tct_noise_off(run->problem->facts) || !curved(run)) return 0;
  for (int64_t j = 0; j < run->metric.p; j++)
    now += curvature[j * run->metric.p + j], begun += run->typical * run->second[j * run->metric.p + j];
  return fmax(1 - now / begun, 0);
}

/* Numbers, many rows far: the square of what hidden rows may move weights by, over the last step.  That is what seen
 * ones do when weights and clips are let go.  Noise's part of it is none. */
static double moved_by_far(const tct_onestep *run, const walk *m, double deviation) {
  int64_t p = run->metric.p;
  double noise = (double)p * m->deviation * m->deviation + deviation * deviation * tct_norm2(run->factor, p * p);
  double part = hidden(run) * hidden(run) / dponestep_unseen_most, size = fmax(tct_norm2(m->g, p), 0x1p-900);
  return run->heavy ? part * part * fmax(1 - noise / size, 0) : 0;
}

/* Of counts: the part of what the last clip may hide that the variance which it leaves allows for; none where the model
 * is right. */
static double still_hidden(const tct_onestep *run) {
  double part = run->rule.robust ? (run->dispersion + run->uncertain - 1) / dponestep_hidden_dispersion : 0;
  return part < 1 && run->problem->facts->loss.kind->counts ? fmax(part, 0) : 1; /* all where it is not known */
}

/* run->shift[p] <- the mean image of what a clip takes, for a mean of 1: the mean row.  Counts that vary most are cut
 * most, and of those the largest: J b, b the margins 1 + 2 (x.w - their mean), for what is beyond a clip grows faster
 * than J.  room: [2 p]. */
static void cut_rows(tct_onestep *run, const double *w, const tct_onestep_moments *moments, double *room) {
  int64_t p = run->metric.p;
  const tct_facts *facts = run->problem->facts;
  double *b = room, *one = b + p, *q = run->shift;
  tct_metric_plain(&run->metric, run->mean, q);
  if (!facts->loss.kind->counts || !moments->variance) return;
  for (int64_t j = 0; j < p; j++) one[j] = run->dimension * q[j];
  if (facts->intercept) tct_onestep_constant(&run->metric, one);
  double size = tct_onestep_form(moments->variance, one, p);
  if (!(size > moments->variance_noise * tct_norm2(one, p))) return;
  tct_onestep_in_metric(&run->metric, w, b);
  double alike = 1 - 2 * tct_dot(run->mean, w, p);
  for (int64_t j = 0; j < p; j++) b[j] = 2 * b[j] + alike * one[j];
  for (int64_t j = 0; j < p; j++) q[j] = tct_dot(moments->variance + j * p, b, p) / size;
}

/* What the last clip takes is given back to g; its error is along the same rows, and but for amounts in part along none
 * that is known. */
static void give_back(tct_onestep *run, const double *w, double *g, tct_onestep_released *out, double *room) {
  double part = still_hidden(run), unsure = part * run->unsure;
  cut_rows(run, w, out->moments, room);
  tct_axpy(part * run->taken, run->shift, g, run->metric.p);
  for (int64_t j = 0; j < run->metric.p; j++) run->shift[j] *= unsure;
  out->lost = part * run->lost;
}

/* Steps 6 and 7. */
static tct_status finish(tct_onestep *run, walk *m, double *w, tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  tct_onestep_moments moments = {.curvature = m->h, .variance = run->rule.sandwich ? m->vectors : NULL};
  tct_inference own = {0}, *inference = run->problem->inference ? run->problem->inference : &own;
  tct_onestep_released released = {.weights = w, .gradient = m->g, .moments = &moments, .rows = run->rows};
  released.link = facts->loss.kind->link, released.factor = run->factor;
  released.second = tct_noise_off(facts) ? NULL : run->second; /* columns that go together have no images to tell */
  if (curved(run) && !tct_noise_off(facts)) {
    released.rest = facts->loss.kind->counts ? dponestep_left_by_curves : 0;
    released.bend = dponestep_left_by_bend;
  }
  released.unseen = own_unseen(run) ? run->unseen : NULL, released.reach = tct_onestep_reach(run);
  released.mean = facts->intercept ? run->mean : NULL;
  released.dimension = run->dimension, released.shift = run->shift;
  TCT_TRY(tct_inference_new(facts->p, inference, err));
  tct_status status = release_last(run, m, w, &moments, &released.deviation, err);
  double residual = status == TCT_OK ? residual_of(run, &moments, m->rest) : NAN;
  if (status == TCT_OK) {
    give_back(run, w, m->g, &released, m->rest);
    if (released.rest > 0) released.grown = grow(run, m->g, &moments, m->rest);
    tct_onestep_add_slope(run, w, m->g);
    released.along = curved(run) ? left_along(run, moments.curvature) : moved_by_far(run, m, released.deviation);
    tct_onestep_add_ridge(run, moments.curvature);
    status = tct_onestep_covariance(&released, &run->metric, m->step, inference, err);
  }
  if (status == TCT_OK) {
    bool far = !own_unseen(run) && hidden(run) > dponestep_unseen_most;
    for (int64_t j = 0; j < facts->p && far; j++) inference->why[j] = TCT_ROWS_TOO_FAR;
    inference->robust = run->rule.robust;
    inference->residual = residual;
    tct_metric_turn(&run->metric, m->step, m->move);
    tct_dpmetric_move(facts, w, 1, m->move, w);
  }
  tct_inference_free(&own);
  return status;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->view->p, size = 3 * p * p + 8 * p;
  tct_onestep own = {.problem = problem, .mech = mech};
  double *memory = TCT_NEW(double, size);
  walk m = walk_in(memory, p);
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = memory ? tct_problem_tick(problem, 0, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_onestep_begin(&own, plan, err);
  if (status == TCT_OK) status = follow(&own, &m, w, err);
  if (status == TCT_OK) status = finish(&own, &m, w, err);
  tct_onestep_free(&own);
  tct_wipe_free(memory, memory ? size : 0, sizeof *memory);
  return status;
}

const tct_solver tct_solver_dponestep = {
    .name = "dponestep",
    .summary = "private one-step estimator: weights with standard errors",
    .options = tct_onestep_options,
    .is_private = true,
    .infers = true,
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_RECORDS,
    .offsets = true,
    .plan = tct_onestep_plan,
    .run = run,
    .weight_bound = tct_dpmetric_weight_bound,
};
