/* test_ledger.c - what a ledger permits under each filter, and what it says is left. */
#include "../fault/ledger_help.h"

#include "account/account.h"
#include "ledger/anchor.h"
#include "ledger/fingerprint.h"
#include "ledger/ledger.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

/* The status of one charge. */
static tct_status charge(const char *event, double epsilon, double delta) {
  tct_error err = {0};
  char *text = charge_ledger("L", &event, 1, TCT_ADD_REMOVE, epsilon, delta, &err);
  tct_text_free(text);
  return text ? TCT_OK : err.status;
}

static double ledger_number(const char *part, const char *key) {
  json_t *root = ledger_now();
  double value = number_at(root, part, key);
  json_decref(root);
  return value;
}

static void a_ledger_and_a_file_that_is_not_there_are_no_anchors(void **state) {
  (void)state;
  new_ledger(1, NULL);
  assert_int_equal(tct_anchor_kind("L"), 0);
  assert_int_equal(tct_anchor_kind("nowhere"), 0);
}

static void a_table_with_a_row_of_its_own_is_no_part_of_another(void **state) {
  (void)state;
  tct_print whole = {.rows = 3, .len = 3, .sketch = {20, 30, 40}}, part = {.rows = 2, .len = 2, .sketch = {20, 30}};
  assert_true(tct_print_is_part(&part, &whole));
  part.sketch[0] = 10;
  assert_false(tct_print_is_part(&part, &whole));
  part.sketch[0] = 20, part.sketch[1] = 35;
  assert_false(tct_print_is_part(&part, &whole));
}

static void ten_tenths_fill_a_budget_of_one_and_an_eleventh_is_refused(void **state) {
  (void)state;
  new_ledger(1, NULL);
  for (int i = 0; i < 10; i++) assert_int_equal(charge("pure:epsilon=0.1", 0.1, 1e-6), TCT_OK);
  assert_int_equal(charge("pure:epsilon=1e-9", 1e-9, 1e-9), TCT_E_BUDGET);
  assert_int_equal(count_runs(), 10);
  assert_true(fabs(ledger_number("spent", "epsilon") - 1) < 1e-12);
  assert_true(ledger_number("left", "epsilon") < 1e-12);
}

static void one_part_in_a_billion_too_much_is_refused(void **state) {
  (void)state;
  new_ledger(1, "sum");
  assert_int_equal(charge("pure:epsilon=0.5", 1.000000001, 1e-6), TCT_E_BUDGET);
  assert_int_equal(charge("pure:epsilon=0.5", 0.5, 1.00000001e-5), TCT_E_BUDGET); /* delta is a budget too */
  assert_int_equal(charge("pure:epsilon=0.5", 1, 1e-5), TCT_OK);
}

static void a_claim_below_the_events_cost_is_refused(void **state) {
  (void)state;
  new_ledger(10, "sum");
  assert_int_equal(charge("gaussian:noise=1", 0.5, 1e-6), TCT_E_USAGE);
  assert_int_equal(charge("gaussian:noise=0", NAN, 1e-6), TCT_E_USAGE);
  assert_int_equal(charge("gaussian:noise=1", NAN, 1e-6), TCT_OK);
  assert_true(fabs(ledger_number("spent", "epsilon") - 4.886554117) < 1e-7); /* exact curve */
  assert_int_equal(count_runs(), 1);
}

static void a_charge_without_a_delta_between_0_and_1_is_refused_for_that(void **state) {
  (void)state;
  static const char *const event = "gaussian:noise=30";
  static const double deltas[] = {-1e-6, 1, 1.5, INFINITY, NAN};
  new_ledger(100, NULL);
  for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
    tct_error err = {0};
    assert_null(charge_ledger("L", &event, 1, TCT_ADD_REMOVE, 1, deltas[i], &err));
    assert_int_equal(err.status, TCT_E_USAGE);
    assert_non_null(strstr(err.text, "delta in [0, 1)"));
  }
  assert_int_equal(count_runs(), 0);
}

