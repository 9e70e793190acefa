/* read.c - reads a table: opens the source, tells the format by content, hands over to its reader. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/number.h"
#include "core/sized.h"
#include "core/stop.h"
#include "read/format/reader.h"
#include "read/describe.h"
#include "read/source/csv.h"

enum { HEAD = 1 << 16 }; /* bytes that a format is told by */

static const tct_sized SIZED = TCT_SIZED(tct_read_options, threads, "call tct_read_options_default first");

void tct_read_options_default_sized(tct_read_options *options, size_t size) {
  tct_sized_default(&SIZED, options, size, &(tct_read_options){.size = sizeof *options});
}

tct_status tct_read_options_take(const tct_read_options *given, tct_read_options *own, tct_error *err) {
  *own = (tct_read_options){0};
  return tct_sized_take(&SIZED, given, own, err);
}

tct_status tct_reader_invalid(tct_reader *reader, int64_t line, int64_t column, const char *why, int64_t count,
                              tct_error *err) {
  if (why == tct_encode_no_memory) return tct_fail_memory(err);
  if (reader->table.droppable) return tct_table_drop(&reader->table, count, err);
  return tct_fail_at(err, reader->source->name, line, column, "{%s}", why);
}

tct_status tct_reader_schema(tct_reader *reader, const tct_limits *limits, tct_error *err) {
  const tct_read_options *options = reader->options;
  TCT_TRY(tct_schema_load(&reader->schema, options->schema_path, options->schema_text, limits, err));
  TCT_TRY(tct_inputs_add(&reader->data->inputs, options->schema_path, err));
  TCT_TRY(tct_schema_follow_up(&reader->schema, options->event, options->horizon, options->label,
                               options->labels != TCT_LABELS_NONE, err));
  TCT_TRY(tct_schema_weights(&reader->schema, options->weights, options->weight_cap, err));
  if (reader->schema.event && options->labels != TCT_LABELS_NONE && options->labels != TCT_LABELS_REAL)
    return tct_fail(err, TCT_E_USAGE, "the label is a time and an event; give {loss cox}, or name another label");
  reader->data->follow_up = reader->schema.event != NULL;
  reader->data->positive_unlisted = tct_label_unlisted(options, &reader->schema);
  return tct_label_resolve(options, &reader->schema, reader->c, &reader->data->labels, &reader->data->classes, err);
}

tct_status tct_reader_besides(const tct_reader *reader, tct_find_column find, const void *user, int64_t label,
                              tct_encoder *encoder, tct_error *err) {
  bool weighs = reader->options->labels != TCT_LABELS_NONE || reader->options->weights;
  for (int k = 0; k < TCT_BESIDES; k++) {
    const char *name = reader->schema.beside[k].name;
    bool wanted = weighs || k != TCT_BESIDE_WEIGHT; /* a prediction needs all others */
    int64_t j = name && wanted ? find(user, name) : -1;
    if (name && wanted && j < 0)
      return tct_fail(err, TCT_E_DATA, "the table has no column \"%.200s\" for the %s; name it as the table does", name,
                      tct_beside_words[k]);
    if (j >= 0 && j == label)
      return tct_fail(err, TCT_E_USAGE, "the label column cannot be that of the %s; name another one",
                      tct_beside_words[k]);
    encoder->beside_field[k] = j + 1;
  }
  return TCT_OK;
}

tct_status tct_reader_begin(tct_reader *reader, tct_encoder *encoder, int64_t *field, int64_t label_field,
                            tct_error *err) {
  const tct_schema *schema = &reader->schema;
  TCT_TRY(tct_label_rule_make(&encoder->rule, reader->options, schema, &reader->data->classes, reader->c, err));
  TCT_TRY(tct_encoder_make(encoder, schema, field, label_field, reader->options, err));
  tct_table_init(&reader->table, encoder->sparse ? TCT_CSR : TCT_DENSE_ROWS, reader->options);
  reader->table.lists = schema->lists;
  reader->table.weighed = encoder->beside_field[TCT_BESIDE_WEIGHT] > 0;
  if (reader->table.weighed) reader->data->weight_cap = schema->beside[TCT_BESIDE_WEIGHT].upper;
  reader->data->exposure = encoder->beside_field[TCT_BESIDE_EXPOSURE] > 0;
  reader->table.shifted = reader->data->exposure || encoder->beside_field[TCT_BESIDE_OFFSET] > 0;
  return TCT_OK;
}

