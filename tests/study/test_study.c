/* test_study.c - a study: its price is a plain enumeration's, what it says it spends, and what reaches a stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stage/study_file.h"
#include "tacit.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 600 };
static char folder[] = "/tmp/tct_study_XXXXXX";

static uint32_t state = 1;
static double uniform(void) {
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / (1 << 24);
}

static char *name_of(const char *file) {
  static char path[4][300];
  static int turn;
  char *at = path[turn++ % 4];
  snprintf(at, 300, "%s/%s", folder, file);
  return at;
}

/* Columns a, b, ill (0 or 1), income, kind (x, y or z).  other: income is shifted; odd: so are the held-out rows. */
static char *table(const char *file, double other, const unsigned char *held) {
  char *path = name_of(file);
  FILE *f = fopen(path, "w");
  state = 7;
  fputs("a,b,ill,income,kind\n", f);
  for (int i = 0; i < ROWS; i++) {
    double a = uniform(), b = uniform(), u = uniform();
    if (held && held[i]) a = 1 - a;
    fprintf(f, "%.6f,%.6f,%d,%.3f,%c\n", a, b, u < a, 100 * a + 50 * b + other, 'x' + (int)(2.99 * b));
  }
  fclose(f);
  return path;
}

#define KNOWN                                                                   \
  "\"schema\": {\"columns\": ["                                                 \
  "{\"name\": \"a\", \"type\": \"number\", \"lower\": 0, \"upper\": 1},"        \
  "{\"name\": \"b\", \"type\": \"number\", \"lower\": 0, \"upper\": 1},"        \
  "{\"name\": \"ill\", \"type\": \"ignore\"},"                                  \
  "{\"name\": \"income\", \"type\": \"number\", \"lower\": 0, \"upper\": 500}," \
  "{\"name\": \"kind\", \"type\": \"category\", \"values\": [\"x\", \"y\", \"z\"]}]},"
#define OPEN                                                             \
  "\"schema\": {\"columns\": ["                                          \
  "{\"name\": \"a\", \"type\": \"number\", \"estimate\": true},"         \
  "{\"name\": \"b\", \"type\": \"number\", \"lower\": 0, \"upper\": 1}," \
  "{\"name\": \"ill\", \"type\": \"ignore\"},"                           \
  "{\"name\": \"income\", \"type\": \"number\", \"estimate\": true},"    \
  "{\"name\": \"kind\", \"type\": \"category\", \"values\": [\"x\", \"y\", \"z\"]}]},"
#define ILL \
  "{\"name\": \"ill\", \"kind\": \"fit\", \"label\": \"ill\", \"loss\": \"logistic\", \"features\": [\"a\", \"b\"]}"
#define INCOME                                                                                                     \
  "{\"name\": \"income\", \"kind\": \"fit\", \"label\": \"income\", \"loss\": \"squared\", \"features\": [\"a\", " \
  "\"b\"]}"
#define CLASSES                                                                                                  \
  "{\"name\": \"which\", \"kind\": \"fit\", \"label\": \"kind\", \"loss\": \"logistic\", \"features\": [\"a\", " \
  "\"b\"]}"
#define SCORE "{\"name\": \"score\", \"kind\": \"score\", \"of\": \"ill\"}"
#define ESTIMATE "{\"name\": \"bounds\", \"kind\": \"estimate\"}"
#define MOMENTS "{\"name\": \"moments\", \"kind\": \"moments\"}"
#define STUDY(MORE, STAGES) "{\"epsilon\": 1, \"delta\": 1e-6, " MORE "\"stages\": [" STAGES "]}"

static tct_study *parse(const char *asked) {
  tct_error err = {0};
  tct_study *study = tct_study_parse(asked, &err);
  if (!study) fail_msg("%s", err.text);
  return study;
}

static tct_study *plan(const char *asked) {
  tct_error err = {0};
  tct_study *study = parse(asked);
  if (tct_study_plan(study, ROWS, &err) != TCT_OK) fail_msg("%s", err.text);
  return study;
}

/* As a solver whose weights are no numbers. */
static tct_status leave_the_range(tct_stage *stage, const tct_stage_data *data, tct_error *err) {
  (void)stage;
  (void)data;
  err->status = TCT_E_RUN;
  return TCT_E_RUN;
}

