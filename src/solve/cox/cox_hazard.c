/* cox_hazard.c - hazards by cells of time, from the released histogram alone.
 *
 * Everybody's follow-up ends, and n is public: the exits are shifted so that they sum to n.  At risk at the end of a
 * cell are n less the exits before.  A cell's person-time is its length times those who outlive it and, of those who
 * leave in it, the sum of their places.  Neighbouring cells become one until it has so many deviations of noise in
 * events. */
#include "solve/cox/dpcox.h"
#include "solve/cox/rules.def"

double tct_cox_edge(int k, int cells) { return (double)k / cells * ((double)k / cells); }

void tct_cox_at_risk(const double *counts, int cells, double deviation, double rows, double *risk) {
  const double *events = counts, *exits = counts + cells, *place = exits + cells;
  double all = 0, before = 0, after = rows;
  double least = fmax(dpcox_least_at_risk * rows, deviation * sqrt(cells) / 2);
  for (int k = 0; k < cells; k++) all += events[k] + exits[k];
  for (int k = 0; k < cells; k++) {
    double left = events[k] + exits[k] + (rows - all) / cells;
    before += left;
    after = tct_cox_between(rows - before, 0, after);
    risk[k] = fmax(after + left / 2 + place[k], least);
  }
}

void tct_cox_hazards(const double *counts, int cells, double deviation, double rows, tct_cox_hazard *out) {
  double risk[TCT_COX_CELLS], events[TCT_COX_CELLS] = {0}, at[TCT_COX_CELLS] = {0}, all = 0, all_time = 0;
  int made = 0, since = 0;
  *out = (tct_cox_hazard){0};
  tct_cox_at_risk(counts, cells, deviation, rows, risk);
  for (int k = 0; k < cells; k++) {
    events[made] += counts[k], at[made] += risk[k] * (tct_cox_edge(k + 1, cells) - tct_cox_edge(k, cells));
    out->edge[made + 1] = tct_cox_edge(k + 1, cells);
    if (!(events[made] >= dpcox_merged_events * deviation * sqrt(k + 1 - since)) && k + 1 < cells) continue;
    /* What is left behind the last full cell joins it. */
    if (made > 0 && k + 1 == cells && !(events[made] >= dpcox_merged_events * deviation * sqrt(k + 1 - since))) {
      events[made - 1] += events[made], at[made - 1] += at[made], out->edge[made] = 1;
      made--;
    }
    made++, since = k + 1;
  }
  out->cells = made;
  for (int k = 0; k < made; k++) {
    events[k] = fmax(events[k], fmax(deviation / 2, 0x1p-30));
    out->rate[k] = events[k] / at[k];
    all += events[k], all_time += at[k];
  }
  out->events = tct_cox_between(all, fmin(3 * deviation, rows), rows);
  out->mean_rate = all / all_time;
  out->bends = made > 3;
  double sum = 0;
  for (int k = 0; k < made && out->bends; sum += events[k], k++)
    out->centre[k] = sqrt(3) * ((sum + events[k] / 2) / all * 2 - 1);
}
