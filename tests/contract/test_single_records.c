/* test_single_records.c - a reader is a function of single records: whatever one of them holds, all others become what
 * they were.
 *
 * Pairs of files of every format differ in one record, which may hold anything.  Each is read in a way of its own: in
 * steps, by threads, in parts as over ranks, from disk.  The records that both have come out bit by bit the same. Where
 * malformed records are nothing, both files are read, whatever the record is.  The readers' limits are
 * low.  TACIT_PAIRS=N tries N pairs of each format, TACIT_SEED=S others, TACIT_KIND=NAME one format alone. */
#define _GNU_SOURCE /* memfd_create */
#include "dta_help.h"
#include "frame_help.h"
#include "read/format/range.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/mman.h>
#include <unistd.h>

extern bool tct_low_limits; /* of the library with the fault points, which this test links (core/status.h) */

enum { PAIRS = 300, MOST = 9, LINE = 400, ELEMENTS = 4, BYTES = 1 << 13, PARTS = 3 };

typedef enum kind { PLAIN, TAB, BARE, MULTILINE, SVM, JSONL, NPY, NPZ, STATA, FRAME, KINDS } kind;
static const char *const kinds[KINDS] = {
    "csv",   "tab separated", "csv without a schema", "csv, fields over lines", "libsvm", "jsonl", "npy", "npz",
    "stata", "frame"};

/* One record, as each kind of file needs it. */
typedef struct one {
  char line[LINE]; /* of text, without its line end */
  size_t length;
  record stata; /* and of a frame: its texts */
  char c[8];
  double x[ELEMENTS]; /* of an array, the label last; and of a frame */
} one;

typedef struct setting {
  kind kind;
  tct_read_options options;
  int rows;
  bool zero, big, fortran, ends; /* ends: the last line has its line end */
  int version;
} setting;

/* What became of the records, in order and as text: the same record, the same bytes. */
typedef struct result {
  bool read;
  int rows;
  char row[MOST][LINE];
  tct_error err;
} result;

static uint64_t state = 20260611;

static unsigned below(unsigned limit) {
  state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (unsigned)((z ^ (z >> 31)) % limit);
}

#define LABEL "\"label\":{\"name\":\"y\",\"values\":[\"no\",\"yes\"],\"positive\":\"yes\"},\"missing_values\":[\"?\"],"
#define NUMBERS                                                                  \
  "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":10,\"missing\":5}," \
  "{\"name\":\"d\",\"type\":\"number\",\"estimate\":true,\"missing\":\"estimate\"},"
#define OPEN(name, missing) \
  "{\"name\":\"" name "\",\"type\":\"category\",\"estimate\":true,\"missing\":\"" missing "\"}"
#define KNOWN(name, values) "{\"name\":\"" name "\",\"type\":\"category\",\"values\":[" values "],\"other\":\"zero\"}"
#define MANY \
  "\"q\",\"r\",\"s\",\"t\",\"u\",\"v\",\"w\",\"x\",\"z\",\"Q\",\"R\",\"S\",\"T\",\"U\",\"V\",\"W\",\"X\",\"Z\","
static const char *const schemas[] = {
    "{" LABEL "\"columns\":[" NUMBERS KNOWN("b", "\"high\",\"7\"") "," OPEN("c", "estimate") "]}",
    "{" LABEL "\"columns\":[" NUMBERS OPEN("b", "zero") "," OPEN("c", "refuse") "]}",
    "{" LABEL "\"columns\":[" NUMBERS KNOWN("b", MANY "\"high\",\"7\"") "," KNOWN("c", "\"Rom\",\"p\\nq\"") "]}"};

/* ---- records ---------------------------------------------------------------------------------------------------- */

static const char *word(void) {
  static const char *const words[] = {"high", "7", "Rom", "Ulm", "", "?", "k", "Jena", "s t"};
  static char own[8];
  snprintf(own, sizeof own, "%u", below(3000));
  return below(3) ? words[below(COUNT(words))] : own;
}

