/* test_libsvm.c - LIBSVM text, well-formed and not. */
#include "read_help.h"

static void records_become_sparse_rows(void **state) {
  (void)state;
  static const double rows[4][4] = {{0.5, 0, -2000, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 9}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  tct_data *data = read_text("# about\n+1 1:0.5 3:-2e3 # one\n-1\t2:1 4:0\r\n\n0\n1.0 4:9", &options);
  assert_int_equal(tct_data_rows(data), 4);
  assert_int_equal(tct_data_matrix(data)->layout, TCT_CSR);
  assert_int_equal(((const int32_t *)tct_data_matrix(data)->start)[4], 4); /* the written zero is not kept */
  for (int i = 0; i < 4; i++) assert_row(data, i, rows[i], 4);
  static const double y[4] = {1, -1, -1, 1};
  assert_memory_equal(tct_data_labels(data), y, sizeof y);
  assert_string_equal(tct_data_feature(data, 3), "x4");
  tct_data_free(data);
}

static void number_of_features_is_unaccounted_unless_given(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_REAL, NULL, NULL);
  tct_data *data = read_text("1.5 2:1\n", &options);
  assert_int_equal(tct_data_cols(data), 2);
  assert_non_null(data->unaccounted[0]);
  assert_null(data->unaccounted[1]);
  tct_data_free(data);
  options.cols = 7;
  data = read_text("1.5 2:1\n", &options);
  assert_int_equal(tct_data_cols(data), 7);
  assert_null(data->unaccounted[0]);
  tct_data_free(data);
}

static void prediction_needs_no_label(void **state) {
  (void)state;
  static const double row[2] = {3, 4};
  static const char *const texts[] = {"1:3 2:4\n", "0 1:3 2:4\n", "? 1:3 2:4\n"};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  for (size_t k = 0; k < COUNT(texts); k++) {
    tct_data *data = read_text(texts[k], &options);
    assert_row(data, 0, row, 2);
    assert_null(tct_data_labels(data));
    tct_data_free(data);
  }
}

static void malformed_lines_are_refused_with_their_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line, column;
    const char *part;
  } cases[] = {
      {"1 1:1\n1 0:1\n", 2, 2, "start at 1"},
      {"1 1:1\n1 1:1 3:1 2:1\n", 2, 4, "not ascending"},
      {"1 1:1\n1 1:1 1:1\n", 2, 3, "not ascending"},
      {"1 1:1\n1 qid:3 1:1\n", 2, 2, "qid"},
      {"1 qid:3 1:1\n", 1, 2, "qid"},
      {"1 1:1\n1 1:nan\n", 2, 2, "not a finite"},
      {"1 1:1\n1 1:1e999\n", 2, 2, "not a finite"},
      {"1 1:1\n1 1:\n", 2, 2, "not a finite"},
      {"1 1:1\n1 1: 1\n", 2, 2, "not a finite"},
      {"1 1:1\n1 x:1\n", 2, 2, "not index:value"},
      {"1 1:1\n1 -1:1\n", 2, 2, "not index:value"},
      {"1 1:1\n1 1.5:1\n", 2, 2, "not index:value"},
      {"1 1:1\n1 7\n", 2, 2, "not index:value"},
      {"1 1:1\n1 10:1\n", 2, 2, "larger than the number of features"},
      {"1 1:1\n1 99999999999999999999999:1\n", 2, 2, "larger than the number of features"},
      {"1 1:1\n1:1\n", 2, 1, "does not begin with a label"},
      {"1 1:1\nx 1:1\n", 2, 1, "not 0/1"},
      {"1 1:1\n2 1:1\n", 2, 1, ".positive"},
      {"1,2 1:1\n", 1, 1, "not 0/1"},
      {"# nothing\n\n1 1:1\n\n2 1:1\n", 5, 1, ".positive"},
  };
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  options.cols = 9;
  for (size_t k = 0; k < COUNT(cases); k++) {
    assert_refused(cases[k].text, strlen(cases[k].text), &options, cases[k].line, cases[k].column, cases[k].part);
  }
  assert_refused("1 1:1\n1 1:1\0 2:1\n", 17, &options, 2, 1, "NUL");
}

static void invalid_zero_keeps_the_line_and_ignores_its_indices(void **state) {
  (void)state;
  static const unsigned char dropped[] = {0, 1, 0};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  options.invalid = TCT_INVALID_ZERO;
  assert_refused("1 1:1\n", 6, &options, 0, 0, ".format = \"libsvm\"");
  options.format = "libsvm";
  tct_data *data = read_text("1 1:1 2:2\n1 1:5 50:1 60:x\n-1 2:1\n", &options);
  static const double none[2] = {0, 0};
  assert_int_equal(tct_data_rows(data), 3);
  assert_row(data, 1, none, 2);
  assert_memory_equal(data->dropped, dropped, sizeof dropped);
  tct_data_free(data);
}

static void schema_and_label_name_are_refused(void **state) {
  (void)state;
  tct_read_options options = options_for(
      TCT_LABELS_BINARY, NULL, "{\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":1}]}");
  assert_refused("1 1:1\n", 6, &options, 0, 0, "CSV");
  options = options_for(TCT_LABELS_BINARY, "y", NULL);
  assert_refused("1 1:1\n", 6, &options, 0, 0, "first field");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_become_sparse_rows),
      cmocka_unit_test(number_of_features_is_unaccounted_unless_given),
      cmocka_unit_test(prediction_needs_no_label),
      cmocka_unit_test(malformed_lines_are_refused_with_their_place),
      cmocka_unit_test(invalid_zero_keeps_the_line_and_ignores_its_indices),
      cmocka_unit_test(schema_and_label_name_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