/* The file of a seeded run, parsed; ending: a stage that leaves the range of numbers, or -1. */
static json_t *run_ending(const char *asked, const char *path, uint64_t seed, int ending) {
  tct_error err = {0};
  tct_config config;
  tct_study *study = parse(asked);
  tct_stage_kind ends = *study->stage[0].kind;
  tct_config_default(&config);
  config.has_seed = 1, config.seed = seed, config.threads = 1;
  ends.run = leave_the_range;
  if (ending >= 0) study->stage[ending].kind = &ends;
  const tct_study_input input = {path, NULL, NULL};
  char *text = tct_study_carry(study, &input, &config, NULL, &err);
  if (!text) fail_msg("%s", err.text);
  json_t *file = json_loads(text, 0, NULL);
  tct_text_free(text);
  tct_study_free(study);
  assert_non_null(file);
  return file;
}

static json_t *run(const char *asked, const char *path, uint64_t seed) { return run_ending(asked, path, seed, -1); }

static const json_t *stage_of(const json_t *file, size_t k) {
  return json_array_get(json_object_get(file, "stages"), k);
}

/* ---- the price -------------------------------------------------------------------------------------------------- */

/* P(N > x) by itself, and the curve of Gaussian steps: nothing of the accountants. */
static long double tail(long double x) { return erfcl(x / sqrtl(2)) / 2; }
static long double delta_of(long double mu, long double epsilon) {
  return tail(epsilon / mu - mu / 2) - expl(epsilon) * tail(epsilon / mu + mu / 2);
}

static double epsilon_of(long double mu, long double delta) {
  long double low = 0, high = 200;
  for (int k = 0; k < 200; k++) {
    long double middle = (low + high) / 2;
    *(delta_of(mu, middle) > delta ? &low : &high) = middle;
  }
  return (double)high;
}

/* Law 16. */
static void the_price_of_gaussian_lists_is_the_enumeration(void **unused) {
  (void)unused;
  for (int turn = 0; turn < 500; turn++) {
    tct_events list = {0};
    long double square = 0;
    tct_neighbours relation = uniform() < 0.5 ? TCT_ADD_REMOVE : TCT_REPLACE_ONE;
    double delta = pow(10, -2 - 8 * uniform()), price;
    for (int k = 1 + (int)(12 * uniform()); k > 0; k--) {
      tct_event e = tct_event_gaussian(exp(1 + 4 * uniform()), 1 + (int64_t)(40 * uniform()));
      long double mu = (relation == TCT_REPLACE_ONE ? 2 : 1) / (long double)e.noise;
      square += (long double)e.count * mu * mu;
      assert_int_equal(tct_events_add(&list, e, NULL), TCT_OK);
    }
    tct_whole whole = {INFINITY, delta, relation, NULL, false};
    assert_int_equal(tct_price(&list, &whole, &price, NULL), TCT_OK);
    double plain = epsilon_of(sqrtl(square), delta);
    if (fabs(price - plain) > 1e-9 * fmax(plain, 1e-3)) fail_msg("%.17g, enumerated %.17g", price, plain);
    tct_events_free(&list);
  }
}

static double square_of(const tct_study *study) {
  tct_events list = {0};
  double square = 0, moves = study->neighbours == TCT_REPLACE_ONE ? 2 : 1;
  assert_int_equal(tct_study_events(study, &list, NULL), TCT_OK);
  for (int64_t i = 0; i < list.len; i++) {
    assert_int_equal(list.at[i].kind, TCT_EV_GAUSSIAN);
    square += (double)list.at[i].count * moves * moves / (list.at[i].noise * list.at[i].noise);
  }
  tct_events_free(&list);
  return square;
}

static void all_stages_together_spend_the_whole_and_no_more(void **unused) {
  (void)unused;
  const char *const studies[] = {STUDY(KNOWN, ILL "," INCOME "," CLASSES "," SCORE), STUDY(KNOWN, MOMENTS),
                                 STUDY(OPEN "\"neighbours\": \"replace_one\",", ESTIMATE "," MOMENTS "," ILL),
                                 STUDY(OPEN, ESTIMATE "," ILL "," INCOME "," SCORE),
                                 STUDY(OPEN "\"neighbours\": \"replace_one\",", ESTIMATE "," ILL "," INCOME)};
  for (size_t k = 0; k < sizeof studies / sizeof *studies; k++) {
    tct_study *study = plan(studies[k]);
    double price = epsilon_of(sqrt(square_of(study)), 1e-6);
    assert_true(price <= 1 + 1e-12);
    assert_true(price > 0.995);
    tct_study_free(study);
  }
}

