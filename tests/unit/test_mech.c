/* test_mech.c - the gate: what it refuses, that a refusal draws nothing, and that its noise and batches are as charged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "gate_help.h"

#include <math.h>
#include <string.h>

/* ---- refusals --------------------------------------------------------------------------------------- */

/* Everything that the promise of gaussian(2) x 2, choice(0.5) is asked for and does not hold. */
static int off_promise(tct_mech *mech, int which, double *sum) {
  int64_t index = -1, row[4], count;
  tct_error err = {0};
  tct_status status = TCT_OK;
  double g = tct_mech_release_of(mech, 0)->lattice;
  switch (which) {
    case 0: status = tct_mech_release(mech, 2, sum, LEN, &err); break; /* there is no third release */
    case 1: status = tct_mech_release(mech, -1, sum, LEN, &err); break;
    case 2: status = tct_mech_release(mech, 1, sum, LEN, &err); break;        /* a choice is not a sum */
    case 3: status = tct_mech_choose(mech, 0, sum, LEN, &index, &err); break; /* nor a sum a choice */
    case 4: status = tct_mech_draw(mech, 0, sum, LEN, &err); break;           /* nor a sum drawn */
    case 5: status = tct_mech_batch(mech, 0, 0, 4, row, &count, &err); break; /* nor sampled */
    case 6: sum[1] += g / 2, status = tct_mech_release(mech, 0, sum, LEN, &err); break;
    case 7: sum[1] = NAN, status = tct_mech_release(mech, 0, sum, LEN, &err); break;
    case 8: sum[1] = 0x1p53 * g, status = tct_mech_release(mech, 0, sum, LEN, &err); break;
    case 9: status = tct_mech_set_clip(mech, 0, 0.5, &err); break;   /* a length that was planned stays */
    case 10: status = tct_mech_set_noise(mech, 0, 1.9, &err); break; /* and so does a noise */
    case 11: status = tct_mech_set_noise(mech, 1, 0.6, &err); break;
    case 12: status = tct_mech_set_fine(mech, 0, &err); break;
    default: return 0;
  }
  assert_int_equal(status, TCT_E_BUDGET);
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_true(err.text[0] != 0);
  assert_int_equal(index, -1);
  return 1;
}

static void a_refused_release_draws_nothing_and_spends_nothing(void **state) {
  (void)state;
  tct_event promised = tct_event_gaussian(2, 2), choice = tct_event_exponential(0.5, 1);
  for (int which = 0; which < 13; which++) {
    tct_mech *asked = gate(promised, choice), *fresh = gate(promised, choice);
    double sum[LEN] = {1, 2, 3}, same[LEN] = {1, 2, 3}, clean[LEN] = {1, 2, 3};
    assert_true(off_promise(asked, which, sum));
    if (which >= 6 && which <= 8) sum[1] = 2;
    assert_memory_equal(sum, clean, sizeof sum); /* untouched by noise */
    assert_int_equal(tct_mech_spent(asked)->len, 0);
    assert_int_equal(tct_mech_release(asked, 0, sum, LEN, NULL), TCT_OK);
    assert_int_equal(tct_mech_release(fresh, 0, same, LEN, NULL), TCT_OK);
    assert_memory_equal(sum, same, sizeof sum); /* no random bit was used up */
    assert_memory_not_equal(sum, clean, sizeof sum);
    tct_mech_free(asked);
    tct_mech_free(fresh);
  }
}

