/* test_sketch.c - the public embedding: no record is lengthened, its transpose is its transpose, its signs are fair. */
#include "mech/sketch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 5000, SIZE = 40, FEW = 60 };

static const int per_records[] = {1, 4, 16};

static void a_record_has_distinct_entries_of_length_1_together_and_fair_signs(void **state) {
  (void)state;
  for (int c = 0; c < 3; c++) {
    tct_sketch s;
    static double v[ROWS];
    double minus = 0, column[SIZE], total[SIZE] = {0};
    assert_int_equal(tct_sketch_new(5, ROWS, SIZE, per_records[c], &s, NULL), TCT_OK);
    assert_true(s.per_record * s.weight * s.weight == 1);
    for (int i = 0; i < ROWS; i += 13) { /* also beyond the first block of records */
      int entries = 0;
      memset(column, 0, sizeof column);
      v[i] = 1;
      tct_sketch_add(&s, NULL, v, 0x1p-30, column);
      v[i] = 0;
      for (int j = 0; j < SIZE; j++) {
        assert_true(column[j] == 0 || fabs(column[j]) == s.weight);
        entries += column[j] != 0;
        minus += column[j] < 0;
        total[j] += column[j] != 0;
      }
      assert_int_equal(entries, s.per_record);
    }
    double all = (ROWS + 12) / 13 * s.per_record;
    assert_true(fabs(minus - all / 2) <= 6 * sqrt(all / 4));
    for (int j = 0; j < SIZE; j++) assert_true(fabs(total[j] - all / SIZE) <= 6 * sqrt(all / SIZE));
    tct_sketch_free(&s);
    assert_null(s.at);
  }
}

static void the_way_back_is_the_transpose_in_any_order(void **state) {
  (void)state;
  double a[FEW], q[SIZE], there[SIZE], back[FEW];
  int64_t order[FEW];
  for (int i = 0; i < FEW; i++) a[i] = (i * 7 % 11 - 5) / 8.0, order[i] = (i * 17 + 3) % FEW;
  for (int j = 0; j < SIZE; j++) q[j] = (j * 5 % 9 - 4) / 4.0;
  for (int c = 0; c < 4; c++)
    for (int ordered = 0; ordered < 2; ordered++) {
      tct_sketch s;
      double left = 0, right = 0;
      int64_t size = c < 3 ? SIZE : FEW; /* as many rows as records: the identity */
      double wide[FEW] = {0}, wide_q[FEW] = {0};
      assert_int_equal(tct_sketch_new(9, FEW, size, c < 3 ? per_records[c] : 4, &s, NULL), TCT_OK);
      assert_true((s.at == NULL) == (c == 3) && s.size == size);
      memcpy(wide_q, q, sizeof q);
      tct_sketch_add(&s, ordered ? order : NULL, a, 0x1p-30, wide);
      tct_sketch_back(&s, ordered ? order : NULL, wide_q, back);
      memcpy(there, wide, sizeof there);
      for (int64_t j = 0; j < size; j++) left += wide[j] * wide_q[j];
      for (int i = 0; i < FEW; i++) right += a[i] * back[i];
      assert_true(left == right && left != 0); /* dyadic numbers: exact */
      if (c == 3) assert_true(there[ordered ? order[1] : 1] == a[1]);
      tct_sketch_free(&s);
    }
}

static void terms_are_cut_toward_zero_and_added_to_what_is_there(void **state) {
  (void)state;
  tct_sketch s;
  double v[FEW] = {0}, sum[SIZE], size = 0;
  for (int j = 0; j < SIZE; j++) sum[j] = 8;
  assert_int_equal(tct_sketch_new(1, FEW, SIZE, 4, &s, NULL), TCT_OK);
  v[20] = 1.9; /* half of it is 0.95 */
  tct_sketch_add(&s, NULL, v, 0.25, sum);
  for (int j = 0; j < SIZE; j++) {
    assert_true(sum[j] == 8 || fabs(sum[j] - 8) == 0.75);
    size += fabs(sum[j] - 8);
  }
  assert_true(size == 3);
  tct_sketch_free(&s);
}

static void what_is_no_sketch_is_refused_and_a_seed_repeats_itself(void **state) {
  (void)state;
  tct_sketch a, b;
  static const int wrong[] = {0, 2, 5, 17, -1};
  for (int i = 0; i < 5; i++) assert_int_equal(tct_sketch_new(1, FEW, SIZE, wrong[i], &a, NULL), TCT_E_USAGE);
  assert_int_equal(tct_sketch_new(1, FEW, 3, 4, &a, NULL), TCT_E_USAGE);
  assert_int_equal(tct_sketch_new(1, FEW, 4, 4, &a, NULL), TCT_OK);
  tct_sketch_free(&a);
  assert_int_equal(tct_sketch_new(7, ROWS, SIZE, 4, &a, NULL), TCT_OK);
  assert_int_equal(tct_sketch_new(7, ROWS, SIZE, 4, &b, NULL), TCT_OK);
  assert_memory_equal(a.at, b.at, ROWS * 4 * sizeof *a.at);
  tct_sketch_free(&b);
  assert_int_equal(tct_sketch_new(8, ROWS, SIZE, 4, &b, NULL), TCT_OK);
  assert_memory_not_equal(a.at, b.at, ROWS * 4 * sizeof *a.at);
  tct_sketch_free(&a);
  tct_sketch_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_has_distinct_entries_of_length_1_together_and_fair_signs),
      cmocka_unit_test(the_way_back_is_the_transpose_in_any_order),
      cmocka_unit_test(terms_are_cut_toward_zero_and_added_to_what_is_there),
      cmocka_unit_test(what_is_no_sketch_is_refused_and_a_seed_repeats_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
