/* original.c - what each step from a table's columns to a feature did, undone. */
#include "summary/original.h"

#include "core/alloc.h"
#include "read/schema/design.h"

#include <string.h>

/* Gathers feature = sum of value * raw feature by the raw ones: counted first, then put. */
typedef struct gather {
  const tct_model *model;
  tct_original *to;
  bool middle, count;
} gather;

static void put(void *user, int64_t feature, int64_t raw, double value) {
  gather *g = user;
  int64_t cols = g->model->cols, weight = raw < 0 ? cols : raw;
  if (feature >= cols || raw >= cols) return;
  if (g->count) {
    g->to->start[weight + 2]++;
    return;
  }
  if (g->model->scale_factor) value *= g->model->scale_factor[feature];
  int64_t at = g->to->start[weight + 1]++;
  g->to->feature[at] = feature, g->to->value[at] = value;
}

/* A bounded number became scale*(v - lower)/(upper - lower) + shift; an indicator is what it was. */
static void put_columns(const tct_schema *schema, gather *g) {
  int64_t j = 0;
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    if (column->kind != TCT_COLUMN_NUMBER || column->raw || column->first >= g->model->cols) continue;
    double width = column->upper - column->lower, range = schema->symmetric ? 2 : 1;
    for (; j < column->first; j++) put(g, j, j, 1);
    put(g, j, j, range / width);
    put(g, j++, -1, -range * column->lower / width - (schema->symmetric ? 1 : 0));
  }
  for (; j < g->model->cols; j++) put(g, j, j, 1);
}

static void put_all(const tct_schema *schema, gather *g) {
  if (schema->design)
    (g->middle ? tct_design_middle : tct_design_raw)(schema, put, g);
  else
    put_columns(schema, g);
  for (int64_t j = 0; g->model->scale_shift && j < g->model->cols; j++) put(g, j, -1, -g->model->scale_shift[j]);
}

/* start[w + 2] counts the entries of weight w, then start[w + 1] is where the next of them goes. */
static tct_status collect(const tct_schema *schema, gather *g, tct_error *err) {
  int64_t cols = g->model->cols;
  tct_original *to = g->to;
  g->count = true;
  put_all(schema, g);
  for (int64_t w = 0; w <= cols; w++) to->start[w + 2] += to->start[w + 1];
  to->feature = TCT_NEW(int64_t, to->start[cols + 2]);
  to->value = TCT_NEW(double, to->start[cols + 2]);
  to->parts = schema->design ? TCT_NEW(json_t *, cols) : NULL;
  to->name = schema->design ? TCT_NEW(char *, cols) : NULL;
  if (!to->feature || !to->value || (schema->design && (!to->parts || !to->name))) return tct_fail_memory(err);
  g->count = false;
  put_all(schema, g);
  for (int64_t j = 0; to->parts && j < cols && j < schema->features; j++)
    to->parts[j] = tct_design_parts(schema, j, &to->name[j]);
  return TCT_OK;
}

tct_status tct_original_new(const tct_model *model, bool middle, tct_original *out, tct_error *err) {
  tct_schema schema = {0};
  *out = (tct_original){.start = TCT_NEW(int64_t, model->cols + 3)};
  if (!out->start) return tct_fail_memory(err);
  TCT_TRY(tct_schema_load(&schema, NULL, model->schema, &tct_limits_default, err));
  tct_status status = collect(&schema, &(gather){.model = model, .to = out, .middle = middle}, err);
  tct_schema_free(&schema);
  TCT_TRY(status);
  out->constant = model->labels == TCT_LABELS_REAL ? model->label_shift : 0;
  double upper = 0;
  if (tct_model_offset(model, &upper)) out->constant -= upper; /* a linear predictor at offset 0, exposure 1 */
  out->has_intercept = model->has_intercept || out->constant != 0;
  for (int64_t e = out->start[model->cols]; e < out->start[model->cols + 1]; e++)
    out->has_intercept = out->has_intercept || out->value[e] != 0;
  return TCT_OK;
}

void tct_original_free(tct_original *original, int64_t cols) {
  for (int64_t j = 0; original->parts && j < cols; j++) json_decref(original->parts[j]);
  for (int64_t j = 0; original->name && j < cols; j++) tct_free(original->name[j]);
  tct_free(original->name);
  tct_free(original->parts);
  tct_free(original->start);
  tct_free(original->feature);
  tct_free(original->value);
  *original = (tct_original){0};
}

void tct_original_contrast(const tct_original *original, int64_t cols, int64_t j, double *c) {
  memset(c, 0, (size_t)(cols + 1) * sizeof *c);
  for (int64_t e = original->start[j]; e < original->start[j + 1]; e++) c[original->feature[e]] += original->value[e];
  if (j == cols) c[cols] = 1;
}
