/* bench_agd_figures.c - the protocol of Lee and Kifer 2018, Figures 1 to 4: accuracy and objective over epsilon.
 *
 * Min-max scaling (by the data: unaccounted), constant column, delta 1e-8 (KDD 1e-12), add_remove, repeated 5-fold
 * cross-validation.  Rows are clipped to R: near the median norm for bank and ipums-br, otherwise the public bound.
 * That is the square root of the number of attributes (numbers and one-hot groups) plus one.  Accuracy on the held-out
 * part; objective: mean loss (logistic, or hinge for both hinges) on the training part without penalty.  So solvers
 * that need a ridge stand on the same footing.
 *
 * Usage: bench_agd_figures quick|full|sweeps [FOLDER (out)] [DATA,.. (all)] [EPSILON,.. (all)] [SOLVER ...]
 *        bench_agd_figures DATA,.. EPSILON,.. FITS LOSS PENALTY SOLVER ...      (DATA: all, EPSILON: all)
 * quick: 5 fits and few solvers. full: 10 fits of each solver of the paper's figures, fewer (but two, as of all on KDD)
 * where these take longer than 6 s per cell. sweeps: Figure 1 on Adult, 2 to 5 fits.  All add lines to
 * FOLDER/agd_figures.csv, for bench/lib/plot.py.
 */
#include "agd_sets.h"

#include <sys/stat.h>

enum { FOLDS = 5, MOST_SOLVERS = 32 };

typedef struct sums {
  double accuracy, accuracy2, objective, objective2, seconds;
  int fits;
} sums;

/* One cell of a figure: every solver at one epsilon on one data set. */
typedef struct cell {
  const agd_source *source;
  const char *loss, *penalty;
  double epsilon, patience; /* seconds: a solver that has used more gets no further fit after its second */
  int fits, count;
  const char *solvers[MOST_SOLVERS];
} cell;

static double deviation(double sum, double square, int fits) {
  double mean = sum / fits;
  return sqrt(fmax(0, square / fits - mean * mean));
}

static int is_public(const char *solver) {
  return !strncmp(solver, "lbfgs", 5) || !strncmp(solver, "majority", 8) || !strncmp(solver, "scd", 3);
}

/* What a private solver is given: a ridge where it has no proof or no form without one, and a smooth loss where it has
 * no proof for the hinge. */
static tct_config settings(const cell *c, const char *solver, uint64_t seed) {
  tct_config config;
  const agd_source *s = c->source;
  int perturbs = !strncmp(solver, "objpert", 7) || !strncmp(solver, "outpert", 7) || !strncmp(solver, "lbfgs", 5);
  int dual = !strncmp(solver, "dpscd", 5) || !strncmp(solver, "outpert", 7) || !strncmp(solver, "scd", 3);
  tct_config_default(&config);
  config.intercept = 0;
  config.solver = solver;
  config.loss = perturbs && !strcmp(c->loss, "hinge") ? "smoothed_hinge" : c->loss;
  config.penalty = dual && !strcmp(c->penalty, "none") ? "l2:lambda=1e-3" : c->penalty;
  config.scale = "min-max", config.intercept = 1, config.row_norm = s->norm, config.threads = 1;
  if (!is_public(solver)) config.epsilon = c->epsilon, config.delta = s->delta, config.has_seed = 1, config.seed = seed;
  if (s->bound > 0) config.label_bound = s->bound, config.label_scale = "center";
  return config;
}

