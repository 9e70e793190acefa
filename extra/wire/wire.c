/* wire.c - framing: what is common to all wires between parties. */
#include "wire/wire.h"

#include "core/alloc.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

static const char magic[4] = {'T', 'C', 'T', '1'};

static void put(unsigned char *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}
static uint64_t get(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

static void header_of(unsigned char *header, int type, int role, uint64_t number, uint64_t size) {
  memcpy(header, magic, 4);
  put(header + 4, (uint64_t)type, 2);
  put(header + 6, (uint64_t)role, 2);
  put(header + 8, number, 8);
  put(header + 16, size, 8);
}

static bool is_listed(const int *types, int type) {
  for (const int *each = types; each && *each; each++)
    if (*each == type) return true;
  return false;
}

tct_status tct_wire_clear(tct_wire *wire, int type, tct_error *err) {
  if (!wire->allowed || type == TCT_FRAME_FAILURE || is_listed(wire->allowed, type)) return TCT_OK;
  if (is_listed(wire->paid, type)) return wire->pay(wire->pay_user, err);
  return tct_fail(err, TCT_E_RUN, "a message of type %d does not belong on this wire; nothing was sent, report this",
                  type);
}

/* The frame of a body, checked and shown to the log; the caller frees it. */
static tct_status frame_new(tct_wire *wire, int to, int type, const void *body, size_t size, unsigned char **out,
                            tct_error *err) {
  TCT_TRY(tct_wire_clear(wire, type, err));
  size_t length = TCT_FRAME_HEADER + size;
  unsigned char *frame = *out = tct_alloc((int64_t)length, 1);
  if (!frame) return tct_fail_memory(err);
  header_of(frame, type, wire->self == TCT_SERVER ? 1 : 2, wire->sent[to + 1], size);
  if (size > 0) memcpy(frame + TCT_FRAME_HEADER, body, size);
  tct_status status = wire->log ? wire->log(wire->log_user, to, frame, length, err) : TCT_OK;
  if (status == TCT_OK) return TCT_OK;
  tct_wipe_free(frame, (int64_t)length, 1);
  *out = NULL;
  return status;
}

static void count_sent(tct_wire *wire, int to, size_t length) {
  wire->sent[to + 1]++;
  wire->bytes_sent += (int64_t)length;
}

tct_status tct_wire_send(tct_wire *wire, int to, int type, const void *body, size_t size, tct_error *err) {
  unsigned char *frame = NULL;
  size_t length = TCT_FRAME_HEADER + size;
  TCT_TRY(frame_new(wire, to, type, body, size, &frame, err));
  tct_status status = wire->backend->send(wire, to, frame, length, err);
  tct_wipe_free(frame, (int64_t)length, 1);
  if (status == TCT_OK) count_sent(wire, to, length);
  return status;
}

void tct_wire_send_failure(tct_wire *wire, int to, const char *sentence) {
  char text[512];
  snprintf(text, sizeof text, "%s", sentence);
  tct_wire_send(wire, to, TCT_FRAME_FAILURE, text, strlen(text), NULL);
}

/* The peer says why it stops. */
static tct_status peer_failed(tct_wire *wire, int from, uint64_t size, tct_error *err) {
  char text[513] = "", name[sizeof wire->peer];
  if (size >= sizeof text) return tct_fail(err, TCT_E_RUN, "the peer stopped, and its reason is too long; ask there");
  TCT_TRY(wire->backend->receive(wire, from, text, (size_t)size, err));
  wire->peer_spoke = true;
  if (from == TCT_SERVER && !wire->peer[0]) return tct_fail(err, TCT_E_RUN, "the server says: {%s}", text);
  tct_wire_peer(wire, from, name, sizeof name);
  return tct_fail(err, TCT_E_RUN, "party '%.60s' says: {%s}", name, text);
}

/* Everything in the header but the length is known beforehand. */
static tct_status judge_header(tct_wire *wire, int from, int type, const unsigned char *header, uint64_t *size,
                               tct_error *err) {
  unsigned char expected[TCT_FRAME_HEADER];
  *size = get(header + 16, 8);
  header_of(expected, type, from == TCT_SERVER ? 1 : 2, wire->received[from + 1], *size);
  if (memcmp(header, expected, 4) != 0)
    return tct_fail(err, TCT_E_RUN, "what the peer sent is no message of this program; check that both ends run tacit");
  if (get(header + 4, 2) == TCT_FRAME_FAILURE) return peer_failed(wire, from, *size, err);
  if (memcmp(header + 4, expected + 4, 4) != 0)
    return tct_fail(err, TCT_E_RUN,
                    "the peer sent message type %d where type %d is due; check that both ends run the same version",
                    (int)get(header + 4, 2), type);
  if (memcmp(header + 8, expected + 8, 8) != 0)
    return tct_fail(err, TCT_E_RUN, "a message arrived out of its turn: it was replayed, or one was lost; start again");
  return TCT_OK;
}

static tct_status next_header(tct_wire *wire, int from, int type, uint64_t *size, tct_error *err) {
  unsigned char header[TCT_FRAME_HEADER];
  TCT_TRY(wire->backend->receive(wire, from, header, sizeof header, err));
  return judge_header(wire, from, type, header, size, err);
}

static tct_status check_length(uint64_t length, size_t size, tct_error *err) {
  if (length == size) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "the peer sent a message of another length than is due; check that both ends agree");
}