tct_status tct_reader_add(tct_reader *reader, const tct_encoder *e, int64_t line, tct_fault fault, double label,
                          tct_error *err) {
  int64_t dense = e->sparse ? 0 : e->schema->features;
  if (fault.why) return tct_reader_invalid(reader, line, fault.column, fault.why, dense, err);
  const tct_said said = {label, e->weight, e->offset};
  if (e->sparse) return tct_table_sparse(&reader->table, e->index, e->value, e->filled, said, err);
  return tct_table_dense(&reader->table, e->value, dense, said, err);
}

tct_status tct_reader_end(tct_reader *reader, const char *label, tct_pieces *keys, tct_error *err) {
  tct_data *data = reader->data;
  TCT_TRY(tct_table_finish(&reader->table, reader->schema.features, data, err));
  data->label_name = tct_text_copy(label);
  if (label && !data->label_name) return tct_fail_memory(err);
  if (keys) TCT_TRY(tct_pieces_join(keys, (void **)&data->keys, err));
  return tct_schema_describe(&reader->schema, data, err);
}

tct_data *tct_reader_run(tct_reader *reader, tct_status (*read)(tct_reader *reader, tct_error *err), tct_error *err) {
  reader->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader->data = TCT_NEW(tct_data, 1);
  tct_status status = TCT_OK;
  if (!reader->c || !reader->data) {
    status = tct_fail_memory(err);
  } else {
    reader->data->label_low = reader->data->label_high = NAN;
    status = read(reader, err);
  }
  tct_table_free(&reader->table);
  tct_schema_free(&reader->schema);
  if (reader->c) freelocale(reader->c);
  if (status == TCT_OK) return reader->data;
  tct_data_free(reader->data);
  return NULL;
}

int64_t tct_reader_column(const char *text, int64_t count) {
  int64_t column = 0;
  for (const char *at = text; *at; at++) {
    if ((unsigned)(*at - '0') >= 10 || column > count) return -1;
    column = column * 10 + (*at - '0');
  }
  return column >= 1 && column <= count ? column : -1;
}

char tct_read_delimiter(const tct_read_options *options) {
  const char *text = options->delimiter;
  if (!text) return 0;
  if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) return '\t';
  return strlen(text) == 1 && tct_csv_usable(text[0]) ? text[0] : 0;
}

/* How CSV's fields and numbers are written. */
static tct_status check_marks(const tct_read_options *options, tct_error *err) {
  const char *decimal = options->decimal;
  char delimiter = tct_read_delimiter(options);
  if (options->delimiter && !delimiter)
    return tct_fail(
        err, TCT_E_USAGE,
        "the delimiter is one character that is no quote, letter, digit or part of a number, or the word tab");
  if (decimal && strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0)
    return tct_fail(err, TCT_E_USAGE, "the decimal mark is . or , and nothing else; give one of them");
  if (decimal && decimal[0] == ',' && delimiter == ',')
    return tct_fail(err, TCT_E_USAGE, "a comma cannot be both the decimal mark and the delimiter; change one");
  return TCT_OK;
}

static tct_status check_options(const tct_read_options *options, tct_error *err) {
  if (options->multiline < 0 || options->multiline > 1 || options->reserved != 0 || options->labels < TCT_LABELS_NONE ||
      options->labels > TCT_LABELS_CLASSES || options->invalid < TCT_INVALID_REFUSE ||
      options->invalid > TCT_INVALID_ZERO || options->value_type < TCT_F64 || options->value_type > TCT_STORED) {
    return tct_fail(err, TCT_E_USAGE, "a read option is out of its range; see tct_read_options in tacit.h");
  }
  TCT_TRY(check_marks(options, err));
  if (options->format && !tct_format_known(options->format))
    return tct_fail(err, TCT_E_USAGE, "the format is unknown; give csv, jsonl, libsvm, npy or dta");
  if (options->cols < 0 || options->cols >= INT32_MAX) {
    return tct_fail(err, TCT_E_USAGE, "the number of features must be from 0 (unknown) to 2^31 - 2; correct it");
  }
  if (options->max_cols < 0 || options->max_cols >= INT32_MAX || options->max_header < 0 || options->max_line < 0 ||
      options->max_expansion < 0 || options->memory < 0) {
    return tct_fail(err, TCT_E_USAGE,
                    "a limit of the input is negative, or above 2^31 - 2 columns; give 0 for the default");
  }
  return TCT_OK;
}

