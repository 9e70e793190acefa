/* test_mask.c - masks modulo 2^64: used once, apart by purpose, pair and session, the same at both ends of a pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rng/mask.h"

#include <stdlib.h>

enum { WORDS = 1000 };
static const unsigned char here[TCT_SESSION_ID] = "a session", there[TCT_SESSION_ID] = "another session";

static tct_mask_seed seed_of(uint64_t root, uint64_t index, const unsigned char *session) {
  tct_rng_key key;
  tct_mask_seed seed;
  tct_rng_key_seed(&key, root);
  tct_mask_seed_new(&seed, &key, index, session);
  return seed;
}

/* All words of a mask, in steps of `step`. */
static void words_of(tct_mask_seed seed, tct_mask_purpose purpose, int from, int to, int64_t step, uint64_t *out) {
  tct_mask mask;
  tct_error err = {0};
  assert_int_equal(tct_mask_open(&mask, &seed, purpose, from, to, WORDS, &err), TCT_OK);
  for (int64_t at = 0; at < WORDS; at += step)
    assert_int_equal(tct_mask_next(&mask, out + at, WORDS - at < step ? WORDS - at : step, &err), TCT_OK);
}

static void a_mask_is_opened_once_from_its_seed(void **state) {
  (void)state;
  tct_error err = {0};
  tct_mask mask = {.word = 77};
  tct_mask_seed seed = seed_of(1, 0, here);
  assert_int_equal(tct_mask_open(&mask, &seed, TCT_MASK_COLUMNS, 1, 2, WORDS, &err), TCT_OK);
  assert_int_equal(tct_mask_open(&mask, &seed, TCT_MASK_COLUMNS, 2, 1, WORDS, &err), TCT_OK);
  assert_int_equal(tct_mask_open(&mask, &seed, TCT_MASK_ZERO, 1, 2, WORDS, &err), TCT_OK);
  assert_int_equal(tct_mask_open(&mask, &seed, TCT_MASK_COLUMNS, 1, 2, WORDS, &err), TCT_E_RUN);
  assert_int_equal(tct_mask_open(&mask, &seed, TCT_MASK_COLUMNS, 63, 64, WORDS, &err), TCT_E_RUN);
}

static void a_mask_gives_its_words_in_order_and_no_more(void **state) {
  (void)state;
  uint64_t whole[WORDS], parts[WORDS];
  tct_error err = {0};
  tct_mask mask;
  tct_mask_seed seed = seed_of(1, 0, here);
  words_of(seed, TCT_MASK_COLUMNS, 0, 0, WORDS, whole);
  for (int64_t step = 1; step < 40; step++) {
    words_of(seed, TCT_MASK_COLUMNS, 0, 0, step, parts);
    assert_memory_equal(whole, parts, sizeof whole);
  }
  assert_int_equal(tct_mask_open(&mask, &seed, TCT_MASK_COLUMNS, 0, 0, WORDS, &err), TCT_OK);
  assert_int_equal(tct_mask_next(&mask, parts, WORDS, &err), TCT_OK);
  assert_int_equal(tct_mask_next(&mask, parts, 1, &err), TCT_E_RUN);
}

/* Words that two masks share: by chance none of a million pairs in 2^64. */
static int shared_words(const uint64_t *a, const uint64_t *b) {
  int count = 0;
  for (int i = 0; i < WORDS; i++)
    for (int j = 0; j < WORDS; j++) count += a[i] == b[j];
  return count;
}

static void two_masks_of_different_names_share_no_word(void **state) {
  (void)state;
  struct {
    tct_mask_seed seed;
    tct_mask_purpose purpose;
    int from, to;
  } name[] = {{seed_of(1, 0, here), TCT_MASK_COLUMNS, 0, 1},  {seed_of(1, 0, here), TCT_MASK_CORRECTION, 0, 1},
              {seed_of(1, 0, here), TCT_MASK_ZERO, 0, 1},     {seed_of(1, 0, here), TCT_MASK_COLUMNS, 1, 0},
              {seed_of(1, 0, there), TCT_MASK_COLUMNS, 0, 1}, {seed_of(1, 1, here), TCT_MASK_COLUMNS, 0, 1},
              {seed_of(2, 0, here), TCT_MASK_COLUMNS, 0, 1},  {seed_of(1, 0, here), TCT_MASK_CORRECTION, 0, 2}};
  enum { NAMES = sizeof name / sizeof *name };
  static uint64_t words[NAMES][WORDS];
  for (int i = 0; i < NAMES; i++) words_of(name[i].seed, name[i].purpose, name[i].from, name[i].to, WORDS, words[i]);
  for (int i = 0; i < NAMES; i++)
    for (int j = 0; j < i; j++) assert_int_equal(shared_words(words[i], words[j]), 0);
}

/* Bits of a byte are even: 8000 bytes of each of the eight places. */
static void every_byte_of_a_mask_is_even(void **state) {
  (void)state;
  uint64_t words[WORDS];
  int64_t ones[64] = {0};
  for (uint64_t root = 0; root < 20; root++) {
    words_of(seed_of(root, 0, here), TCT_MASK_COLUMNS, 0, 0, WORDS, words);
    for (int i = 0; i < WORDS; i++)
      for (int b = 0; b < 64; b++) ones[b] += words[i] >> b & 1;
  }
  for (int b = 0; b < 64; b++) assert_in_range(ones[b], 10000 - 500, 10000 + 500); /* 7 deviations */
}

static void both_ends_of_a_pair_have_one_key_and_other_pairs_another(void **state) {
  (void)state;
  tct_error err = {0};
  tct_pair_keys keys[3];
  unsigned char shared[3][3][32];
  tct_rng_key key;
  tct_rng_key_seed(&key, 9);
  for (int k = 0; k < 3; k++) tct_pair_keys_new(&keys[k], &key, (uint64_t)k);
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++)
      if (j != k) assert_int_equal(tct_pair_shared(&keys[j], keys[k].open, j < k, shared[j][k], &err), TCT_OK);
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < j; k++) assert_memory_equal(shared[j][k], shared[k][j], 32);
  assert_memory_not_equal(shared[0][1], shared[0][2], 32);
  assert_memory_not_equal(shared[0][1], shared[1][2], 32);
  unsigned char none[TCT_PAIR_PUBLIC] = {0};
  assert_int_equal(tct_pair_shared(&keys[0], none, true, shared[0][0], &err), TCT_E_RUN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mask_is_opened_once_from_its_seed),
      cmocka_unit_test(a_mask_gives_its_words_in_order_and_no_more),
      cmocka_unit_test(two_masks_of_different_names_share_no_word),
      cmocka_unit_test(every_byte_of_a_mask_is_even),
      cmocka_unit_test(both_ends_of_a_pair_have_one_key_and_other_pairs_another),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
