/* ledger_file.c - the ledger as a file of SQLite's file system: is it there, away with it. */
#include "ledger/ledger.h"

/* The file system's own name of a ledger and of its journal, through SQLite's; 0: no memory. */
static int vfs_name(const char *path, const char *suffix, char name[4096]) {
  char *own = sqlite3_mprintf("%s%s%s", path[0] == '/' ? "" : "./", path, suffix);
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  int ok = own && vfs && vfs->mxPathname < 4096 && (vfs->xFullPathname(vfs, own, 4096, name) & 0xff) == SQLITE_OK;
  sqlite3_free(own);
  return ok;
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
