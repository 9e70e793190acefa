/* test_proofs.c - the C code gives what the definitions of the machine-checked proofs give (docs/proofs/coq/Gate.v). */
#include "gate_help.h"
#include "la/matrix/lattice.h"
#include "rng/coins.h"

#include <math.h>
#include <stdio.h>

/* Release 0 is planned twice and release 1 once; there is no release 2. */
static void the_gate_answers_the_calls_that_its_definition_answers(void **state) {
  (void)state;
  static const int rows[][8] = {
#define GATE(...) {__VA_ARGS__},
#define TRUNCATED(...)
#define ROUNDED(...)
#include "proofs.def"
#undef GATE
#undef TRUNCATED
#undef ROUNDED
  };
  static const double score[LEN];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_mech *mech = gate(tct_event_gaussian(2, 2), tct_event_exponential(0.5, 1));
    for (int k = 0; k < 4; k++) {
      double sum[LEN] = {0};
      int64_t index = -1;
      int r = rows[i][k];
      bool answered = (r == 1 ? tct_mech_choose(mech, r, score, LEN, &index, NULL)
                              : tct_mech_release(mech, r, sum, LEN, NULL)) == TCT_OK;
      if (answered != rows[i][4 + k] || answered != (index >= 0 || sum[0] != 0)) fail_msg("row %zu, call %d", i, k);
    }
    tct_mech_free(mech);
  }
  assert_int_equal(sizeof rows / sizeof *rows, 81);
}

/* In units of 2^-30, and of 2^-70: what a kernel adds of a term. */
static void terms_are_truncated_as_the_proof_of_sensitivity_truncates_them(void **state) {
  (void)state;
  static const double rows[][3] = {
#define GATE(...)
#define TRUNCATED(...) {__VA_ARGS__},
#define ROUNDED(...)
#include "proofs.def"
#undef GATE
#undef TRUNCATED
#undef ROUNDED
  };
  static const double units[] = {0x1p-30, 0x1p-70};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int u = 0; u < 2; u++) {
      double lattice = rows[i][0] * units[u], part = tct_lattice_part(rows[i][1] * units[u], lattice);
      if (part / lattice != rows[i][2]) fail_msg("%g over %g: %g", rows[i][1], rows[i][0], part / lattice);
    }
}

/* m (k 2^64 + top)/2^h, where no later word of the uniform number decides. */
static void noise_is_rounded_to_the_nearest_as_the_proof_of_rounding_rounds_it(void **state) {
  (void)state;
  static const uint64_t rows[][5] = {
#define GATE(...)
#define TRUNCATED(...)
#define ROUNDED(...) {__VA_ARGS__},
#include "proofs.def"
#undef GATE
#undef TRUNCATED
#undef ROUNDED
  };
  tct_rng_key key;
  tct_stream s;
  tct_rng_key_seed(&key, seed);
  tct_stream_open(&s, &key, TCT_PURPOSE_NOISE, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_lazy x = tct_lazy_draw(&s);
    x.top = rows[i][3];
    tct_dyadic ratio = {rows[i][0], 64 - (int)rows[i][1]};
    uint64_t q = tct_round_scaled(&s, ratio, (uint32_t)rows[i][2], &x);
    if (q != rows[i][4]) fail_msg("row %zu: %llu", i, (unsigned long long)q);
  }
  assert_true(sizeof rows / sizeof *rows > 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gate_answers_the_calls_that_its_definition_answers),
      cmocka_unit_test(terms_are_truncated_as_the_proof_of_sensitivity_truncates_them),
      cmocka_unit_test(noise_is_rounded_to_the_nearest_as_the_proof_of_rounding_rounds_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
