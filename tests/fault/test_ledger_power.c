/* test_ledger_power.c - the ledger on a disk whose writes and syncs fail, and whose power goes at any moment. */
#include "disk.h"

#include "core/alloc.h"
#include "ledger/ledger.h"
#include "sample.h"
#include "short_ledger.h"

#include <jansson.h>
#include <math.h>

static const char *const EVENT[] = {"gaussian:noise=30,count=2"};

static int charge(void) {
  tct_error err = {0};
  char *text = charge_ledger("L", EVENT, 1, TCT_ADD_REMOVE, 0.25, 1e-6, &err);
  tct_text_free(text);
  return text != NULL;
}

/* The same in two phases: 1 where it was reserved, 2 where it was charged, too. */
static int charge_in_phases(void) {
  tct_error err = {0};
  tct_event event = tct_event_gaussian(30, 2);
  tct_events events = {&event, 1, 1};
  tct_ledger_receipt held = {0}, charged = {0};
  tct_ledger_promise p = {.events = &events,
                          .epsilon = 0.25,
                          .delta = 1e-6,
                          .neighbours = TCT_ADD_REMOVE,
                          .what = "parties",
                          .reserve = 600};
  int phases = tct_ledger_promise_run("L", &p, &held, &err) == TCT_OK;
  p.reserve = 0, p.reserved = held.run;
  if (phases && tct_ledger_promise_run("L", &p, &charged, &err) == TCT_OK) phases = 2;
  char *texts[] = {held.head, held.run, charged.head, charged.run};
  for (int i = 0; i < 4; i++) tct_free(texts[i]);
  return phases;
}

static int init(void) {
  tct_error err = {0};
  return begin_ledger("L", "test", NULL, TCT_ADD_REMOVE, 1, 1e-5, &err) == TCT_OK;
}

/* The number of runs; the ledger must open and pass its check. */
static int runs_of_sound_ledger(void) {
  tct_error err = {0};
  char *text = tct_ledger_check_json("L", NULL, 0, &err);
  if (!text) fail_msg("the ledger does not open: %s", err.text);
  json_t *root = json_loads(text, 0, NULL);
  if (!json_is_true(json_object_get(root, "ok"))) fail_msg("the ledger fails its check: %s", text);
  int runs = (int)json_integer_value(json_object_get(root, "runs"));
  json_decref(root);
  tct_text_free(text);
  return runs;
}

static void ledger_with_one_run(void) {
  disk_install();
  assert_true(init());
  assert_true(charge());
}

static void each_operation_that_fails_leaves_a_sound_ledger(void **state) {
  (void)state;
  int failures = 0;
  for (int64_t n = 1;; n++) {
    ledger_with_one_run();
    disk_set(DISK_FAIL_ONCE, n);
    int done = charge();
    int reached = disk.operations >= n;
    disk_set(DISK_SOUND, 0);
    int runs = runs_of_sound_ledger();
    assert_true(runs == 2 || (runs == 1 && !done)); /* said to be charged: is charged */
    assert_true(charge());
    assert_int_equal(runs_of_sound_ledger(), runs + 1);
    failures += !done;
    if (!reached) break;
    assert_true(n < 1000);
  }
  assert_true(failures >= 8); /* the writes and syncs of a transaction were really hit */
}

static void a_power_cut_at_each_operation_loses_no_charge(void **state) {
  (void)state;
  for (int64_t n = 1;; n++) {
    int reached = 0;
    for (int fate = 0; fate < 18; fate++) {
      if (fate > 1 && !sample_turn(18 * n + fate, 5)) continue;
      ledger_with_one_run();
      disk.random = (uint64_t)(1000 * n + fate);
      disk_set(DISK_POWER_CUT, n);
      int done = charge();
      reached |= disk.dead;
      disk.dead = 1;
      disk_reboot(fate == 0 ? DISK_ALL_LOST : fate == 1 ? DISK_ALL_KEPT : DISK_SOME_KEPT);
      int runs = runs_of_sound_ledger();
      assert_true(runs == 2 || (runs == 1 && !done));
      assert_true(charge());
      assert_int_equal(runs_of_sound_ledger(), runs + 1);
    }
    if (!reached) break; /* the cut came after the charge had returned: the loop has seen that too */
    assert_true(n < 1000);
  }
}

/* Reservations of the ledger in this state; its export. */
static int reservations_that_are(const char *wanted) {
  tct_error err = {0};
  size_t i;
  int count = 0;
  json_t *each;
  char *text = tct_ledger_json("L", &err);
  if (!text) fail_msg("%s", err.text);
  json_t *root = json_loads(text, 0, NULL);
  json_array_foreach(json_object_get(root, "reservations"), i, each) count +=
      !strcmp(json_string_value(json_object_get(each, "state")), wanted);
  json_decref(root);
  tct_text_free(text);
  return count;
}

/* Said to be reserved: is; charged: is a run.  Nothing between the two is half of one. */
static void a_power_cut_at_each_operation_of_two_phases_leaves_a_reservation_or_a_charge(void **state) {
  (void)state;
  for (int64_t n = 1;; n++) {
    int reached = 0;
    for (int fate = 0; fate < 18; fate++) {
      if (fate > 1 && !sample_turn(18 * n + fate, 5)) continue;
      ledger_with_one_run();
      disk.random = (uint64_t)(1000 * n + fate);
      disk_set(DISK_POWER_CUT, n);
      int phases = charge_in_phases();
      reached |= disk.dead;
      disk.dead = 1;
      disk_reboot(fate == 0 ? DISK_ALL_LOST : fate == 1 ? DISK_ALL_KEPT : DISK_SOME_KEPT);
      int charged = runs_of_sound_ledger() - 1, open = reservations_that_are("reserved");
      assert_true(charged + open <= 1 && charged == reservations_that_are("charged"));
      assert_true(charged >= (phases == 2) && charged + open >= (phases >= 1));
      assert_true(charge());
    }
    if (!reached) break;
    assert_true(n < 1000);
  }
}

static void a_power_cut_while_a_ledger_is_made_leaves_nothing_or_the_whole(void **state) {
  (void)state;
  for (int64_t n = 1;; n++) {
    int reached = 0;
    for (int fate = 0; fate < 18; fate++) {
      if (fate > 1 && !sample_turn(18 * n + fate, 5)) continue;
      disk_install();
      disk.random = (uint64_t)(77 * n + fate);
      disk_set(DISK_POWER_CUT, n);
      int done = init();
      reached |= disk.dead;
      disk.dead = 1;
      disk_reboot(fate == 0 ? DISK_ALL_LOST : fate == 1 ? DISK_ALL_KEPT : DISK_SOME_KEPT);
      int again = init(); /* refused exactly if the ledger is there */
      assert_true(!done || !again);
      assert_int_equal(runs_of_sound_ledger(), 0);
    }
    if (!reached) break;
    assert_true(n < 1000);
  }
}

static void a_charge_syncs_journal_file_and_folder(void **state) {
  (void)state;
  ledger_with_one_run();
  disk.syncs = 0;
  assert_true(charge());
  assert_true(disk.syncs >= 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_operation_that_fails_leaves_a_sound_ledger),
      cmocka_unit_test(a_power_cut_at_each_operation_loses_no_charge),
      cmocka_unit_test(a_power_cut_at_each_operation_of_two_phases_leaves_a_reservation_or_a_charge),
      cmocka_unit_test(a_power_cut_while_a_ledger_is_made_leaves_nothing_or_the_whole),
      cmocka_unit_test(a_charge_syncs_journal_file_and_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
