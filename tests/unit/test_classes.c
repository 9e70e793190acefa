/* test_classes.c - models of several classes: a fit for each within one budget, named, written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 300, COLS = 2, CLASSES = 3 };

static double values[ROWS * COLS];
static int32_t code[ROWS];
static const char *const names[CLASSES] = {"apple", "pear", "plum"};

static int make_table(void **state) {
  (void)state;
  for (int i = 0; i < ROWS; i++) {
    double angle = 2 * 3.141592653589793 * i / ROWS;
    values[COLS * i] = cos(angle), values[COLS * i + 1] = sin(angle);
    code[i] = (int32_t)(CLASSES * i / ROWS);
  }
  return 0;
}

static tct_data *table(int64_t classes) {
  static double y[ROWS];
  tct_matrix x = {.rows = ROWS, .cols = COLS, .values = values, .stride = COLS};
  for (int i = 0; i < ROWS; i++) y[i] = classes > 2 ? code[i] : code[i] > 0 ? 1 : -1;
  tct_data *data = tct_data_view(&x, y, classes > 2 ? TCT_LABELS_CLASSES : TCT_LABELS_BINARY, NULL, NULL, NULL);
  assert_non_null(data);
  if (classes == CLASSES) assert_int_equal(tct_data_name_classes(data, names, CLASSES, TCT_CLASS_TEXT, NULL), TCT_OK);
  return data;
}

static tct_config settings(int64_t classes, double epsilon) {
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic", config.penalty = "l2:lambda=0.01", config.solver = "dpgd:steps=5";
  config.epsilon = epsilon, config.delta = 1e-6, config.row_norm = 2, config.classes = classes;
  return config;
}

static tct_model *fit(int64_t classes, double epsilon) {
  tct_error err;
  tct_config config = settings(classes, epsilon);
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  assert_non_null(plan);
  tct_data *data = table(classes);
  tct_model *model = tct_fit(plan, data, &err);
  assert_non_null(model);
  tct_data_free(data);
  tct_plan_free(plan);
  return model;
}

static void a_plan_of_several_classes_is_that_of_each_fit_and_claims_all(void **state) {
  (void)state;
  tct_error err;
  tct_config config = settings(CLASSES, 1), one = settings(0, 1);
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err), *alone = tct_plan_new(&one, ROWS, COLS, &err);
  char *text = tct_plan_json(plan, &err);
  json_t *root = json_loads(text, 0, NULL);
  double each = json_number_value(json_object_get(json_object_get(root, "each"), "epsilon"));
  assert_true(each > 1.0 / CLASSES && each < 1 && json_number_value(json_object_get(root, "epsilon")) == 1);
  assert_int_equal(json_integer_value(json_object_get(root, "models")), CLASSES);
  assert_int_equal(json_array_size(json_object_get(root, "events")), CLASSES);
  const json_t *fit = json_array_get(json_object_get(root, "fits"), 0);
  assert_int_equal(json_integer_value(json_object_get(fit, "count")), CLASSES);
  tct_data *data = table(CLASSES), *two = table(0);
  assert_null(tct_fit(alone, data, &err)); /* a plan of two classes, and labels of three; and the reverse */
  assert_int_equal(err.status, TCT_E_DATA);
  assert_null(tct_fit(plan, two, &err));
  assert_int_equal(err.status, TCT_E_DATA);
  config.classes = CLASSES + 1;
  tct_plan *more = tct_plan_new(&config, ROWS, COLS, &err);
  assert_null(tct_fit(more, data, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  json_decref(root);
  tct_text_free(text);
  tct_data_free(data);
  tct_data_free(two);
  tct_plan_free(plan);
  tct_plan_free(alone);
  tct_plan_free(more);
}

static void a_file_of_several_classes_reads_back_the_same_and_verifies(void **state) {
  (void)state;
  tct_error err;
  char path[] = "/tmp/tacit-classes-XXXXXX";
  tct_verdict verdict = TCT_VERDICT_REFUSED;
  tct_model *one = fit(CLASSES, 1);
  assert_int_equal(one->models, CLASSES);
  for (int k = 0; k < CLASSES; k++) assert_string_equal(tct_model_class(one, k), names[k]);
  assert_true(one->epsilon == 1);
  assert_null(tct_model_class(one, CLASSES));
  close(mkstemp(path));
  assert_int_equal(tct_model_write(one, path, &err), TCT_OK);
  tct_model *back = tct_model_read(path, NULL, NULL, &err);
  assert_non_null(back);
  char *a = tct_model_json(one, &err), *b = tct_model_json(back, &err);
  assert_string_equal(a, b);
  tct_text_free(tct_verify_json(path, NULL, NULL, NULL, NULL, &verdict, &err));
  assert_int_equal(err.status, TCT_OK);
  assert_int_equal(verdict, TCT_VERDICT_VERIFIED);
  assert_int_equal(back->version, 3);
  unlink(path);
  tct_text_free(a);
  tct_text_free(b);
  tct_model_free(back);
  tct_model_free(one);
}

static void margins_of_all_classes_and_the_largest_is_predicted(void **state) {
  (void)state;
  static double margin[ROWS * CLASSES];
  int32_t class[ROWS];
  tct_error err;
  tct_model *one = fit(CLASSES, 1000);
  tct_data *data = table(CLASSES);
  assert_int_equal(tct_predict(one, data, margin, &err), TCT_OK);
  for (int i = 0; i < ROWS; i++) class[i] = tct_class_of(margin + CLASSES * i, CLASSES);
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < CLASSES; k++) {
      double own = tct_model_intercepts(one)[k];
      for (int j = 0; j < COLS; j++) own += tct_model_coefficients(one)[k * COLS + j] * values[COLS * i + j];
      assert_true(fabs(margin[CLASSES * i + k] - own) < 1e-9);
    }
  int right = 0;
  for (int i = 0; i < ROWS; i++) {
    const double *z = margin + CLASSES * i;
    for (int k = 0; k < CLASSES; k++) assert_true(z[class[i]] >= z[k]);
    right += class[i] == code[i];
  }
  assert_true(right > ROWS * 9 / 10);
  tct_data_free(data);
  tct_model_free(one);
}

