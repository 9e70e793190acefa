/* test_estimate.c - estimated bounds: how far a record moves the counts, what they cost, and when they are charged. */
#include "../fault/ledger_help.h"

#include "estimate/estimate.h"
#include "la/matrix/rows_access.h"
#include "mech/mech.h"
#include "read/format/reader.h"

#include <math.h>
#include <string.h>

enum { PEOPLE = 60, WIDE = 5, CELLS = (WIDE + 1) * TCT_ESTIMATE_COARSE };

static const double hostile[] = {0,        1e-300, -1e-300, 1,       -1,  0x1p-40, 0x1p63, 0x1p64,
                                 -0x1p200, 1e308,  -1e308,  0x1p-41, 3.5, 4,       1023.9, 1024,
                                 -7,       1e-9,   2019,    2020.5,  17,  -0.0};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static uint64_t word = 11;
static uint64_t next_word(void) {
  word = word * 6364136223846793005u + 1442695040888963407u;
  return word >> 20;
}

static bool tame; /* the others' values are all small: one record alone can be the largest */

/* A table of hostile numbers, read as tacit reads it; real labels are open too. */
static tct_data *table(const char *row, bool real) {
  static char text[1 << 17];
  tct_error err = {0};
  tct_read_options options;
  int at = snprintf(text, sizeof text, "a,b,c,d,e,y\n");
  for (int i = 0; i < PEOPLE; i++) {
    for (int j = 0; j <= WIDE; j++) {
      double value = hostile[next_word() % HOSTILE];
      if (tame && j < WIDE) value = 3 + (double)(next_word() % 1000) / 1000;
      if (j == WIDE && !real) value = i % 2;
      at += snprintf(text + at, sizeof text - (size_t)at, "%.17g%s", value, j < WIDE ? "," : "\n");
    }
    if (row && i == 0) { /* the first record, replaced */
      at = snprintf(text, sizeof text, "a,b,c,d,e,y\n%s\n", row);
    }
  }
  tct_read_options_default(&options);
  options.label = "y";
  options.labels = real ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  tct_data *data = tct_data_read_memory(text, at, 1 << 16, &options, &err);
  if (!data) fail_msg("%s", err.text);
  return data;
}

/* What went into each release, before its noise; what comes out of it is the same in every world. */
typedef struct seen {
  int releases;
  int64_t len[2];
  double before[2][CELLS], sensitivity[2];
  tct_event event[2];
} seen;

static void watch(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                  int64_t len) {
  seen *s = user;
  int k = s->releases++;
  assert_true(k < 2 && len <= CELLS);
  s->len[k] = len, s->sensitivity[k] = sensitivity, s->event[k] = *event;
  memcpy(s->before[k], before, (size_t)len * sizeof *before);
  for (int64_t j = 0; j < len; j++) after[j] = j % 7 == 3 ? 1e6 : 0; /* ranges that most values lie within */
}

static int64_t features[WIDE] = {0, 1, 2, 3, 4};