/* Mean loss or, of classes, accuracy in %, of a model on data. */
static double score(const cell *c, const tct_model *model, const tct_data *data, int accuracy) {
  tct_error err = {0};
  int64_t n = tct_data_rows(data);
  double *z = malloc((size_t)n * sizeof *z), sum = 0;
  const double *y = tct_data_labels(data);
  if (tct_predict(model, data, z, &err) != TCT_OK) bench_fail(&err);
  for (int64_t i = 0; i < n; i++) {
    double m = y[i] * z[i];
    if (c->source->bound > 0)
      sum += accuracy ? (z[i] - y[i]) * (z[i] - y[i]) : 0.5 * (z[i] - y[i]) * (z[i] - y[i]);
    else if (accuracy)
      sum += (z[i] > 0) == (y[i] > 0) ? 100 : 0; /* as predict says */
    else
      sum += strcmp(c->loss, "logistic") ? fmax(0, 1 - m) : fmax(0, -m) + log1p(exp(-fabs(m)));
  }
  free(z);
  return sum / (double)n;
}

/* The solver that the rule takes, if it is on the list with nothing set: the same seed gives the same model. */
static int taken_by_auto(const cell *c, const char *plan) {
  for (int k = 0; k < c->count; k++) {
    char key[96];
    snprintf(key, sizeof key, "\"%s:", c->solvers[k]); /* the text of "solver" begins so */
    if (!strchr(c->solvers[k], ':') && strstr(plan, key)) return k;
  }
  return -1;
}

static void one_fit(const cell *c, int k, tct_data *train, tct_data *test, uint64_t seed, sums *all) {
  tct_error err = {0};
  tct_config config = settings(c, c->solvers[k], seed);
  double start = bench_cpu();
  tct_plan *plan = tct_plan_new(&config, tct_data_rows(train), tct_data_cols(train), &err);
  if (plan && !strcmp(c->solvers[k], "auto")) {
    char *json = tct_plan_json(plan, &err);
    int same = json ? taken_by_auto(c, json) : -1;
    tct_text_free(json);
    if (same >= 0 && same < k) {
      all[k] = all[same];
      tct_plan_free(plan);
      return;
    }
  }
  tct_model *model = plan ? tct_fit(plan, train, &err) : NULL;
  double seconds = bench_cpu() - start;
  tct_plan_free(plan);
  if (!model) {
    if (seed == 1) fprintf(stderr, "%s: %s\n", c->solvers[k], err.text);
    return;
  }
  double a = score(c, model, test, 1), o = score(c, model, train, 0);
  all[k].accuracy += a, all[k].accuracy2 += a * a, all[k].objective += o, all[k].objective2 += o * o;
  all[k].seconds += seconds, all[k].fits++;
  tct_model_free(model);
}

static void print_cell(const cell *c, const sums *all) {
  for (int k = 0; k < c->count; k++) {
    const sums *r = &all[k];
    if (!r->fits) continue;
    printf(
        "{\"bench\": \"agd_figures\", \"data\": \"%s\", \"loss\": \"%s\", \"penalty\": \"%s\", \"epsilon\": %g, "
        "\"solver\": \"%s\", \"%s\": %.2f, \"deviation\": %.2f, \"objective\": %.4f, \"objective_deviation\": %.4f, "
        "\"seconds\": %.3f, \"fits\": %d}\n",
        c->source->name, c->loss, c->penalty, c->epsilon, c->solvers[k], c->source->bound > 0 ? "mse" : "accuracy",
        r->accuracy / r->fits, deviation(r->accuracy, r->accuracy2, r->fits), r->objective / r->fits,
        deviation(r->objective, r->objective2, r->fits), r->seconds / r->fits, r->fits);
  }
  fflush(stdout);
}

/* A point of each series; y is the accuracy. */
static void write_points(const cell *c, const sums *all, FILE *csv, const char *figure, const char *panel, double x) {
  for (int k = 0; k < c->count; k++) {
    const sums *r = &all[k];
    if (!r->fits) continue;
    fprintf(csv, "%s,%s,\"%s\",%g,%.4f,%.4f,%.6f,%.6f,%.4f,%d\n", figure, panel, c->solvers[k], x,
            r->accuracy / r->fits, deviation(r->accuracy, r->accuracy2, r->fits), r->objective / r->fits,
            deviation(r->objective, r->objective2, r->fits), r->seconds / r->fits, r->fits);
  }
  fflush(csv);
}

