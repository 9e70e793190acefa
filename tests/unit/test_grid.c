/* test_grid.c - laws on a grid against closed hockey-stick curves; the transform against its definition. */
#include "account/curves/compose.h"
#include "account/curves/fft.h"
#include "account/curves/grid.h"
#include "account/curves/normal.h"
#include "account/curves/pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <float.h>
#include <math.h>

#include <cmocka.h>

static double hash_unit(uint64_t k) {
  k = (k + 1) * 0x9E3779B97F4A7C15u;
  k ^= k >> 31;
  k *= 0xBF58476D1CE4E5B9u;
  return (double)((k ^ (k >> 29)) >> 11) * 0x1p-53;
}

static void transforms_stay_within_their_stated_error(void **state) {
  (void)state;
  enum { MOST = 1024 };
  static double x[MOST], re[MOST], im[MOST], back[MOST];
  for (int64_t n = 16; n <= MOST; n *= 2) {
    tct_fft fft;
    double sum = 0, spectrum = 0;
    assert_int_equal(tct_fft_init(&fft, n, NULL), TCT_OK);
    for (int64_t k = 0; k < n; k++) sum += x[k] = hash_unit((uint64_t)(n + k));
    tct_fft_forward(&fft, x, re, im);
    for (int64_t k = 0; k <= n / 2; k++) {
      long double er = 0, ei = 0;
      for (int64_t j = 0; j < n; j++) {
        long double angle = 2 * 3.14159265358979323846264L * (long double)(j * k % n) / (long double)n;
        er += (long double)x[j] * cosl(angle), ei -= (long double)x[j] * sinl(angle);
      }
      spectrum += 2 * hypot(re[k], im[k]);
      assert_true(hypot((double)(re[k] - er), (double)(im[k] - ei)) <= fft.error * sum);
    }
    tct_fft_inverse(&fft, re, im, back);
    for (int64_t k = 0; k < n; k++) assert_true(fabs(back[k] - x[k]) <= 2 * fft.error * spectrum / (double)n);
    tct_fft_free(&fft);
  }
}

/* E[(1 - e^{epsilon - loss})+] of a law. */
static double law_delta(const tct_pmf *pmf, double epsilon) {
  double sum = pmf->infinite;
  for (int64_t i = 0; i < pmf->len; i++) {
    double loss = pmf->offset + pmf->h * (double)(pmf->first + i);
    if (loss > epsilon) sum -= pmf->p[i] * expm1(epsilon - loss);
  }
  return sum;
}

static double upper_tail(double x) { return exp(tct_log_upper_tail(x)); }

/* The sampled Gaussian's curve in closed form: P = (1-q)N(0) + qN(1) against N(0), or reversed. */
static double sampled_delta(double s, double q, bool reversed, double epsilon) {
  if (!reversed) {
    double ratio = 1 + expm1(epsilon) / q;
    if (ratio <= 0) return -expm1(epsilon);
    double x = s * s * log(ratio) + 0.5;
    return (1 - q) * upper_tail(x / s) + q * upper_tail((x - 1) / s) - exp(epsilon) * upper_tail(x / s);
  }
  double ratio = 1 + expm1(-epsilon) / q;
  if (ratio <= 0) return 0;
  double x = s * s * log(ratio) + 0.5, below0 = upper_tail(-x / s), below1 = upper_tail((1 - x) / s);
  return below0 - exp(epsilon) * ((1 - q) * below0 + q * below1);
}