/* What a user reads before the next run: each filter's own accountant on the events, and the list's exact cost. */
static void spent_and_left_are_what_the_filter_counts(void **state) {
  (void)state;
  static const char *const filters[] = {"sum", "zcdp", "gdp"};
  tct_event event = tct_event_gaussian(30, 2);
  tct_events events = {&event, 1, 1};
  for (int i = 0; i < 3; i++) {
    tct_error err = {.status = TCT_E_USAGE};
    tct_bracket own = {0.5, 0.5}, exact;
    new_ledger(4, filters[i]);
    assert_int_equal(charge("gaussian:noise=30,count=2", 0.5, 1e-6), TCT_OK);
    json_t *root = parsed(tct_ledger_json("L", &err), &err);
    assert_int_equal(err.status, TCT_OK); /* not that of a call before */
    const tct_accountant *counted = tct_accountant_find(filters[i]), *gdp = tct_accountant_find("gdp");
    assert_true(i == 0 || counted);
    if (i) assert_int_equal(counted->epsilon(&events, TCT_ADD_REMOVE, 1e-5, 1e-6, &own, &err), TCT_OK);
    assert_int_equal(gdp->epsilon(&events, TCT_ADD_REMOVE, 1e-5, 1e-6, &exact, &err), TCT_OK);
    assert_true(fabs(number_at(root, "spent", "epsilon") - own.upper) <= 1e-5 * own.upper);
    assert_true(fabs(number_at(root, "left", "epsilon") - (4 - own.upper)) <= 1e-5);
    assert_true(fabs(number_at(root, "left", "delta") - (i ? 1e-5 : 9e-6)) <= 1e-12);
    assert_true(fabs(number_at(root, "information", "epsilon") - exact.upper) <= 2e-3 * exact.upper);
    json_decref(root);
  }
}

