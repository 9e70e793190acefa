/* dpmetric.c - private gradient descent whose clip and noise have the shape of a released metric.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), psi none or l2.
 *
 * ALGORITHM  Gradients are clipped and noised where the released Hessian bound is the unit matrix, so that noise is
 * largest where the objective is flat.  (A metric learnt under privacy: Gilani and others 2025, GeoClip.  The fixed
 * Hessian bound: Boehning and Lindsay 1988.)
 *   1. counts of the rows' norms and the sums of labels above and below 0, + N(0, m_q^2 I).
 *      B = the norm that 0.7 of the rows lie within, between edges.
 *      An intercept starts at the constant that the labels ask for; those of a joint loss by counts of its classes.
 *      Counts: by (y/Y, 1 where y > 0), the second where noise hides the first; h below is four times that mean.
 *      Labels that are numbers: counts of slopes at this start + N(0, m_s^2 I); their 0.7 quantile is `slope`.
 *   2. G = sum_i clip(x_i, B) clip(x_i, B)^T + noise; A = (h/n)(G + r I) + l2 I = L L^T; W = L^-1
 *   3. where the signal kappa = n mu/d is enough: the same for the images z_i = W x_i, and W <- L_2^-1 W; else: G
 *      once more
 *   4. C = c * slope * sqrt(d/h), W <- W/C
 *   5. until T releases are made
 *   6.   g = sum_i clip(l'(x_i.u, y_i) W x_i, 1) + N(0, m^2 I); on a short path the mean of several releases.
 *        Logistic: a record is cut by the larger of its two labels' terms, which is a weight of its row (clipped.h).
 *   7.   w' = u - step * C^2 W^T (g/n + l2 W u)
 *   8.   u = w' + momentum*(w' - w), w = w'
 *        Where the releases of some steps still point where those before them did, the path becomes longer.
 *        A joint loss: for each class a block of w, and of g.  One W serves all: h bounds the Hessian in all
 *        margins at once.
 *   9. the average of w over the last part of the path
 * Counts: `slope` is at least the root of the mean, and C at least two events.  The path is no longer than where its
 * noise would move margins far, as the mean of e^z is another than e of the mean z.
 * d = sum of t/(t + r) over the released eigenvalues freed of noise: how many directions stand out
 * (dpmetric_spectrum.c).
 *
 * SENSITIVITY  Steps 1 to 3: dpmetric_factor.c; every length is 1.  Step 6: W is fixed by earlier releases, one matrix
 * of fixed bits for all ranks, and the proof is about W, whatever it is close to.
 *   S = sum_i s_i x_i is formed exactly on a lattice f (gradient.h).  A record's own term t_i in S has |W t_i| <= |s_i|
 *   b_i + e with b_i >= |W x_i| and e = F sqrt(p) f, F >= |W|_F (metric.h), and s_i is cut until |s_i| b_i + e <= v_i
 *   (1 - sqrt(p) g), v_i its weight.  The terms of a record, or of a person whose weights sum to at most 1, have norm
 *   at most 1 - sqrt(p) g in W S.
 *   W S is formed exactly from S (over all ranks) and rounded to the release's lattice g: that moves each of the two
 *   neighbours' sums by at most sqrt(p) g/2.  Together: at most 1.  Under replace_one two terms differ by at most
 *   twice that.
 *   A joint loss: s_i is the vector of a record's slopes, and S has a block for each of K classes.  Its terms have norm
 *   at most |s_i| b_i + sqrt(K) e together, and the rounding is of K p numbers (docs/proofs/softmax.md).
 *   f comes from W and n alone: terms in x are cut to `sensitivity` too, so that the sum of n of them fits the lattice.
 *
 * RELEASES  Steps 1 to 3: gaussian(m_q), gaussian(m_s), gaussian(m_G), gaussian(m_B).  Step 6: T events gaussian(m).
 * One sum may be released several times, each with a charge and a noise of its own.  The sum of all 1/m^2 is 1/x^2:
 * exact, no Renyi detour; x is calibrated for the whole list.
 *
 * COST  n p^2 multiplications for G, n p^2 for images and their sum, p^3 a few times, and one pass over X and p^2 per
 * step, of which there are at most T.  A diagonal metric: two passes over X, and one per step.
 *
 * DEPARTS  From GeoClip: the metric is of the rows, not of gradients, and is released before the path, in one or two
 * releases; the clip follows the released dimension.  A path that diverges is cut at weights of 1e9 labels over R, so
 * that verify has a bound. */
