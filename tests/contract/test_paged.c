/* test_paged.c - records that lie on disk train the same model as in memory, byte for byte, within the limit. */
#include "read_help.h"

#include <dirent.h>
#include <jansson.h>
#include <unistd.h>

#include "core/alloc.h"
#include "la/matrix/paged.h"
#include "solve/solve.h"

enum {
  ROWS = 24000,
  COLS = 50,
  LIMIT = 1 << 20
}; /* 9.6 MB of values: nine times the limit, which is the least window */

static char folder[] = "/tmp/tacit-paged-XXXXXX";
static char npy[64], csv[64], svm[64], wrong[64];

/* Digits of a small generator (Knuth's 64-bit LCG). */
static int digit(uint64_t *state, int count) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int)((*state >> 33) % (uint64_t)count);
}

static void write_tables(void) {
  FILE *to[4] = {fopen(npy, "wb"), fopen(csv, "w"), fopen(svm, "w"), fopen(wrong, "wb")};
  char header[118];
  uint64_t state = 7;
  for (int k = 0; k < 4; k++) assert_non_null(to[k]);
  snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d)}", ROWS, COLS + 1);
  for (int k = 0; k < 4; k += 3) fprintf(to[k], "\x93NUMPY\x01%c%c%c%-117s\n", 0, 118, 0, header);
  for (int j = 0; j < COLS; j++) fprintf(to[1], "c%d,", j);
  fprintf(to[1], "y\n");
  for (int i = 0; i < ROWS; i++) {
    double row[COLS + 1], sum = 0;
    for (int j = 0; j < COLS; j++) row[j] = (digit(&state, 1999) - 999) / 1000.0, sum += j % 3 ? row[j] : -row[j];
    row[COLS] = sum + (digit(&state, 400) - 200) / 100.0 > 0 ? 1 : -1;
    for (int j = 0; j < COLS; j++) fprintf(to[1], "%.3f,", row[j]);
    fprintf(to[1], "%d\n", row[COLS] > 0);
    fprintf(to[2], "%d", row[COLS] > 0 ? 1 : -1);
    for (int j = 0; j < COLS; j++) fprintf(to[2], " %d:%.3f", j + 1, row[j]);
    fprintf(to[2], "\n");
    fwrite(row, sizeof *row, COLS + 1, to[0]);
    if (i % 5000 == 4999) row[3] = INFINITY;
    fwrite(row, sizeof *row, COLS + 1, to[3]);
  }
  for (int k = 0; k < 4; k++) fclose(to[k]);
}

static tct_data *read_table(const char *path, int64_t memory, int invalid) {
  char label[16];
  tct_error err;
  tct_read_options options = options_for(TCT_LABELS_BINARY, NULL, NULL);
  snprintf(label, sizeof label, "%d", COLS + 1);
  options.label = path == csv ? "y" : path == svm ? NULL : label;
  if (path == svm) options.format = "libsvm";
  options.cols = COLS;
  options.invalid = invalid;
  options.memory = memory;
  options.scratch = folder;
  tct_data *data = tct_data_read(path, &options, &err);
  if (!data) fail_msg("%s: %s", path, err.text);
  assert_int_equal(tct_data_rows(data), ROWS);
  return data;
}

static tct_config settings(const tct_solver *solver, int threads) {
  static const char *const few[][2] = {{"dpsgd", "dpsgd:epochs=1"},
                                       {"dpnewton", "dpnewton:steps=2"},
                                       {"dpagd", "dpagd:steps=4"},
                                       {"dpgd", "dpgd:steps=30"},
                                       {"dpmetric", "dpmetric:steps=20"}};
  tct_config config;
  tct_config_default(&config);
  config.loss = "logistic";
  config.penalty = "l2:lambda=0.01";
  config.solver = solver->name;
  for (size_t k = 0; k < COUNT(few); k++)
    if (!strcmp(solver->name, few[k][0])) config.solver = few[k][1];
  if (!strcmp(solver->name, "adassp") || !strcmp(solver->name, "dpmoments"))
    config.loss = "squared", config.label_bound = 1;
  config.epsilon = 1;
  config.delta = 1e-6;
  config.row_norm = 4;
  config.has_seed = 1;
  config.seed = 5;
  config.threads = threads;
  return config;
}

/* The labels of a regression are the classes' numbers. */
static char *trained(tct_data *data, const tct_solver *solver, int threads) {
  tct_error err;
  tct_config config = settings(solver, threads);
  data->labels = tct_config_labels(&config);
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  if (!plan) fail_msg("%s: %s", solver->name, err.text);
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) fail_msg("%s: %s", solver->name, err.text);
  char *text = tct_model_json(model, &err);
  assert_non_null(text);
  tct_model_free(model);
  tct_plan_free(plan);
  return text;
}

