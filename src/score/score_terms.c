/* score_terms.c - what one record adds to the vector of scores.
 *
 * PROOF of the length.  Two classes: score_cells.c.  Real labels: three numbers in [0, 1], whose squares sum to at most
 * 3.  More classes: whether the prediction is right, and the loss over its bound.  Where the prediction is right the
 * loss is cut to that of an even one, a share q of the bound (1 without probabilities), so the squares sum to at most 1
 * + q^2.  Follow-up times: a cell, 1.  With weights one number more, the 1 that the weight multiplies.  Each number is
 * multiplied by `part`, the root of 1 over that sum, less a little: products of doubles round by less than that.  A
 * weight of at most 1 and truncation to the lattice shorten. */
#include "score/score.h"

#include "la/matrix/lattice.h"

#include <math.h>

static const double LESS = 1 - 1e-12;

/* A probability is cut where a model of two classes cuts its log-odds: at the same share of an even one. */
static void set_several(tct_scoring *s) {
  s->likely = s->loss.kind->joint || s->loss.kind->link == TCT_LINK_LOGISTIC;
  s->even = s->likely ? log((double)s->classes) : s->most;
  if (s->likely) s->most = s->even + 6 - log(2);
}

tct_status tct_scoring_make(const tct_model *model, bool weighed, tct_scoring *out, tct_error *err) {
  int64_t models = tct_model_models(model);
  *out = (tct_scoring){.model = model, .weighed = weighed, .classes = models > 1 ? models : 0};
  out->binary = model->labels == TCT_LABELS_BINARY && !out->classes;
  if (model->labels != TCT_LABELS_BINARY && (model->labels != TCT_LABELS_REAL || out->classes))
    return tct_fail(err, TCT_E_USAGE, "private scores are known for classes and for numbers; take a model of these");
  TCT_TRY(tct_loss_make(model->loss, &out->loss, err));
  out->followed = out->loss.kind->follow_up;
  bool beside = weighed && !out->binary;
  out->len = (out->binary     ? TCT_SCORE_BINARY
              : out->classes  ? TCT_SCORE_SEVERAL
              : out->followed ? TCT_SCORE_FOLLOWED
                              : TCT_SCORE_REAL) +
             beside;
  /* Log-odds are told apart up to 6 (1 in 400); other margins are of the order of the label, 1. */
  out->span = out->loss.kind->link == TCT_LINK_LOGISTIC ? 6 : 2;
  bool joint = out->classes && out->loss.kind->joint; /* of one margin it has no value */
  out->most = joint ? 1 : fmax(1, tct_loss_value(&out->loss, -out->span, 1));
  out->even = joint ? 1 : fmin(out->most, tct_loss_value(&out->loss, 0, 1));
  if (out->classes) set_several(out);
  double q = out->even / out->most;
  out->part = LESS / sqrt((out->binary || out->followed ? 1 : out->classes ? 1 + q * q : 3) + beside);
  out->bound = model->label_bound;
  if (out->followed) tct_scoring_set_cells(out);
  if (out->binary || out->classes || (isfinite(out->bound) && out->bound > 0)) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE,
                  "the model has no public bound of its labels, so that no private score is known; train with "
                  "{label_bound} or a schema");
}

/* In [0, 1]; a NaN is the worst. */
static double unit(double value, double worst) { return value >= 0 ? fmin(value, 1) : value < 0 ? 0 : worst; }

/* What every number of a term is multiplied by, and cut to. */
typedef struct scale {
  double factor, lattice;
} scale;

static void add(scale by, double value, double *to) {
  double term = by.factor * value;
  *to += by.lattice > 0 ? tct_lattice_part(term, by.lattice) : term;
}

/* Minus the logarithm of the true class's probability: margins are log-odds against the rest, or of all classes. */
static double log_loss(const tct_scoring *s, const double *margin, int64_t label) {
  double largest = -INFINITY, sum = 0, own = NAN;
  for (int turn = 0; turn < 2; turn++)
    for (int64_t k = 0; k < s->classes; k++) {
      double a = s->loss.kind->joint ? margin[k] : -tct_loss_value(&s->loss, margin[k], 1);
      if (turn == 0)
        largest = fmax(largest, a);
      else
        sum += exp(a - largest);
      if (k == label) own = a;
    }
  return largest + log(sum) - own;
}

/* The mean over the classes, each against the rest, each cut. */
static double mean_loss(const tct_scoring *s, const double *margin, int64_t label) {
  double sum = 0;
  for (int64_t k = 0; k < s->classes; k++)
    sum += unit(tct_loss_value(&s->loss, margin[k], k == label ? 1 : -1) / s->most, 1);
  return s->most * sum / (double)s->classes;
}

