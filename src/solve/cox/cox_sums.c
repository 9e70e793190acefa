/* cox_sums.c - what dpcox computes from rows along its path: scores and moments.
 *
 * A person's score at weights theta = (w, b) is the martingale residual times z, summed over time:
 *   psi = omega (sum_k (event_k - hazard_k) z, sum_k (event_k - hazard_k) u_k), hazard_k = h_k exp(u_k b + z.w) * time.
 * omega = min(1, C/|z|).  Follow-up stops where the person's cumulative hazard reaches tau = max(1, C/|z|): an event
 * counts only if it comes before.  A stopped martingale is a martingale, so that stopping biases nothing where hazards
 * are proportional.  A cut of lengths would.
 *
 * SENSITIVITY  The bound is the last cut: psi/C, all of it, is made no longer than 1 as a real number, and then each
 * coordinate is truncated to the lattice.  What stopping does is no part of the proof.
 *   Moments: a record adds t t^T, and where robust s s^T beside it.  t is the root of a weight times (z, u) over C_h,
 * and s is psi over C_h.  Each is made no longer than 1, or 2^(-1/4) where there are two, and truncated.  So the
 * Frobenius norm of what it adds is at most 1.  Both are semidefinite: replaced, two records are at most sqrt(2) apart.
 *   The change between halves: a sum over time of f (event_k - hazard_k) times a vector, in units of C.  It is made no
 * longer than 1 as scores are.  f and the vector follow from the cell, the row and releases.
 *   z, omega, tau and cells are functions of the row and of earlier releases.  What is not finite adds 0. */
#include "core/alloc.h"
#include "core/processors.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/cox/dpcox.h"

#include <string.h>

void tct_cox_shorten(double *x, int64_t n) {
  double largest = 0, length = 0;
  for (int64_t j = 0; j < n; j++) largest = isfinite(x[j]) ? fmax(largest, fabs(x[j])) : INFINITY;
  if (!(largest < 1e150)) {
    memset(x, 0, (size_t)n * sizeof *x);
    return;
  }
  length = sqrt(tct_norm2(x, n)) * (1 + ((double)n + 16) * 0x1p-52);
  if (!(length > 1)) return;
  double part = (1 - 0x1p-48) / length;
  for (int64_t j = 0; j < n; j++) x[j] *= part;
}

tct_status tct_cox_sum(const tct_cox *run, tct_cox_term term, const void *at, int64_t len, int64_t room, double *sum,
                       tct_error *err) {
  int threads = run->problem->facts->threads;
  int64_t rows = run->problem->view->rows, stride = tct_thread_stride(len + room);
  double *memory = TCT_NEW(double, stride *threads);
  if (!memory) return tct_fail_memory(err);
#pragma omp parallel for schedule(static, 1) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++)
    for (int64_t i = rows * t / threads; i < rows * (t + 1) / threads; i++)
      if (run->time[i] > 0) term(run, i, at, memory + t * stride + len, memory + t * stride);
  memset(sum, 0, (size_t)len * sizeof *sum);
  for (int t = 0; t < threads; t++) tct_axpy(1, memory + t * stride, sum, len);
  tct_wipe_free(memory, stride * threads, sizeof *memory);
  return TCT_OK;
}

/* ---- scores ----------------------------------------------------------------------------------------------------- */

/* The baseline at b.  Sums over the cells before each: of the hazard, and of it times u, times f, and times f u. */
typedef struct baseline {
  const double *theta;
  double rate[TCT_COX_CELLS], sum[TCT_COX_CELLS + 1], bent[TCT_COX_CELLS + 1];
  double clip, lattice, step;
  bool robust;
  const tct_cox_halves *halves;
  double tilt[TCT_COX_CELLS], late[TCT_COX_CELLS + 1], tilted[TCT_COX_CELLS + 1];
} baseline;

