/* test_dta.c - Stata files: versions and byte orders, value labels, missing values, and what is refused. */
#include "read_help.h"

/* A file that is built section by section. */
typedef struct made {
  char bytes[8192];
  size_t used;
  int version;
  bool big, tags;
} made;

static void put(made *m, const void *bytes, size_t count) {
  assert_true(m->used + count <= sizeof m->bytes);
  memcpy(m->bytes + m->used, bytes, count);
  m->used += count;
}

static void put_tag(made *m, const char *text) {
  if (m->tags) put(m, text, strlen(text));
}

static void put_whole(made *m, uint64_t value, int bytes) {
  for (int k = 0; k < bytes; k++) {
    char byte = (char)(value >> 8 * (m->big ? bytes - 1 - k : k));
    put(m, &byte, 1);
  }
}

static void put_fixed(made *m, const char *text, size_t width) {
  char field[400] = {0};
  memcpy(field, text, strlen(text) < width ? strlen(text) : width);
  put(m, field, width);
}

/* Columns: a (byte, number), b (int, with value labels), c (text of 6 bytes), d (double), y (byte, with labels). */
enum { COLUMNS = 5, A = 0, B, C, D, Y };
static const char *const names[COLUMNS] = {"a", "b", "c", "d", "y"};
static const char *const labels[COLUMNS] = {"", "grade", "", "", "yesno"};
static const int old_types[COLUMNS] = {251, 252, 6, 255, 251}, new_types[COLUMNS] = {65530, 65529, 6, 65526, 65530};

typedef struct record {
  int a, b;
  const char *c;
  uint64_t d; /* bits */
  int y;
} record;

static uint64_t bits(double value) {
  uint64_t whole;
  memcpy(&whole, &value, sizeof whole);
  return whole;
}

static void put_head(made *m, uint64_t variables, uint64_t rows) {
  static const char zero[112] = {0};
  char version[4];
  if (!m->tags) {
    char head[4] = {(char)m->version, m->big ? 1 : 2, 1, 0};
    put(m, head, 4);
    put_whole(m, variables, 2);
    put_whole(m, rows, 4);
    put(m, zero, 81 + 18);
    return;
  }
  snprintf(version, sizeof version, "%d", m->version);
  put_tag(m, "<stata_dta><header><release>");
  put_tag(m, version);
  put_tag(m, m->big ? "</release><byteorder>MSF</byteorder><K>" : "</release><byteorder>LSF</byteorder><K>");
  put_whole(m, variables, m->version == 119 ? 4 : 2);
  put_tag(m, "</K><N>");
  put_whole(m, rows, m->version == 117 ? 4 : 8);
  put_tag(m, "</N><label>");
  put_whole(m, 4, m->version == 117 ? 1 : 2);
  put_tag(m, "note</label><timestamp>");
  put_whole(m, 0, 1);
  put_tag(m, "</timestamp></header><map>");
  put(m, zero, 112); /* the map is not used */
  put_tag(m, "</map><variable_types>");
}

static void put_columns(made *m) {
  size_t name = m->version < 118 ? 33 : 129, format = m->version == 113 ? 12 : m->version < 118 ? 49 : 57;
  for (int j = 0; j < COLUMNS; j++) put_whole(m, (uint64_t)(m->tags ? new_types : old_types)[j], m->tags ? 2 : 1);
  put_tag(m, "</variable_types><varnames>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, names[j], name);
  put_tag(m, "</varnames><sortlist>");
  for (int j = 0; j <= COLUMNS; j++) put_whole(m, 0, m->version == 119 ? 4 : 2);
  put_tag(m, "</sortlist><formats>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, "%9.0g", format);
  put_tag(m, "</formats><value_label_names>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, labels[j], name);
  put_tag(m, "</value_label_names><variable_labels>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, "what it is", m->version < 118 ? 81 : 321);
  put_tag(m, "</variable_labels><characteristics><ch>");
  if (!m->tags) put_whole(m, 1, 1);
  put_whole(m, 3, 4);
  put(m, "abc", 3);
  put_tag(m, "</ch></characteristics>");
  if (!m->tags) put_whole(m, 0, 5);
}

static void put_labels(made *m, const char *name, int code, const char *first, const char *second) {
  size_t n = strlen(first) + 1, k = strlen(second) + 1;
  put_tag(m, "<lbl>");
  put_whole(m, 8 + 16 + n + k, 4);
  put_fixed(m, name, m->version < 118 ? 33 : 129);
  put_whole(m, 0, 3);
  put_whole(m, 2, 4);
  put_whole(m, n + k, 4);
  put_whole(m, k, 4); /* the texts stand in the other order */
  put_whole(m, 0, 4);
  put_whole(m, (uint64_t)code, 4);
  put_whole(m, (uint64_t)code + 1, 4);
  put(m, second, k);
  put(m, first, n);
  put_tag(m, "</lbl>");
}

static void make(made *m, int version, bool big, const record *records, int count) {
  *m = (made){.version = version, .big = big, .tags = version >= 117};
  put_head(m, COLUMNS, (uint64_t)count);
  put_columns(m);
  put_tag(m, "<data>");
  for (int i = 0; i < count; i++) {
    put_whole(m, (uint8_t)records[i].a, 1);
    put_whole(m, (uint16_t)records[i].b, 2);
    put_fixed(m, records[i].c, 6);
    put_whole(m, records[i].d, 8);
    put_whole(m, (uint8_t)records[i].y, 1);
  }
  put_tag(m, "</data><strls></strls><value_labels>");
  put_labels(m, "yesno", 0, "no", "yes");
  put_labels(m, "grade", -1, "low, \"x\"", "high");
  put_tag(m, "</value_labels></stata_dta>");
}

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
  assert_refused(m.bytes, m.used, &options, 0, 0, "leave --delimiter");
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
  assert_refused(m.bytes, m.used, &options, 0, 0, "--memory");
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