/* all: zeros, or what it was for another epsilon: what is public stays. */
static void measure(const cell *c, agd_table *t, sums *all) {
  for (int k = 0; k < c->count; k++)
    if (!is_public(c->solvers[k])) all[k] = (sums){0};
  for (int f = 0; f < c->fits; f++) {
    if (f % FOLDS == 0) agd_shuffle(t->order, t->table.n, (uint64_t)(f / FOLDS) + 1);
    agd_part train = agd_part_new(t, f % FOLDS, FOLDS, 0), test = agd_part_new(t, f % FOLDS, FOLDS, 1);
    for (int k = 0; k < c->count; k++)
      if (all[k].fits <= f && (all[k].fits < 2 || all[k].seconds < c->patience || !strcmp(c->solvers[k], "auto")))
        one_fit(c, k, train.data, test.data, (uint64_t)f + 1, all);
    agd_part_free(&train), agd_part_free(&test);
  }
}

/* ---- the figures ---------------------------------------------------------------------------------- */

static FILE *open_csv(const char *folder) {
  char path[1024];
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/agd_figures.csv", folder);
  FILE *csv = fopen(path, "a");
  if (!csv) {
    fprintf(stderr, "cannot write %s\n", path);
    exit(1);
  }
  fseek(csv, 0, SEEK_END);
  if (ftell(csv) == 0) fputs("figure,data,series,x,y,deviation,objective,objective_deviation,seconds,fits\n", csv);
  return csv;
}

static const char *const quick_list[] = {
    "dpgd", "dpnewton", "objpert", "dpagd", "auto", "majority", "lbfgs:tolerance=1e-5", NULL};
static const char *const full_list[] = {"dpgd",    "dpnewton", "objpert",  "dpagd",  "dpagd:variant=paper",
                                        "outpert", "privgene", "sgd_adv",  "sgd_ma", "dpsgd",
                                        "dpcd",    "dpscd",    "majority", "auto",   "lbfgs:tolerance=1e-5",
                                        NULL};
/* KDD: what has mini-batches in the paper takes 40,000 records of a batch. */
static const char *const kdd_list[] = {
    "dpgd", "dpnewton", "objpert",  "dpagd", "dpagd:batch=40000",    "sgd_adv", "sgd_ma", "dpsgd",
    "dpcd", "dpscd",    "majority", "auto",  "lbfgs:tolerance=1e-5", NULL};

static void fill(cell *c, const char *const *list) {
  for (c->count = 0; list[c->count]; c->count++) c->solvers[c->count] = list[c->count];
}

/* Figures 2 and 3 (4: KDD), one row of panels for each loss. */
static void figures(int full, char *const *words, int count) {
  const char *folder = count > 0 ? words[0] : "out", *data = count > 1 ? words[1] : "all",
             *epsilons = count > 2 ? words[2] : "all";
  static const char *const losses[] = {"logistic", "hinge"};
  FILE *csv = open_csv(folder);
  for (int d = 0; d < AGD_FIGURE_SETS; d++) {
    agd_table t;
    if (!agd_listed(data, agd_sources[d].name) || !agd_load(&agd_sources[d], &t)) continue;
    int kdd = !strcmp(agd_sources[d].name, "kddcup99");
    cell c = {.source = &agd_sources[d], .penalty = "none", .fits = !full ? 5 : kdd ? 2 : 10};
    c.patience = full ? 6 : INFINITY;
    fill(&c, !full ? quick_list : kdd ? kdd_list : full_list);
    for (int k = 3; k < count; k++) c.solvers[k - 3] = words[k], c.count = k - 2;
    const char *wanted = strcmp(epsilons, "all") ? epsilons : kdd ? "0.05,0.2,0.8" : AGD_EPSILONS;
    sums all[2][MOST_SOLVERS] = {{{0}}};
    for (const char *at = wanted; *at;) {
      char *end;
      c.epsilon = strtod(at, &end);
      for (int l = 0; l < 2; l++) {
        c.loss = losses[l];
        measure(&c, &t, all[l]);
        print_cell(&c, all[l]);
        write_points(&c, all[l], csv, l ? "agd3" : "agd2", c.source->name, c.epsilon);
      }
      at = *end ? end + 1 : end;
    }
    agd_free(&t);
  }
  fclose(csv);
}

