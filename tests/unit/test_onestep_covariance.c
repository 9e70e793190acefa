/* test_onestep_covariance.c - what the last step of dponestep may leave unknown, and which weights that withholds. */
#include "solve/onestep/one_step.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

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

/* Weight 0 is v_0 + v_1/20, and v_1 is open: its curvature is 1/1000, noise alone reaches 0.1. */
static void what_the_step_may_leave_along_an_open_direction_is_part_of_the_error(void **state) {
  (void)state;
  enum { P = 2 };
  double h[P * P] = {1, 0, 0, 0.001}, step[P];
  const double slopes[2] = {0, 0.3}, weights[P] = {3, 40}; /* v = (1, 40) */
  tct_onestep_moments moments = {.curvature = h, .curvature_noise = 0.05};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  memcpy(metric.w, (double[]){1, 0, 0.05, 1}, sizeof(double[P * P]));
  assert_true(tct_metric_settle(&metric));
  for (int k = 0; k < 2; k++) {
    tct_inference errors;
    double gradient[P] = {0, slopes[k]};
    tct_onestep_released released = {weights, gradient, 0, &moments, 9, TCT_LINK_IDENTITY};
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    assert_int_equal(errors.why[0], TCT_GIVEN);
    assert_int_equal(errors.why[1], TCT_NOISE_ABOVE_SIGNAL);
    /* A direction of curvature 0.12 has 0.4 of the margins' square of v_0, which is 1; a raised one is 0.14. */
    double own = errors.noise[0] / (0.05 * 0.05), prior = 0.4 * 0.12 / (0.142 * 0.142);
    /* Twice the square of the step is left, and the noise of H along the step moves both. */
    double whole = prior + step[1] * step[1] * (2 + 0.5 + 0.0025 / (0.142 * 0.142));
    if (!(own >= 0.97 * whole && own <= 1.03 * whole)) fail_msg("slope %g: %g for %g", slopes[k], own, whole);
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

/* Of column 0 hidden rows may have all the variance: its weight is withheld, and the others follow as P_k0/P_00. */
static void rows_that_nobody_sees_withhold_only_what_they_may_decide(void **state) {
  (void)state;
  enum { P = 3 };
  double h[P * P] = {1, 0.001, 0.5, 0.001, 1, 0, 0.5, 0, 1}, step[P], gradient[P] = {0};
  double spread[P * P] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, unseen[P] = {6, 3, 0};
  const double weights[P] = {3, 5, 7};
  const double inverse[P] = {1, -0.001, -0.5}; /* P_k0/P_00 */
  double noise[2][P];
  tct_onestep_moments moments = {.curvature = h, .variance = spread, .curvature_noise = 1e-6};
  tct_metric metric;
  assert_int_equal(tct_metric_new(P, false, &metric, NULL), TCT_OK);
  for (int k = 0; k < P * P; k++) metric.w[k] = k % (P + 1) == 0;
  assert_true(tct_metric_settle(&metric));
  for (int k = 0; k < 2; k++) {
    tct_inference errors;
    tct_onestep_released released = {weights, gradient, 0, &moments, 9, TCT_LINK_LOGISTIC};
    released.unseen = k ? unseen : NULL, released.reach = 2;
    assert_int_equal(tct_inference_new(P, &errors, NULL), TCT_OK);
    assert_int_equal(tct_onestep_covariance(&released, &metric, step, &errors, NULL), TCT_OK);
    for (int j = 0; j < P; j++) {
      noise[k][j] = errors.noise[j * P + j];
      assert_int_equal(errors.why[j], k && j != 1 ? TCT_ROWS_TOO_FAR : TCT_GIVEN);
    }
    assert_true(tct_inference_valid(&errors));
    tct_inference_free(&errors);
  }
  double move = 0.5 * (3 + 4 / 2.0); /* half of the whole weight, and of a margin of 4 at the column's end */
  for (int j = 0; j < P; j++)
    assert_float_equal((noise[1][j] - noise[0][j]) / (move * move * inverse[j] * inverse[j]), 1, 1e-3);
  tct_metric_free(&metric);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_cannot_be_taken_apart_gives_no_interval),
      cmocka_unit_test(what_the_step_may_leave_along_an_open_direction_is_part_of_the_error),
      cmocka_unit_test(a_margin_that_all_records_share_is_no_hint_of_what_is_left),
      cmocka_unit_test(rows_that_nobody_sees_withhold_only_what_they_may_decide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
