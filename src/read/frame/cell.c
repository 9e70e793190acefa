/* cell.c - one value of a column in Arrow's memory.
 *
 * The interface hands over pointers without the sizes behind them.  What can be checked is: lengths, missing buffers,
 * offsets that go backward, indices beyond a dictionary, views beyond their buffers.  The rest is the exporter's word.
 */
#include "read/frame/cell.h"

#include <math.h>
#include <string.h>

static const char DAMAGED[] = "the frame's memory contradicts itself; make the frame again";

enum { VIEW = 16, VIEW_INLINE = 12 }; /* bytes of a view, and of a text that it holds itself */

/* Of a dictionary: of its indices. */
static tct_form form_of(const struct ArrowSchema *schema) {
  static const struct {
    const char *format;
    tct_form form;
  } forms[] = {{"n", TCT_FORM_NULLS},      {"b", TCT_FORM_FLAG},     {"c", TCT_FORM_I8},       {"C", TCT_FORM_U8},
               {"s", TCT_FORM_I16},        {"S", TCT_FORM_U16},      {"i", TCT_FORM_I32},      {"I", TCT_FORM_U32},
               {"l", TCT_FORM_I64},        {"L", TCT_FORM_U64},      {"e", TCT_FORM_F16},      {"f", TCT_FORM_F32},
               {"g", TCT_FORM_F64},        {"tdD", TCT_FORM_DAYS},   {"tdm", TCT_FORM_STAMP},  {"tss:", TCT_FORM_STAMP},
               {"tsm:", TCT_FORM_STAMP},   {"tsu:", TCT_FORM_STAMP}, {"tsn:", TCT_FORM_STAMP}, {"u", TCT_FORM_TEXT},
               {"U", TCT_FORM_LARGE_TEXT}, {"vu", TCT_FORM_VIEW}};
  for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
    if (schema->format && strcmp(schema->format, forms[k].format) == 0) return forms[k].form;
  }
  return TCT_FORM_OTHER;
}

bool tct_form_is_text(const struct ArrowSchema *schema) {
  return form_of(schema->dictionary ? schema->dictionary : schema) >= TCT_FORM_TEXT;
}

static bool is_date(tct_form form) { return form == TCT_FORM_DAYS || form == TCT_FORM_STAMP; }

bool tct_form_is_known(const struct ArrowSchema *schema, bool date) {
  tct_form form = form_of(schema);
  if (is_date(form) && !date) return false;
  if (!schema->dictionary) return form != TCT_FORM_OTHER;
  if (is_date(form_of(schema->dictionary))) return false;
  return form >= TCT_FORM_I8 && form <= TCT_FORM_U64 && !schema->dictionary->dictionary &&
         form_of(schema->dictionary) != TCT_FORM_OTHER;
}

/* Of the last letter of a format: s, m, u, n for parts of a second. */
static int64_t per_day(const struct ArrowSchema *schema) {
  static const char units[] = "smun";
  int64_t count = 86400;
  if (form_of(schema) != TCT_FORM_STAMP) return 1;
  for (const char *unit = units; *unit != schema->format[2]; unit++) count *= 1000;
  return count;
}

static const void *buffer(const struct ArrowArray *array, int64_t k) {
  return array->buffers && k < array->n_buffers ? array->buffers[k] : NULL;
}

static const char *bind(tct_cells *cells, tct_form form, const struct ArrowArray *array, int64_t skip, int64_t length) {
  if (array->offset < 0 || skip < 0 || length < 0 || array->length < skip || array->length - skip < length ||
      array->offset > INT64_MAX / VIEW - array->length - 1) {
    return DAMAGED;
  }
  *cells = (tct_cells){.form = form, .first = array->offset + skip, .length = length, .array = array};
  if (form == TCT_FORM_NULLS) return NULL;
  if (array->null_count != 0) cells->valid = buffer(array, 0);
  cells->values = buffer(array, 1);
  if (length > 0 && !cells->values) return DAMAGED;
  if (form == TCT_FORM_VIEW && length > 0 && array->n_buffers < 3) return DAMAGED;
  return NULL;
}

const char *tct_strip_bind(tct_strip *strip, const struct ArrowSchema *schema, const struct ArrowArray *array,
                           int64_t skip, int64_t rows) {
  const char *why = bind(&strip->own, form_of(schema), array, skip, rows);
  strip->own.per_day = per_day(schema);
  strip->dictionary = schema->dictionary != NULL;
  if (why || !strip->dictionary) return why;
  if (!array->dictionary) return DAMAGED;
  return bind(&strip->listed, form_of(schema->dictionary), array->dictionary, 0, array->dictionary->length);
}

static bool bit(const unsigned char *bits, int64_t k) { return bits[k >> 3] >> (k & 7) & 1; }

static void set_whole(tct_cell *cell, int64_t value) {
  cell->negative = value < 0;
  cell->magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
  cell->number = (double)value;
  cell->whole = true;
}

static void set_natural(tct_cell *cell, uint64_t value) {
  cell->negative = false;
  cell->magnitude = value;
  cell->number = (double)value;
  cell->whole = true;
}

/* A float that is a whole number below 2^63 is read as one: 3.0 is 3. */
static void set_real(tct_cell *cell, double value) {
  if (isnan(value)) {
    cell->kind = TCT_CELL_MISSING;
  } else if (fabs(value) < 0x1p63 && value == (double)(int64_t)value) {
    set_whole(cell, (int64_t)value);
  } else {
    cell->number = value;
    cell->whole = false;
  }
}

/* IEEE 754 binary16. */
static double half(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -value : value;
}

/* LOAD(type): value number k of a buffer of that type; no alignment is promised for it. */
#define LOAD(type) \
  type value;      \
  memcpy(&value, cells->values + (size_t)k * sizeof value, sizeof value)

