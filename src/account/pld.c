/* pld.c - privacy loss distributions: the tightest numerical bracket for any mixed list.
 *
 * 1. The saddle point (saddle.h) forecasts epsilon or delta, and with it the tilt and the window.
 * 2. Connect-the-dots adds to the log-moment of a step at most (t^2 + t)h^2/8, on average (t^2 + t)h^2/12, so T steps
 *    move epsilon by T(t + 1)h^2/12.  h is set from the precision asked for.
 * 3. Both directions of a pair that is not its own reverse are composed to the end; the larger counts.
 * 4. A lower law from the same grids gives the bracket; if that is too wide, h shrinks and 3 runs again.
 * 5. Where the work is too much, or nothing is proved, h grows until something is.
 * 6. Where the bracket stays wide, the sum of the parts may prove less. */
#include "account/curves/compare.h"
#include "account/alone.h"
#include "account/pld.h"

#include "account/curves/compose.h"
#include "account/curves/loss_query.h"
#include "account/curves/normal.h"
#include "account/curves/renyi.h"
#include "account/curves/saddle.h"
#include "account/curves/work.h"

#include "core/point.h"
#include "core/alloc.h"

#include <math.h>

static const double narrow_enough = 1e-4; /* no finer grid for a narrower bracket than this */
static const int64_t longest_grid = 1 << 20, longest_refined = 1 << 21; /* none for the bracket's sake beyond it */

/* ---- step 1: the forecast ---------------------------------------------------------------------- */

/* As on a grid of width h, or 0. */
static tct_status forecast(tct_loss_query *q, bool reversed, double h, tct_saddle *out, tct_error *err) {
  TCT_TRY(tct_work_take(4e5 * q->len, err)); /* 60 tilts of 194 nodes, their exponentials and logarithms */
  tct_nodes *nodes = TCT_NEW(tct_nodes, q->len);
  tct_status status = nodes ? TCT_OK : tct_fail_memory(err);
  for (int j = 0; j < q->len && status == TCT_OK; j++) {
    bool back = reversed && tct_event_two_ways(&q->at[j], q->neighbours);
    status = tct_event_nodes(&q->at[j], q->neighbours, q->tail, back, h, &nodes[j], err);
  }
  if (status == TCT_OK) tct_saddle_find(nodes, q->len, q->epsilon, log(q->delta), out);
  for (int j = 0; j < q->len && nodes; j++) tct_nodes_free(&nodes[j]);
  tct_free(nodes);
  return status;
}

/* The two atoms of the steps that weigh most (laplace, pure, approx) both fall on grid points.  No much finer grid is
 * made for steps that are a small part of the whole. */
static double snap_width(const tct_loss_query *q, const tct_saddle *s, double h) {
  double max = 0, gap = 0;
  for (int j = 0; j < q->len; j++) {
    if (!tct_event_is_pure(&q->at[j]) || q->at[j].kind == TCT_EV_EXPONENTIAL) continue;
    double own = tct_event_pure_epsilon(&q->at[j], q->neighbours), weight = own * own * (double)q->at[j].count;
    if (weight > max) max = weight, gap = 2 * own;
  }
  bool matters = max > 0.1 * s->spread * s->spread || gap > 0.5 * h;
  return gap > 0 && matters ? gap / ceil(gap / h) : h;
}

/* Calibrations ask for less than 1e-4.  Their noise shall not be above that of the usual grids of width 1e-4 where a
 * transform of 2^18 points can be no coarser.  Just above a power of two of points the grid is widened to it. */
static double fit_width(const tct_loss_query *q, const tct_saddle *s, double h) {
  tct_window window;
  tct_saddle_window(s, tct_loss_below(q, s->epsilon), log(1e-2 * q->precision), h, &window);
  if (q->precision < 1e-4) h = tct_min(h, tct_max(9e-5, window.length / (double)(1 << 18)));
  h = tct_max(h, 16 * s->spread / (double)tct_compose_longest); /* a bulk that is longer folds onto itself */
  double points = exp2(floor(log2(window.length / h)));
  return window.length / points < 1.25 * h ? 1.001 * window.length / (points - 4) : h;
}

