/* test_party_model.c - a party takes the server's model only if every number and word in it is the agreed one. */
#include "sample.h"
#include "worlds.h"

#include "train/one_program.h"
#include "session/session.h"

#include <limits.h>

enum { ROWS = 400, OTHERS = 3, OWN = 2, COLS = OTHERS + OWN };

static records table;
static tct_plan *plan;
static tct_data *data;
static double w[COLS] = {0.1, -0.25, 0, 0, 0.5};
static char *honest;

static const char *const names[COLS] = {"a", "b", "c", "x1", "x2"};
static const char FACT[] = "the schema is a draft";

static json_t *hello(const char *name, int first, int count) {
  json_t *list = json_array();
  for (int j = 0; j < count; j++) json_array_append_new(list, json_string(names[first + j]));
  return json_pack("{s:s, s:o}", "name", name, "features", list);
}

/* What an honest server sends, by the functions that it uses. */
static char *serve(void) {
  char line[TCT_SESSION_LINE];
  tct_model *m = TCT_NEW(tct_model, 1);
  json_t *parties[] = {hello("alice", 0, OTHERS), hello("bob", OTHERS, OWN)};
  assert_int_equal(tct_session_describe(plan, m, NULL), TCT_OK);
  m->features = TCT_NEW(char *, COLS);
  for (int j = 0; j < COLS; j++) m->features[j] = tct_text_copy(names[j]);
  tct_session_unaccounted("alice", "another fact", line, sizeof line);
  assert_true(tct_model_note(m, line));
  tct_session_unaccounted("bob", FACT, line, sizeof line);
  assert_true(tct_model_note(m, line));
  m->coefficients = TCT_NEW(double, COLS);
  memcpy(m->coefficients, w, sizeof w);
  assert_int_equal(tct_model_observers(plan, &(tct_apart){parties, 4321}, m, NULL), TCT_OK);
  char *text = tct_model_json(m, NULL);
  for (int k = 0; k < 2; k++) json_decref(parties[k]);
  tct_model_free(m);
  return text;
}

static bool taken(const char *text, bool has_seed, tct_error *err) {
  tct_own_part own = {.plan = plan, .data = data, .index = 1, .has_seed = has_seed, .w = w};
  tct_model *m = NULL;
  bool ok = tct_session_take(&own, text, &m, err) == TCT_OK;
  tct_model_free(m);
  return ok;
}

static void the_honest_model_is_taken(void **state) {
  (void)state;
  tct_error err = {0};
  if (!taken(honest, false, &err)) fail_msg("%s", err.text);
}

/* ---- every place of the file ---------------------------------------------------------------------------------- */

/* What a party cannot know: the columns of the others under their names, their facts, the bytes, and their seeds. */
static const char *const theirs[] = {"features/0",          "features/1",           "features/2",
                                     "parties/list/0/name", "parties/uplink_bytes", "privacy/unaccounted/0"};

static bool is_theirs(const char *path) {
  for (size_t k = 0; k < sizeof theirs / sizeof *theirs; k++)
    if (!strcmp(path, theirs[k])) return true;
  return false;
}

static int seen, tried, kept;
/* `root`, of which one place was changed, is to be refused unless that place is theirs.  Those always are tried. */
static void judge(const json_t *root, const char *path, const char *how) {
  if (!sample_turn(++seen, INT_MAX) && !is_theirs(path)) return;
  tct_error err = {0};
  char *text = json_dumps(root, JSON_REAL_PRECISION(17));
  bool ok = taken(text, false, &err);
  bool free_place = is_theirs(path) && !strcmp(how, "changed");
  if (ok != free_place) fail_msg("%s %s is %s: %s", path, how, ok ? "taken" : "refused", err.text);
  tried++, kept += ok;
  free(text);
}

static json_t *changed(const json_t *value) {
  char text[2000];
  if (json_is_string(value)) return snprintf(text, sizeof text, "%sx", json_string_value(value)), json_string(text);
  if (json_is_integer(value)) return json_integer(json_integer_value(value) + 1);
  if (json_is_real(value)) return json_real(nextafter(json_real_value(value), INFINITY));
  if (json_is_boolean(value)) return json_boolean(!json_is_true(value));
  return json_integer(1);
}

static void path_length(json_t *root, json_t *at, const char *path);

