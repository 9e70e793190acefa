/* test_expect.c - the errors that a plan expects of each weight are those of fits of such tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tacit.h"

static const char schema[] =
    "{\"format\": \"tacit-schema\", \"version\": 1, \"columns\": ["
    "{\"name\": \"age\", \"type\": \"number\", \"lower\": 0, \"upper\": 100},"
    "{\"name\": \"educ\", \"type\": \"number\", \"lower\": 0, \"upper\": 20, \"missing\": 0},"
    "{\"name\": \"sex\", \"type\": \"category\", \"values\": [\"f\", \"m\", \"x\"], \"drop_first\": true}],"
    "\"label\": %s}";
static const char died[] = "{\"name\": \"died\", \"positive\": \"yes\", \"values\": [\"no\", \"yes\"]}";
static const char many[] = "{\"name\": \"ward\", \"values\": [\"a\", \"b\", \"c\"]}";
static const char visits[] = "{\"name\": \"visits\", \"lower\": 0, \"upper\": 10}";
static const char growth[] = "{\"name\": \"growth\", \"lower\": -10, \"upper\": 10}";
static const char gain[] = "{\"name\": \"gain\", \"lower\": 5, \"upper\": 15}";
static const char cost[] = "{\"name\": \"cost\", \"lower\": 2, \"upper\": 10}";
static const char followed[] = "{\"time\": \"days\", \"event\": \"died\", \"horizon\": 100}";

static const char unlabelled[] =
    "{\"format\": \"tacit-schema\", \"version\": 1, \"columns\": ["
    "{\"name\": \"age\", \"type\": \"number\", \"lower\": 0, \"upper\": 100},"
    "{\"name\": \"educ\", \"type\": \"number\", \"lower\": 0, \"upper\": 20, \"missing\": 0},"
    "{\"name\": \"sex\", \"type\": \"category\", \"values\": [\"f\", \"m\", \"x\"], \"drop_first\": true}]%s}";

static const char open[] =
    "{\"format\": \"tacit-schema\", \"version\": 1, \"columns\": ["
    "{\"name\": \"age\", \"type\": \"number\", \"estimate\": true}], \"label\": %s}";

#define LONG "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345"
static const char wordy[] =
    "{\"format\": \"tacit-schema\", \"version\": 1, \"columns\": [{\"name\": \"a\", \"type\": "
    "\"category\", \"values\": [\"1" LONG "\", \"2" LONG "\", \"3" LONG "\", \"4" LONG "\"]}], \"label\": %s}";

/* What else is said of a table: the schema, the label's name, the end of follow-up, no constant; tests set it back. */
static struct {
  const char *form, *label, *positive;
  double horizon;
  bool bare, plain; /* plain: no errors are asked for */
} beside = {.form = schema};

/* What is expected, or NULL and the error. */
static json_t *expect(const char *loss, const char *label, double epsilon, int64_t rows, const char *asked,
                      tct_error *err) {
  char text[1200];
  tct_config c;
  tct_read_options read;
  tct_config_default(&c);
  tct_read_options_default(&read);
  snprintf(text, sizeof text, beside.form ? beside.form : "", label);
  c.loss = loss, c.epsilon = epsilon, c.delta = 1e-6, c.errors = beside.plain ? "none" : "robust", c.threads = 1;
  read.schema_text = beside.form ? text : NULL, read.label = beside.label, read.positive = beside.positive;
  if (beside.bare) c.intercept = 0;
  if (beside.horizon > 0) read.horizon = beside.horizon, read.event = "died";
  char *told = tct_expect_json(&c, &read, rows, asked, err);
  json_t *out = told ? json_loads(told, 0, NULL) : NULL;
  tct_text_free(told);
  return out;
}

static const json_t *weight(const json_t *all, const char *name) {
  size_t k;
  const json_t *w;
  json_array_foreach(json_object_get(all, "weights"), k,
                     w) if (!strcmp(json_string_value(json_object_get(w, "name")), name)) return w;
  fail_msg("no weight %s", name);
  return NULL;
}

static double of(const json_t *all, const char *name, const char *key) {
  return json_number_value(json_object_get(weight(all, name), key));
}

static json_t *sure(const char *loss, const char *label, double epsilon, const char *asked) {
  tct_error err = {0};
  json_t *all = expect(loss, label, epsilon, 20000, asked, &err);
  if (!all) fail_msg("%s", err.text);
  return all;
}

