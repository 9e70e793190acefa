/* test_design.c - terms of a schema: their coding, the norm law, the way back to the columns, and what is refused. */
#include "read_help.h"
#include "sample.h"

#include "core/alloc.h"
#include "read/schema/dates.h"
#include "read/schema/design.h"
#include "read/schema/encode.h"

#define X "{\"name\":\"x\",\"type\":\"number\",\"lower\":-2,\"upper\":6,\"missing\":\"indicator\"}"
#define Z "{\"name\":\"z\",\"type\":\"number\",\"lower\":1,\"upper\":5}"
#define G "{\"name\":\"g\",\"type\":\"category\",\"values\":[\"a\",\"b\",\"c\"],\"reference\":\"b\",\"other\":\"zero\"}"
#define H "{\"name\":\"h\",\"type\":\"category\",\"values\":[\"u\",\"v\"],\"missing\":\"indicator\"}"
#define SEEN "{\"name\":\"seen\",\"type\":\"date\",\"lower\":\"2015-01-01\",\"upper\":\"2024-12-31\"}"
#define BORN \
  "{\"name\":\"born\",\"type\":\"date\",\"lower\":\"1920-01-01\",\"upper\":\"2006-12-31\",\"missing\":\"indicator\"}"
#define DATES(terms) "{\"version\":2,\"columns\":[" Z "," SEEN "," BORN "]" terms "}"
#define COLUMNS X "," Z "," G "," H
#define SCHEMA(terms) "{\"version\":2,\"columns\":[" COLUMNS "]" terms "}"

static tct_schema load(const char *text) {
  tct_schema schema;
  tct_error err;
  if (tct_schema_load(&schema, NULL, text, &tct_limits_default, &err) != TCT_OK) fail_msg("%s: %s", text, err.text);
  return schema;
}

/* ---- coding ----------------------------------------------------------------------------------------------------- */

static void terms_are_coded_by_the_margins_that_are_there(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {SCHEMA(""), "x x=(missing) z g=a g=c h=v h=(missing) "},
      {SCHEMA(",\"terms\":[\"g\"]"), "g=a g=c "},
      {SCHEMA(",\"terms\":[\"z\",{\"product\":[\"z\",\"g\"]}]"), "z z:g=a z:g=c "},
      {SCHEMA(",\"terms\":[\"g\",{\"product\":[\"g\",\"z\"]}]"), "g=a g=c g=a:z g=b:z g=c:z "},
      {SCHEMA(",\"terms\":[{\"product\":[\"h\",\"g\"]}]"),
       "h=u:g=a h=u:g=b h=u:g=c h=v:g=a h=v:g=b h=v:g=c h=(missing):g=a h=(missing):g=b h=(missing):g=c "},
      {SCHEMA(",\"terms\":[\"z\",{\"of\":\"x\",\"share\":0.5},{\"product\":[\"x\",\"z\"]}]"),
       "z x x=(missing) x:z x=(missing):z "},
      {SCHEMA(",\"terms\":[{\"of\":\"x\",\"as\":\"cut\",\"breaks\":[0,1.5]},\"x\",{\"of\":\"x\",\"as\":\"square\"},"
              "{\"of\":[\"z\",{\"of\":\"z\",\"as\":\"square\"}],\"as\":\"ratio\",\"name\":\"q\"},{\"product\":[\"q\","
              "\"g\"]}]"),
       "cut(x)=(0, 1.5] cut(x)=(1.5, 6] cut(x)=(missing) x square(x) q q:g=a q:g=c "},
      {SCHEMA(",\"terms\":[{\"of\":\"z\",\"as\":\"power\",\"degree\":2},{\"of\":\"x\",\"as\":\"missing\"},"
              "{\"of\":\"x\",\"as\":\"spline\",\"kind\":\"natural\",\"knots\":[0,1]}]"),
       "power(z)1 power(z)2 x=(missing) ns(x)1 ns(x)2 ns(x)3 "},
  };
  for (size_t k = 0; k < COUNT(cases); k++) {
    tct_schema schema = load(cases[k][0]);
    char names[400] = "", name[100];
    for (int64_t j = 0; j < schema.features; j++) {
      tct_schema_feature(&schema, j, name, sizeof name);
      strcat(strcat(names, name), " ");
    }
    assert_string_equal(names, cases[k][1]);
    tct_schema_free(&schema);
  }
}

