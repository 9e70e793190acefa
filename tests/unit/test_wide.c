/* test_wide.c - coins of exponents with more bits than a double, as the exponential mechanism draws them. */
#include "rng/exponential_choice.c"
#include "worlds.h"

enum { DRAWS = 20000 };

/* The part of DRAWS coins with probability exp(-mantissa 2^exponent) that succeed. */
static double share(tct_u128 mantissa, int exponent) {
  int64_t sum = 0;
  for (uint64_t k = 0; k < DRAWS; k++) {
    tct_rng_key key;
    tct_stream s;
    tct_rng_key_seed(&key, 7);
    tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, k);
    sum += coin_exp_wide(&s, (wide){mantissa, exponent}, 0);
    tct_stream_wipe(&s);
  }
  return (double)sum / DRAWS;
}

static void every_bit_of_an_exponent_counts(void **state) {
  (void)state;
  static const struct {
    tct_u128 mantissa;
    int exponent;
    double value;
  } rows[] = {
      {0, 0, 0},
      {1, -1, 0.5},
      {1, -2, 0.25},
      {3, -1, 1.5},
      {(tct_u128)1 << 64, -65, 0.5},
      {((tct_u128)1 << 64) + ((tct_u128)1 << 62), -64, 1.25},
      {(tct_u128)1 << 127, -127, 1},
      {2, 0, 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double p = exp(-rows[i].value), got = share(rows[i].mantissa, rows[i].exponent);
    if (!(fabs(got - p) <= 5 * sqrt(p * (1 - p) / DRAWS))) fail_msg("exp(-%g): %g", rows[i].value, got);
  }
}

static void whole_parts_are_floors(void **state) {
  (void)state;
  assert_int_equal(whole_part((wide){7, -1}, 100), 3);
  assert_int_equal(whole_part((wide){7, 3}, 100), 56);
  assert_int_equal(whole_part((wide){7, 63}, 100), 100);
  assert_int_equal(whole_part((wide){7, 64}, 100), 100);
  assert_int_equal(whole_part((wide){(tct_u128)1 << 127, -127}, 100), 1);
  assert_int_equal(whole_part((wide){(tct_u128)1 << 127, -128}, 100), 0);
  assert_int_equal(whole_part((wide){0, 5}, 100), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_bit_of_an_exponent_counts),
      cmocka_unit_test(whole_parts_are_floors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
