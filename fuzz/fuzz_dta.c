/* fuzz_dta.c - any bytes as a Stata file of any version, with and without a schema, and as a draft of one. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char schema[] =
    "{\"label\":{\"name\":\"y\",\"positive\":\"yes\"},\"missing_values\":[\"NA\",\"-9\"],\"columns\":["
    "{\"name\":\"a\",\"type\":\"number\",\"lower\":0,\"upper\":9,\"missing\":4},"
    "{\"name\":\"b\",\"type\":\"category\",\"values\":[\"u\",\"2\",\"high\"],\"missing\":\"zero\",\"other\":\"u\"},"
    "{\"name\":\"c\",\"type\":\"ignore\"}"
    "]}";

static void check_draft(const tct_format *format, const uint8_t *bytes, size_t count, int64_t step) {
  tct_source source;
  tct_error err = {0};
  tct_source_memory(&source, "memory", bytes, (int64_t)count, step);
  tct_status status = format->as_csv(&source, &err);
  while (status == TCT_OK && !source.ended) {
    status = tct_source_more(&source, &err);
    source.begin = source.end;
  }
  require(status == TCT_OK || (err.text[0] && strchr(err.text, ';') != NULL));
  tct_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tct_error err;
  int64_t step;
  if (count < 2) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  options.label = "y";
  if (bytes[0] >> 5 & 1) options.key = "k";
  if (bytes[0] >> 6 & 1) options.label = "2";
  if (bytes[0] >> 7 & 1) {
    options.schema_text = schema;
    options.label = NULL;
  }
  if (step < 100) step = 61; /* a file's fixed fields are long */
  if (!tct_format_dta.looks((const char *)bytes + 1, (int64_t)count - 1, (locale_t)0)) return 0;
  check_draft(&tct_format_dta, bytes + 1, count - 1, step);
  check_result(tct_data_read_memory(bytes + 1, (int64_t)count - 1, step, &options, &err), &err);
  return 0;
}
