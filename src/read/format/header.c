/* header.c - the header line of a CSV file: names, their order, and what is refused. */
#include <string.h>

#include "core/alloc.h"
#include "read/source/csv.h"
#include "core/number.h"
#include "read/table/names.h"

/* Copies the fields into one allocation: the pointers, then the texts. */
static char **copy_names(const tct_csv *csv) {
  int64_t bytes = csv->fields * (int64_t)sizeof(char *);
  for (int64_t j = 0; j < csv->fields; j++) bytes += csv->field[j].length + 1;
  char **names = tct_alloc(bytes, 1);
  if (!names) return NULL;
  char *to = (char *)(names + csv->fields);
  for (int64_t j = 0; j < csv->fields; j++) {
    names[j] = to;
    memcpy(to, csv->field[j].at, (size_t)csv->field[j].length);
    to += csv->field[j].length + 1;
  }
  return names;
}

/* A header of numbers is a first record in disguise, and would be lost; only 0, 1, 2, ... or
 * 1, 2, 3, ..., which table programs write for columns without names, is a header. */
static bool is_record(const tct_csv *csv, locale_t c) {
  bool counting = true;
  double first = 0;
  for (int64_t j = 0; j < csv->fields; j++) {
    double value = 0;
    if (tct_number_parse(csv->field[j].at, csv->field[j].length, c, &value) != TCT_NUMBER_OK) return false;
    if (j == 0) first = value;
    if (value != first + (double)j) counting = false;
  }
  return !counting || csv->fields < 2 || (first != 0 && first != 1);
}

static tct_status check_header(tct_csv *csv, tct_error *err) {
  const char *file = csv->source->name;
  if (csv->fault.why) return tct_fail_at(err, file, csv->line, csv->fault.column, "{%s}", csv->fault.why);
  for (int64_t j = 0; j < csv->fields; j++) {
    if (csv->field[j].length == 0) {
      return tct_fail_at(err, file, csv->line, j + 1, "the header has a column without a name; give it one");
    }
  }
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c) return tct_fail_memory(err);
  bool record = is_record(csv, c);
  freelocale(c);
  if (!record) return TCT_OK;
  return tct_fail_at(err, file, csv->line, 0,
                     "the first line holds only numbers; a CSV file starts with a line of column names");
}

tct_status tct_csv_header(tct_csv *csv, char ***names, int64_t **sorted, int64_t *count, tct_error *err) {
  bool more = true;
  do {
    TCT_TRY(tct_csv_next(csv, &more, err));
  } while (more && csv->blank);
  if (!more) {
    return tct_fail_at(err, csv->source->name, 0, 0, "the file is empty; give a table with at least one record");
  }
  TCT_TRY(check_header(csv, err));
  *names = copy_names(csv);
  *sorted = TCT_NEW(int64_t, csv->fields);
  *count = csv->fields;
  if (!*names || !*sorted) return tct_fail_memory(err);
  csv->expect = csv->fields;
  int64_t repeated;
  TCT_TRY(tct_names_sort((const char *const *)*names, *count, *sorted, &repeated, err));
  if (repeated < 0) return TCT_OK;
  return tct_fail_at(err, csv->source->name, csv->line, repeated + 1,
                     "the header repeats the name of an earlier column; give every column a name of its own");
}
