/* test_softmax.c - one fit of several classes: how many there are is public, and no table changes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 300, COLS = 2, CLASSES = 4 };

static double values[ROWS * COLS];

static int make_table(void **state) {
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    double angle = 2 * 3.141592653589793 * i / ROWS;
    values[COLS * i] = cos(angle), values[COLS * i + 1] = sin(angle);
  }
  return 0;
}

/* Only the first `occurring` classes have records. */
static tct_data *table(int occurring, double *y) {
  tct_matrix x = {.rows = ROWS, .cols = COLS, .values = values, .stride = COLS};
  for (int i = 0; i < ROWS; i++) y[i] = (double)(i * occurring / ROWS);
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_CLASSES, NULL, NULL, NULL);
  assert_non_null(data);
  return data;
}

static tct_model *fit_by(const char *loss, const char *solver, double epsilon, uint64_t seed, const tct_data *data,
                         tct_error *err) {
  tct_config config;
  tct_config_default(&config);
  config.loss = loss, config.penalty = "l2:lambda=0.01", config.solver = solver;
  config.epsilon = epsilon, config.delta = 1e-6, config.row_norm = 2, config.has_seed = 1, config.seed = seed;
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, err);
  if (!plan) fail_msg("%s", err->text);
  tct_model *model = tct_fit(plan, data, err);
  tct_plan_free(plan);
  return model;
}

static tct_model *fit(const char *loss, const tct_data *data, tct_error *err) {
  return fit_by(loss, "dpgd:steps=5", 1, 4, data, err);
}

static json_t *certificate(const tct_model *model) {
  tct_error err;
  char *text = tct_model_json(model, &err);
  json_t *root = json_loads(text, 0, NULL);
  tct_text_free(text);
  json_object_del(root, "coefficients");
  json_object_del(root, "intercept");
  return root;
}

static void classes_that_do_not_occur_have_their_row_all_the_same(void **state) {
  (void)state;
  tct_error err;
  double y[ROWS], every[ROWS];
  tct_data *some = table(2, y), *all = table(CLASSES, every);
  tct_model *one = fit("softmax:classes=4", some, &err), *two = fit("softmax:classes=4", all, &err);
  assert_non_null(one);
  assert_non_null(two);
  assert_int_equal(one->models, CLASSES);
  assert_int_equal(one->classes.count, CLASSES);
  assert_string_equal(tct_model_class(one, 3), "3");
  json_t *a = certificate(one), *b = certificate(two);
  assert_true(json_equal(a, b));
  json_decref(a);
  json_decref(b);
  tct_model_free(one);
  tct_model_free(two);
  tct_data_free(some);
  tct_data_free(all);
}