/* A label that is no class of the model is predicted wrongly, with the largest loss. */
static void add_several(const tct_scoring *s, const double *margin, double label, scale by, double *sum) {
  bool known = label >= 0 && label < (double)s->classes;
  int64_t own = known ? (int64_t)label : -1;
  bool right = known && tct_class_of(margin, tct_model_models(s->model)) == own;
  double loss = !known ? NAN : s->likely ? log_loss(s, margin, own) : mean_loss(s, margin, own);
  add(by, right, &sum[TCT_SCORE_HIT]);
  add(by, fmin(unit(loss / s->most, 1), right ? s->even / s->most : 1), &sum[TCT_SCORE_MISS]);
}

static void add_real(const tct_scoring *s, double margin, double label, scale by, double *sum) {
  double target = 2 * unit((label - s->model->label_shift + s->bound) / (2 * s->bound), 0) - 1; /* in [-1, 1] */
  double guess = 2 * unit((tct_loss_predicted(&s->loss, margin) + s->bound) / (2 * s->bound), 0) - 1;
  double miss = (guess - target) / 2;
  add(by, unit(miss * miss, 1), &sum[TCT_SCORE_SQUARE]);
  add(by, unit((target + 1) / 2, 1), &sum[TCT_SCORE_LABEL]);
  add(by, unit(target * target, 1), &sum[TCT_SCORE_LABEL2]);
}

void tct_scoring_add(const tct_scoring *scoring, const double *margin, double label, double weight, double lattice,
                     double *sum) {
  scale by = {scoring->part * weight, lattice};
  if (scoring->binary) {
    tct_score_add_cell(scoring, *margin, label, weight, lattice, sum);
    return;
  }
  if (scoring->classes)
    add_several(scoring, margin, label, by, sum);
  else if (scoring->followed)
    add(by, 1, &sum[tct_scoring_cell(scoring, *margin, label)]);
  else
    add_real(scoring, *margin, label, by, sum);
  if (scoring->weighed) add(by, 1, &sum[scoring->len - 1]);
}

/* ---- what the noisy sum says ------------------------------------------------------------------------ */

/* NaN stays: an error that cannot be computed is not known, never small. */
static double clamp(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static double deviation(double variance) { return sqrt(clamp(variance, 0, INFINITY)); }

/* A mean of numbers in [0, 1] has a variance of at most value*(1 - value), over the number of records.  Of weighed ones
 * too, with the sum of the weights in its place: a person's share of that is at most 1.  That sum has noise of its own,
 * which a slope of `value` takes on. */
static tct_figure share(const tct_scoring *s, double count, double noise, double rows) {
  double value = count / rows, inside = clamp(value, 0, 1), own = s->weighed ? hypot(1, inside) : 1;
  return (tct_figure){value, own * noise / rows, deviation(inside * (1 - inside) / rows), 0, 1};
}

static tct_figure times(tct_figure f, double factor) {
  return (tct_figure){f.value * factor, f.noise * factor, f.sampling * factor, f.low, f.high * factor};
}

static tct_figures read_several(const tct_scoring *s, const double *sum, double noise, double rows) {
  tct_figure loss = times(share(s, sum[TCT_SCORE_MISS] / s->part, noise, rows), s->most);
  tct_figures out = {.accuracy = share(s, sum[TCT_SCORE_HIT] / s->part, noise, rows)};
  *(s->likely ? &out.log_loss : &out.mean_loss) = loss;
  return out;
}

/* The sum of the weights has noise too.  Means of numbers in [0, 1] then have at most twice the variance.  The spread
 * of the labels, a difference of two, has at most 2.2 times: the largest over what the means can be. */
static const double OF_A_RATIO = 1.5;

static tct_figures read_real(const tct_scoring *s, const double *sum, double noise, double rows) {
  double width = 2 * s->bound, unit_noise = noise / rows;
  if (s->weighed) unit_noise *= OF_A_RATIO;
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

static tct_figures read_followed(const tct_scoring *s, const double *sum, double noise) {
  double cell[TCT_SCORE_FOLLOWED];
  for (int k = 0; k < TCT_SCORE_FOLLOWED; k++) cell[k] = sum[k] / s->part;
  return (tct_figures){.c_index = tct_scoring_concordance(cell, noise)};
}

tct_figures tct_scoring_read(const tct_scoring *scoring, const double *sum, double deviation, int64_t rows) {
  double noise = deviation / scoring->part, n = (double)rows;
  if (scoring->binary) return tct_score_read_cells(scoring, sum, noise, n);
  if (scoring->weighed) n = sum[scoring->len - 1] / scoring->part;
  if (!(n > 5 * noise) && scoring->weighed) n = NAN; /* hidden: so is every mean */
  return scoring->classes    ? read_several(scoring, sum, noise, n)
         : scoring->followed ? read_followed(scoring, sum, noise)
                             : read_real(scoring, sum, noise, n);
}