static baseline baseline_of(const tct_cox *run, const double *theta, const tct_cox_halves *halves) {
  const tct_cox_hazard *h = &run->hazard;
  baseline out = {.theta = theta, .halves = halves};
  for (int k = 0; k < h->cells; k++) {
    double bend = h->bends ? tct_cox_between(h->centre[k] * theta[run->p], -12, 12) : 0;
    out.rate[k] = h->rate[k] * exp(bend);
    double all = out.rate[k] * (h->edge[k + 1] - h->edge[k]), f = halves ? halves->factor[k] : 0;
    out.tilt[k] = f * h->centre[k];
    out.sum[k + 1] = out.sum[k] + all;
    out.bent[k + 1] = out.bent[k] + all * h->centre[k];
    out.late[k + 1] = out.late[k] + all * f;
    out.tilted[k + 1] = out.tilted[k] + all * out.tilt[k];
  }
  return out;
}

/* A person's follow-up up to its stop: it ends in `cell`, of whose hazard `within` passed: of the person's own where
 * it was stopped, else of the baseline's. */
typedef struct followed {
  int cell;
  double risk, within, passed;
  bool event, stopped;
} followed;

/* The person's hazard times a factor of each cell, given the sums of those before. */
static double passed_of(const followed *f, const double *sum, const double *factor) {
  int k = f->cell;
  return f->stopped ? f->risk * sum[k] + f->within * factor[k] : f->risk * (sum[k] + f->within * factor[k]);
}

static followed follow(const tct_cox *run, int64_t i, const baseline *b) {
  const tct_cox_hazard *h = &run->hazard;
  followed f = {.cell = run->cell[i], .event = run->event[i]};
  f.risk = exp(tct_cox_between(tct_dot(run->z + i * run->p, b->theta, run->p), -30, 12));
  f.within = b->rate[f.cell] * (run->time[i] - h->edge[f.cell]);
  f.passed = f.risk * (b->sum[f.cell] + f.within);
  double tau = run->stop[i];
  if (!(f.passed >= tau)) return f;
  int s = 0;
  while (s + 1 < h->cells && f.risk * b->sum[s + 1] <= tau) s++;
  return (followed){.cell = s, .risk = f.risk, .within = tau - f.risk * b->sum[s], .passed = tau, .stopped = true};
}

/* psi[q] <- the score in units of `clip`; true: the person's event counts. */
static bool score(const tct_cox *run, int64_t i, const baseline *b, double clip, double *psi) {
  const double *z = run->z + i * run->p, *u = run->hazard.centre;
  followed f = follow(run, i, b);
  double unit = run->omega[i] / clip;
  for (int64_t j = 0; j < run->p; j++) psi[j] = unit * (f.event - f.passed) * z[j];
  if (run->hazard.bends) psi[run->p] = unit * ((f.event ? u[f.cell] : 0) - passed_of(&f, b->bent, u));
  return f.event;
}

static void add_score(const tct_cox *run, int64_t i, const void *at, double *room, double *sum) {
  const baseline *b = at;
  score(run, i, b, b->clip, room);
  tct_cox_shorten(room, run->q);
  for (int64_t j = 0; j < run->q; j++) sum[j] += tct_lattice_part(room[j], b->lattice);
}

tct_status tct_cox_gradient(tct_cox *run, int r, const double *theta, double *g, double *deviation, tct_error *err) {
  const tct_release *release = tct_mech_release_of(run->mech, r);
  baseline b = baseline_of(run, theta, NULL);
  double unit = run->clip / (double)run->problem->facts->rows;
  b.clip = run->clip, b.lattice = release->lattice;
  TCT_TRY(tct_cox_sum(run, add_score, &b, run->q, run->q, g, err));
  TCT_TRY(tct_mech_release(run->mech, r, g, run->q, err));
  for (int64_t j = 0; j < run->q; j++) g[j] *= -unit;
  *deviation = release->deviation * unit;
  return TCT_OK;
}

