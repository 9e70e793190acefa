/* bcfw.c - block-coordinate Frank-Wolfe under arbitrary sampling, without privacy.
 *
 * PROBLEM  min over a product of d blocks M_1 x ... x M_d of (1/n) sum_i l(x_i.w, y_i), l smooth.
 *   box: every coordinate lies between low and high; a block is a run of coordinates (default: one each).
 *   l1ball: blocks=1, the ball itself; blocks=d > 1, the product of d balls of radius radius/d, which lies within it,
 *     or of the radii given as shares of `radius`.
 *   shape=simplex: each ball's face {w >= 0, sum w = its radius}.  The intercept is a weight like any other.
 *
 * ALGORITHM  Lou and Cheung 2018, algorithm 1.
 *   1. w = the point of the domain nearest to 0
 *   2. draw a set T of blocks (bcfw_sampling.c); for each, with the gradient at w:
 *      s_(i) = argmin over M_i of <s, grad_(i)>
 *   3. w_(i) <- w_(i) + gamma (s_(i) - w_(i)) for i in T, gamma_t = 2/(p_min t + 2), or by exact line search over
 *      [0, 1]
 * With tol the run ends by the Frank-Wolfe gap <grad, w - s> over all blocks, an upper bound on F(w) - F*.  It is
 * looked at about once per pass over the blocks.  Not reaching tol is an error.
 *
 * SENSITIVITY  None is claimed: the result is not private, and the certificate says NONE.
 *
 * RELEASES  None.
 *
 * COST  A step: n slopes, and the entries of the drawn blocks' columns twice.
 *
 * DEPARTS  On a single ball only elementary sampling is sound and the others are refused.  Under (K, tau) sampling a
 * block is drawn with probability K tau/d; the square of it in the paper's table 1 is a misprint.  gradient_error and
 * oracle_error make both as inexact as assumption 1 allows, in the worst direction; the gap is always exact. */
#include "nonprivate/bcfw.h"

#include "core/alloc.h"
#include "la/kernels/kernels.h"

#include <string.h>

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  const tct_option *o = tct_bcfw_options;
  TCT_TRY(tct_plan_begin(facts, given, o, out, err));
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE, "bcfw needs a smooth loss; use squared, logistic, huber or smoothed_hinge");
  tct_bcfw b = {0};
  tct_status status = tct_bcfw_new(facts, &out->spec, &b, err);
  if (status == TCT_OK) status = tct_spec_set_real(&out->spec, "blocks", (double)b.blocks, err);
  if (status == TCT_OK) status = tct_spec_set_real(&out->spec, "steps", (double)b.steps, err);
  tct_bcfw_free(&b);
  return status;
}

typedef struct state {
  const tct_problem *problem;
  tct_bcfw *b;
  double *w;     /* [p] */
  double *z;     /* [rows] margins */
  double *slope; /* [rows] */
  double *dz;    /* [rows] X times the direction */
  double *move;  /* [p] s - w on the drawn blocks */
} state;

static void slopes_of(state *s, const double *z) {
  const tct_loss *loss = &s->problem->facts->loss;
  loss->kind->slopes(z, s->problem->y, loss->h, s->slope, s->problem->view->rows);
}

/* How inexact the gradient and the vertex may be: 0 where the gap is asked for. */
typedef struct inexact {
  double gradient, oracle;
} inexact;

/* The partial derivative, moved to the worse side: toward 0 and beyond. */
static double derivative(state *s, int64_t j, const inexact *off) {
  double g = tct_col_dot(s->problem->view, j, s->slope) / (double)s->problem->facts->rows;
  return g - copysign(off->gradient, g);
}

/* The vertex of a box is found coordinate by coordinate, that of a ball or simplex in the steepest coordinate.  Beside
 * the best stands the worst, for a vertex that is allowed to be worse.  Returns <g, worst - best>. */