/* Step 2. The upper law takes a fifth of the precision, the lower one up to four times as much. */
static double choose_width(const tct_loss_query *q, const tct_saddle *s, double slope) {
  double part = q->precision / 5, low, high, widest = 0, h;
  double epsilon = tct_max(s->epsilon, 0.02 * s->spread);
  if (isnan(q->epsilon))
    h = sqrt(12 * part * epsilon / (q->steps * (slope + 1)));
  else
    h = sqrt(12 * part / (q->steps * (s->t + 1) * tct_max(s->t, 1e-3)));
  for (int j = 0; j < q->len; j++) {
    tct_event_loss_range(&q->at[j], q->neighbours, q->tail, &low, &high);
    widest = tct_max(widest, high - low);
  }
  h = tct_min(h, tct_max(s->spread, widest / sqrt(q->steps)) / 24);
  h = fit_width(q, s, h);
  return snap_width(q, s, tct_max(h, widest / (double)longest_grid));
}

/* ---- step 3: one direction --------------------------------------------------------------------- */

typedef enum side { UPPER, LOWER } side;

/* The laws of all events on one grid width, from above and from below. */
typedef struct laws {
  tct_pmf *side[2];
  int len[2];
} laws;

static void free_laws(laws *l) {
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < l->len[k]; j++) tct_pmf_free(&l->side[k][j]);
    tct_free(l->side[k]);
  }
}

static tct_status add_law(tct_loss_query *q, const tct_event *e, tct_grid_shape shape, bool both, laws *out,
                          tct_error *err) {
  bool real = tct_event_law_is_real(e), two = tct_event_two_ways(e, q->neighbours);
  tct_grid grid;
  tct_pmf *upper = &out->side[UPPER][out->len[UPPER]];
  const tct_choices *choices = q->choices && q->choices[e - q->at].epsilon > 0 ? &q->choices[e - q->at] : NULL;
  double work = choices ? tct_choices_grid_work(choices, shape.h) : tct_grid_work(e, q->neighbours, shape.h, q->tail);
  if (q->unproved || !tct_loss_query_pays(q, work, tct_grid_more_work(e, work))) {
    *upper = (tct_pmf){.h = shape.h, .proved = false};
    return out->len[UPPER]++, TCT_OK;
  }
  if (choices) return tct_choices_laws(choices, shape.h, both, out->side, out->len, err);
  shape.reversed = shape.reversed && two;
  if (both || e->kind != TCT_EV_SAMPLED_GAUSSIAN)
    TCT_TRY(tct_best_offset(e, q->neighbours, &shape, &shape.offset, err));
  TCT_TRY(tct_grid_new(e, q->neighbours, &shape, &grid, err));
  q->unproved |= !grid.proved && grid.len > 1;
  tct_status status = tct_pmf_upper(&grid, e->count, upper, err);
  if (status == TCT_OK) out->len[UPPER]++;
  if (status == TCT_OK && both && real) {
    status = tct_pmf_lower(&grid, e->count, &out->side[LOWER][out->len[LOWER]], err);
    if (status == TCT_OK) out->len[LOWER]++;
  }
  tct_grid_free(&grid);
  return status;
}

static tct_status make_laws(tct_loss_query *q, bool reversed, double h, bool both, laws *out, tct_error *err) {
  tct_status status = TCT_OK;
  for (int k = 0; k < 2; k++) {
    out->len[k] = 0;
    out->side[k] = TCT_NEW(tct_pmf, 2 * q->len + 1);
    if (!out->side[k]) status = tct_fail_memory(err);
  }
  for (int j = 0; j < q->len && status == TCT_OK; j++)
    status = add_law(q, &q->at[j], (tct_grid_shape){h, 0, q->tail, reversed}, both, out, err);
  if (status != TCT_OK) free_laws(out);
  return status;
}

typedef struct answer {
  double value;   /* epsilon or delta, moved by what the losses' rounding may do */
  double slope;   /* -d log delta / d epsilon there */
  bool trusted;   /* it was seen, with little put at infinity */
  int64_t length; /* of the transform */
} answer;

static double no_answer(const tct_loss_query *q) { return isnan(q->epsilon) ? INFINITY : 1; }

/* What an accountant says that knows nothing; asking again would not help. */
static answer nothing(const tct_loss_query *q, side which) {
  return (answer){which == LOWER ? 0 : no_answer(q), 0, true, 0};
}

/* How a forecast is corrected that turned out wrong: read further down, or leave out less at infinity. */
typedef struct correction {
  double epsilon, log_part;
  int times; /* that it was not seen */
} correction;

