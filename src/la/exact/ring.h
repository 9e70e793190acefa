/* ring.h - bounded records as integers, and their products, modulo 2^64. */
#ifndef TCT_LA_EXACT_RING_H
#define TCT_LA_EXACT_RING_H
#include "la/matrix/matrix.h"

/* Records are multiples of 2^-fraction, cut toward zero; products lie on 2^(-2 fraction).  A negative number is its
 * two's complement. */

/* out[p] <- row `row` of the view, cut toward zero: no coordinate grows, and so no norm does.  Every number of the view
 * is below 2^52 of the lattice, which the plan sees to.  Rows layouts only.  line: p doubles of workspace. */
void tct_ring_row(const tct_view *view, int64_t row, int fraction, double *line, uint64_t *out);
/* One number likewise, |value| < 2^52 * 2^-fraction. */
uint64_t tct_ring_cut(double value, int fraction);
/* What the integer stands for, as the signed number nearest to 0; rounded to the nearest double. */
double tct_ring_real(uint64_t word, int fraction);

/* One factor: `rows` rows of `cols` numbers. */
typedef struct tct_ring_block {
  const uint64_t *at; /* [rows][cols] */
  int64_t cols;
} tct_ring_block;
/* sum[a.cols][stride] += a^T b modulo 2^64 over the rows, entry (i, j) at sum[i*stride + j].  upper: entries with
 * j >= i are right, those below are not touched or not to be read (a and b of one shape). */
void tct_ring_times(tct_ring_block a, tct_ring_block b, int64_t rows, bool upper, uint64_t *sum, int64_t stride);
#endif
