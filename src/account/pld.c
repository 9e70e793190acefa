/* pld.c - privacy loss distributions: the tightest numerical bracket for any mixed list.
 *
 * 1. A coarse law of each event gives the tilt t (the order of the best Renyi bound, less 1) and a first
 *    epsilon.
 * 2. Connect-the-dots adds to the log-moment of a step at most (t^2 + t)h^2/8, on average (t^2 + t)h^2/12, so T steps
 *    move epsilon by T(t + 1)h^2/12.  h is set from the precision asked for.
 * 3. Both directions of a pair that is not its own reverse are composed to the end; the larger counts.
 * 4. A lower law beside it gives the bracket; if that is wider than asked for, h shrinks and 2-3 run again. */
#include "account/pld.h"

#include "account/compose.h"
#include "account/normal.h"
#include "account/renyi.h"

#include "core/alloc.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double narrow_enough = 1e-4; /* no finer grid for a narrower bracket than this */
static const int64_t longest_grid = (int64_t)1 << 20;
static const int64_t longest_refined = (int64_t)1 << 21; /* no finer grid for the bracket's sake beyond it */

/* ---- the list, gaussian events merged ---------------------------------------------------------- */

typedef struct query {
  tct_event *at; /* [len] */
  int len;
  tct_neighbours neighbours;
  bool two_ways, noiseless;
  double steps;          /* sum of counts */
  double delta, epsilon; /* one is known, the other NAN */
  double precision;
  double tail; /* mass per step that may go to infinity */
} query;

static bool pld_applies(const tct_events *events, tct_neighbours neighbours, char *why, size_t size) {
  (void)neighbours;
  for (int64_t i = 0; i < events->len; i++) {
    if (events->at[i].kind != TCT_EV_ZCDP) continue;
    snprintf(why, size, "a zcdp step has no privacy loss distribution of its own");
    return false;
  }
  return true;
}

static bool is_gaussian(const tct_event *e) {
  return e->kind == TCT_EV_GAUSSIAN || (e->kind == TCT_EV_SAMPLED_GAUSSIAN && e->rate == 1);
}

static bool has_noise(const tct_event *e) {
  return e->kind == TCT_EV_PURE || e->kind == TCT_EV_APPROX || e->kind == TCT_EV_EXPONENTIAL || e->noise > 0;
}

static bool is_nothing(const tct_event *e, tct_neighbours neighbours) {
  if (e->kind == TCT_EV_APPROX) return e->epsilon == 0 && e->delta == 0;
  return (e->kind == TCT_EV_PURE || e->kind == TCT_EV_EXPONENTIAL) && tct_event_pure_epsilon(e, neighbours) == 0;
}

static tct_status query_new(query *q, const tct_events *events, tct_neighbours neighbours, tct_error *err) {
  double precision_of_mu = 0; /* sum of count/noise^2 */
  memset(q, 0, sizeof *q);
  q->neighbours = neighbours;
  q->at = TCT_NEW(tct_event, events->len + 1);
  if (!q->at) return tct_fail_memory(err);
  for (int64_t i = 0; i < events->len; i++) {
    const tct_event *e = &events->at[i];
    q->noiseless |= !has_noise(e);
    q->two_ways |= tct_event_two_ways(e, neighbours);
    if (is_nothing(e, neighbours)) continue;
    if (is_gaussian(e)) {
      precision_of_mu += (double)e->count / (e->noise * e->noise);
      continue;
    }
    bool merged = false;
    for (int j = 0; j < q->len && !merged; j++)
      if (tct_event_same(&q->at[j], e)) q->at[j].count += e->count, merged = true;
    if (!merged) q->at[q->len++] = *e;
    q->steps += (double)e->count;
  }
  if (precision_of_mu > 0) {
    q->at[q->len++] = tct_event_gaussian((1 - TCT_MARGIN) / sqrt(precision_of_mu), 1);
    q->steps += 1;
  }
  return TCT_OK;
}

/* ---- step 1: the tilt -------------------------------------------------------------------------- */

typedef struct plan {
  double t, epsilon, log_delta, h;
} plan;

static void free_laws(tct_pmf *pmf, int n) {
  for (int j = 0; j < n; j++) tct_pmf_free(&pmf[j]);
  tct_free(pmf);
}

typedef enum side { COARSE, UPPER, LOWER } side; /* COARSE: upper laws, each event on its own few buckets */

