/* l1.c - lasso: lambda |w|_1. */
#include "penalty/separable.h"

#include <math.h>

static double value(const tct_penalty *r, const double *w, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++) sum += fabs(w[j]);
  return r->l1 * sum;
}
static inline double prox1(const tct_penalty *r, double w, double step) { return tct_soft_threshold(w, step * r->l1); }
TCT_REG_PROX

static const tct_option options[] = {
    {"lambda", TCT_OPT_REAL, NULL, 0, 1e100, NULL, "weight of the sum of |w_j|"},
    TCT_REG_END,
};

const tct_penalty_kind tct_penalty_l1 = {.name = "l1",
                                         .summary = "lasso, lambda |w|_1",
                                         .example = "l1:lambda=0.01",
                                         .options = options,
                                         .l1_key = "lambda",
                                         .separable = true,
                                         .value = value,
                                         .prox1 = prox1,
                                         .prox = prox};
