/* test_jsonl.c - JSON Lines: columns by key, strict types, and what is refused. */
#include "read_help.h"

#include <locale.h>

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"values\":[\"no\",\"yes\"],\"positive\":\"yes\"},\"missing_values\":[\"NA\",\"-9\"],"
    "\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":10,\"missing\":5},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"3\",\"true\"],\"missing\":\"zero\"},"
    "{\"name\":\"c\",\"type\":\"ignore\"}]}";

static void keys_are_columns_in_any_order(void **state) {
  (void)state;
  static const double rows[2][2] = {{1, -2.5}, {3e2, 4}};
  static const double y[2] = {1, -1};
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  tct_data *data =
      read_text("\xEF\xBB\xBF{\"a\":1,\"y\":1,\"b\":-2.5}\r\n\n{\"b\": 4, \"a\": 3e2, \"y\": 0}\n  \n", &options);
  assert_int_equal(tct_data_rows(data), 2);
  for (int i = 0; i < 2; i++) assert_row(data, i, rows[i], 2);
  assert_memory_equal(tct_data_labels(data), y, sizeof y);
  assert_string_equal(tct_data_feature(data, 1), "b");
  tct_data_free(data);
}

/* Missing: no key, null, a listed word, a listed number. */
static void a_schema_decides_what_a_value_is(void **state) {
  (void)state;
  static const double rows[6][4] = {{.2, 1, 0, 0}, {.5, 0, 1, 0}, {.5, 0, 0, 1},
                                    {.5, 0, 0, 0}, {.5, 0, 0, 0}, {1, 0, 0, 0}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  tct_data *data = read_text(
      "{\"a\":2,\"b\":\"u\",\"c\":[1,{}],\"y\":\"no\"}\n{\"b\":3,\"y\":\"yes\"}\n"
      "{\"a\":null,\"b\":true,\"y\":\"yes\"}\n{\"a\":\"NA\",\"b\":null,\"y\":\"yes\"}\n"
      "{\"a\":-9,\"b\":\"\",\"y\":\"no\"}\n{\"a\":11,\"y\":\"no\"}\n",
      &options);
  assert_int_equal(tct_data_rows(data), 6);
  for (int i = 0; i < 6; i++) assert_row(data, i, rows[i], 4);
  assert_true(tct_data_labels(data)[0] == -1 && tct_data_labels(data)[1] == 1);
  tct_data_free(data);
}

static void records_are_refused_with_their_line(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *part;
  } cases[] = {
      {"{\"a\":1,\"y\":1}\n{\"a\":\"2\",\"y\":1}\n", 2, "column \"a\": a text stands"},
      {"{\"a\":1,\"y\":1}\n{\"a\":true,\"y\":1}\n", 2, "column \"a\": a boolean stands"},
      {"{\"a\":1,\"y\":1}\n{\"a\":[2],\"y\":1}\n", 2, "column \"a\": the value is a list"},
      {"{\"a\":1,\"y\":1}\n{\"a\":{\"b\":2},\"y\":1}\n", 2, "column \"a\": the value is a list or an object"},
      {"{\"a\":1,\"y\":1}\n{\"y\":1}\n", 2, "column \"a\": a value is missing"},
      {"{\"a\":1,\"y\":1}\n{\"a\":2}\n", 2, "column \"y\": the label is missing"},
      {"{\"a\":1,\"y\":1}\n\n{\"b\":2,\"y\":1}\n", 3, "that the first record has not"},
      {"{\"a\":1,\"y\":1}\n{\"a\":2,\"y\":2}\n", 2, "column \"y\""},
      {"{\"a\":1,\"y\":1}\n{\"a\":2,\"a\":3}\n", 2, "occurs twice"},
      {"{\"a\":1,\"y\":1}\n{\"a\":2,\"y\":1,\"b\":1,\"c\":1}\n", 2, "more keys"},
      {"{\"a\":1,\"y\":1}\n{\"a\":2,\"y\":1\n", 2, "no valid JSON"},
      {"{\"a\":1,\"y\":1}\n{\"a\":2,\"y\":1}}\n", 2, "no valid JSON"},
      {"{\"a\":1,\"y\":1}\n[1,2]\n", 2, "no JSON object"},
      {"{\"a\":1,\"y\":1}\n7\n", 2, "no JSON object"},
      {"{\"a\":1,\"y\":1}\n{\"a\":NaN,\"y\":1}\n", 2, "no valid JSON"},
      {"{\"a\":1,\"y\":1}\n{\"a\":1e999,\"y\":1}\n", 2, "too large"},
      {"{\"a\":1,\"y\":1}\n{\"a\":123456789012345678901234567890,\"y\":1}\n", 2, "too large"},
      {"{\"a\":1,\"y\":1}\n{\"a\":1,\"y\":\"\\u0000\"}\n", 2, "NUL"},
      {"{\"a\":1,\"y\":1}\n{\"a\":1,\"y\":\"\xff\"}\n", 2, "UTF-8"},
      {"{\"a\":1}\n", 1, "no key \"y\""},
      {"{\"y\":1}\n", 1, "no feature"},
      {"{}\n", 1, "no key \"y\""},
      {"{\"a\n\":1}\n", 1, "no valid JSON"},
  };
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  for (size_t k = 0; k < COUNT(cases); k++)
    assert_refused(cases[k].text, strlen(cases[k].text), &options, cases[k].line, 0, cases[k].part);
  options = options_for(TCT_LABELS_BINARY, NULL, schema);
  assert_refused("{\"a\":1,\"d\":2,\"y\":\"no\"}\n", strlen("{\"a\":1,\"d\":2,\"y\":\"no\"}\n"), &options, 1, 0,
                 "does not describe");
  assert_refused("{\"a\":1,\"b\":\"x\",\"y\":\"no\"}\n", strlen("{\"a\":1,\"b\":\"x\",\"y\":\"no\"}\n"), &options, 1, 0,
                 "not in the schema's list");
  assert_refused("{\"a\":1,\"b\":\"u\",\"y\":\"NA\"}\n", strlen("{\"a\":1,\"b\":\"u\",\"y\":\"NA\"}\n"), &options, 1, 0,
                 "label is missing");
}

