/* test_one_program.c - ranks that were given different settings or inputs make no model and charge nothing. */
#include "short_ledger.h"
#include "worlds.h"

#include "core/settings.h"
#include "train/identity.h"
#include "read/table/data.h"
#include "thread_ranks.h"

enum { ROWS = 600, COLS = 3, RANKS = 3, ODD = 2 };

static const int64_t cut[RANKS] = {256, 256, 88};
static char folder[] = "/tmp/tacit-one-program-XXXXXX";
static records table;

typedef struct rank {
  int number;
  tct_config config;
  void (*spoil)(tct_data *data, tct_plan *plan); /* what has happened to this rank's run, or NULL */
  int made;
  tct_error err;
} rank;

static void part_of(tct_data *data, const rank *r, tct_team *team) {
  data->team = team;
  data->labels = tct_config_labels(&r->config);
  data->rank_rows = TCT_NEW(int64_t, RANKS);
  data->all_rows = ROWS;
  for (int k = 0; k < RANKS; k++) {
    data->rank_rows[k] = cut[k];
    if (k < r->number) data->row0 += cut[k];
  }
  data->x.rows = cut[r->number];
  data->x.values = (const double *)data->x.values + data->row0 * data->x.stride;
  data->y += data->row0;
}

static void *fit_rank(void *user) {
  rank *r = user;
  self = r->number;
  tct_team *team = tct_team_new(&r->err);
  tct_matrix x = records_matrix(&table);
  tct_data *data = tct_data_view(&x, table.y, TCT_LABELS_REAL, NULL, NULL, &r->err);
  part_of(data, r, team);
  tct_plan *plan = tct_plan_new(&r->config, ROWS, COLS, &r->err);
  tct_status status = tct_team_agree(team, plan ? TCT_OK : r->err.status, &r->err);
  if (status == TCT_OK && r->spoil) r->spoil(data, plan);
  tct_model *model = status == TCT_OK ? tct_fit(plan, data, &r->err) : NULL;
  r->made = model != NULL;
  tct_model_free(model);
  tct_plan_free(plan);
  tct_data_free(data);
  tct_team_free(team);
  return NULL;
}

static void run(rank *ranks, void *(*body)(void *)) {
  pthread_t thread[RANKS];
  team_size = RANKS;
  for (int k = 0; k < RANKS; k++) ranks[k].number = k;
  for (int k = 0; k < RANKS; k++) assert_int_equal(pthread_create(&thread[k], NULL, body, &ranks[k]), 0);
  for (int k = 0; k < RANKS; k++) pthread_join(thread[k], NULL);
}

/* ---- files ------------------------------------------------------------------------------------------------- */

static const char *path_of(const char *name) {
  static char path[2][256];
  static int next;
  snprintf(path[next ^= 1], sizeof path[0], "%s/%s", folder, name);
  return path[next];
}

static void make(const char *name, int64_t size, int64_t other_byte) {
  FILE *file = fopen(path_of(name), "wb");
  assert_non_null(file);
  for (int64_t k = 0; k < size; k++) fputc(k == other_byte ? 'x' : "1,2,0.5\n"[k % 8], file);
  assert_int_equal(fclose(file), 0);
}

static char *ledger_text(const char *path) {
  char *text = tct_ledger_json(path, NULL);
  assert_non_null(text);
  return text;
}

/* ---- settings ------------------------------------------------------------------------------------------------ */

static void everybody(rank *ranks, const char *ledger) {
  memset(ranks, 0, RANKS * sizeof *ranks);
  for (int k = 0; k < RANKS; k++) {
    ranks[k].config = world_config("huber:width=0.5", "l2:lambda=0.01", "dpgd:steps=3");
    ranks[k].config.ledger = ledger;
  }
}

