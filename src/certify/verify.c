/* verify.c - recomputes a model file's privacy claim and reports every check by name. */
#include "account/account.h"
#include "account/curves/work.h"
#include "core/point.h"
#include "core/alloc.h"
#include "core/sized.h"
#include "second/cross_check.h"
#include "certify/verify.h"
#include "ledger/ledger.h"
#include "train/cautions.h"
#include "train/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The claim may be this much below a recomputed figure, relative: rounding of the decimal in the file. */
static const double CLAIM_SLACK = 1e-9;
/* The named accountant is asked for a bracket this narrow; the claim came from the same question. */
static const double PRECISION = TCT_PRECISION;
/* Of a lower bound, which only has to contradict a wrong claim. */
static const double ROUGH = 1e-3;

static const char TOO_MUCH[] =
    "to verify this file would take more work than is done for one; tacit makes no such "
    "file, and refuses such a run before it charges anything";

typedef tct_verify_report report;
#define check tct_verify_check

bool tct_at_most(double figure, double claim, double slack) {
  return isfinite(figure) && figure <= claim * (1 + slack);
}

/* Once the purse is empty nothing can be found out any more, and why is the same everywhere. */
void tct_verify_check(report *r, const char *name, int ok, const char *format, ...) {
  char text[600];
  va_list list;
  ok = ok && !tct_work_over();
  va_start(list, format);
  vsnprintf(text, sizeof text, tct_work_over() ? TOO_MUCH : format, list);
  va_end(list);
  json_array_append_new(r->checks, json_pack("{s:s, s:b, s:s}", "name", name, "ok", ok, "text", text));
  r->ok = ok && TCT_POINT(failed_check_forgotten, r->ok, true);
}

static void check_coefficients(report *r, const tct_model *m) {
  int64_t bad = 0, models = tct_model_models(m);
  for (int64_t j = 0; j < models * m->cols; j++) bad += !isfinite(m->coefficients[j]);
  for (int64_t k = 0; k < models; k++) bad += !isfinite(tct_model_intercepts(m)[k]);
  if (bad == 0 && models > 1)
    check(r, "coefficients", true, "%lld, all finite, one per feature, for each of %lld classes", (long long)m->cols,
          (long long)models);
  else
    check(r, "coefficients", bad == 0,
          bad ? "a coefficient is not a finite number" : "%lld, all finite, one per feature", (long long)m->cols);
}

/* Every field that docs/reference/format/model.schema.json requires; the reader itself does without some. */
static const char *missing_field(const json_t *file) {
  static const char *const top[] = {"format",    "version",    "library", "loss",   "penalty",  "solver",
                                    "rows",      "columns",    "label",   "labels", "features", "coefficients",
                                    "intercept", "transforms", "privacy", NULL};
  static const char *const transforms[] = {
      "schema",      "scale",     "scale_factor",        "scale_shift", "label_shift",
      "label_bound", "intercept", "penalised_intercept", "row_norm",    "rows",
      NULL};
  static const char *const privacy[] = {"private",  "neighbours", "epsilon",     "delta", "accountant", "events",
                                        "adaptive", "noise",      "unaccounted", "trust", "unit",       NULL};
  for (int i = 0; top[i]; i++)
    if (!json_object_get(file, top[i])) return top[i];
  for (int i = 0; transforms[i]; i++)
    if (!json_object_get(json_object_get(file, "transforms"), transforms[i])) return transforms[i];
  for (int i = 0; privacy[i]; i++)
    if (!json_object_get(json_object_get(file, "privacy"), privacy[i])) return privacy[i];
  return NULL;
}

