/* test_blocks.c - text read by several threads: the same table, and the same first error, as with one. */
#include "read_help.h"

enum { TABLES = 120, MOST_TEXT = 1 << 14 };

static uint64_t state = 20261122;

static unsigned below(unsigned limit) {
  state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (unsigned)((z ^ (z >> 31)) % limit);
}

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"positive\":\"1\"},\"missing_values\":[\"?\"],\"columns\":["
    "{\"name\":\"k\",\"type\":\"ignore\"},{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,\"missing\":4},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"v\",\"w\",\"k\",\"p\\nq\",\"s \\\"t\\\"\",\"m\",\"n\"],"
    "\"missing\":\"zero\",\"other\":\"u\"}]}";

static char text[MOST_TEXT + 200];

/* A well-formed table: quoted line ends, doubled quotes, both kinds of line ends, an empty line now and then. */
static int64_t write_csv(void) {
  static const char *const words[] = {"u", "v", "\"w\"", "\"p\nq\"", "\"s \"\"t\"\"\"", "?", "z", "\"\r\n\""};
  int quotes = below(3) > 0, blanks = below(4) == 0;
  int64_t length = sprintf(text, "k,a,b,y\n");
  for (int rows = (int)below(300); rows > 0 && length < MOST_TEXT; rows--) {
    if (blanks && below(40) == 0) length += sprintf(text + length, "%s", below(2) ? "\n" : "\r\n");
    length += sprintf(text + length, "key%u,%u.%u,%s,%u%s", below(20), below(10), below(1000),
                      words[quotes ? below(COUNT(words)) : below(2)], below(2), below(3) ? "\n" : "\r\n");
  }
  if (below(3) == 0) length -= text[length - 1] == '\n';
  return length;
}

static int64_t write_libsvm(void) {
  int64_t length = sprintf(text, "1 1:1\n");
  for (int rows = (int)below(300); rows > 0 && length < MOST_TEXT; rows--) {
    unsigned index = 0;
    length += sprintf(text + length, "%s", below(2) ? "-1" : "+1");
    for (int filled = (int)below(6); filled > 0; filled--)
      length += sprintf(text + length, " %u:%u.%u", index += 1 + below(5), below(9), below(99));
    if (below(30) == 0) length += sprintf(text + length, " # a remark");
    length += sprintf(text + length, "%s", below(30) ? "\n" : "\n\n");
  }
  return length;
}

/* Some bytes anywhere become others; or the text ends early. */
static int64_t spoil(int64_t length) {
  static const char bytes[] = {'"', '\n', ',', '\r', 0, 'x', ':', ' ', '#', '9', '-'};
  for (int times = (int)below(4); times > 0 && length > 20; times--)
    text[10 + below((unsigned)length - 10)] = bytes[below(sizeof bytes)];
  return below(8) == 0 && length > 20 ? 10 + below((unsigned)length - 10) : length;
}

static tct_read_options settings(int csv) {
  tct_read_options options =
      options_for(TCT_LABELS_BINARY, NULL, csv ? schema : NULL); /* LIBSVM text has no named columns */
  if (csv && below(2)) options.key = "k";
  if (csv && below(2)) options.multiline = 1;
  if (!csv) options.format = "libsvm";
  if (below(2)) options.invalid = TCT_INVALID_ZERO;
  if (below(4) == 0) options.value_type = TCT_F32;
  if (below(6) == 0) options.max_line = 30;
  if (!csv && below(2)) options.cols = 25;
  return options;
}

static tct_data *read_with(int threads, int64_t length, int64_t step, tct_read_options options, tct_error *err) {
  options.threads = threads;
  *err = (tct_error){0};
  return tct_data_read_memory(text, length, step, &options, err);
}

static void assert_same_keys(const tct_data *a, const tct_data *b) {
  assert_int_equal(a->keys == NULL, b->keys == NULL);
  const char *x = a->keys, *y = b->keys;
  for (int64_t i = 0; x && i < a->x.rows; i++, x += strlen(x) + 1, y += strlen(y) + 1) assert_string_equal(x, y);
}

static void assert_same(const tct_data *a, const tct_data *b) {
  assert_int_equal(tct_data_rows(a), tct_data_rows(b));
  assert_int_equal(tct_data_cols(a), tct_data_cols(b));
  assert_int_equal(a->x.layout, b->x.layout);
  for (int64_t i = 0; i < a->x.rows; i++)
    for (int64_t j = 0; j < a->x.cols; j++) assert_true(entry(a, i, j) == entry(b, i, j));
  size_t rows = (size_t)a->x.rows;
  assert_memory_equal(a->y, b->y, rows * sizeof *a->y);
  assert_int_equal(a->dropped == NULL, b->dropped == NULL);
  if (a->dropped) assert_memory_equal(a->dropped, b->dropped, rows);
  assert_same_keys(a, b);
}

