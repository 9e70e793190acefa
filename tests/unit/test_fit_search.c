/* test_fit_search.c - a private search in one call: what it keeps for scores, which model wins, and what nobody learns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/number.h"
#include "model/model.h"
#include "sample.h"
#include "several/composition.h"
#include "short_ledger.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 1500, COLS = 3 };
static const double SHARE = 0.2;
static const uint64_t STEP = UINT64_C(0x9E3779B97F4A7C15);

static double values[ROWS * COLS], labels[ROWS];
static int32_t code[ROWS]; /* of three classes */

static tct_data *table(void) {
  tct_matrix x = {.rows = ROWS, .cols = COLS, .stride = COLS, .values = values, .layout = TCT_DENSE_ROWS};
  uint32_t state = 1;
  for (int i = 0; i < ROWS; i++) {
    double sum = 0;
    for (int j = 0; j < COLS; j++) {
      state = state * 1664525u + 1013904223u;
      sum += values[i * COLS + j] = (double)(state >> 8) / (1 << 24) - 0.5;
    }
    labels[i] = sum > 0.1 ? 1 : -1;
    code[i] = (int32_t)(sum > 0.2) + (int32_t)(sum > -0.2);
  }
  tct_error err = {0};
  tct_data *data = tct_data_view(&x, labels, TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) fail_msg("%s", err.text);
  return data;
}

static tct_composition *compose_by(const tct_config *const *at, size_t count, tct_search how, int64_t rows) {
  tct_error err = {0};
  tct_composition *made = tct_search_plan(at, count, &how, rows, COLS, &err);
  if (!made) fail_msg("%s", err.text);
  return made;
}

static tct_search tries_of(int64_t mean, bool persons) {
  tct_search how;
  tct_search_default(&how);
  how.tries = mean, how.held = SHARE, how.persons = persons;
  return how;
}

static tct_composition *compose_for(const char *const *solvers, size_t count, tct_search how) {
  tct_config config[4];
  const tct_config *at[4];
  for (size_t j = 0; j < count; j++) {
    tct_config_default(&config[j]);
    config[j].loss = "logistic", config[j].solver = solvers[j];
    config[j].penalty = "l2:lambda=1e-3";
    config[j].epsilon = 3, config[j].delta = 1e-5, config[j].row_norm = 1, config[j].threads = 1;
    at[j] = &config[j];
  }
  return compose_by(at, count, how, ROWS);
}

static tct_composition *compose(const char *const *solvers, size_t count, int64_t mean) {
  return compose_for(solvers, count, tries_of(mean, false));
}

/* Rows i with held[i] == wanted, as a table of their own. */
static tct_data *rows_of(const unsigned char *held, unsigned char wanted, double *x, double *y) {
  tct_matrix m = {.cols = COLS, .stride = COLS, .values = x, .layout = TCT_DENSE_ROWS};
  for (int i = 0; i < ROWS; i++)
    if (held[i] == wanted) {
      memcpy(x + m.rows * COLS, values + (size_t)i * COLS, COLS * sizeof *x);
      y[m.rows++] = labels[i];
    }
  return tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, NULL);
}

static tct_config seeded(uint64_t seed) {
  tct_config run;
  tct_config_default(&run);
  run.has_seed = 1, run.seed = seed, run.threads = 1;
  return run;
}

/* ---- the split ----------------------------------------------------------------------------------------------------
 */

static void draw(int64_t rows, double share, uint64_t seed, unsigned char *held) {
  assert_int_equal(tct_held_draw(rows, share, &seed, held, NULL), TCT_OK);
}

static void the_split_keeps_so_many_whatever_the_coins(void **state) {
  (void)state;
  static const struct {
    int64_t rows;
    double share;
    int64_t kept;
  } known[] = {{2, 0.01, 1}, {2, 0.99, 1}, {10, 0.25, 2}, {10, 0.35, 4}, {1001, 0.2, 200}, {5, 0.9999, 4}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    unsigned char held[1001] = {0}, again[1001] = {0};
    assert_int_equal(tct_held_count(known[k].rows, known[k].share), known[k].kept);
    for (uint64_t seed = 0; seed < 5; seed++) {
      int64_t count = 0;
      draw(known[k].rows, known[k].share, seed, held);
      draw(known[k].rows, known[k].share, seed, again);
      for (int64_t i = 0; i < known[k].rows; i++) count += held[i];
      assert_int_equal(count, known[k].kept);
      assert_memory_equal(held, again, 1001);
    }
  }
  assert_int_equal(tct_held_count(1, 0.5), -1);
  assert_int_equal(tct_held_count(10, 0), -1);
  assert_int_equal(tct_held_count(10, 1), -1);
  assert_int_equal(tct_held_count(10, NAN), -1);
}

/* Every place, and both places of every pair, are held out as often as in sampling without order: within 6 deviations.
 * No seed: other coins each time. */
