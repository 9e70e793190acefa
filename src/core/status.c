/* status.c - filling the caller's error record. */
#include "core/stop.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tct_error_clear(tct_error *err) {
  if (err) memset(err, 0, sizeof *err);
}

/* Bytes of the character that begins at `at`; 0: none that a terminal should see, which controls it or is no UTF-8. */
static int harmless(const unsigned char *at) {
  unsigned c = at[0], low = 0x80, high = 0xbf;
  if (c < 0x80) return c >= ' ' && c != 0x7f;
  int length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4) return 0;
  if (c == 0xc2 || c == 0xe0) low = 0xa0; /* controls of Latin-1; longer forms of shorter characters */
  if (c == 0xf0) low = 0x90;
  if (c == 0xed) high = 0x9f;
  if (c == 0xf4) high = 0x8f;
  if (at[1] < low || at[1] > high) return 0;
  for (int i = 2; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  bool turns = c == 0xe2 && ((at[1] == 0x80 && ((at[2] | 1) == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae))) ||
                             (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9)); /* the direction, or the line */
  return turns ? 0 : length;
}

/* A sentence may hold a file's, a peer's or a certificate's words: none of them moves the cursor or rings. */
static void make_harmless(char *text) {
  for (unsigned char *at = (unsigned char *)text; *at;) {
    int length = harmless(at);
    if (!length) *at = '?';
    at += length ? length : 1;
  }
}

tct_status tct_fail(tct_error *err, tct_status status, const char *format, ...) {
  if (!err) return status;
  tct_error_clear(err);
  err->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  make_harmless(err->text);
  return status;
}

tct_status tct_fail_at(tct_error *err, const char *file, int64_t line, int64_t column, const char *format, ...) {
  if (!err) return TCT_E_DATA;
  tct_error_clear(err);
  err->status = TCT_E_DATA;
  err->line = line;
  err->column = column;
  snprintf(err->file, sizeof err->file, "%s", file ? file : "");
  make_harmless(err->file);
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  make_harmless(err->text);
  return TCT_E_DATA;
}

tct_status tct_fail_memory(tct_error *err) {
  if (tct_stopping()) return tct_fail_cancelled(err); /* large allocations ask too */
  return tct_fail(err, TCT_E_MEMORY, "out of memory; use a machine with more memory or a smaller data set");
}

int tct_status_exit_code(tct_status status) {
  switch (status) {
    case TCT_OK: return 0;
    case TCT_E_USAGE: return 2;
    case TCT_E_DATA: return 3;
    case TCT_E_BUDGET: return 4;
    default: return 1;
  }
}

const char *tct_version(void) { return TCT_VERSION; }

void tct_text_free(char *text) { free(text); }
