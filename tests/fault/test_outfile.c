/* test_outfile.c - any call fails on the way to a whole file: it is there whole, or the folder is as it was. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/outfile.h"

/* What the file system is like: it has files without names, and they can be linked; the n-th call fails. */
static struct {
  bool armed, no_unnamed, no_links;
  int calls, fail_at;
} disk;

static bool fails(void) {
  if (!disk.armed || ++disk.calls != disk.fail_at) return false;
  errno = EIO;
  return true;
}

/* In place of the C library's. */
int openat(int folder, const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (disk.armed && disk.no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  return fails() ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  if (disk.armed && disk.no_links) return errno = EPERM, -1;
  return fails() ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return fails() ? -1 : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

int fsync(int file) { return fails() ? -1 : (int)syscall(SYS_fsync, file); }
int ftruncate(int file, off_t length) { return fails() ? -1 : (int)syscall(SYS_ftruncate, file, length); }
int fchmod(int file, mode_t mode) { return fails() ? -1 : (int)syscall(SYS_fchmod, file, mode); }
int posix_fallocate(int file, off_t from, off_t length) {
  return fails() ? ENOSPC : syscall(SYS_fallocate, file, 0, from, length) == 0 ? 0 : errno;
}
ssize_t write(int file, const void *bytes, size_t count) {
  return fails() ? -1 : (ssize_t)syscall(SYS_write, file, bytes, count);
}

enum { LENGTH = 20000 };
static char folder[] = "/tmp/tacit-outfile-XXXXXX", text[LENGTH + 1], old[] = "what was there before";

static int count_names(void) {
  int names = 0;
  DIR *list = opendir(".");
  assert_non_null(list);
  while (readdir(list)) names++;
  closedir(list);
  return names - 2; /* this folder and the one above */
}

static void put(const char *bytes) {
  FILE *file = fopen("out", "wb");
  assert_non_null(file);
  assert_true(fputs(bytes, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static bool holds(const char *bytes) {
  static char found[LENGTH + 2];
  FILE *file = fopen("out", "rb");
  if (!file) return false;
  size_t got = fread(found, 1, sizeof found - 1, file);
  found[got] = 0;
  fclose(file);
  return strcmp(found, bytes) == 0;
}

/* Writes the text; true: it was said to be there. */
static bool write_out(tct_error *err) {
  tct_outfile out = {0};
  tct_status status = tct_outfile_open(&out, "out", TCT_OUT_FILE, NULL, err);
  if (status == TCT_OK) status = tct_outfile_reserve(&out, LENGTH, err);
  if (status == TCT_OK) fwrite(text, 1, LENGTH, out.file);
  if (status == TCT_OK) status = tct_outfile_commit(&out, err);
  tct_outfile_abandon(&out);
  return status == TCT_OK;
}

static void assert_whole_or_as_before(bool made, bool there, const tct_error *err) {
  if (made ? !holds(text) : there ? !holds(old) : count_names() != 0)
    fail_msg("call %d of %s%s%s: %s", disk.fail_at, disk.no_unnamed ? "named " : "", disk.no_links ? "copied " : "",
             there ? "replaced" : "new", made ? "not whole" : err->text);
  if (count_names() != (made || there)) fail_msg("call %d: %d names are left", disk.fail_at, count_names());
}

static void a_call_that_fails_leaves_the_whole_file_or_what_was_there(void **state) {
  (void)state;
  for (int kind = 0; kind < 6; kind++) {
    bool there = kind % 2;
    int failed = 0;
    for (int n = 1;; n++) {
      tct_error err = {0};
      unlink("out");
      if (there) put(old);
      disk.calls = 0, disk.fail_at = n, disk.no_unnamed = kind / 2 == 1, disk.no_links = kind / 2 == 2;
      disk.armed = true;
      bool made = write_out(&err);
      disk.armed = false;
      assert_whole_or_as_before(made, there, &err);
      failed += !made;
      if (disk.calls < n && !made) fail_msg("kind %d: %s", kind, err.text);
      if (disk.calls < n) break; /* none failed */
    }
    assert_true(failed >= 3); /* the room, the length, the sync */
  }
}

static void a_file_that_may_not_grow_leaves_what_was_there(void **state) {
  (void)state;
  struct rlimit before, now;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  for (int there = 0; there < 2; there++)
    for (rlim_t most = 0; most < LENGTH; most += 1777) {
      tct_error err = {0};
      tct_outfile out = {0};
      unlink("out");
      if (there) put(old);
      now = (struct rlimit){most, before.rlim_max};
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
      bool made = tct_outfile_open(&out, "out", TCT_OUT_FILE, NULL, &err) == TCT_OK;
      if (made) fwrite(text, 1, LENGTH, out.file);
      made = made && tct_outfile_commit(&out, &err) == TCT_OK;
      tct_outfile_abandon(&out);
      assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
      assert_false(made);
      assert_non_null(strstr(err.text, "make room"));
      assert_whole_or_as_before(false, there, &err);
    }
}

static int begin(void **state) {
  (void)state;
  memset(text, 'x', LENGTH);
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  unlink("out");
  return chdir("/") == 0 ? rmdir(folder) : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_that_fails_leaves_the_whole_file_or_what_was_there),
      cmocka_unit_test(a_file_that_may_not_grow_leaves_what_was_there),
  };
  return cmocka_run_group_tests_name("files that appear whole", tests, begin, end);
}
