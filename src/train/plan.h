/* plan.h - a plan, and what a model takes from it before anything is drawn. */
#ifndef TCT_TRAIN_PLAN_H
#define TCT_TRAIN_PLAN_H
#include "model/model.h"
#include "solve/solve.h"
#include "study/study.h"

#include <jansson.h>

/* A plan: settings checked, components made, budget calibrated.  Of several classes it is that of each fit, one against
 * the rest, and `claim` is that of all. */
struct tct_plan {
  tct_config config; /* texts copied, owned */
  const tct_solver *solver;
  tct_facts facts;
  tct_solver_plan solved;
  int64_t cols;       /* features without the intercept */
  char *solver_text;  /* the resolved spec, owned */
  char why[200];      /* the solver was chosen by rule: its reason; "" otherwise */
  char loss_why[200]; /* the same of the loss */
  double work;        /* that planning it took; see account/curves/work.h */
  int64_t copies;     /* fits with these settings, each with its own noise */
  tct_whole claim;    /* of all of them together; facts have the budget of one */
};

/* tct_plan_new for settings that a file has: options newer than these rules of the solver, if it does not name them,
 * are neutral.  rules: 1 for resolved settings. */
tct_plan *tct_plan_by_rules(const tct_config *config, int64_t rows, int64_t cols, int rules, tct_error *err);
/* The same for one fit, whatever the number of classes; and for one of each class, within config's budget. */
tct_plan *tct_plan_one(const tct_config *config, int64_t rows, int64_t cols, int rules, tct_error *err);
tct_plan *tct_plan_copies(const tct_config *config, int64_t rows, int64_t cols, int rules, tct_error *err);
/* The loss of the settings where it is left open: its number of classes, and whether all are one fit.  loss: room for
 * its text, which config then borrows; why: the rule's reason, "": there was nothing to choose. */
enum { TCT_LOSS_SETTLED = 140 };
tct_status tct_config_settle(tct_config *config, int64_t rows, int64_t cols, char loss[TCT_LOSS_SETTLED], char why[200],
                             tct_error *err);
/* Fits that these settings ask for: one for each class, or 1. */
int64_t tct_config_copies(const tct_config *config);
/* Every fit's events by themselves, so that a reader can count the fits. */
json_t *tct_plan_events_apart(const tct_plan *plan);
/* Appends the events of all copies. */
tct_status tct_plan_events(const tct_plan *plan, tct_events *out, tct_error *err);
/* The caller's settings, of whatever size, with defaults for what that does not have.  TCT_E_USAGE: see core/sized.h.
 */
tct_status tct_config_take(const tct_config *given, tct_config *own, tct_error *err);
/* TCT_E_DATA: the model's schema does not make the features that the model names. */
tct_status tct_model_made_by_schema(const tct_model *model, tct_error *err);
/* Does a schema scale the data's numbers to [0, 1]? */
bool tct_data_in_units(const tct_data *data);
/* What the settings leave to a schema, by its terms and the bounds of its label (NAN: it has none). */
void tct_config_take_bounds(tct_config *config, const json_t *schema, double label_low, double label_high);
/* A positive label that no record has would train a model of one class and say nothing.  Without a public list of the
 * label's values that is bad data (TCT_E_DATA), as a label that cannot be read is; with one, a rare class may be
 * absent. Collective over the data's ranks. */
tct_status tct_fit_check_positive(const tct_data *data, tct_error *err);
/* What the model file says of the plan: components in full, sizes, and how records and labels were bounded. */
tct_status tct_fit_describe(const tct_plan *plan, tct_model *model, tct_error *err);
/* Whether the plan's fit knows weights of records, or of persons.  Errors of a right model know none: the weighed mean
 * has no likelihood. */
bool tct_plan_weighs(const tct_plan *plan, bool persons);
/* What the plan takes from the data without paying, a sentence each; returns how many. */
enum { TCT_PLAN_FACTS = 3 };
int tct_plan_unpaid(const tct_plan *plan, char text[TCT_PLAN_FACTS][200]);
/* The claim and the events of the plan. */
tct_status tct_model_certify(const tct_plan *plan, tct_model *model, tct_error *err);
/* A run between parties that were apart: what only it knows. */
typedef struct tct_apart {
  json_t *const *hello; /* [K]: their names and columns; NULL: not known here */
  int64_t uplink;       /* bytes that reached the server */
} tct_apart;
/* Names, columns and an epsilon for each observer into model->parties; for solvers on one table nothing.  apart: NULL
 * for a simulation on one file. */
tct_status tct_model_observers(const tct_plan *plan, const tct_apart *apart, tct_model *model, tct_error *err);
/* Bytes that a run needs in memory while its records lie on disk, from public facts; INFINITY: it cannot read them
 * there. */
double tct_limit_needs(const tct_plan *plan);
/* Passes over the records of a usual run, the bound on the rows counted in; 0: its solver cannot read from disk. */
double tct_limit_passes(const tct_plan *plan);
/* TCT_E_USAGE where the plan's limit is below that. */
tct_status tct_limit_check(const tct_plan *plan, tct_error *err);
/* The same for a table that does lie on disk; for any table TCT_E_MEMORY where what is certain to be needed is not
 * free.
 */
tct_status tct_limit_check_data(const tct_plan *plan, const tct_data *data, tct_error *err);
#endif
