/* lm.h - a question to the moments of one stage of a study's file: what is asked, and the models of the answer. */
#ifndef TCT_SUMMARY_LM_H
#define TCT_SUMMARY_LM_H
#include "linear/linear.h"
#include "read/schema/schema.h"

typedef struct tct_lm_model {
  const json_t *asked;          /* label, features, ridge */
  int64_t label, slopes, fewer; /* fewer: slopes at the end that a comparison leaves out */
  int64_t *column;              /* [p] */
  tct_linear_model fit;
  json_t *out;
} tct_lm_model;

enum { TCT_LM_MODELS = 32 };
typedef struct tct_lm {
  json_t *file, *asked;
  const json_t *stage; /* of the file */
  tct_schema schema;
  tct_moments moments;
  tct_linear linear;
  int64_t p;              /* features of the schema */
  double *factor, *shift; /* [p]: a feature is factor * value + shift */
  char **name;            /* [p] */
  int64_t *places;        /* [p] */
  double level;
  int models; /* none: the table is asked for */
  tct_lm_model model[TCT_LM_MODELS];
} tct_lm;

/* The answer's members of the models, of those beside the first, and of what they share. */
tct_status tct_lm_put_models(tct_lm *lm, json_t *out, tct_error *err);
#endif
