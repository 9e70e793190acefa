/* copies.c - several classes: the loss where it is left open, and a fit of each class against the rest in one budget.
 *
 * The events of all fits are priced as one list.  Where no accountant knows it, epsilon and delta are divided. */
#include "core/alloc.h"
#include "core/spec.h"
#include "solve/auto.h"
#include "study/study.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the loss ------------------------------------------------------------------------------------------------ */

/* What settles it before the rule: settings that are of one against the rest. */
static const char *settled(const tct_config *config) {
  tct_spec spec;
  if (tct_spec_parse(config->solver ? config->solver : "auto", "solver", &spec, NULL) != TCT_OK ||
      strcmp(spec.name, "auto") != 0)
    return "one against the rest: the solver was named";
  if (strcmp(config->errors, "none") != 0) return "one against the rest: that is the way to standard errors";
  return NULL;
}

static tct_status public_facts(const tct_config *config, int64_t rows, int64_t cols, tct_facts *facts, tct_error *err) {
  if (!(config->epsilon > 0))
    return tct_fail(err, TCT_E_USAGE, "no epsilon is given; give the total privacy loss, e.g. {epsilon 1}");
  if (isfinite(config->epsilon) && !(config->delta >= 0 && config->delta < 1))
    return tct_fail(err, TCT_E_USAGE, "no delta is given; give one well below 1/n, e.g. {delta 1e-6}");
  *facts = (tct_facts){.rows = rows,
                       .p = cols + (config->intercept != 0),
                       .epsilon = config->epsilon,
                       .delta = config->delta,
                       .neighbours = (tct_neighbours)config->neighbours};
  return tct_penalty_make(config->penalty, &facts->penalty, err);
}

static tct_status by_rule(const tct_config *config, int64_t rows, int64_t cols, bool *joint, char why[200],
                          tct_error *err) {
  const char *first = settled(config);
  tct_facts facts;
  *joint = false;
  if (first) return snprintf(why, 200, "%s", first), TCT_OK;
  TCT_TRY(public_facts(config, rows, cols, &facts, err));
  *joint = tct_classes_auto_joint(&facts, why, 200);
  return TCT_OK;
}

static bool is_open(const char *text) { return text && !strcmp(text, "auto"); }

tct_status tct_config_settle(tct_config *config, int64_t rows, int64_t cols, char loss[TCT_LOSS_SETTLED], char why[200],
                             tct_error *err) {
  bool open = is_open(config->loss), joint = false;
  why[0] = 0;
  if (open && config->classes > 2 && rows > 0 && cols > 0) TCT_TRY(by_rule(config, rows, cols, &joint, why, err));
  if (open) config->loss = joint ? "softmax" : "logistic";
  if (config->classes < 3 || strchr(config->loss, ':') || tct_config_labels(config) != TCT_LABELS_CLASSES)
    return TCT_OK;
  snprintf(loss, TCT_LOSS_SETTLED, "%.100s:classes=%lld", config->loss, (long long)config->classes);
  config->loss = loss;
  return TCT_OK;
}

int64_t tct_config_copies(const tct_config *config) {
  return config->classes > 2 && tct_config_labels(config) == TCT_LABELS_BINARY ? config->classes : 1;
}

/* ---- a fit for each class ------------------------------------------------------------------------------------ */

typedef struct copies {
  const tct_config *config; /* of the whole */
  int64_t rows, cols;
  int rules;
  tct_plan *tried, *best;
} copies;

tct_status tct_plan_events(const tct_plan *plan, tct_events *out, tct_error *err) {
  const tct_events *one = &plan->solved.promise.events;
  if (plan->claim.divided)
    return tct_events_add(out, tct_event_approx(plan->facts.epsilon, plan->facts.delta, plan->copies), err);
  for (int64_t k = 0; k < plan->copies; k++)
    for (int64_t i = 0; i < one->len; i++) TCT_TRY(tct_events_add(out, one->at[i], err));
  return TCT_OK;
}

static tct_plan *plan_at(const copies *c, double epsilon, double delta, tct_error *err) {
  tct_config own = *c->config;
  own.epsilon = epsilon, own.delta = delta;
  tct_plan *plan = tct_plan_one(&own, c->rows, c->cols, c->rules, err);
  if (!plan) return NULL;
  plan->copies = tct_config_copies(c->config);
  plan->claim = (tct_whole){c->config->epsilon, c->config->delta, plan->facts.neighbours, NULL, false};
  return plan;
}

static tct_status try_at(void *user, double each, double *price, tct_error *err) {
  copies *c = user;
  tct_events list = {0};
  c->tried = plan_at(c, each, c->config->delta, err);
  tct_status status = c->tried ? tct_plan_events(c->tried, &list, err) : err->status;
  if (status == TCT_OK) status = tct_price(&list, &c->tried->claim, price, err);
  tct_events_free(&list);
  return status;
}

static void keep(void *user, bool good) {
  copies *c = user;
  tct_plan_free(good ? c->best : c->tried);
  if (good) c->best = c->tried;
  c->tried = NULL;
}

static tct_status within(copies *c, tct_error *err) {
  const tct_config *whole = c->config;
  double count = (double)tct_config_copies(whole), low = whole->epsilon / count;
  bool found = false;
  const tct_sharing sharing = {whole->epsilon, low, whole->epsilon, low, true, try_at, keep, c};
  TCT_TRY(tct_share_largest(&sharing, &found, err));
  if (found) return TCT_OK;
  c->best = plan_at(c, low * TCT_DIVIDED, whole->delta / count * TCT_DIVIDED, err);
  if (!c->best) return err->status;
  c->best->claim.divided = true;
  c->best->claim.by = "basic";
  return TCT_OK;
}

tct_plan *tct_plan_copies(const tct_config *config, int64_t rows, int64_t cols, int rules, tct_error *err) {
  tct_error local = {0};
  copies c = {config, rows, cols, rules, NULL, NULL};
  err = err ? err : &local;
  bool priced = config->epsilon > 0 && isfinite(config->epsilon) && config->delta >= 0 && config->delta < 1;
  /* Without privacy nothing is shared; and what is no budget the plan refuses. */
  if (!priced) return plan_at(&c, config->epsilon, config->delta, err);
  if (within(&c, err) == TCT_OK) return c.best;
  tct_plan_free(c.best);
  return NULL;
}
