/* test_persons.c - persons by their names in a table: whose rows count, how much, and who is nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/table/data.h"
#include "tacit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[2][40];

static int make_paths(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    strcpy(path[k], "/tmp/tacit-persons-XXXXXX");
    close(mkstemp(path[k]));
  }
  return 0;
}
static int drop_paths(void **state) {
  (void)state;
  return unlink(path[0]) | unlink(path[1]);
}

static void write_rows(int file, const char *rows) {
  FILE *f = fopen(path[file], "w");
  fprintf(f, "who,a,y\n%s", rows);
  fclose(f);
}

static tct_data *read_all(int files, tct_invalid_rule rule, tct_error *err) {
  tct_read_options read;
  const char *const names[] = {path[0], path[1]};
  tct_read_options_default(&read);
  read.labels = TCT_LABELS_BINARY, read.label = "y", read.key = "who", read.invalid = rule, read.max_line = 30;
  tct_team *team = tct_team_new(err);
  tct_data *data = tct_data_read_parts(names, (size_t)files, &read, team, err);
  if (data) data->team = NULL;
  tct_team_free(team);
  return data;
}

/* The sum of the weights of rows from..to-1. */
static double weight_of(const tct_data *data, int from, int to) {
  double sum = 0;
  for (int i = from; i < to; i++) sum += data->weight[i];
  return sum;
}

static void a_persons_rows_count_as_one_at_most(void **state) {
  (void)state;
  tct_error err;
  uint64_t seed = 3;
  write_rows(0, "ann,1,0\nbob,2,1\nann,3,1\nann,4,0\nabe,5,1\nann,6,0\nann,7,0\n");
  tct_data *data = read_all(1, TCT_INVALID_REFUSE, &err);
  assert_non_null(data);
  assert_int_equal(tct_data_weigh_persons(data, NULL, 2, &seed, &err), TCT_OK);
  assert_true(data->persons);
  double ann = weight_of(data, 0, 1) + weight_of(data, 2, 4) + weight_of(data, 5, 7);
  assert_true(ann <= 1 && ann > 1 - 1e-12); /* two of her five rows */
  int counted = 0;
  for (int i = 0; i < 7; i++) counted += i != 1 && i != 4 && data->weight[i] > 0;
  assert_int_equal(counted, 2);
  assert_true(weight_of(data, 1, 2) == 0.5); /* one row of two that may count */
  assert_true(weight_of(data, 4, 5) == 0.5); /* another person with the same first letter */
  assert_true(data->weight_cap == 2);
  tct_data_free(data);
}

static void persons_are_the_same_in_every_part_of_a_table(void **state) {
  (void)state;
  tct_error err;
  uint64_t seed = 3;
  write_rows(0, "ann,1,0\nbob,2,1\n");
  write_rows(1, "cat,1,0\nann,2,1\nann,2,1\n");
  tct_data *data = read_all(2, TCT_INVALID_REFUSE, &err);
  if (!data) fail_msg("%s", err.text);
  assert_int_equal(tct_data_weigh_persons(data, NULL, 1, &seed, &err), TCT_OK);
  double ann = weight_of(data, 0, 1) + weight_of(data, 3, 5);
  assert_true(ann <= 1 && ann > 1 - 1e-12);
  assert_true(weight_of(data, 1, 3) > 2 - 1e-12);
  tct_data_free(data);
}

static void a_row_of_nobody_stops_the_read(void **state) {
  (void)state;
  static const char *const rows[] = {"ann,1,0\n,2,1\n", "ann,1,0\n\nbob,2,1\n", "ann,1,0\n\"\",2,1\n",
                                     "ann,1,0\n\"bob,2,1\n",
                                     "ann,1,0\nbob,2.0000000000000000000000000000000000000,1\n"};
  for (int k = 0; k < 5; k++)
    for (int rule = 0; rule < 2; rule++) {
      tct_error err;
      write_rows(0, rows[k]);
      tct_data *data = read_all(1, rule ? TCT_INVALID_ZERO : TCT_INVALID_REFUSE, &err);
      assert_null(data);
      assert_int_equal(err.status, TCT_E_DATA);
      if (k < 4 || rule) assert_int_equal(err.line, 3);
    }
}

