/* exact.h - sums of doubles whose bits depend neither on their order nor on how they are shared out.
 *
 * A number x, |x| <= 2^e, is cut into a multiple of g = 2^(e+m-52) and a rest, |rest| <= g/2, which is rounded to a
 * multiple of h = g/2 * 2^(m-52).  The sums of both over up to 2^m numbers stay below 2^53 of their steps, so every
 * addition is exact.  Any order, any grouping, any number of threads or ranks gives the same bits.  high + low differs
 * from the exact sum by at most count*h/2 = count * 2^(e+2m-106), and by the rounding of that one addition.  At 2^20
 * numbers that is count * 2^e * 2^-66, far less than the rounding of a plain sum. */
#ifndef TCT_LA_EXACT_EXACT_H
#define TCT_LA_EXACT_EXACT_H
#include "la/matrix/matrix.h"

typedef struct tct_exact {
  double high, low; /* 1.5 * 2^52 * g and 1.5 * 2^52 * h: adding and taking away one rounds to its lattice */
} tct_exact;

/* For up to `count` numbers of size at most `bound`. */
tct_exact tct_exact_for(double bound, int64_t count);
/* high[n], low[n] += x[n] in two parts. */
void tct_exact_add(const tct_exact *exact, const double *x, double *high, double *low, int64_t n);

/* Rows are summed plainly in blocks, and blocks exactly: a block is cheap and its bits are fixed, if every block is on
 * one rank.  The first row of a rank is therefore a multiple of this power of two, 256 or more, for data of so many
 * features (without an intercept). */
int64_t tct_rows_together(int64_t cols);
/* Rows of a block for p features: a power of two that divides tct_rows_together(p) and tct_rows_together(p - 1), at
 * least 64, at most 64 + p/16. */
int64_t tct_block_rows(int64_t p);

/* The largest |a_i|, NaN left out; 0 for none. */
double tct_largest_size(const double *a, int64_t n, int threads);
/* What bounds an exact sum over rows, weighted by a_i; the same on all ranks. */
typedef struct tct_exact_bounds {
  double largest; /* at least every |a_i| */
  double norm;    /* at least every |x~_ij| */
  int64_t rows;   /* of all ranks */
} tct_exact_bounds;
/* high[p] + low[p] <- X~^T a over the rows of the view.  scratch: threads * tct_thread_stride(3p) doubles. */
void tct_exact_transpose(const tct_view *view, const double *a, const tct_exact_bounds *bounds, double *high_low,
                         double *scratch, int threads);
#endif
