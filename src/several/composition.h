/* composition.h - a search: candidates within one budget, and the choice among them. */
#ifndef TCT_SEVERAL_COMPOSITION_H
#define TCT_SEVERAL_COMPOSITION_H
#include "study/charge.h"
#include "study/study.h"
#include "train/plan.h"

struct tct_composition {
  tct_plan **plan; /* [parts], one for each candidate */
  int64_t parts;
  tct_search how; /* as asked, the share settled */
  tct_whole claim;
  double asked;            /* epsilon */
  int64_t rows, held;      /* of all records; of those, for scores */
  double each, each_delta; /* the budget of one candidate */
  double choice;           /* every setting once: epsilon of the choice; 0: there is none */
  tct_event whole;         /* random tries: what the search costs, as one event */
  double price_work;       /* that it took to find so; see account/curves/work.h */
  double score;            /* random tries: noise of each score */
  double score_epsilon, score_delta;
};

/* Settings of each candidate, and what they are trained on. */
typedef struct tct_candidates {
  const tct_config *config; /* [count] */
  size_t count;
  int64_t rows, cols;
} tct_candidates;
/* Plans every candidate for this budget, in place of what was planned before. */
tct_status tct_candidates_plan(const tct_candidates *of, double epsilon, double delta, tct_composition *c,
                               tct_error *err);
/* Gives every part of `c` the largest share with which the whole, whose claim is what was asked for, costs at most
 * that.
 */
tct_status tct_shares_find(const tct_candidates *of, tct_composition *c, tct_error *err);
/* What a score of a try may spend at the try's delta, and its noise.  share: of a try's epsilon, of which the fit has
 * `fit`; NAN: no record is in a fit and in a score. */
tct_status tct_tries_score(const tct_whole *claim, int64_t mean, double share, double fit, double *epsilon,
                           double *noise, tct_error *err);
/* Frees the parts. */
void tct_composition_drop(tct_composition *c);
/* The events of everything, in order. */
tct_status tct_composition_events(const tct_composition *c, tct_events *out, tct_error *err);
/* TCT_E_USAGE where verify would refuse the model for the work that it takes, `again` that of pricing. */
tct_status tct_composition_verifiable(const tct_composition *c, double again, tct_error *err);
/* The event of the choice as text, or how the tries were planned. */
void tct_composition_choice_text(const tct_composition *c, char text[TCT_SELECTION_TEXT]);
/* The list of certificate.h, of all fits; NULL: out of memory. */
json_t *tct_composition_fits(const tct_composition *c);

/* The model's file claims what the whole search spent.  receipt: of its charge, or zeroed; seeded: its noise came from
 * a seed; facts: what any candidate takes from the table unpaid, ended by NULL, or NULL. */
tct_status tct_model_claim(tct_model *model, const tct_composition *c, const tct_ledger_receipt *receipt, bool seeded,
                           char *const *facts, tct_error *err);

/* Refuses now whatever a run on this table would refuse.  mark[rows]: 1 for the records that are held out for scores,
 * drawn by tct_held_draw.  facts: gets what any candidate takes from the table unpaid.  *shell <- the model of the
 * first candidate without weights, owned. */
tct_status tct_search_prepare(const tct_composition *c, const tct_data *data, const unsigned char *mark,
                              tct_model *facts, tct_model **shell, tct_error *err);
/* tct_fit_search with these records held out; mark NULL: they are drawn. */
tct_model *tct_search_run(const tct_composition *c, const tct_data *data, const unsigned char *mark,
                          const tct_config *config, int64_t *candidate, double *score, tct_error *err);

/* *tries <- a geometric number of this mean, at least 1, drawn exactly: a secret, as is the time that so many tries
 * take.  seed NULL: from the operating system. */
tct_status tct_draw_tries(int64_t mean, const uint64_t *seed, int64_t *tries, tct_error *err);
/* *index <- one of `count` candidates, j with probability ~ exp(epsilon*score[j]/(2*change)), drawn exactly.  score:
 * whole numbers of at most 2^52, each of which one record (removed, added or replaced) moves by at most `change`.  What
 * this costs is the event exponential:epsilon, and the caller's to account for.  An infinite epsilon: the first of the
 * best.  seed NULL: from the operating system. */
tct_status tct_choose(const double *score, int64_t count, double change, double epsilon, const uint64_t *seed,
                      int64_t *index, tct_error *err);

/* The most that one record adds to a score of this model, a whole number; TCT_E_USAGE where none is known. */
tct_status tct_whole_score_most(const tct_model *model, bool weighed, double *most, tct_error *err);
/* *score <- the sum over the records: how many are predicted rightly, or how well, as whole numbers. */
tct_status tct_whole_score(const tct_model *model, const tct_data *data, double *score, tct_error *err);
#endif
