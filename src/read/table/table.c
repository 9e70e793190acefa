/* table.c - grows a matrix and its labels record by record, in at most twice the final memory.
 *
 * The number of records is not known before the end.  Doubling one array would hold three times the data while it is
 * copied.  Here elements are kept in pieces and joined once, each piece being freed as soon as it is copied. */
#include "read/table/table.h"

#include <string.h>

#include "core/alloc.h"

enum { FIRST_PIECE = 1 << 12, LARGEST_PIECE = 1 << 20 }; /* elements: 32 KiB to 8 MiB of doubles */

void *tct_pieces_reserve(tct_pieces *pieces, int64_t count) {
  struct tct_piece *last = pieces->count > 0 ? &pieces->at[pieces->count - 1] : NULL;
  if (!last || last->size - last->used < count) {
    if (pieces->count == pieces->cap) {
      int64_t cap = pieces->cap ? 2 * pieces->cap : 16;
      void *grown = tct_grow(pieces->at, pieces->count, cap, sizeof *pieces->at);
      if (!grown) return NULL;
      pieces->at = grown;
      pieces->cap = cap;
    }
    int64_t size = last ? 2 * last->size : FIRST_PIECE;
    if (size > LARGEST_PIECE) size = LARGEST_PIECE;
    if (size < count) size = count;
    last = &pieces->at[pieces->count];
    last->memory = tct_alloc(size, pieces->element);
    if (!last->memory) return NULL;
    last->size = size;
    last->used = 0;
    pieces->count++;
  }
  void *buffer = last->memory + (size_t)last->used * pieces->element;
  last->used += count;
  pieces->total += count;
  return buffer;
}

bool tct_pieces_expect(tct_pieces *pieces, int64_t count) {
  struct tct_piece *at = TCT_NEW(struct tct_piece, 1);
  char *memory = at ? tct_alloc(count, pieces->element) : NULL;
  if (!memory) {
    tct_free(at);
    return false;
  }
  *at = (struct tct_piece){memory, 0, count};
  pieces->at = at;
  pieces->count = pieces->cap = 1;
  return true;
}

tct_status tct_pieces_join(tct_pieces *pieces, void **joined, tct_error *err) {
  if (pieces->count == 1 && pieces->at->used == pieces->at->size) { /* as it was expected */
    *joined = pieces->at->memory;
    pieces->count = 0;
    tct_pieces_free(pieces);
    return TCT_OK;
  }
  char *memory = tct_alloc(pieces->total, pieces->element);
  if (!memory) return tct_fail_memory(err);
  *joined = memory;
  for (int64_t k = 0; k < pieces->count; k++) {
    struct tct_piece *piece = &pieces->at[k];
    size_t bytes = (size_t)piece->used * pieces->element;
    memcpy(memory, piece->memory, bytes);
    memory += bytes;
    tct_wipe_free(piece->memory, piece->used, pieces->element);
    piece->memory = NULL;
    piece->used = 0;
  }
  tct_pieces_free(pieces);
  return TCT_OK;
}

void tct_pieces_free(tct_pieces *pieces) {
  for (int64_t k = 0; k < pieces->count; k++) {
    tct_wipe_free(pieces->at[k].memory, pieces->at[k].used, pieces->element);
  }
  tct_free(pieces->at);
  size_t element = pieces->element;
  memset(pieces, 0, sizeof *pieces);
  pieces->element = element;
}

void tct_table_init(tct_table *table, tct_layout layout, const tct_read_options *options) {
  memset(table, 0, sizeof *table);
  table->layout = layout;
  table->value_type = (tct_value_type)options->value_type;
  table->labelled = options->labels != TCT_LABELS_NONE;
  table->droppable = options->invalid == TCT_INVALID_ZERO;
  table->values.element = table->value_type == TCT_F32 ? sizeof(float) : sizeof(double);
  table->index.element = sizeof(int32_t);
  table->ends.element = sizeof(int64_t);
  table->labels.element = sizeof(double);
  table->dropped.element = 1;
}

tct_status tct_table_expect(tct_table *table, int64_t rows, int64_t dense, tct_error *err) {
  int64_t values;
  if (__builtin_mul_overflow(rows, dense, &values)) return tct_fail_memory(err);
  bool room = table->layout == TCT_CSR || tct_pieces_expect(&table->values, values);
  if (room && table->labelled) room = tct_pieces_expect(&table->labels, rows);
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

/* The part of a record that is not features. */
static tct_status add_rest(tct_table *table, double label, unsigned char dropped, tct_error *err) {
  if (table->labelled) {
    double *y = tct_pieces_reserve(&table->labels, 1);
    if (!y) return tct_fail_memory(err);
    *y = label;
  }
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
  return TCT_OK;
}

tct_status tct_table_dense(tct_table *table, const double *value, int64_t count, double label, tct_error *err) {
  if (!add_values(table, value, count)) return tct_fail_memory(err);
  return add_rest(table, label, 0, err);
}

tct_status tct_table_sparse(tct_table *table, const int32_t *index, const double *value, int64_t count, double label,
                            tct_error *err) {
  int32_t *buffer = tct_pieces_reserve(&table->index, count);
  if (!buffer || !add_values(table, value, count)) return tct_fail_memory(err);
  if (count > 0) memcpy(buffer, index, (size_t)count * sizeof *index);
  return add_rest(table, label, 0, err);
}

/* -1 is a label of either kind; with all features zero it weighs nothing. */
tct_status tct_table_drop(tct_table *table, int64_t count, tct_error *err) {
  void *buffer = tct_pieces_reserve(&table->values, count);
  if (!buffer) return tct_fail_memory(err);
  if (count > 0) memset(buffer, 0, (size_t)count * table->values.element);
  return add_rest(table, -1, 1, err);
}

/* start[0] = 0, start[i+1] = end of row i, in the smaller index type that holds every number. */
static tct_status finish_sparse(tct_table *table, int64_t cols, tct_matrix *m, tct_error *err) {
  void *ends = NULL, *index = NULL;
  TCT_TRY(tct_pieces_join(&table->index, &index, err));
  m->index = index;
  TCT_TRY(tct_pieces_join(&table->ends, &ends, err));
  bool wide = table->values.total > INT32_MAX || cols > INT32_MAX;
  m->index_type = wide ? TCT_I64 : TCT_I32;
  void *start = tct_alloc(table->rows + 1, wide ? sizeof(int64_t) : sizeof(int32_t));
  if (!start) {
    tct_free(ends);
    return tct_fail_memory(err);
  }
  m->start = start;
  for (int64_t i = 0; i < table->rows; i++) {
    int64_t end = ((int64_t *)ends)[i];
    if (wide)
      ((int64_t *)start)[i + 1] = end;
    else
      ((int32_t *)start)[i + 1] = (int32_t)end;
  }
  tct_free(ends);
  if (!wide) return TCT_OK;
  int64_t *widened = TCT_NEW(int64_t, table->values.total);
  if (!widened) return tct_fail_memory(err);
  for (int64_t k = 0; k < table->values.total; k++) widened[k] = ((int32_t *)index)[k];
  tct_free(index);
  m->index = widened;
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
  TCT_TRY(tct_pieces_join(&table->values, &joined, err));
  m->values = joined;
  if (table->labelled) {
    TCT_TRY(tct_pieces_join(&table->labels, &joined, err));
    data->y = data->own_y = joined;
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
  tct_pieces_free(&table->dropped);
}
