/* smooth.c - the gradient of a smooth objective with a bound on its error, and what certifies a minimum.
 *
 * GRADIENT ERROR.  u = 2^-53, S and K bounds on |l'| and l'', rows |x_i| <= R.  At |w| <= W:
 *   margins: a dot product of p terms, whatever its order, and two products: |dz_i| <= (p+8) u R W.
 *   slopes: |da_i| <= K |dz_i| + 16 u S (the loss loops keep within 4 ulp of formulas a few ulp wide).
 *   sums: blocks of at most `block` rows are summed plainly, each term with at most 4 roundings: relative error
 *     (block+4) u of sum |a_i||x_i| <= n S R.  At most c = n/64 + 1 blocks are added exactly but for what
 *     la/exact/exact.h cuts off, 18 c^2 u sqrt(p) u n S R at most.
 *   the rest: ridge*w + linear and three additions: 4 u (n S R + ridge W + |linear|).
 *
 * Together, with 1.01 for products of errors, E(W) = 1.01 u (n R (K (p+8) R W + 16 S) +
 * (block+4 + 18 c^2 u sqrt(p)) n S R + 4 (n S R + ridge W + |linear|)).
 *
 * RECORDS CUT.  A record's own l_i is v_i l, v_i = min(1, (rho/|x_i|)^2) where facts.length = rho is set.  Where
 * facts.clip = C is set, its slope is cut to [-C/|x_i|, C/|x_i|], and l_i is what integrates to that.  It is convex as
 * before, between 0 and l.  Every record has one of its own, a function of nothing but that record.  |x_i| is an upper
 * bound on the exact norm (rows.c), v_i and the limit are rounded down, and these doubles are what defines l_i.  Then
 * v_i |x_i| <= rho and v_i |x_i|^2 <= rho^2, so that |l_i'||x_i| <= S' rho with S' rho = C, or S rho without a cut, and
 * l_i''|x_i|^2 <= K rho^2.  Cutting computed slopes is exact and brings none further from its true value.  Hence all of
 * the above holds with rho for R and S' for S, but for two terms: 16 u S, and what exact sums cut off.  These were
 * bounded by the largest slope and the largest row apart, and keep S R (facts.coarse).  A weight in [0, 1] multiplies
 * l_i; the roundings of these products, 2 u S at most, are among the 16 u S.
 *
 * RADIUS.  l >= 0, so J(w) <= J(0) <= n l0 gives ridge/2 |w|^2 <= n l0 + |linear||w|, hence
 *   |w| <= 2|linear|/ridge + sqrt(2 n l0/ridge) = W.
 *
 * What always reaches a certificate, and in how many passes, is proved in accelerate.c.  Newton's method needs some ten
 * steps where that needs thousands; it is tried first, for a public number of passes, and the certificate is the same.
 */
#include "solve/minimiser/smooth.h"

#include "core/point.h"
#include "core/alloc.h"
#include "core/processors.h"
#include "la/exact/exact.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "la/kernels/row_block.h"

#include <string.h>

/* Up to 512 features a Hessian of 2 MiB is formed; beyond, products with it are cheaper. */
enum { DENSE = 512, FACTOR_STEPS = 60, LINE = 256 }; /* LINE divides tct_rows_together */
enum { SMALL = 1 << 16 };                            /* numbers that are summed before two threads have met */

static double block_of(double p) { return 64 + floor(p / 16); }

tct_status tct_smooth_of(const tct_facts *facts, const char *solver, double ridge, double linear, tct_smooth_facts *out,
                         tct_error *err) {
  const tct_loss *loss = &facts->loss;
  *out = (tct_smooth_facts){.rows = (double)facts->rows, .p = (double)facts->p, .row_norm = facts->row_norm};
  out->ridge = ridge;
  out->linear = linear;
  out->slope = tct_loss_slope_bound(loss);
  out->curvature = loss->kind->curvature_bound(loss->h);
  if (!isfinite(out->curvature))
    return tct_fail(err, TCT_E_USAGE, "%s needs a smooth loss, and %s has a corner; use smoothed_hinge or logistic",
                    solver, loss->kind->name);
  if (!isfinite(out->slope))
    return tct_fail(err, TCT_E_USAGE,
                    "%s needs a loss of bounded slope, and %s has none; use huber, or adassp for ridge", solver,
                    loss->kind->name);
  double label = loss->kind->binary ? 1 : facts->label_bound;
  out->start = fmax(tct_loss_value(loss, 0, label), tct_loss_value(loss, 0, -label));
  out->coarse = out->slope * out->row_norm;
  return TCT_OK;
}

