/* test_ledger_identity.c - which people a ledger is for: seeds, units, the input, other ledgers, rollback, room. */
#include "ledger/ledger.h"
#include "ledger/registry.h"
#include "ledger_help.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { N = 900, P = 3 };
static double x[N * P], y[N];

static void fill_table(void) {
  for (int i = 0; i < N * P; i++) x[i] = ((i * 7919 + 13) % 1009) / 1009.0;
  for (int i = 0; i < N; i++) y[i] = i % 3 ? 1 : -1;
}

static tct_matrix rows_of(int first, int count) {
  return (tct_matrix){.rows = count, .cols = P, .layout = TCT_DENSE_ROWS, .values = x + first * P, .stride = P};
}

static void make_ledger(int persons, int for_tests, const char *anchor) {
  tct_ledger_options options;
  tct_error err = {0};
  unlink("L");
  tct_ledger_options_default(&options);
  options.filter = "sum";
  options.epsilon = 100;
  options.delta = 1e-3;
  options.persons = persons;
  options.for_tests = for_tests;
  options.people = "invented people";
  options.anchor = anchor;
  if (tct_ledger_make("L", &options, &err) != TCT_OK) fail_msg("%s", err.text);
}

/* Charges some rows to `ledger`; TCT_OK or why not. */
static tct_status charge_rows(const char *ledger, int first, int count, int part, const char *reason) {
  static const char *const event[] = {"gaussian:noise=30"};
  tct_error err = {0};
  tct_charge run;
  tct_matrix view = rows_of(first, count);
  tct_data *data = tct_data_view(&view, y + first, TCT_LABELS_BINARY, NULL, NULL, &err);
  tct_charge_default(&run);
  run.delta = 1e-6;
  run.data = data;
  run.input_part = part;
  run.input_changed = reason;
  char *text = tct_ledger_charge(ledger, event, 1, &run, &err);
  tct_data_free(data);
  tct_text_free(text);
  return text ? TCT_OK : err.status;
}

static tct_model *fit(const char *ledger, uint64_t seed, const char *output, tct_error *err) {
  tct_config config;
  tct_matrix view = rows_of(0, N);
  tct_config_default(&config);
  config.intercept = 0;
  config.loss = "logistic";
  config.penalty = "l2:lambda=1e-2";
  config.solver = "dpgd:steps=2";
  config.epsilon = 1;
  config.delta = 1e-6;
  config.row_norm = 1;
  config.ledger = ledger;
  config.has_seed = seed != 0;
  config.seed = seed;
  config.output = output;
  tct_data *data = tct_data_view(&view, y, TCT_LABELS_BINARY, NULL, NULL, err);
  tct_plan *plan = tct_plan_new(&config, N, P, err);
  tct_model *model = plan ? tct_fit(plan, data, err) : NULL;
  tct_plan_free(plan);
  tct_data_free(data);
  return model;
}

