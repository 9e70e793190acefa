/* test_verify.c - verify's checks one by one: each refuses by itself what it is there for.
 *
 * A forged file mostly fails several checks at once, so that a check which has stopped working is seen by nobody who
 * looks at the verdict alone.  Here each is asked for by its name. */
#include "../fault/ledger_help.h"

#include "account/curves/work.h"
#include "model/model.h"

#include <math.h>

static json_t *model; /* of a small private training, as written */

/* The file of a small training with these settings, at row norm 1 by one thread. */
static json_t *written_as(tct_config *config) {
  tct_error err = {0};
  config->delta = 1e-6, config->row_norm = 1, config->threads = 1;
  tct_model *made = train_small(config, &err);
  if (!made || tct_model_write(made, "m.json", &err) != TCT_OK) fail_msg("%s", err.text);
  tct_model_free(made);
  json_t *root = json_load_file("m.json", 0, NULL);
  assert_non_null(root);
  return root;
}

static json_t *written(double epsilon) {
  tct_config config;
  tct_config_default(&config);
  config.loss = "hinge";
  config.penalty = "l1:lambda=0.01";
  config.solver = isfinite(epsilon) ? "dpgd" : "auto";
  config.epsilon = epsilon;
  return written_as(&config);
}

static int enter(void **state) {
  if (enter_folder(state) != 0) return -1;
  model = written(1);
  return 0;
}

static int leave(void **state) {
  json_decref(model);
  return leave_folder(state);
}

/* The report of verify on a model that is written first; text is what the file holds. */
static json_t *report_of_text(const char *text, tct_error *err) {
  FILE *out = fopen("n.json", "wb");
  assert_true(out && fputs(text, out) >= 0 && fclose(out) == 0);
  char *said = tct_verify_json("n.json", NULL, NULL, NULL, NULL, NULL, err);
  return said ? parsed(said, err) : NULL;
}

static json_t *report_of(const json_t *root) {
  tct_error err = {0};
  char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  json_t *report = report_of_text(text, &err);
  if (!report) fail_msg("%s", err.text);
  free(text);
  return report;
}

static void expect(const json_t *root, const char *name, int wanted) {
  json_t *report = report_of(root);
  int is = held(report, name);
  if (is != wanted) fail_msg("check %s says %d, not %d", name, is, wanted);
  assert_true(json_is_true(json_object_get(report, "ok")) || wanted != 1 || is == 1);
  if (wanted == 0) {
    assert_true(json_is_false(json_object_get(report, "ok")));
    assert_string_equal(json_string_value(json_object_get(report, "verdict")), "failed");
  }
  json_decref(report);
}

static json_t *privacy(json_t *root) { return json_object_get(root, "privacy"); }

static json_t *claiming(double epsilon) {
  json_t *root = json_deep_copy(model);
  json_object_set_new(privacy(root), "epsilon", json_real(epsilon));
  return root;
}

static double figure_of(const json_t *report, const char *key) {
  return json_number_value(json_object_get(report, key));
}

static double figure(const char *key) {
  json_t *report = report_of(model);
  double value = figure_of(report, key);
  json_decref(report);
  return value;
}

static void a_model_as_it_was_written_passes_every_check_and_there_are_all_of_them(void **state) {
  (void)state;
  static const char *const names[] = {"fields",     "components", "coefficients", "asked",           "releases",
                                      "union",      "claim",      "events",       "accountant",      "settings",
                                      "recomputed", "second",     "lower_bound",  "claim_of_the_fit"};
  json_t *report = report_of(model);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (held(report, names[i]) != 1) fail_msg("check %s: %d", names[i], held(report, names[i]));
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "verified");
  assert_true(json_is_true(json_object_get(report, "replanned")));
  json_decref(report);
  double claim = figure("epsilon"), lower = figure("epsilon_lower"), second = figure("epsilon_second");
  assert_true(figure("epsilon_recomputed") <= claim * (1 + 1e-9));
  assert_true(lower > 0.99 * claim && lower <= claim * (1 + 1e-6)); /* Gaussian steps: all is exact */
  assert_true(fabs(second / figure("epsilon_recomputed") - 1) < 1e-6);
}