static void one_step_laws_enclose_the_closed_curve(void **state) {
  (void)state;
  static const double cases[][3] = {{1, 0.01, 2e-3}, {0.6, 5e-4, 1e-3}, {4, 0.5, 1e-2}, {2, 0.9, 0.05}};
  for (int c = 0; c < 8; c++) {
    double s = cases[c / 2][0], q = cases[c / 2][1], h = cases[c / 2][2];
    tct_event event = tct_event_sampled_gaussian(s, q, 1);
    tct_grid_shape shape = {h, 0, 1e-16, c % 2};
    tct_grid grid;
    tct_pmf upper, lower;
    assert_int_equal(tct_best_offset(&event, TCT_ADD_REMOVE, &shape, &shape.offset, NULL), TCT_OK);
    assert_int_equal(tct_grid_new(&event, TCT_ADD_REMOVE, &shape, &grid, NULL), TCT_OK);
    assert_int_equal(tct_pmf_upper(&grid, 1, &upper, NULL), TCT_OK);
    assert_int_equal(tct_pmf_lower(&grid, 1, &lower, NULL), TCT_OK);
    double mass = upper.infinite;
    for (int64_t i = 0; i < upper.len; i++) mass += upper.p[i];
    assert_true(fabs(mass - 1) < 1e-12);
    for (double epsilon = 0; epsilon < 3; epsilon += 0.0137) {
      double exact = sampled_delta(s, q, shape.reversed, epsilon);
      double up = law_delta(&upper, epsilon), low = law_delta(&lower, epsilon);
      assert_true(up >= exact - 1e-15);
      assert_true(low <= exact + 1e-15);
      assert_true(up - exact <= 0.26 * h); /* a bucket's chord lies at most h/4 above the curve */
    }
    tct_grid_free(&grid);
    tct_pmf_free(&upper);
    tct_pmf_free(&lower);
  }
}

/* What one step adds to the mean loss must be of second order in h for both laws. */
static void both_laws_err_by_second_order_in_the_width(void **state) {
  (void)state;
  double error[2][2];
  tct_event event = tct_event_sampled_gaussian(1, 0.01, 1);
  for (int fine = 0; fine < 2; fine++) {
    tct_grid_shape shape = {fine ? 5e-4 : 2e-3, 0, 1e-16, false};
    for (int side = 0; side < 2; side++) {
      tct_grid grid;
      tct_pmf pmf;
      double sum = 0;
      if (side) assert_int_equal(tct_best_offset(&event, TCT_ADD_REMOVE, &shape, &shape.offset, NULL), TCT_OK);
      assert_int_equal(tct_grid_new(&event, TCT_ADD_REMOVE, &shape, &grid, NULL), TCT_OK);
      assert_int_equal(side ? tct_pmf_lower(&grid, 1, &pmf, NULL) : tct_pmf_upper(&grid, 1, &pmf, NULL), TCT_OK);
      for (int64_t i = 0; i < pmf.len; i++) sum += pmf.p[i] * (pmf.offset + pmf.h * (double)(pmf.first + i));
      error[side][fine] = sum;
      tct_grid_free(&grid);
      tct_pmf_free(&pmf);
    }
  }
  double coarse = error[0][0] - error[1][0], fine = error[0][1] - error[1][1];
  assert_true(coarse > 0 && fine > 0);
  assert_true(fine < coarse / 8); /* 16 in the limit, 4 if an error were of first order */
}

/* Both laws of a list in one window, against the same list in a window as wide as its support. */
static void expect_sound(const tct_pmf *step, const tct_law *whole, const tct_window *window, double most_error) {
  bool inside;
  tct_law upper, lower;
  assert_int_equal(tct_compose(step, 1, window, true, &upper, NULL), TCT_OK);
  assert_int_equal(tct_compose(step, 1, window, false, &lower, NULL), TCT_OK);
  assert_true(upper.len < whole->len && lower.len < whole->len);
  for (double epsilon = fmax(window->floor, 0); epsilon < window->top + 0.2; epsilon += 0.05) {
    double exact = tct_law_delta(whole, epsilon, &inside);
    double above = tct_law_delta(&upper, epsilon, &inside), below = tct_law_delta(&lower, epsilon, &inside);
    if (above < exact * (1 - 1e-4) - 1e-10 || below > exact * (1 + 1e-4) + 1e-10)
      fail_msg("at %g: [%.12g, %.12g] misses %.12g", epsilon, below, above, exact);
    if (epsilon <= window->floor + 0.1 && above - below > most_error * exact)
      fail_msg("at %g: [%.12g, %.12g] is wide", epsilon, below, above);
  }
  tct_law_free(&upper);
  tct_law_free(&lower);
}

