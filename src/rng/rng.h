/* rng.h - keyed random streams and exact samplers.  Only mech/ may include this file. */
#ifndef TCT_RNG_RNG_H
#define TCT_RNG_RNG_H
#include "core/status.h"
#include <stdbool.h>

/* A root key; every stream of a run is derived from it. */
typedef struct tct_rng_key {
  unsigned char bytes[32];
} tct_rng_key;

/* From the operating system; TCT_E_RUN if it has no entropy. */
tct_status tct_rng_key_system(tct_rng_key *key, tct_error *err);
/* From a user's seed: repeatable, hence never for publication. */
void tct_rng_key_seed(tct_rng_key *key, uint64_t seed);

/* Purposes keep streams apart; the numbers are part of what makes seeded runs repeatable. */
typedef enum tct_purpose {
  TCT_PURPOSE_NOISE = 1,  /* additive noise */
  TCT_PURPOSE_BATCH = 2,  /* Poisson batches, secret */
  TCT_PURPOSE_CHOICE = 3, /* exponential choices */
  TCT_PURPOSE_ORDER = 4,  /* orders of coordinates, steps, sketches: public */
} tct_purpose;

/* A ChaCha20 stream: (key, purpose, index) names it; distinct names give independent streams.
 * Not copyable while in use; wipe after use. */
typedef struct tct_stream {
  unsigned char key[32];
  uint64_t index;
  uint64_t block; /* next 64-byte block to generate */
  uint32_t used;  /* bytes used of `buffer` */
  unsigned char buffer[1024];
} tct_stream;
void tct_stream_open(tct_stream *s, const tct_rng_key *key, tct_purpose purpose, uint64_t index);
void tct_stream_wipe(tct_stream *s);
uint64_t tct_stream_u64(tct_stream *s);
uint32_t tct_stream_u32(tct_stream *s);
/* Uniform on {0, ..., bound-1}, exactly; bound >= 1. */
uint64_t tct_stream_below(tct_stream *s, uint64_t bound);

/* Exact Bernoulli(p), p a double in [0,1] taken as the exact number it is. */
bool tct_bernoulli(tct_stream *s, double p);
/* Exact Bernoulli(exp(-gamma)), gamma >= 0 finite, taken as the exact number it is. */
bool tct_bernoulli_exp(tct_stream *s, double gamma);
/* round(N(0, sigma^2)/g) * g, exactly distributed; g a power of two, 2^20 <= sigma/g < 2^40. */
double tct_rounded_gaussian(tct_stream *s, double sigma, double g);
/* g * K with P[K = k] ~ exp(-|k| * g/scale), exactly; scale/g in [1, 2^40). */
double tct_discrete_laplace(tct_stream *s, double scale, double g);
/* A Poisson batch: the indices i in [row0, row0+rows) that were drawn, each independently with
 * probability rate, ascending, written to out (capacity rows) minus row0; returns how many.
 * Row i's coin depends on (key, iteration, i) alone. */
int64_t tct_poisson_batch(const tct_rng_key *key, uint64_t iteration, double rate, int64_t row0, int64_t rows,
                          int64_t *out);
/* Index j of [0, count) with probability ~ exp(epsilon * score[j] / (2 * change)), exactly, by
 * rejection; scores are multiples of a lattice fine enough to be exact doubles (their differences
 * must be exact).  monotone: the 2 is dropped. */
int64_t tct_exponential_choice(tct_stream *s, const double *score, int64_t count, double epsilon, double change,
                               bool monotone);
#endif
