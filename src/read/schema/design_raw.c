/* design_raw.c - features as sums of raw ones: the public, sparse matrix by which weights get back to the columns.
 *
 * A factor's feature is affine in its own raw functions.  A product of such sums is a sum of raw products of fewer
 * parts.  The coding sees to it that each of these is a raw feature of some term.  Where a number is missing and
 * marked, its raw value is the middle of its bounds: there the centred feature is 0. */
#include <math.h>
#include <string.h>

#include "read/schema/design.h"

enum { GONE = -1 }; /* in place of a raw function: the part is not in the product */

typedef struct expansion {
  const tct_design *design;
  const tct_term *term;
  int64_t feature;
  int32_t at[TCT_TERM_PARTS]; /* the feature of each factor */
  bool middle;                /* tct_design_middle */
  tct_put_raw put;
  void *user;
} expansion;

static void place(const expansion *x, const int32_t *raw, double value);

/* Which part of the product part j of another term is; the count of parts: none. */
static int32_t which(const expansion *x, const int32_t *raw, const tct_term *to, int32_t j) {
  int32_t k = 0;
  while (k < x->term->parts && (raw[k] == GONE || x->term->part[k] != to->part[j])) k++;
  return k;
}

/* The product where the reference of part k is 1 minus the other levels, and minus what marks missing values. */
static void place_reference(const expansion *x, const int32_t *raw, int32_t k, double value) {
  const tct_part *part = &x->design->part[x->term->part[k]];
  int32_t other[TCT_TERM_PARTS];
  memcpy(other, raw, sizeof other);
  other[k] = GONE;
  place(x, other, value);
  for (int32_t level = 0; level < part->width + (part->gap[0] >= 0); level++) {
    other[k] = level;
    if (level != part->reference) place(x, other, -value);
  }
}

/* A term may leave the mark of missing values to another one (tct_design_twin). */
static const tct_term *with_mark(const expansion *x, const tct_term *to, const int32_t *raw) {
  for (int32_t j = 0; j < to->parts; j++) {
    const tct_factor *factor = &x->design->factor[to->factor[j]];
    if (raw[which(x, raw, to, j)] == x->design->part[factor->part].width && !factor->flagged)
      return &x->design->term[tct_design_twin(x->design, to, j)];
  }
  return to;
}

/* A product of raw functions of the term's parts, which is a raw feature of the term of those that are not gone. */
static void place(const expansion *x, const int32_t *raw, double value) {
  const tct_design *d = x->design;
  int32_t part[TCT_TERM_PARTS], parts = 0, own = x->term->parts;
  int64_t feature = 0;
  for (int32_t k = 0; k < own; k++)
    if (raw[k] != GONE) part[parts++] = x->term->part[k];
  const tct_term *to = parts == 0 ? NULL : with_mark(x, &d->term[tct_design_find(d, part, parts)], raw);
  for (int32_t j = 0; j < parts; j++) {
    const tct_factor *factor = &d->factor[to->factor[j]];
    const tct_part *of = &d->part[factor->part];
    int32_t k = which(x, raw, to, j), at = k < own ? raw[k] : of->width; /* of another part only its mark */
    bool skips = tct_part_is_levels(of) && factor->reduced;
    if (skips && at == of->reference) {
      place_reference(x, raw, k, value);
      return;
    }
    feature = feature * factor->features + at - (skips && at > of->reference);
  }
  x->put(x->user, x->feature, to ? to->first + feature : -1, value);
}

/* A factor's feature as of[k] times its raw functions, *constant, and *mark times what marks missing values.  There
 * the raw functions have the values at which the centred features are 0. */
static void affine(const tct_design *d, const tct_factor *factor, int32_t feature, double *of, double *constant,
                   double *mark) {
  const tct_part *part = &d->part[factor->part];
  const tct_scalar *source = &d->scalar[part->source];
  double width = source->upper - source->lower, most = fmax(fabs(source->lower), fabs(source->upper));
  *mark = *constant = 0;
  if (factor->curve) {
    tct_curve_raw(factor->curve, feature, of, constant);
    for (int32_t k = 0; k <= feature && !factor->reduced; k++)
      *mark -= factor->curve->basis[feature * part->width + k] * factor->curve->mean[k];
    return;
  }
  of[0] = factor->reduced ? 2 / width : 1 / most;
  if (factor->reduced)
    *constant = -2 * source->lower / width - 1;
  else
    *mark = -(source->lower + width / 2) / most;
}

/* Only then the part's functions can be counted from their middle: they have to mean the same in every term. */
bool tct_design_centres(const tct_design *design, int32_t part) {
  for (int32_t k = 0; k < design->factors; k++)
    if (design->factor[k].part == part && !design->factor[k].reduced) return false;
  return !tct_part_is_levels(&design->part[part]);
}

/* Multiplies out the factors from k on. */
static void expand(const expansion *x, int32_t k, int32_t *raw, double value) {
  if (k == x->term->parts) {
    place(x, raw, value);
    return;
  }
  const tct_factor *factor = &x->design->factor[x->term->factor[k]];
  const tct_part *part = &x->design->part[factor->part];
  double of[TCT_CURVE_WIDTH], constant, mark;
  raw[k] = tct_factor_raw(x->design, factor, x->at[k]);
  if (tct_part_is_levels(part) || raw[k] == part->width) {
    expand(x, k + 1, raw, value);
    return;
  }
  affine(x->design, factor, x->at[k], of, &constant, &mark);
  for (raw[k] = 0; raw[k] < part->width; raw[k]++)
    if (of[raw[k]] != 0) expand(x, k + 1, raw, value * of[raw[k]]);
  raw[k] = part->width;
  if (factor->flagged && mark != 0) expand(x, k + 1, raw, value * mark);
  raw[k] = GONE;
  if (constant != 0 && !(x->middle && tct_design_centres(x->design, factor->part)))
    expand(x, k + 1, raw, value * constant);
}

static void expand_all(const tct_schema *schema, bool middle, tct_put_raw put, void *user) {
  expansion x = {.design = schema->design, .middle = middle, .put = put, .user = user};
  int32_t raw[TCT_TERM_PARTS];
  for (x.feature = 0; x.feature < schema->features; x.feature++) {
    x.term = tct_design_place(x.design, x.feature, x.at);
    expand(&x, 0, raw, x.term->share);
  }
}

void tct_design_raw(const tct_schema *schema, tct_put_raw put, void *user) { expand_all(schema, false, put, user); }

void tct_design_middle(const tct_schema *schema, tct_put_raw put, void *user) { expand_all(schema, true, put, user); }
