/* test_reader.c - laws of every reader: cut anywhere, compressed, dense or sparse, on real records. */
#include "core/json_text.h"
#include "read_help.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

static const char csv[] = "a,b,y\n1,-2.5,0\n\"3\",4e1,1\r\n-5,6,\"-1\"\n";
static const char libsvm[] = "1 1:2 3:4.5\n-1 2:7 # no\n0\n1 3:1e-3";

/* Entry by entry and label by label the same, for the first `rows` records. */
static void assert_same(const tct_data *a, const tct_data *b, int64_t rows) {
  const double *y = tct_data_labels(a), *z = tct_data_labels(b);
  assert_int_equal(tct_data_cols(a), tct_data_cols(b));
  for (int64_t i = 0; i < rows; i++) {
    assert_true(!y || y[i] == z[i]);
    for (int64_t j = 0; j < tct_data_cols(a); j++) assert_true(entry(a, i, j) == entry(b, i, j));
  }
}

/* Any beginning of a file is refused with a sentence, or is a shorter table.  Its records are the whole table's, but
 * for the last, which may have lost its end. */
static void assert_every_beginning(const char *text, size_t length, tct_read_options *options) {
  tct_data *whole = read_bytes(text, length, options);
  int refused = 0;
  for (size_t cut = 0; cut < length; cut++) {
    for (int64_t step = 1; step < 50; step += 16) {
      tct_error err;
      tct_data *data = tct_data_read_memory(text, (int64_t)cut, step, options, &err);
      if (data) {
        assert_true(tct_data_rows(data) <= tct_data_rows(whole));
        assert_same(data, whole, tct_data_rows(data) - 1);
      } else {
        /* "1 1" is no LIBSVM line any more but a CSV header, whose label must be named */
        assert_true(err.status == TCT_E_DATA || err.status == TCT_E_USAGE);
        assert_non_null(strstr(err.text, "; "));
        refused++;
      }
      tct_data_free(data);
    }
  }
  assert_true(refused > 0);
  tct_data_free(whole);
}

static void every_beginning_of_a_text_is_an_error_or_a_shorter_table(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  assert_every_beginning(csv, strlen(csv), &options);
  options.invalid = TCT_INVALID_ZERO;
  assert_every_beginning(csv, strlen(csv), &options);
  options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  options.cols = 3;
  assert_every_beginning(libsvm, strlen(libsvm), &options);
}

static void step_of_the_source_changes_nothing(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  tct_data *whole = read_text(csv, &options);
  for (int64_t step = 1; step < 40; step++) {
    tct_data *data = tct_data_read_memory(csv, (int64_t)strlen(csv), step, &options, NULL);
    assert_non_null(data);
    assert_int_equal(tct_data_rows(data), 3);
    assert_same(data, whole, 3);
    tct_data_free(data);
  }
  tct_data_free(whole);
}

/* ---- compressed ------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

/* Compresses with libarchive; returns the length. */
static size_t compress(const char *filter, const char *text, size_t length, char *out, size_t size) {
  size_t used = 0;
  struct archive *archive = archive_write_new();
  struct archive_entry *entry_ = archive_entry_new();
  assert_int_equal(archive_write_add_filter_by_name(archive, filter), ARCHIVE_OK);
  assert_int_equal(archive_write_set_format_raw(archive), ARCHIVE_OK);
  assert_int_equal(archive_write_set_bytes_in_last_block(archive, 1), ARCHIVE_OK);
  assert_int_equal(archive_write_open_memory(archive, out, size, &used), ARCHIVE_OK);
  archive_entry_set_filetype(entry_, AE_IFREG);
  assert_int_equal(archive_write_header(archive, entry_), ARCHIVE_OK);
  assert_int_equal(archive_write_data(archive, text, length), length);
  assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
  archive_entry_free(entry_);
  archive_write_free(archive);
  return used;
}

static const char *const filters[] = {"gzip", "xz", "zstd", "bzip2"};

static void compressed_files_read_as_plain_ones_and_others_than_whole_ones_are_refused(void **state) {
  (void)state;
  char packed[4096], path[] = "/tmp/tacit_reader_XXXXXX";
  close(mkstemp(path));
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  tct_data *plain = read_text(csv, &options);
  for (size_t f = 0; f < COUNT(filters); f++) {
    size_t length = compress(filters[f], csv, strlen(csv), packed, sizeof packed);
    write_file(path, packed, length);
    tct_error err;
    tct_data *data = tct_data_read(path, &options, &err);
    if (!data) fail_msg("%s: %s", filters[f], err.text);
    assert_int_equal(tct_data_rows(data), 3);
    assert_same(data, plain, 3);
    tct_data_free(data);
    for (size_t cut = 0; cut < length; cut++) {
      write_file(path, packed, cut);
      data = tct_data_read(path, &options, &err);
      if (data) fail_msg("%s cut at %d of %d is read", filters[f], (int)cut, (int)length);
      assert_int_equal(err.status, TCT_E_DATA);
      assert_string_equal(err.file, path);
    }
    memcpy(packed + length, "rest\n1,2,1\n", 11);
    write_file(path, packed, length + 11);
    assert_null(tct_data_read(path, &options, &err));
    assert_int_equal(err.status, TCT_E_DATA);
  }
  tct_data_free(plain);
  remove(path);
}

