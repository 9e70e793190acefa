/* none.c - no penalty. */
#include "penalty/separable.h"

static double value(const tct_reg *r, const double *w, int64_t p) {
  (void)r, (void)w, (void)p;
  return 0;
}
static inline double prox1(const tct_reg *r, double w, double step) {
  (void)r, (void)step;
  return w;
}
static void prox(const tct_reg *r, double *w, int64_t p, double step) { (void)r, (void)w, (void)p, (void)step; }

const tct_reg_kind tct_reg_none = {.name = "none",
                                   .summary = "no penalty",
                                   .example = "none",
                                   .separable = true,
                                   .zero = true,
                                   .quadratic = true,
                                   .value = value,
                                   .prox1 = prox1,
                                   .prox = prox};
