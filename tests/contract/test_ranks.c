/* test_ranks.c - a run over ranks: the bits of one process, one noise, one failure. */
#include "rank_part.h"
#include "worlds.h"

#include "la/exact/exact.h"
#include "mech/mech.h"
#include "read/table/data.h"
#include "thread_ranks.h"

enum { ROWS = 1500, COLS = 4 };

/* ---- one run ----------------------------------------------------------------------------------------------- */

typedef struct task {
  int rank;
  const tct_config *config;
  const tct_matrix *x;
  const double *y;
  const int64_t *rows; /* of each rank */
  double w[COLS + 1];
  tct_error err;
} task;

static void *run_rank(void *user) {
  task *t = user;
  self = t->rank;
  tct_team *team = tct_team_new(&t->err);
  tct_matrix whole = *t->x;
  tct_data *data = tct_data_view(&whole, t->y, TCT_LABELS_REAL, NULL, NULL, &t->err);
  tct_plan *plan = NULL;
  tct_model *model = NULL;
  if (team && data) {
    describe_part(data, team, t->rank, team_size, t->rows);
    data->labels = tct_config_labels(t->config);
    plan = tct_plan_new(t->config, tct_data_rank_rows(data, -1), COLS, &t->err);
  }
  if (plan) model = tct_fit(plan, data, &t->err);
  if (model) {
    memcpy(t->w, tct_model_coefficients(model), COLS * sizeof(double));
    t->w[COLS] = *tct_model_intercepts(model);
  }
  tct_model_free(model);
  tct_plan_free(plan);
  tct_data_free(data);
  tct_team_free(team);
  return NULL;
}

static void run_ranks(int ranks, const int64_t *rows, const tct_config *config, const records *r, task *out) {
  pthread_t thread[MOST_RANKS];
  tct_matrix x = records_matrix(r);
  team_size = ranks;
  for (int k = 0; k < ranks; k++) {
    out[k] = (task){.rank = k, .config = config, .x = &x, .y = r->y, .rows = rows};
    assert_int_equal(pthread_create(&thread[k], NULL, run_rank, &out[k]), 0);
  }
  for (int k = 0; k < ranks; k++) pthread_join(thread[k], NULL);
}

/* Every rank begins with a multiple of tct_rows_together(COLS); a rank may have nothing. */
static const int64_t cuts[][MOST_RANKS] = {{768, 732}, {256, 1024, 220}, {512, 0, 768, 220}, {1280, 220, 0, 0}};

static void same_bits(const char *loss, const char *penalty, const char *solver) {
  static task one[1], many[MOST_RANKS];
  records r = records_new(ROWS, COLS, 5);
  tct_config config = world_config(loss, penalty, solver);
  config.intercept = 1;
  int64_t all[] = {ROWS};
  run_ranks(1, all, &config, &r, one);
  if (one[0].err.status) fail_msg("%s %s %s: %s", solver, loss, penalty, one[0].err.text);
  for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
    int ranks = c == 0 ? 2 : c == 1 ? 3 : 4;
    run_ranks(ranks, cuts[c], &config, &r, many);
    for (int k = 0; k < ranks; k++) {
      if (many[k].err.status) fail_msg("%s: rank %d: %s", solver, k, many[k].err.text);
      if (memcmp(many[k].w, one[0].w, sizeof one[0].w) != 0)
        fail_msg("%s %s: cut %zu: rank %d differs", solver, loss, c, k);
    }
  }
  records_free(&r);
}

static void ranks_make_the_model_of_one_process_bit_for_bit(void **state) {
  (void)state;
  same_bits("logistic", "l2:lambda=0.01", "dpscd:epochs=3,batch=150");
  same_bits("squared", "l2:lambda=0.05", "dpscd:state=paper,epochs=2,batch=150,clip=0.1");
  same_bits("logistic", "l2:lambda=0.01", "dpsgd:epochs=3,batch=150");
  same_bits("huber", "l1:lambda=0.001", "dpcd:outer=2");
  same_bits("logistic", "none", "dpcd:order=greedy,outer=2,inner=5");
  same_bits("logistic", "none", "dpcd:smoothness=exact,outer=1");
  same_bits("logistic", "none", "dpagd");
  same_bits("hinge", "none", "dpagd:batch=300");
  same_bits("logistic", "l2:lambda=0.01", "objpert");
  same_bits("huber", "l2:lambda=0.05", "objpert");
  same_bits("logistic", "l2:lambda=0.01", "objpert:variant=chaudhuri");
  same_bits("logistic", "l2:lambda=0.01", "outpert");
  same_bits("logistic", "l1ball:radius=3", "dpfw:steps=15");
  same_bits("logistic", "l1ball:radius=3", "dpfw:steps=15,form=plain");
  same_bits("squared", "none", "dpgd:steps=10");
  same_bits("logistic", "l2:lambda=0.01", "dpnewton:steps=5");
  same_bits("squared", "l2:lambda=0.01", "dpmetric:steps=5");
  same_bits("hinge", "none", "dpmetric:steps=5,shape=diagonal");
  same_bits("squared", "l2:lambda=0.01", "adassp");
  same_bits("squared", "l2:lambda=0.01", "dpmoments:steps=5");
  same_bits("huber", "none", "dpmoments:steps=5");
  same_bits("logistic", "l2:lambda=0.001", "lbfgs");
}

