/* test_npy.c - NumPy array files of every version, order and element type. */
#include "read_help.h"
#include "formats/npy.h"

enum { ROWS = 3, COLS = 2 };

/* A file of the numbers 0..5 (row by row), as numpy.save writes it; returns its length. */
static size_t npy_file(char *out, int version, const char *descr, bool fortran, const void *elements, size_t width) {
  char header[256];
  int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }", descr,
                        fortran ? "True" : "False", ROWS, COLS);
  size_t start = version == 1 ? 10 : 12;
  size_t total = (start + (size_t)length + 1 + 63) / 64 * 64, padded = total - start;
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version, out[7] = 0;
  for (size_t k = 8; k < start; k++) out[k] = (char)(padded >> 8 * (k - 8) & 255);
  memset(out + start, ' ', padded);
  memcpy(out + start, header, (size_t)length);
  out[total - 1] = '\n';
  for (size_t k = 0; k < ROWS * COLS; k++) {
    size_t from = fortran ? k % ROWS * COLS + k / ROWS : k;
    memcpy(out + total + k * width, (const char *)elements + from * width, width);
  }
  return total + ROWS * COLS * width;
}

static void assert_file(const char *file, size_t length) {
  static const double rows[ROWS][COLS] = {{0, 1}, {2, 3}, {4, 5}};
  static const double y[ROWS] = {1, 3, 5};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  tct_data *data = read_bytes(file, length, &options);
  assert_int_equal(tct_data_rows(data), ROWS);
  for (int i = 0; i < ROWS; i++) assert_row(data, i, rows[i], COLS);
  tct_data_free(data);
  options = options_for(TCT_LABELS_REAL, "2", NULL);
  options.value_type = TCT_F32;
  data = read_bytes(file, length, &options);
  for (int i = 0; i < ROWS; i++) assert_row(data, i, rows[i], 1);
  assert_memory_equal(tct_data_labels(data), y, sizeof y);
  tct_data_free(data);
}

static void every_version_order_and_type_gives_the_same_numbers(void **state) {
  (void)state;
  static const double f8[] = {0, 1, 2, 3, 4, 5};
  static const float f4[] = {0, 1, 2, 3, 4, 5};
  static const int64_t i8[] = {0, 1, 2, 3, 4, 5};
  static const int32_t i4[] = {0, 1, 2, 3, 4, 5};
  static const int16_t i2[] = {0, 1, 2, 3, 4, 5};
  static const uint8_t u1[] = {0, 1, 2, 3, 4, 5};
  static const uint8_t big[] = {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5};
  const struct {
    const char *descr;
    const void *elements;
    size_t width;
  } types[] = {{"<f8", f8, 8}, {"<f4", f4, 4}, {"<i8", i8, 8}, {"<u8", i8, 8},  {"<i4", i4, 4}, {"<u4", i4, 4},
               {"<i2", i2, 2}, {"|u1", u1, 1}, {"|i1", u1, 1}, {">u2", big, 2}, {">i2", big, 2}};
  char file[512];
  for (size_t k = 0; k < COUNT(types); k++) {
    for (int version = 1; version <= 3; version++) {
      for (int fortran = 0; fortran <= 1; fortran++) {
        assert_file(file, npy_file(file, version, types[k].descr, fortran, types[k].elements, types[k].width));
      }
    }
  }
}

static void signed_and_big_endian_elements_keep_their_value(void **state) {
  (void)state;
  tct_npy npy = {.kind = 'i', .width = 4, .swapped = true};
  assert_true(tct_npy_element(&npy, (const unsigned char *)"\xff\xff\xff\xfe") == -2);
  npy = (tct_npy){.kind = 'f', .width = 8, .swapped = true};
  assert_true(tct_npy_element(&npy, (const unsigned char *)"\xbf\xf8\0\0\0\0\0\0") == -1.5);
  npy = (tct_npy){.kind = 'i', .width = 1};
  assert_true(tct_npy_element(&npy, (const unsigned char *)"\x80") == -128);
  npy = (tct_npy){.kind = 'b', .width = 1};
  assert_true(tct_npy_element(&npy, (const unsigned char *)"\x01") == 1);
}

