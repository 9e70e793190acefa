/* test_la_memory.c - la/ with the n-th allocation failing: an error, nothing left behind.
 *
 * Leaks are AddressSanitizer's to find; this program sees that the failure is reported and the outputs are empty. */
#include "unit/la_help.h"

#include <stdio.h>

/* Fails the 1st, 2nd, ... allocation of `run` until one pass needs fewer; returns how many there were. */
static int fail_each(tct_status (*run)(const tct_matrix *m, int variant), const tct_matrix *m, int variant) {
  for (int n = 1;; n++) {
    tct_alloc_fail_at_test(n);
    tct_status status = run(m, variant);
    tct_alloc_fail_at_test(0);
    if (status == TCT_OK) return n - 1;
    assert_int_equal(status, TCT_E_MEMORY);
  }
}

static tct_status convert(const tct_matrix *m, int variant) {
  tct_owned_matrix to;
  tct_status status = tct_matrix_convert(m, variant % 4, variant / 4, &to, NULL);
  assert_int_equal(to.m.values != NULL, status == TCT_OK);
  tct_matrix_free(&to);
  return status;
}
static void a_conversion_without_memory_is_an_error(void **state) {
  (void)state;
  uint64_t seed = 1;
  double *x = random_values(&seed, 6, 5, 0.5);
  tct_matrix m = dense(x, 6, 5);
  for (int variant = 0; variant < 8; variant++)
    assert_int_equal(fail_each(convert, &m, variant), variant % 4 >= TCT_CSR ? 4 : 1);
  free(x);
}

static tct_status bound(const tct_matrix *m, int variant) {
  tct_view v;
  tct_status status = tct_view_bound(&v, m, variant, 1, TCT_ROWS_CLIP, 1, NULL);
  assert_int_equal(v.row_scale != NULL, status == TCT_OK);
  tct_view_free(&v);
  return status;
}
static void a_bound_without_memory_is_an_error(void **state) {
  (void)state;
  double x[] = {1, 2, 1e300, 4}; /* the extreme row takes the second pass of a column layout */
  tct_matrix rows = dense(x, 2, 2), cols = {.rows = 2, .cols = 2, .layout = TCT_DENSE_COLS, .values = x, .stride = 2};
  assert_int_equal(fail_each(bound, &rows, 1), 1);
  assert_int_equal(fail_each(bound, &cols, 1), 4);
}

/* Whether an allocation can be made to fail in this build. */
static int faults_are_compiled_in(void) {
  tct_alloc_fail_at_test(1);
  void *memory = tct_alloc(1, 1);
  tct_alloc_fail_at_test(0);
  tct_free(memory);
  return memory == NULL;
}

int main(void) {
  if (!faults_are_compiled_in()) {
    puts("skipped: the library was built without fault injection (TCT_FAULTS)");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_conversion_without_memory_is_an_error),
      cmocka_unit_test(a_bound_without_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