static tct_status make_law(const query *q, const tct_event *e, side which, tct_grid_shape shape, tct_pmf *out,
                           tct_error *err) {
  tct_grid grid;
  shape.reversed = shape.reversed && tct_event_two_ways(e, q->neighbours);
  if (which == COARSE) {
    double low, high;
    tct_event_loss_range(e, q->neighbours, q->tail, &low, &high);
    shape.h = fmax((high - low) / 512, 1e-300);
  } else if (which == LOWER || e->kind != TCT_EV_SAMPLED_GAUSSIAN) {
    TCT_TRY(tct_best_offset(e, q->neighbours, &shape, &shape.offset, err));
  }
  TCT_TRY(tct_grid_new(e, q->neighbours, &shape, &grid, err));
  tct_status status =
      which == LOWER ? tct_pmf_lower(&grid, e->count, out, err) : tct_pmf_upper(&grid, e->count, out, err);
  tct_grid_free(&grid);
  return status;
}

static tct_status make_laws(const query *q, bool reversed, double h, side which, tct_pmf **out, int *n,
                            tct_error *err) {
  tct_pmf *pmf = TCT_NEW(tct_pmf, q->len + 1);
  tct_grid_shape shape = {h, 0, q->tail, reversed};
  if (!pmf) return tct_fail_memory(err);
  *n = 0;
  for (int j = 0; j < q->len; j++) {
    bool real = q->at[j].kind != TCT_EV_EXPONENTIAL && q->at[j].kind != TCT_EV_OBJPERT;
    if (which == LOWER && !real) continue; /* only a dominating law is known: it proves nothing from below */
    tct_status status = make_law(q, &q->at[j], which, shape, &pmf[*n], err);
    if (status != TCT_OK) return free_laws(pmf, *n), status;
    ++*n;
  }
  *out = pmf;
  return TCT_OK;
}

/* By the conversion of the order 1 + t: epsilon at q->delta, or log delta at `at` if that is given. */
static double conversion(const query *q, const tct_pmf *pmf, int n, double at, double t) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += (double)pmf[j].count * tct_pmf_log_moment(&pmf[j], t);
  if (isnan(at)) return tct_renyi_epsilon_at(1 + t, sum / t, q->delta);
  return sum - t * at + (1 + t) * log1p(-1 / (1 + t)) - log(t);
}

/* epsilon: known, or guessed well, or NAN. */
static plan find_tilt(const query *q, const tct_pmf *pmf, int n, double epsilon) {
  double widest = 0;
  for (int j = 0; j < n; j++) widest = fmax(widest, pmf[j].h);
  double from = log(1e-4), to = fmin(log(1e6), log(8 / widest)), best = INFINITY, at = from;
  enum { GRID = 28 };
  for (int i = 0; i < GRID; i++) {
    double x = from + (to - from) * i / (GRID - 1), value = conversion(q, pmf, n, epsilon, exp(x));
    if (value < best) best = value, at = x;
  }
  double low = fmax(from, at - (to - from) / (GRID - 1)), high = fmin(to, at + (to - from) / (GRID - 1));
  while (high - low > 0.02) { /* thirds: the tilt need not be exact */
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    double fa = conversion(q, pmf, n, epsilon, exp(a)), fb = conversion(q, pmf, n, epsilon, exp(b));
    best = fmin(best, fmin(fa, fb));
    if (fa < fb)
      high = b;
    else
      low = a;
  }
  plan p = {exp(0.5 * (low + high)), isnan(epsilon) ? best : epsilon, isnan(q->delta) ? best : log(q->delta), 0};
  return p;
}

/* Standard deviation of the untilted sum, from second differences of the log-moment. */
static double deviation_of(const tct_pmf *pmf, int n) {
  double variance = 0;
  for (int j = 0; j < n; j++) {
    double s0 = 0, s1 = 0, s2 = 0;
    for (int64_t i = 0; i < pmf[j].len; i++) {
      double loss = pmf[j].offset + pmf[j].h * (double)(pmf[j].first + i);
      s0 += pmf[j].p[i], s1 += pmf[j].p[i] * loss, s2 += pmf[j].p[i] * loss * loss;
    }
    if (s0 > 0) variance += (double)pmf[j].count * fmax(0, s2 / s0 - s1 * s1 / (s0 * s0));
  }
  return sqrt(variance);
}

