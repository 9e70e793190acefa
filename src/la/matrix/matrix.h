/* matrix.h - owned matrices, conversions, and the bounded view that solvers read.
 *
 * A solver never touches tct_matrix directly: it reads a tct_view, whose rows all have norm <= R. */
#ifndef TCT_LA_MATRIX_MATRIX_H
#define TCT_LA_MATRIX_MATRIX_H
#include "core/status.h"

/* An owned matrix: `m` points into allocations of tct_alloc that tct_matrix_free returns.  m.pages other than NULL:
 * values and index lie in a file (paged.h), and it returns that. */
typedef struct tct_owned_matrix {
  tct_matrix m;
} tct_owned_matrix;

/* Shape, layout and offsets are consistent, indices ascending and in range, every value finite.
 * The error names row and column, never the value. */
tct_status tct_matrix_check(const tct_matrix *m, tct_error *err);
int64_t tct_matrix_nonzeros(const tct_matrix *m); /* dense: rows*cols */
int64_t tct_matrix_bytes(const tct_matrix *m);
/* Converts to layout and value type; always a new allocation. */
tct_status tct_matrix_convert(const tct_matrix *from, tct_layout layout, tct_value_type value_type,
                              tct_owned_matrix *to, tct_error *err);
/* The same matrix by rows; always a new allocation.  CSR keeps its explicit zeros, all else becomes dense. */
tct_status tct_matrix_copy_rows(const tct_matrix *from, tct_owned_matrix *to, tct_error *err);
void tct_matrix_free(tct_owned_matrix *m);
/* The columns [first, first + count) of a matrix by rows; always a new allocation. */
tct_status tct_cut_columns(const tct_matrix *from, int64_t first, int64_t count, tct_owned_matrix *to, tct_error *err);
/* x' = (x - shift[cols])*factor[cols], dense unless every shift is 0; always a new allocation. */
tct_status tct_scale_columns(const tct_matrix *x, const double *factor, const double *shift, tct_owned_matrix *to,
                             tct_error *err);
/* The same with factor[cols] and shift[cols] found by kind: max-abs, min-max or standard.  Reads every record, which
 * nothing charges. */
tct_status tct_scale_by_data(const tct_matrix *from, const char *kind, double *factor, double *shift,
                             tct_owned_matrix *to, tct_error *err);

/* Range of R: far from where squares of norms leave the range of doubles. */
#define TCT_ROW_NORM_LOW 1e-90
#define TCT_ROW_NORM_HIGH 1e90

/* What solvers read: x~_i = row_scale[i] * (x_i, intercept), p = cols + (intercept != 0) features, the
 * intercept last.  Norms are bounded: |x~_i| <= R(1 - 2^-40) as exact real numbers (tct_view_bound). */
typedef struct tct_view {
  const tct_matrix *x; /* borrowed */
  double *row_scale;   /* [rows], owned */
  double intercept;    /* 0 = no intercept column, else its value (1) */
  int64_t rows;
  int64_t p;       /* features including the intercept */
  int64_t row0;    /* global index of the first row (row-sharded runs); 0 alone */
  double row_norm; /* R */
} tct_view;

/* Computes row_scale by the clip rule (unit: scale to exactly R, zero rows stay zero), overflow-safe,
 * rounding so that the norm bound above holds.  threads >= 1. */
tct_status tct_view_bound(tct_view *view, const tct_matrix *x, double intercept, double row_norm, tct_rows_rule rule,
                          int threads, tct_error *err);
void tct_view_free(tct_view *view);
#endif
