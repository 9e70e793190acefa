/* score_terms.c - what one record adds to the vector of scores.
 *
 * PROOF of the length.  Two classes: a cell, whether the prediction is right, and the loss over its bound are numbers
 * in [0, 1]; the other cells are 0.  Where the prediction is right the loss is cut to its value at margin 0, a share q
 * of the bound.  So the squares sum to at most 1 + 1 + q^2, right or wrong.  Real labels: three numbers in [0, 1],
 * whose squares sum to at most 3.  Each number is multiplied by `part`, the root of 1 over that sum, less a little:
 * products of doubles round by less than that.  Truncation to the lattice shortens. */
#include "score/score.h"

#include "la/matrix/lattice.h"

#include <math.h>

static const double LESS = 1 - 1e-12;

tct_status tct_scoring_make(const tct_model *model, tct_scoring *out, tct_error *err) {
  *out = (tct_scoring){.model = model, .binary = model->labels == TCT_LABELS_BINARY};
  if ((model->labels != TCT_LABELS_BINARY && model->labels != TCT_LABELS_REAL) || model->models > 1)
    return tct_fail(err, TCT_E_USAGE, "private scores are known for two classes and for numbers, not for more classes");
  TCT_TRY(tct_loss_make(model->loss, &out->loss, err));
  out->len = out->binary ? TCT_SCORE_BINARY : TCT_SCORE_REAL;
  /* Log-odds are told apart up to 6 (1 in 400); other margins are of the order of the label, 1. */
  out->span = out->loss.kind->link == TCT_LINK_LOGISTIC ? 6 : 2;
  out->most = fmax(1, tct_loss_value(&out->loss, -out->span, 1));
  out->even = fmin(out->most, tct_loss_value(&out->loss, 0, 1));
  double q = out->even / out->most;
  out->part = LESS / sqrt(out->binary ? 2 + q * q : 3);
  out->bound = model->label_bound;
  if (out->binary || (isfinite(out->bound) && out->bound > 0)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the model has no public bound of its labels, so that no private score is known; train with "
                  "--label-bound or a schema");
}

/* In [0, 1]; a NaN is the worst. */
static double unit(double value, double worst) { return value >= 0 ? fmin(value, 1) : value < 0 ? 0 : worst; }

static void add(const tct_scoring *s, double value, double lattice, double *to) {
  double term = s->part * value;
  *to += lattice > 0 ? tct_lattice_part(term, lattice) : term;
}

static void add_binary(const tct_scoring *s, double margin, double label, double lattice, double *sum) {
  int cell = (int)(unit((margin + s->span) / (2 * s->span), 0) * TCT_SCORE_CELLS);
  if (cell == TCT_SCORE_CELLS) cell--;
  bool right = (margin > 0) == (label > 0);
  double loss = tct_loss_value(&s->loss, margin, label > 0 ? 1 : -1) / s->most;
  add(s, 1, lattice, &sum[(label > 0 ? TCT_SCORE_CELLS : 0) + cell]);
  add(s, right, lattice, &sum[TCT_SCORE_RIGHT]);
  add(s, fmin(unit(loss, 1), right ? s->even / s->most : 1), lattice, &sum[TCT_SCORE_LOSS]);
}

static void add_real(const tct_scoring *s, double margin, double label, double lattice, double *sum) {
  double target = 2 * unit((label - s->model->label_shift + s->bound) / (2 * s->bound), 0) - 1; /* in [-1, 1] */
  double guess = 2 * unit((margin + s->bound) / (2 * s->bound), 0) - 1;
  double miss = (guess - target) / 2;
  add(s, unit(miss * miss, 1), lattice, &sum[TCT_SCORE_SQUARE]);
  add(s, unit((target + 1) / 2, 1), lattice, &sum[TCT_SCORE_LABEL]);
  add(s, unit(target * target, 1), lattice, &sum[TCT_SCORE_LABEL2]);
}

void tct_scoring_add(const tct_scoring *scoring, double margin, double label, double lattice, double *sum) {
  if (scoring->binary)
    add_binary(scoring, margin, label, lattice, sum);
  else
    add_real(scoring, margin, label, lattice, sum);
}

/* ---- what the noisy sum says ------------------------------------------------------------------------ */

