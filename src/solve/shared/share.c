/* share.c - a share's posterior mean under a flat prior, by the midpoint rule; a mean of counts. */
#include "solve/shared/share.h"

#include "solve/shared/rules.def"

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

double tct_count_mean(double mean, double share, double bound, double noise, double rows) {
  enum { POINTS = 512 };
  double least = fmin(fmax(fmin(2 * noise, 0.25), 0.5 / rows), bound), best = INFINITY, at = mean * bound;
  if (at > counts_mean_sure * (noise * bound)) return fmin(at, bound);
  for (int k = 0; k < POINTS; k++) {
    double m = least * pow(bound / least, (double)k / (POINTS - 1)), a = m / bound - mean;
    double varied = -expm1(-log1p(counts_varied * m) / counts_varied);
    double b = fmax(fmax(share + expm1(-m), varied - share), 0);
    if (a * a + b * b < best) best = a * a + b * b, at = m;
  }
  return at;
}
