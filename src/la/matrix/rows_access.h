/* rows_access.h - one row of a dense or CSR matrix: its values, its columns and the loops that fit them. */
#ifndef TCT_LA_MATRIX_ROWS_ACCESS_H
#define TCT_LA_MATRIX_ROWS_ACCESS_H
#include "la/matrix/paged.h"
#include "la/matrix/rows_table.h"

typedef struct tct_row {
  const void *x;       /* n values of the matrix's value type */
  const void *columns; /* n columns of its index type; NULL: 0, 1, 2, ... */
  int64_t n;
  bool f32, i64;
  const tct_row_loops *loops;
} tct_row;

/* start[i] or index[i] of a sparse matrix. */
static inline int64_t tct_offset(const void *array, int32_t index_type, int64_t i) {
  return index_type == TCT_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}
/* The same in memory of our own. */
static inline void tct_put_offset(const void *array, int32_t index_type, int64_t i, int64_t value) {
  void *to = (void *)(uintptr_t)array;
  if (index_type == TCT_I64)
    ((int64_t *)to)[i] = value;
  else
    ((int32_t *)to)[i] = (int32_t)value;
}
/* Bytes of a value and of an index. */
static inline size_t tct_value_size(const tct_matrix *m) { return m->value_type == TCT_F32 ? 4 : 8; }
static inline size_t tct_index_size(const tct_matrix *m) { return m->index_type == TCT_I64 ? 8 : 4; }

static inline bool tct_by_rows(const tct_matrix *m) { return m->layout == TCT_DENSE_ROWS || m->layout == TCT_CSR; }
static inline bool tct_is_sparse(const tct_matrix *m) { return m->layout == TCT_CSR || m->layout == TCT_CSC; }
/* Lines are rows or columns, as the matrix is stored; width is a line's length. */
static inline int64_t tct_line_count(const tct_matrix *m) { return tct_by_rows(m) ? m->rows : m->cols; }
static inline int64_t tct_line_width(const tct_matrix *m) { return tct_by_rows(m) ? m->cols : m->rows; }

/* Rows [from, to) of a matrix by rows are about to be read otherwise than by tct_row_at. */
static inline void tct_rows_touch(const tct_matrix *m, int64_t from, int64_t to) {
  if (m->pages == NULL || from >= to) return;
  int64_t value = (int64_t)tct_value_size(m), index = (int64_t)tct_index_size(m);
  bool sparse = m->layout == TCT_CSR;
  int64_t begin = sparse ? tct_offset(m->start, m->index_type, from) : from * m->stride;
  int64_t end = sparse ? tct_offset(m->start, m->index_type, to) : (to - 1) * m->stride + m->cols;
  tct_paged_touch(m->pages, (const char *)m->values + begin * value, (end - begin) * value);
  if (sparse) tct_paged_touch(m->pages, (const char *)m->index + begin * index, (end - begin) * index);
}

static inline tct_row tct_row_at(const tct_matrix *m, int64_t i) {
  tct_row row = {.n = m->cols, .f32 = m->value_type == TCT_F32, .i64 = m->index_type == TCT_I64};
  int64_t at = 0;
  if (m->layout == TCT_CSR) {
    at = tct_offset(m->start, m->index_type, i);
    row.n = tct_offset(m->start, m->index_type, i + 1) - at;
    row.columns = row.i64 ? (const void *)((const int64_t *)m->index + at) : (const int32_t *)m->index + at;
  } else {
    at = i * m->stride;
  }
  row.x = row.f32 ? (const void *)((const float *)m->values + at) : (const double *)m->values + at;
  tct_rows_touch(m, i, i + 1);
  row.loops = tct_row_loops_at(tct_level(), m->value_type, m->index_type);
  return row;
}

static inline double tct_row_value(const tct_row *row, int64_t k) {
  return row->f32 ? (double)((const float *)row->x)[k] : ((const double *)row->x)[k];
}
static inline const void *tct_row_from(const tct_row *row, int64_t k) {
  return row->f32 ? (const void *)((const float *)row->x + k) : (const double *)row->x + k;
}
static inline int64_t tct_row_column(const tct_row *row, int64_t k) {
  return row->columns ? tct_offset(row->columns, row->i64 ? TCT_I64 : TCT_I32, k) : k;
}
/* Line i of either orientation: a matrix by columns is the transposed matrix by rows. */
static inline tct_row tct_line_at(const tct_matrix *m, int64_t i) {
  tct_matrix turned = *m;
  turned.cols = tct_line_width(m);
  turned.layout = tct_is_sparse(m) ? TCT_CSR : TCT_DENSE_ROWS;
  return tct_row_at(&turned, i);
}

/* The first stored entry whose column is at least `column`. */
static inline int64_t tct_lower_bound(const tct_row *row, int64_t column) {
  if (!row->columns) return column < row->n ? column : row->n;
  int64_t low = 0, high = row->n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (tct_row_column(row, middle) < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static inline bool tct_row_finite(const tct_row *row) {
  double zero = 0, squares = row->loops->squares(row->x, row->n);
  if (squares - squares == 0) return true;                                  /* else some may just be large */
  for (int64_t k = 0; k < row->n; k++) zero += tct_row_value(row, k) * 0.0; /* NaN unless all are finite */
  return zero == 0;
}
/* A row whose stored values may be multiplied before they are scaled (rows.c says why). */
static inline bool tct_scale_plain(double scale) { return (scale >= 0x1p-400) & (scale <= 0x1p400); }
#endif
