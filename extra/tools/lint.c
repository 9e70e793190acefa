/* lint.c - a schema seen by a reviewer: what looks taken from the data, and what will stop a run later. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "core/number.h"
#include "model/json.h"
#include "read/schema/encode.h"

static void find(json_t *list, const char *column, const char *level, const char *text) {
  json_t *one = json_object();
  json_object_set_new(one, "column", column ? json_string(column) : json_null());
  json_object_set_new(one, "level", json_string(level));
  json_object_set_new(one, "text", json_string(text));
  json_array_append_new(list, one);
}

/* People know bounds to three digits; a longer one was computed from something. */
static bool looks_exact(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.3g", value);
  return strtod(text, NULL) != value;
}

/* Years and dates are known exactly. */
static bool is_year(double value) { return value == trunc(value) && value >= 1000 && value <= 2999; }

static void look_at_bounds(json_t *list, const char *name, double lower, double upper) {
  bool exact = (looks_exact(lower) && !is_year(lower)) || (looks_exact(upper) && !is_year(upper));
  if (exact)
    find(list, name, "look",
         "a bound has more than three digits, as if it were taken from the data; write the publicly known range");
}

/* The widest range that anybody means by a name.  Bounds that are ten times as wide cost nine tenths of the budget. */
static const struct {
  const char *word;
  double widest;
} usual[] = {{"age", 120},  {"percent", 100}, {"pct", 100}, {"hours", 168},  {"hour", 24},  {"minute", 60},
             {"month", 12}, {"weekday", 7},   {"bmi", 100}, {"height", 300}, {"pulse", 300}};

/* Is it the name, or its beginning or end beside an underscore? */
static bool has_word(const char *name, const char *word) {
  size_t length = strlen(name), own = strlen(word);
  if (length == own) return strcasecmp(name, word) == 0;
  return length > own && ((strncasecmp(name, word, own) == 0 && name[own] == '_') ||
                          (strcasecmp(name + length - own, word) == 0 && name[length - own - 1] == '_'));
}

static void look_at_width(json_t *list, const tct_schema *schema, const tct_column *column) {
  double width = column->upper - column->lower;
  bool wide = false;
  for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
    wide |= has_word(column->name, usual[k].word) && width >= 10 * usual[k].widest;
  if (wide)
    find(list, column->name, "look", "its bounds look ten times wider than such a number can be; write closer ones");
  for (int32_t k = 0; schema->design && k < schema->design->parts; k++) {
    const tct_part *part = &schema->design->part[k];
    const double *at = part->kind == TCT_PART_CURVE ? part->shape->knot : part->breaks;
    int32_t count = part->kind == TCT_PART_CURVE ? part->shape->knots
                    : part->kind == TCT_PART_CUT ? part->width - 1
                                                 : 0;
    const tct_scalar *of = count > 1 ? &schema->design->scalar[part->source] : NULL;
    if (of && of->kind == TCT_SCALAR_COLUMN && &schema->column[of->of[0]] == column &&
        10 * (at[count - 1] - at[0]) <= width)
      find(list, column->name, "look",
           "all knots or breaks lie in a tenth of its bounds, which look ten times too wide; "
           "write closer ones");
  }
}

static void look_at_column(json_t *list, const tct_schema *schema, const tct_column *column) {
  if (column->kind == TCT_COLUMN_IGNORE) return;
  if (column->kind == TCT_COLUMN_NUMBER) {
    look_at_width(list, schema, column);
    look_at_bounds(list, column->name, column->lower, column->upper);
    bool outside = column->missing_number < column->lower || column->missing_number > column->upper;
    if (column->missing == TCT_WHEN_VALUE && outside)
      find(list, column->name, "look", "\"missing\" lies outside the bounds and is brought to the nearer one");
    return;
  }
  if (column->kind == TCT_COLUMN_DATE) return;
  if (column->features == 0) find(list, column->name, "look", "its only value is dropped, so that it says nothing");
  if (column->listed == 1 && column->features == 1)
    find(list, column->name, "look", "it has one value only; unless others are possible, ignore it");
}

static bool lacks_missing(const tct_column *column) { return column->missing == TCT_WHEN_REFUSE; }
static bool lacks_other(const tct_column *column) {
  return column->kind == TCT_COLUMN_CATEGORY && column->other == TCT_WHEN_REFUSE;
}

/* One finding for all columns without a rule: a run that such a value stops is no fault of the schema. */
static void look_at_rules(json_t *list, const tct_schema *schema, bool (*lacks)(const tct_column *), const char *text) {
  char names[400] = "";
  for (int64_t k = 0; k < schema->columns; k++) {
    size_t used = strlen(names);
    if (schema->column[k].kind == TCT_COLUMN_IGNORE || !lacks(&schema->column[k])) continue;
    bool room = used + strlen(schema->column[k].name) + 8 < sizeof names;
    snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", room ? schema->column[k].name : "...");
    if (!room) break;
  }
  char whole[600];
  snprintf(whole, sizeof whole, "%s: %s", text, names);
  if (names[0]) find(list, NULL, "look", whole);
}

