/* mask.h - one-use masks modulo 2^64, each under a key of its own purpose.
 *
 * A mask hides an integer x as x - a mod 2^64, a uniform.  It hides nothing the second time.  So a seed remembers which
 * masks were opened from it, and opens none twice. A mask only runs forward, and no party's seed can be set again: a
 * new session, a restart or a retry draws a new one. */
#ifndef TCT_RNG_MASK_H
#define TCT_RNG_MASK_H
#include "rng/rng.h"

enum { TCT_MASK_PEERS = 64, TCT_SESSION_ID = 32 };

typedef enum tct_mask_purpose {
  TCT_MASK_COLUMNS = 1,    /* hides a party's records */
  TCT_MASK_CORRECTION = 2, /* the first party's share of a product of masks */
  TCT_MASK_ZERO = 3,       /* shares of zero */
} tct_mask_purpose;
enum { TCT_MASK_PURPOSES = 3 };

/* The root of a party's masks, or of two parties' shares of zero, in one session. */
typedef struct tct_mask_seed {
  unsigned char bytes[32];
  unsigned char session[TCT_SESSION_ID]; /* which session it is for: enters every key */
  uint64_t opened[TCT_MASK_PURPOSES + 1][TCT_MASK_PEERS];
} tct_mask_seed;

/* A fresh seed: a pseudo-random function of a run's root key, which has entropy of its own, and of the index. */
void tct_mask_seed_new(tct_mask_seed *seed, const tct_rng_key *key, uint64_t index,
                       const unsigned char session[TCT_SESSION_ID]);
/* The dealer's copy of a party's seed, from the bytes that it was sent. */
void tct_mask_seed_take(tct_mask_seed *seed, const unsigned char bytes[32],
                        const unsigned char session[TCT_SESSION_ID]);
/* The seed of two parties from what crypto_kx gave them both, smaller number first. */
void tct_mask_seed_pair(tct_mask_seed *seed, const unsigned char shared[32],
                        const unsigned char session[TCT_SESSION_ID]);

typedef struct tct_mask {
  unsigned char key[32];
  uint64_t word;   /* the next one */
  uint64_t end;    /* words that it has */
  uint64_t cached; /* 1 + the 64-byte block in `block`; 0: none */
  unsigned char block[64];
} tct_mask;
/* The mask of `words` words that (seed, purpose, from, to) names, from and to in [0, TCT_MASK_PEERS).  TCT_E_RUN if it
 * was opened before. */
tct_status tct_mask_open(tct_mask *mask, tct_mask_seed *seed, tct_mask_purpose purpose, int from, int to, int64_t words,
                         tct_error *err);
/* out[count] <- the next words of the mask; TCT_E_RUN beyond its end. */
tct_status tct_mask_next(tct_mask *mask, uint64_t *out, int64_t count, tct_error *err);
void tct_mask_wipe(tct_mask *mask);

/* ---- a key between two parties, by crypto_kx ---- */
enum { TCT_PAIR_PUBLIC = 32 };
typedef struct tct_pair_keys {
  unsigned char open[TCT_PAIR_PUBLIC]; /* sent to the others */
  unsigned char secret[32];
} tct_pair_keys;
void tct_pair_keys_new(tct_pair_keys *keys, const tct_rng_key *key, uint64_t index);
/* shared[32] <- the same bytes at both ends.  first: this end has the smaller number.  TCT_E_RUN for a public key that
 * is none. */
tct_status tct_pair_shared(const tct_pair_keys *own, const unsigned char other[TCT_PAIR_PUBLIC], bool first,
                           unsigned char shared[32], tct_error *err);
#endif
