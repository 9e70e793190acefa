/* scalars.c - functions of one number or two, and their bounds. */
#include <math.h>

#include "read/schema/dates.h"
#include "read/schema/design.h"

double tct_scalar_value(const tct_scalar *scalar, double a, double b) {
  switch (scalar->kind) {
    case TCT_SCALAR_LOG: return log(a);
    case TCT_SCALAR_LOG2: return log2(a);
    case TCT_SCALAR_LOG10: return log10(a);
    case TCT_SCALAR_LOG1P: return log1p(a);
    case TCT_SCALAR_SQRT: return sqrt(a);
    case TCT_SCALAR_SQUARE: return a * a;
    case TCT_SCALAR_YEAR: return tct_date_of(a).year;
    case TCT_SCALAR_YEARS: return (a - b) / 365.25;
    case TCT_SCALAR_DAYS: return a - b;
    case TCT_SCALAR_RECIPROCAL: return 1 / a;
    case TCT_SCALAR_RATIO: return a / b;
    case TCT_SCALAR_COLUMN: break;
  }
  return a;
}

/* Why the function is not there between these bounds. */
static const char *domain(const tct_scalar *scalar, const tct_scalar *a, const tct_scalar *b) {
  const tct_scalar *divisor = scalar->kind == TCT_SCALAR_RATIO ? b : a;
  bool through = divisor->lower <= 0 && divisor->upper >= 0;
  if (scalar->kind >= TCT_SCALAR_LOG && scalar->kind <= TCT_SCALAR_LOG10 && a->lower <= 0)
    return "a logarithm needs bounds above 0; raise \"lower\", or take log1p";
  if (scalar->kind == TCT_SCALAR_LOG1P && a->lower <= -1) return "log1p needs bounds above -1; raise \"lower\"";
  if (scalar->kind == TCT_SCALAR_SQRT && a->lower < 0) return "a root needs bounds of 0 and more; raise \"lower\"";
  if ((scalar->kind == TCT_SCALAR_RECIPROCAL || scalar->kind == TCT_SCALAR_RATIO) && through)
    return "a divisor needs bounds on one side of 0; raise \"lower\", or lower \"upper\"";
  return NULL;
}

const char *tct_scalar_bounds(tct_scalar *scalar, const tct_scalar *a, const tct_scalar *b) {
  const char *why = domain(scalar, a, b);
  if (why) return why;
  scalar->lower = INFINITY, scalar->upper = -INFINITY;
  for (int corner = 0; corner < 4; corner++) {
    double value = tct_scalar_value(scalar, corner & 1 ? a->upper : a->lower,
                                    !b           ? 0
                                    : corner & 2 ? b->upper
                                                 : b->lower);
    scalar->lower = fmin(scalar->lower, value), scalar->upper = fmax(scalar->upper, value);
  }
  if (scalar->kind == TCT_SCALAR_SQUARE && a->lower < 0 && a->upper > 0) scalar->lower = 0;
  if (scalar->lower < scalar->upper && isfinite(scalar->upper - scalar->lower)) return NULL;
  return "its bounds are not finite, or are one number; change those of its columns";
}
