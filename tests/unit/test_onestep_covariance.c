/* test_onestep_covariance.c - what the last step of dponestep may leave unknown, which weights that withholds, and what
 * a run learns before its walk. */
#include "worlds.h"

#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#define tct_solver_dponestep tct_solver_of_this_test /* the library has its own */
#include "solve/onestep/dponestep.c"                 /* what its last step is told of itself */

/* Tails that are alike bias nothing that counts, but a clip that cuts them leaves another fit than that without. */
static void a_clip_of_numbers_cuts_nothing_where_noise_is_next_to_nothing(void **state) {
  (void)state;
  enum { CELLS = TCT_ONESTEP_EDGES, N = 20000, LAST = 20 };
  double count[2 * CELLS] = {0}, before = 1, clip[2];
  for (int j = 0; j <= LAST; j++) {
    double left = exp(-tct_onestep_edge(j));
    count[j] = count[CELLS + j] = N / 2 * (before - left), before = left;
  }
  for (int k = 0; k < 2; k++) {
    tct_onestep_terms terms = {.count = count, .deviation = 1e-6, .rows = N, .dimension = 6, .given = NAN};
    terms.noise = k ? 1e-9 : 1e-2, terms.part = 0.5, terms.even = true, terms.most = INFINITY;
    clip[k] = tct_onestep_pick_clip(&terms);
  }
  assert_true(clip[1] > tct_onestep_edge(LAST) && clip[0] < 0.7 * tct_onestep_edge(LAST));
}

/* The variance of slopes alone: the curvature would give an interval, and a small one. */
static void what_cannot_be_taken_apart_gives_no_interval(void **state) {
  (void)state;
  enum { P = 2 };
  double h[P * P] = {1, 0, 0, 1}, gradient[P] = {0}, step[P];
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  for (int k = 0; k < P * P; k++) metric.w[k] = h[k];
  assert_true(tct_metric_settle(&metric));
  for (int known = 0; known <= 1; known++) {
    double spread[P * P] = {1, 0, 0, known ? 1 : NAN};
    tct_inference errors;
    tct_onestep_moments moments = {.curvature = h, .variance = spread, .curvature_noise = 0.01};
    tct_onestep_released released = {gradient, gradient, 0, &moments, 9, TCT_LINK_IDENTITY};
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    for (int j = 0; j < P; j++) assert_int_equal(errors.why[j], known ? TCT_GIVEN : TCT_NOISE_ABOVE_SIGNAL);
    tct_inference_free(&errors);
  }
  tct_metric_free(&metric);
}

/* One direction stands out of noise, which the others' mean is below: that is noise's doing.  So is a sum within three
 * deviations. */
static void a_curvature_that_is_noise_gives_no_interval(void **state) {
  (void)state;
  enum { P = 4 };
  static const double values[4][P] = {{4, 0.5, -1, -1}, {4, 2.5, 1, -1}, {4, 2, 2, 1}, {4, 2.5, 0, -1}};
  double gradient[P] = {0}, step[P];
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  for (int k = 0; k < P * P; k++) metric.w[k] = k % (P + 1) == 0;
  assert_true(tct_metric_settle(&metric));
  for (int known = 0; known < 4; known++) { /* 2: unknown noise */
    double h[P * P] = {0};
    for (int k = 0; k < P; k++) h[k * (P + 1)] = values[known][k];
    tct_inference errors;
    tct_onestep_moments moments = {.curvature = h, .curvature_noise = known == 2 ? NAN : 1};
    tct_onestep_released released = {gradient, gradient, 0, &moments, 9, TCT_LINK_LOGISTIC};
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    assert_int_equal(errors.why[0], known == 1 ? TCT_GIVEN : TCT_NOISE_ABOVE_SIGNAL);
    tct_inference_free(&errors);
  }
  tct_metric_free(&metric);
}

/* Weight 0 is v_0 + v_1/5, and v_1 is open: its curvature is 1/1000, twice the noise is 0.1.  So 0.8 of weight 0 is. */
static void what_the_step_may_leave_along_an_open_direction_is_part_of_the_error(void **state) {
  (void)state;
  enum { P = 2 };
  double h[P * P] = {1, 0, 0, 0.001}, step[P];
  const double slopes[2] = {0, 0.3}, weights[P] = {9, 40}; /* v = (1, 40) */
  tct_onestep_moments moments = {.curvature = h, .curvature_noise = 0.05};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  memcpy(metric.w, (double[]){1, 0, 0.2, 1}, sizeof(double[P * P]));
  assert_true(tct_metric_settle(&metric));
  for (int k = 0; k < 2; k++) {
    tct_inference errors;
    double gradient[P] = {0, slopes[k]};
    tct_onestep_released released = {weights, gradient, 0, &moments, 9, TCT_LINK_IDENTITY};
    released.bend = 0.3;
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    assert_int_equal(errors.why[0], TCT_GIVEN);
    assert_int_equal(errors.why[1], TCT_NOISE_ABOVE_SIGNAL);
    /* A direction of curvature 0.1 has 0.4 of the margins' square of v_0, which is 1. */
    double own = errors.noise[0] / (0.2 * 0.2), prior = 0.4 / 0.1, step2 = step[1] * step[1];
    /* The curvature bends along the step, and its noise there moves both. */
    double whole = prior + 0.3 * 0.3 * step2 * step2 + step2 * 0.0025 * (0.5 / (0.2 * 0.2) + 1 / (0.1 * 0.1));
    if (!(own >= 0.97 * whole && own <= 1.03 * whole)) fail_msg("slope %g: %g for %g", slopes[k], own, whole);
    tct_inference_free(&errors);
  }
  tct_metric_free(&metric);
}

