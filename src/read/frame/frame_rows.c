/* frame_rows.c - records of a frame to features and labels, by the schema.
 *
 * Texts mean what they mean in a file.  A number, a boolean or a missing value has no text of its own here.  It stands
 * for every text that means the same: 3 and 3.0 for "3", true for "true", "True", "TRUE" and "1". */
#include "read/frame/frame_rows.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/spec.h"
#include "read/schema/flags.h"

#define SHORT_DICTIONARY TCT_LIMIT(1 << 16, 3)
#define RECENT_BITS TCT_LIMIT(8, 1) /* of the number of texts that are kept for a column */
enum { RECENT_LONGEST = 16 };       /* bytes of such a text */
/* What is known of a value of a dictionary: KNOWN_FIRST + k is the listed category k, or the label k. */
enum { KNOWN_OTHER = 1, KNOWN_MISSING, KNOWN_FIRST };
enum { BESIDE = 2 }; /* strips after the schema's columns: the label, the event, then the columns beside */

static double number_of(const json_t *text, locale_t c) {
  double value = NAN;
  if (tct_number_parse(json_string_value(text), (int64_t)json_string_length(text), c, &value) != TCT_NUMBER_OK)
    return NAN;
  return value;
}

static double *numbers_of(const json_t *list, int64_t count, locale_t c) {
  double *number = TCT_NEW(double, count);
  for (int64_t k = 0; number && k < count; k++) number[k] = number_of(json_array_get(list, (size_t)k), c);
  return number;
}

tct_status tct_rows_make(tct_rows *rows, const tct_frame *frame, tct_error *err) {
  const tct_schema *schema = rows->encoder.schema;
  rows->frame = frame;
  rows->strip = TCT_NEW(tct_strip, schema->columns + BESIDE + TCT_BESIDES);
  rows->known = TCT_NEW(int32_t *, schema->columns + BESIDE + TCT_BESIDES);
  rows->listed = TCT_NEW(double *, schema->columns);
  rows->recent = TCT_NEW(tct_recent *, schema->columns);
  rows->words = (int64_t)json_array_size(schema->missing);
  rows->word = numbers_of(schema->missing, rows->words, rows->encoder.rule.c);
  bool whole = rows->strip && rows->known && rows->listed && rows->recent && rows->word;
  return whole ? TCT_OK : tct_fail_memory(err);
}

/* What a category of this kind is looked up in: its values as numbers, or the texts that were met last. */
static tct_status make_lookup(tct_rows *rows, int64_t k, tct_error *err) {
  const tct_column *column = &rows->encoder.schema->column[k];
  if (rows->listed[k] || rows->recent[k] || column->kind != TCT_COLUMN_CATEGORY) return TCT_OK;
  if (tct_form_is_text(tct_frame_column(rows->frame, rows->encoder.field[k]))) {
    rows->recent[k] = TCT_NEW(tct_recent, (int64_t)1 << RECENT_BITS);
    return rows->recent[k] ? TCT_OK : tct_fail_memory(err);
  }
  rows->listed[k] = numbers_of(column->values, column->listed, rows->encoder.rule.c);
  return rows->listed[k] ? TCT_OK : tct_fail_memory(err);
}

