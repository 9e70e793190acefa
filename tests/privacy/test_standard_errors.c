/* test_standard_errors.c - standard errors come from releases alone, state the noise that there is, and cover.
 *
 * Seeds are fixed; the error rates are those over seeds. */
#include "covered.h"
#include "sample.h"

#include "la/exact/spectrum.h"
#include "solve/onestep/one_step.h"

/* ---- what they are made of ---------------------------------------------------------------------------------- */

/* A tape of releases is forced on a table with another record: weights and errors must not notice. */
static void weights_and_their_errors_are_functions_of_releases_alone(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "squared", "huber", "poisson"};
  for (int i = 0; i < 8; i++) {
    world w[2];
    tct_error err = {0};
    tct_inference errors[2] = {{0}, {0}};
    tape t = {.claim = 1};
    records r = records_new(300, 4, 8);
    tct_config config = world_config(losses[i / 2], "none", i % 2 ? "dponestep:errors=robust" : "dponestep");
    config.epsilon = 8;
    for (int k = 0; k < 2; k++) {
      if (k == 1)
        for (int64_t j = 0; j < r.cols; j++) r.x[5 * r.cols + j] = j == 0 ? 0.9 : -0.2;
      if (k == 1) r.y[5] = -r.y[5], t.replay = 1;
      assert_int_equal(world_open(&w[k], &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
      w[k].problem.inference = &errors[k];
      assert_int_equal(world_run(&w[k], 1, tape_probe, &t, &err), TCT_OK);
    }
    assert_true(t.worst > 0); /* the record was another one */
    assert_int_equal(t.mismatches, 0);
    if (memcmp(w[0].w, w[1].w, 4 * sizeof(double))) fail_msg("%s: weights know the record", losses[i / 2]);
    if (memcmp(errors[0].noise, errors[1].noise, 16 * sizeof(double)) ||
        memcmp(errors[0].sampling, errors[1].sampling, 16 * sizeof(double)) ||
        memcmp(errors[0].degrees, errors[1].degrees, 4 * sizeof(double)) ||
        memcmp(errors[0].why, errors[1].why, 4 * sizeof(int32_t)) ||
        memcmp(&errors[0].residual, &errors[1].residual, sizeof(double)))
      fail_msg("%s: errors know the record", losses[i / 2]);
    tape_free(&t);
    for (int k = 0; k < 2; k++) tct_inference_free(&errors[k]), world_close(&w[k]);
    records_free(&r);
  }
}

/* ---- what they say -------------------------------------------------------------------------------------------- */

static tct_model *train(const coverage_table *t, coverage_loss loss, const char *solver, uint64_t seed) {
  return covered_fit(t, loss, solver, 4, NULL, seed);
}

/* 250 fits know a deviation to 4.5 in 100: a right one leaves these bounds in one of 10^4 seeds. */
static void the_stated_deviation_of_the_noise_is_that_of_repeated_fits(void **state) {
  (void)state;
  enum { RUNS = 250, P = 4 };
  for (int loss = LOGISTIC; loss < GAMMA; loss++) {
    if (!sample_turn(loss, 3)) continue;
    coverage_table t = coverage_draw(CORRELATED, (coverage_loss)loss, 8000, P, 1);
    double sum[P] = {0}, squares[P] = {0}, stated[P] = {0}, given[P] = {0};
    for (int run = 0; run < RUNS; run++) {
      tct_model *model = train(&t, (coverage_loss)loss, "dponestep", 100 + (uint64_t)run);
      for (int64_t j = 0; j < P; j++) {
        double w = model->coefficients[j], error = covered_weight(model, j).noise_error;
        if (isnan(error)) continue;
        sum[j] += w, squares[j] += w * w, stated[j] += error * error, given[j]++;
      }
      tct_model_free(model);
    }
    for (int64_t j = 0; j < P; j++) {
      assert_true(given[j] > 0.9 * RUNS);
      double ratio = sqrt(stated[j] / given[j] / ((squares[j] - sum[j] * sum[j] / given[j]) / (given[j] - 1)));
      printf("%s, weight %d: stated %.3f of what is seen\n", coverage_losses[loss], (int)j, ratio);
      if (!(ratio > 0.82 && ratio < 1.22)) fail_msg("%s: the noise is stated %g times", coverage_losses[loss], ratio);
    }
    coverage_free(&t);
  }
}

static void intervals_of_95_percent_cover_the_truth_of_the_population(void **state) {
  (void)state;
  for (int loss = LOGISTIC; loss < GAMMA; loss++)
    if (sample_turn(loss, 3)) covered_check((coverage_loss)loss, "dponestep", NULL);
}

/* One column decides nearly all labels, and three steps do not arrive: what the last one leaves of itself counts. */
static void a_strong_column_is_no_further_off_than_its_error(void **state) {
  (void)state;
  enum { N = 20000, P = 4 };
  static const double strong[] = {4, 8, 12};
  int given = 0;
  for (int run = 0; run < 6; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, LOGISTIC, N, P, 700 + (uint64_t)run);
    dice d = dice_new(31, (uint64_t)run);
    double b = strong[run / 2];
    t.row_norm = 2;
    for (int64_t i = 0; i < N; i++) {
      double *x = t.x + i * P, u = dice_unit(&d);
      for (int64_t j = 0; j + 1 < P; j++) x[j] = dice_unit(&d);
      t.y[i] = u < 1 / (1 + exp(-b * (x[0] - 0.5))) ? 1 : -1, x[P - 1] = 1;
    }
    tct_model *model = covered_fit(&t, LOGISTIC, "dponestep:errors=robust", run % 2 ? 4 : 1, NULL, 60 + (uint64_t)run);
    tct_contrast errors = covered_weight(model, 0);
    double off = (model->coefficients[0] - b) / errors.standard_error;
    printf("slope %g: %.3f, %.2f errors off\n", b, model->coefficients[0], off);
    assert_true(errors.why != TCT_GIVEN || fabs(off) < 2.5);
    given += errors.why == TCT_GIVEN;
    tct_model_free(model);
    coverage_free(&t);
  }
  assert_true(given >= 3);
}

