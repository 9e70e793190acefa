/* codes.c - one column of a frame by itself: as numbers, or as numbers of its distinct values.
 *
 * A value's key is its kind and its bytes; whole numbers go by their digits, so that 3 and 3.0 are one value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/alloc.h"
#include "read/frame/frame.h"

/* Distinct values so far: an open hash table over keys that lie one after the other in `bytes`. */
typedef struct distinct {
  int64_t *slot; /* [mask + 1] number of the value + 1, 0 = free */
  uint64_t mask;
  int64_t *at; /* [count + 1] where each key begins in bytes */
  uint64_t *hash;
  int64_t count, room;
  char *bytes;
  int64_t space;
  json_t *values; /* NULL = not wanted */
} distinct;

enum { FIRST_ROOM = 64, FIRST_SPACE = 4096 };

/* FNV-1a, 64 bit (Fowler, Noll, Vo). */
static uint64_t hash_of(const char *key, int64_t length) {
  uint64_t h = 14695981039346656037u;
  for (int64_t k = 0; k < length; k++) h = (h ^ (unsigned char)key[k]) * 1099511628211u;
  return h ^ h >> 29;
}

static bool grow(distinct *d) {
  int64_t room = d->room ? 2 * d->room : FIRST_ROOM;
  int64_t *at = tct_grow(d->at, d->room ? d->room + 1 : 0, room + 1, sizeof *at);
  if (at) d->at = at;
  uint64_t *hash = tct_grow(d->hash, d->room, room, sizeof *hash);
  if (hash) d->hash = hash;
  int64_t *slot = TCT_NEW(int64_t, 2 * room);
  if (!at || !hash || !slot) {
    tct_free(slot);
    return false;
  }
  tct_free(d->slot);
  d->slot = slot;
  d->mask = 2 * (uint64_t)room - 1;
  d->room = room;
  for (int64_t k = 0; k < d->count; k++) {
    uint64_t place = d->hash[k] & d->mask;
    while (slot[place] != 0) place = (place + 1) & d->mask;
    slot[place] = k + 1;
  }
  return true;
}

static bool keep(distinct *d, const char *key, int64_t length) {
  int64_t used = d->at[d->count];
  if (d->space - used < length) {
    int64_t space = d->space ? d->space : FIRST_SPACE;
    while (space - used < length) space *= 2;
    char *bytes = tct_grow(d->bytes, d->space, space, 1);
    if (!bytes) return false;
    d->bytes = bytes;
    d->space = space;
  }
  if (length > 0) memcpy(d->bytes + used, key, (size_t)length);
  d->at[d->count + 1] = used + length;
  return true;
}

/* A cell as JSON; NULL: out of memory, or a text that is not UTF-8. */
static json_t *json_of(const tct_cell *cell) {
  if (cell->kind == TCT_CELL_TEXT) return json_stringn(cell->at, (size_t)cell->length);
  if (cell->kind == TCT_CELL_FLAG) return json_boolean(cell->number != 0);
  if (cell->whole && cell->magnitude <= INT64_MAX)
    return json_integer(cell->negative ? -(json_int_t)cell->magnitude : (json_int_t)cell->magnitude);
  return json_real(cell->number); /* NULL for what is not finite */
}

/* The number of a value; -1: out of memory, -2: it cannot be shown as a text. */
static int64_t number_of(distinct *d, const char *key, int64_t length, const tct_cell *cell) {
  if (d->count == d->room && !grow(d)) return -1;
  uint64_t hash = hash_of(key, length), place = hash & d->mask;
  for (; d->slot[place] != 0; place = (place + 1) & d->mask) {
    int64_t k = d->slot[place] - 1;
    if (d->hash[k] == hash && d->at[k + 1] - d->at[k] == length &&
        (length == 0 || memcmp(d->bytes + d->at[k], key, (size_t)length) == 0))
      return k;
  }
  if (!keep(d, key, length)) return -1;
  if (d->values && json_array_append_new(d->values, json_of(cell)) != 0) return -2;
  d->hash[d->count] = hash;
  d->slot[place] = d->count + 1;
  return d->count++;
}

