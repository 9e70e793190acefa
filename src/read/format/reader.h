/* reader.h - what a format's reader gets and does; one file per format, one line in list.def. */
#ifndef TCT_READ_FORMAT_READER_H
#define TCT_READ_FORMAT_READER_H
#include <locale.h>

#include "read/table/data.h"
#include "read/format/range.h"
#include "read/schema/schema.h"
#include "read/source/source.h"
#include "read/table/table.h"

typedef struct tct_reader {
  tct_source *source;
  const tct_read_options *options;
  const tct_range *range; /* the records to read, after the header; NULL: all */
  tct_schema schema;      /* root NULL = none was given */
  tct_table table;
  locale_t c;
  tct_data *data; /* receives the result */
} tct_reader;

/* tct_looks_X: whether the file's first bytes (at least 64 KiB where there are that many) are of the format.
 * tct_read_X: reads everything into reader->data; what it leaves in reader->table is freed. */
#define TCT_FORMAT(name)                                               \
  bool tct_looks_##name(const char *head, int64_t length, locale_t c); \
  tct_status tct_read_##name(tct_reader *reader, tct_error *err);
#include "read/format/list.def"
#undef TCT_FORMAT

/* A malformed record: an error, or under TCT_INVALID_ZERO a record of zeros (`count` dense features). */
tct_status tct_reader_invalid(tct_reader *reader, int64_t line, int64_t column, const char *why, int64_t count,
                              tct_error *err);

/* The 1-based column that a text names, or -1: formats without names. */
int64_t tct_reader_column(const char *text, int64_t count);

/* As tct_data_read, for plain bytes in memory, handed to the reader in steps of `step` bytes. */
tct_data *tct_data_read_memory(const void *bytes, int64_t count, int64_t step, const tct_read_options *options,
                               tct_error *err);
#endif
