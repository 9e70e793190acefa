/* test_private_score.c - scores that may be published: how far a record moves them, their noise, and their charge. */
#include "../fault/ledger_help.h"

#include "la/matrix/lattice.h"
#include "score/score.h"

#include <math.h>

static const double hostile[] = {0,    1e-300, -1e-300, 0.3,    -0.3,     1,         -1,  5.9999, 6,
                                 6.01, -6,     1e6,     -1e300, INFINITY, -INFINITY, NAN, 2,      -2};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* The longest term of one record under this loss, over all hostile margins and labels. */
static double longest(const char *loss, int labels, double lattice) {
  tct_error err = {0};
  tct_scoring s;
  char text[64];
  snprintf(text, sizeof text, "%s", loss);
  tct_model model = {.loss = text, .labels = labels, .label_bound = labels == TCT_LABELS_REAL ? 3 : NAN};
  if (tct_scoring_make(&model, &s, &err) != TCT_OK) fail_msg("%s", err.text);
  double most = 0;
  for (int i = 0; i < HOSTILE; i++)
    for (int j = 0; j < (s.binary ? 2 : HOSTILE); j++) {
      double term[TCT_SCORE_BINARY] = {0}, square = 0;
      tct_scoring_add(&s, hostile[i], s.binary ? 2 * j - 1 : hostile[j], lattice, term);
      for (int k = 0; k < s.len; k++) square += term[k] * term[k];
      for (int k = 0; k < s.len && lattice > 0; k++) assert_true(term[k] == tct_lattice_part(term[k], lattice));
      assert_true(square <= 1); /* false for NaN too */
      most = fmax(most, square);
    }
  return sqrt(most);
}

static void a_records_term_is_at_most_one_long_and_some_record_has_that(void **state) {
  (void)state;
  for (int k = 0; k < tct_loss_kind_count; k++) {
    const tct_loss_kind *kind = tct_loss_kinds[k];
    int labels = kind->binary ? TCT_LABELS_BINARY : TCT_LABELS_REAL;
    double reached = longest(kind->name, labels, 0x1p-40);
    if (!(reached >= 0.99)) fail_msg("%s reaches %g of its length", kind->name, reached);
    assert_true(longest(kind->name, labels, 0) >= 0.99);
  }
}

/* ---- through the interface --------------------------------------------------------------------------- */

enum { PEOPLE = 1500, COLUMNS = 2, TIMES = 300 };
static double features[PEOPLE * COLUMNS], labels[PEOPLE];

static tct_data *table(bool real) {
  tct_error err = {0};
  uint64_t word = 7;
  for (int i = 0; i < PEOPLE; i++) {
    double score = 0;
    for (int j = 0; j < COLUMNS; j++) {
      word = word * 6364136223846793005u + 1442695040888963407u;
      features[i * COLUMNS + j] = (double)(word >> 11) * 0x1p-53;
      score += (j ? -1.0 : 2.0) * features[i * COLUMNS + j];
    }
    word = word * 6364136223846793005u + 1442695040888963407u;
    double noise = (double)(word >> 11) * 0x1p-53 - 0.5;
    labels[i] = real ? score + noise : score + noise > 0.5 ? 1 : -1;
  }
  tct_matrix x = {.layout = TCT_DENSE_ROWS,
                  .value_type = TCT_F64,
                  .rows = PEOPLE,
                  .cols = COLUMNS,
                  .values = features,
                  .stride = COLUMNS};
  tct_data *data = tct_data_view(&x, labels, real ? TCT_LABELS_REAL : TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) fail_msg("%s", err.text);
  return data;
}

static tct_model *trained(const tct_data *data, bool real) {
  tct_error err = {0};
  tct_config config;
  tct_config_default(&config);
  config.loss = real ? "squared" : "logistic";
  config.epsilon = 5, config.delta = 1e-6, config.row_norm = 2, config.has_seed = 1, config.seed = 3;
  if (real) config.label_bound = 3;
  tct_plan *plan = tct_plan_new(&config, PEOPLE, COLUMNS, &err);
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (!model) fail_msg("%s", err.text);
  tct_plan_free(plan);
  return model;
}

static json_t *scored(const tct_model *model, const tct_data *data, tct_config *budget) {
  tct_error err = {0};
  return parsed(tct_evaluate_json(model, data, budget, &err), &err);
}