/* Strip k of a chunk, and room for what will be known of its dictionary. */
static tct_status bind_strip(tct_rows *rows, int64_t chunk, int64_t k, int64_t column, tct_error *err) {
  tct_strip *strip = &rows->strip[k];
  const tct_schema *schema = rows->encoder.schema;
  bool date = k < schema->columns && schema->column[k].kind == TCT_COLUMN_DATE;
  TCT_TRY(tct_frame_bind(rows->frame, chunk, column, date, strip, err));
  tct_free(rows->known[k]);
  rows->known[k] = NULL;
  if (!strip->dictionary || strip->listed.length > SHORT_DICTIONARY) return TCT_OK;
  rows->known[k] = TCT_NEW(int32_t, strip->listed.length);
  return rows->known[k] ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_rows_bind(tct_rows *rows, int64_t chunk, tct_error *err) {
  tct_encoder *e = &rows->encoder;
  const tct_schema *schema = e->schema;
  for (int64_t k = 0; k < schema->columns; k++) {
    if (e->field[k] < 0) continue;
    TCT_TRY(bind_strip(rows, chunk, k, e->field[k], err));
    TCT_TRY(make_lookup(rows, k, err));
  }
  for (int k = 0; k < TCT_BESIDES; k++)
    if (e->beside_field[k] > 0)
      TCT_TRY(bind_strip(rows, chunk, schema->columns + BESIDE + k, e->beside_field[k] - 1, err));
  if (e->label_field < 0) return TCT_OK;
  if (e->event_field > 0) TCT_TRY(bind_strip(rows, chunk, schema->columns + 1, e->event_field - 1, err));
  return bind_strip(rows, chunk, schema->columns, e->label_field, err);
}

/* The first number of the list that equals the value, or -1. */
static int32_t same_number(const double *list, int64_t count, double value) {
  for (int64_t k = 0; k < count; k++) {
    if (list[k] == value) return (int32_t)k;
  }
  return -1;
}

static bool is_missing_number(const tct_rows *rows, const tct_cell *cell) {
  return cell->kind == TCT_CELL_MISSING || same_number(rows->word, rows->words, cell->number) >= 0;
}

static const char *encode_number(tct_rows *rows, const tct_column *column, const tct_cell *cell) {
  return tct_encode_number(&rows->encoder, column, cell->number, is_missing_number(rows, cell));
}

/* Whole numbers from 2^53 on are compared as texts alone: as doubles two of them could be one. */
static int32_t find_number(const tct_rows *rows, int64_t k, const tct_cell *cell) {
  const tct_column *column = &rows->encoder.schema->column[k];
  char text[TCT_WHOLE_TEXT];
  if (cell->whole) {
    int32_t found = tct_column_find(column, text, tct_cell_digits(cell, text));
    if (found >= 0 || cell->magnitude >= (UINT64_C(1) << 53)) return found;
  }
  return same_number(rows->listed[k], column->listed, cell->number);
}

/* The listed category that a cell is, or KNOWN_OTHER, KNOWN_MISSING. */
static int32_t category_of(tct_rows *rows, int64_t k, const tct_cell *cell) {
  const tct_schema *schema = rows->encoder.schema;
  const tct_column *column = &schema->column[k];
  int32_t found = -1;
  bool missing, text = cell->kind == TCT_CELL_TEXT;
  if (text) found = tct_column_meant(schema, column, cell->at, cell->length, &missing);
  if (cell->kind == TCT_CELL_NUMBER) found = find_number(rows, k, cell);
  if (cell->kind == TCT_CELL_FLAG) found = tct_column_flag(column, cell->number != 0);
  if (found >= 0) return KNOWN_FIRST + found;
  if (!text) missing = is_missing_number(rows, cell);
  return missing ? KNOWN_MISSING : KNOWN_OTHER;
}

/* The text's first and last bytes, up to eight each, with what they have in common. */
static tct_recent ends_of(const char *at, int64_t length) {
  tct_recent made = {.length = length};
  if (length >= 8) {
    memcpy(&made.head, at, 8);
    memcpy(&made.tail, at + length - 8, 8);
  } else {
    memcpy(&made.head, at, (size_t)length);
  }
  return made;
}

/* The same for a text, by way of what was found last: a column has few distinct ones. */
static int32_t category_of_text(tct_rows *rows, int64_t k, const tct_cell *cell) {
  if (cell->length < 1 || cell->length > RECENT_LONGEST) return category_of(rows, k, cell);
  tct_recent made = ends_of(cell->at, cell->length);
  uint64_t hash = (made.head ^ made.tail * 3 ^ (uint64_t)made.length) * UINT64_C(0x9e3779b97f4a7c15);
  tct_recent *kept = &rows->recent[k][hash >> (64 - RECENT_BITS)];
  if (kept->length == made.length && kept->head == made.head && kept->tail == made.tail) return kept->found;
  made.found = category_of(rows, k, cell);
  *kept = made;
  return made.found;
}

/* Where something is kept about the cell's value, or NULL. */
static int32_t *known_of(const tct_rows *rows, int64_t k, int64_t row) {
  int64_t index = rows->known[k] ? tct_strip_index(&rows->strip[k], row) : -1;
  return index < 0 ? NULL : &rows->known[k][index];
}

static const char *encode_category(tct_rows *rows, int64_t k, int64_t row) {
  int32_t *known = known_of(rows, k, row), found = known ? *known : 0;
  if (found == 0) {
    tct_cell cell = {0};
    const char *why = tct_strip_read(&rows->strip[k], row, &cell);
    if (why) return why;
    found = cell.kind == TCT_CELL_TEXT ? category_of_text(rows, k, &cell) : category_of(rows, k, &cell);
    if (known) *known = found;
  }
  return tct_encode_listed(&rows->encoder, &rows->encoder.schema->column[k], found - KNOWN_FIRST,
                           found == KNOWN_MISSING);
}

/* A cell of a column without a list: the text that a file would hold. */
static const char *encode_word(tct_rows *rows, const tct_column *column, const tct_cell *cell) {
  char text[TCT_WHOLE_TEXT + 16];
  if (cell->kind == TCT_CELL_TEXT) return tct_encode_text(&rows->encoder, column, cell->at, cell->length);
  if (cell->kind == TCT_CELL_FLAG) {
    const char *word = tct_flag_words[cell->number != 0][0];
    return tct_encode_text(&rows->encoder, column, word, (int64_t)strlen(word));
  }
  if (is_missing_number(rows, cell)) return tct_encode_listed(&rows->encoder, column, -1, true);
  if (cell->whole)
    tct_cell_digits(cell, text);
  else
    tct_print_real(cell->number, text, sizeof text);
  return tct_encode_text(&rows->encoder, column, text, (int64_t)strlen(text));
}

static const char *encode_cell(tct_rows *rows, int64_t k, int64_t row) {
  const tct_column *column = &rows->encoder.schema->column[k];
  tct_cell cell = {0};
  if (column->kind == TCT_COLUMN_CATEGORY && !column->open) return encode_category(rows, k, row);
  const char *why = tct_strip_read(&rows->strip[k], row, &cell);
  if (why) return why;
  if (column->open) return encode_word(rows, column, &cell);
  if (cell.kind == TCT_CELL_TEXT) return tct_encode_text(&rows->encoder, column, cell.at, cell.length);
  bool date = cell.kind == TCT_CELL_DATE || cell.kind == TCT_CELL_MISSING;
  if (column->kind == TCT_COLUMN_DATE)
    return date
               ? tct_encode_number(&rows->encoder, column, cell.number, cell.kind == TCT_CELL_MISSING)
               : "a number stands where a date is wanted; give the column a type of dates, or texts such as 2024-01-31";
  return encode_number(rows, column, &cell);
}

/* A listed label that is the same number stands for it. */
static const char *number_label(const tct_label_rule *rule, double value, double *label) {
  const json_t *list = rule->schema->label_values;
  if (rule->kind != TCT_LABELS_BINARY || !list) return tct_label_number(rule, value, label);
  for (size_t k = 0; k < json_array_size(list); k++) {
    const json_t *text = json_array_get(list, k);
    if (number_of(text, rule->c) == value)
      return tct_label_text(rule, json_string_value(text), (int64_t)json_string_length(text), label);
  }
  return "the label is not among the schema's values; correct it or list it under \"label\"";
}

static const char *read_label(tct_rows *rows, int64_t row, double *label) {
  const tct_label_rule *rule = &rows->encoder.rule;
  tct_cell cell = {0};
  const char *why = tct_strip_read(&rows->strip[rows->encoder.schema->columns], row, &cell);
  if (why) return why;
  if (cell.kind == TCT_CELL_TEXT) return tct_label_text(rule, cell.at, cell.length, label);
  if (cell.kind == TCT_CELL_MISSING || (cell.kind == TCT_CELL_NUMBER && is_missing_number(rows, &cell)))
    return "the label is missing; complete the record or remove it";
  if (cell.kind == TCT_CELL_FLAG && rule->kind != TCT_LABELS_REAL) return tct_label_flag(rule, cell.number != 0, label);
  return number_label(rule, cell.number, label);
}

static const char *read_event(tct_rows *rows, int64_t row, int *event) {
  tct_cell cell = {0};
  const char *why = tct_strip_read(&rows->strip[rows->encoder.schema->columns + 1], row, &cell);
  if (why) return why;
  if (cell.kind == TCT_CELL_TEXT) return tct_label_event(&rows->encoder.rule, cell.at, cell.length, event);
  if (cell.kind == TCT_CELL_MISSING || (cell.kind == TCT_CELL_NUMBER && is_missing_number(rows, &cell)))
    return "the event is missing; complete the record or remove it";
  return tct_label_event_number(cell.number, event);
}

static const char *read_beside(tct_rows *rows, int64_t row, tct_beside which) {
  tct_encoder *e = &rows->encoder;
  tct_cell cell = {0};
  const char *why = tct_strip_read(&rows->strip[e->schema->columns + BESIDE + which], row, &cell);
  if (why) return why;
  if (cell.kind == TCT_CELL_TEXT) return tct_encode_beside_text(e, which, cell.at, cell.length);
  return tct_encode_beside(e, which, cell.number, is_missing_number(rows, &cell));
}

static const char *encode_label(tct_rows *rows, int64_t row, double *label) {
  bool classes = rows->encoder.rule.kind != TCT_LABELS_REAL;
  int32_t *known = classes ? known_of(rows, rows->encoder.schema->columns, row) : NULL;
  if (known && *known) {
    *label = *known - KNOWN_FIRST;
    return NULL;
  }
  const char *why = read_label(rows, row, label);
  if (known && !why) *known = KNOWN_FIRST + (int32_t)*label;
  return why;
}

const char *tct_rows_encode(tct_rows *rows, int64_t row, double *label, int64_t *column) {
  tct_encoder *e = &rows->encoder;
  tct_encode_begin(e);
  for (int64_t k = 0; k < e->schema->columns; k++) {
    if (e->field[k] < 0) continue;
    const char *why = encode_cell(rows, k, row);
    *column = e->field[k];
    if (why) return why;
  }
  tct_encode_end(e);
  for (int k = 0; k < TCT_BESIDES; k++) {
    const char *wrong = e->beside_field[k] > 0 ? read_beside(rows, row, k) : NULL;
    *column = e->beside_field[k] - 1;
    if (wrong) return wrong;
  }
  *column = e->label_field;
  const char *why = e->label_field >= 0 ? encode_label(rows, row, label) : NULL;
  if (why || e->label_field < 0 || e->event_field == 0) return why;
  int event = 0;
  *column = e->event_field - 1;
  why = read_event(rows, row, &event);
  return why ? why : tct_label_follow_up(&e->rule, event, label);
}

void tct_rows_free(tct_rows *rows) {
  int64_t columns = rows->encoder.schema ? rows->encoder.schema->columns : 0;
  tct_encoder_free(&rows->encoder);
  for (int64_t k = 0; rows->listed && k < columns; k++) tct_free(rows->listed[k]);
  for (int64_t k = 0; rows->recent && k < columns; k++)
    tct_wipe_free(rows->recent[k], 1 << RECENT_BITS, sizeof **rows->recent);
  tct_free(rows->recent);
  for (int64_t k = 0; rows->known && k < columns + BESIDE + TCT_BESIDES; k++) tct_free(rows->known[k]);
  tct_free(rows->known);
  tct_free(rows->listed);
  tct_free(rows->strip);
  tct_free(rows->word);
  memset(rows, 0, sizeof *rows);
}
