/* dta.c - the Stata reader: the table as the CSV text that it means, which the CSV reader then reads.
 *
 * A column is found by its name, as in CSV.  A number's value label is its text where a text is wanted: in a category,
 * and in a label that is no number.  A code without a label stands for itself, as in a column of numbers.  Stata's
 * missing values (., .a to .z) and its empty texts become empty fields.  Texts of files before version 118 are Latin-1
 * and become UTF-8.  Value labels follow the records in the file, so all of it is held in memory.  Why no library:
 * docs/decisions/own-dta-reader.md. */
#include "formats/dta.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/spec.h"
#include "read/format/reader.h"

#define STEP TCT_LIMIT(1 << 16, 50) /* bytes of text that are made at a time */
enum { NUMBER = 40 };               /* of a number */

typedef struct dta_text {
  tct_dta dta;
  int64_t row; /* next record; -1: the names */
  char *text;  /* of the current record */
  int64_t used, size;
} dta_text;

static bool looks(const char *head, int64_t length, locale_t c) {
  (void)c;
  if (length >= 11 && memcmp(head, "<stata_dta>", 11) == 0) return true;
  return length >= 4 && head[0] >= 113 && head[0] <= 115 && (head[1] == 1 || head[1] == 2) && head[2] == 1 && !head[3];
}

/* ---- text ---- */

static tct_status reserve(dta_text *t, int64_t bytes, tct_error *err) {
  if (t->used + bytes <= t->size) return TCT_OK;
  int64_t size = 2 * (t->used + bytes);
  char *grown = tct_grow(t->text, t->size, size, 1);
  if (!grown) return tct_fail_memory(err);
  t->text = grown;
  t->size = size;
  return TCT_OK;
}

