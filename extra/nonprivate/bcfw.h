/* bcfw.h - the blocks of bcfw and how they are drawn. */
#ifndef TCT_NONPRIVATE_BCFW_H
#define TCT_NONPRIVATE_BCFW_H
#include "solve/solve.h"

extern const tct_option tct_bcfw_options[];

typedef enum tct_bcfw_sampling {
  TCT_BCFW_ELEMENTARY,  /* all blocks */
  TCT_BCFW_SERIAL,      /* one block, uniformly */
  TCT_BCFW_NICE,        /* tau blocks, uniformly */
  TCT_BCFW_DISTRIBUTED, /* tau blocks of each party's */
  TCT_BCFW_ARBITRARY,   /* block i with probability p_i, independently */
} tct_bcfw_sampling;

typedef struct tct_bcfw {
  bool box, simplex, search;
  int64_t blocks, steps, tau, parties;
  double tol;
  double gradient_error, oracle_error; /* times gamma: how inexact both are */
  tct_bcfw_sampling sampling;
  int64_t *start;      /* [blocks+1] first coordinate of each block */
  double *radius;      /* [blocks] l1 ball */
  double *probability; /* [blocks] that a block is drawn */
  double min;          /* p_min */
  int64_t *order;      /* [blocks] a permutation; each party's blocks stay together */
  int64_t *drawn;      /* [blocks] */
  uint64_t coins;      /* public coins tossed so far */
  double *workspace;   /* [rows], of the run */
} tct_bcfw;

/* The blocks and the sampling that a spec asks for; refuses in a sentence what is not sound. */
tct_status tct_bcfw_new(const tct_facts *facts, const tct_spec *spec, tct_bcfw *out, tct_error *err);
void tct_bcfw_free(tct_bcfw *b);
/* Draws the next set into b->drawn; returns its size. */
int64_t tct_bcfw_draw(tct_bcfw *b, tct_mech *mech);
#endif
