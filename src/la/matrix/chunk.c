/* chunk.c - chunks read beside their place and moved into it.
 *
 * A page fault for every few pages, and the page cache's own work, cost several times what the loops over the records
 * do.  A read of whole chunks past the cache costs neither.  What the cache has already stays mapped: a machine with
 * memory to spare keeps the whole file there. */
#define _GNU_SOURCE
#include "la/matrix/chunk.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE = 1 << 21, LARGEST = HUGE, LEAST_PAGE = 4096, LEAST_ROOM = 1 << 16 };

#ifdef O_DIRECT
enum { PAST_CACHE = O_DIRECT };
#else
enum { PAST_CACHE = 0 };
#endif

#ifdef MADV_NOHUGEPAGE
static void ask_for_small_pages(void *at, size_t bytes) { (void)!madvise(at, bytes, MADV_NOHUGEPAGE); }
static void ask_for_large_pages(void *at, size_t bytes) { (void)!madvise(at, bytes, MADV_HUGEPAGE); }
#else
static void ask_for_small_pages(void *at, size_t bytes) { (void)at, (void)bytes; }
static void ask_for_large_pages(void *at, size_t bytes) { (void)at, (void)bytes; }
#endif

static int64_t rounded_up(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

/* The file's pages at their place, in one step. */
static bool map_place(const tct_mapped *m, int64_t from, int64_t count) {
  void *at = mmap(m->at + from, (size_t)count, PROT_READ, MAP_SHARED | MAP_FIXED, m->file, from);
  if (at != MAP_FAILED) ask_for_small_pages(at, (size_t)count);
  return at != MAP_FAILED;
}

/* Our own descriptor.  Where the file system cannot pass the cache, reads go through it. */
static int own_descriptor(int file) {
  int own = fcntl(file, F_DUPFD_CLOEXEC, 3), flags = own < 0 ? -1 : fcntl(own, F_GETFL);
  if (flags >= 0) (void)!fcntl(own, F_SETFL, flags | PAST_CACHE);
  return own;
}

tct_status tct_mapped_new(tct_mapped *m, int file, int64_t bytes, int64_t chunk, tct_error *err) {
  int64_t length = rounded_up(bytes, chunk);
  *m = (tct_mapped){.bytes = bytes, .reserved = length + HUGE, .file = own_descriptor(file)};
  if (m->file < 0) return tct_fail(err, TCT_E_RUN, "too many files are open; raise the limit (ulimit -n)");
  m->whole = mmap(NULL, (size_t)m->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m->whole == MAP_FAILED) m->whole = NULL;
  if (m->whole) {
    m->at = m->whole + (HUGE - (uintptr_t)m->whole % HUGE) % HUGE;
    if (map_place(m, 0, length)) return TCT_OK;
  }
  tct_mapped_free(m);
  return tct_fail_memory(err);
}

void tct_mapped_free(tct_mapped *m) {
  if (m->reserved == 0) return;
  if (m->whole) munmap(m->whole, (size_t)m->reserved);
  close(m->file);
  *m = (tct_mapped){0};
}

#ifdef MREMAP_FIXED
/* The place is looked at before anything else is mapped there, so these are the file's pages. */
static bool is_cached(const tct_mapped *m, int64_t from, int64_t count) {
  unsigned char page[LARGEST / LEAST_PAGE];
  int64_t size = sysconf(_SC_PAGESIZE);
  if (count > LARGEST || mincore(m->at + from, (size_t)count, page) != 0) return true;
  for (int64_t k = 0; k < (count + size - 1) / size; k++)
    if (!(page[k] & 1)) return false;
  return true;
}

static bool read_whole(const tct_mapped *m, char *to, int64_t from, int64_t count, int64_t room) {
  for (int64_t done = 0; done < count;) {
    ssize_t got = pread(m->file, to + done, (size_t)(room - done), from + done);
    if (got <= 0 || (got % LEAST_PAGE != 0 && done + got < count)) return false;
    done += got;
  }
  return true;
}

/* Memory for a chunk, at a multiple of the size of a large page; *whole is all that was mapped for it. */
static char *take_room(int64_t room, char **whole, size_t *all) {
  *all = (size_t)room + (room < HUGE ? 0 : HUGE);
  *whole = mmap(NULL, *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (*whole == MAP_FAILED) return NULL;
  char *to = room < HUGE ? *whole : *whole + (HUGE - (uintptr_t)*whole % HUGE) % HUGE;
  if (room >= HUGE) ask_for_large_pages(to, (size_t)room);
  return to;
}

/* A move that fails may have emptied the place. */
static bool move_in(const tct_mapped *m, char *memory, int64_t from, int64_t room) {
  if (mprotect(memory, (size_t)room, PROT_READ) != 0) return false;
  void *at = m->at + from;
  if (mremap(memory, (size_t)room, (size_t)room, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at) return true;
  (void)map_place(m, from, room);
  return false;
}

bool tct_chunk_read(const tct_mapped *m, int64_t from, int64_t count) {
  if (is_cached(m, from, count)) return false;
  char *whole;
  size_t all;
  int64_t room = rounded_up(count, LEAST_ROOM);
  char *to = take_room(room, &whole, &all);
  if (!to) return false;
  if (!read_whole(m, to, from, count, room) || !move_in(m, to, from, room)) {
    munmap(whole, all);
    return false;
  }
  if (to > whole) munmap(whole, (size_t)(to - whole));
  if (whole + all > to + room) munmap(to + room, (size_t)(whole + all - (to + room)));
  return true;
}

bool tct_chunk_drop(const tct_mapped *m, int64_t from, int64_t count, bool read) {
  int64_t room = rounded_up(count, LEAST_ROOM);
  return read ? map_place(m, from, room) : madvise(m->at + from, (size_t)room, MADV_DONTNEED) == 0;
}
#else
bool tct_chunk_read(const tct_mapped *m, int64_t from, int64_t count) {
  (void)!madvise(m->at + from, (size_t)count, MADV_WILLNEED);
  return false;
}

bool tct_chunk_drop(const tct_mapped *m, int64_t from, int64_t count, bool read) {
  (void)read;
  return madvise(m->at + from, (size_t)count, MADV_DONTNEED) == 0;
}
#endif