/* Vectors of three parts; one that another release comes between is never finished. */
static void parts_belong_to_the_event_that_the_first_one_charged(void **state) {
  (void)state;
  tct_release list[2] = {release_at(tct_event_gaussian(2, 2), 5), release_at(tct_event_gaussian(3, 1), 1)};
  list[0].parts = 3;
  tct_mech *mech = gate_with(list, 2);
  double part[3] = {0, 0, 0}, two[2] = {0}, zero = 0, other[LEN] = {0};
  assert_int_equal(tct_mech_release(mech, 0, two, 2, NULL), TCT_E_BUDGET); /* a part is one number */
  for (int k = 0; k < 3; k++) {
    assert_int_equal(tct_mech_release(mech, 0, &part[k], 1, NULL), TCT_OK);
    assert_int_equal(tct_mech_spent(mech)->at[0].count, 1);
    if (k < 2) assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_E_BUDGET);
  }
  assert_true(part[0] != part[1] && part[1] != part[2] && part[0] != part[2]);
  zero = tct_mech_release_of(mech, 0)->lattice / 2;
  assert_int_equal(tct_mech_release(mech, 0, &zero, 1, NULL), TCT_E_BUDGET); /* off the lattice */
  zero = 0;
  assert_int_equal(tct_mech_release(mech, 0, &zero, 1, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent(mech)->at[0].count, 2);
  for (int j = 0; j < LEN; j++) { /* no number of a vector may lie off it */
    other[j] = tct_mech_release_of(mech, 1)->lattice / 2;
    assert_int_equal(tct_mech_release(mech, 1, other, LEN, NULL), TCT_E_BUDGET);
    other[j] = 0;
  }
  assert_int_equal(tct_mech_release(mech, 1, other, LEN, NULL), TCT_OK);
  zero = 0;
  assert_int_equal(tct_mech_release(mech, 0, &zero, 1, NULL), TCT_E_BUDGET); /* its vector has ended */
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_E_BUDGET);
  tct_mech_free(mech);
}

static void parts_are_charged_as_often_as_they_were_planned(void **state) {
  (void)state;
  tct_release one = release_at(tct_event_gaussian(2, 2), 5);
  one.parts = 2;
  tct_mech *mech = gate_with(&one, 1);
  double sum = 0;
  for (int k = 0; k < 4; k++) assert_int_equal(tct_mech_release(mech, 0, &sum, 1, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
  assert_int_equal(tct_mech_release(mech, 0, &sum, 1, NULL), TCT_E_BUDGET); /* spent */
  tct_mech_free(mech);
}

/* ---- lengths and noises that come later ------------------------------------------------------------------ */

static void a_length_that_follows_is_set_before_its_draw_and_moves_the_noise_with_it(void **state) {
  (void)state;
  enum { MANY = 20000 };
  tct_release later = release_at(tct_event_gaussian(2, 2), NAN);
  later.follows = true;
  tct_mech *mech = gate_with(&later, 1);
  double *sum = TCT_NEW(double, MANY), squares = 0;
  assert_int_equal(tct_mech_release(mech, 0, sum, MANY, NULL), TCT_E_BUDGET); /* not set yet */
  assert_int_equal(tct_mech_set_clip(mech, 0, 0, NULL), TCT_E_USAGE);
  assert_int_equal(tct_mech_release(mech, 0, sum, MANY, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_set_clip(mech, 0, 7, NULL), TCT_OK);
  assert_true(tct_mech_release_of(mech, 0)->deviation == 14);
  assert_int_equal(tct_mech_release(mech, 0, sum, MANY, NULL), TCT_OK);
  for (int j = 0; j < MANY; j++) squares += sum[j] * sum[j] / (14 * 14) / MANY;
  assert_true(fabs(squares - 1) <= 6 * sqrt(2.0 / MANY)); /* 2e-9 */
  assert_int_equal(tct_mech_spent(mech)->at[0].count, 1);
  tct_free(sum);
  tct_mech_free(mech);
}

/* Anything that was halved between the plan and the gate. */
static void a_promise_that_contradicts_itself_opens_no_gate(void **state) {
  (void)state;
  for (int which = 0; which < 8; which++) {
    tct_promise promise = {0};
    tct_mech *mech = NULL;
    tct_error err = {0};
    tct_promise_add(&promise, release_at(tct_event_gaussian(2, 4), 1), NULL);
    tct_promise_add(&promise, release_at(tct_event_exponential(1, 4), 1), NULL);
    assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
    tct_release *sum = &promise.release[0], *choice = &promise.release[1];
    switch (which) {
      case 0: sum->deviation /= 2; break;
      case 1: sum->sensitivity /= 2; break;
      case 2: sum->noise /= 2; break;
      case 3: sum->event.noise /= 2; break;
      case 4: sum->event.count *= 2; break;
      case 5: sum->lattice /= 2; break;
      case 6: choice->epsilon *= 2; break;
      case 7: promise.events.at[0].count /= 2; break;
    }
    assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, &err), TCT_E_BUDGET);
    assert_null(mech);
    tct_promise_free(&promise);
  }
}

/* 20000 vectors of two parts, each with one release after it.  |correlation| above 6/sqrt(20000), or a variance off by
 * more than 6 of its deviations, has probability below 1e-7 for six sound streams together. */
static void parts_of_one_event_and_what_follows_have_independent_noise(void **state) {
  (void)state;
  enum { VECTORS = 20000 };
  tct_release list[2] = {release_at(tct_event_gaussian(2, VECTORS), NAN),
                         release_at(tct_event_gaussian(3, VECTORS), 1)};
  list[0].parts = 2, list[0].follows = true;
  tct_mech *mech = gate_with(list, 2);
  double square[3][3] = {{0}};
  for (int v = 0; v < VECTORS; v++) {
    double noise[3] = {0};
    for (int k = 0; k < 2; k++) {
      assert_int_equal(tct_mech_set_clip(mech, 0, k ? 7 : 5, NULL), TCT_OK);
      assert_int_equal(tct_mech_release(mech, 0, &noise[k], 1, NULL), TCT_OK);
    }
    assert_int_equal(tct_mech_release(mech, 1, &noise[2], 1, NULL), TCT_OK);
    noise[0] /= 10, noise[1] /= 14, noise[2] /= 3;
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) square[j][k] += noise[j] * noise[k] / VECTORS;
  }
  for (int j = 0; j < 3; j++) {
    assert_true(fabs(square[j][j] - 1) < 6 * sqrt(2.0 / VECTORS));
    for (int k = 0; k < j; k++) assert_true(fabs(square[j][k]) < 6 / sqrt(VECTORS));
  }
  tct_mech_free(mech);
}

