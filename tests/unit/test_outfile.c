/* test_outfile.c - a file is written whole or not at all, and over nothing that this run reads or that keeps a budget.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/outfile.h"
#include "short_ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64];

static int enter_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/tacit-outfile-XXXXXX");
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

/* Removes what a test made; *state is not used. */
static int empty_folder(void **state) {
  (void)state;
  DIR *here = opendir(".");
  for (struct dirent *e; here && (e = readdir(here));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && unlink(e->d_name) != 0) rmdir(e->d_name);
  return here ? closedir(here) : -1;
}

static int leave_folder(void **state) {
  (void)state;
  return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static int entries(void) {
  int count = -2; /* "." and ".." */
  DIR *here = opendir(".");
  while (readdir(here)) count++;
  closedir(here);
  return count;
}

static void holds(const char *path, const char *text) {
  size_t length = strlen(text);
  char *got = malloc(length + 2);
  FILE *in = fopen(path, "rb");
  assert_non_null(in);
  assert_int_equal(fread(got, 1, length + 2, in), length);
  assert_memory_equal(got, text, length);
  fclose(in);
  free(got);
}

static void put(const char *path, const char *text) {
  FILE *out = fopen(path, "wb");
  assert_true(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void print(FILE *file, void *text) { fputs(text, file); }

/* NULL: could it be written? */
static tct_status write_text(const char *path, const char *text, tct_error *err) {
  return tct_file_write(path, NULL, 1, text ? print : NULL, (void *)(uintptr_t)text, err);
}

static void fails_beside(const char *path, const char *const *inputs, int stream, const char *word, tct_status status) {
  for (int asks = 0; asks < 2; asks++) {
    tct_error err = {0};
    assert_int_equal(tct_file_write(path, inputs, stream, asks ? NULL : print, "new", &err), status);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.text, "; ")); /* what is wrong; what to do */
    if (!strstr(err.text, word)) fail_msg("%s: %s", word, err.text);
  }
}

static void fails(const char *path, tct_status status) { fails_beside(path, NULL, 1, "", status); }

static void a_text_is_written_to_the_last_byte(void **state) {
  (void)state;
  char *large = malloc(3000001);
  for (int i = 0; i < 3000000; i++) large[i] = (char)('a' + i % 26);
  large[3000000] = 0;
  const char *const texts[] = {"", "one line\n", "no end of line", large};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(write_text("m", texts[i], NULL), TCT_OK);
    holds("m", texts[i]);
    assert_int_equal(entries(), 1); /* nothing is left beside it */
  }
  free(large);
}

static void an_existing_file_keeps_its_permissions(void **state) {
  (void)state;
  static const mode_t modes[] = {0600, 0640, 0755};
  struct stat info;
  for (int i = 0; i < 3; i++) {
    put("m", "old");
    assert_int_equal(chmod("m", modes[i]), 0);
    assert_int_equal(write_text("m", "new", NULL), TCT_OK);
    holds("m", "new");
    assert_int_equal(stat("m", &info), 0);
    assert_int_equal(info.st_mode & 07777, modes[i]);
    unlink("m");
  }
}

static void a_new_file_obeys_the_mask(void **state) {
  (void)state;
  struct stat info;
  mode_t before = umask(027);
  assert_int_equal(write_text("m", "new", NULL), TCT_OK);
  umask(before);
  assert_int_equal(stat("m", &info), 0);
  assert_int_equal(info.st_mode & 07777, 0640);
}

