/* design_parse.h - what reading terms and reading their parts share. */
#ifndef TCT_READ_SCHEMA_DESIGN_PARSE_H
#define TCT_READ_SCHEMA_DESIGN_PARSE_H
#include "read/schema/design.h"

/* One term on its way. */
typedef struct tct_term_parse {
  tct_schema *schema;
  tct_design *design;
  int64_t number; /* of the term, from 1 */
  bool listed;    /* terms are listed, so that parts may come again */
  tct_error *err;
} tct_term_parse;

/* TCT_E_DATA: an error about the term. */
tct_status tct_term_wrong(const tct_term_parse *p, const char *text);
tct_status tct_term_keys(const tct_term_parse *p, const json_t *object, const char *allowed);
/* Finds or makes the part that the JSON says: the name of a column or of an earlier part, or an object with "of". */
tct_status tct_parse_part(const tct_term_parse *p, const json_t *value, int32_t *place);
/* Frees what a part owns. */
void tct_part_free(tct_part *part);
#endif
