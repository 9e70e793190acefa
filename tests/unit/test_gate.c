/* test_gate.c - the gate's choices, draws and promises of at most so many: spent once, refused without a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gate_help.h"
#include "mech/gate.h"
#include "mech/joint.h"
#include "rng/rng.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Equal scores: each draw is one of 64, and 12 draws agree with probability 64^-11 only. */
static void no_two_choices_share_their_randomness(void **state) {
  (void)state;
  enum { SCORES = 64, DRAWS = 12 };
  static const double score[SCORES];
  tct_release choice[2] = {release_at(tct_event_exponential(0.1, DRAWS), 1),
                           release_at(tct_event_exponential(0.1, DRAWS), 1)};
  tct_mech *mech = gate_with(choice, 2);
  tct_choice_tree *tree = NULL;
  int same[2] = {0};
  int64_t first[2] = {-1, -1}, index;
  assert_int_equal(tct_mech_tree_new(mech, 0, SCORES, &tree, NULL), TCT_OK);
  for (int t = 0; t < DRAWS; t++)
    for (int plain = 0; plain < 2; plain++) {
      assert_int_equal(plain ? tct_mech_choose(mech, 1, score, SCORES, &index, NULL)
                             : tct_mech_tree_choose(mech, 0, tree, &index, NULL),
                       TCT_OK);
      if (t == 0) first[plain] = index;
      same[plain] += index == first[plain];
    }
  assert_true(same[0] < DRAWS && same[1] < DRAWS);
  index = -1;
  assert_int_equal(tct_mech_tree_choose(mech, 0, tree, &index, NULL), TCT_E_BUDGET); /* all are spent */
  assert_int_equal(index, -1);
  assert_int_equal(tct_mech_tree_choose(mech, 1, tree, &index, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
  tct_mech_tree_free(tree);
  tct_mech_free(mech);
}

/* A tree is for one epsilon and one change, fixed before the run. */
static void a_tree_is_made_for_an_exponential_choice_that_is_planned_whole(void **state) {
  (void)state;
  for (int which = 0; which < 4; which++) {
    tct_release r = release_at(which == 3 ? tct_event_gaussian(1, 1) : tct_event_exponential(0.5, 1), 1);
    if (which == 1) r.follows = true, r.lattice = NAN;
    if (which == 2) r.law = TCT_LAW_FLIP, r.event = tct_release_choice_event(&r);
    tct_mech *mech = gate_with(&r, 1);
    static const double untouched;
    tct_choice_tree *tree = (tct_choice_tree *)(uintptr_t)&untouched; /* a refusal sets it to NULL */
    if (which == 1) assert_int_equal(tct_mech_set_clip(mech, 0, 1, NULL), TCT_OK);
    assert_int_equal(tct_mech_tree_new(mech, 0, 4, &tree, NULL), which == 0 ? TCT_OK : TCT_E_BUDGET);
    assert_true((tree != NULL) == (which == 0));
    if (tree) { /* off its lattice nothing may be drawn */
      int64_t index = -1;
      tct_mech_tree_set(tree, 2, tct_mech_release_of(mech, 0)->lattice / 2);
      assert_int_equal(tct_mech_tree_choose(mech, 0, tree, &index, NULL), TCT_E_BUDGET);
      assert_int_equal(index, -1);
      assert_int_equal(tct_mech_spent(mech)->len, 0);
    }
    tct_mech_tree_free(tree);
    tct_mech_free(mech);
  }
}

static void a_promise_of_at_most_so_many_releases_is_used_up_and_may_be_left_unspent(void **state) {
  (void)state;
  tct_promise promise = {.kind = TCT_PROMISE_AT_MOST};
  tct_mech *mech = NULL;
  double sum[LEN] = {0}, before[LEN];
  assert_int_equal(tct_promise_add(&promise, release_at(tct_event_gaussian(2, 3), 1), NULL), TCT_OK);
  assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
  assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  tct_promise_free(&promise);
  for (int k = 0; k < 3; k++) {
    assert_true(tct_mech_allows(mech, 0));
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    memset(sum, 0, sizeof sum);
    assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_OK);
  }
  memcpy(before, sum, sizeof sum);
  assert_false(tct_mech_allows(mech, 0));
  assert_int_equal(tct_mech_release(mech, 0, sum, LEN, NULL), TCT_E_BUDGET);
  assert_memory_equal(sum, before, sizeof sum);
  assert_int_equal(tct_mech_spent(mech)->at[0].count, 3);
  tct_mech_free(mech);
}

static void a_refused_draw_leaves_its_vector_as_it_was(void **state) {
  (void)state;
  tct_release drawn[2] = {tct_release_draw("a tilt", tct_event_objpert(2, 0.1, 1), TCT_LAW_GAUSSIAN, 1, 2, 2, 0x1p-30),
                          tct_release_draw("a tilt", tct_event_pure(1, 1), TCT_LAW_GAMMA, 1, 2, 2, 0x1p-30)};
  tct_mech *mech = gate_with(drawn, 2);
  for (int r = 0; r < 2; r++) {
    double value[LEN] = {9, 9, 9}, before[LEN];
    assert_int_equal(tct_mech_draw(mech, r, value, LEN, NULL), TCT_OK);
    assert_true(value[0] != 9 && value[0] != value[1] && value[1] != value[2]);
    memcpy(before, value, sizeof value);
    assert_int_equal(tct_mech_draw(mech, r, value, LEN, NULL), TCT_E_BUDGET);
    assert_memory_equal(value, before, sizeof value);
    assert_int_equal(tct_mech_release(mech, r, value, LEN, NULL), TCT_E_BUDGET); /* nor is it a sum */
    assert_memory_equal(value, before, sizeof value);
  }
  assert_int_equal(tct_mech_spent(mech)->len, 2);
  tct_mech_free(mech);
}

static void a_tree_draws_for_the_epsilon_and_the_change_that_it_was_made_for(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    tct_release both[] = {release_at(tct_event_exponential(0.5, 1), 1),
                          release_at(tct_event_exponential(which == 1 ? 1 : 0.5, 1), which == 2 ? 2 : 1)};
    tct_mech *mech = gate_with(both, 2);
    tct_choice_tree *tree = NULL;
    int64_t index = -1;
    assert_int_equal(tct_mech_tree_new(mech, 0, 4, &tree, NULL), TCT_OK);
    assert_int_equal(tct_mech_tree_choose(mech, 1, tree, &index, NULL), which ? TCT_E_BUDGET : TCT_OK);
    assert_int_equal(tct_mech_spent(mech)->len, which ? 0 : 1);
    tct_mech_tree_free(tree);
    tct_mech_free(mech);
  }
}

