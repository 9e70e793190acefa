/* onestep_metric.c - the metric of dponestep from four releases, and what counts of lengths say.
 *
 * SENSITIVITY  Every release is planned with clip 1, by scaling each record's own term; a row of zeros stands for a
 * record that is not there, and adds nothing.  x is a row, |x| <= R as exact reals.  v is a record's weight over the
 * cap, in [0, 1], and 1 where records are not weighed.
 *   Sums: a record adds v (x/R, its label's numbers)/sqrt(2).  Of a class that is the class's sign, of a number y/Y, of
 * a count the pair (1 where y > 0, y/Y)/sqrt(2).  Both halves are at most 1 long, and truncating to the lattice
 * shortens.  Weighed records add a third number, v.  Exposures of a log link add v e^o, e^o cut to 1.  The root is then
 * that of 3 or 4, one for each part.
 *   Squares: v (x_j/R)^2, whose l2 norm is at most their sum, v |x|^2/R^2.  Matrices: v t t^T, t the computed image
 * over its length or the radius, whichever is more (shells.h).  Lengths: v in the cell of the computed length. W, and
 * what images are, follow from releases alone.  Under replace_one two records' squares, matrices and counts have no
 * negative inner product, so |a - b|^2 <= 2 where the event counts on 4: their sensitivity is sqrt(1/2).  Sums are
 * charged in full. */
#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/shells.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"
#include "solve/shared/share.h"

#include <string.h>

enum { LOW = -16 };                       /* the least edge is 2^(LOW/2) */
static const double SHRINK = 1 - 0x1p-38; /* the margin of a view's rows, with the roundings of a scale to spare */
static const double LEAST = 1e-9;         /* of a column, where no noise says more */
static const double LEAST_IMAGE = 1e-4;   /* of a direction of images */
static const double MOST_WEIGHT = 1000;   /* as good as none */

int tct_onestep_cell(double size) {
  double at = ceil(2 * log2(size)) - LOW;
  return !(at > 0) ? 0 : at >= TCT_ONESTEP_EDGES ? TCT_ONESTEP_EDGES - 1 : (int)at;
}
double tct_onestep_edge(int k) { return exp2((k + LOW) / 2.0); }

/* A row of zeros is not. */
bool tct_onestep_there(const tct_onestep *run, int64_t row) {
  double none = 0x1p-60 * run->problem->facts->row_norm;
  return tct_onestep_weight(run, row) > 0 && tct_row_norm2(run->problem->view, row) > none * none;
}

static const tct_release *planned(const tct_onestep *run, int r) { return tct_mech_release_of(run->mech, r); }

/* n mu, from the planned noise; infinite without. */
static double all_signal(const tct_onestep *run) { return run->rule.signal * (double)run->problem->facts->p; }

/* ---- sums of rows and labels ------------------------------------------------------------------------------------ */

enum { NUMBERS = 4 }; /* at most */

static bool exposed(const tct_onestep *run) {
  return run->problem->offset && run->problem->facts->loss.kind->link == TCT_LINK_LOG;
}

/* What a record adds beside its row: the label's two, the weight, and the weight times the exposure. */
static int numbers_of(const tct_onestep *run) { return 2 + (run->problem->weight != NULL) + exposed(run); }

static void of_record(const tct_onestep *run, int64_t i, double number[NUMBERS]) {
  const tct_facts *facts = run->problem->facts;
  bool counts = facts->loss.kind->counts;
  double y = run->problem->y[i], part = fmin(fmax(y / facts->label_bound, -1), 1), v = tct_onestep_weight(run, i);
  number[0] = v * (counts ? M_SQRT1_2 * (y > 0) : part);
  number[1] = counts ? v * M_SQRT1_2 * part : 0;
  number[2] = v;
  if (exposed(run)) number[numbers_of(run) - 1] = v * fmin(exp(run->problem->offset[i]), 1);
}

