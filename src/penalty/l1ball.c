/* l1ball.c - the constraint |w|_1 <= radius.
 *
 * PROX.  The projection is the soft threshold at the tau that makes the l1 norm equal the radius: tau = (sum of the
 * active |w_j| - radius)/(their number), active where |w_j| > tau.  Michelot's iteration (1986) raises tau from the
 * threshold of all coordinates and drops those that fall below.  It ends after at most p rounds, in practice a handful,
 * and needs no memory and no sorting.
 *
 * VERTEX.  <g, s> over the ball is smallest at -radius*sign(g_j) e_j for the largest |g_j|; ties: the first. */
#include "penalty/separable.h"

#include <math.h>

/* A projected point may stick out by the rounding of p sums; beyond this it is outside. */
static const double TOLERANCE = 1e-9;

static double norm1(const double *w, int64_t p) {
  double sum = 0;
  for (int64_t j = 0; j < p; j++) sum += fabs(w[j]);
  return sum;
}
static double value(const tct_penalty *r, const double *w, int64_t p) {
  return norm1(w, p) <= r->radius * (1 + TOLERANCE) ? 0 : INFINITY;
}

static void prox(const tct_penalty *r, double *w, int64_t p, double step) {
  (void)step;
  if (norm1(w, p) <= r->radius) return;
  double tau = 0;
  int64_t active = -1;
  for (int64_t round = 0; round <= p; round++) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t j = 0; j < p; j++)
      if (fabs(w[j]) > tau) sum += fabs(w[j]), count++;
    if (count == active || count == 0) break; /* the active set only shrinks, so equal size is equal set */
    tau = (sum - r->radius) / (double)count;
    active = count;
  }
  for (int64_t j = 0; j < p; j++) w[j] = tct_soft_threshold(w[j], tau);
}

static void vertex(const tct_penalty *r, const double *g, int64_t p, int64_t *index, double *out) {
  int64_t best = 0;
  for (int64_t j = 1; j < p; j++)
    if (fabs(g[j]) > fabs(g[best])) best = j;
  *index = best;
  *out = g[best] > 0 ? -r->radius : r->radius;
}

static const tct_option options[] = {
    {"radius", TCT_OPT_REAL, NULL, 1e-100, 1e100, NULL, "bound on the sum of |w_j|"},
    TCT_REG_END,
};

const tct_penalty_kind tct_penalty_l1ball = {.name = "l1ball",
                                             .summary = "sum of |w_j| at most radius",
                                             .example = "l1ball:radius=1",
                                             .options = options,
                                             .cross_polytope = true,
                                             .value = value,
                                             .prox = prox,
                                             .vertex = vertex};
