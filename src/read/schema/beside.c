/* beside.c - columns of numbers that are neither features nor labels, and say how a record counts.
 *
 * A weight is cut to [0, cap].  What counts in a fit is weight/cap, so that no record counts more than one without
 * weights does, and nothing is divided by a sum of weights.  The cap is public. */
#include <math.h>
#include <string.h>

#include "core/point.h"
#include "read/schema/schema_json.h"

const char *const tct_beside_words[TCT_BESIDES] = {"weight"};

/* Without a list of terms every column that is used is a feature. */
static tct_status not_a_feature(const tct_schema *schema, const char *name, tct_error *err) {
  if (json_object_get(schema->root, "terms")) return TCT_OK;
  for (int64_t k = 0; k < schema->columns; k++)
    if (schema->column[k].kind != TCT_COLUMN_IGNORE && strcmp(schema->column[k].name, name) == 0)
      return tct_schema_wrong(schema, name,
                              "the column of the weights is also a feature; give it the type \"ignore\", or list the "
                              "\"terms\"",
                              err);
  return TCT_OK;
}

tct_status tct_schema_besides(tct_schema *schema, tct_error *err) {
  const json_t *object = json_object_get(schema->root, "weight");
  tct_beside_rule *rule = &schema->beside[TCT_BESIDE_WEIGHT];
  if (!object) return TCT_OK;
  if (schema->version < TCT_SCHEMA_TERMS)
    return tct_schema_wrong(schema, NULL, "\"weight\" belongs to version 2; write \"version\": 2", err);
  if (!json_is_object(object))
    return tct_schema_wrong(schema, NULL, "\"weight\" is an object with \"of\" and \"cap\"; write one", err);
  TCT_TRY(tct_schema_keys(schema, object, "of cap comment", err));
  rule->name = json_string_value(json_object_get(object, "of"));
  if (!rule->name || !rule->name[0])
    return tct_schema_wrong(schema, NULL, "\"weight\" has no \"of\"; name the column of the weights", err);
  TCT_TRY(tct_schema_real(schema, rule->name, json_object_get(object, "cap"), "cap", &rule->upper, err));
  if (!(rule->upper > 0 && rule->upper <= 1e300))
    return tct_schema_wrong(schema, rule->name, "\"cap\" of the weights must be above 0; write e.g. 1", err);
  return not_a_feature(schema, rule->name, err);
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
  return schema->root ? not_a_feature(schema, name, err) : TCT_OK;
}

const char *tct_beside_number(const tct_schema *schema, tct_beside which, double value, bool missing, double *out) {
  const tct_beside_rule *rule = &schema->beside[which];
  if (missing) return "the weight is missing; complete the record or remove it";
  if (!isfinite(value)) return "the weight is not a finite number; correct it or remove the record";
  if (value < 0) return "the weight is below 0; correct it or remove the record";
  *out = fmin(value, TCT_POINT(weight_beyond_the_cap, rule->upper, INFINITY));
  return NULL;
}
