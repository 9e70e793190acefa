/* outfile.c - a file that appears whole or not at all: written aside, synced, renamed. */
#define _GNU_SOURCE
#include "core/outfile.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More tries than processes that could share a pid in one folder (containers on a shared disk). */
enum { NAME_TRIES = 100, SUFFIX = 48 };

static tct_status cannot(tct_error *err, const char *what, const char *path, int code) {
  return tct_fail(err, TCT_E_RUN, "cannot %s %s (%s); choose another place or make room", what, path,
                  code ? strerror(code) : "a write failed");
}

/* Where a symbolic link leads, so that the link itself is not replaced (/dev/stdout is one); NULL: no memory. */
static char *resolved(const char *path) {
  char *real = realpath(path, NULL); /* NULL where nothing is there yet */
  char *copy = tct_text_copy(real ? real : path);
  free(real);
  return copy;
}

static tct_status check_target(const char *path, int *in_place, tct_error *err) {
  struct stat info;
  *in_place = 0;
  if (!path || !*path) return tct_fail(err, TCT_E_USAGE, "the output has no name; give a file name");
  if (stat(path, &info) != 0) return TCT_OK; /* absent is the usual case; what is wrong shows at creation */
  if (S_ISDIR(info.st_mode)) return tct_fail(err, TCT_E_RUN, "%s is a directory; name a file to write", path);
  *in_place = !S_ISREG(info.st_mode);
  return TCT_OK;
}

/* An existing file keeps its permissions; a new one gets what the process's mask allows. */
static int create_aside(tct_outfile *out, size_t size) {
  struct stat info;
  for (int i = 0; i < NAME_TRIES; i++) {
    snprintf(out->aside, size, "%s.%ld-%d.tmp", out->path, (long)getpid(), i);
    int fd = open(out->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd >= 0 && stat(out->path, &info) == 0 && fchmod(fd, info.st_mode & 07777) != 0) return fd; /* a convenience */
    return fd;
  }
  return -1;
}

static int open_target(tct_outfile *out, int in_place, tct_error *err) {
  size_t size = strlen(out->path) + SUFFIX;
  if (in_place) return open(out->path, O_WRONLY | O_CLOEXEC);
  out->aside = TCT_NEW(char, (int64_t)size);
  if (!out->aside) return tct_fail_memory(err), -1;
  int fd = create_aside(out, size);
  if (fd >= 0) return fd;
  int code = errno;
  tct_free(out->aside); /* not made, so not to be removed either */
  out->aside = NULL;
  errno = code;
  return fd;
}

/* A ledger that is replaced by a table forgets what was spent.  A ledger is an SQLite file; no output of ours is one.
 */
static tct_status check_budget(const char *path, tct_error *err) {
  static const char LEDGER[] = "SQLite format 3", ANCHOR[] = TCT_ANCHOR_WORD;
  char head[sizeof LEDGER] = "";
  FILE *file = fopen(path, "rb");
  if (!file) return TCT_OK;
  size_t got = fread(head, 1, sizeof head - 1, file);
  fclose(file);
  if (got >= sizeof LEDGER - 1 && !memcmp(head, LEDGER, sizeof LEDGER - 1))
    return tct_fail(err, TCT_E_USAGE, "%s is a ledger or another database; name another output", path);
  if (got >= sizeof ANCHOR - 1 && !memcmp(head, ANCHOR, sizeof ANCHOR - 1))
    return tct_fail(err, TCT_E_USAGE, "%s is a ledger's anchor; name another output", path);
  return TCT_OK;
}

static tct_status open_any(tct_outfile *out, const char *path, bool own, tct_error *err) {
  int in_place;
  memset(out, 0, sizeof *out);
  tct_error_clear(err);
  TCT_TRY(check_target(path, &in_place, err));
  if (!own && !in_place) TCT_TRY(check_budget(path, err));
  out->path = resolved(path);
  out->name = tct_text_copy(path);
  if (!out->path || !out->name) return tct_outfile_abandon(out), tct_fail_memory(err);
  tct_error why = {0};
  int fd = open_target(out, in_place, &why);
  out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out->file) return TCT_OK;
  int code = errno;
  if (fd >= 0) close(fd);
  tct_outfile_abandon(out);
  return why.status ? tct_fail_memory(err) : cannot(err, "write", path, code);
}

tct_status tct_outfile_open(tct_outfile *out, const char *path, tct_error *err) {
  return open_any(out, path, false, err);
}

tct_status tct_outfile_open_anchor(tct_outfile *out, const char *path, tct_error *err) {
  return open_any(out, path, true, err);
}

/* On file systems that write changed blocks anew (copy on write) this is a check, not a promise. */
tct_status tct_outfile_reserve(tct_outfile *out, int64_t bytes, tct_error *err) {
  if (!out->aside) return TCT_OK;
  int code = posix_fallocate(fileno(out->file), 0, bytes);
  if (code == 0 || code == EINVAL || code == EOPNOTSUPP) return TCT_OK; /* a file system without reservations */
  char path[4096];
  snprintf(path, sizeof path, "%s", out->path);
  tct_outfile_abandon(out);
  return cannot(err, "write", path, code);
}

/* What was reserved and not written goes back. */
static int cut_to_length(const tct_outfile *out) {
  off_t end = ftello(out->file);
  return end >= 0 && ftruncate(fileno(out->file), end) == 0;
}

/* A rename is durable once its folder is synced; file systems that cannot sync a folder are let be. */
static void sync_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  char *folder = TCT_NEW(char, (int64_t)length + 1);
  if (!folder) return;
  memcpy(folder, slash ? path : ".", length);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  tct_free(folder);
}

tct_status tct_outfile_commit(tct_outfile *out, tct_error *err) {
  int failed = ferror(out->file), code = 0;
  if (fflush(out->file) != 0) failed = 1, code = errno;
  if (!failed && out->aside && !cut_to_length(out)) failed = 1, code = errno;
  if (!failed && out->aside && fsync(fileno(out->file)) != 0) failed = 1, code = errno;
  if (fclose(out->file) != 0 && !failed) failed = 1, code = errno;
  out->file = NULL;
  if (!failed && out->aside && rename(out->aside, out->path) != 0) failed = 1, code = errno;
  if (failed) {
    tct_status status = cannot(err, "finish writing", out->path, code);
    tct_outfile_abandon(out);
    return status;
  }
  if (out->aside) sync_folder(out->path);
  tct_free(out->aside);
  out->aside = NULL;
  tct_outfile_abandon(out);
  return TCT_OK;
}

void tct_outfile_abandon(tct_outfile *out) {
  if (out->file) fclose(out->file);
  if (out->aside) unlink(out->aside);
  tct_free(out->aside);
  tct_free(out->path);
  tct_free(out->name);
  memset(out, 0, sizeof *out);
}
