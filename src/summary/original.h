/* original.h - weights on the original scale of the columns: the public bounds of the schema undone. */
#ifndef TCT_SUMMARY_ORIGINAL_H
#define TCT_SUMMARY_ORIGINAL_H
#include "model/model.h"

/* A weight there is slope[j] * coefficient[j].  The constant is `constant` plus intercept plus the sum of move[j] *
 * coefficient[j]. */
typedef struct tct_original {
  double *slope, *move; /* [cols] */
  double constant;      /* of labels that were shifted */
  bool has_intercept;   /* the constant is not 0 by construction */
} tct_original;

tct_status tct_original_new(const tct_model *model, tct_original *out, tct_error *err);
void tct_original_free(tct_original *original);
/* c[cols + 1] <- weight j as a sum over the model's weights, the intercept last; j = cols: the constant. */
void tct_original_contrast(const tct_original *original, int64_t cols, int64_t j, double *c);
#endif
