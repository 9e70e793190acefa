/* grid.c - laws on a grid that dominate, or are dominated by, a pair that is given bucket by bucket.
 *
 * UPPER: connect the dots; both shares of a bucket are sums of positive terms, so tails keep their
 * relative accuracy.
 * LOWER: the pair after a post-processing.  Grid point i is a symbol that is output for a share a_i of
 * bucket i-1 and b_i of bucket i.  The symbol's own loss is at least ih iff
 *   b_i (P - e^{ih}Q)(bucket i) >= a_i (e^{ih}Q - P)(bucket i-1), i.e. b_i up_i >= a_i down_{i-1} e^h.
 * Then counting it as ih can only lower every hockey-stick divergence, also after composition.  Equality makes the
 * error second order in h.  The recursion a_{i+1} = 1 - b_i is stable upwards left of the mode and downwards right of
 * it.  The two runs are joined where least is left over, and what is left over is rounded down. */
#include "account/curves/compare.h"
#include "account/curves/grid.h"

#include "core/point.h"
#include "core/alloc.h"

#include <math.h>
#include <string.h>

void tct_grid_free(tct_grid *grid) {
  tct_free(grid->down);
  tct_free(grid->up);
  memset(grid, 0, sizeof *grid);
}

void tct_pmf_free(tct_pmf *pmf) {
  tct_free(pmf->p);
  memset(pmf, 0, sizeof *pmf);
}

/* Relative error allowed for the quadrature of a bucket; 1e-14 was the largest seen against closed
 * forms (tests/unit/test_grid.c).  It costs a factor (1 + 1e-13)^count in delta. */
static const double mass_margin = 1e-13;
/* That of all buckets together, and of summing up to 2^20 of them. */
static const double total_margin = 1e-9;

/* Empty ends are cut off, so that the composed support ends where mass ends. */
static void trim(tct_pmf *pmf) {
  int64_t skip = 0;
  while (pmf->len > 1 && pmf->p[pmf->len - 1] == 0) pmf->len--;
  while (skip < pmf->len - 1 && pmf->p[skip] == 0) skip++;
  memmove(pmf->p, pmf->p + skip, (size_t)(pmf->len - skip) * sizeof(double));
  pmf->first += skip;
  pmf->len -= skip;
}

tct_status tct_pmf_upper(const tct_grid *grid, int64_t count, tct_pmf *out, tct_error *err) {
  *out = (tct_pmf){grid->h, grid->offset, grid->first, grid->len + 1, NULL, 0, count, false};
  out->p = TCT_NEW(double, out->len);
  if (!out->p) return tct_fail_memory(err);
  for (int64_t b = 0; b < grid->len; b++) out->p[b] = grid->down[b];
  for (int64_t b = 0; b < grid->len; b++) out->p[b + 1] += grid->up[b];
  /* The first point that is not below the range: a mass may only move up. */
  out->p[grid->len < 2 ? grid->len : 2] += grid->low_p;
  for (int64_t b = 0; b < out->len; b++) out->p[b] *= 1 + mass_margin;
  out->infinite = (grid->infinite + TCT_POINT(mass_beyond_the_grid_lost, grid->high_p, 0)) * (1 + mass_margin);
  trim(out);
  /* A mass that got lost lowers P's total, a loss that is too small raises Q's. */
  double mass = 0;
  for (int64_t b = 0; b < out->len; b++) mass += out->p[b];
  bool whole = fabs(mass + out->infinite - 1) <= total_margin && tct_pmf_log_moment(out, -1) <= total_margin;
  out->proved = grid->proved && whole;
  return TCT_OK;
}

/* b[i], i < len: the share of bucket i that balances from above. */
static void run_upwards(const tct_grid *g, double *b) {
  double growth = exp(g->h), free_share = 1;
  b[0] = 0;
  for (int64_t i = 1; i < g->len; i++) {
    double need = g->down[i - 1] * growth, have = g->up[i];
    double a = need * free_share <= have ? free_share : have / need;
    b[i] = have > 0 ? tct_min(1, a * need / have) : 0;
    free_share = 1 - b[i];
  }
}

