/* test_solver_real.c - real records give the same bytes on one thread and on two, and the same model in every format.
 *
 * a9a is sparse (32561 x 123), bank is dense (45211 x 32).  test_solver.c meets every solver; here
 * are those of DP-SCD and its baselines, with few epochs. */
#include "read_help.h"
#include "worlds.h"

#define LOSS "logistic"
#define PENALTY "l2:lambda=1e-4"

static const char *const specs[] = {"dpscd:epochs=2", "seqdpscd:epochs=1", "primaldpscd",
                                    "dpsgd:epochs=2", "scd:tol=1e-3",      "sgd:epochs=1"};
enum { SPECS = sizeof specs / sizeof *specs };

static double *fitted(const char *spec, const tct_matrix *x, const double *y, int threads, int64_t *p) {
  tct_error err = {0};
  tct_config config = world_config(LOSS, PENALTY, spec);
  config.intercept = 1;
  config.threads = threads;
  tct_plan *plan = tct_plan_new(&config, x->rows, x->cols, &err);
  tct_data *data = plan ? tct_data_view(x, y, TCT_LABELS_BINARY, NULL, NULL, &err) : NULL;
  tct_model *model = data ? tct_fit(plan, data, &err) : NULL;
  if (!model) fail_msg("%s: %s", spec, err.text);
  *p = x->cols + 1;
  double *w = tape_copy(tct_model_coefficients(model), *p);
  w[x->cols] = *tct_model_intercepts(model);
  tct_model_free(model);
  tct_data_free(data);
  tct_plan_free(plan);
  return w;
}

/* Largest difference over the largest weight. */
static double apart(const double *a, const double *b, int64_t p) {
  double worst = 0, size = 0;
  for (int64_t j = 0; j < p; j++) worst = fmax(worst, fabs(a[j] - b[j])), size = fmax(size, fabs(a[j]));
  return worst / size;
}

static void met(const char *file, tct_data *data) {
  const tct_matrix *x = tct_data_matrix(data);
  const double *y = tct_data_labels(data);
  for (int k = 0; k < SPECS; k++) {
    const char *spec = specs[k];
    int64_t p;
    double *one = fitted(spec, x, y, 1, &p), *two = fitted(spec, x, y, 2, &p);
    if (memcmp(one, two, (size_t)p * sizeof *one)) fail_msg("%s on %s: two threads give other bytes", spec, file);
    free(two);
    for (int variant = 0; variant < 2 && strncmp(spec, "scd", 3) && strncmp(spec, "sgd", 3); variant++) {
      tct_owned_matrix other = {0};
      tct_layout layout = x->layout == TCT_CSR ? TCT_DENSE_ROWS : TCT_CSR;
      assert_int_equal(tct_matrix_convert(x, layout, variant ? TCT_F32 : TCT_F64, &other, NULL), TCT_OK);
      double *again = fitted(spec, &other.m, y, 1, &p), off = apart(one, again, p);
      if (!(off <= 1e-7))
        fail_msg("%s on %s: layout %d, %s differ by %g", spec, file, layout, variant ? "f32" : "f64", off);
      free(again);
      tct_matrix_free(&other);
    }
    free(one);
  }
}

static void in_every_way(const char *name, const char *label) {
  char path[1024];
  tct_error err = {0};
  tct_read_options options = options_for(TCT_LABELS_BINARY, label, NULL);
  if (!data_file(name, path)) skip();
  tct_data *data = tct_data_read(path, &options, &err);
  if (!data) fail_msg("%s: %s", name, err.text);
  met(name, data);
  tct_data_free(data);
}

static void a9a_gives_the_same_model_in_every_way(void **state) {
  (void)state;
  in_every_way("a9a.libsvm.xz", NULL);
}

static void bank_gives_the_same_model_in_every_way(void **state) {
  (void)state;
  in_every_way("bank_dpagd.csv.xz", "y");
}

int main(void) {
  char path[1024];
  if (!data_file("a9a.libsvm.xz", path) && !data_file("bank_dpagd.csv.xz", path)) {
    puts("skipped: no data");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a9a_gives_the_same_model_in_every_way),
      cmocka_unit_test(bank_gives_the_same_model_in_every_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