static void add_change(const tct_cox *run, int64_t i, const void *at, double *room, double *sum) {
  const baseline *b = at;
  const tct_cox_halves *of = b->halves;
  const double *z = run->z + i * run->p;
  followed f = follow(run, i, b);
  double late = (f.event ? of->factor[f.cell] : 0) - passed_of(&f, b->late, of->factor);
  double tilted = (f.event ? b->tilt[f.cell] : 0) - passed_of(&f, b->tilted, b->tilt), unit = run->omega[i] / b->clip;
  for (int64_t j = 1; j < run->p; j++)
    room[j - 1] = unit * (late * (z[j] - of->level[j] * z[0]) - tilted * of->bend[j]);
  tct_cox_shorten(room, run->p - 1);
  for (int64_t j = 0; j + 1 < run->p; j++) sum[j] += tct_lattice_part(room[j], b->lattice);
}

tct_status tct_cox_change_sum(tct_cox *run, const double *theta, const tct_cox_halves *halves, double *t,
                              double *deviation, tct_error *err) {
  const tct_release *release = tct_mech_release_of(run->mech, TCT_COX_CHANGE);
  int64_t len = run->p - 1;
  double unit = run->clip / (double)run->problem->facts->rows;
  baseline b = baseline_of(run, theta, halves);
  b.clip = run->clip, b.lattice = release->lattice;
  TCT_TRY(tct_cox_sum(run, add_change, &b, len, len, t, err));
  TCT_TRY(tct_mech_release(run->mech, TCT_COX_CHANGE, t, len, err));
  for (int64_t j = 0; j < len; j++) t[j] *= unit;
  *deviation = release->deviation * unit;
  return TCT_OK;
}

/* ---- moments ---------------------------------------------------------------------------------------------------- */

static const double ROOT_OF_HALF = 0.84089641525; /* below 2^(-1/4) */

static void add_outer(const tct_cox *run, const baseline *b, double *t, double *sum) {
  int64_t q = run->q;
  tct_cox_shorten(t, q);
  for (int64_t j = 0; j < q; j++) t[j] = tct_lattice_part(b->robust ? ROOT_OF_HALF * t[j] : t[j], b->step);
  for (int64_t j = 0; j < q; j++) tct_axpy(t[j], t, sum + j * q, q);
}

/* Under proportional hazards the events' mean of z z^T is that of sum_k hazard_k z z^T, stopped or not.  Events are
 * bounded, hazards have a long tail. */
static void add_moments(const tct_cox *run, int64_t i, const void *at, double *room, double *sum) {
  const baseline *b = at;
  int64_t p = run->p, q = run->q;
  double *t = room + q, root = sqrt(run->omega[i]) / run->moments_clip;
  bool event = score(run, i, b, run->moments_clip, room);
  for (int64_t j = 0; j < p; j++) t[j] = root * run->z[i * p + j];
  if (q > p) t[p] = root * run->hazard.centre[run->cell[i]];
  if (event) add_outer(run, b, t, sum);
  if (b->robust) add_outer(run, b, room, sum + q * q);
}

tct_status tct_cox_moments(tct_cox *run, const double *theta, double *curvature, double *variance, double *deviation,
                           tct_error *err) {
  const tct_release *release = tct_mech_release_of(run->mech, TCT_COX_MOMENTS);
  int64_t square = run->q * run->q, len = (run->rule.robust ? 2 : 1) * square;
  double *sum = TCT_NEW(double, len);
  if (!sum) return tct_fail_memory(err);
  baseline b = baseline_of(run, theta, NULL);
  double unit = run->moments_clip * run->moments_clip / (run->rule.robust ? ROOT_OF_HALF * ROOT_OF_HALF : 1);
  b.step = tct_gram_step(release->lattice), b.robust = run->rule.robust;
  tct_status status = tct_cox_sum(run, add_moments, &b, len, 2 * run->q, sum, err);
  if (status == TCT_OK) status = tct_mech_release(run->mech, TCT_COX_MOMENTS, sum, len, err);
  unit /= (double)run->problem->facts->rows;
  for (int64_t j = 0; j < len; j++) sum[j] *= unit;
  memcpy(curvature, sum, (size_t)square * sizeof *sum);
  tct_symmetrise(curvature, run->q);
  if (variance) memcpy(variance, sum + square, (size_t)square * sizeof *sum), tct_symmetrise(variance, run->q);
  *deviation = release->deviation * unit;
  tct_free(sum);
  return status;
}
