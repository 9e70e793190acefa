/* test_exponential_choice.c - choices against their exact probabilities, plain and tilted. */
#include "goodness.h"

/* p-value of choices made with `drawn` against the law with `claimed` (epsilon, change 0.5) */
static double choice_fit(const double *score, int count, double drawn, double claimed, int draws) {
  static double seen[CELLS], probability[CELLS];
  double total = 0;
  tct_stream s = open_stream(501);
  memset(seen, 0, sizeof seen);
  for (int j = 0; j < count; ++j) total += probability[j] = exp(claimed * score[j]);
  for (int j = 0; j < count; ++j) probability[j] /= total;
  for (int i = 0; i < draws; ++i) ++seen[tct_exponential_choice(&s, score, count, drawn, 0.5, false)];
  return fit(seen, probability, count, draws);
}

static const double FEW[8] = {0.25, -1, 3.5, 3.25, 0, 2, -4.75, 3.5};

static void exponential_choice_has_its_exact_probabilities(void **state) {
  (void)state;
  assert_true(choice_fit(FEW, 8, 0, 0, 300000) > ALPHA);
  assert_true(choice_fit(FEW, 8, 0.3, 0.3, 300000) > ALPHA);
  assert_true(choice_fit(FEW, 8, 1.7, 1.7, 300000) > ALPHA);
  const double wild[4] = {1e-30, 1.0 / 3, 1, -0.7}; /* differences that are no doubles */
  assert_true(choice_fit(wild, 4, 1, 1, 300000) > ALPHA);
}

/* Nearly every choice here is refused by the plain trials and made by the tilted ones. */
static void exponential_choice_is_exact_among_many_poor_candidates(void **state) {
  (void)state;
  enum { N = 1000 };
  static double score[N];
  for (int j = 0; j < N; ++j) score[j] = j == 567 ? 0 : j % 100 == 3 ? -3.5 : -9 - (j % 7) / 4.0;
  assert_true(choice_fit(score, N, 1, 1, 60000) > ALPHA);
  assert_true(choice_fit(score, N, 0.9, 1, 60000) < ALPHA);
  for (int j = 0; j < N; ++j) score[j] = j < 2 ? -j : -50 - j; /* levels beyond the cap */
  assert_true(choice_fit(score, 2, 1, 1, 20000) > ALPHA);
  tct_stream s = open_stream(502);
  for (int i = 0; i < 500; ++i) assert_true(tct_exponential_choice(&s, score, N, 1, 0.5, false) < 2);
}

static void a_wrong_sign_or_factor_of_the_exponent_is_caught(void **state) {
  (void)state;
  assert_true(choice_fit(FEW, 8, 1, -1, 20000) < ALPHA);
  assert_true(choice_fit(FEW, 8, 2, 1, 20000) < ALPHA);
  assert_true(choice_fit(FEW, 8, 0.5, 1, 20000) < ALPHA);
}

static void monotone_scores_drop_the_two_and_a_common_shift_changes_nothing(void **state) {
  (void)state;
  double shifted[8];
  tct_stream a = open_stream(503), b = open_stream(503), c = open_stream(503);
  for (int j = 0; j < 8; ++j) shifted[j] = FEW[j] - 1024;
  for (int i = 0; i < 2000; ++i) {
    int64_t j = tct_exponential_choice(&a, FEW, 8, 1.25, 3, true);
    assert_int_equal(j, tct_exponential_choice(&b, FEW, 8, 1.25, 1.5, false));
    assert_int_equal(j, tct_exponential_choice(&c, shifted, 8, 1.25, 3, true));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exponential_choice_has_its_exact_probabilities),
      cmocka_unit_test(exponential_choice_is_exact_among_many_poor_candidates),
      cmocka_unit_test(a_wrong_sign_or_factor_of_the_exponent_is_caught),
      cmocka_unit_test(monotone_scores_drop_the_two_and_a_common_shift_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