static tct_status compose_once(tct_loss_query *q, const laws *l, side which, const tct_saddle *s, correction *c,
                               answer *out, tct_error *err) {
  tct_window window;
  tct_law law;
  bool inside;
  *out = nothing(q, which);
  for (int j = 0; j < l->len[which]; j++)
    if (!l->side[which][j].proved) return TCT_OK;
  double outside = which == UPPER ? 0.1 * q->precision * q->delta : INFINITY; /* NaN: any */
  tct_saddle_wide_window(s, l->side[which], l->len[which], c->epsilon, outside, &c->log_part, &window);
  if (!tct_loss_query_pays(q, tct_compose_work(l->side[which], l->len[which], &window), 0)) return TCT_OK;
  TCT_TRY(tct_compose(l->side[which], l->len[which], &window, which == UPPER, &law, err));
  if (!law.proved) return tct_law_free(&law), TCT_OK;
  if (isnan(q->epsilon)) {
    double left = which == UPPER ? tct_delta_left(q->delta, TCT_POINT(steps_hardly_ever_drawn_cost_nothing, q->rare, 0))
                                 : q->delta;
    double value = tct_law_epsilon(&law, left, &inside, &out->slope);
    out->value = which == UPPER ? tct_upper(value) + TCT_POINT(rounding_of_losses_not_added, tct_loss_rounding(q), 0)
                                : tct_lower(value - tct_loss_rounding(q));
  } else {
    double value = tct_law_delta(&law, q->epsilon + (which == UPPER ? -1 : 1) * tct_loss_rounding(q), &inside);
    out->value = which == UPPER ? tct_upper_mass(value) : tct_lower(value);
  }
  double floor = law.offset + law.h * (double)(law.first + law.floor);
  double delta = isnan(q->delta) ? out->value : q->delta;
  /* What the window left out counts for too much. */
  bool lost = which == UPPER && law.outside > 0.1 * q->precision * delta;
  inside = inside || floor <= 0;
  out->trusted = inside && !lost;
  out->length = law.len;
  if (!inside) c->epsilon = c->times++ ? -2 * law.h : 0.5 * tct_min(c->epsilon, floor) - 2 * law.h;
  if (lost) c->log_part -= 8;
  tct_law_free(&law);
  return TCT_OK;
}

/* An upper value that is not trusted is on the safe side, but loose. */
static tct_status compose_side(tct_loss_query *q, const laws *l, side which, const tct_saddle *s, int attempts,
                               answer *out, tct_error *err) {
  *out = (answer){0, 0, true, 0};
  if (l->len[which] == 0) return TCT_OK; /* LOWER alone: events of which only a dominating law is known */
  double h = l->side[which][0].h, low = q->epsilon - 2 * h;
  if (isnan(q->epsilon)) low = tct_min(tct_loss_below(q, s->epsilon), s->epsilon - 0.1 * s->spread) - 8 * h;
  correction c = {low, log(1e-2 * q->precision), 0};
  for (int attempt = 0; attempt < attempts; attempt++) {
    TCT_TRY(compose_once(q, l, which, s, &c, out, err));
    if (out->trusted) break;
  }
  if (!out->trusted && which == LOWER) out->value = 0;
  return TCT_OK;
}

enum { ATTEMPTS = 6 };

/* One direction of the loss on a grid of spacing h; `s` is that direction's saddle point. */
typedef struct direction {
  bool reversed;
  double h;
  const tct_saddle *s;
  int attempts; /* at most so many grids, until the answer can be trusted */
} direction;

/* lower may be NULL. */
static tct_status ask(tct_loss_query *q, direction d, answer *upper, answer *lower, tct_error *err) {
  laws l;
  TCT_TRY(make_laws(q, d.reversed, d.h, lower != NULL, &l, err));
  tct_status status = compose_side(q, &l, UPPER, d.s, d.attempts, upper, err);
  if (status == TCT_OK && lower && upper->value < no_answer(q))
    status = compose_side(q, &l, LOWER, d.s, d.attempts, lower, err);
  free_laws(&l);
  return status;
}

/* The largest loss of the reversed direction, or INFINITY: a sampled step's is -log(1 - rate). */
static double reversed_limit(const tct_loss_query *q) {
  double sum = tct_loss_rounding(q);
  for (int j = 0; j < q->len; j++) {
    const tct_event *e = &q->at[j];
    bool two = tct_event_two_ways(e, q->neighbours), bounded = tct_event_is_pure(e) && e->delta == 0;
    double max = two ? -log1p(-e->rate) : bounded ? tct_event_pure_epsilon(e, q->neighbours) : INFINITY;
    sum += (double)e->count * max * (1 + 1e-15);
  }
  return sum * (1 + TCT_MARGIN);
}

