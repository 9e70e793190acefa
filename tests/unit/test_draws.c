/* test_draws.c - what each sampler makes of given words, bit by bit.
 *
 * The tests of privacy/ hold the samplers' laws against millions of draws.  They see neither a tail beyond the numbers
 * that anybody draws, nor a rate that is wrong by 1e-7.  Here the words are given, so that rare draws are made at will.
 * And all draws under one key are held against a recorded hash: seeded runs must repeat, and whoever changes a sampler
 * has to prove it anew.  TACIT_PRINT=1 prints the hashes. */
#include "exact_coins.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static tct_rng_key key_of(uint64_t seed) {
  tct_rng_key key;
  tct_rng_key_seed(&key, seed);
  return key;
}

static tct_stream stream_of(uint64_t index) {
  tct_rng_key key = key_of(20);
  tct_stream s;
  tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, index);
  return s;
}

/* ---- given words ------------------------------------------------------------------------------------- */

/* A stream whose next words are `words`, in 32 bits each; what comes after them is not to be read. */
static tct_stream forged(const uint32_t *words, int count) {
  tct_stream s = stream_of(0);
  assert_true((size_t)count * 4 <= sizeof s.buffer);
  s.used = (uint32_t)(sizeof s.buffer - 4 * (size_t)count);
  for (int i = 0; i < count; i++) {
    uint32_t word = htole32(words[i]);
    memcpy(s.buffer + s.used + 4 * (size_t)i, &word, 4);
  }
  return s;
}

/* A word of ones makes a coin of exp(-1/2) succeed; 0 and then ones makes it fail. */
static void a_rounded_gaussian_reaches_beyond_every_deviation_that_words_lead_to(void **state) {
  (void)state;
  const uint32_t ones = UINT32_MAX;
  for (uint32_t k = 2; k <= 13; k++) {
    uint32_t words[256];
    int n = 0;
    for (uint32_t i = 0; i < k; i++) words[n++] = ones;
    words[n++] = 0, words[n++] = ones;                            /* the integer part is k */
    for (uint32_t i = 0; i < k * (k - 1); i++) words[n++] = ones; /* and is accepted */
    words[n++] = 0, words[n++] = 0;                               /* the fraction is 0 */
    for (uint32_t i = 0; i < 2 * (k + 1); i++) words[n++] = ones; /* and is accepted */
    words[n++] = 1;                                               /* the sign */
    tct_stream s = forged(words, n);
    assert_true(tct_rounded_gaussian(&s, 0x1p21, 1) == -0x1p21 * k);
    assert_int_equal(s.used, sizeof s.buffer); /* all words, and no other */
  }
}

/* A probability of 2^-n takes n bits: all words but the last must be 0, and the last is compared. */
static void a_rare_coin_reads_as_many_words_as_its_probability_has_bits(void **state) {
  (void)state;
  static const int bits[] = {1, 63, 64, 65, 127, 128, 129, 130, 192, 193, 256, 1074};
  for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
    uint32_t words[64] = {0};
    int count = 2 * ((bits[k] + 63) / 64);
    tct_dyadic p = {1, -bits[k]};
    tct_stream zeros = forged(words, count);
    assert_true(tct_coin_dyadic(&zeros, p));
    assert_int_equal(zeros.used, sizeof zeros.buffer); /* all words, and no other */
    words[count - 2] = words[count - 1] = UINT32_MAX;
    tct_stream last = forged(words, count);
    assert_false(tct_coin_dyadic(&last, p));
    assert_int_equal(last.used, sizeof last.buffer);
  }
}

/* sigma y/g is within half a lattice step of k + x times the ratio, and a tie goes up. */
static void a_scaled_number_is_rounded_to_the_nearest_integer(void **state) {
  (void)state;
  static const double ratios[] = {1, 1.5, 3, 1000.1, 0x1p20, 1234567.875, 0x1.fffffffffffffp39};
  for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++)
    for (uint32_t k = 0; k < 12; k++)
      for (int part = 0; part < 16; part++) {
        tct_stream s = stream_of(1);
        tct_lazy x = {(uint64_t)part << 60, 0};
        long double y = (long double)k + (long double)part / 16;
        uint64_t q = tct_round_scaled(&s, tct_dyadic_of(ratios[r]), k, &x);
        long double off = (long double)q - y * (long double)ratios[r];
        assert_true(off <= 0.5L && off >= -0.5L - (long double)ratios[r] * 0x1p-60L);
      }
}

