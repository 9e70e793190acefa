/* consumer.c - a program that was built with an earlier tacit.h: every struct of its size, each with a guard behind it.
 *
 * tests/abi/check_abi.py compiles it with HEADER set to such a header and runs it with the library of today. */
#include HEADER

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, P = 2, GUARD = 4096, FILLED = 0x5a };

/* A struct of this program's size, with bytes behind it that the library may not write. */
#define GUARDED(type, name)     \
  struct {                      \
    type it;                    \
    unsigned char guard[GUARD]; \
  } name;                       \
  memset(&name, FILLED, sizeof name)

static void fail(const char *what, const tct_error *err) {
  fprintf(stderr, "consumer: %s%s%s\n", what, err ? ": " : "", err ? err->text : "");
  exit(1);
}

static void check_guard(const char *what, const unsigned char *guard) {
  for (int k = 0; k < GUARD; k++)
    if (guard[k] != FILLED) fail(what, NULL);
}

static void defaults_write_no_further(void) {
  GUARDED(tct_config, config);
  GUARDED(tct_read_options, options);
  GUARDED(tct_session, session);
  GUARDED(tct_ledger_options, ledger);
  GUARDED(tct_charge, charge);
  GUARDED(tct_amendment, amendment);
  tct_config_default(&config.it);
  tct_read_options_default(&options.it);
  tct_session_default(&session.it);
  tct_ledger_options_default(&ledger.it);
  tct_charge_default(&charge.it);
  tct_amendment_default(&amendment.it);
  check_guard("tct_config_default wrote past its struct", config.guard);
  check_guard("tct_read_options_default wrote past its struct", options.guard);
  check_guard("tct_session_default wrote past its struct", session.guard);
  check_guard("tct_ledger_options_default wrote past its struct", ledger.guard);
  check_guard("tct_charge_default wrote past its struct", charge.guard);
  check_guard("tct_amendment_default wrote past its struct", amendment.guard);
  if (!isnan(config.it.epsilon) || config.it.intercept != 1 || session.it.timeout != 600) fail("other defaults", NULL);
  if (config.it.size != sizeof config.it || options.it.size != sizeof options.it) fail("a size is not this one", NULL);
}

/* What lies behind this program's settings is not read as settings: it is full of 0x5a. */
static tct_model *trained(const tct_data *data) {
  tct_error err;
  GUARDED(tct_config, config);
  tct_config_default(&config.it);
  config.it.loss = "logistic", config.it.penalty = "l2:lambda=1e-2", config.it.solver = "dpscd";
  config.it.epsilon = 1, config.it.delta = 1e-5, config.it.row_norm = 1, config.it.threads = 1;
  config.it.has_seed = 1, config.it.seed = 7;
  tct_plan *plan = tct_plan_new(&config.it, N, P, &err);
  if (!plan) fail("no plan", &err);
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) fail("no model", &err);
  tct_plan_free(plan);
  return model;
}

static void verdicts(tct_model *model, const char *path) {
  tct_error err;
  tct_verdict verdict;
  GUARDED(tct_amendment, amendment);
  const char *names[P] = {"one", "two"};
  tct_amendment_default(&amendment.it);
  amendment.it.features = names;
  if (tct_model_amend(model, &amendment.it, &err) != TCT_OK) fail("not amended", &err);
  if (tct_model_write(model, path, &err) != TCT_OK) fail("not written", &err);
  char *checks = tct_verify_json(path, NULL, NULL, NULL, NULL, &verdict, &err);
  if (!checks) fail("not verified", &err);
  tct_text_free(checks);
  if (verdict != TCT_VERDICT_REPRODUCIBLE) fail("another verdict", NULL);
}

static void reads(const char *path) {
  tct_error err;
  GUARDED(tct_read_options, options);
  tct_read_options_default(&options.it);
  options.it.labels = TCT_LABELS_BINARY, options.it.label = "y";
  FILE *file = fopen(path, "w");
  if (!file || fprintf(file, "a,b,y\n1,2,1\n3,4,0\n") < 0 || fclose(file)) fail("no table", NULL);
  tct_data *data = tct_data_read(path, &options.it, &err);
  if (!data || tct_data_rows(data) != 2 || tct_data_cols(data) != 2) fail("another table", &err);
  tct_data_free(data);
}

int main(int argc, char **argv) {
  double values[N * P], y[N];
  char path[1024];
  tct_error err;
  if (argc != 2) return 2;
  for (int i = 0; i < N; i++) values[i * P] = (i - 31.5) / 64, values[i * P + 1] = 0.5, y[i] = i < 32 ? -1 : 1;
  tct_matrix x = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .value_type = TCT_F64, .values = values, .stride = P};
  defaults_write_no_further();
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  if (!data) fail("no data", &err);
  tct_model *model = trained(data);
  printf("%zu bytes of settings: %.17g %.17g %.17g\n", sizeof(tct_config), tct_model_coefficients(model)[0],
         tct_model_coefficients(model)[1], *tct_model_intercepts(model));
  snprintf(path, sizeof path, "%s/model.json", argv[1]);
  verdicts(model, path);
  snprintf(path, sizeof path, "%s/table.csv", argv[1]);
  reads(path);
  tct_model_free(model);
  tct_data_free(data);
  return 0;
}
