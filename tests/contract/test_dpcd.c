/* test_dpcd.c - every option of dpcd keeps the laws: ledger, formats, threads, relations, the optimum without privacy.
 */
#include "worlds.h"

#include <unistd.h>

enum { ROWS = 80, COLS = 4 };
#define SEVENTY "1111111111111111111111111111111111111111111111111111111111111111111111"

static const char *const specs[] = {
    "dpcd:passes=3,order=uniform",
    "dpcd:passes=3,order=cyclic,average=last",
    "dpcd:passes=4,order=shuffled,average=inner,outer=3",
    "dpcd:inner=7,outer=2,average=half,clip=0.5,step=0.5",
    "dpcd:passes=3,smoothness=public,moments=0.3",
    "dpcd:passes=3,smoothness=public,moments=0.3/0.2/0.1/0.05",
    "dpcd:passes=3,smoothness=exact",
    "dpcd:passes=3,clipping=coordinate",
    "dpcd:inner=20,outer=2,clipping=record,order=cyclic",
    "dpcd:passes=3,clipping=record,precision=double",
    "dpcd:passes=3,form=laplace,budget_fraction=0.2",
    "dpcd:passes=3,budget_fraction=0.3,bounds=0.9/0.8/1/0.7,floor=0.01",
    "dpcd:schedule=theory,clip=0.1",
    "dpcd:passes=3,accounting=rdp",
    "dpcd:order=greedy,inner=8",
    "dpcd:order=greedy,inner=8,split=0.3,average=half",
    "dpcd:passes=3,precision=double",
};
enum { SPECS = sizeof specs / sizeof *specs };

static const char *const penalties[] = {"none", "l1:lambda=0.01", "l2:lambda=0.05", "elastic:l1=0.01,l2=0.05",
                                        "box:low=-0.5,high=1"};
static const char *const losses[] = {"squared", "logistic", "huber", "smoothed_hinge"};

static void open_or_fail(world *w, const records *r, const tct_config *config, tct_layout layout, tct_value_type type) {
  tct_error err = {0};
  if (world_open(w, r, config, layout, type, &err) != TCT_OK) fail_msg("%s: %s", config->solver, err.text);
}

static void run_or_fail(world *w, uint64_t seed) {
  tct_error err = {0};
  if (world_run(w, seed, NULL, NULL, &err) != TCT_OK) fail_msg("%s: %s", w->plan->config.solver, err.text);
}

static void every_option_spends_what_it_promised_under_both_relations(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 1);
  for (int k = 0; k < SPECS; k++)
    for (int relation = 0; relation < 2; relation++) {
      tct_config config = world_config(losses[k % 4], penalties[k % 5], specs[k]);
      config.neighbours = relation;
      config.intercept = k % 2;
      world w;
      open_or_fail(&w, &r, &config, TCT_DENSE_COLS, TCT_F64);
      run_or_fail(&w, 1);
      const tct_events *promise = &w.plan->solved.promise.events;
      tct_cost cost = {0};
      int64_t spent = 0, promised = 0;
      for (int64_t i = 0; i < w.spent.len; i++) spent += w.spent.at[i].count;
      for (int64_t i = 0; i < promise->len; i++) promised += promise->at[i].count;
      assert_int_equal(spent, promised);
      assert_int_equal(tct_account_epsilon(&w.spent, relation, 1e-5, 1e-4, &cost, NULL), TCT_OK);
      double min = strstr(specs[k], "rdp") ? 0.9 : 0.999;
      if (!(cost.epsilon <= 1 + 1e-6 && cost.epsilon >= min)) fail_msg("%s costs %.9g", specs[k], cost.epsilon);
      world_close(&w);
    }
  records_free(&r);
}

static void every_option_gives_the_same_model_from_dense_sparse_and_float_data(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 2);
  for (int k = 0; k < SPECS; k++) {
    tct_config config = world_config(losses[k % 4], penalties[k % 5], specs[k]);
    world a, b;
    tct_error err = {0};
    config.intercept = 1;
    open_or_fail(&a, &r, &config, TCT_DENSE_COLS, TCT_F64);
    run_or_fail(&a, 5);
    for (int variant = 0; variant < 3; variant++) {
      tct_layout layout = variant ? TCT_CSC : TCT_DENSE_COLS;
      assert_int_equal(world_share(&b, &r, a.plan, layout, variant == 1 ? TCT_F64 : TCT_F32, &err), TCT_OK);
      run_or_fail(&b, 5);
      for (int j = 0; j <= COLS; j++)
        if (!(fabs(a.w[j] - b.w[j]) <= 1e-7 * fmax(1, fabs(a.w[j]))))
          fail_msg("%s: variant %d, weight %d is off by %g", specs[k], variant, j, a.w[j] - b.w[j]);
      world_close(&b);
    }
    world_close(&a);
  }
  records_free(&r);
}

