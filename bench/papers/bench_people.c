/* bench_people.c - what privacy costs on Adult and California housing under their public schemas: private beside exact.
 *
 * examples/adult.schema.json and examples/california.schema.json, intercept, rows clipped to the schema's own bound (no
 * scaling by the data, nothing unaccounted), l2 1e-4, epsilon 1, delta 1e-5, add_remove, default options.  Adult is
 * scored on its test file, California on the training rows.  Beside: seconds per epoch of dpscd, scd included.
 * Usage: bench_people [SEEDS (10)] */
#include "bench.h"

static tct_data *read_people(const char *name, const char *schema, int labels, const char *label) {
  tct_error err = {0};
  const char *path = bench_data(name);
  tct_read_options o;
  if (!path) return NULL;
  tct_read_options_default(&o);
  o.labels = labels;
  o.label = label;
  o.schema_path = schema;
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  return data;
}

static double fit(const tct_data *train, const tct_data *test, const char *loss, const char *solver, uint64_t seed,
                  const char *metric, double *seconds) {
  tct_error err = {0};
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = loss;
  c.penalty = "l2:lambda=1e-4";
  c.solver = solver;
  c.intercept = 1;
  c.threads = 1;
  if (tct_config_use_schema(&c, train, NULL, NULL, &err) != TCT_OK) bench_fail(&err);
  if (seed) {
    c.epsilon = 1;
    c.delta = 1e-5;
    c.has_seed = 1;
    c.seed = seed;
  }
  double start = bench_now();
  tct_model *model = bench_train(&c, train);
  *seconds = bench_now() - start;
  char *json = tct_evaluate_json_nonprivate(model, test, &err);
  if (!json) bench_fail(&err);
  double value = bench_number(json, metric);
  tct_text_free(json);
  tct_model_free(model);
  return value;
}

static void compare(const char *name, const tct_data *train, const tct_data *test, const char *loss, int seeds) {
  const char *metric = strcmp(loss, "squared") ? "accuracy" : "mse";
  double seconds, private_seconds, sum = 0, worst = 0;
  double exact = fit(train, test, loss, strcmp(loss, "hinge") ? "scd:tol=1e-9" : "scd:tol=1e-6", 0, metric, &seconds);
  for (int s = 0; s < seeds; s++) {
    double value = fit(train, test, loss, "dpscd", (uint64_t)s + 1, metric, &private_seconds);
    sum += value;
    worst = fmax(worst, fabs(value - exact));
  }
  double ten = 0, thirty = 0;
  fit(train, test, loss, "dpscd:batch=500,epochs=10,clip=0.05", 1, metric, &ten);
  fit(train, test, loss, "dpscd:batch=500,epochs=30,clip=0.0166", 1, metric, &thirty);
  printf(
      "{\"bench\": \"people\", \"data\": \"%s\", \"loss\": \"%s\", \"metric\": \"%s\", \"exact\": %.5f, \"private\": "
      "%.5f, \"worst_difference\": %.5f, \"seeds\": %d, \"scd_seconds\": %.3f, \"dpscd_seconds\": %.3f, "
      "\"dpscd_seconds_per_epoch\": %.5f}\n",
      name, loss, metric, exact, sum / seeds, worst, seeds, seconds, private_seconds, (thirty - ten) / 20);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int seeds = argc > 1 ? atoi(argv[1]) : 10;
  tct_data *train = read_people("adult_train.csv.xz", "examples/adult.schema.json", TCT_LABELS_BINARY, "income");
  tct_data *test = read_people("adult_test.csv.xz", "examples/adult.schema.json", TCT_LABELS_BINARY, "income");
  if (train && test) {
    compare("adult", train, test, "logistic", seeds);
    compare("adult", train, test, "hinge", seeds);
  }
  tct_data_free(test);
  tct_data_free(train);
  train = read_people("california.csv.xz", "examples/california.schema.json", TCT_LABELS_REAL, "MedHouseVal");
  if (train) compare("california", train, train, "squared", seeds);
  tct_data_free(train);
  return 0;
}