static void check_components(report *r, const tct_model *m) {
  tct_loss loss;
  tct_penalty penalty;
  tct_spec spec;
  tct_error why = {0};
  const tct_solver *solver = NULL;
  int ok = tct_loss_make(m->loss, &loss, &why) == TCT_OK && tct_penalty_make(m->penalty, &penalty, &why) == TCT_OK &&
           tct_spec_parse(m->solver, "solver", &spec, &why) == TCT_OK;
  if (ok) solver = tct_solver_find(spec.name);
  if (!ok)
    check(r, "components", 0, "%s", why.text);
  else if (!solver)
    check(r, "components", 0, "no solver is called '%.40s'", spec.name);
  else if (m->is_private && !solver->is_private)
    check(r, "components", 0, "%s is not private and cannot have made a private model", solver->name);
  else
    check(r, "components", 1, "%s, %s, %s", solver->name, loss.kind->name, penalty.kind->name);
}

/* Their values are the run's; that there are some, and of which form, is the solver's and its option's. */
static void check_inference(report *r, const tct_model *m) {
  tct_spec spec;
  tct_error why = {0};
  const tct_solver *solver =
      tct_spec_parse(m->solver, "solver", &spec, &why) == TCT_OK ? tct_solver_find(spec.name) : NULL;
  bool wanted = solver && solver->infers, there = m->inference.p > 0;
  if (!wanted && !there) return;
  bool same = wanted && there && m->inference.robust == tct_spec_is(&spec, solver->options, "errors", "robust");
  bool checked = wanted && tct_spec_given(&spec, "change") && tct_spec_real(&spec, solver->options, "change") > 0;
  same = same && (m->inference.change != NULL) == checked;
  check(r, "standard_errors", same,
        same ? "there are standard errors, of the form that the solver was asked for"
             : "the standard errors are not those that this solver gives; the file was edited");
}

/* The fit's own claim first: the numbers that the report ends with are those of the whole. */
static void check_estimated(report *r, const tct_model *m, const json_t *file) {
  tct_model fit;
  if (tct_verify_estimate(r, m, &fit)) {
    tct_verify_fits(r, &fit, file);
    tct_verify_claim(r, &fit);
  }
  tct_verify_estimate_free(&fit);
}

static int says_none(const json_t *privacy, const char *key) { return tct_json_says(privacy, key, "NONE"); }

/* The claim of a model without privacy is that there is none. */
static void check_none(report *r, const json_t *privacy) {
  int silent = says_none(privacy, "epsilon") && says_none(privacy, "delta") && says_none(privacy, "neighbours") &&
               json_is_null(json_object_get(privacy, "accountant")) &&
               json_array_size(json_object_get(privacy, "events")) == 0 && !json_object_get(privacy, "choice");
  const json_t *fits = json_object_get(privacy, "fits"), *fit = json_array_get(fits, 0);
  int alone = !fits || (json_array_size(fits) == 1 && json_integer_value(json_object_get(fit, "count")) == 1);
  check(r, "claim", silent && alone,
        silent && alone
            ? "the model claims no privacy (NONE)"
            : "the model says NONE and yet states an epsilon, delta, relation, accountant, events, a choice "
              "or several fits");
}

static void check_recomputed(report *r, const tct_model *m, const tct_accountant *accountant) {
  char why[200] = "";
  tct_error err = {0};
  double upper;
  if (!accountant->applies(&m->events, m->neighbours, why, sizeof why)) {
    check(r, "recomputed", 0, "accountant %s does not apply to these events: %s", accountant->name, why);
    return;
  }
  if (tct_accountant_upper(accountant, &m->events, m->neighbours, m->delta, PRECISION, &upper, &err) != TCT_OK) {
    check(r, "recomputed", 0, "accountant %s failed: %s", accountant->name, err.text);
    return;
  }
  tct_json_put(r->root, "epsilon_recomputed", upper);
  check(r, "recomputed", tct_at_most(upper, m->epsilon, TCT_POINT(claims_within_one_percent, CLAIM_SLACK, 1e-2)),
        "accountant %s proves epsilon %.8g from the events; the claim is %.8g", accountant->name, upper, m->epsilon);
}

