/* onestep_sums.c - what dponestep computes from rows at some weights: counts of terms, gradients, moments.
 *
 * SENSITIVITY  Every release is planned with clip 1, by scaling each record's own term.  A record's offset, added to
 * x_i.w throughout, counts as a part of its row.  omega_i = v_i min(1, (c_z/|z_i|)^2) min(1, h/curve_i) is a function
 * of row i, of its weight v_i in [0, 1], of the weights w and of releases; w, W, G and C are functions of releases.  A
 * row of zeros, or a weight of 0, stands for a record that is not there, and adds nothing.
 *   Counts: a record adds 1 to the one cell, of two lists by its slope's sign, that omega |l'| |G^-1 z_i| belongs to.
 *   Gradients: psi_i = omega_i l'(x_i.w, y_i) is cut until |psi_i| |G^-1 W x_i|/C and both roundings are at most 1, as
 * dpmetric.c proves for its steps.  For logistic loss the cut makes this so for both labels.  Rare counts have another
 * slope in place of l', a function of the row, w and releases; it is cut in the same way.
 *   Moments: a record adds s_i z_i z_i^T, or t_i y_i y_i^T, or a vector of both, z_i and y_i the computed images of its
 * row under W and G^-1 W.  s and t are cut until the root of (s |z|^2)^2 + (t |y|^2)^2 is at most 1, which is the
 * term's Frobenius norm; truncating the entries of sqrt(s) z and sqrt(t) y shortens both (gram.h). Terms of counts have
 * no negative entry, those of moments are semidefinite.  So inner products of two are never below 0, |a - b|^2 <= 2,
 * and under replace_one their sensitivity is sqrt(1/2), as in dpmetric_factor.c.  A term that is not finite is 0. */
#include "core/alloc.h"
#include "la/exact/gradient.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"
#include "solve/shared/clipped.h"

#include <string.h>

static const double SHRINK = 1 - 0x1p-38; /* the margin of a view's rows, with the roundings of a scale to spare */

static bool logistic(const tct_onestep *run) { return run->problem->facts->loss.kind->link == TCT_LINK_LOGISTIC; }

/* Under a wrong mean weights move the target.  Where many rows are far the last gradient has none but its cut. */
static bool weighs_alike(const tct_onestep *run) { return run->heavy && run->last; }

/* omega at a margin. */
static double weight_of(const tct_onestep *run, int64_t i, double margin) {
  const tct_loss *loss = &run->problem->facts->loss;
  if (loss->kind->link != TCT_LINK_LOGISTIC && !loss->kind->counts) return run->omega[i];
  double curve = tct_loss_curve(loss, margin, 1);
  return curve > run->curvature ? run->omega[i] * (run->curvature / curve) : run->omega[i];
}

/* ---- the clip ------------------------------------------------------------------------------------------------ */

static void margins_of(const tct_onestep *run, const double *w, double *margin) {
  tct_margins(run->problem->view, w, margin, run->problem->facts->threads);
  tct_add_offsets(run->problem, 0, run->problem->view->rows, margin);
}

/* count[2][EDGES] <- terms at w. */
static tct_status release_terms(tct_onestep *run, int release, const double *w, double *count, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_loss *loss = &run->problem->facts->loss;
  double *margin = TCT_NEW(double, view->rows);
  if (!margin) return tct_fail_memory(err);
  margins_of(run, w, margin);
  for (int64_t i = 0; i < view->rows; i++) {
    double slope = tct_loss_slope(loss, margin[i], run->problem->y[i]);
    double omega = tct_onestep_weight(run, i) * (weighs_alike(run) ? 1 : weight_of(run, i, margin[i]));
    double size = omega * fabs(slope) * run->length[i] / run->unit;
    if (tct_onestep_there(run, i) && isfinite(size))
      count[(slope > 0 ? 0 : TCT_ONESTEP_EDGES) + tct_onestep_cell(size)] += 1;
  }
  tct_wipe_free(margin, view->rows, sizeof *margin);
  return tct_mech_release(run->mech, release, count, (int64_t)2 * TCT_ONESTEP_EDGES, err);
}

