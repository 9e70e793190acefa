/* sharing.c - one number moves every share, and the largest whose price is at most epsilon is kept.
 *
 * The price grows nearly as a power of that number: it is looked for in logarithms, within a bracket.  Every plan that
 * is kept was priced. */
#include "study/study.h"

#include <math.h>

/* Plans tried; four are enough where the price is a power of the number. */
enum { STEPS = 12 };
/* Part of epsilon that may be left over, in logarithms. */
static const double SLACK = 3e-3;

typedef struct search {
  double low, high, at; /* logarithms */
  double slope, last_at, last_level;
  bool any;
} search;

static double secant(search *s, double level, double epsilon) {
  double aim = log(epsilon) + log1p(-1e-3);
  if (s->any && s->at != s->last_at && level != s->last_level)
    s->slope = (level - s->last_level) / (s->at - s->last_at);
  s->any = true, s->last_at = s->at, s->last_level = level;
  return s->at + (aim - level) / s->slope;
}

static void next(search *s, const tct_sharing *of, double level) {
  double over = level - log(of->epsilon), middle = (s->low + s->high) / 2;
  s->at = !isfinite(over) ? middle : of->secant ? secant(s, level, of->epsilon) : s->at - over - 0.5 * SLACK;
  if (!(s->low < s->at && s->at < s->high)) s->at = middle;
}

tct_status tct_share_largest(const tct_sharing *of, bool *found, tct_error *err) {
  search s = {.low = log(of->low), .high = log(of->high), .at = log(of->first), .slope = 1};
  tct_status status = TCT_OK;
  *found = false;
  for (int k = 0; k < STEPS && status == TCT_OK; k++) {
    double price = INFINITY;
    status = of->at(of->user, exp(s.at), &price, err);
    bool good = status == TCT_OK && price <= of->epsilon;
    of->keep(of->user, good);
    *found |= good;
    *(good ? &s.low : &s.high) = s.at;
    if (good && log(price) > log(of->epsilon) - SLACK) break;
    if (of->secant && isinf(price)) break; /* no accountant knows the list, whatever its numbers */
    next(&s, of, log(price));
  }
  return status;
}
