/* verify_classes.c - what binds a model's schema to its label, and one of several classes to a composition of as many
 * fits. */
#include "certify/verify.h"
#include "train/certificate.h"
#include "core/point.h"

#include <string.h>

static const json_t *member(const json_t *o, const char *key) { return json_object_get(o, key); }

static bool listed(const json_t *values, const char *name) {
  const json_t *value;
  size_t i;
  bool found = false;
  json_array_foreach((json_t *)values, i, value) {
    const char *text = json_string_value(value);
    found |= text && !strcmp(text, name);
  }
  return found;
}

/* A follow-up's horizon is the label bound, and its time the label; other losses have none. */
static bool follows_up(const tct_model *m, const json_t *label) {
  tct_loss loss;
  const char *time = tct_json_said(label, "time"), *event = tct_json_said(label, "event");
  if (tct_loss_make(m->loss, &loss, NULL) != TCT_OK) return false;
  if (!loss.kind->follow_up) return !member(label, "time") && !member(label, "event");
  return json_number_value(member(label, "horizon")) == m->label_bound && m->label && time && event &&
         !strcmp(time, m->label) && event[0] && strcmp(event, time) != 0;
}

/* Survival by time is of follow-up times alone, and up to the horizon. */
static bool within_horizon(const tct_model *m) {
  tct_loss loss;
  const tct_course *c = &m->inference.course;
  return !c->cells || (tct_loss_make(m->loss, &loss, NULL) == TCT_OK && loss.kind->follow_up &&
                       c->time[c->cells - 1] == m->label_bound);
}

const char *tct_verify_label(const tct_model *m) {
  json_t *schema = m->schema ? json_loads(m->schema, 0, NULL) : NULL, *label = json_object_get(schema, "label");
  const json_t *values = member(label, "values");
  bool all = true, follows = !schema || follows_up(m, label);
  for (int64_t k = 0; values && k < m->classes.count; k++)
    all &= !m->classes.name[k] || listed(values, m->classes.name[k]);
  json_decref(schema);
  return !follows                                     ? "schema"
         : !within_horizon(m)                         ? "inference"
         : TCT_POINT(classes_of_no_schema, all, true) ? NULL
                                                      : "classes";
}

/* The fit of each, as a composition of this budget makes it; NULL with err: there is none. */
static json_t *compose_again(const tct_model *m, const json_t *fit, double epsilon, double delta, tct_error *err) {
  tct_config config;
  int64_t rows = 0, cols = 0;
  if (tct_certificate_config(fit, NULL, &config, &rows, &cols, err) != TCT_OK) return NULL;
  config.epsilon = epsilon, config.delta = delta, config.classes = m->models;
  tct_plan *whole = tct_plan_new(&config, rows, cols, err);
  json_t *again = whole ? tct_certificate_json(whole) : NULL;
  tct_plan_free(whole);
  return again;
}

static void check_copies(tct_verify_report *r, const tct_model *m, const json_t *fit, double epsilon, double delta) {
  tct_error err = {0};
  json_t *again = compose_again(m, fit, epsilon, delta, &err);
  bool same = again && TCT_POINT(claim_of_classes_not_composed, tct_json_near(fit, again), true);
  json_decref(again);
  tct_error_reword(&err, TCT_WORDS_CLI);
  tct_verify_check(r, "composed", same,
                   same    ? "the claim, composed again over %lld classes, gives the fit of each%.0s"
                   : again ? "the claim, composed again over %lld classes, gives each another fit; the file was "
                             "edited%.0s"
                           : "the claim cannot be composed over %lld classes: %s",
                   (long long)m->models, err.text);
}

/* A joint loss has one fit, whose claim is the model's.  In a search of all settings the budget was composed over all
 * candidates, and the union of their events is checked. */
void tct_verify_composed(tct_verify_report *r, const tct_model *m, const json_t *fits) {
  double epsilon = m->epsilon, delta = m->delta;
  tct_selection search;
  const json_t *fit;
  size_t i;
  if (!m->is_private || m->models < 2) return;
  if (m->choice && !tct_selection_parse(m->choice, &search)) return;
  if (m->choice) epsilon = search.fit, delta /= (double)search.mean; /* of one try */
  json_array_foreach((json_t *)fits, i, fit) if (r->ok && json_integer_value(member(fit, "count")) > 1)
      check_copies(r, m, fit, epsilon, delta);
}
