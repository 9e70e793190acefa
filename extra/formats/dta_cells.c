/* dta_cells.c - a Stata file's numbers, its missing values, and the labels of codes. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "formats/dta.h"

enum { LONGEST_LABEL = 32000 }; /* bytes, Stata's own limit */

/* The largest values that are numbers; above them stand . and .a to .z. */
enum { MOST_I8 = 100, MOST_I16 = 32740, MOST_I32 = 2147483620, MOST_F32 = 0x7effffff };
#define MOST_F64 INT64_C(0x7fdfffffffffffff)

bool tct_dta_number(const tct_dta *dta, const tct_dta_variable *variable, const char *cell, double *value) {
  uint64_t bits = tct_dta_whole(dta, cell, variable->width);
  int32_t whole = variable->type == TCT_DTA_I8    ? (int8_t)bits
                  : variable->type == TCT_DTA_I16 ? (int16_t)bits
                                                  : (int32_t)(uint32_t)bits;
  float single;
  switch (variable->type) {
    case TCT_DTA_I8: *value = whole; return whole <= MOST_I8;
    case TCT_DTA_I16: *value = whole; return whole <= MOST_I16;
    case TCT_DTA_I32: *value = whole; return whole <= MOST_I32;
    case TCT_DTA_F32:
      memcpy(&single, &whole, sizeof single);
      *value = single;
      return whole <= MOST_F32;
    default: memcpy(value, &bits, sizeof *value); return (int64_t)bits <= MOST_F64;
  }
}

/* Of several labels of one code the first of the list counts, as their texts' order is that of the list. */
static int by_code(const void *a, const void *b) {
  const tct_dta_label *x = a, *y = b;
  if (x->code != y->code) return x->code < y->code ? -1 : 1;
  return (x->text.at > y->text.at) - (x->text.at < y->text.at);
}

/* Layout: n, bytes of all texts, [n] where each text begins, [n] codes, the texts. */
tct_status tct_dta_labels(const tct_dta *dta, const char *at, int64_t bytes, tct_dta_set *set, tct_error *err) {
  if (bytes < 8) return tct_dta_damaged(dta, err);
  int64_t n = (int64_t)tct_dta_whole(dta, at, 4), texts = (int64_t)tct_dta_whole(dta, at + 4, 4);
  if (n > (bytes - 8) / 8 || texts > bytes - 8 - 8 * n) return tct_dta_damaged(dta, err);
  set->label = TCT_NEW(tct_dta_label, n);
  if (!set->label) return tct_fail_memory(err);
  set->count = n;
  const char *begin = at + 8, *code = begin + 4 * n, *text = code + 4 * n;
  for (int64_t k = 0; k < n; k++) {
    int64_t from = (int64_t)tct_dta_whole(dta, begin + 4 * k, 4);
    if (from >= texts) return tct_dta_damaged(dta, err);
    set->label[k] = (tct_dta_label){.code = (int32_t)(uint32_t)tct_dta_whole(dta, code + 4 * k, 4),
                                    .text = tct_dta_text_of(text + from, texts - from)};
    if (set->label[k].text.length > LONGEST_LABEL)
      return tct_fail_at(err, dta->name, 0, 0, "a value label is longer than 32,000 bytes; shorten it");
  }
  if (n > 0) qsort(set->label, (size_t)n, sizeof *set->label, by_code);
  return TCT_OK;
}

tct_dta_text tct_dta_label_of(const tct_dta_set *set, int32_t code) {
  int64_t low = 0, high = set->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (set->label[middle].code < code)
      low = middle + 1;
    else
      high = middle;
  }
  return low < set->count && set->label[low].code == code ? set->label[low].text : (tct_dta_text){NULL, 0};
}
