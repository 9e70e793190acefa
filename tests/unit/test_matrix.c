/* test_matrix.c - checks and conversions of matrices. */
#include "la_help.h"

static void good_matrices_pass_the_check(void **state) {
  (void)state;
  uint64_t seed = 1;
  double *x = random_values(&seed, 13, 7, 0.4);
  tct_matrix m = dense(x, 13, 7);
  assert_int_equal(tct_matrix_check(&m, NULL), TCT_OK);
  for (int layout = 0; layout < 4; layout++)
    for (int type = 0; type < 2; type++) {
      tct_owned_matrix c = converted(&m, layout, type);
      assert_int_equal(tct_matrix_check(&c.m, NULL), TCT_OK);
      tct_matrix_free(&c);
    }
  free(x);
}

static void every_conversion_keeps_every_entry(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int trial = 0; trial < 12; trial++) {
    int64_t rows = trial == 0 ? 0 : 1 + (int64_t)(random_u64(&seed) % 80),
            cols = trial == 1 ? 0 : 1 + (int64_t)(random_u64(&seed) % 80);
    double *x = random_values(&seed, rows, cols, trial % 3 ? 0.2 : 1);
    tct_matrix m = dense(x, rows, cols);
    for (int a = 0; a < 8; a++) {
      tct_owned_matrix first = converted(&m, a % 4, a / 4);
      for (int b = 0; b < 8; b++) {
        tct_owned_matrix second = converted(&first.m, b % 4, b / 4);
        assert_int_equal(tct_matrix_check(&second.m, NULL), TCT_OK);
        for (int64_t i = 0; i < rows; i++)
          for (int64_t j = 0; j < cols; j++) assert_true(entry(&second.m, i, j) == x[i * cols + j]);
        tct_matrix_free(&second);
      }
      tct_matrix_free(&first);
    }
    free(x);
  }
}

static void strides_offsets_and_wide_indices_are_honoured(void **state) {
  (void)state;
  const double padded[] = {1, 2, 99, 3, 4, 99};
  tct_matrix m = {.rows = 2, .cols = 2, .values = padded, .stride = 3};
  tct_owned_matrix c = converted(&m, TCT_DENSE_COLS, TCT_F64);
  assert_true(entry(&c.m, 1, 0) == 3 && entry(&c.m, 1, 1) == 4 && c.m.stride == 2);
  tct_matrix_free(&c);
  /* Rows 1..2 of a larger CSR matrix: the offsets do not begin at 0. */
  const int64_t start[] = {2, 3, 5}, index[] = {0, 1, 1, 0, 2};
  const float values[] = {9, 9, 5, 6, 7};
  tct_matrix s = {.rows = 2,
                  .cols = 3,
                  .layout = TCT_CSR,
                  .value_type = TCT_F32,
                  .index_type = TCT_I64,
                  .values = values,
                  .start = start,
                  .index = index};
  assert_int_equal(tct_matrix_check(&s, NULL), TCT_OK);
  assert_int_equal(tct_matrix_nonzeros(&s), 3);
  c = converted(&s, TCT_CSC, TCT_F64);
  assert_true(entry(&c.m, 0, 1) == 5 && entry(&c.m, 1, 0) == 6 && entry(&c.m, 1, 2) == 7 && entry(&c.m, 0, 0) == 0);
  assert_int_equal(c.m.index_type, TCT_I32);
  assert_int_equal(tct_matrix_nonzeros(&c.m), 3);
  tct_matrix_free(&c);
}

static void sizes_are_counted_in_bytes(void **state) {
  (void)state;
  uint64_t seed = 3;
  double *x = random_values(&seed, 5, 4, 1);
  tct_matrix m = dense(x, 5, 4);
  assert_int_equal(tct_matrix_nonzeros(&m), 20);
  assert_int_equal(tct_matrix_bytes(&m), 160);
  tct_owned_matrix c = converted(&m, TCT_CSC, TCT_F32);
  assert_int_equal(tct_matrix_bytes(&c.m), 20 * 8 + 5 * 4);
  tct_matrix_free(&c);
  free(x);
}

