/* test_selection.c - the best of a random number of private tries: its price against arithmetic of 40 digits and
 * against the exact law of what comes out, the law of the number of tries, and that a try's score is paid for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "account/account.h"
#include "account/selection.h"
#include "sample.h"
#include "several/composition.h"
#include "tacit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double price(const tct_event *event, int64_t mean, double delta) {
  tct_event at = *event;
  tct_events one = {&at, 1, 1};
  double epsilon = NAN;
  assert_int_equal(tct_selection_epsilon(&one, 1, TCT_ADD_REMOVE, mean, delta, &epsilon, NULL), TCT_OK);
  return epsilon;
}

/* ---- the number ------------------------------------------------------------------------------------------------- */

/* mpmath, 40 digits: the Gaussian profile, its epsilon at delta/mean, and twice the root of exp(e) = 1 + (mean-1) d(e).
 */
static void gaussian_tries_cost_what_forty_digits_say(void **state) {
  (void)state;
  static const struct {
    double noise, delta, epsilon;
    int64_t mean;
  } known[] = {{4, 1e-5, 1.8871617352515131, 50}, {40, 1e-6, 0.18631846805680354, 50},
               {1, 1e-5, 8.0672366048899078, 50}, {10, 1e-5, 0.34066936468432641, 1},
               {4, 1e-5, 1.5102621197157983, 10}, {0.5, 1e-8, 21.229684899597539, 200}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    tct_event e = tct_event_gaussian(known[i].noise, 1);
    double epsilon = price(&e, known[i].mean, known[i].delta);
    assert_true(epsilon >= known[i].epsilon && epsilon <= known[i].epsilon * (1 + 1e-7));
  }
}

static void it_is_never_below_one_try_and_rises_with_the_mean(void **state) {
  (void)state;
  const tct_event kinds[] = {tct_event_gaussian(3, 1), tct_event_sampled_gaussian(1, 0.01, 300),
                             tct_event_exponential(0.5, 1), tct_event_zcdp(0.01, 1), tct_event_objpert(4, 0.1, 1)};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tct_event own = kinds[i];
    tct_events one = {&own, 1, 1};
    tct_cost alone = {0};
    assert_int_equal(tct_account_epsilon(&one, TCT_ADD_REMOVE, 1e-5, TCT_PRECISION, &alone, NULL), TCT_OK);
    double before = price(&own, 1, 1e-5);
    assert_true(before >= alone.epsilon * (1 - 1e-12) && before <= alone.epsilon * (1 + 1e-4));
    for (int64_t mean = 2; mean <= 2000; mean *= 10) {
      double epsilon = price(&own, mean, 1e-5);
      assert_true(isfinite(epsilon) && epsilon >= before);
      before = epsilon;
    }
  }
}

static void of_several_settings_the_dearest_counts(void **state) {
  (void)state;
  tct_event cheap = tct_event_gaussian(10, 1), dear = tct_event_gaussian(3, 1);
  tct_events both[] = {{&cheap, 1, 1}, {&dear, 1, 1}};
  double epsilon = NAN;
  assert_int_equal(tct_selection_epsilon(both, 2, TCT_ADD_REMOVE, 50, 1e-6, &epsilon, NULL), TCT_OK);
  assert_true(epsilon == price(&dear, 50, 1e-6));
}

static void what_no_accountant_bounds_is_infinite(void **state) {
  (void)state;
  tct_event open = tct_event_approx(0.1, 1e-3, 1), silent = tct_event_gaussian(0, 1);
  assert_true(isinf(price(&open, 50, 1e-5)));
  assert_true(isinf(price(&silent, 50, 1e-5)));
  tct_events one = {&silent, 1, 1};
  double epsilon = 0;
  assert_int_equal(tct_selection_epsilon(&one, 1, TCT_ADD_REMOVE, 0, 1e-5, &epsilon, NULL), TCT_E_USAGE);
  assert_int_equal(tct_selection_epsilon(&one, 1, TCT_ADD_REMOVE, 50, 0, &epsilon, NULL), TCT_E_USAGE);
  assert_true(isinf(epsilon));
}

/* ---- the law of what comes out ------------------------------------------------------------------------------------
 */

