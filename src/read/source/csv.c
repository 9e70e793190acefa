/* csv.c - records of an RFC 4180 text, field by field.
 *
 * A record is first found as a whole (memchr for the newline; byte by byte only where a quote occurs
 * before it), then split in place.  Why not libcsv: docs/decisions/own-csv-parser.md.  Fuzzed by
 * fuzz/fuzz_csv.c. */
#define _GNU_SOURCE /* memrchr */
#include "read/source/csv.h"

#include <string.h>

#include "core/alloc.h"

enum { HEAD = 1 << 16 }; /* bytes that the delimiter is told by */

/* Where a byte stands within a record. */
typedef enum place { FIELD_START, PLAIN, QUOTED, QUOTE_CLOSED } place;

/* Goes on from *at; true if the record ends there with a newline. */
static bool find_end(const char *text, int64_t length, char delimiter, int64_t *at, place *where) {
  for (; *at < length; ++*at) {
    char c = text[*at];
    if (*where == QUOTED) {
      if (c == '"') *where = QUOTE_CLOSED;
    } else if (*where == QUOTE_CLOSED && c == '"') {
      *where = QUOTED;
    } else if (c == '\n') {
      return true;
    } else if (c == delimiter) {
      *where = FIELD_START;
    } else {
      *where = *where == FIELD_START && c == '"' ? QUOTED : PLAIN;
    }
  }
  return false;
}

/* Is a record of that many bytes, of which more may follow, within the limit? */
static tct_status check_length(const tct_csv *csv, int64_t length, tct_error *err) {
  const tct_source *source = csv->source;
  bool header = csv->expect == 0;
  return (header ? tct_limits_header : tct_limits_line)(&source->limits, source->name, length, err);
}

/* The length of the record that starts at source->begin, without its newline; all of it is unread then. */
static tct_status record_length(tct_csv *csv, int64_t *length, bool *quoted, tct_error *err) {
  tct_source *source = csv->source;
  int64_t at = 0;
  place where = FIELD_START;
  *quoted = false;
  for (;;) {
    char *text = source->buffer + source->begin;
    int64_t unread = source->end - source->begin;
    if (!*quoted && unread > at) {
      char *newline = memchr(text + at, '\n', (size_t)(unread - at));
      int64_t end = newline ? newline - text : unread;
      if (memchr(text + at, '"', (size_t)(end - at))) {
        *quoted = true;
        at = 0;
      } else if (newline) {
        *length = end;
        return check_length(csv, end, err);
      } else {
        at = unread;
      }
    }
    if (*quoted && find_end(text, unread, csv->delimiter, &at, &where)) {
      *length = at;
      return check_length(csv, at, err);
    }
    if (source->ended) break;
    TCT_TRY(check_length(csv, unread, err));
    TCT_TRY(tct_source_more(source, err));
  }
  *length = source->end - source->begin;
  TCT_TRY(check_length(csv, *length, err)); /* first, as where the text comes in smaller pieces */
  if (where != QUOTED) return TCT_OK;
  return tct_fail_at(err, source->name, csv->line, 0,
                     "a quoted field that starts in this record is never closed; close the quote or double it");
}

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
  if (from < end) from++; /* the closing quote */
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

char tct_csv_delimiter(const char *head, int64_t length) {
  static const char known[] = ",;\t|";
  int64_t counts[sizeof known] = {0}, at = 0;
  bool quoted = false;
  if (length > HEAD) length = HEAD;
  if (length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0) at = 3;
  while (at < length && (head[at] == '\n' || head[at] == '\r')) at++;
  for (; at < length && (quoted || head[at] != '\n'); at++) {
    const char *found = head[at] ? strchr(known, head[at]) : NULL;
    if (head[at] == '"') quoted = !quoted;
    if (found && !quoted) counts[found - known]++;
  }
  int best = 0;
  for (int k = 1; known[k]; k++)
    if (counts[k] > counts[best]) best = k;
  return known[best];
}

tct_status tct_csv_begin(tct_csv *csv, tct_source *source, char delimiter, tct_error *err) {
  memset(csv, 0, sizeof *csv);
  csv->source = source;
  csv->next_line = 1;
  TCT_TRY(tct_source_want(source, HEAD, err));
  csv->delimiter =
      delimiter ? delimiter : tct_csv_delimiter(source->buffer + source->begin, source->end - source->begin);
  if (source->end - source->begin >= 3 && memcmp(source->buffer + source->begin, "\xEF\xBB\xBF", 3) == 0) {
    source->begin += 3;
  }
  return TCT_OK;
}

tct_status tct_csv_next(tct_csv *csv, bool *more, tct_error *err) {
  tct_source *source = csv->source;
  bool quoted;
  int64_t length = 0;
  csv->fault.why = NULL;
  csv->line = csv->next_line;
  TCT_TRY(tct_source_want(source, 1, err));
  *more = source->begin < source->end;
  if (!*more) return TCT_OK;
  TCT_TRY(record_length(csv, &length, &quoted, err));
  char *text = source->buffer + source->begin;
  source->begin += length;
  if (source->begin < source->end) source->begin++; /* the newline */
  csv->next_line += 1 + (quoted ? count_bytes(text, length, '\n') : 0);
  if (length > 0 && text[length - 1] == '\r') length--;
  csv->blank = length == 0;
  char *zero = length > 0 ? memchr(text, 0, (size_t)length) : NULL;
  if (zero)
    set_fault(csv, 1 + count_bytes(text, zero - text, csv->delimiter), "the record holds a NUL byte; give a text file");
  return split(csv, text, text + length, err);
}

/* Without quotes every line end is a record end, and what is looked at next is the rest behind the last of them. */
int64_t tct_csv_last_end(tct_csv_cut *cut, const char *text, int64_t length) {
  int64_t fresh = length - cut->at;
  if (fresh <= 0) return cut->end;
  if (!cut->quoted && cut->delimiter && memchr(text + cut->at, '"', (size_t)fresh)) {
    cut->quoted = true;
    cut->at = cut->end;
    cut->place = FIELD_START;
  }
  place where = (place)cut->place;
  while (cut->quoted && find_end(text, length, cut->delimiter, &cut->at, &where)) {
    cut->end = ++cut->at;
    where = FIELD_START;
  }
  cut->place = (int)where;
  const char *newline = cut->quoted ? NULL : memrchr(text + cut->at, '\n', (size_t)fresh);
  if (newline) cut->end = newline - text + 1;
  cut->at = length;
  return cut->end;
}

void tct_csv_end(tct_csv *csv) {
  tct_free(csv->field);
  memset(csv, 0, sizeof *csv);
}
