/* test_ledger_anchor.c - a disk that fails under the anchor alone: before the charge nothing is lost, after it no run
 * ends.
 */
#define _GNU_SOURCE
#include "fault/ledger_help.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>

static int full; /* the disk under A */

/* In place of the C library's: the anchor may lie on another disk than the ledger, and that one is full. */
int posix_fallocate(int fd, off_t from, off_t length) {
  char link[32], name[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, name, sizeof name - 1) < 0) return errno;
  const char *file = strrchr(name, '/');
  if (full && file && (!strncmp(file, "/A.", 3) || strstr(file, "(deleted)"))) return ENOSPC; /* it has no name yet */
  return ftruncate(fd, from + length) == 0 ? 0 : errno;
}

static int stuck; /* the anchor's name cannot be taken */

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  if (stuck) return errno = EPERM, -1;
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

static tct_status charge_now(tct_error *err) {
  static const char *const event[] = {"gaussian:noise=30"};
  tct_charge charge;
  tct_charge_default(&charge);
  charge.delta = 1e-6;
  char *text = tct_ledger_charge("L", event, 1, &charge, err);
  tct_text_free(text);
  return text ? TCT_OK : err->status;
}

static int is_there(const char *name) { return access(name, F_OK) == 0; }

static void a_full_disk_under_the_anchor_is_found_out_before_the_charge(void **state) {
  (void)state;
  tct_error err = {0};
  tct_ledger_options options;
  tct_ledger_options_default(&options);
  options.epsilon = 5;
  options.delta = 1e-5;
  options.anchor = "A";
  full = 1;
  assert_int_equal(tct_ledger_make("L", &options, &err), TCT_E_RUN);
  assert_false(is_there("L") || is_there("A"));
  full = 0;
  assert_int_equal(tct_ledger_make("L", &options, &err), TCT_OK);
  assert_int_equal(charge_now(&err), TCT_OK);
  copy_file("A", "R");
  full = 1;
  assert_int_equal(charge_now(&err), TCT_E_RUN);
  assert_non_null(strstr(err.text, "make room"));
  assert_int_equal(count_runs(), 1);
  full = 0;
  assert_int_equal(charge_now(&err), TCT_OK); /* the anchor is as it was, and agrees */
  assert_int_equal(count_runs(), 2);
}

static void an_anchor_has_its_line_and_no_reserved_room_behind_it(void **state) {
  (void)state;
  struct stat info;
  assert_int_equal(stat("A", &info), 0);
  char line[512] = "";
  FILE *file = fopen("A", "rb");
  assert_non_null(file);
  size_t got = fread(line, 1, sizeof line - 1, file);
  fclose(file);
  assert_int_equal(got, info.st_size);
  assert_true(strlen(line) == got && line[got - 1] == '\n' && strchr(line, '\n') == line + got - 1);
}

static void an_anchor_that_cannot_follow_its_ledger_is_told_and_ends_no_run(void **state) {
  (void)state;
  static const char *const event[] = {"gaussian:noise=30"};
  tct_error err = {0};
  tct_charge charge;
  tct_charge_default(&charge);
  charge.delta = 1e-6;
  for (stuck = 1; stuck >= 0; stuck--) {
    int before = count_runs();
    json_t *told = parsed(tct_ledger_charge("L", event, 1, &charge, &err), &err);
    const char *warning = json_string_value(json_object_get(told, "warning"));
    assert_int_equal(stuck, warning && strstr(warning, "names an earlier row"));
    json_decref(told);
    assert_int_equal(count_runs(), before + 1);
    assert_true(check_passes(NULL, 0));
  }
  stuck = 1;
  tct_model *model = train_with_ledger(0.5, NULL, NULL, NULL, &err);
  stuck = 0;
  if (!model) fail_msg("%s", err.text);
  assert_non_null(strstr(tct_model_warning(model), "names an earlier row"));
  tct_model_free(model);
}

/* The ledger's name or the row's hash, with one digit changed anywhere. */
static void an_anchor_that_names_another_ledger_or_row_stops_every_charge(void **state) {
  (void)state;
  tct_error err = {0};
  char line[512] = "";
  int before = count_runs();
  copy_file("A", "R");
  FILE *file = fopen("R", "rb");
  assert_true(file && fgets(line, sizeof line, file));
  fclose(file);
  char *id = strchr(strchr(line, ' ') + 1, ' ') + 1, *hash = strrchr(line, ' ') + 1;
  for (int k = 0; k < 8; k++) {
    char *digit = (k % 2 ? hash : id) + (k / 2) * 21, was = *digit;
    *digit = was == '0' ? '1' : '0';
    file = fopen("A", "wb");
    assert_true(file && fputs(line, file) >= 0 && fclose(file) == 0);
    *digit = was;
    assert_int_equal(charge_now(&err), TCT_E_DATA);
    assert_non_null(strstr(err.text, k % 2 ? "rolled back" : "another ledger"));
  }
  copy_file("R", "A");
  assert_int_equal(count_runs(), before);
  assert_int_equal(charge_now(&err), TCT_OK);
}

/* A run prints its rows under the ledger's key.  Another file at the ledger's place has another key. */
static void a_ledger_that_was_exchanged_while_a_run_prepared_is_not_charged(void **state) {
  (void)state;
  tct_error err = {0};
  tct_key key;
  tct_event event = tct_event_gaussian(30, 1);
  tct_events events = {&event, 1, 1};
  char id[TCT_DIGEST_HEX];
  int before = count_runs();
  assert_int_equal(tct_ledger_identify("L", id, key, &err), TCT_OK);
  for (int exchanged = 1; exchanged >= 0; exchanged--) {
    tct_ledger_receipt receipt;
    tct_ledger_promise promise = {.events = &events, .epsilon = 0.2, .delta = 1e-6, .neighbours = TCT_ADD_REMOVE};
    promise.what = "a run", promise.key = key;
    key[0] ^= (unsigned char)exchanged;
    assert_int_equal(tct_ledger_promise_run("L", &promise, &receipt, &err), exchanged ? TCT_E_RUN : TCT_OK);
    if (exchanged) assert_non_null(strstr(err.text, "exchanged"));
    key[0] ^= (unsigned char)exchanged;
    assert_int_equal(count_runs(), before + !exchanged);
    tct_free(receipt.head);
    tct_free(receipt.run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_full_disk_under_the_anchor_is_found_out_before_the_charge),
      cmocka_unit_test(an_anchor_that_cannot_follow_its_ledger_is_told_and_ends_no_run),
      cmocka_unit_test(an_anchor_that_names_another_ledger_or_row_stops_every_charge),
      cmocka_unit_test(a_ledger_that_was_exchanged_while_a_run_prepared_is_not_charged),
      cmocka_unit_test(an_anchor_has_its_line_and_no_reserved_room_behind_it),
  };
  return cmocka_run_group_tests_name("the anchor's disk", tests, enter_folder, leave_folder);
}
