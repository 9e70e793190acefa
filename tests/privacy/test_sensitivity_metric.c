/* test_sensitivity_metric.c - dpmetric over ranks: how far a record on one of two moves each kind of release, searched
 * for; and its roundings.
 *
 * The releases of a run are counts of norms with sums of labels, counts of slopes where labels are numbers, the matrix,
 * its second release, and the steps: each kind is climbed by itself, because counts fill their claim at once.  On one
 * rank: test_sensitivity.c. */
#include "worlds.h"

#include "la/kernels/kernels.h"
#include "solve/gradient/dpmetric.h"
#include "thread_ranks.h"

enum { N = 12, P = 3, K = 4, KIN = 3, KINDS = 5 }; /* record K; of the roundings K, K + 1, ... are a person */

typedef enum kind { COUNTS, SLOPES, FIRST, SECOND, STEPS } kind;

typedef struct setup {
  const char *loss, *penalty, *solver;
  double row_norm, epsilon;
  tct_neighbours relation;
  int ranks;
  double min; /* of every kind */
  int intercept;
} setup;

typedef struct neighbour {
  double x[P], other[P], y, other_y, push[P];
} neighbour;

/* ---- one run ------------------------------------------------------------------------------------------------- */

typedef struct eyes {
  tape t;
  bool binary; /* then no slopes are counted */
  double by[KINDS];
} eyes;

static void look(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                 int64_t len) {
  eyes *e = user;
  int64_t at = e->t.replay ? e->t.next : e->t.count;
  e->t.worst = 0;
  tape_probe(&e->t, event, sensitivity, before, after, len);
  at += e->binary && at > 0;
  kind k = at < STEPS ? (kind)at : STEPS;
  e->by[k] = fmax(e->by[k], e->t.worst);
}

typedef struct part {
  const world *w;
  eyes *e;
  int rank, ranks;
  double out[P + 1];
  tct_error err;
  tct_status status;
} part;

/* Rank 0 has the first two thirds of the rows. */
static void *run_part(void *user) {
  part *t = user;
  const tct_view *whole = &t->w->bound.view;
  int64_t from = t->rank == 0 ? 0 : N * 2 / 3, to = t->rank + 1 == t->ranks ? N : N * 2 / 3;
  tct_matrix x = *whole->x;
  tct_view view = *whole;
  tct_problem problem = t->w->problem;
  uint64_t seed = 4;
  tct_mech *mech = NULL;
  self = t->rank;
  if (t->ranks > 1) {
    x.rows = view.rows = to - from;
    x.values = (const double *)x.values + from * x.stride;
    view.x = &x;
    view.row_scale += from;
    problem.y += from;
  }
  problem.view = &view;
  tct_team *team = tct_team_new(&t->err);
  t->status = tct_mech_new(&t->w->plan->solved.promise, t->w->plan->facts.neighbours, &seed, &mech, &t->err);
  if (t->status == TCT_OK) t->status = tct_mech_join_ranks(mech, team, &t->err);
  if (t->status == TCT_OK) tct_mech_probe_test(mech, look, t->e);
  if (t->status == TCT_OK) t->status = t->w->plan->solver->run(&problem, &t->w->plan->solved, mech, t->out, &t->err);
  tct_mech_free(mech);
  tct_team_free(team);
  return NULL;
}

static void run_world(const setup *s, const world *w, eyes *e, double *out) {
  pthread_t thread[2];
  part parts[2];
  team_size = s->ranks;
  for (int r = 0; r < s->ranks; r++) {
    parts[r] = (part){.w = w, .e = e, .rank = r, .ranks = s->ranks};
    assert_int_equal(pthread_create(&thread[r], NULL, run_part, &parts[r]), 0);
  }
  for (int r = 0; r < s->ranks; r++) pthread_join(thread[r], NULL);
  for (int r = 0; r < s->ranks; r++) {
    if (parts[r].status != TCT_OK) fail_msg("%s: %s", s->solver, parts[r].err.text);
    if (memcmp(parts[0].out, parts[r].out, sizeof parts[0].out)) fail_msg("%s: the ranks' models differ", s->solver);
  }
  memcpy(out, parts[0].out, sizeof parts[0].out);
}

/* ---- two worlds ------------------------------------------------------------------------------------------------ */

static void put(records *r, const double *x, double y) {
  memcpy(r->x + K * P, x, P * sizeof *x);
  r->y[K] = y;
}

