/* fused_table.h - the compiled fused loops by instruction set, arithmetic and slope. */
#ifndef TCT_LA_KERNELS_FUSED_TABLE_H
#define TCT_LA_KERNELS_FUSED_TABLE_H
#include "la/kernels/fused.h"
#include "core/lanes.h"

/* One stretch of rows.  z, y, scale: of the arithmetic's type; from, to: of the stored type. */
typedef struct tct_fused_part {
  int64_t n;
  void *z;
  const void *y;
  const void *scale;              /* NULL: all 1 */
  const void *limit;              /* NULL: clip bounds the terms; else limit*|scale*to| does, row by row */
  const void *from;               /* z += delta * scale * from first */
  const void *to;                 /* the column that is summed */
  double delta, h, clip, inverse; /* inverse = 1/lattice */
} tct_fused_part;
/* h of the logistic loss: the range of the exponent. */
#define TCT_FUSED_LIMIT 700.0
#define TCT_FUSED_LIMIT_SINGLE 80.0

/* Returns the sum in units of the lattice, a whole number below 2^52. */
typedef double (*tct_fused_loop)(const tct_fused_part *part);

/* Stored values and arithmetic. */
enum { TCT_FUSED_F64, TCT_FUSED_F32_F64, TCT_FUSED_F32, TCT_FUSED_KINDS };

/* Does the processor have the fused products that level 1 uses?  (Level 2 has them by definition.) */
bool tct_fused_has_fma(void);
tct_fused_loop tct_fused_loop_at(int level, int kind, tct_fused_slope slope, bool scaled, bool limited);
#endif