static void visit(json_t *root, json_t *parent, const char *key, size_t index, const char *path) {
  json_t *value = key ? json_object_get(parent, key) : json_array_get(parent, index);
  char below[300];
  snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", key ? key : "");
  if (!key) snprintf(below, sizeof below, "%s/%zu", path, index);
  json_incref(value);
  if (json_is_object(value) || json_is_array(value)) {
    path_length(root, value, below);
  } else {
    key ? json_object_set_new(parent, key, changed(value)) : json_array_set_new(parent, index, changed(value));
    judge(root, below, "changed");
    key ? json_object_set(parent, key, value) : json_array_set(parent, index, value);
  }
  if (key) {
    json_object_del(parent, key);
    judge(root, below, "gone");
    json_object_set(parent, key, value);
  }
  json_decref(value);
}

static void path_length(json_t *root, json_t *at, const char *path) {
  json_t *names_here = json_array(), *each;
  const char *key;
  size_t k;
  json_object_foreach(at, key, each) json_array_append_new(names_here, json_string(key));
  json_array_foreach(names_here, k, each) visit(root, at, json_string_value(each), 0, path);
  json_decref(names_here);
  for (k = 0; k < json_array_size(at); k++) visit(root, at, NULL, k, path);
  if (json_is_object(at)) {
    json_object_set_new(at, "more", json_integer(1));
    if (strncmp(path, "parties/list", 12) != 0) judge(root, path, "with one more");
    json_object_del(at, "more");
  }
}

static void a_model_with_any_other_number_or_word_is_refused(void **state) {
  (void)state;
  json_t *root = json_loads(honest, 0, NULL);
  path_length(root, root, "");
  int every = sample_every(INT_MAX);
  if (every > 1) print_message("%d of %d edits were tried; TCT_SAMPLE=1 tries all\n", tried, seen);
  assert_true(seen > 100 && tried > 100 / every);
  assert_int_equal(kept, sizeof theirs / sizeof *theirs);
  json_decref(root);
}

static char *with_noise(const char *noise) {
  json_t *root = json_loads(honest, 0, NULL);
  json_object_set_new(json_object_get(root, "privacy"), "noise", json_string(noise));
  char *text = json_dumps(root, JSON_REAL_PRECISION(17));
  json_decref(root);
  return text;
}

static void a_model_has_a_seed_where_this_party_has_one_and_nowhere_else(void **state) {
  (void)state;
  tct_error err = {0};
  char *text = with_noise("reproducible");
  assert_true(taken(text, true, &err));
  assert_false(taken(honest, true, &err));
  assert_non_null(strstr(err.text, "differs in privacy."));
  assert_false(taken(text, false, &err));
  assert_non_null(strstr(err.text, "differs in privacy."));
  free(text);
}

static void plans_that_differ_in_one_number_have_other_digests(void **state) {
  (void)state;
  char first[TCT_DIGEST_HEX], second[TCT_DIGEST_HEX];
  tct_event *event = &plan->solved.promise.events.at[0];
  double before = event->epsilon;
  assert_int_equal(tct_plan_digest(plan, first, NULL), TCT_OK);
  event->epsilon = nextafter(before, INFINITY);
  assert_int_equal(tct_plan_digest(plan, second, NULL), TCT_OK);
  event->epsilon = before;
  assert_string_not_equal(first, second);
}

static int setup(void **state) {
  (void)state;
  tct_config config = world_config("squared", "l1ball:radius=1", "dpfw_parties:parties=2,steps=5,columns=3");
  config.has_seed = 0;
  table = records_new(ROWS, OWN, 3);
  tct_matrix x = records_matrix(&table);
  plan = tct_plan_new(&config, ROWS, COLS, NULL);
  data = tct_data_view(&x, table.y, TCT_LABELS_REAL, NULL, NULL, NULL);
  if (!plan || !data || tct_data_unaccounted(data, FACT, NULL) != TCT_OK) return 1;
  honest = serve();
  return honest ? 0 : 1;
}

static int teardown(void **state) {
  (void)state;
  tct_text_free(honest);
  tct_plan_free(plan);
  tct_data_free(data);
  records_free(&table);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_honest_model_is_taken),
      cmocka_unit_test(a_model_with_any_other_number_or_word_is_refused),
      cmocka_unit_test(a_model_has_a_seed_where_this_party_has_one_and_nowhere_else),
      cmocka_unit_test(plans_that_differ_in_one_number_have_other_digests),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