static void a_promise_is_spent_once(void **state) {
  (void)state;
  tct_mech *mech = gate(tct_event_gaussian(2, 2), tct_event_laplace(3, 1));
  double sum[LEN] = {0}, before[LEN];
  for (int k = 0; k < 2; k++) {
    assert_int_not_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_OK);
  }
  memcpy(before, sum, sizeof sum);
  assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_E_BUDGET);
  assert_memory_equal(sum, before, sizeof sum);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_E_BUDGET); /* the Laplace step is missing */
  memset(sum, 0, sizeof sum);
  assert_int_equal(tct_mech_release(mech, 1, sum, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent(mech)->len, 2);
  assert_int_equal(tct_mech_spent(mech)->at[0].count, 2);
  tct_mech_free(mech);
}

static void an_adaptive_promise_ends_where_its_filter_does(void **state) {
  (void)state;
  tct_promise promise = {.kind = TCT_PROMISE_BUDGET};
  tct_mech *mech = NULL;
  double sum[LEN] = {0}, before[LEN];
  assert_int_equal(tct_events_add(&promise.events, tct_event_zcdp(1, 1), NULL), TCT_OK);
  promise.filter =
      (tct_filter){.kind = TCT_FILTER_ZCDP, .neighbours = TCT_ADD_REMOVE, .budget = 1.05}; /* gaussian(2) costs 1/8 */
  tct_release open = release_at(tct_event_gaussian(1, 1), 1);
  open.open = true;
  assert_int_equal(tct_promise_add(&promise, open, NULL), TCT_OK);
  assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_E_BUDGET); /* no noise yet */
  assert_int_equal(tct_mech_set_noise(mech, 0, 2, NULL), TCT_OK);
  int taken = 0;
  while (taken < 20) {
    memcpy(before, sum, sizeof sum);
    if (tct_mech_release(mech, 0, sum, LEN, NULL) != TCT_OK) break;
    taken++;
    memset(sum, 0, sizeof sum);
  }
  assert_int_equal(taken, 8);
  assert_memory_equal(sum, before, sizeof sum);
  assert_int_equal(tct_mech_spent(mech)->at[0].count, 8);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
  tct_mech_free(mech);
  tct_promise_free(&promise);
}

