/* sink.c - where a verb writes: standard output, a device, or a file that appears whole or not at all. */
#define _GNU_SOURCE
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const char *path, int code) {
  return cli_fail(CLI_RUN, "cannot write %s (%s); choose another place or make room", path, strerror(code));
}

/* The temporary file's name never ends in .json, so that no reader takes it for a model. */
static int create_aside(const char *path, char **aside) {
  if (asprintf(aside, "%s.%ld.tmp", path, (long)getpid()) < 0) {
    *aside = NULL;
    errno = ENOMEM;
    return -1;
  }
  int fd = open(*aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) return fd;
  int code = errno;
  free(*aside);
  *aside = NULL;
  errno = code;
  return -1;
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
  int fd = device ? open(path, O_WRONLY | O_CLOEXEC) : create_aside(sink->path, &sink->aside);
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
  if (!code && sink->aside && fsync(fileno(sink->file)) != 0) code = errno;
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
  int fd = create_aside(path, &aside);
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
