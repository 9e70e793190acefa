/* fuzz_libsvm.c - any bytes as LIBSVM text. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tct_error err;
  int64_t step;
  if (count < 1) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  if (options.invalid == TCT_INVALID_ZERO) options.format = "libsvm";
  if (bytes[0] >> 6 & 1) options.positive = "2";
  if (bytes[0] >> 7 & 1) options.cols = 9;
  check_result(tct_data_read_memory(bytes + 1, (int64_t)count - 1, step, &options, &err), &err);
  return 0;
}
