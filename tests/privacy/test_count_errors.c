/* test_count_errors.c - standard errors of counts: their clip, their hidden events, a mean that is wrong.
 *
 * Seeds are fixed; the error rates are those over seeds. */
#include "covered.h"

#include "solve/onestep/one_step.h"

/* Counts have long upper tails: a clip as for normal residuals moves the intercept by six standard errors here. */
static void the_clip_of_counts_hardly_moves_the_intercept(void **state) {
  (void)state;
  covered_check_intercept(POISSON, "dponestep");
}

/* Of amounts a clip takes from one side alone: 4.1 standard errors here, were it not given back. */
static void what_the_clip_of_amounts_takes_is_given_back(void **state) {
  (void)state;
  covered_check_intercept(GAMMA, "dponestep:clip=3");
}

/* Tails e^(-5 x) of 20,000 terms, slopes below 0, cut at .5: e^-2.5/5 of a term is taken.  Noise of 100 is sqrt(3) of
 * itself in the last tail that stands out of it, from .5 on, as no term is longer than 1.  Of numbers, for which a cell
 * may stand out by itself, it is an error; one that does is seen. */
static void what_a_clip_takes_is_told_with_its_error(void **state) {
  (void)state;
  enum { CELLS = TCT_ONESTEP_EDGES, N = 20000 };
  for (int k = 0; k < 3; k++) {
    double count[2 * CELLS] = {0}, before = 1, lost = exp(-2.5) / 5, tail = 100 * sqrt(3) * 0.2 / N;
    for (int j = 0; j < CELLS; j++) {
      double left = exp(-5 * tct_onestep_edge(j));
      count[CELLS + j] = N * (before - left), before = left;
    }
    if (k == 0) count[CELLS + 25] = 3000; /* noise, where no term is */
    tct_onestep_terms terms = {.count = count, .deviation = 100, .rows = N, .dimension = 6, .most = 1, .given = 0.5};
    terms.amounts = k == 0, terms.even = k > 0;
    terms.given /= tct_onestep_edge(k ? 12 : 13); /* over the edge that 68 % are within */
    if (k == 2) memset(count + CELLS + 14, 0, 12 * sizeof *count), count[17] = 1000;
    if (k == 2) terms.most = INFINITY;
    assert_float_equal(tct_onestep_pick_clip(&terms), 0.5, 1e-12);
    /* of the other sign nothing is seen but noise: a tail from this cell on */
    int cells = tct_onestep_cell(1) + 2 - tct_onestep_cell(0.5);
    double left = k ? 1 : 0.25, other = 100 * sqrt(cells) * 0.4 * 0.5 / N, all = hypot(hypot(tail, other), left * lost);
    printf("taken: %g, unsure: %g\n", terms.taken / lost, terms.unsure / all);
    if (k == 2) assert_true(terms.unsure > 600.0 / N);
    if (k == 2) continue;
    assert_float_equal(terms.taken / -lost, 1 - left, 0.05);
    assert_float_equal(terms.unsure / all, 1, 0.05);
  }
}

/* Numbers whose tails are all below the noise: a clip at the typical term may take one deviation of either.  It was
 * nothing: the intercept of skewed residuals was covered in 22 of 32. */
static void tails_that_noise_hides_are_an_error(void **state) {
  (void)state;
  enum { CELLS = TCT_ONESTEP_EDGES, N = 800 };
  double count[2 * CELLS] = {0}, edge = tct_onestep_edge(12);
  count[12] = count[CELLS + 12] = N / 2.0;
  tct_onestep_terms terms = {.count = count, .deviation = 100, .rows = N, .dimension = 6, .most = INFINITY};
  terms.even = true, terms.given = 1;
  double clip = tct_onestep_pick_clip(&terms), hidden = 100 * sqrt(2.0 * (CELLS - 13)) * 0.4 * clip / N;
  assert_float_equal(clip, edge, 1e-12);
  printf("unsure: %g of %g\n", terms.unsure, hidden);
  assert_true(terms.unsure > 0.9 * hidden && terms.unsure < 1.1 * hidden && terms.lost > 0);
}

/* Of what noise may hide of counts half is given back and all an error, but below two events, where the law has. */
static void half_of_what_noise_hides_of_counts_is_given_back(void **state) {
  (void)state;
  enum { CELLS = TCT_ONESTEP_EDGES, N = 20000 };
  for (int law = 0; law < 2; law++) {
    double count[2 * CELLS] = {0}, edge = tct_onestep_edge(13);
    count[13] = count[CELLS + 13] = N / 2.0;
    tct_onestep_terms terms = {.count = count, .deviation = 100, .rows = N, .dimension = 6, .most = INFINITY};
    terms.typical = 0.1, terms.given = (law ? 1.5 : 3) / edge;
    double clip = tct_onestep_pick_clip(&terms), hidden = (16 * edge - clip) * 100 * terms.uneven / N;
    assert_true(hidden > 0);
    assert_float_equal(terms.taken, law ? 0 : -hidden / 2, 1e-12);
    assert_true(terms.unsure >= hidden && terms.lost > 0);
  }
}

