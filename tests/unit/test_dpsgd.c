/* test_dpsgd.c - the defaults of dpsgd: more epsilon is never worse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tacit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, P = 6, FITS = 4 };

static double x[N * P], y[N];

/* Logistic labels of a model of norm 12 or less, rows in the unit ball. */
static tct_data *table(void) {
  uint64_t state = 11;
  tct_error err = {0};
  for (int i = 0; i < N; i++) {
    double z = 0;
    for (int j = 0; j < P; j++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x[i * P + j] = ((double)(state >> 11) * 0x1p-53 * 2 - 1) / sqrt(P);
      z += (j % 2 ? -5 : 5) * x[i * P + j];
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    y[i] = (double)(state >> 11) * 0x1p-53 < 1 / (1 + exp(-z)) ? 1 : -1;
  }
  tct_matrix rows = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = x, .stride = P};
  tct_data *data = tct_data_view(&rows, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) fail_msg("%s", err.text);
  return data;
}

/* The objective at this epsilon, the mean over FITS fits. */
static double objective(const tct_data *data, double epsilon) {
  double sum = 0;
  for (int f = 0; f < FITS; f++) {
    tct_config c;
    tct_error err = {0};
    tct_config_default(&c);
    c.loss = "logistic", c.solver = "dpsgd", c.row_norm = 1, c.threads = 1;
    c.epsilon = epsilon, c.delta = 1e-5, c.has_seed = 1, c.seed = (uint64_t)f;
    tct_plan *plan = tct_plan_new(&c, N, P, &err);
    tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
    if (!model) fail_msg("%s", err.text);
    char *json = tct_evaluate_json_nonprivate(model, data, &err), *at = strstr(json, "\"objective\":");
    sum += strtod(at + strlen("\"objective\":"), NULL) / FITS;
    tct_text_free(json);
    tct_model_free(model);
    tct_plan_free(plan);
  }
  return sum;
}

/* The noise of a mean of FITS is below a thousandth where epsilon is 1 or more. */
static void more_epsilon_is_never_worse_by_default(void **state) {
  (void)state;
  static const double epsilons[] = {0.25, 1, 4, 8, 16};
  tct_data *data = table();
  double before = INFINITY;
  for (int k = 0; k < 5; k++) {
    double now = objective(data, epsilons[k]);
    print_message("epsilon %g: %.5f\n", epsilons[k], now);
    assert_true(now < before + 0.001);
    before = now;
  }
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(more_epsilon_is_never_worse_by_default)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