static void every_option_gives_the_same_bytes_on_two_threads(void **state) {
  (void)state;
  records r = records_new(20000, COLS, 3);
  for (int k = 0; k < SPECS; k++) {
    if (strstr(specs[k], "theory")) continue; /* 10^5 steps on 20000 records */
    tct_config config = world_config(losses[k % 4], penalties[k % 5], specs[k]);
    world a, b;
    open_or_fail(&a, &r, &config, TCT_CSC, TCT_F64);
    config.threads = 2;
    open_or_fail(&b, &r, &config, TCT_CSC, TCT_F64);
    run_or_fail(&a, 6);
    run_or_fail(&b, 6);
    if (memcmp(a.w, b.w, COLS * sizeof(double))) fail_msg("%s: two threads give other bytes", specs[k]);
    world_close(&b);
    world_close(&a);
  }
  records_free(&r);
}

static double objective(const char *loss, const char *penalty, const char *solver, const records *r, int intercept) {
  tct_config config = world_config(loss, penalty, solver);
  config.intercept = intercept;
  if (!isnan(config.epsilon)) config.epsilon = INFINITY;
  world w;
  open_or_fail(&w, r, &config, TCT_DENSE_ROWS, TCT_F64);
  run_or_fail(&w, 1);
  const tct_facts *f = &w.plan->facts;
  double sum = 0;
  for (int64_t i = 0; i < r->rows; i++) {
    double z = intercept ? w.bound.view.row_scale[i] * w.w[COLS] : 0;
    for (int j = 0; j < COLS; j++) z += w.bound.view.row_scale[i] * r->x[i * COLS + j] * w.w[j];
    sum += tct_loss_value(&f->loss, z, w.bound.y[i]);
  }
  double value = sum / (double)r->rows + f->penalty.kind->value(&f->penalty, w.w, COLS);
  world_close(&w);
  return value;
}

/* Three solvers, three programs: they agree only at the optimum.  Labels are noisy, so the optimum is finite. */
static void without_privacy_all_orders_and_cd_and_proxgd_reach_one_optimum(void **state) {
  (void)state;
  static const char *const orders[] = {"dpcd:passes=600,average=last", "dpcd:passes=2000,average=last,order=uniform",
                                       "dpcd:passes=600,average=last,order=cyclic",
                                       "dpcd:order=greedy,inner=3000,average=last", "proxgd:tol=1e-10"};
  records r = records_new(ROWS, COLS, 4);
  for (int i = 0; i < ROWS; i += 4) r.y[i] = -r.y[i];
  for (int l = 0; l < 4; l++)
    for (int p = 0; p < 5; p++)
      for (int k = 0; k < 5; k++) {
        double best = objective(losses[l], penalties[p], "cd:tol=1e-10", &r, 1);
        double reached = objective(losses[l], penalties[p], orders[k], &r, 1);
        if (!(fabs(reached - best) <= 1e-7))
          fail_msg("%s, %s, %s is off by %g", losses[l], penalties[p], orders[k], reached - best);
      }
  records_free(&r);
}

/* 1e-4 of the weights' size: margins in floats and a lattice of 2^-20 of a clip, under noise a thousand times larger.
 */
static void margins_in_floats_change_the_model_by_less_than_its_noise(void **state) {
  (void)state;
  records r = records_new(5000, COLS, 5);
  tct_config config = world_config("logistic", "l2:lambda=0.01", "dpcd:passes=20,precision=double");
  world a, b;
  open_or_fail(&a, &r, &config, TCT_DENSE_COLS, TCT_F32);
  config.solver = "dpcd:passes=20,precision=single";
  open_or_fail(&b, &r, &config, TCT_DENSE_COLS, TCT_F32);
  run_or_fail(&a, 8);
  run_or_fail(&b, 8);
  double worst = 0;
  for (int j = 0; j < COLS; j++) worst = fmax(worst, fabs(a.w[j] - b.w[j]));
  if (!(worst > 0 && worst <= 1e-4)) fail_msg("off by %g", worst);
  world_close(&b);
  world_close(&a);
  records_free(&r);
}

static void refused(const char *loss, const char *penalty, const char *solver, const char *word) {
  tct_config config = world_config(loss, penalty, solver);
  tct_error err = {0};
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  if (plan) fail_msg("%s is taken", solver);
  if (err.status != TCT_E_USAGE || !strstr(err.text, word)) fail_msg("%s: '%s'", solver, err.text);
}

