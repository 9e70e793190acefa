/* generate.c - an invented population with known coefficients, as CSV, and its public schema beside it.
 *
 * For demonstrations and tests.  Nobody in it exists, so its randomness protects nobody.  It is a plain counter-based
 * SplitMix64 (Steele, Lea, Flood 2014), record i drawing from its own counter.  So a population of m records is the
 * beginning of the population of n > m records with the same seed.
 *
 * The label follows a linear model over the schema's own features.  There a number is scaled to u in [0,1] by its
 * bounds, and a category is one indicator per value:
 *
 *   eta = -3.6 + 1.4 age + 2.6 hours + 1.1 tenure - 0.5 household + 0.2 commute
 *              + sex{0, 0.35} + urban{0, 0.25} + education{0, 0.2, 0.5, 0.9, 1.6, 2.1}
 *              + region{0, 0.1, -0.1, 0.3, 0.2, -0.2, 0.15, -0.3} + sector{-0.3, 0.2, 0.1, 0, 0.1, 0.3, 0.2, -0.6}
 *
 *   classification: high_income = yes with probability 1/(1 + exp(-eta))
 *   regression:     income = 55 + 15 eta + N(0, 8^2) thousand a year, clipped to [0, 150]
 *
 * The features depend on each other as in a real country: education on age, sector on education, hours on sector and
 * sex, tenure on age.  So the problem is neither separable nor well conditioned. */
#include "core/alloc.h"
#include "core/outfile.h"
#include "core/number.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { SEXES = 2, REGIONS = 8, LEVELS = 6, SECTORS = 8, NO_SECTOR = SECTORS - 1, NUMBERS = 5 };
enum { LINE_MAX_BYTES = 160, BUFFER_BYTES = 1 << 18 };

static const char *const sexes[SEXES] = {"female", "male"};
static const char *const regions[REGIONS] = {"north", "northeast", "east", "capital",
                                             "south", "southwest", "west", "islands"};
static const char *const levels[LEVELS] = {"none", "primary", "secondary", "vocational", "bachelor", "master"};
static const char *const sectors[SECTORS] = {"agriculture", "industry", "construction", "trade",
                                             "transport",   "services", "public",       "not_working"};
static const char *const answers[2] = {"no", "yes"};

/* Numbers: name, public bounds, coefficient of the scaled value. */
static const struct {
  const char *name;
  int low, high;
  double weight;
} numbers[NUMBERS] = {{"age", 18, 90, 1.4},
                      {"hours", 0, 80, 2.6},
                      {"tenure", 0, 45, 1.1},
                      {"household", 1, 9, -0.5},
                      {"commute", 0, 120, 0.2}};
enum { AGE, HOURS, TENURE, HOUSEHOLD, COMMUTE };

static const double base = -3.6;
static const double sex_weight[SEXES] = {0, 0.35};
static const double urban_weight[2] = {0, 0.25};
static const double region_weight[REGIONS] = {0, 0.1, -0.1, 0.3, 0.2, -0.2, 0.15, -0.3};
static const double level_weight[LEVELS] = {0, 0.2, 0.5, 0.9, 1.6, 2.1};
static const double sector_weight[SECTORS] = {-0.3, 0.2, 0.1, 0, 0.1, 0.3, 0.2, -0.6};

/* Shares in percent; each line sums to 100. */
static const unsigned char region_share[REGIONS] = {12, 9, 14, 21, 16, 11, 13, 4};
static const unsigned char urban_share[REGIONS] = {58, 47, 61, 96, 70, 55, 66, 38};
static const unsigned char level_share[3][LEVELS] = {
    {1, 6, 48, 22, 19, 4}, {2, 9, 27, 28, 21, 13}, {8, 26, 28, 22, 11, 5}}; /* under 26, 26 to 59, 60 and over */
static const unsigned char sector_share[2][SECTORS] = {{6, 17, 12, 18, 9, 13, 7, 18},
                                                       {1, 9, 3, 11, 4, 35, 27, 10}}; /* by degree: no, yes */

typedef struct record {
  int number[NUMBERS];
  int sex, region, level, sector, urban;
  double eta;
} record;