/* Where noise hides the events, a clip by what is seen, the slopes of zeros, would cut them. */
static void a_clip_of_counts_is_below_two_events_where_pairs_are_few_beside_the_noise(void **state) {
  (void)state;
  double count[2 * TCT_ONESTEP_EDGES] = {0};
  tct_onestep_terms terms = {
      .count = count, .deviation = 94, .rows = 20000, .dimension = 6, .given = NAN, .most = INFINITY};
  terms.noise = 0.002, terms.part = 0.5;
  count[6] = 8000, count[7] = 11000; /* 0.13 and 0.18 long */
  assert_true(tct_onestep_pick_clip(&terms) < 1);
  terms.typical = 0.02, terms.part = 1;
  assert_true(tct_onestep_pick_clip(&terms) == 1.2);
  terms.typical = 0.5;
  double clip = tct_onestep_pick_clip(&terms);
  assert_true(clip > 1.8 && clip < 2); /* 12 % of the records are pairs, the error of all directions is 0.01 */
}

/* Under the law the cut slope has mean 0, and the curve is what the mean of a fixed cut moves by. */
static void a_cut_count_is_unbiased_under_its_law(void **state) {
  (void)state;
  static const double means[] = {0.01, 0.06, 0.7, 3, 20}, rooms[] = {0.6, 1.3, 1.9, 4};
  for (int k = 0; k < 20; k++) {
    double m = means[k / 4], room = rooms[k % 4], mass = exp(-m), sum = 0, moved = 0, part = NAN;
    for (int y = 0; y < 150; mass *= m / ++y) {
      sum += mass * tct_onestep_cut_count(m, y, room, &part);
      moved += mass * (y - m) * fmin(fmax(y - m, -room), room); /* the score times the cut */
    }
    assert_true(fabs(sum) < 1e-12 && fabs(part - moved / m) < 1e-10 && part > 0 && part < 1);
    assert_true(fabs(tct_onestep_cut_count(m, 1000, room, &part)) <= 2 * room);
  }
  double part = 0;
  assert_true(tct_onestep_cut_count(3, 5, 100, &part) == -2 && part == 1); /* never cut */
  assert_true(isnan(tct_onestep_cut_count(NAN, 5, 1, &part)));
}

/* A table of 1,000 events of 20,000 counts: a path whose clip cut them predicted a tenth. */
static void the_mean_of_rare_counts_is_near_the_truth_where_noise_hides_single_events(void **state) {
  (void)state;
  enum { N = 20000, P = 4, RUNS = 4 };
  double sum = 0;
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, POISSON, N, P, 700 + (uint64_t)run);
    for (int64_t i = 0; i < N; i++) t.y[i] = i % 20 == 0;
    t.label_bound = 10;
    tct_model *model = covered_fit(&t, POISSON, "dponestep:errors=robust", 0.5, NULL, 3 + (uint64_t)run);
    for (int64_t i = 0; i < N; i++) {
      double z = 0;
      for (int64_t j = 0; j < P; j++) z += t.x[i * P + j] * model->coefficients[j];
      sum += exp(z) / N / RUNS;
    }
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("mean prediction %.4f of 0.05\n", sum);
  assert_true(fabs(sum / 0.05 - 1) < 0.15);
}

/* Counts of a right model: what a clip may lose, for all that the walk knows, doubled their noise.  The variance at
 * the end says that it is not there. */
static void robust_errors_of_a_right_model_of_counts_are_hardly_longer(void **state) {
  (void)state;
  enum { RUNS = 8, P = 10 };
  double longer = 0;
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(INDEPENDENT, POISSON, 20000, P, 500 + (uint64_t)run);
    tct_model *own = covered_fit(&t, POISSON, "dponestep", 1, NULL, 60 + (uint64_t)run);
    tct_model *robust = covered_fit(&t, POISSON, "dponestep:errors=robust", 1, NULL, 60 + (uint64_t)run);
    longer += log(covered_weight(robust, 1).noise_error / covered_weight(own, 1).noise_error) / RUNS;
    tct_model_free(own), tct_model_free(robust);
    coverage_free(&t);
  }
  printf("robust: the noise counts as %.2f times that of the model's own\n", exp(longer));
  assert_true(exp(longer) < 1.75);
}

/* A short clip along the path leaves the last step so far to go that the square of it was 2.7 errors of the intercept.
 */
static void the_path_of_skewed_counts_ends_so_near_that_one_step_is_enough(void **state) {
  (void)state;
  enum { P = 5 };
  double exact[P], se[P];
  coverage_table t = covered_exactly(SKEW_ERRORS, POISSON, 200000, P, 0, exact, se);
  tct_model *model = covered_train(&t, POISSON, "dponestep:errors=robust", 12);
  for (int64_t j = 0; j < P; j++) {
    double off = (model->coefficients[j] - exact[j]) / se[j];
    printf("weight %d is %.2f standard errors from the exact fit's\n", (int)j, off);
    if (!(fabs(off) < 1.2)) fail_msg("weight %d is %g standard errors off", (int)j, off);
  }
  tct_model_free(model);
  coverage_free(&t);
}