static void good_numbers(one *r) {
  for (int j = 0; j < ELEMENTS; j++) r->x[j] = below(1000) / 8.0;
  r->x[ELEMENTS - 1] = below(2);
  r->stata = (record){(int)below(100), (int)below(7), r->c, bits(r->x[1]), (int)below(2)};
  snprintf(r->c, sizeof r->c, "%.6s", word());
}

static void good_line(const setting *s, one *r) {
  static const char *const quoted[] = {"\"p\nq\"", "\"say \"\"so\"\"\"", "\"\n\n\"", "\"x,y\""};
  const char *comma = s->kind == TAB ? "\t" : ",", *y = below(2) ? "yes" : "no";
  char b[16], c[16], *to = r->line;
  snprintf(b, sizeof b, "%s", word());
  snprintf(c, sizeof c, "%s", s->kind == MULTILINE && below(2) ? quoted[below(COUNT(quoted))] : word());
  if (s->kind == SVM) {
    to += sprintf(to, "%d", (int)below(2) * 2 - 1);
    for (unsigned j = 0; (j += 1 + below(4)) < 9;) to += sprintf(to, " %u:%u.5", j, below(9));
  } else if (s->kind == JSONL) {
    sprintf(to, "{\"a\": %u, \"b\": \"%s\", \"c\": \"%s\", \"d\": %u.25, \"y\": \"%s\"}", below(12), b, c, below(99),
            y);
  } else if (s->kind == BARE) {
    sprintf(to, "%u,%u.5,%u", below(12), below(99), below(2));
  } else {
    sprintf(to, "%u%s%s%s%s%s%u.25%s%s%s", below(12), comma, b, comma, c, comma, below(99), comma, y,
            below(5) ? "" : "\r");
  }
  r->length = strlen(r->line);
}

static void bad_numbers(one *r) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, -1e300, 3, 0.5, 1e30};
  for (int times = 1 + (int)below(2); times > 0; times--) r->x[below(ELEMENTS)] = odd[below(COUNT(odd))];
  r->stata = (record){(int)below(256), (int)below(65536), r->c, bits(r->x[1]), (int)below(256)};
  for (size_t k = 0; k + 2 < sizeof r->c; k++) r->c[k] = (char)below(256);
}

/* Anything but a line end; where fields may hold those, quotes are not for a single record to open. */
static void bad_line(const setting *s, one *r) {
  static const char *const lines[] = {"",
                                      "\r",
                                      " ",
                                      "# note",
                                      "\"",
                                      "\"\"\"",
                                      "\"1,Rom,k,2,no",
                                      "1,\"Rom,k,2,no",
                                      "1,Rom,\"k,2,no",
                                      "1\t\"Rom\tk\t2\tno",
                                      "1,2,\"1",
                                      ",,,,,,,",
                                      "a,b,c,d,y",
                                      "5,5",
                                      "{\"a\":1,\"y\":\"yes\"}",
                                      "{\"a\":[[[1]]]}",
                                      "[{",
                                      "{",
                                      "1 99:1",
                                      "1 2:1 1:1",
                                      "\x93NUMPY\x01",
                                      "PAR1",
                                      "<stata_dta>",
                                      "\xFF\xFE",
                                      "\xEF\xBB\xBF",
                                      "nan nan"};
  static const char bytes[] = {'"', ',', '\t', '\r', 0, '#', ':', ' ', '{', '}', '[', '-', '.', '9', '\\', (char)0xc3};
  const char *line = lines[below(COUNT(lines))];
  size_t more = below(200);
  switch (below(5)) {
    case 0: r->length = strlen(strcpy(r->line, line)); break;
    case 1: memset(r->line + r->length, "x,1"[below(3)], more), r->length += more; break;
    case 2: r->length = below((unsigned)r->length + 1); break;
    case 3: memcpy(r->line + r->length, r->line, r->length), r->length *= 2; break;
    default:
      for (int times = 1 + (int)below(3); times > 0 && r->length > 0; times--)
        r->line[below((unsigned)r->length)] = bytes[below(sizeof bytes)];
  }
  for (size_t k = 0; k < r->length; k++)
    if (r->line[k] == '\n' || (r->line[k] == '"' && s->kind == MULTILINE)) r->line[k] = ';';
}

