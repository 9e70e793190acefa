/* scratch.c - a file without a name.
 *
 * O_TMPFILE makes one that never had a name, so no moment of the program leaves anything behind.  Where a file system
 * does not know it, a name is made and taken away at once. */
#define _GNU_SOURCE
#include "core/processors.h"
#include "read/table/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int named_and_removed(const char *folder) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/tacit-XXXXXX", folder) >= (int)sizeof path) return -1;
  int file = mkostemp(path, O_CLOEXEC);
  if (file >= 0) unlink(path);
  return file;
}

int tct_scratch_open(const char *folder, tct_error *err) {
  const char *given = getenv("TMPDIR");
  if (!folder) folder = given && *given ? given : "/tmp";
  int file = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) file = named_and_removed(folder);
  if (file < 0)
    tct_fail(err, TCT_E_RUN, "cannot keep records in the folder %s (%s); name another one with --scratch", folder,
             strerror(errno));
  return file;
}

tct_status tct_scratch_reserve(int file, int64_t bytes, tct_error *err) {
  int code = posix_fallocate(file, 0, bytes);
  if (code == 0 || code == EINVAL || code == EOPNOTSUPP) return TCT_OK; /* a file system without reservations */
  return tct_fail(err, TCT_E_RUN,
                  "the records take %.1f GiB on disk, and there is no room for them (%s); make room, or name another "
                  "folder with --scratch",
                  (double)bytes / (1 << 30), strerror(code));
}

tct_status tct_scratch_write(int file, const void *bytes, int64_t count, int64_t at, tct_error *err) {
  const char *from = bytes;
  while (count > 0) {
    ssize_t put = pwrite(file, from, (size_t)count, at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      return tct_fail(err, TCT_E_RUN,
                      "cannot keep the records on disk (%s); make room, or name another folder with --scratch",
                      put < 0 ? strerror(errno) : "nothing was written");
    from += put, count -= put, at += put;
  }
  return TCT_OK;
}

tct_status tct_scratch_read(int file, void *bytes, int64_t count, int64_t at, tct_error *err) {
  char *to = bytes;
  while (count > 0) {
    ssize_t got = pread(file, to, (size_t)count, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return tct_fail(err, TCT_E_RUN, "cannot read the records that were kept on disk; check the disk");
    to += got, count -= got, at += got;
  }
  return TCT_OK;
}

/* A system that has promised more than it has ends the process when a page is written, and says nothing. */
tct_status tct_scratch_spare(int64_t *looked, int64_t taken, int64_t expected, tct_error *err) {
  const int64_t step = 1 << 26; /* bytes between two looks */
  if (taken < *looked + step) return TCT_OK;
  *looked = taken;
  return tct_memory_check((double)(expected > 0 ? expected : step), 0, "the rest of the table needs",
                          "keep it on disk with --memory", err);
}
