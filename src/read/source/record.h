/* record.h - where the records of a text end: at line ends or, where quotes count, at those outside quotes. */
#ifndef TCT_READ_SOURCE_RECORD_H
#define TCT_READ_SOURCE_RECORD_H
#include "read/source/source.h"

/* Where a byte stands within a record. */
typedef enum tct_place { TCT_FIELD_START, TCT_PLAIN, TCT_QUOTED, TCT_QUOTE_CLOSED } tct_place;

/* Goes through text[length] from *place on; stops behind record end number `stop` (0: never) and counts ends in *ends.
 * delimiter: 0 = every line end is a record's, and *place stays.  Returns how many bytes it went through. */
int64_t tct_record_walk(const char *text, int64_t length, char delimiter, tct_place *place, int64_t stop,
                        int64_t *ends);

/* One record.  Without its line end, valid until the next call, and the caller's to overwrite. */
typedef struct tct_record {
  char *text; /* NULL: none is left */
  int64_t length;
  int64_t lines; /* physical lines that it takes */
  bool too_long; /* longer than a line may be, and passed over: nothing of it is there */
  bool open;     /* it ends with the source within a quoted field */
} tct_record;

/* What is wrong with a record that is too long, and with one that is open. */
#define TCT_TOO_LONG "the record is longer than is allowed; check it, or raise {max_line}"
#define TCT_NEVER_CLOSED "a quoted field that starts in this record is never closed; close the quote or double it"

/* The next record.  An empty last line is none.  delimiter: as above.  header: it may be as long as a header.  A longer
 * one is TCT_E_DATA, or passed over where limits.pass says so and it is no header. */
tct_status tct_record_next(tct_source *source, char delimiter, bool header, tct_record *out, tct_error *err);

/* Where a text can be cut: remembers how far it has looked.  delimiter: as above. */
typedef struct tct_cut {
  char delimiter;
  bool quoted;     /* there is a quote */
  int64_t at, end; /* bytes looked at; behind the last record end among them */
  tct_place place; /* where byte `at` stands within its record, once there is a quote */
} tct_cut;
/* Behind the last record end of text[length], which begins with a record and at every call goes on where it ended; 0:
 * there is none yet. */
int64_t tct_cut_last(tct_cut *cut, const char *text, int64_t length);

int64_t tct_count_lines(const char *text, int64_t length);
#endif
