/* digest.c - BLAKE2b-256 over fields, each with its kind and length. */
#include "core/digest.h"

#include <sodium.h>
#include <string.h>

enum { BYTES = 32 };

_Static_assert(sizeof(crypto_generichash_blake2b_state) <= sizeof(tct_digest), "tct_digest is too small");

static crypto_generichash_blake2b_state *state_of(tct_digest *digest) { return (void *)digest->state; }

void tct_digest_start(tct_digest *digest) { crypto_generichash_blake2b_init(state_of(digest), NULL, 0, BYTES); }

void tct_digest_field(tct_digest *digest, char kind, const void *bytes, size_t length) {
  unsigned char head[9] = {(unsigned char)kind};
  for (int i = 0; i < 8; i++) head[8 - i] = (unsigned char)((uint64_t)length >> (8 * i));
  crypto_generichash_blake2b_update(state_of(digest), head, sizeof head);
  if (length) crypto_generichash_blake2b_update(state_of(digest), bytes, length);
}

void tct_digest_text(tct_digest *digest, const char *text) { tct_digest_field(digest, 'T', text, strlen(text)); }

void tct_digest_word(tct_digest *digest, char kind, uint64_t word) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[7 - i] = (unsigned char)(word >> (8 * i));
  tct_digest_field(digest, kind, bytes, sizeof bytes);
}

void tct_digest_end(tct_digest *digest, char hex[TCT_DIGEST_HEX]) {
  unsigned char hash[BYTES];
  crypto_generichash_blake2b_final(state_of(digest), hash, BYTES);
  sodium_bin2hex(hex, TCT_DIGEST_HEX, hash, BYTES);
}

void tct_digest_start_keyed(tct_digest *digest, const unsigned char key[TCT_KEY]) {
  crypto_generichash_blake2b_init(state_of(digest), key, TCT_KEY, BYTES);
}

void tct_digest_end_bytes(tct_digest *digest, unsigned char hash[TCT_KEY]) {
  crypto_generichash_blake2b_final(state_of(digest), hash, BYTES);
}

void tct_hex_print(const unsigned char *bytes, size_t length, char *hex) {
  sodium_bin2hex(hex, 2 * length + 1, bytes, length);
}

int tct_hex_parse(const char *hex, unsigned char *bytes, size_t length) {
  size_t got = 0;
  return strlen(hex) == 2 * length && sodium_hex2bin(bytes, length, hex, 2 * length, NULL, &got, NULL) == 0 &&
         got == length;
}

void tct_wipe(void *memory, size_t length) { sodium_memzero(memory, length); }

void tct_digest_sha256(const void *bytes, size_t length, char hex[TCT_DIGEST_HEX]) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, bytes, length);
  sodium_bin2hex(hex, TCT_DIGEST_HEX, hash, sizeof hash);
}
