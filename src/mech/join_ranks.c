/* join_ranks.c - what a run needs of all rows without releasing it, where the rows are spread over ranks.
 *
 * The ranks are one trusted curator: nothing here leaves it, and nothing is charged.  Only sums whose bits do not
 * depend on an order come through here, so that the number of ranks cannot change a result. */
#include "core/alloc.h"
#include "core/stop.h"
#include "mech/mech.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

tct_status tct_mech_join_sum(tct_mech *mech, double *sum, int64_t len, tct_error *err) {
  if (tct_stopping()) return tct_fail_cancelled(err);
  return tct_team_sum(tct_mech_team(mech), sum, len, err);
}

tct_status tct_mech_join_first(tct_mech *mech, double *number, int64_t len, tct_error *err) {
  if (tct_stopping()) return tct_fail_cancelled(err);
  return tct_team_broadcast(tct_mech_team(mech), number, len * (int64_t)sizeof *number, 0, err);
}

tct_status tct_mech_join_max(tct_mech *mech, double *value, int64_t len, tct_error *err) {
  if (tct_stopping()) return tct_fail_cancelled(err);
  return tct_team_largest(tct_mech_team(mech), value, len, err);
}

/* all[ranks] <- everybody's number; its sum. */
static tct_status gather(tct_team *team, int64_t own, int64_t **all, int64_t *sum, tct_error *err) {
  int ranks = tct_team_ranks(team);
  *all = TCT_NEW(int64_t, ranks);
  if (!*all) return tct_fail_memory(err);
  tct_status status = tct_team_gather(team, &own, *all, sizeof own, err);
  *sum = 0;
  for (int r = 0; r < ranks && status == TCT_OK; r++) *sum += (*all)[r];
  return status;
}

tct_status tct_mech_count_before(const tct_mech *mech, int64_t count, int64_t *before, tct_error *err) {
  tct_team *team = tct_mech_team(mech);
  int64_t *all = NULL, sum;
  *before = 0;
  if (tct_team_ranks(team) == 1) return TCT_OK;
  tct_status status = gather(team, count, &all, &sum, err);
  for (int r = 0; r < tct_team_own(team) && status == TCT_OK; r++) *before += all[r];
  tct_free(all);
  return status;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* list <- what is in anybody's list, ascending. */
static tct_status unite(tct_team *team, const int64_t *counts, int64_t sum, int64_t *list, int64_t *count,
                        tct_error *err) {
  int64_t *all = TCT_NEW(int64_t, sum), at = 0, kept = 0;
  if (!all) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int r = 0; r < tct_team_ranks(team) && status == TCT_OK; at += counts[r++]) {
    if (r == tct_team_own(team) && *count > 0) memcpy(all + at, list, (size_t)*count * sizeof *list);
    status = tct_team_broadcast(team, all + at, counts[r] * (int64_t)sizeof *all, r, err);
  }
  qsort(all, (size_t)sum, sizeof *all, ascending);
  for (int64_t k = 0; k < sum && status == TCT_OK; k++)
    if (k == 0 || all[k] != all[k - 1]) list[kept++] = all[k];
  *count = kept;
  tct_free(all);
  return status;
}

tct_status tct_mech_join_some(tct_mech *mech, const double *part, double *total, int64_t len, int64_t *list,
                              int64_t *count, tct_error *err) {
  tct_team *team = tct_mech_team(mech);
  if (tct_stopping()) return tct_fail_cancelled(err);
  if (tct_team_ranks(team) == 1) {
    for (int64_t k = 0; k < *count; k++) total[list[k]] = part[list[k]];
    return TCT_OK;
  }
  int64_t *counts = NULL, sum;
  double *values = NULL;
  tct_status status = gather(team, *count, &counts, &sum, err);
  if (status == TCT_OK && sum > len / 4) { /* the whole vector is as short as the lists */
    for (int64_t j = 0; j < len; j++) list[j] = j;
    *count = len;
  } else if (status == TCT_OK) {
    status = unite(team, counts, sum, list, count, err);
  }
  tct_free(counts);
  if (status != TCT_OK) return status;
  values = TCT_NEW(double, *count);
  if (!values) return tct_fail_memory(err);
  for (int64_t k = 0; k < *count; k++) values[k] = part[list[k]];
  status = tct_team_sum(team, values, *count, err);
  for (int64_t k = 0; k < *count && status == TCT_OK; k++) total[list[k]] = values[k];
  tct_wipe_free(values, *count, sizeof *values);
  return status;
}
