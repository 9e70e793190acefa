/* disk.h - a disk in memory, as an SQLite VFS: any write or sync can fail, and the power can go. */
#ifndef TCT_TEST_DISK_H
#define TCT_TEST_DISK_H
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* What is written is in `now`; what a sync has made safe is in `kept`.  A power cut leaves `kept` and any
 * part of the sectors and names that were changed since. */
enum { DISK_FILES = 4, DISK_BYTES = 1 << 18, DISK_SECTOR = 512 };

typedef struct disk_file {
  char name[64];
  int there, there_kept;
  int64_t length, length_kept;
  unsigned char now[DISK_BYTES], kept[DISK_BYTES];
} disk_file;

typedef enum disk_fault { DISK_SOUND, DISK_FAIL_ONCE, DISK_POWER_CUT } disk_fault;
typedef enum disk_fate { DISK_ALL_LOST, DISK_ALL_KEPT, DISK_SOME_KEPT } disk_fate;

static struct {
  disk_file file[DISK_FILES];
  disk_fault fault;
  int64_t operations, fail_at, syncs; /* operations that change anything are counted from 1 */
  int dead;                           /* the power is off */
  uint64_t random;
} disk;

typedef struct disk_handle {
  sqlite3_file base;
  disk_file *file;
} disk_handle;