static void a_link_is_followed_and_stays_a_link(void **state) {
  (void)state;
  struct stat info;
  put("target", "old");
  assert_int_equal(symlink("target", "m"), 0);
  assert_int_equal(write_text("m", "new", NULL), TCT_OK);
  holds("target", "new");
  assert_int_equal(lstat("m", &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(entries(), 2);
}

static void a_device_is_written_in_place_and_stays_a_device(void **state) {
  (void)state;
  struct stat info;
  assert_int_equal(write_text("/dev/null", "new", NULL), TCT_OK);
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void a_full_device_is_an_error(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(write_text("/dev/full", "new", NULL), TCT_E_RUN);
  fails_beside("/dev/full", NULL, 0, "not a regular file", TCT_E_RUN);
}

static void a_write_protected_file_stays(void **state) {
  (void)state;
  put("m", "old");
  assert_int_equal(chmod("m", 0444), 0);
  fails_beside("m", NULL, 1, "write-protected", TCT_E_RUN);
  holds("m", "old");
}

static void a_strangers_file_gives_no_permission_away(void **state) {
  (void)state;
  struct stat info;
  put("m", "old");
  assert_int_equal(chmod("m", 04666), 0);
  if (chown("m", 12345, 12345) != 0) skip(); /* root alone gives a file away */
  mode_t before = umask(022);
  assert_int_equal(write_text("m", "new", NULL), TCT_OK);
  umask(before);
  assert_int_equal(stat("m", &info), 0);
  assert_int_equal(info.st_mode & 07777, 0644);
}

/* A call that opened a pipe without a reader, or a socket, would never come back. */
static void what_is_no_file_is_not_opened(void **state) {
  (void)state;
  struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "socket"};
  int one = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(one, (const struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(mkfifo("pipe", 0600), 0);
  assert_int_equal(symlink("pipe", "link"), 0);
  assert_int_equal(symlink("nowhere", "lost"), 0);
  assert_int_equal(symlink("loop", "loop"), 0);
  fails_beside("socket", NULL, 1, "not a regular file", TCT_E_RUN);
  fails_beside("pipe", NULL, 1, "not a regular file", TCT_E_RUN);
  fails_beside("link", NULL, 1, "not a regular file", TCT_E_RUN);
  fails_beside("lost", NULL, 1, "leads nowhere", TCT_E_RUN);
  fails_beside("loop", NULL, 1, "loop", TCT_E_RUN);
  fails_beside("new/", NULL, 1, "directory", TCT_E_RUN);
  fails_beside("-", NULL, 1, "must be a file", TCT_E_USAGE);
  close(one);
  assert_int_equal(entries(), 5);
}

static void an_input_stays_by_whatever_name_it_is_called(void **state) {
  (void)state;
  static const char *const names[] = {"in", "./in", "hard", "soft", "d/../in", "here/in", "d/up/in"};
  static const char *const inputs[] = {"other", "in", NULL}, *const linked[] = {"d/up/hard", NULL};
  char whole[200];
  put("in", "old");
  assert_int_equal(mkdir("d", 0700) | link("in", "hard") | symlink("in", "soft") | symlink(".", "here"), 0);
  assert_int_equal(symlink("..", "d/up"), 0);
  for (int i = 0; i < 7; i++) {
    fails_beside(names[i], inputs, 1, "already", TCT_E_USAGE);
    fails_beside(names[i], linked, 1, "the same file", TCT_E_USAGE);
  }
  snprintf(whole, sizeof whole, "%s/in", folder);
  fails_beside(whole, inputs, 1, "the same file", TCT_E_USAGE);
  holds("in", "old");
  assert_int_equal(tct_file_write("out", inputs, 0, print, "new", NULL), TCT_OK);
  holds("out", "new");
  unlink("d/up");
}

static void two_outputs_that_are_not_there_yet_are_compared_by_folder_and_name(void **state) {
  (void)state;
  char whole[200];
  assert_int_equal(mkdir("d", 0700) | symlink(".", "here"), 0);
  snprintf(whole, sizeof whole, "%s/out", folder);
  const char *const names[] = {"out", "./out", "d/../out", "here/out", whole};
  for (int i = 0; i < 5; i++) {
    const char *const inputs[] = {names[i], NULL};
    fails_beside("out", inputs, 1, "already", TCT_E_USAGE);
    assert_int_equal(tct_file_write("d/out", inputs, 1, NULL, NULL, NULL), TCT_OK);
    assert_int_equal(tct_file_write("outer", inputs, 1, NULL, NULL, NULL), TCT_OK);
  }
  assert_int_equal(entries(), 2);
}

static void standard_input_is_an_input(void **state) {
  (void)state;
  static const char *const inputs[] = {"-", NULL};
  int kept = dup(STDIN_FILENO);
  put("in", "old");
  int in = open("in", O_RDONLY);
  assert_true(kept >= 0 && dup2(in, STDIN_FILENO) == STDIN_FILENO);
  fails_beside("in", inputs, 1, "standard input", TCT_E_USAGE);
  assert_int_equal(tct_file_write("out", inputs, 1, print, "new", NULL), TCT_OK);
  dup2(kept, STDIN_FILENO);
  close(kept);
  close(in);
}

static void what_keeps_a_budget_is_never_replaced(void **state) {
  (void)state;
  static const char *const heads[] = {"SQLite format 3", "tacit-anchor 1 ab 3 cd", "tacit-tables 1 ab"};
  for (int i = 0; i < 3; i++) {
    put("m", heads[i]);
    fails_beside("m", NULL, 1, "name another output", TCT_E_USAGE);
    holds("m", heads[i]);
    int fd = open("m", O_WRONLY | O_APPEND);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    fails_beside(name, NULL, 1, "name another output", TCT_E_USAGE);
    close(fd);
    holds("m", heads[i]);
  }
  put("m", heads[0]);
  fails_beside("m-journal", NULL, 1, "belongs to the ledger", TCT_E_USAGE);
  fails_beside("m-wal", NULL, 1, "belongs to the ledger", TCT_E_USAGE);
  fails_beside("./m-shm", NULL, 1, "belongs to the ledger", TCT_E_USAGE);
  assert_int_equal(entries(), 1);
  assert_int_equal(write_text("n-journal", "new", NULL), TCT_OK);
}

static void a_link_in_a_folder_of_many_is_not_followed(void **state) {
  (void)state;
  static const mode_t shared[] = {01777, 0777, 0775, 0757, 01700};
  put("target", "old");
  assert_int_equal(mkdir("d", 0700) | mkdir("d/own", 0700), 0);
  assert_int_equal(symlink("../target", "d/file") | symlink("..", "d/up") | symlink("d/file", "over"), 0);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(chmod("d", shared[i]), 0);
    fails_beside("d/file", NULL, 1, "others may write to", TCT_E_RUN);
    fails_beside("d/up/new", NULL, 1, "others may write to", TCT_E_RUN);
    fails_beside("d/own/../up/new", NULL, 1, "others may write to", TCT_E_RUN);
    fails_beside("over", NULL, 1, "others may write to", TCT_E_RUN);
    assert_int_equal(write_text("d/own/new", "new", NULL), TCT_OK); /* there are no links on this way */
    assert_int_equal(write_text("d/new", "new", NULL), TCT_OK);
  }
  holds("target", "old");
  assert_int_equal(chmod("d", 0755), 0);
  assert_int_equal(write_text("over", "new", NULL), TCT_OK);
  holds("target", "new");
  unlink("d/own/new");
  assert_int_equal(rmdir("d/own") | unlink("d/file") | unlink("d/up") | unlink("d/new"), 0);
}

static void a_descriptor_is_written_where_it_stands(void **state) {
  (void)state;
  static const char *const inputs[] = {"m", NULL};
  char name[64];
  put("m", "old");
  int fd = open("m", O_WRONLY | O_APPEND), reader = open("m", O_RDONLY);
  for (int i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "%s/fd/%d", i ? "/proc/self" : "/dev", fd);
    assert_int_equal(write_text(name, "new", NULL), TCT_OK);
    fails_beside(name, NULL, 0, "not a regular file", TCT_E_RUN);
    fails_beside(name, inputs, 1, "the same file", TCT_E_USAGE);
  }
  holds("m", "oldnewnew");
  snprintf(name, sizeof name, "/dev/fd/%d", reader);
  fails(name, TCT_E_RUN);
  close(reader);
  fails(name, TCT_E_RUN);
  close(fd);
  holds("m", "oldnewnew");
}

/* A limit on the size of files stands for a full disk, for root as well. */
static void print_apart(FILE *file, void *text) {
  assert_true(fileno(file) > STDERR_FILENO);
  fputs(text, file);
}

/* A service may have no standard streams, and what is printed to them is in no file then. */
static void a_closed_standard_stream_does_not_become_the_file(void **state) {
  (void)state;
  for (int stream = 0; stream < 3; stream++) {
    int kept = fcntl(stream, F_DUPFD_CLOEXEC, 3);
    close(stream);
    tct_status status = tct_file_write("m", NULL, 0, print_apart, "new", NULL);
    dup2(kept, stream);
    close(kept);
    assert_int_equal(status, TCT_OK);
    holds("m", "new");
  }
}

static void a_log_outlives_whoever_writes_it(void **state) {
  (void)state;
  static const char *const inputs[] = {"table", NULL};
  tct_outfile log;
  put("log", "old");
  put("table", "rows");
  assert_int_equal(tct_outfile_open(&log, "table", TCT_OUT_LOG, inputs, NULL), TCT_E_USAGE);
  holds("table", "rows");
  assert_int_equal(tct_outfile_open(&log, "log", TCT_OUT_LOG, inputs, NULL), TCT_OK);
  holds("log", "");
  fputs("one line", log.file);
  assert_int_equal(fflush(log.file), 0);
  holds("log", "one line"); /* as it would stand if the process were killed now */
  tct_outfile_abandon(&log);
  holds("log", "one line");
  assert_int_equal(entries(), 2);
}

static void a_name_may_be_as_long_as_the_system_takes_it(void **state) {
  (void)state;
  char name[256] = "";
  memset(name, 'm', sizeof name - 1);
  for (int there = 0; there < 2; there++) {
    assert_int_equal(write_text(name, there ? "new" : "old", NULL), TCT_OK);
    holds(name, there ? "new" : "old");
  }
  assert_int_equal(entries(), 1);
}

static void a_full_disk_leaves_the_old_file_and_nothing_else(void **state) {
  (void)state;
  struct rlimit usual, small = {1000, 1000};
  tct_error err = {0};
  char *large = malloc(100001);
  memset(large, 'x', 100000);
  large[100000] = 0;
  put("m", "old");
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
  small.rlim_max = usual.rlim_max;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  tct_status existing = write_text("m", large, &err), absent = write_text("n", large, NULL);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
  signal(SIGXFSZ, handler);
  assert_int_equal(existing, TCT_E_RUN);
  assert_int_equal(absent, TCT_E_RUN);
  assert_non_null(strstr(err.text, "; "));
  holds("m", "old");
  assert_int_equal(entries(), 1);
  free(large);
}

static void a_directory_or_no_folder_or_no_name_is_an_error(void **state) {
  (void)state;
  char longer[300]; /* than a name may be */
  memset(longer, 'a', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  assert_int_equal(mkdir("d", 0700), 0);
  fails("d", TCT_E_RUN);
  fails(".", TCT_E_RUN);
  fails("absent/m", TCT_E_RUN);
  put("plain", "old");
  fails("plain/m", TCT_E_RUN);
  fails(longer, TCT_E_RUN);
  fails("", TCT_E_USAGE);
  fails(NULL, TCT_E_USAGE);
  holds("plain", "old");
  assert_int_equal(entries(), 2);
}

static void a_check_says_what_writing_would_and_changes_nothing(void **state) {
  (void)state;
  assert_int_equal(mkdir("d", 0700), 0);
  put("m", "old");
  assert_int_equal(write_text("m", NULL, NULL), TCT_OK);
  assert_int_equal(write_text("n", NULL, NULL), TCT_OK);
  assert_int_equal(write_text("d", NULL, NULL), TCT_E_RUN);
  assert_int_equal(write_text("absent/m", NULL, NULL), TCT_E_RUN);
  assert_int_equal(write_text("", NULL, NULL), TCT_E_USAGE);
  holds("m", "old");
  assert_int_equal(entries(), 2);
}

/* ---- what the library itself was given ------------------------------------------------------------------------ */

static void settings(tct_config *config, tct_read_options *options) {
  tct_config_default(config);
  config->loss = "logistic", config->solver = "dpgd", config->penalty = "l2:lambda=0.1";
  config->epsilon = 1, config->delta = 1e-6;
  tct_read_options_default(options);
  options->labels = TCT_LABELS_BINARY, options->schema_path = "s.json";
}

/* Of two parts. */
static tct_data *read_table(const tct_read_options *options) {
  static const char *const parts[] = {"a.csv", "b.csv"};
  assert_int_equal(tct_generate("a.csv", "s.json", TCT_LABELS_BINARY, 200, 1, NULL), TCT_OK);
  assert_int_equal(tct_generate("b.csv", NULL, TCT_LABELS_BINARY, 200, 2, NULL), TCT_OK);
  tct_data *data = tct_data_read_parts(parts, 2, options, NULL, NULL);
  assert_non_null(data);
  return data;
}

static tct_model *train(const tct_config *given, const tct_data *data, tct_error *err) {
  tct_config config = *given;
  assert_int_equal(tct_config_use_schema(&config, data, NULL, NULL, NULL), TCT_OK);
  tct_plan *plan = tct_plan_new(&config, tct_data_rows(data), tct_data_cols(data), err);
  assert_non_null(plan);
  tct_model *model = tct_fit(plan, data, err);
  tct_plan_free(plan);
  return model;
}

static int64_t size_of(const char *path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return info.st_size;
}

static void a_model_goes_over_none_of_the_files_that_it_was_trained_from(void **state) {
  (void)state;
  static const char *const read[] = {"a.csv", "b.csv", "s.json", "hard"};
  tct_config config;
  tct_read_options options;
  settings(&config, &options);
  tct_data *data = read_table(&options), *again = tct_data_relabel(data, NULL, TCT_LABELS_BINARY, NULL, 0, 0, NULL);
  int64_t before[4];
  assert_non_null(again);
  assert_int_equal(link("b.csv", "hard"), 0);
  tct_model *model = train(&config, data, NULL), *other = train(&config, again, NULL);
  assert_true(model && other);
  assert_int_equal(mkdir("d", 0700), 0);
  for (int i = 0; i < 4; i++) before[i] = size_of(read[i]);
  assert_int_equal(chdir("d"), 0); /* the names are whole by now */
  for (int i = 0; i < 4; i++) {
    char name[32];
    snprintf(name, sizeof name, "../%s", read[i]);
    assert_int_equal(tct_model_write(model, name, NULL), TCT_E_USAGE);
    assert_int_equal(tct_model_write(other, name, NULL), TCT_E_USAGE);
    assert_int_equal(tct_report_page_write(model, NULL, name, NULL), TCT_E_USAGE);
    assert_int_equal(tct_export_liblinear(model, name, NULL), TCT_E_USAGE);
  }
  assert_int_equal(chdir(".."), 0);
  for (int i = 0; i < 4; i++) assert_int_equal(size_of(read[i]), before[i]);
  assert_int_equal(tct_model_write(model, "m.json", NULL), TCT_OK);
  tct_model_free(model);
  model = tct_model_read("m.json", NULL, NULL, NULL);
  assert_int_equal(tct_report_page_write(model, NULL, "m.json", NULL), TCT_E_USAGE);
  assert_int_equal(tct_export_liblinear(model, "./m.json", NULL), TCT_E_USAGE);
  assert_int_equal(tct_model_write(model, "m.json", NULL), TCT_OK); /* what it says is there already */
  tct_model_free(model);
  tct_model_free(other);
  tct_data_free(again);
  tct_data_free(data);
}

static void a_run_whose_output_is_its_table_charges_nothing(void **state) {
  (void)state;
  static const char *const outputs[] = {"a.csv", "s.json", "people.ledger", "people.ledger-journal", "pipe"};
  tct_config config;
  tct_read_options options;
  settings(&config, &options);
  tct_data *data = read_table(&options);
  assert_int_equal(setenv("TACIT_REGISTRY", "none", 1), 0);
  assert_int_equal(begin_ledger("people.ledger", NULL, NULL, TCT_ADD_REMOVE, 9, 1e-3, NULL), TCT_OK);
  assert_int_equal(mkfifo("pipe", 0600), 0);
  config.ledger = "people.ledger";
  for (int i = 0; i < 5; i++) {
    tct_error err;
    config.output = outputs[i];
    assert_null(train(&config, data, &err));
    assert_non_null(strstr(err.text, outputs[i]));
  }
  char *text = tct_ledger_json("people.ledger", NULL);
  assert_non_null(strstr(text, "\"runs\": []"));
  tct_text_free(text);
  tct_data_free(data);
}

static void a_population_needs_two_files(void **state) {
  (void)state;
  assert_int_equal(symlink(".", "here"), 0);
  assert_int_equal(tct_generate("p.csv", "p.csv", TCT_LABELS_BINARY, 9, 1, NULL), TCT_E_USAGE);
  assert_int_equal(tct_generate("p.csv", "here/p.csv", TCT_LABELS_BINARY, 9, 1, NULL), TCT_E_USAGE);
  assert_int_equal(entries(), 1);
}

#define TEST(name) cmocka_unit_test_teardown(name, empty_folder)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_text_is_written_to_the_last_byte),
      TEST(an_existing_file_keeps_its_permissions),
      TEST(a_new_file_obeys_the_mask),
      TEST(a_link_is_followed_and_stays_a_link),
      TEST(a_device_is_written_in_place_and_stays_a_device),
      TEST(a_full_device_is_an_error),
      TEST(a_write_protected_file_stays),
      TEST(a_strangers_file_gives_no_permission_away),
      TEST(what_is_no_file_is_not_opened),
      TEST(an_input_stays_by_whatever_name_it_is_called),
      TEST(two_outputs_that_are_not_there_yet_are_compared_by_folder_and_name),
      TEST(standard_input_is_an_input),
      TEST(what_keeps_a_budget_is_never_replaced),
      TEST(a_link_in_a_folder_of_many_is_not_followed),
      TEST(a_descriptor_is_written_where_it_stands),
      TEST(a_closed_standard_stream_does_not_become_the_file),
      TEST(a_log_outlives_whoever_writes_it),
      TEST(a_name_may_be_as_long_as_the_system_takes_it),
      TEST(a_full_disk_leaves_the_old_file_and_nothing_else),
      TEST(a_directory_or_no_folder_or_no_name_is_an_error),
      TEST(a_check_says_what_writing_would_and_changes_nothing),
      TEST(a_model_goes_over_none_of_the_files_that_it_was_trained_from),
      TEST(a_run_whose_output_is_its_table_charges_nothing),
      TEST(a_population_needs_two_files),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
