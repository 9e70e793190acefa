/* weigh.c - weights of records, cut to a public cap and shared out within persons.
 *
 * The weight that a solver sees is v = min(max(weight, 0), cap)/cap in [0, 1], a function of the record alone, times
 * the one that the record has already, of the same kind (beside.c).  Under
 * persons it is then scaled by min(1, b/s) with s the computed sum over the person's k records, b = 1 - (k+4) 2^-52: a
 * function of that person's records alone.  The sum of k terms in [0, 1] and the product have relative errors below
 * (k+1) 2^-53 and 2 * 2^-53, so that the exact sum of what results is at most 1. */
#include "core/point.h"
#include "core/alloc.h"
#include "read/table/data.h"

#include <math.h>

static tct_status share_out(double *weight, const int64_t *person, int64_t rows, tct_error *err) {
  double *sum = TCT_NEW(double, 2 * rows), *count = sum + rows;
  if (!sum) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int64_t i = 0; i < rows && status == TCT_OK; i++) {
    if (person[i] < 0 || person[i] >= rows) {
      status = tct_fail(err, TCT_E_USAGE, "a person's number is not in [0, rows); number the persons from 0");
      break;
    }
    sum[person[i]] += weight[i];
    count[person[i]] += 1;
  }
  for (int64_t i = 0; i < rows && status == TCT_OK; i++) {
    double max = 1 - (count[person[i]] + 4) * 0x1p-52;
    if (sum[person[i]] > max) weight[i] *= max / sum[person[i]];
  }
  tct_wipe_free(sum, 2 * rows, sizeof *sum);
  return status;
}

tct_status tct_data_weigh(tct_data *data, const double *weight, double cap, const int64_t *person, tct_error *err) {
  tct_error_clear(err);
  int64_t rows = data->x.rows;
  if (TCT_POINT(estimate_then_weighed, data->estimated, false))
    return tct_fail(err, TCT_E_USAGE,
                    "the table's bounds were estimated of records as they then weighed; weigh it before the estimate");
  if (!(cap > 0 && cap <= 1e300))
    return tct_fail(err, TCT_E_USAGE, "the cap of the weights must be above 0; give e.g. 1");
  double *own = TCT_NEW(double, rows);
  if (!own) return tct_fail_memory(err);
  tct_status status = TCT_OK;
  for (int64_t i = 0; i < rows && status == TCT_OK; i++) {
    double v = weight ? weight[i] : cap;
    if (isnan(v)) status = tct_fail_at(err, NULL, i + 1, 0, "a weight is not a number; correct it");
    own[i] = fmin(fmax(v, 0), TCT_POINT(weight_beyond_the_cap, cap, INFINITY)) / cap;
    if (data->weight) own[i] *= data->weight[i];
  }
  if (status == TCT_OK && person) status = share_out(own, person, rows, err);
  if (status != TCT_OK) {
    tct_wipe_free(own, rows, sizeof *own);
    return status;
  }
  data->weight_cap = data->weight ? cap * data->weight_cap : cap;
  tct_wipe_free(data->weight, rows, sizeof *own);
  data->weight = own;
  data->persons |= person != NULL;
  return TCT_OK;
}
