/* onestep_sums.c - what dponestep computes from rows: weights, counts of residuals, gradients, moments.
 *
 * SENSITIVITY  Every release is planned with clip 1, by scaling each record's own term.  A record's offset, added to
 * x_i.w throughout, counts as a part of its row.
 *   omega_i = min(1, (c_z/|z_i|)^2) is a function of row i and of releases.  For counts it is multiplied, before the
 * last gradient, by min(1, h/e^(x_i.w)), h from the residuals' counts: again of row i and of releases. Counts of
 * residuals: a record adds 1 to the one count that its |residual| belongs to.  A row of zeros stands for a record that
 * is not there, and adds nothing. Gradients: psi_i = omega_i l'(x_i.w, y_i) is cut until |psi_i| |W x_i|/C and both
 * roundings are at most 1, as dpmetric.c proves for its steps; W, C and w are functions of releases.  For logistic loss
 * the cut makes this so for both labels. Moments: a record
 * adds (s_i z_i z_i^T, t_i z_i z_i^T) to one vector of two matrices, z_i the computed image of its row.  s and t are
 * cut until the root of (s |z|^2)^2 + (t |z|^2)^2 is at most 1, which is the term's Frobenius norm; truncating the
 * entries of sqrt(s) z and sqrt(t) z shortens both (gram.h). Terms of counts have no negative entry, those of moments
 * are semidefinite.  So inner products of two are never below 0, |a - b|^2 <= 2, and under replace_one their
 * sensitivity is sqrt(1/2), as in dpmetric_factor.c. */
#include "core/alloc.h"
#include "la/exact/gradient.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"
#include "solve/shared/clipped.h"

#include <string.h>

static const double SHRINK = 1 - 0x1p-38; /* the margin of a view's rows, with the roundings of a scale to spare */

/* ---- the unit metric ---------------------------------------------------------------------------------------- */

/* The Frobenius norm of the inverse of the lower triangular w[p][p]; column: [p]. */
static double inverse_size(const double *w, int64_t p, double *column) {
  double sum = 0;
  for (int64_t c = 0; c < p; c++) {
    for (int64_t j = c; j < p; j++)
      column[j] = ((j == c) - (j > c ? tct_dot(w + j * p + c, column + c, j - c) : 0)) / w[j * p + j];
    sum += tct_norm2(column + c, p - c);
  }
  return sqrt(sum);
}

/* W in units of the root of d/h, so that images have length about 1. */
static tct_status to_units(tct_onestep *run, tct_error *err) {
  tct_dpmetric_shape *shape = &run->shape;
  int64_t p = shape->metric.p;
  double *column = TCT_NEW(double, p);
  if (!column) return tct_fail_memory(err);
  double root = sqrt(shape->dimension / tct_dpmetric_curvature(run->problem->facts));
  for (int64_t k = 0; k < p * p; k++) shape->metric.w[k] *= shape->clip / root;
  bool finite = tct_metric_settle(&shape->metric);
  run->inverse = inverse_size(shape->metric.w, p, column);
  shape->clip = root;
  tct_free(column);
  return finite && isfinite(run->inverse) ? TCT_OK
                                          : tct_fail(err, TCT_E_DATA, "the metric is not finite; scale the columns");
}

static tct_status weigh(tct_onestep *run, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_facts *facts = run->problem->facts;
  run->weight = tct_onestep_weight(facts, &run->rule, run->shape.signal_to_noise);
  TCT_TRY(tct_metric_lengths(&run->shape.metric, view, run->omega, facts->threads, err));
  for (int64_t i = 0; i < view->rows; i++) {
    double part = run->weight / fmax(run->omega[i], 0x1p-400);
    run->omega[i] = fmin(1, part * part);
  }
  return TCT_OK;
}

tct_status tct_onestep_begin(tct_onestep *run, const tct_solver_plan *plan, tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  run->rule = tct_onestep_rule_of(facts, &plan->spec);
  run->at = tct_onestep_places_of(&run->rule);
  run->omega = TCT_NEW(double, run->problem->view->rows);
  if (!run->omega) return tct_fail_memory(err);
  tct_dpmetric_rule metric = tct_onestep_metric_rule(facts, &run->rule);
  TCT_TRY(tct_dpmetric_release(run->problem, &metric, run->mech, &run->shape, err));
  TCT_TRY(to_units(run, err));
  TCT_TRY(tct_metric_new(facts->p, false, &run->scaled.metric, err));
  return weigh(run, err);
}

