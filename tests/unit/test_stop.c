/* test_stop.c - a run that is to end: who is asked, that the answer stays, and that dense algebra asks often enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "gate_help.h"
#include "la/exact/gram.h"
#include "la/exact/ring.h"
#include "la/exact/spectrum.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "model/json.h"
#include "model/model.h"
#include "solve/shared/statistics.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { P = 96 };

typedef struct caller {
  int asked, yes_at; /* 0: never */
} caller;

static int answer(void *user) {
  caller *c = user;
  return ++c->asked >= c->yes_at && c->yes_at > 0;
}

static void the_answer_stays_and_is_that_of_the_outermost_watch(void **state) {
  (void)state;
  caller outer = {.yes_at = 2}, inner = {.yes_at = 1};
  tct_stop first, second;
  tct_error err = {0};
  assert_false(tct_stopping());
  assert_false(tct_stop_ask(NULL));
  tct_stop_watch(&first, answer, &outer);
  tct_stop_watch(&second, answer, &inner);
  assert_false(tct_stop_ask(NULL));
  assert_true(tct_stop_ask(NULL));
  assert_true(tct_stop_ask(NULL) && tct_stopping());
  assert_int_equal(outer.asked, 2); /* who has said yes is not asked again */
  assert_int_equal(inner.asked, 0);
  tct_stop_end(&second);
  assert_true(tct_stopping());
  assert_int_equal(tct_fail_memory(&err), TCT_E_CANCELLED); /* that is why an allocation failed */
  assert_null(strstr(err.text, "charged"));
  tct_stop_charged();
  tct_fail_cancelled(&err);
  assert_non_null(strstr(err.text, "the budget stays charged"));
  tct_stop_end(&first);
  assert_false(tct_stopping());
  assert_int_equal(tct_fail_memory(&err), TCT_E_MEMORY);
}

static void *look(void *found) {
  *(bool *)found = tct_stopping();
  return NULL;
}

static void one_threads_run_is_no_other_threads(void **state) {
  (void)state;
  caller c = {.yes_at = 1};
  tct_stop stop;
  pthread_t other;
  bool found = true;
  tct_stop_watch(&stop, answer, &c);
  assert_true(tct_stop_ask(NULL));
  assert_int_equal(pthread_create(&other, NULL, look, &found), 0);
  pthread_join(other, NULL);
  tct_stop_end(&stop);
  assert_false(found);
}

/* ---- dense algebra ------------------------------------------------------------------------------------------- */

static double a[P * P], b[P * P], c[P * P], value[P], room[4 * P];
static uint64_t left[P * P], right[P * P], product[P * P];

static void fill(void) {
  for (int i = 0; i < P; i++)
    for (int j = 0; j < P; j++) a[i * P + j] = i == j ? P : sin(i + j), b[i * P + j] = j <= i ? a[i * P + j] : 0;
}

static void factor(void) { tct_cholesky(a, P); }
static void solve(void) {
  for (int k = 0; k < P; k++) tct_cholesky_solve(b, P, value);
}
static void eigenvalues(void) { (void)!tct_eigenvectors(a, P, value, NULL, room); }
static void eigenvectors(void) { (void)!tct_eigenvectors(a, P, value, c, room); }
static void invert(void) { tct_lower_invert(b, P, room); }
static void multiply(void) { tct_lower_multiply(b, a, P, room); }
static void words(void) {
  for (int k = 0; k < P; k++)
    tct_ring_times((tct_ring_block){left, P}, (tct_ring_block){right, P}, P, false, product, P);
}
static void rows(void) {
  _Atomic int64_t next = 0;
  while (tct_take_rows(&next, 1) < P) {
  }
}
static void shift(void) { /* of a matrix that no shift makes definite */
  a[5] = a[5 * P] = NAN;
  tct_least_shift(a, P, 0, 1, 0.5, c);
}
static void cleaned_ridge(void) {
  tct_statistics t = {.p = P, .rows = 10, .gram = a, .moment = value, .gram_noise = 1};
  tct_penalty penalty;
  tct_error err;
  assert_int_equal(tct_penalty_make("l1:lambda=0.1", &penalty, &err), TCT_OK);
  (void)!tct_statistics_fit(&t, &penalty, TCT_CLEAN_FACTORS, room, &err);
}

static const struct {
  const char *name;
  void (*run)(void);
} work[] = {{"Cholesky's factor", factor},        {"triangular solutions", solve}, {"eigenvalues", eigenvalues},
            {"eigenvectors", eigenvectors},       {"an inverse", invert},          {"a product", multiply},
            {"products of words", words},         {"rows in turn", rows},          {"the least shift", shift},
            {"cleaned statistics", cleaned_ridge}};

/* One question in p^2 steps or so; a yes at any of them ends the work at once. */
static void dense_algebra_asks_for_every_row_and_ends_at_the_first_yes(void **state) {
  (void)state;
  tct_stop_always_test(true);
  for (size_t k = 0; k < sizeof work / sizeof *work; k++)
    for (int yes_at = 0, all = 0; yes_at <= all; yes_at += 1 + all / 40) {
      caller who = {.yes_at = yes_at};
      tct_stop stop;
      fill();
      tct_stop_watch(&stop, answer, &who);
      work[k].run();
      tct_stop_end(&stop);
      if (yes_at == 0) all = who.asked;
      if (all < P) fail_msg("%s: %d questions for %d rows", work[k].name, all, P);
      if (yes_at > 0 && who.asked != yes_at)
        fail_msg("%s: %d questions, and the answer to number %d was yes", work[k].name, who.asked, yes_at);
    }
  tct_stop_always_test(false);
}

