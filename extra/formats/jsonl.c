/* jsonl.c - the JSON Lines reader: one flat object a line, columns by their keys.
 *
 * A key that a record lacks is a missing cell, and so is null.  Types are strict: a number column takes numbers, and
 * texts only where they are listed as missing.  A number or a boolean in any other place means its shortest JSON text.
 * Before a line is parsed its commas and brackets are counted, so that it costs no more than the columns allow. */
#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "read/format/reader.h"
#include "read/source/record.h"

#define MOST_NESTED TCT_LIMIT(16, 2)
enum { NUMBER_TEXT = 40, SENTENCE = 512 };

#define FLAT "give one flat object a line, such as {\"age\": 41, \"city\": \"Bonn\"}"

/* All that one read needs. */
typedef struct jsonl_reader {
  tct_encoder encoder;
  json_t *first;               /* the record that names the columns, where no schema does */
  char **names;                /* its keys */
  json_t *known;               /* every key that a record may have */
  const char *label_key, *key; /* borrowed; NULL: none */
  tct_pieces keys;
  int64_t most; /* values of a record */
  int64_t line;
  char why[SENTENCE]; /* what is wrong with the current record */
} jsonl_reader;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* A byte order mark, if there is one, goes. */
static int64_t begin_of(const char *text, int64_t length) {
  return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* `{"` or `{}`: no header of CSV begins so. */
static bool looks(const char *head, int64_t length, locale_t c) {
  int64_t at = begin_of(head, length);
  (void)c;
  while (at < length && is_blank(head[at])) at++;
  if (at == length || head[at++] != '{') return false;
  while (at < length && is_blank(head[at])) at++;
  return at < length && (head[at] == '"' || head[at] == '}');
}

static const char *about(jsonl_reader *r, const char *column, const char *why) {
  if (why == tct_encode_no_memory) return why;
  tct_error said;
  tct_fail(&said, TCT_E_DATA, "column \"%.200s\": {%s}", column, why);
  tct_error_pack(&said, r->why, sizeof r->why);
  return r->why;
}

/* The line as an object; NULL with *why, or with *why NULL where memory ran out. */
static json_t *parse(const jsonl_reader *r, const char *line, int64_t length, const char **why) {
  tct_json_most most = {.containers = MOST_NESTED, .values = r->most};
  tct_error unused = {0};
  json_error_t at;
  *why = "the line nests lists or objects, or has more keys than there may be columns; " FLAT;
  if (tct_json_check("", line, length, &most, &unused) != TCT_OK) return NULL;
  json_t *object = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &at);
  if (!object) {
    *why = json_error_code(&at) == json_error_out_of_memory      ? NULL
           : json_error_code(&at) == json_error_numeric_overflow ? "a number is too large; correct it"
           : json_error_code(&at) == json_error_duplicate_key    ? "a key occurs twice in the record; give it once"
           : json_error_code(&at) == json_error_null_character   ? "a text holds a NUL character; remove it"
           : json_error_code(&at) == json_error_invalid_utf8     ? "the line is not UTF-8 text; save it as UTF-8"
                                                                 : "the line is no valid JSON; " FLAT;
    return NULL;
  }
  *why = "the line is no JSON object; " FLAT;
  if (json_is_object(object)) return object;
  json_decref(object);
  return NULL;
}

/* ---- values ---- */

/* The text that a value stands for; NULL: it is missing, or a list or an object (*bad). */
static const char *text_of(const json_t *value, char number[NUMBER_TEXT], int64_t *length, bool *bad) {
  *bad = json_is_object(value) || json_is_array(value);
  if (!value || json_is_null(value) || *bad) return NULL;
  if (json_is_string(value)) {
    *length = (int64_t)json_string_length(value);
    return json_string_value(value);
  }
  if (json_is_boolean(value)) snprintf(number, NUMBER_TEXT, "%s", json_is_true(value) ? "true" : "false");
  if (json_is_integer(value)) snprintf(number, NUMBER_TEXT, "%lld", (long long)json_integer_value(value));
  for (int digits = 15; json_is_real(value) && digits <= DBL_DECIMAL_DIG; digits++) {
    snprintf(number, NUMBER_TEXT, "%.*g", digits, json_real_value(value));
    if (strtod(number, NULL) == json_real_value(value)) break;
  }
  *length = (int64_t)strlen(number);
  return number;
}

