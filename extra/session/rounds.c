/* rounds.c - which solvers run in a session. */
#include "session/rounds.h"

static const tct_rounds *const all[] = {&tct_rounds_dpfw, &tct_rounds_gram};

const tct_rounds *tct_rounds_of(const tct_solver *solver) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i]->solver == solver) return all[i];
  return NULL;
}

tct_status tct_rounds_all_labelled(const tct_roster *roster, const bool *has, tct_error *err) {
  for (int k = 0; k < roster->count; k++)
    if (!has[k])
      return tct_fail(err, TCT_E_USAGE, "'%.60s' brings no labels, which every party needs; give it {label}",
                      roster->name[k]);
  return TCT_OK;
}