/* At much budget the errors are those of a logistic model: 1/sqrt(n s^2 v (1 - R2)), v the variance of the label. */
static void errors_are_those_of_the_assumed_table(void **state) {
  (void)state;
  json_t *all =
      sure("logistic", died, 1000,
           "{\"tries\": 2, \"assume\": {\"age\": [50, 10], \"educ\": [10, 2, 0.5], \"sex\": [0.5, 0.4, 0.1, 0.36], "
           "\"died\": 0.2}}");
  double v = 20000 * 0.16, share = 1 / 0.1 + 1 / 0.5; /* x against f */
  assert_true(fabs(of(all, "age", "standard_error") * sqrt(v * 100) - 1) < 0.2);
  assert_true(fabs(of(all, "educ", "standard_error") * sqrt(v * 4 * 0.5) - 1) < 0.1);
  assert_true(fabs(of(all, "sex=x", "standard_error") / sqrt(share / v / (1 - 0.36)) - 1) < 0.15);
  /* 1/n of the first level, and both means, 5 deviations each */
  double constant = 1 / 0.5 + 25 + 25 / 0.5;
  assert_float_equal(of(all, "age", "standard_error_most") / of(all, "age", "standard_error"), sqrt(2), 1e-9);
  assert_float_equal(of(all, "educ", "standard_error_most"), of(all, "educ", "standard_error"), 1e-12);
  assert_true(fabs(of(all, "(intercept)", "standard_error") / sqrt(constant / v) - 1) < 0.15);
  assert_true(of(all, "educ", "noise_part") < 0.05 && of(all, "educ", "withheld") == 0);
  assert_true(json_is_null(json_object_get(weight(all, "educ"), "power")));
  json_decref(all);
}

/* Likewise of the other losses, by what each record tells of its margin at the mean that is assumed. */
static void errors_are_those_of_the_assumed_mean(void **state) {
  (void)state;
  static const struct {
    const char *loss, *label, *assumed;
    double told;
  } all[] = {{"poisson:margin=2", visits, "\"visits\": 2", 2},
             {"gamma", visits, "\"visits\": 2", 1},
             {"squared", visits, "\"visits\": 0.5", 1 / 0.25},
             {"squared", gain, "\"gain\": 1000", 1 / 25.0}, /* they lie at both ends */
             {"gamma", cost, "\"cost\": 2.5", 2.71},        /* more than half lie at 2: mean 3.08, variance 3.49 */
             {"squared", growth, "\"growth\": 1000", 1 / 100.0},
             {"cox", followed, "\"died\": 0.4", 0.4}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    char asked[200];
    snprintf(asked, sizeof asked, "{\"tries\": 1, \"assume\": {\"educ\": [10, 3], %s}}", all[k].assumed);
    json_t *fit = sure(all[k].loss, all[k].label, 1000, asked);
    double ratio = of(fit, "educ", "standard_error") * 3 * sqrt(20000 * all[k].told);
    if (!(fabs(ratio - 1) < 0.15)) fail_msg("%s: %g times the error", all[k].loss, ratio);
    json_decref(fit);
  }
}

/* What noise adds is the part of the square that is told, and falls with the budget; tries differ by their noise. */
static void noise_is_what_the_budget_adds(void **state) {
  (void)state;
  double part[2], own[2];
  json_t *fits[] = {sure("logistic", died, 0.4, "{\"tries\": 2}"), sure("logistic", died, 0.8, "{\"tries\": 2}"),
                    sure("logistic", died, 1000, "{\"tries\": 2}"), sure("logistic", died, 0.4, "{\"tries\": 1}")};
  double none = of(fits[2], "educ", "standard_error");
  for (int k = 0; k < 2; k++) {
    part[k] = of(fits[k], "educ", "noise_part"), own[k] = of(fits[k], "educ", "standard_error");
    assert_true(fabs(own[k] * sqrt(1 - part[k]) / none - 1) < 0.15);
  }
  double ratio = part[0] * own[0] * own[0] / (part[1] * own[1] * own[1]);
  print_message("noise at 1 over that at 2: %.2f, parts %.2f and %.2f\n", ratio, part[0], part[1]);
  assert_true(ratio > 1.5 && ratio < 8);
  assert_true(fabs(of(fits[3], "educ", "standard_error") / own[0] - 1) > 1e-6);
  assert_true(fabs(of(fits[3], "educ", "noise_part") - part[0]) < 0.3 * part[0]);
  double se = of(fits[3], "educ", "standard_error"), half = of(fits[3], "educ", "width") / 2;
  assert_float_equal(of(fits[3], "educ", "detectable"), half + 0.841621 * se, 1e-5 * se); /* power 0.8 */
  assert_true(json_is_null(json_object_get(weight(fits[3], "educ"), "effect")));
  for (int k = 0; k < 4; k++) json_decref(fits[k]);
}

