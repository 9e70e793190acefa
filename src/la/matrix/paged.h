/* paged.h - a matrix by rows whose values lie in a file: mapped, read ahead, and given back chunk by chunk.
 *
 * Loops read it as any other matrix.  They say which rows they are about to read, and chunks of the file are fetched
 * ahead of them.  Those that nobody needs soon are given back, so the process keeps to its memory.  A chunk that is
 * needed again comes from the file with the same bytes, so no result depends on the limit. */
#ifndef TCT_LA_MATRIX_PAGED_H
#define TCT_LA_MATRIX_PAGED_H
#include "core/status.h"

typedef struct tct_pager tct_pager;

/* Maps `bytes` bytes of each file, at most two, for reading by threads of this process; a size of 0 is none.  memory:
 * bytes that the process may take in all.  *out is what tct_matrix.pages carries; at[2] receives where the bytes lie.
 * The files may be closed.  TCT_E_RUN: no map. */
tct_status tct_paged_new(const int file[2], const int64_t bytes[2], int64_t memory, tct_pager **out, const void *at[2],
                         tct_error *err);
void tct_paged_free(tct_pager *pager);

/* Says that bytes[count] of the maps are about to be read.  Threads may call it at the same time. */
void tct_paged_touch(tct_pager *pager, const void *bytes, int64_t count);
/* Gives all pages back: before a run takes memory of its own.  NULL: nothing. */
void tct_paged_release(tct_pager *pager);
/* Bytes that threads said they would read, in pieces of 64 KiB, for tests. */
int64_t tct_paged_wanted(const tct_pager *pager);
/* Bytes of the chunks that were fetched, from the disk or the page cache, for tests. */
int64_t tct_paged_fetched(const tct_pager *pager);
/* How many chunks the limit made it give back, for tests. */
int64_t tct_paged_released(const tct_pager *pager);
#endif
