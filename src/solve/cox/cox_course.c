/* cox_course.c - survival by time, from the released histogram alone, and the exposure that turns margins into risks.
 *
 * L_k = sum_{j <= k} events_j/R_j, R_j = persons at risk in the mean of cell j; survival is e^-L (Nelson 1972).  Its
 * variance has two parts.  Greenwood's is sum events_j/R_j^2.  That of the noise follows from the derivatives of L in
 * every count; exits of all cells are in R, as they are shifted to sum to n.  Ends of the band are e^-(L -+ 1.96
 * deviations).
 *
 * SENSITIVITY  None: it reads what was released. */
#include "solve/cox/dpcox.h"

static const double NORMAL = 1.959963984540054; /* 95 % of the normal law */

/* dL_k of all cells k: *exit by what every exit in cell j adds, *place by the sum of places in j. */
static void derive(const double *events, const double *risk, int cells, int j, double *exit, double *place) {
  double sum = 0;
  for (int k = 0; k < cells; k++) {
    double more = (k + 0.5) / cells - (j < k ? 1 : j == k ? 0.5 : 0); /* of R_k */
    sum -= events[k] / (risk[k] * risk[k]) * more;
    exit[k] = sum;
    place[k] = k < j ? 0 : -events[j] / (risk[j] * risk[j]);
  }
}

static void add_noise(const double *events, const double *risk, int cells, double deviation, double *variance) {
  double exit[TCT_COX_CELLS], place[TCT_COX_CELLS];
  for (int j = 0; j < cells; j++) {
    derive(events, risk, cells, j, exit, place);
    for (int k = 0; k < cells; k++) {
      double event = exit[k] + (k < j ? 0 : 1 / risk[j]);
      variance[k] += deviation * deviation * (event * event + exit[k] * exit[k] + place[k] * place[k]);
    }
  }
}

/* The hazard up to `time`, in parts of the horizon, over its mean. */
static double exposure(const tct_cox_hazard *h, double bend, double time) {
  double sum = 0;
  for (int k = 0; k < h->cells; k++) {
    double within = tct_cox_between(time, h->edge[k], h->edge[k + 1]) - h->edge[k];
    sum += h->rate[k] * exp(tct_cox_between(h->centre[k] * bend, -12, 12)) * within;
  }
  return sum / h->mean_rate;
}

void tct_cox_course(const tct_cox *run, double bend, tct_course *out) {
  const double *events = run->counts;
  double risk[TCT_COX_CELLS], variance[TCT_COX_CELLS] = {0}, n = (double)run->problem->facts->rows, all = 0, own = 0,
                              level = 0;
  int cells = run->rule.cells;
  double horizon = run->problem->facts->label_bound, deviation = run->counts_deviation;
  tct_cox_at_risk(events, cells, deviation, n, risk);
  add_noise(events, risk, cells, deviation, variance);
  *out = (tct_course){.cells = cells};
  for (int k = 0; k < cells; k++) {
    all += events[k] / risk[k], own += fmax(events[k], 0) / (risk[k] * risk[k]);
    double edge = tct_cox_edge(k + 1, cells), half = NORMAL * sqrt(own + variance[k]);
    level = fmax(level, all);
    out->time[k] = edge * horizon, out->exposure[k] = exposure(&run->hazard, bend, edge) * horizon;
    out->survival[k] = exp(-fmin(level, 500));
    out->lower[k] = exp(-fmin(level + half, 600)), out->upper[k] = exp(-fmax(level - half, 0));
  }
}
