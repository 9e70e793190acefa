/* arrow.h - the three structures of the Arrow C data interface, as published.
 *
 * https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html fix this layout for ever. */
#ifndef TCT_READ_FRAME_ARROW_H
#define TCT_READ_FRAME_ARROW_H
#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
struct ArrowSchema {
  const char *format; /* the type, e.g. "g" for doubles, "+s" for a table */
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary; /* of its values, or NULL */
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count; /* -1: not counted */
  int64_t offset;     /* of the first value, in values */
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers; /* [n_buffers], the first of them bits of validity or NULL */
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *); /* NULL: released */
  void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *); /* a released array: the end */
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif
#endif
