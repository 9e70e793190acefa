/* secret.h - what one side has and the other must have, too: a file or a text of random bytes, and hashes under it. */
#ifndef TCT_TLS_SECRET_H
#define TCT_TLS_SECRET_H
#include "core/digest.h"

typedef struct tct_secret {
  unsigned char bytes[4096]; /* of a longer one these are the first */
  size_t length;
} tct_secret;
/* From the file, or where path is NULL from the text.  The caller wipes it. */
tct_status tct_secret_read(const char *path, const char *text, tct_secret *secret, tct_error *err);
/* A hash under the secret, of `what` in a run; the caller adds fields and ends it. */
void tct_secret_start(const tct_secret *secret, const char *run, const char *what, tct_digest *digest);
#endif
