/* dpmetric_factor.c - the releases behind the metric of dpmetric, and the metric.
 *
 * SENSITIVITY  Every release here is planned with clip 1, by scaling each record's own term.
 *   Counts of norms and sums of labels: a record of weight v adds a v to the one count that its norm belongs to.  It
 *     adds b v |y|/Y to one of two sums, by the label's sign, or b v to the count of its class.  Under add_remove and
 * without weights it adds b y/Y to the first of them.  A count adds b v (y/Y, 1 where y > 0), and offsets of a log link
 * add e^o, at most 1, over the root of how many these are.  a^2 + b^2 = 1 and |y| <= Y, each cut to the lattice: norm
 * <= v.
 * Counts of slopes: v in one count, by the slope at the start, a function of the release before: norm <= v. G: t_i
 * t_i^T, with t_i the row cut to norm B, divided by B and times the root of its weight, truncated to a lattice: norm
 * |t_i|^2 <= v_i (gram.h).  B is a function of the counts' release. Diagonal G: the squares of t_i, cut so that their
 * norm is at most 1. Second release: the same as G, with the computed image of the row under the first W in place of
 * the row, cut to norm rho.  Whatever the image's error, it is a function of this row and of releases.
 *
 * A person's terms add up to at most the sum of the weights, 1.  Under replace_one no term has a negative entry, or a
 * negative inner product with another: |a - b|^2 <= |a|^2 + |b|^2 <= 2.  There an event's shift is twice its
 * sensitivity, and the sensitivity is sqrt(1/2). */
#include "core/alloc.h"
#include "core/stop.h"
#include "la/exact/gram.h"
#include "la/exact/shells.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "solve/gradient/dpmetric.h"
#include "solve/gradient/rules.def"
#include "solve/shared/clipped.h"
#include "solve/shared/quantile.h"
#include "solve/shared/rules.def"
#include "solve/shared/share.h"

#include <string.h>

static const double SHRINK = 1 - 0x1p-38; /* the margin of a view's rows, with the roundings of a scale to spare */

typedef struct making {
  const tct_problem *problem;
  const tct_facts *facts;
  tct_mech *mech;
  tct_dpmetric_rule rule;
  tct_dpmetric_places at;
  double base;      /* noise of one release that had all of the budget, so that mu = 1/base */
  double bound;     /* B: rows are cut to it in G */
  double *norm;     /* [rows] */
  double *gram;     /* [count]: the released matrix of t t^T, or its diagonal */
  double noise;     /* of gram: deviation of an entry on the diagonal */
  tct_view view;    /* the rows of G; row_scale is its own */
  int64_t p, count; /* count: p*p or p */
  int64_t classes;  /* of a joint loss, else 1 */
} making;

static const tct_release *planned(const making *m, int r) { return tct_mech_release_of(m->mech, r); }

/* The norm that cuts G's rows: |x|, or for a diagonal G the fourth root of the sum of x_j^4. */
static void norms(const making *m) {
  (m->rule.diagonal ? tct_row_fourths : tct_row_norms)(m->problem->view, m->norm, m->facts->threads);
}

static double label_bound(const making *m) { return m->facts->loss.kind->binary ? 1 : m->facts->label_bound; }

static bool with_offsets(const making *m) { return m->problem->offset && m->facts->loss.kind->link == TCT_LINK_LOG; }

/* So many numbers the labels have beside the counts of norms. */
static int64_t label_places(const making *m) {
  if (!(m->rule.start > 0)) return 0;
  return m->classes > 1 ? m->classes : 2 + (m->facts->loss.kind->counts && with_offsets(m));
}

/* How long a record's terms are in the counts of norms and in the sums of labels: squares add up to 1. */
static double in_labels(const making *m) { return sqrt(m->rule.start / (m->rule.norms + m->rule.start)); }
static double in_counts(const making *m) { return sqrt(m->rule.norms / (m->rule.norms + m->rule.start)); }

/* Whether labels are added up with their signs: n is public, so that one sum says all, with half of the variance. Under
 * replace_one signs would double the shift, and weights have a sum of their own. */
static bool with_signs(const making *m) { return m->facts->neighbours == TCT_ADD_REMOVE && !m->problem->weight; }

/* Of a count its size and whether it is above 0.  With offsets a mean is that of y over that of e^offset.  The numbers
 * are together `length` long. */
