/* test_moments_table.c - the moments of a whole table: what one record or person moves, what is spent, and what models
 * of it say.
 *
 * Two tables share coins and past releases, and differ in one record, or in a person's three (worlds.h).  The second
 * release is made in a metric and shells that the first one set: what a record moves there is looked for under several
 * first releases. */
#include "worlds.h"

#include "core/alloc.h"
#include "linear/linear.h"

enum { P = 3, Q = P + 1, KIN = 3, AT = 7 };

typedef struct table {
  int64_t rows;
  double *x, *weight; /* [rows][P] in [-1, 1]; NULL: all 1 */
  int out;            /* so many records from AT on are left out */
  bool fourth;        /* with the third release */
} table;

static tct_facts facts_of(int64_t rows, int64_t p, tct_neighbours neighbours, double epsilon) {
  return (tct_facts){.rows = rows,
                     .p = p,
                     .intercept = true,
                     .row_norm = sqrt((double)p),
                     .label_bound = NAN,
                     .epsilon = epsilon,
                     .delta = 1e-6,
                     .neighbours = neighbours,
                     .threads = 1};
}

/* Releases the moments; probe NULL: nobody looks. */
static tct_status release(const tct_facts *facts, const table *t, tct_mech_probe probe, void *user, uint64_t seed,
                          tct_moments *m, tct_error *err) {
  tct_matrix x = {
      .rows = t->rows, .cols = facts->p - 1, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = facts->p - 1};
  tct_view view = {0};
  tct_mech *mech = NULL;
  tct_solver_plan plan;
  assert_int_equal(tct_moments_plan(facts, t->fourth, &plan, err), TCT_OK);
  assert_true(plan.cost.epsilon <= facts->epsilon);
  assert_int_equal(tct_view_bound(&view, &x, 1, facts->row_norm, TCT_ROWS_CLIP, 1, err), TCT_OK);
  for (int i = AT; i < AT + t->out; i++) view.row_scale[i] = 0;
  tct_problem problem = {.facts = facts, .view = &view, .weight = t->weight};
  assert_int_equal(tct_mech_new(&plan.promise, facts->neighbours, &seed, &mech, err), TCT_OK);
  if (probe) tct_mech_probe_test(mech, probe, user);
  tct_status status = tct_moments_release(&problem, mech, 0, facts->row_norm, m, err);
  if (status == TCT_OK && t->fourth) status = tct_moments_release_fourth(&problem, mech, 2, m, err);
  if (status == TCT_OK) status = tct_mech_spent_exactly(mech, err);
  tct_mech_free(mech);
  tct_view_free(&view);
  tct_solver_plan_free(&plan);
  return status;
}

static void fill(uint64_t *random, table *t, int64_t p, bool persons) {
  t->x = calloc((size_t)(t->rows * p) + 1, sizeof(double));
  t->weight = persons ? calloc((size_t)t->rows + 1, sizeof(double)) : NULL;
  for (int64_t i = 0; i < t->rows; i++) {
    for (int64_t j = 0; j < p; j++) t->x[i * p + j] = 0.3 * world_real(random);
    if (persons) t->weight[i] = 0.3 + 0.7 * fabs(world_real(random));
  }
}

static void empty(table *t) {
  free(t->x);
  free(t->weight);
}

static double extreme(uint64_t *random) {
  static const double ends[] = {-1, 1, 0, 0.5};
  return world_u64(random) % 3 ? ends[world_u64(random) % 4] : world_real(random);
}

