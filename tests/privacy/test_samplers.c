/* test_samplers.c - noise samplers and coins against their exact probabilities. */
#include "exact_coins.h"
#include "goodness.h"

static double normal_below(double x) { return erfc(-x / M_SQRT2) / 2; }

static void the_chi_square_tail_has_its_tabulated_values(void **state) {
  (void)state;
  assert_true(fabs(chi_square_tail(3.841458820694124, 1) - 0.05) < 1e-9);
  assert_true(fabs(chi_square_tail(18.307038053275146, 10) - 0.05) < 1e-9);
  assert_true(fabs(chi_square_tail(37.69729821835383, 15) - 0.001) < 1e-9);
}

/* ---- rounded Gaussian ---- */

/* p-value of draws with `drawn` against the law with `claimed`, at g = 1 */
static double gaussian_fit(double drawn, double claimed, int draws) {
  static double count[CELLS], probability[CELLS];
  int half = (int)ceil(8 * claimed);
  tct_stream s = open_stream(101);
  memset(count, 0, sizeof count);
  for (int j = -half; j <= half; ++j)
    probability[j + half] = normal_below((j + 0.5) / claimed) - normal_below((j - 0.5) / claimed);
  for (int i = 0; i < draws; ++i) {
    double k = tct_rounded_gaussian(&s, drawn, 1);
    assert_true(k == floor(k));
    if (fabs(k) <= half) ++count[(int)k + half];
  }
  return fit(count, probability, 2 * half + 1, draws);
}

static void rounded_gaussian_has_its_exact_cell_probabilities(void **state) {
  (void)state;
  const double sigma[] = {1, 1.75, 7.3, 40};
  for (int i = 0; i < 4; ++i) assert_true(gaussian_fit(sigma[i], sigma[i], 1000000) > ALPHA);
}

static void a_wrong_sigma_is_caught(void **state) {
  (void)state;
  assert_true(gaussian_fit(0.5 * 7.3, 7.3, 100000) < ALPHA);
  assert_true(gaussian_fit(0.98 * 7.3, 7.3, 1000000) < ALPHA);
}

static void rounded_gaussian_is_right_on_a_fine_lattice(void **state) {
  (void)state;
  enum { DRAWS = 1000000, N = 600, LOW = 256 };
  static double count[N], probability[N], low[LOW], even[LOW];
  const double sigma = 1.3 * 1048576, step = floor(sigma / 64);
  tct_stream s = open_stream(102);
  memset(count, 0, sizeof count);
  for (int j = 0; j < N; ++j) {
    double from = (j - N / 2) * step - 0.5;
    probability[j] = normal_below((from + step) / sigma) - normal_below(from / sigma);
  }
  for (int i = 0; i < DRAWS; ++i) {
    double k = tct_rounded_gaussian(&s, sigma, 1), j = floor(k / step) + N / 2;
    if (j >= 0 && j < N) ++count[(int)j];
    ++low[(int64_t)k & (LOW - 1)];
  }
  for (int j = 0; j < LOW; ++j) even[j] = 1.0 / LOW;
  assert_true(fit(count, probability, N, DRAWS) > ALPHA);
  assert_true(fit(low, even, LOW, DRAWS) > ALPHA);
}

static void rounded_gaussian_moments_and_tails_are_the_normal_ones(void **state) {
  (void)state;
  enum { DRAWS = 2000000 };
  static double out[DRAWS];
  const double sigma = 3e-3, g = 0x1p-40;
  double m1 = 0, m2 = 0, m4 = 0, far = 0, lag = 0;
  tct_stream s = open_stream(103);
  for (int i = 0; i < DRAWS; ++i) {
    out[i] = tct_rounded_gaussian(&s, sigma, g);
    double y = out[i] / sigma;
    assert_true(out[i] / g == floor(out[i] / g));
    m1 += y, m2 += y * y, m4 += y * y * y * y, far += fabs(y) > 4;
    if (i > 0) lag += y * (out[i - 1] / sigma);
  }
  double expected_far = DRAWS * erfc(4 / M_SQRT2);
  assert_true(fabs(m1) < Z_ALPHA * sqrt(DRAWS));
  assert_true(fabs(lag) < Z_ALPHA * sqrt(DRAWS));
  assert_true(fabs(m2 - DRAWS) < Z_ALPHA * sqrt(2.0 * DRAWS));
  assert_true(fabs(m4 - 3.0 * DRAWS) < Z_ALPHA * sqrt(96.0 * DRAWS));
  assert_true(fabs(far - expected_far) < Z_ALPHA * sqrt(expected_far) + 3);
}

