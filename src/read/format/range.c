/* range.c - finds the records of a part of a file, by their ends alone. */
#include "read/format/range.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "read/format/reader.h"
#include "read/source/csv.h"

#define STEP TCT_LIMIT(1 << 20, 1 << 9)
#define HEAD TCT_LIMIT(1 << 16, 1 << 9)

static tct_status cannot_read(const tct_scan *scan, tct_error *err) {
  return tct_fail(err, TCT_E_RUN, "cannot read %s to its end; check the disk", scan->name);
}

/* Bytes [at, at + count), or fewer at the end of the file. */
static tct_status load(const tct_scan *scan, int64_t at, int64_t count, char *to, int64_t *got, tct_error *err) {
  *got = 0;
  while (*got < count) {
    ssize_t more = pread(scan->file, to + *got, (size_t)(count - *got), at + *got);
    if (more < 0) return cannot_read(scan, err);
    if (more == 0) break;
    *got += more;
  }
  return TCT_OK;
}

/* Goes through a whole step, fast where there is no quote. */
static void pass(const tct_scan *scan, const char *text, int64_t length, bool quotes, tct_place *where,
                 int64_t *records) {
  if (quotes) {
    (void)tct_record_walk(text, length, scan->delimiter, where, 0, records);
    return;
  }
  if (*where == TCT_QUOTED) return; /* nothing closes it */
  *records += tct_count_lines(text, length);
  if (length > 0)
    *where = text[length - 1] == '\n' || text[length - 1] == scan->delimiter ? TCT_FIELD_START : TCT_PLAIN;
}

/* Line ends and quotes of [from, to), one step after the other, from both sides. */
static tct_status count(tct_scan *scan, char *buffer, tct_error *err) {
  int64_t steps = (scan->to - scan->from) / STEP + 1, got = 0;
  tct_place where[2] = {TCT_FIELD_START, TCT_QUOTED};
  for (int s = 0; s < 2; s++) {
    scan->side[s].count = TCT_NEW(int64_t, steps);
    scan->side[s].place = TCT_NEW(unsigned char, steps);
    if (!scan->side[s].count || !scan->side[s].place) return tct_fail_memory(err);
  }
  char last = '\n';
  for (int64_t k = 0, at = scan->from; at < scan->to; k++, at += got) {
    TCT_TRY(load(scan, at, scan->to - at < STEP ? scan->to - at : STEP, buffer, &got, err));
    if (got == 0) return cannot_read(scan, err);
    bool quotes = scan->delimiter && memchr(buffer, '"', (size_t)got);
    for (int s = 0; s < 2; s++) {
      scan->side[s].count[k] = scan->side[s].records;
      scan->side[s].place[k] = (unsigned char)where[s];
      pass(scan, buffer, got, quotes, &where[s], &scan->side[s].records);
    }
    last = buffer[got - 1];
  }
  for (int s = 0; s < 2; s++) {
    scan->side[s].inside = where[s] == TCT_QUOTED;
    if (scan->to == scan->size && last != '\n' && !scan->side[s].inside) scan->side[s].records++;
  }
  return TCT_OK;
}

/* The first byte behind a line end at or behind `at`. */
static tct_status line_after(const tct_scan *scan, int64_t at, char *buffer, int64_t *found, tct_error *err) {
  int64_t got;
  for (at = at > 0 ? at : 0;; at += got) {
    TCT_TRY(load(scan, at, STEP, buffer, &got, err));
    char *newline = got > 0 ? memchr(buffer, '\n', (size_t)got) : NULL;
    *found = newline ? at + (newline - buffer) + 1 : scan->size;
    if (newline || got == 0) return TCT_OK;
  }
}

/* A CSV file's records begin behind the first record that is no empty line. */
static void skip_header(tct_scan *scan, const char *head, int64_t length) {
  tct_place where = TCT_FIELD_START;
  int64_t at = length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  while (at < length && (head[at] == '\n' || (head[at] == '\r' && at + 1 < length && head[at + 1] == '\n'))) at++;
  for (int64_t ends = 0; at < length && ends == 0;)
    at += tct_record_walk(head + at, length - at, scan->delimiter, &where, 1, &ends);
  scan->begin = at;
}

static tct_status no_share(const tct_scan *scan, const char *why, tct_error *err) {
  return tct_fail(err, TCT_E_USAGE, "%s cannot be shared out over ranks: %s", scan->name, why);
}

