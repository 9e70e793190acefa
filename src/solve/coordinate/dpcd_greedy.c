/* dpcd_greedy.c - the order greedy of dpcd: a private choice of the coordinate, then a private measurement of it.
 *
 * ALGORITHM  Mangold, Bellet, Salmon, Tommasi 2023, "High-Dimensional Private Empirical Risk Minimization by Greedy
 * Coordinate Descent", with the exponential mechanism and a proximal score.
 *   for t = 1..T
 *     1. score_j = sqrt(M_j) |prox of gamma_j psi_j at w_j - gamma_j G_j/n, less w_j|, G_j the clipped derivative sum
 *     2. j by the exponential mechanism; G_j + noise; w_j moves by its proximal step
 *
 * SENSITIVITY  A record changes G_j by at most r C_j (r = 1 under add_remove, 2 under replace_one).  A prox is
 * 1-Lipschitz and | |a| - |b| | <= |a - b|, so the exact score changes by at most sqrt(M_j) (gamma/M_j) r C_j/n = r
 * gamma C/(n sqrt(sum M)) =: D, the same for every j, in either direction.  What is chosen from is the computed score,
 * rounded down to multiples of h.  Its inputs G_j are exact.  Between them and the score lie at most eight roundings of
 * numbers no larger than V_j = |w_j| + (gamma/M_j) C_j + |box|.  So a computed score is within 2^-49 sqrt(M_j) V_j of
 * the exact one.  The change that the mechanism is given is D + 2 max_j 2^-49 sqrt(M_j) V_j + h, a function of released
 * numbers.  The measurement is that of dpcd.c.
 *
 * COST  G is kept.  Moving w_j changes the slopes of the records in column j and nothing else.  For sparse data the
 * difference of their clipped terms is added to G row by row, exactly, as all terms lie on the lattices of their
 * coordinates.  So a step costs the entries of the rows that column j touches, not n*p.  Clipping a product per record
 * and coordinate is not linear in the residual, so cached products X^T x_j would not give the same sums.  On dense data
 * every record is touched, and a step costs one pass over X (n*p multiplications, the slopes once). */
#include "solve/coordinate/dpcd.h"

#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"

#include <string.h>

typedef struct greedy {
  const tct_problem *problem;
  const tct_dpcd *d;
  tct_fused sums;        /* squared slope with labels 0 and margins = slopes: its terms are slope * x */
  double *zero;          /* [rows] */
  double *z, *slope;     /* [rows] margins and slopes */
  double *g;             /* [p] G_j over the rows of the view, exact */
  double *total;         /* [p] G_j over all rows */
  double *lattice;       /* [p] */
  double *score;         /* [p] */
  double *mean;          /* [p] */
  tct_owned_matrix rows; /* CSR copy; empty for dense data */
  int64_t nonzeros;
} greedy;

static void slopes_of(greedy *s) {
  const tct_loss *loss = &s->problem->facts->loss;
  loss->kind->slopes(s->z, s->problem->y, loss->h, s->slope, s->problem->view->rows);
}

/* Every G_j afresh. */
static void all_sums(greedy *s) {
  slopes_of(s);
  tct_fused_set_margins(&s->sums, s->slope);
  for (int64_t j = 0; j < s->problem->view->p; j++) s->g[j] = tct_fused_sum(&s->sums, j, s->d->bound[j], s->lattice[j]);
}

static double term(const greedy *s, int64_t j, double slope, double x) {
  double t = slope * x, clip = s->d->bound[j];
  t = t < clip ? t : clip; /* a NaN becomes clip, as in the fused loops */
  t = t > -clip ? t : -clip;
  return tct_lattice_part(t, s->lattice[j]);
}

static int64_t offset(const tct_matrix *m, const void *array, int64_t i) {
  return m->index_type == TCT_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}
static double value(const tct_matrix *m, int64_t k) {
  return m->value_type == TCT_F32 ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
}

/* Record i's slope goes from slope[i] to that of its new margin; its terms follow. */
static void retake(greedy *s, int64_t i) {
  const tct_matrix *m = &s->rows.m;
  const tct_view *view = s->problem->view;
  double before = s->slope[i], after;
  const tct_loss *loss = &s->problem->facts->loss;
  loss->kind->slopes(&s->z[i], &s->problem->y[i], loss->h, &after, 1);
  for (int64_t k = offset(m, m->start, i); k < offset(m, m->start, i + 1); k++) {
    int64_t j = offset(m, m->index, k);
    double x = value(m, k) * view->row_scale[i];
    s->g[j] += term(s, j, after, x) - term(s, j, before, x);
  }
  if (view->intercept != 0) {
    double x = view->intercept * view->row_scale[i];
    s->g[view->p - 1] += term(s, view->p - 1, after, x) - term(s, view->p - 1, before, x);
  }
  s->slope[i] = after;
}

/* w_j has moved by delta. */
static void follow(greedy *s, int64_t j, double delta) {
  const tct_matrix *m = s->problem->view->x;
  if (delta == 0) return;
  tct_col_axpy(s->problem->view, j, delta, s->z);
  if (!s->rows.m.values || j == m->cols) {
    all_sums(s);
    return;
  }
  int64_t from = offset(m, m->start, j), to = offset(m, m->start, j + 1), touched = 0;
  for (int64_t k = from; k < to; k++) {
    int64_t i = offset(m, m->index, k);
    touched += offset(&s->rows.m, s->rows.m.start, i + 1) - offset(&s->rows.m, s->rows.m.start, i);
  }
  if (3 * touched > s->nonzeros) { /* two terms per entry, scattered, against one in order */
    all_sums(s);
    return;
  }
  for (int64_t k = from; k < to; k++) retake(s, offset(m, m->index, k));
}

