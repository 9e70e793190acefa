/* design_parse.c - the "terms" of a schema's JSON. */
#include <string.h>

#include "core/alloc.h"
#include "read/schema/design_parse.h"
#include "read/schema/schema_json.h"

enum { MOST_TERMS = 1 << 12 };

tct_status tct_term_wrong(const tct_term_parse *p, const char *text) {
  return tct_fail_at(p->err, p->schema->name, 0, 0, "schema, term %lld: %s", (long long)p->number, text);
}

tct_status tct_term_keys(const tct_term_parse *p, const json_t *object, const char *allowed) {
  return tct_schema_keys(p->schema, object, allowed, p->err);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

static tct_status parse_share(const tct_term_parse *p, const json_t *object, double *share) {
  const json_t *given = json_object_get(object, "share");
  *share = given ? json_number_value(given) : 1;
  if (!given || (json_is_number(given) && *share > 0 && *share <= 1)) return TCT_OK;
  return tct_term_wrong(p, "\"share\" is a number above 0 and at most 1; write one");
}

static tct_status parse_product(const tct_term_parse *p, const json_t *list, tct_term *term) {
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count < 2 || count > TCT_TERM_PARTS)
    return tct_term_wrong(p, "\"product\" is a list of 2 to 4 parts; write one");
  for (size_t k = 0; k < count; k++) {
    int32_t place, before = 0;
    if (json_object_get(json_array_get(list, k), "share"))
      return tct_term_wrong(p, "a product has one \"share\", and its parts have none; write it beside \"product\"");
    TCT_TRY(tct_parse_part(p, json_array_get(list, k), &place));
    while (before < term->parts && term->part[before] != place) before++;
    if (before < term->parts) return tct_term_wrong(p, "a part stands twice in a product; write it once");
    term->part[term->parts++] = place;
  }
  return TCT_OK;
}

static tct_status parse_term(const tct_term_parse *p, const json_t *value) {
  tct_design *d = p->design;
  tct_term *term = &d->term[d->terms];
  *term = (tct_term){.share = 1};
  const json_t *product = json_object_get(value, "product");
  if (json_is_object(value)) {
    TCT_TRY(parse_share(p, value, &term->share));
    if (product) TCT_TRY(tct_term_keys(p, value, "product share comment"));
  }
  if (product) {
    TCT_TRY(parse_product(p, product, term));
  } else {
    TCT_TRY(tct_parse_part(p, value, &term->part[0]));
    term->parts = 1;
  }
  if (tct_design_find(d, term->part, term->parts) >= 0)
    return tct_term_wrong(p, "the term is there twice; write it once");
  d->terms++;
  return TCT_OK;
}

/* Without a list every column that is used is a term. */
static tct_status each_column(tct_term_parse *p) {
  const json_t *columns = json_object_get(p->schema->root, "columns");
  for (int64_t k = 0; k < p->schema->columns; k++) {
    tct_term *term = &p->design->term[p->design->terms];
    if (p->schema->column[k].kind == TCT_COLUMN_IGNORE) continue;
    *term = (tct_term){.parts = 1, .share = 1};
    p->number = k + 1;
    TCT_TRY(tct_parse_part(p, json_object_get(json_array_get(columns, (size_t)k), "name"), &term->part[0]));
    p->design->terms++;
  }
  return TCT_OK;
}

tct_status tct_schema_terms(tct_schema *schema, tct_error *err) {
  const json_t *list = json_object_get(schema->root, "terms");
  tct_term_parse p = {.schema = schema, .err = err, .listed = list != NULL};
  if (list && (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > MOST_TERMS))
    return tct_schema_wrong(schema, NULL,
                            "\"terms\" is a list of 1 to 4096 terms; write one, or leave it away for all columns", err);
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
  for (int32_t k = 0; k < design->parts; k++) tct_part_free(&design->part[k]);
  for (int32_t k = 0; design->factor && k < design->factors; k++) tct_free(design->factor[k].curve);
  tct_free(design->part);
  tct_free(design->scalar);
  tct_free(design->factor);
  tct_free(design->term);
  tct_free(design);
}
