/* test_gate_walk.c - every sequence of calls of the gate, up to a length, against a second gate of twenty lines.
 *
 * The walk knows of each call whether it must be refused, what it must charge, and that a refusal leaves the caller's
 * numbers and the streams alone.  It goes through fixed promises, promises of at most so many, and budgets; and through
 * the same sequences with the memory gone at any one call. */
#include "gate_help.h"
#include "mech/gate.h"

#include "core/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUM, SAMPLED, PARTS, CHOICE, DRAWN, FOLLOWS, RELEASES };
static const int64_t planned[RELEASES] = {2, 2, 1, 1, 1, 1};

typedef enum verb { RELEASE, OFF, LONG, CHOOSE, TREE, DRAW, BATCH, STATE, CLIP, BAD_CLIP, NOISE, VERBS } verb;
typedef struct call {
  verb verb;
  int r;
} call;

/* Those that may do something, and of each kind one that must not. */
static const call calls[] = {
    {RELEASE, SUM}, {RELEASE, SAMPLED},  {RELEASE, PARTS}, {RELEASE, CHOICE}, {RELEASE, DRAWN}, {RELEASE, FOLLOWS},
    {RELEASE, -1},  {OFF, SUM},          {LONG, PARTS},    {CHOOSE, CHOICE},  {CHOOSE, SUM},    {TREE, CHOICE},
    {DRAW, DRAWN},  {DRAW, SUM},         {BATCH, SAMPLED}, {BATCH, SUM},      {STATE, SUM},     {CLIP, FOLLOWS},
    {CLIP, SUM},    {BAD_CLIP, FOLLOWS}, {NOISE, SUM}};
enum { CALLS = sizeof calls / sizeof *calls };

/* The second gate. */
typedef struct model {
  bool fixed, clip;
  int64_t left[RELEASES], parts;
  int batch, vector;
  int64_t draws; /* streams that may have been opened */
} model;

static model model_new(bool fixed) {
  model m = {.fixed = fixed};
  memcpy(m.left, planned, sizeof planned);
  return m;
}

static bool take(model *m, int r) {
  m->vector = 0;
  if (m->left[r] < 1) return false;
  m->left[r]--, m->draws++;
  return true;
}

static bool may_release(model *m, call c) {
  if (c.r < 0 || c.r == CHOICE || c.r == DRAWN || (c.r == FOLLOWS && !m->clip) || c.verb != RELEASE) return false;
  if (m->batch != (c.r == SAMPLED ? SAMPLED + 1 : 0)) return false;
  if (c.r == PARTS) {
    if (m->parts && m->vector != PARTS + 1) return false;
    if (!m->parts) {
      if (!take(m, PARTS)) return false;
      m->vector = PARTS + 1, m->parts = 2;
    }
    m->parts--;
    return true;
  }
  if (!take(m, c.r)) return false;
  m->batch = 0;
  return true;
}

static bool may(model *m, call c) {
  switch (c.verb) {
    case CHOOSE:
    case TREE: return c.r == CHOICE && !m->batch && take(m, c.r);
    case DRAW: return c.r == DRAWN && !m->batch && take(m, c.r);
    case BATCH:
      if (m->batch || c.r != SAMPLED) return false;
      m->batch = SAMPLED + 1;
      return true;
    case STATE: return m->draws++, true;
    case CLIP:
    case BAD_CLIP:
      if (c.r != FOLLOWS) return false;
      m->clip = c.verb == CLIP;
      return m->clip;
    case NOISE: return false;
    default: return may_release(m, c);
  }
}

static bool may_end(const model *m) {
  int64_t left = 0;
  for (int r = 0; r < RELEASES; r++) left += m->left[r];
  return !m->batch && !m->parts && (!m->fixed || left == 0);
}

/* ---- the gate itself ---------------------------------------------------------------------------- */

/* What a caller holds; what a refusal must leave alone. */
typedef struct hands {
  double value[LEN];
  int64_t index, row[4], count;
} hands;

static const hands empty = {.value = {0}, .index = -1, .row = {-1, -1, -1, -1}, .count = -1};