/* Everything of the two tables is the same, and the one on disk really comes and goes. */
static void assert_same_models(const char *path, const tct_solver *solver) {
  tct_data *here = read_table(path, 0, TCT_INVALID_REFUSE), *there = read_table(path, LIMIT, TCT_INVALID_REFUSE);
  assert_null(here->x.pages);
  assert_true(there->x.pages != NULL);
  char *expected = trained(here, solver, 1);
  for (int threads = 1; threads <= 2; threads++) {
    char *text = trained(there, solver, threads);
    if (strcmp(text, expected) != 0) fail_msg("%s, %s, %d threads: another model", solver->name, path, threads);
    tct_text_free(text);
  }
  if (tct_paged_released(there->x.pages) < 8) fail_msg("%s: the records stayed in memory", solver->name);
  tct_text_free(expected);
  tct_data_free(there);
  tct_data_free(here);
}

static void every_solver_that_reads_from_disk_trains_the_model_of_memory(void **state) {
  (void)state;
  int count = 0;
  for (int s = 0; s < tct_solver_count; s++) {
    if (tct_solvers[s]->row_bytes == 0) continue;
    assert_same_models(npy, tct_solvers[s]);
    count++;
  }
  assert_true(count >= 7);
}

/* The forecast of passes is what a run asks the disk for, within a quarter or one pass. */
static void a_plan_says_how_often_a_run_reads_the_records(void **state) {
  (void)state;
  for (int s = 0; s < tct_solver_count; s++) {
    if (tct_solvers[s]->row_bytes == 0) continue;
    tct_error err;
    tct_data *data = read_table(npy, LIMIT, TCT_INVALID_REFUSE);
    tct_config config = settings(tct_solvers[s], 1);
    config.memory = (int64_t)1 << 30;
    tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
    if (!plan) fail_msg("%s", err.text);
    char *text = tct_plan_json(plan, &err);
    json_t *said = json_loads(text, 0, NULL);
    tct_text_free(text);
    double passes = json_real_value(json_object_get(said, "passes"));
    tct_text_free(trained(data, tct_solvers[s], 1));
    double made = (double)tct_paged_wanted(data->x.pages) / (ROWS * COLS * (double)sizeof(double));
    if (fabs(passes - made) > fmax(1.2, made / 4))
      fail_msg("%s: %g passes said, %g made", tct_solvers[s]->name, passes, made);
    json_decref(said);
    tct_plan_free(plan);
    tct_data_free(data);
  }
}

static void text_and_sparse_tables_on_disk_train_the_model_of_memory(void **state) {
  (void)state;
  for (int s = 0; s < tct_solver_count; s++) {
    const char *name = tct_solvers[s]->name;
    if (strcmp(name, "dpgd") && strcmp(name, "objpert") && strcmp(name, "dpsgd")) continue;
    assert_same_models(csv, tct_solvers[s]);
    assert_same_models(svm, tct_solvers[s]);
  }
}

static void every_value_on_disk_is_that_of_memory(void **state) {
  (void)state;
  const char *paths[] = {npy, csv, svm, wrong};
  for (int k = 0; k < 4; k++) {
    tct_data *here = read_table(paths[k], 0, TCT_INVALID_ZERO), *there = read_table(paths[k], LIMIT, TCT_INVALID_ZERO);
    assert_true(there->x.pages != NULL);
    assert_int_equal(here->x.layout, there->x.layout);
    int64_t entries = tct_matrix_nonzeros(&here->x);
    assert_int_equal(entries, tct_matrix_nonzeros(&there->x));
    assert_memory_equal(here->x.values, there->x.values, (size_t)entries * sizeof(double));
    assert_memory_equal(here->y, there->y, ROWS * sizeof(double));
    assert_memory_equal(here->dropped, there->dropped, ROWS);
    if (here->x.layout == TCT_CSR)
      assert_memory_equal(here->x.index, there->x.index, (size_t)entries * sizeof(int32_t));
    tct_data_free(there);
    tct_data_free(here);
  }
}

