/* label.h - what a label's text or number becomes. */
#ifndef TCT_READ_SCHEMA_LABEL_H
#define TCT_READ_SCHEMA_LABEL_H
#include "core/number.h"
#include "read/schema/schema.h"
#include "read/table/class_names.h"

typedef struct tct_label_rule {
  int32_t kind;         /* tct_labels, as tct_label_resolve says */
  const char *positive; /* the text that means +1, or NULL: -1 and 0 -> -1, 1 -> +1 */
  bool positive_is_number;
  double positive_number;
  const tct_schema *schema;       /* missing values, listed label values, bounds */
  const tct_class_names *classes; /* borrowed */
  const char *happened;           /* the text that means an event beside 1 and true, or NULL */
  const char *const *listed;      /* [listed_count] the caller's list of classes, or NULL */
  int64_t listed_count;
  locale_t c;
  bool decimal_comma;
} tct_label_rule;

/* What is public against what is public, before anything is read.  The positive value is among the label's values.  The
 * schema's and the caller's lists are the same.  Of two classes the second is the positive one.  TCT_E_USAGE for what
 * the caller said, TCT_E_DATA for the schema.  kind: how labels are read.  classes: their names, where known. */
tct_status tct_label_resolve(const tct_read_options *options, const tct_schema *schema, locale_t c, int32_t *kind,
                             tct_class_names *classes, tct_error *err);
/* A positive value is named, and no public list says which values there are: only the data can show that it occurs. */
bool tct_label_unlisted(const tct_read_options *options, const tct_schema *schema);

/* A text of the table as a number, with its decimal mark. */
tct_number_status tct_label_rule_parse(const tct_label_rule *rule, const char *text, int64_t length, double *value);

/* options->positive goes before the schema's.  schema may be empty but not NULL. */
tct_status tct_label_rule_make(tct_label_rule *rule, const tct_read_options *options, const tct_schema *schema,
                               const tct_class_names *classes, locale_t c, tct_error *err);

/* Writes the label; returns NULL, or what is wrong and what to do (static text). */
const char *tct_label_text(const tct_label_rule *rule, const char *text, int64_t length, double *label);
/* The event of a follow-up, from a text or a number; then *label, a time, becomes a signed one.  *event: 1 or 0. */
const char *tct_label_event(const tct_label_rule *rule, const char *text, int64_t length, int *event);
const char *tct_label_event_number(double value, int *event);
const char *tct_label_follow_up(const tct_label_rule *rule, int event, double *label);
/* A boolean: the spelling of it that the rule knows. */
const char *tct_label_flag(const tct_label_rule *rule, bool value, double *label);
const char *tct_label_number(const tct_label_rule *rule, double value, double *label);
#endif
