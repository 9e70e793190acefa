/* test_gram.c - the Gram matrix on a lattice: exact, whatever the layout and the threads, and bounded by R^2. */
#include "la_help.h"

#include "la/exact/exact.h"
#include "la/exact/gram.h"
#include "la/exact/tiles.h"
#include "la/kernels/kernels.h"
#include "la/matrix/lattice.h"

enum { N = 150, P = 37 }; /* more than one block of rows; whole tiles and parts of them */

static double *gram_of(const tct_view *view, const double *weight, double step, int threads) {
  double *scratch = tct_alloc(tct_gram_lattice_scratch(P, threads), sizeof *scratch),
         *sum = tct_alloc(P * P, sizeof *sum);
  tct_gram_lattice(view, weight, step, sum, scratch, threads);
  tct_free(scratch);
  return sum;
}

static void the_step_is_the_coarsest_whose_square_the_lattice_divides(void **state) {
  (void)state;
  for (int e = -900; e <= 900; e++) {
    double lattice = ldexp(1, e), step = tct_gram_step(lattice);
    int exponent;
    assert_true(frexp(step, &exponent) == 0.5); /* a power of two */
    assert_true(step * step == lattice || step * step == 2 * lattice);
  }
}

/* Entry (j, k) is the sum of the products of truncated entries, each an integer of steps. */
static void the_matrix_is_the_integer_sum_of_truncated_products_for_every_layout_and_thread(void **state) {
  (void)state;
  uint64_t seed = 9;
  double *x = random_values(&seed, N, P, 0.5), weight[N], step = ldexp(1, -15);
  tct_matrix m = dense(x, N, P);
  for (int i = 0; i < N; i++) weight[i] = i % 7 ? random_unit(&seed) : 0;
  for (int variant = 0; variant < 8; variant++) {
    tct_owned_matrix to = converted(&m, variant & 1 ? TCT_CSR : TCT_DENSE_ROWS, variant & 2 ? TCT_F32 : TCT_F64);
    const double *v = variant & 4 ? weight : NULL;
    tct_view view;
    assert_int_equal(tct_view_bound(&view, &to.m, 0, 1.5, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
    double *one = gram_of(&view, v, step, 1), *three = gram_of(&view, v, step, 3);
    assert_memory_equal(one, three, P * P * sizeof *one);
    double squares[P], scratch[3 * 2 * P];
    for (int threads = 1; threads <= 3; threads += 2) {
      tct_squares_lattice(&view, v, step, squares, scratch, threads);
      for (int j = 0; j < P; j++) assert_true(squares[j] == one[j * P + j]);
    }
    for (int j = 0; j < P; j++)
      for (int k = 0; k < P; k++) {
        double expect = 0;
        for (int i = 0; i < N; i++) {
          double b = (v ? sqrt(v[i]) * (1 - 0x1p-50) : 1) * view.row_scale[i];
          expect += tct_lattice_part(b * entry(&to.m, i, j), step) * tct_lattice_part(b * entry(&to.m, i, k), step);
        }
        assert_true(one[j * P + k] == expect);
      }
    tct_free(one);
    tct_free(three);
    tct_view_free(&view);
    tct_matrix_free(&to);
  }
  free(x);
}

/* One row at a time: the norm of all p^2 entries, exactly, beside weight * R^2. */
static void no_row_adds_more_than_its_weight_times_the_square_of_its_bound(void **state) {
  (void)state;
  uint64_t seed = 4;
  double closest = 0;
  for (int trial = 0; trial < 3000; trial++) {
    double x[P], weight = trial % 3 ? 1 : random_unit(&seed), R = exp(3 * random_real(&seed));
    for (int j = 0; j < P; j++) x[j] = exp(8 * random_real(&seed)) * random_real(&seed);
    tct_matrix m = dense(x, 1, P);
    tct_view view;
    assert_int_equal(tct_view_bound(&view, &m, 0, R, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
    double *sum = gram_of(&view, &weight, tct_gram_step(ldexp(R * R > 1 ? 1 : 0x1p-9, -40)), 1);
    quad squares = 0, bound = (quad)weight * R * R;
    for (int k = 0; k < P * P; k++) squares += (quad)sum[k] * sum[k];
    assert_true(squares <= bound * bound);
    closest = fmax(closest, (double)(squares / (bound * bound)));
    tct_free(sum);
    tct_view_free(&view);
  }
  assert_true(closest > 0.999);
}

static void the_least_shift_makes_a_matrix_definite_and_not_much_less_does(void **state) {
  (void)state;
  uint64_t seed = 6;
  double a[P * P], factor[P * P];
  for (int i = 0; i < P; i++)
    for (int j = 0; j <= i; j++) a[i * P + j] = a[j * P + i] = random_real(&seed);
  double shift = tct_least_shift(a, P, 0, 0.5, 1.0 / 16, factor);
  assert_true(shift > 0 && tct_cholesky_shifted(a, P, shift, factor));
  assert_false(tct_cholesky_shifted(a, P, shift - 0.5 / 16 - 1e-9, factor));
  for (int i = 0; i < P; i++) a[i * P + i] += shift;
  assert_true(tct_least_shift(a, P, 0, 0.5, 1.0 / 16, factor) == 0);
}

/* Three blocks of rows and a part of a tile; the last pivot alone decides. */
static void a_factor_in_blocks_gives_the_matrix_back_unless_the_last_pivot_is_below_zero(void **state) {
  (void)state;
  enum { Q = 150 };
  uint64_t seed = 8;
  double *l = random_values(&seed, Q, Q, 1), *a = random_values(&seed, Q, Q, 1);
  for (int i = 0; i < Q; i++)
    for (int j = 0; j < Q; j++) l[i * Q + j] = i == j ? 5 + fabs(l[i * Q + j]) : j < i ? l[i * Q + j] : 0;
  for (int i = 0; i < Q; i++)
    for (int j = 0; j < Q; j++) a[i * Q + j] = tct_dot(l + i * Q, l + j * Q, Q);
  assert_true(tct_cholesky(a, Q));
  for (int i = 0; i < Q; i++)
    for (int j = 0; j <= i; j++) assert_true(fabs(a[i * Q + j] - l[i * Q + j]) < 1e-11);
  for (int i = 0; i < Q; i++)
    for (int j = 0; j < Q; j++) a[i * Q + j] = tct_dot(l + i * Q, l + j * Q, Q);
  a[Q * Q - 1] -= 1.01 * l[Q * Q - 1] * l[Q * Q - 1];
  assert_false(tct_cholesky(a, Q));
  free(l), free(a);
}

/* As lattice.h cuts them, in units of the lattice; the factor comes last. */
static void products_are_cut_one_by_one_and_toward_zero(void **state) {
  (void)state;
  uint64_t seed = 3;
  double *x = random_values(&seed, N, P, 1), *a = random_values(&seed, N, P, 1), c[P * P] = {0};
  double *left = tct_alloc(tct_block_size(P), sizeof *left), *right = tct_alloc(tct_block_size(P), sizeof *right);
  for (int k = 0; k < 100; k++) {
    for (int j = 0; j < P; j++) x[k * P + j] *= ldexp(1, (k + j) % 40);
    tct_block_row(a + (ptrdiff_t)k * P, 8, P, k, left);
    tct_block_row(x + (ptrdiff_t)k * P, 1, P, k, right);
  }
  tct_tiles_add(&(tct_tiles){left, right, 100, P, TCT_PRODUCTS_CUT, 0.125}, c, P);
  for (int i = 0; i < P; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < 100; k++) sum += tct_lattice_part(a[k * P + i] * x[k * P + j], 0.125);
      assert_true(c[i * P + j] == sum);
    }
  tct_free(left), tct_free(right), free(x), free(a);
}

/* 4 million halvings would be as good as no end: neighbouring doubles and overflow stop the search. */
static void the_search_for_a_shift_ends_for_any_matrix_and_any_unit(void **state) {
  (void)state;
  static const double units[] = {1e-300, 1e-30, 1, 1e300}, sizes[] = {1e-200, 1, 1e200, INFINITY, NAN};
  double a[4], factor[4];
  for (int u = 0; u < 4; u++)
    for (int s = 0; s < 5; s++) {
      a[0] = a[3] = -sizes[s], a[1] = a[2] = sizes[s] / 2;
      double shift = tct_least_shift(a, 2, 0, units[u], 0.05, factor);
      assert_true(shift > 0);
      assert_true(isinf(shift) == !isfinite(sizes[s]));
      if (isfinite(shift)) assert_true(tct_cholesky_shifted(a, 2, shift, factor));
    }
}

/* Exact sums need it to be no smaller, wherever it lies and however many threads look. */
static void the_largest_size_is_found_by_any_number_of_threads(void **state) {
  (void)state;
  enum { MANY = 300000 };
  double *a = calloc(MANY, sizeof *a);
  for (int64_t i = 0; i < MANY; i++) a[i] = i % 7 == 0 ? NAN : -1.0 / (double)(i + 2);
  static const int64_t places[] = {0, 1, MANY / 4, MANY / 2 - 1, MANY / 2, MANY - 1};
  for (int threads = 1; threads <= 4; threads++) {
    assert_true(tct_largest_size(a, 0, threads) == 0);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
      double before = a[places[k]];
      a[places[k]] = k % 2 ? 3 : -3;
      assert_true(tct_largest_size(a, MANY, threads) == 3);
      a[places[k]] = before;
    }
  }
  for (int64_t i = 0; i < MANY; i++) a[i] = NAN;
  assert_true(tct_largest_size(a, MANY, 3) == 0);
  free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_step_is_the_coarsest_whose_square_the_lattice_divides),
      cmocka_unit_test(the_matrix_is_the_integer_sum_of_truncated_products_for_every_layout_and_thread),
      cmocka_unit_test(no_row_adds_more_than_its_weight_times_the_square_of_its_bound),
      cmocka_unit_test(the_least_shift_makes_a_matrix_definite_and_not_much_less_does),
      cmocka_unit_test(the_largest_size_is_found_by_any_number_of_threads),
      cmocka_unit_test(a_factor_in_blocks_gives_the_matrix_back_unless_the_last_pivot_is_below_zero),
      cmocka_unit_test(products_are_cut_one_by_one_and_toward_zero),
      cmocka_unit_test(the_search_for_a_shift_ends_for_any_matrix_and_any_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
