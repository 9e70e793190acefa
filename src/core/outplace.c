/* outplace.c - where an output goes, and what it must not be.
 *
 * The path is walked folder by folder.  What is then done to the target is done by its name in the open folder, so
 * nobody can turn the path in between. */
#define _GNU_SOURCE
#include "core/outplace.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS = 40, PLACE = 40, HEAD = 24 };

static tct_status cannot(tct_error *err, const tct_outplace *t, int code) {
  return tct_fail(err, TCT_E_RUN, "cannot write %s (%s); choose another place or make room", t->name, strerror(code));
}

/* ---- where it is ------------------------------------------------------------------------------------------ */

typedef struct walk {
  int folder;              /* open */
  char name[NAME_MAX + 1]; /* in it, looked at and no link */
  int links;               /* followed so far */
  bool shared;             /* it ended at a link that others may turn */
} walk;

static bool walk_along(walk *w, const char *path);

static bool step_into(walk *w, int folder, const char *name) {
  int next = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (next < 0) return false;
  close(w->folder);
  w->folder = next;
  return true;
}

/* Goes where w->name leads, if it is a link.  In a folder that others may write to it leads where they want. */
static bool follow(walk *w) {
  char to[PATH_MAX];
  struct stat info;
  ssize_t length = readlinkat(w->folder, w->name, to, sizeof to);
  if (length < 0) return errno == EINVAL || errno == ENOENT; /* no link, or nothing yet */
  if (length == sizeof to || ++w->links > LINKS) return errno = ELOOP, false;
  if (fstat(w->folder, &info) != 0) return false;
  w->shared = (info.st_mode & (S_IWGRP | S_IWOTH | S_ISVTX)) != 0;
  to[length] = 0;
  return !w->shared && walk_along(w, to);
}

static bool walk_along(walk *w, const char *path) {
  if (*path == '/' && !step_into(w, AT_FDCWD, "/")) return false;
  strcpy(w->name, ".");
  while (*(path += strspn(path, "/"))) {
    size_t length = strcspn(path, "/");
    if (length > NAME_MAX) return errno = ENAMETOOLONG, false;
    if (!step_into(w, w->folder, w->name)) return false;
    memcpy(w->name, path, length);
    w->name[length] = 0;
    path += length;
    if (!follow(w)) return false;
  }
  return true;
}

static tct_status walk_to(tct_outplace *t, tct_error *err) {
  walk w = {.folder = open(*t->name == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  bool found = w.folder >= 0 && walk_along(&w, t->name);
  int code = errno;
  if (found && (t->base = tct_text_copy(w.name))) return t->folder = w.folder, TCT_OK;
  if (w.folder >= 0) close(w.folder);
  if (found) return tct_fail_memory(err);
  if (!w.shared) return cannot(err, t, code);
  return tct_fail(err, TCT_E_RUN,
                  "%s goes through a symbolic link in a folder that others may write to; name where it leads", t->name);
}

/* The number of the descriptor that such a name stands for; -1: another name. */
static int descriptor_of(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (!strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
  if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
  for (size_t k = 0; k < 2; k++) {
    const char *number = path + strlen(folders[k]);
    if (strncmp(path, folders[k], strlen(folders[k])) != 0) continue;
    if (*number && strlen(number) < 8 && !number[strspn(number, "0123456789")]) return atoi(number);
  }
  return -1;
}

/* ---- what it must not be ---------------------------------------------------------------------------------- */

/* The folder of a path, owned; NULL: no memory. */
static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  char *folder = TCT_NEW(char, (int64_t)length + 1);
  if (folder) memcpy(folder, slash ? path : ".", length);
  return folder;
}

static const char DATABASE[] = "SQLite format 3";

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the target `other` by another name?  Where there is nothing yet, one name in one folder is one file. */
static bool is_input(const tct_outplace *t, const char *other) {
  struct stat info, folder;
  if (stat(strcmp(other, "-") ? other : "/dev/stdin", &info) == 0)
    return t->there && S_ISREG(t->at.st_mode) && is_same(&t->at, &info);
  if (t->there) return false;
  const char *slash = strrchr(other, '/');
  char *name = folder_of(other);
  bool same = name && stat(name, &info) == 0 && fstat(t->folder, &folder) == 0 && is_same(&info, &folder) &&
              !strcmp(slash ? slash + 1 : other, t->base);
  tct_free(name);
  return same;
}

static tct_status check_inputs(const tct_outplace *t, const char *const *inputs, tct_error *err) {
  for (; inputs && *inputs; inputs++) {
    if (!is_input(t, *inputs)) continue;
    if (!strcmp(t->name, *inputs))
      return tct_fail(err, TCT_E_USAGE, "%s is read or written by this run already; name another output", t->name);
    return tct_fail(err, TCT_E_USAGE,
                    "%.300s is the same file as %.300s, which this run reads or writes already; name another output",
                    t->name, strcmp(*inputs, "-") ? *inputs : "standard input");
  }
  return TCT_OK;
}

/* The first bytes of a regular file; "" where it is none. */
static void read_head(int folder, const char *name, char head[HEAD]) {
  struct stat info;
  memset(head, 0, HEAD);
  if (fstatat(folder, name, &info, 0) != 0 || !S_ISREG(info.st_mode)) return;
  int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || pread(fd, head, HEAD - 1, 0) < 0) head[0] = 0;
  if (fd >= 0) close(fd);
}

/* What keeps a budget is replaced by nothing else: a ledger forgets what was spent, and without its anchor it is
 * charged no more. */
static tct_status check_budget(const tct_outplace *t, tct_error *err) {
  static const struct {
    const char *head, *what;
  } kept[] = {{DATABASE, "a ledger or another database"},
              {TCT_ANCHOR_WORD, "a ledger's anchor"},
              {"tacit-tables ", "the registry of tables"}};
  char head[HEAD], name[PLACE];
  snprintf(name, sizeof name, "/proc/self/fd/%d", t->descriptor);
  if (t->there) read_head(t->base ? t->folder : AT_FDCWD, t->base ? t->base : name, head);
  for (size_t k = 0; t->there && k < sizeof kept / sizeof *kept; k++)
    if (!strncmp(head, kept[k].head, strlen(kept[k].head)))
      return tct_fail(err, TCT_E_USAGE, "%s is %s; name another output", t->name, kept[k].what);
  return TCT_OK;
}

/* SQLite takes a file of such a name beside a database for its own, and removes it. */
static tct_status check_beside(const tct_outplace *t, tct_error *err) {
  static const char *const ends[] = {"-journal", "-wal", "-shm"};
  char head[HEAD], name[NAME_MAX + 1];
  for (size_t k = 0; t->base && k < sizeof ends / sizeof *ends; k++) {
    size_t length = strlen(t->base), end = strlen(ends[k]);
    if (length <= end || strcmp(t->base + length - end, ends[k]) != 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)(length - end), t->base);
    read_head(t->folder, name, head);
    if (!strncmp(head, DATABASE, strlen(DATABASE)))
      return tct_fail(err, TCT_E_USAGE, "%s belongs to the ledger beside it; name another output", t->name);
  }
  return TCT_OK;
}

