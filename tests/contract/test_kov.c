/* test_kov.c - the closed form for very many pure steps is never below the exact composition, and hardly above it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/kov.h"

#include <math.h>

static void the_closed_form_is_never_below_the_sum_over_all_atoms(void **state) {
  (void)state;
  int compared = 0;
  for (double count = 100; count < 1e8; count *= 3.7)
    for (double spread = 1e-4; spread < 30; spread *= 2.3) { /* sqrt(count)*epsilon0: the noise of the whole */
      int64_t steps = (int64_t)count;
      double epsilon0 = spread / sqrt(count), mean = count * epsilon0 * tanh(epsilon0 / 2);
      for (double z = -4; z < 9; z += .37) {
        double epsilon = mean + z * spread, exact[2];
        if (epsilon < 0) continue;
        assert_int_equal(tct_kov_delta(epsilon0, steps, epsilon, exact, NULL), 0);
        assert_true(tct_kov_closed_delta(epsilon0, steps, epsilon) >= exact[0]);
        compared += exact[0] > 0;
      }
    }
  assert_true(compared > 3000);
}

/* The normal tail of the closed form in long doubles, from its definition: sign +1 the chance p, -1: 1 - p. */
static long double tail(long double at, long double count, long double epsilon0, int sign) {
  long double k = (at / count + 1) / 2, p = 1 / (1 + expl(-sign * epsilon0));
  long double divergence = k * logl(k / p) + (1 - k) * logl((1 - k) / (1 - p));
  return 0.5L * erfcl(copysignl(sqrtl(2 * count * divergence), k - p) / sqrtl(2));
}

/* Both tails carry 1e-11 of themselves for the rounding of erfc, one upward and the other down. */
static void the_closed_form_pays_for_the_rounding_of_its_tails(void **state) {
  (void)state;
  static const struct {
    double epsilon0, epsilon;
    int64_t steps;
  } cases[] = {{0.1, 9.9, 100}, {0.05, 3.9, 1000}, {0.01, 1.1, 10000}, {0.01, 0.4, 10000}, {1e-4, 0.3, 4000000}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double epsilon0 = cases[c].epsilon0, epsilon = cases[c].epsilon, count = (double)cases[c].steps;
    double first = epsilon / epsilon0;
    long double above = tail(fmin(first - 3, count - 4), count, epsilon0, 1), below = 0;
    if (first + 3 <= count - 4) below = expl(epsilon) * tail(first + 3, count, epsilon0, -1);
    double closed = tct_kov_closed_delta(epsilon0, cases[c].steps, epsilon);
    long double least = above * (1 + 0.9e-11L) - below * (1 - 0.9e-11L),
                most = above * (1 + 3e-11L) - below * (1 - 3e-11L);
    if (!(closed >= least && closed <= most)) fail_msg("case %zu: %.17g in [%.17Lg, %.17Lg]", c, closed, least, most);
  }
}

static void too_many_atoms_have_a_delta_too(void **state) {
  (void)state;
  double out[2], epsilon0 = 1e-7;
  int64_t steps = (int64_t)1e13; /* sqrt(steps) * epsilon0 is .3 */
  assert_int_equal(tct_kov_delta(epsilon0, steps, 1, out, NULL), 0);
  double closed = tct_kov_closed_delta(epsilon0, steps, 1);
  assert_true(closed > 0 && closed < 0.01);
  assert_true(out[0] == 0 && out[1] >= closed && out[1] <= closed * (1 + 1e-9));
}

