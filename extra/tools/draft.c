/* draft.c - drafts a schema from the data.  NOT private: every value in it is the data's own.
 *
 * A column whose present fields are all numbers becomes a number, its bounds rounded outward.  Few distinct whole
 * numbers are taken for codes and become a category, as a column with few texts does.  Dates are told by their form.  A
 * column of many texts, or in which no text or whole number comes twice, is taken for names or identifiers and is
 * ignored.  So is one that is called a number of somebody, and has many values that come back: it says whose a record
 * is.  A comment in each column says what to look at. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "read/source/csv.h"
#include "core/number.h"
#include "read/format/reader.h"
#include "read/schema/dates.h"
#include "read/schema/schema.h"
#include "read/table/names.h"

/* More distinct texts than a reviewer would read are taken for free text. */
enum { MOST_VALUES = 1000 };
/* Fewer records say nothing about codes and identifiers; more distinct numbers than these are no codes. */
enum { FEW_RECORDS = 20, MOST_CODES = 12 };
/* A person with more records than these on average is no person. */
enum { RECORDS_EACH = 20 };

static const char *const missing_words[] = {"?", ".", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"};

typedef struct drafted {
  json_t *values; /* object: text -> null, in order of appearance: the first of them; NULL: one is not UTF-8 */
  double lower, upper, first_day, last_day;
  bool numeric;   /* no present field is anything else */
  bool whole;     /* these numbers are all whole */
  bool dates;     /* all present fields are dates */
  bool others;    /* all are dates of another form */
  bool many;      /* there are more values than those kept */
  bool again;     /* one of those kept came twice */
  int64_t filled; /* present fields until there were too many values */
  int64_t seen;   /* present fields */
  bool any;       /* a present field was seen */
  bool missing;   /* a missing field was seen */
} drafted;

typedef struct draft {
  tct_source source;
  tct_csv csv;
  char **names;
  int64_t *sorted, count, label;
  drafted *column;
  json_t *words; /* object: words for missing values that occur */
  locale_t c;
} draft;

static bool is_missing_word(const char *text) {
  for (size_t k = 0; k < sizeof missing_words / sizeof *missing_words; k++)
    if (!strcmp(text, missing_words[k])) return true;
  return false;
}

/* Text that is not UTF-8 cannot stand in JSON: the column is then ignored. */
static void add_value(drafted *column, const char *text) {
  if (!column->values) return;
  bool known = json_object_get(column->values, text) != NULL;
  column->again |= known;
  column->many |= !known && json_object_size(column->values) == MOST_VALUES;
  column->filled += !column->many;
  if (known || column->many || json_object_set_new(column->values, text, json_null()) == 0) return;
  json_decref(column->values);
  column->values = NULL;
}

static tct_status add_field(draft *d, drafted *column, const tct_field *field, tct_error *err) {
  double value, day;
  column->missing |= field->length == 0;
  if (field->length == 0) return TCT_OK;
  char *text = TCT_NEW(char, field->length + 1);
  if (!text) return tct_fail_memory(err);
  memcpy(text, field->at, (size_t)field->length);
  if (is_missing_word(text)) {
    column->missing = true;
    json_object_set_new(d->words, text, json_null());
  } else {
    column->any = true;
    column->seen++;
    add_value(column, text);
    if (tct_number_parse(text, field->length, d->c, &value) == TCT_NUMBER_OK) {
      column->lower = fmin(column->lower, value);
      column->upper = fmax(column->upper, value);
      column->whole &= value == trunc(value);
    } else {
      column->numeric = false;
    }
    column->others = column->others && tct_date_other(text);
    column->dates = column->dates && tct_date_parse(text, field->length, &day);
    if (column->dates) column->first_day = fmin(column->first_day, day), column->last_day = fmax(column->last_day, day);
  }
  tct_wipe_free(text, field->length, 1);
  return TCT_OK;
}

static tct_status begin(draft *d, const char *label, tct_error *err) {
  const char *path = d->source.name;
  TCT_TRY(tct_source_want(&d->source, 1 << 16, err));
  const char *head = d->source.buffer + d->source.begin;
  int64_t length = d->source.end - d->source.begin;
  const tct_format *format;
  TCT_TRY(tct_format_tell(&(tct_read_options){0}, path, head, length, &format, err));
  if (!format->has_names)
    return tct_fail(err, TCT_E_USAGE, "a schema is drafted from a CSV or Stata file; save the table as CSV for it");
  if (format->as_csv) TCT_TRY(format->as_csv(&d->source, err));
  TCT_TRY(tct_csv_begin(&d->csv, &d->source, 0, true, err));
  TCT_TRY(tct_csv_header(&d->csv, &d->names, &d->sorted, &d->count, err));
  d->label = label ? tct_names_find((const char *const *)d->names, d->sorted, d->count, label) : -1;
  if (label && d->label < 0) d->label = tct_reader_column(label, d->count) - 1;
  if (label && d->label < 0)
    return tct_fail_at(err, path, d->csv.line, 0,
                       "the header has no column \"%.200s\" for the label; name the label as the header does", label);
  d->column = TCT_NEW(drafted, d->count);
  d->words = json_object();
  if (!d->column || !d->words) return tct_fail_memory(err);
  for (int64_t j = 0; j < d->count; j++) {
    d->column[j] = (drafted){.values = json_object(),
                             .lower = INFINITY,
                             .upper = -INFINITY,
                             .first_day = INFINITY,
                             .last_day = -INFINITY,
                             .numeric = true,
                             .whole = true,
                             .dates = true,
                             .others = true};
    if (!d->column[j].values) return tct_fail_memory(err);
  }
  return TCT_OK;
}

static tct_status scan_records(draft *d, tct_error *err) {
  for (int64_t records = 0;; records++) {
    bool more;
    TCT_TRY(tct_csv_next(&d->csv, &more, err));
    if (!more && records == 0)
      return tct_fail_at(err, d->source.name, 0, 0, "the file has a header but no records; give at least one");
    if (!more) return TCT_OK;
    if (d->csv.blank) continue;
    if (d->csv.fault.why)
      return tct_fail_at(err, d->source.name, d->csv.line, d->csv.fault.column, "{%s}", d->csv.fault.why);
    for (int64_t j = 0; j < d->count; j++) TCT_TRY(add_field(d, &d->column[j], &d->csv.field[j], err));
  }
}

static json_t *keys_of(json_t *object) {
  const char *key;
  json_t *value, *list = json_array();
  json_object_foreach(object, key, value) json_array_append_new(list, json_string(key));
  return list;
}

/* Takes `value`; does nothing if it is NULL, which json_is_valid finds at the end. */
static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

/* Bounds a little wider than the data's, in round numbers: exact ones would be the data's own. */
static void round_outward(double *lower, double *upper) {
  double range = *upper - *lower, step = pow(10, floor(log10(range))) / 2;
  double low = floor(*lower / step) * step, high = ceil(*upper / step) * step;
  if (isfinite(low) && low <= *lower) *lower = low;
  if (isfinite(high) && high >= *upper) *upper = high;
}

static void draft_number(const drafted *from, json_t *to) {
  /* One value alone gives no interval: it gets one of length 1. */
  double lower = from->lower, upper = from->upper > lower ? from->upper : lower + fmax(1, fabs(lower));
  round_outward(&lower, &upper);
  set(to, "type", json_string("number"));
  set(to, "lower", json_real(lower));
  set(to, "upper", json_real(upper));
  set(to, "comment",
      json_string("Write the range that is known without the data; values outside are brought to its ends."));
}

/* From the beginning of a year to the end of one. */
static void draft_date(const drafted *from, json_t *to) {
  char lower[24], upper[24];
  snprintf(lower, sizeof lower, "%04d-01-01", tct_date_of(from->first_day).year);
  snprintf(upper, sizeof upper, "%04d-12-31", tct_date_of(from->last_day).year);
  set(to, "type", json_string("date"));
  set(to, "lower", json_string(lower));
  set(to, "upper", json_string(upper));
  set(to, "comment",
      json_string("Write the range that is known without the data. A date has functions, such as month, or "
                  "years_between two dates; write under \"terms\" what is wanted."));
}

static int by_number(const void *a, const void *b) {
  double x = strtod(json_string_value(*(json_t *const *)a), NULL),
         y = strtod(json_string_value(*(json_t *const *)b), NULL);
  return (x > y) - (x < y);
}

/* Whole numbers in their order. */
static json_t *codes_of(json_t *object) {
  json_t *list = keys_of(object), *sorted = json_array(), *at[MOST_CODES];
  size_t count = json_array_size(list);
  for (size_t k = 0; k < count && k < MOST_CODES; k++) at[k] = json_array_get(list, k);
  qsort(at, count, sizeof *at, by_number);
  for (size_t k = 0; k < count && k < MOST_CODES; k++) json_array_append(sorted, at[k]);
  json_decref(list);
  return sorted;
}

static void draft_category(const drafted *from, json_t *to, bool codes) {
  set(to, "type", json_string("category"));
  set(to, "values", codes ? codes_of(from->values) : keys_of(from->values));
  set(to, "comment",
      json_string(codes ? "Few whole numbers: list the codes of the code book; for a quantity write type number with "
                          "lower and upper instead."
                        : "List the values of the code book, also those that the data lack; \"other\" says what an "
                          "unlisted one becomes."));
}

static bool is_codes(const drafted *from) {
  size_t distinct = json_object_size(from->values); /* 0 for NULL */
  return from->numeric && from->whole && from->seen >= FEW_RECORDS && distinct >= 2 && distinct <= MOST_CODES;
}

static bool is_identifier(const drafted *from) {
  return from->seen >= FEW_RECORDS && !from->again && (!from->numeric || from->whole);
}

/* Does the name end in a word for a number of somebody, or is it a word for somebody?  "patient_nbr", "customerId". */
static bool names_somebody(const char *name) {
  static const char *const ends[] = {"id", "nr", "no", "nbr", "key", "number"};
  static const char *const whole[] = {"customer", "client",  "patient",   "person",   "user",    "account",
                                      "member",   "subject", "household", "employee", "student", "who"};
  size_t length = strlen(name);
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
    if (!strcasecmp(name, whole[k])) return true;
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    size_t own = strlen(ends[k]);
    if (length < own || strcasecmp(name + length - own, ends[k]) != 0) continue;
    if (length == own || !isalpha((unsigned char)name[length - own - 1])) return true;
    if (isupper((unsigned char)name[length - own]) && islower((unsigned char)name[length - own - 1])) return true;
  }
  return false;
}