/* 60 nested lists cost nothing; what they would cost is refused before the parser sees it. */
static void nesting_is_refused_before_it_is_parsed(void **state) {
  (void)state;
  char text[400] = "{\"a\":1,\"y\":1}\n{\"a\":";
  size_t at = strlen(text);
  for (int k = 0; k < 60; k++) text[at++] = '[';
  for (int k = 0; k < 60; k++) text[at++] = ']';
  snprintf(text + at, sizeof text - at, ",\"y\":1}\n");
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  assert_refused(text, strlen(text), &options, 2, 0, "nests lists");
}

static void invalid_zero_keeps_the_record_and_needs_a_schema(void **state) {
  (void)state;
  static const double empty[4] = {0};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  options.invalid = TCT_INVALID_ZERO;
  assert_refused("{\"a\":2}\n", 8, &options, 0, 0, ".format = \"jsonl\"");
  options.format = "jsonl";
  tct_data *data = read_text("{\"a\":2,\"y\":\"no\"}\n{\"a\":\n{\"a\":\"x\",\"y\":\"no\"}\n", &options);
  assert_int_equal(tct_data_rows(data), 3);
  assert_row(data, 1, empty, 4);
  assert_row(data, 2, empty, 4);
  tct_data_free(data);
  options = options_for(TCT_LABELS_BINARY, "y", NULL);
  options.invalid = TCT_INVALID_ZERO, options.format = "jsonl";
  assert_refused("{\"a\":2,\"y\":1}\n", strlen("{\"a\":2,\"y\":1}\n"), &options, 0, 0,
                 "give a schema with .invalid = TCT_INVALID_ZERO");
}

static void keys_of_records_are_texts_or_numbers(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  options.key = "id";
  tct_data *data = read_text("{\"a\":1,\"id\":\"P 1\"}\n{\"id\":27,\"a\":2}\n", &options);
  assert_int_equal(tct_data_cols(data), 1);
  assert_memory_equal(tct_data_keys(data),
                      "P 1\0"
                      "27",
                      7);
  tct_data_free(data);
  assert_refused("{\"a\":1,\"id\":\"P 1\"}\n{\"id\":\"\",\"a\":2}\n",
                 strlen("{\"a\":1,\"id\":\"P 1\"}\n{\"id\":\"\",\"a\":2}\n"), &options, 2, 0, "no key");
  assert_refused("{\"a\":1,\"id\":\"P 1\"}\n{\"a\":2}\n", strlen("{\"a\":1,\"id\":\"P 1\"}\n{\"a\":2}\n"), &options, 2,
                 0, "no key");
  options.invalid = TCT_INVALID_ZERO, options.format = "jsonl";
  options.schema_text = schema;
  assert_refused("{\"a\":1,\"id\":\"P 1\"}\nno record\n", strlen("{\"a\":1,\"id\":\"P 1\"}\nno record\n"), &options, 2,
                 0, "no valid JSON");
}

/* Whatever the program's locale prints before a fraction. */
static void numbers_do_not_depend_on_the_locale(void **state) {
  (void)state;
  static const char numbers[] =
      "{\"label\":{\"name\":\"y\",\"lower\":0,\"upper\":9},"
      "\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":1}]}";
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) print_message("no locale with a comma\n");
  tct_read_options options = options_for(TCT_LABELS_REAL, NULL, numbers);
  tct_data *data = read_text("{\"a\":0.25,\"y\":2.5}\n", &options);
  assert_true(entry(data, 0, 0) == .25 && tct_data_labels(data)[0] == 2.5);
  setlocale(LC_ALL, "C");
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_columns_in_any_order),
      cmocka_unit_test(a_schema_decides_what_a_value_is),
      cmocka_unit_test(records_are_refused_with_their_line),
      cmocka_unit_test(nesting_is_refused_before_it_is_parsed),
      cmocka_unit_test(invalid_zero_keeps_the_record_and_needs_a_schema),
      cmocka_unit_test(keys_of_records_are_texts_or_numbers),
      cmocka_unit_test(numbers_do_not_depend_on_the_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
