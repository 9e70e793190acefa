/* box.c - the constraint low <= w_j <= high. */
#include "penalty/separable.h"

#include <math.h>

static double value(const tct_penalty *r, const double *w, int64_t p) {
  for (int64_t j = 0; j < p; j++)
    if (!(w[j] >= r->low && w[j] <= r->high)) return INFINITY;
  return 0;
}
static inline double prox1(const tct_penalty *r, double w, double step) {
  (void)step;
  return w < r->low ? r->low : w > r->high ? r->high : w;
}
TCT_REG_PROX

static const tct_option options[] = {
    {"low", TCT_OPT_REAL, NULL, -1e100, 1e100, NULL, "smallest weight allowed"},
    {"high", TCT_OPT_REAL, NULL, -1e100, 1e100, NULL, "largest weight allowed"},
    TCT_REG_END,
};

const tct_penalty_kind tct_penalty_box = {.name = "box",
                                          .summary = "every weight between low and high",
                                          .example = "box:low=-2,high=1.5",
                                          .options = options,
                                          .separable = true,
                                          .box = true,
                                          .value = value,
                                          .prox1 = prox1,
                                          .prox = prox};
