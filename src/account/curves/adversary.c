/* adversary.c - what many exponential choices cost together: the optimal composition of steps of bounded range.
 *
 * ONE STEP  A choice of epsilon0 has a loss in [t - epsilon0, t], for some t in [0, epsilon0] (Durfee and Rogers 2019).
 * What is convex in e^loss under Q is largest for the two-point law on the ends of the range.  The upper end then has
 * the mass p(t) = (1 - e^{t-epsilon0})/(1 - e^-epsilon0) under P.
 * MANY  An adversary picks each t after seeing what came before (Dong, Durfee and Rogers 2020).  With V_0(x) =
 * max(0, 1 - e^x) the largest delta at x is
 *     V_k(x) = max over t of p(t) V_{k-1}(x - t) + (1 - p(t)) V_{k-1}(x - t + epsilon0).
 * Each V_k is convex in e^x, and V_k(-x) = 1 - e^-x + e^-x V_k(x), since a range turned round is one of the same width.
 * ON A GRID  of spacing g = epsilon0/m, V_{k-1} is replaced by its chords in e^x, which lie above it.  For x on the
 * grid and t between two points, both terms then run along one chord each.  The sum is A - a e^-t - b e^t, a >= 0 and
 * b >= 0: concave in t, its largest value in closed form.  So no t is left out, and V_k at the points is an upper end.
 * Sums have positive terms alone, so that small deltas keep their digits; `step_margin` covers rounding.
 * ITS LAW  has at cg, c > 0, the mass (e^g d_{c-1} - d_c)/(e^g - 1) under P, d_c = V(cg) - V((c+1)g), and e^-cg of that
 * at -cg; what is left lies at 0.  On x >= 0 its curve is V, and below by the symmetry above.
 * BLOCKS  Long runs are cut into blocks of at most 64 steps.  A block is one interactive mechanism whose curve is V.
 * Such mechanisms, also run at the same time and beside other steps, cost no more than the pairs of their curves
 * (Vadhan and Zhang 2023, concurrent composition).  The longer the blocks, the closer to one of all steps. */
#include "account/curves/adversary.h"

#include "account/curves/compare.h"
#include "core/alloc.h"
#include "core/lanes.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 64, POINTS = 2048 };
const double tct_choices_work = 2e7; /* about POINTS^2/2 chords, twice */

void tct_choices_free(tct_choices *c) {
  for (int k = 0; k < 2; k++) tct_free(c->value[k]);
  memset(c, 0, sizeof *c);
}

/* One step more: from old = V_{k-1} at i spacings, i in [-m, points + m], to V_k at 0 <= i < points. */
typedef struct walk {
  int64_t m;
  double spacing, growth, wide, least; /* g, e^g, e^g - 1, e^-epsilon0 */
  double *kept, *rest;                 /* [m+1]: p(jg) and 1 - p(jg) */
} walk;

/* Cell j of t, with u = e^{t - jg} = 1 + v(e^g - 1): the masses are linear in v, and a chord's value has the share
 * (1 - v)/u of its upper end.  Nearly all maxima lie on an end, v = 0 or 1.  a/b tells that without a
 * division, and where a whole block of them does, the formula without v has the same bits. */
