/* cautions.c - the thresholds beyond which a number is no promise, or a model no use; docs/guide/choosing-epsilon.md
 * explains them.
 *
 * Each caution is one function of public facts.  None of them refuses anything: a plan, a run, a verification and a
 * page say the sentence. */
#include "train/cautions.h"

#include "account/curves/renyi.h"

#include <math.h>
#include <stdio.h>

/* At epsilon = 8 an attacker may be right 99.97 times in 100 (Kairouz, Oh and Viswanath 2015).  It is the largest that
 * Abadi et al. (2016) train with, their "small noise"; Ponomareva et al. (2023) call more than 10 weak to none. */
static const double LARGEST_EPSILON = 8;

/* bench_constant: below it most models were worse than the best constant (docs/decisions/constant-predictor.md). */
static const double MIN_SIGNAL_TO_NOISE = 3;

double tct_caution_signal(const tct_caution_facts *facts) {
  if (!facts->is_private) return INFINITY;
  /* Pure noise of density exp(-epsilon |b|) is about p/epsilon long, Gaussian noise sqrt(p)/mu. */
  double factor = tct_neighbour_factor(facts->neighbours);
  double epsilon = facts->each > 0 ? facts->each : facts->epsilon,
         delta = facts->each > 0 ? facts->each_delta : facts->delta;
  if (delta == 0) return epsilon * (double)facts->rows / ((double)facts->p * factor);
  tct_target whole = {facts->neighbours, epsilon, delta};
  return tct_signal_to_noise(facts->rows, facts->p, &whole);
}

bool tct_caution_words_hold(double epsilon) { return epsilon <= LARGEST_EPSILON; }

static bool delta_holds(const tct_caution_facts *facts, char text[TCT_CAUTION_TEXT]) {
  if (!(facts->delta * (double)facts->rows >= 1)) return false;
  snprintf(
      text, TCT_CAUTION_TEXT,
      "delta %.3g is not below 1/n (%.3g for %lld records): publishing a record whole, drawn at random, would keep "
      "this promise; take a delta well below 1/n",
      facts->delta, 1 / (double)facts->rows, (long long)facts->rows);
  return true;
}

static bool epsilon_holds(const tct_caution_facts *facts, char text[TCT_CAUTION_TEXT]) {
  if (tct_caution_words_hold(facts->epsilon)) return false;
  snprintf(
      text, TCT_CAUTION_TEXT,
      "epsilon %.4g is above %g: the bound lets an attacker tell almost surely whether a record counted, so it is a "
      "promise in name only; take a smaller epsilon",
      facts->epsilon, LARGEST_EPSILON);
  return true;
}

static bool signal_holds(const tct_caution_facts *facts, char text[TCT_CAUTION_TEXT]) {
  double signal_to_noise = tct_caution_signal(facts);
  if (!(signal_to_noise < MIN_SIGNAL_TO_NOISE)) return false;
  snprintf(text, TCT_CAUTION_TEXT,
           "a signal-to-noise ratio mu*n/sqrt(p) of %.2g is below %g: a constant (the more frequent label, or the "
           "mean) is likely "
           "better than this model; take more records, fewer features or a larger epsilon",
           signal_to_noise, MIN_SIGNAL_TO_NOISE);
  return true;
}

const tct_caution tct_cautions[] = {
    {"delta", true, "Dwork and Roth 2014, section 2.3", delta_holds},
    {"epsilon", true, "Kairouz, Oh and Viswanath 2015, theorem 2.1; Ponomareva et al. 2023", epsilon_holds},
    {"signal", false, "measured: docs/decisions/constant-predictor.md", signal_holds},
};
const int tct_caution_count = sizeof tct_cautions / sizeof *tct_cautions;

tct_caution_facts tct_caution_plan(const tct_plan *plan) {
  const tct_facts *facts = &plan->facts;
  return (tct_caution_facts){.is_private = plan->solver->is_private && !tct_noise_off(facts),
                             .rows = facts->rows,
                             .p = facts->p,
                             .epsilon = plan->claim.epsilon,
                             .delta = plan->claim.delta,
                             .each = facts->epsilon,
                             .each_delta = facts->delta,
                             .neighbours = facts->neighbours};
}

tct_caution_facts tct_caution_model(const tct_model *model) {
  bool numbers = model->epsilon > 0 && isfinite(model->epsilon) && model->delta >= 0 && model->delta < 1;
  tct_loss loss;
  int64_t outputs = tct_loss_make(model->loss, &loss, NULL) == TCT_OK ? tct_loss_outputs(&loss) : 1;
  return (tct_caution_facts){.is_private = model->is_private && numbers, /* a file may claim anything */
                             .rows = model->rows,
                             .p = outputs * (model->cols + (model->has_intercept != 0)),
                             .epsilon = model->epsilon,
                             .delta = model->delta,
                             .neighbours = (tct_neighbours)model->neighbours};
}

json_t *tct_cautions_json(const tct_caution_facts *facts) {
  json_t *list = json_array();
  for (int i = 0; list && facts->is_private && i < tct_caution_count; i++) {
    char text[TCT_CAUTION_TEXT];
    if (!tct_cautions[i].holds(facts, text)) continue;
    json_t *one = json_pack("{s:s, s:s, s:s, s:b}", "name", tct_cautions[i].name, "text", text, "source",
                            tct_cautions[i].source, "weakens", tct_cautions[i].weakens);
    if (json_array_append_new(list, one)) json_decref(list), list = NULL;
  }
  return list;
}
