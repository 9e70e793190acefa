/* estimate_release.c - both releases: counts on a grid of powers, then in equal parts of the ranges found. */
#include "core/point.h"
#include "core/alloc.h"
#include "estimate/estimate.h"
#include "la/matrix/lattice.h"
#include "la/matrix/rows_access.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A count that is noise alone is taken for values with at most this chance, over all counts of a release. */
static const double MISTAKEN = 0.05;

/* One estimate on its way. */
typedef struct run {
  const tct_estimate_plan *plan;
  const tct_data *data;
  const tct_open *open;
  double *value; /* [columns] of one record */
  double *sum;   /* [columns][len] */
  double *low, *high, *middle;
} run;

/* The record's values in the columns of the estimate. */
static void take_record(const run *r, int64_t i) {
  tct_row row = tct_row_at(&r->data->x, i);
  for (int64_t c = 0; c < r->open->count; c++) {
    int64_t j = r->open->feature[c], at = tct_lower_bound(&row, j);
    r->value[c] = at < row.n && tct_row_column(&row, at) == j ? tct_row_value(&row, at) : 0;
  }
  if (r->open->label) r->value[r->open->count] = r->data->y[i];
}

static int place(const run *r, int64_t c, bool fine) {
  return fine ? tct_estimate_part(r->value[c], r->low[c], r->high[c]) : tct_estimate_power(r->value[c]);
}

/* A record's weight goes to one number of each column, cut toward 0 to the lattice. */
static void count(const run *r, double lattice, int len, bool fine) {
  const tct_data *data = r->data;
  for (int64_t i = 0; i < data->x.rows; i++) {
    if (data->dropped && data->dropped[i]) continue;
    double weight = TCT_POINT(estimate_weights_forgotten, data->weight != NULL, false) ? data->weight[i] : 1;
    if (lattice > 0) weight = tct_lattice_part(weight, lattice);
    take_record(r, i);
    for (int64_t c = 0; c < r->plan->columns; c++)
      if (!isnan(r->value[c])) r->sum[c * len + place(r, c, fine)] += weight; /* a missing value counts nowhere */
  }
}

/* From released counts alone: the intervals that are seen to hold values. */
static void take_intervals(const run *r, double deviation) {
  int64_t counts = r->plan->columns * TCT_ESTIMATE_COARSE;
  double visible = deviation * sqrt(2 * log((double)counts / MISTAKEN)), unused;
  for (int64_t c = 0; c < r->plan->columns; c++) {
    int first, last;
    tct_estimate_visible(r->sum + c * TCT_ESTIMATE_COARSE, TCT_ESTIMATE_COARSE, visible, &first, &last);
    tct_estimate_interval(first, &r->low[c], &unused);
    tct_estimate_interval(last, &unused, &r->high[c]);
    tct_estimate_reach_zero(&r->low[c], &r->high[c]);
    if (!(r->low[c] < r->high[c])) r->low[c] = -1, r->high[c] = 1; /* all 0, as far as can be seen */
  }
}

/* The middle of the part below whose end half of what was counted lies, among the parts [first, last]. */
static double middle_of(const double *count, int first, int last, double low, double part) {
  double all = 0, below = 0;
  int k = first;
  for (int j = first; j <= last; j++) all += fmax(count[j], 0);
  for (; k < last && below + fmax(count[k], 0) < all / 2; k++) below += fmax(count[k], 0);
  return low + (k + 0.5) * part;
}

/* And from these: the parts between the tails. */
static void take_parts(const run *r, double deviation) {
  for (int64_t c = 0; c < r->plan->columns; c++) {
    int first, last;
    tct_estimate_trim(r->sum + c * TCT_ESTIMATE_FINE, TCT_ESTIMATE_FINE, deviation, r->plan->outside, &first, &last);
    double low = r->low[c], part = (r->high[c] - low) / TCT_ESTIMATE_FINE;
    r->middle[c] = middle_of(r->sum + c * TCT_ESTIMATE_FINE, first, last, low, part);
    r->low[c] = low + first * part;
    if (last < TCT_ESTIMATE_FINE - 1) r->high[c] = low + (last + 1) * part;
  }
}

static tct_status release(run *r, tct_mech *mech, int which, tct_error *err) {
  int len = which ? TCT_ESTIMATE_FINE : TCT_ESTIMATE_COARSE;
  const tct_release *planned = tct_mech_release_of(mech, which);
  memset(r->sum, 0, (size_t)(r->plan->columns * len) * sizeof *r->sum);
  count(r, planned->lattice, len, which > 0);
  TCT_TRY(tct_mech_release(mech, which, r->sum, r->plan->columns * len, err));
  if (which)
    take_parts(r, tct_release_deviation(planned));
  else
    take_intervals(r, tct_release_deviation(planned));
  return TCT_OK;
}

tct_status tct_estimate_release(const tct_estimate_plan *plan, const tct_data *data, const tct_open *open,
                                tct_mech *mech, tct_found *out, tct_error *err) {
  int64_t cells = plan->columns * TCT_ESTIMATE_COARSE;
  int counts = plan->columns > 0 ? 2 : 0;
  run r = {plan, data, open, TCT_NEW(double, plan->columns), TCT_NEW(double, cells), out->low, out->high, out->middle};
  tct_status status = r.value && r.sum ? TCT_OK : tct_fail_memory(err);
  for (int which = 0; which < counts && status == TCT_OK; which++) status = release(&r, mech, which, err);
  if (status == TCT_OK && plan->lists > 0) status = tct_estimate_lists(plan, data, open, counts, mech, out, err);
  tct_wipe_free(r.value, r.value ? plan->columns : 0, sizeof *r.value);
  tct_wipe_free(r.sum, r.sum ? cells : 0, sizeof *r.sum);
  return status;
}
