/* curves.h - power and spline curves over the bounds of a number, in a basis that is orthonormal there. */
#ifndef TCT_READ_SCHEMA_CURVES_H
#define TCT_READ_SCHEMA_CURVES_H

#include "core/status.h"

enum { TCT_CURVE_DEGREE = 5, TCT_CURVE_KNOTS = 30, TCT_CURVE_WIDTH = TCT_CURVE_KNOTS + 3 };

typedef enum tct_curve_kind { TCT_CURVE_POWER, TCT_CURVE_NATURAL, TCT_CURVE_BSPLINE } tct_curve_kind;

/* What a curve is: compared byte by byte, so zero it first. */
typedef struct tct_curve_shape {
  tct_curve_kind kind;
  int32_t degree, knots; /* natural: degree 3 */
  double knot[TCT_CURVE_KNOTS];
  double lower, upper;
} tct_curve_shape;

/* Its features: basis * (functions - mean), or basis * functions where it is not centred.  The functions are those of
 * R: x, x^2, ...; ns; bs, without its first column.  Centred powers are of x moved and scaled to [-1, 1]. */
typedef struct tct_curve {
  tct_curve_shape shape;
  int32_t width;
  bool centred;
  double fold[2][TCT_CURVE_WIDTH + 1];             /* natural: the two reflections of ns */
  double mean[TCT_CURVE_WIDTH];                    /* of the functions over the bounds */
  double basis[TCT_CURVE_WIDTH * TCT_CURVE_WIDTH]; /* by rows, lower triangle */
} tct_curve;

int32_t tct_curve_width(const tct_curve_shape *shape);
/* NULL: out of memory, or (*why) knots that lie too close together.  Freed with tct_free. */
tct_curve *tct_curve_new(const tct_curve_shape *shape, bool centred, const char **why);
/* feature[width] of a value within the bounds; a norm of at most 1 but for what lies between 2,001 points. */
void tct_curve_at(const tct_curve *curve, double value, double *feature);
/* Feature i is the sum of (*of)[k] * raw function k, plus *constant. */
void tct_curve_raw(const tct_curve *curve, int32_t i, double *of, double *constant);
/* The raw functions themselves, as R has them. */
void tct_curve_functions(const tct_curve *curve, double value, double *function);
#endif
