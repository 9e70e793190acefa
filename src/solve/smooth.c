/* smooth.c - Newton's method with a certificate, and the descent that cannot fail.
 *
 * GRADIENT ERROR.  u = 2^-53, S and K bounds on |l'| and l'', rows |x_i| <= R.  At |w| <= W:
 *   margins: a dot product of p terms, whatever its order, and two products: |dz_i| <= (p+8) u R W;
 *   slopes: |da_i| <= K |dz_i| + 16 u S (the loss loops keep within 4 ulp of formulas a few ulp wide);
 *   sums: blocks of `block` rows are summed plainly, each term with at most 4 roundings: relative error (block+4) u of
 *     sum |a_i||x_i| <= n S R; the block sums are added in pairs (high, low) by two-sum, whose residue is of order u^2;
 *   the rest: ridge*w + linear and three additions: 4 u (n S R + ridge W + |linear|).
 * Together, with 1.01 for products of errors,
 *   E(W) = 1.01 u (n R (K (p+8) R W + 16 S) + (block+4) n S R + 4 (n S R + ridge W + |linear|)).
 *
 * CLIPPED SLOPES.  Where facts.clip is set, l' is cut to [-clip, clip] and l is what integrates to that: convex as
 * before, between 0 and l, with l'' as before or 0.  Cutting computed slopes is exact and brings none of them further
 * from its true value, so all of the above holds with S = clip.  A weight in [0, 1] multiplies the row's l: S, K and l0
 * still bound it, and the product's rounding, u S at most, is among the 16 u S.
 *
 * RADIUS.  l >= 0, so J(w) <= J(0) <= n l0 gives ridge/2 |w|^2 <= n l0 + |linear||w|, hence
 *   |w| <= 2|linear|/ridge + sqrt(2 n l0/ridge) = W.
 *
 * LAST RESORT.  Descent w+ = w - g~/L from 0, L = n K R^2 + ridge, g~ the computed gradient.  The rounding d of
 * the update has L|d| <= E.  Then with |g~ - g| <= E, smoothness gives
 *   J(w+) <= J(w) - (|g|^2 - E^2)/(2L) + |g|E/L + E^2/(2L) <= J(w) - 0.18 |g|^2/L    while |g| >= 4E,
 * and |g|^2 >= 2 ridge (J - J*): J - J* shrinks by (1 - 0.36 ridge/L) a step, while |g| >= 4E means J - J* >= 8E^2/L.
 * So after at most (L/(0.36 ridge)) log(n l0 L/(8 E^2)) steps some |g| < 4E: its computed norm is below 5E, and the
 * certificate |g~| + E <= 6E holds.  All iterates keep J <= J(0), hence |w| <= W and E = E(W).  6E (plus 1 % for the
 * rounding of the norm itself) is tct_smooth_reachable.  Newton's method needs some ten steps where descent would
 * need thousands; it is tried first, and the certificate is the same. */
#include "solve/smooth.h"

#include "core/alloc.h"
#include "la/gram.h"
#include "la/kernels.h"

#include <string.h>

/* Up to 512 features a Hessian of 2 MiB is formed; beyond, products with it are cheaper. */
enum { DENSE = 512, PARTS = 8, FACTOR_STEPS = 60 };

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
  return TCT_OK;
}

void tct_smooth_clip(tct_smooth_facts *facts, double part) {
  if (part >= 1) return;
  facts->slope *= part;
  facts->clip = facts->slope;
}

/* slope[i] = l' of row first + i, cut where the facts say so, times the row's weight. */
static void slopes_of(const tct_smooth *s, const double *z, int64_t first, double *slope, int64_t count) {
  const tct_loss *loss = &s->problem->facts->loss;
  const double *weight = s->problem->weight;
  double clip = s->facts.clip;
  loss->kind->slopes(z, s->problem->y + first, loss->h, slope, count);
  for (int64_t i = 0; clip > 0 && i < count; i++)
    slope[i] = slope[i] > clip ? clip : slope[i] < -clip ? -clip : slope[i];
  for (int64_t i = 0; weight && i < count; i++) slope[i] *= weight[first + i];
}

double tct_smooth_radius(const tct_smooth_facts *f) {
  return 1.01 * (2 * f->linear / f->ridge + sqrt(2 * f->rows * f->start / f->ridge));
}