/* Much has been read before the end is missed: what came so far must not pass for the table. */
static void long_compressed_files_without_their_end_are_refused(void **state) {
  (void)state;
  enum { LINES = 200000 };
  char path[] = "/tmp/tacit_reader_XXXXXX", *text = malloc(LINES * 16), *packed = malloc(LINES * 16);
  size_t length = (size_t)sprintf(text, "a,b\n");
  close(mkstemp(path));
  for (int i = 0; i < LINES; i++) length += (size_t)sprintf(text + length, "%d,%d\n", i, (int)(i * 7919LL % 1000));
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  for (size_t f = 0; f < COUNT(filters); f++) {
    size_t used = compress(filters[f], text, length, packed, LINES * 16);
    for (int part = 1; part <= 4; part++) {
      tct_error err;
      write_file(path, packed, part < 4 ? used * (size_t)part / 4 : used - 1);
      if (tct_data_read(path, &options, &err)) fail_msg("%s cut at part %d is read", filters[f], part);
      assert_int_equal(err.status, TCT_E_DATA);
      assert_non_null(strstr(err.text, "truncated or damaged"));
    }
  }
  free(text);
  free(packed);
  remove(path);
}

/* A flipped bit is refused, or was in a place that means nothing (a time stamp) and changes nothing.
 * Only formats with a checksum: libarchive writes zstd without one. */
static void damaged_compressed_files_are_refused_or_harmless(void **state) {
  (void)state;
  char packed[4096], path[] = "/tmp/tacit_reader_XXXXXX";
  close(mkstemp(path));
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  tct_data *plain = read_text(csv, &options);
  for (size_t f = 0; f < COUNT(filters); f++) {
    if (strcmp(filters[f], "zstd") == 0) continue;
    size_t length = compress(filters[f], csv, strlen(csv), packed, sizeof packed);
    for (size_t bit = 0; bit < 8 * length; bit++) {
      tct_error err;
      packed[bit / 8] ^= (char)(1 << bit % 8);
      write_file(path, packed, length);
      packed[bit / 8] ^= (char)(1 << bit % 8);
      tct_data *data = tct_data_read(path, &options, &err);
      if (!data) continue;
      if (tct_data_rows(data) != 3) fail_msg("%s: damage in bit %d loses records", filters[f], (int)bit);
      assert_same(data, plain, 3);
      tct_data_free(data);
    }
  }
  tct_data_free(plain);
  remove(path);
}