void tct_smooth_cut(tct_smooth_facts *facts, double norm, double clip) {
  if (norm < 1) facts->length = facts->row_norm *= norm;
  if (clip >= 1) return;
  facts->slope *= clip;
  facts->clip = facts->slope * facts->row_norm;
}

/* See RECORDS CUT. */
static void measure(tct_smooth *s) {
  const tct_view *view = s->problem->view;
  double length2 = s->facts.length * s->facts.length, down = 1 - 0x1p-40;
#pragma omp parallel for schedule(static) num_threads(tct_threads(s->problem->facts->threads))
  for (int64_t i = 0; i < view->rows; i++) {
    double norm2 = tct_row_norm2(view, i);
    s->part[i] = length2 > 0 && norm2 > length2 ? length2 / norm2 * down : 1;
    s->limit[i] = s->facts.clip > 0 ? s->facts.clip / sqrt(norm2) * down : INFINITY;
  }
}

/* slope[i] = l' of row first + i, as the record counts and cut where the facts say so, times the row's weight. */
static void slopes_of(const tct_smooth *s, const double *z, int64_t first, double *slope, int64_t count) {
  const tct_loss *loss = &s->problem->facts->loss;
  const double *weight = s->problem->weight;
  loss->kind->slopes(z, s->problem->y + first, loss->h, slope, count);
  for (int64_t i = 0; s->part && i < count; i++) {
    double a = slope[i] * s->part[first + i], limit = s->limit[first + i];
    slope[i] = a > limit ? limit : a < -limit ? -limit : a;
  }
  for (int64_t i = 0; weight && i < count; i++) slope[i] *= weight[first + i];
}

double tct_smooth_radius(const tct_smooth_facts *f) {
  return 1.01 * (2 * f->linear / f->ridge + sqrt(2 * f->rows * f->start / f->ridge));
}

double tct_smooth_error(const tct_smooth_facts *f, double radius) {
  double nsr = f->rows * f->slope * f->row_norm;
  double margins = f->rows * f->row_norm * f->curvature * (f->p + 8) * f->row_norm * radius;
  double rest = 4 * (nsr + f->ridge * radius + f->linear), blocks = f->rows / 64 + 1;
  double cut = 18 * blocks * blocks * 0x1p-53 * sqrt(f->p);
  return 1.01 * 0x1p-53 * (margins + (block_of(f->p) + 4) * nsr + (16 + cut) * f->rows * f->coarse + rest);
}

bool tct_smooth_certified(const tct_smooth *s, const double *w, double target) {
  int64_t p = s->problem->view->p;
  double up = 1 + (s->facts.p + 16) * 0x1p-53, norm = sqrt(tct_norm2(s->gradient, p)) * up;
  double error = tct_smooth_error(&s->facts, sqrt(tct_norm2(w, p)) * up);
  return norm + TCT_POINT(end_by_the_computed_gradient, error, 0) <= target; /* false for NaN */
}

bool tct_smooth_spent(const tct_smooth *s) { return s->passes >= s->max; }

/* A bound on all entries: public, or the largest norm of a row where none was asked for. */
static tct_status find_largest(tct_smooth *s, tct_error *err) {
  const tct_view *view = s->problem->view;
  s->largest = view->row_norm;
  if (isfinite(view->row_norm)) return TCT_OK;
  double max = 0;
  for (int64_t i = 0; i < view->rows; i++) max = fmax(max, tct_row_norm2(view, i));
  s->largest = sqrt(max) * (1 + 0x1p-40);
  return tct_mech_join_max(s->mech, &s->largest, 1, err);
}

tct_status tct_smooth_new(const tct_problem *problem, const tct_smooth_facts *facts, tct_mech *mech, tct_smooth *out,
                          tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  int threads = problem->facts->threads;
  *out = (tct_smooth){.problem = problem, .mech = mech, .facts = *facts, .penalised = p, .max = INT64_MAX};
  bool cut = facts->length > 0 || facts->clip > 0;
  double *rows = tct_alloc_by(threads, 4 * n, sizeof *rows), *cols = TCT_NEW(double, 6 * p);
  double *limits = cut ? tct_alloc_by(threads, 2 * n, sizeof *limits) : NULL;
  out->margin = rows;
  out->gradient = cols;
  out->part = limits;
  out->sums = TCT_NEW(double, threads *tct_thread_stride(3 * p));
  out->blocks = TCT_NEW(double, n / LINE + 1);
  if (p <= DENSE) {
    out->gram = TCT_NEW(double, 2 * p * p);
    out->scratch = TCT_NEW(double, tct_gram_scratch(p, threads));
  } else {
    out->conjugate = TCT_NEW(double, 4 * p);
  }
  if (!rows || !cols || (cut && !limits) || !out->sums || !out->blocks ||
      (p <= DENSE ? !out->gram || !out->scratch : !out->conjugate)) {
    tct_smooth_free(out);
    return tct_fail_memory(err);
  }
  out->slope = rows + n, out->curve = rows + 2 * n, out->along = rows + 3 * n;
  out->direction = cols + p, out->parts = cols + 2 * p;
  out->before = cols + 4 * p, out->base = cols + 5 * p;
  if (cut) {
    out->limit = limits + n;
    measure(out);
  }
  tct_status status = find_largest(out, err);
  if (status != TCT_OK) tct_smooth_free(out);
  return status;
}

