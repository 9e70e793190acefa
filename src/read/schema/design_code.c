/* design_code.c - how terms code their parts, by the terms that are there; which features that makes, and their names.
 *
 * Dropping the reference of levels in a term, or moving a number in it, adds multiples of terms with fewer parts.
 * Where all of these are in the schema, the model stays the same.  Where one is not, the model would be another. */
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
  if (tct_part_is_levels(&design->part[term->part[k]])) return has_margin(design, term, 1 << k);
  for (int32_t other = 0; other < term->parts; other++)
    if (!tct_part_is_levels(&design->part[term->part[other]])) affine |= 1 << other;
  for (int mask = affine; mask > 0; mask = (mask - 1) & affine)
    if ((mask >> k & 1) && !has_margin(design, term, mask)) return false;
  return true;
}

int32_t tct_design_twin(const tct_design *design, const tct_term *term, int32_t k) {
  const tct_part *own = &design->part[term->part[k]];
  int32_t part[TCT_TERM_PARTS], first = (int32_t)(term - design->term), least = first;
  memcpy(part, term->part, sizeof part);
  for (int32_t q = 0; q < design->parts; q++) {
    const tct_part *other = &design->part[q];
    if (other == own || memcmp(other->gap, own->gap, sizeof own->gap)) continue;
    part[k] = q;
    int32_t found = tct_design_find(design, part, term->parts);
    if (found >= 0 && found < least) least = found;
  }
  return least < first ? least : -1;
}

static bool is_log(const tct_scalar *s) { return s->kind >= TCT_SCALAR_LOG && s->kind <= TCT_SCALAR_LOG10; }

/* Do the functions of one part lie among those of the other? */
static bool overlap(const tct_design *design, const tct_part *a, const tct_part *b) {
  if (tct_part_is_levels(a) || tct_part_is_levels(b)) return false;
  const tct_scalar *of = &design->scalar[a->source], *other = &design->scalar[b->source];
  bool curve = a->kind == TCT_PART_CURVE, both = curve && b->kind == TCT_PART_CURVE;
  if (both || (curve && a->source == b->source)) return a->source == b->source;
  if (curve) return a->shape->kind == TCT_CURVE_POWER && other->kind == TCT_SCALAR_SQUARE && other->of[0] == a->source;
  bool spans = of->kind >= TCT_SCALAR_YEARS && other->kind >= TCT_SCALAR_YEARS && of->of[1] == other->of[1];
  return (spans || (is_log(of) && is_log(other))) && of->of[0] == other->of[0];
}

/* Two terms that are the same but for parts of which one says what the other does leave their weights open. */
static tct_status check_term(const tct_schema *schema, const tct_term *term, int32_t k, tct_error *err) {
  const tct_design *design = schema->design;
  const tct_part *own = &design->part[term->part[k]];
  int32_t part[TCT_TERM_PARTS];
  memcpy(part, term->part, sizeof part);
  for (int32_t q = 0; q < design->parts; q++) {
    if (&design->part[q] == own || !overlap(design, own, &design->part[q])) continue;
    part[k] = q;
    if (tct_design_find(design, part, term->parts) >= 0)
      return tct_fail_at(err, schema->name, 0, 0,
                         "schema, term %d: it and another term do not determine their weights; leave one away",
                         (int)(term - design->term) + 1);
  }
  return TCT_OK;
}

/* Missing values of a column have one feature in all terms that differ in what they make of the column. */
static tct_status code_factor(const tct_schema *schema, const tct_term *term, int32_t k, tct_factor *made,
                              tct_error *err) {
  const tct_design *design = schema->design;
  const tct_part *part = &design->part[term->part[k]];
  bool levels = tct_part_is_levels(part);
  *made = (tct_factor){.part = term->part[k], .reduced = is_reduced(design, term, k)};
  made->flagged = part->gap[0] >= 0 && !(made->reduced && tct_design_twin(design, term, k) >= 0);
  made->features = part->width + made->flagged - (levels && made->reduced);
  if (part->kind != TCT_PART_FLAG || made->flagged) return TCT_OK;
  return tct_fail_at(err, schema->name, 0, 0,
                     "schema, term %d: the missing values have a feature already; leave it away",
                     (int)(term - design->term) + 1);
}

static tct_status add_factor(const tct_schema *schema, const tct_factor *made, bool again, int32_t *place,
                             tct_error *err) {
  tct_design *design = schema->design;
  const tct_part *part = &design->part[made->part];
  const char *why = NULL;
  for (*place = again ? 0 : design->factors; *place < design->factors; ++*place) {
    const tct_factor *old = &design->factor[*place];
    if (old->part == made->part && old->reduced == made->reduced && old->flagged == made->flagged) return TCT_OK;
  }
  tct_factor *to = &design->factor[*place];
  *to = *made;
  to->first = design->entries;
  if (part->kind == TCT_PART_CURVE && !(to->curve = tct_curve_new(part->shape, made->reduced, &why)))
    return why ? tct_schema_wrong(schema, part->name, why, err) : tct_fail_memory(err);
  design->entries += tct_part_is_levels(part) ? 1 : made->features;
  design->factors++;
  return TCT_OK;
}