/* Eigenvalues 1 + a and 1 - a under noise of .1.  At a = .05 noise alone parts them: both are 1 without it, and nothing
 * of it is left between their vectors.  At a = .4 nearly all is. */
static void of_noise_between_eigenvectors_is_left_what_noise_has_not_parted(void **state) {
  (void)state;
  enum { P = 2 };
  const double s = 0.1, apart[3] = {0.05, 0.1, 0.4}, g[P] = {1, 0.3}, weights[P] = {0};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  memcpy(metric.w, (double[]){1, 0, 0, 1}, sizeof(double[P * P]));
  assert_true(tct_metric_settle(&metric));
  for (int k = 0; k < 3; k++) {
    double a = apart[k], h[P * P] = {1, a, a, 1}, step[P], own = a - s * s * 2 * a / (4 * a * a + s * s);
    double left = s * s / 2 * (own / a), at[2] = {1 + own, 1 - own}, d[2], b[2], m[3], u[2];
    assert_float_equal(left / (s * s / 2), k == 0 ? 0 : k == 1 ? 0.6 : 0.9692, 1e-3);
    for (int i = 0; i < 2; i++) d[i] = (g[0] + (i ? -1 : 1) * g[1]) * sqrt(0.5) / at[i], b[i] = sqrt(0.5) / at[i];
    m[0] = s * s * d[0] * d[0] + left * d[1] * d[1], m[1] = s * s * d[1] * d[1] + left * d[0] * d[0];
    m[2] = left * d[0] * d[1];
    double variance = m[0] * b[0] * b[0] + m[1] * b[1] * b[1] + 2 * m[2] * b[0] * b[1];
    for (int i = 0; i < 2; i++) u[i] = (m[i] * b[i] + m[2] * b[1 - i]) / at[i];
    double both = u[0] * b[1] + u[1] * b[0];
    double moved = 4 * s * s * (pow(u[0] * b[0], 2) + pow(u[1] * b[1], 2)) + 4 * left * both * both;
    tct_inference errors;
    tct_onestep_moments moments = {.curvature = h, .curvature_noise = s};
    tct_onestep_released released = {weights, g, 0, &moments, 9e12, TCT_LINK_IDENTITY};
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    assert_float_equal(step[0], (d[0] + d[1]) * sqrt(0.5), 1e-12);
    assert_float_equal(errors.noise[0] / variance, 1, 1e-9);
    assert_float_equal(errors.noise[1], (m[0] * b[0] * b[0] - m[1] * b[1] * b[1]), 1e-12);
    assert_float_equal(errors.degrees[0] / (2 * variance * variance / moved), 1, 1e-6);
    tct_inference_free(&errors);
  }
  tct_metric_free(&metric);
}

/* Of 20 directions some are empty: only these are withheld, whatever all noise together reaches (.32). */
static void only_empty_directions_are_open(void **state) {
  (void)state;
  enum { P = 20 };
  static double h[P * P], unit[P * P];
  double step[P], gradient[P] = {0}, weights[P] = {0};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  for (int j = 0; j < P; j++) unit[j * P + j] = 1;
  memcpy(metric.w, unit, sizeof unit);
  assert_true(tct_metric_settle(&metric));
  for (int empty = 0; empty <= 12; empty += 6) {
    tct_inference errors;
    for (int j = 0; j < P; j++) h[j * P + j] = j < empty ? 0 : j == P - 1 ? 0.25 : 1;
    tct_onestep_moments moments = {.curvature = h, .curvature_noise = 0.05};
    tct_onestep_released released = {weights, gradient, 0, &moments, 9, TCT_LINK_IDENTITY};
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    assert_int_equal(errors.why[P - 1], TCT_GIVEN);
    assert_int_equal(errors.why[0], empty ? TCT_NOISE_ABOVE_SIGNAL : TCT_GIVEN);
    assert_int_equal(errors.why[P - 2], TCT_GIVEN);
    tct_inference_free(&errors);
  }
  tct_metric_free(&metric);
}

/* v_0 is open, v_1 the constant column's.  A margin that all records share tells nothing about what v_0 may hold. */
static void a_margin_that_all_records_share_is_no_hint_of_what_is_left(void **state) {
  (void)state;
  enum { P = 2 };
  double h[P * P] = {0.001, 0, 0, 1}, step[P], gradient[P] = {0}, noise[2];
  const double weights[P] = {0.5, 3}, mean[P] = {0.2, 1}; /* the mean row's margin is 3.1 */
  tct_onestep_moments moments = {.curvature = h, .curvature_noise = 0.05};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  memcpy(metric.w, (double[]){1, 0, 0, 1}, sizeof(double[P * P]));
  assert_true(tct_metric_settle(&metric));
  for (int k = 0; k < 2; k++) {
    tct_inference errors;
    tct_onestep_released released = {weights, gradient, 0, &moments, 9, TCT_LINK_IDENTITY};
    released.mean = k ? mean : NULL;
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    noise[k] = errors.noise[0];
    tct_inference_free(&errors);
  }
  assert_float_equal(noise[1] / noise[0], (0.1 * 0.1) / (3 * 3), 1e-9);
  tct_metric_free(&metric);
}

