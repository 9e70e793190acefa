/* paged.c - a mapped matrix that keeps to a limit of memory, and is read ahead of the loops.
 *
 * CHUNKS.  The file is read in chunks (chunk.h).  A thread that comes to a chunk asks for it and for the AHEAD ones
 * behind it; READERS threads of our own fetch them while the loops compute.  A thread waits asleep for a chunk that is
 * not there.  The place holds the file's bytes at every moment, so waiting is a matter of speed alone.
 *
 * WINDOW.  What may be in memory is the limit less what the process has otherwise, and at least LEAST_CHUNKS chunks.  A
 * limit below the solver's own needs so slows it down and does not stop it.
 *
 * KEPT.  Every pass reads all rows in the same order, so the chunk that was used last is the one that is needed last.
 * A share of the chunks, spread over the file, therefore stays, as many as the window holds.  The others pass through a
 * rest of the window, and what a thread has left goes first. */
#include "la/matrix/paged.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "la/matrix/chunk.h"

enum { PIECE = 1 << 16, MAPS = 2, RECENT = 4, READERS = 2, AHEAD = 4 };
enum { LARGEST_CHUNK = 1 << 21, LEAST_CHUNKS = 16, MOST_PASSING = 64 };

/* Where a chunk is.  IN_FILE: mapped alone.  CACHED: mapped, and counted as in memory.  READ: in our own memory. */
enum { IN_FILE, ASKED, LOADING, CACHED, READ };

typedef struct chunk {
  _Atomic unsigned char where;
  unsigned char left; /* a thread has gone on to another one */
} chunk;

/* Numbers of chunks, oldest first. */
typedef struct list {
  int64_t *at, count;
} list;

struct tct_pager {
  bool stopped;
  tct_mapped map[MAPS];
  int64_t first[MAPS + 1]; /* the first chunk of each file, and their number */
  int64_t size;            /* bytes of a chunk */
  int64_t memory, before;  /* before: bytes of other files in memory when this began */
  int64_t share;           /* chunks that are chosen to stay; -1: not chosen yet */
  int64_t room;            /* chunks that may stay now */
  int64_t own;             /* chunks READ */
  int64_t loading;
  chunk *chunks;
  list asked, passing, kept;
  pthread_mutex_t lock;
  pthread_cond_t work, arrived;
  pthread_t reader[READERS];
  int readers;
  pid_t process; /* a forked one has no readers */
  _Atomic int64_t released, wanted, fetched;
};

/* Pieces that this thread was in last: a value's and an index's, and a second pair. */
static _Thread_local uintptr_t last[RECENT];
static _Thread_local int next_last;
/* The chunks that it is in. */
static _Thread_local struct {
  const tct_pager *of;
  int64_t chunk[MAPS];
} here;

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
  if (in_memory(&own, &mapped)) {
    int64_t other = own - (p->own + p->loading) * p->size;
    left = p->memory - p->before - (other > 0 ? other : 0);
  }
  left = left / p->size - 1;
  return left > LEAST_CHUNKS ? left : LEAST_CHUNKS;
}

static int64_t passing_of(int64_t window) {
  int64_t passing = window / 4;
  return passing < LEAST_CHUNKS ? LEAST_CHUNKS : passing > MOST_PASSING ? MOST_PASSING : passing;
}

static void remove_at(list *l, int64_t k) {
  l->count--;
  memmove(l->at + k, l->at + k + 1, (size_t)(l->count - k) * sizeof *l->at);
}

static void extent(const tct_pager *p, int64_t c, const tct_mapped **map, int64_t *from, int64_t *count) {
  int k = c >= p->first[1];
  *map = &p->map[k];
  *from = (c - p->first[k]) * p->size;
  *count = p->map[k].bytes - *from < p->size ? p->map[k].bytes - *from : p->size;
}

/* The chunk l->at[k] leaves memory. */
static void evict(tct_pager *p, list *l, int64_t k) {
  const tct_mapped *map;
  int64_t c = l->at[k], from, count;
  bool read = p->chunks[c].where == READ;
  extent(p, c, &map, &from, &count);
  if (!tct_chunk_drop(map, from, count, read)) return;
  p->own -= read;
  p->chunks[c].where = IN_FILE;
  remove_at(l, k);
}

static int64_t first_left(const tct_pager *p) {
  for (int64_t k = 0; k < p->passing.count; k++)
    if (p->chunks[p->passing.at[k]].left) return k;
  return -1;
}

/* Room for one chunk more.  What no thread has left yet goes only where the window is too small for the threads. */
static void make_room(tct_pager *p) {
  int64_t most = window(p);
  p->room = most - passing_of(most);
  if (p->share < 0) p->share = p->room;
  for (int64_t tries = p->passing.count + p->kept.count; tries > 0; tries--) {
    if (p->passing.count + p->kept.count + p->loading <= most) return;
    int64_t left = first_left(p);
    p->released++;
    if (p->kept.count > p->room)
      evict(p, &p->kept, p->kept.count - 1);
    else if (p->passing.count > 0)
      evict(p, &p->passing, left >= 0 ? left : 0);
  }
}