static bool in_list(const json_t *values, const char *text) {
  size_t k;
  json_t *value;
  json_array_foreach((json_t *)values, k, value) if (!strcmp(json_string_value(value), text)) return true;
  return false;
}

static void look_at_label(json_t *list, const tct_schema *schema) {
  const char *name = schema->label;
  if (!name) {
    find(list, NULL, "look", "no \"label\" is described; its column and values or bounds are public knowledge too");
    return;
  }
  size_t classes = json_array_size(schema->label_values);
  if (!isnan(schema->label_low)) look_at_bounds(list, name, schema->label_low, schema->label_high);
  if (isnan(schema->label_low) && !classes)
    find(list, name, "look", "the label has neither \"values\" nor bounds; list its classes, or write lower and upper");
  if (classes == 2 && !schema->positive)
    find(list, name, "look", "\"positive\" is not named, so that labels must be 0/1 or -1/+1; name one of the values");
  if (schema->positive && classes && !in_list(schema->label_values, schema->positive))
    find(list, name, "must", "\"positive\" is not among \"values\", so that no record could be positive; correct it");
}

/* With terms a column may be described and not used. */
static bool is_used(const tct_schema *schema, int64_t k) {
  const tct_design *d = schema->design;
  bool used = !d || schema->column[k].kind == TCT_COLUMN_IGNORE;
  for (int32_t j = 0; !used && j < d->scalars; j++)
    used = d->scalar[j].kind == TCT_SCALAR_COLUMN && d->scalar[j].of[0] == k;
  for (int32_t j = 0; !used && j < d->parts; j++)
    used = (d->part[j].kind == TCT_PART_LEVELS || d->part[j].kind == TCT_PART_FLAG) && d->part[j].source == k;
  return used;
}

/* ---- do the terms determine their weights? ---------------------------------------------------------------------- */

enum { MOST_RANKED = 100, RANK_ROWS = 20 }; /* features; records for each, so that every pair of levels occurs */

static void invent_record(tct_encoder *e, uint64_t *state) {
  tct_encode_begin(e);
  for (int64_t k = 0; k < e->schema->columns; k++) {
    const tct_column *c = &e->schema->column[k];
    double u = (double)(tct_split_mix(state) >> 11) * 0x1p-53;
    bool missing = c->missing == TCT_WHEN_FLAG && tct_split_mix(state) % 4 == 0;
    if (c->kind == TCT_COLUMN_CATEGORY) tct_encode_listed(e, c, missing ? -1 : (int32_t)(u * c->listed), missing);
    if (c->kind == TCT_COLUMN_NUMBER) tct_encode_number(e, c, c->lower + u * (c->upper - c->lower), missing);
    if (c->kind == TCT_COLUMN_DATE) tct_encode_number(e, c, floor(c->lower + u * (c->upper - c->lower)), missing);
  }
  tct_encode_end(e);
}

/* The first feature that is a sum of those before it and of the intercept, in invented records; -1: none.
 * x[features + 1][rows], by modified Gram-Schmidt. */
static int64_t first_dependent(double *x, int64_t features, int64_t rows) {
  for (int64_t j = 0; j <= features; j++) {
    double *own = x + j * rows, before = 0, after = 0;
    for (int64_t i = 0; i < rows; i++) before += own[i] * own[i];
    for (int64_t k = 0; k < j; k++) {
      double dot = 0;
      for (int64_t i = 0; i < rows; i++) dot += x[k * rows + i] * own[i];
      for (int64_t i = 0; i < rows; i++) own[i] -= dot * x[k * rows + i];
    }
    for (int64_t i = 0; i < rows; i++) after += own[i] * own[i];
    if (!(after > 1e-16 * before)) return j - 1;
    for (int64_t i = 0; i < rows; i++) own[i] /= sqrt(after);
  }
  return -1;
}

static tct_status look_at_rank(json_t *list, const tct_schema *schema, tct_error *err) {
  int64_t features = schema->features, rows = RANK_ROWS * features + 100;
  tct_encoder e = {0};
  uint64_t state = 1;
  if (!schema->design || features > MOST_RANKED) return TCT_OK;
  tct_status status = tct_encoder_make(&e, schema, NULL, -1, &(tct_read_options){0}, err);
  double *x = status == TCT_OK ? TCT_NEW(double, (features + 1) * rows) : NULL;
  if (status == TCT_OK && !x) status = tct_fail_memory(err);
  for (int64_t i = 0; i < rows && x; i++) {
    invent_record(&e, &state);
    x[i] = 1;
    for (int64_t k = 0; k < (e.sparse ? e.filled : features); k++)
      x[((e.sparse ? e.index[k] : k) + 1) * rows + i] = e.value[k];
  }
  int64_t found = x ? first_dependent(x, features, rows) : -1;
  char name[200], text[400];
  if (found >= 0) {
    tct_schema_feature(schema, found, name, sizeof name);
    snprintf(text, sizeof text,
             "the feature %s is a sum of those before it, so that their weights are open; leave one of "
             "these terms away",
             name);
    find(list, NULL, "look", text);
  }
  tct_free(x);
  tct_encoder_free(&e);
  return status;
}

