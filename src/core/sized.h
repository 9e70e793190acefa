/* sized.h - public structs whose first member is their size: programs built for another tacit.h fill them.
 *
 * A struct only ever grows at its end.  A smaller size is an older program: what it does not have takes the defaults,
 * and nothing is written beyond its end.  A larger size is a newer program: what this library does not know must be
 * zero. */
#ifndef TCT_CORE_SIZED_H
#define TCT_CORE_SIZED_H
#include "core/status.h"

typedef struct tct_sized {
  const char *name;  /* of the struct, for a sentence */
  const char *how;   /* what sets its size, for the same sentence */
  size_t first, own; /* size when it was first published, and now */
} tct_sized;

/* last: the last member that the struct had when it was first published. */
#define TCT_SIZED(type, last, how) \
  { #type, how, (offsetof(type, last) + sizeof(((type *)0)->last) + 7) / 8 * 8, sizeof(type) }

/* Writes `defaults` (kind->own bytes) to the caller's struct of `size` bytes, and the size itself; a longer struct ends
 * in zeros. */
void tct_sized_default(const tct_sized *kind, void *to, size_t size, const void *defaults);
/* own, which holds the defaults, takes what the caller gave.  TCT_E_USAGE: no struct, or a size that is none of its. */
tct_status tct_sized_take(const tct_sized *kind, const void *given, void *own, tct_error *err);
#endif