void tct_onestep_free(tct_onestep *run) {
  tct_dpmetric_step_free(&run->step);
  tct_metric_free(&run->shape.metric);
  tct_metric_free(&run->scaled.metric);
  tct_wipe_free(run->omega, run->problem->view->rows, sizeof(double));
}

/* ---- the clip ------------------------------------------------------------------------------------------------ */

/* Where between its edges, in equal ratios, `wanted` of the released counts is reached; at or below the edge. */
static double within_edges(double edge, double before, double count, double wanted) {
  double part = count > 0 ? fmin(fmax((wanted - before) / count, 0), 1) : 1;
  return edge * exp2((part - 1) / 3);
}

static void margins_of(const tct_onestep *run, const double *w, double *margin) {
  tct_margins(run->problem->view, w, margin, run->problem->facts->threads);
  tct_add_offsets(run->problem, 0, run->problem->view->rows, margin);
}

/* The least edge that at least 68 of 100 records' |residuals| lie within: a deviation, if they are normal. */
static tct_status residual_scale(tct_onestep *run, int release, const double *w, double *scale, tct_error *err) {
  enum { EDGES = TCT_ONESTEP_EDGES };
  const tct_view *view = run->problem->view;
  const tct_loss *loss = &run->problem->facts->loss;
  double count[EDGES] = {0}, all = 0, within = 0, top = 4 * run->problem->facts->label_bound;
  double *margin = TCT_NEW(double, view->rows);
  if (!margin) return tct_fail_memory(err);
  margins_of(run, w, margin);
  double none = 0x1p-60 * run->problem->facts->row_norm;
  for (int64_t i = 0; i < view->rows; i++) {
    if (!(tct_row_norm2(view, i) > none * none)) continue; /* a row of zeros adds nothing */
    double at = floor(3 * log2(top / fabs(tct_loss_slope(loss, margin[i], run->problem->y[i]))));
    count[!(at > 0) ? 0 : at >= EDGES ? EDGES - 1 : (int)at] += 1;
  }
  tct_wipe_free(margin, view->rows, sizeof *margin);
  TCT_TRY(tct_mech_release(run->mech, release, count, EDGES, err));
  for (int k = 0; k < EDGES; k++) all += count[k];
  int k = EDGES - 1;
  for (; k > 0; k--) {
    within += count[k];
    if (within >= 0.68 * all) break;
  }
  *scale = top * exp2(-k / 3.0);
  bool whole = loss->kind->link == TCT_LINK_IDENTITY && *scale < tct_loss_slope_bound(loss);
  run->residual = whole ? within_edges(*scale, within - count[k], count[k], 0.6827 * all) : NAN;
  return TCT_OK;
}

tct_status tct_onestep_set_clip(tct_onestep *run, double factor, int scale_release, int release, const double *w,
                                tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  double slope = tct_loss_slope_bound(&facts->loss), scale = 0;
  bool robust_end = run->rule.robust && scale_release == run->at.scale[2];
  tct_metric *metric = &run->scaled.metric;
  if (run->rule.scaled) TCT_TRY(residual_scale(run, scale_release, w, &scale, err));
  run->clip = fmin(run->rule.scaled ? factor * scale : factor, slope * run->weight);
  if (tct_noise_off(facts)) run->clip = 1e6 * fmin(facts->label_bound, slope);
  run->curvature = tct_dpmetric_curvature(facts);
  if (facts->loss.kind->link == TCT_LINK_LOG && !tct_noise_off(facts))
    run->curvature = fmin(
        run->curvature, (robust_end ? dponestep_robust_count_curve_most : dponestep_count_curve_most) * scale * scale);
  for (int64_t k = 0; k < metric->p * metric->p; k++) metric->w[k] = run->shape.metric.w[k] / run->clip;
  if (!tct_metric_settle(metric)) return tct_fail(err, TCT_E_DATA, "the metric is not finite; scale the columns");
  run->scaled.sensitivity = 2 * run->inverse * run->clip;
  tct_dpmetric_step_free(&run->step);
  return tct_dpmetric_step_new(run->problem, &run->scaled, tct_mech_release_of(run->mech, release), &run->step, err);
}