static void a_large_allocation_is_not_made_for_a_run_that_is_to_end(void **state) {
  (void)state;
  caller who = {.yes_at = 1};
  tct_stop stop;
  tct_stop_watch(&stop, answer, &who);
  assert_true(tct_stop_ask(NULL));
  void *small = tct_alloc(1000, 8);
  assert_non_null(small);
  assert_null(tct_alloc((int64_t)64 << 20, 1));
  assert_null(tct_alloc_unset((int64_t)64 << 20, 1));
  assert_null(tct_alloc_by(2, (int64_t)64 << 20, 1));
  tct_stop_end(&stop);
  tct_free(small);
}

/* Of many columns a model's text takes seconds: its lists ask, and its text as it grows. */
static void the_text_of_a_model_of_many_columns_is_not_made_for_a_run_that_is_to_end(void **state) {
  (void)state;
  enum { MANY = 300000 };
  char **names = calloc(MANY + 1, sizeof *names), text[] = "spec";
  tct_model m = {
      .loss = text, .penalty = text, .solver = text, .scale = text, .cols = MANY, .models = 1, .features = names};
  m.coefficients = calloc(MANY, sizeof *m.coefficients);
  for (int j = 0; j < MANY; j++) names[j] = text;
  for (int yes_at = 1; yes_at <= 20; yes_at++) { /* in a list or in the text, and later there is nothing to ask for */
    caller who = {.yes_at = yes_at};
    tct_stop stop;
    tct_stop_always_test(true);
    tct_stop_watch(&stop, answer, &who);
    char *made = tct_model_json(&m, NULL);
    tct_stop_end(&stop);
    tct_stop_always_test(false);
    if (made || who.asked != yes_at) fail_msg("%d questions, and the answer to number %d was yes", who.asked, yes_at);
  }
  json_t *list = tct_json_reals(m.coefficients, MANY);
  assert_int_equal(json_array_size(list), MANY);
  json_decref(list);
  free(m.coefficients);
  free(names);
}

/* ---- the gate -------------------------------------------------------------------------------------------------- */

static void the_gate_releases_nothing_for_a_run_that_is_to_end(void **state) {
  (void)state;
  caller who = {.yes_at = 1};
  tct_stop stop;
  double sum[LEN] = {1, 2, 3}, clean[LEN] = {1, 2, 3};
  int64_t index = -1;
  tct_mech *mech = gate(tct_event_gaussian(2, 2), tct_event_exponential(0.5, 1));
  tct_stop_watch(&stop, answer, &who);
  bool asked = tct_stop_ask(NULL);
  tct_status said[] = {tct_mech_release(mech, 0, sum, LEN, NULL), tct_mech_draw(mech, 0, sum, LEN, NULL),
                       tct_mech_choose(mech, 1, sum, LEN, &index, NULL), tct_mech_join_sum(mech, sum, LEN, NULL)};
  tct_stop_end(&stop); /* before anything fails: the tests that follow would wait for it */
  assert_true(asked);
  for (int k = 0; k < 4; k++) assert_int_equal(said[k], TCT_E_CANCELLED);
  assert_memory_equal(sum, clean, sizeof sum);
  assert_int_equal(index, -1);
  assert_int_equal(tct_mech_spent(mech)->len, 0);
  tct_mech_free(mech);
}

/* A vector is cut short while its noise is drawn: what has only some of it is no release. */
static void noise_that_is_cut_short_is_no_release(void **state) {
  (void)state;
  enum { LONG = 20000 };
  static double sum[LONG];
  caller who = {.yes_at = 3};
  tct_stop stop;
  tct_mech *mech = gate(tct_event_gaussian(2, 2), tct_event_exponential(0.5, 1));
  tct_stop_always_test(true);
  tct_stop_watch(&stop, answer, &who);
  assert_int_equal(tct_mech_release(mech, 0, sum, LONG, NULL), TCT_E_CANCELLED);
  tct_stop_end(&stop);
  tct_stop_always_test(false);
  assert_true(sum[0] != 0 || sum[1] != 0 || sum[2] != 0); /* it had begun */
  assert_true(sum[LONG - 1] == 0 && sum[LONG - 2] == 0 && sum[LONG - 3] == 0);
  tct_mech_free(mech);
}

/* A pipe that gives so much and then nothing, and never ends: at its beginning, in a table, in what is compressed. */
static void a_read_of_a_pipe_that_stalls_ends_when_asked(void **state) {
  (void)state;
  static const char *const given[] = {"", "a,y\n1,1\n", "\x1f\x8b", "BZh9", "\3757zXZ"};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    int ends[2];
    char name[32];
    caller who = {.yes_at = 3};
    tct_error err;
    tct_read_options options;
    tct_read_options_default(&options);
    options.cancel = answer, options.user = &who;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], given[i], strlen(given[i])), strlen(given[i]));
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_null(tct_data_read(name, &options, &err));
    assert_int_equal(err.status, TCT_E_CANCELLED);
    assert_string_equal(err.text, "cancelled; no model was made");
    assert_false(tct_stopping());
    close(ends[0]), close(ends[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_answer_stays_and_is_that_of_the_outermost_watch),
      cmocka_unit_test(one_threads_run_is_no_other_threads),
      cmocka_unit_test(dense_algebra_asks_for_every_row_and_ends_at_the_first_yes),
      cmocka_unit_test(a_large_allocation_is_not_made_for_a_run_that_is_to_end),
      cmocka_unit_test(the_text_of_a_model_of_many_columns_is_not_made_for_a_run_that_is_to_end),
      cmocka_unit_test(the_gate_releases_nothing_for_a_run_that_is_to_end),
      cmocka_unit_test(a_read_of_a_pipe_that_stalls_ends_when_asked),
      cmocka_unit_test(noise_that_is_cut_short_is_no_release), /* the last: where it fails, a watch is left behind */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
