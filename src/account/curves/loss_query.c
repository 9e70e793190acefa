/* loss_query.c - what the privacy loss distribution accountant is asked: the list, merged, and the work left for it. */
#include "account/curves/loss_query.h"

#include "account/curves/compare.h"
#include "account/curves/grid.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/curves/work.h"

#include "core/point.h"
#include "core/alloc.h"

#include <math.h>
#include <string.h>

/* Both ends of a bracket take some 2 s with the spare, which is for wider grids; one end alone may take more itself. */
static const double max_work = 1.3e9;
const double tct_loss_spare_work = 5e8, tct_loss_one_end_work = 1.2e9;
enum { MOST_KINDS = 2048, MOST_CHOICES = 8 }; /* distinct events; those whose steps are composed exactly */

bool tct_loss_query_pays(tct_loss_query *q, double work, double more) {
  if (!(work <= q->work)) return false;
  q->work -= work;
  return tct_work_pay(0.75 * (work + more)); /* nanoseconds of a slow machine, for the purse */
}

double tct_loss_below(const tct_loss_query *q, double epsilon) {
  double rest = tct_max(epsilon - q->certain, 0);
  return rest < 0.1 * epsilon ? epsilon - 0.06 * rest : 0.94 * epsilon;
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
    case TCT_EV_APPROX:
    case TCT_EV_ZCDP: return true;
  }
  return false;
}

static bool is_nothing(const tct_event *e) {
  if (e->kind == TCT_EV_ZCDP) return e->rho == 0;
  return tct_event_is_pure(e) && e->kind != TCT_EV_LAPLACE && e->epsilon == 0 && e->delta == 0;
}

/* Sampled steps that are hardly ever drawn are failures of that chance (basic.c). */
static bool is_rare(tct_loss_query *q, const tct_event *e, double negligible) {
  double chance = (double)e->count * e->rate * (1 + TCT_MARGIN);
  if (e->kind != TCT_EV_SAMPLED_GAUSSIAN || !(q->rare + chance <= negligible)) return false;
  q->rare += chance;
  return true;
}

static bool is_composed(const tct_event *e) {
  return e->kind == TCT_EV_EXPONENTIAL && e->epsilon >= TCT_CHOICES_LEAST && e->epsilon <= TCT_CHOICES_MOST;
}

/* Where their number is small: each takes as long as a grid of a hundred thousand points. */
static tct_status compose_choices(tct_loss_query *q, tct_error *err) {
  int kinds = 0;
  for (int j = 0; j < q->len; j++) kinds += is_composed(&q->at[j]);
  if (kinds == 0 || kinds > MOST_CHOICES || !tct_loss_query_pays(q, kinds * tct_choices_work, 0)) return TCT_OK;
  q->choices = TCT_NEW(tct_choices, q->len);
  tct_status status = q->choices ? TCT_OK : tct_fail_memory(err);
  for (int j = 0; j < q->len && status == TCT_OK; j++)
    if (is_composed(&q->at[j])) status = tct_choices_new(q->at[j].epsilon, q->at[j].count, &q->choices[j], err);
  if (status != TCT_OK) tct_loss_query_free(q);
  return status;
}

tct_status tct_loss_query_new(tct_loss_query *q, const tct_events *events, tct_neighbours neighbours, double negligible,
                              tct_error *err) {
  double precision_of_mu = 0, rho = 0; /* sums of count/noise^2 and of the zcdp events' count rho */
  memset(q, 0, sizeof *q);
  q->neighbours = neighbours;
  q->work = max_work;
  q->at = TCT_NEW(tct_event, events->len + 2);
  if (!q->at) return tct_fail_memory(err);
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    if (is_rare(q, e, negligible)) continue;
    q->noiseless |= !has_noise(e);
    q->two_ways |= tct_event_two_ways(e, neighbours);
    if (is_nothing(e)) continue;
    if (tct_event_is_gaussian(e)) {
      precision_of_mu += (double)e->count / (e->noise * e->noise);
      continue;
    }
    if (e->kind == TCT_EV_ZCDP) {
      rho += (double)e->count * e->rho * (1 + TCT_MARGIN);
      continue;
    }
    bool merged = false;
    if (!tct_work_pay(10 * (double)q->len)) return q->beyond = true, TCT_OK;
    for (int j = 0; j < q->len && !merged; j++)
      if (tct_event_same(&q->at[j], e) && q->at[j].count <= INT64_MAX - e->count)
        q->at[j].count += e->count, merged = true;
    if (!merged && q->len >= MOST_KINDS) return q->beyond = true, TCT_OK;
    if (!merged) q->at[q->len++] = *e;
    q->steps += (double)e->count;
    if (e->kind == TCT_EV_OBJPERT) q->certain += (double)e->count * e->shift;
  }
  if (precision_of_mu > 0) {
    q->at[q->len++] = tct_event_gaussian((1 - TCT_MARGIN) / sqrt(precision_of_mu), 1);
    q->steps += 1;
  }
  if (rho > 0) {
    q->at[q->len++] = tct_event_zcdp(rho, 1);
    q->steps += 1;
  }
  return compose_choices(q, err);
}

void tct_loss_query_free(tct_loss_query *q) {
  for (int j = 0; j < q->len && q->choices; j++) tct_choices_free(&q->choices[j]);
  tct_free(q->choices);
  tct_free(q->at);
  memset(q, 0, sizeof *q);
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
