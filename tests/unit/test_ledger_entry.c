/* test_ledger_entry.c - a model against its entry, field by field; an overspent ledger; a run that lacks an event. */
#include "../fault/ledger_help.h"

#include "ledger/ledger.h"

#include <math.h>
#include <sqlite3.h>

/* ---- a model and its entry ------------------------------------------------------------------------------ */

static tct_events two_events(void) {
  tct_events events = {0};
  assert_int_equal(tct_events_add(&events, tct_event_gaussian(30, 2), NULL), TCT_OK);
  assert_int_equal(tct_events_add(&events, tct_event_laplace(50, 1), NULL), TCT_OK);
  return events;
}

typedef struct pair {
  tct_ledger ledger;
  tct_ledger_run run;
  tct_model model;
} pair;

static char fact[] = "a schema was drafted from the data", other_fact[] = "rows were counted";
static char head[] = "1234", other_head[] = "1235", id[] = "run", other_id[] = "ruin";

static char fits[] = "[{\"asked\": {\"loss\": \"logistic\", \"row_norm\": 1.0}, \"count\": 1}]";
static char wider[] = "[{\"asked\": {\"loss\": \"logistic\", \"row_norm\": 2.0}, \"count\": 1}]";
static char other_loss[] = "[{\"asked\": {\"loss\": \"hinge\", \"row_norm\": 1.0}, \"count\": 1}]";
static char five[] = "selection:mean=5,score=3", one[] = "selection:mean=1,score=3";
static char estimate[] = "{\"asked\": {\"spec\": \"bounds\"}, \"rest\": {\"epsilon\": 0.4}}";
static char other_estimate[] = "{\"asked\": {\"spec\": \"categories\"}, \"rest\": {\"epsilon\": 0.4}}";

/* The run was charged for this; the estimate's rest is not known then. */
static void charge_for(pair *p, char *choice, int estimated) {
  const tct_ledger_asked asked = {fits, choice, estimated ? "{\"asked\": {\"spec\": \"bounds\"}}" : NULL};
  assert_int_equal(tct_ledger_asked_digest(&asked, 0, 0, p->run.plan, NULL), TCT_OK);
  p->model.fits = fits, p->model.choice = choice, p->model.estimate = estimated ? estimate : NULL;
}

/* A run of a ledger of version 2, and the model that it made. */
static void pair_make(pair *p) {
  memset(p, 0, sizeof *p);
  p->run = (tct_ledger_run){.id = "run", .head = "1234", .epsilon = 0.5, .delta = 1e-6, .events = two_events()};
  p->run.unaccounted[0] = fact;
  p->ledger = (tct_ledger){.version = 2, .neighbours = TCT_ADD_REMOVE, .runs = &p->run, .len = 1};
  p->model.ledger_head = head;
  p->model.run_id = id;
  p->model.is_private = 1;
  p->model.neighbours = TCT_ADD_REMOVE;
  p->model.epsilon = 0.5;
  p->model.delta = 1e-6;
  p->model.events = two_events();
  p->model.unaccounted[0] = other_fact;
  p->model.unaccounted[1] = fact;
}

/* One difference between the two; 0: there are no more of them. */
static int differ(pair *p, int which) {
  tct_events *events = &p->model.events;
  switch (which) {
    case 0: p->model.ledger_head = other_head; return 1;
    case 1: p->model.is_private = 0; return 1;
    case 2: p->model.neighbours = TCT_REPLACE_ONE; return 1;
    case 3: p->model.epsilon = nextafter(0.5, 0); return 1;
    case 4: p->model.delta = nextafter(1e-6, 0); return 1;
    case 5: events->len = 1; return 1; /* the model has fewer events */
    case 6: p->run.events.len = 1; return 1;
    case 7: events->at[0].count = 1; return 1;
    case 8: events->at[1].noise = 49; return 1;
    case 9: p->model.persons = 1; return 1;
    case 10: p->ledger.unit = 1; return 1;
    case 11: p->model.reproducible = 1; return 1;
    case 12: p->run.seeded = 1; return 1;
    case 13: p->model.for_tests = 1; return 1;
    case 14: p->ledger.for_tests = 1; return 1;
    case 15: p->model.unaccounted[1] = NULL; return 1;
    case 16: p->run.unaccounted[1] = id; return 1;
    case 17: p->model.run_id = other_id; return 1;
    case 18: p->model.run_id = NULL; return 1;
    case 19: p->model.ledger_head = NULL; return 1;
    case 20: p->ledger.len = 0; return 1;
    case 21: events->at[1].kind = TCT_EV_GAUSSIAN; return 1;
    default: return 0;
  }
}

