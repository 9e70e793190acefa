/* sealed.c - X25519 with a shared secret, then ChaCha20-Poly1305 (RFC 8439) with a counter for each direction. */
#include "rng/sealed.h"

#include "core/point.h"
#include "rng/rng.h"

#include <sodium.h>
#include <string.h>

_Static_assert(TCT_SEALED_KEY == crypto_scalarmult_BYTES, "X25519");
_Static_assert(TCT_SEALED_KEY == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "ChaCha20");
_Static_assert(TCT_SEALED_EXTRA == crypto_aead_chacha20poly1305_ietf_ABYTES, "Poly1305");

tct_status tct_exchange_start(tct_exchange *exchange, tct_error *err) {
  tct_rng_key key;
  TCT_TRY(tct_rng_key_system(&key, err));
  memcpy(exchange->own, key.bytes, sizeof exchange->own);
  tct_rng_key_wipe(&key);
  crypto_scalarmult_base(exchange->shown, exchange->own);
  return TCT_OK;
}

/* The fields have fixed lengths but the last, so no two lists of them are the same bytes. */
static void derive(const unsigned char *agreed, const unsigned char *first, const unsigned char *second,
                   const tct_sealed_terms *terms, unsigned char keys[2 * TCT_SEALED_KEY]) {
  static const char purpose[16] = "tacit ranks 1";
  unsigned char secret[crypto_generichash_BYTES];
  crypto_generichash_state state;
  crypto_generichash(secret, sizeof secret, terms->secret, TCT_POINT(any_secret_will_do, terms->secret_length, 1), NULL,
                     0);
  crypto_generichash_init(&state, secret, sizeof secret, 2 * TCT_SEALED_KEY);
  crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose);
  crypto_generichash_update(&state, agreed, TCT_SEALED_KEY);
  crypto_generichash_update(&state, first, TCT_SEALED_KEY);
  crypto_generichash_update(&state, second, TCT_SEALED_KEY);
  crypto_generichash_update(&state, terms->about, terms->about_length);
  crypto_generichash_final(&state, keys, 2 * TCT_SEALED_KEY);
  sodium_memzero(secret, sizeof secret);
  sodium_memzero(&state, sizeof state);
}

bool tct_exchange_end(tct_exchange *exchange, bool first, const unsigned char shown[TCT_SEALED_KEY],
                      const tct_sealed_terms *terms, tct_sealer *out, tct_sealer *in) {
  unsigned char agreed[TCT_SEALED_KEY], keys[2 * TCT_SEALED_KEY];
  bool good = crypto_scalarmult(agreed, exchange->own, shown) == 0; /* not 0: a key of small order */
  if (good) {
    derive(agreed, first ? exchange->shown : shown, first ? shown : exchange->shown, terms, keys);
    memcpy(out->key, first ? keys : keys + TCT_SEALED_KEY, TCT_SEALED_KEY);
    memcpy(in->key, first ? keys + TCT_SEALED_KEY : keys, TCT_SEALED_KEY);
    out->next = in->next = 0;
  }
  sodium_memzero(agreed, sizeof agreed);
  sodium_memzero(keys, sizeof keys);
  sodium_memzero(exchange, sizeof *exchange);
  return good;
}

/* Each key serves one direction of one connection, so a counter never repeats under it. */
static void number(tct_sealer *s, unsigned char nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES]) {
  memset(nonce, 0, crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
  memcpy(nonce, &s->next, sizeof s->next);
  s->next++;
}

void tct_seal(tct_sealer *out, uint64_t kind, const void *bytes, size_t length, unsigned char *sealed) {
  unsigned char nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
  number(out, nonce);
  crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, bytes, length, (const unsigned char *)&kind, sizeof kind,
                                            NULL, nonce, out->key);
}

bool tct_unseal(tct_sealer *in, uint64_t kind, const unsigned char *sealed, size_t length, void *bytes) {
  unsigned char nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
  number(in, nonce);
  return crypto_aead_chacha20poly1305_ietf_decrypt(bytes, NULL, NULL, sealed, length + TCT_SEALED_EXTRA,
                                                   (const unsigned char *)&kind, sizeof kind, nonce, in->key) == 0;
}
