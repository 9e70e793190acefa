/* certificate.c - a fit's settings as asked and its releases, as JSON; and the plan again, from these settings. */
#include "train/certificate.h"

#include "core/alloc.h"
#include "model/json.h"
#include "solve/auto.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The version of a component's rules that planned a fit; 1 unless the file says another. */
static int recorded_rules(const json_t *fit, const char *name) {
  const json_t *version = json_object_get(json_object_get(fit, "rules"), name);
  return version ? (int)json_integer_value(version) : 1;
}

static json_t *release_json(const tct_release *r) {
  char event[200];
  tct_event one = r->event;
  one.count = 1;
  tct_event_print(&one, event, sizeof event);
  json_t *o = json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:I}", "what", r->what, "event", event, "sensitivity",
                        tct_json_real(r->sensitivity), "norm", tct_norm_name(r->norm), "clip", tct_json_real(r->clip),
                        "lattice", tct_json_real(r->lattice), "deviation", tct_json_real(tct_release_deviation(r)),
                        "count", (json_int_t)r->event.count);
  if (r->follows) json_object_set_new(o, "follows", json_true());
  if (r->open) json_object_set_new(o, "open", json_true());
  if (r->parts) json_object_set_new(o, "parts", json_integer(r->parts));
  if (r->drawers) json_object_set_new(o, "drawers", json_integer(r->drawers));
  if (r->drawers) json_object_set_new(o, "drawn", tct_json_real(r->part));
  if (r->added > 0) json_object_set_new(o, "added", tct_json_real(r->added));
  return o;
}

json_t *tct_releases_json(const tct_promise *promise) {
  json_t *list = json_array();
  for (int r = 0; r < promise->count; r++) json_array_append_new(list, release_json(&promise->release[r]));
  return list;
}

static json_t *asked_json(const tct_plan *plan) {
  const tct_config *c = &plan->config;
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:I, s:I, s:o, s:s, s:o, s:o, s:s, s:s, s:b}", "loss", c->loss,
                   "penalty", c->penalty, "solver", c->solver, "epsilon", tct_json_real(c->epsilon), "delta",
                   tct_json_real(c->delta), "neighbours", tct_neighbours_name(c->neighbours), "rows",
                   (json_int_t)plan->facts.rows, "columns", (json_int_t)plan->cols, "row_norm",
                   tct_json_real(c->row_norm), "rows_rule", c->rows_rule == TCT_ROWS_UNIT ? "unit" : "clip",
                   "label_bound", tct_json_real(c->label_bound), "label_shift", tct_json_real(c->label_shift), "scale",
                   c->scale, "label_scale", c->label_scale, "intercept", c->intercept != 0);
}

/* Versions other than 1 of the rules behind a plan. */
static json_t *rules_json(const tct_plan *plan) {
  json_t *o = json_object();
  if (plan->solver->rules > 1) json_object_set_new(o, plan->solver->name, json_integer(plan->solver->rules));
  if (TCT_AUTO_RULES > 1 && plan->why[0]) json_object_set_new(o, "auto", json_integer(TCT_AUTO_RULES));
  return o;
}

const char *tct_certificate_other_rules(const json_t *fit, int *was, int *now) {
  const char *const texts[] = {tct_json_said(json_object_get(fit, "asked"), "solver"), tct_json_said(fit, "solver")};
  *was = (int)json_integer_value(json_object_get(fit, "plan_version")), *now = TCT_PLAN_VERSION;
  if (*was != *now) return "the plan";
  for (int i = 0; i < 2; i++) {
    tct_spec spec;
    if (!texts[i] || tct_spec_parse(texts[i], "solver", &spec, NULL) != TCT_OK) continue;
    const tct_solver *solver = tct_solver_find(spec.name);
    bool by_rule = !strcmp(spec.name, "auto");
    if (!solver && !by_rule) continue;
    const char *name = by_rule ? "auto" : solver->name;
    *was = recorded_rules(fit, name), *now = by_rule ? TCT_AUTO_RULES : solver->rules > 1 ? solver->rules : 1;
    if (*was != *now) return name;
  }
  return NULL;
}

json_t *tct_certificate_json(const tct_plan *plan) {
  char solver[4096];
  const tct_cost *cost = &plan->solved.cost;
  tct_spec_print(&plan->solved.spec, solver, sizeof solver);
  bool is_private = plan->solver->is_private && isfinite(plan->facts.epsilon);
  json_t *rules = rules_json(plan);
  json_t *o = json_pack(
      "{s:I, s:i, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)(is_private ? plan->copies : 1),
      "plan_version", TCT_PLAN_VERSION, "asked", asked_json(plan), "solver", solver, "promise",
      tct_promise_name(plan->solved.promise.kind), "releases", tct_releases_json(&plan->solved.promise), "events",
      tct_json_events(&plan->solved.promise.events), "epsilon", tct_json_real(is_private ? plan->facts.epsilon : NAN),
      "delta", tct_json_real(is_private ? plan->facts.delta : NAN), "accountant",
      !is_private ? json_null() : json_string(cost->winner ? cost->winner->name : "sum"));
  if (json_object_size(rules)) json_object_set(o, "rules", rules);
  json_decref(rules);
  return o;
}

