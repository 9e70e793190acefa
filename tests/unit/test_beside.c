/* test_beside.c - columns that say how a record counts: the same from every format, cut to public bounds. */
#include "core/alloc.h"
#include "read/frame/frame.h"
#include "read/table/join.h"
#include "read_help.h"

#include "frame_help.h"

#define COLUMN_OF_A "\"columns\":[{\"name\":\"a\",\"type\":\"number\",\"lower\":-1,\"upper\":1}]"
#define COLUMNS "\"version\":2," COLUMN_OF_A
#define WEIGHED "{" COLUMNS ",\"weight\":{\"of\":\"w\",\"cap\":4}}"

static tct_read_options weighed(const char *schema) { return options_for(TCT_LABELS_REAL, "y", schema); }

static void assert_weights(const tct_data *data, double cap, const double *expected) {
  assert_non_null(data->weight);
  assert_true(data->weight_cap == cap);
  for (int64_t i = 0; i < tct_data_rows(data); i++) assert_true(data->weight[i] == expected[i]);
}

static void weights_are_cut_and_divided_by_their_cap_from_every_format(void **state) {
  (void)state;
  static const double expected[] = {0.25, 1, 0, 0.625}, a[] = {0, 0.5, 1, -1}, w[] = {1, 1e300, 0, 2.5}, y[4] = {1};
  static const column columns[] = {{.format = "g", .name = "a", .buffer = {NULL, a}, .buffers = 2, .length = 4},
                                   {.format = "g", .name = "w", .buffer = {NULL, w}, .buffers = 2, .length = 4},
                                   {.format = "g", .name = "y", .buffer = {NULL, y}, .buffers = 2, .length = 4}};
  tct_error err;
  tct_read_options options = weighed(WEIGHED);
  tct_data *csv = read_text("w,a,y\n1,0,1\n1e300,.5,0\n-0,1,0\n2.5,-1,0\n", &options);
  tct_data *lines = read_text(
      "{\"w\":1,\"a\":0,\"y\":1}\n{\"y\":0,\"w\":1e300,\"a\":0.5}\n{\"w\":0,\"a\":1,\"y\":0}\n"
      "{\"w\":2.5,\"a\":-1,\"y\":0}\n",
      &options);
  source s = {.column = columns, .columns = 3, .rows = 4, .chunks = 1};
  struct ArrowArrayStream stream = stream_of(&s);
  tct_frame *frame = tct_frame_take(&stream, &err);
  assert_non_null(frame);
  tct_data *framed = tct_frame_read(frame, &options, &err);
  if (!framed) fail_msg("%s", err.text);
  const tct_data *all[] = {csv, lines, framed};
  for (int k = 0; k < 3; k++) {
    assert_weights(all[k], 4, expected);
    assert_int_equal(tct_data_cols(all[k]), 1);
    for (int i = 0; i < 4; i++) assert_true(entry(all[k], i, 0) == a[i]);
  }
  tct_frame_free(frame);
  for (int k = 0; k < 3; k++) tct_data_free((tct_data *)(uintptr_t)all[k]);
}

/* A weight just below the cap counts less than one, and none counts more. */
static void no_record_counts_more_than_one_without_weights(void **state) {
  (void)state;
  tct_read_options options = weighed(NULL);
  options.weights = "w";
  for (int k = 0; k < 400; k++) {
    char text[120];
    double cap = exp(k - 200.0), w = cap * (1 + (k % 5 - 2) * 0x1p-52);
    snprintf(text, sizeof text, "a,w,y\n1,%.17g,0\n1,%.17g,0\n", w, 3 * cap);
    options.weight_cap = cap;
    tct_data *data = read_text(text, &options);
    assert_int_equal(tct_data_cols(data), 1);
    assert_true(data->weight[0] <= 1 && data->weight[0] > 1 - 0x1p-50 && data->weight[1] == 1);
    tct_data_free(data);
  }
}