/* Of column 0 hidden rows may have all the variance: its weight is withheld, and the others follow as P_k0/P_00.
 * Of fewer records weight 2 has less than .9 of its variance by these, and is given. */
static void rows_that_nobody_sees_withhold_only_what_they_may_decide(void **state) {
  (void)state;
  enum { P = 3 };
  double h[P * P] = {1, 0.001, 0.5, 0.001, 1, 0, 0.5, 0, 1}, step[P], gradient[P] = {0};
  double spread[P * P] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, unseen[P] = {6, 3, 0};
  const double weights[P] = {3, 5, 7};
  const double inverse[P] = {1, -0.001, -0.5}; /* P_k0/P_00 */
  double noise[3][P];
  tct_onestep_moments moments = {.curvature = h, .variance = spread, .curvature_noise = 1e-6};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  for (int k = 0; k < P * P; k++) metric.w[k] = k % (P + 1) == 0;
  assert_true(tct_metric_settle(&metric));
  for (int k = 0; k < 3; k++) {
    tct_inference errors;
    tct_onestep_released released = {weights, gradient, 0, &moments, k < 2 ? 90 : 9, TCT_LINK_LOGISTIC};
    released.unseen = k ? unseen : NULL, released.reach = 2;
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    for (int j = 0; j < P; j++) {
      noise[k][j] = errors.noise[j * P + j];
      assert_int_equal(errors.why[j], k && (j == 0 || (j == 2 && k == 1)) ? TCT_ROWS_TOO_FAR : TCT_GIVEN);
    }
    assert_true(tct_inference_valid(&errors));
    tct_inference_free(&errors);
  }
  double move = 0.5 * (3 + 4 / 2.0); /* half of the whole weight, and of a margin of 4 at the column's end */
  for (int j = 0; j < P; j++)
    assert_float_equal((noise[1][j] - noise[0][j]) / (move * move * inverse[j] * inverse[j]), 1, 1e-3);
  tct_metric_free(&metric);
}

/* Margins move alike by log 2, which is put right, and so is its noise.  What moves them apart leaves its square. */
static void a_common_move_of_counts_leaves_nothing(void **state) {
  (void)state;
  enum { P = 2 };
  double h[P * P] = {4, 0, 0, 2}, second[P * P] = {1, 0, 0, 1}, step[P], s = 0.8, longer = 2 * log(2);
  const double weights[P] = {0.5, 3}, mean[P] = {0, 1}, gradient[P] = {1, -1};
  tct_onestep_moments moments = {.curvature = h};
  tct_inference errors;
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  memcpy(metric.w, (double[]){1, 0, 0, 1}, sizeof(double[P * P]));
  assert_true(tct_metric_settle(&metric));
  tct_onestep_released released = {weights, gradient, s, &moments, 9, TCT_LINK_LOG};
  released.second = second, released.mean = mean, released.grown = log(2);
  released.rest = 0.2, released.dimension = 1;
  assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
  assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
  assert_float_equal(step[0], longer / 4, 1e-12);
  assert_float_equal(step[1], -log(2), 1e-12);
  double moved2 = longer * longer / 16 - s * s / 16, left = 0.2 * moved2 * 6;
  assert_float_equal(errors.noise[0], (s * s + left * left) / 16, 1e-12);
  tct_inference_free(&errors);
  tct_metric_free(&metric);
}

