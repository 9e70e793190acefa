/* bench_dpcd_defaults.c - untuned dpcd beside the best of a grid, on ten data sets at epsilon 1, delta 1/n^2,
 * replace_one.
 *
 * Usage: bench_dpcd_defaults [RUNS (3)] [OPTIONS]   OPTIONS are added to the untuned solver's, e.g. "step=0.5".
 * Features over their largest magnitude (one set by its public schema) unless the name says raw or standardised.  Raw
 * sets give the paper's crude bounds, twice the largest magnitude of each feature, to both.  Excess: objective less
 * optimum. */
#include "dpcd_problems.h"

static const recipe sets[] = {
    {"electricity raw", "electricity.csv.xz", "class", "UP", NULL, "logistic", 0, 0},
    {"electricity standardised", "electricity.csv.xz", "class", "UP", NULL, "logistic", 1, 0},
    {"california raw", "california.csv.xz", "MedHouseVal", NULL, NULL, "squared", 0, 0},
    {"california standardised", "california.csv.xz", "MedHouseVal", NULL, NULL, "squared", 1, 0},
    {"bank", "bank_dpagd.csv.xz", "y", NULL, NULL, "logistic", 0, 1},
    {"adult", "a9a.libsvm.xz", NULL, NULL, NULL, "logistic", 0, 1},
    {"ipums-br", "ipums_br_dpagd.csv.xz", "y", NULL, NULL, "logistic", 0, 1},
    {"diabetes130", "diabetes130.csv.xz", "readmitted", NULL, "diabetes130.schema.json", "logistic", 0, 0},
    {"phishing", "phishing.libsvm.xz", NULL, NULL, NULL, "logistic", 0, 1},
    {"w8a", "w8a.libsvm.xz", NULL, NULL, NULL, "logistic", 0, 1},
};

static double tuned(const problem *s, char *winner, size_t size, int runs) {
  static const double clips[] = {0.5, 1, 2, 4, 8}, passes[] = {1, 3, 10, 30, 100}, steps[] = {1};
  double min = INFINITY;
  char solver[512];
  const char *smooth = strstr(s->name, "standardised") ? ",smoothness=public,moments=1" : "";
  for (int c = 0; c < 5; c++)
    for (int k = 0; k < 5; k++)
      for (int g = 0; g < 1; g++) {
        snprintf(solver, sizeof solver, "dpcd:clip=%.5g,passes=%g,step=%g%s%s%s", clips[c] * sqrt(s->trace), passes[k],
                 steps[g], smooth, s->bounds[0] ? ",bounds=" : "", s->bounds);
        double excess = problem_mean(s, solver, TCT_REPLACE_ONE, 1, 1);
        if (excess < min)
          min = excess, snprintf(winner, size, "clip=%g*sqrt(sum M),passes=%g,step=%g", clips[c], passes[k], steps[g]);
        if (excess == min) snprintf(winner + 200, size - 200, "%s", solver);
      }
  return problem_mean(s, winner + 200, TCT_REPLACE_ONE, 100, runs);
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 3, within = 0, count = 0;
  const char *extra = argc > 2 ? argv[2] : "";
  int only = argc > 3 ? atoi(argv[3]) : 0;             /* 1: leave the grid out */
  size_t first = argc > 4 ? (size_t)atoi(argv[4]) : 0; /* the set to begin with */
  for (size_t k = first; k < sizeof sets / sizeof *sets; k++) {
    problem s;
    char solver[512], winner[800] = "";
    if (!problem_load(&s, &sets[k])) continue;
    int bounds = strstr(s.name, "raw") && s.bounds[0];
    if (!bounds) s.bounds[0] = 0;
    const char *smooth = strstr(s.name, "standardised") ? "smoothness=public,moments=1" : bounds ? "bounds=" : "";
    snprintf(solver, sizeof solver, "dpcd%s%s%s%s%s", *extra || *smooth ? ":" : "", smooth, bounds ? s.bounds : "",
             *smooth && *extra ? "," : "", extra);
    double untuned = problem_mean(&s, solver, TCT_REPLACE_ONE, 100, runs) * s.optimum;
    double best = only ? NAN : tuned(&s, winner, sizeof winner, runs) * s.optimum;
    printf(
        "{\"bench\": \"dpcd_defaults\", \"set\": \"%s\", \"rows\": %lld, \"columns\": %lld, \"optimum\": %.6g, "
        "\"untuned\": %.5g, \"tuned\": %.5g, \"ratio\": %.3f, \"grid\": \"%s\"}\n",
        s.name, (long long)s.n, (long long)s.p, s.optimum, untuned, best, untuned / best, winner);
    fflush(stdout);
    within += untuned <= 2 * best;
    count++;
    problem_free(&s);
  }
  printf("{\"bench\": \"dpcd_defaults\", \"within_2_times\": %d, \"sets\": %d}\n", within, count);
  return count ? 0 : 77;
}
