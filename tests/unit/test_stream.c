/* test_stream.c - keys, streams, exact uniform numbers, lazily extended numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rng/coins.h"

static tct_rng_key key_of(uint64_t seed) {
  tct_rng_key key;
  tct_rng_key_seed(&key, seed);
  return key;
}

/* The constants come from an independent program: BLAKE2b of Python's hashlib, ChaCha20 written out. */
static void words_are_the_golden_keystream_across_buffer_ends(void **state) {
  (void)state;
  tct_rng_key key = key_of(42);
  tct_stream s;
  uint64_t word[1001];
  tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, 7);
  for (int i = 0; i <= 1000; ++i) word[i] = tct_stream_u64(&s);
  assert_true(word[0] == 0x1ee178a60ca1dab7);
  assert_true(word[1] == 0x6e9535655920bcfb);
  assert_true(word[31] == 0x048db3ba511759be);
  assert_true(word[32] == 0x3ed3ad60101b40c3);
  assert_true(word[127] == 0x2d9dd57cc79ade1b);
  assert_true(word[128] == 0xf9445ee8946059b4);
  assert_true(word[159] == 0x4623aeff19e9ca7b);
  assert_true(word[160] == 0xe3e3091bc5dc9526);
  assert_true(word[1000] == 0x98c288fad917f9b5);
  assert_true(tct_branch_word(s.key, 3, 9) == 0x61171ced8471eb58);
  tct_stream_wipe(&s);
}

static void a_reopened_stream_repeats_itself_and_halves_are_the_same_words(void **state) {
  (void)state;
  tct_rng_key key = key_of(5);
  tct_stream a, b;
  tct_stream_open(&a, &key, TCT_PURPOSE_ORDER, 3);
  tct_stream_open(&b, &key, TCT_PURPOSE_ORDER, 3);
  for (int i = 0; i < 1000; ++i) {
    uint64_t low = tct_stream_u32(&b), high = tct_stream_u32(&b);
    assert_true(tct_stream_u64(&a) == (high << 32 | low));
  }
}

static void streams_of_different_names_share_no_word(void **state) {
  (void)state;
  enum { STREAMS = 4 * 4 * 8, EACH = 16 };
  static uint64_t seen[STREAMS * EACH];
  int n = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    tct_rng_key key = key_of(seed);
    for (int purpose = TCT_PURPOSE_NOISE; purpose <= TCT_PURPOSE_ORDER; ++purpose) {
      for (uint64_t index = 0; index < 8; ++index) {
        tct_stream s;
        tct_stream_open(&s, &key, (tct_purpose)purpose, index == 7 ? UINT64_MAX : index);
        for (int i = 0; i < EACH; ++i) seen[n++] = tct_stream_u64(&s);
      }
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) assert_true(seen[i] != seen[j]);
}

static void batch_keys_differ_from_stream_keys_of_the_same_name(void **state) {
  (void)state;
  tct_rng_key key = key_of(1);
  unsigned char a[32], b[32];
  tct_stream_key(a, &key, 0, TCT_PURPOSE_BATCH, 9);
  tct_stream_key(b, &key, 1, TCT_PURPOSE_BATCH, 9);
  assert_memory_not_equal(a, b, 32);
}

static void system_keys_differ_and_wiping_leaves_zeros(void **state) {
  (void)state;
  tct_rng_key a, b, zero = {{0}};
  tct_stream s;
  tct_error err;
  assert_int_equal(tct_rng_key_system(&a, &err), TCT_OK);
  assert_int_equal(tct_rng_key_system(&b, &err), TCT_OK);
  assert_memory_not_equal(&a, &b, sizeof a);
  tct_stream_open(&s, &a, TCT_PURPOSE_NOISE, 0);
  tct_stream_u64(&s);
  tct_stream_wipe(&s);
  for (size_t i = 0; i < sizeof s.key; ++i) assert_int_equal(s.key[i], 0);
  for (size_t i = 0; i < sizeof s.buffer; ++i) assert_int_equal(s.buffer[i], 0);
  tct_rng_key_wipe(&a);
  assert_memory_equal(&a, &zero, sizeof a);
}

