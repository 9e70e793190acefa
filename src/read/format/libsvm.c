/* libsvm.c - the LIBSVM text reader: "label index:value index:value ... # comment".
 *
 * Indices are 1-based and ascending.  The number of features is a public fact: options.cols gives it;
 * the largest index of the file is taken otherwise, and named as unaccounted. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/label.h"
#include "read/source/record.h"
#include "read/format/blocks.h"

/* The features of one line, and what reading it needs. */
typedef struct libsvm {
  tct_label_rule rule;
  int32_t *index;
  double *value;
  int64_t count, cap;
  int64_t largest; /* largest index of a well-formed line so far */
  int64_t max;     /* largest index allowed */
  bool given;      /* it is the caller's number of features, not a limit */
  double limit;    /* largest magnitude that the value type holds */
  bool no_memory;
} libsvm;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next word between *at and end; its length is 0 at the end. */
static const char *next_word(const char **at, const char *end, int64_t *length) {
  const char *first = *at;
  while (first < end && is_blank(*first)) first++;
  const char *last = first;
  while (last < end && !is_blank(*last)) last++;
  *at = last;
  *length = last - first;
  return first;
}

/* Reads "index:"; returns what follows the colon, or NULL.  Index 0 comes out as 0, too large as INT64_MAX. */
static const char *read_index(const char *word, int64_t length, int64_t *index) {
  int64_t k = 0;
  *index = 0;
  for (; k < length && (unsigned)(word[k] - '0') < 10; k++) {
    *index = *index < INT64_MAX / 20 ? *index * 10 + (word[k] - '0') : INT64_MAX;
  }
  return k > 0 && k < length && word[k] == ':' ? word + k + 1 : NULL;
}

static bool is_pair(const char *word, int64_t length, locale_t c) {
  int64_t index;
  double value;
  const char *text = read_index(word, length, &index);
  return text && tct_number_parse(text, word + length - text, c, &value) == TCT_NUMBER_OK;
}

/* Told by the first line that is neither empty nor a comment: a number alone, or pairs. */
static bool looks(const char *head, int64_t length, locale_t c) {
  const char *at = head, *end = head + length;
  while (at < end) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    const char *stop = line_end ? line_end : end;
    const char *comment = memchr(at, '#', (size_t)(stop - at));
    int64_t first_length, second_length;
    if (comment) stop = comment;
    const char *first = next_word(&at, stop, &first_length);
    const char *second = next_word(&at, stop, &second_length);
    if (first_length > 0) {
      double value;
      if (is_pair(first, first_length, c) || is_pair(second, second_length, c)) return true;
      if (second_length > 4 && memcmp(second, "qid:", 4) == 0) return true;
      return second_length == 0 && tct_number_parse(first, first_length, c, &value) == TCT_NUMBER_OK;
    }
    if (!line_end) return false;
    at = line_end + 1;
  }
  return false;
}

static bool add_pair(libsvm *r, int64_t index, double value) {
  if (r->count == r->cap) {
    int64_t cap = r->cap ? 2 * r->cap : 256;
    int32_t *grown_index = tct_grow(r->index, r->count, cap, sizeof *r->index);
    if (grown_index) r->index = grown_index;
    double *grown_value = tct_grow(r->value, r->count, cap, sizeof *r->value);
    if (grown_value) r->value = grown_value;
    r->no_memory = !grown_index || !grown_value;
    if (r->no_memory) return false;
    r->cap = cap;
  }
  r->index[r->count] = (int32_t)(index - 1);
  r->value[r->count++] = value;
  return true;
}

static const char *read_pair(libsvm *r, const char *word, int64_t length, int64_t *last) {
  int64_t index;
  double value = 0;
  const char *text = read_index(word, length, &index);
  if (!text && length > 4 && memcmp(word, "qid:", 4) == 0) {
    return "ranking data (qid) are not supported; remove the qid fields";
  }
  if (!text) return "the field is not index:value; write LIBSVM features as index:value with a blank between them";
  if (index == 0) return "an index is 0; LIBSVM indices start at 1, so add 1 to every index";
  if (index <= *last) return "the indices are not ascending; sort each line by index and remove repetitions";
  if (index > r->max && !r->given) return TCT_TOO_MANY_COLUMNS;
  if (index > r->max) return "an index is larger than the number of features; correct it or give a larger {cols}";
  *last = index;
  if (tct_number_parse(text, word + length - text, r->rule.c, &value) != TCT_NUMBER_OK) {
    return "the value is not a finite decimal number; correct it";
  }
  if (fabs(value) > r->limit) return "the number is too large for single precision; read in double precision";
  if (value != 0) add_pair(r, index, value);
  return NULL;
}

/* One line; returns what is wrong at field *column, or NULL. */
static const char *read_record(libsvm *r, const char *at, const char *end, double *label, int64_t *column) {
  int64_t length, last = 0;
  const char *word = next_word(&at, end, &length);
  int64_t index;
  *column = 1;
  r->count = 0;
  if (memchr(word, 0, (size_t)(end - word))) return "the line holds a NUL byte; give a text file";
  bool unlabelled = read_index(word, length, &index) != NULL;
  if (r->rule.kind != TCT_LABELS_NONE) {
    if (unlabelled) return "the line does not begin with a label; put the label first";
    const char *why = tct_label_text(&r->rule, word, length, label);
    if (why) return why;
  }
  if (unlabelled) at = word;
  for (*column = unlabelled ? 1 : 2; (word = next_word(&at, end, &length)), length > 0; ++*column) {
    const char *why = read_pair(r, word, length, &last);
    if (why) return why;
    if (r->no_memory) return NULL;
  }
  if (last > r->largest) r->largest = last;
  return NULL;
}

