/* sink.c - where a verb writes: standard output, a device, or a file that appears whole or not at all.
 *
 * While a file is written it has no name (O_TMPFILE), so a process that is killed leaves nothing.  A link gives it its
 * name at the end.  A link replaces nothing: over a file that is there it takes a name aside, and is renamed at once.
 * Where a file system has no files without names, the file is named aside from the beginning. */
#define _GNU_SOURCE
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE = 40 }; /* room for the longest name in /proc/self/fd */

static int cannot(const char *path, int code) {
  return cli_fail(CLI_RUN, "cannot write %s (%s); choose another place or make room", path, strerror(code));
}

/* A name beside the target, which never ends in .json, so that no reader takes it for a model; NULL with errno. */
static char *name_aside(const char *path) {
  char *aside;
  if (asprintf(&aside, "%s.%ld.tmp", path, (long)getpid()) >= 0) return aside;
  errno = ENOMEM;
  return NULL;
}

static int create_aside(const char *path, char **aside) {
  *aside = name_aside(path);
  int fd = *aside ? open(*aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
  if (fd >= 0) return fd;
  int code = errno;
  free(*aside);
  *aside = NULL;
  errno = code;
  return -1;
}

/* Where the system shows an open file, with a name or without. */
static const char *place_of(int fd, char place[PLACE]) {
  snprintf(place, PLACE, "/proc/self/fd/%d", fd);
  return place;
}

/* In the target's folder; -1 where such a file is not to be had, or could never get a name. */
static int create_unnamed(const char *path) {
  char place[PLACE], *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
  if (slash) slash[1] = 0;
  int fd = folder ? open(slash ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
  free(folder);
  if (fd < 0 || access(place_of(fd, place), F_OK) == 0) return fd;
  close(fd);
  return -1;
}

/* Some security modules forbid to link a file without a name: its bytes then go to one that has a name. */
static int copy_aside(cli_sink *sink, int from) {
  struct stat info;
  off_t at = 0;
  ssize_t put = 1;
  if (fstat(from, &info) != 0) return 0;
  int to = create_aside(sink->path, &sink->aside);
  while (to >= 0 && at < info.st_size && put > 0) put = sendfile(to, from, &at, (size_t)(info.st_size - at));
  int good = to >= 0 && at == info.st_size && fsync(to) == 0, code = errno;
  if (to >= 0) close(to);
  errno = code;
  return good;
}

static int link_to(int fd, const char *name) {
  char place[PLACE];
  return linkat(AT_FDCWD, place_of(fd, place), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A file without a name gets the target's, or one aside in sink->aside; 0 with errno. */
static int take_name(cli_sink *sink) {
  int fd = fileno(sink->file);
  if (link_to(fd, sink->path)) return 1;
  if (errno == EEXIST && (sink->aside = name_aside(sink->path)) && link_to(fd, sink->aside)) return 1;
  free(sink->aside); /* another's, if it is there: not to be removed */
  sink->aside = NULL;
  return copy_aside(sink, fd);
}

/* A ledger that is replaced forgets what was spent, and one whose anchor is lost is charged no more. */
static int check_budget(const char *path) {
  static const char LEDGER[] = "SQLite format 3", ANCHOR[] = "tacit-anchor ";
  char head[sizeof LEDGER] = "";
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  size_t got = fread(head, 1, sizeof head - 1, file);
  fclose(file);
  if (got && !strcmp(head, LEDGER))
    return cli_fail(CLI_USAGE, "%s is a ledger or another database; name another output", path);
  if (!strncmp(head, ANCHOR, sizeof ANCHOR - 1))
    return cli_fail(CLI_USAGE, "%s is a ledger's anchor; name another output", path);
  return 0;
}

int cli_sink_open(cli_sink *sink, const char *path) {
  struct stat info;
  memset(sink, 0, sizeof *sink);
  if (!path || !strcmp(path, "-")) return sink->file = stdout, 0;
  int exists = stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return cli_fail(CLI_RUN, "%s is a directory; name a file to write", path);
  if (exists && S_ISREG(info.st_mode) && check_budget(path)) return CLI_USAGE;
  sink->path = exists ? realpath(path, NULL) : strdup(path); /* a symbolic link is followed, not replaced */
  if (!sink->path) return cannot(path, errno);
  int device = exists && !S_ISREG(info.st_mode);
  int fd = device ? open(path, O_WRONLY | O_CLOEXEC) : create_unnamed(sink->path);
  sink->unnamed = !device && fd >= 0;
  if (!device && fd < 0) fd = create_aside(sink->path, &sink->aside);
  if (fd >= 0) sink->file = fdopen(fd, "w");
  if (sink->file) return 0;
  int code = errno;
  if (fd >= 0) close(fd);
  cli_sink_abandon(sink);
  return cannot(path, code);
}

int cli_sink_commit(cli_sink *sink) {
  if (!sink->path) return cli_finish(0);
  int code = ferror(sink->file) ? EIO : 0;
  if (fflush(sink->file) != 0) code = errno;
  if (!code && (sink->unnamed || sink->aside) && fsync(fileno(sink->file)) != 0) code = errno;
  if (!code && sink->unnamed && !take_name(sink)) code = errno;
  if (fclose(sink->file) != 0 && !code) code = errno;
  sink->file = NULL;
  if (!code && sink->aside && rename(sink->aside, sink->path) != 0) code = errno;
  if (code) {
    cannot(sink->path, code);
  } else { /* it has its name now; nothing is left to remove */
    free(sink->aside);
    sink->aside = NULL;
  }
  cli_sink_abandon(sink);
  return code ? CLI_RUN : 0;
}

void cli_sink_abandon(cli_sink *sink) {
  if (sink->file && sink->path) fclose(sink->file);
  if (sink->aside) unlink(sink->aside);
  free(sink->aside);
  free(sink->path);
  memset(sink, 0, sizeof *sink);
}

int cli_sink_divert(void) {
  fflush(stdout);
  int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return kept;
  if (kept >= 0) close(kept);
  cli_fail(CLI_RUN, "standard output is not open; name a file with -o");
  return -1;
}

int cli_sink_write(int descriptor, const char *text) {
  int code = 0;
  for (size_t left = strlen(text); left > 0 && !code;) {
    ssize_t put = write(descriptor, text, left);
    if (put < 0 && errno != EINTR) code = errno;
    if (put > 0) text += put, left -= (size_t)put;
  }
  if (close(descriptor) != 0 && !code) code = errno;
  return code ? cannot("to standard output", code) : 0;
}

int cli_sink_check(const char *path, const char *input) {
  struct stat info, other;
  char *aside;
  int exists = stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return cli_fail(CLI_RUN, "%s is a directory; name a file to write", path);
  if (exists && !S_ISREG(info.st_mode))
    return cli_fail(CLI_RUN, "%s is not a regular file; name a file to write", path);
  if (exists && input && stat(input, &other) == 0 && info.st_dev == other.st_dev && info.st_ino == other.st_ino)
    return cli_fail(CLI_USAGE, "%s is the input as well; name another output", path);
  if (exists && check_budget(path)) return CLI_USAGE;
  int fd = create_unnamed(path);
  if (fd >= 0) return close(fd), 0;
  fd = create_aside(path, &aside);
  if (fd < 0) return cannot(path, errno);
  close(fd);
  unlink(aside);
  free(aside);
  return 0;
}

int cli_sink_model(int descriptor, const tct_model *model) {
  tct_error err;
  char *text = tct_model_json(model, &err);
  int code = text ? cli_sink_write(descriptor, text) : cli_fail_error(&err);
  tct_text_free(text);
  return code;
}
