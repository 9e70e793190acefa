/* test_csv.c - CSV records, numbers and labels, well-formed and not. */
#define _GNU_SOURCE /* strtod_l */
#include "read_help.h"
#include "core/number.h"

#include <locale.h>

static void fields_may_hold_commas_newlines_and_quotes(void **state) {
  (void)state;
  static const char schema[] =
      "{\"columns\":[{\"name\":\"a,b\",\"type\":\"category\",\"values\":[\"x,y\",\"p\\nq\",\"say \\\"so\\\"\"]}]}";
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  options.multiline = 1;
  tct_data *data = read_text("\"a,b\"\r\n\"x,y\"\r\n\"p\nq\"\r\n\"say \"\"so\"\"\"\r\n", &options);
  assert_int_equal(tct_data_rows(data), 3);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) assert_true(entry(data, i, j) == (i == j));
  }
  assert_string_equal(tct_data_feature(data, 0), "a,b=x,y");
  tct_data_free(data);
}

static void byte_order_mark_crlf_and_missing_last_newline_change_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {"a,b\n1,2\n3,-4.5\n",
                                      ("\xEF\xBB\xBF"
                                       "a,b\r\n1,2\r\n3,-4.5\r\n"),
                                      "a,b\n1,2\n3,-4.5", "\"a\",\"b\"\n\"1\", 2 \n+3,-45e-1\n\n\r\n",
                                      "a,b\n1,2\r\n3,-4.5\r"};
  static const double rows[2][2] = {{1, 2}, {3, -4.5}};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  for (size_t k = 0; k < COUNT(texts); k++) {
    tct_data *data = read_text(texts[k], &options);
    assert_int_equal(tct_data_rows(data), 2);
    for (int i = 0; i < 2; i++) assert_row(data, i, rows[i], 2);
    assert_string_equal(tct_data_feature(data, 0), "a");
    assert_string_equal(tct_data_feature(data, 1), "b");
    tct_data_free(data);
  }
}

static void label_is_taken_by_name_or_number_and_is_no_feature(void **state) {
  (void)state;
  static const char *const labels[] = {"y", "2"};
  static const double row[2] = {7, 8};
  for (int k = 0; k < 2; k++) {
    tct_read_options options = options_for(TCT_LABELS_BINARY, labels[k], NULL);
    tct_data *data = read_text("a,y,b\n7,1,8\n0,0,0\n0,-1,0\n0,1.0,0\n", &options);
    assert_row(data, 0, row, 2);
    static const double y[4] = {1, -1, -1, 1};
    assert_memory_equal(tct_data_labels(data), y, sizeof y);
    assert_string_equal(tct_data_feature(data, 1), "b");
    tct_data_free(data);
  }
}

static void positive_label_is_compared_by_bytes_or_by_value(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  options.positive = "2";
  tct_data *data = read_text("a,y\n0,2\n0,2.0\n0,1\n0,two\n", &options);
  static const double y[4] = {1, 1, -1, -1};
  assert_memory_equal(tct_data_labels(data), y, sizeof y);
  tct_data_free(data);
}

static void without_labels_a_named_label_column_is_left_out(void **state) {
  (void)state;
  static const double row[1] = {7};
  tct_read_options options = options_for(TCT_LABELS_NONE, "y", NULL);
  tct_data *data = read_text("a,y\n7,anything\n", &options);
  assert_row(data, 0, row, 1);
  assert_null(tct_data_labels(data));
  tct_data_free(data);
  data = read_text("a\n7\n", &options);
  assert_row(data, 0, row, 1);
  tct_data_free(data);
}

typedef struct bad {
  const char *text;
  int line, column;
  const char *part;
} bad;