static void a_claim_is_held_to_nine_digits_of_what_its_accountant_proves(void **state) {
  (void)state;
  double proved = figure("epsilon_recomputed");
  static const struct {
    double part;
    int held;
  } rows[] = {{1, 1}, {1 - 5e-10, 1}, {1 - 5e-9, 0}, {1 - 1e-7, 0}, {1 - 5e-3, 0}, {0.5, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *root = claiming(proved * rows[i].part);
    expect(root, "recomputed", rows[i].held);
    json_decref(root);
  }
}

static void a_second_method_refuses_a_low_claim_by_itself(void **state) {
  (void)state;
  double second = figure("epsilon_second");
  static const struct {
    double part;
    int held;
  } rows[] = {{1, 1}, {1 - 1e-5, 0}, {0.98, 0}, {0.5, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *root = claiming(second * rows[i].part);
    expect(root, "second", rows[i].held);
    json_decref(root);
  }
}

static void a_claim_below_the_proven_lower_bound_is_refused_by_that_check_too(void **state) {
  (void)state;
  double lower = figure("epsilon_lower");
  static const struct {
    double part;
    int held;
  } rows[] = {{1, 1}, {1 - 1e-5, 0}, {0.5, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *root = claiming(lower * rows[i].part);
    expect(root, "lower_bound", rows[i].held);
    json_decref(root);
  }
}

static void claims_that_are_no_claims_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *key;
    double value;
  } rows[] = {{"epsilon", 0}, {"epsilon", -1}, {"delta", 0}, {"delta", 1}, {"delta", -1e-9}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *root = json_deep_copy(model);
    json_object_set_new(privacy(root), rows[i].key, json_real(rows[i].value));
    json_t *report = report_of(root);
    assert_true(json_is_false(json_object_get(report, "ok")));
    json_decref(report);
    json_decref(root);
  }
}

static void fewer_events_or_more_of_them_are_refused(void **state) {
  (void)state;
  json_t *root = json_deep_copy(model);
  json_object_set_new(privacy(root), "events", json_array());
  expect(root, "union", 0);
  expect(root, "events", 0);
  json_decref(root);
  root = json_deep_copy(model);
  json_t *events = json_object_get(privacy(root), "events");
  json_array_append(events, json_array_get(events, 0));
  expect(root, "union", 0);
  json_decref(root);
  root = json_deep_copy(model);
  json_array_append_new(json_object_get(privacy(root), "events"), json_string("gaussian:noise=70,count=1"));
  expect(root, "union", 0);
  json_decref(root);
}

static void a_file_with_a_field_too_many_or_too_few_is_refused(void **state) {
  (void)state;
  static const char *const needed[] = {"library", "rows", "labels", "features", "penalty"};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    json_t *root = json_deep_copy(model);
    json_object_del(root, needed[i]);
    expect(root, "fields", 0);
    json_decref(root);
  }
  static const char *const promised[] = {"trust", "unit", "unaccounted", "noise", "adaptive", "accountant"};
  for (size_t i = 0; i < sizeof promised / sizeof *promised; i++) {
    json_t *root = json_deep_copy(model);
    json_object_del(privacy(root), promised[i]);
    expect(root, "fields", 0);
    json_decref(root);
  }
  json_t *root = json_deep_copy(model);
  json_object_set_new(root, "extra", json_integer(1));
  expect(root, "fields", 0);
  json_decref(root);
}

