/* bench_rng.c - nanoseconds per draw of each sampler, beside the keystream that they live on. */
#include "rng/coins.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static tct_rng_key key;
static tct_stream stream;
static volatile double sink; /* keeps results alive */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { ROWS = 1 << 20, SCORES = 100000, BYTES = 1 << 20 };
static int64_t rows_out[ROWS];
static double score[SCORES], noise[4096];
static unsigned char bytes[BYTES], copied[BYTES];

/* Each returns how many units it did; `x` is its parameter. */
static double run_keystream(double x) {
  unsigned char nonce[8] = {0};
  (void)x;
  crypto_stream_chacha20_xor_ic(bytes, bytes, BYTES, nonce, 0, key.bytes);
  return BYTES / 8;
}
static double run_memcpy(double x) {
  (void)x;
  memcpy(copied, bytes, BYTES);
  sink += copied[17];
  return BYTES / 8;
}
static double run_u64(double x) {
  uint64_t sum = 0;
  (void)x;
  for (int i = 0; i < 100000; ++i) sum += tct_stream_u64(&stream);
  sink += (double)sum;
  return 100000;
}
static double run_below(double x) {
  for (int i = 0; i < 100000; ++i) sink += (double)tct_stream_below(&stream, (uint64_t)x);
  return 100000;
}
static double run_bernoulli(double x) {
  for (int i = 0; i < 100000; ++i) sink += tct_coin_dyadic(&stream, tct_dyadic_of(x));
  return 100000;
}
static double run_bernoulli_exp(double x) {
  for (int i = 0; i < 100000; ++i) sink += tct_coin_exp_dyadic(&stream, tct_dyadic_of(x));
  return 100000;
}
static double run_gaussian(double x) {
  for (int i = 0; i < 4096; i++) noise[i] = tct_rounded_gaussian(&stream, x, 1);
  sink += noise[7];
  return 4096;
}
static double run_laplace(double x) {
  for (int i = 0; i < 4096; ++i) sink += tct_discrete_laplace(&stream, x, 1);
  return 4096;
}
static double run_batch(double x) {
  static uint64_t iteration;
  sink += (double)tct_poisson_batch(&key, iteration++, x, 0, ROWS, rows_out);
  return ROWS;
}
static double run_choice(double x) {
  sink += (double)tct_exponential_choice(&stream, score, SCORES, x, 1, true);
  return SCORES;
}
static double run_open(double x) {
  (void)x;
  for (uint64_t i = 0; i < 1000; ++i) tct_stream_open(&stream, &key, TCT_PURPOSE_NOISE, i);
  return 1000;
}

/* "ns" is the best round, "ns_mean" the mean, which is the one to read where the work is random. */
static void report(const char *what, double (*run)(double), double x, double seconds) {
  double best = INFINITY, spent = 0, done = 0;
  for (int round = 0; round < 3 || spent < seconds * 1e9; ++round) {
    double start = now(), units = run(x), took = now() - start;
    spent += took;
    done += units;
    if (took / units < best) best = took / units;
  }
  printf("{\"bench\":\"rng\",\"what\":\"%s\",\"parameter\":%g,\"ns\":%.4g,\"ns_mean\":%.4g}\n", what, x, best,
         spent / done);
  fflush(stdout);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 0.2;
  tct_rng_key_seed(&key, 1);
  tct_stream_open(&stream, &key, TCT_PURPOSE_NOISE, 0);
  for (int i = 0; i < SCORES; ++i) score[i] = -(double)(i % 1000) / 1024;
  report("memcpy_8_bytes", run_memcpy, 0, seconds);
  report("chacha20_8_bytes", run_keystream, 0, seconds);
  report("stream_u64", run_u64, 0, seconds);
  report("stream_open", run_open, 0, seconds);
  report("below", run_below, 1e6, seconds);
  report("bernoulli", run_bernoulli, 0.01, seconds);
  report("bernoulli_exp", run_bernoulli_exp, 0.5, seconds);
  report("bernoulli_exp", run_bernoulli_exp, 10, seconds);
  report("rounded_gaussian", run_gaussian, 3, seconds);
  report("rounded_gaussian", run_gaussian, 1048577, seconds);
  report("rounded_gaussian", run_gaussian, 1e12, seconds);
  report("discrete_laplace", run_laplace, 1048577, seconds);
  report("poisson_batch_row", run_batch, 0.0001, seconds);
  report("poisson_batch_row", run_batch, 0.01, seconds);
  report("poisson_batch_row", run_batch, 0.3, seconds);
  report("choice_score", run_choice, 1, seconds);
  report("choice_score", run_choice, 1000, seconds);
  for (int i = 0; i < SCORES; ++i) score[i] = i == 4321 ? 0 : -12; /* about the worst case */
  report("choice_score_worst", run_choice, 1, seconds);
  tct_stream_wipe(&stream);
  return 0;
}
