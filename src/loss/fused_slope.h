/* fused_slope.h - names of the slopes that the fused pass over columns knows. */
#ifndef TCT_LOSS_FUSED_SLOPE_H
#define TCT_LOSS_FUSED_SLOPE_H

/* The entries of fused.def; NONE: the loss has no such form, and the solvers that need one refuse it. */
typedef enum tct_fused_slope {
  TCT_FUSED_NONE,
#define TCT_FUSED(NAME, name) TCT_FUSED_##NAME,
#include "loss/fused.def"
#undef TCT_FUSED
  TCT_FUSED_SLOPES
} tct_fused_slope;
#endif
