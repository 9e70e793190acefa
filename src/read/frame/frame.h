/* frame.h - a table in somebody else's memory, taken over through the Arrow C stream interface. */
#ifndef TCT_READ_FRAME_FRAME_H
#define TCT_READ_FRAME_FRAME_H
#include "read/frame/cell.h"

struct tct_frame {
  struct ArrowSchema schema;
  struct ArrowArray *chunk; /* [chunks], each with all columns */
  int64_t chunks, room;
  int64_t rows;
  const char **names; /* [columns], borrowed from the schema */
  int64_t *sorted;    /* [columns] by name */
};

/* The column of that name, or -1. */
int64_t tct_frame_find(const tct_frame *frame, const char *name);
static inline const struct ArrowSchema *tct_frame_column(const tct_frame *frame, int64_t column) {
  return frame->schema.children[column];
}
/* One column of one chunk; an error names the column. */
tct_status tct_frame_bind(const tct_frame *frame, int64_t chunk, int64_t column, bool date, tct_strip *strip,
                          tct_error *err);
/* An error about a value: names the column, counts records from 1. */
tct_status tct_frame_fault(const tct_frame *frame, int64_t column, int64_t record, const char *why, tct_error *err);
/* As tct_data_read_frame of one process, but of a frame that may have no records. */
tct_data *tct_frame_read(const tct_frame *frame, const tct_read_options *options, tct_error *err);
#endif
