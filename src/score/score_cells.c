/* score_cells.c - scores of two classes: margins counted in cells, of which nearby ones share their noise.
 *
 * Of each class, number k of the vector is f_k * (the sum over the cells c >= k of r_(k+1) ... r_c x_c), x_c being how
 * many margins lie in cell c, f_0 = 1 and f_k^2 = 1 - r_k^2.  So x_c = t_c - r_(c+1) t_(c+1) with t_k = (number k)/f_k,
 * and figures that change little from cell to cell have little noise: a sum of v_c x_c has variance
 *
 *     noise^2 * the sum over k of (v_k - r_k v_(k-1))^2 / f_k^2.
 *
 * Counts of cells alone would give the area under the ROC curve three times the noise.  r is less at margin 0, where
 * predictions change.  docs/decisions/score-cells.md has what was tried.
 *
 * PROOF of the length.  A record in cell c has f_k r_(k+1) ... r_c in number k <= c of its class, and 0 elsewhere.  As
 * f_k^2 + r_k^2 = 1, the squares from k = c down to 0 add up to 1.  `part`, 1 less a little, pays for the roundings of
 * at most 66 operations. */
#include "score/score.h"

#include "la/matrix/lattice.h"

#include <math.h>

enum { CELLS = TCT_SCORE_CELLS, ZERO = CELLS / 2 }; /* ZERO: the first cell whose margins are above 0 */

static const double KEPT = 0.9, KEPT_AT_ZERO = 0.3;

static double kept(int k) { return k == ZERO ? KEPT_AT_ZERO : KEPT; }                   /* r_k, k > 0 */
static double fresh(int k) { return k == 0 ? 1 : sqrt((1 - kept(k)) * (1 + kept(k))); } /* f_k */

/* Cells are narrow about 0 and wide at +-span.  A margin that is no number has the last cell below 0. */
static int cell_of(const tct_scoring *s, double margin) {
  double size = fmin(fabs(margin), s->span);
  int out = (int)(ZERO * (2 * size / (size + s->span)));
  if (out == ZERO) out--;
  return margin > 0 ? ZERO + out : ZERO - 1 - out;
}

double tct_score_edge(const tct_scoring *s, double k) {
  double part = fabs(k - ZERO) / ZERO;
  return copysign(s->span * part / (2 - part), k - ZERO);
}

void tct_score_add_cell(const tct_scoring *s, double margin, double label, double weight, double lattice, double *sum) {
  int cell = cell_of(s, margin);
  double *own = sum + (label > 0 ? CELLS : 0), share = s->part * weight;
  for (int k = cell; k >= 0; share *= kept(k--)) {
    double term = share * fresh(k);
    own[k] += lattice > 0 ? tct_lattice_part(term, lattice) : term;
  }
}

/* ---- what the noisy sum says ------------------------------------------------------------------------ */

/* How many there are of each class in each cell, or what each of them is worth. */
typedef struct cells {
  double of[2][CELLS]; /* labels -1 and 1 */
} cells;

typedef struct counted {
  const tct_scoring *scoring;
  cells count, ones;
  double noise, rows; /* rows: NaN where weights hide them */
} counted;

static double product(const cells *a, const cells *b) {
  double sum = 0;
  for (int c = 0; c < 2 * CELLS; c++) sum += a->of[c / CELLS][c % CELLS] * b->of[c / CELLS][c % CELLS];
  return sum;
}

static double change(const double *v, int k) { return v[k] - (k ? kept(k) * v[k - 1] : 0); }

/* The covariance of two sums over the cells, in units of noise^2. */
static double covariance(const cells *u, const cells *v) {
  double sum = 0;
  for (int c = 0; c < 2 * CELLS; c++) {
    int k = c % CELLS;
    sum += change(u->of[c / CELLS], k) * change(v->of[c / CELLS], k) / (fresh(k) * fresh(k));
  }
  return sum;
}

/* The same with how many rows there are, which is public without weights. */
static double variance(const counted *t, const cells *v) {
  double all = covariance(v, &t->ones);
  return covariance(v, v) - (isnan(t->rows) ? 0 : all * all / covariance(&t->ones, &t->ones));
}

static double deviation(double variance) { return variance > 0 ? sqrt(variance) : variance <= 0 ? 0 : NAN; }

static double noise_of(const counted *t, const cells *v) { return t->noise * deviation(variance(t, v)); }

static counted counts_of(const tct_scoring *s, const double *sum, double noise, double rows) {
  counted t = {.scoring = s, .noise = noise, .rows = s->weighed ? NAN : rows};
  for (int c = 0; c < 2 * CELLS; c++) {
    int k = c % CELLS;
    double next = k + 1 < CELLS ? kept(k + 1) * sum[c + 1] / fresh(k + 1) : 0;
    t.count.of[c / CELLS][k] = (sum[c] / fresh(k) - next) / s->part, t.ones.of[c / CELLS][k] = 1;
  }
  if (s->weighed) return t;
  /* What is missing of the known number of rows goes where it is likeliest to be missing. */
  double missing = (rows - product(&t.ones, &t.count)) / covariance(&t.ones, &t.ones);
  for (int c = 0; c < 2 * CELLS; c++) {
    cells one = {{{0}}};
    one.of[c / CELLS][c % CELLS] = 1;
    t.count.of[c / CELLS][c % CELLS] += missing * covariance(&one, &t.ones);
  }
  return t;
}

