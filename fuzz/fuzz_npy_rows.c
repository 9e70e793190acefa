/* fuzz_npy_rows.c - an array of several blocks, of any type and with any elements somewhere, read by several threads.
 *
 * The reader of a file in memory takes element after element.  The same table, or the same first error, comes out where
 * one to four threads put the rows of a file in place, in memory or on disk (formats/npy_rows.c). */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* BLOCK: that of npy_rows.c under TCT_LOW_LIMITS (CMakeLists.txt). */
enum { HEADER = 128, SETTINGS = 8, BLOCKS = 5, BLOCK = 1 << 12, ROOM = HEADER + BLOCKS * BLOCK / 2 + 16 * 256 + 8 };

typedef struct type {
  const char *descr;
  int width;
} type;

static const type types[] = {{"<f8", 8}, {"<f4", 4}, {">f8", 8}, {">f4", 4},
                             {"<i8", 8}, {"<u4", 4}, {"|i1", 1}, {"|b1", 1}};

/* The header of an array that is as long as it says. */
static void write_header(unsigned char *file, const char *descr, int64_t rows, int64_t cols) {
  memset(file, ' ', HEADER);
  memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
  int length = sprintf((char *)file + 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld, %lld), }", descr,
                       (long long)rows, (long long)cols);
  file[10 + length] = ' ';
  file[HEADER - 1] = '\n';
}

/* Zeros, with a label of the other class at the end, and the input's bytes at a place that it names. */
static int64_t write_array(unsigned char *file, const uint8_t *bytes, size_t count) {
  const type *t = &types[bytes[1] % (sizeof types / sizeof *types)];
  int64_t cols = 1 + bytes[2], size = cols * t->width, rows = (BLOCKS * BLOCK / 2 >> (bytes[3] & 7)) / size + 2;
  int64_t length = rows * size, at = (bytes[4] | bytes[5] << 8 | bytes[6] << 16) % length;
  write_header(file, t->descr, rows, cols);
  memset(file + HEADER, 0, (size_t)length);
  if (t->descr[1] != 'f') file[HEADER + length - size] = 1;
  int64_t some = (int64_t)count - SETTINGS < length - at ? (int64_t)count - SETTINGS : length - at;
  memcpy(file + HEADER + at, bytes + SETTINGS, (size_t)some);
  return HEADER + length + (bytes[3] >> 3 & 1) - (bytes[3] >> 4 & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char *const labels[4] = {NULL, "1", "2", "256"};
  static unsigned char file[ROOM];
  int64_t step;
  tct_error first, second;
  if (count < SETTINGS) return 0;
  int64_t length = write_array(file, bytes, count);
  tct_read_options options = fuzz_options(bytes[0], &step);
  options.label = labels[bytes[0] >> 6];
  if (bytes[0] >> 5 & 1) options.positive = "2";
  tct_data *one = tct_data_read_memory(file, length, step, &options, &first);
  options.threads = 1 + bytes[7] % 4;
  tct_data *other = tct_data_read(file_of(file, (size_t)length), &options, &second);
  check_equal(one, &first, other, &second);
  if (bytes[7] >> 2 & 1) from_disk(file_of(file, (size_t)length), options);
  return 0;
}
