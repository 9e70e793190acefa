/* gram_parties.h - what the files of gram_parties share: the settings, the two roles, and how to run them. */
#ifndef TCT_PARTIES_GRAM_PARTIES_H
#define TCT_PARTIES_GRAM_PARTIES_H
#include "wire/ring_share.h"
#include "solve/shared/statistics.h"
#include "solve/solve.h"

extern const tct_option tct_gram_options[];

enum { TCT_GRAM_MATRIX, TCT_GRAM_MOMENT }; /* the releases: X'X and X'y */

/* The settings of a run, from its plan. */
typedef struct tct_gram {
  int count, colluders;         /* K, T */
  bool server_noise, one_label; /* one_label: the first party alone holds the labels */
  int fraction, label_fraction; /* records are multiples of 2^-fraction, labels of 2^-label_fraction */
  double norm[TCT_PARTIES_MAX]; /* R_k, enforced by party k on its own part of every record */
  int64_t block;                /* rows that are exchanged at a time */
  tct_cleaning cleaning;
} tct_gram;

tct_status tct_gram_plan(const tct_facts *facts, const tct_spec *given, tct_solver_plan *out, tct_error *err);
tct_status tct_gram_settings(const tct_facts *facts, const tct_solver_plan *plan, tct_gram *out, tct_error *err);
/* What each observer faces of the planned events. */
tct_status tct_gram_observers(const tct_facts *facts, const tct_solver_plan *plan, tct_observer *out, int *count,
                              tct_error *err);
/* What the claim takes for granted, a sentence each. */
bool tct_gram_condition(const tct_solver_plan *plan, bool apart, int i, char text[TCT_CONDITION]);
/* The promise of one gate: that of party k (drawer k), or of a server that adds noise (TCT_GRAM_SERVER). */
enum { TCT_GRAM_SERVER = TCT_PARTIES_MAX };
tct_status tct_gram_promise(const tct_solver_plan *plan, int drawer, tct_promise *out, tct_error *err);
/* Deviation of all noise in release r. */
double tct_gram_noise(const tct_solver_plan *plan, int r);
/* Where party k's columns begin among all, the labels' column before them where one party holds it; start[K + 1].
 * width: columns of each party. */
void tct_gram_starts(const tct_gram *set, const int64_t *width, int64_t *start);
/* Numbers that are opened for p features. */
static inline int64_t tct_gram_triangle(int64_t p) { return p * (p + 1) / 2; }

/* ---- party k: every function is one turn; see gram_party.c ------------------------------------------------ */
typedef struct tct_gram_place {
  int self;
  const tct_view *view;  /* its own columns by rows, every row of norm <= norm[self] */
  const double *y;       /* [rows], |y| <= Y; NULL: this party holds no labels */
  const int64_t *row_at; /* [rows] the i-th row of all parties is row row_at[i] here; NULL: i */
  const int64_t *start;  /* tct_gram_starts */
  tct_ring_party *ring;  /* linked */
} tct_gram_place;
typedef struct tct_gram_party {
  const tct_gram *set;
  tct_gram_place place;
  int64_t width, all, rows; /* own columns, all columns with a labels' column, n */
  int64_t first, now;       /* the block that is exchanged */
  double *line;             /* [width] */
  uint64_t *x, *mask, *u;   /* [block][...]: own records, own mask, another party's u */
  uint64_t *sum;            /* [all][all] shares of products */
  uint64_t *moment;         /* [own features] X_k'y, where all hold the labels */
} tct_gram_party;
/* All that is pointed to is borrowed. */
tct_status tct_gram_party_new(const tct_gram *set, tct_gram_place place, tct_gram_party *party, tct_error *err);
void tct_gram_party_free(tct_gram_party *party);
tct_status tct_gram_party_greet(tct_gram_party *party, tct_error *err); /* public keys to all */
tct_status tct_gram_party_meet(tct_gram_party *party, tct_error *err);  /* keys of all; the seed to the server */
/* While tct_gram_party_more: hide and send the next block to all, then take the others'. */
bool tct_gram_party_more(const tct_gram_party *party);
tct_status tct_gram_party_hide(tct_gram_party *party, tct_error *err);
tct_status tct_gram_party_tell(tct_gram_party *party, int peer, tct_error *err);
tct_status tct_gram_party_take(tct_gram_party *party, int peer, tct_error *err);
void tct_gram_party_next(tct_gram_party *party);
/* Corrections, noise, a share of zero, and the share to the server. */
tct_status tct_gram_party_finish(tct_gram_party *party, tct_error *err);
/* All of these, for a party on its own wires. */
tct_status tct_gram_party_run(tct_gram_party *party, const tct_problem *ticks, tct_error *err);

/* ---- the server; see gram_server.c -------------------------------------------------------------------------- */
typedef struct tct_gram_server {
  const tct_facts *facts;
  const tct_gram *set;
  const int64_t *start;
  tct_mech *mech; /* draws the server's noise, where it was planned; with a probe, shows what was opened */
  tct_ring_server *ring;
} tct_gram_server;
/* The seeds, and the dealt products of masks. */
tct_status tct_gram_server_deal(const tct_gram_server *server, tct_error *err);
/* The shares; statistics <- what they open to.  Free with tct_statistics_free. */
tct_status tct_gram_server_open(const tct_gram_server *server, tct_statistics *out, tct_error *err);
/* w[p] <- what follows from the opened sums, with the noise of all; out is overwritten. */
tct_status tct_gram_fit(const tct_facts *facts, const tct_solver_plan *plan, tct_statistics *opened, double *w,
                        tct_error *err);

/* ---- the whole protocol in this process, all columns in one view ------------------------------------------- */
typedef struct tct_gram_stage {
  tct_gram set;
  int64_t width[TCT_PARTIES_MAX], start[TCT_PARTIES_MAX + 1];
  tct_owned_matrix columns[TCT_PARTIES_MAX];
  tct_view view[TCT_PARTIES_MAX];
  tct_wire server[TCT_PARTIES_MAX][2];                /* [k]: the server's end and party k's */
  tct_wire pair[TCT_PARTIES_MAX][TCT_PARTIES_MAX][2]; /* [j][k], j < k: party j's end and party k's */
  tct_ring_party *ring[TCT_PARTIES_MAX];
  tct_gram_party party[TCT_PARTIES_MAX];
  tct_gram_server opener;
} tct_gram_stage;
/* mech holds the whole promise.  width: the parties' columns; NULL: split evenly.  Freed by tct_gram_stage_free. */
tct_status tct_gram_stage_new(const tct_problem *problem, const tct_solver_plan *plan, tct_mech *mech,
                              const int64_t *width, tct_gram_stage **out, tct_error *err);
/* All turns; *out: what was opened, with its noise. */
tct_status tct_gram_stage_play(tct_gram_stage *stage, const tct_problem *problem, tct_statistics *out, tct_error *err);
void tct_gram_stage_free(tct_gram_stage *stage);
#endif
