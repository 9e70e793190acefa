/* fuzz_csv.c - any bytes as a CSV file, with and without a schema. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"positive\":\"1\"},\"missing_values\":[\"?\"],\"columns\":["
    "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,\"missing\":4},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"v\",\"w\",\"k\"],\"missing\":\"zero\",\"other\":\"u\"}]"
    "}";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tct_error err;
  int64_t step;
  if (count < 1) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  options.label = bytes[0] >> 5 & 1 ? "y" : "1";
  options.multiline = count & 1;
  if (bytes[0] >> 6 & 1) options.positive = "u";
  if (bytes[0] >> 7 & 1) {
    options.schema_text = schema;
    options.label = NULL;
  }
  check_result(tct_data_read_memory(bytes + 1, (int64_t)count - 1, step, &options, &err), &err);
  return 0;
}
