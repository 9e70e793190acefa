/* test_dta.c - Stata files: versions and byte orders, value labels, missing values, and what is refused. */
#include "dta_help.h"

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"values\":[\"no\",\"yes\"],\"positive\":\"yes\"},\"missing_values\":[\"-9\"],"
    "\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":10,\"missing\":5},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"low, \\\"x\\\"\",\"high\",\"7\"],\"missing\":\"zero\"},"
    "{\"name\":\"c\",\"type\":\"category\",\"values\":[\"K\xC3\xB6ln\",\"sixsix\"],\"missing\":\"zero\"},"
    "{\"name\":\"d\",\"type\":\"number\",\"lower\":-1,\"upper\":1,\"missing\":0}]}";

static const int versions[] = {113, 114, 115, 117, 118, 119};
#define DOT UINT64_C(0x7fe0000000000000)
#define DOT_Z UINT64_C(0x7fe1a00000000000)

/* The largest numbers are numbers, and what stands above them is missing: . and .a to .z. */
static void versions_and_byte_orders_hold_the_same_table(void **state) {
  (void)state;
  static const double rows[5][7] = {{.2, 1, 0, 0, 1, 0, 1},
                                    {.5, 0, 1, 0, 0, 1, .5},
                                    {.5, 0, 0, 1, 0, 0, .5},
                                    {1, 0, 0, 0, 0, 0, 0},
                                    {.5, 0, 0, 0, 0, 0, 1}};
  for (size_t v = 0; v < COUNT(versions); v++) {
    for (int big = 0; big < 2; big++) {
      made m;
      const char *city = versions[v] < 118 ? "K\xF6ln" : "K\xC3\xB6ln";
      const record records[] = {{2, -1, city, bits(1), 0},
                                {101, 0, "sixsix", DOT, 1},
                                {127, 7, "", DOT_Z, 1},
                                {100, 32741, "", bits(-1e300), 0},
                                {-9, 32767, "", DOT - 1, 1}};
      make(&m, versions[v], big, records, 5);
      tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
      tct_data *data = read_bytes(m.bytes, m.used, &options);
      assert_int_equal(tct_data_rows(data), 5);
      for (int i = 0; i < 5; i++) assert_row(data, i, rows[i], 7);
      assert_true(tct_data_labels(data)[0] == -1 && tct_data_labels(data)[1] == 1);
      assert_string_equal(tct_data_feature(data, 1), "b=low, \"x\"");
      tct_data_free(data);
    }
  }
}

/* A label that is a number is the code; so is every column of a table without a schema, and a code without a label. */
static void labels_of_codes_are_texts_only_where_a_text_is_wanted(void **state) {
  (void)state;
  static const char numbers[] =
      "{\"label\":{\"name\":\"b\",\"lower\":-1,\"upper\":9},\"columns\":[{\"name\":\"a\",\"type\":\"number\","
      "\"lower\":0,\"upper\":1},{\"name\":\"c\",\"type\":\"ignore\"},{\"name\":\"d\",\"type\":\"ignore\"},"
      "{\"name\":\"y\",\"type\":\"number\",\"lower\":0,\"upper\":2}]}";
  static const record records[] = {{1, 0, "x", DOT, 1}, {0, -1, "", 0, 0}, {0, 7, "", 0, 2}};
  made m;
  make(&m, 118, false, records, 3);
  tct_read_options options = options_for(TCT_LABELS_REAL, NULL, numbers);
  tct_data *data = read_bytes(m.bytes, m.used, &options);
  assert_row(data, 0, (double[]){1, .5}, 2);
  assert_row(data, 2, (double[]){0, 1}, 2);
  assert_true(tct_data_labels(data)[0] == 0 && tct_data_labels(data)[1] == -1 && tct_data_labels(data)[2] == 7);
  tct_data_free(data);
  options = options_for(TCT_LABELS_BINARY, NULL, schema);
  assert_refused(m.bytes, m.used, &options, 1, 3, "not in the schema's list");
  options = options_for(TCT_LABELS_BINARY, NULL, numbers);
  options.label = "y";
  assert_refused(m.bytes, m.used, &options, 0, 0, "different label columns");
}

