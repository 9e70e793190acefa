/* test_dpmoments.c - which sizes of gradients dpmoments takes for real, from counts with noise. */
#include "worlds.h"

#include "solve/shared/quantile.h"

enum { CELLS = 56 };

/* Most sizes are in cell 30, noise has the deviation 10: a cell alone counts from 10 sqrt(2.5^2 + (30 - k) ln 2) on. */
static void a_far_cell_that_noise_may_fill_sets_no_clip(void **state) {
  (void)state;
  static const struct {
    double counts[3];
    int at, seen;
  } cases[] = {
      {{49, 0, 0}, 4, 30},                         /* 49.3 are needed there */
      {{50, 0, 0}, 4, 4},    {{31, 0, 0}, 26, 26}, /* near the others 30.04 */
      {{30, 0, 0}, 26, 30},  {{29, 29, 29}, 4, 4}, /* 85.3 together */
      {{28, 28, 28}, 4, 30}, {{28, 28, -9}, 4, 30}, {{0, 0, 0}, 4, 30},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double counts[CELLS] = {0};
    counts[30] = 1000;
    for (int j = 0; j < 3; j++) counts[cases[c].at + j] = cases[c].counts[j];
    int seen = tct_quantile_farthest(counts, CELLS, 2.5, 10);
    if (seen != cases[c].seen) fail_msg("case %d: cell %d for %d", (int)c, seen, cases[c].seen);
  }
  double exact[CELLS] = {[7] = 1, [20] = 5};
  assert_int_equal(tct_quantile_farthest(exact, CELLS, 2.5, 0), 5); /* without noise each record counts */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_far_cell_that_noise_may_fill_sets_no_clip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
