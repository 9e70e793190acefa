/* codes.c - one column of a frame by itself: as numbers, or as numbers of its distinct values.
 *
 * A value's key is its kind and its bytes; whole numbers go by their digits, so that 3 and 3.0 are one value. */
#include <math.h>
#include <string.h>

#include "core/json_text.h"
#include "core/alloc.h"
#include "read/frame/frame.h"
#include "read/table/words.h"

/* Distinct values so far. */
typedef struct distinct {
  tct_words *keys;
  json_t *values; /* NULL = not wanted */
} distinct;

/* A cell as JSON; NULL: out of memory, or a text that is not UTF-8. */
static json_t *json_of(const tct_cell *cell) {
  if (cell->kind == TCT_CELL_TEXT) return json_stringn(cell->at, (size_t)cell->length);
  if (cell->kind == TCT_CELL_FLAG) return json_boolean(cell->number != 0);
  if (cell->whole && cell->magnitude <= INT64_MAX)
    return json_integer(cell->negative ? -(json_int_t)cell->magnitude : (json_int_t)cell->magnitude);
  return json_real(cell->number); /* NULL for what is not finite */
}

/* The number of a value; TCT_WORD_NO_MEMORY; TCT_WORD_NONE: it cannot be shown as a text. */
static int64_t number_of(distinct *d, const char *key, int64_t length, const tct_cell *cell) {
  int64_t before = tct_words_count(d->keys), number = tct_words_number(d->keys, 0, key, length);
  if (number < before || !d->values) return number;
  return json_array_append_new(d->values, json_of(cell)) == 0 ? number : TCT_WORD_NONE;
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
  TCT_TRY(tct_frame_bind(frame, chunk, column, false, &strip, err));
  for (int64_t i = 0; i < frame->chunk[chunk].length; i++) {
    tct_cell cell = {0};
    const char *why = tct_strip_read(&strip, i, &cell);
    if (why) return tct_frame_fault(frame, column, i + 1, why, err);
    code[i] = cell.kind == TCT_CELL_MISSING ? -1 : code_of(d, &cell, scratch);
    if (cell.kind == TCT_CELL_MISSING || code[i] >= 0) continue;
    if (code[i] == TCT_WORD_NO_MEMORY) return tct_fail_memory(err);
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
  *values = tct_json_dump(d->values, JSON_COMPACT | JSON_REAL_PRECISION(17));
  return *values ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_frame_codes(const tct_frame *frame, const char *name, int64_t *code, char **values, tct_error *err) {
  distinct d = {0};
  int64_t column;
  tct_error_clear(err);
  TCT_TRY(find(frame, name, &column, err));
  if (values) *values = NULL;
  d.keys = tct_words_new();
  d.values = values ? json_array() : NULL;
  tct_status status = d.keys && (d.values || !values) ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) status = code_all(frame, column, &d, code, values, err);
  tct_words_free(d.keys);
  json_decref(d.values);
  return status;
}

tct_status tct_frame_numbers(const tct_frame *frame, const char *name, double *out, tct_error *err) {
  int64_t column;
  tct_error_clear(err);
  TCT_TRY(find(frame, name, &column, err));
  for (int64_t chunk = 0, row = 0; chunk < frame->chunks; chunk++) {
    tct_strip strip;
    TCT_TRY(tct_frame_bind(frame, chunk, column, false, &strip, err));
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
