/* estimate_lists.c - lists of categories: counts of the texts that occur, and those above the threshold. */
#include "core/point.h"
#include "core/alloc.h"
#include "estimate/estimate.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"

#include <stdlib.h>
#include <string.h>

tct_status tct_found_make(const tct_estimate_plan *plan, const tct_data *data, tct_found *out, tct_error *err) {
  *out = (tct_found){.low = TCT_NEW(double, 3 * plan->columns),
                     .list = TCT_NEW(json_t *, plan->lists),
                     .place = TCT_NEW(int64_t, tct_words_count(data->words))};
  if (!out->low || !out->list || !out->place) return tct_fail_memory(err);
  out->high = out->low + plan->columns, out->middle = out->high + plan->columns;
  return TCT_OK;
}

void tct_found_free(tct_found *found, int64_t lists) {
  for (int64_t l = 0; found->list && l < lists; l++) json_decref(found->list[l]);
  tct_free(found->list);
  tct_free(found->low);
  tct_free(found->place);
}

/* A text that occurs, and where it was numbered. */
typedef struct seen {
  const char *text;
  int64_t column, length, number;
} seen;

/* By column, then byte by byte: the order of records, and of threads, does not show. */
static int by_text(const void *a, const void *b) {
  const seen *x = a, *y = b;
  if (x->column != y->column) return x->column < y->column ? -1 : 1;
  int order = memcmp(x->text, y->text, (size_t)(x->length < y->length ? x->length : y->length));
  return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* One release of lists on its way. */
typedef struct run {
  const tct_estimate_plan *plan;
  const tct_data *data;
  const tct_open *open;
  int64_t texts, len; /* len: at least one number is released */
  seen *text;         /* [texts], sorted */
  int64_t *cell;      /* [texts] the place of a number in that order */
  double *sum;        /* [len] */
} run;

static tct_status make(run *r, tct_error *err) {
  r->texts = tct_words_count(r->data->words);
  r->len = r->texts > 0 ? r->texts : 1;
  r->text = TCT_NEW(seen, r->texts);
  r->cell = TCT_NEW(int64_t, r->texts);
  r->sum = TCT_NEW(double, r->len);
  if (!r->text || !r->cell || !r->sum) return tct_fail_memory(err);
  for (int64_t k = 0; k < r->texts; k++) {
    seen *s = &r->text[k];
    s->text = tct_words_text(r->data->words, k, &s->column, &s->length);
    s->number = k;
  }
  if (r->texts > 1) qsort(r->text, (size_t)r->texts, sizeof *r->text, by_text);
  for (int64_t k = 0; k < r->texts; k++) r->cell[r->text[k].number] = k;
  return TCT_OK;
}

/* The number of the record's text in a column, or TCT_WORD_NONE: it adds to one count of the column, or to none. */
static int64_t number_at(const run *r, int64_t i, int64_t l) {
  tct_row row = tct_row_at(&r->data->x, i);
  int64_t j = r->open->list[l], at = tct_lower_bound(&row, j), column, length;
  double value = at < row.n && tct_row_column(&row, at) == j ? tct_row_value(&row, at) : TCT_WORD_NONE;
  if (!(value >= 0 && value < (double)r->texts)) return TCT_WORD_NONE;
  tct_words_text(r->data->words, (int64_t)value, &column, &length);
  return column == r->open->column[l] ? (int64_t)value : TCT_WORD_NONE;
}

static void count(const run *r, double lattice) {
  const tct_data *data = r->data;
  for (int64_t i = 0; i < data->x.rows; i++) {
    if (data->dropped && data->dropped[i]) continue;
    double weight = data->weight ? data->weight[i] : 1;
    if (lattice > 0) weight = tct_lattice_part(weight, lattice);
    for (int64_t l = 0; l < r->plan->lists; l++) {
      int64_t number = number_at(r, i, l);
      if (number >= 0) r->sum[r->cell[number]] += weight;
    }
  }
}

/* The texts whose noisy count is above the threshold; those that JSON cannot hold are never listed. */
static tct_status take_lists(const run *r, tct_found *out, tct_error *err) {
  for (int64_t l = 0; l < r->plan->lists; l++)
    if (!(out->list[l] = json_array())) return tct_fail_memory(err);
  for (int64_t k = 0, l = 0; k < r->texts; k++) {
    const seen *s = &r->text[k];
    while (l < r->plan->lists && r->open->column[l] < s->column) l++;
    out->place[s->number] = -1;
    bool listed = l < r->plan->lists && r->open->column[l] == s->column &&
                  r->sum[k] > TCT_POINT(list_without_threshold, r->plan->threshold, 0);
    json_t *text = listed && !memchr(s->text, 0, (size_t)s->length) ? json_stringn(s->text, (size_t)s->length) : NULL;
    if (!text) continue;
    out->place[s->number] = (int64_t)json_array_size(out->list[l]);
    if (json_array_append_new(out->list[l], text) != 0) return tct_fail_memory(err);
  }
  return TCT_OK;
}

tct_status tct_estimate_lists(const tct_estimate_plan *plan, const tct_data *data, const tct_open *open, int which,
                              tct_mech *mech, tct_found *out, tct_error *err) {
  run r = {.plan = plan, .data = data, .open = open};
  tct_status status = make(&r, err);
  if (status == TCT_OK) {
    count(&r, tct_mech_release_of(mech, which)->lattice);
    status = tct_mech_release(mech, which, r.sum, r.len, err);
  }
  if (status == TCT_OK) status = take_lists(&r, out, err);
  tct_free(r.text);
  tct_free(r.cell);
  tct_wipe_free(r.sum, r.sum ? r.len : 0, sizeof *r.sum);
  return status;
}