/* ---- batches ------------------------------------------------------------------------------------------ */

static void a_batch_is_released_once_at_its_own_rate(void **state) {
  (void)state;
  enum { ROWS = 50 };
  tct_mech *mech = gate(tct_event_sampled_gaussian(2, 0.5, 2), tct_event_sampled_gaussian(2, 0.25, 2));
  int64_t row[ROWS], count;
  double sum[LEN] = {0};
  assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_E_BUDGET); /* no batch */
  assert_int_equal(tct_mech_batch(mech, 0, 0, ROWS, row, &count, NULL), TCT_OK);
  assert_int_equal(tct_mech_batch(mech, 0, 0, ROWS, row, &count, NULL), TCT_E_BUDGET); /* a second one */
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_release(mech, 1, sum, LEN, NULL), TCT_E_BUDGET); /* another's */
  assert_int_equal(tct_mech_spent(mech)->len, 0);
  assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_E_BUDGET); /* closed */
  assert_int_equal(tct_mech_batch(mech, 2, 0, ROWS, row, &count, NULL), TCT_E_BUDGET);
  tct_mech_free(mech);
}

/* Poisson batches have Binomial(n, q) sizes, and a row is in with probability q whatever the others are: 2000 batches
 * of 100 rows.  Mean within 6 deviations (2e-9); variance: (count-1)s^2/v is near chi-squared with 1999 degrees, whose
 * deviation is 3.2 % of it: 6 of them (2e-9).  Neighbouring rows together: 6 deviations of Binomial(99*2000, q^2),
 * doubled for the dependence of overlapping pairs.  A shuffled or fixed-size batch has variance 0. */
static void batches_are_poisson_at_the_rate_that_is_charged(void **state) {
  (void)state;
  enum { ROWS = 100, BATCHES = 2000 };
  const double q = 0.3;
  tct_mech *mech = gate_of(tct_event_sampled_gaussian(2, q, BATCHES));
  int64_t row[ROWS], count;
  double total = 0, squares = 0, pairs = 0, sum[LEN];
  for (int t = 0; t < BATCHES; t++) {
    assert_int_equal(tct_mech_batch(mech, 0, 0, ROWS, row, &count, NULL), TCT_OK);
    for (int64_t k = 1; k < count; k++) pairs += row[k] == row[k - 1] + 1;
    total += (double)count;
    squares += ((double)count - q * ROWS) * ((double)count - q * ROWS);
    memset(sum, 0, sizeof sum);
    assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_OK);
  }
  double variance = ROWS * q * (1 - q), expected = q * q * (ROWS - 1) * BATCHES;
  assert_true(fabs(total - q * ROWS * BATCHES) <= 6 * sqrt(variance * BATCHES));
  assert_true(fabs(squares / BATCHES - variance) <= 6 * variance * sqrt(2.0 / BATCHES));
  assert_true(fabs(pairs - expected) <= 12 * sqrt(expected * (1 - q * q)));
  tct_mech_free(mech);
}

/* ---- noise -------------------------------------------------------------------------------------------- */

/* 20000 draws: the mean square over its expectation is within 6 deviations, 6 sqrt(2/20000) = 6 % (Gaussian) and
 * 6 sqrt(5/20000) = 9.5 % (Laplace, fourth moment 24 scale^4).  Half the noise is a quarter of it. */