static const char *encode_number(tct_encoder *e, const tct_column *column, const json_t *value, const char *text,
                                 int64_t length) {
  bool missing =
      !text || ((json_is_string(value) || e->schema->missing) && tct_schema_missing(e->schema, text, length));
  if (!missing && !json_is_number(value))
    return json_is_string(value) ? "a text stands where a number is wanted; write the number without quotes, or list "
                                   "the word under \"missing_values\" in a schema"
                                 : "a boolean stands where a number is wanted; describe the column as a category";
  return tct_encode_number(e, column, missing ? 0 : json_number_value(value), missing);
}

static const char *encode_beside(tct_encoder *e, tct_beside which, const json_t *value) {
  bool there = json_is_number(value);
  if (value && !there && !json_is_null(value)) return "no number stands where one is wanted; write it without quotes";
  return tct_encode_beside(e, which, there ? json_number_value(value) : 0, !there);
}

static const char *encode_value(tct_encoder *e, const tct_column *column, const json_t *value) {
  char number[NUMBER_TEXT];
  int64_t length = 0;
  bool bad;
  const char *text = text_of(value, number, &length, &bad);
  if (bad) return "the value is a list or an object; " FLAT;
  if (column->kind == TCT_COLUMN_NUMBER) return encode_number(e, column, value, text, length);
  if (column->kind == TCT_COLUMN_DATE && !text) return tct_encode_number(e, column, 0, true);
  return text ? tct_encode_text(e, column, text, length) : tct_encode_listed(e, column, -1, true);
}

static const char *encode_label(const tct_encoder *e, const json_t *value, double *label) {
  char number[NUMBER_TEXT];
  int64_t length = 0;
  bool bad;
  const char *text = text_of(value, number, &length, &bad);
  if (bad) return "the value is a list or an object; " FLAT;
  if (!text) return "the label is missing; complete the record or remove it";
  if (e->rule.kind == TCT_LABELS_REAL && !json_is_number(value) && !tct_schema_missing(e->schema, text, length))
    return "the label is no number; write it without quotes";
  return tct_label_text(&e->rule, text, length, label);
}

/* ---- records ---- */

/* A key outside the columns stays out of the sentence: it may be somebody's. */
static const char *unknown_key(const jsonl_reader *r, const json_t *record) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)record, key, value) {
    if (!json_object_get(r->known, key))
      return r->first ? "the record has a key that the first record has not; describe the columns in a schema"
                      : "the record has a key that the schema does not describe; describe it, or give it the type "
                        "\"ignore\"";
  }
  return NULL;
}

static tct_status add_key(jsonl_reader *r, const tct_reader *reader, const json_t *record, tct_error *err) {
  char number[NUMBER_TEXT];
  int64_t length = 0;
  bool bad;
  if (!r->key) return TCT_OK;
  const char *text = text_of(json_object_get(record, r->key), number, &length, &bad);
  if (!text || length == 0)
    return tct_fail_at(err, reader->source->name, r->line, 0,
                       "the record has no key, or names no person; give it one, as a text or a number");
  char *to = tct_pieces_reserve(&r->keys, length + 1);
  if (!to) return tct_fail_memory(err);
  memcpy(to, text, (size_t)length + 1);
  return TCT_OK;
}

/* Encodes the record; returns what is wrong, or NULL. */
static const char *encode(jsonl_reader *r, const json_t *record, double *label) {
  tct_encoder *e = &r->encoder;
  const char *why = unknown_key(r, record);
  if (why) return why;
  tct_encode_begin(e);
  for (int64_t k = 0; k < e->schema->columns; k++) {
    const tct_column *column = &e->schema->column[k];
    if (column->kind == TCT_COLUMN_IGNORE) continue;
    why = encode_value(e, column, json_object_get(record, column->name));
    if (why) return about(r, column->name, why);
  }
  tct_encode_end(e);
  for (int k = 0; k < TCT_BESIDES; k++) {
    const char *name = e->schema->beside[k].name;
    why = e->beside_field[k] > 0 ? encode_beside(e, k, json_object_get(record, name)) : NULL;
    if (why) return about(r, name, why);
  }
  if (e->label_field < 0) return NULL;
  why = encode_label(e, json_object_get(record, r->label_key), label);
  return why ? about(r, r->label_key, why) : NULL;
}

static tct_status add_record(jsonl_reader *r, tct_reader *reader, const json_t *record, tct_error *err) {
  double label = 0;
  TCT_TRY(add_key(r, reader, record, err));
  tct_fault fault = {.why = encode(r, record, &label)};
  return tct_reader_add(reader, &r->encoder, r->line, fault, label, err);
}