tct_status tct_onestep_reweigh(tct_onestep *run, const double *w, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_loss *loss = &run->problem->facts->loss;
  if (!(run->curvature < tct_dpmetric_curvature(run->problem->facts))) return TCT_OK;
  double *margin = TCT_NEW(double, view->rows);
  if (!margin) return tct_fail_memory(err);
  margins_of(run, w, margin);
  for (int64_t i = 0; i < view->rows; i++)
    run->omega[i] *= fmin(1, run->curvature / tct_loss_curve(loss, margin[i], run->problem->y[i]));
  tct_wipe_free(margin, view->rows, sizeof *margin);
  return TCT_OK;
}

/* ---- gradients ------------------------------------------------------------------------------------------------ */

enum { BLOCK = 256 };

static bool logistic(const tct_onestep *run) { return run->problem->facts->loss.kind->link == TCT_LINK_LOGISTIC; }

/* a[count]: margins -> psi, cut so that the record's term is within what was planned. */
static void factors_of(const void *user, int64_t first, int64_t count, double *a) {
  const tct_onestep *run = user;
  const tct_dpmetric_step *step = &run->step;
  const tct_loss *loss = &run->problem->facts->loss;
  double own = tct_dpmetric_own(step, 1), slope[BLOCK], either[BLOCK];
  for (int64_t from = 0; from < count; from += BLOCK) {
    int64_t some = count - from < BLOCK ? count - from : BLOCK;
    tct_add_offsets(run->problem, first + from, some, a + from);
    loss->kind->slopes(a + from, run->problem->y + first + from, loss->h, slope, some);
    tct_either_sizes(loss, slope, some, either);
    for (int64_t k = 0; k < some; k++) {
      int64_t i = first + from + k;
      double psi = run->omega[i] * slope[k];
      double size = run->omega[i] * either[k] * step->length[i] * (1 + 0x1p-41);
      if (size > own) psi *= own / size * (1 - 0x1p-48);
      size = fabs(psi) * step->norm[i];
      if (size > run->scaled.sensitivity) psi *= run->scaled.sensitivity / size;
      a[from + k] = psi;
    }
  }
}

tct_status tct_onestep_gradient(tct_onestep *run, int r, const double *w, double *g, double *deviation,
                                tct_error *err) {
  tct_dpmetric_step *step = &run->step;
  int64_t p = run->problem->view->p;
  double rows = (double)run->problem->facts->rows;
  tct_gradient_lattice(run->problem->view, w, (tct_factors){factors_of, run}, step->from, step->inner, step->scratch,
                       run->problem->facts->threads);
  tct_metric_times(&run->scaled.metric, step->inner, step->from, step->to, g);
  TCT_TRY(tct_mech_release(run->mech, r, g, p, err));
  for (int64_t j = 0; j < p; j++) g[j] *= run->clip / rows;
  *deviation = step->planned->deviation * run->clip / rows;
  return TCT_OK;
}

/* ---- moments -------------------------------------------------------------------------------------------------- */

/* The most that s |z|^2 and t |z|^2 can be: units of both sums. */
typedef struct units {
  double curvature, variance, joint;
} units;

/* Logistic loss: with q the probability of the likelier label a record's curve is at most 4q(1-q) and its squared slope
 * min(1, q c_z/C)^2, in their units. */
static double joint_at(const tct_onestep *run, double q) {
  double curve = 4 * q * (1 - q), slope = fmin(1, q * run->weight / run->clip);
  return curve * curve + slope * slope * slope * slope;
}

/* The largest over q in [1/2, 1]: the sum has a kink at q = C/c_z.  Elsewhere it is smooth. */
static double joint_of_classes(const tct_onestep *run) {
  enum { POINTS = 1024 };
  double largest = joint_at(run, fmin(fmax(run->clip / run->weight, 0.5), 1));
  for (int k = 0; k <= POINTS; k++) largest = fmax(largest, joint_at(run, 0.5 + 0.5 * k / POINTS));
  return sqrt(largest) * (1 + 1e-4);
}

static units units_of(const tct_onestep *run) {
  units u = {.curvature = run->curvature * run->weight * run->weight, .variance = run->clip * run->clip};
  u.joint = !run->rule.sandwich ? 1 : logistic(run) ? joint_of_classes(run) : M_SQRT2;
  return u;
}

