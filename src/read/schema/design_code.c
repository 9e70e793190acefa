/* design_code.c - how terms code their parts, by the terms that are there; which features that makes, and their names.
 *
 * Dropping the reference of levels in a term, or moving a number in it, adds multiples of terms with fewer parts.
 * Where all of these are in the schema, the model stays the same.  Where one is not, the model would be another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/design.h"
#include "read/schema/schema_json.h"

static bool among(const int32_t *part, int32_t parts, int32_t wanted) {
  for (int32_t k = 0; k < parts; k++)
    if (part[k] == wanted) return true;
  return false;
}

int32_t tct_design_find(const tct_design *design, const int32_t *part, int32_t parts) {
  for (int32_t t = 0; t < design->terms; t++) {
    const tct_term *term = &design->term[t];
    int32_t k = 0;
    while (term->parts == parts && k < parts && among(part, parts, term->part[k])) k++;
    if (term->parts == parts && k == parts) return t;
  }
  return -1;
}

/* Is the term without the parts of the mask there? */
static bool has_margin(const tct_design *design, const tct_term *term, int mask) {
  int32_t part[TCT_TERM_PARTS], parts = 0;
  for (int32_t k = 0; k < term->parts; k++)
    if (!(mask >> k & 1)) part[parts++] = term->part[k];
  return parts == 0 || tct_design_find(design, part, parts) >= 0;
}

static bool is_reduced(const tct_design *design, const tct_term *term, int32_t k) {
  int affine = 0;
  if (design->part[term->part[k]].kind == TCT_PART_LEVELS) return has_margin(design, term, 1 << k);
  for (int32_t other = 0; other < term->parts; other++)
    if (design->part[term->part[other]].kind != TCT_PART_LEVELS) affine |= 1 << other;
  for (int mask = affine; mask > 0; mask = (mask - 1) & affine)
    if ((mask >> k & 1) && !has_margin(design, term, mask)) return false;
  return true;
}

int32_t tct_design_twin(const tct_design *design, const tct_term *term, int32_t k) {
  const tct_part *own = &design->part[term->part[k]];
  int32_t part[TCT_TERM_PARTS];
  memcpy(part, term->part, sizeof part);
  for (int32_t q = 0; q < design->parts; q++) {
    const tct_part *other = &design->part[q];
    if (other == own || other->kind == TCT_PART_LEVELS || memcmp(other->gap, own->gap, sizeof own->gap)) continue;
    part[k] = q;
    int32_t found = tct_design_find(design, part, term->parts);
    if (found >= 0 && &design->term[found] < term) return found;
  }
  return -1;
}

/* Missing values of one column have one feature in all terms that differ in what they make of its numbers. */
static tct_factor code_factor(const tct_design *design, const tct_term *term, int32_t k) {
  const tct_part *part = &design->part[term->part[k]];
  tct_factor made = {.part = term->part[k], .reduced = is_reduced(design, term, k)};
  bool levels = part->kind == TCT_PART_LEVELS;
  made.flagged = !levels && part->gap[0] >= 0 && !(made.reduced && tct_design_twin(design, term, k) >= 0);
  made.features = part->width + made.flagged - (levels && made.reduced);
  return made;
}

static int32_t add_factor(tct_design *design, const tct_factor *made, bool again) {
  int32_t k = again ? 0 : design->factors;
  for (; k < design->factors; k++) {
    const tct_factor *old = &design->factor[k];
    if (old->part == made->part && old->reduced == made->reduced && old->flagged == made->flagged) return k;
  }
  design->factor[k] = *made;
  design->factor[k].first = design->entries;
  design->entries += design->part[made->part].kind == TCT_PART_LEVELS ? 1 : made->features;
  design->factors++;
  return k;
}

/* Non-zero features that a record can have of a factor: all functions, or the one that says that they are missing. */
static int64_t most_of(const tct_design *design, const tct_factor *factor) {
  const tct_part *part = &design->part[factor->part];
  return factor->features == 0 ? 0 : part->kind == TCT_PART_LEVELS ? 1 : part->width;
}

