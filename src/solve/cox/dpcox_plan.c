/* dpcox_plan.c - options, rules and promise of dpcox. */
#include "solve/cox/dpcox.h"
#include "solve/cox/rules.def"

#include <stdio.h>

const tct_option tct_cox_options[] = {
    {"errors", TCT_OPT_CHOICE, "model", 0, 0, "model|robust",
     "standard errors that hold under proportional hazards, or also where the model is not right"},
    {"cells", TCT_OPT_COUNT, "24", 1, TCT_COX_CELLS, NULL,
     "cells of follow-up time, between horizon (k/cells)^2: the hazard is constant in each; 1: rates per unit of time"},
    {"events", TCT_OPT_REAL, "auto", 1, 1e15, NULL,
     "how many events are expected, a public guess that shares out the budget; auto: 0.3 of the records"},
    {"clip", TCT_OPT_REAL, "auto", 1e-3, 1e6, NULL,
     "the clip of scores, in units of the root of the dimension; auto: from the released information"},
    {"change", TCT_OPT_REAL, "0", 0, 0.5, NULL,
     "the part of the budget for a check of proportional hazards: by how much weights differ between the events' later "
     "half and the earlier; 0: none",
     2, "0"},
    {"steps", TCT_OPT_COUNT, "auto", 1, 100000, NULL, "T; auto: 4 sqrt(the path that the expected events allow)"},
    {0},
};

enum { MOST = 512, STEPS_WITHOUT_NOISE = 400 };

/* How long one record's own row of the histogram is, and the half of how far two of them are apart. */
static double histogram_reach(tct_neighbours neighbours) {
  return neighbours == TCT_REPLACE_ONE ? 0x1.bb67ae8584cabp-1 : sqrt(1.25);
}

/* Squares of x and -x are the same: docs/proofs/cox.md. */
tct_cox_columns tct_cox_columns_of(const tct_facts *facts) {
  double R = facts->row_norm, p = fmax((double)facts->p - 1, 1);
  tct_cox_columns c = {.reach = R > 1.0001 ? sqrt(R * R - 1) : R};
  c.square = c.reach * c.reach >= p ? c.reach / sqrt(p) : fmin(1, c.reach);
  double part = c.square / c.reach, apart = sqrt(2 + p / 4 * part * part) * (1 + 0x1p-50);
  c.length = facts->neighbours == TCT_REPLACE_ONE ? fmin(1, apart / 2) : 1;
  return c;
}

tct_cox_rule tct_cox_rule_of(const tct_facts *facts, const tct_spec *spec) {
  const tct_option *o = tct_cox_options;
  double noise = tct_budget_single(facts, facts->neighbours), mu = noise > 0 ? 1 / noise : INFINITY;
  double p = (double)facts->p;
  tct_cox_rule rule = {.histogram = dpcox_histogram_part, .columns = dpcox_columns_part, .path = dpcox_path_part};
  rule.cells = (int)tct_spec_count(spec, o, "cells");
  rule.robust = tct_spec_is(spec, o, "errors", "robust");
  rule.clip = tct_spec_real(spec, o, "clip");
  rule.events =
      tct_spec_auto(spec, o, "events") ? dpcox_events_expected * (double)facts->rows : tct_spec_real(spec, o, "events");
  bool few = rule.events * mu / fmax(p - 1, 1) < dpcox_few_events;
  rule.metric = few ? dpcox_metric_part_at_few_events : dpcox_metric_part;
  rule.moments = few ? dpcox_moments_part_at_few_events : dpcox_moments_part;
  rule.change = tct_spec_real(spec, o, "change");
  rule.last = 1 - rule.histogram - rule.columns - rule.path - rule.metric - rule.moments;
  double *parts[] = {&rule.histogram, &rule.columns, &rule.path, &rule.metric, &rule.moments, &rule.last};
  for (int k = 0; k < 6; k++) *parts[k] *= 1 - rule.change;
  double length =
      tct_cox_between(dpcox_path_per_information * rule.events * mu / (p + 1), dpcox_path_least, dpcox_path_most);
  rule.steps = tct_spec_auto(spec, o, "steps") ? (int64_t)ceil(4 * sqrt(length)) : tct_spec_count(spec, o, "steps");
  if (tct_noise_off(facts) && tct_spec_auto(spec, o, "steps")) rule.steps = STEPS_WITHOUT_NOISE;
  return rule;
}

