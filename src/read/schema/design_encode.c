/* design_encode.c - a record's cells to its features, by the terms of a schema. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/dates.h"
#include "read/schema/design.h"

tct_status tct_design_work_new(const tct_schema *schema, tct_design_work *work, tct_error *err) {
  const tct_design *d = schema->design;
  work->cell = TCT_NEW(double, schema->columns);
  work->scalar = TCT_NEW(double, d->scalars);
  work->entry = TCT_NEW(tct_entry, d->entries);
  work->filled = TCT_NEW(int32_t, d->factors);
  return work->cell && work->scalar && work->entry && work->filled ? TCT_OK : tct_fail_memory(err);
}

void tct_design_work_free(const tct_schema *schema, tct_design_work *work) {
  const tct_design *d = schema->design;
  tct_wipe_free(work->cell, work->cell ? schema->columns : 0, sizeof *work->cell);
  tct_wipe_free(work->scalar, work->scalar ? d->scalars : 0, sizeof *work->scalar);
  tct_wipe_free(work->entry, work->entry ? d->entries : 0, sizeof *work->entry);
  tct_wipe_free(work->filled, work->filled ? d->factors : 0, sizeof *work->filled);
  memset(work, 0, sizeof *work);
}

/* Brings a value into the bounds of the scalar; what is missing stays so. */
static double within(const tct_scalar *scalar, double value) {
  double raised = value < scalar->lower ? scalar->lower : value;
  return raised > scalar->upper ? scalar->upper : raised;
}

static double value_of(const tct_scalar *scalar, const tct_design_work *work) {
  if (scalar->kind == TCT_SCALAR_COLUMN) return within(scalar, work->cell[scalar->of[0]]);
  double a = work->scalar[scalar->of[0]], b = scalar->of[1] < 0 ? 0 : work->scalar[scalar->of[1]];
  return isnan(a) || isnan(b) ? NAN : within(scalar, tct_scalar_value(scalar, a, b));
}

/* The level of a record; the part's width where it is missing. */
static int32_t level_of(const tct_part *part, const tct_design_work *work) {
  bool cut = part->kind == TCT_PART_CUT, calendar = part->kind >= TCT_PART_MONTH;
  double value = cut || calendar ? work->scalar[part->source] : work->cell[part->source];
  int32_t level = 0;
  if (isnan(value)) return part->width;
  if (part->kind == TCT_PART_LEVELS) return (int32_t)value;
  if (part->kind == TCT_PART_WEEKDAY) return (int32_t)fmod(fmod(value + 3, 7) + 7, 7); /* 1970 began on a Thursday */
  if (calendar) return (tct_date_of(value).month - 1) / (part->kind == TCT_PART_QUARTER ? 3 : 1);
  while (cut && level < part->width - 1 && value > part->breaks[level]) level++;
  return level;
}

/* In [-1, 1], as rounding is monotone. */
static double scaled(const tct_scalar *scalar, double value, bool centred) {
  if (!centred) return value / fmax(fabs(scalar->lower), fabs(scalar->upper));
  return 2 * ((value - scalar->lower) / (scalar->upper - scalar->lower)) - 1;
}

static int32_t put_entry(tct_entry *entry, int32_t count, int32_t feature, double value) {
  if (value == 0) return count;
  entry[count] = (tct_entry){feature, value};
  return count + 1;
}

/* The factor's non-zero features, ascending; returns their number. */
static int32_t fill(const tct_design *d, const tct_factor *factor, const tct_design_work *work, tct_entry *entry) {
  const tct_part *part = &d->part[factor->part];
  if (tct_part_is_levels(part)) {
    int32_t level = level_of(part, work);
    if ((factor->reduced && level == part->reference) || (level == part->width && !factor->flagged)) return 0;
    return put_entry(entry, 0, level - (factor->reduced && level > part->reference), 1);
  }
  double value = work->scalar[part->source], feature[TCT_CURVE_WIDTH];
  if (isnan(value)) return put_entry(entry, 0, part->width, factor->flagged);
  if (factor->curve) {
    int32_t count = 0;
    tct_curve_at(factor->curve, value, feature);
    for (int32_t k = 0; k < part->width; k++) count = put_entry(entry, count, k, feature[k]);
    return count;
  }
  return put_entry(entry, 0, 0, scaled(&d->scalar[part->source], value, factor->reduced));
}

typedef struct product {
  const tct_design *design;
  const tct_term *term;
  const tct_design_work *work;
  tct_put_feature put;
  void *user;
} product;

/* All products of entries of the factors from k on. */
static void multiply(const product *p, int32_t k, int64_t feature, double value) {
  if (k == p->term->parts || k == TCT_TERM_PARTS) {
    p->put(p->user, p->term->first + feature, value);
    return;
  }
  const tct_factor *factor = &p->design->factor[p->term->factor[k]];
  const tct_entry *entry = p->work->entry + factor->first;
  for (int32_t e = 0; e < p->work->filled[p->term->factor[k]]; e++)
    multiply(p, k + 1, feature * factor->features + entry[e].feature, value * entry[e].value);
}

void tct_design_encode(const tct_schema *schema, tct_design_work *work, tct_put_feature put, void *user) {
  const tct_design *d = schema->design;
  for (int32_t k = 0; k < d->scalars; k++) work->scalar[k] = value_of(&d->scalar[k], work);
  for (int32_t k = 0; k < d->factors; k++)
    work->filled[k] = fill(d, &d->factor[k], work, work->entry + d->factor[k].first);
  for (int32_t t = 0; t < d->terms; t++) multiply(&(product){d, &d->term[t], work, put, user}, 0, 0, d->term[t].share);
}
