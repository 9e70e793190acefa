/* policy.c - an organisation's limits on what may be published, held against a file, its verdict and its ledger.
 *
 * Each rule is one row: its name, what its limit looks like, and a function.  What a rule asks and nobody can show
 * (an anchor without a ledger, an epsilon that is no number) does not hold.  docs/guide/policy.md has the rules. */
#include "certify/policy.h"

#include "ledger/anchor.h"
#include "ledger/ledger.h"
#include "train/cautions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 320 };

typedef enum limit_kind { NUMBER, WORDS, YES } limit_kind;

/* What was found, as a sentence; the answer is whether the limit keeps. */
typedef bool holds_fn(const tct_policy *c, const json_t *limit, char text[TEXT]);

typedef struct rule {
  const char *name;
  limit_kind kind;
  holds_fn *holds;
} rule;

static bool say(bool holds, char text[TEXT], const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool say(bool holds, char text[TEXT], const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(text, TEXT, format, list);
  va_end(list);
  return holds;
}

/* ---- the claim ------------------------------------------------------------------------------------------------- */

static bool at_most(double figure, const json_t *limit, const char *what, char text[TEXT]) {
  double most = json_number_value(limit);
  return say(isfinite(figure) && figure <= most, text, "%s %.8g, at most %.8g are allowed", what, figure, most);
}

/* Without privacy there is no limit to what it reveals. */
static double claimed(const tct_policy *c, double figure) { return c->model->is_private ? figure : INFINITY; }

static bool max_epsilon(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return at_most(claimed(c, c->model->epsilon), limit, "epsilon is", text);
}

static bool max_delta(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return at_most(claimed(c, c->model->delta), limit, "delta is", text);
}

/* The records of a model; of a study those of its stage that has the least, or the most. */
static double records(const tct_policy *c, bool most) {
  const json_t *stage, *stages = json_object_get(c->file, "stages");
  double found = stages ? NAN : (double)c->model->rows;
  size_t i;
  json_array_foreach(stages, i, stage) {
    double rows = json_number_value(json_object_get(stage, "rows"));
    if (isnan(found) || (most ? rows > found : rows < found)) found = rows;
  }
  return found;
}

static bool max_delta_times_records(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return at_most(claimed(c, c->model->delta * records(c, true)), limit, "delta times the number of records is", text);
}

static bool min_records(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  double found = records(c, false), least = json_number_value(limit);
  return say(found >= least, text, "%.0f records, at least %.0f are required", found, least);
}

static bool among(const char *word, const json_t *limit, const char *what, char text[TEXT]) {
  const json_t *one;
  bool found = false;
  size_t i;
  json_array_foreach(limit, i, one) found |= word && !strcmp(word, json_string_value(one));
  return say(found, text, "%s is %.60s, which is %s", what, word ? word : "not said",
             found ? "allowed" : "not allowed");
}

static bool units(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return among(!c->model->is_private ? NULL
               : c->model->persons   ? "person"
                                     : "record",
               limit, "what is protected", text);
}

static bool neighbours(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  const char *word = c->model->neighbours == TCT_REPLACE_ONE ? "replace_one" : "add_remove";
  return among(c->model->is_private ? word : NULL, limit, "the relation", text);
}

static bool accountants(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return among(c->model->accountant, limit, "the accountant", text);
}

/* ---- the verdict ------------------------------------------------------------------------------------------------ */

/* limit false: it must not be so. */
static bool forbidden(bool found, const json_t *limit, const char *is, const char *is_not, char text[TEXT]) {
  return say(!found || json_is_true(limit), text, "%s", found ? is : is_not);
}

static bool allow_older_rules(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return forbidden(!c->verified->replanned, limit, "its settings could not be planned again: other rules made it",
                   "its settings were planned again", text);
}

static bool allow_seed(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return forbidden(c->model->reproducible, limit, "its noise came from a seed", "its noise is fresh", text);
}

static bool allow_test_ledger(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return forbidden(c->model->for_tests, limit, "it was charged to a ledger for tests", "no ledger for tests", text);
}

static bool allow_unaccounted(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  bool some = c->model->unaccounted[0] != NULL;
  return say(!some || json_is_true(limit), text, "%.250s",
             some ? c->model->unaccounted[0] : "all that was read was paid for");
}

static bool allow_weak_promise(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  tct_caution_facts facts = tct_caution_model(c->model);
  facts.rows = (int64_t)fmin(records(c, true), 0x1p62);
  char caution[TCT_CAUTION_TEXT];
  for (int i = 0; facts.is_private && i < tct_caution_count; i++)
    if (tct_cautions[i].weakens && tct_cautions[i].holds(&facts, caution))
      return say(json_is_true(limit), text, "%.310s", caution);
  return say(true, text, "no caution weakens the promise");
}

/* ---- the ledger ------------------------------------------------------------------------------------------------- */

/* Asks one question of the ledger that was given; the model's own charge is among the checks of the file. */
typedef bool ledger_fn(tct_ledger *ledger, const json_t *limit, char text[TEXT]);

static bool of_ledger(const tct_policy *c, const json_t *limit, ledger_fn *ask, char text[TEXT]) {
  tct_ledger ledger;
  tct_error err = {0};
  if (!c->model->ledger_head) return say(false, text, "the file names no ledger");
  if (!c->ledger) return say(false, text, "the file names a ledger, and none was given to look in");
  if (tct_ledger_open(c->ledger, 0, &ledger, &err) != TCT_OK) return say(false, text, "%.300s", err.text);
  bool holds = ask(&ledger, limit, text);
  tct_ledger_close(&ledger);
  return holds;
}

static bool is_open(tct_ledger *ledger, const json_t *limit, char text[TEXT]) {
  (void)ledger, (void)limit;
  return say(true, text, "its charge was looked for in the ledger");
}

static bool has_anchor(tct_ledger *ledger, const json_t *limit, char text[TEXT]) {
  tct_error err = {0};
  (void)limit;
  if (!ledger->anchor) return say(false, text, "the ledger has no anchor");
  if (tct_anchor_check(ledger, ledger->anchor, &err) != TCT_OK) return say(false, text, "%.300s", err.text);
  return say(true, text, "the row that the ledger's anchor names is in it");
}

static bool budget(tct_ledger *ledger, const json_t *limit, char text[TEXT]) {
  return at_most(ledger->epsilon, limit, "the whole budget of the ledger is epsilon", text);
}

static bool require_ledger(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  bool holds = of_ledger(c, limit, is_open, text);
  return holds || !json_is_true(limit);
}

static bool require_anchor(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  bool holds = of_ledger(c, limit, has_anchor, text);
  return holds || !json_is_true(limit);
}

static bool max_ledger_epsilon(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  return of_ledger(c, limit, budget, text);
}

/* ---- the audit --------------------------------------------------------------------------------------------------- */

/* The settings as asked, the resolved solver and the releases of both are the same, number for number. */
static bool same_plan(const json_t *a, const json_t *b) {
  static const char *const members[] = {"asked", "solver", "promise", "releases", "events", "epsilon", "delta"};
  for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
    const json_t *one = json_object_get(a, members[k]), *two = json_object_get(b, members[k]);
    if (!one || !two || !json_equal(one, two)) return false;
  }
  return true;
}

