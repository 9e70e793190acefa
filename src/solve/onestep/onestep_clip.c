/* onestep_clip.c - the least clip whose bias is small beside an error, from released signed counts of terms.
 *
 * What a clip c takes from one direction's mean term is the difference of what it takes above and below 0.  Each is
 * the sum over edges beyond c of how many terms are longer.  Below `sure` deviations of the counts' noise these go on
 * as an exponential law with the slope that was seen before.  The difference may vanish by chance, so the larger
 * counts, or of residuals that are even clip_even of it.  Bars of one direction's error: sqrt((c noise)^2 + rms^2/(n
 * d)).
 *
 * Counts.  The cut is that of a robust Poisson regression: less its mean under the law, so that it biases nothing where
 * the law is right (Cantoni, Ronchetti 2001).  Rows of a rare category are long: they are cut at few events where most
 * rows never are, and too few to stand out of the counts' noise.
 *
 * Rare counts.  Most events are alone, and a clip of two is mostly noise, so it may be below.  Means may vary among
 * alike records.  Pairs that this adds, mean^2/2 of the records, must not count beside the error of all directions
 * together.
 *
 * Amounts.  What the tails say a clip takes is given back along the mean row: where ratios have one law for all
 * records, it is the intercept's alone.  So a clip may take more.  Long rows are cut more often, and are less along the
 * mean row than their length says.  So the part amounts_left is kept, and is an error there, as the tails' noise is.
 *
 * Counts that vary more than their law.  Noise may hide one deviation of the counts, each of all that is from the clip
 * to hidden_end typical terms.  Half is given back; all of it, and what tails tell, is an error (dponestep.c: where).
 * Below two events the law has given back most; amounts_left of what tails tell is an error.
 *
 * Numbers.  Where noise keeps a clip shorter than that, what tails or single cells tell that it takes is an error.  A
 * tail of which nothing is seen counts with one deviation of the counts. */
#include "core/expm.h"
#include "solve/onestep/one_step.h"
#include "solve/onestep/rules.def"
#include "solve/shared/rules.def"

enum { EDGES = TCT_ONESTEP_EDGES, GRID = 120, POINTS = 30, MEAN_MOST = 64 };
static const double LONE_SPREAD = 0.4; /* of a tail where no slope is seen, over the length it is at */

/* Of one sign: edge x[k] and tail[k], how many terms are longer, k = 0 .. last; beyond it an exponential law. */
typedef struct law {
  double x[EDGES + 1], tail[EDGES + 1], spread;
  int last; /* below 0: nothing stands out of the noise */
} law;

/* cells: no term lies beyond these. */
static law law_of(const double *count, int cells, double deviation) {
  law out = {.last = -1};
  int before = 0;
  for (int k = EDGES; k > 0; k--)
    out.x[k] = tct_onestep_edge(k - 1), out.tail[k - 1] = k > cells ? 0 : out.tail[k] + count[k - 1];
  for (int k = 0; k < cells; k++)
    if (out.tail[k] > dponestep_sure * deviation * sqrt(cells - k)) out.last = k;
  if (out.last < 0) return out;
  int k = out.last;
  for (int j = 0; j <= k; j++)
    if (out.tail[j] >= 4 * out.tail[k]) before = j;
  double ratio = fmax(out.tail[before] / out.tail[k], 1.01);
  out.spread = k > before ? (out.x[k] - out.x[before]) / fmax(log(ratio), 0.5) : LONE_SPREAD * fmax(out.x[k], out.x[1]);
  out.spread = fmax(out.spread, 0.08 * out.x[k]);
  for (int j = 0; j < k; j++) out.tail[j] = fmax(out.tail[j], out.tail[k]);
  return out;
}

/* log tail at c below x[last], straight between edges. */
static double longer_at(const law *m, double c) {
  int k = 0;
  while (k + 1 < m->last && c > m->x[k + 1]) k++;
  double part = (c - m->x[k]) / (m->x[k + 1] - m->x[k]);
  return exp((1 - part) * log(m->tail[k]) + part * log(m->tail[k + 1]));
}

