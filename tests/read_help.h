/* read_help.h - reading tables from texts in tests, entry by entry. */
#ifndef TCT_READ_HELP_H
#define TCT_READ_HELP_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "read/table/data.h"
#include "read/format/reader.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline tct_read_options options_for(int labels, const char *label, const char *schema) {
  tct_read_options options;
  tct_read_options_default(&options);
  options.labels = labels;
  options.label = label;
  options.schema_text = schema;
  return options;
}

static inline tct_data *read_bytes(const void *bytes, size_t count, const tct_read_options *options) {
  tct_error err;
  tct_data *data = tct_data_read_memory(bytes, (int64_t)count, 1 << 16, options, &err);
  if (!data) fail_msg("not read: line %d, field %d: %s", (int)err.line, (int)err.column, err.text);
  return data;
}

static inline tct_data *read_text(const char *text, const tct_read_options *options) {
  return read_bytes(text, strlen(text), options);
}

static inline double stored(const tct_matrix *m, int64_t k) {
  return m->value_type == TCT_F32 ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
}

static inline int64_t offset(const tct_matrix *m, const void *list, int64_t k) {
  return m->index_type == TCT_I64 ? ((const int64_t *)list)[k] : ((const int32_t *)list)[k];
}

/* Entry (i, j) of any layout that readers make. */
static inline double entry(const tct_data *data, int64_t i, int64_t j) {
  const tct_matrix *m = tct_data_matrix(data);
  assert_true(i >= 0 && i < m->rows && j >= 0 && j < m->cols);
  if (m->layout == TCT_DENSE_ROWS) return stored(m, i * m->stride + j);
  if (m->layout == TCT_DENSE_COLS) return stored(m, j * m->stride + i);
  assert_int_equal(m->layout, TCT_CSR);
  for (int64_t k = offset(m, m->start, i); k < offset(m, m->start, i + 1); k++) {
    if (offset(m, m->index, k) == j) return stored(m, k);
  }
  return 0;
}

static inline void assert_row(const tct_data *data, int64_t i, const double *expected, int64_t count) {
  assert_int_equal(tct_data_cols(data), count);
  for (int64_t j = 0; j < count; j++) {
    if (entry(data, i, j) != expected[j]) {
      fail_msg("entry (%d, %d) is %.17g instead of %.17g", (int)i, (int)j, entry(data, i, j), expected[j]);
    }
  }
}

/* The table is refused with that place, and the sentence holds `part` and an instruction, but no `secret`. */
static inline void assert_refused(const void *bytes, size_t count, const tct_read_options *options, int64_t line,
                                  int64_t column, const char *part) {
  tct_error err;
  tct_data *data = tct_data_read_memory(bytes, (int64_t)count, 5, options, &err);
  if (data) fail_msg("read although malformed; expected: %s", part);
  if (err.line != line || err.column != column || !strstr(err.text, part)) {
    fail_msg("expected line %d, field %d, \"%s\"; got %d, %d, \"%s\"", (int)line, (int)column, part, (int)err.line,
             (int)err.column, err.text);
  }
  assert_non_null(strstr(err.text, "; "));
}

/* Path of a file of the shared test data, or NULL if there is none. */
static inline const char *data_file(const char *name, char path[1024]) {
  const char *folder = getenv("TACIT_DATA");
  snprintf(path, 1024, "%s/%s", folder ? folder : "../shared/data", name);
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fclose(file);
  return path;
}
#endif