/* ---- and back ---------------------------------------------------------------------------------------------- */

static int real_of(const json_t *o, const char *key, double *out) {
  const json_t *value = json_object_get(o, key);
  return value && tct_json_get_real(value, out);
}

tct_status tct_certificate_config(const json_t *certificate, const char *solver, tct_config *out, int64_t *rows,
                                  int64_t *cols, tct_error *err) {
  const json_t *o = json_object_get(certificate, "asked");
  tct_config c;
  tct_config_default(&c);
  const char *rule = tct_json_said(o, "rows_rule");
  c.loss = tct_json_said(o, "loss"), c.penalty = tct_json_said(o, "penalty"),
  c.solver = solver ? solver : tct_json_said(o, "solver");
  c.scale = tct_json_said(o, "scale"), c.label_scale = tct_json_said(o, "label_scale");
  c.neighbours = tct_neighbours_find(tct_json_said(o, "neighbours"));
  c.intercept = json_is_true(json_object_get(o, "intercept"));
  c.threads = 1;
  bool known = c.loss && c.penalty && c.solver && c.scale && c.label_scale && c.neighbours >= 0 && rule &&
               (!strcmp(rule, "clip") || !strcmp(rule, "unit")) && real_of(o, "epsilon", &c.epsilon) &&
               real_of(o, "delta", &c.delta) && real_of(o, "row_norm", &c.row_norm) &&
               real_of(o, "label_bound", &c.label_bound) && real_of(o, "label_shift", &c.label_shift) &&
               json_is_boolean(json_object_get(o, "intercept")) && json_is_integer(json_object_get(o, "rows")) &&
               json_is_integer(json_object_get(o, "columns"));
  if (!known)
    return tct_fail(err, TCT_E_DATA, "the settings that were asked for are not complete; the file was edited");
  c.rows_rule = !strcmp(rule, "unit") ? TCT_ROWS_UNIT : TCT_ROWS_CLIP;
  *rows = json_integer_value(json_object_get(o, "rows"));
  *cols = json_integer_value(json_object_get(o, "columns"));
  *out = c;
  return TCT_OK;
}

tct_status tct_certificate_plan(const json_t *certificate, const char *solver, tct_plan **out, tct_error *err) {
  tct_config config;
  int64_t rows, cols;
  *out = NULL;
  TCT_TRY(tct_certificate_config(certificate, solver, &config, &rows, &cols, err));
  tct_spec spec;
  int rules = 1; /* an option that resolved settings do not name is neutral */
  if (!solver && tct_spec_parse(tct_json_said(certificate, "solver"), "solver", &spec, NULL) == TCT_OK)
    rules = recorded_rules(certificate, spec.name);
  *out = tct_plan_by_rules(&config, rows, cols, rules, err);
  return *out ? TCT_OK : err ? err->status : TCT_E_DATA;
}

/* ---- equal, but for the last digits -------------------------------------------------------------------------- */

static bool close_by(double a, double b) { return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

/* Numbers within texts are specs' numbers; a whole one is a count and is the same. */
static bool texts_near(const char *a, const char *b) {
  while (*a && *b) {
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      char *end_a, *end_b;
      double x = strtod(a, &end_a), y = strtod(b, &end_b);
      if (x == floor(x) && y == floor(y) ? x != y : !close_by(x, y)) return false;
      a = end_a, b = end_b;
    } else if (*a++ != *b++) {
      return false;
    }
  }
  return *a == *b;
}

static bool members_near(const json_t *a, const json_t *b) {
  const char *key;
  json_t *value;
  if (json_object_size(a) != json_object_size(b)) return false;
  json_object_foreach((json_t *)a, key, value) if (!tct_json_near(value, json_object_get(b, key))) return false;
  return true;
}

bool tct_json_near(const json_t *a, const json_t *b) {
  if (!a || !b) return a == b;
  if (json_is_number(a) && json_is_number(b)) {
    double x = json_number_value(a), y = json_number_value(b);
    return json_is_integer(a) && json_is_integer(b) ? json_integer_value(a) == json_integer_value(b) : close_by(x, y);
  }
  if (json_typeof(a) != json_typeof(b)) return false;
  if (json_is_string(a)) return texts_near(json_string_value(a), json_string_value(b));
  if (json_is_object(a)) return members_near(a, b);
  if (!json_is_array(a)) return true; /* true, false, null: the type is the value */
  if (json_array_size(a) != json_array_size(b)) return false;
  for (size_t i = 0; i < json_array_size(a); i++)
    if (!tct_json_near(json_array_get(a, i), json_array_get(b, i))) return false;
  return true;
}