/* Many values, and some of them of more than one record. */
static bool is_person(const drafted *from, const char *name) {
  int64_t values = (int64_t)json_object_size(from->values), among = from->many ? from->filled : from->seen;
  return names_somebody(name) && values >= FEW_RECORDS && from->again && (!from->numeric || from->whole) &&
         values * RECORDS_EACH >= among;
}

static json_t *draft_column(const draft *d, int64_t j) {
  const drafted *from = &d->column[j];
  json_t *to = json_object();
  const char *ignored = NULL;
  set(to, "name", json_string(d->names[j]));
  if (!from->any)
    ignored = "No value is present.";
  else if (from->dates)
    draft_date(from, to);
  else if (from->others)
    ignored = "Dates, but not such as 2024-01-31: write them so, and draft again.";
  else if (is_identifier(from))
    ignored = "No value comes twice: it looks like an identifier, which predicts nobody else.";
  else if (is_person(from, d->names[j]))
    ignored =
        "It looks like the number of a person with several records: name it as the persons' column when you "
        "train. It is no feature.";
  else if (from->numeric && !is_codes(from))
    draft_number(from, to);
  else if (!from->values || from->many)
    ignored = "More texts than one would list: free text or names.";
  else if (json_object_size(from->values) == 1)
    ignored = "One value alone: unless others are possible, it says nothing.";
  else
    draft_category(from, to, from->numeric);
  if (!ignored && from->missing) set(to, "missing", json_string("indicator"));
  if (ignored) set(to, "type", json_string("ignore"));
  if (ignored) set(to, "comment", json_string(ignored));
  return to;
}