static void what_it_cannot_do_is_refused_with_a_sentence(void **state) {
  (void)state;
  refused("hinge", "none", "dpcd", "squared, logistic");
  refused("squared", "l1ball:radius=1", "dpcd", "coordinate by coordinate");
  refused("logistic", "none", "dpcd:moments=1/2/3,smoothness=public", "moments has 3 numbers for 4 features");
  refused("logistic", "none", "dpcd:bounds=1/x/3/4", "positive numbers");
  refused("logistic", "none", "dpcd:bounds=1/2/3/4/5/6", "bounds has 6 numbers for 4 features");
  refused("logistic", "none", "dpcd:bounds=1/2/3/4/", "positive numbers");
  refused("logistic", "none", "dpcd:bounds=1/" SEVENTY, "positive numbers");
  refused("logistic", "none", "dpcd:passes=2.5,clipping=record", "clipping=record needs whole passes");
  refused("logistic", "none", "dpcd:order=uniform,clipping=record", "clipping=record needs whole passes");
  refused("logistic", "none", "dpcd:accounting=rdp,order=greedy", "accounting=rdp");
}

static void a_plan_is_made_for_any_number_of_features(void **state) {
  (void)state;
  static const char *const any[] = {"dpcd", "dpcd:bounds=0.01", "dpcd:smoothness=public,moments=0.3"};
  for (int k = 0; k < 3; k++) {
    tct_config config = world_config("logistic", "none", any[k]);
    tct_error err = {0};
    tct_plan *plan = tct_plan_new(&config, ROWS, (int64_t)1 << 50, &err);
    if (!plan) fail_msg("%s: %s", any[k], err.text);
    tct_plan_free(plan);
  }
}

/* Planned from as many as fit into a row, or from a list of all. */
static void one_bound_for_all_is_planned_as_a_list_of_equals(void **state) {
  (void)state;
  enum { WIDE = 40 };
  static const char *const sizes[] = {"0.2", "0.3", "0.5", "0.7", "1", "1.5", "9"};
  for (int k = 0; k < 7; k++) {
    char one[80], all[400], *to = all + sprintf(all, "dpcd:bounds=%s", sizes[k]);
    for (int j = 1; j < WIDE; j++) to += sprintf(to, "/%s", sizes[k]);
    snprintf(one, sizeof one, "dpcd:bounds=%s", sizes[k]);
    tct_config first = world_config("logistic", "none", one), second = world_config("logistic", "none", all);
    tct_error err = {0};
    tct_plan *a = tct_plan_new(&first, ROWS, WIDE, &err), *b = tct_plan_new(&second, ROWS, WIDE, &err);
    if (!a || !b) fail_msg("%s: %s", sizes[k], err.text);
    assert_true(a->solved.promise.release[0].sensitivity == b->solved.promise.release[0].sensitivity);
    assert_true(a->solved.promise.release[0].deviation == b->solved.promise.release[0].deviation);
    tct_plan_free(b);
    tct_plan_free(a);
  }
}

static void exact_constants_are_named_as_unaccounted(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 6);
  tct_config config = world_config("logistic", "none", "dpcd:passes=2,smoothness=exact");
  world w;
  tct_error err = {0};
  open_or_fail(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64);
  tct_model *model = tct_fit(w.plan, w.data, &err);
  assert_non_null(model);
  char *json = tct_model_json(model, &err);
  assert_non_null(strstr(json, "smoothness constants were computed exactly"));
  tct_text_free(json);
  tct_model_free(model);
  world_close(&w);
  records_free(&r);
}

static void every_option_makes_a_model_that_verifies(void **state) {
  (void)state;
  records r = records_new(ROWS, COLS, 7);
  for (int k = 0; k < SPECS; k++) {
    char path[] = "/tmp/tacit_dpcd_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    tct_config config = world_config(losses[k % 4], penalties[k % 5], specs[k]);
    world w;
    tct_error err = {0};
    open_or_fail(&w, &r, &config, TCT_DENSE_ROWS, TCT_F64);
    tct_model *model = tct_fit(w.plan, w.data, &err);
    if (!model || tct_model_write(model, path, &err) != TCT_OK) fail_msg("%s: %s", specs[k], err.text);
    char *json = tct_verify_json(path, NULL, NULL, NULL, NULL, NULL, &err);
    remove(path);
    assert_non_null(json);
    if (!strstr(json, "\"ok\": true") || strstr(json, "\"ok\": false")) fail_msg("%s: %s", specs[k], json);
    tct_text_free(json);
    tct_model_free(model);
    world_close(&w);
  }
  records_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_option_spends_what_it_promised_under_both_relations),
      cmocka_unit_test(every_option_gives_the_same_model_from_dense_sparse_and_float_data),
      cmocka_unit_test(every_option_gives_the_same_bytes_on_two_threads),
      cmocka_unit_test(without_privacy_all_orders_and_cd_and_proxgd_reach_one_optimum),
      cmocka_unit_test(margins_in_floats_change_the_model_by_less_than_its_noise),
      cmocka_unit_test(what_it_cannot_do_is_refused_with_a_sentence),
      cmocka_unit_test(a_plan_is_made_for_any_number_of_features),
      cmocka_unit_test(one_bound_for_all_is_planned_as_a_list_of_equals),
      cmocka_unit_test(exact_constants_are_named_as_unaccounted),
      cmocka_unit_test(every_option_makes_a_model_that_verifies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
