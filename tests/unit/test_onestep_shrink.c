/* test_onestep_shrink.c - a last step that is noisier than the path before it. */
#include "worlds.h"

#include "../bench/lib/coverage.h"
#include "solve/onestep/one_step.h"

enum { P = 30 };

/* W, H and G are 1, s too: the step D = g has the noise I.  Another 1 is the sampling's variance. */
typedef struct world_of_ones {
  double one[P * P], room[P * P + 4 * P], step[P];
  tct_onestep_moments moments;
  tct_onestep_released in;
  tct_metric metric;
  tct_inference errors;
} world_of_ones;

static void begin(world_of_ones *w, const double *gradient, double before, const double *mean, double grown) {
  *w = (world_of_ones){.in = {.gradient = gradient, .deviation = 1, .moments = &w->moments}};
  for (int k = 0; k < P * P; k++) w->one[k] = k % (P + 1) == 0;
  w->moments.curvature = w->one, w->in.factor = w->one, w->in.before = before, w->in.mean = mean;
  w->in.grown = grown;
  memcpy(w->step, gradient, sizeof w->step);
  assert_int_equal(tct_metric_new(P, false, &w->metric, NULL), TCT_OK);
  memcpy(w->metric.w, w->one, sizeof w->one);
  assert_true(tct_metric_settle(&w->metric));
  assert_int_equal(tct_inference_new(P, &w->errors, NULL), TCT_OK);
  for (int j = 0; j < P; j++)
    w->errors.noise[j * (P + 1)] = 1, w->errors.sampling[j * (P + 1)] = 1, w->errors.degrees[j] = 100;
  tct_onestep_shrink(&w->in, &w->metric, w->one, w->room, w->step, &w->errors);
}

static void end(world_of_ones *w) {
  tct_inference_free(&w->errors);
  tct_metric_free(&w->metric);
}

/* A weight of a far step gives back no more than others may, and is told what it was to give.  The constant's gives
 * nothing. */
static void so_much_is_given_back(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    double g[P] = {k == 1 ? 9 : 1.2, 0.5}, mean[P] = {0},
           before = k == 2   ? 1.01
                    : k == 0 ? 0.5
                             : 0.95,
           free = k == 3 ? P - 1 : P;
    world_of_ones w;
    g[P - 1] = 2;
    begin(&w, g, before, k == 3 ? mean : NULL, k == 1 ? log(2) : 0);
    if (k == 1) /* the step is longer than by H */
      for (int j = 0; j < P; j++) g[j] *= 2 * log(2);
    double seen = g[0] * g[0] + g[1] * g[1] + (k == 3 ? 0 : g[P - 1] * g[P - 1]),
           part = fmin((free - 2) / fmax(seen, before * before * free + free) / (1 + sqrt(2 / free)), 0.5);
    if (k == 2) part = 0;
    for (int j = 0; j < P; j++) {
      double own = k == 3 && j == P - 1 ? 0 : part, back = own * g[j], kept = fmin(back, own);
      double variance = 1 - own + 2 / (free - 2) * back * back + (back - kept) * (back - kept);
      assert_float_equal(w.step[j], (k == 1 ? g[j] / (2 * log(2)) : g[j]) - kept, 1e-12);
      assert_float_equal(w.errors.noise[j * (P + 1)], variance, 1e-12);
      assert_float_equal(w.errors.degrees[j], 100 * fmin(pow((variance + 1) / 2, 2), 1), 1e-9);
    }
    assert_float_equal(w.errors.noise[1], 2 / (free - 2) * part * part * g[0] * g[1], 1e-12);
    assert_float_equal(w.errors.noise[P], w.errors.noise[1], 0);
    end(&w);
  }
}

/* What a path left in one weight alone, in deviations of the step's noise: without a limit it is covered in .53 at 3.
 */
static void one_weight_that_is_off_by_itself_is_covered(void **state) {
  (void)state;
  enum { RUNS = 1000 };
  dice d = {7};
  for (int off = 0; off < 6; off++) {
    int hit[P] = {0}, all = 0;
    for (int run = 0; run < RUNS; run++) {
      double g[P], left[P];
      world_of_ones w;
      for (int j = 0; j < P; j++) left[j] = j == 0 ? off : 0.3 * dice_normal(&d), g[j] = left[j] + dice_normal(&d);
      begin(&w, g, 0.3, NULL, 0);
      for (int j = 0; j < P; j++) {
        double error = left[j] - w.step[j]; /* sampling apart */
        hit[j] += fabs(error) <= 1.96 * sqrt(w.errors.noise[j * (P + 1)]);
      }
      end(&w);
    }
    for (int j = 0; j < P; j++) all += hit[j];
    printf("off by %d: covered %.3f, all %.3f\n", off, hit[0] / (double)RUNS, all / (double)(P * RUNS));
    assert_true(hit[0] > 0.79 * RUNS && all > 0.95 * P * RUNS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(so_much_is_given_back),
      cmocka_unit_test(one_weight_that_is_off_by_itself_is_covered),
  };
  return cmocka_run_group_tests_name("a part of the last step", tests, NULL, NULL);
}