/* Where terms are longer than the sensitivity, sums are exact and the noise stays in its sampler's range all the same.
 */
static void a_lattice_carries_the_longest_term_and_the_noise(void **state) {
  (void)state;
  for (double longest = 1; longest < 1e6; longest *= 7) {
    tct_release r = release_at(tct_event_gaussian(2, 1), 1);
    r.largest = longest;
    assert_int_equal(tct_release_settle(&r, NULL), TCT_OK);
    double steps = r.deviation / r.lattice;
    assert_true(r.deviation == 2 && steps >= 0x1p20 && steps < 0x1p39);
    assert_true(1000 * fmax(longest, 1) + 128 * r.deviation <= 0x1p52 * r.lattice);
  }
}

static void a_tree_of_no_or_too_many_candidates_is_none(void **state) {
  (void)state;
  static const int64_t counts[] = {0, -1, ((int64_t)1 << 30) + 1};
  tct_mech *mech = gate_of(tct_event_exponential(0.5, 1));
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    tct_choice_tree *tree = NULL;
    assert_int_equal(tct_mech_tree_new(mech, 0, counts[i], &tree, NULL), TCT_E_USAGE);
    assert_null(tree);
  }
  tct_mech_free(mech);
}

static void releases_are_numbered_from_0_and_there_are_no_others(void **state) {
  (void)state;
  tct_mech *mech = gate(tct_event_gaussian(2, 1), tct_event_laplace(3, 1));
  assert_null(tct_mech_release_of(mech, -1));
  assert_non_null(tct_mech_release_of(mech, 0));
  assert_non_null(tct_mech_release_of(mech, 1));
  assert_null(tct_mech_release_of(mech, 2));
  assert_null(tct_mech_release_of(mech, TCT_RELEASES));
  tct_mech_free(mech);
}

