/* schema.h - public knowledge about a table's columns, as a JSON file states it. */
#ifndef TCT_READ_SCHEMA_SCHEMA_H
#define TCT_READ_SCHEMA_SCHEMA_H
#include <jansson.h>

#include "core/status.h"
#include "read/table/words.h"
#include "read/source/limits.h"

/* A date is a number of days, which has functions and is no feature by itself. */
typedef enum tct_column_kind {
  TCT_COLUMN_NUMBER,
  TCT_COLUMN_CATEGORY,
  TCT_COLUMN_DATE,
  TCT_COLUMN_IGNORE
} tct_column_kind;

/* What a missing or unlisted value becomes. */
typedef enum tct_when { TCT_WHEN_REFUSE, TCT_WHEN_ZERO, TCT_WHEN_VALUE, TCT_WHEN_ESTIMATE, TCT_WHEN_FLAG } tct_when;

/* Of the form.  From TERMS on features are terms over the columns (design.h). */
enum { TCT_SCHEMA_FIRST = 1, TCT_SCHEMA_TERMS = 2 };

typedef struct tct_design tct_design; /* design.h */

/* A listed value in the hash table of its column. */
typedef struct tct_slot {
  const char *text; /* borrowed from the JSON tree; NULL: the slot is free */
  int64_t length;
  uint32_t hash;
  int32_t index;
} tct_slot;

typedef struct tct_column {
  const char *name; /* borrowed from the JSON tree, or from the header */
  tct_column_kind kind;
  bool raw;               /* number without bounds: taken as it is (no schema) */
  bool open;              /* category without a list: its value is the number of its text among tct_schema.words */
  double lower, upper;    /* number; date: days */
  tct_when missing;       /* number: refuse or value; category: any; open columns: refuse, zero or estimate */
  tct_when other;         /* category */
  double missing_number;  /* in the column's own units */
  int32_t missing_listed; /* index into values */
  int32_t other_listed;
  const json_t *values; /* category: the array of texts */
  int32_t listed;       /* its length */
  int32_t dropped;      /* 1: the first value has no indicator */
  int32_t reference;    /* with terms: the value that the others are compared with */
  tct_slot *slot;       /* hash table over values */
  uint32_t slot_mask;   /* its size - 1 */
  int64_t first;        /* first feature; it has `features` of them */
  int64_t features;
} tct_column;

/* A column of numbers that is neither feature nor label, and says how a record counts. */
typedef enum tct_beside { TCT_BESIDE_WEIGHT, TCT_BESIDE_EXPOSURE, TCT_BESIDE_OFFSET, TCT_BESIDES } tct_beside;

typedef struct tct_beside_rule {
  const char *name;    /* of the column, or NULL: there is none */
  double lower, upper; /* numbers are cut to them */
} tct_beside_rule;

typedef struct tct_schema {
  const char *name; /* the file's name for errors, borrowed */
  int version;
  tct_design *design; /* NULL: every column has its own features */
  json_t *root;       /* NULL without a schema file */
  tct_column *column;
  int64_t columns;
  int64_t features;             /* over all columns */
  int64_t max;                  /* non-zero features that one record can have */
  int64_t open, lists;          /* columns whose bounds or lists an estimate will pay for; of these, of lists */
  tct_words *words;             /* of the columns without lists; NULL: there are none */
  bool estimated;               /* bounds in it come from an estimate that was paid for elsewhere */
  bool symmetric;               /* numbers scaled to [-1, 1] instead of [0, 1] */
  bool drafted;                 /* drafted from data and not reviewed */
  const json_t *missing;        /* array of texts that mean "missing" beside the empty one, or NULL */
  const char *label;            /* column name or NULL */
  const char *event;            /* column of the event; NULL: the label is no follow-up time */
  const char *positive;         /* or NULL */
  const json_t *label_values;   /* array of texts or NULL */
  double label_low, label_high; /* NAN = none */
  tct_beside_rule beside[TCT_BESIDES];
} tct_schema;

/* Reads schema_path or schema_text of the options; a schema with root NULL if neither is given. */
tct_status tct_schema_load(tct_schema *schema, const char *path, const char *text, const tct_limits *limits,
                           tct_error *err);

/* The schema of a table without one: every column but `label`, `key`, `event` (-1 = none) and those beside is a number
 * as it is.  names[count] must outlive the schema. */
tct_status tct_schema_plain(tct_schema *schema, char *const *names, int64_t count, int64_t label, int64_t key,
                            int64_t event, tct_error *err);
/* The label is a follow-up time with an event, as the options or the schema say: both, or neither. */
tct_status tct_schema_follow_up(tct_schema *schema, const char *event, double horizon, const char *time, bool wanted,
                                tct_error *err);

/* The weights' column and their cap, as the options or the schema say: both, or neither. */
tct_status tct_schema_weights(tct_schema *schema, const char *name, double cap, tct_error *err);
/* The column's number, cut to its bounds; why it is none that can be, or NULL (static text). */
const char *tct_beside_number(const tct_schema *schema, tct_beside which, double value, bool missing, double *out);
/* What is added to the linear predictor: log(exposure/upper) or offset - upper, at most 0; 0 for a weight. */
double tct_beside_offset(const tct_beside_rule *rule, tct_beside which, double value);
extern const char *const tct_beside_words[TCT_BESIDES]; /* "weight", ... */

/* The index of a text among the column's values, or -1; compared byte by byte. */
int32_t tct_column_find(const tct_column *column, const char *text, int64_t length);
/* True if the text stands for a missing value. */
bool tct_schema_missing(const tct_schema *schema, const char *text, int64_t length);
/* Writes the name of feature j ("age", "workclass=Private"); returns its length. */
int64_t tct_schema_feature(const tct_schema *schema, int64_t j, char *buffer, size_t size);

void tct_schema_free(tct_schema *schema);
#endif
