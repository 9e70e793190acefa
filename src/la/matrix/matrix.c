/* matrix.c - checks of a borrowed matrix, its size, and the release of an owned one. */
#include "la/matrix/matrix.h"
#include "la/matrix/rows_access.h"
#include "core/alloc.h"

#include <math.h>

int64_t tct_matrix_nonzeros(const tct_matrix *m) {
  if (!tct_is_sparse(m)) return m->rows * m->cols;
  return tct_offset(m->start, m->index_type, tct_line_count(m)) - tct_offset(m->start, m->index_type, 0);
}

int64_t tct_matrix_bytes(const tct_matrix *m) {
  int64_t value = (int64_t)tct_value_size(m), index = (int64_t)tct_index_size(m);
  if (!tct_is_sparse(m)) return tct_line_count(m) * m->stride * value;
  return tct_matrix_nonzeros(m) * (value + index) + (tct_line_count(m) + 1) * index;
}

static tct_status check_header(const tct_matrix *m, tct_error *err) {
  if (m->rows < 0 || m->cols < 0 || m->rows > INT64_MAX / 16 || m->cols > INT64_MAX / 16)
    return tct_fail(err, TCT_E_USAGE, "the matrix has an impossible shape; give rows and columns of at least 0");
  if (m->layout < TCT_DENSE_ROWS || m->layout > TCT_CSC)
    return tct_fail(err, TCT_E_USAGE, "the matrix has an unknown layout; use dense rows, dense columns, CSR or CSC");
  if ((m->value_type != TCT_F64 && m->value_type != TCT_F32) || (m->index_type != TCT_I32 && m->index_type != TCT_I64))
    return tct_fail(err, TCT_E_USAGE, "the matrix has an unknown value or index type; use f64 or f32, i32 or i64");
  if (tct_is_sparse(m)) {
    if (!m->start) return tct_fail(err, TCT_E_USAGE, "the sparse matrix has no offsets; give its start array");
    return TCT_OK;
  }
  int64_t elements;
  if (m->stride < tct_line_width(m))
    return tct_fail(err, TCT_E_USAGE, "the matrix's stride is shorter than a line; enlarge it");
  if (__builtin_mul_overflow(tct_line_count(m), m->stride, &elements) || elements > INT64_MAX / 8)
    return tct_fail(err, TCT_E_USAGE, "the matrix is larger than the address space; give a smaller one");
  if (!m->values && elements) return tct_fail(err, TCT_E_USAGE, "the matrix has no values; give its values array");
  return TCT_OK;
}

static tct_status check_offsets(const tct_matrix *m, tct_error *err) {
  int64_t before = tct_offset(m->start, m->index_type, 0), first = before;
  for (int64_t i = 0; i < tct_line_count(m); i++) {
    int64_t next = tct_offset(m->start, m->index_type, i + 1);
    if (before < 0 || next < before || next - before > tct_line_width(m))
      return tct_fail_at(err, "", 0, 0, "the offsets of sparse line %lld are out of order; build the matrix again",
                         (long long)i + 1);
    before = next;
  }
  if (before > first && (!m->values || !m->index))
    return tct_fail(err, TCT_E_USAGE, "the sparse matrix has no values or no indices; give both arrays");
  return TCT_OK;
}

static tct_status fail_entry(const tct_matrix *m, int64_t line, int64_t at, const char *what, tct_error *err) {
  int64_t row = tct_by_rows(m) ? line : at, column = tct_by_rows(m) ? at : line;
  return tct_fail(err, TCT_E_DATA, "row %lld, column %lld %s", (long long)row + 1, (long long)column + 1, what);
}

static tct_status check_line(const tct_matrix *m, int64_t i, tct_error *err) {
  tct_row line = tct_line_at(m, i);
  int64_t before = -1;
  for (int64_t k = 0; line.columns && k < line.n; k++) {
    int64_t at = tct_row_column(&line, k);
    if (at <= before || at >= tct_line_width(m))
      return tct_fail(err, TCT_E_DATA,
                      "the indices of sparse line %lld are not ascending, repeated or out of range; sort them and sum "
                      "repeated entries",
                      (long long)i + 1);
    before = at;
  }
  if (tct_row_finite(&line)) return TCT_OK;
  int64_t bad = 0;
  while (isfinite(tct_row_value(&line, bad))) bad++;
  return fail_entry(m, i, tct_row_column(&line, bad), "is infinite or not a number (NaN); clean the data first", err);
}

tct_status tct_matrix_check(const tct_matrix *m, tct_error *err) {
  TCT_TRY(check_header(m, err));
  if (tct_is_sparse(m)) TCT_TRY(check_offsets(m, err));
  for (int64_t i = 0; i < tct_line_count(m); i++) TCT_TRY(check_line(m, i, err));
  return TCT_OK;
}

void tct_matrix_free(tct_owned_matrix *m) {
  if (!m) return;
  if (m->m.pages) {
    tct_paged_free(m->m.pages);
    m->m.values = m->m.index = NULL;
  }
  tct_free((void *)m->m.values);
  tct_free((void *)m->m.start);
  tct_free((void *)m->m.index);
  *m = (tct_owned_matrix){0};
}
