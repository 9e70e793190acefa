/* test_smooth.c - certified minimisation: the error bound, Newton's method, the descent that cannot fail. */
#include "la/exact/gram.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/smooth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { N = 300, P = 7 };

typedef struct world {
  double x[N * P], y[N], linear[P];
  tct_matrix m;
  tct_view view;
  tct_facts facts;
  tct_problem problem;
  tct_smooth smooth;
} world;

static uint64_t state_of = 11;
static double uniform(void) { /* Knuth's MMIX generator: test data only */
  state_of = state_of * 6364136223846793005u + 1442695040888963407u;
  return (double)(state_of >> 11) * 0x1p-53;
}

static void make(world *w, const char *loss, double ridge, double tilt) {
  tct_error err;
  tct_smooth_facts facts;
  memset(w, 0, sizeof *w);
  for (int k = 0; k < N * P; k++) w->x[k] = 4 * uniform() - 2;
  w->facts = (tct_facts){.rows = N, .p = P, .row_norm = 2, .label_bound = 1, .threads = 1};
  assert_int_equal(tct_loss_make(loss, &w->facts.loss, &err), TCT_OK);
  bool binary = w->facts.loss.kind->binary;
  for (int i = 0; i < N; i++) w->y[i] = binary ? (w->x[i * P] + uniform() > 0.5 ? 1 : -1) : 2 * uniform() - 1;
  for (int j = 0; j < P; j++) w->linear[j] = tilt * (2 * uniform() - 1);
  w->m = (tct_matrix){.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = w->x, .stride = P};
  assert_int_equal(tct_view_bound(&w->view, &w->m, 0, 2, TCT_ROWS_CLIP, 1, &err), TCT_OK);
  w->problem = (tct_problem){.facts = &w->facts, .view = &w->view, .y = w->y};
  assert_int_equal(tct_smooth_of(&w->facts, "test", ridge, sqrt(tct_norm2(w->linear, P)), &facts, &err), TCT_OK);
  assert_int_equal(tct_smooth_new(&w->problem, &facts, NULL, &w->smooth, &err), TCT_OK);
  w->smooth.linear = w->linear;
}

static void drop(world *w) {
  tct_smooth_free(&w->smooth);
  tct_view_free(&w->view);
}

/* log(1+e^-z)' and its kin in extended precision, from the formulas and nothing of loss/. */
static long double slope_of(const char *loss, long double z, long double y) {
  if (!strcmp(loss, "logistic")) return -y / (1 + expl(y * z));
  if (!strcmp(loss, "huber")) return fminl(1, fmaxl(-1, z - y));
  return -y * fminl(1, fmaxl(0, (1 - y * z) / 0.5L));
}

/* |gradient| at w, and the distance of smooth->gradient from it, in long double. */
static double exact_gradient(const world *q, const char *loss, const double *w, double *off) {
  long double g[P], norm = 0, away = 0;
  for (int j = 0; j < P; j++) g[j] = (long double)q->smooth.facts.ridge * w[j] + q->linear[j];
  for (int i = 0; i < N; i++) {
    long double z = 0;
    for (int j = 0; j < P; j++) z += (long double)q->view.row_scale[i] * q->x[i * P + j] * w[j];
    long double a = slope_of(loss, z, q->y[i]) * q->view.row_scale[i];
    for (int j = 0; j < P; j++) g[j] += a * q->x[i * P + j];
  }
  for (int j = 0; j < P; j++) {
    norm += g[j] * g[j];
    away += (g[j] - q->smooth.gradient[j]) * (g[j] - q->smooth.gradient[j]);
  }
  *off = (double)sqrtl(away);
  return (double)sqrtl(norm);
}

static const char *const losses[] = {"logistic", "huber", "smoothed_hinge"};

static void the_computed_gradient_is_within_its_proven_error(void **state) {
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int k = 0; k < 30; k++) {
      world q;
      double w[P], off, size = pow(10, k % 6 - 2);
      make(&q, losses[l], 0.5, 3);
      for (int j = 0; j < P; j++) w[j] = size * (2 * uniform() - 1);
      assert_int_equal(tct_smooth_gradient(&q.smooth, w, NULL), TCT_OK);
      exact_gradient(&q, losses[l], w, &off);
      double bound = tct_smooth_error(&q.smooth.facts, sqrt(tct_norm2(w, P)));
      assert_true(off <= bound);
      assert_true(bound < 1e-9 * (1 + size)); /* and worth having */
      drop(&q);
    }
}