static void a_record_or_a_person_moves_no_release_beyond_its_claim(void **state) {
  (void)state;
  uint64_t random = 17;
  double worst[2][2] = {{0}};                        /* of relation and unit */
  static const double budget[] = {5, 1e3, 1e5, 1e7}; /* with much of it there are shells within the first */
  int thirds = 0, inner = 0;
  for (int trial = 0; trial < 1200; trial++) {
    bool replaced = trial % 2, persons = trial / 2 % 2;
    int many = persons ? KIN : 1, level = trial / 4 % 4;
    tct_error err = {0};
    tct_facts facts = facts_of(40, Q, replaced ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, budget[level]);
    table a = {.rows = 40, .fourth = level && trial % 5 < 2};
    tct_moments m = {0};
    tape t = {.claim = replaced ? 2 : 1};
    fill(&random, &a, P, persons);
    for (int k = 0; k < many; k++) {
      for (int j = 0; j < P; j++) a.x[(AT + k) * P + j] = k == 0 ? extreme(&random) : a.x[AT * P + j];
      if (persons) a.weight[AT + k] = (1 - 0x1p-50) / many;
    }
    uint64_t seed = world_u64(&random);
    assert_int_equal(release(&facts, &a, tape_probe, &t, seed, &m, &err), TCT_OK);
    int64_t d = tct_moments_products(m.q), length[] = {m.q * m.q, m.shells * m.q * m.q, d * d};
    for (int k = 0; k < t.count; k++) assert_int_equal(t.at[k].len, length[k]); /* nothing is kept that has no noise */
    tct_moments_free(&m);
    t.replay = 1;
    for (int k = 0; k < many && replaced; k++)
      for (int j = 0; j < P; j++) a.x[(AT + k) * P + j] = k == 0 ? extreme(&random) : a.x[AT * P + j];
    a.out = replaced ? 0 : many;
    assert_int_equal(release(&facts, &a, tape_probe, &t, seed, &m, &err), TCT_OK);
    assert_true(!t.mismatches && t.next == t.count && t.count == (a.fourth ? 3 : 2));
    thirds += a.fourth && t.worst_at == 2;
    inner += m.whole > 1 && t.worst_at == 1;
    if (!(t.worst <= 1)) fail_msg("trial %d: release %d moves %.17g times its claim", trial, (int)t.worst_at, t.worst);
    worst[replaced][persons] = fmax(worst[replaced][persons], t.worst);
    tct_moments_free(&m);
    tape_free(&t);
    empty(&a);
  }
  print_message("the farthest, in claims: %.6f %.6f %.6f %.6f\n", worst[0][0], worst[0][1], worst[1][0], worst[1][1]);
  for (int k = 0; k < 4; k++) assert_true(worst[k / 2][k % 2] >= 0.99);
  assert_true(thirds > 20 && inner > 20);
}

/* Over the noise alone: the table stays.  w - (that of the table without noise), over what the model says of it. */
static void intervals_of_the_noise_cover_the_table_s_own_models(void **state) {
  (void)state;
  enum { RUNS = 60, N = 20000 };
  static const int64_t others[P][P - 1] = {{1, 2}, {0, 2}, {0, 1}};
  uint64_t random = 23;
  for (int persons = 0; persons < 2; persons++) {
    tct_facts facts = facts_of(N, Q, TCT_ADD_REMOVE, 1), exact = facts_of(N, Q, TCT_ADD_REMOVE, 1e7);
    table t = {.rows = N};
    tct_error err = {0};
    tct_moments m[2];
    tct_linear l[2];
    int within = 0, all = 0;
    fill(&random, &t, P, persons);
    for (int i = 0; i < N; i++) t.x[i * P + 2] = 0.5 * t.x[i * P] - 0.2 * t.x[i * P + 1] + t.x[i * P + 2];
    for (int i = 0; i < N; i += 100) t.x[i * P] *= 3; /* tails */
    assert_int_equal(release(&exact, &t, NULL, NULL, 1, &m[1], &err), TCT_OK);
    assert_int_equal(tct_linear_new(&m[1], N, &l[1], &err), TCT_OK);
    double weights = 0;
    for (int i = 0; i < N; i++) weights += t.weight ? t.weight[i] : 1;
    if (!(fabs(l[1].count / weights - 1) < 0.01)) fail_msg("%g records, not %g", l[1].count, weights);
    for (int run = 0; run < RUNS; run++) {
      assert_int_equal(release(&facts, &t, NULL, NULL, 100 + (uint64_t)run, &m[0], &err), TCT_OK);
      assert_int_equal(tct_linear_new(&m[0], N, &l[0], &err), TCT_OK);
      for (int label = 0; label < P; label++) {
        tct_linear_model model[2];
        for (int k = 0; k < 2; k++)
          assert_int_equal(tct_linear_fit(&l[k], label, others[label], P - 1, 0, &model[k], &err), TCT_OK);
        for (int j = 0; j < P; j++, all++)
          within += fabs(model[0].w[j] - model[1].w[j]) <= 1.96 * sqrt(model[0].noise[j * P + j]);
        assert_true(fabs(model[0].r2 - model[1].r2) < 5 * model[0].r2_noise + 1e-3);
        for (int k = 0; k < 2; k++) tct_linear_model_free(&model[k]);
      }
      tct_linear_free(&l[0]);
      tct_moments_free(&m[0]);
    }
    print_message("persons %d: %d of %d intervals\n", persons, within, all);
    assert_true(within > 0.91 * all && within < 0.985 * all);
    tct_linear_free(&l[1]);
    tct_moments_free(&m[1]);
    empty(&t);
  }
}

