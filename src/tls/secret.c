/* secret.c - a secret of 32 random bytes or more: who guesses can try, so a shorter one is refused. */
#include "tls/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LEAST = 32 }; /* bytes */

tct_status tct_secret_read(const char *path, const char *text, tct_secret *secret, tct_error *err) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (path && !file)
    return tct_fail(err, TCT_E_RUN, "cannot read the secret %.300s (%s); check the name", path, strerror(errno));
  if (file) {
    secret->length = fread(secret->bytes, 1, sizeof secret->bytes, file);
    fclose(file);
  } else {
    secret->length = strnlen(text, sizeof secret->bytes);
    memcpy(secret->bytes, text, secret->length);
  }
  if (secret->length >= LEAST) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "the secret is shorter than 32 bytes; make one with head -c 32 /dev/urandom");
}

/* The prefix keeps purposes, runs and secrets apart; BLAKE2b with a secret first field is a MAC. */
void tct_secret_start(const tct_secret *secret, const char *run, const char *what, tct_digest *digest) {
  tct_digest_start(digest);
  tct_digest_field(digest, 'K', secret->bytes, secret->length);
  tct_digest_text(digest, run);
  tct_digest_text(digest, what);
}
