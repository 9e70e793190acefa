/* design_parts.c - parts of terms in a schema's JSON: columns, functions of them, curves, cuts, marks of gaps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/design_parse.h"

static int32_t find_column(const tct_term_parse *p, const char *name) {
  for (int64_t k = 0; k < p->schema->columns; k++)
    if (strcmp(p->schema->column[k].name, name) == 0) return (int32_t)k;
  return -1;
}

/* For one more; lists grow at powers of two. */
static bool make_room(void **list, int32_t count, size_t size) {
  if (count & (count - 1)) return true;
  void *grown = tct_grow(*list, count, count ? 2 * (int64_t)count : 1, size);
  if (grown) *list = grown;
  return grown != NULL;
}

/* A text made of others, or NULL; for tct_free. */
static char *say(const char *format, const char *a, const char *b, const char *c) {
  int length = snprintf(NULL, 0, format, a, b, c);
  char *text = length < 0 ? NULL : TCT_NEW(char, length + 1);
  if (text) snprintf(text, (size_t)length + 1, format, a, b, c);
  return text;
}

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

static const struct {
  const char *as;
  tct_scalar_kind kind;
} functions[] = {
    {"log", TCT_SCALAR_LOG},
    {"log2", TCT_SCALAR_LOG2},
    {"log10", TCT_SCALAR_LOG10},
    {"log1p", TCT_SCALAR_LOG1P},
    {"sqrt", TCT_SCALAR_SQRT},
    {"square", TCT_SCALAR_SQUARE},
    {"reciprocal", TCT_SCALAR_RECIPROCAL},
    {"ratio", TCT_SCALAR_RATIO},
    {"year", TCT_SCALAR_YEAR},
    {"years_between", TCT_SCALAR_YEARS},
    {"days_between", TCT_SCALAR_DAYS},
};

/* The function of that name, or COLUMN: there is none. */
static tct_scalar_kind function_of(const char *as) {
  for (size_t k = 0; as && k < sizeof functions / sizeof *functions; k++)
    if (strcmp(functions[k].as, as) == 0) return functions[k].kind;
  return TCT_SCALAR_COLUMN;
}

static bool same_scalar(const tct_scalar *a, const tct_scalar *b) {
  return a->kind == b->kind && a->of[0] == b->of[0] && a->of[1] == b->of[1] && a->gap[0] == b->gap[0] &&
         a->gap[1] == b->gap[1] && a->lower == b->lower && a->upper == b->upper;
}

static tct_status add_scalar(const tct_term_parse *p, const tct_scalar *made, int32_t *place) {
  tct_design *d = p->design;
  for (*place = p->listed ? 0 : d->scalars; *place < d->scalars; ++*place)
    if (same_scalar(&d->scalar[*place], made)) return TCT_OK;
  if (!make_room((void **)&d->scalar, d->scalars, sizeof *made)) return tct_fail_memory(p->err);
  d->scalar[d->scalars++] = *made;
  return TCT_OK;
}

static tct_status column_scalar(const tct_term_parse *p, const char *name, bool date, int32_t *place) {
  int32_t k = find_column(p, name);
  if (k < 0)
    return tct_term_wrong(p, "it names a column that \"columns\" does not describe; describe it, or correct the name");
  const tct_column *column = &p->schema->column[k];
  if (column->kind != (date ? TCT_COLUMN_DATE : TCT_COLUMN_NUMBER))
    return tct_term_wrong(p, date ? "it needs a date, and names another column; name a column of dates"
                                  : "it needs a number, and names another column; name a number");
  tct_scalar made;
  memset(&made, 0, sizeof made);
  made.kind = TCT_SCALAR_COLUMN;
  made.of[0] = k, made.of[1] = -1;
  made.gap[0] = column->missing == TCT_WHEN_FLAG ? k : -1, made.gap[1] = -1;
  made.lower = column->lower, made.upper = column->upper;
  return add_scalar(p, &made, place);
}

