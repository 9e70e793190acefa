/* verify_fits.c - plans again: are the file's releases those of the settings that it says were asked for?
 *
 * (a) By the same rules the settings as asked give the resolved ones, the releases, events and the claim again.
 * (b) By older rules the resolved settings are planned.  Their numbers of noise may be others: kinds, lengths and norms
 *     are compared, and each deviation with its own noise and length.
 * (c) The events of all fits, and of the choice among them, are the events that the claim is accounted from.
 * What the model file says elsewhere (loss, rows, bounds, ...) is what one of the fits says. */
#include "core/point.h"
#include "core/alloc.h"
#include "train/certificate.h"
#include "model/json.h"
#include "certify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const json_t *member(const json_t *o, const char *key) { return json_object_get(o, key); }
/* The first member in which the two differ; NULL: none. */
static const char *difference(const json_t *fit, const json_t *again) {
  static const char *const keys[] = {"solver",  "rules", "promise",    "releases", "events",
                                     "epsilon", "delta", "accountant", NULL};
  for (int i = 0; keys[i]; i++)
    if (!tct_json_near(member(fit, keys[i]), member(again, keys[i]))) return keys[i];
  return NULL;
}

/* A release of another plan version: kind, length and norm are the same, and it agrees in itself. */
static bool release_alike(const json_t *was, const json_t *now) {
  static const char *const keys[] = {"what", "norm", "sensitivity", "clip", "follows", "open", "parts", NULL};
  tct_event a, b;
  for (int i = 0; keys[i]; i++)
    if (!tct_json_near(member(was, keys[i]), member(now, keys[i]))) return false;
  if (!tct_json_said(was, "event") || tct_event_parse(tct_json_said(was, "event"), &a, NULL, NULL) != TCT_OK)
    return false;
  if (tct_event_parse(tct_json_said(now, "event"), &b, NULL, NULL) != TCT_OK || a.kind != b.kind) return false;
  double deviation = json_number_value(member(was, "deviation")),
         length = json_number_value(member(was, "sensitivity"));
  if (a.kind > TCT_EV_LAPLACE || !json_is_number(member(was, "deviation"))) return true;
  double own = a.noise * length * (a.kind == TCT_EV_LAPLACE ? sqrt(2) : 1);
  return isfinite(own) && fabs(own - deviation) <= 1e-9 * own;
}

static bool releases_alike(const json_t *was, const json_t *now) {
  if (!json_is_array(was) || json_array_size(was) != json_array_size(now)) return false;
  for (size_t i = 0; i < json_array_size(was); i++)
    if (!release_alike(json_array_get(was, i), json_array_get(now, i))) return false;
  return true;
}

static const char *field_unlike(const tct_model *m, const tct_plan *p, const json_t *fit);

/* A joint loss has all rows of coefficients from one fit.  Else there are as many fits of this kind as rows; one row
 * may be one of several. */
static bool count_is(const tct_model *m, const tct_plan *plan, const json_t *fit) {
  json_int_t count = json_integer_value(member(fit, "count"));
  if (plan->facts.loss.kind->joint)
    return m->models == tct_loss_outputs(&plan->facts.loss) && (!m->is_private || count == 1);
  return !m->is_private || m->models < TCT_POINT(rows_of_classes_not_counted, 2, 200) || count == m->models;
}

/* What is known of the fit that made the model. */
typedef struct maker {
  const char *unlike; /* a field that no fit so far has as the model has it; NULL: one has all */
  double max;         /* no weight of such a fit is larger */
} maker;

/* Every candidate of a search with random tries is fitted as the model would be: once where its loss takes all classes
 * at once, else once for each.  The price is that of the dearest candidate, so none may count fewer. */
