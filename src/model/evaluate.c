/* evaluate.c - exact scores of a model on a table: figures that are not private. */
#include "core/alloc.h"
#include "loss/loss.h"
#include "model/model.h"
#include "penalty/penalty.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct scored {
  double margin;
  double label;
} scored;

typedef struct scores {
  int64_t rows;
  double loss, square; /* sums */
  int64_t right;
  double auc; /* NAN where one class is absent */
} scores;

static int by_margin(const void *a, const void *b) {
  double x = ((const scored *)a)->margin, y = ((const scored *)b)->margin;
  return (x > y) - (x < y);
}

/* Area under the ROC curve, ties counted half, in whole numbers: twice the number of pairs (negative,
 * positive) that are ordered rightly. */
static double area(scored *at, int64_t n) {
  qsort(at, (size_t)n, sizeof *at, by_margin);
  int64_t twice = 0, negatives = 0, positives = 0;
  for (int64_t i = 0; i < n;) {
    int64_t end = i, plus = 0;
    while (end < n && at[end].margin == at[i].margin) plus += at[end++].label > 0;
    int64_t minus = end - i - plus;
    twice += plus * (2 * negatives + minus);
    negatives += minus;
    positives += plus;
    i = end;
  }
  return negatives && positives ? (double)twice / 2 / ((double)negatives * (double)positives) : NAN;
}

/* Means are taken over the records that were read whole; a record dropped by `--invalid zero` counts nowhere. */
static tct_status score(const tct_model *m, const tct_data *data, const double *margin, scores *out, tct_error *err) {
  tct_loss loss;
  TCT_TRY(tct_loss_make(m->loss, &loss, err));
  scored *kept = TCT_NEW(scored, data->x.rows);
  if (!kept) return tct_fail_memory(err);
  int64_t n = 0;
  for (int64_t i = 0; i < data->x.rows; i++) {
    if (data->dropped && data->dropped[i]) continue;
    double z = margin[i], y = data->y[i];
    double target = m->labels == TCT_LABELS_REAL ? y - m->label_shift : y; /* as the training saw it */
    if (m->labels == TCT_LABELS_REAL && isfinite(m->label_bound))
      target = fmin(fmax(target, loss.kind->counts ? 0 : -m->label_bound), m->label_bound);
    double miss = (loss.kind->link == TCT_LINK_LOG ? exp(z) : z + m->label_shift) - y;
    out->loss += tct_loss_value(&loss, z, target);
    out->square += miss * miss;
    out->right += (z > 0) == (y > 0); /* a margin of 0 predicts -1 */
    kept[n++] = (scored){z, y};
  }
  out->rows = n;
  out->auc = m->labels == TCT_LABELS_BINARY ? area(kept, n) : NAN;
  tct_free(kept);
  return TCT_OK;
}

static tct_status penalty_value(const tct_model *m, double *value, tct_error *err) {
  tct_penalty penalty;
  TCT_TRY(tct_penalty_make(m->penalty, &penalty, err));
  int64_t p = m->cols + (m->has_intercept && m->penalised_intercept);
  double *w = TCT_NEW(double, p);
  if (!w) return tct_fail_memory(err);
  for (int64_t j = 0; j < m->cols; j++) w[j] = m->coefficients[j];
  if (p > m->cols) w[m->cols] = m->intercept;
  *value = penalty.kind->value(&penalty, w, p);
  tct_free(w);
  return TCT_OK;
}

static void set(json_t *root, const char *key, double value, int shown) {
  json_object_set_new(root, key, shown && isfinite(value) ? json_real(value) : json_null());
}

static char *write_scores(const tct_model *m, const scores *s, double penalty, tct_error *err) {
  int binary = m->labels == TCT_LABELS_BINARY;
  double n = (double)s->rows;
  json_t *root = json_object();
  json_object_set_new(root, "rows", json_integer(s->rows));
  set(root, "mean_loss", s->loss / n, 1);
  set(root, "objective", s->loss / n + penalty, 1);
  set(root, "accuracy", (double)s->right / n, binary);
  set(root, "auc", s->auc, binary);
  set(root, "mse", s->square / n, !binary);
  json_object_set_new(root, "private", json_false());
  char *text = json_dumps(root, JSON_INDENT(2));
  json_decref(root);
  if (!text) tct_fail_memory(err);
  return text;
}

char *tct_evaluate_json_nonprivate(const tct_model *model, const tct_data *data, tct_error *err) {
  scores s = {0};
  double penalty = 0;
  char *text = NULL;
  tct_error_clear(err);
  if (!data->y || data->labels != model->labels) {
    tct_fail(err, TCT_E_USAGE,
             "the data were read without the labels that this model's loss needs; name the label column");
    return NULL;
  }
  double *margin = TCT_NEW(double, data->x.rows);
  tct_status status = margin ? tct_model_margins(model, data, margin, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = score(model, data, margin, &s, err);
  if (status == TCT_OK && !s.rows)
    status = tct_fail(err, TCT_E_DATA, "there is no valid record to evaluate; give data with at least one");
  if (status == TCT_OK) status = penalty_value(model, &penalty, err);
  if (status == TCT_OK) text = write_scores(model, &s, penalty, err);
  tct_free(margin);
  return text;
}
