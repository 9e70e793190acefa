/* test_choice_tree.c - draws from the tree against the exact probabilities, and against the form that scans all scores.
 */
#include "goodness.h"

#include "core/alloc.h"

enum { MOST = 3000, DRAWS = 100000 };
static const double LATTICE = 0x1p-20;

static double on_lattice(double v) { return LATTICE * floor(v / LATTICE); }

static tct_choice_tree tree_new(int64_t count, double epsilon) {
  tct_choice_tree tree;
  assert_int_equal(tct_choice_tree_new(count, epsilon, 0.5, false, LATTICE, &tree, NULL), TCT_OK);
  return tree;
}

/* p-value of draws from the tree with `drawn` against the law of the given scores with `claimed` (change 0.5) */
static double tree_fit(const double *score, int count, double drawn, double claimed, int draws, uint64_t seed) {
  static double seen[MOST], probability[MOST];
  double total = 0, max = -INFINITY;
  tct_choice_tree tree = tree_new(count, drawn);
  tct_stream s = open_stream(seed);
  memset(seen, 0, sizeof seen);
  for (int j = 0; j < count; ++j) max = fmax(max, claimed * score[j]);
  for (int j = 0; j < count; ++j) total += probability[j] = exp(claimed * score[j] - max);
  for (int j = 0; j < count; ++j) probability[j] /= total;
  for (int j = 0; j < count; ++j) tct_choice_tree_set(&tree, j, score[j]);
  assert_false(tree.off);
  for (int i = 0; i < draws; ++i) ++seen[tct_choice_tree_draw(&tree, &s)];
  tct_choice_tree_free(&tree);
  return fit(seen, probability, count, draws);
}

static double uniform(tct_stream *s) { return (double)(tct_stream_u64(s) >> 11) * 0x1p-53; }

/* Scores whose logarithms of probability spread over `spread`. */
static void scatter(double *score, int count, double spread, uint64_t seed) {
  tct_stream s = open_stream(seed);
  for (int j = 0; j < count; ++j) score[j] = on_lattice(spread * (uniform(&s) - 1));
}

static void a_tree_draws_with_the_exact_probabilities_whatever_the_spread(void **state) {
  (void)state;
  static double score[MOST];
  const struct {
    int count;
    double spread;
  } of[] = {{1000, 0.01}, {1000, 2}, {777, 30}, {1000, 300}, {2, 2}, {513, 1e5}};
  for (size_t k = 0; k < sizeof of / sizeof *of; ++k) {
    scatter(score, of[k].count, of[k].spread, 610 + k);
    if (of[k].spread >= 300) /* else one candidate has it all */
      for (int j = 0; j < of[k].count; j += 3) score[j] = on_lattice(1 + 2.0 * (j % 11) / 11);
    double p = tree_fit(score, of[k].count, 1, 1, DRAWS, 620 + k);
    if (!(p > ALPHA)) fail_msg("%d scores over %g: p-value %g", of[k].count, of[k].spread, p);
  }
}

/* A tenth of epsilon, of a level's width and of a coin must show. */
static void a_wrong_epsilon_or_sign_is_caught(void **state) {
  (void)state;
  static double score[MOST];
  scatter(score, 1000, 4, 630);
  assert_true(tree_fit(score, 1000, 0.9, 1, DRAWS, 631) < ALPHA);
  assert_true(tree_fit(score, 1000, 1.1, 1, DRAWS, 632) < ALPHA);
  for (int j = 0; j < 1000; ++j) score[j] = -score[j];
  scatter(score + 1000, 1000, 4, 630);
  assert_true(tree_fit(score, 1000, 1, 1, DRAWS, 633) > ALPHA);
  assert_true(tree_fit(score, 1000, 1, -1, DRAWS, 634) < ALPHA);
}