static void check_count(tct_verify_report *r, const tct_model *m, const tct_plan *plan, const json_t *fit) {
  tct_selection search;
  if (!tct_selection_parse(m->choice, &search)) return;
  long long count = json_integer_value(member(fit, "count")), classes = tct_model_models(m);
  long long wanted = plan->facts.loss.kind->joint ? 1 : classes;
  if (count != wanted)
    tct_verify_check(r, "selection_fits", 0,
                     "a candidate of the search is counted as %lld fits, where the model's classes need %lld; the file "
                     "was edited",
                     count, wanted);
}

static void match(const tct_model *m, const tct_plan *plan, const json_t *fit, maker *own) {
  const char *unlike = count_is(m, plan, fit) ? field_unlike(m, plan, fit) : "count";
  if (unlike && own->unlike) own->unlike = unlike;
  if (unlike) return;
  own->unlike = NULL;
  own->max = fmax(own->max, tct_solver_weight_bound(plan->solver, &plan->facts, &plan->solved));
}

/* Is the fit of the model's table?  A plan for another one may take any time and room. */
static bool shape_is(const tct_model *m, const json_t *fit) {
  const json_t *asked = member(fit, "asked");
  return json_integer_value(member(asked, "rows")) == m->rows &&
         json_integer_value(member(asked, "columns")) == m->cols;
}

/* What a plan by the rules that the fit has, or by newer ones, tells of the fit. */
static void check_plan(tct_verify_report *r, const json_t *fit, const tct_plan *plan, bool same) {
  json_t *again = tct_certificate_json(plan);
  const char *other = same                                                                 ? difference(fit, again)
                      : releases_alike(member(fit, "releases"), member(again, "releases")) ? NULL
                                                                                           : "releases";
  tct_verify_check(
      r, "releases", !other,
      other ? "the settings give another '%s'; the file was edited" : "the settings give these releases%.0s",
      other ? other : "");
  bool asked = tct_json_near(member(fit, "asked"), member(again, "asked"));
  if (same && !other)
    tct_verify_check(r, "asked", asked,
                     asked ? "the settings that were asked for give this plan again"
                           : "what was asked for is not what such a plan keeps of it; the file was edited");
  json_decref(again);
}

/* By the same rules the settings as asked give all that follows; by older ones the resolved settings stand for them. */
static void check_fit(tct_verify_report *r, const tct_model *m, const json_t *fit, maker *own) {
  tct_plan *plan = NULL;
  tct_error err = {0};
  int was, now;
  const char *whose = tct_certificate_other_rules(fit, &was, &now), *solver = tct_json_said(fit, "solver");
  bool older = was >= 1 && was < now;
  if (whose)
    tct_verify_check(r, "asked", older,
                     older ? "skipped: %.40s was made by version %d of its rules, this program has version %d"
                           : "%.40s has rules of version %d, which is not known here, where %d is the newest; verify "
                             "with a newer tacit",
                     whose, was, now);
  r->replanned &= !whose;
  if (whose && !older) return;
  if (!shape_is(m, fit))
    tct_verify_check(r, "releases", 0, "a fit is of another table than the model; the file was edited");
  else if (!solver || tct_certificate_plan(fit, whose ? solver : NULL, &plan, &err) != TCT_OK) {
    tct_error_reword(&err, TCT_WORDS_CLI);
    tct_verify_check(r, "releases", 0, "the settings give no plan: %s", err.text);
  }
  if (!plan) return;
  check_plan(r, fit, plan, !whose);
  check_count(r, m, plan, fit);
  match(m, plan, fit, own);
  tct_plan_free(plan);
}

/* ---- the union ----------------------------------------------------------------------------------------------- */

/* Copies are counted and not listed: what a file asks for stays as long as the file. */
tct_status tct_verify_add_copies(const json_t *fit, tct_events *out, tct_error *err) {
  json_int_t count = json_integer_value(member(fit, "count"));
  tct_events own = {0};
  if (count < 1 || count > 100000) return tct_fail(err, TCT_E_DATA, "a number of fits is out of range");
  tct_status status = tct_json_get_events(member(fit, "events"), &own, err);
  for (int64_t i = 0; i < own.len && status == TCT_OK; i++)
    status = __builtin_mul_overflow(own.at[i].count, (int64_t)count, &own.at[i].count)
                 ? tct_fail(err, TCT_E_DATA, "a number of events is out of range")
                 : tct_events_add(out, own.at[i], err);
  tct_events_free(&own);
  return status;
}