static void the_split_prefers_no_place(void **state) {
  (void)state;
  enum { N = 6, KEPT = 2, DRAWS = 20000 };
  int one[N] = {0}, pair[N][N] = {{0}}, differ = 0;
  unsigned char held[N], last[N] = {0};
  for (int d = 0; d < DRAWS; d++) {
    assert_int_equal(tct_held_draw(N, (double)KEPT / N, NULL, held, NULL), TCT_OK);
    for (int i = 0; i < N; i++) one[i] += held[i];
    for (int i = 0; i < N * N; i++) pair[i / N][i % N] += held[i / N] && held[i % N];
    differ += memcmp(held, last, N) != 0;
    memcpy(last, held, N);
  }
  for (int i = 0; i < N * N; i++) {
    double part = i / N == i % N ? (double)KEPT / N : (double)KEPT * (KEPT - 1) / (N * (N - 1));
    assert_true(fabs(pair[i / N][i % N] - DRAWS * part) < 6 * sqrt(DRAWS * part * (1 - part)));
  }
  assert_true(differ > DRAWS / 2);
  assert_true(fabs(one[N - 1] - DRAWS / 3.0) < 6 * sqrt(DRAWS * 2.0 / 9));
}

/* ---- which try wins -----------------------------------------------------------------------------------------------
 */

/* Of a person's five rows the third and fourth count, and together a little less than they may: no part cuts them. */
enum { OF_PERSON = 5, MOST = 2 };
static double counts(int row) { return row % OF_PERSON == 2 || row % OF_PERSON == 3 ? 0.95 : 0; }

/* Of the rows with held[i] == wanted, all if held is NULL. */
static void weigh(tct_data *data, const unsigned char *held, unsigned char wanted) {
  double weight[ROWS];
  int64_t person[ROWS], at = 0;
  tct_error err = {0};
  for (int i = 0; i < ROWS; i++)
    if (!held || held[i] == wanted) weight[at] = counts(i), person[at++] = i / OF_PERSON;
  if (tct_data_weigh(data, weight, MOST, person, &err) != TCT_OK) fail_msg("%s", err.text);
}

/* The same search made of public calls, try by try: its winner, its score, and how often each setting ran. */
static int64_t by_hand(const tct_composition *c, bool persons, uint64_t seed, double *weights, double *best,
                       int *runs) {
  static double x[ROWS * COLS], y[ROWS], hx[ROWS * COLS], hy[ROWS];
  unsigned char held[ROWS];
  tct_error err = {0};
  int64_t tries = 0, winner = -1;
  static const char *const solvers[] = {"dpgd:steps=10", "dpgd:steps=10,clip=0.1", "dpmetric"};
  char *text = tct_composition_json(c, &err);
  json_t *root = json_loads(text, 0, NULL);
  tct_text_free(text);
  double fit[2], score[2];
  assert_int_equal(json_unpack(root, "{s:{s:F,s:F}, s:{s:F,s:F}}", "each", "epsilon", &fit[0], "delta", &fit[1],
                               "score", "epsilon", &score[0], "delta", &score[1]),
                   0);
  json_decref(root);
  draw(ROWS, SHARE, seed, held);
  tct_data *train = rows_of(held, 0, x, y), *rest = rows_of(held, 1, hx, hy);
  if (persons) weigh(train, held, 0), weigh(rest, held, 1);
  assert_int_equal(tct_draw_tries(8, &seed, &tries, &err), TCT_OK);
  *best = -INFINITY;
  for (int64_t k = 0; k < tries; k++) {
    double equal[3] = {0};
    int64_t j = -1;
    uint64_t own[3];
    for (int part = 0; part < 3; part++) own[part] = (seed + (uint64_t)(3 * k + part + 1) * STEP) & INT64_MAX;
    assert_int_equal(tct_choose(equal, 3, 1, 1, &own[0], &j, &err), TCT_OK);
    tct_config config = seeded(own[1]), budget = seeded(own[2]);
    config.loss = "logistic", config.penalty = "l2:lambda=1e-3", config.solver = solvers[j];
    config.epsilon = fit[0], config.delta = fit[1], config.row_norm = 1;
    budget.epsilon = score[0], budget.delta = score[1];
    tct_plan *plan = tct_plan_new(&config, tct_data_rows(train), COLS, &err);
    tct_model *model = tct_fit(plan, train, &err);
    if (!model) fail_msg("%s", err.text);
    text = tct_evaluate_json(model, rest, &budget, &err);
    root = json_loads(text, 0, NULL);
    const json_t *value = json_object_get(json_object_get(root, "accuracy"), "value");
    double found = json_is_number(value) ? json_number_value(value) : -INFINITY;
    if (found > *best) {
      *best = found, winner = j;
      memcpy(weights, tct_model_coefficients(model), COLS * sizeof *weights);
    }
    runs[j]++;
    json_decref(root);
    tct_text_free(text);
    tct_model_free(model);
    tct_plan_free(plan);
  }
  tct_data_free(train);
  tct_data_free(rest);
  return winner;
}

