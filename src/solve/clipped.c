/* clipped.c - sums of clipped per-record gradients and losses. */
#include "la/kernels.h"
#include "la/lattice.h"
#include "solve/agd.h"

#include <string.h>

void tct_clip_slopes(const tct_problem *problem, const int64_t *row, int64_t count, double clip, double *u,
                     int threads) {
  const tct_loss *loss = &problem->facts->loss;
  threads = tct_threads_for(threads, 64 * count);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t k = 0; k < count; k++) {
    int64_t i = row ? row[k] : k;
    double slope = tct_loss_slope(loss, u[k], problem->y[i]);
    double norm = fabs(slope) * sqrt(tct_row_norm2(problem->view, i)) * (1 + 0x1p-40);
    u[k] = norm > clip ? slope * (clip / norm) : slope;
    if (problem->weight) u[k] *= problem->weight[i]; /* after the clip: a set of weights with sum 1 stays within it */
  }
}

enum { BLOCK = 512 }; /* three vectors of 4 KiB stay in the first cache */

/* The losses at one step, over one block, as a sum of multiples of the lattice; a loss that is not a number counts as
 * the clip. */
static double block_sum(const tct_loss *loss, const double *z, const double *s, const double *y, int64_t count,
                        double step, double clip, double lattice) {
  double at[BLOCK], value[BLOCK], magic = 4503599627370496.0 * lattice, lane[8] = {0};
  for (int64_t i = 0; i < count; i++) at[i] = z[i] - step * s[i];
  loss->kind->values(at, y, loss->h, value, count);
  for (int64_t i = 0; i < count; i++) { /* tct_lattice_part for values in [0, clip] */
    double v = value[i] < clip ? value[i] : clip;
    double r = (v + magic) - magic;
    value[i] = r > v ? r - lattice : r;
  }
  for (int64_t i = 0; i < count; i++) lane[i % 8] += value[i];
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

void tct_step_scores(const tct_loss *loss, const double *z, const double *s, const double *y, int64_t count,
                     const double *step, int64_t grid, double clip, double lattice, double *score, int threads) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK;
  memset(score, 0, (size_t)grid * sizeof *score);
  threads = tct_threads_for(threads, 8 * count * grid);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    double own[TCT_AGD_GRID] = {0};
#pragma omp for schedule(static) nowait
    for (int64_t b = 0; b < blocks; b++) {
      int64_t from = b * BLOCK, rows = count - from < BLOCK ? count - from : BLOCK;
      for (int64_t j = 0; j < grid; j++)
        own[j] -= block_sum(loss, z + from, s + from, y + from, rows, step[j], clip, lattice);
    }
#pragma omp critical
    for (int64_t j = 0; j < grid; j++) score[j] += own[j];
  }
}