#include "solve/gradient/dpmetric.h"

#include "core/alloc.h"
#include "la/exact/gradient.h"
#include "la/kernels/kernels.h"
#include "solve/gradient/rules.def"
#include "solve/shared/clipped.h"

#include <stdio.h>
#include <string.h>

/* A power of two above x. */
static double above(double x) {
  int exponent = 0;
  frexp(x, &exponent);
  return ldexp(1.0, exponent);
}

tct_status tct_dpmetric_step_new(const tct_problem *problem, const tct_dpmetric_shape *shape,
                                 const tct_release *planned, tct_dpmetric_step *out, tct_error *err) {
  int64_t n = problem->view->rows, p = problem->view->p;
  int threads = problem->facts->threads;
  *out = (tct_dpmetric_step){.problem = problem, .shape = shape, .planned = planned};
  out->classes = tct_loss_outputs(&problem->facts->loss);
  out->from = above((double)problem->facts->rows * shape->sensitivity) * 0x1p-51;
  out->to = planned->lattice;
  out->room = tct_gradient_scratch(p, threads);
  out->length = tct_alloc_by(threads, n, sizeof(double));
  out->norm = tct_alloc_by(threads, n, sizeof(double));
  out->sum = TCT_NEW(double, out->classes *p);
  out->one = TCT_NEW(double, out->classes *p);
  out->inner = TCT_NEW(double, out->classes *p);
  out->scratch = TCT_NEW(double, out->room);
  if (!out->length || !out->norm || !out->sum || !out->one || !out->inner || !out->scratch) return tct_fail_memory(err);
  if (out->classes > 1) TCT_TRY(tct_joint_sum_new(problem, &out->joint, err));
  tct_row_norms(problem->view, out->norm, threads);
  return tct_metric_lengths(&shape->metric, problem->view, out->length, threads, err);
}

void tct_dpmetric_step_free(tct_dpmetric_step *step) {
  int64_t n = step->problem ? step->problem->view->rows : 0, p = step->problem ? step->problem->view->p : 0;
  tct_joint_sum_free(&step->joint);
  tct_wipe_free(step->length, n, sizeof(double));
  tct_wipe_free(step->norm, n, sizeof(double));
  tct_wipe_free(step->sum, step->classes * p, sizeof(double));
  tct_wipe_free(step->one, step->classes * p, sizeof(double));
  tct_wipe_free(step->inner, step->classes * p, sizeof(double));
  tct_wipe_free(step->scratch, step->room, sizeof(double));
}

double tct_dpmetric_own(const tct_dpmetric_step *step, double weight) {
  double classes = (double)step->classes, rounded = sqrt(classes * (double)step->problem->view->p) * step->to;
  double own = weight * (step->planned->clip - rounded) * (1 - 0x1p-48);
  return fmax(own - sqrt(classes) * tct_metric_rounding(&step->shape->metric, step->from), 0);
}

static void factors_of(const void *user, int64_t first, int64_t count, double *a) {
  const tct_dpmetric_step *step = user;
  const tct_problem *problem = step->problem;
  const double *weight = problem->weight;
  double own = tct_dpmetric_own(step, 1);
  tct_clip_rows(problem, first, count, step->length, weight ? 1 : own, true, a);
  tct_shorten(step->norm + first, 1, step->shape->sensitivity, false, count, a);
  for (int64_t k = 0; k < count && weight; k++) {
    double size = fabs(a[k]) * step->length[first + k] * (1 + 0x1p-41);
    own = tct_dpmetric_own(step, weight[first + k]);
    if (size > own) a[k] *= own / size * (1 - 0x1p-48);
  }
}

