/* fuzz_model.c - any text as a model file: what is read is written as what reads the same, and verify answers it. */
#include "fuzz_check.h"
#include "model/model.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static char path[64];

static void verify(const char *text) {
  tct_error err = {0};
  tct_verdict verdict = {.size = sizeof verdict};
  if (!path[0]) snprintf(path, sizeof path, "/tmp/tacit-fuzz-model-%d.json", (int)getpid());
  FILE *out = fopen(path, "wb");
  require(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
  tct_status status = tct_verify(path, NULL, &verdict, &err);
  require((status == TCT_OK) == (err.status == TCT_OK));
  if (status == TCT_OK) require((verdict.kind == TCT_VERDICT_REFUSED) == (verdict.why[0] != 0));
  unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tct_error err = {0};
  char *text = malloc(count + 1);
  require(text != NULL);
  memcpy(text, bytes, count);
  text[count] = 0;
  tct_model *model = tct_model_parse(text, &err);
  require((model != NULL) == (err.status == TCT_OK) && (model || err.text[0] != 0));
  if (model) verify(text);
  tct_model_free(model);
  free(text);
  return 0;
}
