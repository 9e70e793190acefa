/* fuzz_model.c - any text as a model file: what is read is written as what reads the same, and verify answers it. */
#include "fuzz_check.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void verify(const char *text) {
  tct_error err = {0};
  tct_verdict verdict = TCT_VERDICT_REFUSED;
  char *answer = tct_verify_json(NULL, text, NULL, NULL, NULL, &verdict, &err);
  require(answer != NULL);
  require((verdict == TCT_VERDICT_REFUSED) == (err.text[0] != 0));
  require((verdict == TCT_VERDICT_REFUSED) == (err.status == TCT_E_DATA));
  tct_text_free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  tct_error err = {0};
  char *text = malloc(count + 1);
  require(text != NULL);
  memcpy(text, bytes, count);
  text[count] = 0;
  tct_model *model = tct_model_read(NULL, text, NULL, &err);
  require((model != NULL) == (err.status == TCT_OK) && (model || err.text[0] != 0));
  if (model) verify(text);
  tct_model_free(model);
  free(text);
  return 0;
}