static void every_solver_runs_on_ranks_or_refuses_them(void **state) {
  (void)state;
  static task many[MOST_RANKS];
  static const struct {
    const char *loss, *penalty, *solver;
  } refused[] = {{"logistic", "l2:lambda=0.01", "scd"},
                 {"logistic", "l2:lambda=0.01", "primaldpscd"},
                 {"logistic", "none", "sgd"}};
  records r = records_new(ROWS, COLS, 5);
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    tct_config config = world_config(refused[k].loss, refused[k].penalty, refused[k].solver);
    assert_false(tct_solver_find(refused[k].solver)->rows_apart);
    run_ranks(2, cuts[0], &config, &r, many);
    for (int rank = 0; rank < 2; rank++) {
      assert_int_equal(many[rank].err.status, TCT_E_USAGE);
      assert_non_null(strstr(many[rank].err.text, "all rows in one process"));
    }
  }
  records_free(&r);
}

/* ---- failures ------------------------------------------------------------------------------------------------ */

static int cancel_third(void *user) {
  (void)user;
  return self == 2;
}

static void one_rank_that_cancels_ends_all_ranks_with_one_error(void **state) {
  (void)state;
  static task many[MOST_RANKS];
  records r = records_new(ROWS, COLS, 5);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpsgd");
  config.cancel = cancel_third;
  run_ranks(3, cuts[1], &config, &r, many);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(many[k].err.status, TCT_E_CANCELLED);
    assert_string_equal(many[k].err.text, many[0].err.text);
  }
  records_free(&r);
}

static void the_error_of_the_lowest_failing_rank_is_everybodys(void **state) {
  (void)state;
  static task many[MOST_RANKS];
  records r = records_new(ROWS, COLS, 5);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "objpert");
  r.y[1000] = 0.5; /* not a class: found by the rank that holds it, while records are bounded */
  run_ranks(3, cuts[1], &config, &r, many);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(many[k].err.status, TCT_E_DATA);
    assert_string_equal(many[k].err.text, many[1].err.text);
  }
  records_free(&r);
}

/* ---- exact sums ------------------------------------------------------------------------------------------------ */

static void an_exact_sum_has_the_same_bits_in_any_order_and_the_stated_error(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static double x[COUNT];
  uint64_t seed = 3;
  for (int trial = 0; trial < 20; trial++) {
    double bound = ldexp(1, (int)(world_u64(&seed) % 200) - 100), sums[2][2] = {{0}};
    long double truth = 0;
    for (int k = 0; k < COUNT; k++) {
      x[k] = ldexp(bound * world_real(&seed), -(int)(world_u64(&seed) % 60));
      truth += (long double)x[k]; /* 64 digits: its own error is at most COUNT * bound * COUNT * 2^-64 */
    }
    tct_exact exact = tct_exact_for(bound, COUNT);
    for (int k = 0; k < COUNT; k++) tct_exact_add(&exact, &x[k], &sums[0][0], &sums[0][1], 1);
    for (int k = COUNT - 1; k >= 0; k--) tct_exact_add(&exact, &x[k], &sums[1][0], &sums[1][1], 1);
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    double off = (double)fabsl((long double)sums[0][0] + sums[0][1] - truth);
    assert_true(off <= COUNT * bound * (ldexp(1, 2 * 15 - 106) + COUNT * 0x1p-64));
  }
}

static void blocks_of_rows_fit_into_the_rows_of_a_rank(void **state) {
  (void)state;
  for (int64_t cols = 1; cols < 3000000; cols += 1 + cols / 50)
    for (int64_t p = cols; p <= cols + 1; p++) {
      assert_int_equal(tct_rows_together(cols) % tct_block_rows(p), 0);
      assert_int_equal(tct_rows_together(cols) % 256, 0);
      assert_true(tct_block_rows(p) >= 64 && tct_block_rows(p) <= 64 + p / 16);
    }
}

/* ---- one key ---- */

typedef struct keyed {
  int rank;
  tct_status status;
  uint64_t number;
} keyed;

/* Each rank comes with a key of its own, as without a seed. */
static void *join_with_another_key(void *user) {
  keyed *k = user;
  uint64_t seed = 100 + (uint64_t)k->rank;
  tct_promise promise = {0};
  tct_mech *mech = NULL;
  self = k->rank;
  tct_team *team = tct_team_new(NULL);
  k->status = tct_promise_add(&promise, tct_release_sum("a sum", tct_event_gaussian(1, 1), 1, 1, 10), NULL);
  if (k->status == TCT_OK) k->status = tct_promise_settle(&promise, NULL);
  if (k->status == TCT_OK) k->status = tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, NULL);
  if (k->status == TCT_OK) k->status = tct_mech_join_ranks(mech, team, NULL);
  if (k->status == TCT_OK) k->number = tct_mech_public(mech, 3, UINT64_MAX);
  tct_promise_free(&promise);
  tct_mech_free(mech);
  tct_team_free(team);
  return NULL;
}