static void without_the_column_nobody_is_known(void **state) {
  (void)state;
  tct_error err;
  tct_read_options read;
  write_rows(0, "ann,1,0\nbob,2,1\n");
  tct_read_options_default(&read);
  read.label = "y", read.labels = TCT_LABELS_BINARY;
  write_rows(1, "");
  FILE *f = fopen(path[0], "w");
  fprintf(f, "a,y\n1,0\n2,1\n");
  fclose(f);
  tct_data *data = tct_data_read(path[0], &read, &err);
  assert_non_null(data);
  assert_int_equal(tct_data_weigh_persons(data, NULL, 2, NULL, &err), TCT_E_USAGE);
  assert_null(data->weight);
  tct_data_free(data);
}

static void which_rows_of_a_person_count_hangs_on_nobody_else(void **state) {
  (void)state;
  enum { ROWS = 600 };
  double x[ROWS] = {0};
  bool first[ROWS];
  const tct_matrix m = {.rows = ROWS, .cols = 1, .layout = TCT_DENSE_ROWS, .values = x, .stride = 1};
  for (int turn = 0; turn < 3; turn++) { /* groups of four; one under another number; the first thirty rows as one */
    int64_t person[ROWS];
    uint64_t seed = 1;
    tct_error err;
    tct_data *data = tct_data_view(&m, NULL, TCT_LABELS_NONE, NULL, NULL, &err);
    for (int i = 0; i < ROWS; i++) person[i] = turn == 1 && i / 4 == 7 ? 599 : turn == 2 && i < 30 ? 0 : i / 4;
    assert_int_equal(tct_data_weigh_persons(data, person, 2, &seed, &err), TCT_OK);
    int counted[ROWS] = {0};
    for (int i = 0; i < ROWS; i++) counted[person[i]] += data->weight[i] > 0;
    for (int k = 0; k < ROWS; k++) assert_true(counted[k] == 0 || counted[k] == 2);
    for (int i = 0; i < ROWS && turn == 0; i++) first[i] = data->weight[i] > 0;
    for (int i = turn == 2 ? 32 : 0; i < ROWS; i++) assert_true(first[i] == (data->weight[i] > 0));
    tct_data_free(data);
  }
}

static void weights_and_persons_go_together(void **state) {
  (void)state;
  double x[4] = {0}, weight[4] = {4, 1, 2, 9};
  const int64_t person[4] = {0, 1, 2, 2}, beyond[4] = {0, 1, 2, 4};
  const tct_matrix m = {.rows = 4, .cols = 1, .layout = TCT_DENSE_ROWS, .values = x, .stride = 1};
  tct_error err;
  tct_data *data = tct_data_view(&m, NULL, TCT_LABELS_NONE, NULL, NULL, &err);
  assert_int_equal(tct_data_weigh(data, weight, 4, NULL, &err), TCT_OK);
  assert_int_equal(tct_data_weigh_persons(data, beyond, 2, NULL, &err), TCT_E_USAGE);
  assert_int_equal(tct_data_weigh_persons(data, person, 2, NULL, &err), TCT_OK);
  assert_true(data->persons && data->weight_cap == 8);
  const double wanted[4] = {0.5, 0.125, 0.25, 0.5};
  for (int i = 0; i < 4; i++) assert_true(data->weight[i] == wanted[i]);
  tct_data_free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_persons_rows_count_as_one_at_most),
      cmocka_unit_test(persons_are_the_same_in_every_part_of_a_table),
      cmocka_unit_test(a_row_of_nobody_stops_the_read),
      cmocka_unit_test(without_the_column_nobody_is_known),
      cmocka_unit_test(which_rows_of_a_person_count_hangs_on_nobody_else),
      cmocka_unit_test(weights_and_persons_go_together),
  };
  return cmocka_run_group_tests(tests, make_paths, drop_paths);
}