/* The two atoms of the steps that weigh most (laplace, pure, approx) both fall on grid points. */
static double snap_width(const query *q, double h) {
  double most = 0, gap = 0;
  for (int j = 0; j < q->len; j++) {
    tct_event_kind kind = q->at[j].kind;
    if (kind != TCT_EV_LAPLACE && kind != TCT_EV_PURE && kind != TCT_EV_APPROX) continue;
    double own = tct_event_pure_epsilon(&q->at[j], q->neighbours), weight = own * own * (double)q->at[j].count;
    if (weight > most) most = weight, gap = 2 * own;
  }
  return gap > 0 ? gap / ceil(gap / h) : h;
}

/* Step 2. The shares below leave room: a quarter of the precision for the upper law. */
static void choose_width(const query *q, const tct_pmf *pmf, int n, plan *p) {
  double deviation = deviation_of(pmf, n), part = q->precision / 4, low, high, widest = 0;
  double epsilon = fmax(p->epsilon, 0.02 * deviation);
  if (isnan(q->epsilon))
    p->h = sqrt(12 * part * epsilon / (q->steps * (p->t + 1)));
  else
    p->h = sqrt(12 * part / (q->steps * (p->t + 1) * fmax(p->t, 1e-3)));
  for (int j = 0; j < q->len; j++) {
    tct_event_loss_range(&q->at[j], q->neighbours, q->tail, &low, &high);
    widest = fmax(widest, high - low);
  }
  p->h = fmin(p->h, fmax(deviation, widest / sqrt(q->steps)) / 24);
  p->h = fmax(p->h, widest / (double)longest_grid);
  p->h = snap_width(q, p->h);
}

/* ---- step 3: one direction --------------------------------------------------------------------- */

typedef struct answer {
  double value;   /* epsilon or delta */
  bool trusted;   /* it lies inside the window */
  int64_t length; /* of the transform */
} answer;

static tct_status ask(const query *q, bool reversed, const plan *p, side which, answer *out, tct_error *err) {
  tct_pmf *pmf;
  int n;
  TCT_TRY(make_laws(q, reversed, p->h, which, &pmf, &n, err));
  *out = (answer){0, true, 0};
  if (n == 0) return free_laws(pmf, n), TCT_OK;
  double most = 0.5 / p->h, t = fmin(p->t, most);
  tct_status status = TCT_OK;
  for (int attempt = 0; attempt < 8; attempt++) {
    tct_law law;
    status = tct_compose(pmf, n, t, which == UPPER, log(1e-4 * q->precision), &law, err);
    if (status != TCT_OK) break;
    bool inside;
    out->value = isnan(q->epsilon) ? tct_law_epsilon(&law, q->delta, &inside)
                                   : fmin(1, tct_law_delta(&law, q->epsilon, &inside));
    /* Below the window the upper law's value is still on the safe side, but loose. */
    out->trusted = inside || law.offset + law.h * (double)law.first <= 0;
    out->length = law.len;
    bool above = out->value == INFINITY; /* or the tail that a small tilt leaves above the window is too much */
    tct_law_free(&law);
    if ((out->trusted && !above) || (above && t == most)) break;
    t = above ? fmin(2 * t, most) : t / 4;
  }
  if (!out->trusted && which == LOWER) out->value = 0;
  free_laws(pmf, n);
  return status;
}

/* What the doubles of the losses themselves may have moved: 8 units of each step's loss, and of 1. */
static double loss_rounding(const query *q) {
  double sum = 0;
  for (int j = 0; j < q->len; j++) {
    double low, high;
    tct_event_loss_range(&q->at[j], q->neighbours, q->tail, &low, &high);
    sum += (double)q->at[j].count * (4 * DBL_EPSILON) * (1 + fmax(fabs(low), fabs(high)));
  }
  return sum;
}

/* The larger of both directions. The reverse one is first tried on a grid four times as coarse: where even
 * that stays below, the finer one would. */
static tct_status ask_upper(const query *q, const plan *p, const plan *back, answer *out, bool *reversed,
                            tct_error *err) {
  answer other;
  *reversed = false;
  TCT_TRY(ask(q, false, p, UPPER, out, err));
  if (!q->two_ways) return TCT_OK;
  plan rough = *back;
  rough.h = 4 * p->h;
  TCT_TRY(ask(q, true, &rough, UPPER, &other, err));
  if (other.value <= out->value) return TCT_OK;
  rough.h = p->h;
  TCT_TRY(ask(q, true, &rough, UPPER, &other, err));
  if (other.value > out->value) *out = other, *reversed = true;
  return TCT_OK;
}

