/* shells.h - exact sums of outer products in which each row belongs to the shell of its own length.
 *
 * A sum of z z^T with one cut either loses long rows or, under noise for the longest, all others.  Here a row of length
 * |z| adds t t^T to one of several sums, its shell's, where t = z/C is at most 1 long for the shell's radius C. */
#ifndef TCT_LA_EXACT_SHELLS_H
#define TCT_LA_EXACT_SHELLS_H
#include "la/exact/metric.h"

enum { TCT_SHELLS = 24 };

/* What is added up. */
typedef struct tct_shells_of {
  const tct_view *view;
  const double *weight;      /* [rows] in [0, 1]; NULL: all 1 */
  const double *last;        /* [rows]: one more column, behind the view's, 0 where a row is; NULL: none */
  double scale, last_scale;  /* what the view's columns and the last one are multiplied with */
  const tct_metric *metric;  /* z = W v; NULL: z = v */
  bool products;             /* then z <- its products z_a z_b, a <= b, times sqrt(2) where a < b: |z|^2 long */
  int count;                 /* of shells */
  double radius[TCT_SHELLS]; /* ascending: shell k has the rows up to radius[k]; the last one those beyond too, cut */
  double lattice;            /* of the sums */
  int threads;
} tct_shells_of;

/* sum[count][q][q] <- for each shell the sum over its rows of t t^T, t = z/radius times the root of the weight, each
 * entry truncated to a lattice.  A row adds to one of them alone, a matrix of Frobenius norm at most its weight as
 * exact reals.  q = the view's p, and 1 for the last column; of products it is q (q + 1)/2.  Exact in any order while
 * rows < 2^52 lattice.  Rows layouts only. */
tct_status tct_shells_sum(const tct_shells_of *of, double *sum, tct_error *err);
#endif