static double box_vertex(state *s, int64_t block, const inexact *off, double *value) {
  const tct_penalty *penalty = &s->problem->facts->penalty;
  double span = 0;
  *value = 0;
  for (int64_t j = s->b->start[block]; j < s->b->start[block + 1]; j++) {
    double g = derivative(s, j, off);
    s->move[j] = (g > 0 ? penalty->low : penalty->high) - s->w[j];
    *value -= g * s->move[j];
    span += fabs(g) * (penalty->high - penalty->low);
  }
  return span;
}

static double ball_vertex(state *s, int64_t block, const inexact *off, double *value, int64_t at[2], double size[2]) {
  double radius = s->b->radius[block], min = INFINITY, max = -INFINITY;
  *value = 0;
  for (int64_t j = s->b->start[block]; j < s->b->start[block + 1]; j++) {
    double g = derivative(s, j, off), low = s->b->simplex ? g : -fabs(g), high = s->b->simplex ? g : fabs(g);
    s->move[j] = -s->w[j];
    *value += g * s->w[j];
    if (low < min) min = low, at[0] = j, size[0] = s->b->simplex || g <= 0 ? radius : -radius;
    if (high > max) max = high, at[1] = j, size[1] = s->b->simplex || g > 0 ? radius : -radius;
  }
  *value -= radius * min;
  return radius * (max - min);
}

/* move = s - w on one block, for the slopes as they stand; returns <grad, w - s>. */
static double oracle(state *s, int64_t block, const inexact *off) {
  double value = 0, span = 0, size[2] = {0, 0};
  int64_t at[2] = {s->b->start[block], s->b->start[block]};
  if (s->b->box)
    span = box_vertex(s, block, off, &value);
  else
    span = ball_vertex(s, block, off, &value, at, size);
  double worse = off->oracle > 0 && span > 0 ? fmin(1, off->oracle / span) : 0; /* the way from best to worst */
  for (int64_t j = s->b->start[block]; j < s->b->start[block + 1] && s->b->box && worse > 0; j++) {
    const tct_penalty *penalty = &s->problem->facts->penalty;
    double best = s->move[j] + s->w[j];
    s->move[j] += worse * (best == penalty->low ? penalty->high - penalty->low : penalty->low - penalty->high);
  }
  s->move[at[0]] += (1 - worse) * size[0];
  s->move[at[1]] += worse * size[1];
  return value;
}

/* The zero of the derivative along the direction, by bisection: 60 halvings of [0, 1]. */
static double line_search(state *s) {
  int64_t n = s->problem->view->rows;
  double low = 0, high = 1, at = 1;
  double *margin = s->b->workspace;
  for (int k = 0; k < 60 && low < high; k++) {
    for (int64_t i = 0; i < n; i++) margin[i] = s->z[i] + at * s->dz[i];
    slopes_of(s, margin);
    double slope = tct_dot(s->slope, s->dz, n);
    if (k == 0 && slope <= 0) return 1;
    *(slope > 0 ? &high : &low) = at;
    at = 0.5 * (low + high);
  }
  return at;
}

static void step(state *s, const int64_t *drawn, int64_t count, int64_t t) {
  const tct_view *view = s->problem->view;
  const tct_bcfw *b = s->b;
  memset(s->dz, 0, (size_t)view->rows * sizeof *s->dz);
  slopes_of(s, s->z);
  double gamma = 2 / (b->min * (double)t + 2);
  inexact off = {b->gradient_error * gamma, b->oracle_error * gamma};
  for (int64_t k = 0; k < count; k++) {
    oracle(s, drawn[k], &off);
    for (int64_t j = b->start[drawn[k]]; j < b->start[drawn[k] + 1]; j++)
      if (s->move[j] != 0) tct_col_axpy(view, j, s->move[j], s->dz);
  }
  if (b->search) gamma = line_search(s);
  for (int64_t k = 0; k < count; k++)
    for (int64_t j = b->start[drawn[k]]; j < b->start[drawn[k] + 1]; j++) s->w[j] += gamma * s->move[j];
  tct_axpy(gamma, s->dz, s->z, view->rows);
}

