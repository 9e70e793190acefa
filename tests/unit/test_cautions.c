/* test_cautions.c - where a promise says little, or a model is likely of no use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/curves/normal.h"
#include "train/cautions.h"

#include <math.h>
#include <string.h>

static tct_caution_facts facts_of(int64_t rows, int64_t p, double epsilon, double delta) {
  return (tct_caution_facts){
      .is_private = true, .rows = rows, .p = p, .epsilon = epsilon, .delta = delta, .neighbours = TCT_ADD_REMOVE};
}

static bool said(const tct_caution_facts *facts, const char *name) {
  json_t *list = tct_cautions_json(facts), *one;
  size_t i;
  bool found = false;
  assert_non_null(list);
  json_array_foreach(list, i, one) {
    found |= !strcmp(json_string_value(json_object_get(one, "name")), name);
    assert_true(strlen(json_string_value(json_object_get(one, "text"))) + 1 < TCT_CAUTION_TEXT);
  }
  json_decref(list);
  return found;
}

static void a_delta_of_one_over_n_or_more_is_named(void **state) {
  (void)state;
  tct_caution_facts facts = facts_of(1024, 4, 1, 1.0 / 1024);
  assert_true(said(&facts, "delta"));
  facts.delta = 0.9 / 1024;
  assert_false(said(&facts, "delta"));
  facts.delta = 0.5;
  assert_true(said(&facts, "delta"));
}

static void an_epsilon_above_eight_is_named(void **state) {
  (void)state;
  tct_caution_facts facts = facts_of(1000000, 4, 8, 1e-9);
  assert_false(said(&facts, "epsilon"));
  facts.epsilon = 8.001;
  assert_true(said(&facts, "epsilon"));
  facts.epsilon = 1e300;
  assert_true(said(&facts, "epsilon"));
}

/* A Gaussian release of that mu costs epsilon at delta, by the closed form. */
static void the_signal_is_that_of_one_release_that_costs_epsilon(void **state) {
  static const double epsilons[] = {0.01, 0.3, 1, 8, 50}, deltas[] = {0.01, 1e-6, 1e-30};
  (void)state;
  for (int k = 0; k < 30; k++) {
    tct_caution_facts facts = facts_of(12345, 67, epsilons[k % 5], deltas[k / 5 % 3]);
    if (k >= 15) facts.neighbours = TCT_REPLACE_ONE;
    double mu = tct_caution_signal(&facts) * sqrt(67) / 12345 * (k >= 15 ? 2 : 1);
    assert_float_equal(tct_gaussian_epsilon(mu, log(facts.delta)) / facts.epsilon, 1, 1e-5);
  }
  for (int k = 0; k < 2; k++) { /* pure: |b| is about p/epsilon */
    tct_caution_facts facts = facts_of(1000, 5, 0.5, 0);
    if (k) facts.neighbours = TCT_REPLACE_ONE;
    assert_float_equal(tct_caution_signal(&facts), k ? 50 : 100, 1e-9);
  }
}

/* The threshold is 3: the number of records that makes 2.9 and 3.1 of it, under both relations. */
static void a_signal_too_small_for_more_than_a_constant_is_named(void **state) {
  (void)state;
  for (int relation = 0; relation < 2; relation++) {
    tct_caution_facts facts = facts_of(1000000, 25, 0.5, 1e-8);
    facts.neighbours = relation ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    double each = tct_caution_signal(&facts) / 1e6;
    facts.rows = (int64_t)(2.9 / each);
    assert_true(said(&facts, "signal"));
    facts.rows = (int64_t)(3.1 / each);
    assert_false(said(&facts, "signal"));
  }
}

static void nothing_is_said_of_a_promise_that_is_not_made(void **state) {
  (void)state;
  tct_caution_facts facts = facts_of(10, 100, 50, 0.5);
  json_t *list = tct_cautions_json(&facts);
  assert_int_equal(json_array_size(list), 3 - 1); /* at epsilon 50 there is signal enough */
  json_decref(list);
  facts.is_private = false;
  list = tct_cautions_json(&facts);
  assert_int_equal(json_array_size(list), 0);
  json_decref(list);
}

static void a_plan_carries_its_cautions(void **state) {
  (void)state;
  tct_error err = {0};
  tct_config config;
  tct_config_default(&config);
  config.intercept = 0;
  config.loss = "logistic", config.row_norm = 1, config.epsilon = 9, config.delta = 0.01;
  tct_plan *plan = tct_plan_new(&config, 100, 3, &err);
  assert_non_null(plan);
  char *text = tct_plan_json(plan, &err);
  json_t *root = json_loads(text, 0, NULL), *list = json_object_get(root, "warnings");
  assert_int_equal(json_array_size(list), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "name")), "delta");
  assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "name")), "epsilon");
  json_decref(root);
  tct_text_free(text);
  tct_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_delta_of_one_over_n_or_more_is_named),
      cmocka_unit_test(an_epsilon_above_eight_is_named),
      cmocka_unit_test(the_signal_is_that_of_one_release_that_costs_epsilon),
      cmocka_unit_test(a_signal_too_small_for_more_than_a_constant_is_named),
      cmocka_unit_test(nothing_is_said_of_a_promise_that_is_not_made),
      cmocka_unit_test(a_plan_carries_its_cautions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
