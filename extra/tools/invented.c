/* invented.c - columns and labels of nobody, from numbers that are spread evenly: no two runs differ. */
#include "tools/invented.h"

#include "core/alloc.h"
#include "core/number.h"
#include "infer/inference.h"
#include "read/frame/arrow.h"
#include "read/schema/design.h"

#include <math.h>
#include <string.h>

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* Multiples of an irrational number (Weyl 1916). */
double tct_invent_even(int64_t k, int64_t i) {
  static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71};
  int64_t again = k / 20;
  double part = (double)(i + 1) * (sqrt(primes[k % 20]) + (double)again * M_PI);
  return fmin(fmax(part - floor(part), 0x1p-50), 1 - 0x1p-50);
}

double tct_invent_normal(double u) {
  double size = u == 0.5 ? 0 : tct_student_quantile(fabs(2 * u - 1), INFINITY);
  return u < 0.5 ? -size : size;
}

enum { GRID = 8192, NUMBERS = 100000000 }; /* of a table, in columns and features: 0.8 GB */
static const double ROUNDED = 0.005;       /* a share is known to two decimals */
static const double FAR_ODDS = 40;         /* e^-40 of a law is left out */
static const double LEAST_SIZE = 0.001;    /* of a beta law, a + b: nearly all at its ends */
static const double MOST_SIZE = 1e12;      /* nearly all at its mean */
static const double LEAST_MEAN = 0x1p-40;  /* and as much from 1 */

/* ---- columns ---------------------------------------------------------------------------------------------------- */

/* One column in Arrow's memory. */
typedef struct part {
  struct ArrowSchema schema, words;
  struct ArrowArray array, texts;
  const void *buffer[2], *word_buffer[3];
  void *values;         /* doubles, or numbers of levels or days */
  unsigned char *there; /* bits, or NULL: all */
  int32_t *ends;
  char *text;
} part;

typedef struct invented {
  tct_schema schema;
  const json_t *assume;
  double *r2;          /* [columns]: of the others for each, NAN: nobody says */
  int64_t rows, count; /* parts in use */
  part *parts;
  struct ArrowSchema **schemas;
  struct ArrowArray **arrays;
  const void *none[1];
  bool given;
} invented;

static void schema_done(struct ArrowSchema *schema) { schema->release = NULL; }
static void array_done(struct ArrowArray *array) { array->release = NULL; }
static void stream_done(struct ArrowArrayStream *stream) { stream->release = NULL; }
static const char *no_error(struct ArrowArrayStream *stream) { return (void)stream, NULL; }

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  invented *t = stream->private_data;
  *out = (struct ArrowSchema){
      .format = "+s", .name = "", .n_children = t->count, .children = t->schemas, .release = schema_done};
  return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  invented *t = stream->private_data;
  memset(out, 0, sizeof *out);
  if (!t->given)
    *out = (struct ArrowArray){.length = t->rows,
                               .n_buffers = 1,
                               .buffers = t->none,
                               .n_children = t->count,
                               .children = t->arrays,
                               .release = array_done};
  t->given = true;
  return 0;
}

static part *add(invented *t, const char *name, const char *format, size_t size) {
  part *p = &t->parts[t->count];
  p->values = tct_alloc(t->rows, size);
  p->schema = (struct ArrowSchema){.format = format, .name = name, .release = schema_done};
  p->array = (struct ArrowArray){
      .length = t->rows, .null_count = -1, .n_buffers = 2, .buffers = p->buffer, .release = array_done};
  p->buffer[1] = p->values;
  t->schemas[t->count] = &p->schema, t->arrays[t->count++] = &p->array;
  return p->values ? p : NULL;
}

static tct_status fail(const char *name, tct_error *err) {
  return tct_fail(
      err, TCT_E_USAGE,
      "what is assumed of \"%.200s\" is of another form; give of a number its mean within its bounds and its deviation "
      "above 0, of a category the shares of its levels, of both maybe the R2 below 1 of the others for it after these, "
      "and of the label one number above 0, of counts and amounts the mean and the deviation",
      name);
}

/* The numbers that are assumed of a column: count of them, 0: none. */
static size_t assumed(const invented *t, const char *name, double *out, size_t most) {
  const json_t *list = json_object_get(t->assume, name);
  size_t count = json_array_size(list);
  for (size_t k = 0; k < count && k < most; k++) {
    const json_t *value = json_array_get(list, k);
    out[k] = json_is_number(value) ? json_number_value(value) : NAN;
  }
  return list && !count ? most + 1 : count;
}

