/* npy.c - the NumPy array reader: two-dimensional arrays of numbers, C or Fortran order; of an archive the records X
 * and the labels y, in either order.
 *
 * Memory is taken beforehand only where the file is as long as its header says, so a false header costs none.  Rows of
 * such a file are read by all threads (npy_rows.h).  Otherwise elements are taken one after the other as they come,
 * with a counter that says where each belongs. */
#include "formats/npy.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/processors.h"
#include "read/table/scratch.h"
#include "formats/npy_rows.h"
#include "read/schema/label.h"
#include "read/format/reader.h"

#define BLOCK_ELEMENTS TCT_LIMIT(1 << 12, 5)
enum { LONGEST_HEADER = 1 << 20 };

/* An invalid element was met in this row (TCT_INVALID_ZERO). */
typedef struct npy_reader {
  tct_npy npy;
  tct_label_rule rule;
  int64_t label; /* 0-based column, -1 = none */
  int64_t features;
  int64_t header; /* bytes before the first element */
  int64_t rows;   /* of the whole array */
  int64_t first;  /* row of the array that is read first */
  bool whole;     /* the file is as long as its header says */
  double limit;
  tct_pieces bad; /* int64_t: rows to be zeroed at the end */
  tct_pieces y;   /* double: labels that are an array of their own */
} npy_reader;

/* The file is an archive whose labels are an array y. */
static bool is_pair(const tct_reader *reader) {
  return reader->source->array[0] && (reader->source->array[0] == 'y' || !reader->options->label);
}

static bool looks(const char *head, int64_t length, locale_t c) {
  (void)c;
  return length >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static tct_status read_header(npy_reader *r, tct_source *source, bool vector, tct_error *err) {
  static const char *const cut = "the NPY file ends within its header; save the array again with numpy.save";
  TCT_TRY(tct_source_want(source, 12, err));
  if (source->end - source->begin < 10) return tct_fail_at(err, source->name, 0, 0, "%s", cut);
  const unsigned char *at = (unsigned char *)source->buffer + source->begin;
  int version = at[6], start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) {
    return tct_fail_at(err, source->name, 0, 0, "the NPY file has an unknown version; save it with numpy.save");
  }
  if (source->end - source->begin < start) return tct_fail_at(err, source->name, 0, 0, "%s", cut);
  int64_t length = at[8] | at[9] << 8;
  if (version > 1) length |= (int64_t)at[10] << 16 | (int64_t)at[11] << 24;
  if (length > LONGEST_HEADER) {
    return tct_fail_at(err, source->name, 0, 0, "the NPY header is longer than 1 MiB; save a plain array of numbers");
  }
  TCT_TRY(tct_source_want(source, start + length, err));
  if (source->end - source->begin < start + length) return tct_fail_at(err, source->name, 0, 0, "%s", cut);
  const char *why = tct_npy_header(source->buffer + source->begin + start, length, vector, &r->npy);
  if (why) return tct_fail_at(err, source->name, 0, 0, "{%s}", why);
  source->begin += start + length;
  r->header = start + length;
  return TCT_OK;
}

static tct_status check_shape(npy_reader *r, const tct_reader *reader, tct_error *err) {
  const char *file = reader->source->name, *label = reader->options->label;
  int64_t rows = r->npy.shape[0], cols = r->npy.shape[1], elements;
  bool wanted = reader->options->labels != TCT_LABELS_NONE && !is_pair(reader); /* of a pair the labels are an array */
  if (wanted && !label) {
    return tct_fail(err, TCT_E_USAGE, "a NPY array has no label column by name; give {label} with its number");
  }
  r->label = label ? tct_reader_column(label, cols) - 1 : -1;
  if (r->label < 0) {
    if (wanted) {
      return tct_fail(err, TCT_E_DATA, "the label is not a column of the array; give its number, starting at 1");
    }
    r->label = -1;
  }
  r->features = cols - (r->label >= 0);
  if (cols > reader->source->limits.cols) return tct_fail_at(err, file, 0, 0, TCT_TOO_MANY_COLUMNS);
  if (rows == 0) return tct_fail_at(err, file, 0, 0, "the array has no records; give at least one");
  if (r->features <= 0 || r->features >= INT32_MAX || __builtin_mul_overflow(rows, cols, &elements)) {
    return tct_fail_at(err, file, 0, 0, "the array has no feature column, or more than 2^31; give records as rows");
  }
  return TCT_OK;
}

