/* csv.c - records of an RFC 4180 text, field by field.
 *
 * A record is first found as a whole (record.h), then split in place.  Why not libcsv:
 * docs/decisions/own-csv-parser.md.  Fuzzed by fuzz/fuzz_csv.c. */
#include "read/source/csv.h"

#include <string.h>

#include "core/alloc.h"

enum { HEAD = 1 << 16 }; /* bytes that the delimiter is told by */

/* Space for one field more; false = out of memory. */
static bool add_field(tct_csv *csv, char *at, int64_t length) {
  if (csv->fields == csv->cap) {
    int64_t cap = csv->cap ? 2 * csv->cap : 64;
    tct_field *grown = tct_grow(csv->field, csv->fields, cap, sizeof *grown);
    if (!grown) return false;
    csv->field = grown;
    csv->cap = cap;
  }
  csv->field[csv->fields].at = at;
  csv->field[csv->fields++].length = length;
  return true;
}

static void set_fault(tct_csv *csv, int64_t column, const char *why) {
  if (csv->fault.why) return;
  csv->fault.column = column;
  csv->fault.why = why;
}

/* Removes the quotes of the field that starts at *at with one; *at moves behind the field. */
static int64_t unquote(tct_csv *csv, char **at, char *end) {
  char *to = *at, *from = *at + 1;
  while (from < end) {
    if (*from == '"') {
      if (from + 1 == end || from[1] != '"') break;
      from++;
    }
    *to++ = *from++;
  }
  if (from < end)
    from++; /* the closing quote */
  else
    set_fault(csv, csv->fields + 1,
              "the quoted field does not end in its line; close the quote or double it, or read fields over several "
              "lines with {multiline}");
  if (from < end && *from != csv->delimiter) {
    set_fault(csv, csv->fields + 1, "text follows the closing quote; double the quotes that belong to the text");
    while (from < end && *from != csv->delimiter) from++;
  }
  int64_t length = to - *at;
  *at = from;
  return length;
}

static tct_status split(tct_csv *csv, char *at, char *end, tct_error *err) {
  csv->fields = 0;
  for (;; at++) {
    char *first = at;
    int64_t length;
    if (at < end && *at == '"') {
      length = unquote(csv, &at, end);
    } else {
      while (at < end && *at != csv->delimiter) at++;
      length = at - first;
    }
    if (csv->expect > 0 && csv->fields == csv->expect) {
      set_fault(csv, csv->expect + 1,
                "the record has more fields than the header; quote a field that holds the delimiter");
      return TCT_OK;
    }
    if (csv->expect == 0 && csv->fields == csv->source->limits.cols) {
      set_fault(csv, csv->fields + 1, TCT_TOO_MANY_COLUMNS);
      return TCT_OK;
    }
    if (!add_field(csv, first, length)) return tct_fail_memory(err);
    if (at == end) break;
  }
  if (csv->fields < csv->expect) {
    set_fault(csv, csv->fields + 1, "the record has fewer fields than the header; add the missing delimiters");
  }
  return TCT_OK;
}

static int64_t count_bytes(const char *text, int64_t length, char byte) {
  int64_t count = 0;
  for (int64_t k = 0; k < length; k++) count += text[k] == byte;
  return count;
}

bool tct_csv_usable(char delimiter) {
  return delimiter == '\t' || (delimiter && strchr(",;|:!#$%&*/<=>?@\\^_`{}~", delimiter) != NULL);
}

char tct_csv_delimiter(const char *head, int64_t length, bool multiline) {
  static const char known[] = ",;\t|";
  int64_t counts[sizeof known] = {0}, at = 0;
  bool quoted = false;
  if (length > HEAD) length = HEAD;
  if (length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) at = 3;
  while (at < length && (head[at] == '\n' || head[at] == '\r')) at++;
  for (; at < length && ((quoted && multiline) || head[at] != '\n'); at++) {
    const char *found = head[at] ? strchr(known, head[at]) : NULL;
    if (head[at] == '"') quoted = !quoted;
    if (found && !quoted) counts[found - known]++;
  }
  int best = 0;
  for (int k = 1; known[k]; k++)
    if (counts[k] > counts[best]) best = k;
  return known[best];
}

tct_status tct_csv_begin(tct_csv *csv, tct_source *source, char delimiter, bool multiline, tct_error *err) {
  memset(csv, 0, sizeof *csv);
  csv->source = source;
  csv->multiline = multiline;
  csv->next_line = 1;
  TCT_TRY(tct_source_want(source, HEAD, err));
  csv->delimiter =
      delimiter ? delimiter : tct_csv_delimiter(source->buffer + source->begin, source->end - source->begin, multiline);
  if (source->end - source->begin >= 3 && memcmp(source->buffer + source->begin, "\xEF\xBB\xBF", 3) == 0) {
    source->begin += 3;
  }
  return TCT_OK;
}

tct_status tct_csv_next(tct_csv *csv, bool *more, tct_error *err) {
  tct_record record;
  csv->fault.why = NULL;
  csv->line = csv->next_line;
  TCT_TRY(tct_record_next(csv->source, csv->multiline ? csv->delimiter : 0, csv->expect == 0, &record, err));
  *more = record.text != NULL;
  if (!*more) return TCT_OK;
  if (record.open) return tct_fail_at(err, csv->source->name, csv->line, 0, TCT_NEVER_CLOSED);
  csv->next_line += record.lines;
  csv->blank = record.length == 0 && !record.too_long;
  if (record.too_long) set_fault(csv, 0, TCT_TOO_LONG);
  if (record.too_long) return TCT_OK;
  char *text = record.text, *zero = record.length > 0 ? memchr(text, 0, (size_t)record.length) : NULL;
  if (zero)
    set_fault(csv, 1 + count_bytes(text, zero - text, csv->delimiter), "the record holds a NUL byte; give a text file");
  return split(csv, text, text + record.length, err);
}

void tct_csv_end(tct_csv *csv) {
  tct_free(csv->field);
  memset(csv, 0, sizeof *csv);
}