static void compare(bool persons) {
  static const char *const solvers[] = {"dpgd:steps=10", "dpgd:steps=10,clip=0.1", "dpmetric"};
  tct_data *data = table();
  if (persons) weigh(data, NULL, 0);
  tct_composition *c = compose_for(solvers, 3, tries_of(8, persons));
  int most = 0, several = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    double weights[COLS] = {0}, best = 0, score = 0;
    int runs[3] = {0};
    int64_t candidate = -1, want = by_hand(c, persons, seed, weights, &best, runs);
    tct_config run = seeded(seed);
    tct_error err = {0};
    tct_model *model = tct_fit_search(c, data, &run, &candidate, &score, &err);
    if (!model) fail_msg("%s", err.text);
    assert_int_equal(candidate, want);
    assert_true(score == best);
    assert_memory_equal(tct_model_coefficients(model), weights, sizeof weights);
    for (int j = 0; j < 3; j++) most = runs[j] > most ? runs[j] : most;
    several += runs[0] + runs[1] + runs[2] > 1;
    tct_model_free(model);
  }
  assert_true(most > 1 && several > 2); /* else nothing was compared */
  tct_composition_free(c);
  tct_data_free(data);
}

static void the_winner_is_the_best_of_all_tries_and_a_setting_that_is_drawn_twice_runs_twice(void **state) {
  (void)state;
  compare(false);
}

static void the_weights_of_persons_go_with_their_records_to_both_parts(void **state) {
  (void)state;
  compare(true);
}

/* ---- several classes ---------------------------------------------------------------------------------------------
 */

static tct_data *fruits(const unsigned char *held, unsigned char wanted, double *x, double *y) {
  static const char *const names[] = {"fig", "lime", "plum"};
  tct_matrix m = {.cols = COLS, .stride = COLS, .values = x, .layout = TCT_DENSE_ROWS};
  tct_error err = {0};
  for (int i = 0; i < ROWS; i++)
    if (!held || held[i] == wanted) {
      memcpy(x + m.rows * COLS, values + (size_t)i * COLS, COLS * sizeof *x);
      y[m.rows++] = code[i];
    }
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_CLASSES, NULL, NULL, &err);
  if (!data || tct_data_name_classes(data, names, 3, TCT_CLASS_TEXT, &err) != TCT_OK) fail_msg("%s", err.text);
  return data;
}

static double claim_of(const tct_composition *c, const char *of, const char *which) {
  tct_error err = {0};
  double value;
  char *text = tct_composition_json(c, &err);
  json_t *root = json_loads(text, 0, NULL);
  tct_text_free(text);
  value = json_number_value(json_object_get(of ? json_object_get(root, of) : root, which));
  json_decref(root);
  return value;
}

static tct_composition *compose_classes(tct_config *config, const char *loss, int64_t mean) {
  const tct_config *at = config;
  tct_config_default(config);
  config->loss = loss, config->solver = "dpgd:steps=10", config->penalty = "l2:lambda=1e-3";
  config->epsilon = 3, config->delta = 1e-5, config->row_norm = 1, config->threads = 1, config->classes = 3;
  return compose_by(&at, 1, tries_of(mean, false), ROWS);
}

static void at_most_half_a_percent_of_epsilon_is_left_over(void **state) {
  (void)state;
  static const double epsilons[] = {0.1, 1, 8}, shares[] = {0.05, 0.3, 0.5, 0.9};
  static const int64_t means[] = {1, 2, 7, 64, 1000, 10000};
  for (size_t i = 0; i < sizeof means / sizeof *means; i++)
    for (int k = 0; k < 15; k++) { /* records, and persons by these shares */
      tct_config config;
      const tct_config *at = &config;
      tct_search how = tries_of(means[i], k >= 3);
      if (!sample_turn((int64_t)i * 15 + k, 4)) continue;
      if (k >= 3) how.share = shares[k / 3 - 1];
      tct_config_default(&config);
      config.loss = "logistic", config.solver = "dpgd:steps=10", config.penalty = "l2:lambda=1e-3";
      config.epsilon = epsilons[k % 3], config.delta = 1e-6, config.row_norm = 1;
      tct_composition *made = compose_by(&at, 1, how, 100000);
      double whole = claim_of(made, NULL, "epsilon"), part = whole / config.epsilon;
      if (!(part <= 1 && part >= 0.995))
        fail_msg("%g of epsilon %g is used at %d tries, share %g", part, config.epsilon, (int)means[i], how.share);
      tct_composition_free(made);
    }
}

/* The first try with the weights that its fit by itself would have, and a file that holds. */
static void a_try_of_several_classes_is_one_fit_of_each_within_the_budget_of_the_try(void **state) {
  (void)state;
  static double x[ROWS * COLS], y[ROWS];
  unsigned char held[ROWS];
  tct_config config, run = seeded(5);
  tct_error err = {0};
  tct_data_free(table()); /* fills the records that fruits() picks from */
  tct_composition *c = compose_classes(&config, "logistic", 1);
  tct_data *all = fruits(NULL, 0, x, y);
  tct_model *found = tct_fit_search(c, all, &run, NULL, NULL, &err);
  if (!found) fail_msg("%s", err.text);
  tct_data_free(all);
  uint64_t state_of_fit = (5 + 2 * STEP) & INT64_MAX;
  config.has_seed = 1, config.seed = tct_split_mix(&state_of_fit) & INT64_MAX;
  config.epsilon = claim_of(c, "each", "epsilon"), config.delta = claim_of(c, "each", "delta");
  draw(ROWS, SHARE, 5, held);
  tct_data *train = fruits(held, 0, x, y);
  tct_plan *alone = tct_plan_new(&config, tct_data_rows(train), COLS, &err);
  tct_model *want = alone ? tct_fit(alone, train, &err) : NULL;
  if (!want) fail_msg("%s", err.text);
  assert_int_equal(found->models, 3);
  assert_memory_equal(tct_model_coefficients(found), tct_model_coefficients(want), 3 * COLS * sizeof(double));
  assert_string_equal(tct_model_class(found, 2), "plum");
  tct_model_free(want);
  tct_model_free(found);
  tct_plan_free(alone);
  tct_composition_free(c);
  tct_data_free(train);
}