/* The margin that is best for all records alike, and the curve there; mean: of the numbers, with noise. */
static void start_at(tct_onestep *run, const double *mean, double noise) {
  const tct_facts *facts = run->problem->facts;
  const tct_loss *loss = &facts->loss;
  double y = facts->label_bound;
  if (loss->kind->binary) {
    double q = fmax(noise, 0.5 / run->rows) / 2;
    run->start = tct_loss_constant_class(loss, tct_share_after_noise(0.5 + 0.5 * mean[0], q));
  } else if (loss->kind->counts) {
    double at = tct_count_mean(M_SQRT2 * mean[1], M_SQRT2 * mean[0], y, M_SQRT2 * noise, run->rows);
    run->start = tct_loss_constant_number(loss, at, 0.5 / run->rows);
  } else
    run->start = tct_loss_constant_number(loss, fmin(fmax(mean[0] * y, -y), y), 0);
  run->typical = fmax(tct_loss_curve(loss, run->start, loss->kind->binary ? 1 : exp(run->start)), 0x1p-300);
  if (loss->kind->link == TCT_LINK_IDENTITY || loss->kind->link == TCT_LINK_NONE)
    run->typical = tct_dpmetric_curvature(facts);
  if (exposed(run)) run->start -= log(fmin(fmax(mean[numbers_of(run) - 1], fmax(noise, 1 / run->rows)), 1));
}

/* From here on n is the sum of weights, as released. */
static void weigh(tct_onestep *run, double sum, double deviation) {
  double all = run->rows;
  run->rows = fmin(fmax(sum, fmax(2 * deviation, 1)), all);
  run->rule.signal *= run->rows / all;
}

static tct_status release_sums(tct_onestep *run, double *sum, double *row, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_release *r = planned(run, run->at.sums);
  int64_t p = view->p, numbers = numbers_of(run);
  double part = SHRINK / sqrt((double)numbers), number[NUMBERS], R = run->problem->facts->row_norm;
  memset(sum, 0, (size_t)(p + numbers) * sizeof *sum);
  for (int64_t i = 0; i < view->rows; i++) {
    if (!tct_onestep_there(run, i)) continue;
    memset(row, 0, (size_t)p * sizeof *row);
    tct_row_axpy(view, i, part * tct_onestep_weight(run, i) / R, row);
    of_record(run, i, number);
    for (int64_t j = 0; j < p; j++) sum[j] += tct_lattice_part(row[j], r->lattice);
    for (int64_t k = 0; k < numbers; k++) sum[p + k] += tct_lattice_part(part * number[k], r->lattice);
  }
  TCT_TRY(tct_mech_release(run->mech, run->at.sums, sum, p + numbers, err));
  if (run->problem->weight) weigh(run, sum[p + 2] / part, r->deviation / part);
  for (int64_t j = 0; j < p + numbers; j++) sum[j] *= (j < p ? R : 1) / (part * run->rows);
  for (int64_t j = 0; j < p; j++) run->mean[j] = fmin(fmax(sum[j], -R), R); /* as that of rows */
  start_at(run, sum + p, r->deviation / (part * run->rows));
  return TCT_OK;
}

/* ---- the metric -------------------------------------------------------------------------------------------------- */

/* W <- L^-1/root, L L^T = s + shift I with the least shift that works; s[p][p]: second moments of the rows. */
static tct_status whiten(tct_onestep *run, const double *s, double root, double *room, tct_error *err) {
  int64_t p = run->metric.p;
  double shift = 0, trace = 0;
  for (int64_t j = 0; j < p; j++) trace += fabs(s[j * p + j]);
  while (!tct_cholesky_shifted(s, p, shift, run->metric.w) && isfinite(shift))
    shift = fmax(2 * shift, fmax(1e-12 * trace, 0x1p-1000)); /* s may hold what is no number */
  tct_lower_invert(run->metric.w, p, room);
  for (int64_t k = 0; k < p * p; k++) run->metric.w[k] /= root;
  return tct_metric_settle(&run->metric) ? TCT_OK
                                         : tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
}

