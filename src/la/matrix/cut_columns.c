/* cut_columns.c - some neighbouring columns of a matrix by rows, as a matrix of their own. */
#include "core/alloc.h"
#include "la/matrix/matrix.h"
#include "la/matrix/rows_access.h"

#include <string.h>

static tct_status cut_dense(const tct_matrix *from, int64_t first, tct_matrix *to, tct_error *err) {
  size_t size = tct_value_size(from);
  int64_t elements;
  if (__builtin_mul_overflow(from->rows, to->cols, &elements)) return tct_fail_memory(err);
  char *at = tct_alloc(elements, size);
  if (!at) return tct_fail_memory(err);
  to->values = at;
  to->stride = to->cols;
  for (int64_t i = 0; i < from->rows; i++) {
    tct_row row = tct_row_at(from, i);
    memcpy(at + (size_t)(i * to->cols) * size, tct_row_from(&row, first), (size_t)to->cols * size);
  }
  return TCT_OK;
}

static tct_status cut_sparse(const tct_matrix *from, int64_t first, tct_matrix *to, tct_error *err) {
  size_t size = tct_value_size(from);
  int64_t entries = 0;
  to->start = tct_alloc(from->rows + 1, tct_index_size(from));
  if (!to->start) return tct_fail_memory(err);
  for (int64_t i = 0; i < from->rows; i++) {
    tct_row row = tct_row_at(from, i);
    entries += tct_lower_bound(&row, first + to->cols) - tct_lower_bound(&row, first);
    tct_put_offset(to->start, to->index_type, i + 1, entries);
  }
  char *values = tct_alloc(entries, size);
  to->values = values;
  to->index = tct_alloc(entries, tct_index_size(from));
  if (!to->values || !to->index) return tct_fail_memory(err);
  for (int64_t i = 0, at = 0; i < from->rows; i++) {
    tct_row row = tct_row_at(from, i);
    int64_t low = tct_lower_bound(&row, first), high = tct_lower_bound(&row, first + to->cols);
    memcpy(values + (size_t)at * size, tct_row_from(&row, low), (size_t)(high - low) * size);
    for (int64_t k = low; k < high; k++)
      tct_put_offset(to->index, to->index_type, at++, tct_row_column(&row, k) - first);
  }
  return TCT_OK;
}

tct_status tct_cut_columns(const tct_matrix *from, int64_t first, int64_t count, tct_owned_matrix *to, tct_error *err) {
  *to = (tct_owned_matrix){.m = *from};
  to->m.cols = count;
  to->m.pages = NULL;
  to->m.values = to->m.start = to->m.index = NULL;
  tct_status status = tct_is_sparse(from) ? cut_sparse(from, first, &to->m, err) : cut_dense(from, first, &to->m, err);
  if (status != TCT_OK) tct_matrix_free(to);
  return status;
}
