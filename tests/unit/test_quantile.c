/* test_quantile.c - quantiles of sizes from counts between geometric edges. */
#include "solve/shared/quantile.h"
#include "worlds.h"

static void a_size_on_an_edge_belongs_to_the_count_below_it(void **state) {
  (void)state;
  assert_int_equal(tct_quantile_bin(8, 8), 0);
  assert_int_equal(tct_quantile_bin(7.9, 8), 0);
  assert_int_equal(tct_quantile_bin(4, 8), 2);
  assert_int_equal(tct_quantile_bin(1e-9, 8), TCT_QUANTILE_EDGES - 1);
  assert_int_equal(tct_quantile_bin(80, 8), 0);
  assert_int_equal(tct_quantile_bin(0, 8), -1);
  assert_int_equal(tct_quantile_bin(1e-30, 8), -1);
}

static void the_quantile_holds_the_part_and_the_records_to_be_sure(void **state) {
  (void)state;
  double count[TCT_QUANTILE_EDGES] = {10, 0, 20, 70};
  assert_float_equal(tct_quantile_between(count, 8, 0.7, 0), 8 * exp2(-1.5), 1e-12);
  assert_float_equal(tct_quantile_between(count, 8, 0.7, 10), 4 * exp2(-0.25), 1e-12);
  assert_float_equal(tct_quantile_between(count, 8, 0.7, 25), 8 * exp2(-0.25), 1e-12);
  assert_float_equal(tct_quantile_between(count, 8, 0.7, 1000), 8, 1e-12); /* none does: the bound itself */
}

static void the_quantile_lies_between_the_edges_of_its_count(void **state) {
  (void)state;
  double count[TCT_QUANTILE_EDGES] = {0, 0, 50, 50}, none[TCT_QUANTILE_EDGES] = {-5, 2};
  assert_float_equal(tct_quantile_between(count, 8, 0.5, 0), 8 * exp2(-1.5), 1e-12);
  assert_float_equal(tct_quantile_between(count, 8, 0.75, 0), 8 * exp2(-1.25), 1e-12);
  assert_float_equal(tct_quantile_between(count, 8, 1, 0), 4, 1e-12);
  assert_float_equal(tct_quantile_between(none, 8, 0.5, 0), 8, 1e-12); /* noise alone says nothing */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_size_on_an_edge_belongs_to_the_count_below_it),
      cmocka_unit_test(the_quantile_holds_the_part_and_the_records_to_be_sure),
      cmocka_unit_test(the_quantile_lies_between_the_edges_of_its_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
