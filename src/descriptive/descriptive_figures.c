/* descriptive_figures.c - the description in a file: every number as it was released, and the figures of it.
 *
 * Counts are those of this table, and their intervals count the noise alone.  Shares, means, deviations and quantiles
 * are of whom the records stand for, and their intervals count also who is in the table, unless they are to be about
 * this table.  Records of persons weigh less than 1; a sum of weights is then the number of records that the errors of
 * who is in the table go by.  That is no less than they would have were all records of a person alike. */
#include "core/alloc.h"
#include "descriptive/descriptive.h"
#include "infer/inference.h"

#include <math.h>
#include <string.h>

static const double LEVEL = 0.95;
/* The vector is kept to this power of 2 below its noise, which adds a part of 2^-16 to its variance. */
static const int KEPT = 6;

json_t *tct_desc_figure(const tct_desc_world *w, double value, double noise, double sampling, double low, double high) {
  double reach = w->z * hypot(noise, w->sampling ? sampling : 0);
  return json_pack("{s:f, s:f, s:f, s:f}", "value", fmin(fmax(value, low), high), "lower",
                   fmin(fmax(value - reach, low), high), "upper", fmin(fmax(value + reach, low), high), "noise", noise);
}

static json_t *count_figure(const tct_desc_world *w, double count, double noise) {
  tct_desc_world table = *w;
  table.sampling = false;
  return tct_desc_figure(&table, count, noise, 0, 0, INFINITY);
}

/* A share of `all`, whose own error is given by its variance.  The chance behind it is taken two records of each sort
 * away from 0 and 1 (Agresti and Coull 1998). */
static json_t *share_figure(const tct_desc_world *w, double count, double noise, double all, double all_noise) {
  double share = fmin(fmax(count / all, 0), 1), p = (share * all + 2) / (all + 4);
  return tct_desc_figure(w, count / all, sqrt(noise * noise + share * share * all_noise) / all, sqrt(p * (1 - p) / all),
                         0, 1);
}

void tct_desc_told(const tct_desc_world *w, double missing, double noise, double *told, double *told_noise) {
  *told = fmax(w->records - fmax(missing, 0), 1), *told_noise = w->records_noise + noise * noise;
}

static json_t *released(const double *own, int64_t length) {
  json_t *out = json_array();
  for (int64_t j = 0; j < length; j++) json_array_append_new(out, json_real(own[j]));
  return out;
}

/* A cell that cannot be told from an empty one says so. */
static json_t *cell_of(const tct_desc_world *w, double count, double noise, double all, double all_noise) {
  return json_pack("{s:o, s:o, s:b}", "count", count_figure(w, count, noise), "share",
                   share_figure(w, count, noise, all, all_noise), "small", !(count > w->z * noise));
}

static void put_gaps(const tct_desc_world *w, json_t *out, double missing, double noise, double *told,
                     double *told_noise) {
  tct_desc_told(w, missing, noise, told, told_noise);
  tct_desc_world table = *w;
  table.sampling = false;
  json_object_set_new(
      out, "told",
      tct_desc_figure(&table, *told, sqrt(*told_noise), 0, 0, w->records_noise > 0 ? INFINITY : w->records));
  json_object_set_new(out, "missing", share_figure(w, missing, noise, fmax(w->records, 1), w->records_noise));
}

static json_t *number_of(const tct_desc_part *part, const tct_desc_world *w, const double *own) {
  double told, noise;
  json_t *out = json_pack("{s:s, s:s, s:f, s:f}", "name", part->name, "kind", "number", "lower", part->lower, "upper",
                          part->upper);
  put_gaps(w, out, own[TCT_DESC_MISSING], w->sigma, &told, &noise);
  json_t *figures = tct_desc_numbers(part, w, own);
  if (!figures || json_object_update_missing(out, figures)) out = (json_decref(out), NULL);
  json_decref(figures);
  return out;
}

