/* scratch.h - a file without a name: it ends with the process, however that ends. */
#ifndef TCT_READ_TABLE_SCRATCH_H
#define TCT_READ_TABLE_SCRATCH_H
#include "core/status.h"

/* A descriptor of an empty file that only this process sees, mode 0600; folder NULL: $TMPDIR, else /tmp.  -1 with
 * TCT_E_RUN: the folder takes no file.  Closed by the caller. */
int tct_scratch_open(const char *folder, tct_error *err);
/* Takes room for `bytes` bytes.  TCT_E_RUN: there is not so much. */
tct_status tct_scratch_reserve(int file, int64_t bytes, tct_error *err);
/* Appends or overwrites all of bytes[count] at `at`.  TCT_E_RUN: no room, or the disk failed. */
tct_status tct_scratch_write(int file, const void *bytes, int64_t count, int64_t at, tct_error *err);
/* Reads bytes[count] at `at`, which were written before. */
tct_status tct_scratch_read(int file, void *bytes, int64_t count, int64_t at, tct_error *err);

/* Records without a file: has memory room for more?  taken: their bytes so far, all of which are still to come where
 * `expected` is above 0.  *looked: up to so many bytes it was asked before, 0 at first.  TCT_E_MEMORY: there is none.
 */
tct_status tct_scratch_spare(int64_t *looked, int64_t taken, int64_t expected, tct_error *err);
#endif
