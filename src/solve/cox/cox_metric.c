/* cox_metric.c - the first three releases of dpcox, and the metric that follows.
 *
 * SENSITIVITY  A row of zeros, or a label of 0, stands for a record that is not there and adds nothing.
 *   Histogram: 1 in one of two counts of a cell, and a number of size at most 1/2 beside them: sqrt(5/4).  Replaced,
 * two records are farthest apart as an event at the end of a cell and an exit at its begin: (1, -1, 1), sqrt(3).
 * Truncation to the lattice makes no coordinate larger; it is done to each record's own, and is 0 to 0.
 *   Columns: (x, x^2/B), divided by their length's bound and then made no longer than 1.
 *   Metric: t t^T with t made no longer than 1 and truncated: Frobenius norm at most 1; replaced, sqrt(2). */
#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/cox/dpcox.h"
#include "solve/cox/rules.def"

#include <string.h>

/* ---- times ------------------------------------------------------------------------------------------------------ */

static int cell_of(double time, int cells) {
  int k = (int)ceil(sqrt(time) * cells) - 1;
  return k < 0 ? 0 : k >= cells ? cells - 1 : k;
}

static void add_time(const tct_cox *run, int64_t i, const void *at, double *room, double *sum) {
  int cells = run->rule.cells, k = cell_of(run->time[i], cells);
  double lattice = ((const tct_release *)at)->lattice, from = tct_cox_edge(k, cells);
  double place = tct_cox_between((run->time[i] - from) / (tct_cox_edge(k + 1, cells) - from), 0, 1) - 0.5;
  (void)room;
  sum[(run->event[i] ? 0 : cells) + k] += tct_lattice_part(1, lattice);
  sum[2 * cells + k] += tct_lattice_part(place, lattice);
}