static void weights_that_are_none_are_bad_data_or_count_nothing(void **state) {
  (void)state;
  static const char *const bad[][2] = {{"-1", "below 0"},        {"", "missing"},   {"NA", "missing"},
                                       {"nan", "missing value"}, {"inf", "number"}, {"x", "number"}};
  tct_read_options options = weighed("{" COLUMNS ",\"missing_values\":[\"NA\"],\"weight\":{\"of\":\"w\",\"cap\":4}}");
  for (size_t k = 0; k < COUNT(bad); k++) {
    static const double expected[] = {0.5, 0, 0.5};
    char text[80];
    snprintf(text, sizeof text, "a,w,y\n1,2,3\n1,%s,3\n1,2,3\n", bad[k][0]);
    assert_refused(text, strlen(text), &options, 3, 2, bad[k][1]);
    options.invalid = TCT_INVALID_ZERO;
    tct_data *data = read_text(text, &options);
    options.invalid = TCT_INVALID_REFUSE;
    assert_weights(data, 4, expected);
    assert_true(data->dropped[1] && entry(data, 1, 0) == 0 && !data->dropped[2]);
    tct_data_free(data);
  }
}

static void what_the_schema_or_the_caller_says_of_weights_is_checked_first(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"{" COLUMNS ",\"weight\":3}", "an object"},
      {"{" COLUMNS ",\"weight\":{\"of\":\"w\"}}", "\"cap\""},
      {"{" COLUMNS ",\"weight\":{\"of\":\"w\",\"cap\":0}}", "above 0"},
      {"{" COLUMNS ",\"weight\":{\"of\":\"w\",\"cap\":\"4\"}}", "without quotes"},
      {"{" COLUMNS ",\"weight\":{\"cap\":4}}", "has no \"of\""},
      {"{" COLUMNS ",\"weight\":{\"of\":\"w\",\"cap\":4,\"lower\":0}}", "unknown key"},
      {"{" COLUMNS ",\"weight\":{\"of\":\"a\",\"cap\":4}}", "also a feature"},
      {"{\"columns\":[{\"name\":\"a\",\"type\":\"ignore\"}],\"weight\":{\"of\":\"w\",\"cap\":4}}", "feature"},
      {"{" COLUMN_OF_A ",\"weight\":{\"of\":\"w\",\"cap\":4}}", "version 2"},
  };
  for (size_t k = 0; k < COUNT(wrong); k++) {
    tct_read_options options = weighed(wrong[k][0]);
    assert_refused("a,w,y\n1,2,3\n", 12, &options, 0, 0, wrong[k][1]);
  }
  tct_read_options options = weighed(WEIGHED);
  assert_refused("a,y\n1,3\n", 8, &options, 0, 0, "no column \"w\" for the weight");
  options.weights = "v";
  assert_refused("a,w,y\n1,2,3\n", 12, &options, 0, 0, "not what the schema says");
  options = weighed(NULL);
  options.weights = "w";
  assert_refused("a,w,y\n1,2,3\n", 12, &options, 0, 0, "public cap");
  options.weight_cap = 1, options.weights = "y";
  assert_refused("a,w,y\n1,2,3\n", 12, &options, 0, 0, "label column");
  options.weights = "w";
  assert_refused("3 1:2\n", 6, &options, 0, 0, "this format has none");
}

static void a_prediction_needs_no_weights(void **state) {
  (void)state;
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, WEIGHED);
  static const char *const tables[] = {"a\n1\n", "w,a\n?,1\n"};
  for (int k = 0; k < 2; k++) {
    tct_data *data = read_text(tables[k], &options);
    assert_null(data->weight);
    tct_data_free(data);
  }
}

