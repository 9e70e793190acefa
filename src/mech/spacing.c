/* spacing.c - the lattice of a release: fine enough for its noise, coarse enough for an exact sum. */
#include "mech/mech.h"

#include <math.h>

double tct_mech_lattice(double reach, double noise, int64_t terms) {
  double sigma = noise * reach;
  double need = (double)(terms < 1 ? 1 : terms) * reach + 128 * sigma;
  if (!(reach > 0) || !isfinite(need)) return NAN;
  int exponent = 0;
  frexp(need, &exponent); /* need <= 2^exponent */
  int low = exponent - 52;
  if (noise > 0) {
    frexp(sigma, &exponent);                      /* 2^(exponent-1) <= sigma < 2^exponent */
    if (low < exponent - 39) low = exponent - 39; /* sigma/g < 2^39 */
    if (low > exponent - 1 - 20) return NAN;      /* sigma/g >= 2^20 */
  }
  if (low < -1000) return NAN; /* far from subnormals, where spacing is not relative */
  return ldexp(1.0, low);
}
