/* bench_read.c - reading speed in MB per second of processor time, beside a plain scan for newlines over the same
 * bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "read/format/reader.h"

enum { ROWS = 100000, COLS = 20, REPEATS = 5 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(uint64_t *seed) { /* xorshift64*, Vigna 2016 */
  *seed ^= *seed >> 12, *seed ^= *seed << 25, *seed ^= *seed >> 27;
  return (double)(*seed * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

/* A table as text: CSV with a header, or LIBSVM with the label 1. */
static char *make_table(const char *format, int libsvm, size_t *length) {
  char *text = malloc((size_t)ROWS * COLS * 32 + 4096), *at = text;
  uint64_t seed = 1;
  if (!text) exit(1);
  for (int j = 0; j < COLS && !libsvm; j++) at += sprintf(at, "c%d%c", j, j + 1 < COLS ? ',' : '\n');
  for (int i = 0; i < ROWS; i++) {
    if (libsvm) *at++ = '1';
    for (int j = 0; j < COLS; j++) {
      if (libsvm) at += sprintf(at, " %d:", j + 1);
      at += sprintf(at, format, 1000 * uniform(&seed));
      if (!libsvm && j + 1 < COLS) *at++ = ',';
    }
    *at++ = '\n';
  }
  *length = (size_t)(at - text);
  return text;
}

static double scan_speed(const char *text, size_t length) {
  double best = 0;
  for (int k = 0; k < REPEATS; k++) {
    double start = seconds();
    int64_t lines = 0;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + length - at))) != NULL; at++) lines++;
    double speed = (double)length / (seconds() - start) / 1e6;
    if (lines >= ROWS && speed > best) best = speed;
  }
  return best;
}

static void measure(const char *name, const char *format, int libsvm) {
  tct_read_options options;
  size_t length;
  double best = 0;
  char *text = make_table(format, libsvm, &length);
  tct_read_options_default(&options);
  for (int k = 0; k < REPEATS; k++) {
    tct_error err;
    double start = seconds();
    tct_data *data = tct_data_read_memory(text, (int64_t)length, 1 << 18, &options, &err);
    double speed = (double)length / (seconds() - start) / 1e6;
    if (!data) {
      fprintf(stderr, "%s: %s\n", name, err.text);
      exit(1);
    }
    tct_data_free(data);
    if (speed > best) best = speed;
  }
  printf(
      "{\"bench\": \"read\", \"table\": \"%s\", \"bytes\": %zu, \"numbers\": %d, \"mb_per_cpu_s\": %.0f, "
      "\"newline_scan_mb_per_cpu_s\": %.0f}\n",
      name, length, ROWS * COLS, best, scan_speed(text, length));
  free(text);
}

int main(void) {
  measure("csv, integers of 1 to 3 digits", "%.0f", 0);
  measure("csv, 6 digits", "%.6g", 0);
  measure("csv, 17 digits", "%.17g", 0);
  measure("libsvm, 6 digits", "%.6g", 1);
  return 0;
}