/* A bound by another method agrees if it proves the claim too.  An accountant that is tighter than
 * Renyi divergences may claim less than they prove; then the lower bounds must allow it.  The verdict is the one that
 * was asked before the charge (study/price.c); the figures are for people. */
static void check_second(report *r, const tct_model *m, const tct_accountant *accountant) {
  tct_second second = {.upper = INFINITY};
  tct_cost rough = {0};
  tct_work before = tct_work_begin(TCT_WORK_SECOND);
  tct_second_claim answer =
      tct_second_of_claim(&m->events, m->neighbours, m->epsilon * (1 + TCT_SECOND_SLACK), m->delta, accountant->tight);
  bool within = !tct_work_over();
  if (within) tct_second_opinion(&m->events, m->neighbours, m->delta, &second);
  bool figured = !tct_work_over();
  if (!figured) second = (tct_second){.upper = INFINITY, .how = "one whose figure takes too much work"};
  tct_status status = tct_account_epsilon(&m->events, m->neighbours, m->delta, ROUGH, &rough, NULL);
  double lower = status == TCT_OK && !tct_work_over() ? rough.epsilon_lower : 0;
  tct_work_end(before);
  tct_json_put(r->root, "epsilon_second", second.upper);
  bool holds = TCT_POINT(second_opinion_always_right, answer.holds && within, true);
  if (!holds)
    check(r, "second", 0, "a second method (%s) gives epsilon %.8g, above the claim", second.how, second.upper);
  else if (!figured)
    check(r, "second", 1, "%s allows the claim", second.how);
  else if (tct_at_most(second.upper, m->epsilon, TCT_SECOND_SLACK))
    check(r, "second", 1, "epsilon %.8g, %s", second.upper, second.how);
  else
    check(r, "second", 1, "epsilon %.8g, %s: a looser method, which does not contradict the claim", second.upper,
          second.how);
  lower = fmax(lower, second.exact ? second.lower * (1 - TCT_SECOND_SLACK) : second.lower);
  tct_json_put(r->root, "epsilon_lower", lower);
  bool possible =
      TCT_POINT(lower_bound_skipped, answer.possible && tct_at_most(lower, m->epsilon, TCT_SECOND_SLACK), true);
  check(r, "lower_bound", possible, "no epsilon below %.8g is possible for these events; the claim is %.8g", lower,
        m->epsilon);
}

void tct_verify_claim(report *r, const tct_model *m) {
  int numbers = isfinite(m->epsilon) && m->epsilon > 0 && m->delta >= 0 && m->delta < 1;
  check(r, "claim", numbers, numbers ? "epsilon %.8g, delta %.8g" : "epsilon or delta is out of range (%g, %g)",
        m->epsilon, m->delta);
  check(r, "events", m->events.len > 0, m->events.len ? "%lld, all of known kinds" : "there are none (%lld)",
        (long long)m->events.len);
  const tct_accountant *accountant = m->accountant ? tct_accountant_find(m->accountant) : NULL;
  check(r, "accountant", accountant != NULL, accountant ? "%s is known" : "no accountant is called '%.40s'",
        m->accountant ? m->accountant : "");
  if (!accountant || !numbers || !m->events.len) return;
  check_recomputed(r, m, accountant);
  check_second(r, m, accountant);
}

static void check_ledger(report *r, const tct_model *m, const char *ledger) {
  char text[300];
  int told = 0;
  tct_error err = {0};
  tct_status status = tct_ledger_entry(ledger, m, &told, text, sizeof text, &err);
  tct_error_reword(&err, TCT_WORDS_CLI);
  check(r, "ledger", told, "%s", status == TCT_OK ? text : err.text);
}

