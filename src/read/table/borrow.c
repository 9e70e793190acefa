/* borrow.c - a table of records over a matrix and labels that the caller keeps. */
#include <math.h>

#include "core/alloc.h"
#include "read/table/data.h"

static tct_status check_labels(const double *y, int64_t rows, int kind, tct_error *err) {
  for (int64_t i = 0; i < rows; i++) {
    if (kind == TCT_LABELS_BINARY && y[i] != -1 && y[i] != 1) {
      return tct_fail_at(err, NULL, i + 1, 0, "a label is neither -1 nor +1; map the two classes to these");
    }
    if (!isfinite(y[i])) return tct_fail_at(err, NULL, i + 1, 0, "a label is not a finite number; correct it");
  }
  return TCT_OK;
}

static tct_status check_view(const tct_matrix *x, const double *y, int kind, tct_error *err) {
  if (!x) return tct_fail(err, TCT_E_USAGE, "there is no matrix; give one");
  if (kind < TCT_LABELS_NONE || kind > TCT_LABELS_REAL) {
    return tct_fail(err, TCT_E_USAGE, "the kind of labels is unknown; give one of tct_labels");
  }
  if (kind != TCT_LABELS_NONE && !y) return tct_fail(err, TCT_E_USAGE, "there are no labels; give one for every row");
  TCT_TRY(tct_matrix_check(x, err));
  return kind == TCT_LABELS_NONE ? TCT_OK : check_labels(y, x->rows, kind, err);
}

tct_data *tct_data_view(const tct_matrix *x, const double *y, int labels_kind, tct_error *err) {
  tct_error_clear(err);
  if (check_view(x, y, labels_kind, err) != TCT_OK) return NULL;
  tct_data *data = TCT_NEW(tct_data, 1);
  if (!data) {
    tct_fail_memory(err);
    return NULL;
  }
  data->x = *x;
  data->y = labels_kind == TCT_LABELS_NONE ? NULL : y;
  data->labels = labels_kind;
  data->label_low = data->label_high = NAN;
  return data;
}
