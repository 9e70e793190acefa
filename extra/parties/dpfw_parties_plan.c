/* dpfw_parties_plan.c - the promise of dpfw_parties: choices, noised columns, and how the budget is split.
 *
 * EVENTS, all parties together: K*T choices exponential:epsilon_0; at most K*L columns gaussian:noise; with one winner
 * per round also K*T scores gaussian:noise.  A record sits with every party, so all of them compose.  Budget:
 * `budget_fraction` of the zCDP goes to the columns, the rest to choices (with scores: half of the rest).  The scale
 * of all three is the largest that (epsilon, delta) allows by the best accountant.
 *
 * DEFAULTS, from public facts.
 *   clip B: the loss's slope bound; for real labels Y: a residual above it means a prediction of the wrong sign.
 *   T: dpfw's rule (dpfw_plan.c) with the budget of one party's choices: proportional to (n epsilon)^(2/3).
 *   L: a sixth of T, at least 3: a step that comes back to a column costs no column, and every column sent makes all
 *     noisier.
 *   m: log(T/delta)/iota^2, the paper's.  iota^2 = log(T/delta) sigma^2/(n/4), sigma the columns' noise multiplier.
 *     Then the embedding's collisions are about as large as the noise if columns have mean square R_inf^2/4.  Smaller
 *     ones would be hidden by the noise.  iota is kept within [0.1, 0.3].  Without noise m is n: the identity. */
#include "parties/dpfw_parties.h"
#include "parties/rules.def"
#include "solve/shared/weight_bound.h"

#include <stdio.h>
#include <string.h>

const tct_option tct_parties_options[] = {
    {"parties", TCT_OPT_COUNT, "2", 1, TCT_PARTIES_MAX, NULL, "K; columns are split evenly where one file holds all"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 1e6, NULL, "T, rounds; auto: the (n epsilon)^(2/3) rule, from public facts"},
    {"columns", TCT_OPT_COUNT, "auto", 0, 1e6, NULL,
     "L, distinct columns that a party may send; 0: none, parties stay apart; auto: T/6, at least 3"},
    {"budget_fraction", TCT_OPT_REAL, "0.5", 0.001, 0.999, NULL, "of the budget, for the columns"},
    {"sketch", TCT_OPT_COUNT, "auto", 1, 1e9, NULL,
     "m, numbers a sent column has; auto: log(T/delta)/iota^2, iota 0.1 to 0.3 by the noise"},
    {"entries", TCT_OPT_CHOICE, "4", 0, 0, "1|4|16", "entries a record has in the sketch"},
    {"trust", TCT_OPT_REAL, "auto", 0, 1, NULL,
     "weight of the estimate of the others' predictions; auto: from what was sent, against its noise"},
    {"clip", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL,
     "B, bound on a slope; auto: from loss and labels, widened by twice the estimate's noise"},
    {"feature_bound", TCT_OPT_REAL, "auto", 1e-12, 1e12, NULL, "public bound on |x_ij|, enforced; auto: R"},
    {"tau", TCT_OPT_COUNT, "auto", 1, 1e9, NULL, "columns that a party looks at in a round; auto: all of its own"},
    {"radius", TCT_OPT_TEXT, "equal", 0, 0, NULL,
     "equal; winner: one party a round moves; or each party's share: 2+1+1"},
    {"local", TCT_OPT_CHOICE, "exact", 0, 0, "exact|sent", "own predictions: exact, or as they were sent (the paper)"},
    {"sketch_seed", TCT_OPT_COUNT, "1", 0, 9e15, NULL, "of the public embedding"},
    {0},
};

static double feature_of(const tct_facts *facts, const tct_spec *spec) {
  double bound = tct_spec_real(spec, tct_parties_options, "feature_bound");
  return isnan(bound) ? facts->row_norm : bound;
}

static double clip_of(const tct_facts *facts) {
  double bound = tct_loss_slope_bound(&facts->loss);
  return isfinite(bound) ? bound : facts->label_bound;
}

/* The counts and the split that a scale turns into events. */
typedef struct split {
  double choices, columns, scores, relation; /* counts of releases; 2 under replace_one */
  double choice_share, column_share, score_share;
} split;