static bool is_text(kind k) { return k <= JSONL; }

static void make_one(const setting *s, one *r, bool bad) {
  *r = (one){0};
  good_numbers(r);
  if (bad) bad_numbers(r);
  if (is_text(s->kind)) good_line(s, r);
  if (is_text(s->kind) && bad) bad_line(s, r);
}

/* The line is no record: where is said in docs/guide/privacy.md. */
static bool is_none(const setting *s, const one *r, bool first) {
  const char *at = r->line, *end = at + r->length;
  if (!is_text(s->kind) || (int64_t)r->length > s->options.max_line) return false;
  if (s->kind < SVM) return !s->zero && (r->length == 0 || (r->length == 1 && *at == '\r'));
  if (s->kind == JSONL && first && r->length >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
  return at == end || (s->kind == SVM && *at == '#');
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static size_t text_file(const setting *s, const one *r, char *to) {
  static const char *const heads[] = {"a,b,c,d,y\n", "a\tb\tc\td\ty\n", "a,d,y\n", "a,b,c,d,y\n"};
  size_t at = s->kind < SVM ? strlen(strcpy(to, heads[s->kind])) : 0;
  for (int i = 0; i < s->rows; i++) {
    memcpy(to + at, r[i].line, r[i].length);
    at += r[i].length;
    if (i + 1 < s->rows || s->ends || r[i].length == 0) to[at++] = '\n';
  }
  return at;
}

/* label: 0: the label is the last column; 1: an array of records alone; 2: of labels alone. */
static size_t array_file(const setting *s, const one *r, int label, char *to) {
  int cols = label == 2 ? 1 : ELEMENTS - label, first = label == 2 ? ELEMENTS - 1 : 0;
  memset(to, ' ', 128);
  memcpy(to, "\x93NUMPY\x01\x00\x76\x00", 10);
  int length = snprintf(to + 10, 118, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }",
                        s->fortran ? "True" : "False", s->rows, cols);
  to[10 + length] = ' ', to[127] = '\n';
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < cols; j++)
      memcpy(to + 128 + 8 * (s->fortran ? j * s->rows + i : i * cols + j), &r[i].x[first + j], 8);
  return 128 + 8 * (size_t)(s->rows * cols);
}

static size_t archive_file(const setting *s, const one *r, char *to) {
  char array[BYTES];
  size_t used = 0;
  struct archive *zip = archive_write_new();
  struct archive_entry *file = archive_entry_new();
  archive_write_set_format_zip(zip);
  archive_write_zip_set_compression_store(zip);
  archive_write_set_bytes_in_last_block(zip, 1);
  assert_int_equal(archive_write_open_memory(zip, to, BYTES, &used), ARCHIVE_OK);
  for (int k = 0; k < 2; k++) {
    int label = s->big ? 2 - k : 1 + k; /* labels first, or records */
    size_t size = array_file(s, r, label, array);
    archive_entry_clear(file);
    archive_entry_set_pathname(file, label == 1 ? "X.npy" : "y.npy");
    archive_entry_set_filetype(file, AE_IFREG);
    archive_entry_set_perm(file, 0600);
    archive_entry_set_size(file, (int64_t)size);
    assert_int_equal(archive_write_header(zip, file), ARCHIVE_OK);
    assert_int_equal(archive_write_data(zip, array, size), (la_ssize_t)size);
  }
  assert_int_equal(archive_write_close(zip), ARCHIVE_OK);
  archive_entry_free(file);
  archive_write_free(zip);
  return used;
}

