/* npy_header.c - the header of a NumPy array file: a Python dictionary with three keys.
 *
 * NumPy's own format description (numpy.lib.format, versions 1.0 to 3.0) fixes the keys descr,
 * fortran_order and shape; any order and any blanks are taken here. */
#include <string.h>

#include "formats/npy.h"

typedef struct cursor {
  const char *at, *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n')) c->at++;
}

/* Consumes one character after blanks, if it is there. */
static bool take(cursor *c, char wanted) {
  skip_blanks(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

/* A Python string without escapes. */
static bool take_text(cursor *c, char *out, int64_t size) {
  skip_blanks(c);
  char quote = c->at < c->end ? *c->at : 0;
  if (quote != '\'' && quote != '"') return false;
  const char *first = ++c->at;
  while (c->at < c->end && *c->at != quote) c->at++;
  int64_t length = c->at - first;
  if (c->at == c->end || length >= size) return false;
  memcpy(out, first, (size_t)length);
  out[length] = 0;
  c->at++;
  return true;
}

static bool take_size(cursor *c, int64_t *out) {
  skip_blanks(c);
  const char *first = c->at;
  int64_t value = 0;
  for (; c->at < c->end && (unsigned)(*c->at - '0') < 10; c->at++) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *c->at - '0', &value)) return false;
  }
  *out = value;
  return c->at > first;
}

static bool take_shape(cursor *c, tct_npy *npy) {
  if (!take(c, '(')) return false;
  npy->dimensions = 0;
  while (!take(c, ')')) {
    int64_t size;
    if (!take_size(c, &size)) return false;
    if (npy->dimensions < 2) npy->shape[npy->dimensions] = size;
    if (npy->dimensions < 100) npy->dimensions++;
    if (!take(c, ',')) return take(c, ')');
  }
  return true;
}

static const char *check_type(const char *descr, tct_npy *npy) {
  static const char *const known[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
  if (strlen(descr) != 3 || !strchr("<>|=", descr[0])) {
    return "the array's type is not a plain number; save it as float64 (array.astype(float))";
  }
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(descr + 1, known[k]) != 0) continue;
    npy->kind = descr[1];
    npy->width = descr[2] - '0';
    npy->swapped =
        (descr[0] == '>') == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) && descr[0] != '|' && descr[0] != '=';
    return NULL;
  }
  return "the array's type is not a number of 1 to 8 bytes; save it as float64 (array.astype(float))";
}

const char *tct_npy_header(const char *text, int64_t length, bool vector, tct_npy *npy) {
  static const char *const malformed = "the NPY header is malformed; save the array again with numpy.save";
  cursor c = {text, text + length};
  char key[16], descr[16] = "";
  unsigned seen = 0;
  if (!take(&c, '{')) return malformed;
  while (!take(&c, '}')) {
    if (!take_text(&c, key, sizeof key) || !take(&c, ':')) return malformed;
    if (strcmp(key, "descr") == 0) {
      if (!take_text(&c, descr, sizeof descr)) {
        return "the array's type is not a plain number; save it as float64 (array.astype(float))";
      }
      seen |= 1;
    } else if (strcmp(key, "fortran_order") == 0) {
      npy->fortran = take_word(&c, "True");
      if (!npy->fortran && !take_word(&c, "False")) return malformed;
      seen |= 2;
    } else if (strcmp(key, "shape") == 0) {
      if (!take_shape(&c, npy)) return malformed;
      seen |= 4;
    } else {
      return malformed;
    }
    if (!take(&c, ',')) {
      if (!take(&c, '}')) return malformed;
      break;
    }
  }
  if (seen != 7) return malformed;
  if (vector && npy->dimensions == 1) npy->dimensions = 2, npy->shape[1] = 1;
  if (npy->dimensions != 2) return "the array is not two-dimensional; save records as rows and features as columns";
  return check_type(descr, npy);
}

double tct_npy_element(const tct_npy *npy, const unsigned char *bytes) {
  unsigned char ordered[8];
  for (int k = 0; k < npy->width; k++) ordered[k] = bytes[npy->swapped ? npy->width - 1 - k : k];
  switch (npy->kind << 4 | npy->width) {
#define TCT_ELEMENT(kind_, width_, type)   \
  case kind_ << 4 | width_: {              \
    type value;                            \
    memcpy(&value, ordered, sizeof value); \
    return (double)value;                  \
  }
    TCT_ELEMENT('f', 4, float)
    TCT_ELEMENT('f', 8, double)
    TCT_ELEMENT('i', 1, int8_t)
    TCT_ELEMENT('i', 2, int16_t)
    TCT_ELEMENT('i', 4, int32_t)
    TCT_ELEMENT('i', 8, int64_t)
    TCT_ELEMENT('u', 2, uint16_t)
    TCT_ELEMENT('u', 4, uint32_t)
    TCT_ELEMENT('u', 8, uint64_t)
#undef TCT_ELEMENT
    default: return ordered[0];
  }
}