/* Without noise nothing is planned but a lattice, and units far above the largest term would be cut to 0 on it. */
static tct_status units_of_rows(const tct_onestep *run, const double *margin, units *u, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_facts *facts = run->problem->facts;
  double *length = TCT_NEW(double, view->rows), curvature = 0, slope = 0;
  if (!length) return tct_fail_memory(err);
  tct_status status = tct_metric_lengths(&run->shape.metric, view, length, facts->threads, err);
  for (int64_t i = 0; i < view->rows && status == TCT_OK; i++) {
    double y = run->problem->y[i];
    curvature = fmax(curvature, tct_loss_curve(&facts->loss, margin[i], y) * length[i] * length[i]);
    slope = fmax(slope, fabs(tct_loss_slope(&facts->loss, margin[i], y)) * length[i]);
  }
  tct_wipe_free(length, view->rows, sizeof *length);
  u->curvature = fmax(curvature, 0x1p-400), u->variance = fmax(slope * slope, 0x1p-400);
  return status;
}

/* scale[0..count), scale[count..2 count): of images whose norm is `norm`, for the two sums. */
static void moment_scales(const tct_onestep *run, const units *u, int64_t i, double margin, double norm,
                          double scale[2]) {
  const tct_loss *loss = &run->problem->facts->loss;
  double y = run->problem->y[i], omega = run->omega[i];
  double slope = tct_loss_slope(loss, margin, y), curve = omega * fmax(tct_loss_curve(loss, margin, y), 0);
  double size;
  tct_either_sizes(loss, &slope, 1, &size);
  size *= omega * norm;
  double kept = size > run->clip ? run->clip / size : 1;
  double psi = omega * slope * kept;
  if (kept < 1) curve *= logistic(run) ? kept : 0; /* a weight keeps its part; a cut slope has no curve */
  scale[0] = curve / (u->curvature * u->joint);
  scale[1] = run->rule.sandwich ? psi * psi / (u->variance * u->joint) : 0;
  size = norm * norm * sqrt(scale[0] * scale[0] + scale[1] * scale[1]);
  double cut = SHRINK / fmax(size, 1);
  for (int k = 0; k < 2; k++) scale[k] = isfinite(size) ? sqrt(scale[k] * cut) * SHRINK : 0;
}

/* sum[2][p][p] += the terms of the rows first .. first + count; image, scale, margin: room. */
typedef struct moment_room {
  double *image, *scale, *margin, *part, *scratch;
  int64_t block, wide, scratch_size;
  double lattice;
} moment_room;

static tct_status add_moments(const tct_onestep *run, const units *u, int64_t first, int64_t count,
                              const moment_room *room, double *sum, tct_error *err) {
  const tct_view *view = run->problem->view;
  int64_t p = view->p;
  TCT_TRY(tct_metric_images(&run->shape.metric, view, first, count, room->image, run->problem->facts->threads, err));
  for (int64_t k = 0; k < count; k++) {
    double norm = sqrt(tct_norm2(room->image + k * room->wide, p)) * (1 + ((double)p + 16) * 0x1p-52), scale[2];
    moment_scales(run, u, first + k, room->margin[first + k], norm, scale);
    room->scale[k] = scale[0], room->scale[room->block + k] = scale[1];
  }
  tct_matrix dense = {.rows = count, .cols = p, .layout = TCT_DENSE_ROWS, .values = room->image, .stride = room->wide};
  for (int which = 0; which < (run->rule.sandwich ? 2 : 1); which++) {
    tct_view images = {
        .x = &dense, .row_scale = room->scale + which * room->block, .rows = count, .p = p, .row_norm = 1};
    tct_gram_lattice(&images, NULL, tct_gram_step(room->lattice), room->part, room->scratch,
                     run->problem->facts->threads);
    tct_axpy(1, room->part, sum + which * p * p, p * p);
  }
  return TCT_OK;
}