/* Of the two limits the one that asks for less: own has more to spare than the other's roundings. */
static tct_joint_limit limit_of(const void *user, int64_t row, double weight) {
  const tct_dpmetric_step *step = user;
  double own = tct_dpmetric_own(step, weight), length = step->length[row], norm = step->norm[row];
  if (own * norm > step->shape->sensitivity * length) return (tct_joint_limit){norm, step->shape->sensitivity};
  return (tct_joint_limit){length, own};
}

void tct_dpmetric_sum(tct_dpmetric_step *step, const double *w) {
  if (step->classes > 1)
    tct_joint_sum_at(&step->joint, step->problem, w, (tct_joint_limits){limit_of, step}, step->from, step->inner,
                     step->scratch);
  else
    tct_gradient_lattice(step->problem->view, w, (tct_factors){factors_of, step}, step->from, step->inner,
                         step->scratch, step->problem->facts->threads);
}

tct_status tct_dpmetric_gradient(tct_dpmetric_step *step, tct_mech *mech, int r, int64_t times, const double *w,
                                 tct_error *err) {
  int64_t p = step->problem->view->p, all = step->classes * p;
  tct_dpmetric_sum(step, w);
  TCT_TRY(tct_mech_join_sum(mech, step->inner, all, err));
  for (int64_t k = 0; k < step->classes; k++)
    tct_metric_times(&step->shape->metric, step->inner + k * p, step->from, step->to, step->one + k * p);
  memcpy(step->inner, step->one, (size_t)all * sizeof *step->inner);
  memset(step->sum, 0, (size_t)all * sizeof *step->sum);
  for (int64_t t = 0; t < times; t++) {
    memcpy(step->one, step->inner, (size_t)all * sizeof *step->one);
    TCT_TRY(tct_mech_release(mech, r, step->one, all, err));
    tct_axpy(1 / (double)times, step->one, step->sum, all);
  }
  return TCT_OK;
}

/* Far from any weight of use: a margin of 1e9 labels on a record of norm R. */
static double largest_weight(const tct_facts *facts) {
  double label = isfinite(facts->label_bound) ? fmax(facts->label_bound, 1) : 1;
  return 1e9 * label / facts->row_norm;
}

void tct_dpmetric_move(const tct_facts *facts, const double *from, double size, const double *move, double *w) {
  double max = largest_weight(facts);
  for (int64_t j = 0; j < facts->p; j++) {
    double to = from[j] - size * move[j];
    w[j] = to > max ? max : to < -max ? -max : to;
  }
}

/* Step 7 cuts every iterate to it, and their average stays within. */
double tct_dpmetric_weight_bound(const tct_facts *facts, const tct_solver_plan *plan) {
  (void)plan;
  return largest_weight(facts);
}

typedef struct path {
  const tct_dpmetric_step *gradient;
  int64_t releases, each; /* of the whole path, and of one pass */
  double length, size, momentum;
  double *watched, *before; /* [classes][p]: sums of a stretch's releases, and of those before it */
  double *average;          /* [classes][p]: sum of iterates */
  double *room;             /* [p] */
  int64_t count, averaged;  /* how many are in `watched` and `average` */
} path;

/* A short path needs few passes over the rows: momentum then takes it as far, and the mean of several releases of one
 * sum has the noise of several sums. */
static void set_length(path *at, double length) {
  at->length = length;
  double all = (double)at->releases, each = all / (dpmetric_passes_per_root * sqrt(length));
  at->each = (int64_t)fmax(fmin(each, all), 1);
  double passes = all / (double)at->each;
  at->size = fmin(1, length / passes), at->momentum = fmax(0, 1 - passes / length);
}