tct_status tct_onestep_set_clip(tct_onestep *run, int counts, int release, double part, const double *w,
                                tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  double count[2 * TCT_ONESTEP_EDGES] = {0}, slope = tct_loss_slope_bound(&facts->loss);
  run->taken = run->unsure = run->lost = 0;
  if (!run->rule.scaled) {
    double noise = tct_mech_release_of(run->mech, release)->deviation / run->rows;
    double free = sqrt(run->typical / (run->rows * run->dimension)) / fmax(noise, 0x1p-300);
    run->clip = logistic(run) ? dponestep_class_clip * run->weight : slope * run->weight;
    if (weighs_alike(run)) run->clip = fmax(run->clip, fmin(free, run->farthest));
    if (!isnan(run->rule.clip)) run->clip = fmin(run->clip, run->rule.clip);
  } else {
    tct_onestep_terms terms = {.count = count, .given = run->rule.clip, .part = part};
    terms.rows = (double)facts->rows, terms.dimension = run->dimension;
    terms.even = facts->loss.kind->link == TCT_LINK_IDENTITY;
    terms.amounts = facts->loss.kind->amounts && run->last;
    terms.most = slope * (weighs_alike(run) ? fmax(2 * run->farthest, run->weight) : run->weight) / run->unit;
    terms.heavy = weighs_alike(run), terms.dispersion = run->dispersion;
    if (facts->loss.kind->counts) terms.typical = run->typical;
    terms.deviation = tct_mech_release_of(run->mech, counts)->deviation;
    terms.noise = tct_mech_release_of(run->mech, release)->deviation / terms.rows;
    TCT_TRY(release_terms(run, counts, w, count, err));
    run->clip = tct_onestep_pick_clip(&terms) * run->unit;
    double of_sum = run->unit * terms.rows / run->rows; /* g is a mean by weights */
    run->taken = terms.taken * of_sum, run->unsure = terms.unsure * of_sum, run->lost = terms.lost * of_sum;
    if (terms.even) { /* a hidden row is as long as the longest, its label half a range off */
      double longest = (weighs_alike(run) ? fmax(run->farthest, run->weight) : run->weight) / terms.rms;
      run->hidden = terms.deviation / terms.rows * longest * longest;
    }
  }
  if (tct_noise_off(facts)) run->taken = run->unsure = run->lost = 0, run->clip = 1e6 * fmin(facts->label_bound, slope);
  return TCT_OK;
}

/* ---- gradients ------------------------------------------------------------------------------------------------ */

tct_status tct_onestep_open_sums(tct_onestep *run, int r, tct_error *err) {
  tct_metric *metric = &run->scaled.metric;
  double inverse = 0;
  for (int64_t k = 0; k < metric->p * metric->p; k++) metric->w[k] = run->shaped.w[k] / run->clip;
  if (!tct_metric_settle(metric)) return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
  TCT_TRY(tct_metric_inverse_size(metric, &inverse, err));
  run->scaled.sensitivity = 2 * inverse;
  tct_dpmetric_step_free(&run->step);
  return tct_dpmetric_step_new(run->problem, &run->scaled, tct_mech_release_of(run->mech, r), &run->step, err);
}

enum { BLOCK = 256 };

