/* original.c - what each step from a table's column to a feature did, undone. */
#include "summary/original.h"

#include "core/alloc.h"
#include "read/schema/schema.h"

#include <string.h>

/* A bounded number became scale*(v - lower)/(upper - lower) + shift; an indicator is what it was. */
static void undo_schema(const tct_schema *schema, tct_original *out, int64_t cols) {
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    if (column->kind != TCT_COLUMN_NUMBER || column->raw || column->first >= cols) continue;
    double width = column->upper - column->lower, range = schema->symmetric ? 2 : 1;
    out->slope[column->first] = range / width;
    out->move[column->first] = -range * column->lower / width - (schema->symmetric ? 1 : 0);
  }
}

tct_status tct_original_new(const tct_model *model, tct_original *out, tct_error *err) {
  *out = (tct_original){.slope = TCT_NEW(double, model->cols), .move = TCT_NEW(double, model->cols)};
  if (!out->slope || !out->move) return tct_fail_memory(err);
  for (int64_t j = 0; j < model->cols; j++) out->slope[j] = 1;
  if (model->schema) {
    tct_schema schema;
    TCT_TRY(tct_schema_load(&schema, NULL, model->schema, &tct_limits_default, err));
    undo_schema(&schema, out, model->cols);
    tct_schema_free(&schema);
  }
  out->constant = model->labels == TCT_LABELS_REAL ? model->label_shift : 0;
  out->has_intercept = model->has_intercept || out->constant != 0;
  for (int64_t j = 0; j < model->cols; j++) {
    if (model->scale_factor) {
      out->move[j] = (out->move[j] - model->scale_shift[j]) * model->scale_factor[j];
      out->slope[j] *= model->scale_factor[j];
    }
    out->has_intercept = out->has_intercept || out->move[j] != 0;
  }
  return TCT_OK;
}

void tct_original_free(tct_original *original) {
  tct_free(original->slope);
  tct_free(original->move);
  *original = (tct_original){0};
}

void tct_original_contrast(const tct_original *original, int64_t cols, int64_t j, double *c) {
  memset(c, 0, (size_t)(cols + 1) * sizeof *c);
  if (j < cols) {
    c[j] = original->slope[j];
    return;
  }
  memcpy(c, original->move, (size_t)cols * sizeof *c);
  c[cols] = 1;
}
