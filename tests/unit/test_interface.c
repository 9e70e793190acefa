/* test_interface.c - the interface in types: sizes of structs, facts, names of a view, progress, verdicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"
#include "several/composition.h"
#include "train/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 200, P = 2 };

static double values[N * P], y[N];
static const tct_matrix x = {.rows = N, .cols = P, .values = values, .stride = P};

static tct_config settings(const char *solver) {
  tct_config c;
  tct_config_default(&c);
  c.loss = "logistic", c.penalty = "l2:lambda=1e-2", c.solver = solver;
  c.epsilon = 1, c.delta = 1e-5, c.row_norm = 1.5, c.threads = 1, c.has_seed = 1, c.seed = 5;
  return c;
}

static tct_data *records(void) {
  tct_error err;
  for (int i = 0; i < N; i++)
    values[i * P] = (i - 99.5) / 200, values[i * P + 1] = i % 7 / 7.0, y[i] = i < 100 ? -1 : 1;
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_non_null(data);
  return data;
}

static tct_model *fitted(const tct_config *config, const tct_data *data) {
  tct_error err;
  tct_plan *plan = tct_plan_new(config, N, P, &err);
  if (!plan) fail_msg("%s: %s", config->solver, err.text);
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) fail_msg("%s: %s", config->solver, err.text);
  tct_plan_free(plan);
  return model;
}

/* ---- a forked child ---------------------------------------------------------------------------------------------- */

enum { MANY = 20000, WIDE = 20 };

static const char *const threaded[] = {"dpgd:steps=3", "dpscd:epochs=1,batch=8000", "dpcd:passes=1", "dpagd:steps=3",
                                       "objpert"};
enum { THREADED = sizeof threaded / sizeof *threaded };