/* What each number of threads makes of the text, against what one makes of it. */
static int compare(int64_t length, const tct_read_options *options) {
  static const int64_t steps[] = {1, 13, 100, 1000};
  static const int threads[] = {2, 7};
  tct_error first, err;
  tct_data *one = read_with(1, length, 1 << 16, *options, &first);
  for (size_t s = 0; s < COUNT(steps); s++)
    for (size_t t = 0; t < COUNT(threads); t++) {
      tct_data *data = read_with(threads[t], length, steps[s], *options, &err);
      assert_int_equal(data == NULL, one == NULL);
      if (!one && (err.line != first.line || err.column != first.column || strcmp(err.text, first.text) != 0))
        fail_msg("%d threads, step %d: line %d, field %d: %s; one: line %d, field %d: %s", threads[t], (int)steps[s],
                 (int)err.line, (int)err.column, err.text, (int)first.line, (int)first.column, first.text);
      if (one) assert_same(one, data);
      tct_data_free(data);
    }
  tct_data_free(one);
  return one != NULL;
}

static void any_text_is_read_alike_by_one_two_and_seven_threads(void **unused) {
  (void)unused;
  for (int csv = 0; csv < 2; csv++) {
    int good = 0, tables = 0;
    for (; tables < TABLES; tables++) {
      int64_t length = csv ? write_csv() : write_libsvm();
      tct_read_options options = settings(csv);
      if (tables % 4) length = spoil(length);
      good += compare(length, &options);
    }
    assert_in_range(good, tables / 8, tables * 7 / 8); /* both kinds were there */
  }
}

static void an_open_quote_beyond_the_limit_of_a_line_is_a_long_line_whatever_the_threads(void **unused) {
  (void)unused;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  tct_error err;
  options.max_line = 30;
  int64_t length = sprintf(text, "k,a,b,y\nk1,1,u,1\nk2,2,v,0\nk3,3,\"");
  memset(text + length, 'x', 100);
  length += 100;
  assert_int_equal(compare(length, &options), 0);
  assert_null(read_with(1, length, 1 << 16, options, &err));
  assert_non_null(strstr(err.text, "max_line"));
  options.max_line = 0;
  assert_int_equal(compare(length, &options), 0);
  assert_null(read_with(1, length, 1 << 16, options, &err));
  assert_non_null(strstr(err.text, "does not end in its line"));
  options.multiline = 1;
  assert_int_equal(compare(length, &options), 0);
  assert_null(read_with(1, length, 1 << 16, options, &err));
  assert_non_null(strstr(err.text, "never closed"));
  options.max_line = 30, options.invalid = TCT_INVALID_ZERO; /* it is passed over, and its end never comes */
  assert_int_equal(compare(length, &options), 0);
  assert_null(read_with(1, length, 1 << 16, options, &err));
  assert_true(err.line == 4 && strstr(err.text, "never closed"));
}

/* Beyond 4 MiB a block is alone; blocks of any length come out whole. */
static void records_far_longer_than_a_block_are_read_whole(void **unused) {
  (void)unused;
  enum { LONG = 5 << 20 };
  static const char *const ends[] = {"\"\n3,\"4", "\"\n5,\"6", "\"\n7,8"};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  options.multiline = 1;
  options.schema_text =
      "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":8},"
      "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"8\"],\"other\":\"zero\"}]}";
  char *bytes = malloc(3 * LONG + 100);
  assert_non_null(bytes);
  int64_t length = sprintf(bytes, "a,b\n1,\"2");
  for (int k = 0; k < 3; k++) {
    memset(bytes + length, ' ', LONG);
    length += LONG;
    length += sprintf(bytes + length, "%s", ends[k]);
  }
  tct_error err;
  for (options.threads = 1; options.threads < 4; options.threads++) {
    tct_data *data = tct_data_read_memory(bytes, length, 1 << 16, &options, &err);
    if (!data) fail_msg("line %d: %s", (int)err.line, err.text);
    assert_int_equal(tct_data_rows(data), 4);
    for (int i = 0; i < 4; i++) assert_true(entry(data, i, 0) == (2 * i + 1) / 8.0 && entry(data, i, 1) == (i == 3));
    tct_data_free(data);
  }
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_text_is_read_alike_by_one_two_and_seven_threads),
      cmocka_unit_test(an_open_quote_beyond_the_limit_of_a_line_is_a_long_line_whatever_the_threads),
      cmocka_unit_test(records_far_longer_than_a_block_are_read_whole),
  };
  return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