static tct_status make(tct_mech *mech, tct_choice_tree *tree, call c, hands *h) {
  static const double score[LEN];
  switch (c.verb) {
    case OFF: h->value[0] = 1e-300; return tct_mech_release(mech, c.r, h->value, LEN, NULL);
    case RELEASE: return tct_mech_release(mech, c.r, h->value, c.r == PARTS ? 1 : LEN, NULL);
    case LONG: return tct_mech_release(mech, c.r, h->value, 2, NULL);
    case CHOOSE: return tct_mech_choose(mech, c.r, score, LEN, &h->index, NULL);
    case TREE: return tct_mech_tree_choose(mech, c.r, tree, &h->index, NULL);
    case DRAW: return tct_mech_draw(mech, c.r, h->value, LEN, NULL);
    case BATCH: return tct_mech_batch(mech, c.r, 0, 4, h->row, &h->count, NULL);
    case STATE: return tct_mech_state_noise(mech, c.r, h->value, LEN, NULL);
    case CLIP: return tct_mech_set_clip(mech, c.r, 2, NULL);
    case BAD_CLIP: return tct_mech_set_clip(mech, c.r, NAN, NULL);
    default: return tct_mech_set_noise(mech, c.r, 1, NULL);
  }
}

static int64_t spent_of(const tct_mech *mech, tct_event_kind kind, double noise) {
  int64_t sum = 0;
  const tct_events *spent = tct_mech_spent(mech);
  for (int64_t i = 0; i < spent->len; i++)
    if (spent->at[i].kind == kind && (kind == TCT_EV_EXPONENTIAL || spent->at[i].noise == noise))
      sum += spent->at[i].count;
  return sum;
}

static const struct {
  tct_event_kind kind;
  double noise;
} charged[RELEASES] = {[SUM] = {TCT_EV_GAUSSIAN, 2},   [SAMPLED] = {TCT_EV_SAMPLED_GAUSSIAN, 3},
                       [PARTS] = {TCT_EV_GAUSSIAN, 5}, [CHOICE] = {TCT_EV_EXPONENTIAL, 0},
                       [DRAWN] = {TCT_EV_OBJPERT, 2},  [FOLLOWS] = {TCT_EV_GAUSSIAN, 7}};

static void promise_of(tct_promise_kind kind, tct_promise *promise) {
  tct_release r[RELEASES] = {
      release_at(tct_event_gaussian(2, 2), 1),
      release_at(tct_event_sampled_gaussian(3, 0.5, 2), 1),
      release_at(tct_event_gaussian(5, 1), 1),
      release_at(tct_event_exponential(0.5, 1), 1),
      tct_release_draw("a tilt", tct_event_objpert(2, 0.1, 1), TCT_LAW_GAUSSIAN, 1, 2, 2, 0x1p-30),
      release_at(tct_event_gaussian(7, 1), NAN),
  };
  r[PARTS].parts = 2;
  r[FOLLOWS].follows = true;
  promise->kind = kind;
  for (int k = 0; k < RELEASES; k++) assert_int_equal(tct_promise_add(promise, r[k], NULL), TCT_OK);
  assert_int_equal(tct_promise_settle(promise, NULL), TCT_OK);
}

static void told(const int *step, int steps, const char *what) {
  char text[200] = "";
  for (int k = 0, at = 0; k < steps; k++)
    at += snprintf(text + at, sizeof text - (size_t)at, " %d:%d", (int)calls[step[k]].verb, calls[step[k]].r);
  fail_msg("after the calls (verb:release)%s: %s", text, what);
}

/* What holds after every call, whatever came of it. */
static const char *wrong(const tct_mech *mech, const model *m) {
  for (int r = 0; r < RELEASES; r++) {
    int64_t spent = spent_of(mech, charged[r].kind, charged[r].noise);
    if (spent > planned[r]) return "more was charged than was promised";
    if (spent != planned[r] - m->left[r]) return "the charges are not those of the calls";
  }
  if ((int64_t)mech->releases > m->draws) return "a stream was opened that nobody paid for";
  if ((tct_mech_spent_exactly(mech, NULL) == TCT_OK) != may_end(m)) return "the run's end is judged wrongly";
  return NULL;
}

