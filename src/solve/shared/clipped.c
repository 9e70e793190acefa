/* clipped.c - clipped slopes, and the norms of rows that they are clipped by. */
#include "solve/shared/clipped.h"

#include "core/lanes.h"
#include "core/point.h"
#include "core/processors.h"

#include "la/kernels/kernels.h"
#include "la/matrix/rows_access.h"

#include <string.h>

enum { BLOCK = 512 }; /* three vectors of 4 KiB stay in the first cache */

static double row_norm(const tct_view *view, int64_t i) { return sqrt(tct_row_norm2(view, i)) * (1 + 0x1p-41); }

void tct_row_norms(const tct_view *view, double *norm, int threads) {
  threads = tct_threads_for(threads, view->rows * view->p);
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static)
  for (int64_t i = 0; i < view->rows; i++) norm[i] = row_norm(view, i);
}

/* An upper bound on the fourth root of the sum of x_j^4, at most |x|, which it is where scales are extreme.  With u =
 * 2^-53 a term t^4 is off by 11 u: b, b*x, the square and its square round.  The sum is off by (p/512 + 70) u, the root
 * by a fourth of both and 4 u.  What underflows moves it by less than 2^-200 of size. */
static double fourth_root(const tct_view *view, int64_t i, double size) {
  tct_row row = tct_row_at(view->x, i);
  double b = view->row_scale[i] / size, last = b * view->intercept, part[512];
  if (!(size > 0) || !tct_scale_plain(b)) return size;
  double sum = pow(last, 4);
  for (int64_t from = 0; from < row.n; from += 512) {
    int64_t count = row.n - from < 512 ? row.n - from : 512;
    for (int64_t k = 0; k < count; k++) {
      double t = b * tct_row_value(&row, from + k);
      part[k] = t * t;
    }
    sum += tct_norm2(part, count);
  }
  return fmin(size, size * sqrt(sqrt(sum)) * (1 + ((double)view->p + 16) * 0x1p-50));
}

void tct_row_fourths(const tct_view *view, double *norm, int threads) {
  threads = tct_threads_for(threads, view->rows * view->p);
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static)
  for (int64_t i = 0; i < view->rows; i++) norm[i] = fourth_root(view, i, row_norm(view, i));
}

void tct_add_offsets(const tct_problem *problem, int64_t first, int64_t count, double *z) {
  for (int64_t k = 0; k < count && problem->offset; k++) z[k] += problem->offset[first + k];
}

/* A loop of its own, without a call for each record: the compiler turns it into vectors. */
void tct_either_sizes(const tct_loss *loss, const double *slope, int64_t count, double *size) {
  for (int64_t k = 0; k < count; k++) size[k] = fabs(slope[k]);
  if (loss->kind->link != TCT_LINK_LOGISTIC) return;
  for (int64_t k = 0; k < count; k++) size[k] = size[k] > 0.5 ? size[k] : 1 - size[k];
}

/* What a block of rows brings: pointers into the table, or into copies of picked rows. */
typedef struct rows {
  const double *y, *norm, *weight, *offset; /* [count]; the last two may be NULL */
} rows;

/* Both ends of the comparison are computed: the compiler turns the loop into vectors. */
#define SHORTEN(level)                                                                                             \
  TCT_TARGET_##level static void shorten_##level(const double *restrict norm, double spare, double max, bool both, \
                                                 int64_t count, double *restrict u) {                              \
    for (int64_t k = 0; k < count; k++) {                                                                          \
      double size = fabs(u[k]), other = 1 - size;                                                                  \
      size = (both & !(size > 0.5)) ? other : size;                                                                \
      double length = size * norm[k] * spare, less = u[k] * (max / length);                                        \
      u[k] = TCT_POINT(slopes_not_clipped, length > max, false) ? less : u[k];                                     \
    }                                                                                                              \
  }
TCT_EACH_LEVEL(SHORTEN)

void tct_shorten(const double *norm, double spare, double max, bool both, int64_t count, double *u) {
  TCT_BEST(shorten)(norm, spare, max, both, TCT_POINT(last_row_of_a_block_unclipped, count, count - (count > 1)), u);
}

/* u[count]: margins of the rows become slopes.  Each is pulled in until |slope| * norm <= clip with two roundings to
 * spare.  Then it is weighed, so that a set of weights with sum 1 stays within the clip.  By either label: size is at
 * least |slope|, so the same holds. */
static void clip_block(const tct_loss *loss, const rows *block, int64_t count, double clip, bool either, double *u) {
  double z[BLOCK];
  memcpy(z, u, (size_t)count * sizeof *z);
  for (int64_t k = 0; k < count && block->offset; k++) z[k] += block->offset[k];
  loss->kind->slopes(z, block->y, loss->h, u, count);
  tct_shorten(block->norm, 1 + 0x1p-41, clip, either && loss->kind->link == TCT_LINK_LOGISTIC, count, u);
  if (!block->weight) return;
  for (int64_t k = 0; k < count; k++) u[k] *= block->weight[k];
}

static void clip_picked(const tct_problem *problem, const int64_t *row, int64_t count, const double *norm, double clip,
                        double *u) {
  double y[BLOCK] = {0}, size[BLOCK] = {0}, weight[BLOCK] = {0}, offset[BLOCK] = {0};
  for (int64_t k = 0; k < count; k++) {
    y[k] = problem->y[row[k]], size[k] = norm[row[k]];
    if (problem->weight) weight[k] = problem->weight[row[k]];
    if (problem->offset) offset[k] = problem->offset[row[k]];
  }
  const rows block = {y, size, problem->weight ? weight : NULL, problem->offset ? offset : NULL};
  clip_block(&problem->facts->loss, &block, count, clip, false, u);
}

static void clip_following(const tct_problem *problem, int64_t first, int64_t count, const double *norm, double clip,
                           bool either, double *u) {
  const double *weight = problem->weight ? problem->weight + first : NULL;
  const double *offset = problem->offset ? problem->offset + first : NULL;
  clip_block(&problem->facts->loss, &(rows){problem->y + first, norm + first, weight, offset}, count, clip, either, u);
}

void tct_clip_rows(const tct_problem *problem, int64_t first, int64_t count, const double *norm, double clip,
                   bool either, double *u) {
  for (int64_t from = 0; from < count; from += BLOCK)
    clip_following(problem, first + from, count - from < BLOCK ? count - from : BLOCK, norm, clip, either, u + from);
}

void tct_clip_slopes(const tct_problem *problem, const int64_t *row, int64_t count, const double *norm, double clip,
                     double *u, int threads) {
  threads = tct_threads_for(threads, 64 * count);
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(dynamic, 1)
  for (int64_t from = 0; from < count; from += BLOCK) {
    int64_t some = count - from < BLOCK ? count - from : BLOCK;
    if (row)
      clip_picked(problem, row + from, some, norm, clip, u + from);
    else
      clip_following(problem, from, some, norm, clip, false, u + from);
  }
}