static split split_of(const tct_facts *facts, const tct_spec *spec) {
  const tct_option *o = tct_parties_options;
  double k = (double)tct_spec_count(spec, o, "parties"), steps = (double)tct_spec_count(spec, o, "steps");
  double columns = (double)tct_spec_count(spec, o, "columns"), share = tct_spec_real(spec, o, "budget_fraction");
  bool winner = !strcmp(tct_spec_text(spec, o, "radius"), "winner");
  split s = {.choices = k * steps, .columns = k * columns, .scores = winner ? k * steps : 0};
  s.relation = facts->neighbours == TCT_ADD_REMOVE ? 1 : 2;
  s.column_share = columns > 0 ? share : 0;
  s.score_share = winner ? dpfw_parties_score_share * (1 - s.column_share) : 0;
  s.choice_share = 1 - s.column_share - s.score_share;
  return s;
}

/* Scale x is the zCDP of all: exponential epsilon^2/8, gaussian relation^2/(2 noise^2). */
static double noise_of(const split *s, double x, double share, double count) {
  return count > 0 ? s->relation / sqrt(2 * x * share / count) : 0;
}

typedef struct making {
  const tct_facts *facts;
  const split *split;
  double clip, feature; /* of a term of a score, of a column's entry */
  bool widens;          /* the clip follows from the columns that were sent */
} making;

/* Choices and scores see the same sums. */
static tct_status add_scores(const making *m, double epsilon, double noise, tct_promise *out, tct_error *err) {
  const split *s = m->split;
  int64_t n = m->facts->rows;
  tct_release choice =
      tct_release_choice("a vertex, by the gradient", epsilon, (int64_t)s->choices, m->clip, s->relation * m->clip, n);
  tct_release score = tct_release_sum("the chosen score", tct_event_gaussian(noise, 1), m->clip, m->clip, n);
  score.event.count = (int64_t)s->scores;
  if (m->widens) {
    choice.follows = score.follows = true;
    choice.ratio = s->relation;
    choice.clip = choice.sensitivity = score.clip = score.sensitivity = NAN;
  }
  if (epsilon > 0) TCT_TRY(tct_promise_add(out, choice, err));
  return epsilon > 0 ? TCT_OK : tct_promise_add(out, score, err);
}

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const split *s = m->split;
  out->kind = TCT_PROMISE_AT_MOST;
  TCT_TRY(add_scores(m, sqrt(8 * x * s->choice_share / s->choices), 0, out, err));
  tct_event column = tct_event_gaussian(noise_of(s, x, s->column_share, s->columns), 1);
  column.count = (int64_t)s->columns;
  TCT_TRY(
      tct_promise_add(out, tct_release_sum("a sketched column", column, m->feature, m->feature, m->facts->rows), err));
  return add_scores(m, 0, noise_of(s, x, s->score_share, s->scores), out, err);
}

static bool widens(const tct_facts *facts, const tct_spec *spec) {
  return isnan(tct_spec_real(spec, tct_parties_options, "clip")) && !isfinite(tct_loss_slope_bound(&facts->loss));
}

/* B before room for noise. */
static double clip_in(const tct_facts *facts, const tct_spec *spec) {
  double clip = tct_spec_real(spec, tct_parties_options, "clip");
  if (!isnan(clip)) return clip;
  bool room = tct_noise_off(facts) && widens(facts, spec);
  return clip_of(facts) + (room ? facts->penalty.radius * feature_of(facts, spec) : 0);
}

static tct_status calibrate(const tct_facts *facts, tct_solver_plan *out, tct_error *err) {
  split s = split_of(facts, &out->spec);
  making m = {.facts = facts, .split = &s, .feature = feature_of(facts, &out->spec)};
  m.clip = clip_in(facts, &out->spec) * m.feature;
  m.widens = widens(facts, &out->spec);
  double x = 0, rho = 0;
  if (!tct_noise_off(facts)) TCT_TRY(tct_budget_rho(facts, &rho, err));
  tct_budget budget = {.direction = TCT_LARGEST, .low = rho / 16, .high = rho * 16, .tolerance = 1e-6};
  return tct_budget_fit(facts, &budget, make, &m, out, &x, err);
}

