/* concordance.c - the private C-index of a model of follow-up times (Harrell 1982), from one histogram.
 *
 * Of two persons, one with an event before the other's time, the one with the event should have the larger margin.  A
 * record takes part in as many pairs as there are others, so pairs are not added up.  Each record adds 1 to one cell of
 * (time, event or not, margin), and all pairs of cells are counted from the noisy numbers.  Margins of one
 * cell count half, and so do two events of one cell of time: within it either may be the first.
 *   C = (sum_am E_am (sum_{m' < m} L_am' + L_am/2) + sum_a E_a^2/4) / (sum_a E_a L_a + sum_a E_a^2/2)
 * E_am: events at time a; L_am: all of later times, and half of those that leave at time a.
 * Cells of time follow from the released survival, so that each has the like number of events.  Those of margins are
 * equal, about the margin of the released hazard, up to 3 from it or as far as weights go.  Where no record is seen at
 * the ends, cells count as empty: their noise would say nothing. D, the derivatives of C in the cells, give both
 * deviations.  That of noise s is s |D|.  That of sampling is sqrt(sum of cell D^2), as C has the derivative 0 along
 * the cells themselves.
 *
 * SENSITIVITY  One number of 1 a record (score_terms.c): cells are functions of this record, of the model and of public
 * numbers.  Everything else is computed from the release. */
#include "score/score.h"

#include <math.h>

static const double FAR = 3; /* hazards of 1/20 and 20 times the typical one are told apart */

enum { TIMES = TCT_SCORE_TIMES, MARGINS = TCT_SCORE_MARGINS, HALF = MARGINS / 2 };

void tct_scoring_set_cells(tct_scoring *s) {
  const tct_model *m = s->model;
  const tct_course *course = &m->inference.course;
  double size = 0, last = course->cells ? course->survival[course->cells - 1] : 0;
  for (int64_t j = 0; m->coefficients && j < m->cols; j++) size += m->coefficients[j] * m->coefficients[j];
  s->span = fmin(sqrt(size) * (isfinite(m->row_norm) ? m->row_norm : 1), FAR);
  if (!(s->span > 0)) s->span = 1;
  s->centre = m->intercept;
  if (course->cells && last > 0 && last < 1 && course->exposure[course->cells - 1] > 0)
    s->centre = log(-log(last) / course->exposure[course->cells - 1]);
  for (int k = 0; k < TIMES; k++) {
    double share = (k + 1.0) / TIMES, from = 0, before = 1, wanted = 1 - share * (1 - last);
    s->time[k] = share * s->bound;
    for (int64_t c = 0; c < course->cells && last < 1; c++) {
      double drop = before - course->survival[c];
      if (course->survival[c] <= wanted || c == course->cells - 1) {
        s->time[k] = from + (course->time[c] - from) * (drop > 0 ? fmin((before - wanted) / drop, 1) : 1);
        break;
      }
      from = course->time[c], before = course->survival[c];
    }
  }
  s->time[TIMES - 1] = INFINITY;
}

int tct_scoring_cell(const tct_scoring *s, double margin, double label) {
  double y = tct_loss_within(&s->loss, label, s->bound);
  double at = (margin - s->centre) / s->span * HALF + HALF;
  int m = !(at > 0) ? 0 : at >= MARGINS ? MARGINS - 1 : (int)at, a = 0;
  while (a < TIMES - 1 && !(fabs(y) <= s->time[a])) a++;
  return (2 * a + (y > 0)) * MARGINS + m;
}

/* *first <= margins < *last: where records are seen.  At each end cells are left out that together are within what
 * noise makes of nothing, or 2 of 1,000. */
