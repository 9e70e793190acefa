/* join.c - tables of records put together, and cut. */
#include "read/table/join.h"

#include <string.h>

#include "core/alloc.h"
#include "la/matrix/rows_access.h"
#include "read/table/names.h"

static int64_t offset_at(const tct_matrix *m, const void *array, int64_t k) {
  return tct_offset(array, m->index_type, k);
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_names(const tct_data *a, const tct_data *b) {
  for (int64_t j = 0; a->names && b->names && j < a->x.cols; j++)
    if (strcmp(a->names[j], b->names[j]) != 0) return false;
  return (a->names == NULL) == (b->names == NULL);
}

tct_status tct_data_alike(const tct_data *a, const tct_data *b, tct_error *err) {
  bool csr = a->x.layout == TCT_CSR && !a->names;
  if (a->x.layout != b->x.layout || a->x.value_type != b->x.value_type || a->labels != b->labels ||
      a->follow_up != b->follow_up || a->weight_cap != b->weight_cap || !a->offset != !b->offset ||
      (!csr && a->x.cols != b->x.cols))
    return tct_fail(err, TCT_E_DATA, "the parts differ in format or number of columns; give parts of one table");
  if (a->words || b->words)
    return tct_fail(err, TCT_E_USAGE,
                    "a list of categories is estimated of a table in one file; put the parts into one");
  if (!a->keys != !b->keys)
    return tct_fail(err, TCT_E_DATA, "one part has keys and another none; give parts of one table");
  if (!tct_class_names_same(&a->classes, &b->classes))
    return tct_fail(err, TCT_E_DATA, "the parts differ in the classes of the label; give parts of one table");
  if (!same_names(a, b) || !same_text(a->label_name, b->label_name) || !same_text(a->schema, b->schema))
    return tct_fail(err, TCT_E_DATA,
                    "the parts differ in the names or order of their columns; give every part the same header");
  return TCT_OK;
}

static void count_all(tct_data *const *part, int64_t parts, int64_t drop, int64_t *rows, int64_t *entries) {
  *rows = *entries = 0;
  for (int64_t k = 0; k < parts; k++) {
    const tct_matrix *m = &part[k]->x;
    int64_t first = k == 0 ? drop : 0;
    *rows += m->rows - first;
    *entries += m->layout == TCT_CSR ? offset_at(m, m->start, m->rows) - offset_at(m, m->start, first)
                                     : (m->rows - first) * m->cols;
  }
}

/* Room for the records of `to`, whose shape and type are set. */
static tct_status make_room(tct_data *to, int64_t entries, const tct_data *like, tct_error *err) {
  tct_matrix *m = &to->own.m;
  m->values = tct_alloc(entries, tct_value_size(m));
  if (m->layout == TCT_CSR) {
    m->start = tct_alloc(m->rows + 1, tct_index_size(m));
    m->index = tct_alloc(entries, tct_index_size(m));
  }
  if (like->y) to->y = to->own_y = TCT_NEW(double, m->rows);
  if (like->dropped) to->dropped = TCT_NEW(unsigned char, m->rows);
  if (like->weight) to->weight = TCT_NEW(double, m->rows);
  if (like->offset) to->offset = TCT_NEW(double, m->rows);
  if (!m->values || (m->layout == TCT_CSR && (!m->start || !m->index)) || (like->y && !to->y) ||
      (like->dropped && !to->dropped) || (like->weight && !to->weight) || (like->offset && !to->offset))
    return tct_fail_memory(err);
  to->x = *m;
  return TCT_OK;
}

/* Rows [first, end) of `from` go behind the *row rows and *entry entries of `to`. */
static void append(tct_data *to, const tct_data *from, int64_t first, int64_t end, int64_t *row, int64_t *entry) {
  tct_matrix *m = &to->own.m;
  const tct_matrix *f = &from->x;
  int64_t rows = end - first;
  char *values = (char *)(uintptr_t)m->values;
  size_t width = tct_value_size(m);
  if (m->layout == TCT_CSR) {
    int64_t begin = offset_at(f, f->start, first), count = offset_at(f, f->start, end) - begin;
    memcpy(values + (size_t)*entry * width, (const char *)f->values + (size_t)begin * width, (size_t)count * width);
    for (int64_t k = 0; k < count; k++)
      tct_put_offset(m->index, m->index_type, *entry + k, offset_at(f, f->index, begin + k));
    for (int64_t i = 1; i <= rows; i++)
      tct_put_offset(m->start, m->index_type, *row + i, *entry + offset_at(f, f->start, first + i) - begin);
    *entry += count;
  } else {
    for (int64_t i = 0; i < rows; i++)
      memcpy(values + (size_t)((*row + i) * m->cols) * width,
             (const char *)f->values + (size_t)((first + i) * f->stride) * width, (size_t)m->cols * width);
  }
  if (to->own_y) memcpy(to->own_y + *row, from->y + first, (size_t)rows * sizeof(double));
  if (to->weight) memcpy(to->weight + *row, from->weight + first, (size_t)rows * sizeof(double));
  if (to->offset) memcpy(to->offset + *row, from->offset + first, (size_t)rows * sizeof(double));
  if (to->dropped && from->dropped) memcpy(to->dropped + *row, from->dropped + first, (size_t)rows);
  *row += rows;
}

tct_status tct_data_describe(tct_data *to, const tct_data *like, tct_error *err) {
  to->labels = like->labels;
  to->positive_unlisted = like->positive_unlisted;
  to->follow_up = like->follow_up;
  to->weight_cap = like->weight_cap; /* weights stay: some of a person's records do not weigh more than all */
  to->persons = like->persons;
  to->exposure = like->exposure;
  to->label_low = like->label_low;
  to->label_high = like->label_high;
  to->label_name = tct_text_copy(like->label_name);
  to->schema = tct_text_copy(like->schema);
  if (like->names) to->names = tct_names_copy((const char *const *)like->names, like->x.cols);
  if ((like->label_name && !to->label_name) || (like->schema && !to->schema) || (like->names && !to->names))
    return tct_fail_memory(err);
  const char *const *classes = (const char *const *)like->classes.name;
  if (classes) TCT_TRY(tct_class_names_set(&to->classes, classes, like->classes.count, like->classes.kind, err));
  for (int k = 0; k < TCT_UNACCOUNTED && like->unaccounted[k]; k++)
    TCT_TRY(tct_data_unaccounted(to, like->unaccounted[k], err));
  return TCT_OK;
}

const char *tct_keys_after(const char *keys, int64_t rows) {
  for (; rows > 0; rows--) keys += strlen(keys) + 1;
  return keys;
}

static tct_status join_keys(tct_data *const *part, int64_t parts, int64_t drop, tct_data *to, tct_error *err) {
  size_t bytes = 0;
  if (!part[0]->keys) return TCT_OK;
  for (int64_t k = 0; k < parts; k++) bytes += (size_t)(tct_keys_after(part[k]->keys, part[k]->x.rows) - part[k]->keys);
  char *at = to->keys = tct_alloc((int64_t)bytes + 1, 1);
  if (!at) return tct_fail_memory(err);
  for (int64_t k = 0; k < parts; k++) {
    const char *from = tct_keys_after(part[k]->keys, k == 0 ? drop : 0);
    size_t length = (size_t)(tct_keys_after(part[k]->keys, part[k]->x.rows) - from);
    memcpy(at, from, length);
    at += length;
  }
  return TCT_OK;
}

static tct_status fill(tct_data *const *part, int64_t parts, int64_t drop, tct_data *to, tct_error *err) {
  tct_matrix *m = &to->own.m;
  int64_t rows, entries, row = 0, entry = 0;
  const tct_matrix *like = &part[0]->x;
  if (like->layout != TCT_CSR && like->layout != TCT_DENSE_ROWS)
    return tct_fail(err, TCT_E_USAGE, "an array stored by columns cannot be put together; save it in C order");
  count_all(part, parts, drop, &rows, &entries);
  m->layout = like->layout, m->value_type = like->value_type;
  m->rows = rows, m->cols = like->cols;
  for (int64_t k = 1; k < parts; k++) m->cols = part[k]->x.cols > m->cols ? part[k]->x.cols : m->cols;
  m->index_type = m->layout == TCT_CSR && entries > INT32_MAX ? TCT_I64 : TCT_I32;
  m->stride = m->layout == TCT_CSR ? 0 : m->cols;
  TCT_TRY(make_room(to, entries, part[0], err));
  for (int64_t k = 0; k < parts; k++) TCT_TRY(tct_inputs_copy(&to->inputs, &part[k]->inputs, err));
  for (int64_t k = 0; k < parts; k++) append(to, part[k], k == 0 ? drop : 0, part[k]->x.rows, &row, &entry);
  TCT_TRY(join_keys(part, parts, drop, to, err));
  return tct_data_describe(to, part[0], err);
}

tct_status tct_data_join(tct_data *const *part, int64_t parts, int64_t drop, tct_data **out, tct_error *err) {
  *out = TCT_NEW(tct_data, 1);
  if (!*out) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int64_t k = 1; k < parts && status == TCT_OK; k++) status = tct_data_alike(part[0], part[k], err);
  if (status == TCT_OK) status = fill(part, parts, drop, *out, err);
  if (status == TCT_OK) return TCT_OK;
  tct_data_free(*out);
  *out = NULL;
  return status;
}