static tct_data *many_records(void) {
  static double wide[MANY * WIDE], label[MANY];
  static const tct_matrix m = {.rows = MANY, .cols = WIDE, .values = wide, .stride = WIDE};
  tct_error err;
  for (int k = 0; k < MANY * WIDE; k++) wide[k] = k * 2654435761u % 1000 / 1000.0 - 0.5;
  for (int i = 0; i < MANY; i++) label[i] = wide[i * WIDE] > 0 ? 1 : -1;
  tct_data *data = tct_data_view(&m, label, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_non_null(data);
  return data;
}

/* NULL: an error, with its sentence. */
static char *fitted_by_two(const char *solver, const tct_data *data, tct_error *err) {
  tct_config c = settings(solver);
  c.threads = 2;
  tct_plan *plan = tct_plan_new(&c, MANY, WIDE, err);
  tct_model *model = plan ? tct_fit(plan, data, err) : NULL;
  char *text = model ? tct_model_json(model, err) : NULL;
  tct_model_free(model);
  tct_plan_free(plan);
  return text;
}

/* What OpenMP knows of its threads is copied, the threads are not: without care the child waits for them for ever. */
static void a_fit_in_a_forked_child_ends_with_the_same_model(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = many_records();
  for (int k = 0; k < THREADED; k++) {
    int ended = 0;
    char *before = fitted_by_two(threaded[k], data, &err);
    if (!before) fail_msg("%s: %s", threaded[k], err.text);
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      char *own = fitted_by_two(threaded[k], data, &err);
      bool same = own && strcmp(own, before) == 0;
      tct_text_free(own);
      tct_text_free(before);
      tct_data_free(data); /* valgrind looks at the child's memory too */
      _exit(!same);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (WIFSIGNALED(ended)) fail_msg("%s: the child did not end", threaded[k]);
    if (WEXITSTATUS(ended) != 0) fail_msg("%s: the child has another model, or none", threaded[k]);
    char *after = fitted_by_two(threaded[k], data, &err); /* and the parent goes on */
    assert_string_equal(after, before);
    tct_text_free(after);
    tct_text_free(before);
  }
  tct_data_free(data);
}

/* ---- sizes ----------------------------------------------------------------------------------------------------- */

/* A struct of a newer tacit.h: something behind what this library has. */
typedef struct newer {
  tct_config config;
  double more;
} newer;

static tct_status planned(const void *config) {
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(config, N, P, &err);
  assert_true(!plan == (err.status != TCT_OK));
  tct_plan_free(plan);
  return err.status;
}

static void a_newer_programs_settings_are_taken_while_what_is_new_in_them_is_zero(void **state) {
  (void)state;
  newer n;
  tct_config_default_sized(&n.config, sizeof n);
  assert_true(n.config.size == sizeof n && n.more == 0 && n.config.intercept == 1);
  tct_config c = settings("dpgd");
  c.size = sizeof n;
  n.config = c;
  assert_int_equal(planned(&n), TCT_OK);
  n.more = 1;
  assert_int_equal(planned(&n), TCT_E_USAGE);
}

static void a_size_that_no_version_had_is_refused(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 8, offsetof(tct_config, user), 5000, SIZE_MAX};
  for (int k = 0; k < 5; k++) {
    tct_config c = settings("dpgd");
    c.size = sizes[k];
    assert_int_equal(planned(&c), TCT_E_USAGE);
    assert_int_equal(tct_config_check(&c, 0, NULL), TCT_E_USAGE);
    assert_int_equal(tct_config_labels(&c), TCT_LABELS_UNKNOWN);
  }
  assert_int_equal(planned(NULL), TCT_E_USAGE);
  tct_error err;
  tct_read_options options = {0};
  tct_session session = {0};
  tct_ledger_options ledger = {0};
  tct_charge charge = {0};
  tct_amendment amendment = {0};
  tct_config c = settings("dpgd");
  const char *event = "pure:epsilon=0.1";
  tct_data *data = records();
  tct_model *model = fitted(&c, data);
  assert_null(tct_data_read("nowhere", &options, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_null(tct_serve(&c, &session, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_null(tct_join(&c, data, &session, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_int_equal(tct_ledger_make("nowhere/L", &ledger, &err), TCT_E_USAGE);
  assert_null(tct_ledger_charge("nowhere/L", &event, 1, &charge, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_int_equal(tct_model_amend(model, &amendment, &err), TCT_E_USAGE);
  tct_model_free(model);
  tct_data_free(data);
}

/* What is added to a model's file is there, all of it, and nothing twice. */
static void an_amendment_tells_every_fact(void **state) {
  (void)state;
  static const char *const facts[] = {"a first fact", "a second one", "a first fact", NULL};
  tct_error err;
  tct_config c = settings("dpgd");
  tct_data *data = records();
  tct_model *model = fitted(&c, data);
  char run[] = "run", head[] = "head";
  const tct_ledger_receipt receipt = {.head = head, .run = run, .for_tests = 1};
  const tct_composition none = {0};
  tct_amendment all;
  tct_amendment_default(&all);
  all.unaccounted = facts;
  assert_int_equal(tct_model_amend(model, &all, &err), TCT_OK);
  assert_int_equal(tct_model_claim(model, &none, &receipt, false, (char *const *)facts, &err), TCT_OK);
  char *text = tct_model_json(model, &err);
  json_t *root = json_loads(text, 0, NULL), *privacy = json_object_get(root, "privacy"),
         *list = json_object_get(privacy, "unaccounted"), *ledger = json_object_get(privacy, "ledger");
  int found[2] = {0};
  for (size_t i = 0; i < json_array_size(list); i++)
    for (int k = 0; k < 2; k++) found[k] += !strcmp(json_string_value(json_array_get(list, i)), facts[k]);
  assert_true(found[0] == 1 && found[1] == 1);
  assert_true(json_is_true(json_object_get(ledger, "for_tests")));
  json_decref(root);
  tct_text_free(text);
  tct_model_free(model);
  tct_data_free(data);
}

/* ---- what a plan and a model say ------------------------------------------------------------------------------- */

static double number_in(const json_t *o, const char *key) {
  const json_t *value = json_object_get(o, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static json_t *said(char *text) {
  json_t *root = json_loads(text, 0, NULL);
  assert_non_null(root);
  tct_text_free(text);
  return root;
}

static void a_plan_says_its_bounds_and_what_the_model_file_will_say(void **state) {
  (void)state;
  static const char *const same[] = {"solver", "loss", "penalty", "rows", "columns"};
  static const char *const claimed[] = {"private", "epsilon", "delta", "neighbours", "accountant", "fits"};
  static const char *const solvers[] = {"dpgd",    "dpscd", "dpmetric", "dpcd:order=greedy,inner=3",
                                        "objpert", "dpagd", "auto"};
  tct_data *data = records();
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
    tct_error err;
    tct_config c = settings(solvers[k]);
    tct_plan *plan = tct_plan_new(&c, N, P, &err);
    tct_model *model = fitted(&c, data);
    json_t *planned = said(tct_plan_json(plan, &err)), *file = said(tct_model_json(model, &err));
    const json_t *privacy = json_object_get(file, "privacy");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
      assert_true(json_equal(json_object_get(planned, same[i]), json_object_get(file, same[i])));
    for (size_t i = 0; i < sizeof claimed / sizeof *claimed; i++)
      if (!json_equal(json_object_get(planned, claimed[i]), json_object_get(privacy, claimed[i])))
        fail_msg("%s: %s", solvers[k], claimed[i]);
    assert_true(!json_object_get(planned, "why") == (strcmp(solvers[k], "auto") != 0));
    assert_true(number_in(planned, "row_norm") == 1.5 && number_in(planned, "label_bound") == 1);
    assert_true(json_is_true(json_object_get(planned, "intercept")));
    int64_t models, cols;
    tct_model_shape(model, &models, &cols);
    assert_true(models == 1 && cols == P);
    double largest = fmax(fabs(tct_model_coefficients(model)[0]), fabs(tct_model_intercepts(model)[0]));
    assert_true(largest > 0 && number_in(planned, "weight_bound") > largest);
    json_decref(planned);
    json_decref(file);
    tct_model_free(model);
    tct_plan_free(plan);
  }
  tct_data_free(data);
}

static void without_privacy_a_plan_promises_nothing(void **state) {
  (void)state;
  tct_config c = settings("scd");
  c.epsilon = c.delta = NAN;
  tct_plan *plan = tct_plan_new(&c, N, P, NULL);
  json_t *planned = said(tct_plan_json(plan, NULL));
  assert_true(json_is_false(json_object_get(planned, "private")));
  assert_true(isnan(number_in(planned, "epsilon")) && isnan(number_in(planned, "delta")));
  assert_true(isnan(number_in(planned, "weight_bound")) && json_is_null(json_object_get(planned, "accountant")));
  const json_t *fit = json_array_get(json_object_get(planned, "fits"), 0);
  assert_int_equal(json_array_size(json_object_get(fit, "releases")), 0);
  json_decref(planned);
  tct_plan_free(plan);
}

/* ---- a view's names and schema --------------------------------------------------------------------------------- */

static double covariance_in(const json_t *told, size_t j, size_t k) {
  const json_t *all = json_object_get(json_object_get(told, "covariance"), "population");
  return json_number_value(json_array_get(json_array_get(all, j), k));
}

static void sums_of_weights_have_their_errors_and_covariances(void **state) {
  (void)state;
  enum { SUMS = 4 };
  double sums[SUMS][P + 1] = {{1, 0, 0}, {0, 1, 0}, {2, -1, 0}, {0, 0.5, 1}};
  tct_error err = {0};
  tct_config c = settings(NULL);
  c.epsilon = 1e4, c.errors = "robust";
  tct_data *data = records();
  tct_model *model = fitted(&c, data);
  json_t *told = said(tct_summary_json(model, 0.9, 1, sums[0], SUMS, &err));
  const json_t *lines = json_object_get(told, "weights");
  const double *w = tct_model_coefficients(model), b = tct_model_intercepts(model)[0];
  double wanted[SUMS] = {w[0], w[1], 2 * w[0] - w[1], 0.5 * w[1] + b};
  assert_int_equal(json_array_size(lines), SUMS);
  for (size_t k = 0; k < SUMS; k++) {
    const json_t *line = json_array_get(lines, k);
    double error = number_in(line, "standard_error");
    assert_true(fabs(number_in(line, "estimate") - wanted[k]) <= 1e-12);
    assert_true(fabs(error * error - covariance_in(told, k, k)) <= 1e-12 * error * error);
  }
  double between = 4 * covariance_in(told, 0, 0) - 4 * covariance_in(told, 0, 1) + covariance_in(told, 1, 1);
  assert_true(fabs(covariance_in(told, 2, 2) - between) <= 1e-9 * between);
  json_decref(told);
  sums[1][1] = NAN;
  assert_null(tct_summary_json(model, 0.9, 1, sums[0], SUMS, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  tct_model_free(model);
  tct_data_free(data);
}

static const char SCHEMA[] =
    "{\"columns\": [{\"name\": \"age\", \"type\": \"number\", \"lower\": 0, \"upper\": 99},"
    "{\"name\": \"city\", \"type\": \"category\", \"values\": [\"A\"]}],"
    "\"label\": {\"name\": \"sick\"}}";

static void a_views_names_are_copied_and_end_in_the_model(void **state) {
  (void)state;
  tct_error err;
  char first[8] = "one", second[8] = "two";
  const char *names[P] = {first, second};
  tct_data_free(records());
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_BINARY, names, NULL, &err);
  assert_non_null(data);
  first[0] = 0, names[1] = NULL;
  tct_config c = settings("dpgd");
  tct_model *model = fitted(&c, data);
  assert_string_equal(model->features[0], "one");
  assert_string_equal(model->features[1], "two");
  tct_model_free(model);
  tct_data_free(data);
  assert_null(tct_data_view(&x, y, TCT_LABELS_BINARY, names, NULL, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
}

static void a_views_schema_gives_names_and_bounds_and_must_make_as_many_features(void **state) {
  (void)state;
  tct_error err;
  tct_data_free(records());
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_BINARY, NULL, SCHEMA, &err);
  if (!data) fail_msg("%s", err.text);
  tct_config c = settings("dpgd");
  c.row_norm = NAN;
  assert_int_equal(tct_config_use_schema(&c, data, NULL, NULL, &err), TCT_OK);
  assert_true(c.row_norm == sqrt(3)); /* two columns and the intercept */
  tct_model *model = fitted(&c, data);
  assert_string_equal(model->features[0], "age");
  assert_string_equal(model->features[1], "city=A");
  assert_string_equal(model->label, "sick");
  assert_non_null(strstr(tct_model_schema(model), "\"city\""));
  tct_model_free(model);
  tct_data_free(data);
  tct_matrix narrow = x;
  narrow.cols = 1;
  assert_null(tct_data_view(&narrow, y, TCT_LABELS_BINARY, NULL, SCHEMA, &err));
  assert_int_equal(err.status, TCT_E_DATA);
}

/* ---- progress -------------------------------------------------------------------------------------------------- */

typedef struct seen {
  double last;
  int calls, ends, cancel_at;
} seen;

static void note(double fraction, void *user) {
  seen *s = user;
  if (!(fraction >= s->last && fraction <= 1)) fail_msg("progress went from %.17g to %.17g", s->last, fraction);
  s->last = fraction, s->calls++, s->ends += fraction == 1;
}

static int stop(void *user) {
  const seen *s = user;
  return s->cancel_at > 0 && s->calls >= s->cancel_at;
}

static void progress_never_goes_back_and_has_1_once_at_the_end_of_a_success(void **state) {
  (void)state;
  tct_data *data = records();
  for (int k = 0; k < tct_solver_count; k++) {
    const tct_solver *solver = tct_solvers[k];
    tct_error err;
    seen s = {0};
    tct_config c = settings(solver->name);
    if (!solver->is_private) c.epsilon = c.delta = NAN;
    c.intercept = !solver->by_parties;
    c.progress = note, c.cancel = stop, c.user = &s;
    tct_plan *plan = tct_plan_new(&c, N, P, &err);
    if (!plan) c.penalty = "l1ball:radius=1", plan = tct_plan_new(&c, N, P, &err);
    if (!plan) c.penalty = "none", plan = tct_plan_new(&c, N, P, &err);
    if (!plan) continue; /* another loss */
    tct_model *model = tct_fit(plan, data, &err);
    if (!model) fail_msg("%s: %s", solver->name, err.text);
    if (s.ends != 1 || s.last != 1) fail_msg("%s: ended %d times, last %.17g", solver->name, s.ends, s.last);
    tct_model_free(model);
    s = (seen){.cancel_at = 1};
    model = tct_fit(plan, data, &err);
    if (!model && s.ends) fail_msg("%s: was cancelled and yet came to 1", solver->name);
    tct_model_free(model);
    tct_plan_free(plan);
  }
  tct_data_free(data);
}

static void progress_over_classes_ends_at_1_too(void **state) {
  (void)state;
  tct_error err;
  seen s = {0};
  tct_data *two = records();
  tct_config c = settings("dpgd");
  c.progress = note, c.user = &s, c.classes = 7;
  double code[N];
  for (int i = 0; i < N; i++) code[i] = i % 7;
  tct_data *data = tct_data_relabel(two, code, TCT_LABELS_CLASSES, NULL, 0, 0, &err);
  tct_plan *plan = tct_plan_new(&c, N, P, &err);
  if (!plan) fail_msg("%s", err.text);
  tct_model *model = tct_fit(plan, data, &err);
  assert_non_null(model);
  assert_true(s.ends == 1 && s.last == 1 && s.calls > 7);
  tct_model_free(model);
  tct_plan_free(plan);
  tct_data_free(data);
  tct_data_free(two);
}

/* ---- answers that are a yes or a no ---------------------------------------------------------------------------- */

/* The verdict on the model's file, by the file or by its text. */
static tct_verdict verdict_on(const tct_model *model, const char *path, tct_error *err) {
  tct_verdict verdict = TCT_VERDICT_IN_PART;
  char *text = path ? NULL : tct_model_json(model, err);
  if (path) assert_int_equal(tct_model_write(model, path, err), TCT_OK);
  char *answer = tct_verify_json(path, text, NULL, NULL, NULL, &verdict, err);
  assert_non_null(answer);
  tct_text_free(answer);
  tct_text_free(text);
  return verdict;
}

static void a_forged_claim_is_an_error_with_its_verdict(void **state) {
  (void)state;
  tct_error err;
  char path[] = "/tmp/test_interface_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0 && close(file) == 0);
  tct_data *data = records();
  tct_config c = settings("dpgd");
  tct_model *model = fitted(&c, data);
  for (int by_text = 0; by_text < 2; by_text++) {
    model->epsilon = 1;
    tct_verdict verdict = verdict_on(model, by_text ? NULL : path, &err);
    assert_true(verdict == TCT_VERDICT_REPRODUCIBLE && err.status == TCT_OK);
    model->epsilon = 0.5;
    verdict = verdict_on(model, by_text ? NULL : path, &err);
    assert_true(verdict == TCT_VERDICT_REFUSED && err.status == TCT_E_DATA);
    assert_true(err.text[0]);
  }
  assert_null(tct_verify_json(path, "{}", NULL, NULL, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_null(tct_model_read(NULL, NULL, NULL, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  unlink(path);
  tct_model_free(model);
  tct_data_free(data);
}

static void cost_and_calibration_do_not_stand_in_for_each_other(void **state) {
  (void)state;
  tct_error err;
  const char *whole = "gaussian:noise=3,count=2", *open = "gaussian:count=2";
  char *text = tct_account_json(&whole, 1, TCT_ADD_REMOVE, 1e-6, &err);
  assert_non_null(text);
  tct_text_free(text);
  assert_null(tct_account_json(&open, 1, TCT_ADD_REMOVE, 1e-6, &err));
  assert_null(tct_calibrate_json(&whole, 1, TCT_ADD_REMOVE, 1, 1e-6, &err));
  assert_null(tct_calibrate_json(&open, 1, TCT_ADD_REMOVE, NAN, 1e-6, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_null(tct_calibrate_json(&open, 1, TCT_ADD_REMOVE, INFINITY, 1e-6, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  text = tct_calibrate_json(&open, 1, TCT_ADD_REMOVE, 1, 1e-6, &err);
  assert_non_null(strstr(text, "\"noise\""));
  tct_text_free(text);
}

/* The number after the key's next occurrence; *at moves behind the key.  NAN: there is none. */
static double number_after(const char **at, const char *key) {
  const char *found = strstr(*at, key);
  if (!found) return NAN;
  *at = found + strlen(key);
  return strtod(*at, NULL);
}

static double cost_of_steps(int first, int second) {
  char one[64], two[64];
  const char *events[2] = {one, two};
  snprintf(one, sizeof one, "gaussian:noise=3,count=%d", first);
  snprintf(two, sizeof two, "gaussian:noise=2,count=%d", second > 0 ? second : 1);
  char *text = tct_account_json(events, second > 0 ? 2 : 1, TCT_ADD_REMOVE, 1e-6, NULL);
  assert_non_null(text);
  const char *at = text;
  double cost = number_after(&at, "\"epsilon\":");
  tct_text_free(text);
  return cost;
}

/* Four of the first event and six of the second: the steps done at four points of the list. */
static void a_curve_against_steps_has_the_cost_of_each_beginning_of_the_list(void **state) {
  (void)state;
  static const int first[4] = {1, 4, 4, 4}, second[4] = {0, 0, 3, 6};
  const char *events[2] = {"gaussian:noise=3,count=4", "gaussian:noise=2,count=6"};
  tct_error err;
  char *text = tct_account_curve_json(events, 2, TCT_ADD_REMOVE, 1e-6, 4, &err);
  assert_non_null(text);
  const char *at = strstr(text, "\"points\"");
  assert_non_null(at);
  for (int k = 0; k < 4; k++) {
    assert_true(number_after(&at, "\"steps\":") == 1 + 3 * k);
    double cost = number_after(&at, "\"epsilon\":"), own = cost_of_steps(first[k], second[k]);
    assert_true(fabs(cost - own) < 1e-6 * own);
  }
  assert_null(strstr(at, "\"steps\":"));
  tct_text_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fit_in_a_forked_child_ends_with_the_same_model),
      cmocka_unit_test(a_curve_against_steps_has_the_cost_of_each_beginning_of_the_list),
      cmocka_unit_test(a_newer_programs_settings_are_taken_while_what_is_new_in_them_is_zero),
      cmocka_unit_test(a_size_that_no_version_had_is_refused),
      cmocka_unit_test(an_amendment_tells_every_fact),
      cmocka_unit_test(a_plan_says_its_bounds_and_what_the_model_file_will_say),
      cmocka_unit_test(without_privacy_a_plan_promises_nothing),
      cmocka_unit_test(sums_of_weights_have_their_errors_and_covariances),
      cmocka_unit_test(a_views_names_are_copied_and_end_in_the_model),
      cmocka_unit_test(a_views_schema_gives_names_and_bounds_and_must_make_as_many_features),
      cmocka_unit_test(progress_never_goes_back_and_has_1_once_at_the_end_of_a_success),
      cmocka_unit_test(progress_over_classes_ends_at_1_too),
      cmocka_unit_test(a_forged_claim_is_an_error_with_its_verdict),
      cmocka_unit_test(cost_and_calibration_do_not_stand_in_for_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