/* a[i+1], i < len: the share of bucket i that is lifted to its upper end; a[len] = 0. */
static void run_downwards(const tct_grid *g, double *lifted) {
  double growth = exp(g->h);
  lifted[g->len - 1] = 0;
  for (int64_t i = g->len - 2; i >= 0; i--) {
    double have = g->up[i + 1] * (1 - lifted[i + 1]), need = g->down[i] * growth;
    lifted[i] = need <= have ? 1 : have / need;
  }
}

static int64_t best_join(const tct_grid *g, const double *b, const double *lifted) {
  int64_t best = 0;
  double min = INFINITY, total = 0, below = 0;
  for (int64_t i = 0; i < g->len; i++) total += g->down[i] + g->up[i];
  for (int64_t i = 0; i < g->len; i++) {
    double mass = g->down[i] + g->up[i], left = fabs(1 - b[i] - lifted[i]) * mass;
    bool inner = below > 0.001 * total && below < 0.999 * total; /* where both runs have settled */
    below += mass;
    if (inner && mass > 0 && left < min) min = left, best = i;
  }
  return best;
}

tct_status tct_pmf_lower(const tct_grid *grid, int64_t count, tct_pmf *out, tct_error *err) {
  int64_t n = grid->len;
  double *b = TCT_NEW(double, n), *lifted = TCT_NEW(double, n), growth = exp(grid->h);
  *out = (tct_pmf){grid->h, grid->offset, grid->first, n + 1, TCT_NEW(double, n + 1), 0, count, grid->proved};
  if (!b || !lifted || !out->p) return tct_free(b), tct_free(lifted), tct_pmf_free(out), tct_fail_memory(err);
  run_upwards(grid, b);
  run_downwards(grid, lifted);
  int64_t join = best_join(grid, b, lifted);
  /* Shares lifted out of each bucket: below the join what the bucket above can carry, above it the
   * run downwards; at the join what its own duty leaves over. */
  for (int64_t i = 0; i < n; i++) {
    double lift = lifted[i];
    if (i < join) {
      double need = grid->down[i] * growth;
      lift = need > 0 ? tct_min(1 - b[i], b[i + 1] * grid->up[i + 1] / need) : 1 - b[i];
      if (i + 1 < n && grid->up[i + 1] == 0) lift = 0;
    } else if (i == join) {
      lift = tct_min(lift, 1 - b[i]);
    }
    double mass = (grid->down[i] + grid->up[i]) * (1 - mass_margin);
    out->p[i + 1] += lift * (1 - 1e-12) * mass; /* rounding of the shares stays on the safe side */
    out->p[i] += (1 - lift * (1 - 1e-12)) * mass;
  }
  out->infinite = grid->infinite;
  trim(out);
  tct_free(b);
  tct_free(lifted);
  return TCT_OK;
}

/* In blocks, each relative to its own exponent, so that e^{t loss} may leave the range of a double; e^{th} too. */
double tct_pmf_log_moment(const tct_pmf *pmf, double t) {
  enum { BLOCK = 64 };
  double power[BLOCK], top = -INFINITY, sum = 0;
  int64_t block = tct_tilt_block(t * pmf->h, BLOCK);
  for (int64_t k = 0; k < block; k++) power[k] = exp(t * pmf->h * (double)k);
  for (int64_t start = 0; start < pmf->len; start += block) {
    int64_t end = pmf->len - start < block ? pmf->len - start : block;
    double part = 0;
    for (int64_t k = 0; k < end; k++) part += pmf->p[start + k] * power[k];
    if (part <= 0) continue;
    double value = log(part) + t * (pmf->offset + pmf->h * (double)(pmf->first + start));
    if (!isfinite(value)) return NAN;
    if (value > top) {
      sum = sum * exp(top - value) + 1;
      top = value;
    } else {
      sum += exp(value - top);
    }
  }
  return top + log(sum);
}

int64_t tct_tilt_block(double th, int64_t max) {
  double fit = 500 / fabs(th);
  return fit >= (double)max ? max : fit >= 1 ? (int64_t)fit : 1; /* NaN: 1 */
}