static void a_value_too_large_for_f32_is_refused(void **state) {
  (void)state;
  const double x[] = {1, 1e39};
  tct_matrix m = dense(x, 1, 2);
  tct_owned_matrix c;
  tct_error err;
  assert_int_equal(tct_matrix_convert(&m, TCT_CSR, TCT_F32, &c, &err), TCT_E_DATA);
  assert_null(c.m.values);
  assert_null(strstr(err.text, "1e"));
}

static void bad_values_are_refused_with_their_place(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    double x[6] = {1, 2, 3, 4, 5, 6};
    x[4] = which == 0 ? NAN : which == 1 ? INFINITY : -INFINITY;
    tct_matrix rows = dense(x, 2, 3), cols = {.rows = 3, .cols = 2, .layout = TCT_DENSE_COLS, .values = x, .stride = 3};
    tct_error err;
    assert_int_equal(tct_matrix_check(&rows, &err), TCT_E_DATA);
    assert_non_null(strstr(err.text, "row 2, column 2 "));
    assert_int_equal(tct_matrix_check(&cols, &err), TCT_E_DATA);
    assert_non_null(strstr(err.text, "row 2, column 2 "));
  }
}

/* A good 3 x 4 CSR matrix whose parts a test may spoil. */
typedef struct sparse_parts {
  int32_t start[4], index[5];
  double values[5];
  tct_matrix m;
} sparse_parts;
static void make_parts(sparse_parts *s) {
  *s = (sparse_parts){.start = {0, 2, 2, 5}, .index = {1, 3, 0, 1, 2}, .values = {1, 2, 3, 4, 5}};
  s->m =
      (tct_matrix){.rows = 3, .cols = 4, .layout = TCT_CSR, .values = s->values, .start = s->start, .index = s->index};
}

static void malformed_sparse_matrices_are_refused(void **state) {
  (void)state;
  for (int fault = 0; fault <= 10; fault++) {
    sparse_parts s;
    make_parts(&s);
    switch (fault) {
      case 1: s.index[1] = 1; break;     /* repeated: the norm would be wrong */
      case 2: s.index[1] = 0; break;     /* descending */
      case 3: s.index[1] = 4; break;     /* beyond the last column */
      case 4: s.index[2] = -1; break;    /* negative */
      case 5: s.start[1] = 6; break;     /* offsets descend later */
      case 6: s.start[0] = -1; break;    /* negative offset */
      case 7: s.values[4] = NAN; break;  /* not a number */
      case 8: s.m.start = NULL; break;   /* no offsets */
      case 9: s.m.index = NULL; break;   /* no indices */
      case 10: s.m.values = NULL; break; /* no values */
    }
    tct_error err;
    tct_status status = tct_matrix_check(&s.m, &err);
    assert_true((status == TCT_OK) == (fault == 0));
  }
}

static void malformed_headers_are_refused(void **state) {
  (void)state;
  const double x[] = {1, 2, 3, 4};
  for (int fault = 0; fault <= 8; fault++) {
    tct_matrix m = dense(x, 2, 2);
    switch (fault) {
      case 1: m.stride = 1; break;
      case 2: m.layout = 4; break;
      case 3: m.layout = -1; break;
      case 4: m.value_type = 2; break;
      case 5: m.index_type = 2; break;
      case 6: m.rows = -1; break;
      case 7: m.values = NULL; break;
      case 8: m.rows = m.stride = INT64_C(1) << 40; break;
    }
    assert_true((tct_matrix_check(&m, NULL) == TCT_OK) == (fault == 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_matrices_pass_the_check),
      cmocka_unit_test(every_conversion_keeps_every_entry),
      cmocka_unit_test(strides_offsets_and_wide_indices_are_honoured),
      cmocka_unit_test(sizes_are_counted_in_bytes),
      cmocka_unit_test(a_value_too_large_for_f32_is_refused),
      cmocka_unit_test(bad_values_are_refused_with_their_place),
      cmocka_unit_test(malformed_sparse_matrices_are_refused),
      cmocka_unit_test(malformed_headers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
