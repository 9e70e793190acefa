/* fuzz_ledger.c - any bytes as a ledger file: read or refused, and never changed by reading. */
#include "fuzz_check.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static char path[64];
  tct_error err = {0}, why = {0};
  if (!path[0]) snprintf(path, sizeof path, "/tmp/tacit-fuzz-ledger-%d", (int)getpid());
  FILE *out = fopen(path, "wb");
  require(out != NULL && fwrite(bytes, 1, count, out) == count && fclose(out) == 0);
  char *text = tct_ledger_json(path, &err);
  require((text != NULL) == (err.status == TCT_OK) && (text || err.text[0] != 0));
  char *checked = tct_ledger_check_json(path, NULL, 0, &why);
  /* A check that failed gives the text and the status. */
  require(why.status == TCT_OK ? checked != NULL : why.text[0] != 0);
  tct_text_free(text);
  tct_text_free(checked);
  unlink(path);
  return 0;
}
