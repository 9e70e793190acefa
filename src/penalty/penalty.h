/* penalty.h - penalties and constraints psi(w): none, l2, l1, elastic, box, l1ball. */
#ifndef TCT_PENALTY_PENALTY_H
#define TCT_PENALTY_PENALTY_H
#include "core/spec.h"

typedef struct tct_reg tct_reg;

typedef struct tct_reg_kind {
  const char *name;
  const char *summary;
  const tct_option *options; /* NULL = none */
  bool separable;            /* prox works coordinate by coordinate */
  /* psi over w[p]; INFINITY outside the constraint. */
  double (*value)(const tct_reg *r, const double *w, int64_t p);
  /* argmin over t of (t - w)^2/2 + step*psi_j(t), one coordinate; NULL if not separable. */
  double (*prox1)(const tct_reg *r, double w, double step);
  /* The same for the whole vector, in place. */
  void (*prox)(const tct_reg *r, double *w, int64_t p, double step);
  /* Vertex of the constraint set that minimises <g, s>: index and signed value; NULL if not a polytope
   * with cheap vertices (only l1ball). */
  void (*vertex)(const tct_reg *r, const double *g, int64_t p, int64_t *index, double *value);
} tct_reg_kind;

/* A penalty with its numbers; those that a kind does not have are 0 (low/high: -inf/+inf). */
struct tct_reg {
  const tct_reg_kind *kind;
  double l1;        /* weight of |w|_1 */
  double l2;        /* weight of |w|^2/2 */
  double low, high; /* box */
  double radius;    /* l1 ball */
  tct_spec spec;
};

extern const tct_reg_kind *const tct_reg_kinds[];
extern const int tct_reg_kind_count;
tct_status tct_reg_make(const char *spec, tct_reg *out, tct_error *err);
#endif
