/* descriptive_vector.c - which numbers describe a table, and what each record adds to them. */
#include "core/alloc.h"
#include "core/point.h"
#include "descriptive/descriptive.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"
#include "read/table/words.h"

#include <math.h>
#include <string.h>

/* Of both sums of what is left over: their noise is divided by the number of cells. */
static const double LEFT_OVER = 0.07;
/* Each level has this part of the square of the level above it. */
static const double FALL = 0.85;

double tct_desc_weight(int level) {
  if (level == TCT_DESC_DEPTH) return LEFT_OVER;
  double first = (1 - 2 * LEFT_OVER * LEFT_OVER) * (1 - FALL) / (1 - pow(FALL, TCT_DESC_DEPTH));
  return sqrt(first * pow(FALL, level));
}

double tct_desc_edge(const tct_desc_part *part, int64_t j) {
  return j == TCT_DESC_PARTS ? part->upper : part->lower + (part->upper - part->lower) * ((double)j / TCT_DESC_PARTS);
}

static int64_t cell_of(const tct_desc_part *part, double value) {
  double cell = floor((value - part->lower) / (part->upper - part->lower) * TCT_DESC_PARTS);
  return cell >= TCT_DESC_PARTS ? TCT_DESC_PARTS - 1 : cell > 0 ? (int64_t)cell : 0;
}

/* ---- the reading ------------------------------------------------------------------------------------------------ */

static int64_t place_in(const json_t *values, const char *text) {
  for (size_t k = 0; k < json_array_size(values); k++)
    if (!strcmp(json_string_value(json_array_get(values, k)), text)) return (int64_t)k;
  return -1;
}

/* A gap is told as one, whatever the schema fills it with; a text that is not listed is counted beside the listed. */
static json_t *raw_column(const json_t *column) {
  static const char other[] = "(other)";
  const char *name = tct_json_said(column, "name");
  if (tct_json_says(column, "type", "number"))
    return json_pack("{s:s, s:s, s:b, s:s}", "name", name, "type", "number", "estimate", 1, "missing", "estimate");
  if (!tct_json_says(column, "type", "category")) return json_pack("{s:s, s:s}", "name", name, "type", "ignore");
  json_t *values = json_copy(json_object_get(column, "values"));
  if (place_in(values, other) < 0) json_array_append_new(values, json_string(other));
  if (place_in(values, TCT_MISSING_WORD) < 0) json_array_append_new(values, json_string(TCT_MISSING_WORD));
  return json_pack("{s:s, s:s, s:o, s:s, s:s}", "name", name, "type", "category", "values", values, "missing",
                   TCT_MISSING_WORD, "other", other);
}

static json_t *raw_schema(const json_t *schema) {
  static const char *const dropped[] = {"version", "terms", "scale", "label"};
  json_t *out = json_copy((json_t *)schema), *columns = json_array();
  const json_t *column;
  size_t k;
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) json_object_del(out, dropped[i]);
  json_array_foreach(json_object_get(schema, "columns"), k, column) json_array_append_new(columns, raw_column(column));
  json_object_set_new(out, "columns", columns);
  return out;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static void add_column(tct_desc *d, const json_t *given, const json_t *raw) {
  tct_desc_part *part = &d->part[d->columns];
  d->estimated |= json_object_get(given, "estimated") != NULL;
  if (tct_json_says(raw, "type", "ignore")) return;
  *part = (tct_desc_part){.kind = tct_json_says(raw, "type", "number") ? TCT_DESC_NUMBER : TCT_DESC_CATEGORY,
                          .name = tct_json_said(raw, "name"),
                          .feature = d->features,
                          .length = TCT_DESC_NUMBERS};
  d->columns++;
  if (part->kind == TCT_DESC_NUMBER) {
    part->lower = json_number_value(json_object_get(given, "lower"));
    part->upper = json_number_value(json_object_get(given, "upper"));
    d->features++;
    return;
  }
  part->values = json_object_get(raw, "values");
  part->missing = place_in(part->values, TCT_MISSING_WORD);
  part->cells = part->length = (int64_t)json_array_size(part->values);
  d->features += part->cells;
}

static int64_t category_named(const tct_desc *d, const json_t *name) {
  for (int64_t k = 0; k < d->columns && json_is_string(name); k++)
    if (d->part[k].kind == TCT_DESC_CATEGORY && !strcmp(d->part[k].name, json_string_value(name))) return k;
  return -1;
}

static tct_status add_pair(tct_desc *d, int64_t at, const json_t *names, tct_error *err) {
  int64_t a = category_named(d, json_array_get(names, 0)), b = category_named(d, json_array_get(names, 1));
  if (json_array_size(names) != 2 || a < 0 || b < 0 || a == b)
    return tct_fail(err, TCT_E_USAGE, "a cross-table is of two different columns of categories; name two of them");
  for (int64_t k = d->columns; k < at; k++)
    if ((d->part[k].of[0] == a && d->part[k].of[1] == b) || (d->part[k].of[0] == b && d->part[k].of[1] == a))
      return tct_fail(err, TCT_E_USAGE, "a cross-table is asked for twice; name each pair once");
  int64_t cells = d->part[a].cells * d->part[b].cells;
  d->part[at] = (tct_desc_part){.kind = TCT_DESC_PAIR, .of = {a, b}, .cells = cells, .length = cells};
  return TCT_OK;
}

/* Rounded up, so that no record's own vector is longer. */
static void settle(tct_desc *d) {
  double square = d->persons;
  d->length = 0;
  for (int64_t k = 0; k < d->parts; k++) {
    tct_desc_part *part = &d->part[k];
    part->first = d->length;
    d->length += part->length;
    square += part->kind == TCT_DESC_NUMBER ? 1 : TCT_DESC_CELL * TCT_DESC_CELL;
  }
  d->length += d->persons;
  d->move = TCT_POINT(describe_with_half_the_noise, 1, 0.5) * sqrt(square) * (1 + 0x1p-40);
}