/* A line that is no object has no key either, and a record without one is nobody's. */
static tct_status bad_line(const jsonl_reader *r, tct_reader *reader, const char *why, tct_error *err) {
  if (!why) return tct_fail_memory(err);
  if (r->key) return tct_fail_at(err, reader->source->name, r->line, 0, "{%s}", why);
  return tct_reader_add(reader, &r->encoder, r->line, (tct_fault){.why = why}, 0, err);
}

static tct_status next_line(jsonl_reader *r, tct_reader *reader, tct_record *line, tct_error *err) {
  TCT_TRY(tct_record_next(reader->source, 0, false, line, err));
  int64_t mark = r->line++ == 0 && line->text && !line->too_long ? begin_of(line->text, line->length) : 0;
  if (mark > 0) line->text += mark, line->length -= mark;
  return TCT_OK;
}

static bool is_empty(const tct_record *line) {
  int64_t length = line->length;
  while (length > 0 && is_blank(line->text[length - 1])) length--;
  return length == 0 && !line->too_long;
}

/* Empty lines are no records wherever they stand. */
static tct_status read_records(jsonl_reader *r, tct_reader *reader, tct_error *err) {
  for (;;) {
    tct_record line;
    const char *why = TCT_TOO_LONG;
    TCT_TRY(next_line(r, reader, &line, err));
    if (!line.text) return TCT_OK;
    if (is_empty(&line)) continue;
    json_t *record = line.too_long ? NULL : parse(r, line.text, line.length, &why);
    tct_status status = record ? add_record(r, reader, record, err) : bad_line(r, reader, why, err);
    json_decref(record);
    if (status != TCT_OK) return status;
  }
}

/* ---- columns ---- */

/* Without a schema the first record's keys are the columns.  Every other record then has them too, or the run is
 * refused; so no single record decides which columns there are. */
static tct_status first_record(jsonl_reader *r, tct_reader *reader, tct_error *err) {
  const char *file = reader->source->name, *why = NULL;
  tct_record line;
  int64_t count = 0;
  if (reader->options->invalid == TCT_INVALID_ZERO)
    return tct_fail(err, TCT_E_USAGE,
                    "without a schema the first record names the columns, so it cannot be a "
                    "malformed one; give {schema} with {invalid_zero}");
  do TCT_TRY(next_line(r, reader, &line, err));
  while (line.text && is_empty(&line));
  if (!line.text) return tct_fail_at(err, file, 0, 0, "the file has no records; give at least one");
  r->first = parse(r, line.text, line.length, &why);
  if (!r->first && !why) return tct_fail_memory(err);
  if (!r->first) return tct_fail_at(err, file, r->line, 0, "{%s}", why);
  r->names = TCT_NEW(char *, (int64_t)json_object_size(r->first) + 1);
  if (!r->names) return tct_fail_memory(err);
  json_t *value;
  const char *key;
  json_object_foreach(r->first, key, value) r->names[count++] = (char *)key;
  r->most = count;
  return TCT_OK;
}

static int64_t find(char *const *names, int64_t count, const char *wanted) {
  for (int64_t j = 0; wanted && j < count; j++)
    if (strcmp(names[j], wanted) == 0) return j;
  return -1;
}

/* The columns of a table without a schema. */
static tct_status plain_schema(jsonl_reader *r, tct_reader *reader, tct_error *err) {
  TCT_TRY(first_record(r, reader, err));
  int64_t count = r->most, label = find(r->names, count, r->label_key), key = find(r->names, count, r->key);
  bool wanted = reader->options->labels != TCT_LABELS_NONE;
  if (label < 0 && wanted)
    return tct_fail_at(err, reader->source->name, r->line, 0,
                       "the first record has no key \"%.200s\" for the label; name the label as the records do",
                       r->label_key);
  if (key < 0 && r->key)
    return tct_fail_at(err, reader->source->name, r->line, 0,
                       "the first record has no key \"%.200s\" for the records' keys or persons; name it as the "
                       "records do",
                       r->key);
  return tct_schema_plain(&reader->schema, r->names, count, label, key, -1, err);
}

static tct_status know(jsonl_reader *r, const char *key, tct_error *err) {
  if (key && json_object_set_new(r->known, key, json_true()) != 0) return tct_fail_memory(err);
  return TCT_OK;
}

