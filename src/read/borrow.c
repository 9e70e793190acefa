/* borrow.c - a table of records over a matrix, labels or a table that the caller keeps. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/describe.h"
#include "read/table/join.h"
#include "read/table/names.h"

static tct_status check_labels(const double *y, int64_t rows, tct_labels labels, tct_error *err) {
  for (int64_t i = 0; i < rows; i++) {
    if (labels == TCT_LABELS_BINARY && y[i] != -1 && y[i] != 1) {
      return tct_fail_at(err, NULL, i + 1, 0, "a label is neither -1 nor +1; map the two classes to these");
    }
    if (labels == TCT_LABELS_CLASSES && !(y[i] >= 0 && y[i] == floor(y[i])))
      return tct_fail_at(err, NULL, i + 1, 0, "a label is no class; number the classes from 0");
    if (!isfinite(y[i])) return tct_fail_at(err, NULL, i + 1, 0, "a label is not a finite number; correct it");
  }
  return TCT_OK;
}

static tct_status check_view(const tct_matrix *x, const double *y, tct_labels labels, tct_error *err) {
  if (!x) return tct_fail(err, TCT_E_USAGE, "there is no matrix; give one");
  if (labels < TCT_LABELS_NONE || labels > TCT_LABELS_CLASSES) {
    return tct_fail(err, TCT_E_USAGE, "the kind of labels is unknown; give one of tct_labels");
  }
  if (labels != TCT_LABELS_NONE && !y) return tct_fail(err, TCT_E_USAGE, "there are no labels; give one for every row");
  TCT_TRY(tct_matrix_check(x, err));
  return labels == TCT_LABELS_NONE ? TCT_OK : check_labels(y, x->rows, labels, err);
}

/* The schema's facts; its features must be the matrix's. */
static tct_status take_schema(tct_data *data, const char *text, tct_error *err) {
  tct_schema schema;
  if (!text) return TCT_OK;
  tct_status status = tct_schema_load(&schema, NULL, text, &tct_limits_default, err);
  if (status == TCT_OK && schema.features != data->x.cols)
    status =
        tct_fail(err, TCT_E_DATA, "the schema makes %lld features and the matrix has %lld; give the encoded matrix",
                 (long long)schema.features, (long long)data->x.cols);
  if (status == TCT_OK) status = tct_schema_describe(&schema, data, err);
  if (status == TCT_OK && schema.label && !(data->label_name = tct_text_copy(schema.label)))
    status = tct_fail_memory(err);
  tct_schema_free(&schema);
  return status;
}

static tct_status take_names(tct_data *data, const char *const *names, tct_error *err) {
  if (!names) return TCT_OK;
  for (int64_t j = 0; j < data->x.cols; j++)
    if (!names[j])
      return tct_fail(err, TCT_E_USAGE, "a feature has no name; give one for every column, or none at all");
  tct_free(data->names);
  data->names = tct_names_copy(names, data->x.cols);
  return data->names ? TCT_OK : tct_fail_memory(err);
}

tct_data *tct_data_view(const tct_matrix *x, const double *y, tct_labels labels, const char *const *names,
                        const char *schema, tct_error *err) {
  tct_error_clear(err);
  if (check_view(x, y, labels, err) != TCT_OK) return NULL;
  tct_data *data = TCT_NEW(tct_data, 1);
  if (!data) {
    tct_fail_memory(err);
    return NULL;
  }
  data->x = *x;
  data->x.pages = NULL; /* ours alone to set */
  data->y = labels == TCT_LABELS_NONE ? NULL : y;
  data->labels = labels;
  data->label_low = data->label_high = NAN;
  tct_status status = take_schema(data, schema, err);
  if (status == TCT_OK) status = take_names(data, names, err);
  if (status == TCT_OK) return data;
  tct_data_free(data);
  return NULL;
}

static tct_status take_keys(tct_data *data, const tct_data *table, tct_error *err) {
  if (!table->keys) return TCT_OK;
  const char *end = tct_keys_after(table->keys, table->x.rows);
  data->keys = tct_alloc(end - table->keys, 1);
  if (!data->keys) return tct_fail_memory(err);
  memcpy(data->keys, table->keys, (size_t)(end - table->keys));
  return TCT_OK;
}

static tct_status take_numbers(const double *from, int64_t rows, double **to, tct_error *err) {
  *to = TCT_NEW(double, rows);
  if (!*to) return tct_fail_memory(err);
  memcpy(*to, from, (size_t)rows * sizeof **to);
  return TCT_OK;
}

/* All that a table says beside its numbers and its labels. */
static tct_status take_words(tct_data *data, const tct_data *table, tct_error *err) {
  TCT_TRY(tct_data_describe(data, table, err));
  data->open = table->open;
  data->words = tct_words_share(table->words);
  TCT_TRY(take_keys(data, table, err));
  TCT_TRY(tct_inputs_copy(&data->inputs, &table->inputs, err));
  if (table->weight) TCT_TRY(take_numbers(table->weight, table->x.rows, &data->weight, err));
  if (table->offset) TCT_TRY(take_numbers(table->offset, table->x.rows, &data->offset, err));
  if (!table->dropped) return TCT_OK;
  data->dropped = TCT_NEW(unsigned char, table->x.rows);
  if (!data->dropped) return tct_fail_memory(err);
  memcpy(data->dropped, table->dropped, (size_t)table->x.rows);
  return TCT_OK;
}

tct_status tct_data_name_classes(tct_data *data, const char *const *names, int64_t count, tct_class_kind kind,
                                 tct_error *err) {
  tct_error_clear(err);
  if (data->labels != TCT_LABELS_CLASSES || data->classes.count > 0)
    return tct_fail(err, TCT_E_USAGE, "classes are named once, and of labels that are classes; relabel first");
  for (int64_t i = 0; i < data->x.rows; i++)
    if (!(data->y[i] < (double)count))
      return tct_fail_at(err, NULL, i + 1, 0, "a label is none of the classes; name all that can occur");
  return tct_class_names_set(&data->classes, names, count, (int32_t)kind, err);
}

tct_data *tct_data_relabel(const tct_data *table, const double *y, tct_labels labels, const char *const *classes,
                           int64_t count, tct_class_kind kind, tct_error *err) {
  tct_error_clear(err);
  if (!table || table->rank_rows || (!y && !table->y)) {
    tct_fail(err, TCT_E_USAGE, "a table of this process alone is wanted, and labels; give both");
    return NULL;
  }
  if (table->estimated) {
    tct_fail(err, TCT_E_USAGE,
             "the table's bounds were estimated, and the estimate pays for one fit on it; relabel before the estimate");
    return NULL;
  }
  if (y && (labels <= TCT_LABELS_NONE || labels > TCT_LABELS_CLASSES)) {
    tct_fail(err, TCT_E_USAGE, "the kind of labels is unknown; give one of tct_labels");
    return NULL;
  }
  if (y && check_labels(y, table->x.rows, labels, err) != TCT_OK) return NULL; /* the records are checked already */
  tct_data *data = TCT_NEW(tct_data, 1);
  if (!data) {
    tct_fail_memory(err);
    return NULL;
  }
  data->x = table->x;
  tct_status status = take_words(data, table, err);
  data->y = y ? y : table->y;
  if (data->y != table->y) tct_class_names_free(&data->classes);
  if (y) data->labels = (int32_t)labels, data->positive_unlisted = false;
  if (status == TCT_OK && classes) status = tct_data_name_classes(data, classes, count, kind, err);
  if (status == TCT_OK) return data;
  tct_data_free(data);
  return NULL;
}