/* Two readers could believe two values: neither the report nor the model comes of such a file. */
static void a_key_that_stands_twice_makes_no_model_and_no_report(void **state) {
  (void)state;
  tct_error err = {0};
  char *text = json_dumps(model, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  size_t room = strlen(text) + 40;
  char *twice = malloc(room);
  const char *keys[] = {"\"rows\":", "\"epsilon\":"};
  for (int k = 0; k < 2; k++) {
    char *at = strstr(text, keys[k]);
    assert_non_null(at);
    snprintf(twice, room, "%.*s%s 1, %s", (int)(at - text), text, keys[k], at);
    tct_error_clear(&err);
    assert_null(report_of_text(twice, &err));
    assert_int_equal(err.status, TCT_E_DATA);
    assert_null(tct_model_read("n.json", NULL, NULL, &err));
    assert_null(tct_model_read(NULL, twice, NULL, &err));
  }
  free(twice);
  free(text);
}

static void a_model_without_privacy_claims_none_and_nothing_else(void **state) {
  (void)state;
  static const struct {
    const char *key;
    const char *value;
  } rows[] = {{"epsilon", "1"}, {"delta", "1"}, {"neighbours", "add_remove"}, {"accountant", "gdp"}};
  json_t *open = written(INFINITY);
  expect(open, "claim", 1);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *root = json_deep_copy(open);
    json_object_set_new(privacy(root), rows[i].key, i < 2 ? json_real(1) : json_string(rows[i].value));
    json_t *report = report_of(root);
    assert_true(json_is_false(json_object_get(report, "ok")));
    json_decref(report);
    json_decref(root);
  }
  json_t *report = report_of(open);
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "none");
  json_decref(report);
  json_decref(open);
}

/* ---- what means nothing ------------------------------------------------------------------------------------------ */

typedef struct kind {
  const char *name, *loss, *penalty, *solver, *scale, *label_scale;
  double epsilon; /* NAN: a solver without privacy */
} kind;

static const kind KINDS[] = {
    {"classes", "logistic", "l2:lambda=0.1", "dpgd", "none", "none", 1},
    {"classes dual", "hinge", "l2:lambda=0.1", "dpscd", "none", "none", 1},
    {"classes ball", "smoothed_hinge", "l1ball:radius=2", "dpfw", "none", "none", 1},
    {"classes coordinates", "logistic", "l2:lambda=0.1", "dpcd", "none", "none", 1},
    {"classes minimum", "logistic", "l2:lambda=0.1", "objpert", "none", "none", 1},
    {"classes metric", "logistic", "none", "dpmetric", "none", "none", 1},
    {"classes scaled", "logistic", "l2:lambda=0.1", "dpgd", "max-abs", "none", 1},
    {"classes joint", "softmax:classes=3", "none", "dpgd", "none", "none", 1},
    {"numbers", "squared", "l2:lambda=0.1", "adassp", "none", "none", 1},
    {"numbers centred", "squared", "l2:lambda=0.1", "dpgd", "none", "center", 1},
    {"counts", "poisson", "l2:lambda=0.1", "dpgd", "none", "none", 1},
    {"open", "hinge", "l2:lambda=0.1", "dpscd", "none", "none", INFINITY},
    {"open plain", "hinge", "l2:lambda=0.1", "scd", "none", "none", NAN},
};

/* The sentence of a run that paid for everything. */
#define NO_MORE                                                                                                     \
  "\"A trusted curator holds the records and runs this program; whoever sees the model file learns what the claim " \
  "allows and no more.\""

/* Members by path and the JSON that they get; every row is a file that agrees in itself. */
static const struct {
  const char *of; /* kinds whose name begins so */
  const char *edit[3][2];
} NOTHINGS[] = {
    {"classes", {{"transforms/label_shift", "0.5"}}},
    {"classes", {{"transforms/label_bound", "2.0"}}},
    {"classes", {{"transforms/label_bound", "2.0"}, {"privacy/fits/0/asked/label_bound", "2.0"}}},
    {"classes", {{"transforms/label_shift", "0.5"}, {"privacy/fits/0/asked/label_shift", "0.5"}}},
    {"classes", {{"privacy/fits/0/asked/label_shift", "0.5"}}},
    {"classes", {{"privacy/fits/0/asked/label_bound", "2.0"}}},
    {"classes", {{"privacy/fits/0/asked/label_scale", "\"center\""}}},
    {"classes", {{"transforms/label_shift", "0.5"}, {"privacy/fits/0/asked/label_scale", "\"center\""}}},
    {"open", {{"transforms/label_bound", "2.0"}, {"privacy/fits/0/asked/label_bound", "2.0"}}},
    {"numbers centred", {{"privacy/fits/0/asked/label_shift", "0.5"}}},
    {"numbers centred", {{"privacy/unaccounted", "[]"}, {"privacy/trust", NO_MORE}}},
    {"classes scaled", {{"privacy/unaccounted", "[]"}, {"privacy/trust", NO_MORE}}},
    {"counts", {{"transforms/label_shift", "0.5"}, {"privacy/fits/0/asked/label_shift", "0.5"}}},
    {"open", {{"privacy/fits/0/asked/delta", "1e-3"}}},
    {"open", {{"privacy/fits/0/count", "2"}}},
    {"open", {{"privacy/choice", "\"exponential:epsilon=1\""}}},
    {"open plain", {{"privacy/fits/0/asked/neighbours", "\"replace_one\""}}},
    {"", {{"privacy/adaptive", "null"}}},
    {"", {{"transforms/penalised_intercept", "0"}}},
    {"", {{"transforms/schema", "[]"}}},
    {"", {{"label", "7"}}},
    {"", {{"loss penalty", "1"}}}, /* both words are keys */
    {"", {{"privacy/choice", "7"}}},
    {"", {{"privacy/choice", "\"gaussian:noise=1e9\""}}},
    {"", {{"privacy/fits/0/asked/columns", "1000000000000"}}}, /* a plan that no memory holds */
};

