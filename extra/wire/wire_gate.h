/* wire_gate.h - what crosses between parties that do not trust each other: charged releases, and public values.
 *
 * A party's solver sends in no other way: a release, drawn by the gate, which charges it first, or nothing.  What the
 * server sends (tct_wire_send_reals) is computed from releases and public facts. */
#ifndef TCT_WIRE_WIRE_GATE_H
#define TCT_WIRE_WIRE_GATE_H
#include "mech/mech.h"
#include "wire/wire.h"

/* A party's wire and its gate. */
typedef struct tct_wire_gate {
  tct_wire *wire;
  tct_mech *mech;
} tct_wire_gate;

/* Message types of a round; those from TCT_SAY_SESSION on belong to the session around the solver (session/). */
enum {
  TCT_SAY_ROUND = 1,   /* server: what the next round needs */
  TCT_SAY_CHOICE = 2,  /* party: a signed index, one number */
  TCT_SAY_SCORE = 3,   /* party: its noised score, one number */
  TCT_SAY_VERDICT = 4, /* server: whose choice holds, one number */
  TCT_SAY_COLUMN = 5,  /* party: a noised sketch, m numbers */
  TCT_SAY_DONE = 6,    /* server: the model */
  TCT_SAY_SESSION = 32
};

/* Party: chooses index j of count (tct_mech_choose), and sends name[j], which is not computed from rows.  *index: j. */
tct_status tct_wire_gate_choose(tct_wire_gate *share, int r, const double *score, const int64_t *name, int64_t count,
                                int64_t *index, tct_error *err);
/* Party: noises the sum (tct_mech_release), and sends it. */
tct_status tct_wire_gate_release(tct_wire_gate *share, int type, int r, double *sum, int64_t len, tct_error *err);
#endif
