/* label.c - what a label's text or number becomes.
 *
 * Two texts are equal if their bytes are, or if both are numbers of the same value ("1" and "1.0").
 * With a positive value every other label means -1; if the schema lists the label's values, a label
 * outside the list is bad data.  Of more than two classes the label is the number in the list. */
#include "read/schema/label.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/flags.h"

/* Of two classes that the caller lists the second is the positive one. */
static const char *positive_of(const tct_read_options *options, const tct_schema *schema) {
  if (options->labels != TCT_LABELS_BINARY && options->labels != TCT_LABELS_CLASSES) return NULL;
  if (options->positive) return options->positive;
  return options->classes && options->classes_count == 2 ? options->classes[1] : schema->positive;
}

tct_status tct_label_rule_make(tct_label_rule *rule, const tct_read_options *options, const tct_schema *schema,
                               const tct_class_names *classes, locale_t c, tct_error *err) {
  memset(rule, 0, sizeof *rule);
  rule->kind = options->labels != TCT_LABELS_CLASSES                ? options->labels
               : positive_of(options, schema) || classes->count < 3 ? TCT_LABELS_BINARY
                                                                    : TCT_LABELS_CLASSES;
  rule->schema = schema;
  rule->classes = classes;
  rule->listed = options->classes, rule->listed_count = options->classes ? options->classes_count : 0;
  rule->c = c;
  rule->positive = positive_of(options, schema);
  rule->happened = options->positive ? options->positive : schema->positive;
  rule->decimal_comma = options->decimal && strcmp(options->decimal, ",") == 0;
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

static bool in_classes(const char *const *list, int64_t count, const char *text, int64_t length, locale_t c) {
  for (int64_t k = 0; k < count; k++)
    if (is_value(list[k], text, length, c)) return true;
  return false;
}

static tct_status check_positive(const tct_read_options *options, const tct_schema *schema, const char *positive,
                                 locale_t c, tct_error *err) {
  int64_t length = (int64_t)strlen(positive);
  if (options->classes && !in_classes(options->classes, options->classes_count, positive, length, c))
    return tct_fail(err, TCT_E_USAGE,
                    "the positive label is not among the classes, so that no record could be positive; give one of "
                    "them");
  if (!schema->label_values || in_list(schema, positive, length, c)) return TCT_OK;
  if (positive != schema->positive)
    return tct_fail(err, TCT_E_USAGE,
                    "the positive label is not among the schema's values of \"%.200s\", so that no record could be "
                    "positive; give one of them",
                    schema->label);
  return tct_fail_at(err, schema->name, 0, 0,
                     "schema, column \"%.200s\": \"positive\" is not among \"values\", so that no record could be "
                     "positive; name one of them",
                     schema->label);
}

/* The caller's list against what else is said in public. */
static tct_status check_list(const tct_read_options *options, const tct_schema *schema, locale_t c, tct_error *err) {
  const char *const *list = options->classes;
  int64_t count = options->classes_count;
  const char *positive = options->positive ? options->positive : schema->positive;
  if (options->labels == TCT_LABELS_REAL)
    return tct_fail(err, TCT_E_USAGE, "this loss takes numbers as labels, not classes; leave the classes away");
  if (count < 2) return tct_fail(err, TCT_E_USAGE, "a label has at least two classes; name all that can occur");
  if (schema->label_values && (int64_t)json_array_size(schema->label_values) != count)
    return tct_fail(err, TCT_E_USAGE, "the classes are not the label's values in the schema; leave the list away");
  for (int64_t k = 0; schema->label_values && k < count; k++)
    if (!in_list(schema, list[k], (int64_t)strlen(list[k]), c))
      return tct_fail(err, TCT_E_USAGE, "class %lld of the list is not among the schema's values; leave the list away",
                      (long long)k + 1);
  if (count == 2 && positive && !is_value(list[1], positive, (int64_t)strlen(positive), c))
    return tct_fail(err, TCT_E_USAGE,
                    "of two classes the second is the positive one, and the %s names another; turn the list round",
                    options->positive ? "positive label" : "schema");
  return TCT_OK;
}

/* The values of the schema that lists two, negative first; NULL for all that is not positive. */
static void two_of(const tct_schema *schema, const char *positive, locale_t c, const char *pair[2]) {
  size_t k;
  json_t *value;
  pair[0] = NULL, pair[1] = positive;
  if (!schema->label_values || json_array_size(schema->label_values) != 2) return;
  json_array_foreach((json_t *)schema->label_values, k, value) {
    const char *text = json_string_value(value);
    if (!is_value(text, positive, (int64_t)strlen(positive), c)) pair[0] = text;
  }
}

/* Without a positive value the labels are 0/1 or -1/+1; names are known where the schema lists two such. */
static bool plain_two(const tct_schema *schema, locale_t c, const char *pair[2]) {
  double a = 2, b = 2;
  if (!schema->label_values || json_array_size(schema->label_values) != 2) return false;
  for (int k = 0; k < 2; k++) pair[k] = json_string_value(json_array_get(schema->label_values, (size_t)k));
  bool numbers = tct_number_parse(pair[0], (int64_t)strlen(pair[0]), c, &a) == TCT_NUMBER_OK &&
                 tct_number_parse(pair[1], (int64_t)strlen(pair[1]), c, &b) == TCT_NUMBER_OK;
  const char *first = pair[0];
  if (numbers && a > b) pair[0] = pair[1], pair[1] = first;
  return numbers && fmax(a, b) == 1 && (fmin(a, b) == 0 || fmin(a, b) == -1);
}

/* As the schema spells it: 1 and 1.0 are one value. */
static const char *spelled(const tct_schema *schema, const char *name, locale_t c) {
  size_t k;
  json_t *value;
  json_array_foreach((json_t *)schema->label_values, k, value) {
    if (is_value(json_string_value(value), name, (int64_t)strlen(name), c)) return json_string_value(value);
  }
  return name;
}

static tct_status name_listed(const tct_read_options *options, const tct_schema *schema, locale_t c,
                              tct_class_names *classes, tct_error *err) {
  int64_t count = options->classes ? options->classes_count : (int64_t)json_array_size(schema->label_values);
  const char **name = TCT_NEW(const char *, count);
  if (!name) return tct_fail_memory(err);
  for (int64_t k = 0; k < count; k++)
    name[k] = options->classes ? spelled(schema, options->classes[k], c)
                               : json_string_value(json_array_get(schema->label_values, (size_t)k));
  tct_status status = tct_class_names_set(classes, name, count, tct_class_kind_of(name, count), err);
  tct_free(name);
  return status;
}

tct_status tct_label_resolve(const tct_read_options *options, const tct_schema *schema, locale_t c, int32_t *kind,
                             tct_class_names *classes, tct_error *err) {
  const char *positive = positive_of(options, schema), *pair[2] = {NULL, NULL};
  int64_t values = (int64_t)json_array_size(schema->label_values);
  *kind = options->labels;
  if (*kind == TCT_LABELS_NONE) return TCT_OK;
  if (options->classes) TCT_TRY(check_list(options, schema, c, err));
  if (*kind == TCT_LABELS_REAL) return TCT_OK;
  if (positive) TCT_TRY(check_positive(options, schema, positive, c, err));
  if (options->classes && options->classes_count == 2)
    return *kind = TCT_LABELS_BINARY, name_listed(options, schema, c, classes, err);
  if (!positive && *kind == TCT_LABELS_CLASSES && (options->classes || values > 2))
    return name_listed(options, schema, c, classes, err);
  *kind = TCT_LABELS_BINARY;
  if (positive) two_of(schema, positive, c, pair);
  if (!positive && !plain_two(schema, c, pair)) return TCT_OK;
  return tct_class_names_set(classes, pair, 2, tct_class_kind_of(pair, 2), err);
}

bool tct_label_unlisted(const tct_read_options *options, const tct_schema *schema) {
  return positive_of(options, schema) && !schema->label_values && !options->classes;
}

static bool is_positive(const tct_label_rule *rule, const char *text, int64_t length) {
  double value = 0;
  if ((int64_t)strlen(rule->positive) == length && memcmp(rule->positive, text, (size_t)length) == 0) return true;
  return rule->positive_is_number && tct_label_rule_parse(rule, text, length, &value) == TCT_NUMBER_OK &&
         value == rule->positive_number;
}

static bool is_listed(const tct_label_rule *rule, const char *text, int64_t length) {
  if (rule->listed) return in_classes(rule->listed, rule->listed_count, text, length, rule->c);
  return !rule->schema->label_values || in_list(rule->schema, text, length, rule->c);
}

static const char *plus_or_minus(double value, double *label) {
  if (value != -1 && value != 0 && value != 1) {
    return "the labels are not 0/1 or -1/+1; say which value means +1 ({positive}, or \"positive\" in the schema)";
  }
  *label = value == 1 ? 1 : -1;
  return NULL;
}

static const char *real(const tct_label_rule *rule, double value, double *label) {
  const tct_schema *schema = rule->schema;
  if (!isfinite(value)) return "the label is not a finite number; correct it or remove the record";
  if (!isnan(schema->label_low) && !schema->event) value = fmin(fmax(value, schema->label_low), schema->label_high);
  *label = value;
  return NULL;
}

const char *tct_label_event_number(double value, int *event) {
  if (value != 0 && value != 1) return "the event is neither 0 nor 1; correct it, or name the text that means it";
  *event = value == 1;
  return NULL;
}

const char *tct_label_event(const tct_label_rule *rule, const char *text, int64_t length, int *event) {
  double value = 2;
  if (tct_schema_missing(rule->schema, text, length)) return "the event is missing; complete the record or remove it";
  if (rule->happened) return *event = is_value(rule->happened, text, length, rule->c), NULL;
  if (tct_flag_of(text, length) >= 0) return *event = tct_flag_of(text, length), NULL;
  if (tct_label_rule_parse(rule, text, length, &value) != TCT_NUMBER_OK) value = 2;
  return tct_label_event_number(value, event);
}

/* Times of 0 keep their sign: an event at once is one. */
const char *tct_label_follow_up(const tct_label_rule *rule, int event, double *label) {
  double horizon = rule->schema->label_high, time = *label;
  if (time < 0) return "the follow-up time is below 0; correct it";
  *label = tct_follow_up((event ? 1 : -1) * fmax(time, 0x1p-40 * horizon), horizon);
  return NULL;
}

static const char not_listed[] =
    "the label is not among the classes; correct it, or list it ({classes}, or \"values\" in the schema)";

/* Where in the list a number is, from 1; 0: nowhere. */
static int64_t number_in(const char *const *list, int64_t count, double value, locale_t c) {
  double own = 0;
  for (int64_t k = 0; k < count; k++)
    if (tct_number_parse(list[k], (int64_t)strlen(list[k]), c, &own) == TCT_NUMBER_OK && own == value) return k + 1;
  return 0;
}

static const char *class_of_number(const tct_label_rule *rule, double value, double *label) {
  int64_t at = number_in((const char *const *)rule->classes->name, rule->classes->count, value, rule->c);
  *label = (double)(at - 1);
  return at ? NULL : not_listed;
}

static bool same(const char *name, const char *text, int64_t length) {
  return name && (int64_t)strlen(name) == length && memcmp(name, text, (size_t)length) == 0;
}

/* By its bytes first: most are found so. */
static const char *class_of(const tct_label_rule *rule, const char *text, int64_t length, double *label) {
  const tct_class_names *c = rule->classes;
  double value = 0;
  for (int64_t k = 0; k < c->count; k++)
    if (same(c->name[k], text, length)) return *label = (double)k, NULL;
  return tct_label_rule_parse(rule, text, length, &value) == TCT_NUMBER_OK ? class_of_number(rule, value, label)
                                                                           : not_listed;
}

const char *tct_label_number(const tct_label_rule *rule, double value, double *label) {
  if (rule->kind == TCT_LABELS_REAL) return real(rule, value, label);
  if (!isfinite(value)) return "the label is not a finite number; correct it or remove the record";
  if (rule->kind == TCT_LABELS_CLASSES) return class_of_number(rule, value, label);
  if (rule->listed && !number_in(rule->listed, rule->listed_count, value, rule->c)) return not_listed;
  if (!rule->positive) return plus_or_minus(value, label);
  *label = rule->positive_is_number && value == rule->positive_number ? 1 : -1;
  return NULL;
}

/* Whether the rule knows the text as a label: as the positive one, or as one of the schema's list. */
static bool is_known(const tct_label_rule *rule, const char *text, int64_t length) {
  size_t k;
  json_t *value;
  if (same(rule->positive, text, length)) return true;
  for (int64_t c = 0; c < rule->classes->count; c++)
    if (same(rule->classes->name[c], text, length)) return true;
  json_array_foreach((json_t *)rule->schema->label_values, k, value) {
    if (same(json_string_value(value), text, length)) return true;
  }
  return false;
}

/* The spelling of a boolean that the rule knows, or its number. */
static const char *known_flag(const tct_label_rule *rule, bool value) {
  const char *const *words = tct_flag_words[value], *word = words[TCT_FLAG_WORDS - 1];
  for (int w = TCT_FLAG_WORDS - 1; w >= 0; w--)
    if (is_known(rule, words[w], (int64_t)strlen(words[w]))) word = words[w];
  return word;
}

const char *tct_label_flag(const tct_label_rule *rule, bool value, double *label) {
  const char *word = known_flag(rule, value);
  return tct_label_text(rule, word, (int64_t)strlen(word), label);
}

const char *tct_label_text(const tct_label_rule *rule, const char *text, int64_t length, double *label) {
  double value = 0;
  if (tct_schema_missing(rule->schema, text, length)) {
    return "the label is missing; complete the record or remove it";
  }
  int flag = rule->kind == TCT_LABELS_REAL ? -1 : tct_flag_of(text, length);
  if (flag >= 0 && !is_known(rule, text, length)) {
    const char *word = known_flag(rule, flag != 0);
    if (is_known(rule, word, (int64_t)strlen(word))) text = word, length = (int64_t)strlen(word);
  }
  if (rule->kind == TCT_LABELS_REAL) {
    if (tct_label_rule_parse(rule, text, length, &value) != TCT_NUMBER_OK) value = NAN;
    return real(rule, value, label);
  }
  if (rule->kind == TCT_LABELS_CLASSES) return class_of(rule, text, length, label);
  if (!is_listed(rule, text, length)) {
    if (rule->listed) return not_listed;
    return "the label is not among the schema's values; correct it or list it under \"label\"";
  }
  if (rule->positive) {
    *label = is_positive(rule, text, length) ? 1 : -1;
    return NULL;
  }
  if (tct_label_rule_parse(rule, text, length, &value) != TCT_NUMBER_OK) value = 2; /* neither of the two */
  return plus_or_minus(value, label);
}