/* The mean of v, in [0, high], over those that `among` counts. */
static tct_figure mean_of(const counted *t, const cells *v, const cells *among, double high) {
  tct_figure out = {NAN, NAN, NAN, 0, high};
  double n = product(among, &t->count);
  if (!(n > 4 * noise_of(t, among))) return out; /* a quotient of less is no normal law */
  cells off = *v, squares = *v;
  out.value = product(v, &t->count) / n;
  for (int c = 0; c < 2 * CELLS; c++) {
    off.of[c / CELLS][c % CELLS] -= out.value * among->of[c / CELLS][c % CELLS];
    squares.of[c / CELLS][c % CELLS] *= v->of[c / CELLS][c % CELLS];
  }
  double inside = fmin(fmax(out.value, 0), high), spread = product(&squares, &t->count) / n - inside * inside;
  out.noise = noise_of(t, &off) / n;
  out.sampling = deviation(spread / n);
  return out;
}

/* Area under the ROC curve of margins rounded to cells, ties half; noise to first order.  Sampling: Hanley and McNeil
 * 1982. */
static tct_figure area(const counted *t, double positives, double negatives) {
  tct_figure out = {NAN, NAN, NAN, 0, 1};
  const double *minus = t->count.of[0], *plus = t->count.of[1];
  double below = 0, above = positives, a = 0;
  for (int c = 0; c < CELLS; below += minus[c++]) a += plus[c] * (below + minus[c] / 2) / (positives * negatives);
  cells slope;
  below = 0;
  for (int c = 0; c < CELLS; below += minus[c++]) {
    above -= plus[c];
    slope.of[0][c] = ((above + plus[c] / 2) / positives - a) / negatives;
    slope.of[1][c] = ((below + minus[c] / 2) / negatives - a) / positives;
  }
  double in = fmin(fmax(a, 0), 1), q1 = in / (2 - in), q2 = 2 * in * in / (1 + in);
  double spread = in * (1 - in) + (positives - 1) * (q1 - in * in) + (negatives - 1) * (q2 - in * in);
  out.value = a, out.noise = noise_of(t, &slope), out.sampling = deviation(spread / (positives * negatives));
  return out;
}

/* 1 in the cells from..to - 1 of one class, -1: of both; 0 in the others. */
static cells within(int label, int from, int to) {
  cells out = {{{0}}};
  for (int k = from; k < to; k++) out.of[0][k] = label != 1, out.of[1][k] = label != 0;
  return out;
}

static tct_figure count_of(const counted *t, const cells *v) {
  double value = product(v, &t->count), n = product(&t->ones, &t->count), part = fmin(fmax(value / n, 0), 1);
  return (tct_figure){value, noise_of(t, v), deviation(n * part * (1 - part)), 0, isnan(t->rows) ? INFINITY : t->rows};
}

static void read_curves(const counted *t, tct_figures *out) {
  cells whole[2] = {within(0, 0, CELLS), within(1, 0, CELLS)};
  for (int p = 0; p < TCT_SCORE_POINTS; p++)
    for (int label = 0; label < 2; label++) {
      cells above = within(label, TCT_SCORE_STEP * (p + 1), CELLS);
      out->above[p][label] = mean_of(t, &above, &whole[label], 1);
    }
  for (int g = 0; g < TCT_SCORE_POINTS + 1; g++) {
    int from = TCT_SCORE_STEP * g, to = from + TCT_SCORE_STEP;
    cells plus = within(1, from, to), both = within(-1, from, to);
    out->observed[g] = mean_of(t, &plus, &both, 1);
  }
  for (int label = 0; label < 2; label++)
    for (int side = 0; side < 2; side++) {
      cells v = within(label, side ? ZERO : 0, side ? CELLS : ZERO);
      out->confusion[label][side] = count_of(t, &v);
    }
}

tct_figures tct_score_read_cells(const tct_scoring *s, const double *sum, double noise, double rows) {
  const counted t = counts_of(s, sum, noise, rows);
  cells right = within(1, ZERO, CELLS), wrong = within(0, 0, ZERO), plus = within(1, 0, CELLS), loss;
  for (int k = 0; k < CELLS; k++) {
    double middle = tct_score_edge(s, k + 0.5);
    right.of[0][k] = wrong.of[0][k];
    for (int label = 0; label < 2; label++)
      loss.of[label][k] = fmin(tct_loss_value(&s->loss, middle, label ? 1 : -1), s->most);
  }
  double n = product(&t.ones, &t.count), positives = product(&plus, &t.count),
         hidden = fmax(1, 5 * noise_of(&t, &plus));
  tct_figures out = {.accuracy = mean_of(&t, &right, &t.ones, 1),
                     .auc = {NAN, NAN, NAN, 0, 1},
                     .mean_loss = mean_of(&t, &loss, &t.ones, s->most),
                     .positives = mean_of(&t, &plus, &t.ones, 1)};
  if (positives > hidden && n - positives > hidden) out.auc = area(&t, positives, n - positives);
  read_curves(&t, &out);
  return out;
}