/* Element number k of the file. */
static tct_status add_element(npy_reader *r, tct_reader *reader, int64_t k, double value, tct_error *err) {
  tct_table *table = &reader->table;
  int64_t rows = r->npy.shape[0], cols = r->npy.shape[1];
  int64_t row = r->npy.fortran ? k % rows : k / cols, col = r->npy.fortran ? k / rows : k % cols;
  const char *why = NULL;
  if (col == r->label) {
    if (!table->labelled) return TCT_OK;
    double *label = tct_pieces_reserve(&table->labels, 1);
    if (!label) return tct_fail_memory(err);
    why = tct_label_number(&r->rule, value, label);
    if (why) *label = -1;
  } else {
    if (!isfinite(value))
      why = "the element is not a finite number; correct it";
    else if (fabs(value) > r->limit)
      why = "the number is too large for single precision; read in double precision";
    void *buffer = tct_pieces_reserve(&table->values, 1);
    if (!buffer) return tct_table_failed(table, err);
    if (table->value_type == TCT_F32)
      *(float *)buffer = why ? 0 : (float)value;
    else
      *(double *)buffer = why ? 0 : value;
  }
  if (!why) return TCT_OK;
  if (!table->droppable) return tct_fail_at(err, reader->source->name, r->first + row + 1, col + 1, "{%s}", why);
  int64_t *bad = tct_pieces_reserve(&r->bad, 1);
  if (!bad) return tct_fail_memory(err);
  *bad = row;
  return TCT_OK;
}

/* A file as long as its header says holds all elements: they go to their final place at once.  The size of the file
 * bounds what a false header can cost. */
static tct_status expect_elements(npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_table *table = &reader->table;
  int64_t rows = r->npy.shape[0], all = r->rows * r->npy.shape[1] * r->npy.width;
  int64_t bytes = rows * r->features * (int64_t)table->values.element;
  if (tct_source_stored(reader->source) != r->header + all) return TCT_OK;
  r->whole = strcmp(reader->source->name, "-") != 0; /* standard input may stand elsewhere than at its beginning */
  table->expected = bytes;
  TCT_TRY(tct_table_spill(table, err)); /* what goes to disk has its room there before it is read */
  if (table->values.file > 0) return TCT_OK;
  if (!tct_pieces_expect(&table->values, rows * r->features)) return tct_fail_memory(err);
  if (table->labelled && !tct_pieces_expect(&table->labels, rows)) return tct_fail_memory(err);
  return TCT_OK;
}

static tct_status ended(tct_source *source, tct_error *err) {
  TCT_TRY(tct_source_want(source, 1, err));
  if (source->end == source->begin) return TCT_OK;
  return tct_fail_at(err, source->name, 0, 0, "the NPY file is longer than its header says; give one array in a file");
}

static tct_status read_elements(npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_source *source = reader->source;
  int64_t elements = r->npy.shape[0] * r->npy.shape[1], width = r->npy.width;
  for (int64_t k = 0; k < elements;) {
    int64_t want = elements - k < BLOCK_ELEMENTS ? elements - k : BLOCK_ELEMENTS;
    TCT_TRY(tct_source_want(source, want * width, err));
    int64_t have = (source->end - source->begin) / width;
    if (have < want) {
      return tct_fail_at(err, source->name, 0, 0, "the NPY file is shorter than its header says; fetch it again");
    }
    for (int64_t stop = k + want; k < stop; k++, source->begin += width) {
      double value = tct_npy_element(&r->npy, (unsigned char *)source->buffer + source->begin);
      TCT_TRY(add_element(r, reader, k, value, err));
    }
    TCT_TRY(tct_table_spill(&reader->table, err));
  }
  return ended(source, err);
}

static int threads_for(const tct_read_options *options) {
  return options->threads > 0 ? (int)options->threads : tct_processors();
}

/* All rows of a file in C order that is as long as its header says. */
static tct_status read_rows(const npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_table *table = &reader->table;
  int64_t rows = r->npy.shape[0];
  tct_npy_rows all = {.name = reader->source->name,
                      .file = reader->source->input.file,
                      .begin = r->header + r->first * r->npy.shape[1] * r->npy.width,
                      .first = r->first,
                      .rows = rows,
                      .npy = r->npy,
                      .rule = r->rule,
                      .label = r->label,
                      .f32 = table->value_type == TCT_F32,
                      .limit = r->limit,
                      .threads = threads_for(reader->options),
                      .scratch = table->values.file};
  if (table->values.file > 0)
    tct_pieces_written(&table->values, rows * r->features);
  else if (!(all.values = tct_pieces_reserve(&table->values, rows * r->features)))
    return tct_fail_memory(err);
  if (table->labelled && !(all.labels = tct_pieces_reserve(&table->labels, rows))) return tct_fail_memory(err);
  if (table->droppable && !(all.dropped = tct_pieces_reserve(&table->dropped, rows))) return tct_fail_memory(err);
  return tct_npy_rows_read(&all, err);
}