static void records_become_what_the_terms_say(void **state) {
  (void)state;
  static const char table[] = "g,h,z,x\na,u,1,6\nb,v,5,\nq,,3,0\n";
  static const double main[3][7] = {{1, 0, -1, 1, 0, 0, 0}, {0, 1, 1, 0, 0, 1, 0}, {-0.5, 0, 0, 0, 0, 0, 1}};
  tct_read_options options = options_for(TCT_LABELS_NONE, NULL, SCHEMA(""));
  tct_data *data = read_text(table, &options);
  for (int i = 0; i < 3; i++) assert_row(data, i, main[i], 7);
  tct_data_free(data);
  /* z is not in the schema on its own, so that x is not moved beside it; nor is z, as x is not. */
  static const double alone[3][2] = {{1.0 / 5, 0}, {0, 1}, {0, 0}};
  options.schema_text = SCHEMA(",\"terms\":[{\"product\":[\"x\",\"z\"]}]");
  data = read_text(table, &options);
  for (int i = 0; i < 3; i++) assert_row(data, i, alone[i], 2);
  tct_data_free(data);
  static const double share[3][3] = {{0.5, 0, -1}, {0, 0.5, 1}, {-0.25, 0, 0}};
  options.schema_text = SCHEMA(",\"terms\":[{\"of\":\"x\",\"share\":0.5},\"z\"]");
  data = read_text(table, &options);
  for (int i = 0; i < 3; i++) assert_row(data, i, share[i], 3);
  tct_data_free(data);
  options.invalid = TCT_INVALID_ZERO;
  data = read_text("g,h,z,x\na,u,text,6\n", &options);
  static const double nothing[3] = {0, 0, 0};
  assert_row(data, 0, nothing, 3);
  assert_int_equal(data->dropped[0], 1);
  tct_data_free(data);
}

static void dates_are_days_of_the_calendar(void **state) {
  (void)state;
  static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  static const char *const wrong[] = {"2024-02-30", "2023-02-29", "1900-02-29",  "2024-13-01",
                                      "2024-00-01", "2024-1-01",  "24-01-01",    "2024/01/01",
                                      "2024-01-0x", "0000-01-01", "2024-01-01x", "2024-01-01T\t",
                                      "",           "2024-01-00", "2024-01-32",  "20240101"};
  char text[40];
  double days, next = -719162; /* the first of year 1 */
  for (int year = 1; year <= 9999; year++) {
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    for (int month = 1; month <= 12; month++) {
      for (int day = 1; day <= length[month - 1] + (leap && month == 2); day++, next++) {
        tct_date date = tct_date_of(next);
        assert_true(date.year == year && date.month == month && date.day == day);
        if (day > 1 && day < 28) continue;
        snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
        assert_true(tct_date_parse(text, 10, &days) && days == next);
      }
    }
  }
  assert_true(tct_date_parse("1969-12-31 23:59:59.5", 21, &days) && days == -1);
  assert_true(tct_date_parse("2024-02-29T00:00:00Z", 20, &days) && days == 19782);
  for (size_t k = 0; k < COUNT(wrong); k++) assert_false(tct_date_parse(wrong[k], (int64_t)strlen(wrong[k]), &days));
  tct_read_options options =
      options_for(TCT_LABELS_NONE, NULL,
                  DATES(",\"terms\":[{\"of\":[\"seen\",\"born\"],\"as\":\"days_between\",\"lower\":0,"
                        "\"upper\":40000},{\"of\":\"seen\",\"as\":\"month\"},{\"of\":\"born\",\"as\":\"year\"}]"));
  tct_data *data = read_text("z,born,seen\n1,2000-01-01,2020-01-01\n2,,1999-12-31\n", &options);
  static const double rows[2][14] = {{7305 / 20000.0 - 1, [13] = 2 * (80 / 86.0) - 1}, {0, 1}};
  assert_row(data, 0, rows[0], 14); /* 1999 is brought to the first day of 2015; no second mark of born */
  assert_row(data, 1, rows[1], 14);
  assert_string_equal(tct_data_feature(data, 2), "month(seen)=2");
  tct_data_free(data);
  assert_refused("z,born,seen\n1,2000-01-01,1.1.2020\n", 34, &options, 2, 3, "no date");
  assert_refused("z,born,seen\n1,2000-01-01,\n", 26, &options, 2, 3, "missing");
}

