/* clipped.c - clipped slopes, and the norms of rows that they are clipped by. */
#include "solve/shared/clipped.h"

#include "la/kernels/kernels.h"

enum { BLOCK = 512 }; /* three vectors of 4 KiB stay in the first cache */

void tct_row_norms(const tct_view *view, double *norm, int threads) {
  threads = tct_threads_for(threads, view->rows * view->p);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t i = 0; i < view->rows; i++) norm[i] = sqrt(tct_row_norm2(view, i)) * (1 + 0x1p-41);
}

/* u[count]: margins of the rows become slopes.  Each is pulled in until |slope| * norm <= clip with two roundings to
 * spare.  Then it is weighed, so that a set of weights with sum 1 stays within the clip. */
static void clip_block(const tct_problem *problem, const int64_t *row, int64_t from, int64_t count, const double *norm,
                       double clip, double *u) {
  const tct_loss *loss = &problem->facts->loss;
  double y[BLOCK] = {0}, slope[BLOCK], size[BLOCK];
  for (int64_t k = 0; k < count; k++) {
    int64_t i = row ? row[from + k] : from + k;
    y[k] = problem->y[i];
    size[k] = norm[i];
  }
  loss->kind->slopes(u, y, loss->h, slope, count);
  for (int64_t k = 0; k < count; k++) {
    double sensitivity = fabs(slope[k]) * size[k] * (1 + 0x1p-41);
    u[k] = sensitivity > clip ? slope[k] * (clip / sensitivity) : slope[k];
  }
  if (!problem->weight) return;
  for (int64_t k = 0; k < count; k++) u[k] *= problem->weight[row ? row[from + k] : from + k];
}

void tct_clip_rows(const tct_problem *problem, int64_t first, int64_t count, const double *norm, double clip,
                   double *u) {
  for (int64_t from = 0; from < count; from += BLOCK) {
    int64_t some = count - from < BLOCK ? count - from : BLOCK;
    tct_problem part = *problem;
    part.y += first + from;
    if (part.weight) part.weight += first + from;
    clip_block(&part, NULL, 0, some, norm + first + from, clip, u + from);
  }
}

void tct_clip_slopes(const tct_problem *problem, const int64_t *row, int64_t count, const double *norm, double clip,
                     double *u, int threads) {
  threads = tct_threads_for(threads, 64 * count);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t from = 0; from < count; from += BLOCK)
    clip_block(problem, row, from, count - from < BLOCK ? count - from : BLOCK, norm, clip, u + from);
}