static void read_number(const tct_cells *cells, int64_t k, tct_cell *cell) {
  cell->kind = TCT_CELL_NUMBER;
  switch (cells->form) {
    case TCT_FORM_I8: {
      LOAD(int8_t);
      set_whole(cell, value);
      break;
    }
    case TCT_FORM_U8: {
      LOAD(uint8_t);
      set_natural(cell, value);
      break;
    }
    case TCT_FORM_I16: {
      LOAD(int16_t);
      set_whole(cell, value);
      break;
    }
    case TCT_FORM_U16: {
      LOAD(uint16_t);
      set_natural(cell, value);
      break;
    }
    case TCT_FORM_I32: {
      LOAD(int32_t);
      set_whole(cell, value);
      break;
    }
    case TCT_FORM_U32: {
      LOAD(uint32_t);
      set_natural(cell, value);
      break;
    }
    case TCT_FORM_I64: {
      LOAD(int64_t);
      set_whole(cell, value);
      break;
    }
    case TCT_FORM_U64: {
      LOAD(uint64_t);
      set_natural(cell, value);
      break;
    }
    case TCT_FORM_F16: {
      LOAD(uint16_t);
      set_real(cell, half(value));
      break;
    }
    case TCT_FORM_F32: {
      LOAD(float);
      set_real(cell, value);
      break;
    }
    default: {
      LOAD(double);
      set_real(cell, value);
      break;
    }
  }
}

/* Days are counted downward: an hour before 1970 is the last of its days. */
static void read_date(const tct_cells *cells, int64_t k, tct_cell *cell) {
  int64_t whole;
  if (cells->form == TCT_FORM_DAYS) {
    LOAD(int32_t);
    whole = value;
  } else {
    LOAD(int64_t);
    whole = value / cells->per_day - (value % cells->per_day < 0);
  }
  cell->kind = TCT_CELL_DATE;
  cell->number = (double)whole;
}

static const char *read_view(const tct_cells *cells, int64_t k, tct_cell *cell) {
  const unsigned char *view = cells->values + (size_t)k * VIEW;
  const struct ArrowArray *array = cells->array;
  int32_t length, which, start;
  memcpy(&length, view, sizeof length);
  if (length < 0) return DAMAGED;
  cell->length = length;
  cell->at = (const char *)view + 4;
  if (length <= VIEW_INLINE) return NULL;
  memcpy(&which, view + 8, sizeof which);
  memcpy(&start, view + 12, sizeof start);
  const int64_t *sizes = buffer(array, array->n_buffers - 1); /* of the buffers between */
  if (which < 0 || which >= array->n_buffers - 3 || start < 0 || !sizes || start + (int64_t)length > sizes[which])
    return DAMAGED;
  const char *data = buffer(array, 2 + which);
  cell->at = data + start;
  return data ? NULL : DAMAGED;
}

static const char *read_text(const tct_cells *cells, int64_t k, tct_cell *cell) {
  int64_t from, to;
  cell->kind = TCT_CELL_TEXT;
  if (cells->form == TCT_FORM_VIEW) return read_view(cells, k, cell);
  if (cells->form == TCT_FORM_LARGE_TEXT) {
    memcpy(&from, cells->values + (size_t)k * sizeof from, sizeof from);
    memcpy(&to, cells->values + ((size_t)k + 1) * sizeof to, sizeof to);
  } else {
    int32_t ends[2];
    memcpy(ends, cells->values + (size_t)k * sizeof *ends, sizeof ends);
    from = ends[0];
    to = ends[1];
  }
  const char *data = buffer(cells->array, 2);
  if (from < 0 || to < from || (to > from && !data)) return DAMAGED;
  cell->at = data ? data + from : "";
  cell->length = to - from;
  return NULL;
}

static const char *read_cell(const tct_cells *cells, int64_t row, tct_cell *cell) {
  int64_t k = cells->first + row;
  if (cells->form == TCT_FORM_NULLS || (cells->valid && !bit(cells->valid, k))) {
    cell->kind = TCT_CELL_MISSING;
    return NULL;
  }
  if (cells->form >= TCT_FORM_TEXT) return read_text(cells, k, cell);
  if (is_date(cells->form)) {
    read_date(cells, k, cell);
    return NULL;
  }
  if (cells->form != TCT_FORM_FLAG) {
    read_number(cells, k, cell);
    return NULL;
  }
  cell->kind = TCT_CELL_FLAG;
  cell->number = bit(cells->values, k);
  return NULL;
}

int64_t tct_strip_index(const tct_strip *strip, int64_t row) {
  tct_cell cell = {0};
  if (!strip->dictionary || read_cell(&strip->own, row, &cell) || cell.kind == TCT_CELL_MISSING) return -1;
  return cell.negative || cell.magnitude >= (uint64_t)strip->listed.length ? -1 : (int64_t)cell.magnitude;
}

const char *tct_strip_read(const tct_strip *strip, int64_t row, tct_cell *cell) {
  const char *why = read_cell(&strip->own, row, cell);
  if (why || !strip->dictionary || cell->kind == TCT_CELL_MISSING) return why;
  if (cell->negative || cell->magnitude >= (uint64_t)strip->listed.length) return DAMAGED;
  return read_cell(&strip->listed, (int64_t)cell->magnitude, cell);
}

int64_t tct_cell_digits(const tct_cell *cell, char text[TCT_WHOLE_TEXT]) {
  char reversed[TCT_WHOLE_TEXT];
  int count = 0, length = 0;
  uint64_t rest = cell->magnitude;
  do {
    reversed[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (cell->negative) text[length++] = '-';
  while (count > 0) text[length++] = reversed[--count];
  text[length] = 0;
  return length;
}