/* The effect that is found with power 0.8 is found so, and one of none at the test's own level. */
static void power_is_that_of_the_effect(void **state) {
  (void)state;
  char asked[200];
  json_t *first = sure("logistic", died, 1, "{\"assume\": {\"died\": [0.3]}}");
  double effect = of(first, "educ", "detectable");
  snprintf(asked, sizeof asked, "{\"effect\": {\"educ\": %.17g}, \"assume\": {\"died\": [0.3]}}", effect);
  json_t *all = sure("logistic", died, 1, asked);
  assert_true(fabs(of(all, "educ", "effect") / effect - 1) < 1e-9);
  assert_true(fabs(of(all, "educ", "power") - 0.8) < 0.05);
  assert_true(fabs(of(all, "age", "power") - 0.05) < 0.01);
  json_t *both = sure("logistic", died, 8, "{\"tries\": 1, \"effect\": {\"age\": 0.02}}");
  assert_true(fabs(of(both, "sex=x", "effect")) < 1e-12 && fabs(of(both, "age", "effect") - 0.02) < 1e-12);
  json_decref(both);
  assert_true(json_is_null(json_object_get(weight(all, "(intercept)"), "power")));
  assert_true(fabs(of(all, "educ", "width") / of(all, "educ", "standard_error") / 3.92 - 1) < 0.1);
  json_decref(first), json_decref(all);
}

static void every_loss_has_errors_and_few_records_have_none(void **state) {
  (void)state;
  static const char *const losses[] = {"poisson:margin=2", "gamma", "squared", "cox"};
  for (int k = 0; k < 4; k++) {
    json_t *all = sure(losses[k], k < 3 ? visits : followed, 4, "{\"tries\": 1, \"effect\": {\"age\": 0.001}}");
    assert_true(of(all, "age", "standard_error") > 0 && of(all, "age", "withheld") == 0);
    json_decref(all);
  }
  tct_error err = {0};
  json_t *few = expect("logistic", died, 0.1, 300, "{\"tries\": 2}", &err);
  assert_true(of(few, "age", "withheld") == 1 && json_is_null(json_object_get(weight(few, "age"), "standard_error")));
  json_decref(few);
  /* what a withheld column tells of others is in no other weight, and not in the constant */
  few = sure("logistic", died, 2, "{\"tries\": 2, \"assume\": {\"sex\": [0.6, 0.3998, 0.0002, 0.3]}}");
  assert_true(of(few, "sex=x", "withheld") == 1 && of(few, "(intercept)", "withheld") == 0);
  assert_true(of(few, "(intercept)", "standard_error_most") > of(few, "(intercept)", "standard_error"));
  json_decref(few);
}

/* Of three tries the middle one counts, by size and not by turn. */
static void the_middle_of_the_tries_is_told(void **state) {
  (void)state;
  json_t *fit[] = {sure("logistic", died, 1, "{\"tries\": 1}"), sure("logistic", died, 1, "{\"tries\": 2}"),
                   sure("logistic", died, 1, "{\"tries\": 3}")};
  static const char *const names[] = {"age", "educ", "sex=m", "sex=x", "(intercept)"};
  int other = 0;
  for (int k = 0; k < 5; k++) {
    double one = of(fit[0], names[k], "standard_error"), two = 2 * of(fit[1], names[k], "standard_error") - one;
    double told = of(fit[2], names[k], "standard_error");
    assert_true(told >= fmin(one, two) * (1 - 1e-9) && told <= fmax(one, two) * (1 + 1e-9));
    other += fabs(told / two - 1) > 1e-9;
  }
  assert_true(other > 0);
  for (int k = 0; k < 3; k++) json_decref(fit[k]);
}

