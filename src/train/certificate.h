/* certificate.h - what a model file says about each fit behind it: settings as asked, resolved, and the releases. */
#ifndef TCT_TRAIN_CERTIFICATE_H
#define TCT_TRAIN_CERTIFICATE_H
#include "model/model.h"
#include "train/plan.h"

/* Raised whenever the same settings give another plan: a rule, a default or an accountant changed. */
enum { TCT_PLAN_VERSION = 1 };

/* Whose rules have another version now than when the fit was planned, and both versions; NULL: nobody's. */
const char *tct_certificate_other_rules(const json_t *fit, int *was, int *now);
/* {"count", "plan_version", "asked", "solver", "promise", "releases", "events", "epsilon", "delta", "accountant"}, and
 * "rules" with the versions of components' rules that are not 1; docs/reference/format/model.md has the members.  NULL:
 * out of memory. */
json_t *tct_certificate_json(const tct_plan *plan);
json_t *tct_releases_json(const tct_promise *promise);
/* The settings in the member "asked", which borrow its texts, and the shape; solver as below. */
tct_status tct_certificate_config(const json_t *certificate, const char *solver, tct_config *out, int64_t *rows,
                                  int64_t *cols, tct_error *err);
/* Plans again from the member "asked"; solver: another spec in place of the one that was asked for, or NULL. */
tct_status tct_certificate_plan(const json_t *certificate, const char *solver, tct_plan **out, tct_error *err);
/* The same members and texts; numbers, in texts too, to 1e-9 of each other, whole numbers exactly. */
bool tct_json_near(const json_t *a, const json_t *b);
#endif
