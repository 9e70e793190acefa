/* cell.h - one value of a column in Arrow's memory. */
#ifndef TCT_READ_FRAME_CELL_H
#define TCT_READ_FRAME_CELL_H

#include "core/status.h"
#include "read/frame/arrow.h"

/* What a column's memory holds.  TCT_FORM_OTHER is what no schema describes: lists, times of a zone, ... */
typedef enum tct_form {
  TCT_FORM_OTHER,
  TCT_FORM_NULLS,
  TCT_FORM_FLAG,
  TCT_FORM_I8,
  TCT_FORM_U8,
  TCT_FORM_I16,
  TCT_FORM_U16,
  TCT_FORM_I32,
  TCT_FORM_U32,
  TCT_FORM_I64,
  TCT_FORM_U64,
  TCT_FORM_F16,
  TCT_FORM_F32,
  TCT_FORM_F64,
  TCT_FORM_DAYS,       /* since 1970, 32 bits */
  TCT_FORM_STAMP,      /* 64 bits, of a part of a second, without a zone */
  TCT_FORM_TEXT,       /* offsets of 32 bits */
  TCT_FORM_LARGE_TEXT, /* offsets of 64 bits */
  TCT_FORM_VIEW,       /* texts as views of 16 bytes */
} tct_form;

bool tct_form_is_text(const struct ArrowSchema *schema); /* of a dictionary: of its values */
/* Whether cells of the column can be read at all, where a date is wanted and where none is. */
bool tct_form_is_known(const struct ArrowSchema *schema, bool date);

/* One column of one chunk, its buffers borrowed. */
typedef struct tct_cells {
  tct_form form;
  int64_t first, length;      /* the chunk's first value in the buffers, and how many there are */
  const unsigned char *valid; /* bits, or NULL: all are there */
  const struct ArrowArray *array;
  const unsigned char *values; /* NULL: none */
  int64_t per_day;             /* of a date: what its unit counts in a day */
} tct_cells;

/* A column of a chunk and, for a dictionary, its values. */
typedef struct tct_strip {
  tct_cells own, listed;
  bool dictionary;
} tct_strip;

typedef enum tct_cell_kind {
  TCT_CELL_MISSING,
  TCT_CELL_TEXT,
  TCT_CELL_NUMBER,
  TCT_CELL_FLAG,
  TCT_CELL_DATE
} tct_cell_kind;

typedef struct tct_cell {
  tct_cell_kind kind;
  double number; /* number; of a flag 0 or 1; of a date whole days since 1970 */
  bool whole;    /* the number is -magnitude or magnitude, exactly */
  bool negative;
  uint64_t magnitude;
  const char *at; /* text, borrowed */
  int64_t length;
} tct_cell;

/* skip: values that the chunk leaves out at the beginning; rows: how many it has.  Returns NULL, or what is wrong. */
const char *tct_strip_bind(tct_strip *strip, const struct ArrowSchema *schema, const struct ArrowArray *array,
                           int64_t skip, int64_t rows);
/* Where value `row` stands in the dictionary; -1: it is missing, or there is no dictionary, or the index is wrong. */
int64_t tct_strip_index(const tct_strip *strip, int64_t row);
/* Value `row` of the strip.  Returns NULL, or what is wrong (static text). */
const char *tct_strip_read(const tct_strip *strip, int64_t row, tct_cell *cell);
/* A whole number as a decimal text that ends in NUL; returns its length. */
enum { TCT_WHOLE_TEXT = 24 };
int64_t tct_cell_digits(const tct_cell *cell, char text[TCT_WHOLE_TEXT]);
#endif