static void release(const tct_data *data, bool real, const tct_estimate_plan *plan, seen *s) {
  tct_error err = {0};
  tct_mech *mech = NULL;
  tct_found found;
  uint64_t seed = 5;
  tct_open open = {.feature = features, .count = WIDE, .label = real};
  memset(s, 0, sizeof *s);
  if (tct_mech_new(&plan->promise, plan->neighbours, &seed, &mech, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_mech_probe_test(mech, watch, s);
  if (tct_found_make(plan, data, &found, &err) != TCT_OK) fail_msg("%s", err.text);
  if (tct_estimate_release(plan, data, &open, mech, &found, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_found_free(&found, 0);
  tct_mech_free(mech);
}

static double distance(const seen *a, const seen *b, int k) {
  double square = 0;
  for (int64_t j = 0; j < a->len[k]; j++)
    square += (a->before[k][j] - b->before[k][j]) * (a->before[k][j] - b->before[k][j]);
  return sqrt(square);
}

static tct_estimate_plan planned(double epsilon, tct_neighbours relation, bool real) {
  tct_error err = {0};
  tct_estimate_plan plan;
  tct_estimate_asked asked = {"bounds:budget_fraction=0.3", epsilon, 1e-5, relation, PEOPLE, WIDE + real, 0, 0};
  if (tct_estimate_plan_make(&asked, &plan, &err) != TCT_OK) fail_msg("%s", err.text);
  return plan;
}

static void weigh(tct_data *data, double weight, int first, int count) {
  double own[PEOPLE];
  int64_t person[PEOPLE];
  tct_error err = {0};
  for (int i = 0; i < PEOPLE; i++) {
    own[i] = i >= first && i < first + count ? weight : 1 - 0.013 * (i % 3);
    person[i] = i >= first && i < first + count ? first : i;
  }
  if (tct_data_weigh(data, own, 1, person, &err) != TCT_OK) fail_msg("%s", err.text);
}

static void the_releases_made_are_those_that_were_planned(void **state) {
  (void)state;
  seen s;
  for (int real = 0; real < 2; real++) {
    tct_data *data = table(NULL, real);
    tct_estimate_plan plan = planned(1, TCT_ADD_REMOVE, real);
    release(data, real, &plan, &s);
    assert_int_equal(s.releases, 2);
    assert_int_equal(s.len[0], (WIDE + real) * TCT_ESTIMATE_COARSE);
    assert_int_equal(s.len[1], (WIDE + real) * TCT_ESTIMATE_FINE);
    for (int k = 0; k < 2; k++) {
      assert_true(tct_event_same(&s.event[k], &plan.promise.release[k].event));
      assert_true(s.sensitivity[k] == plan.promise.release[k].sensitivity);
    }
    tct_estimate_plan_free(&plan);
    tct_data_free(data);
  }
}

/* One record more moves each release by at most its length, and by that length if its weight is 1; whatever its values
 * are, and whatever the others are. */
static void a_record_moves_each_release_by_at_most_the_planned_length(void **state) {
  (void)state;
  static seen with, without;
  for (int real = 0; real < 2; real++) {
    tct_estimate_plan plan = planned(1, TCT_ADD_REMOVE, real);
    for (int turn = 0; turn < 40; turn++) {
      tct_data *data = table(NULL, real);
      int64_t out = (int64_t)(next_word() % PEOPLE);
      release(data, real, &plan, &with);
      weigh(data, 1, 0, 0);
      for (int i = 0; i < PEOPLE; i++) data->weight[i] = i != out;
      release(data, real, &plan, &without);
      for (int k = 0; k < 2; k++) {
        double moved = distance(&with, &without, k);
        assert_true(moved <= plan.promise.release[k].sensitivity);
        assert_true(moved >= plan.promise.release[k].sensitivity * (1 - 1e-9));
      }
      tct_data_free(data);
    }
    tct_estimate_plan_free(&plan);
  }
}

static void a_changed_record_moves_each_release_by_at_most_twice_its_length(void **state) {
  (void)state;
  static seen one, other;
  tct_estimate_plan plan = planned(1, TCT_REPLACE_ONE, false);
  static const char *const rows[] = {"0,0,0,0,0,1", "1e308,-1e308,5,1e-300,77,0", "3,3,3,3,3,1", "-1,-2,-3,-4,-5,0"};
  for (int k = 0; k < 8; k++) {
    tame = k >= 4;
    word = 21;
    tct_data *a = table(rows[k % 4], false);
    word = 21;
    tct_data *b = table(rows[(k + 1) % 4], false);
    release(a, false, &plan, &one);
    release(b, false, &plan, &other);
    for (int r = 0; r < 2; r++) {
      double moved = distance(&one, &other, r);
      assert_true(moved <= sqrt(2) * plan.promise.release[r].sensitivity);
      assert_true(moved > 0 || r == 1); /* in equal parts of a wide range small values lie together */
    }
    tct_data_free(a);
    tct_data_free(b);
  }
  tame = false;
  tct_estimate_plan_free(&plan);
}

/* All records of a person together, in whatever shares. */
static void a_persons_records_together_move_a_release_no_further(void **state) {
  (void)state;
  static seen with, without;
  tct_estimate_plan plan = planned(1, TCT_ADD_REMOVE, false);
  for (int count = 1; count <= 20; count++) {
    tct_data *data = table(NULL, false);
    weigh(data, 1, 9, count);
    release(data, false, &plan, &with);
    for (int i = 9; i < 9 + count; i++) data->weight[i] = 0;
    release(data, false, &plan, &without);
    for (int k = 0; k < 2; k++) assert_true(distance(&with, &without, k) <= plan.promise.release[k].sensitivity);
    tct_data_free(data);
  }
  tct_estimate_plan_free(&plan);
}

static void the_share_and_the_rest_are_no_more_than_the_whole(void **state) {
  (void)state;
  static const double budgets[] = {0.05, 1, 8};
  for (int k = 0; k < 6; k++) {
    tct_error err = {0};
    tct_cost cost;
    tct_neighbours relation = k % 2 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    tct_estimate_plan plan = planned(budgets[k / 2], relation, false);
    assert_int_equal(tct_account_epsilon(&plan.promise.events, relation, plan.own_delta, 1e-9, &cost, &err), TCT_OK);
    assert_true(cost.epsilon <= plan.own_epsilon * (1 + 1e-9) && cost.epsilon > 0.99 * plan.own_epsilon);
    assert_true(plan.own_epsilon + plan.rest_epsilon <= plan.epsilon);
    assert_true(plan.own_delta + plan.rest_delta <= plan.delta);
    assert_true(plan.own_epsilon > 0.29 * plan.epsilon && plan.rest_epsilon > 0.69 * plan.epsilon);
    tct_estimate_plan_free(&plan);
  }
}

/* Every value lies in the interval of its place, so the grid holds all of them; none depends on another value. */
static void the_grid_holds_every_value(void **state) {
  (void)state;
  for (int k = 0; k < HOSTILE; k++) {
    double low, high, v = hostile[k];
    int at = tct_estimate_power(v);
    assert_true(at >= 0 && at < TCT_ESTIMATE_COARSE);
    tct_estimate_interval(at, &low, &high);
    if (fabs(v) < 0x1p-40) assert_true(at == TCT_ESTIMATE_POWERS && low == 0 && high == 0);
    if (fabs(v) >= 0x1p-40 && fabs(v) < 0x1p64) assert_true(v > 0 ? low <= v && v < high : low < v && v <= high);
    assert_true(fabs(v) < 0x1p64 || at == (v > 0 ? TCT_ESTIMATE_COARSE - 1 : 0));
    int part = tct_estimate_part(v, -3, 5);
    assert_true(part >= 0 && part < TCT_ESTIMATE_FINE);
  }
}

static void bounds_without_noise_hold_the_values(void **state) {
  (void)state;
  double count[TCT_ESTIMATE_FINE] = {0};
  int first, last;
  count[10] = 1000, count[20] = 50000, count[30] = 1000;
  tct_estimate_trim(count, TCT_ESTIMATE_FINE, 1, 0.005, &first, &last);
  assert_true(first == 10 && last == 30);
  tct_estimate_trim(count, TCT_ESTIMATE_FINE, 1, 0.05, &first, &last);
  assert_true(first == 20 && last == 20);
  memset(count, 0, sizeof count);
  tct_estimate_trim(count, TCT_ESTIMATE_FINE, 1, 0.05, &first, &last);
  assert_true(first == 0 && last == TCT_ESTIMATE_FINE - 1);
  count[3] = -9, count[4] = 2;
  tct_estimate_visible(count, TCT_ESTIMATE_FINE, 100, &first, &last);
  assert_true(first == 4 && last == 4);
  count[9] = 400, count[12] = 200, count[40] = 99;
  tct_estimate_visible(count, TCT_ESTIMATE_FINE, 100, &first, &last);
  assert_true(first == 9 && last == 12);
}

/* A thousand records a part, and noise of several hundred: what noise explains would be three thousand. */
static void noise_that_could_hide_values_does_not_cut_them_off(void **state) {
  (void)state;
  double count[TCT_ESTIMATE_FINE] = {0}, low = 64, high = 512;
  int first, last;
  for (int k = 0; k < 20; k++) count[k] = 1000;
  tct_estimate_trim(count, TCT_ESTIMATE_FINE, 730, 0.005, &first, &last);
  assert_true(first == 0 && last == 19);
  tct_estimate_reach_zero(&low, &high);
  assert_true(low == 0 && high == 512);
  low = 1024, high = 2048; /* years stay years */
  tct_estimate_reach_zero(&low, &high);
  assert_true(low == 1024 && high == 2048);
  low = -512, high = -64;
  tct_estimate_reach_zero(&low, &high);
  assert_true(low == -512 && high == 0);
}

/* ---- through the interface --------------------------------------------------------------------------------- */

static tct_config settings(double epsilon, const char *ledger) {
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic", config.epsilon = epsilon, config.delta = 1e-6;
  config.estimate = "bounds:budget_fraction=0.2", config.ledger = ledger;
  return config;
}

static int always(void *user) {
  (void)user;
  return 1;
}

static tct_model *fitted(tct_data *data, tct_config *config, tct_error *err) {
  if (tct_config_use_schema(config, data, NULL, NULL, err) != TCT_OK) return NULL;
  tct_plan *plan = tct_plan_new(config, tct_data_rows(data), tct_data_cols(data), err);
  tct_model *model = plan ? tct_fit(plan, data, err) : NULL;
  tct_plan_free(plan);
  return model;
}

static void the_whole_is_charged_before_anything_is_drawn(void **state) {
  (void)state;
  tct_error err = {0};
  new_ledger(1, NULL);
  tct_data *data = table(NULL, false);
  tct_config config = settings(0.6, "L");
  config.cancel = always; /* asked between the charge and the first draw */
  assert_int_equal(tct_data_estimate(data, &config, &err), TCT_E_CANCELLED);
  assert_int_equal(count_runs(), 1);
  assert_true(config.epsilon == 0.6 && !data->estimated && !data->schema);
  config.cancel = NULL;
  assert_int_equal(tct_data_estimate(data, &config, &err), TCT_E_BUDGET); /* .6 is spent, .6 more is refused */
  assert_int_equal(count_runs(), 1);
  assert_true(config.epsilon == 0.6 && !data->estimated && !data->schema);
  tct_data_free(data);
}

/* Noise from a seed, records of persons, another relation, facts that nothing pays for: the ledger hears of each. */
static void an_estimate_is_charged_for_what_it_is(void **state) {
  (void)state;
  tct_error err = {0};
  int64_t person[PEOPLE];
  for (int i = 0; i < PEOPLE; i++) person[i] = i / 2;
  for (int kind = 0; kind < 4; kind++) {
    new_ledger(1, NULL);
    tct_data *data = table(NULL, false);
    tct_config config = settings(0.6, "L");
    if (kind == 0) config.has_seed = 1;
    if (kind == 1) assert_int_equal(tct_data_weigh(data, NULL, 4, person, &err), TCT_OK);
    if (kind == 2) config.neighbours = TCT_REPLACE_ONE;
    if (kind == 3) assert_int_equal(tct_data_unaccounted(data, "a fact", &err), TCT_OK);
    tct_status status = tct_data_estimate(data, &config, &err);
    if ((status == TCT_OK) != (kind == 3)) fail_msg("kind %d: %s", kind, err.text);
    assert_int_equal(count_runs(), kind == 3);
    tct_data_free(data);
  }
  json_t *root = ledger_now(), *run = json_array_get(json_object_get(root, "runs"), 0);
  const json_t *facts = json_object_get(run, "unaccounted");
  const char *last = json_string_value(json_array_get(facts, json_array_size(facts) - 1));
  assert_string_equal(last, "a fact");
  json_decref(root);
}

/* The fit that follows draws its noise from the system: the bounds were found by noise that anybody can draw again. */
static void a_fit_on_bounds_from_a_seed_says_so(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(NULL, false);
  tct_config config = settings(1, NULL);
  config.has_seed = 1;
  assert_int_equal(tct_data_estimate(data, &config, &err), TCT_OK);
  config.has_seed = 0;
  tct_model *model = fitted(data, &config, &err);
  if (!model) fail_msg("%s", err.text);
  json_t *root = parsed(tct_model_json(model, &err), &err);
  assert_string_equal(json_string_value(json_object_get(json_object_get(root, "privacy"), "noise")), "reproducible");
  json_decref(root);
  tct_model_free(model);
  tct_data_free(data);
}

/* The same table again and again: bounds of counts that hardly show differ by the noise, or there is none of its own.
 */
static void estimates_without_a_seed_have_noise_of_their_own(void **state) {
  (void)state;
  int others[2] = {0, 0};
  for (int seed = 0; seed < 2; seed++) {
    char *first = NULL;
    for (int run = 0; run < 12; run++) {
      tct_error err = {0};
      word = 11;
      tct_data *data = table(NULL, false);
      tct_config config = settings(1, NULL);
      config.has_seed = seed;
      assert_int_equal(tct_data_estimate(data, &config, &err), TCT_OK);
      if (!first) first = tct_text_copy(data->schema);
      others[seed] += strcmp(first, data->schema) != 0;
      tct_data_free(data);
    }
    tct_text_free(first);
  }
  assert_true(others[0] > 0 && others[1] == 0);
}

/* With hardly any noise: as narrow as the values but for a part at each end, also where the table is of floats; a
 * column of zeros has some width. */
static void the_table_is_scaled_by_bounds_about_its_values(void **state) {
  (void)state;
  for (int type = 0; type < 2; type++) {
    char text[1 << 14];
    tct_error err = {0};
    tct_read_options options;
    int at = snprintf(text, sizeof text, "a,zero,y\n");
    for (int i = 0; i < PEOPLE * 10; i++)
      at += snprintf(text + at, sizeof text - (size_t)at, "%.3f,0,%d\n", 2.3 + (i % 10) / 10.0, i % 2);
    tct_read_options_default(&options);
    options.label = "y", options.labels = TCT_LABELS_BINARY, options.value_type = type ? TCT_F32 : TCT_F64;
    tct_data *data = tct_data_read_memory(text, at, 1 << 16, &options, &err);
    tct_config config = settings(1e4, NULL);
    config.has_seed = 1;
    if (!data || tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
    json_t *schema = json_loads(data->schema, 0, NULL), *columns = json_object_get(schema, "columns");
    const json_t *a = json_array_get(columns, 0), *zero = json_array_get(columns, 1);
    double low = json_number_value(json_object_get(a, "lower")), high = json_number_value(json_object_get(a, "upper"));
    assert_true(low > 2.2 && low <= 2.3 && high >= 3.2 && high < 3.3);
    double below = json_number_value(json_object_get(zero, "lower"));
    double above = json_number_value(json_object_get(zero, "upper"));
    assert_true(below <= 0 && above >= 0 && below < above);
    for (int64_t i = 0; i < data->x.rows; i++) {
      tct_row row = tct_row_at(&data->x, i);
      double of_a = tct_row_value(&row, 0), of_zero = tct_row_value(&row, 1);
      assert_float_equal(of_a, (2.3 + (double)(i % 10) / 10 - low) / (high - low), 1e-6);
      assert_float_equal(of_zero, (0 - below) / (above - below), 1e-6);
    }
    json_decref(schema);
    tct_data_free(data);
  }
}

static void a_charge_pays_for_one_fit(void **state) {
  (void)state;
  tct_error err = {0};
  new_ledger(5, NULL);
  tct_data *data = table(NULL, false);
  tct_config config = settings(1, "L");
  if (tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
  assert_true(!config.ledger && !config.estimate && config.epsilon < 0.8 && config.epsilon > 0.799);
  tct_model *model = fitted(data, &config, &err);
  if (!model) fail_msg("%s", err.text);
  assert_true(model->epsilon == 1 && model->delta == 1e-6);
  assert_int_equal(tct_model_write(model, "m.json", &err), TCT_OK);
  assert_int_equal(count_runs(), 1);
  tct_text_free(tct_verify_json("m.json", NULL, "L", NULL, NULL, NULL, &err));
  if (err.status != TCT_OK) fail_msg("%s", err.text);
  tct_model_free(model);
  assert_null(fitted(data, &config, &err));
  assert_int_equal(err.status, TCT_E_BUDGET);
  tct_data_free(data);
}

/* Does verify hold that the estimate is the one which its settings give? */
static bool planned_as_asked(const json_t *root) {
  tct_error err = {0};
  assert_int_equal(json_dump_file(root, "n.json", JSON_REAL_PRECISION(17)), 0);
  json_t *report = parsed(tct_verify_json("n.json", NULL, NULL, NULL, NULL, NULL, &err), &err);
  int is = held(report, "estimate");
  assert_true(is == 1 || (is == 0 && json_is_false(json_object_get(report, "ok"))));
  json_decref(report);
  return is == 1;
}

/* Every figure of it but the fit's own claim, which other checks look at. */
static void an_estimate_that_its_settings_do_not_give_is_refused(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(NULL, false);
  tct_config config = settings(1, NULL);
  if (tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
  tct_model *model = fitted(data, &config, &err);
  if (!model || tct_model_write(model, "m.json", &err) != TCT_OK) fail_msg("%s", err.text);
  json_t *root = json_load_file("m.json", 0, NULL), *was, *value;
  json_t *estimate = json_object_get(json_object_get(root, "privacy"), "estimate");
  const char *key;
  void *next;
  int changed = 0;
  assert_true(planned_as_asked(root));
  was = json_deep_copy(estimate);
  json_object_foreach_safe(was, next, key, value) {
    if (!strcmp(key, "rest")) continue;
    if (json_is_number(value)) json_object_set_new(estimate, key, json_real(0.5 * json_number_value(value)));
    if (json_is_array(value)) json_array_remove(json_object_get(estimate, key), 0);
    if (json_is_string(value)) json_object_set_new(estimate, key, json_string("other"));
    if (json_is_object(value)) continue;
    if (planned_as_asked(root)) fail_msg("'%s' may be another", key);
    json_object_set_new(estimate, key, json_deep_copy(value));
    changed++;
  }
  assert_true(changed >= 3 && planned_as_asked(root));
  json_decref(was);
  json_decref(root);
  tct_model_free(model);
  tct_data_free(data);
}

static void a_real_label_without_bounds_is_a_column_of_the_estimate(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(NULL, true);
  tct_config config = settings(1, NULL);
  config.loss = "squared";
  if (tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
  json_t *certificate = json_loads(data->estimated->certificate, 0, NULL);
  assert_true(number_at(certificate, "asked", "columns") == WIDE + 1);
  assert_true(data->label_low < data->label_high);
  json_t *schema = json_loads(data->schema, 0, NULL), *label = json_object_get(schema, "label");
  assert_true(json_is_true(json_object_get(label, "estimated")) &&
              number_at(schema, "label", "lower") == data->label_low);
  assert_true(number_at(schema, "label", "upper") == data->label_high);
  json_decref(schema);
  json_decref(certificate);
  tct_data_free(data);
}

static void a_fit_that_costs_more_than_is_left_is_refused(void **state) {
  (void)state;
  tct_error err = {0};
  tct_data *data = table(NULL, false);
  tct_config config = settings(1, NULL), again;
  if (tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
  again = config, again.epsilon = 1;
  assert_null(fitted(data, &again, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  again = config, again.neighbours = TCT_REPLACE_ONE;
  assert_null(fitted(data, &again, &err));
  again = settings(1, NULL);
  assert_int_equal(tct_data_estimate(data, &again, &err), TCT_E_USAGE); /* twice */
  assert_non_null(strstr(err.text, "estimated already"));
  tct_data_free(data);
}

/* The estimate has paid for records as they counted then, and for one fit. */
static void a_table_is_weighed_and_relabelled_before_its_estimate_and_not_after(void **state) {
  (void)state;
  tct_error err = {0};
  static double own[PEOPLE];
  tct_data *data = table(NULL, false);
  for (int i = 0; i < PEOPLE; i++) own[i] = i % 3 ? 1 : -1;
  tct_data *before = tct_data_relabel(data, own, TCT_LABELS_BINARY, NULL, 0, 0, &err);
  tct_config config = settings(1, NULL), other = settings(1, NULL);
  assert_non_null(before);
  assert_int_equal(tct_data_estimate(before, &other, &err), TCT_OK);
  assert_true(before->x.values != data->x.values && !data->schema); /* the table is not scaled with it */
  if (tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
  assert_int_equal(tct_data_weigh(data, NULL, 1, NULL, &err), TCT_E_USAGE);
  assert_null(tct_data_relabel(data, own, TCT_LABELS_BINARY, NULL, 0, 0, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  tct_data_free(before);
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_releases_made_are_those_that_were_planned),
      cmocka_unit_test(a_record_moves_each_release_by_at_most_the_planned_length),
      cmocka_unit_test(a_changed_record_moves_each_release_by_at_most_twice_its_length),
      cmocka_unit_test(a_persons_records_together_move_a_release_no_further),
      cmocka_unit_test(the_share_and_the_rest_are_no_more_than_the_whole),
      cmocka_unit_test(the_grid_holds_every_value),
      cmocka_unit_test(bounds_without_noise_hold_the_values),
      cmocka_unit_test(noise_that_could_hide_values_does_not_cut_them_off),
      cmocka_unit_test(the_whole_is_charged_before_anything_is_drawn),
      cmocka_unit_test(an_estimate_is_charged_for_what_it_is),
      cmocka_unit_test(a_fit_on_bounds_from_a_seed_says_so),
      cmocka_unit_test(estimates_without_a_seed_have_noise_of_their_own),
      cmocka_unit_test(the_table_is_scaled_by_bounds_about_its_values),
      cmocka_unit_test(a_charge_pays_for_one_fit),
      cmocka_unit_test(an_estimate_that_its_settings_do_not_give_is_refused),
      cmocka_unit_test(a_real_label_without_bounds_is_a_column_of_the_estimate),
      cmocka_unit_test(a_fit_that_costs_more_than_is_left_is_refused),
      cmocka_unit_test(a_table_is_weighed_and_relabelled_before_its_estimate_and_not_after),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
