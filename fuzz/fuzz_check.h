/* fuzz_check.h - what must hold of every table that a reader hands out. */
#ifndef TCT_FUZZ_CHECK_H
#define TCT_FUZZ_CHECK_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/table/data.h"
#include "read/format/reader.h"

static inline void require(int holds) {
  if (!holds) abort();
}

static inline double stored_value(const tct_matrix *m, int64_t k) {
  return m->value_type == TCT_F32 ? (double)((const float *)m->values)[k] : ((const double *)m->values)[k];
}

/* Of a start or an index. */
static inline int64_t place(const tct_matrix *m, const void *list, int64_t k) {
  return m->index_type == TCT_I64 ? ((const int64_t *)list)[k] : ((const int32_t *)list)[k];
}

static inline void check_sparse(const tct_matrix *m) {
  require(place(m, m->start, 0) == 0);
  for (int64_t i = 0; i < m->rows; i++) {
    int64_t from = place(m, m->start, i), to = place(m, m->start, i + 1);
    require(from <= to);
    for (int64_t k = from; k < to; k++) {
      int64_t j = place(m, m->index, k);
      require(j >= 0 && j < m->cols && (k == from || place(m, m->index, k - 1) < j));
      require(isfinite(stored_value(m, k)));
    }
  }
}

/* A failure has a class and a sentence; a success a sound matrix and sound labels. */
static inline void check_result(tct_data *data, const tct_error *err) {
  if (!data) {
    require(err->status != TCT_OK && err->text[0] != 0 && strchr(err->text, ';') != NULL);
    return;
  }
  const tct_matrix *m = tct_data_matrix(data);
  require(err->status == TCT_OK && m->rows > 0 && m->cols > 0);
  if (m->layout == TCT_CSR) check_sparse(m);
  for (int64_t k = 0; m->layout != TCT_CSR && k < m->rows * m->cols; k++) require(isfinite(stored_value(m, k)));
  const double *y = tct_data_labels(data);
  require((y != NULL) == (data->labels != TCT_LABELS_NONE));
  for (int64_t i = 0; y && i < m->rows; i++) {
    require(data->labels == TCT_LABELS_BINARY ? fabs(y[i]) == 1 : isfinite(y[i]));
  }
  if (m->cols < 1000) require(tct_data_feature(data, m->cols - 1) != NULL);
  tct_data_free(data);
}

/* Options from two bytes of the input. */
static inline tct_read_options fuzz_options(uint8_t a, int64_t *step) {
  tct_read_options options;
  tct_read_options_default(&options);
  options.labels = a % 3;
  options.invalid = a >> 2 & 1;
  options.value_type = a >> 3 & 1;
  *step = a >> 4 & 1 ? 7 : 1 << 16;
  return options;
}
#endif
