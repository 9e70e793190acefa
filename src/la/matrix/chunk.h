/* chunk.h - a piece of a file at its place in memory: mapped, or read there past the page cache.
 *
 * The place holds the file's bytes at every moment, whoever reads it meanwhile.  A chunk that was read replaces the
 * mapped pages in one step of the operating system, and the mapped pages replace it in one step again. */
#ifndef TCT_LA_MATRIX_CHUNK_H
#define TCT_LA_MATRIX_CHUNK_H
#include "core/status.h"

#include <stdbool.h>

/* A file and where it lies.  at is NULL without one; it is a multiple of 2 MiB. */
typedef struct tct_mapped {
  char *at, *whole; /* the file; all that is reserved */
  int64_t bytes, reserved;
  int file; /* our own descriptor of it, which passes the page cache where the system can */
} tct_mapped;

/* Maps `bytes` > 0 bytes of the file for reading; the place ends at a multiple of `chunk`, a power of two of at least
 * 64 KiB.  The file may be closed.  TCT_E_RUN: no map. */
tct_status tct_mapped_new(tct_mapped *m, int file, int64_t bytes, int64_t chunk, tct_error *err);
void tct_mapped_free(tct_mapped *m);

/* Brings bytes [from, from + count) of the file into memory.  true: they were read from the disk into memory of the
 * process's own.  false: they stay mapped, as the page cache has them already, or as they cannot be read so. */
bool tct_chunk_read(const tct_mapped *m, int64_t from, int64_t count);
/* Takes them out of the process's memory.  read: what tct_chunk_read said.  false: the system refused, and they stay.
 */
bool tct_chunk_drop(const tct_mapped *m, int64_t from, int64_t count, bool read);
#endif