static void a_window_never_loses_wrapped_mass(void **state) {
  (void)state;
  /* 40000 fair steps of +-1/640: mean 0, deviation 0.3125. */
  double mass[2] = {0.5, 0.5};
  tct_pmf step = {1.0 / 320, -1.0 / 640, 0, 2, mass, 0, 40000, true};
  tct_law whole;
  tct_window all = {4, 100, 1000, -100, 1, 5, -1};
  assert_int_equal(tct_compose(&step, 1, &all, true, &whole, NULL), TCT_OK);
  double variance = 40000.0 / (640 * 640);
  for (double t = 1; t < 9; t += 3)
    for (double floor = 0; floor < 1.5; floor += 0.4) {
      /* Chernoff's best orders are loss/variance: the first window has room to spare, the others cut into the law. */
      tct_window window = {t, 2.9, 3.1 - floor + 1.2, floor, 2.9 / variance, 3.9 / variance, -1.2 / variance};
      expect_sound(&step, &whole, &window, t < 9 && floor < 0.5 ? 0.01 : INFINITY);
      for (double short_by = 0.5; short_by < 3; short_by += 0.5) {
        tct_window cut = window;
        cut.top = fmax(2.9 - short_by, floor + 0.1);
        cut.length = fmax(window.length - 2 * short_by, 0.2);
        expect_sound(&step, &whole, &cut, INFINITY);
      }
    }
  tct_law_free(&whole);
}

/* ---- what is not proved, and what rounding costs ------------------------------------------------------------------
 */

static const tct_window NARROW = {1, 0.5, 0.4, 0.1, 2, 2, -1};

static bool composes(tct_pmf step, tct_window window) {
  tct_law law;
  assert_int_equal(tct_compose(&step, 1, &window, true, &law, NULL), TCT_OK);
  bool proved = law.proved;
  tct_law_free(&law);
  return proved;
}

static void what_is_unproved_or_beyond_the_grid_is_not_composed(void **state) {
  (void)state;
  double mass[2] = {0.5, 0.5};
  const tct_pmf good = {0.01, -0.005, 0, 2, mass, 0, 40, true};
  tct_pmf step = good;
  tct_window window = NARROW;
  assert_true(composes(good, NARROW));
  step.proved = false;
  assert_false(composes(step, NARROW));
  step = good, step.count = (int64_t)1 << 59; /* products with points are then no integers of 64 bits */
  assert_false(composes(step, NARROW));
  step = good, step.infinite = 1.5;
  assert_false(composes(step, NARROW));
  window.t = -0.1;
  assert_false(composes(good, window));
  window.t = 500;
  assert_false(composes(good, window));
  window = NARROW, window.top = INFINITY;
  assert_false(composes(good, window));
}

/* A spectrum to so high a power has no bound on its rounding of the first order. */
static void a_law_whose_rounding_has_no_bound_is_not_proved(void **state) {
  (void)state;
  double mass[2] = {0.5, 0.5};
  tct_pmf step = {1e-7, -0.5e-7, 0, 2, mass, 0, (int64_t)1 << 47, true};
  assert_false(composes(step, (tct_window){1, 5e-5, 4e-5, 1e-5, 2, 2, -1}));
}

/* A point stands for mass * exp(log_moment - t loss), and an exponent of 15000 rounds by so many units. */
static void a_law_that_reaches_far_pays_for_the_rounding_of_exponents(void **state) {
  (void)state;
  enum { POINTS = 4000 };
  static double mass[POINTS];
  mass[POINTS - 1] = exp(-3), mass[0] = 1 - mass[POINTS - 1]; /* losses -15594 and 2 */
  tct_pmf step = {3.9, 2 - 3.9 * (POINTS - 1), 0, POINTS, mass, 0, 1, true};
  tct_law upper, lower;
  tct_window window = {1, 20, 20000, -15600, 2, 2, -1};
  assert_int_equal(tct_compose(&step, 1, &window, true, &upper, NULL), TCT_OK);
  assert_int_equal(tct_compose(&step, 1, &window, false, &lower, NULL), TCT_OK);
  assert_true(upper.proved && lower.proved && lower.tilted[POINTS - 1] > 0.3);
  double apart = upper.tilted[POINTS - 1] / lower.tilted[POINTS - 1] - 1;
  if (!(apart >= 15000 * DBL_EPSILON)) fail_msg("%g", apart);
  tct_law_free(&upper);
  tct_law_free(&lower);
}

