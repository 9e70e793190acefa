/* test_estimate_lists.c - estimated lists of categories: what a record moves, what a text of its own costs, and how the
 * records come out of it. */
#include "../fault/ledger_help.h"

#include "core/digest.h"
#include "estimate/estimate.h"
#include "la/matrix/rows_access.h"
#include "mech/mech.h"
#include "read/format/reader.h"

#include <math.h>
#include <string.h>

enum { PEOPLE = 400, LISTS = 3, TEXTS = 64 };

static const char schema[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"estimate\": true, \"missing\": \"estimate\"},"
    "{\"name\": \"k\", \"type\": \"category\", \"estimate\": true, \"missing\": \"estimate\"},"
    "{\"name\": \"known\", \"type\": \"category\", \"values\": [\"u\", \"v\"], \"other\": \"zero\"},"
    "{\"name\": \"l\", \"type\": \"category\", \"estimate\": true, \"missing\": \"zero\"},"
    "{\"name\": \"m\", \"type\": \"category\", \"estimate\": true},"
    "{\"name\": \"b\", \"type\": \"number\", \"lower\": 0, \"upper\": 10}],"
    "\"label\": {\"name\": \"y\", \"values\": [\"0\", \"1\"], \"positive\": \"1\"}}";

static uint64_t word = 3;
static uint64_t next_word(void) {
  word = word * 6364136223846793005u + 1442695040888963407u;
  return word >> 24;
}

static char text[1 << 17];

/* own: the texts of the first record in the columns without lists, or NULL. */
static int write_table(const char *const *own, bool gaps) {
  static const char *const common[] = {"Ulm", "Bonn", "RomA", "Rom"}; /* one begins another */
  int at = snprintf(text, sizeof text, "a,k,known,l,m,b,y\n");
  for (int i = 0; i < PEOPLE; i++) {
    const char *cell[LISTS];
    for (int l = 0; l < LISTS; l++) cell[l] = i == 0 && own ? own[l] : common[next_word() % 4];
    bool gap = gaps && next_word() % 5 == 0;
    at += snprintf(text + at, sizeof text - (size_t)at, "%s,%s,%s,%s,%s,%.1f,%d\n",
                   gap     ? ""
                   : i % 2 ? "3.25"
                           : "7.5",
                   gap ? "" : cell[0], i % 3 ? "u" : "w", gaps && i % 7 == 0 ? "" : cell[1], cell[2], (double)(i % 11),
                   i % 2);
  }
  return at;
}

static tct_data *read_table(const char *how) {
  tct_error err = {0};
  tct_read_options options;
  tct_read_options_default(&options);
  options.schema_text = how;
  options.labels = TCT_LABELS_BINARY;
  tct_data *data = tct_data_read_memory(text, (int64_t)strlen(text), 1 << 16, &options, &err);
  if (!data) fail_msg("%s", err.text);
  return data;
}

static tct_data *table(const char *const *own) {
  write_table(own, false);
  return read_table(schema);
}

static int64_t features[] = {0}, lists[LISTS] = {1, 4, 5}, columns[LISTS] = {1, 3, 4};
static const tct_open what = {.feature = features, .count = 1, .list = lists, .column = columns, .lists = LISTS};

static tct_estimate_plan planned_beside(int bounds, double epsilon, double delta, tct_neighbours relation) {
  tct_error err = {0};
  tct_estimate_plan plan;
  const char *spec = bounds ? "bounds,missing,categories:budget_fraction=0.9" : "categories:budget_fraction=0.9";
  tct_estimate_asked asked = {spec, epsilon, delta, relation, PEOPLE, bounds, LISTS, 0};
  if (tct_estimate_plan_make(&asked, &plan, &err) != TCT_OK) fail_msg("%s", err.text);
  return plan;
}

static tct_estimate_plan planned(double epsilon, double delta, tct_neighbours relation) {
  return planned_beside(1, epsilon, delta, relation);
}

/* The counts of texts before their noise. */
typedef struct seen {
  int releases;
  int64_t len;
  double before[TEXTS], sensitivity, add;
  tct_event event;
} seen;

static void watch(void *user, const tct_event *event, double sensitivity, const double *before, double *after,
                  int64_t len) {
  seen *s = user;
  if (s->releases++ < 2) return;
  assert_true(len <= TEXTS);
  s->len = len, s->sensitivity = sensitivity, s->event = *event;
  memcpy(s->before, before, (size_t)len * sizeof *before);
  if (s->add != 0)
    for (int64_t j = 0; j < len; j++) after[j] = before[j] + s->add;
}

/* The lists that come out, as one text. */
static char *release(const tct_data *data, const tct_estimate_plan *plan, uint64_t seed, seen *s) {
  tct_error err = {0};
  tct_mech *mech = NULL;
  tct_found found;
  if (tct_mech_new(&plan->promise, plan->neighbours, &seed, &mech, &err) != TCT_OK) fail_msg("%s", err.text);
  if (s) tct_mech_probe_test(mech, watch, s);
  assert_int_equal(tct_found_make(plan, data, &found, &err), TCT_OK);
  if (tct_estimate_release(plan, data, &what, mech, &found, &err) != TCT_OK) fail_msg("%s", err.text);
  json_t *all = json_array();
  for (int l = 0; l < LISTS; l++) json_array_append(all, found.list[l]);
  char *out = json_dumps(all, JSON_COMPACT);
  json_decref(all);
  tct_found_free(&found, LISTS);
  tct_mech_free(mech);
  return out;
}

static void one(tct_data *data, int64_t out) {
  tct_error err = {0};
  static double weight[PEOPLE];
  for (int i = 0; i < PEOPLE; i++) weight[i] = i == out ? 0 : 1;
  assert_int_equal(tct_data_weigh(data, weight, 1, NULL, &err), TCT_OK);
}

/* One count a column, whatever the record's texts are and whether others have them. */
static void a_record_moves_the_counts_by_the_planned_length(void **state) {
  (void)state;
  static seen with, without;
  static const char *const alone[LISTS] = {"Xi", "Psi", "\xff\xfe"};
  tct_estimate_plan plan = planned(1, 1e-5, TCT_ADD_REMOVE);
  for (int turn = 0; turn < 20; turn++) {
    tct_data *data = table(turn % 2 ? alone : NULL);
    memset(&with, 0, sizeof with), memset(&without, 0, sizeof without);
    free(release(data, &plan, 5, &with));
    one(data, turn % 2 ? 0 : (int64_t)(next_word() % PEOPLE));
    free(release(data, &plan, 5, &without));
    double square = 0;
    assert_true(with.len == without.len && with.releases == 3);
    for (int64_t j = 0; j < with.len; j++)
      square += (with.before[j] - without.before[j]) * (with.before[j] - without.before[j]);
    assert_true(sqrt(square) <= plan.promise.release[2].sensitivity);
    assert_true(sqrt(square) >= plan.promise.release[2].sensitivity * (1 - 1e-9));
    assert_true(with.sensitivity == plan.promise.release[2].sensitivity);
    assert_true(tct_event_same(&with.event, &plan.promise.release[2].event));
    tct_data_free(data);
  }
  tct_estimate_plan_free(&plan);
}

/* A weight that is no multiple of the lattice is cut to one below it: the gate refuses a sum that lies off. */
static void weights_are_cut_to_the_lattice(void **state) {
  (void)state;
  tct_error err = {0};
  static seen s;
  static double weight[PEOPLE];
  tct_estimate_plan plan = planned(1, 1e-5, TCT_ADD_REMOVE);
  tct_data *data = table(NULL);
  for (int i = 0; i < PEOPLE; i++) weight[i] = 1.0 / 3;
  assert_int_equal(tct_data_weigh(data, weight, 1, NULL, &err), TCT_OK);
  memset(&s, 0, sizeof s);
  free(release(data, &plan, 5, &s));
  double sum = 0;
  for (int64_t j = 0; j < s.len; j++) sum += s.before[j];
  assert_true(sum <= LISTS * PEOPLE / 3.0 && sum > LISTS * PEOPLE / 3.0 * (1 - 1e-6));
  tct_estimate_plan_free(&plan);
  tct_data_free(data);
}

/* The releases, of lists alone or of bounds too, and the texts of one record alone cost the estimate's share. */
static void the_releases_and_the_threshold_cost_what_the_estimate_may_spend(void **state) {
  (void)state;
  static const double budgets[] = {0.05, 1, 8}, deltas[] = {1e-12, 1e-6, 0.1};
  for (int k = 0; k < 36; k++) {
    tct_error err = {0};
    tct_cost cost;
    tct_neighbours relation = k % 2 ? TCT_REPLACE_ONE : TCT_ADD_REMOVE;
    int bounds = k / 18 ? 0 : 2; /* releases of theirs */
    tct_estimate_plan p = planned_beside(bounds / 2, budgets[k / 2 % 3], deltas[k / 6 % 3], relation);
    assert_int_equal(p.promise.count, bounds + 1);
    assert_true(p.list_delta > 0 && p.list_delta < p.own_delta);
    double left = p.own_delta - p.list_delta;
    assert_int_equal(tct_account_epsilon(&p.promise.events, relation, left, 1e-9, &cost, &err), TCT_OK);
    assert_true(cost.epsilon <= p.own_epsilon * (1 + 1e-9) && cost.epsilon > 0.99 * p.own_epsilon);
    const tct_release *r = &p.promise.release[bounds];
    double chance = LISTS * erfc((p.threshold - 1 - r->lattice) / (tct_release_deviation(r) * sqrt(2))) / 2;
    if (!(chance <= p.list_delta && chance > 0.99 * p.list_delta))
      fail_msg("a text alone is listed with a chance of %g, and %g is paid for", chance, p.list_delta);
    json_t *certificate = tct_estimate_certificate(&p);
    assert_int_equal(json_array_size(json_object_get(certificate, "events")), 2);
    tct_estimate_plan again;
    assert_int_equal(tct_estimate_plan_again(certificate, &again, &err), TCT_OK);
    assert_true(again.threshold == p.threshold && again.lists == LISTS);
    json_decref(certificate);
    tct_estimate_plan_free(&again);
    tct_estimate_plan_free(&p);
  }
}

/* Texts that one record alone has, three of them, at a delta so large that it can be seen: some are listed in the part
 * of the runs that was paid for, and never where the record is away.  Error rate 1e-6. */
static void a_text_of_one_record_is_listed_as_seldom_as_was_paid_for(void **state) {
  (void)state;
  static const char *const alone[LISTS] = {"Xi", "Psi", "Phi"};
  enum { RUNS = 1500 };
  tct_estimate_plan plan = planned(3, 0.4, TCT_ADD_REMOVE);
  tct_data *with = table(alone), *without = table(NULL);
  int listed = 0;
  for (int k = 0; k < RUNS; k++) {
    char *a = release(with, &plan, (uint64_t)k + 1, NULL), *b = release(without, &plan, (uint64_t)k + 1, NULL);
    listed += strstr(a, "Xi") || strstr(a, "Psi") || strstr(a, "Phi");
    assert_true(!strstr(b, "Xi") && !strstr(b, "Psi") && !strstr(b, "Phi"));
    free(a);
    free(b);
  }
  double paid = plan.list_delta, spread = sqrt(paid * (1 - paid) / RUNS), share = (double)listed / RUNS;
  if (!(share < paid + 5 * spread && share > 0.7 * paid)) fail_msg("%g of the runs, and %g is paid for", share, paid);
  tct_estimate_plan_free(&plan);
  tct_data_free(with);
  tct_data_free(without);
}

/* Whatever the noise, a count decides by the threshold alone, and a text that is no UTF-8 is never listed. */
static void what_is_above_the_threshold_is_listed_and_nothing_else(void **state) {
  (void)state;
  static seen s;
  static const char *const alone[LISTS] = {"Xi", "\xff\xfe", "Xi"};
  tct_estimate_plan plan = planned(1, 1e-5, TCT_ADD_REMOVE);
  tct_data *data = table(alone);
  memset(&s, 0, sizeof s);
  s.add = plan.threshold - 1; /* the text alone is at the threshold, and not above it */
  char *out = release(data, &plan, 5, &s);
  assert_string_equal(
      out,
      "[[\"Bonn\",\"Rom\",\"RomA\",\"Ulm\"],[\"Bonn\",\"Rom\",\"RomA\",\"Ulm\"],[\"Bonn\",\"Rom\",\"RomA\",\"Ulm\"]]");
  free(out);
  s.releases = 0, s.add = plan.threshold;
  out = release(data, &plan, 5, &s);
  assert_string_equal(out,
                      "[[\"Bonn\",\"Rom\",\"RomA\",\"Ulm\",\"Xi\"],[\"Bonn\",\"Rom\",\"RomA\",\"Ulm\"],"
                      "[\"Bonn\",\"Rom\",\"RomA\",\"Ulm\",\"Xi\"]]");
  free(out);
  tct_estimate_plan_free(&plan);
  tct_data_free(data);
}

static tct_config settings(double epsilon) {
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic", config.epsilon = epsilon, config.delta = 1e-6, config.has_seed = 1, config.seed = 7;
  config.estimate = "bounds,missing,categories:budget_fraction=0.5";
  return config;
}

/* The records after the estimate are those that reading under the schema that was found gives. */
static void the_records_are_encoded_as_the_schema_found_encodes_them(void **state) {
  (void)state;
  for (int turn = 0; turn < 3; turn++) { /* in the last no text is seen, and no column of a list is a feature */
    tct_error err = {0};
    bool gaps = turn == 1;
    write_table(NULL, gaps);
    tct_data *data = read_table(schema);
    tct_config config = settings(turn == 2 ? 0.05 : 200);
    if (tct_data_estimate(data, &config, &err) != TCT_OK) fail_msg("%s", err.text);
    tct_data *again = read_table(data->schema);
    assert_int_equal(data->x.cols, again->x.cols);
    assert_true(turn == 2 ? data->x.cols == 1 + 2 + 1 : data->x.cols >= 1 + 4 + 2 + 4 + 4 + 1);
    assert_true(data->open == 0 && !data->words);
    if (gaps) assert_non_null(strstr(data->schema, TCT_MISSING_WORD));
    for (int64_t j = 0; j < data->x.cols; j++)
      assert_string_equal(tct_data_feature(data, j), tct_data_feature(again, j));
    for (int64_t i = 0; i < PEOPLE; i++) {
      tct_row a = tct_row_at(&data->x, i), b = tct_row_at(&again->x, i);
      for (int64_t j = 0; j < data->x.cols; j++) {
        int64_t at = tct_lower_bound(&a, j), bt = tct_lower_bound(&b, j);
        double x = at < a.n && tct_row_column(&a, at) == j ? tct_row_value(&a, at) : 0;
        double y = bt < b.n && tct_row_column(&b, bt) == j ? tct_row_value(&b, bt) : 0;
        assert_true(x == y);
      }
    }
    tct_data_free(again);
    tct_data_free(data);
  }
}

static void refused(const char *how, const char *estimate, const char *sentence) {
  tct_error err = {0};
  tct_data *data = read_table(how);
  tct_config config = settings(1);
  config.estimate = estimate;
  assert_int_equal(tct_data_estimate(data, &config, &err), TCT_E_USAGE);
  if (!strstr(err.text, sentence)) fail_msg("%s: %s", estimate, err.text);
  assert_true(data->open > 0 && !data->estimated); /* and a fit on it is refused */
  tct_data_free(data);
}

static void what_spec_and_schema_do_not_agree_about_is_refused(void **state) {
  (void)state;
  write_table(NULL, false);
  refused(schema, "bounds,missing", "leaves lists to the estimate");
  refused(schema, "missing,categories", "columns without bounds");
  refused(schema, "bounds,categories", "leaves missing values to the estimate");
  refused(schema, "missing", "found with bounds or lists");
  refused(schema, "bounds,bounds,categories", "each once");
  refused(schema, "bounds,scales", "nothing else");
  tct_error err = {0};
  tct_data *data = read_table(schema);
  static int64_t person[PEOPLE];
  tct_config config = settings(1);
  for (int i = 0; i < PEOPLE; i++) person[i] = i / 2;
  assert_int_equal(tct_data_weigh(data, NULL, 2, person, &err), TCT_OK);
  assert_int_equal(tct_data_estimate(data, &config, &err), TCT_E_USAGE);
  assert_non_null(strstr(err.text, "not of persons"));
  tct_data_free(data);
}

static void the_whole_is_charged_before_a_text_is_counted(void **state) {
  (void)state;
  tct_error err = {0};
  new_ledger(1, NULL);
  write_table(NULL, false);
  tct_data *data = read_table(schema);
  tct_config config = settings(2);
  config.ledger = "L", config.has_seed = 0;
  assert_int_equal(tct_data_estimate(data, &config, &err), TCT_E_BUDGET);
  assert_true(data->words && data->open > 0 && !data->estimated && count_runs() == 0);
  tct_data_free(data);
}

/* What pays for a text that one record alone has stands among the events that the certificate names. */
static void the_certificate_names_what_the_lists_may_fail_by(void **state) {
  (void)state;
  char event[80];
  tct_estimate_plan plan = planned(1, 1e-5, TCT_ADD_REMOVE);
  json_t *root = tct_estimate_certificate(&plan), *events = json_object_get(root, "events");
  double named = 0;
  snprintf(event, sizeof event, "%s", json_string_value(json_array_get(events, json_array_size(events) - 1)));
  assert_int_equal(sscanf(event, "approx:epsilon=0,delta=%lf", &named), 1);
  assert_true(named == plan.list_delta && named > 0 && named < plan.own_delta);
  assert_true(number_at(root, "lists", "threshold") == plan.threshold && number_at(root, "lists", "delta") == named);
  json_decref(root);
  tct_estimate_plan_free(&plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_certificate_names_what_the_lists_may_fail_by),
      cmocka_unit_test(a_record_moves_the_counts_by_the_planned_length),
      cmocka_unit_test(weights_are_cut_to_the_lattice),
      cmocka_unit_test(the_releases_and_the_threshold_cost_what_the_estimate_may_spend),
      cmocka_unit_test(a_text_of_one_record_is_listed_as_seldom_as_was_paid_for),
      cmocka_unit_test(what_is_above_the_threshold_is_listed_and_nothing_else),
      cmocka_unit_test(the_records_are_encoded_as_the_schema_found_encodes_them),
      cmocka_unit_test(what_spec_and_schema_do_not_agree_about_is_refused),
      cmocka_unit_test(the_whole_is_charged_before_a_text_is_counted),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
