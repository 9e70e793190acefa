/* wire_memory.c - a wire inside one process: for simulations, tests and benches. */
#include "core/alloc.h"
#include "wire/wire.h"

#include <string.h>

typedef struct queue {
  unsigned char *bytes;
  int64_t from, to, room;
} queue;

typedef struct memory {
  int open; /* ends that are not closed yet; the last one frees */
  int parties;
  queue *up, *down; /* [parties] each */
} memory;

static queue *queue_of(tct_wire *wire, int peer, bool sending) {
  memory *m = wire->state;
  if (wire->self == TCT_SERVER) return sending ? &m->down[wire->slot[peer]] : &m->up[wire->slot[peer]];
  return sending ? &m->up[wire->self] : &m->down[wire->self];
}

static tct_status memory_send(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  queue *q = queue_of(wire, to, true);
  if (q->from == q->to) q->from = q->to = 0;
  if (q->to + (int64_t)size > q->room) {
    int64_t room = 2 * (q->to + (int64_t)size);
    unsigned char *grown = tct_grow(q->bytes, q->room, room, 1);
    if (!grown) return tct_fail_memory(err);
    q->bytes = grown;
    q->room = room;
  }
  memcpy(q->bytes + q->to, bytes, size);
  q->to += (int64_t)size;
  return TCT_OK;
}

static tct_status memory_receive(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err) {
  queue *q = queue_of(wire, from, false);
  if (q->to - q->from < (int64_t)size)
    return tct_fail(err, TCT_E_RUN, "a peer has nothing to say where a message is due; this is a fault, report it");
  memcpy(bytes, q->bytes + q->from, size);
  q->from += (int64_t)size;
  return TCT_OK;
}

static void memory_free(memory *m) {
  for (int k = 0; k < m->parties && m->up; k++) tct_wipe_free(m->up[k].bytes, m->up[k].room, 1);
  for (int k = 0; k < m->parties && m->down; k++) tct_wipe_free(m->down[k].bytes, m->down[k].room, 1);
  tct_free(m->up);
  tct_free(m->down);
  tct_free(m);
}

static void memory_close(tct_wire *wire) {
  memory *m = wire->state;
  if (--m->open == 0) memory_free(m);
}

static const tct_wire_backend backend = {.send = memory_send, .receive = memory_receive, .close = memory_close};

tct_status tct_wire_memory(int parties, tct_wire *wire, tct_error *err) {
  memory *m = TCT_NEW(memory, 1);
  if (!m) return tct_fail_memory(err);
  *m = (memory){.open = parties + 1, .parties = parties};
  m->up = TCT_NEW(queue, parties);
  m->down = TCT_NEW(queue, parties);
  if (!m->up || !m->down) {
    memory_free(m);
    return tct_fail_memory(err);
  }
  for (int i = 0; i <= parties; i++)
    wire[i] = (tct_wire){.backend = &backend, .state = m, .self = i - 1, .parties = parties};
  for (int k = 0; k < parties; k++) wire[0].slot[k] = k;
  return TCT_OK;
}