static size_t file_of(const setting *s, const one *r, char *to) {
  static made m;
  record records[MOST];
  if (s->kind == NPY) return array_file(s, r, 0, to);
  if (s->kind == NPZ) return archive_file(s, r, to);
  if (is_text(s->kind)) return text_file(s, r, to);
  for (int i = 0; i < s->rows; i++) records[i] = r[i].stata, records[i].c = r[i].c;
  make(&m, s->version, s->big, records, s->rows);
  memcpy(to, m.bytes, m.used);
  return m.used;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* A cell of a column without a list is its text, whatever its number. */
static int put_value(const tct_data *data, int64_t i, int64_t j, double value, char *to) {
  int64_t of, length;
  if (!data->words || value < 0 || (data->dropped && data->dropped[i]) || tct_data_feature(data, j)[1] ||
      strchr("ad", tct_data_feature(data, j)[0]))
    return sprintf(to, "%d=%a;", (int)j, value);
  const char *text = tct_words_text(data->words, (int64_t)value, &of, &length);
  return sprintf(to, "%d=%.*s/%d;", (int)j, (int)length, text, (int)of);
}

static void take_rows(result *out, const tct_data *data) {
  const tct_matrix *m = &data->x;
  const char *key = data->keys;
  for (int64_t i = 0; i < m->rows; i++) {
    assert_true(out->rows < MOST);
    char *to = out->row[out->rows++];
    for (int64_t j = 0; m->layout != TCT_CSR && j < m->cols; j++) to += put_value(data, i, j, entry(data, i, j), to);
    for (int64_t k = m->layout == TCT_CSR ? offset(m, m->start, i) : 0;
         m->layout == TCT_CSR && k < offset(m, m->start, i + 1); k++)
      to += put_value(data, i, offset(m, m->index, k), stored(m, k), to);
    sprintf(to, "%a %d %s", data->y ? data->y[i] : 0, data->dropped ? data->dropped[i] : 2, key ? key : "");
    if (key) key += strlen(key) + 1;
  }
}

static void take(result *out, tct_data *data) {
  out->read = data != NULL;
  if (data) take_rows(out, data);
  tct_data_free(data);
}

/* ---- ways of reading -------------------------------------------------------------------------------------------- */

static const char *path_of(const char *bytes, size_t count) {
  static char path[64];
  static int file = -1;
  if (file < 0) file = memfd_create("records", 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  assert_true(ftruncate(file, 0) == 0 && pwrite(file, bytes, count, 0) == (ssize_t)count);
  return path;
}

/* Record ends divide the file as over ranks (train/parts.c); false: a part is refused, or lacks a record. */
static bool read_parts(const setting *s, const char *path, result *out) {
  tct_scan scan[PARTS] = {{0}};
  bool inside[PARTS] = {0}, good = true;
  int64_t rows = 0, at = 0, next = 0;
  for (int p = 0; p < PARTS && good; p++) {
    good = tct_scan_open(&scan[p], path, &s->options, p, PARTS, &out->err) == TCT_OK;
    if (p > 0) inside[p] = scan[p - 1].side[inside[p - 1]].inside;
    rows = scan[p].array ? scan[p].rows : rows + scan[p].side[inside[p]].records;
  }
  at = scan[0].array ? 0 : scan[0].begin;
  for (int r = 0; r < PARTS && good; r++, at = next) {
    int64_t end = rows * (r + 1) / PARTS, wanted = end - rows * r / PARTS, before = 0;
    next = scan[0].array ? end : end == rows ? scan[0].size : end == 0 ? scan[0].begin : 0;
    for (int p = 0; p < PARTS && next == 0 && end > 0; before += scan[p].side[inside[p]].records, p++)
      if (end - before <= scan[p].side[inside[p]].records)
        assert_int_equal(tct_scan_find(&scan[p], inside[p], end - before, &next, &out->err), TCT_OK);
    tct_data *part = tct_data_read_range(path, &(tct_range){at, next, scan[0].begin}, &s->options, &out->err);
    good = part && (!scan[0].csv || end == rows || part->x.rows == wanted);
    if (part) take_rows(out, part);
    tct_data_free(part);
  }
  for (int p = 0; p < PARTS; p++) tct_scan_close(&scan[p]);
  return good;
}

static tct_data *read_frame(const setting *s, const one *r, tct_error *err) {
  static const char list[] = "high7Romwxyz", yes[] = "noyes";
  static const int32_t ends[] = {0, 4, 5, 8, 9, 10, 11, 12}, label_ends[] = {0, 2, 5};
  const column listed = {.format = "u", .buffer = {NULL, ends, list}, .buffers = 3, .length = 7};
  const column answers = {.format = "u", .buffer = {NULL, label_ends, yes}, .buffers = 3, .length = 2};
  double a[MOST];
  float d[MOST];
  int8_t b[MOST], y[MOST];
  int32_t at[MOST + 1] = {0};
  unsigned char there[2] = {0};
  char texts[MOST * 8];
  for (int i = 0; i < s->rows; i++) {
    a[i] = r[i].x[0], d[i] = (float)r[i].x[1], b[i] = (int8_t)r[i].stata.b, y[i] = (int8_t)r[i].stata.y;
    at[i + 1] = at[i] + (int32_t)strnlen(r[i].c, sizeof r[i].c);
    memcpy(texts + at[i], r[i].c, (size_t)(at[i + 1] - at[i]));
    there[i / 8] |= (unsigned char)((r[i].c[0] != '?') << i % 8);
  }
  const column columns[] = {
      {.format = "g", .name = "a", .buffer = {NULL, a}, .buffers = 2, .length = s->rows},
      {.format = "c", .name = "b", .buffer = {NULL, b}, .buffers = 2, .length = s->rows, .dictionary = &listed},
      {.format = "u", .name = "c", .buffer = {there, at, texts}, .buffers = 3, .length = s->rows, .nulls = -1},
      {.format = "f", .name = "d", .buffer = {NULL, d}, .buffers = 2, .length = s->rows},
      {.format = "c", .name = "y", .buffer = {NULL, y}, .buffers = 2, .length = s->rows, .dictionary = &answers}};
  source from = {.column = columns, .columns = COUNT(columns), .rows = s->rows, .chunks = 1};
  struct ArrowArrayStream stream = stream_of(&from);
  tct_frame *frame = tct_frame_take(&stream, err);
  tct_data *data = frame ? tct_data_read_frame(frame, &s->options, NULL, err) : NULL;
  tct_frame_free(frame);
  assert_int_equal(from.live, 0);
  return data;
}

static void read_one_way(const setting *given, const one *r, result *out) {
  static const int64_t steps[] = {1, 7, 50, 1 << 16};
  static char bytes[BYTES];
  setting own = *given, *s = &own;
  *out = (result){0};
  if (s->kind == FRAME) {
    take(out, read_frame(s, r, &out->err));
    return;
  }
  size_t count = file_of(s, r, bytes);
  bool cut = s->kind <= SVM || (s->kind == NPY && !s->fortran);
  s->options.threads = below(8) ? 1 : 2 + (int)below(2);
  if (s->kind == NPZ || below(4) == 0) {
    const char *path = path_of(bytes, count);
    bool parts = cut && below(2);
    bool words = s->options.schema_text && strstr(s->options.schema_text, "category\",\"estimate");
    if (cut && !parts && !words) s->options.memory = below(2);
    if (parts)
      out->read = read_parts(s, path, out);
    else
      take(out, tct_data_read(path, &s->options, &out->err));
  } else {
    take(out, tct_data_read_memory(bytes, (int64_t)count, steps[below(COUNT(steps))], &s->options, &out->err));
  }
}

/* ---- the law ---------------------------------------------------------------------------------------------------- */

static setting any_setting(kind k) {
  static const int versions[] = {113, 115, 117, 118, 119};
  setting s = {.kind = k, .rows = 1 + (int)below(MOST - 1), .zero = below(2), .big = below(2), .ends = below(4) > 0};
  bool named = k < BARE || k == MULTILINE || k == JSONL || k == STATA || k == FRAME;
  s.options = options_for(named || k == SVM || k == NPZ ? TCT_LABELS_BINARY : (int)below(3), NULL, NULL);
  if (named) s.options.schema_text = schemas[below(COUNT(schemas))];
  if (k == NPY) s.options.label = "4";
  if (k == BARE) s.options.label = "y";
  if (k == SVM && below(2)) s.options.cols = 8;
  if (k == TAB && below(2)) s.options.delimiter = "tab";
  if (s.zero) s.options.invalid = TCT_INVALID_ZERO;
  if (s.zero && (k == SVM || k == JSONL)) s.options.format = k == SVM ? "libsvm" : "jsonl";
  if (named && (k == PLAIN || k == JSONL) && below(4) == 0) s.options.key = "b", s.options.schema_text = schemas[2];
  if (s.options.key)
    s.options.schema_text =
        "{" LABEL "\"columns\":[" NUMBERS "{\"name\":\"b\",\"type\":\"ignore\"}," OPEN("c", "zero") "]}";
  s.options.multiline = k == MULTILINE;
  s.options.max_line = 90, s.options.max_cols = 40;
  s.fortran = below(4) == 0, s.version = versions[below(COUNT(versions))];
  return s;
}

/* Records without a key are refused, and the number of features of LIBSVM text may be the data's. */
static bool may_be_refused(const setting *s) {
  return !s->zero || s->options.key || (s->kind == SVM && !s->options.cols);
}

static void compare(const setting *s, const one *r, int k, const one *other, const result *a, const result *b) {
  int first = 0, rest = 0;
  for (int i = 0; i < s->rows; i++) {
    bool none = i != k && is_none(s, &r[i], i == 0);
    if (i < k) first += !none;
    if (i > k) rest += !none;
  }
  int all[2] = {first + rest + !is_none(s, &r[k], k == 0), first + rest + !is_none(s, other, k == 0)};
  if (a->rows != all[0] || b->rows != all[1])
    fail_msg("%s, record %d of %d: %d and %d records, not %d and %d", kinds[s->kind], k, s->rows, a->rows, b->rows,
             all[0], all[1]);
  for (int i = 0; i < first + rest; i++) {
    const char *x = a->row[i < first ? i : a->rows - (first + rest - i)];
    const char *y = b->row[i < first ? i : b->rows - (first + rest - i)];
    if (strcmp(x, y) != 0)
      fail_msg("%s, record %d of %d changed another one: %s, and %s", kinds[s->kind], k, s->rows, x, y);
  }
}

/* Returns whether both files were read. */
static bool try_pair(const setting *s) {
  static result a, b;
  one r[MOST], other;
  int k = (int)below((unsigned)s->rows);
  for (int i = 0; i < s->rows; i++) make_one(s, &r[i], below(s->zero ? 4 : 200) == 0);
  make_one(s, &other, below(2));
  read_one_way(s, r, &a);
  one own = r[k];
  r[k] = other;
  read_one_way(s, r, &b);
  r[k] = own;
  for (const result *one_of = &a; one_of; one_of = one_of == &a ? &b : NULL)
    if (!one_of->read && !may_be_refused(s) && !strstr(one_of->err.text, "no records"))
      fail_msg("%s, record %d of %d refused all: %s", kinds[s->kind], k, s->rows, one_of->err.text);
  if (a.read && b.read) compare(s, r, k, &other, &a, &b);
  return a.read && b.read;
}

static void whatever_a_record_holds_the_others_become_what_they_were(void **unused) {
  (void)unused;
  const char *count = getenv("TACIT_PAIRS"), *seed = getenv("TACIT_SEED"), *only = getenv("TACIT_KIND");
  int pairs = count ? atoi(count) : PAIRS;
  tct_low_limits = true;
  if (seed) state = strtoull(seed, NULL, 10);
  for (kind k = PLAIN; k < KINDS; k++) {
    int both[2] = {0}, tried[2] = {0};
    if (only && strcmp(only, kinds[k]) != 0) continue;
    for (int i = 0; i < pairs; i++) {
      setting s = any_setting(k);
      tried[s.zero]++;
      both[s.zero] += try_pair(&s);
    }
    if (count)
      print_message("%s: %d of %d refusing pairs read, %d of %d others\n", kinds[k], both[0], tried[0], both[1],
                    tried[1]);
    assert_true(both[0] > tried[0] / 8 && both[1] > tried[1] / 2); /* pairs of both kinds were compared */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whatever_a_record_holds_the_others_become_what_they_were),
  };
  return cmocka_run_group_tests_name("single records", tests, NULL, NULL);
}