/* s <- second moments of columns that go their own ways, of these means and squares. */
static tct_status release_squares(tct_onestep *run, double *s, double *room, tct_error *err) {
  const tct_view *view = run->problem->view;
  const tct_release *r = planned(run, run->at.squares);
  int64_t p = view->p;
  double R = run->problem->facts->row_norm, noise = R * R * r->deviation / run->rows;
  double *sum = room, *row = room + p, least = fmax(noise, LEAST * R * R);
  memset(sum, 0, (size_t)p * sizeof *sum);
  for (int64_t i = 0; i < view->rows; i++) {
    memset(row, 0, (size_t)p * sizeof *row);
    tct_row_axpy(view, i, SHRINK / R, row);
    double part = tct_onestep_weight(run, i) * SHRINK;
    for (int64_t j = 0; j < p; j++) sum[j] += tct_lattice_part(row[j] * row[j] * part, r->lattice);
  }
  TCT_TRY(tct_mech_release(run->mech, run->at.squares, sum, p, err));
  for (int64_t j = 0; j < p; j++) {
    double variance = sum[j] * R * R / run->rows - run->mean[j] * run->mean[j];
    for (int64_t k = 0; k < p; k++) s[j * p + k] = run->mean[j] * run->mean[k];
    s[j * p + j] += fmax(variance, least) + least / 2;
  }
  return whiten(run, s, sqrt((double)p), room, err);
}

/* s[p][p] <- W^-1 (Q up Q^T) W^-T: second moments of rows from those of images, eigenvalues up[p] of the columns of
 * vectors[k][p]; room: [2 p p + p]. */
static void back_to_rows(const tct_onestep *run, const double *up, const double *vectors, double *room, double *s) {
  int64_t p = run->metric.p;
  double *inverse = room, *part = room + p * p;
  memcpy(inverse, run->metric.w, (size_t)(p * p) * sizeof *inverse);
  tct_lower_invert(inverse, p, part);
  memset(s, 0, (size_t)(p * p) * sizeof *s);
  for (int64_t k = 0; k < p; k++) { /* s += up_k t t^T, t = W^-1 q_k */
    for (int64_t j = 0; j < p; j++) part[j] = tct_dot(inverse + j * p, vectors + k * p, j + 1);
    for (int64_t j = 0; j < p; j++) tct_axpy(up[k] * part[j], part, s + j * p, p);
  }
}

/* Is this the variance of a column of the values 0 and 1, of which a share from low to one of these is the larger?  It
 * is share (1 - share), less what the cut of its images takes; numbers have less. */
static bool of_two_values(double variance, double low, double high, double other, double spread) {
  low = fmin(fmax(low, 0), 1), high = fmin(fmax(high, 0), 1), other = fmin(fmax(other, 0), 1);
  double left = fmin(1, dponestep_matrix_radius * dponestep_matrix_radius * low * spread) * low * (1 - low);
  double most = fmax(high * (1 - high), other * (1 - other));
  return variance > dponestep_two_values * left && variance * dponestep_two_values < most;
}

/* The ridge of a column of the values 0 and 1, 1 for this share.  Cut images have less than its variance, share (1 -
 * share): *lost, which is no ridge.  Rows that are far by a rare category are counted. */
static double of_category(tct_onestep *run, double share, double variance, double spread, double ridge, double *lost) {
  share = fmin(fmax(share, 0), 1);
  double rare = fmin(share, 1 - share);
  double filled = spread * rare, kept = dponestep_matrix_radius * dponestep_matrix_radius * filled / (1 + filled);
  *lost = fmin(fmax(share * (1 - share) - variance, 0), fmax(1 - kept * kept, 0) * share * (1 - share));
  ridge = fmax(ridge - *lost, 0);
  double length2 = 1 + (1 - rare) * (1 - rare) / (spread * (fmax(variance, 0) + *lost + ridge));
  if (length2 > dponestep_far_from * dponestep_far_from) run->categories += rare;
  return ridge;
}

/* The ridge of 0/1 columns, or of -1 and 1, told by their released means and variances: a rare category's image is then
 * not much longer than the others'.  unseen <- of columns of more values, 0 of others. */
