/* test_processors.c - the quotas of a container, from copies of the files that state them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "core/processors.h"

#include <math.h>

static char folder[] = "/tmp/tacit-quota-XXXXXX";

/* Writes folder/NAME, making the folders on the way. */
static void put(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int quota(const char *self) {
  char path[256];
  put("self", self);
  snprintf(path, sizeof path, "%s/self", folder);
  return tct_processor_quota(path, folder);
}

static void a_quota_of_version_2_is_the_smallest_up_to_the_root(void **state) {
  (void)state;
  put("a/b/cpu.max", "400000 100000\n");
  put("a/cpu.max", "250000 100000\n");
  put("c/cpu.max", "max 100000\n");
  put("d/cpu.max", "50000 100000\n");
  assert_int_equal(quota("0::/a/b\n"), 2);
  assert_int_equal(quota("0::/c\n"), 0);
  assert_int_equal(quota("0::/d\n"), 1);
  assert_int_equal(quota("0::/nowhere\n"), 0);
  put("cpu.max", "300000 100000\n");
  assert_int_equal(quota("0::/nowhere/else\n"), 3);
  assert_int_equal(quota("0::/a\n"), 2);
  put("cpu.max", "max 100000\n");
}

static void a_quota_of_version_1_is_that_of_the_cpu_controller(void **state) {
  (void)state;
  put("cpu,cpuacct/e/cpu.cfs_quota_us", "700000\n");
  put("cpu,cpuacct/e/cpu.cfs_period_us", "100000\n");
  put("memory/e/cpu.cfs_quota_us", "100000\n");
  put("memory/e/cpu.cfs_period_us", "100000\n");
  put("cpu/f/cpu.cfs_quota_us", "-1\n");
  put("cpu/f/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota("5:memory:/e\n4:cpu,cpuacct:/e\n"), 7);
  assert_int_equal(quota("5:memory:/e\n"), 0);
  assert_int_equal(quota("4:cpuset:/e\n3:cpu:/f\n"), 0);
  assert_int_equal(quota("4:cpu,cpuacct:/e\n0::/d\n"), 1);
}

static double memory(const char *self) {
  char path[256];
  put("self", self);
  snprintf(path, sizeof path, "%s/self", folder);
  return tct_memory_quota(path, folder);
}

static void memory_of_version_2_is_what_the_fullest_group_up_to_the_root_leaves(void **state) {
  (void)state;
  put("a/b/memory.max", "4000000\n");
  put("a/b/memory.current", "1000000\n");
  put("a/memory.max", "5000000\n");
  put("a/memory.current", "4500000\n");
  put("a/memory.stat", "anon 4000000\ninactive_file 200000\nactive_file 50000\nactive_file_of 7\n");
  put("c/memory.max", "max\n");
  put("c/memory.current", "1000000\n");
  assert_true(memory("0::/a/b\n") == 750000); /* files that are kept can go */
  assert_true(isinf(memory("0::/c\n")));
  assert_true(isinf(memory("0::/nowhere\n")));
  put("memory.max", "3000000\n");
  put("memory.current", "2900000\n");
  assert_true(memory("0::/a/b\n") == 100000);
  assert_true(memory("0::/nowhere/else\n") == 100000);
  put("memory.max", "max\n");
}

static void memory_of_version_1_is_that_of_the_memory_controller(void **state) {
  (void)state;
  put("memory/g/memory.limit_in_bytes", "8000000\n");
  put("memory/g/memory.usage_in_bytes", "6000000\n");
  put("memory/g/memory.stat", "inactive_file 1000000\ntotal_inactive_file 1500000\n");
  put("cpu/g/memory.limit_in_bytes", "5\n");
  assert_true(memory("5:memory:/g\n4:cpu:/g\n") == 3500000);
  assert_true(isinf(memory("4:cpu:/g\n")));
  assert_true(memory("5:memory:/g\n0::/a\n") == 750000);
}

static void more_memory_than_is_free_is_refused_with_both_numbers(void **state) {
  (void)state;
  tct_error err = {0};
  assert_int_equal(tct_memory_check(1e18, 0, "it needs", "ask for less", &err), TCT_E_MEMORY);
  assert_non_null(strstr(err.text, "it needs at least 953674316407 MiB of memory, and "));
  assert_non_null(strstr(err.text, " MiB are free; ask for less"));
  assert_int_equal(tct_memory_check(1 << 20, 0, "it needs", "ask for less", &err), TCT_OK);
  assert_int_equal(tct_memory_check((1 << 20) + 1, 1 << 20, "it needs", "ask for less", &err), TCT_E_MEMORY);
  assert_string_equal(err.text, "it needs at least 2 MiB of memory, and 1 MiB are free; ask for less");
}

static void lines_that_say_nothing_are_no_quota(void **state) {
  (void)state;
  assert_int_equal(quota(""), 0);
  assert_int_equal(quota("no colon\n0:\n::\n"), 0);
  assert_int_equal(tct_processor_quota("/nowhere/at/all", folder), 0);
  assert_true(tct_processors() >= 1);
}

static int begin(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
  char command[300];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_quota_of_version_2_is_the_smallest_up_to_the_root),
      cmocka_unit_test(a_quota_of_version_1_is_that_of_the_cpu_controller),
      cmocka_unit_test(memory_of_version_2_is_what_the_fullest_group_up_to_the_root_leaves),
      cmocka_unit_test(memory_of_version_1_is_that_of_the_memory_controller),
      cmocka_unit_test(more_memory_than_is_free_is_refused_with_both_numbers),
      cmocka_unit_test(lines_that_say_nothing_are_no_quota),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