static void a_seeded_run_is_refused_before_the_charge_and_changes_nothing(void **state) {
  (void)state;
  tct_error err = {0};
  make_ledger(0, 0, NULL);
  json_t *before = ledger_now();
  assert_null(fit("L", 7, NULL, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_non_null(strstr(err.text, "seed"));
  json_t *after = ledger_now();
  assert_true(json_equal(before, after));
  json_decref(before);
  json_decref(after);
}

static void a_ledger_for_tests_takes_a_seed_and_marks_itself_its_entry_and_its_models(void **state) {
  (void)state;
  tct_error err = {0};
  make_ledger(0, 1, NULL);
  tct_model *model = fit("L", 7, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  assert_int_equal(tct_model_write(model, "m.json", &err), TCT_OK);
  tct_model_free(model);
  json_t *root = ledger_now();
  assert_true(json_is_true(json_object_get(root, "for_tests")));
  assert_int_equal(number_at(root, NULL, "seeded_runs"), 1);
  json_decref(root);
  root = parsed(tct_verify_json("m.json", NULL, "L", NULL, NULL, NULL, &err), &err);
  assert_true(json_is_true(json_object_get(root, "ok")) && json_is_true(json_object_get(root, "for_tests")));
  assert_string_equal(json_string_value(json_object_get(root, "verdict")), "reproducible");
  json_decref(root);
  model = fit("L", 0, NULL, &err); /* a model of a ledger for tests is one for tests, whatever its noise */
  assert_int_equal(tct_model_write(model, "n.json", &err), TCT_OK);
  tct_model_free(model);
  root = parsed(tct_verify_json("n.json", NULL, "L", NULL, NULL, NULL, &err), &err);
  assert_string_equal(json_string_value(json_object_get(root, "verdict")), "for_tests");
  json_decref(root);
}

static void a_run_of_the_other_unit_is_refused(void **state) {
  (void)state;
  static const char *const event[] = {"gaussian:noise=30"};
  for (int ledger = 0; ledger < 2; ledger++)
    for (int run = 0; run < 2; run++) {
      tct_error err = {0};
      tct_charge charge;
      make_ledger(ledger, 0, NULL);
      tct_charge_default(&charge);
      charge.delta = 1e-6;
      charge.persons = run;
      char *text = tct_ledger_charge("L", event, 1, &charge, &err);
      assert_int_equal(text != NULL, ledger == run);
      assert_true(text || err.status == TCT_E_BUDGET);
      assert_int_equal(count_runs(), ledger == run);
      tct_text_free(text);
    }
}

static void unaccounted_facts_are_in_the_entry_and_counted(void **state) {
  (void)state;
  static const char *const event[] = {"gaussian:noise=30"}, *const facts[] = {"a schema was drafted", "a scaler", NULL};
  tct_error err = {0};
  tct_charge charge;
  make_ledger(0, 0, NULL);
  tct_charge_default(&charge);
  charge.delta = 1e-6;
  charge.unaccounted = facts;
  tct_text_free(tct_ledger_charge("L", event, 1, &charge, &err));
  json_t *root = ledger_now(), *run = json_array_get(json_object_get(root, "runs"), 0);
  assert_int_equal(number_at(root, NULL, "unaccounted_runs"), 1);
  assert_string_equal(json_string_value(json_array_get(json_object_get(run, "unaccounted"), 1)), "a scaler");
  json_decref(root);
}

static const char *last_input(json_t **root) {
  *root = ledger_now();
  const json_t *runs = json_object_get(*root, "runs");
  return json_string_value(json_object_get(json_array_get(runs, json_array_size(runs) - 1), "input"));
}

static void expect_input(const char *expected) {
  json_t *root;
  assert_string_equal(last_input(&root), expected);
  json_decref(root);
}

static void the_same_rows_in_any_order_and_parts_of_them_are_known(void **state) {
  (void)state;
  make_ledger(0, 0, NULL);
  fill_table();
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  expect_input("first");
  for (int j = 0; j < P; j++) { /* two rows change places */
    double t = x[j];
    x[j] = x[500 * P + j];
    x[500 * P + j] = t;
  }
  double t = y[0];
  y[0] = y[500];
  y[500] = t;
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  expect_input("known");
  for (int fold = 0; fold < 5; fold++) {
    assert_int_equal(charge_rows("L", fold * N / 5, N / 5, 0, NULL), TCT_OK);
    expect_input("known");
  }
  assert_int_equal(charge_rows("L", 0, 4 * N / 5, 0, NULL), TCT_OK);
}

static void rows_that_were_corrected_or_appended_need_a_reason_which_makes_an_entry(void **state) {
  (void)state;
  json_t *root;
  for (int how = 0; how < 3; how++) {
    make_ledger(0, 0, NULL);
    fill_table();
    assert_int_equal(charge_rows("L", 0, N - 100, 0, NULL), TCT_OK);
    if (how == 0) x[5 * P] += 0x1p-20; /* a feature */
    if (how == 1) y[5] = -y[5];        /* a label */
    int rows = how == 2 ? N : N - 100; /* more rows */
    assert_int_equal(charge_rows("L", 0, rows, 0, NULL), TCT_E_BUDGET);
    assert_int_equal(charge_rows("L", 0, rows, 0, "two\nlines"), TCT_E_USAGE);
    assert_int_equal(count_runs(), 1);
    double spent = number_at(root = ledger_now(), "spent", "epsilon");
    json_decref(root);
    assert_int_equal(charge_rows("L", 0, rows, 0, "late returns"), TCT_OK);
    expect_input("changed");
    root = ledger_now();
    const json_t *change = json_array_get(json_object_get(root, "changes"), 0);
    assert_string_equal(json_string_value(json_object_get(change, "reason")), "late returns");
    assert_true(number_at(root, "spent", "epsilon") > 1.99 * spent); /* nothing is refunded */
    json_decref(root);
    assert_int_equal(charge_rows("L", 0, rows, 0, NULL), TCT_OK);
    expect_input("known");
  }
}

static void declared_parts_are_no_changed_input(void **state) {
  (void)state;
  make_ledger(0, 0, NULL);
  fill_table();
  assert_int_equal(charge_rows("L", 0, N / 2, 1, NULL), TCT_OK);
  expect_input("part");
  assert_int_equal(charge_rows("L", N / 2, N / 2, 1, NULL), TCT_OK);
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  expect_input("first");
}

static void a_print_is_the_same_for_all_layouts_and_threads_and_another_for_another_key(void **state) {
  (void)state;
  tct_error err = {0};
  static double columns[N * P];
  tct_key key[TCT_PRINT_KEYS] = {{1}, {2}};
  tct_print print[4][TCT_PRINT_KEYS];
  fill_table();
  for (int i = 0; i < N; i++) x[i * P + i % P] = 0; /* zeros are none in a sparse layout */
  for (int i = 0; i < N * P; i++) columns[i % P * N + i / P] = x[i];
  for (int k = 0; k < 4; k++) {
    tct_matrix view = rows_of(0, N);
    tct_owned_matrix sparse = {0};
    if (k == 1) view = (tct_matrix){.rows = N, .cols = P, .layout = TCT_DENSE_COLS, .values = columns, .stride = N};
    if (k > 1) assert_int_equal(tct_matrix_convert(&view, k == 2 ? TCT_CSR : TCT_CSC, TCT_F64, &sparse, &err), TCT_OK);
    tct_data *data = tct_data_view(k > 1 ? &sparse.m : &view, y, TCT_LABELS_BINARY, NULL, NULL, &err);
    assert_int_equal(tct_print_make(data, key, 1 + k, print[k], &err), TCT_OK);
    tct_data_free(data);
    tct_matrix_free(&sparse);
    assert_memory_equal(print[k], print[0], sizeof print[0]);
  }
  assert_false(tct_print_same(&print[0][0], &print[0][1]));
  assert_true(tct_print_shared(&print[0][0], &print[0][1]) == 0);
}

/* Rows are taken in blocks of 1024: those at their edges count as all others do. */
static void every_row_of_a_long_table_is_in_its_print(void **state) {
  (void)state;
  enum { LONG = 2050 };
  static const int at[] = {0, 1023, 1024, 2047, 2048, LONG - 1};
  static double one[LONG], label[LONG];
  tct_error err = {0};
  tct_key key[TCT_PRINT_KEYS] = {{1}, {2}};
  tct_print print[2][TCT_PRINT_KEYS];
  for (int i = 0; i < LONG; i++) one[i] = i + 1, label[i] = i % 2 ? 1 : -1;
  tct_matrix m = {.rows = LONG, .cols = 1, .layout = TCT_DENSE_ROWS, .values = one, .stride = 1};
  tct_data *data = tct_data_view(&m, label, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_int_equal(tct_print_make(data, key, 1, print[0], &err), TCT_OK);
  assert_int_equal(print[0][0].rows, LONG);
  for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
    one[at[k]] = -one[at[k]];
    assert_int_equal(tct_print_make(data, key, 1, print[1], &err), TCT_OK);
    one[at[k]] = -one[at[k]];
    assert_false(tct_print_same(&print[0][0], &print[1][0]));
  }
  tct_data_free(data);
}

static void no_fingerprint_and_no_key_is_exported(void **state) {
  (void)state;
  tct_error err = {0};
  struct stat info;
  make_ledger(0, 0, NULL);
  fill_table();
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  assert_int_equal(stat("L", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
  char *shown = tct_ledger_json("L", &err);
  sqlite3 *db;
  sqlite3_stmt *row;
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT key, sum, substr(sketch, 1, 16) FROM secret, prints", -1, &row, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  for (int c = 0; c < 3; c++) assert_null(strstr(shown, (const char *)sqlite3_column_text(row, c)));
  sqlite3_finalize(row);
  sqlite3_close(db);
  tct_text_free(shown);
}

static void the_same_table_on_a_second_ledger_is_told_and_the_registry_is_the_users_alone(void **state) {
  (void)state;
  tct_error err = {0};
  struct stat info;
  fill_table();
  setenv("TACIT_REGISTRY", "R", 1);
  make_ledger(0, 0, NULL);
  tct_model *model = fit("L", 0, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  assert_null(tct_model_warning(model));
  tct_model_free(model);
  model = fit("L", 0, NULL, &err); /* again on its own ledger */
  assert_null(tct_model_warning(model));
  tct_model_free(model);
  assert_int_equal(begin_ledger("M", "second", NULL, TCT_ADD_REMOVE, 2, 1e-5, &err), TCT_OK);
  model = fit("M", 0, NULL, &err);
  if (!model) fail_msg("%s", err.text);
  assert_non_null(tct_model_warning(model));
  assert_non_null(strstr(tct_model_warning(model), "another ledger"));
  tct_model_free(model);
  assert_int_equal(stat("R", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0600);
  setenv("TACIT_REGISTRY", "none", 1);
}

/* 1: there is a registry, with this key. */
static int registry_key(tct_key key) {
  FILE *file = tct_registry_open(key);
  if (file) fclose(file);
  return file != NULL;
}

/* One of many processes that begin and fill a registry at the same time; the exit code is 0 if all went well. */
static int note_tables(int process) {
  enum { TABLES = 20 };
  tct_shown shown = {0};
  tct_key key;
  int bad = 0;
  for (int t = 0; t < TABLES && !bad; t++) {
    shown.registry = tct_registry_open(key);
    memset(shown.id, 'a' + process, TCT_DIGEST_HEX - 1);
    shown.print[1] = (tct_print){.rows = 1000 * process + t, .len = TCT_SKETCH};
    for (int k = 0; k < TCT_SKETCH; k++)
      shown.print[1].sketch[k] = (uint64_t)(process * TABLES + t) << 32 | (uint64_t)k;
    char *told = shown.registry ? tct_registry_add(&shown, "L") : NULL;
    bad = !shown.registry || told;
    free(told);
    tct_shown_end(&shown);
  }
  return bad;
}

static void tables_that_many_processes_note_at_once_are_each_a_whole_line(void **state) {
  (void)state;
  enum { PROCESSES = 8, LENGTH = 8000 };
  static char line[LENGTH];
  int status, lines = 0;
  pid_t child[PROCESSES];
  unlink("R");
  setenv("TACIT_REGISTRY", "R", 1);
  for (int p = 0; p < PROCESSES; p++)
    if ((child[p] = fork()) == 0) _exit(note_tables(p));
  for (int p = 0; p < PROCESSES; p++) {
    assert_int_equal(waitpid(child[p], &status, 0), child[p]);
    assert_int_equal(status, 0);
  }
  FILE *file = fopen("R", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '\n' || !strncmp(line, "tacit-tables 1 ", 15)) continue;
    lines++;
    assert_true(line[0] >= 'a' && line[0] < 'a' + PROCESSES && strspn(line, (char[]){line[0], 0}) == 64);
    assert_int_equal(strspn(strrchr(line, '/'), "/L") + 1, strlen(strrchr(line, '/')));
  }
  fclose(file);
  assert_int_equal(lines, PROCESSES * 20);
  for (int p = 0; p < PROCESSES; p++) assert_int_equal(note_tables(p), 0); /* all are listed */
  assert_int_equal(unlink("R"), 0);
  setenv("TACIT_REGISTRY", "none", 1);
}

/* A registry is made at `file`, under these two folders; all three are removed. */
static void registry_is_at(const char *file, const char *inner, const char *outer) {
  tct_key key, again;
  unsigned char zero[TCT_KEY] = {0};
  assert_true(registry_key(key));
  assert_int_equal(access(file, F_OK), 0);
  assert_true(registry_key(again));
  assert_memory_equal(key, again, sizeof key);
  assert_memory_not_equal(key, zero, sizeof key);
  assert_int_equal(unlink(file), 0);
  assert_int_equal(rmdir(inner), 0);
  assert_int_equal(rmdir(outer), 0);
}

/* Nobody sets TACIT_REGISTRY: the places that count are the configuration's and the home's. */
static void the_registry_is_made_where_its_three_variables_say(void **state) {
  (void)state;
  tct_key key;
  char home[128], config[128], file[256], inner[256];
  const char *of_user = getenv("HOME"), *of_config = getenv("XDG_CONFIG_HOME");
  char *old_home = of_user ? strdup(of_user) : NULL, *old_config = of_config ? strdup(of_config) : NULL;
  snprintf(home, sizeof home, "%s/.config", folder);
  snprintf(config, sizeof config, "%s/c", folder);
  setenv("TACIT_REGISTRY", "r/s/tables", 1);
  registry_is_at("r/s/tables", "r/s", "r");
  unsetenv("TACIT_REGISTRY");
  setenv("HOME", folder, 1);
  setenv("XDG_CONFIG_HOME", config, 1);
  snprintf(file, sizeof file, "%s/tacit/tables", config);
  snprintf(inner, sizeof inner, "%s/tacit", config);
  registry_is_at(file, inner, config);
  snprintf(file, sizeof file, "%s/tacit/tables", home);
  snprintf(inner, sizeof inner, "%s/tacit", home);
  setenv("XDG_CONFIG_HOME", "c", 1); /* a relative one does not count */
  registry_is_at(file, inner, home);
  unsetenv("XDG_CONFIG_HOME");
  registry_is_at(file, inner, home);
  setenv("HOME", "c", 1);
  assert_false(registry_key(key));
  unsetenv("HOME");
  assert_false(registry_key(key));
  if (old_home) setenv("HOME", old_home, 1);
  if (old_config) setenv("XDG_CONFIG_HOME", old_config, 1);
  free(old_home);
  free(old_config);
  setenv("TACIT_REGISTRY", "none", 1);
  assert_false(registry_key(key));
}

static void a_ledger_behind_its_anchor_is_charged_no_more(void **state) {
  (void)state;
  static const char *const anchors[] = {"A"};
  unlink("A");
  make_ledger(0, 0, "A");
  fill_table();
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  copy_file("L", "L.old");
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  assert_true(check_passes(anchors, 1));
  copy_file("L.old", "L");
  assert_false(check_passes(NULL, 0));
  assert_false(check_passes(anchors, 1));
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_E_DATA);
  assert_int_equal(count_runs(), 1);
  unlink("A");
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_E_RUN); /* an anchor that is away tells nothing */
}

static void a_lost_anchor_is_a_row_of_the_chain_and_a_new_one_begins(void **state) {
  (void)state;
  tct_error err = {0};
  unlink("A");
  unlink("R");
  make_ledger(0, 0, "A");
  fill_table();
  assert_int_equal(tct_ledger_anchor("L", "R", "burnt", &err), TCT_E_USAGE); /* it is there, and agrees */
  copy_file("L", "L.old");
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  copy_file("L", "m.json");
  copy_file("L.old", "L");
  assert_int_equal(tct_ledger_anchor("L", "R", "burnt", &err), TCT_E_DATA); /* it is there, and says otherwise */
  copy_file("m.json", "L");
  assert_int_equal(unlink("A") | unlink("m.json"), 0);
  assert_int_equal(tct_ledger_anchor("L", "R", NULL, &err), TCT_E_RUN);
  assert_int_equal(tct_ledger_anchor("L", "R", "", &err), TCT_E_USAGE);
  assert_int_equal(tct_ledger_anchor("L", "R", "two\nlines", &err), TCT_E_USAGE);
  assert_int_equal(access("R", F_OK), -1);
  if (tct_ledger_anchor("L", "R", "burnt", &err) != TCT_OK) fail_msg("%s", err.text);
  json_t *root = ledger_now(), *lost = json_object_get(root, "lost_anchors");
  assert_int_equal(json_array_size(lost), 1);
  assert_string_equal(json_string_value(json_object_get(json_array_get(lost, 0), "reason")), "burnt");
  assert_int_equal(json_array_size(json_object_get(root, "changes")), 0);
  assert_int_equal(json_array_size(json_object_get(root, "runs")), 1);
  json_decref(root);
  root = parsed(tct_ledger_check_json("L", NULL, 0, &err), &err);
  assert_int_equal(held(root, "anchor"), 1);
  assert_int_equal(held(root, "anchor before"), 1);
  json_decref(root);
  copy_file("L", "L.old");
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  copy_file("L.old", "L");
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_E_DATA); /* the new one holds from now on */
  unlink("M");
  assert_int_equal(begin_ledger("M", "", NULL, TCT_ADD_REMOVE, 2, 1e-5, &err), TCT_OK);
  assert_int_equal(tct_ledger_anchor("M", "A", "burnt", &err), TCT_E_USAGE); /* it never had one */
  unlink("M");
}

static void a_ledger_with_an_older_anchor_is_ahead_of_it_and_is_charged(void **state) {
  (void)state;
  tct_error err = {0};
  unlink("A");
  unlink("R");
  make_ledger(0, 0, NULL);
  fill_table();
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  assert_int_equal(tct_ledger_anchor("L", "A", NULL, &err), TCT_OK);
  copy_file("A", "R");
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  copy_file("R", "A"); /* the power went between the charge and the anchor */
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  assert_true(check_passes(NULL, 0));
  assert_int_equal(tct_ledger_anchor("L", "A", NULL, &err), TCT_E_USAGE); /* there is a file already */
}

static void a_model_without_room_is_found_out_before_the_charge(void **state) {
  (void)state;
  tct_error err = {0};
  struct rlimit old, small;
  make_ledger(0, 0, NULL);
  fill_table();
  assert_null(fit("L", 0, "nosuch/m.json", &err));
  assert_int_equal(err.status, TCT_E_RUN);
  assert_int_equal(count_runs(), 0);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = (struct rlimit){1000, old.rlim_max}; /* no model fits into 1000 bytes, nor does a page of the ledger */
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  assert_null(fit(NULL, 0, "m.json", &err)); /* without a ledger: only the model can be too long */
  setrlimit(RLIMIT_FSIZE, &old);
  assert_int_equal(err.status, TCT_E_RUN);
  assert_non_null(strstr(err.text, "m.json"));
  tct_model *model = fit("L", 0, "m.json", &err);
  if (!model) fail_msg("%s", err.text);
  assert_int_equal(tct_model_write(model, "m.json", &err), TCT_OK);
  tct_model_free(model);
  model = tct_model_read("m.json", NULL, NULL, &err); /* what was reserved and not needed is cut off */
  assert_non_null(model);
  tct_model_free(model);
}

static void a_ledger_that_cannot_be_made_leaves_nothing(void **state) {
  (void)state;
  tct_error err = {0};
  struct rlimit old, small;
  tct_ledger_options options;
  tct_ledger_options_default(&options);
  options.epsilon = 1;
  options.delta = 1e-5;
  unlink("M");
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = (struct rlimit){6000, old.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  tct_status status = tct_ledger_make("M", &options, &err);
  setrlimit(RLIMIT_FSIZE, &old);
  assert_int_not_equal(status, TCT_OK);
  assert_int_not_equal(access("M", F_OK), 0);
  assert_int_not_equal(access("M-journal", F_OK), 0);
  options.anchor = "nosuch/anchor";
  assert_int_not_equal(tct_ledger_make("M", &options, &err), TCT_OK);
  assert_int_not_equal(access("M", F_OK), 0);
}

/* A file as the first version wrote it, with one run; by hand, with the chain's hashes. */
static void old_ledger(void) {
  static const char *const drop[] = {"DROP TABLE notes", "DROP TABLE secret", "DROP TABLE prints",
                                     "PRAGMA user_version = 1", "UPDATE meta SET version = 1"};
  sqlite3 *db;
  make_ledger(0, 0, NULL);
  assert_int_equal(sqlite3_open("L", &db), SQLITE_OK);
  for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
    assert_int_equal(sqlite3_exec(db, drop[i], NULL, NULL, NULL), SQLITE_OK);
  sqlite3_stmt *row;
  char hash[TCT_DIGEST_HEX], sql[200], zeros[TCT_DIGEST_HEX];
  memset(zeros, '0', sizeof zeros - 1);
  zeros[sizeof zeros - 1] = 0;
  assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM meta", -1, &row, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(row), SQLITE_ROW);
  tct_ledger_row_hash(row, "meta", zeros, hash);
  sqlite3_finalize(row);
  snprintf(sql, sizeof sql, "UPDATE meta SET hash = '%s'; UPDATE head SET seq = 1, hash = '%s'", hash, hash);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void a_ledger_of_the_first_version_is_reserved_from_and_charged(void **state) {
  (void)state;
  tct_error err = {0};
  char id[TCT_LEDGER_ID] = "";
  old_ledger();
  fill_table();
  assert_int_equal(in_phases(0.5, 600, id, &err), TCT_OK);
  assert_int_equal(in_phases(0.5, 0, id, &err), TCT_OK);
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  assert_int_equal(count_runs(), 2);
  assert_true(check_passes(NULL, 0));
}

static void a_ledger_of_the_first_version_is_read_and_continued_under_the_rules_of_today(void **state) {
  (void)state;
  tct_error err = {0};
  old_ledger();
  fill_table();
  json_t *root = ledger_now();
  assert_int_equal(number_at(root, NULL, "version"), 1);
  char head[TCT_DIGEST_HEX];
  snprintf(head, sizeof head, "%s", json_string_value(json_object_get(root, "head")));
  json_decref(root);
  assert_null(fit("L", 7, NULL, &err)); /* no seeds */
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  root = ledger_now();
  assert_int_equal(number_at(root, NULL, "version"), 2);
  assert_string_equal(json_string_value(json_object_get(root, "unit")), "record");
  json_decref(root);
  assert_true(check_passes(NULL, 0));
  x[0] += 1;
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_E_BUDGET);
  assert_true(head[0] != 0);
}

/* Its fingerprints would else be under a key that everybody knows. */
static void a_ledger_of_the_first_version_is_given_a_key_of_its_own(void **state) {
  (void)state;
  tct_error err = {0};
  tct_key key[2] = {{0}, {0}};
  unsigned char zero[TCT_KEY] = {0};
  char id[2][TCT_DIGEST_HEX];
  old_ledger();
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tct_ledger_identify("L", id[i], key[i], &err), TCT_OK);
    assert_memory_not_equal(key[i], zero, sizeof zero);
  }
  assert_memory_not_equal(key[0], key[1], sizeof zero);
  assert_string_not_equal(id[0], id[1]);
  assert_int_equal(charge_rows("L", 0, N, 0, NULL), TCT_OK);
  for (int i = 0; i < 2; i++) assert_int_equal(tct_ledger_identify("L", id[i], key[i], &err), TCT_OK);
  assert_memory_equal(key[0], key[1], sizeof zero); /* the one that the charge wrote */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_seeded_run_is_refused_before_the_charge_and_changes_nothing),
      cmocka_unit_test(a_ledger_for_tests_takes_a_seed_and_marks_itself_its_entry_and_its_models),
      cmocka_unit_test(a_run_of_the_other_unit_is_refused),
      cmocka_unit_test(unaccounted_facts_are_in_the_entry_and_counted),
      cmocka_unit_test(the_same_rows_in_any_order_and_parts_of_them_are_known),
      cmocka_unit_test(rows_that_were_corrected_or_appended_need_a_reason_which_makes_an_entry),
      cmocka_unit_test(declared_parts_are_no_changed_input),
      cmocka_unit_test(a_print_is_the_same_for_all_layouts_and_threads_and_another_for_another_key),
      cmocka_unit_test(every_row_of_a_long_table_is_in_its_print),
      cmocka_unit_test(no_fingerprint_and_no_key_is_exported),
      cmocka_unit_test(the_same_table_on_a_second_ledger_is_told_and_the_registry_is_the_users_alone),
      cmocka_unit_test(tables_that_many_processes_note_at_once_are_each_a_whole_line),
      cmocka_unit_test(the_registry_is_made_where_its_three_variables_say),
      cmocka_unit_test(a_ledger_behind_its_anchor_is_charged_no_more),
      cmocka_unit_test(a_lost_anchor_is_a_row_of_the_chain_and_a_new_one_begins),
      cmocka_unit_test(a_ledger_with_an_older_anchor_is_ahead_of_it_and_is_charged),
      cmocka_unit_test(a_model_without_room_is_found_out_before_the_charge),
      cmocka_unit_test(a_ledger_that_cannot_be_made_leaves_nothing),
      cmocka_unit_test(a_ledger_of_the_first_version_is_reserved_from_and_charged),
      cmocka_unit_test(a_ledger_of_the_first_version_is_read_and_continued_under_the_rules_of_today),
      cmocka_unit_test(a_ledger_of_the_first_version_is_given_a_key_of_its_own),
  };
  fill_table();
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