TCT_WIDE static void step_cell(const walk *w, int64_t j, const double *restrict old, int64_t points,
                               double *restrict new) {
  enum { BLOCK = 32 };
  double low = exp((double)(j - w->m) * w->spacing), kept = w->kept[j], kept_more = w->kept[j + 1] - kept;
  double rest = w->rest[j], rest_more = w->rest[j + 1] - rest, end = w->growth / (1 + w->wide);
  double steep = w->growth * w->growth * (1 + 1e-9); /* a/b beyond it: v = 1, whatever is rounded */
  for (int64_t at = 0; at < points; at += BLOCK) {
    const double *near = old - j - 1 + at, *far = near + w->m;
    double a[BLOCK], b[BLOCK], *best = new + at;
    int64_t len = points - at < BLOCK ? points - at : BLOCK;
    int64_t inside = 0;
    for (int64_t i = 0; i < len; i++) {
      double near_fall = near[i] - near[i + 1], far_fall = far[i] - far[i + 1];
      a[i] = w->growth * (near_fall - w->least * far_fall);
      b[i] = low * (w->wide * (near[i] - far[i]) + (near_fall - far_fall));
      int64_t on_end = (a[i] <= b[i]) | (a[i] > steep * b[i]);
      inside |= (b[i] > 0) & on_end ? 0 : 1;
    }
    for (int64_t i = 0; i < len && !inside; i++) {
      double at_0 = kept * near[i + 1] + rest * far[i + 1];
      double at_1 = (kept + kept_more) * (near[i] * end) + (rest + rest_more) * (far[i] * end);
      double sum = a[i] <= b[i] ? at_0 : at_1;
      best[i] = sum > best[i] ? sum : best[i];
    }
    for (int64_t i = 0; i < len && inside; i++) {
      double v = (sqrt(a[i] / b[i]) - 1) / w->wide;
      v = v > 0 ? (v < 1 ? v : 1) : 0; /* NaN: 0 */
      double u = 1 + v * w->wide, upper = (1 - v) / u, lower = v * w->growth / u;
      double sum = (kept + v * kept_more) * (near[i] * lower + near[i + 1] * upper) +
                   (rest + v * rest_more) * (far[i] * lower + far[i + 1] * upper);
      best[i] = sum > best[i] ? sum : best[i];
    }
  }
}

/* Relative, of one step: a few dozen roundings of positive terms. */
static const double step_margin = 0x1p-46;

static void step(const walk *w, double *old, int64_t points, double *new) {
  for (int64_t i = 1; i <= w->m; i++) old[-i] = -expm1(-(double)i * w->spacing) + exp(-(double)i * w->spacing) * old[i];
  memset(new, 0, (size_t)points * sizeof *new);
  for (int64_t j = 0; j < w->m; j++) step_cell(w, j, old, points, new);
  for (int64_t i = 0; i < points; i++) old[i] = new[i] * (1 + step_margin);
}

static tct_status run(tct_choices *c, int64_t m, tct_error *err) {
  int64_t most = c->size[1] * m, k = 0;
  double g = c->spacing, all = -expm1(-c->epsilon);
  walk w = {m, g, exp(g), expm1(g), exp(-c->epsilon), TCT_NEW(double, 2 * m + 2), NULL};
  double *old = TCT_NEW(double, most + 2 * m + 2), *new = TCT_NEW(double, most + 1);
  for (int b = 0; b < 2; b++) c->len[b] = c->size[b] * m, c->value[b] = TCT_NEW(double, c->len[b] + 2);
  tct_status status = w.kept && old && new && c->value[0] && c->value[1] ? TCT_OK : tct_fail_memory(err);
  w.rest = w.kept ? w.kept + m + 1 : NULL;
  for (int64_t j = 0; j <= m && status == TCT_OK; j++) {
    w.kept[j] = -expm1((double)(j - m) * g) / all;
    w.rest[j] = exp((double)(j - m) * g) * -expm1(-(double)j * g) / all;
  }
  for (int b = 0; b < 2 && status == TCT_OK; b++) {
    for (; k < c->size[b]; k++) step(&w, old + m, (k + 1) * m, new);
    memcpy(c->value[b], old + m, (size_t)c->len[b] * sizeof(double));
  }
  tct_free(w.kept);
  tct_free(old);
  tct_free(new);
  return status;
}

/* A spacing of a quarter at most, as long as a block has one step. */
tct_status tct_choices_new(double epsilon, int64_t count, tct_choices *out, tct_error *err) {
  int64_t longest = (int64_t)tct_max(1, tct_min(LONGEST, POINTS / (4 * epsilon)));
  int64_t blocks = count / longest + (count % longest > 0), more = count % blocks;
  int64_t size = count / blocks, m = POINTS / (size + (more > 0));
  *out = (tct_choices){epsilon, epsilon / (double)m, {size, size + (more > 0)}, {blocks - more, more},
                       {0, 0},  {NULL, NULL}};
  tct_status status = run(out, m, err);
  if (status != TCT_OK) tct_choices_free(out);
  return status;
}

