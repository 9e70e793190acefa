/* inference.h - what a fit knows about the errors of its weights, and the intervals that follow. */
#ifndef TCT_INFER_INFERENCE_H
#define TCT_INFER_INFERENCE_H
#include "core/status.h"

/* Why a weight has no interval. */
typedef enum tct_withheld {
  TCT_GIVEN = 0,
  TCT_NOISE_ABOVE_SIGNAL, /* its direction was not determined: the curvature there is below its noise */
  TCT_PATH_TOO_SHORT,     /* the last step was too long for the curvature to hold along it */
  TCT_ROWS_TOO_FAR,       /* bounds reach so far that rows hidden by noise could decide the weights */
} tct_withheld;
const char *tct_withheld_text(tct_withheld why); /* a sentence; "" for TCT_GIVEN */

/* Of follow-up times, from releases alone: at the ends of cells of time.  A person of margin z has the cumulative
 * hazard e^z exposure; `survival` is that of all, with a band of 95 % at each end by itself. */
enum { TCT_COURSE = 48 };
typedef struct tct_course {
  int64_t cells; /* 0: none */
  double time[TCT_COURSE], exposure[TCT_COURSE], survival[TCT_COURSE], lower[TCT_COURSE], upper[TCT_COURSE];
} tct_course;
/* The exposure at a time in (0, horizon]: straight between the ends. */
double tct_course_exposure(const tct_course *course, double time);

/* Covariances of released weights in the transformed columns, the intercept last. */
typedef struct tct_inference {
  int64_t p;
  bool robust;      /* the sandwich form; false: the model's own variance */
  double *sampling; /* [p][p]: of who happens to be in the table */
  double *noise;    /* [p][p]: of the privacy noise */
  double *degrees;  /* [p]: of freedom, for Student's t */
  int32_t *why;     /* [p]: tct_withheld */
  double residual;  /* root mean square of the residuals, from the last moments; NAN: unknown */
  tct_course course;
  /* Of follow-up times, where a check was released: [p], the weights over the later half of the events less those over
   * the earlier, and their errors; NULL: none. */
  double *change;
  struct tct_inference *of_change;
} tct_inference;

tct_status tct_inference_new(int64_t p, tct_inference *out, tct_error *err);
tct_status tct_inference_add_change(tct_inference *inference, tct_error *err); /* of zeros */
void tct_inference_free(tct_inference *inference);
/* Symmetric, finite, variances not below 0, degrees at least 1, known reasons. */
bool tct_inference_valid(const tct_inference *inference);

/* A sum of weights c.w and its errors. */
typedef struct tct_contrast {
  tct_withheld why;
  double standard_error, noise_error; /* of the population's, of this table's without noise; NAN where withheld */
  double degrees;                     /* the least of the weights in it */
} tct_contrast;
tct_contrast tct_inference_contrast(const tct_inference *inference, const double *c);

/* Student's t with `degrees` > 0 of freedom, infinite: the normal law.  P(|T| > t); and t with P(|T| <= t) = level. */
double tct_student_tail(double t, double degrees);
double tct_student_quantile(double level, double degrees);
#endif
