/* frame_help.h - data frames for tests, handed over through the Arrow C stream interface, with a count of what lives.
 */
#ifndef TCT_FRAME_HELP_H
#define TCT_FRAME_HELP_H
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "read/frame/arrow.h"

enum { FRAME_BUFFERS = 5 };

typedef struct column {
  const char *format, *name;
  const void *buffer[FRAME_BUFFERS];
  int64_t buffers, length, offset, nulls;
  const struct column *dictionary;
} column;

/* What a stream hands out: `chunks` pieces of `rows` records, cut from the same buffers. */
typedef struct source {
  const column *column;
  int64_t columns, rows, chunks;
  const char *format;           /* of the whole; NULL: "+s" */
  int schema_fails, next_fails; /* 1: the schema; k > 0: the k-th piece */
  int64_t lost;                 /* children that a piece lacks */
  int64_t given;                /* pieces so far */
  int live;                     /* structures that nobody has released */
} source;

static inline void release_schema(struct ArrowSchema *schema) {
  for (int64_t j = 0; j < schema->n_children; j++) {
    free(schema->children[j]->dictionary);
    free(schema->children[j]);
  }
  free(schema->children);
  --*(int *)schema->private_data;
  schema->release = NULL;
}

static inline struct ArrowSchema *make_type(const column *c) {
  struct ArrowSchema *type = calloc(1, sizeof *type);
  type->format = c->format;
  type->name = c->name;
  if (c->dictionary) type->dictionary = make_type(c->dictionary);
  return type;
}

static inline int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  source *s = stream->private_data;
  memset(out, s->schema_fails ? 0x55 : 0, sizeof *out); /* a failed call may leave anything */
  if (s->schema_fails) return 5;
  out->format = s->format ? s->format : "+s";
  out->n_children = s->columns;
  out->children = calloc((size_t)s->columns + 1, sizeof *out->children);
  for (int64_t j = 0; j < s->columns; j++) out->children[j] = make_type(&s->column[j]);
  out->private_data = &s->live;
  out->release = release_schema;
  s->live++;
  return 0;
}

static inline void free_array(struct ArrowArray *array) {
  if (!array) return;
  free_array(array->dictionary);
  free(array->buffers);
  free(array);
}

static inline void release_array(struct ArrowArray *array) {
  for (int64_t j = 0; j < array->n_children; j++) free_array(array->children[j]);
  free(array->children);
  --*(int *)array->private_data;
  array->release = NULL;
}

static inline struct ArrowArray *make_array(const column *c, int64_t skip, int64_t length) {
  struct ArrowArray *array = calloc(1, sizeof *array);
  array->buffers = calloc(FRAME_BUFFERS, sizeof *array->buffers);
  memcpy(array->buffers, c->buffer, sizeof c->buffer);
  array->n_buffers = c->buffers;
  array->length = length;
  array->offset = c->offset + skip;
  array->null_count = c->nulls;
  if (c->dictionary) array->dictionary = make_array(c->dictionary, 0, c->dictionary->length);
  return array;
}

static inline int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  source *s = stream->private_data;
  memset(out, 0, sizeof *out);
  if (s->given == s->chunks) return 0;
  if (++s->given == s->next_fails) {
    memset(out, 0x55, sizeof *out);
    return 5;
  }
  out->length = s->rows;
  out->n_children = s->columns - s->lost;
  out->children = calloc((size_t)s->columns + 1, sizeof *out->children);
  for (int64_t j = 0; j < out->n_children; j++)
    out->children[j] = make_array(&s->column[j], (s->given - 1) * s->rows, s->rows);
  out->private_data = &s->live;
  out->release = release_array;
  s->live++;
  return 0;
}

static inline void release_stream(struct ArrowArrayStream *stream) {
  --((source *)stream->private_data)->live;
  stream->release = NULL;
}

/* The stream borrows the source. */
static inline struct ArrowArrayStream stream_of(source *s) {
  s->given = 0;
  s->live++;
  return (struct ArrowArrayStream){give_schema, give_next, NULL, release_stream, s};
}
#endif
