/* bench_dense.c - processor time of dense algebra of one thread beside OpenBLAS, in turn.
 *
 * One JSON line per width p: the Gram matrix of 20 p rows on a lattice and cblas_dsyrk, the Cholesky factor and dpotrf,
 * eigenvectors and dsyevd; medians of TURNS.  Usage: bench_dense LIBRARY [p ...]
 * LIBRARY: an OpenBLAS with 64-bit integers whose names end in 64_, as NumPy's wheel has in numpy.libs.  That folder
 * goes into LD_LIBRARY_PATH, for what it needs itself. */
#include "bench.h"
#include "core/alloc.h"
#include "la/exact/gram.h"
#include "la/exact/spectrum.h"
#include "sets.h"

#include <dlfcn.h>

enum { TURNS = 5 };

typedef void syrk(int order, int upper, int transposed, int64_t n, int64_t k, double alpha, const double *a,
                  int64_t stride, double beta, double *c, int64_t ldc);
typedef void potrf(const char *part, const int64_t *n, double *a, const int64_t *lda, int64_t *info);
typedef void syevd(const char *job, const char *part, const int64_t *n, double *a, const int64_t *lda, double *w,
                   double *work, const int64_t *lwork, int64_t *iwork, const int64_t *liwork, int64_t *info);

static void *found(void *library, const char *name) {
  void *function = dlsym(library, name);
  if (!function) fprintf(stderr, "the library has no %s\n", name), exit(1);
  return function;
}

typedef struct bench {
  syrk *syrk;
  potrf *potrf;
  syevd *syevd;
  tct_view view;
  int64_t p;
  double *x, *gram, *a, *value, *scratch;
  int64_t *whole;
} bench;

static void ours_gram(bench *b) { tct_gram_lattice(&b->view, NULL, 0x1p-20, b->gram, b->scratch, 1); }
static void blas_gram(bench *b) { b->syrk(101, 121, 112, b->p, b->view.rows, 1, b->x, b->p, 0, b->a, b->p); }
static void ours_factor(bench *b) {
  if (!tct_cholesky_shifted(b->gram, b->p, 1e-3, b->a)) exit(1);
}
static void blas_factor(bench *b) {
  int64_t info = 0;
  memcpy(b->a, b->gram, (size_t)(b->p * b->p) * sizeof *b->a);
  b->potrf("U", &b->p, b->a, &b->p, &info);
}
static void ours_vectors(bench *b) {
  memcpy(b->a, b->gram, (size_t)(b->p * b->p) * sizeof *b->a);
  if (!tct_eigenvectors(b->a, b->p, b->value, b->scratch, b->scratch + b->p * b->p)) exit(1);
}
static void blas_vectors(bench *b) {
  int64_t info = 0, size = 2 * b->p * b->p + 6 * b->p + 1, whole = 5 * b->p + 3;
  memcpy(b->a, b->gram, (size_t)(b->p * b->p) * sizeof *b->a);
  b->syevd("V", "U", &b->p, b->a, &b->p, b->value, b->scratch, &size, b->whole, &whole, &info);
}

static void measure(const char *name, void (*ours)(bench *), void (*blas)(bench *), bench *b, int turns) {
  double one[TURNS], other[TURNS], ratio[TURNS];
  for (int t = 0; t < turns; t++) {
    double from = bench_cpu();
    ours(b);
    double middle = bench_cpu();
    blas(b);
    one[t] = middle - from, other[t] = bench_cpu() - middle, ratio[t] = one[t] / other[t];
  }
  printf("{\"bench\":\"dense\",\"what\":\"%s\",\"p\":%lld,\"seconds\":%.4f,\"openblas\":%.4f,\"ratio\":%.2f}\n", name,
         (long long)b->p, bench_middle(one, turns), bench_middle(other, turns), bench_middle(ratio, turns));
  fflush(stdout);
}

static void at_width(bench b, int64_t p) {
  int64_t rows = 20 * p, room = 4 * p * p + 100 * p;
  tct_matrix m = {.rows = rows, .cols = p, .stride = p, .values = b.x = TCT_NEW(double, rows *p)};
  if (tct_gram_lattice_scratch(p, 1) > room) room = tct_gram_scratch(p, 1);
  b.p = p, b.gram = TCT_NEW(double, p *p), b.a = TCT_NEW(double, p *p), b.value = TCT_NEW(double, p);
  b.scratch = TCT_NEW(double, room), b.whole = TCT_NEW(int64_t, 5 * p + 3);
  if (!b.x || !b.gram || !b.a || !b.value || !b.scratch || !b.whole) exit(1);
  uint64_t s = 88172645463325252u;
  for (int64_t k = 0; k < rows * p; k++) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17; /* xorshift64 (Marsaglia 2003) */
    b.x[k] = ((double)(s >> 11) * 0x1p-53 - 0.5) / sqrt((double)p);
  }
  if (tct_view_bound(&b.view, &m, 0, 1, TCT_ROWS_CLIP, 1, NULL) != TCT_OK) exit(1);
  measure("gram", ours_gram, blas_gram, &b, TURNS);
  measure("cholesky", ours_factor, blas_factor, &b, TURNS);
  measure("eigenvectors", ours_vectors, blas_vectors, &b, p > 1000 ? 1 : TURNS);
  tct_view_free(&b.view);
  tct_free(b.x), tct_free(b.gram), tct_free(b.a), tct_free(b.value), tct_free(b.scratch), tct_free(b.whole);
}

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) return fprintf(stderr, "skipped: no OpenBLAS (bench_dense LIBRARY [p ...])\n"), 0;
  ((void (*)(int))found(library, "openblas_set_num_threads64_"))(1);
  bench b = {.syrk = (syrk *)found(library, "cblas_dsyrk64_"),
             .potrf = (potrf *)found(library, "dpotrf_64_"),
             .syevd = (syevd *)found(library, "dsyevd_64_")};
  static const int64_t widths[] = {100, 600, 2000};
  for (int k = 0; k < (argc > 2 ? argc - 2 : 3); k++) at_width(b, argc > 2 ? atoll(argv[k + 2]) : widths[k]);
  dlclose(library);
  return 0;
}
