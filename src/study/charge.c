/* charge.c - the one charge of a run: the rows are shown to the ledger, and its promise is on disk before a gate opens.
 */
#include "study/charge.h"

#include "core/alloc.h"
#include "ledger/registry.h"
#include "ledger/shown.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <string.h>

/* Both sentences, owned, of which either may be NULL; takes them over. */
static char *both(char *first, char *second) {
  if (!first || !second) return first ? first : second;
  size_t size = strlen(first) + strlen(second) + 3;
  char *text = TCT_NEW(char, (int64_t)size);
  if (text) snprintf(text, size, "%s; %s", first, second);
  tct_free(first);
  tct_free(second);
  return text;
}

static tct_status charge(const tct_config *config, const tct_shown *shown, tct_ledger_promise *run,
                         tct_ledger_receipt *receipt, char **warning, tct_error *err) {
  run->print = &shown->print[0];
  run->key = shown->key[0];
  run->declared_part = config->input_part != 0;
  run->input_changed = config->input_changed;
  TCT_TRY(tct_ledger_promise_run(config->ledger, run, receipt, err));
  *warning = receipt->warning, receipt->warning = NULL;
  if (!receipt->for_tests && !(run->reserve > 0)) *warning = both(*warning, tct_registry_add(shown, config->ledger));
  return TCT_OK;
}

tct_status tct_charge_run(const tct_config *config, const tct_data *data, tct_ledger_promise *run,
                          tct_ledger_receipt *receipt, char **warning, tct_error *err) {
  tct_shown shown;
  if (!config->ledger) return TCT_OK;
  tct_status status = tct_shown_make(config->ledger, data, config->threads, &shown, err);
  status = tct_team_agree(data->team, status, err);
  if (status == TCT_OK && tct_team_own(data->team) == 0) status = charge(config, &shown, run, receipt, warning, err);
  tct_shown_end(&shown);
  return tct_team_agree(data->team, status, err);
}
