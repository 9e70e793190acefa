/* none.c - no penalty. */
#include "penalty/separable.h"

static double value(const tct_penalty *r, const double *w, int64_t p) {
  (void)r, (void)w, (void)p;
  return 0;
}
static inline double prox1(const tct_penalty *r, double w, double step) {
  (void)r, (void)step;
  return w;
}
static void prox(const tct_penalty *r, double *w, int64_t p, double step) { (void)r, (void)w, (void)p, (void)step; }

const tct_penalty_kind tct_penalty_none = {.name = "none",
                                           .summary = "no penalty",
                                           .example = "none",
                                           .separable = true,
                                           .zero = true,
                                           .quadratic = true,
                                           .value = value,
                                           .prox1 = prox1,
                                           .prox = prox};