/* The one or two columns that either has marked: what goes beyond cannot be told from the marks of others. */
static tct_status join_gaps(const tct_term_parse *p, const tct_scalar *a, const tct_scalar *b, int32_t gap[2]) {
  int32_t all[4] = {a->gap[0], a->gap[1], b ? b->gap[0] : -1, b ? b->gap[1] : -1}, count = 0;
  gap[0] = gap[1] = -1;
  for (int k = 0; k < 4; k++) {
    if (all[k] < 0 || (count > 0 && all[k] == gap[0]) || (count > 1 && all[k] == gap[1])) continue;
    if (count == 2)
      return tct_term_wrong(p, "more than two of its columns mark their missing values; take fewer of them");
    gap[count++] = all[k];
  }
  if (count == 2 && gap[0] > gap[1]) gap[0] ^= gap[1], gap[1] ^= gap[0], gap[0] ^= gap[1];
  return TCT_OK;
}

static bool is_of_dates(tct_scalar_kind kind) { return kind == TCT_SCALAR_YEAR || kind >= TCT_SCALAR_YEARS; }

/* "lower" and "upper" of what lies between two dates, in place of what the columns' bounds allow. */
static tct_status state_bounds(const tct_term_parse *p, const json_t *object, tct_scalar *scalar) {
  const json_t *lower = json_object_get(object, "lower"), *upper = json_object_get(object, "upper");
  if (!lower && !upper) return TCT_OK;
  scalar->lower = json_number_value(lower), scalar->upper = json_number_value(upper);
  if (json_is_number(lower) && json_is_number(upper) && scalar->lower < scalar->upper &&
      isfinite(scalar->upper - scalar->lower))
    return TCT_OK;
  return tct_term_wrong(p, "\"lower\" and \"upper\" are numbers, the smaller one first; write both or neither");
}

static tct_status parse_scalar(const tct_term_parse *p, const json_t *value, bool within, int32_t *place, char **name);

/* What a function is of: a column of dates, or any number. */
static tct_status parse_operand(const tct_term_parse *p, const json_t *value, tct_scalar_kind kind, int32_t *place,
                                char **name) {
  if (!is_of_dates(kind)) return parse_scalar(p, value, true, place, name);
  if (!json_is_string(value))
    return tct_term_wrong(p, "it needs a date, and names another column; name a column of dates");
  *name = tct_text_copy(json_string_value(value));
  return *name ? column_scalar(p, *name, true, place) : tct_fail_memory(p->err);
}

