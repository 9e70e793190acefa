/* design_parse.c - the "terms" of a schema's JSON: parts found or made, and terms over them. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "read/schema/design.h"
#include "read/schema/schema_json.h"

enum { MOST_TERMS = 1 << 14 };

/* One term on its way. */
typedef struct parse {
  tct_schema *schema;
  tct_design *design;
  int64_t number; /* of the term, from 1 */
  bool listed;    /* terms are listed, so that parts may come again */
  tct_error *err;
} parse;

static tct_status bad(const parse *p, const char *text) {
  return tct_fail_at(p->err, p->schema->name, 0, 0, "schema, term %lld: %s", (long long)p->number, text);
}

static tct_status check_keys(const parse *p, const json_t *object, const char *allowed) {
  return tct_schema_keys(p->schema, object, allowed, p->err);
}

static int32_t find_column(const parse *p, const char *name) {
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

/* ---- scalars ---------------------------------------------------------------------------------------------------- */

static tct_status add_scalar(const parse *p, const tct_scalar *made, int32_t *place) {
  tct_design *d = p->design;
  for (*place = p->listed ? 0 : d->scalars; *place < d->scalars; ++*place)
    if (memcmp(&d->scalar[*place], made, sizeof *made) == 0) return TCT_OK;
  if (!make_room((void **)&d->scalar, d->scalars, sizeof *made)) return tct_fail_memory(p->err);
  d->scalar[d->scalars++] = *made;
  return TCT_OK;
}

static tct_status column_scalar(const parse *p, int32_t k, int32_t *place) {
  const tct_column *column = &p->schema->column[k];
  if (column->kind != TCT_COLUMN_NUMBER) return bad(p, "it needs a number, and names another column; name a number");
  tct_scalar made;
  memset(&made, 0, sizeof made); /* compared byte by byte */
  made.kind = TCT_SCALAR_COLUMN;
  made.of[0] = k, made.of[1] = -1;
  made.gap[0] = column->missing == TCT_WHEN_FLAG ? k : -1, made.gap[1] = -1;
  made.lower = column->lower, made.upper = column->upper;
  return add_scalar(p, &made, place);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static bool same_part(const tct_part *a, const tct_part *b) {
  return a->kind == b->kind && a->source == b->source && a->width == b->width;
}

/* Takes made->name. */
static tct_status add_part(const parse *p, tct_part *made, int32_t *place) {
  tct_design *d = p->design;
  for (*place = p->listed ? 0 : d->parts; *place < d->parts; ++*place)
    if (same_part(&d->part[*place], made)) {
      tct_free(made->name);
      return TCT_OK;
    }
  if (!made->name || !make_room((void **)&d->part, d->parts, sizeof *made)) {
    tct_free(made->name);
    return tct_fail_memory(p->err);
  }
  d->part[d->parts++] = *made;
  return TCT_OK;
}

static tct_status number_part(const parse *p, int32_t scalar, const char *name, int32_t *place) {
  const tct_scalar *of = &p->design->scalar[scalar];
  return add_part(p,
                  &(tct_part){.kind = TCT_PART_NUMBER,
                              .source = scalar,
                              .width = 1,
                              .reference = -1,
                              .gap = {of->gap[0], of->gap[1]},
                              .name = tct_text_copy(name)},
                  place);
}

static tct_status column_part(const parse *p, const char *name, int32_t *place) {
  int32_t k = find_column(p, name), scalar;
  if (k < 0) return bad(p, "it names a column that \"columns\" does not describe; describe it, or correct the name");
  const tct_column *column = &p->schema->column[k];
  if (column->kind == TCT_COLUMN_IGNORE)
    return bad(p, "it names a column of the type \"ignore\"; give the column another type");
  if (column->kind == TCT_COLUMN_NUMBER) {
    TCT_TRY(column_scalar(p, k, &scalar));
    return number_part(p, scalar, name, place);
  }
  bool flag = column->missing == TCT_WHEN_FLAG;
  return add_part(p,
                  &(tct_part){.kind = TCT_PART_LEVELS,
                              .source = k,
                              .width = column->listed + flag,
                              .reference = column->reference,
                              .gap = {flag ? k : -1, -1},
                              .name = tct_text_copy(name)},
                  place);
}

static tct_status parse_part(const parse *p, const json_t *value, int32_t *place) {
  if (json_is_string(value)) return column_part(p, json_string_value(value), place);
  return bad(p, "a part is the name of a column; write it in quotes");
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static tct_status parse_share(const parse *p, const json_t *object, double *share) {
  const json_t *given = json_object_get(object, "share");
  *share = given ? json_number_value(given) : 1;
  if (!given || (json_is_number(given) && *share > 0 && *share <= 1)) return TCT_OK;
  return bad(p, "\"share\" is a number above 0 and at most 1; write one");
}

static tct_status parse_product(const parse *p, const json_t *list, tct_term *term) {
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count < 2 || count > TCT_TERM_PARTS)
    return bad(p, "\"product\" is a list of 2 to 4 parts; write one");
  for (size_t k = 0; k < count; k++) {
    int32_t place, before = 0;
    TCT_TRY(parse_part(p, json_array_get(list, k), &place));
    while (before < term->parts && term->part[before] != place) before++;
    if (before < term->parts) return bad(p, "a part stands twice in a product; write it once");
    term->part[term->parts++] = place;
  }
  return TCT_OK;
}

static tct_status parse_term(const parse *p, const json_t *value) {
  tct_design *d = p->design;
  tct_term *term = &d->term[d->terms];
  *term = (tct_term){.share = 1};
  const json_t *product = json_object_get(value, "product");
  if (json_is_object(value)) {
    TCT_TRY(parse_share(p, value, &term->share));
    TCT_TRY(check_keys(p, value, product ? "product share comment" : "of share comment"));
  }
  if (product) {
    TCT_TRY(parse_product(p, product, term));
  } else {
    TCT_TRY(parse_part(p, json_is_object(value) ? json_object_get(value, "of") : value, &term->part[0]));
    term->parts = 1;
  }
  if (tct_design_find(d, term->part, term->parts) >= 0) return bad(p, "the term is there twice; write it once");
  d->terms++;
  return TCT_OK;
}

/* Without a list every column that is used is a term. */
static tct_status each_column(parse *p) {
  for (int64_t k = 0; k < p->schema->columns; k++) {
    tct_term *term = &p->design->term[p->design->terms];
    if (p->schema->column[k].kind == TCT_COLUMN_IGNORE) continue;
    *term = (tct_term){.parts = 1, .share = 1};
    p->number = k + 1;
    TCT_TRY(column_part(p, p->schema->column[k].name, &term->part[0]));
    p->design->terms++;
  }
  return TCT_OK;
}

tct_status tct_schema_terms(tct_schema *schema, tct_error *err) {
  const json_t *list = json_object_get(schema->root, "terms");
  parse p = {.schema = schema, .err = err, .listed = list != NULL};
  if (list && (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > MOST_TERMS))
    return tct_schema_wrong(
        schema, NULL, "\"terms\" is a list of 1 to 16384 terms; write one, or leave it away for all columns", err);
  p.design = schema->design = TCT_NEW(tct_design, 1);
  if (!p.design) return tct_fail_memory(err);
  p.design->term = TCT_NEW(tct_term, list ? (int64_t)json_array_size(list) : schema->columns);
  if (!p.design->term) return tct_fail_memory(err);
  if (!list) TCT_TRY(each_column(&p));
  for (size_t k = 0; k < json_array_size(list); k++) {
    p.number = (int64_t)k + 1;
    TCT_TRY(parse_term(&p, json_array_get(list, k)));
  }
  return tct_design_code(schema, err);
}

void tct_design_free(tct_design *design) {
  if (!design) return;
  for (int32_t k = 0; k < design->parts; k++) tct_free(design->part[k].name);
  tct_free(design->part);
  tct_free(design->scalar);
  tct_free(design->factor);
  tct_free(design->term);
  tct_free(design);
}
