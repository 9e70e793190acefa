/* export.c - a model in LIBLINEAR's text form.
 *
 * The form has no place for transforms, so those of columns are folded into the weights:
 * w.((x - shift)*factor) + b = (w*factor).x + (b - sum w*factor*shift).  What is scaled per record (the
 * norm clip) multiplies a margin by a positive number and changes no label.  Values beyond the bounds
 * of the scale `bounds` are clipped by the model, and not by the form.  Features are those of
 * the model, after its schema. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "core/spec.h"
#include "loss/loss.h"
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* LIBLINEAR's name, which tells readers how to map margins to labels: the loss's own, else one of the same labels. */
static const char *solver_type(const tct_model *m) {
  tct_loss loss;
  if (tct_loss_make(m->loss, &loss, NULL) == TCT_OK && loss.kind->liblinear) return loss.kind->liblinear;
  return m->labels == TCT_LABELS_REAL ? "L2R_L2LOSS_SVR" : "L2R_L2LOSS_SVC";
}

static double folded_weight(const tct_model *m, int64_t j) {
  return m->scale_factor ? m->coefficients[j] * m->scale_factor[j] : m->coefficients[j];
}

static double folded_bias(const tct_model *m) {
  double bias = m->intercept + (m->labels == TCT_LABELS_REAL ? m->label_shift : 0);
  for (int64_t j = 0; m->scale_shift && j < m->cols; j++) bias -= folded_weight(m, j) * m->scale_shift[j];
  return bias;
}

static void put_number(FILE *file, double value) {
  char text[40];
  tct_print_real(value, text, sizeof text);
  fprintf(file, "%s ", text);
}

/* The weights of one feature, or the biases, of all classes stand in one line. */
static void put_line(FILE *file, const tct_model *m, int64_t j) {
  for (int64_t k = 0; k < tct_model_models(m); k++) {
    tct_model row = tct_model_row(m, k);
    put_number(file, j < m->cols ? folded_weight(&row, j) : folded_bias(&row));
  }
  fputc('\n', file);
}

static bool is_whole_number(const char *name) {
  char *end = NULL;
  errno = 0;
  long value = strtol(name, &end, 10);
  return errno == 0 && end != name && !*end && value >= INT32_MIN && value <= INT32_MAX;
}

/* The form knows whole numbers only: other names become 1, 2, 3, ... in the model's order. */
static void put_labels(FILE *file, const tct_model *m) {
  bool whole = m->classes.kind == TCT_CLASS_NUMBER;
  for (int64_t k = 0; k < m->models; k++) whole &= is_whole_number(m->classes.name[k]);
  fputs("label", file);
  for (int64_t k = 0; k < m->models; k++) {
    if (whole)
      fprintf(file, " %s", m->classes.name[k]);
    else
      fprintf(file, " %lld", (long long)k + 1);
  }
  fputc('\n', file);
}

static bool is_biased(const tct_model *m) {
  bool biased = m->has_intercept != 0;
  for (int64_t k = 0; k < tct_model_models(m); k++) {
    tct_model row = tct_model_row(m, k);
    biased |= folded_bias(&row) != 0;
  }
  return biased;
}

tct_status tct_export_liblinear(const tct_model *model, const char *path, tct_error *err) {
  tct_outfile out;
  tct_loss loss;
  tct_error_clear(err);
  if (tct_loss_make(model->loss, &loss, NULL) == TCT_OK && loss.kind->link == TCT_LINK_LOG)
    return tct_fail(err, TCT_E_USAGE,
                    "LIBLINEAR has no model whose prediction is e to the margin, as that of the loss %s is; keep the "
                    "model file",
                    loss.kind->name);
  bool biased = is_biased(model);
  int64_t models = tct_model_models(model);
  TCT_TRY(tct_outfile_open(&out, path, TCT_OUT_STREAM, tct_inputs_list(&model->inputs), err));
  fprintf(out.file, "solver_type %s\nnr_class %lld\n", solver_type(model), (long long)(models > 1 ? models : 2));
  if (models > 1)
    put_labels(out.file, model);
  else if (model->labels != TCT_LABELS_REAL)
    fputs("label 1 -1\n", out.file);
  fprintf(out.file, "nr_feature %lld\nbias %d\nw\n", (long long)model->cols, biased ? 1 : -1);
  for (int64_t j = 0; j < model->cols; j++) put_line(out.file, model, j);
  if (biased) put_line(out.file, model, model->cols);
  return tct_outfile_commit(&out, err);
}