static void equal_analyses_get_more_than_their_part(void **unused) {
  (void)unused;
  char six[4000] = "", one[300];
  for (int k = 0; k < 6; k++) {
    snprintf(one, sizeof one, "%s{\"name\": \"%d\", \"kind\": \"fit\", \"label\": \"ill\", \"loss\": \"logistic\"}",
             k ? "," : "", k);
    strcat(six, one);
  }
  char asked[6000];
  snprintf(asked, sizeof asked, STUDY(KNOWN, "%s"), six);
  tct_study *study = plan(asked);
  for (int k = 0; k < 6; k++) {
    assert_true(study->stage[k].share.epsilon > 0.38); /* added up: 0.167 */
    assert_true(study->stage[k].share.epsilon == study->stage[0].share.epsilon);
  }
  tct_study_free(study);
}

static void fractions_are_parts_of_mu_squared(void **unused) {
  (void)unused;
  tct_study *study = plan(STUDY(
      KNOWN,
      "{\"name\": \"a\", \"kind\": \"fit\", \"label\": \"ill\", \"loss\": \"logistic\", \"budget_fraction\": 0.64}," ILL
      "," SCORE));
  double mu = study->stage[0].share.mu, rest = study->stage[1].share.mu;
  assert_true(fabs(mu * mu / (mu * mu + 2 * rest * rest) - 0.64) < 1e-12);
  tct_study_free(study);
}

/* A reserve counts as a Gaussian of its mu, twice as far where a record is replaced; the plan made later is within it.
 */
static void a_deferred_plan_is_within_its_reserve(void **unused) {
  (void)unused;
  for (int replace = 0; replace < 2; replace++) {
    tct_error err = {0};
    tct_study *study =
        plan(replace ? STUDY(OPEN "\"neighbours\": \"replace_one\",", ESTIMATE "," ILL "," MOMENTS "," CLASSES)
                     : STUDY(OPEN, ESTIMATE "," ILL "," MOMENTS "," CLASSES));
    for (int k = 1; k < 3; k++) {
      tct_stage *stage = &study->stage[k];
      assert_int_equal(stage->counts, TCT_COUNTS_MU);
      assert_int_equal(stage->events.len, 1);
      assert_true(fabs((1 + replace) / stage->events.at[0].noise - stage->share.mu) < 1e-15);
      if (tct_study_plan_deferred(stage, &err) != TCT_OK) fail_msg("%s", err.text);
      stage->share.mu *= 0.99; /* a plan for more than that is refused */
      assert_int_equal(tct_study_plan_deferred(stage, &err), TCT_E_BUDGET);
    }
    tct_study_free(study);
  }
}

