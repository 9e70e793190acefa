/* loss_query.c - what the privacy loss distribution accountant is asked: the list, merged, and the work left for it. */
#include "account/curves/loss_query.h"

#include "account/curves/compare.h"
#include "account/curves/grid.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"

#include "core/point.h"
#include "core/alloc.h"

#include <math.h>
#include <string.h>

/* Some 2 s. What takes more is left to the other accountants. */
static const double max_work = 2.5e9;
enum { MOST_KINDS = 2048 }; /* distinct events */

bool tct_loss_query_pays(tct_loss_query *q, double work) {
  if (!(work <= q->work)) return false;
  q->work -= work;
  return true;
}

bool tct_event_has_loss(const tct_event *e) {
  switch (e->kind) {
    case TCT_EV_GAUSSIAN:
    case TCT_EV_SAMPLED_GAUSSIAN:
    case TCT_EV_LAPLACE:
    case TCT_EV_EXPONENTIAL:
    case TCT_EV_PURE:
    case TCT_EV_APPROX:
    case TCT_EV_OBJPERT: return true;
    case TCT_EV_ZCDP: return false;
  }
  return false;
}

/* Noise 0 is none; so small that its square overflows counts as none. */
static bool has_noise(const tct_event *e) {
  switch (e->kind) {
    case TCT_EV_GAUSSIAN:
    case TCT_EV_SAMPLED_GAUSSIAN:
    case TCT_EV_LAPLACE:
    case TCT_EV_OBJPERT: return e->noise > 1e-100;
    case TCT_EV_EXPONENTIAL:
    case TCT_EV_PURE:
    case TCT_EV_APPROX: return true;
    case TCT_EV_ZCDP: return false;
  }
  return false;
}

static bool is_nothing(const tct_event *e) {
  return tct_event_is_pure(e) && e->kind != TCT_EV_LAPLACE && e->epsilon == 0 && e->delta == 0;
}

tct_status tct_loss_query_new(tct_loss_query *q, const tct_events *events, tct_neighbours neighbours, tct_error *err) {
  double precision_of_mu = 0; /* sum of count/noise^2 */
  memset(q, 0, sizeof *q);
  q->neighbours = neighbours;
  q->work = max_work;
  q->at = TCT_NEW(tct_event, events->len + 1);
  if (!q->at) return tct_fail_memory(err);
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    q->noiseless |= !has_noise(e);
    q->two_ways |= tct_event_two_ways(e, neighbours);
    if (is_nothing(e)) continue;
    if (tct_event_is_gaussian(e)) {
      precision_of_mu += (double)e->count / (e->noise * e->noise);
      continue;
    }
    bool merged = false;
    for (int j = 0; j < q->len && !merged; j++)
      if (tct_event_same(&q->at[j], e) && q->at[j].count <= INT64_MAX - e->count)
        q->at[j].count += e->count, merged = true;
    if (!merged && q->len >= MOST_KINDS) return q->beyond = true, TCT_OK;
    if (!merged) q->at[q->len++] = *e;
    q->steps += (double)e->count;
  }
  if (precision_of_mu > 0) {
    q->at[q->len++] = tct_event_gaussian((1 - TCT_MARGIN) / sqrt(precision_of_mu), 1);
    q->steps += 1;
  }
  return TCT_OK;
}

double tct_loss_rounding(const tct_loss_query *q) {
  double sum = 0;
  for (int j = 0; j < q->len; j++) {
    double low, high;
    tct_event_loss_range(&q->at[j], q->neighbours, q->tail, &low, &high);
    double step = TCT_POINT(losses_without_their_rounding, TCT_LOSS_MARGIN, 0) * (1 + tct_max(fabs(low), fabs(high)));
    sum += (double)q->at[j].count * (step + tct_laplace_slack(&q->at[j], q->neighbours));
  }
  return sum;
}
