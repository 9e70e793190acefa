/* join.h - tables of records put together, and cut. */
#ifndef TCT_READ_TABLE_JOIN_H
#define TCT_READ_TABLE_JOIN_H
#include "read/table/data.h"

/* May the records of both stand in one table?  Columns, names, labels and schema are the same; tables of LIBSVM text
 * may differ in their number of features.  TCT_E_DATA otherwise. */
tct_status tct_data_alike(const tct_data *a, const tct_data *b, tct_error *err);

/* The records of all parts in their order, without the first `drop` of part 0, in the layout of rows; what is not
 * records comes from part 0.  The parts stay the caller's. */
tct_status tct_data_join(tct_data *const *part, int64_t parts, int64_t drop, tct_data **out, tct_error *err);

/* Copies what a table says of its columns and labels, and what is unaccounted. */
tct_status tct_data_describe(tct_data *to, const tct_data *like, tct_error *err);
/* Behind the keys of the first `rows` records. */
const char *tct_keys_after(const char *keys, int64_t rows);

/* The records i with mark[i] == wanted, in their order and by rows, with their weights and what the table says of
 * itself; without keys and ranks.  mark: [rows]. */
tct_status tct_data_pick(const tct_data *from, const unsigned char *mark, unsigned char wanted, tct_data **out,
                         tct_error *err);

/* The first `rows` records as bytes for another process of the same program, and back. */
tct_status tct_data_pack(const tct_data *data, int64_t rows, char **bytes, int64_t *size, tct_error *err);
/* like: a table of the same kind, for what is not records. */
tct_status tct_data_unpack(const char *bytes, int64_t size, const tct_data *like, tct_data **out, tct_error *err);
#endif
