/* rows_table.h - the compiled row loops by instruction set, value type and index type. */
#ifndef TCT_LA_MATRIX_ROWS_TABLE_H
#define TCT_LA_MATRIX_ROWS_TABLE_H
#include "la/matrix/matrix.h"
#include "core/lanes.h"

/* values: n numbers of the value type; columns: n numbers of the index type; w, sum: vectors of doubles. */
typedef struct tct_row_loops {
  double (*dot_dense)(const void *values, const double *w, int64_t n);
  double (*dot_sparse)(const void *values, const void *columns, const double *w, int64_t n);
  double (*squares)(const void *values, int64_t n);
  void (*axpy_dense)(const void *values, double b, double *w, int64_t n);
  void (*axpy_sparse)(const void *values, const void *columns, double b, double *w, int64_t n);
  void (*add_dense)(const void *values, double b, double lattice, double *sum, int64_t n);
  void (*add_sparse)(const void *values, const void *columns, double b, double lattice, double *sum, int64_t n);
} tct_row_loops;

/* level <= tct_level(), else the processor cannot run them. */
const tct_row_loops *tct_row_loops_at(int level, int value_type, int index_type);
#endif
