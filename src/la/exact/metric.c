/* metric.c - images of rows under a stored matrix W, and exact sums of images.
 *
 * LENGTHS.  Let u = 2^-53, F = |W|_F <= size.  The row as laid out has entries x_j(1 + e), |e| <= u, and each
 * coordinate of the image is a sum of at most p products in some order.  It is off by at most (p + 2)u(1 + 2^-40) sum_k
 * |W_jk||x_k|.  So the image is off by (p + 2)u(1 + 2^-40) F|x|, and by underflow, at most p 2^-1074 per coordinate.
 * Its norm is off by (p/2 + 4)u of itself.  length = computed norm * (1 + (p + 16)2u) + (p + 16)2u F R + 2^-900 covers
 * both, and (p + 12)u F R are left over.
 *
 * A TERM IN Z.  t in tct_gradient_lattice is the row of fl(fl(a s) x_j), rounded or truncated to the lattice g.  The
 * two roundings of a coordinate move W t by at most 3u F |a||x|, which is less than |a| times what is left over above.
 * The lattice moves a coordinate by at most g, hence W t by at most F sqrt(p) g.  So |W t| <= |a| length + F sqrt(p) g.
 *
 * SUMS.  With W = step * (integers of at most 51 bits) and S = from * (integers of at most 53 bits), W S is step * from
 * * (integers below 2^126): formed in 128 bits, then rounded once. */
#include "la/exact/metric.h"

#include "core/alloc.h"
#include "core/lanes.h"
#include "core/processors.h"
#include "la/exact/triangular.h"
#include "la/kernels/kernels.h"
#include "la/matrix/rows_access.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 32 };
__extension__ typedef __int128 wide_int;

int64_t tct_metric_wide(const tct_metric *metric) { return tct_whole_lanes(metric->p); }

int64_t tct_metric_count(const tct_metric *metric) { return metric->diagonal ? metric->p : metric->p * metric->p; }

tct_status tct_metric_new(int64_t p, bool diagonal, tct_metric *out, tct_error *err) {
  *out = (tct_metric){.p = p, .diagonal = diagonal};
  out->w = TCT_NEW(double, tct_metric_count(out));
  if (!diagonal) out->turned = TCT_NEW(double, tct_whole_lanes(p) * tct_whole_lanes(p));
  return out->w && (diagonal || out->turned) ? TCT_OK : tct_fail_memory(err);
}

void tct_metric_free(tct_metric *metric) {
  tct_free(metric->w);
  tct_free(metric->turned);
  *metric = (tct_metric){0};
}

bool tct_metric_settle(tct_metric *metric) {
  int64_t count = tct_metric_count(metric), p = metric->p, wide = tct_whole_lanes(p);
  double largest = 0, sum = 0;
  int exponent = 0;
  for (int64_t k = 0; k < count; k++) {
    if (!isfinite(metric->w[k])) return false;
    largest = fmax(largest, fabs(metric->w[k]));
  }
  if (!(largest > 0x1p-400 && largest < 0x1p400)) return false;
  frexp(largest, &exponent); /* largest < 2^exponent */
  metric->step = ldexp(1.0, exponent - 50);
  for (int64_t k = 0; k < count; k++) {
    metric->w[k] = rint(metric->w[k] / metric->step) * metric->step;
    sum += metric->w[k] * metric->w[k];
  }
  metric->size = sqrt(sum) * (1 + ((double)count + 16) * 0x1p-52);
  for (int64_t j = 0; j < p && !metric->diagonal; j++)
    for (int64_t k = 0; k <= j; k++) metric->turned[k * wide + j] = metric->w[j * p + k];
  return true;
}