/* Half the delta to reserves in epsilon at most, and the accountants prove the whole. */
static void other_events_after_an_estimate_are_one_approximate_step(void **unused) {
  (void)unused;
  tct_study *study = plan(STUDY(OPEN, ESTIMATE ",{\"name\": \"a\", \"kind\": \"fit\", \"label\": \"ill\", \"loss\": "
                                               "\"logistic\", \"features\": [\"a\"], \"solver\": \"objpert\", "
                                               "\"penalty\": \"l2:lambda=0.1\"}"));
  assert_int_equal(study->stage[1].counts, TCT_COUNTS_EPSILON);
  assert_int_equal(study->stage[1].events.at[0].kind, TCT_EV_APPROX);
  assert_true(study->stage[1].events.at[0].delta <= 0.5e-6);
  assert_true(study->stage[1].share.epsilon < 1);
  tct_study_free(study);
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

static void the_same_seed_gives_the_same_bytes(void **unused) {
  (void)unused;
  char *path = table("one.csv", 0, NULL);
  json_t *a = run(STUDY(OPEN, ESTIMATE "," ILL "," INCOME "," CLASSES "," SCORE "," MOMENTS), path, 5),
         *b = run(STUDY(OPEN, ESTIMATE "," ILL "," INCOME "," CLASSES "," SCORE "," MOMENTS), path, 5),
         *c = run(STUDY(OPEN, ESTIMATE "," ILL "," INCOME "," CLASSES "," SCORE "," MOMENTS), path, 6);
  assert_true(json_equal(a, b));
  assert_false(json_equal(json_object_get(stage_of(a, 1), "model"), json_object_get(stage_of(c, 1), "model")));
  json_decref(a);
  json_decref(b);
  json_decref(c);
}

/* The file of one fit alone is a model file, with the bits of a run of tct_fit. */
static void one_fit_alone_is_a_model(void **unused) {
  (void)unused;
  tct_error err = {0};
  tct_config config;
  tct_read_options options;
  json_t *file = run(STUDY(KNOWN, ILL), table("one.csv", 0, NULL), 5);
  json_t *schema = json_object_get(json_object_get(file, "transforms"), "schema");
  char *text = json_dumps(schema, 0);
  tct_read_options_default(&options);
  options.labels = TCT_LABELS_CLASSES, options.schema_text = text;
  tct_data *data = tct_data_read(name_of("one.csv"), &options, &err);
  if (!data) fail_msg("%s", err.text);
  tct_config_default(&config);
  config.loss = "logistic", config.epsilon = 1, config.delta = 1e-6;
  config.has_seed = 1, config.seed = 5, config.threads = 1;
  assert_int_equal(tct_config_use_schema(&config, data, NULL, NULL, &err), TCT_OK);
  tct_plan *own = tct_plan_new(&config, ROWS, 2, &err);
  tct_model *model = own ? tct_fit(own, data, &err) : NULL;
  if (!model) fail_msg("%s", err.text);
  char *again = tct_model_json(model, &err);
  json_t *other = json_loads(again, 0, NULL);
  assert_true(json_equal(file, other));
  tct_text_free(again);
  json_decref(other);
  tct_model_free(model);
  tct_plan_free(own);
  tct_data_free(data);
  free(text);
  json_decref(file);
}

/* Adding a stage, and another outcome's numbers, change nothing of the noise and the values of a stage. */
static void what_another_stage_reads_does_not_reach_a_stage(void **unused) {
  (void)unused;
  json_t *a = run(STUDY(KNOWN, ILL "," INCOME), table("one.csv", 0, NULL), 5),
         *b = run(STUDY(KNOWN, ILL "," INCOME), table("two.csv", 100, NULL), 5);
  assert_true(json_equal(stage_of(a, 0), stage_of(b, 0)));
  assert_false(json_equal(stage_of(a, 1), stage_of(b, 1)));
  json_decref(a);
  json_decref(b);
  unsigned char held[ROWS];
  assert_int_equal(tct_held_draw(ROWS, 0.25, &(uint64_t){5}, held, NULL), TCT_OK);
  const char *split =
      STUDY(KNOWN "\"held\": 0.25,",
            "{\"name\": \"ill\", \"kind\": \"fit\", \"label\": \"ill\", \"loss\": \"logistic\", \"features\": "
            "[\"a\", \"b\"], \"part\": \"train\"},"
            "{\"name\": \"score\", \"kind\": \"score\", \"of\": \"ill\", \"part\": \"held\"}");
  a = run(split, table("one.csv", 0, NULL), 5), b = run(split, table("two.csv", 0, held), 5);
  assert_true(json_equal(stage_of(a, 0), stage_of(b, 0)));
  assert_false(json_equal(stage_of(a, 1), stage_of(b, 1)));
  json_decref(a);
  json_decref(b);
}

/* Noise leads the first fit out of the range of numbers, and the others are released; the claim is of all. */
static void a_stage_that_ends_takes_nothing_along(void **unused) {
  (void)unused;
  json_t *file = run_ending(STUDY(KNOWN, ILL "," SCORE "," CLASSES), table("one.csv", 0, NULL), 5, 0);
  assert_string_equal(json_string_value(json_object_get(stage_of(file, 0), "ended")),
                      tct_stage_endings[TCT_ENDED_RANGE]);
  assert_string_equal(json_string_value(json_object_get(stage_of(file, 1), "ended")),
                      tct_stage_endings[TCT_ENDED_WITHOUT]);
  assert_non_null(json_object_get(stage_of(file, 2), "model"));
  assert_true(json_number_value(json_object_get(json_object_get(file, "claim"), "epsilon")) == 1);
  json_dump_file(file, name_of("ended.json"), JSON_REAL_PRECISION(17));
  tct_error err = {0};
  char *checks = tct_verify_json(name_of("ended.json"), NULL, NULL, NULL, NULL, NULL, &err);
  if (!checks || err.status != TCT_OK) fail_msg("%s", err.text);
  tct_text_free(checks);
  tct_model *none = tct_model_read(name_of("ended.json"), NULL, "ill", &err);
  assert_null(none);
  assert_non_null(strstr(err.text, "ended without a model"));
  json_decref(file);
}

#define PERSON                                                                                             \
  "\"One person: all of that person's records together removed; the number of records and the schema are " \
  "public.\""

/* One edit each, and the sentence of its check.  file 1 has no fit: no main stage, and no unit but the study's.  value
 * NULL: the key is taken away. */
static void each_edit_of_the_file_is_refused_by_the_check_for_it(void **unused) {
  (void)unused;
  static const struct {
    int file;
    const char *in, *key, *value, *word;
  } edits[] = {
      {0, NULL, "extra", "1", "'extra' is not there"},
      {0, NULL, "rules", "2", "rules that are not known"},
      {0, NULL, "main", "\"income\"", "'main' of the whole"},
      {0, NULL, "main", "null", "'main' of the whole"},
      {1, NULL, "main", "\"moments\"", "'main' of the whole"},
      {0, NULL, "library", "null", "'library' of the whole"},
      {0, "claim", "extra", "1", "'extra' is not there"},
      {0, "claim", "epsilon", "0.5", "'epsilon' of the whole"},
      {0, "claim", "delta", "1e-9", "'delta' of the whole"},
      {0, "claim", "neighbours", "\"replace_one\"", "'neighbours' of the whole"},
      {0, "claim", "accountant", "\"zcdp\"", "'accountant' of the whole"},
      {0, "claim", "events", "[]", "'events' of the whole"},
      {0, "claim", "noise", "\"system\"", "'trust' of the whole"},
      {0, "claim", "trust", "\"Nobody needs to trust anybody.\"", "'trust' of the whole"},
      {0, "claim", "unit", "\"One household.\"", "'unit' of the whole"},
      {1, "claim", "unit", PERSON, "'unit' of the whole"},
      {0, "stages", "extra", "1", "other fields than such a stage"},
      {0, "stages", "counts", NULL, "'counts' is not there"},
      {0, "stages", "part", "\"train\"", "not what was asked for gives"},
      {0, "stages", "rows", "599", "not what was asked for gives"},
      {0, "stages", "events", "[]", "not what was asked for gives"},
      {1, "stages", "share", "{}", "not what was asked for gives"},
  };
  json_t *files[] = {run(STUDY(KNOWN, ILL "," INCOME), table("one.csv", 0, NULL), 5),
                     run(STUDY(KNOWN, MOMENTS), name_of("one.csv"), 5)};
  for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
    json_t *file = json_deep_copy(files[edits[k].file]), *in = edits[k].in ? json_object_get(file, edits[k].in) : file;
    if (json_is_array(in)) in = json_array_get(in, 0);
    if (edits[k].value)
      json_object_set_new(in, edits[k].key, json_loads(edits[k].value, JSON_DECODE_ANY, NULL));
    else
      json_object_del(in, edits[k].key);
    json_dump_file(file, name_of("edited.json"), JSON_REAL_PRECISION(17));
    tct_verdict verdict;
    char *text = tct_verify_json(name_of("edited.json"), NULL, NULL, NULL, NULL, &verdict, NULL);
    if (verdict != TCT_VERDICT_REFUSED || !strstr(text, edits[k].word))
      fail_msg("%s %s: %s", edits[k].key, edits[k].value ? edits[k].value : "taken away", text);
    tct_text_free(text);
    json_decref(file);
  }
  json_decref(files[0]);
  json_decref(files[1]);
}

static int away(void **unused) {
  (void)unused;
  char line[340];
  snprintf(line, sizeof line, "rm -rf %s", folder);
  return system(line);
}

static int make(void **unused) {
  (void)unused;
  return mkdtemp(folder) ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_price_of_gaussian_lists_is_the_enumeration),
      cmocka_unit_test(all_stages_together_spend_the_whole_and_no_more),
      cmocka_unit_test(equal_analyses_get_more_than_their_part),
      cmocka_unit_test(fractions_are_parts_of_mu_squared),
      cmocka_unit_test(a_deferred_plan_is_within_its_reserve),
      cmocka_unit_test(other_events_after_an_estimate_are_one_approximate_step),
      cmocka_unit_test(the_same_seed_gives_the_same_bytes),
      cmocka_unit_test(one_fit_alone_is_a_model),
      cmocka_unit_test(what_another_stage_reads_does_not_reach_a_stage),
      cmocka_unit_test(a_stage_that_ends_takes_nothing_along),
      cmocka_unit_test(each_edit_of_the_file_is_refused_by_the_check_for_it),
  };
  return cmocka_run_group_tests(tests, make, away);
}