static void place(json_t *root, const char *path, const char *value) {
  char key[64];
  json_t *at = root;
  const char *end;
  for (; (end = strchr(path, '/')) != NULL; path = end + 1) {
    snprintf(key, sizeof key, "%.*s", (int)(end - path), path);
    at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
  }
  assert_int_equal(json_object_set_new(at, path, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
}

static json_t *written_of(const kind *k) {
  tct_config config;
  tct_config_default(&config);
  config.loss = k->loss, config.penalty = k->penalty, config.solver = k->solver;
  config.scale = k->scale, config.label_scale = k->label_scale;
  config.epsilon = k->epsilon, config.label_bound = 3, config.intercept = 0;
  if (!strcmp(k->solver, "dpcd")) config.neighbours = TCT_REPLACE_ONE;
  return written_as(&config);
}

static void what_means_nothing_for_a_loss_or_a_solver_is_refused_where_it_is_not_neutral(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
    json_t *root = written_of(&KINDS[k]), *report = report_of(root);
    if (!json_is_true(json_object_get(report, "ok"))) fail_msg("%s: %s", KINDS[k].name, json_dumps(report, 0));
    json_decref(report);
    for (size_t i = 0; i < sizeof NOTHINGS / sizeof *NOTHINGS; i++) {
      if (strncmp(KINDS[k].name, NOTHINGS[i].of, strlen(NOTHINGS[i].of)) != 0) continue;
      json_t *edited = json_deep_copy(root);
      for (int e = 0; e < 3 && NOTHINGS[i].edit[e][0]; e++)
        place(edited, NOTHINGS[i].edit[e][0], NOTHINGS[i].edit[e][1]);
      report = report_of(edited);
      if (!json_is_false(json_object_get(report, "ok")))
        fail_msg("%s: %s = %s goes unseen", KINDS[k].name, NOTHINGS[i].edit[0][0], NOTHINGS[i].edit[0][1]);
      json_decref(report);
      json_decref(edited);
    }
    json_decref(root);
  }
}

/* A reader does not plan; what the file itself says of classes is enough for it. */
static void what_means_nothing_for_classes_is_no_model(void **state) {
  (void)state;
  static const char *const edits[][2] = {{"transforms/label_shift", "0.5"}, {"transforms/label_bound", "2.0"}};
  for (int k = 0; k < 2; k++) {
    tct_error err = {0};
    json_t *root = json_deep_copy(model);
    place(root, edits[k][0], edits[k][1]);
    char *text = json_dumps(root, 0);
    assert_null(tct_model_read(NULL, text, NULL, &err));
    assert_non_null(strstr(err.text, "means nothing for labels of classes"));
    free(text);
    json_decref(root);
  }
}

/* A verdict says why in the words of the first check that failed, wherever it stands in the list. */
static void a_refused_file_says_in_its_verdict_which_check_refused_it(void **state) {
  (void)state;
  tct_error err = {0};
  json_t *root = claiming(0.5 * figure("epsilon"));
  char *text = json_dumps(root, JSON_REAL_PRECISION(17));
  tct_text_free(tct_verify_json(NULL, text, NULL, NULL, NULL, NULL, &err));
  free(text);
  assert_int_equal(err.status, TCT_E_DATA);
  json_t *report = report_of(root), *each, *failed = NULL;
  size_t i;
  json_array_foreach(json_object_get(report, "checks"), i, each) {
    if (!failed && !json_is_true(json_object_get(each, "ok"))) failed = each;
  }
  assert_true(failed && failed != json_array_get(json_object_get(report, "checks"), 0));
  assert_string_equal(err.text, json_string_value(json_object_get(failed, "text")));
  json_decref(report);
  json_decref(root);
}

/* Sampled steps: the second method is looser than the accountant, and says so without refusing a sound claim. */
static void a_looser_second_method_does_not_refuse_what_a_tight_accountant_proves(void **state) {
  (void)state;
  tct_config config;
  tct_config_default(&config);
  config.loss = "hinge", config.penalty = "l2:lambda=0.1", config.solver = "dpsgd:batch=4,epochs=2";
  config.epsilon = 1;
  json_t *root = written_as(&config), *report = report_of(root);
  assert_true(json_number_value(json_object_get(report, "epsilon_second")) >
              json_number_value(json_object_get(report, "epsilon")) * 1.001);
  assert_int_equal(held(report, "second"), 1);
  assert_string_equal(json_string_value(json_object_get(report, "verdict")), "verified");
  json_decref(report);
  json_decref(root);
}

/* Standard errors that another solver made, put into the file of one that gives none. */
static void standard_errors_of_a_solver_that_gives_none_are_refused(void **state) {
  (void)state;
  for (int robust = 0; robust < 2; robust++) {
    tct_config config;
    tct_config_default(&config);
    config.loss = "logistic", config.penalty = "l2:lambda=0.1";
    config.solver = robust ? "dponestep:errors=robust" : "dponestep";
    config.epsilon = 1;
    json_t *donor = written_as(&config), *root = json_deep_copy(model);
    assert_non_null(json_object_get(donor, "inference"));
    expect(donor, "standard_errors", 1);
    json_object_set(root, "inference", json_object_get(donor, "inference"));
    expect(root, "standard_errors", 0);
    json_object_set_new(
        privacy(donor), "weights",
        json_pack("{s:f, s:s}", "cap", 2.0, "of", "record")); /* which no door makes but for robust ones */
    expect(donor, "settings", robust);
    json_decref(donor);
    json_decref(root);
  }
}

/* Who may learn what, at which epsilon, is planned again; the file's own words are not believed. */
static void what_each_observer_of_a_run_between_parties_may_learn_is_planned_again(void **state) {
  (void)state;
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic", config.penalty = "l1ball:radius=1", config.solver = "dpfw_parties:parties=2,steps=2";
  config.epsilon = 1, config.intercept = 0;
  json_t *root = written_as(&config), *parties = json_object_get(root, "parties");
  assert_true(json_array_size(json_object_get(parties, "observers")) > 0);
  expect(root, "settings", 1);
  json_t *observer = json_array_get(json_object_get(parties, "observers"), 0);
  double epsilon = json_number_value(json_object_get(observer, "epsilon"));
  json_object_set_new(observer, "epsilon", json_real(epsilon / 2));
  expect(root, "settings", 0);
  json_object_set_new(observer, "epsilon", json_real(epsilon));
  expect(root, "settings", 1);
  json_object_set_new(parties, "count", json_integer(3));
  expect(root, "settings", 0);
  json_object_del(root, "parties");
  expect(root, "settings", 0);
  json_decref(root);
}

/* One that was put into a file: no run without privacy pays for an estimate. */
static void a_model_without_privacy_has_no_estimate(void **state) {
  (void)state;
  json_t *root = written(INFINITY);
  json_object_set_new(privacy(root), "estimate", json_object());
  expect(root, "estimate", 0);
  json_decref(root);
}

static void a_list_is_priced_at_a_delta_and_a_relation_that_there_are(void **state) {
  (void)state;
  static const struct {
    int neighbours;
    double delta;
    int priced;
  } rows[] = {{0, 1e-6, 1}, {1, 1e-6, 1}, {1, 0.5, 1},  {0, 1, 0},    {0, 2, 0},
              {0, -1, 0},   {0, NAN, 0},  {2, 1e-6, 0}, {-1, 1e-6, 0}};
  static const char *const events[] = {"gaussian:noise=1"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tct_error err = {0};
    char *text = tct_account_json(events, 1, (tct_neighbours)rows[i].neighbours, rows[i].delta, &err);
    if ((text != NULL) != rows[i].priced) fail_msg("row %zu: %s", i, err.text);
    tct_text_free(text);
  }
}

/* ---- what verifying takes ---------------------------------------------------------------------------------------- */

/* A file with `count` events, no two alike, whose claim nobody doubts. */
static json_t *with_events(const char *spec, double least, int count, const char *rest) {
  json_t *root = json_deep_copy(model), *events = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(events, json_sprintf("%s=%.10g%s", spec, least * (1 + 1e-4 * i), rest));
  json_object_set_new(privacy(root), "events", events);
  json_object_set_new(privacy(root), "epsilon", json_real(1e6));
  json_object_set_new(privacy(root), "accountant", json_string("pld"));
  return root;
}

static void a_file_is_refused_by_the_count_of_its_work(void **state) {
  (void)state;
  static const struct {
    const char *kind, *rest;
    double least;
    int events;
    bool refused, heard; /* for the work; there is a second opinion */
  } rows[] = {
      {"sampled_gaussian:noise", ",rate=0.01", 1, 3, false, true},
      {"exponential:epsilon", "", 1e-3, 40, false, true},
      {"exponential:epsilon", "", 1e-3, 600, false, false},
      {"sampled_gaussian:noise", ",rate=0.01", 1, 2000, true, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *root = with_events(rows[i].kind, rows[i].least, rows[i].events, rows[i].rest);
    tct_work before = tct_work_begin(INFINITY);
    json_t *report = report_of(root);
    tct_work own = tct_work_end(before);
    char *text = json_dumps(report, 0);
    bool refused = strstr(text, "more work than is done for one"), heard = figure_of(report, "epsilon_second") > 0;
    if (!(own.spent <= TCT_WORK_VERIFY) || refused != rows[i].refused || held(report, "recomputed") != !refused ||
        heard != rows[i].heard)
      fail_msg("%d of %s: %.3g units, %s", rows[i].events, rows[i].kind, own.spent, text);
    free(text);
    json_decref(report);
    json_decref(root);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_as_it_was_written_passes_every_check_and_there_are_all_of_them),
      cmocka_unit_test(a_claim_is_held_to_nine_digits_of_what_its_accountant_proves),
      cmocka_unit_test(a_second_method_refuses_a_low_claim_by_itself),
      cmocka_unit_test(a_claim_below_the_proven_lower_bound_is_refused_by_that_check_too),
      cmocka_unit_test(claims_that_are_no_claims_are_refused),
      cmocka_unit_test(fewer_events_or_more_of_them_are_refused),
      cmocka_unit_test(a_file_with_a_field_too_many_or_too_few_is_refused),
      cmocka_unit_test(a_key_that_stands_twice_makes_no_model_and_no_report),
      cmocka_unit_test(a_model_without_privacy_claims_none_and_nothing_else),
      cmocka_unit_test(what_means_nothing_for_a_loss_or_a_solver_is_refused_where_it_is_not_neutral),
      cmocka_unit_test(what_means_nothing_for_classes_is_no_model),
      cmocka_unit_test(a_refused_file_says_in_its_verdict_which_check_refused_it),
      cmocka_unit_test(a_looser_second_method_does_not_refuse_what_a_tight_accountant_proves),
      cmocka_unit_test(standard_errors_of_a_solver_that_gives_none_are_refused),
      cmocka_unit_test(what_each_observer_of_a_run_between_parties_may_learn_is_planned_again),
      cmocka_unit_test(a_model_without_privacy_has_no_estimate),
      cmocka_unit_test(a_list_is_priced_at_a_delta_and_a_relation_that_there_are),
      cmocka_unit_test(a_file_is_refused_by_the_count_of_its_work),
  };
  return cmocka_run_group_tests(tests, enter, leave);
}
