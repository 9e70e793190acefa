/* dta_help.h - Stata files for tests, of any version and byte order. */
#ifndef TCT_DTA_HELP_H
#define TCT_DTA_HELP_H
#include "read_help.h"

/* A file that is built section by section. */
typedef struct made {
  char bytes[8192];
  size_t used;
  int version;
  bool big, tags;
} made;

static inline void put(made *m, const void *bytes, size_t count) {
  assert_true(m->used + count <= sizeof m->bytes);
  memcpy(m->bytes + m->used, bytes, count);
  m->used += count;
}

static inline void put_tag(made *m, const char *text) {
  if (m->tags) put(m, text, strlen(text));
}

static inline void put_whole(made *m, uint64_t value, int bytes) {
  for (int k = 0; k < bytes; k++) {
    char byte = (char)(value >> 8 * (m->big ? bytes - 1 - k : k));
    put(m, &byte, 1);
  }
}

static inline void put_fixed(made *m, const char *text, size_t width) {
  char field[400] = {0};
  memcpy(field, text, strlen(text) < width ? strlen(text) : width);
  put(m, field, width);
}

/* Columns: a (byte, number), b (int, with value labels), c (text of 6 bytes), d (double), y (byte, with labels). */
enum { COLUMNS = 5, A = 0, B, C, D, Y };
static const char *const names[COLUMNS] = {"a", "b", "c", "d", "y"};
static const char *const labels[COLUMNS] = {"", "grade", "", "", "yesno"};
static const int old_types[COLUMNS] = {251, 252, 6, 255, 251}, new_types[COLUMNS] = {65530, 65529, 6, 65526, 65530};

typedef struct record {
  int a, b;
  const char *c;
  uint64_t d; /* bits */
  int y;
} record;

static inline uint64_t bits(double value) {
  uint64_t whole;
  memcpy(&whole, &value, sizeof whole);
  return whole;
}

static inline void put_head(made *m, uint64_t variables, uint64_t rows) {
  static const char zero[112] = {0};
  char version[16];
  if (!m->tags) {
    char head[4] = {(char)m->version, m->big ? 1 : 2, 1, 0};
    put(m, head, 4);
    put_whole(m, variables, 2);
    put_whole(m, rows, 4);
    put(m, zero, 81 + 18);
    return;
  }
  snprintf(version, sizeof version, "%d", m->version);
  put_tag(m, "<stata_dta><header><release>");
  put_tag(m, version);
  put_tag(m, m->big ? "</release><byteorder>MSF</byteorder><K>" : "</release><byteorder>LSF</byteorder><K>");
  put_whole(m, variables, m->version == 119 ? 4 : 2);
  put_tag(m, "</K><N>");
  put_whole(m, rows, m->version == 117 ? 4 : 8);
  put_tag(m, "</N><label>");
  put_whole(m, 4, m->version == 117 ? 1 : 2);
  put_tag(m, "note</label><timestamp>");
  put_whole(m, 0, 1);
  put_tag(m, "</timestamp></header><map>");
  put(m, zero, 112); /* the map is not used */
  put_tag(m, "</map><variable_types>");
}

static inline void put_columns(made *m) {
  size_t name = m->version < 118 ? 33 : 129, format = m->version == 113 ? 12 : m->version < 118 ? 49 : 57;
  for (int j = 0; j < COLUMNS; j++) put_whole(m, (uint64_t)(m->tags ? new_types : old_types)[j], m->tags ? 2 : 1);
  put_tag(m, "</variable_types><varnames>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, names[j], name);
  put_tag(m, "</varnames><sortlist>");
  for (int j = 0; j <= COLUMNS; j++) put_whole(m, 0, m->version == 119 ? 4 : 2);
  put_tag(m, "</sortlist><formats>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, "%9.0g", format);
  put_tag(m, "</formats><value_label_names>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, labels[j], name);
  put_tag(m, "</value_label_names><variable_labels>");
  for (int j = 0; j < COLUMNS; j++) put_fixed(m, "what it is", m->version < 118 ? 81 : 321);
  put_tag(m, "</variable_labels><characteristics><ch>");
  if (!m->tags) put_whole(m, 1, 1);
  put_whole(m, 3, 4);
  put(m, "abc", 3);
  put_tag(m, "</ch></characteristics>");
  if (!m->tags) put_whole(m, 0, 5);
}

static inline void put_labels(made *m, const char *name, int code, const char *first, const char *second) {
  size_t n = strlen(first) + 1, k = strlen(second) + 1;
  put_tag(m, "<lbl>");
  put_whole(m, 8 + 16 + n + k, 4);
  put_fixed(m, name, m->version < 118 ? 33 : 129);
  put_whole(m, 0, 3);
  put_whole(m, 2, 4);
  put_whole(m, n + k, 4);
  put_whole(m, k, 4); /* the texts stand in the other order */
  put_whole(m, 0, 4);
  put_whole(m, (uint64_t)code, 4);
  put_whole(m, (uint64_t)code + 1, 4);
  put(m, second, k);
  put(m, first, n);
  put_tag(m, "</lbl>");
}

static inline void make(made *m, int version, bool big, const record *records, int count) {
  *m = (made){.version = version, .big = big, .tags = version >= 117};
  put_head(m, COLUMNS, (uint64_t)count);
  put_columns(m);
  put_tag(m, "<data>");
  for (int i = 0; i < count; i++) {
    put_whole(m, (uint8_t)records[i].a, 1);
    put_whole(m, (uint16_t)records[i].b, 2);
    put_fixed(m, records[i].c, 6);
    put_whole(m, records[i].d, 8);
    put_whole(m, (uint8_t)records[i].y, 1);
  }
  put_tag(m, "</data><strls></strls><value_labels>");
  put_labels(m, "yesno", 0, "no", "yes");
  put_labels(m, "grade", -1, "low, \"x\"", "high");
  put_tag(m, "</value_labels></stata_dta>");
}
#endif
