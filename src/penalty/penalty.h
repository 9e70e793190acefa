/* penalty.h - penalties and constraints psi(w). */
#ifndef TCT_PENALTY_PENALTY_H
#define TCT_PENALTY_PENALTY_H
#include "core/spec.h"

typedef struct tct_penalty tct_penalty;

typedef struct tct_penalty_kind {
  const char *name;
  const char *summary;
  const char *example;       /* a complete spec, for the contract tests */
  const tct_option *options; /* NULL = none */
  const char *l1_key;        /* the option that weighs |w|_1; NULL = none */
  const char *l2_key;        /* the option that weighs |w|^2/2; NULL = none */
  bool separable;            /* prox works coordinate by coordinate */
  bool zero;                 /* psi is 0 */
  bool quadratic;            /* psi is l2|w|^2/2 and nothing else, l2 = 0 included */
  bool box;                  /* psi is 0 within low <= w_j <= high */
  bool cross_polytope;       /* psi is 0 within |w|_1 <= radius, and vertex() is there */
  /* psi over w[p]; INFINITY outside the constraint. */
  double (*value)(const tct_penalty *r, const double *w, int64_t p);
  /* argmin over t of (t - w)^2/2 + step*psi_j(t), one coordinate; NULL if not separable. */
  double (*prox1)(const tct_penalty *r, double w, double step);
  /* The same for the whole vector, in place. */
  void (*prox)(const tct_penalty *r, double *w, int64_t p, double step);
  /* Vertex of the constraint set that minimises <g, s>: index and signed value; NULL if not a polytope
   * with cheap vertices (only l1ball). */
  void (*vertex)(const tct_penalty *r, const double *g, int64_t p, int64_t *index, double *value);
} tct_penalty_kind;

/* A penalty with its numbers; those that a kind does not have are 0 (low/high: -inf/+inf). */
struct tct_penalty {
  const tct_penalty_kind *kind;
  double l1;        /* weight of |w|_1 */
  double l2;        /* weight of |w|^2/2 */
  double low, high; /* box */
  double radius;    /* l1 ball */
  tct_spec spec;
};

extern const tct_penalty_kind *const tct_penalty_kinds[];
extern const int tct_penalty_kind_count;
/* "a, b or c": the names of the penalties that `has` holds for (NULL: all), for errors. */
void tct_penalty_names(bool (*has)(const tct_penalty_kind *), char *names, size_t size);
bool tct_penalty_is_separable(const tct_penalty_kind *kind);
tct_status tct_penalty_make(const char *spec, tct_penalty *out, tct_error *err);
#endif
