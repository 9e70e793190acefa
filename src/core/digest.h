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

/* ---- with a secret key ---- */

enum { TCT_KEY = 32, TCT_KEY_HEX = 65 };
/* As tct_digest_start; without the key nobody can tell what was hashed. */
void tct_digest_start_keyed(tct_digest *digest, const unsigned char key[TCT_KEY]);
void tct_digest_end_bytes(tct_digest *digest, unsigned char hash[TCT_KEY]);
/* hex[2*length + 1] <- the bytes; and back: 1, or 0 where the text is not exactly 2*length digits. */
void tct_hex_print(const unsigned char *bytes, size_t length, char *hex);
int tct_hex_parse(const char *hex, unsigned char *bytes, size_t length);
/* Overwrites what is secret. */
void tct_wipe(void *memory, size_t length);

/* Plain SHA-256 of the bytes, as sha256sum prints it: for people to compare. */
void tct_digest_sha256(const void *bytes, size_t length, char hex[TCT_DIGEST_HEX]);
#endif
