/* dpcd_plain.c - the double loop that one would write first, compiled with -O3 and nothing else. */
#include "dpcd_fast.h"

#include <math.h>

double plain_step(long n, double *z, const double *y, const double *from, double delta, const double *to, double clip) {
  for (long i = 0; i < n; i++) z[i] += delta * from[i];
  double sum = 0;
  for (long i = 0; i < n; i++) {
    double t = -y[i] / (1 + exp(y[i] * z[i])) * to[i];
    sum += fmin(fmax(t, -clip), clip);
  }
  return sum;
}
