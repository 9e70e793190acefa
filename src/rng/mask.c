/* mask.c - masks modulo 2^64: ChaCha20 streams under keys by BLAKE2b.
 *
 * DISTRIBUTION  Uniform words, to whoever does not have the seed.
 *
 * PROOF  A mask's key is BLAKE2b-256, keyed with the seed, of (label, purpose, from, to, session): a pseudo-random
 * function of its name.  So masks of different purposes, pairs and sessions have independent keys.  Its words are the
 * ChaCha20 keystream under that key and nonce 0, each block counter once.  A seed itself is HChaCha20 of the run's root
 * key under a purpose that no noise stream has: who is told the seed learns nothing of the noise.
 *
 * For x fixed and a uniform, x - a mod 2^64 is uniform: a masked word says nothing.  Of two words under one mask the
 * difference is x - x'.  That is why a name is opened once per seed and why a mask cannot be turned back.
 *
 * ROUNDING  None: integers.  Words are little-endian on every machine. */
#include "rng/mask.h"

#include "core/point.h"

#include <sodium.h>

static const unsigned char LABEL_MASK[16] = "tacit mask 1", LABEL_PAIR[16] = "tacit pair 1";
enum { KIND_SEED = 1, KIND_PAIR = 2, PURPOSE_MASK = 64 }; /* no tct_purpose is 64 */

static void store(unsigned char *to, uint64_t value) {
  value = htole64(value);
  memcpy(to, &value, 8);
}

static void derive(unsigned char out[32], const tct_rng_key *key, uint32_t kind, uint64_t index) {
  unsigned char name[crypto_core_hchacha20_INPUTBYTES];
  store(name, (uint64_t)PURPOSE_MASK << 32 | kind);
  store(name + 8, index);
  crypto_core_hchacha20(out, name, key->bytes, NULL);
}

void tct_mask_seed_take(tct_mask_seed *seed, const unsigned char bytes[32],
                        const unsigned char session[TCT_SESSION_ID]) {
  memset(seed, 0, sizeof *seed);
  memcpy(seed->bytes, bytes, sizeof seed->bytes);
  memcpy(seed->session, session, sizeof seed->session);
}

void tct_mask_seed_new(tct_mask_seed *seed, const tct_rng_key *key, uint64_t index,
                       const unsigned char session[TCT_SESSION_ID]) {
  unsigned char bytes[32];
  derive(bytes, key, KIND_SEED, index);
  tct_mask_seed_take(seed, bytes, session);
  sodium_memzero(bytes, sizeof bytes);
}

void tct_mask_seed_pair(tct_mask_seed *seed, const unsigned char shared[32],
                        const unsigned char session[TCT_SESSION_ID]) {
  tct_mask_seed_take(seed, shared, session);
}

tct_status tct_mask_open(tct_mask *mask, tct_mask_seed *seed, tct_mask_purpose purpose, int from, int to, int64_t words,
                         tct_error *err) {
  unsigned char name[16 + 3 * 8 + TCT_SESSION_ID];
  if (from < 0 || from >= TCT_MASK_PEERS || to < 0 || to >= TCT_MASK_PEERS || words < 0)
    return tct_fail(err, TCT_E_RUN, "a mask was asked for between parties that there are not; report this fault");
  if (TCT_POINT(mask_used_twice, seed->opened[purpose][from] >> to & 1, 0))
    return tct_fail(err, TCT_E_RUN, "a mask would be used twice and hide nothing; nothing was sent, report this fault");
  seed->opened[purpose][from] |= (uint64_t)1 << to;
  memcpy(name, LABEL_MASK, 16);
  store(name + 16, TCT_POINT(one_mask_for_two_purposes, (uint64_t)purpose, 0));
  store(name + 24, (uint64_t)from);
  store(name + 32, (uint64_t)to);
  memcpy(name + 40, TCT_POINT(one_mask_for_two_sessions, seed->session, LABEL_MASK), TCT_SESSION_ID);
  *mask = (tct_mask){.end = (uint64_t)words};
  crypto_generichash(mask->key, sizeof mask->key, name, sizeof name, seed->bytes, sizeof seed->bytes);
  return TCT_OK;
}

static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {0};

/* Words of one 64-byte block, up to its end. */
static int64_t part(tct_mask *mask, uint64_t *out, int64_t count) {
  uint64_t at = mask->word / 8, first = mask->word % 8;
  if (mask->cached != at + 1) {
    memset(mask->block, 0, sizeof mask->block);
    crypto_stream_chacha20_xor_ic(mask->block, mask->block, sizeof mask->block, nonce, at, mask->key);
    mask->cached = at + 1;
  }
  int64_t take = count < (int64_t)(8 - first) ? count : (int64_t)(8 - first);
  memcpy(out, mask->block + 8 * first, (size_t)take * 8);
  return take;
}

tct_status tct_mask_next(tct_mask *mask, uint64_t *out, int64_t count, tct_error *err) {
  if (count < 0 || (uint64_t)count > mask->end - mask->word)
    return tct_fail(err, TCT_E_RUN, "a mask was asked for more words than it has; nothing was sent, report this fault");
  for (int64_t done = 0; done < count;) {
    int64_t left = count - done, take = left;
    if (mask->word % 8 || left < 8) {
      take = part(mask, out + done, left);
    } else {
      take -= take % 8;
      memset(out + done, 0, (size_t)take * 8);
      crypto_stream_chacha20_xor_ic((unsigned char *)(out + done), (unsigned char *)(out + done), (size_t)take * 8,
                                    nonce, mask->word / 8, mask->key);
    }
    done += take;
    mask->word += (uint64_t)take;
  }
  for (int64_t i = 0; i < count; i++) out[i] = le64toh(out[i]);
  return TCT_OK;
}

void tct_mask_wipe(tct_mask *mask) { sodium_memzero(mask, sizeof *mask); }

void tct_pair_keys_new(tct_pair_keys *keys, const tct_rng_key *key, uint64_t index) {
  unsigned char seed[crypto_kx_SEEDBYTES];
  derive(seed, key, KIND_PAIR, index);
  crypto_kx_seed_keypair(keys->open, keys->secret, seed);
  sodium_memzero(seed, sizeof seed);
}

/* crypto_kx gives a key for each direction; both ends hash the two in one order. */
tct_status tct_pair_shared(const tct_pair_keys *own, const unsigned char other[TCT_PAIR_PUBLIC], bool first,
                           unsigned char shared[32], tct_error *err) {
  unsigned char both[16 + 64], *down = both + 16, *up = both + 48;
  int bad = first ? crypto_kx_server_session_keys(up, down, own->open, own->secret, other)
                  : crypto_kx_client_session_keys(down, up, own->open, own->secret, other);
  if (bad) return tct_fail(err, TCT_E_RUN, "a party sent a public key that is none; start again without it");
  memcpy(both, LABEL_PAIR, 16);
  crypto_generichash(shared, 32, both, sizeof both, NULL, 0);
  sodium_memzero(both, sizeof both);
  return TCT_OK;
}
