/* test_sensitivity_joint.c - the releases of a joint loss: neighbours found by hill climbing move the release of all
 * classes together by no more than is claimed, and come close to it. */
#include "worlds.h"

#include "la/kernels/kernels.h"
#include "solve/gradient/gradient_release.h"

enum { N = 20, P = 3, CLASSES = 4, RECORD = 5, KIN = 3, TRIALS = 250 };

/* At epsilon 1e4 the second release of dpmetric is of images. */
static const char *const solvers[] = {"dpgd:steps=3",
                                      "dpgd:steps=3,clip=0.4",
                                      "dpgd:steps=4,clip=5",
                                      "dpmetric:steps=3,budget_fraction=0.3,second=0.3,clip=0.3",
                                      "dpmetric:steps=3,norms=0,start=0,clip=0.1",
                                      "dpmetric:steps=3,shape=diagonal,clip=0.1"};
static const double epsilons[] = {1, 1, 1, 1e4, 1, 1};
/* The largest gradient, sqrt(2), is reached where a class is all but sure and wrong. */
static const double enough[] = {0.95, 0.999, 0.2, 0.95, 0.95, 0.95};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

static tct_config config_of(const char *solver, tct_neighbours relation) {
  tct_config c = world_config("softmax:classes=4", "l2:lambda=0.01", solver);
  c.neighbours = relation;
  c.intercept = 1;
  c.row_norm = 1.5;
  return c;
}

static records table(uint64_t seed) {
  records r = records_new(N, P, seed);
  r.classes = CLASSES;
  for (int i = 0; i < N; i++) r.y[i] = (double)(world_u64(&seed) % CLASSES);
  return r;
}

static void mutate(records *r, int64_t k, uint64_t *seed) {
  r->x[k * P + (int64_t)(world_u64(seed) % P)] = (float)(3 * world_real(seed));
  if (world_real(seed) > 0.4) r->y[k] = (double)(world_u64(seed) % CLASSES);
}

/* How far the neighbours' releases are apart, in claims, under pasts that differ from trial to trial.  kin: so many
 * records from RECORD on are one person's. */
