/* lattice.h - rounding toward zero to a lattice of multiples of a power of two. */
#ifndef TCT_LA_MATRIX_LATTICE_H
#define TCT_LA_MATRIX_LATTICE_H
#include "core/point.h"

#include <math.h>

/* lattice * trunc(v / lattice), exactly, without a division or a rounding mode.
 *
 * With a = |v| < M = 2^52*lattice, a + M lies in [M, 2M], where doubles are the multiples of the lattice.  So the sum
 * is rounded to the multiple nearest to a, and subtracting M is exact.  If that multiple is above a, the one below it
 * (again exact) is the truncation.  From M on, a double is a multiple of the lattice already; the vector loops leave
 * that case out, and their caller keeps it from them. */
static inline double tct_lattice_part(double v, double lattice) {
  double magic = 4503599627370496.0 * lattice, a = fabs(v);
  double r = (a + magic) - magic;
  r -= TCT_POINT(lattice_to_nearest, r > a, 0) ? lattice : 0.0;
  return copysign(a < magic ? r : a, v);
}
#endif