static double lower_tail(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
/* The chance that the best of the tries is no better than a try with this chance F to be so. */
static double geometric(double f, double mean) { return f / mean / (1 - (1 - 1 / mean) * f); }
static double fixed(double f, double mean) { return pow(f, mean); }

/* Exact hockey-stick divergence at epsilon of the best score, where a try's score is N(0, 1) and N(mu, 1); up: the
 * second world comes first.  By masses between the points of a grid, whose sum is at most the divergence. */
static double divergence(double (*law)(double, double), double mean, double mu, double epsilon, bool up) {
  const double step = 4e-3;
  double sum = 0;
  for (double x = -9; x < 9; x += step) {
    double p = law(lower_tail(x + step), mean) - law(lower_tail(x), mean);
    double q = law(lower_tail(x + step - mu), mean) - law(lower_tail(x - mu), mean);
    sum += fmax(0, up ? q - exp(epsilon) * p : p - exp(epsilon) * q);
  }
  return sum;
}

static void the_exact_law_of_the_best_try_keeps_the_bound_and_a_fixed_number_of_tries_does_not(void **state) {
  (void)state;
  static const double noises[] = {1, 4, 12}, deltas[] = {1e-3, 1e-5};
  double closest = 0, fixed_most = 0;
  for (int i = 0; i < 3; i++)
    for (int d = 0; d < 2; d++)
      for (int64_t mean = 5; mean <= 500; mean *= 10) {
        tct_event e = tct_event_gaussian(noises[i], 1);
        double epsilon = price(&e, mean, deltas[d]);
        for (int up = 0; up < 2; up++) {
          double own = divergence(geometric, (double)mean, 1 / noises[i], epsilon, up);
          if (!(own <= deltas[d])) fail_msg("noise %g, mean %d: delta %g of %g", noises[i], (int)mean, own, deltas[d]);
          closest = fmax(closest, own / deltas[d]);
        }
        double single = price(&e, 1, deltas[d]); /* a fixed number of tries, charged as one try */
        fixed_most = fmax(fixed_most, divergence(fixed, (double)mean, 1 / noises[i], single, true) / deltas[d]);
      }
  print_message("the exact divergence is up to %.3g of delta; of fixed tries charged as one, %.3g\n", closest,
                fixed_most);
  assert_true(fixed_most > 10);
}

/* The exact epsilon is at least this part of the bound: a bound that forgot a factor would be below it. */
static void the_bound_is_within_twice_of_the_exact_law(void **state) {
  (void)state;
  tct_event e = tct_event_gaussian(4, 1);
  double bound = price(&e, 50, 1e-5), low = 0, high = bound;
  for (int k = 0; k < 12; k++) {
    double middle = 0.5 * (low + high),
           worst = fmax(divergence(geometric, 50, 0.25, middle, false), divergence(geometric, 50, 0.25, middle, true));
    if (worst > 1e-5)
      low = middle;
    else
      high = middle;
  }
  print_message("exact epsilon %.4f, bound %.4f\n", low, bound);
  assert_true(low >= 0.5 * bound && low <= bound);
}

/* ---- the number of tries -------------------------------------------------------------------------------------------
 */

static void the_number_of_tries_is_geometric(void **state) {
  (void)state;
  enum { DRAWS = 20000, MEAN = 4, CELLS = 12 };
  double seen[CELLS + 1] = {0}, statistic = 0, left = 1;
  for (uint64_t k = 0; k < DRAWS; k++) {
    int64_t tries = 0;
    uint64_t seed = k * k + 77 * k;
    assert_int_equal(tct_draw_tries(MEAN, &seed, &tries, NULL), TCT_OK);
    assert_true(tries >= 1);
    seen[tries <= CELLS ? tries - 1 : CELLS]++;
  }
  for (int c = 0; c <= CELLS; c++) {
    double chance = c < CELLS ? left / MEAN : left, expected = DRAWS * chance;
    statistic += (seen[c] - expected) * (seen[c] - expected) / expected;
    left -= chance;
  }
  assert_true(statistic < 60); /* chi-square of 12 degrees: 1e-7 */
}

static void one_try_on_average_is_one_try_and_seeds_repeat(void **state) {
  (void)state;
  int64_t tries = 0, again = 0;
  uint64_t seed = 5;
  assert_int_equal(tct_draw_tries(1, NULL, &tries, NULL), TCT_OK);
  assert_int_equal(tries, 1);
  assert_int_equal(tct_draw_tries(50, &seed, &tries, NULL), TCT_OK);
  assert_int_equal(tct_draw_tries(50, &seed, &again, NULL), TCT_OK);
  assert_int_equal(tries, again);
  tct_error err = {0};
  assert_int_equal(tct_draw_tries(0, NULL, &tries, &err), TCT_E_USAGE);
  assert_int_equal(tct_draw_tries(10001, NULL, &tries, &err), TCT_E_USAGE);
}

/* ---- the budget ----------------------------------------------------------------------------------------------------
 */

/* share: of persons; NAN: records. */
static tct_composition *compose_tries(const tct_config *const *at, size_t count, int64_t mean, double share,
                                      int64_t rows, tct_error *err) {
  tct_search how;
  tct_search_default(&how);
  how.tries = mean, how.share = share, how.persons = !isnan(share);
  return tct_search_plan(at, count, &how, rows, 6, err);
}

static json_t *composed(const char *const *solvers, size_t count, double epsilon, double share,
                        tct_composition **made) {
  tct_config config[4];
  const tct_config *at[4];
  tct_error err = {0};
  for (size_t j = 0; j < count; j++) {
    tct_config_default(&config[j]);
    config[j].loss = "logistic", config[j].penalty = "l2:lambda=0.01", config[j].solver = solvers[j];
    config[j].epsilon = epsilon, config[j].delta = 1e-5, config[j].row_norm = 1;
    at[j] = &config[j];
  }
  *made = compose_tries(at, count, 50, share, 4000, &err);
  if (!*made) fail_msg("%s", err.text);
  char *text = tct_composition_json(*made, &err);
  json_t *root = json_loads(text, 0, NULL);
  tct_text_free(text);
  return root;
}

/* The events of a fit, and of a person's try those of its score. */
static void events_of(const json_t *fit, const double *noise, tct_events *one) {
  json_t *list = json_object_get(fit, "events");
  tct_event event;
  for (size_t i = 0; i < json_array_size(list); i++) {
    assert_int_equal(tct_event_parse(json_string_value(json_array_get(list, i)), &event, NULL, NULL), TCT_OK);
    assert_int_equal(tct_events_add(one, event, NULL), TCT_OK);
  }
  if (noise) assert_int_equal(tct_events_add(one, tct_event_gaussian(*noise, 1), NULL), TCT_OK);
}

/* A person pays for both in one list; a record for fits or for scores, whichever cost more. */
static void a_try_pays_for_its_fit_and_its_score_and_the_whole_for_the_search(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=20", "dpmetric", "dpgd:steps=5", "objpert"};
  for (int k = 0; k < 6; k++) {
    tct_composition *made;
    if (!sample_turn(k, 3)) continue;
    bool persons = k % 2;
    double asked = 0.1 * pow(9, k / 2), proved = 0, scores = 0;
    json_t *root = composed(solvers, 4, asked, persons ? 0.3 : NAN, &made), *fit;
    const json_t *score = json_object_get(root, "score");
    double calibrated = 0, epsilon = json_number_value(json_object_get(root, "epsilon"));
    tct_selection plan;
    assert_true(tct_selection_parse(json_string_value(json_object_get(root, "choice")), &plan));
    assert_true(plan.mean == 50 && plan.rows == 4000 && plan.held == 0.2 && plan.fit == made->each);
    assert_true(persons ? plan.share == 0.3 : plan.epsilon == asked);
    tct_target target = {TCT_ADD_REMOVE, json_number_value(json_object_get(score, "epsilon")),
                         json_number_value(json_object_get(score, "delta"))};
    assert_int_equal(tct_calibrate_noise(1, 1, &target, &calibrated, NULL, NULL), TCT_OK);
    assert_true(plan.score == calibrated); /* what tct_evaluate_json draws with this budget */
    tct_events one[4] = {{0}};
    tct_event of_score = tct_event_gaussian(plan.score, 1);
    const tct_events alone = {&of_score, 1, 1};
    size_t j;
    json_array_foreach(json_object_get(root, "fits"), j, fit) events_of(fit, persons ? &plan.score : NULL, &one[j]);
    double delta = 1e-5 * (1 - 1e-12);
    assert_int_equal(tct_selection_epsilon(one, 4, TCT_ADD_REMOVE, 50, delta, &proved, NULL), TCT_OK);
    assert_int_equal(tct_selection_epsilon(&alone, 1, TCT_ADD_REMOVE, 50, delta, &scores, NULL), TCT_OK);
    assert_true(scores <= asked && proved <= asked && proved >= 0.98 * asked);
    if (!persons) assert_true(scores >= 0.995 * asked);
    proved = fmax(proved, scores);
    assert_true(fabs(proved - epsilon) <= 1e-9 * epsilon);
    for (j = 0; j < 4; j++) tct_events_free(&one[j]);
    json_decref(root);
    tct_composition_free(made);
  }
}

/* Whichever part is dearer is the price, under either relation; in one list both cost more. */
static void records_that_are_apart_pay_for_the_dearer_part(void **state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    tct_neighbours relation = k % 2 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    tct_event fit = tct_event_gaussian(k & 2 ? 3 : 9, 2), score = tct_event_gaussian(k & 4 ? 2 : 8, 1);
    const tct_events fits = {&fit, 1, 1}, scores = {&score, 1, 1};
    tct_tries tries = {&fits, 1, score.noise, 20, true};
    double epsilon, of_fits, of_scores;
    assert_int_equal(tct_selection_epsilon(&fits, 1, relation, 20, 1e-5, &of_fits, NULL), TCT_OK);
    assert_int_equal(tct_selection_epsilon(&scores, 1, relation, 20, 1e-5, &of_scores, NULL), TCT_OK);
    assert_int_equal(tct_tries_epsilon(&tries, relation, 1e-5, &epsilon, NULL), TCT_OK);
    assert_true(epsilon == fmax(of_fits, of_scores));
    tries.apart = false;
    assert_int_equal(tct_tries_epsilon(&tries, relation, 1e-5, &epsilon, NULL), TCT_OK);
    assert_true(epsilon > 1.001 * fmax(of_fits, of_scores) && epsilon <= of_fits + of_scores);
    tries.apart = true, tries.score = 0;
    assert_int_equal(tct_tries_epsilon(&tries, relation, 1e-5, &epsilon, NULL), TCT_OK);
    assert_true(isinf(epsilon)); /* a score that hides nothing */
  }
}