static void the_file_of_a_search_of_several_classes_verifies_and_claims_all_their_fits(void **state) {
  (void)state;
  static double x[ROWS * COLS], y[ROWS];
  static const char *const losses[] = {"logistic", "softmax:classes=3"};
  tct_config config, run = seeded(2);
  tct_error err = {0};
  char file[] = "/tmp/tacit_tries_XXXXXX";
  assert_true(close(mkstemp(file)) == 0);
  tct_data_free(table()); /* fills the records that fruits() picks from */
  tct_data *all = fruits(NULL, 0, x, y);
  for (int k = 0; k < 2; k++) {
    tct_composition *c = compose_classes(&config, losses[k], 6);
    tct_model *model = tct_fit_search(c, all, &run, NULL, NULL, &err);
    if (!model || tct_model_write(model, file, &err) != TCT_OK) fail_msg("%s", err.text);
    char *verdict = tct_verify_json(file, NULL, NULL, NULL, NULL, NULL, &err), *text = tct_model_json(model, &err);
    json_t *root = json_loads(verdict, 0, NULL), *said = json_loads(text, 0, NULL);
    assert_true(json_is_true(json_object_get(root, "ok")));
    json_t *fit = json_array_get(json_object_get(json_object_get(said, "privacy"), "fits"), 0);
    assert_int_equal(json_integer_value(json_object_get(fit, "count")), k == 0 ? 3 : 1);
    assert_true(json_number_value(json_object_get(root, "epsilon")) == claim_of(c, NULL, "epsilon"));
    json_decref(root);
    json_decref(said);
    tct_text_free(verdict);
    tct_text_free(text);
    tct_model_free(model);
    tct_composition_free(c);
  }
  unlink(file);
  tct_data_free(all);
}

/* ---- what nobody learns -------------------------------------------------------------------------------------------
 */

/* What a caller's callbacks see of a search. */
typedef struct seen {
  int shown, asked;
} seen;

static void show(double fraction, void *user) {
  (void)fraction;
  ((seen *)user)->shown++;
}