/* What a clip of c takes from the sum of these terms. */
static double beyond(const law *m, double c) {
  if (m->last < 0) return 0;
  double end = m->x[m->last], rest = m->tail[m->last] * m->spread, sum = 0, step = (end - c) / (POINTS - 1);
  if (c >= end) return rest * exp(-fmin((c - end) / m->spread, 50));
  for (int k = 0; k < POINTS; k++) sum += (k == 0 || k == POINTS - 1 ? 0.5 : 1) * longer_at(m, c + k * step);
  return sum * step + rest;
}

/* Does this cell stand out of noise by itself, both signs together? */
static bool is_seen(const tct_onestep_terms *terms, int k) {
  return terms->count[k] + terms->count[EDGES + k] > dponestep_sure * M_SQRT2 * terms->deviation;
}

/* What a clip of c takes of one sign more than of the other in such cells, but for what tails tell of both.  Outcomes
 * that few records have fill a few cells, and a tail of all does not stand out. */
static double beyond_by_cells(const tct_onestep_terms *terms, double c, double told) {
  double more = 0, both = 0;
  for (int k = 0; k < EDGES; k++) {
    double up = terms->count[k], down = terms->count[EDGES + k], over = tct_onestep_edge(k) * exp2(-0.25) - c;
    if (over > 0 && is_seen(terms, k)) more += over * (up - down), both += over * (up + down);
  }
  return both > told ? fabs(more) * (1 - told / both) : 0;
}

/* The deviation of `beyond`, counts having this one.  A tail of which nothing is seen may be as long as noise hides. */
static double unsure_beyond(const law *m, double c, int cells, double deviation) {
  int from = m->last < 0 ? tct_onestep_cell(c) : m->last;
  double tail = deviation * sqrt(fmax(cells - from, 1));
  if (m->last < 0) return tail * LONE_SPREAD * c;
  double over = (c - m->x[m->last]) / m->spread;
  return tail * m->spread * (over > 0 ? exp(-fmin(over, 50)) : 1 - over);
}

/* The edge that 68 % of the terms lie within, their root mean square, and the last edge that any is seen at. */
static void typical_terms(const tct_onestep_terms *terms, double *quantile, double *rms, double *seen) {
  double all = 0, within = 0, sure = 0, squares = 0;
  int k = 0;
  for (int j = 0; j < 2 * EDGES; j++) all += terms->count[j];
  for (; k < EDGES - 1; k++) {
    within += terms->count[k] + terms->count[EDGES + k];
    if (within >= 0.68 * all) break;
  }
  *quantile = *seen = tct_onestep_edge(k);
  for (int j = 0; j < EDGES; j++) {
    double both = terms->count[j] + terms->count[EDGES + j], edge = tct_onestep_edge(j);
    if (!is_seen(terms, j)) continue;
    sure += both, squares += 0.8 * both * edge * edge, *seen = edge;
  }
  *rms = fmax(sqrt(squares / fmax(sure, 1)), *quantile);
}

/* Of counts: the least clip, in events. */
static double least_of_counts(const tct_onestep_terms *terms, double direction) {
  double pairs = terms->typical * terms->typical / 2;
  double error = sqrt(terms->dimension) * hypot(counts_clip * terms->noise, direction);
  return fmax(counts_rare_clip, counts_clip - terms->part * error / fmax(pairs, 0x1p-900));
}

double tct_onestep_cut_count(double mean, double y, double room, double *part) {
  double cut = fmin(fmax(y - mean, -room), room), expected = room, at = fmax(-mean, -room), mass = tct_exp(-mean);
  *part = 1;
  if (mean > MEAN_MOST || !(room < 6 * sqrt(mean) + 6)) return mean - y; /* as good as never cut */
  *part = 0;
  for (int j = 0; j <= mean + room; j++) {
    double next = fmin(fmax(j + 1 - mean, -room), room);
    expected -= (room - at) * mass, *part += (next - at) * mass;
    mass *= mean / (j + 1), at = next;
  }
  return expected - cut;
}

