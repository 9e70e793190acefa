/* frame.c - takes a table over from an Arrow stream, and gives it back whole.
 *
 * Whatever was handed out by the stream is held in the frame from the moment it came.  So one function, tct_frame_free,
 * releases it on every path. */
#include "read/frame/frame.h"

#include <string.h>

#include "core/alloc.h"
#include "read/table/names.h"

void tct_frame_free(tct_frame *frame) {
  if (!frame) return;
  for (int64_t k = 0; k < frame->chunks; k++) {
    if (frame->chunk[k].release) frame->chunk[k].release(&frame->chunk[k]);
  }
  if (frame->schema.release) frame->schema.release(&frame->schema);
  tct_free(frame->chunk);
  tct_free(frame->names);
  tct_free(frame->sorted);
  tct_free(frame);
}

static tct_status sort_names(tct_frame *frame, tct_error *err) {
  int64_t count = frame->schema.n_children, repeated;
  frame->names = TCT_NEW(const char *, count);
  frame->sorted = TCT_NEW(int64_t, count);
  if (!frame->names || !frame->sorted) return tct_fail_memory(err);
  for (int64_t j = 0; j < count; j++) frame->names[j] = tct_frame_name(frame, j);
  TCT_TRY(tct_names_sort(frame->names, count, frame->sorted, &repeated, err));
  if (repeated < 0) return TCT_OK;
  return tct_fail(err, TCT_E_DATA,
                  "column %lld of the frame has the name of another one; give every column a name of its own",
                  (long long)repeated + 1);
}

static tct_status take_schema(tct_frame *frame, struct ArrowArrayStream *stream, tct_error *err) {
  struct ArrowSchema *schema = &frame->schema;
  if (stream->get_schema(stream, schema) != 0) {
    memset(schema, 0, sizeof *schema); /* what a failed call leaves there is nothing of ours */
    return tct_fail(err, TCT_E_DATA, "the frame gives no list of its columns; make the frame again");
  }
  if (!schema->release || !schema->format || strcmp(schema->format, "+s") != 0) {
    return tct_fail(err, TCT_E_DATA, "this is a single column and no frame; give a frame of named columns");
  }
  if (schema->n_children <= 0 || !schema->children)
    return tct_fail(err, TCT_E_DATA, "the frame has no column; give one with the columns that the model is to use");
  return sort_names(frame, err);
}

/* Whether a record is missing as a whole, which no table of columns has. */
static bool has_gaps(const struct ArrowArray *chunk) {
  const unsigned char *bits = chunk->buffers && chunk->n_buffers > 0 ? chunk->buffers[0] : NULL;
  if (!bits || chunk->null_count == 0) return false;
  for (int64_t k = chunk->offset; k < chunk->offset + chunk->length; k++) {
    if (!(bits[k >> 3] >> (k & 7) & 1)) return true;
  }
  return false;
}

static tct_status check_chunk(const tct_frame *frame, const struct ArrowArray *chunk, tct_error *err) {
  bool whole = chunk->n_children == frame->schema.n_children && chunk->children && chunk->length >= 0 &&
               chunk->offset >= 0 && chunk->length <= INT32_MAX * (int64_t)INT32_MAX - frame->rows;
  for (int64_t j = 0; whole && j < chunk->n_children; j++) whole = chunk->children[j] != NULL;
  if (!whole) return tct_fail(err, TCT_E_DATA, "the frame's memory contradicts itself; make the frame again");
  if (has_gaps(chunk))
    return tct_fail(err, TCT_E_DATA, "a record of the frame is missing as a whole; drop such records");
  return TCT_OK;
}

/* *more = false at the end of the stream. */
static tct_status take_chunk(tct_frame *frame, struct ArrowArrayStream *stream, bool *more, tct_error *err) {
  if (frame->chunks == frame->room) {
    int64_t room = frame->room ? 2 * frame->room : 8;
    struct ArrowArray *grown = tct_grow(frame->chunk, frame->room, room, sizeof *grown);
    if (!grown) return tct_fail_memory(err);
    frame->chunk = grown;
    frame->room = room;
  }
  struct ArrowArray *chunk = &frame->chunk[frame->chunks];
  if (stream->get_next(stream, chunk) != 0) {
    memset(chunk, 0, sizeof *chunk);
    return tct_fail(err, TCT_E_DATA, "the frame broke off before its end; make the frame again");
  }
  *more = chunk->release != NULL;
  if (!*more) return TCT_OK;
  frame->chunks++;
  TCT_TRY(check_chunk(frame, chunk, err));
  frame->rows += chunk->length;
  return TCT_OK;
}

static tct_status take_all(tct_frame *frame, struct ArrowArrayStream *stream, tct_error *err) {
  bool more = true;
  TCT_TRY(take_schema(frame, stream, err));
  while (more) TCT_TRY(take_chunk(frame, stream, &more, err));
  return TCT_OK;
}

tct_frame *tct_frame_take(struct ArrowArrayStream *stream, tct_error *err) {
  tct_error_clear(err);
  if (!stream || !stream->release) {
    tct_fail(err, TCT_E_USAGE, "there is no stream, or it was used before; make a new one of the frame");
    return NULL;
  }
  tct_frame *frame = TCT_NEW(tct_frame, 1);
  tct_status status = frame ? take_all(frame, stream, err) : tct_fail_memory(err);
  stream->release(stream);
  if (status == TCT_OK) return frame;
  tct_frame_free(frame);
  return NULL;
}

void tct_frame_shape(const tct_frame *frame, int64_t *rows, int64_t *cols) {
  *rows = frame->rows, *cols = frame->schema.n_children;
}

const char *tct_frame_name(const tct_frame *frame, int64_t column) {
  if (column < 0 || column >= frame->schema.n_children) return NULL;
  const struct ArrowSchema *child = frame->schema.children[column];
  return child && child->name ? child->name : "";
}

int64_t tct_frame_find(const tct_frame *frame, const char *name) {
  return tct_names_find(frame->names, frame->sorted, frame->schema.n_children, name);
}

tct_status tct_frame_bind(const tct_frame *frame, int64_t chunk, int64_t column, bool date, tct_strip *strip,
                          tct_error *err) {
  const struct ArrowSchema *type = tct_frame_column(frame, column);
  const struct ArrowArray *whole = &frame->chunk[chunk];
  const char *name = tct_frame_name(frame, column), *why;
  if (!type || !tct_form_is_known(type, date)) {
    return tct_fail(err, TCT_E_DATA,
                    "column \"%.200s\" holds neither numbers, booleans nor texts; cast it to one of these, or drop it",
                    name);
  }
  why = tct_strip_bind(strip, type, whole->children[column], whole->offset, whole->length);
  return why ? tct_fail(err, TCT_E_DATA, "column \"%.200s\": %s", name, why) : TCT_OK;
}

tct_status tct_frame_fault(const tct_frame *frame, int64_t column, int64_t record, const char *why, tct_error *err) {
  return tct_fail(err, TCT_E_DATA, "column \"%.200s\", record %lld: {%s}", tct_frame_name(frame, column),
                  (long long)record, why);
}