/* Of persons too: what a caller's weights give is multiplied, so that neither bound is lost. */
static void weights_go_along_and_multiply(void **state) {
  (void)state;
  static const double expected[] = {0.25, 1, 0, 0.625}, kept[] = {1, 0.625}, twice[] = {0.25, 1, 0, 0.625, 1, 0, 0.625},
                      half[] = {0.125, 0.5, 0, 0.3125};
  static const unsigned char mark[] = {0, 1, 0, 1};
  tct_error err;
  tct_read_options options = weighed(WEIGHED);
  tct_data *data = read_text("a,w,y\n0,1,1\n.5,9,0\n1,0,0\n-1,2.5,0\n", &options);
  tct_data *both[] = {data, data}, *made[4] = {NULL};
  char *bytes;
  int64_t size;
  assert_int_equal(tct_data_pick(data, mark, 1, &made[0], &err), TCT_OK);
  assert_weights(made[0], 4, kept);
  assert_int_equal(tct_data_join(both, 2, 0, &made[1], &err), TCT_OK);
  assert_int_equal(tct_data_rows(made[1]), 8);
  assert_true(made[1]->weight[5] == twice[1] && made[1]->weight[7] == twice[3]);
  assert_int_equal(tct_data_pack(data, 4, &bytes, &size, &err), TCT_OK);
  assert_int_equal(tct_data_unpack(bytes, size, data, &made[2], &err), TCT_OK);
  assert_weights(made[2], 4, expected);
  tct_free(bytes);
  made[3] = tct_data_relabel(data, NULL, TCT_LABELS_REAL, NULL, 0, TCT_CLASS_TEXT, &err);
  assert_non_null(made[3]);
  assert_weights(made[3], 4, expected);
  static const double ones[] = {1, 1, 1, 1};
  static const int64_t persons[] = {0, 0, 1, 1};
  assert_int_equal(tct_data_weigh(made[3], ones, 2, persons, &err), TCT_OK);
  assert_weights(made[3], 8, half);
  assert_true(made[3]->persons);
  assert_int_equal(tct_data_weigh(made[3], NULL, 1, NULL, &err), TCT_OK);
  assert_true(made[3]->persons); /* still so */
  options = weighed(NULL);
  tct_data *plain = read_text("a,y\n1,2\n", &options);
  assert_int_equal(tct_data_alike(data, plain, &err), TCT_E_DATA);
  tct_data_free(plain);
  for (int k = 0; k < 4; k++) tct_data_free(made[k]);
  tct_data_free(data);
}

#define OVER "{" COLUMNS ",\"exposure\":{\"of\":\"t\",\"lower\":0.5,\"upper\":8}}"
#define PLUS "{" COLUMNS ",\"offset\":{\"of\":\"t\",\"lower\":-1,\"upper\":3}}"

static void exposures_and_offsets_are_cut_and_at_most_0(void **state) {
  (void)state;
  static const char *const schemas[] = {OVER, PLUS};
  static const double expected[2][4] = {{-3, -1, 0, -4}, {-2, 0, 0, -2.75}};
  static const double two = 0.6931471805599453;
  for (int k = 0; k < 2; k++)
    for (int labels = 0; labels < 2; labels++) { /* a prediction needs them too */
      tct_read_options options = labels ? weighed(schemas[k]) : options_for(TCT_LABELS_NONE, "y", schemas[k]);
      tct_data *data = read_text("t,a,y\n1,0,1\n4,.5,0\n1e9,1,0\n.25,-1,0\n", &options);
      assert_non_null(data->offset);
      assert_true(data->exposure == (k == 0));
      for (int i = 0; i < 4; i++)
        assert_true(fabs(data->offset[i] - (k ? 1 : two) * expected[k][i]) < 1e-15 && data->offset[i] <= 0);
      assert_null(data->weight);
      tct_data_free(data);
      assert_refused("a,y\n1,2\n", 8, &options, 0, 0, "no column \"t\"");
    }
}

