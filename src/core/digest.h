/* digest.h - BLAKE2b-256 over fields, each with its kind and length, so that no two lists of fields collide. */
#ifndef TCT_CORE_DIGEST_H
#define TCT_CORE_DIGEST_H
#include "core/status.h"

enum { TCT_DIGEST_HEX = 65 }; /* 64 hexadecimal digits and the end */

typedef struct tct_digest {
  _Alignas(64) unsigned char state[384];
} tct_digest;

void tct_digest_start(tct_digest *digest);
/* kind: any letter that tells types apart. */
void tct_digest_field(tct_digest *digest, char kind, const void *bytes, size_t length);
void tct_digest_text(tct_digest *digest, const char *text); /* a field of kind 'T' */
/* Eight bytes, most significant first, as a field of `kind`. */
void tct_digest_word(tct_digest *digest, char kind, uint64_t word);
void tct_digest_end(tct_digest *digest, char hex[TCT_DIGEST_HEX]);
/* Plain SHA-256 of the bytes, as sha256sum prints it: for people to compare. */
void tct_digest_sha256(const void *bytes, size_t length, char hex[TCT_DIGEST_HEX]);
#endif
