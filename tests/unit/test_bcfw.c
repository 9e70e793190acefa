/* test_bcfw.c - the mean over 20 runs obeys theorem 1 of Lou and Cheung under all five samplings.
 *
 * It does so on boxes and on products of l1 balls.  Sets are drawn with the probabilities that the theorem is given. */
#include "nonprivate/bcfw.h"
#include "worlds.h"

enum { ROWS = 60, COLS = 8, RUNS = 20 };

typedef struct setting {
  const char *sampling; /* options */
  int tau, parties;     /* the curvature bound's: blocks that are drawn together */
} setting;

/* Two parties of four blocks each (distributed). */
static const setting settings[] = {
    {"sampling=elementary", 8, 1},
    {"sampling=serial", 1, 1},
    {"sampling=nice,tau=3", 3, 1},
    {"sampling=distributed,parties=2,tau=2", 2, 2},
    {"sampling=arbitrary,probabilities=0.2/0.9/0.5/0.3/0.3/0.6/0.25/1", 0, 0},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* A coordinate's domain in the direction j: |A_j (s_j - x_j)| <= size_j, A = X sqrt(curvature/n).  For one-coordinate
 * l1 balls and boxes alike a block is an interval. */
static void gram(const world *w, double width, double a[COLS][COLS]) {
  const tct_facts *f = &w->plan->facts;
  const double *x = w->copy.m.values; /* dense columns */
  double h = f->loss.kind->curvature_bound(f->loss.h);
  for (int j = 0; j < COLS; j++)
    for (int k = 0; k < COLS; k++) {
      double sum = 0;
      for (int i = 0; i < ROWS; i++) {
        double s = w->bound.view.row_scale[i];
        sum += s * s * x[j * w->copy.m.stride + i] * x[k * w->copy.m.stride + i];
      }
      a[j][k] = sum * h / ROWS * width * width;
    }
}

/* Propositions 3 and 4 (2 for elementary: tau = d); proposition 1 for independent coins, where the largest normalised
 * eigenvalue of the pairs' probabilities D^(1/2)(p p^T + diag(p(1-p)))D^(1/2), D = diag(1/p), is at most
 * sum p_i + max(1 - p_i). */
static double curvature(const setting *s, const tct_bcfw *b, double a[COLS][COLS]) {
  double one = 0, within = 0, across = 0, sum = 0, off = 0, total = 0;
  for (int j = 0; j < COLS; j++) {
    one = fmax(one, a[j][j]);
    sum += b->probability[j], off = fmax(off, 1 - b->probability[j]);
    total += b->probability[j] * a[j][j];
    for (int k = 0; k < COLS; k++) {
      if (k == j) continue;
      bool same = s->parties <= 1 || j / (COLS / 2) == k / (COLS / 2);
      *(same ? &within : &across) = fmax(same ? within : across, fabs(a[j][k]));
    }
  }
  double K = s->parties, tau = s->tau;
  if (tau == 0) return (sum + off) * total;
  return K * tau * one + K * tau * (tau - 1) * within + K * (K - 1) * tau * tau * across;
}

static double objective(const world *w) {
  const tct_facts *f = &w->plan->facts;
  const double *x = w->copy.m.values;
  double sum = 0;
  for (int i = 0; i < ROWS; i++) {
    double z = 0;
    for (int j = 0; j < COLS; j++) z += w->bound.view.row_scale[i] * x[j * w->copy.m.stride + i] * w->w[j];
    sum += tct_loss_value(&f->loss, z, w->bound.y[i]);
  }
  return sum / ROWS;
}

static double run_once(const records *r, const char *loss, const char *penalty, const char *options, int steps,
                       uint64_t seed, world *w) {
  char spec[300];
  tct_error err = {0};
  snprintf(spec, sizeof spec, "bcfw:blocks=8,%s,steps=%d", options, steps);
  tct_config config = world_config(loss, penalty, spec);
  if (world_open(w, r, &config, TCT_DENSE_COLS, TCT_F64, &err) != TCT_OK) fail_msg("%s: %s", spec, err.text);
  if (world_run(w, seed, NULL, NULL, &err) != TCT_OK) fail_msg("%s: %s", spec, err.text);
  return objective(w);
}

static void obeys(const char *loss, const char *penalty, double width, const setting *s) {
  static const int steps[] = {1, 5, 25, 125, 1000};
  records r = records_new(ROWS, COLS, 3);
  double a[COLS][COLS], last = INFINITY;
  world w;
  double min = run_once(&r, loss, penalty, "sampling=elementary,step=search,tol=1e-6", 200000, 1, &w);
  double begin = 0;
  for (int i = 0; i < ROWS; i++) begin += tct_loss_value(&w.plan->facts.loss, 0, w.bound.y[i]) / ROWS;
  gram(&w, width, a);
  world_close(&w);
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    double mean = 0, bound = 0;
    for (int run = 0; run < RUNS; run++) {
      tct_bcfw b;
      mean += (run_once(&r, loss, penalty, s->sampling, steps[k], 100 + (uint64_t)run, &w) - min) / RUNS;
      assert_int_equal(tct_bcfw_new(&w.plan->facts, &w.plan->solved.spec, &b, NULL), TCT_OK);
      bound = 2 * (begin - min + curvature(s, &b, a) / b.min) / (b.min * steps[k] + 2);
      tct_bcfw_free(&b);
      world_close(&w);
    }
    if (!(mean >= -1e-5)) fail_msg("%s, %s: below the optimum by %g", loss, s->sampling, -mean);
    if (!(mean <= bound))
      fail_msg("%s, %s, %s: after %d steps the mean suboptimality is %g, above the bound %g", loss, penalty,
               s->sampling, steps[k], mean, bound);
    last = mean;
  }
  if (!(last <= 0.05 * (begin - min)))
    fail_msg("%s, %s, %s: 1000 steps leave %g of what is to gain", loss, penalty, s->sampling, last / (begin - min));
  records_free(&r);
}

