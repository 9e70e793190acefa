/* bench_dpcd_speed.c - time of one fused step of dpcd beside a -ffast-math kernel, a plain loop and a stream.
 *
 * Logistic loss, as in the paper's electricity set: 45312 x 8.  Usage: bench_dpcd_speed [GIB (2)] [cache|news20|memory
 * (all)]; GIB: size of X in floats out of cache, 0 = leave that part out.  Times are the best of several rounds, ratios
 * the median of those within a round; bytes are what a step must move. */
#include "bench.h"
#include "core/alloc.h"
#include "dpcd_fast.h"
#include "la/kernels/fused.h"
#include "mech/mech.h"

enum { REPEATS = 15 };

typedef struct set {
  long n, p;
  double *x, *y, *z;
  float *xf, *yf, *zf;
  double *scale;
} set;

static void *get(long count, size_t size) {
  void *memory = tct_alloc(count, size); /* as the library's own arrays: huge pages where large */
  if (!memory) exit(1);
  return memory;
}

static set set_new(long n, long p) {
  set s = {.n = n, .p = p};
  s.x = get(n * p, 8), s.y = get(n, 8), s.z = get(n, 8), s.scale = get(n, 8);
  s.xf = get(n * p, 4), s.yf = get(n, 4), s.zf = get(n, 4);
  unsigned long state = 1;
  for (long i = 0; i < n * p; i++) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    s.x[i] = (double)(state >> 40) / 8388608.0 - 1;
    s.xf[i] = (float)s.x[i];
  }
  for (long i = 0; i < n; i++)
    s.y[i] = s.x[i] > 0.2 ? 1 : -1, s.yf[i] = (float)s.y[i], s.z[i] = 0, s.zf[i] = 0, s.scale[i] = 1;
  return s;
}

static void set_free(set *s) {
  tct_free(s->x), tct_free(s->y), tct_free(s->z), tct_free(s->xf), tct_free(s->yf), tct_free(s->zf), tct_free(s->scale);
}

static volatile double sink;

enum what { FUSED, FAST, STREAM, PLAIN };

/* Seconds of `steps` steps. */
static double once(set *s, enum what what, int single, long steps, tct_fused *f) {
  double clip = 0.5, lattice = single ? 0x1p-20 : tct_lattice_spacing(clip, 50, s->n), sum = 0, delta = 1e-6;
  double start = bench_now();
  for (long k = 0; k < steps; k++) {
    long j = k % s->p, from = (k + 1) % s->p;
    double *x = s->x + j * s->n, *xp = s->x + from * s->n;
    float *xf = s->xf + j * s->n, *xpf = s->xf + from * s->n;
    if (what == FUSED) tct_fused_move(f, from, delta), sum += tct_fused_sum(f, j, clip, lattice);
    if (what == FAST && !single) sum += fast_step_f64(s->n, s->z, s->y, xp, delta, x, clip);
    if (what == FAST && single) sum += (double)fast_step_f32(s->n, s->zf, s->yf, xpf, (float)delta, xf, (float)clip);
    if (what == STREAM && !single) sum += fast_stream_f64(s->n, s->z, s->y, xp, delta, x);
    if (what == STREAM && single) sum += (double)fast_stream_f32(s->n, s->zf, s->yf, xpf, (float)delta, xf);
    if (what == PLAIN) sum += plain_step(s->n, s->z, s->y, xp, delta, x, clip);
    delta = -delta;
  }
  sink = sum;
  return bench_now() - start;
}

/* A kernel under test: what, whether with records' limits, and on how many threads. */
typedef struct runner {
  enum what what;
  int limited, threads;
} runner;
enum { FAST_ONE, STREAM_ONE, FUSED_ONE, FUSED_TWO, LIMITED_ONE, PLAIN_ONE, RUNNERS };
static const runner runners[RUNNERS] = {{FAST, 0, 1},  {STREAM, 0, 1}, {FUSED, 0, 1},
                                        {FUSED, 0, 2}, {FUSED, 1, 1},  {PLAIN, 0, 1}};

typedef struct timing {
  double seconds[RUNNERS];        /* of a step, the best round */
  double ratio[RUNNERS][RUNNERS]; /* the median over rounds of one's time over the other's */
} timing;