/* How far a stretch's releases point where those before it did, in deviations of their noise.  In that one direction
 * noise is one number, however many columns there are.  Where noise has carried weights astray they point back. */
static double agreement_of(const path *at, int64_t size) {
  double before = tct_norm2(at->before, size) * (double)at->count;
  return before > 0 ? tct_dot(at->before, at->watched, size) / sqrt(before) / at->gradient->planned->deviation : 0;
}

/* image is what step 7 took, the penalty's part with it.  What few records want, or classes that can be parted, is a
 * longer path, which no public fact says. */
static void watch(path *at, const double *image, int64_t taken, int64_t t) {
  int64_t size = at->gradient->classes * at->gradient->shape->metric.p, stretch = (int64_t)(0.2 * (double)at->releases);
  tct_axpy((double)(taken * at->gradient->problem->facts->rows), image, at->watched, size), at->count += taken;
  if (stretch == 0 || t % stretch >= taken || t >= 4 * stretch || !(at->gradient->planned->deviation > 0)) return;
  if (agreement_of(at, size) > dpmetric_agreement_deviations) {
    set_length(at, 2 * at->length);
    memset(at->average, 0, (size_t)size * sizeof *at->average);
    at->averaged = 0;
  }
  tct_axpy(1, at->watched, at->before, size);
  memset(at->watched, 0, (size_t)size * sizeof *at->watched);
  at->count = 0;
}

/* What step 7 takes from a block of weights u, image[p] in W's coordinates and move[p] outside. */
static void move_of(const path *at, const double *u, int64_t k, double *image, double *move) {
  const tct_facts *facts = at->gradient->problem->facts;
  const tct_dpmetric_shape *shape = at->gradient->shape;
  int64_t p = shape->metric.p;
  double *ridge = at->room;
  for (int64_t j = 0; j < p; j++) ridge[j] = facts->intercept && j == p - 1 ? 0 : facts->penalty.l2 * u[j];
  tct_metric_plain(&shape->metric, ridge, image);
  tct_axpy(1 / (double)facts->rows, at->gradient->sum + k * p, image, p);
  tct_metric_turn(&shape->metric, image, move);
}

/* Steps 5 to 9; memory[8 classes p] is zero. */
static tct_status descend(tct_dpmetric_step *gradient, const tct_dpmetric_rule *rule, tct_mech *mech, double *memory,
                          double *w, tct_error *err) {
  const tct_facts *facts = gradient->problem->facts;
  const tct_dpmetric_shape *shape = gradient->shape;
  int64_t p = gradient->problem->view->p, classes = gradient->classes, all = classes * p;
  int64_t from = (int64_t)((1 - rule->average) * (double)rule->steps);
  double *u = memory, *last = u + all, *move = last + all, *image = move + all;
  path at = {.gradient = gradient, .releases = rule->steps, .average = image + all, .watched = image + 2 * all};
  at.before = image + 3 * all, at.room = image + 4 * all;
  int release = tct_dpmetric_places_of(rule).steps;
  set_length(&at, shape->path_length);
  for (int64_t k = 0; k < classes && facts->intercept; k++) w[k * p + p - 1] = u[k * p + p - 1] = shape->origin[k];
  for (int64_t t = 0, taken; t < rule->steps; t += taken) {
    taken = at.each < rule->steps - t ? at.each : rule->steps - t;
    TCT_TRY(tct_problem_tick(gradient->problem, (double)t / (double)rule->steps, err));
    TCT_TRY(tct_dpmetric_gradient(gradient, mech, release, taken, u, err)); /* 6 */
    memcpy(last, w, (size_t)all * sizeof *w);
    for (int64_t k = 0; k < classes; k++) move_of(&at, u + k * p, k, image + k * p, move + k * p);
    tct_dpmetric_move(facts, u, at.size * shape->clip * shape->clip, move, w);      /* 7 */
    for (int64_t j = 0; j < all; j++) u[j] = w[j] + at.momentum * (w[j] - last[j]); /* 8 */
    if (t + taken > from) tct_axpy(1, w, at.average, all), at.averaged++;
    if (isnan(rule->path_length)) watch(&at, image, taken, t + taken);
  }
  for (int64_t j = 0; j < all; j++) w[j] = at.average[j] / (double)at.averaged; /* 9 */
  return TCT_OK;
}