/* In (0,1), never an end. */
static double uniform(uint64_t *state) { return ((double)(tct_split_mix(state) >> 11) + 0.5) * 0x1p-53; }

static int below(uint64_t *state, int bound) { return (int)(((tct_split_mix(state) >> 32) * (uint64_t)bound) >> 32); }

static int pick(uint64_t *state, const unsigned char *share) {
  int left = below(state, 100), at = 0;
  while (left >= share[at]) left -= share[at++];
  return at;
}

static int draw_hours(uint64_t *state, const record *r) {
  if (r->sector == NO_SECTOR) return 0;
  if (below(state, 100) < (r->sex == 0 ? 34 : 12)) return 8 + below(state, 24); /* part time */
  if (below(state, 100) < 55) return 38 + below(state, 5);
  return 34 + below(state, 14) + below(state, 14);
}

static void draw_person(uint64_t *state, record *r) {
  int *v = r->number;
  v[AGE] = 18 + (int)(72 * (1 - sqrt(uniform(state)))); /* fewer the older */
  r->sex = below(state, 100) < 49;
  r->region = pick(state, region_share);
  r->urban = below(state, 100) < urban_share[r->region];
  r->level = pick(state, level_share[v[AGE] < 26 ? 0 : v[AGE] < 60 ? 1 : 2]);
  r->sector = pick(state, sector_share[r->level >= 4]);
  if (v[AGE] >= 66 && below(state, 100) < 85) r->sector = NO_SECTOR;
  v[HOURS] = draw_hours(state, r);
  int longest = v[AGE] - 18 < 45 ? v[AGE] - 18 : 45;
  double share = uniform(state);
  v[TENURE] = r->sector == NO_SECTOR ? 0 : (int)(longest * share * share);
  v[HOUSEHOLD] = 1 + below(state, 4) * (below(state, 100) < 70) + below(state, 5) * (below(state, 100) < 15);
  v[COMMUTE] = v[HOURS] ? 5 + below(state, 40) + below(state, r->urban ? 30 : 75) : 0;
}

static double linear(const record *r) {
  double eta = base + sex_weight[r->sex] + urban_weight[r->urban] + region_weight[r->region] + level_weight[r->level] +
               sector_weight[r->sector];
  for (int k = 0; k < NUMBERS; k++)
    eta += numbers[k].weight * (r->number[k] - numbers[k].low) / (numbers[k].high - numbers[k].low);
  return eta;
}

/* Box and Muller; rows are few enough that two logarithms do not matter. */
static double normal(uint64_t *state) {
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(6.283185307179586 * uniform(state));
}

static char *put_text(char *to, const char *text) {
  size_t length = strlen(text);
  memcpy(to, text, length);
  return to + length;
}

static char *put_int(char *to, int value) {
  char digits[12];
  int n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while (value /= 10);
  while (n) *to++ = digits[--n];
  return to;
}

static char *put_record(char *to, const record *r, int tenths) {
  for (int k = 0; k < NUMBERS; k++) {
    to = put_int(to, r->number[k]);
    *to++ = ',';
  }
  const char *texts[] = {sexes[r->sex], regions[r->region], answers[r->urban], levels[r->level], sectors[r->sector]};
  for (int k = 0; k < 5; k++) {
    to = put_text(to, texts[k]);
    *to++ = ',';
  }
  if (tenths < 0) {
    to = put_text(to, answers[tenths == -2]);
  } else {
    to = put_int(to, tenths / 10);
    *to++ = '.';
    to = put_int(to, tenths % 10);
  }
  *to++ = '\n';
  return to;
}

/* The label: tenths of a thousand a year, or -1 (no) and -2 (yes). */
static int draw_label(uint64_t *state, double eta, int regression) {
  if (!regression) return uniform(state) * (1 + exp(-eta)) < 1 ? -2 : -1;
  double income = 55 + 15 * eta + 8 * normal(state);
  return (int)(10 * fmin(fmax(income, 0), 150) + 0.5);
}