/* All ranks say the same sentence, which has `name` in it, and the ledger holds what it held. */
static void refused(rank *ranks, const char *name, const char *ledger) {
  char *before = ledger_text(ledger);
  run(ranks, fit_rank);
  char *after = ledger_text(ledger);
  for (int k = 0; k < RANKS; k++) {
    if (ranks[k].made) fail_msg("another %s: rank %d has a model", name, k);
    if (!strstr(ranks[k].err.text, name)) fail_msg("another %s: rank %d says %s", name, k, ranks[k].err.text);
    assert_string_equal(ranks[k].err.text, ranks[0].err.text);
  }
  if (strcmp(before, after) != 0) fail_msg("another %s was charged", name);
  tct_text_free(before);
  tct_text_free(after);
}

static void a_rank_with_any_other_setting_that_counts_is_named_before_the_charge(void **state) {
  (void)state;
  static rank ranks[RANKS];
  char ledger[256];
  snprintf(ledger, sizeof ledger, "%s", path_of("ledger"));
  assert_int_equal(begin_ledger(ledger, NULL, NULL, TCT_ADD_REMOVE, 100, 1e-2, NULL), TCT_OK);
#define OTHER(field, value, name)           \
  do {                                      \
    everybody(ranks, ledger);               \
    ranks[ODD].config.field = (value);      \
    refused(ranks, "in " name ";", ledger); \
  } while (0)
  OTHER(loss, "squared", "the loss");
  OTHER(penalty, "l2:lambda=0.011", "the penalty");
  OTHER(solver, "dpgd:steps=4", "the solver");
  OTHER(epsilon, 0.9, "epsilon");
  OTHER(delta, 1e-6, "delta");
  OTHER(neighbours, TCT_REPLACE_ONE, "the neighbours");
  OTHER(rows_rule, TCT_ROWS_UNIT, "the rule for rows");
  OTHER(row_norm, 100, "the row norm");
  OTHER(label_shift, 0.1, "the label shift");
  OTHER(label_bound, 2, "the label bound");
  OTHER(scale, "max-abs", "the scale");
  OTHER(label_scale, "center", "the label scale");
  OTHER(intercept, 1, "the intercept");
  OTHER(has_seed, 0, "whether there is a seed");
  OTHER(seed, 21, "the seed");
  OTHER(ledger, NULL, "the ledger");
#undef OTHER
}

/* Records are summed where they are, but errors are of all of them. */
static void errors_of_a_part_of_the_records_are_refused_before_the_charge(void **state) {
  (void)state;
  static const char *const asked[][2] = {{"squared", "dponestep"}, {"cox", "dpcox"}};
  static rank ranks[RANKS];
  for (int which = 0; which < 2; which++) {
    everybody(ranks, path_of("ledger"));
    for (int k = 0; k < RANKS; k++) {
      ranks[k].config.loss = asked[which][0], ranks[k].config.solver = asked[which][1];
      ranks[k].config.penalty = "none", ranks[k].config.intercept = 1;
    }
    refused(ranks, "standard errors need all rows", ranks[0].config.ledger);
  }
}

static int never(void *user) { return user == NULL; }
static void quiet(double fraction, void *user) { (void)fraction, (void)user; }

static void the_free_settings_of_one_rank_change_no_model(void **state) {
  (void)state;
  static rank ranks[RANKS];
  int user = 0;
  everybody(ranks, NULL);
  ranks[ODD].config.threads = 2;
  ranks[ODD].config.progress = quiet;
  ranks[ODD].config.cancel = never;
  ranks[ODD].config.user = &user;
  run(ranks, fit_rank);
  for (int k = 0; k < RANKS; k++)
    if (!ranks[k].made) fail_msg("rank %d: %s", k, ranks[k].err.text);
}

/* ---- plan and table -------------------------------------------------------------------------------------------- */

