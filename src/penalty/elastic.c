/* elastic.c - elastic net: l1 |w|_1 + l2/2 |w|^2. */
#include "penalty/separable.h"

#include <math.h>

static double value(const tct_penalty *r, const double *w, int64_t p) {
  double sum = 0, squares = 0;
  for (int64_t j = 0; j < p; j++) sum += fabs(w[j]), squares += w[j] * w[j];
  return r->l1 * sum + 0.5 * r->l2 * squares;
}
static inline double prox1(const tct_penalty *r, double w, double step) {
  return tct_soft_threshold(w, step * r->l1) / (1 + step * r->l2);
}
TCT_REG_PROX

static const tct_option options[] = {
    {"l1", TCT_OPT_REAL, NULL, 0, 1e100, NULL, "weight of the sum of |w_j|"},
    {"l2", TCT_OPT_REAL, NULL, 0, 1e100, NULL, "weight of |w|^2/2"},
    TCT_REG_END,
};

const tct_penalty_kind tct_penalty_elastic = {.name = "elastic",
                                              .summary = "elastic net, l1 |w|_1 + l2/2 |w|^2",
                                              .example = "elastic:l1=0.01,l2=0.05",
                                              .options = options,
                                              .l1_key = "l1",
                                              .l2_key = "l2",
                                              .separable = true,
                                              .value = value,
                                              .prox1 = prox1,
                                              .prox = prox};
