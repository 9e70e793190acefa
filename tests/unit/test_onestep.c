/* test_onestep.c - the closed form of one objective perturbation with Gaussian steps, against integration. */
#include "account/account.h"
#include "account/onestep.h"
#include "second/cross_check.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const tct_accountant *accountant(void) { return tct_accountant_find("onestep"); }

static void the_closed_form_agrees_with_integration(void **state) {
  (void)state;
  static const double noises[] = {0.8, 20}, shifts[] = {0, 0.5}, outputs[] = {0, 0.7, 60};
  int compared = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 3; k++)
        for (int r = 0; r < 2; r++) {
          tct_events events = {0};
          tct_bracket bracket, delta;
          tct_second second;
          tct_neighbours relation = r ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
          assert_int_equal(tct_events_add(&events, tct_event_objpert(noises[i], shifts[j], 1), NULL), TCT_OK);
          if (outputs[k] > 0)
            assert_int_equal(tct_events_add(&events, tct_event_gaussian(outputs[k], 2), NULL), TCT_OK);
          assert_int_equal(accountant()->epsilon(&events, relation, 1e-6, 1e-4, &bracket, NULL), TCT_OK);
          tct_second_opinion(&events, relation, 1e-6, &second);
          /* Integration averages d(t) with 1 below the shift; the closed form adds that part to the curve. */
          assert_true(bracket.upper >= second.lower * (1 - 1e-9));
          if (!(second.upper < bracket.upper * 0.98)) {
            assert_true(second.upper <= bracket.upper * (1 + 1e-5));
            compared++;
          }
          assert_int_equal(accountant()->delta(&events, relation, bracket.upper, 1e-4, &delta, NULL), TCT_OK);
          assert_true(delta.upper <= 1e-6 * (1 + 1e-9));
          assert_true(delta.upper >= 1e-6 * 0.9 || bracket.upper <= shifts[j] + 1e-6);
          tct_events_free(&events);
        }
  assert_true(compared > 15);
}

static void an_approximate_step_with_small_gaussian_ones_costs_little_more(void **state) {
  (void)state;
  tct_events events = {0};
  tct_bracket bracket;
  assert_int_equal(tct_events_add(&events, tct_event_approx(1, 1e-6, 1), NULL), TCT_OK);
  assert_int_equal(tct_events_add(&events, tct_event_gaussian(1000, 1), NULL), TCT_OK);
  assert_int_equal(accountant()->epsilon(&events, TCT_ADD_REMOVE, 1.01e-6, 1e-4, &bracket, NULL), TCT_OK);
  assert_true(bracket.upper > 1.004 && bracket.upper < 1.007); /* P[N > 5.61] = 1e-8 */
  assert_int_equal(accountant()->epsilon(&events, TCT_ADD_REMOVE, 0.99e-6, 1e-4, &bracket, NULL), TCT_OK);
  assert_true(isinf(bracket.upper)); /* less than the step's own delta cannot be had */
  tct_events_free(&events);
}

static void other_lists_are_refused(void **state) {
  (void)state;
  const tct_event bad[][2] = {{tct_event_objpert(1, 0, 1), tct_event_objpert(2, 0, 1)},
                              {tct_event_objpert(1, 0, 2), tct_event_gaussian(2, 1)},
                              {tct_event_objpert(1, 0, 1), tct_event_laplace(2, 1)},
                              {tct_event_objpert(1, 0, 1), tct_event_sampled_gaussian(2, 0.5, 1)},
                              {tct_event_gaussian(1, 1), tct_event_gaussian(2, 1)}};
  for (int k = 0; k < 5; k++) {
    tct_events events = {0};
    char why[128];
    for (int i = 0; i < 2; i++) assert_int_equal(tct_events_add(&events, bad[k][i], NULL), TCT_OK);
    assert_false(accountant()->applies(&events, TCT_ADD_REMOVE, why, sizeof why));
    tct_events_free(&events);
  }
}

static void more_noise_never_costs_more(void **state) {
  (void)state;
  for (int r = 0; r < 2; r++)
    for (int sign = 0; sign < 2; sign++) {
      double last = 0;
      for (double mu = 2; mu > 0.01; mu *= 0.9) {
        double value = tct_objpert_log_delta(mu, 0.1, 0.1 * mu, r ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, sign, 0.8);
        assert_true(value <= last);
        last = value;
      }
      assert_true(last < -100);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_closed_form_agrees_with_integration),
      cmocka_unit_test(an_approximate_step_with_small_gaussian_ones_costs_little_more),
      cmocka_unit_test(other_lists_are_refused),
      cmocka_unit_test(more_noise_never_costs_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