static void event(tct_data *data, tct_plan *plan) { (void)data, plan->solved.promise.events.at[0].noise *= 1 + 1e-15; }
static void count(tct_data *data, tct_plan *plan) { (void)data, plan->solved.promise.events.at[0].count++; }
static void upper(tct_data *data, tct_plan *plan) { (void)data, plan->solved.promise.kind = TCT_PROMISE_AT_MOST; }
static void option(tct_data *data, tct_plan *plan) { (void)data, tct_spec_set(&plan->solved.spec, "clip", "7", NULL); }
static void fact(tct_data *data, tct_plan *plan) { (void)data, plan->facts.row_norm *= 2; }
static void named(tct_data *data, tct_plan *plan) { (void)plan, data->label_name = tct_text_copy("other"); }
static void schema(tct_data *data, tct_plan *plan) { (void)plan, data->schema = tct_text_copy("{}"); }
static void weights(tct_data *data, tct_plan *plan) { (void)plan, tct_data_weigh(data, NULL, 1, NULL, NULL); }
static void input(tct_data *data, tct_plan *plan) { (void)plan, data->input[0] = 'f'; }
static void taken(tct_data *data, tct_plan *plan) { (void)plan, tct_data_unaccounted(data, "a fact", NULL); }

static void a_rank_with_another_plan_or_table_is_named_before_the_charge(void **state) {
  (void)state;
  static const struct {
    void (*spoil)(tct_data *data, tct_plan *plan);
    const char *name;
  } all[] = {{event, "the planned events"},  {count, "the planned events"},
             {upper, "the kind of promise"}, {option, "resolved options"},
             {fact, "the row norm"},         {named, "the label column"},
             {schema, "the schema"},         {weights, "records are weighed"},
             {input, "the input"},           {taken, "what reading left unaccounted"}};
  static rank ranks[RANKS];
  char ledger[256];
  snprintf(ledger, sizeof ledger, "%s", path_of("ledger of plans"));
  assert_int_equal(begin_ledger(ledger, NULL, NULL, TCT_ADD_REMOVE, 100, 1e-2, NULL), TCT_OK);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    everybody(ranks, ledger);
    ranks[ODD].spoil = all[k].spoil;
    refused(ranks, all[k].name, ledger);
  }
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static char files[RANKS][2][256];
static char identities[RANKS][TCT_DIGEST_HEX];
static tct_read_options read_options[RANKS];

static void *identify_rank(void *user) {
  rank *r = user;
  const char *const paths[] = {files[r->number][0], files[r->number][1]};
  self = r->number;
  tct_team *team = tct_team_new(&r->err);
  r->made = tct_inputs_same(paths, 2, team, identities[r->number], &r->err) == TCT_OK;
  tct_team_free(team);
  return NULL;
}

static void name_files(const char *first, const char *second, const char *odd) {
  for (int k = 0; k < RANKS; k++) {
    snprintf(files[k][0], sizeof files[k][0], "%s", path_of(first));
    snprintf(files[k][1], sizeof files[k][1], "%s", path_of(k == ODD ? odd : second));
  }
}

static void another_size_another_end_or_another_byte_of_a_small_file_is_another_file(void **state) {
  (void)state;
  enum { SMALL = 200000, LARGE = 3000000 };
  static const struct {
    int64_t size, length, byte;
  } others[] = {{SMALL, SMALL + 8, -1}, {SMALL, SMALL, 0},         {SMALL, SMALL, 123456}, {SMALL, SMALL, SMALL - 1},
                {LARGE, LARGE - 8, -1}, {LARGE, LARGE, LARGE - 9}, {LARGE, LARGE, 5}};
  static rank ranks[RANKS];
  make("a", 1000, -1);
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    make("b", others[k].size, -1);
    make("other", others[k].length, others[k].byte);
    memset(ranks, 0, sizeof ranks);
    name_files("a", "b", "other");
    run(ranks, identify_rank);
    for (int r = 0; r < RANKS; r++) {
      assert_false(ranks[r].made);
      assert_int_equal(ranks[r].err.status, TCT_E_DATA);
      assert_non_null(strstr(ranks[r].err.text, "rank 2 differs from rank 0 in the contents of"));
      assert_non_null(strstr(ranks[r].err.text, path_of("other")));
    }
  }
}