/* One unit below a half, and at it: nothing is left for further words to decide. */
static void a_number_next_to_a_tie_is_rounded_by_its_first_word(void **state) {
  (void)state;
  static const struct {
    double ratio;
    uint32_t k;
    uint64_t top, rounded;
  } rows[] = {
      {1, 0, ((uint64_t)1 << 63) - 1, 0}, {1, 0, (uint64_t)1 << 63, 1},       {1, 7, ((uint64_t)1 << 63) - 1, 7},
      {1, 7, (uint64_t)1 << 63, 8},       {2, 3, ((uint64_t)1 << 62) - 1, 6}, {2, 3, (uint64_t)1 << 62, 7},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (uint64_t index = 0; index < 8; index++) {
      tct_stream s = stream_of(index);
      tct_lazy x = {rows[i].top, 0};
      assert_int_equal(tct_round_scaled(&s, tct_dyadic_of(rows[i].ratio), rows[i].k, &x), rows[i].rounded);
      assert_int_equal(x.branch, 0); /* no further word was looked at */
    }
}

/* Where the first 64 bits leave it open, the next ones decide: f >= R/M by whole words. */
static void further_words_decide_where_the_first_leave_a_rounding_open(void **state) {
  (void)state;
  int up = 0, down = 0;
  for (uint64_t index = 0; index < 400; index++) {
    /* ratio 1.5: 1.5 x is half an integer at x = 1/3, whose first 64 bits are 0x5555... */
    tct_stream s = stream_of(index), again = stream_of(index);
    tct_lazy x = {0x5555555555555555, 0}, same = {0x5555555555555555, 0};
    uint64_t q = tct_round_scaled(&s, tct_dyadic_of(1.5), 0, &x);
    bool above = tct_lazy_word(&again, &same, 1) > 0x5555555555555555;
    assert_int_equal(q, above);
    up += above, down += !above;
  }
  assert_true(up > 200 && down > 80); /* 2/3 and 1/3 of 400 */
}

/* 2^-130: two words and two bits must be zero, and then the number of 64 bits below the mantissa. */
static void a_coin_of_a_tiny_probability_looks_at_every_bit(void **state) {
  (void)state;
  static const struct {
    uint64_t word[3], mantissa;
    bool yes;
  } rows[] = {
      {{0, 0, 0}, 1, true},
      {{0, 0, 1}, 1, false},
      {{0, 0, 1}, 2, true},
      {{0, ((uint64_t)1 << 62) - 1, 0}, 1, true},
      {{0, (uint64_t)1 << 62, 0}, 1, false},
      {{0, (uint64_t)1 << 63, 0}, 1, false},
      {{1, 0, 0}, 1, false},
      {{(uint64_t)1 << 63, 0, 0}, 1, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t words[6];
    for (int k = 0; k < 6; k++) words[k] = (uint32_t)(rows[i].word[k / 2] >> (k % 2 ? 32 : 0));
    tct_stream s = forged(words, 6);
    if (tct_coin_dyadic(&s, (tct_dyadic){rows[i].mantissa, -130}) != rows[i].yes) fail_msg("row %zu", i);
  }
}

/* ---- the rate of a choice ------------------------------------------------------------------------------ */

/* exp(-x) for numbers whose last bit counts: 40000 tosses err by at most 6 deviations. */
static void a_coin_of_an_exponential_knows_the_last_bit_of_its_number(void **state) {
  (void)state;
  static const tct_dyadic numbers[] = {{1, -1}, {3, -1}, {1, -2}, {3, -2}, {7, -3}, {1, 0}};
  enum { TOSSES = 40000 };
  tct_rng_key key;
  tct_stream s;
  tct_rng_key_seed(&key, 11);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    double p = exp(-ldexp((double)numbers[k].mantissa, numbers[k].exponent));
    int heads = 0;
    tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, k);
    for (int i = 0; i < TOSSES; i++) heads += tct_coin_exp_dyadic(&s, numbers[k]);
    tct_stream_wipe(&s);
    if (!(fabs(heads - TOSSES * p) <= 6 * sqrt(TOSSES * p * (1 - p)))) fail_msg("number %zu: %d heads", k, heads);
  }
}

