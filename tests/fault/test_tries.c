/* test_tries.c - a private search whose memory or entropy fails: one clean error, no model, and no word about a try. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "rng/rng.h"
#include "tacit.h"

#include <stdlib.h>
#include <string.h>

#ifdef TCT_FAULTS
enum { ROWS = 60, COLS = 2 };
static double values[ROWS * COLS], labels[ROWS];

static tct_data *table(void) {
  tct_matrix x = {.rows = ROWS, .cols = COLS, .stride = COLS, .values = values, .layout = TCT_DENSE_ROWS};
  for (int i = 0; i < ROWS; i++) {
    values[2 * i] = (i % 7) / 10.0, values[2 * i + 1] = (i % 5) / 10.0;
    labels[i] = i % 2 ? 1 : -1;
  }
  return tct_data_view(&x, labels, TCT_LABELS_BINARY, NULL, NULL, NULL);
}

static tct_composition *compose(int64_t mean) {
  tct_config config;
  const tct_config *at = &config;
  tct_config_default(&config);
  config.loss = "logistic", config.penalty = "l2:lambda=0.1", config.solver = "dpgd:steps=2";
  config.epsilon = 5, config.delta = 1e-3, config.row_norm = 1, config.threads = 1;
  tct_search how;
  tct_search_default(&how);
  how.tries = mean, how.held = 0.25;
  return tct_search_plan(&at, 1, &how, ROWS, COLS, NULL);
}

static void a_search_without_memory_fails_cleanly(void **state) {
  (void)state;
  tct_data *data = table();
  tct_composition *c = compose(3);
  tct_config run;
  int failed = 0;
  tct_config_default(&run);
  run.has_seed = 1, run.seed = 3, run.threads = 1;
  for (int64_t n = 1;; n += 1 + n / 8) {
    tct_error err = {0};
    tct_alloc_fail_at_test(n);
    tct_model *model = tct_fit_search(c, data, &run, NULL, NULL, &err);
    tct_alloc_fail_at_test(0);
    if (!model) assert_int_equal(err.status, TCT_E_MEMORY);
    failed += !model;
    tct_model_free(model);
    if (model) break;
  }
  assert_true(failed > 10);
  tct_composition_free(c);
  tct_data_free(data);
}

/* One try: entropy for the split, the number of tries, its setting, its fit and its score. */
static void a_fit_without_entropy_is_the_worst_try_and_says_nothing_of_itself(void **state) {
  (void)state;
  tct_data *data = table();
  tct_composition *c = compose(1);
  tct_config run;
  tct_config_default(&run);
  run.threads = 1;
  for (int n = 1; n <= 6; n++) {
    tct_error err = {0};
    tct_rng_fail_at_test(n);
    tct_model *model = tct_fit_search(c, data, &run, NULL, NULL, &err);
    tct_rng_fail_at_test(0);
    assert_true((model != NULL) == (n == 6));
    if (!model) assert_int_equal(err.status, TCT_E_RUN);
    if (!model) assert_true((strstr(err.text, "no try made a model") != NULL) == (n == 4));
    tct_model_free(model);
  }
  tct_composition_free(c);
  tct_data_free(data);
}
#endif

int main(void) {
#ifdef TCT_FAULTS
  setenv("TACIT_REGISTRY", "none", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_search_without_memory_fails_cleanly),
      cmocka_unit_test(a_fit_without_entropy_is_the_worst_try_and_says_nothing_of_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
#else
  print_message("skipped: the library was built without fault injection (TCT_FAULTS)\n");
  return 77;
#endif
}
