/* consumer.c - a user's program: trains on a table in memory, without and with the pieces of tacit.h it needs. */
#include <math.h>
#include <stdio.h>
#include <tacit.h>

/* Sixty-four records on a line, y = sign(x); any private model of them has coefficients that are numbers. */
int main(void) {
  enum { N = 64, P = 2 };
  double values[N * P], y[N];
  for (int i = 0; i < N; i++) {
    values[i * P] = (i - 31.5) / 64;
    values[i * P + 1] = 0.5;
    y[i] = i < 32 ? -1 : 1;
  }
  tct_matrix x = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .value_type = TCT_F64, .values = values, .stride = P};
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic";
  config.penalty = "l2:lambda=1e-2";
  config.solver = "dpscd";
  config.epsilon = 1;
  config.delta = 1e-5;
  config.row_norm = 1;
  config.threads = 1;
  config.has_seed = 1;
  config.seed = 7;
  tct_error err;
  int code = 1;
  tct_data *data = tct_data_view(&x, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  tct_plan *plan = data ? tct_plan_new(&config, N, P, &err) : NULL;
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (model) {
    const double *w = tct_model_coefficients(model);
    int64_t cols;
    tct_model_shape(model, NULL, &cols);
    code = !(cols == P && isfinite(w[0]) && isfinite(w[1]));
    printf("tacit %s: %.3g %.3g\n", tct_version(), w[0], w[1]);
  } else {
    fprintf(stderr, "consumer: %s\n", err.text);
  }
  tct_model_free(model);
  tct_plan_free(plan);
  tct_data_free(data);
  return code;
}