static int ascending(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Rounds in which every kernel has its turn: what the machine does meanwhile falls on all of them, and ratios are taken
 * within a round. */
static void time_all(set *s, int single, long steps, int rounds, int plain, timing *out) {
  tct_matrix m = {.rows = s->n, .cols = s->p, .layout = TCT_DENSE_COLS, .stride = s->n};
  m.value_type = single ? TCT_F32 : TCT_F64;
  m.values = single ? (const void *)s->xf : (const void *)s->x;
  tct_view view = {.x = &m, .row_scale = s->scale, .rows = s->n, .p = s->p, .row_norm = 1};
  double taken[RUNNERS][REPEATS], inverse[8], of[REPEATS];
  int count = plain ? RUNNERS : PLAIN_ONE;
  for (int j = 0; j < 8; j++) inverse[j] = 1;
  for (int r = 0; r < rounds; r++)
    for (int k = 0; k < count; k++) {
      tct_fused f = {0};
      tct_error err = {0};
      tct_fused_settings fused = {TCT_FUSED_LOGISTIC, 0, single, runners[k].threads};
      if (tct_fused_new(&view, s->y, fused, &f, &err) != TCT_OK ||
          (runners[k].limited && tct_fused_limits(&f, inverse, &err) != TCT_OK))
        bench_fail(&err);
      if (runners[k].what == FUSED) once(s, FUSED, single, 1, &f); /* its margins are fresh memory */
      taken[k][r] = once(s, runners[k].what, single, steps, &f) / (double)steps;
      tct_fused_free(&f);
    }
  for (int k = 0; k < count; k++) {
    out->seconds[k] = INFINITY;
    for (int r = 0; r < rounds; r++) out->seconds[k] = fmin(out->seconds[k], taken[k][r]);
    for (int other = 0; other < count; other++) {
      for (int r = 0; r < rounds; r++) of[r] = taken[k][r] / taken[other][r];
      qsort(of, (size_t)rounds, sizeof *of, ascending);
      out->ratio[k][other] = of[rounds / 2];
    }
  }
}

static void report(const char *where, const char *kernel, const set *s, int single, const timing *t, int k, int other) {
  double bytes = (single ? 4.0 : 8.0) * (runners[k].limited ? 6 : 5); /* margins in and out, labels, columns, limits */
  printf(
      "{\"bench\": \"dpcd_speed\", \"where\": \"%s\", \"kernel\": \"%s\", \"rows\": %ld, \"values\": \"%s\", "
      "\"threads\": %d, "
      "\"ns_per_entry\": %.4f, \"bytes_per_entry\": %g, \"gb_per_s\": %.2f, \"of_yardstick\": %.3f, \"best_of_best\": "
      "%.3f}\n",
      where, kernel, s->n, single ? "f32" : "f64", runners[k].threads, 1e9 * t->seconds[k] / (double)s->n, bytes,
      bytes * (double)s->n / t->seconds[k] / 1e9, t->ratio[k][other], t->seconds[k] / t->seconds[other]);
  fflush(stdout);
}

static void compare(const char *where, set *s, long steps, int rounds, int plain) {
  for (int single = 0; single < 2; single++) {
    timing t;
    time_all(s, single, steps, rounds, plain && !single, &t);
    report(where, "fast-math", s, single, &t, FAST_ONE, FAST_ONE);
    report(where, "stream over fast-math", s, single, &t, STREAM_ONE, FAST_ONE);
    report(where, "fused over fast-math", s, single, &t, FUSED_ONE, FAST_ONE);
    report(where, "fused with records' limits over fast-math", s, single, &t, LIMITED_ONE, FAST_ONE);
    report(where, "fused over stream", s, single, &t, FUSED_ONE, STREAM_ONE);
    report(where, "fused, two threads over one", s, single, &t, FUSED_TWO, FUSED_ONE);
    if (plain && !single) report(where, "plain loop over fused", s, single, &t, PLAIN_ONE, FUSED_ONE);
  }
}

/* Processor time of this thread: on a busy machine the wall shows the neighbours. */
static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t start_of(const tct_matrix *m, int64_t i) {
  return m->index_type == TCT_I64 ? ((const int64_t *)m->start)[i] : ((const int32_t *)m->start)[i];
}

/* Seconds of one pass: a run of 12 passes less one of 2, so that neither reading nor conversion counts. */
static double pass_seconds(tct_data *data) {
  double min[2] = {INFINITY, INFINITY};
  for (int repeat = 0; repeat < 5; repeat++)
    for (int more = 0; more < 2; more++) {
      tct_config c;
      tct_config_default(&c);
      c.intercept = 0;
      c.loss = "logistic", c.solver = more ? "dpcd:passes=12,average=last" : "dpcd:passes=2,average=last";
      c.epsilon = 1, c.delta = 1e-9, c.row_norm = 1, c.threads = 1, c.has_seed = 1;
      double start = cpu_now();
      tct_model_free(bench_train(&c, data));
      min[more] = fmin(min[more], cpu_now() - start);
    }
  return (min[1] - min[0]) / 10;
}

/* The first rows of a CSR matrix without the columns of index `cols` and above. */
static tct_matrix corner(const tct_matrix *m, int64_t rows, int64_t cols) {
  tct_matrix part = *m;
  size_t value = m->value_type == TCT_F32 ? 4 : 8, place = m->index_type == TCT_I64 ? 8 : 4;
  int64_t entries = start_of(m, rows), at = 0;
  char *start = get(rows + 1, place), *index = get(entries, place), *values = get(entries, value);
  memset(start, 0, place);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = start_of(m, i); k < start_of(m, i + 1); k++) {
      int64_t j = place == 8 ? ((const int64_t *)m->index)[k] : ((const int32_t *)m->index)[k];
      if (j >= cols) continue;
      memcpy(index + (size_t)at * place, (const char *)m->index + (size_t)k * place, place);
      memcpy(values + (size_t)at++ * value, (const char *)m->values + (size_t)k * value, value);
    }
    int32_t narrow = (int32_t)at;
    memcpy(start + (size_t)(i + 1) * place, place == 8 ? (void *)&at : (void *)&narrow, place);
  }
  part.rows = rows, part.cols = cols, part.start = start, part.index = index, part.values = values;
  return part;
}