/* Two directions that are known: each number of the head's formulas, with W = I. */
static void the_covariance_is_that_of_the_formulas(void **state) {
  (void)state;
  enum { P = 2 };
  const double H[P] = {2, 4}, J[P] = {3, 5}, g[P] = {0.2, 0.8}, factor[P * P] = {2, 0, 0, 3}, n = 50, s_h = 0.05,
               s_j = 0.05, s_g = 0.1, rest = 2, along = 0.7, shift[P] = {0.05, 0.04}, weights[P] = {0, 0};
  double h[P * P] = {H[0], 0, 0, H[1]}, j[P * P] = {J[0], 0, 0, J[1]}, step[P], second[P * P] = {1, 0, 0, 0.5};
  tct_onestep_moments moments = {.curvature = h, .variance = j, .curvature_noise = s_h, .variance_noise = s_j};
  tct_onestep_released in = {weights, g, s_g, &moments, n, TCT_LINK_LOGISTIC, factor, second};
  in.rest = rest, in.along = along, in.shift = shift, in.dimension = P;
  tct_metric metric;
  tct_inference errors;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  metric.w[0] = metric.w[3] = 1, metric.w[1] = metric.w[2] = 0;
  assert_true(tct_metric_settle(&metric));
  assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
  assert_int_equal(tct_onestep_covariance(&in, &metric, step, &errors, NULL), TCT_OK);
  double d[P] = {g[0] / H[0], g[1] / H[1]}, moved2 = d[0] * d[0] + 0.5 * d[1] * d[1];
  moved2 -= s_g * s_g * (pow(factor[0] / H[0], 2) + 0.5 * pow(factor[3] / H[1], 2)); /* by the noise of g alone */
  double r = pow(rest * moved2 * (H[0] + H[1]), 2) / P, length2 = d[0] * d[0] + d[1] * d[1];
  for (int k = 0; k < P; k++) {
    double own = factor[k * (P + 1)], b = 1 / H[k];
    double middle = s_g * s_g * own * own + s_h * s_h / 2 * (length2 + d[k] * d[k]) + r + along * moved2 * g[k] * g[k] +
                    shift[k] * shift[k];
    assert_float_equal(step[k] / d[k], 1, 2e-3);
    assert_int_equal(errors.why[k], TCT_GIVEN);
    assert_float_equal(errors.noise[k * (P + 1)] / (b * b * middle), 1, 5e-3);
    assert_float_equal(errors.sampling[k * (P + 1)] / (b * b * J[k] / n), 1, 5e-3);
    double variance = b * b * (middle + J[k] / n), by_j = s_j * own * own * b * b / n;
    double moved = pow(by_j / variance, 2) + 4 * s_h * s_h * b * b;
    assert_float_equal(errors.degrees[k] / (2 / moved), 1, 0.02);
  }
  assert_float_equal(errors.noise[1] / ((along * moved2 * g[0] * g[1] + shift[0] * shift[1]) / (H[0] * H[1])), 1, 2e-2);
  in.gradient = (double[P]){4, 0}; /* moves margins by 2 */
  assert_int_equal(tct_onestep_covariance(&in, &metric, step, &errors, NULL), TCT_OK);
  for (int k = 0; k < P; k++) assert_int_equal(errors.why[k], TCT_PATH_TOO_SHORT);
  in.gradient = (double[P]){NAN, 0}; /* what is no number is no small move */
  assert_int_equal(tct_onestep_covariance(&in, &metric, step, &errors, NULL), TCT_OK);
  for (int k = 0; k < P; k++) assert_int_not_equal(errors.why[k], TCT_GIVEN);
  tct_inference_free(&errors);
  tct_metric_free(&metric);
}

/* ---- what a run learns before its walk ------------------------------------------------------------------------- */

enum { N = 4000, COLUMNS = 2 };

/* Even; 1 % of the rows at an end, the others in the middle; a category that 0.6 % have; even and
 * short, about 0.5. */
typedef enum column { EVEN, FAR, RARELY, NARROW } column;

static double entry_of(column of, int64_t i) {
  if (of == FAR) return i % 100 == 0 ? (i % 200 ? -1 : 1) : 0.2 * ((double)(i * 7 % 11) / 5 - 1);
  double even = (double)(i * 37 % 101) / 50 - 1;
  return of == RARELY ? i % 166 == 0 : of == NARROW ? 0.5 + 0.03 * even : even;
}

static double label_bound = 4;

