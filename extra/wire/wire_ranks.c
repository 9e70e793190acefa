/* wire_ranks.c - a wire over the ranks that mpirun started: rank 0 the server, the others the parties.
 *
 * MPI authenticates nobody: this is for parties that share a machine room, or for tests of the protocol. */
#include "core/alloc.h"
#include "core/stop.h"
#include "wire/wire.h"
#include "ranks/ranks.h"

typedef struct ranks_state {
  tct_team *team; /* borrowed */
  double seconds;
  int pair; /* between two parties: the other one's rank; else 0 */
} ranks_state;

static int rank_of(const tct_wire *wire, int peer) {
  const ranks_state *s = wire->state;
  if (s->pair) return s->pair;
  return wire->self == TCT_SERVER ? 1 + wire->slot[peer] : 0;
}

static tct_status ranks_send(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  const ranks_state *s = wire->state;
  int64_t head = size < TCT_FRAME_HEADER ? (int64_t)size : TCT_FRAME_HEADER, rest = (int64_t)size - head;
  /* header and body apart, as they are received: a message of MPI has one length */
  TCT_TRY(tct_team_send(s->team, rank_of(wire, to), bytes, head, s->seconds, err));
  if (rest == 0) return TCT_OK;
  return tct_team_send(s->team, rank_of(wire, to), (const char *)bytes + head, rest, s->seconds, err);
}

static tct_status ranks_receive(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err) {
  const ranks_state *s = wire->state;
  return tct_team_receive(s->team, rank_of(wire, from), bytes, (int64_t)size, s->seconds, err);
}

static void ranks_close(tct_wire *wire) { tct_free(wire->state); }

static const tct_wire_backend backend = {.send = ranks_send, .receive = ranks_receive, .close = ranks_close};

tct_status tct_wire_ranks(tct_team *team, double seconds, tct_wire *wire, tct_error *err) {
  int ranks = tct_team_ranks(team), rank = tct_team_own(team);
  if (ranks < 2 || ranks > TCT_PARTIES_MAX + 1)
    return tct_fail(err, TCT_E_USAGE,
                    "parties over MPI are rank 0, the server, and 1 to %d others; start them by mpirun",
                    TCT_PARTIES_MAX);
  ranks_state *s = TCT_NEW(ranks_state, 1);
  if (!s) return tct_fail_memory(err);
  *s = (ranks_state){.team = team, .seconds = seconds};
  *wire = (tct_wire){.backend = &backend, .state = s, .self = rank - 1, .parties = ranks - 1};
  for (int k = 0; k < TCT_PARTIES_MAX; k++) wire->slot[k] = k;
  tct_team_watch(team, tct_stop_ask, NULL);
  return TCT_OK;
}

tct_status tct_wire_ranks_pair(const tct_wire *server, int other, bool first, tct_wire *out, tct_error *err) {
  const ranks_state *theirs = server->state;
  ranks_state *s = TCT_NEW(ranks_state, 1);
  if (!s) return tct_fail_memory(err);
  *s = (ranks_state){.team = theirs->team, .seconds = theirs->seconds, .pair = 1 + other};
  *out = (tct_wire){.backend = &backend, .state = s, .self = first ? TCT_SERVER : 0, .parties = 1};
  return TCT_OK;
}
