/* bench_counts.c - fits of counts whose mean is small or large: is the mean prediction the truth, with and without
 * errors?
 *
 *   bench_counts RATE,... N P EPSILON,... RUNS [--errors] [--exposure] [--varied] [--from R] [--solver S]
 *       one JSON line for each rate and epsilon: P columns and an intercept, labels up to 10 (100 from a rate of 3 on,
 * of 1 with exposures, and then 300 from 3 on, whose means of 100 a bound of 100 would cut). signal: n rate mu/Y.  off:
 * the median over runs of |mean prediction/truth - 1|; signed: of the ratio; worst: of all.  beyond: fits with a
 * prediction above the bound on the margin.  lost: the median of the part of what the columns take from the loss on the
 * table that the fit does not have. outside: fits whose mean prediction is off by more than three of its stated errors;
 * without errors what the model's note says, or what from which on it says so.
 *   --errors: robust ones.  z: the largest error of the logarithm of the mean prediction, in its own stated errors.
 *       covered, worst_weight, withheld and width are those of the P columns; width is over exact robust errors.
 *   --varied: means vary by an exponential factor.
 *   --exposure: records are pieces of follow-up in one of three periods, each of another hazard, which all columns
 *       change by the same ratio; P >= 3, the first two columns are the periods.  Times in a piece go from 0.1 to 1. */
#include "bench.h"
#include "coverage.h"
#include "model/model.h"
#include "read/table/data.h"
#include "train/plan.h"

enum { MOST = 32, LIST = 8 };

typedef struct cell {
  double rate, epsilon, label_bound, margin;
  int64_t n, p;
  int errors, exposure, varied, runs, from;
  const char *solver;
} cell;

typedef struct tally {
  double *off, *ratio, *lost, *width, z;
  int given[MOST], hit[MOST], widths, stated, outside, beyond, refused;
} tally;

/* w[p + 1]: of the oracle's rates, columns of deviation 1/4; periods have 0.5 and 1 over the first. */
static void truth_of(const cell *c, double *w) {
  for (int64_t j = 0; j < c->p; j++) w[j] = 4 * 0.6 / sqrt((double)(c->p - 2 * c->exposure));
  if (c->exposure) w[0] = 0.5, w[1] = 1;
  w[c->p] = log(c->rate);
}

/* The last column is of ones, which the exact fit needs and the private one does not see.  mean: of what is expected.
 */
static coverage_table draw(const cell *c, int run, double *offset, double *mean) {
  int64_t columns = c->p + 1;
  coverage_table t = {.n = c->n, .p = columns, .label_bound = c->label_bound};
  dice d = dice_new(77 + (uint64_t)(1000 * c->rate) + (uint64_t)c->exposure, (uint64_t)run);
  double w[MOST + 1];
  truth_of(c, w);
  t.row_norm = 1.5 * sqrt(1 + (double)c->p / 16 + c->exposure);
  t.x = malloc((size_t)(c->n * columns) * sizeof *t.x), t.y = malloc((size_t)c->n * sizeof *t.y);
  if (!t.x || !t.y) abort();
  if (c->exposure) t.offset = offset;
  *mean = 0;
  for (int64_t i = 0; i < c->n; i++) {
    double *x = t.x + i * columns, f = w[c->p];
    for (int64_t j = 0; j < c->p; j++) x[j] = fmin(fmax(dice_normal(&d) / 4, -1), 1);
    int period = (int)(3 * dice_unit(&d));
    if (c->exposure) x[0] = period == 1, x[1] = period == 2, f += offset[i] = log(0.1 + 0.9 * dice_unit(&d));
    for (int64_t j = 0; j < c->p; j++) f += x[j] * w[j];
    x[c->p] = 1;
    t.y[i] = fmin(dice_count(&d, exp(f) * (c->varied ? -log(dice_unit(&d)) : 1)), c->label_bound);
    *mean += exp(f) / (double)c->n;
  }
  return t;
}