static void members_of_a_gzip_file_follow_one_another(void **state) {
  (void)state;
  char packed[4096], path[] = "/tmp/tacit_reader_XXXXXX";
  close(mkstemp(path));
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  size_t first = compress("gzip", csv, 10, packed, sizeof packed);
  size_t second = compress("gzip", csv + 10, strlen(csv) - 10, packed + first, sizeof packed - first);
  write_file(path, packed, first + second);
  tct_error err;
  tct_data *data = tct_data_read(path, &options, &err), *plain = read_text(csv, &options);
  assert_non_null(data);
  assert_int_equal(tct_data_rows(data), 3);
  assert_same(data, plain, 3);
  tct_data_free(data);
  tct_data_free(plain);
  memcpy(packed + first + second, "rest", 4);
  write_file(path, packed, first + second + 4);
  assert_null(tct_data_read(path, &options, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  remove(path);
}

static void files_that_cannot_be_read_are_failures_of_the_run(void **state) {
  (void)state;
  tct_error err;
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  assert_null(tct_data_read("/nowhere/table.csv", &options, &err));
  assert_int_equal(err.status, TCT_E_RUN);
  assert_non_null(strstr(err.text, "/nowhere/table.csv"));
  assert_null(tct_data_read("/tmp", &options, &err));
  assert_int_equal(err.status, TCT_E_RUN);
  assert_null(tct_data_read("/dev/null", &options, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  assert_null(tct_data_read(NULL, &options, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  options.size = 0;
  assert_null(tct_data_read("/dev/null", &options, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
}

/* ---- real records ------------------------------------------------------------------------------ */

static tct_data *real(const char *name, const tct_read_options *options) {
  char path[1024];
  tct_error err;
  if (!data_file(name, path)) {
    print_message("skipped: no data\n");
    skip();
  }
  tct_data *data = tct_data_read(path, options, &err);
  if (!data) fail_msg("%s, line %d, field %d: %s", name, (int)err.line, (int)err.column, err.text);
  return data;
}

static void adult_under_its_schema_has_32561_records_of_88_features(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  options.schema_path = "examples/adult.schema.json";
  tct_data *data = real("adult_train.csv.xz", &options);
  assert_int_equal(tct_data_rows(data), 32561);
  assert_int_equal(tct_data_cols(data), 88);
  int positive = 0;
  for (int i = 0; i < 32561; i++) positive += tct_data_labels(data)[i] > 0;
  assert_int_equal(positive, 7841); /* UCI: 24.08 % */
  /* 39,State-gov,...,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,United-States,<=50K */
  assert_string_equal(tct_data_feature(data, 0), "age");
  assert_true(entry(data, 0, 0) == (39. - 17) / 73);
  assert_string_equal(tct_data_feature(data, 6), "workclass=State-gov");
  assert_true(entry(data, 0, 6) == 1 && entry(data, 0, 1) == 0);
  assert_null(data->unaccounted[0]);
  tct_data_free(data);
  data = real("adult_test.csv.xz", &options);
  assert_int_equal(tct_data_rows(data), 16281);
  tct_data_free(data);
}

static void a9a_has_32561_records_of_123_features(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  tct_data *data = real("a9a.libsvm.xz", &options);
  assert_int_equal(tct_data_rows(data), 32561);
  assert_int_equal(tct_data_cols(data), 123);
  assert_int_equal(((const int32_t *)tct_data_matrix(data)->start)[32561], 451592);
  tct_data_free(data);
}

/* The same table as CSV (dense) and as LIBSVM text (sparse), in both precisions. */
static void dense_and_sparse_forms_of_california_agree(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_REAL, "MedHouseVal", NULL);
  tct_data *dense = real("california.csv.xz", &options);
  assert_int_equal(tct_data_rows(dense), 20640);
  size_t size = 20640 * 9 * 32, used = 0;
  char *text = malloc(size);
  for (int64_t i = 0; i < 20640; i++) {
    used += (size_t)sprintf(text + used, "%.17g", tct_data_labels(dense)[i]);
    for (int64_t j = 0; j < 8; j++) used += (size_t)sprintf(text + used, " %d:%.17g", (int)j + 1, entry(dense, i, j));
    text[used++] = '\n';
  }
  options.label = NULL;
  tct_data *sparse = read_bytes(text, used, &options);
  assert_int_equal(tct_data_rows(sparse), 20640);
  assert_same(dense, sparse, 20640);
  options.value_type = TCT_F32;
  tct_data *narrow = read_bytes(text, used, &options);
  for (int64_t i = 0; i < 20640; i++) {
    for (int64_t j = 0; j < 8; j++) assert_true(entry(narrow, i, j) == (double)(float)entry(dense, i, j));
  }
  tct_data_free(narrow);
  tct_data_free(sparse);
  tct_data_free(dense);
  free(text);
}

static void california_under_its_schema_is_within_bounds(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_REAL, NULL, NULL);
  options.schema_path = "examples/california.schema.json";
  tct_data *data = real("california.csv.xz", &options);
  for (int64_t i = 0; i < tct_data_rows(data); i++) {
    assert_true(tct_data_labels(data)[i] >= 0 && tct_data_labels(data)[i] <= 5.00001);
    for (int64_t j = 0; j < 8; j++) assert_true(entry(data, i, j) >= 0 && entry(data, i, j) <= 1);
  }
  tct_data_free(data);
}

static void borrowed_views_are_checked(void **state) {
  (void)state;
  double x[4] = {1, 2, 3, 4}, y[2] = {1, -1};
  tct_matrix m = {.rows = 2, .cols = 2, .values = x, .stride = 2};
  tct_error err;
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_non_null(data);
  assert_ptr_equal(tct_data_matrix(data)->values, x);
  assert_ptr_equal(tct_data_labels(data), y);
  assert_string_equal(tct_data_feature(data, 1), "x2");
  assert_null(tct_data_feature(data, 2));
  tct_data_free(data);
  assert_true(x[3] == 4);
  y[1] = 0;
  assert_null(tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err));
  assert_int_equal(err.line, 2);
  y[1] = NAN;
  assert_null(tct_data_view(&m, y, TCT_LABELS_REAL, NULL, NULL, &err));
  assert_null(tct_data_view(&m, NULL, TCT_LABELS_REAL, NULL, NULL, &err));
  assert_null(tct_data_view(NULL, NULL, TCT_LABELS_NONE, NULL, NULL, &err));
  x[3] = INFINITY;
  assert_null(tct_data_view(&m, NULL, TCT_LABELS_NONE, NULL, NULL, &err));
}

/* The limit itself goes through, and one less is refused with the option's name. */
static void assert_limit(const char *text, tct_read_options *options, int64_t *limit, int64_t value, const char *name) {
  *limit = value;
  tct_data_free(read_text(text, options));
  *limit = value - 1;
  tct_error err;
  assert_null(tct_data_read_memory(text, (int64_t)strlen(text), 5, options, &err));
  *limit = 0;
  assert_int_equal(err.status, TCT_E_DATA);
  if (!strstr(err.text, name)) fail_msg("\"%s\" does not name %s", err.text, name);
}

static void a_limit_of_the_options_is_the_most_that_is_read(void **state) {
  (void)state;
  tct_read_options table = options_for(TCT_LABELS_BINARY, "y", NULL), svm = options_for(TCT_LABELS_BINARY, NULL, NULL);
  const char *plain = "a,bb,y\n1.25,2,1\n3,4,0\n", *quoted = "\"a\nb\",c,y\n\"1\",\"2.5\",1\n3,4,0\n";
  const char *pairs = "1 1:2 7:1.5\n-1 2:1\n";
  assert_limit(plain, &table, &table.max_cols, 3, "max_cols");
  assert_limit(plain, &table, &table.max_header, 6, "max_header");
  assert_limit(plain, &table, &table.max_line, 8, "max_line");
  table.multiline = 1;
  assert_limit(quoted, &table, &table.max_header, 9, "max_header");
  assert_limit(quoted, &table, &table.max_line, 11, "max_line");
  assert_limit(pairs, &svm, &svm.max_cols, 7, "max_cols");
  assert_limit(pairs, &svm, &svm.max_line, 11, "max_line");
  svm.max_cols = 2, svm.cols = 7; /* the caller's own number */
  tct_data_free(read_text(pairs, &svm));
}

static void a_limit_below_zero_is_wrong_usage(void **state) {
  (void)state;
  tct_error err;
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
  int64_t *const limits[] = {&options.max_cols, &options.max_header, &options.max_line, &options.max_expansion};
  for (size_t k = 0; k < COUNT(limits); k++) {
    *limits[k] = -1;
    assert_null(tct_data_read_memory("a\n1\n", 4, 4, &options, &err));
    assert_int_equal(err.status, TCT_E_USAGE);
    *limits[k] = 0;
  }
}

/* A schema nests as deep as is allowed, and one level deeper; quotes hide brackets. */
static void json_may_nest_64_deep(void **state) {
  (void)state;
  char text[400];
  const tct_json_most most = {.containers = 100, .values = 3};
  for (int depth = 64; depth <= 65; depth++) {
    memset(text, '[', (size_t)depth);
    snprintf(text + depth, sizeof text - (size_t)depth, "\"[[{\\\"[\"");
    tct_error err;
    assert_int_equal(tct_json_check("f", text, (int64_t)strlen(text), &most, &err), depth > 64 ? TCT_E_DATA : TCT_OK);
  }
  tct_error err;
  assert_int_equal(tct_json_check("f", "1,2,3,4", 7, &most, &err), TCT_OK);
  assert_int_equal(tct_json_check("f", "1,2,3,4,", 8, &most, &err), TCT_E_DATA);
  for (int k = 0; k < 101; k++) memcpy(text + 2 * k, "{}", 2);
  assert_int_equal(tct_json_check("f", text, 200, &most, &err), TCT_OK);
  assert_int_equal(tct_json_check("f", text, 202, &most, &err), TCT_E_DATA);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_beginning_of_a_text_is_an_error_or_a_shorter_table),
      cmocka_unit_test(step_of_the_source_changes_nothing),
      cmocka_unit_test(compressed_files_read_as_plain_ones_and_others_than_whole_ones_are_refused),
      cmocka_unit_test(long_compressed_files_without_their_end_are_refused),
      cmocka_unit_test(damaged_compressed_files_are_refused_or_harmless),
      cmocka_unit_test(members_of_a_gzip_file_follow_one_another),
      cmocka_unit_test(files_that_cannot_be_read_are_failures_of_the_run),
      cmocka_unit_test(borrowed_views_are_checked),
      cmocka_unit_test(a_limit_of_the_options_is_the_most_that_is_read),
      cmocka_unit_test(a_limit_below_zero_is_wrong_usage),
      cmocka_unit_test(json_may_nest_64_deep),
      cmocka_unit_test(adult_under_its_schema_has_32561_records_of_88_features),
      cmocka_unit_test(a9a_has_32561_records_of_123_features),
      cmocka_unit_test(dense_and_sparse_forms_of_california_agree),
      cmocka_unit_test(california_under_its_schema_is_within_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
