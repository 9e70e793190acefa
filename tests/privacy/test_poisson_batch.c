/* test_poisson_batch.c - batches: rates, independence, the same coins for every partition. */
#include "goodness.h"

enum { ROWS = 5000 };

/* p-value of the rows' inclusion counts over `rounds` iterations drawn at `drawn`, against Bin(rounds, claimed) */
static double inclusion_fit(double drawn, double claimed, int rounds) {
  static double count[ROWS];
  static int64_t out[ROWS];
  tct_rng_key key;
  double chi2 = 0, mean = rounds * claimed;
  memset(count, 0, sizeof count);
  tct_rng_key_seed(&key, 401);
  for (int t = 0; t < rounds; ++t) {
    int64_t n = tct_poisson_batch(&key, (uint64_t)t, drawn, 700, ROWS, out);
    for (int64_t i = 0; i < n; ++i) ++count[out[i]];
  }
  for (int i = 0; i < ROWS; ++i) chi2 += (count[i] - mean) * (count[i] - mean) / (mean * (1 - claimed));
  /* Wilson-Hilferty: the cube root of chi2/k is normal to 1e-4 at k = 5000 */
  double k = ROWS, z = (cbrt(chi2 / k) - (1 - 2 / (9 * k))) / sqrt(2 / (9 * k));
  return erfc(fabs(z) / M_SQRT2);
}

static void every_row_is_included_at_its_rate(void **state) {
  (void)state;
  assert_true(inclusion_fit(0.01, 0.01, 4000) > ALPHA);
  assert_true(inclusion_fit(0.37, 0.37, 2000) > ALPHA);
  assert_true(inclusion_fit(0.9, 0.9, 2000) > ALPHA);
}

static void batch_sizes_are_binomial(void **state) {
  (void)state;
  enum { N = 3000, T = 20000, MOST = 100 };
  static int64_t out[N];
  double count[MOST] = {0}, probability[MOST];
  tct_rng_key key;
  tct_rng_key_seed(&key, 402);
  const double q = 0.01;
  for (int j = 0; j < MOST; ++j)
    probability[j] = exp(lgamma(N + 1.0) - lgamma(j + 1.0) - lgamma(N - j + 1.0) + j * log(q) + (N - j) * log1p(-q));
  for (uint64_t t = 0; t < T; ++t) {
    int64_t n = tct_poisson_batch(&key, t, q, 12345, N, out);
    if (n < MOST) ++count[n];
  }
  assert_true(fit(count, probability, MOST, T) > ALPHA);
}

/* Draws of 2^24 rows in all; how many standard deviations off the claimed rate. */
static double rate_deviation(double drawn, double claimed) {
  enum { N = 1 << 20, T = 16 };
  static int64_t out[N];
  tct_rng_key key;
  double seen = 0, rows = (double)N * T;
  tct_rng_key_seed(&key, 403);
  for (uint64_t t = 0; t < T; ++t) {
    int64_t n = tct_poisson_batch(&key, t, drawn, 0, N, out);
    for (int64_t i = 1; i < n; ++i) assert_true(out[i] > out[i - 1]);
    assert_true(n == 0 || (out[0] >= 0 && out[n - 1] < N));
    seen += (double)n;
  }
  return fabs(seen - rows * claimed) / sqrt(rows * claimed * (1 - claimed));
}

static void rates_are_exact_beyond_their_first_digits(void **state) {
  (void)state;
  const double rate[] = {0.5, 0.3, 0.01, 1e-3, 0.6 / 1024, 1e-5, 1 - 0.6 / 1024};
  for (int j = 0; j < 7; ++j) assert_true(rate_deviation(rate[j], rate[j]) < Z_ALPHA);
}

static void a_rate_cut_off_after_ten_digits_is_caught(void **state) {
  (void)state;
  assert_true(rate_deviation(floor(0.01 * 1024) / 1024, 0.01) > Z_ALPHA);
  assert_true(rate_deviation(ceil(0.01 * 1024) / 1024, 0.01) > Z_ALPHA);
  assert_true(inclusion_fit(0.011, 0.01, 4000) < ALPHA);
}

static void rate_zero_takes_none_and_rate_one_takes_all(void **state) {
  (void)state;
  int64_t out[100];
  tct_rng_key key;
  tct_rng_key_seed(&key, 404);
  assert_int_equal(tct_poisson_batch(&key, 0, 0, 5, 100, out), 0);
  assert_int_equal(tct_poisson_batch(&key, 0, 1, 5, 100, out), 100);
  for (int i = 0; i < 100; ++i) assert_int_equal(out[i], i);
  assert_int_equal(tct_poisson_batch(&key, 0, 0.5, 5, 0, out), 0);
}

/* The numbers come from an independent program (integers and fractions in Python). */
static void a_batch_is_the_golden_one(void **state) {
  (void)state;
  static const int64_t first[] = {502, 505, 509, 514, 516, 517, 523, 524, 527, 532, 534, 536};
  static int64_t out[3600];
  tct_rng_key key;
  tct_rng_key_seed(&key, 42);
  int64_t n = tct_poisson_batch(&key, 5, 0.3, 500, 3600, out), sum = 0;
  assert_int_equal(n, 1064);
  for (int i = 0; i < 12; ++i) assert_int_equal(out[i] + 500, first[i]);
  for (int64_t i = 0; i < n; ++i) sum += out[i] + 500;
  assert_int_equal(sum, 2469213);
}

