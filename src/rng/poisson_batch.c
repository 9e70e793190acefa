/* poisson_batch.c - Poisson batches: every row by its own coin, keyed by its number.
 *
 * DISTRIBUTION  Each row of the range is in the batch with probability rate (the exact value of the
 * double), independently of the others.  Row i's coin is a function of (key, iteration, i).
 *
 * PROOF  A coin compares the binary digits of a uniform U with those of rate from the top.  At the first differing
 * digit U < rate if U's digit is 0.  If none differs, U >= rate.  The first DIGITS digits are done for 512 rows at
 * once: digit d of chunk c is the 64-byte keystream block c DIGITS + d, one bit per row.  `open` holds the rows whose
 * digits have all agreed so far.
 *   digit of rate 1: rows in open with bit 0 are drawn, those with bit 1 stay open.
 *   digit of rate 0: rows in open with bit 1 are refused, those with bit 0 stay open.
 *
 * A row stays open after all of them with probability 2^-DIGITS.  It goes on with 64 digits at a time from side stream
 * i + 1 of the same key, against the rest of rate.  No bit serves two rows and none depends on row0 or rows.  Hence
 * independence, and the same coins for every partition of the rows.
 *
 * ROUNDING  None.  2 x, 2^64 x and x - floor(x) are exact for a double x in [0, 1). */
#include "rng/coins.h"

#include "core/point.h"
#include "core/processors.h"

#include <math.h>
#include <sodium.h>

enum {
  CHUNK = 512, /* rows that share one keystream block per digit */
  LANES = 8,   /* 64-bit words of a block */
  DIGITS = 10, /* 1.25 keystream bytes per row; one row in 1024 needs a side stream (some 100 ns) */
  CHUNKS = 4,  /* chunks generated together: enough blocks for libsodium's vector code */
  BLOCK = 64,
  SHARE = 1 << 15,  /* rows that are worth a thread: some 25 microseconds, twice what waking it takes */
  PART = SHARE / 4, /* rows that a thread takes at a time: one that was woken late takes fewer parts */
  MOST = 64         /* parts */
};

typedef struct {
  unsigned char key[32];
  unsigned digits; /* the first DIGITS binary digits of rate, the first one on top */
  double rest;     /* rate = digits 2^-DIGITS + rest 2^-DIGITS */
  int64_t row0, end;
  int64_t *out;
  int64_t drawn;
} batch;

/* The rest of row's comparison: U's remaining digits against those of rest. */
static bool rest_is_less(const batch *b, int64_t row) {
  double rest = b->rest;
  for (uint64_t i = 0; rest > 0; ++i) {
    rest = ldexp(rest, 64);
    double whole = floor(rest);
    uint64_t word = tct_branch_word(b->key, (uint64_t)row + 1, i), digits = (uint64_t)whole;
    if (word != digits) return word < digits;
    rest -= whole;
  }
  return false;
}

/* The 64 rows from `row` on: those drawn, and those that are open still. */
static void emit(batch *b, int64_t row, uint64_t drawn, uint64_t open) {
  for (; open != 0; open &= open - 1) {
    int bit = __builtin_ctzll(open);
    if (row + bit >= b->row0 && row + bit < b->end && rest_is_less(b, row + bit)) drawn |= (uint64_t)1 << bit;
  }
  if (row < b->row0) drawn &= b->row0 - row < 64 ? UINT64_MAX << (b->row0 - row) : 0;
  if (b->end - row < 64) drawn &= b->end > row ? UINT64_MAX >> (64 - (b->end - row)) : 0;
  for (; drawn != 0; drawn &= drawn - 1) b->out[b->drawn++] = row + __builtin_ctzll(drawn) - b->row0;
}

static void chunk_draw(batch *b, int64_t row, const unsigned char *keystream) {
  uint64_t drawn[LANES] = {0}, open[LANES];
  memset(open, 0xff, sizeof open);
  for (int d = 0; d < DIGITS; ++d) {
    uint64_t word[LANES], one = 0 - (uint64_t)(b->digits >> (DIGITS - 1 - d) & 1);
    memcpy(word, keystream + d * BLOCK, sizeof word);
    for (int j = 0; j < LANES; ++j) {
      uint64_t bits = le64toh(word[j]);
      drawn[j] |= open[j] & ~bits & one;
      open[j] &= ~(bits ^ one);
    }
  }
  for (int j = 0; j < LANES; ++j)
    if ((drawn[j] | open[j]) != 0) emit(b, row + 64 * j, drawn[j], open[j]);
}

int64_t tct_poisson_batch(const tct_rng_key *key, uint64_t iteration, double rate, int64_t row0, int64_t rows,
                          int64_t *out) {
  static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {0};
  _Alignas(64) unsigned char keystream[CHUNKS * DIGITS * BLOCK];
  if (!(rate > 0) || rows <= 0) return 0;
  if (rate >= 1) {
    for (int64_t i = 0; i < rows; ++i) out[i] = i;
    return rows;
  }
  batch b = {.row0 = row0, .end = row0 + rows, .out = out};
  double scaled = ldexp(TCT_POINT(batch_rate_up_by_1e_4, rate, fmin(1, rate * (1 + 1e-4))), DIGITS);
  b.digits = (unsigned)scaled;
  b.rest = scaled - b.digits;
  tct_stream_key(b.key, key, 1, TCT_PURPOSE_BATCH, iteration);
  for (int64_t chunk = row0 / CHUNK; chunk * CHUNK < b.end; chunk += CHUNKS) {
    int64_t left = (b.end - chunk * CHUNK + CHUNK - 1) / CHUNK, here = left < CHUNKS ? left : CHUNKS;
    size_t bytes = (size_t)here * DIGITS * BLOCK;
    memset(keystream, 0, bytes);
    crypto_stream_chacha20_xor_ic(keystream, keystream, bytes, nonce, (uint64_t)chunk * DIGITS, b.key);
    for (int64_t c = 0; c < here; ++c) chunk_draw(&b, (chunk + c) * CHUNK, keystream + c * DIGITS * BLOCK);
  }
  sodium_memzero(keystream, sizeof keystream);
  int64_t drawn = b.drawn;
  sodium_memzero(&b, sizeof b);
  return drawn;
}

static int64_t part_begin(int64_t rows, int64_t k, int64_t parts) {
  int64_t at = rows / parts * k;
  return k == parts ? rows : at - at % CHUNK;
}

/* Every thread writes where its first row would go, and there is room, as no more rows are drawn than there are. */
int64_t tct_poisson_batch_by(int threads, const tct_rng_key *key, uint64_t iteration, double rate, int64_t row0,
                             int64_t rows, int64_t *out) {
  int64_t count[MOST] = {0}, parts = rows / SHARE, drawn = 0;
  if (threads > parts) threads = (int)parts;
  if (threads < 2) return tct_poisson_batch(key, iteration, rate, row0, rows, out);
  parts = rows / PART < MOST ? rows / PART : MOST;
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(dynamic, 1)
  for (int64_t k = 0; k < parts; k++) {
    int64_t from = part_begin(rows, k, parts), to = part_begin(rows, k + 1, parts);
    count[k] = tct_poisson_batch(key, iteration, rate, row0 + from, to - from, out + from);
  }
  for (int64_t k = 0; k < parts; k++) {
    int64_t from = part_begin(rows, k, parts);
    for (int64_t i = 0; i < count[k]; i++) out[drawn++] = out[from + i] + from;
  }
  return drawn;
}
