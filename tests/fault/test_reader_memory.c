/* test_reader_memory.c - every reader with the n-th allocation failing: an error and no table.
 *
 * Leaks and stray accesses are AddressSanitizer's to find. */
#include "read_help.h"

#include "core/alloc.h"

/* Fails the 1st, 2nd, ... allocation until a read needs fewer; returns how many there were. */
static int fail_each(const char *bytes, size_t count, const tct_read_options *options) {
  for (int n = 1;; n++) {
    tct_error err;
    tct_alloc_fail_at_test(n);
    tct_data *data = tct_data_read_memory(bytes, (int64_t)count, 7, options, &err);
    tct_alloc_fail_at_test(0);
    if (data) {
      for (int64_t i = 0; data->dropped && i < data->x.rows; i++) assert_false(data->dropped[i]);
      tct_data_free(data);
      return n - 1;
    }
    assert_int_equal(err.status, TCT_E_MEMORY);
  }
}

static void a_read_without_memory_is_an_error(void **state) {
  (void)state;
  static const char csv[] = "a,b,y\n1,2,0\n3,4,1\n", libsvm[] = "1 1:2\n0 2:3\n";
  static const char schema[] =
      "{\"not_private\":1,\"label\":{\"name\":\"y\"},\"columns\":[{\"name\":\"b\",\"type\":\"number\",\"lower\":0,"
      "\"upper\":1},{\"name\":\"a\",\"type\":\"category\",\"values\":[\"1\",\"3\",\"5\",\"7\",\"8\"]}]}";
  static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n";
  char npy[128] = "\x93NUMPY\x01";
  npy[8] = (char)strlen(header);
  memcpy(npy + 10, header, strlen(header));
  npy[11 + strlen(header)] = 1;
  for (int invalid = TCT_INVALID_REFUSE; invalid <= TCT_INVALID_ZERO; invalid++) {
    tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
    options.invalid = invalid;
    assert_true(fail_each(csv, strlen(csv), &options) > 5);
    options.label = "1";
    assert_true(fail_each(npy, 14 + strlen(header), &options) > 5);
    options.label = NULL, options.format = "libsvm";
    assert_true(fail_each(libsvm, strlen(libsvm), &options) > 5);
    options.schema_text = schema, options.format = NULL;
    assert_true(fail_each(csv, strlen(csv), &options) > 5);
  }
}

static void terms_without_memory_are_an_error(void **state) {
  (void)state;
  static const char schema[] =
      "{\"version\":2,\"label\":{\"name\":\"y\"},\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":1,"
      "\"upper\":9,"
      "\"missing\":\"indicator\"},{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"v\"],\"missing\":"
      "\"indicator\"}],"
      "\"terms\":[\"a\",\"b\",{\"product\":[\"a\",\"b\"]},{\"of\":{\"of\":\"a\",\"as\":\"log\"},\"as\":\"cut\","
      "\"breaks\":[1]},"
      "{\"product\":[\"b\",{\"of\":[\"a\",{\"of\":\"a\",\"as\":\"sqrt\"}],\"as\":\"ratio\",\"name\":\"r\"}]},"
      "{\"of\":{\"of\":\"a\",\"as\":\"sqrt\"},\"as\":\"spline\",\"kind\":\"natural\",\"knots\":[2]}]}";
  static const char table[] = "a,b,y\n1,u,0\n,v,1\n3,,1\n";
  for (int invalid = TCT_INVALID_REFUSE; invalid <= TCT_INVALID_ZERO; invalid++) {
    tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
    options.invalid = invalid;
    assert_true(fail_each(table, strlen(table), &options) > 25);
  }
}

/* A text of a column without a list for which there is no room ends the read, and drops no record. */
static void distinct_texts_without_memory_are_an_error(void **state) {
  (void)state;
  static const char open[] =
      "{\"label\":{\"name\":\"y\"},\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"estimate\":true}]}";
  char text[4096];
  size_t at = (size_t)sprintf(text, "a,y\n");
  for (int i = 0; i < 150; i++) at += (size_t)sprintf(text + at, "town %d,%d\n", i, i % 2);
  for (int invalid = TCT_INVALID_REFUSE; invalid <= TCT_INVALID_ZERO; invalid++) {
    tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, open);
    options.invalid = invalid;
    assert_true(fail_each(text, at, &options) > 8);
  }
  at = 0;
  for (int i = 0; i < 150; i++) at += (size_t)sprintf(text + at, "{\"a\":\"%d\",\"y\":1}\n", i);
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, open);
  options.format = "jsonl", options.invalid = TCT_INVALID_ZERO;
  assert_true(fail_each(text, at, &options) > 8);
}

/* The fuzzer's seed, behind the byte that sets its options. */
static void a_stata_file_without_memory_is_an_error(void **state) {
  (void)state;
  char bytes[8192];
  FILE *file = fopen("fuzz/corpus/dta/118", "rb");
  assert_non_null(file);
  size_t count = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  tct_read_options options =
      options_for(TCT_LABELS_BINARY, "y",
                  "{\"label\":{\"name\":\"y\",\"positive\":\"yes\"},"
                  "\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,\"missing\":1},{\"name\":"
                  "\"b\",\"type\":"
                  "\"category\",\"values\":[\"u\",\"high\"]},{\"name\":\"k\",\"type\":\"ignore\"}]}");
  assert_true(fail_each(bytes + 1, count - 1, &options) > 10);
}

#ifdef TCT_FAULTS
enum { FAULTS = 1 };
#else
enum { FAULTS = 0 };
#endif

int main(void) {
  if (!FAULTS) {
    print_message("skipped: the library was built without fault injection (TCT_FAULTS)\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_read_without_memory_is_an_error),
                                     cmocka_unit_test(terms_without_memory_are_an_error),
                                     cmocka_unit_test(distinct_texts_without_memory_are_an_error),
                                     cmocka_unit_test(a_stata_file_without_memory_is_an_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
