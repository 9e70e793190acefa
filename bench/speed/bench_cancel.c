/* bench_cancel.c - how long a run goes on after it is asked to end: the longest time between two looks at cancel.
 *
 * Every solver of `tacit components` fits an invented table of ROWS x COLS once, with its first loss and penalty, and
 * is cancelled after SECONDS.  Seconds are of this thread's processor time: others may use the machine.  "plan" is
 * planning, which is not asked; "gap" is the longest wait for a look, from the call to its return; "end" is from the
 * yes to the return.  The last line has the worst.
 *
 * Usage: bench_cancel [COLS (2000)] [ROWS (2000)] [SECONDS (60)] [SOLVER] */
#include "bench.h"
#include "random.h"

#include <jansson.h>
#include <stdbool.h>

static double last, gap, begun, limit, said;

static int ask(void *user) {
  double now = bench_cpu();
  (void)user;
  gap = fmax(gap, now - last);
  last = now;
  if (now - begun < limit) return 0;
  if (!said) said = now;
  return 1;
}

static tct_plan *plan_for(const char *solver, bool is_private, int64_t rows, int64_t cols, tct_config *c) {
  static const char *const losses[] = {"logistic", "squared", "huber"};
  static const char *const penalties[] = {"l2:lambda=1e-3", "l1ball:radius=1", "none", "box:low=-1,high=1"};
  for (int l = 0; l < 3; l++)
    for (int k = 0; k < 4; k++) {
      tct_config_default(c);
      c->loss = losses[l], c->penalty = penalties[k], c->solver = solver;
      c->row_norm = 1, c->label_bound = 1, c->threads = 1, c->cancel = ask;
      c->intercept = !strstr(solver, "parties");
      if (is_private) c->epsilon = 1, c->delta = 1e-6;
      tct_plan *plan = tct_plan_new(c, rows, cols, NULL);
      if (plan) return plan;
    }
  return NULL;
}

static tct_data *table_of(int64_t rows, int64_t cols, tct_labels labels) {
  uint64_t state = 7;
  tct_error err = {0};
  double *x = malloc((size_t)(rows * cols) * sizeof *x), *y = malloc((size_t)rows * sizeof *y);
  if (!x || !y) exit(1);
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int64_t j = 0; j < cols; j++) sum += (x[i * cols + j] = 2 * bench_unit(&state) - 1) * (j % 2 ? 1 : -1);
    y[i] = sum > 0 ? 1 : -1;
  }
  tct_matrix m = {.rows = rows, .cols = cols, .layout = TCT_DENSE_ROWS, .values = x, .stride = cols};
  tct_data *data = tct_data_view(&m, y, labels, NULL, NULL, &err);
  if (!data) bench_fail(&err);
  return data; /* to the end of the program */
}

static double measure(const char *solver, bool is_private, int64_t rows, int64_t cols, tct_data *const data[2]) {
  tct_config c;
  tct_error err = {0};
  double start = bench_cpu();
  tct_plan *plan = plan_for(solver, is_private, rows, cols, &c);
  if (!plan) {
    printf("{\"bench\": \"cancel\", \"solver\": \"%s\", \"skipped\": \"no plan for this shape\"}\n", solver);
    return 0;
  }
  double planned = bench_cpu();
  begun = last = planned, gap = said = 0;
  tct_model *model = tct_fit(plan, data[tct_config_labels(&c) == TCT_LABELS_REAL], &err);
  double end = bench_cpu();
  gap = fmax(gap, end - last);
  printf(
      "{\"bench\": \"cancel\", \"solver\": \"%s\", \"loss\": \"%s\", \"rows\": %lld, \"cols\": %lld, \"plan\": %.3f, "
      "\"run\": %.2f, \"gap\": %.3f, \"end\": %.3f, \"how\": \"%s\"}\n",
      solver, c.loss, (long long)rows, (long long)cols, planned - start, end - planned, gap, said > 0 ? end - said : 0,
      model ? "finished" : err.text);
  fflush(stdout);
  tct_model_free(model);
  tct_plan_free(plan);
  return gap;
}

int main(int argc, char **argv) {
  int64_t cols = argc > 1 ? atoll(argv[1]) : 2000, rows = argc > 2 ? atoll(argv[2]) : 2000;
  const char *only = argc > 4 ? argv[4] : NULL, *worst_name = "";
  double worst = 0;
  tct_error err = {0};
  size_t k;
  json_t *entry;
  limit = argc > 3 ? atof(argv[3]) : 60;
  char *text = tct_components_json("solver", NULL, &err);
  if (!text) bench_fail(&err);
  json_t *root = json_loads(text, 0, NULL);
  tct_data *const data[2] = {table_of(rows, cols, TCT_LABELS_BINARY), table_of(rows, cols, TCT_LABELS_REAL)};
  json_array_foreach(root, k, entry) {
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (!name || !strcmp(name, "auto") || (only && strcmp(only, name) != 0)) continue;
    double here = measure(name, json_is_true(json_object_get(entry, "private")), rows, cols, data);
    if (here > worst) worst = here, worst_name = name;
  }
  printf("{\"bench\": \"cancel\", \"worst\": \"%s\", \"gap\": %.3f}\n", worst_name, worst);
  json_decref(root);
  tct_text_free(text);
  return 0;
}