/* The larger of both directions.  The reverse one is first tried on coarser grids, as coarse as its distance allows by
 * the forecast: where even those stay below, the fine one would. */
static tct_status ask_both_ways(tct_loss_query *q, double h, const tct_saddle *s, const tct_saddle *back, answer *upper,
                                answer *lower, tct_error *err) {
  answer other, other_lower = {0, 0, true, 0};
  TCT_TRY(ask(q, (direction){false, h, s, ATTEMPTS}, upper, lower, err));
  if (!TCT_POINT(pld_in_one_direction, q->two_ways, false) || !(upper->value < no_answer(q)) ||
      reversed_limit(q) <= (isnan(q->epsilon) ? upper->value : q->epsilon))
    return TCT_OK;
  double gap = isnan(q->epsilon) ? 1 - back->epsilon / upper->value : 1 - exp(back->log_delta) / upper->value;
  double coarse = tct_min(64, sqrt(tct_max(gap, 0) / (0.8 * q->precision)));
  for (; coarse > 1.5; coarse /= 3) {
    TCT_TRY(ask(q, (direction){true, coarse * h, back, 1}, &other, NULL, err));
    if (other.value <= upper->value) return TCT_OK;
  }
  TCT_TRY(ask(q, (direction){true, h, back, ATTEMPTS}, &other, lower ? &other_lower : NULL, err));
  if (other.value > upper->value) *upper = other;
  if (lower && other_lower.value > lower->value) *lower = other_lower;
  return TCT_OK;
}

/* The saddle point is far off where rare large losses add little to delta but much to the moments.  A coarse grid says
 * where epsilon lies, and how steep the curve is there. */
static tct_status correct_forecast(tct_loss_query *q, tct_saddle *s, double *slope, double *width, double *epsilon,
                                   tct_error *err) {
  answer rough;
  tct_loss_query at = *q;
  *slope = s->t;
  if (!isnan(q->epsilon)) return TCT_OK;
  double fine = choose_width(q, s, s->t), coarse = tct_max(5, sqrt(2e-3 / q->precision));
  double h = tct_min(coarse * fine, tct_max(fine, 0.3 / s->t)); /* the tilt is to pass over few points at a time */
  TCT_TRY(ask(q, (direction){false, h, s, 3}, &rough, NULL, err));
  if (!rough.trusted || !(rough.value < INFINITY)) return TCT_OK;
  *width = h, *epsilon = rough.value;
  *slope = tct_min(tct_max(s->t, rough.slope), 4 * s->t); /* more is the end of the support */
  at.epsilon = rough.value;
  tct_saddle before = *s;
  TCT_TRY(forecast(&at, false, 0, s, err));
  if (!(s->t < 10 * before.t)) *s = before; /* beyond the largest loss: the grid was too coarse for its tilt */
  return TCT_OK;
}

/* Where the grid wanted gave nothing: wider ones, any width is sound.  Now a step may be much narrower than a bucket,
 * so that the forecast is made as on the grid.  seen: epsilon as far as it is known, or NAN. */
static tct_status coarser(tct_loss_query *q, double h, double seen, tct_bracket *out, tct_error *err) {
  enum { ATTEMPTS_WIDER = 12 };
  q->work += tct_loss_spare_work;
  for (int k = 0; k < ATTEMPTS_WIDER && !(out->upper < no_answer(q)); k++, h *= 2) {
    tct_loss_query at = *q;
    tct_saddle s, back = {0};
    answer upper;
    if (isnan(q->epsilon)) at.epsilon = seen;
    TCT_TRY(forecast(&at, false, h, &s, err));
    if (q->two_ways) TCT_TRY(forecast(q, true, h, &back, err));
    TCT_TRY(ask_both_ways(q, h, &s, &back, &upper, NULL, err));
    out->upper = tct_min(out->upper, tct_upper(upper.value));
  }
  return TCT_OK;
}

static tct_status bracket_of(tct_loss_query *q, bool both, tct_bracket *out, tct_error *err);

/* Is delta larger than at any epsilon?  The answer is an upper end of 0. */
static tct_status ask_at_zero(tct_loss_query *q, tct_bracket *out, tct_error *err) {
  tct_loss_query at = *q;
  tct_bracket delta;
  at.delta = NAN, at.epsilon = 0;
  TCT_TRY(bracket_of(&at, true, &delta, err));
  if (delta.upper <= tct_delta_left(q->delta, q->rare)) out->upper = 0;
  return q->work = at.work, q->unproved = at.unproved, TCT_OK;
}