static void malformed_tables_are_refused_with_their_place(void **state) {
  (void)state;
  static const bad cases[] = {
      {"", 0, 0, "empty"},
      {"\n\n", 0, 0, "empty"},
      {"a,y\n", 0, 0, "no records"},
      {"a,y", 0, 0, "no records"},
      {"a,y\n\n\n", 0, 0, "no records"},
      {"a,y\n1,0\n2\n", 3, 2, "fewer fields"},
      {"a,y\n1,0\n2,0,3\n", 3, 3, "more fields"},
      {"a,y\n1,0\n\n2,1\n", 3, 0, "empty"},
      {"a,y\nnan,0\n", 2, 1, "missing_values"},
      {"a,y\ninf,0\n", 2, 1, "not a finite"},
      {"a,y\n-Infinity,0\n", 2, 1, "not a finite"},
      {"a,y\n1e999,0\n", 2, 1, "too large"},
      {"a,y\n0x10,0\n", 2, 1, "not a finite"},
      {"a,y\n1.2.3,0\n", 2, 1, "not a finite"},
      {"a,y\n1e,0\n", 2, 1, "not a finite"},
      {"a,y\n.,0\n", 2, 1, "missing_values"},
      {"a,y\n1 2,0\n", 2, 1, "not a finite"},
      {"a,y\n,0\n", 2, 1, "missing"},
      {"a,y\n1,\n", 2, 2, "label is missing"},
      {"a,y\n1,yes\n", 2, 2, "not 0/1"},
      {"a,y\n1,2\n", 2, 2, ".positive"},
      {"a,z\n1,2\n", 1, 0, "no column \"y\""},
      {"y\n1\n", 1, 0, "no feature"},
      {"a,a,y\n1,2,0\n", 1, 2, "repeats"},
      {"a,,y\n1,2,0\n", 1, 2, "without a name"},
      {"3.5,1\n2,0\n", 1, 0, "only numbers"},
      {"a,y\n\"1,0\n2,1\n", 2, 1, "does not end in its line"},
      {"\"a,y\n1,0\n", 1, 1, ".multiline"},
      {"a,y\n1,\"0\"x\n", 2, 2, "closing quote"},
      {"a,y\n1,0\n\"1\n2\",0\n", 3, 1, "does not end in its line"},
  };
  static const bad over_lines[] = {
      {"a,y\n\"1,0\n2,1\n", 2, 0, "never closed"},
      {"a,y\n\"1\n2\",0\n", 2, 1, "not a finite"},
      {"a,\"y\"\n\"1\",\"0\"\n\"1\",\"\n0\"\nq,1\n", 3, 2, "not 0/1"},
  };
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  for (size_t k = 0; k < COUNT(cases); k++) {
    assert_refused(cases[k].text, strlen(cases[k].text), &options, cases[k].line, cases[k].column, cases[k].part);
  }
  options.multiline = 1;
  for (size_t k = 0; k < COUNT(over_lines); k++)
    assert_refused(over_lines[k].text, strlen(over_lines[k].text), &options, over_lines[k].line, over_lines[k].column,
                   over_lines[k].part);
  options.multiline = 0;
  assert_refused("a,y\n1,0\n2,\0\n", 12, &options, 3, 2, "NUL");
  assert_refused(
      "\xff\xfe"
      "a\0,\0y\0\n\0",
      10, &options, 0, 0, "UTF-16");
}

static void lines_within_quotes_are_counted(void **state) {
  (void)state;
  static const char schema[] = "{\"columns\":[{\"name\":\"a\",\"type\":\"category\",\"values\":[\"p\\n\\nq\",\"r\"]}]}";
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, schema);
  options.multiline = 1;
  static const char text[] = "a\nr\n\"p\n\nq\"\nsecret\n";
  assert_refused(text, strlen(text), &options, 6, 1, "not in the schema's list");
  tct_error err;
  assert_null(tct_data_read_memory(text, (int64_t)strlen(text), 3, &options, &err));
  assert_null(strstr(err.text, "secret"));
}

static void invalid_zero_keeps_the_record_and_empties_it(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_REAL, "y", NULL);
  options.invalid = TCT_INVALID_ZERO;
  tct_data *data = read_text("a,b,y\n1,2,3\n4,x,6\n7,8\n9,9,9,9\n\n5,6,\n1,1,1\n", &options);
  static const unsigned char dropped[] = {0, 1, 1, 1, 1, 1, 0};
  static const double none[2] = {0, 0}, first[2] = {1, 2}, last[2] = {1, 1};
  assert_int_equal(tct_data_rows(data), (int)sizeof dropped);
  assert_memory_equal(data->dropped, dropped, sizeof dropped);
  assert_row(data, 0, first, 2);
  for (int i = 1; i < 6; i++) assert_row(data, i, none, 2);
  assert_row(data, 6, last, 2);
  assert_true(tct_data_labels(data)[6] == 1);
  tct_data_free(data);
}

