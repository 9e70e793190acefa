/* write.c - files that are replaced whole or stay as they were. */
#define _GNU_SOURCE
#include "fit/write.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tct_status failed(const char *what, const char *path, tct_error *err) {
  int why = errno;
  char reason[128] = "unknown reason";
  const char *text = strerror_r(why, reason, sizeof reason); /* GNU form: may return its own storage */
  return tct_fail(err, TCT_E_RUN, "cannot %s %s (%s); choose another place or free some space", what, path, text);
}

static int write_all(int fd, const char *text, size_t length) {
  while (length > 0) {
    ssize_t wrote = write(fd, text, length);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return -1;
    text += wrote;
    length -= (size_t)wrote;
  }
  return 0;
}

static tct_status write_in_place(const char *path, const char *text, tct_error *err) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return failed("open", path, err);
  int bad = write_all(fd, text, strlen(text));
  if (close(fd) != 0 || bad) return failed("write", path, err);
  return TCT_OK;
}

static tct_status sync_folder(const char *path, tct_error *err) {
  char *copy = tct_text_copy(path);
  if (!copy) return tct_fail_memory(err);
  int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int bad = fd < 0 || (fsync(fd) != 0 && errno != EINVAL);
  if (fd >= 0) close(fd);
  tct_free(copy);
  return bad ? failed("sync the folder of", path, err) : TCT_OK;
}

tct_status tct_write_check(const char *path, tct_error *err) {
  struct stat info;
  if (!path || !*path) return tct_fail(err, TCT_E_USAGE, "no output file is named; give one with -o");
  if (stat(path, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return tct_fail(err, TCT_E_RUN, "cannot write %s: it is a folder; name a file", path);
    if (!S_ISREG(info.st_mode)) return TCT_OK;
  }
  char *copy = tct_text_copy(path);
  if (!copy) return tct_fail_memory(err);
  int bad = access(dirname(copy), W_OK | X_OK) != 0;
  tct_free(copy);
  return bad ? failed("write", path, err) : TCT_OK;
}

/* Keeps an existing file's permissions; a new one gets what the process's mask allows. */
static void set_mode(int fd, const char *path) {
  struct stat info;
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = stat(path, &info) == 0 ? info.st_mode & 07777 : 0666 & ~mask;
  if (fchmod(fd, mode) != 0) return; /* only convenience */
}

tct_status tct_write_whole(const char *path, const char *text, tct_error *err) {
  struct stat info;
  TCT_TRY(tct_write_check(path, err));
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_in_place(path, text, err);
  size_t length = strlen(path) + 16;
  char *aside = TCT_NEW(char, (int64_t)length);
  if (!aside) return tct_fail_memory(err);
  snprintf(aside, length, "%s.tmpXXXXXX", path);
  tct_status status = TCT_OK;
  int fd = mkostemp(aside, O_CLOEXEC);
  if (fd < 0) {
    status = failed("write", path, err);
  } else {
    set_mode(fd, path);
    int bad = write_all(fd, text, strlen(text)) != 0 || fsync(fd) != 0;
    bad |= close(fd) != 0;
    if (bad || rename(aside, path) != 0) {
      status = failed("write", path, err);
      unlink(aside);
    }
  }
  tct_free(aside);
  return status == TCT_OK ? sync_folder(path, err) : status;
}
