/* dummy.c - the constraint that no weight is negative. */
#include "penalty/separable.h"

#include <math.h>

static double value(const tct_penalty *r, const double *w, int64_t p) {
  (void)r;
  for (int64_t j = 0; j < p; j++)
    if (w[j] < 0) return INFINITY;
  return 0;
}
static double prox1(const tct_penalty *r, double w, double step) {
  (void)r, (void)step;
  return w > 0 ? w : 0;
}
TCT_REG_PROX

const tct_penalty_kind tct_penalty_dummy = {
    .name = "dummy",
    .summary = "no weight below 0",
    .example = "dummy",
    .separable = true,
    .value = value,
    .prox1 = prox1,
    .prox = prox,
};