static tct_model *fit(const cell *c, const coverage_table *t, const double *offset, int run) {
  tct_error err = {0};
  tct_config config;
  char loss[64];
  tct_config_default(&config);
  snprintf(loss, sizeof loss, "poisson:margin=%g", c->margin);
  config.loss = loss, config.epsilon = c->epsilon, config.delta = 1e-6, config.threads = 1, config.intercept = 1;
  if (c->errors) config.solver = "dponestep:errors=robust";
  if (c->solver) config.solver = c->solver;
  config.row_norm = t->row_norm, config.label_bound = t->label_bound;
  config.has_seed = 1, config.seed = (uint64_t)run + 77;
  tct_matrix x = {.rows = t->n, .cols = c->p, .layout = TCT_DENSE_ROWS, .values = t->x, .stride = t->p};
  tct_data *data = tct_data_view(&x, t->y, TCT_LABELS_REAL, NULL, NULL, &err);
  tct_plan *plan = data ? tct_plan_new(&config, t->n, c->p, &err) : NULL;
  if (!plan) bench_fail(&err);
  if (c->exposure) {
    data->offset = malloc((size_t)c->n * sizeof(double)), data->exposure = true;
    memcpy(data->offset, offset, (size_t)c->n * sizeof(double));
  }
  tct_model *model = tct_fit(plan, data, &err);
  if (!model) fprintf(stderr, "%s\n", err.text);
  tct_data_free(data);
  tct_plan_free(plan);
  return model;
}

static double margin_of(const coverage_table *t, const tct_model *model, int64_t i) {
  double f = model->intercept + (t->offset ? t->offset[i] : 0);
  for (int64_t j = 0; j < t->p - 1; j++) f += t->x[i * t->p + j] * model->coefficients[j];
  return f;
}

/* The part of the loss between the constant and the exact fit `least` that the model is above it. */
static double lost_of(const coverage_table *t, const tct_model *model, const double *exact) {
  double least = coverage_objective(t, POISSON, exact), w[MOST + 1] = {0}, counts = 0, exposure = 0;
  for (int64_t i = 0; i < t->n; i++) counts += t->y[i], exposure += t->offset ? exp(t->offset[i]) : 1;
  w[t->p - 1] = log(counts / exposure);
  double constant = coverage_objective(t, POISSON, w);
  memcpy(w, model->coefficients, (size_t)(t->p - 1) * sizeof *w), w[t->p - 1] = model->intercept;
  return (coverage_objective(t, POISSON, w) - least) / (constant - least);
}

static void take(const cell *c, const coverage_table *t, double mean, const tct_model *model, const double *exact,
                 const double *se, tally *all) {
  double sum = 0, slope[MOST + 1] = {0}, w[MOST + 1], unit[MOST + 1];
  int beyond = 0;
  truth_of(c, w);
  for (int64_t i = 0; i < t->n; i++) {
    double f = margin_of(t, model, i), at = exp(fmin(f, 300));
    beyond |= f > c->margin + 1e-9, sum += at;
    for (int64_t j = 0; j < t->p; j++) slope[j] += at * t->x[i * t->p + j];
  }
  int k = all->stated++;
  all->lost[k] = lost_of(t, model, exact);
  all->ratio[k] = sum / (double)t->n / mean, all->off[k] = fabs(all->ratio[k] - 1), all->beyond += beyond;
  const char *told = strstr(model->note, "of some ");
  if (!c->errors)
    all->outside += all->off[k] > 3 * fmax(fmax(0.02, 1 / sqrt((double)t->n * mean)), told ? atof(told + 8) / 100 : 0);
  if (!c->errors) return;
  for (int64_t j = 0; j < t->p; j++) slope[j] /= sum;
  tct_contrast whole = tct_inference_contrast(&model->inference, slope);
  if (whole.why != TCT_GIVEN)
    all->refused++;
  else
    all->z = fmax(all->z, fabs(log(all->ratio[k])) / whole.standard_error),
    all->outside += fabs(log(all->ratio[k])) > 3 * whole.standard_error;
  for (int64_t j = 0; j < c->p; j++) {
    memset(unit, 0, sizeof unit), unit[j] = 1;
    tct_contrast each = tct_inference_contrast(&model->inference, unit);
    if (each.why != TCT_GIVEN) continue;
    double half = tct_student_quantile(0.95, each.degrees) * each.standard_error;
    all->given[j]++, all->hit[j] += fabs(model->coefficients[j] - w[j]) <= half;
    all->width[all->widths++] = each.standard_error / se[j];
  }
}