/* A beta law on (0, 1), by how much of it lies below the points of a grid.  These are log-odds v = middle + sinh(first
 * + k step).  There its density x^a (1 - x)^b, x = 1/(1 + e^-v), is smooth for all a and b, and highest at the mean. */
typedef struct law {
  double middle, first, step, below[GRID];
} law;

/* The law of this mean and deviation, or of the largest or least deviation that one has here. */
static void make_law(double mean, double deviation, law *l) {
  mean = fmin(fmax(mean, LEAST_MEAN), 1 - LEAST_MEAN);
  double size = fmin(fmax(mean * (1 - mean) / (deviation * deviation) - 1, LEAST_SIZE), MOST_SIZE), a = mean * size;
  double b = (1 - mean) * size, most = a * log(mean) + b * log1p(-mean), sum = 0;
  double near = sqrt(2 * FAR_ODDS * (1 / a + 1 / b)); /* as far as if the law were normal */
  l->middle = log(mean) - log1p(-mean), l->first = -asinh(near + FAR_ODDS / a);
  l->step = (asinh(near + FAR_ODDS / b) - l->first) / (GRID - 1);
  for (int k = 0; k < GRID; k++) {
    double s = l->first + l->step * k, v = l->middle + sinh(s);
    double lower = fmax(-v, 0) + log1p(exp(-fabs(v))); /* x = e^-lower */
    l->below[k] = sum += exp(-a * lower - b * (v + lower) - most) * cosh(s);
  }
  for (int k = 0; k < GRID; k++) l->below[k] /= sum;
}

/* The value below which a part u of the law lies. */
static double quantile_of(const law *l, double u) {
  int low = -1, high = GRID - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    *(l->below[middle] < u ? &low : &high) = middle;
  }
  double before = low < 0 ? 0 : l->below[low], beyond = (u - before) / fmax(l->below[high] - before, 0x1p-900);
  return 1 / (1 + exp(-l->middle - sinh(l->first + l->step * (low + beyond + 0.5))));
}

/* A number with a mean and a deviation has the beta law between its bounds: most skewed tables' are near it. */
static tct_status add_number(invented *t, int64_t k, tct_error *err) {
  const tct_column *column = &t->schema.column[k];
  double x[3] = {0}, low = column->lower, range = column->upper - low;
  size_t count = assumed(t, column->name, x, 3);
  if (count && (count > 3 || !(x[0] > low && x[0] < column->upper) || !(x[1] > 0) || !(x[2] >= 0 && x[2] < 1)))
    return fail(column->name, err);
  if (count == 3) t->r2[k] = x[2];
  part *p = add(t, column->name, "g", sizeof(double));
  double *value = p ? p->values : NULL;
  law *l = TCT_NEW(law, 1);
  if (l && count) make_law((x[0] - low) / range, x[1] / range, l);
  for (int64_t i = 0; p && l && i < t->rows; i++)
    value[i] = low + range * (count ? quantile_of(l, tct_invent_even(k, i)) : tct_invent_even(k, i));
  tct_free(l);
  return p && l ? TCT_OK : tct_fail_memory(err);
}

static tct_status add_date(invented *t, int64_t k, tct_error *err) {
  const tct_column *column = &t->schema.column[k];
  if (json_object_get(t->assume, column->name))
    return tct_fail(err, TCT_E_USAGE, "nothing can be assumed of the date \"%.200s\"; leave it out", column->name);
  part *p = add(t, column->name, "tdD", sizeof(int32_t));
  int32_t *day = p ? p->values : NULL;
  if (!p) return tct_fail_memory(err);
  for (int64_t i = 0; i < t->rows; i++)
    day[i] = (int32_t)(column->lower + floor(tct_invent_even(k, i) * (column->upper - column->lower)));
  return TCT_OK;
}

/* The levels' texts. */
static tct_status add_words(const tct_column *column, part *p, tct_error *err) {
  int64_t bytes = 0;
  p->ends = TCT_NEW(int32_t, column->listed + 1);
  for (int32_t k = 0; k < column->listed; k++) bytes += (int64_t)json_string_length(json_array_get(column->values, k));
  p->text = bytes < INT32_MAX ? TCT_NEW(char, bytes + 1) : NULL;
  if (!p->ends || !p->text) return tct_fail_memory(err);
  for (int32_t k = 0; k < column->listed; k++) {
    const json_t *word = json_array_get(column->values, k);
    p->ends[k + 1] = p->ends[k] + (int32_t)json_string_length(word);
    memcpy(p->text + p->ends[k], json_string_value(word), json_string_length(word));
  }
  p->schema.dictionary = &p->words, p->array.dictionary = &p->texts;
  p->words = (struct ArrowSchema){.format = "u", .name = "", .release = schema_done};
  p->texts =
      (struct ArrowArray){.length = column->listed, .n_buffers = 3, .buffers = p->word_buffer, .release = array_done};
  p->word_buffer[1] = p->ends, p->word_buffer[2] = p->text;
  return TCT_OK;
}