static tct_status steps_of(const tct_facts *facts, const tct_spec *spec, double *steps, tct_error *err) {
  double rho = 0, feature = feature_of(facts, spec), relation = facts->neighbours == TCT_ADD_REMOVE ? 1 : 2;
  double clip = tct_spec_real(spec, tct_parties_options, "clip");
  double parties = (double)tct_spec_count(spec, tct_parties_options, "parties");
  double curve = facts->loss.kind->curvature_bound(facts->loss.h), diameter = 2 * facts->penalty.radius * feature;
  *steps = 1000; /* without noise */
  if (tct_noise_off(facts)) return TCT_OK;
  TCT_TRY(tct_budget_rho(facts, &rho, err));
  double change = relation * feature * (isnan(clip) ? clip_of(facts) : clip);
  double kept = 1 - tct_spec_real(spec, tct_parties_options, "budget_fraction");
  double lost = facts->penalty.radius * 2 * change / (double)facts->rows * log(2 * (double)facts->p) /
                sqrt(8 * rho * kept / parties);
  *steps = floor(fmin(
      dpfw_parties_steps_most,
      fmax(dpfw_parties_steps_least, pow(dpfw_parties_gain_part * 4 * curve * diameter * diameter / lost, 2.0 / 3.0))));
  return TCT_OK;
}

static tct_status resolve(const tct_facts *facts, tct_spec *spec, tct_error *err) {
  const tct_option *o = tct_parties_options;
  if (tct_spec_auto(spec, o, "steps")) {
    double steps = 0;
    TCT_TRY(steps_of(facts, spec, &steps, err));
    TCT_TRY(tct_spec_set_real(spec, "steps", steps, err));
  }
  double steps = (double)tct_spec_count(spec, o, "steps");
  if (tct_spec_auto(spec, o, "columns")) TCT_TRY(tct_spec_set_real(spec, "columns", fmax(3, ceil(steps / 6)), err));
  return TCT_OK;
}

/* After calibration: m follows the noise. */
static tct_status resolve_sketch(const tct_facts *facts, tct_solver_plan *out, tct_error *err) {
  const tct_option *o = tct_parties_options;
  double n = (double)facts->rows, size = n;
  if (!tct_spec_auto(&out->spec, o, "sketch")) return TCT_OK;
  if (!tct_noise_off(facts) && tct_spec_count(&out->spec, o, "columns") > 0) {
    double logs = log((double)tct_spec_count(&out->spec, o, "steps") / facts->delta);
    double sigma = out->promise.release[TCT_PARTIES_COLUMN].noise, iota2 = logs * sigma * sigma / (n / 4);
    size = fmin(n, ceil(logs / fmin(dpfw_parties_iota2_most, fmax(dpfw_parties_iota2_least, iota2))));
  }
  return tct_spec_set_real(&out->spec, "sketch", size, err);
}

static tct_status check(const tct_facts *facts, const tct_spec *spec, tct_error *err) {
  const tct_option *o = tct_parties_options;
  TCT_TRY(tct_plan_need_bounds(facts, "dpfw_parties", err));
  if (!facts->penalty.kind->cross_polytope)
    return tct_fail(err, TCT_E_USAGE, "dpfw_parties works on the l1 ball; give {penalty l1ball:radius=...}");
  if (!isfinite(facts->loss.kind->curvature_bound(facts->loss.h)))
    return tct_fail(err, TCT_E_USAGE,
                    "dpfw_parties needs a smooth loss; use squared, logistic, huber or smoothed_hinge");
  if (facts->intercept)
    return tct_fail(
        err, TCT_E_USAGE,
        "dpfw_parties has no intercept, which no party owns; give {no_intercept}, or a column of ones to one party");
  if (facts->p < tct_spec_count(spec, o, "parties"))
    return tct_fail(err, TCT_E_USAGE, "there are fewer features than parties; give each party one at least");
  return TCT_OK;
}

tct_status tct_parties_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  tct_parties set;
  TCT_TRY(tct_plan_begin(facts, given, tct_parties_options, out, err));
  TCT_TRY(check(facts, &out->spec, err));
  TCT_TRY(resolve(facts, &out->spec, err));
  TCT_TRY(calibrate(facts, out, err));
  TCT_TRY(resolve_sketch(facts, out, err));
  return tct_parties_settings(facts, out, &set, err);
}

/* "equal", "winner" or K shares joined by +. */
static tct_status radii(const tct_facts *facts, const char *text, tct_parties *s, tct_error *err) {
  double sum = 0, eta = facts->penalty.radius;
  bool equal = !strcmp(text, "equal");
  s->winner = !strcmp(text, "winner");
  for (int k = 0; k < s->count; k++) {
    char one[40];
    size_t length = strcspn(text, "+");
    s->radius[k] = 1;
    if (equal || s->winner) continue;
    snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), text);
    if (!tct_parse_real(one, &s->radius[k]) || !(s->radius[k] > 0) || (text[length] == '+') != (k + 1 < s->count))
      return tct_fail(err, TCT_E_USAGE, "radius must be equal, winner, or %d numbers above 0 joined by +", s->count);
    text += length + (text[length] == '+');
  }
  for (int k = 0; k < s->count; k++) sum += s->radius[k];
  for (int k = 0; k < s->count; k++) s->radius[k] *= s->winner ? eta : eta / sum;
  return TCT_OK;
}