/* The rows of the range alone. */
static tct_status read_part(npy_reader *r, tct_reader *reader, tct_error *err) {
  int64_t bytes = r->npy.shape[1] * r->npy.width, from = reader->range->from, to = reader->range->to;
  if (r->npy.fortran || to > r->npy.shape[0])
    return tct_fail(err, TCT_E_USAGE, "the array cannot be read in parts; save it in C order");
  r->first = from;
  r->npy.shape[0] = to - from;
  int64_t begin = r->header + from * bytes; /* nothing is skipped: rows are numbered, not lines */
  return tct_source_jump(reader->source, begin, begin, r->header + to * bytes, err);
}

/* ---- an archive of X and y ---- */

static tct_status read_records(npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_table *table = &reader->table;
  TCT_TRY(read_header(r, reader->source, false, err));
  TCT_TRY(check_shape(r, reader, err));
  r->rows = r->npy.shape[0];
  if (reader->range) TCT_TRY(read_part(r, reader, err));
  tct_table_init(table, r->npy.fortran ? TCT_DENSE_COLS : TCT_DENSE_ROWS, reader->options);
  if (reader->options->value_type == TCT_STORED && r->npy.kind == 'f' && r->npy.width <= 4) tct_table_narrow(table);
  if (r->npy.fortran && reader->options->memory > 0)
    return tct_fail(err, TCT_E_USAGE, "an array stored by columns is read into memory; save it in C order");
  TCT_TRY(expect_elements(r, reader, err));
  table->rows = r->npy.shape[0];
  r->whole &= !r->npy.fortran && !reader->source->array[0];
  return r->whole ? read_rows(r, reader, err) : read_elements(r, reader, err);
}

/* The array y: a label a row.  Without a wish for labels it is checked and forgotten. */
static tct_status read_labels(npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_source *source = reader->source;
  TCT_TRY(read_header(r, source, true, err));
  if (r->npy.shape[1] != 1)
    return tct_fail_at(err, source->name, 0, 0, "the array y has more than one column; give one label a record");
  for (int64_t k = 0; k < r->npy.shape[0]; k++, source->begin += r->npy.width) {
    TCT_TRY(tct_source_want(source, r->npy.width, err));
    if (source->end - source->begin < r->npy.width)
      return tct_fail_at(err, source->name, 0, 0, "the array y is shorter than its header says; fetch the file again");
    double *label = tct_pieces_reserve(&r->y, 1);
    if (!label) return tct_fail_memory(err);
    *label = 0;
    if (reader->options->labels == TCT_LABELS_NONE) continue;
    double value = tct_npy_element(&r->npy, (unsigned char *)source->buffer + source->begin);
    const char *why = tct_label_number(&r->rule, value, label);
    if (!why) continue;
    if (reader->options->invalid != TCT_INVALID_ZERO) return tct_fail_at(err, source->name, k + 1, 0, "{%s}", why);
    *label = -1;
    int64_t *bad = tct_pieces_reserve(&r->bad, 1);
    if (!bad) return tct_fail_memory(err);
    *bad = k;
  }
  return ended(source, err);
}

/* Both arrays, in the order of the archive; labels go to the table at the end. */
static tct_status read_pair(npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_source *source = reader->source;
  tct_table *table = &reader->table;
  bool records = false, labels = false;
  if (reader->range) return tct_fail(err, TCT_E_USAGE, "an archive of arrays cannot be read in parts; save X alone");
  for (;;) {
    bool first = source->array[0] == 'X';
    if (first ? records : labels)
      return tct_fail_at(err, source->name, 0, 0, "the archive holds an array twice; save it again with numpy.savez");
    if (first)
      TCT_TRY(read_records(r, reader, err));
    else
      TCT_TRY(read_labels(r, reader, err));
    *(first ? &records : &labels) = true;
    if (!source->next_array[0]) break;
    tct_source_next_array(source);
  }
  if (!records || (!labels && table->labelled))
    return tct_fail_at(err, source->name, 0, 0,
                       "the archive lacks the array %s; save it as numpy.savez(file, X=records, "
                       "y=labels){%s}",
                       records ? "y" : "X", records ? ", or name a column of X with {label}" : "");
  if (labels && r->y.total != table->rows)
    return tct_fail_at(err, source->name, 0, 0, "the arrays X and y differ in length; give one label for each record");
  if (table->labelled && !tct_pieces_append(&table->labels, &r->y)) return tct_fail_memory(err);
  return TCT_OK;
}

