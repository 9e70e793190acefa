/* original.h - weights on the original scale of the columns: the public bounds of the schema undone. */
#ifndef TCT_SUMMARY_ORIGINAL_H
#define TCT_SUMMARY_ORIGINAL_H
#include "model/model.h"

/* Weight j there is the sum of value * coefficient[feature] over its entries.  The constant, weight `cols`, is that sum
 * plus `constant` plus the intercept. */
typedef struct tct_original {
  int64_t *start;     /* [cols + 2] of the entries of each weight */
  int64_t *feature;   /* [entries] */
  double *value;      /* [entries] */
  double constant;    /* of labels that were shifted */
  bool has_intercept; /* the constant is not 0 by construction */
  json_t **parts;     /* [cols] columns and values that a weight is of, or NULL: its name says it */
  char **name;        /* [cols] of the raw features, or NULL: those of the model */
} tct_original;

/* middle: of a schema with terms, numbers counted from the middle of their bounds (tct_design_middle). */
tct_status tct_original_new(const tct_model *model, bool middle, tct_original *out, tct_error *err);
void tct_original_free(tct_original *original, int64_t cols);
/* c[cols + 1] <- weight j as a sum over the model's weights, the intercept last; j = cols: the constant. */
void tct_original_contrast(const tct_original *original, int64_t cols, int64_t j, double *c);
#endif
