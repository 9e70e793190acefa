/* dta_header.c - a Stata file from its first byte to its last: versions 113 to 115 (Stata 8 to 12) and 117 to 119.
 *
 * Layout: Stata's own description of the format (help dta).  The newer versions are the older ones between tags, with
 * wider fields.  Fuzzed by fuzz/fuzz_dta.c. */
#include "formats/dta.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

/* Widths in bytes of what differs between versions. */
typedef struct form {
  int version;
  bool tags;
  int variables, rows; /* of their numbers */
  int caption;         /* of the length of the file's label; 0: the label has 81 bytes */
  int name, format, label, sort;
} form;

static const form forms[] = {
    {113, false, 2, 4, 0, 33, 12, 81, 2}, {114, false, 2, 4, 0, 33, 49, 81, 2},  {115, false, 2, 4, 0, 33, 49, 81, 2},
    {117, true, 2, 4, 1, 33, 49, 81, 2},  {118, true, 2, 8, 2, 129, 57, 321, 2}, {119, true, 4, 8, 2, 129, 57, 321, 4},
};
enum { OLD_CAPTION = 81, OLD_TIME = 18, MAP = 14 * 8, PADDING = 3, LONGEST_TEXT = 2045 };

tct_status tct_dta_damaged(const tct_dta *dta, tct_error *err) {
  return tct_fail_at(
      err, dta->name, 0, 0,
      "the Stata file ends too early or contradicts itself; save it again, or as CSV (export delimited)");
}

/* The next `count` bytes, or NULL: there are fewer. */
static const char *take(tct_dta *dta, int64_t count) {
  if (count < 0 || count > dta->file.count - dta->at) return NULL;
  dta->at += count;
  return dta->file.at + dta->at - count;
}

uint64_t tct_dta_whole(const tct_dta *dta, const char *at, int64_t bytes) {
  uint64_t value = 0;
  for (int64_t k = 0; k < bytes; k++) value = value << 8 | (unsigned char)at[dta->big ? k : bytes - 1 - k];
  return value;
}

tct_dta_text tct_dta_text_of(const char *at, int64_t most) {
  const char *end = memchr(at, 0, (size_t)most);
  return (tct_dta_text){at, end ? end - at : most};
}