static const json_t *only_fit(const json_t *of) {
  const json_t *fits = json_object_get(of, "fits");
  return json_array_size(fits) == 1 ? json_array_get(fits, 0) : NULL;
}

tct_status tct_audit_is_of(const json_t *audit, const json_t *file, tct_error *err) {
  const json_t *own = only_fit(json_object_get(file, "privacy")), *other = only_fit(json_object_get(audit, "plan"));
  if (!json_is_object(json_object_get(audit, "audit")) || !json_is_array(json_object_get(audit, "breaks")))
    return tct_fail(err, TCT_E_DATA, "the audit is no answer of {audit}; make it with {make_audit}");
  if (!own) return tct_fail(err, TCT_E_USAGE, "only a model of one fit can be held against the audit of one plan");
  if (!other || !same_plan(own, other))
    return tct_fail(err, TCT_E_USAGE,
                    "the audit is of another plan than the model's; audit the model's own settings and shape");
  return TCT_OK;
}

static bool audited(const tct_policy *c, char text[TEXT]) {
  tct_error err = {0};
  if (!c->audit) return say(false, text, "no audit of its plan was given");
  if (tct_audit_is_of(c->audit, c->file, &err) != TCT_OK) {
    tct_error_reword(&err, TCT_WORDS_CLI);
    return say(false, text, "%.300s", err.text);
  }
  const json_t *unmoved = json_object_get(c->audit, "unmoved");
  size_t breaks = json_array_size(json_object_get(c->audit, "breaks"));
  if (breaks) return say(false, text, "the audit of its plan found %zu breaks", breaks);
  if (!json_is_array(unmoved) || json_array_size(unmoved) > 0)
    return say(false, text, "the audit of its plan moved only a part of what the plan has");
  return say(true, text, "the audit of its plan found no break");
}

