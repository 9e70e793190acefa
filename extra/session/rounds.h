/* rounds.h - what a solver does between the terms and the model, at both ends of a session. */
#ifndef TCT_SESSION_ROUNDS_H
#define TCT_SESSION_ROUNDS_H
#include "train/bound.h"
#include "session/peers.h"

/* A party's end.  All but `bound` and `problem.view`, `problem.y` is there before the first call. */
typedef struct tct_joining {
  const tct_plan *plan; /* of all parties together */
  const tct_data *data; /* its own columns */
  const tct_roster *roster;
  const tct_alignment *alignment;
  unsigned char session[32]; /* tct_roster_session */
  int self;
  tct_wire *server;
  tct_peers *peers; /* met, where the solver wants it */
  tct_bound bound;
  tct_problem problem;
  tct_mech *mech;
} tct_joining;

/* The server's end. */
typedef struct tct_serving {
  const tct_plan *plan;
  const tct_roster *roster;
  unsigned char session[32];
  tct_wire *wire;
  tct_problem ticks; /* facts and progress; no records */
} tct_serving;

typedef struct tct_rounds {
  const tct_solver *solver;
  bool between;       /* the parties connect with each other */
  const int *allowed; /* types of frames from a party to the server, besides those before the terms */
  const int *paid;    /* likewise, those that need its records: the ledger is charged before the first */
  /* Do labels come with these parties as the solver wants them?  has[k]: party k brings some. */
  tct_status (*check_labels)(const tct_plan *plan, const tct_roster *roster, const bool *has, tct_error *err);
  /* at->bound: the party's own records, as the rounds use them. */
  tct_status (*bound)(tct_joining *at, tct_error *err);
  /* The promise of party `self`. */
  tct_status (*promise)(const tct_plan *plan, int self, tct_promise *out, tct_error *err);
  /* w[p] <- where the rounds end. */
  tct_status (*join)(tct_joining *at, double *w, tct_error *err);
  tct_status (*serve)(tct_serving *at, double *w, tct_error *err);
} tct_rounds;

extern const tct_rounds tct_rounds_dpfw, tct_rounds_gram;
const tct_rounds *tct_rounds_of(const tct_solver *solver); /* NULL: it does not run between parties */
/* For solvers whose parties all hold the labels. */
tct_status tct_rounds_all_labelled(const tct_roster *roster, const bool *has, tct_error *err);
#endif