tct_status tct_cox_histogram(tct_cox *run, tct_error *err) {
  double *counts = run->counts;
  const tct_release *r = tct_mech_release_of(run->mech, TCT_COX_HISTOGRAM);
  int cells = run->rule.cells;
  TCT_TRY(tct_cox_sum(run, add_time, r, 3 * cells, 1, counts, err));
  TCT_TRY(tct_mech_release(run->mech, TCT_COX_HISTOGRAM, counts, 3 * cells, err));
  run->counts_deviation = r->deviation;
  tct_cox_hazards(counts, cells, r->deviation, (double)run->problem->facts->rows, &run->hazard);
  run->q = run->p + run->hazard.bends;
  for (int64_t i = 0; i < run->problem->view->rows; i++) {
    int k = 0;
    while (k + 1 < run->hazard.cells && run->time[i] > run->hazard.edge[k + 1]) k++;
    run->cell[i] = (int8_t)k;
  }
  return TCT_OK;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

typedef struct columns {
  tct_cox_columns of;
  double lattice;
} columns;

static void add_columns(const tct_cox *run, int64_t i, const void *at, double *room, double *sum) {
  const columns *c = at;
  int64_t p = run->p - 1;
  memset(room, 0, (size_t)(2 * p + 1) * sizeof *room);
  double part = 1 - c->lattice * sqrt((double)p) - 0x1p-40; /* what truncation takes of squares */
  tct_row_axpy(run->problem->view, i, 1 / (M_SQRT2 * c->of.reach), room);
  for (int64_t j = 0; j < p; j++) room[p + j] = room[j] * room[j] * M_SQRT2 * c->of.reach / c->of.square;
  tct_cox_shorten(room, 2 * p);
  for (int64_t j = 0; j < 2 * p; j++) sum[j] += tct_lattice_part(part * room[j], c->lattice);
}

/* Means and spreads; a spread is at least what its own noise is. */
static tct_status release_columns(tct_cox *run, double *sum, tct_error *err) {
  const tct_release *r = tct_mech_release_of(run->mech, TCT_COX_COLUMNS);
  int64_t p = run->p - 1;
  columns c = {tct_cox_columns_of(run->problem->facts), r->lattice};
  TCT_TRY(tct_cox_sum(run, add_columns, &c, 2 * p, 2 * p + 1, sum, err));
  TCT_TRY(tct_mech_release(run->mech, TCT_COX_COLUMNS, sum, 2 * p, err));
  double B = c.of.square, unit = M_SQRT2 * c.of.reach / (double)run->problem->facts->rows,
         noise = r->deviation * unit * B;
  for (int64_t j = 0; j < p; j++) {
    double mean = tct_cox_between(sum[j] * unit, -B, B), square = sum[p + j] * unit * B;
    run->mean[j] = mean;
    run->spread[j] = sqrt(fmax(square - mean * mean, fmax(1e-5 * B * B, noise)));
  }
  return TCT_OK;
}

/* ---- the metric ------------------------------------------------------------------------------------------------- */

/* v[p] <- (1, (x - mean)/spread) of row i; the first is what the bound made of the intercept. */
static void standard(const tct_cox *run, int64_t i, double *row, double *v) {
  int64_t p = run->p;
  memset(row, 0, (size_t)p * sizeof *row);
  tct_row_axpy(run->problem->view, i, 1, row);
  v[0] = row[p - 1];
  for (int64_t j = 0; j + 1 < p; j++) v[1 + j] = (row[j] - run->mean[j] * row[p - 1]) / run->spread[j];
}

typedef struct squares {
  double reach, step; /* terms are cut to this length; step of their entries */
  bool of_events;
} squares;

static void add_square(const tct_cox *run, int64_t i, const void *at, double *room, double *sum) {
  const squares *s = at;
  int64_t p = run->p;
  double *v = room + p;
  if (s->of_events && !run->event[i]) return;
  standard(run, i, room, v);
  for (int64_t j = 0; j < p; j++) v[j] /= s->reach;
  tct_cox_shorten(v, p);
  for (int64_t j = 0; j < p; j++) v[j] = tct_lattice_part(v[j], s->step);
  for (int64_t j = 0; j < p; j++) tct_axpy(v[j], v, sum + j * p, p);
}

/* a[p][p] <- Q max(l, floor) Q^T of a = Q l Q^T; room: [p][p] and 4 p.  d <- the sum of l0/(l0 + ridge), l0 = l - ridge
 * in a's own units. */
static bool lift(double *a, int64_t p, double floor, double ridge, double *room, double *dimension) {
  double *vector = room, *value = room + p * p;
  if (!tct_eigenvectors(a, p, value, vector, value + p)) return false;
  *dimension = 0;
  memset(a, 0, (size_t)(p * p) * sizeof *a);
  for (int64_t k = 0; k < p; k++) {
    *dimension += fmax(value[k] - ridge, 0) / fmax(value[k], ridge);
    for (int64_t j = 0; j < p; j++) tct_axpy(fmax(value[k], floor) * vector[k * p + j], vector + k * p, a + j * p, p);
  }
  return true;
}

/* inverse[q][q] <- L^-1 of gram/mass, and 1 for u. */
static tct_status factor(tct_cox *run, double *gram, double noise, double mass, double *room, tct_error *err) {
  int64_t p = run->p, q = run->q;
  double ridge = dpcox_metric_ridge * sqrt(2 * (double)p) * noise / mass, least = 1e-9;
  for (int64_t j = 0; j < p * p; j++) gram[j] /= mass;
  tct_symmetrise(gram, p);
  for (int64_t j = 0; j < p; j++) gram[j * p + j] += ridge;
  bool known = lift(gram, p, fmax(ridge / 16, least), ridge, room, &run->dimension) && tct_cholesky(gram, p);
  if (!known) return tct_fail(err, TCT_E_RUN, "the released metric cannot be factored; give more epsilon");
  run->dimension = fmax(run->dimension, 1) + run->hazard.bends;
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = j + 1; k < p; k++) gram[j * p + k] = 0;
  tct_lower_invert(gram, p, room);
  for (int64_t j = 0; j < p; j++) memcpy(run->inverse + j * q, gram + j * p, (size_t)p * sizeof *gram);
  if (q > p) run->inverse[q * q - 1] = 1;
  return TCT_OK;
}