void tct_smooth_free(tct_smooth *s) {
  if (!s->problem) return;
  int64_t n = s->problem->view->rows, p = s->problem->view->p;
  int threads = s->problem->facts->threads;
  tct_wipe_free_by(threads, s->margin, 4 * n, sizeof(double));
  tct_wipe_free(s->gradient, 6 * p, sizeof(double));
  tct_wipe_free_by(threads, s->part, s->part ? 2 * n : 0, sizeof(double));
  tct_wipe_free(s->sums, threads * tct_thread_stride(3 * p), sizeof(double));
  tct_wipe_free(s->blocks, n / LINE + 1, sizeof(double));
  tct_wipe_free(s->gram, 2 * p * p, sizeof(double));
  tct_wipe_free(s->scratch, s->scratch ? tct_gram_scratch(p, threads) : 0, sizeof(double));
  tct_wipe_free(s->conjugate, 4 * p, sizeof(double));
  memset(s, 0, sizeof *s);
}

tct_status tct_smooth_transpose(tct_smooth *s, const double *a, double *sum, tct_error *err) {
  const tct_problem *problem = s->problem;
  int64_t p = problem->view->p;
  tct_exact_bounds bounds = {.norm = s->largest, .rows = problem->facts->rows};
  bounds.largest = tct_largest_size(a, problem->view->rows, problem->facts->threads);
  TCT_TRY(tct_mech_join_max(s->mech, &bounds.largest, 1, err));
  tct_exact_transpose(problem->view, a, &bounds, s->parts, s->sums, problem->facts->threads);
  TCT_TRY(tct_mech_join_sum(s->mech, s->parts, 2 * p, err));
  for (int64_t j = 0; j < p; j++) sum[j] = s->parts[j] + s->parts[p + j];
  return TCT_OK;
}

/* Rows that no rank boundary cuts: blocks of an exact sum divide them. */
static int64_t together_of(const tct_view *view) {
  int64_t block = tct_block_rows(view->p);
  return block > TCT_SMOOTH_TOGETHER ? block : TCT_SMOOTH_TOGETHER;
}

/* Margins, slopes and their sum over the groups first, first + step, ..., one pass over the rows: a block stays in the
 * cache for both.  memory: a block's sum, then its two exact parts. */
static void some_groups(const tct_smooth *s, const double *w, int64_t take, const tct_exact *exact, int64_t first,
                        int64_t step) {
  const tct_view *view = s->problem->view;
  int64_t p = view->p, block = tct_block_rows(p), group = together_of(view);
  double *sum = s->sums + first * tct_thread_stride(3 * p);
  memset(sum, 0, (size_t)(3 * p) * sizeof *sum);
  for (int64_t from = first * group; from < view->rows; from += step * group) {
    int64_t end = view->rows - from < take ? view->rows : from + take;
    for (int64_t at = from; at < end; at += block) {
      int64_t count = end - at < block ? end - at : block;
      tct_row_block_dot(view, at, count, w, s->margin + at);
      slopes_of(s, s->margin + at, at, s->slope + at, count);
      tct_row_block_add(view, at, count, s->slope + at, sum);
      tct_exact_add(exact, sum, sum + p, sum + 2 * p, p);
      memset(sum, 0, (size_t)p * sizeof *sum);
    }
  }
}

