/* tiles.c - c += left^T right over blocks of rows, after Goto and van de Geijn 2008.
 *
 * A block is kept in strips of 16 columns, each in one piece: tiles of 8 x 16 read what lies together, whatever the
 * width.  A right strip stays in the first cache, and GROUP left columns in the second.  At level 2 all sums of a tile
 * stay in registers; below, those of each 4 x 8 of it.  An entry is summed in the order of the rows. */
#include "la/exact/tiles.h"

#include "core/lanes.h"

#include <string.h>

enum { HIGH = 8, STRIP = 16, GROUP = 64 };

#define PLAIN(s, x, a) s += (x) * (a)
/* lattice.h's truncation in units of the lattice. */
#define CUT(s, x, a)                                                                       \
  do {                                                                                     \
    tct_f64x8 t = (x) * (a), size = (tct_f64x8)((tct_i64x8)t & ~sign), r = (size + M) - M; \
    r -= (tct_f64x8)((tct_i64x8)one & (r > size));                                         \
    s += (tct_f64x8)((tct_i64x8)r | ((tct_i64x8)t & sign));                                \
  } while (0)
#define M 4503599627370496.0
#if defined(__x86_64__)
#include <immintrin.h>
/* Not lanes.h's type: cast to this one, gcc takes a value that lies in memory for aligned. */
typedef __m512d wide;
#define FUSED(s, x, a) s = _mm512_fmadd_pd(x, _mm512_set1_pd(a), s)
#define TOWARD_0(s, x, a) s += _mm512_roundscale_pd((x) * (a), _MM_FROUND_TO_ZERO)
#define LOAD(p) _mm512_loadu_pd(p)
#define ADD_TO(p, value) _mm512_storeu_pd(p, LOAD(p) + (value))
#else
typedef tct_f64x8 wide;
#define FUSED PLAIN
#define TOWARD_0 PLAIN
#define LOAD(p) (*(const tct_f64x8 *)(p))
#define ADD_TO(p, value) *(tct_f64x8 *)(p) += value
#endif

#define ROW(r, ADD)       \
  ADD(s[r][0], x0, a[r]); \
  ADD(s[r][1], x1, a[r])
#define WIDE(name, ADD)                                                                                        \
  TCT_TARGET_2 static void name##_2(const double *a, const double *x, int64_t rows, double factor, double *c,  \
                                    int64_t stride) {                                                          \
    wide s[HIGH][2] = {{{0}}};                                                                                 \
    for (int r = 0; r < HIGH; r++) __builtin_prefetch(c + r * stride), __builtin_prefetch(c + r * stride + 8); \
    for (int64_t k = 0; k < rows; k++, a += STRIP, x += STRIP) {                                               \
      wide x0 = LOAD(x), x1 = LOAD(x + 8);                                                                     \
      ROW(0, ADD);                                                                                             \
      ROW(1, ADD);                                                                                             \
      ROW(2, ADD);                                                                                             \
      ROW(3, ADD);                                                                                             \
      ROW(4, ADD);                                                                                             \
      ROW(5, ADD);                                                                                             \
      ROW(6, ADD);                                                                                             \
      ROW(7, ADD);                                                                                             \
    }                                                                                                          \
    for (int r = 0; r < HIGH; r++, c += stride) ADD_TO(c, s[r][0] * factor), ADD_TO(c + 8, s[r][1] * factor);  \
  }
WIDE(plain, PLAIN)
WIDE(exact, FUSED)
WIDE(cut, TOWARD_0)

#define NARROW(name, level, ADD)                                                                                      \
  TCT_TARGET_##level static void name##_##level(const double *left, const double *right, int64_t rows, double factor, \
                                                double *c, int64_t stride) {                                          \
    const tct_i64x8 sign = (tct_i64x8){0} + INT64_MIN;                                                                \
    const tct_f64x8 one = (tct_f64x8){0} + 1.0;                                                                       \
    for (int64_t i = 0; i < HIGH; i += 4)                                                                             \
      for (int64_t j = 0; j < STRIP; j += 8) {                                                                        \
        const double *a = left + i, *at = right + j;                                                                  \
        tct_f64x8 s[4] = {{0}};                                                                                       \
        for (int64_t k = 0; k < rows; k++, a += STRIP, at += STRIP) {                                                 \
          tct_f64x8 x = *(const tct_f64x8 *)at;                                                                       \
          ADD(s[0], x, a[0]);                                                                                         \
          ADD(s[1], x, a[1]);                                                                                         \
          ADD(s[2], x, a[2]);                                                                                         \
          ADD(s[3], x, a[3]);                                                                                         \
        }                                                                                                             \
        for (int64_t r = 0; r < 4; r++) *(tct_f64x8 *)(c + (i + r) * stride + j) += s[r] * factor;                    \
      }                                                                                                               \
    (void)sign, (void)one;                                                                                            \
  }
NARROW(plain, 0, PLAIN)
NARROW(plain, 1, PLAIN)
NARROW(cut, 0, CUT)
NARROW(cut, 1, CUT)

int64_t tct_block_size(int64_t n) { return (n + STRIP - 1) / STRIP * STRIP * TCT_TILE_ROWS; }

#define BLOCK_ROW(level)                                                                           \
  TCT_TARGET_##level static void row_##level(const double *restrict row, double factor, int64_t n, \
                                             double *restrict to) {                                \
    for (; n >= STRIP; n -= STRIP, row += STRIP, to += TCT_TILE_ROWS * STRIP)                      \
      for (int64_t l = 0; l < STRIP; l++) to[l] = factor * row[l];                                 \
    for (int64_t l = 0; l < n; l++) to[l] = factor * row[l];                                       \
  }
TCT_EACH_LEVEL(BLOCK_ROW)

void tct_block_row(const double *row, double factor, int64_t n, int64_t k, double *block) {
  TCT_BEST(row)(row, factor, n, block + k * STRIP);
}

void tct_block_column(const double *column, int64_t rows, int64_t j, double *block) {
  double *to = block + j / STRIP * STRIP * TCT_TILE_ROWS + j % STRIP;
  for (int64_t k = 0; k < rows; k++) to[k * STRIP] = column[k];
}

void tct_tiles_add(const tct_tiles *of, double *c, int64_t stride) {
  static void (*const tiles[][TCT_LEVELS])(const double *, const double *, int64_t, double, double *, int64_t) = {
      {plain_0, plain_1, plain_2}, {plain_0, plain_1, exact_2}, {cut_0, cut_1, cut_2}};
  for (int64_t first = 0, n = of->n; first < n; first += GROUP)
    for (int64_t j = 0; j < n && j < first + GROUP; j += STRIP)
      for (int64_t i = j > first ? j : first; i < n && i < first + GROUP; i += HIGH) {
        const double *a = of->left + i / STRIP * STRIP * TCT_TILE_ROWS + i % STRIP;
        double rest[HIGH * STRIP], *to = c + i * stride + j;
        bool whole = j + STRIP <= n && i + HIGH <= n;
        if (!whole) memset(rest, 0, sizeof rest);
        tiles[of->products][tct_level()](a, of->right + j * TCT_TILE_ROWS, of->rows, of->factor, whole ? to : rest,
                                         whole ? stride : STRIP);
        for (int64_t r = 0; r < HIGH && i + r < n && !whole; r++)
          for (int64_t l = 0; l < STRIP && l < n - j; l++) to[r * stride + l] += rest[r * STRIP + l];
      }
}
