/* test_dpmetric_start.c - where the path of dpmetric starts, what its clip is measured by, and what it says where there
 * is little to learn. */
#include "worlds.h"

#include "loss/loss.h"
#include "solve/gradient/dpmetric.h"
#include "solve/shared/clipped.h"
#include "solve/shared/share.h"

enum { FITS = 12 };

/* Of a margin and its label. */
typedef double (*figure)(const tct_loss *loss, double z, double y);

/* Mean over the fits of the mean figure over all records; note: of the last fit. */
static double mean_of(figure of, const records *r, const tct_config *config, char *note) {
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
      sum += of(&w.plan->facts.loss, z, r->y[i]) / (double)r->rows / FITS;
    }
  }
  world_close(&w);
  return sum;
}

static double mean_loss(const records *r, const tct_config *config, char *note) {
  return mean_of(tct_loss_value, r, config, note);
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

static void wide_row_norm(const char *solver, const char *little, double epsilon) {
  char note[TCT_NOTE];
  records r = short_rows(3000, 6, 4);
  for (int i = 0; i < 3000; i++) r.y[i] = 0.2 + 1.2 * r.x[i * 6] - 0.9 * r.x[i * 6 + 1] + 0.05 * sin(i);
  tct_config config = world_config("squared", "none", solver);
  config.intercept = 1, config.row_norm = 1.2, config.epsilon = 1000;
  double least = mean_loss(&r, &config, note);
  config.epsilon = epsilon;
  double right = mean_loss(&r, &config, note) - least;
  config.row_norm = 12;
  double wide = mean_loss(&r, &config, note) - least;
  config.solver = little;
  double uncut = mean_loss(&r, &config, note) - least;
  print_message("excess %.3g, with the wide norm %.3g, with little for counts of norms %.3g\n", right, wide, uncut);
  assert_true(wide < fmax(1.6 * right, 0.05 * uncut) && wide < 0.6 * uncut);
  records_free(&r);
}

/* At an n mu of some 180 counts of norms need more than a hundredth of the budget to say how long rows are. */
static void a_row_norm_ten_times_too_wide_costs_little(void **state) {
  (void)state;
  wide_row_norm("dpmetric", "dpmetric:norms=0.01", 0.2);
  wide_row_norm("dpmoments", "dpmoments:norms=0", 4);
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

static double count_at(const tct_loss *loss, double z, double y) {
  (void)loss, (void)y;
  return exp(z);
}

/* One count of twenty is 1, the others 0, under a bound of 10.  A clip by the slopes of zeros left a third of them. */
static void the_mean_prediction_of_rare_events_is_their_share_or_said_to_be_noise(void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = short_rows(20000, 5, 8);
  for (int i = 0; i < 20000; i++) r.y[i] = i % 20 == 0;
  tct_config config = world_config("poisson", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 1.5, config.epsilon = 1, config.label_bound = 10;
  double mean = mean_of(count_at, &r, &config, note);
  print_message("mean prediction %.4f of 0.05\n", mean);
  assert_true(fabs(mean / 0.05 - 1) < 0.06);
  assert_string_equal(note, "");
  config.epsilon = 0.1;
  mean_of(count_at, &r, &config, note);
  assert_non_null(strstr(note, "mean prediction"));
  records_free(&r);
}

/* 4000 records, 100 features; classes part by the first two, or have nothing to do with any. */
static records classes(bool part, uint64_t seed) {
  records r = short_rows(4000, 100, seed);
  for (int i = 0; i < 4000; i++) {
    double *x = r.x + i * 100;
    r.y[i] = part ? (x[0] + x[1] > 0 ? 1 : -1) : i % 2 ? 1 : -1;
    if (part) x[0] += 0.02 * r.y[i], x[1] += 0.02 * r.y[i];
  }
  return r;
}

static void classes_that_part_get_a_longer_path_and_labels_without_meaning_do_not(void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = classes(true, 6);
  tct_config config = world_config("logistic", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 1.5, config.epsilon = 0.7;
  double longer = mean_loss(&r, &config, note);
  config.solver = "dpmetric:path_length=180";
  double fixed = mean_loss(&r, &config, note);
  print_message("classes that part: loss %.5f, of a path of 180 %.5f\n", longer, fixed);
  assert_true(longer < 0.8 * fixed); /* without growth: 1.2 */
  records_free(&r);
  r = classes(false, 6);
  config.solver = "dpmetric";
  double least = log(2), found = mean_loss(&r, &config, note) - least;
  config.solver = "dpmetric:path_length=180";
  fixed = mean_loss(&r, &config, note) - least;
  print_message("labels without meaning: excess %.5f, of a path of 180 %.5f\n", found, fixed);
  assert_true(found < fixed + 0.003);
  records_free(&r);
}

/* The same releases make the same path, though the second table's own sums would make it longer. */
static void releases_alone_make_a_path_longer(void **state) {
  (void)state;
  world a, b;
  tct_error err = {0};
  records r = classes(true, 6), other = classes(false, 6);
  tct_config config = world_config("logistic", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 1.5, config.epsilon = 8;
  assert_int_equal(world_open(&a, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_share(&b, &other, a.plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  worlds_move(&a, &b, 5, NULL);
  world_close(&a), world_close(&b);
  records_free(&r), records_free(&other);
}

/* Where means vary, some of many are small: 3 % of counts of mean 12 are 0, as of one law of mean 3.5. */
static void counts_of_varied_means_start_near_their_mean(void **state) {
  (void)state;
  double varied = tct_count_mean(12 / 300.0, 0.97, 300, 0.0075, 20000);
  double alike = tct_count_mean(0.05 / 10, -expm1(-0.05), 10, 0.0075, 20000);
  print_message("means 12 and 0.05: %.3f, %.4f\n", varied, alike);
  assert_true(varied > 8 && varied < 13);
  assert_true(fabs(alike - 0.05) < 0.003);
}

static void a_share_behind_noise_stays_inside_zero_and_one(void **state) {
  (void)state;
  assert_true(fabs(tct_share_after_noise(0.3, 0.001) - 0.3) < 1e-9);
  assert_true(fabs(tct_share_after_noise(0.9, 1e9) - 0.5) < 1e-6);
  assert_true(fabs(tct_share_after_noise(0, 0.01) - 0.01 * sqrt(2 / M_PI)) < 1e-5); /* half of a normal */
  double far[] = {-1e6, -3, 4, 1e6};
  for (int k = 0; k < 4; k++) {
    double share = tct_share_after_noise(far[k], 0.01);
    assert_true(share > 0 && share < 1 && fabs(share - (far[k] > 0)) < 0.01);
  }
}

static double clip_among(const char *loss, int64_t p, double dimension, double signal) {
  tct_facts facts = {.rows = 1000, .p = p};
  assert_int_equal(tct_loss_make(loss, &facts.loss, NULL), TCT_OK);
  return tct_dpmetric_clip(&facts, signal, dimension);
}

/* Where every column of every class is a direction of its own. */
static double clip_of(const char *loss, int64_t p, double signal) {
  tct_facts facts = {.rows = 1000, .p = p};
  assert_int_equal(tct_loss_make(loss, &facts.loss, NULL), TCT_OK);
  return clip_among(loss, p, (double)p / (double)tct_loss_outputs(&facts.loss), signal);
}

/* Few columns often have long tails.  A clip by either label costs little bias, and a hinge's slope is that already. */
static void clips_widen_with_few_columns_and_with_the_signal_and_are_smaller_by_either_label(void **state) {
  (void)state;
  for (double signal = 20; signal < 20000; signal *= 4) {
    assert_true(fabs(clip_of("logistic", 6, signal) / clip_of("logistic", 6000000, signal) - 2) < 1e-5);
    assert_true(fabs(clip_of("squared", 30, 4 * signal) / clip_of("squared", 30, signal) - 2) < 1e-12);
    assert_true(fabs(clip_among("logistic", 96, 6, signal) / clip_of("logistic", 24, signal) - 1) < 1e-12);
    assert_true(clip_of("logistic", 30, signal) < 0.8 * clip_of("smoothed_hinge", 30, signal));
    assert_true(clip_of("hinge", 30, signal) == clip_of("logistic", 30, signal));
    assert_true(clip_of("logistic", 30, 4 * signal) < 1.9 * clip_of("logistic", 30, signal));
    assert_true(fabs(clip_of("softmax:classes=5", 150, 2 * signal) / clip_of("smoothed_hinge", 30, signal) - 1) <
                1e-12);
  }
  double gain = sqrt(2 * 9 / 0.05); /* images: wider with the signal too, none where noise hides them at either end */
  for (int k = 0; k < 3; k++) assert_true(tct_dpmetric_cut((double[]){3.3, 420, INFINITY}[k] * gain, 0.05, 9) == 0);
  assert_true(tct_dpmetric_cut(3.4 * gain, 0.05, 9) == 2.25 && tct_dpmetric_cut(99 * gain, 0.05, 9) > 15.6);
}

/* Two directions are known and two may hide something: a path's noise costs no more than a fiftieth of the constant. */
static void a_path_follows_the_signal_until_its_noise_costs_a_fiftieth_of_what_the_constant_loses(void **state) {
  (void)state;
  double spectrum[] = {0.9, 0.9, 0.01, 0.01}, before = INFINITY;
  tct_facts facts = {.rows = 1000, .p = 4};
  assert_int_equal(tct_loss_make("logistic", &facts.loss, NULL), TCT_OK);
  tct_dpmetric_shape shape = {.signal_to_noise = 400, .constant = log(2), .spectrum = spectrum};
  double open = tct_dpmetric_path_length(&facts, &shape, 1e-6);
  for (double noise = 0.01; noise < 10; noise *= 2) {
    double length = tct_dpmetric_path_length(&facts, &shape, noise), cost = 0;
    for (int j = 0; j < 4; j++) cost += 0.25 * spectrum[j] * pow(noise * length / (1 + spectrum[j] * length), 2);
    assert_true(length <= open && length <= before && cost <= 0.02 * log(2) * (1 + 1e-5));
    assert_true(length == open || cost > 0.02 * log(2) * (1 - 1e-5));
    before = length;
  }
  assert_true(before < 0.05 * open);
  shape.signal_to_noise = 100;
  assert_true(fabs(tct_dpmetric_path_length(&facts, &shape, 1e-6) / open - 0.5) < 1e-12);
}

/* One class of a hundred: a curvature of 4 s (1 - s) = 0.0396 of its bound calls noise back. */
static void a_path_towards_a_rare_class_counts_the_curvature_that_is_there(void **state) {
  (void)state;
  double spectrum[] = {0.9, 0.9}, origin[] = {0, -log(99)}, length[2], t = 0.0396 * 0.9;
  tct_facts facts = {.rows = 1000, .p = 2};
  assert_int_equal(tct_loss_make("logistic", &facts.loss, NULL), TCT_OK);
  tct_dpmetric_shape shape = {.signal_to_noise = 400, .constant = 0.056, .spectrum = spectrum};
  for (int k = 0; k < 2; k++) shape.origin = origin + k, length[k] = tct_dpmetric_path_length(&facts, &shape, 0.03);
  assert_true(fabs(0.5 * t * pow(0.03 * length[1] / (1 + t * length[1]), 2) / (0.02 * 0.056) - 1) < 1e-4);
  assert_true(length[0] == tct_dpmetric_path_length(&facts, &shape, 1e-6) && length[1] < 0.1 * length[0]);
}

/* What 32 directions hide, in a matrix of noise alone whose largest eigenvalue lies `lifted` edges out. */
static double hidden_with(double lifted) {
  enum { P = 33, N = 300 };
  static double sum[P * P];
  double noise = 97, hides;
  tct_error err = {0};
  tct_facts facts = {.rows = N, .p = P};
  assert_int_equal(tct_loss_make("logistic", &facts.loss, NULL), TCT_OK);
  tct_dpmetric_shape shape = {0};
  tct_dpmetric_released from = {&facts, noise, 1.0 / N, 1};
  memset(sum, 0, sizeof sum);
  sum[0] = lifted * noise * sqrt(2 * P);
  assert_int_equal(tct_metric_new(P, false, &shape.metric, &err), TCT_OK);
  assert_int_equal(tct_dpmetric_shape_new(1, &shape, &err), TCT_OK);
  assert_int_equal(tct_dpmetric_whiten(&from, true, sum, &shape, &err), TCT_OK);
  hides = shape.spectrum[0];
  for (int j = 1; j < P; j++) hides = fmin(hides, shape.spectrum[j]);
  tct_dpmetric_shape_free(&shape);
  return hides;
}

/* The eigenvalue is more than all records have together.  What else is there decides how long a path may be. */
static void an_eigenvalue_that_noise_has_lifted_does_not_deny_other_directions(void **state) {
  (void)state;
  double none = hidden_with(0.9);
  assert_true(none > 0.01);
  assert_true(hidden_with(1.03) > 0.9 * none && hidden_with(1.05) > 0.5 * none);
  assert_true(hidden_with(3) < 0.1 * none);
}

/* A kink has no curvature, and noise alone limits its path. */
static void a_path_over_a_kink_is_as_long_as_its_noise_allows(void **state) {
  (void)state;
  double spectrum[] = {0.9, 0.9, 0.01, 0.01};
  tct_facts facts = {.rows = 1000, .p = 4};
  assert_int_equal(tct_loss_make("hinge", &facts.loss, NULL), TCT_OK);
  tct_dpmetric_shape shape = {.signal_to_noise = 100, .constant = 1, .spectrum = spectrum};
  double open = tct_dpmetric_path_length(&facts, &shape, 1e-6);
  shape.signal_to_noise = 400;
  assert_true(open > 300 && tct_dpmetric_path_length(&facts, &shape, 1e-6) == open);
  assert_true(tct_dpmetric_path_length(&facts, &shape, 1) < 0.1 * open);
}

/* The same row with either label: what the clip leaves of a slope. */
static void a_clip_by_either_label_leaves_the_same_part_of_both_slopes(void **state) {
  (void)state;
  static const double margin[] = {-30, -3, -0.5, 0, 0.25, 2, 8, 700};
  double y[2] = {-1, 1}, norm[2] = {2, 2}, clip = 0.9;
  tct_facts facts = {.rows = 2, .p = 1};
  assert_int_equal(tct_loss_make("logistic", &facts.loss, NULL), TCT_OK);
  tct_problem problem = {.facts = &facts, .y = y};
  for (size_t k = 0; k < sizeof margin / sizeof *margin; k++) {
    double slope[2], kept[2] = {margin[k], margin[k]}, own[2] = {margin[k], margin[k]};
    for (int i = 0; i < 2; i++) slope[i] = tct_loss_slope(&facts.loss, margin[k], y[i]);
    tct_clip_rows(&problem, 0, 2, norm, clip, true, kept);
    tct_clip_rows(&problem, 0, 2, norm, clip, false, own);
    assert_true(fabs(kept[0] * slope[1] - kept[1] * slope[0]) <= 1e-12 * fabs(slope[0] * slope[1]));
    for (int i = 0; i < 2; i++) assert_true(fabs(kept[i]) * norm[i] <= clip && fabs(kept[i]) <= fabs(own[i]));
  }
}

/* Below n mu = 17 the labels' sums get three quarters of the budget. */
static void three_hundred_records_at_a_small_epsilon_lie_nearer_to_the_constant_than_with_half_of_the_budget(
    void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = short_rows(300, 8, 9);
  for (int i = 0; i < 300; i++) r.y[i] = i % 3 ? -1 : 1;
  tct_config config = world_config("logistic", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 2, config.epsilon = 0.1;
  double constant = -log(1 / 3.0) / 3 - log(2 / 3.0) * 2 / 3, more = mean_loss(&r, &config, note) - constant;
  config.solver = "dpmetric:start=0.5";
  double half = mean_loss(&r, &config, note) - constant;
  print_message("300 records: %.4f above the constant, with half of the budget %.4f\n", more, half);
  assert_true(more < half && more < 0.0125);
  records_free(&r);
}

/* 300 records of 8 features that are next to the same for all: noise makes directions of the metric from nothing. */
static void directions_that_noise_alone_makes_do_not_lead_the_path_away(void **state) {
  (void)state;
  char note[TCT_NOTE];
  records r = records_new(300, 8, 10);
  for (int k = 0; k < 300 * 8; k++) r.x[k] = 0.5 + 0.2 * r.x[k];
  for (int i = 0; i < 300; i++) r.y[i] = i % 5 < 2 ? 1 : -1;
  tct_config config = world_config("logistic", "none", "dpmetric");
  config.intercept = 1, config.row_norm = 3, config.epsilon = 0.3;
  double constant = -0.4 * log(0.4) - 0.6 * log(0.6), excess = mean_loss(&r, &config, note) - constant;
  print_message("features without a meaning: %.4f above the constant\n", excess);
  assert_true(excess < 0.01);
  records_free(&r);
}

static const char *taken(const char *loss, int intercept, double epsilon) {
  world w;
  tct_error err = {0};
  records r = short_rows(3000, 6, 4);
  tct_config config = world_config(loss, "none", "auto");
  config.intercept = intercept, config.epsilon = epsilon, config.delta = 1e-5;
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  const char *name = w.plan->solver->name;
  world_close(&w);
  records_free(&r);
  return name;
}

static void auto_takes_the_metric_for_a_hinge_with_an_intercept_and_enough_signal(void **state) {
  (void)state;
  assert_string_equal(taken("hinge", 1, 1), "dpmetric");
  assert_string_equal(taken("hinge", 0, 1), "dpgd");
  assert_string_equal(taken("hinge", 1, 0.01), "dpgd");
  assert_string_equal(taken("logistic", 1, 0.01), "dpmetric");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_of_varied_means_start_near_their_mean),
      cmocka_unit_test(a_share_behind_noise_stays_inside_zero_and_one),
      cmocka_unit_test(auto_takes_the_metric_for_a_hinge_with_an_intercept_and_enough_signal),
      cmocka_unit_test(clips_widen_with_few_columns_and_with_the_signal_and_are_smaller_by_either_label),
      cmocka_unit_test(a_path_follows_the_signal_until_its_noise_costs_a_fiftieth_of_what_the_constant_loses),
      cmocka_unit_test(an_eigenvalue_that_noise_has_lifted_does_not_deny_other_directions),
      cmocka_unit_test(a_path_towards_a_rare_class_counts_the_curvature_that_is_there),
      cmocka_unit_test(a_path_over_a_kink_is_as_long_as_its_noise_allows),
      cmocka_unit_test(a_clip_by_either_label_leaves_the_same_part_of_both_slopes),
      cmocka_unit_test(
          three_hundred_records_at_a_small_epsilon_lie_nearer_to_the_constant_than_with_half_of_the_budget),
      cmocka_unit_test(directions_that_noise_alone_makes_do_not_lead_the_path_away),
      cmocka_unit_test(the_mean_prediction_of_rare_events_is_their_share_or_said_to_be_noise),
      cmocka_unit_test(counts_start_at_the_logarithm_of_their_mean),
      cmocka_unit_test(classes_that_part_get_a_longer_path_and_labels_without_meaning_do_not),
      cmocka_unit_test(releases_alone_make_a_path_longer),
      cmocka_unit_test(where_noise_hides_the_features_the_model_is_no_worse_than_a_constant_and_says_so),
      cmocka_unit_test(a_label_bound_ten_times_too_wide_costs_a_hundredth_of_a_clip_by_that_bound),
      cmocka_unit_test(a_row_norm_ten_times_too_wide_costs_little),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
