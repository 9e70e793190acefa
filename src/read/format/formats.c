/* formats.c - the table of formats, and which of them a file has. */
#include "core/point.h"
#include "read/format/foreign.h"
#include "read/format/reader.h"

#include <string.h>

const tct_format *const tct_formats[] = {
#define TCT_FORMAT(name) &tct_format_##name,
#include "read/format/list.def"
#undef TCT_FORMAT
};
const int tct_format_count = sizeof tct_formats / sizeof *tct_formats;

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
  const char *foreign = given && given->headless ? NULL : tct_foreign(head, length);
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