static bool with_rates(const making *m) { return m->facts->loss.kind->counts || with_offsets(m); }
static void add_rate(const making *m, const tct_release *r, double length, int64_t i, double *to) {
  int64_t places = label_places(m);
  double part = length * sqrt(1 / (double)places) * SHRINK, y = m->problem->y[i], at[3] = {y / label_bound(m), y > 0};
  if (with_offsets(m)) at[places - 1] = exp(m->problem->offset[i]);
  for (int64_t k = 0; k < places; k++) to[k] += tct_lattice_part(part * fmin(fmax(at[k], 0), 1), r->lattice);
}

/* sum[EDGES + label_places] <- counts of norms, and the sums of labels above and below 0 in units of Y, or of all
 * labels and 0.  Of a joint loss: the counts of classes. */
static void count_rows(const making *m, const tct_release *r, double *sum) {
  const tct_problem *problem = m->problem;
  for (int64_t i = 0; i < problem->view->rows; i++) {
    int at = tct_quantile_bin(m->norm[i], m->facts->row_norm);
    double weight = (problem->weight ? problem->weight[i] : 1) * r->clip, y = problem->y[i] / label_bound(m);
    if (at < 0) continue; /* a row of zeros adds nothing */
    sum[at] += tct_lattice_part(weight * in_counts(m), r->lattice);
    if (!(m->rule.start > 0)) continue;
    if (m->classes > 1)
      sum[TCT_QUANTILE_EDGES + (int64_t)problem->y[i]] += tct_lattice_part(weight * in_labels(m), r->lattice);
    else if (with_rates(m))
      add_rate(m, r, weight * in_labels(m), i, sum + TCT_QUANTILE_EDGES);
    else if (with_signs(m))
      sum[TCT_QUANTILE_EDGES] += tct_lattice_part(in_labels(m) * fmin(fmax(y, -1), 1) * r->clip, r->lattice);
    else
      sum[TCT_QUANTILE_EDGES + (y < 0)] += tct_lattice_part(weight * in_labels(m) * fmin(fabs(y), 1), r->lattice);
  }
}

static double class_loss(const making *m, double z, double positives) {
  const tct_loss *loss = &m->facts->loss;
  return positives * tct_loss_value(loss, z, 1) + (1 - positives) * tct_loss_value(loss, z, -1);
}

/* From the sums of add_rate, of `all` records, and their noise: where counts start. */
static void start_counts(const making *m, const double *sum, double noise, double all, tct_dpmetric_shape *shape) {
  double part = sqrt(1 / (double)label_places(m)) * in_labels(m) * all, deviation = noise / part;
  double mean = tct_count_mean(sum[0] / part, sum[1] / part, label_bound(m), deviation, all);
  shape->curvature = fmin(shape->curvature, dpmetric_count_means * (mean + 2 * deviation));
  shape->origin[0] = tct_loss_constant_number(&m->facts->loss, mean, 0);
  if (with_offsets(m)) shape->origin[0] -= log(fmin(fmax(sum[2] / part, fmax(deviation, 1 / all)), 1));
}

/* The model that looks at no feature, from the released sums: where the path starts. */
static void start(const making *m, const double *sum, double deviation, tct_dpmetric_shape *shape) {
  double n = (double)m->facts->rows, all = 0, up = sum[TCT_QUANTILE_EDGES] / in_labels(m);
  double down = sum[TCT_QUANTILE_EDGES + 1] / in_labels(m), noise = deviation / in_labels(m), apart = up - down;
  for (int k = 0; k < TCT_QUANTILE_EDGES; k++) all += sum[k] / in_counts(m);
  if (m->facts->loss.kind->binary) all = up + down;
  if (!m->problem->weight || (!m->facts->loss.kind->binary && !(m->rule.norms > 0))) all = n;
  all = fmax(all, fmax(noise, 0x1p-900));
  if (m->facts->loss.kind->counts) {
    start_counts(m, sum + TCT_QUANTILE_EDGES, deviation, all, shape);
    return;
  }
  if (with_offsets(m)) all = fmax(down, noise), apart = up;
  if (with_signs(m))
    apart = up;
  else
    noise *= M_SQRT2;
  if (m->facts->loss.kind->binary) {
    double positives = tct_share_after_noise(0.5 + 0.5 * apart / all, 0.5 * fmax(noise, 1) / all);
    shape->origin[0] = tct_loss_constant_class(&m->facts->loss, positives);
    shape->constant = class_loss(m, shape->origin[0], positives);
  } else {
    double bound = label_bound(m), mean = fmin(fmax(apart / all * bound, -bound), bound);
    shape->origin[0] = tct_loss_constant_number(&m->facts->loss, mean, fmin(noise / all * bound, bound));
  }
}