static tct_status look(tct_outplace *t, tct_error *err) {
  struct stat given;
  if (!t->base) {
    int flags = fcntl(t->descriptor, F_GETFL);
    t->there = flags >= 0 && fstat(t->descriptor, &t->at) == 0;
    if (!t->there) return cannot(err, t, errno);
    return (flags & O_ACCMODE) == O_RDONLY ? cannot(err, t, EBADF) : TCT_OK;
  }
  t->there = fstatat(t->folder, t->base, &t->at, AT_SYMLINK_NOFOLLOW) == 0;
  if (t->there) return TCT_OK;
  if (errno != ENOENT) return cannot(err, t, errno);
  if (t->name[strlen(t->name) - 1] == '/')
    return tct_fail(err, TCT_E_RUN, "%s is a directory; name a file to write", t->name);
  if (lstat(t->name, &given) != 0) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "%s is a symbolic link that leads nowhere; name the file itself", t->name);
}

/* Also root heeds a file that nobody may write. */
static bool is_protected(const tct_outplace *t) {
  return !(t->at.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) || faccessat(t->folder, t->base, W_OK, AT_EACCESS) != 0;
}

static tct_status check_kind(tct_outplace *t, tct_out_kind kind, tct_error *err) {
  if (!t->there) return TCT_OK;
  if (S_ISDIR(t->at.st_mode)) return tct_fail(err, TCT_E_RUN, "%s is a directory; name a file to write", t->name);
  t->in_place = !t->base || S_ISCHR(t->at.st_mode);
  if (t->in_place ? kind != TCT_OUT_STREAM : !S_ISREG(t->at.st_mode))
    return tct_fail(err, TCT_E_RUN, "%s is not a regular file; name a file to write", t->name);
  if (t->in_place || !is_protected(t)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "%s is write-protected; name another output, or permit to write it", t->name);
}

static tct_status find(tct_outplace *t, tct_out_kind kind, const char *const *inputs, tct_error *err) {
  t->descriptor = descriptor_of(t->name);
  if (t->descriptor < 0) TCT_TRY(walk_to(t, err));
  TCT_TRY(look(t, err));
  TCT_TRY(check_inputs(t, inputs, err));
  TCT_TRY(check_kind(t, kind, err));
  if (kind != TCT_OUT_ANCHOR) TCT_TRY(check_budget(t, err));
  return check_beside(t, err);
}

tct_status tct_outplace_find(tct_outplace *t, const char *path, tct_out_kind kind, const char *const *inputs,
                             tct_error *err) {
  memset(t, 0, sizeof *t);
  if (!path || !*path) return tct_fail(err, TCT_E_USAGE, "the output has no name; give a file name");
  if (!strcmp(path, "-"))
    return tct_fail(err, TCT_E_USAGE, "this output must be a file, and - is none; name a file to write");
  t->name = tct_text_copy(path);
  tct_status status = t->name ? find(t, kind, inputs, err) : tct_fail_memory(err);
  if (status != TCT_OK) tct_outplace_free(t);
  return status;
}

void tct_outplace_free(tct_outplace *t) {
  if (t->base) close(t->folder);
  tct_free(t->base);
  tct_free(t->name);
  memset(t, 0, sizeof *t);
}
