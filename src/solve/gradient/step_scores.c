/* step_scores.c - the clipped losses along a line, at every candidate step, in one pass over cached margins.
 *
 * A record's term at a step is any function of its own (z, s, y), rounded down to a multiple of a power of two and kept
 * in [0, clip].  The sensitivity rests on that and on the exactness of the sums, and on nothing else.  So the logistic
 * losses may be computed in floats (relative error about 2e-7) where nothing but a noisy choice reads them.  Sums are
 * exact: the same for any number of threads and any instruction set. */
#include "core/lanes.h"
#include "core/processors.h"
#include "loss/fused_terms.h"
#include "la/kernels/kernels.h"
#include "solve/gradient/agd.h"

#include <string.h>

enum { BLOCK = 512 }; /* three vectors of 4 KiB stay in the first cache */

/* The losses at step j of the line, over one block, as a sum of multiples of the lattice; a loss that is not a number
 * counts as the clip. */
static double block_sum(const tct_line *line, int64_t j, const double *z, const double *s, const double *y,
                        int64_t count) {
  const tct_loss *loss = line->loss;
  double step = line->step[j], clip = line->clip, lattice = line->lattice;
  double at[BLOCK], value[BLOCK], magic = 4503599627370496.0 * lattice, lane[8] = {0};
  for (int64_t i = 0; i < count; i++) at[i] = z[i] - step * s[i];
  loss->kind->values(at, y, loss->h, value, count);
  for (int64_t i = 0; i < count; i++) { /* tct_lattice_part for values in [0, clip] */
    double v = value[i] < clip ? value[i] : clip;
    v = v > 0 ? v : 0; /* a loss is at least 0 (loss.h); a score does not rest on that */
    double r = (v + magic) - magic;
    value[i] = r > v ? r - lattice : r;
  }
  for (int64_t i = count; i % 8; i++) value[i] = 0;
  for (int64_t i = 0; i < count; i += 8)
    for (int l = 0; l < 8; l++) lane[l] += value[i + l];
  return tct_lanes_sum(lane);
}

/* ---- logistic losses in floats --------------------------------------------------------------------- */

/* Where a term is counted in units: at most 2^21 per record, so that 2^30 holds a block. */
static const double MOST_UNITS = 0x1p21;

/* log(1 + e^-m): e^-|m| of loss/fused_terms.h; log(1+e) = 2 atanh(t), t = e/(2+e) <= 1/3, by its series up to
 * t^11 (remainder below 1e-7). */
static inline float logistic_single(float m) {
  float a = m < 0 ? m : -m;
  a = a > -80.0f ? a : -80.0f;
  float e = tct_fused_exp_single_plain(a), t = e / (2.0f + e), v = t * t;
  float q = 1.0f / 11.0f;
  q = q * v + 1.0f / 9.0f;
  q = q * v + 1.0f / 7.0f;
  q = q * v + 1.0f / 5.0f;
  q = q * v + 1.0f / 3.0f;
  return (m < 0 ? -m : 0.0f) + 2.0f * (t + t * v * q);
}

/* The sum over count records of floor(min(loss, clip)/unit), m = margin*label, d = direction's margin*label. */
#define COUNTS(level)                                                                                            \
  TCT_TARGET_##level static int32_t counts_##level(const float *restrict m, const float *restrict d, float step, \
                                                   float clip, float units, int64_t count) {                     \
    int32_t sum = 0;                                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                                        \
      float v = logistic_single(m[i] - step * d[i]);                                                             \
      v = v < clip ? v : clip;                                                                                   \
      sum += (int32_t)(v * units);                                                                               \
    }                                                                                                            \
    return sum;                                                                                                  \
  }
TCT_EACH_LEVEL(COUNTS)

/* own[grid] -= the block's sums. */
static void single_block(const tct_line *line, const double *z, const double *s, const double *y, int64_t count,
                         double unit, double *own) {
  float m[BLOCK], d[BLOCK], clip = (float)line->clip;
  if ((double)clip > line->clip) clip = nextafterf(clip, 0);
  for (int64_t i = 0; i < count; i++) {
    m[i] = (float)(z[i] * y[i]);
    d[i] = (float)(s[i] * y[i]);
  }
  for (int64_t j = 0; j < line->grid; j++)
    own[j] -= unit * (double)TCT_BEST(counts)(m, d, (float)line->step[j], clip, (float)(1 / unit), count);
}

/* The unit of the floats' counts, a multiple of the lattice; 0: not for this loss, or a lattice too coarse. */
static double unit_of(const tct_line *line) {
  if (!line->rough || line->loss->kind->fused != TCT_FUSED_LOGISTIC) return 0;
  double unit = exp2(ceil(log2(line->clip / MOST_UNITS)));
  return unit >= line->lattice && unit > 0x1p-100 && line->clip < 0x1p100 ? unit : 0;
}

/* ---- all blocks ------------------------------------------------------------------------------------ */

void tct_step_scores(const tct_line *line, const double *z, const double *s, const double *y, int64_t count,
                     double *score, int threads) {
  int64_t blocks = (count + BLOCK - 1) / BLOCK, grid = line->grid;
  double unit = unit_of(line);
  memset(score, 0, (size_t)grid * sizeof *score);
  threads = tct_threads_for(threads, 8 * count * grid);
#pragma omp parallel num_threads(tct_threads(threads))
  {
    double own[TCT_AGD_GRID] = {0};
#pragma omp for schedule(dynamic, 1) nowait
    for (int64_t b = 0; b < blocks; b++) {
      int64_t from = b * BLOCK, rows = count - from < BLOCK ? count - from : BLOCK;
      if (unit > 0) {
        single_block(line, z + from, s + from, y + from, rows, unit, own);
        continue;
      }
      for (int64_t j = 0; j < grid; j++) own[j] -= block_sum(line, j, z + from, s + from, y + from, rows);
    }
    for (int64_t j = 0; j < grid; j++) {
#pragma omp atomic
      score[j] += own[j];
    }
  }
}