tct_status tct_design_code(tct_schema *schema, tct_error *err) {
  tct_design *design = schema->design;
  bool again = json_object_get(schema->root, "terms") != NULL;
  design->factor = TCT_NEW(tct_factor, (int64_t)design->terms * TCT_TERM_PARTS);
  if (!design->factor) return tct_fail_memory(err);
  schema->features = schema->max = 0;
  for (int32_t t = 0; t < design->terms; t++) {
    tct_term *term = &design->term[t];
    int64_t most = 1;
    term->first = schema->features, term->features = 1;
    for (int32_t k = 0; k < term->parts; k++) {
      tct_factor made = code_factor(design, term, k);
      term->factor[k] = add_factor(design, &made, again);
      term->features *= made.features, most *= most_of(design, &made);
      if (term->parts > 1 && term->features > TCT_TERM_FEATURES)
        return tct_fail_at(err, schema->name, 0, 0,
                           "schema, term %d: the product makes more than 4096 features; leave levels or parts away",
                           (int)t + 1);
    }
    design->squares += term->share * term->share;
    schema->features += term->features, schema->max += most;
    if (schema->features > TCT_MOST_FEATURES)
      return tct_schema_wrong(schema, NULL, "it makes more than 2^31 features; list fewer values", err);
  }
  if (schema->features > 0) return TCT_OK;
  return tct_schema_wrong(schema, NULL, "no term has a feature; describe a number, or a category of two values", err);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* The term of a feature, and which feature of each of its factors. */
const tct_term *tct_design_place(const tct_design *design, int64_t feature, int32_t *at) {
  int32_t low = 0, high = design->terms - 1;
  while (low < high) {
    int32_t middle = (low + high + 1) / 2;
    if (design->term[middle].first <= feature)
      low = middle;
    else
      high = middle - 1;
  }
  const tct_term *term = &design->term[low];
  int64_t rest = feature - term->first;
  for (int32_t k = term->parts - 1; k >= 0; k--) {
    int32_t count = design->factor[term->factor[k]].features;
    at[k] = (int32_t)(rest % count), rest /= count;
  }
  return term;
}

int32_t tct_factor_level(const tct_design *design, const tct_factor *factor, int32_t feature) {
  return feature + (factor->reduced && feature >= design->part[factor->part].reference);
}

/* The word for a feature's level, or for missing values; NULL: it is a number. */
static const char *word_of(const tct_schema *schema, const tct_factor *factor, int32_t feature) {
  const tct_part *part = &schema->design->part[factor->part];
  if (part->kind != TCT_PART_LEVELS) return feature < part->width ? NULL : TCT_MISSING_WORD;
  int32_t level = tct_factor_level(schema->design, factor, feature);
  const tct_column *column = &schema->column[part->source];
  return level < column->listed ? json_string_value(json_array_get(column->values, (size_t)level)) : TCT_MISSING_WORD;
}

int64_t tct_design_feature(const tct_schema *schema, int64_t feature, char *buffer, size_t size) {
  int32_t at[TCT_TERM_PARTS];
  const tct_design *design = schema->design;
  const tct_term *term = tct_design_place(design, feature, at);
  int64_t used = 0;
  for (int32_t k = 0; k < term->parts; k++) {
    const tct_factor *factor = &design->factor[term->factor[k]];
    const char *word = word_of(schema, factor, at[k]);
    size_t left = used < (int64_t)size ? size - (size_t)used : 0;
    used += snprintf(left ? buffer + used : NULL, left, "%s%s%s%s", k ? ":" : "", design->part[factor->part].name,
                     word ? "=" : "", word ? word : "");
  }
  return used;
}

json_t *tct_design_parts(const tct_schema *schema, int64_t feature) {
  int32_t at[TCT_TERM_PARTS];
  const tct_term *term = tct_design_place(schema->design, feature, at);
  json_t *list = json_array();
  for (int32_t k = 0; k < term->parts; k++) {
    const tct_factor *factor = &schema->design->factor[term->factor[k]];
    const char *word = word_of(schema, factor, at[k]);
    json_t *one = json_pack("{s:s}", "column", schema->design->part[factor->part].name);
    if (word) json_object_set_new(one, "value", json_string(word));
    json_array_append_new(list, one);
  }
  return list;
}