/* ---- random schemas --------------------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;
static double uniform(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(seed >> 11) * 0x1p-53;
}
static int below(int count) { return (int)(uniform() * count); }

static const char *const PARTS[] = {
    "\"x\"",
    "\"z\"",
    "\"g\"",
    "\"h\"",
    "{\"of\":\"z\",\"as\":\"log\"}",
    "{\"of\":\"x\",\"as\":\"square\"}",
    "{\"of\":[\"x\",{\"of\":\"z\",\"as\":\"sqrt\"}],\"as\":\"ratio\"}",
    "{\"of\":\"x\",\"as\":\"power\",\"degree\":3}",
    "{\"of\":\"z\",\"as\":\"spline\",\"kind\":\"natural\",\"knots\":[2,2.5,4]}",
    "{\"of\":\"x\",\"as\":\"spline\",\"kind\":\"bspline\",\"degree\":2,\"knots\":[0.5]}",
    "{\"of\":\"x\",\"as\":\"cut\",\"breaks\":[-1,0,5]}",
    "{\"of\":{\"of\":\"z\",\"as\":\"log1p\"},\"as\":\"cut\",\"breaks\":[1]}",
    "{\"of\":[\"seen\",\"born\"],\"as\":\"years_between\",\"lower\":18,\"upper\":100}",
    "{\"of\":\"seen\",\"as\":\"year\"}",
    "{\"of\":\"born\",\"as\":\"quarter\"}",
    "{\"of\":\"seen\",\"as\":\"weekday\"}",
};

/* Moving two numbers leaves multiples of a term that is not there; marks of one column that terms share. */
static const char *const FIXED[] = {
    ",\"terms\":[{\"product\":[\"x\",\"g\"]},{\"product\":[\"z\",\"g\"]},{\"product\":[\"x\",\"z\",\"g\"]}]",
    ",\"terms\":[{\"of\":[\"x\",\"z\"],\"as\":\"ratio\",\"name\":\"r\"},{\"of\":\"x\",\"as\":\"power\",\"degree\":2,"
    "\"name\":\"p\"},"
    "{\"product\":[\"r\",\"p\"]},{\"product\":[\"r\",\"p\",\"h\"]}]",
};

/* Distinct terms of one to four distinct parts, in any order; returns how many. */
static int random_terms(char *text, size_t size, int parts) {
  int used[64] = {0}, terms = 0, tries = 1 + below(6);
  size_t at = (size_t)snprintf(text, size, ",\"terms\":[");
  for (int t = 0; t < tries; t++) {
    int mask = 0, count = 1 + below(3), first = below(parts);
    for (int k = 0; k < count; k++) mask |= 1 << (first + k * (1 + below(2))) % parts;
    bool single = (mask & (mask - 1)) == 0, again = false;
    for (int k = 0; k < terms; k++) again |= used[k] == mask;
    if (again) continue;
    used[terms] = mask;
    at += (size_t)snprintf(text + at, size - at, "%s", terms++ ? "," : "");
    if (!single)
      at +=
          (size_t)snprintf(text + at, size - at, "{\"share\":%.2f,\"product\":[", below(2) ? 1 : 0.25 + uniform() / 2);
    for (int k = 0, any = 0; k < parts; k++)
      if (mask >> k & 1) at += (size_t)snprintf(text + at, size - at, "%s%s", any++ ? "," : "", PARTS[k]);
    at += (size_t)snprintf(text + at, size - at, "%s", single ? "" : "]}");
  }
  snprintf(text + at, size - at, "]");
  return terms;
}

static double random_number(double lower, double upper) {
  static const double ends[] = {-1e300, 1e300, 0, 5e-324};
  int kind = below(8);
  if (kind < 4) return ends[kind];
  return kind == 4 ? lower : kind == 5 ? upper : lower + (upper - lower) * uniform();
}

