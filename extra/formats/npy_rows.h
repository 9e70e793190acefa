/* npy_rows.h - the rows of an array in C order whose file is as long as its header says, read by all threads. */
#ifndef TCT_FORMATS_NPY_ROWS_H
#define TCT_FORMATS_NPY_ROWS_H
#include "formats/npy.h"
#include "read/schema/label.h"

typedef struct tct_npy_rows {
  const char *name; /* of the file, for errors */
  int file;         /* read by position; its offset stays */
  int64_t begin;    /* byte of the first row */
  int64_t first;    /* its number in the array, from 0 */
  int64_t rows;
  tct_npy npy; /* shape[1]: elements of a row */
  tct_label_rule rule;
  int64_t label;          /* 0-based column, -1 = none */
  bool f32;               /* values are wanted as floats, else as doubles */
  double limit;           /* the largest value that fits them */
  int threads;            /* at least 1 */
  int scratch;            /* of read/table/scratch.h: where values go if `values` is NULL */
  void *values;           /* [rows][features] */
  double *labels;         /* [rows], or NULL: not wanted */
  unsigned char *dropped; /* [rows], or NULL: a malformed row is an error, else a row of zeros */
} tct_npy_rows;

/* Puts every row into its place.  TCT_E_DATA: the first malformed row of the file, whatever the threads. */
tct_status tct_npy_rows_read(const tct_npy_rows *rows, tct_error *err);
#endif
