/* rows.c - row kernels of the bounded view: dot, norm, axpy, lattice sums, margins, transpose times vector.
 *
 * BOUND ON A LATTICE TERM.  tct_row_add_lattice adds t with |t| <= |a| * R as exact reals.  Let s be the
 * row's scale, u = 2^-53, and let v_j be the computed product of a, s and x_j (the intercept is one more x_j).
 * Fast path: b = fl(a*s) is normal (|b| >= 2^-900 is tested), so |b| <= |a|s(1+u); v_j = fl(b*x_j) is normal, so
 * |v_j| <= |b*x_j|(1+u), or below 2^-1022, hence below every allowed lattice, and truncated to 0.
 * Slow path: v_j = fl(fl(s*x_j)*a), the same two roundings unless s*x_j is subnormal; then it is off by
 * at most 2^-1075, over p < 2^60 coordinates by 2^-1045 in norm, nothing beside R*2^-41 >= 2^-341.
 * Truncation toward zero only shortens a coordinate: |t_j| <= |v_j|.  With |s x| <= R(1 - 2^-40) (view.c):
 *     |t| <= |a| (R(1 - 2^-40) + 2^-1045)(1+u)^2 < |a| R.
 * The coordinates themselves may exceed |a*x~_j| by (1+u)^2; the margin 2^-40 exists for that.
 *
 * EXACT SUMS.  Terms are multiples of the lattice and the partial sums stay below 2^53 of it, so each addition is
 * exact and the order of rows, threads and blocks cannot matter.
 *
 * WHICH PATH.  Scales in [2^-400, 2^400] cannot make a product of stored value and weight overflow that would not
 * overflow after scaling.  Other rows (values beyond 1e120 times R, or so small that the unit rule blows them up) are
 * scaled entry by entry. */
#include "core/alloc.h"
#include "core/processors.h"
#include "core/stop.h"
#include "la/kernels/kernels.h"
#include "la/kernels/row_block.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"

#include <float.h>
#include <omp.h>
#include <string.h>

/* Rows that a thread takes at a time.  Waking one takes as long as some hundred rows do: whoever is awake begins.  Of
 * many short rows it takes more, as taking them costs as much as one row does. */
enum { SOME_ROWS = 32, MORE_ROWS = 1024, TURNS = 64, ENTRIES = 1 << 15, AHEAD = 12 };

static int64_t rows_in_turn(const tct_view *view, int64_t count, int threads) {
  int64_t some = count / (TURNS * threads), most = ENTRIES / view->p;
  if (most > MORE_ROWS) most = MORE_ROWS;
  if (some > most) some = most;
  return some > SOME_ROWS ? some : SOME_ROWS;
}

static double intercept_times(const tct_view *view, const double *w) {
  return view->intercept != 0 ? view->intercept * w[view->p - 1] : 0;
}

double tct_row_dot(const tct_view *view, int64_t i, const double *w) {
  tct_row row = tct_row_at(view->x, i);
  double s = view->row_scale[i];
  if (tct_scale_plain(s)) {
    double dot =
        row.columns ? row.loops->dot_sparse(row.x, row.columns, w, row.n) : row.loops->dot_dense(row.x, w, row.n);
    return s * (dot + intercept_times(view, w));
  }
  double sum = 0;
  for (int64_t k = 0; k < row.n; k++) sum += (s * tct_row_value(&row, k)) * w[tct_row_column(&row, k)];
  return sum + s * intercept_times(view, w);
}

/* As in view.c, a computed sum of squares is short by at most (entries/8 + 6)u, and two products follow. */
double tct_row_norm2(const tct_view *view, int64_t i) {
  tct_row row = tct_row_at(view->x, i);
  double s = view->row_scale[i], squares = row.loops->squares(row.x, row.n) + view->intercept * view->intercept;
  double slack = 0x1p-41 + (double)(row.n + 16) * 0x1p-56;
  if (tct_scale_plain(s) && squares >= 0x1p-200 && squares <= 0x1p200) return s * s * squares * (1 + slack);
  double sum = 0;
  bool zero = true;
  for (int64_t k = -1; k < row.n; k++) {
    double x = k < 0 ? view->intercept : tct_row_value(&row, k), scaled = s * x;
    zero = zero && x == 0;
    sum += scaled * scaled;
  }
  double depth = 0x1p-41 + (double)(row.n + 16) * 0x1p-53; /* one lane */
  return zero ? 0 : sum * (1 + depth) + 0x1p-960;          /* squares may have underflowed */
}

void tct_row_prefetch(const tct_view *view, int64_t i, bool far) {
  const tct_matrix *m = view->x;
  if (far) {
    __builtin_prefetch(view->row_scale + i);
    if (m->layout == TCT_CSR) __builtin_prefetch((const char *)m->start + (m->index_type == TCT_I64 ? 8 : 4) * i);
    return;
  }
  tct_row row = tct_row_at(m, i);
  int64_t bytes = row.n * (row.f32 ? 4 : 8), limit = 512; /* longer rows: the hardware follows by then */
  for (int64_t b = 0; b < bytes && b < limit; b += 64) __builtin_prefetch((const char *)row.x + b);
  bytes = row.columns ? row.n * (row.i64 ? 8 : 4) : 0;
  for (int64_t b = 0; b < bytes && b < limit; b += 64) __builtin_prefetch((const char *)row.columns + b);
}