double tct_smooth_error(const tct_smooth_facts *f, double radius) {
  double nsr = f->rows * f->slope * f->row_norm;
  double margins = f->rows * f->row_norm * f->curvature * (f->p + 8) * f->row_norm * radius;
  double rest = 4 * (nsr + f->ridge * radius + f->linear);
  return 1.01 * 0x1p-53 * (margins + (16 + block_of(f->p) + 4) * nsr + rest);
}

double tct_smooth_reachable(const tct_smooth_facts *f) { return 6.06 * tct_smooth_error(f, tct_smooth_radius(f)); }

tct_status tct_smooth_new(const tct_problem *problem, const tct_smooth_facts *facts, tct_smooth *out, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  *out = (tct_smooth){.problem = problem, .facts = *facts, .penalised = p};
  double *rows = TCT_NEW(double, 4 * n), *cols = TCT_NEW(double, 2 * p);
  out->margin = rows;
  out->gradient = cols;
  out->sums = TCT_NEW(double, PARTS * 3 * p);
  if (p <= DENSE) {
    out->gram = TCT_NEW(double, p *p);
    out->scratch = TCT_NEW(double, tct_gram_scratch(p));
  } else {
    out->conjugate = TCT_NEW(double, 4 * p);
  }
  if (!rows || !cols || !out->sums || (p <= DENSE ? !out->gram || !out->scratch : !out->conjugate)) {
    tct_smooth_free(out);
    return tct_fail_memory(err);
  }
  out->slope = rows + n, out->curve = rows + 2 * n, out->along = rows + 3 * n;
  out->direction = cols + p;
  return TCT_OK;
}

void tct_smooth_free(tct_smooth *s) {
  if (!s->problem) return;
  int64_t n = s->problem->view->rows, p = s->problem->view->p;
  tct_wipe_free(s->margin, 4 * n, sizeof(double));
  tct_wipe_free(s->gradient, 2 * p, sizeof(double));
  tct_wipe_free(s->sums, PARTS * 3 * p, sizeof(double));
  tct_wipe_free(s->gram, p * p, sizeof(double));
  tct_wipe_free(s->scratch, s->scratch ? tct_gram_scratch(p) : 0, sizeof(double));
  tct_wipe_free(s->conjugate, 4 * p, sizeof(double));
  memset(s, 0, sizeof *s);
}

/* high + low <- high + low + x, the sum of high and x exact (Knuth's two-sum). */
static void add_pairs(const double *x, double *high, double *low, int64_t p) {
  for (int64_t j = 0; j < p; j++) {
    double s = high[j] + x[j], back = s - high[j];
    low[j] += (high[j] - (s - back)) + (x[j] - back);
    high[j] = s;
  }
}

/* The slopes' sum over one fixed range of rows: memory holds block, high and low. */
static void part_sum(const tct_smooth *s, int64_t first, int64_t last, double *memory) {
  int64_t p = s->problem->view->p, block = (int64_t)block_of((double)p);
  double *sum = memory, *high = memory + p, *low = memory + 2 * p;
  memset(memory, 0, (size_t)(3 * p) * sizeof *memory);
  for (int64_t from = first; from < last; from += block) {
    int64_t to = last - from < block ? last : from + block;
    for (int64_t i = from; i < to; i++) tct_row_axpy(s->problem->view, i, s->slope[i], sum);
    add_pairs(sum, high, low, p);
    memset(sum, 0, (size_t)p * sizeof *sum);
  }
}

void tct_smooth_gradient(tct_smooth *s, const double *w) {
  const tct_problem *problem = s->problem;
  int64_t n = problem->view->rows, p = problem->view->p;
  int threads = problem->facts->threads;
  tct_margins(problem->view, w, s->margin, threads);
  slopes_of(s, s->margin, 0, s->slope, n);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int t = 0; t < PARTS; t++) part_sum(s, n * t / PARTS, n * (t + 1) / PARTS, s->sums + t * 3 * p);
  double *high = s->sums + p, *low = s->sums + 2 * p;
  for (int t = 1; t < PARTS; t++) {
    add_pairs(s->sums + t * 3 * p + p, high, low, p);
    for (int64_t j = 0; j < p; j++) low[j] += s->sums[t * 3 * p + 2 * p + j];
  }
  for (int64_t j = 0; j < p; j++)
    s->gradient[j] =
        (high[j] + low[j]) + ((j < s->penalised ? s->facts.ridge * w[j] : 0) + (s->linear ? s->linear[j] : 0));
}