static void print(const cell *c, tally *all) {
  int given = 0, hit = 0, stated = all->stated;
  double least = INFINITY;
  for (int64_t j = 0; j < c->p; j++) {
    given += all->given[j], hit += all->hit[j];
    if (all->given[j]) least = fmin(least, (double)all->hit[j] / all->given[j]);
  }
  printf("{\"bench\": \"counts\", \"rate\": %g, \"n\": %lld, \"p\": %lld, \"epsilon\": %g, \"errors\": %d, ", c->rate,
         (long long)c->n, (long long)c->p, c->epsilon, c->errors);
  printf("\"exposure\": %d, \"varied\": %d, \"from\": %d, \"runs\": %d, ", c->exposure, c->varied, c->from, c->runs);
  bench_put("signal", (double)c->n * c->rate * bench_mu(c->epsilon) / c->label_bound, ", ");
  bench_put("off", bench_middle(all->off, stated), ", "), bench_put("worst", stated ? all->off[stated - 1] : NAN, ", ");
  bench_put("signed", bench_middle(all->ratio, stated), ", "), bench_put("lost", bench_middle(all->lost, stated), ", ");
  printf("\"beyond\": %d, \"failed\": %d, \"outside\": %d", all->beyond, c->runs - stated, all->outside);
  if (c->errors) {
    printf(", \"no_error\": %d, ", all->refused);
    bench_put("z", all->z, ", "), bench_put("covered", (double)hit / given, ", "),
        bench_put("worst_weight", least, ", ");
    bench_put("withheld", 1 - (double)given / ((double)stated * (double)c->p), ", ");
    bench_put("width", bench_middle(all->width, all->widths), "");
  }
  printf("}\n");
  fflush(stdout);
}

static void run_cell(const cell *c) {
  tally all = {.off = malloc((size_t)(3 * c->runs) * sizeof(double))};
  double *offset = malloc((size_t)c->n * sizeof *offset), mean = 0;
  all.width = malloc((size_t)(c->runs * c->p) * sizeof *all.width);
  if (!all.off || !all.width || !offset) abort();
  all.ratio = all.off + c->runs, all.lost = all.ratio + c->runs;
  for (int run = c->from; run < c->from + c->runs; run++) {
    coverage_table t = draw(c, run, offset, &mean);
    double w[MOST + 1], se[MOST + 1] = {0};
    truth_of(c, w);
    coverage_exact(&t, POISSON, 1, w, se);
    tct_model *model = fit(c, &t, offset, run);
    if (model) take(c, &t, mean, model, w, se, &all);
    tct_model_free(model);
    coverage_free(&t);
  }
  print(c, &all);
  free(all.off), free(all.width), free(offset);
}

static int read_list(const char *text, double *list) {
  char *end = NULL;
  int count = 0;
  for (const char *at = text; count < LIST; at = end + 1) {
    list[count++] = strtod(at, &end);
    if (*end != ',') break;
  }
  return count;
}

int main(int argc, char **argv) {
  double rates[LIST], epsilons[LIST];
  if (argc < 6) {
    fprintf(stderr,
            "usage: bench_counts RATE,... N P EPSILON,... RUNS [--errors] [--exposure] [--varied] [--from R] [--solver "
            "S]\n");
    return argc == 1 ? 0 : 2;
  }
  cell c = {.n = atoll(argv[2]), .p = atoll(argv[3]), .runs = atoi(argv[5])};
  for (int k = 6; k < argc; k++) {
    c.errors |= !strcmp(argv[k], "--errors"), c.exposure |= !strcmp(argv[k], "--exposure");
    c.varied |= !strcmp(argv[k], "--varied");
    if (!strcmp(argv[k], "--from") && k + 1 < argc) c.from = atoi(argv[++k]);
    if (!strcmp(argv[k], "--solver") && k + 1 < argc) c.solver = argv[++k];
  }
  if (c.p < 3 || c.p > MOST || c.n <= c.p || c.runs < 1) return fprintf(stderr, "P is 3 to %d, N above P\n", MOST), 2;
  int many = read_list(argv[1], rates), several = read_list(argv[4], epsilons);
  for (int r = 0; r < many; r++)
    for (int e = 0; e < several; e++) {
      c.rate = rates[r], c.epsilon = epsilons[e];
      int small = c.rate * (c.exposure ? 3 : 1) < 3;
      c.label_bound = small                       ? 10
                      : c.exposure && c.rate >= 3 ? 300
                                                  : 100,
      c.margin = small                 ? 2
                 : c.label_bound > 100 ? 6
                                       : 4.5;
      run_cell(&c);
    }
  return 0;
}