/* What certificates say of a noise: its standard deviation, whatever its law; nothing where it is not known yet. */
static void the_deviation_that_is_stated_is_that_of_the_law(void **state) {
  (void)state;
  tct_release r[3] = {release_at(tct_event_gaussian(2, 1), 3), release_at(tct_event_laplace(2, 1), 3),
                      release_at(tct_event_gaussian(2, 1), NAN)};
  r[2].follows = true;
  for (int k = 0; k < 2; k++) assert_int_equal(tct_release_settle(&r[k], NULL), TCT_OK);
  assert_true(fabs(tct_release_deviation(&r[0]) - 6) < 1e-12);
  assert_true(fabs(tct_release_deviation(&r[1]) - 6 * sqrt(2)) < 1e-12); /* 2 b^2 is a Laplace law's variance */
  assert_true(isnan(tct_release_deviation(&r[2])));
}

/* Its amplification is proved for records that come and go, and for no other relation. */
static void a_choice_over_a_batch_is_made_under_add_remove_only(void **state) {
  (void)state;
  for (int relation = TCT_ADD_REMOVE; relation <= TCT_REPLACE_ONE; relation++) {
    tct_promise promise = {0};
    tct_mech *mech = NULL;
    const double score[4] = {0};
    int64_t row[4], count, index = -1;
    tct_release r = release_at(tct_event_exponential(0.5, 1), 1);
    r.rate = 0.5;
    r.event = tct_release_choice_event(&r);
    assert_int_equal(tct_promise_add(&promise, r, NULL), TCT_OK);
    assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
    assert_int_equal(tct_mech_new(&promise, (tct_neighbours)relation, &seed, &mech, NULL), TCT_OK);
    tct_promise_free(&promise);
    assert_int_equal(tct_mech_batch(mech, 0, 0, 4, row, &count, NULL), TCT_OK);
    assert_int_equal(tct_mech_choose(mech, 0, score, 4, &index, NULL),
                     relation == TCT_ADD_REMOVE ? TCT_OK : TCT_E_BUDGET);
    assert_true((index >= 0) == (relation == TCT_ADD_REMOVE));
    tct_mech_free(mech);
  }
}

/* Without a candidate, and beyond what permute and flip takes: nothing is drawn or charged. */
static void a_choice_among_none_or_too_many_is_refused_before_its_charge(void **state) {
  (void)state;
  static const double score[TCT_FLIP_MOST + 1];
  tct_release r[2] = {release_at(tct_event_exponential(0.5, 1), 1), release_at(tct_event_exponential(0.5, 1), 1)};
  r[1].law = TCT_LAW_FLIP, r[1].event = tct_release_choice_event(&r[1]);
  tct_mech *mech = gate_with(r, 2);
  int64_t index = -1;
  assert_int_equal(tct_mech_choose(mech, 0, score, 0, &index, NULL), TCT_E_USAGE);
  assert_int_equal(tct_mech_choose(mech, 1, score, 0, &index, NULL), TCT_E_USAGE);
  assert_int_equal(tct_mech_choose(mech, 1, score, TCT_FLIP_MOST + 1, &index, NULL), TCT_E_USAGE);
  assert_int_equal(index, -1);
  assert_int_equal(tct_mech_spent(mech)->len, 0);
  assert_int_equal(tct_mech_choose(mech, 1, score, TCT_FLIP_MOST, &index, NULL), TCT_OK);
  assert_int_equal(tct_mech_choose(mech, 0, score, TCT_FLIP_MOST + 1, &index, NULL), TCT_OK);
  tct_mech_free(mech);
}