/* z[CHUNK][wide] <- x[CHUNK][wide] turned. */
#define PRODUCTS(level)                                                                                             \
  TCT_TARGET_##level static void products_##level(const double *x, const double *turned, int64_t wide, double *z) { \
    for (int64_t k = 0; k < CHUNK; k += 4)                                                                          \
      for (int64_t j = 0; j < wide; j += 8) {                                                                       \
        const double *a = x + k * wide;                                                                             \
        tct_f64x8 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                                           \
        for (int64_t c = 0; c < j + 8; c++) {                                                                       \
          tct_f64x8 t = *(const tct_f64x8 *)(turned + c * wide + j);                                                \
          s0 += t * a[c], s1 += t * a[wide + c], s2 += t * a[2 * wide + c], s3 += t * a[3 * wide + c];              \
        }                                                                                                           \
        double *to = z + k * wide + j;                                                                              \
        *(tct_f64x8 *)to = s0, *(tct_f64x8 *)(to + wide) = s1;                                                      \
        *(tct_f64x8 *)(to + 2 * wide) = s2, *(tct_f64x8 *)(to + 3 * wide) = s3;                                     \
      }                                                                                                             \
  }
TCT_EACH_LEVEL(PRODUCTS)

/* The image of a row with few entries: one column of W an entry. */
static void sparse_image(const tct_metric *metric, const tct_view *view, int64_t i, double *z) {
  tct_row row = tct_row_at(view->x, i);
  int64_t p = metric->p, wide = tct_whole_lanes(p);
  double scale = view->row_scale[i];
  memset(z, 0, (size_t)wide * sizeof *z);
  for (int64_t k = 0; k < row.n; k++) {
    int64_t c = tct_row_column(&row, k);
    double at = scale * tct_row_value(&row, k);
    if (metric->diagonal)
      z[c] = metric->w[c] * at;
    else if (at != 0)
      tct_axpy(at, metric->turned + c * wide + c, z + c, p - c);
  }
  if (view->intercept == 0) return;
  z[p - 1] += (metric->diagonal ? metric->w[p - 1] : metric->w[p * p - 1]) * (scale * view->intercept);
}

/* Up to CHUNK rows; x[CHUNK][wide] is room, z[CHUNK][wide] the images. */
static void some_images(const tct_metric *metric, const tct_view *view, int64_t first, int64_t count, double *x,
                        double *z) {
  int64_t wide = tct_whole_lanes(metric->p);
  bool few = view->x->layout == TCT_CSR && tct_matrix_nonzeros(view->x) * 8 < view->rows * metric->p;
  if (metric->diagonal || few) {
    for (int64_t k = 0; k < count; k++) sparse_image(metric, view, first + k, z + k * wide);
    return;
  }
  memset(x, 0, (size_t)(CHUNK * wide) * sizeof *x);
  for (int64_t k = 0; k < count; k++) tct_row_axpy(view, first + k, 1, x + k * wide);
  TCT_BEST(products)(x, metric->turned, wide, z);
}

/* Of an image whose squares sum up to that, as computed. */
static double above(const tct_metric *metric, const tct_view *view, double squares) {
  double part = ((double)metric->p + 16) * 0x1p-52;
  return sqrt(squares) * (1 + part) + part * metric->size * view->row_norm + 0x1p-900;
}

/* The norm of a sparse row's image under a diagonal W, without laying it out. */
static double diagonal_length(const tct_metric *metric, const tct_view *view, int64_t i) {
  tct_row row = tct_row_at(view->x, i);
  double scale = view->row_scale[i], sum = 0;
  for (int64_t k = 0; k < row.n; k++) {
    double z = metric->w[tct_row_column(&row, k)] * (scale * tct_row_value(&row, k));
    sum += z * z;
  }
  double last = view->intercept != 0 ? metric->w[metric->p - 1] * (scale * view->intercept) : 0;
  return above(metric, view, sum + last * last);
}

/* What becomes of the images of rows: stored as they are, or their lengths. */
typedef struct wanted {
  double *z, *length; /* [count][wide], or [count] */
} wanted;