static int by_kind(const void *left, const void *right) {
  const tct_event *a = left, *b = right;
  const double x[] = {a->kind, a->noise, a->rate, a->epsilon, a->delta, a->rho, a->shift},
               y[] = {b->kind, b->noise, b->rate, b->epsilon, b->delta, b->rho, b->shift};
  for (size_t k = 0; k < sizeof x / sizeof *x; k++)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}

/* The list in one order, every event once. */
static tct_status sorted(const tct_events *list, tct_events *out, tct_error *err) {
  tct_events copy = {0};
  tct_status status = tct_events_copy(&copy, list, err);
  if (status == TCT_OK && copy.len > 1) qsort(copy.at, (size_t)copy.len, sizeof *copy.at, by_kind);
  *out = (tct_events){0};
  for (int64_t i = 0; i < copy.len && status == TCT_OK; i++) status = tct_events_add(out, copy.at[i], err);
  tct_events_free(&copy);
  return status;
}

/* As multisets: a composer may order and merge them in its own way. */
static bool same_events(const tct_events *a, const tct_events *b) {
  tct_events x, y = {0};
  bool same = sorted(a, &x, NULL) == TCT_OK && sorted(b, &y, NULL) == TCT_OK && tct_events_same(&x, &y);
  tct_events_free(&x);
  tct_events_free(&y);
  return same;
}

static bool choice_of(const tct_model *m, tct_event *choice) {
  return m->choice && tct_event_parse(m->choice, choice, NULL, NULL) == TCT_OK && choice->kind == TCT_EV_EXPONENTIAL &&
         choice->count == 1;
}

static bool union_is(const tct_model *m, const json_t *fits) {
  tct_events all = {0};
  const json_t *fit;
  size_t i;
  tct_event choice;
  tct_status status = TCT_OK;
  json_array_foreach((json_t *)fits, i, fit) if (status == TCT_OK) status = tct_verify_add_copies(fit, &all, NULL);
  if (status == TCT_OK && m->choice) status = choice_of(m, &choice) ? tct_events_add(&all, choice, NULL) : TCT_E_DATA;
  bool same = status == TCT_OK && same_events(&all, &m->events);
  tct_events_free(&all);
  return same;
}

/* Where no accountant knows the list, epsilon and delta are divided: approx events stand for the claims of fits, and
 * together cost no less. */
static bool sum_is(const tct_model *m, const json_t *fits) {
  double epsilon = 0, delta = 0, spent = 0, spent_delta = 0;
  const json_t *fit;
  size_t f;
  tct_event choice = {0};
  int64_t choices = 0;
  bool chosen = choice_of(m, &choice);
  json_array_foreach((json_t *)fits, f, fit) {
    double count = (double)json_integer_value(member(fit, "count"));
    spent += count * json_number_value(member(fit, "epsilon"));
    spent_delta += count * json_number_value(member(fit, "delta"));
  }
  for (int64_t i = 0; i < m->events.len; i++) {
    const tct_event *e = &m->events.at[i];
    if (chosen && tct_event_same(e, &choice)) {
      if (e->count != 1 || choices++) return false;
      continue;
    }
    if (e->kind != TCT_EV_APPROX) return false;
    epsilon += (double)e->count * e->epsilon, delta += (double)e->count * e->delta;
  }
  return isfinite(epsilon) && choices == (m->choice ? 1 : 0) && spent <= epsilon * (1 + 1e-9) &&
         spent >= epsilon * (1 - 1e-9) && spent_delta <= delta * (1 + 1e-9) && spent_delta >= delta * (1 - 1e-9);
}

