/* ring.c - integer products modulo 2^64, in tiles that stay in registers.
 *
 * The ring's sum is the same in any order, so every instruction set gives the same bits and no lattice argument is
 * needed.  A tile is 4 columns of a by 16 of b; rest columns go one by one. */
#include "la/exact/ring.h"

#include "core/lanes.h"
#include "core/stop.h"
#include "la/kernels/kernels.h"

#include <math.h>
#include <string.h>

uint64_t tct_ring_cut(double value, int fraction) { return (uint64_t)(int64_t)ldexp(value, fraction); }

double tct_ring_real(uint64_t word, int fraction) { return ldexp((double)(int64_t)word, -fraction); }

void tct_ring_row(const tct_view *view, int64_t row, int fraction, double *line, uint64_t *out) {
  memset(line, 0, (size_t)view->p * sizeof *line);
  tct_row_add_lattice(view, row, 1, ldexp(1, -fraction), line);
  for (int64_t j = 0; j < view->p; j++) out[j] = tct_ring_cut(line[j], fraction);
}

typedef uint64_t words __attribute__((vector_size(64), aligned(8), may_alias));
enum { TALL = 4, WIDE = 16 };

/* One tile at columns (i, j). */
#define TILE(level)                                                                                                   \
  TCT_TARGET_##level static void tile_##level(tct_ring_block a, tct_ring_block b, int64_t rows, int64_t i, int64_t j, \
                                              uint64_t *sum, int64_t stride) {                                        \
    words acc[TALL][2] = {{{0}}};                                                                                     \
    for (int64_t r = 0; r < rows; r++) {                                                                              \
      const uint64_t *left = a.at + r * a.cols + i;                                                                   \
      const words *right = (const words *)(b.at + r * b.cols + j);                                                    \
      for (int t = 0; t < TALL; t++) {                                                                                \
        acc[t][0] += left[t] * right[0];                                                                              \
        acc[t][1] += left[t] * right[1];                                                                              \
      }                                                                                                               \
    }                                                                                                                 \
    for (int t = 0; t < TALL; t++) {                                                                                  \
      words *to = (words *)(sum + (i + t) * stride + j);                                                              \
      to[0] += acc[t][0];                                                                                             \
      to[1] += acc[t][1];                                                                                             \
    }                                                                                                                 \
  }
TCT_EACH_LEVEL(TILE)

/* Columns that fill no tile. */
static void rest(tct_ring_block a, tct_ring_block b, int64_t rows, int64_t i, int64_t j, uint64_t *sum) {
  uint64_t total = 0;
  for (int64_t r = 0; r < rows; r++) total += a.at[r * a.cols + i] * b.at[r * b.cols + j];
  *sum += total;
}

enum { IN_CACHE = 1 << 15 }; /* numbers of both factors */

static void times(tct_ring_block a, tct_ring_block b, int64_t rows, bool upper, uint64_t *sum, int64_t stride) {
  int64_t tall = a.cols - a.cols % TALL, wide = b.cols - b.cols % WIDE;
  for (int64_t i = 0; i < tall; i += TALL)
    for (int64_t j = upper ? i - i % WIDE : 0; j < wide; j += WIDE) TCT_BEST(tile)(a, b, rows, i, j, sum, stride);
  for (int64_t i = 0; i < a.cols; i++)
    for (int64_t j = i < tall ? wide : 0; j < b.cols; j++)
      if (!upper || j >= i) rest(a, b, rows, i, j, sum + i * stride + j);
}

/* So many rows at a time that they stay in cache. */
void tct_ring_times(tct_ring_block a, tct_ring_block b, int64_t rows, bool upper, uint64_t *sum, int64_t stride) {
  int64_t part = IN_CACHE / (a.cols + b.cols + 1) + 1;
  for (; rows > part && !tct_stopping(); rows -= part, a.at += part * a.cols, b.at += part * b.cols)
    times(a, b, part, upper, sum, stride);
  if (!tct_stopping()) times(a, b, rows, upper, sum, stride);
}