static tct_status bracket_of(tct_loss_query *q, bool both, tct_bracket *out, tct_error *err) {
  tct_saddle s, back = {0};
  double slope, rough = 0, seen = NAN, before = 0;
  *out = (tct_bracket){0, INFINITY};
  TCT_TRY(forecast(q, false, 0, &s, err));
  if (isnan(q->epsilon) && s.epsilon == 0) TCT_TRY(ask_at_zero(q, out, err));
  if (out->upper == 0) return TCT_OK;
  if (isnan(q->delta)) { /* only now is delta roughly known, and with it what may go to infinity */
    q->tail = exp(tct_max(s.log_delta, -600)) * 1e-2 * q->precision / q->steps;
    TCT_TRY(forecast(q, false, 0, &s, err));
  }
  if (q->two_ways) TCT_TRY(forecast(q, true, 0, &back, err));
  TCT_TRY(correct_forecast(q, &s, &slope, &rough, &seen, err));
  double h = choose_width(q, &s, slope);
  for (int round = 0; round < 3; round++) {
    answer upper, lower = {0, 0, true, 0};
    TCT_TRY(ask_both_ways(q, h, &s, &back, &upper, both ? &lower : NULL, err));
    out->lower = tct_max(out->lower, tct_lower(lower.value));
    out->upper = tct_min(out->upper, tct_upper(upper.value));
    double width = (out->upper - out->lower) / out->upper, enough = tct_max(q->precision, narrow_enough);
    if (q->choices && before > 0 && width > 0.6 * before) break; /* no grid brings their lower law nearer */
    if (!both || !(out->upper < INFINITY) || !(width > enough) || out->lower == 0) break;
    before = width;
    double shrink = tct_max(0.15, tct_min(0.7, 0.85 * sqrt(tct_max(q->precision, narrow_enough) / width)));
    if ((double)upper.length > shrink * (double)longest_refined) break;
    h = snap_width(q, &s, h * shrink);
  }
  if (!(out->upper < no_answer(q))) return coarser(q, tct_max(2 * h, rough), seen, out, err);
  return TCT_OK;
}

static tct_status solve(const tct_events *events, tct_neighbours neighbours, tct_loss_query ask_for, bool both,
                        tct_bracket *out, tct_error *err) {
  tct_loss_query q;
  bool want_delta = isnan(ask_for.delta);
  TCT_TRY(tct_loss_query_new(&q, events, neighbours, want_delta ? 0 : 0.1 * ask_for.precision * ask_for.delta, err));
  if (!both) q.work += tct_loss_one_end_work;
  q.delta = ask_for.delta, q.epsilon = ask_for.epsilon, q.precision = ask_for.precision, *out = (tct_bracket){0, 0};
  tct_status status = TCT_OK;
  if (q.noiseless || q.beyond) {
    out->upper = want_delta ? 1 : INFINITY; /* the lower end stays 0: that is for the accountants which compose it */
  } else if (q.len > 0) {
    /* delta is not known beforehand when epsilon is: 1e-15 per list; else 1e-2 of what the precision allows. */
    double scale = want_delta ? 1e-15 : q.delta * 1e-2;
    q.tail = tct_max(scale * q.precision / q.steps, 1e-290);
    status = bracket_of(&q, both, out, err);
  }
  tct_loss_query_free(&q);
  return status;
}

static tct_loss_query at_delta(double delta, double precision) {
  return (tct_loss_query){.delta = delta, .epsilon = NAN, .precision = precision};
}

static tct_status pld_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                              tct_bracket *out, tct_error *err) {
  TCT_TRY(solve(events, neighbours, at_delta(delta, precision), true, out, err));
  return tct_sum_alone(events, neighbours, delta, precision, out, err); /* step 6 */
}

static tct_status pld_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                            tct_bracket *out, tct_error *err) {
  tct_loss_query q = {.delta = NAN, .epsilon = epsilon, .precision = precision};
  return solve(events, neighbours, q, true, out, err);
}

tct_status tct_pld_epsilon_upper(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                                 tct_bracket *out, tct_error *err) {
  return solve(events, neighbours, at_delta(delta, precision), false, out, err);
}

const tct_accountant tct_accountant_pld = {
    "pld",
    "privacy loss distributions, composed by FFT, with a lower bound",
    tct_applies_to_all,
    pld_epsilon,
    pld_delta,
    true,
};