/* Figure 1: one option of dpagd at a time, on Adult; the paper's form and ours. */
static void sweeps(const char *folder) {
  static const struct {
    const char *key;
    double values[7];
  } axes[] = {{"splits", {10, 20, 40, 60, 80, 100, 0}},
              {"gamma", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0}},
              {"clip_grad", {1, 2, 3, 4, 8, 16, 0}},
              {"clip_obj", {1, 2, 3, 4, 8, 16, 0}}};
  static const double epsilons[] = {0.1, 1.6};
  FILE *csv = open_csv(folder);
  agd_table t;
  const agd_source *adult = agd_find("adult");
  if (!agd_load(adult, &t)) return;
  for (int a = 0; a < 4; a++)
    for (int e = 0; e < 2; e++)
      for (int v = 0; axes[a].values[v] > 0; v++) {
        char names[2][96], series[2][96];
        sums all[MOST_SOLVERS] = {{0}};
        cell c = {.source = adult, .loss = "logistic", .penalty = "none", .epsilon = epsilons[e], .fits = 5};
        c.patience = 1, c.count = 2;
        snprintf(names[0], sizeof names[0], "dpagd:%s=%g", axes[a].key, axes[a].values[v]);
        snprintf(names[1], sizeof names[1], "dpagd:variant=paper,%s=%g", axes[a].key, axes[a].values[v]);
        for (int k = 0; k < 2; k++) c.solvers[k] = names[k];
        measure(&c, &t, all);
        snprintf(series[0], sizeof series[0], "default at %g", epsilons[e]);
        snprintf(series[1], sizeof series[1], "paper at %g", epsilons[e]);
        print_cell(&c, all);
        for (int k = 0; k < 2; k++) c.solvers[k] = series[k];
        write_points(&c, all, csv, "agd1", axes[a].key, axes[a].values[v]);
      }
  agd_free(&t);
  fclose(csv);
}

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (!strcmp(word, "quick") || !strcmp(word, "full")) {
    figures(!strcmp(word, "full"), argv + 2, argc - 2);
    return 0;
  }
  if (!strcmp(word, "sweeps")) return sweeps(argc > 2 ? argv[2] : "out"), 0;
  if (argc < 7 || argc > MOST_SOLVERS) {
    fprintf(stderr, "usage: %s quick|full|sweeps [FOLDER] [DATA,..] [EPSILON,..] [SOLVER ...]\n", argv[0]);
    fprintf(stderr, "       %s DATA,.. EPSILON,.. FITS LOSS PENALTY SOLVER ...\n", argv[0]);
    return 2;
  }
  for (int d = 0; d < AGD_SETS; d++) {
    agd_table t;
    if (!agd_listed(argv[1], agd_sources[d].name) || !agd_load(&agd_sources[d], &t)) continue;
    cell c = {.source = &agd_sources[d], .loss = argv[4], .penalty = argv[5], .fits = atoi(argv[3]), .count = argc - 6};
    c.patience = INFINITY;
    for (int k = 6; k < argc; k++) c.solvers[k - 6] = argv[k];
    sums all[MOST_SOLVERS] = {{0}};
    for (const char *at = strcmp(argv[2], "all") ? argv[2] : AGD_EPSILONS; *at;) {
      char *end;
      c.epsilon = strtod(at, &end);
      measure(&c, &t, all);
      print_cell(&c, all);
      at = *end ? end + 1 : end;
    }
    agd_free(&t);
  }
  return 0;
}
