/* guarded.c - a transport that a program brought along, with marks around all that passes.
 *
 * Such a transport may lose a frame and say that all is well.  Its buffer then holds zeros, or a rank's own numbers, or
 * those of another call, and a release would be wrong without a word.  So every vector travels between two marks that
 * depend on the call and on the ranks.  A result whose marks are not what all ranks together make ends the run. */
#include "core/alloc.h"
#include "core/sized.h"
#include "ranks/ranks.h"

#include <string.h>

/* Marks are doubles: in a sum each becomes ranks times as large, exactly. */
enum { MARKS = 2, BYTES = 16, UNSET = 0xA5 };

typedef enum call { SUM = 1, SUM_FIRST, LARGEST, BROADCAST, GATHER } call;

typedef struct guard {
  tct_transport outer;
  uint64_t calls; /* so far, the same on all ranks */
  double *room;
  int64_t size; /* of the room, in doubles */
} guard;

static double *room(guard *g, int64_t doubles) {
  if (doubles > g->size) {
    double *larger = tct_alloc_unset(doubles, sizeof *larger);
    if (!larger) return NULL;
    tct_wipe_free(g->room, g->size, sizeof *g->room);
    g->room = larger;
    g->size = doubles;
  }
  return g->room;
}

/* Below 2^53/4096, so that sums over ranks are exact. */
static double number_of(const guard *g, call kind) { return (double)((g->calls % (1ULL << 36)) * 8 + kind); }

static int guarded_smallest(void *state, int32_t *x, const tct_patience *patience) {
  guard *g = state;
  int32_t own = *x;
  g->calls++;
  int outcome = g->outer.smallest(g->outer.state, x, patience);
  return outcome == TCT_TRANSPORT_DONE && *x > own ? TCT_TRANSPORT_DAMAGED : outcome;
}

static bool both_ends(const double *all, int64_t n, double first, double second) {
  const double *end = all + MARKS + n;
  return all[0] == first && all[1] == second && end[0] == first && end[1] == second;
}

static void mark(double *all, const double *x, int64_t n, double first, double second) {
  if (n > 0) memcpy(all + MARKS, x, (size_t)n * sizeof *x);
  all[0] = all[MARKS + n] = first;
  all[1] = all[MARKS + n + 1] = second;
}

static int add(guard *g, call kind, double *x, int64_t n, const tct_patience *patience) {
  double ranks = g->outer.ranks, number = number_of(g, kind);
  double *all = room(g, n + 2 * MARKS);
  bool first = kind == SUM_FIRST && g->outer.sum_first;
  g->calls++;
  if (!all) return TCT_TRANSPORT_FAILED;
  mark(all, x, n, 1, number);
  int outcome = (first ? g->outer.sum_first : g->outer.sum)(g->outer.state, all, n + 2 * MARKS, patience);
  if (outcome != TCT_TRANSPORT_DONE || (first && g->outer.rank > 0)) return outcome;
  if (!both_ends(all, n, ranks, ranks * number)) return TCT_TRANSPORT_DAMAGED;
  if (n > 0) memcpy(x, all + MARKS, (size_t)n * sizeof *x);
  return TCT_TRANSPORT_DONE;
}

static int guarded_sum(void *state, double *x, int64_t n, const tct_patience *patience) {
  return add(state, SUM, x, n, patience);
}
static int guarded_sum_first(void *state, double *x, int64_t n, const tct_patience *patience) {
  return add(state, SUM_FIRST, x, n, patience);
}

/* No rank holds both marks of the result: one grows with the rank, the other shrinks. */
static int guarded_largest(void *state, double *x, int64_t n, const tct_patience *patience) {
  guard *g = state;
  double number = 4096 * number_of(g, LARGEST), rank = g->outer.rank;
  double *all = room(g, n + 2 * MARKS);
  g->calls++;
  if (!all) return TCT_TRANSPORT_FAILED;
  mark(all, x, n, number + rank, number - rank);
  int outcome = g->outer.largest(g->outer.state, all, n + 2 * MARKS, patience);
  if (outcome != TCT_TRANSPORT_DONE) return outcome;
  if (!both_ends(all, n, number + g->outer.ranks - 1, number)) return TCT_TRANSPORT_DAMAGED;
  if (n > 0) memcpy(x, all + MARKS, (size_t)n * sizeof *x);
  return TCT_TRANSPORT_DONE;
}

/* The 16 bytes before and after a rank's bytes. */
static void sign(unsigned char mark[BYTES], const guard *g, call kind, int64_t size, int32_t rank) {
  double number = number_of(g, kind), length = (double)size * 4096 + rank + 1;
  memcpy(mark, &number, 8);
  memcpy(mark + 8, &length, 8);
}

