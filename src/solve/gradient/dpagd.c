/* dpagd.c - private gradient descent whose budget per step adapts to what the steps achieve.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + lambda/2 |w|^2; the intercept is not penalised.
 *
 * ALGORITHM  Lee and Kifer 2018, "Concentrated Differentially Private Gradient Descent with Adaptive per-Iteration
 * Privacy Budget", Algorithm 2, with the corrections under DEPARTS.
 *   1. while the budget lasts
 *   2.   measure: g = sum_i clip(grad l_i, C_grad) + noise of weight v
 *   3.   d = the direction of g/n + lambda w + momentum * the last one.  Score every candidate step a by
 *        sum_i min(l_i(w - a d), C_obj) + n lambda/2 |w - a d|^2 and choose one privately, step 0 among them
 *   4.   step 0: measure again with weight gamma*v, average all measurements by their weights, go to 3; from the second
 *        time on with half of alpha_max
 *   5.   else w = w - a d
 *   6.   every tau steps alpha_max = min(cap, (1+eta)*longest step since)
 *
 * SENSITIVITY  Step 2: a record's own term has norm <= C_grad.  Step 3: a record's own term of every score lies in [0,
 * C_obj].  Terms are rounded down to a lattice and summed exactly, and the penalty is a function of past releases.
 * Under add_remove a record moves all scores the same way (monotone), so the exponential mechanism needs no factor 2.
 *
 * RELEASES  Adaptive: gaussian and exponential events (variant=paper: pure) as the filter allows; zCDP of the
 * exponential choice is epsilon^2/8, of the pure one epsilon^2/2.  The certificate states the filter's budget,
 * zcdp(rho).  Batches: sampled gaussian events and pure ones, each over a fresh batch, under a Renyi filter at one
 * order fixed in the plan.  The certificate states its (epsilon, delta) as one approx event.
 *
 * COST  A step: two passes over X, and grid*n losses on cached margins z = Xw and s = Xd.
 *
 * DEPARTS  The measured gradients are averaged before they are normalised (line 8 normalises first).  The filter is
 * asked before each release, not after.  The budget per step is planned from what is left (dpagd_plan.c).  The
 * direction has momentum, which averages the noise of past measurements at no cost.  The longest step shrinks where
 * measuring again does not help: where signal is plentiful even the shortest step can be too long
 * (docs/decisions/gradient-rules.md).
 *
 * variant=paper keeps the fixed splits and the noisy minimum with one-sided exponential noise, here of the right sign:
 * permute and flip. */
#include "core/alloc.h"
#include "core/processors.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/shared/weight_bound.h"
#include "solve/gradient/agd.h"

#include <stdio.h>
#include <string.h>

typedef struct descent {
  const tct_problem *problem;
  tct_mech *mech;
  tct_agd set;
  tct_batch batch;         /* rows, their slopes, and the sum that is released */
  double *z, *s, *zb, *sb; /* [n]: margins of w and of d, of all records or of the batch */
  double *yb;              /* [n]: labels of the batch */
  double *computed_norms;  /* [n] */
  double *mean, *d, *past; /* [p]: average of the measurements of grad sum l; direction, the last one */
  double step[TCT_AGD_GRID], score[TCT_AGD_GRID];
  double left;      /* of the budget */
  double weight;    /* of `mean` */
  double alpha_max; /* at present */
  double longest;   /* step since the last reset */
  double norm;      /* of the direction before it was made a unit vector */
  int64_t taken;    /* steps */
} descent;

static tct_status open_descent(descent *a, const tct_problem *problem, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  int threads = problem->facts->threads;
  a->problem = problem;
  a->z = tct_alloc_by(threads, n, sizeof(double));
  a->s = tct_alloc_by(threads, n, sizeof(double));
  a->zb = tct_alloc_by(threads, n, sizeof(double));
  a->sb = tct_alloc_by(threads, n, sizeof(double));
  a->yb = tct_alloc_by(threads, n, sizeof(double));
  a->computed_norms = tct_alloc_by(threads, n, sizeof(double));
  a->mean = TCT_NEW(double, p);
  a->d = TCT_NEW(double, p);
  a->past = TCT_NEW(double, p);
  if (!a->z || !a->s || !a->zb || !a->sb || !a->yb || !a->computed_norms || !a->mean || !a->d || !a->past)
    return tct_fail_memory(err);
  tct_row_norms(problem->view, a->computed_norms, problem->facts->threads);
  return tct_batch_new(problem, &a->batch, err);
}

