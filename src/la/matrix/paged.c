/* paged.c - a mapped matrix that keeps to a limit of memory.
 *
 * WHEN.  The system maps a page that is missing together with its neighbours: with as many as it likes.  So the system
 * is asked what is resident, each time the threads have moved to CHECK bytes' worth of other pieces of PIECE bytes.  A
 * piece holds at most one huge page's worth of surprise, so between two questions a few MB can come, whatever is read.
 *
 * WINDOW.  What may be resident is the limit less what the process has in memory otherwise, and at least LEAST.  A
 * limit below the solver's own needs so slows it down and does not stop it.
 *
 * READ-AHEAD.  At every AHEAD bytes a thread asks for the AHEAD bytes behind the next ones, so that the disk works
 * while the rows in between are computed with. */
#define _GNU_SOURCE
#include "la/matrix/paged.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 64, PIECE = 1 << 16, CHECK = 4 * PIECE, AHEAD = 1 << 22, LEAST = 1 << 20, MAPS = 2, KEPT = 4 };

typedef struct map {
  char *at;
  int64_t bytes;
} map;

typedef struct pager {
  bool used;
  map map[MAPS];
  int64_t memory, before; /* before: bytes of other files in memory when this began */
  _Atomic int64_t touched, released, wanted;
} pager;

static pager pagers[MOST]; /* number k is pagers[k - 1] */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Pieces that this thread was in last: a value's and an index's, and a second pair. */
static _Thread_local uintptr_t last[KEPT];
static _Thread_local int next_last;

/* Bytes in memory: of the process's own, and of files.  false where the system does not say. */
static bool in_memory(int64_t *own, int64_t *mapped) {
  char text[128];
  long long size, resident, shared;
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = 0;
  if (sscanf(text, "%lld %lld %lld", &size, &resident, &shared) != 3) return false;
  int64_t page = sysconf(_SC_PAGESIZE);
  *own = (resident - shared) * page;
  *mapped = shared * page;
  return true;
}

/* Where the system does not say, a window of half the limit is counted by what was touched. */
static bool is_full(const pager *p, int64_t touched) {
  int64_t own, mapped;
  if (!in_memory(&own, &mapped)) return touched > p->memory / 2;
  int64_t left = p->memory - own - p->before;
  return mapped - p->before > (left > LEAST ? left : LEAST);
}

#ifdef MADV_NOHUGEPAGE
static void ask_for_small_pages(void *at, size_t bytes) { (void)!madvise(at, bytes, MADV_NOHUGEPAGE); }
#else
static void ask_for_small_pages(void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

/* MAP_SHARED: a page that was given back comes from the file again. */
static tct_status map_file(map *m, int file, int64_t bytes, tct_error *err) {
  if (bytes == 0) return TCT_OK;
  void *at = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) return tct_fail_memory(err);
  ask_for_small_pages(at, (size_t)bytes);
  *m = (map){at, bytes};
  return TCT_OK;
}

static void unmap(pager *p) {
  for (int k = 0; k < MAPS; k++)
    if (p->map[k].at) munmap(p->map[k].at, (size_t)p->map[k].bytes);
  for (int k = 0; k < MAPS; k++) p->map[k] = (map){0};
}

static int take_number(void) {
  int number = 0;
  pthread_mutex_lock(&lock);
  for (int k = 0; k < MOST && number == 0; k++)
    if (!pagers[k].used) pagers[k].used = true, number = k + 1;
  pthread_mutex_unlock(&lock);
  return number;
}

static void give_number(int number) {
  pthread_mutex_lock(&lock);
  pagers[number - 1].used = false;
  pthread_mutex_unlock(&lock);
}

tct_status tct_paged_new(const int file[2], const int64_t bytes[2], int64_t memory, int32_t *out, const void *at[2],
                         tct_error *err) {
  int number = take_number();
  if (number == 0) return tct_fail(err, TCT_E_RUN, "too many tables lie on disk at a time; free one first");
  pager *p = &pagers[number - 1];
  p->memory = memory;
  int64_t own;
  p->touched = p->released = p->wanted = 0;
  if (!in_memory(&own, &p->before)) p->before = 0;
  tct_status status = TCT_OK;
  for (int k = 0; k < MAPS && status == TCT_OK; k++) status = map_file(&p->map[k], file[k], bytes[k], err);
  if (status != TCT_OK) {
    unmap(p);
    give_number(number);
    return status;
  }
  for (int k = 0; k < MAPS; k++) at[k] = p->map[k].at;
  *out = number;
  return TCT_OK;
}

void tct_paged_free(int32_t paged) {
  if (paged < 1 || paged > MOST) return;
  unmap(&pagers[paged - 1]);
  give_number(paged);
}

/* Another thread that reads meanwhile gets its pages again. */
static void release(pager *p) {
  p->touched = 0;
  for (int k = 0; k < MAPS; k++)
    if (p->map[k].at) (void)!madvise(p->map[k].at, (size_t)p->map[k].bytes, MADV_DONTNEED);
}

static void read_ahead(const pager *p, uintptr_t piece) {
  for (int k = 0; k < MAPS; k++) {
    uintptr_t begin = (uintptr_t)p->map[k].at, at = piece + AHEAD;
    if (piece < begin || piece - begin >= (uintptr_t)p->map[k].bytes) continue;
    int64_t left = p->map[k].bytes - (int64_t)(at - begin);
    if (left > 0) (void)!madvise(p->map[k].at + (at - begin), (size_t)(left < AHEAD ? left : AHEAD), MADV_WILLNEED);
  }
}

static bool was_here(uintptr_t piece) {
  for (int k = 0; k < KEPT; k++)
    if (last[k] == piece) return true;
  last[next_last] = piece;
  next_last = (next_last + 1) % KEPT;
  return false;
}

void tct_paged_touch(int32_t paged, const void *bytes, int64_t count) {
  pager *p = &pagers[paged - 1];
  uintptr_t from = (uintptr_t)bytes / PIECE * PIECE, to = (uintptr_t)bytes + (uintptr_t)(count > 0 ? count : 1);
  int64_t fresh = 0;
  for (uintptr_t piece = from; piece < to; piece += PIECE) {
    if (was_here(piece)) continue;
    fresh += PIECE;
    if (piece % AHEAD == 0) read_ahead(p, piece);
  }
  if (fresh == 0) return;
  p->wanted += fresh;
  int64_t touched = atomic_fetch_add(&p->touched, fresh) + fresh;
  if (touched / CHECK == (touched - fresh) / CHECK || !is_full(p, touched)) return;
  p->released++;
  release(p);
}

void tct_paged_release(int32_t paged) {
  if (paged > 0) release(&pagers[paged - 1]);
}

int64_t tct_paged_wanted(int32_t paged) { return pagers[paged - 1].wanted; }
int64_t tct_paged_released(int32_t paged) { return pagers[paged - 1].released; }
