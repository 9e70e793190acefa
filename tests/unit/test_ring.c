/* test_ring.c - records as integers modulo 2^64: cut toward zero, products exact, columns cut out of a matrix. */
#include "worlds.h"

#include "la/exact/ring.h"
#include "la/exact/spectrum.h"

static void naive(tct_ring_block a, tct_ring_block b, int64_t rows, uint64_t *sum) {
  for (int64_t i = 0; i < a.cols; i++)
    for (int64_t j = 0; j < b.cols; j++)
      for (int64_t r = 0; r < rows; r++) sum[i * b.cols + j] += a.at[r * a.cols + i] * b.at[r * b.cols + j];
}

static void products_are_exact_for_every_shape(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int64_t left = 1; left < 40; left += 3)
    for (int64_t right = 1; right < 60; right += 7)
      for (int64_t rows = 0; rows < 20; rows += 6) {
        uint64_t *a = malloc((size_t)(rows * left + 1) * 8), *b = malloc((size_t)(rows * right + 1) * 8);
        uint64_t *sum = calloc((size_t)(left * right), 8), *expected = calloc((size_t)(left * right), 8);
        for (int64_t i = 0; i < rows * left; i++) a[i] = world_u64(&seed);
        for (int64_t i = 0; i < rows * right; i++) b[i] = world_u64(&seed);
        sum[0] = expected[0] = 17;
        tct_ring_times((tct_ring_block){a, left}, (tct_ring_block){b, right}, rows, false, sum, right);
        naive((tct_ring_block){a, left}, (tct_ring_block){b, right}, rows, expected);
        assert_memory_equal(sum, expected, (size_t)(left * right) * 8);
        free(a), free(b), free(sum), free(expected);
      }
}

static void an_upper_triangle_is_that_of_the_whole_product(void **state) {
  (void)state;
  uint64_t seed = 6;
  for (int64_t p = 1; p < 70; p += 5) {
    enum { ROWS = 9 };
    uint64_t *a = malloc((size_t)(ROWS * p) * 8), *sum = calloc((size_t)(p * p), 8), *all = calloc((size_t)(p * p), 8);
    for (int64_t i = 0; i < ROWS * p; i++) a[i] = world_u64(&seed);
    tct_ring_times((tct_ring_block){a, p}, (tct_ring_block){a, p}, ROWS, true, sum, p);
    naive((tct_ring_block){a, p}, (tct_ring_block){a, p}, ROWS, all);
    for (int64_t i = 0; i < p; i++)
      for (int64_t j = i; j < p; j++) assert_true(sum[i * p + j] == all[i * p + j]);
    free(a), free(sum), free(all);
  }
}

static void a_number_is_cut_toward_zero_and_comes_back(void **state) {
  (void)state;
  uint64_t seed = 7;
  for (int t = 0; t < 10000; t++) {
    double v = 9 * world_real(&seed);
    uint64_t word = tct_ring_cut(v, 14);
    double back = tct_ring_real(word, 14);
    assert_true(fabs(back) <= fabs(v) && fabs(v - back) < 0x1p-14 && back * v >= 0);
    assert_true(tct_ring_real(word + tct_ring_cut(-v, 14), 14) == 0);
  }
}

/* A record at the bound whose coordinates all would round up: the integer record is not longer. */
static void no_record_grows_when_it_is_cut(void **state) {
  (void)state;
  enum { COLS = 40, ROWS = 200 };
  static double x[ROWS * COLS];
  uint64_t seed = 8, word[COLS];
  double line[COLS];
  tct_error err = {0};
  for (int i = 0; i < ROWS * COLS; i++)
    x[i] = (int64_t)(200 * world_real(&seed)) / 16384.0 + copysign(0.9 / 16384, x[i]);
  tct_matrix m = {.rows = ROWS, .cols = COLS, .layout = TCT_DENSE_ROWS, .values = x, .stride = COLS};
  for (int fraction = 2; fraction < 22; fraction += 3) {
    tct_view view;
    assert_int_equal(tct_view_bound(&view, &m, 0, 0.01, TCT_ROWS_UNIT, 1, &err), TCT_OK);
    for (int64_t i = 0; i < ROWS; i++) {
      long double sum = 0;
      tct_ring_row(&view, i, fraction, line, word);
      for (int j = 0; j < COLS; j++) {
        double real = ldexp((double)(int64_t)word[j], -fraction), from = view.row_scale[i] * x[i * COLS + j];
        sum += (long double)real * real;
        assert_true(fabs(real) <= fabs(from) && fabs(from - real) < ldexp(1, -fraction));
      }
      assert_true(sqrtl(sum) <= 0.01L);
    }
    tct_view_free(&view);
  }
}