static tct_status room_new(const tct_onestep *run, moment_room *room, tct_error *err) {
  int64_t p = run->problem->view->p, rows = run->problem->view->rows;
  room->wide = tct_metric_wide(&run->shape.metric);
  room->block = ((int64_t)1 << 20) / room->wide;
  room->block = ((room->block < rows ? room->block : rows) + 32) / 32 * 32;
  room->scratch_size = tct_gram_scratch(p, run->problem->facts->threads);
  room->image = TCT_NEW(double, room->block * room->wide);
  room->scale = TCT_NEW(double, 2 * room->block);
  room->margin = TCT_NEW(double, run->problem->view->rows);
  room->part = TCT_NEW(double, p *p);
  room->scratch = TCT_NEW(double, room->scratch_size);
  return room->image && room->scale && room->margin && room->part && room->scratch ? TCT_OK : tct_fail_memory(err);
}

static void room_free(const tct_onestep *run, moment_room *room) {
  int64_t p = run->problem->view->p;
  tct_wipe_free(room->image, room->block * room->wide, sizeof(double));
  tct_wipe_free(room->scale, 2 * room->block, sizeof(double));
  tct_wipe_free(room->margin, run->problem->view->rows, sizeof(double));
  tct_wipe_free(room->part, p * p, sizeof(double));
  tct_wipe_free(room->scratch, room->scratch_size, sizeof(double));
}

static tct_status sum_moments(const tct_onestep *run, units *u, const double *w, double *sum, tct_error *err) {
  const tct_view *view = run->problem->view;
  moment_room room = {0};
  tct_status status = room_new(run, &room, err);
  room.lattice = tct_mech_release_of(run->mech, run->at.moments)->lattice;
  if (status == TCT_OK) margins_of(run, w, room.margin);
  if (status == TCT_OK && tct_noise_off(run->problem->facts)) status = units_of_rows(run, room.margin, u, err);
  for (int64_t from = 0; from < view->rows && status == TCT_OK; from += room.block) {
    int64_t count = view->rows - from < room.block ? view->rows - from : room.block;
    status = add_moments(run, u, from, count, &room, sum, err);
  }
  room_free(run, &room);
  return status;
}

tct_status tct_onestep_release_moments(tct_onestep *run, const double *w, tct_onestep_moments *out, tct_error *err) {
  int64_t p = run->problem->view->p, count = run->rule.sandwich ? 2 * p * p : p * p;
  double rows = (double)run->problem->facts->rows;
  units u = units_of(run);
  out->curvature = TCT_NEW(double, count);
  if (!out->curvature) return tct_fail_memory(err);
  TCT_TRY(sum_moments(run, &u, w, out->curvature, err));
  TCT_TRY(tct_mech_release(run->mech, run->at.moments, out->curvature, count, err));
  double deviation = tct_mech_release_of(run->mech, run->at.moments)->deviation / rows;
  tct_symmetrise(out->curvature, p);
  for (int64_t k = 0; k < p * p; k++) out->curvature[k] *= u.joint * u.curvature / rows;
  out->curvature_noise = deviation * u.joint * u.curvature;
  if (!run->rule.sandwich) return TCT_OK;
  out->variance = out->curvature + p * p;
  tct_symmetrise(out->variance, p);
  for (int64_t k = 0; k < p * p; k++) out->variance[k] *= u.joint * u.variance / rows;
  out->variance_noise = deviation * u.joint * u.variance;
  return TCT_OK;
}

/* ---- the ridge, which is public --------------------------------------------------------------------------------- */

static int64_t ridged(const tct_onestep *run) {
  const tct_facts *facts = run->problem->facts;
  return facts->p - (facts->intercept ? 1 : 0);
}

void tct_onestep_add_ridge(const tct_onestep *run, double *matrix) {
  const double *w = run->shape.metric.w;
  int64_t p = run->problem->view->p, count = ridged(run);
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k < p; k++) {
      int64_t min = (j < k ? j : k) + 1;
      matrix[j * p + k] += run->problem->facts->penalty.l2 * tct_dot(w + j * p, w + k * p, min < count ? min : count);
    }
}

void tct_onestep_add_slope(const tct_onestep *run, const double *w, double *g) {
  int64_t p = run->problem->view->p, count = ridged(run);
  for (int64_t j = 0; j < p; j++) {
    int64_t max = j + 1 < count ? j + 1 : count;
    g[j] += run->problem->facts->penalty.l2 * tct_dot(run->shape.metric.w + j * p, w, max);
  }
}