/* by[KINDS] <- how far each kind of release moves, in its claim. */
static void moves_of(const setup *s, tct_plan *plan, records *base, const neighbour *at, double *by) {
  world a, b;
  tct_error err = {0};
  double first[P + 1], second[P + 1];
  eyes e = {.binary = plan->facts.loss.kind->binary,
            .t = {.claim = s->relation == TCT_REPLACE_ONE ? 2 : 1, .push = at->push, .push_len = P}};
  put(base, at->x, at->y);
  assert_int_equal(world_share(&a, base, plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  records changed = {N, P, tape_copy(base->x, N * P), tape_copy(base->y, N), 0};
  if (s->relation == TCT_REPLACE_ONE) put(&changed, at->other, at->other_y);
  assert_int_equal(world_share(&b, &changed, plan, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  if (s->relation == TCT_ADD_REMOVE) world_remove(&b, K);
  run_world(s, &a, &e, first);
  e.t.replay = 1;
  run_world(s, &b, &e, second);
  assert_int_equal(e.t.mismatches, 0);
  assert_int_equal(e.t.next, e.t.count);
  if (memcmp(first, second, sizeof first)) fail_msg("%s: something but releases reaches the model", s->solver);
  memcpy(by, e.by, sizeof e.by);
  for (int k = 0; k < KINDS; k++)
    if (!(by[k] <= 1)) fail_msg("%s, %s: release %d moves %.17g times its claim", s->solver, s->loss, k, by[k]);
  tape_free(&e.t);
  world_close(&b);
  world_close(&a);
  records_free(&changed);
}

static void draw(const setup *s, bool binary, uint64_t *random, neighbour *out) {
  double size = s->row_norm * exp(3 * world_real(random)), push = exp(6 * world_real(random));
  for (int j = 0; j < P; j++) {
    out->x[j] = (float)(size * world_real(random));
    out->other[j] = (float)(world_real(random) > 0 ? -out->x[j] : size * world_real(random));
    out->push[j] = push * world_real(random);
  }
  out->y = binary ? (world_real(random) > 0 ? 1 : -1) : 10 * world_real(random);
  out->other_y = binary || world_real(random) > 0 ? -out->y : 0.3 * world_real(random);
}

static neighbour nudge(const neighbour *from, uint64_t *random) {
  neighbour to = *from;
  double by = exp(2 * world_real(random));
  int j = (int)(world_u64(random) % (3 * P));
  double *at = j < P ? to.x + j : j < 2 * P ? to.other + j - P : to.push + j - 2 * P;
  *at = world_u64(random) % 4 ? (float)(*at * by) : -*at;
  if (world_u64(random) % 8 == 0) to.other_y = -to.y;
  return to;
}

static double climb(const setup *s, tct_plan *plan, records *base, kind what) {
  uint64_t random = 77;
  double best = 0, by[KINDS];
  for (int start = 0; start < 24 && best < 0.995; start++) {
    neighbour at;
    draw(s, plan->facts.loss.kind->binary, &random, &at);
    moves_of(s, plan, base, &at, by);
    double here = by[what];
    for (int k = 0; k < 30 && here < 0.995; k++) {
      neighbour next = nudge(&at, &random);
      moves_of(s, plan, base, &next, by);
      if (by[what] >= here) at = next, here = by[what];
    }
    best = fmax(best, here);
  }
  return best;
}

static void searched(const setup *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const setup *s = &list[i];
    tct_error err = {0};
    records base = records_new(N, P, 31);
    tct_config config = world_config(s->loss, s->penalty, s->solver);
    config.intercept = s->intercept;
    config.row_norm = s->row_norm, config.epsilon = s->epsilon, config.neighbours = s->relation;
    for (int j = 0; j < N * P; j++) base.x[j] = (float)(base.x[j] * 0.2 * s->row_norm);
    tct_plan *plan = tct_plan_new(&config, N, P, &err);
    if (!plan) fail_msg("%s, %s: %s", s->solver, s->loss, err.text);
    printf("%s, %s, epsilon = %g:", s->solver, s->loss, s->epsilon);
    for (int k = 0; k < KINDS; k++) {
      if (k == SLOPES && plan->facts.loss.kind->binary) continue;
      double best = climb(s, plan, &base, (kind)k);
      printf(" %.9g", best);
      if (!(best >= s->min)) fail_msg("%s, %s: release %d reached %g only", s->solver, s->loss, k, best);
    }
    printf(" of the claims\n");
    tct_plan_free(plan);
    records_free(&base);
  }
}
#define SEARCHED(list) searched(list, sizeof(list) / sizeof *(list))

/* At such epsilons twelve records have the signal that images need, and one still reaches their cut. */
#define FULL "dpmetric:steps=3,budget_fraction=0.3,second=0.3,clip=0.3"
static const setup ranked[] = {
    {"logistic", "none", FULL, 1, 1e4, TCT_ADD_REMOVE, 2, 0.9, 0},
    {"squared", "none", "dpmetric:steps=3,shape=diagonal,clip=0.3", 1, 1, TCT_REPLACE_ONE, 2, 0.9, 0},
    {"squared", "none", FULL, 2, 4e3, TCT_ADD_REMOVE, 2, 0.9, 1},
};
static void a_record_on_one_of_two_ranks_stays_within_the_claim_of_every_release(void **state) {
  (void)state;
  SEARCHED(ranked);
}

/* ---- roundings --------------------------------------------------------------------------------------------------- */

/* W stretches one direction two thousand times, and one of the lattices is coarse: its roundings show.  For S the claim
 * keeps F sqrt(p) from = 0.21 free for every record, for W S sqrt(p) to = 0.11.  One record, then a person of three, is
 * there or not. */
static void roundings_of_both_lattices_are_part_of_the_claim(void **state) {
  (void)state;
  double worst = 0;
  for (int trial = 0; trial < 4000; trial++) {
    tct_error err = {0};
    uint64_t random = 1000 + (uint64_t)trial;
    int many = trial % 2 ? KIN : 1;
    double weight[N], w[P] = {0}, with[P], without[P], move = 0;
    records r = records_new(N, P, random);
    tct_config config = world_config("squared", "none", "dpmetric");
    world one;
    tct_dpmetric_shape shape = {.clip = 1, .sensitivity = 4};
    tct_release planned = tct_release_sum("steps", tct_event_gaussian(0, 1), 1, 1, N);
    tct_dpmetric_step step;
    for (int i = 0; i < N; i++) r.y[i] = world_real(&random) > 0 ? 1 : -1, weight[i] = 0.5;
    for (int k = 0; k < many; k++) weight[K + k] = (1 - 0x1p-40) / many;
    for (int k = 1; k < many; k++) memcpy(r.x + (K + k) * P, r.x + K * P, P * sizeof(double)), r.y[K + k] = r.y[K];
    assert_int_equal(world_open(&one, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
    one.problem.weight = trial % 4 ? weight : NULL;
    if (trial % 4 == 0) many = 1;
    assert_int_equal(tct_metric_new(P, false, &shape.metric, &err), TCT_OK);
    double *at = shape.metric.w, slope = world_real(&random) > 0 ? 1000 : -1000;
    at[0] = 1, at[P] = slope, at[P + 1] = 1000, at[2 * P] = slope, at[2 * P + 1] = 999, at[2 * P + 2] = 1;
    assert_true(tct_metric_settle(&shape.metric));
    assert_int_equal(tct_dpmetric_step_new(&one.problem, &shape, &planned, &step, &err), TCT_OK);
    step.from = trial % 8 < 4 ? 0x1p-14 : 0x1p-40, step.to = trial % 8 < 4 ? 0x1p-40 : 0x1p-4;
    tct_dpmetric_sum(&step, w);
    tct_metric_times(&shape.metric, step.inner, step.from, step.to, with);
    for (int k = 0; k < many; k++) world_remove(&one, K + k);
    tct_dpmetric_sum(&step, w);
    tct_metric_times(&shape.metric, step.inner, step.from, step.to, without);
    for (int j = 0; j < P; j++) move += (with[j] - without[j]) * (with[j] - without[j]);
    if (!(sqrt(move) <= 1)) fail_msg("trial %d: %d records move W S by %.17g", trial, many, sqrt(move));
    worst = fmax(worst, sqrt(move));
    tct_dpmetric_step_free(&step);
    tct_metric_free(&shape.metric);
    world_close(&one);
    records_free(&r);
  }
  print_message("roundings included, the largest move is %.3f of the claim\n", worst);
  assert_true(worst > 0.7);
}

/* The stored lengths are no shorter than the images in quad precision, sparse or dense, and hardly longer. */
static void lengths_are_upper_bounds_and_tight(void **state) {
  (void)state;
  for (int trial = 0; trial < 12; trial++) {
    enum { ROWS = 70, COLS = 11 };
    tct_error err = {0};
    uint64_t random = 5 + (uint64_t)trial;
    bool diagonal = trial % 3 == 2;
    double length[ROWS];
    records r = records_new(ROWS, COLS, 9);
    for (int i = 0; i < ROWS * COLS && trial % 2; i++) r.x[i] = i % 13 ? 0 : r.x[i]; /* few entries */
    tct_config config = world_config("logistic", "none", "dpmetric");
    tct_metric metric;
    world one;
    assert_int_equal(
        world_open(&one, &r, &config, trial % 2 ? TCT_CSR : TCT_DENSE_ROWS, trial > 5 ? TCT_F32 : TCT_F64, &err),
        TCT_OK);
    assert_int_equal(tct_metric_new(COLS, diagonal, &metric, &err), TCT_OK);
    for (int j = 0; j < COLS; j++)
      for (int k = 0; k <= (diagonal ? 0 : j); k++)
        metric.w[diagonal ? j : j * COLS + k] = exp(8 * world_real(&random)) * world_real(&random);
    assert_true(tct_metric_settle(&metric));
    assert_int_equal(tct_metric_lengths(&metric, &one.bound.view, length, 1, &err), TCT_OK);
    for (int i = 0; i < ROWS; i++) {
      __float128 sum = 0;
      for (int j = 0; j < COLS; j++) {
        __float128 z = 0;
        for (int k = diagonal ? j : 0; k <= j; k++)
          z += (__float128)metric.w[diagonal ? j : j * COLS + k] *
               ((__float128)one.bound.view.row_scale[i] * r.x[i * COLS + k]);
        sum += z * z;
      }
      assert_true((__float128)length[i] * length[i] >= sum);
      assert_true(length[i] <= sqrt((double)sum) * (1 + 1e-12) + 1e-12 * metric.size);
    }
    tct_metric_free(&metric);
    world_close(&one);
    records_free(&r);
  }
}

/* ---- several releases of one sum --------------------------------------------------------------------------------- */

typedef struct repeated {
  int count, sums;
  double sum[P], last[P], mean[P];
} repeated;

static void compare(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                    int64_t len) {
  (void)event, (void)sensitivity;
  repeated *r = user;
  if (len != P) return; /* counts and matrices come before the steps */
  r->sums += r->count == 0 || memcmp(r->sum, before, sizeof r->sum);
  if (r->count > 0 && !memcmp(r->last, after, sizeof r->last)) fail_msg("two releases have the same noise");
  memcpy(r->sum, before, sizeof r->sum), memcpy(r->last, after, sizeof r->last);
  for (int j = 0; j < P; j++) r->mean[j] += after[j];
  r->count++;
}

/* world_run refuses a run that ends with releases left; each is charged. */
static void a_short_path_makes_all_its_releases_in_few_passes(void **state) {
  (void)state;
  tct_error err = {0};
  world one;
  repeated seen = {0};
  records r = records_new(N, P, 3);
  tct_config config = world_config("logistic", "none", "dpmetric:steps=12,path_length=1");
  assert_int_equal(world_open(&one, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  assert_int_equal(world_run(&one, 5, compare, &seen, &err), TCT_OK);
  assert_int_equal(seen.count, 12);
  assert_int_equal(seen.sums, 3); /* 3 a root of the length */
  world_close(&one);
  records_free(&r);
}

static void a_step_is_the_mean_of_its_releases(void **state) {
  (void)state;
  enum { TIMES = 8 };
  tct_error err = {0};
  world one;
  repeated seen = {0};
  uint64_t seed = 6;
  tct_mech *mech = NULL;
  double w[P] = {0};
  tct_promise promise = {0};
  tct_dpmetric_shape shape = {.clip = 1, .sensitivity = 4};
  tct_dpmetric_step step;
  records r = records_new(N, P, 3);
  tct_config config = world_config("logistic", "none", "dpmetric");
  assert_int_equal(world_open(&one, &r, &config, TCT_DENSE_ROWS, TCT_F64, &err), TCT_OK);
  tct_release planned = tct_release_sum("steps", tct_event_gaussian(2, TIMES), 1, 1, N);
  assert_int_equal(tct_promise_add(&promise, planned, &err), TCT_OK);
  assert_int_equal(tct_promise_settle(&promise, &err), TCT_OK);
  assert_int_equal(tct_mech_new(&promise, TCT_ADD_REMOVE, &seed, &mech, &err), TCT_OK);
  tct_mech_probe_test(mech, compare, &seen);
  assert_int_equal(tct_metric_new(P, true, &shape.metric, &err), TCT_OK);
  for (int j = 0; j < P; j++) shape.metric.w[j] = 1;
  assert_true(tct_metric_settle(&shape.metric));
  assert_int_equal(tct_dpmetric_step_new(&one.problem, &shape, tct_mech_release_of(mech, 0), &step, &err), TCT_OK);
  assert_int_equal(tct_dpmetric_gradient(&step, mech, 0, TIMES, w, &err), TCT_OK);
  assert_int_equal(seen.sums, 1);
  for (int j = 0; j < P; j++) assert_true(fabs(step.sum[j] - seen.mean[j] / TIMES) < 1e-14 * TIMES);
  assert_int_equal(tct_dpmetric_gradient(&step, mech, 0, 1, w, &err), TCT_E_BUDGET);
  tct_dpmetric_step_free(&step);
  tct_metric_free(&shape.metric);
  tct_mech_free(mech);
  tct_promise_free(&promise);
  world_close(&one);
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_on_one_of_two_ranks_stays_within_the_claim_of_every_release),
      cmocka_unit_test(roundings_of_both_lattices_are_part_of_the_claim),
      cmocka_unit_test(lengths_are_upper_bounds_and_tight),
      cmocka_unit_test(a_short_path_makes_all_its_releases_in_few_passes),
      cmocka_unit_test(a_step_is_the_mean_of_its_releases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
