/* test_pure.c - delta 0: what is accepted, what is refused, and what is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/account.h"
#include "account/pure.h"
#include "mech/mech.h"
#include "rng/rng.h"
#include "solve/solve.h"
#include "tacit.h"

#include <math.h>
#include <string.h>

static double cost_of(const tct_event *event, int64_t count, tct_neighbours neighbours, tct_status wanted) {
  tct_events list = {(tct_event *)event, count, count};
  tct_cost cost = {.epsilon = NAN};
  tct_error err = {0};
  assert_int_equal(tct_account_epsilon(&list, neighbours, 0, 1e-3, &cost, &err), wanted);
  if (wanted == TCT_OK) assert_true(cost.epsilon_lower <= cost.epsilon && cost.delta == 0);
  return cost.epsilon;
}

static void epsilons_add_up_exactly_where_they_are_doubles_and_upwards_where_not(void **state) {
  (void)state;
  tct_event halves[2] = {tct_event_pure(0.5, 3), tct_event_exponential(0.25, 2)};
  assert_true(cost_of(halves, 2, TCT_ADD_REMOVE, TCT_OK) == 2);
  tct_event laplace = tct_event_laplace(3, 1);
  double third = cost_of(&laplace, 1, TCT_ADD_REMOVE, TCT_OK);
  assert_true(fma(third, 3, -1) > 0 && third < nextafter(nextafter(1.0 / 3, 1), 1));
  laplace.noise = 2;
  assert_true(cost_of(&laplace, 1, TCT_REPLACE_ONE, TCT_OK) == 1);
  tct_event tenths = tct_event_pure(0.1, 10); /* the double 0.1 is above a tenth */
  assert_true(cost_of(&tenths, 1, TCT_ADD_REMOVE, TCT_OK) > 1);
  tct_event tiny[2] = {tct_event_pure(1, 1), tct_event_pure(1e-300, 1)};
  assert_true(cost_of(tiny, 2, TCT_ADD_REMOVE, TCT_OK) == nextafter(1, 2));
}

static void events_without_a_largest_loss_are_refused_at_delta_0(void **state) {
  (void)state;
  tct_event refused[] = {tct_event_gaussian(10, 1), tct_event_sampled_gaussian(10, 0.01, 1), tct_event_zcdp(0.1, 1),
                         tct_event_objpert(3, 0.1, 1), tct_event_approx(1, 1e-12, 1)};
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    tct_event both[2] = {tct_event_pure(0.1, 1), refused[k]};
    cost_of(both, 2, TCT_ADD_REMOVE, TCT_E_USAGE);
  }
  tct_event exact = tct_event_approx(1, 0, 2);
  assert_true(cost_of(&exact, 1, TCT_ADD_REMOVE, TCT_OK) == 2);
}

static tct_plan *plan_of(const char *solver, const char *loss, const char *penalty, tct_error *err) {
  tct_config config;
  tct_config_default(&config);
  config.loss = loss, config.penalty = penalty, config.solver = solver;
  config.epsilon = 1, config.delta = 0, config.row_norm = 1;
  if (tct_config_labels(&config) == TCT_LABELS_REAL) config.label_bound = 1;
  return tct_plan_new(&config, 10000, 5, err);
}

static void every_solver_keeps_delta_0_or_refuses_it_naming_those_that_do(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "squared", "hinge"};
  static const char *const penalties[] = {"none", "l2:lambda=0.01", "l1ball:radius=3"};
  for (int s = 0; s < tct_solver_count; s++) {
    int kept = 0;
    for (int k = 0; k < 9 && tct_solvers[s]->is_private; k++) {
      tct_error err = {0};
      tct_plan *plan = plan_of(tct_solvers[s]->name, losses[k % 3], penalties[k / 3], &err);
      if (!plan && !tct_solvers[s]->pure) assert_non_null(strstr(err.text, "objpert"));
      kept += plan != NULL;
      tct_plan_free(plan);
    }
    if ((kept > 0) != tct_solvers[s]->pure) fail_msg("%s", tct_solvers[s]->name);
  }
}

static void the_rule_has_a_solver_at_delta_0_for_each_loss(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "squared", "hinge", "huber", "smoothed_hinge"};
  for (int k = 0; k < 5; k++) {
    tct_error err = {0};
    tct_plan *plan = plan_of(NULL, losses[k], "l2:lambda=0.001", &err);
    if (!plan) fail_msg("%s: %s", losses[k], err.text);
    tct_plan_free(plan);
  }
}

