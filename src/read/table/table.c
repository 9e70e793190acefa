/* table.c - grows a matrix and its labels record by record, each array in pieces (pieces.h). */
#include "read/table/table.h"

#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "read/table/scratch.h"
#include "la/matrix/paged.h"

#define STEP TCT_LIMIT(1 << 12, 4)            /* elements at once */
#define MOST_NARROW TCT_LIMIT(INT32_MAX, 100) /* entries whose places 32 bits hold */

void tct_table_init(tct_table *table, tct_layout layout, const tct_read_options *options) {
  memset(table, 0, sizeof *table);
  table->layout = layout;
  table->value_type = options->value_type == TCT_F32 ? TCT_F32 : TCT_F64;
  table->memory = layout == TCT_DENSE_COLS ? 0 : options->memory;
  table->scratch = options->scratch;
  table->labelled = options->labels != TCT_LABELS_NONE;
  table->droppable = options->invalid == TCT_INVALID_ZERO;
  table->values.element = table->value_type == TCT_F32 ? sizeof(float) : sizeof(double);
  table->index.element = sizeof(int32_t);
  table->ends.element = sizeof(int64_t);
  table->labels.element = table->weights.element = table->offsets.element = sizeof(double);
  table->dropped.element = 1;
}

void tct_table_narrow(tct_table *table) {
  table->value_type = TCT_F32;
  table->values.element = sizeof(float);
}

tct_status tct_table_failed(const tct_table *table, tct_error *err) {
  if (table->why.status == TCT_OK) return tct_fail_memory(err);
  if (err) *err = table->why;
  return table->why.status;
}

static tct_status open_scratch(tct_table *table, tct_pieces *pieces, tct_error *err) {
  int file = tct_scratch_open(table->scratch, err);
  if (file < 0) return TCT_E_RUN;
  pieces->file = file;
  pieces->why = &table->why;
  if (table->expected > 0 && pieces == &table->values) TCT_TRY(tct_scratch_reserve(file, table->expected, err));
  return tct_pieces_keep(pieces, err);
}

tct_status tct_table_spill(tct_table *table, tct_error *err) {
  TCT_TRY(tct_words_fit(table->rows, table->lists, table->memory, err));
  int64_t bytes = table->values.total * (int64_t)table->values.element + table->index.total * (int64_t)sizeof(int32_t);
  if (bytes < table->expected) bytes = table->expected;
  if (table->memory == 0)
    return tct_scratch_spare(&table->looked, bytes, table->values.total == 0 ? table->expected : 0, err);
  if (table->values.file > 0 || bytes <= table->memory / 4) return TCT_OK;
  TCT_TRY(open_scratch(table, &table->values, err));
  return table->layout == TCT_CSR ? open_scratch(table, &table->index, err) : TCT_OK;
}

tct_status tct_table_expect(tct_table *table, int64_t rows, int64_t most, tct_error *err) {
  int64_t values;
  TCT_TRY(tct_words_fit(rows, table->lists, table->memory, err));
  if (__builtin_mul_overflow(rows, most, &values)) return tct_fail_memory(err);
  bool room = tct_pieces_expect(&table->values, values);
  if (room && table->layout == TCT_CSR) room = tct_pieces_expect(&table->index, values);
  if (room && table->labelled) room = tct_pieces_expect(&table->labels, rows);
  if (room && table->weighed) room = tct_pieces_expect(&table->weights, rows);
  if (room && table->shifted) room = tct_pieces_expect(&table->offsets, rows);
  return room ? TCT_OK : tct_fail_memory(err);
}

static bool add_values(tct_table *table, const double *value, int64_t count) {
  void *buffer = tct_pieces_reserve(&table->values, count);
  if (!buffer) return false;
  if (count == 0) return true;
  if (table->value_type == TCT_F32) {
    float *to = buffer;
    for (int64_t j = 0; j < count; j++) to[j] = (float)value[j];
  } else {
    memcpy(buffer, value, (size_t)count * sizeof *value);
  }
  return true;
}

static bool add_number(tct_pieces *to, bool wanted, double value) {
  double *at = wanted ? tct_pieces_reserve(to, 1) : NULL;
  if (at) *at = value;
  return at || !wanted;
}