/* Cost of a pass of dpcd over news20's first class against the rest: whole, its first half of records, and its first
 * half of columns.  A dense pass would cost rows * columns. */
static void sparse(void) {
  tct_data *data = bench_read("news20_multiclass.libsvm.xz", TCT_LABELS_REAL, NULL, NULL, 0);
  if (!data) return;
  const tct_matrix *m = tct_data_matrix(data);
  double *y = get(m->rows, 8);
  for (long i = 0; i < m->rows; i++) y[i] = tct_data_labels(data)[i] == 1 ? 1 : -1;
  for (int what = 0; what < 3; what++) {
    tct_matrix part = corner(m, what == 1 ? m->rows / 2 : m->rows, what == 2 ? m->cols / 2 : m->cols);
    tct_error err = {0};
    tct_data *view = tct_data_view(&part, y, TCT_LABELS_BINARY, NULL, NULL, &err);
    if (!view) bench_fail(&err);
    double pass = pass_seconds(view), entries = (double)start_of(&part, part.rows);
    printf(
        "{\"bench\": \"dpcd_speed\", \"where\": \"news20\", \"rows\": %lld, \"columns\": %lld, \"entries\": %.0f, "
        "\"seconds_per_pass\": %.5f, \"ns_per_entry\": %.2f, \"ns_per_column\": %.1f}\n",
        (long long)part.rows, (long long)part.cols, entries, pass, 1e9 * pass / entries,
        1e9 * pass / (double)part.cols);
    fflush(stdout);
    tct_data_free(view);
    tct_free((void *)(uintptr_t)part.start), tct_free((void *)(uintptr_t)part.index),
        tct_free((void *)(uintptr_t)part.values);
  }
  tct_free(y);
  tct_data_free(data);
}

static void in_cache(void) {
  set s = set_new(45312, 8);
  compare("cache", &s, 40, REPEATS, 1);
  set_free(&s);
}

static void in_memory(double gib) {
  set s = set_new((long)(gib * 1073741824.0 / 4 / 8), 8);
  compare("memory", &s, 4, 9, 0);
  set_free(&s);
}

int main(int argc, char **argv) {
  double gib = argc > 1 ? atof(argv[1]) : 2;
  const char *part = argc > 2 ? argv[2] : "";
  if (!*part || !strcmp(part, "cache")) in_cache();
  if (!*part || !strcmp(part, "news20")) sparse();
  if ((!*part || !strcmp(part, "memory")) && gib > 0) in_memory(gib);
  return 0;
}
