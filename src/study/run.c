/* run.c - the gate of a stage: opened for its promise, handed to what may spend it, and settled. */
#include "study/study.h"

#include "core/stop.h"

tct_gate tct_gate_of(const tct_promise *promise, tct_neighbours neighbours, const tct_config *run) {
  return (tct_gate){promise, neighbours, run->has_seed ? &run->seed : NULL, .settles = true};
}

tct_status tct_gate_run(const tct_gate *gate, tct_spender spend, void *user, tct_error *err) {
  tct_mech *mech = NULL;
  TCT_TRY(tct_mech_new(gate->promise, gate->neighbours, gate->seed, &mech, err));
  if (gate->threads > 0) tct_mech_use_threads(mech, gate->threads);
  tct_status status = tct_mech_join_ranks(mech, gate->team, err);
  if (status == TCT_OK) status = spend(mech, user, err);
  if (status == TCT_OK && gate->settles) status = tct_mech_spent_exactly(mech, err);
  tct_mech_free(mech);
  return tct_stopping() ? tct_fail_cancelled(err) : status; /* whatever the stage made of it */
}
