/* dpfw_parties.h - what the files of dpfw_parties share: the settings, the two roles, and how to run them. */
#ifndef TCT_PARTIES_DPFW_PARTIES_H
#define TCT_PARTIES_DPFW_PARTIES_H
#include "la/kernels/fused.h"
#include "wire/wire_gate.h"
#include "mech/sketch.h"
#include "solve/solve.h"

extern const tct_option tct_parties_options[];

enum { TCT_PARTIES_CHOICE, TCT_PARTIES_COLUMN }; /* the releases; the scores follow, if one wins */

/* The settings of a run, from its plan. */
typedef struct tct_parties {
  int count;                                /* K */
  int64_t steps, columns, size, per_record; /* T, L, m, s */
  int64_t tau;                              /* 0: all */
  double clip;                              /* B before room for noise */
  bool widen;                               /* B makes room for the noise of the estimate */
  double feature;                           /* R_inf, enforced */
  double trust;                             /* NAN: from what was released */
  double column_noise;                      /* of the columns' release */
  double column_max;                        /* what no honest number of a sent column exceeds */
  int score;                                /* index of the scores' release */
  bool local, winner;                       /* local-exact; one winner per round */
  double radius[TCT_PARTIES_MAX];           /* eta_k; eta for each when winner */
  uint64_t seed;                            /* of the public embedding */
} tct_parties;

tct_status tct_parties_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
tct_status tct_parties_settings(const tct_facts *facts, const tct_solver_plan *plan, tct_parties *out, tct_error *err);
/* The part of the promise that party k's own gate holds, and the part that others' gates hold (share = K - 1). */
tct_status tct_parties_promise(const tct_solver_plan *plan, int parties, int gate, tct_promise *out, tct_error *err);

tct_status tct_parties_observers(const tct_facts *facts, const tct_solver_plan *plan, tct_observer *out, int *count,
                                 tct_error *err);

/* What a run says about itself; all of it public. */
typedef struct tct_parties_report {
  int64_t uplink;  /* bytes from all parties, headers included */
  int64_t columns; /* distinct columns sent */
  double trust;    /* of the last round, mean over parties */
} tct_parties_report;

/* ---- party k: every function is one turn; see dpfw_parties.c --------------------------------------- */
typedef struct tct_party {
  const tct_problem *problem; /* its own records; facts->p is the width of all together */
  const tct_parties *set;
  const tct_sketch *sketch;
  const int64_t *order; /* [rows] record i is record order[i] of the embedding; NULL: i */
  tct_wire_gate *gate;
  int64_t first, count;                   /* its columns of the view */
  double trust, clip;                     /* of this round, from the server */
  double scale;                           /* own predictions are scale * own */
  double *own;                            /* [rows] */
  double *estimate;                       /* [rows] the others' predictions, as far as they are known */
  double *margin, *slope, *column, *zero; /* [rows] */
  double *query;                          /* [2 + m] */
  double *score;                          /* [2*count] */
  int64_t *name;                          /* [2*count] 2*column + (sign < 0) */
  int64_t *order_of;                      /* [count] tau: candidates in a random order */
  unsigned char *is_sent;                 /* [count] */
  int64_t sent;                           /* how many columns are */
  int64_t chosen;                         /* this round's name */
  double *sums;                           /* [count] G_j */
  tct_fused all;
} tct_party;
/* What tells this party from the others; the fields are those of tct_party. */
typedef struct tct_party_place {
  tct_wire_gate *gate;
  const int64_t *order;
  int64_t first, count;
} tct_party_place;
/* All that is pointed to is borrowed. */
tct_status tct_party_new(const tct_problem *problem, const tct_parties *set, const tct_sketch *sketch,
                         tct_party_place place, tct_party *party, tct_error *err);
void tct_party_free(tct_party *party);
tct_status tct_party_choose(tct_party *party, tct_error *err);
tct_status tct_party_send(tct_party *party, int64_t t, tct_error *err);
/* All rounds, for a party on its own wire; w[p] receives the model. */
tct_status tct_party_run(tct_party *party, double *w, tct_error *err);

/* ---- the server; see parties_server.c --------------------------------------------------------------- */
typedef struct tct_parties_sent {
  int party;
  int64_t column; /* within its party */
  double weight;
  double *sketch; /* [m], noised */
} tct_parties_sent;
typedef struct tct_parties_server {
  const tct_facts *facts;
  const tct_parties *set;
  tct_wire *wire;
  const int64_t *width; /* [K] columns of each party */
  int64_t start[TCT_PARTIES_MAX + 1];
  double *w;              /* [p], the caller's */
  tct_parties_sent *sent; /* [K*L] */
  int64_t count;
  int64_t chosen[TCT_PARTIES_MAX]; /* this round's names */
  double score[TCT_PARTIES_MAX];
  int winner;    /* -1: all */
  double *query; /* [2 + m] */
  double trust;  /* sum over parties, this round */
} tct_parties_server;
tct_status tct_parties_server_new(const tct_facts *facts, const tct_parties *set, tct_wire *wire, const int64_t *width,
                                  double *w, tct_parties_server *server, tct_error *err);
void tct_parties_server_free(tct_parties_server *server);
tct_status tct_parties_server_open(tct_parties_server *server, tct_error *err);
tct_status tct_parties_server_judge(tct_parties_server *server, tct_error *err);
tct_status tct_parties_server_close(tct_parties_server *server, int64_t t, tct_error *err);
/* All rounds; then every party is told the model. */
tct_status tct_parties_server_run(tct_parties_server *server, const tct_problem *ticks, tct_error *err);

/* How far the estimate of the others' predictions is to be believed, and its noise; see parties_trust.c. */
typedef struct tct_parties_trust {
  double trust; /* in [0, 1] */
  double noise; /* deviation of a record's estimate */
} tct_parties_trust;
/* cosine2: mean squared cosine between columns of different parties, from what was sent, less what noise explains. */
double tct_parties_cosine2(const tct_parties_server *server);
tct_parties_trust tct_parties_trust_in(const tct_parties_server *server, double cosine2, const double *query,
                                       double weight2);

/* The whole protocol in this process, all columns in one view; mech holds the whole promise. */
tct_status tct_parties_simulate(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech, double *w,
                                tct_parties_report *report, tct_error *err);
#endif
