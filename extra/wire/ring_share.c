/* ring_share.c - masks, shares of zero and noise around sums modulo 2^64.
 *
 * DISTRIBUTION  Noise: joint.c.  Masks: rng/mask.c.
 *
 * PROOF  What T parties see: their own x and seeds, the u of the others, the rests that the server sends them, and the
 * opened sum.  For a party k outside, u_k = x_k - a_k is uniform and independent of x_k: they do not have its seed.  A
 * rest a_j' a_k - c comes to k, c uniform from j's seed.  With j outside it is uniform too; with j among them they can
 * compute it.  So their view is made of their inputs and of the opened sum by drawing uniform words.
 *
 * What the server sees: the seeds, hence all a, and the shares.  A share of party k is y_k + its noise + z_k.  The z_k
 * are uniform but for their sum, which is 0: the server does not have the keys of pairs of parties.  So K shares are K
 * uniform words with a given sum: the opened value.  Without z_k it would see u_j' x_k + ..., which with a_j is a_j'
 * x_k: thousands of bits about a column.
 *
 * Both rest on ChaCha20 and BLAKE2b being pseudo-random and on X25519, whose advantages add to delta.  The server
 * together with any party has a seed and a u: nothing is claimed then.
 *
 * A number that was drawn and could not be sent stays charged.
 *
 * ROUNDING  None. */
#include "wire/ring_share.h"

#include "core/point.h"
#include "core/alloc.h"
#include "core/digest.h"
#include "mech/gate.h"
#include "mech/joint.h"
#include "rng/mask.h"

#include <endian.h>
#include <string.h>

struct tct_ring_party {
  tct_mech *mech;
  int self, parties;
  tct_ring_link server, peer[TCT_PARTIES_MAX];
  tct_pair_keys keys;
  tct_mask_seed seed, pair[TCT_PARTIES_MAX];
  bool has_pair[TCT_PARTIES_MAX];
  unsigned char session[TCT_RING_ID];
  tct_mask mask;
  bool has_mask, is_done;
  uint64_t *hidden; /* [held] u of the block that was hidden last */
  int64_t held, room;
};

struct tct_ring_server {
  int parties;
  unsigned char session[TCT_RING_ID];
  tct_ring_link link[TCT_PARTIES_MAX];
  tct_mask_seed seed[TCT_PARTIES_MAX];
  tct_mask mask[TCT_PARTIES_MAX];
};

static tct_status out_of_turn(tct_error *err) {
  return tct_fail(err, TCT_E_RUN, "a step of the protocol came out of its turn; nothing was sent, report this fault");
}

/* ---- numbers in frames ---------------------------------------------------------------------------------- */

static void to_wire(uint64_t *word, int64_t count) {
  for (int64_t i = 0; i < count; i++) word[i] = htole64(word[i]);
}

static void from_wire(uint64_t *word, int64_t count) {
  for (int64_t i = 0; i < count; i++) word[i] = le64toh(word[i]);
}

static tct_status hear_words(tct_ring_link link, int type, uint64_t *word, int64_t count, tct_error *err) {
  TCT_TRY(tct_wire_receive(link.wire, link.peer, type, word, (size_t)count * sizeof *word, err));
  from_wire(word, count);
  return TCT_OK;
}

/* The only way out of a party.  A frame to the server is a seed or a share, one to a peer a key or columns. */
static tct_status way_out(const tct_ring_party *s, int to, int type, tct_ring_link *link, tct_error *err) {
  bool is_server = to == TCT_SERVER;
  bool fits =
      is_server ? type == TCT_RING_SEED || type == TCT_RING_SHARE : type == TCT_RING_PUBLIC || type == TCT_RING_COLUMNS;
  *link = is_server ? s->server : s->peer[to];
  return fits && link->wire ? TCT_OK : out_of_turn(err);
}

static tct_status leave(tct_ring_party *s, int to, int type, const void *body, size_t size, tct_error *err) {
  tct_ring_link link;
  TCT_TRY(way_out(s, to, type, &link, err));
  return tct_wire_send(link.wire, link.peer, type, body, size, err);
}

static tct_status leave_words(tct_ring_party *s, int to, int type, uint64_t *word, int64_t count, tct_error *err) {
  to_wire(word, count);
  tct_status status = leave(s, to, type, word, (size_t)count * sizeof *word, err);
  from_wire(word, count);
  return status;
}

/* ---- a party ------------------------------------------------------------------------------------------------ */

void tct_ring_party_free(tct_ring_party *s) {
  if (!s) return;
  tct_wipe_free(s->hidden, s->room, sizeof *s->hidden);
  tct_wipe_free(s, 1, sizeof *s);
}

static void draw_seeds(tct_ring_party *s, const tct_rng_key *key) {
  tct_mask_seed_new(&s->seed, key, TCT_POINT(one_seed_for_all_parties, (uint64_t)s->self, 0), s->session);
  tct_pair_keys_new(&s->keys, key, (uint64_t)s->self);
}