static void describe(report *r, const tct_model *m) {
  json_t *list = json_array();
  for (int i = 0; i < TCT_UNACCOUNTED && m->unaccounted[i]; i++)
    json_array_append_new(list, json_string(m->unaccounted[i]));
  tct_json_put(r->root, "epsilon", m->epsilon);
  tct_json_put(r->root, "delta", m->delta);
  json_object_set_new(r->root, "neighbours",
                      json_string(m->neighbours == TCT_REPLACE_ONE ? "replace_one" : "add_remove"));
  json_object_set_new(r->root, "accountant", m->accountant ? json_string(m->accountant) : json_null());
  json_object_set_new(r->root, "private", json_boolean(m->is_private));
  json_object_set_new(r->root, "reproducible", json_boolean(m->reproducible));
  json_object_set_new(r->root, "for_tests", json_boolean(m->for_tests));
  json_object_set_new(r->root, "unaccounted", list);
  tct_caution_facts facts = tct_caution_model(m);
  json_object_set_new(r->root, "warnings", tct_cautions_json(&facts));
}

/* A consistent claim is not yet a guarantee: noise that can be reproduced protects nobody, and settings that were not
 * planned again may have been edited. */
static tct_verdict kind_of(const report *r, const tct_model *m) {
  if (!r->ok || !m) return TCT_VERDICT_REFUSED;
  if (!m->is_private) return TCT_VERDICT_NO_PRIVACY;
  if (m->reproducible) return TCT_VERDICT_REPRODUCIBLE;
  if (m->for_tests) return TCT_VERDICT_FOR_TESTS;
  return r->replanned ? TCT_VERDICT_VERIFIED : TCT_VERDICT_IN_PART;
}

static const char *const WORDS[] = {
    [TCT_VERDICT_REFUSED] = "failed",      [TCT_VERDICT_VERIFIED] = "verified",
    [TCT_VERDICT_NO_PRIVACY] = "none",     [TCT_VERDICT_REPRODUCIBLE] = "reproducible",
    [TCT_VERDICT_FOR_TESTS] = "for_tests", [TCT_VERDICT_IN_PART] = "in_part",
};

static void conclude(report *r, const tct_model *m, tct_conclusion *out) {
  *out = (tct_conclusion){.verdict = kind_of(r, m), .replanned = m && r->replanned};
  for (size_t i = 0; i < json_array_size(r->checks) && !out->why[0]; i++) {
    const json_t *one = json_array_get(r->checks, i);
    if (!json_is_true(json_object_get(one, "ok")))
      snprintf(out->why, sizeof out->why, "%s", tct_json_said(one, "text"));
  }
}

static void check_file(report *r, const tct_model *model, const json_t *file, const char *why) {
  const char *missing = model ? missing_field(file) : NULL;
  if (model && model->unknown[0])
    check(r, "fields", 0, "the model file has a field '%s', which no model file has; it was edited", model->unknown);
  else if (missing)
    check(r, "fields", 0, "the model file lacks '%s'; it is damaged or was edited", missing);
  else
    check(r, "fields", model != NULL, "%s", model ? "all present and known" : why);
}

/* Terms are what the weights are of: a record that is encoded by other ones would be predicted wrongly. */
static void check_terms(report *r, const tct_model *m, const json_t *file) {
  const json_t *schema = json_object_get(json_object_get(file, "transforms"), "schema");
  tct_error why = {0};
  if (json_integer_value(json_object_get(schema, "version")) < 2) return;
  int ok = tct_model_made_by_schema(m, &why) == TCT_OK;
  check(r, "terms", ok, "%s", ok ? "the schema makes the features that the weights are of" : why.text);
}

static void check_model(report *r, const tct_model *model, const json_t *file) {
  check_components(r, model);
  check_terms(r, model, file);
  check_coefficients(r, model);
  check_inference(r, model);
  if (model->estimate) {
    check_estimated(r, model, file);
  } else {
    tct_verify_fits(r, model, file);
    tct_verify_no_estimate(r, model);
  }
  if (model->is_private)
    tct_verify_claim(r, model);
  else
    check_none(r, json_object_get(file, "privacy"));
}

