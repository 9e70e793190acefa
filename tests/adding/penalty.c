/* dummy.c - the constraint that no weight is negative. */
#include "penalty/separable.h"

#include <math.h>

static double value(const tct_reg *r, const double *w, int64_t p) {
  (void)r;
  for (int64_t j = 0; j < p; j++)
    if (w[j] < 0) return INFINITY;
  return 0;
}
static double prox1(const tct_reg *r, double w, double step) {
  (void)r, (void)step;
  return w > 0 ? w : 0;
}
TCT_REG_PROX

const tct_reg_kind tct_reg_dummy = {
    .name = "dummy",
    .summary = "no weight below 0",
    .example = "dummy",
    .separable = true,
    .value = value,
    .prox1 = prox1,
    .prox = prox,
};
