/* test_ledger_memory.c - the ledger with the n-th allocation failing, SQLite's and jansson's included.
 *
 * A charge that is reported is in the file, one that is not reported is there or not, and the file stays sound. */
#include "core/alloc.h"
#include "ledger_help.h"
#include "sample.h"

#include <sqlite3.h>

static sqlite3_mem_methods usual;
static int64_t left; /* allocations until one fails; 0: none does */

static int fails(void) { return left > 0 && --left == 0; }
static void *sqlite_alloc(int size) { return fails() ? NULL : usual.xMalloc(size); }
static void *sqlite_grow(void *old, int size) { return fails() ? NULL : usual.xRealloc(old, size); }
static void *json_alloc(size_t size) { return fails() ? NULL : malloc(size); }

static void fail_at(int64_t n) {
  left = n;
  tct_alloc_fail_at_test(n); /* counted apart: both are run through */
}

static char *charge(tct_error *err) {
  static const char *const events[] = {"gaussian:noise=30", "pure:epsilon=0.01"};
  return charge_ledger("L", events, 2, TCT_ADD_REMOVE, 0.25, 1e-6, err);
}

static char kept[TCT_LEDGER_ID]; /* the reservation that is in the ledger before every call */

static char *reserve(tct_error *err) {
  char id[TCT_LEDGER_ID] = "";
  return in_phases(0.25, 600, id, err) == TCT_OK ? tct_text_copy("") : NULL;
}
static char *charge_reserved(tct_error *err) {
  return in_phases(0.25, 0, kept, err) == TCT_OK ? tct_text_copy("") : NULL;
}
static char *show(tct_error *err) { return tct_ledger_json("L", err); }
static char *check(tct_error *err) { return tct_ledger_check_json("L", NULL, 0, err); }

/* A ledger with a run and a reservation. */
static void used_ledger(void) {
  tct_error err = {0};
  new_ledger(1, NULL);
  tct_text_free(charge(&err));
  assert_int_equal(in_phases(0.25, 600, kept, &err), TCT_OK);
}

/* Fails the 1st, 2nd, ... allocation until a call no longer reaches it; how many there were.  charges: a call that
 * succeeds leaves one run more. */
static int fail_each(char *(*call)(tct_error *err), int charges) {
  used_ledger();
  copy_file("L", "L.old");
  for (int n = 1;; n++) {
    tct_error err = {0};
    if (!sample_turn(n, 5)) continue;
    copy_file("L.old", "L");
    fail_at(n);
    char *text = call(&err);
    int reached = left == 0 || !text; /* either counter */
    fail_at(0);
    if (!text) assert_int_not_equal(err.status, TCT_OK);
    if (err.status == TCT_E_DATA || err.status == TCT_E_BUDGET) fail_msg("false alarm at %d: %s", n, err.text);
    int runs = count_runs();
    assert_true(runs == 1 + charges || (runs == 1 && !text));
    assert_true(check_passes(NULL, 0));
    tct_text_free(text);
    if (!reached) return n;
    assert_true(n < 20000);
  }
}

static void a_charge_without_memory_fails_cleanly(void **state) {
  (void)state;
  assert_true(fail_each(charge, 1) > 50);
  assert_true(fail_each(reserve, 0) > 50);
  assert_true(fail_each(charge_reserved, 1) > 50);
}

static void a_ledger_is_shown_whole_or_not_at_all(void **state) {
  (void)state;
  tct_error err = {0};
  used_ledger();
  json_t *whole = ledger_now();
  for (int n = 1;; n++) { /* the same ledger again and again: the same text or none */
    fail_at(n);
    char *text = show(&err);
    int reached = left == 0 || !text; /* either counter */
    fail_at(0);
    if (text) {
      json_t *root = parsed(text, &err);
      if (!json_equal(root, whole)) fail_msg("allocation %d: a part of the ledger is missing", n);
      json_decref(root);
    }
    if (!reached) break;
  }
  json_decref(whole);
}

static void a_check_without_memory_raises_no_false_alarm(void **state) {
  (void)state;
  tct_error err = {0};
  used_ledger();
  for (int n = 1;; n++) {
    fail_at(n);
    char *text = check(&err);
    int reached = left == 0 || !text; /* either counter */
    fail_at(0);
    if (text) {
      json_t *root = parsed(text, &err);
      if (!json_is_true(json_object_get(root, "ok"))) fail_msg("false alarm at %d: %s", n, json_dumps(root, 0));
      assert_int_equal(json_array_size(json_object_get(root, "checks")), 3);
      json_decref(root);
    }
    if (!reached) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_charge_without_memory_fails_cleanly),
      cmocka_unit_test(a_ledger_is_shown_whole_or_not_at_all),
      cmocka_unit_test(a_check_without_memory_raises_no_false_alarm),
  };
  sqlite3_mem_methods mine;
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK) return 1;
  mine = usual;
  mine.xMalloc = sqlite_alloc;
  mine.xRealloc = sqlite_grow;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &mine) != SQLITE_OK || sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0))
    return 1;
  json_set_alloc_funcs(json_alloc, free);
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
