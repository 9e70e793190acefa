/* encode.h - one record to features and a label, by the schema. */
#ifndef TCT_READ_SCHEMA_ENCODE_H
#define TCT_READ_SCHEMA_ENCODE_H
#include "read/source/csv.h"
#include "read/schema/design.h"
#include "read/schema/label.h"
#include "read/table/table.h"

typedef struct tct_encoder {
  const tct_schema *schema;
  tct_label_rule rule;
  int64_t *field;                    /* [schema->columns] field of each column, -1 = not wanted */
  int64_t label_field;               /* -1 = no label is wanted */
  int64_t event_field;               /* 1 + the field of the event of a follow-up; 0 = none */
  int64_t beside_field[TCT_BESIDES]; /* 1 + the field of each; 0 = none */
  double largest;                    /* largest magnitude that the value type holds */
  bool sparse;
  double *value;        /* dense: [features]; sparse: [most] */
  int32_t *index;       /* sparse: [most] */
  int64_t filled;       /* sparse: features of the current record */
  double weight;        /* of the current record, in [0, 1]; 1 without weights */
  double offset;        /* of the current record, at most 0 */
  tct_design_work work; /* of a schema with terms */
} tct_encoder;

/* schema and names outlive the encoder.  label_field: the label's column, -1 = none wanted; exclude: a
 * label column that is not wanted but there, -1 = none. */
tct_status tct_encoder_make(tct_encoder *encoder, const tct_schema *schema, int64_t *field, int64_t label_field,
                            const tct_read_options *options, tct_error *err);

/* Gives a copy of an encoder, whose value and index are NULL, a record of its own; all else stays shared. */
tct_status tct_encoder_copy(tct_encoder *encoder, tct_error *err);

/* Encodes the fields; returns what is wrong (why NULL = nothing). */
tct_fault tct_encode(tct_encoder *encoder, const tct_field *field, double *label);

/* What "is wrong" where memory ran out: no fault of the record, it ends the read.  Compared as a pointer. */
extern const char tct_encode_no_memory[];

/* A record whose values are not all texts: begin, then each column once, in the schema's order and by the function that
 * fits its value, then end.  Each returns what is wrong (static text), or NULL. */
void tct_encode_begin(tct_encoder *encoder);
void tct_encode_end(tct_encoder *encoder);
const char *tct_encode_text(tct_encoder *encoder, const tct_column *column, const char *at, int64_t length);
/* Number columns, and days of date columns.  missing: the schema's rule goes before the value. */
const char *tct_encode_number(tct_encoder *encoder, const tct_column *column, double value, bool missing);
/* Category columns.  found: index of the listed value, or -1: then by the rule for missing or for other values. */
const char *tct_encode_listed(tct_encoder *encoder, const tct_column *column, int32_t found, bool missing);

/* A number of a column beside. */
const char *tct_encode_beside(tct_encoder *encoder, tct_beside which, double value, bool missing);
const char *tct_encode_beside_text(tct_encoder *encoder, tct_beside which, const char *at, int64_t length);

/* The listed value that a text of a category means, or -1: its own, or another spelling of the same boolean.  missing:
 * the text stands for a missing value. */
int32_t tct_column_meant(const tct_schema *schema, const tct_column *column, const char *text, int64_t length,
                         bool *missing);
/* The first listed spelling of a boolean, or -1. */
int32_t tct_column_flag(const tct_column *column, bool value);

void tct_encoder_free(tct_encoder *encoder);
#endif