static void sums_are_of_the_features(void **state) {
  (void)state;
  json_t *named = sure("logistic", died, 4, "{\"tries\": 1, \"effect\": {\"educ\": 0.1}}");
  json_t *sums = sure("logistic", died, 4,
                      "{\"tries\": 1, \"sums\": [[0, 0.05, 0, 0, 0], [0, 0.05, 0, 0, 0], [0, 0.05, 0, 0, 0], [0, 0.05, "
                      "0, 0, 0], [0, 0.05, 0, 0, 0]], \"weights\": [0, 2, 0, 0, 0]}");
  const json_t *fifth = json_array_get(json_object_get(sums, "weights"), 4); /* a sum, where a constant would be */
  assert_true(json_is_real(json_object_get(fifth, "power")));
  assert_string_equal(json_string_value(json_object_get(fifth, "name")), "");
  const json_t *sum = json_array_get(json_object_get(sums, "weights"), 0);
  double own = json_number_value(json_object_get(sum, "standard_error"));
  assert_true(fabs(json_number_value(json_object_get(sum, "effect")) - 0.1) < 1e-12);
  assert_true(fabs(own / of(named, "educ", "standard_error") - 1) < 1e-9);
  json_decref(named), json_decref(sums);
}

/* Weights of a product's columns are no single feature's: the population has the effect that was asked for.  Gaps take
 * records from a column, an exposure leaves its slopes. */
static void effects_are_of_columns_that_terms_mix(void **state) {
  (void)state;
  static const char mixed[] =
      "{\"format\": \"tacit-schema\", \"version\": 2, \"columns\": ["
      "{\"name\": \"age\", \"type\": \"number\", \"lower\": 20, \"upper\": 100},"
      "{\"name\": \"educ\", \"type\": \"number\", \"lower\": 5, \"upper\": 20},"
      "{\"name\": \"pain\", \"type\": \"number\", \"lower\": 0, \"upper\": 4},"
      "{\"name\": \"seen\", \"type\": \"date\", \"lower\": \"2000-01-01\", \"upper\": \"2010-01-01\"},"
      "{\"name\": \"bmi\", \"type\": \"number\", \"lower\": 10, \"upper\": 50, \"missing\": \"indicator\"}],"
      "\"terms\": [\"age\", \"educ\", {\"product\": [\"age\", \"educ\"]}, \"bmi\", "
      "{\"of\": \"pain\", \"as\": \"power\", \"degree\": 2}], \"label\": %s}";
  beside.form = mixed;
  json_t *all = sure("logistic", died, 100,
                     "{\"tries\": 1, \"effect\": {\"age\": 0.05, \"age:educ\": -0.002, \"pain^2\": 0.01}}");
  assert_true(fabs(of(all, "age", "effect") - 0.05) < 1e-9 && fabs(of(all, "age:educ", "effect") + 0.002) < 1e-10);
  assert_true(fabs(of(all, "educ", "effect")) < 1e-9 && fabs(of(all, "pain^2", "effect") - 0.01) < 1e-9);
  /* age at educ = 0, which is 2.9 deviations off: 3 times the error at the middle, and more where labels are uneven */
  assert_true(of(all, "age", "standard_error") * sqrt(20000 * 0.25 * 80 * 80 / 12) > 2);
  json_decref(all);
  beside.form = schema;
}

/* Labels follow the effect.  About educ = 10, where half are positive or the mean counts twice, a record's v is what
 * its label tells: 1/se^2 is the sum of v (educ - its mean by v)^2. */
static void labels_follow_the_effect(void **state) {
  (void)state;
  enum { N = 20000 };
  static const struct {
    const char *loss, *label, *asked;
    double effect, mean;
  } all[] = {
      {"logistic", died, "{\"tries\": 1, \"effect\": {\"educ\": 0.25}}", 0.25, 0},
      {"poisson:margin=2", visits, "{\"tries\": 1, \"effect\": {\"educ\": 0.1}, \"assume\": {\"visits\": 1}}", 0.1, 1}};
  for (int k = 0; k < 2; k++) {
    double s[3] = {0}, level = 0;
    for (int i = 0; i < N; i++) level += exp(all[k].effect * 20 * (i + 0.5) / N) / N;
    for (int i = 0; i < N; i++) {
      double x = 20 * (i + 0.5) / N, p = 1 / (1 + exp(-all[k].effect * (x - 10)));
      double v = all[k].mean > 0 ? all[k].mean * exp(all[k].effect * x) / level : p * (1 - p);
      s[0] += v, s[1] += v * x, s[2] += v * x * x;
    }
    json_t *fit = sure(all[k].loss, all[k].label, 1000, all[k].asked);
    double ratio = of(fit, "educ", "standard_error") * sqrt(s[2] - s[1] * s[1] / s[0]);
    print_message("%s: %.3f times\n", all[k].loss, ratio);
    assert_true(fabs(ratio - 1) < 0.1);
    json_decref(fit);
  }
}

