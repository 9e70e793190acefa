/* test_sealed.c - two sides with one secret understand each other; nobody else does, and nothing passes twice. */
#include "rng/sealed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { LENGTH = 11, BOTH = 2 };
static const char text[LENGTH] = "ten bytes.";

typedef struct side {
  tct_sealer out, in;
} side;

/* Two sides that meet; about: what the second believes that it is about. */
static void meet(const char *secret, const char *other, const char *about, side sides[BOTH]) {
  tct_exchange exchange[BOTH];
  unsigned char shown[BOTH][TCT_SEALED_KEY];
  tct_sealed_terms terms[BOTH] = {{secret, strlen(secret), "run 7", 5}, {other, strlen(other), about, strlen(about)}};
  for (int k = 0; k < BOTH; k++) {
    assert_int_equal(tct_exchange_start(&exchange[k], NULL), TCT_OK);
    memcpy(shown[k], exchange[k].shown, sizeof shown[k]);
  }
  for (int k = 0; k < BOTH; k++)
    assert_true(tct_exchange_end(&exchange[k], k == 0, shown[1 - k], &terms[k], &sides[k].out, &sides[k].in));
}

static const char secret[] = "a secret of thirty-two bytes, at least";

static void both_sides_hold_the_same_two_keys_and_each_serves_one_direction(void **state) {
  (void)state;
  static const unsigned char none[TCT_SEALED_KEY];
  side s[BOTH], again[BOTH];
  meet(secret, secret, "run 7", s);
  meet(secret, secret, "run 7", again);
  for (int k = 0; k < BOTH; k++) {
    assert_memory_equal(s[k].out.key, s[1 - k].in.key, TCT_SEALED_KEY);
    assert_memory_not_equal(s[k].out.key, s[k].in.key, TCT_SEALED_KEY);
    assert_memory_not_equal(s[k].out.key, none, TCT_SEALED_KEY);
    assert_memory_not_equal(s[k].out.key, again[k].out.key, TCT_SEALED_KEY);
  }
}

static void a_message_opens_once_as_what_it_was_sent_as_and_unchanged(void **state) {
  (void)state;
  unsigned char sealed[3][LENGTH + TCT_SEALED_EXTRA];
  char opened[LENGTH];
  side s[BOTH], copy;
  meet(secret, secret, "run 7", s);
  for (int k = 0; k < 3; k++) tct_seal(&s[0].out, 5, text, LENGTH, sealed[k]);
  assert_memory_not_equal(sealed[0], sealed[1], LENGTH); /* numbered: never the same bytes twice */
  assert_memory_not_equal(sealed[0], text, LENGTH);
  copy = s[1];
  assert_true(tct_unseal(&copy.in, 5, sealed[0], LENGTH, opened));
  assert_memory_equal(opened, text, LENGTH);
  assert_false(tct_unseal(&copy.in, 5, sealed[0], LENGTH, opened)); /* repeated */
  copy = s[1];
  assert_false(tct_unseal(&copy.in, 5, sealed[1], LENGTH, opened)); /* one is missing */
  copy = s[1];
  assert_false(tct_unseal(&copy.in, 6, sealed[0], LENGTH, opened)); /* another kind */
  copy = s[0];
  assert_false(tct_unseal(&copy.in, 5, sealed[0], LENGTH, opened)); /* sent back */
  for (size_t byte = 0; byte < sizeof sealed[0]; byte++) {
    copy = s[1];
    sealed[0][byte] ^= 1;
    assert_false(tct_unseal(&copy.in, 5, sealed[0], LENGTH, opened));
    sealed[0][byte] ^= 1;
  }
  for (int k = 0; k < 3; k++) assert_true(tct_unseal(&s[1].in, 5, sealed[k], LENGTH, opened));
}

static void another_secret_or_another_purpose_opens_nothing(void **state) {
  (void)state;
  static const struct {
    const char *secret, *about;
    bool opens;
  } rows[] = {{"a secret of thirty-two bytes, at least", "run 7", true},
              {"a secret of thirty-two bytes, at most!", "run 7", false},
              {"a secret of thirty-two bytes, at least", "run 8", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned char sealed[LENGTH + TCT_SEALED_EXTRA];
    char opened[LENGTH];
    side s[BOTH];
    meet(secret, rows[i].secret, rows[i].about, s);
    tct_seal(&s[0].out, 1, text, LENGTH, sealed);
    assert_int_equal(tct_unseal(&s[1].in, 1, sealed, LENGTH, opened), rows[i].opens);
  }
}

/* A public key of small order would make the agreed key known to all. */
static void a_key_that_anybody_could_agree_on_is_none(void **state) {
  (void)state;
  static const unsigned char zero[TCT_SEALED_KEY];
  tct_sealed_terms terms = {secret, strlen(secret), "run 7", 5};
  tct_exchange exchange;
  side s;
  assert_int_equal(tct_exchange_start(&exchange, NULL), TCT_OK);
  assert_false(tct_exchange_end(&exchange, true, zero, &terms, &s.out, &s.in));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_sides_hold_the_same_two_keys_and_each_serves_one_direction),
      cmocka_unit_test(a_message_opens_once_as_what_it_was_sent_as_and_unchanged),
      cmocka_unit_test(another_secret_or_another_purpose_opens_nothing),
      cmocka_unit_test(a_key_that_anybody_could_agree_on_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