int tct_dta_compare(tct_dta_text a, tct_dta_text b) {
  int order = memcmp(a.at, b.at, (size_t)(a.length < b.length ? a.length : b.length));
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* The next bytes are these; false: they are not.  Before version 117 there are no tags. */
static bool tag(tct_dta *d, const form *f, const char *text) {
  if (!f->tags) return true;
  int64_t length = (int64_t)strlen(text);
  const char *at = take(d, length);
  return at && memcmp(at, text, (size_t)length) == 0;
}

/* A whole number of the file that counts or measures something; false: it is not there. */
static bool count(tct_dta *d, int64_t bytes, int64_t *value) {
  const char *at = take(d, bytes);
  uint64_t found = at ? tct_dta_whole(d, at, bytes) : UINT64_MAX;
  if (found > INT64_MAX) return false;
  *value = (int64_t)found;
  return true;
}

static const form *form_of(int version) {
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
    if (forms[k].version == version) return &forms[k];
  return NULL;
}

/* Version and byte order; NULL: unknown. */
static const form *begin(tct_dta *d) {
  static const char head[] = "<stata_dta><header><release>", order[] = "</release><byteorder>";
  const char *at = d->file.at;
  int64_t length = (int64_t)strlen(head);
  if (d->file.count < 4) return NULL;
  if (at[0] != '<') {
    d->big = at[1] == 1;
    d->at = 4;
    const form *old = form_of((unsigned char)at[0]);
    return old && !old->tags && (at[1] == 1 || at[1] == 2) ? old : NULL;
  }
  if (d->file.count < length + 3 || memcmp(at, head, (size_t)length) != 0) return NULL;
  const char *digit = at + length;
  const form *f = form_of(100 * (digit[0] - '0') + 10 * (digit[1] - '0') + digit[2] - '0');
  d->at = length + 3;
  if (!f || !f->tags || !tag(d, f, order)) return NULL;
  const char *bytes = take(d, 3);
  if (!bytes || (memcmp(bytes, "MSF", 3) != 0 && memcmp(bytes, "LSF", 3) != 0)) return NULL;
  d->big = bytes[0] == 'M';
  return tag(d, f, "</byteorder>") ? f : NULL;
}

/* The file's own label and time, which nobody needs here. */
static bool skip_caption(tct_dta *d, const form *f) {
  int64_t caption = OLD_CAPTION, time = OLD_TIME;
  if (!tag(d, f, "<label>") || (f->tags && !count(d, f->caption, &caption)) || !take(d, caption)) return false;
  if (!tag(d, f, "</label><timestamp>") || (f->tags && !count(d, 1, &time)) || !take(d, time)) return false;
  return tag(d, f, "</timestamp></header><map>") && (!f->tags || take(d, MAP));
}

static bool read_size(tct_dta *d, const form *f) {
  return tag(d, f, "<K>") && count(d, f->variables, &d->variables) && tag(d, f, "</K><N>") &&
         count(d, f->rows, &d->rows) && tag(d, f, "</N>") && skip_caption(d, f);
}

/* The type of a variable; false: unknown. */
static bool set_type(tct_dta_variable *v, int64_t code, bool tags) {
  static const int64_t widths[] = {1, 2, 4, 4, 8};
  int64_t k = tags ? 65530 - code : code - 251; /* byte, int, long, float, double */
  if (k >= 0 && k < 5) {
    v->type = (tct_dta_type)k;
    v->width = widths[k];
    return true;
  }
  v->type = tags && code == 32768 ? TCT_DTA_LONG : TCT_DTA_TEXT;
  v->width = v->type == TCT_DTA_LONG ? 8 : code;
  return v->type == TCT_DTA_LONG || (code >= 1 && code <= LONGEST_TEXT);
}

static bool read_types(tct_dta *d, const form *f) {
  int64_t bytes = f->tags ? 2 : 1;
  if (!tag(d, f, "</map><variable_types>")) return false;
  for (int64_t j = 0; j < d->variables; j++) {
    int64_t code;
    tct_dta_variable *v = &d->variable[j];
    if (!count(d, bytes, &code) || !set_type(v, code, f->tags)) return false;
    v->offset = d->row_bytes;
    d->row_bytes += v->width;
  }
  return tag(d, f, "</variable_types><varnames>");
}

static bool read_names(tct_dta *d, const form *f) {
  for (int64_t j = 0; j < d->variables; j++) {
    const char *at = take(d, f->name);
    if (!at) return false;
    d->variable[j].name = tct_dta_text_of(at, f->name);
  }
  if (!tag(d, f, "</varnames><sortlist>") || !take(d, f->sort * (d->variables + 1))) return false;
  if (!tag(d, f, "</sortlist><formats>") || !take(d, f->format * d->variables)) return false;
  if (!tag(d, f, "</formats><value_label_names>")) return false;
  for (int64_t j = 0; j < d->variables; j++) {
    const char *at = take(d, f->name);
    if (!at) return false;
    d->variable[j].labels = tct_dta_text_of(at, f->name);
  }
  return tag(d, f, "</value_label_names><variable_labels>") && take(d, f->label * d->variables) &&
         tag(d, f, "</variable_labels>");
}

/* Notes and settings of the file, which nobody needs here. */
static bool skip_notes(tct_dta *d, const form *f) {
  int64_t length, kind;
  while (!f->tags) {
    if (!count(d, 1, &kind) || !count(d, 4, &length) || !take(d, length)) return false;
    if (kind == 0) return length == 0;
  }
  if (!tag(d, f, "<characteristics>")) return false;
  while (d->file.count - d->at >= 4 && memcmp(d->file.at + d->at, "<ch>", 4) == 0) {
    d->at += 4;
    if (!count(d, 4, &length) || !take(d, length) || !tag(d, f, "</ch>")) return false;
  }
  return tag(d, f, "</characteristics>");
}

static bool read_records(tct_dta *d, const form *f) {
  if (!tag(d, f, "<data>") || d->row_bytes == 0 || d->rows > (d->file.count - d->at) / d->row_bytes) return false;
  d->records = take(d, d->rows * d->row_bytes);
  return tag(d, f, "</data>");
}

/* Texts of any length lie between records and value labels. */
static bool skip_texts(tct_dta *d, const form *f) {
  int64_t length, reference = f->version == 117 ? 8 : 12;
  if (!tag(d, f, "<strls>")) return false;
  while (f->tags && d->file.count - d->at >= 3 && memcmp(d->file.at + d->at, "GSO", 3) == 0) {
    d->at += 3;
    if (!take(d, reference + 1) || !count(d, 4, &length) || !take(d, length)) return false;
  }
  return tag(d, f, "</strls><value_labels>");
}

static int by_name(const void *a, const void *b) {
  return tct_dta_compare(((const tct_dta_set *)a)->name, ((const tct_dta_set *)b)->name);
}

/* Is there one more list of value labels? */
static bool more_labels(const tct_dta *d, const form *f) {
  int64_t left = d->file.count - d->at;
  return f->tags ? left >= 5 && memcmp(d->file.at + d->at, "<lbl>", 5) == 0 : left > 0;
}

static tct_status read_labels(tct_dta *d, const form *f, tct_error *err) {
  for (int64_t room = 0; more_labels(d, f);) {
    int64_t bytes;
    if (d->sets == room) {
      tct_dta_set *grown = tct_grow(d->set, room, 2 * room + 8, sizeof *grown);
      if (!grown) return tct_fail_memory(err);
      d->set = grown;
      room = 2 * room + 8;
    }
    bool sound = tag(d, f, "<lbl>") && count(d, 4, &bytes);
    const char *name = sound ? take(d, f->name + PADDING) : NULL;
    const char *list = name ? take(d, bytes) : NULL;
    if (!list || !tag(d, f, "</lbl>")) return tct_dta_damaged(d, err);
    tct_dta_set *set = &d->set[d->sets++];
    set->name = tct_dta_text_of(name, f->name);
    TCT_TRY(tct_dta_labels(d, list, bytes, set, err));
  }
  if (!tag(d, f, "</value_labels></stata_dta>")) return tct_dta_damaged(d, err);
  if (d->sets > 0) qsort(d->set, (size_t)d->sets, sizeof *d->set, by_name);
  return TCT_OK;
}

static void link_labels(tct_dta *d) {
  for (int64_t j = 0; j < d->variables && d->sets > 0; j++) {
    tct_dta_variable *v = &d->variable[j];
    if (v->labels.length == 0 || v->type >= TCT_DTA_TEXT) continue;
    v->set = bsearch(&(tct_dta_set){.name = v->labels}, d->set, (size_t)d->sets, sizeof *d->set, by_name);
  }
}

tct_status tct_dta_parse(tct_dta *dta, int64_t most, tct_error *err) {
  const form *f = begin(dta);
  if (!f)
    return tct_fail_at(err, dta->name, 0, 0,
                       "the Stata file has an unknown version; save it with Stata 8 or newer, or as CSV");
  dta->version = f->version;
  if (!read_size(dta, f)) return tct_dta_damaged(dta, err);
  if (dta->variables > most) return tct_fail_at(err, dta->name, 0, 0, TCT_TOO_MANY_COLUMNS);
  if (dta->variables > (dta->file.count - dta->at) / f->name) return tct_dta_damaged(dta, err);
  dta->variable = TCT_NEW(tct_dta_variable, dta->variables);
  if (!dta->variable) return tct_fail_memory(err);
  if (!read_types(dta, f) || !read_names(dta, f) || !skip_notes(dta, f) || !read_records(dta, f) || !skip_texts(dta, f))
    return tct_dta_damaged(dta, err);
  TCT_TRY(read_labels(dta, f, err));
  link_labels(dta);
  return TCT_OK;
}

void tct_dta_free(tct_dta *dta) {
  for (int64_t k = 0; k < dta->sets; k++) tct_free(dta->set[k].label);
  tct_free(dta->set);
  tct_free(dta->variable);
  tct_wipe_free(dta->file.at, dta->file.count, 1);
  memset(dta, 0, sizeof *dta);
}
