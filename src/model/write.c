/* write.c - a text as a file that is replaced whole or stays as it was. */
#include "model/write.h"

#include "core/outfile.h"

#include <string.h>

tct_status tct_write_check(const char *path, tct_error *err) {
  tct_outfile out;
  TCT_TRY(tct_outfile_open(&out, path, err)); /* tried, not guessed */
  tct_outfile_abandon(&out);
  return TCT_OK;
}

tct_status tct_write_reserved(tct_outfile *out, const char *text, tct_error *err) {
  fwrite(text, 1, strlen(text), out->file); /* a failure shows at the commit */
  return tct_outfile_commit(out, err);
}

tct_status tct_write_whole(const char *path, const char *text, tct_error *err) {
  tct_outfile out;
  TCT_TRY(tct_outfile_open(&out, path, err));
  return tct_write_reserved(&out, text, err);
}