/* The label by the name that the caller gives, a horizon of the options, no constant. */
static void what_the_caller_says_beside_the_schema_counts(void **state) {
  (void)state;
  json_t *named = sure("logistic", died, 100, "{\"tries\": 1, \"assume\": {\"died\": 0.1}}");
  beside.label = "dead";
  json_t *called = sure("logistic", died, 100, "{\"tries\": 1, \"assume\": {\"dead\": 0.1}}");
  assert_true(json_equal(named, called));
  tct_error err = {0};
  assert_null(expect("logistic", died, 100, 20000, "{\"assume\": {\"edu\": [1, 2]}}", &err));
  assert_non_null(strstr(err.text, "no such column"));
  beside.label = NULL, beside.bare = true;
  json_t *bare =
      sure("logistic", died, 100, "{\"tries\": 1, \"sums\": [[0, 0.05, 0, 0, 9]], \"weights\": [0, 2, 0, 0, 3]}");
  json_t *all = sure("logistic", died, 100, "{\"tries\": 1}");
  assert_true(fabs(json_number_value(json_object_get(json_array_get(json_object_get(bare, "weights"), 0), "effect")) -
                   0.1) < 1e-12);
  assert_int_equal(json_array_size(json_object_get(all, "weights")), 4);
  beside.bare = false;
  json_t *own = sure("cox", followed, 100, "{\"tries\": 1}");
  beside.horizon = 100, beside.label = "days", beside.form = unlabelled;
  json_t *other = sure("cox", "", 100, "{\"tries\": 1}");
  assert_true(json_equal(own, other));
  beside.horizon = 0, beside.label = NULL, beside.form = schema;
  json_decref(named), json_decref(called), json_decref(bare), json_decref(all), json_decref(own), json_decref(other);
}

