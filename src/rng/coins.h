/* coins.h - exact coins and lazily extended uniform numbers, shared by the samplers of this folder. */
#ifndef TCT_RNG_COINS_H
#define TCT_RNG_COINS_H
#include "rng/rng.h"

typedef unsigned __int128 tct_u128;

/* mantissa * 2^exponent, exactly. */
typedef struct tct_dyadic {
  uint64_t mantissa;
  int exponent;
} tct_dyadic;
/* The exact value of a finite double >= 0. */
tct_dyadic tct_dyadic_of(double x);

/* Bernoulli(m 2^e), for a value in [0, 1]. */
bool tct_coin_dyadic(tct_stream *s, tct_dyadic p);
/* Bernoulli(exp(-m 2^e)), for a value >= 0. */
bool tct_coin_exp_dyadic(tct_stream *s, tct_dyadic gamma);
/* Bernoulli(exp(-1/2)), Bernoulli(exp(-1)), Bernoulli(2/e). */
bool tct_coin_exp_half(tct_stream *s);
bool tct_coin_exp_one(tct_stream *s);
bool tct_coin_two_over_e(tct_stream *s);
/* Bernoulli(exp(-num/den)), 0 <= num <= den. */
bool tct_coin_exp_ratio(tct_stream *s, uint64_t num, uint64_t den);

/* The u of an exponential choice: epsilon/(2 change), or epsilon/change if monotone, rounded down to 63 bits. */
tct_dyadic tct_choice_rate(double epsilon, double change, bool monotone);
/* Bernoulli(exp(-(d*u - level))), d >= 0 a double and level <= d*u: the product is never rounded. */
bool tct_coin_exp_times(tct_stream *s, double d, tct_dyadic u, uint64_t level);

/* Uniform on {0, ..., bound-1} for a small bound, in 32 random bits. */
static inline uint32_t tct_below_small(tct_stream *s, uint32_t bound) {
  uint64_t product = (uint64_t)tct_stream_u32(s) * bound;
  if (__builtin_expect((uint32_t)product < bound, 0)) {
    uint32_t reject = (0u - bound) % bound;
    while ((uint32_t)product < reject) product = (uint64_t)tct_stream_u32(s) * bound;
  }
  return (uint32_t)(product >> 32);
}

/* Word i of side stream `branch` >= 1 under a stream's key; branch 0 is the stream itself. */
uint64_t tct_branch_word(const unsigned char key[32], uint64_t branch, uint64_t i);
/* The stream's own key for (key, purpose, index); kind keeps counter-based uses apart from streams. */
void tct_stream_key(unsigned char out[32], const tct_rng_key *key, uint32_t kind, tct_purpose purpose, uint64_t index);

/* A uniform number of [0,1) with as many bits as anybody asks for.  It has 64 at once, the others from a side stream of
 * its own, whose name is fixed when they are first needed. */
typedef struct tct_lazy {
  uint64_t top;
  uint64_t branch; /* 0 = no further bit was ever looked at */
} tct_lazy;
static inline tct_lazy tct_lazy_draw(tct_stream *s) { return (tct_lazy){tct_stream_u64(s), 0}; }
/* Word i of the expansion; word 0 is `top`. */
uint64_t tct_lazy_word(tct_stream *s, tct_lazy *x, uint64_t i);
bool tct_lazy_less_slow(tct_stream *s, tct_lazy *a, tct_lazy *b);
static inline bool tct_lazy_less(tct_stream *s, tct_lazy *a, tct_lazy *b) {
  if (__builtin_expect(a->top != b->top, 1)) return a->top < b->top;
  return tct_lazy_less_slow(s, a, b);
}

/* The integer nearest to ratio * (k + x), for 1 <= ratio < 2^40 with a 53-bit mantissa, k <= 1000. */
uint64_t tct_round_scaled(tct_stream *s, tct_dyadic ratio, uint32_t k, tct_lazy *x);
#endif
