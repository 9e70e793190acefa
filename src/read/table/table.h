/* table.h - grows a matrix and its labels record by record, in little more than the final memory. */
#ifndef TCT_READ_TABLE_TABLE_H
#define TCT_READ_TABLE_TABLE_H
#include "core/status.h"
#include "read/table/data.h"
#include "read/table/pieces.h"

/* What a record says beside its features. */
typedef struct tct_said {
  double label, weight, offset;
} tct_said;

typedef struct tct_table {
  tct_layout layout; /* TCT_DENSE_ROWS, TCT_DENSE_COLS (npy only) or TCT_CSR */
  tct_value_type value_type;
  bool labelled, droppable, weighed, shifted;
  int64_t rows;
  int64_t memory;      /* bytes that the process may take; 0: any number */
  int64_t lists;       /* columns of texts that are numbered (words.h), which take memory too */
  int64_t expected;    /* bytes of all values where they are known beforehand, else 0 */
  int64_t looked;      /* tct_scratch_spare */
  const char *scratch; /* folder for what goes beyond, or NULL; borrowed */
  tct_error why;       /* what the disk said */
  tct_pieces values;   /* double or float */
  tct_pieces index;    /* CSR: int32_t */
  tct_pieces ends;     /* CSR: int64_t, where each row ends */
  tct_pieces labels;   /* double */
  tct_pieces weights;  /* double */
  tct_pieces offsets;  /* double */
  tct_pieces dropped;  /* unsigned char */
} tct_table;

void tct_table_init(tct_table *table, tct_layout layout, const tct_read_options *options);
void tct_table_narrow(tct_table *table); /* after init: values in single precision */

/* After init, where the number of records is known: they are then not copied once more.  most: values of a record; a
 * sparse one may have fewer, and what is never written takes no memory. */
tct_status tct_table_expect(tct_table *table, int64_t rows, int64_t most, tct_error *err);
/* After a failed tct_pieces_reserve: what the disk said, or that memory ran out. */
tct_status tct_table_failed(const tct_table *table, tct_error *err);
/* Called between records, and before the first one where their size is known.  Under a limit of memory, values beyond a
 * quarter of it go to a file, and so do all that follow. */
tct_status tct_table_spill(tct_table *table, tct_error *err);

/* Appends one record: dense value[count], or sparse with ascending 0-based index[count]. */
tct_status tct_table_dense(tct_table *table, const double *value, int64_t count, tct_said said, tct_error *err);
tct_status tct_table_sparse(tct_table *table, const int32_t *index, const double *value, int64_t count, tct_said said,
                            tct_error *err);
/* Appends a record that contributes nothing; count: its dense features (sparse: 0). */
tct_status tct_table_drop(tct_table *table, int64_t count, tct_error *err);

/* Appends all records of a table of the same kind, which is empty afterwards. */
tct_status tct_table_append(tct_table *to, tct_table *from, tct_error *err);

/* Moves everything into data; cols: features. */
tct_status tct_table_finish(tct_table *table, int64_t cols, tct_data *data, tct_error *err);
void tct_table_free(tct_table *table);
#endif