static tct_status add_category(invented *t, int64_t k, tct_error *err) {
  const tct_column *column = &t->schema.column[k];
  int32_t levels = column->listed;
  double *share = TCT_NEW(double, levels + 1), sum = 0;
  part *p = share ? add(t, column->name, "i", sizeof(int32_t)) : NULL;
  tct_status status = p ? add_words(column, p, err) : tct_fail_memory(err);
  size_t count = share ? assumed(t, column->name, share, (size_t)levels + 1) : 0, most = (size_t)levels + 1;
  for (int32_t j = 0; j < levels && status == TCT_OK; j++) {
    if (!count) share[j] = 1 / (double)levels;
    if (!(share[j] >= 0)) status = fail(column->name, err);
    sum += share[j];
  }
  if (status == TCT_OK && count && (count < most - 1 || count > most || !(share[levels] >= 0 && share[levels] < 1)))
    status = fail(column->name, err);
  if (count == most) t->r2[k] = share[levels];
  if (status == TCT_OK && !(fabs(sum - 1) <= ROUNDED * levels))
    status = tct_fail(err, TCT_E_USAGE,
                      "the shares that are assumed of \"%.200s\" add up to %.4g; give shares that add up to 1",
                      column->name, sum);
  for (int32_t j = 0; j < levels && status == TCT_OK; j++) share[j] /= sum;
  for (int64_t i = 0; i < t->rows && status == TCT_OK; i++) {
    double left = tct_invent_even(k, i) - share[0];
    int32_t at = 0;
    while (left >= 0 && at + 1 < levels) left -= share[++at];
    ((int32_t *)p->values)[i] = at;
  }
  tct_free(share);
  return status;
}

/* Those between their bounds that stand beside the columns are all the middle, weights the cap. */
static tct_status add_beside(invented *t, int which, tct_error *err) {
  const tct_beside_rule *rule = &t->schema.beside[which];
  if (!rule->name) return TCT_OK;
  part *p = add(t, rule->name, "g", sizeof(double));
  double *value = p ? p->values : NULL;
  if (!p) return tct_fail_memory(err);
  for (int64_t i = 0; i < t->rows; i++)
    value[i] = which == TCT_BESIDE_WEIGHT ? rule->upper : 0.5 * (rule->lower + rule->upper);
  return TCT_OK;
}

static tct_status mark_gaps(invented *t, int64_t k, tct_error *err) {
  part *p = &t->parts[t->count - 1];
  if (t->schema.column[k].missing != TCT_WHEN_FLAG) return TCT_OK;
  p->buffer[0] = p->there = TCT_NEW(unsigned char, t->rows / 8 + 1);
  if (!p->there) return tct_fail_memory(err);
  for (int64_t i = 0; i < t->rows; i++)
    if (2 * i <= t->rows || tct_invent_even(t->schema.columns + k, i) >= 0.5)
      p->there[i / 8] |= (unsigned char)(1 << i % 8);
  return TCT_OK;
}

static tct_status fill(invented *t, tct_error *err) {
  int64_t most = t->schema.columns + TCT_BESIDES;
  t->parts = TCT_NEW(part, most);
  t->schemas = TCT_NEW(struct ArrowSchema *, most), t->arrays = TCT_NEW(struct ArrowArray *, most);
  t->r2 = TCT_NEW(double, most);
  if (!t->parts || !t->schemas || !t->arrays || !t->r2) return tct_fail_memory(err);
  for (int64_t k = 0; k < t->schema.columns; k++) {
    tct_column_kind kind = t->schema.column[k].kind;
    t->r2[k] = NAN;
    if (kind == TCT_COLUMN_IGNORE) continue;
    TCT_TRY((kind == TCT_COLUMN_NUMBER ? add_number : kind == TCT_COLUMN_DATE ? add_date : add_category)(t, k, err));
    TCT_TRY(mark_gaps(t, k, err));
  }
  for (int which = 0; which < TCT_BESIDES; which++) TCT_TRY(add_beside(t, which, err));
  return TCT_OK;
}

