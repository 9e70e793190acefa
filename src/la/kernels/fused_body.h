/* fused_body.h - the fused loops for one instruction set and one arithmetic.
 *
 * fused_table.c includes this file once per combination of LEVEL and KIND (TCT_FUSED_F64, ...):
 *   STORED   the type of the stored values;  REAL  that of margins, labels and arithmetic
 *   TERM     the function that computes slope(m, y) * x in REAL
 *   WHOLE    the type in which a block's whole numbers are added;  TRUNC(x)  a REAL to a WHOLE, toward zero
 *
 * For each row of the part: z += delta*(scale*from); t = slope(z, y)*(scale*to), brought into [-clip, clip], or by
 * limits into limit*|scale*to| either way; sum += trunc(t/lattice).  The comparison that clips sends a NaN (a margin
 * out of range) to the bound. Multiplying by a power of two is exact, so the sum is one of exact whole numbers: its
 * order cannot matter, and the compiler may use any number of lanes.  A block of 1024 terms of at most 2^20 fits 32
 * bits, and all the terms fit a double's 53. */

FMA static inline __attribute__((always_inline)) double NAME(pass)(const tct_fused_part *p, tct_fused_slope slope,
                                                                   int scaled, int limited) {
  REAL *restrict z = p->z;
  const REAL *y = p->y, *scale = p->scale, *limit = p->limit;
  const STORED *from = p->from, *to = p->to;
  const REAL delta = (REAL)p->delta, h = (REAL)p->h, clip = (REAL)p->clip, inverse = (REAL)p->inverse;
  double sum = 0;
  for (int64_t start = 0; start < p->n; start += 1024) {
    int64_t end = p->n - start < 1024 ? p->n : start + 1024;
    WHOLE block = 0;
#pragma omp simd reduction(+ : block)
    for (int64_t i = start; i < end; i++) {
      REAL a = (REAL)from[i], x = (REAL)to[i];
      if (scaled) a *= scale[i], x *= scale[i];
      REAL m = z[i] + delta * a;
      z[i] = m;
      REAL t = TERM(slope, m, y[i], x, h);
      REAL max = limited ? limit[i] * (x < 0 ? -x : x) : clip;
      t = t < max ? t : max;
      t = t > -max ? t : -max;
      block += TRUNC(t * inverse);
    }
    sum += (double)block;
  }
  return sum;
}

#define LOOP(name, constant, scaled, limited) \
  FMA static double NAME(name)(const tct_fused_part *p) { return NAME(pass)(p, constant, scaled, limited); }
#define LOOPS(slope, constant)          \
  LOOP(slope, constant, 0, 0)           \
  LOOP(slope##_scaled, constant, 1, 0)  \
  LOOP(slope##_limited, constant, 0, 1) \
  LOOP(slope##_scaled_limited, constant, 1, 1)
#define TCT_FUSED(KIND, name) LOOPS(name, TCT_FUSED_##KIND)
#include "loss/fused.def"
#undef TCT_FUSED
#undef LOOPS
#undef LOOP

#define ROW(slope) \
  { NAME(slope), NAME(slope##_scaled), NAME(slope##_limited), NAME(slope##_scaled_limited) }
static const tct_fused_loop NAME(table)[TCT_FUSED_SLOPES][4] = {
#define TCT_FUSED(KIND, name) [TCT_FUSED_##KIND] = ROW(name),
#include "loss/fused.def"
#undef TCT_FUSED
};
#undef ROW