static double pick(tct_onestep_terms *terms, const law *up, const law *down) {
  double quantile, rms, seen, rare = terms->typical > 0 ? pow(fmax(1 - terms->typical, 0), 2) : 0;
  terms->uneven = 1;
  typical_terms(terms, &quantile, &rms, &seen);
  terms->rms = rms, terms->quantile = quantile;
  if (!isnan(terms->given)) return terms->given * quantile;
  double shorter = fmin(up->spread, down->spread) / fmax(fmax(up->spread, down->spread), 0x1p-900);
  terms->uneven = fmin(dponestep_lost_by_skew * (1 - shorter), 1);
  double direction = rms / sqrt(terms->rows * terms->dimension);
  double least = terms->typical > 0 ? fmax(rms, least_of_counts(terms, direction)) : rms,
         most = fmax(tct_onestep_edge(EDGES - 1), 1.01 * least);
  double clip = least;
  for (int k = 0; k < GRID; k++) {
    clip = least * pow(most / least, (double)k / (GRID - 1));
    double a = beyond(up, clip), b = beyond(down, clip);
    double bias = fmax(fabs(a - b), (terms->even ? dponestep_clip_even : 1) * fmax(a, b)) / terms->rows;
    if (bias * (terms->amounts ? dponestep_amounts_left : 1) <= terms->part * hypot(clip * terms->noise, direction))
      break;
  }
  double free = terms->noise > 0 ? direction / terms->noise : 0; /* noise is then one direction's error */
  double errors_most = dponestep_far_error - (dponestep_far_error - dponestep_clip_of_count_error) * rare;
  if (free > 0) clip = fmax(least, fmin(clip, fmin(errors_most * free, 2 * seen))); /* chance alone may ask for more */
  double alike = fmin(2 * (1 - terms->uneven), 1); /* a tail on one side may go on unseen: what noise allows */
  if (terms->heavy)
    clip = fmax(clip, fmin(dponestep_far_error * free, dponestep_far_clip * seen / fmax(alike, 0x1p-100)));
  double errors = terms->even ? dponestep_clip_of_error : dponestep_clip_of_count_error;
  double varied = terms->even ? 0 : tct_onestep_varied(terms->dispersion);
  return fmax(clip, fmin(errors * free, (2 + 3 * varied) * seen)); /* no term is longer */
}

double tct_onestep_pick_clip(tct_onestep_terms *terms) {
  int cells = tct_onestep_cell(terms->most) < EDGES - 1 ? tct_onestep_cell(terms->most) + 2 : EDGES;
  law up = law_of(terms->count, cells, terms->deviation), down = law_of(terms->count + EDGES, cells, terms->deviation);
  double clip = fmin(pick(terms, &up, &down), terms->most);
  bool counts = terms->typical > 0;
  if (!(terms->amounts || terms->even || counts) || !(clip < terms->most)) return clip;
  double over = beyond(&up, clip), under = beyond(&down, clip), taken = (over - under) / terms->rows;
  if (counts) {
    double hidden = fmax(dponestep_hidden_end * terms->quantile - clip, 0) * terms->deviation * terms->uneven;
    bool by_law = clip < counts_clip;
    terms->taken = by_law ? 0 : -hidden / (2 * terms->rows);
    terms->unsure = (by_law ? dponestep_amounts_left : 1) * fabs(taken) + hidden / terms->rows;
    terms->lost = sqrt(dponestep_amounts_left / terms->dimension) * terms->unsure;
    return clip;
  }
  if (terms->even) taken = fmax(fabs(taken), beyond_by_cells(terms, clip, over + under) / terms->rows);
  double above = unsure_beyond(&up, clip, cells, terms->deviation),
         below = unsure_beyond(&down, clip, cells, terms->deviation);
  /* of numbers what the clip was picked to take biases nothing that counts */
  double left = terms->amounts ? dponestep_amounts_left : 1,
         direction = terms->rms / sqrt(terms->rows * terms->dimension);
  double allowed = terms->amounts ? 0 : terms->part * hypot(clip * terms->noise, direction);
  terms->unsure = fmax(hypot(hypot(above, below) / terms->rows, left * taken) - allowed, 0);
  terms->taken = (1 - left) * taken;
  terms->lost = terms->even ? sqrt(dponestep_amounts_left / terms->dimension) * terms->unsure : 0;
  return clip;
}