/* C_h in units of the root of the dimension: not so large that the curvature, about the events' share in every
 * direction, is lost in its own noise. */
static double moments_clip(const tct_cox *run, double factor) {
  double noise = tct_mech_release_of(run->mech, TCT_COX_MOMENTS)->deviation * (run->rule.robust ? M_SQRT2 : 1);
  double most = dpcox_moments_signal * run->hazard.events / (noise * sqrt(2 * (double)run->q) * run->dimension);
  double least = fmin(dpcox_clip_least, factor);
  return tct_cox_between(fmin(dpcox_moments_clip * factor, sqrt(most)), least, factor);
}

/* C and C_h from the released information. */
static void settle(tct_cox *run) {
  double root = sqrt(run->dimension), factor = run->rule.clip;
  run->information = run->hazard.events * run->mu / run->dimension;
  if (isnan(factor))
    factor = tct_cox_between(dpcox_clip_per_root * sqrt(run->information * run->mu), dpcox_clip_least, dpcox_clip_most);
  double moments = moments_clip(run, factor);
  if (tct_noise_off(run->problem->facts) && isnan(run->rule.clip)) factor = moments = 1e3;
  run->clip = factor * root;
  run->moments_clip = moments * root;
}

static tct_status images(tct_cox *run, double *room, tct_error *err) {
  int64_t p = run->p, rows = run->problem->view->rows;
  run->z = tct_alloc_by(run->problem->facts->threads, rows * p, sizeof(double));
  if (!run->z) return tct_fail_memory(err);
  for (int64_t i = 0; i < rows; i++) {
    double *z = run->z + i * p, *v = room + p;
    if (!(run->time[i] > 0)) continue;
    standard(run, i, room, v);
    for (int64_t j = 0; j < p; j++) z[j] = tct_dot(run->inverse + j * run->q, v, j + 1);
    double length = fmax(sqrt(tct_norm2(z, p)), 0x1p-400);
    run->omega[i] = fmin(1, run->clip / length);
    run->stop[i] = fmax(1, run->clip / length);
  }
  return TCT_OK;
}

tct_status tct_cox_metric(tct_cox *run, tct_error *err) {
  const tct_release *r = tct_mech_release_of(run->mech, TCT_COX_METRIC);
  int64_t p = run->p, q = run->q;
  double *memory = TCT_NEW(double, 2 * p * p + 8 * p), *gram = memory, *room = gram ? gram + p * p : NULL;
  double events = run->hazard.events, known = events * run->mu * run->mu / (double)q;
  bool of_events = events * run->mu / fmax((double)p - 1, 1) >= dpcox_few_events;
  run->inverse = TCT_NEW(double, q *q);
  if (!memory || !run->inverse) return tct_free(memory), tct_fail_memory(err);
  double clip =
      tct_cox_between(dpcox_moments_clip * dpcox_clip_per_root * sqrt(known), dpcox_clip_least, dpcox_metric_clip_most);
  squares s = {.reach = clip * sqrt((double)p), .step = tct_gram_step(r->lattice), .of_events = of_events};
  double unit = s.reach * s.reach;
  tct_status status = release_columns(run, room, err);
  if (status == TCT_OK) status = tct_cox_sum(run, add_square, &s, p * p, 2 * p, gram, err);
  if (status == TCT_OK) status = tct_mech_release(run->mech, TCT_COX_METRIC, gram, p * p, err);
  for (int64_t j = 0; j < p * p && status == TCT_OK; j++) gram[j] *= unit;
  if (status == TCT_OK)
    status = factor(run, gram, r->deviation * unit, of_events ? events : (double)run->problem->facts->rows, room, err);
  if (status == TCT_OK) settle(run), status = images(run, room, err);
  tct_free(memory);
  return status;
}
