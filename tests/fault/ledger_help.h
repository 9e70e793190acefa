/* ledger_help.h - a folder of its own, ledgers with runs, and a small private training. */
#ifndef TCT_TEST_LEDGER_HELP_H
#define TCT_TEST_LEDGER_HELP_H
#include "core/alloc.h"
#include "ledger/ledger.h"
#include "short_ledger.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int enter_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/tacit-ledger-XXXXXX");
  setenv("TACIT_REGISTRY", "none", 1); /* the user's own is not for tests */
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
  (void)state;
  static const char *const names[] = {"L", "L.old", "L-journal", "m.json", "n.json", "o.json", "A", "R", "M"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
  return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static inline void new_ledger(double epsilon, const char *filter) {
  tct_error err = {0};
  unlink("L");
  if (begin_ledger("L", "test", filter, TCT_ADD_REMOVE, epsilon, 1e-5, &err) != TCT_OK) fail_msg("%s", err.text);
}

static inline json_t *parsed(char *text, const tct_error *err) {
  if (!text) fail_msg("%s", err->text);
  json_t *root = json_loads(text, 0, NULL);
  if (!root) fail_msg("no JSON: %s", text);
  tct_text_free(text);
  return root;
}

static inline json_t *ledger_now(void) {
  tct_error err = {0};
  return parsed(tct_ledger_json("L", &err), &err);
}

static inline int count_runs(void) {
  json_t *root = ledger_now();
  int runs = (int)json_array_size(json_object_get(root, "runs"));
  json_decref(root);
  return runs;
}

static inline double number_at(const json_t *root, const char *part, const char *key) {
  return json_number_value(json_object_get(part ? json_object_get(root, part) : root, key));
}

/* Reserves `epsilon` for `seconds`, or, with seconds 0, charges it: the reservation of this id, or none ("").  id: that
 * of the reservation that is made. */
static inline tct_status in_phases(double epsilon, double seconds, char id[TCT_LEDGER_ID], tct_error *err) {
  tct_event event = tct_event_gaussian(30, 2);
  tct_events events = {&event, 1, 1};
  tct_ledger_receipt receipt;
  tct_ledger_promise promise = {.events = &events,
                                .epsilon = epsilon,
                                .delta = 1e-6,
                                .neighbours = TCT_ADD_REMOVE,
                                .what = "a run of two parties",
                                .reserve = seconds,
                                .reserved = seconds > 0 || !id[0] ? NULL : id};
  tct_status status = tct_ledger_promise_run("L", &promise, &receipt, err);
  if (status == TCT_OK && seconds > 0) memcpy(id, receipt.run, TCT_LEDGER_ID);
  tct_free(receipt.head);
  tct_free(receipt.run);
  return status;
}

static inline void copy_file(const char *from, const char *to) {
  char block[4096];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  assert_true(in && out);
  for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;) assert_int_equal(fwrite(block, 1, got, out), got);
  assert_int_equal(fclose(in) | fclose(out), 0);
}

/* 1: the check of this name holds; 0: it fails; -1: it was not made. */
static inline int held(const json_t *report, const char *name) {
  size_t i;
  json_t *each;
  json_array_foreach(json_object_get(report, "checks"), i,
                     each) if (!strcmp(json_string_value(json_object_get(each, "name")),
                                       name)) return json_is_true(json_object_get(each, "ok"));
  return -1;
}

/* Does tct_ledger_check_json say ok?  A damaged length can also end in an error. */
static inline int check_passes(const char *const *models, size_t count) {
  tct_error err = {0};
  char *text = tct_ledger_check_json("L", models, count, &err);
  json_t *root = text ? parsed(text, &err) : NULL;
  int ok = json_is_true(json_object_get(root, "ok"));
  if (!text) assert_int_not_equal(err.status, TCT_OK);
  json_decref(root);
  return ok;
}

enum { ROWS = 120, COLS = 3 };

/* Trains on a table of its own, with labels as the loss wants them; NULL and *err on failure. */
static inline tct_model *train_small(const tct_config *config, tct_error *err) {
  static double x[ROWS * COLS], y[ROWS];
  int32_t labels = tct_config_labels(config);
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLS; j++) x[i * COLS + j] = ((i * 7 + j * 13) % 11 - 5) / 10.0;
    y[i] = labels == TCT_LABELS_CLASSES ? i % 3 : i % 3 ? 1 : -1;
  }
  tct_matrix view = {.rows = ROWS, .cols = COLS, .layout = TCT_DENSE_ROWS, .values = x, .stride = COLS};
  tct_data *data = tct_data_view(&view, y, labels, NULL, NULL, err);
  tct_plan *plan = data ? tct_plan_new(config, ROWS, COLS, err) : NULL;
  tct_model *model = plan ? tct_fit(plan, data, err) : NULL;
  tct_plan_free(plan);
  tct_data_free(data);
  return model;
}

/* The same with the ledger L. */
static inline tct_model *train_with_ledger(double epsilon, tct_progress_fn progress, tct_cancel_fn cancel, void *user,
                                           tct_error *err) {
  tct_config config;
  tct_config_default(&config);
  config.intercept = 0;
  config.loss = "logistic";
  config.penalty = "l2:lambda=1e-2";
  config.solver = "dpscd:batch=30,epochs=1";
  config.epsilon = epsilon;
  config.delta = 1e-7;
  config.row_norm = 1;
  config.threads = 1;
  config.ledger = "L";
  config.progress = progress;
  config.cancel = cancel;
  config.user = user;
  return train_small(&config, err);
}
#endif