/* The same of many classes: log of the released counts, each at least one record or one deviation of its noise. */
static void start_joint(const making *m, const double *sum, double deviation, tct_dpmetric_shape *shape) {
  double noise = deviation / in_labels(m), mean = 0, all = 0, middle = 0;
  for (int64_t k = 0; k < m->classes; k++) {
    double count = fmax(sum[TCT_QUANTILE_EDGES + k] / in_labels(m), fmax(noise, 1));
    shape->origin[k] = log(count), all += count, mean += count * log(count);
  }
  shape->constant = log(all) - mean / all;
  for (int64_t k = 0; k < m->classes; k++) middle += shape->origin[k] / (double)m->classes;
  for (int64_t k = 0; k < m->classes; k++) shape->origin[k] -= middle;
}

/* sum[EDGES + label_places] <- the first release. */
static tct_status release_counts(making *m, double *sum, tct_dpmetric_shape *shape, tct_error *err) {
  double R = m->facts->row_norm;
  const tct_release *counts = planned(m, m->at.norms);
  count_rows(m, counts, sum);
  TCT_TRY(tct_mech_release(m->mech, m->at.norms, sum, TCT_QUANTILE_EDGES + label_places(m), err));
  double most = in_counts(m) * (double)m->facts->rows;
  m->bound = tct_quantile_beyond_noise(sum, R, dpmetric_within, counts->deviation, most);
  if (m->bound < R) m->bound *= 1 + 1e-9;
  if (m->rule.start > 0) (m->classes > 1 ? start_joint : start)(m, sum, counts->deviation, shape);
  return TCT_OK;
}

static tct_status first_counts(making *m, tct_dpmetric_shape *shape, tct_error *err) {
  m->bound = m->facts->row_norm;
  shape->curvature = tct_dpmetric_curvature(m->facts);
  shape->constant = m->classes > 1 ? log((double)m->classes) : tct_loss_value(&m->facts->loss, 0, 1);
  if (!(m->rule.norms + m->rule.start > 0)) return TCT_OK;
  int64_t count = TCT_QUANTILE_EDGES + label_places(m) + 2;
  double *sum = TCT_NEW(double, count);
  tct_status status = sum ? release_counts(m, sum, shape, err) : tct_fail_memory(err);
  tct_wipe_free(sum, sum ? count : 0, sizeof *sum);
  return status;
}

/* Labels that are numbers: slopes at the start, which the clip is measured by. */
static tct_status second_counts(making *m, tct_dpmetric_shape *shape, tct_error *err) {
  const tct_problem *problem = m->problem;
  double count[TCT_QUANTILE_EDGES] = {0}, top = tct_dpmetric_slope(m->facts);
  shape->slope = top;
  if (!(m->rule.slopes > 0)) return TCT_OK;
  const tct_release *counts = planned(m, m->at.slopes);
  if (!isfinite(tct_loss_slope_bound(&m->facts->loss))) top *= 2; /* |y| + |start| */
  for (int64_t i = 0; i < problem->view->rows; i++) {
    double z = shape->origin[0] * problem->view->row_scale[i] * problem->view->intercept;
    tct_add_offsets(problem, i, 1, &z);
    int at = tct_quantile_bin(fabs(tct_loss_slope(&m->facts->loss, z, problem->y[i])), top);
    if (at < 0 || tct_quantile_bin(m->norm[i], m->facts->row_norm) < 0) continue;
    count[at] += tct_lattice_part((problem->weight ? problem->weight[i] : 1) * counts->clip, counts->lattice);
  }
  TCT_TRY(tct_mech_release(m->mech, m->at.slopes, count, TCT_QUANTILE_EDGES, err));
  shape->slope = tct_quantile_between(count, top, dpmetric_within, 0);
  if (m->facts->loss.kind->counts &&
      m->rule.start > 0) /* most are 0, and their slopes are not typical of the others' */
    shape->slope = fmax(shape->slope, sqrt(shape->curvature / dpmetric_count_means));
  return TCT_OK;
}

