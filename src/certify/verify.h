/* verify.h - the report that a verification writes, check by check. */
#ifndef TCT_CERTIFY_VERIFY_H
#define TCT_CERTIFY_VERIFY_H
#include "account/selection.h"
#include "certify/policy.h"
#include "model/model.h"

typedef struct tct_verify_report {
  json_t *root, *checks;
  int ok;
  bool replanned; /* every fit was planned again from what was asked */
} tct_verify_report;

void tct_verify_check(tct_verify_report *r, const char *name, int ok, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The verdict on a model, and on its file as it would be written.  with: limits, an audit and a ledger, or nothing;
 * told's "policy" <- what the limits say.  false: out of memory. */
bool tct_verify_model(const tct_model *model, const json_t *file, tct_policy *with, json_t *told, tct_conclusion *out);
/* The checks of one model, whether its file is its own or a part of a study's; the claim is checked last. */
void tct_verify_one(tct_verify_report *r, const tct_model *model, const json_t *file);
/* Of a claim alone: recomputed, by a second method, and held against a lower bound. */
void tct_verify_claim(tct_verify_report *r, const tct_model *claim);
/* A study's file: planned again from what it was asked for, every stage and the whole.  claim: as the file has it. */
void tct_verify_study(tct_verify_report *r, const json_t *file, const tct_model *claim);
/* Is this figure no more than the claim, but for a relative slack?  Not where it is infinite or no number. */
bool tct_at_most(double figure, double claim, double slack);
/* The fits behind the model: planned again, their releases made again, and the model's own fields and events theirs. */
void tct_verify_fits(tct_verify_report *r, const tct_model *model, const json_t *file);
/* "classes" where a class is not among the values that the model's schema lists for the label.  "schema" where its
 * follow-up is not the model's.  "inference" where survival is not up to its horizon.  NULL: all are. */
const char *tct_verify_label(const tct_model *model);
/* A model whose bounds were estimated: the estimate planned again, and the claim as its sum with the fit's.  *fit <-
 * the model as a run without an estimate claims it, which borrows all but what tct_verify_estimate_free frees.  false:
 * it cannot be checked further. */
bool tct_verify_estimate(tct_verify_report *r, const tct_model *model, tct_model *fit);
void tct_verify_estimate_free(tct_model *fit);
/* Does the model name this fact as unaccounted?  A list that is full may say it in its last place. */
bool tct_verify_told(const tct_model *model, const char *fact);
/* A model without an estimate, and bounds that its schema calls estimated. */
void tct_verify_no_estimate(tct_verify_report *r, const tct_model *model);
/* A model of several classes: the budget of the whole, composed again, gives the fit of each. */
void tct_verify_composed(tct_verify_report *r, const tct_model *model, const json_t *fits);
/* Appends the events of a listed fit, as often as it was made.  TCT_E_DATA: that number is out of range. */
tct_status tct_verify_add_copies(const json_t *fit, tct_events *out, tct_error *err);
/* The best of a random number of tries: what it costs, by the accountants and by a second method.  fits: those that are
 * listed; plan: as the file has it, and held against what it gives. */
void tct_verify_tries(tct_verify_report *r, const tct_model *model, const json_t *fits, const tct_selection *plan);
#endif
