/* share.c - the posterior mean of a share under a flat prior, by the midpoint rule. */
#include "solve/shared/share.h"

#include <math.h>

double tct_share_after_noise(double seen, double deviation) {
  enum { POINTS = 200 };
  double at = fmin(fmax(seen, 0), 1), low = fmax(0, at - 6 * deviation), high = fmin(1, at + 6 * deviation);
  double all = 0, sum = 0, half = (high - low) / (2 * POINTS), near = fmin(fmax(seen, low + half), high - half) - seen;
  for (int k = 0; k < POINTS; k++) {
    double part = low + (high - low) * (k + 0.5) / POINTS, far = (part - seen) * (part - seen) - near * near;
    double chance = exp(-0.5 * far / (deviation * deviation));
    all += chance, sum += chance * part;
  }
  return sum / all;
}
