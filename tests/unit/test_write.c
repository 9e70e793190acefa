/* test_write.c - a text becomes a file whole or not at all, and what was there before survives a failure. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/write.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int enter_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/tacit-write-XXXXXX");
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

static void fails(const char *path, tct_status status) {
  tct_error err = {0};
  assert_int_equal(tct_write_whole(path, "new", &err), status);
  assert_int_equal(err.status, status);
  assert_non_null(strstr(err.text, "; ")); /* what is wrong; what to do */
}

static void a_text_is_written_to_the_last_byte(void **state) {
  (void)state;
  char *large = malloc(3000001);
  for (int i = 0; i < 3000000; i++) large[i] = (char)('a' + i % 26);
  large[3000000] = 0;
  const char *const texts[] = {"", "one line\n", "no end of line", large};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(tct_write_whole("m", texts[i], NULL), TCT_OK);
    holds("m", texts[i]);
    assert_int_equal(entries(), 1); /* nothing is left beside it */
  }
  free(large);
}

static void an_existing_file_keeps_its_permissions(void **state) {
  (void)state;
  static const mode_t modes[] = {0600, 0640, 0444, 0755};
  struct stat info;
  for (int i = 0; i < 4; i++) {
    put("m", "old");
    assert_int_equal(chmod("m", modes[i]), 0);
    assert_int_equal(tct_write_whole("m", "new", NULL), TCT_OK);
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
  assert_int_equal(tct_write_whole("m", "new", NULL), TCT_OK);
  umask(before);
  assert_int_equal(stat("m", &info), 0);
  assert_int_equal(info.st_mode & 07777, 0640);
}

static void a_link_is_followed_and_stays_a_link(void **state) {
  (void)state;
  struct stat info;
  put("target", "old");
  assert_int_equal(symlink("target", "m"), 0);
  assert_int_equal(tct_write_whole("m", "new", NULL), TCT_OK);
  holds("target", "new");
  assert_int_equal(lstat("m", &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(entries(), 2);
}

static void a_device_is_written_in_place_and_stays_a_device(void **state) {
  (void)state;
  struct stat info;
  assert_int_equal(tct_write_whole("/dev/null", "new", NULL), TCT_OK);
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void a_full_device_is_an_error(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  fails("/dev/full", TCT_E_RUN);
}

/* A limit on the size of files stands for a full disk, for root as well. */
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
  tct_status existing = tct_write_whole("m", large, &err), absent = tct_write_whole("n", large, NULL);
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
  assert_int_equal(tct_write_check("m", NULL), TCT_OK);
  assert_int_equal(tct_write_check("n", NULL), TCT_OK);
  assert_int_equal(tct_write_check("d", NULL), TCT_E_RUN);
  assert_int_equal(tct_write_check("absent/m", NULL), TCT_E_RUN);
  assert_int_equal(tct_write_check("", NULL), TCT_E_USAGE);
  holds("m", "old");
  assert_int_equal(entries(), 2);
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
      TEST(a_full_disk_leaves_the_old_file_and_nothing_else),
      TEST(a_directory_or_no_folder_or_no_name_is_an_error),
      TEST(a_check_says_what_writing_would_and_changes_nothing),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