static void seen_margins(const double *cell, double noise, int *first, int *last) {
  double count[MARGINS] = {0}, all = 0, sum = 0;
  for (int k = 0; k < TCT_SCORE_FOLLOWED; k++) count[k % MARGINS] += cell[k], all += cell[k];
  *first = 0, *last = MARGINS;
  for (int k = 0; k < MARGINS; k++) {
    sum += count[k];
    if (sum > fmax(0.002 * all, 0.5 * noise * sqrt(2 * TIMES * (k + 1.0)))) break;
    *first = k + 1;
  }
  sum = 0;
  for (int k = MARGINS - 1; k >= *first; k--) {
    sum += count[k];
    if (sum > fmax(0.002 * all, 0.5 * noise * sqrt(2 * TIMES * (double)(MARGINS - k)))) break;
    *last = k;
  }
}

/* Sums over the cells of one time. */
typedef struct at_time {
  double later, later_of[MARGINS];     /* records whose time is after an event's: all, and by margin */
  double earlier, earlier_of[MARGINS]; /* events before: the same */
  double events;
} at_time;

/* Half of those that leave within the cell of an event leave after it. */
static void sums_of(const double *cell, int first, int last, at_time at[TIMES]) {
  double later[MARGINS] = {0}, earlier[MARGINS] = {0};
  for (int a = 0; a < TIMES; a++) {
    const double *event = cell + (ptrdiff_t)(2 * a + 1) * MARGINS;
    at[a] = (at_time){0};
    for (int m = first; m < last; m++) {
      at[a].earlier_of[m] = earlier[m], at[a].earlier += earlier[m];
      at[a].events += event[m], earlier[m] += event[m];
    }
  }
  for (int a = TIMES - 1; a >= 0; a--) {
    const double *left = cell + (ptrdiff_t)2 * a * MARGINS, *event = left + MARGINS;
    for (int m = first; m < last; m++) {
      at[a].later_of[m] = later[m] + left[m] / 2, at[a].later += at[a].later_of[m];
      later[m] += left[m] + event[m];
    }
  }
}

/* Both deviations of a figure = agreed/pairs, for noise of deviation `noise`. */
static void derive(const double *cell, const at_time at[TIMES], int first, int last, double pairs, double noise,
                   tct_figure *figure) {
  double c = figure->value, squares = 0, spread = 0;
  for (int a = 0; a < TIMES; a++) {
    const double *left = cell + (ptrdiff_t)2 * a * MARGINS, *event = left + MARGINS;
    double below = 0, above = at[a].earlier, own_above = at[a].events;
    for (int m = first; m < last; m++) {
      above -= at[a].earlier_of[m], own_above -= event[m];
      double before = above + at[a].earlier_of[m] / 2 - c * at[a].earlier;
      double by_left = (before + (own_above + event[m] / 2 - c * at[a].events) / 2) / pairs;
      double by_event = (before + below + at[a].later_of[m] / 2 - c * at[a].later + (0.5 - c) * at[a].events) / pairs;
      squares += by_left * by_left + by_event * by_event;
      spread += left[m] * by_left * by_left + event[m] * by_event * by_event;
      below += at[a].later_of[m];
    }
  }
  figure->noise = noise * sqrt(squares);
  figure->sampling = sqrt(spread > 0 ? spread : 0);
}

tct_figure tct_scoring_concordance(const double cell[TCT_SCORE_FOLLOWED], double noise) {
  tct_figure out = {NAN, NAN, NAN, 0, 1};
  at_time at[TIMES];
  int first, last;
  double agreed = 0, pairs = 0, events = 0;
  seen_margins(cell, noise, &first, &last);
  sums_of(cell, first, last, at);
  for (int a = 0; a < TIMES; a++) {
    double below = 0;
    for (int m = first; m < last; m++) {
      agreed += cell[(2 * a + 1) * MARGINS + m] * (below + at[a].later_of[m] / 2);
      below += at[a].later_of[m];
    }
    events += at[a].events;
    agreed += at[a].events * at[a].events / 4, pairs += at[a].events * (at[a].later + at[a].events / 2);
  }
  double hidden = 5 * noise * sqrt(2.0 * TIMES * (last > first ? last - first : 1));
  if (!(events > fmax(hidden, 1)) || !(pairs > hidden * events)) return out;
  out.value = agreed / pairs;
  derive(cell, at, first, last, pairs, noise, &out);
  return out;
}
