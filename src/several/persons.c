/* persons.c - which rows of a person count, where a person has more than may. */
#include "core/alloc.h"
#include "mech/mech.h"
#include "tacit.h"

static tct_status check(const int64_t *person, int64_t rows, int64_t max, tct_error *err) {
  if (max < 1) return tct_fail(err, TCT_E_USAGE, "of each person at least 1 row counts; give how many");
  for (int64_t i = 0; i < rows; i++)
    if (person[i] < 0 || person[i] >= rows)
      return tct_fail(err, TCT_E_USAGE, "a person's number is not in [0, rows); number the persons from 0");
  return TCT_OK;
}

/* The first `most` rows of each person in a uniform order of all rows.  Of one person's rows every choice is as likely
 * as another, whoever else is in the table. */
tct_status tct_persons_draw(const int64_t *person, int64_t rows, int64_t max, const uint64_t *seed,
                            unsigned char *counts, tct_error *err) {
  tct_promise none = {0};
  tct_mech *mech = NULL;
  tct_error_clear(err);
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