/* As one curve the weights are the same, and noise in its basis hides them less. */
static void look_at_squares(json_t *list, const tct_schema *schema) {
  const tct_design *d = schema->design;
  for (int32_t k = 0; d && k < d->parts; k++) {
    const tct_scalar *square = d->part[k].kind == TCT_PART_NUMBER ? &d->scalar[d->part[k].source] : NULL;
    if (!square || square->kind != TCT_SCALAR_SQUARE || tct_design_find(d, &k, 1) < 0) continue;
    for (int32_t j = 0; j < d->parts; j++)
      if (d->part[j].kind == TCT_PART_NUMBER && d->part[j].source == square->of[0] && tct_design_find(d, &j, 1) >= 0)
        find(list, d->part[j].name, "look",
             "it and its square are two terms; as one of \"power\" and degree 2 their weights have less noise");
  }
}

/* The names of all features, and what a record's length is at most without an intercept. */
static void put_features(json_t *root, const tct_schema *schema) {
  json_t *names = json_array();
  double squares = 0;
  for (int64_t k = 0; k < schema->columns; k++) squares += schema->column[k].kind != TCT_COLUMN_IGNORE;
  for (int64_t j = 0; j < schema->features; j++) {
    int64_t length = tct_schema_feature(schema, j, NULL, 0);
    char *name = TCT_NEW(char, length + 1);
    if (name) tct_schema_feature(schema, j, name, (size_t)length + 1);
    json_array_append_new(names, name ? json_string(name) : NULL);
    tct_free(name);
  }
  json_object_set_new(root, "names", (int64_t)json_array_size(names) == schema->features ? names : NULL);
  json_object_set_new(root, "row_norm", json_real(sqrt(schema->design ? schema->design->squares : squares)));
}

/* Summaries, contrasts and R go by names. */
static void look_at_names(json_t *list, const json_t *names) {
  json_t *seen = json_object(), *each;
  size_t j;
  json_array_foreach((json_t *)names, j, each) {
    const char *name = json_string_value(each);
    if (json_object_get(seen, name))
      find(list, name, "must", "two features have this name; write another \"name\" for one");
    json_object_set_new(seen, name, json_null());
  }
  json_decref(seen);
}

static char *check(const tct_schema *schema, tct_error *err) {
  json_t *list = json_array(), *root = json_object();
  if (schema->drafted)
    find(list, NULL, "must",
         "it is a draft: replace every value by public knowledge, then delete the key \"not_private\"");
  for (int64_t k = 0; k < schema->columns; k++) look_at_column(list, schema, &schema->column[k]);
  for (int64_t k = 0; k < schema->columns; k++)
    if (!is_used(schema, k))
      find(list, schema->column[k].name, "look", "no term uses the column; give it the type \"ignore\", or add a term");
  look_at_rules(list, schema, lacks_missing, "a missing value stops the run (add \"missing\" where one can be)");
  look_at_rules(list, schema, lacks_other, "an unlisted value stops the run (add \"other\" where one can be)");
  look_at_label(list, schema);
  look_at_squares(list, schema);
  if (look_at_rank(list, schema, err) != TCT_OK) {
    json_decref(list);
    json_decref(root);
    return NULL;
  }
  put_features(root, schema);
  look_at_names(list, json_object_get(root, "names"));
  bool ok = true;
  size_t i;
  json_t *one;
  json_array_foreach(list, i, one) ok &= !tct_json_says(one, "level", "must");
  json_object_set_new(root, "ok", json_boolean(ok));
  json_object_set_new(root, "columns", json_integer(schema->columns));
  json_object_set_new(root, "features", json_integer(schema->features));
  json_object_set_new(root, "findings", list);
  return tct_json_text(root, err);
}

char *tct_schema_check_json(const char *path, const char *text, tct_error *err) {
  tct_schema schema = {0};
  char *answer = NULL;
  tct_error_clear(err);
  if (!path && !text)
    tct_fail(err, TCT_E_USAGE, "no schema is given; name a schema file");
  else if (tct_schema_load(&schema, path, text, &tct_limits_default, err) == TCT_OK)
    answer = check(&schema, err);
  tct_schema_free(&schema);
  return answer;
}
