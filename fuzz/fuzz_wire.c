/* fuzz_wire.c - any bytes as what a peer sends: frames of every kind, or a failure with a sentence. */
#include "fuzz_check.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

typedef struct source {
  const uint8_t *at;
  size_t left;
} source;

static tct_status take(tct_wire *wire, int from, void *bytes, size_t size, tct_error *err) {
  source *s = wire->state;
  (void)from;
  if (size > s->left) return tct_fail(err, TCT_E_RUN, "the peer has left; start again");
  memcpy(bytes, s->at, size);
  s->at += size, s->left -= size;
  return TCT_OK;
}

static tct_status give(tct_wire *wire, int to, const void *bytes, size_t size, tct_error *err) {
  (void)wire, (void)to, (void)bytes, (void)size, (void)err;
  return TCT_OK;
}

static void nothing(tct_wire *wire) { (void)wire; }

/* The first byte says how many rounds of what is expected. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static const tct_wire_backend backend = {.send = give, .receive = take, .close = nothing};
  enum { MOST = 4096 };
  if (count < 2) return 0;
  source s = {bytes + 2, count - 2};
  tct_wire wire = {.backend = &backend, .state = &s, .self = bytes[0] & 1 ? 0 : TCT_SERVER, .parties = 1};
  int peer = wire.self == 0 ? TCT_SERVER : 0;
  for (int round = 0; round < 4; round++) {
    tct_error err = {0};
    double value[8];
    char body[16];
    void *any = NULL;
    size_t size = 0;
    tct_status status;
    switch (bytes[1] >> (2 * round) & 3) {
      case 0: status = tct_wire_receive(&wire, peer, 1, body, sizeof body, &err); break;
      case 1: status = tct_wire_receive_reals(&wire, peer, 2, value, 8, &err); break;
      default: status = tct_wire_receive_any(&wire, peer, 3, MOST, &any, &size, &err);
    }
    if (any) require(size <= MOST && ((const char *)any)[size] == 0);
    tct_text_free(any);
    require((status == TCT_OK) == (err.status == TCT_OK) && (status == TCT_OK || err.text[0] != 0));
    if (status != TCT_OK) break;
  }
  tct_wire_close(&wire);
  return 0;
}
