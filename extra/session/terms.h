/* terms.h - the server's terms as a party reads them. */
#ifndef TCT_SESSION_TERMS_H
#define TCT_SESSION_TERMS_H
#include "session/rounds.h"

/* More than all parties' hellos can name. */
enum { TCT_COLUMNS_MOST = 1 << 26 };

/* What this party brings and agreed to. */
typedef struct tct_agreed {
  const tct_config *config;
  const char *solver; /* a spec; NULL: dpfw_parties */
  const tct_data *data;
  const char *nonce;
  const char *address; /* where the other parties come to, as it told the server */
} tct_agreed;

typedef struct tct_terms {
  tct_plan *plan; /* of all parties together, of this party's own making */
  const tct_rounds *rounds;
  tct_roster roster;
  int index; /* this party's number */
  unsigned char session[32];
} tct_terms;
/* TCT_E_BUDGET, TCT_E_USAGE or TCT_E_RUN where the terms are not what was agreed on, or cannot be of this session.
 * out->plan is the caller's to free, also then. */
tct_status tct_terms_read(const json_t *terms, const tct_agreed *own, tct_terms *out, tct_error *err);
/* The loss that this party agreed on, in full. */
tct_status tct_own_loss(const tct_config *config, char *text, size_t size, tct_error *err);
#endif