/* a[count]: margins -> psi, cut so that the record's term is within what was planned. */
static void factors_of(const void *user, int64_t first, int64_t count, double *a) {
  const tct_onestep *run = user;
  const tct_dpmetric_step *step = &run->step;
  const tct_loss *loss = &run->problem->facts->loss;
  double own = tct_dpmetric_own(step, 1), slope[BLOCK], either[BLOCK];
  bool counts = loss->kind->counts; /* what the cut takes their law gives back */
  for (int64_t from = 0; from < count; from += BLOCK) {
    int64_t some = count - from < BLOCK ? count - from : BLOCK;
    tct_add_offsets(run->problem, first + from, some, a + from);
    loss->kind->slopes(a + from, run->problem->y + first + from, loss->h, slope, some);
    tct_either_sizes(loss, slope, some, either);
    for (int64_t k = 0; k < some; k++) {
      int64_t i = first + from + k;
      double omega = tct_onestep_weight(run, i) * (weighs_alike(run) ? 1 : weight_of(run, i, a[from + k]));
      if (counts) {
        double y = run->problem->y[i], part;
        slope[k] = tct_onestep_cut_count(slope[k] + y, y, own / (omega * step->length[i]), &part);
        either[k] = fabs(slope[k]);
      }
      double psi = omega * slope[k];
      double size = omega * either[k] * step->length[i] * (1 + 0x1p-41);
      if (size > own) psi *= own / size * (1 - 0x1p-48);
      size = fabs(psi) * step->norm[i];
      if (size > run->scaled.sensitivity) psi *= run->scaled.sensitivity / size;
      a[from + k] = isfinite(psi) ? psi : 0;
    }
  }
}

tct_status tct_onestep_gradient(tct_onestep *run, int r, const double *w, double *g, double *deviation,
                                tct_error *err) {
  tct_dpmetric_step *step = &run->step;
  int64_t p = run->problem->view->p;
  tct_gradient_lattice(run->problem->view, w, (tct_factors){factors_of, run}, step->from, step->inner, step->scratch,
                       run->problem->facts->threads);
  tct_metric_times(&run->scaled.metric, step->inner, step->from, step->to, g);
  TCT_TRY(tct_mech_release(run->mech, r, g, p, err));
  for (int64_t j = p - 1; j >= 0; j--) g[j] = run->clip / run->rows * tct_dot(run->factor + j * p, g, j + 1);
  *deviation = step->planned->deviation * run->clip / run->rows;
  return TCT_OK;
}

/* ---- moments -------------------------------------------------------------------------------------------------- */

/* The most that s |z|^2 and t |y|^2 can be, and what both are divided by so that 1/joint[0]^2 + 1/joint[1]^2 <= 1. */
typedef struct units {
  bool wanted[2];
  double most[2], joint[2];
} units;

static units units_of(const tct_onestep *run, const tct_onestep_moments *out) {
  units u = {.wanted = {out->curvature != NULL, out->variance != NULL}, .joint = {1, 1}};
  u.most[0] = run->curvature * run->weight * run->weight, u.most[1] = run->clip * run->clip;
  if (!u.wanted[0] || !u.wanted[1]) return u;
  u.joint[0] = dponestep_joint_curve;
  u.joint[1] = dponestep_joint_curve / sqrt(dponestep_joint_curve * dponestep_joint_curve - 1) * (1 + 0x1p-40);
  return u;
}

/* Without noise nothing is planned but a lattice, and units far above the largest term would be cut to 0 on it. */
static tct_status units_of_rows(const tct_onestep *run, const double *margin, units *u, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_loss *loss = &run->problem->facts->loss;
  double *length = TCT_NEW(double, view->rows), most[2] = {0, 0};
  if (!length) return tct_fail_memory(err);
  tct_status status = tct_metric_lengths(&run->metric, view, length, run->problem->facts->threads, err);
  for (int64_t i = 0; i < view->rows && status == TCT_OK; i++) {
    double y = run->problem->y[i], term = tct_loss_slope(loss, margin[i], y) * run->length[i];
    most[0] = fmax(most[0], tct_loss_curve(loss, margin[i], y) * length[i] * length[i]);
    most[1] = fmax(most[1], term * term);
  }
  tct_wipe_free(length, view->rows, sizeof *length);
  for (int k = 0; k < 2; k++) u->most[k] = fmax(most[k], 0x1p-400);
  return status;
}