/* Where a date is, which is no feature by itself, all terms are listed. */
static json_t *draft_terms(const json_t *columns) {
  json_t *list = json_array(), *column;
  bool dates = false;
  size_t k;
  json_array_foreach((json_t *)columns, k, column) {
    const char *type = tct_json_said(column, "type");
    json_t *name = json_object_get(column, "name");
    if (!type || !strcmp(type, "ignore")) continue;
    bool date = !strcmp(type, "date");
    dates |= date;
    const char *lower = tct_json_said(column, "lower"), *upper = tct_json_said(column, "upper");
    bool one_year = date && !strncmp(lower, upper, 4);
    json_array_append_new(
        list, date ? json_pack("{s:O, s:s}", "of", name, "as", one_year ? "month" : "year") : json_incref(name));
  }
  if (dates) return list;
  json_decref(list);
  return NULL;
}

static json_t *draft_label(const draft *d) {
  const drafted *from = &d->column[d->label];
  json_t *to = json_object(), *values = from->values && !from->many ? keys_of(from->values) : NULL;
  set(to, "name", json_string(d->names[d->label]));
  if (values && json_array_size(values) == 2) {
    const char *first = json_string_value(json_array_get(values, 0)),
               *second = json_string_value(json_array_get(values, 1));
    bool larger = from->numeric ? strtod(first, NULL) < strtod(second, NULL) : strcmp(first, second) < 0;
    set(to, "positive", json_string(larger ? second : first));
    set(to, "values", json_incref(values));
    set(to, "comment", json_string("\"positive\" is the value that the model's probability is of."));
  } else if (from->numeric && from->lower < from->upper) {
    double lower = from->lower, upper = from->upper;
    round_outward(&lower, &upper);
    set(to, "lower", json_real(lower));
    set(to, "upper", json_real(upper));
    set(to, "comment",
        json_string(is_codes(from) ? "Few whole numbers: if they are classes, write \"values\" with all "
                                     "of them, as texts, instead of lower and upper."
                                   : "Write the range that is known without the data."));
  } else if (values && json_array_size(values) > 2) {
    set(to, "values", json_incref(values));
  }
  json_decref(values);
  return to;
}