/* A run that has released nothing. */
static void prepare(const char *loss, const column of[COLUMNS], double epsilon, uint64_t seed, world *w,
                    tct_onestep *run) {
  tct_error err = {0};
  records r = records_new(N, COLUMNS, 5);
  for (int64_t k = 0; k < N * COLUMNS; k++) r.x[k] = entry_of(of[k % COLUMNS], k / COLUMNS + k % COLUMNS * 13);
  for (int64_t i = 0; i < N; i++) r.y[i] = !strcmp(loss, "logistic") ? (i % 3 ? 1 : -1) : i % 2;
  tct_config config = world_config(loss, isinf(epsilon) ? "l2:lambda=0.5" : "none", "dponestep:errors=robust");
  config.intercept = 1, config.row_norm = 2, config.label_bound = label_bound, config.epsilon = epsilon;
  assert_int_equal(world_open(w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(tct_mech_new(&w->plan->solved.promise, w->plan->facts.neighbours, &seed, &w->mech, &err), TCT_OK);
  *run = (tct_onestep){.problem = &w->problem, .mech = w->mech};
  records_free(&r);
}

static void learn(world *w, tct_onestep *run) {
  tct_error err = {0};
  if (tct_onestep_begin(run, &w->plan->solved, &err) != TCT_OK) fail_msg("%s", err.text);
}

/* e^offset is the exposure of all. */
static void begin(const char *loss, const column of[COLUMNS], double epsilon, double offset, world *w,
                  tct_onestep *run) {
  prepare(loss, of, epsilon, 3, w, run);
  if (offset < 0) w->problem.offset = w->data->offset = TCT_NEW(double, N);
  for (int64_t i = 0; i < N && offset < 0; i++) w->data->offset[i] = offset;
  learn(w, run);
}

static void end(world *w, tct_onestep *run) {
  tct_onestep_free(run);
  tct_mech_free(w->mech);
  world_close(w);
}

/* Rows that a rare category alone makes far are not far, others are.  Of a column of numbers so much of its variance
 * could be that of rows which the counts' noise hides, were they at its end. */
static void many_rows_are_far_but_for_rare_categories(void **state) {
  (void)state;
  static const column all[][COLUMNS] = {{EVEN, EVEN}, {RARELY, EVEN}, {FAR, EVEN}, {FAR, RARELY}};
  for (int k = 0; k < 4; k++) {
    world w;
    tct_onestep run;
    double longest = 0, rare = k % 2 ? 1 / 166.0 : 0;
    prepare("logistic", all[k], 50, 3, &w, &run);
    w.problem.unit = k == 1; /* a column that is half as long has a quarter of it */
    learn(&w, &run);
    for (int64_t i = 0; i < N; i++) longest = fmax(longest, run.length[i]);
    assert_int_equal(run.heavy, k >= 2);
    assert_true(fabs(run.categories - rare) <= 0.3 * rare);
    assert_true(k != 1 || longest > 7); /* no ridge beyond what its cut images lost */
    assert_true(run.farthest >= longest && run.farthest < 1.5 * longest);
    double hidden = tct_mech_release_of(w.mech, run.at.lengths)->deviation / N, reach2 = (k == 1 ? 1 : 4) * 2 * 2 / 3.0;
    for (int j = 0; j < COLUMNS; j++)
      if (all[k][j] == EVEN) assert_true(fabs(run.unseen[j] / (hidden * reach2 * 3) - 1) < 0.2);
    assert_true(run.unseen[COLUMNS] == 0 && (k != 1 || run.unseen[0] == 0));
    end(&w, &run);
  }
}

/* 1 % of the rows are far, and too many; of a fifth of the weight they are not. */
static void far_rows_count_by_their_weight(void **state) {
  (void)state;
  static const column far[COLUMNS] = {FAR, EVEN};
  for (int light = 0; light < 2; light++) {
    world w;
    tct_onestep run;
    prepare("logistic", far, 50, 3, &w, &run);
    w.problem.weight = w.data->weight = TCT_NEW(double, N);
    for (int64_t i = 0; i < N; i++) w.data->weight[i] = light && i % 100 == 0 ? 0.2 : 1;
    learn(&w, &run);
    assert_int_equal(run.heavy, !light);
    end(&w, &run);
  }
}

/* With noise the matrix has a rare category's share at 0 and below, where no values 0 and 1 have a variance. */
static void noise_makes_no_numbers_of_a_rare_category(void **state) {
  (void)state;
  static const column rare[COLUMNS] = {RARELY, EVEN};
  for (uint64_t seed = 0; seed < 20; seed++) {
    world w;
    tct_onestep run;
    prepare("logistic", rare, 8, seed, &w, &run);
    learn(&w, &run);
    if (run.unseen[0] != 0) fail_msg("seed %d: hidden rows for %g of its variance", (int)seed, run.unseen[0]);
    assert_true(run.mean[0] > 0 && run.categories == run.mean[0]); /* its rows are far */
    end(&w, &run);
  }
}

/* Steps before the last by n mu/p, as rules.def has them. */
static void numbers_go_a_step_more_and_little_noise_too(void **state) {
  (void)state;
  static const column even[COLUMNS] = {EVEN, EVEN};
  static const double epsilons[] = {0.8, 8, 50}, signals[] = {292, 2221, 8903};
  static const int64_t numbers[] = {4, 4, 5}, others[] = {3, 3, 5};
  for (int k = 0; k < 6; k++) {
    world w;
    tct_onestep run;
    begin(k % 2 ? "squared" : k ? "poisson" : "logistic", even, epsilons[k / 2], 0, &w, &run);
    assert_float_equal(run.rule.signal, signals[k / 2], 1);
    assert_int_equal(run.rule.steps, (k % 2 ? numbers : others)[k / 2]);
    end(&w, &run);
  }
}

/* Of numbers nobody knows how far hidden rows' labels lie: no weight has an interval.  Nor where bounds of the label
 * are far from nearly all. */
static void numbers_have_no_interval_where_hidden_rows_may_decide_a_column(void **state) {
  (void)state;
  static const column all[][COLUMNS] = {{EVEN, EVEN}, {NARROW, EVEN}, {EVEN, EVEN}};
  for (int k = 0; k < 3; k++) {
    world w;
    tct_onestep run;
    tct_inference errors = {0};
    tct_error err = {0};
    label_bound = k == 2 ? 400 : 4;
    begin("squared", all[k], 50, 0, &w, &run);
    tct_mech_free(w.mech); /* a run has its own */
    w.problem.inference = &errors;
    assert_int_equal(world_run(&w, 5, NULL, NULL, &err), TCT_OK);
    for (int j = 0; j <= COLUMNS; j++) assert_int_equal(errors.why[j], k ? TCT_ROWS_TOO_FAR : TCT_GIVEN);
    assert_true(errors.robust && (k == 2 || fabs(errors.residual - 0.5) < 0.05)); /* labels are 0 or 1 */
    tct_inference_free(&errors);
    tct_onestep_free(&run);
    world_close(&w);
  }
  label_bound = 4;
}

/* Twice the variance of a column hidden: 4/3 of the step, but for noise of .1 and of .2 in three directions each.  With
 * that alone, or without far rows, nothing. */
static void hidden_rows_move_numbers_in_proportion_of_the_step_that_seen_ones_make(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column even[COLUMNS] = {EVEN, EVEN};
  double g[P] = {0.3, 0.4, 0}, small[P] = {0.1, 0, 0};
  world w;
  tct_onestep run;
  begin("squared", even, 50, 0, &w, &run);
  walk m = {.g = g, .deviation = 0.1};
  run.hidden = 2, run.heavy = true;
  assert_float_equal(moved_by_far(&run, &m, 0.2), 16.0 / 9 * (1 - (0.03 + 0.12) / 0.25), 1e-9);
  run.hidden = 0, run.unseen[1] = 2;
  assert_float_equal(moved_by_far(&run, &m, 0.2), 16.0 / 9 * (1 - (0.03 + 0.12) / 0.25), 1e-9);
  run.heavy = false;
  assert_true(moved_by_far(&run, &m, 0.2) == 0);
  run.heavy = true, m.g = small;
  assert_true(moved_by_far(&run, &m, 0.2) == 0);
  end(&w, &run);
}

/* Without noise weights and errors are those of the penalised equations: A = X^T X/n + lambda D, A^-1 J A^-1/n. */
static void a_ridge_is_in_the_last_step_and_in_its_errors(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column of[COLUMNS] = {EVEN, RARELY};
  double a[P * P] = {0.5, 0, 0, 0, 0.5}, j[P * P] = {0}, b[P] = {0}, row[P];
  world w;
  tct_onestep run;
  tct_inference errors = {0};
  tct_error err = {0};
  begin("squared", of, INFINITY, 0, &w, &run);
  tct_mech_free(w.mech); /* a run has its own */
  w.problem.inference = &errors;
  assert_int_equal(world_run(&w, 5, NULL, NULL, &err), TCT_OK);
  for (int again = 0; again < 2; again++) {
    for (int i = 0; i < N; i++) {
      const double x[P] = {entry_of(of[0], i), entry_of(of[1], i + 13), 1}, y = i % 2;
      double r = y - b[0] * x[0] - b[1] * x[1] - b[2];
      for (int k = 0; k < P * P; k++) (again ? j : a)[k] += x[k / P] * x[k % P] * (again ? r * r : 1) / N;
      for (int k = 0; k < P && !again; k++) row[k] = (i ? row[k] : 0) + x[k] * y / N;
    }
    if (again) break;
    assert_true(tct_cholesky(a, P));
    memcpy(b, row, sizeof b);
    tct_cholesky_solve(a, P, b);
  }
  for (int k = 0; k < P; k++) {
    double sum = 0, c[P] = {k == 0, k == 1, k == 2};
    tct_cholesky_solve(a, P, c);
    for (int m = 0; m < P * P; m++) sum += c[m / P] * c[m % P] * j[m] / N;
    assert_float_equal(w.w[k], b[k], 1e-5);
    assert_float_equal(errors.sampling[k * (P + 1)] / sum, 1, 1e-3);
  }
  tct_inference_free(&errors);
  tct_onestep_free(&run);
  world_close(&w);
}

/* No noise, but one deviation of it in the first number. */
static void one_deviation(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                          int64_t len) {
  memcpy(after, before, (size_t)len * sizeof *after);
  after[0] += *(const double *)user * event->noise * sensitivity;
}

/* What gradients and moments are moved by where a release moves by its deviation is the deviation that they state. */
static void stated_deviations_are_those_of_what_is_released(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column even[COLUMNS] = {EVEN, EVEN};
  static const char *const losses[] = {"logistic", "squared", "poisson"};
  for (int k = 0; k < 3; k++) {
    double g[2][P], h[2][P * P], j[2][P * P], weights[P] = {0}, deviation = NAN;
    tct_onestep_moments moments = {0}, slopes = {0};
    for (int kicked = 0; kicked < 2; kicked++) {
      double kick = kicked;
      tct_error err = {0};
      world w;
      tct_onestep run;
      begin(losses[k], even, 50, 0, &w, &run);
      tct_mech_probe_test(w.mech, one_deviation, &kick);
      moments.curvature = h[kicked], slopes.variance = j[kicked];
      if (!run.rule.scaled) assert_int_equal(tct_onestep_set_clip(&run, 0, run.at.steps, 1, weights, &err), TCT_OK);
      if (run.rule.scaled) run.clip = 1;
      assert_int_equal(tct_onestep_open_sums(&run, run.at.steps, &err), TCT_OK);
      assert_int_equal(tct_onestep_gradient(&run, run.at.steps, weights, g[kicked], &deviation, &err), TCT_OK);
      assert_int_equal(tct_onestep_release_moments(&run, run.at.curvatures, weights, &moments, &err), TCT_OK);
      assert_int_equal(tct_onestep_release_moments(&run, run.at.slopes, weights, &slopes, &err), TCT_OK);
      end(&w, &run);
    }
    assert_float_equal((g[1][0] - g[0][0]) / deviation, 1, 1e-3);
    assert_float_equal((h[1][0] - h[0][0]) / moments.curvature_noise, 1, 1e-3);
    assert_float_equal((j[1][0] - j[0][0]) / slopes.variance_noise, 1, 1e-3);
  }
}

/* Where noise hides the variance of slopes it is a multiple of the curvature, of the trace that was released. */
static void a_hidden_variance_is_the_curvature_s_with_its_own_trace(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column even[COLUMNS] = {EVEN, EVEN};
  static const double seen[P] = {9, 3, 6};
  for (int hidden = 0; hidden < 2; hidden++) {
    double h[P * P] = {2, 0, 0, 0, 4, 0, 0, 0, 6}, j[P * P] = {9, 0, 0, 0, 3, 0, 0, 0, 6}, noise = hidden ? 10 : 1e-6;
    tct_onestep_moments moments = {h, j, 1e-6, noise};
    tct_error err = {0};
    world w;
    tct_onestep run;
    begin("poisson", even, 50, 0, &w, &run);
    assert_int_equal(tct_onestep_settle_variance(&run, &moments, &err), TCT_OK);
    for (int k = 0; k < P; k++) assert_float_equal(j[k * (P + 1)], hidden ? 1.5 * h[k * (P + 1)] : seen[k], 1e-6);
    assert_float_equal(run.dispersion, 18 / 12.0, 1e-9);
    assert_float_equal(run.uncertain, noise * sqrt(P) / 12, 1e-9);
    end(&w, &run);
  }
}

/* Half of the records have one event: in half of the time there are twice as many. */
static void the_walk_of_counts_starts_at_their_rate(void **state) {
  (void)state;
  static const column even[COLUMNS] = {EVEN, EVEN};
  for (int k = 0; k < 2; k++) {
    world w;
    tct_onestep run;
    begin("poisson", even, 50, k * log(0.5), &w, &run);
    assert_float_equal(run.start, log(k ? 1 : 0.5), 0.05);
    end(&w, &run);
  }
}

/* log of the mean count over the mean prediction. */
static double common_move(const world *w, const double *weights) {
  double margin[N], predicted = 0, seen = 0;
  tct_margins(w->problem.view, weights, margin, 1);
  for (int64_t i = 0; i < N; i++) predicted += exp(margin[i]), seen += w->problem.y[i];
  return log(seen / predicted);
}

/* From far weights, and with next to no noise: the error is what one step leaves.  Of counts 0.2 of the square of what
 * it moves margins by, not all alike, times the mean curvature.  Along an eigenvector .35 of the step's square there,
 * times the eigenvalue.  Of the step itself the part of the curvature that is gone since the start. */
static void what_one_step_leaves_is_its_error_where_noise_is_little(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column even[COLUMNS] = {EVEN, EVEN};
  for (int counts = 0; counts < 2; counts++) {
    double memory[3 * P * P + 8 * P] = {0}, weights[P] = {0.3, -0.2, counts ? -1.5 : 1.2};
    walk m = walk_in(memory, P);
    tct_inference errors = {0};
    tct_error err = {0};
    world w;
    tct_onestep run;
    begin(counts ? "poisson" : "logistic", even, 1e8, 0, &w, &run);
    w.problem.inference = &errors;
    if (counts) run.rule.clip = 100;
    double common = counts ? common_move(&w, weights) : 0, now = 0, begun = 0, moved2 = 0, h[P * P], apart[P];
    tct_onestep_constant(&run.metric, apart);
    assert_int_equal(finish(&run, &m, weights, &err), TCT_OK);
    for (int k = 0; k < P; k++) apart[k] = m.step[k] + common * apart[k];
    for (int k = 0; k < P * P; k++) moved2 += run.second[k] * apart[k / P] * apart[k % P];
    for (int k = 0; k < P; k++) now += m.h[k * (P + 1)], begun += run.typical * run.second[k * (P + 1)];
    double rest = counts ? pow(0.2 * moved2 * now, 2) / run.dimension : 0, along = (1 - now / begun) * moved2;
    if (counts) along *= pow(-expm1(-common) / common, 2); /* g by the curvature of the step's end */
    double value[P], vectors[P * P], scratch[3 * P];
    memcpy(h, m.h, sizeof h);
    assert_true(tct_eigenvectors(h, P, value, vectors, scratch));
    memcpy(h, m.h, sizeof h);
    assert_true(tct_cholesky(h, P));
    for (int j = 0; j < P; j++) {
      double c[P], parts[2];
      for (int k = 0; k < P; k++) c[k] = run.metric.w[k * P + j];
      tct_cholesky_solve(h, P, c);
      parts[0] = rest * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]), parts[1] = along * m.move[j] * m.move[j];
      for (int k = 0; k < P; k++) {
        const double *u = vectors + k * P;
        double step = u[0] * apart[0] + u[1] * apart[1] + u[2] * apart[2];
        parts[0] += pow(0.35 * value[k] * step * step * (u[0] * c[0] + u[1] * c[1] + u[2] * c[2]), 2);
      }
      assert_float_equal(errors.noise[j * (P + 1)] / (parts[0] + parts[1]), 1, 0.01);
      assert_true(parts[0] > 0.03 * parts[1] && parts[1] > 0.02 * parts[0]); /* neither is hidden by the other */
    }
    tct_inference_free(&errors);
    end(&w, &run);
  }
}

