/* fuzz_npy.c - any bytes behind the magic of a NumPy array file. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char *const labels[4] = {NULL, "1", "2", "x"};
  tct_error err;
  int64_t step;
  if (count < 1) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  options.label = labels[bytes[0] >> 6];
  if (bytes[0] >> 5 & 1) options.positive = "2";
  char *file = malloc(count + 5);
  require(file != NULL);
  memcpy(file, "\x93NUMPY", 6);
  memcpy(file + 6, bytes + 1, count - 1);
  check_result(tct_data_read_memory(file, (int64_t)count + 5, step, &options, &err), &err);
  free(file);
  return 0;
}