static tct_status write(const draft *d, char **text, tct_error *err) {
  json_t *root = json_object(), *columns = json_array();
  set(root, "not_private",
      json_string("This draft holds values of the data. Review and replace every value by public knowledge, then "
                  "delete this line."));
  set(root, "format", json_string("tacit-schema"));
  set(root, "version", json_integer(TCT_SCHEMA_TERMS));
  if (json_object_size(d->words) > 0) set(root, "missing_values", keys_of(d->words));
  if (d->label >= 0) set(root, "label", draft_label(d));
  for (int64_t j = 0; j < d->count; j++) {
    if (j != d->label) json_array_append_new(columns, draft_column(d, j));
  }
  bool whole = (int64_t)json_array_size(columns) == d->count - (d->label >= 0);
  set(root, "columns", columns);
  json_t *terms = draft_terms(columns);
  if (terms) set(root, "terms", terms);
  *text = whole ? tct_json_dump(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(root);
  return *text ? TCT_OK : tct_fail_memory(err);
}

static tct_status draft_all(draft *d, const char *label, char **text, tct_error *err) {
  TCT_TRY(begin(d, label, err));
  TCT_TRY(scan_records(d, err));
  return write(d, text, err);
}

/* Drafts from the open source of `d`, and frees everything. */
static char *draft_and_close(draft *d, const char *label, tct_error *err) {
  char *text = NULL;
  d->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!d->c)
    tct_fail_memory(err);
  else if (draft_all(d, label, &text, err) != TCT_OK)
    text = NULL;
  for (int64_t j = 0; d->column && j < d->count; j++) json_decref(d->column[j].values);
  tct_free(d->column);
  json_decref(d->words);
  tct_free(d->names);
  tct_free(d->sorted);
  tct_csv_end(&d->csv);
  tct_source_close(&d->source);
  if (d->c) freelocale(d->c);
  return text;
}

char *tct_schema_draft_nonprivate(const char *path, const char *csv, const char *label, tct_error *err) {
  draft d = {.source.input.file = -1};
  tct_error_clear(err);
  if (!path == !csv) {
    tct_fail(err, TCT_E_USAGE, "one table is needed; give a path (- for standard input), or CSV text with a header");
    return NULL;
  }
  if (csv) {
    tct_source_memory(&d.source, "the table", csv, (int64_t)strlen(csv), 1 << 20);
  } else if (tct_source_open(&d.source, path, err) != TCT_OK) {
    tct_source_close(&d.source);
    return NULL;
  }
  return draft_and_close(&d, label, err);
}