/* sum[count] <- the sum of t t^T, or of t's squares. */
static tct_status add_up(const making *m, const tct_view *view, double lattice, double *sum, tct_error *err) {
  double step = tct_gram_step(lattice);
  int threads = m->facts->threads;
  int64_t room = m->rule.diagonal ? threads * 2 * m->p : tct_gram_lattice_scratch(m->p, threads);
  double *scratch = TCT_NEW(double, room);
  if (!scratch) return tct_fail_memory(err);
  (m->rule.diagonal ? tct_squares_lattice : tct_gram_lattice)(view, m->problem->weight, step, sum, scratch, threads);
  tct_wipe_free(scratch, room, sizeof *scratch);
  return TCT_OK;
}

/* Release r of the rows of G. */
static tct_status rows_once(making *m, int r, double *sum, tct_error *err) {
  TCT_TRY(add_up(m, &m->view, planned(m, r)->lattice, sum, err));
  TCT_TRY(tct_mech_release(m->mech, r, sum, m->count, err));
  if (!m->rule.diagonal) tct_symmetrise(sum, m->p);
  return TCT_OK;
}

static tct_status first(making *m, tct_dpmetric_shape *shape, tct_error *err) {
  const tct_view *view = m->problem->view;
  m->view = *view;
  m->view.row_norm = 1;
  m->view.row_scale = TCT_NEW(double, view->rows);
  m->norm = TCT_NEW(double, view->rows);
  m->gram = TCT_NEW(double, m->count);
  if (!m->view.row_scale || !m->norm || !m->gram) return tct_fail_memory(err);
  norms(m);
  TCT_TRY(first_counts(m, shape, err));
  TCT_TRY(second_counts(m, shape, err));
  for (int64_t i = 0; i < view->rows; i++)
    m->view.row_scale[i] = view->row_scale[i] / fmax(m->bound, m->norm[i]) * SHRINK;
  m->noise = planned(m, m->at.first)->deviation;
  return rows_once(m, m->at.first, m->gram, err);
}

/* ---- from a release to W --------------------------------------------------------------------------------- */

/* One rank's metric for all. */
static tct_status share(const making *m, tct_dpmetric_shape *shape, tct_error *err) {
  double *at[] = {&shape->dimension, &shape->clip,     &shape->path_length, &shape->sensitivity,
                  &shape->slope,     &shape->constant, &shape->curvature};
  double facts[sizeof at / sizeof *at];
  for (size_t k = 0; k < sizeof at / sizeof *at; k++) facts[k] = *at[k];
  TCT_TRY(tct_mech_join_first(m->mech, shape->metric.w, tct_metric_count(&shape->metric), err));
  TCT_TRY(tct_mech_join_first(m->mech, facts, sizeof facts / sizeof *facts, err));
  for (size_t k = 0; k < sizeof at / sizeof *at; k++) *at[k] = facts[k];
  TCT_TRY(tct_mech_join_first(m->mech, shape->origin, m->classes, err));
  if (!tct_metric_settle(&shape->metric))
    return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
  shape->signal_to_noise = m->base > 0 ? (double)m->facts->rows / (m->base * shape->dimension) : INFINITY;
  return TCT_OK;
}

/* W and d from m->gram, whose copy goes through sum[count]. */
static tct_status make_metric(const making *m, double *sum, tct_dpmetric_shape *shape, tct_error *err) {
  double unit = shape->curvature / (double)m->facts->rows * m->bound * m->bound;
  tct_dpmetric_released from = {m->facts, m->noise, unit, 1};
  memcpy(sum, m->gram, (size_t)m->count * sizeof *sum);
  if (m->rule.diagonal)
    tct_dpmetric_whiten_diagonal(&from, sum, shape);
  else
    TCT_TRY(tct_dpmetric_whiten(&from, true, sum, shape, err));
  return share(m, shape, err);
}

/* ---- the second release ---------------------------------------------------------------------------------- */

static tct_status second_images(const making *m, double cut, double *sum, tct_dpmetric_shape *shape, tct_error *err) {
  const tct_release *images = planned(m, m->at.second);
  double h = shape->curvature;
  double rho2 = cut * shape->dimension / h;
  tct_shells_of all = {
      .view = m->problem->view, .weight = m->problem->weight, .metric = &shape->metric, .scale = 1, .count = 1};
  all.radius[0] = sqrt(rho2), all.lattice = images->lattice, all.threads = m->facts->threads;
  TCT_TRY(tct_shells_sum(&all, sum, err));
  TCT_TRY(tct_mech_release(m->mech, m->at.second, sum, m->count, err));
  tct_symmetrise(sum, m->p);
  double unit = h / (double)m->facts->rows * rho2;
  tct_dpmetric_released from = {m->facts, images->deviation, unit, dpmetric_images_ridge};
  TCT_TRY(tct_dpmetric_whiten(&from, false, sum, shape, err));
  return share(m, shape, err);
}

