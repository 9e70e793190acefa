/* test_normal.c - normal tails and the Gaussian curve against 60-digit values (mpmath). */
#include "account/curves/normal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

static void close_to(double ours, double exact, double relative) {
  if (!(fabs(ours - exact) <= relative * fabs(exact))) fail_msg("%.17g instead of %.17g", ours, exact);
}

static void mills_ratio_and_tails_keep_13_digits(void **state) {
  (void)state;
  static const double rows[][4] = {
      {-1.5, 7.20514300727477845, 11.8077145109121677, -0.069143455612233983},
      {0, 1.25331413731550025, 1.0, -0.693147180559945309},
      {1, 0.655679542418798472, 0.344320457581201528, -1.84102164500926351},
      {3.9, 0.242109334721059873, 0.0557735945878665171, -9.94230439169135632},
      {4.1, 0.231426432869754069, 0.0511516252340083989, -10.7874317737446351},
      {10, 0.0990285964717319214, 0.00971403528268078605, -53.2312851505124706},
      {37.5, 0.0266477440148985503, 0.000709599441304362534, -707.668989317507191},
      {1e4, 0.00009999999900000003, 9.999999700000015e-9, -50000010.1292789152},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    close_to(tct_mills(rows[i][0]), rows[i][1], 1e-13);
    close_to(tct_mills_gap(rows[i][0]), rows[i][2], 1e-13);
    close_to(tct_log_upper_tail(rows[i][0]), rows[i][3], 1e-14);
  }
}

static void gaussian_log_delta_keeps_12_digits_from_tiny_to_large_mu(void **state) {
  (void)state;
  static const double rows[][3] = {
      {1e-6, 1e-6, -16.3006310836769948}, {0.01, 0.05, -21.3244830531538559}, {0.2, 0.0, -2.53004200154723846},
      {0.3, 2.0, -27.2130235005873925},   {1, 30.0, -442.849378082303635},    {3, 1.0, -0.238763990927126435},
      {10, 40.0, -0.204837830883016336},  {50, 1300.0, -1.87137068242007049}, {0.25, 9.25, -689.412055668828683},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double slope, mu = rows[i][0], epsilon = rows[i][1], step = 1e-6 * (epsilon + mu);
    close_to(tct_gaussian_log_delta(mu, epsilon, &slope), rows[i][2], 1e-12);
    double rise = tct_gaussian_log_delta(mu, epsilon + step, NULL) - tct_gaussian_log_delta(mu, epsilon, NULL);
    close_to(rise / step, slope, 1e-3);
  }
}

static void gaussian_epsilon_inverts_the_curve_down_to_1e_300(void **state) {
  (void)state;
  for (double mu = 1e-3; mu < 1e3; mu *= 7)
    for (double log_delta = -690; log_delta < -0.5; log_delta += 37) {
      double epsilon = tct_gaussian_epsilon(mu, log_delta);
      if (epsilon == 0)
        assert_true(tct_gaussian_log_delta(mu, 0, NULL) <= log_delta);
      else
        close_to(tct_gaussian_log_delta(mu, epsilon, NULL), log_delta, 1e-11);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mills_ratio_and_tails_keep_13_digits),
      cmocka_unit_test(gaussian_log_delta_keeps_12_digits_from_tiny_to_large_mu),
      cmocka_unit_test(gaussian_epsilon_inverts_the_curve_down_to_1e_300),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