void tct_verify_one(report *r, const tct_model *model, const json_t *file) {
  check_file(r, model, file, "");
  check_model(r, model, file);
}

/* Of a study: what it claims, as a model without weights. */
static tct_model *claim_of(const json_t *file, tct_error *why) {
  tct_model *claim = TCT_NEW(tct_model, 1);
  if (claim && tct_study_claim_read(file, claim, why) == TCT_OK) return claim->version = 1, claim;
  tct_model_free(claim);
  return NULL;
}

/* model: NULL where the file holds none, for the reason `why`; of a study it is the claim of the whole. */
static report verify(const tct_model *model, const json_t *file, const char *why, const char *ledger) {
  tct_work before = tct_work_begin(TCT_WORK_VERIFY);
  report r = {.root = json_object(), .checks = json_array(), .ok = 1};
  if (model && tct_is_study(file))
    tct_verify_study(&r, file, model);
  else if (model)
    tct_verify_one(&r, model, file);
  else
    check_file(&r, model, file, why);
  if (model && ledger) check_ledger(&r, model, ledger);
  if (model) describe(&r, model);
  if (r.ok && tct_work_over()) check(&r, "work", 0, "%s", TOO_MUCH);
  tct_work_end(before);
  return r;
}

bool tct_verify_model(const tct_model *model, const json_t *file, tct_policy *with, json_t *told, tct_conclusion *out) {
  tct_error why = {0};
  json_t *study = model->study ? json_loads(model->study, 0, NULL) : NULL;
  tct_model *claim = study ? claim_of(study, &why) : NULL;
  const tct_model *of = model->study ? claim : model;
  with->file = study ? study : file, with->model = of, with->verified = out;
  report r = verify(of, with->file, why.text, with->ledger);
  conclude(&r, of, out);
  bool whole = tct_policy_answer(with, told);
  json_decref(r.root);
  json_decref(r.checks);
  json_decref(study);
  tct_model_free(claim);
  return whole;
}

/* The report as text, and the verdict.  with: what the caller gave beside the file. */
static char *verify_file(const json_t *file, const char *path, tct_policy *with, tct_conclusion *out, tct_error *err) {
  tct_error why = {0};
  tct_model *model = tct_is_study(file) ? claim_of(file, &why) : tct_model_of_json(file, path ? path : "", &why);
  report r = verify(model, file, why.text, with->ledger);
  conclude(&r, model, out);
  json_object_set_new(r.root, "ok", json_boolean(r.ok));
  json_object_set_new(r.root, "verdict", json_string(WORDS[out->verdict]));
  if (model) json_object_set_new(r.root, "form", json_integer(model->version));
  json_object_set_new(r.root, "replanned", json_boolean(out->replanned));
  json_object_set_new(r.root, "checks", r.checks);
  with->file = file, with->model = model, with->verified = out;
  bool whole = tct_policy_answer(with, r.root);
  if (out->verdict == TCT_VERDICT_REFUSED) tct_fail(err, TCT_E_DATA, "%s", out->why);
  char *text = whole ? tct_json_dump(r.root, JSON_INDENT(2)) : NULL;
  if (!text) tct_fail_memory(err);
  json_decref(r.root);
  tct_model_free(model);
  return text;
}

char *tct_verify_json(const char *path, const char *text, const char *ledger, const char *policy, const char *audit,
                      tct_verdict *verdict, tct_error *err) {
  tct_conclusion out;
  tct_policy with = {.ledger = ledger};
  json_t *file = NULL;
  tct_error_clear(err);
  tct_status status = tct_policy_read(policy, audit, &with, err);
  if (status == TCT_OK) status = tct_model_load(path, text, &file, err);
  char *answer = status == TCT_OK ? verify_file(file, path, &with, &out, err) : NULL;
  json_decref(file);
  json_decref(with.policy);
  json_decref(with.audit);
  if (answer && verdict) *verdict = out.verdict;
  return answer;
}
