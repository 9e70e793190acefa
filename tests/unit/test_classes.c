/* test_classes.c - models of several classes: joined from one composition and no other, named, written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tacit.h"

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

static tct_data *table(void) {
  static double none[ROWS];
  tct_matrix x = {.rows = ROWS, .cols = COLS, .values = values, .stride = COLS};
  for (int i = 0; i < ROWS; i++) none[i] = 1;
  tct_data *data = tct_data_view(&x, none, TCT_LABELS_BINARY, NULL, NULL, NULL);
  assert_non_null(data);
  return data;
}

static void fit(int64_t classes, double epsilon, tct_model **models) {
  tct_config config;
  tct_error err;
  tct_config_default(&config);
  config.loss = "logistic", config.penalty = "l2:lambda=0.01", config.solver = "dpgd:steps=5";
  config.epsilon = epsilon, config.delta = 1e-6, config.row_norm = 2;
  tct_composition *whole = tct_compose_classes(&config, classes, ROWS, COLS, &err);
  assert_non_null(whole);
  tct_data *data = table();
  static int32_t own[ROWS];
  for (int i = 0; i < ROWS; i++) own[i] = classes > 1 ? code[i] : code[i] > 0; /* one model is of two classes */
  assert_int_equal(tct_fit_classes(whole, data, own, classes, models, &err), TCT_OK);
  tct_data_free(data);
  tct_composition_free(whole);
}

static void drop(tct_model **models, int64_t count) {
  for (int64_t k = 0; k < count; k++) tct_model_free(models[k]);
}

static void joined_models_are_the_rows_of_one(void **state) {
  (void)state;
  tct_model *models[CLASSES];
  tct_error err;
  fit(CLASSES, 1, models);
  tct_model *one = tct_model_join(models, names, CLASSES, TCT_CLASS_TEXT, &err);
  assert_non_null(one);
  assert_int_equal(tct_model_models(one), CLASSES);
  assert_int_equal(tct_model_classes(one), CLASSES);
  for (int k = 0; k < CLASSES; k++) {
    assert_memory_equal(tct_model_coefficients(one) + k * COLS, tct_model_coefficients(models[k]),
                        COLS * sizeof(double));
    assert_true(tct_model_intercepts(one)[k] == tct_model_intercept(models[k]));
    assert_string_equal(tct_model_class(one, k), names[k]);
  }
  assert_true(tct_model_epsilon(one) == 1);
  assert_null(tct_model_class(one, CLASSES));
  drop(models, CLASSES);
  tct_model_free(one);
}

static void a_file_of_several_classes_reads_back_the_same_and_verifies(void **state) {
  (void)state;
  tct_model *models[CLASSES];
  tct_error err;
  char path[] = "/tmp/tacit-classes-XXXXXX";
  tct_verdict verdict = {.size = sizeof verdict};
  fit(CLASSES, 1, models);
  tct_model *one = tct_model_join(models, names, CLASSES, TCT_CLASS_TEXT, &err);
  close(mkstemp(path));
  assert_int_equal(tct_model_write(one, path, &err), TCT_OK);
  tct_model *back = tct_model_read(path, &err);
  assert_non_null(back);
  char *a = tct_model_json(one, &err), *b = tct_model_json(back, &err);
  assert_string_equal(a, b);
  assert_int_equal(tct_verify(path, NULL, &verdict, &err), TCT_OK);
  assert_int_equal(verdict.kind, TCT_VERDICT_VERIFIED);
  assert_int_equal(verdict.form, 3);
  unlink(path);
  tct_text_free(a);
  tct_text_free(b);
  tct_model_free(back);
  tct_model_free(one);
  drop(models, CLASSES);
}

static void refused(tct_model *const *models, int64_t count, const char *word) {
  tct_error err;
  tct_model *one = tct_model_join(models, names, count, TCT_CLASS_TEXT, &err);
  assert_null(one);
  assert_int_equal(err.status, TCT_E_USAGE);
  if (!strstr(err.text, word)) fail_msg("%s", err.text);
}

static void models_that_are_not_all_of_one_composition_are_not_joined(void **state) {
  (void)state;
  tct_model *models[CLASSES + 1], *others[CLASSES];
  fit(CLASSES + 1, 1, models);
  refused(models, CLASSES, "another number of fits");
  fit(CLASSES, 2, others);
  tct_model *mixed[CLASSES] = {others[0], models[1], others[2]};
  refused(mixed, CLASSES, "differ in more than their weights");
  refused(others, 2, "two classes are one model's");
  drop(models, CLASSES + 1);
  drop(others, CLASSES);
}