static void tiny_and_vanishing_epsilons_are_exact(void **state) {
  (void)state;
  static double score[MOST];
  for (int j = 0; j < 500; ++j) score[j] = on_lattice(j % 2 ? 0x1p30 : -0x1p30);
  assert_true(tree_fit(score, 500, 0, 0, DRAWS, 640) > ALPHA);
  assert_true(tree_fit(score, 500, 0x1p-31, 0x1p-31, DRAWS, 641) > ALPHA); /* levels wider than all scores */
  assert_true(tree_fit(score, 500, 0x1p-29, 0x1p-29, DRAWS, 642) > ALPHA); /* and a little less */
  assert_true(tree_fit(score, 500, 0x1p-31, 0x1p-32, DRAWS, 643) < ALPHA);
}

static void a_tree_does_not_remember_how_its_scores_came_about(void **state) {
  (void)state;
  enum { N = 700 };
  tct_choice_tree a = tree_new(N, 3), b = tree_new(N, 3);
  tct_stream s = open_stream(650), one = open_stream(651), two = open_stream(651);
  for (int t = 0; t < 20000; ++t) {
    double v = on_lattice(200 * (uniform(&s) - 0.5));
    tct_choice_tree_set(&a, (int64_t)tct_stream_below(&s, N), v);
  }
  for (int64_t j = N - 1; j >= 0; --j) tct_choice_tree_set(&b, j, a.score[j]);
  assert_memory_equal(a.node, b.node, 2 * (size_t)a.leaves * sizeof *a.node);
  for (int t = 0; t < 1000; ++t) assert_int_equal(tct_choice_tree_draw(&a, &one), tct_choice_tree_draw(&b, &two));
  tct_choice_tree_free(&a);
  tct_choice_tree_free(&b);
}

/* Two samples: the tree's, and that of the form which scans all scores. */
static void the_tree_and_the_scan_agree_on_sums_of_a_sparse_problem(void **state) {
  (void)state;
  enum { N = 2000 };
  static double score[N], seen[2][N];
  tct_stream s = open_stream(660);
  tct_choice_tree tree = tree_new(N, 0.7);
  for (int j = 0; j < N; j += 2) { /* signed sums of up to 400 terms, most of few */
    double size = on_lattice(pow(uniform(&s), 12) * 8);
    score[j] = size, score[j + 1] = -size;
  }
  for (int j = 0; j < N; ++j) tct_choice_tree_set(&tree, j, score[j]);
  for (int i = 0; i < DRAWS; ++i) {
    ++seen[0][tct_choice_tree_draw(&tree, &s)];
    ++seen[1][tct_exponential_choice(&s, score, N, 0.7, 0.5, false)];
  }
  double chi2 = 0, a = 0, b = 0;
  int cells = 0;
  for (int j = 0; j < N; ++j) {
    a += seen[0][j], b += seen[1][j];
    if (a + b < 200) continue;
    chi2 += (a - b) * (a - b) / (a + b);
    a = b = 0;
    ++cells;
  }
  assert_true(cells > 100);
  assert_true(chi_square_tail(chi2, cells - 1) > ALPHA);
  tct_choice_tree_free(&tree);
}

static void a_score_off_the_lattice_or_out_of_range_marks_the_tree(void **state) {
  (void)state;
  const double bad[] = {LATTICE / 2, 0x1p40, INFINITY, NAN};
  for (int k = 0; k < 4; ++k) {
    tct_choice_tree tree = tree_new(3, 1);
    tct_choice_tree_set(&tree, 1, 5 * LATTICE);
    assert_false(tree.off);
    tct_choice_tree_set(&tree, 1, bad[k]);
    assert_true(tree.off);
    tct_choice_tree_free(&tree);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tree_draws_with_the_exact_probabilities_whatever_the_spread),
      cmocka_unit_test(a_wrong_epsilon_or_sign_is_caught),
      cmocka_unit_test(tiny_and_vanishing_epsilons_are_exact),
      cmocka_unit_test(a_tree_does_not_remember_how_its_scores_came_about),
      cmocka_unit_test(the_tree_and_the_scan_agree_on_sums_of_a_sparse_problem),
      cmocka_unit_test(a_score_off_the_lattice_or_out_of_range_marks_the_tree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
