/* tiles.h - products of blocks of rows, in tiles whose sums stay in registers. */
#ifndef TCT_LA_EXACT_TILES_H
#define TCT_LA_EXACT_TILES_H
#include <stdbool.h>
#include <stdint.h>

enum { TCT_TILE_ROWS = 128 }; /* of a block at most: 16 columns of it are 16 KiB, in the first cache */

/* Doubles of a block of rows of n columns. */
int64_t tct_block_size(int64_t n);
/* Row k of a block <- factor * row[n]. */
void tct_block_row(const double *row, double factor, int64_t n, int64_t k, double *block);
/* The first rows of column j. */
void tct_block_column(const double *column, int64_t rows, int64_t j, double *block);

/* How products are added.  Plainly: to the same bits at all levels.  Exact: nothing needs rounding, so they may be
 * fused with sums.  Cut: toward zero, to whole numbers, for sizes up to 2^51. */
typedef enum tct_products { TCT_PRODUCTS_PLAIN, TCT_PRODUCTS_EXACT, TCT_PRODUCTS_CUT } tct_products;

typedef struct tct_tiles {
  const double *left, *right; /* blocks of n columns */
  int64_t rows, n;
  tct_products products;
  double factor; /* a power of two, or less one */
} tct_tiles;

/* The lower triangle of c[n][n], whose rows are `stride` apart, += factor * left^T right; what is above it within a
 * tile is rubbish then. */
void tct_tiles_add(const tct_tiles *of, double *c, int64_t stride);
#endif