/* The sandwich's variance of the slope of column 2 on column 0 under a ridge: its scores have a mean, which is known.
 */
static double under_a_ridge(const table *t, double ridge) {
  double mean[2] = {0, 0}, both = 0, square = 0, sum = 0, meat = 0, n = (double)t->rows;
  for (int64_t i = 0; i < t->rows; i++) mean[0] += t->x[i * P] / n, mean[1] += t->x[i * P + 2] / n;
  for (int64_t i = 0; i < t->rows; i++) {
    double c = t->x[i * P] - mean[0];
    both += c * t->x[i * P + 2], square += c * c;
  }
  for (int64_t i = 0; i < t->rows; i++) {
    double c = t->x[i * P] - mean[0], score = c * (t->x[i * P + 2] - mean[1] - both / (square + n * ridge) * c);
    sum += score, meat += score * score;
  }
  return (meat - sum * sum / n) / pow(square + n * ridge, 2);
}

/* Residuals grow with the first column: robust errors are those of the sandwich, and a deviation's is that of its own
 * fourth moment, where the elliptic ones are far off.  Neither lies below what normal records have. */
static void robust_errors_are_those_of_the_sandwich(void **state) {
  (void)state;
  enum { N = 20000 };
  static const int64_t first[] = {0};
  uint64_t random = 29;
  double sx = 0, sxx = 0, sy = 0, sxy = 0, meat = 0, square = 0, fourth = 0;
  tct_facts facts = facts_of(N, Q, TCT_ADD_REMOVE, 1e6);
  tct_error err = {0};
  tct_linear_figure deviation;
  tct_linear_model model, two;
  tct_moments m;
  tct_linear l;
  table t = {.rows = N, .fourth = true};
  fill(&random, &t, P, false);
  for (int i = 0; i < N; i++) {
    double *x = t.x + i * P;
    x[0] = world_real(&random) * fabs(world_real(&random)), x[1] = 0.4 * x[0] + x[0] * world_real(&random) / 2;
    x[2] = 0.9 * x[0] + x[2] / 10;
    sx += x[0], sxx += x[0] * x[0], sy += x[1], sxy += x[0] * x[1];
  }
  double slope = (sxy - sx * sy / N) / (sxx - sx * sx / N), constant = (sy - slope * sx) / N;
  for (int i = 0; i < N; i++) {
    double c = t.x[i * P] - sx / N, r = t.x[i * P + 1] - constant - slope * t.x[i * P];
    meat += c * c * r * r / pow(sxx - sx * sx / N, 2), square += c * c / N, fourth += c * c * c * c / N;
  }
  assert_int_equal(release(&facts, &t, NULL, NULL, 1, &m, &err), TCT_OK);
  assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
  assert_int_equal(tct_linear_fit(&l, 1, first, 1, 0, &model, &err), TCT_OK);
  assert_int_equal(tct_linear_deviation(&l, 0, &deviation, &err), TCT_OK);
  double robust = sqrt(model.sampling[0] / meat), own = sqrt((fourth - square * square) / square / N) / 2;
  assert_int_equal(tct_linear_fit(&l, 2, first, 1, 0.2, &two, &err), TCT_OK);
  double ridge = sqrt(two.sampling[0] / under_a_ridge(&t, 0.2));
  tct_linear_model_free(&two);
  tct_linear_free(&l);
  tct_free(m.fourth), m.fourth = NULL;
  assert_int_equal(tct_linear_new(&m, N, &l, &err), TCT_OK);
  assert_int_equal(tct_linear_fit(&l, 1, first, 1, 0, &two, &err), TCT_OK);
  double elliptic = sqrt(two.sampling[0] / meat);
  print_message("errors over the sandwich's: robust %.3f, elliptic %.3f, under a ridge %.3f; of a deviation %.3f\n",
                robust, elliptic, ridge, deviation.error / own);
  assert_true(robust > 0.97 && robust < 1.15 && elliptic < 0.85 && ridge > 0.97 && ridge < 1.3);
  assert_true(deviation.error > 0.97 * own && deviation.error < 1.25 * own);
  tct_linear_model_free(&model);
  tct_linear_model_free(&two);
  tct_linear_free(&l);
  tct_moments_free(&m);
  empty(&t);
}

