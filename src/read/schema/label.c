/* label.c - what a label's text or number becomes.
 *
 * Two texts are equal if their bytes are, or if both are numbers of the same value ("1" and "1.0").
 * With a positive value every other label means -1; if the schema lists the label's values, a label
 * outside the list is bad data. */
#include "read/schema/label.h"

#include <math.h>
#include <string.h>

tct_status tct_label_rule_make(tct_label_rule *rule, const tct_read_options *options, const tct_schema *schema,
                               locale_t c, tct_error *err) {
  memset(rule, 0, sizeof *rule);
  rule->kind = options->labels;
  rule->schema = schema;
  rule->c = c;
  rule->decimal_comma = options->decimal && strcmp(options->decimal, ",") == 0;
  rule->positive = options->positive ? options->positive : schema->positive;
  if (rule->kind != TCT_LABELS_BINARY || !rule->positive) return TCT_OK;
  int64_t length = (int64_t)strlen(rule->positive);
  rule->positive_is_number = tct_number_parse(rule->positive, length, c, &rule->positive_number) == TCT_NUMBER_OK;
  if (length == 0) {
    return tct_fail(err, TCT_E_USAGE, "the positive label is an empty text; give the value that means +1");
  }
  return TCT_OK;
}

tct_number_status tct_label_rule_parse(const tct_label_rule *rule, const char *text, int64_t length, double *value) {
  return rule->decimal_comma ? tct_number_parse_comma(text, length, rule->c, value)
                             : tct_number_parse(text, length, rule->c, value);
}

static bool is_value(const char *wanted, const char *text, int64_t length, locale_t c) {
  double a = 0, b = 0;
  if ((int64_t)strlen(wanted) == length && memcmp(wanted, text, (size_t)length) == 0) return true;
  return tct_number_parse(text, length, c, &a) == TCT_NUMBER_OK &&
         tct_number_parse(wanted, (int64_t)strlen(wanted), c, &b) == TCT_NUMBER_OK && a == b;
}

static bool in_list(const tct_schema *schema, const char *text, int64_t length, locale_t c) {
  size_t k;
  json_t *value;
  json_array_foreach((json_t *)schema->label_values, k, value) {
    if (is_value(json_string_value(value), text, length, c)) return true;
  }
  return false;
}

static const char *positive_of(const tct_read_options *options, const tct_schema *schema) {
  if (options->labels != TCT_LABELS_BINARY) return NULL;
  return options->positive ? options->positive : schema->positive;
}

tct_status tct_label_check_positive(const tct_read_options *options, const tct_schema *schema, locale_t c,
                                    tct_error *err) {
  const char *positive = positive_of(options, schema);
  if (!positive || !schema->label_values || in_list(schema, positive, (int64_t)strlen(positive), c)) return TCT_OK;
  if (options->positive)
    return tct_fail(err, TCT_E_USAGE,
                    "the positive label is not among the schema's values of \"%.200s\", so that no record could be "
                    "positive; give one of them",
                    schema->label);
  return tct_fail_at(err, schema->name, 0, 0,
                     "schema, column \"%.200s\": \"positive\" is not among \"values\", so that no record could be "
                     "positive; name one of them",
                     schema->label);
}

bool tct_label_unlisted(const tct_read_options *options, const tct_schema *schema) {
  return positive_of(options, schema) && !schema->label_values;
}

static bool is_positive(const tct_label_rule *rule, const char *text, int64_t length) {
  double value = 0;
  if ((int64_t)strlen(rule->positive) == length && memcmp(rule->positive, text, (size_t)length) == 0) return true;
  return rule->positive_is_number && tct_label_rule_parse(rule, text, length, &value) == TCT_NUMBER_OK &&
         value == rule->positive_number;
}

static bool is_listed(const tct_label_rule *rule, const char *text, int64_t length) {
  return !rule->schema->label_values || in_list(rule->schema, text, length, rule->c);
}

static const char *plus_or_minus(double value, double *label) {
  if (value != -1 && value != 0 && value != 1) {
    return "the labels are not 0/1 or -1/+1; say which value means +1 (--positive, or \"positive\" in the schema)";
  }
  *label = value == 1 ? 1 : -1;
  return NULL;
}

static const char *real(const tct_label_rule *rule, double value, double *label) {
  const tct_schema *schema = rule->schema;
  if (!isfinite(value)) return "the label is not a finite number; correct it or remove the record";
  if (!isnan(schema->label_low)) value = fmin(fmax(value, schema->label_low), schema->label_high);
  *label = value;
  return NULL;
}

const char *tct_label_number(const tct_label_rule *rule, double value, double *label) {
  if (rule->kind == TCT_LABELS_REAL) return real(rule, value, label);
  if (!isfinite(value)) return "the label is not a finite number; correct it or remove the record";
  if (!rule->positive) return plus_or_minus(value, label);
  *label = rule->positive_is_number && value == rule->positive_number ? 1 : -1;
  return NULL;
}

const char *tct_label_text(const tct_label_rule *rule, const char *text, int64_t length, double *label) {
  double value = 0;
  if (tct_schema_missing(rule->schema, text, length)) {
    return "the label is missing; complete the record or remove it";
  }
  if (rule->kind == TCT_LABELS_REAL) {
    if (tct_label_rule_parse(rule, text, length, &value) != TCT_NUMBER_OK) value = NAN;
    return real(rule, value, label);
  }
  if (!is_listed(rule, text, length)) {
    return "the label is not among the schema's values; correct it or list it under \"label\"";
  }
  if (rule->positive) {
    *label = is_positive(rule, text, length) ? 1 : -1;
    return NULL;
  }
  if (tct_label_rule_parse(rule, text, length, &value) != TCT_NUMBER_OK) value = 2; /* neither of the two */
  return plus_or_minus(value, label);
}
