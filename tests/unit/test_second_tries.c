/* test_second_tries.c - verify's second opinion on a private search: against 40 digits, the accountants, and itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample.h"
#include "account/selection.h"
#include "second/cross_check.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

static tct_second_best opinion(tct_event event, tct_neighbours neighbours, int64_t mean, double delta) {
  tct_events one = {&event, 1, 1};
  tct_second_best out;
  tct_second_tries(&one, 1, neighbours, mean, delta, &out);
  return out;
}

static double price(tct_event event, tct_neighbours neighbours, int64_t mean, double delta) {
  tct_events one = {&event, 1, 1};
  double epsilon = NAN;
  assert_int_equal(tct_selection_epsilon(&one, 1, neighbours, mean, delta, &epsilon, NULL), TCT_OK);
  return epsilon;
}

static void gaussian_tries_cost_the_same_by_densities_as_by_the_accountants(void **state) {
  (void)state;
  static const double noises[] = {0.7, 3, 25};
  for (int i = 0; i < 3; i++)
    for (int64_t mean = 1; mean <= 1000; mean *= 10)
      for (int replaced = 0; replaced < 2; replaced++) {
        tct_neighbours neighbours = replaced ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
        tct_event event = tct_event_gaussian(noises[i], 1 + i);
        tct_second_best s = opinion(event, neighbours, mean, 1e-6);
        double known = price(event, neighbours, mean, 1e-6);
        assert_true(s.closed);
        if (!(fabs(s.upper - known) <= 1e-8 * known))
          fail_msg("noise %g, mean %d: %.12g and %.12g", noises[i], (int)mean, s.upper, known);
      }
}

/* mpmath, to 1e-5: the epsilon at which the exact law of the best has this delta, integrated between its crossings.
 * The last: sums over 40,000 intervals of differences of the law's distribution function.  Its delta is so large that
 * scores in the middle count. */
static void the_exact_law_of_the_best_bounds_from_below(void **state) {
  (void)state;
  static const struct {
    double noise, delta, epsilon;
    int64_t mean;
  } known[] = {
      {4, 1e-5, 1.146340, 50}, {1, 1e-6, 5.349338, 10}, {10, 1e-5, 0.34066936468432641, 1}, {1, 0.05, 1.960561, 3}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    tct_second_best s = opinion(tct_event_gaussian(known[i].noise, 1), TCT_ADD_REMOVE, known[i].mean, known[i].delta);
    print_message("at least %.6f, exactly %.6f, at most %.6f\n", s.lower, known[i].epsilon, s.upper);
    assert_true(s.lower <= known[i].epsilon && s.lower >= known[i].epsilon * (1 - 1e-3));
    assert_true(s.lower <= s.upper);
  }
}

static void of_several_settings_the_dearest_is_above_and_the_cheapest_below(void **state) {
  (void)state;
  tct_event cheap = tct_event_gaussian(10, 1), dear = tct_event_gaussian(3, 1);
  tct_events both[] = {{&dear, 1, 1}, {&cheap, 1, 1}};
  tct_second_best s;
  tct_second_tries(both, 2, TCT_ADD_REMOVE, 50, 1e-6, &s);
  assert_true(s.upper == opinion(dear, TCT_ADD_REMOVE, 50, 1e-6).upper);
  assert_true(s.lower == opinion(cheap, TCT_ADD_REMOVE, 50, 1e-6).lower);
}

static void other_events_cost_more_than_the_law_and_less_than_twice_the_claim(void **state) {
  (void)state;
  const tct_event kinds[] = {tct_event_sampled_gaussian(1, 0.01, 300), tct_event_exponential(0.5, 1),
                             tct_event_zcdp(0.01, 1), tct_event_objpert(4, 0.1, 1), tct_event_approx(0.2, 1e-9, 1)};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tct_event own[2] = {kinds[i], tct_event_gaussian(8, 1)};
    tct_events one = {own, 2, 2};
    tct_second_best s;
    double claim = NAN;
    if (!sample_turn((int64_t)i, 5)) continue;
    tct_second_tries(&one, 1, TCT_ADD_REMOVE, 50, 1e-6, &s);
    assert_int_equal(tct_selection_epsilon(&one, 1, TCT_ADD_REMOVE, 50, 1e-6, &claim, NULL), TCT_OK);
    print_message("lower %.4f, claim %.4f, second %.4f\n", s.lower, claim, s.upper);
    assert_false(s.closed);
    assert_true(s.lower > 0 && s.lower <= claim && s.lower <= s.upper);
    assert_true(s.upper <= 2 * claim);
  }
}

static void what_hides_nothing_is_infinite(void **state) {
  (void)state;
  tct_second_best s = opinion(tct_event_gaussian(0, 1), TCT_ADD_REMOVE, 50, 1e-6);
  assert_true(isinf(s.upper));
  s = opinion(tct_event_approx(0.1, 1e-3, 1), TCT_ADD_REMOVE, 50, 1e-6);
  assert_true(isinf(s.upper));
  s = opinion(tct_event_objpert(4, 0.1, 1), TCT_REPLACE_ONE, 50, 1e-6);
  assert_true(isinf(s.upper));
  tct_second_tries(NULL, 0, TCT_ADD_REMOVE, 50, 1e-6, &s);
  assert_true(isinf(s.upper));
}

static void a_search_whose_claim_no_second_method_proves_is_refused(void **state) {
  (void)state;
  tct_event step = tct_event_gaussian(4, 1);
  tct_events one = {&step, 1, 1};
  tct_error err = {0};
  double known = price(step, TCT_ADD_REMOVE, 50, 1e-6);
  tct_whole claim = {known * (1 + 1e-8), 1e-6, TCT_ADD_REMOVE, "basic", false};
  const tct_tries tries = {&one, 1, 5, 50, true}; /* the score is cheaper than the fit */
  assert_int_equal(tct_price_tries_verifiable(&tries, &claim, &err), TCT_OK);
  claim.epsilon = known * (1 - 1e-4);
  assert_int_equal(tct_price_tries_verifiable(&tries, &claim, &err), TCT_E_USAGE);
  assert_non_null(strstr(err.text, "second method"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaussian_tries_cost_the_same_by_densities_as_by_the_accountants),
      cmocka_unit_test(the_exact_law_of_the_best_bounds_from_below),
      cmocka_unit_test(of_several_settings_the_dearest_is_above_and_the_cheapest_below),
      cmocka_unit_test(other_events_cost_more_than_the_law_and_less_than_twice_the_claim),
      cmocka_unit_test(what_hides_nothing_is_infinite),
      cmocka_unit_test(a_search_whose_claim_no_second_method_proves_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