/* How far the mean intercept of 16 tables with few positives or small counts is off. */
static void check_intercept(coverage_loss loss, const char *solver) {
  enum { RUNS = 16, P = 4 };
  double truth[P], sum = 0;
  coverage_truth(OFFSET, loss, P, truth);
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(OFFSET, loss, 20000, P, 300 + (uint64_t)run);
    tct_model *model = train(&t, loss, solver, 40 + (uint64_t)run);
    tct_contrast errors = covered_weight(model, P - 1);
    assert_true(errors.why == TCT_GIVEN);
    sum += (model->coefficients[P - 1] - truth[P - 1]) / errors.standard_error;
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("the intercept is %.2f standard errors off\n", sum / RUNS);
  if (!(fabs(sum / RUNS) < 0.8)) fail_msg("the intercept is %g standard errors off", sum / RUNS);
}

/* Counts have long upper tails: a clip as for normal residuals moves the intercept by six standard errors here. */
static void the_clip_of_counts_hardly_moves_the_intercept(void **state) {
  (void)state;
  check_intercept(POISSON, "dponestep");
}

/* Where noise hides the events, a clip by what is seen, the slopes of zeros, would cut them. */
static void a_clip_of_counts_is_below_two_events_where_pairs_are_few_beside_the_noise(void **state) {
  (void)state;
  double count[2 * TCT_ONESTEP_EDGES] = {0};
  tct_onestep_terms terms = {.count = count, .deviation = 94, .rows = 20000, .dimension = 6, .given = NAN};
  terms.noise = 0.002, terms.part = 0.5;
  count[6] = 8000, count[7] = 11000; /* 0.13 and 0.18 long */
  assert_true(tct_onestep_pick_clip(&terms) < 1);
  terms.typical = 0.02, terms.part = 1;
  assert_true(tct_onestep_pick_clip(&terms) == 1.2);
  terms.typical = 0.5;
  double clip = tct_onestep_pick_clip(&terms);
  assert_true(clip > 1.8 && clip < 2); /* 12 % of the records are pairs, the error of all directions is 0.01 */
}

/* Under the law the cut slope has mean 0, and the curve is what the mean of a fixed cut moves by. */
static void a_cut_count_is_unbiased_under_its_law(void **state) {
  (void)state;
  static const double means[] = {0.01, 0.06, 0.7, 3, 20}, rooms[] = {0.6, 1.3, 1.9, 4};
  for (int k = 0; k < 20; k++) {
    double m = means[k / 4], room = rooms[k % 4], mass = exp(-m), sum = 0, moved = 0, part = NAN;
    for (int y = 0; y < 150; mass *= m / ++y) {
      sum += mass * tct_onestep_cut_count(m, y, room, &part);
      moved += mass * (y - m) * fmin(fmax(y - m, -room), room); /* the score times the cut */
    }
    assert_true(fabs(sum) < 1e-12 && fabs(part - moved / m) < 1e-10 && part > 0 && part < 1);
    assert_true(fabs(tct_onestep_cut_count(m, 1000, room, &part)) <= 2 * room);
  }
  double part = 0;
  assert_true(tct_onestep_cut_count(3, 5, 100, &part) == -2 && part == 1); /* never cut */
  assert_true(isnan(tct_onestep_cut_count(NAN, 5, 1, &part)));
}

