/* composition.h - several fits on the same people within one budget. */
#ifndef TCT_SEVERAL_COMPOSITION_H
#define TCT_SEVERAL_COMPOSITION_H
#include "train/plan.h"

/* `copies` fits with the same settings; each has this budget. */
typedef struct tct_part {
  tct_plan *plan;
  int64_t copies;
  double epsilon, delta;
  bool divided; /* no accountant knows the copies together: (epsilon, delta) of each is simply added */
} tct_part;

struct tct_composition {
  tct_part *part; /* [parts] */
  int64_t parts;
  double epsilon, delta; /* of everything */
  tct_neighbours neighbours;
  double choice;           /* epsilon of a private choice among the parts; 0: there is none */
  const char *accountant;  /* the one that proves the whole, or "basic" */
  bool divided;            /* parts are simply added: */
  double each, each_delta; /* the budget of one part */
  int64_t mean;            /* of a geometric number of tries (tries.c); 0: every part is trained once */
  tct_event whole;         /* what the search costs, as one event */
  double price_work;       /* that it took to find so; see account/curves/work.h */
  double score;            /* noise of the score of each try */
  double score_epsilon, score_delta;
};

/* Plans the fits of one candidate: `models` of them, one for each class, within config's epsilon and delta together.
 * The plan is the caller's to free. */
tct_status tct_part_make(const tct_config *config, int64_t models, int64_t rows, int64_t cols, tct_part *part,
                         tct_error *err);
/* own[count] <- the candidates of a search, of which there is one at least, with one budget and relation for all. */
tct_status tct_candidates_take(const tct_config *const *given, size_t count, tct_config *own, tct_error *err);
/* Frees the parts. */
void tct_composition_drop(tct_composition *c);
/* Appends the events of all its fits. */
tct_status tct_part_events(const tct_part *part, tct_events *out, tct_error *err);
/* What a fit of several classes refuses is refused here, and charges nothing.  *shell <- its model without weights,
 * which the caller frees also on failure.  composition: of one part. */
tct_status tct_composed_shell(const tct_composition *composition, const tct_data *data, tct_model **shell,
                              tct_error *err);
/* The events of everything, in order. */
tct_status tct_composition_events(const tct_composition *c, tct_events *out, tct_error *err);
/* TCT_E_USAGE where verify would refuse the model for the work that it takes.  again: that of composing or pricing
 * it once more. */
tct_status tct_composition_verifiable(const tct_composition *c, double again, tct_error *err);
/* The event of the choice as text. */
void tct_composition_choice_text(const tct_composition *c, char *text, size_t size);
/* The list of certificate.h, of all fits; NULL: out of memory. */
json_t *tct_composition_fits(const tct_composition *c);
#endif