static int guarded_broadcast(void *state, void *bytes, int64_t size, int32_t from, const tct_patience *patience) {
  guard *g = state;
  unsigned char own[BYTES], *all = (unsigned char *)room(g, (size + 2 * BYTES + 7) / 8);
  if (!all) return TCT_TRANSPORT_FAILED;
  sign(own, g, BROADCAST, size, from);
  g->calls++;
  memset(all, UNSET, (size_t)size + 2 * BYTES);
  if (from == g->outer.rank) {
    memcpy(all, own, BYTES);
    if (size > 0) memcpy(all + BYTES, bytes, (size_t)size);
    memcpy(all + BYTES + size, own, BYTES);
  }
  int outcome = g->outer.broadcast(g->outer.state, all, size + 2 * BYTES, from, patience);
  if (outcome != TCT_TRANSPORT_DONE) return outcome;
  if (memcmp(all, own, BYTES) != 0 || memcmp(all + BYTES + size, own, BYTES) != 0) return TCT_TRANSPORT_DAMAGED;
  if (from != g->outer.rank && size > 0) memcpy(bytes, all + BYTES, (size_t)size);
  return TCT_TRANSPORT_DONE;
}

static int guarded_gather(void *state, const void *own, void *all, int64_t size, const tct_patience *patience) {
  guard *g = state;
  int64_t each = size + 2 * BYTES;
  unsigned char *mine = (unsigned char *)room(g, (each * (g->outer.ranks + 1) + 7) / 8), expected[BYTES];
  if (!mine) return TCT_TRANSPORT_FAILED;
  unsigned char *got = mine + each;
  memset(got, UNSET, (size_t)(each * g->outer.ranks));
  sign(expected, g, GATHER, size, g->outer.rank);
  memcpy(mine, expected, BYTES);
  memcpy(mine + BYTES, own, (size_t)size);
  memcpy(mine + BYTES + size, expected, BYTES);
  int outcome = g->outer.gather(g->outer.state, mine, got, each, patience);
  for (int32_t r = 0; r < g->outer.ranks && outcome == TCT_TRANSPORT_DONE; r++, got += each) {
    sign(expected, g, GATHER, size, r);
    if (memcmp(got, expected, BYTES) != 0 || memcmp(got + BYTES + size, expected, BYTES) != 0)
      outcome = TCT_TRANSPORT_DAMAGED;
    else
      memcpy((unsigned char *)all + r * size, got + BYTES, (size_t)size);
  }
  g->calls++;
  return outcome;
}

static int guarded_send(void *state, int32_t to, const void *bytes, int64_t size, const tct_patience *patience) {
  const guard *g = state;
  return g->outer.send(g->outer.state, to, bytes, size, patience);
}

static int guarded_receive(void *state, int32_t from, void *bytes, int64_t size, const tct_patience *patience) {
  const guard *g = state;
  return g->outer.receive(g->outer.state, from, bytes, size, patience);
}

static void guarded_close(void *state, int32_t clean) {
  guard *g = state;
  if (g->outer.close) g->outer.close(g->outer.state, clean);
  tct_wipe_free(g->room, g->size, sizeof *g->room);
  tct_free(g);
}

/* ---- the team ---------------------------------------------------------------------------------------------- */

enum { MOST_RANKS = 4096 };

static const tct_sized transport_kind = TCT_SIZED(tct_transport, close, "set size to sizeof(tct_transport)");

static tct_status check(const tct_transport *t, tct_error *err) {
  if (t->ranks < 2 || t->ranks > MOST_RANKS || t->rank < 0 || t->rank >= t->ranks)
    return tct_fail(err, TCT_E_USAGE, "a transport connects 2 to %d ranks, and this is one of them; set rank and ranks",
                    MOST_RANKS);
  if (!t->smallest || !t->sum || !t->largest || !t->broadcast || !t->gather)
    return tct_fail(err, TCT_E_USAGE,
                    "a call of the transport is missing; give smallest, sum, largest, broadcast and gather");
  return TCT_OK;
}

static tct_transport guarded(guard *g) {
  return (tct_transport){.size = sizeof(tct_transport),
                         .rank = g->outer.rank,
                         .ranks = g->outer.ranks,
                         .state = g,
                         .smallest = guarded_smallest,
                         .sum = guarded_sum,
                         .sum_first = guarded_sum_first,
                         .largest = guarded_largest,
                         .broadcast = guarded_broadcast,
                         .gather = guarded_gather,
                         .send = g->outer.send ? guarded_send : NULL,
                         .receive = g->outer.receive ? guarded_receive : NULL,
                         .close = guarded_close};
}

tct_team *tct_team_over(const tct_transport *transport, tct_error *err) {
  tct_transport own = {0};
  tct_error_clear(err);
  if (tct_sized_take(&transport_kind, transport, &own, err) != TCT_OK || check(&own, err) != TCT_OK) return NULL;
  guard *g = TCT_NEW(guard, 1);
  tct_team *team = NULL;
  if (g) {
    g->outer = own;
    team = tct_team_carried(&(tct_carrier){.calls = guarded(g)}, err);
  } else {
    tct_fail_memory(err);
  }
  if (!team) tct_free(g);
  return team;
}
