/* reader.h - what a format's reader gets and does; one file per format, one line in list.def. */
#ifndef TCT_READ_FORMAT_READER_H
#define TCT_READ_FORMAT_READER_H
#include <locale.h>

#include "read/table/data.h"
#include "read/format/range.h"
#include "read/schema/encode.h"
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

/* How a file of the format is shared out over ranks by its bytes. */
typedef enum tct_parting {
  TCT_PARTS_NOT,     /* not at all: give as many files as there are ranks */
  TCT_PARTS_LINES,   /* at any end of line */
  TCT_PARTS_RECORDS, /* at an end of line outside quotes, after a header */
  TCT_PARTS_ARRAY    /* at a multiple of the bytes of a row */
} tct_parting;

/* One format: a file of its own, which defines tct_format_NAME, and a line in list.def. */
typedef struct tct_format {
  const char *name;
  const char *summary; /* one phrase: what is read */
  tct_parting parting;
  bool has_names;  /* its columns have names, so a schema can be drafted from it */
  bool has_keys;   /* a column by name can hold the records' keys */
  bool has_events; /* a time and an event in it can be one label */
  bool headless;   /* its files begin with a record, so that one record tells the format */
  /* Are the file's first bytes (at least 64 KiB where there are that many) of the format? */
  bool (*looks)(const char *head, int64_t length, locale_t c);
  /* The source goes on as the same table in CSV, as a draft of a schema reads it; NULL: the file is CSV itself. */
  tct_status (*as_csv)(tct_source *source, tct_error *err);
  /* TCT_PARTS_ARRAY: the rows that the first bytes of file `name` speak of; why: they cannot be shared out, or NULL. */
  tct_status (*count_rows)(const char *name, const char *head, int64_t length, int64_t *rows, const char **why,
                           tct_error *err);
  /* Reads everything into reader->data; what it leaves in reader->table is freed. */
  tct_status (*read)(tct_reader *reader, tct_error *err);
} tct_format;

#define TCT_FORMAT(name) extern const tct_format tct_format_##name;
#include "read/format/list.def"
#undef TCT_FORMAT
extern const tct_format *const tct_formats[]; /* in the order in which they are asked */
extern const int tct_format_count;
bool tct_format_known(const char *name);
/* The format of the file that begins so: the one that the options name, or the first that knows the bytes.  TCT_E_DATA,
 * TCT_E_USAGE: it cannot be read, or not with these options. */
tct_status tct_format_tell(const tct_read_options *options, const char *file, const char *head, int64_t length,
                           const tct_format **out, tct_error *err);

/* A malformed record: an error, or under TCT_INVALID_ZERO a record of zeros (`count` dense features). */
tct_status tct_reader_invalid(tct_reader *reader, int64_t line, int64_t column, const char *why, int64_t count,
                              tct_error *err);

/* What readers of records by a schema share.  First: the schema of the options, and what the labels are. */
tct_status tct_reader_schema(tct_reader *reader, const tct_limits *limits, tct_error *err);
/* Then where the columns beside stand: find gives a column by its name, or -1. */
typedef int64_t (*tct_find_column)(const void *user, const char *name);
tct_status tct_reader_besides(const tct_reader *reader, tct_find_column find, const void *user, int64_t label,
                              tct_encoder *encoder, tct_error *err);
/* Then the encoder and the table; field and label_field: tct_encoder_make. */
tct_status tct_reader_begin(tct_reader *reader, tct_encoder *encoder, int64_t *field, int64_t label_field,
                            tct_error *err);
/* The encoded record joins the table, or is malformed. */
tct_status tct_reader_add(tct_reader *reader, const tct_encoder *encoder, int64_t line, tct_fault fault, double label,
                          tct_error *err);
/* All records are there.  label: the name of its column, or NULL; keys: those of the records, or NULL. */
tct_status tct_reader_end(tct_reader *reader, const char *label, tct_pieces *keys, tct_error *err);
/* Makes reader->data by `read`, and frees all else that the reader holds but its source.  NULL with an error. */
tct_data *tct_reader_run(tct_reader *reader, tct_status (*read)(tct_reader *reader, tct_error *err), tct_error *err);

/* The 1-based column that a text names, or -1: formats without names. */
int64_t tct_reader_column(const char *text, int64_t count);

/* As tct_data_read, for plain bytes in memory, handed to the reader in steps of `step` bytes. */
tct_data *tct_data_read_memory(const void *bytes, int64_t count, int64_t step, const tct_read_options *options,
                               tct_error *err);
#endif