/* Non-zero features that a record can have of a factor: all functions, or the one that says that they are missing. */
static int64_t most_of(const tct_design *design, const tct_factor *factor) {
  const tct_part *part = &design->part[factor->part];
  return factor->features == 0 ? 0 : tct_part_is_levels(part) ? 1 : part->width;
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
      tct_factor made;
      TCT_TRY(check_term(schema, term, k, err));
      TCT_TRY(code_factor(schema, term, k, &made, err));
      TCT_TRY(add_factor(schema, &made, again, &term->factor[k], err));
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

int32_t tct_factor_raw(const tct_design *design, const tct_factor *factor, int32_t feature) {
  const tct_part *part = &design->part[factor->part];
  return feature + (tct_part_is_levels(part) && factor->reduced && feature >= part->reference);
}

/* Level `raw` of a cut: half open, and the last ends with the bounds. */
static void cut_text(const tct_design *design, const tct_part *part, int32_t raw, char *text, size_t size) {
  const tct_scalar *of = &design->scalar[part->source];
  double from = raw > 0 ? part->breaks[raw - 1] : of->lower, to = raw < part->width - 1 ? part->breaks[raw] : of->upper;
  snprintf(text, size, "%c%.15g, %.15g]", raw > 0 ? '(' : '[', from, to);
}

enum { WORD = 64 };

/* What a raw function is called beside its part: a level's word, or that values are missing; NULL: nothing. */
static const char *word_of(const tct_schema *schema, const tct_factor *factor, int32_t raw, char text[WORD]) {
  const tct_part *part = &schema->design->part[factor->part];
  if (raw == part->width) return TCT_MISSING_WORD;
  if (part->kind == TCT_PART_LEVELS)
    return json_string_value(json_array_get(schema->column[part->source].values, (size_t)raw));
  if (part->kind == TCT_PART_FLAG) return "(present)";
  if (part->kind >= TCT_PART_MONTH) return snprintf(text, WORD, "%d", (int)raw + 1), text;
  if (part->kind != TCT_PART_CUT) return NULL;
  cut_text(schema->design, part, raw, text, WORD);
  return text;
}

/* "age", "work=farm", "ns(age)2"; raw powers are "age", "age^2". */
static int64_t put_name(const tct_schema *schema, const tct_factor *factor, int32_t raw, bool as_raw, char *buffer,
                        size_t size) {
  const tct_part *part = &schema->design->part[factor->part];
  char text[WORD] = "", number[WORD] = "";
  const char *word = word_of(schema, factor, raw, text), *before = "", *after = "";
  if (factor->curve && !word) {
    const char *kind[] = {"power(", "ns(", "bs("};
    bool power = as_raw && part->shape->kind == TCT_CURVE_POWER;
    if (!power) before = kind[part->shape->kind], after = ")";
    if (!power || raw > 0) snprintf(number, sizeof number, power ? "^%d" : "%d", (int)raw + 1);
  }
  return snprintf(buffer, size, "%s%s%s%s%s%s", before, part->name, after, number, word ? "=" : "", word ? word : "");
}

static int64_t feature_name(const tct_schema *schema, int64_t feature, bool as_raw, char *buffer, size_t size) {
  int32_t at[TCT_TERM_PARTS];
  const tct_design *design = schema->design;
  const tct_term *term = tct_design_place(design, feature, at);
  int64_t used = 0;
  for (int32_t k = 0; k < term->parts; k++) {
    const tct_factor *factor = &design->factor[term->factor[k]];
    size_t left = used < (int64_t)size ? size - (size_t)used : 0;
    if (k > 0) used += snprintf(left ? buffer + used : NULL, left, ":");
    left = used < (int64_t)size ? size - (size_t)used : 0;
    used += put_name(schema, factor, tct_factor_raw(design, factor, at[k]), as_raw, left ? buffer + used : NULL, left);
  }
  return used;
}

int64_t tct_design_feature(const tct_schema *schema, int64_t feature, char *buffer, size_t size) {
  return feature_name(schema, feature, false, buffer, size);
}

json_t *tct_design_parts(const tct_schema *schema, int64_t feature, char **name) {
  int32_t at[TCT_TERM_PARTS];
  const tct_term *term = tct_design_place(schema->design, feature, at);
  json_t *list = json_array();
  char text[WORD];
  int64_t length = feature_name(schema, feature, true, NULL, 0);
  *name = TCT_NEW(char, length + 1);
  if (*name) feature_name(schema, feature, true, *name, (size_t)length + 1);
  for (int32_t k = 0; k < term->parts; k++) {
    const tct_factor *factor = &schema->design->factor[term->factor[k]];
    int32_t raw = tct_factor_raw(schema->design, factor, at[k]);
    const char *word = word_of(schema, factor, raw, text);
    json_t *one = json_pack("{s:s}", "column", schema->design->part[factor->part].name);
    if (word) json_object_set_new(one, "value", json_string(word));
    if (factor->curve && !word) json_object_set_new(one, "function", json_integer(raw + 1));
    json_array_append_new(list, one);
  }
  return list;
}