static int go_on(void *user) {
  ((seen *)user)->asked++;
  return 0;
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the ledger's random texts, the lengths. */
static char *all_but_the_weights(const tct_model *model) {
  tct_error err;
  const char *key;
  json_t *value;
  char *text = tct_model_json(model, &err);
  json_t *root = json_loads(text, 0, NULL);
  tct_text_free(text);
  json_object_del(root, "coefficients");
  json_object_del(root, "intercept");
  json_t *ledger = json_object_get(json_object_get(root, "privacy"), "ledger");
  json_object_foreach(ledger, key, value) if (json_is_string(value))
      json_object_set_new(ledger, key, json_integer((json_int_t)json_string_length(value)));
  text = json_dumps(root, JSON_SORT_KEYS);
  json_decref(root);
  return text;
}

/* The first seed whose search has this many tries. */
static uint64_t seed_of_tries(int64_t mean, int64_t wanted) {
  tct_error err = {0};
  int64_t tries = 0;
  for (uint64_t seed = 1;; seed++)
    if (tct_draw_tries(mean, &seed, &tries, &err) == TCT_OK && tries == wanted) return seed;
}

static int64_t size_of(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 ? (int64_t)s.st_size : -1;
}

/* One search with a fresh ledger: its file but for the weights, and the length of the ledger. */
static char *one_search(const tct_composition *c, const tct_data *data, int64_t tries, int64_t *ledger_size) {
  tct_ledger_options options;
  tct_config run = seeded(seed_of_tries(20, tries));
  tct_error err = {0};
  seen s = {0};
  char folder[] = "/tmp/tacit_tries_XXXXXX", ledger[64];
  assert_non_null(mkdtemp(folder));
  snprintf(ledger, sizeof ledger, "%s/l.ledger", folder);
  tct_ledger_options_default(&options);
  options.epsilon = 4, options.delta = 1e-4, options.for_tests = 1;
  assert_int_equal(tct_ledger_make(ledger, &options, &err), TCT_OK);
  run.ledger = ledger, run.progress = show, run.cancel = go_on, run.user = &s;
  double began = seconds_now();
  tct_model *model = tct_fit_search(c, data, &run, NULL, NULL, &err);
  double took = seconds_now() - began;
  if (!model) fail_msg("%s", err.text);
  assert_int_equal(s.shown, 0);
  assert_in_range(s.asked, 1, (int)(took / 0.02) + 2); /* by the clock: steps alone would ask 200 times a try */
  *ledger_size = size_of(ledger);
  char *said = all_but_the_weights(model);
  tct_model_free(model);
  unlink(ledger);
  rmdir(folder);
  return said;
}

static void neither_a_file_nor_a_callback_tells_how_many_tries_there_were(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=200"};
  static const int64_t tries[] = {1, 40};
  tct_data *data = table();
  tct_composition *c = compose(solvers, 1, 20);
  int64_t size[2] = {0, 1};
  char *said[2];
  for (int k = 0; k < 2; k++) said[k] = one_search(c, data, tries[k], &size[k]);
  assert_string_equal(said[0], said[1]);
  assert_int_equal(size[0], size[1]);
  free(said[0]);
  free(said[1]);
  tct_composition_free(c);
  tct_data_free(data);
}

static int enough(void *user) { return ++*(int *)user > 0; }

static void a_search_that_is_cancelled_ends_and_was_asked_once(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=200"};
  tct_data *data = table();
  tct_composition *c = compose(solvers, 1, 20);
  tct_config run = seeded(seed_of_tries(20, 40));
  tct_error err = {0};
  int asked = 0;
  run.cancel = enough, run.user = &asked;
  assert_null(tct_fit_search(c, data, &run, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_CANCELLED);
  assert_int_equal(asked, 1);
  tct_composition_free(c);
  tct_data_free(data);
}

/* ---- the charge ---------------------------------------------------------------------------------------------------
 */

static double runs_and_spent(const char *ledger, size_t *runs) {
  tct_error err = {0};
  char *text = tct_ledger_json(ledger, &err);
  if (!text) fail_msg("%s", err.text);
  json_t *root = json_loads(text, 0, NULL);
  double spent = json_number_value(json_object_get(json_object_get(root, "spent"), "epsilon"));
  *runs = json_array_size(json_object_get(root, "runs"));
  json_decref(root);
  tct_text_free(text);
  return spent;
}

static void the_ledger_is_charged_once_with_the_whole_or_the_search_does_not_begin(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=10", "dpgd:steps=5"};
  tct_data *data = table();
  tct_composition *c = compose(solvers, 2, 6);
  tct_config run;
  tct_error err = {0};
  char folder[] = "/tmp/tacit_tries_XXXXXX", ledger[64], file[64];
  size_t runs = 9;
  assert_non_null(mkdtemp(folder));
  snprintf(ledger, sizeof ledger, "%s/l.ledger", folder);
  snprintf(file, sizeof file, "%s/m.json", folder);
  assert_int_equal(begin_ledger(ledger, NULL, "sum", TCT_ADD_REMOVE, 4, 1e-4, &err), TCT_OK);
  tct_config_default(&run);
  run.ledger = ledger, run.output = file, run.threads = 1;
  run.has_seed = 1; /* which this ledger takes from nobody */
  assert_null(tct_fit_search(c, data, &run, NULL, NULL, &err));
  assert_non_null(strstr(err.text, "seed"));
  assert_true(runs_and_spent(ledger, &runs) == 0 && runs == 0);
  run.has_seed = 0;
  tct_model *model = tct_fit_search(c, data, &run, NULL, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  double spent = runs_and_spent(ledger, &runs);
  assert_int_equal(runs, 1);
  assert_true(spent > 2.9 && spent <= 3);
  assert_int_equal(tct_model_write(model, file, &err), TCT_OK);
  char *verdict = tct_verify_json(file, NULL, ledger, NULL, NULL, NULL, &err);
  json_t *root = json_loads(verdict, 0, NULL);
  assert_true(json_is_true(json_object_get(root, "ok")));
  assert_true(json_number_value(json_object_get(root, "epsilon")) == spent);
  json_decref(root);
  tct_text_free(verdict);
  tct_model_free(model);
  assert_null(tct_fit_search(c, data, &run, NULL, NULL, &err)); /* 1 is left of 3 */
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_true(runs_and_spent(ledger, &runs) == spent && runs == 1);
  unlink(file);
  unlink(ledger);
  rmdir(folder);
  tct_composition_free(c);
  tct_data_free(data);
}

typedef struct onlooker {
  const char *ledger;
  size_t runs;
} onlooker;

/* Ends the search as soon as the ledger has it. */
static int once_charged(void *user) {
  onlooker *o = user;
  runs_and_spent(o->ledger, &o->runs);
  return o->runs > 0;
}

static tct_status ledger_for_tests(const char *path, tct_error *err) {
  tct_ledger_options options;
  tct_ledger_options_default(&options);
  options.epsilon = 20, options.delta = 1e-3, options.for_tests = 1;
  return tct_ledger_make(path, &options, err);
}

static void a_search_is_charged_before_its_tries_and_shows_the_ledger_every_row(void **state) {
  (void)state;
  static const char *const slow[] = {"dpgd:steps=400"}, *const quick[] = {"dpgd:steps=2"};
  char ledger[] = "/tmp/tacit_tries_XXXXXX";
  unsigned char held[ROWS];
  onlooker user = {ledger, 0};
  tct_data *data = table();
  tct_composition *c = compose(slow, 1, 20), *d = compose(quick, 1, 2);
  tct_config run = seeded(seed_of_tries(20, 40));
  tct_error err = {0};
  close(mkstemp(ledger));
  unlink(ledger);
  if (ledger_for_tests(ledger, &err) != TCT_OK) fail_msg("%s", err.text);
  run.ledger = ledger, run.cancel = once_charged, run.user = &user;
  assert_null(tct_fit_search(c, data, &run, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_CANCELLED);
  assert_int_equal(user.runs, 1);
  /* A row that scores alone is another one: that is changed input, as for a row to train on. */
  run.cancel = NULL;
  draw(ROWS, SHARE, run.seed, held);
  int64_t row = 0;
  while (!held[row]) row++;
  values[row * COLS] += 0.25;
  assert_null(tct_fit_search(d, data, &run, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  values[row * COLS] -= 0.25;
  tct_model *model = tct_fit_search(d, data, &run, NULL, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  tct_model_free(model);
  unlink(ledger);
  tct_composition_free(d);
  tct_composition_free(c);
  tct_data_free(data);
}

static void a_search_never_claims_more_than_its_budget_nor_with_less_delta(void **state) {
  (void)state;
  static const int64_t means[] = {1, 2, 3, 7, 30, 200};
  static const double budgets[] = {0.3, 1, 2.7, 8};
  for (int k = 0; k < 24; k++) {
    tct_config config;
    const tct_config *at = &config;
    tct_error err = {0};
    double epsilon = NAN, delta = 0;
    if (!sample_turn(k, 5)) continue;
    tct_config_default(&config);
    config.loss = "logistic", config.solver = k % 2 ? "dpgd:steps=7" : "dpgd:steps=90", config.row_norm = 1;
    config.epsilon = budgets[k % 4], config.delta = k % 3 ? 1e-5 : 1e-9;
    tct_composition *c = compose_by(&at, 1, tries_of(means[k / 4], false), 1000);
    char *text = tct_composition_json(c, &err);
    json_t *root = json_loads(text, 0, NULL);
    const char *event = json_string_value(json_array_get(json_object_get(root, "events"), 0));
    assert_int_equal(sscanf(event, "approx:epsilon=%lf,delta=%lf", &epsilon, &delta), 2);
    assert_true(json_number_value(json_object_get(root, "epsilon")) <= config.epsilon && epsilon <= config.epsilon);
    assert_true(delta >= config.delta * (1 - 1e-9) && delta <= config.delta);
    json_decref(root);
    tct_text_free(text);
    tct_composition_free(c);
  }
}

/* Facts that one candidate took from the data without paying stand in the winner's file, whichever it is. */
static void a_seeded_search_says_so_and_names_what_any_candidate_left_unpaid(void **state) {
  (void)state;
  tct_data *data = table();
  tct_config config[2], run = seeded(7);
  const tct_config *at[] = {&config[0], &config[1]};
  tct_error err = {0};
  bool won[2] = {false, false};
  for (int j = 0; j < 2; j++) {
    tct_config_default(&config[j]);
    config[j].loss = "logistic", config[j].solver = "dpgd:steps=4", config[j].scale = j ? "max-abs" : "none";
    config[j].epsilon = 3, config[j].delta = 1e-5, config[j].row_norm = 1;
  }
  int64_t winner;
  tct_composition *c = compose_by(at, 2, tries_of(3, false), ROWS);
  for (run.seed = 7; !(won[0] && won[1]); run.seed++) {
    tct_model *model = tct_fit_search(c, data, &run, &winner, NULL, &err);
    if (!model) fail_msg("%s", err.text);
    char *text = tct_model_json(model, &err);
    json_t *root = json_loads(text, 0, NULL), *privacy = json_object_get(root, "privacy");
    assert_string_equal(json_string_value(json_object_get(privacy, "noise")), "reproducible");
    assert_true(json_array_size(json_object_get(privacy, "unaccounted")) > 0);
    won[winner] = true;
    json_decref(root);
    tct_text_free(text);
    tct_model_free(model);
  }
  tct_composition_free(c);
  tct_data_free(data);
}

static void what_cannot_be_searched_is_refused_before_the_charge(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=10", "dpgd:steps=5"}, *const objpert[] = {"objpert"};
  tct_data *data = table(), *weighed = tct_data_relabel(data, NULL, TCT_LABELS_BINARY, NULL, 0, 0, NULL);
  tct_composition *c = compose(solvers, 2, 6), *other;
  tct_config run = seeded(1);
  tct_search how = tries_of(6, false);
  tct_error err = {0};
  weigh(weighed, NULL, 0);
  assert_null(tct_fit_search(c, weighed, &run, NULL, NULL, &err));
  assert_non_null(strstr(err.text, "another unit"));
  other = compose_for(objpert, 1, tries_of(6, true));
  assert_null(tct_fit_search(other, data, &run, NULL, NULL, &err));
  assert_non_null(strstr(err.text, "another unit"));
  assert_null(tct_fit_search(other, weighed, &run, NULL, NULL, &err));
  assert_non_null(strstr(err.text, "not a person's records together"));
  tct_composition_free(other);
  other = compose_for(solvers, 2, how);
  data->x.rows--;
  assert_null(tct_fit_search(other, data, &run, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  data->x.rows++;
  tct_composition_free(other);
  tct_composition_free(c);
  tct_data_free(weighed);
  tct_data_free(data);
}

/* ---- every setting once --------------------------------------------------------------------------------------------
 */

enum { ALL = 3 };

/* The same search made of its parts: fits, whole-number scores, and the choice. */
static int64_t all_by_hand(const tct_composition *c, const char *const *solvers, bool persons, uint64_t seed,
                           double *weights) {
  static double x[ROWS * COLS], y[ROWS], hx[ROWS * COLS], hy[ROWS];
  unsigned char held[ROWS];
  double score[ALL], of[ALL][COLS];
  int64_t index = -1;
  tct_error err = {0};
  draw(ROWS, SHARE, seed, held);
  tct_data *train = rows_of(held, 0, x, y), *rest = rows_of(held, 1, hx, hy);
  if (persons) weigh(train, held, 0), weigh(rest, held, 1);
  for (int j = 0; j < ALL; j++) {
    tct_config config = seeded((seed + (uint64_t)(j + 1) * STEP) & INT64_MAX);
    config.loss = "logistic", config.penalty = "l2:lambda=1e-3", config.solver = solvers[j], config.row_norm = 1;
    config.epsilon = claim_of(c, "each", "epsilon"), config.delta = claim_of(c, "each", "delta");
    tct_plan *plan = tct_plan_new(&config, tct_data_rows(train), COLS, &err);
    tct_model *model = tct_fit(plan, train, &err);
    if (!model || tct_predict(model, rest, hx, &err) != TCT_OK) fail_msg("%s", err.text);
    score[j] = 0;
    for (int64_t i = 0, at = 0; i < ROWS; i++)
      if (held[i]) {
        bool right = (hx[at] > 0) == (hy[at] > 0);
        double weight = persons ? fmin(counts((int)i) / MOST, 1) : 1;
        score[j] += persons ? floor((1 << 20) * weight * right) : right;
        at++;
      }
    memcpy(of[j], tct_model_coefficients(model), sizeof of[j]);
    tct_model_free(model);
    tct_plan_free(plan);
    tct_data_free(rest);
    rest = rows_of(held, 1, hx, hy);
    if (persons) weigh(rest, held, 1);
  }
  double change = persons ? 1 << 20 : 1;
  assert_int_equal(tct_choose(score, ALL, change, c->choice, &seed, &index, &err), TCT_OK);
  memcpy(weights, of[index], sizeof of[index]);
  tct_data_free(train);
  tct_data_free(rest);
  return index;
}

static void all_settings_are_fitted_once_and_one_is_chosen(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=10", "dpgd:steps=10,clip=0.1", "dpgd:steps=1"};
  bool won[ALL] = {false};
  for (int k = 0; k < 12; k++) {
    bool persons = k % 3 == 2;
    tct_search how = tries_of(50, persons);
    how.tries = 0;
    tct_data *data = table();
    if (persons) weigh(data, NULL, 0);
    tct_composition *c = compose_for(solvers, ALL, how);
    double weights[COLS] = {0}, score = 0;
    int64_t candidate = -1, want = all_by_hand(c, solvers, persons, (uint64_t)k, weights);
    tct_config run = seeded((uint64_t)k);
    tct_error err = {0};
    tct_model *model = tct_fit_search(c, data, &run, &candidate, &score, &err);
    if (!model) fail_msg("%s", err.text);
    assert_int_equal(candidate, want);
    assert_true(isnan(score)); /* it is exact, and nobody gets it */
    assert_memory_equal(tct_model_coefficients(model), weights, sizeof weights);
    won[want] = true;
    tct_model_free(model);
    tct_composition_free(c);
    tct_data_free(data);
  }
  assert_true(won[0] + won[1] + won[2] > 1);
}

/* Labels and predictions are cut to the public bound.  One record moves a score by no more than the choice is told, and
 * some record by nearly as much; a person's records together too. */
static void one_record_moves_a_whole_score_by_no_more_than_the_choice_is_told(void **state) {
  (void)state;
  static const char *const losses[] = {"logistic", "squared", "poisson:margin=2"};
  uint32_t random = 5;
  for (int k = 0; k < 3; k++) {
    double one[] = {1}, y[4], most = 0, worst = 0;
    tct_model m = {.version = 3, .loss = (char *)losses[k], .cols = 1, .coefficients = one, .scale = "none"};
    m.labels = k ? TCT_LABELS_REAL : TCT_LABELS_BINARY, m.label_bound = 3, m.label_shift = k == 1 ? -1 : 0;
    m.row_norm = NAN;
    assert_int_equal(tct_whole_score_most(&m, false, &most, NULL), TCT_OK);
    for (int t = 0; t < 600; t++) {
      double x[4], score[2];
      for (int i = 0; i < 4; i++) {
        random = random * 1664525u + 1013904223u;
        double size = ldexp(1, (int)(random >> 28) - 4);
        x[i] = ((random >> 8) % 2 ? 1 : -1) * size, y[i] = k                   ? ((random >> 9) % 2 ? size : -size)
                                                           : (random >> 9) % 2 ? 1
                                                                               : -1;
        if (k == 2) y[i] = fabs(y[i]);
      }
      tct_matrix rows = {.rows = 4, .cols = 1, .stride = 1, .values = x, .layout = TCT_DENSE_ROWS};
      tct_error err = {0};
      for (int turn = 0; turn < 2; turn++) {
        if (turn) rows.rows = 3; /* the last is taken away */
        tct_data *data = tct_data_view(&rows, y, k ? TCT_LABELS_REAL : TCT_LABELS_BINARY, NULL, NULL, &err);
        if (!data || tct_whole_score(&m, data, &score[turn], &err) != TCT_OK) fail_msg("%s", err.text);
        assert_true(score[turn] == floor(score[turn]));
        tct_data_free(data);
      }
      worst = fmax(worst, (score[0] - score[1]) / most);
      assert_true(score[0] >= score[1]);
    }
    assert_true(worst > 0.9 && worst <= 1);
    m.label_bound = NAN;
    assert_true((tct_whole_score_most(&m, false, &most, NULL) == TCT_OK) == (k == 0));
  }
}

static void choices_follow_the_exponential_law_and_take_whole_numbers_alone(void **state) {
  (void)state;
  static const double scores[] = {0, 1, 3}, odd[][2] = {{0.5, 1}, {1, NAN}, {0x1p60, 0}};
  double want[3], sum = 0;
  int drawn[3] = {0};
  int64_t index = -1;
  for (int j = 0; j < 3; j++) sum += want[j] = exp(scores[j] / 2);
  for (uint64_t seed = 0; seed < 4000; seed++) {
    assert_int_equal(tct_choose(scores, 3, 1, 1, &seed, &index, NULL), TCT_OK);
    drawn[index]++;
  }
  for (int j = 0; j < 3; j++) { /* within 5 deviations: a false alarm in 10^6 */
    double share = want[j] / sum;
    assert_true(fabs(drawn[j] - 4000 * share) < 5 * sqrt(4000 * share * (1 - share)));
  }
  assert_int_equal(tct_choose(scores, 3, 1, INFINITY, NULL, &index, NULL), TCT_OK);
  assert_int_equal(index, 2);
  for (int k = 0; k < 3; k++) assert_int_equal(tct_choose(odd[k], 2, 1, 1, NULL, &index, NULL), TCT_E_USAGE);
  assert_int_equal(tct_choose(scores, 0, 1, 1, NULL, &index, NULL), TCT_E_USAGE);
  assert_int_equal(tct_choose(scores, 3, 0, 1, NULL, &index, NULL), TCT_E_USAGE);
}

static void progress_of_all_settings_is_that_of_the_whole(double fraction, void *user) {
  double *last = user;
  assert_true(fraction >= *last && fraction <= 1);
  *last = fraction;
}

static void a_search_of_all_settings_shows_its_progress_and_can_be_cancelled(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=10", "dpgd:steps=10,clip=0.1"};
  tct_search how = tries_of(50, false);
  tct_data *data = table();
  tct_config run = seeded(3);
  tct_error err = {0};
  double last = 0;
  int asked = 0;
  how.tries = 0;
  tct_composition *c = compose_for(solvers, 2, how);
  run.progress = progress_of_all_settings_is_that_of_the_whole, run.user = &last;
  tct_model *model = tct_fit_search(c, data, &run, NULL, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  assert_true(last == 1);
  run.progress = NULL, run.cancel = enough, run.user = &asked;
  assert_null(tct_fit_search(c, data, &run, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_CANCELLED);
  tct_model_free(model);
  tct_composition_free(c);
  tct_data_free(data);
}

int main(void) {
  setenv("TACIT_REGISTRY", "none", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_split_keeps_so_many_whatever_the_coins),
      cmocka_unit_test(the_split_prefers_no_place),
      cmocka_unit_test(the_winner_is_the_best_of_all_tries_and_a_setting_that_is_drawn_twice_runs_twice),
      cmocka_unit_test(the_weights_of_persons_go_with_their_records_to_both_parts),
      cmocka_unit_test(at_most_half_a_percent_of_epsilon_is_left_over),
      cmocka_unit_test(a_try_of_several_classes_is_one_fit_of_each_within_the_budget_of_the_try),
      cmocka_unit_test(the_file_of_a_search_of_several_classes_verifies_and_claims_all_their_fits),
      cmocka_unit_test(neither_a_file_nor_a_callback_tells_how_many_tries_there_were),
      cmocka_unit_test(a_search_that_is_cancelled_ends_and_was_asked_once),
      cmocka_unit_test(the_ledger_is_charged_once_with_the_whole_or_the_search_does_not_begin),
      cmocka_unit_test(what_cannot_be_searched_is_refused_before_the_charge),
      cmocka_unit_test(a_search_is_charged_before_its_tries_and_shows_the_ledger_every_row),
      cmocka_unit_test(a_search_never_claims_more_than_its_budget_nor_with_less_delta),
      cmocka_unit_test(all_settings_are_fitted_once_and_one_is_chosen),
      cmocka_unit_test(one_record_moves_a_whole_score_by_no_more_than_the_choice_is_told),
      cmocka_unit_test(choices_follow_the_exponential_law_and_take_whole_numbers_alone),
      cmocka_unit_test(a_search_of_all_settings_shows_its_progress_and_can_be_cancelled),
      cmocka_unit_test(a_seeded_search_says_so_and_names_what_any_candidate_left_unpaid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