static void close_descent(descent *a) {
  int64_t n = a->problem->view->rows, p = a->problem->view->p;
  int threads = a->problem->facts->threads;
  tct_wipe_free_by(threads, a->z, n, sizeof(double));
  tct_wipe_free_by(threads, a->s, n, sizeof(double));
  tct_wipe_free_by(threads, a->zb, n, sizeof(double));
  tct_wipe_free_by(threads, a->sb, n, sizeof(double));
  tct_wipe_free_by(threads, a->yb, n, sizeof(double));
  tct_wipe_free_by(threads, a->computed_norms, n, sizeof(double));
  tct_wipe_free(a->mean, p, sizeof(double));
  tct_wipe_free(a->d, p, sizeof(double));
  tct_wipe_free(a->past, p, sizeof(double));
  tct_batch_free(&a->batch);
}

/* ---- what a release costs ----------------------------------------------------------------------- */

/* May a measurement of this weight be made, and is it of use?  Noise of a norm beyond that of every possible gradient
 * is not.  The release then has its noise. */
static tct_status measurable(const descent *a, double weight, bool *may, tct_error *err) {
  const tct_facts *facts = a->problem->facts;
  double noise = a->set.exact ? 0 : a->set.unit / sqrt(weight), max = a->set.rate * (double)facts->rows;
  *may = a->set.exact || (weight > 0 && (a->set.fixed || noise * sqrt((double)facts->p) < max));
  if (*may) TCT_TRY(tct_mech_set_noise(a->mech, TCT_AGD_GRADIENT, noise, err));
  *may = *may && (a->set.exact || tct_mech_allows(a->mech, TCT_AGD_GRADIENT));
  return TCT_OK;
}

static tct_status choosable(const descent *a, double epsilon, bool *may, tct_error *err) {
  *may = a->set.exact || epsilon > 0;
  if (*may && !a->set.exact) TCT_TRY(tct_mech_set_noise(a->mech, TCT_AGD_CHOICE, epsilon, err));
  *may = *may && (a->set.exact || tct_mech_allows(a->mech, TCT_AGD_CHOICE));
  return TCT_OK;
}

/* Vectors of all records.  Every entry is by itself, so threads change no bit. */
enum { BLOCK = 1 << 13 };

static void copy_by(int threads, const double *from, double *to, int64_t count) {
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads)) if (count > 4 * BLOCK)
  for (int64_t at = 0; at < count; at += BLOCK)
    memcpy(to + at, from + at, (size_t)(count - at < BLOCK ? count - at : BLOCK) * sizeof(double));
}

static void axpy_by(int threads, double a, const double *x, double *to, int64_t count) {
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads)) if (count > 4 * BLOCK)
  for (int64_t at = 0; at < count; at += BLOCK) tct_axpy(a, x + at, to + at, count - at < BLOCK ? count - at : BLOCK);
}

/* ---- the three parts of a step ------------------------------------------------------------------ */

/* 2 and 4: measures the gradient's sum with this weight and averages it into `mean`. */
static tct_status measure(descent *a, const double *w, double weight, tct_error *err) {
  const tct_problem *problem = a->problem;
  tct_batch *b = &a->batch;
  const tct_release *planned = tct_mech_release_of(a->mech, TCT_AGD_GRADIENT);
  TCT_TRY(tct_batch_draw(b, problem, a->mech, TCT_AGD_GRADIENT, err));
  if (a->set.rate < 1)
    tct_margins_at(problem->view, b->row, b->count, w, b->u, b->threads);
  else
    copy_by(b->threads, a->z, b->u, b->count);
  const int64_t *row = a->set.rate < 1 ? b->row : NULL;
  tct_clip_slopes(problem, row, b->count, a->computed_norms, planned->clip, b->u, b->threads);
  tct_terms terms = {.row = row, .a = b->u, .count = b->count, .lattice = planned->lattice};
  tct_sum_lattice(problem->view, &terms, b->sum, b->scratch, b->threads);
  TCT_TRY(tct_mech_release(a->mech, TCT_AGD_GRADIENT, b->sum, b->p, err));
  double all = a->weight + weight;
  for (int64_t j = 0; j < b->p; j++) a->mean[j] += (b->sum[j] - a->mean[j]) * (weight / all);
  a->weight = all;
  return TCT_OK;
}

