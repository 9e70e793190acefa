/* test_design.c - terms of a schema: their coding, the norm law, the way back to the columns, and what is refused. */
#include "read_help.h"

#include "core/alloc.h"
#include "read/schema/design.h"
#include "read/schema/encode.h"

#define X "{\"name\":\"x\",\"type\":\"number\",\"lower\":-2,\"upper\":6,\"missing\":\"indicator\"}"
#define Z "{\"name\":\"z\",\"type\":\"number\",\"lower\":1,\"upper\":5}"
#define G "{\"name\":\"g\",\"type\":\"category\",\"values\":[\"a\",\"b\",\"c\"],\"reference\":\"b\",\"other\":\"zero\"}"
#define H "{\"name\":\"h\",\"type\":\"category\",\"values\":[\"u\",\"v\"],\"missing\":\"indicator\"}"
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

/* ---- random schemas --------------------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;
static double uniform(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(seed >> 11) * 0x1p-53;
}
static int below(int count) { return (int)(uniform() * count); }

static const char *const PARTS[] = {"\"x\"", "\"z\"", "\"g\"", "\"h\""};

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
    at += (size_t)snprintf(text + at, size - at, "%s{\"share\":%.2f,\"%s\":%s", terms++ ? "," : "",
                           below(2) ? 1 : 0.25 + uniform() / 2, single ? "of" : "product", single ? "" : "[");
    for (int k = 0, any = 0; k < parts; k++)
      if (mask >> k & 1) at += (size_t)snprintf(text + at, size - at, "%s%s", any++ ? "," : "", PARTS[k]);
    at += (size_t)snprintf(text + at, size - at, "%s}", single ? "" : "]");
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
    const char *why = column->kind == TCT_COLUMN_NUMBER
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

/* A factor's raw function of the record: the number, in the middle where it is missing, or an indicator. */
static double raw_of(const tct_encoder *e, const tct_factor *factor, int32_t feature) {
  const tct_design *d = e->schema->design;
  const tct_part *part = &d->part[factor->part];
  if (part->kind == TCT_PART_LEVELS) return e->work.cell[part->source] == (double)tct_factor_level(d, factor, feature);
  double value = e->work.scalar[part->source];
  if (feature == part->width) return isnan(value);
  const tct_scalar *of = &d->scalar[part->source];
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

static void check_back(const tct_encoder *e, const double *x) {
  double raw[512], sum[512] = {0}, size[512] = {0};
  const tct_design *d = e->schema->design;
  for (int64_t j = 0; j < e->schema->features; j++) {
    int32_t at[TCT_TERM_PARTS];
    const tct_term *term = tct_design_place(d, j, at);
    raw[j] = 1;
    for (int32_t k = 0; k < term->parts; k++) raw[j] *= raw_of(e, &d->factor[term->factor[k]], at[k]);
  }
  tct_design_raw(e->schema, add_back, &(back){raw, sum, size});
  for (int64_t j = 0; j < e->schema->features; j++) assert_true(fabs(sum[j] - x[j]) <= 1e-12 * (1 + size[j]));
}

/* The largest squared norm over the schema's own bound; and B times the raw features is the features. */
static void no_record_is_longer_than_the_terms_allow(void **state) {
  (void)state;
  char text[4000], terms[2000];
  double largest = 0, x[512];
  for (int s = 0; s < 400; s++) {
    int count = random_terms(terms, sizeof terms, (int)COUNT(PARTS));
    snprintf(text, sizeof text, "{\"version\":2,\"columns\":[" COLUMNS "]%s}", terms);
    tct_schema schema = load(text);
    tct_encoder encoder = {0};
    tct_error err;
    tct_read_options options = options_for(TCT_LABELS_NONE, NULL, NULL);
    assert_true(schema.features <= (int64_t)COUNT(x) && schema.design->squares <= count);
    assert_int_equal(tct_encoder_make(&encoder, &schema, NULL, -1, &options, &err), TCT_OK);
    for (int i = 0; i < 2500; i++) {
      double squares = 0;
      random_record(&encoder);
      features_of(&encoder, x);
      for (int64_t j = 0; j < schema.features; j++) squares += x[j] * x[j];
      largest = fmax(largest, squares / schema.design->squares);
      if (i < 50) check_back(&encoder, x);
    }
    tct_encoder_free(&encoder);
    tct_schema_free(&schema);
  }
  assert_true(largest <= 1 + 1e-12);
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
      {SCHEMA(",\"terms\":[]"), "list of 1 to 16384"},
      {SCHEMA(",\"terms\":\"x\""), "list of 1 to 16384"},
      {SCHEMA(",\"terms\":[\"nobody\"]"), "term 1: it names a column that"},
      {SCHEMA(",\"terms\":[\"z\",3]"), "term 2: a part is"},
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
      cmocka_unit_test(no_record_is_longer_than_the_terms_allow),
      cmocka_unit_test(terms_that_mean_nothing_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