static void the_mean_of_twenty_runs_obeys_theorem_1_on_boxes(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    obeys("squared", "box:low=-1,high=1", 2, &settings[s]);
    obeys("logistic", "box:low=-3,high=3", 6, &settings[s]);
  }
}

static void the_mean_of_twenty_runs_obeys_theorem_1_on_products_of_l1_balls(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    obeys("squared", "l1ball:radius=8", 2, &settings[s]);
    obeys("logistic", "l1ball:radius=24", 6, &settings[s]);
  }
}

/* Assumption 1 with rho_g = 2 e_g/C and rho_l = 2 e_l/C for one-coordinate blocks, errors in the worst direction: the
 * bound grows by 1 + rho, rho = (D_M + |T|) rho_g + |T| rho_l, and the runs do get worse. */
static void inexact_obeys(const char *penalty, double width, const setting *s) {
  enum { STEPS = 60 };
  const double e_g = 0.02, e_l = 0.05;
  char options[200];
  records r = records_new(ROWS, COLS, 3);
  double a[COLS][COLS], mean[2] = {0, 0}, bound = 0, begin = 0;
  world w;
  double min = run_once(&r, "squared", penalty, "sampling=elementary,step=search,tol=1e-6", 200000, 1, &w);
  for (int i = 0; i < ROWS; i++) begin += tct_loss_value(&w.plan->facts.loss, 0, w.bound.y[i]) / ROWS;
  gram(&w, width, a);
  world_close(&w);
  for (int wrong = 0; wrong < 2; wrong++)
    for (int run = 0; run < RUNS; run++) {
      tct_bcfw b;
      snprintf(options, sizeof options, "%s,gradient_error=%g,oracle_error=%g", s->sampling, wrong * e_g, wrong * e_l);
      mean[wrong] += (run_once(&r, "squared", penalty, options, STEPS, 100 + (uint64_t)run, &w) - min) / RUNS;
      assert_int_equal(tct_bcfw_new(&w.plan->facts, &w.plan->solved.spec, &b, NULL), TCT_OK);
      double c = curvature(s, &b, a), drawn = s->tau ? s->tau * s->parties : COLS;
      double rho = ((width * sqrt(COLS) + drawn) * e_g + drawn * e_l) * 2 / c;
      bound = 2 * (begin - min + (1 + rho) * c / b.min) / (b.min * STEPS + 2);
      tct_bcfw_free(&b);
      world_close(&w);
    }
  if (!(mean[1] <= bound)) fail_msg("%s, %s: inexact by %g, above the bound %g", penalty, s->sampling, mean[1], bound);
  if (!(mean[1] > 1.02 * mean[0])) fail_msg("%s, %s: errors change nothing", penalty, s->sampling);
  records_free(&r);
}
static void inexact_gradients_and_vertices_obey_theorem_1(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    inexact_obeys("box:low=-1,high=1", 2, &settings[s]);
    inexact_obeys("l1ball:radius=8", 2, &settings[s]);
  }
}

/* Two simplices of four coordinates: the weights stay in them, and random points of them are no better. */
static void products_of_simplices_are_searched_for_the_best_point(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 3);
  uint64_t seed = 6;
  world w;
  tct_error err = {0};
  tct_config config = world_config("squared", "l1ball:radius=3",
                                   "bcfw:blocks=2,shape=simplex,radii=0.25/0.75,sampling=serial,tol=1e-4");
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_COLS, TCT_F64, &err), TCT_OK);
  if (world_run(&w, 1, NULL, NULL, &err) != TCT_OK) fail_msg("%s", err.text);
  double reached = objective(&w), sum[2] = {0, 0};
  for (int j = 0; j < COLS; j++) {
    assert_true(w.w[j] >= -1e-12);
    sum[j / 4] += w.w[j];
  }
  assert_true(fabs(sum[0] - 0.75) < 1e-9 && fabs(sum[1] - 2.25) < 1e-9);
  for (int trial = 0; trial < 2000; trial++) {
    double total[2] = {0, 0};
    for (int j = 0; j < COLS; j++) {
      w.w[j] = -log(0.5 + 0.49999 * world_real(&seed)) * (world_real(&seed) > 0);
      total[j / 4] += w.w[j];
    }
    if (total[0] == 0 || total[1] == 0) continue;
    for (int j = 0; j < COLS; j++) w.w[j] *= (j < 4 ? 0.75 : 2.25) / total[j / 4];
    assert_true(objective(&w) >= reached - 1e-4);
  }
  world_close(&w);
  records_free(&r);
}

