/* alone.c - no list costs more than its parts alone, each at a share of delta: the composition theorem of basic.c. */
#include "account/alone.h"

#include "account/curves/compare.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"
#include "account/pld.h"
#include "account/pure.h"
#include "core/status.h"

#include <math.h>

tct_status tct_sum_alone(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                         tct_bracket *out, tct_error *err) {
  if (out->upper < INFINITY && out->upper - out->lower <= 2 * precision * out->upper) return TCT_OK;
  enum { MOST_PARTS = 32 };
  static const double work = 1.6e9;
  tct_event part[MOST_PARTS];
  int64_t parts = 0, k;
  double left = tct_delta_left(delta, tct_events_failure(events)), sum = tct_pure_sum(events, neighbours, INFINITY);
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (tct_event_is_pure(e)) continue;
    for (k = 0; k < parts && !(tct_event_same(&part[k], e) && part[k].count <= INT64_MAX - e->count); k++) continue;
    if (k == MOST_PARTS) return TCT_OK;
    if (k < parts)
      part[k].count += e->count;
    else
      part[parts++] = *e;
  }
  if (parts == 0 || !(left > 0)) return TCT_OK;
  tct_work before = tct_work_begin(work);
  tct_status status = TCT_OK;
  for (k = 0; k < parts && status == TCT_OK; k++) {
    tct_cost alone;
    status = tct_account_upper(&(tct_events){&part[k], 1, 1}, neighbours, left / (double)parts * (1 - TCT_MARGIN),
                               precision, false, &alone, err);
    if (status == TCT_OK) sum = tct_sum(sum, alone.epsilon, INFINITY);
  }
  if (tct_work_end(before).over) return tct_error_clear(err), TCT_OK;
  if (status == TCT_OK) out->upper = tct_min(out->upper, tct_upper(sum));
  return status;
}
