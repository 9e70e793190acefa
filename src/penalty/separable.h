/* separable.h - the whole-vector prox of a penalty that works coordinate by coordinate. */
#ifndef TCT_PENALTY_SEPARABLE_H
#define TCT_PENALTY_SEPARABLE_H
#include "penalty/penalty.h"

/* Defines `prox` of a penalty file from its static inline `prox1`. */
#define TCT_REG_PROX                                                          \
  static void prox(const tct_penalty *r, double *w, int64_t p, double step) { \
    for (int64_t j = 0; j < p; j++) w[j] = prox1(r, w[j], step);              \
  }

/* argmin over t of (t-w)^2/2 + threshold*|t|. */
static inline double tct_soft_threshold(double w, double threshold) {
  return w > threshold ? w - threshold : w < -threshold ? w + threshold : 0;
}

#define TCT_REG_END \
  { NULL, TCT_OPT_REAL, NULL, 0, 0, NULL, NULL }
#endif