/* Encodes a random record; its cells stay in encoder->work. */
static void random_record(tct_encoder *encoder) {
  const tct_schema *schema = encoder->schema;
  tct_encode_begin(encoder);
  for (int64_t k = 0; k < schema->columns; k++) {
    const tct_column *column = &schema->column[k];
    bool missing = column->missing == TCT_WHEN_FLAG && below(4) == 0;
    const char *why = column->kind != TCT_COLUMN_CATEGORY
                          ? tct_encode_number(encoder, column, random_number(column->lower, column->upper), missing)
                          : tct_encode_listed(encoder, column, missing ? -1 : below(column->listed), missing);
    assert_null(why);
  }
  tct_encode_end(encoder);
}

static void features_of(const tct_encoder *e, double *x) {
  memset(x, 0, (size_t)e->schema->features * sizeof *x);
  for (int64_t k = 0; k < e->filled && e->sparse; k++) {
    assert_true(k == 0 || e->index[k] > e->index[k - 1]);
    x[e->index[k]] = e->value[k];
  }
  if (!e->sparse) memcpy(x, e->value, (size_t)e->schema->features * sizeof *x);
}

enum { MOST = 4096 };

/* The middle of powers and splines over the bounds: what a missing value counts as. */
static double mean_of(const tct_factor *factor, const tct_scalar *of, int32_t raw) {
  double function[TCT_CURVE_WIDTH + 1], sum = 0;
  for (int k = 0; k <= 2000; k++) {
    tct_curve_functions(factor->curve, of->lower + (of->upper - of->lower) * k / 2000, function);
    sum += function[raw];
  }
  return sum / 2001;
}

/* A factor's raw function of the record: the number, in the middle where it is missing, or an indicator. */
static double raw_of(const tct_encoder *e, const tct_factor *factor, int32_t feature) {
  const tct_design *d = e->schema->design;
  const tct_part *part = &d->part[factor->part];
  int32_t raw = tct_factor_raw(d, factor, feature), level = 0;
  double value = part->kind == TCT_PART_LEVELS ? e->work.cell[part->source] : e->work.scalar[part->source];
  if (isnan(value) && (raw == part->width || tct_part_is_levels(part))) return raw == part->width;
  if (raw == part->width) return 0;
  if (part->kind == TCT_PART_LEVELS) return value == raw;
  if (part->kind == TCT_PART_CUT) {
    while (level < part->width - 1 && value > part->breaks[level]) level++;
    return level == raw;
  }
  if (part->kind == TCT_PART_QUARTER) return (tct_date_of(value).month - 1) / 3 == raw;
  if (part->kind == TCT_PART_WEEKDAY) return ((int)value + 3 + 7 * 100000) % 7 == raw;
  const tct_scalar *of = &d->scalar[part->source];
  if (factor->curve && isnan(value)) return mean_of(factor, of, raw);
  if (factor->curve) {
    double function[TCT_CURVE_WIDTH + 1];
    tct_curve_functions(factor->curve, value, function);
    return function[raw];
  }
  return isnan(value) ? of->lower + (of->upper - of->lower) / 2 : value;
}

typedef struct back {
  const double *raw;
  double *sum, *size;
} back;

static void add_back(void *user, int64_t feature, int64_t raw, double value) {
  back *b = user;
  double term = value * (raw < 0 ? 1 : b->raw[raw]);
  b->sum[feature] += term, b->size[feature] += fabs(term);
}

/* The same counted from the middle, where every term centres it. */
static double middle_of(const tct_encoder *e, const tct_factor *factor, int32_t feature) {
  const tct_design *d = e->schema->design;
  double value = raw_of(e, factor, feature);
  int32_t raw = tct_factor_raw(d, factor, feature);
  if (!tct_design_centres(d, factor->part) || raw == d->part[factor->part].width) return value;
  const tct_scalar *of = &d->scalar[d->part[factor->part].source];
  return value - (factor->curve ? mean_of(factor, of, raw) : of->lower + (of->upper - of->lower) / 2);
}