static void newton_reaches_the_certified_norm(void **state) {
  (void)state;
  for (int l = 0; l < 3; l++)
    for (int k = 0; k < 8; k++) {
      world q;
      double w[P] = {0}, off;
      make(&q, losses[l], pow(10, k - 4), k % 2 ? 100 : 1);
      double target = tct_smooth_reachable(&q.smooth.facts);
      assert_int_equal(tct_smooth_minimise(&q.smooth, target, 100, w, NULL), TCT_OK);
      assert_true(exact_gradient(&q, losses[l], w, &off) <= target);
      assert_true(q.smooth.passes < 400); /* far from what the other method may need */
      drop(&q);
    }
}

/* Where the computed gradient is as short as the target, its own error may still be too much. */
static void an_end_is_certified_with_the_error_of_its_gradient(void **state) {
  (void)state;
  for (int l = 0; l < 3; l++) {
    world q;
    double w[P] = {0};
    make(&q, losses[l], 1, 1);
    assert_int_equal(tct_smooth_minimise(&q.smooth, tct_smooth_reachable(&q.smooth.facts), 100, w, NULL), TCT_OK);
    assert_int_equal(tct_smooth_gradient(&q.smooth, w, NULL), TCT_OK);
    double norm = sqrt(tct_norm2(q.smooth.gradient, P)),
           error = tct_smooth_error(&q.smooth.facts, sqrt(tct_norm2(w, P)));
    assert_true(norm > 0 && error > 0);
    assert_false(tct_smooth_certified(&q.smooth, w, norm + 0.99 * error));
    assert_true(tct_smooth_certified(&q.smooth, w, norm + 1.01 * error + 1e-12 * norm));
    drop(&q);
  }
}