/* The part of a record that is not features. */
static tct_status add_rest(tct_table *table, tct_said said, unsigned char dropped, tct_error *err) {
  if (!add_number(&table->labels, table->labelled, said.label) ||
      !add_number(&table->weights, table->weighed, said.weight) ||
      !add_number(&table->offsets, table->shifted, said.offset))
    return tct_fail_memory(err);
  if (table->droppable) {
    unsigned char *mark = tct_pieces_reserve(&table->dropped, 1);
    if (!mark) return tct_fail_memory(err);
    *mark = dropped;
  }
  if (table->layout == TCT_CSR) {
    int64_t *end = tct_pieces_reserve(&table->ends, 1);
    if (!end) return tct_fail_memory(err);
    *end = table->values.total;
  }
  table->rows++;
  return tct_table_spill(table, err);
}

tct_status tct_table_dense(tct_table *table, const double *value, int64_t count, tct_said said, tct_error *err) {
  if (!add_values(table, value, count)) return tct_table_failed(table, err);
  return add_rest(table, said, 0, err);
}

tct_status tct_table_sparse(tct_table *table, const int32_t *index, const double *value, int64_t count, tct_said said,
                            tct_error *err) {
  int32_t *buffer = tct_pieces_reserve(&table->index, count);
  if (!buffer || !add_values(table, value, count)) return tct_table_failed(table, err);
  if (count > 0) memcpy(buffer, index, (size_t)count * sizeof *index);
  return add_rest(table, said, 0, err);
}

/* -1 is a label of either kind; with all features zero it weighs nothing. */
tct_status tct_table_drop(tct_table *table, int64_t count, tct_error *err) {
  void *buffer = tct_pieces_reserve(&table->values, count);
  if (!buffer) return tct_table_failed(table, err);
  if (count > 0) memset(buffer, 0, (size_t)count * table->values.element);
  return add_rest(table, (tct_said){.label = -1}, 1, err);
}

static void raise_ends(tct_pieces *ends, int64_t by) {
  for (int64_t k = 0; k < ends->count; k++)
    for (int64_t i = 0; i < ends->at[k].used; i++) ((int64_t *)(void *)ends->at[k].memory)[i] += by;
}

tct_status tct_table_append(tct_table *to, tct_table *from, tct_error *err) {
  raise_ends(&from->ends, to->values.total);
  bool good = tct_pieces_append(&to->values, &from->values) && tct_pieces_append(&to->index, &from->index);
  if (!good) return tct_table_failed(to, err);
  good = tct_pieces_append(&to->ends, &from->ends) && tct_pieces_append(&to->labels, &from->labels) &&
         tct_pieces_append(&to->weights, &from->weights) && tct_pieces_append(&to->offsets, &from->offsets) &&
         tct_pieces_append(&to->dropped, &from->dropped);
  if (!good) return tct_fail_memory(err);
  to->rows += from->rows;
  from->rows = 0;
  return tct_table_spill(to, err);
}

static void ends_to_i32(void *user, const char *elements, int64_t count) {
  int32_t **to = user;
  for (int64_t k = 0; k < count; k++) *(*to)++ = (int32_t)((const int64_t *)(const void *)elements)[k];
}

static void index_to_i64(void *user, const char *elements, int64_t count) {
  int64_t **to = user;
  for (int64_t k = 0; k < count; k++) *(*to)++ = ((const int32_t *)(const void *)elements)[k];
}

/* The indices of a file, 64 bits wide in another one. */
static tct_status widen_some(const tct_pieces *from, int to, int32_t *narrow, int64_t *wide, tct_error *err) {
  for (int64_t at = 0; at < from->kept; at += STEP) {
    int64_t count = from->kept - at < STEP ? from->kept - at : STEP;
    TCT_TRY(tct_scratch_read(from->file, narrow, count * (int64_t)sizeof *narrow, at * (int64_t)sizeof *narrow, err));
    for (int64_t k = 0; k < count; k++) wide[k] = narrow[k];
    TCT_TRY(tct_scratch_write(to, wide, count * (int64_t)sizeof *wide, at * (int64_t)sizeof *wide, err));
  }
  return TCT_OK;
}

