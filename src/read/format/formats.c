/* formats.c - the table of formats, and which of them a file has; and files that are tables elsewhere, each with its
 * way out. */
#include "core/point.h"
#include "read/format/reader.h"

#include <string.h>

const tct_format *const tct_formats[] = {
#define TCT_FORMAT(name) &tct_format_##name,
#include "read/format/list.def"
#undef TCT_FORMAT
};
const int tct_format_count = sizeof tct_formats / sizeof *tct_formats;

#define BY_PYTHON "load it as a data frame and give that to fit in Python, or save it as CSV"

/* A form of file, by its first bytes. */
typedef struct form {
  const char *bytes;
  int64_t length;
  const char *why;
} form;

static const form forms[] = {
    {"PAR1", 4, "this is a Parquet file; " BY_PYTHON},
    {"ARROW1", 6, "this is an Arrow (Feather) file; " BY_PYTHON},
    {"FEA1", 4, "this is a Feather file; " BY_PYTHON},
    {"\x89HDF\r\n", 6, "this is an HDF5 file; " BY_PYTHON},
    {"SQLite format 3", 15, "this is an SQLite database; write its table as CSV (sqlite3 -header -csv)"},
    {"$FL2", 4, "this is an SPSS file; " BY_PYTHON},
    {"\xD0\xCF\x11\xE0", 4, "this is an old spreadsheet (XLS); save it as CSV"},
    {"[{", 2, "this is one JSON array; write one object a line (JSON Lines; jq -c '.[]' does)"},
    {"[\n", 2, "this is one JSON array; write one object a line (JSON Lines; jq -c '.[]' does)"},
    {"%PDF", 4, "this is a PDF document; give the table itself, as CSV"},
    {"\x80\x04\x95", 3, "this is a Python pickle; load it in Python and give the frame to fit"},
    {"RDX", 3, "this is an R data file; write the table as CSV in R (write.csv)"},
    {"\xFF\xFE", 2, "the text is UTF-16; save it as UTF-8"},
    {"\xFE\xFF", 2, "the text is UTF-16; save it as UTF-8"},
};

/* What the file that begins so is, and what to do with it: one sentence.  NULL: nothing known. */
static const char *foreign_file(const char *head, int64_t length) {
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
    const form *f = &forms[k];
    if (length >= f->length && memcmp(head, f->bytes, (size_t)f->length) == 0) return f->why;
  }
  return NULL;
}

static const tct_format *named(const char *name) {
  for (int k = 0; k < tct_format_count; k++)
    if (strcmp(tct_formats[k]->name, name) == 0) return tct_formats[k];
  return NULL;
}

bool tct_format_known(const char *name) { return named(name) != NULL; }

/* The last knows all. */
static const tct_format *looked_up(const char *head, int64_t length, bool keys, locale_t c) {
  int k = 0;
  while (k + 1 < tct_format_count && ((keys && !tct_formats[k]->has_keys) || !tct_formats[k]->looks(head, length, c)))
    k++;
  return tct_formats[k];
}

/* Where the first bytes are a record's, that record would decide what all others mean.  It may do so where a malformed
 * one stops the read. */
static tct_status tell(const tct_read_options *options, const char *file, const char *head, int64_t length, locale_t c,
                       const tct_format **out, tct_error *err) {
  const tct_format *given = TCT_POINT(the_first_record_tells_the_format, options->format, NULL) ? named(options->format)
                                                                                                : NULL,
                   *format = given;
  const char *foreign = given && given->headless ? NULL : foreign_file(head, length);
  if (foreign) return tct_fail_at(err, file, 0, 0, "{%s}", foreign);
  if (!format) format = looked_up(head, length, options->key != NULL, c);
  *out = format;
  if (options->key && !format->has_keys)
    return tct_fail(err, TCT_E_USAGE, "%s files have no column of keys or persons; leave it away", format->name);
  if (given && !given->headless && !given->looks(head, length, c))
    return tct_fail_at(err, file, 0, 0, "this is no %s file; name the format that it has", format->name);
  if (given || !format->headless || options->invalid != TCT_INVALID_ZERO) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the first record would tell the format, and under {invalid_zero} no record decides about others; "
                  "give {format %s}",
                  format->name);
}

tct_status tct_format_tell(const tct_read_options *options, const char *file, const char *head, int64_t length,
                           const tct_format **out, tct_error *err) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return tct_fail_memory(err);
  tct_status status = tell(options, file, head, length, c, out, err);
  freelocale(c);
  return status;
}
