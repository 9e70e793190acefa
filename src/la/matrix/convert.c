/* convert.c - conversions among dense rows, dense columns, CSR and CSC, f64 and f32.
 *
 * The source is read line by line (rows or columns, as it is stored).  A dense target takes each entry at its place;
 * a sparse target is filled in two passes: one counts the entries of every target line, the next places them.
 * Reading the source in its own order keeps the target's indices ascending in either orientation.
 * Explicit zeros are not stored in a sparse target. */
#include "la/matrix/matrix.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"
#include "core/stop.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void put_value(const tct_matrix *to, int64_t at, double value) {
  if (to->value_type == TCT_F32)
    ((float *)to->values)[at] = (float)value;
  else
    ((double *)to->values)[at] = value;
}

/* Values that would become infinite as f32 are refused. */
static tct_status check_f32(const tct_matrix *from, tct_error *err) {
  for (int64_t i = 0; i < tct_line_count(from); i++) {
    tct_row line = tct_line_at(from, i);
    for (int64_t k = 0; k < line.n; k++)
      if (fabs(tct_row_value(&line, k)) > FLT_MAX)
        return tct_fail(err, TCT_E_DATA, "a feature is too large for 32-bit storage; store 64-bit values");
  }
  return TCT_OK;
}

static tct_status to_dense(const tct_matrix *from, tct_matrix *to, tct_error *err) {
  int64_t elements;
  to->stride = tct_line_width(to);
  if (__builtin_mul_overflow(tct_line_count(to), to->stride, &elements)) return tct_fail_memory(err);
  if (!(to->values = tct_alloc(elements, tct_value_size(to)))) return tct_fail_memory(err);
  bool turn = tct_by_rows(from) != tct_by_rows(to);
  enum { TILE = 32 }; /* lines read together, so that a turned target is written in runs of 32 entries */
  for (int64_t first = 0; first < tct_line_count(from) && !tct_stopping(); first += TILE) {
    int64_t last = first + TILE < tct_line_count(from) ? first + TILE : tct_line_count(from);
    if (tct_is_sparse(from) || !turn) {
      for (int64_t i = first; i < last; i++) {
        tct_row line = tct_line_at(from, i);
        for (int64_t k = 0; k < line.n; k++) {
          int64_t at = tct_row_column(&line, k);
          put_value(to, turn ? at * to->stride + i : i * to->stride + at, tct_row_value(&line, k));
        }
      }
      continue;
    }
    tct_row line[TILE];
    for (int64_t i = first; i < last; i++) line[i - first] = tct_line_at(from, i);
    for (int64_t at = 0; at < tct_line_width(from); at++)
      for (int64_t i = first; i < last; i++) put_value(to, at * to->stride + i, tct_row_value(&line[i - first], at));
  }
  return TCT_OK;
}

/* next[t+1] <- entries of target line t, then the running sum: next[t] is where line t begins. */
static int64_t count_lines(const tct_matrix *from, const tct_matrix *to, int64_t *next) {
  bool turn = tct_by_rows(from) != tct_by_rows(to);
  for (int64_t i = 0; i < tct_line_count(from); i++) {
    tct_row line = tct_line_at(from, i);
    for (int64_t k = 0; k < line.n; k++)
      next[(turn ? tct_row_column(&line, k) : i) + 1] += tct_row_value(&line, k) != 0;
  }
  for (int64_t t = 0; t < tct_line_count(to); t++) next[t + 1] += next[t];
  return next[tct_line_count(to)];
}

static void place_entries(const tct_matrix *from, const tct_matrix *to, int64_t *next) {
  bool turn = tct_by_rows(from) != tct_by_rows(to);
  for (int64_t i = 0; i < tct_line_count(from) && (i % 1024 || !tct_stopping()); i++) {
    tct_row line = tct_line_at(from, i);
    for (int64_t k = 0; k < line.n; k++) {
      double value = tct_row_value(&line, k);
      int64_t at = tct_row_column(&line, k), target = turn ? at : i;
      if (value == 0) continue;
      tct_put_offset(to->index, to->index_type, next[target], turn ? i : at);
      put_value(to, next[target]++, value);
    }
  }
}

static tct_status to_sparse(const tct_matrix *from, tct_matrix *to, tct_error *err) {
  int64_t *next = TCT_NEW(int64_t, tct_line_count(to) + 1);
  if (!next) return tct_fail_memory(err);
  int64_t count = count_lines(from, to, next);
  to->index_type = count > INT32_MAX || tct_line_width(to) > INT32_MAX ? TCT_I64 : TCT_I32;
  size_t value = tct_value_size(to), index = tct_index_size(to);
  to->start = tct_alloc(tct_line_count(to) + 1, index);
  to->index = tct_alloc(count, index);
  to->values = tct_alloc(count, value);
  bool memory = to->start && to->index && to->values;
  if (memory) {
    for (int64_t t = 0; t <= tct_line_count(to); t++) tct_put_offset(to->start, to->index_type, t, next[t]);
    place_entries(from, to, next);
  }
  tct_free(next);
  return memory ? TCT_OK : tct_fail_memory(err);
}

static const void *copied(const void *from, int64_t count, size_t size) {
  void *to = tct_alloc(count, size);
  if (to && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

tct_status tct_matrix_copy_rows(const tct_matrix *from, tct_owned_matrix *to, tct_error *err) {
  if (from->layout != TCT_CSR)
    return tct_matrix_convert(from, TCT_DENSE_ROWS, (tct_value_type)from->value_type, to, err);
  int64_t count = tct_offset(from->start, from->index_type, from->rows);
  size_t value = tct_value_size(from), index = tct_index_size(from);
  *to = (tct_owned_matrix){.m = *from};
  to->m.pages = NULL;
  to->m.start = copied(from->start, from->rows + 1, index);
  to->m.index = copied(from->index, count, index);
  to->m.values = copied(from->values, count, value);
  if (to->m.start && to->m.index && to->m.values) return TCT_OK;
  tct_matrix_free(to);
  return tct_fail_memory(err);
}

tct_status tct_matrix_convert(const tct_matrix *from, tct_layout layout, tct_value_type value_type,
                              tct_owned_matrix *to, tct_error *err) {
  *to = (tct_owned_matrix){.m = {.rows = from->rows, .cols = from->cols, .layout = layout, .value_type = value_type}};
  if (value_type == TCT_F32 && from->value_type == TCT_F64) TCT_TRY(check_f32(from, err));
  tct_status status = tct_is_sparse(&to->m) ? to_sparse(from, &to->m, err) : to_dense(from, &to->m, err);
  if (status != TCT_OK) tct_matrix_free(to);
  return status;
}