static double step_from(const greedy *s, int64_t j, double w, double sum) {
  double rate = s->d->rate[j];
  return tct_dpcd_prox(s->problem->facts, j, w - rate * (sum / (double)s->problem->facts->rows), rate);
}

/* Scores on a lattice, and by how much one record can change them. */
static double scores(greedy *s, const double *w) {
  const tct_facts *facts = s->problem->facts;
  const tct_dpcd *d = s->d;
  double relation = facts->neighbours == TCT_ADD_REMOVE ? 1 : 2, error = 0;
  double box = fmax(0, fmax(isfinite(facts->penalty.low) ? facts->penalty.low : 0,
                            isfinite(facts->penalty.high) ? -facts->penalty.high : 0));
  double change = relation * d->step * d->clip / ((double)facts->rows * sqrt(d->total)) * (1 + 0x1p-40);
  int exponent = 0;
  frexp(change, &exponent);
  double h = ldexp(1, exponent - 24);
  for (int64_t j = 0; j < facts->p; j++) {
    double root = sqrt(d->moment[j]);
    error = fmax(error, 0x1p-48 * root * (fabs(w[j]) + d->rate[j] * d->bound[j] + box));
    s->score[j] = h * floor(root * fabs(step_from(s, j, w[j], s->total[j]) - w[j]) / h);
  }
  return change + error * (1 + 0x1p-40) + h;
}

static tct_status iterate(greedy *s, tct_mech *mech, double *w, tct_error *err) {
  const tct_dpcd *d = s->d;
  memcpy(s->total, s->g, (size_t)s->problem->facts->p * sizeof *s->g);
  TCT_TRY(tct_mech_join_sum(mech, s->total, s->problem->facts->p, err));
  double change = scores(s, w);
  int64_t j = 0;
  TCT_TRY(tct_mech_set_clip(mech, d->choice, change, err));
  TCT_TRY(tct_mech_choose(mech, d->choice, s->score, s->problem->facts->p, &j, err));
  double sum = s->g[j];
  TCT_TRY(tct_mech_set_clip(mech, d->steps, d->bound[j], err));
  TCT_TRY(tct_mech_release(mech, d->steps, &sum, 1, err));
  double to = step_from(s, j, w[j], sum), delta = to - w[j];
  w[j] = to;
  follow(s, j, delta);
  return TCT_OK;
}

static void greedy_free(greedy *s) {
  int64_t n = s->problem->view->rows;
  tct_fused_free(&s->sums);
  tct_matrix_free(&s->rows);
  tct_free(s->zero);
  tct_wipe_free(s->z, n, sizeof *s->z);
  tct_wipe_free(s->slope, n, sizeof *s->slope);
  tct_wipe_free(s->g, s->problem->view->p, sizeof *s->g);
  tct_wipe_free(s->total, s->problem->view->p, sizeof *s->total);
  tct_wipe_free(s->score, s->problem->view->p, sizeof *s->score);
  tct_free(s->lattice);
  tct_free(s->mean);
}

/* The lattice of every coordinate, as the gate will have it for its release. */
static tct_status lattices(const tct_dpcd *d, tct_mech *mech, int64_t p, double *lattice, tct_error *err) {
  for (int64_t j = 0; j < p; j++) {
    TCT_TRY(tct_mech_set_clip(mech, d->steps, d->bound[j], err));
    lattice[j] = tct_mech_release_of(mech, d->steps)->lattice;
  }
  return TCT_OK;
}

static tct_status greedy_new(const tct_problem *problem, const tct_dpcd *d, tct_mech *mech, greedy *s, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  const tct_matrix *x = problem->view->x;
  *s = (greedy){.problem = problem, .d = d};
  s->zero = TCT_NEW(double, n), s->z = TCT_NEW(double, n), s->slope = TCT_NEW(double, n);
  s->g = TCT_NEW(double, p), s->total = TCT_NEW(double, p), s->lattice = TCT_NEW(double, p),
  s->score = TCT_NEW(double, p);
  s->mean = TCT_NEW(double, p);
  if (!s->zero || !s->z || !s->slope || !s->g || !s->total || !s->lattice || !s->score || !s->mean)
    return tct_fail_memory(err);
  tct_fused_settings set = {.slope = TCT_FUSED_SQUARED, .threads = d->threads};
  TCT_TRY(tct_fused_new(problem->view, s->zero, set, &s->sums, err));
  TCT_TRY(lattices(d, mech, p, s->lattice, err));
  s->nonzeros = tct_matrix_nonzeros(x);
  if (x->layout == TCT_CSC) TCT_TRY(tct_matrix_convert(x, TCT_CSR, (tct_value_type)x->value_type, &s->rows, err));
  all_sums(s);
  return TCT_OK;
}

tct_status tct_dpcd_greedy(const tct_problem *problem, const tct_dpcd *d, tct_mech *mech, double *w, tct_error *err) {
  greedy s = {0};
  int64_t p = problem->facts->p, steps = d->outer * d->inner, from = d->average ? steps / 2 : steps - 1;
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = greedy_new(problem, d, mech, &s, err);
  for (int64_t t = 0; t < steps && status == TCT_OK; t++) {
    status = tct_problem_tick(problem, (double)t / (double)steps, err);
    if (status == TCT_OK) status = iterate(&s, mech, w, err);
    for (int64_t j = 0; j < p && t >= from; j++) s.mean[j] += w[j] / (double)(steps - from);
  }
  if (status == TCT_OK) memcpy(w, s.mean, (size_t)p * sizeof *w);
  greedy_free(&s);
  return status;
}
