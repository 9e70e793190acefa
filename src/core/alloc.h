/* alloc.h - checked allocation and secret-wiping free. */
#ifndef TCT_CORE_ALLOC_H
#define TCT_CORE_ALLOC_H
#include "core/status.h"

/* count*size zeroed bytes, 64-byte aligned; NULL on overflow, lack of memory, or where a large one is asked for by a
 * run that is to end (core/stop.h).  count 0 gives a
 * pointer that may be freed.  Freed with tct_free. */
void *tct_alloc(int64_t count, size_t size);
#define TCT_NEW(type, count) ((type *)tct_alloc((count), sizeof(type)))

/* The same without the zeros: for large arrays of which every byte is written before it is read.  Pages that nobody has
 * written take no memory yet. */
void *tct_alloc_unset(int64_t count, size_t size);
/* As tct_alloc; large memory is zeroed, and so first touched, by up to so many threads. */
void *tct_alloc_by(int threads, int64_t count, size_t size);

/* The distance, in doubles, of one thread's `count` numbers from the next thread's in one allocation: at least a cache
 * line lies between them.  Threads that write to one line wait for each other at every write. */
static inline int64_t tct_thread_stride(int64_t count) { return (count + 23) / 16 * 16; }

/* Whole pages straight from the operating system, zeroed; what is given back is really free again, whatever lies
 * beside it.  NULL: lack of memory.  bytes > 0, the same for both. */
void *tct_pages_new(int64_t bytes);
void tct_pages_free(void *memory, int64_t bytes);

/* Grows an allocation of tct_alloc from old_count to count elements (the new ones zeroed), or
 * returns NULL and leaves the old one valid. */
void *tct_grow(void *old, int64_t old_count, int64_t count, size_t size);

void tct_free(void *memory);

/* Overwrites, then frees: for keys, noise, duals and copies of records. */
void tct_wipe_free(void *memory, int64_t count, size_t size);
/* Overwrites count*size bytes with zeros, by up to so many threads; NULL is nothing. */
void tct_wipe_by(int threads, void *memory, int64_t count, size_t size);
/* tct_wipe_free by up to so many threads. */
void tct_wipe_free_by(int threads, void *memory, int64_t count, size_t size);

/* A copy of a text, or NULL; NULL in gives NULL out. Freed with tct_free. */
char *tct_text_copy(const char *text);

/* Fault injection for tests: the n-th allocation from now fails (1 = the next); 0 = none.
 * Not thread-safe; tests only. */
void tct_alloc_fail_at_test(int64_t n);
#endif
