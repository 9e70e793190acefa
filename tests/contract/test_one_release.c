/* test_one_release.c - the laws of objpert, outpert and adassp: one vector released, everything promised. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "solve/minimiser/objpert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { N = 60, P = 5 };

/* A small data set, a case of the table below, and what a run left behind. */
typedef struct bench {
  double x[N * P], y[N];
  int32_t start[N + 1], index[N * P];
  double values[N * P];
  tct_matrix m;
  tct_view view;
  tct_facts facts;
  tct_solver_plan plan;
  const tct_solver *solver;
} bench;

typedef struct setting {
  const char *solver, *loss, *penalty;
  double epsilon, delta;
  tct_neighbours neighbours;
} setting;

static const setting settings[] = {
    {"objpert", "logistic", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert", "logistic", "l2:lambda=0.1", 0.2, 1e-6, TCT_REPLACE_ONE},
    {"objpert", "smoothed_hinge", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert", "huber", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert", "huber", "none", 1, 1e-6, TCT_REPLACE_ONE},
    {"objpert:clip=0.3", "logistic", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert:norm=0.2,clip=0.4", "logistic", "none", 1, 1e-6, TCT_REPLACE_ONE},
    {"objpert:clip=0.5", "huber", "none", 1, 1e-6, TCT_REPLACE_ONE},
    {"objpert:variant=kst", "logistic", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert:variant=chaudhuri", "logistic", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert:variant=chaudhuri", "logistic", "l2:lambda=0.1", 1, 1e-6, TCT_REPLACE_ONE},
    {"outpert", "logistic", "l2:lambda=0.1", 1, 1e-6, TCT_ADD_REMOVE},
    {"outpert", "smoothed_hinge", "l2:lambda=0.1", 1, 1e-6, TCT_REPLACE_ONE},
    {"outpert:variant=gd", "logistic", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"outpert:variant=gd", "logistic", "l2:lambda=0.1", 1, 1e-6, TCT_REPLACE_ONE},
    {"adassp", "squared", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"adassp", "squared", "l2:lambda=0.1", 1, 1e-6, TCT_REPLACE_ONE},
    {"adassp:norm=1,iterates=1", "squared", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"adassp:norm=0.3", "squared", "none", 1, 1e-6, TCT_ADD_REMOVE},
    {"objpert", "logistic", "none", 1, 0, TCT_REPLACE_ONE},
    {"objpert:clip=0.5", "huber", "l2:lambda=0.1", 0.3, 0, TCT_ADD_REMOVE},
    {"adassp", "squared", "none", 1, 0, TCT_ADD_REMOVE},
    {"adassp:norm=1", "squared", "l2:lambda=0.1", 1, 0, TCT_REPLACE_ONE},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static uint64_t state_of;
static double uniform(void) { /* Knuth's MMIX generator: test data only */
  state_of = state_of * 6364136223846793005u + 1442695040888963407u;
  return (double)(state_of >> 11) * 0x1p-53;
}

static void fill(bench *b, uint64_t seed, bool binary) {
  state_of = seed;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < P; j++) b->x[i * P + j] = uniform() < 0.4 ? 0 : 4 * uniform() - 2;
    double z = b->x[i * P] - b->x[i * P + 1] + uniform() - 0.5;
    b->y[i] = binary ? (z > 0 ? 1 : -1) : fmax(-1, fmin(1, z));
  }
}

static void view_of(bench *b, bool sparse) {
  tct_error err;
  b->m = (tct_matrix){.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = b->x, .stride = P};
  int32_t count = 0;
  for (int i = 0; i < N && sparse; i++) {
    b->start[i] = count;
    for (int j = 0; j < P; j++)
      if (b->x[i * P + j] != 0) b->index[count] = j, b->values[count++] = b->x[i * P + j];
  }
  b->start[N] = count;
  if (sparse)
    b->m = (tct_matrix){
        .rows = N, .cols = P, .layout = TCT_CSR, .values = b->values, .start = b->start, .index = b->index};
  tct_view_free(&b->view);
  assert_int_equal(tct_view_bound(&b->view, &b->m, 0, 1.5, TCT_ROWS_CLIP, 1, &err), TCT_OK);
}

static void open_bench(bench *b, const setting *s, double epsilon) {
  tct_error err = {0};
  tct_spec spec;
  memset(b, 0, sizeof *b);
  assert_int_equal(tct_spec_parse(s->solver, "solver", &spec, &err), TCT_OK);
  b->solver = tct_solver_find(spec.name);
  assert_non_null(b->solver);
  b->facts = (tct_facts){.rows = N, .p = P, .row_norm = 1.5, .label_bound = 1, .epsilon = epsilon, .delta = s->delta};
  b->facts.neighbours = s->neighbours;
  b->facts.threads = 1;
  assert_int_equal(tct_loss_make(s->loss, &b->facts.loss, &err), TCT_OK);
  assert_int_equal(tct_penalty_make(s->penalty, &b->facts.penalty, &err), TCT_OK);
  assert_int_equal(tct_spec_check(&spec, b->solver->options, "solver", &err), TCT_OK);
  if (b->solver->plan(&b->facts, &spec, &b->plan, &err) != TCT_OK) fail_msg("%s: %s", s->solver, err.text);
  fill(b, 7, b->facts.loss.kind->binary);
  view_of(b, false);
}

static void close_bench(bench *b) {
  tct_view_free(&b->view);
  tct_solver_plan_free(&b->plan);
}

static tct_mech *run(bench *b, uint64_t seed, tct_mech_probe probe, void *user, double *w) {
  tct_error err = {0};
  tct_mech *mech;
  tct_problem problem = {.facts = &b->facts, .view = &b->view, .y = b->y};
  assert_int_equal(tct_mech_new(&b->plan.promise, b->facts.neighbours, &seed, &mech, &err), TCT_OK);
  if (probe) tct_mech_probe_test(mech, probe, user);
  if (b->solver->run(&problem, &b->plan, mech, w, &err) != TCT_OK) fail_msg("%s", err.text);
  return mech;
}

static void what_is_spent_is_what_was_promised(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    bench b;
    double w[P];
    open_bench(&b, &settings[s], settings[s].epsilon);
    assert_true(b.plan.cost.epsilon <= settings[s].epsilon);
    assert_true(b.plan.cost.epsilon >= 0.5 * settings[s].epsilon); /* and not wasted */
    tct_mech *mech = run(&b, 3, NULL, NULL, w);
    const tct_events *spent = tct_mech_spent(mech), *promised = &b.plan.promise.events;
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    assert_int_equal(spent->len, promised->len);
    for (int64_t i = 0; i < spent->len; i++) {
      assert_true(tct_event_same(&spent->at[i], &promised->at[i]));
      assert_int_equal(spent->at[i].count, promised->at[i].count);
    }
    tct_mech_free(mech);
    close_bench(&b);
  }
}

