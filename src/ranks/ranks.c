/* ranks.c - a team of ranks that fail together: every collective call first agrees that nobody has failed. */
#include "ranks/ranks.h"

#include "core/alloc.h"

#include <math.h>
#include <string.h>

struct tct_team {
  int rank, ranks;
  tct_transport wire;  /* not used alone */
  const int32_t *lost; /* as in tct_carrier */
  tct_patience patience;
  bool over, broken; /* a failure was agreed on; the ranks can no longer be reached */
  tct_error end;     /* that failure */
};

int tct_team_ranks(const tct_team *team) { return team ? team->ranks : 1; }
int tct_team_own(const tct_team *team) { return team ? team->rank : 0; }

tct_team *tct_team_carried(const tct_carrier *carrier, tct_error *err) {
  tct_team *team = TCT_NEW(tct_team, 1);
  if (!team) {
    tct_fail_memory(err);
    return NULL;
  }
  *team = (tct_team){.rank = carrier->calls.rank,
                     .ranks = carrier->calls.ranks,
                     .wire = carrier->calls,
                     .lost = carrier->lost,
                     .patience = {.size = sizeof team->patience, .seconds = INFINITY}};
  return team;
}

tct_team *tct_team_new(tct_error *err) {
  const tct_ranks *found = NULL;
  tct_carrier carrier = {.calls = {.ranks = 1}};
  tct_error_clear(err);
  if (tct_ranks_load(&found, err) != TCT_OK) return NULL;
  if (found) carrier.calls = found->calls;
  if (found && found->open(&carrier.calls.rank, &carrier.calls.ranks) != TCT_TRANSPORT_DONE) {
    tct_fail(err, TCT_E_RUN, "Open MPI could not start; start the program with mpirun, or alone");
    return NULL;
  }
  tct_team *team = tct_team_carried(&carrier, err);
  if (!team && found) carrier.calls.close(carrier.calls.state, 0);
  return team;
}

void tct_team_free(tct_team *team) {
  if (team && team->wire.close) team->wire.close(team->wire.state, !team->broken);
  tct_free(team);
}

int tct_team_rank(const tct_team *team, int *ranks) {
  if (ranks) *ranks = tct_team_ranks(team);
  return tct_team_own(team);
}

void tct_team_watch(tct_team *team, tct_cancel_fn cancel, void *user) {
  if (!team) return;
  team->patience.cancel = cancel;
  team->patience.user = user;
}

static bool alone(const tct_team *team) { return !team || team->ranks == 1; }

static tct_status ended(const tct_team *team, tct_error *err) {
  if (err) *err = team->end;
  return team->end.status;
}

static tct_status end_with(tct_team *team, const tct_error *why, tct_error *err) {
  team->over = true;
  team->end = *why;
  return ended(team, err);
}

/* A call of the wire; what went wrong with the wire itself ends the team here. */
static tct_status done(tct_team *team, int outcome, tct_error *err) {
  static const char after[] = "no model was made and a charged budget stays charged";
  tct_error why = {0};
  if (outcome == TCT_TRANSPORT_DONE) return TCT_OK;
  team->broken = true;
  if (outcome == TCT_TRANSPORT_DAMAGED)
    tct_fail(&why, TCT_E_RUN, "what another rank sent was lost or damaged on its way; %s; look at what carries it",
             after);
  else if (team->lost && *team->lost >= 0)
    tct_fail(&why, TCT_E_RUN, "rank %d of this run has ended or does not answer; %s", (int)*team->lost, after);
  else
    tct_fail(&why, TCT_E_RUN, "another rank of this run has ended or does not answer; %s", after);
  return end_with(team, &why, err);
}

/* Returns TCT_OK if no rank has failed, else the failure of the lowest rank that has, on all ranks. */
static tct_status agree(tct_team *team, const tct_error *own, tct_error *err) {
  if (team->over) return ended(team, err);
  int32_t first = own ? team->rank : INT32_MAX;
  TCT_TRY(done(team, team->wire.smallest(team->wire.state, &first, &team->patience), err));
  if (first == INT32_MAX) return TCT_OK;
  tct_error why = {0};
  if (own) why = *own;
  if (first < 0 || first >= team->ranks) return done(team, TCT_TRANSPORT_DAMAGED, err);
  TCT_TRY(done(team, team->wire.broadcast(team->wire.state, &why, sizeof why, first, &team->patience), err));
  return end_with(team, &why, err);
}

tct_status tct_team_all_well(tct_team *team, tct_status status, tct_error *err) {
  if (alone(team)) return status;
  tct_error own = {0};
  if (status != TCT_OK && err) own = *err;
  own.status = status;
  return agree(team, status == TCT_OK ? NULL : &own, err);
}

tct_status tct_team_sum(tct_team *team, double *x, int64_t n, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire.sum(team->wire.state, x, n, &team->patience), err);
}

tct_status tct_team_sum_first(tct_team *team, double *x, int64_t n, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire.sum_first(team->wire.state, x, n, &team->patience), err);
}

tct_status tct_team_largest(tct_team *team, double *x, int64_t n, tct_error *err) {
  if (alone(team)) return TCT_OK;
  for (int64_t j = 0; j < n; j++) x[j] = isnan(x[j]) ? INFINITY : x[j]; /* transports differ on NaN */
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire.largest(team->wire.state, x, n, &team->patience), err);
}

tct_status tct_team_broadcast(tct_team *team, void *bytes, int64_t size, int from, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire.broadcast(team->wire.state, bytes, size, from, &team->patience), err);
}

tct_status tct_team_gather(tct_team *team, const void *own, void *all, int64_t size, tct_error *err) {
  if (alone(team)) memcpy(all, own, (size_t)size);
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire.gather(team->wire.state, own, all, size, &team->patience), err);
}

static tct_status late(tct_team *team, int outcome, int peer, tct_error *err) {
  if (outcome == TCT_TRANSPORT_DONE) return TCT_OK;
  team->broken = true;
  return tct_fail(err, TCT_E_RUN, "rank %d has ended or does not answer; look at its own message", peer);
}

static tct_status check_peer(const tct_team *team, int peer, tct_error *err) {
  bool there = !alone(team) && peer >= 0 && peer < team->ranks && peer != team->rank && !team->broken;
  if (there && team->wire.send && team->wire.receive) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "rank %d cannot be reached; start that many ranks with mpirun", peer);
}

tct_status tct_team_send(tct_team *team, int to, const void *bytes, int64_t size, double seconds, tct_error *err) {
  TCT_TRY(check_peer(team, to, err));
  tct_patience patience = team->patience;
  patience.seconds = seconds;
  return late(team, team->wire.send(team->wire.state, to, bytes, size, &patience), to, err);
}

tct_status tct_team_receive(tct_team *team, int from, void *bytes, int64_t size, double seconds, tct_error *err) {
  TCT_TRY(check_peer(team, from, err));
  tct_patience patience = team->patience;
  patience.seconds = seconds;
  return late(team, team->wire.receive(team->wire.state, from, bytes, size, &patience), from, err);
}