/* The derivative of J along the direction at step t; margins and their change are at hand. */
static double derivative(const tct_smooth *s, double t, double base, double square) {
  enum { BLOCK = 512 };
  int64_t n = s->problem->view->rows;
  double sum = 0, at[BLOCK], slope[BLOCK];
  for (int64_t from = 0; from < n; from += BLOCK) {
    int64_t count = n - from < BLOCK ? n - from : BLOCK;
    for (int64_t i = 0; i < count; i++) at[i] = s->margin[from + i] + t * s->along[from + i];
    slopes_of(s, at, from, slope, count);
    sum += tct_dot(slope, s->along + from, count);
  }
  return sum + base + t * square;
}

/* Full steps near the minimum, and no comparison of function values, which have no digits left there. */
double tct_smooth_step(tct_smooth *s, const double *w) {
  int64_t p = s->problem->view->p;
  double ridge = s->facts.ridge, square = ridge * tct_norm2(s->direction, s->penalised);
  double base = ridge * tct_dot(w, s->direction, s->penalised) + (s->linear ? tct_dot(s->linear, s->direction, p) : 0);
  double start = tct_dot(s->gradient, s->direction, p), low = 0, high = INFINITY, t = 1;
  tct_margins(s->problem->view, s->direction, s->along, s->problem->facts->threads);
  for (int k = 0; k < FACTOR_STEPS; k++) {
    double at = derivative(s, t, base, square);
    if (fabs(at) <= 0.9 * fabs(start)) return t;
    if (at < 0)
      low = t;
    else
      high = t;
    t = isinf(high) ? 2 * t : 0.5 * (low + high);
  }
  return t;
}

static double computed_norm(const tct_smooth *s) {
  int64_t p = s->problem->view->p;
  return sqrt(tct_norm2(s->gradient, p)) * (1 + (s->facts.p + 16) * 0x1p-53);
}

static bool certified(const tct_smooth *s, const double *w, double norm, double target) {
  double radius = sqrt(tct_norm2(w, s->problem->view->p)) * (1 + (s->facts.p + 16) * 0x1p-53);
  return norm + tct_smooth_error(&s->facts, radius) <= target; /* false for NaN */
}

/* Newton steps; true when certified.  A factor that served well serves again. */
static tct_status newton(tct_smooth *s, double target, int64_t steps, double *w, bool *done, tct_error *err) {
  int64_t p = s->problem->view->p;
  double last = INFINITY;
  bool refresh = true;
  *done = false;
  for (int64_t k = 0; k < steps; k++) {
    TCT_TRY(tct_problem_tick(s->problem, 0, err));
    tct_smooth_gradient(s, w);
    double norm = computed_norm(s);
    if ((*done = certified(s, w, norm, target)) || !isfinite(norm)) return TCT_OK;
    refresh = !(norm < 1e-2 * last);
    last = norm;
    tct_newton_direction(s, refresh);
    double t = tct_smooth_step(s, w);
    tct_axpy(t, s->direction, w, p);
    s->passes++;
  }
  tct_smooth_gradient(s, w);
  *done = certified(s, w, computed_norm(s), target);
  return TCT_OK;
}

tct_status tct_smooth_minimise(tct_smooth *s, double target, int64_t steps, double *w, tct_error *err) {
  bool done = false;
  int64_t p = s->problem->view->p;
  double length = s->facts.rows * s->facts.curvature * s->facts.row_norm * s->facts.row_norm + s->facts.ridge;
  s->passes = 0;
  TCT_TRY(newton(s, target, steps, w, &done, err));
  if (done || !(target >= tct_smooth_reachable(&s->facts))) return TCT_OK;
  memset(w, 0, (size_t)p * sizeof *w);
  for (;; s->passes++) { /* ends: see LAST RESORT */
    TCT_TRY(tct_problem_tick(s->problem, 0, err));
    tct_smooth_gradient(s, w);
    if (certified(s, w, computed_norm(s), target)) return TCT_OK;
    tct_axpy(-1 / length, s->gradient, w, p);
  }
}
