/* dummy.c - a table of CSV under a first line `%dummy`. */
#include "read/format/reader.h"

#include <string.h>

static const char mark[] = "%dummy\n";

static bool looks(const char *head, int64_t length, locale_t c) {
  (void)c;
  return length >= (int64_t)sizeof mark - 1 && !memcmp(head, mark, sizeof mark - 1);
}

static tct_status read_format(tct_reader *reader, tct_error *err) {
  reader->source->begin += (int64_t)sizeof mark - 1;
  return tct_format_csv.read(reader, err);
}

const tct_format tct_format_dummy = {
    .name = "dummy",
    .summary = "CSV under a first line of its own",
    .looks = looks,
    .read = read_format,
};