enum { SUMS = 40 };
typedef struct joined {
  int rank;
  int64_t changes; /* how many sums this rank has changed */
  double total[SUMS];
  int64_t list[SUMS], count;
  tct_status status;
} joined;

/* Rank r changes the sums r, r + 3, ...; it holds r + 1 + j/64 of sum j. */
static void *join_what_has_changed(void *user) {
  joined *k = user;
  tct_promise promise = {0};
  tct_mech *mech = NULL;
  double part[SUMS];
  self = k->rank;
  tct_team *team = tct_team_new(NULL);
  k->status = tct_promise_add(&promise, tct_release_sum("a sum", tct_event_gaussian(1, 1), 1, 1, 10), NULL);
  if (k->status == TCT_OK) k->status = tct_promise_settle(&promise, NULL);
  if (k->status == TCT_OK) k->status = tct_mech_new(&promise, TCT_ADD_REMOVE, &(uint64_t){1}, &mech, NULL);
  if (k->status == TCT_OK) k->status = tct_mech_join_ranks(mech, team, NULL);
  for (int64_t j = 0; j < SUMS; j++) part[j] = k->rank + 1 + (double)j / 64, k->total[j] = -1;
  for (k->count = 0; k->count < k->changes; k->count++) k->list[k->count] = k->rank + 3 * k->count;
  if (k->status == TCT_OK) k->status = tct_mech_join_some(mech, part, k->total, SUMS, k->list, &k->count, NULL);
  tct_promise_free(&promise);
  tct_mech_free(mech);
  tct_team_free(team);
  return NULL;
}

/* Short lists are united, long ones give way to the whole vector: either way the totals of all that changed are right.
 */
static void the_totals_of_what_has_changed_on_any_rank_are_known_to_all(void **state) {
  (void)state;
  static const int64_t changes[][3] = {{1, 1, 1}, {2, 0, 3}, {0, 4, 0}, {3, 3, 3}, {13, 13, 12}, {13, 0, 0}, {0, 0, 0}};
  enum { TEAM = 3 };
  team_size = TEAM;
  for (size_t row = 0; row < sizeof changes / sizeof *changes; row++) {
    pthread_t thread[TEAM];
    static joined k[TEAM];
    int64_t sum = 0, expected = 0;
    bool changed[SUMS] = {false};
    for (int r = 0; r < TEAM; r++) {
      k[r] = (joined){.rank = r, .changes = changes[row][r]};
      for (int64_t j = 0; j < changes[row][r]; j++) changed[r + 3 * j] = true;
      sum += changes[row][r];
      assert_int_equal(pthread_create(&thread[r], NULL, join_what_has_changed, &k[r]), 0);
    }
    for (int r = 0; r < TEAM; r++) pthread_join(thread[r], NULL);
    for (int64_t j = 0; j < SUMS; j++) changed[j] = changed[j] || sum > SUMS / 4, expected += changed[j];
    for (int r = 0; r < TEAM; r++) {
      assert_int_equal(k[r].status, TCT_OK);
      assert_int_equal(k[r].count, expected);
      for (int64_t i = 1; i < k[r].count; i++) assert_true(k[r].list[i] > k[r].list[i - 1]);
      for (int64_t i = 0; i < k[r].count; i++) assert_true(changed[k[r].list[i]]);
      for (int64_t j = 0; j < SUMS; j++) assert_true(k[r].total[j] == (changed[j] ? 6 + 3 * (double)j / 64 : -1));
    }
  }
}

static void all_ranks_draw_from_the_key_of_the_first(void **state) {
  (void)state;
  uint64_t alone = 0;
  for (int ranks = 1; ranks <= 3; ranks++) {
    pthread_t thread[MOST_RANKS];
    keyed k[MOST_RANKS];
    team_size = ranks;
    for (int r = 0; r < ranks; r++) {
      k[r] = (keyed){.rank = r};
      assert_int_equal(pthread_create(&thread[r], NULL, join_with_another_key, &k[r]), 0);
    }
    for (int r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    if (ranks == 1) alone = k[0].number;
    for (int r = 0; r < ranks; r++) assert_true(k[r].status == TCT_OK && k[r].number == alone);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_make_the_model_of_one_process_bit_for_bit),
      cmocka_unit_test(every_solver_runs_on_ranks_or_refuses_them),
      cmocka_unit_test(one_rank_that_cancels_ends_all_ranks_with_one_error),
      cmocka_unit_test(the_error_of_the_lowest_failing_rank_is_everybodys),
      cmocka_unit_test(an_exact_sum_has_the_same_bits_in_any_order_and_the_stated_error),
      cmocka_unit_test(all_ranks_draw_from_the_key_of_the_first),
      cmocka_unit_test(the_totals_of_what_has_changed_on_any_rank_are_known_to_all),
      cmocka_unit_test(blocks_of_rows_fit_into_the_rows_of_a_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