/* ---- some of the records ---- */

/* The run of marked rows that begins at or behind `from`, as [*first, end); end is returned. */
static int64_t next_run(const unsigned char *mark, int64_t rows, int64_t from, unsigned char wanted, int64_t *first) {
  int64_t at = from;
  while (at < rows && mark[at] != wanted) at++;
  *first = at;
  while (at < rows && mark[at] == wanted) at++;
  return at;
}

static tct_status pick(const tct_data *from, const unsigned char *mark, unsigned char wanted, tct_data *to,
                       tct_error *err) {
  const tct_matrix *f = &from->x;
  tct_matrix *m = &to->own.m;
  int64_t entries = 0, row = 0, entry = 0, first;
  bool csr = f->layout == TCT_CSR;
  *m = (tct_matrix){.cols = f->cols, .layout = f->layout, .value_type = f->value_type};
  for (int64_t end = 0; end < f->rows;) {
    end = next_run(mark, f->rows, end, wanted, &first);
    m->rows += end - first;
    entries += csr ? offset_at(f, f->start, end) - offset_at(f, f->start, first) : (end - first) * f->cols;
  }
  m->index_type = csr && entries > INT32_MAX ? TCT_I64 : TCT_I32;
  m->stride = csr ? 0 : m->cols;
  TCT_TRY(make_room(to, entries, from, err));
  for (int64_t end = 0; end < f->rows;) {
    end = next_run(mark, f->rows, end, wanted, &first);
    append(to, from, first, end, &row, &entry);
  }
  TCT_TRY(tct_inputs_copy(&to->inputs, &from->inputs, err));
  return tct_data_describe(to, from, err);
}

