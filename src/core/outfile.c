/* outfile.c - a file that appears whole or not at all: written without a name, synced, named.
 *
 * While it is written the file has no name (O_TMPFILE), so a process that is killed leaves nothing.  A link gives it
 * its name at the end.  A link replaces nothing: where the target is there already, the file is named aside and renamed
 * at once.  Where a file system has no files without names, it is named aside from the beginning. */
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
enum { NAME_TRIES = 100, SUFFIX = 48, PLACE = 40, BLOCK = 1 << 16 };
/* A name may need new blocks in its folder: a leaf that splits, an index, a root.  They are kept free until then. */
enum { FOLDER_ROOM = 3 * 4096 };

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

/* The folder of a path, owned; NULL: no memory. */
static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  char *folder = TCT_NEW(char, (int64_t)length + 1);
  if (folder) memcpy(folder, slash ? path : ".", length);
  return folder;
}

/* Where the system shows an open file, with a name or without. */
static const char *place_of(int fd, char place[PLACE]) {
  snprintf(place, PLACE, "/proc/self/fd/%d", fd);
  return place;
}

static int create_unnamed(const char *path) {
  char place[PLACE], *folder = folder_of(path);
  int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
  tct_free(folder);
  if (fd < 0 || access(place_of(fd, place), F_OK) == 0) return fd;
  close(fd); /* without /proc it could never get a name */
  return -1;
}

/* Tries names aside until `make` answers for another reason than that the name is taken; its answer, with errno. */
static int name_aside(tct_outfile *out, int (*make)(const char *aside, int fd), int fd) {
  int made = -1;
  size_t size = strlen(out->path) + SUFFIX;
  out->aside = TCT_NEW(char, (int64_t)size);
  if (!out->aside) return errno = ENOMEM, -1;
  errno = EEXIST;
  for (int i = 0; i < NAME_TRIES && made < 0 && errno == EEXIST; i++) {
    snprintf(out->aside, size, "%s.%ld-%d.tmp", out->path, (long)getpid(), i);
    made = make(out->aside, fd);
  }
  if (made >= 0) return made;
  int code = errno;
  tct_free(out->aside); /* not made, so not to be removed either */
  out->aside = NULL;
  errno = code;
  return made;
}

static int create_named(const char *aside, int fd) {
  (void)fd;
  return open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int link_to(const char *name, int fd) {
  char place[PLACE];
  return linkat(AT_FDCWD, place_of(fd, place), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* An existing file keeps its permissions; a new one gets what the process's mask allows. */
static int open_target(tct_outfile *out, int in_place) {
  struct stat info;
  if (in_place) return open(out->path, O_WRONLY | O_CLOEXEC);
  int fd = create_unnamed(out->path);
  out->unnamed = fd >= 0;
  if (fd < 0) fd = name_aside(out, create_named, -1);
  if (fd >= 0 && stat(out->path, &info) == 0 && fchmod(fd, info.st_mode & 07777) != 0) return fd; /* a convenience */
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
  int fd = open_target(out, in_place);
  out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out->file) return TCT_OK;
  int code = errno;
  if (fd >= 0) close(fd);
  tct_outfile_abandon(out);
  return code == ENOMEM ? tct_fail_memory(err) : cannot(err, "write", path, code);
}

tct_status tct_outfile_open(tct_outfile *out, const char *path, tct_error *err) {
  return open_any(out, path, false, err);
}

tct_status tct_outfile_open_anchor(tct_outfile *out, const char *path, tct_error *err) {
  return open_any(out, path, true, err);
}

/* Is the target written anew, and not in place? */
static bool is_new(const tct_outfile *out) { return out->unnamed || out->aside; }

/* On file systems that write changed blocks anew (copy on write) this is a check, not a promise. */
tct_status tct_outfile_reserve(tct_outfile *out, int64_t bytes, tct_error *err) {
  if (!is_new(out)) return TCT_OK;
  int code = posix_fallocate(fileno(out->file), 0, bytes + FOLDER_ROOM);
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

/* A name is durable once its folder is synced; file systems that cannot sync a folder are let be. */
static void sync_folder(const char *path) {
  char *folder = folder_of(path);
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  tct_free(folder);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

static bool write_all(int fd, const char *bytes, ssize_t count) {
  while (count > 0) {
    ssize_t put = write(fd, bytes, (size_t)count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put, count -= put;
  }
  return true;
}

/* Some security modules forbid to link a file without a name: its bytes then go to one that has a name. */
static bool copy_aside(tct_outfile *out, int from) {
  static const int64_t size = BLOCK;
  char *block = tct_alloc(size, 1);
  int to = block ? name_aside(out, create_named, -1) : (errno = ENOMEM, -1);
  ssize_t got = -1;
  for (off_t at = 0; to >= 0 && (got = pread(from, block, (size_t)size, at)) > 0; at += got)
    if (!write_all(to, block, got)) break;
  bool good = got == 0 && fsync(to) == 0;
  int code = errno;
  if (to >= 0 && close(to) != 0 && good) good = false, code = errno;
  tct_wipe_free(block, size, 1);
  errno = code;
  return good;
}

/* Gives the file its name, which replaces what had it before; false with errno. */
static bool take_name(tct_outfile *out) {
  if (out->unnamed) {
    int fd = fileno(out->file);
    if (link_to(out->path, fd) == 0) return true;
    if (errno != EEXIST || name_aside(out, link_to, fd) < 0)
      if (!copy_aside(out, fd)) return false;
  }
  if (rename(out->aside, out->path) != 0) return false;
  tct_free(out->aside);
  out->aside = NULL;
  return true;
}

tct_status tct_outfile_commit(tct_outfile *out, tct_error *err) {
  int failed = ferror(out->file), code = 0;
  bool is_whole = is_new(out);
  if (fflush(out->file) != 0) failed = 1, code = errno;
  if (!failed && is_whole && !cut_to_length(out)) failed = 1, code = errno;
  if (!failed && is_whole && fsync(fileno(out->file)) != 0) failed = 1, code = errno;
  if (!failed && is_whole && !take_name(out)) failed = 1, code = errno;
  if (fclose(out->file) != 0 && !failed && !is_whole) failed = 1, code = errno; /* else it is synced and named */
  out->file = NULL;
  tct_status status = failed ? cannot(err, "finish writing", out->path, code) : TCT_OK;
  if (!failed && is_whole) sync_folder(out->path);
  tct_outfile_abandon(out);
  return status;
}

void tct_outfile_abandon(tct_outfile *out) {
  if (out->file) fclose(out->file);
  if (out->aside) unlink(out->aside);
  tct_free(out->aside);
  tct_free(out->path);
  tct_free(out->name);
  memset(out, 0, sizeof *out);
}