/* B times the raw features is the features, in the raw coding and in that of the middle. */
static void check_back(const tct_encoder *e, const double *x, bool middle) {
  double raw[MOST], sum[MOST] = {0}, size[MOST] = {0};
  const tct_design *d = e->schema->design;
  for (int64_t j = 0; j < e->schema->features; j++) {
    int32_t at[TCT_TERM_PARTS];
    const tct_term *term = tct_design_place(d, j, at);
    raw[j] = 1;
    for (int32_t k = 0; k < term->parts; k++)
      raw[j] *= (middle ? middle_of : raw_of)(e, &d->factor[term->factor[k]], at[k]);
  }
  (middle ? tct_design_middle : tct_design_raw)(e->schema, add_back, &(back){raw, sum, size});
  for (int64_t j = 0; j < e->schema->features; j++) assert_true(fabs(sum[j] - x[j]) <= 1e-11 * (1 + size[j]));
}

/* The largest squared norm over the schema's own bound; and B times the raw features is the features. */
static void no_record_is_longer_than_the_terms_allow(void **state) {
  (void)state;
  char text[4000], terms[2000];
  int kept = 0;
  double largest = 0, x[MOST];
  for (int s = 0; s < 400; s++) {
    int count = s < (int)COUNT(FIXED) ? 4 : random_terms(terms, sizeof terms, (int)COUNT(PARTS));
    if (s < (int)COUNT(FIXED)) snprintf(terms, sizeof terms, "%s", FIXED[s]);
    if (s >= (int)COUNT(FIXED) && !sample_turn(s, 3)) continue;
    snprintf(text, sizeof text, "{\"version\":2,\"columns\":[" COLUMNS "," SEEN "," BORN "]%s}", terms);
    tct_schema schema;
    tct_error err;
    if (tct_schema_load(&schema, NULL, text, &tct_limits_default, &err) != TCT_OK) {
      assert_non_null(strstr(err.text, "do not determine")); /* parts that say the same were drawn */
      tct_schema_free(&schema);
      continue;
    }
    kept++;
    bool curved = strstr(text, "power") || strstr(text, "spline");
    tct_encoder encoder = {0};
    tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
    assert_true(schema.features <= MOST && schema.design->squares <= count);
    assert_int_equal(tct_encoder_make(&encoder, &schema, NULL, -1, &options, &err), TCT_OK);
    for (int i = 0; i < 2500; i++) {
      double squares = 0;
      random_record(&encoder);
      features_of(&encoder, x);
      for (int64_t j = 0; j < schema.features; j++) squares += x[j] * x[j];
      if (!curved) largest = fmax(largest, squares / schema.design->squares);
      assert_true(squares <= schema.design->squares * (curved ? 1 + 1e-6 : 1 + 1e-12));
      if (i < 50) check_back(&encoder, x, i == 1); /* the middle of curves takes time */
    }
    tct_encoder_free(&encoder);
    tct_schema_free(&schema);
  }
  assert_true(kept > 300 / sample_every(3) && largest <= 1 + 1e-12);
  assert_true(largest > 1 - 1e-12); /* corner records reach it */
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static void terms_that_mean_nothing_are_refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"{\"version\":1,\"terms\":[\"z\"],\"columns\":[" Z "]}", "belong to version 2"},
      {"{\"terms\":[\"z\"],\"columns\":[" Z "]}", "belong to version 2"},
      {"{\"version\":3,\"columns\":[" Z "]}", "must be 1 or 2"},
      {"{\"version\":2,\"scale\":\"unit\",\"columns\":[" Z "]}", "leave \"scale\" away"},
      {"{\"columns\":[" X "]}", "in a schema of version 2"},
      {"{\"version\":2,\"columns\":[{\"name\":\"q\",\"type\":\"number\",\"estimate\":true}]}", "has the bounds"},
      {"{\"version\":2,\"columns\":[{\"name\":\"q\",\"type\":\"category\",\"values\":[\"a\"],\"drop_first\":true}]}",
       "in place of \"drop_first\""},
      {"{\"version\":2,\"columns\":[{\"name\":\"q\",\"type\":\"category\",\"values\":[\"a\"],\"reference\":\"b\"}]}",
       "not listed"},
      {"{\"version\":2,\"columns\":[{\"name\":\"q\",\"type\":\"category\",\"values\":[\"a\"],\"reference\":1}]}",
       "not listed"},
      {"{\"version\":2,\"columns\":[{\"name\":\"q\",\"type\":\"category\",\"values\":[\"a\"]}]}",
       "no term has a feature"},
      {SCHEMA(",\"terms\":[]"), "list of 1 to 4096"},
      {SCHEMA(",\"terms\":\"x\""), "list of 1 to 4096"},
      {SCHEMA(",\"terms\":[\"nobody\"]"), "term 1: it names a column that"},
      {SCHEMA(",\"terms\":[\"z\",3]"), "term 2: a part is"},
