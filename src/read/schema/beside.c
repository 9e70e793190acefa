/* beside.c - columns of numbers that are neither features nor labels, and say how a record counts.
 *
 * A weight is cut to [0, cap].  What counts in a fit is weight/cap, so that no record counts more than one without
 * weights does, and nothing is divided by a sum of weights.  The cap is public.
 *
 * An exposure t is cut to [lower, upper], lower above 0, and log(t/upper) is added to the linear predictor.  The loss
 * of a count y beside it is that of the rate y/t with the weight t/upper, up to a constant.  A record's slope is then
 * t/upper e^(x.w) - y.  So the count is cut at its own bound, and not at one of the rate, which short exposures go
 * beyond.  An offset is added as it is, less its upper bound.  Both are at most 0, functions of the record alone. */
#include <math.h>
#include <string.h>

#include "core/point.h"
#include "read/schema/schema_json.h"

const char *const tct_beside_words[TCT_BESIDES] = {"weight", "exposure", "offset"};
static const char *const keys[TCT_BESIDES] = {"of cap comment", "of lower upper comment", "of lower upper comment"};
static const char *const missing_words[TCT_BESIDES] = {
    "the weight is missing; complete the record or remove it",
    "the exposure is missing; complete the record or remove it",
    "the offset is missing; complete the record or remove it",
};
static const char *const infinite_words[TCT_BESIDES] = {
    "the weight is not a finite number; correct it or remove the record",
    "the exposure is not a finite number; correct it or remove the record",
    "the offset is not a finite number; correct it or remove the record",
};

static tct_status wrong(const tct_schema *schema, tct_beside which, const char *text, tct_error *err) {
  return tct_fail_at(err, schema->name, 0, 0, "schema, \"%s\": %s", tct_beside_words[which], text);
}

/* Without a list of terms every column that is used is a feature. */
static tct_status not_a_feature(const tct_schema *schema, tct_beside which, tct_error *err) {
  if (json_object_get(schema->root, "terms")) return TCT_OK;
  for (int64_t k = 0; k < schema->columns; k++)
    if (schema->column[k].kind != TCT_COLUMN_IGNORE && !strcmp(schema->column[k].name, schema->beside[which].name))
      return wrong(schema, which, "its column is also a feature; give it the type \"ignore\", or list the \"terms\"",
                   err);
  return TCT_OK;
}

static tct_status parse(tct_schema *schema, tct_beside which, const json_t *object, tct_error *err) {
  tct_beside_rule *rule = &schema->beside[which];
  if (schema->version < TCT_SCHEMA_TERMS)
    return wrong(schema, which, "it belongs to version 2; write \"version\": 2", err);
  if (!json_is_object(object))
    return wrong(schema, which, "it is an object with \"of\" and its bounds; write one", err);
  TCT_TRY(tct_schema_keys(schema, object, keys[which], err));
  rule->name = tct_json_said(object, "of");
  if (!rule->name || !rule->name[0]) return wrong(schema, which, "it has no \"of\"; name its column", err);
  if (which == TCT_BESIDE_WEIGHT)
    TCT_TRY(tct_schema_real(schema, rule->name, json_object_get(object, "cap"), "cap", &rule->upper, err));
  else
    TCT_TRY(tct_schema_bounds(schema, rule->name, object, &rule->lower, &rule->upper, err));
  if (which == TCT_BESIDE_WEIGHT && !(rule->upper > 0 && rule->upper <= 1e300))
    return wrong(schema, which, "\"cap\" must be above 0; write e.g. 1", err);
  if (which == TCT_BESIDE_EXPOSURE && !(rule->lower > 0))
    return wrong(schema, which, "\"lower\" must be above 0; write the shortest exposure that counts", err);
  return not_a_feature(schema, which, err);
}

tct_status tct_schema_besides(tct_schema *schema, tct_error *err) {
  for (int k = 0; k < TCT_BESIDES; k++) {
    const json_t *object = json_object_get(schema->root, tct_beside_words[k]);
    if (object) TCT_TRY(parse(schema, k, object, err));
  }
  if (!schema->beside[TCT_BESIDE_EXPOSURE].name || !schema->beside[TCT_BESIDE_OFFSET].name) return TCT_OK;
  return wrong(schema, TCT_BESIDE_EXPOSURE, "it is an offset of its own; leave \"offset\" away", err);
}

tct_status tct_schema_weights(tct_schema *schema, const char *name, double cap, tct_error *err) {
  tct_beside_rule *rule = &schema->beside[TCT_BESIDE_WEIGHT];
  bool other = name && rule->name && strcmp(name, rule->name) != 0;
  if (other || (rule->name && cap != 0 && cap != rule->upper))
    return tct_fail(err, TCT_E_USAGE, "{weights} and {weight_cap} are not what the schema says; leave them away");
  if (rule->name || (!name && cap == 0)) return TCT_OK;
  if (!name || !name[0] || !(cap > 0 && cap <= 1e300))
    return tct_fail(err, TCT_E_USAGE,
                    "weights need their column and a public cap above 0, which larger ones are cut to; give "
                    "{weights NAME} and {weight_cap C}");
  *rule = (tct_beside_rule){name, 0, cap};
  return schema->root ? not_a_feature(schema, TCT_BESIDE_WEIGHT, err) : TCT_OK;
}

const char *tct_beside_number(const tct_schema *schema, tct_beside which, double value, bool missing, double *out) {
  const tct_beside_rule *rule = &schema->beside[which];
  if (missing) return missing_words[which];
  if (!isfinite(value)) return infinite_words[which];
  if (which == TCT_BESIDE_WEIGHT && value < 0) return "the weight is below 0; correct it or remove the record";
  if (which == TCT_BESIDE_EXPOSURE && !(value > 0))
    return "the exposure is not above 0; correct it or remove the record";
  double most = which == TCT_BESIDE_WEIGHT ? TCT_POINT(weight_beyond_the_cap, rule->upper, INFINITY) : rule->upper;
  *out = fmin(fmax(value, rule->lower), most);
  return NULL;
}

double tct_beside_offset(const tct_beside_rule *rule, tct_beside which, double value) {
  if (which == TCT_BESIDE_OFFSET) return value - rule->upper;
  return which == TCT_BESIDE_EXPOSURE ? fmin(log(value / rule->upper), 0) : 0;
}
