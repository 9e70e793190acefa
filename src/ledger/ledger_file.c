/* ledger_file.c - the ledger as a file: what may lie at its place, and how long to wait for who else has it open.
 *
 * It is a regular file, and so are what lies beside it, its anchor and the registry.  Whoever opens another kind may
 * have to wait for ever. */
#define _GNU_SOURCE
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { PROC = 0x9fa0 }; /* the file system /proc: it calls files regular whose reader waits for events */

static bool is_plain(const char *path, const struct stat *info) {
  struct statfs system;
  return S_ISREG(info->st_mode) && (info->st_size > 0 || statfs(path, &system) != 0 || system.f_type != PROC);
}

int tct_plain_open(const char *path, int flags) {
  struct stat info;
  if (stat(path, &info) == 0 && !is_plain(path, &info)) return errno = EINVAL, -1; /* to open a device can change it */
  int file = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 || (fstat(file, &info) == 0 && S_ISREG(info.st_mode))) return file;
  close(file);
  return errno = EINVAL, -1;
}

/* The file system's own name of a ledger and of what lies beside it, through SQLite's; 0: it has none. */
static int vfs_name(const char *path, const char *suffix, char name[4096]) {
  char *own = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  int ok = own && vfs && vfs->mxPathname < 4096 && (vfs->xFullPathname(vfs, own, 4096, name) & 0xff) == SQLITE_OK;
  sqlite3_free(own);
  size_t end = ok ? strlen(name) : 0;
  if (end + strlen(suffix) >= 4096) return 0;
  if (ok) memcpy(name + end, suffix, strlen(suffix) + 1);
  return ok;
}

/* SQLite opens these by itself, and would wait with a lock held.  Nothing is opened here: to close it would take away
 * the locks that another thread holds on it. */
tct_status tct_ledger_check_files(const char *path, tct_error *err) {
  static const char *const suffix[] = {"", "-journal", "-wal", "-shm"};
  char name[4096];
  struct stat info;
  for (int k = 0; k < 4; k++)
    if (vfs_name(path, suffix[k], name) && lstat(name, &info) == 0 && !is_plain(name, &info))
      return tct_fail(err, TCT_E_RUN, "%.300s is no regular file%s", name,
                      k ? ", and lies where the ledger's own would; take it away" : "; name a ledger");
  return TCT_OK;
}

int tct_ledger_is_there(const char *path) {
  char name[4096];
  int there = 0;
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  return !vfs_name(path, "", name) || vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &there) != SQLITE_OK || there;
}

void tct_ledger_remove(const char *path) {
  char name[4096];
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  if (vfs_name(path, "", name)) vfs->xDelete(vfs, name, 0);
  if (vfs_name(path, "-journal", name)) vfs->xDelete(vfs, name, 0);
}

/* ---- waiting ---- */

/* Milliseconds.  A charge takes some, so a queue of runs moves all the time.  Whoever holds the ledger and does nothing
 * is not waited for, but while a journal is there the disk may be slow. */
enum { WAIT_STEP = 20, WAIT_MOST = 60000, WAIT_STILL = 1000, WAIT_WRITING = 5000 };

/* Since when the file has not changed; negative: it is not there. */
static double still_for(const char *path, const char *suffix) {
  char name[4096 + 16];
  struct stat info;
  struct timespec now;
  snprintf(name, sizeof name, "%s%s", path, suffix);
  if (stat(name, &info) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  double age = 1e3 * (double)(now.tv_sec - info.st_mtim.tv_sec) + 1e-6 * (double)(now.tv_nsec - info.st_mtim.tv_nsec);
  return age > 0 ? age : 0;
}

int tct_ledger_wait(void *db, int count) {
  const char *path = sqlite3_db_filename(db, "main");
  double waited = (double)count * WAIT_STEP, still = path ? still_for(path, "") : WAIT_MOST;
  bool writes = sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE; /* the journal is our own, and readers hold us up */
  double journal = path && !writes ? still_for(path, "-journal") : -1;
  if (journal >= 0 && journal < still) still = journal;
  if (waited >= WAIT_MOST || (waited >= WAIT_STILL && still >= (journal < 0 ? WAIT_STILL : WAIT_WRITING))) return 0;
  sqlite3_sleep(WAIT_STEP);
  return 1;
}
