/* status.c - filling the caller's error record. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tct_error_clear(tct_error *err) {
  if (err) memset(err, 0, sizeof *err);
}

tct_status tct_fail(tct_error *err, tct_status status, const char *format, ...) {
  if (!err) return status;
  tct_error_clear(err);
  err->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return status;
}

tct_status tct_fail_at(tct_error *err, const char *file, int64_t line, int64_t column, const char *format, ...) {
  if (!err) return TCT_E_DATA;
  tct_error_clear(err);
  err->status = TCT_E_DATA;
  err->line = line;
  err->column = column;
  snprintf(err->file, sizeof err->file, "%s", file ? file : "");
  va_list args;
  va_start(args, format);
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return TCT_E_DATA;
}

tct_status tct_fail_memory(tct_error *err) {
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