/* The verdict on a file of three classes after `edit`. */
static int32_t edited(void (*edit)(json_t *file), const char *word) {
  tct_error err;
  tct_verdict verdict = TCT_VERDICT_IN_PART;
  tct_model *one = fit(CLASSES, 1);
  char *text = tct_model_json(one, NULL);
  json_t *file = json_loads(text, 0, NULL);
  edit(file);
  tct_text_free(text);
  text = json_dumps(file, JSON_REAL_PRECISION(17));
  tct_text_free(tct_verify_json(NULL, text, NULL, NULL, NULL, &verdict, &err));
  free(text);
  json_decref(file);
  tct_model_free(one);
  if (!strstr(err.text, word)) fail_msg("%s", err.text);
  return verdict;
}

static void nothing(json_t *file) { (void)file; }

static void larger_claim(json_t *file) {
  json_object_set_new(json_object_get(file, "privacy"), "epsilon", json_real(1.5));
}

static void weaker_events(json_t *file) {
  json_t *events = json_object_get(json_object_get(file, "privacy"), "events");
  json_array_clear(events);
  json_array_append_new(events, json_string("gaussian:noise=1000,count=1"));
}

static void one_class_less(json_t *file) {
  const char *const lists[] = {"classes", "coefficients", "intercept"};
  for (int i = 0; i < 3; i++) json_array_remove(json_object_get(file, lists[i]), CLASSES - 1);
}

static void one_class_more(json_t *file) {
  json_array_append_new(json_object_get(file, "classes"), json_string("fig"));
  json_array_append(json_object_get(file, "coefficients"), json_array_get(json_object_get(file, "coefficients"), 0));
  json_array_append_new(json_object_get(file, "intercept"), json_real(0));
}

static void schema_of_other_classes(json_t *file) {
  json_t *schema = json_loads(
      "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"lower\": 0, \"upper\": 1}], \"label\": {\"name\": "
      "\"y\", \"values\": [\"apple\", \"pear\", \"fig\"]}}",
      0, NULL);
  json_object_set_new(json_object_get(file, "transforms"), "schema", schema);
}

static void an_edited_file_of_several_classes_is_refused(void **state) {
  (void)state;
  assert_int_equal(edited(nothing, ""), TCT_VERDICT_VERIFIED);
  assert_int_equal(edited(larger_claim, "another fit"), TCT_VERDICT_REFUSED);
  assert_int_equal(edited(weaker_events, "the events are not those of the fits"), TCT_VERDICT_REFUSED);
  assert_int_equal(edited(one_class_less, "'coefficients'"), TCT_VERDICT_REFUSED);
  assert_int_equal(edited(one_class_more, "'count'"), TCT_VERDICT_REFUSED);
  assert_int_equal(edited(schema_of_other_classes, "'classes'"), TCT_VERDICT_REFUSED);
}