/* In quotes, whatever it holds. */
static tct_status put_text(dta_text *t, tct_dta_text text, tct_error *err) {
  bool latin = t->dta.version < 118;
  TCT_TRY(reserve(t, 2 * text.length + 2, err));
  t->text[t->used++] = '"';
  for (int64_t k = 0; k < text.length; k++) {
    unsigned char byte = (unsigned char)text.at[k];
    if (byte == '"') t->text[t->used++] = '"';
    if (latin && byte >= 0x80) t->text[t->used++] = (char)(0xc0 | byte >> 6);
    t->text[t->used++] = (char)(latin && byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
  }
  t->text[t->used++] = '"';
  return TCT_OK;
}

static tct_status put_number(dta_text *t, double value, tct_error *err) {
  TCT_TRY(reserve(t, NUMBER, err));
  if (fabs(value) < 1e15 && value == trunc(value))
    t->used += snprintf(t->text + t->used, NUMBER, "%lld", (long long)value);
  else {
    tct_print_real(value, t->text + t->used, NUMBER);
    t->used += (int64_t)strlen(t->text + t->used);
  }
  return TCT_OK;
}

/* The value label of a number that has one. */
static tct_dta_text name_of(const tct_dta_variable *v, double value) {
  bool code = v->set && fabs(value) <= INT32_MAX && value == trunc(value);
  return code ? tct_dta_label_of(v->set, (int32_t)value) : (tct_dta_text){NULL, 0};
}

static tct_status put_cell(dta_text *t, const tct_dta_variable *v, const char *cell, tct_error *err) {
  double value;
  if (v->form == TCT_DTA_SKIP || v->type == TCT_DTA_LONG) return TCT_OK;
  if (v->type == TCT_DTA_TEXT) return put_text(t, tct_dta_text_of(cell, v->width), err);
  if (!tct_dta_number(&t->dta, v, cell, &value)) return TCT_OK;
  tct_dta_text name = v->form == TCT_DTA_NAME ? name_of(v, value) : (tct_dta_text){NULL, 0};
  return name.at ? put_text(t, name, err) : put_number(t, value, err);
}

/* The only field of a record is quoted where it is empty: an empty line is no record.  Nothing is added to a record
 * that is too long already, whatever its texts are: the CSV reader says so. */
static tct_status put_record(dta_text *t, const tct_source *source, tct_error *err) {
  const tct_dta *d = &t->dta;
  const char *record = t->row < 0 ? NULL : d->records + t->row * d->row_bytes;
  for (int64_t j = 0; j < d->variables; j++) {
    const tct_dta_variable *v = &d->variable[j];
    bool room = !record || t->used <= source->limits.line;
    if (room) TCT_TRY(record ? put_cell(t, v, record + v->offset, err) : put_text(t, v->name, err));
    TCT_TRY(reserve(t, 3, err));
    if (d->variables == 1 && t->used == 0) t->text[t->used++] = '"', t->text[t->used++] = '"';
    t->text[t->used++] = j + 1 < d->variables ? ',' : '\n';
  }
  return TCT_OK;
}

static tct_status more(void *self, tct_source *source, tct_error *err) {
  dta_text *t = self;
  int64_t before = source->end - source->begin;
  while (t->row < t->dta.rows && source->end - source->begin < before + STEP) {
    t->used = 0;
    TCT_TRY(put_record(t, source, err));
    TCT_TRY(tct_source_append(source, t->text, t->used, err));
    t->row++;
  }
  source->ended = t->row == t->dta.rows;
  return TCT_OK;
}

static void free_text(void *self) {
  dta_text *t = self;
  tct_dta_free(&t->dta);
  tct_wipe_free(t->text, t->size, 1);
  tct_free(t);
}

static const tct_maker maker = {.more = more, .free = free_text};

/* ---- columns ---- */

static int by_name(const void *a, const void *b) {
  return tct_dta_compare((*(tct_dta_variable *const *)a)->name, (*(tct_dta_variable *const *)b)->name);
}

static tct_dta_variable *find(tct_dta_variable **sorted, int64_t count, const char *name) {
  if (!name || count == 0) return NULL;
  tct_dta_variable wanted = {.name = {name, (int64_t)strlen(name)}}, *key = &wanted;
  tct_dta_variable **found = bsearch(&key, sorted, (size_t)count, sizeof *sorted, by_name);
  return found ? *found : NULL;
}

/* The label's column, by its name or its number. */
static tct_dta_variable *find_label(const tct_dta *d, tct_dta_variable **sorted, const tct_reader *reader) {
  const char *label = reader->options->label ? reader->options->label : reader->schema.label;
  tct_dta_variable *found = find(sorted, d->variables, label);
  int64_t place = label && !found ? tct_reader_column(label, d->variables) : -1;
  return place > 0 ? &d->variable[place - 1] : found;
}

/* What is wanted of each column follows from the schema and the options alone, never from the data. */
static tct_status choose(tct_dta *d, const tct_reader *reader, tct_error *err) {
  const tct_schema *schema = &reader->schema;
  tct_dta_variable **sorted = TCT_NEW(tct_dta_variable *, d->variables), *found;
  if (!sorted) return tct_fail_memory(err);
  for (int64_t j = 0; j < d->variables; j++) {
    sorted[j] = &d->variable[j];
    sorted[j]->form = schema->root ? TCT_DTA_SKIP : TCT_DTA_CODE;
  }
  if (d->variables > 0) qsort(sorted, (size_t)d->variables, sizeof *sorted, by_name);
  for (int64_t k = 0; schema->root && k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    found = find(sorted, d->variables, column->name);
    if (found && column->kind != TCT_COLUMN_IGNORE)
      found->form = column->kind == TCT_COLUMN_CATEGORY ? TCT_DTA_NAME : TCT_DTA_CODE;
  }
  found = find(sorted, d->variables, reader->options->key);
  if (found) found->form = TCT_DTA_CODE;
  found = find_label(d, sorted, reader);
  if (found) found->form = reader->data->labels == TCT_LABELS_REAL ? TCT_DTA_CODE : TCT_DTA_NAME;
  tct_free(sorted);
  return TCT_OK;
}

static tct_status check_long(const tct_dta *d, tct_error *err) {
  for (int64_t j = 0; j < d->variables; j++) {
    const tct_dta_variable *v = &d->variable[j];
    if (v->type == TCT_DTA_LONG && v->form != TCT_DTA_SKIP)
      return tct_fail_at(err, d->name, 0, j + 1,
                         "the column holds texts of any length (strL); recast it to str2045 in Stata, or give it the "
                         "type \"ignore\" in a schema");
  }
  return TCT_OK;
}

/* ---- a draft of a schema ---- */

/* Every number of the column has a label: its numbers are codes. */
static bool is_labelled(const tct_dta *d, const tct_dta_variable *v) {
  double value;
  bool any = false;
  for (int64_t i = 0; v->set && i < d->rows; i++) {
    if (!tct_dta_number(d, v, d->records + i * d->row_bytes + v->offset, &value)) continue;
    if (!name_of(v, value).at) return false;
    any = true;
  }
  return any;
}

static void choose_by_data(tct_dta *d) {
  for (int64_t j = 0; j < d->variables; j++)
    d->variable[j].form = is_labelled(d, &d->variable[j]) ? TCT_DTA_NAME : TCT_DTA_CODE;
}

/* ---- the format ---- */

/* reader: NULL for a draft. */
static tct_status make(tct_source *source, const tct_reader *reader, tct_error *err) {
  int64_t memory = reader ? reader->options->memory : 0;
  dta_text *t = TCT_NEW(dta_text, 1);
  if (!t) return tct_fail_memory(err);
  t->row = -1;
  t->dta.name = source->name;
  tct_status status = tct_source_all(source, memory > 0 ? memory / 2 : INT64_MAX, &t->dta.file, err);
  if (status == TCT_OK) status = tct_dta_parse(&t->dta, source->limits.cols, err);
  if (status == TCT_OK && reader) status = choose(&t->dta, reader, err);
  if (status == TCT_OK && reader) status = check_long(&t->dta, err);
  if (status == TCT_OK && !reader) choose_by_data(&t->dta);
  if (status == TCT_OK)
    tct_source_make(source, &maker, t);
  else
    free_text(t);
  return status;
}

static tct_status as_csv(tct_source *source, tct_error *err) { return make(source, NULL, err); }

static tct_status read_format(tct_reader *reader, tct_error *err) {
  if (reader->options->delimiter || reader->options->decimal)
    return tct_fail(err, TCT_E_USAGE, "a Stata file has no delimiters; leave {delimiter} and {decimal} away");
  TCT_TRY(make(reader->source, reader, err));
  return tct_format_csv.read(reader, err);
}

const tct_format tct_format_dta = {
    .name = "dta",
    .summary =
        "Stata files of versions 113 to 115 and 117 to 119, value labels as categories; also gzip, xz, zstd, "
        "bzip2",
    .parting = TCT_PARTS_NOT,
    .has_names = true,
    .has_keys = true,
    .has_events = true,
    .looks = looks,
    .as_csv = as_csv,
    .read = read_format,
};