static void margins_of_all_classes_and_the_largest_is_predicted(void **state) {
  (void)state;
  tct_model *models[CLASSES];
  static double margin[ROWS * CLASSES], own[ROWS];
  static int32_t class[ROWS];
  tct_error err;
  fit(CLASSES, 1000, models);
  tct_model *one = tct_model_join(models, names, CLASSES, TCT_CLASS_TEXT, &err);
  tct_data *data = table();
  assert_int_equal(tct_predict(one, data, margin, &err), TCT_OK);
  assert_int_equal(tct_predict_class(one, data, class, &err), TCT_OK);
  for (int k = 0; k < CLASSES; k++) {
    assert_int_equal(tct_predict(models[k], data, own, &err), TCT_OK);
    for (int i = 0; i < ROWS; i++) assert_true(margin[CLASSES * i + k] == own[i]);
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
  drop(models, CLASSES);
}

/* The verdict on a file of three classes after `edit`. */
static int32_t edited(void (*edit)(json_t *file), const char *word) {
  tct_model *models[CLASSES];
  tct_verdict verdict = {.size = sizeof verdict};
  char path[] = "/tmp/tacit-classes-XXXXXX";
  fit(CLASSES, 1, models);
  tct_model *one = tct_model_join(models, names, CLASSES, TCT_CLASS_TEXT, NULL);
  char *text = tct_model_json(one, NULL);
  json_t *file = json_loads(text, 0, NULL);
  edit(file);
  close(mkstemp(path));
  assert_int_equal(json_dump_file(file, path, JSON_REAL_PRECISION(17)), 0);
  tct_verify(path, NULL, &verdict, NULL);
  unlink(path);
  json_decref(file);
  tct_text_free(text);
  tct_model_free(one);
  drop(models, CLASSES);
  if (!strstr(verdict.why, word)) fail_msg("%s", verdict.why);
  return verdict.kind;
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
  static int32_t last[ROWS];
  tct_config config;
  tct_model *models[CLASSES];
  tct_config_default(&config);
  config.loss = "logistic", config.penalty = "l2:lambda=0.01", config.solver = "dpgd:steps=5";
  config.epsilon = 1, config.delta = 1e-6, config.row_norm = 2, config.has_seed = 1, config.seed = 9;
  for (int i = 0; i < ROWS; i++) last[i] = CLASSES - 1;
  tct_composition *whole = tct_compose_classes(&config, CLASSES, ROWS, COLS, NULL);
  tct_data *data = table();
  assert_int_equal(tct_fit_classes(whole, data, last, CLASSES, models, NULL), TCT_OK);
  for (int j = 0; j < COLS; j++)
    assert_true(tct_model_coefficients(models[0])[j] != tct_model_coefficients(models[1])[j]);
  drop(models, CLASSES);
  tct_data_free(data);
  tct_composition_free(whole);
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
    tct_model *model;
    tct_error err;
    fit(1, 1, &model);
    assert_int_equal(name(model, pair[i], 2, kind[i]), TCT_OK);
    char *text = tct_model_json(model, &err);
    tct_model *back = tct_model_parse(text, &err);
    assert_non_null(back);
    assert_int_equal(tct_model_class_kind(back), kind[i]);
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
    tct_model *model;
    fit(1, 1, &model);
    assert_int_equal(name(model, pair[i], 2, kind[i]), TCT_E_USAGE);
    tct_model_free(model);
  }
}

static void labels_of_two_classes_that_are_turned_round_are_no_evaluation(void **state) {
  (void)state;
  tct_model *model;
  tct_error err;
  tct_read_options read;
  static const char *const round[] = {"yes", "no"}, *const right[] = {"no", "yes"};
  char path[] = "/tmp/tacit-classes-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  fprintf(file, "a,b,y\n0.1,0.2,yes\n0.3,-0.4,no\n");
  fclose(file);
  fit(1, 1, &model);
  assert_int_equal(name(model, right, 2, TCT_CLASS_TEXT), TCT_OK);
  for (int i = 0; i < 2; i++) {
    tct_read_options_default(&read);
    read.labels = TCT_LABELS_CLASSES, read.label = "y", read.classes = i ? right : round, read.classes_count = 2;
    tct_data *data = tct_data_read(path, &read, &err);
    assert_non_null(data);
    assert_int_equal(tct_data_kind(data), TCT_LABELS_BINARY);
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
      cmocka_unit_test(joined_models_are_the_rows_of_one),
      cmocka_unit_test(a_file_of_several_classes_reads_back_the_same_and_verifies),
      cmocka_unit_test(models_that_are_not_all_of_one_composition_are_not_joined),
      cmocka_unit_test(an_edited_file_of_several_classes_is_refused),
      cmocka_unit_test(every_class_has_noise_of_its_own),
      cmocka_unit_test(margins_of_all_classes_and_the_largest_is_predicted),
      cmocka_unit_test(two_classes_keep_texts_numbers_and_truth_values),
      cmocka_unit_test(names_that_are_not_of_their_kind_are_refused),
      cmocka_unit_test(labels_of_two_classes_that_are_turned_round_are_no_evaluation),
  };
  return cmocka_run_group_tests(tests, make_table, NULL);
}
