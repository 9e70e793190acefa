/* cautions.h - where a promise says little, or a model is likely of no use: thresholds over public facts. */
#ifndef TCT_TRAIN_CAUTIONS_H
#define TCT_TRAIN_CAUTIONS_H
#include "train/plan.h"

#include <jansson.h>

/* All that a caution may look at.  Every one of them is public or released. */
typedef struct tct_caution_facts {
  bool is_private;         /* false: there is no promise, and no caution holds */
  int64_t rows;            /* n */
  int64_t p;               /* features including the intercept */
  double epsilon, delta;   /* the claim */
  double each, each_delta; /* of one fit, by which its noise goes; 0: the claim's */
  tct_neighbours neighbours;
} tct_caution_facts;

enum { TCT_CAUTION_TEXT = 320 };

typedef struct tct_caution {
  const char *name;   /* "delta" | "epsilon" | "signal" */
  bool weakens;       /* true: the promise itself says less than it seems to; false: the model is likely of no use */
  const char *source; /* where the threshold comes from */
  /* Whether it holds; then text gets one sentence: what it is, then what to do. */
  bool (*holds)(const tct_caution_facts *facts, char text[TCT_CAUTION_TEXT]);
} tct_caution;

extern const tct_caution tct_cautions[];
extern const int tct_caution_count;

tct_caution_facts tct_caution_plan(const tct_plan *plan);
tct_caution_facts tct_caution_model(const tct_model *model);

/* tct_signal_to_noise of these facts; INFINITY without a promise. */
double tct_caution_signal(const tct_caution_facts *facts);

/* The largest epsilon that the promise is put into words for; beyond it the page says that it is next to none. */
bool tct_caution_words_hold(double epsilon);

/* The cautions that hold: an array of {name, text, source, weakens}; NULL: out of memory. */
json_t *tct_cautions_json(const tct_caution_facts *facts);
#endif
