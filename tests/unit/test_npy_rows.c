/* test_npy_rows.c - an array read from its file by several threads is the array read element by element. */
#include "read_help.h"

#include <unistd.h>

enum { ROWS = 60000, COLS = 3, HEADER = 128, WIDEST = 8 }; /* six blocks of doubles */

typedef struct type {
  const char *descr;
  int width;
  bool swapped;
} type;

static const type types[] = {{"<f8", 8, false}, {"<f4", 4, false}, {">f8", 8, true}, {"<i2", 2, false}};

static char path[] = "/tmp/tacit-npy-rows-XXXXXX";
static unsigned char file[HEADER + ROWS * COLS * WIDEST + 1]; /* one byte too many, for a test */

static void put(const type *t, int64_t k, double value) {
  unsigned char bytes[WIDEST], *to = file + HEADER + k * t->width;
  float single = (float)value;
  int16_t small = (int16_t)value;
  memcpy(bytes,
         t->descr[1] == 'i' ? (void *)&small
         : t->width == 4    ? (void *)&single
                            : (void *)&value,
         (size_t)t->width);
  for (int b = 0; b < t->width; b++) to[b] = bytes[t->swapped ? t->width - 1 - b : b];
}

static size_t size_of(const type *t) { return HEADER + (size_t)(ROWS * COLS * t->width); }

static void write_file(size_t size) {
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(file, 1, size, out), size);
  fclose(out);
}

/* Labels of either class in every column, and numbers that doubles and floats hold. */
static void make(const type *t) {
  memset(file, ' ', HEADER);
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  int length =
      sprintf((char *)file + 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", t->descr, ROWS, COLS);
  file[10 + length] = ' ';
  file[HEADER - 1] = '\n';
  for (int64_t k = 0; k < ROWS * COLS; k++) put(t, k, k % 7 > 3);
  write_file(size_of(t));
}

static tct_read_options wanted(const char *label, int f32, int invalid, int64_t memory, int threads) {
  tct_read_options options = options_for(label ? TCT_LABELS_BINARY : TCT_LABELS_NONE, label, NULL);
  options.value_type = f32 ? TCT_F32 : TCT_F64;
  options.invalid = invalid;
  options.memory = memory;
  options.threads = threads;
  return options;
}

static void assert_same_data(const tct_data *a, const tct_data *b, bool labelled, bool dropped) {
  const tct_matrix *x = tct_data_matrix(a), *y = tct_data_matrix(b);
  assert_int_equal(x->rows, ROWS);
  assert_int_equal(y->rows, ROWS);
  assert_int_equal(x->cols, y->cols);
  assert_int_equal(x->value_type, y->value_type);
  size_t width = x->value_type == TCT_F32 ? sizeof(float) : sizeof(double);
  assert_memory_equal(x->values, y->values, (size_t)(x->rows * x->cols) * width);
  if (labelled) assert_memory_equal(tct_data_labels(a), tct_data_labels(b), ROWS * sizeof(double));
  if (dropped) assert_memory_equal(a->dropped, b->dropped, ROWS);
}

/* The file, in memory and on disk, for one and four threads, beside its bytes element by element. */
static void assert_read_alike(const type *t, const char *label, int f32, int invalid) {
  tct_error err;
  tct_read_options plain = wanted(label, f32, invalid, 0, 1);
  tct_data *expected = read_bytes(file, size_of(t), &plain);
  for (int way = 0; way < 4; way++) {
    tct_read_options options = wanted(label, f32, invalid, way / 2 * 400000, way % 2 ? 4 : 1);
    tct_data *data = tct_data_read(path, &options, &err);
    if (!data) fail_msg("%s, label %s: %s", t->descr, label ? label : "none", err.text);
    if (way / 2) assert_true(data->x.pages != NULL);
    assert_same_data(expected, data, label != NULL, invalid == TCT_INVALID_ZERO);
    tct_data_free(data);
  }
  tct_data_free(expected);
}

static void every_type_and_label_column_is_read_alike(void **state) {
  (void)state;
  static const char *const labels[] = {NULL, "1", "2", "3"};
  for (size_t k = 0; k < COUNT(types); k++) {
    make(&types[k]);
    for (size_t l = 0; l < COUNT(labels); l++)
      for (int f32 = 0; f32 <= 1; f32++) assert_read_alike(&types[k], labels[l], f32, TCT_INVALID_REFUSE);
  }
}

/* Bad elements in two blocks that two threads take at a time: either of them may be the first to be found. */
static void malformed_rows_are_zeroed_alike_and_the_first_one_is_named(void **state) {
  (void)state;
  tct_error first, err;
  for (int k = 0; k < 6; k++) {
    const type *t = &types[k / 2];
    int64_t block = (1 << 18) / (COLS * t->width), early = k % 2 ? 5 : block - 10,
            late = k % 2 ? 2 * block - 10 : block + 5;
    make(t);
    put(t, early * COLS + 1, 0.5); /* no label */
    put(t, early * COLS + 2, NAN);
    put(t, late * COLS + 2, INFINITY);
    write_file(size_of(t));
    assert_read_alike(t, "2", 0, TCT_INVALID_ZERO);
    tct_read_options plain = wanted("2", 0, TCT_INVALID_REFUSE, 0, 1);
    assert_null(tct_data_read_memory(file, (int64_t)size_of(t), 1 << 16, &plain, &first));
    assert_int_equal(first.line, early + 1);
    assert_int_equal(first.column, 2);
    for (int way = 0; way < 4; way++) {
      tct_read_options options = wanted("2", 0, TCT_INVALID_REFUSE, way / 2 * 400000, way % 2 ? 4 : 1);
      assert_null(tct_data_read(path, &options, &err));
      assert_int_equal(err.status, first.status);
      assert_int_equal(err.line, first.line);
      assert_int_equal(err.column, first.column);
    }
  }
}

/* Single precision: what a double holds may be too large. */
static void a_number_beyond_single_precision_is_refused(void **state) {
  (void)state;
  tct_error err;
  make(&types[0]);
  put(&types[0], 31 * COLS, 1e39);
  write_file(size_of(&types[0]));
  tct_read_options options = wanted("2", 1, TCT_INVALID_REFUSE, 0, 2);
  assert_null(tct_data_read(path, &options, &err));
  assert_int_equal(err.line, 32);
  assert_int_equal(err.column, 1);
}

static void a_file_of_another_length_is_refused(void **state) {
  (void)state;
  tct_error err;
  make(&types[0]);
  tct_read_options options = wanted("2", 0, TCT_INVALID_REFUSE, 0, 2);
  for (int more = -1; more <= 1; more += 2) {
    write_file(size_of(&types[0]) + (size_t)more);
    assert_null(tct_data_read(path, &options, &err));
    assert_non_null(strstr(err.text, more < 0 ? "shorter" : "longer"));
    write_file(size_of(&types[0]));
  }
}

static int make_path(void **state) {
  (void)state;
  int made = mkstemp(path);
  if (made >= 0) close(made);
  return made < 0;
}

static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_and_label_column_is_read_alike),
      cmocka_unit_test(malformed_rows_are_zeroed_alike_and_the_first_one_is_named),
      cmocka_unit_test(a_number_beyond_single_precision_is_refused),
      cmocka_unit_test(a_file_of_another_length_is_refused),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
