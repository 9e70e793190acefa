/* kernels.h - the loops over a bounded view, one name per loop, any layout and value type.
 *
 * Results do not depend on the number of threads: a row's dot product has one fixed order, and sums
 * over rows are exact (lattice) or done in fixed blocks.  Row kernels need TCT_DENSE_ROWS or TCT_CSR,
 * column kernels TCT_DENSE_COLS or TCT_CSC. */
#ifndef TCT_LA_KERNELS_KERNELS_H
#define TCT_LA_KERNELS_KERNELS_H
#include <stdatomic.h>

#include "la/matrix/matrix.h"

/* x~_row . w, w[p]. */
double tct_row_dot(const tct_view *view, int64_t row, const double *w);
/* |x~_row|^2: an upper bound on the exact value, above it by at most 2^-39 + entries*2^-53 of it and 2^-960. */
double tct_row_norm2(const tct_view *view, int64_t row);
/* Asks the cache for a row that will be visited soon; `far`: only for where it starts. No effect on any result. */
void tct_row_prefetch(const tct_view *view, int64_t row, bool far);
/* w += a * x~_row  (plain floating point: for solvers without privacy, and for post-processing). */
void tct_row_axpy(const tct_view *view, int64_t row, double a, double *w);
/* sum += lattice * trunc(a * x~_row / lattice), coordinate by coordinate, exactly: lattice is a power of two in
 * [2^-960, 2^900], and |sum[j]| plus all the |a|*R to come stays below 2^53*lattice.  |term| <= |a| * R as
 * exact reals (proof in rows.c).  An a that is infinite or not a number adds nothing. */
void tct_row_add_lattice(const tct_view *view, int64_t row, double a, double lattice, double *sum);

/* z[rows] = X~ w. */
void tct_margins(const tct_view *view, const double *w, double *z, int threads);
/* z[k] = x~_{row[k]} . w for k < count. */
void tct_margins_at(const tct_view *view, const int64_t *row, int64_t count, const double *w, double *z, int threads);
/* The terms a[k] * x~_{row[k]}, k < count, each truncated to the lattice as tct_row_add_lattice does. */
typedef struct tct_terms {
  const int64_t *row; /* [count], or NULL: row k is k */
  const double *a;    /* [count] */
  int64_t count;
  double lattice;
} tct_terms;
/* sum[p] += the terms.  scratch: threads * tct_thread_stride(p) doubles, or NULL when threads == 1. */
void tct_sum_lattice(const tct_view *view, const tct_terms *terms, double *sum, double *scratch, int threads);
/* sum[p] += the sums of several threads, tct_thread_stride(p) doubles from one to the next. */
void tct_sum_parts(const double *part, int parts, double *sum, int64_t p, int threads);
/* g[p] = X~^T a in fixed-block order (not exact, deterministic): for solvers without privacy. */
void tct_transpose_times(const tct_view *view, const double *a, double *g, int threads);

/* Column kernels (dense columns or CSC); column p-1 is the intercept where there is one.
 * sum over rows of a[i]*x~_ij, of a[i]*x~_ij^2, and z += d * column j. */
double tct_col_dot(const tct_view *view, int64_t j, const double *a);
double tct_col_dot_squares(const tct_view *view, int64_t j, const double *a);
void tct_col_axpy(const tct_view *view, int64_t j, double d, double *z);
/* The exact sum over rows of min(x~_ij^2/bound^2, 1), truncated to the lattice row by row; lattice is a power of
 * two and rows <= 2^52*lattice. */
double tct_col_moment_lattice(const tct_view *view, int64_t j, double bound, double lattice);

/* How many of `threads` are worth waking for `work` multiply-adds: starting a team costs some microseconds, and far
 * more on a busy machine.  Results never depend on it. */
int tct_threads_for(int threads, int64_t work);
/* The first of `count` rows that no thread has taken yet; *next begins at 0.  Threads that share it stay close
 * together, so rows that lie on disk are read once for all of them.  A run that is to end (core/stop.h) has none left.
 */
int64_t tct_take_rows(_Atomic int64_t *next, int64_t count);
/* max over rows of |x~_ij|. */
double tct_col_largest(const tct_view *view, int64_t j);

double tct_dot(const double *a, const double *b, int64_t n);
double tct_norm2(const double *a, int64_t n); /* sum of squares */
void tct_axpy(double a, const double *x, double *y, int64_t n);
#endif
