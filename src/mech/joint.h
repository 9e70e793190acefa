/* joint.h - a release whose noise is drawn by several: each party's part is added to its share of the sum.
 *
 * Nobody holds the sum.  A party holds a share modulo 2^64, in units of the release's lattice; it asks its gate for its
 * part of the noise, which the gate charges before it draws.  In a simulation one gate stands for all: the event is
 * charged before the first party's part, and the run is settled when every party has drawn. */
#ifndef TCT_MECH_JOINT_H
#define TCT_MECH_JOINT_H
#include "mech/mech.h"

/* share[len] += the noise of party `drawer` for release r.  With `side` set, share is the upper triangle by rows, and
 * off the diagonal a number has noise smaller by sqrt(2).  Each party draws once. */
tct_status tct_mech_join_noise(tct_mech *mech, int r, int drawer, uint64_t *share, int64_t len, tct_error *err);
/* The server's part, where one was planned (release->added > 0); sum: the opened value. */
tct_status tct_mech_join_server(tct_mech *mech, int r, uint64_t *sum, int64_t len, tct_error *err);
/* Shows the opened value to a test's probe, in the norm of the sensitivity; value[len] may be overwritten. */
tct_status tct_mech_joined(tct_mech *mech, int r, double *value, int64_t len, tct_error *err);

/* For mech.c: all that were to draw have drawn; and what a probe was kept for. */
tct_status tct_joint_settled(const tct_mech *mech, tct_error *err);
void tct_joint_forget(tct_mech *mech);
#endif