/* A number column, or a function of others.  *name is the caller's, also after an error. */
static tct_status parse_scalar(const tct_term_parse *p, const json_t *value, bool within, int32_t *place, char **name) {
  if (json_is_string(value)) {
    *name = tct_text_copy(json_string_value(value));
    return *name ? column_scalar(p, *name, false, place) : tct_fail_memory(p->err);
  }
  const char *as = tct_json_said(value, "as");
  const json_t *of = json_object_get(value, "of");
  tct_scalar made;
  if (within && json_is_object(value))
    TCT_TRY(tct_term_keys(p, value, is_of_dates(function_of(as)) ? "of as lower upper comment" : "of as comment"));
  int32_t part[2] = {-1, -1};
  char *names[2] = {NULL, NULL};
  memset(&made, 0, sizeof made);
  made.kind = function_of(as);
  if (made.kind == TCT_SCALAR_COLUMN)
    return tct_term_wrong(p, "a number is wanted: a column, or a function of columns; write one");
  int count = made.kind >= TCT_SCALAR_RATIO ? 2 : 1;
  if (count == 2 && json_array_size(of) != 2)
    return tct_term_wrong(p, "it is of two columns; write \"of\": [\"a\", \"b\"]");
  tct_status status = TCT_OK;
  for (int k = 0; k < count && status == TCT_OK; k++)
    status = parse_operand(p, count == 2 ? json_array_get(of, (size_t)k) : of, made.kind, &part[k], &names[k]);
  if (status == TCT_OK) {
    const tct_scalar *a = &p->design->scalar[part[0]], *b = count == 2 ? &p->design->scalar[part[1]] : NULL;
    const char *why = tct_scalar_bounds(&made, a, b);
    made.of[0] = part[0], made.of[1] = part[1];
    status = why ? tct_term_wrong(p, why) : join_gaps(p, a, b, made.gap);
    if (status == TCT_OK && made.kind >= TCT_SCALAR_YEARS) status = state_bounds(p, value, &made);
  }
  if (status == TCT_OK) {
    *name = count == 2 ? say("%s(%s, %s)", as, names[0], names[1]) : say("%s(%s)", as, names[0], "");
    status = *name ? add_scalar(p, &made, place) : tct_fail_memory(p->err);
  }
  tct_free(names[0]);
  tct_free(names[1]);
  return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static bool same_reals(const double *a, const double *b, int64_t count) {
  int64_t k = 0;
  while (k < count && a[k] == b[k]) k++;
  return k == count;
}

static bool same_shape(const tct_curve_shape *a, const tct_curve_shape *b) {
  return a->kind == b->kind && a->degree == b->degree && a->knots == b->knots && a->lower == b->lower &&
         a->upper == b->upper && same_reals(a->knot, b->knot, a->knots);
}

static bool same_part(const tct_part *a, const tct_part *b) {
  return a->kind == b->kind && a->source == b->source && a->width == b->width &&
         (!a->shape || same_shape(a->shape, b->shape)) &&
         (!a->breaks || same_reals(a->breaks, b->breaks, a->width - 1));
}

void tct_part_free(tct_part *part) {
  tct_free(part->shape);
  tct_free(part->breaks);
  tct_free(part->name);
}

/* Takes what made owns. */
static tct_status add_part(const tct_term_parse *p, tct_part *made, int32_t *place) {
  tct_design *d = p->design;
  for (*place = p->listed && made->name ? 0 : d->parts; *place < d->parts; ++*place)
    if (same_part(&d->part[*place], made)) {
      tct_part_free(made);
      return TCT_OK;
    }
  if (!made->name || !make_room((void **)&d->part, d->parts, sizeof *made)) {
    tct_part_free(made);
    return tct_fail_memory(p->err);
  }
  d->part[d->parts++] = *made;
  return TCT_OK;
}

static tct_status scalar_part(const tct_term_parse *p, tct_part_kind kind, int32_t scalar, tct_part *made,
                              int32_t *place) {
  const tct_scalar *of = &p->design->scalar[scalar];
  made->kind = kind, made->source = scalar;
  made->gap[0] = of->gap[0], made->gap[1] = of->gap[1];
  return add_part(p, made, place);
}

static tct_status column_part(const tct_term_parse *p, const char *name, int32_t *place) {
  int32_t k = find_column(p, name), scalar;
  for (int32_t q = 0; k < 0 && q < p->design->parts; q++)
    if (strcmp(p->design->part[q].name, name) == 0) {
      *place = q;
      return TCT_OK;
    }
  if (k < 0)
    return tct_term_wrong(p, "it names a column that \"columns\" does not describe; describe it, or correct the name");
  const tct_column *column = &p->schema->column[k];
  if (column->kind == TCT_COLUMN_IGNORE)
    return tct_term_wrong(p, "it names a column of the type \"ignore\"; give the column another type");
  if (column->kind == TCT_COLUMN_DATE)
    return tct_term_wrong(p,
                          "it names a date, which has functions and is no feature; write e.g. "
                          "{\"of\": ..., \"as\": \"year\"}, or list the terms without it");
  tct_part made = {.width = 1, .reference = -1, .name = tct_text_copy(name)};
  if (column->kind == TCT_COLUMN_NUMBER) {
    tct_status status = column_scalar(p, name, false, &scalar);
    if (status == TCT_OK) return scalar_part(p, TCT_PART_NUMBER, scalar, &made, place);
    tct_part_free(&made);
    return status;
  }
  made.kind = TCT_PART_LEVELS, made.source = k;
  made.width = column->listed, made.reference = column->reference;
  made.gap[0] = column->missing == TCT_WHEN_FLAG ? k : -1, made.gap[1] = -1;
  return add_part(p, &made, place);
}

/* Ascending numbers strictly within the bounds of a scalar. */
static tct_status parse_points(const tct_term_parse *p, const json_t *list, const tct_scalar *of, int32_t most,
                               double *to, int32_t *count) {
  size_t k;
  const json_t *value;
  double before = of->lower;
  if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > (size_t)most)
    return tct_term_wrong(p, "knots and breaks are lists of numbers, at most 30 knots or 100 breaks; write one");
  json_array_foreach(list, k, value) {
    to[k] = json_is_number(value) ? json_number_value(value) : NAN;
    if (!(to[k] > before && to[k] < of->upper))
      return tct_term_wrong(p, "knots and breaks ascend, and lie strictly between the bounds; correct them");
    before = to[k];
  }
  *count = (int32_t)k;
  return TCT_OK;
}

