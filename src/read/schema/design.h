/* design.h - terms: what a schema makes of the cells of a record, by public facts alone.
 *
 * A scalar is a number computed from one or two columns.  A part is a scalar, a curve over one, or a set of levels; a
 * factor is a part as one term codes it.  A term is a product of up to four factors: its features are the products of
 * theirs.  Each factor is at most 1 long by the public bounds, and the norm of a product is the product of the norms.
 * So a record is at most the root of the sum of squared shares long, plus 1 for the intercept.  No promise rests on
 * that: tct_view_bound enforces it on the computed row.
 *
 * CODING, as in R.  Levels have no feature for their reference where the term without them is in the schema, or is
 * empty.  Numbers are centred at the middle of their bounds where that stays within the schema's terms, and else only
 * divided.  The features of a factor are affine in raw functions: raw values of a number, indicators of levels. */
#ifndef TCT_READ_SCHEMA_DESIGN_H
#define TCT_READ_SCHEMA_DESIGN_H
#include "read/schema/curves.h"
#include "read/schema/schema.h"

enum { TCT_TERM_PARTS = 4, TCT_TERM_FEATURES = 4096, TCT_CUT_BREAKS = 100 };

/* After COLUMN: of a scalar.  From RATIO on of two.  YEAR, YEARS and DAYS are of columns of dates. */
typedef enum tct_scalar_kind {
  TCT_SCALAR_COLUMN,
  TCT_SCALAR_LOG,
  TCT_SCALAR_LOG2,
  TCT_SCALAR_LOG10,
  TCT_SCALAR_LOG1P,
  TCT_SCALAR_SQRT,
  TCT_SCALAR_SQUARE,
  TCT_SCALAR_YEAR,
  TCT_SCALAR_RECIPROCAL,
  TCT_SCALAR_RATIO,
  TCT_SCALAR_YEARS,
  TCT_SCALAR_DAYS
} tct_scalar_kind;

/* Compared byte by byte, so zero it first. */
typedef struct tct_scalar {
  tct_scalar_kind kind;
  int32_t of[2];       /* a column, or scalars before it; the second -1: there is one */
  int32_t gap[2];      /* columns whose missing values are marked, ascending; -1: none */
  double lower, upper; /* of the value, which is brought into them */
} tct_scalar;

/* From LEVELS on an indicator of each level; from MONTH on of a date, by the calendar. */
typedef enum tct_part_kind {
  TCT_PART_NUMBER,
  TCT_PART_CURVE,
  TCT_PART_LEVELS,
  TCT_PART_CUT,
  TCT_PART_FLAG,
  TCT_PART_MONTH,
  TCT_PART_WEEKDAY,
  TCT_PART_QUARTER
} tct_part_kind;

typedef struct tct_part {
  tct_part_kind kind;
  int32_t source;         /* a scalar; of LEVELS a column */
  int32_t width;          /* raw functions: levels, all of them; what marks missing values comes after */
  int32_t reference;      /* level */
  int32_t gap[2];         /* as of its scalar */
  tct_curve_shape *shape; /* of a curve */
  double *breaks;         /* [width - 1] of a cut */
  char *name;             /* owned, as all here */
} tct_part;

static inline bool tct_part_is_levels(const tct_part *part) { return part->kind >= TCT_PART_LEVELS; }

typedef struct tct_factor {
  int32_t part;
  bool reduced; /* centred; of levels: without the reference */
  bool flagged; /* missing values have a feature, the last */
  int32_t features;
  int32_t first;    /* of its entries in a record */
  tct_curve *curve; /* owned */
} tct_factor;

typedef struct tct_term {
  int32_t parts;
  int32_t part[TCT_TERM_PARTS], factor[TCT_TERM_PARTS];
  double share;
  int64_t first, features;
} tct_term;

struct tct_design {
  tct_scalar *scalar;
  tct_part *part;
  tct_factor *factor;
  tct_term *term;
  int32_t scalars, parts, factors, terms;
  int32_t entries; /* of all factors */
  double squares;  /* a record's squared norm is at most this, the intercept left out */
};

/* A factor's non-zero features in the current record. */
typedef struct tct_entry {
  int32_t feature;
  double value;
} tct_entry;

/* What encoding a record needs beside the schema; zero it. */
typedef struct tct_design_work {
  double *cell;     /* [columns] a number, or the place of a level; NAN: missing, and marked */
  double *scalar;   /* [scalars] */
  tct_entry *entry; /* [entries] */
  int32_t *filled;  /* [factors] */
} tct_design_work;

/* The value of a scalar, of those that it is made of. */
double tct_scalar_value(const tct_scalar *scalar, double a, double b);
/* Its bounds, from those of the others; why: it has none. */
const char *tct_scalar_bounds(tct_scalar *scalar, const tct_scalar *a, const tct_scalar *b);

tct_status tct_design_work_new(const tct_schema *schema, tct_design_work *work, tct_error *err);
void tct_design_work_free(const tct_schema *schema, tct_design_work *work);
/* Computes all features from work->cell; put gets those that are not 0, ascending. */
typedef void (*tct_put_feature)(void *user, int64_t feature, double value);
void tct_design_encode(const tct_schema *schema, tct_design_work *work, tct_put_feature put, void *user);

/* After the terms and their parts are there: codes them, and counts the features.  TCT_E_DATA: too many. */
tct_status tct_design_code(tct_schema *schema, tct_error *err);
/* The term of exactly these parts, or -1. */
int32_t tct_design_find(const tct_design *design, const int32_t *part, int32_t parts);
/* The term of a feature, and in at[parts] which feature of each of its factors. */
const tct_term *tct_design_place(const tct_design *design, int64_t feature, int32_t *at);
/* The raw function of a factor's feature: a level, or the part's width for the mark of missing values. */
int32_t tct_factor_raw(const tct_design *design, const tct_factor *factor, int32_t feature);
/* The first term before this one that differs from it in part k alone, which has the same missing values; or -1. */
int32_t tct_design_twin(const tct_design *design, const tct_term *term, int32_t k);
int64_t tct_design_feature(const tct_schema *schema, int64_t feature, char *buffer, size_t size);
/* {"column": ..., "value": ...} of each part of the raw feature, and in *name what all of them are called (tct_free).
 */
json_t *tct_design_parts(const tct_schema *schema, int64_t feature, char **name);

/* Feature `feature` is the sum of value * raw feature `raw` over all pairs, raw -1 being the constant 1. */
typedef void (*tct_put_raw)(void *user, int64_t feature, int64_t raw, double value);
void tct_design_raw(const tct_schema *schema, tct_put_raw put, void *user);
/* The same with numbers counted from the middle of their bounds, and curves from that of their functions, where every
 * term centres them. */
void tct_design_middle(const tct_schema *schema, tct_put_raw put, void *user);
bool tct_design_centres(const tct_design *design, int32_t part);

void tct_design_free(tct_design *design);
#endif