static tct_status know_all(jsonl_reader *r, const tct_schema *schema, tct_error *err) {
  r->known = json_object();
  if (!r->known) return tct_fail_memory(err);
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    bool ignored = column->kind == TCT_COLUMN_IGNORE;
    if (!ignored && r->label_key && strcmp(column->name, r->label_key) == 0)
      return tct_fail(err, TCT_E_USAGE, "the label column is also a feature in the schema; remove it from \"columns\"");
    if (!ignored && r->key && strcmp(column->name, r->key) == 0)
      return tct_fail(
          err, TCT_E_USAGE,
          "the keys' or persons' column is also a feature in the schema; give it the type \"ignore\" there");
    TCT_TRY(know(r, column->name, err));
  }
  for (int k = 0; k < TCT_BESIDES; k++) TCT_TRY(know(r, schema->beside[k].name, err));
  TCT_TRY(know(r, r->label_key, err));
  TCT_TRY(know(r, r->key, err));
  r->most = (int64_t)json_object_size(r->known);
  return TCT_OK;
}

static tct_status find_label(jsonl_reader *r, const tct_reader *reader, tct_error *err) {
  const char *given = reader->options->label, *schema = reader->schema.label;
  r->label_key = given ? given : schema;
  r->key = reader->options->key;
  if (!r->label_key && reader->options->labels != TCT_LABELS_NONE)
    return tct_fail(err, TCT_E_USAGE, "no label column is named; give {label NAME}, or \"label\" in a schema");
  if (given && schema && strcmp(given, schema) != 0)
    return tct_fail(err, TCT_E_USAGE, "{label} and the schema name different label columns; leave {label} away");
  if (r->key && r->label_key && strcmp(r->key, r->label_key) == 0)
    return tct_fail(err, TCT_E_USAGE, "the label column cannot be the keys' or persons' column; name another one");
  if (reader->options->delimiter || reader->options->decimal)
    return tct_fail(err, TCT_E_USAGE,
                    "JSON has its own delimiters and decimal mark; leave {delimiter} and {decimal} "
                    "away");
  return TCT_OK;
}

/* Columns go by name: what a record lacks is missing.  The label's is number 0. */
static int64_t find_known(const void *label, const char *name) { return strcmp(label, name) != 0; }

static tct_status prepare(jsonl_reader *r, tct_reader *reader, tct_error *err) {
  tct_schema *schema = &reader->schema;
  bool wanted = reader->options->labels != TCT_LABELS_NONE;
  r->most = reader->source->limits.cols / 4;
  TCT_TRY(find_label(r, reader, err));
  if (!schema->root) TCT_TRY(plain_schema(r, reader, err));
  if (schema->features == 0)
    return tct_fail_at(err, reader->source->name, r->line, 0,
                       "the records have no feature; give at least one key more");
  TCT_TRY(know_all(r, schema, err));
  TCT_TRY(tct_reader_besides(reader, find_known, r->label_key ? r->label_key : "", 0, &r->encoder, err));
  return tct_reader_begin(reader, &r->encoder, NULL, wanted ? 0 : -1, err);
}

static tct_status read_all(jsonl_reader *r, tct_reader *reader, tct_error *err) {
  TCT_TRY(prepare(r, reader, err));
  if (r->first) TCT_TRY(add_record(r, reader, r->first, err));
  TCT_TRY(read_records(r, reader, err));
  if (reader->table.rows == 0)
    return tct_fail_at(err, reader->source->name, 0, 0, "the file has no records; give at least one");
  return tct_reader_end(reader, r->label_key, r->key ? &r->keys : NULL, err);
}

static tct_status read_format(tct_reader *reader, tct_error *err) {
  jsonl_reader r;
  memset(&r, 0, sizeof r);
  r.keys.element = 1;
  locale_t before = uselocale(reader->c); /* numbers become texts on the way */
  tct_status status = read_all(&r, reader, err);
  uselocale(before);
  tct_encoder_free(&r.encoder);
  tct_pieces_free(&r.keys);
  tct_free(r.names);
  json_decref(r.first);
  json_decref(r.known);
  return status;
}

const tct_format tct_format_jsonl = {
    .name = "jsonl",
    .summary = "JSON Lines: one flat object a line, columns by their keys; also gzip, xz, zstd, bzip2",
    .parting = TCT_PARTS_NOT,
    .has_keys = true,
    .headless = true,
    .looks = looks,
    .read = read_format,
};