static void check_union(tct_verify_report *r, const tct_model *m, const json_t *fits) {
  tct_selection search;
  if (tct_selection_parse(m->choice, &search)) {
    tct_verify_tries(r, m, fits, &search);
    return;
  }
  bool one = json_array_size(fits) == 1 && json_integer_value(member(json_array_get(fits, 0), "count")) == 1;
  bool same = union_is(m, fits) || (!one && sum_is(m, fits));
  tct_verify_check(r, "union", same,
                   same ? "the events are those of the fits that are listed%s"
                        : "the events are not those of the fits that are listed%s",
                   m->choice ? " and of the choice" : "");
  if (!one) return;
  const json_t *fit = json_array_get(fits, 0);
  double epsilon = json_number_value(member(fit, "epsilon")), delta = json_number_value(member(fit, "delta"));
  const char *accountant = tct_json_said(fit, "accountant");
  bool claim = epsilon == m->epsilon && delta == m->delta && accountant && m->accountant && !m->choice &&
               !strcmp(accountant, m->accountant);
  tct_verify_check(
      r, "claim_of_the_fit", claim,
      claim ? "the claim is that of the one fit" : "the claim is not that of the one fit behind the model");
}

/* ---- what the model says elsewhere ------------------------------------------------------------------------------ */

static bool reals_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static const char *resolved(const tct_spec *spec, char *text, size_t size) {
  tct_spec_print(spec, text, size);
  return text;
}

/* Who sees what, and at which epsilon, is a function of the plan; `list` and the byte counts are the run's. */
static bool observers_same(const tct_model *m, const tct_plan *plan) {
  tct_model own = {.is_private = m->is_private};
  if (!m->parties || !plan->solver->by_parties) return !m->parties && !plan->solver->by_parties;
  const tct_apart unknown = {0};
  json_t *said = json_loads(m->parties, 0, NULL);
  bool simulated = json_is_false(member(said, "apart"));
  if (tct_model_observers(plan, simulated ? NULL : &unknown, &own, NULL) != TCT_OK) {
    json_decref(said);
    return false;
  }
  json_t *again = json_loads(own.parties, 0, NULL);
  bool same = said && again && (simulated || plan->solver->over_wire) &&
              tct_json_near(member(said, "count"), member(again, "count")) &&
              tct_json_near(member(said, "observers"), member(again, "observers")) &&
              tct_json_near(member(said, "conditions"), member(again, "conditions"));
  json_decref(said);
  json_decref(again);
  tct_free(own.parties);
  return same;
}

bool tct_verify_told(const tct_model *m, const char *fact) {
  return tct_model_tells(m, fact) || m->unaccounted[TCT_UNACCOUNTED - 1];
}

static bool facts_told(const tct_model *m, const tct_plan *p) {
  char text[TCT_PLAN_FACTS][200];
  bool all = true;
  for (int i = tct_plan_unpaid(p, text); i > 0; i--) all &= tct_verify_told(m, text[i - 1]);
  return all;
}

