/* test_invented.c - tables and labels of nobody are as they are assumed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/table/data.h"
#include "tools/invented.h"

static int64_t place_of(const tct_data *data, const char *name) {
  int64_t j = 0;
  while (j < data->x.cols && strcmp(data->names[j], name) != 0) j++;
  assert_true(j < data->x.cols);
  return j;
}

/* Mean, deviation and ends of a feature; the table is dense. */
static void feature_is(const tct_data *data, const char *name, double mean, double deviation, double low, double high) {
  const double *x = data->x.values;
  double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, n = (double)data->x.rows;
  int64_t j = place_of(data, name);
  for (int64_t i = 0; i < data->x.rows; i++) {
    double v = x[i * data->x.stride + j];
    sum += v / n, squares += v * v / n, least = fmin(least, v), most = fmax(most, v);
  }
  double spread = sqrt(squares - sum * sum);
  if (!(fabs(sum - mean) < 0.01 && fabs(spread - deviation) < 0.01 && fabs(least - low) < 0.02 &&
        fabs(most - high) < 0.02))
    fail_msg("%s: mean %g, deviation %g, from %g to %g", name, sum, spread, least, most);
}

/* Features are columns brought to [-1, 1], or 0 and 1. */
static void an_invented_table_is_as_it_is_assumed(void **state) {
  (void)state;
  static const char text[] =
      "{\"format\": \"tacit-schema\", \"version\": 2, \"columns\": ["
      "{\"name\": \"age\", \"type\": \"number\", \"lower\": 20, \"upper\": 100},"
      "{\"name\": \"educ\", \"type\": \"number\", \"lower\": 0, \"upper\": 20},"
      "{\"name\": \"cut\", \"type\": \"number\", \"lower\": 0, \"upper\": 2},"
      "{\"name\": \"id\", \"type\": \"ignore\"},"
      "{\"name\": \"seen\", \"type\": \"date\", \"lower\": \"2000-01-01\", \"upper\": \"2010-12-31\"},"
      "{\"name\": \"sex\", \"type\": \"category\", \"values\": [\"f\", \"m\", \"x\"], \"reference\": \"f\"},"
      "{\"name\": \"area\", \"type\": \"category\", \"values\": [\"a\", \"b\", \"long\", \"d\"]},"
      "{\"name\": \"bmi\", \"type\": \"number\", \"lower\": 10, \"upper\": 50, \"missing\": \"indicator\"}],"
      "\"terms\": [\"age\", \"educ\", \"cut\", {\"of\": \"seen\", \"as\": \"year\"}, \"sex\", \"area\", \"bmi\", "
      "{\"product\": [\"educ\", \"cut\"]}],"
      "\"weight\": {\"of\": \"w\", \"cap\": 4}, \"exposure\": {\"of\": \"e\", \"lower\": 1, \"upper\": 2},"
      "\"label\": {\"name\": \"n\", \"lower\": 0, \"upper\": 9}}";
  tct_error err = {0};
  tct_read_options read;
  tct_read_options_default(&read);
  read.schema_text = text;
  json_t *assume =
      json_loads("{\"educ\": [12, 2, 0.5], \"cut\": [1.9, 0.4, 0.3], \"sex\": [0.5, 0.49, 0, 0.2]}", 0, NULL);
  double *r2 = NULL;
  tct_data *data = tct_invent_table(&read, 4000, assume, &r2, &err);
  if (!data) fail_msg("%s", err.text);
  assert_int_equal(data->x.layout, TCT_DENSE_ROWS);
  feature_is(data, "age", 0, 2 / sqrt(12), -1, 1);
  feature_is(data, "educ", 0.2, 0.2, -0.486, 0.8);
  feature_is(data, "cut", 0.9, 0.4, -1, 1); /* nearly all at one end, and some at the other */
  feature_is(data, "year(seen)", 0, sqrt(0.4), -1, 1);
  feature_is(data, "sex=m", 0.495, 0.5, 0, 1); /* the rest of 1 is shared out */
  feature_is(data, "sex=x", 0, 0, 0, 0);
  feature_is(data, "area=long", 0.25, sqrt(0.25 * 0.75), 0, 1);
  feature_is(data, "bmi=(missing)", 0.25, sqrt(0.25 * 0.75), 0, 1);
  feature_is(data, "bmi", 0, sqrt(0.75 / 3), -1, 1); /* which of them is missing does not follow bmi */
  double told[] = {NAN, 0.5, 0.3, NAN, 0.2, 0.2, NAN, NAN, 0.5};
  static const char *const names[] = {"age",   "educ",   "cut",           "year(seen)", "sex=m",
                                      "sex=x", "area=b", "bmi=(missing)", "educ:cut"};
  for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
    double is = r2[place_of(data, names[k])];
    if (!(isnan(told[k]) ? isnan(is) : is == told[k])) fail_msg("%s: R2 %g", names[k], is);
  }
  tct_free(r2), r2 = NULL;
  assert_true(data->weight && data->weight[0] == 1 && data->weight_cap == 4);
  assert_true(data->offset && fabs(data->offset[7] - log(0.75)) < 1e-12);
  tct_data_free(data);
  json_object_set_new(assume, "seen", json_pack("[f]", 0.5));
  assert_null(tct_invent_table(&read, 4000, assume, &r2, &err));
  assert_non_null(strstr(err.text, "nothing can be assumed of the date"));
  json_decref(assume);
}

