/* test_alloc.c - memory that several threads zero or wipe is zero to its last byte, whatever lay there before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <malloc.h>
#include <cmocka.h>

#include "core/alloc.h"

/* Sizes around whole pages of 2 MiB, and small ones. */
static void memory_zeroed_by_threads_is_zero_everywhere(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 4096, (8 << 20) - 64, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, (9 << 20) + 12345};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    for (int threads = 1; threads <= 4; threads++) {
      unsigned char *dirty = tct_alloc_unset(sizes[k], 1);
      assert_non_null(dirty);
      memset(dirty, 0xff, (size_t)sizes[k]);
      tct_free(dirty);
      unsigned char *memory = tct_alloc_by(threads, sizes[k], 1), any = 0;
      assert_non_null(memory);
      for (int64_t i = 0; i < sizes[k]; i++) any |= memory[i];
      assert_int_equal(any, 0);
      tct_free(memory);
    }
  }
}

static void memory_wiped_by_threads_is_gone_everywhere(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 4096, 8 << 20, (8 << 20) + 1, (9 << 20) + 12345};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    for (int threads = 1; threads <= 4; threads++) {
      unsigned char *secret = tct_alloc_unset(sizes[k] + 1, 1), any = 0;
      assert_non_null(secret);
      memset(secret, 0x5a, (size_t)sizes[k] + 1);
      tct_wipe_by(threads, secret, sizes[k], 1);
      for (int64_t i = 0; i < sizes[k]; i++) any |= secret[i];
      assert_int_equal(any, 0);
      assert_int_equal(secret[sizes[k]], 0x5a);
      tct_wipe_free_by(threads, secret, sizes[k], 1);
    }
  }
  tct_wipe_free_by(2, NULL, 100, 8);
}

static void threads_write_to_lines_of_their_own(void **state) {
  (void)state;
  for (int64_t count = 0; count <= 100; count++) {
    int64_t stride = tct_thread_stride(count);
    assert_true(stride - count >= 8 && stride - count <= 24); /* a line is 8 doubles */
  }
}

static void impossible_sizes_are_refused(void **state) {
  (void)state;
  assert_null(tct_alloc_by(2, -1, 1));
  assert_null(tct_alloc_by(2, INT64_MAX / 2, 8));
}

int main(void) {
  mallopt(M_MMAP_MAX, 0); /* memory that was freed comes back as it was left */
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_zeroed_by_threads_is_zero_everywhere),
      cmocka_unit_test(memory_wiped_by_threads_is_gone_everywhere),
      cmocka_unit_test(threads_write_to_lines_of_their_own),
      cmocka_unit_test(impossible_sizes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
