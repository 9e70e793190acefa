/* ranks.h - the processes of one run: alone, or the ranks that mpirun started.
 *
 * The ranks of a team are one trusted curator: what passes between them is not a release.  Every function that is
 * marked collective is called by all ranks in the same order.  Each begins by agreeing that nobody has failed.  So a
 * rank which leaves with an error (tct_team_agree) ends the others with the same error instead of leaving them
 * waiting.  Once a failure is agreed on, every later call returns it at once.  Alone, all of them do nothing.
 *
 * NULL stands for a team of one. */
#ifndef TCT_RANKS_RANKS_H
#define TCT_RANKS_RANKS_H
#include "core/status.h"

int tct_team_ranks(const tct_team *team); /* 1 for NULL */
int tct_team_own(const tct_team *team);   /* this rank, 0 for NULL */

/* While this rank waits for others, cancel is polled.  If it says so and nothing has arrived for a moment, the wait
 * ends with an error. (mpirun asks all ranks to end when one of them has died.)  NULL: never. */
void tct_team_watch(tct_team *team, tct_cancel_fn cancel, void *user);

/* tct_team_agree.  Collective. */
tct_status tct_team_all_well(tct_team *team, tct_status status, tct_error *err);
/* x[n] <- its sum over the ranks, on all of them.  The order of the additions is not defined: for sums that are exact
 * in any order.  Collective. */
tct_status tct_team_sum(tct_team *team, double *x, int64_t n, tct_error *err);
/* The same on rank 0 alone; what the others hold in x afterwards is not defined.  Collective. */
tct_status tct_team_sum_first(tct_team *team, double *x, int64_t n, tct_error *err);
/* x[n] <- the largest over the ranks; a NaN counts as infinite.  Collective. */
tct_status tct_team_largest(tct_team *team, double *x, int64_t n, tct_error *err);
/* bytes[size] of rank `from` go to all.  Collective. */
tct_status tct_team_broadcast(tct_team *team, void *bytes, int64_t size, int from, tct_error *err);
/* all[ranks][size] <- everybody's own[size], in the order of ranks.  Collective. */
tct_status tct_team_gather(tct_team *team, const void *own, void *all, int64_t size, tct_error *err);

/* TCT_OK if this list of settings is the same on all ranks, in names, values and the library's version.  Else there is
 * one sentence for all, which names the first setting that differs and shows no value.  Collective. */
struct tct_settings;
tct_status tct_team_same(tct_team *team, const struct tct_settings *settings, tct_error *err);

/* One message to or from one rank; not collective.  They wait at most `seconds`. */
tct_status tct_team_send(tct_team *team, int to, const void *bytes, int64_t size, double seconds, tct_error *err);
tct_status tct_team_receive(tct_team *team, int from, void *bytes, int64_t size, double seconds, tct_error *err);

/* ---- transports ----------------------------------------------------------------------------------------- */

/* A transport as the library uses it. */
typedef struct tct_carrier {
  tct_transport calls;
  const int32_t *lost; /* the rank whose connection failed, or below 0; NULL: it cannot tell */
} tct_carrier;

/* A team over a carrier.  NULL: no memory, and nothing was closed. */
tct_team *tct_team_carried(const tct_carrier *carrier, tct_error *err);

/* What libtacit_mpi.so provides, loaded by mpi.c.  open sets rank and ranks. */
enum { TCT_RANKS_VERSION = 2 };
typedef struct tct_ranks {
  int version; /* TCT_RANKS_VERSION */
  int (*open)(int *rank, int *ranks);
  tct_transport calls;
} tct_ranks;

/* The table if this process was started by mpirun with more than one rank; *ranks is NULL if not.  Loads Open MPI. */
tct_status tct_ranks_load(const tct_ranks **ranks, tct_error *err);
#endif
