/* metric.h - the images W x of bounded rows under a stored matrix W: their lengths, and exact sums of them.
 *
 * W is lower triangular or diagonal, and its entries are whole multiples of one power of two.  Products with sums on a
 * lattice are integers, so that W S is formed without an error. */
#ifndef TCT_LA_METRIC_H
#define TCT_LA_METRIC_H
#include "la/matrix/matrix.h"

enum { TCT_METRIC_MOST = 1 << 22 }; /* features at most: 2^50 * 2^52 * 2^22 stays below 2^127 */

typedef struct tct_metric {
  int64_t p;
  bool diagonal;
  double *w;      /* [p][p] by rows, 0 above the diagonal; diagonal: [p] */
  double *turned; /* [wide][wide], wide = p rounded up to eights: the transpose padded with 0; NULL: diagonal */
  double step;    /* every entry is an integer of size at most 2^50 times this power of two */
  double size;    /* at least the Frobenius norm of W */
} tct_metric;

tct_status tct_metric_new(int64_t p, bool diagonal, tct_metric *out, tct_error *err);
void tct_metric_free(tct_metric *metric);
/* How many numbers w holds: p*p or p. */
int64_t tct_metric_count(const tct_metric *metric);
/* Rounds w to its step, and fills step, size and turned.  false where w holds what is not finite. */
bool tct_metric_settle(tct_metric *metric);

/* length[rows]: at least |W x~_i| and |x~_i|'s share of every rounding (proof in metric.c).  Rows layouts only. */
tct_status tct_metric_lengths(const tct_metric *metric, const tct_view *view, double *length, int threads,
                              tct_error *err);
/* z[count][wide] <- W x~_i of the rows first, first + 1, ..., in plain floating point, 0 in the padding. */
tct_status tct_metric_images(const tct_metric *metric, const tct_view *view, int64_t first, int64_t count, double *z,
                             int threads, tct_error *err);
int64_t tct_metric_wide(const tct_metric *metric);

/* How much longer than |a| * length a row's term W t becomes, t the row's term in tct_gradient_lattice. */
double tct_metric_rounding(const tct_metric *metric, double lattice);
/* z[p] <- W sum, each coordinate the nearest multiple of `to`; sum[p] are multiples of `from` below 2^52 of it.  Both
 * are powers of two.  Exact but for that one rounding. */
void tct_metric_times(const tct_metric *metric, const double *sum, double from, double to, double *z);

/* z[p] <- W x, w[p] <- W^T z, in plain floating point. */
void tct_metric_plain(const tct_metric *metric, const double *x, double *z);
void tct_metric_turn(const tct_metric *metric, const double *z, double *w);
/* *size <- the Frobenius norm of W's inverse. */
tct_status tct_metric_inverse_size(const tct_metric *metric, double *size, tct_error *err);
#endif