/* Behind the line's last byte before a comment and blanks. */
static const char *end_of(const char *line, int64_t length) {
  const char *comment = length > 0 ? memchr(line, '#', (size_t)length) : NULL, *end = comment ? comment : line + length;
  while (end > line && is_blank(end[-1])) end--;
  return end;
}

static tct_status read_lines(libsvm *r, tct_reader *reader, tct_error *err) {
  for (int64_t number = 1;; number++) {
    tct_record line;
    int64_t column = 0;
    double label = 0;
    TCT_TRY(tct_record_next(reader->source, 0, false, &line, err));
    if (!line.text) return TCT_OK;
    const char *why = TCT_TOO_LONG, *end = line.too_long ? NULL : end_of(line.text, line.length);
    if (end == line.text) continue;
    if (end) why = read_record(r, line.text, end, &label, &column);
    if (r->no_memory) return tct_fail_memory(err);
    if (why) {
      TCT_TRY(tct_reader_invalid(reader, number, column, why, 0, err));
    } else {
      TCT_TRY(tct_table_sparse(&reader->table, r->index, r->value, r->count, (tct_said){label, 1, 0}, err));
    }
  }
}

/* ---- blocks of the file, read by several threads ---- */

static tct_status begin_part(const void *whole, void *part, tct_reader *reader, tct_error *err) {
  const libsvm *from = whole;
  libsvm *r = part;
  (void)reader, (void)err;
  *r = *from; /* nothing of its own is allocated yet */
  return TCT_OK;
}

static tct_status parse_part(void *part, tct_reader *reader, tct_error *err) { return read_lines(part, reader, err); }

static tct_status join_part(void *user, void *part, tct_reader *reader, int64_t lines, tct_error *err) {
  libsvm *r = user;
  const libsvm *from = part;
  (void)reader, (void)lines, (void)err;
  if (from->largest > r->largest) r->largest = from->largest;
  return TCT_OK;
}

static void end_part(void *part) {
  libsvm *r = part;
  tct_wipe_free(r->value, r->cap, sizeof *r->value);
  tct_wipe_free(r->index, r->cap, sizeof *r->index);
}

static tct_status read_all_lines(libsvm *r, tct_reader *reader, tct_error *err) {
  if (!tct_blocks_wanted(reader, 0)) return read_lines(r, reader, err);
  return tct_blocks_read(&(tct_blocks){.size = sizeof *r,
                                       .whole = r,
                                       .begin = begin_part,
                                       .parse = parse_part,
                                       .join = join_part,
                                       .end = end_part,
                                       .user = r},
                         reader, err);
}

static tct_status finish(libsvm *r, tct_reader *reader, tct_error *err) {
  const char *file = reader->source->name;
  int64_t cols = reader->options->cols;
  if (reader->table.rows == 0 && !reader->range) {
    return tct_fail_at(err, file, 0, 0, "the file has no records; give at least one");
  }
  if (cols == 0) {
    cols = r->largest;
    if (cols == 0 && !reader->range) {
      return tct_fail_at(err, file, 0, 0, "no record has a feature; give the number of features with {cols}");
    }
    TCT_TRY(tct_data_unaccounted(
        reader->data, "the number of features is the largest index in the data; give it yourself (cols)", err));
  }
  return tct_table_finish(&reader->table, cols, reader->data, err);
}

static tct_status read_format(tct_reader *reader, tct_error *err) {
  const tct_read_options *options = reader->options;
  libsvm r;
  memset(&r, 0, sizeof r);
  if (reader->schema.root) {
    return tct_fail(err, TCT_E_USAGE, "a schema describes the named columns of a CSV file; LIBSVM text has none");
  }
  if (options->label) {
    return tct_fail(err, TCT_E_USAGE, "the label of LIBSVM text is its first field; leave {label} away");
  }
  r.given = options->cols > 0;
  r.max = r.given ? options->cols : reader->source->limits.cols;
  r.limit = options->value_type == TCT_F32 ? FLT_MAX : DBL_MAX;
  TCT_TRY(tct_label_rule_make(&r.rule, options, &reader->schema, &reader->data->classes, reader->c, err));
  tct_table_init(&reader->table, TCT_CSR, options);
  if (reader->range) TCT_TRY(tct_source_jump(reader->source, 0, reader->range->from, reader->range->to, err));
  tct_status status = read_all_lines(&r, reader, err);
  if (status == TCT_OK) status = finish(&r, reader, err);
  end_part(&r);
  return status;
}

const tct_format tct_format_libsvm = {
    .name = "libsvm",
    .summary = "sparse text, one `label index:value ...` a line, indices from 1; also gzip, xz, zstd, bzip2",
    .parting = TCT_PARTS_LINES,
    .headless = true,
    .looks = looks,
    .read = read_format,
};