/* Curvature comes and goes within a step here; the slow way takes 10^5 passes and more. */
static void separable_records_with_a_narrow_corner_need_few_passes(void **state) {
  (void)state;
  enum { ROWS = 2000, COLS = 4 };
  static double x[ROWS * COLS], y[ROWS];
  tct_facts facts = {.rows = ROWS, .p = COLS + 1, .row_norm = 1, .label_bound = 1, .threads = 1};
  tct_matrix m = {.rows = ROWS, .cols = COLS, .layout = TCT_DENSE_ROWS, .values = x, .stride = COLS};
  for (int k = 0; k < 6; k++) {
    tct_view view;
    tct_smooth smooth;
    tct_smooth_facts given;
    double w[COLS + 1] = {0};
    for (int i = 0; i < ROWS; i++) {
      double sum = 0;
      for (int j = 0; j < COLS; j++) sum += x[i * COLS + j] = uniform() - 0.5;
      y[i] = sum > 0 ? 1 : -1;
    }
    assert_int_equal(tct_loss_make("smoothed_hinge:width=0.01", &facts.loss, NULL), TCT_OK);
    assert_int_equal(tct_view_bound(&view, &m, 1, 1, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
    tct_problem problem = {.facts = &facts, .view = &view, .y = y};
    assert_int_equal(tct_smooth_of(&facts, "test", ROWS * 1e-7, 0, &given, NULL), TCT_OK);
    assert_int_equal(tct_smooth_new(&problem, &given, NULL, &smooth, NULL), TCT_OK);
    assert_int_equal(tct_smooth_minimise(&smooth, tct_smooth_reachable(&given), 100, w, NULL), TCT_OK);
    if (smooth.passes > 2000) fail_msg("%lld passes", (long long)smooth.passes);
    tct_smooth_free(&smooth);
    tct_view_free(&view);
  }
}

static void descent_alone_reaches_the_certified_norm(void **state) {
  (void)state;
  for (int l = 0; l < 3; l++) {
    world q;
    double w[P] = {0}, off;
    make(&q, losses[l], 20, 30);
    double target = tct_smooth_reachable(&q.smooth.facts);
    assert_int_equal(tct_smooth_minimise(&q.smooth, target, 0, w, NULL), TCT_OK); /* no Newton step */
    assert_true(exact_gradient(&q, losses[l], w, &off) <= target);
    assert_true(q.smooth.passes > 0);
    drop(&q);
  }
}

static void a_start_that_is_not_a_number_does_no_harm(void **state) {
  (void)state;
  world q;
  double w[P] = {NAN, INFINITY}, off;
  make(&q, "logistic", 20, 30);
  double target = tct_smooth_reachable(&q.smooth.facts);
  assert_int_equal(tct_smooth_minimise(&q.smooth, target, 50, w, NULL), TCT_OK);
  assert_true(exact_gradient(&q, "logistic", w, &off) <= target);
  drop(&q);
}

static void conjugate_gradients_give_the_direction_of_the_factored_hessian(void **state) {
  (void)state;
  world q;
  double w[P] = {0.3, -0.2}, dense[P], memory[4 * P], *gram;
  make(&q, "logistic", 1, 3);
  assert_int_equal(tct_smooth_gradient(&q.smooth, w, NULL), TCT_OK);
  bool good;
  assert_int_equal(tct_newton_factor(&q.smooth, tct_smooth_all(&q.smooth), 0, &good, NULL), TCT_OK);
  assert_true(good);
  for (int j = 0; j < P; j++) dense[j] = -q.smooth.gradient[j];
  tct_cholesky_solve(q.smooth.gram, P, dense);
  gram = q.smooth.gram, q.smooth.gram = NULL, q.smooth.conjugate = memory;
  assert_int_equal(tct_newton_direction(&q.smooth, NULL), TCT_OK);
  for (int j = 0; j < P; j++) assert_true(fabs(q.smooth.direction[j] - dense[j]) < 1e-2 * sqrt(tct_norm2(dense, P)));
  q.smooth.gram = gram, q.smooth.conjugate = NULL;
  drop(&q);
}

static void the_gram_matrix_and_its_factor_solve_normal_equations(void **state) {
  (void)state;
  static double gram[2 * P * P], scratch[3 * 8 * 8 + 2 * 128 * 16 + P], weight[N], x[P], back[P];
  world q;
  make(&q, "logistic", 1, 0);
  assert_true(tct_gram_scratch(P, 1) <= (int64_t)(sizeof scratch / sizeof *scratch));
  for (int i = 0; i < N; i++) weight[i] = uniform();
  tct_gram(&q.view, weight, &(tct_exact_bounds){.largest = 1, .norm = 2, .rows = N}, gram, scratch, 1);
  tct_gram_finish(gram, P);
  for (int a = 0; a < P; a++)
    for (int b = 0; b < P; b++) {
      double sum = 0;
      for (int i = 0; i < N; i++)
        sum += weight[i] * q.view.row_scale[i] * q.x[i * P + a] * q.view.row_scale[i] * q.x[i * P + b];
      assert_true(fabs(sum - gram[a * P + b]) < 1e-10 * N);
    }
  for (int j = 0; j < P; j++) x[j] = uniform();
  for (int a = 0; a < P; a++) back[a] = tct_dot(gram + a * P, x, P);
  assert_true(tct_cholesky(gram, P));
  tct_cholesky_solve(gram, P, back);
  for (int j = 0; j < P; j++) assert_true(fabs(back[j] - x[j]) < 1e-9);
  gram[0] = -1;
  assert_false(tct_cholesky(gram, P));
  drop(&q);
}

/* lbfgs and majority: references without privacy. */
static void run_reference(const char *name, world *q, double l2, double *w) {
  tct_spec spec;
  tct_solver_plan plan = {0};
  tct_error err = {0};
  char penalty[64];
  snprintf(penalty, sizeof penalty, "l2:lambda=%.17g", l2);
  assert_int_equal(tct_penalty_make(penalty, &q->facts.penalty, &err), TCT_OK);
  assert_int_equal(tct_spec_parse(name, "solver", &spec, &err), TCT_OK);
  const tct_solver *solver = tct_solver_find(name);
  assert_int_equal(solver->plan(&q->facts, &spec, &plan, &err), TCT_OK);
  assert_int_equal(solver->run(&q->problem, &plan, NULL, w, &err), TCT_OK);
  tct_solver_plan_free(&plan);
}

static void lbfgs_finds_the_minimiser_that_newton_finds(void **state) {
  (void)state;
  for (int l = 0; l < 3; l++) {
    world q;
    double w[P], newton[P] = {0};
    make(&q, losses[l], 3, 0);
    run_reference("lbfgs", &q, 0.01, w); /* n*lambda = 3 */
    assert_int_equal(tct_smooth_minimise(&q.smooth, tct_smooth_reachable(&q.smooth.facts), 100, newton, NULL), TCT_OK);
    for (int j = 0; j < P; j++) assert_true(fabs(w[j] - newton[j]) < 1e-6);
    drop(&q);
  }
}

static void majority_predicts_the_larger_class(void **state) {
  (void)state;
  for (int flip = -1; flip <= 1; flip += 2) {
    world q;
    double w[P + 1];
    make(&q, "logistic", 1, 0);
    for (int i = 0; i < N; i++) q.y[i] = i % 3 ? flip : -flip;
    q.facts.intercept = true;
    q.facts.p = q.view.p = P + 1;
    run_reference("majority", &q, 0.01, w);
    q.view.p = P;
    for (int j = 0; j < P; j++) assert_true(w[j] == 0);
    assert_true(fabs(w[P] - flip * log(2)) < 0.02);
    drop(&q);
  }
}

/* One record at a time, of every length up to R: its gradient and, by differences, its curvature. */
static void a_record_that_is_cut_pulls_and_bends_no_more_than_its_facts_say(void **state) {
  (void)state;
  static const double cuts[][2] = {{1, 0.5}, {0.5, 1}, {0.5, 0.5}, {0.8, 0.7}};
  for (int l = 0; l < 3; l++)
    for (int c = 0; c < 4; c++) {
      world q;
      tct_smooth_facts facts;
      double pull = 0, bend = 0, min = INFINITY, w[P], before[P], step = 1e-5;
      make(&q, losses[l], 1, 0);
      facts = q.smooth.facts;
      tct_smooth_free(&q.smooth);
      tct_smooth_cut(&facts, cuts[c][0], cuts[c][1]);
      facts.ridge = 0;
      for (int k = 0; k < N; k++) { /* the view is one record of length 2 (k + 1)/N in a random direction */
        double length = 0, margin = 3 * (2 * uniform() - 1);
        for (int j = 0; j < P; j++) length += q.x[k * P + j] * q.x[k * P + j];
        double size = 2 * (k + 1) / (double)N / sqrt(length), *x = q.x + k * P;
        for (int j = 0; j < P; j++) x[j] *= size;
        q.m.values = x, q.m.rows = 1, q.facts.rows = 1;
        tct_view_free(&q.view);
        assert_int_equal(tct_view_bound(&q.view, &q.m, 0, 2, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
        assert_int_equal(tct_smooth_new(&q.problem, &facts, NULL, &q.smooth, NULL), TCT_OK);
        length = sqrt(tct_norm2(x, P));
        for (int j = 0; j < P; j++) w[j] = margin * x[j] / (length * length);
        assert_int_equal(tct_smooth_gradient(&q.smooth, w, NULL), TCT_OK);
        memcpy(before, q.smooth.gradient, sizeof before);
        for (int j = 0; j < P; j++) w[j] += step * x[j] / length;
        assert_int_equal(tct_smooth_gradient(&q.smooth, w, NULL), TCT_OK);
        double along = (tct_dot(q.smooth.gradient, x, P) - tct_dot(before, x, P)) / length / step;
        pull = fmax(pull, sqrt(tct_norm2(before, P)));
        bend = fmax(bend, along), min = fmin(min, along);
        tct_smooth_free(&q.smooth);
      }
      double max = facts.slope * facts.row_norm, most_bend = facts.curvature * facts.row_norm * facts.row_norm;
      assert_true(pull <= max * (1 + 1e-12));
      assert_true(pull >= 0.9 * max);
      assert_true(bend <= most_bend * (1 + 1e-6));
      if (cuts[c][1] > 0.6) assert_true(bend >= 0.8 * most_bend);
      assert_true(min >= -1e-9);
      tct_view_free(&q.view);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_computed_gradient_is_within_its_proven_error),
      cmocka_unit_test(a_record_that_is_cut_pulls_and_bends_no_more_than_its_facts_say),
      cmocka_unit_test(newton_reaches_the_certified_norm),
      cmocka_unit_test(separable_records_with_a_narrow_corner_need_few_passes),
      cmocka_unit_test(descent_alone_reaches_the_certified_norm),
      cmocka_unit_test(a_start_that_is_not_a_number_does_no_harm),
      cmocka_unit_test(conjugate_gradients_give_the_direction_of_the_factored_hessian),
      cmocka_unit_test(the_gram_matrix_and_its_factor_solve_normal_equations),
      cmocka_unit_test(lbfgs_finds_the_minimiser_that_newton_finds),
      cmocka_unit_test(majority_predicts_the_larger_class),
      cmocka_unit_test(an_end_is_certified_with_the_error_of_its_gradient),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