/* 24 orders of 4, 24000 of them: each 1000 times but for 6 deviations. */
static void every_public_order_is_equally_likely(void **state) {
  (void)state;
  enum { MANY = 24000 };
  int seen[256] = {0}, kinds = 0;
  tct_mech *mech = gate_of(tct_event_gaussian(1, 1));
  for (uint64_t i = 0; i < MANY; i++) {
    int64_t order[4];
    tct_mech_shuffle(mech, i, order, 4);
    seen[order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6]++;
  }
  for (int k = 0; k < 256; k++) {
    kinds += seen[k] > 0;
    if (seen[k]) assert_true(abs(seen[k] - MANY / 24) <= 6 * sqrt(MANY / 24.0));
  }
  assert_int_equal(kinds, 24);
  tct_mech_free(mech);
}

/* A promise of at most so many leaves nothing over that would betray a batch which was drawn and never released. */
static void a_run_that_ends_with_an_open_batch_or_half_a_vector_has_not_spent_exactly(void **state) {
  (void)state;
  for (int vector = 0; vector < 2; vector++) {
    tct_promise promise = {.kind = TCT_PROMISE_AT_MOST};
    tct_release r = release_at(vector ? tct_event_gaussian(2, 2) : tct_event_sampled_gaussian(2, 0.5, 2), 1);
    tct_mech *mech = NULL;
    double number = 0;
    int64_t row[4], count;
    r.parts = vector ? 3 : 0;
    assert_int_equal(tct_promise_add(&promise, r, NULL), TCT_OK);
    assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
    assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
    tct_promise_free(&promise);
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    if (!vector) assert_int_equal(tct_mech_batch(mech, 0, 0, 4, row, &count, NULL), TCT_OK);
    for (int part = 0; part < (vector ? 3 : 1); part++) {
      if (part > 0 || !vector) assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_E_BUDGET);
      number = 0;
      assert_int_equal(tct_mech_release(mech, 0, &number, 1, NULL), TCT_OK);
    }
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    tct_mech_free(mech);
  }
}

