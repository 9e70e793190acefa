/* same_bits.c - one line for each of some thousand seeded runs: case, coefficients bit for bit, events and claim.
 *
 * Uses the public interface alone, so that one program runs against the libraries of two builds (same_bits.sh). */
#include "tacit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 600, COLS = 5 };

static const char *const solvers[] = {"auto",
                                      "dpscd",
                                      "dpscd:state=paper",
                                      "dpscd:batch=600",
                                      "dpscd:batch=40,epochs=3",
                                      "seqdpscd",
                                      "primaldpscd",
                                      "primaldpscd:batch=3",
                                      "dpcd",
                                      "dpcd:clipping=coordinate",
                                      "dpcd:smoothness=public",
                                      "dpcd:smoothness=exact",
                                      "dpcd:form=laplace",
                                      "dpcd:order=greedy,inner=8",
                                      "dpcd:order=uniform",
                                      "dpcd:accounting=rdp",
                                      "dpcd:clip=0.3",
                                      "dpcd:order=greedy,smoothness=public,inner=6",
                                      "dpcd:precision=single",
                                      "dpcd:average=inner,outer=2",
                                      "dpcd:bounds=0.4,moments=0.2",
                                      "dpfw:steps=25",
                                      "dpfw:form=plain,steps=25",
                                      "dpfw",
                                      "dpfw:feature_bound=0.5",
                                      "dpfw_parties",
                                      "dpfw_parties:radius=winner",
                                      "dpfw_parties:columns=0",
                                      "dpfw_parties:tau=2,parties=3,steps=20",
                                      "dpfw_parties:trust=0.5,sketch=40",
                                      "dpfw_parties:local=sent,clip=0.7",
                                      "dpsgd",
                                      "dpsgd:batch=600",
                                      "dpsgd:average=last",
                                      "bcfw",
                                      "scd",
                                      "sgd",
                                      "cd",
                                      "proxgd",
                                      "objpert",
                                      "objpert:variant=kst",
                                      "objpert:variant=chaudhuri",
                                      "objpert:norm=1,clip=1,budget_fraction=0.3",
                                      "outpert",
                                      "outpert:variant=gd",
                                      "adassp",
                                      "adassp:norm=1,ridge=1",
                                      "adassp:split=0.3",
                                      "lbfgs",
                                      "majority",
                                      "dpagd",
                                      "dpagd:variant=paper,steps=8",
                                      "dpagd:batch=100,steps=5",
                                      "dpagd:splits=30,steps=6",
                                      "dpgd",
                                      "dpgd:steps=20",
                                      "dpnewton",
                                      "dpnewton:steps=8",
                                      "dpnewton:budget_fraction=0.3",
                                      "dpmetric",
                                      "dpmetric:shape=diagonal,steps=9",
                                      "dpmetric:norms=0,steps=9",
                                      "dpmetric:second=0,clip=0.3",
                                      "privgene",
                                      "privgene:c=0.1",
                                      "sgd_ma:steps=50",
                                      "sgd_adv:steps=20"};
static const char *const losses[] = {"logistic", "squared", "hinge", "huber", "smoothed_hinge"};
static const char *const penalties[] = {"none", "l2:lambda=0.05", "l1ball:radius=1", "l1:lambda=0.02"};
static const double epsilons[] = {1, 0.2, INFINITY};

static double x[ROWS * COLS], sparse[ROWS * COLS], y[ROWS], weight[ROWS];
static int64_t start[ROWS + 1], person[ROWS];
static int32_t column[ROWS * COLS];

static double next(uint64_t *state) { /* splitmix64, in [-1, 1) */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return 2 * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53) - 1;
}

static void make_data(void) {
  uint64_t state = 3;
  int64_t stored = 0;
  for (int i = 0; i < ROWS; i++) {
    double margin = 0.3 * next(&state);
    for (int j = 0; j < COLS; j++) {
      double v = next(&state);
      x[i * COLS + j] = v < -0.3 ? 0 : v;
      margin += (j % 2 ? -1 : 1) * x[i * COLS + j];
      if (x[i * COLS + j] != 0) sparse[stored] = v, column[stored++] = j;
    }
    start[i + 1] = stored;
    y[i] = margin > 0 ? 1 : -1;
    weight[i] = 0.6 + 0.4 * next(&state);
    person[i] = i / 3;
  }
}

