/* test_check.c - settings are refused before the data are there only where they are wrong for all data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/status.h"
#include "read/table/data.h"
#include "train/fit.h"
#include "train/plan.h"

#include <math.h>
#include <string.h>

static tct_config config_of(const char *loss, const char *penalty, const char *solver) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = loss, c.penalty = penalty, c.solver = solver;
  c.epsilon = 1, c.delta = 1e-6;
  c.row_norm = c.label_bound = 1;
  return c;
}

/* What some shape allows passes, however large or small that shape. */
static void what_some_table_allows_is_not_refused(void **state) {
  (void)state;
  static const struct {
    const char *loss, *penalty, *solver;
    int64_t rows, cols;
  } all[] = {{"logistic", "l2:lambda=0.01", "dpscd:batch=4000000", 50000000, 3},
             {"logistic", "none", "dpagd:batch=3", 500, 3},
             {"squared", "none", "adassp", 5000, 2},
             {"logistic", "none", "dpnewton", 3000, 2},
             {"logistic", "l1ball:radius=2", "dpfw_parties:parties=40", 3000, 40},
             {"logistic", "none", "dpcd:smoothness=public,bounds=1/2/3/1/2/3/1", 3000, 7},
             {"logistic", "l2:lambda=0.01", "dpscd", 20, 2},
             {"logistic", "l2:lambda=0.01", NULL, 10, 1}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    tct_error err = {0};
    tct_config c = config_of(all[k].loss, all[k].penalty, all[k].solver);
    tct_plan *plan = tct_plan_new(&c, all[k].rows, all[k].cols, &err);
    if (!plan) fail_msg("%s cannot be planned here: %s", all[k].solver, err.text);
    tct_plan_free(plan);
    if (tct_config_check(&c, 0, &err) != TCT_OK) fail_msg("%s: %s", all[k].solver, err.text);
  }
}

static void what_no_table_allows_is_refused_in_the_plans_words(void **state) {
  (void)state;
  static const char *const all[][4] = {{"logistic", "l2:lambda=1", "dpscd:nosuch=1", "nosuch"},
                                       {"logistic", "none", "dpscd", "ridge"},
                                       {"hinge", "none", "dpnewton", "curvature"},
                                       {"logistic", "none", "adassp", "least squares"},
                                       {"logistic", "none", "dpfw", "l1 ball"},
                                       {"logistic", "none", "scd", "not private"},
                                       {"nosuch", "none", "dpgd", "loss"},
                                       {"logistic", "nosuch", "dpgd", "penalty"}};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    tct_error err = {0}, plan = {0};
    tct_config c = config_of(all[k][0], all[k][1], all[k][2]);
    assert_int_equal(tct_config_check(&c, 0, &err), TCT_E_USAGE);
    if (!strstr(err.text, all[k][3])) fail_msg("%s: %s", all[k][2], err.text);
    assert_null(tct_plan_new(&c, 100000, 20, &plan));
    assert_string_equal(err.text, plan.text);
  }
}

static void bounds_may_be_missing_where_a_schema_is_to_give_them(void **state) {
  (void)state;
  tct_config c = config_of("squared", "none", "dpgd");
  c.row_norm = c.label_bound = NAN;
  assert_int_equal(tct_config_check(&c, 1, NULL), TCT_OK);
  assert_int_equal(tct_config_check(&c, 0, NULL), TCT_E_USAGE);
  c.solver = "lbfgs", c.epsilon = NAN; /* without privacy there need be none */
  assert_int_equal(tct_config_check(&c, 0, NULL), TCT_OK);
}

/* The plan is made, and the fit refuses with this sentence. */
static void fit_refuses(const tct_config *c, const tct_matrix *x, const double *y, int32_t labels, tct_status status,
                        const char *sentence) {
  tct_error err = {0};
  tct_data *data = tct_data_view(x, y, labels, NULL, NULL, &err);
  tct_plan *plan = tct_plan_new(c, x->rows, x->cols, &err);
  assert_non_null(data);
  assert_non_null(plan);
  assert_null(tct_fit(plan, data, &err));
  assert_int_equal(err.status, status);
  assert_non_null(strstr(err.text, sentence));
  tct_plan_free(plan);
  tct_data_free(data);
}

/* Nothing as long as the columns may be taken before: 2^31 weights are 16 GiB. */
static void columns_that_memory_has_no_room_for_are_refused_before_the_data_and_by_the_fit(void **state) {
  (void)state;
  tct_error err = {0};
  tct_config c = config_of("logistic", "none", "dpgd:steps=1");
  double y[2] = {1, -1}, value[2] = {0.5, 0.25};
  int32_t start[3] = {0, 1, 2}, index[2] = {0, 1};
  tct_matrix x = {.rows = 2, .cols = 2000000000, .layout = TCT_CSR, .value_type = TCT_F64, .index_type = TCT_I32};
  x.start = start, x.index = index, x.values = value;
  c.cols = 20;
  assert_int_equal(tct_config_check(&c, 0, &err), TCT_OK);
  c.cols = x.cols;
  assert_int_equal(tct_config_check(&c, 0, &err), TCT_E_MEMORY);
  assert_non_null(strstr(err.text, "2000000000 columns"));
  fit_refuses(&c, &x, y, TCT_LABELS_BINARY, TCT_E_MEMORY, "2000000000 columns");
}