/* Every so many-th chunk stays, so that all threads have the same part to read. */
static bool stays(const tct_pager *p, int64_t c) {
  double step = (double)p->share / (double)p->first[MAPS];
  if (step > 1) step = 1;
  return p->kept.count < p->room && (int64_t)((double)(c + 1) * step) > (int64_t)((double)c * step);
}

/* Fetches the chunk that was asked for first.  The lock is held, and given free while the disk works. */
static void serve(tct_pager *p) {
  const tct_mapped *map;
  int64_t c = p->asked.at[0], from, count;
  remove_at(&p->asked, 0);
  p->chunks[c].where = LOADING;
  p->loading++;
  make_room(p);
  extent(p, c, &map, &from, &count);
  pthread_mutex_unlock(&p->lock);
  bool read = tct_chunk_read(map, from, count);
  pthread_mutex_lock(&p->lock);
  list *to = stays(p, c) ? &p->kept : &p->passing;
  to->at[to->count++] = c;
  p->loading--;
  p->own += read;
  p->fetched += count;
  p->chunks[c].where = read ? READ : CACHED;
  pthread_cond_broadcast(&p->arrived);
}

static void *reader(void *user) {
  tct_pager *p = user;
  pthread_mutex_lock(&p->lock);
  for (; !p->stopped;) {
    if (p->asked.count > 0)
      serve(p);
    else
      pthread_cond_wait(&p->work, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Signals are for the threads of the program.  Without a reader, whoever needs a chunk fetches it. */
static void start_readers(tct_pager *p) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (p->readers = 0; p->readers < READERS; p->readers++)
    if (pthread_create(&p->reader[p->readers], NULL, reader, p) != 0) break;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_readers(tct_pager *p) {
  pthread_mutex_lock(&p->lock);
  p->stopped = true;
  pthread_cond_broadcast(&p->work);
  pthread_mutex_unlock(&p->lock);
  for (int k = 0; k < p->readers; k++) pthread_join(p->reader[k], NULL);
  pthread_cond_destroy(&p->arrived);
  pthread_cond_destroy(&p->work);
  pthread_mutex_destroy(&p->lock);
}

static void unmap(tct_pager *p) {
  for (int k = 0; k < MAPS; k++) tct_mapped_free(&p->map[k]);
  tct_free(p->chunks);
  tct_free(p->asked.at);
  tct_free(p->passing.at);
  tct_free(p->kept.at);
  tct_free(p);
}

static tct_status map_all(tct_pager *p, const int file[2], const int64_t bytes[2], tct_error *err) {
  for (int k = 0; k < MAPS; k++) {
    if (bytes[k] > 0) TCT_TRY(tct_mapped_new(&p->map[k], file[k], bytes[k], p->size, err));
    p->first[k + 1] = p->first[k] + (bytes[k] + p->size - 1) / p->size;
  }
  int64_t all = p->first[MAPS];
  p->chunks = TCT_NEW(chunk, all);
  p->asked.at = TCT_NEW(int64_t, all);
  p->passing.at = TCT_NEW(int64_t, all);
  p->kept.at = TCT_NEW(int64_t, all);
  return p->chunks && p->asked.at && p->passing.at && p->kept.at ? TCT_OK : tct_fail_memory(err);
}

/* A 256th of the limit, as a power of two. */
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
  pthread_cond_init(&p->work, NULL);
  pthread_cond_init(&p->arrived, NULL);
  start_readers(p);
  for (int k = 0; k < MAPS; k++) at[k] = p->map[k].at;
  *out = p;
  return TCT_OK;
}

void tct_paged_free(tct_pager *p) {
  if (!p) return;
  if (p->process == getpid()) stop_readers(p);
  unmap(p);
}

static void ask(tct_pager *p, int64_t c) {
  p->chunks[c].left = false;
  if (p->chunks[c].where != IN_FILE) return;
  p->chunks[c].where = ASKED;
  p->asked.at[p->asked.count++] = c;
  pthread_cond_signal(&p->work);
}

static bool is_there(const tct_pager *p, int64_t c) { return p->chunks[c].where >= CACHED; }

/* A chunk that came and went again is read where it is mapped. */
static bool is_coming(const tct_pager *p, int64_t c) {
  int where = p->chunks[c].where;
  return where == ASKED || where == LOADING;
}

/* This thread comes to chunk c of file k. */
static void arrive(tct_pager *p, int k, int64_t c) {
  if (here.of != p) here.of = p, here.chunk[0] = here.chunk[1] = -1;
  if (here.chunk[k] == c && is_there(p, c)) return;
  pthread_mutex_lock(&p->lock);
  int64_t gone = here.chunk[k];
  if (gone >= 0 && gone < p->first[MAPS] && gone != c) p->chunks[gone].left = true;
  here.chunk[k] = c;
  for (int64_t d = 0; d <= AHEAD && c + d < p->first[k + 1]; d++) ask(p, c + d);
  while (is_coming(p, c)) {
    if (p->readers == 0)
      serve(p);
    else
      pthread_cond_wait(&p->arrived, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
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
    uintptr_t begin = (uintptr_t)p->map[k].at;
    if (begin == 0 || piece < begin || piece - begin >= (uintptr_t)p->map[k].bytes) continue;
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

/* What is on its way arrives. */
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