static bool require_audit(const tct_policy *c, const json_t *limit, char text[TEXT]) {
  bool holds = audited(c, text);
  return holds || !json_is_true(limit);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static const rule RULES[] = {
    {"max_epsilon", NUMBER, max_epsilon},
    {"max_delta", NUMBER, max_delta},
    {"max_delta_times_records", NUMBER, max_delta_times_records},
    {"min_records", NUMBER, min_records},
    {"units", WORDS, units},
    {"neighbours", WORDS, neighbours},
    {"accountants", WORDS, accountants},
    {"allow_older_rules", YES, allow_older_rules},
    {"allow_seed", YES, allow_seed},
    {"allow_test_ledger", YES, allow_test_ledger},
    {"allow_unaccounted", YES, allow_unaccounted},
    {"allow_weak_promise", YES, allow_weak_promise},
    {"require_ledger", YES, require_ledger},
    {"require_anchor", YES, require_anchor},
    {"max_ledger_epsilon", NUMBER, max_ledger_epsilon},
    {"require_audit", YES, require_audit},
};
enum { COUNT = sizeof RULES / sizeof *RULES };

static const rule *rule_called(const char *name) {
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(RULES[i].name, name)) return &RULES[i];
  return NULL;
}

static bool is_words(const json_t *limit) {
  const json_t *one;
  bool words = json_array_size(limit) > 0;
  size_t i;
  json_array_foreach(limit, i, one) words &= json_is_string(one);
  return words;
}

static tct_status check_limit(const char *key, const json_t *limit, tct_error *err) {
  static const char *const forms[] = {"a number of at least 0", "a list of words", "true or false"};
  const rule *r = rule_called(key);
  if (!strcmp(key, "name") || !strcmp(key, "format"))
    return json_is_string(limit) ? TCT_OK : tct_fail(err, TCT_E_DATA, "the policy's \"%s\" is no text; give one", key);
  if (!r)
    return tct_fail(err, TCT_E_DATA, "the policy has a rule \"%.40s\", which this program does not know; see the guide",
                    key);
  double number = json_number_value(limit);
  bool well = r->kind == NUMBER  ? json_is_number(limit) && number >= 0 && isfinite(number)
              : r->kind == WORDS ? is_words(limit)
                                 : json_is_boolean(limit);
  if (well) return TCT_OK;
  return tct_fail(err, TCT_E_DATA, "the policy's \"%s\" takes %s; correct it", key, forms[r->kind]);
}

static tct_status read_policy(const char *text, tct_policy *with, tct_error *err) {
  json_error_t why = {0};
  json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &why), *limit;
  const char *key, *format = tct_json_said(root, "format");
  with->policy = root;
  if (!json_is_object(root))
    return tct_fail(err, TCT_E_DATA, "the policy is no JSON object (line %d); correct it", why.line > 0 ? why.line : 1);
  if (!format || strcmp(format, "tacit-policy"))
    return tct_fail(err, TCT_E_DATA, "the policy lacks \"format\": \"tacit-policy\"; add it");
  bool any = false;
  json_object_foreach(root, key, limit) {
    TCT_TRY(check_limit(key, limit, err));
    any |= rule_called(key) != NULL;
  }
  return any ? TCT_OK : tct_fail(err, TCT_E_DATA, "the policy has no rule, so that every file keeps it; write one");
}

tct_status tct_policy_read(const char *policy, const char *audit, tct_policy *with, tct_error *err) {
  if (policy) TCT_TRY(read_policy(policy, with, err));
  if (!audit) return TCT_OK;
  with->audit = json_loads(audit, 0, NULL);
  return with->audit ? TCT_OK : tct_fail(err, TCT_E_DATA, "the audit is no JSON; make it with {make_audit}");
}

bool tct_policy_answer(const tct_policy *c, json_t *root) {
  const json_t *limit, *name = json_object_get(c->policy, "name");
  bool all = c->verified->verdict != TCT_VERDICT_REFUSED;
  if (!c->policy) return true;
  json_t *list = json_array();
  for (int i = 0; i < COUNT; i++) {
    char text[TEXT] = "the file cannot be read";
    if (!(limit = json_object_get(c->policy, RULES[i].name))) continue;
    bool holds = c->model && RULES[i].holds(c, limit, text);
    all &= holds;
    json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "rule", RULES[i].name, "ok", holds, "text", text));
  }
  return !json_object_set_new(
      root, "policy",
      json_pack("{s:s, s:b, s:o}", "name", name ? json_string_value(name) : "", "ok", all, "rules", list));
}