static void malformed_headers_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *header, *part;
  } cases[] = {
      {"", "malformed"},
      {"{}", "malformed"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)", "malformed"},
      {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3, 2)}", "malformed"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999999999999999)}", "malformed"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, -2)}", "malformed"},
      {"{'descr': '<f8', 'fortran_order': False}", "malformed"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", "two-dimensional"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "two-dimensional"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3, 2)}", "two-dimensional"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (3, 2)}", "plain number"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (3, 2)}", "1 to 8 bytes"},
      {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3, 2)}", "plain number"},
  };
  for (size_t k = 0; k < COUNT(cases); k++) {
    tct_npy npy;
    memset(&npy, 0, sizeof npy);
    const char *why = tct_npy_header(cases[k].header, (int64_t)strlen(cases[k].header), false, &npy);
    if (!why || !strstr(why, cases[k].part)) fail_msg("%s: %s", cases[k].header, why ? why : "accepted");
  }
}

static void wrong_lengths_labels_and_values_are_refused(void **state) {
  (void)state;
  static const double elements[] = {0, 1, 2, INFINITY, 4, 5};
  static const double finite[] = {0, 1, 2, 3, 4, 5};
  char file[512];
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  size_t length = npy_file(file, 1, "<f8", false, elements, 8);
  assert_refused(file, length, &options, 2, 2, "not a finite");
  length = npy_file(file, 1, "<f8", true, elements, 8);
  assert_refused(file, length, &options, 2, 2, "not a finite");
  length = npy_file(file, 1, "<f8", false, finite, 8);
  assert_refused(file, length - 1, &options, 0, 0, "shorter");
  assert_refused(file, length + 1, &options, 0, 0, "longer");
  assert_refused(file, 9, &options, 0, 0, "header");
  options = options_for(TCT_LABELS_REAL, NULL, NULL);
  assert_refused(file, length, &options, 0, 0, ".label");
  options.label = "3";
  assert_refused(file, length, &options, 0, 0, "not a column");
  options = options_for(TCT_LABELS_BINARY, "1", NULL);
  assert_refused(file, length, &options, 2, 1, "not 0/1");
}

static void invalid_zero_empties_the_whole_row_in_both_orders(void **state) {
  (void)state;
  static const double elements[] = {0, 1, 2, NAN, 4, 5};
  static const double rows[ROWS][COLS] = {{0, 1}, {0, 0}, {4, 5}};
  static const unsigned char dropped[ROWS] = {0, 1, 0};
  char file[512];
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  options.invalid = TCT_INVALID_ZERO;
  for (int fortran = 0; fortran <= 1; fortran++) {
    tct_data *data = read_bytes(file, npy_file(file, 1, "<f8", fortran, elements, 8), &options);
    for (int i = 0; i < ROWS; i++) assert_row(data, i, rows[i], COLS);
    assert_memory_equal(data->dropped, dropped, sizeof dropped);
    tct_data_free(data);
  }
}

/* A header may promise 2^50 rows in a short file: that is refused, not allocated. */
static void promised_shape_costs_no_memory(void **state) {
  (void)state;
  static const char header[] = "{'descr': '<f8', 'fortran_order': True, 'shape': (1125899906842624, 8)}\n";
  char file[256] = "\x93NUMPY\x01";
  size_t length = strlen(header);
  file[8] = (char)length;
  memcpy(file + 10, header, length);
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  options.invalid = TCT_INVALID_ZERO;
  assert_refused(file, length + 10 + 80, &options, 0, 0, "shorter");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_version_order_and_type_gives_the_same_numbers),
      cmocka_unit_test(signed_and_big_endian_elements_keep_their_value),
      cmocka_unit_test(malformed_headers_are_refused),
      cmocka_unit_test(wrong_lengths_labels_and_values_are_refused),
      cmocka_unit_test(invalid_zero_empties_the_whole_row_in_both_orders),
      cmocka_unit_test(promised_shape_costs_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
