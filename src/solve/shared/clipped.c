/* clipped.c - clipped slopes, and the norms of rows that they are clipped by. */
#include "solve/shared/clipped.h"

#include "core/point.h"
#include "core/processors.h"

#include "la/kernels/kernels.h"

enum { BLOCK = 512 }; /* three vectors of 4 KiB stay in the first cache */

void tct_row_norms(const tct_view *view, double *norm, int threads) {
  threads = tct_threads_for(threads, view->rows * view->p);
#pragma omp parallel for num_threads(tct_threads(threads)) schedule(static)
  for (int64_t i = 0; i < view->rows; i++) norm[i] = sqrt(tct_row_norm2(view, i)) * (1 + 0x1p-41);
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

/* u[count]: margins of the rows become slopes.  Each is pulled in until |slope| * norm <= clip with two roundings to
 * spare.  Then it is weighed, so that a set of weights with sum 1 stays within the clip.  By either label: size is at
 * least |slope|, so the same holds. */
static void clip_block(const tct_loss *loss, const rows *block, int64_t count, double clip, bool either, double *u) {
  double slope[BLOCK], size[BLOCK];
  for (int64_t k = 0; k < count && block->offset; k++) u[k] += block->offset[k];
  loss->kind->slopes(u, block->y, loss->h, slope, count);
  if (either)
    tct_either_sizes(loss, slope, count, size);
  else
    for (int64_t k = 0; k < count; k++) size[k] = fabs(slope[k]);
  for (int64_t k = 0; k < count; k++) {
    double sensitivity = size[k] * block->norm[k] * (1 + 0x1p-41);
    u[k] = TCT_POINT(slopes_not_clipped, sensitivity > clip, false) &&
                   TCT_POINT(last_row_of_a_block_unclipped, true, k + 1 < count || count == 1)
               ? slope[k] * (clip / sensitivity)
               : slope[k];
  }
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