static void columns_cut_out_are_those_of_the_matrix_in_every_layout(void **state) {
  (void)state;
  tct_error err = {0};
  records r = records_new(30, 11, 3);
  tct_matrix m = records_matrix(&r);
  for (int sparse = 0; sparse < 2; sparse++)
    for (int single = 0; single < 2; single++)
      for (int64_t first = 0; first < 11; first++)
        for (int64_t count = 1; first + count <= 11; count++) {
          tct_owned_matrix from, part, dense;
          tct_layout layout = sparse ? TCT_CSR : TCT_DENSE_ROWS;
          assert_int_equal(tct_matrix_convert(&m, layout, single ? TCT_F32 : TCT_F64, &from, &err), TCT_OK);
          assert_int_equal(tct_cut_columns(&from.m, first, count, &part, &err), TCT_OK);
          assert_int_equal(tct_matrix_check(&part.m, &err), TCT_OK);
          assert_int_equal(tct_matrix_convert(&part.m, TCT_DENSE_ROWS, TCT_F64, &dense, &err), TCT_OK);
          for (int64_t i = 0; i < 30; i++)
            for (int64_t j = 0; j < count; j++)
              assert_true(((const double *)dense.m.values)[i * dense.m.stride + j] == r.x[i * 11 + first + j]);
          tct_matrix_free(&from), tct_matrix_free(&part), tct_matrix_free(&dense);
        }
  records_free(&r);
}

/* Vectors are orthonormal, and A v = l v, also for repeated eigenvalues and for a matrix of rank one. */
static void eigenvectors_are_orthonormal_and_belong_to_their_values(void **state) {
  (void)state;
  uint64_t seed = 9;
  for (int64_t p = 1; p < 60; p += 6)
    for (int kind = 0; kind < 3; kind++) {
      double *a = malloc((size_t)(p * p) * 8), *work = malloc((size_t)(p * p) * 8), *v = malloc((size_t)(p * p) * 8);
      double *value = malloc((size_t)p * 8), *scratch = malloc((size_t)(3 * p) * 8), alone[60];
      for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j <= i; j++)
          a[i * p + j] = a[j * p + i] = kind == 0   ? world_real(&seed)
                                        : kind == 1 ? (double)(i == j)
                                                    : (double)((i + 1) * (j + 1));
      memcpy(work, a, (size_t)(p * p) * 8);
      assert_true(tct_eigenvectors(work, p, value, v, scratch));
      memcpy(work, a, (size_t)(p * p) * 8);
      assert_true(tct_eigenvectors(work, p, alone, NULL, scratch));
      assert_memory_equal(alone, value, (size_t)p * 8);
      double size = fabs(a[p * p - 1]) * (double)p;
      for (int64_t k = 0; k < p; k++)
        for (int64_t l = 0; l <= k; l++) {
          double dot = 0, image = 0;
          for (int64_t i = 0; i < p; i++) {
            dot += v[k * p + i] * v[l * p + i];
            for (int64_t j = 0; j < p; j++) image += v[l * p + i] * a[i * p + j] * v[k * p + j];
          }
          assert_true(fabs(dot - (k == l)) < 1e-12 * (double)p);
          assert_true(fabs(image - (k == l ? value[k] : 0)) < 1e-12 * (size + 10) * (double)p);
        }
      free(a), free(work), free(v), free(value), free(scratch);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_exact_for_every_shape),
      cmocka_unit_test(an_upper_triangle_is_that_of_the_whole_product),
      cmocka_unit_test(a_number_is_cut_toward_zero_and_comes_back),
      cmocka_unit_test(no_record_grows_when_it_is_cut),
      cmocka_unit_test(columns_cut_out_are_those_of_the_matrix_in_every_layout),
      cmocka_unit_test(eigenvectors_are_orthonormal_and_belong_to_their_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
