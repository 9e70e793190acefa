/* test_dpmetric_start.c - where the path of dpmetric starts, what its clip is measured by, and what it says where there
 * is little to learn. */
#include "worlds.h"

#include "loss/loss.h"

enum { FITS = 12 };

/* Mean over the fits of the mean loss over all records; note: of the last fit. */
static double mean_loss(const records *r, const tct_config *config, char *note) {
  world w;
  tct_error err = {0};
  double sum = 0;
  assert_int_equal(world_open(&w, r, config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  for (int f = 0; f < FITS; f++) {
    note[0] = 0;
    w.problem.note = note;
    assert_int_equal(world_run(&w, 100 + (uint64_t)f, NULL, NULL, &err), TCT_OK);
    for (int64_t i = 0; i < r->rows; i++) {
      double z = config->intercept ? w.w[r->cols] : 0;
      for (int64_t j = 0; j < r->cols; j++) z += w.w[j] * r->x[i * r->cols + j];
      sum += w.plan->facts.loss.kind->value(z, r->y[i], w.plan->facts.loss.h) / (double)r->rows / FITS;
    }
  }
  world_close(&w);
  return sum;
}

static records short_rows(int64_t n, int64_t p, uint64_t seed) {
  records r = records_new(n, p, seed);
  for (int64_t k = 0; k < n * p; k++) r.x[k] *= 0.5 / sqrt((double)p);
  return r;
}

/* 400 records, one in twenty positive, 20 features without a meaning. */
static void where_noise_hides_the_features_the_model_is_no_worse_than_a_constant_and_says_so(void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = short_rows(400, 20, 3);
  for (int i = 0; i < 400; i++) r.y[i] = i % 20 ? -1 : 1;
  tct_config config = world_config("logistic", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 2, config.epsilon = 0.3;
  double constant = -0.05 * log(0.05) - 0.95 * log(0.95), loss = mean_loss(&r, &config, note);
  print_message("loss %.4f, of the best constant %.4f\n", loss, constant);
  assert_true(loss < constant + 0.02);
  assert_non_null(strstr(note, "constant"));
  config.epsilon = 1000;
  mean_loss(&r, &config, note);
  assert_string_equal(note, "");
  records_free(&r);
}

/* Labels lie in [-1, 1] and far from the middle; the bound says ten times as much. */
static void a_label_bound_ten_times_too_wide_costs_a_hundredth_of_a_clip_by_that_bound(void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = short_rows(3000, 6, 4);
  for (int i = 0; i < 3000; i++) r.y[i] = 0.6 + 0.8 * r.x[i * 6] - 0.5 * r.x[i * 6 + 1] + 0.15 * sin(i);
  tct_config config = world_config("squared", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 1.5, config.epsilon = 1000;
  double least = mean_loss(&r, &config, note);
  config.epsilon = 1;
  double right = mean_loss(&r, &config, note) - least;
  config.label_bound = 10;
  double wide = mean_loss(&r, &config, note) - least;
  config.solver = "dpmetric:slopes=0";
  double by_the_bound = mean_loss(&r, &config, note) - least;
  print_message("excess %.3g, with the wide bound %.3g, clipped by the bound %.3g\n", right, wide, by_the_bound);
  assert_true(right < by_the_bound && wide < 0.01 * by_the_bound);
  records_free(&r);
}

/* Counts of mean 9 in cycles, 20 features without a meaning and next to no signal. */
static void counts_start_at_the_logarithm_of_their_mean(void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = short_rows(1000, 20, 5);
  for (int i = 0; i < 1000; i++) r.y[i] = i % 19;
  tct_config config = world_config("poisson:margin=3", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 2, config.epsilon = 0.1, config.label_bound = 30;
  double loss = mean_loss(&r, &config, note), constant = 0;
  tct_loss poisson;
  assert_int_equal(tct_loss_make(config.loss, &poisson, NULL), TCT_OK);
  for (int i = 0; i < 1000; i++) constant += tct_loss_value(&poisson, log(9), r.y[i]) / 1000;
  print_message("loss %.3f, of the best constant %.3f\n", loss, constant);
  assert_true(loss < 1.3 * constant);
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_start_at_the_logarithm_of_their_mean),
      cmocka_unit_test(where_noise_hides_the_features_the_model_is_no_worse_than_a_constant_and_says_so),
      cmocka_unit_test(a_label_bound_ten_times_too_wide_costs_a_hundredth_of_a_clip_by_that_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