typedef struct run {
  const char *solver, *loss, *penalty;
  double epsilon;
  int relation, sparse, weighed; /* weighed: 0, 1 weights, 2 persons */
} run;

static tct_config config_of(const run *r) {
  tct_config c;
  tct_config_default(&c);
  c.intercept = 0;
  int open = strstr("bcfw scd sgd cd proxgd lbfgs majority", r->solver) != NULL;
  c.loss = r->loss, c.penalty = r->penalty, c.solver = r->solver;
  if (!open) c.epsilon = r->epsilon, c.delta = 1e-5;
  c.neighbours = r->relation;
  c.row_norm = 1.2, c.label_bound = 1;
  c.intercept = strncmp(r->solver, "dpfw_parties", 12) != 0;
  c.threads = 1, c.has_seed = 1, c.seed = 11;
  return c;
}

static tct_model *train(const run *r, tct_error *err) {
  tct_matrix dense = {.rows = ROWS, .cols = COLS, .layout = TCT_DENSE_ROWS, .values = x, .stride = COLS};
  tct_matrix csr = {.rows = ROWS, .cols = COLS, .layout = TCT_CSR, .values = sparse, .index = column};
  csr.start = start, csr.index_type = TCT_I64;
  int64_t wide[ROWS * COLS];
  for (int k = 0; k < ROWS * COLS; k++) wide[k] = column[k];
  csr.index = wide;
  tct_config c = config_of(r);
  int real = !strcmp(r->loss, "squared") || !strcmp(r->loss, "huber");
  tct_plan *plan = tct_plan_new(&c, ROWS, COLS, err);
  tct_data *data =
      plan ? tct_data_view(r->sparse ? &csr : &dense, y, real ? TCT_LABELS_REAL : TCT_LABELS_BINARY, NULL, NULL, err)
           : NULL;
  tct_status status = data ? TCT_OK : TCT_E_RUN;
  if (data && r->weighed)
    status = tct_data_weigh(data, r->weighed == 1 ? weight : NULL, 1, r->weighed == 2 ? person : NULL, err);
  tct_model *model = status == TCT_OK ? tct_fit(plan, data, err) : NULL;
  tct_data_free(data);
  tct_plan_free(plan);
  return model;
}

/* From the text of the model file: the member `key`, to the end of its line or of its list. */
static void print_member(const char *json, const char *key, char end) {
  const char *at = strstr(json, key);
  for (; at && *at && *at != end; at++)
    if (*at != '\n' && *at != ' ') putchar(*at);
  putchar(' ');
}

static void report(const run *r) {
  tct_error err = {0};
  printf("%s %s %s %g %d %d %d | ", r->solver, r->loss, r->penalty, r->epsilon, r->relation, r->sparse, r->weighed);
  tct_model *model = train(r, &err);
  if (!model) {
    printf("refused (%d)\n", (int)err.status);
    return;
  }
  for (int j = 0; j < COLS; j++) printf("%a ", tct_model_coefficients(model)[j]);
  printf("%a ", *tct_model_intercepts(model));
  char *text = tct_model_json(model, &err);
  print_member(text, "\"solver\": \"", '\n');
  print_member(text, "\"epsilon\": ", '\n');
  print_member(text, "\"accountant\": ", '\n');
  print_member(text, "\"events\": ", ']');
  putchar('\n');
  tct_text_free(text);
  tct_model_free(model);
}

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : "";
  make_data();
  for (int s = 0; s < COUNT(solvers); s++)
    for (int k = 0; k < COUNT(losses) * COUNT(penalties) * 3 * 2 * 2 * 3; k++) {
      run r = {.solver = solvers[s], .loss = losses[k % 5], .penalty = penalties[k / 5 % 4]};
      r.epsilon = epsilons[k / 20 % 3], r.relation = k / 60 % 2, r.sparse = k / 120 % 2, r.weighed = k / 240;
      if (strncmp(r.solver, only, strlen(only)) || (r.sparse && (r.relation || r.epsilon != 1))) continue;
      if (r.weighed && r.epsilon != 1) continue;
      report(&r);
    }
  return 0;
}
