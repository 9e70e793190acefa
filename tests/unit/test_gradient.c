/* test_gradient.c - the fused gradient: the same bits whatever the layout and the threads, and no term beyond its
 * sensitivity. */
#include "la_help.h"

#include "la/exact/gradient.h"

enum { N = 333, P = 11 };

/* Factors that depend on the row and its margin. */
static void factors(const void *user, int64_t first, int64_t count, double *a) {
  const double *size = user;
  for (int64_t k = 0; k < count; k++) a[k] = size[first + k] * (a[k] > 0 ? 1 : -0.7);
}

static double *gradient(const tct_view *view, const double *w, const double *size, double lattice, int threads) {
  double *scratch = tct_alloc(tct_gradient_scratch(view->p, threads), sizeof *scratch),
         *sum = tct_alloc(view->p, sizeof *sum);
  tct_gradient_lattice(view, w, (tct_factors){factors, size}, lattice, sum, scratch, threads);
  tct_free(scratch);
  return sum;
}

typedef struct fixture {
  double *x, w[P + 1], size[N];
  tct_matrix m;
} fixture;

static void make_fixture(fixture *f, uint64_t seed, double density) {
  f->x = random_values(&seed, N, P, density);
  f->m = dense(f->x, N, P);
  for (int j = 0; j <= P; j++) f->w[j] = random_real(&seed);
  for (int i = 0; i < N; i++) f->size[i] = i % 9 ? random_real(&seed) : 0;
}

/* Terms are rounded one by one, so the sum is an integer that any order reaches. */
static void the_sum_is_that_of_rounded_terms_for_every_layout_type_and_thread(void **state) {
  (void)state;
  fixture f;
  const double lattice = 0x1p-20;
  make_fixture(&f, 3, 0.6);
  for (int variant = 0; variant < 8; variant++) {
    double intercept = variant & 4 ? 1 : 0;
    tct_owned_matrix to = converted(&f.m, variant & 1 ? TCT_CSR : TCT_DENSE_ROWS, variant & 2 ? TCT_F32 : TCT_F64);
    tct_view view;
    assert_int_equal(tct_view_bound(&view, &to.m, intercept, 1.5, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
    double *sum = gradient(&view, f.w, f.size, lattice, 1);
    for (int threads = 2; threads <= 5; threads++) {
      double *again = gradient(&view, f.w, f.size, lattice, threads);
      assert_memory_equal(sum, again, (size_t)view.p * sizeof *sum);
      tct_free(again);
    }
    for (int j = 0; j < view.p; j++) {
      double expect = 0;
      for (int i = 0; i < N; i++) {
        double a = tct_row_dot(&view, i, f.w);
        factors(f.size, i, 1, &a);
        double b = a * view.row_scale[i];
        expect += lattice * rint(b * (j < P ? entry(&to.m, i, j) : 1) / lattice);
      }
      assert_true(sum[j] == expect);
    }
    tct_free(sum);
    tct_view_free(&view);
    tct_matrix_free(&to);
  }
  free(f.x);
}

/* A part of the rows, as a rank has it, and the rest: the same sum as all rows; other columns between the rows. */
static void parts_of_the_rows_and_rows_apart_in_memory_add_up_to_the_same_bits(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f, 4, 1);
  double spread[N * (P + 3)];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < P + 3; j++) spread[i * (P + 3) + j] = j < P ? f.x[i * P + j] : NAN;
  }
  tct_view view;
  assert_int_equal(tct_view_bound(&view, &f.m, 0, 1.5, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
  double *all = gradient(&view, f.w, f.size, 0x1p-30, 2);
  tct_view_free(&view);
  for (int cut = 0; cut < N; cut += 37) {
    tct_matrix head = dense(f.x, cut, P), tail = dense(spread + cut * (P + 3), N - cut, P);
    tail.stride = P + 3;
    double both[P] = {0};
    const tct_matrix *part[2] = {&head, &tail};
    for (int k = 0; k < 2; k++) {
      assert_int_equal(tct_view_bound(&view, part[k], 0, 1.5, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
      double *some = gradient(&view, f.w, f.size + (k ? cut : 0), 0x1p-30, 1);
      for (int j = 0; j < P; j++) both[j] += some[j];
      tct_free(some);
      tct_view_free(&view);
    }
    assert_memory_equal(all, both, sizeof both);
  }
  tct_free(all);
  free(f.x);
}

/* One row at a time, its factor as large as is allowed: the norm of its term, exactly, on coarse and fine lattices. */
static void no_term_exceeds_the_reach_that_its_factor_was_given(void **state) {
  (void)state;
  uint64_t seed = 8;
  double closest = 0;
  for (int trial = 0; trial < 20000; trial++) {
    double x[P], w[P] = {1}, R = exp(3 * random_real(&seed)), sensitivity = exp(2 * random_real(&seed));
    for (int j = 0; j < P; j++) x[j] = exp(6 * random_real(&seed)) * random_real(&seed);
    if (trial % 4 == 0)
      for (int j = 0; j < P; j++) x[j] = 1; /* all coordinates round the same way */
    tct_matrix m = dense(x, 1, P);
    tct_view view;
    assert_int_equal(tct_view_bound(&view, &m, 0, R, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
    int exponent;
    frexp(sensitivity, &exponent);
    double lattice = ldexp(1, exponent - 6 - trial % 30), room = tct_gradient_factor_max(sensitivity, lattice, P);
    double size = room / (sqrt(tct_row_norm2(&view, 0)) * (1 + 0x1p-41)) * (1 - 0x1p-50);
    double *sum = gradient(&view, w, &size, lattice, 1);
    quad squares = 0;
    for (int j = 0; j < P; j++) squares += (quad)sum[j] * sum[j];
    assert_true(room > 0 && squares <= (quad)sensitivity * sensitivity);
    closest = fmax(closest, (double)(squares / ((quad)sensitivity * sensitivity)));
    tct_free(sum);
    tct_view_free(&view);
  }
  assert_true(closest > 0.9999);
}

static void factors_that_are_not_finite_and_extreme_rows_do_no_harm(void **state) {
  (void)state;
  double x[3 * P], w[P] = {0}, size[3] = {NAN, INFINITY, 1};
  for (int j = 0; j < 3 * P; j++) x[j] = j < 2 * P ? 0.1 : 1e300; /* the last row: scaled by 1e-300 */
  tct_matrix m = dense(x, 3, P);
  tct_view view;
  assert_int_equal(tct_view_bound(&view, &m, 0, 1, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
  double *sum = gradient(&view, w, size, 0x1p-30, 1);
  for (int j = 0; j < P; j++) {
    assert_true(fabs(sum[j] + 0.7 / sqrt(P)) < 1e-8);
    assert_true(sum[j] * 0x1p30 == rint(sum[j] * 0x1p30));
  }
  tct_free(sum);
  tct_view_free(&view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sum_is_that_of_rounded_terms_for_every_layout_type_and_thread),
      cmocka_unit_test(parts_of_the_rows_and_rows_apart_in_memory_add_up_to_the_same_bits),
      cmocka_unit_test(no_term_exceeds_the_reach_that_its_factor_was_given),
      cmocka_unit_test(factors_that_are_not_finite_and_extreme_rows_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
