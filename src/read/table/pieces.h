/* pieces.h - a growing sequence of elements. */
#ifndef TCT_READ_TABLE_PIECES_H
#define TCT_READ_TABLE_PIECES_H

#include "core/status.h"

typedef struct tct_pieces {
  struct tct_piece {
    char *memory;
    int64_t used, size; /* in elements */
    bool final;         /* memory of tct_alloc that becomes the joined array */
  } * at;
  int64_t count, cap;
  int64_t total; /* elements in all pieces, and in the file */
  size_t element;
  int file; /* of scratch.h, where the first `kept` elements lie; below 1: none */
  int64_t kept;
  tct_error *why; /* why the file took no more, or NULL: filled by tct_pieces_reserve */
} tct_pieces;

/* At most `count` elements will come: they then stand in their final place at once.  Before the first one.
 * false = out of memory. */
bool tct_pieces_expect(tct_pieces *pieces, int64_t count);
/* Room for `count` elements in a row, which become part of the sequence; NULL = out of memory, or of disk. */
void *tct_pieces_reserve(tct_pieces *pieces, int64_t count);
/* Appends all elements of `from`, which is empty afterwards and keeps its memory for others; false = out of memory or
 * disk.  from has no file. */
bool tct_pieces_append(tct_pieces *to, tct_pieces *from);
/* All elements in one allocation of tct_alloc; the pieces are returned one by one on the way. */
tct_status tct_pieces_join(tct_pieces *pieces, void **joined, tct_error *err);
/* Gives all pieces back; a file stays. */
void tct_pieces_drop(tct_pieces *pieces);
void tct_pieces_free(tct_pieces *pieces);
/* `count` elements, all there are, are in the file at their places, or will be before the end. */
void tct_pieces_written(tct_pieces *pieces, int64_t count);
/* Writes what is there to the file, where one element follows the other. */
tct_status tct_pieces_keep(tct_pieces *pieces, tct_error *err);
/* Hands all elements to `take` in order, piece by piece, and gives each piece back. */
void tct_pieces_drain(tct_pieces *pieces, void (*take)(void *user, const char *elements, int64_t count), void *user);
/* The same, one element after the other into `to`, which has room for all. */
void tct_pieces_copy(tct_pieces *pieces, void *to);

#endif
