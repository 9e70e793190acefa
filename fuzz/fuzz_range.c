/* fuzz_range.c - any bytes as a file that is read in parts, from disk, or by several threads.
 *
 * A file is cut at record ends as over ranks (train/parts.c).  Its parts hold what the whole holds, record by record,
 * or something is refused.  The same table comes out where its records lie in a file, and where two or five threads
 * parse blocks of it. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz_same.h"

enum { MOST_PARTS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"positive\":\"1\"},\"missing_values\":[\"?\"],\"columns\":["
    "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,\"missing\":4},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"v\",\"w\",\"k\"],\"missing\":\"zero\",\"other\":\"u\"}]"
    "}";

/* ---- parts ------------------------------------------------------------------------------------------------------ */

typedef struct cut {
  tct_scan scan[MOST_PARTS];
  bool inside[MOST_PARTS];
  int64_t first[MOST_PARTS], rows; /* records that end before a part; of the file */
  int parts;
} cut;

static bool cut_open(cut *c, const char *path, const tct_read_options *options, int parts) {
  tct_error err;
  bool inside = false, good = true;
  *c = (cut){.parts = parts};
  for (int r = 0; r < parts; r++) {
    err.status = TCT_OK;
    if (tct_scan_open(&c->scan[r], path, options, r, parts, &err) != TCT_OK) {
      require(err.status != TCT_OK && err.text[0] != 0);
      good = false;
      continue;
    }
    c->inside[r] = inside, c->first[r] = c->rows;
    if (c->scan[r].array) {
      c->rows = c->scan[r].rows;
      continue;
    }
    require(c->scan[r].from <= c->scan[r].to && c->scan[r].to <= c->scan[r].size);
    c->rows += c->scan[r].side[inside].records;
    inside = c->scan[r].side[inside].inside;
  }
  return good;
}

static void cut_close(cut *c) {
  for (int r = 0; r < c->parts; r++) tct_scan_close(&c->scan[r]);
}

/* Where record number `row` begins: the part that has the end before it knows. */
static int64_t place_of(const cut *c, int64_t row) {
  int64_t at = c->scan[0].begin;
  tct_error err;
  if (row >= c->rows) return c->scan[0].size;
  for (int r = 0; r < c->parts && row > 0; r++) {
    int64_t records = c->scan[r].side[c->inside[r]].records;
    if (row > c->first[r] && row <= c->first[r] + records)
      require(tct_scan_find(&c->scan[r], c->inside[r], row - c->first[r], &at, &err) == TCT_OK);
  }
  return at;
}

enum { REFUSED = -1, EMPTY_LINE = -2 };

/* All parts, and how many records came out.  As over ranks, a part with fewer records than record ends is refused. */
static int64_t read_parts(const cut *c, const char *path, const tct_read_options *options, const tct_data *whole) {
  int64_t rows = 0, before = 0;
  bool array = c->scan[0].array;
  for (int r = 0; r < c->parts; r++) {
    int64_t first = c->rows / c->parts * r, end = r + 1 < c->parts ? c->rows / c->parts * (r + 1) : c->rows;
    int64_t next = array ? end : place_of(c, end);
    tct_range range = {.from = r ? before : array ? 0 : c->scan[0].begin, .to = next, .header = c->scan[0].begin};
    tct_error err = {0};
    require(range.from <= range.to);
    tct_data *part = tct_data_read_range(path, &range, options, &err);
    before = next;
    if (!part) {
      require(err.status != TCT_OK && err.text[0] != 0 && strchr(err.text, ';') != NULL);
      return REFUSED;
    }
    if (c->scan[0].csv && end < c->rows && part->x.rows != end - first) {
      tct_data_free(part);
      return EMPTY_LINE;
    }
    if (whole) check_same(whole, part, rows);
    rows += part->x.rows;
    tct_data_free(part);
  }
  return rows;
}

static void by_parts(const char *path, int parts, const tct_read_options *options) {
  tct_error err;
  cut c;
  tct_data *whole = tct_data_read(path, options, &err);
  if (cut_open(&c, path, options, parts)) {
    int64_t rows = read_parts(&c, path, options, whole);
    bool alike = options->schema_text || options->labels != TCT_LABELS_BINARY; /* no part needs to see both labels */
    if (whole && (rows >= 0 || (alike && rows == REFUSED))) require(rows == whole->x.rows);
  }
  cut_close(&c);
  check_result(whole, &err);
}

/* ---- one table, read otherwise ------------------------------------------------------------------------------------
 */

static void by_threads(const void *bytes, int64_t count, int64_t step, tct_read_options options) {
  tct_error first, second;
  options.threads = 1;
  tct_data *one = tct_data_read_memory(bytes, count, 1 << 16, &options, &first);
  options.threads = step == 7 ? 2 : 5;
  tct_data *other = tct_data_read_memory(bytes, count, step == 7 ? 7 : 40, &options, &second);
  check_equal(one, &first, other, &second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char *const labels[4] = {NULL, "1", "y", "2"}, *const formats[4] = {NULL, "libsvm", "csv", NULL};
  int64_t step;
  if (count < 2) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  options.label = labels[bytes[0] >> 6];
  if (bytes[0] >> 5 & 1) options.schema_text = schema, options.label = NULL;
  if (bytes[1] >> 4 & 1) options.key = "a";
  options.multiline = bytes[1] >> 5 & 1;
  options.format = formats[bytes[1] >> 6];
  const uint8_t *text = bytes + 2;
  int64_t length = (int64_t)count - 2;
  int way = bytes[1] % 3;
  if (way == 0) by_parts(file_of(text, (size_t)length), 2 + (bytes[1] >> 2) % (MOST_PARTS - 1), &options);
  if (way == 1) from_disk(file_of(text, (size_t)length), options);
  if (way == 2) by_threads(text, length, step, options);
  return 0;
}
