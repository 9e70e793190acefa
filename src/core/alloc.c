/* alloc.c - checked allocation and secret-wiping free.
 *
 * malloc returns 16-byte alignment; kernels want 64.  aligned_alloc needs a size that is a
 * multiple of the alignment, so sizes are rounded up, after the overflow check.  Large memory is aligned to huge pages
 * and asks for them: a table of gigabytes then takes hundreds of times fewer page faults and address translations. */
#include "core/alloc.h"
#include "core/processors.h"
#include "core/stop.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE ((size_t)64 << 20) /* takes some 20 ms to clear */

#ifdef TCT_FAULTS
static _Atomic int64_t allocations_left = 0;
void tct_alloc_fail_at_test(int64_t n) { allocations_left = n; }
static int allocation_fails(void) { return allocations_left > 0 && --allocations_left == 0; }
#else
void tct_alloc_fail_at_test(int64_t n) { (void)n; }
static int allocation_fails(void) { return 0; }
#endif

#ifdef MADV_HUGEPAGE
static void ask_for_huge_pages(void *memory, size_t bytes) {
  (void)!madvise(memory, bytes, MADV_HUGEPAGE); /* refused: ordinary pages */
}
#else
static void ask_for_huge_pages(void *memory, size_t bytes) { (void)memory, (void)bytes; }
#endif

/* *taken <- how many bytes. */
static void *take(int64_t count, size_t size, size_t *taken) {
  size_t bytes;
  if (count < 0 || allocation_fails()) return NULL;
  if (__builtin_mul_overflow((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX - 64) return NULL;
  if (bytes >= LARGE && tct_stopping()) return NULL;
  bytes = (bytes + 64) & ~(size_t)63;
  size_t alignment = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : 64;
  if (alignment > 64 && bytes <= PTRDIFF_MAX - HUGE_PAGE) bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *memory = aligned_alloc(alignment, bytes);
  if (memory && alignment > 64) ask_for_huge_pages(memory, bytes);
  *taken = bytes;
  return memory;
}

void *tct_alloc(int64_t count, size_t size) {
  size_t bytes;
  char *memory = take(count, size, &bytes);
  for (size_t at = 0; memory && at < bytes; at += LARGE) {
    memset(memory + at, 0, bytes - at < LARGE ? bytes - at : LARGE);
    if (bytes > LARGE && tct_stopping()) return free(memory), NULL;
  }
  return memory;
}

void *tct_alloc_unset(int64_t count, size_t size) {
  size_t bytes;
  return take(count, size, &bytes);
}

/* The system clears a page when it is touched first, which takes as long as a pass over it or two. */
void *tct_alloc_by(int threads, int64_t count, size_t size) {
  size_t bytes, piece = HUGE_PAGE;
  char *memory = take(count, size, &bytes);
  if (!memory) return NULL;
  if (bytes < 4 * piece || threads < 1) threads = 1;
  for (size_t from = 0, to; from < bytes; from = to) {
    to = bytes - from < (size_t)threads * LARGE ? bytes : from + (size_t)threads * LARGE;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
    for (size_t at = from; at < to; at += piece) memset(memory + at, 0, to - at < piece ? to - at : piece);
    if (to < bytes && tct_stopping()) return free(memory), NULL;
  }
  return memory;
}

void *tct_pages_new(int64_t bytes) {
  if (bytes <= 0 || allocation_fails()) return NULL;
  void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  ask_for_huge_pages(memory, (size_t)bytes);
  return memory;
}

void tct_pages_free(void *memory, int64_t bytes) {
  if (memory) munmap(memory, (size_t)bytes);
}

void *tct_grow(void *old, int64_t old_count, int64_t count, size_t size) {
  void *memory = tct_alloc(count, size);
  if (!memory) return NULL;
  int64_t keep = old_count < count ? old_count : count;
  if (old && keep > 0) memcpy(memory, old, (size_t)keep * size);
  tct_free(old);
  return memory;
}

void tct_free(void *memory) { free(memory); }

void tct_wipe_free(void *memory, int64_t count, size_t size) {
  if (memory && count > 0) sodium_memzero(memory, (size_t)count * size);
  free(memory);
}

void tct_wipe_by(int threads, void *memory, int64_t count, size_t size) {
  size_t bytes = memory && count > 0 ? (size_t)count * size : 0, piece = HUGE_PAGE;
  if (bytes < 4 * piece) threads = 1;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (size_t at = 0; at < bytes; at += piece)
    sodium_memzero((char *)memory + at, bytes - at < piece ? bytes - at : piece);
}

void tct_wipe_free_by(int threads, void *memory, int64_t count, size_t size) {
  tct_wipe_by(threads, memory, count, size);
  free(memory);
}

char *tct_text_copy(const char *text) {
  if (!text) return NULL;
  size_t length = strlen(text) + 1;
  char *copy = TCT_NEW(char, (int64_t)length);
  if (copy) memcpy(copy, text, length);
  return copy;
}