static void noise_has_the_size_that_is_charged(void **state) {
  (void)state;
  enum { MANY = 20000 };
  static const double noises[] = {0.5, 3}, reaches[] = {0.001, 1, 40};
  double *sum = TCT_NEW(double, MANY);
  for (int k = 0; k < 12; k++) {
    int laplace = k >= 6;
    double noise = noises[k % 2], sensitivity = reaches[k / 2 % 3], squares = 0;
    tct_event event = laplace ? tct_event_laplace(noise, 1) : tct_event_gaussian(noise, 1);
    tct_release one = release_at(event, sensitivity);
    tct_mech *mech = gate_with(&one, 1);
    double g = tct_mech_release_of(mech, 0)->lattice;
    for (int j = 0; j < MANY; j++) sum[j] = 7 * g * (j % 5);
    assert_int_equal(tct_mech_release(mech, 0, sum, MANY, NULL), TCT_OK);
    for (int j = 0; j < MANY; j++) {
      assert_true(sum[j] / g == rint(sum[j] / g)); /* released values lie on the lattice */
      double z = (sum[j] - 7 * g * (j % 5)) / (noise * sensitivity);
      squares += z * z / MANY;
    }
    if (laplace)
      assert_true(fabs(squares / 2 - 1) <= 6 * sqrt(5.0 / MANY));
    else
      assert_true(fabs(squares - 1) <= 6 * sqrt(2.0 / MANY));
    tct_mech_free(mech);
  }
  tct_free(sum);
}