/* A table of 1,000 events of 20,000 counts: a path whose clip cut them predicted a tenth. */
static void the_mean_of_rare_counts_is_near_the_truth_where_noise_hides_single_events(void **state) {
  (void)state;
  enum { N = 20000, P = 4, RUNS = 4 };
  double sum = 0;
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, POISSON, N, P, 700 + (uint64_t)run);
    for (int64_t i = 0; i < N; i++) t.y[i] = i % 20 == 0;
    t.label_bound = 10;
    tct_model *model = covered_fit(&t, POISSON, "dponestep:errors=robust", 0.5, NULL, 3 + (uint64_t)run);
    for (int64_t i = 0; i < N; i++) {
      double z = 0;
      for (int64_t j = 0; j < P; j++) z += t.x[i * P + j] * model->coefficients[j];
      sum += exp(z) / N / RUNS;
    }
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("mean prediction %.4f of 0.05\n", sum);
  assert_true(fabs(sum / 0.05 - 1) < 0.15);
}

/* A clip of each label's own slope would shorten the few positives alone. */
static void the_clip_of_two_classes_hardly_moves_the_intercept(void **state) {
  (void)state;
  check_intercept(LOGISTIC, "dponestep:clip=0.6");
}

/* A table that is drawn, its exact fit and the standard errors of that. */
static coverage_table fitted(coverage_kind kind, coverage_loss loss, int64_t n, int64_t p, uint64_t number,
                             double *exact, double *se) {
  coverage_truth(kind, loss, p, exact);
  coverage_table t = coverage_draw(kind, loss, n, p, number);
  coverage_exact(&t, loss, 1, exact, se);
  return t;
}

/* Counts of a right model: what a clip may lose, for all that the walk knows, doubled their noise.  The variance at
 * the end says that it is not there. */
static void robust_errors_of_a_right_model_of_counts_are_hardly_longer(void **state) {
  (void)state;
  enum { RUNS = 8, P = 10 };
  double longer = 0;
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, POISSON, 20000, P, 500 + (uint64_t)run);
    tct_model *own = covered_fit(&t, POISSON, "dponestep", 1, NULL, 60 + (uint64_t)run);
    tct_model *robust = covered_fit(&t, POISSON, "dponestep:errors=robust", 1, NULL, 60 + (uint64_t)run);
    longer += log(covered_weight(robust, 1).noise_error / covered_weight(own, 1).noise_error) / RUNS;
    tct_model_free(own), tct_model_free(robust);
    coverage_free(&t);
  }
  printf("robust: the noise counts as %.2f times that of the model's own\n", exp(longer));
  assert_true(exp(longer) < 1.75);
}

/* A short clip along the path leaves the last step so far to go that the square of it was 2.7 errors of the intercept.
 */
static void the_path_of_skewed_counts_ends_so_near_that_one_step_is_enough(void **state) {
  (void)state;
  enum { P = 5 };
  double exact[P], se[P];
  coverage_table t = fitted(SKEW_ERRORS, POISSON, 200000, P, 0, exact, se);
  tct_model *model = train(&t, POISSON, "dponestep:errors=robust", 12);
  for (int64_t j = 0; j < P; j++) {
    double off = (model->coefficients[j] - exact[j]) / se[j];
    printf("weight %d is %.2f standard errors from the exact fit's\n", (int)j, off);
    if (!(fabs(off) < 1.2)) fail_msg("weight %d is %g standard errors off", (int)j, off);
  }
  tct_model_free(model);
  coverage_free(&t);
}

/* Cut images have a twentieth of a rare column's variance.  A metric and a first step made of that were so long that
 * its weight was hundreds of errors off; as far rows, its records cost half of the width. */