static void the_same_seed_gives_the_same_bytes_for_any_number_of_threads(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    bench b;
    double one[P], again[P], four[P], other[P];
    open_bench(&b, &settings[s], settings[s].epsilon);
    tct_mech_free(run(&b, 3, NULL, NULL, one));
    tct_mech_free(run(&b, 3, NULL, NULL, again));
    tct_mech_free(run(&b, 4, NULL, NULL, other));
    b.facts.threads = 4;
    tct_mech_free(run(&b, 3, NULL, NULL, four));
    assert_memory_equal(one, again, sizeof one);
    assert_memory_equal(one, four, sizeof one);
    assert_memory_not_equal(one, other, sizeof one);
    close_bench(&b);
  }
}

/* The value before the last release, and the release's sensitivity. */
typedef struct seen {
  double before[P * P + P], forced[P];
  double sensitivity;
  int64_t len;
  bool l1;       /* the norm of the sensitivity */
  bool force;    /* the first release's value is replaced */
  double factor; /* of the first release's value; 0: as it is */
} seen;

static void look(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  seen *s = user;
  s->l1 = event->kind == TCT_EV_LAPLACE;
  if (event->kind == TCT_EV_OBJPERT || event->kind == TCT_EV_APPROX || event->kind == TCT_EV_PURE) {
    if (s->force) memcpy(after, s->forced, sizeof s->forced);
    for (int64_t j = 0; j < len && s->factor != 0; j++) after[j] *= s->factor;
    memcpy(s->forced, after, sizeof s->forced);
    return;
  }
  memcpy(s->before, before, (size_t)len * sizeof *before);
  s->len = len;
  s->sensitivity = sensitivity;
}