/* At epsilon 1 and delta 1e-6 a try of 50 has 0.61 for its fit and as much for its score; a single try all of it. */
static void a_try_of_records_has_most_of_what_is_asked_for(void **state) {
  (void)state;
  static const struct {
    int64_t mean;
    double least;
  } known[] = {{1, 0.995}, {50, 0.61}, {10000, 0.48}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    tct_config config;
    const tct_config *at = &config;
    tct_config_default(&config);
    config.loss = "logistic", config.solver = "dpgd:steps=10", config.epsilon = 1, config.delta = 1e-6;
    config.row_norm = 1;
    tct_composition *made = compose_tries(&at, 1, known[k].mean, NAN, 4000, NULL);
    assert_non_null(made);
    assert_true(made->each >= known[k].least && made->score_epsilon >= known[k].least);
    tct_composition_free(made);
  }
}

static void what_cannot_be_searched_is_refused_with_a_sentence(void **state) {
  (void)state;
  tct_config config;
  const tct_config *at = &config;
  tct_error err = {0};
  tct_config_default(&config);
  config.loss = "logistic", config.solver = "dpgd", config.epsilon = 1, config.delta = 1e-5, config.row_norm = 1;
  assert_null(compose_tries(&at, 1, -1, 0.3, 4000, &err));
  assert_non_null(strstr(err.text, "; "));
  assert_null(compose_tries(&at, 1, 50, 1, 4000, &err));
  assert_null(compose_tries(&at, 0, 50, 0.3, 4000, &err));
  tct_search how;
  tct_search_default(&how);
  how.share = 0.3; /* records have nothing to share */
  assert_null(tct_search_plan(&at, 1, &how, 4000, 6, &err));
  assert_non_null(strstr(err.text, "leave the share"));
  config.delta = 0;
  assert_null(compose_tries(&at, 1, 50, 0.3, 4000, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_non_null(strstr(err.text, "delta"));
}

/* Of two scores that differ by what one record can change, the larger is e^(epsilon/2) times as likely; to six
 * deviations. */
static void a_choice_follows_the_law_that_its_epsilon_pays_for(void **state) {
  (void)state;
  enum { TIMES = 20000 };
  static const double score[] = {0, 3};
  int64_t larger = 0, index;
  for (uint64_t seed = 1; seed <= TIMES; seed++) {
    uint64_t own = seed * UINT64_C(0x9e3779b97f4a7c15);
    assert_int_equal(tct_choose(score, 2, 3, 2, &own, &index, NULL), TCT_OK);
    larger += index;
  }
  double p = exp(1) / (1 + exp(1)), off = ((double)larger - TIMES * p) / sqrt(TIMES * p * (1 - p));
  if (!(fabs(off) < 6)) fail_msg("%lld of %d, %g deviations off", (long long)larger, TIMES, off);
}

/* The price of all fits and of the choice, as the accountants have it, is the claim at most and nearly that. */
static void a_search_of_all_settings_pays_for_every_fit_and_for_the_choice(void **state) {
  (void)state;
  static const char *const solvers[] = {"dpgd:steps=4", "dpsgd:batch=100,epochs=2", "dpgd:steps=9"};
  for (int relation = 0; relation < 2; relation++) {
    tct_config config[3];
    const tct_config *at[3] = {&config[0], &config[1], &config[2]};
    const char *events[64];
    tct_error err = {0};
    for (int j = 0; j < 3; j++) {
      tct_config_default(&config[j]);
      config[j].loss = "logistic", config[j].solver = solvers[j], config[j].epsilon = 1, config[j].delta = 1e-6;
      config[j].row_norm = 1, config[j].neighbours = relation;
    }
    tct_search how;
    tct_search_default(&how);
    how.tries = 0;
    tct_composition *made = tct_search_plan(at, 3, &how, 2500, 4, &err);
    if (!made) fail_msg("%s", err.text);
    char *plan = tct_composition_json(made, &err);
    json_t *root = json_loads(plan, 0, NULL), *list = json_object_get(root, "events");
    size_t count = json_array_size(list);
    assert_true(count >= 4 && count < 64);
    for (size_t i = 0; i < count; i++) events[i] = json_string_value(json_array_get(list, i));
    assert_non_null(strstr(events[count - 1], "exponential:epsilon=0.1"));
    char *account = tct_account_json(events, count, (tct_neighbours)relation, 1e-6, &err);
    json_t *cost = json_loads(account, 0, NULL);
    tct_text_free(plan);
    tct_text_free(account);
    double whole = json_number_value(json_object_get(cost, "epsilon"));
    if (!(whole <= 1 + 1e-9 && whole > 0.98)) fail_msg("the search costs %g", whole);
    json_decref(cost);
    json_decref(root);
    tct_composition_free(made);
    config[2].neighbours = !relation;
    assert_null(tct_search_plan(at, 3, &how, 2500, 4, &err));
    assert_int_equal(err.status, TCT_E_USAGE);
  }
}

/* Whoever verifies the model asks for the price again; equal ones count once. */
static void a_search_that_could_not_be_verified_is_refused_before_it_is_one(void **state) {
  (void)state;
  enum { COUNT = 8 };
  char solver[COUNT][40];
  tct_config config[COUNT];
  const tct_config *at[COUNT];
  tct_error err = {0};
  for (int refused = 0; refused < 2; refused++) {
    if (!sample_turn(refused, 2)) continue;
    for (int j = 0; j < COUNT; j++) {
      tct_config_default(&config[j]);
      snprintf(solver[j], sizeof solver[j], refused ? "dpsgd:epochs=%d" : "dpsgd:clip=0.%d", refused ? 60 + j : 1 + j);
      config[j].loss = "logistic", config[j].solver = solver[j];
      config[j].epsilon = 4, config[j].delta = 1e-6, config[j].row_norm = 1;
      at[j] = &config[j];
    }
    tct_composition *made = compose_tries(at, COUNT, 10, NAN, 30000, &err);
    if ((made == NULL) != refused) fail_msg("%d: %s", refused, err.text);
    if (refused) assert_non_null(strstr(err.text, "to verify the model of these 8 settings"));
    tct_composition_free(made);
  }
}

static void other_choices_are_not_taken_for_a_search(void **state) {
  (void)state;
  static const char *const wrong[] = {"exponential:epsilon=1",
                                      "selection:mean=50,score=2",
                                      "selection:mean=50,fit=-0.5,score=2,held=0.5,rows=100,epsilon=1",
                                      "selection:mean=50,score=2,held=0.5,rows=100,epsilon=1",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100",
                                      "selection:mean=50,fit=0.5,score=0,held=0.5,rows=100,epsilon=1",
                                      "selection:mean=0,fit=0.5,score=2,held=0.5,rows=100,epsilon=1",
                                      "selection:mean=50,fit=0.5,score=inf,held=0.5,rows=100,epsilon=1",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100,epsilon=nan",
                                      "selection:mean=50,fit=0.5,score=2,held=1,rows=100,epsilon=1",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=1,epsilon=1",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100,epsilon=1,more",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100,epsilon=1,share=0.5",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100,share=1",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100,share=nan",
                                      "selection:mean=50,fit=0.5,score=2,held=0.5,rows=100,budget=0.5",
                                      "selection:mean=20000,fit=0.5,score=2,held=0.5,rows=100,epsilon=1",
                                      "selection:mean= 50,fit=0.5,score=2,held=0.5,rows=100,epsilon=1",
                                      ""};
  static const double shares[] = {NAN, 0.25};
  tct_selection plan, again;
  char text[TCT_SELECTION_TEXT];
  for (int k = 0; k < 2; k++) {
    plan = (tct_selection){50, 4000, 0.3, 3.07, 0.2, k ? NAN : 0.7, shares[k]};
    tct_selection_text(&plan, text);
    assert_true(tct_selection_parse(text, &again));
    assert_true(again.mean == 50 && again.rows == 4000 && again.fit == 0.3 && again.score == 3.07 && again.held == 0.2);
    assert_true(k ? isnan(again.epsilon) && again.share == 0.25 : again.epsilon == 0.7 && isnan(again.share));
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (tct_selection_parse(wrong[i], &plan)) fail_msg("%s", wrong[i]);
  assert_false(tct_selection_parse(NULL, &plan));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaussian_tries_cost_what_forty_digits_say),
      cmocka_unit_test(it_is_never_below_one_try_and_rises_with_the_mean),
      cmocka_unit_test(of_several_settings_the_dearest_counts),
      cmocka_unit_test(what_no_accountant_bounds_is_infinite),
      cmocka_unit_test(the_exact_law_of_the_best_try_keeps_the_bound_and_a_fixed_number_of_tries_does_not),
      cmocka_unit_test(the_bound_is_within_twice_of_the_exact_law),
      cmocka_unit_test(the_number_of_tries_is_geometric),
      cmocka_unit_test(one_try_on_average_is_one_try_and_seeds_repeat),
      cmocka_unit_test(a_try_pays_for_its_fit_and_its_score_and_the_whole_for_the_search),
      cmocka_unit_test(records_that_are_apart_pay_for_the_dearer_part),
      cmocka_unit_test(a_try_of_records_has_most_of_what_is_asked_for),
      cmocka_unit_test(what_cannot_be_searched_is_refused_with_a_sentence),
      cmocka_unit_test(a_choice_follows_the_law_that_its_epsilon_pays_for),
      cmocka_unit_test(a_search_of_all_settings_pays_for_every_fit_and_for_the_choice),
      cmocka_unit_test(a_search_that_could_not_be_verified_is_refused_before_it_is_one),
      cmocka_unit_test(other_choices_are_not_taken_for_a_search),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
