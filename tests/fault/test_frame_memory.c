/* test_frame_memory.c - a frame with the n-th allocation failing: an error, no table, and everything released.
 *
 * Leaks and stray accesses are AddressSanitizer's to find. */
#include "read_help.h"
#include "frame_help.h"

#include "core/alloc.h"

static const int32_t ends[] = {0, 1, 2, 3, 4};
static const double numbers[] = {0.5, 1, NAN, 0};
static const int8_t index_of[] = {0, 1, 1, 0};
static const column words = {.format = "u", .buffer = {NULL, ends, "uvwx"}, .buffers = 3, .length = 4};
static const column columns[] = {
    {.format = "g", .name = "a", .buffer = {NULL, numbers}, .buffers = 2},
    {.format = "c", .name = "k", .buffer = {NULL, index_of}, .buffers = 2, .dictionary = &words},
    {.format = "c", .name = "n", .buffer = {NULL, index_of}, .buffers = 2},
    {.format = "u", .name = "y", .buffer = {NULL, ends, "ynny"}, .buffers = 3},
};
#define SCHEMA(how)                                                                                           \
  "{\"not_private\":1,\"missing_values\":[\"?\"],\"label\":{\"name\":\"y\",\"positive\":\"y\"},\"columns\":[" \
  "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":1,\"missing\":0},"                               \
  "{\"name\":\"k\",\"type\":\"category\",\"values\":[\"u\",\"v\"]},{\"name\":\"n\",\"type\":\"category\"," how "}]}"
static const char *const schemas[] = {SCHEMA("\"values\":[\"0\",\"1\"]"), SCHEMA("\"estimate\":true")};

static bool read_once(source *s, const char *schema, tct_error *err) {
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  options.invalid = TCT_INVALID_ZERO; /* no record is dropped for it */
  struct ArrowArrayStream stream = stream_of(s);
  int64_t code[4];
  char *values = NULL;
  tct_data *data = NULL;
  tct_frame *frame = tct_frame_take(&stream, err);
  if (frame && tct_frame_codes(frame, "k", code, &values, err) == TCT_OK)
    data = tct_data_read_frame(frame, &options, NULL, err);
  tct_alloc_fail_at_test(0);
  bool whole = data != NULL;
  for (int64_t i = 0; whole && i < data->x.rows; i++) assert_false(data->dropped[i]);
  tct_text_free(values);
  tct_data_free(data);
  tct_frame_free(frame);
  assert_null(stream.release);
  assert_int_equal(s->live, 0);
  return whole;
}

static void fail_each(const char *schema) {
  for (int n = 1;; n++) {
    source s = {.column = columns, .columns = COUNT(columns), .rows = 2, .chunks = 2};
    tct_error err;
    tct_alloc_fail_at_test(n);
    if (read_once(&s, schema, &err)) {
      assert_true(n > 15);
      return;
    }
    assert_int_equal(err.status, TCT_E_MEMORY);
  }
}

static void a_frame_without_memory_is_an_error_and_is_released(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(schemas); k++) fail_each(schemas[k]);
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_frame_without_memory_is_an_error_and_is_released)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
