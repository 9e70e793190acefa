/* gradient.h - one pass over the rows: margins, factors of the caller's making, and the exact sum of factor times row.
 */
#ifndef TCT_LA_EXACT_GRADIENT_H
#define TCT_LA_EXACT_GRADIENT_H
#include "la/matrix/matrix.h"

/* What makes factors of margins. */
typedef struct tct_factors {
  /* a[count] holds the margins of the rows first, first + 1, ... on entry and their factors on return.  Called from
   * several threads at once. */
  void (*of)(const void *user, int64_t first, int64_t count, double *a);
  const void *user;
} tct_factors;

/* What a factor may be at most, so that the row's term in the sum has norm at most `sensitivity` as exact reals:
 * |factor| * |x~_i| <= tct_gradient_factor_max(sensitivity, lattice, p).  Below 0 where the lattice is too coarse for
 * p. */
double tct_gradient_factor_max(double sensitivity, double lattice, int64_t p);
/* Doubles of workspace that the pass needs. */
int64_t tct_gradient_scratch(int64_t p, int threads);
/* sum[p] <- the sum over the view's rows of factor_i * x~_i, each coordinate rounded to the lattice (proof in
 * gradient.c): multiples of the lattice, added exactly, whatever the threads.  lattice: a power of two in [2^-960,
 * 2^900] with rows * sensitivity < 2^52*lattice.  A factor that is not finite adds nothing.  Rows layouts only. */
void tct_gradient_lattice(const tct_view *view, const double *w, tct_factors factors, double lattice, double *sum,
                          double *scratch, int threads);
#endif
