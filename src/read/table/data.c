/* data.c - the life of a table of records: accessors, and the end. */
#include "read/table/data.h"

#include <stdio.h>
#include <stdlib.h>
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

int64_t tct_data_rank_rows(const tct_data *data, int rank) {
  if (!data->rank_rows) return data->x.rows;
  return rank < 0 ? data->all_rows : data->rank_rows[rank];
}
const tct_matrix *tct_data_matrix(const tct_data *data) { return &data->x; }
const double *tct_data_labels(const tct_data *data) { return data->y; }
int64_t tct_data_classes(const tct_data *data, tct_labels *kind) {
  if (kind) *kind = (tct_labels)data->labels;
  return data->classes.count;
}
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

/* Whole names, since what is written later may be named from another folder. */
tct_status tct_inputs_add(tct_inputs *inputs, const char *path, tct_error *err) {
  int64_t len = inputs->len;
  char *whole = path ? realpath(path, NULL) : NULL;
  if (!whole) return TCT_OK;
  if ((len & (len + 1)) == 0) { /* full: room for 2^k - 1 names and the end */
    char **grown = tct_grow(inputs->name, len ? len + 1 : 0, 2 * (len + 1), sizeof *grown);
    if (grown) inputs->name = grown;
    if (!grown) len = -1;
  }
  if (len >= 0) inputs->name[len] = tct_text_copy(whole);
  free(whole);
  if (len < 0 || !inputs->name[len]) return tct_fail_memory(err);
  inputs->len++;
  return TCT_OK;
}

tct_status tct_inputs_copy(tct_inputs *inputs, const tct_inputs *from, tct_error *err) {
  for (int64_t k = 0; k < from->len; k++) TCT_TRY(tct_inputs_add(inputs, from->name[k], err));
  return TCT_OK;
}

const char *const *tct_inputs_list(const tct_inputs *inputs) { return (const char *const *)inputs->name; }

void tct_inputs_free(tct_inputs *inputs) {
  for (int64_t k = 0; k < inputs->len; k++) tct_free(inputs->name[k]);
  tct_free(inputs->name);
}

void tct_data_free(tct_data *data) {
  if (!data) return;
  tct_matrix_free(&data->own);
  tct_wipe_free(data->own_y, data->own_y ? data->x.rows : 0, sizeof *data->own_y);
  tct_wipe_free(data->weight, data->weight ? data->x.rows : 0, sizeof *data->weight);
  tct_wipe_free(data->offset, data->offset ? data->x.rows : 0, sizeof *data->offset);
  tct_free(data->dropped);
  tct_free(data->rank_rows);
  tct_class_names_free(&data->classes);
  tct_free(data->names);
  tct_free(data->label_name);
  tct_free(data->keys);
  tct_free(data->schema);
  tct_inputs_free(&data->inputs);
  tct_estimated_free(data->estimated);
  tct_words_free(data->words);
  for (int k = 0; k < TCT_UNACCOUNTED; k++) tct_free(data->unaccounted[k]);
  tct_free(data);
}
