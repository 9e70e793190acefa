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
#include <string.h>
#include <unistd.h>

/* More tries than processes that could share a pid in one folder (containers on a shared disk). */
enum { NAME_TRIES = 100, SUFFIX = 48, PLACE = 40, BLOCK = 1 << 16 };
/* A name may need new blocks in its folder: a leaf that splits, an index, a root.  They are kept free until then. */
enum { FOLDER_ROOM = 3 * 4096 };

static tct_status cannot(tct_error *err, const char *path, int code) {
  return tct_fail(err, TCT_E_RUN, "cannot write %s (%s); choose another place or make room", path,
                  code ? strerror(code) : "a write failed");
}

/* Where the system shows an open file, with a name or without. */
static const char *place_of(int fd, char place[PLACE]) {
  snprintf(place, PLACE, "/proc/self/fd/%d", fd);
  return place;
}

static int create_unnamed(int folder) {
  char place[PLACE];
  int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd < 0 || access(place_of(fd, place), F_OK) == 0) return fd;
  close(fd); /* without /proc it could never get a name */
  return -1;
}

/* Tries names aside until `make` answers for another reason than that the name is taken; its answer, with errno. */
static int name_aside(tct_outfile *out, int (*make)(int folder, const char *aside, int fd), int fd) {
  int made = -1;
  size_t size = strlen(out->to.base) + SUFFIX;
  out->aside = TCT_NEW(char, (int64_t)size);
  if (!out->aside) return errno = ENOMEM, -1;
  errno = EEXIST;
  for (int i = 0; i < NAME_TRIES && made < 0 && errno == EEXIST; i++) {
    snprintf(out->aside, size, "%s.%ld-%d.tmp", out->to.base, (long)getpid(), i);
    made = make(out->to.folder, out->aside, fd);
  }
  if (made >= 0) return made;
  int code = errno;
  tct_free(out->aside); /* not made, so not to be removed either */
  out->aside = NULL;
  errno = code;
  return made;
}

static int create_named(int folder, const char *aside, int fd) {
  (void)fd;
  return openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* The name aside becomes the target's, and replaces what had it; false with errno. */
static bool rename_aside(tct_outfile *out) {
  if (renameat(out->to.folder, out->aside, out->to.folder, out->to.base) != 0) return false;
  tct_free(out->aside);
  out->aside = NULL;
  return true;
}

static int link_to(int folder, const char *name, int fd) {
  char place[PLACE];
  return linkat(AT_FDCWD, place_of(fd, place), folder, name, AT_SYMLINK_FOLLOW);
}

/* A descriptor's own file, or a device, which must not let this process wait for a line. */
static int open_in_place(const tct_outplace *t) {
  if (!t->base) return fcntl(t->descriptor, F_DUPFD_CLOEXEC, 3);
  int fd = openat(t->folder, t->base, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) (void)fcntl(fd, F_SETFL, O_WRONLY);
  return fd;
}

/* An existing file keeps its permissions, a stranger's only those that a new one would have, too. */
static void keep_mode(int fd, const struct stat *at) {
  struct stat now;
  if (fstat(fd, &now) != 0) return;
  mode_t mode = at->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  (void)fchmod(fd, at->st_uid == geteuid() ? mode : mode & now.st_mode); /* a convenience */
}

static int open_target(tct_outfile *out, tct_out_kind kind) {
  const tct_outplace *t = &out->to;
  if (t->in_place) return open_in_place(t);
  int fd = kind == TCT_OUT_LOG ? -1 : create_unnamed(t->folder);
  out->unnamed = fd >= 0;
  if (fd < 0) fd = name_aside(out, create_named, -1);
  if (fd >= 0 && t->there) keep_mode(fd, &t->at);
  if (fd >= 0 && kind == TCT_OUT_LOG && !rename_aside(out)) return close(fd), -1;
  return fd;
}

tct_status tct_outfile_open(tct_outfile *out, const char *path, tct_out_kind kind, const char *const *inputs,
                            tct_error *err) {
  memset(out, 0, sizeof *out);
  tct_error_clear(err);
  TCT_TRY(tct_outplace_find(&out->to, path, kind, inputs, err));
  int fd = open_target(out, kind);
  out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out->file) return TCT_OK;
  int code = errno;
  if (fd >= 0) close(fd);
  tct_outfile_abandon(out);
  return code == ENOMEM ? tct_fail_memory(err) : cannot(err, path, code);
}

/* Is it named at the end, and not written in place? */
static bool is_whole(const tct_outfile *out) { return out->unnamed || out->aside; }

/* On file systems that write changed blocks anew (copy on write) this is a check, not a promise. */
tct_status tct_outfile_reserve(tct_outfile *out, int64_t bytes, tct_error *err) {
  if (!is_whole(out)) return TCT_OK;
  int code = posix_fallocate(fileno(out->file), 0, bytes + FOLDER_ROOM);
  if (code == 0 || code == EINVAL || code == EOPNOTSUPP) return TCT_OK; /* a file system without reservations */
  cannot(err, out->to.name, code);
  tct_outfile_abandon(out);
  return TCT_E_RUN;
}

/* What was reserved and not written goes back. */
static int cut_to_length(const tct_outfile *out) {
  off_t end = ftello(out->file);
  return end >= 0 && ftruncate(fileno(out->file), end) == 0;
}

/* A name is durable once its folder is synced; file systems that cannot sync a folder are let be. */
static void sync_folder(int folder) {
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
    if (link_to(out->to.folder, out->to.base, fd) == 0) return true;
    if (errno != EEXIST || name_aside(out, link_to, fd) < 0)
      if (!copy_aside(out, fd)) return false;
  }
  return rename_aside(out);
}

tct_status tct_outfile_commit(tct_outfile *out, tct_error *err) {
  int failed = ferror(out->file), code = 0;
  bool whole = is_whole(out);
  if (fflush(out->file) != 0) failed = 1, code = errno;
  if (!failed && whole && !cut_to_length(out)) failed = 1, code = errno;
  if (!failed && whole && fsync(fileno(out->file)) != 0) failed = 1, code = errno;
  if (!failed && whole && !take_name(out)) failed = 1, code = errno;
  if (fclose(out->file) != 0 && !failed && !whole) failed = 1, code = errno; /* else it is synced and named */
  out->file = NULL;
  tct_status status = failed ? cannot(err, out->to.name, code) : TCT_OK;
  if (!failed && whole) sync_folder(out->to.folder);
  tct_outfile_abandon(out);
  return status;
}

tct_status tct_outfile_commit_text(tct_outfile *out, const char *text, tct_error *err) {
  fputs(text, out->file); /* a failure shows at the commit */
  return tct_outfile_commit(out, err);
}

void tct_outfile_abandon(tct_outfile *out) {
  if (out->file) fclose(out->file);
  if (out->aside) unlinkat(out->to.folder, out->aside, 0);
  tct_free(out->aside);
  tct_outplace_free(&out->to);
  memset(out, 0, sizeof *out);
}

/* ---- for programs ----------------------------------------------------------------------------------------- */

tct_status tct_file_write(const char *path, const char *const *inputs, int stream, tct_print_fn print, void *user,
                          tct_error *err) {
  tct_outfile out;
  TCT_TRY(tct_outfile_open(&out, path, stream ? TCT_OUT_STREAM : TCT_OUT_FILE, inputs, err));
  if (!print) return tct_outfile_abandon(&out), TCT_OK;
  print(out.file, user);
  return tct_outfile_commit(&out, err);
}
