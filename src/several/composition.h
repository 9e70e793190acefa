/* composition.h - a search: candidates within one budget, and the choice among them. */
#ifndef TCT_SEVERAL_COMPOSITION_H
#define TCT_SEVERAL_COMPOSITION_H
#include "study/study.h"
#include "train/plan.h"

struct tct_composition {
  tct_plan **plan; /* [parts], one for each candidate */
  int64_t parts;
  tct_whole claim;
  double choice;           /* epsilon of a private choice among the parts; 0: there is none */
  double each, each_delta; /* the budget of one part */
  int64_t mean;            /* of a geometric number of tries (tries.c); 0: every part is trained once */
  tct_event whole;         /* what the search costs, as one event */
  double price_work;       /* that it took to find so; see account/curves/work.h */
  double score;            /* noise of the score of each try */
  double score_epsilon, score_delta;
};

/* own[count] <- the candidates of a search, of which there is one at least, with one budget and relation for all.  What
 * their losses leave open is settled by the whole budget.  loss[count]: room for that. */
tct_status tct_candidates_take(const tct_config *const *given, size_t count, int64_t rows, int64_t cols,
                               tct_config *own, char (*loss)[TCT_LOSS_SETTLED], tct_error *err);
/* Settings of each, and what they are trained on. */
typedef struct tct_candidates {
  const tct_config *config; /* [count] */
  size_t count;
  int64_t rows, cols;
} tct_candidates;
/* Plans every candidate for this budget, in place of what was planned before. */
tct_status tct_candidates_plan(const tct_candidates *of, double epsilon, double delta, tct_composition *c,
                               tct_error *err);
/* Frees the parts. */
void tct_composition_drop(tct_composition *c);
/* The events of everything, in order. */
tct_status tct_composition_events(const tct_composition *c, tct_events *out, tct_error *err);
/* TCT_E_USAGE where verify would refuse the model for the work that it takes, `again` that of pricing. */
tct_status tct_composition_verifiable(const tct_composition *c, double again, tct_error *err);
/* The event of the choice as text. */
void tct_composition_choice_text(const tct_composition *c, char *text, size_t size);
/* The list of certificate.h, of all fits; NULL: out of memory. */
json_t *tct_composition_fits(const tct_composition *c);
#endif
