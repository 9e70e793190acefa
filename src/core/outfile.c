/* outfile.c - a file that appears whole or not at all: written aside, synced, renamed. */
#define _GNU_SOURCE
#include "core/outfile.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More tries than processes that could share a pid in one folder (containers on a shared disk). */
enum { NAME_TRIES = 100, SUFFIX = 48 };

static tct_status cannot(tct_error *err, const char *what, const char *path, int code) {
  return tct_fail(err, TCT_E_RUN, "cannot %s %s (%s); choose another place or make room", what, path, strerror(code));
}

static tct_status check_target(const char *path, tct_error *err) {
  struct stat info;
  if (!path || !*path) return tct_fail(err, TCT_E_USAGE, "the output has no name; give a file name");
  if (stat(path, &info) != 0) return TCT_OK; /* absent is the usual case; what is wrong shows at creation */
  if (S_ISDIR(info.st_mode)) return tct_fail(err, TCT_E_RUN, "%s is a directory; name a file to write", path);
  if (!S_ISREG(info.st_mode)) return tct_fail(err, TCT_E_RUN, "%s is not a regular file; name a file to write", path);
  return TCT_OK;
}

static int create_aside(tct_outfile *out, size_t size) {
  for (int i = 0; i < NAME_TRIES; i++) {
    snprintf(out->aside, size, "%s.%ld-%d.tmp", out->path, (long)getpid(), i);
    int fd = open(out->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

tct_status tct_outfile_open(tct_outfile *out, const char *path, tct_error *err) {
  memset(out, 0, sizeof *out);
  TCT_TRY(check_target(path, err));
  size_t size = strlen(path) + SUFFIX;
  out->path = tct_text_copy(path);
  out->aside = TCT_NEW(char, (int64_t)size);
  if (!out->path || !out->aside) {
    tct_free(out->aside);
    out->aside = NULL;
    tct_outfile_abandon(out);
    return tct_fail_memory(err);
  }
  int fd = create_aside(out, size);
  out->file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (out->file) return TCT_OK;
  int code = errno;
  if (fd >= 0) {
    close(fd);
    unlink(out->aside);
  }
  tct_status status = cannot(err, "write", path, code);
  tct_free(out->aside);
  out->aside = NULL;
  tct_outfile_abandon(out);
  return status;
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
  int failed = ferror(out->file), code = failed ? EIO : 0;
  if (fflush(out->file) != 0) failed = 1, code = errno;
  if (!failed && fsync(fileno(out->file)) != 0) failed = 1, code = errno;
  if (fclose(out->file) != 0 && !failed) failed = 1, code = errno;
  out->file = NULL;
  if (!failed && rename(out->aside, out->path) != 0) failed = 1, code = errno;
  if (failed) {
    tct_status status = cannot(err, "finish writing", out->path, code);
    tct_outfile_abandon(out);
    return status;
  }
  sync_folder(out->path);
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
  memset(out, 0, sizeof *out);
}