tct_status tct_data_pick(const tct_data *from, const unsigned char *mark, unsigned char wanted, tct_data **out,
                         tct_error *err) {
  tct_owned_matrix turned = {0};
  tct_data rows = *from; /* borrows everything but what is turned */
  tct_status status = TCT_OK;
  *out = TCT_NEW(tct_data, 1);
  if (!*out) return tct_fail_memory(err);
  if (rows.x.layout == TCT_DENSE_COLS || rows.x.layout == TCT_CSC) {
    tct_layout layout = rows.x.layout == TCT_CSC ? TCT_CSR : TCT_DENSE_ROWS;
    status = tct_matrix_convert(&from->x, layout, (tct_value_type)from->x.value_type, &turned, err);
    rows.x = turned.m;
  }
  rows.positive_unlisted = false; /* what a part lacks by the draw is no reason to refuse */
  if (status == TCT_OK) status = pick(&rows, mark, wanted, *out, err);
  tct_matrix_free(&turned);
  if (status == TCT_OK) return TCT_OK;
  tct_data_free(*out);
  *out = NULL;
  return status;
}

/* rows, entries; where each row ends; columns; values; labels; weights; marks. */
static int64_t packed_size(const tct_data *data, int64_t rows, int64_t entries) {
  bool csr = data->x.layout == TCT_CSR;
  return 16 + (csr ? 8 * (rows + entries) : 0) + entries * (int64_t)tct_value_size(&data->x) +
         (data->y ? 8 * rows : 0) + (data->weight ? 8 * rows : 0) + (data->offset ? 8 * rows : 0) +
         (data->dropped ? rows : 0);
}