/* 20000 draws: a frequency has a deviation of at most 0.0036; six of them (alpha 2e-9). */
static void blocks_are_drawn_with_the_probabilities_that_are_stated(void **state) {
  (void)state;
  enum { DRAWS = 20000 };
  tct_config config = world_config("squared", "box:low=-1,high=1", "bcfw");
  for (int s = 0; s < SETTINGS; s++) {
    char spec[200];
    tct_error err = {0};
    tct_mech *mech = NULL;
    tct_promise none = {0};
    uint64_t seed = 4;
    tct_bcfw b;
    snprintf(spec, sizeof spec, "bcfw:%s", settings[s].sampling);
    config.solver = spec;
    tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
    if (!plan) fail_msg("%s", err.text);
    assert_int_equal(tct_bcfw_new(&plan->facts, &plan->solved.spec, &b, &err), TCT_OK);
    assert_int_equal(tct_mech_new(&none, TCT_ADD_REMOVE, &seed, &mech, &err), TCT_OK);
    double seen[COLS] = {0};
    for (int t = 0; t < DRAWS; t++) {
      int in[COLS] = {0};
      int64_t count = tct_bcfw_draw(&b, mech);
      for (int64_t k = 0; k < count; k++) {
        assert_int_equal(in[b.drawn[k]]++, 0); /* no block twice */
        seen[b.drawn[k]]++;
      }
      if (settings[s].tau) assert_int_equal(count, settings[s].tau * settings[s].parties);
    }
    for (int j = 0; j < COLS; j++)
      if (!(fabs(seen[j] / DRAWS - b.probability[j]) < 0.0216))
        fail_msg("%s: block %d is drawn %g of the time", settings[s].sampling, j, seen[j] / DRAWS);
    tct_mech_free(mech);
    tct_bcfw_free(&b);
    tct_plan_free(plan);
  }
}

static void refused(const char *penalty, const char *solver, const char *word) {
  tct_config config = world_config("squared", penalty, solver);
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  if (plan || !strstr(err.text, word)) fail_msg("%s: %s", solver, plan ? "taken" : err.text);
}

static void what_is_not_sound_is_refused_in_a_sentence(void **state) {
  (void)state;
  refused("l1ball:radius=1", "bcfw:sampling=serial", "single l1 ball");
  refused("l1ball:radius=1", "bcfw:blocks=1,sampling=arbitrary", "single l1 ball");
  refused("l2:lambda=1", "bcfw", "bounded domain");
  refused("box:low=-1,high=1", "bcfw:shape=simplex", "shape is for l1 balls");
  refused("l1ball:radius=1", "bcfw:blocks=9", "more blocks");
  refused("l1ball:radius=1", "bcfw:blocks=2,radii=0.7/0.5", "more than 1");
  refused("box:low=-1,high=1", "bcfw:sampling=nice,tau=9", "tau");
  refused("box:low=-1,high=1", "bcfw:sampling=distributed,tau=5", "fewer than tau");
  refused("box:low=-1,high=1", "bcfw:sampling=arbitrary,probabilities=0.5/0.5", "one per block");
  refused("box:low=-1,high=1", "bcfw:sampling=arbitrary,probabilities=0", "one per block");
}

/* The gap bounds what is left, so a run that ends by it is near the optimum of a finer one; one that cannot is an
 * error. */
static void a_run_with_a_gap_reaches_it_or_fails(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 3);
  world w;
  double min = run_once(&r, "logistic", "l1ball:radius=4", "step=search,tol=1e-7", 2000000, 1, &w);
  world_close(&w);
  double near = run_once(&r, "logistic", "l1ball:radius=4", "step=search,tol=1e-3", 100000, 1, &w);
  world_close(&w);
  assert_true(near - min <= 1e-3 && near > min - 1e-7);
  tct_error err = {0};
  tct_config config = world_config("logistic", "l1ball:radius=4", "bcfw:tol=1e-9,steps=3");
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_COLS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&w, 1, NULL, NULL, &err), TCT_E_RUN);
  world_close(&w);
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mean_of_twenty_runs_obeys_theorem_1_on_boxes),
      cmocka_unit_test(the_mean_of_twenty_runs_obeys_theorem_1_on_products_of_l1_balls),
      cmocka_unit_test(inexact_gradients_and_vertices_obey_theorem_1),
      cmocka_unit_test(products_of_simplices_are_searched_for_the_best_point),
      cmocka_unit_test(blocks_are_drawn_with_the_probabilities_that_are_stated),
      cmocka_unit_test(what_is_not_sound_is_refused_in_a_sentence),
      cmocka_unit_test(a_run_with_a_gap_reaches_it_or_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
