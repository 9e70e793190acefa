/* same.c - are the ranks one program?  Digests are compared, so that no value travels or is shown.
 *
 * All ranks see the digests of all whole lists and so take the same way.  Only where these differ, rank 0 sends its
 * list, and every rank looks for its first setting that is another. */
#include "core/alloc.h"
#include "core/settings.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <string.h>

/* What a rank tells about its whole list. */
typedef struct outline {
  char version[24], digest[TCT_DIGEST_HEX];
  int64_t count;
} outline;

/* The first rank whose outline lets the lists not even be compared one by one, or 0. */
static int other_program(const outline *all, int ranks) {
  for (int r = 1; r < ranks; r++)
    if (strcmp(all[r].version, all[0].version) || all[r].count != all[0].count) return r;
  return 0;
}

static bool all_same(const outline *all, int ranks) {
  for (int r = 1; r < ranks; r++)
    if (strcmp(all[r].digest, all[0].digest) != 0) return false;
  return true;
}

/* This rank's first setting that is another than rank 0's. */
static tct_status first_difference(tct_team *team, const tct_settings *own, tct_error *err) {
  char(*first)[TCT_DIGEST_HEX] = tct_alloc(own->count + 1, sizeof *first);
  tct_status status = first ? TCT_OK : tct_fail_memory(err);
  for (int64_t k = 0; status == TCT_OK && k < own->count; k++) memcpy(first[k], own->at[k].digest, sizeof *first);
  status = tct_team_agree(team, status, err);
  if (status == TCT_OK) status = tct_team_broadcast(team, first, own->count * (int64_t)sizeof *first, 0, err);
  for (int64_t k = 0; status == TCT_OK && k < own->count; k++)
    if (strcmp(first[k], own->at[k].digest) != 0)
      status = tct_fail(err, own->status ? own->status : TCT_E_USAGE,
                        "rank %d differs from rank 0 in %s%.200s; start all ranks with the same", tct_team_own(team),
                        own->what ? own->what : "", own->at[k].name);
  tct_free(first);
  return tct_team_agree(team, status, err);
}

static tct_status compare(tct_team *team, const tct_settings *own, const outline *all, tct_error *err) {
  int ranks = tct_team_ranks(team), other = other_program(all, ranks);
  if (other)
    return tct_fail(err, TCT_E_USAGE, "rank %d runs another version of tacit than rank 0; install one on all machines",
                    other);
  if (all_same(all, ranks)) return TCT_OK;
  TCT_TRY(first_difference(team, own, err));
  return tct_fail(err, TCT_E_USAGE, "the ranks differ in their settings; start all with the same");
}

tct_status tct_team_same(tct_team *team, const tct_settings *settings, tct_error *err) {
  tct_error local = {0};
  if (tct_team_ranks(team) == 1) return TCT_OK;
  err = err ? err : &local;
  outline own = {.count = settings->count}, *all = TCT_NEW(outline, tct_team_ranks(team));
  snprintf(own.version, sizeof own.version, "%s", TCT_VERSION);
  tct_status status = all ? tct_settings_digest(settings, own.digest, err) : tct_fail_memory(err);
  status = tct_team_agree(team, status, err);
  if (status == TCT_OK) status = tct_team_gather(team, &own, all, sizeof own, err);
  if (status == TCT_OK) status = compare(team, settings, all, err);
  tct_free(all);
  return status;
}

tct_status tct_team_compare(tct_team *team, tct_status status, const char *const *names, const char *const *values,
                            size_t count, tct_error *err) {
  tct_settings list = {0};
  status = tct_team_all_well(team, status, err);
  if (status != TCT_OK || !count) return status;
  tct_error_clear(err);
  for (size_t k = 0; k < count; k++) tct_settings_text(&list, names[k], values[k]);
  status = tct_team_same(team, &list, err);
  tct_settings_free(&list);
  return status;
}