/* scale[2]: of a record's two images, whose norms are norm[2], in the two sums. */
static void moment_scales(const tct_onestep *run, const units *u, int64_t i, double margin, const double norm[2],
                          double scale[2]) {
  const tct_loss *loss = &run->problem->facts->loss;
  double y = run->problem->y[i], own = tct_onestep_weight(run, i), weight = own * weight_of(run, i, margin), sum = 0;
  double omega = weighs_alike(run) ? own : weight;
  double slope = tct_loss_slope(loss, margin, y), curve = weight * fmax(tct_loss_curve(loss, margin, y), 0), either;
  double part = 0; /* of the curve, where a slope is cut */
  bool counts = loss->kind->counts;
  if (counts) slope = tct_onestep_cut_count(slope + y, y, run->clip / (omega * run->length[i]), &part);
  tct_either_sizes(loss, &slope, 1, &either);
  double size = either * omega * run->length[i], kept = size > run->clip ? run->clip / size : 1;
  double psi = omega * slope * kept;
  /* A weight keeps its part; a cut slope has no curve.  Along the walk it has that of a weight: where a whole category
   * is cut no step is then too long (iteratively reweighted least squares: Holland, Welsch 1977).  Not of counts, whose
   * dispersion is told by it. */
  if (logistic(run) || !(run->last || counts)) part = kept;
  if ((kept < 1 || counts) && !weighs_alike(run)) curve *= part;
  scale[0] = curve / u->most[0], scale[1] = psi * psi / u->most[1];
  for (int k = 0; k < 2; k++) {
    scale[k] = u->wanted[k] ? scale[k] / u->joint[k] : 0;
    sum += scale[k] * norm[k] * norm[k] * scale[k] * norm[k] * norm[k];
  }
  double cut = SHRINK / fmax(sqrt(sum), 1);
  for (int k = 0; k < 2; k++) scale[k] = isfinite(sum) ? sqrt(scale[k] * cut) * SHRINK : 0;
}

typedef struct moment_room {
  double *image[2], *scale, *margin, *part, *scratch;
  int64_t block, wide, scratch_size;
  double lattice;
} moment_room;

/* sum[][p][p] += the terms of the rows first .. first + count. */
static tct_status add_moments(const tct_onestep *run, const units *u, int64_t first, int64_t count,
                              const moment_room *room, double *sum, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_metric *metric[2] = {&run->metric, &run->shaped};
  int64_t p = view->p;
  int threads = run->problem->facts->threads;
  for (int which = 0; which < 2; which++)
    if (u->wanted[which])
      TCT_TRY(tct_metric_images(metric[which], view, first, count, room->image[which], threads, err));
  for (int64_t k = 0; k < count; k++) {
    double norm[2] = {0, 0}, scale[2];
    for (int which = 0; which < 2; which++)
      if (u->wanted[which])
        norm[which] = sqrt(tct_norm2(room->image[which] + k * room->wide, p)) * (1 + ((double)p + 16) * 0x1p-52);
    moment_scales(run, u, first + k, room->margin[first + k], norm, scale);
    room->scale[k] = scale[0], room->scale[room->block + k] = scale[1];
  }
  for (int which = 0; which < 2; which++) {
    tct_matrix dense = {
        .rows = count, .cols = p, .layout = TCT_DENSE_ROWS, .values = room->image[which], .stride = room->wide};
    tct_view images = {
        .x = &dense, .row_scale = room->scale + which * room->block, .rows = count, .p = p, .row_norm = 1};
    if (!u->wanted[which]) continue;
    tct_gram_lattice(&images, NULL, tct_gram_step(room->lattice), room->part, room->scratch, threads);
    tct_axpy(1, room->part, sum, p * p);
    sum += p * p;
  }
  return TCT_OK;
}

