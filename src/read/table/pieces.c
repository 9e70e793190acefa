/* pieces.c - a growing sequence of elements, in little more than its final memory.
 *
 * The number of records is not known before the end.  Doubling one array would hold three times the data while it is
 * copied.  Here elements are kept in pieces and joined once.  The joined array takes memory page by page as it is
 * written, and each piece is given back as soon as it is copied.  An array whose size is known beforehand is one piece,
 * and is not copied at all. */
#include "read/table/pieces.h"

#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "read/table/scratch.h"

#define FIRST_PIECE TCT_LIMIT(1 << 12, 4)
#define LARGEST_PIECE TCT_LIMIT(1 << 20, 64) /* 32 KiB to 8 MiB of doubles */
#define LARGE TCT_LIMIT(1 << 20, 256)        /* bytes from which a piece is whole pages */

static bool is_pages(const tct_pieces *pieces, const struct tct_piece *piece) {
  return !piece->final && piece->size * (int64_t)pieces->element >= LARGE;
}

static void free_piece(const tct_pieces *pieces, struct tct_piece *piece) {
  if (is_pages(pieces, piece))
    tct_pages_free(piece->memory, piece->size * (int64_t)pieces->element);
  else
    tct_wipe_free(piece->memory, piece->used, pieces->element);
  piece->memory = NULL;
  piece->used = 0;
}

/* One piece more, with room for `size` elements; NULL: lack of memory. */
static struct tct_piece *add_piece(tct_pieces *pieces, int64_t size, bool final) {
  if (pieces->count == pieces->cap) {
    int64_t cap = pieces->cap ? 2 * pieces->cap : 16;
    void *grown = tct_grow(pieces->at, pieces->count, cap, sizeof *pieces->at);
    if (!grown) return NULL;
    pieces->at = grown;
    pieces->cap = cap;
  }
  struct tct_piece *piece = &pieces->at[pieces->count];
  *piece = (struct tct_piece){.size = size, .final = final};
  if (final)
    piece->memory = tct_alloc_unset(size, pieces->element);
  else
    piece->memory =
        is_pages(pieces, piece) ? tct_pages_new(size * (int64_t)pieces->element) : tct_alloc(size, pieces->element);
  if (!piece->memory) return NULL;
  pieces->count++;
  return piece;
}

bool tct_pieces_expect(tct_pieces *pieces, int64_t count) { return add_piece(pieces, count, true) != NULL; }

void tct_pieces_written(tct_pieces *pieces, int64_t count) { pieces->kept = pieces->total = count; }

void tct_pieces_drop(tct_pieces *pieces) {
  for (int64_t k = 0; k < pieces->count; k++) free_piece(pieces, &pieces->at[k]);
  pieces->count = 0;
}

/* One piece stays, empty, for what follows. */
tct_status tct_pieces_keep(tct_pieces *pieces, tct_error *err) {
  int64_t element = (int64_t)pieces->element;
  for (int64_t k = 0; k < pieces->count; k++) {
    struct tct_piece *piece = &pieces->at[k];
    TCT_TRY(tct_scratch_write(pieces->file, piece->memory, piece->used * element, pieces->kept * element, err));
    pieces->kept += piece->used;
    piece->used = 0;
  }
  struct tct_piece *last = pieces->count > 0 ? &pieces->at[pieces->count - 1] : NULL;
  for (int64_t k = 0; k + 1 < pieces->count; k++) free_piece(pieces, &pieces->at[k]);
  if (last) pieces->at[0] = *last, pieces->count = 1;
  return TCT_OK;
}

void *tct_pieces_reserve(tct_pieces *pieces, int64_t count) {
  struct tct_piece *last = pieces->count > 0 ? &pieces->at[pieces->count - 1] : NULL;
  if (pieces->file > 0 && last && last->size - last->used < count) {
    if (tct_pieces_keep(pieces, pieces->why) != TCT_OK) return NULL;
    last = pieces->count > 0 && pieces->at[0].size >= count ? &pieces->at[0] : NULL;
    if (!last) tct_pieces_drop(pieces);
  }
  if (!last || last->size - last->used < count) {
    int64_t size = last ? 2 * last->size : FIRST_PIECE;
    if (size > LARGEST_PIECE) size = LARGEST_PIECE;
    if (size < count) size = count;
    last = add_piece(pieces, size, false);
    if (!last) return NULL;
  }
  void *buffer = last->memory + (size_t)last->used * pieces->element;
  last->used += count;
  pieces->total += count;
  return buffer;
}

/* In steps that leave little of a piece unused. */
bool tct_pieces_append(tct_pieces *to, tct_pieces *from) {
  for (int64_t k = 0; k < from->count; k++) {
    struct tct_piece *piece = &from->at[k];
    for (int64_t at = 0; at < piece->used; at += FIRST_PIECE) {
      int64_t count = piece->used - at < FIRST_PIECE ? piece->used - at : FIRST_PIECE;
      void *buffer = tct_pieces_reserve(to, count);
      if (!buffer) return false;
      memcpy(buffer, piece->memory + (size_t)at * from->element, (size_t)count * from->element);
    }
    piece->used = 0;
  }
  struct tct_piece *last = from->count > 0 ? &from->at[from->count - 1] : NULL;
  for (int64_t k = 0; k + 1 < from->count; k++) free_piece(from, &from->at[k]);
  if (last) from->at[0] = *last, from->count = 1;
  from->total = 0;
  return true;
}

void tct_pieces_drain(tct_pieces *pieces, void (*take)(void *user, const char *elements, int64_t count), void *user) {
  for (int64_t k = 0; k < pieces->count; k++) {
    struct tct_piece *piece = &pieces->at[k];
    take(user, piece->memory, piece->used);
    free_piece(pieces, piece);
  }
  tct_pieces_free(pieces);
}

/* Where the next elements go. */
typedef struct sink {
  char *to;
  size_t element;
} sink;

static void copy(void *user, const char *elements, int64_t count) {
  sink *s = user;
  size_t bytes = (size_t)count * s->element;
  if (bytes > 0) memcpy(s->to, elements, bytes);
  s->to += bytes;
}

void tct_pieces_copy(tct_pieces *pieces, void *to) { tct_pieces_drain(pieces, copy, &(sink){to, pieces->element}); }

tct_status tct_pieces_join(tct_pieces *pieces, void **joined, tct_error *err) {
  if (pieces->count == 1 && pieces->at[0].final) {
    *joined = pieces->at[0].memory;
    pieces->count = 0;
    tct_pieces_free(pieces);
    return TCT_OK;
  }
  void *memory = tct_alloc_unset(pieces->total, pieces->element);
  if (!memory) return tct_fail_memory(err);
  *joined = memory;
  tct_pieces_copy(pieces, memory);
  return TCT_OK;
}

void tct_pieces_free(tct_pieces *pieces) {
  for (int64_t k = 0; k < pieces->count; k++) free_piece(pieces, &pieces->at[k]);
  if (pieces->file > 0) close(pieces->file);
  tct_free(pieces->at);
  size_t element = pieces->element;
  memset(pieces, 0, sizeof *pieces);
  pieces->element = element;
}