static void exposures_that_are_none_are_bad_data(void **state) {
  (void)state;
  static const char *const bad[][2] = {{"0", "not above 0"}, {"-2", "not above 0"}, {"", "missing"}, {"inf", "number"}};
  tct_read_options options = weighed(OVER);
  for (size_t k = 0; k < COUNT(bad); k++) {
    char text[80];
    snprintf(text, sizeof text, "a,t,y\n1,2,3\n1,%s,3\n", bad[k][0]);
    assert_refused(text, strlen(text), &options, 3, 2, bad[k][1]);
    options.invalid = TCT_INVALID_ZERO;
    tct_data *data = read_text(text, &options);
    options.invalid = TCT_INVALID_REFUSE;
    assert_true(data->dropped[1] && data->offset[1] == 0);
    tct_data_free(data);
  }
  static const char *const wrong[][2] = {
      {"\"exposure\":{\"of\":\"t\",\"lower\":0,\"upper\":8}", "above 0"},
      {"\"exposure\":{\"of\":\"t\",\"upper\":8}", "\"lower\""},
      {"\"exposure\":{\"of\":\"t\",\"lower\":9,\"upper\":8}", "below"},
      {"\"offset\":{\"of\":\"t\",\"lower\":0,\"upper\":8},\"exposure\":{\"of\":\"t\",\"lower\":1,\"upper\":8}",
       "leave"},
      {"\"offset\":{\"of\":\"a\",\"lower\":0,\"upper\":8}", "also a feature"},
  };
  for (size_t k = 0; k < COUNT(wrong); k++) {
    char schema[300];
    snprintf(schema, sizeof schema, "{" COLUMNS ",%s}", wrong[k][0]);
    options = weighed(schema);
    assert_refused("a,t,y\n1,2,3\n", 12, &options, 0, 0, wrong[k][1]);
  }
}

/* What a fit or prediction refuses before it looks at a record. */
static void offsets_are_refused_where_a_run_takes_none(void **state) {
  (void)state;
  static const char *const classes[] = {"0", "1", "2"};
  static const struct {
    const char *schema, *loss, *solver, *part;
    int intercept;
  } cases[] = {{OVER, "squared", "dpgd", "of counts", 1},
               {PLUS, "logistic", "dpscd", "takes no offset", 1},
               {OVER, "poisson", "dpmetric", "intercept", 0},
               {PLUS, "softmax:classes=3", "dpmetric", "intercept", 1}};
  for (size_t k = 0; k < COUNT(cases); k++) {
    tct_error err = {0};
    tct_config c;
    tct_config_default(&c);
    c.loss = cases[k].loss, c.penalty = "l2:lambda=0.1", c.solver = cases[k].solver, c.intercept = cases[k].intercept;
    c.epsilon = 1, c.delta = 1e-6, c.row_norm = 2, c.label_bound = 5;
    tct_read_options options = options_for(tct_config_labels(&c), "y", cases[k].schema);
    if (options.labels == TCT_LABELS_CLASSES) options.classes = classes, options.classes_count = 3;
    tct_data *data = read_text("a,t,y\n1,2,1\n0,1,0\n", &options);
    tct_plan *plan = tct_plan_new(&c, 2, 1, &err);
    if (!plan) fail_msg("%s", err.text);
    assert_null(tct_fit(plan, data, &err));
    if (!strstr(err.text, cases[k].part)) fail_msg("%s", err.text);
    tct_plan_free(plan);
    tct_data_free(data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_cut_and_divided_by_their_cap_from_every_format),
      cmocka_unit_test(no_record_counts_more_than_one_without_weights),
      cmocka_unit_test(weights_that_are_none_are_bad_data_or_count_nothing),
      cmocka_unit_test(what_the_schema_or_the_caller_says_of_weights_is_checked_first),
      cmocka_unit_test(a_prediction_needs_no_weights),
      cmocka_unit_test(weights_go_along_and_multiply),
      cmocka_unit_test(exposures_and_offsets_are_cut_and_at_most_0),
      cmocka_unit_test(exposures_that_are_none_are_bad_data),
      cmocka_unit_test(offsets_are_refused_where_a_run_takes_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
