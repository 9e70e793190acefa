/* evaluate.c - exact scores of a model on a table: figures that are not private. */
#include "core/alloc.h"
#include "loss/loss.h"
#include "model/model.h"
#include "penalty/penalty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct scored {
  double margin;
  double label;
} scored;

typedef struct scores {
  int64_t rows;
  double loss, square; /* sums */
  int64_t right;
  double auc;     /* NAN where one class is absent */
  double penalty; /* value at the weights */
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
      target = tct_loss_within(&loss, target, m->label_bound);
    double miss = tct_loss_predicted(&loss, z) + m->label_shift - y;
    out->loss += tct_loss_value(&loss, z, target);
    out->square += loss.kind->follow_up ? NAN : miss * miss; /* of a time that was not seen to its end */
    out->right += (z > 0) == (y > 0);                        /* a margin of 0 predicts -1 */
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
  json_object_set_new(root, key, tct_json_finite(shown ? value : NAN));
}

/* One row of coefficients on labels -1 and +1, or numbers; out->penalty too. */
static tct_status score_row(const tct_model *m, const tct_data *data, const double *margin, scores *out,
                            tct_error *err) {
  TCT_TRY(score(m, data, margin, out, err));
  if (!out->rows) return tct_fail(err, TCT_E_DATA, "there is no valid record to evaluate; give data with at least one");
  return penalty_value(m, &out->penalty, err);
}

static json_t *write_scores(const tct_model *m, const scores *s) {
  int binary = m->labels == TCT_LABELS_BINARY;
  double n = (double)s->rows;
  json_t *root = json_object();
  json_object_set_new(root, "rows", json_integer(s->rows));
  set(root, "mean_loss", s->loss / n, 1);
  set(root, "objective", s->loss / n + s->penalty, 1);
  set(root, "accuracy", (double)s->right / n, binary);
  set(root, "auc", s->auc, binary);
  set(root, "mse", s->square / n, !binary);
  return root;
}

/* ---- several classes ------------------------------------------------------------------------------------------- */

/* Class k against the rest, by its own row. */
static tct_status score_class(const tct_model *m, const tct_data *data, const double *margin, int64_t k, scores *out,
                              tct_error *err) {
  int64_t rows = data->x.rows, models = m->models;
  double *own = TCT_NEW(double, rows), *label = TCT_NEW(double, rows);
  tct_status status = own && label ? TCT_OK : tct_fail_memory(err);
  tct_model row = tct_model_row(m, k);
  tct_data view = *data;
  view.y = label;
  for (int64_t i = 0; i < rows && status == TCT_OK; i++) {
    own[i] = margin[i * models + k];
    label[i] = data->y[i] == (double)k ? 1 : -1;
  }
  if (status == TCT_OK) status = score_row(&row, &view, own, out, err);
  tct_free(own);
  tct_wipe_free(label, rows, sizeof *label);
  return status;
}

static double accuracy_of(const tct_model *m, const tct_data *data, const double *margin) {
  int64_t right = 0, rows = 0;
  for (int64_t i = 0; i < data->x.rows; i++) {
    if (data->dropped && data->dropped[i]) continue;
    right += (double)tct_class_of(margin + i * m->models, m->models) == data->y[i];
    rows++;
  }
  return (double)right / (double)rows;
}

/* The mean loss of a joint loss: of all margins of a record at once. */
static tct_status joint_loss(const tct_model *m, const tct_loss *loss, const tct_data *data, const double *margin,
                             double *out, tct_error *err) {
  double *z = TCT_NEW(double, m->models), sum = 0;
  int64_t rows = 0;
  if (!z) return tct_fail_memory(err);
  for (int64_t i = 0; i < data->x.rows; i++) {
    if (data->dropped && data->dropped[i]) continue;
    memcpy(z, margin + i * m->models, (size_t)m->models * sizeof *z);
    sum += loss->kind->joint(z, m->models, (int64_t)data->y[i]);
    rows++;
  }
  *out = sum / (double)rows;
  tct_free(z);
  return TCT_OK;
}