tct_status tct_ring_party_new(tct_mech *mech, const tct_ring_place *place, tct_ring_party **out, tct_error *err) {
  tct_rng_key key;
  tct_ring_party *s = *out = TCT_NEW(tct_ring_party, 1);
  if (!s) return tct_fail_memory(err);
  s->mech = mech, s->self = place->self, s->parties = place->parties;
  memcpy(s->session, place->session, sizeof s->session);
  if (TCT_POINT(masks_from_the_noises_seed, place->seeds == TCT_RING_SIMULATED, true)) {
    draw_seeds(s, &mech->key);
    return TCT_OK;
  }
  tct_status status = tct_rng_key_system(&key, err);
  if (status == TCT_OK) draw_seeds(s, &key);
  tct_rng_key_wipe(&key);
  if (status == TCT_OK) return TCT_OK;
  tct_ring_party_free(s);
  *out = NULL;
  return status;
}

void tct_ring_party_link(tct_ring_party *s, int peer, tct_ring_link link) {
  if (peer == TCT_SERVER)
    s->server = link;
  else
    s->peer[peer] = link;
}

tct_status tct_ring_say_public(tct_ring_party *s, int peer, tct_error *err) {
  return leave(s, peer, TCT_RING_PUBLIC, s->keys.open, sizeof s->keys.open, err);
}

tct_status tct_ring_hear_public(tct_ring_party *s, int peer, tct_error *err) {
  unsigned char open[TCT_PAIR_PUBLIC], shared[32];
  if (s->has_pair[peer]) return out_of_turn(err);
  TCT_TRY(tct_wire_receive(s->peer[peer].wire, s->peer[peer].peer, TCT_RING_PUBLIC, open, sizeof open, err));
  TCT_TRY(tct_pair_shared(&s->keys, open, s->self < peer, shared, err));
  tct_mask_seed_pair(&s->pair[peer], shared, s->session);
  tct_wipe(shared, sizeof shared);
  s->has_pair[peer] = true;
  return TCT_OK;
}

tct_status tct_ring_say_seed(tct_ring_party *s, int64_t words, tct_error *err) {
  TCT_TRY(tct_mask_open(&s->mask, &s->seed, TCT_MASK_COLUMNS, s->self, s->self, words, err));
  s->has_mask = true;
  return leave(s, TCT_SERVER, TCT_RING_SEED, s->seed.bytes, sizeof s->seed.bytes, err);
}

static tct_status make_room(tct_ring_party *s, int64_t count, tct_error *err) {
  if (count <= s->room) return TCT_OK;
  tct_wipe_free(s->hidden, s->room, sizeof *s->hidden);
  s->hidden = TCT_NEW(uint64_t, count);
  s->room = s->hidden ? count : 0;
  return s->hidden ? TCT_OK : tct_fail_memory(err);
}

tct_status tct_ring_hide(tct_ring_party *s, const uint64_t *x, int64_t count, uint64_t *mask, tct_error *err) {
  if (!s->has_mask) return out_of_turn(err);
  TCT_TRY(make_room(s, count, err));
  TCT_TRY(tct_mask_next(&s->mask, mask, count, err));
  for (int64_t i = 0; i < count; i++) s->hidden[i] = x[i] - TCT_POINT(records_sent_bare, mask[i], 0);
  s->held = count;
  return TCT_OK;
}

tct_status tct_ring_say_columns(tct_ring_party *s, int peer, tct_error *err) {
  return leave_words(s, peer, TCT_RING_COLUMNS, s->hidden, s->held, err);
}

tct_status tct_ring_hear_columns(tct_ring_party *s, int peer, uint64_t *u, int64_t count, tct_error *err) {
  return hear_words(s->peer[peer], TCT_RING_COLUMNS, u, count, err);
}

tct_status tct_ring_swap_columns(tct_ring_party *s, int peer, uint64_t *u, int64_t count, tct_error *err) {
  tct_ring_link link;
  TCT_TRY(way_out(s, peer, TCT_RING_COLUMNS, &link, err));
  const tct_swap both = {.type = TCT_RING_COLUMNS,
                         .out = s->hidden,
                         .out_size = (size_t)s->held * sizeof *s->hidden,
                         .in = u,
                         .in_size = (size_t)count * sizeof *u};
  to_wire(s->hidden, s->held);
  tct_status status = tct_wire_swap(link.wire, link.peer, &both, err);
  from_wire(s->hidden, s->held);
  from_wire(u, count);
  return status;
}

