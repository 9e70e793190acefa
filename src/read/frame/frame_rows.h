/* frame_rows.h - records of a frame to features and labels, by the schema. */
#ifndef TCT_READ_FRAME_FRAME_ROWS_H
#define TCT_READ_FRAME_FRAME_ROWS_H
#include "read/frame/frame.h"
#include "read/schema/encode.h"

/* A short text of a column and what was found for it: texts of a length with the same head and tail are one text. */
typedef struct tct_recent {
  uint64_t head, tail;
  int64_t length; /* 0 = nothing is kept here */
  int32_t found;
} tct_recent;

/* What encodes the records of one frame. */
typedef struct tct_rows {
  const tct_frame *frame;
  tct_encoder encoder; /* its fields are the frame's columns */
  tct_strip *strip;    /* [columns of the schema, label, event, those beside], of the current chunk */
  int32_t **known;     /* [as strip] of each value of a short dictionary what was found for it, 0 = not looked up yet */
  tct_recent **recent; /* [columns of the schema] the last short texts by their hash; NULL: no column of texts */
  double *word;        /* [words] those of the schema's words for a missing value that are numbers */
  int64_t words;
  double **listed; /* [columns of the schema] a category's values as numbers, NAN = none; NULL until needed */
} tct_rows;

/* rows->encoder is made, over the frame's columns. */
tct_status tct_rows_make(tct_rows *rows, const tct_frame *frame, tct_error *err);
tct_status tct_rows_bind(tct_rows *rows, int64_t chunk, tct_error *err);
/* Record `row` of the chunk, into the encoder and *label.  column: of the frame, where something is wrong. */
const char *tct_rows_encode(tct_rows *rows, int64_t row, double *label, int64_t *column);
void tct_rows_free(tct_rows *rows);
#endif