static void the_weight_of_a_rare_category_arrives_where_noise_is_little(void **state) {
  (void)state;
  enum { P = 5, TABLES = 5 };
  for (int k = 0; k < 2 * TABLES; k++) {
    coverage_loss loss = k % 2 ? SQUARED : LOGISTIC;
    double exact[P], se[P];
    coverage_table t = fitted(RARE, loss, 20000, P, 1000 + (uint64_t)k / 2, exact, se);
    tct_model *model = train(&t, loss, "dponestep", 12 + (uint64_t)k);
    tct_contrast errors = covered_weight(model, 0);
    double off = (model->coefficients[0] - exact[0]) / se[0], wide = errors.standard_error / se[0];
    printf("%s: %.2f standard errors off, %.2f as wide\n", coverage_losses[loss], off, wide);
    if (errors.why != TCT_GIVEN || !(fabs(off) < 2 && wide < 2))
      fail_msg("%s: %g standard errors off, %g as wide", coverage_losses[loss], off, wide);
    tct_model_free(model);
    coverage_free(&t);
  }
}

/* Units that were far above every term once cut the variance of slopes to 0: errors were 10^-7 of these. */
static void without_noise_errors_are_those_of_an_exact_fit(void **state) {
  (void)state;
  enum { P = 5 };
  for (int loss = LOGISTIC; loss < GAMMA; loss++) {
    double exact[P], se[P];
    coverage_table t = fitted(HETERO, (coverage_loss)loss, 2000, P, 7, exact, se);
    tct_model *model = covered_fit(&t, (coverage_loss)loss, "dponestep:errors=robust", INFINITY, NULL, 1);
    for (int64_t j = 0; j < P; j++) {
      tct_contrast own = covered_weight(model, j);
      if (own.why != TCT_GIVEN || own.noise_error != 0 || !(fabs(own.standard_error / se[j] - 1) < 0.01))
        fail_msg("%s: an error of %g where it is %g", coverage_losses[loss], own.standard_error, se[j]);
    }
    tct_model_free(model);
    coverage_free(&t);
  }
}

/* Two equal columns: their difference has no curvature, but rounding leaves some, and an error of 10^8. */
static void without_noise_equal_columns_have_no_interval(void **state) {
  (void)state;
  enum { P = 4 };
  for (int loss = LOGISTIC; loss < GAMMA; loss++) {
    coverage_table t = coverage_draw(INDEPENDENT, (coverage_loss)loss, 2000, P, 9);
    for (int64_t i = 0; i < t.n; i++) t.x[i * P + 1] = t.x[i * P];
    tct_model *model = covered_fit(&t, (coverage_loss)loss, "dponestep:errors=robust", INFINITY, NULL, 1);
    for (int64_t j = 0; j < P; j++)
      if ((covered_weight(model, j).why == TCT_GIVEN) != (j > 1))
        fail_msg("%s, weight %d", coverage_losses[loss], (int)j);
    tct_model_free(model);
    coverage_free(&t);
  }
}

/* ---- their parts ------------------------------------------------------------------------------------------------ */

static void students_t_has_the_values_of_its_tables(void **state) {
  (void)state;
  assert_float_equal(tct_student_quantile(0.95, 1), 12.7062047, 1e-6);
  assert_float_equal(tct_student_quantile(0.95, 10), 2.2281389, 1e-6);
  assert_float_equal(tct_student_quantile(0.99, 30), 2.7499957, 1e-6);
  assert_float_equal(tct_student_quantile(0.95, INFINITY), 1.9599640, 1e-6);
  assert_float_equal(tct_student_quantile(0.95, 1e7), 1.9599642, 1e-6);
  assert_float_equal(tct_student_tail(1, 1), 0.5, 1e-12);
  assert_float_equal(tct_student_tail(-2.2281389, 10), 0.05, 1e-8);
  assert_true(isnan(tct_student_tail(NAN, 3)) && isnan(tct_student_quantile(1, 3)) &&
              isnan(tct_student_quantile(0, 3)));
}

static void eigenvectors_put_the_matrix_together_again(void **state) {
  (void)state;
  enum { P = 9 };
  double a[P * P], kept[P * P], value[P], vector[P * P], scratch[3 * P];
  uint64_t random = 3;
  for (int j = 0; j < P; j++)
    for (int k = 0; k <= j; k++) a[j * P + k] = a[k * P + j] = world_real(&random) * exp(8 * world_real(&random));
  for (int j = 0; j < P; j++) a[4 * P + j] = a[j * P + 4] = 0; /* an eigenvalue of 0 */
  memcpy(kept, a, sizeof a);
  assert_true(tct_eigenvectors(a, P, value, vector, scratch));
  for (int j = 0; j < P; j++)
    for (int k = 0; k < P; k++) {
      double sum = 0, inner = 0;
      for (int m = 0; m < P; m++) {
        sum += value[m] * vector[m * P + j] * vector[m * P + k];
        inner += vector[j * P + m] * vector[k * P + m];
      }
      assert_float_equal(sum, kept[j * P + k], 1e-11 * 3000);
      assert_float_equal(inner, j == k, 1e-13);
    }
}

