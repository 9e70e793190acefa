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

/* 250 fits know a deviation to 4.5 in 100: a right one leaves these bounds in one of 10^4 seeds. */
static void the_stated_deviation_of_the_noise_is_that_of_repeated_fits(void **state) {
  (void)state;
  enum { RUNS = 250, P = 4 };
  for (int loss = LOGISTIC; loss < GAMMA; loss++) {
    if (!sample_turn(loss, 3)) continue;
    coverage_table t = coverage_draw(CORRELATED, (coverage_loss)loss, 8000, P, 1);
    double sum[P] = {0}, squares[P] = {0}, stated[P] = {0}, given[P] = {0};
    for (int run = 0; run < RUNS; run++) {
      tct_model *model = covered_train(&t, (coverage_loss)loss, "dponestep", 100 + (uint64_t)run);
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
      /* of numbers what a clip may take is in it, too */
      if (!(ratio > 0.82 && ratio < (loss == SQUARED ? 1.45 : 1.22)))
        fail_msg("%s: the noise is stated %g times", coverage_losses[loss], ratio);
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

/* A clip of each label's own slope would shorten the few positives alone. */
static void the_clip_of_two_classes_hardly_moves_the_intercept(void **state) {
  (void)state;
  covered_check_intercept(LOGISTIC, "dponestep:clip=0.6");
}

/* Cut images have a twentieth of a rare column's variance.  A metric and a first step made of that were so long that
 * its weight was hundreds of errors off; as far rows, its records cost half of the width.  Half of the tables have -1
 * for 0, as bounds of 0 and 1 are scaled. */
static void the_weight_of_a_rare_category_arrives_where_noise_is_little(void **state) {
  (void)state;
  enum { P = 5, TABLES = 5 };
  for (int k = 0; k < 4 * TABLES; k++) {
    coverage_loss loss = k % 2 ? SQUARED : LOGISTIC;
    double exact[P], se[P];
    coverage_table t = covered_exactly(RARE, loss, 20000, P, 1000 + (uint64_t)k / 4, exact, se);
    for (int64_t i = 0; i < t.n && k % 4 > 1; i++) t.x[i * P] = 2 * t.x[i * P] - 1;
    if (k % 4 > 1) exact[0] /= 2, se[0] /= 2;
    tct_model *model = covered_train(&t, loss, "dponestep", 12 + (uint64_t)k);
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
    coverage_table t = covered_exactly(HETERO, (coverage_loss)loss, 2000, P, 7, exact, se);
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

/* 600 draws of the noise know the mean to a twentieth of it.  The least eigenvalue is off by 1.4 of the noise, and what
 * is taken off leaves 0.3; the errors are made of these. */
static void eigenvalues_of_a_noisy_curvature_are_those_along_its_vectors(void **state) {
  (void)state;
  enum { P = 6, RUNS = 600 };
  static const double values[P] = {0.2, 0.3, 0.35, 0.4, 0.45, 1};
  const double noise = 0.05;
  double h[P * P], gradient[P] = {0}, step[P], raw = 0, left = 0, room[4 * P], value[P], vectors[P * P];
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
    double traced = 0, least = 0, before;
    int first = 0;
    for (int j = 0; j < P; j++) traced += errors.sampling[j * P + j];
    assert_true(tct_eigenvectors(h, P, value, vectors, room));
    for (int j = 1; j < P; j++) first = value[j] < value[first] ? j : first;
    before = value[first];
    for (int j = 0; j < P; j++) least += values[j] * vectors[first * P + j] * vectors[first * P + j];
    tct_onestep_without_noise(value, P, noise, room);
    raw += (before - least) / (noise * RUNS), left += (value[first] - least) / (noise * RUNS);
    for (int j = 0; j < P; j++) traced -= 1 / fmax(value[j], 2 * noise);
    assert_true(fabs(traced) < 1e-9);
    tct_inference_free(&errors);
  }
  printf("the least eigenvalue: %.2f of the noise off, %.2f left\n", raw, left);
  assert_true(raw < -1.2 && fabs(left) < 0.45);
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

/* One outcome in 30 is not 0, more of them where column 0 is large: a clip that noise keeps short takes most of them.
 * Were what counts tell of that no part of the errors, weights were 0.5 to 470 errors off. */
static void what_a_short_clip_takes_of_rare_outcomes_is_in_their_errors(void **state) {
  (void)state;
  enum { RUNS = 12, P = 4, N = 20000 };
  double squares = 0, at = 0;
  int given = 0;
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, SQUARED, N, P, 1200 + (uint64_t)run);
    for (int64_t i = 0; i < N; i++, at += 0.7548776662466927) t.y[i] = fmod(at, 1) < 0.03 * (1 + t.x[i * P]) ? 10 : 0;
    t.label_bound = 10;
    tct_model *model = covered_fit(&t, SQUARED, "dponestep:errors=robust", 0.6, NULL, 30 + (uint64_t)run);
    tct_contrast errors = covered_weight(model, 0);
    double off = (model->coefficients[0] - 0.3) / errors.standard_error;
    if (errors.why == TCT_GIVEN) squares += off * off, given++;
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("of %d: the mean square over the stated variance is %.2f\n", given, squares / given);
  assert_true(given >= RUNS / 2 && squares < 3 * given);
}

/* Rows that nobody sees move a number of [0, 1] half as far as one of [-1, 1]; a schema says which it is. */
static void a_schema_of_the_unit_scale_halves_what_hidden_rows_may_do(void **state) {
  (void)state;
  enum { N = 20000 };
  double *x = malloc(sizeof(double[2][N])), *y = x + N;
  for (int i = 0; i < N; i++) x[i] = 0.5 + 0.055 * (i * 37 % 101 / 50.0 - 1), y[i] = i * 7 % 11 / 11.0;
  for (int how = 0; how < 3; how++) { /* of unit rows nobody knows how long a number is */
    char schema[300];
    tct_matrix m = {.rows = N, .cols = 1, .layout = TCT_DENSE_ROWS, .value_type = TCT_F64, .values = x, .stride = 1};
    snprintf(schema, sizeof schema,
             "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":1}],\"label\":{\"name\":\"y\","
             "\"lower\":0,"
             "\"upper\":1},\"scale\":\"%s\"}",
             how == 1 ? "symmetric" : "unit");
    tct_data *data = tct_data_view(&m, y, TCT_LABELS_REAL, NULL, schema, NULL);
    tct_config c;
    tct_config_default(&c);
    c.loss = "squared", c.penalty = "none", c.errors = "robust", c.epsilon = 1, c.delta = 1e-6, c.intercept = 1;
    c.threads = 1, c.has_seed = 1, c.seed = 3, c.rows_rule = how == 2 ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
    assert_int_equal(tct_config_use_schema(&c, data, NULL, NULL, NULL), TCT_OK);
    tct_plan *plan = tct_plan_new(&c, N, 1, NULL);
    tct_model *model = tct_fit(plan, data, NULL);
    assert_non_null(model);
    printf("%d: why %d\n", how, (int)covered_weight(model, 0).why);
    assert_int_equal(covered_weight(model, 0).why == TCT_ROWS_TOO_FAR, how > 0);
    tct_model_free(model);
    tct_plan_free(plan);
    tct_data_free(data);
  }
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_schema_of_the_unit_scale_halves_what_hidden_rows_may_do),
      cmocka_unit_test(weights_and_their_errors_are_functions_of_releases_alone),
      cmocka_unit_test(the_stated_deviation_of_the_noise_is_that_of_repeated_fits),
      cmocka_unit_test(intervals_of_95_percent_cover_the_truth_of_the_population),
      cmocka_unit_test(a_strong_column_is_no_further_off_than_its_error),
      cmocka_unit_test(the_clip_of_two_classes_hardly_moves_the_intercept),
      cmocka_unit_test(the_weight_of_a_rare_category_arrives_where_noise_is_little),
      cmocka_unit_test(without_noise_errors_are_those_of_an_exact_fit),
      cmocka_unit_test(without_noise_equal_columns_have_no_interval),
      cmocka_unit_test(eigenvalues_of_a_noisy_curvature_are_those_along_its_vectors),
      cmocka_unit_test(what_a_short_clip_takes_of_rare_outcomes_is_in_their_errors),
      cmocka_unit_test(students_t_has_the_values_of_its_tables),
      cmocka_unit_test(eigenvectors_put_the_matrix_together_again),
      cmocka_unit_test(a_sum_that_holds_a_withheld_weight_is_withheld),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