/* Step 1 of one direction, from laws on a grid of the given width (0: each event on a coarse one of its own). */
static tct_status make_plan(const query *q, bool reversed, double epsilon, double width, plan *p, tct_error *err) {
  tct_pmf *pmf;
  int n;
  TCT_TRY(make_laws(q, reversed, width, width > 0 ? UPPER : COARSE, &pmf, &n, err));
  *p = find_tilt(q, pmf, n, epsilon);
  choose_width(q, pmf, n, p);
  free_laws(pmf, n);
  return TCT_OK;
}

static tct_status bracket_of(query *q, bool both, tct_bracket *out, tct_error *err) {
  plan p, back = {0};
  *out = (tct_bracket){0, INFINITY};
  double fine = loss_rounding(q);
  TCT_TRY(make_plan(q, false, q->epsilon, 0, &p, err));
  if (isnan(q->delta)) { /* only now is delta roughly known, and with it what may go to infinity */
    q->tail = exp(fmax(p.log_delta, -600)) * 1e-3 * q->precision / q->steps;
    TCT_TRY(make_plan(q, false, q->epsilon, 0, &p, err));
  }
  if (isnan(q->epsilon)) { /* Renyi's epsilon, and with it the tilt, can be far too large: ask a coarse grid first */
    answer guess;
    plan rough = p;
    rough.h = 5 * p.h;
    TCT_TRY(ask(q, false, &rough, UPPER, &guess, err));
    if (guess.value > 0 && guess.value < p.epsilon) TCT_TRY(make_plan(q, false, guess.value, rough.h, &p, err));
  }
  if (q->two_ways) TCT_TRY(make_plan(q, true, q->epsilon, 0, &back, err));
  for (int round = 0; round < 3; round++) {
    answer upper, lower = {0, true, 0};
    bool reversed;
    TCT_TRY(ask_upper(q, &p, &back, &upper, &reversed, err));
    plan low_plan = reversed ? back : p;
    low_plan.h = p.h;
    if (both) TCT_TRY(ask(q, reversed, &low_plan, LOWER, &lower, err));
    double moved = isnan(q->epsilon) ? fine : fine * (1 + p.t) * upper.value;
    out->lower = fmax(out->lower, lower.value - moved);
    out->upper = fmin(out->upper, upper.value > 0 ? upper.value + moved : 0);
    double width = (out->upper - out->lower) / out->upper;
    if (!both || !(width > fmax(q->precision, narrow_enough)) || out->lower == 0) break;
    double shrink = fmax(0.15, fmin(0.7, 0.85 * sqrt(fmax(q->precision, narrow_enough) / width)));
    if ((double)upper.length > shrink * (double)longest_refined) break;
    p.h = snap_width(q, p.h * shrink);
  }
  return TCT_OK;
}

static tct_status solve(const tct_events *events, tct_neighbours neighbours, query ask_for, bool both, tct_bracket *out,
                        tct_error *err) {
  query q;
  TCT_TRY(query_new(&q, events, neighbours, err));
  q.delta = ask_for.delta, q.epsilon = ask_for.epsilon, q.precision = ask_for.precision;
  bool want_delta = isnan(q.delta);
  *out = (tct_bracket){0, 0};
  tct_status status = TCT_OK;
  if (q.noiseless) {
    out->upper = want_delta ? 1 : INFINITY; /* the lower end stays 0: another event may hide nothing */
  } else if (q.len > 0) {
    /* delta is not known beforehand when epsilon is: 1e-15 per list, 1e-4 of delta otherwise. */
    double scale = want_delta ? 1e-15 : q.delta * 1e-3;
    q.tail = fmax(scale * q.precision / q.steps, 1e-290);
    status = bracket_of(&q, both, out, err);
  }
  tct_free(q.at);
  return status;
}

static tct_status pld_epsilon(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                              tct_bracket *out, tct_error *err) {
  return solve(events, neighbours, (query){.delta = delta, .epsilon = NAN, .precision = precision}, true, out, err);
}

static tct_status pld_delta(const tct_events *events, tct_neighbours neighbours, double epsilon, double precision,
                            tct_bracket *out, tct_error *err) {
  return solve(events, neighbours, (query){.delta = NAN, .epsilon = epsilon, .precision = precision}, true, out, err);
}

tct_status tct_pld_epsilon_upper(const tct_events *events, tct_neighbours neighbours, double delta, double precision,
                                 tct_bracket *out, tct_error *err) {
  return solve(events, neighbours, (query){.delta = delta, .epsilon = NAN, .precision = precision}, false, out, err);
}

const tct_accountant tct_accountant_pld = {
    "pld", "privacy loss distributions, composed by FFT, with a lower bound", pld_applies, pld_epsilon, pld_delta,
};