tct_status tct_desc_make(const json_t *schema, const json_t *cross, bool persons, tct_desc *out, tct_error *err) {
  const json_t *columns = json_object_get(schema, "columns");
  int64_t pairs = (int64_t)json_array_size(cross), count = (int64_t)json_array_size(columns);
  *out = (tct_desc){.persons = persons,
                    .schema = json_incref((json_t *)schema),
                    .reading = raw_schema(schema),
                    .part = TCT_NEW(tct_desc_part, count + pairs + 1)};
  const json_t *raw = json_object_get(out->reading, "columns");
  if (!out->part || (int64_t)json_array_size(raw) != count) return tct_fail_memory(err);
  for (int64_t k = 0; k < count; k++)
    add_column(out, json_array_get(columns, (size_t)k), json_array_get(raw, (size_t)k));
  for (int64_t k = 0; k < pairs; k++) TCT_TRY(add_pair(out, out->columns + k, json_array_get(cross, (size_t)k), err));
  out->parts = out->columns + pairs;
  settle(out);
  if (out->columns < 1)
    return tct_fail(err, TCT_E_USAGE, "the schema has no number and no category to describe; describe a column there");
  if (out->length <= TCT_DESC_MOST) return TCT_OK;
  return tct_fail(err, TCT_E_USAGE, "more than %d numbers would describe this; name fewer columns or pairs",
                  TCT_DESC_MOST);
}

void tct_desc_free(tct_desc *desc) {
  tct_free(desc->part);
  json_decref(desc->schema);
  json_decref(desc->reading);
  *desc = (tct_desc){0};
}

/* ---- one record ------------------------------------------------------------------------------------------------- */

static double value_at(const tct_row *row, int64_t feature) {
  int64_t at = tct_lower_bound(row, feature);
  return at < row->n && tct_row_column(row, at) == feature ? tct_row_value(row, at) : 0;
}

/* Of a column of categories: the one of its features that is not 0. */
static int64_t listed_at(const tct_desc_part *part, const tct_row *row) {
  for (int64_t at = tct_lower_bound(row, part->feature); at < row->n; at++) {
    int64_t j = tct_row_column(row, at) - part->feature;
    if (j >= part->cells) break;
    if (tct_row_value(row, at) != 0) return j;
  }
  return -1;
}

static void add_number(const tct_desc_part *part, double value, double v, double lattice, const double *w,
                       double *own) {
  if (isnan(value)) {
    own[TCT_DESC_MISSING] += tct_lattice_part(v, lattice);
    return;
  }
  value = fmin(fmax(value, part->lower), part->upper);
  int64_t cell = cell_of(part, value);
  for (int l = 0; l < TCT_DESC_DEPTH; l++) {
    int64_t node = cell >> (TCT_DESC_DEPTH - l), right = cell >> (TCT_DESC_DEPTH - l - 1) & 1;
    own[TCT_DESC_TREE + ((int64_t)1 << l) - 1 + node] += tct_lattice_part(right ? v * w[l] : -v * w[l], lattice);
  }
  double unit = 2 * ((value - part->lower) / (part->upper - part->lower)) - 1;
  double middle = (double)(2 * cell + 1) / TCT_DESC_PARTS - 1;
  double left = fmin(fmax((unit - middle) * TCT_DESC_PARTS, -1), 1);
  own[TCT_DESC_LEFT] += tct_lattice_part(v * w[TCT_DESC_DEPTH] * left, lattice);
  own[TCT_DESC_LEFT + 1] += tct_lattice_part(v * w[TCT_DESC_DEPTH] * left * middle, lattice);
}

static void add_record(const tct_desc *d, const tct_row *row, double v, double lattice, const double *w,
                       int64_t *listed, double *sum) {
  for (int64_t k = 0; k < d->parts; k++) {
    const tct_desc_part *part = &d->part[k];
    double *own = sum + part->first;
    if (part->kind == TCT_DESC_NUMBER) {
      add_number(part, value_at(row, part->feature), v, lattice, w, own);
      continue;
    }
    bool pair = part->kind == TCT_DESC_PAIR;
    int64_t a = pair ? listed[part->of[0]] : listed_at(part, row), b = pair ? listed[part->of[1]] : 0;
    if (!pair) listed[k] = a;
    if (a >= 0 && b >= 0)
      own[pair ? a * d->part[part->of[1]].cells + b : a] += tct_lattice_part(v * TCT_DESC_CELL, lattice);
  }
  if (d->persons) sum[d->length - 1] += tct_lattice_part(v, lattice);
}

tct_status tct_desc_sum(const tct_desc *d, const tct_desc_table *table, double lattice, double *sum, tct_error *err) {
  int64_t *listed = TCT_NEW(int64_t, d->parts);
  double w[TCT_DESC_DEPTH + 1];
  if (!listed) return tct_fail_memory(err);
  for (int l = 0; l <= TCT_DESC_DEPTH; l++) w[l] = tct_desc_weight(l);
  memset(sum, 0, (size_t)d->length * sizeof *sum);
  for (int64_t i = 0; i < table->x->rows; i++) {
    if (table->dropped && table->dropped[i]) continue;
    double v = table->weight ? table->weight[i] : 1;
    tct_row row = tct_row_at(table->x, i);
    add_record(d, &row, v, lattice, w, listed, sum);
  }
  tct_wipe_free(listed, d->parts, sizeof *listed);
  return TCT_OK;
}