/* u 2 change <= epsilon, and not for the next larger u of 63 bits. */
static void a_choices_rate_is_rounded_down_and_by_less_than_one_unit(void **state) {
  (void)state;
  static const double epsilons[] = {1, 0.1, 1.0 / 3, 1e-9, 7.25, 1e6};
  static const double changes[] = {1, 0.7, 3e-5, 12345.678, 0x1p-1060};
  for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
      for (int monotone = 0; monotone < 2; monotone++) {
        tct_dyadic u = tct_choice_rate(epsilons[e], changes[c], monotone);
        tct_dyadic a = tct_dyadic_of(epsilons[e]), b = tct_dyadic_of(changes[c]);
        while (b.mantissa < (uint64_t)1 << 52) b.mantissa <<= 1, b.exponent--;
        tct_u128 whole = (tct_u128)a.mantissa << 63;
        assert_true(u.mantissa >= (uint64_t)1 << 61);
        assert_true((tct_u128)u.mantissa * b.mantissa <= whole);
        assert_true((tct_u128)(u.mantissa + 1) * b.mantissa > whole);
        assert_int_equal(u.exponent, a.exponent - b.exponent - 63 - !monotone);
      }
  assert_true(tct_choice_rate(1, 0, false).mantissa == 0); /* against the contract: uniform */
}

/* ---- recorded draws -------------------------------------------------------------------------------------- */

enum { SCORES = 300 };

static uint64_t mixed(uint64_t hash, const void *data, size_t size) {
  const unsigned char *byte = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3;
  return hash;
}

static void fill_scores(double *score, double width) {
  for (int j = 0; j < SCORES; j++) score[j] = width * ((j * 37) % 101 - 50) / 64;
}

static uint64_t choices(uint64_t hash, double width, double epsilon, bool monotone) {
  double score[SCORES];
  tct_stream s = stream_of(60);
  fill_scores(score, width);
  for (int i = 0; i < 400; i++) {
    int64_t j[2];
    j[0] = tct_exponential_choice(&s, score, SCORES, epsilon, 0.5, monotone);
    j[1] = tct_permute_and_flip(&s, score, SCORES, epsilon, 0.5, monotone);
    hash = mixed(hash, j, sizeof j);
  }
  return hash;
}

/* One candidate and two: here every round of permute and flip sees its last one. */
static uint64_t few_choices(uint64_t hash) {
  const double score[2] = {0, 1};
  tct_stream s = stream_of(64);
  for (int i = 0; i < 400; i++) {
    int64_t j[2];
    j[0] = tct_permute_and_flip(&s, score, 2, 3, 0.5, false);
    j[1] = tct_exponential_choice(&s, score, 2, 3, 0.5, false);
    hash = mixed(hash, j, sizeof j);
    assert_int_equal(tct_permute_and_flip(&s, score, 1, 3, 0.5, false), 0);
    assert_int_equal(tct_exponential_choice(&s, score, 1, 3, 0.5, false), 0);
  }
  return hash;
}

static uint64_t trees(uint64_t hash, double width, double epsilon) {
  double score[SCORES];
  tct_choice_tree tree;
  tct_stream s = stream_of(61);
  fill_scores(score, width);
  assert_int_equal(tct_choice_tree_new(SCORES, epsilon, 0.5, false, 0x1p-20, &tree, NULL), TCT_OK);
  for (int i = 0; i < 400; i++) {
    for (int k = 0; k < 7; k++) tct_choice_tree_set(&tree, (i * 7 + k) % SCORES, score[(i * 7 + k) % SCORES]);
    int64_t j = tct_choice_tree_draw(&tree, &s);
    hash = mixed(hash, &j, sizeof j);
  }
  assert_true(!tree.off);
  tct_choice_tree_free(&tree);
  return hash;
}

static uint64_t numbers(uint64_t hash, double (*draw)(tct_stream *, double, double), double scale, double lattice) {
  tct_stream s = stream_of(62);
  for (int i = 0; i < 3000; i++) {
    double value = draw(&s, scale, lattice);
    hash = mixed(hash, &value, sizeof value);
  }
  return hash;
}

