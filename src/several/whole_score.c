/* whole_score.c - what a model scores on records, as a whole number that one record moves by a known amount.
 *
 * SENSITIVITY  A record's term is a whole number from 0 to `most`, a function of that record, the released model and
 * public numbers.  So one record, removed, added or replaced, moves the sum by at most `most`.  A term with a weight v
 * in [0, 1] is rounded down after it was multiplied by v.  The weights of a person's records sum to at most 1
 * (weigh.c), so that the terms of all of them sum to at most `most` too.  The sum itself is exact, and is never
 * released: it goes into tct_choose alone. */
#include "core/alloc.h"
#include "several/composition.h"

#include <math.h>

static const double GRAIN = 1 << 20; /* finer than any noise that a choice has */

tct_status tct_whole_score_most(const tct_model *model, bool weighed, double *most, tct_error *err) {
  bool real = model->labels == TCT_LABELS_REAL;
  *most = real || weighed ? GRAIN : 1;
  if (!real || (isfinite(model->label_bound) && model->label_bound > 0)) return TCT_OK;
  return tct_fail(
      err, TCT_E_USAGE,
      "the labels have no public bound, so that no score is known; give {label_bound}, or a schema that has "
      "one");
}

/* Where labels and predictions are cut to. */
typedef struct ends {
  double low, high;
  tct_loss loss;
} ends;

static tct_status ends_of(const tct_model *m, ends *out, tct_error *err) {
  TCT_TRY(tct_loss_make(m->loss, &out->loss, err));
  out->low = out->loss.kind->link == TCT_LINK_LOG ? 0 : m->label_shift - m->label_bound;
  out->high = m->label_shift + m->label_bound;
  return TCT_OK;
}

static double cut(const ends *e, double value) { return fmin(fmax(value, e->low), e->high); }

/* In [0, 1].  A margin that is no number predicts the lower end. */
static double real_part(const tct_model *m, const ends *e, double margin, double label) {
  double guess = tct_loss_predicted(&e->loss, margin) + m->label_shift;
  double error = (cut(e, guess) - cut(e, label)) / (e->high - e->low);
  return 1 - error * error;
}

static bool is_right(const tct_model *m, const double *margin, double label) {
  int64_t models = tct_model_models(m), best = tct_class_of(margin, models);
  return models > 1 ? (double)best == label : (best == 1) == (label > 0);
}

tct_status tct_whole_score(const tct_model *model, const tct_data *data, double *score, tct_error *err) {
  int64_t models = tct_model_models(model), count = data->x.rows * models;
  double most = 0, sum = 0;
  ends e = {.high = 1};
  TCT_TRY(tct_whole_score_most(model, data->weight != NULL, &most, err));
  if (model->labels == TCT_LABELS_REAL) TCT_TRY(ends_of(model, &e, err));
  double *margin = TCT_NEW(double, count);
  tct_status status = margin ? tct_model_margins(model, data, margin, err) : tct_fail_memory(err);
  for (int64_t i = 0; i < data->x.rows && status == TCT_OK; i++) {
    if (data->dropped && data->dropped[i]) continue;
    const double *own = margin + i * models;
    double part =
        model->labels == TCT_LABELS_REAL ? real_part(model, &e, *own, data->y[i]) : is_right(model, own, data->y[i]);
    sum += floor(most * (data->weight ? data->weight[i] * part : part));
  }
  *score = sum;
  tct_wipe_free(margin, margin ? count : 0, sizeof *margin);
  return status;
}
