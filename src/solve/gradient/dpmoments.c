/* dpmoments.c - least squares from private moments, then one gradient that balances noise against the bias of its clip.
 *
 * PROBLEM  min over w of (1/n) sum_i l(x_i.w, y_i) + psi(w), l squared or Huber loss, psi none or l2.
 *
 * ALGORITHM  Released moments determine a linear model, but their noise grows with the longest record that they keep.
 * At their model residuals are small, and a gradient of them is precise.
 *   1. counts of |x|, where they cost little and R may be loose: the length that most rows are within.  If R is four
 *      times that, the first moments of (x, y) have rows cut to it.  The second are in shells
 *      (solve/shared/moments.c): the model w_0, its covariance V, and a metric W
 *   2. counts of |l'_i| |W x_i| at w_0 + noise, on a grid of ratio sqrt(2).  C minimises p s^2 + B^2: s the noise of
 * all gradients' mean for this clip, B the sum over the counts of what C cuts off, the longest bias that it can cause.
 *   3. squared loss, and every direction stands out of the moments' noise: the sum of the clipped gradients at w_0 is
 *      released T_1 times.  The move d = -W g/n is made from the mean.
 *      else: T_1 steps w <- w - W^T W g/n from w_0.
 *   4. steps 2 and 3 once more, from where they led, with T_2 releases.  The steps' mean is the end of their path.
 *   5. After each move (a path: at its end) w is w_0 + W^T U d, d the move.  With u = (s^2 + B^2/p)/n^2, U is V/(V + u)
 *      in each eigenvector of V, or 1 - u/d^2 where the move is three deviations long, more than V explains: each
 *      direction from whichever knows it better.  V becomes U u.
 * Which way step 3 takes is a function of what step 1 released; both spend the same promise.
 *
 * SENSITIVITY  Moments: moments.c; the length in them is a function of a release.  Counts of norms and of gradients: a
 * record of weight v adds v to one count, truncated to the lattice: norm <= v.  The count depends on the record and on
 * earlier releases.  A record whose row is 0, or was left out, adds nothing.
 * Counts are not negative: under replace_one as in moments.c.  Step 3: that of dpmetric's step 6, by the same code: at
 * most 1 in the metric W/C.
 *
 * RELEASES  gaussian(m_0) or none, gaussian(m_1), gaussian(m_2), and twice gaussian(m_3) with T_1 or T_2 times
 * gaussian(m).  The sum of all 1/m^2 is 1/x^2: exact, no Renyi detour; x is calibrated for the whole list.
 *
 * COST  2 n q^2 multiplications, q = p + 1, for the moments, q^3 a few times, and some four passes over X, or T more.
 *
 * DEPARTS  From one release of statistics (adassp.c): shells in place of one clip, and the gradient. */
#include "solve/gradient/dpmetric.h"

#include "core/alloc.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"
#include "solve/gradient/rules.def"
#include "solve/shared/clipped.h"
#include "solve/shared/moments.h"
#include "solve/shared/quantile.h"

#include <string.h>

static const tct_option options[] = {
    {"moments", TCT_OPT_REAL, "0.6", 0.01, 0.9, NULL, "part of the budget (of mu^2) for the moments"},
    {"norms", TCT_OPT_REAL, "auto", 0, 0.05, NULL,
     "part of the budget (of mu^2) for counts of the rows' norms; 0: the first moments' rows are cut to R; auto: from "
     "n, mu and R"},
    {"steps", TCT_OPT_COUNT, "auto", 2, 10000, NULL, "T; auto: 36, without noise 400"},
    {0},
};

enum {
  /* behind counts of norms and two releases of moments, two of each round: */ COUNTS = 2,
  STEPS,
  CELLS = 56,
  EXACT_STEPS = 400
};

typedef struct rule {
  double norms, moments, left; /* parts of the budget: of counts of norms, of the moments, of all steps */
  int64_t steps;
} rule;

/* None where the ones make every row a fourth of R or longer, and where they would need more than those of gradients
 * have. */
static double norms_of(const tct_facts *facts, const tct_spec *spec) {
  double part = tct_dpmetric_counts_part(facts, 1);
  if (!tct_spec_auto(spec, options, "norms")) return tct_spec_real(spec, options, "norms");
  bool tight = facts->intercept && facts->row_norm <= 4;
  return tight || tct_noise_off(facts) || part > dpmoments_counts_part ? 0 : part;
}

