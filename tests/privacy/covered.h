/* covered.h - fits of drawn tables with standard errors, and how many of their intervals hold the truth. */
#ifndef TCT_TESTS_COVERED_H
#define TCT_TESTS_COVERED_H
#include "worlds.h"

#include "../bench/lib/coverage.h"
#include "infer/inference.h"
#include "model/model.h"

/* own[t->n]: weights whose cap is 1, or NULL. */
static inline tct_model *covered_fit(const coverage_table *t, coverage_loss loss, const char *solver, double epsilon,
                                     const double *own, uint64_t seed) {
  tct_error err = {0};
  tct_config config = world_config(coverage_losses[loss], "none", solver);
  config.epsilon = epsilon, config.delta = 1e-6, config.seed = seed;
  config.row_norm = t->row_norm, config.label_bound = t->label_bound;
  tct_matrix x = {.rows = t->n, .cols = t->p, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = t->p};
  tct_data *data = tct_data_view(&x, t->y, tct_config_labels(&config), NULL, NULL, &err);
  tct_plan *plan = tct_plan_new(&config, t->n, t->p, &err);
  if (own) assert_int_equal(tct_data_weigh(data, own, 1, NULL, &err), TCT_OK);
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (!model) fail_msg("%s", err.text);
  tct_plan_free(plan);
  tct_data_free(data);
  return model;
}

/* At epsilon 4. */
static inline tct_model *covered_train(const coverage_table *t, coverage_loss loss, const char *solver, uint64_t seed) {
  return covered_fit(t, loss, solver, 4, NULL, seed);
}

/* A table that is drawn, its exact fit and the standard errors of that. */
static inline coverage_table covered_exactly(coverage_kind kind, coverage_loss loss, int64_t n, int64_t p,
                                             uint64_t number, double *exact, double *se) {
  coverage_truth(kind, loss, p, exact);
  coverage_table t = coverage_draw(kind, loss, n, p, number);
  coverage_exact(&t, loss, 1, exact, se);
  return t;
}

static inline tct_contrast covered_weight(const tct_model *model, int64_t j) {
  double c[16] = {0};
  c[j] = 1;
  return tct_inference_contrast(&model->inference, c);
}

/* 600 intervals of 150 tables of 2,000 records, epsilon 4: 95 % holds within 4.5 in 100 but for one of 10^5 seeds, were
 * weights independent. */
static inline void covered_check(coverage_loss loss, const char *solver, const double *own) {
  enum { RUNS = 150, P = 4 };
  double truth[P];
  int hit = 0, given = 0;
  coverage_truth(INDEPENDENT, loss, P, truth);
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, loss, 2000, P, 50 + (uint64_t)run);
    tct_model *model = covered_fit(&t, loss, solver, 4, own, 900 + (uint64_t)run);
    for (int64_t j = 0; j < P; j++) {
      tct_contrast errors = covered_weight(model, j);
      if (errors.why != TCT_GIVEN) continue;
      double half = tct_student_quantile(0.95, errors.degrees) * errors.standard_error;
      given++, hit += fabs(model->coefficients[j] - truth[j]) <= half;
    }
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("%s: %d of %d intervals cover\n", coverage_losses[loss], hit, given);
  assert_true(given > 0.9 * RUNS * P);
  assert_true(hit > 0.905 * given && hit < 0.99 * given);
}

/* How far the mean intercept of 16 tables with few positives or small counts is off. */
static inline void covered_check_intercept(coverage_loss loss, const char *solver) {
  enum { RUNS = 16, P = 4 };
  double truth[P], sum = 0;
  coverage_truth(OFFSET, loss, P, truth);
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(OFFSET, loss, 20000, P, 300 + (uint64_t)run);
    tct_model *model = covered_train(&t, loss, solver, 40 + (uint64_t)run);
    tct_contrast errors = covered_weight(model, P - 1);
    assert_true(errors.why == TCT_GIVEN);
    sum += (model->coefficients[P - 1] - truth[P - 1]) / errors.standard_error;
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("the intercept is %.2f standard errors off\n", sum / RUNS);
  if (!(fabs(sum / RUNS) < 0.8)) fail_msg("the intercept is %g standard errors off", sum / RUNS);
}
#endif
