/* test_weights.c - weighted records: no record, and no person, moves a release further than its sensitivity. */
#include "core/alloc.h"
#include "la/kernels/kernels.h"
#include "read/table/data.h"
#include "solve/gradient/gradient_release.h"
#include "solve/minimiser/objpert.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { N = 40, P = 3, PERSON = 5, STEPS = 400 }; /* rows 0..PERSON-1 are one person's */

typedef struct setting {
  const char *solver, *loss, *penalty;
} setting;

static const setting persons[] = {
    {"dpgd:steps=3", "logistic", "none"},    {"dpgd:steps=3,clip=0.3", "logistic", "l2:lambda=0.1"},
    {"dpgd:steps=3", "squared", "none"},     {"dpgd:steps=3", "hinge", "l1:lambda=0.01"},
    {"adassp", "squared", "l2:lambda=0.1"},  {"dpnewton:steps=3", "logistic", "l2:lambda=0.1"},
    {"dpnewton:steps=3", "squared", "none"}, {"dpmetric:steps=3", "logistic", "l2:lambda=0.1"},
};
enum { SETTINGS = sizeof persons / sizeof persons[0] };

typedef struct bench {
  double x[N * P], y[N], weight[N];
  int64_t person[N];
  tct_facts facts;
  tct_solver_plan plan;
  const tct_solver *solver;
} bench;

static uint64_t state_of;
static double uniform(void) { /* Knuth's MMIX generator: test data only */
  state_of = state_of * 6364136223846793005u + 1442695040888963407u;
  return (double)(state_of >> 11) * 0x1p-53;
}

static void open_bench(bench *b, const setting *s, double epsilon) {
  tct_error err = {0};
  tct_spec spec;
  memset(b, 0, sizeof *b);
  assert_int_equal(tct_spec_parse(s->solver, "solver", &spec, &err), TCT_OK);
  b->solver = tct_solver_find(spec.name);
  b->facts = (tct_facts){.rows = N, .p = P, .row_norm = 1.5, .label_bound = 1, .epsilon = epsilon, .delta = 1e-6};
  b->facts.threads = 1;
  assert_int_equal(tct_loss_make(s->loss, &b->facts.loss, &err), TCT_OK);
  assert_int_equal(tct_penalty_make(s->penalty, &b->facts.penalty, &err), TCT_OK);
  if (b->solver->plan(&b->facts, &spec, &b->plan, &err) != TCT_OK) fail_msg("%s: %s", s->solver, err.text);
  state_of = 11;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < P; j++) b->x[i * P + j] = 4 * uniform() - 2;
    b->y[i] = uniform() < 0.5 ? -1 : 1;
    b->weight[i] = 1;
    b->person[i] = i < PERSON ? 0 : i;
  }
}

static void run(bench *b, double cap, bool unit, tct_mech_probe probe, void *user, double *w) {
  tct_error err = {0};
  tct_matrix m = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = b->x, .stride = P};
  tct_view view;
  tct_mech *mech;
  uint64_t seed = 3;
  tct_data *data = tct_data_view(&m, b->y, TCT_LABELS_REAL, NULL, NULL, &err);
  assert_non_null(data);
  assert_int_equal(tct_data_weigh(data, b->weight, cap, unit ? b->person : NULL, &err), TCT_OK);
  assert_int_equal(tct_view_bound(&view, &m, 0, 1.5, TCT_ROWS_CLIP, 1, &err), TCT_OK);
  tct_problem problem = {.facts = &b->facts, .view = &view, .y = b->y, .weight = data->weight};
  assert_int_equal(tct_mech_new(&b->plan.promise, b->facts.neighbours, &seed, &mech, &err), TCT_OK);
  if (probe) tct_mech_probe_test(mech, probe, user);
  if (b->solver->run(&problem, &b->plan, mech, w, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_mech_free(mech);
  tct_view_free(&view);
  tct_data_free(data);
}

/* Gradients are rounded to the nearest point of the lattice, which may lengthen every one of a person's terms.  On a
 * coarse lattice that shows: the person's sum, of rows of any length and weights that sum to 1, stays within C. */
static void a_persons_terms_leave_room_for_all_their_roundings(void **state) {
  (void)state;
  tct_error err = {0};
  bench b;
  open_bench(&b, &persons[2], 1); /* squared loss: slopes beyond the clip */
  double closest = 0, u[P] = {0};
  for (int trial = 0; trial < 2000; trial++) {
    double total = 0, clip = exp(uniform()), length[PERSON];
    for (int i = 0; i < N; i++) b.weight[i] = i < PERSON ? 0.1 + uniform() : 0;
    for (int i = 0; i < PERSON; i++) total += b.weight[i], length[i] = 0.5 + uniform();
    for (int i = 0; i < PERSON; i++) {
      b.weight[i] *= (1 - 0x1p-50) / total, b.y[i] = -1;
      for (int j = 0; j < P; j++) b.x[i * P + j] = length[i] / sqrt(P);
    }
    tct_matrix m = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = b.x, .stride = P};
    tct_view view;
    tct_descent d;
    tct_promise promise = {0};
    tct_mech *mech;
    uint64_t seed = 3;
    assert_int_equal(tct_view_bound(&view, &m, 0, 1.5, TCT_ROWS_CLIP, 1, &err), TCT_OK);
    tct_problem problem = {.facts = &b.facts, .view = &view, .y = b.y, .weight = b.weight};
    tct_release coarse = tct_descent_release(&b.facts, clip, 0, 1);
    coarse.bits = 1, coarse.whole = true, coarse.lattice = 0x1p-7; /* far coarser than any plan's */
    assert_int_equal(tct_promise_add(&promise, coarse, &err), TCT_OK);
    assert_int_equal(tct_promise_settle(&promise, &err), TCT_OK);
    assert_int_equal(tct_mech_new(&promise, b.facts.neighbours, &seed, &mech, &err), TCT_OK);
    assert_int_equal(tct_descent_new(&problem, mech, 0, &d, &err), TCT_OK);
    assert_int_equal(tct_descent_gradient(&problem, &d, u, &err), TCT_OK);
    double size = sqrt(tct_norm2(d.sum, P));
    assert_true(size <= clip * (1 + 1e-15));
    closest = fmax(closest, size / clip);
    tct_descent_free(&d);
    tct_mech_free(mech);
    tct_view_free(&view);
    tct_promise_free(&promise);
  }
  assert_true(closest > 0.9);
  tct_solver_plan_free(&b.plan);
}

