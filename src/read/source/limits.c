/* limits.c - the limits of what a file may ask for, and their sentences.
 *
 * The defaults bound what a hostile file costs before it is refused by about 100 MB.  Real tables are far below them:
 * a column of CSV costs the file two bytes, and one of LIBSVM text costs it nothing. */
#include "read/source/limits.h"
#include "core/point.h"

enum { FREE = 1 << 24 }; /* unpacked bytes that are not compared with anything */

const tct_limits tct_limits_default = {.cols = 1 << 20, .header = 1 << 24, .line = 1 << 25, .expansion = 250};

tct_limits tct_limits_of(const tct_read_options *options) {
  tct_limits limits = tct_limits_default;
  if (options->max_cols > 0) limits.cols = options->max_cols;
  if (options->max_header > 0) limits.header = options->max_header;
  if (options->max_line > 0) limits.line = options->max_line;
  if (options->max_expansion > 0) limits.expansion = options->max_expansion;
  limits.pass = TCT_POINT(a_long_line_ends_the_read, options->invalid == TCT_INVALID_ZERO, false);
  return limits;
}

static tct_status too_long(const char *file, const char *what, int64_t max, const char *option, tct_error *err) {
  return tct_fail_at(err, file, 0, 0, "%s is longer than %lld bytes; check that the file is a table, or raise {%s}",
                     what, (long long)max, option);
}

tct_status tct_limits_header(const tct_limits *limits, const char *file, int64_t bytes, tct_error *err) {
  if (bytes <= limits->header) return TCT_OK;
  return too_long(file, "the header", limits->header, "{max_header}", err);
}

tct_status tct_limits_line(const tct_limits *limits, const char *file, int64_t bytes, tct_error *err) {
  if (bytes <= limits->line) return TCT_OK;
  return too_long(file, "a line or record", limits->line, "{max_line}", err);
}

tct_status tct_limits_unpacked(const tct_limits *limits, const char *file, int64_t unpacked, int64_t stored,
                               tct_error *err) {
  if (unpacked <= FREE || unpacked / limits->expansion <= stored) return TCT_OK;
  return tct_fail_at(err, file, 0, 0,
                     "the compressed file unpacks to more than %lld times its size; if that is right, raise "
                     "{max_expansion} or unpack it first",
                     (long long)limits->expansion);
}

/* Schemas of more columns than this come with a raised limit of columns. */
tct_json_most tct_limits_json(const tct_limits *limits) {
  int64_t described = limits->cols > tct_limits_default.cols ? limits->cols : tct_limits_default.cols / 4;
  return (tct_json_most){.containers = described, .values = 8 * described};
}
