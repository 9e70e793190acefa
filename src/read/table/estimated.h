/* estimated.h - what a table's bounds cost that were estimated from its records. */
#ifndef TCT_READ_TABLE_ESTIMATED_H
#define TCT_READ_TABLE_ESTIMATED_H
#include <stdbool.h>
#include <stdint.h>

/* What reading under bounds that another run has estimated leaves unpaid. */
#define TCT_ESTIMATED_ELSEWHERE \
  "bounds in the schema were estimated from data by an earlier run, and this claim does not pay for them"

/* The budget of a run is divided before anything is drawn: a part for the estimate, the rest for one fit. */
typedef struct tct_estimated {
  char *certificate;     /* JSON: the estimate as asked, its releases and events */
  double epsilon, delta; /* of the whole */
  double own_epsilon, own_delta;
  double rest_epsilon, rest_delta;
  int32_t neighbours;
  bool reproducible;
  bool charged;            /* a ledger was charged with the whole */
  bool used;               /* a fit has taken the rest of what was charged */
  char *ledger_head, *run; /* of that ledger, or NULL */
  bool for_tests;          /* it takes reproducible noise */
  char *warning;           /* for whoever runs this, or NULL */
} tct_estimated;

void tct_estimated_free(tct_estimated *estimated); /* NULL is fine */
#endif
