/* sources.h - the data sets of bench_metric and bench_tables: where each is read from, and its public facts. */
#ifndef TCT_BENCH_SOURCES_H
#define TCT_BENCH_SOURCES_H
#include "sets.h"

#include <stdbool.h>

typedef struct source {
  const char *name, *file, *schema, *label, *positive;
  int64_t cols;
  double attributes;
  double low, high; /* of real labels; equal: two classes */
} source;

enum { USED = 5 };
static const source sources[] = {
    {"ipums-br", "ipums_br_dpagd.csv.xz", NULL, "y", NULL, 0, 20, 0, 0},
    {"bank", "bank_dpagd.csv.xz", NULL, "y", NULL, 0, 16, 0, 0},
    {"a9a", "a9a.libsvm.xz", NULL, NULL, NULL, 123, 14, 0, 0},
    {"electricity", "electricity.csv.xz", NULL, "class", "UP", 0, 8, 0, 0},
    {"california", "california.csv.xz", "../../examples/california.schema.json", NULL, NULL, 0, 8, 0, 5.00001},
    {"covtype", "covtype_20k.csv.xz", NULL, NULL, "2", 0, 12, 0, 0},
    {"adult-raw", "adult_train.csv.xz", "../../examples/adult.schema.json", NULL, NULL, 0, 14, 0, 0},
    {"diabetes130", "diabetes130.csv.xz", "diabetes130.schema.json", NULL, NULL, 0, 16, 0, 0},
    {"nist_acs", NULL, NULL, NULL, NULL, 0, 18, 0, 0},
    {"phishing", "phishing.libsvm.xz", NULL, NULL, NULL, 68, 30, 0, 0},
    {"skin", "skin_nonskin.csv.xz", NULL, "class", "1", 0, 3, 0, 0},
    {"kddcup99", NULL, NULL, NULL, NULL, 0, 41, 0, 0},
    {"mushrooms", "mushrooms.libsvm.xz", NULL, NULL, "1", 112, 22, 0, 0},
    {"w8a", "w8a.libsvm.xz", NULL, NULL, NULL, 300, 300, 0, 0},
    {"stay", "diabetes130.csv.xz", "diabetes130_stay.schema.json", NULL, NULL, 0, 16, 1, 14},
    {"income", NULL, NULL, NULL, NULL, 0, 18, 0, 1e5},
    {"synthetic", NULL, NULL, NULL, NULL, 0, 0, -30, 30},
    {"hours", "adult_train.csv.xz", "adult_hours.schema.json", NULL, NULL, 0, 14, 1, 99},
    {"demand", "electricity.csv.xz", "electricity_demand.schema.json", NULL, NULL, 0, 7, 0, 1},
};
enum { SOURCES = sizeof sources / sizeof *sources };

static inline bench_table read_plain(const source *s, int labels) {
  tct_error err = {0};
  tct_read_options o;
  const char *path = bench_data(s->file);
  char last[64] = "Cover_Type";
  if (!path) return (bench_table){0};
  tct_read_options_default(&o);
  o.labels = labels;
  o.label = s->file[0] == 'c' && s->positive ? last : s->label;
  o.positive = s->positive;
  o.cols = s->cols;
  tct_data *data = tct_data_read(path, &o, &err);
  if (!data) bench_fail(&err);
  bench_table t = bench_table_of(data, labels);
  tct_data_free(data);
  return t;
}

static inline bench_table read_table(const source *s) {
  int labels = s->low < s->high ? TCT_LABELS_REAL : TCT_LABELS_BINARY;
  if (!strcmp(s->name, "kddcup99")) return bench_kddcup();
  if (!strcmp(s->name, "synthetic")) return bench_synthetic(40000, 90);
  if (!strcmp(s->name, "nist_acs") || !strcmp(s->name, "income")) {
    bench_table t = bench_nist_acs();
    for (int64_t i = 0; i < t.n && labels == TCT_LABELS_BINARY; i++) t.y[i] = t.y[i] > 25000 ? 1 : -1;
    t.labels = labels;
    return t;
  }
  return s->schema ? bench_table_schema(s->file, s->schema, labels) : read_plain(s, labels);
}

static inline bool listed(const char *list, int k) {
  size_t n = strlen(sources[k].name);
  if (!strcmp(list, "all") || (!strcmp(list, "used") && k < USED) || (!strcmp(list, "others") && k >= USED))
    return true;
  for (const char *at = list; (at = strstr(at, sources[k].name)); at++)
    if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n])) return true;
  return false;
}
#endif