/* The key of a cell: a letter for its kind, then its bytes.  scratch holds the short ones. */
static int64_t code_of(distinct *d, const tct_cell *cell, char scratch[1 + TCT_WHOLE_TEXT]) {
  if (cell->kind == TCT_CELL_TEXT) return number_of(d, cell->at, cell->length, cell);
  int64_t length = 1 + (int64_t)sizeof cell->number;
  scratch[0] = cell->kind == TCT_CELL_FLAG ? 'b' : cell->whole ? 'w' : 'r';
  if (cell->kind == TCT_CELL_NUMBER && cell->whole)
    length = 1 + tct_cell_digits(cell, scratch + 1);
  else
    memcpy(scratch + 1, &cell->number, sizeof cell->number);
  return number_of(d, scratch, length, cell);
}

static tct_status code_chunk(const tct_frame *frame, int64_t chunk, int64_t column, distinct *d, int64_t *code,
                             tct_error *err) {
  tct_strip strip;
  char scratch[1 + TCT_WHOLE_TEXT];
  TCT_TRY(tct_frame_bind(frame, chunk, column, &strip, err));
  for (int64_t i = 0; i < frame->chunk[chunk].length; i++) {
    tct_cell cell = {0};
    const char *why = tct_strip_read(&strip, i, &cell);
    if (why) return tct_frame_fault(frame, column, i + 1, why, err);
    code[i] = cell.kind == TCT_CELL_MISSING ? -1 : code_of(d, &cell, scratch);
    if (cell.kind == TCT_CELL_MISSING || code[i] >= 0) continue;
    if (code[i] == -1) return tct_fail_memory(err);
    return tct_frame_fault(frame, column, i + 1, "the value is an infinite number or not UTF-8; correct it", err);
  }
  return TCT_OK;
}

static tct_status find(const tct_frame *frame, const char *name, int64_t *column, tct_error *err) {
  *column = frame && name ? tct_frame_find(frame, name) : -1;
  if (*column >= 0) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the frame has no column \"%.200s\"; name a column as the frame does",
                  name ? name : "");
}

static tct_status code_all(const tct_frame *frame, int64_t column, distinct *d, int64_t *code, char **values,
                           tct_error *err) {
  for (int64_t chunk = 0, row = 0; chunk < frame->chunks; chunk++) {
    TCT_TRY(code_chunk(frame, chunk, column, d, code + row, err));
    row += frame->chunk[chunk].length;
  }
  if (!values) return TCT_OK;
  char *text = json_dumps(d->values, JSON_COMPACT | JSON_REAL_PRECISION(17));
  *values = tct_text_copy(text);
  free(text);
  return *values ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_frame_codes(const tct_frame *frame, const char *name, int64_t *code, char **values, tct_error *err) {
  distinct d = {0};
  int64_t column;
  tct_error_clear(err);
  TCT_TRY(find(frame, name, &column, err));
  if (values) {
    *values = NULL;
    d.values = json_array();
    if (!d.values) return tct_fail_memory(err);
  }
  tct_status status = code_all(frame, column, &d, code, values, err);
  tct_free(d.slot);
  tct_free(d.at);
  tct_free(d.hash);
  tct_wipe_free(d.bytes, d.space, 1);
  json_decref(d.values);
  return status;
}

tct_status tct_frame_numbers(const tct_frame *frame, const char *name, double *out, tct_error *err) {
  int64_t column;
  tct_error_clear(err);
  TCT_TRY(find(frame, name, &column, err));
  for (int64_t chunk = 0, row = 0; chunk < frame->chunks; chunk++) {
    tct_strip strip;
    TCT_TRY(tct_frame_bind(frame, chunk, column, &strip, err));
    if (tct_form_is_text(tct_frame_column(frame, column)))
      return tct_fail(err, TCT_E_DATA, "column \"%.200s\" holds texts; give a schema that describes it, or drop it",
                      name);
    for (int64_t i = 0; i < frame->chunk[chunk].length; i++, row++) {
      tct_cell cell = {0};
      const char *why = tct_strip_read(&strip, i, &cell);
      if (why) return tct_frame_fault(frame, column, row + 1, why, err);
      out[row] = cell.kind == TCT_CELL_MISSING ? NAN : cell.number;
    }
  }
  return TCT_OK;
}