static json_t *category_of(const tct_desc_part *part, const tct_desc_world *w, const double *own) {
  double told, told_noise, noise = w->sigma / TCT_DESC_CELL;
  json_t *levels = json_array(), *out = json_pack("{s:s, s:s}", "name", part->name, "kind", "category");
  put_gaps(w, out, own[part->missing] / TCT_DESC_CELL, noise, &told, &told_noise);
  for (int64_t k = 0; k < part->cells; k++) {
    if (k == part->missing) continue;
    json_t *level = cell_of(w, own[k] / TCT_DESC_CELL, noise, told, told_noise);
    json_object_set(level, "name", json_array_get(part->values, (size_t)k));
    json_array_append_new(levels, level);
  }
  json_object_set_new(out, "levels", levels);
  return out;
}

/* Rows and columns are all that is counted, gaps too; shares are of all records. */
static json_t *pair_of(const tct_desc *d, const tct_desc_part *part, const tct_desc_world *w, const double *own) {
  const tct_desc_part *a = &d->part[part->of[0]], *b = &d->part[part->of[1]];
  json_t *cells = json_array();
  for (int64_t i = 0; i < a->cells; i++) {
    json_t *row = json_array();
    for (int64_t j = 0; j < b->cells; j++)
      json_array_append_new(row, cell_of(w, own[i * b->cells + j] / TCT_DESC_CELL, w->sigma / TCT_DESC_CELL,
                                         fmax(w->records, 1), w->records_noise));
    json_array_append_new(cells, row);
  }
  return json_pack("{s:[s, s], s:O, s:O, s:o}", "of", a->name, b->name, "rows", a->values, "columns", b->values,
                   "cells", cells);
}

json_t *tct_desc_json(const tct_desc *d, double *sum, double deviation, int64_t rows) {
  double kept = ldexp(1, ilogb(deviation) - KEPT);
  json_t *columns = json_array(), *cross = json_array();
  for (int64_t j = 0; j < d->length; j++) sum[j] = rint(sum[j] / kept) * kept;
  const tct_desc_world w = {.z = tct_student_quantile(LEVEL, INFINITY),
                            .sigma = deviation,
                            .records = d->persons ? sum[d->length - 1] : (double)rows,
                            .records_noise = d->persons ? deviation * deviation : 0,
                            .sampling = !d->table};
  bool whole = true;
  for (int64_t k = 0; k < d->parts; k++) {
    const tct_desc_part *part = &d->part[k];
    const double *own = sum + part->first;
    json_t *one = part->kind == TCT_DESC_NUMBER     ? number_of(part, &w, own)
                  : part->kind == TCT_DESC_CATEGORY ? category_of(part, &w, own)
                                                    : pair_of(d, part, &w, own);
    whole &= one && !json_object_set_new(one, "released", released(own, part->length));
    json_array_append_new(part->kind == TCT_DESC_PAIR ? cross : columns, one);
  }
  json_t *out =
      json_pack("{s:O, s:o, s:o, s:f, s:b, s:b, s:I}", "schema", d->schema, "columns", columns, "cross", cross, "level",
                LEVEL, "sampling", w.sampling, "persons", d->persons, "rows", (json_int_t)rows);
  if (d->persons && out)
    json_object_set_new(out, "records", count_figure(&w, w.records, deviation)),
        json_object_set_new(out, "weights", json_real(sum[d->length - 1]));
  return whole ? out : (json_decref(out), NULL);
}

bool tct_desc_sums(const tct_desc *d, const json_t *said, double *sum) {
  const json_t *columns = json_object_get(said, "columns"), *cross = json_object_get(said, "cross");
  const json_t *weights = json_object_get(said, "weights");
  bool good = (int64_t)json_array_size(columns) == d->columns &&
              (int64_t)json_array_size(cross) == d->parts - d->columns && d->persons == json_is_number(weights);
  for (int64_t k = 0; good && k < d->parts; k++) {
    const tct_desc_part *part = &d->part[k];
    const json_t *own = json_object_get(part->kind == TCT_DESC_PAIR ? json_array_get(cross, (size_t)(k - d->columns))
                                                                    : json_array_get(columns, (size_t)k),
                                        "released");
    good = (int64_t)json_array_size(own) == part->length;
    for (int64_t j = 0; good && j < part->length; j++) {
      const json_t *one = json_array_get(own, (size_t)j);
      sum[part->first + j] = json_number_value(one);
      good = json_is_number(one) && isfinite(sum[part->first + j]);
    }
  }
  if (good && d->persons) sum[d->length - 1] = json_number_value(weights);
  return good && (!d->persons || isfinite(sum[d->length - 1]));
}