static void single_precision_refuses_what_it_cannot_hold(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  options.value_type = TCT_F32;
  tct_data *data = read_text("a,b\n0.1,3e38\n", &options);
  assert_true(entry(data, 0, 0) == (double)0.1f && entry(data, 0, 1) == (double)3e38f);
  tct_data_free(data);
  assert_refused("a,b\n1,4e38\n", 11, &options, 2, 2, "single precision");
}

static uint64_t next_random(uint64_t *seed) { /* xorshift64*, Vigna 2016 */
  *seed ^= *seed >> 12, *seed ^= *seed << 25, *seed ^= *seed >> 27;
  return *seed * UINT64_C(2685821657736338717);
}

static void numbers_are_the_doubles_nearest_to_their_text(void **state) {
  (void)state;
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  static const char *const formats[] = {"%.17g", "%.16g", "%.15g", "%.6f", "%.19g", "%.25g", "%.3e"};
  uint64_t seed = 7;
  for (int k = 0; k < 400000; k++) {
    char text[400];
    double value, parsed = 0;
    uint64_t bits = next_random(&seed);
    if (k % 2) bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (UINT64_C(1023) - 45 + next_random(&seed) % 90) << 52;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    int length = snprintf(text, sizeof text, formats[(unsigned)k / 2 % COUNT(formats)], value);
    double expected = strtod_l(text, NULL, c);
    assert_int_equal(tct_number_parse(text, length, c, &parsed), TCT_NUMBER_OK);
    if (memcmp(&parsed, &expected, sizeof parsed) != 0) fail_msg("%s is read as %.17g", text, parsed);
  }
  freelocale(c);
}

/* digits * 10^e around the half-way points between doubles, where a second rounding would show. */
static void numbers_half_way_between_doubles_go_to_the_even_one(void **state) {
  (void)state;
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  uint64_t seed = 11;
  for (int k = 0; k < 200000; k++) {
    char text[64];
    double parsed = 0;
    uint64_t half = (next_random(&seed) | UINT64_C(1) << 63) >> (k % 10); /* 54 to 64 bits */
    int bits = 64 - __builtin_clzll(half), cut = bits - 53;
    half = (half >> cut << cut) | UINT64_C(1) << (cut - 1);
    half += (uint64_t)(k / 10 % 3) - 1;
    int length = snprintf(text, sizeof text, "%llue%d", (unsigned long long)half, k % 7 == 0 ? 0 : k % 55 - 27);
    double expected = strtod_l(text, NULL, c);
    assert_int_equal(tct_number_parse(text, length, c, &parsed), TCT_NUMBER_OK);
    if (memcmp(&parsed, &expected, sizeof parsed) != 0) fail_msg("%s is read as %.17g", text, parsed);
  }
  freelocale(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_may_hold_commas_newlines_and_quotes),
      cmocka_unit_test(byte_order_mark_crlf_and_missing_last_newline_change_nothing),
      cmocka_unit_test(label_is_taken_by_name_or_number_and_is_no_feature),
      cmocka_unit_test(positive_label_is_compared_by_bytes_or_by_value),
      cmocka_unit_test(without_labels_a_named_label_column_is_left_out),
      cmocka_unit_test(malformed_tables_are_refused_with_their_place),
      cmocka_unit_test(lines_within_quotes_are_counted),
      cmocka_unit_test(invalid_zero_keeps_the_record_and_empties_it),
      cmocka_unit_test(single_precision_refuses_what_it_cannot_hold),
      cmocka_unit_test(numbers_are_the_doubles_nearest_to_their_text),
      cmocka_unit_test(numbers_half_way_between_doubles_go_to_the_even_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
