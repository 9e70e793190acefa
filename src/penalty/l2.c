/* l2.c - ridge: lambda/2 |w|^2. */
#include "penalty/separable.h"

static double value(const tct_penalty *r, const double *w, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++) sum += w[j] * w[j];
  return 0.5 * r->l2 * sum;
}
static inline double prox1(const tct_penalty *r, double w, double step) { return w / (1 + step * r->l2); }
TCT_REG_PROX

static const tct_option options[] = {
    {"lambda", TCT_OPT_REAL, NULL, 0, 1e100, NULL, "weight of |w|^2/2"},
    TCT_REG_END,
};

const tct_penalty_kind tct_penalty_l2 = {.name = "l2",
                                         .summary = "ridge, lambda/2 |w|^2",
                                         .example = "l2:lambda=0.05",
                                         .options = options,
                                         .l2_key = "lambda",
                                         .separable = true,
                                         .quadratic = true,
                                         .value = value,
                                         .prox1 = prox1,
                                         .prox = prox};
