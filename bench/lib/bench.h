/* bench.h - what the benches share: the clock, the data folder, data sets prepared as the papers do, training. */
#ifndef TCT_BENCH_BENCH_H
#define TCT_BENCH_BENCH_H
#include "tacit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of processor time of this thread: what a fit of one thread costs on a machine that others use too. */
static inline double bench_cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Stops the bench with the library's sentence. */
static inline void bench_fail(const tct_error *err) {
  fprintf(stderr, "%s%s%s\n", err->file, err->file[0] ? ": " : "", err->text);
  exit(EXIT_FAILURE);
}

/* The path of a data set: $TACIT_DATA/NAME or ../shared/data/NAME; NULL (and a loud line) if it is not there. */
static inline const char *bench_data(const char *name) {
  static char path[1024];
  const char *folder = getenv("TACIT_DATA");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/data", name);
  FILE *f = fopen(path, "rb");
  if (!f) {
    fprintf(stderr, "skipped: no data (%s)\n", name);
    return NULL;
  }
  fclose(f);
  return path;
}

/* Reads a set; label: column name or NULL (LIBSVM). Exits on failure, returns NULL when the file is absent. */
static inline tct_data *bench_read(const char *name, int labels, const char *label, const char *positive,
                                   int64_t cols) {
  tct_error err = {0};
  const char *path = bench_data(name);
  if (!path) return NULL;
  tct_read_options o;
  tct_read_options_default(&o);
  o.labels = labels;
  o.label = label;
  o.positive = positive;
  o.cols = cols;
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  return data;
}

/* Trains; exits with the sentence on failure. */
static inline tct_model *bench_train(const tct_config *config, const tct_data *data) {
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(config, tct_data_rows(data), tct_data_cols(data), &err);
  tct_model *model = plan ? tct_fit(plan, data, &err) : NULL;
  if (!model) bench_fail(&err);
  tct_plan_free(plan);
  return model;
}

/* A number out of the JSON that the library returns; NAN if the key is not there. */
static inline double bench_number(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(json, quoted);
  return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

/* Of qsort, for doubles. */
static inline int bench_by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The upper median of list[count], which it sorts; NAN of none. */
static inline double bench_middle(double *list, int count) {
  qsort(list, (size_t)count, sizeof *list, bench_by_size);
  return count ? list[count / 2] : NAN;
}

/* "name": value, and then `end`; null where it is not finite. */
static inline void bench_put(const char *name, double value, const char *end) {
  if (isfinite(value))
    printf("\"%s\": %.4g%s", name, value, end);
  else
    printf("\"%s\": null%s", name, end);
}

/* mu of the Gaussian mechanism that is (epsilon, 1e-6)-private (Balle and Wang 2018), by bisection. */
static inline double bench_mu(double epsilon) {
  double low = 0, high = 50;
  for (int k = 0; k < 200; k++) {
    double mu = (low + high) / 2, a = epsilon / mu - mu / 2, b = epsilon / mu + mu / 2;
    double delta = 0.5 * erfc(a / sqrt(2)) - 0.5 * exp(epsilon) * erfc(b / sqrt(2));
    *(delta > 1e-6 ? &high : &low) = mu;
  }
  return low;
}

/* The model's objective on data (mean loss of the transformed records plus penalty), exactly; not private. */
static inline double bench_objective(const tct_model *model, const tct_data *data) {
  tct_error err = {0};
  char *json = tct_evaluate_json_nonprivate(model, data, &err);
  if (!json) bench_fail(&err);
  double value = bench_number(json, "objective");
  tct_text_free(json);
  return value;
}
#endif