/* 600 draws of the noise know the mean to 0.5 in 100; without the correction it is 4 in 100 too large. */
static void noise_in_the_curvature_leaves_the_mean_of_its_inverse(void **state) {
  (void)state;
  enum { P = 6, RUNS = 600 };
  static const double values[P] = {0.4, 0.5, 0.6, 0.7, 0.8, 1};
  const double noise = 0.05;
  double h[P * P], gradient[P] = {0}, step[P], mean[P] = {0};
  tct_onestep_moments moments = {.curvature = h, .curvature_noise = noise};
  tct_onestep_released released = {gradient, gradient, 0, &moments, 1, TCT_LINK_IDENTITY};
  tct_metric metric;
  dice d = dice_new(5, 6);
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  for (int k = 0; k < P * P; k++) metric.w[k] = k % (P + 1) == 0;
  assert_true(tct_metric_settle(&metric));
  for (int run = 0; run < RUNS; run++) {
    tct_inference errors;
    for (int j = 0; j < P; j++)
      for (int k = 0; k <= j; k++)
        h[j * P + k] = h[k * P + j] =
            j == k ? values[j] + noise * dice_normal(&d) : noise * sqrt(0.5) * dice_normal(&d);
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    for (int j = 0; j < P; j++) mean[j] += errors.sampling[j * P + j] / RUNS;
    tct_inference_free(&errors);
  }
  for (int j = 0; j < P; j++)
    if (!(fabs(mean[j] * values[j] - 1) < 0.02)) fail_msg("direction %d: %g of its inverse", j, mean[j] * values[j]);
  tct_metric_free(&metric);
}

static void a_sum_that_holds_a_withheld_weight_is_withheld(void **state) {
  (void)state;
  tct_inference errors;
  assert_int_equal(tct_inference_new(2, &errors, NULL), TCT_OK);
  errors.sampling[0] = errors.sampling[3] = 4, errors.noise[0] = errors.noise[3] = 5;
  errors.degrees[0] = 7, errors.degrees[1] = 3, errors.why[1] = TCT_NOISE_ABOVE_SIGNAL;
  tct_contrast one = tct_inference_contrast(&errors, (double[]){2, 0});
  assert_float_equal(one.standard_error, 6, 1e-12);
  assert_float_equal(one.noise_error, 2 * sqrt(5), 1e-12);
  assert_true(one.why == TCT_GIVEN && one.degrees == 7);
  tct_contrast both = tct_inference_contrast(&errors, (double[]){2, 1e-9});
  assert_true(both.why == TCT_NOISE_ABOVE_SIGNAL && isnan(both.standard_error) && isnan(both.noise_error));
  assert_true(tct_inference_valid(&errors));
  errors.noise[1] = 1;
  assert_false(tct_inference_valid(&errors)); /* not symmetric */
  tct_inference_free(&errors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_and_their_errors_are_functions_of_releases_alone),
      cmocka_unit_test(the_stated_deviation_of_the_noise_is_that_of_repeated_fits),
      cmocka_unit_test(intervals_of_95_percent_cover_the_truth_of_the_population),
      cmocka_unit_test(a_clip_of_counts_is_below_two_events_where_pairs_are_few_beside_the_noise),
      cmocka_unit_test(a_cut_count_is_unbiased_under_its_law),
      cmocka_unit_test(the_mean_of_rare_counts_is_near_the_truth_where_noise_hides_single_events),
      cmocka_unit_test(a_strong_column_is_no_further_off_than_its_error),
      cmocka_unit_test(the_clip_of_counts_hardly_moves_the_intercept),
      cmocka_unit_test(the_clip_of_two_classes_hardly_moves_the_intercept),
      cmocka_unit_test(the_weight_of_a_rare_category_arrives_where_noise_is_little),
      cmocka_unit_test(robust_errors_of_a_right_model_of_counts_are_hardly_longer),
      cmocka_unit_test(the_path_of_skewed_counts_ends_so_near_that_one_step_is_enough),
      cmocka_unit_test(without_noise_errors_are_those_of_an_exact_fit),
      cmocka_unit_test(without_noise_equal_columns_have_no_interval),
      cmocka_unit_test(noise_in_the_curvature_leaves_the_mean_of_its_inverse),
      cmocka_unit_test(students_t_has_the_values_of_its_tables),
      cmocka_unit_test(eigenvectors_put_the_matrix_together_again),
      cmocka_unit_test(a_sum_that_holds_a_withheld_weight_is_withheld),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