static void count_received(tct_wire *wire, int from, size_t size) {
  wire->received[from + 1]++;
  wire->bytes_received += (int64_t)(TCT_FRAME_HEADER + size);
}

tct_status tct_wire_receive(tct_wire *wire, int from, int type, void *body, size_t size, tct_error *err) {
  uint64_t length = 0;
  TCT_TRY(next_header(wire, from, type, &length, err));
  TCT_TRY(check_length(length, size, err));
  if (size > 0) TCT_TRY(wire->backend->receive(wire, from, body, size, err));
  count_received(wire, from, size);
  return TCT_OK;
}

/* Header, then body, while the own frame leaves; what is left of that goes last. */
static tct_status pump(tct_wire *wire, int peer, const tct_swap *s, tct_tls_swap *out, tct_error *err) {
  unsigned char header[TCT_FRAME_HEADER];
  uint64_t length = 0;
  out->in = header, out->in_size = sizeof header;
  TCT_TRY(wire->backend->swap(wire, peer, out, err));
  TCT_TRY(judge_header(wire, peer, s->type, header, &length, err));
  TCT_TRY(check_length(length, s->in_size, err));
  out->in = s->in, out->in_size = s->in_size;
  if (s->in_size > 0) TCT_TRY(wire->backend->swap(wire, peer, out, err));
  if (out->out_done == out->out_size) return TCT_OK;
  return wire->backend->send(wire, peer, (const char *)out->out + out->out_done, out->out_size - out->out_done, err);
}

tct_status tct_wire_swap(tct_wire *wire, int peer, const tct_swap *s, tct_error *err) {
  if (!wire->backend->swap) { /* one after the other, the listening end first */
    if (wire->self == TCT_SERVER) TCT_TRY(tct_wire_send(wire, peer, s->type, s->out, s->out_size, err));
    TCT_TRY(tct_wire_receive(wire, peer, s->type, s->in, s->in_size, err));
    return wire->self == TCT_SERVER ? TCT_OK : tct_wire_send(wire, peer, s->type, s->out, s->out_size, err);
  }
  unsigned char *frame = NULL;
  TCT_TRY(frame_new(wire, peer, s->type, s->out, s->out_size, &frame, err));
  tct_tls_swap out = {.out = frame, .out_size = TCT_FRAME_HEADER + s->out_size};
  tct_status status = pump(wire, peer, s, &out, err);
  tct_wipe_free(frame, (int64_t)out.out_size, 1);
  if (status != TCT_OK) return status;
  count_sent(wire, peer, out.out_size);
  count_received(wire, peer, s->in_size);
  return TCT_OK;
}

tct_status tct_wire_receive_any(tct_wire *wire, int from, int type, size_t max, void **body, size_t *size,
                                tct_error *err) {
  uint64_t length = 0;
  *body = NULL;
  TCT_TRY(next_header(wire, from, type, &length, err));
  if (length > max) return tct_fail(err, TCT_E_RUN, "the peer sent a longer message than is allowed; refused");
  *body = tct_alloc((int64_t)length + 1, 1);
  if (!*body) return tct_fail_memory(err);
  *size = (size_t)length;
  tct_status status = length > 0 ? wire->backend->receive(wire, from, *body, *size, err) : TCT_OK;
  if (status != TCT_OK) {
    tct_free(*body);
    *body = NULL;
    return status;
  }
  count_received(wire, from, *size);
  return TCT_OK;
}

tct_status tct_wire_send_reals(tct_wire *wire, int to, int type, const double *value, int64_t count, tct_error *err) {
  uint64_t *body = TCT_NEW(uint64_t, count);
  if (!body) return tct_fail_memory(err);
  memcpy(body, value, (size_t)count * sizeof *value);
  for (int64_t i = 0; i < count; i++) body[i] = htole64(body[i]);
  tct_status status = tct_wire_send(wire, to, type, body, (size_t)count * sizeof *body, err);
  tct_wipe_free(body, count, sizeof *body);
  return status;
}

tct_status tct_wire_receive_reals(tct_wire *wire, int from, int type, double *value, int64_t count, tct_error *err) {
  TCT_TRY(tct_wire_receive(wire, from, type, value, (size_t)count * sizeof *value, err));
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    bits = le64toh(bits);
    memcpy(&value[i], &bits, sizeof bits);
  }
  return TCT_OK;
}

tct_status tct_wire_binding(const tct_wire *wire, unsigned char binding[TCT_WIRE_BINDING], tct_error *err) {
  memset(binding, 0, TCT_WIRE_BINDING);
  if (!wire->backend->binding || !wire->backend->binding(wire, binding)) return TCT_OK;
  return tct_fail(err, TCT_E_RUN, "OpenSSL could not name the connection to a party; start again");
}

void tct_wire_close(tct_wire *wire) {
  if (wire->backend) wire->backend->close(wire);
  wire->backend = NULL;
}
