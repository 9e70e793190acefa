/* policy.h - the gate before publication: an organisation's limits, held against a file that was verified. */
#ifndef TCT_CERTIFY_POLICY_H
#define TCT_CERTIFY_POLICY_H
#include "model/model.h"

/* What a verification came to. */
typedef struct tct_conclusion {
  tct_verdict verdict;
  bool replanned; /* the settings as asked were planned again, not by other rules than made the file */
  char why[240];  /* the first check that failed, one sentence; "" = none */
} tct_conclusion;

/* All that a rule may look at. */
typedef struct tct_policy {
  json_t *policy, *audit; /* owned; NULL: none was given */
  const json_t *file;
  const tct_model *model; /* or the claim of a study; NULL: the file holds neither */
  const tct_conclusion *verified;
  const char *ledger; /* path, or NULL */
} tct_policy;

/* policy, audit: texts, or NULL.  TCT_E_DATA: no JSON, a rule that is not known, a limit of another form. */
tct_status tct_policy_read(const char *policy, const char *audit, tct_policy *with, tct_error *err);
/* root's "policy" <- {name, ok, rules: [{rule, ok, text}]}, every rule of the policy; ok: all hold, and the file is
 * verified.  Without a policy nothing.  false: out of memory. */
bool tct_policy_answer(const tct_policy *with, json_t *root);
/* Is this the audit of the one fit behind the file?  TCT_E_USAGE: of another plan; TCT_E_DATA: it is no audit. */
tct_status tct_audit_is_of(const json_t *audit, const json_t *file, tct_error *err);
#endif