static rule rule_of(const tct_facts *facts, const tct_spec *spec) {
  double moments = tct_spec_real(spec, options, "moments");
  int64_t steps = tct_noise_off(facts) ? EXACT_STEPS : (int64_t)dpmoments_steps;
  if (!tct_spec_auto(spec, options, "steps")) steps = tct_spec_count(spec, options, "steps");
  double norms = norms_of(facts, spec);
  return (rule){norms, moments, 1 - norms - moments - dpmoments_counts_part, steps};
}

typedef struct making {
  const tct_facts *facts;
  rule rule;
} making;

/* Of round k in {0, 1}. */
static int64_t steps_of(const rule *r, int k) {
  int64_t first = (int64_t)ceil(dpmoments_first_part * (double)r->steps);
  return k == 0 ? first : r->steps - first;
}

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  int64_t n = m->facts->rows;
  double sensitivity = m->facts->neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  if (m->rule.norms > 0) {
    tct_event norms = tct_event_gaussian(x / sqrt(m->rule.norms), 1);
    TCT_TRY(tct_promise_add(out, tct_release_sum("counts of the rows' norms", norms, 1, sensitivity, 2 * n), err));
  }
  TCT_TRY(tct_moments_promise(m->facts, m->rule.moments, x, out, err));
  for (int k = 0; k < 2; k++) {
    tct_event counts = tct_event_gaussian(x / sqrt(dpmoments_counts_part / 2), 1);
    tct_event event = tct_event_gaussian(x * sqrt((double)m->rule.steps / m->rule.left), steps_of(&m->rule, k));
    TCT_TRY(tct_promise_add(out, tct_release_sum("counts of gradients' lengths", counts, 1, sensitivity, 2 * n), err));
    tct_release steps = tct_release_sum("sum of gradients clipped in the metric", event, 1, 1, n);
    steps.whole = true; /* W S is made of the sum S over all ranks */
    TCT_TRY(tct_promise_add(out, steps, err));
  }
  return TCT_OK;
}

