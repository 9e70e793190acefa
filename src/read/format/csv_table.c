/* csv_table.c - the CSV reader: header, schema, records, matrix. */
#include <stdlib.h>
#include <string.h>

#include "core/point.h"
#include "core/alloc.h"
#include "read/format/blocks.h"
#include "read/source/csv.h"
#include "read/table/names.h"

/* All that one read needs. */
typedef struct csv_reader {
  tct_csv csv;
  char **names;
  int64_t *sorted, count; /* columns of the file */
  int64_t label;          /* the label's column, -1 = none */
  int64_t key;            /* the keys' column, -1 = none */
  tct_pieces keys;        /* their texts, each ended by 0 */
  tct_encoder encoder;
  int64_t event;               /* column of a follow-up's event, -1 = none */
  int64_t blanks, first_blank; /* empty lines since the last record, and the line of the first */
  int64_t lead;                /* of a block: empty lines before its first record */
  bool is_part, seen;          /* of a block: this is one; it has a record */
} csv_reader;

static bool looks(const char *head, int64_t length, locale_t c) {
  (void)head, (void)length, (void)c;
  return true;
}

static int64_t find(const csv_reader *r, const char *name) {
  return tct_names_find((const char *const *)r->names, r->sorted, r->count, name);
}

static int64_t find_name(const void *user, const char *name) { return find(user, name); }

static tct_status find_label(csv_reader *r, const tct_reader *reader, tct_error *err) {
  const char *given = reader->options->label, *schema = reader->schema.label;
  const char *wanted = given ? given : schema;
  const char *file = reader->source->name;
  r->label = -1;
  if (!wanted && reader->options->labels == TCT_LABELS_NONE) return TCT_OK;
  if (!wanted) {
    return tct_fail(err, TCT_E_USAGE, "no label column is named; give {label NAME}, or \"label\" in a schema");
  }
  r->label = find(r, wanted);
  if (r->label < 0) r->label = tct_reader_column(wanted, r->count) - 1;
  if (r->label < 0) {
    r->label = -1;
    if (reader->options->labels == TCT_LABELS_NONE) return TCT_OK;
    return tct_fail_at(err, file, r->csv.line, 0,
                       r->count == 1 ? "the header is a single column, and not \"%.200s\"; name the delimiter that the "
                                       "file has"
                                     : "the header has no column \"%.200s\" for the label; name the label as the "
                                       "header does",
                       wanted);
  }
  if (given && schema && strcmp(r->names[r->label], schema) != 0) {
    return tct_fail(err, TCT_E_USAGE, "{label} and the schema name different label columns; leave {label} away");
  }
  return TCT_OK;
}

static tct_status find_event(csv_reader *r, const tct_reader *reader, tct_error *err) {
  const char *wanted = reader->schema.event;
  r->event = wanted ? find(r, wanted) : -1;
  if (r->event < 0 && wanted && reader->options->labels != TCT_LABELS_NONE)
    return tct_fail_at(err, reader->source->name, r->csv.line, 0,
                       "the header has no column \"%.200s\" for the event; name it as the header does", wanted);
  if (r->event < 0 || r->event != r->label) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "one column is no time and event; name two");
}

static tct_status find_key(csv_reader *r, const tct_reader *reader, tct_error *err) {
  const char *wanted = reader->options->key;
  r->key = -1;
  r->keys.element = 1;
  if (!wanted) return TCT_OK;
  r->key = find(r, wanted);
  if (r->key < 0)
    return tct_fail_at(
        err, reader->source->name, r->csv.line, 0,
        "the header has no column \"%.200s\" for the records' keys or persons; name it as the header does", wanted);
  if (r->key == r->label || r->key == r->event)
    return tct_fail(err, TCT_E_USAGE, "the label column cannot be the keys' or persons' column; name another one");
  return TCT_OK;
}

/* A record whose key is empty or cut by a 0 byte has none. */
static tct_status add_key(csv_reader *r, const tct_reader *reader, tct_error *err) {
  if (r->key < 0) return TCT_OK;
  const char *why = TCT_POINT(malformed_records_of_somebody, r->csv.fault.why, NULL);
  tct_field field = {0};
  if (!why) field = r->csv.field[r->key];
  if (!why && (field.length == 0 || memchr(field.at, 0, (size_t)field.length)))
    why = "the record has no key, or names no person; give it one";
  if (why) return tct_fail_at(err, reader->source->name, r->csv.line, r->key + 1, "{%s}", why);
  char *to = tct_pieces_reserve(&r->keys, field.length + 1);
  if (!to) return tct_fail_memory(err);
  memcpy(to, field.at, (size_t)field.length);
  to[field.length] = 0;
  return TCT_OK;
}