static tct_status check(const invented *t, const char *label, tct_error *err) {
  const char *name;
  json_t *value;
  int64_t width = t->schema.columns + t->schema.features + 3, most = NUMBERS / width; /* beside labels and margins */
  if (!t->schema.root)
    return tct_fail(err, TCT_E_USAGE, "errors are expected of the columns of a schema; give {schema}");
  if (t->schema.open > 0)
    return tct_fail(err, TCT_E_USAGE,
                    "bounds that an estimate will find are not known yet; give them in the schema to know what errors "
                    "to expect");
  if (t->rows > most)
    return tct_fail(err, TCT_E_USAGE,
                    "the invented table of %lld records would have over %d numbers; ask about %lld: errors of more "
                    "records are smaller",
                    (long long)t->rows, NUMBERS, (long long)most);
  json_object_foreach((json_t *)t->assume, name, value) {
    bool known = (label && !strcmp(name, label)) || (t->schema.label && !strcmp(name, t->schema.label)) ||
                 (t->schema.event && !strcmp(name, t->schema.event));
    for (int64_t k = 0; k < t->schema.columns && !known; k++) known = !strcmp(name, t->schema.column[k].name);
    if (!known)
      return tct_fail(err, TCT_E_USAGE,
                      "something is assumed of \"%.200s\", and the schema has no such column; name one", name);
  }
  return TCT_OK;
}

/* The largest R2 of a scalar's columns; NAN if nobody says, as of dates and of marks of gaps. */
static double told_of(const invented *t, int32_t at) {
  const tct_scalar *scalar = &t->schema.design->scalar[at];
  if (scalar->kind == TCT_SCALAR_COLUMN) return t->r2[scalar->of[0]];
  if (scalar->kind == TCT_SCALAR_YEAR || scalar->kind >= TCT_SCALAR_YEARS) return NAN;
  return scalar->of[1] < 0 ? told_of(t, scalar->of[0]) : fmax(told_of(t, scalar->of[0]), told_of(t, scalar->of[1]));
}

/* r2[features] <- that of its column, of several the largest. */
static void tell(const invented *t, double *r2) {
  for (int64_t j = 0; j < t->schema.features && t->schema.design; j++) {
    int32_t at[TCT_TERM_PARTS];
    const tct_term *term = tct_design_place(t->schema.design, j, at);
    r2[j] = NAN;
    for (int32_t k = 0; k < term->parts; k++) {
      const tct_part *of = &t->schema.design->part[term->part[k]];
      if (of->kind == TCT_PART_LEVELS) r2[j] = fmax(r2[j], t->r2[of->source]);
      if (!tct_part_is_levels(of) || of->kind == TCT_PART_CUT) r2[j] = fmax(r2[j], told_of(t, of->source));
    }
  }
  for (int64_t k = 0; k < t->schema.columns && !t->schema.design; k++)
    for (int64_t j = 0; j < t->schema.column[k].features; j++) r2[t->schema.column[k].first + j] = t->r2[k];
}

static tct_data *read_all(invented *t, const tct_read_options *read, tct_error *err) {
  struct ArrowArrayStream stream = {get_schema, get_next, no_error, stream_done, t};
  tct_read_options own = *read;
  own.labels = TCT_LABELS_NONE, own.label = NULL, own.event = NULL, own.key = NULL, own.invalid = TCT_INVALID_REFUSE;
  own.weights = t->schema.beside[TCT_BESIDE_WEIGHT].name; /* without labels a schema's own would be left */
  tct_frame *frame = tct_frame_take(&stream, err);
  tct_data *data = frame ? tct_data_read_frame(frame, &own, NULL, err) : NULL;
  tct_frame_free(frame);
  return data;
}

tct_data *tct_invent_table(const tct_read_options *read, int64_t rows, const json_t *assume, double **r2,
                           tct_error *err) {
  invented t = {.assume = assume, .rows = rows};
  tct_data *data = NULL;
  tct_status status = tct_schema_load(&t.schema, read->schema_path, read->schema_text, &tct_limits_default, err);
  if (status == TCT_OK) status = tct_schema_weights(&t.schema, read->weights, read->weight_cap, err);
  if (status == TCT_OK) status = check(&t, read->label, err);
  if (status == TCT_OK) status = fill(&t, err);
  if (status == TCT_OK && !(*r2 = TCT_NEW(double, t.schema.features))) status = tct_fail_memory(err);
  if (status == TCT_OK) tell(&t, *r2);
  if (status == TCT_OK) data = read_all(&t, read, err);
  for (int64_t k = 0; k < t.count; k++) {
    tct_free(t.parts[k].values), tct_free(t.parts[k].there);
    tct_free(t.parts[k].ends), tct_free(t.parts[k].text);
  }
  tct_free(t.r2), tct_free(t.parts), tct_free(t.schemas), tct_free(t.arrays);
  tct_schema_free(&t.schema);
  return data;
}
