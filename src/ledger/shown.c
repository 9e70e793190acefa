/* shown.c - shows the rows to a ledger: fingerprints under its key and the registry's. */
#include "ledger/shown.h"

#include "ledger/ledger.h"
#include "ledger/registry.h"
#include "ranks/ranks.h"

#include <string.h>

tct_status tct_shown_make(const char *ledger, const tct_data *data, int threads, tct_shown *shown, tct_error *err) {
  tct_status status = TCT_OK;
  memset(shown, 0, sizeof *shown);
  if (tct_team_own(data->team) == 0) {
    status = tct_ledger_identify(ledger, shown->id, shown->key[0], err);
    if (status == TCT_OK) shown->registry = tct_registry_open(shown->key[1]);
  }
  status = tct_team_agree(data->team, status, err);
  if (status == TCT_OK) status = tct_team_broadcast(data->team, shown->key, sizeof shown->key, 0, err);
  if (status == TCT_OK) status = tct_print_make(data, shown->key, threads, shown->print, err);
  if (status != TCT_OK) tct_shown_end(shown);
  return status;
}

void tct_shown_end(tct_shown *shown) {
  if (shown->registry) fclose(shown->registry);
  tct_wipe(shown, sizeof *shown);
}
