/* persons.c - which rows of a person count, where a person has more than may; and persons by their names in a table. */
#include "core/alloc.h"
#include "mech/mech.h"
#include "read/table/data.h"
#include "tacit.h"

#include <stdlib.h>
#include <string.h>

static tct_status check(const int64_t *person, int64_t rows, int64_t max, tct_error *err) {
  if (max < 1) return tct_fail(err, TCT_E_USAGE, "of each person at least 1 row counts; give how many");
  for (int64_t i = 0; i < rows; i++)
    if (person[i] < 0 || person[i] >= rows)
      return tct_fail(err, TCT_E_USAGE, "a person's number is not in [0, rows); number the persons from 0");
  return TCT_OK;
}

/* The first `most` rows of each person in a uniform order of all rows.  Of one person's rows every choice is as likely
 * as another, whoever else is in the table. */
static tct_status draw(const int64_t *person, int64_t rows, int64_t max, const uint64_t *seed, unsigned char *counts,
                       tct_error *err) {
  tct_promise none = {0};
  tct_mech *mech = NULL;
  TCT_TRY(check(person, rows, max, err));
  int64_t *order = TCT_NEW(int64_t, 2 * rows), *taken = order + rows;
  tct_status status = order ? tct_mech_new(&none, TCT_ADD_REMOVE, seed, &mech, err) : tct_fail_memory(err);
  if (status == TCT_OK) {
    tct_mech_shuffle(mech, 0, order, rows);
    for (int64_t k = 0; k < rows; k++) counts[order[k]] = taken[person[order[k]]]++ < max;
  }
  tct_mech_free(mech);
  tct_wipe_free(order, 2 * rows, sizeof *order);
  return status;
}

/* ---- by name ----------------------------------------------------------------------------------------------------- */

typedef struct named {
  const char *name;
  int64_t row;
} named;

static int by_name(const void *a, const void *b) {
  const named *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* person[rows] <- numbers from 0, the same for the same name, byte by byte. */
static void number_persons(const tct_data *data, named *list, int64_t *person) {
  int64_t rows = data->x.rows, last = -1;
  const char *at = data->keys;
  for (int64_t i = 0; i < rows; i++, at += strlen(at) + 1) list[i] = (named){at, i};
  qsort(list, (size_t)rows, sizeof *list, by_name);
  for (int64_t k = 0; k < rows; k++) {
    last += k == 0 || strcmp(list[k].name, list[k - 1].name) != 0;
    person[list[k].row] = last;
  }
}

/* Every row that counts weighs 1 under a cap of `max`: all that count of a person sum to at most 1. */
static tct_status weigh(tct_data *data, const int64_t *person, int64_t max, const uint64_t *seed, tct_error *err) {
  int64_t rows = data->x.rows;
  unsigned char *counts = TCT_NEW(unsigned char, rows);
  double *weight = TCT_NEW(double, rows);
  tct_status status = counts && weight ? draw(person, rows, max, seed, counts, err) : tct_fail_memory(err);
  for (int64_t i = 0; status == TCT_OK && i < rows; i++) weight[i] = counts[i];
  if (status == TCT_OK) status = tct_data_weigh(data, weight, (double)max, person, err);
  tct_wipe_free(counts, rows, sizeof *counts);
  tct_wipe_free(weight, rows, sizeof *weight);
  return status;
}

tct_status tct_data_weigh_persons(tct_data *data, const int64_t *person, int64_t rows_per_person, const uint64_t *seed,
                                  tct_error *err) {
  int64_t rows = data->x.rows;
  tct_error_clear(err);
  if (person) return weigh(data, person, rows_per_person, seed, err);
  if (!data->keys)
    return tct_fail(err, TCT_E_USAGE, "the data were read without the column that names the persons; name it");
  named *list = TCT_NEW(named, rows);
  int64_t *own = TCT_NEW(int64_t, rows);
  tct_status status = list && own ? TCT_OK : tct_fail_memory(err);
  if (status == TCT_OK) number_persons(data, list, own);
  if (status == TCT_OK) status = weigh(data, own, rows_per_person, seed, err);
  tct_wipe_free(list, rows, sizeof *list);
  tct_wipe_free(own, rows, sizeof *own);
  return status;
}
