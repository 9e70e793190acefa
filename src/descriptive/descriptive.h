/* descriptive.h - what describes a table's columns: one vector of sums over its records, and the figures of its noise.
 *
 * A column of numbers has counts on a binary tree over its bounds, by differences.  Each node of each level has how
 * many more of its values lie in the right half than in the left one.  Beside them stand how many are missing, and two
 * sums of what the finest cells leave over.  A column of categories has a count for each value, for texts that are not
 * listed and for missing ones.  A pair of such columns has one for each pair of these.
 *
 * SENSITIVITY  Let a record count v in [0, 1].  In a column of numbers a missing value adds v to one number.  Any other
 *              adds v w_l in size to one number of each level l.  To both last sums it adds at most v w_r in size: what
 *              is left over lies in [-1, 1], and so does the middle of its cell.  sum w_l^2 + 2 w_r^2 = 1, so the
 *              length is at most v either way.  A column of categories, and a pair, get v TCT_DESC_CELL in one number.
 *              So a vector of d columns of numbers and c columns of categories and pairs moves at most by
 *              sqrt(d + c TCT_DESC_CELL^2).  Where all weights are summed too, there is one more under the root.  A
 *              person's records have weights that sum to at most 1: by the triangle inequality they are no longer
 *              together.  Terms are cut toward 0 to the lattice, which shortens them.  Under replace_one both records
 *              are moved, which the event of the release counts twice. */
#ifndef TCT_DESCRIPTIVE_DESCRIPTIVE_H
#define TCT_DESCRIPTIVE_DESCRIPTIVE_H
#include "core/json_text.h"
#include "la/matrix/matrix.h"

enum {
  TCT_DESC_DEPTH = 10,                   /* levels of halves */
  TCT_DESC_PARTS = 1 << TCT_DESC_DEPTH,  /* cells of the finest */
  TCT_DESC_MISSING = 0,                  /* places in the numbers of a column of numbers */
  TCT_DESC_TREE = 1,                     /* PARTS - 1 of them: node k of level l at TREE + 2^l - 1 + k */
  TCT_DESC_LEFT = TCT_DESC_PARTS,        /* sum of what is left over, and of that times the middle of its cell */
  TCT_DESC_NUMBERS = TCT_DESC_PARTS + 2, /* in all */
  TCT_DESC_MOST = 1 << 18,               /* numbers of a whole vector */
};
/* What a value of a category counts; that of numbers is 1 (docs/decisions/study.md, "A description"). */
#define TCT_DESC_CELL 0.70710678118654746

typedef enum tct_desc_kind { TCT_DESC_NUMBER, TCT_DESC_CATEGORY, TCT_DESC_PAIR } tct_desc_kind;

/* A column, or a pair of columns. */
typedef struct tct_desc_part {
  tct_desc_kind kind;
  const char *name;      /* of a column; borrowed from the reading */
  double lower, upper;   /* NUMBER */
  const json_t *values;  /* CATEGORY: all that is counted, with "(missing)" among them; borrowed */
  int64_t missing;       /* its place there */
  int64_t feature;       /* of a column: its first */
  int64_t cells;         /* CATEGORY, PAIR */
  int64_t of[2];         /* PAIR: its columns' places among the parts */
  int64_t first, length; /* its numbers in the vector */
} tct_desc_part;

typedef struct tct_desc {
  json_t *schema;      /* as it was given, owned */
  json_t *reading;     /* what the table is read by, owned: numbers as they are, missing ones not a number */
  tct_desc_part *part; /* [parts]: columns in the order of the schema, then pairs */
  int64_t parts, columns, features;
  bool persons;   /* the last number of the vector is the sum of all weights */
  bool estimated; /* the schema says that bounds or lists in it were estimated */
  int64_t length; /* of the vector */
  double move;    /* how long one record's own vector can be */
  bool table;     /* intervals are about this table: they count the noise alone */
} tct_desc;

/* schema: with bounds and lists.  cross: an array of arrays of two names, or NULL.  out: to be freed in any case. */
tct_status tct_desc_make(const json_t *schema, const json_t *cross, bool persons, tct_desc *out, tct_error *err);
void tct_desc_free(tct_desc *desc);

/* A table that was read by desc->reading. */
typedef struct tct_desc_table {
  const tct_matrix *x;
  const double *weight;         /* [rows] in [0, 1], or NULL */
  const unsigned char *dropped; /* [rows]: 1 adds nothing; or NULL */
} tct_desc_table;
/* sum[length] <- over all its records, on the lattice. */
tct_status tct_desc_sum(const tct_desc *desc, const tct_desc_table *table, double lattice, double *sum, tct_error *err);

/* What the file has: columns and pairs with the vector as released, rounded to a part of its noise, and all figures
 * that follow from it.  NULL: out of memory. */
json_t *tct_desc_json(const tct_desc *desc, double *sum, double deviation, int64_t rows);
/* sum[length] <- the vector in it; false: it holds none of this length. */
bool tct_desc_sums(const tct_desc *desc, const json_t *said, double *sum);

/* ---- for the files of this room ---------------------------------------------------------------------------------- */

/* w_l for l below TCT_DESC_DEPTH, and w_r for it. */
double tct_desc_weight(int level);
/* Lower edge of cell j of a part of numbers, j up to TCT_DESC_PARTS; the cell that a value within the bounds lies in.
 */
double tct_desc_edge(const tct_desc_part *part, int64_t j);
/* How many of what intervals are about there are, and the variance of that by noise. */
typedef struct tct_desc_world {
  double z, sigma, records, records_noise;
  bool sampling;
} tct_desc_world;
/* How many are no gaps, at least 1 and no more than all, and the variance of that by noise. */
void tct_desc_told(const tct_desc_world *w, double missing, double noise, double *told, double *told_noise);
/* {"value", "lower", "upper", "noise"}: within [low, high]; both deviations. */
json_t *tct_desc_figure(const tct_desc_world *w, double value, double noise, double sampling, double low, double high);
/* Figures of a column of numbers, by its own numbers. */
json_t *tct_desc_numbers(const tct_desc_part *part, const tct_desc_world *w, const double *own);
#endif