tct_status tct_read_options_checked(const tct_read_options *given, tct_read_options *own, tct_error *err) {
  TCT_TRY(tct_read_options_take(given, own, err));
  return check_options(own, err);
}

static tct_status read_source(tct_reader *reader, tct_error *err) {
  tct_source *source = reader->source;
  const tct_read_options *options = reader->options;
  source->limits = tct_limits_of(options);
  TCT_TRY(tct_reader_schema(reader, &source->limits, err));
  TCT_TRY(tct_inputs_add(&reader->data->inputs, strcmp(source->name, "-") ? source->name : "/dev/stdin", err));
  TCT_TRY(tct_source_want(source, HEAD, err));
  if (source->begin == source->end) {
    return tct_fail_at(err, source->name, 0, 0, "the file is empty; give a table with at least one record");
  }
  const tct_format *format;
  int64_t length = source->end - source->begin;
  TCT_TRY(tct_format_tell(options, source->name, source->buffer + source->begin, length, &format, err));
  if (reader->schema.event && !format->has_events)
    return tct_fail_at(err, source->name, 0, 0,
                       "a time and an event are read from CSV, Stata files and data frames; convert the file");
  if (reader->schema.beside[TCT_BESIDE_WEIGHT].name && !format->has_names && !format->has_keys)
    return tct_fail_at(err, source->name, 0, 0,
                       "weights are a column by name, and this format has none; convert the file to CSV");
  return format->read(reader, err);
}

/* A part of a file numbers its lines from its own beginning on: those before it are counted once they are asked for. */
static void count_skipped(const tct_source *source, tct_error *err) {
  char block[HEAD];
  for (int64_t at = source->skipped_from; at < source->skipped_to;) {
    int64_t left = source->skipped_to - at;
    ssize_t got = pread(source->input.file, block, (size_t)(left < HEAD ? left : HEAD), at);
    if (got <= 0) return;
    for (ssize_t k = 0; k < got; k++) err->line += block[k] == '\n';
    at += got;
  }
}

/* Reads an open source and closes it. */
static tct_data *read_and_close(tct_source *source, const tct_range *range, const tct_read_options *options,
                                tct_error *err) {
  tct_reader reader = {.source = source, .options = options, .range = range};
  tct_data *data = tct_reader_run(&reader, read_source, err);
  if (!data && err && err->line > 0) count_skipped(source, err);
  if (!data && err && err->line > 0 && source->maker) err->line--; /* the header is no line of the file */
  tct_source_close(source);
  return data;
}

tct_data *tct_data_read_range(const char *path, const tct_range *range, const tct_read_options *options,
                              tct_error *err) {
  tct_source source;
  tct_read_options own;
  tct_error_clear(err);
  if (tct_read_options_checked(options, &own, err) != TCT_OK) return NULL;
  if (!path) {
    tct_fail(err, TCT_E_USAGE, "no file is named; give a path, or - for standard input");
    return NULL;
  }
  tct_stop stop;
  tct_stop_watch(&stop, own.cancel, own.user);
  tct_data *data = NULL;
  if (tct_source_open(&source, path, err) == TCT_OK)
    data = read_and_close(&source, range, &own, err);
  else
    tct_source_close(&source);
  tct_stop_end(&stop);
  return data;
}

tct_data *tct_data_read_memory(const void *bytes, int64_t count, int64_t step, const tct_read_options *options,
                               tct_error *err) {
  tct_source source;
  tct_read_options own;
  tct_error_clear(err);
  if (tct_read_options_checked(options, &own, err) != TCT_OK) return NULL;
  tct_source_memory(&source, "memory", bytes, count, step);
  return read_and_close(&source, NULL, &own, err);
}