static double moves(const records *a, const records *b, tct_plan *plan, int kin, uint64_t seed, const double *push) {
  tct_error err = {0};
  world one, two;
  double weight[N];
  for (int i = 0; i < N; i++) weight[i] = i >= RECORD && i < RECORD + kin && kin > 1 ? (1 - 0x1p-48) / kin : 1;
  assert_int_equal(world_share(&one, a, plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_share(&two, b, plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  if (kin > 1) one.problem.weight = two.problem.weight = weight;
  for (int k = 0; k < kin && plan->facts.neighbours == TCT_ADD_REMOVE; k++) world_remove(&two, RECORD + k);
  double worst = worlds_move(&one, &two, seed, push);
  world_close(&one);
  world_close(&two);
  return worst;
}

static double climb(int which, tct_neighbours relation, int kin) {
  const char *solver = solvers[which];
  tct_error err = {0};
  tct_config config = config_of(solver, relation);
  config.epsilon = epsilons[which];
  tct_plan *plan = tct_plan_new(&config, N, P, &err);
  if (!plan) fail_msg("%s: %s", solver, err.text);
  double best = 0, push[CLASSES * (P + 1)] = {0};
  records a = table(3), b = table(3);
  uint64_t seed = 17;
  push[P] = 60, push[P + 1 + P] = -60; /* one class is sure of everything: some records' slopes are as long as can be */
  for (int t = 0; t < TRIALS; t++) {
    records ta = table(3), tb = table(3);
    memcpy(ta.x, a.x, sizeof(double) * N * P), memcpy(ta.y, a.y, sizeof(double) * N);
    memcpy(tb.x, b.x, sizeof(double) * N * P), memcpy(tb.y, b.y, sizeof(double) * N);
    for (int k = 0; k < kin && t > 0; k++) {
      mutate(&ta, RECORD + k, &seed);
      if (relation == TCT_REPLACE_ONE) mutate(&tb, RECORD + k, &seed);
    }
    for (int k = 1; k < kin; k++) { /* a person whose records agree */
      memcpy(ta.x + (RECORD + k) * P, ta.x + RECORD * P, sizeof(double) * P), ta.y[RECORD + k] = ta.y[RECORD];
      memcpy(tb.x + (RECORD + k) * P, tb.x + RECORD * P, sizeof(double) * P), tb.y[RECORD + k] = tb.y[RECORD];
    }
    if (relation == TCT_ADD_REMOVE) {
      memcpy(tb.x, ta.x, sizeof(double) * N * P);
      memcpy(tb.y, ta.y, sizeof(double) * N);
    }
    double move = moves(&ta, &tb, plan, kin, 5 + (uint64_t)t / 50, t % 2 ? push : NULL);
    if (!(move <= 1)) fail_msg("%s: the release moves by %.17g of its claim", solver, move);
    records *keep[2] = {&a, &b}, *tried[2] = {&ta, &tb};
    for (int w = 0; w < 2; w++) {
      if (move >= best) memcpy(keep[w]->x, tried[w]->x, sizeof(double) * N * P);
      if (move >= best) memcpy(keep[w]->y, tried[w]->y, sizeof(double) * N);
      records_free(tried[w]);
    }
    best = fmax(best, move);
  }
  records_free(&a);
  records_free(&b);
  tct_plan_free(plan);
  return best;
}

static void no_neighbour_moves_the_release_of_all_classes_further_than_claimed(void **state) {
  (void)state;
  for (int s = 0; s < SOLVERS; s++)
    for (int relation = 0; relation < 2; relation++) {
      double best = climb(s, (tct_neighbours)relation, 1);
      print_message("%s, relation %d: %.6f of the claim\n", solvers[s], relation, best);
      assert_true(best >= enough[s] * (relation == TCT_REPLACE_ONE ? 0.7 : 1));
    }
}

static void no_person_moves_the_release_of_all_classes_further_than_claimed(void **state) {
  (void)state;
  for (int s = 0; s < SOLVERS; s++) {
    double best = climb(s, TCT_ADD_REMOVE, KIN);
    print_message("%s, a person: %.6f of the claim\n", solvers[s], best);
    assert_true(best >= enough[s]);
  }
}

/* On a coarse lattice the rounding of all K p numbers shows: a record's term stays within C all the same. */
static void a_term_leaves_room_for_the_roundings_of_all_classes(void **state) {
  (void)state;
  double closest = 0;
  uint64_t seed = 23;
  for (int trial = 0; trial < 400; trial++) {
    tct_error err = {0};
    records r = table((uint64_t)trial + 40);
    world w;
    tct_config config = config_of("dpgd:steps=3", TCT_ADD_REMOVE);
    assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    for (int i = 0; i < N; i++)
      if (i != RECORD) world_remove(&w, i);
    double clip = exp(world_real(&seed)), u[CLASSES * (P + 1)] = {0};
    for (int j = 0; j < CLASSES * (P + 1); j++) u[j] = 4 * world_real(&seed);
    tct_descent d;
    tct_promise promise = {0};
    tct_mech *mech;
    tct_release coarse = tct_descent_release(&w.plan->facts, clip, 0, 1);
    coarse.bits = 1, coarse.whole = true, coarse.lattice = 0x1p-6;
    assert_int_equal(tct_promise_add(&promise, coarse, &err), TCT_OK);
    assert_int_equal(tct_promise_settle(&promise, &err), TCT_OK);
    assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, &err), TCT_OK);
    assert_int_equal(tct_descent_new(&w.problem, mech, 0, &d, &err), TCT_OK);
    assert_int_equal(tct_joint_gradient(&w.problem, &d, u, &err), TCT_OK);
    double size = sqrt(tct_norm2(d.sum, CLASSES * (P + 1)));
    if (!(size <= clip)) fail_msg("trial %d: a term of %.17g beside a clip of %.17g", trial, size, clip);
    closest = fmax(closest, size / clip);
    tct_descent_free(&d);
    tct_mech_free(mech);
    tct_promise_free(&promise);
    world_close(&w);
    records_free(&r);
  }
  assert_true(closest > 0.9);
}

/* Without privacy the run ends where the gradient of the mean loss and the penalty is 0. */
static void optimum_of(const char *solver) {
  tct_error err = {0};
  records r = table(8);
  world w;
  tct_config config = config_of(solver, TCT_ADD_REMOVE);
  config.epsilon = INFINITY;
  assert_int_equal(world_open(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&w, 3, NULL, NULL, &err), TCT_OK);
  for (int k = 0; k < CLASSES; k++)
    for (int j = 0; j < P; j++) {
      double g = 0.01 * w.w[k * (P + 1) + j];
      for (int i = 0; i < N; i++) {
        double z[CLASSES], scale = w.bound.view.row_scale[i];
        for (int c = 0; c < CLASSES; c++) {
          z[c] = w.w[c * (P + 1) + P] * scale;
          for (int m = 0; m < P; m++) z[c] += w.w[c * (P + 1) + m] * r.x[i * P + m] * scale;
        }
        w.plan->facts.loss.kind->joint(z, CLASSES, (int64_t)r.y[i]);
        g += z[k] * r.x[i * P + j] * scale / N;
      }
      assert_true(fabs(g) < 1e-6);
    }
  world_close(&w);
  records_free(&r);
}

static void without_noise_the_optimum_of_all_classes_is_reached(void **state) {
  (void)state;
  optimum_of("dpgd:steps=4000,average=last");
  optimum_of("dpmetric:steps=4000,path_length=4000");
}

static void other_solvers_do_not_take_a_joint_loss(void **state) {
  (void)state;
  for (int i = 0; i < tct_solver_count; i++) {
    tct_error err = {0};
    tct_config config = config_of(tct_solvers[i]->name, TCT_ADD_REMOVE);
    tct_plan *plan = tct_plan_new(&config, N, P, &err);
    assert_true((plan != NULL) == tct_solvers[i]->joint);
    tct_plan_free(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_neighbour_moves_the_release_of_all_classes_further_than_claimed),
      cmocka_unit_test(no_person_moves_the_release_of_all_classes_further_than_claimed),
      cmocka_unit_test(a_term_leaves_room_for_the_roundings_of_all_classes),
      cmocka_unit_test(without_noise_the_optimum_of_all_classes_is_reached),
      cmocka_unit_test(other_solvers_do_not_take_a_joint_loss),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