static uint64_t coins(uint64_t hash) {
  static const double p[] = {0.5, 0.3, 1e-3, 0x1p-70, 1 - 0x1p-53, 1.7, 12.25};
  tct_stream s = stream_of(63);
  for (int i = 0; i < 3000; i++) {
    unsigned bits = coin_of(&s, p[i % 5]); /* one after the other: the order of operands is the compiler's */
    bits = 2 * bits + coin_exp_of(&s, p[i % 7]);
    bits = 2 * bits + tct_coin_exp_half(&s);
    bits = 2 * bits + tct_coin_exp_one(&s);
    bits = 2 * bits + tct_coin_two_over_e(&s);
    bits = 2 * bits + tct_coin_exp_ratio(&s, (uint64_t)(i % 13), 13);
    unsigned char byte = (unsigned char)bits;
    hash = mixed(hash, &byte, 1);
    uint64_t below = tct_stream_below(&s, (uint64_t)i * 0x123456789abcd + 1);
    hash = mixed(hash, &below, sizeof below);
  }
  return hash;
}

static uint64_t batches(uint64_t hash, double rate, int64_t row0) {
  int64_t out[2000];
  tct_rng_key key = key_of(21);
  for (uint64_t t = 0; t < 6; t++) {
    int64_t count = tct_poisson_batch(&key, t, rate, row0, 2000, out);
    hash = mixed(hash, out, (size_t)count * sizeof *out);
  }
  return hash;
}

static void seeded_draws_are_those_that_are_recorded(void **state) {
  (void)state;
  const uint64_t start = 0xcbf29ce484222325;
  const uint64_t is[] = {
      numbers(start, tct_rounded_gaussian, 1, 1),
      numbers(start, tct_rounded_gaussian, 1234.5678, 0x1p-20),
      numbers(start, tct_rounded_gaussian, 0x1.8p39, 1),
      numbers(start, tct_discrete_laplace, 1.5, 1),
      numbers(start, tct_discrete_laplace, 77.7, 0x1p-25),
      coins(start),
      batches(batches(start, 0.01, 0), 0.001, 12345),
      batches(batches(start, 0.5, 7), 0.97, 1000),
      choices(start, 1, 0.2, false),
      choices(choices(start, 40, 1, false), 0.01, 3, true),
      choices(start, 1e4, 1, false),
      few_choices(start),
      trees(start, 1, 0.5),
      trees(trees(start, 100, 1), 1, 1e-13),
  };
  static const uint64_t was[] = {0x452bc3dcc1112b20, 0x2d0c8e7f1079eec4, 0x3dfcab0764a4688e, 0xa7e011ba67e59be4,
                                 0x24ae053435eb6618, 0x167195a2772dbd38, 0x68f1ebbcd8124a0b, 0x4d7243e8d0fdf2e9,
                                 0xf352b014ecc7f694, 0x221a504e0264dbfd, 0x4e574e10a4cb600e, 0x63146a494f16ab84,
                                 0xb47562db98df641e, 0x112310325c57aa0a};
  for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
    if (getenv("TACIT_PRINT")) printf("0x%016llx,\n", (unsigned long long)is[i]);
    if (!getenv("TACIT_PRINT") && is[i] != was[i]) fail_msg("draws of kind %zu are others than recorded", i);
  }
  bool printing = getenv("TACIT_PRINT") != NULL;
  assert_true(printing || sizeof is == sizeof was);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rounded_gaussian_reaches_beyond_every_deviation_that_words_lead_to),
      cmocka_unit_test(a_rare_coin_reads_as_many_words_as_its_probability_has_bits),
      cmocka_unit_test(a_scaled_number_is_rounded_to_the_nearest_integer),
      cmocka_unit_test(a_number_next_to_a_tie_is_rounded_by_its_first_word),
      cmocka_unit_test(further_words_decide_where_the_first_leave_a_rounding_open),
      cmocka_unit_test(a_coin_of_a_tiny_probability_looks_at_every_bit),
      cmocka_unit_test(a_coin_of_an_exponential_knows_the_last_bit_of_its_number),
      cmocka_unit_test(a_choices_rate_is_rounded_down_and_by_less_than_one_unit),
      cmocka_unit_test(seeded_draws_are_those_that_are_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
