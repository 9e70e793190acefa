/* quantile.c - quantiles from noisy counts over a geometric grid. */
#include "solve/shared/quantile.h"

#include <math.h>

int tct_quantile_bin(double size, double top) {
  if (!(size > 0x1p-60 * top)) return -1;
  return (int)fmin(fmax(floor(-2 * log2(size / top) + 1e-9), 0), TCT_QUANTILE_EDGES - 1);
}

double tct_quantile_between(const double *count, double top, double keep, double sure) {
  double all = 0, within = 0;
  for (int k = 0; k < TCT_QUANTILE_EDGES; k++) all += count[k];
  double need = keep * all + sure;
  if (!(all > 0)) return top;
  for (int k = TCT_QUANTILE_EDGES - 1; k >= 0; k--) {
    within += count[k];
    if (!(within >= need) || !(count[k] > 0)) continue;
    double part = fmin((within - need) / count[k], 1); /* of this count, above the quantile */
    return top * exp2(-0.5 * (k + part));
  }
  return top;
}

double tct_quantile_beyond_noise(const double *count, double top, double keep, double deviation, double most) {
  double spread = sqrt(TCT_QUANTILE_EDGES) * deviation;
  if (!(keep * most >= 4 * spread)) return top;
  return tct_quantile_between(count, top, keep, fmin(2 * spread, 0.5 * (1 - keep) * most));
}

int tct_quantile_farthest(const double *counts, int cells, double kept, double deviation) {
  enum { TOGETHER = 3 };
  int most = 0;
  for (int k = 1; k < cells; k++) most = counts[k] > counts[most] ? k : most;
  for (int k = 0; k < most; k++) {
    double square = kept * kept + (most - k) * M_LN2, sum = 0;
    for (int j = k; j < most && j < k + TOGETHER; j++) {
      sum += counts[j];
      if (sum > deviation * sqrt(square * (j - k + 1))) return k;
    }
  }
  return most;
}