#define AS(of, as) SCHEMA(",\"terms\":[{\"of\":" of ",\"as\":" as "}]")
      {AS("\"z\"", "\"exp\""), "\"as\" is unknown"},
      {AS("\"z\"", "7"), "\"as\" is the name"},
      {AS("\"g\"", "\"log\""), "needs a number"},
      {AS("\"nobody\"", "\"log\""), "does not describe"},
      {AS("\"x\"", "\"log\""), "bounds above 0"},
      {AS("\"x\"", "\"log1p\""), "bounds above -1"},
      {AS("\"x\"", "\"sqrt\""), "bounds of 0 and more"},
      {AS("\"x\"", "\"reciprocal\""), "one side of 0"},
      {AS("[\"z\",\"x\"]", "\"ratio\""), "one side of 0"},
      {AS("\"z\"", "\"ratio\""), "of two columns"},
      {AS("{\"of\":\"z\",\"as\":\"log\",\"share\":1}", "\"square\""), "unknown key \"share\""},
      {AS("{\"of\":\"z\"}", "\"square\""), "a number is wanted"},
      {AS("\"z\"", "\"power\""), "has a \"degree\""},
      {AS("\"z\"", "\"power\",\"degree\":1"), "whole number"},
      {AS("\"z\"", "\"power\",\"degree\":2.5"), "whole number"},
      {AS("\"z\"", "\"power\",\"degree\":6"), "whole number"},
      {AS("\"z\"", "\"power\",\"knots\":[2]"), "unknown key \"knots\""},
      {AS("\"z\"", "\"spline\",\"knots\":[2]"), "\"kind\" of a spline"},
      {AS("\"z\"", "\"spline\",\"kind\":\"natural\""), "lists of numbers"},
      {AS("\"z\"", "\"spline\",\"kind\":\"natural\",\"knots\":[]"), "lists of numbers"},
      {AS("\"z\"", "\"spline\",\"kind\":\"natural\",\"knots\":[3,2]"), "ascend"},
      {AS("\"z\"", "\"spline\",\"kind\":\"natural\",\"knots\":[1]"), "strictly between"},
      {AS("\"z\"", "\"spline\",\"kind\":\"natural\",\"knots\":[\"2\"]"), "strictly between"},
      {AS("\"z\"", "\"spline\",\"kind\":\"natural\",\"knots\":[2],\"degree\":3"), "is cubic"},
      {AS("\"z\"", "\"spline\",\"kind\":\"bspline\",\"knots\":[2],\"degree\":4"), "1 to 3 of a B-spline"},
      {AS("\"z\"", "\"spline\",\"kind\":\"bspline\",\"knots\":[2,2.0000001,2.0000002,2.0000003,2.0000004]"),
       "too close together"},
      {AS("\"z\"", "\"cut\""), "lists of numbers"},
      {AS("\"z\"", "\"cut\",\"breaks\":[5]"), "strictly between"},
      {AS("\"z\"", "\"missing\""), "\"missing\": \"indicator\""},
      {AS("\"z\"", "\"log\",\"name\":\"\""), "\"name\" is a text"},
      {SCHEMA(",\"terms\":[\"x\",{\"of\":\"x\",\"as\":\"missing\"}]"), "have a feature already"},
      {SCHEMA(",\"terms\":[\"z\",{\"of\":\"z\",\"as\":\"power\",\"degree\":2}]"), "do not determine"},
      {SCHEMA(",\"terms\":[{\"of\":\"z\",\"as\":\"log\"},{\"of\":\"z\",\"as\":\"log2\"}]"), "do not determine"},
      {SCHEMA(",\"terms\":[{\"of\":\"z\",\"as\":\"power\",\"degree\":2},{\"of\":\"z\",\"as\":\"square\"}]"),
       "do not determine"},
      {DATES(""), "which has functions"},
      {DATES(",\"terms\":[\"seen\"]"), "which has functions"},
      {DATES(",\"terms\":[{\"of\":\"z\",\"as\":\"month\"}]"), "needs a date"},
      {DATES(",\"terms\":[{\"of\":\"seen\",\"as\":\"log\"}]"), "needs a number"},
      {DATES(",\"terms\":[{\"of\":[\"seen\",\"z\"],\"as\":\"years_between\"}]"), "needs a date"},
      {DATES(",\"terms\":[{\"of\":[\"seen\",\"born\"],\"as\":\"years_between\",\"lower\":1}]"), "both or neither"},
      {DATES(",\"terms\":[{\"of\":[\"seen\",\"born\"],\"as\":\"years_between\"},{\"of\":[\"seen\",\"born\"],\"as\":"
             "\"days_between\"}]"),
       "do not determine"},
      {"{\"columns\":[" SEEN "]}", "dates belong to version 2"},
      {"{\"version\":2,\"columns\":[{\"name\":\"d\",\"type\":\"date\",\"lower\":\"2024-01-01\",\"upper\":\"2023-01-"
       "01\"}]}",
       "the earlier one first"},
      {"{\"version\":2,\"columns\":[{\"name\":\"d\",\"type\":\"date\",\"lower\":\"2024-01-01\"}]}", "write both"},
      {"{\"version\":2,\"columns\":[{\"name\":\"d\",\"type\":\"date\",\"lower\":2000,\"upper\":2024}]}", "write both"},
      {"{\"version\":2,\"columns\":[{\"name\":\"d\",\"type\":\"date\",\"lower\":\"2000-01-01\",\"upper\":\"2024-01-"
       "01\",\"missing\":3}]}",
       "of a date is a date"},
      {SCHEMA(",\"terms\":[{\"product\":[\"x\",{\"of\":\"z\",\"share\":0.5}]}]"), "one \"share\""},
      {SCHEMA(",\"terms\":[\"z\",\"z\"]"), "term 2: the term is there twice"},
      {SCHEMA(",\"terms\":[{\"product\":[\"z\",\"g\"]},{\"product\":[\"g\",\"z\"]}]"),
       "term 2: the term is there twice"},
      {SCHEMA(",\"terms\":[{\"product\":[\"z\"]}]"), "2 to 4 parts"},
      {SCHEMA(",\"terms\":[{\"product\":[\"z\",\"z\"]}]"), "stands twice in a product"},
      {SCHEMA(",\"terms\":[{\"product\":[\"z\",\"x\"],\"of\":\"z\"}]"), "unknown key \"of\""},
      {SCHEMA(",\"terms\":[{\"of\":\"z\",\"share\":0}]"), "\"share\" is a number above 0"},
      {SCHEMA(",\"terms\":[{\"of\":\"z\",\"share\":\"1\"}]"), "\"share\" is a number above 0"},
      {SCHEMA(",\"terms\":[{\"of\":\"z\",\"shares\":1}]"), "unknown key \"shares\""},
      {"{\"version\":2,\"columns\":[" Z ",{\"name\":\"i\",\"type\":\"ignore\"}],\"terms\":[\"i\"]}", "type \"ignore\""},
  };
  for (size_t k = 0; k < COUNT(cases); k++) {
    tct_read_options options = options_for(TCT_LABELS_NONE, NULL, cases[k][0]);
    tct_error err = {0};
    tct_data *data = tct_data_read_memory("z\n1\n", 4, 100, &options, &err);
    if (data || err.status != TCT_E_DATA || !strstr(err.text, cases[k][1]))
      fail_msg("%s: \"%s\" instead of \"%s\"", cases[k][0], err.text, cases[k][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_are_coded_by_the_margins_that_are_there),
      cmocka_unit_test(records_become_what_the_terms_say),
      cmocka_unit_test(dates_are_days_of_the_calendar),
      cmocka_unit_test(no_record_is_longer_than_the_terms_allow),
      cmocka_unit_test(terms_that_mean_nothing_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
