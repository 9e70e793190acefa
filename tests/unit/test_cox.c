/* test_cox.c - dpcox without noise against Cox's partial likelihood, and what stopping follow-up costs. */
#include "solve/cox/dpcox.h"
#include "worlds.h"

enum { N = 8000, P = 2 };
static const double TRUTH[P] = {1.5, -1};

/* Proportional hazards with a Weibull baseline over a horizon of 2; the first column has a long tail, and follow-up
 * ends evenly. */
static records followed(void) {
  records r = records_new(N, P, 1);
  uint64_t seed = 9;
  for (int64_t i = 0; i < N; i++) {
    double u = (world_real(&seed) + 1) / 2, v = world_real(&seed), e = -log((world_real(&seed) + 1) / 2);
    r.x[i * P] = (float)fmin(2 * pow(u, 6) - 0.5, 1), r.x[i * P + 1] = (float)v;
    double time = pow(e / exp(TRUTH[0] * r.x[i * P] + TRUTH[1] * r.x[i * P + 1]), 1 / 1.3);
    double end = fmin(2, 0.2 + 1.2 * (world_real(&seed) + 1));
    r.y[i] = time <= end ? fmax(time, 1e-6) : -end;
  }
  return r;
}

/* w[P] of `settings` at an infinite epsilon. */
static void fit(const records *r, const char *settings, double *w) {
  tct_error err = {0};
  tct_config config = world_config("cox", "none", settings);
  world own;
  config.intercept = 1, config.row_norm = 2, config.label_bound = 2, config.epsilon = INFINITY;
  if (world_open(&own, r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
  if (world_run(&own, 1, NULL, NULL, &err) != TCT_OK) fail_msg("%s", err.text);
  memcpy(w, own.w, (P + 1) * sizeof *w);
  world_close(&own);
}

static const records *sorted_by;
static int later(const void *a, const void *b) {
  double at = fabs(sorted_by->y[*(const int64_t *)a]), other = fabs(sorted_by->y[*(const int64_t *)b]);
  return (at < other) - (at > other);
}

/* Newton on the partial likelihood; no ties here.  error[P]: standard errors. */
static void exact(const records *r, double *w, double *error) {
  int64_t order[N];
  double h[P * P];
  for (int64_t i = 0; i < N; i++) order[i] = i;
  sorted_by = r;
  qsort(order, N, sizeof *order, later);
  memset(w, 0, P * sizeof *w);
  for (int step = 0; step < 12; step++) {
    double g[P] = {0}, s0 = 0, s1[P] = {0}, s2[P * P] = {0};
    memset(h, 0, sizeof h);
    for (int64_t k = 0; k < N; k++) {
      const double *x = r->x + order[k] * P;
      double e = exp(w[0] * x[0] + w[1] * x[1]);
      s0 += e;
      for (int j = 0; j < P; j++) s1[j] += e * x[j];
      for (int j = 0; j < P * P; j++) s2[j] += e * x[j / P] * x[j % P];
      if (!(r->y[order[k]] > 0)) continue;
      for (int j = 0; j < P; j++) g[j] += x[j] - s1[j] / s0;
      for (int j = 0; j < P * P; j++) h[j] += s2[j] / s0 - s1[j / P] * s1[j % P] / (s0 * s0);
    }
    double det = h[0] * h[3] - h[1] * h[2];
    error[0] = sqrt(h[3] / det), error[1] = sqrt(h[0] / det);
    w[0] += (h[3] * g[0] - h[1] * g[1]) / det, w[1] += (h[0] * g[1] - h[2] * g[0]) / det;
  }
}

static void without_noise_the_weights_are_coxs(void **state) {
  (void)state;
  records r = followed();
  double w[P + 1], cox[P], error[P];
  exact(&r, cox, error);
  fit(&r, "dpcox", w);
  for (int j = 0; j < P; j++)
    if (!(fabs(w[j] - cox[j]) <= 0.2 * error[j]))
      fail_msg("weight %d is %g standard errors from Cox's", j, (w[j] - cox[j]) / error[j]);
  records_free(&r);
}

/* Where follow-up is cut off many of a long tail's; 4 standard errors, and both fits rest on the same records. */
static void stopping_follow_up_biases_nothing(void **state) {
  (void)state;
  records r = followed();
  double w[P + 1], cox[P], error[P];
  exact(&r, cox, error);
  fit(&r, "dpcox:clip=0.8,steps=300", w);
  for (int j = 0; j < P; j++)
    if (!(fabs(w[j] - TRUTH[j]) <= 4 * error[j]))
      fail_msg("weight %d is %g standard errors from the truth", j, (w[j] - TRUTH[j]) / error[j]);
  assert_true(fabs(w[0] - cox[0]) > 1e-3 * error[0]); /* something was stopped */
  records_free(&r);
}

/* What a run with noise knows of its errors, at a horizon of 1.5. */
static tct_inference inferred(const records *r, const char *settings, double epsilon, uint64_t seed) {
  tct_error err = {0};
  tct_config config = world_config("cox", "none", settings);
  world own;
  tct_inference inference = {0};
  config.intercept = 1, config.row_norm = 2, config.label_bound = 1.5, config.epsilon = epsilon, config.delta = 1e-6;
  if (world_open(&own, r, &config, TCT_DENSE_ROWS, TCT_F64, &err) != TCT_OK) fail_msg("%s", err.text);
  own.problem.inference = &inference;
  if (world_run(&own, seed, NULL, NULL, &err) != TCT_OK) fail_msg("%s", err.text);
  world_close(&own);
  return inference;
}

/* Twelve columns and long follow-up, so that the clip of scores is at its most where epsilon is 4 and more. */
static void errors_do_not_grow_with_epsilon(void **state) {
  (void)state;
  enum { ROWS = 6000, COLUMNS = 12 };
  static const double epsilons[] = {1, 4, 16};
  records r = records_new(ROWS, COLUMNS, 1);
  uint64_t seed = 15;
  for (int64_t i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++) r.x[i * COLUMNS + j] = (float)(world_real(&seed) * world_real(&seed) * 0.5);
    double time = -log((world_real(&seed) + 1) / 2) / exp(2 * r.x[i * COLUMNS]);
    r.y[i] = time <= 1.5 ? fmax(time, 1e-6) : -1.5;
  }
  double before = INFINITY;
  for (int k = 0; k < 3; k++) {
    tct_inference inference = inferred(&r, "dpcox", epsilons[k], 1);
    double sum = 0;
    for (int j = 0; j < COLUMNS; j++) {
      int at = j * (COLUMNS + 1) + j;
      assert_int_equal(inference.why[j], TCT_GIVEN);
      sum += sqrt(inference.noise[at] + inference.sampling[at]);
    }
    if (!(sum < 1.02 * before)) fail_msg("epsilon %g: errors of %g in sum, %g before", epsilons[k], sum, before);
    before = sum;
    tct_inference_free(&inference);
  }
  records_free(&r);
}

/* A hazard ratio that is e^1.5 times as large from time 0.4 on.  Half of the events lie before. */
static void a_weight_that_changes_is_seen_and_no_other(void **state) {
  (void)state;
  enum { ROWS = 20000, COLUMNS = 2 };
  for (int changes = 0; changes < 2; changes++) {
    records r = records_new(ROWS, COLUMNS, 1);
    uint64_t seed = 5;
    for (int64_t i = 0; i < ROWS; i++) {
      double x = world_real(&seed), z = world_real(&seed), e = -log((world_real(&seed) + 1) / 2);
      double early = exp(TRUTH[0] * x + TRUTH[1] * z), late = early * exp(changes * 1.5 * x);
      double time = e < 0.4 * early ? e / early : 0.4 + (e - 0.4 * early) / late;
      r.x[i * COLUMNS] = (float)x, r.x[i * COLUMNS + 1] = (float)z;
      r.y[i] = time <= 1.5 ? fmax(time, 1e-6) : -1.5;
    }
    tct_inference inference = inferred(&r, "dpcox:change=0.2", 4, 1);
    assert_non_null(inference.change);
    for (int j = 0; j < COLUMNS; j++) {
      const double *noise = inference.of_change->noise, *sampling = inference.of_change->sampling;
      int at = j * (COLUMNS + 1) + j;
      double error = sqrt(noise[at] + sampling[at]), z = inference.change[j] / error;
      assert_int_equal(inference.of_change->why[j], TCT_GIVEN);
      if (!(changes && j == 0 ? z > 6 : fabs(z) < 5)) fail_msg("column %d, changes %d: %g of %g", j, changes, z, error);
    }
    tct_inference_free(&inference);
    records_free(&r);
  }
}

static void one_cell_is_the_regression_of_rates(void **state) {
  (void)state;
  records r = followed();
  double w[P + 1], g[P + 1] = {0};
  tct_loss loss;
  assert_int_equal(tct_loss_make("cox", &loss, NULL), TCT_OK);
  fit(&r, "dpcox:cells=1", w);
  for (int64_t i = 0; i < N; i++) {
    double slope = tct_loss_slope(&loss, w[0] * r.x[i * P] + w[1] * r.x[i * P + 1] + w[P], r.y[i]);
    for (int j = 0; j < P; j++) g[j] += slope * r.x[i * P + j] / N;
    g[P] += slope / N;
  }
  for (int j = 0; j <= P; j++) assert_true(fabs(g[j]) <= 1e-4);
  records_free(&r);
}

static void an_event_beyond_the_horizon_is_none(void **state) {
  (void)state;
  records r = followed();
  double w[P + 1], other[P + 1];
  for (int64_t i = 0; i < N; i += 9) r.y[i] = 2.5;
  fit(&r, "dpcox", w);
  for (int64_t i = 0; i < N; i += 9) r.y[i] = i % 2 ? -2 : -7;
  fit(&r, "dpcox", other);
  assert_memory_equal(w, other, sizeof w);
  for (int64_t i = 0; i < N; i += 9) r.y[i] = 2; /* at it */
  fit(&r, "dpcox", other);
  assert_true(fabs(w[0] - other[0]) > 1e-3);
  records_free(&r);
}

/* Exponential times over a horizon of 1, a third censored at random, and noise of a known deviation in every count. */
static void the_band_covers_survival(void **state) {
  (void)state;
  enum { RUNS = 300, ROWS = 4000, CELLS = 24 };
  tct_facts facts = {.rows = ROWS, .label_bound = 1};
  tct_problem problem = {.facts = &facts};
  uint64_t seed = 21;
  int covered = 0, points = 0, moved = 0;
  double half = 0, whole = 0;
  for (int run = 0; run < RUNS; run++) {
    tct_cox cox = {.problem = &problem, .rule = {.cells = CELLS}, .counts_deviation = 12};
    tct_course course;
    for (int i = 0; i < ROWS; i++) {
      double event = -log((world_real(&seed) + 1) / 2), end = -2 * log((world_real(&seed) + 1) / 2);
      double time = fmin(fmin(event, end), 1);
      int k = (int)fmin(sqrt(time) * CELLS, CELLS - 1);
      double from = tct_cox_edge(k, CELLS), length = tct_cox_edge(k + 1, CELLS) - from;
      cox.counts[(event <= fmin(end, 1) ? 0 : CELLS) + k] += 1;
      cox.counts[2 * CELLS + k] += (time - from) / length - 0.5;
    }
    for (int k = 0; k < 3 * CELLS; k++) {
      double u = (world_real(&seed) + 1) / 2, v = world_real(&seed);
      cox.counts[k] += cox.counts_deviation * sqrt(-2 * log(u)) * cos(3.14159265358979 * v);
    }
    tct_cox_hazards(cox.counts, CELLS, cox.counts_deviation, ROWS, &cox.hazard);
    tct_cox_course(&cox, 0, &course);
    assert_int_equal(course.cells, CELLS);
    for (int k = 0; k < CELLS; k++) {
      double truth = exp(-course.time[k]);
      covered += course.lower[k] <= truth && truth <= course.upper[k], points++;
      moved += fabs(course.survival[k] - truth) > 1e-4;
      assert_true(course.lower[k] <= course.survival[k] && course.survival[k] <= course.upper[k]);
    }
    half += tct_course_exposure(&course, 0.5) / RUNS, whole += course.exposure[CELLS - 1] / RUNS;
  }
  double share = (double)covered / points;
  if (getenv("TACIT_PRINT")) printf("the band covers %.4f\n", share);
  assert_true(moved > points / 2);
  assert_true(fabs(half - 0.5) < 0.02 && fabs(whole - 1) < 0.02); /* a constant hazard, over its mean */
  if (!(share > 0.93 && share < 0.98)) fail_msg("the band covers %g", share);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_noise_the_weights_are_coxs),
      cmocka_unit_test(stopping_follow_up_biases_nothing),
      cmocka_unit_test(errors_do_not_grow_with_epsilon),
      cmocka_unit_test(a_weight_that_changes_is_seen_and_no_other),
      cmocka_unit_test(one_cell_is_the_regression_of_rates),
      cmocka_unit_test(an_event_beyond_the_horizon_is_none),
      cmocka_unit_test(the_band_covers_survival),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