static double distance(const seen *a, const seen *b) {
  double sum = 0, sizes = 0;
  for (int64_t j = 0; j < a->len; j++) {
    sum += (a->before[j] - b->before[j]) * (a->before[j] - b->before[j]);
    sizes += fabs(a->before[j] - b->before[j]);
  }
  return a->l1 ? sizes : sqrt(sum);
}

static void dense_and_sparse_rows_give_the_same_release(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    bench b;
    double w[P];
    seen dense = {0}, sparse = {0};
    open_bench(&b, &settings[s], settings[s].epsilon);
    tct_mech_free(run(&b, 3, look, &dense, w));
    view_of(&b, true);
    tct_mech_free(run(&b, 3, look, &sparse, w));
    if (b.solver == tct_solver_find("adassp")) assert_memory_equal(dense.before, sparse.before, sizeof dense.before);
    assert_true(distance(&dense, &sparse) <= dense.sensitivity); /* the certificate's promise */
    close_bench(&b);
  }
}

/* |grad of the mean objective| at w. */
static double gradient_norm(const bench *b, const double *w) {
  double g[P] = {0};
  for (int64_t i = 0; i < N; i++)
    tct_row_axpy(&b->view, i, tct_loss_slope(&b->facts.loss, tct_row_dot(&b->view, i, w), b->y[i]) / N, g);
  tct_axpy(b->facts.penalty.l2, w, g, P);
  return sqrt(tct_norm2(g, P));
}

static void without_privacy_the_optimum_is_reached(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    bench b;
    double w[P];
    open_bench(&b, &settings[s], INFINITY);
    tct_mech *mech = run(&b, 3, NULL, NULL, w);
    assert_int_equal(tct_mech_spent_exactly(mech, NULL), TCT_OK);
    assert_true(gradient_norm(&b, w) < 1e-8);
    tct_mech_free(mech);
    close_bench(&b);
  }
}

/* Record k's row under the bound, into x[P]. */
static void row_of(const bench *b, int64_t k, double *x) {
  memset(x, 0, P * sizeof *x);
  tct_row_axpy(&b->view, k, 1, x);
}

/* Record k far beyond the bound, or (every third k) just as long as the longest that adassp by default does not weigh
 * down. */
static void extreme_row(bench *b, int k) {
  double *x = b->x + (ptrdiff_t)k * P;
  for (int j = 0; j < P; j++) x[j] = 50 * (uniform() - 0.5);
  double factor = 0.7 * 1.5 / sqrt(tct_norm2(x, P));
  for (int j = 0; j < P && k % 3 == 0; j++) x[j] *= factor;
}

/* The largest |release(D) - release(D')|/sensitivity over neighbours without record k, k extreme. */
static double worst_ratio(const setting *s, bool extreme) {
  double worst = 0;
  for (int k = 0; k < 12; k++) {
    bench b;
    double w[P];
    seen with = {0}, without = {0};
    open_bench(&b, s, s->epsilon);
    fill(&b, (uint64_t)k + 100, b.facts.loss.kind->binary);
    if (extreme) extreme_row(&b, k);
    if (extreme && !b.facts.loss.kind->binary) b.y[k] = k % 2 ? 1 : -1;
    view_of(&b, false);
    tct_mech_free(run(&b, 3, look, &with, w));
    if (s->neighbours == TCT_REPLACE_ONE) {
      extreme_row(&b, k);
      b.y[k] = -b.y[k];
      view_of(&b, false);
    } else {
      b.view.row_scale[k] = 0;
    }
    tct_mech_free(run(&b, 3, look, &without, w));
    worst = fmax(worst, distance(&with, &without) / (with.sensitivity * (s->neighbours == TCT_REPLACE_ONE ? 2 : 1)));
    close_bench(&b);
  }
  return worst;
}

static void one_record_never_moves_the_release_beyond_its_reach(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    bool statistics = !strncmp(settings[s].solver, "adassp", 6);
    if (!strncmp(settings[s].solver, "objpert", 7)) continue; /* its own test below */
    double worst = worst_ratio(&settings[s], true);
    print_message("%s %s: %.3f of the reach\n", settings[s].solver, settings[s].loss, worst);
    assert_true(worst <= 1);
    assert_true(worst > (statistics ? 0.5 : 0.1)); /* the test sees records that matter */
  }
}