/* Where images are mostly noise: G once more, and the mean of both by their variances. */
static tct_status second_rows(making *m, double *sum, tct_dpmetric_shape *shape, tct_error *err) {
  double other = planned(m, m->at.second)->deviation, both = m->rule.budget_fraction + m->rule.second;
  TCT_TRY(rows_once(m, m->at.second, sum, err));
  for (int64_t k = 0; k < m->count; k++)
    m->gram[k] = (m->rule.budget_fraction * m->gram[k] + m->rule.second * sum[k]) / both;
  m->noise = m->noise > 0 ? 1 / sqrt(1 / (m->noise * m->noise) + 1 / (other * other)) : 0;
  return make_metric(m, sum, shape, err);
}

/* ---- clip and path --------------------------------------------------------------------------------------- */

static tct_status settle(const making *m, tct_dpmetric_shape *shape, tct_error *err) {
  const tct_facts *facts = m->facts;
  double h = shape->curvature, inverse = 0, unit = shape->slope * sqrt(shape->dimension / h);
  double mean = m->base / ((double)facts->rows * sqrt(tct_dpmetric_left(&m->rule)));
  double clip = tct_dpmetric_clip(facts, shape->signal_to_noise, shape->dimension);
  if (facts->loss.kind->counts) clip = fmax(clip, counts_clip * fmax(1 / shape->slope, 1));
  if (!facts->loss.kind->binary) shape->constant = shape->slope * shape->slope / (2 * h);
  shape->path_length =
      isnan(m->rule.path_length) ? tct_dpmetric_path_length(facts, shape, clip * unit * mean) : m->rule.path_length;
  if (!isnan(m->rule.clip)) clip = m->rule.clip;
  if (tct_noise_off(facts)) clip = fmax(clip, 1e6);
  shape->clip = clip * unit;
  for (int64_t k = 0; k < tct_metric_count(&shape->metric); k++) shape->metric.w[k] /= shape->clip;
  TCT_TRY(tct_metric_inverse_size(&shape->metric, &inverse, err));
  shape->sensitivity = 2 * inverse;
  if (isfinite(tct_loss_slope_bound(&facts->loss)))
    shape->sensitivity = fmin(shape->sensitivity, tct_dpmetric_slope(facts) * facts->row_norm);
  return share(m, shape, err);
}

tct_status tct_dpmetric_release(const tct_problem *problem, const tct_dpmetric_rule *rule, tct_mech *mech,
                                tct_dpmetric_shape *shape, tct_error *err) {
  making m = {.problem = problem, .facts = problem->facts, .mech = mech, .p = problem->view->p, .rule = *rule};
  m.classes = tct_loss_outputs(&problem->facts->loss);
  m.at = tct_dpmetric_places_of(rule);
  if (rule->budget_fraction > 0) /* else these are dpmetric's own releases */
    m.base = planned(&m, m.at.first)->noise * sqrt(rule->budget_fraction);
  else
    m.base = planned(&m, m.at.steps)->noise * sqrt(tct_dpmetric_left(rule) / (double)rule->steps);
  m.count = m.rule.diagonal ? m.p : m.p * m.p;
  double *sum = TCT_NEW(double, m.count);
  tct_status status = sum ? tct_metric_new(m.p, m.rule.diagonal, &shape->metric, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_dpmetric_shape_new(m.classes, shape, err);
  if (status == TCT_OK) status = first(&m, shape, err);
  if (status == TCT_OK) status = make_metric(&m, sum, shape, err);
  double cut = 0;
  if (status == TCT_OK && !m.rule.diagonal) cut = tct_dpmetric_cut(shape->signal_to_noise, m.rule.second, m.p);
  if (status == TCT_OK && m.rule.second > 0)
    status = cut > 0 ? second_images(&m, cut, sum, shape, err) : second_rows(&m, sum, shape, err);
  if (status == TCT_OK) status = settle(&m, shape, err);
  tct_wipe_free(m.view.row_scale, problem->view->rows, sizeof(double));
  tct_wipe_free(m.norm, problem->view->rows, sizeof(double));
  tct_wipe_free(m.gram, m.count, sizeof(double));
  tct_wipe_free(sum, m.count, sizeof(double));
  return status;
}