tct_status tct_parties_settings(const tct_facts *facts, const tct_solver_plan *plan, tct_parties *s, tct_error *err) {
  const tct_option *o = tct_parties_options;
  const tct_spec *spec = &plan->spec;
  *s = (tct_parties){.count = (int)tct_spec_count(spec, o, "parties"), .steps = tct_spec_count(spec, o, "steps")};
  s->columns = tct_spec_count(spec, o, "columns");
  s->size = tct_spec_count(spec, o, "sketch");
  s->per_record = tct_spec_is(spec, o, "entries", "16") ? 16 : tct_spec_is(spec, o, "entries", "4") ? 4 : 1;
  s->tau = tct_spec_auto(spec, o, "tau") ? 0 : tct_spec_count(spec, o, "tau");
  s->clip = clip_in(facts, spec);
  s->widen = widens(facts, spec);
  s->feature = feature_of(facts, spec);
  s->trust = s->columns > 0 ? tct_spec_real(spec, o, "trust") : 0;
  s->local = tct_spec_is(spec, o, "local", "exact");
  s->seed = (uint64_t)tct_spec_count(spec, o, "sketch_seed");
  if (s->size < facts->rows && s->size < s->per_record)
    return tct_fail(err, TCT_E_USAGE, "the sketch has fewer numbers than entries per record; give sketch=%d or more",
                    (int)s->per_record);
  TCT_TRY(radii(facts, tct_spec_text(spec, o, "radius"), s, err));
  s->score = s->columns > 0 ? TCT_PARTIES_COLUMN + 1 : TCT_PARTIES_COLUMN;
  s->column_noise = s->columns > 0 ? plan->promise.release[TCT_PARTIES_COLUMN].noise : 0;
  s->column_max = INFINITY;
  if (s->columns > 0)
    s->column_max =
        tct_sum_max(&plan->promise.release[TCT_PARTIES_COLUMN], (double)facts->rows, (double)(s->count * s->size));
  return TCT_OK;
}

tct_status tct_parties_promise(const tct_solver_plan *plan, int parties, int share, tct_promise *out, tct_error *err) {
  *out = (tct_promise){.kind = TCT_PROMISE_AT_MOST};
  for (int r = 0; r < plan->promise.count && share > 0; r++) {
    tct_release release = plan->promise.release[r];
    release.event.count = release.event.count / parties * share; /* every count is a multiple of K */
    TCT_TRY(tct_promise_add(out, release, err));
  }
  return TCT_OK;
}

/* Against a party the releases of the others count: it knows its own columns and the labels. */
static tct_status against_party(const tct_facts *facts, const tct_solver_plan *plan, double *epsilon, tct_error *err) {
  tct_promise others = {0};
  tct_cost cost = {0};
  int parties = (int)tct_spec_count(&plan->spec, tct_parties_options, "parties");
  *epsilon = tct_noise_off(facts) ? INFINITY : 0;
  if (parties < 2 || tct_noise_off(facts)) return TCT_OK;
  tct_status status = tct_parties_promise(plan, parties, parties - 1, &others, err);
  if (status == TCT_OK)
    status = tct_account_epsilon(&others.events, facts->neighbours, facts->delta, TCT_PRECISION, &cost, err);
  tct_promise_free(&others);
  *epsilon = fmin(cost.epsilon, facts->epsilon);
  return status;
}

tct_status tct_parties_observers(const tct_facts *facts, const tct_solver_plan *plan, tct_observer *out, int *count,
                                 tct_error *err) {
  *count = 3;
  out[0] = (tct_observer){"outsider", "everything: who sees this model, whatever else", facts->epsilon};
  out[1] = (tct_observer){"server", "everything: it sees all releases of all parties", facts->epsilon};
  out[2] = (tct_observer){"party", "the other parties' columns, not the labels, which it holds", 0};
  return against_party(facts, plan, &out[2].epsilon, err);
}