static void the_relation_must_be_the_ledgers(void **state) {
  (void)state;
  tct_error err = {0};
  static const char *const event[] = {"gaussian:noise=30"};
  new_ledger(1, NULL);
  assert_null(charge_ledger("L", event, 1, TCT_REPLACE_ONE, 0.5, 1e-6, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
}

/* Charges until refused, as often as was said after each; how many passed, and the whole list's exact cost, which must
 * be within the budget. */
static int fill(const char *filter, const char *event, double delta) {
  int passed = 0;
  new_ledger(1, filter);
  double more = NAN; /* said after the run before */
  for (; passed < 1000 && charge(event, NAN, delta) == TCT_OK; passed++) {
    double next = ledger_number("left", "runs");
    assert_true(passed == 0 || next == more - 1);
    more = next;
  }
  assert_true(more == 0);
  assert_true(ledger_number("information", "epsilon") <= 1 + 1e-9);
  assert_true(ledger_number("spent", "epsilon") <= 1 + 1e-6);
  return passed;
}

static void filters_of_gaussian_runs_permit_more_than_the_plain_sum(void **state) {
  (void)state;
  int sum = fill("sum", "gaussian:noise=30", 1e-7);
  int zcdp = fill("zcdp", "gaussian:noise=30", 1e-7);
  int gdp = fill("gdp", "gaussian:noise=30", 1e-7);
  int rdp = fill("rdp", "gaussian:noise=30", 1e-7), mixed = fill(NULL, "gaussian:noise=30", 1e-7);
  print_message("runs of gaussian:noise=30 within epsilon 1: sum %d, zcdp %d, gdp %d, rdp %d, mixed %d\n", sum, zcdp,
                gdp, rdp, mixed);
  assert_true(sum < rdp && rdp <= zcdp && zcdp < mixed && mixed < gdp);
  /* mu^2 = k/900; epsilon(mu) at 1e-5 reaches 1 at mu = 0.2680, found with the exact curve */
  assert_int_equal(gdp, 64);
}

static void a_filter_refuses_events_that_it_cannot_add_up(void **state) {
  (void)state;
  new_ledger(5, "gdp");
  assert_int_equal(charge("laplace:noise=30", NAN, 1e-6), TCT_E_BUDGET);
  assert_int_equal(charge("sampled_gaussian:noise=30,rate=0.1", NAN, 1e-6), TCT_E_BUDGET);
  new_ledger(5, "rdp");
  assert_int_equal(charge("approx:epsilon=0.1,delta=1e-8", NAN, 1e-6), TCT_E_BUDGET);
  assert_int_equal(charge("sampled_gaussian:noise=30,rate=0.1", NAN, 1e-6), TCT_OK);
  new_ledger(5, "sum"); /* takes every run */
  assert_int_equal(charge("approx:epsilon=0.1,delta=1e-8", NAN, 1e-6), TCT_OK);
  assert_int_equal(charge("sampled_gaussian:noise=30,rate=0.1", NAN, 1e-6), TCT_OK);
}

static void sampled_runs_gain_by_the_filter_of_renyi_orders(void **state) {
  (void)state;
  static const char event[] = "sampled_gaussian:noise=2,rate=0.01,count=100";
  int sum = fill("sum", event, 1e-7), rdp = fill("rdp", event, 1e-7);
  print_message("runs of %s within epsilon 1: sum %d, rdp %d\n", event, sum, rdp);
  assert_true(rdp > 2 * sum && sum >= 1);
}

static void settings_that_mean_nothing_make_no_ledger(void **state) {
  (void)state;
  tct_error err = {0};
  char name[300];
  memset(name, 'a', sizeof name);
  name[299] = 0;
  unlink("L");
  static const double budget[][2] = {{0, 1e-5}, {-1, 1e-5}, {INFINITY, 1e-5}, {NAN, 1e-5}, {1, 1}, {1, -1}, {1, NAN}};
  for (size_t i = 0; i < sizeof budget / sizeof *budget; i++)
    assert_int_equal(begin_ledger("L", "", NULL, 0, budget[i][0], budget[i][1], &err), TCT_E_USAGE);
  assert_int_equal(begin_ledger("L", "", "best", 0, 1, 1e-5, &err), TCT_E_USAGE);
  assert_int_equal(begin_ledger("L", "", "zcdp", 0, 1, 0, &err), TCT_E_USAGE);
  assert_int_equal(begin_ledger("L", "", NULL, 7, 1, 1e-5, &err), TCT_E_USAGE);
  assert_int_equal(begin_ledger("L", name, NULL, 0, 1, 1e-5, &err), TCT_E_USAGE);
  assert_int_equal(begin_ledger("L", "\xff\xfe", NULL, 0, 1, 1e-5, &err), TCT_E_USAGE);
  assert_int_not_equal(access("L", F_OK), 0);
  new_ledger(1, NULL);
  assert_int_equal(begin_ledger("L", "", NULL, 0, 2, 1e-5, &err), TCT_E_USAGE); /* a second budget for one file */
  assert_true(ledger_number(NULL, "epsilon") == 1);
}

static void another_file_is_no_ledger(void **state) {
  (void)state;
  tct_error err = {0};
  FILE *out = fopen("L", "w");
  assert_non_null(out);
  for (int i = 0; i < 1000; i++) fprintf(out, "%d,%d\n", i, i);
  fclose(out);
  assert_null(tct_ledger_json("L", &err));
  assert_int_equal(err.status, TCT_E_DATA);
  assert_int_equal(charge("pure:epsilon=0.1", 0.1, 1e-6), TCT_E_DATA);
  assert_int_not_equal(begin_ledger("L", "", NULL, 0, 1, 1e-5, &err), TCT_OK);
}

/* The verdict of a check, and what err says. */
static void check_says(const char *model, const char *verdict, tct_status status) {
  tct_error err = {0};
  json_t *root = parsed(tct_ledger_check_json("L", &model, model ? 1 : 0, &err), &err);
  assert_string_equal(json_string_value(json_object_get(root, "verdict")), verdict);
  assert_true(json_is_true(json_object_get(root, "ok")) == (status == TCT_OK));
  assert_int_equal(err.status, status);
  assert_true((status == TCT_OK) == !err.text[0]);
  json_decref(root);
}

static void a_check_says_whether_a_ledger_is_sound_contradicted_or_damaged(void **state) {
  (void)state;
  new_ledger(1, NULL);
  assert_int_equal(charge("pure:epsilon=0.1", 0.1, 1e-6), TCT_OK);
  check_says(NULL, "sound", TCT_OK);
  check_says("nobody.json", "contradicted", TCT_E_DATA);
  FILE *out = fopen("L", "w");
  assert_non_null(out);
  for (int i = 0; i < 1000; i++) fprintf(out, "%d,%d\n", i, i);
  fclose(out);
  check_says(NULL, "damaged", TCT_E_DATA);
}

/* ---- reservations ---------------------------------------------------------------------------------------------- */

/* How reservation i stands, as the export has it. */
static bool reservation_is(int i, const char *state) {
  json_t *root = ledger_now();
  const json_t *each = json_array_get(json_object_get(root, "reservations"), (size_t)i);
  bool is = each && !strcmp(json_string_value(json_object_get(each, "state")), state);
  json_decref(root);
  return is;
}

static void what_is_reserved_refuses_others_and_becomes_one_charge(void **state) {
  (void)state;
  static const char *const filters[] = {"sum", "zcdp", "gdp", "rdp", "mixed"};
  for (int i = 0; i < 5; i++) {
    tct_error err = {0};
    char id[TCT_LEDGER_ID] = "", other[TCT_LEDGER_ID] = "";
    new_ledger(i ? 0.2 : 1, filters[i]); /* room for one of these runs, under every filter */
    double whole = ledger_number("left", "amount");
    assert_int_equal(in_phases(0.7, 600, id, &err), TCT_OK);
    assert_true(reservation_is(0, "reserved"));
    assert_true(ledger_number("spent", "epsilon") == 0 && count_runs() == 0);
    double left = ledger_number("left", "amount");
    assert_true(left < 0.7 * whole);
    assert_int_equal(in_phases(0.7, 600, other, &err), TCT_E_BUDGET);
    assert_non_null(strstr(err.text, "reserved until 20"));
    assert_int_equal(in_phases(0.7, 0, other, &err), TCT_E_BUDGET);
    assert_int_equal(in_phases(0.7, 0, id, &err), TCT_OK);
    assert_true(reservation_is(0, "charged"));
    assert_true(fabs(ledger_number("left", "amount") - left) < 1e-12 && count_runs() == 1);
    assert_int_equal(in_phases(0.1, 0, id, &err), TCT_E_RUN); /* not a second time */
    assert_int_equal(tct_ledger_release("L", id, &err), TCT_OK);
    assert_true(reservation_is(0, "charged") && count_runs() == 1);
    assert_true(check_passes(NULL, 0));
  }
}

static void what_is_released_is_free_and_cannot_be_charged(void **state) {
  (void)state;
  tct_error err = {0};
  char id[TCT_LEDGER_ID] = "", none[TCT_LEDGER_ID] = "";
  new_ledger(1, NULL);
  assert_int_equal(in_phases(0.7, 600, id, &err), TCT_OK);
  assert_int_equal(tct_ledger_release("L", id, &err), TCT_OK);
  assert_int_equal(tct_ledger_release("L", id, &err), TCT_OK); /* twice is fine */
  assert_true(reservation_is(0, "released"));
  assert_int_equal(in_phases(0.7, 0, id, &err), TCT_E_RUN);
  assert_non_null(strstr(err.text, "lacks what this run had reserved"));
  assert_int_equal(in_phases(0.9, 0, none, &err), TCT_OK);
  assert_true(check_passes(NULL, 0));
}

/* A charge is a run like any other, whatever was reserved for it: the filter is asked for what is charged. */
static void a_reservation_charges_no_more_than_is_left_beside_others(void **state) {
  (void)state;
  static const char *const filters[] = {"sum", "zcdp", "gdp", "rdp", "mixed"};
  for (int i = 0; i < 5; i++) {
    tct_error err = {0};
    char small[TCT_LEDGER_ID] = "", other[TCT_LEDGER_ID] = "";
    new_ledger(i ? 0.31 : 1, filters[i]); /* room for two of these runs, under every filter */
    assert_int_equal(in_phases(0.1, 600, small, &err), TCT_OK);
    assert_int_equal(in_phases(0.6, 600, other, &err), TCT_OK);
    if (i == 0) assert_int_equal(in_phases(0.5, 0, small, &err), TCT_E_BUDGET);
    if (i == 0) assert_int_equal(in_phases(0.95, 0, other, &err), TCT_E_BUDGET); /* in whichever order they stand */
    assert_true(reservation_is(0, "reserved") && count_runs() == 0);             /* it stays what it was */
    assert_int_equal(in_phases(0.1, 0, small, &err), TCT_OK);
    assert_int_equal(in_phases(0.1, 0, small, &err), TCT_E_RUN);
    assert_int_equal(in_phases(0.6, 0, other, &err), TCT_OK);
    assert_true(count_runs() == 2 && check_passes(NULL, 0));
  }
}

/* Between both phases the anchor goes, or the ledger is set back to before the reservation. */
static void a_ledger_that_lost_its_anchor_or_a_row_charges_no_reservation(void **state) {
  (void)state;
  tct_error err = {0};
  char id[TCT_LEDGER_ID] = "";
  new_ledger(1, NULL);
  assert_int_equal(tct_ledger_anchor("L", "A", NULL, &err), TCT_OK);
  copy_file("L", "L.old");
  assert_int_equal(in_phases(0.7, 600, id, &err), TCT_OK);
  assert_int_equal(rename("A", "o.json"), 0);
  assert_int_not_equal(in_phases(0.7, 0, id, &err), TCT_OK);
  assert_true(count_runs() == 0 && reservation_is(0, "reserved"));
  assert_int_equal(tct_ledger_anchor("L", "R", "the disk broke", &err), TCT_OK);
  assert_true(reservation_is(0, "reserved"));
  assert_int_equal(rename("o.json", "A"), 0);
  copy_file("L", "n.json");
  copy_file("L.old", "L");
  assert_int_not_equal(in_phases(0.7, 0, id, &err), TCT_OK); /* by the anchor of then */
  unlink("A");
  assert_int_equal(tct_ledger_anchor("L", "A", "it is gone", &err), TCT_OK);
  assert_int_equal(in_phases(0.7, 0, id, &err), TCT_E_RUN); /* and by the row that is missing */
  assert_true(count_runs() == 0);
  copy_file("n.json", "L");
  assert_int_equal(in_phases(0.7, 0, id, &err), TCT_OK);
  assert_true(count_runs() == 1 && reservation_is(0, "charged") && check_passes(NULL, 0));
}

/* A note as another clock would have written it. */
static void reserve_this(int64_t seconds, const char *id, const char *cost) {
  tct_ledger l;
  tct_error err = {0};
  char text[300], begin[32], end[32];
  tct_ledger_time(seconds - 60, begin);
  tct_ledger_time(seconds, end);
  snprintf(text, sizeof text, "%s %s %s %s a run", id, begin, end, cost);
  if (tct_ledger_open("L", 1, &l, &err) != TCT_OK) fail_msg("%s", err.text);
  assert_int_equal(tct_ledger_append_note(&l, "reserved", text, &err), TCT_OK);
  tct_ledger_close(&l);
}

static void reserve_until(int64_t seconds, const char *id) {
  reserve_this(seconds, id, "0.7 1e-6 1 gaussian:noise=30,count=2");
}

/* The first Gaussian step fixes what pure ones may cost beside it, so that one order is permitted and the other not. */
static void a_run_must_be_permitted_before_and_after_what_is_reserved(void **state) {
  (void)state;
  static const struct {
    const char *reserved, *run;
    tct_status expected;
  } rows[] = {{"0.9 0 1 pure:epsilon=0.9", "gaussian:noise=100", TCT_E_BUDGET},
              {"0.05 1e-6 1 gaussian:noise=100", "pure:epsilon=0.9", TCT_E_BUDGET},
              {"0.5 0 1 pure:epsilon=0.5", "gaussian:noise=100", TCT_OK},
              {"0.05 1e-6 1 gaussian:noise=100", "pure:epsilon=0.5", TCT_OK}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    new_ledger(1, "mixed");
    assert_int_equal(charge(rows[i].run, NAN, 1e-6), TCT_OK); /* alone there is room for it */
    new_ledger(1, "mixed");
    reserve_this(600, "0123456789abcdef0123456789abcdef", rows[i].reserved);
    if (charge(rows[i].run, NAN, 1e-6) != rows[i].expected) fail_msg("%s beside %s", rows[i].run, rows[i].reserved);
  }
}

static void a_reservation_ends_by_itself_whatever_the_clock_did(void **state) {
  (void)state;
  static const char id[] = "0123456789abcdef0123456789abcdef";
  static const struct {
    int64_t end;
    bool lives;
  } rows[] = {{60, true},     {86000, true}, /* a day is the longest */
              {-1, false},    {-40000000, false},
              {90000, false}, {400000000, false}}; /* the clock was ahead then, or is behind now */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_error err = {0};
    char none[TCT_LEDGER_ID] = "", own[TCT_LEDGER_ID];
    memcpy(own, id, sizeof own);
    for (int taken = 0; taken < 2; taken++) {
      new_ledger(1, "sum");
      reserve_until(rows[i].end, id);
      assert_true(reservation_is(0, rows[i].lives ? "reserved" : "ended"));
      if (taken) assert_int_equal(in_phases(0.5, 0, none, &err), rows[i].lives ? TCT_E_BUDGET : TCT_OK);
      /* Its own run may still be charged, where nobody has taken what it had. */
      assert_int_equal(in_phases(0.7, 0, own, &err), taken && !rows[i].lives ? TCT_E_BUDGET : TCT_OK);
      assert_true(check_passes(NULL, 0) && count_runs() == 1);
    }
  }
}

static void no_reservation_is_longer_than_a_day_and_none_is_over_at_once(void **state) {
  (void)state;
  tct_error err = {0};
  static const double seconds[] = {0.001, 30, 1e6};
  for (int i = 0; i < 3; i++) {
    char id[TCT_LEDGER_ID] = "", soonest[32], latest[32];
    new_ledger(1, NULL);
    tct_ledger_time(i == 0 ? 1 : i == 1 ? 30 : 86400, soonest);
    assert_int_equal(in_phases(0.7, seconds[i], id, &err), TCT_OK);
    tct_ledger_time(i == 0 ? 1 : i == 1 ? 30 : 86400, latest);
    json_t *root = ledger_now();
    const char *end =
        json_string_value(json_object_get(json_array_get(json_object_get(root, "reservations"), 0), "end"));
    assert_true(strcmp(soonest, end) <= 0 && strcmp(end, latest) <= 0);
    json_decref(root);
  }
}

/* The chain is right in each of these, and what it says is not. */
static void a_note_that_no_reservation_fits_makes_no_ledger(void **state) {
  (void)state;
  static const char id[] = "0123456789abcdef0123456789abcdef";
  static const char *const notes[][2] = {
      {"released", "0123456789abcdef0123456789abcdee"},
      {"released", ""},
      {"reserved", ""},
      {"reserved", "0123 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z 0.7 1e-6 1 gaussian:noise=30,count=2 x"},
      {"reserved", "0123456789abcdef0123456789abcdef now 2026-01-01T00:01:00Z 0.7 1e-6 1 gaussian:noise=30,count=2 x"},
      {"reserved",
       "0123456789abcdef0123456789abcdef 2026-01-01T00:00:00Z never 0.7 1e-6 1 gaussian:noise=30,count=2 x"},
      {"reserved",
       "0123456789abcdef0123456789abcdef 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z 0 1e-6 1 pure:epsilon=1 x"},
      {"reserved",
       "0123456789abcdef0123456789abcdef 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z 1 -1 1 pure:epsilon=1 x"},
      {"reserved", "0123456789abcdef0123456789abcdef 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z 0.7 1e-6 0 x"},
      {"reserved",
       "0123456789abcdef0123456789abcdef 2026-01-01T00:00:00Z 2026-01-01T00:01:00Z 1 0 2 pure:epsilon=1 x"}};
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    tct_ledger l;
    tct_error err = {0};
    new_ledger(1, NULL);
    reserve_until(60, id);
    assert_true(check_passes(NULL, 0));
    assert_int_equal(tct_ledger_open("L", 1, &l, &err), TCT_OK);
    assert_int_equal(tct_ledger_append_note(&l, notes[i][0], notes[i][1], &err), TCT_OK);
    tct_ledger_close(&l);
    assert_int_equal(tct_ledger_open("L", 0, &l, &err), TCT_E_DATA);
  }
}