/* ---- what is drawn ---- */

enum { P = 3, DRAWS = 60000 };

/* The mean and mean square of |b|/scale, and of b_1/|b|, over DRAWS vectors. */
static void vectors_of(double mean[3], double above[3]) {
  tct_event event = tct_event_pure(1, DRAWS);
  tct_promise promise = {0};
  tct_mech *mech = NULL;
  uint64_t seed = 5;
  tct_release r = tct_release_draw("vectors", event, TCT_LAW_GAMMA, 1, 2, 2, 0x1p-39);
  assert_int_equal(tct_promise_add(&promise, r, NULL), TCT_OK);
  assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  memset(mean, 0, 3 * sizeof *mean), memset(above, 0, 3 * sizeof *above);
  for (int i = 0; i < DRAWS; i++) {
    double b[P], size = 0;
    assert_int_equal(tct_mech_draw(mech, 0, b, P, NULL), TCT_OK);
    for (int j = 0; j < P; j++) size += b[j] * b[j];
    size = sqrt(size);
    mean[0] += size / 2 / DRAWS, mean[1] += size * size / 4 / DRAWS, mean[2] += b[0] / size / DRAWS;
    for (int t = 0; t < 3; t++) above[t] += (fabs(b[0]) / size > 0.25 * (t + 1)) / (double)DRAWS;
  }
  tct_mech_free(mech);
  tct_promise_free(&promise);
}

/* |b|/s of the density exp(-|b|/s) in three dimensions has the mean 3 and the mean square 12; b_1/|b| is uniform on
 * [-1, 1].  Six standard errors each. */
static void the_tilt_has_the_length_of_a_gamma_law_and_a_uniform_direction(void **state) {
  (void)state;
  double mean[3], above[3], root = sqrt(DRAWS);
  vectors_of(mean, above);
  assert_true(fabs(mean[0] - 3) < 6 * sqrt(3) / root);
  assert_true(fabs(mean[1] - 12) < 6 * sqrt(360 - 144) / root);
  assert_true(fabs(mean[2]) < 6 / root);
  for (int t = 0; t < 3; t++) assert_true(fabs(above[t] - (1 - 0.25 * (t + 1))) < 3 / root);
}

static void an_exponential_number_is_rounded_down_to_its_lattice(void **state) {
  (void)state;
  tct_rng_key key;
  tct_stream s;
  double zero = 0, sum = 0;
  tct_rng_key_seed(&key, 9);
  tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, 0);
  for (int i = 0; i < DRAWS; i++) {
    double e = tct_exponential_floor(&s, 1, 0.5);
    assert_true(e >= 0 && e == 0.5 * floor(2 * e));
    zero += e == 0, sum += e;
  }
  double p = -expm1(-0.5), mean = 0.5 / expm1(0.5);
  assert_true(fabs(zero - DRAWS * p) < 6 * sqrt(DRAWS * p * (1 - p)));
  assert_true(fabs(sum - DRAWS * mean) < 6 * sqrt((double)DRAWS));
}

/* ---- what is neglected: nothing ---- */

static void the_chance_that_a_pure_tilt_neglects_is_paid_for_by_the_blended_output(void **state) {
  (void)state;
  for (double p = 1; p < 1e5; p *= 7) {
    for (double epsilon = 1e-3; epsilon < 50; epsilon *= 11) {
      double log_outcomes = p * log(0x1p53 + 1), log_left = -tct_blend_exponent(epsilon, p);
      double log_needed = -128 * log(2) + log(tanh(0.5 * epsilon)) - log_outcomes;
      assert_true(log_left <= log_needed);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(epsilons_add_up_exactly_where_they_are_doubles_and_upwards_where_not),
      cmocka_unit_test(events_without_a_largest_loss_are_refused_at_delta_0),
      cmocka_unit_test(every_solver_keeps_delta_0_or_refuses_it_naming_those_that_do),
      cmocka_unit_test(the_rule_has_a_solver_at_delta_0_for_each_loss),
      cmocka_unit_test(the_tilt_has_the_length_of_a_gamma_law_and_a_uniform_direction),
      cmocka_unit_test(an_exponential_number_is_rounded_down_to_its_lattice),
      cmocka_unit_test(the_chance_that_a_pure_tilt_neglects_is_paid_for_by_the_blended_output),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