static tct_status plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  static const tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = 1e-8};
  double x = 0;
  TCT_TRY(tct_plan_begin(facts, given, options, out, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpmoments", err));
  if (facts->loss.kind->binary || facts->loss.kind->link != TCT_LINK_IDENTITY)
    return tct_fail(err, TCT_E_USAGE,
                    "dpmoments fits numbers by {loss squared} or {loss huber}; choose another solver");
  if (!facts->penalty.kind->quadratic)
    return tct_fail(err, TCT_E_USAGE, "dpmoments knows the penalties none and l2; choose one of them, or dpgd");
  if (tct_moments_out_of_range(facts))
    return tct_fail(
        err, TCT_E_USAGE,
        "dpmoments squares what lies within {row_norm R} and {label_bound Y}; scale the columns so that both "
        "bounds are between 1e-30 and 1e30");
  if (facts->p > TCT_MOMENTS_MOST)
    return tct_fail(err, TCT_E_USAGE, "dpmoments holds matrices of features squared, at most %d features; choose dpgd",
                    TCT_MOMENTS_MOST);
  making m = {facts, rule_of(facts, &out->spec)};
  TCT_TRY(tct_spec_set_real(&out->spec, "norms", m.rule.norms, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)m.rule.steps, err));
  out->noise_multiplier = NAN;
  out->max_passes = (double)m.rule.steps + 10;
  return tct_budget_fit(facts, &budget, make, &m, out, &x, err);
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

typedef struct fit {
  const tct_problem *problem;
  tct_mech *mech;
  rule rule;
  tct_moments moments;
  tct_moments_model model;  /* w_0, W and V */
  tct_dpmetric_shape shape; /* metric: W/C, model's own */
  double inverse;           /* |W^-1| */
  tct_dpmetric_step step;
  double *length; /* [rows]: |W x| */
  double *size;   /* [rows]: of the slopes */
  double *memory; /* [5p] */
  double *factor; /* [p][p], [p][p] and [5p] */
  int round;      /* 0 or 1 */
  bool balanced;  /* one gradient in place of a path */
  double noise;   /* of the mean of the round's gradients, in units of C */
  double bias;    /* B */
  double top;     /* the largest length that counts tell apart */
} fit;

/* The count that a size at most `top` belongs to, 0 for the largest; -1 for what is 0 beside it. */
static int cell_of(double size, double top) {
  if (!(size > 0x1p-60 * top)) return -1;
  return (int)fmin(fmax(floor(-2 * log2(size / top) + 1e-9), 0), CELLS - 1);
}

static void sizes(fit *f, const double *w) {
  const tct_problem *problem = f->problem;
  const tct_loss *loss = &problem->facts->loss;
  int64_t n = problem->view->rows;
  tct_margins(problem->view, w, f->size, problem->facts->threads);
  for (int64_t i = 0; i < n; i++) f->size[i] = fabs(tct_loss_slope(loss, f->size[i], problem->y[i])) * f->length[i];
}

/* Where a release of this round is in the promise. */
static int place(const fit *f, int what) { return (f->rule.norms > 0) + 2 * f->round + what; }

/* counts[cells] <- release r: how many sizes are in which cell below `top`. */
static tct_status count(fit *f, int r, int (*cell)(double, double), double top, int cells, double *counts,
                        tct_error *err) {
  const tct_release *planned = tct_mech_release_of(f->mech, r);
  const double *weight = f->problem->weight;
  memset(counts, 0, (size_t)cells * sizeof *counts);
  for (int64_t i = 0; i < f->problem->view->rows; i++) {
    int at = cell(f->size[i], top);
    if (at >= 0) counts[at] += tct_lattice_part((weight ? weight[i] : 1) * planned->clip, planned->lattice);
  }
  return tct_mech_release(f->mech, r, counts, cells, err);
}

/* length <- what most rows are no longer than, as the first release says, if that is below R/4; else R. */
static tct_status typical(fit *f, double *length, tct_error *err) {
  const tct_facts *facts = f->problem->facts;
  double counts[TCT_QUANTILE_EDGES];
  *length = facts->row_norm;
  if (!(f->rule.norms > 0)) return TCT_OK;
  TCT_TRY(count(f, 0, tct_quantile_bin, *length, TCT_QUANTILE_EDGES, counts, err));
  *length = tct_quantile_beyond_noise(counts, *length, dpmetric_within, tct_mech_release_of(f->mech, 0)->deviation,
                                      (double)facts->rows);
  if (*length > 0.25 * facts->row_norm) *length = facts->row_norm; /* R is tight, and tails keep their size */
  return tct_mech_join_first(f->mech, length, 1, err);
}

/* C and B from the release at w. */
static tct_status clip_of(fit *f, const double *w, double *clip, tct_error *err) {
  double counts[CELLS], best = INFINITY, p = (double)f->moments.p;
  sizes(f, w);
  TCT_TRY(count(f, place(f, COUNTS), cell_of, f->top, CELLS, counts, err));
  double deviation = tct_mech_release_of(f->mech, place(f, COUNTS))->deviation;
  int from = f->balanced ? 0 : tct_quantile_farthest(counts, CELLS, dpmoments_counts_kept, deviation);
  for (int k = 0; k < CELLS; k++) {
    double to = f->top * exp2(-0.5 * k), bias = 0;
    for (int j = from; j < k; j++)
      if (counts[j] > dpmoments_counts_kept * deviation) bias += counts[j] * (f->top * exp2(-0.5 * j - 0.25) - to);
    double cost = p * pow(to * f->noise, 2) + bias * bias;
    if (cost < best) best = cost, *clip = to, f->bias = bias;
  }
  if (tct_noise_off(f->problem->facts)) *clip = 1e6 * f->top;
  return tct_mech_join_max(f->mech, clip, 1, err); /* one number on all ranks */
}

/* W/C, and the step in it. */
static tct_status scale(fit *f, double clip, tct_error *err) {
  double own = f->shape.clip > 0 ? f->shape.clip : 1;
  for (int64_t k = 0; k < tct_metric_count(&f->shape.metric); k++) f->shape.metric.w[k] *= own / clip;
  f->shape.clip = clip;
  f->shape.sensitivity = 2 * f->inverse * clip;
  if (!tct_metric_settle(&f->shape.metric))
    return tct_fail(err, TCT_E_RUN, "the metric is not finite; scale the columns");
  tct_dpmetric_step_free(&f->step);
  return tct_dpmetric_step_new(f->problem, &f->shape, tct_mech_release_of(f->mech, place(f, STEPS)), &f->step, err);
}

/* image[p] <- W g/n + l2 W u in units of C, for a released W g. */
static void image_of(const fit *f, const double *released, const double *u, double *image) {
  const tct_facts *facts = f->problem->facts;
  int64_t p = f->moments.p;
  double *ridge = f->memory + 4 * p;
  for (int64_t j = 0; j < p; j++) ridge[j] = facts->intercept && j == p - 1 ? 0 : facts->penalty.l2 * u[j];
  tct_metric_plain(&f->shape.metric, ridge, image);
  tct_axpy(1 / (double)facts->rows, released, image, p);
}

/* move[p], in the coordinates of W and units of `unit`: as far as the gradients know more than the moments.  In a
 * direction where these have the variance V that is V/(V + u).  It is more where the move is longer than V and u
 * explain, as where moments lost rows beyond the last shell.  V becomes what is then left. */
static tct_status weigh(fit *f, double unit, double *move, tct_error *err) {
  int64_t p = f->moments.p;
  double n = (double)f->problem->facts->rows, *vector = f->factor + p * p, *value = vector + p * p, *out = value + p;
  double unknown = (pow(f->noise * f->shape.clip, 2) + f->bias * f->bias / (double)p) / (n * n * unit * unit);
  memcpy(f->factor, f->model.covariance, (size_t)(p * p) * sizeof *vector);
  if (!tct_eigenvectors(f->factor, p, value, vector, out + p))
    return tct_fail(err, TCT_E_RUN, "the released moments have no eigenvalues; scale the columns");
  memset(out, 0, (size_t)p * sizeof *out);
  memset(f->model.covariance, 0, (size_t)(p * p) * sizeof *vector);
  for (int64_t k = 0; k < p; k++) {
    double at = tct_dot(vector + k * p, move, p), own = fmax(value[k], 0) / (unit * unit);
    bool explained = at * at <= 9 * (own + unknown); /* three deviations */
    double part = explained ? own / (own + unknown) : 1 - unknown / (at * at);
    if (at != 0) tct_axpy(part * at, vector + k * p, out, p);
    for (int64_t i = 0; i < p; i++)
      tct_axpy(part * unknown * unit * unit * vector[k * p + i], vector + k * p, f->model.covariance + i * p, p);
  }
  memcpy(move, out, (size_t)p * sizeof *out);
  return TCT_OK;
}

/* A round where the moments say every direction: one sum, all releases of it. */
static tct_status balance(fit *f, double *w, tct_error *err) {
  int64_t p = f->moments.p, steps = steps_of(&f->rule, f->round);
  double *image = f->memory, *move = image + p;
  TCT_TRY(tct_dpmetric_gradient(&f->step, f->mech, place(f, STEPS), steps, w, err));
  image_of(f, f->step.sum, w, image);
  TCT_TRY(weigh(f, f->shape.clip, image, err));
  tct_metric_turn(&f->shape.metric, image, move);
  tct_dpmetric_move(f->problem->facts, w, pow(f->shape.clip, 2), move, w);
  return TCT_OK;
}

/* w <- what lies between the moments' model and w. */
static tct_status between(fit *f, double *w, tct_error *err) {
  int64_t p = f->moments.p;
  double *apart = f->memory, *turned = apart + p, *inverse = f->factor;
  memcpy(inverse, f->shape.metric.w, (size_t)(p * p) * sizeof *inverse);
  tct_lower_invert(inverse, p, turned);
  memset(turned, 0, (size_t)p * sizeof *turned);
  for (int64_t i = 0; i < p; i++) tct_axpy(w[i] - f->model.w[i], inverse + i * p, turned, i + 1);
  TCT_TRY(weigh(f, 1 / f->shape.clip, turned, err));
  tct_metric_turn(&f->shape.metric, turned, apart);
  tct_dpmetric_move(f->problem->facts, f->model.w, -1, apart, w);
  return TCT_OK;
}

/* A round elsewhere: the second one ends at the mean of its steps. */
static tct_status descend(fit *f, double *w, tct_error *err) {
  const tct_facts *facts = f->problem->facts;
  int64_t p = f->moments.p, steps = steps_of(&f->rule, f->round);
  double *move = f->memory, *sum = move + p, *image = sum + p;
  memset(sum, 0, (size_t)p * sizeof *sum);
  for (int64_t t = 0; t < steps; t++) {
    TCT_TRY(tct_problem_tick(f->problem, 0.5 * f->round + 0.5 * (double)t / (double)steps, err));
    TCT_TRY(tct_dpmetric_gradient(&f->step, f->mech, place(f, STEPS), 1, w, err));
    image_of(f, f->step.sum, w, image);
    tct_metric_turn(&f->shape.metric, image, move);
    tct_dpmetric_move(facts, w, pow(f->shape.clip, 2), move, w);
    tct_axpy(1 / (double)steps, w, sum, p);
  }
  if (f->round == 0) return TCT_OK;
  memcpy(w, sum, (size_t)p * sizeof *w);
  return tct_noise_off(facts) ? TCT_OK : between(f, w, err);
}

/* Steps 2 and 3, twice. */
static tct_status rounds(fit *f, double *w, tct_error *err) {
  const tct_facts *facts = f->problem->facts;
  f->balanced = facts->loss.kind->least_squares && f->moments.determined && !tct_noise_off(facts);
  for (f->round = 0; f->round < 2; f->round++) {
    double clip = 1, one = tct_mech_release_of(f->mech, place(f, STEPS))->deviation;
    f->noise = one / sqrt((double)f->rule.steps); /* a clip for all gradients */
    TCT_TRY(clip_of(f, w, &clip, err));
    f->noise = one / sqrt((double)steps_of(&f->rule, f->round));
    TCT_TRY(scale(f, clip, err));
    TCT_TRY((f->balanced ? balance : descend)(f, w, err));
  }
  return TCT_OK;
}

static tct_status prepare(fit *f, double *w, tct_error *err) {
  const tct_facts *facts = f->problem->facts;
  int64_t n = f->problem->view->rows;
  double length = 0;
  TCT_TRY(tct_problem_tick(f->problem, 0, err));
  f->length = tct_alloc_by(facts->threads, n, sizeof(double));
  f->size = tct_alloc_by(facts->threads, n, sizeof(double));
  if (!f->length || !f->size) return tct_fail_memory(err);
  tct_row_norms(f->problem->view, f->size, facts->threads);
  TCT_TRY(typical(f, &length, err));
  TCT_TRY(tct_moments_release(f->problem, f->mech, f->rule.norms > 0, length, &f->moments, err));
  TCT_TRY(tct_moments_fit(facts, &f->moments, dpmoments_edges, f->mech, &f->model, err));
  tct_dpmetric_move(facts, f->model.w, 0, f->model.w, f->model.w); /* cut to the largest weight */
  memcpy(w, f->model.w, (size_t)f->moments.p * sizeof *w);
  f->shape.metric = f->model.metric;
  TCT_TRY(tct_metric_inverse_size(&f->shape.metric, &f->inverse, err));
  f->memory = TCT_NEW(double, 5 * f->moments.p);
  f->factor = TCT_NEW(double, 2 * f->moments.p * f->moments.p + 5 * f->moments.p);
  if (!f->memory || !f->factor) return tct_fail_memory(err);
  f->top = 8 * sqrt((double)f->moments.p) * facts->label_bound;
  TCT_TRY(tct_metric_lengths(&f->shape.metric, f->problem->view, f->length, facts->threads, err));
  for (int64_t i = 0; i < n; i++)
    if (!(f->size[i] > 0x1p-60 * facts->row_norm)) f->length[i] = 0; /* a record that is left out is in no count */
  return TCT_OK;
}

static tct_status run(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                      tct_error *err) {
  const tct_facts *facts = problem->facts;
  fit f = {.problem = problem, .mech = mech, .rule = rule_of(facts, &plan->spec)};
  tct_status status = prepare(&f, w, err);
  if (status == TCT_OK) status = rounds(&f, w, err);
  tct_dpmetric_step_free(&f.step);
  tct_moments_model_free(&f.model);
  tct_moments_free(&f.moments);
  tct_wipe_free(f.length, problem->view->rows, sizeof(double));
  tct_wipe_free(f.size, problem->view->rows, sizeof(double));
  tct_free(f.memory);
  tct_free(f.factor);
  return status;
}

const tct_solver tct_solver_dpmoments = {
    .name = "dpmoments",
    .summary = "least squares from private moments in shells of length, and a gradient that balances noise and bias",
    .options = options,
    .is_private = true,
    .rows_apart = true,
    .row_bytes = 48,
    .square_bytes = 8 * (14 + 2 * TCT_SHELLS), /* each shell, and its kept directions */
    .passes = {NULL, 0, 10, false},
    .relations = TCT_RELATION_BOTH,
    .weighing = TCT_WEIGHS_PERSONS,
    .plan = plan,
    .run = run,
    .weight_bound = tct_dpmetric_weight_bound,
};
