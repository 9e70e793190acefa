/* fuzz_schema.c - any text as a schema, over one small table. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const char table[] = "a,b,y\n1,u,0\n,?,1\n-3e300,v,1\n";
  tct_error err;
  int64_t step;
  if (count < 1) return 0;
  tct_read_options options = fuzz_options(bytes[0], &step);
  char *text = malloc(count);
  require(text != NULL);
  memcpy(text, bytes + 1, count - 1);
  text[count - 1] = 0;
  options.schema_text = text;
  check_result(tct_data_read_memory(table, (int64_t)sizeof table - 1, step, &options, &err), &err);
  free(text);
  return 0;
}