static tct_status parse_degree(const tct_term_parse *p, const json_t *given, int32_t low, int32_t high, int32_t *to) {
  json_int_t degree = given ? json_integer_value(given) : high;
  *to = (int32_t)degree;
  if ((!given || json_is_integer(given)) && degree >= low && degree <= high) return TCT_OK;
  return tct_term_wrong(p, "\"degree\" is a whole number: 2 to 5 of a power, 1 to 3 of a B-spline; write one");
}

static tct_status parse_curve(const tct_term_parse *p, const json_t *o, const tct_scalar *of, tct_part *made) {
  bool power = tct_json_says(o, "as", "power");
  const char *kind = tct_json_said(o, "kind");
  tct_curve_shape *shape = made->shape = TCT_NEW(tct_curve_shape, 1);
  if (!shape) return tct_fail_memory(p->err);
  shape->lower = of->lower, shape->upper = of->upper;
  shape->degree = 3;
  if (power) {
    if (!json_object_get(o, "degree")) return tct_term_wrong(p, "a power has a \"degree\" of 2 to 5; write one");
    shape->kind = TCT_CURVE_POWER;
    TCT_TRY(parse_degree(p, json_object_get(o, "degree"), 2, TCT_CURVE_DEGREE, &shape->degree));
  } else {
    if (!kind || (strcmp(kind, "natural") != 0 && strcmp(kind, "bspline") != 0))
      return tct_term_wrong(p, "\"kind\" of a spline is \"natural\" or \"bspline\"; write one");
    shape->kind = kind[0] == 'n' ? TCT_CURVE_NATURAL : TCT_CURVE_BSPLINE;
    if (shape->kind == TCT_CURVE_NATURAL && json_object_get(o, "degree"))
      return tct_term_wrong(p, "a natural spline is cubic; leave \"degree\" away");
    if (shape->kind == TCT_CURVE_BSPLINE) TCT_TRY(parse_degree(p, json_object_get(o, "degree"), 1, 3, &shape->degree));
    TCT_TRY(parse_points(p, json_object_get(o, "knots"), of, TCT_CURVE_KNOTS, shape->knot, &shape->knots));
  }
  made->width = tct_curve_width(shape);
  return TCT_OK;
}

static tct_status parse_cut(const tct_term_parse *p, const json_t *o, const tct_scalar *of, tct_part *made) {
  int32_t count;
  made->breaks = TCT_NEW(double, TCT_CUT_BREAKS);
  if (!made->breaks) return tct_fail_memory(p->err);
  TCT_TRY(parse_points(p, json_object_get(o, "breaks"), of, TCT_CUT_BREAKS, made->breaks, &count));
  made->width = count + 1, made->reference = 0;
  return TCT_OK;
}

/* The mark of missing values alone; of a category too. */
static tct_status parse_flag(const tct_term_parse *p, const json_t *of, int32_t *place) {
  const char *name = json_string_value(of);
  int32_t k = name ? find_column(p, name) : -1;
  if (k < 0 || p->schema->column[k].missing != TCT_WHEN_FLAG)
    return tct_term_wrong(p,
                          "it is of a column with \"missing\": \"indicator\"; name one, or mark its missing values so");
  tct_part made = {.kind = TCT_PART_FLAG, .source = k, .width = 1, .gap = {k, -1}, .name = tct_text_copy(name)};
  return add_part(p, &made, place);
}

/* 12 for a month, 7 for a day of the week, 4 for a quarter; 0: it is none of them. */
static int32_t calendar_of(const char *as, tct_part_kind *kind) {
  bool month = strcmp(as, "month") == 0, weekday = strcmp(as, "weekday") == 0, quarter = strcmp(as, "quarter") == 0;
  *kind = month ? TCT_PART_MONTH : weekday ? TCT_PART_WEEKDAY : TCT_PART_QUARTER;
  return month ? 12 : weekday ? 7 : quarter ? 4 : 0;
}

