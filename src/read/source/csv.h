/* csv.h - records of an RFC 4180 text, field by field. */
#ifndef TCT_READ_SOURCE_CSV_H
#define TCT_READ_SOURCE_CSV_H
#include "read/source/record.h"

/* One field of the current record, without its quotes; not NUL-terminated. */
typedef struct tct_field {
  char *at;
  int64_t length;
} tct_field;

/* What is wrong with one record; why NULL = nothing.  why is static text. */
typedef struct tct_fault {
  int64_t column; /* 1-based field, 0 = none */
  const char *why;
} tct_fault;

typedef struct tct_csv {
  tct_source *source;
  char delimiter;
  bool multiline;   /* a quoted field may hold line ends; else a quote that is open ends with its line, as a fault */
  tct_field *field; /* [fields] of the current record, valid until the next one is read */
  int64_t fields, cap;
  int64_t expect;    /* fields a record must have; 0 = any up to the limit (the header) */
  int64_t line;      /* physical line where the current record starts */
  int64_t next_line; /* and the next one */
  bool blank;        /* the current record is an empty line */
  tct_fault fault;   /* of the current record */
} tct_csv;

/* The delimiter of a file that begins so: comma, semicolon, tab or bar, whichever the first line holds most often
 * outside quotes.  Of equal counts the first of these wins.  Only the first 64 KiB are looked at. */
char tct_csv_delimiter(const char *head, int64_t length, bool multiline);
/* Begins; skips a UTF-8 byte order mark.  delimiter: 0 is told by content, else a byte that tct_csv_usable takes. */
tct_status tct_csv_begin(tct_csv *csv, tct_source *source, char delimiter, bool multiline, tct_error *err);
/* A printable ASCII character that is neither quote, letter, digit, blank nor part of a number; or a tab. */
bool tct_csv_usable(char delimiter);
/* The next record, or *more = false at the end.  A record that is malformed by itself sets
 * csv->fault; what makes the end of the record unknown is an error. */
tct_status tct_csv_next(tct_csv *csv, bool *more, tct_error *err);
/* Reads the header: names are copied into one allocation of tct_alloc, [*count] pointers and their texts;
 * *sorted [*count] orders them.  Refuses empty and repeated names, and a first line of numbers. */
tct_status tct_csv_header(tct_csv *csv, char ***names, int64_t **sorted, int64_t *count, tct_error *err);
void tct_csv_end(tct_csv *csv);
#endif