/* The gap over all blocks; margins are made afresh on the way, so that rounding does not pile up. */
static double full_gap(state *s) {
  const inexact exact = {0, 0};
  double gap = 0;
  memset(s->z, 0, (size_t)s->problem->view->rows * sizeof *s->z);
  for (int64_t j = 0; j < s->problem->facts->p; j++)
    if (s->w[j] != 0) tct_col_axpy(s->problem->view, j, s->w[j], s->z);
  slopes_of(s, s->z);
  for (int64_t k = 0; k < s->b->blocks; k++) gap += oracle(s, k, &exact);
  return gap;
}

static tct_status descend(state *s, tct_mech *mech, tct_error *err) {
  tct_bcfw *b = s->b;
  int64_t pass = (int64_t)ceil(1 / b->min);
  for (int64_t t = 0; t < b->steps; t++) {
    TCT_TRY(tct_problem_tick(s->problem, (double)t / (double)b->steps, err));
    if (b->tol > 0 && t % (10 * pass) == 0 && full_gap(s) <= b->tol) return TCT_OK;
    int64_t count = tct_bcfw_draw(b, mech);
    step(s, b->drawn, count, t);
  }
  if (b->tol > 0 && !(full_gap(s) <= b->tol))
    return tct_fail(err, TCT_E_RUN, "bcfw did not reach the gap tol in the given steps; give a larger tol or steps");
  return TCT_OK;
}

static void start(const tct_facts *facts, state *s) {
  for (int64_t k = 0; k < s->b->blocks && s->b->simplex; k++)
    for (int64_t j = s->b->start[k]; j < s->b->start[k + 1]; j++) {
      s->w[j] = s->b->radius[k] / (double)(s->b->start[k + 1] - s->b->start[k]);
      tct_col_axpy(s->problem->view, j, s->w[j], s->z);
    }
  for (int64_t j = 0; j < facts->p && !s->b->simplex; j++) {
    s->w[j] = s->b->box ? fmin(fmax(0, facts->penalty.low), facts->penalty.high) : 0;
    if (s->w[j] != 0) tct_col_axpy(s->problem->view, j, s->w[j], s->z);
  }
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan_, tct_mech *mech, double *w,
                      tct_error *err) {
  int64_t n = problem->view->rows;
  tct_bcfw b = {0};
  state s = {.problem = problem, .b = &b, .w = w};
  tct_status status = tct_bcfw_new(problem->facts, &plan_->spec, &b, err);
  s.z = TCT_NEW(double, n), s.slope = TCT_NEW(double, n), s.dz = TCT_NEW(double, n);
  s.move = TCT_NEW(double, problem->facts->p), b.workspace = TCT_NEW(double, n);
  if (status == TCT_OK && (!s.z || !s.slope || !s.dz || !s.move || !b.workspace)) status = tct_fail_memory(err);
  if (status == TCT_OK) {
    start(problem->facts, &s);
    status = descend(&s, mech, err);
  }
  tct_wipe_free(s.z, s.z ? n : 0, sizeof *s.z);
  tct_wipe_free(s.slope, s.slope ? n : 0, sizeof *s.slope);
  tct_wipe_free(s.dz, s.dz ? n : 0, sizeof *s.dz);
  tct_wipe_free(b.workspace, b.workspace ? n : 0, sizeof *b.workspace);
  tct_free(s.move);
  tct_bcfw_free(&b);
  return status;
}

const tct_solver tct_solver_bcfw = {
    .name = "bcfw",
    .summary = "block-coordinate Frank-Wolfe under arbitrary sampling, NOT private (Lou and Cheung 2018)",
    .options = tct_bcfw_options,
    .wants_columns = true,
    .relations = TCT_RELATION_BOTH,
    .penalises_intercept = true,
    .plan = plan,
    .run = run,
};