static void without_entropy_there_is_an_error_and_no_key(void **state) {
  (void)state;
#ifdef TCT_FAULTS
  tct_rng_key key, zero = {{0}};
  tct_error err;
  tct_rng_fail_at_test(2);
  assert_int_equal(tct_rng_key_system(&key, &err), TCT_OK);
  assert_int_equal(tct_rng_key_system(&key, &err), TCT_E_RUN);
  assert_memory_equal(&key, &zero, sizeof key);
  assert_int_equal(tct_rng_key_system(&key, &err), TCT_OK);
#else
  skip();
#endif
}

/* A modulus would give the first third of this range half of the draws; a multiplication without
 * rejection, every third number of it. */
static void below_is_uniform_where_a_shortcut_would_not_be(void **state) {
  (void)state;
  enum { DRAWS = 300000 };
  tct_rng_key key = key_of(11);
  tct_stream s;
  tct_stream_open(&s, &key, TCT_PURPOSE_ORDER, 0);
  uint64_t third = (uint64_t)1 << 62;
  double count[6] = {0}, chi2 = 0;
  for (int i = 0; i < DRAWS; ++i) {
    uint64_t u = tct_stream_below(&s, 3 * third);
    assert_true(u < 3 * third);
    ++count[u / third];
    ++count[3 + u % 3];
  }
  for (int j = 0; j < 6; ++j) chi2 += (count[j] - DRAWS / 3.0) * (count[j] - DRAWS / 3.0) / (DRAWS / 3.0);
  assert_true(chi2 < 42.2); /* 2 + 2 degrees of freedom, alpha = 1.5e-8 */
  for (int i = 0; i < 1000; ++i) assert_true(tct_stream_below(&s, 1) == 0);
}

static void uniform_numbers_refuse_the_words_that_would_bias_them_and_no_other(void **state) {
  (void)state;
  /* 2^32 mod 3 = 1: of the low halves of 3 w, 0 is refused, and 1 is not */
  tct_stream s = {.used = 0};
  uint32_t words[3] = {htole32(0), htole32(0xaaaaaaab), htole32(1)};
  memcpy(s.buffer, words, sizeof words);
  assert_int_equal(tct_below_small(&s, 3), 2);
  assert_int_equal(s.used, 8);
  assert_int_equal(tct_below_small(&s, 3), 0);
  /* likewise 2^64 mod 3 = 1 */
  uint64_t longer[3] = {htole64(0), htole64(0xaaaaaaaaaaaaaaab), htole64(1)};
  memcpy(s.buffer, longer, sizeof longer);
  s.used = 0;
  assert_int_equal(tct_stream_below(&s, 3), 2);
  assert_int_equal(s.used, 16);
  assert_int_equal(tct_stream_below(&s, 3), 0);
}

static void equal_words_are_told_apart_by_further_ones_consistently(void **state) {
  (void)state;
  tct_rng_key key = key_of(3);
  tct_stream s;
  tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, 0);
  int less = 0;
  for (int i = 0; i < 4000; ++i) {
    tct_lazy a = {77, 0}, b = {77, 0};
    bool first = tct_lazy_less(&s, &a, &b);
    assert_true(tct_lazy_less(&s, &a, &b) == first);
    assert_true(tct_lazy_less(&s, &b, &a) == !first);
    assert_true(a.branch != 0 && b.branch != 0 && a.branch != b.branch);
    less += first;
  }
  assert_in_range(less, 1820, 2180); /* fair coin, 5.7 standard deviations */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_the_golden_keystream_across_buffer_ends),
      cmocka_unit_test(a_reopened_stream_repeats_itself_and_halves_are_the_same_words),
      cmocka_unit_test(streams_of_different_names_share_no_word),
      cmocka_unit_test(batch_keys_differ_from_stream_keys_of_the_same_name),
      cmocka_unit_test(system_keys_differ_and_wiping_leaves_zeros),
      cmocka_unit_test(without_entropy_there_is_an_error_and_no_key),
      cmocka_unit_test(below_is_uniform_where_a_shortcut_would_not_be),
      cmocka_unit_test(uniform_numbers_refuse_the_words_that_would_bias_them_and_no_other),
      cmocka_unit_test(equal_words_are_told_apart_by_further_ones_consistently),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