/* Neither class has a record, so that their fits differ in the noise alone. */
static void every_class_has_noise_of_its_own(void **state) {
  (void)state;
  static double last[ROWS];
  tct_config config = settings(CLASSES, 1);
  config.has_seed = 1, config.seed = 9;
  for (int i = 0; i < ROWS; i++) last[i] = CLASSES - 1;
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, NULL);
  tct_matrix x = {.rows = ROWS, .cols = COLS, .values = values, .stride = COLS};
  tct_data *data = tct_data_view(&x, last, TCT_LABELS_CLASSES, NULL, NULL, NULL);
  tct_model *model = tct_fit(plan, data, NULL);
  assert_non_null(model);
  assert_string_equal(tct_model_class(model, 2), "2"); /* without names they are called by their numbers */
  for (int j = 0; j < COLS; j++)
    assert_true(tct_model_coefficients(model)[j] != tct_model_coefficients(model)[COLS + j]);
  tct_model_free(model);
  tct_data_free(data);
  tct_plan_free(plan);
}

/* names[count] of a kind, given to a model of one row. */
static tct_status name(tct_model *model, const char *const *given, int64_t count, int32_t kind) {
  tct_amendment a;
  tct_amendment_default(&a);
  a.classes = given, a.classes_count = count, a.class_kind = kind;
  return tct_model_amend(model, &a, NULL);
}

static void two_classes_keep_texts_numbers_and_truth_values(void **state) {
  (void)state;
  static const char *const pair[][2] = {{"no", "yes"}, {"0", "2.5"}, {"false", "true"}, {NULL, "3"}, {"1.0", "1"}};
  static const int32_t kind[] = {TCT_CLASS_TEXT, TCT_CLASS_NUMBER, TCT_CLASS_BOOLEAN, TCT_CLASS_NUMBER, TCT_CLASS_TEXT};
  for (int i = 0; i < 5; i++) {
    tct_error err;
    tct_model *model = fit(0, 1);
    assert_int_equal(name(model, pair[i], 2, kind[i]), TCT_OK);
    char *text = tct_model_json(model, &err);
    tct_model *back = tct_model_read(NULL, text, NULL, &err);
    assert_non_null(back);
    assert_int_equal(back->classes.kind, kind[i]);
    assert_string_equal(tct_model_class(back, 1), pair[i][1]);
    if (pair[i][0])
      assert_string_equal(tct_model_class(back, 0), pair[i][0]);
    else
      assert_null(tct_model_class(back, 0));
    tct_text_free(text);
    tct_model_free(back);
    tct_model_free(model);
  }
}

static void names_that_are_not_of_their_kind_are_refused(void **state) {
  (void)state;
  static const char *const pair[][2] = {{"no", "no"}, {"no", ""},   {"no", NULL},  {"no", "yes"},
                                        {"0", "one"}, {"0", "yes"}, {"no", "\xff"}};
  static const int32_t kind[] = {TCT_CLASS_TEXT,   TCT_CLASS_TEXT,    TCT_CLASS_TEXT, 7,
                                 TCT_CLASS_NUMBER, TCT_CLASS_BOOLEAN, TCT_CLASS_TEXT};
  for (int i = 0; i < 7; i++) {
    tct_model *model = fit(0, 1);
    assert_int_equal(name(model, pair[i], 2, kind[i]), TCT_E_USAGE);
    tct_model_free(model);
  }
}

static void labels_of_two_classes_that_are_turned_round_are_no_evaluation(void **state) {
  (void)state;
  tct_error err;
  tct_read_options read;
  static const char *const round[] = {"yes", "no"}, *const right[] = {"no", "yes"};
  char path[] = "/tmp/tacit-classes-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  fprintf(file, "a,b,y\n0.1,0.2,yes\n0.3,-0.4,no\n");
  fclose(file);
  tct_model *model = fit(0, 1);
  assert_int_equal(name(model, right, 2, TCT_CLASS_TEXT), TCT_OK);
  for (int i = 0; i < 2; i++) {
    tct_read_options_default(&read);
    read.labels = TCT_LABELS_CLASSES, read.label = "y", read.classes = i ? right : round, read.classes_count = 2;
    tct_data *data = tct_data_read(path, &read, &err);
    assert_non_null(data);
    assert_int_equal(data->labels, TCT_LABELS_BINARY);
    char *text = tct_evaluate_json_nonprivate(model, data, &err);
    assert_true((text != NULL) == (i == 1));
    tct_text_free(text);
    tct_data_free(data);
  }
  unlink(path);
  tct_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_of_several_classes_is_that_of_each_fit_and_claims_all),
      cmocka_unit_test(a_file_of_several_classes_reads_back_the_same_and_verifies),
      cmocka_unit_test(an_edited_file_of_several_classes_is_refused),
      cmocka_unit_test(every_class_has_noise_of_its_own),
      cmocka_unit_test(margins_of_all_classes_and_the_largest_is_predicted),
      cmocka_unit_test(two_classes_keep_texts_numbers_and_truth_values),
      cmocka_unit_test(names_that_are_not_of_their_kind_are_refused),
      cmocka_unit_test(labels_of_two_classes_that_are_turned_round_are_no_evaluation),
  };
  return cmocka_run_group_tests(tests, make_table, NULL);
}