/* Matches the schema's columns with the header's; the names of undescribed columns stay out of the
 * error, since a file without a header has data there. */
static tct_status match_columns(csv_reader *r, const tct_schema *schema, int64_t *field, tct_error *err) {
  const char *file = r->csv.source->name;
  unsigned char *used = TCT_NEW(unsigned char, r->count);
  if (!used) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  int64_t b;
  for (int64_t k = 0; k < schema->columns && status == TCT_OK; k++) {
    const tct_column *column = &schema->column[k];
    int64_t j = find(r, column->name);
    field[k] = column->kind == TCT_COLUMN_IGNORE ? -1 : j;
    if (j >= 0) used[j] = 1;
    if (field[k] >= 0 && (j == r->label || j == r->event)) {
      status =
          tct_fail(err, TCT_E_USAGE, "the label column is also a feature in the schema; remove it from \"columns\"");
    } else if (field[k] >= 0 && j == r->key) {
      status =
          tct_fail(err, TCT_E_USAGE,
                   "the keys' or persons' column is also a feature in the schema; give it the type \"ignore\" there");
    } else if (j < 0 && column->kind != TCT_COLUMN_IGNORE) {
      status = tct_fail_at(err, file, r->csv.line, 0,
                           "the header has no column \"%.200s\", which the schema describes; check the schema",
                           column->name);
    }
  }
  for (int k = 0; k < TCT_BESIDES; k++)
    if (schema->beside[k].name && (b = find(r, schema->beside[k].name)) >= 0) used[b] = 1;
  for (int64_t j = 0; j < r->count && status == TCT_OK; j++) {
    if (used[j] || j == r->label || j == r->key || j == r->event) continue;
    status = tct_fail_at(err, file, r->csv.line, j + 1,
                         "the schema does not describe this column; describe it, or give it the type \"ignore\"");
  }
  tct_free(used);
  return status;
}

static tct_status prepare(csv_reader *r, tct_reader *reader, tct_error *err) {
  tct_schema *schema = &reader->schema;
  bool multiline = TCT_POINT(a_quote_takes_lines_along, false, true) || reader->options->multiline ||
                   reader->source->maker; /* what is made here is quoted as it should be */
  TCT_TRY(tct_csv_begin(&r->csv, reader->source, tct_read_delimiter(reader->options), multiline, err));
  if (r->csv.delimiter == ',' && reader->options->decimal && reader->options->decimal[0] == ',') {
    return tct_fail_at(err, reader->source->name, 1, 0,
                       "the columns are separated by commas, so a comma is no decimal mark; leave {decimal} away");
  }
  TCT_TRY(tct_csv_header(&r->csv, &r->names, &r->sorted, &r->count, err));
  TCT_TRY(find_label(r, reader, err));
  TCT_TRY(find_event(r, reader, err));
  TCT_TRY(find_key(r, reader, err));
  if (!schema->root) TCT_TRY(tct_schema_plain(schema, r->names, r->count, r->label, r->key, r->event, err));
  if (schema->features == 0) {
    return tct_fail_at(
        err, reader->source->name, r->csv.line, 0,
        "the table has no feature column; separate the columns with commas, or name another {delimiter}");
  }
  int64_t *field = TCT_NEW(int64_t, schema->columns);
  if (!field) return tct_fail_memory(err);
  r->encoder.field = field;
  TCT_TRY(match_columns(r, schema, field, err));
  bool wanted = reader->options->labels != TCT_LABELS_NONE;
  r->encoder.event_field = r->event + 1;
  TCT_TRY(tct_reader_besides(reader, find_name, r, r->label, &r->encoder, err));
  return tct_reader_begin(reader, &r->encoder, field, wanted ? r->label : -1, err);
}

static tct_status add_record(csv_reader *r, tct_reader *reader, tct_error *err) {
  double label = 0;
  tct_fault fault = r->csv.fault;
  TCT_TRY(add_key(r, reader, err));
  if (!fault.why) fault = tct_encode(&r->encoder, r->csv.field, &label);
  return tct_reader_add(reader, &r->encoder, r->csv.line, fault, label, err);
}

/* Of empty lines those at the end are no records, and others are malformed ones.  Under TCT_INVALID_ZERO all are: no
 * record decides whether those before it are there. */
static tct_status check_blanks(const csv_reader *r, const tct_reader *reader, tct_error *err) {
  if (r->blanks == 0) return TCT_OK;
  return tct_fail_at(err, reader->source->name, r->first_blank, 0, "the line is empty; remove it");
}