static void the_partition_of_the_rows_does_not_change_the_batch(void **state) {
  (void)state;
  enum { N = 10000 };
  static int64_t whole[N], part[N], joined[N];
  const double rate[] = {0.002, 0.3};
  const int64_t piece[] = {1, 63, 64, 65, 511, 512, 513, 2047, 2049};
  tct_rng_key key;
  tct_rng_key_seed(&key, 405);
  for (int r = 0; r < 2; ++r) {
    const int64_t start = ((int64_t)1 << 33) + 77;
    int64_t n = tct_poisson_batch(&key, 9, rate[r], start, N, whole), m = 0, row = 0;
    for (int i = 0; row < N; i = (i + 1) % 9) {
      int64_t rows = piece[i] < N - row ? piece[i] : N - row;
      int64_t k = tct_poisson_batch(&key, 9, rate[r], start + row, rows, part);
      for (int64_t j = 0; j < k; ++j) joined[m++] = part[j] + row;
      row += rows;
    }
    assert_int_equal(n, m);
    assert_memory_equal(whole, joined, (size_t)n * sizeof *whole);
  }
}

/* Rates up to 1: a part that is drawn whole still leaves the next one its room. */
static void the_number_of_threads_does_not_change_the_batch(void **state) {
  (void)state;
  enum { N = 300001, GUARD = 8 };
  static int64_t alone[N], together[N + GUARD];
  const double rate[] = {0.002, 0.3, 1};
  tct_rng_key key;
  tct_rng_key_seed(&key, 409);
  for (int r = 0; r < 3; ++r) {
    for (int threads = 1; threads <= 9; threads += 2) {
      for (int64_t rows = N; rows > 0; rows /= 4) {
        for (int k = 0; k < GUARD; ++k) together[rows + k] = -7;
        int64_t n = tct_poisson_batch(&key, 9, rate[r], 77, rows, alone);
        assert_int_equal(tct_poisson_batch_by(threads, &key, 9, rate[r], 77, rows, together), n);
        assert_memory_equal(alone, together, (size_t)n * sizeof *alone);
        for (int k = 0; k < GUARD; ++k) assert_int_equal(together[rows + k], -7);
      }
    }
  }
}

static void a_range_may_begin_and_end_at_any_row(void **state) {
  (void)state;
  enum { N = 3000 };
  static int64_t out[N];
  static unsigned char in[N];
  tct_rng_key key;
  tct_rng_key_seed(&key, 408);
  int64_t n = tct_poisson_batch(&key, 3, 0.5, 0, N, out);
  for (int64_t i = 0; i < n; ++i) in[out[i]] = 1;
  for (int64_t start = 0; start < N - 3; ++start) {
    for (int64_t rows = 1; rows <= 3; ++rows) {
      int64_t few[3], expected = 0;
      n = tct_poisson_batch(&key, 3, 0.5, start, rows, few);
      for (int64_t i = 0; i < rows; ++i) expected += in[start + i];
      assert_int_equal(n, expected);
      for (int64_t i = 0; i < n; ++i) assert_true(few[i] < rows && in[start + few[i]]);
    }
  }
}

static void rows_iterations_and_keys_have_independent_coins(void **state) {
  (void)state;
  enum { N = 1 << 20 };
  static int64_t out[N];
  static unsigned char in[3][N];
  const double q = 0.25;
  double both[6] = {0};
  for (int a = 0; a < 3; ++a) { /* one key at two iterations, another key */
    tct_rng_key key;
    tct_rng_key_seed(&key, a == 2 ? 407 : 406);
    int64_t n = tct_poisson_batch(&key, a == 1 ? 2 : 1, q, 0, N, out);
    for (int64_t i = 0; i < n; ++i) in[a][out[i]] = 1;
  }
  for (int i = 0; i < N; ++i) {
    both[0] += in[0][i] & in[1][i];
    both[1] += in[0][i] & in[2][i];
    both[2] += in[0][i] & in[0][(i + 1) % N];
    both[3] += in[0][i] & in[0][(i + 64) % N];
    both[4] += in[0][i] & in[0][(i + 512) % N];
    both[5] += in[0][i] & in[0][(i + 2048) % N];
  }
  /* neighbouring pairs share a row: the variance is at most q^2 (1 - q^2) + 2 (q^3 - q^4) a row */
  const double spread = sqrt(N * (q * q * (1 - q * q) + 2 * (q * q * q - q * q * q * q)));
  for (int j = 0; j < 6; ++j) assert_true(fabs(both[j] - N * q * q) < Z_ALPHA * spread);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_included_at_its_rate),
      cmocka_unit_test(batch_sizes_are_binomial),
      cmocka_unit_test(rates_are_exact_beyond_their_first_digits),
      cmocka_unit_test(a_rate_cut_off_after_ten_digits_is_caught),
      cmocka_unit_test(rate_zero_takes_none_and_rate_one_takes_all),
      cmocka_unit_test(a_batch_is_the_golden_one),
      cmocka_unit_test(the_partition_of_the_rows_does_not_change_the_batch),
      cmocka_unit_test(the_number_of_threads_does_not_change_the_batch),
      cmocka_unit_test(a_range_may_begin_and_end_at_any_row),
      cmocka_unit_test(rows_iterations_and_keys_have_independent_coins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
