/* limits.h - what a file may ask for, checked before memory is taken for it. */
#ifndef TCT_READ_SOURCE_LIMITS_H
#define TCT_READ_SOURCE_LIMITS_H
#include "core/json_text.h"

typedef struct tct_limits {
  int64_t cols;      /* columns of a table, where the file alone says how many */
  int64_t header;    /* bytes of a CSV header */
  int64_t line;      /* bytes of a line or record */
  int64_t expansion; /* unpacked bytes per stored byte */
  bool pass;         /* a record that is too long is malformed by itself, and those behind it are read */
} tct_limits;

extern const tct_limits tct_limits_default;
/* Those of the options, the defaults where they are 0. */
tct_limits tct_limits_of(const tct_read_options *options);

/* Each is TCT_OK, or TCT_E_DATA with a sentence that names the option. */
tct_status tct_limits_header(const tct_limits *limits, const char *file, int64_t bytes, tct_error *err);
tct_status tct_limits_line(const tct_limits *limits, const char *file, int64_t bytes, tct_error *err);
/* `unpacked` bytes came out of `stored` ones; the first 16 MiB are free. */
tct_status tct_limits_unpacked(const tct_limits *limits, const char *file, int64_t unpacked, int64_t stored,
                               tct_error *err);
/* What is wrong with one column too many. */
#define TCT_TOO_MANY_COLUMNS \
  "the file sets more columns than are allowed; check it, or raise {max_cols} (for LIBSVM {cols})"
/* What a schema may hold: a description for every column that is allowed. */
tct_json_most tct_limits_json(const tct_limits *limits);
#endif