/* The file last changed so many seconds ago; far ahead stands for just now, however slow the machine is. */
static void changed_ago(const char *name, int seconds) {
  struct timespec at[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - seconds}};
  assert_int_equal(utimensat(AT_FDCWD, name, at, 0), 0);
}

static void a_ledger_is_waited_for_while_it_moves_and_not_for_ever(void **state) {
  (void)state;
  enum { AT_ONCE = 0, A_SECOND = 51, A_MINUTE = 3001, NOW = -1000, NONE = -1 };
  static const struct {
    int count, ledger, journal, go_on;
  } rows[] = {
      {AT_ONCE, 9000, NONE, 1}, {A_SECOND - 2, 9000, NONE, 1}, {A_SECOND, 9000, NONE, 0}, {A_SECOND, 3, NONE, 0},
      {A_SECOND, NOW, NONE, 1}, {A_SECOND, 9000, NOW, 1},      {A_SECOND, 9000, 3, 1},    {A_SECOND, 3, 9000, 1},
      {A_SECOND, 9000, 7, 0},   {A_MINUTE, NOW, NOW, 0},
  };
  sqlite3 *db = NULL;
  new_ledger(1, NULL);
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unlink("L-journal");
    if (rows[i].journal != NONE)
      close(open("L-journal", O_CREAT | O_WRONLY, 0600)), changed_ago("L-journal", rows[i].journal);
    changed_ago("L", rows[i].ledger);
    if (tct_ledger_wait(db, rows[i].count) != rows[i].go_on) fail_msg("row %zu", i);
  }
  unlink("L-journal");
  changed_ago("L", 3);
  assert_int_equal(sqlite3_exec(db, "BEGIN; UPDATE head SET seq = seq + 1", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(access("L-journal", F_OK), 0);
  changed_ago("L", 3);
  assert_int_equal(tct_ledger_wait(db, A_SECOND), 0); /* its own journal is no sign of others */
  sqlite3_close(db);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ledger_and_a_file_that_is_not_there_are_no_anchors),
      cmocka_unit_test(a_table_with_a_row_of_its_own_is_no_part_of_another),
      cmocka_unit_test(ten_tenths_fill_a_budget_of_one_and_an_eleventh_is_refused),
      cmocka_unit_test(one_part_in_a_billion_too_much_is_refused),
      cmocka_unit_test(a_claim_below_the_events_cost_is_refused),
      cmocka_unit_test(a_charge_without_a_delta_between_0_and_1_is_refused_for_that),
      cmocka_unit_test(spent_and_left_are_what_the_filter_counts),
      cmocka_unit_test(the_relation_must_be_the_ledgers),
      cmocka_unit_test(filters_of_gaussian_runs_permit_more_than_the_plain_sum),
      cmocka_unit_test(a_filter_refuses_events_that_it_cannot_add_up),
      cmocka_unit_test(sampled_runs_gain_by_the_filter_of_renyi_orders),
      cmocka_unit_test(settings_that_mean_nothing_make_no_ledger),
      cmocka_unit_test(another_file_is_no_ledger),
      cmocka_unit_test(a_ledger_is_waited_for_while_it_moves_and_not_for_ever),
      cmocka_unit_test(a_check_says_whether_a_ledger_is_sound_contradicted_or_damaged),
      cmocka_unit_test(what_is_reserved_refuses_others_and_becomes_one_charge),
      cmocka_unit_test(what_is_released_is_free_and_cannot_be_charged),
      cmocka_unit_test(a_reservation_charges_no_more_than_is_left_beside_others),
      cmocka_unit_test(a_ledger_that_lost_its_anchor_or_a_row_charges_no_reservation),
      cmocka_unit_test(a_reservation_ends_by_itself_whatever_the_clock_did),
      cmocka_unit_test(no_reservation_is_longer_than_a_day_and_none_is_over_at_once),
      cmocka_unit_test(a_note_that_no_reservation_fits_makes_no_ledger),
      cmocka_unit_test(a_run_must_be_permitted_before_and_after_what_is_reserved),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
