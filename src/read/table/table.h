/* table.h - grows a matrix and its labels record by record, in at most twice the final memory. */
#ifndef TCT_READ_TABLE_TABLE_H
#define TCT_READ_TABLE_TABLE_H
#include "core/status.h"
#include "read/table/data.h"

/* A sequence of elements in pieces, so that growing copies nothing. */
typedef struct tct_pieces {
  struct tct_piece {
    char *memory;
    int64_t used, size; /* in elements */
  } * at;
  int64_t count, cap;
  int64_t total; /* elements in all pieces */
  size_t element;
} tct_pieces;

/* Room for `count` elements in a row, which become part of the sequence; NULL = out of memory. */
void *tct_pieces_reserve(tct_pieces *pieces, int64_t count);
/* Before the first reserve: room for exactly `count` elements, which are then joined without a copy; false = out of
 * memory. */
bool tct_pieces_expect(tct_pieces *pieces, int64_t count);
/* All elements in one allocation of tct_alloc; the pieces are returned one by one on the way. */
tct_status tct_pieces_join(tct_pieces *pieces, void **joined, tct_error *err);
void tct_pieces_free(tct_pieces *pieces);

typedef struct tct_table {
  tct_layout layout; /* TCT_DENSE_ROWS, TCT_DENSE_COLS (npy only) or TCT_CSR */
  tct_value_type value_type;
  bool labelled, droppable;
  int64_t rows;
  tct_pieces values;  /* double or float */
  tct_pieces index;   /* CSR: int32_t */
  tct_pieces ends;    /* CSR: int64_t, where each row ends */
  tct_pieces labels;  /* double */
  tct_pieces dropped; /* unsigned char */
} tct_table;

void tct_table_init(tct_table *table, tct_layout layout, const tct_read_options *options);

/* After init, where the number of records is known: they are then not copied once more.  dense: features of each. */
tct_status tct_table_expect(tct_table *table, int64_t rows, int64_t dense, tct_error *err);

/* Appends one record: dense value[count], or sparse with ascending 0-based index[count]. */
tct_status tct_table_dense(tct_table *table, const double *value, int64_t count, double label, tct_error *err);
tct_status tct_table_sparse(tct_table *table, const int32_t *index, const double *value, int64_t count, double label,
                            tct_error *err);
/* Appends a record that contributes nothing; count: its dense features (sparse: 0). */
tct_status tct_table_drop(tct_table *table, int64_t count, tct_error *err);

/* Moves everything into data; cols: features. */
tct_status tct_table_finish(tct_table *table, int64_t cols, tct_data *data, tct_error *err);
void tct_table_free(tct_table *table);
#endif
