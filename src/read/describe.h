/* describe.h - what a schema says of a table that holds its features. */
#ifndef TCT_READ_DESCRIBE_H
#define TCT_READ_DESCRIBE_H
#include "read/schema/schema.h"
#include "read/table/data.h"

/* Names, label bounds, the schema's text where it came from a file or a text, and that it is a draft where it is. */
tct_status tct_schema_describe(const tct_schema *schema, tct_data *data, tct_error *err);
#endif