/* What is not settled yet has no lattice: nothing of it may leave, and the promise does not cover it. */
static void a_release_without_its_length_is_not_allowed_whatever_it_is(void **state) {
  (void)state;
  tct_release later[3] = {release_at(tct_event_gaussian(2, 1), NAN), release_at(tct_event_exponential(0.5, 1), 1),
                          release_at(tct_event_sampled_gaussian(2, 0.5, 1), NAN)};
  for (int r = 0; r < 3; r++) later[r].follows = true, later[r].lattice = NAN;
  tct_mech *mech = gate_with(later, 3);
  double value[LEN] = {1, 2, 3}, before[LEN];
  int64_t index = -1, row[4], count;
  memcpy(before, value, sizeof value);
  for (int r = 0; r < 3; r++) assert_false(tct_mech_allows(mech, r));
  assert_int_equal(tct_mech_release(mech, 0, value, LEN, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_state_noise(mech, 0, value, LEN, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_choose(mech, 1, value, LEN, &index, NULL), TCT_E_BUDGET);
  assert_int_equal(tct_mech_batch(mech, 2, 0, 4, row, &count, NULL), TCT_OK);
  assert_int_equal(tct_mech_release(mech, 2, value, LEN, NULL), TCT_E_BUDGET);
  assert_memory_equal(value, before, sizeof value);
  assert_int_equal(index, -1);
  assert_int_equal(tct_mech_spent(mech)->len, 0);
  tct_mech_free(mech);
}

/* Two parties and, where noise is added to the opened sum, the server. */
static void a_joint_release_is_settled_once_all_have_drawn(void **state) {
  (void)state;
  for (int who = 0; who < 8; who++) {
    tct_release r = release_at(tct_event_gaussian(1, 1), 1);
    tct_mech *mech = gate_with(&r, 1);
    tct_release *joint = &mech->promise.release[0];
    joint->drawers = 2;
    mech->drawn[0][0] = who & 1, mech->drawn[0][1] = who & 2, mech->drawn[0][TCT_DRAWERS - 1] = who & 4;
    assert_int_equal(tct_joint_settled(mech, NULL), (who & 3) == 3 ? TCT_OK : TCT_E_BUDGET);
    joint->added = 0.5;
    assert_int_equal(tct_joint_settled(mech, NULL), who == 7 ? TCT_OK : TCT_E_BUDGET);
    joint->drawer = 1; /* the first party's own gate: it asks for its part alone */
    assert_int_equal(tct_joint_settled(mech, NULL), who & 1 ? TCT_OK : TCT_E_BUDGET);
    tct_mech_free(mech);
  }
}

/* user: how many of two releases are made. */
static tct_status spend_some(tct_mech *mech, void *user, tct_error *err) {
  for (int r = 0; r < *(const int *)user; r++) {
    double sum[LEN] = {0};
    TCT_TRY(tct_mech_release(mech, r, sum, LEN, err));
  }
  return TCT_OK;
}

/* A run that settles makes all that it promised; what its file says was spent is what was. */
static void a_run_that_settles_makes_every_release_that_it_promised(void **state) {
  (void)state;
  tct_promise promise = {0};
  for (int r = 0; r < 2; r++)
    assert_int_equal(tct_promise_add(&promise, release_at(tct_event_gaussian(1 + r, 1), 1), NULL), TCT_OK);
  assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
  for (int made = 0; made <= 3; made++)
    for (int settles = 0; settles < 2; settles++) {
      const tct_gate run = {.promise = &promise, .neighbours = TCT_ADD_REMOVE, .seed = &seed, .settles = settles};
      bool allowed = made == 2 || (made < 2 && !settles);
      tct_error err = {0};
      tct_status status = tct_gate_run(&run, spend_some, &made, &err);
      if (status != (allowed ? TCT_OK : TCT_E_BUDGET)) fail_msg("%d made, settles %d: %s", made, settles, err.text);
    }
  const tct_config seeded = {.has_seed = 1, .seed = 7}, drawn = {0}; /* a run's own settings always settle */
  const tct_gate own = tct_gate_of(&promise, TCT_ADD_REMOVE, &seeded);
  assert_true(own.settles && own.seed == &seeded.seed && !tct_gate_of(&promise, TCT_ADD_REMOVE, &drawn).seed);
  tct_promise_free(&promise);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_two_choices_share_their_randomness),
      cmocka_unit_test(a_tree_is_made_for_an_exponential_choice_that_is_planned_whole),
      cmocka_unit_test(a_tree_draws_for_the_epsilon_and_the_change_that_it_was_made_for),
      cmocka_unit_test(a_lattice_carries_the_longest_term_and_the_noise),
      cmocka_unit_test(a_promise_of_at_most_so_many_releases_is_used_up_and_may_be_left_unspent),
      cmocka_unit_test(a_refused_draw_leaves_its_vector_as_it_was),
      cmocka_unit_test(a_run_that_ends_with_an_open_batch_or_half_a_vector_has_not_spent_exactly),
      cmocka_unit_test(a_tree_of_no_or_too_many_candidates_is_none),
      cmocka_unit_test(releases_are_numbered_from_0_and_there_are_no_others),
      cmocka_unit_test(the_deviation_that_is_stated_is_that_of_the_law),
      cmocka_unit_test(a_choice_over_a_batch_is_made_under_add_remove_only),
      cmocka_unit_test(a_choice_among_none_or_too_many_is_refused_before_its_charge),
      cmocka_unit_test(every_public_order_is_equally_likely),
      cmocka_unit_test(a_joint_release_is_settled_once_all_have_drawn),
      cmocka_unit_test(a_run_that_settles_makes_every_release_that_it_promised),
      cmocka_unit_test(a_release_without_its_length_is_not_allowed_whatever_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