static const setting weighers[] = {{"dpgd:steps=3", "logistic", "none"},     {"objpert", "logistic", "none"},
                                   {"objpert:clip=1", "huber", "none"},      {"adassp", "squared", "none"},
                                   {"dpnewton:steps=3", "logistic", "none"}, {"dpmetric:steps=3", "logistic", "none"}};

static void weight_zero_is_absence_and_equal_weights_are_none(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof weighers / sizeof *weighers; k++) {
    bench b;
    double zero[P], gone[P], half[P], whole[P];
    open_bench(&b, &weighers[k], 1);
    b.weight[0] = 0;
    run(&b, 1, false, NULL, NULL, zero);
    for (int j = 0; j < P; j++) b.x[j] = 0; /* a row of zeros moves no sum */
    b.y[0] = 1, b.weight[0] = 1;
    run(&b, 1, false, NULL, NULL, gone);
    for (int j = 0; j < P; j++) assert_true(fabs(zero[j] - gone[j]) <= 1e-3 * (1 + fabs(gone[j])));
    run(&b, 1, false, NULL, NULL, whole);
    for (int i = 0; i < N; i++) b.weight[i] = 7;
    run(&b, 7, false, NULL, NULL, half);
    assert_memory_equal(whole, half, sizeof whole);
    tct_solver_plan_free(&b.plan);
  }
}

/* A weight of 2 under a cap of 2 is a row that is there twice under weights of 1. */
static void weights_are_multiplicities_at_the_optimum(void **state) {
  (void)state;
  static const setting optima[] = {{"objpert", "logistic", "l2:lambda=0.1"}, {"adassp", "squared", "l2:lambda=0.1"}};
  for (int k = 0; k < 2; k++) {
    bench b;
    double w[P], g[P] = {0};
    open_bench(&b, &optima[k], INFINITY);
    for (int i = 0; i < N; i++) b.weight[i] = i % 3;
    run(&b, 2, false, NULL, NULL, w);
    for (int i = 0; i < N; i++) {
      double x[P], norm = 0, z = 0;
      for (int j = 0; j < P; j++) norm += b.x[i * P + j] * b.x[i * P + j];
      for (int j = 0; j < P; j++) x[j] = b.x[i * P + j] * fmin(1, 1.5 / sqrt(norm)), z += x[j] * w[j];
      for (int j = 0; j < P; j++) g[j] += 0.5 * (i % 3) / N * tct_loss_slope(&b.facts.loss, z, b.y[i]) * x[j];
    }
    for (int j = 0; j < P; j++) assert_true(fabs(g[j] + 0.1 * w[j]) < 1e-8);
    tct_solver_plan_free(&b.plan);
  }
}