static void for_1e15_steps_it_is_within_a_five_hundredth_of_epsilon(void **state) {
  (void)state;
  static const double deltas[] = {1e-3, 1e-6, 1e-12};
  for (double epsilon0 = 1e-6; epsilon0 < 1e-4; epsilon0 *= 2.9)
    for (int k = 0; k < 3; k++) {
      double exact[2], far[2];
      assert_int_equal(tct_kov_epsilon(epsilon0, 1000000000, deltas[k], exact, NULL), 0);
      /* a thousand times the steps at a noise that is as much larger: nearly the same whole, by the closed form */
      assert_int_equal(tct_kov_epsilon(epsilon0 / sqrt(1e6), (int64_t)1e15, deltas[k], far, NULL), 0);
      assert_true(far[1] > .999 * exact[0] && far[1] < 1.002 * exact[0]);
    }
}

static void steps_without_a_cost_cost_nothing_at_both_ends(void **state) {
  (void)state;
  double out[2] = {7, 7};
  assert_int_equal(tct_kov_epsilon(0, 5, 1e-6, out, NULL), 0);
  assert_true(out[0] == 0 && out[1] == 0);
  out[0] = out[1] = 7;
  assert_int_equal(tct_kov_delta(0, 5, 0.1, out, NULL), 0);
  assert_true(out[0] == 0 && out[1] == 0);
}

/* One step has two atoms: delta(epsilon) = (e^epsilon0 - e^epsilon)/(1 + e^epsilon0). */
static void one_step_costs_what_its_two_atoms_say(void **state) {
  (void)state;
  for (double epsilon0 = 0.25; epsilon0 < 9; epsilon0 *= 2)
    for (double delta = 1e-9; delta < 0.05; delta *= 40) {
      double exact = log(exp(epsilon0) - delta * (1 + exp(epsilon0))), out[2];
      assert_int_equal(tct_kov_epsilon(epsilon0, 1, delta, out, NULL), 0);
      assert_true(out[0] <= exact && out[1] >= exact && out[1] - out[0] < 1e-9 * exact);
    }
}

static void steps_beyond_700_add_up(void **state) {
  (void)state;
  double out[2];
  assert_int_equal(tct_kov_epsilon(800, 3, 1e-6, out, NULL), 0);
  assert_true(out[1] == 2400 && out[0] < 2400 && out[0] > 2399.99);
}

/* Near the largest loss, count epsilon0, delta hangs on how that product rounds: 100 * 0.1 is above 10, and its double
 * is 10. */
static void delta_near_the_largest_loss_is_that_of_the_real_product(void **state) {
  (void)state;
  static const double below[] = {1e-9, 1e-12, 1.8e-15, 0};
  for (int k = 0; k < 4; k++) {
    long double all = 100 * (long double)0.1, epsilon = 10 - below[k], out_of_reach = 100 * log1pl(expl(-0.1L));
    long double exact = -expm1l(epsilon - all) * expl(-out_of_reach);
    double out[2];
    assert_int_equal(tct_kov_delta(0.1, 100, (double)epsilon, out, NULL), 0);
    if (!(out[1] >= (double)exact && out[0] <= (double)exact && out[1] > 0))
      fail_msg("10 - %g: %g to %g for %Lg", below[k], out[0], out[1], exact);
  }
  double out[2] = {7, 7};
  assert_int_equal(tct_kov_delta(0.125, 80, 10, out, NULL), 0); /* exactly 10: a pure epsilon has no delta */
  assert_true(out[0] == 0 && out[1] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_without_a_cost_cost_nothing_at_both_ends),
      cmocka_unit_test(one_step_costs_what_its_two_atoms_say),
      cmocka_unit_test(steps_beyond_700_add_up),
      cmocka_unit_test(delta_near_the_largest_loss_is_that_of_the_real_product),
      cmocka_unit_test(the_closed_form_is_never_below_the_sum_over_all_atoms),
      cmocka_unit_test(the_closed_form_pays_for_the_rounding_of_its_tails),
      cmocka_unit_test(too_many_atoms_have_a_delta_too),
      cmocka_unit_test(for_1e15_steps_it_is_within_a_five_hundredth_of_epsilon),
  };
  return cmocka_run_group_tests_name("very many pure steps", tests, NULL, NULL);
}