static void a_straddled_half_integer_is_decided_by_further_bits(void **state) {
  (void)state;
  enum { DRAWS = 20000 };
  const tct_dyadic ratio = tct_dyadic_of(0x1.921fb54442d18p+39);
  const int h = 64 - ratio.exponent;
  const uint64_t m = ratio.mantissa;
  tct_stream s = open_stream(105);
  /* the last top word for which ratio*(0 + x) stays below 1000.5 */
  tct_u128 border = ((tct_u128)2001 << (h - 1));
  uint64_t top = (uint64_t)(border / m), r = (uint64_t)(border - (tct_u128)top * m);
  double up = 0;
  for (int i = 0; i < DRAWS; ++i) {
    tct_lazy x = {top, 0};
    uint64_t q = tct_round_scaled(&s, ratio, 0, &x), word = tct_lazy_word(&s, &x, 1);
    tct_u128 low = (tct_u128)word * m, need = (tct_u128)r << 64;
    assert_true(q == 1000 || q == 1001);
    if (low >= need) assert_true(q == 1001);
    if (low + m <= need) assert_true(q == 1000);
    up += q == 1001;
  }
  double p = 1 - (double)r / (double)m;
  assert_true(p > 0.05 && p < 0.95);
  assert_true(fabs(up - DRAWS * p) < Z_ALPHA * sqrt(DRAWS * p * (1 - p)));
  tct_lazy below = {top - 1, 0}, above = {top + 1, 0};
  assert_true(tct_round_scaled(&s, ratio, 0, &below) == 1000);
  assert_true(tct_round_scaled(&s, ratio, 0, &above) == 1001);
  assert_true(below.branch == 0 && above.branch == 0);
}

/* ---- discrete Laplace ---- */

static double laplace_fit(double drawn, double claimed, int draws) {
  static double count[CELLS], probability[CELLS];
  int half = (int)ceil(30 * claimed);
  double a = exp(-1 / claimed);
  tct_stream s = open_stream(201);
  memset(count, 0, sizeof count);
  for (int j = -half; j <= half; ++j) probability[j + half] = (1 - a) / (1 + a) * pow(a, abs(j));
  for (int i = 0; i < draws; ++i) {
    double k = tct_discrete_laplace(&s, drawn * 0.25, 0.25) / 0.25;
    assert_true(k == floor(k));
    if (fabs(k) <= half) ++count[(int)k + half];
  }
  return fit(count, probability, 2 * half + 1, draws);
}

static void discrete_laplace_has_its_exact_cell_probabilities(void **state) {
  (void)state;
  const double scale[] = {1, 2.7, 33.3};
  for (int i = 0; i < 3; ++i) assert_true(laplace_fit(scale[i], scale[i], 1000000) > ALPHA);
}

static void a_wrong_scale_is_caught(void **state) {
  (void)state;
  assert_true(laplace_fit(2.6, 2.7, 300000) < ALPHA);
}

static void discrete_laplace_on_a_fine_lattice_is_laplace(void **state) {
  (void)state;
  enum { DRAWS = 500000 };
  double above[4] = {0}, positive = 0;
  tct_stream s = open_stream(202);
  for (int i = 0; i < DRAWS; ++i) {
    double y = tct_discrete_laplace(&s, 5.0, 0x1p-36) / 5;
    positive += y > 0;
    for (int j = 0; j < 4; ++j) above[j] += fabs(y) > 2 * j + 0.5;
  }
  assert_true(fabs(positive - DRAWS / 2.0) < Z_ALPHA * sqrt(DRAWS / 4.0));
  for (int j = 0; j < 4; ++j) {
    double p = exp(-(2 * j + 0.5));
    assert_true(fabs(above[j] - DRAWS * p) < Z_ALPHA * sqrt(DRAWS * p * (1 - p)));
  }
}

/* ---- coins ---- */