/* Means over the classes, each against the rest; accuracy is that of the one predicted class. */
static tct_status score_all(const tct_model *m, const tct_data *data, const double *margin, json_t **root,
                            tct_error *err) {
  double loss = 0, objective = 0, auc = 0, classes = (double)m->models;
  tct_loss joint;
  TCT_TRY(tct_loss_make(m->loss, &joint, err));
  json_t *list = json_array();
  tct_status status = TCT_OK;
  int64_t rows = 0;
  for (int64_t k = 0; k < m->models && status == TCT_OK; k++) {
    scores s = {0};
    status = score_class(m, data, margin, k, &s, err);
    if (status != TCT_OK) break;
    json_t *one = write_scores(m, &s);
    json_object_del(one, "rows");
    json_object_del(one, "mse");
    if (joint.kind->joint)
      json_object_del(one, "mean_loss"), json_object_del(one, "objective"), json_object_del(one, "accuracy");
    json_object_set_new(one, "class", json_string(m->classes.name[k]));
    json_array_append_new(list, one);
    loss += s.loss / (double)s.rows, objective += s.loss / (double)s.rows + s.penalty, auc += s.auc, rows = s.rows;
  }
  if (status == TCT_OK && joint.kind->joint) {
    double penalty = objective - loss; /* over all classes, each of which has its own */
    status = joint_loss(m, &joint, data, margin, &loss, err);
    loss *= classes, objective = loss + penalty * classes;
  }
  *root = json_object();
  json_object_set_new(*root, "rows", json_integer(rows));
  set(*root, "mean_loss", loss / classes, 1);
  set(*root, "objective", objective / classes, 1);
  set(*root, "accuracy", accuracy_of(m, data, margin), 1);
  set(*root, "auc", auc / classes, 1);
  set(*root, "mse", NAN, 0);
  json_object_set_new(*root, "classes", list);
  return status;
}

/* ---- the interface --------------------------------------------------------------------------------------------- */

static bool has_other_class(const tct_model *m, const tct_data *data) {
  for (int64_t i = 0; i < data->x.rows && m->models > 1; i++)
    if (!(data->y[i] >= 0 && data->y[i] < (double)m->models) && !(data->dropped && data->dropped[i])) return true;
  return false;
}

static tct_status check(const tct_model *m, const tct_data *data, tct_error *err) {
  int32_t wanted = m->models > 1 ? TCT_LABELS_CLASSES : m->labels;
  if (!data->y || data->labels != wanted)
    return tct_fail(err, TCT_E_USAGE,
                    "the data were read without the labels that this model's loss needs; name the label column%s",
                    m->models > 1 ? ", and the model's classes" : "");
  if (m->classes.count && data->classes.count && !tct_class_names_same(&m->classes, &data->classes))
    return tct_fail(err, TCT_E_USAGE,
                    "the data were read with other classes than the model has, or in another order; read them with "
                    "the model's own");
  if (has_other_class(m, data))
    return tct_fail(err, TCT_E_DATA, "a label is no class of this model; number the classes from 0 in its order");
  return TCT_OK;
}

char *tct_evaluate_json_nonprivate(const tct_model *model, const tct_data *data, tct_error *err) {
  scores s = {0};
  json_t *root = NULL;
  tct_error_clear(err);
  if (check(model, data, err) != TCT_OK) return NULL;
  double *margin = TCT_NEW(double, data->x.rows *tct_model_models(model));
  tct_status status = margin ? tct_model_margins(model, data, margin, err) : tct_fail_memory(err);
  if (status == TCT_OK && model->models > 1) {
    status = score_all(model, data, margin, &root, err);
  } else if (status == TCT_OK) {
    status = score_row(model, data, margin, &s, err);
    if (status == TCT_OK) root = write_scores(model, &s);
  }
  tct_free(margin);
  if (status == TCT_OK) json_object_set_new(root, "private", json_false());
  char *text = status == TCT_OK ? tct_json_dump(root, JSON_INDENT(2)) : NULL;
  json_decref(root);
  if (!text && status == TCT_OK) tct_fail_memory(err);
  return text;
}