static void a_label_beyond_the_list_is_refused(void **state) {
  (void)state;
  tct_error err = {0};
  double y[ROWS];
  tct_data *data = table(CLASSES, y);
  assert_null(fit("softmax:classes=3", data, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  assert_non_null(strstr(err.text, "the number of a class"));
  for (int k = 0; k < 3; k++) {
    double wrong[] = {-1, 0.5, NAN};
    tct_data_free(data);
    tct_matrix x = {.rows = ROWS, .cols = COLS, .values = values, .stride = COLS};
    y[7] = wrong[k];
    data = tct_data_view(&x, y, TCT_LABELS_CLASSES, NULL, NULL, &err);
    assert_null(data);
    assert_non_null(strstr(err.text, "; "));
  }
}

/* A label that the loss does not know could move a sum without bound.  Of a dropped record nothing counts. */
static void labels_that_a_loss_does_not_know_are_refused_but_of_dropped_records(void **state) {
  (void)state;
  static const struct {
    const char *loss;
    double label;
  } rows[] = {{"logistic", 0.5}, {"logistic", 1e9}, {"logistic", NAN},
              {"softmax", 1.5},  {"softmax", -1},   {"softmax", CLASSES}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int dropped = 0; dropped < 2; dropped++) {
      bool two = !strcmp(rows[k].loss, "logistic");
      double y[ROWS];
      tct_error err = {0};
      tct_matrix x = {.rows = ROWS, .cols = COLS, .values = values, .stride = COLS};
      for (int i = 0; i < ROWS; i++) y[i] = two ? i % 2 * 2 - 1 : i % CLASSES;
      tct_data *data = tct_data_view(&x, y, two ? TCT_LABELS_BINARY : TCT_LABELS_CLASSES, NULL, NULL, &err);
      if (!data) fail_msg("%s", err.text);
      ((double *)(void *)data->y)[7] = rows[k].label; /* behind the look that a table is taken with */
      data->dropped = calloc(ROWS, 1);
      data->dropped[7] = (unsigned char)dropped;
      tct_model *model = fit(two ? "logistic" : "softmax:classes=4", data, &err);
      bool known = dropped && !isnan(rows[k].label);
      if (!model != !known) fail_msg("label %g of %s, dropped %d: %s", rows[k].label, rows[k].loss, dropped, err.text);
      if (!model) assert_int_equal(err.status, TCT_E_DATA);
      tct_model_free(model);
      tct_data_free(data);
    }
}

static void a_list_of_another_length_than_the_losses_is_refused(void **state) {
  (void)state;
  char path[] = "/tmp/tacit-softmax-XXXXXX";
  FILE *to = fdopen(mkstemp(path), "w");
  static const char *const names[] = {"a", "b", "c"};
  tct_read_options options;
  tct_error err = {0};
  fprintf(to, "u,v,y\n");
  for (int i = 0; i < ROWS; i++) fprintf(to, "%g,%g,%s\n", values[2 * i], values[2 * i + 1], names[i % 3]);
  fclose(to);
  tct_read_options_default(&options);
  options.labels = TCT_LABELS_CLASSES, options.label = "y", options.classes = names, options.classes_count = 3;
  tct_data *data = tct_data_read(path, &options, &err);
  unlink(path);
  if (!data) fail_msg("%s", err.text);
  assert_null(fit("softmax:classes=4", data, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_non_null(strstr(err.text, "another number of classes"));
  tct_model *model = fit("softmax:classes=3", data, &err);
  assert_non_null(model);
  assert_string_equal(tct_model_class(model, 2), "c");
  tct_model_free(model);
  tct_data_free(data);
}

static void a_class_that_the_model_has_not_is_not_scored(void **state) {
  (void)state;
  tct_error err = {0};
  double y[ROWS], other[ROWS];
  tct_data *data = table(3, y), *more = table(CLASSES, other);
  tct_model *model = fit("softmax:classes=3", data, &err);
  assert_non_null(model);
  assert_null(tct_evaluate_json_nonprivate(model, more, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  assert_non_null(strstr(err.text, "no class of this model"));
  char *text = tct_evaluate_json_nonprivate(model, data, &err);
  assert_non_null(text);
  json_t *root = json_loads(text, 0, NULL);
  assert_true(json_number_value(json_object_get(root, "mean_loss")) > 0);
  assert_int_equal(json_array_size(json_object_get(root, "classes")), 3);
  json_decref(root);
  tct_text_free(text);
  tct_model_free(model);
  tct_data_free(data);
  tct_data_free(more);
}

/* Without noise the mean loss in all margins is the log-odds' own, computed here from the predictions. */
static void the_mean_loss_is_of_all_margins_of_a_record(void **state) {
  (void)state;
  tct_error err = {0};
  double y[ROWS], z[ROWS * CLASSES], sum = 0;
  tct_data *data = table(CLASSES, y);
  tct_model *model = fit("softmax:classes=4", data, &err);
  assert_non_null(model);
  assert_int_equal(tct_predict(model, data, z, &err), TCT_OK);
  for (int i = 0; i < ROWS; i++) {
    double total = 0;
    for (int k = 0; k < CLASSES; k++) total += exp(z[i * CLASSES + k]);
    sum += log(total) - z[i * CLASSES + (int)y[i]];
  }
  char *text = tct_evaluate_json_nonprivate(model, data, &err);
  json_t *root = json_loads(text, 0, NULL);
  assert_true(fabs(json_number_value(json_object_get(root, "mean_loss")) - sum / ROWS) < 1e-9);
  json_decref(root);
  tct_text_free(text);
  tct_model_free(model);
  tct_data_free(data);
}

/* Of 300 records at epsilon 0.1 noise hides all but the counts of classes, and little of a path's noise is paid for. */
static void where_noise_hides_all_the_model_stays_near_the_constant(void **state) {
  (void)state;
  tct_error err = {0};
  double y[ROWS], sum = 0;
  enum { FITS = 8 };
  tct_data *data = table(CLASSES, y);
  for (uint64_t seed = 1; seed <= FITS; seed++) {
    tct_model *model = fit_by("softmax:classes=4", "dpmetric", 0.1, seed, data, &err);
    if (!model) fail_msg("%s", err.text);
    char *text = tct_evaluate_json_nonprivate(model, data, &err);
    json_t *root = json_loads(text, 0, NULL);
    sum += json_number_value(json_object_get(root, "mean_loss")) / FITS;
    json_decref(root);
    tct_text_free(text);
    tct_model_free(model);
  }
  tct_data_free(data);
  print_message("mean loss %.4f of the constant's\n", sum / log(CLASSES));
  assert_true(sum < 1.06 * log(CLASSES));
}

/* ---- where the loss is left open ---- */

static bool takes_softmax(const tct_config *given, int64_t classes, int64_t rows, int64_t cols) {
  tct_error err = {0};
  tct_config config = *given;
  config.loss = "auto", config.classes = classes, config.row_norm = 1;
  tct_plan *plan = tct_plan_new(&config, rows, cols, &err);
  if (!plan) fail_msg("%s", err.text);
  char *text = tct_plan_json(plan, &err);
  json_t *root = json_loads(text, 0, NULL);
  const char *loss = json_string_value(json_object_get(root, "loss"));
  char joint[40];
  snprintf(joint, sizeof joint, "softmax:classes=%d", (int)classes);
  bool softmax = !strcmp(loss, joint);
  assert_true(softmax || !strcmp(loss, "logistic"));
  assert_int_equal(json_integer_value(json_object_get(root, "models")), softmax || classes < 3 ? 0 : classes);
  assert_true(classes < 3 || strlen(json_string_value(json_object_get(root, "loss_why"))) > 10);
  json_decref(root);
  tct_text_free(text);
  tct_plan_free(plan);
  return softmax;
}

static tct_config open_loss(void) {
  tct_config config;
  tct_config_default(&config);
  config.epsilon = 0.5, config.delta = 1e-6, config.penalty = "l2:lambda=1e-4";
  return config;
}

static void from_three_classes_on_one_fit_takes_all(void **state) {
  (void)state;
  tct_config config = open_loss();
  const int64_t rows[] = {200, 10000000};
  for (int64_t classes = 2; classes < 40; classes++)
    for (int k = 0; k < 2; k++) assert_true(takes_softmax(&config, classes, rows[k], 4) == (classes > 2));
  config.penalty = "none", config.neighbours = TCT_REPLACE_ONE;
  assert_true(takes_softmax(&config, 3, 200, 4));
}

/* dpmetric where intercepts start its path; else dpgd. */
static void the_solver_of_one_fit_is_the_rule_s(void **state) {
  (void)state;
  tct_error err = {0};
  for (int intercept = 0; intercept < 2; intercept++) {
    tct_config config = open_loss();
    config.loss = "softmax:classes=5", config.classes = 5, config.row_norm = 1, config.intercept = intercept;
    tct_plan *plan = tct_plan_new(&config, 3000, 4, &err);
    if (!plan) fail_msg("%s", err.text);
    char *text = tct_plan_json(plan, &err);
    assert_non_null(strstr(text, intercept ? "\"dpmetric:" : "\"dpgd:"));
    tct_text_free(text);
    tct_plan_free(plan);
  }
}

static void what_one_fit_of_all_was_not_measured_with_is_one_against_the_rest(void **state) {
  (void)state;
  tct_config config = open_loss(), other;
  assert_true(takes_softmax(&config, 6, 200, 4));
  assert_false(takes_softmax(&config, 2, 200, 4));
  other = config, other.delta = 0;
  assert_false(takes_softmax(&other, 6, 200, 4));
  other = config, other.epsilon = INFINITY;
  assert_false(takes_softmax(&other, 6, 200, 4));
  other = config, other.penalty = "l1:lambda=0.1";
  assert_false(takes_softmax(&other, 6, 200, 4));
  other = config, other.solver = "dpmetric";
  assert_false(takes_softmax(&other, 6, 200, 4));
  other = config, other.solver = "auto";
  assert_true(takes_softmax(&other, 6, 200, 4));
  other = config, other.errors = "model";
  assert_false(takes_softmax(&other, 6, 200, 4));
  tct_error err = {0};
  other = config, other.epsilon = NAN;
  other.loss = "auto", other.classes = 5, other.row_norm = 1;
  assert_null(tct_plan_new(&other, 200, 4, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_that_do_not_occur_have_their_row_all_the_same),
      cmocka_unit_test(a_label_beyond_the_list_is_refused),
      cmocka_unit_test(labels_that_a_loss_does_not_know_are_refused_but_of_dropped_records),
      cmocka_unit_test(a_list_of_another_length_than_the_losses_is_refused),
      cmocka_unit_test(a_class_that_the_model_has_not_is_not_scored),
      cmocka_unit_test(the_mean_loss_is_of_all_margins_of_a_record),
      cmocka_unit_test(where_noise_hides_all_the_model_stays_near_the_constant),
      cmocka_unit_test(from_three_classes_on_one_fit_takes_all),
      cmocka_unit_test(the_solver_of_one_fit_is_the_rule_s),
      cmocka_unit_test(what_one_fit_of_all_was_not_measured_with_is_one_against_the_rest),
  };
  return cmocka_run_group_tests(tests, make_table, NULL);
}