/* A block of n fair choices: two candidates at even odds whose scores move by the largest change, in opposite
 * directions.  Each loss is half of epsilon0, up or down.  loss, mass: [n+1], by the binomial law. */
static void fair_choices(double epsilon, int64_t n, double *loss, double *mass) {
  double half = 0.5 * epsilon, up = -log1p(exp(-half));
  for (int64_t i = 0; i <= n; i++) {
    loss[i] = half * (double)(2 * i - n);
    mass[i] = exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) + (double)n * up -
                  (double)(n - i) * half);
  }
}

/* Falling numbers, but for rounding, down to the end of the range, and no less at 0 than fair choices show. */
static bool possible(const tct_choices *c, int k) {
  const double *value = c->value[k];
  double loss[LONGEST + 1], mass[LONGEST + 1], fair = 0;
  fair_choices(c->epsilon, c->size[k], loss, mass);
  for (int64_t i = 0; i <= c->size[k]; i++)
    if (loss[i] > 0) fair += mass[i] * -expm1(-loss[i]);
  for (int64_t i = 0; i < c->len[k]; i++)
    if (!(value[i] > 0 && value[i] * (1 + 1e-10) >= value[i + 1])) return false;
  return value[0] <= 1 + 1e-10 && value[0] >= fair * (1 - 1e-9);
}

static tct_status law_of(const tct_choices *c, int k, double h, tct_pmf *out, tct_error *err) {
  int64_t n = c->len[k];
  const double *value = c->value[k];
  double g = c->spacing, growth = exp(g), wide = expm1(g), left = 1;
  double *mass = TCT_NEW(double, 2 * n + 1), *loss = TCT_NEW(double, 2 * n + 1);
  tct_grid grid = {0};
  tct_status status = mass && loss ? TCT_OK : tct_fail_memory(err);
  for (int64_t i = n; i > 0 && status == TCT_OK; i--) {
    double above = tct_max(0, growth * (value[i - 1] - value[i]) - (value[i] - value[i + 1])) / wide;
    double below = exp(-(double)i * g);
    loss[n + i] = (double)i * g, loss[n - i] = -(double)i * g;
    mass[n + i] = above, mass[n - i] = above * below;
    left -= above * (1 + below);
  }
  if (status == TCT_OK) mass[n] = tct_max(0, left);
  if (status == TCT_OK) status = tct_grid_of_atoms(2 * n + 1, loss, mass, (tct_grid_shape){.h = h}, &grid, err);
  grid.proved = grid.proved && possible(c, k);
  if (status == TCT_OK) status = tct_pmf_upper(&grid, c->times[k], out, err);
  tct_grid_free(&grid);
  tct_free(mass);
  tct_free(loss);
  return status;
}

static tct_status fair_law(const tct_choices *c, int k, double h, tct_pmf *out, tct_error *err) {
  double loss[LONGEST + 1], mass[LONGEST + 1];
  int64_t n = c->size[k];
  tct_grid grid;
  fair_choices(c->epsilon, n, loss, mass);
  double offset = loss[n] - h * floor(loss[n] / h);
  TCT_TRY(tct_grid_of_atoms(n + 1, loss, mass, (tct_grid_shape){.h = h, .offset = offset}, &grid, err));
  tct_status status = tct_pmf_lower(&grid, c->times[k], out, err);
  tct_grid_free(&grid);
  return status;
}

/* 40 for each atom and for each bucket, of two laws. */
double tct_choices_grid_work(const tct_choices *c, double h) {
  return 80 * (2 * POINTS + 2 * (double)c->size[1] * c->epsilon / h);
}

tct_status tct_choices_laws(const tct_choices *c, double h, bool both, tct_pmf *const side[2], int len[2],
                            tct_error *err) {
  for (int k = 0; k < 2; k++) {
    if (c->times[k] == 0) continue;
    TCT_TRY(law_of(c, k, h, &side[0][len[0]], err));
    len[0]++;
    if (both) TCT_TRY(fair_law(c, k, h, &side[1][len[1]], err));
    len[1] += both;
  }
  return TCT_OK;
}