static void a_model_that_differs_from_its_entry_in_anything_is_not_in_the_ledger(void **state) {
  (void)state;
  pair p;
  char why[300];
  for (int which = -1;; which++) {
    pair_make(&p);
    int more = which < 0 || differ(&p, which);
    if (more) tct_ledger_find_entry(&p.ledger, &p.model, why, sizeof why);
    if (more && (why[0] == 0) != (which < 0)) fail_msg("difference %d: '%s'", which, why);
    tct_events_free(&p.model.events);
    tct_events_free(&p.run.events);
    if (!more) break;
  }
}

/* Nothing else tells these from what was charged: same events, same budget, same words about unit and noise. */
static int ask_otherwise(pair *p, int which) {
  charge_for(p, which == 5 ? NULL : five, which > 5);
  switch (which) {
    case 0: return 1;
    case 1: p->model.fits = wider; return 1;
    case 2: p->model.choice = one; return 1;
    case 3: p->model.choice = NULL; return 1; /* a search told as a fit */
    case 4: p->ledger.unit = 1, p->model.persons = 1; return 1;
    case 5: p->model.reproducible = p->run.seeded = 1; return 1;
    case 6: return 1;
    case 7: p->model.estimate = NULL; return 1;
    case 8: p->model.estimate = other_estimate; return 1;
    case 9: p->model.fits = other_loss; return 1;
    case 10: p->model.fits = NULL; return 1;
    default: return 0;
  }
}

static void a_model_of_what_was_not_asked_for_is_not_in_the_ledger(void **state) {
  (void)state;
  char why[300];
  pair p;
  for (int which = 0, more = 1; more; which++) {
    pair_make(&p);
    more = ask_otherwise(&p, which);
    tct_ledger_find_entry(&p.ledger, &p.model, why, sizeof why);
    int same = which == 0 || which == 6;
    if (more && (same ? why[0] != 0 : !strstr(why, "asked for"))) fail_msg("difference %d: '%s'", which, why);
    tct_events_free(&p.model.events);
    tct_events_free(&p.run.events);
  }
}

/* Recorded: another digest of the same would make every model of before look forged. */
static void the_digest_of_what_was_asked_for_is_the_one_that_older_ledgers_hold(void **state) {
  (void)state;
  static char shuffled[] = "[{\"count\": 1, \"asked\": {\"row_norm\": 1, \"loss\": \"logistic\"}}]";
  const struct {
    tct_ledger_asked asked;
    const char *text;
  } rows[] = {{{fits, five, NULL}, "asked:c12d4fc6bbfe1b44dd233b750425392da571a26ca1c0fadde470c4a8ef7e20d8"},
              {{shuffled, five, NULL}, "asked:c12d4fc6bbfe1b44dd233b750425392da571a26ca1c0fadde470c4a8ef7e20d8"},
              {{fits, NULL, estimate}, "asked:22777a86af1e4e113453c00c467e3278cc85610493db0762cc213245cb4d82af"}};
  char text[TCT_LEDGER_ASKED];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(tct_ledger_asked_digest(&rows[i].asked, 0, 0, text, NULL), TCT_OK);
    assert_string_equal(text, rows[i].text);
  }
}

