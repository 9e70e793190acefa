/* estimate_encode.c - records whose categories have got lists: encoded again by the schema as completed. */
#include "core/alloc.h"
#include "estimate/estimate.h"
#include "la/matrix/rows_access.h"

#include <stdio.h>
#include <string.h>

#define MOST_NARROW TCT_LIMIT(INT32_MAX, 100) /* entries whose places 32 bits hold */

/* A column of the schema: its features before and after. */
typedef struct part {
  int64_t from, had, to, has;
  bool open;
} part;

typedef struct encoding {
  const tct_data *data;
  const tct_found *found;
  part *part;                    /* [parts] */
  int64_t parts, features, most; /* most: entries of a record */
  bool sparse;
  tct_matrix *to;
  int64_t filled; /* entries so far */
} encoding;

static tct_status find_parts(encoding *e, const json_t *before, const json_t *after, tct_error *err) {
  const json_t *old = json_object_get(before, "columns"), *now = json_object_get(after, "columns");
  int64_t from = 0;
  e->parts = (int64_t)json_array_size(old);
  e->part = TCT_NEW(part, e->parts);
  if (!e->part) return tct_fail_memory(err);
  for (int64_t k = 0; k < e->parts; k++) {
    const json_t *was = json_array_get(old, (size_t)k), *is = json_array_get(now, (size_t)k);
    bool open = json_is_true(json_object_get(was, "estimate")) && tct_json_says(was, "type", "category");
    e->part[k] = (part){from, tct_estimate_features(was), e->features, tct_estimate_features(is), open};
    from += e->part[k].had, e->features += e->part[k].has;
    e->most += e->part[k].has > 0;
  }
  e->sparse = e->most * 12 + 4 < e->features * 8; /* as the reader decides: the smaller form, whatever the data */
  if (e->features > 0) return TCT_OK;
  return tct_fail(err, TCT_E_DATA, "no text of any column is seen often enough; spend more, or list the values");
}

/* In an index or a start. */
static void put_whole(const tct_matrix *to, const void *array, int64_t at, int64_t value) {
  if (to->index_type == TCT_I64)
    ((int64_t *)(uintptr_t)array)[at] = value;
  else
    ((int32_t *)(uintptr_t)array)[at] = (int32_t)value;
}

static void put(encoding *e, int64_t row, int64_t feature, double value) {
  if (!e->sparse) {
    ((double *)(uintptr_t)e->to->values)[row * e->features + feature] = value;
    return;
  }
  ((double *)(uintptr_t)e->to->values)[e->filled] = value;
  put_whole(e->to, e->to->index, e->filled++, feature);
}

static void put_open(encoding *e, int64_t i, const part *p, double value) {
  bool known = value >= 0 && value < (double)tct_words_count(e->data->words);
  int64_t place = known ? e->found->place[(int64_t)value] : -1;
  if (place >= 0 && place < p->has) put(e, i, p->to + place, 1);
}

static void encode_row(encoding *e, int64_t i) {
  tct_row row = tct_row_at(&e->data->x, i);
  for (int64_t k = 0; k < e->parts; k++) {
    const part *p = &e->part[k];
    for (int64_t at = tct_lower_bound(&row, p->from); at < row.n; at++) {
      int64_t j = tct_row_column(&row, at) - p->from;
      if (j >= p->had) break;
      double value = tct_row_value(&row, at);
      if (p->open)
        put_open(e, i, p, value);
      else if (!e->sparse || value != 0)
        put(e, i, p->to + j, value);
    }
  }
}

static tct_status make_room(encoding *e, tct_owned_matrix *own, tct_error *err) {
  int64_t rows = e->data->x.rows, entries = rows * (e->sparse ? e->most : e->features);
  e->to = &own->m;
  *e->to = (tct_matrix){.rows = rows, .cols = e->features, .layout = e->sparse ? TCT_CSR : TCT_DENSE_ROWS};
  e->to->stride = e->sparse ? 0 : e->features;
  e->to->index_type = !e->sparse || entries > MOST_NARROW ? TCT_I64 : TCT_I32;
  e->to->values = TCT_NEW(double, entries);
  if (!e->to->values) return tct_fail_memory(err);
  if (!e->sparse) return TCT_OK;
  size_t wide = e->to->index_type == TCT_I64 ? sizeof(int64_t) : sizeof(int32_t);
  e->to->start = tct_alloc(rows + 1, wide);
  e->to->index = tct_alloc(entries, wide);
  return e->to->start && e->to->index ? TCT_OK : tct_fail_memory(err);
}

static size_t name_at(const json_t *column, int64_t k, char *to, size_t size) {
  const char *name = tct_json_said(column, "name");
  const json_t *values = json_object_get(column, "values");
  if (!values) return (size_t)snprintf(to, size, "%s", name) + 1;
  k += json_is_true(json_object_get(column, "drop_first"));
  return (size_t)snprintf(to, size, "%s=%s", name, json_string_value(json_array_get(values, (size_t)k))) + 1;
}

/* One allocation: the pointers, then the texts. */
static char **names_of(const encoding *e, const json_t *completed) {
  const json_t *columns = json_object_get(completed, "columns");
  size_t bytes = (size_t)e->features * sizeof(char *);
  for (int64_t k = 0; k < e->parts; k++)
    for (int64_t f = 0; f < e->part[k].has; f++) bytes += name_at(json_array_get(columns, (size_t)k), f, NULL, 0);
  char **names = tct_alloc((int64_t)bytes, 1), *at = (char *)(names + e->features), *end = (char *)names + bytes;
  for (int64_t k = 0; names && k < e->parts; k++)
    for (int64_t f = 0; f < e->part[k].has; f++) {
      names[e->part[k].to + f] = at;
      at += name_at(json_array_get(columns, (size_t)k), f, at, (size_t)(end - at));
    }
  return names;
}

static tct_status encode(encoding *e, tct_data *data, const json_t *completed, tct_owned_matrix *own, tct_error *err) {
  TCT_TRY(make_room(e, own, err));
  char **names = names_of(e, completed);
  if (!names) return tct_fail_memory(err);
  for (int64_t i = 0; i < data->x.rows; i++) {
    if (!data->dropped || !data->dropped[i]) encode_row(e, i);
    if (e->sparse) put_whole(&own->m, own->m.start, i + 1, e->filled);
  }
  tct_matrix_free(&data->own);
  tct_free(data->names);
  data->own = *own, data->x = own->m, data->names = names;
  tct_words_free(data->words);
  data->words = NULL;
  return TCT_OK;
}

tct_status tct_estimate_encode(tct_data *data, const json_t *schema, const json_t *completed, const tct_found *found,
                               tct_error *err) {
  encoding e = {.data = data, .found = found};
  tct_owned_matrix own = {0};
  tct_status status = find_parts(&e, schema, completed, err);
  if (status == TCT_OK) status = encode(&e, data, completed, &own, err);
  if (status != TCT_OK) tct_matrix_free(&own);
  tct_free(e.part);
  return status;
}