static tct_status all_images(const tct_metric *metric, const tct_view *view, int64_t first, int64_t count, wanted out,
                             int threads, tct_error *err) {
  int64_t wide = tct_whole_lanes(metric->p);
  threads = tct_threads_for(threads, count * metric->p);
  double *workspace = TCT_NEW(double, threads * 2 * CHUNK * wide);
  if (!workspace) return tct_fail_memory(err);
  _Atomic int64_t next = 0;
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int t = 0; t < threads; t++) {
    double *x = workspace + t * 2 * CHUNK * wide, *z = x + CHUNK * wide;
    for (int64_t from; (from = tct_take_rows(&next, CHUNK)) < count;) {
      int64_t some = count - from < CHUNK ? count - from : CHUNK;
      some_images(metric, view, first + from, some, x, z);
      if (out.z) memcpy(out.z + from * wide, z, (size_t)(some * wide) * sizeof *z);
      for (int64_t k = 0; out.length && k < some; k++)
        out.length[from + k] = above(metric, view, tct_norm2(z + k * wide, metric->p));
    }
  }
  tct_wipe_free(workspace, threads * 2 * CHUNK * wide, sizeof *workspace);
  return TCT_OK;
}

tct_status tct_metric_lengths(const tct_metric *metric, const tct_view *view, double *length, int threads,
                              tct_error *err) {
  if (!metric->diagonal) return all_images(metric, view, 0, view->rows, (wanted){.length = length}, threads, err);
  threads = tct_threads_for(threads, tct_matrix_nonzeros(view->x));
#pragma omp parallel for schedule(static) num_threads(tct_threads(threads))
  for (int64_t i = 0; i < view->rows; i++) length[i] = diagonal_length(metric, view, i);
  return TCT_OK;
}

tct_status tct_metric_images(const tct_metric *metric, const tct_view *view, int64_t first, int64_t count, double *z,
                             int threads, tct_error *err) {
  return all_images(metric, view, first, count, (wanted){.z = z}, threads, err);
}

double tct_metric_rounding(const tct_metric *metric, double lattice) {
  return metric->size * sqrt((double)metric->p) * lattice * (1 + 0x1p-40);
}

/* The nearest multiple of 2^shift, in units of it. */
static double shifted(wide_int sum, int shift) {
  if (shift <= 0) return ldexp((double)sum, -shift);
  if (shift > 126) return 0;
  wide_int half = (wide_int)1 << (shift - 1);
  return (double)((sum + half) >> shift);
}

void tct_metric_times(const tct_metric *metric, const double *sum, double from, double to, double *z) {
  int64_t p = metric->p;
  int up = 0, down = 0, step = 0;
  frexp(to, &up), frexp(from, &down), frexp(metric->step, &step); /* powers of two: their logarithms plus 1 */
  int shift = up - down - step + 1;
  for (int64_t j = 0; j < p; j++) {
    wide_int at = 0;
    const double *w = metric->diagonal ? metric->w : metric->w + j * p;
    for (int64_t k = metric->diagonal ? j : 0; k <= j; k++)
      at += (wide_int)(int64_t)(w[k] / metric->step) * (int64_t)(sum[k] / from);
    z[j] = shifted(at, shift) * to;
  }
}

void tct_metric_plain(const tct_metric *metric, const double *x, double *z) {
  int64_t p = metric->p;
  for (int64_t j = 0; j < p; j++) z[j] = metric->diagonal ? metric->w[j] * x[j] : tct_dot(metric->w + j * p, x, j + 1);
}

void tct_metric_turn(const tct_metric *metric, const double *z, double *w) {
  int64_t p = metric->p;
  memset(w, 0, (size_t)p * sizeof *w);
  for (int64_t j = 0; j < p; j++) {
    if (metric->diagonal)
      w[j] = metric->w[j] * z[j];
    else
      tct_axpy(z[j], metric->w + j * p, w, j + 1);
  }
}

tct_status tct_metric_inverse_size(const tct_metric *metric, double *size, tct_error *err) {
  int64_t p = metric->p, count = tct_metric_count(metric);
  double *inverse = TCT_NEW(double, count + p);
  if (!inverse) return tct_fail_memory(err);
  memcpy(inverse, metric->w, (size_t)count * sizeof *inverse);
  if (metric->diagonal)
    for (int64_t j = 0; j < p; j++) inverse[j] = 1 / inverse[j];
  else
    tct_lower_invert(inverse, p, inverse + count);
  *size = sqrt(tct_norm2(inverse, count));
  tct_free(inverse);
  return TCT_OK;
}