/* Of a run that was charged by hand, or by a program before there was this digest, nothing is compared. */
static void a_run_without_a_digest_is_not_asked_for_one(void **state) {
  (void)state;
  static const char *const before[] = {"", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"};
  char why[300];
  for (int k = 0; k < 2; k++) {
    pair p;
    pair_make(&p);
    p.model.fits = fits;
    snprintf(p.run.plan, sizeof p.run.plan, "%s", before[k]);
    tct_ledger_find_entry(&p.ledger, &p.model, why, sizeof why);
    assert_string_equal(why, "");
    tct_events_free(&p.model.events);
    tct_events_free(&p.run.events);
  }
}

/* Ledgers of version 1 had neither units nor words about noise. */
static void an_old_ledger_is_not_asked_for_what_it_never_knew(void **state) {
  (void)state;
  static const int unknown[] = {9, 11};
  char why[300];
  for (int k = 0; k < 2; k++) {
    pair p;
    pair_make(&p);
    p.ledger.version = 1;
    assert_int_equal(differ(&p, unknown[k]), 1);
    tct_ledger_find_entry(&p.ledger, &p.model, why, sizeof why);
    assert_string_equal(why, "");
    tct_events_free(&p.model.events);
    tct_events_free(&p.run.events);
  }
}

/* ---- what may still be charged ---------------------------------------------------------------------------- */

static tct_ledger_promise promise_of(const tct_events *events, double epsilon, double delta) {
  return (tct_ledger_promise){.events = events, .epsilon = epsilon, .delta = delta, .neighbours = TCT_ADD_REMOVE};
}

/* The recorded run alone costs more than the whole budget, by any filter. */
static void an_overspent_ledger_permits_nothing_any_more(void **state) {
  (void)state;
  tct_event large = tct_event_gaussian(0.5, 1), small = tct_event_gaussian(1e5, 1);
  tct_events too_much = {&large, 1, 1}, little = {&small, 1, 1};
  for (int filter = TCT_FILTER_ZCDP; filter <= TCT_FILTER_SUM; filter++)
    for (int spent = 0; spent < 2; spent++) {
      tct_ledger_run run = {.epsilon = 12, .delta = 1e-6, .events = too_much};
      tct_ledger l = {.filter = (tct_filter_kind)filter, .epsilon = 1, .delta = 1e-5, .runs = &run, .len = spent};
      tct_ledger_state standing;
      tct_ledger_account account;
      tct_error err = {0};
      tct_ledger_promise p = promise_of(&little, 1e-4, 1e-7);
      assert_int_equal(tct_ledger_state_of(&l, &standing, NULL), TCT_OK);
      assert_int_equal(standing.overspent, spent);
      assert_int_equal(tct_ledger_permit(&l, &p, &standing, &err), spent ? TCT_E_BUDGET : TCT_OK);
      assert_int_equal(tct_ledger_account_of(&l, &account, NULL), TCT_OK);
      if (spent) assert_true(account.epsilon >= 1 && account.epsilon_left == 0 && account.spent >= account.budget);
      if (spent) assert_true(account.delta == (filter == TCT_FILTER_SUM ? 1e-6 : 1e-5));
      if (!spent) assert_true(account.epsilon == 0 && account.epsilon_left == 1 && account.spent == 0);
    }
}

static void what_cannot_be_charged_is_refused_whatever_is_left(void **state) {
  (void)state;
  tct_event event = tct_event_gaussian(100, 1);
  tct_events events = {&event, 1, 1}, none = {0};
  tct_ledger l = {.filter = TCT_FILTER_SUM, .epsilon = 1, .delta = 1e-5};
  const struct {
    const tct_events *events;
    double epsilon, delta;
    tct_neighbours neighbours;
    tct_status status;
  } rows[] = {
      {&events, 1, 1e-5, TCT_ADD_REMOVE, TCT_OK},
      {&events, 0.5, 0, TCT_ADD_REMOVE, TCT_OK},
      {&events, 0.5, 1e-6, TCT_REPLACE_ONE, TCT_E_BUDGET},
      {&none, 0.5, 1e-6, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, 0, 1e-6, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, INFINITY, 1e-6, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, NAN, 1e-6, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, 0.5, -1e-9, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, 0.5, 1, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, 0.5, NAN, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, 1 + 1e-12, 1e-6, TCT_ADD_REMOVE, TCT_E_BUDGET},
      {&events, 0.5, 1.0001e-5, TCT_ADD_REMOVE, TCT_E_BUDGET},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_ledger_state standing;
    tct_ledger_promise p = promise_of(rows[i].events, rows[i].epsilon, rows[i].delta);
    p.neighbours = rows[i].neighbours;
    assert_int_equal(tct_ledger_state_of(&l, &standing, NULL), TCT_OK);
    if (tct_ledger_permit(&l, &p, &standing, NULL) != rows[i].status) fail_msg("row %zu", i);
    assert_true(standing.epsilon == (rows[i].status == TCT_OK ? rows[i].epsilon : 0)); /* all or nothing */
  }
}

/* ---- a chain that is whole, of a run that is not ---------------------------------------------------------- */

/* Whoever knows the format takes the last event away and sets the head back: every hash agrees. */
static void a_run_that_lacks_an_event_is_seen_though_every_hash_agrees(void **state) {
  (void)state;
  static const char *const events[] = {"gaussian:noise=30", "laplace:noise=50"};
  static const char edit[] =
      "DELETE FROM events WHERE seq = (SELECT seq FROM head);"
      "UPDATE head SET seq = seq - 1, hash = (SELECT hash FROM events WHERE seq = (SELECT seq FROM head) - 1)";
  tct_error err = {0};
  sqlite3 *db = NULL;
  new_ledger(1, NULL);
  tct_text_free(charge_ledger("L", events, 2, TCT_ADD_REMOVE, 0.9, 1e-6, &err));
  assert_int_equal(count_runs(), 1);
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, edit, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  assert_null(tct_ledger_json("L", &err));
  assert_int_equal(err.status, TCT_E_DATA);
  assert_non_null(strstr(err.text, "lacks some of its events"));
}

/* Recorded: a ledger that was written by one version is read by the next. */
static void the_hash_of_a_row_is_the_one_that_older_ledgers_hold(void **state) {
  (void)state;
  static const struct {
    const char *row, *hash;
  } rows[] = {
      {"SELECT 7, 'a text', x'6120746578740a', 0.5, NULL, 'hash'",
       "41bffb046bfaf90df021cfdd57a4b6d939b60517944337c291acbc86e7c228e6"},
      {"SELECT 7, 'a text', 'a text' || char(10), 0.5, NULL, 'hash'",
       "074799f1cbd1cd3baabf3892a5a2f2b71414dd9faa94be27f9351bfa2b1c6ce2"},
      {"SELECT 8, 'a text', x'6120746578740a', 0.5, NULL, 'hash'",
       "6f42b5069e7f9c1f6a1bebbaf8c781994481f1f0ea3a5c893cfdbf5c659ec13b"},
      {"SELECT 7, 'a text', x'6120746578740a', 0.5, NULL, 'another'",
       "41bffb046bfaf90df021cfdd57a4b6d939b60517944337c291acbc86e7c228e6"},
  };
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    sqlite3_stmt *row = NULL;
    char hash[TCT_DIGEST_HEX];
    assert_int_equal(sqlite3_prepare_v2(db, rows[i].row, -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    tct_ledger_row_hash(row, "runs", "0123", hash);
    assert_int_equal(sqlite3_finalize(row), SQLITE_OK);
    assert_string_equal(hash, rows[i].hash);
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The plan's digest is what ties a run to its settings. */
static void the_ledgers_text_names_the_digest_of_a_runs_plan(void **state) {
  (void)state;
  tct_error err = {0};
  tct_config config;
  new_ledger(1, NULL);
  tct_config_default(&config);
  config.loss = "hinge", config.penalty = "l1:lambda=0.01", config.solver = "dpgd";
  config.epsilon = 0.5, config.delta = 1e-6, config.row_norm = 1, config.threads = 1, config.ledger = "L";
  tct_model *made = train_small(&config, &err);
  if (!made) fail_msg("%s", err.text);
  tct_model_free(made);
  char *text = tct_ledger_json("L", &err);
  json_t *root = json_loads(text, 0, NULL), *run = json_array_get(json_object_get(root, "runs"), 0);
  const char *plan = json_string_value(json_object_get(run, "plan"));
  assert_true(plan && strlen(plan) == TCT_LEDGER_ASKED - 1);
  json_decref(root);
  tct_text_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_that_differs_from_its_entry_in_anything_is_not_in_the_ledger),
      cmocka_unit_test(a_model_of_what_was_not_asked_for_is_not_in_the_ledger),
      cmocka_unit_test(a_run_without_a_digest_is_not_asked_for_one),
      cmocka_unit_test(the_digest_of_what_was_asked_for_is_the_one_that_older_ledgers_hold),
      cmocka_unit_test(an_old_ledger_is_not_asked_for_what_it_never_knew),
      cmocka_unit_test(an_overspent_ledger_permits_nothing_any_more),
      cmocka_unit_test(what_cannot_be_charged_is_refused_whatever_is_left),
      cmocka_unit_test(a_run_that_lacks_an_event_is_seen_though_every_hash_agrees),
      cmocka_unit_test(the_hash_of_a_row_is_the_one_that_older_ledgers_hold),
      cmocka_unit_test(the_ledgers_text_names_the_digest_of_a_runs_plan),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