/* A number of each half that the margin moves by 1: the logarithm of a mean, of odds, of what is left at the end. */
static double margin_of(const tct_loss *loss, double mean) {
  return loss->kind->binary ? log((1 + mean) / (1 - mean)) : loss->kind->link == TCT_LINK_IDENTITY ? mean : log(mean);
}

/* Margins differ by 1, and only that counts. */
static void labels_are_of_the_assumed_law(void **state) {
  (void)state;
  enum { N = 4000 };
  static double eta[N], y[N];
  static const struct {
    const char *loss;
    double assumed, low, high, mean, deviation; /* of all; of those of the lower margin */
  } all[] = {
      {"logistic", 0.2, -1, 1, -0.6, NAN},  {"logistic", NAN, -1, 1, 0, NAN},      {"poisson", 3, 0, 100, 3, 1.27},
      {"poisson", NAN, 0, 60, 12, 2.54},    {"poisson", 3000, 0, 1e5, 3000, 40.2}, {"gamma", 2, 0, 1000, 2, 1.08},
      {"gamma", NAN, 0, 10000, 2000, 1076}, {"squared", 0.5, -3, 9, 3, 0.5},       {"squared", NAN, -30, 90, 30, 20},
      {"cox", 0.4, 0, 10, 0.511, NAN},      {"cox", NAN, 0, 10, 0.357, NAN}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    tct_loss loss;
    tct_error err = {0};
    double sum[2] = {0}, squares = 0;
    if (tct_loss_make(all[k].loss, &loss, &err) != TCT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < N; i++) eta[i] = 40 + i % 2;
    tct_invent_labels(&loss, (double[]){all[k].assumed, 0}, all[k].low, all[k].high, eta, N, y);
    for (int i = 0; i < N; i++) {
      double v = loss.kind->follow_up ? y[i] > 0 : y[i];
      assert_true(y[i] <= all[k].high && y[i] >= (loss.kind->follow_up ? -all[k].high : all[k].low));
      sum[i % 2] += v / (N / 2.0), squares += i % 2 ? 0 : v * v / (N / 2.0);
    }
    double deviation = sqrt(fmax(squares - sum[0] * sum[0], 0));
    for (int h = 0; h < 2 && loss.kind->follow_up; h++) sum[h] = -log1p(-sum[h]);
    double mean = 0.5 * (sum[0] + sum[1]), apart = margin_of(&loss, sum[1]) - margin_of(&loss, sum[0]);
    double size = fmax(fabs(all[k].mean), 0.5), spread = loss.kind->link == TCT_LINK_IDENTITY ? all[k].deviation : 1;
    if (!(fabs(mean - all[k].mean) < 0.03 * size && fabs(apart - 1) < 0.06 * spread) ||
        fabs(deviation / all[k].deviation - 1) > 0.03)
      fail_msg("%s %g: mean %g, apart %g, deviation %g", all[k].loss, all[k].assumed, mean, apart, deviation);
  }
}

/* More columns than there are primes are all their own; weights are those that the caller names. */
static void columns_beyond_the_primes_differ(void **state) {
  (void)state;
  enum { MANY = 23, N = 200 };
  char text[4000] = "{\"format\": \"tacit-schema\", \"version\": 1, \"columns\": [", one[100];
  for (int k = 0; k < MANY; k++) {
    snprintf(one, sizeof one, "{\"name\": \"c%d\", \"type\": \"number\", \"lower\": 0, \"upper\": 1}%s", k,
             k + 1 < MANY ? "," : "]}");
    strcat(text, one);
  }
  tct_error err = {0};
  tct_read_options read;
  tct_read_options_default(&read);
  read.schema_text = text, read.weights = "heavy", read.weight_cap = 3;
  double *r2 = NULL;
  tct_data *data = tct_invent_table(&read, N, NULL, &r2, &err);
  if (!data) fail_msg("%s", err.text);
  const double *x = data->x.values;
  for (int k = 20; k < MANY; k++) {
    double apart = 0;
    for (int64_t i = 0; i < N; i++) apart += fabs(x[i * data->x.stride + k] - x[i * data->x.stride + k - 20]) / N;
    assert_true(apart > 0.2);
  }
  assert_true(data->weight && data->weight_cap == 3 && isnan(r2[MANY - 1]));
  tct_data_free(data), tct_free(r2);
}

