/* loss.h - losses l(z, y) with their constants and dual steps; docs/reference/mathematics.md. */
#ifndef TCT_LOSS_LOSS_H
#define TCT_LOSS_LOSS_H
#include "core/number.h"
#include "core/spec.h"
#include "loss/fused_slope.h"

/* How a margin z becomes a statement about the label. */
typedef enum tct_link {
  TCT_LINK_NONE,     /* its sign alone has a meaning */
  TCT_LINK_IDENTITY, /* z is the predicted label */
  TCT_LINK_LOGISTIC, /* 1/(1 + e^-z) is the probability of +1 */
  TCT_LINK_LOG,      /* e^z is the predicted mean of a count or an amount */
  TCT_LINK_SOFTMAX,  /* e^z over its sum over all classes is the probability of one */
  TCT_LINKS
} tct_link;

/* z = margin x.w, y = label (-1/+1 for binary losses), h = the loss's shape parameter (0 if it has none). */
typedef struct tct_loss_kind {
  const char *name;
  const char *summary;
  const tct_option *options; /* at most one: the shape h; NULL = none */
  const char *words;         /* what a model of it is called on the report page; NULL: "A linear model" */
  const char *liblinear;     /* the solver_type whose margins mean the same in LIBLINEAR; NULL: by the labels */
  tct_link link;
  tct_fused_slope fused;              /* its form in fused_terms.h; TCT_FUSED_NONE: the solvers of columns refuse it */
  bool binary;                        /* labels are -1/+1; else numbers */
  bool counts;                        /* numbers that are not below 0, whose curve is their mean */
  bool amounts;                       /* other numbers that are not below 0 */
  bool follow_up;                     /* signed times: above 0 an event, below 0 a follow-up that ended without one */
  bool least_squares;                 /* it is (z - y)^2/2: a linear system has its minimum */
  bool one_sign;                      /* for a fixed label, slope keeps one sign (objpert needs that) */
  double slope_bound;                 /* sup |slope|; INFINITY: bounded only by clipping, or by slope_bound_of */
  double (*slope_bound_of)(double h); /* sup |slope| where it depends on h; NULL: slope_bound */
  /* sup |slope| over |z| <= margin, where that says more than slope_bound; NULL: it does not. */
  double (*slope_bound_within)(double margin, double h);
  double (*curvature_bound)(double h);           /* sup of curve; INFINITY: not smooth */
  double (*value)(double z, double y, double h); /* at least 0 at every (z, y): scores and radii rest on it */
  double (*slope)(double z, double y, double h); /* a subgradient where not differentiable */
  double (*curve)(double z, double y, double h); /* second derivative almost everywhere */
  /* Conjugate l*(-a, y); INFINITY outside its domain.  NULL: no dual solver and no duality gap takes this loss. */
  double (*conjugate)(double a, double y, double h);
  /* Dual coordinate step: the zeta that minimises l*(-(alpha+zeta)) + u*zeta + s*zeta^2/2,
   * u = x.v/(lambda n), s = L|x|^2/(lambda n) >= 0.  alpha is pulled into the dual domain first, so
   * that alpha+zeta always lies in it.  newton: number of safeguarded Newton steps (closed forms
   * ignore it).  NULL: the dual solvers refuse this loss.  With it: conjugate.  Duals start at 0, which lies in every
   * domain. */
  double (*dual_step)(double alpha, double u, double s, double y, double h, int newton);
  /* out[i] = slope(z[i], y[i]) for i < n, vectorised; within 4 ulp of `slope`. */
  void (*slopes)(const double *z, const double *y, double h, double *out, int64_t n);
  /* out[i] = value(z[i], y[i]) for i < n, vectorised. */
  void (*values)(const double *z, const double *y, double h, double *out, int64_t n);
  /* Sum of value(z[i], y[i]) in a fixed order. */
  double (*sum)(const double *z, const double *y, double h, int64_t n);
  /* A loss of all classes together: h is how many.  z[classes], one margin for each, become the slopes of a record of
   * class y in [0, classes); returns its loss, at least 0.  Where a margin is infinite or NaN, a slope may be NaN.
   * The bounds above are then those of the vector of slopes and of the Hessian; the functions above take one margin,
   * the others held.  NULL: a loss of one margin. */
  double (*joint)(double *z, int64_t classes, int64_t y);
} tct_loss_kind;

typedef struct tct_loss {
  const tct_loss_kind *kind;
  double h;
  tct_spec spec;
} tct_loss;

extern const tct_loss_kind *const tct_loss_kinds[];
extern const int tct_loss_kind_count;
tct_status tct_loss_make(const char *spec, tct_loss *out, tct_error *err);
/* "a, b or c": the names of the losses that `has` holds for (NULL: all), for errors. */
void tct_loss_names(bool (*has)(const tct_loss_kind *), char *names, size_t size);
/* Margins of a record: 1, or one for each class of a joint loss. */
static inline int64_t tct_loss_outputs(const tct_loss *l) { return l->kind->joint ? (int64_t)l->h : 1; }
bool tct_loss_has_dual(const tct_loss_kind *kind);
bool tct_loss_has_fused(const tct_loss_kind *kind);
/* The margin that is best for all records alike: of classes with this part of positives, and of numbers with this mean.
 * A mean of counts below `least` counts as that. */
double tct_loss_constant_class(const tct_loss *loss, double positives);
double tct_loss_constant_number(const tct_loss *loss, double mean, double least);
/* "logistic", "identity", "log" or "none". */
const char *tct_link_name(tct_link link);

/* Labels are numbers from 0 on: they are never moved. */
static inline bool tct_loss_from_zero(const tct_loss *l) { return l->kind->counts || l->kind->amounts; }
/* A label of numbers within its public bound. */
static inline double tct_loss_within(const tct_loss *l, double y, double bound) {
  return l->kind->follow_up ? tct_follow_up(y, bound) : fmin(fmax(y, tct_loss_from_zero(l) ? 0 : -bound), bound);
}
static inline double tct_loss_value(const tct_loss *l, double z, double y) { return l->kind->value(z, y, l->h); }
static inline double tct_loss_slope(const tct_loss *l, double z, double y) { return l->kind->slope(z, y, l->h); }
static inline double tct_loss_curve(const tct_loss *l, double z, double y) { return l->kind->curve(z, y, l->h); }
/* What a model of numbers predicts at a margin, less the labels' shift; of counts no more than at the public bound. */
static inline double tct_loss_predicted(const tct_loss *l, double z) {
  if (l->kind->counts && z > l->h) z = l->h; /* a NaN stays */
  return l->kind->link == TCT_LINK_LOG ? exp(z) : z;
}
/* sup |slope| of this loss; INFINITY: bounded only by clipping. */
static inline double tct_loss_slope_bound(const tct_loss *l) {
  return l->kind->slope_bound_of ? l->kind->slope_bound_of(l->h) : l->kind->slope_bound;
}
#endif
