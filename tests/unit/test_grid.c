/* test_grid.c - laws on a grid against closed hockey-stick curves; the transform against its definition. */
#include "account/compose.h"
#include "account/fft.h"
#include "account/grid.h"
#include "account/normal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

static void a_window_never_loses_wrapped_mass(void **state) {
  (void)state;
  /* 40000 fair steps of +-1/640: the law's tail beyond the window must be found at infinity. */
  double p[3] = {0.5, 0, 0.5};
  tct_pmf step = {1.0 / 640, 0, -1, 3, p, 0, 40000};
  tct_law wide, small;
  assert_int_equal(tct_compose(&step, 1, 0, true, -400, &wide, NULL), TCT_OK);
  assert_int_equal(tct_compose(&step, 1, 0, true, log(0.02), &small, NULL), TCT_OK);
  assert_true(small.len < wide.len);
  for (double epsilon = 0; epsilon < 3; epsilon += 0.05) {
    bool inside;
    double all = tct_law_delta(&wide, epsilon, &inside), cut = tct_law_delta(&small, epsilon, &inside);
    assert_true(cut >= all * (1 - 1e-9) - 1e-13);
  }
  tct_law_free(&wide);
  tct_law_free(&small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transforms_stay_within_their_stated_error),
      cmocka_unit_test(one_step_laws_enclose_the_closed_curve),
      cmocka_unit_test(both_laws_err_by_second_order_in_the_width),
      cmocka_unit_test(a_window_never_loses_wrapped_mass),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