/* Means of hundreds are rounded to the nearest count; margins may be 2000 apart. */
static void counts_are_rounded_and_ratios_stay_finite(void **state) {
  (void)state;
  enum { N = 4000 };
  static double eta[N], y[N];
  tct_loss loss;
  tct_error err = {0};
  assert_int_equal(tct_loss_make("poisson", &loss, &err), TCT_OK);
  double sum = 0;
  tct_invent_labels(&loss, (double[]){3000, 0}, 0, 1e5, eta, N, y);
  for (int i = 0; i < N; i++) sum += y[i] / N;
  assert_float_equal(sum, 3000.26, 0.2); /* the series' own mean; cut and not rounded it is half a count less */
  for (int i = 0; i < N; i++) eta[i] = i % 2 ? 1000 : -1000;
  tct_invent_labels(&loss, (double[]){3, 0}, 0, 100, eta, N, y);
  sum = 0;
  for (int i = 0; i < N; i++) sum += y[i] / N;
  assert_float_equal(sum, 3, 0.1);
}

/* Of [0, 1]: far from the middle and nearly even, at an end, and of deviations that no such law has. */
static void narrow_and_extreme_columns_have_their_means(void **state) {
  (void)state;
  enum { N = 5000 };
  static const double all[][3] = {{0.44, 0.0267, 0.0267}, {0.9, 0.01, 0.01}, {0.02, 0.0005, 0.0005}, {1e-3, 1e-4, 1e-4},
                                  {0.3, 1e-300, 0},       {0.5, 9, 0.5},     {1 - 0x1p-53, 0.01, 0}, {1e-300, 0.01, 0}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    tct_error err = {0};
    tct_read_options read;
    tct_read_options_default(&read);
    read.schema_text =
        "{\"format\": \"tacit-schema\", \"version\": 1, \"columns\": [{\"name\": \"a\", "
        "\"type\": \"number\", \"lower\": 0, \"upper\": 1}]}";
    json_t *assume = json_pack("{s:[f, f]}", "a", all[k][0], all[k][1]);
    double *r2 = NULL, sum = 0, squares = 0, mean = all[k][0], deviation = all[k][2];
    tct_data *data = tct_invent_table(&read, N, assume, &r2, &err);
    if (!data) fail_msg("%s", err.text);
    const double *x = data->x.values;
    for (int64_t i = 0; i < N; i++) {
      double apart = x[i * data->x.stride] - mean;
      sum += apart / N, squares += apart * apart / N;
    }
    double is = sqrt(fmax(squares - sum * sum, 0));
    if (!(fabs(sum) < 0.02 * deviation + 1e-5 && fabs(is - deviation) < 0.02 * deviation + 1e-5))
      fail_msg("%g, %g: %g off, deviation %g", all[k][0], all[k][1], sum, is);
    tct_data_free(data), tct_free(r2), json_decref(assume);
  }
}

/* Counts and amounts that vary more than their law says, about means that differ. */
static void labels_have_the_assumed_deviation(void **state) {
  (void)state;
  enum { N = 40000 };
  static double eta[N], y[N];
  static const struct {
    const char *loss;
    double mean, deviation;
  } all[] = {{"poisson", 2, 3}, {"poisson", 0.2, 0.7}, {"gamma", 5, 8}, {"gamma", 5, 3}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    tct_loss loss;
    tct_error err = {0};
    double sum = 0, squares = 0;
    assert_int_equal(tct_loss_make(all[k].loss, &loss, &err), TCT_OK);
    for (int i = 0; i < N; i++) eta[i] = i % 2 ? 0.2 : -0.2;
    tct_invent_labels(&loss, &all[k].mean, 0, 1e5, eta, N, y);
    for (int i = 0; i < N; i++) sum += y[i] / N, squares += y[i] * y[i] / N;
    print_message("%s: %.3f, %.3f\n", all[k].loss, sum, sqrt(squares - sum * sum));
    assert_float_equal(sum, all[k].mean, 0.03 * all[k].mean);
    assert_float_equal(sqrt(squares - sum * sum), all[k].deviation, 0.06 * all[k].deviation);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_invented_table_is_as_it_is_assumed),
      cmocka_unit_test(labels_are_of_the_assumed_law),
      cmocka_unit_test(columns_beyond_the_primes_differ),
      cmocka_unit_test(counts_are_rounded_and_ratios_stay_finite),
      cmocka_unit_test(labels_have_the_assumed_deviation),
      cmocka_unit_test(narrow_and_extreme_columns_have_their_means),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