static void a_window_as_wide_as_the_support_is_read_from_its_first_point(void **state) {
  (void)state;
  double mass[2] = {0.5, 0.5};
  for (int64_t first = -7; first <= 7; first += 7) {
    tct_pmf step = {0.1, 0, first, 2, mass, 0, 3, true};
    tct_law law;
    tct_window all = {1, 100, 1000, -100, 2, 2, -1};
    assert_int_equal(tct_compose(&step, 1, &all, true, &law, NULL), TCT_OK);
    assert_true(law.proved && law.floor == 0 && law.first == 3 * first);
    tct_law_free(&law);
  }
}

/* Connecting the dots keeps Q's mass too: the shares of a bucket are a series where the grid is this fine. */
static void both_totals_of_a_law_are_one_to_the_last_digits(void **state) {
  (void)state;
  static const double widths[] = {0.0199, 0.011, 3e-3};
  for (int c = 0; c < 3; c++) {
    tct_event event = tct_event_sampled_gaussian(0.8, 0.5, 1);
    tct_grid_shape shape = {widths[c], 0, 1e-18, 0};
    tct_grid grid;
    tct_pmf pmf;
    assert_int_equal(tct_grid_new(&event, TCT_ADD_REMOVE, &shape, &grid, NULL), TCT_OK);
    assert_int_equal(tct_pmf_upper(&grid, 1, &pmf, NULL), TCT_OK);
    double total = tct_pmf_log_moment(&pmf, -1);
    if (!(fabs(total) < 1e-12)) fail_msg("width %g: Q's total is off by %g", widths[c], total);
    tct_pmf_free(&pmf);
    tct_grid_free(&grid);
  }
}

/* Losses below the true ones: Q's total is then above 1, though P's is not. */
static void a_grid_whose_losses_are_too_small_is_not_proved(void **state) {
  (void)state;
  tct_event event = tct_event_sampled_gaussian(1, 0.01, 1);
  tct_grid_shape shape = {2e-3, 0, 1e-16, 0};
  tct_grid grid;
  tct_pmf pmf;
  assert_int_equal(tct_grid_new(&event, TCT_ADD_REMOVE, &shape, &grid, NULL), TCT_OK);
  assert_int_equal(tct_pmf_upper(&grid, 1, &pmf, NULL), TCT_OK);
  assert_true(pmf.proved);
  tct_pmf_free(&pmf);
  grid.first--;
  assert_int_equal(tct_pmf_upper(&grid, 1, &pmf, NULL), TCT_OK);
  assert_false(pmf.proved);
  tct_pmf_free(&pmf);
  tct_grid_free(&grid);
}

/* A record replaced under objective perturbation: three laws reach beyond the range, and all of their mass is kept. The
 * cut is made so near that each of them can be seen. */
static void all_three_laws_of_objective_perturbation_count_beyond_the_range(void **state) {
  (void)state;
  static const double noises[] = {2, 5, 20};
  for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
    tct_event event = tct_event_objpert(noises[i], 0.1, 1);
    double mu = 1 / noises[i];
    tct_pair pair;
    tct_pair_of(&event, TCT_REPLACE_ONE, 0.4, &pair);
    double narrow = upper_tail(pair.high / mu - mu / 2), wide = upper_tail(pair.high / (2 * mu) - mu);
    assert_true(narrow > 1e-6 * wide);
    assert_true(fabs(pair.high_p / (2 * narrow + wide) - 1) < 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transforms_stay_within_their_stated_error),
      cmocka_unit_test(one_step_laws_enclose_the_closed_curve),
      cmocka_unit_test(both_laws_err_by_second_order_in_the_width),
      cmocka_unit_test(a_window_never_loses_wrapped_mass),
      cmocka_unit_test(what_is_unproved_or_beyond_the_grid_is_not_composed),
      cmocka_unit_test(a_law_whose_rounding_has_no_bound_is_not_proved),
      cmocka_unit_test(a_law_that_reaches_far_pays_for_the_rounding_of_exponents),
      cmocka_unit_test(a_window_as_wide_as_the_support_is_read_from_its_first_point),
      cmocka_unit_test(both_totals_of_a_law_are_one_to_the_last_digits),
      cmocka_unit_test(a_grid_whose_losses_are_too_small_is_not_proved),
      cmocka_unit_test(all_three_laws_of_objective_perturbation_count_beyond_the_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
