/* fuzz_same.h - one table that is read in two ways, and the file that it lies in.  _GNU_SOURCE is needed before it. */
#ifndef TCT_FUZZ_SAME_H
#define TCT_FUZZ_SAME_H
#include "fuzz_check.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

const char *__lsan_default_suppressions(void);

/* What libomp keeps of a thread that has ended is its own. */
const char *__lsan_default_suppressions(void) { return "leak:libomp.so"; }

static inline double entry(const tct_matrix *m, int64_t i, int64_t j) {
  if (j >= m->cols) return 0;
  if (m->layout == TCT_DENSE_ROWS) return stored_value(m, i * m->stride + j);
  if (m->layout == TCT_DENSE_COLS) return stored_value(m, j * m->stride + i);
  for (int64_t k = place(m, m->start, i); k < place(m, m->start, i + 1); k++)
    if (place(m, m->index, k) == j) return stored_value(m, k);
  return 0;
}

static inline void check_same(const tct_data *whole, const tct_data *part, int64_t first) {
  int64_t cols = whole->x.cols < 64 ? whole->x.cols : 64;
  require(first + part->x.rows <= whole->x.rows && part->x.cols <= whole->x.cols);
  for (int64_t i = 0; i < part->x.rows; i++) {
    for (int64_t j = 0; j < cols; j++) require(entry(&whole->x, first + i, j) == entry(&part->x, i, j));
    if (whole->labels == part->labels && whole->y && part->y) require(whole->y[first + i] == part->y[i]);
    require((whole->dropped && whole->dropped[first + i]) == (part->dropped && part->dropped[i]));
  }
}

/* The same table, or the same error. */
static inline void check_equal(tct_data *one, const tct_error *first, tct_data *other, const tct_error *second) {
  require((one == NULL) == (other == NULL));
  if (one) {
    require(one->x.rows == other->x.rows && one->x.cols == other->x.cols);
    check_same(one, other, 0);
  } else {
    require(first->status == second->status && first->line == second->line && first->column == second->column);
    require(strcmp(first->text, second->text) == 0);
  }
  check_result(one, first);
  check_result(other, second);
}

/* memory: of one byte, so that any record lies in a file. */
static inline void from_disk(const char *path, tct_read_options options) {
  tct_error first, second;
  tct_data *one = tct_data_read(path, &options, &first);
  options.memory = 1;
  tct_data *other = tct_data_read(path, &options, &second);
  /* An array by columns, a table too large for the least window, or a file that has to be whole in memory says so. */
  if (!other && (one || strstr(second.text, "memory"))) {
    require(second.status != TCT_OK && strchr(second.text, ';') != NULL);
    tct_data_free(one);
    return;
  }
  check_equal(one, &first, other, &second);
}

/* The same file for all inputs: a name in the file system for each would take longer than its reading. */
static inline const char *file_of(const uint8_t *bytes, size_t count) {
  static char path[64];
  static int file = -1;
  if (file < 0) {
    file = memfd_create("range", 0);
    require(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  }
  require(ftruncate(file, 0) == 0 && pwrite(file, bytes, count, 0) == (ssize_t)count);
  return path;
}
#endif
