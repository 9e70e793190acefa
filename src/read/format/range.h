/* range.h - a file shared out by records: where each record of an uncompressed file starts, found without parsing it.
 *
 * Text is cut at line ends, which are record ends unless they lie within a quoted field of a CSV file that may have
 * such.  Whether a part of the file begins within quotes is known once all parts before it have been looked at, so a
 * part is counted under both assumptions.  A count is a claim that holds for well-formed files (empty lines and
 * comments are no records); who uses it compares it with the records that were read. */
#ifndef TCT_READ_FORMAT_RANGE_H
#define TCT_READ_FORMAT_RANGE_H
#include "core/status.h"

/* A part of the records: bytes of a text, whole records; for NPY, record numbers. */
typedef struct tct_range {
  int64_t from, to;
  int64_t header; /* bytes before the first record of the file */
} tct_range;

/* What a part of a text looks like, if it begins outside and if it begins within quotes. */
typedef struct tct_scan_side {
  int64_t records;      /* that end here */
  bool inside;          /* does it end within quotes? */
  int64_t *count;       /* record ends before each step of the part */
  unsigned char *place; /* and where in a record that is */
} tct_scan_side;

typedef struct tct_scan {
  const char *name;
  int file;
  bool array, csv;  /* NPY; CSV */
  char delimiter;   /* CSV whose quoted fields may hold line ends; else 0 */
  int64_t rows;     /* NPY: all records */
  int64_t begin;    /* of the first record, in bytes */
  int64_t size;     /* of the file */
  int64_t from, to; /* this part, in bytes, from line end to line end */
  tct_scan_side side[2];
} tct_scan;

/* Looks at part number `part` of `parts`.  TCT_E_USAGE where a file cannot be shared out. */
tct_status tct_scan_open(tct_scan *scan, const char *path, const tct_read_options *options, int part, int parts,
                         tct_error *err);
/* The byte behind the k-th record end of this part (1..records). */
tct_status tct_scan_find(const tct_scan *scan, bool inside, int64_t k, int64_t *at, tct_error *err);
void tct_scan_close(tct_scan *scan);

/* The caller's options, of whatever size.  TCT_E_USAGE: see core/sized.h. */
tct_status tct_read_options_take(const tct_read_options *given, tct_read_options *own, tct_error *err);
/* The same, and every option within its range. */
tct_status tct_read_options_checked(const tct_read_options *given, tct_read_options *own, tct_error *err);
/* The character that the options name as delimiter; 0: none, or no usable one. */
char tct_read_delimiter(const tct_read_options *options);
/* One file as tct_data_read_parts has it, for the records of the range alone; it may be empty. */
tct_data *tct_data_read_range(const char *path, const tct_range *range, const tct_read_options *options,
                              tct_error *err);
#endif