/* Counts whose intercept alone is off by log 2: one step is enough, where Newton's is 0.31 too long, and the curvature
 * is that of its end. */
static void counts_whose_margins_are_off_alike_need_one_step(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column even[COLUMNS] = {EVEN, EVEN};
  double weights[P] = {0, 0, log(0.5)}, best[P] = {0}, curve[2] = {0};
  for (int k = 0; k < 4; k++) {
    double memory[3 * P * P + 8 * P] = {0};
    walk m = walk_in(memory, P);
    tct_inference errors = {0};
    tct_error err = {0};
    world w;
    tct_onestep run;
    begin("poisson", even, 1e8, 0, &w, &run);
    run.rule.clip = 100, run.weight = 4, w.problem.inference = &errors; /* nothing is cut */
    if (k == 3) memcpy(best, weights, sizeof best), weights[P - 1] -= log(2);
    if (k == 3) { /* a mean half above its prediction */
      double h[P * P] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[P], room[2 * P];
      tct_onestep_moments moments = {.curvature = h, .curvature_noise = 2};
      tct_onestep_constant(&run.metric, g);
      for (int j = 0; j < P; j++) g[j] *= -0.5;
      assert_float_equal(grow(&run, g, &moments, room), log(1.5), 1e-12);
      assert_true(fabs(h[4] - 1.5) < 1e-12 && fabs(moments.curvature_noise - 3) < 1e-12);
    }
    assert_int_equal(finish(&run, &m, weights, &err), TCT_OK);
    curve[k == 3] = m.h[0];
    tct_inference_free(&errors);
    end(&w, &run);
  }
  for (int j = 0; j < P; j++) assert_float_equal(weights[j], best[j], 3e-3);
  assert_float_equal(curve[1] / curve[0], 1, 3e-3);
}