static void labels_of_another_kind_than_the_loss_needs_are_refused_by_the_fit(void **state) {
  (void)state;
  static const char *const loss[] = {"logistic", "squared"};
  static const int32_t kind[] = {TCT_LABELS_REAL, TCT_LABELS_BINARY};
  double y[2] = {1, -1}, value[2] = {0.5, 0.25};
  tct_matrix x = {.rows = 2, .cols = 1, .layout = TCT_DENSE_ROWS, .values = value, .stride = 1};
  for (int k = 0; k < 2; k++) {
    tct_config c = config_of(loss[k], "none", "dpgd:steps=1");
    fit_refuses(&c, &x, y, kind[k], TCT_E_DATA, "another kind");
  }
}

/* A solver that reads no disk takes every table in memory. */
static void records_in_memory_are_no_question_of_the_disk(void **state) {
  (void)state;
  tct_error err = {0};
  double y[] = {1, -1, 1, -1}, value[] = {0.5, 0.25, -1, 0.5};
  tct_matrix x = {.rows = 4, .cols = 1, .layout = TCT_DENSE_ROWS, .values = value, .stride = 1};
  tct_config c = config_of("logistic", "none", "dpcd:smoothness=public");
  tct_plan *plan = tct_plan_new(&c, x.rows, x.cols, &err);
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_true(plan && data && plan->solver->row_bytes == 0);
  if (tct_limit_check_data(plan, data, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_plan_free(plan);
  tct_data_free(data);
}

/* Errors stand for a solver where none is named, and for no other. */
static void errors_take_no_other_solver_s_place(void **state) {
  (void)state;
  tct_error err = {0};
  tct_config c = config_of("squared", "none", "auto");
  c.errors = "model", c.intercept = 1;
  tct_plan *plan = tct_plan_new(&c, 1000, 2, &err);
  assert_non_null(plan);
  assert_string_equal(plan->solver->name, "dponestep");
  tct_plan_free(plan);
  c.solver = "dpgd";
  assert_null(tct_plan_new(&c, 1000, 2, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
}

static void an_offset_goes_with_an_intercept_and_an_exposure_with_counts(void **state) {
  (void)state;
  static const struct {
    const char *loss;
    int32_t intercept, exposure;
    tct_status status;
  } cases[] = {{"poisson", 1, 1, TCT_OK},
               {"logistic", 1, 0, TCT_OK},
               {"logistic", 1, 1, TCT_E_USAGE},
               {"poisson", 0, 1, TCT_E_USAGE}};
  double y[2] = {1, 1}, value[2] = {0.5, 0.25}, offset[2] = {0};
  tct_matrix x = {.rows = 2, .cols = 1, .layout = TCT_DENSE_ROWS, .values = value, .stride = 1};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tct_error err = {0};
    tct_config c = config_of(cases[k].loss, "none", "dpgd:steps=1");
    c.intercept = cases[k].intercept;
    tct_data *data = tct_data_view(&x, y, tct_config_labels(&c), NULL, NULL, &err);
    tct_plan *plan = tct_plan_new(&c, 2, 1, &err);
    assert_non_null(data);
    assert_non_null(plan);
    data->offset = offset, data->exposure = cases[k].exposure;
    assert_int_equal(tct_fit_check_offset(plan, data, &err), cases[k].status);
    data->offset = NULL;
    tct_plan_free(plan);
    tct_data_free(data);
  }
}

static void a_table_of_nothing_has_no_plan(void **state) {
  (void)state;
  tct_config c = config_of("logistic", "none", "dpgd:steps=1");
  for (int k = 0; k < 2; k++) {
    tct_error err = {0};
    assert_null(tct_plan_new(&c, k, 1 - k, &err));
    assert_int_equal(err.status, TCT_E_DATA);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_some_table_allows_is_not_refused),
      cmocka_unit_test(what_no_table_allows_is_refused_in_the_plans_words),
      cmocka_unit_test(columns_that_memory_has_no_room_for_are_refused_before_the_data_and_by_the_fit),
      cmocka_unit_test(labels_of_another_kind_than_the_loss_needs_are_refused_by_the_fit),
      cmocka_unit_test(records_in_memory_are_no_question_of_the_disk),
      cmocka_unit_test(errors_take_no_other_solver_s_place),
      cmocka_unit_test(an_offset_goes_with_an_intercept_and_an_exposure_with_counts),
      cmocka_unit_test(a_table_of_nothing_has_no_plan),
      cmocka_unit_test(bounds_may_be_missing_where_a_schema_is_to_give_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