/* Counts that vary much have a tail that noise hides.  A clip as long as that ends at 10.7 times the sampling's
 * variance from the exact fit; this is 2.8. */
static void the_clip_of_counts_that_vary_much_is_short(void **state) {
  (void)state;
  enum { RUNS = 6, P = 16 };
  double squares = 0, stated = 0;
  for (int run = 0; run < RUNS; run++) {
    double exact[P], se[P];
    coverage_table t = covered_exactly(SKEW_ERRORS, POISSON, 20000, P, 40 + (uint64_t)run, exact, se);
    tct_model *model = covered_fit(&t, POISSON, "dponestep:errors=robust", 0.75, NULL, 90 + (uint64_t)run);
    for (int j = 0; j < P; j++) {
      squares += pow((model->coefficients[j] - exact[j]) / se[j], 2) / (RUNS * P);
      stated += pow(covered_weight(model, j).noise_error / se[j], 2) / (RUNS * P);
    }
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("noise: %.1f of the sampling's variance, stated: %.1f\n", squares, stated);
  assert_true(squares < 5 && stated < 7 && stated > 0.7 * squares);
}

/* Terms of a category with one record in a hundred are cut, and noise hides them: its weight was 3.3 errors off. */
static void what_is_cut_of_a_rare_category_is_given_back(void **state) {
  (void)state;
  enum { RUNS = 3, P = 5 };
  double truth[P], off = 0;
  coverage_truth(RARE, POISSON, P, truth);
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(RARE, POISSON, 200000, P, 20 + (uint64_t)run);
    tct_model *model = covered_fit(&t, POISSON, "dponestep:errors=robust", 0.5, NULL, 70 + (uint64_t)run);
    off += (model->coefficients[0] - truth[0]) / covered_weight(model, 0).standard_error / RUNS;
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("the category's weight is %.2f standard errors off\n", off);
  assert_true(fabs(off) < 1.7);
}

/* A mean that is wrong makes counts vary more than it says, and most of that is in the few largest.  A clip that takes
 * twice as much, hidden terms that are not paid for, or paid along the mean row alone, make this mean square 2.1 and
 * more, dispersion that noise may hide and nobody counts 1.39; it is 0.77. */
static void a_wrong_mean_of_counts_is_in_their_errors(void **state) {
  (void)state;
  enum { RUNS = 60, P = 5, PARTS = 4 };
  double start[P], truth[P] = {0}, squares = 0;
  int given = 0;
  coverage_truth(WRONG, POISSON, P, start);
  for (int k = 0; k < PARTS; k++) {
    double w[P];
    coverage_table t = coverage_make(WRONG, POISSON, 400000, P, 1000000 + (uint64_t)k, 1);
    memcpy(w, start, sizeof w);
    coverage_exact(&t, POISSON, 0, w, NULL);
    for (int j = 0; j < P; j++) truth[j] += w[j] / PARTS;
    coverage_free(&t);
  }
  for (int run = 0; run < RUNS; run++) {
    coverage_table t = coverage_draw(WRONG, POISSON, 20000, P, 750 + (uint64_t)run);
    tct_model *model = covered_fit(&t, POISSON, "dponestep:errors=robust", 0.5, NULL, 827 + (uint64_t)run);
    tct_contrast errors = covered_weight(model, 0);
    double off = (model->coefficients[0] - truth[0]) / errors.standard_error;
    if (errors.why == TCT_GIVEN) squares += off * off, given++;
    tct_model_free(model);
    coverage_free(&t);
  }
  printf("of %d: the mean square over the stated variance is %.2f\n", given, squares / given);
  assert_true(given > 0.9 * RUNS && squares < 1.2 * given);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clip_of_counts_is_below_two_events_where_pairs_are_few_beside_the_noise),
      cmocka_unit_test(a_cut_count_is_unbiased_under_its_law),
      cmocka_unit_test(the_mean_of_rare_counts_is_near_the_truth_where_noise_hides_single_events),
      cmocka_unit_test(the_clip_of_counts_hardly_moves_the_intercept),
      cmocka_unit_test(what_the_clip_of_amounts_takes_is_given_back),
      cmocka_unit_test(what_a_clip_takes_is_told_with_its_error),
      cmocka_unit_test(tails_that_noise_hides_are_an_error),
      cmocka_unit_test(half_of_what_noise_hides_of_counts_is_given_back),
      cmocka_unit_test(robust_errors_of_a_right_model_of_counts_are_hardly_longer),
      cmocka_unit_test(the_path_of_skewed_counts_ends_so_near_that_one_step_is_enough),
      cmocka_unit_test(the_clip_of_counts_that_vary_much_is_short),
      cmocka_unit_test(what_is_cut_of_a_rare_category_is_given_back),
      cmocka_unit_test(a_wrong_mean_of_counts_is_in_their_errors),
  };
  return cmocka_run_group_tests_name("errors of counts", tests, NULL, NULL);
}