/* 3: d = unit vector along mean/(q n) + lambda w. */
static double direct(descent *a, const double *w) {
  const tct_facts *facts = a->problem->facts;
  double expected = a->set.rate * (double)facts->rows;
  int64_t p = facts->p, penalised = p - (facts->intercept ? 1 : 0);
  for (int64_t j = 0; j < p; j++) a->d[j] = a->mean[j] / expected + (j < penalised ? facts->penalty.l2 * w[j] : 0);
  tct_axpy(a->set.momentum, a->past, a->d, p);
  double norm = sqrt(tct_norm2(a->d, p));
  for (int64_t j = 0; j < p && norm > 0; j++) a->d[j] /= norm;
  return norm;
}

/* The penalty's part of a score relative to step 0, on the lattice: a public number.  Beyond what all losses together
 * can make up for, its size does not matter. */
static double penalty(const descent *a, const double *w, double step, double lattice) {
  const tct_facts *facts = a->problem->facts;
  int64_t penalised = facts->p - (facts->intercept ? 1 : 0);
  double n = (double)facts->rows, max = 2 * n * tct_mech_release_of(a->mech, TCT_AGD_CHOICE)->clip;
  double change = step * step * tct_norm2(a->d, penalised) - 2 * step * tct_dot(w, a->d, penalised);
  double value = 0.5 * facts->penalty.l2 * change * a->set.rate * n;
  return tct_lattice_part(fmin(fmax(value, -max), max), lattice);
}

static tct_status choose(descent *a, const double *w, int64_t *index, tct_error *err) {
  const tct_problem *problem = a->problem;
  tct_batch *b = &a->batch;
  const tct_release *planned = tct_mech_release_of(a->mech, TCT_AGD_CHOICE);
  const double *z = a->z, *s = a->s, *y = problem->y;
  a->norm = direct(a, w);
  TCT_TRY(tct_batch_draw(b, problem, a->mech, TCT_AGD_CHOICE, err));
  if (a->set.rate < 1) {
    tct_margins_at(problem->view, b->row, b->count, w, a->zb, b->threads);
    tct_margins_at(problem->view, b->row, b->count, a->d, a->sb, b->threads);
    for (int64_t k = 0; k < b->count; k++) a->yb[k] = y[b->row[k]];
    z = a->zb, s = a->sb, y = a->yb;
  } else {
    tct_margins(problem->view, a->d, a->s, b->threads);
  }
  for (int64_t j = 0; j < a->set.grid; j++) a->step[j] = a->alpha_max * (double)j / (double)(a->set.grid - 1);
  tct_line line = {&problem->facts->loss, a->step, a->set.grid, planned->clip, planned->lattice, !a->set.exact};
  tct_step_scores(&line, z, s, y, b->count, a->score, b->threads);
  TCT_TRY(tct_mech_join_sum(a->mech, a->score, a->set.grid, err));
  for (int64_t j = 0; j < a->set.grid; j++) a->score[j] -= penalty(a, w, a->step[j], planned->lattice);
  if (!a->set.exact) return tct_mech_choose(a->mech, TCT_AGD_CHOICE, a->score, a->set.grid, index, err);
  *index = 0;
  for (int64_t j = 1; j < a->set.grid; j++)
    if (a->score[j] > a->score[*index]) *index = j;
  return TCT_OK;
}

/* 5 and 6. */
static void move(descent *a, double *w, int64_t index) {
  double step = a->step[index];
  int64_t n = a->problem->view->rows;
  tct_axpy(-step, a->d, w, a->problem->view->p);
  if (a->set.rate == 1) axpy_by(a->batch.threads, -step, a->s, a->z, n);
  for (int64_t j = 0; j < a->problem->view->p; j++) a->past[j] = a->norm * a->d[j];
  a->longest = fmax(a->longest, step);
  if (++a->taken % a->set.tau != 0) return;
  a->alpha_max = fmin(a->set.alpha_max, (1 + a->set.eta) * a->longest);
  a->longest = 0;
}

