/* bench_kernels.c - nanoseconds per entry of the row kernels and the logistic slopes, beside a streaming triad.
 *
 * One JSON line per result: kernel, layout, type, threads, ns_per_entry, gb_per_s (bytes of the matrix read),
 * triad_gb_per_s (a[i] = b[i] + s*c[i] over arrays larger than the caches, same threads, same run). Usage:
 * bench_kernels [megabytes per matrix, default 256] [threads, default 1] */
#include "la/kernels/kernels.h"
#include "core/alloc.h"
#include "loss/loss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { REPEATS = 5 }; /* the fastest of five is printed */

static double triad(int64_t n, int threads) {
  double *a = TCT_NEW(double, n), *b = TCT_NEW(double, n), *c = TCT_NEW(double, n), best = 1e9;
  if (!a || !b || !c) exit(1);
  for (int r = 0; r < REPEATS; r++) {
    double from = now();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
    double seconds = now() - from;
    if (seconds < best) best = seconds;
  }
  tct_free(a), tct_free(b), tct_free(c);
  return 24e-9 * (double)n / best;
}

typedef struct work {
  tct_view view;
  const double *w, *a;
  double *z, *g, *scratch;
  int64_t *order;
  int threads;
} work;

static void run_dot(work *k) {
  for (int64_t i = 0; i < k->view.rows; i++) k->z[i] = tct_row_dot(&k->view, i, k->w);
}
static void run_add(work *k) {
  for (int64_t i = 0; i < k->view.rows; i++) tct_row_add_lattice(&k->view, i, k->a[i], 0x1p-30, k->g);
}
static void run_margins(work *k) { tct_margins(&k->view, k->w, k->z, k->threads); }
static void run_sum(work *k) {
  tct_terms terms = {.row = k->order, .a = k->a, .count = k->view.rows, .lattice = 0x1p-30};
  tct_sum_lattice(&k->view, &terms, k->g, k->scratch, k->threads);
}
static void run_transpose(work *k) { tct_transpose_times(&k->view, k->a, k->g, k->threads); }
static void run_bound(work *k) {
  tct_view view;
  if (tct_view_bound(&view, k->view.x, 1, 1, TCT_ROWS_CLIP, k->threads, NULL) == TCT_OK) tct_view_free(&view);
}

static void measure(const char *name, void (*run)(work *), work *k, int threads, double roof) {
  double best = 1e9;
  for (int r = 0; r < REPEATS; r++) {
    double from = now();
    run(k);
    double seconds = now() - from;
    if (seconds < best) best = seconds;
  }
  const tct_matrix *m = k->view.x;
  printf(
      "{\"bench\":\"kernels\",\"kernel\":\"%s\",\"layout\":\"%s\",\"type\":\"%s\",\"rows\":%lld,\"cols\":%lld,"
      "\"threads\":%d,\"ns_per_entry\":%.4f,\"gb_per_s\":%.3f,\"triad_gb_per_s\":%.3f}\n",
      name, m->layout == TCT_CSR ? "csr" : "dense", m->value_type == TCT_F32 ? "f32" : "f64", (long long)m->rows,
      (long long)m->cols, threads, 1e9 * best / (double)tct_matrix_nonzeros(m),
      1e-9 * (double)tct_matrix_bytes(m) / best, roof);
  fflush(stdout);
}

static void bench_matrix(const tct_matrix *m, int threads, double roof, double roof_one) {
  int64_t p = m->cols + 1;
  work k = {.threads = threads};
  double *w = TCT_NEW(double, p), *a = TCT_NEW(double, m->rows);
  k.z = TCT_NEW(double, m->rows), k.g = TCT_NEW(double, p), k.scratch = TCT_NEW(double, threads *tct_thread_stride(p));
  k.order = TCT_NEW(int64_t, m->rows);
  if (!w || !a || !k.z || !k.g || !k.scratch || !k.order) exit(1);
  for (int64_t j = 0; j < p; j++) w[j] = 1.0 / (double)(j + 1);
  for (int64_t i = 0; i < m->rows; i++) a[i] = i % 2 ? 0.37 : -0.61, k.order[i] = i;
  k.w = w, k.a = a;
  if (tct_view_bound(&k.view, m, 1, 1, TCT_ROWS_CLIP, threads, NULL) != TCT_OK) exit(1);
  measure("row_dot", run_dot, &k, 1, roof_one);
  measure("row_add_lattice", run_add, &k, 1, roof_one);
  measure("margins", run_margins, &k, threads, roof);
  measure("sum_lattice", run_sum, &k, threads, roof);
  measure("transpose_times", run_transpose, &k, threads, roof);
  measure("view_bound", run_bound, &k, threads, roof);
  tct_view_free(&k.view);
  tct_free(w), tct_free(a), tct_free(k.z), tct_free(k.g), tct_free(k.scratch), tct_free(k.order);
}

static void bench_slopes(void) {
  enum { N = 4096, ROUNDS = 2000 };
  static double z[N], y[N], out[N];
  tct_loss l;
  if (tct_loss_make("logistic", &l, NULL) != TCT_OK) exit(1);
  for (int i = 0; i < N; i++) z[i] = (i - N / 2) * 0.005, y[i] = i % 3 ? 1 : -1;
  double from = now(), total = 0;
  for (int r = 0; r < ROUNDS; r++) l.kind->slopes(z, y, l.h, out, N);
  double slopes = now() - from;
  from = now();
  for (int r = 0; r < ROUNDS; r++) total += l.kind->sum(z, y, l.h, N);
  double sums = now() - from, each = 1e9 / ((double)N * ROUNDS);
  printf("{\"bench\":\"kernels\",\"kernel\":\"logistic_slopes\",\"ns_per_entry\":%.4f}\n", slopes * each);
  printf("{\"bench\":\"kernels\",\"kernel\":\"logistic_sum\",\"ns_per_entry\":%.4f,\"finite\":%d}\n", sums * each,
         total > 0);
}

/* One entry in `gap` is not zero. */
static void fill(double *x, int64_t n, int gap) {
  uint64_t s = 88172645463325252u;
  for (int64_t k = 0; k < n; k++) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17; /* xorshift64 (Marsaglia 2003) */
    x[k] = s % (uint64_t)gap ? 0 : (double)(s >> 11) * 0x1p-53 - 0.5;
  }
}

int main(int argc, char **argv) {
  int64_t megabytes = argc > 1 ? atoll(argv[1]) : 256;
  int threads = argc > 2 ? atoi(argv[2]) : 1;
  double roof = triad(megabytes << 17, threads), roof_one = triad(megabytes << 17, 1);
  bench_slopes();
  const int64_t widths[] = {60, 2000};
  for (int k = 0; k < 2; k++) {
    int64_t cols = widths[k], rows = (megabytes << 17) / cols;
    double *x = TCT_NEW(double, rows *cols);
    if (!x) return 1;
    for (int gap = 1; gap <= 20; gap += 19) {
      fill(x, rows * cols, gap);
      tct_matrix m = {.rows = rows, .cols = cols, .values = x, .stride = cols};
      for (int type = 0; type < 2; type++) {
        tct_owned_matrix c;
        if (tct_matrix_convert(&m, gap > 1 ? TCT_CSR : TCT_DENSE_ROWS, type, &c, NULL) != TCT_OK) return 1;
        bench_matrix(&c.m, threads, roof, roof_one);
        tct_matrix_free(&c);
      }
    }
    tct_free(x);
  }
  return 0;
}
