/* test_weighed_errors.c - standard errors of weighed records: those of an exact fit without noise, and they cover.
 *
 * Seeds are fixed; the error rates are those over seeds. */
#include "covered.h"

#include "la/kernels/kernels.h"

enum { P = 4, N = 2000 };

static tct_model *train(const coverage_table *t, int loss, double epsilon, const double *own, uint64_t seed) {
  return covered_fit(t, (coverage_loss)loss, "dponestep:errors=robust", epsilon, own, seed);
}

/* Every third record counts for a fifth. */
static void intervals_of_weighed_records_cover_the_truth(void **state) {
  (void)state;
  double own[N];
  for (int i = 0; i < N; i++) own[i] = i % 3 ? 1 : 0.2;
  for (int loss = LOGISTIC; loss < GAMMA; loss++) covered_check((coverage_loss)loss, "dponestep:errors=robust", own);
}

/* out[P][P] += scale x x^T. */
static void add_square(const double *x, double scale, double *out) {
  for (int a = 0; a < P; a++) tct_axpy(scale * x[a], x, out + (ptrdiff_t)a * P, P);
}

/* Of least squares, by hand: H = sum v x x^T, J = sum v^2 r^2 x x^T. */
static void without_noise_they_are_those_of_an_exact_fit(void **state) {
  (void)state;
  double own[N], h[P * P] = {0}, j[P * P] = {0}, inverse[P * P], g[P] = {0}, w[P], row[P];
  coverage_table t = coverage_draw(HETERO, SQUARED, N, P, 7);
  for (int i = 0; i < N; i++) {
    const double *x = t.x + (ptrdiff_t)i * P;
    own[i] = i % 3 ? 1 : 0.2;
    add_square(x, own[i], h);
    tct_axpy(own[i] * t.y[i], x, g, P);
  }
  coverage_invert(h, inverse, P);
  for (int a = 0; a < P; a++) w[a] = tct_dot(inverse + (ptrdiff_t)a * P, g, P);
  for (int i = 0; i < N; i++) {
    const double *x = t.x + (ptrdiff_t)i * P;
    add_square(x, pow(own[i] * (t.y[i] - tct_dot(x, w, P)), 2), j);
  }
  tct_model *model = train(&t, SQUARED, INFINITY, own, 1);
  for (int a = 0; a < P; a++) {
    const double *b = inverse + (ptrdiff_t)a * P;
    for (int k = 0; k < P; k++) row[k] = tct_dot(j + (ptrdiff_t)k * P, b, P);
    assert_float_equal(model->coefficients[a], w[a], 1e-5);
    assert_float_equal(covered_weight(model, a).standard_error / sqrt(tct_dot(row, b, P)), 1, 1e-3);
  }
  assert_true(isnan(model->inference.residual)); /* a mean of weighed squares is no residual's */
  tct_model_free(model);
  coverage_free(&t);
}

/* A record of weight 0 is none, and weights that are all alike are none. */
static void weights_that_say_nothing_change_nothing(void **state) {
  (void)state;
  double own[N], alike[N];
  for (int i = 0; i < N; i++) own[i] = i < N / 2, alike[i] = 0.5;
  for (int loss = LOGISTIC; loss < GAMMA; loss++) {
    coverage_table t = coverage_draw(HETERO, (coverage_loss)loss, N, P, 7), half = t;
    half.n = N / 2;
    tct_model *of[] = {train(&t, loss, INFINITY, own, 1), train(&half, loss, INFINITY, NULL, 1),
                       train(&t, loss, INFINITY, alike, 1), train(&t, loss, INFINITY, NULL, 1)};
    for (int k = 0; k < 4; k += 2)
      for (int a = 0; a < P; a++) {
        assert_float_equal(of[k]->coefficients[a], of[k + 1]->coefficients[a], 1e-4);
        assert_float_equal(covered_weight(of[k], a).standard_error / covered_weight(of[k + 1], a).standard_error, 1,
                           1e-3);
      }
    for (int k = 0; k < 4; k++) tct_model_free(of[k]);
    coverage_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_noise_they_are_those_of_an_exact_fit),
      cmocka_unit_test(weights_that_say_nothing_change_nothing),
      cmocka_unit_test(intervals_of_weighed_records_cover_the_truth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