static void ridges(tct_onestep *run, double *s, double spread, double ridge, bool last_matrix, double *out) {
  const tct_facts *facts = run->problem->facts;
  int64_t p = run->metric.p, last = p - 1;
  double R = facts->row_norm, hidden = planned(run, run->at.lengths)->deviation / run->rows;
  double off = facts->intercept ? 0 : 2 * M_SQRT2 * R * planned(run, run->at.sums)->deviation / run->rows;
  double reach = tct_onestep_reach(run);
  run->categories = 0;
  for (int64_t j = 0; j < p; j++) {
    double all = facts->intercept ? s[last * p + last] : 1,
           mean = facts->intercept ? s[j * p + last] / all : run->mean[j];
    double variance = s[j * p + j] / all - mean * mean, half = 0.5 + mean / 2, lost = 0;
    double near = off + 0.2 * sqrt(fmax(variance, 0)); /* noise takes a rare category to its end and beyond */
    double seen = facts->intercept && last_matrix ? near : off;
    bool ones = facts->intercept && j == last;
    bool alike = of_two_values(variance, mean - off, mean + off, mean + seen, spread);
    bool signs =
        last_matrix && !alike && of_two_values(variance / 4, half - off / 2, half + off / 2, half + seen / 2, spread);
    double unit2 = signs ? 4 : 1; /* bounds 0 and 1 are scaled to -1 and 1 */
    out[j] = run->unseen[j] = 0;
    if ((alike || signs) && !ones)
      out[j] = unit2 *
               of_category(run, signs ? 0.5 + run->mean[j] / 2 : run->mean[j], variance / unit2, spread, ridge, &lost);
    s[j * p + j] += unit2 * lost;
    double end = mean + near, at = half + near / 2;
    alike |= of_two_values(variance, mean - off, end, end, spread);
    if (!alike && !ones && !of_two_values(variance / 4, half - off / 2, at, at, spread))
      run->unseen[j] = fmax(hidden * reach * reach / variance, 0);
  }
}

/* W from second moments s of the rows and `spread`, how many directions they fill; d and the images' second moment.
 * room: [2 p]. */
static tct_status settle(tct_onestep *run, double *s, double spread, bool last, double *room, tct_error *err) {
  int64_t p = run->metric.p;
  double longest =
      fmin(fmax(dponestep_rare_per_root * sqrt(all_signal(run) / spread), dponestep_rare_least), dponestep_rare_most);
  double *ridge = room + p, d = (double)p, *w = run->metric.w;
  ridges(run, s, spread, dponestep_rare_ridge / (spread * (longest * longest - 1)), last, ridge);
  for (int64_t j = 0; j < p; j++) s[j * p + j] += ridge[j];
  TCT_TRY(whiten(run, s, 1, room, err));
  for (int64_t j = 0; j < p; j++)
    for (int64_t c = 0; c <= j; c++) d -= ridge[c] * w[j * p + c] * w[j * p + c];
  run->dimension = fmax(d, 1);
  for (int64_t k = 0; k < p * p; k++) w[k] /= sqrt(run->dimension);
  if (!tct_metric_settle(&run->metric)) return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
  for (int64_t j = 0; j < p; j++)
    for (int64_t k = 0; k < p; k++) {
      double sum = (j == k) / run->dimension;
      for (int64_t c = 0; c <= j && c <= k; c++) sum -= ridge[c] * w[j * p + c] * w[k * p + c];
      run->second[j * p + k] = sum;
    }
  return TCT_OK;
}