static tct_status tell_format(tct_scan *scan, const tct_read_options *options, const char *head, int64_t got,
                              tct_error *err) {
  static const struct {
    const char *magic;
    size_t length;
  } packed[] = {{"\x1f\x8b", 2},
                {"\xfd"
                 "7zXZ",
                 5},
                {"\x28\xb5\x2f\xfd", 4},
                {"PK\x03\x04", 4},
                {"BZh", 3}};
  for (size_t k = 0; k < sizeof packed / sizeof *packed; k++)
    if (got >= (int64_t)packed[k].length && memcmp(head, packed[k].magic, packed[k].length) == 0)
      return no_share(scan, "it is compressed; unpack it, or give as many parts as there are ranks", err);
  const tct_format *format;
  TCT_TRY(tct_format_tell(options, scan->name, head, got, &format, err));
  scan->csv = format->parting == TCT_PARTS_RECORDS;
  if (format->parting == TCT_PARTS_NOT)
    return no_share(scan, "its format has no parts; give as many files as there are ranks", err);
  if (format->parting == TCT_PARTS_ARRAY) {
    const char *why = NULL;
    scan->array = true;
    TCT_TRY(format->count_rows(scan->name, head, got, &scan->rows, &why, err));
    return why ? no_share(scan, why, err) : TCT_OK;
  }
  if (scan->csv && options->multiline) scan->delimiter = tct_read_delimiter(options);
  if (scan->csv && options->multiline && !scan->delimiter) scan->delimiter = tct_csv_delimiter(head, got, true);
  if (scan->csv) skip_header(scan, head, got);
  if (scan->csv && scan->begin == got && got == HEAD)
    return no_share(scan, "its header is longer than 64 KiB; give as many parts as there are ranks", err);
  return TCT_OK;
}

static tct_status open_part(tct_scan *scan, const tct_read_options *options, int part, int parts, char *buffer,
                            tct_error *err) {
  struct stat status;
  int64_t got;
  scan->file = strcmp(scan->name, "-") == 0 ? -1 : open(scan->name, O_RDONLY | O_CLOEXEC);
  if (strcmp(scan->name, "-") == 0) return no_share(scan, "standard input goes to one rank; name a file", err);
  if (scan->file < 0 || fstat(scan->file, &status) != 0)
    return tct_fail(err, TCT_E_RUN, "cannot open %s; check the name and the permissions", scan->name);
  if (!S_ISREG(status.st_mode)) return no_share(scan, "it is no plain file; name one", err);
  scan->size = status.st_size;
  TCT_TRY(load(scan, 0, HEAD, buffer, &got, err));
  TCT_TRY(tell_format(scan, options, buffer, got, err));
  if (scan->array) return TCT_OK;
  int64_t left = scan->size - scan->begin;
  scan->from = scan->begin, scan->to = scan->size;
  if (part > 0) TCT_TRY(line_after(scan, scan->begin + left / parts * part - 1, buffer, &scan->from, err));
  if (part + 1 < parts) TCT_TRY(line_after(scan, scan->begin + left / parts * (part + 1) - 1, buffer, &scan->to, err));
  return count(scan, buffer, err);
}

tct_status tct_scan_open(tct_scan *scan, const char *path, const tct_read_options *options, int part, int parts,
                         tct_error *err) {
  memset(scan, 0, sizeof *scan);
  scan->name = path;
  scan->file = -1;
  char *buffer = tct_alloc(STEP, 1);
  if (!buffer) return tct_fail_memory(err);
  tct_status status = open_part(scan, options, part, parts, buffer, err);
  tct_wipe_free(buffer, STEP, 1);
  return status;
}

tct_status tct_scan_find(const tct_scan *scan, bool inside, int64_t k, int64_t *at, tct_error *err) {
  const tct_scan_side *side = &scan->side[inside];
  int64_t steps = (scan->to - scan->from) / STEP + 1, step = 0, got = 0;
  while (step + 1 < steps && scan->from + (step + 1) * STEP < scan->to && side->count[step + 1] < k) step++;
  char *buffer = tct_alloc(STEP, 1);
  if (!buffer) return tct_fail_memory(err);
  int64_t begin = scan->from + step * STEP, records = side->count[step];
  tct_place where = (tct_place)side->place[step];
  tct_status status = load(scan, begin, scan->to - begin < STEP ? scan->to - begin : STEP, buffer, &got, err);
  *at = begin + tct_record_walk(buffer, got, scan->delimiter, &where, k, &records);
  tct_wipe_free(buffer, STEP, 1);
  return status;
}

void tct_scan_close(tct_scan *scan) {
  if (scan->file >= 0) close(scan->file);
  for (int s = 0; s < 2; s++) {
    tct_free(scan->side[s].count);
    tct_free(scan->side[s].place);
  }
  memset(scan, 0, sizeof *scan);
  scan->file = -1;
}