/* The first field of the model that is not this plan's; NULL: all are. */
static const char *field_unlike(const tct_model *m, const tct_plan *p, const json_t *fit) {
  char text[4096];
  const tct_config *c = &p->config;
  bool apart = m->parties && strstr(m->parties, "\"apart\":true");
  if (strcmp(m->loss, resolved(&p->facts.loss.spec, text, sizeof text))) return "loss";
  if (strcmp(m->penalty, resolved(&p->facts.penalty.spec, text, sizeof text))) return "penalty";
  if (strcmp(m->solver, tct_json_said(fit, "solver") ? tct_json_said(fit, "solver") : "")) return "solver";
  if (m->rows != p->facts.rows || m->cols != p->cols) return m->cols != p->cols ? "columns" : "rows";
  if (m->labels != (p->facts.loss.kind->binary ? TCT_LABELS_BINARY : TCT_LABELS_REAL)) return "labels";
  if (strcmp(m->scale, c->scale) && !(!strcmp(m->scale, "bounds") && !strcmp(c->scale, "none"))) return "scale";
  if (!strcmp(m->scale, "none") != !m->scale_factor) return "scale_factor";
  if (strcmp(c->label_scale, "center") && m->label_shift != c->label_shift) return "label_shift";
  if (!reals_same(m->label_bound, c->label_bound)) return "label_bound";
  if (!reals_same(m->row_norm, apart ? NAN : c->row_norm)) return "row_norm";
  if (m->rows_rule != c->rows_rule) return "transforms.rows";
  if (m->has_intercept != p->facts.intercept) return "transforms.intercept";
  for (int64_t k = 0; k < tct_model_models(m); k++)
    if (!m->has_intercept && tct_model_intercepts(m)[k] != 0) return "intercept";
  if (m->penalised_intercept != p->solver->penalises_intercept) return "penalised_intercept";
  if (m->is_private != (p->solver->is_private && isfinite(p->facts.epsilon))) return "private";
  if (m->is_private && m->neighbours != (int32_t)p->facts.neighbours) return "neighbours";
  if (m->adaptive != (p->solved.promise.kind == TCT_PROMISE_BUDGET)) return "adaptive";
  if (tct_model_offset(m, NULL) && (!p->solver->offsets || !m->has_intercept)) return "transforms.schema";
  if ((m->persons || !isnan(m->weight_cap)) && !tct_plan_weighs(p, m->persons)) return "weights";
  if (!observers_same(m, p)) return "parties";
  if (!facts_told(m, p)) return "unaccounted";
  return NULL;
}

/* other: the first field that no fit has as the model has it. */
static void check_fields(tct_verify_report *r, const char *other) {
  tct_verify_check(r, "settings", !other,
                   other ? "'%s' is not what the fit behind the model was asked for; the file was edited"
                         : "all are those of the fit behind the model%.0s",
                   other ? other : "");
}

/* What the planned noise and path can reach; see tct_solver.weight_bound. */
static void check_weights(tct_verify_report *r, const tct_model *m, double max) {
  double largest = 0;
  for (int64_t k = 0; k < tct_model_models(m); k++) largest = fmax(largest, fabs(tct_model_intercepts(m)[k]));
  for (int64_t j = 0; j < tct_model_models(m) * m->cols; j++) largest = fmax(largest, fabs(m->coefficients[j]));
  tct_verify_check(r, "weights", largest <= max,
                   largest <= max ? "none is above %.3g, which this plan cannot exceed"
                                  : "a weight is above %.3g, which this plan cannot exceed; the file was edited",
                   max);
}

/* Sentences are the library's own, and the unit is that of the weights. */
static void check_words(tct_verify_report *r, const tct_model *m, const json_t *privacy) {
  const char *of = tct_json_said(member(privacy, "weights"), "of");
  bool ok = !m->other_words && (of ? !strcmp(of, m->persons ? "person" : "record") : !m->persons);
  tct_verify_check(r, "words", ok,
                   ok ? "trust and unit are said in the library's own words"
                      : "trust, unit or the weights' unit is not what this claim has; the file was edited");
}

/* What costs a calibration is not asked for after a failure: it could say no more. */
void tct_verify_fits(tct_verify_report *r, const tct_model *m, const json_t *file) {
  const json_t *privacy = member(file, "privacy"), *fits = member(privacy, "fits"), *fit;
  maker own = {.unlike = "fits"};
  size_t i;
  check_words(r, m, privacy);
  if (m->is_private) check_union(r, m, fits);
  r->replanned = true;
  json_array_foreach((json_t *)fits, i, fit) if (r->ok) check_fit(r, m, fit, &own);
  if (r->ok) check_fields(r, own.unlike ? own.unlike : tct_verify_label(m));
  if (r->ok && isfinite(own.max)) check_weights(r, m, own.max);
  r->replanned &= r->ok != 0;
  if (r->replanned) tct_verify_composed(r, m, fits);
}