static void write_records(FILE *file, char *buffer, int regression, int64_t rows, uint64_t seed) {
  char *at = buffer;
  uint64_t key = seed;
  key = tct_split_mix(&key);
  for (int64_t i = 0; i < rows; i++) {
    uint64_t state = key ^ ((uint64_t)i << 20);
    record r;
    state = tct_split_mix(&state); /* spreads the counter over all bits: neighbours in i share nothing */
    draw_person(&state, &r);
    at = put_record(at, &r, draw_label(&state, linear(&r), regression));
    if (at - buffer > BUFFER_BYTES - LINE_MAX_BYTES || i + 1 == rows) {
      fwrite(buffer, 1, (size_t)(at - buffer), file);
      at = buffer;
      if (ferror(file)) return; /* the commit reports it */
    }
  }
}

static tct_status write_table(tct_outfile *out, int regression, int64_t rows, uint64_t seed, tct_error *err) {
  char *buffer = TCT_NEW(char, BUFFER_BYTES);
  if (!buffer) return tct_fail_memory(err);
  for (int k = 0; k < NUMBERS; k++) fprintf(out->file, "%s,", numbers[k].name);
  fprintf(out->file, "sex,region,urban,education,sector,%s\n", regression ? "income" : "high_income");
  write_records(out->file, buffer, regression, rows, seed);
  tct_free(buffer);
  return TCT_OK;
}

static void add_category(json_t *columns, const char *name, const char *const *values, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, json_string(values[i]));
  json_array_append_new(columns, json_pack("{s:s, s:s, s:o}", "name", name, "type", "category", "values", list));
}

static tct_status write_schema(tct_outfile *out, int regression, tct_error *err) {
  json_t *columns = json_array();
  for (int k = 0; k < NUMBERS; k++)
    json_array_append_new(columns, json_pack("{s:s, s:s, s:i, s:i}", "name", numbers[k].name, "type", "number", "lower",
                                             numbers[k].low, "upper", numbers[k].high));
  add_category(columns, "sex", sexes, SEXES);
  add_category(columns, "region", regions, REGIONS);
  add_category(columns, "urban", answers, 2);
  add_category(columns, "education", levels, LEVELS);
  add_category(columns, "sector", sectors, SECTORS);
  json_t *label =
      regression ? json_pack("{s:s, s:i, s:i}", "name", "income", "lower", 0, "upper", 150)
                 : json_pack("{s:s, s:s, s:[s, s]}", "name", "high_income", "positive", "yes", "values", "no", "yes");
  json_t *root = json_pack("{s:s, s:i, s:s, s:o, s:o}", "format", "tacit-schema", "version", 1, "comment",
                           "public bounds of an invented population", "columns", columns, "label", label);
  int failed = !root || json_dumpf(root, out->file, JSON_INDENT(2)) != 0 || fputc('\n', out->file) == EOF;
  json_decref(root);
  if (!failed) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "cannot write %s; choose another place or make room", out->to.name);
}

tct_status tct_generate(const char *path, const char *schema_path, tct_labels labels, int64_t rows, uint64_t seed,
                        tct_error *err) {
  tct_outfile table = {0}, schema = {0};
  tct_error_clear(err);
  if (labels != TCT_LABELS_BINARY && labels != TCT_LABELS_REAL)
    return tct_fail(err, TCT_E_USAGE, "the population's labels must be binary or real");
  if (rows < 1 || rows > INT64_C(1) << 40)
    return tct_fail(err, TCT_E_USAGE, "the number of rows must lie between 1 and 2^40");
  int regression = labels == TCT_LABELS_REAL;
  const char *const other[] = {schema_path, NULL};
  tct_status status = tct_outfile_open(&table, path, TCT_OUT_STREAM, other, err);
  if (status == TCT_OK && schema_path) status = tct_outfile_open(&schema, schema_path, TCT_OUT_STREAM, NULL, err);
  if (status == TCT_OK && schema_path) status = write_schema(&schema, regression, err);
  if (status == TCT_OK) status = write_table(&table, regression, rows, seed, err);
  if (status == TCT_OK) status = tct_outfile_commit(&table, err);
  if (status == TCT_OK && schema_path) status = tct_outfile_commit(&schema, err);
  tct_outfile_abandon(&table);
  tct_outfile_abandon(&schema);
  return status;
}
