/* stream.c - keys, and ChaCha20 streams named by (key, purpose, index).
 *
 * DISTRIBUTION  Uniform words, and tct_stream_below uniform on {0, ..., bound-1}.
 *
 * PROOF  A stream's own key is HChaCha20 under the root key of the 16 bytes (kind, purpose, index), little-endian in 4,
 * 4 and 8 bytes.  It is a pseudo-random function if ChaCha20 is one (Bernstein 2011, the proof for XSalsa20).  So
 * distinct names have independent keys.  The stream's words are the ChaCha20 keystream (64-bit block counter) under
 * that key and nonce 0; side streams use the nonces 1, 2, ..., each nonce once.  The root key serves HChaCha20 alone.
 * A seed becomes a root key by BLAKE2b-256.  Everything in this folder is exact *given* that the keystream is uniform;
 * that is the usual assumption on ChaCha20, and the only one.
 *
 * below: Lemire 2019, algorithm 5.  With w uniform on 64 bits, w*bound = 2^64 q + r.  Each q has
 * either floor or ceil of 2^64/bound words; dropping those with r < 2^64 mod bound leaves floor for
 * every q, hence exact uniformity.
 *
 * Entropy comes from getentropy(), which fails cleanly; libsodium's own source aborts the process
 * when the system has none, so libsodium is asked to initialise only after getentropy has answered.
 * Without initialisation libsodium computes the same bytes with its portable code.
 *
 * ROUNDING  None: integers only.  Words are little-endian on every machine. */
#include "rng/coins.h"

#include "core/point.h"

#include <sodium.h>
#include <unistd.h>

static const unsigned char LABEL_SEED[16] = "tacit seed 1";

#ifdef TCT_FAULTS
static _Atomic int64_t requests_left = 0;
void tct_rng_fail_at_test(int64_t n) { requests_left = n; }
static bool entropy_fails(void) { return requests_left > 0 && --requests_left == 0; }
#else
void tct_rng_fail_at_test(int64_t n) { (void)n; }
static bool entropy_fails(void) { return false; }
#endif

static void store_u64(unsigned char *to, uint64_t value) {
  value = htole64(value);
  memcpy(to, &value, 8);
}

tct_status tct_rng_key_system(tct_rng_key *key, tct_error *err) {
  if (entropy_fails() || getentropy(key->bytes, sizeof key->bytes) != 0 || sodium_init() < 0) {
    tct_rng_key_wipe(key);
    return tct_fail(err, TCT_E_RUN,
                    "the system gave no random bytes, and noise must not be drawn without them; "
                    "try again where getrandom works");
  }
  return TCT_OK;
}

void tct_rng_key_seed(tct_rng_key *key, uint64_t seed) {
  unsigned char message[24], probe[1];
  /* initialisation chooses the vectorised ChaCha20; see PROOF for why it is optional */
  if (getentropy(probe, sizeof probe) == 0 && sodium_init() < 0) sodium_memzero(probe, sizeof probe);
  memcpy(message, LABEL_SEED, 16);
  store_u64(message + 16, seed);
  crypto_generichash(key->bytes, sizeof key->bytes, message, sizeof message, NULL, 0);
  sodium_memzero(message, sizeof message);
}

void tct_rng_key_wipe(tct_rng_key *key) { sodium_memzero(key, sizeof *key); }

void tct_stream_key(unsigned char out[32], const tct_rng_key *key, uint32_t kind, tct_purpose purpose, uint64_t index) {
  unsigned char name[crypto_core_hchacha20_INPUTBYTES];
  store_u64(name, TCT_POINT(streams_without_their_purpose, (uint64_t)purpose << 32, 0) | kind);
  store_u64(name + 8, TCT_POINT(streams_without_their_index, index, 0));
  crypto_core_hchacha20(out, name, key->bytes, NULL);
}

void tct_stream_open(tct_stream *s, const tct_rng_key *key, tct_purpose purpose, uint64_t index) {
  tct_stream_key(s->key, key, 0, purpose, index);
  s->index = index;
  s->block = 0;
  s->branches = 0;
  s->used = sizeof s->buffer;
}

void tct_stream_wipe(tct_stream *s) {
  sodium_memzero(s, sizeof *s);
  s->used = sizeof s->buffer;
}

/* The first time a quarter of the buffer only: many streams give a few words and are closed. */
void tct_stream_refill(tct_stream *s) {
  static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {0};
  size_t bytes = s->block == 0 ? sizeof s->buffer / 4 : sizeof s->buffer;
  s->used = (uint32_t)(sizeof s->buffer - bytes);
  memset(s->buffer + s->used, 0, bytes);
  crypto_stream_chacha20_xor_ic(s->buffer + s->used, s->buffer + s->used, bytes, nonce, s->block, s->key);
  s->block += bytes / TCT_POINT(buffer_given_twice, 64, 128);
}

uint64_t tct_stream_below(tct_stream *s, uint64_t bound) {
  tct_u128 product = (tct_u128)tct_stream_u64(s) * bound;
  if (__builtin_expect((uint64_t)product < bound, 0)) {
    uint64_t reject = TCT_POINT(numbers_below_a_bound_biased, (0 - bound) % bound, 0);
    while ((uint64_t)product < reject) product = (tct_u128)tct_stream_u64(s) * bound;
  }
  return (uint64_t)(product >> 64);
}

uint64_t tct_branch_word(const unsigned char key[32], uint64_t branch, uint64_t i) {
  unsigned char nonce[crypto_stream_chacha20_NONCEBYTES], block[64] = {0};
  uint64_t word;
  store_u64(nonce, branch);
  crypto_stream_chacha20_xor_ic(block, block, sizeof block, nonce, i / 8, key);
  memcpy(&word, block + 8 * (i % 8), 8);
  sodium_memzero(block, sizeof block);
  return le64toh(word);
}

uint64_t tct_lazy_word(tct_stream *s, tct_lazy *x, uint64_t i) {
  if (i == 0) return x->top;
  if (x->branch == 0) x->branch = ++s->branches;
  return tct_branch_word(s->key, x->branch, i - 1);
}

bool tct_lazy_less_slow(tct_stream *s, tct_lazy *a, tct_lazy *b) {
  for (uint64_t i = 1;; ++i) {
    uint64_t wa = tct_lazy_word(s, a, i), wb = tct_lazy_word(s, b, i);
    if (wa != wb) return wa < wb;
  }
}