/* Whatever the table is, the run ends with a model or a sentence. */
static void corners_end_well(void **state) {
  (void)state;
  static const struct {
    int64_t rows, p;
    double epsilon, delta, fill;
  } corners[] = {{1, 1, 1, 1e-6, 0},   {1, Q, 1, 1e-6, 1},      {9, Q, 1, 1e-100, 0.3},
                 {40, Q, 50, 1e-6, 0}, {40, Q, 1e-4, 1e-9, -1}, {40, 2, 1e5, 1e-300, 1}};
  for (size_t k = 0; k < sizeof corners / sizeof *corners; k++)
    for (int persons = 0; persons < 2; persons++) {
      tct_error err = {0};
      tct_facts facts = facts_of(corners[k].rows, corners[k].p, TCT_REPLACE_ONE, corners[k].epsilon);
      table t = {.rows = corners[k].rows};
      uint64_t random = 1;
      tct_moments m;
      tct_linear l = {0};
      facts.delta = corners[k].delta;
      fill(&random, &t, corners[k].p - 1, persons);
      for (int64_t i = 0; i < corners[k].rows * (corners[k].p - 1); i++) t.x[i] = corners[k].fill;
      assert_int_equal(release(&facts, &t, NULL, NULL, 3, &m, &err), TCT_OK);
      tct_status status = tct_linear_new(&m, corners[k].rows, &l, &err);
      assert_true(status == TCT_OK || (status == TCT_E_RUN && err.text[0]));
      if (status == TCT_OK && corners[k].p > 1) {
        tct_linear_model model;
        status = tct_linear_fit(&l, 0, NULL, 0, 0, &model, &err);
        assert_true(status == TCT_E_RUN || (isfinite(model.w[0]) && isfinite(model.noise[0])));
        tct_linear_model_free(&model);
      }
      tct_linear_free(&l);
      tct_moments_free(&m);
      empty(&t);
    }
}

static void edit(json_t *list, int how) {
  static const double by[] = {-30, 1e4};
  if (how == 0) json_array_remove(list, 0);
  if (how == 1) json_array_set_new(list, 0, json_string("1"));
  for (size_t k = 0; how > 1 && k < json_array_size(list); k++)
    json_array_set_new(list, k, json_real(by[how - 2] * json_number_value(json_array_get(list, k))));
}

