/* record.c - where the records of a text end.
 *
 * A record is found as a whole: memchr for the newline, and byte by byte only from a record on that has a quote. */
#define _GNU_SOURCE /* memrchr */
#include "read/source/record.h"

#include <string.h>

int64_t tct_record_walk(const char *text, int64_t length, char delimiter, tct_place *place, int64_t stop,
                        int64_t *ends) {
  for (int64_t k = 0; !delimiter && k < length;) {
    const char *newline = memchr(text + k, '\n', (size_t)(length - k));
    k = newline ? newline - text + 1 : length;
    if (newline && ++*ends == stop) return k;
  }
  for (int64_t k = 0; delimiter && k < length; k++) {
    char c = text[k];
    if (*place == TCT_QUOTED) {
      if (c == '"') *place = TCT_QUOTE_CLOSED;
    } else if (*place == TCT_QUOTE_CLOSED && c == '"') {
      *place = TCT_QUOTED;
    } else if (c == '\n') {
      *place = TCT_FIELD_START;
      if (++*ends == stop) return k + 1;
    } else if (c == delimiter) {
      *place = TCT_FIELD_START;
    } else {
      *place = *place == TCT_FIELD_START && c == '"' ? TCT_QUOTED : TCT_PLAIN;
    }
  }
  return length;
}

int64_t tct_count_lines(const char *text, int64_t length) {
  int64_t lines = 0;
#pragma omp simd reduction(+ : lines)
  for (int64_t k = 0; k < length; k++) lines += text[k] == '\n';
  return lines;
}

/* The bytes of the record that begins text[length], or -1: its end is not among them.  Goes on where it ended. */
static int64_t find_end(tct_cut *cut, const char *text, int64_t length) {
  int64_t ends = 0;
  if (!cut->quoted && length > cut->at) {
    const char *newline = memchr(text + cut->at, '\n', (size_t)(length - cut->at));
    int64_t end = newline ? newline - text : length;
    if (cut->delimiter && memchr(text + cut->at, '"', (size_t)(end - cut->at))) {
      cut->quoted = true;
      cut->at = 0;
    } else {
      cut->at = end;
      return newline ? end : -1;
    }
  }
  if (!cut->quoted) return -1;
  cut->at += tct_record_walk(text + cut->at, length - cut->at, cut->delimiter, &cut->place, 1, &ends);
  return ends > 0 ? cut->at - 1 : -1;
}

/* Nothing of the record so far is needed: what was looked at goes, and what follows is looked at byte by byte. */
static void pass_over(tct_source *source, tct_cut *cut, tct_record *out) {
  const char *text = source->buffer + source->begin;
  int64_t ends = 0;
  out->too_long = true;
  if (cut->delimiter && !cut->quoted)
    (void)tct_record_walk(text, cut->at, cut->delimiter, &cut->place, 0, &ends), cut->quoted = true;
  out->lines += tct_count_lines(text, cut->at);
  source->begin += cut->at;
  cut->at = 0;
}

/* Is a record of that many bytes, of which more may follow, within the limit? */
static tct_status check_length(const tct_source *source, bool header, int64_t length, tct_error *err) {
  if (header) return tct_limits_header(&source->limits, source->name, length, err);
  return source->limits.pass ? TCT_OK : tct_limits_line(&source->limits, source->name, length, err);
}

tct_status tct_record_next(tct_source *source, char delimiter, bool header, tct_record *out, tct_error *err) {
  tct_cut cut = {.delimiter = delimiter};
  int64_t end, most = header ? source->limits.header : source->limits.line;
  *out = (tct_record){.lines = 1};
  for (;;) {
    int64_t unread = source->end - source->begin;
    end = find_end(&cut, source->buffer + source->begin, unread);
    if (end >= 0 || source->ended) break;
    TCT_TRY(check_length(source, header, unread, err));
    if (out->too_long || unread > most) pass_over(source, &cut, out);
    TCT_TRY(tct_source_more(source, err));
  }
  out->length = end >= 0 ? end : source->end - source->begin;
  if (out->length == 0 && end < 0 && !out->too_long) return TCT_OK;
  TCT_TRY(check_length(source, header, out->length, err));
  out->text = source->buffer + source->begin;
  out->too_long |= out->length > most;
  out->open = cut.place == TCT_QUOTED;
  if (cut.quoted) out->lines += tct_count_lines(out->text, out->length);
  source->begin += out->length + (end >= 0);
  if (out->length > 0 && out->text[out->length - 1] == '\r') out->length--;
  return TCT_OK;
}

/* Without quotes every line end is a record end, and what is looked at next is the rest behind the last of them. */
int64_t tct_cut_last(tct_cut *cut, const char *text, int64_t length) {
  int64_t fresh = length - cut->at, ends = 0;
  if (fresh <= 0) return cut->end;
  if (!cut->quoted && cut->delimiter && memchr(text + cut->at, '"', (size_t)fresh)) {
    cut->quoted = true;
    cut->at = cut->end;
    cut->place = TCT_FIELD_START;
  }
  while (cut->quoted && cut->at < length) {
    int64_t before = ends;
    cut->at += tct_record_walk(text + cut->at, length - cut->at, cut->delimiter, &cut->place, before + 1, &ends);
    if (ends > before) cut->end = cut->at;
  }
  const char *newline = cut->quoted ? NULL : memrchr(text + cut->at, '\n', (size_t)fresh);
  if (newline) cut->end = newline - text + 1;
  cut->at = length;
  return cut->end;
}
