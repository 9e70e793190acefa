/* lbfgs_pairs.c - limited-memory BFGS directions, over a scaled identity or a given metric. */
#include "solve/minimiser/lbfgs_pairs.h"

#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"

#include <string.h>

tct_status tct_pairs_new(tct_pairs *h, int64_t memory, int64_t p, tct_error *err) {
  *h = (tct_pairs){.memory = memory, .p = p};
  h->s = TCT_NEW(double, 2 * memory * p);
  h->inverse = TCT_NEW(double, 2 * memory);
  if (!h->s || !h->inverse) {
    tct_pairs_free(h);
    return tct_fail_memory(err);
  }
  h->y = h->s + memory * p;
  h->alpha = h->inverse + memory;
  return TCT_OK;
}

void tct_pairs_free(tct_pairs *h) {
  tct_wipe_free(h->s, 2 * h->memory * h->p, sizeof(double)); /* gradients of records */
  tct_wipe_free(h->inverse, 2 * h->memory, sizeof(double));
  memset(h, 0, sizeof *h);
}

void tct_pairs_keep(tct_pairs *h, double t, const double *direction, const double *before, const double *after) {
  int64_t p = h->p, at = h->count % h->memory;
  double *s = h->s + at * p, *y = h->y + at * p;
  for (int64_t j = 0; j < p; j++) s[j] = t * direction[j], y[j] = after[j] - before[j];
  double sy = tct_dot(s, y, p);
  if (!(sy > 1e-300)) {
    h->count = 0;
    return;
  }
  h->inverse[at] = 1 / sy;
  h->count++;
}

void tct_pairs_direction(tct_pairs *h, const double *factor, const double *g, double *d) {
  int64_t p = h->p, kept = h->count < h->memory ? h->count : h->memory;
  for (int64_t j = 0; j < p; j++) d[j] = -g[j];
  for (int64_t k = 1; k <= kept; k++) {
    int64_t at = (h->count - k) % h->memory;
    h->alpha[at] = h->inverse[at] * tct_dot(h->s + at * p, d, p);
    tct_axpy(-h->alpha[at], h->y + at * p, d, p);
  }
  if (factor) {
    tct_cholesky_solve(factor, p, d);
  } else if (kept > 0) {
    int64_t at = (h->count - 1) % h->memory;
    double scale = 1 / (h->inverse[at] * tct_norm2(h->y + at * p, p));
    for (int64_t j = 0; j < p; j++) d[j] *= scale;
  }
  for (int64_t k = kept; k >= 1; k--) {
    int64_t at = (h->count - k) % h->memory;
    double beta = h->inverse[at] * tct_dot(h->y + at * p, d, p);
    tct_axpy(h->alpha[at] - beta, h->s + at * p, d, p);
  }
}