typedef struct making {
  const tct_facts *facts;
  const tct_cox_rule *rule;
} making;

/* A release of terms of length `reach`, from `part` of the budget.  Terms of outer products have no negative inner
 * product, so that two of them are at most sqrt(2) apart: their reach is sqrt(1/2) where a record is replaced. */
static tct_status add(const making *m, const char *what, double noise, int64_t count, double reach, tct_promise *out,
                      tct_error *err) {
  return tct_promise_add(out, tct_release_sum(what, tct_event_gaussian(noise, count), 1, reach, 2 * m->facts->rows),
                         err);
}

static tct_status make(double x, void *user, tct_promise *out, tct_error *err) {
  const making *m = user;
  const tct_cox_rule *rule = m->rule;
  double outer = m->facts->neighbours == TCT_REPLACE_ONE ? M_SQRT1_2 : 1;
  TCT_TRY(add(m, "events, exits and places by cells of time", x / sqrt(rule->histogram), 1,
              histogram_reach(m->facts->neighbours), out, err));
  TCT_TRY(add(m, "sums of x and x^2", x / sqrt(rule->columns), 1, tct_cox_columns_of(m->facts).length, out, err));
  TCT_TRY(add(m, "sum of x x^T over events", x / sqrt(rule->metric), 1, outer, out, err));
  TCT_TRY(
      add(m, "sum of scores, follow-up stopped", x * sqrt((double)rule->steps / rule->path), rule->steps, 1, out, err));
  TCT_TRY(add(m, rule->robust ? "sums of z z^T over events and of scores' squares" : "sum of z z^T over events",
              x / sqrt(rule->moments), 1, outer, out, err));
  TCT_TRY(add(m, "last sum of scores", x / sqrt(rule->last), 1, 1, out, err));
  if (!(rule->change > 0)) return TCT_OK;
  return add(m, "sum of scores, the later half less the earlier", x / sqrt(rule->change), 1, 1, out, err);
}

static tct_status check(const tct_facts *facts, tct_error *err) {
  if (!facts->loss.kind->follow_up)
    return tct_fail(err, TCT_E_USAGE, "dpcox needs a follow-up time and an event; give {loss cox}, or another solver");
  if (!facts->intercept || facts->p < 2)
    return tct_fail(err, TCT_E_USAGE, "dpcox needs the intercept, which is the level of the hazard; keep it");
  if (!facts->penalty.kind->zero) return tct_fail(err, TCT_E_USAGE, "dpcox knows no penalty; leave it out");
  if (facts->p > MOST)
    return tct_fail(err, TCT_E_USAGE, "dpcox holds matrices of features squared, at most %d features; choose fewer",
                    MOST - 1);
  return TCT_OK;
}

tct_status tct_cox_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err) {
  static const tct_budget budget = {.direction = TCT_SMALLEST, .low = 1e-3, .high = 1e9, .tolerance = 1e-8};
  TCT_TRY(tct_plan_begin(facts, given, tct_cox_options, out, err));
  TCT_TRY(check(facts, err));
  TCT_TRY(tct_plan_need_bounds(facts, "dpcox", err));
  tct_cox_rule rule = tct_cox_rule_of(facts, &out->spec);
  TCT_TRY(tct_spec_set_real(&out->spec, "steps", (double)rule.steps, err));
  TCT_TRY(tct_spec_set_real(&out->spec, "events", rule.events, err));
  making m = {facts, &rule};
  double x = 0;
  out->noise_multiplier = NAN;
  TCT_TRY(tct_budget_fit(facts, &budget, make, &m, out, &x, err));
  double information = rule.events / (x * ((double)facts->p + 1));
  if (!tct_noise_off(facts))
    snprintf(out->note, sizeof out->note, "%.3g expected events give an information of %.2g for each column%s",
             rule.events, information,
             information < dpcox_information_least
                 ? ", and no weight has an interval: give more epsilon, or fewer columns"
             : information < 2 * dpcox_information_least
                 ? ", which is little: noise will widen intervals; give more epsilon, or fewer columns"
                 : "");
  return TCT_OK;
}