tct_status tct_ring_correction(tct_ring_party *s, int peer, uint64_t *out, int64_t count, tct_error *err) {
  tct_mask own;
  if (peer < s->self) return hear_words(s->server, TCT_RING_REST, out, count, err);
  TCT_TRY(tct_mask_open(&own, &s->seed, TCT_MASK_CORRECTION, s->self, peer, count, err));
  tct_status status = tct_mask_next(&own, out, count, err);
  tct_mask_wipe(&own);
  return status;
}

/* The smaller number adds what the larger one takes away. */
static tct_status add_zero(tct_ring_party *s, uint64_t *share, int64_t len, tct_error *err) {
  uint64_t *zero = TCT_NEW(uint64_t, len);
  tct_status status = zero ? TCT_OK : tct_fail_memory(err);
  for (int k = 0; k < s->parties && status == TCT_OK; k++) {
    tct_mask mask;
    int first = k < s->self ? k : s->self, second = k < s->self ? s->self : k;
    if (k == s->self) continue;
    if (!s->has_pair[k]) status = out_of_turn(err);
    if (status == TCT_OK) status = tct_mask_open(&mask, &s->pair[k], TCT_MASK_ZERO, first, second, len, err);
    if (status == TCT_OK) status = tct_mask_next(&mask, zero, len, err);
    for (int64_t i = 0; status == TCT_OK && i < len; i++) share[i] += first == s->self ? zero[i] : 0 - zero[i];
    tct_mask_wipe(&mask);
  }
  tct_wipe_free(zero, len, sizeof *zero);
  return status;
}

tct_status tct_ring_say_share(tct_ring_party *s, const tct_ring_part *part, int parts, tct_error *err) {
  int64_t len = 0;
  if (s->is_done) return out_of_turn(err);
  s->is_done = TCT_POINT(share_sent_twice, true, false);
  for (int i = 0; i < parts; i++) {
    if (part[i].at != part[0].at + len) return out_of_turn(err);
    TCT_TRY(TCT_POINT(own_noise_left_out,
                      tct_mech_join_noise(s->mech, part[i].r, s->self, part[i].at, part[i].len, err), TCT_OK));
    len += part[i].len;
  }
  TCT_TRY(TCT_POINT(share_without_its_zero, add_zero(s, part[0].at, len, err), TCT_OK));
  return leave_words(s, TCT_SERVER, TCT_RING_SHARE, part[0].at, len, err);
}

/* ---- the server ---------------------------------------------------------------------------------------------- */

void tct_ring_server_free(tct_ring_server *s) { tct_wipe_free(s, s ? 1 : 0, sizeof *s); }

tct_status tct_ring_server_new(int parties, const unsigned char session[TCT_RING_ID], tct_ring_server **out,
                               tct_error *err) {
  tct_ring_server *s = *out = TCT_NEW(tct_ring_server, 1);
  if (!s) return tct_fail_memory(err);
  s->parties = parties;
  memcpy(s->session, session, sizeof s->session);
  return TCT_OK;
}

void tct_ring_server_link(tct_ring_server *s, int party, tct_ring_link link) { s->link[party] = link; }

tct_status tct_ring_hear_seed(tct_ring_server *s, int party, int64_t words, tct_error *err) {
  unsigned char bytes[32];
  TCT_TRY(tct_wire_receive(s->link[party].wire, s->link[party].peer, TCT_RING_SEED, bytes, sizeof bytes, err));
  tct_mask_seed_take(&s->seed[party], bytes, s->session);
  return tct_mask_open(&s->mask[party], &s->seed[party], TCT_MASK_COLUMNS, party, party, words, err);
}

tct_status tct_ring_masks(tct_ring_server *s, int party, uint64_t *mask, int64_t count, tct_error *err) {
  return tct_mask_next(&s->mask[party], mask, count, err);
}

tct_status tct_ring_deal(tct_ring_server *s, int j, int k, uint64_t *product, int64_t count, tct_error *err) {
  tct_mask mask;
  uint64_t *own = TCT_NEW(uint64_t, count);
  tct_status status =
      own ? tct_mask_open(&mask, &s->seed[j], TCT_MASK_CORRECTION, j, k, count, err) : tct_fail_memory(err);
  if (status == TCT_OK) status = tct_mask_next(&mask, own, count, err);
  for (int64_t i = 0; i < count && status == TCT_OK; i++) product[i] -= own[i];
  tct_wipe_free(own, count, sizeof *own);
  TCT_TRY(status);
  to_wire(product, count);
  return tct_wire_send(s->link[k].wire, s->link[k].peer, TCT_RING_REST, product, (size_t)count * sizeof *product, err);
}

tct_status tct_ring_hear_share(tct_ring_server *s, int party, uint64_t *sum, uint64_t *scratch, int64_t len,
                               tct_error *err) {
  TCT_TRY(hear_words(s->link[party], TCT_RING_SHARE, scratch, len, err));
  for (int64_t i = 0; i < len; i++) sum[i] += scratch[i];
  return TCT_OK;
}