/* World D draws b and has the minimiser w. In D' the b' with the same minimiser is b + l'(x_k.w) x_k: given the same
 * exact minimiser, the computed and rounded points are within the output's sensitivity. */
static void worlds_with_one_minimiser_release_points_within_reach(void **state) {
  (void)state;
  for (int s = 0; s < SETTINGS; s++) {
    if (strncmp(settings[s].solver, "objpert", 7)) continue;
    for (int k = 0; k < 10; k++) {
      bench b;
      double w[P], x[P];
      seen with = {0}, without = {0};
      tct_perturb set;
      open_bench(&b, &settings[s], settings[s].epsilon);
      assert_int_equal(
          tct_objpert_settings(&b.facts, &b.plan, b.plan.promise.release[TCT_OBJPERT_OUTPUT].noise, &set, NULL),
          TCT_OK);
      tct_mech_free(run(&b, (uint64_t)k, look, &with, w));
      row_of(&b, k, x);
      double slope = tct_loss_slope(&b.facts.loss, tct_dot(x, with.before, P), b.y[k]), size = sqrt(tct_norm2(x, P));
      if (set.smooth.length > 0) slope *= fmin(1, pow(set.smooth.length / size, 2));
      if (set.smooth.clip > 0) slope = fmax(-set.smooth.clip / size, fmin(set.smooth.clip / size, slope));
      memcpy(without.forced, with.forced, sizeof with.forced);
      tct_axpy(slope, x, without.forced, P);
      without.force = true;
      b.view.row_scale[k] = 0;
      tct_mech_free(run(&b, (uint64_t)k, look, &without, w));
      /* with.before stands for the exact minimiser: off by the sensitivity, which moves b' and with it the minimum by
       * beta/Lambda. */
      double slack = 1 + set.smooth.curvature * set.smooth.row_norm * set.smooth.row_norm / set.ridge;
      double twice = settings[s].neighbours == TCT_REPLACE_ONE ? 2 : 1;
      assert_true(distance(&with, &without) <= twice * with.sensitivity * slack);
      close_bench(&b);
    }
  }
}

/* ---- distinguishing: one record or none, in one dimension ------------------------------------- */

enum { RUNS = 20000 };

/* delta(epsilon) that RUNS runs prove, less six standard errors, over a few thresholds: the record pulls the minimiser
 * up. */
static double proven_delta(const char *solver, double factor) {
  static const double at[] = {0, 0.5, 0.8, 1, 1.5};
  const setting s = {solver, "smoothed_hinge", "none", 1, strstr(solver, "chaudhuri") ? 0 : 1e-2, TCT_ADD_REMOVE};
  double above[2][5] = {{0}}, best = -1;
  bench b;
  tct_perturb set;
  tct_spec spec;
  open_bench(&b, &s, s.epsilon);
  tct_view_free(&b.view);
  tct_solver_plan_free(&b.plan);
  b.facts.rows = 1, b.facts.p = 1, b.facts.row_norm = 1;
  assert_int_equal(tct_spec_parse(s.solver, "solver", &spec, NULL), TCT_OK);
  assert_int_equal(b.solver->plan(&b.facts, &spec, &b.plan, NULL), TCT_OK);
  assert_int_equal(
      tct_objpert_settings(&b.facts, &b.plan, b.plan.promise.release[TCT_OBJPERT_OUTPUT].noise, &set, NULL), TCT_OK);
  b.x[0] = 1, b.y[0] = 1;
  b.m = (tct_matrix){.rows = 1, .cols = 1, .layout = TCT_DENSE_ROWS, .values = b.x, .stride = 1};
  assert_int_equal(tct_view_bound(&b.view, &b.m, 0, 1, TCT_ROWS_CLIP, 1, NULL), TCT_OK);
  double scale = b.view.row_scale[0];
  for (int r = 0; r < 2 * RUNS; r++) {
    double w;
    seen eye = {.factor = factor};
    b.view.row_scale[0] = r % 2 ? 0 : scale;
    tct_mech_free(run(&b, (uint64_t)r, look, &eye, &w));
    for (int t = 0; t < 5; t++) above[r % 2][t] += w * set.ridge / set.sigma > at[t];
  }
  for (int t = 0; t < 5; t++) {
    double p = above[0][t] / RUNS, q = above[1][t] / RUNS, e = exp(s.epsilon);
    double error = sqrt((p * (1 - p) + e * e * q * (1 - q)) / RUNS);
    best = fmax(best, p - e * q - 6 * error);
  }
  close_bench(&b);
  return best;
}