/* A file's moments are read as they were released; what is none of it, or what no records can have, is refused. */
static void what_is_kept_reads_back_and_nothing_else_does(void **state) {
  (void)state;
  enum { N = 4000, KINDS = 3, EDITS = 4 };
  uint64_t random = 31;
  tct_error err = {0};
  tct_facts facts = facts_of(N, Q, TCT_ADD_REMOVE, 20);
  table t = {.rows = N, .fourth = true};
  tct_solver_plan plan;
  tct_moments m, again;
  fill(&random, &t, P, false);
  assert_int_equal(release(&facts, &t, NULL, NULL, 1, &m, &err), TCT_OK);
  assert_int_equal(tct_moments_plan(&facts, true, &plan, &err), TCT_OK);
  const double deviation[] = {plan.promise.release[1].deviation, plan.promise.release[2].deviation},
               two[] = {deviation[0], 0};
  int64_t d = tct_moments_products(Q);
  json_t *said = tct_moments_json(&m);
  assert_int_equal(tct_moments_of_json(said, Q, N, deviation, &again, &err), TCT_OK);
  assert_int_equal(again.shells, m.shells);
  for (int64_t j = 0; j < Q * Q; j++) assert_float_equal(again.sum[j], m.sum[j], 1e-9 * N);
  assert_memory_equal(again.fourth, m.fourth, (size_t)(d * d) * sizeof *m.fourth);
  tct_moments_free(&again);
  assert_int_equal(tct_moments_of_json(said, Q, N, two, &again, &err), TCT_E_DATA);
  tct_moments_free(&again);
  for (int k = 0; k < KINDS; k++)
    for (int how = 0; how < (k < 2 ? EDITS : 2); how++) {
      json_t *edited = json_deep_copy(said), *shells = json_object_get(edited, "shells");
      edit(k == 0 ? json_array_get(shells, 0) : json_object_get(edited, k == 1 ? "fourth" : "metric"), how);
      assert_int_equal(tct_moments_of_json(edited, Q, N, deviation, &again, &err), TCT_E_DATA);
      tct_moments_free(&again);
      json_decref(edited);
    }
  json_object_del(said, "fourth");
  assert_int_equal(tct_moments_of_json(said, Q, N, deviation, &again, &err), TCT_E_DATA);
  tct_moments_free(&again);
  json_decref(said);
  tct_moments_free(&m);
  tct_solver_plan_free(&plan);
  empty(&t);
}

/* Of a table at all ends of what is allowed verify accepts what was released, and not once more records than there are:
 * in two shells each, or in the products. */
static void no_honest_moments_are_refused_and_no_records_count_twice(void **state) {
  (void)state;
  static const double budget[] = {1e-4, 0.1, 2, 50, 1e5, 1e12};
  uint64_t random = 37;
  tct_error err = {0};
  int kept = 0, forged = 0;
  for (int trial = 0; trial < 480; trial++) {
    int64_t p = 1 + trial % Q, rows = trial / 4 % 3 ? 1 + (int64_t)(world_u64(&random) % 50) : 5000;
    tct_facts facts = facts_of(rows, p, trial % 2 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE, budget[trial % 6]);
    table t = {.rows = rows, .fourth = trial % 6 > 2 && rows > 1000};
    tct_solver_plan plan;
    tct_moments m, again;
    fill(&random, &t, p - 1, trial / 5 % 2);
    int64_t far = trial % 3 == 0 ? rows : trial % 3 == 1 ? rows / 20 : 0; /* records at the corners of the bounds */
    for (int64_t j = 0; j < far * (p - 1); j++) t.x[j] = world_u64(&random) % 2 ? 1 : -1;
    assert_int_equal(release(&facts, &t, NULL, NULL, (uint64_t)trial, &m, &err), TCT_OK);
    assert_int_equal(tct_moments_plan(&facts, t.fourth, &plan, &err), TCT_OK);
    const double deviation[] = {plan.promise.release[1].deviation, t.fourth ? plan.promise.release[2].deviation : 0};
    json_t *said = tct_moments_json(&m);
    if (tct_moments_of_json(said, p, rows, deviation, &again, &err) != TCT_OK)
      fail_msg("trial %d: %s", trial, err.text);
    tct_moments_free(&again), json_decref(said), kept++;
    for (int k = 1; k >= 0; k--) { /* shells are those released while products are forged */
      if (!(k ? t.fourth : m.shells > 1) || 500 * deviation[k] > (double)rows) continue;
      int64_t d = k ? tct_moments_products(p) : p;
      double cut = tct_moments_cut(rows, deviation[1], INFINITY); /* as its reader takes it */
      double *one = k ? m.fourth : m.shell,
             *two = k ? one : one + p * p; /* 0.6 n in two directions, or in two shells */
      memset(one, 0, (size_t)((k ? 1 : m.shells) * d * d) * sizeof *one);
      for (int side = 0; side < 2; side++)
        (side ? two : one)[k && side ? d + 1 : 0] = 0.6 * (double)rows * pow(k ? cut : m.radius[side], 2);
      said = tct_moments_json(&m);
      assert_int_equal(tct_moments_of_json(said, p, rows, deviation, &again, &err), TCT_E_DATA);
      tct_moments_free(&again), json_decref(said), forged++;
    }
    tct_moments_free(&m);
    tct_solver_plan_free(&plan);
    empty(&t);
  }
  print_message("%d kept, %d forged\n", kept, forged);
  assert_true(kept == 480 && forged > 80);
}