static uint64_t disk_random(void) {
  disk.random += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
  uint64_t z = disk.random;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Every change passes here first: SQLITE_OK, or the fault of this moment. */
static int disk_change(int code) {
  if (disk.dead) return code;
  if (disk.fault == DISK_SOUND || ++disk.operations != disk.fail_at) return SQLITE_OK;
  if (disk.fault == DISK_POWER_CUT) disk.dead = 1;
  return code;
}

static disk_file *disk_find(const char *name, int create) {
  const char *slash = strrchr(name, '/');
  if (slash) name = slash + 1;
  for (int i = 0; i < DISK_FILES; i++)
    if (disk.file[i].name[0] && !strcmp(disk.file[i].name, name)) return &disk.file[i];
  for (int i = 0; create && i < DISK_FILES; i++) {
    if (disk.file[i].name[0]) continue;
    strncpy(disk.file[i].name, name, sizeof disk.file[i].name - 1);
    return &disk.file[i];
  }
  return NULL;
}

static void disk_keep_names(void) {
  for (int i = 0; i < DISK_FILES; i++) disk.file[i].there_kept = disk.file[i].there;
}

static disk_file *disk_of(sqlite3_file *handle) { return ((disk_handle *)handle)->file; }
static int disk_close(sqlite3_file *handle) { return (void)handle, SQLITE_OK; }

static int disk_read(sqlite3_file *handle, void *out, int count, sqlite3_int64 at) {
  const disk_file *f = disk_of(handle);
  if (disk.dead) return SQLITE_IOERR_READ;
  int64_t have = f->length - at < 0 ? 0 : f->length - at;
  if (have > count) have = count;
  memset(out, 0, (size_t)count);
  memcpy(out, f->now + at, (size_t)have);
  return have == count ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int disk_write(sqlite3_file *handle, const void *in, int count, sqlite3_int64 at) {
  disk_file *f = disk_of(handle);
  int code = disk_change(SQLITE_IOERR_WRITE);
  if (at + count > DISK_BYTES) return SQLITE_FULL;
  if (code == SQLITE_OK || (disk.fault == DISK_FAIL_ONCE && code)) {
    /* a write that fails may have reached half its length */
    int64_t part = code == SQLITE_OK ? count : count / 2;
    memcpy(f->now + at, in, (size_t)part);
    if (at + part > f->length) f->length = at + part;
  }
  return code;
}

static int disk_truncate(sqlite3_file *handle, sqlite3_int64 length) {
  disk_file *f = disk_of(handle);
  int code = disk_change(SQLITE_IOERR_TRUNCATE);
  if (code != SQLITE_OK) return code;
  if (length < f->length) memset(f->now + length, 0, (size_t)(f->length - length));
  f->length = length;
  return SQLITE_OK;
}

/* A journal's first sync also syncs its folder, as in the VFS for Unix. */
static int disk_sync(sqlite3_file *handle, int flags) {
  disk_file *f = disk_of(handle);
  int code = disk_change(SQLITE_IOERR_FSYNC);
  (void)flags;
  if (code != SQLITE_OK) return code;
  disk.syncs++;
  memcpy(f->kept, f->now, DISK_BYTES);
  f->length_kept = f->length;
  if (strstr(f->name, "-journal")) disk_keep_names();
  return SQLITE_OK;
}

static int disk_size(sqlite3_file *handle, sqlite3_int64 *size) { return *size = disk_of(handle)->length, SQLITE_OK; }
static int disk_lock(sqlite3_file *handle, int level) { return (void)handle, (void)level, SQLITE_OK; }
static int disk_reserved(sqlite3_file *handle, int *out) { return (void)handle, *out = 0, SQLITE_OK; }
static int disk_control(sqlite3_file *handle, int op, void *arg) {
  return (void)handle, (void)op, (void)arg, SQLITE_NOTFOUND;
}
static int disk_sector(sqlite3_file *handle) { return (void)handle, DISK_SECTOR; }
static int disk_traits(sqlite3_file *handle) { return (void)handle, 0; } /* promises nothing about torn writes */

static const sqlite3_io_methods disk_methods = {.iVersion = 1,
                                                .xClose = disk_close,
                                                .xRead = disk_read,
                                                .xWrite = disk_write,
                                                .xTruncate = disk_truncate,
                                                .xSync = disk_sync,
                                                .xFileSize = disk_size,
                                                .xLock = disk_lock,
                                                .xUnlock = disk_lock,
                                                .xCheckReservedLock = disk_reserved,
                                                .xFileControl = disk_control,
                                                .xSectorSize = disk_sector,
                                                .xDeviceCharacteristics = disk_traits};

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *handle, int flags, int *out_flags) {
  (void)vfs;
  handle->pMethods = NULL;
  if (!name || disk.dead) return SQLITE_CANTOPEN;
  disk_file *f = disk_find(name, flags & SQLITE_OPEN_CREATE);
  if (!f || (!f->there && !(flags & SQLITE_OPEN_CREATE))) return SQLITE_CANTOPEN;
  if (!f->there) {
    if (disk_change(SQLITE_CANTOPEN) != SQLITE_OK) return SQLITE_CANTOPEN;
    f->there = 1;
    f->length = 0;
    memset(f->now, 0, DISK_BYTES);
    memset(f->kept, 0, DISK_BYTES); /* a new file: what an earlier one of this name held is not in it */
    f->length_kept = 0;
  }
  ((disk_handle *)handle)->file = f;
  handle->pMethods = &disk_methods;
  if (out_flags) *out_flags = flags;
  return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync_folder) {
  (void)vfs;
  disk_file *f = disk_find(name, 0);
  if (!f || !f->there) return SQLITE_IOERR_DELETE_NOENT;
  int code = disk_change(SQLITE_IOERR_DELETE);
  if (code != SQLITE_OK) return code;
  f->there = 0;
  if (sync_folder) {
    code = disk_change(SQLITE_IOERR_DIR_FSYNC);
    if (code != SQLITE_OK) return code;
    disk.syncs++;
    disk_keep_names();
  }
  return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  (void)vfs, (void)flags;
  const disk_file *f = disk_find(name, 0);
  *out = f && f->there && (flags != SQLITE_ACCESS_EXISTS || f->length > 0);
  return SQLITE_OK;
}

static int disk_path(sqlite3_vfs *vfs, const char *name, int size, char *out) {
  (void)vfs;
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

static sqlite3_vfs disk_vfs;

/* The disk becomes SQLite's default; an empty one each time. */
static inline void disk_install(void) {
  memset(&disk, 0, sizeof disk);
  if (!disk_vfs.zName) {
    disk_vfs = *sqlite3_vfs_find(NULL);
    disk_vfs.iVersion = 1;
    disk_vfs.szOsFile = sizeof(disk_handle);
    disk_vfs.zName = "disk";
    disk_vfs.xOpen = disk_open;
    disk_vfs.xDelete = disk_delete;
    disk_vfs.xAccess = disk_access;
    disk_vfs.xFullPathname = disk_path;
  }
  assert_int_equal(sqlite3_vfs_register(&disk_vfs, 1), SQLITE_OK);
}

static inline void disk_set(disk_fault fault, int64_t fail_at) {
  disk.fault = fault;
  disk.fail_at = fail_at;
  disk.operations = 0;
}

/* The power was cut and is back: each name, length and sector that was not synced is as fate has it. */
static inline void disk_reboot(disk_fate fate) {
  for (int i = 0; i < DISK_FILES; i++) {
    disk_file *f = &disk.file[i];
    int keep = fate == DISK_ALL_KEPT;
    for (int64_t at = 0; at < DISK_BYTES; at += DISK_SECTOR) {
      if (fate == DISK_SOME_KEPT) keep = (int)(disk_random() & 1);
      if (!keep) memcpy(f->now + at, f->kept + at, DISK_SECTOR);
    }
    if (fate == DISK_SOME_KEPT) keep = (int)(disk_random() & 1);
    if (!keep) f->length = f->length_kept;
    if (f->there != f->there_kept) {
      if (fate == DISK_SOME_KEPT) keep = (int)(disk_random() & 1);
      if (!keep) f->there = f->there_kept;
    }
    f->there_kept = f->there;
    f->length_kept = f->length;
    memcpy(f->kept, f->now, DISK_BYTES);
  }
  disk.dead = 0;
  disk.fault = DISK_SOUND;
}
#endif
