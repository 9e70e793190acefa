/* test_tail.c - the bounds on chances that an audit's verdict rests on, for few runs and for many. */
#include "audit/audit.h"
#include "worlds.h"

static void tails_of_few_runs_are_those_of_the_definition(void **state) {
  (void)state;
  assert_float_equal(tct_audit_upper_tail(3, 0, 0.3), 1, 0);
  assert_float_equal(tct_audit_upper_tail(3, 1, 0.3), 1 - 0.343, 1e-14);
  assert_float_equal(tct_audit_upper_tail(3, 2, 0.3), 3 * 0.09 * 0.7 + 0.027, 1e-14);
  assert_float_equal(tct_audit_upper_tail(3, 3, 0.3), 0.027, 1e-14);
  assert_float_equal(tct_audit_upper_tail(3, 4, 0.3), 0, 0);
  assert_float_equal(tct_audit_at_least(10, 10, 0.05), pow(0.05, 0.1), 1e-9); /* p^10 = 0.05 */
  assert_float_equal(tct_audit_at_most(10, 0, 0.05), 1 - pow(0.05, 0.1), 1e-9);
}

/* Many runs: the law is nearly normal, so a bound lies about 4.75 deviations off the rate that was seen. */
static void bounds_of_many_runs_lie_a_few_deviations_off(void **state) {
  (void)state;
  for (int64_t n = 10000; n <= 1000000; n *= 10)
    for (double rate = 0.01; rate < 1; rate += 0.07) {
      int64_t k = (int64_t)round(rate * (double)n);
      double seen = (double)k / (double)n, deviation = sqrt(seen * (1 - seen) / (double)n);
      double low = (seen - tct_audit_at_least(n, k, 1e-6)) / deviation;
      double high = (tct_audit_at_most(n, k, 1e-6) - seen) / deviation;
      if (!(low > 4 && low < 5.8 && high > 4 && high < 5.8))
        fail_msg("n %lld, rate %g: %g below and %g above", (long long)n, seen, low, high);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tails_of_few_runs_are_those_of_the_definition),
      cmocka_unit_test(bounds_of_many_runs_lie_a_few_deviations_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
