/* paged.c - a mapped matrix that keeps to a limit of memory, and is read ahead of the loops.
 *
 * CHUNKS.  The file is mapped, and the system reads it.  A thread that comes to a chunk asks the system to read the
 * AHEAD ones behind it, and takes its own into the process in one call.  The map holds the file's bytes at every
 * moment, so what is asked and given back is a matter of speed and memory alone.
 *
 * WINDOW.  What may be in memory is the limit less what the process has otherwise, and at least LEAST_CHUNKS chunks.  A
 * limit below the solver's own needs so slows it down and does not stop it.
 *
 * KEPT.  Every pass reads all rows in the same order, so the chunk that was used last is the one that is needed last.
 * A share of the chunks, spread over the file, therefore stays, as many as the window holds.  The others pass through a
 * rest of the window, the oldest goes first. */
#define _GNU_SOURCE
#include "la/matrix/paged.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/alloc.h"

enum { PIECE = 1 << 16, MAPS = 2, RECENT = 4, AHEAD = 4 };
enum { LARGEST_CHUNK = 1 << 21, LEAST_CHUNKS = 16, MOST_PASSING = 64 };

#ifdef MADV_POPULATE_READ
enum { TAKE = MADV_POPULATE_READ };
#else
enum { TAKE = MADV_WILLNEED };
#endif

/* Where a chunk is.  ASKED: the system reads it.  HERE: taken into the process, and not given back. */
enum { IN_FILE, ASKED, HERE };

/* Numbers of chunks, oldest first. */
typedef struct list {
  int64_t *at, count;
} list;

struct tct_pager {
  char *map[MAPS];
  int64_t bytes[MAPS];
  int64_t first[MAPS + 1];      /* the first chunk of each file, and their number */
  int64_t size;                 /* bytes of a chunk */
  int64_t memory, before;       /* before: bytes of other files in memory when this began */
  int64_t share;                /* chunks that are chosen to stay; -1: not chosen yet */
  _Atomic unsigned char *where; /* [chunks] */
  list passing, kept;
  pthread_mutex_t lock;
  pid_t process; /* a forked one lets pages come and go by themselves */
  _Atomic int64_t released, wanted, fetched;
};

/* Pieces that this thread was in last: a value's and an index's, and a second pair. */
static _Thread_local uintptr_t last[RECENT];
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

/* Chunks that may be in memory.  Where the system does not say what else is there, half the limit is for chunks. */
static int64_t window(const tct_pager *p) {
  int64_t own, mapped, left = p->memory / 2;
  if (in_memory(&own, &mapped)) left = p->memory - p->before - own;
  left = left / p->size - 1;
  return left > LEAST_CHUNKS ? left : LEAST_CHUNKS;
}

static int64_t passing_of(int64_t window) {
  int64_t passing = window / 4;
  return passing < LEAST_CHUNKS ? LEAST_CHUNKS : passing > MOST_PASSING ? MOST_PASSING : passing;
}

static int advise(const tct_pager *p, int64_t c, int advice) {
  int k = c >= p->first[1];
  int64_t from = (c - p->first[k]) * p->size, left = p->bytes[k] - from;
  return madvise(p->map[k] + from, (size_t)(left < p->size ? left : p->size), advice);
}

/* The chunk l->at[k] leaves memory. */
static void evict(tct_pager *p, list *l, int64_t k) {
  int64_t c = l->at[k];
  (void)!advise(p, c, MADV_DONTNEED);
  p->where[c] = IN_FILE;
  l->count--;
  memmove(l->at + k, l->at + k + 1, (size_t)(l->count - k) * sizeof *l->at);
}

/* Every so many-th chunk stays, so that all threads have the same part to read. */
static bool stays(const tct_pager *p, int64_t c, int64_t room) {
  double step = (double)p->share / (double)p->first[MAPS];
  if (step > 1) step = 1;
  return p->kept.count < room && (int64_t)((double)(c + 1) * step) > (int64_t)((double)c * step);
}

/* Room for chunk c, which is about to be read. */
static void take(tct_pager *p, int64_t c) {
  int64_t most = window(p), room = most - passing_of(most);
  if (p->share < 0) p->share = room;
  for (; p->passing.count + p->kept.count >= most; p->released++) {
    if (p->kept.count > room)
      evict(p, &p->kept, p->kept.count - 1);
    else
      evict(p, &p->passing, 0);
  }
  list *to = stays(p, c, room) ? &p->kept : &p->passing;
  to->at[to->count++] = c;
  p->where[c] = HERE;
  p->fetched += p->size;
}

static void unmap(tct_pager *p) {
  for (int k = 0; k < MAPS; k++)
    if (p->map[k]) munmap(p->map[k], (size_t)p->bytes[k]);
  tct_free(p->where);
  tct_free(p->passing.at);
  tct_free(p->kept.at);
  tct_free(p);
}