static void every_beginning_of_a_file_is_refused(void **state) {
  (void)state;
  static const record records[] = {{2, -1, "sixsix", 0, 0}, {1, 0, "sixsix", 0, 1}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  for (size_t v = 0; v < COUNT(versions); v++) {
    made m;
    make(&m, versions[v], false, records, 2);
    tct_data_free(read_bytes(m.bytes, m.used, &options));
    for (size_t cut = 11; cut < m.used; cut++) {
      tct_error err;
      tct_data *data = tct_data_read_memory(m.bytes, (int64_t)cut, 1 << 16, &options, &err);
      /* behind a whole list of labels an older file ends in order: the codes without labels are then not listed */
      if (data) fail_msg("version %d cut at %d of %d is read", versions[v], (int)cut, (int)m.used);
      assert_true(err.status == TCT_E_DATA && strstr(err.text, "; "));
    }
  }
}

/* Numbers of variables and records that no file could hold are refused before memory is taken for them. */
static void false_sizes_are_refused(void **state) {
  (void)state;
  static const uint64_t sizes[][2] = {{COLUMNS, UINT64_MAX}, {COLUMNS, INT64_MAX}, {COLUMNS, 1 << 30},
                                      {UINT32_MAX, 1},       {1 << 20, 1},         {0, 0}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  for (size_t k = 0; k < COUNT(sizes); k++) {
    made m = {.version = 119, .tags = true};
    put_head(&m, sizes[k][0], sizes[k][1]);
    if (sizes[k][0] == COLUMNS) put_columns(&m);
    put_tag(&m, "<data>");
    assert_refused(m.bytes, m.used, &options, 0, 0, sizes[k][0] > 1 << 20 ? "more columns" : "contradicts itself");
  }
}

static void places_outside_the_texts_of_value_labels_are_refused(void **state) {
  (void)state;
  static const record records[] = {{2, -1, "sixsix", 0, 0}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  made whole, m;
  make(&whole, 118, false, records, 1);
  size_t list = 0; /* of the first list: n, bytes of texts, places */
  while (memcmp(whole.bytes + list, "<lbl>", 5) != 0) list++;
  list += 5 + 4 + 129 + 3;
  for (size_t k = 0; k < 16; k += 4) {
    m = whole;
    memset(m.bytes + list + k, 0xff, 4);
    assert_refused(m.bytes, m.used, &options, 0, 0, "contradicts itself");
  }
}

static void what_a_table_cannot_hold_is_refused_with_its_place(void **state) {
  (void)state;
  const record records[] = {{2, -1, "sixsix", 0, 0}, {2, -1, "sixsix", bits(-INFINITY), 0}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  made m;
  make(&m, 118, true, records, 2);
  assert_refused(m.bytes, m.used, &options, 2, 4, "not a finite decimal number");
  options.delimiter = ";";
  assert_refused(m.bytes, m.used, &options, 0, 0, "leave .delimiter");
  options.delimiter = NULL;
  m.bytes[strlen("<stata_dta><header><release>") + 2] = '6';
  assert_refused(m.bytes, m.used, &options, 0, 0, "unknown version");
}

/* strL: a reference of 8 bytes, as wide as the double in its place. */
static void texts_of_any_length_are_ignored_or_refused(void **state) {
  (void)state;
  static const record records[] = {{2, -1, "sixsix", 0, 0}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  made m;
  make(&m, 118, false, records, 1);
  size_t types = 0;
  while (memcmp(m.bytes + types, "<variable_types>", 16) != 0) types++;
  m.bytes[types + 16 + 2 * D] = 0, m.bytes[types + 16 + 2 * D + 1] = (char)0x80;
  assert_refused(m.bytes, m.used, &options, 0, D + 1, "strL");
  static const char without[] =
      "{\"label\":{\"name\":\"y\",\"positive\":\"yes\",\"values\":[\"no\",\"yes\"]},\"columns\":["
      "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":10},{\"name\":\"b\",\"type\":\"ignore\"},"
      "{\"name\":\"c\",\"type\":\"ignore\"},{\"name\":\"d\",\"type\":\"ignore\"}]}";
  options.schema_text = without;
  tct_data *data = read_bytes(m.bytes, m.used, &options);
  assert_row(data, 0, (double[]){.2}, 1);
  tct_data_free(data);
}

/* The file is held as a whole, so a limit of memory below twice its size refuses it. */
static void a_limit_of_memory_below_the_file_is_refused(void **state) {
  (void)state;
  static const record records[] = {{2, -1, "sixsix", 0, 0}};
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, schema);
  made m;
  make(&m, 118, false, records, 1);
  options.memory = 2 * (int64_t)m.used - 1;
  assert_refused(m.bytes, m.used, &options, 0, 0, ".memory");
  options.memory++;
  tct_data_free(read_bytes(m.bytes, m.used, &options));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(versions_and_byte_orders_hold_the_same_table),
      cmocka_unit_test(labels_of_codes_are_texts_only_where_a_text_is_wanted),
      cmocka_unit_test(every_beginning_of_a_file_is_refused),
      cmocka_unit_test(false_sizes_are_refused),
      cmocka_unit_test(places_outside_the_texts_of_value_labels_are_refused),
      cmocka_unit_test(what_a_table_cannot_hold_is_refused_with_its_place),
      cmocka_unit_test(texts_of_any_length_are_ignored_or_refused),
      cmocka_unit_test(a_limit_of_memory_below_the_file_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