static tct_status widen_file(tct_pieces *index, const char *scratch, tct_error *err) {
  int32_t *narrow = TCT_NEW(int32_t, STEP);
  int64_t *wide = TCT_NEW(int64_t, STEP);
  int to = narrow && wide ? tct_scratch_open(scratch, err) : (tct_fail_memory(err), -1);
  tct_status status = to < 0 ? TCT_E_RUN : tct_pieces_keep(index, err);
  if (status == TCT_OK) status = widen_some(index, to, narrow, wide, err);
  tct_pieces_drop(index);
  if (to >= 0) close(index->file);
  if (to >= 0) index->file = to, index->element = sizeof *wide;
  tct_free(narrow);
  tct_free(wide);
  return status;
}

/* start[0] = 0, start[i+1] = end of row i, in the smaller index type that holds every number. */
static tct_status finish_sparse(tct_table *table, int64_t cols, tct_matrix *m, tct_error *err) {
  bool wide = table->values.total > MOST_NARROW || cols > INT32_MAX;
  m->index_type = wide ? TCT_I64 : TCT_I32;
  void *start = tct_alloc_unset(table->rows + 1, wide ? sizeof(int64_t) : sizeof(int32_t));
  if (!start) return tct_fail_memory(err);
  m->start = start;
  if (wide) {
    *(int64_t *)start = 0;
    tct_pieces_copy(&table->ends, (int64_t *)start + 1);
  } else {
    *(int32_t *)start = 0;
    tct_pieces_drain(&table->ends, ends_to_i32, &(int32_t *){(int32_t *)start + 1});
  }
  if (table->index.file > 0) return wide ? widen_file(&table->index, table->scratch, err) : TCT_OK;
  void *index = NULL;
  if (!wide) {
    TCT_TRY(tct_pieces_join(&table->index, &index, err));
    m->index = index;
    return TCT_OK;
  }
  index = tct_alloc_unset(table->values.total, sizeof(int64_t));
  if (!index) return tct_fail_memory(err);
  m->index = index;
  tct_pieces_drain(&table->index, index_to_i64, &(int64_t *){index});
  return TCT_OK;
}

/* What lies in files is mapped; the maps keep it. */
static tct_status map_files(tct_table *table, tct_matrix *m, tct_error *err) {
  const void *at[2] = {NULL, NULL};
  int64_t entries = table->values.total;
  int files[2] = {table->values.file, table->index.file};
  int64_t bytes[2] = {entries * (int64_t)table->values.element,
                      table->layout == TCT_CSR ? entries * (int64_t)table->index.element : 0};
  TCT_TRY(tct_pieces_keep(&table->values, err));
  if (table->layout == TCT_CSR) TCT_TRY(tct_pieces_keep(&table->index, err));
  tct_pieces_drop(&table->values);
  tct_pieces_drop(&table->index);
  TCT_TRY(tct_paged_new(files, bytes, table->memory, &m->pages, at, err));
  m->values = at[0];
  m->index = at[1];
  return TCT_OK;
}

tct_status tct_table_finish(tct_table *table, int64_t cols, tct_data *data, tct_error *err) {
  tct_matrix *m = &data->own.m;
  void *joined = NULL;
  m->rows = table->rows;
  m->cols = cols;
  m->layout = (int32_t)table->layout;
  m->value_type = (int32_t)table->value_type;
  if (table->layout == TCT_CSR)
    TCT_TRY(finish_sparse(table, cols, m, err));
  else
    m->stride = table->layout == TCT_DENSE_ROWS ? cols : table->rows;
  if (table->values.file > 0) {
    TCT_TRY(map_files(table, m, err));
  } else {
    TCT_TRY(tct_pieces_join(&table->values, &joined, err));
    m->values = joined;
  }
  if (table->labelled) {
    TCT_TRY(tct_pieces_join(&table->labels, &joined, err));
    data->y = data->own_y = joined;
  }
  if (table->weighed) {
    TCT_TRY(tct_pieces_join(&table->weights, &joined, err));
    data->weight = joined;
  }
  if (table->shifted) {
    TCT_TRY(tct_pieces_join(&table->offsets, &joined, err));
    data->offset = joined;
  }
  if (table->droppable) {
    TCT_TRY(tct_pieces_join(&table->dropped, &joined, err));
    data->dropped = joined;
  }
  data->x = *m;
  return TCT_OK;
}

void tct_table_free(tct_table *table) {
  tct_pieces_free(&table->values);
  tct_pieces_free(&table->index);
  tct_pieces_free(&table->ends);
  tct_pieces_free(&table->labels);
  tct_pieces_free(&table->weights);
  tct_pieces_free(&table->offsets);
  tct_pieces_free(&table->dropped);
}