static void solvers_that_cannot_are_refused(void **state) {
  (void)state;
  static const char *const refused[][2] = {
      {"dpscd", "cannot weigh"}, {"dpsgd", "cannot weigh"}, {"objpert", "together"}, {"dpscd", "together"}};
  for (int k = 0; k < 4; k++) {
    tct_error err = {0};
    bench b;
    open_bench(&b, &persons[0], 1);
    tct_matrix m = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = b.x, .stride = P};
    tct_config c;
    tct_config_default(&c);
    c.intercept = 0;
    c.loss = "logistic", c.penalty = "l2:lambda=0.1", c.solver = refused[k][0], c.row_norm = 1, c.epsilon = 1;
    c.delta = 1e-6;
    tct_plan *plan = tct_plan_new(&c, N, P, &err);
    tct_data *data = tct_data_view(&m, b.y, TCT_LABELS_BINARY, NULL, NULL, &err);
    assert_true(plan && data);
    assert_int_equal(tct_data_weigh(data, b.weight, 1, k < 2 ? NULL : b.person, &err), TCT_OK);
    assert_null(tct_fit(plan, data, &err));
    assert_int_equal(err.status, TCT_E_USAGE);
    assert_non_null(strstr(err.text, refused[k][1]));
    tct_plan_free(plan);
    tct_data_free(data);
    tct_solver_plan_free(&b.plan);
  }
}

static void a_model_of_persons_says_so_and_goes_on_saying_so(void **state) {
  (void)state;
  tct_error err = {0};
  bench b;
  open_bench(&b, &persons[0], 1);
  tct_matrix m = {.rows = N, .cols = P, .layout = TCT_DENSE_ROWS, .values = b.x, .stride = P};
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  c.loss = "logistic", c.solver = "dpgd", c.row_norm = 1, c.epsilon = 1, c.delta = 1e-6;
  tct_plan *plan = tct_plan_new(&c, N, P, &err);
  tct_data *data = tct_data_view(&m, b.y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_int_equal(tct_data_weigh(data, NULL, 1, b.person, &err), TCT_OK);
  tct_model *model = tct_fit(plan, data, &err);
  assert_non_null(model);
  char *text = tct_model_json(model, &err);
  assert_non_null(strstr(text, "One person"));
  assert_non_null(strstr(text, "\"cap\""));
  tct_model *again = tct_model_read(NULL, text, NULL, &err);
  char *twice = tct_model_json(again, &err);
  assert_string_equal(text, twice);
  tct_text_free(text);
  tct_text_free(twice);
  tct_model_free(model);
  tct_model_free(again);
  tct_plan_free(plan);
  tct_data_free(data);
  tct_solver_plan_free(&b.plan);
}

static void weights_that_are_none_are_refused(void **state) {
  (void)state;
  tct_error err = {0};
  double x[2] = {1, 2}, y[2] = {1, -1}, nan[2] = {1, NAN};
  int64_t far[2] = {0, 2};
  tct_matrix m = {.rows = 2, .cols = 1, .layout = TCT_DENSE_ROWS, .values = x, .stride = 1};
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_int_equal(tct_data_weigh(data, nan, 1, NULL, &err), TCT_E_DATA);
  assert_int_equal(tct_data_weigh(data, y, 0, NULL, &err), TCT_E_USAGE);
  assert_int_equal(tct_data_weigh(data, y, INFINITY, NULL, &err), TCT_E_USAGE);
  assert_int_equal(tct_data_weigh(data, y, 1, far, &err), TCT_E_USAGE);
  tct_data_free(data);
}

static void a_weight_lies_between_none_and_the_cap_and_a_persons_sum_to_one_at_most(void **state) {
  (void)state;
  enum { ROWS = 5 };
  tct_error err = {0};
  double x[ROWS] = {1, 2, 3, 4, 5}, y[ROWS] = {1, -1, 1, 1, -1}, weight[ROWS] = {-5, 0.5, 1e300, 1.4, 1.2};
  int64_t person[ROWS] = {0, 0, 1, 2, 2}; /* the last sum to 1.3 */
  tct_matrix m = {.rows = ROWS, .cols = 1, .layout = TCT_DENSE_ROWS, .values = x, .stride = 1};
  tct_data *data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_int_equal(tct_data_weigh(data, weight, 2, NULL, &err), TCT_OK);
  assert_true(data->weight[0] == 0 && data->weight[1] == 0.25 && data->weight[2] == 1 && data->weight[3] == 0.7);
  tct_data_free(data);
  data = tct_data_view(&m, y, TCT_LABELS_BINARY, NULL, NULL, &err);
  assert_int_equal(tct_data_weigh(data, weight, 2, person, &err), TCT_OK);
  assert_true(data->weight[0] == 0 && data->weight[1] == 0.25 && data->weight[2] <= 1);
  double sum = data->weight[3] + data->weight[4];
  assert_true(sum <= 1 && sum > 1 - 1e-12);
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_persons_terms_leave_room_for_all_their_roundings),
      cmocka_unit_test(weight_zero_is_absence_and_equal_weights_are_none),
      cmocka_unit_test(weights_are_multiplicities_at_the_optimum),
      cmocka_unit_test(solvers_that_cannot_are_refused),
      cmocka_unit_test(a_model_of_persons_says_so_and_goes_on_saying_so),
      cmocka_unit_test(weights_that_are_none_are_refused),
      cmocka_unit_test(a_weight_lies_between_none_and_the_cap_and_a_persons_sum_to_one_at_most),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