/* Whether the noise of the averaged gradients moves a mean of counts, as the start has it, by more than it may cost.
 * And by more than so many events' own chance does.  *error: both together, over that mean. */
static bool moves_mean(const tct_facts *facts, const tct_dpmetric_rule *rule, const tct_dpmetric_shape *shape,
                       double deviation, double *error) {
  double n = (double)facts->rows, mean = fmin(shape->curvature / dpmetric_count_means, exp(shape->origin[0]));
  double all = sqrt((double)rule->steps * rule->average) * n * mean;
  double moved = shape->clip * sqrt(shape->curvature) * deviation / all, chance = 1 / sqrt(n * mean);
  *error = hypot(moved, chance);
  return moved > fmax(dpmetric_path_cost, chance);
}

/* Says where noise hides all but the direction of the rows' mean and cuts the path short, and how far it moves a mean
 * of counts; from releases alone. */
static void note_little(const tct_problem *problem, const tct_dpmetric_rule *rule, const tct_dpmetric_shape *shape,
                        double deviation) {
  const tct_facts *facts = problem->facts;
  if (!problem->note || tct_noise_off(facts) || !isnan(rule->path_length)) return;
  double error = 0;
  if (facts->loss.kind->counts && rule->start > 0 && moves_mean(facts, rule, shape, deviation, &error)) {
    snprintf(problem->note, TCT_NOTE,
             "events are few for the noise: the mean prediction has a standard error of some %.0f %%; give more "
             "epsilon or records",
             100 * fmin(error, 10));
    return;
  }
  if (shape->dimension >= 2 || shape->path_length >= (double)rule->steps) return;
  snprintf(problem->note, TCT_NOTE,
           "the noise hides nearly all that the features say: the model was kept near the best constant; give more "
           "epsilon or records");
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t p = problem->facts->p;
  tct_dpmetric_rule rule = tct_dpmetric_rule_of(problem->facts, &plan->spec);
  tct_dpmetric_shape shape = {0};
  tct_dpmetric_step gradient = {0};
  double *memory = TCT_NEW(double, 8 * p);
  memset(w, 0, (size_t)p * sizeof *w);
  tct_status status = memory ? tct_problem_tick(problem, 0, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_dpmetric_release(problem, &rule, mech, &shape, err);
  const tct_release *planned = tct_mech_release_of(mech, tct_dpmetric_places_of(&rule).steps);
  if (status == TCT_OK) status = tct_dpmetric_step_new(problem, &shape, planned, &gradient, err);
  if (status == TCT_OK) status = descend(&gradient, &rule, mech, memory, w, err);
  if (status == TCT_OK) note_little(problem, &rule, &shape, planned->deviation);
  tct_dpmetric_step_free(&gradient);
  tct_dpmetric_shape_free(&shape);
  tct_free(memory);
  return status;
}

const tct_solver tct_solver_dpmetric = {
    .name = "dpmetric",
    .summary = "private gradient descent with clip and noise in the shape of a released metric",
    .options = tct_dpmetric_options,
    .is_private = true,
    .rows_apart = true,
    .row_bytes = 40,
    .square_bytes = 48,
    .passes = {"steps", 1, 3, false},
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_PERSONS,
    .offsets = true,
    .joint = true,
    .plan = tct_dpmetric_plan,
    .run = run,
    .weight_bound = tct_dpmetric_weight_bound,
};