void tct_row_axpy(const tct_view *view, int64_t i, double a, double *w) {
  tct_row row = tct_row_at(view->x, i);
  double s = view->row_scale[i], b = a * s;
  if (view->intercept != 0) w[view->p - 1] += b * view->intercept;
  if (!tct_scale_plain(s)) {
    for (int64_t k = 0; k < row.n; k++) w[tct_row_column(&row, k)] += (s * tct_row_value(&row, k)) * a;
  } else if (row.columns) {
    row.loops->axpy_sparse(row.x, row.columns, b, w, row.n);
  } else {
    row.loops->axpy_dense(row.x, b, w, row.n);
  }
}

/* A factor that is not finite adds nothing: it could only stem from a fault, and must not reach a release. */
void tct_row_add_lattice(const tct_view *view, int64_t i, double a, double lattice, double *sum) {
  if (a == 0 || !(fabs(a) <= DBL_MAX)) return;
  tct_row row = tct_row_at(view->x, i);
  double s = view->row_scale[i], b = a * s;
  if (view->intercept != 0) sum[view->p - 1] += tct_lattice_part((s * view->intercept) * a, lattice);
  bool in_range = fabs(a) * view->row_norm <= 0x1p51 * lattice; /* then |b*x_j| < 2^52*lattice */
  if (!tct_scale_plain(s) || !in_range || !(fabs(b) >= 0x1p-900)) {
    for (int64_t k = 0; k < row.n; k++)
      sum[tct_row_column(&row, k)] += tct_lattice_part((s * tct_row_value(&row, k)) * a, lattice);
  } else if (row.columns) {
    row.loops->add_sparse(row.x, row.columns, b, lattice, sum, row.n);
  } else {
    row.loops->add_dense(row.x, b, lattice, sum, row.n);
  }
}

int tct_threads_for(int threads, int64_t work) {
  int64_t max = work / 65536; /* about 30 microseconds of work each, ten times what starting a thread costs */
  return max < 2 ? 1 : max < threads ? (int)max : threads;
}

/* The thread that asks is the one whose caller may cancel. */
int64_t tct_take_rows(_Atomic int64_t *next, int64_t count) {
  if (tct_stopping()) atomic_store(next, INT64_MAX / 2);
  return atomic_fetch_add(next, count);
}

/* A row out of order waits for memory: some 100 ns, as long as 200 entries take. */
static int64_t work_of(const tct_view *view, int64_t count, bool scattered) {
  double share = view->rows > 0 ? (double)count / (double)view->rows : 0;
  return (int64_t)(share * (double)tct_matrix_nonzeros(view->x)) + (scattered ? 200 : 8) * count;
}

void tct_margins(const tct_view *view, const double *w, double *z, int threads) {
  int64_t rows = view->rows;
  threads = tct_threads_for(threads, work_of(view, rows, false));
  int64_t some = rows_in_turn(view, rows, threads);
#pragma omp parallel for schedule(dynamic, 1) num_threads(tct_threads(threads))
  for (int64_t at = 0; at < rows; at += some)
    tct_row_block_dot(view, at, rows - at < some ? rows - at : some, w, z + at);
}

static void look_ahead(const tct_view *view, const int64_t *row, int64_t k, int64_t count) {
  if (k + 2 * AHEAD < count) tct_row_prefetch(view, row[k + 2 * AHEAD], true);
  if (k + AHEAD < count) tct_row_prefetch(view, row[k + AHEAD], false);
}

void tct_margins_at(const tct_view *view, const int64_t *row, int64_t count, const double *w, double *z, int threads) {
  threads = tct_threads_for(threads, work_of(view, count, true));
  int64_t some = rows_in_turn(view, count, threads);
#pragma omp parallel for schedule(dynamic, some) num_threads(tct_threads(threads))
  for (int64_t k = 0; k < count; k++) {
    look_ahead(view, row, k, count);
    z[k] = tct_row_dot(view, row[k], w);
  }
}

void tct_sum_parts(const double *part, int parts, double *sum, int64_t p, int threads) {
  int64_t apart = tct_thread_stride(p);
  threads = tct_threads_for(threads, p * parts);
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int64_t j = 0; j < p; j++)
    for (int t = 0; t < parts; t++) sum[j] += part[t * apart + j];
}

void tct_sum_lattice(const tct_view *view, const tct_terms *terms, double *sum, double *scratch, int threads) {
  const int64_t *row = terms->row;
  const double *a = terms->a;
  int64_t p = view->p, count = terms->count;
  double lattice = terms->lattice;
  threads = tct_threads_for(threads, work_of(view, count, row != NULL));
  if (threads <= 1 || !scratch) {
    for (int64_t k = 0; k < count; k++) {
      if (row) look_ahead(view, row, k, count);
      tct_row_add_lattice(view, row ? row[k] : k, a[k], lattice, sum);
    }
    return;
  }
  int team = 1;
  int64_t some = rows_in_turn(view, count, threads);
#pragma omp parallel num_threads(tct_threads(threads))
  {
    double *own = scratch + omp_get_thread_num() * tct_thread_stride(p);
    if (omp_get_thread_num() == 0) team = omp_get_num_threads();
    memset(own, 0, (size_t)p * sizeof(double));
#pragma omp for schedule(dynamic, some)
    for (int64_t k = 0; k < count; k++) tct_row_add_lattice(view, row ? row[k] : k, a[k], lattice, own);
  }
  tct_sum_parts(scratch, team, sum, p, threads);
}