static void bernoulli_has_its_probability(void **state) {
  (void)state;
  enum { DRAWS = 1000000 };
  const double p[] = {0.5, 0.3, 1 / 3.0, 0.9999, 1e-4};
  tct_stream s = open_stream(301);
  for (int j = 0; j < 5; ++j) {
    double yes = 0;
    for (int i = 0; i < DRAWS; ++i) yes += coin_of(&s, p[j]);
    assert_true(fabs(yes - DRAWS * p[j]) < Z_ALPHA * sqrt(DRAWS * p[j] * (1 - p[j])) + 1);
  }
  for (int i = 0; i < 1000; ++i) assert_true(coin_of(&s, 1) && !coin_of(&s, 0));
}

/* Random words are put into the stream, so that events of probability 2^-70 can be looked at. */
static bool bernoulli_on(double p, uint64_t first, uint64_t second) {
  uint64_t words[2] = {htole64(first), htole64(second)};
  tct_stream s = {.used = 0};
  memcpy(s.buffer, words, sizeof words);
  return coin_of(&s, p);
}

static void bernoulli_compares_every_bit_of_a_small_probability(void **state) {
  (void)state;
  assert_true(bernoulli_on(0x1p-1, 0x7fffffffffffffff, 0));
  assert_false(bernoulli_on(0x1p-1, 0x8000000000000000, 0));
  /* 2^-70 (1 + 2^-52) has 122 digits: 58 zeros, then 64 with the value 2^52 + 1 */
  const double p = 0x1.0000000000001p-70;
  const uint64_t m = ((uint64_t)1 << 52) + 1;
  assert_true(bernoulli_on(p, 63, m - 1)); /* the last 6 bits of the first word are not used */
  assert_false(bernoulli_on(p, 63, m));
  assert_false(bernoulli_on(p, 64, 0));
}

static void coins_of_exponentials_have_their_probabilities(void **state) {
  (void)state;
  enum { DRAWS = 1000000 };
  const double gamma[] = {0, 0x1p-12, 0.3, 1, 1.5, 5.25, 11};
  tct_stream s = open_stream(302);
  for (int j = 0; j < 7; ++j) {
    double yes = 0, p = exp(-gamma[j]);
    for (int i = 0; i < DRAWS; ++i) yes += coin_exp_of(&s, gamma[j]);
    assert_true(fabs(yes - DRAWS * p) <= Z_ALPHA * sqrt(DRAWS * p * (1 - p)));
  }
  double half = 0, one = 0, tilt = 0, ratio = 0;
  for (int i = 0; i < DRAWS; ++i) {
    half += tct_coin_exp_half(&s), one += tct_coin_exp_one(&s);
    tilt += tct_coin_two_over_e(&s), ratio += tct_coin_exp_ratio(&s, 5, 7);
  }
  const double band = Z_ALPHA * sqrt(DRAWS / 4.0);
  assert_true(fabs(half - DRAWS * exp(-0.5)) < band);
  assert_true(fabs(one - DRAWS * exp(-1.0)) < band);
  assert_true(fabs(tilt - DRAWS * 2 / exp(1.0)) < band);
  assert_true(fabs(ratio - DRAWS * exp(-5 / 7.0)) < band);
  for (int i = 0; i < 1000; ++i) assert_false(coin_exp_of(&s, 1e300));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_chi_square_tail_has_its_tabulated_values),
      cmocka_unit_test(rounded_gaussian_has_its_exact_cell_probabilities),
      cmocka_unit_test(a_wrong_sigma_is_caught),
      cmocka_unit_test(rounded_gaussian_is_right_on_a_fine_lattice),
      cmocka_unit_test(rounded_gaussian_moments_and_tails_are_the_normal_ones),
      cmocka_unit_test(a_straddled_half_integer_is_decided_by_further_bits),
      cmocka_unit_test(discrete_laplace_has_its_exact_cell_probabilities),
      cmocka_unit_test(a_wrong_scale_is_caught),
      cmocka_unit_test(discrete_laplace_on_a_fine_lattice_is_laplace),
      cmocka_unit_test(bernoulli_has_its_probability),
      cmocka_unit_test(bernoulli_compares_every_bit_of_a_small_probability),
      cmocka_unit_test(coins_of_exponentials_have_their_probabilities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