static tct_status room_new(const tct_onestep *run, moment_room *room, tct_error *err) {
  int64_t p = run->problem->view->p, rows = run->problem->view->rows;
  room->wide = tct_metric_wide(&run->metric);
  room->block = ((int64_t)1 << 20) / room->wide;
  room->block = ((room->block < rows ? room->block : rows) + 32) / 32 * 32;
  room->scratch_size = tct_gram_lattice_scratch(p, run->problem->facts->threads);
  for (int which = 0; which < 2; which++) room->image[which] = TCT_NEW(double, room->block * room->wide);
  room->scale = TCT_NEW(double, 2 * room->block);
  room->margin = TCT_NEW(double, rows);
  room->part = TCT_NEW(double, p *p);
  room->scratch = TCT_NEW(double, room->scratch_size);
  bool all = room->image[0] && room->image[1] && room->scale && room->margin && room->part && room->scratch;
  return all ? TCT_OK : tct_fail_memory(err);
}

static void room_free(const tct_onestep *run, moment_room *room) {
  int64_t p = run->problem->view->p;
  for (int which = 0; which < 2; which++) tct_wipe_free(room->image[which], room->block * room->wide, sizeof(double));
  tct_wipe_free(room->scale, 2 * room->block, sizeof(double));
  tct_wipe_free(room->margin, run->problem->view->rows, sizeof(double));
  tct_wipe_free(room->part, p * p, sizeof(double));
  tct_wipe_free(room->scratch, room->scratch_size, sizeof(double));
}

static tct_status sum_moments(const tct_onestep *run, int r, units *u, const double *w, double *sum, tct_error *err) {
  const tct_view *view = run->problem->view;
  moment_room room = {.lattice = tct_mech_release_of(run->mech, r)->lattice};
  tct_status status = room_new(run, &room, err);
  if (status == TCT_OK) margins_of(run, w, room.margin);
  if (status == TCT_OK && tct_noise_off(run->problem->facts)) status = units_of_rows(run, room.margin, u, err);
  for (int64_t from = 0; from < view->rows && status == TCT_OK; from += room.block) {
    int64_t count = view->rows - from < room.block ? view->rows - from : room.block;
    status = add_moments(run, u, from, count, &room, sum, err);
  }
  room_free(run, &room);
  return status;
}

tct_status tct_onestep_release_moments(tct_onestep *run, int r, const double *w, tct_onestep_moments *out,
                                       tct_error *err) {
  int64_t p = run->problem->view->p, square = p * p, count = 0;
  double deviation = tct_mech_release_of(run->mech, r)->deviation / run->rows;
  double *to[2] = {out->curvature, out->variance}, *noise[2] = {&out->curvature_noise, &out->variance_noise};
  units u = units_of(run, out);
  double *sum = TCT_NEW(double, 2 * square), *at = sum;
  tct_status status = sum ? sum_moments(run, r, &u, w, sum, err) : tct_fail_memory(err);
  for (int k = 0; k < 2; k++) count += u.wanted[k] ? square : 0;
  if (status == TCT_OK) status = tct_mech_release(run->mech, r, sum, count, err);
  for (int which = 0; which < 2 && status == TCT_OK; which++) {
    double unit = u.joint[which] * u.most[which];
    if (!u.wanted[which]) continue;
    tct_symmetrise(at, p);
    for (int64_t k = 0; k < square; k++) to[which][k] = at[k] * unit / run->rows;
    *noise[which] = deviation * unit;
    at += square;
  }
  tct_wipe_free(sum, 2 * square, sizeof *sum);
  return status;
}

/* ---- the ridge, which is public --------------------------------------------------------------------------------- */

static int64_t ridged(const tct_onestep *run) {
  const tct_facts *facts = run->problem->facts;
  return facts->p - (facts->intercept ? 1 : 0);
}

void tct_onestep_add_ridge(const tct_onestep *run, double *matrix) {
  const double *w = run->metric.w;
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
    g[j] += run->problem->facts->penalty.l2 * tct_dot(run->metric.w + j * p, w, max);
  }
}