static void add(char **at, const void *bytes, size_t count) {
  memcpy(*at, bytes, count);
  *at += count;
}

tct_status tct_data_pack(const tct_data *data, int64_t rows, char **bytes, int64_t *size, tct_error *err) {
  const tct_matrix *m = &data->x;
  bool csr = m->layout == TCT_CSR;
  int64_t entries = csr ? offset_at(m, m->start, rows) : rows * m->cols;
  *size = packed_size(data, rows, entries);
  char *at = *bytes = tct_alloc(*size, 1);
  if (!at) return tct_fail_memory(err);
  add(&at, &rows, 8);
  add(&at, &entries, 8);
  for (int64_t i = 1; csr && i <= rows; i++) add(&at, &(int64_t){offset_at(m, m->start, i)}, 8);
  for (int64_t k = 0; csr && k < entries; k++) add(&at, &(int64_t){offset_at(m, m->index, k)}, 8);
  if (csr) add(&at, m->values, (size_t)entries * tct_value_size(m));
  for (int64_t i = 0; !csr && i < rows; i++)
    add(&at, (const char *)m->values + (size_t)(i * m->stride) * tct_value_size(m),
        (size_t)m->cols * tct_value_size(m));
  if (data->y) add(&at, data->y, 8 * (size_t)rows);
  if (data->weight) add(&at, data->weight, 8 * (size_t)rows);
  if (data->offset) add(&at, data->offset, 8 * (size_t)rows);
  if (data->dropped) add(&at, data->dropped, (size_t)rows);
  return TCT_OK;
}

static void take(const char **at, void *to, size_t count) {
  memcpy(to, *at, count);
  *at += count;
}

tct_status tct_data_unpack(const char *bytes, int64_t size, const tct_data *like, tct_data **out, tct_error *err) {
  int64_t rows = 0, entries = 0, value;
  const char *at = bytes;
  if (size >= 16) take(&at, &rows, 8), take(&at, &entries, 8);
  if (size < 16 || rows < 0 || entries < 0 || packed_size(like, rows, entries) != size)
    return tct_fail(err, TCT_E_RUN, "records from another rank came damaged; run again");
  tct_data *to = *out = TCT_NEW(tct_data, 1);
  if (!to) return tct_fail_memory(err);
  tct_matrix *m = &to->own.m;
  *m = (tct_matrix){.rows = rows, .cols = like->x.cols, .layout = like->x.layout, .value_type = like->x.value_type};
  m->index_type = m->layout == TCT_CSR ? TCT_I64 : TCT_I32;
  m->stride = m->layout == TCT_CSR ? 0 : m->cols;
  tct_status status = make_room(to, entries, like, err);
  if (status == TCT_OK) status = tct_data_describe(to, like, err);
  if (status != TCT_OK) {
    tct_data_free(to);
    *out = NULL;
    return status;
  }
  for (int64_t i = 1; m->layout == TCT_CSR && i <= rows; i++)
    take(&at, &value, 8), tct_put_offset(m->start, m->index_type, i, value);
  for (int64_t k = 0; m->layout == TCT_CSR && k < entries; k++)
    take(&at, &value, 8), tct_put_offset(m->index, m->index_type, k, value);
  take(&at, (void *)(uintptr_t)m->values, (size_t)entries * tct_value_size(m));
  if (to->own_y) take(&at, to->own_y, 8 * (size_t)rows);
  if (to->weight) take(&at, to->weight, 8 * (size_t)rows);
  if (to->offset) take(&at, to->offset, 8 * (size_t)rows);
  if (to->dropped) take(&at, to->dropped, (size_t)rows);
  return TCT_OK;
}