/* 64 blocks of 4 KiB in 3 MB: a quarter of them changed is missed with probability (3/4)^64 = 1e-8. */
static void a_large_file_of_which_a_quarter_differs_is_another_file(void **state) {
  (void)state;
  static rank ranks[RANKS];
  make("b", 3000000, -1);
  make("other", 3000000, -1);
  FILE *file = fopen(path_of("other"), "r+b");
  assert_int_equal(fseek(file, 1000000, SEEK_SET), 0);
  for (int k = 0; k < 750000; k++) fputc('x', file);
  assert_int_equal(fclose(file), 0);
  memset(ranks, 0, sizeof ranks);
  name_files("a", "b", "other");
  run(ranks, identify_rank);
  for (int r = 0; r < RANKS; r++) assert_false(ranks[r].made);
}

static void a_copy_under_another_name_on_one_rank_is_the_same_input(void **state) {
  (void)state;
  static rank ranks[RANKS];
  make("b", 3000000, -1);
  make("copy", 3000000, -1);
  memset(ranks, 0, sizeof ranks);
  name_files("a", "b", "copy");
  run(ranks, identify_rank);
  for (int r = 0; r < RANKS; r++) {
    if (!ranks[r].made) fail_msg("rank %d: %s", r, ranks[r].err.text);
    assert_int_equal(strlen(identities[r]), 64);
    assert_string_equal(identities[r], identities[0]);
  }
}

/* ---- read options ---------------------------------------------------------------------------------------------------
 */

static void *read_rank(void *user) {
  rank *r = user;
  const char *const paths[] = {files[r->number][0]};
  self = r->number;
  tct_team *team = tct_team_new(&r->err);
  tct_data *data = tct_data_read_parts(paths, 1, &read_options[r->number], team, &r->err);
  r->made = data != NULL;
  tct_data_free(data);
  tct_team_free(team);
  return NULL;
}

static void a_rank_that_reads_otherwise_is_named_before_the_read(void **state) {
  (void)state;
  static rank ranks[RANKS];
  make("a", 8000, -1); /* no table: what is read would be refused in other words */
#define OTHER(field, value, name)                                                                  \
  do {                                                                                             \
    memset(ranks, 0, sizeof ranks);                                                                \
    name_files("a", "a", "a");                                                                     \
    for (int r = 0; r < RANKS; r++) tct_read_options_default(&read_options[r]);                    \
    read_options[ODD].field = (value);                                                             \
    run(ranks, read_rank);                                                                         \
    for (int r = 0; r < RANKS; r++) {                                                              \
      assert_false(ranks[r].made);                                                                 \
      if (!strstr(ranks[r].err.text, "in " name ";")) fail_msg("%s: %s", name, ranks[r].err.text); \
    }                                                                                              \
  } while (0)
  OTHER(labels, TCT_LABELS_REAL, "the kind of the labels");
  OTHER(invalid, TCT_INVALID_ZERO, "the rule for malformed records");
  OTHER(label, "y", "the label column");
  OTHER(positive, "yes", "the positive label");
  OTHER(schema_text, "{}", "the contents of the schema");
  OTHER(schema_path, files[ODD][0], "the contents of the schema");
  OTHER(cols, 3, "the number of features");
  OTHER(value_type, TCT_F32, "the precision of the values");
  OTHER(key, "id", "the key column");
  OTHER(multiline, 1, "the rule for quoted line ends");
  OTHER(format, "libsvm", "the format");
#undef OTHER
}

/* ---- records ------------------------------------------------------------------------------------------------ */

enum { RECORDS = 1500, PARTS = 5 };
static const char parts_schema[] =
    "{\"columns\": [{\"name\": \"text\", \"type\": \"ignore\"}, {\"name\": \"at\", "
    "\"type\": \"number\", \"lower\": 0, \"upper\": 2048}], \"label\": {\"name\": "
    "\"y\", \"lower\": 0, \"upper\": 2048}}";
static const char *part_path[PARTS];
static int64_t part_count, read_by[RECORDS]; /* how many ranks have a record */