/* Own noise 2 beside 1 along the walk: four parts of five are the walk's, where little has moved since. */
static void curvatures_are_averaged_by_the_precision_of_each(void **state) {
  (void)state;
  enum { P = COLUMNS + 1 };
  static const column even[COLUMNS] = {EVEN, EVEN};
  static const char *const losses[] = {"logistic", "poisson", "huber"};
  for (int k = 0; k < 9; k++) {
    double h[P * P], before[P * P];
    bool kept = (k < 6 && k % 3 == 0) || k == 2; /* not of numbers, none along the walk, a long last step of counts */
    walk m = {.curvature = before, .noise = 1, .known = k % 3 != 1, .moved = k % 3 == 2 ? 0.3 : 0.1};
    tct_onestep_moments moments = {.curvature = h, .curvature_noise = 2};
    world w;
    tct_onestep run;
    for (int j = 0; j < P * P; j++) h[j] = j, before[j] = 10;
    begin(losses[k / 3], even, 50, 0, &w, &run);
    average(&run, &m, &moments);
    for (int j = 0; j < P * P; j++) assert_float_equal(h[j], kept ? 0.2 * j + 0.8 * 10 : j, 1e-12);
    assert_float_equal(moments.curvature_noise, kept ? sqrt(0.8) : 2, 1e-12); /* 1/(1/4 + 1/1) */
    end(&w, &run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clip_of_numbers_cuts_nothing_where_noise_is_next_to_nothing),
      cmocka_unit_test(what_cannot_be_taken_apart_gives_no_interval),
      cmocka_unit_test(a_curvature_that_is_noise_gives_no_interval),
      cmocka_unit_test(what_the_step_may_leave_along_an_open_direction_is_part_of_the_error),
      cmocka_unit_test(of_noise_between_eigenvectors_is_left_what_noise_has_not_parted),
      cmocka_unit_test(only_empty_directions_are_open),
      cmocka_unit_test(a_margin_that_all_records_share_is_no_hint_of_what_is_left),
      cmocka_unit_test(rows_that_nobody_sees_withhold_only_what_they_may_decide),
      cmocka_unit_test(many_rows_are_far_but_for_rare_categories),
      cmocka_unit_test(far_rows_count_by_their_weight),
      cmocka_unit_test(noise_makes_no_numbers_of_a_rare_category),
      cmocka_unit_test(numbers_go_a_step_more_and_little_noise_too),
      cmocka_unit_test(the_walk_of_counts_starts_at_their_rate),
      cmocka_unit_test(a_ridge_is_in_the_last_step_and_in_its_errors),
      cmocka_unit_test(stated_deviations_are_those_of_what_is_released),
      cmocka_unit_test(a_hidden_variance_is_the_curvature_s_with_its_own_trace),
      cmocka_unit_test(the_covariance_is_that_of_the_formulas),
      cmocka_unit_test(what_one_step_leaves_is_its_error_where_noise_is_little),
      cmocka_unit_test(counts_whose_margins_are_off_alike_need_one_step),
      cmocka_unit_test(a_common_move_of_counts_leaves_nothing),
      cmocka_unit_test(curvatures_are_averaged_by_the_precision_of_each),
      cmocka_unit_test(numbers_have_no_interval_where_hidden_rows_may_decide_a_column),
      cmocka_unit_test(hidden_rows_move_numbers_in_proportion_of_the_step_that_seen_ones_make),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