static void refused(const char *asked, const char *why) {
  tct_error err = {0};
  assert_null(expect("logistic", died, 1, 20000, asked, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  if (!strstr(err.text, why) || strstr(err.text, "(intercept)")) fail_msg("%s: %s", why, err.text);
}

static void what_is_asked_wrongly_is_refused(void **state) {
  (void)state;
  tct_error err = {0};
  refused("{\"effect\": {\"edu\": 1}}", "there are age, educ, sex=m, sex=x");
  refused("{\"effect\": {\"educ\": \"a\"}}", "is no number");
  refused("{\"assume\": {\"edu\": [1, 2]}}", "no such column");
  refused("{\"assume\": {\"educ\": [1]}}", "of another form");
  refused("{\"assume\": {\"educ\": [20, 1]}}", "within its bounds");
  refused("{\"assume\": {\"died\": [0.1, 0.2]}}", "of the label a share");
  refused("{\"assume\": {\"educ\": [1, 0]}}", "of another form");
  refused("{\"assume\": {\"educ\": [1, 1, 0.5, 1]}}", "of another form");
  refused("{\"assume\": {\"educ\": [1, 1, -0.5]}}", "of another form");
  refused("{\"assume\": {\"educ\": [\"a\", 1]}}", "of another form");
  refused("{\"assume\": {\"educ\": 5}}", "of another form");
  refused("{\"assume\": {\"sex\": [0.5, 0.7, -0.2]}}", "of another form");
  refused("{\"tries\": 1000, \"assume\": {\"edu\": [1, 2]}}", "no such column");
  refused("{\"tries\": 1001}", "tries");
  refused("{\"assume\": 5}", "by names");
  refused("{\"effect\": [1]}", "by names");
  refused("{\"assume\": {\"educ\": [1, 1, 1]}}", "of another form");
  refused("{\"assume\": {\"sex\": [0.5, 0.5]}}", "of another form");
  refused("{\"assume\": {\"sex\": [0.5, 0.5, 0.5]}}", "add up to 1.5");
  refused("{\"assume\": {\"died\": 1}}", "share between 0 and 1");
  refused("{\"assume\": {\"died\": 0}}", "share between 0 and 1");
  assert_null(expect("cox", followed, 1, 20000, "{\"assume\": {\"died\": 1}}", &err));
  assert_null(expect("gamma", cost, 1, 20000, "{\"assume\": {\"cost\": 11}}", &err));
  assert_non_null(strstr(err.text, "mean within its bounds"));
  assert_null(expect("gamma", cost, 1, 20000, "{\"assume\": {\"cost\": [1, 1]}}", &err));
  assert_non_null(strstr(err.text, "share between 0 and 1"));
  refused("{\"tries\": 0}", "tries");
  refused("{\"tries\": 4294967297}", "tries");
  refused("{\"tries\": -4294967295}", "tries");
  refused("[]", "JSON");
  refused("{\"sums\": [[1]]}", "a number for each of 4");
  assert_null(expect("hinge", died, 1, 20000, NULL, &err));
  assert_null(expect("hinge", died, 1, 20000, NULL, NULL));
  assert_null(expect("logistic", died, INFINITY, 20000, NULL, &err));
  assert_non_null(strstr(err.text, "no private standard errors are asked for"));
  assert_null(expect("logistic", many, 8, 20000, NULL, &err));
  assert_non_null(strstr(err.text, "weights of several classes have no errors"));
  json_t *one = sure("logistic", "{\"name\": \"ward\", \"values\": [\"a\", \"b\", \"c\"], \"positive\": \"b\"}", 8,
                     "{\"tries\": 1}");
  beside.positive = "b";
  json_t *same = sure("logistic", many, 8, "{\"tries\": 1}");
  assert_true(json_equal(one, same));
  json_decref(one), json_decref(same);
  beside.positive = NULL, beside.form = wordy;
  assert_null(expect("logistic", died, 1, 20000, "{\"effect\": {\"edu\": 1}}", &err));
  beside.form = schema;
  assert_null(expect("logistic", died, 1, 1000000000, NULL, &err));
  assert_non_null(strstr(err.text, "ask about 10000000: errors of more records are smaller"));
  static const struct {
    int64_t rows;
    const char *asked, *why;
  } many_rows[] = {{0, NULL, "public number"}, {2000000000, NULL, "public number"}, {0, "{\"tries\": 0}", "tries"}};
  for (int k = 0; k < 3; k++) {
    assert_null(expect("logistic", died, 1, many_rows[k].rows, many_rows[k].asked, &err));
    assert_non_null(strstr(err.text, many_rows[k].why));
  }
  json_t *alone = expect("logistic", died, 1, 1, "{\"tries\": 1}", &err);
  assert_true(alone || !strstr(err.text, "public number"));
  json_decref(alone);
  assert_null(expect("cox", followed, 1, 20000, "{\"assume\": {\"edu\": [1, 2]}}", &err));
  assert_non_null(strstr(err.text, "no such column"));
  beside.plain = true;
  assert_null(expect("hinge", died, 1, 20000, NULL, &err));
  assert_non_null(strstr(err.text, "no private standard errors are asked for"));
  beside.plain = false, beside.form = open;
  assert_null(expect("logistic", died, 1, 20000, NULL, &err));
  assert_non_null(strstr(err.text, "bounds that an estimate will find"));
  beside.form = NULL;
  assert_null(expect("logistic", died, 1, 20000, NULL, &err));
  assert_non_null(strstr(err.text, "the columns of a schema"));
  beside.form = schema;
  json_decref(sure("logistic", "{\"name\": \"died\", \"values\": [\"no\", \"yes\"]}", 8, "{\"tries\": 1}"));
  beside.form = unlabelled;
  assert_null(expect("logistic", "", 1, 20000, "{\"assume\": {\"edu\": [1, 2]}}", &err));
  assert_non_null(strstr(err.text, "no such column"));
  beside.form = schema;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_the_assumed_table),
      cmocka_unit_test(errors_are_those_of_the_assumed_mean),
      cmocka_unit_test(noise_is_what_the_budget_adds),
      cmocka_unit_test(power_is_that_of_the_effect),
      cmocka_unit_test(every_loss_has_errors_and_few_records_have_none),
      cmocka_unit_test(the_middle_of_the_tries_is_told),
      cmocka_unit_test(sums_are_of_the_features),
      cmocka_unit_test(effects_are_of_columns_that_terms_mix),
      cmocka_unit_test(labels_follow_the_effect),
      cmocka_unit_test(what_the_caller_says_beside_the_schema_counts),
      cmocka_unit_test(what_is_asked_wrongly_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