static void write_records(const char *name, int64_t from, int64_t to) {
  FILE *file = fopen(path_of(name), "wb");
  assert_non_null(file);
  fputs("text,at,y\n", file);
  for (int64_t k = from; k < to; k++) /* texts of many lines, so that a line's end need be none of a record */
    fprintf(file, "%s,%d,%d\n",
            k % 7 ? "\"a\nbb,\n,ccc,\n,dddd, and a long line of text\n with one more,\n and,\n a,\n last\n\"" : "a",
            (int)k, (int)k);
  assert_int_equal(fclose(file), 0);
}

static void *read_records(void *user) {
  rank *r = user;
  tct_read_options options;
  self = r->number;
  tct_read_options_default(&options);
  options.schema_text = parts_schema, options.labels = TCT_LABELS_REAL, options.multiline = 1;
  tct_team *team = tct_team_new(&r->err);
  tct_data *data = tct_data_read_parts(part_path, (size_t)part_count, &options, team, &r->err);
  r->made = data && data->x.cols == 1 && data->all_rows == RECORDS && data->rank_rows[self] == data->x.rows;
  for (int64_t i = 0; r->made && i < data->x.rows; i++) {
    int64_t at = data->row0 + i;
    r->made = at < RECORDS && data->y[i] == (double)at &&
              ((const double *)data->x.values)[i * data->x.stride] == (double)at / 2048;
    if (r->made) __atomic_add_fetch(&read_by[at], 1, __ATOMIC_RELAXED);
  }
  tct_data_free(data);
  tct_team_free(team);
  return NULL;
}

/* One file whose records are shared out, and files of different sizes: each record is read once, and in its place. */
static void every_record_is_read_by_one_rank(void **state) {
  (void)state;
  static const char *const names[PARTS] = {"a", "b", "other", "copy", "more"};
  static const int64_t end[PARTS + 1] = {0, 20, 900, 930, 1490, RECORDS};
  static char path[PARTS][256];
  rank ranks[RANKS];
  for (part_count = 1; part_count <= PARTS; part_count += PARTS - 1) {
    memset(ranks, 0, sizeof ranks), memset(read_by, 0, sizeof read_by);
    for (int k = 0; k < part_count; k++) {
      write_records(names[k], end[k], part_count == 1 ? RECORDS : end[k + 1]);
      snprintf(path[k], sizeof path[k], "%s", path_of(names[k]));
      part_path[k] = path[k];
    }
    run(ranks, read_records);
    for (int k = 0; k < RANKS; k++)
      if (!ranks[k].made) fail_msg("rank %d of %d files: %s", k, (int)part_count, ranks[k].err.text);
    for (int k = 0; k < RECORDS; k++) assert_int_equal(read_by[k], 1);
  }
}

static int setup(void **state) {
  (void)state;
  table = records_new(ROWS, COLS, 3);
  return mkdtemp(folder) ? 0 : 1;
}

static int teardown(void **state) {
  static const char *const names[] = {"a", "b", "other", "copy", "more", "ledger", "ledger of plans"};
  (void)state;
  records_free(&table);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) unlink(path_of(names[k]));
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rank_with_any_other_setting_that_counts_is_named_before_the_charge),
      cmocka_unit_test(errors_of_a_part_of_the_records_are_refused_before_the_charge),
      cmocka_unit_test(the_free_settings_of_one_rank_change_no_model),
      cmocka_unit_test(a_rank_with_another_plan_or_table_is_named_before_the_charge),
      cmocka_unit_test(another_size_another_end_or_another_byte_of_a_small_file_is_another_file),
      cmocka_unit_test(a_large_file_of_which_a_quarter_differs_is_another_file),
      cmocka_unit_test(a_copy_under_another_name_on_one_rank_is_the_same_input),
      cmocka_unit_test(a_rank_that_reads_otherwise_is_named_before_the_read),
      cmocka_unit_test(every_record_is_read_by_one_rank),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