/* Error rates: six standard errors, 5 thresholds: below 1e-8 of a false alarm. */
static void runs_on_neighbours_prove_no_more_than_the_claim(void **state) {
  (void)state;
  assert_true(proven_delta("objpert:budget_fraction=0.05", 0) <= 1e-2);
}

static void runs_with_cut_slopes_prove_no_more_than_the_claim(void **state) {
  (void)state;
  assert_true(proven_delta("objpert:budget_fraction=0.05,clip=0.5", 0) <= 1e-2);
}

static void runs_on_records_beyond_the_norm_prove_no_more_than_the_claim(void **state) {
  (void)state;
  assert_true(proven_delta("objpert:budget_fraction=0.05,norm=0.5,clip=0.5", 0) <= 1e-2);
}

static void runs_with_halved_noise_prove_more_than_the_claim(void **state) {
  (void)state;
  assert_true(proven_delta("objpert:budget_fraction=0.05", 0.5) > 1e-2);
  assert_true(proven_delta("objpert:budget_fraction=0.05,norm=0.5,clip=0.5", 0.5) > 1e-2);
}

static void runs_at_delta_0_prove_no_delta_and_with_halved_noise_they_do(void **state) {
  (void)state;
  assert_true(proven_delta("objpert:variant=chaudhuri,budget_fraction=0.05", 0) <= 0);
  assert_true(proven_delta("objpert:variant=chaudhuri,budget_fraction=0.05,norm=0.5,clip=0.5", 0) <= 0);
  assert_true(proven_delta("objpert:variant=chaudhuri,budget_fraction=0.05", 0.5) > 0);
}

static void losses_that_no_proof_covers_are_refused(void **state) {
  (void)state;
  static const char *const refused[][2] = {
      {"objpert", "hinge"}, {"objpert", "squared"}, {"outpert", "hinge"}, {"adassp", "logistic"}};
  for (int k = 0; k < 4; k++) {
    tct_error err = {0};
    tct_spec spec;
    tct_solver_plan plan = {0};
    tct_facts facts = {.rows = N, .p = P, .row_norm = 1, .label_bound = 1, .epsilon = 1, .delta = 1e-6, .threads = 1};
    const tct_solver *solver = tct_solver_find(refused[k][0]);
    assert_int_equal(tct_loss_make(refused[k][1], &facts.loss, &err), TCT_OK);
    assert_int_equal(tct_penalty_make("l2:lambda=0.1", &facts.penalty, &err), TCT_OK);
    assert_int_equal(tct_spec_parse(refused[k][0], "solver", &spec, &err), TCT_OK);
    assert_int_equal(solver->plan(&facts, &spec, &plan, &err), TCT_E_USAGE);
    tct_solver_plan_free(&plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_spent_is_what_was_promised),
      cmocka_unit_test(the_same_seed_gives_the_same_bytes_for_any_number_of_threads),
      cmocka_unit_test(dense_and_sparse_rows_give_the_same_release),
      cmocka_unit_test(without_privacy_the_optimum_is_reached),
      cmocka_unit_test(one_record_never_moves_the_release_beyond_its_reach),
      cmocka_unit_test(worlds_with_one_minimiser_release_points_within_reach),
      cmocka_unit_test(runs_on_neighbours_prove_no_more_than_the_claim),
      cmocka_unit_test(runs_with_cut_slopes_prove_no_more_than_the_claim),
      cmocka_unit_test(runs_on_records_beyond_the_norm_prove_no_more_than_the_claim),
      cmocka_unit_test(runs_with_halved_noise_prove_more_than_the_claim),
      cmocka_unit_test(runs_at_delta_0_prove_no_delta_and_with_halved_noise_they_do),
      cmocka_unit_test(losses_that_no_proof_covers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
