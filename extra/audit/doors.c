/* doors.c - one run of a door of its own under attack: an estimate with its fit, scores of a model, a search.
 *
 * A plan names them by "door" beside what a plan of a study says.  Its stages are those of the run: an estimate and a
 * fit, a fit and its score, or the fits that a search chooses among.  The model that is scored is made before any
 * attack, of another table.  What such a run costs is promised in epsilon and delta.  Gaussian releases that tell more
 * apart than these allow are a break, and so is a file that does not verify. */
#include "audit/audit.h"
#include "core/number.h"

#include <string.h>

enum { MOST = 8 }; /* fits of a search */

static const json_t *stage_at(const tct_audit *a, size_t i) {
  return json_array_get(json_object_get(a->study, "stages"), i);
}

static bool is(const json_t *stage, const char *kind) { return tct_json_says(stage, "kind", kind); }

/* The fit, or the first of them. */
static const json_t *fit_of(const tct_audit *a) { return stage_at(a, a->door == TCT_DOOR_ESTIMATE); }

static tct_config config_of(const tct_audit *a, const json_t *fit) {
  tct_config c;
  const char *penalty = tct_json_said(fit, "penalty"), *errors = tct_json_said(fit, "errors");
  tct_config_default(&c);
  c.loss = tct_json_said(fit, "loss"), c.solver = tct_json_said(fit, "solver");
  if (penalty) c.penalty = penalty;
  if (errors) c.errors = errors;
  c.epsilon = a->epsilon, c.delta = a->delta;
  c.neighbours = a->replaces ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
  c.threads = 1, c.has_seed = 1;
  return c;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* The fit's outcome is the label of the schema, no column. */
static json_t *schema_of(const tct_audit *a) {
  static const char *const kept[] = {"name", "values", "lower", "upper"};
  const char *label = tct_json_said(fit_of(a), "label");
  json_t *schema = json_deep_copy(json_object_get(a->study, "schema")), *columns = json_object_get(schema, "columns"),
         *out = json_object(), *column;
  size_t i;
  json_array_foreach(columns, i, column) {
    if (!tct_json_says(column, "name", label)) continue;
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
      if (json_object_get(column, kept[k])) json_object_set(out, kept[k], json_object_get(column, kept[k]));
    json_array_remove(columns, i--);
  }
  if (tct_json_said(fit_of(a), "positive")) json_object_set(out, "positive", json_object_get(fit_of(a), "positive"));
  json_object_set_new(schema, "label", out);
  return schema;
}

static tct_data *read_side(const tct_audit *a, const char *path, uint64_t seed, tct_error *err) {
  tct_config c = config_of(a, fit_of(a));
  tct_read_options options;
  tct_read_options_default(&options);
  options.invalid = TCT_INVALID_ZERO, options.labels = (int32_t)tct_config_labels(&c);
  options.schema_text = a->schema, options.key = tct_json_said(a->study, "person");
  tct_data *data = tct_data_read(path, &options, err);
  json_int_t most = json_integer_value(json_object_get(a->study, "rows_per_person"));
  if (!data || !options.key || tct_data_weigh_persons(data, NULL, most, &seed, err) == TCT_OK) return data;
  tct_data_free(data);
  return NULL;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static tct_model *fit(const tct_data *data, const tct_config *asked, tct_error *err) {
  tct_config c = *asked;
  bool known = tct_config_use_schema(&c, data, NULL, NULL, err) == TCT_OK;
  tct_plan *plan = known ? tct_plan_new(&c, tct_data_rows(data), tct_data_cols(data), err) : NULL;
  tct_model *model = plan ? tct_fit(plan, data, err) : NULL;
  tct_plan_free(plan);
  return model;
}

static char *estimated(const tct_audit *a, tct_data *data, uint64_t seed, tct_error *err) {
  tct_config c = config_of(a, fit_of(a));
  char spec[100];
  double part = json_number_value(json_object_get(stage_at(a, 0), "budget_fraction"));
  const char *what = tct_json_said(stage_at(a, 0), "what");
  snprintf(spec, sizeof spec, "%.60s:budget_fraction=%g", what ? what : "bounds", part > 0 ? part : 0.3);
  c.estimate = spec, c.seed = seed;
  if (tct_data_estimate(data, &c, err) != TCT_OK) return NULL;
  tct_model *model = fit(data, &c, err);
  char *text = model ? tct_model_json(model, err) : NULL;
  tct_model_free(model);
  return text;
}

/* Planned by the first table: its shape is that of all. */
static tct_composition *plan_search(const tct_audit *a, const tct_data *data, tct_error *err) {
  tct_config own[MOST];
  const tct_config *each[MOST];
  tct_search how;
  size_t count = json_array_size(json_object_get(a->study, "stages"));
  for (size_t k = 0; k < count; k++) {
    own[k] = config_of(a, stage_at(a, k)), each[k] = &own[k];
    if (tct_config_use_schema(&own[k], data, NULL, NULL, err) != TCT_OK) return NULL;
  }
  tct_search_default(&how);
  how.tries = 0, how.persons = tct_json_said(a->study, "person") != NULL;
  return tct_search_plan(each, count, &how, tct_data_rows(data), tct_data_cols(data), err);
}

static char *searched(tct_audit *a, const tct_data *data, uint64_t seed, tct_error *err) {
  tct_config run = config_of(a, fit_of(a));
  run.seed = seed;
  if (!a->searched) a->searched = plan_search(a, data, err);
  tct_model *model = a->searched ? tct_fit_search(a->searched, data, &run, NULL, NULL, err) : NULL;
  char *text = model ? tct_model_json(model, err) : NULL;
  tct_model_free(model);
  return text;
}

/* That an honest run's file verifies is asked once. */
static void check_file(tct_audit *a, const char *text) {
  tct_verdict verdict;
  tct_error err = {0};
  char *told = tct_verify_json(NULL, text, NULL, NULL, NULL, &verdict, &err);
  tct_text_free(told);
  if (told && verdict == TCT_VERDICT_REFUSED)
    tct_audit_break(a, "verify: the file of a run does not verify (%.300s)", err.text);
}

char *tct_audit_door_run(tct_audit *a, const char *path, uint64_t seed, tct_error *err) {
  tct_data *data = read_side(a, path, seed, err);
  if (!data) return NULL;
  tct_config c = config_of(a, fit_of(a));
  c.seed = seed;
  char *text = a->door == TCT_DOOR_ESTIMATE ? estimated(a, data, seed, err)
               : a->door == TCT_DOOR_SEARCH ? searched(a, data, seed, err)
                                            : tct_evaluate_json(a->scored, data, &c, err);
  tct_data_free(data);
  if (text && a->fits == 0 && a->door != TCT_DOOR_EVALUATE) check_file(a, text);
  return text;
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

/* The largest shift of one Gaussian that the promise allows. */
static double most_shift(const tct_audit *a) {
  double low = 0, high = 1e3;
  TCT_HALVE(halving < 60, low, high, shift, !(tct_audit_gaussian_delta(shift, a->epsilon) <= a->delta));
  return high;
}

static tct_status make_scored(tct_audit *a, tct_error *err) {
  tct_pair pair;
  tct_side side = {0};
  char path[40];
  TCT_TRY(tct_pair_new(a, &pair, err));
  tct_pair_invent(a, &pair, 1);
  tct_status status = tct_side_new(a, &pair, 1, &side, err);
  tct_data *data = NULL;
  if (status == TCT_OK) {
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(side.file));
    data = read_side(a, path, 1, err);
  }
  tct_config c = config_of(a, fit_of(a));
  if (data) a->scored = fit(data, &c, err);
  tct_data_free(data);
  tct_side_free(&side);
  tct_pair_free(a, &pair);
  return a->scored ? TCT_OK : err->status;
}

tct_status tct_audit_door_begin(tct_audit *a, const char *door, tct_error *err) {
  static const char *const names[] = {
      [TCT_DOOR_ESTIMATE] = "estimate", [TCT_DOOR_EVALUATE] = "evaluate", [TCT_DOOR_SEARCH] = "search"};
  size_t count = json_array_size(json_object_get(a->study, "stages"));
  for (int k = TCT_DOOR_ESTIMATE; k <= TCT_DOOR_SEARCH; k++)
    if (!strcmp(door, names[k])) a->door = (tct_audit_door)k;
  bool fits = a->door == TCT_DOOR_SEARCH && count >= 2 && count <= MOST;
  for (size_t k = 0; k < count && fits; k++) fits = is(stage_at(a, k), "fit");
  bool pair = count == 2 && (a->door == TCT_DOOR_ESTIMATE ? is(stage_at(a, 0), "estimate") && is(stage_at(a, 1), "fit")
                             : a->door == TCT_DOOR_EVALUATE ? is(stage_at(a, 0), "fit") && is(stage_at(a, 1), "score")
                                                            : false);
  if (!fits && !pair)
    return tct_fail(err, TCT_E_USAGE,
                    "\"door\" is estimate (stages: an estimate, a fit), evaluate (a fit, its score) or search (2 to %d "
                    "fits); write one of them",
                    MOST);
  json_t *schema = schema_of(a);
  a->schema = tct_json_dump(schema, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(schema);
  if (!a->schema) return tct_fail_memory(err);
  json_object_set_new(a->planned, "events", json_array()); /* the promise alone is attacked */
  a->most_shift = most_shift(a);
  return a->door == TCT_DOOR_EVALUATE ? make_scored(a, err) : TCT_OK;
}