/* Runs a sequence; at call `starved` there is no memory (-1: always enough). */
static void run(const tct_promise *promise, const int *step, int steps, int starved) {
  tct_mech *mech = NULL;
  tct_choice_tree *tree = NULL;
  model m = model_new(promise->kind == TCT_PROMISE_FIXED);
  assert_int_equal(tct_mech_new(promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  assert_int_equal(tct_mech_tree_new(mech, CHOICE, LEN, &tree, NULL), TCT_OK);
  for (int k = 0; k < steps; k++) {
    hands before = empty, after;
    model expected = m;
    before.value[0] = calls[step[k]].verb == OFF ? 1e-300 : 0;
    after = before;
    uint64_t streams = mech->releases, batches = mech->iterations;
    bool allowed = may(&expected, calls[step[k]]);
    if (k == starved) tct_alloc_fail_at_test(1);
    tct_status status = make(mech, tree, calls[step[k]], &after);
    tct_alloc_fail_at_test(0);
    bool failed = status == TCT_E_MEMORY && k == starved;
    if (failed) /* a charge that could not be written down: nothing left its place, but for a vector that ends */
      expected = m, expected.vector = 0;
    else if (allowed != (status == TCT_OK))
      told(step, k + 1, allowed ? "refused" : "allowed");
    if (status != TCT_OK) {
      if (memcmp(&before, &after, sizeof before) != 0) told(step, k + 1, "a refused call changed the caller's numbers");
      if (mech->releases != streams || mech->iterations != batches) told(step, k + 1, "a refused call drew");
    } else if (calls[step[k]].verb < CLIP && memcmp(&before, &after, sizeof before) == 0) {
      told(step, k + 1, "nothing was drawn");
    }
    m = expected;
    const char *why = wrong(mech, &m);
    if (why) told(step, k + 1, why);
  }
  tct_mech_tree_free(tree);
  tct_mech_free(mech);
}

/* All sequences of that length; with `starved`, each also with no memory at its last call. */
static void walk(tct_promise_kind kind, int length, bool starved) {
  tct_promise promise = {0};
  int step[8] = {0};
  promise_of(kind, &promise);
  for (bool more = true; more;) {
    run(&promise, step, length, starved ? length - 1 : -1);
    int k = 0;
    while (k < length && ++step[k] == CALLS) step[k++] = 0;
    more = k < length;
  }
  tct_promise_free(&promise);
}

static void no_sequence_of_calls_draws_what_a_fixed_promise_does_not_hold(void **state) {
  (void)state;
  walk(TCT_PROMISE_FIXED, 4, false);
}

static void no_sequence_of_calls_draws_what_a_promise_of_at_most_so_many_does_not_hold(void **state) {
  (void)state;
  walk(TCT_PROMISE_AT_MOST, 3, false);
}

static void a_charge_that_cannot_be_written_down_draws_nothing(void **state) {
  (void)state;
  tct_alloc_fail_at_test(1);
  void *memory = tct_alloc(1, 1);
  tct_alloc_fail_at_test(0);
  tct_free(memory);
  if (memory) {
    print_message("skipped: the library was built without fault injection (TCT_FAULTS)\n");
    skip();
  }
  for (int length = 1; length <= 3; length++) walk(TCT_PROMISE_AT_MOST, length, true);
}

/* ---- budgets -------------------------------------------------------------------------------------- */

/* Noise multipliers that a run may bring, and epsilons of its choices: the last three of each are none. */
static const double brought[] = {3, 1, 0.9, 0, -1, NAN, INFINITY};
enum { BROUGHT = sizeof brought / sizeof *brought };

/* rho of a Gaussian step, 1/(2 m^2), and of a choice, epsilon^2/8. */
static double rho_of(int r, double value) { return r == 0 ? 0.5 / (value * value) : value * value / 8; }

static void run_budget(const tct_promise *promise, const int *step, int steps) {
  static const double score[LEN];
  double budget = promise->filter.budget, spent = 0;
  tct_mech *mech = NULL;
  assert_int_equal(tct_mech_new(promise, TCT_ADD_REMOVE, &seed, &mech, NULL), TCT_OK);
  for (int k = 0; k < steps; k++) {
    int r = step[k] % 2;
    double value = brought[step[k] / 2], sum[LEN] = {0}, cost = rho_of(r, value);
    int64_t index = -1;
    bool sane = r == 0 ? value > 0 && isfinite(value) : value >= 0 && isfinite(value);
    bool set = tct_mech_set_noise(mech, r, value, NULL) == TCT_OK, covered = tct_mech_allows(mech, r);
    uint64_t streams = mech->releases;
    tct_status status =
        r == 0 ? tct_mech_release(mech, r, sum, LEN, NULL) : tct_mech_choose(mech, r, score, LEN, &index, NULL);
    bool fits = sane && spent + cost <= budget * (1 + 1e-12);
    if ((status == TCT_OK) != fits) fail_msg("step %d, value %g: %s", k, value, fits ? "refused" : "allowed");
    if (covered != fits || (fits && !set)) fail_msg("step %d, value %g: asked and done are two answers", k, value);
    if ((mech->releases != streams) != fits || (sum[0] != 0 || index >= 0) != fits)
      fail_msg("step %d, value %g: drawn and charged are two things", k, value);
    if (fits) spent += cost;
  }
  tct_mech_free(mech);
}

static void no_sequence_of_noises_spends_more_than_its_budget(void **state) {
  (void)state;
  tct_promise promise = {.kind = TCT_PROMISE_BUDGET};
  int step[4] = {0};
  tct_release r[2] = {release_at(tct_event_gaussian(1, 1), 1), release_at(tct_event_exponential(1, 1), 1)};
  for (int k = 0; k < 2; k++) {
    r[k].open = true, r[k].lattice = NAN;
    assert_int_equal(tct_promise_add(&promise, r[k], NULL), TCT_OK);
  }
  assert_int_equal(tct_filter_init(&promise.filter, TCT_FILTER_ZCDP, TCT_ADD_REMOVE, 6, 1e-6, NULL), TCT_OK);
  assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
  for (bool more = true; more;) {
    run_budget(&promise, step, 4);
    int k = 0;
    while (k < 4 && ++step[k] == 2 * BROUGHT) step[k++] = 0;
    more = k < 4;
  }
  tct_promise_free(&promise);
}

/* The amplification of a choice over a batch is proved for records that come and go: by a tree as by a list. */
static void a_tree_chooses_over_a_batch_under_add_remove_only(void **state) {
  (void)state;
  for (int relation = TCT_ADD_REMOVE; relation <= TCT_REPLACE_ONE; relation++) {
    tct_promise promise = {0};
    tct_mech *mech = NULL;
    tct_choice_tree *tree = NULL;
    int64_t row[4], count, index = -1;
    tct_release r = release_at(tct_event_exponential(0.5, 1), 1);
    r.rate = 0.5;
    r.event = tct_release_choice_event(&r);
    assert_int_equal(tct_promise_add(&promise, r, NULL), TCT_OK);
    assert_int_equal(tct_promise_settle(&promise, NULL), TCT_OK);
    assert_int_equal(tct_mech_new(&promise, (tct_neighbours)relation, &seed, &mech, NULL), TCT_OK);
    tct_promise_free(&promise);
    assert_int_equal(tct_mech_batch(mech, 0, 0, 4, row, &count, NULL), TCT_OK);
    assert_int_equal(tct_mech_tree_new(mech, 0, 4, &tree, NULL), TCT_OK);
    bool allowed = tct_mech_tree_choose(mech, 0, tree, &index, NULL) == TCT_OK;
    assert_int_equal(allowed, relation == TCT_ADD_REMOVE);
    assert_int_equal(index >= 0, allowed);
    assert_int_equal(tct_mech_spent(mech)->len, allowed);
    tct_mech_tree_free(tree);
    tct_mech_free(mech);
  }
}

/* A NaN would be chosen always or never, and no sensitivity is proved for either. */
static void a_score_that_is_no_number_is_refused_before_its_charge(void **state) {
  (void)state;
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  tct_mech *mech = gate_of(tct_event_exponential(0.5, 1));
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    double score[LEN] = {0, bad[k], 0};
    int64_t index = -1;
    assert_int_equal(tct_mech_choose(mech, 0, score, LEN, &index, NULL), TCT_E_BUDGET);
    assert_int_equal(index, -1);
    assert_int_equal(tct_mech_spent(mech)->len, 0);
  }
  tct_mech_free(mech);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_sequence_of_calls_draws_what_a_fixed_promise_does_not_hold),
      cmocka_unit_test(no_sequence_of_calls_draws_what_a_promise_of_at_most_so_many_does_not_hold),
      cmocka_unit_test(a_charge_that_cannot_be_written_down_draws_nothing),
      cmocka_unit_test(no_sequence_of_noises_spends_more_than_its_budget),
      cmocka_unit_test(a_tree_chooses_over_a_batch_under_add_remove_only),
      cmocka_unit_test(a_score_that_is_no_number_is_refused_before_its_charge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
