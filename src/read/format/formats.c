/* formats.c - the table of formats, and which of them a file has. */
#include "read/format/reader.h"

const tct_format *const tct_formats[] = {
#define TCT_FORMAT(name) &tct_format_##name,
#include "read/format/list.def"
#undef TCT_FORMAT
};
const int tct_format_count = sizeof tct_formats / sizeof *tct_formats;

const tct_format *tct_format_of(const char *head, int64_t length, locale_t c) {
  int k = 0;
  while (k + 1 < tct_format_count && !tct_formats[k]->looks(head, length, c)) k++;
  return tct_formats[k];
}