/* One eigenvalue of the first shell, all else 0: sqrt(2 q) + 12 deviations below 0 or above the number of records. */
static void a_shell_ends_where_its_records_and_their_noise_do(void **state) {
  (void)state;
  enum { N = 4000 };
  uint64_t random = 41;
  tct_error err = {0};
  tct_facts facts = facts_of(N, Q, TCT_ADD_REMOVE, 20);
  table t = {.rows = N};
  tct_solver_plan plan;
  tct_moments m, again;
  fill(&random, &t, P, false);
  assert_int_equal(release(&facts, &t, NULL, NULL, 1, &m, &err), TCT_OK);
  assert_int_equal(tct_moments_plan(&facts, false, &plan, &err), TCT_OK);
  const double deviation[] = {plan.promise.release[1].deviation, 0}, far = (sqrt(2 * Q) + 12) * deviation[0];
  memset(m.shell, 0, (size_t)(m.shells * Q * Q) * sizeof *m.shell);
  for (int k = 0; k < 4; k++) {
    double beyond = k % 2 ? 1.01 : 0.99;
    m.shell[0] = m.radius[0] * m.radius[0] * (k < 2 ? N + beyond * far : -beyond * far);
    json_t *said = tct_moments_json(&m);
    assert_int_equal(tct_moments_of_json(said, Q, N, deviation, &again, &err), k % 2 ? TCT_E_DATA : TCT_OK);
    tct_moments_free(&again);
    json_array_append_new(json_object_get(said, "shells"),
                          json_deep_copy(json_array_get(json_object_get(said, "shells"), 0)));
    assert_int_equal(tct_moments_of_json(said, Q, N, deviation, &again, &err), TCT_E_DATA); /* a shell too many */
    tct_moments_free(&again), json_decref(said);
  }
  tct_moments_free(&m);
  tct_solver_plan_free(&plan);
  empty(&t);
}

static void what_no_plan_can_keep_is_refused(void **state) {
  (void)state;
  tct_error err = {0};
  tct_solver_plan plan;
  tct_facts wrong[4];
  for (int k = 0; k < 4; k++) wrong[k] = facts_of(40, Q, TCT_ADD_REMOVE, 1);
  wrong[0].row_norm = 1e90, wrong[1].row_norm = NAN, wrong[2].delta = 0, wrong[3].p = 5000;
  for (int k = 0; k < 4; k++) {
    assert_int_equal(tct_moments_plan(&wrong[k], k % 2, &plan, &err), TCT_E_USAGE);
    tct_solver_plan_free(&plan);
  }
  static const int64_t rows[] = {40, 40000, 40000}, p[] = {Q, Q, 40}; /* too few records, enough, too many columns */
  for (int k = 0; k < 3; k++) {
    tct_facts facts = facts_of(rows[k], p[k], TCT_ADD_REMOVE, 1);
    assert_int_equal(tct_moments_plan(&facts, true, &plan, &err), k == 1 ? TCT_OK : TCT_E_USAGE);
    tct_solver_plan_free(&plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_or_a_person_moves_no_release_beyond_its_claim),
      cmocka_unit_test(intervals_of_the_noise_cover_the_table_s_own_models),
      cmocka_unit_test(robust_errors_are_those_of_the_sandwich),
      cmocka_unit_test(corners_end_well),
      cmocka_unit_test(what_is_kept_reads_back_and_nothing_else_does),
      cmocka_unit_test(no_honest_moments_are_refused_and_no_records_count_twice),
      cmocka_unit_test(a_shell_ends_where_its_records_and_their_noise_do),
      cmocka_unit_test(what_no_plan_can_keep_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