/* ---- one step and all of them --------------------------------------------------------------------- */

/* The weight of the step's first measurement, and the epsilon of its choices. */
static void budget_step(const descent *a, double *weight, double *epsilon) {
  *weight = a->set.weight;
  *epsilon = a->set.choice;
  if (a->set.fixed || a->set.exact) return;
  double own = a->left / (double)(a->set.steps - a->taken);
  *weight = (1 - a->set.budget_fraction) * own;
  *epsilon = sqrt((a->set.flip ? 2 : 8) * a->set.budget_fraction * own);
}

static void pay(descent *a, double rho) {
  if (!a->set.fixed) a->left -= rho;
}

static double rho_of(const descent *a, double epsilon) { return epsilon * epsilon / (a->set.flip ? 2 : 8); }

/* done: the budget does not allow another useful step. */
static tct_status one_step(descent *a, double *w, bool *done, tct_error *err) {
  double weight, epsilon, before = a->weight;
  int64_t index = 0, stays = 0;
  budget_step(a, &weight, &epsilon);
  if (a->set.fixed) weight = fmax(weight, before); /* the paper: a weight once raised stays */
  bool may = false;
  a->weight = 0;
  for (; index == 0; weight = a->set.gamma * a->weight) {
    TCT_TRY(measurable(a, weight, &may, err));
    if (may) TCT_TRY(choosable(a, epsilon, &may, err));
    if ((*done = !may)) return TCT_OK;
    TCT_TRY(measure(a, w, weight, err));
    pay(a, weight);
    TCT_TRY(choosable(a, epsilon, &may, err));
    if ((*done = !may)) return TCT_OK;
    TCT_TRY(choose(a, w, &index, err));
    pay(a, rho_of(a, epsilon));
    /* A better measurement did not help, or none is better: the shortest step must be too long. */
    if (index == 0 && (a->set.exact || (!a->set.flip && ++stays > 1))) a->alpha_max *= 0.5;
    if ((*done = a->alpha_max < 1e-9 * a->set.alpha_max)) return TCT_OK;
  }
  move(a, w, index);
  return TCT_OK;
}

/* A stop before the planned number of steps is seen in the releases alone: the filter asks only what was spent. */
static void note_stop(const descent *a) {
  char *note = a->problem->note;
  if (!note || a->set.exact || a->taken >= a->set.steps) return;
  if (a->taken == 0)
    snprintf(note, TCT_NOTE,
             "no step was taken: the budget buys no useful one, and the model is the one before any data");
  else
    snprintf(note, TCT_NOTE, "stopped after %lld steps, when the budget allowed no further useful one",
             (long long)a->taken);
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  descent a = {.mech = mech, .set = tct_agd_settings(problem->facts, plan)};
  bool done = false;
  tct_status status = open_descent(&a, problem, err);
  a.left = a.set.budget;
  a.alpha_max = a.set.alpha_max;
  memset(w, 0, (size_t)problem->view->p * sizeof *w);
  while (!done && status == TCT_OK && a.taken < a.set.steps) {
    status = tct_problem_tick(problem, (double)a.taken / (double)a.set.steps, err);
    if (status == TCT_OK) status = one_step(&a, w, &done, err);
  }
  if (status == TCT_OK && done) note_stop(&a);
  close_descent(&a);
  return status;
}

/* A direction has norm 1, and no step is longer than alpha_max. */
static double weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  tct_agd set = tct_agd_settings(facts, plan);
  return (double)set.steps * set.alpha_max;
}

const tct_solver tct_solver_dpagd = {
    .name = "dpagd",
    .summary = "private gradient descent with an adaptive budget and line search (Lee and Kifer 2018)",
    .options = tct_agd_options,
    .is_private = true,
    .rows_apart = true,
    .row_bytes = 56,
    .passes = {"steps", 2, 0, false},
    .relations = TCT_RELATION_BOTH,
    .plan = tct_agd_plan,
    .run = run,
    .weight_bound = weight_bound,
};
