/* rng.h - keyed random streams and exact samplers.  Only mech/ may include this file; ledger/key.c for a
 * key. */
#ifndef TCT_RNG_RNG_H
#define TCT_RNG_RNG_H
#include "core/status.h"
#include <endian.h>
#include <string.h>

/* A root key; every stream of a run is derived from it. */
typedef struct tct_rng_key {
  unsigned char bytes[32];
} tct_rng_key;

/* From the operating system; TCT_E_RUN if it has no entropy. */
tct_status tct_rng_key_system(tct_rng_key *key, tct_error *err);
/* From a user's seed: repeatable, hence never for publication. */
void tct_rng_key_seed(tct_rng_key *key, uint64_t seed);
void tct_rng_key_wipe(tct_rng_key *key);
/* Fault injection for tests: the n-th request for entropy from now fails (1 = the next); 0 = none.
 * Does nothing unless built with TCT_FAULTS. */
void tct_rng_fail_at_test(int64_t n);

/* Purposes keep streams apart; the numbers are part of what makes seeded runs repeatable. */
typedef enum tct_purpose {
  TCT_PURPOSE_NOISE = 1,  /* additive noise */
  TCT_PURPOSE_BATCH = 2,  /* Poisson batches, secret */
  TCT_PURPOSE_CHOICE = 3, /* exponential choices */
  TCT_PURPOSE_ORDER = 4,  /* orders of coordinates, steps, sketches: public */
  TCT_PURPOSE_JOINT = 5,  /* additive noise that several parties draw */
} tct_purpose;

/* A ChaCha20 stream: (key, purpose, index) names it; distinct names give independent streams.
 * Not copyable while in use; wipe after use. */
typedef struct tct_stream {
  unsigned char key[32]; /* this stream's own key, derived from the name */
  uint64_t index;
  uint64_t block;    /* next 64-byte block to generate */
  uint64_t branches; /* side streams handed out to lazily extended numbers */
  uint32_t used;     /* bytes used of `buffer` */
  _Alignas(64) unsigned char buffer[1024];
} tct_stream;
void tct_stream_open(tct_stream *s, const tct_rng_key *key, tct_purpose purpose, uint64_t index);
void tct_stream_wipe(tct_stream *s);
void tct_stream_refill(tct_stream *s); /* for the two inline functions below only */
static inline uint64_t tct_stream_u64(tct_stream *s) {
  uint64_t word;
  if (s->used > sizeof s->buffer - 8) tct_stream_refill(s);
  memcpy(&word, s->buffer + s->used, 8);
  s->used += 8;
  return le64toh(word);
}
static inline uint32_t tct_stream_u32(tct_stream *s) {
  uint32_t word;
  if (s->used > sizeof s->buffer - 4) tct_stream_refill(s);
  memcpy(&word, s->buffer + s->used, 4);
  s->used += 4;
  return le32toh(word);
}
/* Uniform on {0, ..., bound-1}, exactly; bound >= 1. */
uint64_t tct_stream_below(tct_stream *s, uint64_t bound);

/* round(N(0, sigma^2)/g) * g, exactly distributed; g a power of two, 1 <= sigma/g < 2^40.
 * Post-processing of the continuous Gaussian for every such g; accuracy asks for sigma/g >= 2^20. */
double tct_rounded_gaussian(tct_stream *s, double sigma, double g);
/* g * K with P[K = k] ~ exp(-|k| * g/scale), exactly; g a power of two, scale/g in [1, 2^40). */
double tct_discrete_laplace(tct_stream *s, double scale, double g);
/* E of mean `scale`, rounded down to a multiple of the power of two g, 2^20 <= scale/g < 2^40 (discrete_laplace.c). */
double tct_exponential_floor(tct_stream *s, double scale, double g);
/* A Poisson batch: the indices i in [row0, row0+rows) that were drawn, each independently with
 * probability rate, ascending, written to out (capacity rows) minus row0; returns how many.
 * Row i's coin depends on (key, iteration, i) alone. */
int64_t tct_poisson_batch(const tct_rng_key *key, uint64_t iteration, double rate, int64_t row0, int64_t rows,
                          int64_t *out);
/* The same, drawn by up to so many threads. */
int64_t tct_poisson_batch_by(int threads, const tct_rng_key *key, uint64_t iteration, double rate, int64_t row0,
                             int64_t rows, int64_t *out);
/* Index j of [0, count) with probability ~ exp(epsilon' * score[j] / (2 * change)), exactly, where epsilon' <= epsilon
 * < epsilon' * (1 + 2^-62).  Scores are finite and at most 2^1022 in size, of any spacing. `change` must bound how far
 * one record moves the scores as the doubles that they are, so the caller puts them on a lattice.  epsilon >= 0, change
 * > 0.  monotone: the 2 is dropped. */
int64_t tct_exponential_choice(tct_stream *s, const double *score, int64_t count, double epsilon, double change,
                               bool monotone);
/* Index of the largest score + E_j, the E_j independent and exponential of rate epsilon'/(2 change): permute and flip,
 * which has that law.  Arguments as above. */
enum { TCT_FLIP_MOST = 4096 }; /* candidates */
int64_t tct_permute_and_flip(tct_stream *s, const double *score, int64_t count, double epsilon, double change,
                             bool monotone);

/* The same choice from scores that change a few at a time.  A changed score costs O(1), or O(log count) where it leaves
 * its level; levels are as wide as a factor e of the probability.  A draw costs O(log count).  No draw looks at all
 * scores.  Scores are multiples of lattice, a power of two, at most 2^51*lattice in size; they start at 0. */
typedef struct tct_choice_node {
  int64_t top;  /* largest level below this node */
  uint64_t sum; /* weights below it, in units of 2^(top - 32), rounded up; 0 = none */
} tct_choice_node;

typedef struct tct_choice_tree {
  double *score; /* [count] */
  int64_t count, leaves;
  double epsilon, change, lattice, inverse, unit; /* unit: the width of a level, a multiple of lattice */
  bool monotone;
  bool flat;             /* all scores share one level, so small is epsilon */
  bool off;              /* some score was off the lattice: nothing may be drawn */
  tct_choice_node *node; /* [2*leaves], the root at 1 */
} tct_choice_tree;
tct_status tct_choice_tree_new(int64_t count, double epsilon, double change, bool monotone, double lattice,
                               tct_choice_tree *out, tct_error *err);
void tct_choice_tree_free(tct_choice_tree *tree);
void tct_choice_tree_set(tct_choice_tree *tree, int64_t j, double score);
int64_t tct_choice_tree_draw(const tct_choice_tree *tree, tct_stream *s);
#endif
