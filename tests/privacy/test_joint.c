/* test_joint.c - a release whose noise several draw: its law, the lemma behind it, and what its gate refuses. */
#include "goodness.h"

#include "core/alloc.h"
#include "mech/joint.h"

#include <string.h>

/* ---- the lemma: round(Z1) + ... + round(ZH) against round(Z1 + ... + ZH + U2 + ... + UH) ------------------------ */

static double phi(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

/* P(round(Z + U_1 + ... + U_uniforms) = k), Z of deviation S: the sum of uniforms is put on a midpoint grid. */
enum { GRID = 64, WIDE = 24 };
static double rounded_sum(double S, int uniforms, int k) {
  static double weight[8 * GRID + 1], next[8 * GRID + 1];
  int len = 1;
  weight[0] = 1;
  for (int u = 0; u < uniforms; u++) {
    memset(next, 0, sizeof next);
    for (int i = 0; i < len; i++)
      for (int g = 0; g < GRID; g++) next[i + g] += weight[i] / GRID;
    len += GRID - 1;
    memcpy(weight, next, sizeof weight);
  }
  double sum = 0, low = -uniforms * (GRID - 1) / (2.0 * GRID);
  for (int i = 0; i < len; i++) {
    double at = k - (low + (double)i / GRID);
    sum += weight[i] * (phi((at + 0.5) / S) - phi((at - 0.5) / S));
  }
  return sum;
}

static double total_variation(const double *s, int parts) {
  double law[8 * WIDE + 1] = {1}, next[8 * WIDE + 1], S = 0, sum = 0;
  int half = 0;
  for (int k = 0; k < parts; k++) {
    memset(next, 0, sizeof next);
    for (int i = -half; i <= half; i++)
      for (int j = -WIDE; j <= WIDE; j++)
        next[i + half + j + WIDE] += law[i + half] * (phi((j + 0.5) / s[k]) - phi((j - 0.5) / s[k]));
    half += WIDE;
    memcpy(law, next, sizeof law);
    S += s[k] * s[k];
  }
  for (int i = -half; i <= half; i++) sum += fabs(law[i + half] - rounded_sum(sqrt(S), parts - 1, i));
  return sum / 2;
}

static void a_sum_of_rounded_gaussians_is_as_close_to_one_rounding_as_the_lemma_says(void **state) {
  (void)state;
  static const double at[][4] = {{1, 1}, {1.2, 1.2}, {1, 1.5}, {1, 1, 1}, {1.1, 1.4, 1}, {1, 1, 1, 1}};
  static const int parts[] = {2, 2, 2, 3, 3, 4};
  for (int t = 0; t < 6; t++) {
    double min = 9;
    for (int k = 0; k < parts[t]; k++) min = fmin(min, at[t][k]);
    double tv = total_variation(at[t], parts[t]), scale = exp(-M_PI * M_PI * min * min);
    print_message("H = %d, least deviation %.1f: total variation %.3g, exp(-pi^2 s^2) %.3g\n", parts[t], min, tv,
                  scale);
    assert_true(tv <=
                40 * parts[t] * 8 * parts[t] * parts[t] * scale); /* W = H(w s + 1), w of 8: the tail is smaller */
    assert_true(tv <= 0.02);
  }
}

/* For two equal deviations the distance itself is known to fall like exp(-pi^2 s^2): below one unit of it. */
static void the_distance_falls_as_fast_as_the_lemma_says(void **state) {
  (void)state;
  static const double at[] = {0.5, 0.7, 0.9};
  double last = 1;
  for (int t = 0; t < 3; t++) {
    double s[2] = {at[t], at[t]}, tv = total_variation(s, 2), unit = tv / exp(-M_PI * M_PI * at[t] * at[t]);
    assert_true(unit < 1 && tv < last && tv > 1e-9);
    last = tv;
  }
}

/* ---- the gate ------------------------------------------------------------------------------------------------ */

typedef struct shape {
  int drawers, faced;
  bool server;
  int64_t side;
} shape;

static tct_mech *gate_of(shape s, uint64_t seed, int drawer) {
  tct_promise promise = {0};
  tct_mech *mech = NULL;
  tct_joint joint = {.drawers = s.drawers, .faced = s.faced, .side = s.side, .server = s.server};
  tct_release release = tct_release_joint("a joint sum", tct_event_gaussian(3, 1), 2, 1000, joint);
  release.drawer = drawer;
  assert_int_equal(tct_promise_add(&promise, release, NULL), TCT_OK);
  assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
  assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  tct_promise_free(&promise);
  return mech;
}

enum { DRAWS = 1000000 };

/* Numbers with known variance: p-value of their histogram against N(0, deviation^2). */
static double law(const uint64_t *word, int64_t len, double lattice, double deviation) {
  enum { BINS = 200 };
  double count[BINS] = {0}, probability[BINS];
  for (int b = 0; b < BINS; b++) probability[b] = phi((b + 1 - BINS / 2) / 20.0) - phi((b - BINS / 2) / 20.0);
  probability[0] = phi((1 - BINS / 2) / 20.0), probability[BINS - 1] = 1 - phi((BINS / 2 - 1) / 20.0);
  for (int64_t i = 0; i < len; i++) {
    double at = (double)(int64_t)word[i] * lattice / deviation * 20 + BINS / 2;
    count[at < 0 ? 0 : at >= BINS ? BINS - 1 : (int)at]++;
  }
  return fit(count, probability, BINS, (double)len);
}

/* sigma = 6: what is opened has variance sigma^2 K/faced, and the K - T outside of a coalition sigma^2. */
static void opened_noise_has_the_summed_variance_and_a_coalition_faces_the_event(void **state) {
  (void)state;
  static const shape at[] = {{2, 1, false, 0}, {4, 3, false, 0}, {4, 2, false, 0}, {4, 4, true, 0}};
  uint64_t *all = malloc(DRAWS * sizeof *all), *rest = malloc(DRAWS * sizeof *rest);
  for (int t = 0; t < 4; t++) {
    tct_mech *mech = gate_of(at[t], 11 + (uint64_t)t, 0);
    double lattice = tct_mech_release_of(mech, 0)->lattice, more = (double)at[t].drawers / at[t].faced;
    memset(all, 0, DRAWS * sizeof *all), memset(rest, 0, DRAWS * sizeof *rest);
    for (int k = 0; k < at[t].drawers; k++) {
      if (k == at[t].drawers - at[t].faced) memcpy(rest, all, DRAWS * sizeof *rest);
      assert_int_equal(tct_mech_join_noise(mech, 0, k, all, DRAWS, NULL), TCT_OK);
    }
    for (int i = 0; i < DRAWS; i++) rest[i] = all[i] - rest[i]; /* of the parties outside of the coalition */
    if (at[t].server) assert_int_equal(tct_mech_join_server(mech, 0, all, DRAWS, NULL), TCT_OK);
    assert_true(law(all, DRAWS, lattice, 6 * sqrt(more + at[t].server)) > ALPHA);
    assert_true(law(rest, DRAWS, lattice, 6) > ALPHA);
    assert_true(law(all, DRAWS, lattice, 6 * sqrt(more + at[t].server) * 1.02) < ALPHA); /* the test sees 2 % */
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    tct_mech_free(mech);
  }
  free(all), free(rest);
}

/* A symmetric matrix: sigma on the diagonal, sigma/sqrt(2) above it. */
static void a_triangle_has_its_full_noise_on_the_diagonal_only(void **state) {
  (void)state;
  enum { SIDE = 900, LEN = SIDE * (SIDE + 1) / 2 };
  tct_mech *mech = gate_of((shape){3, 2, false, SIDE}, 5, 0);
  double lattice = tct_mech_release_of(mech, 0)->lattice;
  uint64_t *all = calloc(LEN, sizeof *all), *diagonal = malloc(SIDE * sizeof *diagonal);
  for (int k = 0; k < 3; k++) assert_int_equal(tct_mech_join_noise(mech, 0, k, all, LEN, NULL), TCT_OK);
  int64_t at = 0, off = 0;
  for (int64_t i = 0; i < SIDE; i++)
    for (int64_t j = i; j < SIDE; j++, at++) {
      if (i == j) diagonal[i] = all[at];
      if (i != j) all[off++] = all[at];
    }
  assert_true(law(diagonal, SIDE, lattice, 6 * sqrt(1.5)) > ALPHA);
  assert_true(law(diagonal, SIDE, lattice, 6 * sqrt(0.75)) < ALPHA);
  assert_true(law(all, off, lattice, 6 * sqrt(0.75)) > ALPHA);
  tct_mech_free(mech);
  free(all), free(diagonal);
}

static void nothing_is_drawn_that_is_not_charged(void **state) {
  (void)state;
  enum { LEN = 10 };
  uint64_t zero[LEN] = {0}, value[LEN] = {0};
  double real[LEN] = {0};
  tct_mech *mech = gate_of((shape){3, 2, false, 4}, 5, 0);
  assert_int_equal(tct_mech_join_noise(mech, 1, 0, value, LEN, NULL), TCT_E_BUDGET); /* there is no second release */
  assert_int_equal(tct_mech_join_noise(mech, 0, 3, value, LEN, NULL), TCT_E_BUDGET); /* nor a fourth party */
  assert_int_equal(tct_mech_join_noise(mech, 0, -1, value, LEN, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_join_noise(mech, 0, 0, value, LEN - 1, NULL), TCT_E_BUDGET); /* nor another triangle */
  assert_int_equal(tct_mech_join_server(mech, 0, value, LEN, NULL), TCT_E_BUDGET); /* the server's was not planned */
  assert_int_equal(tct_mech_release(mech, 0, real, LEN, NULL), TCT_E_BUDGET);      /* nor one noise for all */
  assert_memory_equal(value, zero, sizeof zero);
  assert_int_equal(tct_mech_spent(mech)->len, 0);
  assert_int_equal(tct_mech_join_noise(mech, 0, 1, value, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent(mech)->len, 1);
  uint64_t once[LEN];
  memcpy(once, value, sizeof once);
  assert_int_equal(tct_mech_join_noise(mech, 0, 1, value, LEN, NULL), TCT_E_BUDGET); /* a party draws once */
  assert_memory_equal(value, once, sizeof once);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_E_BUDGET); /* two parties' noise is missing */
  assert_int_equal(tct_mech_join_noise(mech, 0, 0, value, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_join_noise(mech, 0, 2, value, LEN, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
  assert_int_equal(tct_mech_spent(mech)->len, 1);
  assert_int_equal(tct_mech_spent(mech)->at[0].count, 1); /* one event for all */
  tct_mech_free(mech);
}

/* A party's own gate draws that party's noise, the bits that it has in a simulation, and no one else's. */
static void a_partys_own_gate_draws_its_own_noise_alone(void **state) {
  (void)state;
  enum { LEN = 100 };
  uint64_t all[LEN] = {0}, own[LEN] = {0};
  tct_mech *together = gate_of((shape){3, 2, false, 0}, 5, 0);
  for (int k = 0; k < 3; k++) assert_int_equal(tct_mech_join_noise(together, 0, k, all, LEN, NULL), TCT_OK);
  for (int k = 0; k < 3; k++) {
    tct_mech *alone = gate_of((shape){3, 2, false, 0}, 5, k + 1);
    assert_int_equal(tct_mech_spent_exactly(alone, NULL), TCT_E_BUDGET);
    assert_int_equal(tct_mech_join_noise(alone, 0, (k + 1) % 3, own, LEN, NULL), TCT_E_BUDGET);
    assert_int_equal(tct_mech_spent(alone)->len, 0);
    assert_int_equal(tct_mech_join_noise(alone, 0, k, own, LEN, NULL), TCT_OK);
    assert_int_equal(tct_mech_spent_exactly(alone, NULL), TCT_OK);
    tct_mech_free(alone);
  }
  assert_memory_equal(all, own, sizeof all);
  tct_mech_free(together);
}

/* A promise whose parts come to less than its event is refused before a gate opens. */
static void a_promise_with_too_little_noise_opens_no_gate(void **state) {
  (void)state;
  tct_joint joint = {.drawers = 4, .faced = 3};
  for (int t = 0; t < 4; t++) {
    tct_promise promise = {0};
    tct_mech *mech = NULL;
    tct_release release = tct_release_joint("a joint sum", tct_event_gaussian(3, 1), 2, 1000, joint);
    if (t == 1) release.part *= sqrt(3.0 / 4); /* sigma^2/K for sigma^2/(K - T) */
    if (t == 2) release.faced = 0;
    if (t == 3) release.event.count = 2;
    assert_int_equal(tct_promise_add(&promise, release, NULL), TCT_OK);
    assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
    assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, NULL, &mech, NULL), t ? TCT_E_BUDGET : TCT_OK);
    tct_mech_free(mech);
    tct_promise_free(&promise);
  }
}

/* n*c + 2^8 deviations below 2^62 lattices, deviations in [2^20, 2^39) of them, or no promise. */
static void every_planned_lattice_has_room_for_sum_and_noise(void **state) {
  (void)state;
  int made = 0;
  for (double noise = 0.01; noise < 1e7; noise *= 9)
    for (double terms = 1; terms < 1e13; terms *= 30)
      for (double size = 1e-9; size < 1e9; size *= 1000)
        for (int64_t side = 0; side < 2; side++) {
          tct_joint joint = {.drawers = 5, .faced = 2, .side = side};
          tct_release r = tct_release_joint("a sum", tct_event_gaussian(noise, 1), size, (int64_t)terms, joint);
          if (tct_release_settle(&r, NULL) != TCT_OK) continue;
          double all = sqrt(5) * r.part;
          made++;
          assert_true((terms * size + 256 * all) / r.lattice < 0x1p62);
          assert_true(r.part / r.lattice < 0x1p39 && r.part * M_SQRT1_2 / r.lattice >= 0x1p20);
          int exponent;
          assert_true(frexp(r.lattice, &exponent) == 0.5 && (exponent - 1) % 2 == 0);
        }
  assert_true(made > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sum_of_rounded_gaussians_is_as_close_to_one_rounding_as_the_lemma_says),
      cmocka_unit_test(the_distance_falls_as_fast_as_the_lemma_says),
      cmocka_unit_test(opened_noise_has_the_summed_variance_and_a_coalition_faces_the_event),
      cmocka_unit_test(a_triangle_has_its_full_noise_on_the_diagonal_only),
      cmocka_unit_test(nothing_is_drawn_that_is_not_charged),
      cmocka_unit_test(a_partys_own_gate_draws_its_own_noise_alone),
      cmocka_unit_test(a_promise_with_too_little_noise_opens_no_gate),
      cmocka_unit_test(every_planned_lattice_has_room_for_sum_and_noise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