static tct_status read_records(csv_reader *r, tct_reader *reader, tct_error *err) {
  for (;;) {
    bool more;
    TCT_TRY(tct_csv_next(&r->csv, &more, err));
    if (!more) return TCT_OK;
    if (r->csv.blank && TCT_POINT(empty_lines_after_all_records, !reader->table.droppable, true)) {
      if (r->blanks++ == 0) r->first_blank = r->csv.line;
      continue;
    }
    if (r->csv.blank) r->csv.fault.why = "the line is empty; remove it";
    if (r->is_part && !r->seen) r->lead = r->blanks, r->blanks = 0; /* what stands before is another block's */
    r->seen = true;
    TCT_TRY(check_blanks(r, reader, err));
    TCT_TRY(add_record(r, reader, err));
  }
}

/* ---- blocks of the file, read by several threads ---- */

static tct_status begin_part(const void *whole, void *part, tct_reader *reader, tct_error *err) {
  const csv_reader *from = whole;
  csv_reader *r = part;
  *r = *from;
  r->csv.field = NULL;
  r->csv.fields = r->csv.cap = 0;
  r->csv.source = reader->source;
  r->is_part = true;
  memset(&r->keys, 0, sizeof r->keys);
  r->keys.element = 1;
  r->encoder.value = NULL, r->encoder.index = NULL;
  return tct_encoder_copy(&r->encoder, err);
}

static tct_status parse_part(void *part, tct_reader *reader, tct_error *err) {
  csv_reader *r = part;
  r->csv.next_line = 1;
  r->lead = r->blanks = 0;
  r->seen = false;
  tct_status status = read_records(r, reader, err);
  if (!r->seen) r->lead = r->blanks, r->blanks = 0;
  return status;
}

static tct_status join_part(void *user, void *part, tct_reader *reader, int64_t lines, tct_error *err) {
  csv_reader *r = user, *from = part;
  if (from->lead > 0 && r->blanks == 0) r->first_blank = lines + 1;
  r->blanks += from->lead;
  if (!from->seen) return TCT_OK;
  TCT_TRY(check_blanks(r, reader, err));
  r->blanks = from->blanks;
  r->first_blank = lines + from->first_blank;
  return tct_pieces_append(&r->keys, &from->keys) ? TCT_OK : tct_fail_memory(err);
}

static void end_part(void *part) {
  csv_reader *r = part;
  r->encoder.field = NULL; /* the whole's */
  tct_encoder_free(&r->encoder);
  tct_pieces_free(&r->keys);
  tct_csv_end(&r->csv);
}

static tct_status read_all_records(csv_reader *r, tct_reader *reader, tct_error *err) {
  int64_t wide = (int64_t)sizeof(double) * 4 * r->encoder.schema->features + (int64_t)sizeof(tct_field) * 2 * r->count;
  if (!tct_blocks_wanted(reader, wide)) return read_records(r, reader, err);
  return tct_blocks_read(&(tct_blocks){.size = sizeof *r,
                                       .delimiter = r->csv.multiline ? r->csv.delimiter : 0,
                                       .whole = r,
                                       .begin = begin_part,
                                       .parse = parse_part,
                                       .join = join_part,
                                       .end = end_part,
                                       .user = r,
                                       .lines = r->csv.next_line - 1,
                                       .part_bytes = wide},
                         reader, err);
}

static tct_status read_all(csv_reader *r, tct_reader *reader, tct_error *err) {
  TCT_TRY(prepare(r, reader, err));
  if (reader->range)
    TCT_TRY(tct_source_jump(reader->source, reader->range->header, reader->range->from, reader->range->to, err));
  TCT_TRY(read_all_records(r, reader, err));
  if (reader->table.rows == 0 && !reader->range) {
    return tct_fail_at(err, reader->source->name, 0, 0, "the file has a header but no records; give at least one");
  }
  return tct_reader_end(reader, r->label >= 0 ? r->names[r->label] : NULL, r->key >= 0 ? &r->keys : NULL, err);
}

static tct_status read_format(tct_reader *reader, tct_error *err) {
  csv_reader r;
  memset(&r, 0, sizeof r);
  tct_status status = read_all(&r, reader, err);
  tct_encoder_free(&r.encoder);
  tct_pieces_free(&r.keys);
  tct_csv_end(&r.csv);
  tct_free(r.names);
  tct_free(r.sorted);
  return status;
}

const tct_format tct_format_csv = {
    .name = "csv",
    .summary = "comma, semicolon or tab separated text with a header (RFC 4180); also gzip, xz, zstd, bzip2",
    .parting = TCT_PARTS_RECORDS,
    .has_names = true,
    .has_keys = true,
    .has_events = true,
    .looks = looks,
    .read = read_format,
};