/* The matrix of images under W, and W from it. */
static tct_status release_matrix(tct_onestep *run, double *s, bool last, double *room, tct_error *err) {
  const tct_release *r = planned(run, run->at.gram);
  const tct_facts *facts = run->problem->facts;
  int64_t p = run->metric.p;
  double *vectors = room, *value = vectors + p * p, *rest = value + p, spread = 0;
  double scale = dponestep_matrix_radius * dponestep_matrix_radius / run->rows;
  tct_shells_of all = {
      .view = run->problem->view, .weight = run->problem->weight, .metric = &run->metric, .scale = 1, .count = 1};
  all.radius[0] = dponestep_matrix_radius, all.lattice = r->lattice, all.threads = facts->threads;
  TCT_TRY(tct_shells_sum(&all, s, err));
  TCT_TRY(tct_mech_release(run->mech, run->at.gram, s, p * p, err));
  tct_symmetrise(s, p);
  for (int64_t k = 0; k < p * p; k++) s[k] *= scale;
  if (!tct_eigenvectors(s, p, value, vectors, rest)) { /* nothing is learnt */
    memset(vectors, 0, (size_t)(p * p) * sizeof *vectors);
    for (int64_t k = 0; k < p; k++) value[k] = 1 / (double)p, vectors[k * p + k] = 1;
  }
  double floor = fmax(dponestep_matrix_lift * scale * r->deviation * sqrt(2 * (double)p), LEAST_IMAGE);
  for (int64_t k = 0; k < p; k++) {
    double up = fmax(value[k], floor);
    spread += fmax(value[k], 0) / up, value[k] = up;
  }
  back_to_rows(run, value, vectors, rest, s);
  return settle(run, s, fmax(spread, 1), last, rest, err);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* h in curves at the start, which grows without end where noise is next to nothing. */
static double curves_kept(const tct_onestep *run) {
  return fmax(dponestep_curve_least, dponestep_curve_per_signal * run->rule.signal);
}

/* c_z from released counts of lengths, and whether many rows are far. */
static void take_lengths(tct_onestep *run, const double *count, double deviation) {
  double all = 0, far = 0, cells = 0, p = (double)run->metric.p, kept = 0, weight = dponestep_weight_least;
  bool classes = run->problem->facts->loss.kind->link == TCT_LINK_LOGISTIC; /* a weight biases nothing */
  double step = dponestep_weight_step, wanted = classes ? dponestep_class_kept : dponestep_kept,
         sure[TCT_ONESTEP_EDGES];
  double most = tct_dpmetric_curvature(run->problem->facts);
  run->curvature = fmin(most, curves_kept(run) * run->typical);
  double noise = 1 / (all_signal(run) * sqrt(run->rule.moments)) * dponestep_joint_curve;
  double room = sqrt(dponestep_open_noise * run->typical / (run->curvature * run->dimension * noise * sqrt(2 * p)));
  double top = fmin(fmax(room, weight), MOST_WEIGHT);
  for (int k = 0; k < TCT_ONESTEP_EDGES; k++) {
    double edge = tct_onestep_edge(k), middle = edge * exp2(-0.25);
    sure[k] = count[k] > 3 * deviation ? count[k] : 0;
    all += sure[k] * middle * middle;
    if (count[k] > dponestep_sure * deviation) run->farthest = edge;
    if (edge > dponestep_far_from && edge < dponestep_far_to) far += count[k], cells++;
  }
  run->heavy = far / run->rows - run->categories >
               fmax(dponestep_far_share, dponestep_far_sure * deviation * sqrt(cells) / run->rows);
  for (; weight < top; weight += step, kept = 0) {
    for (int k = 0; k < TCT_ONESTEP_EDGES; k++) {
      double middle = fmin(tct_onestep_edge(k) * exp2(-0.25), weight);
      kept += sure[k] * middle * middle;
    }
    if (kept >= wanted * all) break;
  }
  run->weight = run->heavy ? (classes ? dponestep_far_class_weight : 1) * top : fmin(weight, top);
  run->weight = fmin(fmax(run->weight, dponestep_weight_per_room * room), MOST_WEIGHT);
  if (!isnan(run->rule.weight)) run->weight = run->rule.weight;
}

static tct_status release_lengths(tct_onestep *run, tct_error *err) {
  const tct_view *view = run->problem->view;
  double count[TCT_ONESTEP_EDGES] = {0};
  TCT_TRY(tct_metric_lengths(&run->metric, view, run->length, run->problem->facts->threads, err));
  double lattice = planned(run, run->at.lengths)->lattice;
  for (int64_t i = 0; i < view->rows; i++)
    if (tct_onestep_there(run, i) && isfinite(run->length[i]))
      count[tct_onestep_cell(run->length[i])] += tct_lattice_part(tct_onestep_weight(run, i), lattice);
  TCT_TRY(tct_mech_release(run->mech, run->at.lengths, count, TCT_ONESTEP_EDGES, err));
  take_lengths(run, count, planned(run, run->at.lengths)->deviation);
  for (int64_t i = 0; i < view->rows; i++) {
    double part = run->weight / fmax(run->length[i], 0x1p-400);
    run->omega[i] = fmin(1, part * part);
  }
  return TCT_OK;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static tct_status release_all(tct_onestep *run, tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  int64_t p = facts->p, size = 4 * p * p + 8 * p + 8;
  double *s = TCT_NEW(double, size);
  tct_status status = s ? release_sums(run, s, s + p + NUMBERS, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = release_squares(run, s, s + p * p, err);
  for (int k = 0; k < 2 && status == TCT_OK; k++) status = release_matrix(run, s, k == 1, s + p * p, err);
  if (status == TCT_OK) status = release_lengths(run, err);
  tct_wipe_free(s, size, sizeof *s);
  return status;
}

tct_status tct_onestep_begin(tct_onestep *run, const tct_solver_plan *plan, tct_error *err) {
  const tct_facts *facts = run->problem->facts;
  int64_t p = facts->p;
  run->rule = tct_onestep_rule_of(facts, &plan->spec);
  run->rows = (double)facts->rows, run->uncertain = 1; /* until something is known */
  run->at = tct_onestep_places_of(&run->rule);
  run->omega = TCT_NEW(double, run->problem->view->rows);
  run->length = TCT_NEW(double, run->problem->view->rows);
  run->second = TCT_NEW(double, 2 * p * p + 3 * p);
  if (!run->omega || !run->length || !run->second) return tct_fail_memory(err);
  run->factor = run->second + p * p, run->mean = run->factor + p * p;
  run->unseen = run->mean + p, run->shift = run->unseen + p;
  for (int64_t j = 0; j < p; j++) run->factor[j * p + j] = 1;
  TCT_TRY(tct_metric_new(p, false, &run->metric, err));
  TCT_TRY(tct_metric_new(p, false, &run->shaped, err));
  TCT_TRY(tct_metric_new(p, false, &run->scaled.metric, err));
  TCT_TRY(release_all(run, err));
  run->unit =
      facts->loss.kind->counts ? fmax(1, sqrt(run->typical)) : fmin(facts->label_bound, tct_dpmetric_slope(facts));
  run->unit *= run->rows / (double)facts->rows;
  return tct_onestep_shape(run, err);
}

void tct_onestep_free(tct_onestep *run) {
  tct_dpmetric_step_free(&run->step);
  tct_metric_free(&run->metric);
  tct_metric_free(&run->shaped);
  tct_metric_free(&run->scaled.metric);
  tct_free(run->second);
  tct_wipe_free(run->omega, run->problem->view->rows, sizeof(double));
  tct_wipe_free(run->length, run->problem->view->rows, sizeof(double));
}

/* W <- G^-1 W of the gradient, and lengths there. */
tct_status tct_onestep_shape(tct_onestep *run, tct_error *err) {
  int64_t p = run->metric.p;
  double *inverse = TCT_NEW(double, p *p + p);
  if (!inverse) return tct_fail_memory(err);
  memcpy(inverse, run->factor, (size_t)(p * p) * sizeof *inverse);
  tct_lower_invert(inverse, p, inverse + p * p);
  memcpy(run->shaped.w, run->metric.w, (size_t)(p * p) * sizeof *inverse);
  tct_lower_multiply(inverse, run->shaped.w, p, inverse + p * p);
  tct_free(inverse);
  if (!tct_metric_settle(&run->shaped)) return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
  return tct_metric_lengths(&run->shaped, run->problem->view, run->length, run->problem->facts->threads, err);
}