/* Zeroes a row that lies in a file: the map shows it. */
static tct_status zero_kept(const tct_table *table, int64_t row, int64_t cols, tct_error *err) {
  int64_t bytes = cols * (int64_t)table->values.element;
  char *zeros = TCT_NEW(char, bytes);
  if (!zeros) return tct_fail_memory(err);
  tct_status status = tct_scratch_write(table->values.file, zeros, bytes, row * bytes, err);
  tct_free(zeros);
  return status;
}

/* Zeroes the rows that had an invalid element. */
static tct_status drop_rows(npy_reader *r, const tct_table *table, tct_data *data, tct_error *err) {
  void *joined = NULL;
  const tct_matrix *m = &data->own.m;
  size_t width = m->value_type == TCT_F32 ? sizeof(float) : sizeof(double);
  int64_t count = r->bad.total;
  TCT_TRY(tct_pieces_join(&r->bad, &joined, err));
  tct_status status = TCT_OK;
  for (int64_t k = 0; k < count && status == TCT_OK; k++) {
    int64_t row = ((int64_t *)joined)[k];
    if (data->dropped[row]) continue;
    data->dropped[row] = 1;
    if (data->own_y) data->own_y[row] = -1;
    if (m->pages) status = zero_kept(table, row, m->cols, err);
    for (int64_t j = 0; j < m->cols && !m->pages; j++) {
      int64_t at = m->layout == TCT_DENSE_ROWS ? row * m->stride + j : j * m->stride + row;
      memset((char *)m->values + (size_t)at * width, 0, width);
    }
  }
  tct_free(joined);
  return status;
}

static tct_status read_all(npy_reader *r, tct_reader *reader, tct_error *err) {
  tct_table *table = &reader->table;
  TCT_TRY(tct_label_rule_make(&r->rule, reader->options, &reader->schema, &reader->data->classes, reader->c, err));
  TCT_TRY(is_pair(reader) ? read_pair(r, reader, err) : read_records(r, reader, err));
  if (reader->source->next_array[0])
    return tct_fail_at(err, reader->source->name, 0, 0, "the archive has labels of its own, y; leave {label} away");
  if (r->whole) return tct_table_finish(table, r->features, reader->data, err); /* it has dropped its rows */
  if (table->droppable) {
    for (int64_t i = 0; i < table->rows; i++) {
      unsigned char *mark = tct_pieces_reserve(&table->dropped, 1);
      if (!mark) return tct_fail_memory(err);
      *mark = 0;
    }
  }
  TCT_TRY(tct_table_finish(table, r->features, reader->data, err));
  return drop_rows(r, table, reader->data, err);
}

static tct_status read_format(tct_reader *reader, tct_error *err) {
  npy_reader r;
  memset(&r, 0, sizeof r);
  r.bad.element = sizeof(int64_t);
  r.y.element = sizeof(double);
  r.limit = reader->options->value_type == TCT_F32 ? FLT_MAX : DBL_MAX;
  if (reader->schema.root) {
    return tct_fail(err, TCT_E_USAGE, "a schema describes the named columns of a CSV file; a NPY array has none");
  }
  tct_status status = read_all(&r, reader, err);
  tct_pieces_free(&r.bad);
  tct_pieces_free(&r.y);
  return status;
}

static tct_status count_rows(const char *name, const char *head, int64_t got, int64_t *rows, const char **why,
                             tct_error *err) {
  const unsigned char *at = (const unsigned char *)head;
  tct_npy npy;
  int start = got > 12 && at[6] == 1 ? 10 : 12;
  int64_t length = got > 12 ? at[8] | at[9] << 8 : 0;
  if (got > 12 && start == 12) length |= (int64_t)at[10] << 16 | (int64_t)at[11] << 24;
  if (length == 0 || start + length > got) {
    *why = "its NPY header is damaged; save the array again";
    return TCT_OK;
  }
  const char *wrong = tct_npy_header(head + start, length, false, &npy);
  if (wrong) return tct_fail_at(err, name, 0, 0, "%s", wrong);
  if (npy.fortran) *why = "its array is stored by columns; save it in C order";
  *rows = npy.shape[0];
  return TCT_OK;
}

const tct_format tct_format_npy = {
    .name = "npy",
    .summary = "a two-dimensional NumPy array of numbers, or an archive (NPZ) of X and y; also gzip, xz, zstd, bzip2",
    .parting = TCT_PARTS_ARRAY,
    .count_rows = count_rows,
    .looks = looks,
    .read = read_format,
};
