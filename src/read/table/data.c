/* data.c - the life of a table of records: accessors, and the end. */
#include "read/table/data.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"

tct_status tct_data_unaccounted(tct_data *data, const char *text, tct_error *err) {
  for (int k = 0; k < TCT_UNACCOUNTED; k++) {
    if (data->unaccounted[k] && strcmp(data->unaccounted[k], text) == 0) return TCT_OK;
    if (data->unaccounted[k]) continue;
    data->unaccounted[k] = tct_text_copy(text);
    return data->unaccounted[k] ? TCT_OK : tct_fail_memory(err);
  }
  return tct_fail(err, TCT_E_RUN, "more than %d facts were taken from the data unaccounted; give them as public facts",
                  TCT_UNACCOUNTED);
}

int64_t tct_data_rows(const tct_data *data) { return data->x.rows; }
int64_t tct_data_all_rows(const tct_data *data) { return data->rank_rows ? data->all_rows : data->x.rows; }
int64_t tct_data_rank_rows(const tct_data *data, int rank) {
  return data->rank_rows ? data->rank_rows[rank] : data->x.rows;
}
int64_t tct_data_cols(const tct_data *data) { return data->x.cols; }
const tct_matrix *tct_data_matrix(const tct_data *data) { return &data->x; }
const double *tct_data_labels(const tct_data *data) { return data->y; }
tct_labels tct_data_kind(const tct_data *data) { return (tct_labels)data->labels; }
int64_t tct_data_classes(const tct_data *data) { return data->classes.count; }
const char *tct_data_class(const tct_data *data, int64_t k) {
  return k >= 0 && k < data->classes.count ? data->classes.name[k] : NULL;
}
const char *tct_data_keys(const tct_data *data) { return data->keys; }

/* The names "x1", "x2", ... in one allocation. */
static char **number_names(int64_t count) {
  enum { NAME = 24 };
  char **names = tct_alloc(count, sizeof(char *) + NAME);
  if (!names) return NULL;
  char *text = (char *)(names + count);
  for (int64_t j = 0; j < count; j++, text += NAME) {
    names[j] = text;
    snprintf(text, NAME, "x%lld", (long long)j + 1);
  }
  return names;
}

/* Numbered names are made when they are first asked for: few wide tables ever are.  Handles are used
 * by one thread at a time, and every tct_data is made by tct_alloc, hence writable. */
const char *tct_data_feature(const tct_data *data, int64_t column) {
  if (column < 0 || column >= data->x.cols) return NULL;
  if (!data->names) ((tct_data *)data)->names = number_names(data->x.cols);
  return data->names ? data->names[column] : NULL;
}

void tct_data_free(tct_data *data) {
  if (!data) return;
  tct_matrix_free(&data->own);
  tct_wipe_free(data->own_y, data->own_y ? data->x.rows : 0, sizeof *data->own_y);
  tct_wipe_free(data->weight, data->weight ? data->x.rows : 0, sizeof *data->weight);
  tct_free(data->dropped);
  tct_free(data->rank_rows);
  tct_class_names_free(&data->classes);
  tct_free(data->names);
  tct_free(data->label_name);
  tct_free(data->keys);
  tct_free(data->schema);
  tct_estimated_free(data->estimated);
  tct_words_free(data->words);
  for (int k = 0; k < TCT_UNACCOUNTED; k++) tct_free(data->unaccounted[k]);
  tct_free(data);
}