/* NaN stays: an error that cannot be computed is not known, never small. */
static double clamp(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static double deviation(double variance) { return sqrt(clamp(variance, 0, INFINITY)); }

static double cell_middle(const tct_scoring *s, int cell) { return s->span * ((2.0 * cell + 1) / TCT_SCORE_CELLS - 1); }

/* Area under the ROC curve of margins rounded to cells, ties half, with the deviation that noise of deviation `noise`
 * in every cell makes to first order.  Sampling: Hanley and McNeil 1982. */
static tct_figure area(const double *minus, const double *plus, double noise) {
  tct_figure out = {NAN, NAN, NAN, 0, 1};
  double below = 0, above = 0, sum = 0, slopes = 0, all_minus = 0, all_plus = 0;
  for (int c = 0; c < TCT_SCORE_CELLS; c++) all_minus += minus[c], all_plus += plus[c];
  double hidden = 5 * noise * sqrt(TCT_SCORE_CELLS);
  if (!(all_minus > fmax(hidden, 1) && all_plus > fmax(hidden, 1))) return out;
  for (int c = 0; c < TCT_SCORE_CELLS; below += minus[c++]) sum += plus[c] * (below + minus[c] / 2);
  double a = sum / (all_minus * all_plus);
  below = 0, above = all_plus;
  for (int c = 0; c < TCT_SCORE_CELLS; c++) {
    above -= plus[c];
    double by_plus = (below + minus[c] / 2) / all_minus - a, by_minus = (above + plus[c] / 2) / all_plus - a;
    slopes += by_plus * by_plus / (all_plus * all_plus) + by_minus * by_minus / (all_minus * all_minus);
    below += minus[c];
  }
  double c = clamp(a, 0, 1), q1 = c / (2 - c), q2 = 2 * c * c / (1 + c);
  double spread = c * (1 - c) + (all_plus - 1) * (q1 - c * c) + (all_minus - 1) * (q2 - c * c);
  out.value = a;
  out.noise = noise * sqrt(slopes);
  out.sampling = deviation(spread / (all_minus * all_plus));
  return out;
}

static tct_figure share(double count, double noise, double rows) {
  double value = count / rows, inside = clamp(value, 0, 1);
  return (tct_figure){value, noise / rows, deviation(inside * (1 - inside) / rows), 0, 1};
}

static tct_figures read_binary(const tct_scoring *s, const double *sum, double noise, double rows) {
  double minus[TCT_SCORE_CELLS], plus[TCT_SCORE_CELLS], positives = 0, squares = 0;
  for (int c = 0; c < TCT_SCORE_CELLS; c++) {
    minus[c] = sum[c] / s->part, plus[c] = sum[TCT_SCORE_CELLS + c] / s->part;
    double at = cell_middle(s, c), wrong = fmin(tct_loss_value(&s->loss, at, -1), s->most),
           right = fmin(tct_loss_value(&s->loss, at, 1), s->most);
    squares += (minus[c] * wrong * wrong + plus[c] * right * right) / rows;
    positives += plus[c];
  }
  double loss = s->most * sum[TCT_SCORE_LOSS] / s->part / rows;
  return (tct_figures){
      .accuracy = share(sum[TCT_SCORE_RIGHT] / s->part, noise, rows),
      .auc = area(minus, plus, noise),
      .mean_loss = {loss, s->most * noise / rows, deviation((squares - loss * loss) / rows), 0, s->most},
      .positives = share(positives, noise * sqrt(TCT_SCORE_CELLS), rows),
  };
}

static tct_figures read_real(const tct_scoring *s, const double *sum, double noise, double rows) {
  double width = 2 * s->bound, unit_noise = noise / rows;
  double miss = sum[TCT_SCORE_SQUARE] / s->part / rows, mean = 2 * sum[TCT_SCORE_LABEL] / s->part / rows - 1;
  double spread = sum[TCT_SCORE_LABEL2] / s->part / rows - mean * mean; /* of the labels, in units of bound^2 */
  /* An error is in [0, 1] in these units, so its variance is at most mean*(1 - mean). */
  double inside = clamp(miss, 0, 1), sampling = deviation(inside * (1 - inside) / rows);
  double spread_noise = unit_noise * sqrt(1 + 16 * mean * mean), ratio = 4 * miss / spread;
  tct_figures out = {
      .mse = {miss * width * width, unit_noise * width * width, sampling * width * width, 0, width * width},
      .r2 = {NAN, NAN, NAN, -INFINITY, 1}};
  if (!(spread > 5 * spread_noise)) return out;
  out.r2.value = 1 - ratio;
  out.r2.noise = sqrt(16 * unit_noise * unit_noise + ratio * ratio * spread_noise * spread_noise) / spread;
  out.r2.sampling = 4 * sampling / spread;
  return out;
}

tct_figures tct_scoring_read(const tct_scoring *scoring, const double *sum, double deviation, int64_t rows) {
  double noise = deviation / scoring->part, n = (double)rows;
  return scoring->binary ? read_binary(scoring, sum, noise, n) : read_real(scoring, sum, noise, n);
}
