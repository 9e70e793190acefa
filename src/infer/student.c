/* student.c - Student's t distribution: its two tails, and their inverse. */
#include "infer/inference.h"

#include <math.h>

enum { TERMS = 400 };

/* The continued fraction of the incomplete beta function, by Lentz's rule (Abramowitz and Stegun, 26.5.8). */
static double fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double value = d;
  for (int m = 1; m < TERMS; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + even * d, c = 1 + even / c;
    d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
    value *= d * c;
    d = 1 + odd * d, c = 1 + odd / c;
    d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
    value *= d * c;
    if (fabs(d * c - 1) < 1e-15) break;
  }
  return value;
}

/* The regularised incomplete beta function. */
static double beta_part(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a : 1 - front * fraction(b, a, 1 - x) / b;
}

/* Beyond so many degrees the law is the normal one to eight digits, and lgamma's difference loses more than that. */
static const double NORMAL = 1e8;

double tct_student_tail(double t, double degrees) {
  if (isnan(t) || !(degrees > 0)) return NAN;
  if (degrees > NORMAL) return erfc(fabs(t) * M_SQRT1_2);
  if (isinf(t)) return 0;
  return beta_part(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double tct_student_quantile(double level, double degrees) {
  if (!(level > 0 && level < 1) || !(degrees > 0)) return NAN;
  double low = 0, high = 1;
  while (tct_student_tail(high, degrees) > 1 - level && high < 1e300) high *= 2;
  for (int step = 0; step < 200 && low < high; step++) {
    double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    if (tct_student_tail(middle, degrees) > 1 - level)
      low = middle;
    else
      high = middle;
  }
  return high;
}
