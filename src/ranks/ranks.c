/* ranks.c - a team of ranks that fail together: every collective call first agrees that nobody has failed. */
#include "ranks/ranks.h"

#include "core/alloc.h"

#include <limits.h>
#include <math.h>
#include <string.h>

struct tct_team {
  int rank, ranks;
  const tct_ranks *wire; /* NULL alone */
  tct_patience patience;
  bool over, broken; /* a failure was agreed on; the ranks can no longer be reached */
  tct_error end;     /* that failure */
};

int tct_team_ranks(const tct_team *team) { return team ? team->ranks : 1; }
int tct_team_own(const tct_team *team) { return team ? team->rank : 0; }

tct_team *tct_team_new(tct_error *err) {
  tct_error_clear(err);
  const tct_ranks *wire = NULL;
  tct_team *team = TCT_NEW(tct_team, 1);
  if (!team) {
    tct_fail_memory(err);
    return NULL;
  }
  team->ranks = 1;
  team->patience.seconds = INFINITY;
  tct_status status = tct_ranks_load(&wire, err);
  if (status == TCT_OK && wire && wire->open(&team->rank, &team->ranks) != TCT_RANKS_DONE)
    status = tct_fail(err, TCT_E_RUN, "Open MPI could not start; start the program with mpirun, or alone");
  if (status == TCT_OK) {
    team->wire = wire;
    return team;
  }
  tct_free(team);
  return NULL;
}

void tct_team_free(tct_team *team) {
  if (team && team->wire) team->wire->close(!team->broken);
  tct_free(team);
}

int tct_team_rank(const tct_team *team) { return tct_team_own(team); }
int tct_team_size(const tct_team *team) { return tct_team_ranks(team); }

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
  tct_error why = {0};
  if (outcome == TCT_RANKS_DONE) return TCT_OK;
  team->broken = true;
  tct_fail(
      &why, TCT_E_RUN,
      "another rank of this run has ended or does not answer; no model was made and a charged budget stays charged");
  return end_with(team, &why, err);
}

/* Returns TCT_OK if no rank has failed, else the failure of the lowest rank that has, on all ranks. */
static tct_status agree(tct_team *team, const tct_error *own, tct_error *err) {
  if (team->over) return ended(team, err);
  int first = own ? team->rank : INT_MAX;
  TCT_TRY(done(team, team->wire->smallest(&first, &team->patience), err));
  if (first == INT_MAX) return TCT_OK;
  tct_error why = {0};
  if (own) why = *own;
  TCT_TRY(done(team, team->wire->broadcast(&why, sizeof why, first, &team->patience), err));
  return end_with(team, &why, err);
}

tct_status tct_team_agree(tct_team *team, tct_status status, tct_error *err) {
  if (alone(team)) return status;
  tct_error own = {0};
  if (status != TCT_OK && err) own = *err;
  own.status = status;
  return agree(team, status == TCT_OK ? NULL : &own, err);
}

tct_status tct_team_sum(tct_team *team, double *x, int64_t n, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire->sum(x, n, &team->patience), err);
}

tct_status tct_team_sum_first(tct_team *team, double *x, int64_t n, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire->sum_first(x, n, &team->patience), err);
}

tct_status tct_team_largest(tct_team *team, double *x, int64_t n, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire->largest(x, n, &team->patience), err);
}

tct_status tct_team_broadcast(tct_team *team, void *bytes, int64_t size, int from, tct_error *err) {
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire->broadcast(bytes, size, from, &team->patience), err);
}

tct_status tct_team_gather(tct_team *team, const void *own, void *all, int64_t size, tct_error *err) {
  if (alone(team)) memcpy(all, own, (size_t)size);
  if (alone(team)) return TCT_OK;
  TCT_TRY(agree(team, NULL, err));
  return done(team, team->wire->gather(own, all, size, &team->patience), err);
}

static tct_status late(tct_team *team, int outcome, int peer, tct_error *err) {
  if (outcome == TCT_RANKS_DONE) return TCT_OK;
  team->broken = true;
  return tct_fail(err, TCT_E_RUN, "rank %d has ended or does not answer; look at its own message", peer);
}

static tct_status check_peer(const tct_team *team, int peer, tct_error *err) {
  if (!alone(team) && peer >= 0 && peer < team->ranks && peer != team->rank && !team->broken) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "rank %d cannot be reached; start that many ranks with mpirun", peer);
}

tct_status tct_team_send(tct_team *team, int to, const void *bytes, int64_t size, double seconds, tct_error *err) {
  TCT_TRY(check_peer(team, to, err));
  tct_patience patience = team->patience;
  patience.seconds = seconds;
  return late(team, team->wire->send(to, bytes, size, &patience), to, err);
}

tct_status tct_team_receive(tct_team *team, int from, void *bytes, int64_t size, double seconds, tct_error *err) {
  TCT_TRY(check_peer(team, from, err));
  tct_patience patience = team->patience;
  patience.seconds = seconds;
  return late(team, team->wire->receive(from, bytes, size, &patience), from, err);
}
