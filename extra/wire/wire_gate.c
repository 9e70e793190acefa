/* wire_gate.c - paid for, charged, drawn, sent: in this order.
 *
 * DISTRIBUTION  Those of the gate (mech.c): nothing is drawn here.
 *
 * PROOF  A party's messages of a run are the values that its gate returned, and a gate charges before it draws.  The
 * wire is asked first: it has the ledger charged with the whole run.  Names of candidates are data-independent by the
 * caller's duty.  A value that was drawn and could not be sent stays charged.
 *
 * ROUNDING  None: releases are doubles, sent bit for bit. */
#include "wire/wire_gate.h"

tct_status tct_wire_gate_choose(tct_wire_gate *share, int r, const double *score, const int64_t *name, int64_t count,
                                int64_t *index, tct_error *err) {
  TCT_TRY(tct_wire_clear(share->wire, TCT_SAY_CHOICE, err));
  TCT_TRY(tct_mech_choose(share->mech, r, score, count, index, err));
  double sent = (double)name[*index];
  return tct_wire_send_reals(share->wire, TCT_SERVER, TCT_SAY_CHOICE, &sent, 1, err);
}

tct_status tct_wire_gate_release(tct_wire_gate *share, int type, int r, double *sum, int64_t len, tct_error *err) {
  TCT_TRY(tct_wire_clear(share->wire, type, err));
  TCT_TRY(tct_mech_release(share->mech, r, sum, len, err));
  return tct_wire_send_reals(share->wire, TCT_SERVER, type, sum, len, err);
}