static tct_status map_all(tct_pager *p, const int file[2], const int64_t bytes[2], tct_error *err) {
  for (int k = 0; k < MAPS; k++) {
    p->first[k + 1] = p->first[k] + (bytes[k] + p->size - 1) / p->size;
    if (bytes[k] == 0) continue;
    void *at = mmap(NULL, (size_t)bytes[k], PROT_READ, MAP_SHARED, file[k], 0);
    if (at == MAP_FAILED) return tct_fail_memory(err);
    p->map[k] = at, p->bytes[k] = bytes[k];
  }
  int64_t all = p->first[MAPS];
  p->where = TCT_NEW(_Atomic unsigned char, all);
  p->passing.at = TCT_NEW(int64_t, all);
  p->kept.at = TCT_NEW(int64_t, all);
  return p->where && p->passing.at && p->kept.at ? TCT_OK : tct_fail_memory(err);
}

/* A 64th of the limit, as a power of two. */
static int64_t chunk_size(int64_t memory) {
  int64_t size = PIECE;
  while (size < LARGEST_CHUNK && size < memory / 64) size *= 2;
  return size;
}

tct_status tct_paged_new(const int file[2], const int64_t bytes[2], int64_t memory, tct_pager **out, const void *at[2],
                         tct_error *err) {
  tct_pager *p = TCT_NEW(tct_pager, 1);
  int64_t own;
  if (!p) return tct_fail_memory(err);
  p->memory = memory;
  p->size = chunk_size(memory);
  p->share = -1;
  p->process = getpid();
  if (!in_memory(&own, &p->before)) p->before = 0;
  tct_status status = map_all(p, file, bytes, err);
  if (status != TCT_OK) {
    unmap(p);
    return status;
  }
  pthread_mutex_init(&p->lock, NULL);
  for (int k = 0; k < MAPS; k++) at[k] = p->map[k];
  *out = p;
  return TCT_OK;
}

void tct_paged_free(tct_pager *p) {
  if (!p) return;
  pthread_mutex_destroy(&p->lock);
  unmap(p);
}

/* A thread comes to chunk c of file k.  Where the system cannot take it at once, page faults will. */
static void arrive(tct_pager *p, int k, int64_t c) {
  if (p->where[c] == HERE) return;
  pthread_mutex_lock(&p->lock);
  bool first = p->where[c] != HERE;
  if (first) take(p, c);
  pthread_mutex_unlock(&p->lock);
  if (!first) return;
  for (int64_t d = c + 1; d <= c + AHEAD && d < p->first[k + 1]; d++) {
    unsigned char in_file = IN_FILE;
    if (atomic_compare_exchange_strong(&p->where[d], &in_file, ASKED)) (void)!advise(p, d, MADV_WILLNEED);
  }
  (void)!advise(p, c, TAKE);
}

static bool was_here(uintptr_t piece) {
  for (int k = 0; k < RECENT; k++)
    if (last[k] == piece) return true;
  last[next_last] = piece;
  next_last = (next_last + 1) % RECENT;
  return false;
}

/* A piece lies in one chunk, as files begin at multiples of a chunk. */
static void come_to(tct_pager *p, uintptr_t piece) {
  for (int k = 0; k < MAPS; k++) {
    uintptr_t begin = (uintptr_t)p->map[k];
    if (begin == 0 || piece < begin || piece - begin >= (uintptr_t)p->bytes[k]) continue;
    arrive(p, k, p->first[k] + (int64_t)(piece - begin) / p->size);
  }
}

void tct_paged_touch(tct_pager *p, const void *bytes, int64_t count) {
  uintptr_t from = (uintptr_t)bytes / PIECE * PIECE, to = (uintptr_t)bytes + (uintptr_t)(count > 0 ? count : 1);
  for (uintptr_t piece = from; piece < to; piece += PIECE) {
    if (was_here(piece)) continue;
    p->wanted += PIECE;
    if (p->process == getpid()) come_to(p, piece);
  }
}

void tct_paged_release(tct_pager *p) {
  if (!p || p->process != getpid()) return;
  pthread_mutex_lock(&p->lock);
  for (int64_t k = p->passing.count; k > 0; k--) evict(p, &p->passing, k - 1);
  for (int64_t k = p->kept.count; k > 0; k--) evict(p, &p->kept, k - 1);
  p->share = -1;
  pthread_mutex_unlock(&p->lock);
  memset(last, 0, sizeof last);
}

int64_t tct_paged_wanted(const tct_pager *p) { return p->wanted; }
int64_t tct_paged_fetched(const tct_pager *p) { return p->fetched; }
int64_t tct_paged_released(const tct_pager *p) { return p->released; }