static tct_status calendar_part(const tct_term_parse *p, const json_t *o, const char *as, int32_t *place) {
  const char *name = tct_json_said(o, "name"), *of = tct_json_said(o, "of");
  tct_part_kind kind;
  int32_t scalar;
  if (!of) return tct_term_wrong(p, "it needs a date, and names another column; name a column of dates");
  TCT_TRY(column_scalar(p, of, true, &scalar));
  tct_part made = {.width = calendar_of(as, &kind), .name = name ? tct_text_copy(name) : say("%s(%s)%s", as, of, "")};
  return scalar_part(p, kind, scalar, &made, place);
}

/* What "as" says of the part of a scalar, whose name it takes. */
static tct_status function_part(const tct_term_parse *p, const json_t *o, const char *as, int32_t scalar, char *name,
                                int32_t *place) {
  const tct_scalar *of = &p->design->scalar[scalar];
  const char *given = tct_json_said(o, "name");
  tct_part made = {.width = 1, .reference = -1, .name = name};
  tct_part_kind kind = TCT_PART_NUMBER;
  tct_status status = TCT_OK;
  if (as && (strcmp(as, "power") == 0 || strcmp(as, "spline") == 0)) {
    kind = TCT_PART_CURVE;
    status = parse_curve(p, o, of, &made);
  } else if (as && strcmp(as, "cut") == 0) {
    kind = TCT_PART_CUT;
    status = parse_cut(p, o, of, &made);
    if (status == TCT_OK && !given) made.name = say("cut(%s)%s%s", name, "", ""), tct_free(name);
  }
  if (status == TCT_OK && given) {
    tct_free(made.name);
    made.name = tct_text_copy(given);
  }
  if (status == TCT_OK) return scalar_part(p, kind, scalar, &made, place);
  tct_part_free(&made);
  return status;
}

/* Keys of each function; all others are functions of numbers. */
static const char *keys_of(const char *as) {
  if (strcmp(as, "power") == 0) return "of as name share comment degree";
  if (strcmp(as, "spline") == 0) return "of as name share comment kind knots degree";
  if (strcmp(as, "cut") == 0) return "of as name share comment breaks";
  if (strcmp(as, "years_between") == 0 || strcmp(as, "days_between") == 0)
    return "of as name share comment lower upper";
  return strcmp(as, "missing") == 0 ? "of as share comment" : "of as name share comment";
}

tct_status tct_parse_part(const tct_term_parse *p, const json_t *value, int32_t *place) {
  const json_t *of = json_object_get(value, "of"), *name = json_object_get(value, "name");
  const char *as = tct_json_said(value, "as");
  if (json_is_string(value)) return column_part(p, json_string_value(value), place);
  if (!json_is_object(value))
    return tct_term_wrong(p, "a part is the name of a column, or an object with \"of\"; write one");
  if (json_object_get(value, "as") && !as)
    return tct_term_wrong(p, "\"as\" is the name of a function; write it in quotes");
  TCT_TRY(tct_term_keys(p, value, as ? keys_of(as) : "of share comment"));
  if (name && (!json_is_string(name) || !json_string_length(name)))
    return tct_term_wrong(p, "\"name\" is a text; write one");
  if (!as)
    return json_is_string(of) ? column_part(p, json_string_value(of), place)
                              : tct_term_wrong(p, "\"of\" names a column; write its name, or {\"product\": [...]}");
  if (strcmp(as, "missing") == 0) return parse_flag(p, of, place);
  tct_part_kind kind;
  if (calendar_of(as, &kind)) return calendar_part(p, value, as, place);
  bool shaped = strcmp(as, "power") == 0 || strcmp(as, "spline") == 0 || strcmp(as, "cut") == 0;
  if (!shaped && function_of(as) == TCT_SCALAR_COLUMN)
    return tct_term_wrong(
        p,
        "the function in \"as\" is unknown; write log, log2, log10, log1p, sqrt, square, reciprocal, ratio, "
        "year, years_between, days_between, month, weekday, quarter, power, spline, cut or missing, or {\"product\": "
        "[...]}");
  int32_t scalar;
  char *text = NULL;
  tct_status status = parse_scalar(p, shaped ? of : value, shaped, &scalar, &text);
  if (status == TCT_OK) return function_part(p, value, as, scalar, text, place);
  tct_free(text);
  return status;
}
