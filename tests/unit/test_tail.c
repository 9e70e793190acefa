/* test_tail.c - the bounds on chances that an audit's verdict rests on, for few runs and for many. */
#include "audit/audit.h"
#include "core/number.h"
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

/* Two worlds a shift apart, told by their likelihood ratio: the proven shift is a lower bound, and a near one. */
static void a_proven_shift_is_below_the_true_one_and_near_it(void **state) {
  (void)state;
  enum { RUNS = 4000, TIMES = 60 };
  const double mu = 0.8, cut[TCT_AUDIT_CUTS] = {0, 3};
  uint64_t seed = 7;
  int above = 0;
  double sum = 0;
  tct_claim claim = {.mu = mu, .shift = mu};
  tct_scores scores = {malloc(RUNS * sizeof(double)), malloc(RUNS * sizeof(double)), RUNS};
  for (int k = 0; k < TIMES; k++) {
    for (int i = 0; i < RUNS; i++) {
      scores.out[i] = tct_audit_quantile(0.5 * (1 + world_real(&seed))) - 0.5 * mu;
      scores.in[i] = tct_audit_quantile(0.5 * (1 + world_real(&seed))) + 0.5 * mu;
    }
    tct_audit a = {.breaks = json_array()};
    json_t *answer = tct_audit_judge(&a, "the releases", &claim, &scores, cut);
    double lower = json_number_value(json_object_get(answer, "mu_lower"));
    above += lower > mu;
    sum += lower / TIMES;
    assert_int_equal(json_array_size(a.breaks), 0);
    json_decref(answer);
    json_decref(a.breaks);
  }
  free(scores.out);
  free(scores.in);
  print_message("%d of %d bounds above the shift, mean %.3f of it\n", above, TIMES, sum / mu);
  assert_true(above <= 3); /* an error of 1e-3: 4 and more have a chance of 5e-7 */
  assert_true(sum > 0.85 * mu);
}

/* A claim by points of a curve allows at least the advantage of that curve, and little more. */
static void a_claim_by_points_allows_the_advantage_of_its_curve(void **state) {
  (void)state;
  for (double mu = 0.2; mu < 4; mu += 0.3) {
    tct_claim claim = {.mu = NAN};
    for (double epsilon = 0.01; epsilon < 1; epsilon *= 2, claim.points++) {
      claim.epsilon[claim.points] = epsilon;
      claim.delta[claim.points] = tct_audit_gaussian_delta(mu, epsilon);
    }
    double exact = 2 * tct_normal_below(0.5 * mu) - 1, allowed = tct_claim_advantage(&claim);
    if (!(allowed >= exact - 1e-12 && allowed <= exact + 0.002)) fail_msg("mu %g: %.9f, %.9f", mu, exact, allowed);
    claim.mu = mu;
    assert_float_equal(tct_claim_advantage(&claim), exact, 1e-15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tails_of_few_runs_are_those_of_the_definition),
      cmocka_unit_test(bounds_of_many_runs_lie_a_few_deviations_off),
      cmocka_unit_test(a_proven_shift_is_below_the_true_one_and_near_it),
      cmocka_unit_test(a_claim_by_points_allows_the_advantage_of_its_curve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