static void no_two_releases_share_their_noise(void **state) {
  (void)state;
  tct_mech *mech = gate(tct_event_gaussian(2, 2), tct_event_sampled_gaussian(2, 0.5, 1));
  double a[LEN] = {0}, b[LEN] = {0}, c[LEN] = {0}, d[LEN] = {0};
  int64_t row[4], count;
  assert_int_equal(tct_mech_release(mech, 0, a, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_state_noise(mech, 0, b, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_release(mech, 0, c, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_batch(mech, 1, 0, 4, row, &count, NULL), TCT_OK);
  assert_int_equal(tct_mech_release(mech, 1, d, LEN, NULL), TCT_OK);
  const double *all[] = {a, b, c, d};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++)
      for (int k = 0; k < LEN; k++) assert_true(all[i][k] != all[j][k]);
  tct_mech_free(mech);
}

/* ---- the lattice ---------------------------------------------------------------------------------------- */

static void a_lattice_holds_the_sum_and_resolves_the_noise(void **state) {
  (void)state;
  for (int a = -30; a <= 30; a += 5)
    for (int b = -12; b <= 12; b++)
      for (int64_t terms = 1; terms < ((int64_t)1 << 34); terms *= 37) {
        double sensitivity = ldexp(1.1, 3 * a), noise = b == -12 ? 0 : pow(10, b / 2.0), sigma = noise * sensitivity;
        double g = tct_lattice_spacing(sensitivity, noise, terms);
        if (isnan(g)) { /* the sum is too large for the noise, and really so */
          assert_true((double)terms * sensitivity + 128 * sigma >= 0x1p31 * sigma);
          assert_true(noise > 0);
          continue;
        }
        int exponent;
        assert_true(frexp(g, &exponent) == 0.5); /* a power of two */
        assert_true((double)terms * sensitivity + 128 * sigma <= 0x1p52 * g);
        if (noise > 0) assert_true(sigma / g >= 0x1p20 && sigma / g < 0x1p40);
      }
  assert_true(isnan(tct_lattice_spacing(0, 1, 10)));
  assert_true(isnan(tct_lattice_spacing(-1, 1, 10)));
  assert_true(isnan(tct_lattice_spacing(NAN, 1, 10)));
  assert_true(isnan(tct_lattice_spacing(INFINITY, 1, 10)));
  assert_true(isnan(tct_lattice_spacing(1, INFINITY, 10)));
}

/* ---- choices and public numbers -------------------------------------------------------------------------- */

/* Scores 0 and 4 at epsilon 1, change 1: the odds are e^2, monotone e^4; 20000 draws, 6 deviations. */
static void a_choice_prefers_the_larger_score_as_charged(void **state) {
  (void)state;
  enum { MANY = 20000 };
  for (int monotone = 0; monotone < 2; monotone++) {
    tct_release choice = release_at(tct_event_exponential(1, MANY), 1);
    choice.monotone = monotone;
    tct_mech *mech = gate_with(&choice, 1);
    double score[2] = {0, 4}, p = 1 / (1 + exp(monotone ? -4 : -2)), high = 0;
    for (int t = 0; t < MANY; t++) {
      int64_t index = -1;
      assert_int_equal(tct_mech_choose(mech, 0, score, 2, &index, NULL), TCT_OK);
      high += (double)index;
    }
    assert_true(fabs(high - p * MANY) <= 6 * sqrt(p * (1 - p) * MANY));
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    tct_mech_free(mech);
  }
}

/* By the law that takes the largest and draws nothing: a sampler would not come back. */
static void an_infinite_score_is_refused(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    tct_release choice = tct_release_choice("a choice", INFINITY, 1, 1, 1, 4);
    tct_mech *mech = gate_with(&choice, 1);
    double score[2] = {0, sign * INFINITY};
    int64_t index = -1;
    assert_int_equal(tct_mech_choose(mech, 0, score, 2, &index, NULL), TCT_E_BUDGET);
    assert_true(index == -1 && tct_mech_spent(mech)->len == 0);
    tct_mech_free(mech);
  }
}

static void public_orders_are_permutations_that_depend_on_the_seed_alone(void **state) {
  (void)state;
  enum { COUNT = 200 };
  tct_mech *a = gate_of(tct_event_gaussian(1, 1)), *b = gate_of(tct_event_laplace(1, 1));
  int64_t first[COUNT], second[COUNT], next[COUNT];
  double sum[LEN] = {0};
  int seen[COUNT] = {0};
  assert_int_equal(tct_mech_release(a, 0, sum, LEN, NULL), TCT_OK); /* noise drawn before changes nothing */
  tct_mech_shuffle(a, 3, first, COUNT);
  tct_mech_shuffle(b, 3, second, COUNT);
  tct_mech_shuffle(b, 4, next, COUNT);
  assert_memory_equal(first, second, sizeof first);
  assert_memory_not_equal(first, next, sizeof first);
  for (int i = 0; i < COUNT; i++) seen[first[i]]++;
  for (int i = 0; i < COUNT; i++) assert_int_equal(seen[i], 1);
  assert_true(tct_mech_public(a, 9, 1000) == tct_mech_public(b, 9, 1000));
  tct_mech_free(a);
  tct_mech_free(b);
}

static void without_a_seed_no_two_gates_agree(void **state) {
  (void)state;
  tct_promise promise = {0};
  double sum[2][LEN] = {{0}};
  tct_promise_add(&promise, release_at(tct_event_gaussian(2, 1), 1), NULL);
  tct_promise_settle(&promise, NULL);
  for (int k = 0; k < 2; k++) {
    tct_mech *mech = NULL;
    assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, NULL, &mech, NULL), TCT_OK);
    assert_int_equal(tct_mech_release(mech, 0, sum[k], LEN, NULL), TCT_OK);
    tct_mech_free(mech);
  }
  for (int j = 0; j < LEN; j++) assert_true(sum[0][j] != sum[1][j]);
  tct_promise_free(&promise);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refused_release_draws_nothing_and_spends_nothing),
      cmocka_unit_test(a_promise_is_spent_once),
      cmocka_unit_test(parts_belong_to_the_event_that_the_first_one_charged),
      cmocka_unit_test(parts_are_charged_as_often_as_they_were_planned),
      cmocka_unit_test(a_length_that_follows_is_set_before_its_draw_and_moves_the_noise_with_it),
      cmocka_unit_test(a_promise_that_contradicts_itself_opens_no_gate),
      cmocka_unit_test(parts_of_one_event_and_what_follows_have_independent_noise),
      cmocka_unit_test(an_adaptive_promise_ends_where_its_filter_does),
      cmocka_unit_test(a_batch_is_released_once_at_its_own_rate),
      cmocka_unit_test(batches_are_poisson_at_the_rate_that_is_charged),
      cmocka_unit_test(noise_has_the_size_that_is_charged),
      cmocka_unit_test(no_two_releases_share_their_noise),
      cmocka_unit_test(a_lattice_holds_the_sum_and_resolves_the_noise),
      cmocka_unit_test(a_choice_prefers_the_larger_score_as_charged),
      cmocka_unit_test(an_infinite_score_is_refused),
      cmocka_unit_test(public_orders_are_permutations_that_depend_on_the_seed_alone),
      cmocka_unit_test(without_a_seed_no_two_gates_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