/* What the released figures do over many runs, beside the exact one and the stated deviation. */
static void compare(const char *name, bool real, double exact) {
  tct_data *data = table(real);
  tct_model *model = trained(data, real);
  tct_config budget;
  tct_config_default(&budget);
  budget.epsilon = real ? 30 : 1, budget.delta = 1e-6, budget.has_seed = 1; /* no figure is cut to what it can be */
  double sum = 0, squares = 0, stated = 0;
  for (int k = 0; k < TIMES; k++) {
    budget.seed = (uint64_t)k + 1;
    json_t *root = scored(model, data, &budget);
    double value = number_at(root, name, "value"), miss = value - exact;
    sum += miss, squares += miss * miss, stated += number_at(root, name, "noise_error");
    assert_true(number_at(root, name, "lower") <= value && value <= number_at(root, name, "upper"));
    json_decref(root);
  }
  double mean = sum / TIMES, deviation = sqrt(squares / TIMES - mean * mean), ratio = deviation / (stated / TIMES);
  if (!(ratio > 0.85 && ratio < 1.15)) fail_msg("%s: the deviation is %g of the stated one", name, ratio);
  if (!(fabs(mean) < 4.5 * deviation / sqrt(TIMES) + 0.003)) fail_msg("%s: off by %g on average", name, mean);
  tct_model_free(model);
  tct_data_free(data);
}

/* What the exact evaluation says of the same model and table. */
static double exact(const char *name, bool real) {
  tct_error err = {0};
  tct_data *data = table(real);
  tct_model *model = trained(data, real);
  json_t *root = parsed(tct_evaluate_json_nonprivate(model, data, &err), &err);
  double value = json_number_value(json_object_get(root, name));
  json_decref(root);
  tct_model_free(model);
  tct_data_free(data);
  return value;
}

static void figures_lie_about_the_exact_ones_with_the_stated_deviation(void **state) {
  (void)state;
  compare("accuracy", false, exact("accuracy", false));
  compare("mean_loss", false, exact("mean_loss", false));
  compare("auc", false, exact("auc", false));
  compare("mse", true, exact("mse", true));
}

static void an_error_that_cannot_be_computed_is_not_small(void **state) {
  (void)state;
  double sum[TCT_SCORE_BINARY];
  for (int real = 0; real <= 1; real++) {
    tct_error err;
    tct_scoring scoring;
    tct_data *data = table(real);
    tct_model *model = trained(data, real);
    assert_int_equal(tct_scoring_make(model, &scoring, &err), TCT_OK);
    for (int64_t j = 0; j < scoring.len; j++) sum[j] = NAN;
    tct_figures f = tct_scoring_read(&scoring, sum, 1, PEOPLE);
    if (real)
      assert_true(isnan(f.mse.sampling) && isnan(f.r2.value));
    else
      assert_true(isnan(f.accuracy.sampling) && isnan(f.mean_loss.sampling) && isnan(f.auc.value));
    tct_model_free(model);
    tct_data_free(data);
  }
}

static void the_event_costs_what_was_asked_under_both_relations(void **state) {
  (void)state;
  tct_data *data = table(false);
  tct_model *model = trained(data, false);
  for (int relation = 0; relation < 2; relation++) {
    tct_error err = {0};
    tct_config budget;
    tct_config_default(&budget);
    budget.epsilon = 0.7, budget.delta = 1e-6, budget.neighbours = relation ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    json_t *root = scored(model, data, &budget);
    const char *event = json_string_value(json_array_get(json_object_get(root, "events"), 0));
    json_t *cost = parsed(tct_account_json(&event, 1, budget.neighbours, 1e-6, &err), &err);
    double epsilon = json_number_value(json_object_get(cost, "epsilon"));
    if (!(epsilon <= 0.7 * (1 + 1e-9) && epsilon > 0.69)) fail_msg("%s costs %g", event, epsilon);
    json_decref(cost);
    json_decref(root);
  }
  tct_model_free(model);
  tct_data_free(data);
}

static void the_ledger_is_charged_and_what_it_refuses_is_not_scored(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(false);
  tct_model *model = trained(data, false);
  tct_config budget;
  tct_config_default(&budget);
  new_ledger(1, NULL);
  budget.epsilon = 0.6, budget.delta = 1e-6, budget.ledger = "L";
  json_decref(scored(model, data, &budget));
  assert_int_equal(count_runs(), 1);
  assert_null(tct_evaluate_json(model, data, &budget, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  assert_int_equal(count_runs(), 1);
  tct_model_free(model);
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_records_term_is_at_most_one_long_and_some_record_has_that),
      cmocka_unit_test(figures_lie_about_the_exact_ones_with_the_stated_deviation),
      cmocka_unit_test(an_error_that_cannot_be_computed_is_not_small),
      cmocka_unit_test(the_event_costs_what_was_asked_under_both_relations),
      cmocka_unit_test(the_ledger_is_charged_and_what_it_refuses_is_not_scored),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
