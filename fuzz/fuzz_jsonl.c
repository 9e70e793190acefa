/* fuzz_jsonl.c - any bytes as JSON Lines, with and without a schema. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"positive\":\"1\"},\"missing_values\":[\"?\",\"-9\"],\"columns\":["
    "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,\"missing\":4},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"2\",\"true\",\"k\"],\"missing\":\"zero\",\"other\":"
    "\"u\"}"
    "]}";

static tct_data *read_jsonl(const uint8_t *bytes, size_t count, int64_t step, const tct_read_options *options,
                            tct_error *err) {
  char *text = malloc(count + 2);
  require(text != NULL);
  text[0] = '{', text[1] = '"'; /* most inputs are an object at first */
  memcpy(text + 2, bytes, count);
  tct_data *data = tct_data_read_memory(text, (int64_t)count + 2, step, options, err);
  free(text);
  return data;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tct_error err;
  int64_t step;
  if (count < 1) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  options.label = "y", options.format = "jsonl";
  if (bytes[0] >> 5 & 1) options.key = "k";
  if (bytes[0] >> 7 & 1) {
    options.schema_text = schema;
    options.label = NULL;
  }
  check_result(read_jsonl(bytes + 1, count - 1, step, &options, &err), &err);
  return 0;
}