/* Where slopes are bounded the lattices of the exact sum are known before it, and one pass does. */
static tct_status one_pass(tct_smooth *s, const double *w, int64_t take, double *sum, tct_error *err) {
  const tct_problem *problem = s->problem;
  int64_t p = problem->view->p, block = tct_block_rows(p);
  int threads = problem->facts->threads;
  tct_exact exact = tct_exact_for((double)block * 1.01 * s->facts.coarse, problem->facts->rows / block + 1);
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads)) if (problem->view->rows * p > SMALL)
  for (int t = 0; t < threads; t++) some_groups(s, w, take, &exact, t, threads);
  memset(s->parts, 0, (size_t)(2 * p) * sizeof *s->parts);
  for (int t = 0; t < threads; t++)
    for (int64_t k = 0; k < 2 * p; k++) s->parts[k] += s->sums[t * tct_thread_stride(3 * p) + p + k];
  TCT_TRY(tct_mech_join_sum(s->mech, s->parts, 2 * p, err));
  for (int64_t j = 0; j < p; j++) sum[j] = s->parts[j] + s->parts[p + j];
  return TCT_OK;
}

int64_t tct_smooth_all(const tct_smooth *s) { return together_of(s->problem->view); }

double tct_smooth_weight(const tct_smooth *s, int64_t take) {
  int64_t n = s->problem->facts->rows, group = together_of(s->problem->view), whole = n / group, rest = n % group;
  int64_t taken = whole * take + (rest < take ? rest : take);
  return (double)n / (double)taken;
}

tct_status tct_smooth_gradient_of(tct_smooth *s, const double *w, int64_t take, tct_error *err) {
  const tct_problem *problem = s->problem;
  double *g = s->gradient, weight = take < together_of(problem->view) ? tct_smooth_weight(s, take) : 1;
  s->passes++;
  if (s->facts.coarse > 0) {
    TCT_TRY(one_pass(s, w, take, g, err));
  } else {
    tct_margins(problem->view, w, s->margin, problem->facts->threads);
    slopes_of(s, s->margin, 0, s->slope, problem->view->rows);
    TCT_TRY(tct_smooth_transpose(s, s->slope, g, err));
  }
  for (int64_t j = 0; j < problem->view->p; j++)
    g[j] = weight * g[j] + ((j < s->penalised ? s->facts.ridge * w[j] : 0) + (s->linear ? s->linear[j] : 0));
  return TCT_OK;
}

tct_status tct_smooth_gradient(tct_smooth *s, const double *w, tct_error *err) {
  return tct_smooth_gradient_of(s, w, together_of(s->problem->view), err);
}

/* The derivative of J along the direction at step t; margins and their change are at hand. */
static tct_status derivative(const tct_smooth *s, double t, double *at, tct_error *err) {
  int64_t n = s->problem->view->rows, count = 0;
  double z[LINE], slope[LINE], high_low[2] = {0, 0};
  for (int64_t from = 0; from < n; from += LINE) {
    int64_t rows = n - from < LINE ? n - from : LINE;
    for (int64_t i = 0; i < rows; i++) z[i] = s->margin[from + i] + t * s->along[from + i];
    slopes_of(s, z, from, slope, rows);
    s->blocks[count++] = tct_dot(slope, s->along + from, rows);
  }
  double largest = tct_largest_size(s->blocks, count, 1);
  TCT_TRY(tct_mech_join_max(s->mech, &largest, 1, err));
  tct_exact exact = tct_exact_for(largest, s->problem->facts->rows / LINE + 1);
  for (int64_t k = 0; k < count; k++) tct_exact_add(&exact, &s->blocks[k], &high_low[0], &high_low[1], 1);
  TCT_TRY(tct_mech_join_sum(s->mech, high_low, 2, err));
  *at += high_low[0] + high_low[1];
  return TCT_OK;
}

/* Full steps near the minimum, and no comparison of function values, which have no digits left there. */
tct_status tct_smooth_step(tct_smooth *s, const double *w, double *step, tct_error *err) {
  int64_t p = s->problem->view->p;
  double ridge = s->facts.ridge, square = ridge * tct_norm2(s->direction, s->penalised);
  double base = ridge * tct_dot(w, s->direction, s->penalised) + (s->linear ? tct_dot(s->linear, s->direction, p) : 0);
  double start = tct_dot(s->gradient, s->direction, p), low = 0, high = INFINITY, t = 1;
  tct_margins(s->problem->view, s->direction, s->along, s->problem->facts->threads);
  s->passes++;
  for (int k = 0; k < FACTOR_STEPS && (k == 0 || !tct_smooth_spent(s)); k++) {
    double at = base + t * square;
    s->passes++;
    TCT_TRY(derivative(s, t, &at, err));
    if (fabs(at) <= 0.9 * fabs(start)) break;
    if (at < 0)
      low = t;
    else
      high = t;
    t = isinf(high) ? 2 * t : 0.5 * (low + high);
  }
  *step = t;
  return TCT_OK;
}
