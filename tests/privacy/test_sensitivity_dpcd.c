/* test_sensitivity_dpcd.c - the noise of dpcd's steps is the one that is charged; what moves them: test_sensitivity.c.
 */
#include "worlds.h"

enum { ROWS = 24, COLS = 3 };

typedef struct spread {
  double squares, laplace;
  int64_t gaussians, laplaces;
} spread;

static void spread_probe(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                         int64_t len) {
  spread *s = user;
  for (int64_t j = 0; j < len && event->kind != TCT_EV_EXPONENTIAL; j++) {
    double unit = (after[j] - before[j]) / (event->noise * sensitivity);
    if (event->kind == TCT_EV_LAPLACE)
      s->laplace += fabs(unit), s->laplaces++;
    else
      s->squares += unit * unit, s->gaussians++;
  }
}

/* The mean of 3000 squares of standard normals has deviation sqrt(2/3000) = 0.026; six of them (alpha 2e-9) are 0.16.
 */
static void every_step_has_the_noise_that_is_charged(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 5);
  tct_error err = {0};
  tct_config config = world_config("logistic", "l2:lambda=0.05", "dpcd:passes=1000,step=1e-6");
  world w;
  spread s = {0};
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_COLS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&w, 4, spread_probe, &s, &err), TCT_OK);
  assert_true(s.gaussians >= 3000);
  double mean = s.squares / (double)s.gaussians;
  if (!(fabs(mean - 1) < 0.16)) fail_msg("the noise's variance is %g of what is charged", mean);
  world_close(&w);
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_has_the_noise_that_is_charged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
