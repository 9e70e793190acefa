/* test_ledger_fit.c - a training run and its ledger: charged before the solver starts, never given back. */
#include "disk.h"
#include "ledger_help.h"

typedef struct watch {
  int calls, runs_at_first;
} watch;

static void look(double fraction, void *user) {
  watch *w = user;
  (void)fraction;
  if (w->calls++ == 0) w->runs_at_first = count_runs();
}

static int cancel_at(void *user) { return --*(int *)user == 0; }

static void a_run_is_in_the_ledger_before_its_solver_reports_anything(void **state) {
  (void)state;
  tct_error err = {0};
  watch w = {0};
  new_ledger(1, NULL);
  tct_model *model = train_with_ledger(0.5, look, NULL, &w, &err);
  if (!model) fail_msg("%s", err.text);
  assert_true(w.calls > 0);
  assert_int_equal(w.runs_at_first, 1);
  tct_model_free(model);
  assert_int_equal(count_runs(), 1);
}

static void a_run_cancelled_before_its_charge_costs_nothing_and_after_it_stays_charged(void **state) {
  (void)state;
  tct_error err = {0};
  int poll = 1;
  new_ledger(1, NULL);
  assert_null(train_with_ledger(0.75, NULL, cancel_at, &poll, &err)); /* the last question before the charge */
  assert_int_equal(err.status, TCT_E_CANCELLED);
  assert_null(strstr(err.text, "charged"));
  assert_int_equal(count_runs(), 0);
  poll = 2; /* the solver's first */
  assert_null(train_with_ledger(0.75, NULL, cancel_at, &poll, &err));
  assert_int_equal(err.status, TCT_E_CANCELLED);
  assert_non_null(strstr(err.text, "stays charged"));
  assert_int_equal(count_runs(), 1);
  assert_null(train_with_ledger(0.75, NULL, NULL, NULL, &err)); /* what it spent is gone */
  assert_int_equal(err.status, TCT_E_BUDGET);
}

static void a_refused_run_never_reaches_its_solver(void **state) {
  (void)state;
  tct_error err = {0};
  watch w = {0};
  new_ledger(0.25, NULL);
  assert_null(train_with_ledger(0.5, look, NULL, &w, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_int_equal(w.calls, 0);
  assert_int_equal(count_runs(), 0);
}

static void a_run_without_a_ledger_file_never_reaches_its_solver(void **state) {
  (void)state;
  tct_error err = {0};
  watch w = {0};
  unlink("L");
  assert_null(train_with_ledger(0.5, look, NULL, &w, &err));
  assert_int_equal(err.status, TCT_E_RUN);
  assert_int_equal(w.calls, 0);
  assert_int_not_equal(access("L", F_OK), 0); /* and makes none */
}

static void a_run_without_privacy_is_refused_by_a_ledger(void **state) {
  (void)state;
  tct_error err = {0};
  new_ledger(1, NULL);
  assert_null(train_with_ledger(1.0 / 0.0, NULL, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_int_equal(count_runs(), 0);
}

static void note_call(double fraction, void *user) {
  (void)fraction;
  (*(int *)user)++;
}

static void a_run_whose_charge_cannot_be_written_never_reaches_its_solver(void **state) {
  (void)state;
  sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
  tct_error err = {0};
  int calls = 0, hit = 0;
  for (int64_t n = 1; n < 100; n++) {
    disk_install();
    assert_int_equal(begin_ledger("L", "", NULL, TCT_ADD_REMOVE, 1, 1e-5, &err), TCT_OK);
    disk_set(DISK_POWER_CUT, n);
    calls = 0;
    tct_model *model = train_with_ledger(0.5, note_call, NULL, &calls, &err);
    assert_int_equal(model == NULL, disk.dead);
    assert_true(model || calls == 0);
    tct_model_free(model);
    hit += disk.dead;
    if (!disk.dead) break;
  }
  sqlite3_vfs_register(usual, 1);
  assert_true(hit >= 8 && calls > 0);
}

static void verify_ledger(const char *path, int expected) {
  tct_error err = {0};
  json_t *root = parsed(tct_verify_json(path, NULL, "L", NULL, NULL, NULL, &err), &err);
  assert_int_equal(json_is_true(json_object_get(root, "ok")), expected);
  json_decref(root);
}

static void train_to(const char *path, double epsilon) {
  tct_error err = {0};
  tct_model *model = train_with_ledger(epsilon, NULL, NULL, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  assert_int_equal(tct_model_write(model, path, &err), TCT_OK);
  tct_model_free(model);
}

static void models_prove_that_a_ledger_was_rolled_back(void **state) {
  (void)state;
  static const char *const both[] = {"m.json", "n.json"};
  new_ledger(1, NULL);
  train_to("m.json", 0.25);
  copy_file("L", "L.old");
  train_to("n.json", 0.5);
  assert_true(check_passes(both, 2));
  verify_ledger("n.json", 1);
  copy_file("L.old", "L");
  assert_true(check_passes(both, 1)); /* the old file is sound by itself; only the second model betrays it */
  assert_false(check_passes(both, 2));
  verify_ledger("m.json", 1);
  verify_ledger("n.json", 0);
  train_to("o.json", 0.5); /* as many runs again, and yet another history */
  assert_false(check_passes(both, 2));
}

static void a_model_that_tells_less_than_its_entry_fails(void **state) {
  (void)state;
  static const char *const one[] = {"m.json"};
  static const char *const keys[] = {"epsilon", "delta"};
  for (int k = 0; k < 3; k++) {
    new_ledger(1, NULL);
    train_to("m.json", 0.5);
    json_t *root = json_load_file("m.json", 0, NULL), *privacy = json_object_get(root, "privacy");
    if (k < 2)
      json_object_set_new(privacy, keys[k], json_real(0.9 * number_at(privacy, NULL, keys[k])));
    else
      json_array_set_new(json_object_get(privacy, "events"), 0, json_string("gaussian:noise=100"));
    assert_int_equal(json_dump_file(root, "m.json", JSON_REAL_PRECISION(17)), 0);
    json_decref(root);
    assert_false(check_passes(one, 1));
    verify_ledger("m.json", 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_is_in_the_ledger_before_its_solver_reports_anything),
      cmocka_unit_test(a_run_cancelled_before_its_charge_costs_nothing_and_after_it_stays_charged),
      cmocka_unit_test(a_refused_run_never_reaches_its_solver),
      cmocka_unit_test(a_run_without_a_ledger_file_never_reaches_its_solver),
      cmocka_unit_test(a_run_without_privacy_is_refused_by_a_ledger),
      cmocka_unit_test(a_run_whose_charge_cannot_be_written_never_reaches_its_solver),
      cmocka_unit_test(models_prove_that_a_ledger_was_rolled_back),
      cmocka_unit_test(a_model_that_tells_less_than_its_entry_fails),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