static void a_solver_that_needs_all_records_refuses_before_the_charge(void **state) {
  (void)state;
  tct_error err;
  tct_data *data = read_table(npy, LIMIT, TCT_INVALID_REFUSE);
  tct_config config = settings(tct_solver_find("dpscd"), 1);
  tct_plan *plan = tct_plan_new(&config, ROWS, COLS, &err);
  assert_non_null(plan);
  assert_null(tct_fit(plan, data, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_non_null(strstr(err.text, "dpscd needs all records in memory"));
  tct_plan_free(plan);
  tct_data_free(data);
}

static void a_plan_refuses_a_limit_below_what_it_needs(void **state) {
  (void)state;
  tct_error err;
  tct_config config = settings(tct_solver_find("dpgd"), 1);
  config.memory = (int64_t)100 << 20;
  tct_plan *plan = tct_plan_new(&config, 1000000, COLS, &err);
  assert_non_null(plan);
  tct_plan_free(plan);
  assert_null(tct_plan_new(&config, 10000000, COLS, &err));
  assert_int_equal(err.status, TCT_E_USAGE);
  assert_non_null(strstr(err.text, "give at least .memory = "));
}

static void a_file_on_disk_has_no_name_and_a_bad_folder_is_one_sentence(void **state) {
  (void)state;
  tct_error err;
  int names = 0;
  tct_data *data = read_table(csv, LIMIT, TCT_INVALID_REFUSE);
  DIR *list = opendir(folder);
  assert_non_null(list);
  while (readdir(list)) names++;
  closedir(list);
  assert_int_equal(names, 2 + 4); /* this folder, the one above, and the tables */
  tct_data_free(data);
  tct_read_options options = options_for(TCT_LABELS_BINARY, "y", NULL);
  options.memory = LIMIT;
  options.scratch = "/nowhere";
  assert_null(tct_data_read(csv, &options, &err));
  assert_int_equal(err.status, TCT_E_RUN);
  assert_non_null(strstr(err.text, "name another one with .scratch"));
}

enum { LARGE = 64 << 20 };

/* Bytes that one pass over the file fetches. */
static int64_t pass(tct_pager *paged, const char *at) {
  int64_t before = tct_paged_fetched(paged);
  for (int64_t from = 0; from < LARGE; from += 1 << 12) tct_paged_touch(paged, at + from, 1 << 12);
  return tct_paged_fetched(paged) - before;
}

static int64_t resident(void) {
  long long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  assert_non_null(statm);
  assert_int_equal(fscanf(statm, "%*d %lld", &pages), 1);
  fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

/* Every pass is in the same order: without a share that stays, no chunk would be there when it is needed again.  How
 * large the share is depends on what else is in memory. */
static void what_fits_into_the_limit_is_read_once(void **state) {
  (void)state;
  tct_error err;
  tct_pager *paged;
  const void *at[2];
  char path[80];
  snprintf(path, sizeof path, "%s/zeros-XXXXXX", folder);
  int file = mkstemp(path);
  assert_true(file >= 0);
  unlink(path);
  assert_int_equal(ftruncate(file, LARGE), 0);
  int64_t memory = resident() + LARGE / 4 * 3;
  assert_int_equal(tct_paged_new((int[]){file, -1}, (int64_t[]){LARGE, 0}, memory, &paged, at, &err), TCT_OK);
  close(file);
  assert_int_equal(pass(paged, at[0]), LARGE);
  for (int k = 0; k < 3; k++) {
    int64_t again = pass(paged, at[0]);
    if (again > LARGE / 8 * 7) fail_msg("%lld of %d bytes were fetched again", (long long)again, LARGE);
    assert_true(again > 0);
  }
  tct_paged_release(paged);
  assert_int_equal(pass(paged, at[0]), LARGE);
  tct_paged_free(paged);
}

static int begin(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(npy, sizeof npy, "%s/t.npy", folder);
  snprintf(csv, sizeof csv, "%s/t.csv", folder);
  snprintf(svm, sizeof svm, "%s/t.txt", folder);
  snprintf(wrong, sizeof wrong, "%s/wrong.npy", folder);
  write_tables();
  return 0;
}

static int end(void **state) {
  (void)state;
  unlink(npy), unlink(csv), unlink(svm), unlink(wrong);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_on_disk_is_that_of_memory),
      cmocka_unit_test(every_solver_that_reads_from_disk_trains_the_model_of_memory),
      cmocka_unit_test(what_fits_into_the_limit_is_read_once),
      cmocka_unit_test(a_plan_says_how_often_a_run_reads_the_records),
      cmocka_unit_test(text_and_sparse_tables_on_disk_train_the_model_of_memory),
      cmocka_unit_test(a_solver_that_needs_all_records_refuses_before_the_charge),
      cmocka_unit_test(a_plan_refuses_a_limit_below_what_it_needs),
      cmocka_unit_test(a_file_on_disk_has_no_name_and_a_bad_folder_is_one_sentence),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
