/* foreign.c - files that are tables elsewhere and are not read here: told by content, each with its way out. */
#include "read/format/foreign.h"

#include <string.h>

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

const char *tct_foreign(const char *head, int64_t length) {
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
    const form *f = &forms[k];
    if (length >= f->length && memcmp(head, f->bytes, (size_t)f->length) == 0) return f->why;
  }
  return NULL;
}
